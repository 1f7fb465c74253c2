# 064_versions.pl: a database of version 0.1, made by the script in test/data, is updated, and
# its dump is restored, and both are what the script of this version makes.
use lib 'test/t';
use CsvServer;

my $node = csv_server('versions', QUICK_FILES);
my $dir = PostgreSQL::Test::Utils::tempdir;
my $sharedir = `pg_config --sharedir`;

chomp $sharedir;
my ($version) = slurp_file("$sharedir/extension/csv_gpu_fdw.control") =~ /^default_version = '(.*)'/m;

# rows of a query, in one database
sub sql_in
{
	return $node->safe_psql(@_);
}

# members of the extension by their kind, as DDL names them; no function has a name twice
sub members
{
	my ($database) = @_;

	return split /\n/, sql_in($database, q{
		SELECT kind || ' ' || name FROM (
			SELECT 'ROUTINE', p.proname, p.oid FROM pg_proc p
			UNION ALL SELECT CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, c.relname, c.oid
				FROM pg_class c WHERE c.relkind IN ('r', 'v')
			UNION ALL SELECT 'FOREIGN DATA WRAPPER', fdwname, oid FROM pg_foreign_data_wrapper
			UNION ALL SELECT 'EVENT TRIGGER', evtname, oid FROM pg_event_trigger) m(kind, name, oid)
			JOIN pg_depend d ON d.objid = m.oid AND d.deptype = 'e'
			JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'csv_gpu_fdw'
			ORDER BY 1});
}

# definitions, owners, comments, grants, and which rows are dumped; without numbers, and in
# an order that does not depend on them
sub definitions
{
	my ($database) = @_;
	my $file = "$dir/definitions.sql";

	command_ok([ 'pg_dump', '--schema-only', '--binary-upgrade', '-f', $file, '-d', $node->connstr($database) ], "definitions of $database");

	my $dump = slurp_file($file);

	$dump =~ s/^SELECT pg_catalog\.binary_upgrade_set_next_.*\n//mg;
	# a column that was added has its default as a missing value
	$dump =~ s/^\n-- set missing value.*\nSELECT pg_catalog\.binary_upgrade_set_missing_value.*\n\n//mg;
	$dump =~ s/^SET relfrozenxid = .*\nWHERE oid = .*\n//mg;
	$dump =~ s/'\{[0-9,]+\}'/sql_in($database, 'SELECT extconfig::regclass[] FROM pg_extension WHERE extconfig IS NOT NULL')/e;
	$dump =~ s/^\\(un)?restrict .*\n//mg;
	# who gave rights to columns that are newer than their table's owner
	$dump =~ s/^(RE)?SET SESSION AUTHORIZATION.*\n//mg;
	return join "\n--\n", sort split /\n--\n(?=-- Name: )/, $dump;
}

# the rows that a dump has of the extension's tables, in the columns of 0.1
my %columns;

sub rows
{
	my ($database) = @_;

	return join '', map { "$_\n" . sql_in($database, "SELECT $columns{$_} FROM $_ ORDER BY 1, 2, 3") . "\n" } sort keys %columns;
}

# functions that have other arguments in this version
my @remade = qw(csv_gpu_load csv_gpu_load_file csv_gpu_run_load csv_gpu_schedule csv_gpu_sniff);

# ---- objects of users in a database of each version ----

sub write_files
{
	my ($records, @days) = @_;

	write_file("$dir/day$_.csv", map { "$_\n" } 1 .. 10) foreach @days;
	write_file("$dir/log", map { "$_\n" } 1 .. $records);
	settle();
	return;
}

my $objects = "
	CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw;
	CREATE FOREIGN TABLE log (a int) SERVER csv OPTIONS (filename '$dir/log');
	CREATE FOREIGN TABLE day (a int, file text OPTIONS (virtual 'filename')) SERVER csv OPTIONS (filename '$dir/day*.csv');
	CREATE TABLE of_log (a int);
	CREATE TABLE of_day (a int, file text);
	CREATE VIEW stat AS SELECT device, fallbacks FROM csv_gpu_stat;
	CREATE VIEW positions AS SELECT p.filename, p.state, r.error FROM csv_gpu_positions p, csv_gpu_job_run r;
	CREATE MATERIALIZED VIEW jobs AS SELECT job, owner FROM csv_gpu_job;
	GRANT USAGE ON FOREIGN DATA WRAPPER csv_gpu_fdw TO analyst WITH GRANT OPTION";

