# The GPU, and what becomes of queries when it fails.  With CSV_GPU_FDW_ENGINE=cuda on
# a host that has one; else with a stand-in.
use lib 'test/t';
use CsvServer;
use File::Copy qw(copy);
use Time::HiRes qw(time);

use_gpu();
my $real = !has_stand_in();

# workers would read some of the files on the CPU
my $node = csv_server('gpu', max_parallel_workers_per_gather => 0);
my $directory = PostgreSQL::Test::Utils::tempdir;

# Above the 16 MB from which "auto" uses a GPU that is awake, and above the
# 256 MB for which it wakes one.  A few records are bad.
my $lines = join '', map {
	# long, so that few rows make large files
	sprintf "%s,%s,%.2f,2000-01-%02d\n", $_ % 5000 == 77 ? "x$_" : $_, "text \"of $_\"" . ' and more' x 8, $_ / 7, 1 + $_ % 28
} 1 .. 20_000;
my $medium = int(($real ? 40_000_000 : 20_000_000) / length $lines);
my $several = int(7_000_000 / length $lines);	# chunks of 1 MB
my $large = int(280_000_000 / length $lines);
write_file("$directory/medium.csv", ($lines) x $medium);
write_file("$directory/large.csv", ($lines) x $large) if $real;
my @large = $real ? ('large') : ();
write_file("$directory/small.csv", $lines);

# a record that takes more than 1 MB of the GPU's memory, after some that do not
write_file("$directory/long.csv", ($lines) x $medium, '1,' . 'x' x 600_000 . ",1.00,2000-01-01\n");

# a doubtful value only at the end; and several files
(my $clean = $lines) =~ s/^x//mg;
write_file("$directory/late.csv", ($clean) x $several, "x5,late,1.00,2000-01-01\n");
mkdir "$directory/parts";
write_file("$directory/parts/$_.csv", ($_ % 2 ? $lines : $clean) x ($several / 3)) for 1 .. 3;
write_file("$directory/piped.csv", ($lines) x $several);

