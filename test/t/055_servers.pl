# Many servers: three servers share the files of a directory, and a fourth queries them
# all through postgres_fdw.  Answers are those of the fourth server's own table over all
# files; a server that is down or slow, and a cancel.
use lib 'test/t';
use CsvServer;

my $directory = new_folder();
my $main = csv_server('main');
my @nodes = map { csv_server("node$_") } 0 .. 2;

mkdir "$directory/$_" for 'items', 'sizes', 'near', 'far';
for my $file (0 .. 6)
{
	write_file("$directory/items/$file.csv", map { join(',', $_, $_ % 13, $_ % 3 ? "red$file" : 'blue', $_ / 8, '2024-01-' . sprintf('%02d', 1 + $_ % 31)) . "\n" }
		map { $_ * 7 + $file } 1 .. 300);
	write_file("$directory/sizes/$file.csv", map { join(',', $_ * 7 + $file, $_ % 10) . "\n" } 1 .. 300);
}
write_file("$directory/items/3a.csv", "100001,1\n100002,1,green,0.5,2024-02-30\n100003,1,green,0.5,2024-02-28\n");

my $tables = qq{CREATE SCHEMA own; SET search_path = own;
	CREATE FOREIGN TABLE items (id integer, kind integer, color text, price numeric(10,3), day date, share integer OPTIONS (virtual 'share'))
		SERVER csv OPTIONS (filename '$directory/items/*.csv');
	CREATE FOREIGN TABLE sizes (id integer, size integer, share integer OPTIONS (virtual 'share'))
		SERVER csv OPTIONS (filename '$directory/sizes/*.csv');
	CREATE FOREIGN TABLE slow (v integer, share integer OPTIONS (virtual 'share')) SERVER csv OPTIONS (program 'sleep 600; echo 1')};

$nodes[$_]->safe_psql('postgres', "ALTER SERVER csv OPTIONS (ADD share '$_', ADD shares '3'); $tables") for 0 .. 2;
$main->safe_psql('postgres', "ALTER SERVER csv OPTIONS (ADD share '0', ADD shares '1');
	$tables; CREATE EXTENSION postgres_fdw SCHEMA public; CREATE EXTENSION dblink SCHEMA public;" .
	join '', map { "CREATE SERVER n$_ FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $nodes[$_]->host . "', port '" . $nodes[$_]->port .
		"', dbname 'postgres'); CREATE USER MAPPING FOR public SERVER n$_ OPTIONS (user '" . getpwuid($<) . "');" } 0 .. 2);

sub query
{
	return $main->safe_psql('postgres', $_[0]);
}

sub error
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $main->psql('postgres', $sql);

	return $err =~ s/^psql:<stdin>:\d+: //mgr =~ s/\nCONTEXT:.*//sr;
}

# ---- make ----

query('CREATE SCHEMA "Their tables"');
is(query("SELECT csv_gpu_distribute('own.items', 'items', '{n0,n1,n2}')"),
	join("\n", 'CREATE TABLE public.items (LIKE own.items) PARTITION BY LIST (share)',
		map { "CREATE FOREIGN TABLE public.items_$_ PARTITION OF public.items FOR VALUES IN ('$_') SERVER n$_ OPTIONS (schema_name 'own', table_name 'items', fetch_size '10000', async_capable 'true')" } 0 .. 2),
	'what is run');
query("SELECT csv_gpu_distribute('own.$_', '$_', '{n0,n1,n2}')") for 'sizes', 'slow';

# ---- ask ----

sub same
{
	my ($name, $sql) = @_;

	for my $settings ('off', 'on')
	{
		my $set = "SET enable_partitionwise_join = $settings; SET enable_partitionwise_aggregate = $settings";

		is(query("$set; $sql"), query("SET search_path = own; SET client_min_messages = error; $sql"), "$name, partitionwise $settings");
	}
}

