# Several GPUs: scans, files and resident columns are spread over all of them, answers
# are those of the CPU engine, and a setting narrows that to one.  Where there is no GPU,
# with stand-ins for two.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(sleep);

use_gpu();
random_seed();

my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server(
	'devices', QUICK_FILES,
	max_connections => 60,
	max_worker_processes => 16,
	max_parallel_workers => 12,
	max_parallel_workers_per_gather => 0,
	CHEAP_WORKERS,
	'csv_gpu_fdw.resident_memory' => '256MB',
	'csv_gpu_fdw.resident' => 'off');
my $session = new_session($node);

write_file("$directory/one.csv", "1\n");
$session->value("CREATE FOREIGN TABLE one (a int) SERVER csv OPTIONS (filename '$directory/one.csv'); SELECT a FROM one");
my $n = $session->value('SELECT count(*) FROM csv_gpu_devices() WHERE usable');

plan(skip_all => "there is one GPU") if $n < 2;

# what is counted of each device
sub stat_of
{
	my ($column) = @_;

	return map { 0 + $_ } split /\n/, $session->value("SELECT $column FROM csv_gpu_stat WHERE device IS NOT NULL ORDER BY device");
}

# how much is counted of each while a query is answered
sub counted
{
	my ($column, $query, $asking) = @_;
	my @before = stat_of($column);

	($asking // $session)->value($query);
	my @after = stat_of($column);

	return map { $after[$_] - ($before[$_] // 0) } 0 .. $#after;
}

sub at_rest
{
	$node->poll_query_until('postgres', "SELECT coalesce(sum(scans_running), 0) = 0 FROM csv_gpu_stat WHERE device IS NOT NULL")
	  or die 'a scan does not end';
	return;
}

sub min_and_max
{
	my @sorted = sort { $a <=> $b } @_;

	return @sorted[ 0, -1 ];
}

my $nrows = 60_000;

for my $file (1 .. 4)
{
	write_file("$directory/part$file.csv", map { ($_ * 7 % 1000) . ",text $_," . ($_ % 100) . ".25,$_\n" } 1 .. $nrows);
}
sleep(0.1);
my $columns = 'a int, b text, v numeric(8,2), n int';

$session->value(join ';', map { "CREATE FOREIGN TABLE $_->[0] ($columns) SERVER csv OPTIONS (filename '$directory/$_->[1].csv')" }
	  [ parts => 'part[1-4]' ], map { [ "part$_" => "part$_" ] } 1 .. 4);

# ---- scans ----

my $rest = 'BEGIN; DECLARE c CURSOR FOR SELECT * FROM %s; FETCH 1 FROM c';
my @sessions = map { new_session($node) } 1 .. 4 * $n;

$session->value('SELECT count(b) FROM part1');
at_rest();
$sessions[$_]->value(sprintf $rest, 'part' . (1 + $_)) for 0 .. 1;
my ($least, $most) = min_and_max(stat_of('scans_running'));
cmp_ok($most, '<=', 1, 'two files are read on two devices');
$sessions[$_]->value('ROLLBACK') for 0 .. 1;
at_rest();

$_->value(sprintf $rest, 'part1') for @sessions;
($least, $most) = min_and_max(stat_of('scans_running'));
cmp_ok($least, '>=', 1, 'many scans of one file use all devices');
cmp_ok($most - $least, '<=', 3, 'and share them');
$_->value('ROLLBACK') for @sessions;
at_rest();

$_->value('SET csv_gpu_fdw.device = 1; ' . sprintf $rest, 'part1') for @sessions;
my @running = stat_of('scans_running');
is($running[1], scalar @sessions, 'a session may choose one');
is($running[0], 0, 'and no other');
$_->value('ROLLBACK; RESET csv_gpu_fdw.device') for @sessions;
at_rest();

# ---- files of a pattern, and pieces of a file ----

my $query = 'SELECT count(*), sum(a), sum(v), min(b), max(n) FROM parts';
my $expected = $session->value("SET csv_gpu_fdw.engine = cpu; $query");
my $grouped = 'SELECT a % 7, count(*), sum(v), min(b) FROM parts WHERE n > 50 GROUP BY 1 ORDER BY 1';
my $expected_groups = $session->value($grouped);

$session->value('SET csv_gpu_fdw.engine = cuda');
is($session->value("SET csv_gpu_fdw.enable_pushdown = off; $query"), $expected, 'a pattern: same answer');
is($session->value("RESET csv_gpu_fdw.enable_pushdown; $query"), $expected, 'also where devices aggregate');
is($session->value($grouped), $expected_groups, 'and by groups');
is($session->value("SET csv_gpu_test.gpu_groups = 1; SELECT count(*), sum(s) FROM (SELECT n, sum(a) AS s FROM parts GROUP BY n) x; RESET csv_gpu_test.gpu_groups"),
	$session->value('SET csv_gpu_fdw.engine = cpu; SELECT count(*), sum(s) FROM (SELECT n, sum(a) AS s FROM parts GROUP BY n) x; SET csv_gpu_fdw.engine = cuda'),
	'groups stay on the device of the first file');

my $forced = 'SET csv_gpu_test.parallel_workers = 3; SET max_parallel_workers_per_gather = 3; SET csv_gpu_test.small_pieces = on;';
my $alone = 'RESET csv_gpu_test.parallel_workers; RESET max_parallel_workers_per_gather; RESET csv_gpu_test.small_pieces';
my $of_one = 'SELECT count(*), max(md5(b)), sum(v) FROM part3';

# of files that no device has had yet, if workers come in time
my $spread = 0;
for my $try (1 .. 20)
{
	write_file("$directory/fresh$try.$_.csv", map { "$_,text $_,1.25,$_\n" } 1 .. $nrows) for 1 .. 4;
	sleep(0.1);
	$session->value("CREATE FOREIGN TABLE fresh ($columns) SERVER csv OPTIONS (filename '$directory/fresh$try.*.csv')");
	$spread = 1 if (min_and_max(counted('bytes_read', "$forced SELECT count(*), max(md5(b)) FROM fresh; $alone")))[0] > 0;
	$session->value('DROP FOREIGN TABLE fresh');
	last if $spread;
}
is($spread, 1, 'workers read files of a pattern on several devices');
is($session->value("$forced SELECT count(*), max(md5(b)), sum(n) FROM parts; $alone"),
	$session->value('SET csv_gpu_fdw.engine = cpu; SELECT count(*), max(md5(b)), sum(n) FROM parts; SET csv_gpu_fdw.engine = cuda'),
	'pieces of files');
at_rest();
is(scalar(grep { $_ > 0 } counted('bytes_read', "$forced $of_one; $alone")), 1, 'pieces of a file are read on one device, where it is');

# ---- resident columns ----

my $kept = new_session($node);

$kept->value('SET csv_gpu_fdw.resident = on; SET csv_gpu_fdw.engine = cuda');
for my $round (1 .. 3)
{
	my @hits = counted('resident_hits', $query, $kept);

	is($kept->value($query), $expected, "resident columns, round $round: same answer");
	is($kept->value($grouped), $expected_groups, 'and groups');
	cmp_ok((min_and_max(@hits))[0], '>', 0, 'by all devices') if $round > 1 && has_stand_in();
}
is($kept->value('SELECT a, n, line FROM (SELECT a, n, row_number() OVER () AS line FROM part2 WHERE a = 7) x ORDER BY n DESC LIMIT 5'),
	$session->value('SELECT a, n, line FROM (SELECT a, n, row_number() OVER () AS line FROM part2 WHERE a = 7) x ORDER BY n DESC LIMIT 5'),
	'rows come in order');
is($kept->value('SELECT n, b FROM parts ORDER BY n DESC, b LIMIT 4'), $session->value('SELECT n, b FROM parts ORDER BY n DESC, b LIMIT 4'), 'the first ones');
like($kept->value("SELECT string_agg(DISTINCT location, ';') FROM csv_gpu_resident()"), qr/host, device/, 'devices have copies');

# one device after all, and all again: copies are of other rows
is($kept->value("SET csv_gpu_fdw.device = $_; $query"), $expected, "device $_") for 0, 1, -1, 0, -1;
is($kept->value('SELECT csv_gpu_forget()'), 4, 'they are let go of');
is($kept->value($query), $expected, 'and made again');

# many at once
$_->value('SET csv_gpu_fdw.resident = on; SET csv_gpu_fdw.engine = cuda') for @sessions;
$_->send($query . ';' . $grouped) for @sessions;
is(scalar(grep { ($_->await)[0] ne "$expected\n$expected_groups" } @sessions), 0, 'many sessions ask at once');

# ---- one of them fails ----

my ($answer, $messages) = $session->query("SET csv_gpu_fdw.device = 1; SET csv_gpu_test.gpu_fault = 1; $query");
like($messages, qr/ERROR:  GPU failed while reading/, 'a device fails');
is($session->value("SET csv_gpu_test.gpu_fault = 0; RESET csv_gpu_fdw.device; $query"), $expected, 'and the next query has all of them');
is(scalar(stat_of('device')), $n, 'which are there');

# one breaks as it starts, when nobody uses it: the program goes, as it is of no use, and is back
SKIP:
{
	skip 'a GPU cannot be broken', 3 if !has_stand_in();
	my $broken = $node->data_dir . '/pg_stat_tmp/csv_gpu_test.broken';

	$_->quit for @sessions, $session, $kept;
	@sessions = ();
	$node->restart;
	write_file($broken, '0');
	$session = new_session($node);
	$kept = new_session($node);
	is($session->value("SET csv_gpu_fdw.engine = cuda; $query"), $expected, 'a device breaks: another one answers');
	unlink $broken;
	is($kept->value("SET csv_gpu_fdw.engine = cuda; $query"), $expected, 'and the next session waits for another program');
	is(scalar(stat_of('device')), $n, 'which has all of them');
}

# ---- devices are looked for when a scan begins ----

$_->quit for @sessions, $session, $kept;
SKIP:
{
	skip 'a GPU is there at once', 1 if !has_stand_in();
	my $looking = $node->data_dir . '/pg_stat_tmp/csv_gpu_test.looking';

	$node->restart;
	write_file($looking, '');
	$session = new_session($node);
	$session->send("SET csv_gpu_fdw.engine = cuda; SET csv_gpu_fdw.device = 63; $query");
	$node->poll_query_until('postgres', "SELECT state = 'active' AND wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = @{[ $session->pid ]}")
	  or die 'the scan does not wait';
	unlink $looking;
	like(($session->await)[1], qr/ERROR:  no usable GPU for engine "cuda": there is no such device\n/, 'a device that is not there');
	$session->quit;
}

# ---- the server may have one only ----

$node->append_conf('postgresql.conf', 'csv_gpu_fdw.device = 1');
$node->restart;
$session = new_session($node);
is($session->value("SET csv_gpu_fdw.engine = cuda; $query"), $expected, 'a server with one of them');
is($session->value('SELECT string_agg(device::text, \',\') FROM csv_gpu_stat WHERE device IS NOT NULL'), '1', 'which is in use');
like(($session->query("SET csv_gpu_fdw.device = 0; $query"))[1], qr/no usable GPU for engine "cuda": there is none, or no driver/, 'others are not');
is($session->value("SET csv_gpu_fdw.device = -1; $query"), $expected, 'all of them: that one');

done_testing();
