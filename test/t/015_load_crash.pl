# Pages that csv_gpu_load() appends survive what others survive: crashes at any
# moment, a full disk, a standby, and they are not for logical decoding.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(sleep time);

random_seed();
my $seconds = amount(8);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $nload = 60000;
my $file = write_file("$directory/load.csv", map { "$_,load," . ('z' x ($_ % 150)) . "\n" } 1 .. $nload);

# a server with checksums
sub make_server
{
	my ($name, %settings) = @_;
	my %init = (allows_streaming => delete $settings{streaming} // 0, extra => ['--data-checksums']);
	my $node = csv_server($name, autovacuum => 'off', shared_buffers => '16MB', init => \%init, %settings);

	$node->safe_psql('postgres', "CREATE EXTENSION amcheck;
		CREATE FOREIGN TABLE source (a int, b text, c text) SERVER csv OPTIONS (filename '$file');
		CREATE TABLE t (a int, b text, c text);
		CREATE TABLE keyed (a int PRIMARY KEY, b text, c text);
		CREATE TABLE indexed (a int, b text, c text);
		CREATE INDEX indexed_a ON indexed (a);
		CREATE TABLE done (n int);
		CREATE UNLOGGED TABLE unlogged (a int, b text, c text)");
	return $node;
}

# tables whose indexes were built after the rows, or got entries then
my $look_at_keyed = "SELECT count(*) IN (0, $nload), count(*) = count(DISTINCT a) FROM keyed;
	SELECT bt_index_check('keyed_pkey', true), bt_index_check('indexed_a', true);
	SELECT count(*) FROM verify_heapam('keyed'); SELECT count(*) FROM verify_heapam('indexed')";
my $keyed_is_right = "t|t\n|\n0\n0";

sub checksums_are_right
{
	my ($node, $name) = @_;

	$node->stop;
	command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], "$name: pg_checksums");
	return;
}

# ---- killed at any moment, with checkpoints at any moment ----
# (WAL that is not flushed when it has to be is lost, for long)

my $node = make_server('crash', checkpoint_timeout => '30s', max_wal_size => '64MB',
	wal_buffers => '32MB', wal_writer_delay => '10s');
my ($crashes, $loads, @wrong) = (0, 0);
my $loop = "DO \$\$ BEGIN
		FOR i IN 1 .. 1000 LOOP
			PERFORM csv_gpu_load('source', 't');
			INSERT INTO done VALUES (1);
			PERFORM csv_gpu_load('source', 'unlogged');
			TRUNCATE keyed;
			PERFORM csv_gpu_load('source', 'keyed');
			PERFORM csv_gpu_load('source', 'indexed');
			COMMIT;
			IF i % 3 = 0 THEN
				PERFORM csv_gpu_load('source', 't');
				ROLLBACK;
			END IF;
		END LOOP;
	END \$\$";
# on a slow machine, until one load at least was over before the server was gone
for (my $end = time() + $seconds; time() < $end || $crashes < 3 || (!$loads && $crashes < 30); $crashes++)
{
	my $session = new_session($node);
	my $other = new_session($node);

	$session->send($loop);
	$other->send('DO $$ BEGIN FOR i IN 1 .. 1000 LOOP PERFORM pg_sleep(random() * 0.05); INSERT INTO t SELECT g, \'other\', \'x\' FROM generate_series(1, 500) g; INSERT INTO done VALUES (500); COMMIT; END LOOP; END $$');
	my $checkpoints = new_session($node);
	my $until = time() + rand(1.5 + $crashes / 4);
	while (time() < $until)
	{
		$checkpoints->value('CHECKPOINT') if rand() < 0.3;
		sleep(rand(0.05));
	}
	kill_server($node);
	$_->{run}->kill_kill for $session, $other, $checkpoints;
	start_again($node);

	my ($count, $bad) = split /\|/, $node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE b = 'load'),
		count(*) FILTER (WHERE b = 'load' AND length(c) <> a % 150) FROM t");
	my $ndone = $node->safe_psql('postgres', 'SELECT count(*) FROM done WHERE n = 1');
	my $others = $node->safe_psql('postgres', "SELECT count(*) - coalesce((SELECT sum(n) FROM done WHERE n > 1), 0) FROM t WHERE b = 'other'");
	my $corrupt = $node->safe_psql('postgres', "SELECT count(*) FROM verify_heapam('t')");
	my $unlogged = $node->safe_psql('postgres', 'SELECT count(*) FROM unlogged');
	my $keyed = $node->safe_psql('postgres', "$look_at_keyed; SELECT count(*) FROM indexed");

	push @wrong, "$count rows of $ndone loads, $bad spoilt, $others of others, $corrupt corrupt, $unlogged unlogged, $keyed"
	  if $count != $ndone * $nload || $bad || $others || $corrupt || $unlogged || $keyed ne "$keyed_is_right\n" . $ndone * $nload;
	$loads = $ndone if $ndone > $loads;
	# not so large that looking at it takes all the time
	$node->safe_psql('postgres', 'TRUNCATE t, done, indexed') if $count > 10 * $nload;
	$node->safe_psql('postgres', 'VACUUM t') if rand() < 0.3;
}
is(join("\n", @wrong), '', "$crashes crashes: all rows of what had committed, and no others");
cmp_ok($loads, '>', 0, "up to $loads loads had");
checksums_are_right($node, 'after crashes');

