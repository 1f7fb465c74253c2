# Who may do what, and names that try to be more than names.
use lib 'test/t';
use CsvServer;

my $node = csv_server('privileges');
my $super = new_session($node);
my $directory = PostgreSQL::Test::Utils::tempdir;

write_file("$directory/data.csv", "1,a\n2,b\nx,c\n");
$super->value("
	CREATE ROLE nobody_special LOGIN;
	CREATE ROLE file_reader LOGIN IN ROLE pg_read_server_files;
	CREATE ROLE runner LOGIN IN ROLE pg_execute_server_program;
	GRANT CREATE, USAGE ON SCHEMA public TO PUBLIC;
	GRANT USAGE ON FOREIGN SERVER csv TO PUBLIC;
	CREATE FOREIGN TABLE data (n int, t text) SERVER csv OPTIONS (filename '$directory/data.csv');
	CREATE FOREIGN TABLE program (n int) SERVER csv OPTIONS (program 'seq 3');
	CREATE FOREIGN TABLE owned (n int, t text) SERVER csv OPTIONS (filename '$directory/data.csv');
	CREATE FOREIGN TABLE owned_program (n int) SERVER csv OPTIONS (program 'seq 3');
	ALTER FOREIGN TABLE owned OWNER TO nobody_special;
	ALTER FOREIGN TABLE owned_program OWNER TO nobody_special;");

my $denied = sub {
	return qr/^ERROR:  permission denied to set the "$_[0]" option of a csv_gpu_fdw foreign table\nDETAIL:  Only roles with privileges of the "$_[1]" role may set this option/m;
};
my $file_denied = $denied->('filename', 'pg_read_server_files');
my $write_denied = $denied->('writable', 'pg_write_server_files');
my $program_denied = $denied->('program', 'pg_execute_server_program');

# ---- what is read ----

my $session = new_session($node, user => 'nobody_special');
my ($out, $err);

for (
	[ "CREATE FOREIGN TABLE mine (n int) SERVER csv OPTIONS (filename '/etc/passwd')", $file_denied ],
	[ "CREATE FOREIGN TABLE mine (n int) SERVER csv OPTIONS (program 'id')", $program_denied ],
	[ "ALTER FOREIGN TABLE owned OPTIONS (SET filename '/etc/passwd')", $file_denied ],
	[ "ALTER FOREIGN TABLE owned OPTIONS (DROP filename, ADD program 'id')", $program_denied ],
	[ "ALTER FOREIGN TABLE owned_program OPTIONS (SET program 'id')", $program_denied ],
	[ "ALTER FOREIGN TABLE owned_program OPTIONS (DROP program, ADD filename '/etc/passwd')", $file_denied ],
	# as in file_fdw, any change of a table's options needs the privilege
	[ "ALTER FOREIGN TABLE owned OPTIONS (ADD header 'true')", $file_denied ],
	[ "IMPORT FOREIGN SCHEMA x FROM SERVER csv INTO public", qr/^ERROR:  permission denied for IMPORT FOREIGN SCHEMA from a directory/ ],
	[ "SELECT * FROM csv_gpu_sniff('/etc/passwd')", qr/^ERROR:  permission denied for function csv_gpu_sniff/ ],
	[ "CREATE FOREIGN TABLE mine (n int) SERVER csv OPTIONS (writable 'true', filename '/tmp/x')", $write_denied ],
	[ "ALTER FOREIGN TABLE owned OPTIONS (ADD writable 'true')", qr/^ERROR:  permission denied to set the "(?:filename|writable)" option/ ],
	[ "SELECT * FROM csv_gpu_leftovers('/tmp')", qr/^ERROR:  permission denied for function csv_gpu_leftovers/ ],
	[ "SELECT csv_gpu_take_over('pg_class')", qr/^ERROR:  permission denied for function csv_gpu_take_over/ ],
	[ "SELECT * FROM csv_gpu_files('data')", qr/^ERROR:  permission denied for foreign table data/ ],
	[ "ALTER FOREIGN TABLE data OPTIONS (SET filename '/etc/passwd')", qr/^ERROR:  must be owner of foreign table data/ ],
	[ 'SELECT * FROM data', qr/^ERROR:  permission denied for foreign table data/ ],
	[ "SELECT * FROM csv_gpu_errors('data')", qr/^ERROR:  permission denied for foreign table data/ ])
{
	my ($sql, $error) = @$_;

	($out, $err) = $session->query($sql);
	like($err, $error, "may not: $sql");
}

# the HINT of each can be followed
my $here = PostgreSQL::Test::Utils::tempdir;
chmod 0777, $here;
for my $sql ("CREATE FOREIGN TABLE hinted (n int) SERVER csv OPTIONS (filename '$directory/data.csv')",
	"CREATE FOREIGN TABLE hinted_program (n int) SERVER csv OPTIONS (program 'id')",
	"SELECT * FROM csv_gpu_sniff('$directory/data.csv')",
	"IMPORT FOREIGN SCHEMA \"$here\" FROM SERVER csv INTO public",
	"SELECT * FROM csv_gpu_leftovers('$here')",
	"SELECT * FROM csv_gpu_unload('SELECT 1', '$here/x.csv')",
	"ALTER FOREIGN TABLE hinted OPTIONS (ADD writable 'true')")
{
	my $hinted = new_session($node, user => 'nobody_special');

	$super->value('GRANT pg_read_server_files TO nobody_special') if $sql =~ /writable/;
	my $grant = (($hinted->query($sql))[1] =~ /^HINT:  A superuser can run: (GRANT \w+ TO nobody_special;)$/m)[0];
	$super->value($grant // '');
	is(($hinted->query($sql))[1] =~ s/^NOTICE.*(?:\n(?:HINT|DETAIL).*)*\n?//gmr, '', "after its HINT: $sql");
	$super->value('REVOKE pg_read_server_files, pg_execute_server_program, pg_write_server_files FROM nobody_special');
	$hinted->quit;
}

# a directory that is not there, and files that only others may read
my %paths = (
	'SELECT * FROM hinted' => 'hinted',
	"SELECT * FROM csv_gpu_sniff('PATH/x.csv')" => '',
	"SELECT * FROM csv_gpu_sniff('PATH/*.csv')" => '',
	"SELECT * FROM csv_gpu_leftovers('PATH')" => '',
	'IMPORT FOREIGN SCHEMA "PATH" FROM SERVER csv INTO public' => '',
	"SELECT * FROM csv_gpu_unload('SELECT 1', 'PATH/x.csv')" => 'w',
	"SELECT * FROM csv_gpu_unload('SELECT 1 AS a, 2 AS b', 'PATH/x', partition_by => '{a}')" => 'w',
	'INSERT INTO hinted VALUES (1)' => 'hinted w');
for my $sql (sort keys %paths)
{
	my $call = $sql =~ s/PATH/$here\/none/r;

	$super->value("ALTER FOREIGN TABLE hinted OPTIONS (SET filename '$here/none/x.csv', SET writable '" . ($paths{$sql} =~ /w/ ? 'true' : 'false') . "')") if $paths{$sql} =~ /hinted/;
	like(($super->query($call))[1], qr/^ERROR:  .*\nHINT:  The server's machine has the directory "$here", but not "none" in it\.$/m, "no directory: $sql");
	next if $> == 0;
	my $user = getpwuid $>;

	mkdir "$here/none";
	write_file("$here/none/x.csv", "1\n");
	chmod 0, $paths{$sql} =~ /w/ ? "$here/none/x.csv" : (), "$here/none";
	like(($super->query($call =~ s{/\*\.}{/x.}r))[1], qr/^ERROR:  .*: Permission denied\nHINT:  The server runs as operating system user "$user", who must be allowed to (?:read|write) it/m, "not allowed: $sql");
	chmod 0700, "$here/none";
	system('rm', '-rf', "$here/none");
}

# columns and servers name no file
($out, $err) = $session->query("ALTER FOREIGN TABLE owned ALTER n OPTIONS (filename '/etc/passwd')");
like($err, qr/^ERROR:  invalid option "filename"/, 'a column has no file');
$super->value('CREATE SERVER own FOREIGN DATA WRAPPER csv_gpu_fdw; ALTER SERVER own OWNER TO nobody_special');
for my $option (qw(filename program))
{
	($out, $err) = $session->query("ALTER SERVER own OPTIONS (ADD $option '/etc/passwd')");
	like($err, qr/^ERROR:  invalid option "$option"/, "nor has a server a $option");
	($out, $err) = $session->query("CREATE USER MAPPING FOR nobody_special SERVER own OPTIONS ($option '/etc/passwd')");
	like($err, qr/^ERROR:  invalid option "$option"/, 'or a user mapping');
}
# the wrapper's functions give no way around
($out, $err) = $session->query("SELECT csv_gpu_fdw_validator(ARRAY['filename=/etc/passwd'], 'pg_foreign_table'::regclass)");
like($err, $file_denied, 'the validator asks, too');

$super->value('GRANT SELECT ON data, program TO nobody_special');
is(($session->query('SELECT t FROM data WHERE n = 2'))[0], 'b', 'with SELECT, it may read a file');
is($session->value('SELECT sum(n) FROM program'), 6, 'and the output of a program');
is($session->value("SELECT record, raw FROM csv_gpu_errors('data')"), '3|x,c', 'and the error table');

$super->value('REVOKE ALL ON data FROM nobody_special; GRANT SELECT (n) ON data TO nobody_special');
is(($session->query('SELECT sum(n) FROM data'))[0], 3, 'with SELECT on a column, it may read that one');
($out, $err) = $session->query('SELECT t FROM data');
like($err, qr/^ERROR:  permission denied/, 'and no other');
($out, $err) = $session->query("SELECT raw FROM csv_gpu_errors('data')");
like($err, qr/^ERROR:  permission denied/, 'nor the error table');
($out, $err) = $session->query('INSERT INTO data VALUES (1)');
like($err, qr/^ERROR:  permission denied/, 'nor write');
$session->quit;

# a view reads with the rights of its owner
$super->value('CREATE VIEW view AS SELECT t FROM data; GRANT SELECT ON view TO nobody_special');
$session = new_session($node, user => 'nobody_special');
is(($session->query('SELECT t FROM view'))[0], "a\nb\nc", 'a view');
$session->quit;

# before 17, what a parallel query's leader cannot skip is the input function's ERROR
write_file("$directory/told.csv", "1\nsecret\n");
$super->value("
	CREATE FUNCTION says(text) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE AS \$\$
	BEGIN
		IF \$1 LIKE 'secret%' THEN
			RAISE invalid_parameter_value USING MESSAGE = \$1, DETAIL = \$1, HINT = \$1;
		END IF;
		RETURN true;
	END \$\$;
	CREATE DOMAIN told_text AS text CHECK (says(VALUE));
	CREATE FOREIGN TABLE told (t told_text) SERVER csv OPTIONS (filename '$directory/told.csv');
	CREATE VIEW told_view AS SELECT * FROM told;
	GRANT SELECT ON told_view TO nobody_special;
	CREATE TABLE many AS SELECT 1 AS a;
	GRANT SELECT ON many TO nobody_special;
	ALTER TABLE many SET (parallel_workers = 1);
	CREATE FUNCTION told() RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS
		'BEGIN RETURN (SELECT count(t) FROM told_view); END';");
my $parallel = 'SET max_parallel_workers = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0;';

($out, $err) = $super->query("$parallel SELECT told() FROM many WHERE told() >= 0;
	RESET max_parallel_workers; RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;");
like($err, qr/secret/, 'a value in the message of a query with parallel workers');
$session = new_session($node, user => 'nobody_special');
like($session->value("$parallel EXPLAIN SELECT told() FROM many WHERE told() >= 0"), qr/Parallel Seq Scan/, 'of which there might be some');
($out, $err) = $session->query('SELECT told() FROM many WHERE told() >= 0');
like($err, qr/column "t": invalid value for type told_text/, 'and for who may not read it, without');
unlike($err, qr/secret/, 'anywhere');
$session->quit;

# ---- roles that may ----

$session = new_session($node, user => 'file_reader');
is(($session->query("
	CREATE FOREIGN TABLE of_reader (n int, t text) SERVER csv OPTIONS (filename '$directory/data.csv');
	SELECT n FROM of_reader"))[0], "1\n2", 'a member of pg_read_server_files may name a file');

# writing needs more: also for a table whose owner may only read, however it is changed
like(($session->query("CREATE FOREIGN TABLE written (n int) SERVER csv OPTIONS (filename '$directory/written.csv', writable 'true')"))[1],
	$write_denied, 'a reader may not make a table writable');
like(($session->query("ALTER FOREIGN TABLE of_reader OPTIONS (ADD writable 'true')"))[1], $write_denied, 'nor later');
$super->value("CREATE FOREIGN TABLE given (n int) SERVER csv OPTIONS (filename '$directory/given.csv', writable 'true'); ALTER FOREIGN TABLE given OWNER TO file_reader;
	GRANT INSERT ON given TO nobody_special");
like(($session->query("ALTER FOREIGN TABLE given OPTIONS (SET filename '$directory/other.csv')"))[1], $write_denied, 'nor name another file of a writable table');
is(($session->query("ALTER FOREIGN TABLE given OPTIONS (DROP writable); ALTER FOREIGN TABLE given OPTIONS (SET filename '$directory/other.csv')"))[1], '', 'but may let it be read only');
$super->value("ALTER FOREIGN TABLE given OPTIONS (SET filename '$directory/given.csv', ADD writable 'true')");
{
	my $inserter = new_session($node, user => 'nobody_special');

	is(($inserter->query('INSERT INTO given VALUES (1)'))[1], '', 'the privilege INSERT suffices for rows');
	like(($inserter->query('TRUNCATE given'))[1], qr/^ERROR:  permission denied/, 'and not for TRUNCATE');
	$inserter->quit;
}
is($session->value('INSERT INTO given VALUES (2) RETURNING n; SELECT count(*) FROM given'), "2\n2", 'nor does the owner need another one');
($out, $err) = $session->query("ALTER FOREIGN TABLE of_reader OPTIONS (DROP filename, ADD program 'id')");
like($err, $program_denied, 'but no program');
$session->quit;

$session = new_session($node, user => 'runner');
is($session->value("
	CREATE FOREIGN TABLE of_runner (n int) SERVER csv OPTIONS (program 'seq 2');
	SELECT n FROM of_runner"), "1\n2", 'a member of pg_execute_server_program may name a program');
($out, $err) = $session->query("ALTER FOREIGN TABLE of_runner OPTIONS (DROP program, ADD filename '/etc/passwd')");
like($err, $file_denied, 'but no file');
$session->quit;

# a trusted extension it is not
$super->value('CREATE DATABASE own OWNER nobody_special');
my ($rc, $stdout, $stderr) = $node->psql('own', 'CREATE EXTENSION csv_gpu_fdw', extra_params => [ '-U', 'nobody_special' ]);
like($stderr, qr/permission denied to create extension/, 'only a superuser installs the extension');

# ---- names ----

my @names = (
	"it's.csv", 'a"b.csv', 'a%s%n%d.csv', "line\nbreak.csv", 'a;b.csv', '$(touch pwned).csv', '`touch pwned`.csv',
	'back\\slash.csv', ' blanks .csv', '-rf.csv', "tab\t.csv", "\xc3\xa9\xe8\xa1\xa8.csv", 'x' x 200 . '.csv', '{a,b}.csv', '~.csv');

for my $name (@names)
{
	my $path = "$directory/$name";
	(my $shown = $name) =~ s/\n/\\n/g;

	write_file($path, "1,a\nx,b\n");
	($out, $err) = $super->query("
		CREATE FOREIGN TABLE named (n int, f text OPTIONS (virtual 'filename'), t text)
			SERVER csv OPTIONS (filename " . literal($path) . ");
		SELECT f, n FROM named;
		SELECT filename, record FROM csv_gpu_errors('named');");
	is($out, "$path|1\n$path|2", "a file by the name of $shown");
	is($err, "NOTICE:  skipped record 2 of \"$path\": column \"n\": invalid input syntax for type integer: \"x\"\nDETAIL:  Line 2, byte offset 4.\n",
		'in a NOTICE');
	($out, $err) = $super->query('EXPLAIN (COSTS OFF) SELECT n FROM named');
	like($out, qr/^  CSV File: \Q$path\E$/m, 'and in EXPLAIN');
	($out, $err) = $super->query('EXPLAIN (COSTS OFF, FORMAT JSON) SELECT n FROM named');
	like($super->value('SELECT ' . literal($out) . "::json #>> '{0,Plan,CSV File}'"), qr/^\Q$path\E$/, 'JSON, too');
	unlink $path;
	($out, $err) = $super->query('SELECT * FROM named');
	like($err, qr/^ERROR:  could not open file "\Q$path\E" for reading: No such file/, 'and in an ERROR');
	$super->value('DROP FOREIGN TABLE named');
}

# in a pattern's directory, too
mkdir "$directory/some 'dir\"";
write_file("$directory/some 'dir\"/$_", "1\n") for 'a\'1.csv', 'a"2.csv', "a\n3.csv";
($out, $err) = $super->query("
	CREATE FOREIGN TABLE named (n int, f text OPTIONS (virtual 'filename'))
		SERVER csv OPTIONS (filename " . literal("$directory/some 'dir\"/a*.csv") . ");
	SELECT count(*), count(DISTINCT f) FROM named;
	DROP FOREIGN TABLE named;");
is("$out$err", '3|3', 'names that match a pattern');

for my $program (
	q{echo '1;2' # it's "quoted"}, "printf '%s\\n' 1\necho x\n", q{echo "$HOME" | grep -c / ; exit 0}, 'echo 1 %s %n 2>&1 | cut -c1',
	"seq 1 # \xc3\xa9\xe8\xa1\xa8")
{
	($out, $err) = $super->query('
		CREATE FOREIGN TABLE named (n int) SERVER csv OPTIONS (program ' . literal($program) . ');
		SELECT n FROM named;
		SELECT filename FROM csv_gpu_errors(\'named\') LIMIT 1;
		EXPLAIN (COSTS OFF) SELECT n FROM named;');
	unlike($err, qr/^ERROR/m, "a program: $program");
	like($out, qr/^  CSV Program: \Q$program\E/m, 'shown as it is');
	like($err, qr/^NOTICE:  skipped record \d+ of "\Q$program\E": /m, 'in a NOTICE, too') if $err ne '';
	$super->value('DROP FOREIGN TABLE named');
}

# names of columns and tables
($out, $err) = $super->query("
	CREATE FOREIGN TABLE \"it's \"\"it\"\"\" (\"n%s\"\"'\" int, t text) SERVER csv
		OPTIONS (filename '$directory/data.csv', notice_limit '0');
	SELECT count(\"n%s\"\"'\") FROM \"it's \"\"it\"\"\";");
is($out, 2, 'a table whose name has quotes');
like($err, qr/^HINT:  See csv_gpu_errors\('"it''s ""it"""'\)\.$/m, 'in the hint as it must be written');
($out, $err) = $super->query(q{SELECT column_name, message FROM csv_gpu_errors('"it''s ""it"""')});
is($out, q{n%s"'|column "n%s"'": invalid input syntax for type integer: "x"}, 'which works');

is(scalar(grep { -e } "$directory/pwned", 'pwned', $node->data_dir . '/pwned'), 0, 'no name was run');
finish($super);
