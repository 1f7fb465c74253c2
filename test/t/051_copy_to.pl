# COPY TO with csv_gpu_fdw.copy writes the bytes that it writes without, and raises the
# same ERRORs: for values of many types, with every option, in several encodings of the
# database and of the output, to files, programs and the frontend.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(time);

random_seed();
my $seconds = amount(4);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server('copy_to', session_preload_libraries => 'csv_gpu_fdw', CHEAP_WORKERS);
my %databases = (
	postgres => [ 'UTF8', 'LATIN1', 'SJIS', 'EUC_JP', 'GB18030', 'BIG5', 'WIN1252', 'SQL_ASCII' ],
	latin => [ 'LATIN1', 'UTF8', 'WIN1252', 'SQL_ASCII' ],
	japan => [ 'EUC_JP', 'UTF8', 'SJIS', 'SHIFT_JIS_2004', 'SQL_ASCII' ],
	ascii => [ 'SQL_ASCII', 'UTF8', 'SJIS', 'LATIN1' ]);
my %encodings = (latin => 'LATIN1', japan => 'EUC_JP', ascii => 'SQL_ASCII');

$node->safe_psql('postgres', "CREATE DATABASE $_ ENCODING $encodings{$_} LOCALE 'C' TEMPLATE template0") foreach sort keys %encodings;

# ---- values, as SQL ----

my @texts = (
	"''", "'a'", "'plain text'", "','", "'\"'", "'a\"b'", "'\"\"'", "E'\\\\'", "E'\\\\.'", "E'a\\\\nb'", "E'line\\nbreak'", "E'cr\\rhere'",
	"E'tab\\there'", "E'\\b\\f\\v'", "E'\\x01\\x1f'", "'NULL'", "E'\\\\N'", "' '", "' padded '", "'0'", "'t'", "'|;:'", "repeat('x', 15)",
	"repeat('x', 16)", "repeat('x', 17)", "repeat('long ', 30)", "repeat('y', 15) || ','", "repeat('y', 16) || '\"'",
	"repeat('z', 31) || E'\\n'", "repeat(md5('1'), 100)", "repeat('q\"', 40)", "'-'", "''''", "'~'", "'e'");
my %high = (
	postgres => [ "U&'\\00e4'", "U&'\\3042\\8868\\30bd'", "repeat(U&'\\8868', 20) || ','", "U&'\\20ac'", "U&'\\00e4\"\\00f6'" ],
	latin => [ "U&'\\00e4'", "repeat(U&'\\00e4', 20)", "U&'\\00e4,\\00f6'" ],
	japan => [ "U&'\\3042\\8868\\30bd'", "repeat(U&'\\8868', 20) || ','" ],
	ascii => [ "E'\\xc3\\xa4'", "E'\\xe4'" ]);
my @numbers = ('0', '1', '-1', '12', '99', '100', '-999', '1000', '9999', '10000', '12345', '2147483647', '-2147483648');
my @decimals = (@numbers, '0.1', '-0.01', '0.00001', '1.50', '12345.6789', '10000.0001', '99999999.99', '-0.5', '1000000000000000000000.000000000000001');
my @dates = ("'2001-02-28'", "'2000-02-29'", "'1999-12-31'", "'0001-01-01'", "'9999-12-31'", "'10000-01-01'", "'0001-12-31 BC'", "'4713-01-01 BC'",
	"'infinity'", "'-infinity'", "'1600-03-01'", "'1900-03-01'", "'1900-02-28'", "'5874897-12-31'");
my @stamps = ("'2001-02-28 12:34:56'", "'2000-02-29 00:00:00.5'", "'1999-12-31 23:59:59.999999'", "'0001-01-01'", "'0001-12-31 BC'", "'infinity'",
	"'-infinity'", "'1883-11-18 12:00:00'", "'2024-07-01 01:02:03.1'", "'10000-01-01'");
