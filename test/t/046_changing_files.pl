# Files that change while they are read, or between the listing of a directory and their
# opening: what is said of them, by scans of every kind.  Nothing depends on time: a
# cursor stands still, or a function in the query waits, while the file changes.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(sleep);

my $directory = PostgreSQL::Test::Utils::tempdir;
my @engines = engines();
my $node = csv_server(
	'changing',
	CHEAP_WORKERS,
	max_worker_processes => 16,
	'csv_gpu_fdw.resident_memory' => '200MB',
	'csv_gpu_test.small_pieces' => 'on');
my $session = new_session($node);
my $path = "$directory/f.csv";

# far more than any engine reads ahead
my $nrecords = 240_000;
my $text = join '', map { "$_," . ('x' x 90) . "\n" } 1 .. $nrecords;
my $half = int(length($text) / 2);

sub shorter { return truncate($path, $half - 7) || die; }
sub longer { return append_to_file($path, "0,more\n"); }
sub same { return 1; }

sub make_table
{
	my ($options) = @_;

	$session->value("DROP FOREIGN TABLE IF EXISTS f;
		CREATE FOREIGN TABLE f (n int, t text) SERVER csv OPTIONS (filename '$path', chunk_size '64kB'$options)");
	return;
}

# messages when a cursor has fetched a row, the file changes, and the rest is fetched,
# into $out
my $out;
sub said
{
	my ($change, $sql, $rest) = @_;

	$session->value('BEGIN; DECLARE c NO SCROLL CURSOR FOR ' . ($sql // 'SELECT n FROM f') . '; FETCH 1 FROM c');
	$change->();
	my $err;

	($out, $err) = $session->query($rest // 'MOVE ALL IN c');
	$session->query('ROLLBACK');
	return $err =~ s/\Q$directory\E/DIR/gr;
}

my $shorter = qq{WARNING:  file "DIR/f.csv" became shorter while it was read\n};
my $longer = qq{NOTICE:  file "DIR/f.csv" became longer while it was read\n};

# ---- one process ----

foreach my $engine (@engines)
{
	# of a file that has rested for a second, the GPU has the bytes for all
	foreach my $rested (0, $engine eq 'cuda' ? 1 : ())
	{
		my $how = $engine . ($rested ? ', which keeps its bytes' : '');

		$session->value("SET csv_gpu_fdw.engine = $engine");
		make_table('');
		foreach my $case ([ shorter => $shorter ], [ longer => $longer ], [ same => '' ])
		{
			write_file($path, $text);
			sleep(1.2) if $rested;
			# a WARNING of the half record that is left comes first, or a NOTICE
			is(said(\&{ $case->[0] }) =~ s/^(NOTICE:  skipped|DETAIL:).*\n//mgr, $case->[1], "$case->[0]: $how");
			next if $case->[0] ne 'longer';
			write_file($path, $text);
			sleep(1.2) if $rested;
			said(\&longer, undef, 'FETCH ALL FROM c');
			is($out =~ tr/\n//, $nrecords - 2, "without what was appended: $how");
		}
	}
	write_file($path, $text);
	is(said(\&shorter, undef, 'MOVE 1000 IN c'), '', "a scan that ends early says nothing: $engine");
	write_file($path, $text);
	is(said(\&longer, 'SELECT n FROM f LIMIT 100000'), '', "nor does one with LIMIT: $engine");

	make_table(", log_verbosity 'silent'");
	foreach my $change (\&shorter, \&longer)
	{
		write_file($path, $text);
		is(said($change), '', "silent: $engine");
	}
	make_table(", on_error 'stop', log_verbosity 'silent', ragged 'pad'");
	write_file($path, $text);
	like(said(\&shorter), qr{^ERROR:  file "DIR/f.csv" became shorter while it was read$}m, "stop: $engine");
	write_file($path, $text);
	is(said(\&longer), '', "stop, and longer: $engine");
}
$session->value('SET csv_gpu_fdw.engine = ' . engine());

# one thread, several, and by each way to read on
foreach my $threads (1, 4)
{
	$session->value("SET csv_gpu_fdw.cpu_threads = $threads");
	foreach my $options ('', ", footer_rows '1'", ", encoding 'LATIN1'", ", encoding 'SJIS'")
	{
		make_table("$options, ragged 'pad'");
		foreach my $case ([ shorter => $shorter ], [ longer => $longer ], [ same => '' ])
		{
			write_file($path, $text);
			is(said(\&{ $case->[0] }), $case->[1], "$case->[0], $threads threads$options");
		}
		write_file($path, $text);
		said(\&longer, undef, 'FETCH ALL FROM c');
		is($out =~ tr/\n//, $nrecords - 2 - ($options =~ /footer/), "without what was appended, $threads threads$options");
	}
}
$session->value('RESET csv_gpu_fdw.cpu_threads');

# compressed: another member
SKIP:
{
	skip 'no gzip', 2 if !has_program('gzip');
	write_file($path, $text);
	foreach my $grows (0, 1)
	{
		system_or_bail("gzip -c $path > $path.gz");
		$session->value("DROP FOREIGN TABLE f; CREATE FOREIGN TABLE f (n int, t text) SERVER csv OPTIONS (filename '$path.gz')");
		my $said = said(sub { system_or_bail("printf '1,x\\n' | gzip >> $path.gz") if $grows });

		is($said, $grows ? $longer =~ s/f.csv/f.csv.gz/r : '', 'a compressed file');
	}
	unlink "$path.gz";
}

# a file that is said to have changed once, however often it is read
make_table('');
write_file($path, "1,a\n2,b\n");
is(said(\&longer, 'SELECT f.n FROM f, generate_series(1, 3) g'), $longer, 'a scan that is repeated');
write_file($path, "1,a\n2,b\n");
said(\&longer, 'SELECT (SELECT count(*) FROM f WHERE f.n <> -g) FROM generate_series(1, 3) g', 'FETCH ALL FROM c');
is($out, "2\n2", 'and has the same rows each time');

# files that have become longer before they are opened
foreach my $engine (@engines)
{
	$session->value("SET csv_gpu_fdw.engine = $engine; DROP FOREIGN TABLE f;
		CREATE FOREIGN TABLE f (n int, t text) SERVER csv OPTIONS (filename '$directory/g*.csv')");
	write_file("$directory/g$_.csv", $_ == 3 ? $text : "$_,x\n") for 1 .. 3;
	is(said(sub { append_to_file("$directory/g$_.csv", "0,more\n") for 2, 3; sleep(1.2) }, undef, 'FETCH ALL FROM c'),
		join('', map { $longer =~ s/f.csv/g$_.csv/r } 2, 3), "longer before it is opened: $engine");
	is($out =~ tr/\n//, $nrecords, "and read as far as it went when the scan began: $engine");
	is($session->value('SELECT count(*) FROM f'), $nrecords + 4, "which is not what is kept of it: $engine");
}
$session->value('SET csv_gpu_fdw.engine = ' . engine());
make_table('');

# what takes it up by itself
$session->value(q{
	CREATE TABLE target (n int, t text);
	CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	  IF new.n = 1 THEN
	    EXECUTE format('COPY (SELECT 1 WHERE false) TO PROGRAM %L', current_setting('test.change'));
	  END IF;
	  RETURN new;
	END $$;
	CREATE TRIGGER change BEFORE INSERT ON target FOR EACH ROW EXECUTE FUNCTION change();});

# messages of a load, or COPY, while whose first row is inserted the program runs
sub loaded
{
	my ($program, $sql) = @_;
	my ($out, $err);

	$session->value('SET test.change = ' . literal($program));
	($out, $err) = $session->query("TRUNCATE target; $sql");
	$err =~ s/^(CONTEXT|HINT):.*\n//mg;
	return $err =~ s/\Q$directory\E/DIR/gr;
}

write_file($path, $text);
my $load = q{SELECT count(*) FROM csv_gpu_load('f', 'target')};
my $cut = 'truncate -s ' . ($half - 7) . " $path";

is(loaded("echo 0,more >> $path", $load), $longer, 'a load');
write_file($path, $text);
is(loaded($cut, $load) =~ s/^(NOTICE:  skipped|DETAIL:).*\n//mgr, $shorter, 'a load of a file that becomes shorter');
make_table(", on_error 'stop'");
write_file($path, $text);
is(loaded($cut, $load) =~ s/.* became/became/r, "became shorter while it was read\n", 'under stop');
is($session->value('SELECT count(*) FROM target'), 0, 'nothing is loaded');

# csv_gpu_fdw.copy takes a table with a constraint, but with no trigger
$session->value(q{
	DROP TRIGGER change ON target;
	CREATE FUNCTION run() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
	  EXECUTE format('COPY (SELECT 1 WHERE false) TO PROGRAM %L', current_setting('test.change'));
	  RETURN true;
	END $$;
	CREATE FUNCTION changed(n int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
	  RETURN n <> 1 OR run();
	END $$;
	CREATE TABLE copied (n int CHECK (changed(n)), t text);});
foreach my $take ('off', 'force')
{
	my $copy = "SET csv_gpu_fdw.copy = $take; COPY copied FROM '$path' CSV";

	write_file($path, $text);
	is(loaded("echo 0,more >> $path", $copy), '', "COPY says nothing: $take");
	write_file($path, $text);
	unlike(loaded($cut, $copy), qr/became/, "of a shorter file either: $take");
}
$session->value('RESET csv_gpu_fdw.copy');

# ---- several processes ----

# all of them wait with the first row of theirs until the file "go" is there
$session->value("SET csv_gpu_fdw.resident = off;
	SET max_parallel_workers_per_gather = 2; SET csv_gpu_test.parallel_workers = 2;
	CREATE FUNCTION hold(n int) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE COST 10000 AS \$\$ BEGIN
	  WHILE pg_stat_file('$directory/go', true) IS NULL LOOP
	    PERFORM pg_sleep(0.01);
	  END LOOP;
	  RETURN true;
	END \$\$");

# number of rows, and what is said, where a change comes while all wait
sub shared
{
	my ($change, $table) = @_;

	unlink "$directory/go";
	$session->send("SELECT count(*) FROM $table WHERE hold(n)");
	$node->poll_query_until('postgres', q{SELECT count(*) = 3 FROM pg_stat_activity WHERE wait_event = 'PgSleep'})
	  or die 'the processes do not wait';
	$change->();
	write_file("$directory/go", '');
	my ($out, $err) = $session->await;

	return ($out, $err =~ s/\Q$directory\E/DIR/gr =~ s/^(CONTEXT|HINT):.*\n//mgr);
}

foreach my $engine (@engines)
{
	$session->value("SET csv_gpu_fdw.engine = $engine");
	foreach my $case ([ shorter => $shorter ], [ longer => $longer ], [ same => '' ])
	{
		make_table(", ragged 'pad'");
		write_file($path, $text);
		my ($out, $err) = shared(\&{ $case->[0] }, 'f');

		is($err, $case->[1], "$case->[0]: once, of three processes: $engine");
		cmp_ok($out, $case->[0] eq 'shorter' ? '<' : '==', $nrecords, 'rows');
	}
	make_table(", ragged 'pad', on_error 'stop'");
	write_file($path, $text);
	my ($out, $err) = shared(\&shorter, 'f');
	like($err, qr{^ERROR:  file "DIR/f.csv" became shorter while it was read$}, "stop: $engine");
}

# ---- files that are gone ----

my $third = qq{NOTICE:  left out file "DIR/p3.csv", which no longer exists\n};

sub write_pattern
{
	unlink glob("$directory/p*.csv");
	write_file("$directory/p$_.csv", map { "$_,x\n" } $_ * 1000 + 1 .. $_ * 1000 + 1000) for 1 .. 4;
	return;
}

sub remove { return unlink "$directory/p3.csv"; }
sub move { return rename "$directory/p3.csv", "$directory/p9.csv"; }
sub rotate
{
	rename "$directory/p$_.csv", "$directory/p" . ($_ + 1) . '.csv' for reverse 2 .. 4;
	return;
}

foreach my $engine (@engines)
{
	my $as = "SERVER csv OPTIONS (filename '$directory/p*.csv', chunk_size '4kB'";

	$session->value("SET csv_gpu_fdw.engine = $engine; DROP FOREIGN TABLE IF EXISTS p, p_stop;
		CREATE FOREIGN TABLE p (n int, t text) $as); CREATE FOREIGN TABLE p_stop (n int, t text) $as, on_error 'stop')");
	foreach my $change (\&remove, \&move)
	{
		write_pattern();
		is(said($change, 'SELECT n FROM p'), $third, "left out: $engine");
	}
	write_pattern();
	is(said(\&rotate, 'SELECT n FROM p'), join('', map { $third =~ s/p3/p$_/r } 2 .. 4), "no file twice under another name: $engine");
	write_pattern();
	like(said(\&remove, 'SELECT n FROM p_stop'), qr{^ERROR:  could not open file "DIR/p3.csv"}, "an ERROR under stop: $engine");
	foreach my $change (\&move, \&rotate)
	{
		write_pattern();
		$session->value('BEGIN; DECLARE c CURSOR FOR SELECT n FROM p_stop; FETCH 1 FROM c');
		$change->();
		my ($out, $err) = $session->query('MOVE ALL IN c; COMMIT');
		is($err, '', "found where it was renamed: $engine");
		write_pattern();
		$session->value('BEGIN; DECLARE c CURSOR FOR SELECT n FROM p_stop; FETCH 1 FROM c');
		$change->();
		is($session->value('FETCH ALL FROM c; COMMIT') =~ tr/\n//, 3998, "each file once: $engine");
	}
	foreach my $case ([ p => $third, 3000 ], [ p_stop => qr/^ERROR/, '' ])
	{
		write_pattern();
		my ($out, $err) = shared(\&remove, $case->[0]);

		# a process may have opened it before
		next if $err eq '' && $out == 4000;
		like($err, ref $case->[1] ? $case->[1] : qr/^\Q$case->[1]\E$/, "$case->[0], several processes: $engine");
		is($out, $case->[2], "$case->[0], rows: $engine");
	}
}

# loads need all
$session->value("SET csv_gpu_fdw.engine = " . engine() . ";
	TRUNCATE target; CREATE TRIGGER change BEFORE INSERT ON target FOR EACH ROW WHEN (new.n = 1001) EXECUTE FUNCTION change();
	CREATE OR REPLACE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
	  EXECUTE format('COPY (SELECT 1 WHERE false) TO PROGRAM %L', current_setting('test.change'));
	  RETURN new;
	END \$\$");
$load = q{SELECT records_loaded FROM csv_gpu_load('p', 'target')};
write_pattern();
is(loaded("mv $directory/p3.csv $directory/p9.csv", $load), '', 'a load finds a renamed file');
is($session->value('SELECT count(*), sum(n) FROM target'), '4000|12002000', 'and has its rows');
write_pattern();
like(loaded("rm $directory/p3.csv", $load), qr{^ERROR:  could not open file "DIR/p3.csv" for reading: No such file}, 'but not one that is gone');
write_pattern();
like(loaded("mv $directory/p2.csv $directory/p3.csv", $load), qr{^ERROR:  file "DIR/p3.csv" was replaced after it was listed}, 'nor where another file has its name');
write_pattern();
like(loaded("mv $directory/p3.csv $directory/p9.csv; echo 1,y >>$directory/p9.csv", $load),
	qr{^ERROR:  could not open file "DIR/p3.csv" for reading: No such file}, 'nor a file that has changed under another name, whose inode may be used again');

finish($session);