write_files(3, 1, 2);
sql_in('postgres', 'CREATE ROLE analyst; CREATE ROLE keeper SUPERUSER');
foreach my $database ('old', 'new')
{
	sql_in('postgres', "CREATE DATABASE $database");
	sql_in($database, 'CREATE EXTENSION csv_gpu_fdw' . ($database eq 'old' ? " VERSION '0.1'" : ''));
	sql_in($database, $objects);
}
is(sql_in('old', "SELECT extversion FROM pg_extension WHERE extname = 'csv_gpu_fdw'"), '0.1', 'the script of 0.1');
is(sql_in('new', "SELECT extversion FROM pg_extension WHERE extname = 'csv_gpu_fdw'"), $version, 'and the script of this version');

# every member of 0.1 gets another owner, another comment and other grants
my @members = members('old');

cmp_ok(scalar @members, '>', 40, 'members');
foreach my $member (@members)
{
	my $owner = "ALTER $member OWNER TO keeper;";
	my $grants = $member =~ /^ROUTINE/ ? "REVOKE ALL ON $member FROM PUBLIC; GRANT ALL ON $member TO analyst;" :
	  $member =~ /^(TABLE|VIEW) (.*)/ ? "REVOKE ALL ON $2 FROM PUBLIC; GRANT SELECT, DELETE ON $2 TO analyst;" : '';

	sql_in($_, "$owner $grants COMMENT ON $member IS 'ours'") foreach 'old', 'new';
}

# Positions and runs of jobs: this version's library need not work with the script of 0.1,
# so rows are copied.
sql_in('new', "SELECT csv_gpu_load('log', 'of_log', mode => 'new_records');
	INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES
		('records', '* * * * *', 'log', 'of_log', 'new_records'), ('files', '* * * * *', 'day', 'of_day', 'new_files');
	SELECT csv_gpu_run_job('files')");
foreach my $table (split /\n/, sql_in('old', q{SELECT c.oid::regclass FROM pg_extension e, unnest(e.extconfig) t, pg_class c
	WHERE e.extname = 'csv_gpu_fdw' AND c.oid = t AND c.relkind = 'r'}))
{
	my $columns = sql_in('old', "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = '$table'::regclass AND attnum > 0 AND NOT attisdropped");

	sql_in('new', "COPY (SELECT $columns FROM $table) TO '$dir/rows'");
	sql_in('old', "COPY $table ($columns) FROM '$dir/rows'");
	$columns{$table} = $columns;
}
sql_in('new', "COPY $_ TO '$dir/rows'"), sql_in('old', "COPY $_ FROM '$dir/rows'") foreach 'of_log', 'of_day';
sql_in('old', "SELECT setval('csv_gpu_job_run_run_seq', 2)");
is(join(' ', sort keys %columns), 'csv_gpu_job csv_gpu_job_file csv_gpu_job_run csv_gpu_position', 'tables of which dumps have rows');

my $rows = rows('old');

unlike($rows, qr/^csv.*\n\n/m, 'each has rows');

# ---- the update ----

my $dump = "$dir/old.sql";

command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('old') ], 'a dump of 0.1');
sql_in('postgres', 'CREATE DATABASE restored');
sql_in('postgres', 'CREATE DATABASE used TEMPLATE old');
sql_in('old', 'ALTER EXTENSION csv_gpu_fdw UPDATE');
# PUBLIC got rights to new columns
sql_in('old', 'REVOKE ALL ON csv_gpu_job, csv_gpu_job_run, csv_gpu_job_deletion FROM PUBLIC');
is(definitions('old'), definitions('new'), 'an update makes what the script makes');
is(rows('old'), $rows, 'rows stay');

# except the rights of functions that have other arguments now
my $errors = (run_command([ 'psql', '-Xq', '-f', $dump, '-d', $node->connstr('restored') ]))[1];
my $remade = join '|', @remade;

