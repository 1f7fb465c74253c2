# Scans by the program that owns the GPUs, for many sessions: answers are those of the
# CPU engine, whatever is cancelled or killed, and nothing is left.  Where there is no
# GPU, with a stand-in.
use lib 'test/t';
use CsvServer;
use POSIX qw(mkfifo);
use Time::HiRes qw(sleep time usleep);

use_gpu();
random_seed();

my $seconds = amount(3);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server(
	'scans',
	restart_after_crash => 'on',
	max_connections => 80,
	max_worker_processes => 30,
	max_parallel_workers => 20,
	max_parallel_workers_per_gather => 0,
	CHEAP_WORKERS,
	log_min_messages => 'fatal');

# a bad record now and then, and a doubtful value
sub lines
{
	my ($n, $first) = @_;

	# long, so that few rows make large files
	return join '', map { $_ % 9000 == 77 ? "bad\n" : $_ % 7000 == 5 ? "$_,\"of\n$_\", 7.5 \n" : "$_,text of $_" . ' and more' x 5 . ",1.25\n" } $first .. $first + $n - 1;
}

# "auto" wants more than 16 MB
my $lines = lines(40_000, 1000);

write_file("$directory/t.csv", lines(270_000, 1));
write_file("$directory/u.csv", $lines);
mkdir "$directory/parts";
write_file("$directory/parts/$_.csv", lines(16_000, $_ * 50_000)) for 1 .. 4;
system_or_bail("gzip -c $directory/u.csv > $directory/u.csv.gz");
mkfifo("$directory/fifo", 0666) or die "fifo: $!";
sleep(1.2);

my $columns = 'a int, b text, v numeric(8,2)';
my @tables = qw(t u parts zipped program);

$node->safe_psql('postgres', join ';', map { "CREATE FOREIGN TABLE $_->[0] ($columns) SERVER csv OPTIONS ($_->[1], notice_limit '1000')" }
	  [ t => "filename '$directory/t.csv'" ], [ u => "filename '$directory/u.csv'" ], [ parts => "filename '$directory/parts/*.csv'" ],
	[ zipped => "filename '$directory/u.csv.gz', compression 'gzip'" ], [ program => "program 'cat $directory/u.csv'" ],
	[ fifo => "filename '$directory/fifo'" ], [ changing => "filename '$directory/changing.csv'" ]);

sub query_of
{
	my ($table) = @_;

	return "SELECT count(*), sum(a), sum(v), max(b COLLATE \"C\"), sum(hashtext(x::text)::bigint) FROM $table x";
}

sub grouped
{
	my ($table) = @_;

	return "SELECT a % 3, count(*), min(b), sum(v) FROM $table WHERE a > 77 GROUP BY 1 ORDER BY 1";
}

# of all devices
sub stat_of
{
	my ($column) = @_;

	return $node->safe_psql('postgres', "SELECT sum($column) FROM csv_gpu_stat WHERE device IS NOT NULL");
}

sub program
{
	return $node->safe_psql('postgres', 'SELECT pid FROM csv_gpu_stat WHERE device IS NULL');
}

