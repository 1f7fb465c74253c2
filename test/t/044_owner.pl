# Tables whose rows another library or access method keeps, and libraries that see COPY:
# csv_gpu_owner (test/inject/owner.c) is a stand-in for both.
use lib 'test/t';
use CsvServer;

my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server('owner');
my $load = 'SELECT records_loaded, records_skipped, bytes_read FROM csv_gpu_load';
my $bytes = "id,name,qty\n1,one,10\n2,two,20\n3\n4,four,40\n5,five,x\n";

mkdir "$directory/in";
write_file("$directory/in/a.csv", $bytes);
write_file("$directory/in/b.csv", "id,name,qty\n6,six,60\n");
# long enough to be taken under "on"
write_file("$directory/long.csv", map { "$_,a name of some length\n" } 1 .. 20000);

# a session that has loaded the libraries in this order
sub session_with
{
	my $session = new_session($node);

	$session->value("LOAD '\$libdir/$_'") for @_;
	return $session;
}

my $session = session_with('csv_gpu_owner', 'csv_gpu_fdw');

$session->value("
	CREATE FOREIGN TABLE source (id int, name text, qty int) SERVER csv OPTIONS (filename '$directory/in/a.csv', header 'true');
	CREATE FOREIGN TABLE files (id int, name text, qty int) SERVER csv OPTIONS (filename '$directory/in/*.csv', header 'true');
	CREATE TABLE owned (id int GENERATED ALWAYS AS IDENTITY, qty bigint, name varchar, loaded bool DEFAULT true);
	CREATE TABLE kept (LIKE owned INCLUDING ALL);
	CREATE TABLE plain (LIKE owned INCLUDING ALL);
	CREATE TABLE owned_rejects (raw text, record bigint, error varchar(40));
	CREATE TABLE kept_rejects (LIKE owned_rejects);");

# rows of "owned" and of "kept", which are removed
sub rows
{
	return $session->value('WITH o AS (DELETE FROM owned RETURNING *), k AS (DELETE FROM kept RETURNING *)
		SELECT (SELECT count(*) FROM o), (SELECT string_agg(k::text, \' \' ORDER BY id) FROM k)');
}

# ---- csv_gpu_load() ----

my $loaded = '0|(1,10,one,t) (2,20,two,t) (4,40,four,t)';
my $notices = qr/\ANOTICE:  skipped record 3 of .*\nDETAIL: .*\nNOTICE:  skipped record 5 of .*\nDETAIL: .*\Z/;

for my $way ('above', 'elsewhere')
{
	$session->value("SET csv_gpu_owner.way = '$way'");
	my ($out, $err) = $session->query("$load('source', 'owned')");

	is($out, '3|2|' . length($bytes), "$way: the counts of a load");
	like($err, $notices, 'its NOTICEs');
	is(rows(), $loaded, 'its rows are where the other library keeps them');
}
$session->value("SET csv_gpu_owner.way = 'below'");
my ($out, $err) = $session->query("SET client_min_messages = notice; $load('source', 'owned')");
like($err, qr/^NOTICE:  csv_gpu_owner passed 3 rows$/m, 'rows pass a CustomScan below ModifyTable');
is($session->value('DELETE FROM owned RETURNING id'), "1\n2\n4", 'and are in the table');
$session->value("SET csv_gpu_owner.way = 'above'");

is($session->value("$load('source', 'owned', columns => '{NULL,name,id}')"), '3|2|' . length($bytes), 'columns');
is($session->value('SELECT string_agg(id::text || name, \' \' ORDER BY id) FROM kept'), '10one 20two 40four', 'are the target\'s');
$session->value('TRUNCATE kept');
is($session->value("$load('source', 'owned', columns => '{NULL,NULL,NULL}')"), '4|1|' . length($bytes), 'no columns');
is($session->value('SELECT count(*), count(name) FROM kept'), '4|0', 'are rows of defaults');
$session->value('TRUNCATE kept');

# SQL over the source
my $named = "'{id,name,NULL}', filter => 'id < 5 AND lower(name) <> ''two'''";
for my $way ('above', 'elsewhere')
{
	$session->value("SET csv_gpu_owner.way = '$way'");
	is($session->value("$load('source', 'owned', $named, expressions => '{\"loaded\": \"source.id > 1\", \"qty\": \"qty + 1\"}')"), '2|2|' . length($bytes), "$way: filter and expressions");
	is(rows(), '0|(1,11,one,f) (4,41,four,t)', 'are those of the INSERT');
}
$session->value("SET csv_gpu_owner.way = 'above'");
is($session->value("$load('source', 'owned', '{id,NULL,NULL}', expressions => '{\"name\": \"CASE WHEN id = 1 THEN source END\"}')"), '3|2|' . length($bytes), 'a whole row');
is(rows(), '0|(1,,"(1,one,10)",t) (2,,,t) (4,,,t)', 'is one value');

# one file of a pattern
is($session->value("SELECT records_loaded, records_skipped FROM csv_gpu_load_file('files', 'owned', '$directory/in/b.csv')"), '1|0', 'one file of a pattern');
is(rows(), '0|(6,60,six,t)', 'and nothing of others');

# rejects: of the awaited scan only, though a trigger reads the same file
$session->value("
	CREATE TABLE rejected (record bigint, error text, raw text);
	CREATE FUNCTION read_source() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN NEW.loaded := (SELECT count(*) > 0 FROM source); RETURN NEW; END\$\$;
	CREATE TRIGGER t BEFORE INSERT ON kept FOR EACH ROW EXECUTE FUNCTION read_source();");
is($session->value("$load('source', 'owned', rejects => 'rejected')"), '3|2|' . length($bytes), 'with rejects');
is($session->value('SELECT string_agg(rejected::text, \' \') FROM rejected'), '(3,column_count,3) (5,bad_value,"5,five,x")', 'each is there once');
is(rows(), $loaded, 'and so are the rows');
$session->value('DROP TRIGGER t ON kept; ALTER FOREIGN TABLE source OPTIONS (ADD reject_limit \'1\')');
($out, $err) = $session->query("$load('source', 'owned', rejects => 'rejected')");
like($err, qr/^ERROR:  skipped more than 1 record of/m, 'reject_limit counts');
is(rows(), '0|', 'and nothing is loaded');
$session->value('ALTER FOREIGN TABLE source OPTIONS (DROP reject_limit)');
for my $target ('owned', 'plain')
{
	is($session->value("$load('source', '$target', rejects => 'owned_rejects')"), '3|2|' . length($bytes), "rejects of $target that the other library keeps");
	is($session->value('WITH k AS (DELETE FROM kept_rejects RETURNING *) SELECT (SELECT count(*) FROM owned_rejects), string_agg(k::text, \' \') FROM k'),
		'0|(3,3,column_count) ("5,five,x",5,bad_value)', 'are where it keeps them');
}
is($session->value('DELETE FROM plain RETURNING id'), "1\n2\n4", 'rows of another table are in that');
$session->value('TRUNCATE kept');

# what an INSERT cannot do
($out, $err) = $session->query("BEGIN; TRUNCATE owned; SELECT csv_gpu_load('source', 'owned', freeze => true)");
like($err, qr/^ERROR:  cannot freeze the rows of "owned": another library keeps its rows$/m, 'freeze is refused');
($out, $err) = $session->query("ROLLBACK; SET csv_gpu_owner.way = 'unread'; SELECT csv_gpu_load('source', 'owned')");
like($err, qr/^ERROR:  csv_gpu_load\(\) cannot see which records of "source" were read$/m, 'a scan in another session is refused');
($out, $err) = $session->query("SET csv_gpu_owner.way = 'refused'; SELECT csv_gpu_load('source', 'owned')");
like($err, qr/^ERROR:  csv_gpu_owner refuses to plan$/m, 'an ERROR of the other library is told');
($out, $err) = $session->query("SET csv_gpu_owner.way = 'above'; SELECT count(*), count(qty) FROM source");
is($out, '3|3', 'the next scan is an ordinary one');
like($err, $notices, 'with its NOTICEs');

# what a plan's hook does not own goes the fast way, rules or not
$session->value("CREATE RULE r AS ON INSERT TO plain DO INSTEAD NOTHING");
is($session->value("$load('source', 'plain')"), '3|2|' . length($bytes), 'another table is loaded');
is($session->value('SELECT count(*) FROM plain'), '3', 'and rules count for nothing');

# privileges are those of any load
$session->value("CREATE ROLE plain LOGIN; GRANT SELECT ON source TO plain; GRANT INSERT (id, name) ON owned TO plain");
($out, $err) = $session->query("SET ROLE plain; SELECT csv_gpu_load('source', 'owned')");
like($err, qr/^ERROR:  permission denied for table owned$/m, 'columns need the privilege INSERT');
$session->value('RESET ROLE');

# ---- access methods ----

$session->value("CREATE FUNCTION owner_heap_handler(internal) RETURNS table_am_handler LANGUAGE C AS 'csv_gpu_owner';
	CREATE ACCESS METHOD other_heap TYPE TABLE HANDLER owner_heap_handler;
	CREATE TABLE other (id int, name text, qty int) USING other_heap;
	CREATE TABLE other_rejected (record bigint) USING other_heap;
	CREATE TABLE pairs (id int, name text) USING other_heap;
	CREATE TABLE parts (id int, name text) PARTITION BY RANGE (id);
	CREATE TABLE parts_all PARTITION OF parts DEFAULT USING other_heap;
	CREATE TABLE owned_pairs (id int, name text);
	CREATE TABLE kept_pairs (id int, name text);
	CREATE TABLE plain_pairs (id int, name text)");
$session->quit;

$session = session_with('csv_gpu_fdw');
is($session->value("$load('source', 'other', rejects => 'other_rejected')"), '3|2|' . length($bytes), 'another access method than heap');
is($session->value('SELECT count(*), (SELECT count(*) FROM other_rejected) FROM other'), '3|2', 'gets rows by INSERT');
($out, $err) = $session->query("BEGIN; TRUNCATE other; SELECT csv_gpu_load('source', 'other', freeze => true)");
like($err, qr/^ERROR:  cannot freeze the rows of "other": its access method is not heap$/m, 'and none that are frozen');
$session->value("ROLLBACK; SET csv_gpu_fdw.copy = 'force'");
for my $table ('pairs', 'parts')
{
	($out, $err) = $session->query("COPY $table FROM '$directory/long.csv' (FORMAT csv)");
	unlike($err, qr/was not taken/, "COPY to $table is PostgreSQL's") or diag($err);
	like($err, qr/^ERROR:  csv_gpu_owner takes rows one by one$/m, 'with its result');
}
$session->quit;

# ---- COPY ----

my $copy = "COPY owned_pairs FROM '$directory/long.csv' (FORMAT csv)";
my $behind = 'library "csv_gpu_owner" was loaded earlier and would not see it';

# the library before us among the hooks, which see COPY first
$session = session_with('csv_gpu_fdw', 'csv_gpu_owner');
$session->value("SET csv_gpu_fdw.copy = 'force'");
for my $way ('above', 'elsewhere', 'below', 'refused')
{
	($out, $err) = $session->query("SET csv_gpu_owner.way = '$way'; $copy");
	like($err, $way eq 'refused' ? qr/^DETAIL:  Reason: csv_gpu_owner refuses to plan\.$/m : qr/^DETAIL:  Reason: another library keeps its rows\.$/m,
		"$way: COPY is not taken");
	($out, $err) = $session->query("\\copy owned_pairs FROM '$directory/long.csv' (FORMAT csv)");
	like($err, qr/was not taken/, 'and neither is the frontend\'s');
}
($out, $err) = $session->query("COPY plain_pairs FROM '$directory/long.csv' (FORMAT csv)");
unlike($err, qr/ERROR/, 'COPY to another table is taken');
$session->quit;

# a library that would not see it
$session = session_with('csv_gpu_owner', 'csv_gpu_fdw');
$copy =~ s/owned/plain/;
($out, $err) = $session->query("SET csv_gpu_fdw.copy = 'force'; $copy");
like($err, qr/^DETAIL:  Reason: $behind\.$/m, 'COPY is not taken before a library that would not see it');
unlike($err, qr/left to PostgreSQL/, 'under "force", without a NOTICE');
write_file("$directory/short.csv", "1,x\n");
($out, $err) = $session->query("SET csv_gpu_fdw.copy = 'on'; COPY plain_pairs FROM '$directory/short.csv' (FORMAT csv)");
unlike($err, qr/left to PostgreSQL/, 'nor where COPY is not taken anyway');
($out, $err) = $session->query($copy);
like($err, qr/^NOTICE:  COPY FROM is left to PostgreSQL, because library "csv_gpu_owner" would not see it otherwise\nHINT:  .*csv_gpu_fdw\.copy_past_hooks\.\nNOTICE:  csv_gpu_owner saw a COPY$/m,
	'a NOTICE names the library');
($out, $err) = $session->query($copy);
is($err, "NOTICE:  csv_gpu_owner saw a COPY\n", 'once in a session');

$session->value("SET csv_gpu_fdw.copy_past_hooks = on; SET csv_gpu_fdw.copy = 'force'");
is(join('|', $session->query($copy)), '|', 'copy_past_hooks: COPY is taken, and the library does not see it');
is($session->value('SELECT count(*) FROM plain_pairs'), '80001', 'all rows are there') or diag($err);
$copy =~ s/plain/owned/;
($out, $err) = $session->query($copy);
like($err, qr/^NOTICE:  csv_gpu_owner saw a COPY\nERROR: .*\nDETAIL:  Reason: another library keeps its rows\.$/m, 'but not to tables of that library');

# COPY TO asks how a query would read the table
$copy = "COPY owned_pairs TO '$directory/out.csv' (FORMAT csv)";
is(join('|', $session->query($copy)), '|', 'COPY TO is taken, if the library leaves a query of the table as it is');
$session->value('SET csv_gpu_owner.reads = on');
for my $way ('above', 'elsewhere')
{
	($out, $err) = $session->query("SET csv_gpu_owner.way = '$way'; $copy");
	like($err, qr/^NOTICE:  csv_gpu_owner saw a COPY\nERROR: .*\nDETAIL:  Reason: another library keeps its rows\.$/m, "$way: otherwise not");
}
$copy =~ s/owned/plain/;
is(join('|', $session->query($copy)), '|', 'COPY TO of another table is taken');
$session->quit;

($out, $err) = new_session($node, user => 'plain')->query("LOAD '\$libdir/plugins/csv_gpu_fdw'; SET csv_gpu_fdw.copy_past_hooks = on");
like($err, qr/^ERROR:  permission denied to set parameter "csv_gpu_fdw.copy_past_hooks"$/m, 'it is for superusers');
finish();