my %types = (
	bool => [ 'true', 'false' ],
	int2 => [ @numbers[ 0 .. 10 ] ],
	int4 => \@numbers,
	int8 => [ @numbers, '9223372036854775807', "'-9223372036854775808'" ],
	oid => [ 0, 1, '4294967295' ],
	numeric => [ @decimals, "'NaN'", "'Infinity'", "'-Infinity'", '1e100', '1e-100', "repeat('9', 200)" ],
	'numeric(12,4)' => [ grep { !/\d{10}/ } @decimals ],
	'numeric(30,20)' => [ '0.1', '-123.45678901234567890', '0' ],
	'numeric(5,-2)' => $node->pg_version >= 15 ? [ '1200', '-99900', '0' ] : ['0'],
	float4 => [ @decimals[ 0 .. 12 ], '1.1', "'NaN'", "'inf'", "'-inf'", "'-0'", '1e30', '1e-30' ],
	float8 => [ @decimals, "'NaN'", "'inf'", "'-inf'", "'-0'", '1e300', '1e-300', '0.1' ],
	date => \@dates,
	timestamp => \@stamps,
	'timestamp(0)' => \@stamps,
	timestamptz => \@stamps,
	time => [ "'00:00'", "'12:34:56.789'", "'24:00'" ],
	timetz => [ "'12:34:56+02'", "'00:00-08'" ],
	interval => [ "'1 day'", "'-1 year 3 months 04:05:06.7'", "'0'" ],
	uuid => [ "'00112233-4455-6677-8899-aabbccddeeff'", "'00000000-0000-0000-0000-000000000000'" ],
	json => [ q('{"a": [1, "x"]}'), "'1'", q('"text, \"quoted\""') ],
	jsonb => [ q('{"a": [1, "x"]}'), 'NULL' ],
	bytea => [ q('\x00ff'), q('\x'), "'abc'" ],
	inet => [ "'192.168.0.1/24'", "'::1'" ],
	cidr => ["'10.0.0.0/8'"],
	macaddr => ["'08:00:2b:01:02:03'"],
	money => [ "'12.34'", "'-5'" ],
	'bit(5)' => ["B'10101'"],
	'varbit' => [ "B'1'", "B''" ],
	point => [ "'(1,2.5)'", "'(-0,1e10)'" ],
	box => ["'(1,1),(0,0)'"],
	path => ["'((1,1),(2,2))'"],
	circle => ["'<(0,0),1>'"],
	name => [ "'a name'", "'na,me'" ],
	'"char"' => [ "'x'", "','" ],
	int4range => [ "'[1,5)'", "'empty'" ],
	tsvector => ["'a fat cat'"],
	tsquery => [q('fat & rat')],
	pg_lsn => ["'16/B374D848'"],
	xid => ["'12345'"],
	regclass => [ "'pg_class'", "'pg_type'" ],
	regtype => [ "'int4'", "'timestamptz'" ],
	'int4[]' => [ "'{1,2,NULL}'", "'{}'" ],
	'text[]' => [ q('{a,"b,c","d\"e"}'), q('{NULL,"NULL",""}') ],
	'date[]' => ["'{2001-01-01}'"],
	mood => [ "'glad'", "'not, glad'" ],
	pair => [ q(ROW(1, 'x,y')), q(ROW(NULL, '')) ],
	whole => [ 1, 200 ],
	words => [ "'some words'", "'a,b'" ]);
my @types = sort keys %types;

sub value
{
	my ($database, $type) = @_;

	return 'NULL' if chance(0.15);
	return pick(@{ $types{$type} }) if $types{$type};
	return pick(@texts, @{ $high{$database} });
}

my %widths = (text => 0, varchar => 0, 'varchar(40)' => 40, 'char(20)' => 20, bpchar => 0);