# ---- an unlogged table over a clean restart ----

$node->start;
$node->safe_psql('postgres', "SELECT csv_gpu_load('source', 'unlogged')");
$node->restart;
is($node->safe_psql('postgres', 'SELECT count(*) FROM unlogged'), $nload, 'an unlogged table is there after a restart');

# ---- a disk that is full: files of more than so many bytes cannot be written ----

SKIP:
{
	my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];

	skip 'no prlimit', 6 if system('prlimit', "--pid=$postmaster", '--fsize=17000000:unlimited') != 0;
	$node->safe_psql('postgres', 'TRUNCATE t, done, indexed; CHECKPOINT');
	my ($out, $err);
	my $session = new_session($node);

	for (1 .. 3)
	{
		# in a subtransaction that is survived
		($out, $err) = $session->query("BEGIN; INSERT INTO done VALUES (1); SAVEPOINT a;
			SELECT csv_gpu_load('source', 't') FROM generate_series(1, 10); ROLLBACK TO a; COMMIT");
		like($err, qr/ERROR:  could not extend file/, 'a file that cannot grow');
	}
	# nothing holds up a checkpoint, and the next one takes the blocks that could not be written
	system('prlimit', "--pid=$postmaster", '--fsize=unlimited:unlimited') == 0 or die;
	cmp_ok($node->safe_psql('postgres', "CHECKPOINT; SELECT pg_relation_size('t')"), '<=', 17000000, 'the file has not grown further');
	$node->safe_psql('postgres', "INSERT INTO t SELECT g, 'other', repeat('x', 100) FROM generate_series(1, 1000) g");
	kill_server($node);
	start_again($node);
	is($node->safe_psql('postgres', 'SELECT count(*), (SELECT count(*) FROM done) FROM t'), '1000|3', 'what others inserted then is there after a crash');
	is($node->safe_psql('postgres', "SELECT count(*) FROM verify_heapam('t')"), 0, 'verify_heapam');
}
checksums_are_right($node, 'after a full disk');

# ---- wal_level minimal: new tables are not logged, but synced ----

$node = make_server('minimal', wal_level => 'minimal', max_wal_senders => 0, wal_skip_threshold => '1MB');
for my $how ('CREATE TABLE new (a int, b text, c text)', 'TRUNCATE new', 'TRUNCATE t')
{
	my $name = $how =~ /new/ ? 'new' : 't';
	my $before = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');

	$node->safe_psql('postgres', "BEGIN; $how; SELECT csv_gpu_load('source', '$name'); INSERT INTO $name VALUES (0, 'one more'); COMMIT");
	cmp_ok($node->safe_psql('postgres', "SELECT pg_current_wal_insert_lsn() - '$before'"), '<', 1000000, "$how: not logged");
	kill_server($node);
	start_again($node);
	is($node->safe_psql('postgres', "SELECT count(*), sum(a) FROM $name"), ($nload + 1) . '|' . $nload * ($nload + 1) / 2, "$how: there after a crash");
	is($node->safe_psql('postgres', "SELECT count(*) FROM verify_heapam('$name')"), 0, "$how: verify_heapam");
}
# a table that is so small that it is logged at commit after all
$node->safe_psql('postgres', "ALTER SYSTEM SET wal_skip_threshold = '1GB'");
$node->restart;
$node->safe_psql('postgres', "BEGIN; TRUNCATE new; SELECT csv_gpu_load('source', 'new'); COMMIT");
kill_server($node);
start_again($node);
is($node->safe_psql('postgres', 'SELECT count(*) FROM new'), $nload, 'one that is logged at commit');
# and its indexes
$node->safe_psql('postgres', "BEGIN; TRUNCATE keyed; SELECT csv_gpu_load('source', 'keyed'); COMMIT");
kill_server($node);
start_again($node);
is($node->safe_psql('postgres', "$look_at_keyed; SELECT count(*) FROM keyed"), "$keyed_is_right\n$nload", 'an index that was built');
checksums_are_right($node, 'wal_level minimal');

# ---- a standby ----