is(query('SELECT count(*), count(DISTINCT id), sum(id) FROM items'), '2102|2102|2418655', 'all records, and each once');
is(query('SELECT share, count(*) FROM items GROUP BY 1 ORDER BY 1'), "0|600\n1|600\n2|902", 'by share');
same('count', 'SELECT count(*) FROM items');
same('sum', "SELECT sum(price * kind) FROM items WHERE day >= '2024-01-10' AND kind < 5");
same('groups', 'SELECT color, kind, sum(price), avg(price), count(*) FROM items GROUP BY 1, 2 ORDER BY 1, 2');
same('average', 'SELECT avg(price), min(day), max(color), count(DISTINCT kind) FROM items');
same('first', 'SELECT id, price FROM items ORDER BY price DESC, id LIMIT 10');
same('distinct', 'SELECT DISTINCT color FROM items ORDER BY 1');
same('point', 'SELECT id, color FROM items WHERE id = 1000');
same('like', "SELECT count(*) FROM items WHERE color LIKE '%d3'");
same('join by key', 'SELECT size, count(*), sum(price) FROM items JOIN sizes USING (id) GROUP BY 1 ORDER BY 1');
same('join by another column', 'SELECT kind, count(*) FROM items JOIN sizes ON size = kind WHERE items.id < 100 GROUP BY 1 ORDER BY 1');
same('join by share and key', 'SELECT size, count(*), sum(price) FROM items JOIN sizes USING (share, id) GROUP BY 1 ORDER BY 1');
is(query('SELECT count(*) FROM items JOIN sizes USING (share, id)'), 2100, 'a further file of one table moves no other');
same('subquery', 'SELECT count(*) FROM items i WHERE EXISTS (SELECT FROM sizes s WHERE s.id = i.id AND size = 3)');
same('nothing', 'SELECT sum(price), count(*) FROM items WHERE id < 0');
$nodes[1]->safe_psql('postgres', "ALTER SERVER csv OPTIONS (SET shares '4')");
isnt(query('SELECT count(*) FROM items'), 2102, 'servers that are not agreed');
$nodes[1]->safe_psql('postgres', "ALTER SERVER csv OPTIONS (SET shares '3')");

# a file that comes or goes is in one share or in none, and the others are where they were
for my $file (map { "$directory/items/$_.csv" } 'new', '00', '35', '3b', 'zz')
{
	my $before = query('SELECT share, count(*) FROM items GROUP BY 1 ORDER BY 1');

	write_file($file, map { 200000 + $_ . ",1,new,0.5,2024-01-01\n" } 1 .. 10);
	is(query('SELECT count(*), count(DISTINCT id) FROM items'), '2112|2112', 'a file comes');
	is(query('SELECT count(*) FROM items JOIN sizes USING (share, id)'), 2100, 'and the join is right');
	unlink $file or die;
	is(query('SELECT share, count(*) FROM items GROUP BY 1 ORDER BY 1'), $before, 'and goes');
}

# each server sums, at the same time, as docs/scale-out.md has it
query(q{SELECT format('CREATE VIEW totals AS WITH parts AS MATERIALIZED (%s)
	SELECT color, sum(total) AS total, sum(total) / sum(n) AS average, sum(n)::bigint AS n FROM parts GROUP BY 1',
	string_agg(format('SELECT color, sum(price) AS total, count(*) AS n FROM %s WHERE kind < 9 GROUP BY 1', inhrelid::regclass), ' UNION ALL '))
	FROM pg_inherits WHERE inhparent = 'items'::regclass \gexec});
is(query('SELECT * FROM totals ORDER BY 1'),
	query('SET client_min_messages = error; SELECT color, sum(price), avg(price), count(*) FROM own.items WHERE kind < 9 GROUP BY 1 ORDER BY 1'), 'sums of sums');

sub shipped
{
	my ($sql, $what) = @_;

	return scalar(() = query($sql) =~ /Async Foreign Scan\n *Relations: $what/g);
}

