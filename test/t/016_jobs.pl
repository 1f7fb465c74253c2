# Importer jobs with pg_cron itself: from a schedule to loaded rows.
use lib 'test/t';
use CsvServer;

my $libdir = `pg_config --pkglibdir`;
chomp $libdir;
plan skip_all => 'pg_cron is not installed' if !-e "$libdir/pg_cron.so";

# its workers are the server's own: nothing has to be known about sockets
my $node = csv_server(
	'jobs',
	shared_preload_libraries => 'pg_cron',
	'cron.database_name' => 'postgres',
	'cron.use_background_workers' => 'on',
	max_worker_processes => 20,
	restart_after_crash => 'on');
my $dir = new_folder();

# wait for the runs of a job that this condition holds for
sub await_run
{
	my ($job, $condition) = @_;
	my $session = new_session($node);
	my $nruns = 0;

	for (1 .. 900)
	{
		$nruns = $session->value("SELECT count(*) FROM csv_gpu_job_run WHERE job = '$job' AND $condition");
		last if $nruns > 0;
		Time::HiRes::sleep(0.1);
	}
	$session->quit;
	return $nruns > 0;
}

sub write_old_file
{
	my ($path, @bytes) = @_;

	write_file($path, @bytes);
	utime(time - 60, time - 60, $path) or die;
	return;
}

write_old_file("$dir/a1.csv", map { "$_,text $_\n" } 1 .. 1000);
sql(qq{
	CREATE ROLE importer LOGIN;
	GRANT CREATE, USAGE ON SCHEMA public TO importer;
	CREATE FOREIGN TABLE source (id int, what text) SERVER csv OPTIONS (filename '$dir/a*.csv');
	GRANT SELECT ON source TO importer;
	CREATE TABLE target (id int, what text);
	CREATE TABLE other (id int, what text);});

# ---- without the extension, and without rights ----

my ($rc, $out, $err) = $node->psql('postgres',
	q{SELECT csv_gpu_schedule('job', '* * * * *', 'source', 'target')});
like($err, qr/needs the extension pg_cron.*\nHINT:.*shared_preload_libraries/, 'pg_cron is wanted');
sql('CREATE EXTENSION pg_cron');

my @as_importer = (extra_params => [ '-U', 'importer' ]);
($rc, $out, $err) = $node->psql('postgres',
	q{SELECT csv_gpu_schedule('job', '* * * * *', 'source', 'target')}, @as_importer);
like($err, qr/permission denied for table target/, 'INSERT is wanted');
sql('GRANT INSERT, SELECT ON target TO importer');
($rc, $out, $err) = $node->psql('postgres',
	q{SELECT csv_gpu_schedule('job', '* * * * *', 'source', 'target')}, @as_importer);
like($err, qr/permission denied for schema cron/, 'USAGE of the schema cron is wanted');
is(sql('SELECT count(*) FROM csv_gpu_job'), 0, 'nothing was scheduled');
sql('GRANT USAGE ON SCHEMA cron TO importer');

# ---- schedules ----

($rc, $out, $err) = $node->psql('postgres',
	q{SELECT csv_gpu_schedule('job', '30 * * * * ?', 'source', 'target')});
like($err, qr/has 6 fields.*HINT:  With five fields it is "\* \* \* \* \*"/s, 'six fields are refused');
($rc, $out, $err) = $node->psql('postgres',
	q{SELECT csv_gpu_schedule('job', '61 * * * *', 'source', 'target')});
like($err, qr/invalid schedule: 61 \* \* \* \*/, 'what pg_cron refuses is refused');
is(sql('SELECT count(*) FROM csv_gpu_job'), 0, 'nothing was scheduled');

# ---- end to end: three jobs, a minute ----

$node->psql('postgres',
	q{SELECT csv_gpu_schedule('new', '* * * * *', 'source', 'target', 'new_files', 'what comes in')},
	@as_importer);
