# Rights by prefix: the options "allowed" and "allowed_write" of a server.
use lib 'test/t';
use CsvServer;

my $node = csv_server('rights', max_parallel_workers_per_gather => 2);
my $super = new_session($node);
my $top = new_folder();
my ($in, $out, $secret) = map { "$top/$_" } qw(in out secret);
my $outside = qr/^ERROR:  "[^"]*" is not below a prefix that server "\w+" allows$/m;
my $denied = qr/^ERROR:  permission denied to set the "filename" option/m;

mkdir $_ for $in, "$in/sub", $out, $secret, "${in}2";
write_file("$in/a.csv", "id,t\n1,x\n2,y\n");
write_file("$in/sub/b.csv", "id,t\n3,z\n");
write_file("$_/s.csv", "id,t\n7,secret\n") for $secret, "${in}2";
symlink "$secret/s.csv", "$secret/../in/sub/file.csv";
symlink $secret, "$in/linked";
symlink "$in/sub", "$in/inner";
symlink "$secret/none", "$in/dangling.csv";
symlink $in, "$top/by_link";
symlink "$secret/new.csv", "$out/link.csv";
symlink $secret, "$out/dir";
chmod 0777, $out;

$super->value("
	CREATE ROLE clerk LOGIN;
	CREATE ROLE other LOGIN;
	CREATE ROLE reader LOGIN IN ROLE pg_read_server_files;
	GRANT CREATE, USAGE ON SCHEMA public TO PUBLIC;
	GRANT USAGE ON FOREIGN DATA WRAPPER csv_gpu_fdw TO clerk, reader;
	CREATE SERVER inbox FOREIGN DATA WRAPPER csv_gpu_fdw OPTIONS (allowed '{$in,$out,s3://b/in,https://Host:443/a%20b/}', allowed_write '{$out}');
	CREATE SERVER linked FOREIGN DATA WRAPPER csv_gpu_fdw OPTIONS (allowed '{$top/by_link}');
	CREATE SERVER plain FOREIGN DATA WRAPPER csv_gpu_fdw;
	GRANT USAGE ON FOREIGN SERVER inbox, linked, plain, csv TO clerk;
	GRANT USAGE ON FOREIGN SERVER linked TO other");

my $clerk = new_session($node, user => 'clerk');
my $n = 0;

# declare a table of a file; returns its name and messages
sub declare
{
	my ($session, $file, %more) = @_;
	my $name = 't' . ++$n;
	my $options = join ', ', "filename '$file'", @{ $more{options} // ["header 'true'"] };

	return ($name, ($session->query("CREATE FOREIGN TABLE $name (id int, t text) SERVER " . ($more{server} // 'inbox') . " OPTIONS ($options)"))[1]);
}

sub refused
{
	my ($session, $sql, $error, $name) = @_;

	like(($session->query($sql))[1], $error, $name // $sql =~ s/\Q$top\E//gr);
	return;
}

# ---- who may set what ----

$super->value('CREATE SERVER own FOREIGN DATA WRAPPER csv_gpu_fdw; ALTER SERVER own OWNER TO clerk');
for ([ allowed => 'pg_read_server_files' ], [ allowed_write => 'pg_write_server_files' ])
{
	my ($option, $role) = @$_;

	refused($clerk, "ALTER SERVER own OPTIONS (ADD $option '{/}')", qr/^ERROR:  permission denied to set the "$option" option of a csv_gpu_fdw server\nDETAIL:  .*"$role"/m);
	refused($clerk, "CREATE SERVER mine FOREIGN DATA WRAPPER csv_gpu_fdw OPTIONS ($option '{/}')", qr/^ERROR:  permission denied to set the "$option"/m);
}
is((new_session($node, user => 'reader')->query("CREATE SERVER readers FOREIGN DATA WRAPPER csv_gpu_fdw OPTIONS (allowed '{/}')"))[1], '', 'members of pg_read_server_files may');
refused($super, "CREATE SERVER bad FOREIGN DATA WRAPPER csv_gpu_fdw OPTIONS (allowed '$_')", qr/^ERROR:  invalid value for option "allowed"/m)
  for '/data', '{data}', '{/data/../x}', '{/data/*}', '{/data,NULL}', '{""}', '{s3://}', '{s3://b/*}', '{https://u:p@h/}', '{https://h/x?y}', '{https://h/%2e%2e/x}', '{ftp://h/x}', '{file:///x}';
refused($super, "CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (allowed '{/}', filename '/x')", qr/^ERROR:  invalid option "allowed"/m);

# ---- names, when a table is declared ----

for my $file ("$in/a.csv", $in, "$in/sub/*.csv", "$in//a.csv", "$in/./a.csv", 's3://b/in', 's3://b/in/*.csv', 'S3://b/in/x%20y', 'https://host/a%20b/x?y=../z', 'HTTPS://HOST/%61 b', 'https://host:443/a%20b/%63')
{
	is((declare($clerk, $file))[1], '', "below: $file" =~ s/\Q$top\E//gr);
}
for my $file ("${in}2/s.csv", "$in/../secret/s.csv", "$in/sub/../../in/a.csv", "$top/*/s.csv", "$top/i[n]/a.csv", 'in/a.csv', "$secret/s.csv", '/etc/passwd', '', 's3://b2/in/x', 's3://b/in2', 's3://B/in/x', 's3://b//in/x', 's3://b/%69n/x', 's3://b/in/../x', 's3://b/in/%2E%2e/x', 's3://b*/in/x', 's3://b/i*/x', 's3://u:p@b/in/x', 'http://host/a b/x', 'https://host:444/a b/x', 'https://host.evil/a b/x', 'https://host@evil/a b/x', 'https://host\@evil/a b/x', 'https://host/a b/../x', 'https://host/a b/%2e%2E/x', 'https://host/a b/x%2F..%2F..%2Fy', 'https://host/a b/x%5c..%5cy', 'https://host/a b2', 'https://host/a%2520b/x', 'https://host/?/a b/x', 'https://host#/a b/x', "file://$in/a.csv")
{
	like((declare($clerk, $file))[1], qr/^ERROR:  /m, "not below: $file" =~ s/\Q$top\E//gr);
}
like((declare($clerk, "$secret/s.csv"))[1], $outside, 'the ERROR');
is($clerk->value("CREATE FUNCTION state_of(sql text) RETURNS text LANGUAGE plpgsql AS 'BEGIN EXECUTE sql; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END';
	SELECT state_of('CREATE FOREIGN TABLE s (a int) SERVER inbox OPTIONS (filename ''/x'')')"), '42501', 'and its SQLSTATE');
like((declare($clerk, "$in/a.csv", server => 'plain'))[1], $denied, 'a server without prefixes');
like((declare($clerk, 'https://host/x', server => 'plain'))[1], qr/$denied.*\nDETAIL:  .*"pg_execute_server_program"/m, 'and a URL');
refused($clerk, "CREATE FOREIGN TABLE p (a int) SERVER inbox OPTIONS (program 'id')", qr/^ERROR:  permission denied to set the "program" option/m);
refused(new_session($node, user => 'other'), "CREATE FOREIGN TABLE p (a int) SERVER inbox OPTIONS (filename '$in/a.csv')", qr/^ERROR:  permission denied for foreign server inbox/m);
$super->value("CREATE FOREIGN TABLE given (id int, t text) SERVER inbox OPTIONS (filename '$in/a.csv', header 'true'); ALTER FOREIGN TABLE given OWNER TO other;
	CREATE FOREIGN TABLE of_other (id int, t text) SERVER linked OPTIONS (filename '$top/by_link/a.csv', header 'true'); ALTER FOREIGN TABLE of_other OWNER TO other");
refused(new_session($node, user => 'other'), "ALTER FOREIGN TABLE given OPTIONS (SET filename '$in/sub/b.csv')", qr/^ERROR:  permission denied for foreign server inbox/m, 'an owner without USAGE');

# whoever may name any file is warned, so that a dump can be restored
my ($far, $warning) = declare($super, "$secret/s.csv");

like($warning, qr/^WARNING:  "[^"]*" is not below/m, 'a superuser is warned');
refused($super, "SELECT * FROM $far", $outside);
refused($super, $_, $outside)
  for "ANALYZE $far", "EXPLAIN SELECT * FROM $far", "SELECT * FROM csv_gpu_errors('$far')", "CREATE TABLE target (id int, t text); SELECT csv_gpu_load('$far', 'target')", "SELECT * FROM csv_gpu_files('$far')";

# ---- without the event trigger ----

$super->value('ALTER EVENT TRIGGER csv_gpu_check_rights DISABLE');
like((declare($clerk, "$in/a.csv", server => 'plain'))[1], $denied, 'before the commit');
like((declare($clerk, "$secret/s.csv"))[1], $outside, 'likewise');
$clerk->query('BEGIN');
my ($early) = declare($clerk, "$secret/s.csv", server => 'plain');
refused($clerk, "SELECT * FROM $early", $denied, 'at the first use');
$clerk->query('ROLLBACK');
# what a superuser declares in the same transaction is not the clerk's
is(($super->query("BEGIN; CREATE FOREIGN TABLE mine (a int) SERVER plain OPTIONS (filename '/x'); SET LOCAL ROLE clerk; CREATE FOREIGN TABLE ours (id int, t text) SERVER inbox OPTIONS (filename '$in/a.csv'); COMMIT"))[1], '', 'two roles in a transaction');
refused($super, "ALTER SERVER inbox OPTIONS (DROP allowed)", qr/^ERROR:  cannot drop option "allowed" of server "inbox": foreign table "\w+" needs it\nDETAIL:  Its owner "clerk"/m);
$super->value('ALTER EVENT TRIGGER csv_gpu_check_rights ENABLE');

# ---- files, when a table is read ----

my ($good) = declare($clerk, "$in/*.csv", options => [ "header 'true'", "on_error 'stop'" ]);
refused($clerk, "SELECT * FROM $good", $outside, 'a link to nothing outside');
unlink "$in/dangling.csv";
is(($clerk->query("SELECT * FROM $good"))[0], "1|x\n2|y", 'a pattern');
for my $file ("$in/sub/file.csv", "$in/sub/*.csv", "$in/linked/s.csv", "$in/linked/*.csv", "$in/*/s.csv", "$in/linked/none", "$in/linked/none/*", "$in/linked/.[.]/in/a.csv", "$in/.[.]/secret/s.csv")
{
	my ($table, $said) = declare($clerk, $file);

	is($said, '', "a link, $file" =~ s/\Q$top\E//gr);
	refused($clerk, "SELECT * FROM $table", $outside, 'is not followed');
	is($clerk->value("SELECT string_agg(DISTINCT state_of('SELECT * FROM $table'), ' ') FROM generate_series(1, 500)"), '42501', 'however often') if $file =~ /file/;
	unlike(($clerk->query("SELECT * FROM csv_gpu_files('$table')"))[0] // '', qr/(?:file|s)\.csv\|\d/, 'nor is the file looked at');
}
my ($inner) = declare($clerk, "$in/inner/b.csv");
is(($clerk->query("SELECT * FROM $inner"))[0], '3|z', 'a link within');
is((new_session($node, user => 'other')->query('SELECT * FROM of_other'))[0], "1|x\n2|y", 'a prefix may be a link');
my ($nothing) = declare($clerk, "$in/none.csv");
refused($clerk, "SELECT * FROM $nothing", qr/^ERROR:  could not open file .*: No such file/m, 'a file that is not there');

# the file is exchanged between two scans of a cursor, and while its columns are kept
my ($swapped) = declare($clerk, "$in/swap.csv");
$super->value('ALTER SYSTEM SET csv_gpu_fdw.resident_memory = 64; SELECT pg_reload_conf()');
$super->value("CREATE FOREIGN TABLE kept (id int, t text) SERVER csv OPTIONS (filename '$secret/s.csv', header 'true'); SELECT * FROM kept; SELECT * FROM kept");
write_file("$in/swap.csv", "id,t\n5,v\n");
is(($clerk->query("SELECT * FROM $swapped"))[0], '5|v', 'a file');
unlink "$in/swap.csv";
symlink "$secret/s.csv", "$in/swap.csv";
refused($clerk, "SELECT * FROM $swapped", $outside, 'a link in its place, to a file whose columns are kept');
refused($clerk, "SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET debug_parallel_query = on; SELECT count(*) FROM $swapped", $outside, 'in workers') if $node->pg_version >= 16;
unlink "$in/swap.csv";

# views and functions read with the rights of their owners, and no further
$super->value("CREATE VIEW far AS SELECT * FROM $far; GRANT SELECT ON far TO clerk");
refused($clerk, 'SELECT * FROM far', $outside);
$super->value("CREATE FUNCTION look(f text) RETURNS SETOF record LANGUAGE sql SECURITY DEFINER AS 'SELECT record, fields FROM csv_gpu_peek(f, 1, ''inbox'')'");
refused($clerk, "SELECT * FROM look('$secret/s.csv') l(a bigint, b json)", $outside);

# ---- sniff, peek, open, import ----

$super->value('GRANT TEMPORARY ON DATABASE postgres TO clerk; REVOKE USAGE ON FOREIGN SERVER linked FROM clerk');
is(($clerk->query("SELECT column_name, type FROM csv_gpu_sniff('$in/a.csv')"))[0], "id|integer\nt|text", 'the only server is chosen');
is(($clerk->query("SELECT * FROM csv_gpu_peek('$in/a.csv', 1)"))[0], '1|{"id": "1", "t": "x"}', 'peek');
is($clerk->value("SELECT csv_gpu_open('$in/a.csv')"), 'a', 'open');
is($clerk->value("SELECT csv_gpu_open('$in/a.csv')"), 'a_2', 'and once more');
is($clerk->value("SELECT csv_gpu_open('$in/a.csv', 'Table')"), '"Table"', 'under a name');
is($clerk->value('SELECT sum(id) FROM a JOIN "Table" USING (id)'), 3, 'which can be read');
like($clerk->value("SELECT relnamespace::regnamespace FROM pg_class WHERE relname = 'Table'"), qr/^pg_temp/, 'as temporary tables');
for my $call ('csv_gpu_sniff', 'csv_gpu_peek', 'csv_gpu_open')
{
	refused($clerk, "SELECT $call('$secret/s.csv')", $outside);
	refused($clerk, "SELECT $call('$in/linked/s.csv')", $outside);
	refused($clerk, "SELECT $call('$in/a.csv', server => 'plain')", qr/^ERROR:  permission denied for function $call/m);
	refused($clerk, "SELECT $call('$in/a.csv', server => 'linked')", qr/^ERROR:  permission denied for foreign server linked/m);
	refused($clerk, "SELECT $call('$in/a.csv', server => 'none')", qr/^ERROR:  server "none" does not exist/m);
	is(($clerk->query("SELECT $call(NULL)"))[1], '', "$call of NULL");
}
$super->value('GRANT USAGE ON FOREIGN SERVER linked TO clerk');
refused($clerk, "SELECT csv_gpu_open('$in/a.csv')", qr/^ERROR:  "[^"]*" may be read by several servers: "inbox", "linked"$/m);
$super->value("SELECT * FROM csv_gpu_peek('$secret/s.csv')");
is($super->value("SELECT csv_gpu_open('$secret/s.csv')"), 's', 'for who may name any file');
is($super->value("SELECT srvname FROM pg_foreign_server s JOIN pg_foreign_table t ON ftserver = s.oid WHERE ftrelid = 's'::regclass"), 'csv', 'the first server without prefixes');
is(($clerk->query("IMPORT FOREIGN SCHEMA \"$in/sub\" FROM SERVER inbox INTO public; SELECT * FROM b"))[0], '3|z', 'import, without a file that a link leads to');
refused($clerk, "IMPORT FOREIGN SCHEMA \"$_\" FROM SERVER inbox INTO public", $outside) for $secret, "$in/linked", "$in/../secret", '/';
refused($clerk, "IMPORT FOREIGN SCHEMA \"$in\" FROM SERVER inbox INTO public OPTIONS (pattern '../secret/*.csv', table 'x')", $outside);
refused($clerk, "IMPORT FOREIGN SCHEMA \"$in\" FROM SERVER plain INTO public", qr/^ERROR:  permission denied for IMPORT FOREIGN SCHEMA/m);
refused($clerk, "IMPORT FOREIGN SCHEMA x FROM SERVER inbox INTO public OPTIONS (program 'id', table 'x')", qr/^ERROR:  permission denied for IMPORT FOREIGN SCHEMA from a program/m);

# ---- writing ----

my @writable = ("header 'true'", "writable 'true'");
my ($plain) = declare($clerk, "$out/plain.csv", options => \@writable);
my ($pattern) = declare($clerk, "$out/p-*.csv", options => \@writable);

is(($clerk->query("INSERT INTO $_ VALUES (1, 'a')"))[1], '', 'INSERT') for $plain, $plain, $pattern;
is($clerk->value("SELECT count(*) FROM (SELECT * FROM $plain UNION ALL SELECT * FROM $pattern) u"), 3, 'rows are there');
is(($clerk->query("TRUNCATE $plain, $pattern"))[1], '', 'TRUNCATE');
like((declare($clerk, "$in/w.csv", options => \@writable))[1], $outside, 'no prefix for writing');
like((declare($clerk, "$in/w.csv", server => 'linked', options => \@writable))[1], qr/^ERROR:/m, 'no option for writing');
for my $file ("$out/link.csv", "$out/dir/s.csv", "$out/dir/p-*.csv", "$out/dir/none/x.csv")
{
	my ($table, $said) = declare($clerk, $file, options => \@writable);

	is($said, '', "a link, $file" =~ s/\Q$top\E//gr);
	refused($clerk, "$_ $table" . (/INSERT/ ? " VALUES (1, 'a')" : ''), $outside) for 'INSERT INTO', 'TRUNCATE';
}
ok(!-e "$secret/new.csv", 'nothing is written through a link');
is(slurp_file("$secret/s.csv"), "id,t\n7,secret\n", 'nor is a file changed');
# the directory becomes a link after the rows have come
mkdir "$out/moved";
my ($moved) = declare($clerk, "$out/moved/*.csv", options => \@writable);
$clerk->query("BEGIN; INSERT INTO $moved VALUES (1, 'a')");
rename "$out/moved", "$out/before";
symlink $secret, "$out/moved";
refused($clerk, 'COMMIT', $outside);
is_deeply([ map { s{.*/}{}r } glob("$secret/* $secret/.csv*") ], ['s.csv'], 'nor before the commit');

# ---- taking prefixes back ----

refused($super, 'ALTER SERVER inbox OPTIONS (DROP allowed)', qr/^ERROR:  cannot drop option "allowed" of server "inbox".*\n.*\nHINT:  To allow nothing, run: ALTER SERVER inbox OPTIONS \(SET allowed '\{\}'\);$/m);
refused($super, 'ALTER SERVER inbox OPTIONS (DROP allowed_write)', qr/^ERROR:  cannot drop option "allowed_write" of server "inbox"/m);
is(($super->query("ALTER SERVER inbox OPTIONS (SET allowed '{}')"))[1], '', 'the HINT');
refused($clerk, "SELECT * FROM $inner", $outside);
is(($super->query('DROP OWNED BY clerk, other; ALTER SERVER inbox OPTIONS (DROP allowed, DROP allowed_write)'))[1], '', 'after their tables are gone');
finish();