is(shipped('EXPLAIN (COSTS OFF) SELECT color, average FROM totals', qr/Aggregate on \(items_\d\)/), 3, 'each server sums, asynchronously');
$_->safe_psql('postgres', 'SET client_min_messages = error; ANALYZE own.items, own.sizes') for @nodes;
is(shipped(join('; ', (map { "ALTER SERVER n$_ OPTIONS (ADD use_remote_estimate 'true')" } 0 .. 2), 'SET enable_partitionwise_join = on',
		'SET enable_partitionwise_aggregate = on', 'EXPLAIN (COSTS OFF) SELECT size, sum(total)
			FROM (SELECT share, size, sum(price) AS total FROM items JOIN sizes USING (share) WHERE items.id = sizes.id GROUP BY 1, 2) parts GROUP BY 1'),
		qr/Aggregate on \(\(.*\) INNER JOIN \(.*\)\)/), 3, 'each server joins and sums');
unlike(query('EXPLAIN SELECT count(*) FROM items WHERE share = 2'), qr/items_[01]/, 'only one server is asked');

# ---- bad records ----

is(query("SELECT server, filename ~ '/items/3a.csv\$', record, error, column_name FROM csv_gpu_server_errors('items') ORDER BY record"),
	"n2|t|1|column_count|\nn2|t|2|bad_value|day", 'errors, with their server');
is(query("SELECT count(*) FROM csv_gpu_server_errors('items', 1)"), 1, 'as many of each server');

# the session's own connection of a server's name is another, and stays
my $elsewhere = join ' ', map { "SELECT dblink_connect('n$_', 'host=" . $main->host . ' port=' . $main->port . " dbname=postgres user=" . getpwuid($<) . "');" } 0 .. 2;
is(query("$elsewhere SELECT server, count(*) FROM csv_gpu_server_errors('items') GROUP BY 1; SELECT array_length(dblink_get_connections(), 1)"),
	"OK\nOK\nOK\nn2|2\n3", 'connections of the session are not asked');

# a partition without names has its own on the server; a server that cannot be asked leaves no connection
$_->safe_psql('postgres', "CREATE FOREIGN TABLE public.bare (id integer, kind integer, color text, price numeric(10,3), day date, share integer OPTIONS (virtual 'share'))
	SERVER csv OPTIONS (filename '$directory/items/*.csv')") for @nodes;
query('CREATE TABLE bares (LIKE items) PARTITION BY LIST (share); CREATE FOREIGN TABLE bare PARTITION OF bares FOR VALUES IN (2) SERVER n2');
is(query("SELECT server, count(*) FROM csv_gpu_server_errors('bares') GROUP BY 1"), 'n2|2', 'a partition without names');
query("ALTER FOREIGN TABLE bare OPTIONS (ADD table_name 'items'); ALTER FOREIGN TABLE bare SET SCHEMA \"Their tables\"; ALTER FOREIGN TABLE \"Their tables\".bare OPTIONS (ADD schema_name 'own')");
is(query("SELECT server, count(*) FROM csv_gpu_server_errors('bares') GROUP BY 1"), 'n2|2', 'a partition with names');
query("ALTER FOREIGN TABLE \"Their tables\".bare OPTIONS (SET table_name 'nosuch')");
is(query("DO \$\$ BEGIN PERFORM csv_gpu_server_errors('bares'); EXCEPTION WHEN undefined_table THEN NULL; END \$\$; SELECT dblink_get_connections() IS NULL"), 't', 'nothing is left of a failure');
query('DROP TABLE bares');

# functions that another role made fit the arguments no better
$nodes[$_]->safe_psql('postgres', "CREATE FUNCTION csv_gpu_errors(text, integer) RETURNS integer RETURN 1 / 0") for 0 .. 2;
query('CREATE FUNCTION dblink(name, text) RETURNS integer RETURN 1 / 0');
is(query("SELECT count(*) FROM csv_gpu_server_errors('items', 1)"), 1, 'no overloads are called');
query('DROP FUNCTION dblink(name, text)');
$nodes[$_]->safe_psql('postgres', 'DROP FUNCTION csv_gpu_errors(text, integer)') for 0 .. 2;
is(query("SELECT count(*) FROM csv_gpu_server_errors('sizes')"), 0, 'no errors');
$nodes[2]->safe_psql('postgres', 'ALTER FOREIGN TABLE own.sizes RENAME TO other');
like(error("SELECT * FROM csv_gpu_server_errors('sizes')"), qr/^ERROR:  server "n2": relation "own.sizes" does not exist$/, 'an error of a server');
$nodes[2]->safe_psql('postgres', 'ALTER FOREIGN TABLE own.other RENAME TO sizes');

# the extension in a schema with a percent sign, where the server is this database
query('CREATE DATABASE odd');
is($main->safe_psql('odd', q{CREATE SCHEMA "%I s%"; CREATE EXTENSION csv_gpu_fdw SCHEMA "%I s%"; CREATE EXTENSION postgres_fdw; CREATE EXTENSION dblink SCHEMA "%I s%";
	CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw OPTIONS (share '0', shares '1');
	CREATE SERVER "%s" FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '} . $main->host . "', port '" . $main->port . q{', dbname 'odd');
	CREATE USER MAPPING FOR public SERVER "%s" OPTIONS (user '} . getpwuid($<) . qq{');
	CREATE FOREIGN TABLE "%L" (id integer, kind integer, color text, price numeric, day date, share integer OPTIONS (virtual 'share'))
		SERVER csv OPTIONS (filename '$directory/items/*.csv', date_order 'YMD');} . q{
	SELECT count(*) FROM "%I s%".csv_gpu_distribute('"%L"', '"%s"', '{%s}');
	SELECT server, count(*) FROM "%I s%".csv_gpu_server_errors('"%s"') GROUP BY 1;
	SELECT count(*) FROM "%I s%".csv_gpu_undistribute('"%s"')}), "2\n%s|2\n1", 'names with percent signs');

# ---- time zones and the order of dates ----

# postgres_fdw sets the time zone GMT on servers, whose order of dates is another here
sub distribute
{
	my ($what) = @_;
	my ($rc, $out, $err) = $main->psql('postgres', "SET timezone = 'Asia/Tokyo'; SELECT csv_gpu_distribute('own.$what', 'moments', '{n0,n1,n2}')");

	die $err if $rc != 0;
	return $err =~ s/^psql:<stdin>:\d+: //mgr =~ s/\nCONTEXT:.*//mgr;
}

mkdir "$directory/moments";
write_file("$directory/moments/$_.csv", map { sprintf "%d,2024-03-%02d %02d:30:00%s,%d/%d/2024\n", $_, 1 + $_ % 28, $_ % 24, $_ % 3 ? '' : '+02', 1 + $_ % 12, 1 + $_ % 11 } $_ * 40 .. $_ * 40 + 39) for 1 .. 6;
$_->safe_psql('postgres', "ALTER DATABASE postgres SET timezone = 'America/Caracas'; ALTER DATABASE postgres SET datestyle = 'ISO, DMY'") for @nodes;
for my $node ($main, @nodes)
{
	$node->safe_psql('postgres', "CREATE FOREIGN TABLE own.moments (id integer, at timestamptz, day date, share integer OPTIONS (virtual 'share'))
		SERVER csv OPTIONS (filename '$directory/moments/*.csv')");
}
my $moments = 'SELECT sum(extract(epoch FROM at)), count(*) FILTER (WHERE day > at), sum(hashtext(id || at::text || day)) FROM';
my $set = "SET timezone = 'Asia/Tokyo'; SET datestyle = 'ISO, MDY'";

is(distribute('moments'), join("\n", map { ("WARNING:  columns of foreign table own.moments depend on the $_->[0] of each server", "DETAIL:  Columns: $_->[1].",
			"HINT:  On each server, and here, run ALTER FOREIGN TABLE own.moments OPTIONS (ADD $_->[2]), or with another value.") }
		['time zone', '"at"', q{timezone 'Asia/Tokyo'}], ['date order', '"at", "day"', q{date_order 'MDY'}]), 'what depends on a server');
isnt(query("$set; $moments moments"), query("$set; $moments own.moments"), 'other moments and days');
query('SELECT csv_gpu_undistribute(\'moments\')');
$_->safe_psql('postgres', "ALTER FOREIGN TABLE own.moments OPTIONS (ADD timezone 'Asia/Tokyo', ADD date_order 'MDY')") for $main, @nodes;
is(distribute('moments'), '', 'nothing does, with the options');
is(query("$set; $moments moments"), query("$set; $moments own.moments"), 'the same moments and days');
is(query("$set; SELECT count(*), min(id), max(day) FROM moments WHERE at < '2024-03-10 12:00'"),
	query("$set; SELECT count(*), min(id), max(day) FROM own.moments WHERE at < '2024-03-10 12:00'"), 'conditions agree');
query('SELECT csv_gpu_undistribute(\'moments\'); CREATE DOMAIN own.stamp AS timestamptz');

# columns: type, options; which settings they depend on, with which options of the table
for my $case (['timestamptz', '', 'timezone date_order'], ['timestamp', '', 'date_order'], ['date', '', 'date_order'], ['timetz', '', 'timezone'], ['time', '', ''],
	['text', '', ''], ['own.stamp', '', 'timezone date_order'], ['date[]', '', 'date_order'], ['tstzrange', '', 'timezone date_order'], ['tsmultirange', '', 'date_order'],
	['date', "date_format 'DD.MM.YYYY'", ''], ['timestamptz', "timestamp_format 'YYYY HH24'", 'timezone'], ['timestamptz', "timestamp_format 'YYYY TZH'", ''],
	['timestamp', "timestamp_format 'YYYY TZH'", 'timezone'], ['timestamptz', "timestamp_format 'epoch_ms'", ''], ['timestamp', "timestamp_format 'epoch'", ''],
	['date', "virtual 'path:day'", 'date_order'], ['timestamptz', '', '', ", timestamp_format 'YYYY TZH'"], ['date', '', '', ", date_format 'YYYY'"],
	['date[]', '', 'date_order', ", date_format 'YYYY'"], ['timestamptz', '', 'date_order', ", timezone 'UTC'"], ['timestamptz', '', 'timezone', ", date_order 'DMY'"])
{
	my ($type, $options, $expected, $of_table) = (@$case, '');

	is(query("CREATE FOREIGN TABLE own.c (i integer, c $type" . ($options && " OPTIONS ($options)") . ") SERVER csv OPTIONS (filename '$directory/moments/*.csv'$of_table);
		SELECT string_agg(option_name, ' ' ORDER BY option_name DESC) FROM csv_gpu_session_forms('own.c') WHERE column_names = '\"c\"'; DROP FOREIGN TABLE own.c"), $expected, "$type $options$of_table");
}

# ---- a further server ----

# as docs/scale-out.md has it: tables of another SERVER are made beside those in use, and all change at once
query("CREATE SCHEMA two; CREATE FOREIGN TABLE two.items (id integer, kind integer, color text, price numeric(10,3), day date, share integer OPTIONS (virtual 'share'))
	SERVER csv OPTIONS (filename '$directory/items/*.csv')");
$nodes[$_]->safe_psql('postgres', "CREATE SERVER csv2 FOREIGN DATA WRAPPER csv_gpu_fdw OPTIONS (share '$_', shares '2'); CREATE SCHEMA two;
	CREATE FOREIGN TABLE two.items (id integer, kind integer, color text, price numeric(10,3), day date, share integer OPTIONS (virtual 'share'))
	SERVER csv2 OPTIONS (filename '$directory/items/*.csv')") for 0, 1;
query("SELECT csv_gpu_distribute('two.items', 'moving', '{n0,n1}')");
my $asker = new_session($main);
for my $to ("'own.items', 'moving', '{n0,n1,n2}'", "'two.items', 'moving', '{n0,n1}'", "'own.items', 'moving', '{n0,n1,n2}'")
{
	is($asker->value('SELECT count(*), count(DISTINCT id) FROM moving'), '2102|2102', 'before the change');
	query("BEGIN; SELECT csv_gpu_undistribute('moving'); SELECT csv_gpu_distribute($to); COMMIT");
	is($asker->value('SELECT count(*), count(DISTINCT id) FROM moving'), '2102|2102', 'and after it');
}
$asker->quit;
query("SELECT csv_gpu_undistribute('moving')");

# ---- loads ----

query('CREATE TABLE loaded (id integer, kind integer, color text, price numeric, day date, share integer)');
for my $node (@nodes)
{
	$node->safe_psql('postgres', "CREATE EXTENSION postgres_fdw; CREATE SERVER main FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '" . $main->host . "', port '" . $main->port . "', dbname 'postgres', batch_size '100');
		CREATE USER MAPPING FOR public SERVER main OPTIONS (user '" . getpwuid($<) . "');
		IMPORT FOREIGN SCHEMA public LIMIT TO (loaded) FROM SERVER main INTO public;
		SET client_min_messages = error; SELECT csv_gpu_load('own.items', 'loaded')");
}
is(query('SELECT count(*), count(DISTINCT id), sum(share) FROM loaded'), '2101|2101|2402', 'each file is loaded once');

# ---- a server that is down or slow ----

$nodes[1]->stop;
like(error('SELECT count(*) FROM items'), qr/^ERROR:  could not connect to server "n1"\n/, 'a server that is down');
is(query('SELECT count(*) FROM items WHERE share IN (0, 2)'), 1502, 'others answer');
like(error("SELECT * FROM csv_gpu_server_errors('items')"), qr/^ERROR:  server "n1": could not establish connection: .*(?:refused|No such file)/, 'nor does it tell errors');
$nodes[1]->start;
is(query('SELECT count(*) FROM items'), 2102, 'a server that is back');

my $waits = "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'postgres_fdw' AND state = 'active'";
my $session = new_session($main);

$session->send('SELECT count(*) FROM slow');
ok($_->poll_query_until('postgres', $waits), 'a server works') for @nodes;
query('SELECT pg_cancel_backend(' . $session->pid . ')');
like(($session->await)[1], qr/^ERROR:  canceling statement due to user request/, 'a query that is cancelled');
ok($_->poll_query_until('postgres', $waits =~ s/= 1/= 0/r), 'nothing is left') for @nodes;
$session->send('SELECT count(*) FROM slow');
ok($nodes[2]->poll_query_until('postgres', $waits), 'a server works');
$nodes[2]->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'postgres_fdw'");
like(($session->await)[1], qr/^ERROR:  .*(?:terminating connection|server closed the connection)/m, 'a server that ends the connection');
ok($_->poll_query_until('postgres', $waits =~ s/= 1/= 0/r), 'nothing is left') for @nodes;
is($session->value('SELECT count(*) FROM items'), 2102, 'the session goes on');
$session->quit;

# ---- directories ----

# each server has all files of its own directory
mkdir "$directory/$_/place=$_" for 'near', 'far';
write_file("$directory/near/place=near/1.csv", "1\n2\n");
write_file("$directory/far/place=far/1.csv", "3\n");
$nodes[$_]->safe_psql('postgres', "CREATE FOREIGN TABLE own.\"It's\" (i integer, place text OPTIONS (virtual 'path:place'))
	SERVER csv OPTIONS (filename '$directory/" . ('near', 'far')[$_] . "/*/*.csv', share '0', shares '1')") for 0, 1;
query("CREATE FOREIGN TABLE own.\"It's\" (i integer, place text OPTIONS (virtual 'path:place')) SERVER csv OPTIONS (filename '$directory/*/*/*.csv')");
query("SET search_path = \"Their tables\", public; SELECT csv_gpu_distribute('own.\"It''s\"', '\"It''s\"', '{n0,n1}', '{near,far}')");
is(query("SELECT tableoid::regclass, * FROM \"Their tables\".\"It's\" ORDER BY i"),
	"\"Their tables\".\"It's_0\"|1|near\n\"Their tables\".\"It's_0\"|2|near\n\"Their tables\".\"It's_1\"|3|far", 'by a key in the path');
is(query("SELECT count(*) FROM csv_gpu_server_errors('\"Their tables\".\"It''s\"')"), 0, 'errors of odd names');

# ---- what is wrong ----

my @wrong = (
	["'own.items', 'x', '{n0,csv}'", '"csv" is not a server of postgres_fdw'],
	["'own.items', 'x', '{n0,nosuch}'", 'server "nosuch" does not exist'],
	["'own.items', 'x', '{}'", 'there are no servers'],
	["'own.items', 'x', '{n0,n1,n0}'", 'server "n0" is named twice'],
	["'own.items', 'x', NULL", 'source, target and servers of csv_gpu_distribute() must not be null'],
	["'own.items', NULL, '{n0}'", 'source, target and servers of csv_gpu_distribute() must not be null'],
	["'own.items', 'x', '{n0,n1}', '{a}'", 'there are 2 servers, but 1 partition values'],
	["'own.items', 'x', '{n0}', '{a}'", "foreign table own.items has no column virtual 'path:KEY'\nHINT:  Leave out partition_values."],
	["'own.\"It''s\"', 'x', '{n0}'", "foreign table own.\"It's\" has no column virtual 'share'\nHINT:  Add a column with the option virtual 'share', or"],
	["'own.items', '" . 'x' x 62 . "', '{n0}'", 'the name "' . 'x' x 62 . '" leaves no room for the numbers of partitions'],
	["'loaded', 'x', '{n0}'", 'loaded is not a foreign table of csv_gpu_fdw'],
	["'own.\"It''s\"', 'x', '{n0,n1}', '{a,a}'", 'partition "x_1" would overlap partition "x_0"']);

for (@wrong)
{
	my ($arguments, $message) = @$_;

	like(error("SELECT csv_gpu_distribute($arguments)"), qr/^ERROR:  (?:public\.)?\Q$message\E/, $message);
}
is(query("SELECT count(*) FROM pg_class WHERE relname LIKE 'x%'"), 0, 'nothing is left of them');
like(error("SELECT csv_gpu_distribute_citus('own.items', 'x')"), qr/^ERROR:  csv_gpu_distribute_citus\(\) needs the extension citus/, 'no Citus');
query('CREATE TABLE mixed (i integer) PARTITION BY LIST (i); CREATE TABLE empty (i integer) PARTITION BY LIST (i); CREATE TABLE mixed_0 PARTITION OF mixed FOR VALUES IN (0)');
like(error("SELECT csv_gpu_undistribute('$_')"), qr/^ERROR:  \S*$_ is no table that csv_gpu_distribute\(\) has made/, "not ours: $_") for 'mixed', 'empty', 'loaded', 'own.items', 'items_0';
like(error("SELECT * FROM csv_gpu_server_errors('$_')"), qr/^ERROR:  \S*$_ is no table that csv_gpu_distribute\(\) has made/, "nor has it errors: $_") for 'loaded', 'own.items';

# ---- privileges ----

query('CREATE ROLE ann; GRANT CREATE ON SCHEMA public TO ann; GRANT USAGE ON SCHEMA own TO ann');
like(error("SET ROLE ann; SELECT csv_gpu_distribute('own.items', 'anns', '{n0}')"), qr/^ERROR:  permission denied for foreign table items/, 'SELECT is needed');
query('GRANT SELECT ON own.items TO ann');
like(error("SET ROLE ann; SELECT csv_gpu_distribute('own.items', 'anns', '{n0}')"), qr/^ERROR:  permission denied for foreign server n0/, 'and USAGE of each server');
like(error("SET ROLE ann; SELECT csv_gpu_undistribute('items')"), qr/^ERROR:  must be owner of table items/, 'and to own what is dropped');
query('GRANT USAGE ON FOREIGN SERVER n0 TO ann');
is(query("SET ROLE ann; SELECT count(*) FROM csv_gpu_distribute('own.items', 'anns', '{n0}')"), 2, 'then it works');
is(query("SET ROLE ann; SELECT csv_gpu_undistribute('anns')"), 'DROP TABLE public.anns', 'and back');

# ---- and back ----

like(error("SELECT csv_gpu_undistribute('items')"), qr{^ERROR:  cannot drop table public.items because other objects depend on it\nDETAIL:  view public.totals .*\nHINT:  Drop the views of the table first\.$}s, 'a view is not dropped');
query('DROP VIEW totals');
is(query("SELECT csv_gpu_undistribute('$_')"), "DROP TABLE public.$_", "without $_") for 'items', 'sizes', 'slow';
is(query("SELECT count(*) FROM pg_foreign_table t, pg_foreign_server s WHERE s.oid = t.ftserver AND srvname = 'n2'"), 0, 'no partition is left');

done_testing();