sql(q{SELECT csv_gpu_schedule('fresh', '0 5 * * *', 'source', 'other', 'append')});
sql(q{SELECT csv_gpu_schedule('fresh', '* * * * *', 'source', 'other', 'replace')});
sql(q{CREATE FOREIGN TABLE missing (id int, what text) SERVER csv OPTIONS (filename '/nosuchfile.csv')});
sql(q{SELECT csv_gpu_schedule('fails', '* * * * *', 'missing', 'other')});
is( sql(q{SELECT string_agg(concat_ws(' ', username, jobname, schedule), ', ' ORDER BY jobname) FROM cron.job}),
	(join ', ', map { $_->[1] . " csv_gpu_fdw: $_->[0] * * * * *" } [ 'fails', sql('SELECT current_user') ], [ 'fresh', sql('SELECT current_user') ], [ 'new', 'importer' ]),
	'pg_cron has the jobs, each once');

ok(await_run('new', 'error IS NULL'), 'new files are loaded by schedule');
ok(await_run('fresh', 'error IS NULL'), 'a table is replaced by schedule');
ok(await_run('fails', 'error IS NOT NULL'), 'a run that fails is on record');
is(sql('SELECT count(*), sum(id) FROM target'), '1000|500500', 'rows of the new file');
is(sql('SELECT count(*), sum(id) FROM other'), '1000|500500', 'rows of the replaced table');
is( sql(qq{SELECT owner, filename = '$dir/a1.csv', records_loaded, records_skipped, bytes_read > 0, duration > '0' FROM csv_gpu_job_run WHERE job = 'new'}),
	'importer|t|1000|0|t|t', 'the run');
like( sql(q{SELECT records_loaded, error FROM csv_gpu_job_run WHERE job = 'fails' LIMIT 1}),
	qr/^\|could not open file "\/nosuchfile\.csv"/, 'the failure');
sql(q{CREATE TABLE low (id int CHECK (id < 900), what text)});
sql(q{SELECT csv_gpu_schedule('low', '@yearly', 'source', 'low')});
like( sql(q{SELECT error FROM csv_gpu_run_job('low')}),
	qr/^new row .*\nDETAIL:  Failing row .*\nCONTEXT:  csv_gpu_load into "low", record 900 of "\Q$dir\E\/a1.csv"$/, 'the record that is at fault');
sql(q{SELECT csv_gpu_unschedule('low')});
is(sql(q{SELECT description FROM csv_gpu_job WHERE job = 'new'}), 'what comes in', 'the description');

# ---- the next minute: only what is new ----

write_old_file("$dir/a2.csv", "2000,later\n");
ok(await_run('new', "filename = '$dir/a2.csv'"), 'the next file');
is(sql('SELECT count(*), sum(id) FROM target'), '1001|502500', 'no file twice');
ok(await_run('fresh', 'records_loaded = 1001'), 'and replaced again');
is(sql('SELECT count(*), sum(id) FROM other'), '1001|502500', 'in place of the old rows');
is( sql(q{SELECT string_agg(concat_ws(' ', job, active, running, last_success > now() - interval '5 minutes', left(last_error, 19),
		next_run > now() AND next_run <= now() + interval '1 minute', records_loaded > 0, bytes_read > 0), ', ') FROM csv_gpu_jobs}),
	'fails t f could not open file t f f, fresh t f t t t t, new t f t t t t', 'the state of jobs');

# ---- paused, and by an entry of pg_cron that version 0.1 made ----

is( $node->psql('postgres', q{SELECT csv_gpu_pause('fresh')}, @as_importer), 3, 'nobody pauses the jobs of others');
sql(q{SELECT csv_gpu_pause('fresh')});
is(sql(q{SELECT string_agg(concat_ws(' ', job, active, next_run IS NULL), ', ') FROM csv_gpu_jobs WHERE job <> 'fails'}), 'fresh f t, new t f', 'a job is paused');
is(sql(q{SELECT count(*) FROM cron.job WHERE jobname = 'csv_gpu_fdw: fresh'}), 0, 'for pg_cron, too');
cmp_ok(sql(q{SELECT csv_gpu_resume('fresh')}), '>', 0, 'and goes on');
is(sql(q{SELECT command FROM cron.job WHERE jobname = 'csv_gpu_fdw: fresh'}), q{CALL public.csv_gpu_run('fresh'::pg_catalog.text)}, 'by a procedure');
is(sql(q{SET SESSION AUTHORIZATION importer; SELECT string_agg(concat_ws(' ', job, active, next_run > now()), ', ') FROM csv_gpu_jobs}), 'new t t', 'as its owner sees it');