is(join("\n", grep { /ERROR/ && !/function public\.(?:$remade)\(.* does not exist/ } split /\n/, $errors), '', 'the dump is restored');
is(sql_in('restored', "SELECT extversion FROM pg_extension WHERE extname = 'csv_gpu_fdw'"), $version, 'into this version');
is(rows('restored'), $rows, 'with its rows');
is(sql_in('restored', "SELECT has_function_privilege('public', 'csv_gpu_forget()', 'EXECUTE'), has_function_privilege('analyst', 'csv_gpu_forget()', 'EXECUTE')"),
	'f|t', 'and grants');

# positions and jobs go on
write_files(5, 3);
foreach my $database ('old', 'restored')
{
	is(sql_in($database, "SELECT records_loaded, error FROM csv_gpu_run_job('records')"), '2|', "$database: a job loads new records only");
	is(sql_in($database, "SELECT records_loaded FROM csv_gpu_load('log', 'of_log', mode => 'new_records')"), 0, 'as csv_gpu_load() does');
	is(sql_in($database, "SELECT filename, records_loaded, error FROM csv_gpu_run_job('files')"), "$dir/day3.csv|10|", 'and new files only');
	is(sql_in($database, 'SELECT run FROM csv_gpu_job_run ORDER BY run'), "1\n2\n3\n4", 'runs are numbered on');
	is(sql_in($database, 'SELECT (SELECT string_agg(a::text, $$ $$ ORDER BY a) FROM of_log), count(*), count(DISTINCT file) FROM of_day'),
		'1 2 3 4 5|30|3', 'nothing is lost, and nothing is there twice');
	is(sql_in($database, 'DROP TABLE of_log; SELECT count(*) FROM csv_gpu_position'), 0, 'a dropped table has no positions');
}

# ---- an update that cannot be ----

# Objects of users that depend on each function, table and view.  The ERROR of the update names
# those that depend on a function that has other arguments in this version.
sql_in('used', 'CREATE VIEW uses_' . ($_ =~ s/.* //r) . ' AS SELECT u FROM ' . ($_ =~ s/.* //r) . ' u')
  foreach grep { /^(TABLE|VIEW)/ } @members;
my $views = sql_in('used', q{SELECT format('CREATE VIEW uses_function_%s AS SELECT count(*) FROM %s(%s)', p.proname, p.proname,
		(SELECT string_agg('NULL::' || t::regtype, ', ') FROM unnest(p.proargtypes) t))
	FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
	WHERE p.proname LIKE 'csv_gpu%' AND p.prorettype NOT IN ('fdw_handler'::regtype, 'trigger'::regtype, 'event_trigger'::regtype)});

sql_in('used', $views =~ s/$/;/mgr);

my $users = q{SELECT count(*) FROM pg_views WHERE viewname LIKE 'uses%'};
my $count = sql_in('used', $users);

cmp_ok($count, '>', 35, 'views of users');
foreach my $remade (@remade)
{
	like(($node->psql('used', 'ALTER EXTENSION csv_gpu_fdw UPDATE'))[2],
		qr/ERROR:  cannot (drop function public.$remade\(.*\nDETAIL:  view public.uses_function_$remade depends on|alter table.* on view uses_function_$remade uses its row type)/, "a view of $remade");
	sql_in('used', "DROP VIEW uses_function_$remade");
	$count--;
}
is_deeply([ $node->psql('used', 'ALTER EXTENSION csv_gpu_fdw UPDATE') ], [ 0, '', '' ], 'no other view is in the way');
is(sql_in('used', $users), $count, 'and none is gone');

# scripts that also said 0.1, before it was complete
sql_in('postgres', 'CREATE DATABASE elsewhere');
sql_in('elsewhere', "CREATE SCHEMA csv; CREATE EXTENSION csv_gpu_fdw SCHEMA csv VERSION '0.1'");
foreach my $change ('ALTER TABLE csv.csv_gpu_position DROP COLUMN lacks_break', 'ALTER EXTENSION csv_gpu_fdw DROP FUNCTION csv.csv_gpu_take_over')
{
	my (undef, undef, $err) = $node->psql('elsewhere', "BEGIN; $change; ALTER EXTENSION csv_gpu_fdw UPDATE");

	like($err, qr/ERROR:  the objects of csv_gpu_fdw in this database are older than version 0\.1\n.*\n.*Drop the extension, and create it again/, $change);
}

# Operators of a user who may create in the extension's schema, which fit operands better than
# PostgreSQL's: the script, which a superuser runs, calls none of them.
my @types = qw(oid regclass name text);

sql_in('elsewhere', 'GRANT ALL ON SCHEMA csv TO analyst; SET ROLE analyst; ' . join '', map {
		my ($operator, $result) = @$_;

		map {
			my $left = $_;

			map { "CREATE FUNCTION csv.planted_$result($left, $_) RETURNS $result LANGUAGE plpgsql AS
					'BEGIN RAISE EXCEPTION ''planted''; END';
				CREATE OPERATOR csv.$operator (FUNCTION = csv.planted_$result, LEFTARG = $left, RIGHTARG = $_);" } @types
		} @types
	} [ '=', 'boolean' ], [ '||', 'text' ]);
like(($node->psql('elsewhere', q{SET search_path = csv; SELECT tableoid = 'pg_class'::regclass FROM pg_class LIMIT 1}))[2], qr/planted/, 'an operator is planted');
is_deeply([ $node->psql('elsewhere', 'ALTER EXTENSION csv_gpu_fdw UPDATE') ], [ 0, '', '' ], 'the last of them, in a schema of its own');

finish();