# threads and descriptors, once all scans have ended; but for pinned memory, of which a
# GPU keeps some
sub held_by_program
{
	my $pid = program();
	my @files;

	$node->poll_query_until('postgres', 'SELECT sum(scans_running) = 0 FROM csv_gpu_stat') or die 'a scan does not end';
	usleep(50_000);
	@files = grep { !/memfd:csv_gpu_fdw \(/ } map { readlink($_) // 'gone' } glob "/proc/$pid/fd/*";
	return scalar(() = glob "/proc/$pid/task/*") . ' threads, ' . scalar(@files) . ' files';
}

# ---- what the CPU engine says ----

my (%answers, %messages);
my $session = new_session($node);
my $later = $session->value('SET csv_gpu_fdw.engine = cpu; SET client_min_messages = error; SELECT a FROM t OFFSET 200003 LIMIT 1; RESET client_min_messages');

for my $table (@tables)
{
	($answers{$table}, $messages{$table}) = $session->query('SET csv_gpu_fdw.engine = cpu; ' . query_of($table) . '; ' . grouped($table));
	like($answers{$table}, qr/^\d{5,}\|/, "the CPU engine has rows of $table");
}
$session->quit;

# ---- which GPU ----

# who comes first, and wants one that is not there, takes none from the others
$session = new_session($node);
like(($session->query('SET csv_gpu_fdw.device = 63; SET csv_gpu_fdw.engine = cuda; SELECT a FROM u LIMIT 1'))[1],
	qr/^ERROR:  no usable GPU for engine "cuda": there is no such device\n/, 'a GPU that is not there');
$session->quit;

# ---- each kind of file, and many sessions at once ----

my @sessions = map { new_session($node) } 1 .. 12;

for my $table (@tables)
{
	my ($out, $err) = $sessions[0]->query(query_of($table) . '; ' . grouped($table));

	is($out, $answers{$table}, "$table: same rows");
	is($err, $messages{$table}, 'and same messages');
	like($sessions[0]->value("SET client_min_messages = error; EXPLAIN ANALYZE SELECT a FROM $table; RESET client_min_messages"), qr/Engine: cuda/, 'by the program');
}

$_->value('SET client_min_messages = error; SELECT a FROM t LIMIT 1; RESET client_min_messages') for @sessions;

# threads that copy files stay, some for each device
$sessions[0]->value("SET client_min_messages = error; SET csv_gpu_fdw.device = $_; SELECT count(b) FROM u; RESET csv_gpu_fdw.device; RESET client_min_messages")
  for split /\n/, $node->safe_psql('postgres', 'SELECT device FROM csv_gpu_stat WHERE device IS NOT NULL');
my $held = held_by_program();

for my $round (1 .. 2)
{
	my @asked = map { $tables[ $_ % @tables ] } 0 .. $#sessions;

	$sessions[$_]->send('SET csv_gpu_fdw.engine = ' . ($_ % 4 ? 'cuda' : 'auto') . '; ' . query_of($asked[$_]) . '; ' . grouped($asked[$_])) for 0 .. $#sessions;
	my @wrong = grep { defined } map {
		my ($out, $err) = $sessions[$_]->await;

		"$out$err" eq $answers{ $asked[$_] } . $messages{ $asked[$_] } ? undef : "$asked[$_]: $out$err"
	} 0 .. $#sessions;
	is(join("\n", @wrong), '', 'many sessions at once');
}
is(held_by_program(), $held, 'nothing of them is left in the program');
is(stat_of('failures'), 0, 'nothing has failed');

# ---- a scan that rests, and one that ends early ----

$session = $sessions[0];
$session->value('SET csv_gpu_fdw.engine = cuda; SET client_min_messages = error');
is($session->value('SELECT a FROM t LIMIT 1'), 1, 'LIMIT 1');
$session->value('BEGIN; DECLARE c CURSOR FOR SELECT a FROM t; DECLARE d CURSOR FOR SELECT a FROM program; FETCH 1 FROM d');
is($session->value('FETCH 3 FROM c'), "1\n2\n3", 'a cursor');
is($sessions[1]->value('SET client_min_messages = error; SET csv_gpu_fdw.engine = cuda; ' . query_of('t') . '; ' . grouped('t')), $answers{t}, 'beside it, another session');
is(stat_of('scans_running'), 2, 'scans that rest are running');
is($session->value("MOVE 200000 IN c; FETCH 1 FROM c"), $later, 'goes on');
$session->query('SELECT 1 / 0');
$session->value('ROLLBACK');
is(held_by_program(), $held, 'they leave nothing');

# a FIFO, which the session reads
{
	my $pid = fork();

	if ($pid == 0)
	{
		open my $fifo, '>', "$directory/fifo" or POSIX::_exit(1);
		print $fifo $lines;
		close $fifo;
		POSIX::_exit(0);
	}
	is($session->value(query_of('fifo')), (split /\n/, $answers{u})[0], 'a FIFO');
	waitpid $pid, 0;
}

# ---- a file that changes ----

for my $round (1 .. 3)
{
	my $n = 20_000 * $round;
	my $expected = join '|', $n, $n * ($n + 1) / 2;

	# what has been there for a second may stay on the device
	write_file("$directory/changing.csv", map { "$_,x,1\n" } 1 .. $n);
	sleep(1.2) if $round > 1;
	is($session->value('SELECT count(*), sum(a) FROM changing'), $expected, 'a file as it is now') for 1 .. 2;
}
{
	my $n = 500;

	# in place: the same file, of the same size, at once
	open my $file, '+<', "$directory/changing.csv" or die;
	print $file '9';
	close $file;
	is($session->value('SELECT a FROM changing LIMIT 1'), 9, 'written in place');

	# shorter while it is read
	$session->value('BEGIN; DECLARE c CURSOR FOR SELECT a FROM changing; FETCH 1 FROM c');
	truncate "$directory/changing.csv", 100;
	my ($out, $err) = $session->query('MOVE ALL IN c');
	is($err, '', 'cut off while it is read: no harm');
	$session->value('ROLLBACK');
	like($session->value('SELECT count(*) FROM changing'), qr/^\d\d$/, 'and what is left is there');
}
is($session->value(query_of('u') . '; ' . grouped('u')), $answers{u}, 'others are as they were');

# ---- what is cancelled ----

for my $way ('timeout', 'cancel', 'cancel')
{
	for my $table ('t', 'program', 'zipped')
	{
		my ($out, $err);

		$session->value('SET statement_timeout = ' . ($way eq 'timeout' ? 30 : 0));
		$session->send("SELECT count(*) FROM $table x WHERE pg_sleep(0.0005) IS NOT NULL");
		if ($way eq 'cancel')
		{
			sleep(0.02 + rand 0.05);
			$node->safe_psql('postgres', 'SELECT pg_cancel_backend(' . $session->pid . ')');
		}
		($out, $err) = $session->await;
		like($err, qr/^ERROR:  canceling statement/m, "$way, $table");
		$session->value('SET statement_timeout = 0');
	}
}
is($session->value(query_of('t') . '; ' . grouped('t')), $answers{t}, 'the session goes on');
is(held_by_program(), $held, 'nothing of what was cancelled is left');

# ---- a file system that hangs ----

{
	# more scans than there are threads that copy files
	write_file("$directory/hang.csv", $lines);
	$node->safe_psql('postgres', "CREATE FOREIGN TABLE hanging ($columns) SERVER csv OPTIONS (filename '$directory/hang.csv')");
	sleep(1.2);
	my @hanging = map { new_session($node) } 1 .. 6;

	$_->send('SET csv_gpu_fdw.engine = cuda; SELECT count(*) FROM hanging') for @hanging;
	for (@hanging)
	{
		my ($out, $err) = $_->await;

		like($err, qr/^ERROR:  GPU failed while reading "[^"]*hang.csv": the file's bytes do not come\n/, 'nobody waits for ever');
		$_->quit;
	}
	write_file("$directory/changing.csv", map { "$_,x,1\n" } 1 .. 30_000);
	sleep(1.2);
	is($session->value('SELECT count(*), sum(a) FROM changing'), '30000|450015000', 'others are read');
}

# ---- more files at once than are kept ----

{
	mkdir "$directory/many";
	write_file("$directory/many/$_.csv", "$_\n" x 30_000) for 10 .. 89;
	sleep(1.2);
	$session->value('SET csv_gpu_fdw.device = 0; BEGIN');
	my @found = map { $session->value("
		CREATE FOREIGN TABLE many_$_ (a int) SERVER csv OPTIONS (filename '$directory/many/$_.csv', chunk_size '16kB');
		DECLARE many_$_ CURSOR FOR SELECT a FROM many_$_; FETCH 1 FROM many_$_") } 10 .. 89;

	is_deeply(\@found, [ 10 .. 89 ], '80 files are read at once');
	is($session->value(join '; ', map { "MOVE ALL FROM many_$_" } 10 .. 89), '', 'to their ends');
	$session->value('ROLLBACK; RESET csv_gpu_fdw.device');
}

# ---- a long line in a stream ----

{
	$node->safe_psql('postgres', "CREATE FOREIGN TABLE piped ($columns) SERVER csv OPTIONS (
		program 'head -c 150000000 /dev/zero | tr ''\\0'' x; echo; seq -f ''%g,x,1'' 1 1000', max_record_size '1kB', chunk_size '256kB', log_verbosity 'silent')");
	my $watched = new_session($node);

	$watched->value('SET csv_gpu_fdw.engine = cuda; SELECT count(*) FROM changing');
	my $before = rss_kb($watched->pid);
	my ($out, $err, $rss) = $watched->query_watched('SELECT count(md5(b)), sum(a) FROM piped');

	is($out, '1000|500500', 'a stream that begins with 150 MB of a line');
	cmp_ok($rss - $before, '<', 50_000, 'which the session does not keep');
	$watched->quit;
}

# ---- a GPU that fails behind a record that is no batch's ----

{
	# a line that is much longer than a record may be, passed over chunk by chunk
	write_file("$directory/long.csv", 'x' x 3_000_000 . "\n", map { "$_," . 'x' x 40 . ",1\n" } 1 .. 400_000);
	$node->safe_psql('postgres', "CREATE FOREIGN TABLE long ($columns) SERVER csv OPTIONS (filename '$directory/long.csv', max_record_size '1kB', chunk_size '256kB')");
	my $query = 'SELECT count(md5(b)), sum(a) FROM long';
	my ($out, $err) = $session->query("SET client_min_messages = notice; SET csv_gpu_fdw.engine = cpu; $query");

	like($out, qr/^400000\|/, 'a line that is too long');
	# in the middle of the file, and in its last piece, which is the first one, too
	for my $case ([ 0, 20, '256kB' ], [ 3, 6, '256kB' ], [ 3, 1, '64MB' ])
	{
		my ($workers, $fault, $chunk_size) = @$case;
		my $failing = new_session($node);

		$failing->value("ALTER FOREIGN TABLE long OPTIONS (SET chunk_size '$chunk_size'); SET csv_gpu_fdw.engine = cuda; SELECT a FROM changing LIMIT 1");
		my ($fallen, $messages) = $failing->query("SET max_parallel_workers_per_gather = $workers; SET csv_gpu_fdw.engine = auto; SET csv_gpu_fdw.cpu_threads = 1; SET csv_gpu_test.gpu_fault = $fault; $query; SET csv_gpu_test.gpu_fault = 0");

		is($fallen, $out, "$workers workers, and the GPU fails: same rows");
		like($messages, qr/^WARNING:  GPU failed while reading "[^"]*long.csv": .*\nDETAIL:  The CPU engine reads the rest\.\n/m, 'with a WARNING');
		(my $others = $messages) =~ s/^WARNING:  GPU failed .*\nDETAIL:  .*\n(?:CONTEXT:  parallel worker\n)?//mg;
		is($others, $err, 'and same messages');
		$failing->quit;
	}
	$session->value('SET client_min_messages = error');
}

# ---- few descriptors ----

SKIP:
{
	skip 'there is no prlimit', 2 if system('prlimit --version >/dev/null 2>&1') != 0;
	my (%said, %answers_of);
	my $few = new_session($node);
	my $pid = $few->pid;

	$few->value('SET client_min_messages = warning');
	for my $limit (6 .. 40)
	{
		for my $engine (qw(cuda auto))
		{
			$few->query("SET csv_gpu_fdw.engine = $engine");
			system("prlimit --pid $pid --nofile=$limit:") == 0 or die;
			my ($rows, $error) = $few->query('SELECT count(*), sum(a) FROM u');

			system("prlimit --pid $pid --nofile=1000:") == 0 or die;
			$said{ $error =~ /too many open files/i ? 'too many' : $error || 'nothing' }++;
			$answers_of{$rows}++ if $error !~ /ERROR/;
		}
	}
	is(join('; ', sort keys %said), 'nothing; too many', 'what fails says that too many files are open');
	is(join('; ', keys %answers_of), $few->value("SET csv_gpu_fdw.engine = cpu; SELECT count(*), sum(a) FROM u"), 'and what does not is right');
	$few->quit;
}

# ---- limits that are lowered and raised beside scans ----

# a file that is more than files may take of 64 MB
write_file("$directory/large.csv", lines(650_000, 1));
settle();
$node->safe_psql('postgres', "CREATE FOREIGN TABLE large ($columns) SERVER csv OPTIONS (filename '$directory/large.csv', log_verbosity 'silent')");
my $counted = 'SELECT count(*), sum(a), sum(v) FROM large; ' . grouped('large');
my $expected = $sessions[0]->value("SET csv_gpu_fdw.engine = cpu; $counted");

for my $round (1 .. 2)
{
	$_->send("SET csv_gpu_fdw.engine = cuda; SET csv_gpu_fdw.resident = on; " . join('; ', ($counted) x 3)) for @sessions[ 0 .. 2 ];
	for my $limit (64, 0, 64)
	{
		gpu_memory_limit($node, $limit);
		resident_memory($node, $limit ? '1MB' : '64MB');
	}
	for my $session (@sessions[ 0 .. 2 ])
	{
		my ($out, $err) = $session->await;

		is($err, '', "lower limits beside scans, round $round: no message");
		is($out, join("\n", ($expected) x 3), 'and the answers');
	}
	is($sessions[0]->value($counted), $expected, 'and after them');
	cmp_ok(stat_of('memory_held - memory_limit'), '<=', 0, 'the GPU holds no more');
	gpu_memory_limit($node, 0);
	resident_memory($node, $round == 1 ? '64MB' : 'off');
}

# ---- what is killed ----

my ($nkills, @wrong) = (0);
my $start = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
my $end = time() + $seconds;
my ($nright, $nerrors, $nwarnings) = (0, 0, 0);

$_->value('SET client_min_messages = warning') for @sessions[ 0 .. 5 ];
while (time() < $end || $nkills < 10)
{
	my $victim = program();
	my @asked = map { pick(@tables) } 0 .. 5;
	my @engines = map { pick('cuda', 'auto') } 0 .. 5;

	$sessions[$_]->send("SET csv_gpu_fdw.engine = $engines[$_]; SET max_parallel_workers_per_gather = " . pick(0, 0, 3) . '; ' . query_of($asked[$_]))
	  for 0 .. 5;
	usleep(rand 60_000);
	kill pick('KILL', 'KILL', 'TERM', 'SEGV'), $victim if $victim ne '';
	for my $i (0 .. 5)
	{
		my ($out, $err) = $sessions[$i]->await;
		my $right = $out eq (split /\n/, $answers{ $asked[$i] })[0];

		if ($right && $err eq '')
		{
			$nright++;
		}
		elsif ($engines[$i] eq 'auto' && $right && $err =~ /^WARNING:  GPU failed while reading .*\nDETAIL:  The CPU engine reads the rest\.\n$/)
		{
			$nwarnings++;
		}
		elsif ($engines[$i] eq 'cuda' && $out eq '' && $err =~ /^ERROR:  GPU failed while reading .*\n(?:CONTEXT:  parallel worker\n)?$/)
		{
			$nerrors++;
		}
		else
		{
			push @wrong, "$engines[$i], $asked[$i]: $out$err";
		}
	}
	$nkills++;
}
is(join("\n", @wrong), '', "killed $nkills times: $nright answers, $nwarnings with a WARNING, $nerrors errors");
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $start, 'the server has not noticed');
is($sessions[0]->value('SET csv_gpu_fdw.engine = cuda; ' . query_of('t') . '; ' . grouped('t')), $answers{t}, 'the next query has another program');

# a session in mid-scan, and the server with it
my $program = program();

$sessions[0]->send(query_of('t'));
usleep(20_000);
kill 'KILL', $sessions[0]->pid;
await_server($node);
ok(!-e "/proc/$program/exe" || !kill(0, $program), 'a session is killed: the program has ended');
$session = new_session($node);
is($session->value('SET client_min_messages = error; ' . query_of('t') . '; ' . grouped('t')), $answers{t}, 'and all is as before');
$session->quit;

finish();