# ---- the end ----

is( $node->psql('postgres', q{SELECT csv_gpu_unschedule('fresh')}, @as_importer), 3,
	'nobody ends the jobs of others');
sql(q{SELECT csv_gpu_unschedule('fresh'), csv_gpu_unschedule('fails')});
is(sql(q{SELECT string_agg(jobname, ', ') FROM cron.job}), 'csv_gpu_fdw: new', 'jobs end');
cmp_ok(sql(q{SELECT count(*) FROM csv_gpu_job_run WHERE job = 'fails'}), '>', 0, 'their runs stay on record');

# ---- several runs of a job at once, and one that is killed ----

write_old_file("$dir/many$_.csv", map { "$_\n" } 1 .. 2000) for 1 .. 50;
sql(qq{CREATE FOREIGN TABLE many (id int) SERVER csv OPTIONS (filename '$dir/many*.csv');
	CREATE TABLE many_loaded (id int);
	INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES ('many', '* * * * *', 'many', 'many_loaded', 'new_files')});
my @sessions = map { new_session($node) } 1 .. 3;
my $run = q{SELECT count(*), count(error) FROM csv_gpu_run_job('many')};
my $states = q{SELECT state, count(*) FROM csv_gpu_job_run WHERE job = 'many' GROUP BY 1 ORDER BY 1};
my $victim = $sessions[0]->pid;

sql(q{CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF (SELECT count(*) FROM many_loaded) >= 40000 THEN PERFORM pg_sleep(600); END IF; RETURN NULL; END';
	CREATE TRIGGER wait AFTER INSERT ON many_loaded FOR EACH STATEMENT EXECUTE FUNCTION wait()});
$sessions[0]->send($run);
$node->poll_query_until('postgres', "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = $victim")
  or die 'it does not sleep';
kill 'KILL', $victim;
eval { $_->quit } for @sessions;
# it may answer until it has noticed
for (1 .. 1800)
{
	last if slurp_file($node->logfile) =~ /all server processes terminated/;
	Time::HiRes::sleep(0.1);
}
await_server($node);
is(sql(q{SELECT (SELECT count(*) FROM many_loaded), (SELECT count(*) FROM csv_gpu_job_file WHERE job = 'many')}), '0|0', 'of a run that is killed nothing is left');
sql('DROP TRIGGER wait ON many_loaded');
@sessions = map { new_session($node) } 1 .. 3;
$_->send($run) for @sessions;
is((join ' ', sort map { ($_->await)[0] } @sessions), '0|0 0|0 50|0', 'of several runs at once, one loads');
is(sql('SELECT count(*), sum(id) FROM many_loaded'), '100000|100050000', 'each file once');

# each file in a transaction of its own: others see what runs, and what has been loaded
sql(q{TRUNCATE many_loaded; SELECT csv_gpu_forget_files('many'), csv_gpu_forget_runs('many');
	CREATE TRIGGER wait AFTER INSERT ON many_loaded FOR EACH STATEMENT EXECUTE FUNCTION wait()});
my $procedure = q{CALL csv_gpu_run('many')};

$victim = $sessions[0]->pid;
$sessions[0]->send($procedure);
$node->poll_query_until('postgres', "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = $victim")
  or die 'it does not sleep';
is(sql($states), "running|1\nsucceeded|19", 'the run is seen');
is(sql(q{SELECT running, records_loaded FROM csv_gpu_jobs WHERE job = 'many'}), 't|38000', 'in the view, too');
is(sql('SELECT count(*) FROM many_loaded'), 38000, 'files before are loaded');
sql("SELECT pg_terminate_backend($victim)");
eval { $sessions[0]->quit };
$node->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $victim)") or die 'it does not end';
$sessions[1]->send($procedure);
$node->poll_query_until('postgres', 'SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = $$PgSleep$$')
  or die 'the other does not go on';