my $primary = make_server('primary', streaming => 1, wal_compression => 'on');
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;
my $session = new_session($primary);
my $reader = new_session($standby);
my $partial = 0;
my $looks = 0;
for my $n (1 .. 5)
{
	$session->send("BEGIN; TRUNCATE keyed; SELECT csv_gpu_load('source', 'keyed'); SELECT csv_gpu_load('source', 'indexed'); SELECT csv_gpu_load('source', 't'); " . ($n == 3 ? 'ROLLBACK' : 'COMMIT') . "; INSERT INTO t VALUES (0, 'other', 'x')");
	until ($session->ended)
	{
		$partial++ if $reader->value("SELECT count(*) FROM t WHERE b = 'load'") % $nload != 0;
		$looks++;
	}
	my ($out, $err) = $session->await;
	is($err, '', "load $n");
	$primary->wait_for_catchup($standby, 'replay');
}
is($partial, 0, "standby: all rows of a load or none, $looks looks");
my $sums = q{SELECT count(*), md5(string_agg(t::text, ' ' ORDER BY b, a, c)) FROM t};
is($reader->value($sums), $session->value($sums), 'standby: the same rows');
like($reader->value($sums), qr/^240005\|/, 'as many as there should be');
is($reader->value("SELECT count(*) FROM verify_heapam('t')"), 0, 'standby: verify_heapam');
is($reader->value("$look_at_keyed; SELECT count(*) FROM keyed"), "$keyed_is_right\n$nload", 'standby: an index that was built');
SKIP:
{
	# what was written of storage that is new, and not logged, before the disk was full
	my $postmaster = (split /\n/, slurp_file($primary->data_dir . '/postmaster.pid'))[0];

	$session->value("CREATE TABLE new (a int, b text, c text)");
	skip 'no prlimit', 2 if system('prlimit', "--pid=$postmaster", '--fsize=17000000:unlimited') != 0;
	my $limited = new_session($primary);
	my ($out, $err) = $limited->query("BEGIN; TRUNCATE new; INSERT INTO new VALUES (1, 'before'); SAVEPOINT a;
		SELECT csv_gpu_load('source', 'new') FROM generate_series(1, 10); ROLLBACK TO a;
		INSERT INTO new SELECT g, 'after', repeat('x', 100) FROM generate_series(1, 1000) g; COMMIT");
	like($err, qr/ERROR:  could not extend file/, 'a new file that cannot grow');
	system('prlimit', "--pid=$postmaster", '--fsize=unlimited:unlimited') == 0 or die;
	$limited->quit;
	$primary->wait_for_catchup($standby, 'replay');
	my $new = q{SELECT pg_relation_size('new'), count(*), sum(a), (SELECT count(*) FROM verify_heapam('new')) FROM new};
	is($reader->value($new), $session->value($new), 'standby: the same pages');
}
$standby->promote;
$standby->safe_psql('postgres', "SELECT csv_gpu_load('source', 't')");
is($standby->safe_psql('postgres', "SELECT count(*) FROM t WHERE b = 'load'"), 5 * $nload, 'standby: a load after it was promoted');
is($standby->safe_psql('postgres', "SELECT count(*) FROM verify_heapam('t')"), 0, 'standby: verify_heapam again');
$_->quit for $session, $reader;
checksums_are_right($standby, 'standby');
checksums_are_right($primary, 'primary');

# ---- logical decoding sees the rows of pages, and recovery makes pages of them ----

$node = make_server('logical', wal_level => 'logical');
is($node->safe_psql('postgres', "SELECT records_loaded FROM csv_gpu_load('source', 'unlogged')"), $nload, 'unlogged tables are not decoded');
$node->safe_psql('postgres', "SELECT pg_create_logical_replication_slot('slot', 'test_decoding')");
$node->safe_psql('postgres', 'CHECKPOINT');
$node->safe_psql('postgres', "SELECT csv_gpu_load('source', 't'); BEGIN; TRUNCATE keyed; SELECT csv_gpu_load('source', 'keyed'); COMMIT;
	BEGIN; CREATE TABLE new (LIKE t); SELECT csv_gpu_load('source', 'new'); SAVEPOINT a; SELECT csv_gpu_load('source', 'new'); ROLLBACK TO a; COMMIT");

my $rows = $node->safe_psql('postgres', 'SELECT count(*), sum(hashtextextended(t::text, 0)) FROM new t');

like($rows, qr/^$nload\|/, 'a table of the same transaction');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', "SELECT count(*), sum(hashtextextended(t::text, 0)) FROM $_ t"), $rows, "$_ after a crash") foreach 't', 'keyed', 'new';
is($node->safe_psql('postgres', "SELECT count(*) FROM unnest('{t,keyed,new}'::regclass[]) r, verify_heapam(r)"), 0, 'pages are whole');
is($node->safe_psql('postgres', "SELECT substring(data from 'table public\\.(\\w+): INSERT') AS t, count(*), count(DISTINCT data) FROM pg_logical_slot_get_changes('slot', NULL, NULL)
	WHERE data LIKE '%INSERT%' GROUP BY 1 ORDER BY 1"), join("\n", map { "$_|$nload|$nload" } 'keyed', 'new', 't'), 'all rows are decoded');
checksums_are_right($node, 'wal_level logical');
finish();