my $columns = 'n int, t text, v numeric(12,2), d date';
$node->safe_psql('postgres', "
	CREATE FOREIGN TABLE small ($columns) SERVER csv OPTIONS (filename '$directory/small.csv');
	CREATE FOREIGN TABLE medium ($columns) SERVER csv OPTIONS (filename '$directory/medium.csv', chunk_size '4MB');
	CREATE FOREIGN TABLE late ($columns) SERVER csv OPTIONS (filename '$directory/late.csv', chunk_size '1MB');
	CREATE FOREIGN TABLE parts ($columns) SERVER csv OPTIONS (filename '$directory/parts/*.csv', chunk_size '1MB');
	CREATE FOREIGN TABLE piped ($columns) SERVER csv OPTIONS (program 'cat $directory/piped.csv', chunk_size '1MB');
	CREATE FOREIGN TABLE long ($columns) SERVER csv OPTIONS (filename '$directory/long.csv');
	CREATE FOREIGN TABLE large ($columns) SERVER csv OPTIONS (filename '$directory/large.csv');");

sub all_of
{
	my ($table) = @_;

	return "SELECT count(*), sum(hashtext(x::text)::bigint), min(n), max(v) FROM $table x";
}

# those with a context have a limit; a stand-in has none
sub devices_in_use
{
	my ($session) = @_;

	return $session->value('SELECT count(*) FROM csv_gpu_stat WHERE device IS NOT NULL AND (memory_limit > 0 OR scans_done > 0)');
}

sub engine_of
{
	my ($session, $table, $analyze) = @_;
	my $plan = $session->value('SET client_min_messages = error; EXPLAIN ' . ($analyze ? '(ANALYZE) ' : '')
		  . "SELECT n FROM $table; RESET client_min_messages");

	return $plan =~ /Engine: (\w+)/ ? $1 : $plan;
}

sub warnings_in
{
	return scalar(() = $_[0] =~ /^WARNING:/mg);
}

# NOTICEs with their DETAILs, and nothing else
sub notices_in
{
	return join '', $_[0] =~ /^(NOTICE:.*\n(?:(?:DETAIL|HINT):.*\n)*)/mg;
}

# queries that the GPU evaluates: groups, and rows that pass
sub pushed
{
	my ($table) = @_;

	return "SELECT d, count(*), sum(v), avg(n), max(v), sum(n::float8), count(*) FILTER (WHERE n < 100)
			FROM $table WHERE n < 15000 AND t LIKE 'text%' GROUP BY d ORDER BY d;
		SELECT count(*), sum(hashtext(x::text)::bigint)
			FROM (SELECT * FROM $table WHERE n = 777 OR v < 5 OFFSET 0) x";
}

# thousands of groups, which stay on the GPU
sub grouped
{
	my ($table) = @_;

	return "SELECT count(*), sum(c), sum(hashtext(x::text)::bigint)
			FROM (SELECT n, t, count(*) AS c, sum(v), avg(n), min(t) FILTER (WHERE n > 9000), max(d), max(v),
				sum(n::float8), stddev(n::float8), count(*) FILTER (WHERE v < 1000)
				FROM $table GROUP BY n, t) x";
}

sub chunks_grouped
{
	my ($session, $query) = @_;
	my $plan = $session->value("SET client_min_messages = error; EXPLAIN (ANALYZE, COSTS OFF) $query;
		RESET client_min_messages");

	return $plan =~ /Chunks Grouped on GPU: (\d+)/ ? $1 : 0;
}

# ---- what the CPU engine says ----

my $session = new_session($node);
my (%rows, %messages, %evaluated, %groups, %group_messages);
for my $table ('medium', @large, qw(late parts piped))
{
	($groups{$table}, $group_messages{$table}) =
	  $session->query("SET csv_gpu_fdw.engine = cpu; SET work_mem = '1GB'; " . grouped($table));
}
$session->value('RESET work_mem');
for my $table (qw(small medium), @large, 'long')
{
	my ($out, $err) = $session->query("SET csv_gpu_fdw.engine = cpu; " . all_of($table));

	$rows{$table} = $out;
	$messages{$table} = $err;
	$evaluated{$table} = $session->value('SET client_min_messages = error; ' . pushed($table));
	$session->value('RESET client_min_messages');
}
$session->quit;

# ---- devices, and when the GPU wakes ----

$session = new_session($node);
cmp_ok($session->value("
	SELECT count(*) FROM csv_gpu_devices()
	WHERE usable AND reason IS NULL AND device >= 0 AND name <> '' AND compute_capability ~ '^[0-9]+[.][0-9]\$'
		AND memory_total >= memory_free AND memory_free > 0"), '>', 0, 'there is a usable GPU') if $real;

is(engine_of($session, 'small'), 'cuda', 'EXPLAIN says which engine');
$session->value('SET csv_gpu_fdw.engine = auto');
is(engine_of($session, 'small', 1), 'cpu', 'auto: not for a small file');
is(engine_of($session, 'medium', 1), 'cpu', 'auto: not for a medium one');
is(devices_in_use($session), 0, 'which creates no context');
$session->value('SET csv_gpu_fdw.engine = cuda; SET client_min_messages = error;' . all_of('small'));
cmp_ok(devices_in_use($session), '>', 0, 'a query does');
$session->quit;

# of another session it is, too
$session = new_session($node);
$session->value('SET csv_gpu_fdw.engine = cuda; SET client_min_messages = error;' . all_of('small'));
$session->quit;
$session = new_session($node);
$session->value('SET csv_gpu_fdw.engine = auto');
is(engine_of($session, 'medium', 1), 'cuda', 'auto: where the GPU is awake, for a medium one');
is(engine_of($session, 'small', 1), 'cpu', 'auto: not for a small one');
for my $table ('medium', @large, 'long')
{
	my ($out, $err) = $session->query(all_of($table));

	is($out, $rows{$table}, "same rows as the CPU engine: $table");
	is($err, $messages{$table}, 'and same messages');
}
is($session->value("SELECT scans_done > 1 AND chunks > 3 AND rows > 1000 AND bytes_read > 1000000 AND failures = 0 AND pid > 0 FROM csv_gpu_stat WHERE device = 0"),
	't', 'csv_gpu_stat counts that');
$session->quit;

# ---- filters and groups on the GPU ----

$session = new_session($node);
$session->value('SET client_min_messages = error');
for my $table ('medium', @large, 'long')
{
	is($session->value(pushed($table)), $evaluated{$table}, "filters and groups as on the CPU: $table");
	for my $query (split /;/, pushed($table))
	{
		my $plan = $session->value("EXPLAIN (ANALYZE, COSTS OFF) $query");
		my ($chunks) = $plan =~ /Chunks: (\d+)/;
		my ($answered) = $plan =~ /Chunks Evaluated by GPU: (\d+)/;

		cmp_ok($answered // 0, '>', $chunks / 2, 'most chunks are evaluated on the GPU');
	}
}
like($session->value("SET csv_gpu_fdw.enable_pushdown = off; EXPLAIN (ANALYZE) " . (split /;/, pushed('medium'))[0]),
	qr/^(?!.*Evaluated by GPU)/s, 'not without pushdown');
$session->quit;

# ---- groups that stay on the GPU ----

$session = new_session($node);
$session->value('SET client_min_messages = error; SELECT n FROM small LIMIT 1; RESET client_min_messages');
# with 4 MB, a stand-in has room for some of them
for my $case ([ '64kB', 0 ], [ '1GB', 0 ], [ '1GB', 200 ], [ '64kB', 100 ], $real ? () : [ '64kB', 4 ])
{
	my ($work_mem, $limit) = @$case;

	gpu_memory_limit($node, $limit);
	for my $table ('medium', @large, qw(late parts piped))
	{
		my ($out, $err) = $session->query("SET work_mem = '$work_mem'; " . grouped($table));

		is($out, $groups{$table}, "work_mem $work_mem, $limit MB: same groups of $table");
		is($err, $group_messages{$table}, 'and same messages');
		cmp_ok(chunks_grouped($session, grouped($table)), '>', 1, 'chunks are grouped on the GPU') if $limit == 0 || !$real;
	}
	$session->value('RESET work_mem');
}
gpu_memory_limit($node, 0);

# it costs less where the GPU has room for the groups that are expected
$session->value('SET client_min_messages = error; ANALYZE medium; SET work_mem = \'64kB\'; RESET client_min_messages');
my $many = 'EXPLAIN SELECT n, t, count(*) FROM medium GROUP BY n, t';
my ($held_cost) = $session->value($many) =~ /cost=\d+\.\d+\.\.(\d+\.\d+)/;
gpu_memory_limit($node, 1);
my ($spilled_cost) = $session->value($many) =~ /cost=\d+\.\d+\.\.(\d+\.\d+)/;
gpu_memory_limit($node, 0);
cmp_ok($held_cost, '<', $spilled_cost, 'the planner knows whether the GPU has room for groups');
$session->value('RESET ALL; SET csv_gpu_fdw.engine = cuda');

# a cursor that rests over them, beside other scans of the session
my $most = $real ? 'large' : 'medium';
my $cursor = $session->value("SET client_min_messages = error; BEGIN;
	DECLARE c CURSOR FOR SELECT n, t, count(*) AS c FROM $most GROUP BY n, t;
	CREATE TEMP TABLE seen (n int, t text, c bigint);
	DO \$\$ DECLARE r record; c refcursor := 'c'; BEGIN
		FOR i IN 1 .. 30000 LOOP
			FETCH c INTO r; EXIT WHEN NOT FOUND;
			INSERT INTO seen VALUES (r.n, r.t, r.c);
			IF i = 10000 THEN PERFORM count(*) FROM (SELECT n, sum(v) FROM medium GROUP BY n) x; END IF;
		END LOOP;
	END \$\$;
	SELECT count(*), sum(c) FROM seen; ROLLBACK");
is($cursor, $session->value("SELECT count(*), sum(c) FROM (SELECT n, t, count(*) AS c FROM $most GROUP BY n, t) x"),
	'through a cursor, beside another scan');

# a rescan reads them again
is($session->value('SELECT count(*), sum(c) FROM generate_series(1, 2) g,
		LATERAL (SELECT n, count(*) AS c, g FROM medium GROUP BY n OFFSET 0) s'),
	$session->value('SELECT 2 * count(*), 2 * sum(c) FROM (SELECT n, count(*) AS c FROM medium GROUP BY n) s'),
	'a rescan of groups');
$session->value("BEGIN; DECLARE c CURSOR FOR SELECT n, count(*) FROM $most GROUP BY n; FETCH 5 FROM c");
$session->query('SELECT 1 / 0');
$session->value('ROLLBACK');
is($session->value(grouped($most)), $groups{$most}, 'after an ERROR over an open cursor');
$session->quit;

# the CPU engine begins, the GPU goes on: of a program that is new
sub program
{
	return $node->safe_psql('postgres', 'SELECT pid FROM csv_gpu_stat WHERE device IS NULL');
}

sub end_program
{
	my $pid = program();

	return if $pid eq '';
	kill 'TERM', $pid;
	$node->poll_query_until('postgres', 'SELECT pid IS NULL FROM csv_gpu_stat WHERE device IS NULL') or die 'the program does not end';
	return;
}

if ($real)
{
	end_program();
	$session = new_session($node);
	my ($first, $said) = $session->query('SET csv_gpu_fdw.engine = auto; ' . all_of('large'));
	is($first, $rows{large}, 'a server\'s first query under auto: same rows');
	is($said, $messages{large}, 'and same messages');
	$session->quit;
}

# a session that ends, or wants another engine, while the GPU wakes up
for my $then ('', 'SET csv_gpu_fdw.engine = cuda; ' . all_of('small'), 'SELECT count(*) >= 0 FROM csv_gpu_devices()')
{
	end_program();
	$session = new_session($node);
	$session->value("SET csv_gpu_fdw.engine = auto; SET client_min_messages = error; SELECT n FROM $most LIMIT 1");
	is($session->value($then), $then =~ /devices/ ? 't' : $rows{small}, "$then, while the GPU wakes up") if $then;
	$session->quit;
}

# ---- too little memory ----

gpu_memory_limit($node, 1);
$session = new_session($node);
my ($out, $err) = $session->query(all_of('long'));
like($err, qr/^ERROR:  GPU failed while reading ".*long.csv": out of GPU memory/m, 'too low a limit: an ERROR');
is(warnings_in($err), 0, 'and no WARNING');
gpu_memory_limit($node, 0);
($out, $err) = $session->query(all_of('long'));
is("$out$err", $rows{long} . $messages{long}, 'with a higher one, the session reads on the GPU again');

gpu_memory_limit($node, 1);
($out, $err) = $session->query('SET csv_gpu_fdw.engine = auto; ' . all_of('long'));
is($out, $rows{long}, 'auto: the rows all the same');
is(warnings_in($err), 1, 'and a WARNING');
like($err, qr/^WARNING:  GPU failed while reading .*: out of GPU memory.*\nDETAIL:  The CPU engine reads the rest/m,
	'that says so');
is($session->value("SELECT fallbacks->>'memory' FROM csv_gpu_stat WHERE device = 0"), 1, 'and so does csv_gpu_stat');
$session->quit;

# a limit that is just enough
for my $limit (200, 1000)
{
	gpu_memory_limit($node, $limit);
	$session = new_session($node);
	($out, $err) = $session->query(all_of($most));
	is("$out$err", $rows{$most} . $messages{$most}, "in $limit MB");
	$session->quit;
}
gpu_memory_limit($node, 0);

# ---- a file of which only the head stays ----

# the bytes that csv_gpu_service has read so far
sub bytes_read
{
	my ($rchar) = slurp_file('/proc/' . $_[0]->value('SELECT pid FROM csv_gpu_stat WHERE device = 0') . '/io') =~ /rchar: (\d+)/;

	return $rchar;
}

{
	my $size = -s "$directory/$most.csv";
	my @nread;

	end_program();
	gpu_memory_limit($node, $real ? 300 : 32);
	$session = new_session($node);
	$session->value('SELECT n FROM small LIMIT 1');
	for (1 .. 3)
	{
		my $before = bytes_read($session);

		($out, $err) = $session->query(all_of($most));
		is("$out$err", $rows{$most} . $messages{$most}, 'a file that does not fit: the rows');
		push @nread, bytes_read($session) - $before;
	}
	cmp_ok($nread[0], '>=', $size, 'the file is read');
	cmp_ok($nread[$_], '<', 0.9 * $size, 'and then its head no more') for 1, 2;
	cmp_ok($nread[1], '>', 0.3 * $size, 'but the rest is');
	$session->quit;
	gpu_memory_limit($node, 0);
}

# ---- a file that grows ----

{
	my $size = -s "$directory/medium.csv";
	my ($nread, $expected, $messages);

	end_program();
	copy("$directory/medium.csv", "$directory/grown.csv") or die $!;
	$session = new_session($node);
	$session->value("CREATE FOREIGN TABLE grown ($columns) SERVER csv
		OPTIONS (filename '$directory/grown.csv', chunk_size '4MB', growing 'true');
		SELECT n FROM small LIMIT 1");
	for my $time (0 .. 3)
	{
		# the file that was copied last is another
		$session->value(all_of('medium'));
		my $before = bytes_read($session);

		append_to_file("$directory/grown.csv", $lines) if $time > 0;
		($out, $err) = $session->query(all_of('grown'));
		$nread = bytes_read($session) - $before;
		($expected, $messages) = $session->query('SET csv_gpu_fdw.engine = cpu; ' . all_of('grown') . '; RESET csv_gpu_fdw.engine');
		is("$out$err", "$expected$messages", 'a file that grows: the rows');
		cmp_ok($nread, $time == 0 ? '>=' : '<', $time == 0 ? $size : 0.6 * $size,
			$time == 0 ? 'the file is read' : 'and then what was appended');
	}

	# not a file that grows: other bytes in the middle of what was there
	write_file("$directory/grown.csv", ('9999' . substr $lines, 4) x ($medium + 4));
	($out, $err) = $session->query(all_of('grown'));
	($expected, $messages) = $session->query('SET csv_gpu_fdw.engine = cpu; ' . all_of('grown'));
	is("$out$err", "$expected$messages", 'a file with other bytes is not extended');
	$session->quit;
}

# ---- faults ----

# in the first chunk, and in one behind some that were read
for my $fault (1, 5, -1, -2)
{
	my $name = ($fault > 0 ? 'a fault in a kernel' : 'no memory') . ', chunk ' . abs($fault);
	my $before;

	$session = new_session($node);
	$session->value('SET client_min_messages = error;' . all_of('small') . '; RESET client_min_messages');
	$before = program();
	($out, $err) = $session->query("SET csv_gpu_test.gpu_fault = $fault; " . all_of('medium'));
	is($out, '', "$name: no result");
	like($err, qr/^ERROR:  GPU failed while reading ".*medium.csv": /m, 'an ERROR');
	is($session->value('SELECT 1'), 1, 'the session lives');
	($out, $err) = $session->query('SET csv_gpu_test.gpu_fault = 0; ' . all_of('medium'));
	is("$out$err", $rows{medium} . $messages{medium}, 'the next query has the GPU again');
	if ($fault > 0)
	{
		isnt(program(), $before, 'and another program');
	}
	else
	{
		is(program(), $before, 'and the same program');
	}
	$session->quit;

	# one whose GPU has evaluated some chunks
	$session = new_session($node);
	$session->value('SET client_min_messages = error;' . all_of('small'));
	is($session->value("SET csv_gpu_fdw.engine = auto; SET csv_gpu_test.gpu_fault = $fault; " . pushed('medium')),
		$evaluated{medium}, "$name, auto: same groups");
	$session->quit;

	# one whose GPU holds groups
	$session = new_session($node);
	$session->value('SET client_min_messages = error;' . all_of('small') . '; RESET client_min_messages');
	($out, $err) = $session->query(
		"SET csv_gpu_fdw.engine = auto; SET csv_gpu_test.gpu_fault = $fault; " . grouped('medium'));
	is($out, $groups{medium}, "$name, auto: same groups, of which some were lost");
	is(warnings_in($err), 1, 'one WARNING');
	is(notices_in($err), notices_in($group_messages{medium}), 'same NOTICEs');
	$session->quit;
	$session = new_session($node);
	($out, $err) = $session->query("SET csv_gpu_test.gpu_fault = $fault; " . grouped('medium'));
	is($out, '', "$name: no groups");
	like($err, qr/^ERROR:  GPU failed while reading ".*medium.csv": /m, 'an ERROR');
	$session->quit;

	# another that was awake
	$session = new_session($node);
	$session->value('SET client_min_messages = error;' . all_of('small') . '; RESET client_min_messages');
	$before = program();
	($out, $err) = $session->query(
		"SET csv_gpu_fdw.engine = auto; SET csv_gpu_test.gpu_fault = $fault; " . all_of('medium'));
	is($out, $rows{medium}, "$name, auto: same rows");
	is(warnings_in($err), 1, 'one WARNING');
	is(notices_in($err), notices_in($messages{medium}), 'same NOTICEs');
	is(engine_of($session, 'medium'), 'cpu', 'the session stays on the CPU') if $fault < 0;
	($out, $err) = $session->query('SET csv_gpu_test.gpu_fault = 0; ' . all_of('medium'));
	is("$out$err", $rows{medium} . $messages{medium}, 'without a word');
	is($session->value("SELECT count(*) FROM csv_gpu_errors('small')"), 4, 'its error table, too');
	$session->value('SET csv_gpu_fdw.engine = cuda; SET client_min_messages = error;' . all_of('small') . '; SET csv_gpu_fdw.engine = auto');
	is(engine_of($session, 'medium'), $fault < 0 ? 'cpu' : 'cuda', 'as long as that program has the GPU');
	$session->quit;
}

$session = new_session($node);
($out, $err) = $session->query(all_of('medium'));
is("$out$err", $rows{medium} . $messages{medium}, 'other sessions have the GPU still');

# a rescan and a cursor over a fault
$session->value('SET csv_gpu_fdw.engine = auto; SET csv_gpu_test.gpu_fault = 3');
($out, $err) = $session->query("
	SELECT count(s.n) FROM generate_series(1, 2) g, LATERAL (SELECT n, g FROM medium OFFSET 0) s");
is($out, 2 * (split /\|/, $rows{medium})[0], 'a rescan after a fault');
is(warnings_in($err), 1, 'with one WARNING');
$session->quit;

# ---- sessions at once ----

my @sessions = map { new_session($node) } 1 .. 4;
$_->send(all_of('medium')) for @sessions;
my %answers = map { my ($answer, $error) = $_->await; ("$answer$error" => 1) } @sessions;
is_deeply(\%answers, { $rows{medium} . $messages{medium} => 1 }, 'four sessions on one GPU');
$_->quit for @sessions;

$session = new_session($node);
# the library must be there to know the setting
($out, $err) = $session->query("SET client_min_messages = warning; SELECT n FROM medium LIMIT 1; SET csv_gpu_fdw.gpu_memory_limit = 1");
like($err, qr/^ERROR:  parameter "csv_gpu_fdw.gpu_memory_limit" cannot be changed now/m, 'the limit is the server\'s');
$session->quit;

finish();