is(sql($states), "died|1\nrunning|1\nsucceeded|19", 'the next run has found what died, and goes on');
sql(q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
$sessions[1]->await;
is(sql($states), "died|1\nfailed|1\nsucceeded|19", 'a cancel is on record');
is(sql(q{SELECT count(*) FROM csv_gpu_job_run WHERE error ~ 'canceling statement due to user request'}), 1, 'as such');
sql('DROP TRIGGER wait ON many_loaded');
$sessions[0] = new_session($node);
$_->send($procedure) for @sessions;
$_->await for @sessions;
is(sql('SELECT count(*), sum(id) FROM many_loaded'), '100000|100050000', 'each file once, also by several at a time');
is(sql($states), "died|1\nfailed|1\nsucceeded|50", 'and a row for each');
$_->quit for @sessions;
sql(q{SELECT csv_gpu_unschedule('many')});

# ---- a dump has jobs, runs and files, and goes on counting runs ----

my $dump = "$dir/dump.sql";
my $runs = sql('SELECT count(*) FROM csv_gpu_job_run');

# of roles with odd names; and of a role and of tables that are gone, whose
# numbers may be others' where the dump goes
my @odd = ('Odd "Role" \'1\' \\', '-', '1234', 'dropped');
for my $role (@odd)
{
	my $quoted = $role =~ s/"/""/gr;

	sql(qq{CREATE ROLE "$quoted"; SET ROLE "$quoted";
		INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES ('odd', '* * * * *', 'source', 'target', 'new_files');
		INSERT INTO csv_gpu_job_file (job, identity, filename, run) VALUES ('odd', 'x', 'x', 1);
		INSERT INTO csv_gpu_job_run (job, started, duration) VALUES ('odd', now(), '1s')});
}
sql(q{CREATE TABLE gone (id int);
	INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES ('no source', '* * * * *', 'gone', 'target', 'append'), ('no target', '* * * * *', 'source', 'gone', 'append');
	DROP TABLE gone; DROP ROLE dropped; CREATE ROLE dropped});
is(sql(q{SELECT count(*) FROM csv_gpu_job WHERE job IN ('odd', 'no source', 'no target')}), 6, 'jobs of what is gone are there');
is(sql(q{SET ROLE dropped; SELECT (SELECT count(*) FROM csv_gpu_job) + (SELECT count(*) FROM csv_gpu_job_run) + (SELECT count(*) FROM csv_gpu_job_file)}),
	0, q(and not a new role's of that name));

# who monitors the server sees all jobs and runs, and changes none
sql('CREATE ROLE monitor; GRANT pg_monitor TO monitor');
is(sql("SELECT count(*) FROM $_") - sql("SET ROLE monitor; SELECT count(*) FROM $_"), 0, "pg_monitor sees all rows of $_") for qw(csv_gpu_job csv_gpu_job_run);
is(sql(q{SET ROLE monitor; WITH u AS (UPDATE csv_gpu_job SET description = 'mine' RETURNING 1) SELECT count(*) FROM u}), 0, 'but changes none');

# ---- in another database than pg_cron's ----

my $super = sql('SELECT current_user');
my $odd = q{o'd"d \ %I};
my $name = q{it's \ %L};
my $other = $node->connstr . q{ dbname='o\'d"d \\\\ %I'};
$node->safe_psql('postgres', q{CREATE DATABASE "o'd""d \ %I"});
# SQL for that database
sub in_other
{
	my ($sql, $role) = @_;
	my ($out, $err);

	IPC::Run::run [ 'psql', '-XAtqd', $other, '-U', $role // $super, '-f', '-' ], '<', \$sql, '>', \$out, '2>', \$err;
	chomp($out, $err);
	return ($out, $err);
}
($out, $err) = in_other(qq{CREATE EXTENSION csv_gpu_fdw; CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw;
	CREATE FOREIGN TABLE source (id int, what text) SERVER csv OPTIONS (filename '$dir/a1.csv');
	CREATE TABLE target (id int, what text);
	GRANT SELECT ON source TO importer; GRANT INSERT ON target TO importer});
is($err, '', 'there is such a database');
my $jobs_before = sql('SELECT count(*) FROM cron.job');
sql(q{CREATE ROLE renamed; GRANT USAGE ON SCHEMA cron TO renamed; SET ROLE renamed; SELECT cron.schedule('x', '@hourly', 'SELECT 1'); RESET ROLE; ALTER ROLE renamed RENAME TO "Another"});
($rc, $out, $err) = $node->psql('postgres', q{SELECT csv_gpu_resume('new')}, @as_importer);
is($err, '', 'others do not see jobs of a role that was renamed');
sql(q{INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES ('super', '@yearly', 'source', 'other', 'append')});
($rc, $out, $err) = $node->psql('postgres', q{SELECT csv_gpu_resume('super')});
like($err, qr/WARNING:  pg_cron has jobs of roles that do not exist: renamed\nDETAIL:.*\nHINT:  Run: SELECT/, 'superusers are told');
sql($err =~ /HINT:  Run: (.*;)/);
($rc, $out, $err) = $node->psql('postgres', q{SELECT csv_gpu_resume('super'), csv_gpu_unschedule('super')});
is($err, '', 'until these are gone');
my $schedule = q{SELECT csv_gpu_schedule('it''s \ %L', '@hourly', 'source', 'target', description => 'elsewhere') IS NULL};
for my $role ($super, 'importer')
{
	my $where = $role eq $super ? 'database postgres' : 'the database that cron.database_name names';

	($out, $err) = in_other($schedule, $role);
	like($err, qr/WARNING:  job "\Q$name\E" is not scheduled yet, because pg_cron is in another database\nDETAIL:.*\nHINT:  In $where, a superuser must run: (SELECT cron\.schedule_in_database\(.*\);)$/,
		'the hint has what to do there');
	is($out, 't', 'there is no number');
	my ($call) = $err =~ /must run: (.*)/;
	cmp_ok(sql($call), '>', 0, 'which can be run as it is');
	is(sql(qq{SELECT jobname || '|' || schedule || '|' || database FROM cron.job WHERE username = '$role' AND database <> 'postgres'}),
		"csv_gpu_fdw: $name|\@hourly|$odd", 'and makes a job of that role');
	my $command = sql(qq{SELECT command FROM cron.job WHERE username = '$role' AND database <> 'postgres'});
	is(join('', in_other($command, $role)), '', 'that runs');
	($out, $err) = in_other(q{SELECT csv_gpu_unschedule('it''s \ %L')}, $role);
	like($err, qr/NOTICE:  pg_cron is in another database, and may still run job "\Q$name\E"\nHINT:  In $where, run: /, 'its end is to be told there, too');
	my ($end) = $err =~ /, run: (.*)/;
	sql($end);
	is(sql('SELECT count(*) FROM cron.job'), $jobs_before, 'which ends it');
}
is((in_other('SELECT count(*) FROM target'))[0], 2000, 'rows were loaded');

# pg_cron is to be in one database only
sql('DROP EXTENSION pg_cron');
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'dumped');
sql('CREATE DATABASE copy');
$node->command_ok([ 'psql', '-Xqv', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('copy') ], 'restored');
is($node->safe_psql('copy', q{SELECT job, source, target, mode FROM csv_gpu_job WHERE job <> 'odd'}), 'new|source|target|new_files', 'jobs');
is($node->safe_psql('copy', q{SELECT count(*) FROM csv_gpu_job_run WHERE job <> 'odd'}), $runs, 'runs');
is($node->safe_psql('copy', q{SELECT count(*) FROM csv_gpu_job_file WHERE job <> 'odd'}), 2, 'files');
is( $node->safe_psql('copy', "SELECT string_agg(r.rolname, ' ' ORDER BY r.rolname) FROM $_ t LEFT JOIN pg_roles r ON r.oid = t.owner WHERE job = 'odd'"),
	(join ' ', sort @odd[0 .. 2]), "$_: with their roles") for qw(csv_gpu_job csv_gpu_job_run csv_gpu_job_file);
is( $node->safe_psql('copy', q{SET SESSION AUTHORIZATION importer; SELECT count(*) FROM csv_gpu_run_job('new')}),
	0, 'which are known there');
utime(time - 30, time - 30, "$dir/a2.csv") or die;
is( $node->safe_psql('copy', qq{SET SESSION AUTHORIZATION importer; SELECT run > $runs, filename = '$dir/a2.csv', error FROM csv_gpu_run_job('new')}),
	't|t|', 'and runs are counted on');
is( $node->psql('copy', q{SET SESSION AUTHORIZATION importer; SELECT csv_gpu_unschedule('new')}), 0,
	'a job ends without pg_cron, too');

finish();