# a table of random columns and rows
sub make_table
{
	my ($database) = @_;
	my @columns = map { chance(0.5) ? pick(keys %widths) : pick(@types) } 1 .. pick(1, 1, 2, 5, 12);
	my @names = map { pick('c', 'a,b', 'q"uote', 'Name', 'x y') . $_ } 1 .. @columns;
	my @quoted = map { '"' . s/"/""/gr . '"' } @names;
	my @rows = map {
		'(' . join(', ', map {
			my $value = value($database, $_);

			$widths{$_} ? "left($value, $widths{$_})::$_" : "($value)::$_"
		} @columns) . ')'
	} 1 .. pick(0, 1, 3, 20);
	my $sql = 'DROP TABLE IF EXISTS t; CREATE TABLE t (' . join(', ', map { "$quoted[$_] $columns[$_]" } 0 .. $#columns) . ');';

	$sql .= 'INSERT INTO t VALUES ' . join(",\n", @rows) . ';' if @rows;
	$sql .= "ALTER TABLE t DROP COLUMN $quoted[0], ADD COLUMN later int DEFAULT 7;" if @columns > 1 && chance(0.1);
	$sql .= "ALTER TABLE t ADD COLUMN made int GENERATED ALWAYS AS (1) STORED;" if chance(0.1);
	return ($sql, @quoted[ 1 .. $#quoted ]);
}

sub options
{
	my ($encodings, @columns) = @_;
	my $csv = chance(0.65);
	my %options = (format => $csv ? 'csv' : 'text');

	$options{delimiter} = pick($csv ? ("','", "';'", "'|'", "E'\\t'", "'0'", "'a'", "'-'", "' '", "':'", "'.'", "E'\\x01'")
		: ("E'\\t'", "','", "'|'", "'~'", "'-'", "':'", "E'\\x02'")) if chance(0.5);
	$options{null} = pick("''", "'NULL'", "'0'", "'t'", "E'\\\\N'", "'NaN'", "'2001-02-28'", "'a'", "'x x'", "' '", "'1'",
		$encodings->[0] eq 'SQL_ASCII' ? "'z'" : "U&'\\00e4'") if chance(0.4);
	$options{header} = pick('true', 'false') if chance(0.4);
	$options{encoding} = "'" . pick(@$encodings) . "'" if chance(0.5);
	if ($csv)
	{
		$options{quote} = pick("'\"'", "''''", "'~'", "'0'", "'x'", "E'\\x02'") if chance(0.3);
		$options{escape} = pick("'\"'", "E'\\\\'", "'e'", "'1'", "'~'") if chance(0.3);
		$options{force_quote} = @columns && chance(0.5) ? '(' . join(', ', grep { chance(0.5) } @columns, $columns[0]) . ')' : '*' if chance(0.3);
	}
	$options{freeze} = 'false' if chance(0.02);
	return '(' . join(', ', map { "$_ $options{$_}" } sort keys %options) . ')';
}

sub source
{
	my (@columns) = @_;

	return pick('t', 't', 't', @columns ? 't (' . join(', ', reverse @columns) . ')' : 't', '(SELECT * FROM t)', '(TABLE t)',
		'(SELECT count(*), max(oid) FROM pg_type WHERE false)', '(VALUES (1, NULL), (2, E\'a\\nb\'))',
		'(SELECT t, t IS NULL FROM t)', '(SELECT FROM t)', '(DELETE FROM u RETURNING *)', '(INSERT INTO u VALUES (5), (6) RETURNING a + 1)',
		'(SELECT 1 / a FROM u)', '(SELECT 1 INTO v)', '(DELETE FROM u)', 'no_table', 'sight', '(SELECT * FROM sight)', '(SELECT g FROM generate_series(1, 3000) g)');
}

sub settings
{
	my ($encodings) = @_;

	return 'SET datestyle = ' . pick("'ISO, MDY'", "'ISO, MDY'", "'SQL, DMY'", "'German'", "'Postgres, MDY'") . ';'
	  . 'SET timezone = ' . pick("'UTC'", "'America/New_York'", "'Asia/Kolkata'", "'Europe/London'", '-3.5') . ';'
	  . 'SET extra_float_digits = ' . pick(1, 1, 0, 3, -5) . ';'
	  . 'SET intervalstyle = ' . pick('postgres', 'iso_8601') . ';'
	  . 'SET bytea_output = ' . pick('hex', 'escape') . ';';
}

my %sessions;
my $all_parallel = 'SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0';

foreach my $database (sort keys %databases)
{
	$node->safe_psql($database, q{
		CREATE TYPE mood AS ENUM ('glad', 'not, glad'); CREATE TYPE pair AS (a int, b text);
		CREATE DOMAIN whole AS int CHECK (VALUE > 0); CREATE DOMAIN words AS varchar(30);
		CREATE TABLE u (a int); CREATE VIEW sight AS SELECT * FROM u;
		CREATE EXTENSION IF NOT EXISTS csv_gpu_fdw});
	$sessions{$database} = new_session($node, database => $database);
	$sessions{$database}->value($all_parallel);
}

# ---- random statements ----

sub contents
{
	my ($path) = @_;

	return -e $path ? slurp_file($path) : 'no file';
}

my ($nstatements, $nerrors, $ndifferent, $until) = (0, 0, 0, time() + $seconds);

while (time() < $until)
{
	my $database = pick(sort keys %databases);
	my $session = $sessions{$database};
	my $encodings = $databases{$database};
	my ($sql, @columns) = make_table($database);

	$session->value("SET client_encoding = '$encodings->[0]'; SET client_min_messages = error; $sql");
	for (1 .. 12)
	{
		my $source = source(@columns);
		my $options = options($encodings, @columns);
		my $client = pick('reset', 'reset', @$encodings);
		my $settings = settings($encodings) . ($client eq 'reset' ? 'RESET client_encoding;' : "SET client_encoding = '$client';");
		my $where = pick('file', 'file', 'program', 'frontend');
		my $nworkers = chance(0.2) ? 2 : 0;
		my @results;

		foreach my $copy ('off', 'force')
		{
			my $path = "$directory/out";
			my $to = $where eq 'file' ? literal($path) : $where eq 'program' ? 'PROGRAM ' . literal("cat > $path") : 'STDOUT';

			unlink $path;
			my ($out, $err) = $session->query("BEGIN; TRUNCATE u; INSERT INTO u VALUES (1), (2); $settings
				SET max_parallel_workers_per_gather = @{[ $copy eq 'off' ? 0 : $nworkers ]};
				SET csv_gpu_fdw.copy = $copy; COPY $source TO $to $options; ROLLBACK");

			$err =~ s/^psql:<stdin>:\d+: |^CONTEXT:  parallel worker\n//gm;
			# the bytes before an ERROR need not be the same
			push @results, $err =~ /ERROR/ ? $err : $out . $err . ($where eq 'frontend' ? '' : contents($path));
		}
		$nstatements++;
		$nerrors++ if $results[0] =~ /ERROR/;
		next if $results[0] eq $results[1];
		$ndifferent++;
		diag("in $database:\n$sql\n$settings\nCOPY $source TO $where $options:\n$results[0]\n--- not\n$results[1]") if $ndifferent <= 2;
	}
}
is($ndifferent, 0, "$nstatements statements write the same bytes, $nerrors of them raise the same ERROR");

# ---- every day, and numbers of every length ----

my $session = $sessions{postgres};

sub same
{
	my ($source, $options, $name) = @_;

	$session->value("SET csv_gpu_fdw.copy = off; COPY $source TO '$directory/a' $options;
		SET csv_gpu_fdw.copy = force; COPY $source TO '$directory/b' $options");
	return ok(slurp_file("$directory/a") eq slurp_file("$directory/b"), $name);
}

$session->value('RESET client_encoding; SET datestyle = ISO; RESET timezone');
same(q{(SELECT d::date, d FROM generate_series(timestamp '0003-12-31 BC', timestamp '0006-01-01', '1 day') d)}, '', 'days near the year 1');
same(q{(SELECT date '0001-01-01' + n FROM generate_series(0, 3700000, 7) n)}, '(FORMAT csv)', 'a day of each week up to the year 10000');
same(q{(SELECT date '1999-12-25' + n FROM generate_series(0, 150000) n)}, '(FORMAT csv)', 'each day of 400 years');
same(q{(SELECT n, n / 100.0, -n * 1e5, n / 7.0, round(n / 1e6, 6), n::numeric ^ 5 FROM generate_series(-20000, 20000) n)}, '(FORMAT csv)', 'numerics');
same(q{(SELECT random() * 10 ^ (n % 300 - 150), (random() * 10 ^ (n % 60 - 30))::float4, n * n * n::int8, n::int2 FROM generate_series(1, 30000) n)} =~ s/random\(\)/(n * 0.618033988749895 - floor(n * 0.618033988749895))/gr,
	'(FORMAT csv)', 'floats and integers');

# ---- several processes ----

$session->value(q{
	CREATE TABLE wide AS SELECT n, md5(n::text) t, repeat('y', n % 300) y, CASE WHEN n % 5000 = 0 THEN repeat(n::text, 1000000) END toasted
	FROM generate_series(1, 30000) n;
	DELETE FROM wide WHERE n % 3000 < 700 OR n BETWEEN 10000 AND 14000;
	CREATE FUNCTION pid(int) RETURNS int LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN pg_backend_pid(); END'});

# the reference is one process's
sub same_in_parallel
{
	my ($source, $options) = @_;

	$session->value("SET max_parallel_workers_per_gather = 0; SET csv_gpu_fdw.copy = off; COPY $source TO '$directory/a' $options;
		SET max_parallel_workers_per_gather = 3; SET csv_gpu_fdw.copy = force; COPY $source TO '$directory/b' $options;
		COPY $source TO PROGRAM 'cat > $directory/c' $options");
	my $rows = $session->value("COPY $source TO STDOUT $options");

	ok(slurp_file("$directory/a") eq slurp_file("$directory/b"), "$source $options: a file");
	ok(slurp_file("$directory/a") eq slurp_file("$directory/c"), 'a program');
	return ok(slurp_file("$directory/a") eq "$rows\n", 'the frontend');
}

same_in_parallel(@$_) for ['wide', '(FORMAT csv, HEADER, FORCE_QUOTE (t))'], ['wide (t, n)', ''], ['(SELECT n + 1, t FROM wide WHERE n % 7 = 0)', '(FORMAT csv)'],
  ['(SELECT t FROM wide WHERE n % 1500 = 1000)', ''], ['(SELECT n, t FROM wide ORDER BY t)', '(FORMAT csv)'], ['(SELECT t FROM wide ORDER BY -n)', ''],
  ['(SELECT n FROM wide WHERE n < 0)', '(HEADER)'], ['(SELECT count(*) FROM wide)', ''];

# pieces as long as a parcel, and longer
$session->value(q{CREATE TABLE long AS SELECT n, repeat(n || ' ', CASE n % 70 WHEN 0 THEN 700000 WHEN 1 THEN 150000 ELSE 3000 + n END) t FROM generate_series(1, 700) n;
	VACUUM ANALYZE long; SET min_parallel_table_scan_size = 0});
same_in_parallel(@$_) for ['long', ''], ['(SELECT t, n FROM long ORDER BY n % 13, n)', '(FORMAT csv)'];
$session->value('RESET min_parallel_table_scan_size');

# a scan begins where another scan has left the table
$session->value('CREATE TABLE synchronized AS SELECT n, repeat(md5(n::text), 20) FROM generate_series(1, 60000) n; SET max_parallel_workers_per_gather = 0;
	SELECT count(*) FROM (SELECT FROM synchronized LIMIT 30000) AS part');
same_in_parallel(@$_) for ['synchronized', ''], ['(SELECT n FROM synchronized WHERE n % 100 = 5)', ''];
unlike(slurp_file("$directory/a"), qr/^5\n/, 'it begins there');

# the plan in one process has the order of an index
$session->value('CREATE TABLE indexed AS SELECT n + n * 79 % 50 AS n FROM generate_series(1, 100000) n; CREATE INDEX ON indexed (n); VACUUM ANALYZE indexed;
	SET parallel_tuple_cost = 0.1; SET enable_indexonlyscan = off');
same_in_parallel('(SELECT * FROM indexed WHERE n < 40000)', '');
$session->value('RESET parallel_tuple_cost; RESET enable_indexonlyscan');

for my $source ('(SELECT pid(n) FROM wide)', '(SELECT pid(n) FROM wide ORDER BY n)', '(SELECT pid(a.n) FROM wide a JOIN wide b ON b.n = a.n + 1)')
{
	$session->value("SET parallel_leader_participation = off; SET parallel_tuple_cost = 0; COPY $source TO '$directory/a'; RESET parallel_leader_participation");
	unlike(slurp_file("$directory/a"), qr/^@{[ $session->pid ]}$/m, "workers make the rows: $source");
}
like(($session->query("COPY (SELECT 1 / (n - 20000) FROM wide) TO '$directory/a'"))[1], qr/division by zero/, 'an ERROR of a worker');
is($session->value('SELECT count(*) FROM pg_stat_progress_copy'), '0', 'which is over');
$session->value('RESET parallel_tuple_cost; RESET max_parallel_workers_per_gather');

# ---- who writes ----

$session->value('CREATE TABLE many AS SELECT n, md5(n::text) t FROM generate_series(1, 50000) n; CREATE TABLE few AS SELECT 1 n');
$session->value("SET client_min_messages = debug1; SET csv_gpu_fdw.copy = on");
my $not_taken = qr/COPY TO was not taken by csv_gpu_fdw: (.*)/;

sub reason
{
	my ($statement) = @_;
	my (undef, $err) = $session->query($statement);

	return $err =~ $not_taken ? $1 : $err =~ /ERROR/ ? $err : 'taken';
}

is(reason("COPY many TO '$directory/a'"), 'taken', 'a table');
is(reason("COPY few TO '$directory/a'"), 'it is short', 'a short table');
is(reason("COPY (SELECT * FROM few) TO '$directory/a'"), 'taken', 'a query');
is(reason("COPY many TO '$directory/a' (FORMAT binary)"), 'the format is neither csv nor text', 'binary');
$session->value('CREATE TABLE parted (a int) PARTITION BY LIST (a); CREATE ROLE reader; GRANT SELECT ON many TO reader;
	CREATE TABLE hidden AS SELECT * FROM many; ALTER TABLE hidden ENABLE ROW LEVEL SECURITY; GRANT SELECT ON hidden TO reader;
	GRANT pg_write_server_files TO reader; CREATE ROLE other; GRANT SELECT (n) ON many TO other');
like(reason('COPY parted TO STDOUT'), qr/cannot copy from partitioned table/, 'a partitioned table');
is(reason("SET ROLE reader; COPY many TO '$directory/c'"), 'taken', 'by a role that may read it');
is(reason("COPY hidden TO '$directory/c'"), 'row-level security is enabled for the table', 'row security');
is(slurp_file("$directory/c"), '', 'which hides all rows');
like(reason("SET ROLE other; COPY many TO '$directory/d'"), qr/privileges of the pg_write_server_files role|permission denied to COPY to a file/, 'by a role that may not write files');
like(reason('COPY many TO STDOUT'), qr/permission denied for table many/, 'by a role that may not read it');
is(reason('COPY many (n) TO STDOUT'), 'taken', 'except some columns');
ok(!-e "$directory/d", 'there is no file');
$session->value('RESET ROLE; RESET client_min_messages');

# its command tag, and the mode of the file
my ($out) = run_command([ 'psql', '-XAt', '-d', $node->connstr('postgres'), '-c', 'SET csv_gpu_fdw.copy = force', '-c', "COPY many TO '$directory/e'" ]);

is($out, "SET\nCOPY 50000", 'the command tag');
is(sprintf('%o', (stat("$directory/e"))[2] & 0777), '644', 'the mode of the file');

# ---- what goes wrong ----

$session->value("SET csv_gpu_fdw.copy = force");
sub error { return ($session->query($_[0]))[1] }

like(error("COPY many TO PROGRAM 'exit 3'"), qr/ERROR:  program "exit 3" failed\nDETAIL:  child process exited with exit code 3/, 'a program that fails');
like(error("COPY many TO PROGRAM 'head -c 10 >/dev/null'"), qr/ERROR:  could not write to COPY program: Broken pipe/, 'a program that reads no more');
like(error("COPY many TO PROGRAM 'head -c 10 >/dev/null; exit 2'"), qr/ERROR:  program .* failed\n.*exit code 2/, 'and fails');
like(error("COPY many TO '/dev/full'"), qr/ERROR:  could not write to COPY file: No space left on device/, 'a full disk');
like(error("COPY few TO '/dev/full'"), qr/ERROR:  could not (close file "\/dev\/full"|write to COPY file): No space left on device/, 'a full disk, at the end');
like(error("SET statement_timeout = 100; COPY (SELECT pg_sleep(0.01) FROM generate_series(1, 100000)) TO '$directory/f'"), qr/statement timeout/, 'a timeout');
like(error("RESET statement_timeout; SELECT count(*) FROM pg_stat_progress_copy"), qr/^$/, 'which is over');
is($session->value('SELECT count(*) FROM pg_stat_progress_copy'), '0', 'no progress is left');

my $watched = new_session($node);

$watched->send("SET csv_gpu_fdw.copy = force; COPY (SELECT repeat('x', 10000), pg_sleep(0.001) FROM generate_series(1, 100000) n) TO PROGRAM 'cat >/dev/null'");
ok($node->poll_query_until('postgres', "SELECT tuples_processed > 20 AND bytes_processed > 200000 AND command = 'COPY TO' AND type = 'PROGRAM' FROM pg_stat_progress_copy"),
	'its progress');
$node->safe_psql('postgres', 'SELECT pg_cancel_backend(' . $watched->pid . ')');
like(($watched->await)[1], qr/canceling statement/, 'a cancel');
$watched->quit;

# a frontend that goes away
my $psql = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SET csv_gpu_fdw.copy = force',
	'-c', 'COPY (SELECT repeat(md5(n::text), 100) FROM generate_series(1, 10000000) n) TO STDOUT' ], '>', '/dev/null', '2>', \my $ignored);

ok($node->poll_query_until('postgres', 'SELECT bytes_processed > 100000 FROM pg_stat_progress_copy'), 'a frontend reads');
$psql->kill_kill;
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_progress_copy'), 'and is gone');

# ---- a schema that is renamed while COPY begins ----

# Two schemas take turns with the name "swap".  One has a table, with many columns, so that a
# query of it takes some time to parse, and the other a view, whose function planning calls.
my @columns = map { 'c' . $_ . 'y' x 50 } 0 .. 1400;
my $renames = 'ALTER SCHEMA swap RENAME TO away; ALTER SCHEMA swop RENAME TO swap; ALTER SCHEMA away RENAME TO swop; COMMIT;';
my $renamer = new_session($node);
my %told;

$session->value('CREATE SCHEMA swap; CREATE SCHEMA swop; CREATE TABLE swap.t (' . join(', ', map { "$_ bool" } @columns) . "); INSERT INTO swap.t VALUES (true);
	CREATE FUNCTION called() RETURNS bool IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RAISE ''a view is planned''; END';
	CREATE VIEW swop.t AS SELECT called() AS " . join(', ', map { "$_" } $columns[0], map { "true AS $_" } @columns[ 1 .. $#columns ]));
$renamer->send("DO 'BEGIN LOOP $renames PERFORM pg_sleep(0.004 * random()); END LOOP; END'");
$session->query('SET csv_gpu_fdw.copy = force; SET client_min_messages = error');
for (my $stop = time + 5; time < $stop;)
{
	$told{ ($session->query("COPY swap.t TO '$directory/f'"))[1] =~ s/\n.*//sr }++;
}
note("$told{$_} times: $_") for sort keys %told;
ok($told{''} && $told{'ERROR:  cannot copy from view "t"'}, 'COPY finds the table, or the view');
ok(!$told{'ERROR:  a view is planned'}, 'and takes no view for a table');
$node->safe_psql('postgres', 'SELECT pg_cancel_backend(' . $renamer->pid . ')');
$renamer->await;
$renamer->quit;

finish(values %sessions);
