# 063_updates.pl: a new library is moved into place while sessions use the old one; and
# dumps by the owner of a database who is no superuser.
#
# The other build is a copy whose identity was edited.  The library lies in a directory of
# this test, because other tests use the installed one at the same time.
use lib 'test/t';
use CsvServer;
use File::Copy qw(copy);

my $dir = PostgreSQL::Test::Utils::tempdir;
my $installed = `pg_config --pkglibdir`;

chomp $installed;
mkdir "$dir/lib" or die $!;

# move a library and a program of another build into place
my $builds = 0;

sub install
{
	my @names = @_ ? @_ : ('csv_gpu_fdw.so', 'csv_gpu_service', 'csv_gpu_stand_in');
	my $build = sprintf('%016x', $builds++);

	foreach my $name (@names)
	{
		my $bytes = slurp_file("$installed/$name");

		$bytes =~ s/csv_gpu_fdw build \K[0-9a-f]{16}/$build/ or die "$name does not know its build";
		write_file("$dir/new", $bytes);
		chmod 0755, "$dir/new";
		rename("$dir/new", "$dir/lib/$name") or die $!;
	}
	return;
}

install();
my $node = csv_server(
	'updates',
	'csv_gpu_fdw.engine' => 'auto',
	'csv_gpu_fdw.cpu_threads' => 1,
	dynamic_library_path => "$dir/lib:\$libdir",
	max_parallel_workers_per_gather => 2,
	plan_cache_mode => 'force_generic_plan',
	'csv_gpu_fdw.resident' => 'off',
	'csv_gpu_fdw.resident_memory' => '64MB',
	CHEAP_WORKERS, QUICK_FILES);

