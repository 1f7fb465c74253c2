# A file is read and parsed ahead of the scan, where the engine can: whatever
# ends the scan in the middle, no thread, memory or answer is lost.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(sleep);

my $node = csv_server('ahead');
my $session = new_session($node);
my $other = new_session($node);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $file = "$directory/t.csv";

# 48 MB: many chunks, for any engine
my $lines = join '', map { sprintf "%d,%s\n", $_, 'text of ' . $_ x 3 } 1 .. 40_000;
my $copies = int(48_000_000 / length $lines);
my $nrows = 40_000 * $copies;
write_file($file, ($lines) x $copies);
$session->value("
	CREATE FOREIGN TABLE t (n int, t text) SERVER csv OPTIONS (filename '$file');
	CREATE FOREIGN TABLE t4 (n int, t text) SERVER csv OPTIONS (filename '$file', chunk_size '4MB');
	CREATE FOREIGN TABLE t100k (n int, t text) SERVER csv OPTIONS (filename '$file', chunk_size '100kB');");

sub threads
{
	return scalar(my @tasks = glob('/proc/' . $session->pid . '/task/*'));
}

sub right
{
	my ($table) = @_;

	is($session->value("SELECT count(*), sum(n), max(t) FROM $table"),
		$nrows . '|' . $copies * 40_000 * 40_001 / 2 . '|text of 999999999999', "all of $table");
}

right($_) for qw(t t4 t100k);
my $threads = threads();

# ---- scans that end early, or begin again ----

is($session->value("SELECT n FROM t4 OFFSET $_ LIMIT 1"), ($_ % 40_000) + 1, "row $_ and no further")
	for 0, 30_000, 111_111, 500_001;
is(threads(), $threads, 'leaves no threads');

is($session->value('
	SELECT count(s.n) FROM generate_series(1, 3) g, LATERAL (SELECT n, g FROM t4 OFFSET 0) s'),
	3 * $nrows, 'read three times');
is($session->value('
	SELECT string_agg(s.n::text, $$,$$) FROM generate_series(1, 5) g,
		LATERAL (SELECT n, g FROM t4 OFFSET g * 100003 LIMIT 1) s'),
	join(',', map { $_ * 100_003 % 40_000 + 1 } 1 .. 5), 'begun five times');

# ---- many at once ----

my ($out, $err) = $session->query(join ';', 'BEGIN',
	(map { "DECLARE c$_ CURSOR FOR SELECT n FROM t4; MOVE 200000 FROM c$_" } 1 .. 24),
	(map { "FETCH 1 FROM c$_; MOVE 300000 FROM c$_" } 1 .. 24),
	(map { "FETCH 1 FROM c$_" } 1 .. 24),
	'COMMIT');
is($err, '', '24 cursors at once');
is($out, join("\n", (200_000 % 40_000 + 1) x 24, (500_001 % 40_000 + 1) x 24), 'each in its place');
is(threads(), $threads, 'and no threads when they are closed');

# ---- cancelled, and terminated ----

for my $milliseconds (1, 2, 4, 7, 11, 16, 25, 40)
{
	($out, $err) = $session->query("
		SET statement_timeout = $milliseconds; SELECT count(*), max(t) FROM t4; RESET statement_timeout");
	ok($out eq "$nrows|text of 999999999999" || $err =~ /^ERROR:  canceling statement due to statement timeout$/m,
		"after $milliseconds ms: all or a cancel");
}
is(threads(), $threads, 'no threads after that');
right('t4');

for my $sql ('SELECT max(t) FROM t, generate_series(1, 100)', 'BEGIN; DECLARE c CURSOR FOR SELECT * FROM t4; MOVE 400000 FROM c; SELECT pg_sleep(60)')
{
	my $victim = new_session($node);

	$victim->send($sql);
	sleep(0.5);
	is($other->value('SELECT pg_terminate_backend(' . $victim->pid . ', 20000)'), 't', 'terminated');
}
is($other->value('SELECT count(*) FROM t4'), $nrows, 'other sessions go on');
$session->value('BEGIN; DECLARE c CURSOR FOR SELECT * FROM t4; MOVE 400000 FROM c');
$session->quit;
is($other->value('SELECT count(*) FROM t4'), $nrows, 'a session that leaves in the middle harms nobody');

# ---- a file that changes meanwhile ----

$session = new_session($node);
$session->value('BEGIN; DECLARE c CURSOR FOR SELECT n FROM t4; MOVE 200000 FROM c');
truncate $file, 20_000_000 or die $!;
($out, $err) = $session->query('SET client_min_messages = error; MOVE ALL FROM c; COMMIT');
is($err, '', 'a file that is truncated ends the scan, without an error');
is($other->value('SET client_min_messages = error; SELECT count(*) > 0 FROM t4'), 't', 'and can be read');
unlink $file or die $!;
($out, $err) = $session->query('SELECT count(*) FROM t4');
like($err, qr/^ERROR:  could not open file ".*t.csv" for reading: No such file/m, 'one that is gone is an error');
$session->quit;

my $log = slurp_file($node->logfile);
unlike($log, qr/terminated by signal|PANIC/, 'no process has crashed');

finish($other);