write_file("$dir/$_.csv", map { "$_," . $_ % 97 . ",text $_\n" } 1 .. 50000) foreach 'big1', 'big2';
$node->safe_psql('postgres', "UPDATE pg_proc SET probin = '$dir/lib/csv_gpu_fdw' WHERE probin = '\$libdir/csv_gpu_fdw'");
$node->safe_psql('postgres', "CREATE FOREIGN TABLE big (a int, b int, c text) SERVER csv OPTIONS (filename '$dir/big?.csv');
	CREATE TABLE plain AS SELECT g AS a, 'x' || g AS t FROM generate_series(1, 100000) g;
	ANALYZE plain");

my @queries = (
	'SELECT count(*), sum(a), max(c) FROM big WHERE b < 50',
	'SELECT count(*), max(t) FROM big JOIN plain USING (a)',
	'SELECT count(*), max(t) FROM plain LEFT JOIN big USING (a) WHERE b IS NULL',
	'SELECT left(c, 7), count(DISTINCT a) FROM big GROUP BY 1 ORDER BY 1 LIMIT 3');
my @right = map { $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; $_") } @queries;
my $unload = "SELECT sum(records) FROM csv_gpu_unload('SELECT * FROM plain', '$dir/out%d.csv', overwrite => true)";
my $replaced = qr/^ERROR:  the library of csv_gpu_fdw was replaced after this session began\nHINT:  Start a new session\.\n/;

sub prepare
{
	my ($session) = @_;

	$session->value("PREPARE q$_ AS $queries[$_]") foreach 0 .. $#queries;
	return;
}

sub workers
{
	my ($session, $query) = @_;
	my ($workers) = $session->value("EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF) $query") =~ /Workers Launched: (\d+)/;

	return $workers // 0;
}

# is what a session gets right?
sub is_right
{
	my ($session, $what) = @_;

	is($session->value($queries[$_]), $right[$_], "$what: query $_") foreach 0 .. $#queries;
	is($session->value($unload), 100000, "$what: csv_gpu_unload()");
	return;
}

# ---- plans and workers ----

my $old = new_session($node);

prepare($old);
is($old->value("EXECUTE q$_"), $right[$_], "before the update: query $_") foreach 0 .. $#queries;
is(workers($old, "EXECUTE q$_"), 2, 'with workers') foreach 0 .. $#queries;
$old->value($unload);

install();
foreach my $number (0 .. $#queries)
{
	my ($out, $err) = $old->query("EXECUTE q$number");

	like($err, $replaced, "an old plan of query $number with new workers");
	is($old->value("SELECT 'lives'"), 'lives', 'the session goes on');
}
is_right($old, 'the old session makes plans without workers');
is(workers($old, $queries[0]), 0, 'none');

my $new = new_session($node);

is_right($new, 'a new session');
is(workers($new, $queries[1]), 2, 'has workers');

# ---- csv_gpu_service ----

my $keeps = "SET csv_gpu_fdw.resident = on; $queries[0]";
my $pid = 'SELECT pid FROM csv_gpu_stat WHERE device IS NULL';

# a session that may not use the program: one WARNING, and the CPU reads
sub does_without
{
	my ($session, $what, $hint) = @_;
	my $warning = "WARNING:  csv_gpu_service is of another build than this session's library\nHINT:  $hint\n";

	is_deeply([ $session->query($keeps) ], [ $right[0], $warning ], "$what does without the program");
	is_deeply([ $session->query($keeps) ], [ $right[0], '' ], 'and says so once');
	return;
}

is($new->value($keeps), $right[0], 'a session has columns kept');
my $first = $new->value($pid);

isnt($first, '', 'by the program');
install();
my $newer = new_session($node);

is($newer->value($keeps), $right[0], 'after an update, too');
my $second = $newer->value($pid);

isnt($second, '', 'a program runs');
isnt($second, $first, 'of the new build');
does_without($new, 'an older session', 'Start a new session.');
does_without($old, 'a still older one', 'Start a new session.');
is($new->value($pid), '', 'it has none');
is($newer->value($pid), $second, 'and the newer one keeps its own');

install('csv_gpu_service', 'csv_gpu_stand_in');
my $newest = new_session($node);
kill 'TERM', $second;
select(undef, undef, undef, 0.01) while kill 0, $second;
does_without($newest, 'a session of a library that was not replaced', 'Install all files of csv_gpu_fdw from one build.');

# ---- a library that all processes of the server inherit ----

$_->quit foreach $old, $new, $newer, $newest;
$node->append_conf('postgresql.conf', "shared_preload_libraries = '$dir/lib/csv_gpu_fdw'");
$node->restart;
install();
$old = new_session($node);
prepare($old);
is($old->value("EXECUTE q$_"), $right[$_], "preloaded: query $_") foreach 0 .. $#queries;
is(workers($old, 'EXECUTE q0'), 2, 'preloaded: workers');
is_right($old, 'preloaded');
does_without($old, 'preloaded', 'Restart the server.');
is($old->value($pid), '', 'there is none');
$old->quit;

is(() = slurp_file($node->logfile) =~ /terminated by signal|PANIC/g, 0, 'no process has crashed');
# ---- dumps ----

my $dump = "$dir/dump.sql";

$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;

$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN; CREATE ROLE other LOGIN; CREATE DATABASE owned OWNER owner;
	GRANT pg_read_server_files TO owner, other; CREATE DATABASE copied');
$node->safe_psql('owned', 'CREATE EXTENSION csv_gpu_fdw; GRANT USAGE ON FOREIGN DATA WRAPPER csv_gpu_fdw TO owner;
	CREATE SCHEMA theirs AUTHORIZATION other');
write_file("$dir/log", "1\n2\n");
$node->safe_psql('owned', "SET SESSION AUTHORIZATION owner;
	CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw;
	GRANT USAGE ON FOREIGN SERVER csv TO other");
foreach my $role ('owner', 'other')
{
	my $schema = $role eq 'owner' ? 'public' : 'theirs';

	$node->safe_psql('owned', "SET SESSION AUTHORIZATION $role;
		CREATE FOREIGN TABLE $schema.log (a int) SERVER csv OPTIONS (filename '$dir/log');
		CREATE TABLE $schema.loaded (a int);
		SELECT csv_gpu_load('$schema.log', '$schema.loaded', mode => 'new_records');
		INSERT INTO csv_gpu_job (job, schedule, source, target, mode)
			VALUES ('new', '* * * * *', '$schema.log', '$schema.loaded', 'new_files');
		INSERT INTO csv_gpu_job_option (job, options) VALUES ('new', '{}');
		SELECT csv_gpu_run_job('new')");
}

# each table of the extension, as a dump reads it
my @tables = split /\n/, $node->safe_psql('owned', q{SELECT c.oid::regclass FROM pg_extension e, unnest(e.extconfig) t, pg_class c
	WHERE e.extname = 'csv_gpu_fdw' AND c.oid = t AND c.relkind = 'r' ORDER BY 1});

is("@tables", 'csv_gpu_position csv_gpu_job csv_gpu_job_option csv_gpu_job_run csv_gpu_job_file', 'tables that are dumped');
foreach my $table (@tables)
{
	my @rows = split /\n/, $node->safe_psql('owned', "SET SESSION AUTHORIZATION owner; COPY (SELECT * FROM $table) TO STDOUT");

	is($node->safe_psql('owned', "SELECT count(*) FROM $table"), 2, "$table has rows of two roles");
	is(@rows, 1, "$table: the owner of the database sees one of them");
}
is($node->safe_psql('owned', 'SELECT count(*) FROM theirs.loaded'), 4, 'the other role has rows');
command_ok(
	[ 'pg_dump', '--enable-row-security', '--exclude-schema=theirs', '-U', 'owner', '-f', $dump, '-d', $node->connstr('owned') ],
	'the owner of the database dumps it');
$node->command_ok([ 'psql', '-Xqv', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('copied') ], 'restored');
is($node->safe_psql('copied', "SELECT count(*) FROM $_"), 1, "$_ is there") foreach @tables;
is($node->safe_psql('copied', "SELECT records_loaded FROM csv_gpu_load('log', 'loaded', mode => 'new_records')"), 0,
	'and nothing is loaded again');

# who may read source and target of another role dumps their positions, too
is($node->safe_psql('owned', "GRANT SELECT ON theirs.loaded TO owner; SET SESSION AUTHORIZATION owner; SELECT count(*) FROM csv_gpu_position"),
	1, 'not of a source that may not be read');
is($node->safe_psql('owned', "GRANT SELECT ON theirs.log TO owner; SET SESSION AUTHORIZATION owner; SELECT count(*) FROM csv_gpu_position"),
	2, 'of tables that may be read');

# a dump without a table loses what is stored about that table, and no more
$node->safe_psql('owned', "CREATE TABLE absent (a int);
	SELECT csv_gpu_load('log', 'absent', mode => 'new_records');
	INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES ('gone', '* * * * *', 'log', 'absent', 'new_files')");
my $state = q{SELECT * FROM (SELECT 'position', source::text, target::text FROM csv_gpu_position
	UNION ALL SELECT job, source::text, target::text FROM csv_gpu_job) s ORDER BY 1, target COLLATE "C"};
my $before = $node->safe_psql('owned', $state);

$node->command_ok([ 'pg_dump', '-Fc', '-T', 'absent', '-f', $dump, '-d', $node->connstr('owned') ], 'a dump without a table');
foreach my $restore ([''], [ '--schema-only', '--data-only --disable-triggers' ])
{
	$node->safe_psql('postgres', 'DROP DATABASE copied');
	$node->safe_psql('postgres', 'CREATE DATABASE copied');
	command_ok([ 'pg_restore', split(/ /, $_), '-d', $node->connstr('copied'), $dump ], "pg_restore $_") foreach @$restore;
	is($node->safe_psql('copied', $state), $before =~ s/absent$/-/mgr, "@$restore: restored");
	is($node->safe_psql('copied', "SELECT records_loaded FROM csv_gpu_load('log', 'loaded', mode => 'new_records')"), 0,
		'and nothing is loaded again');
	like($node->safe_psql('copied', "SELECT error FROM csv_gpu_run_job('gone')"), qr/^the target table has been dropped/, 'a job says what it lacks');
}

# so does DROP EXTENSION, which says so, and how to save that
my (undef, undef, $err) = $node->psql('copied', 'DROP EXTENSION csv_gpu_fdw');
my ($command) = $err =~ /WARNING:  DROP EXTENSION forgets what was loaded of \d+ files\n.*\nHINT:  .* and run (pg_dump .*) first\./;

like($err, qr/ERROR:  cannot drop extension csv_gpu_fdw because other objects depend on it/, 'the extension is needed');
is(system("$command -f '$dump' -d '@{[ $node->connstr('copied') ]}'"), 0, "saved by $command");
$node->safe_psql('copied', "SET client_min_messages = error; DROP EXTENSION csv_gpu_fdw CASCADE; CREATE EXTENSION csv_gpu_fdw;
	CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw;
	CREATE FOREIGN TABLE log (a int) SERVER csv OPTIONS (filename '$dir/log')");
$node->command_ok([ 'psql', '-Xqf', $dump, '-d', $node->connstr('copied') ], 'restored');
is($node->safe_psql('copied', "SELECT records_loaded FROM csv_gpu_load('log', 'loaded', mode => 'new_records')"), 0, 'and nothing is loaded again');
(undef, undef, $err) = $node->psql('copied', 'CREATE EXTENSION file_fdw; DROP EXTENSION file_fdw');
is($err, '', 'other extensions are dropped in silence');

finish();
