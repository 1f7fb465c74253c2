# A database that is dumped and restored with csv_gpu_fdw.copy: the dump of the copy is
# that of the original, byte for byte.
use lib 'test/t';
use CsvServer;

my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server('dump', session_preload_libraries => 'csv_gpu_fdw');

# How restores set it: 'force' is an ERROR where a COPY is not taken.
my @settings = qw(on force);

# ---- the original ----

# a value for row i; every eleventh is NULL
my @types = (
	[ smallint => '(i % 65536 - 32768)' ],
	[ integer => '(i * 715827) % 2147483647 * (i % 2 * 2 - 1)' ],
	[ bigint => '9223372036854775807 - i' ],
	[ numeric => q{CASE WHEN i % 50 = 0 THEN 'NaN' WHEN i % 51 = 0 THEN '-Infinity' ELSE (i ^ 9)::numeric / 7 END} ],
	[ 'numeric(12,3)' => q{CASE WHEN i % 50 = 0 THEN 'NaN' ELSE i::numeric / 7 END} ],
	[ real => q{CASE WHEN i % 50 = 0 THEN 'Infinity' ELSE i / 3.0 END} ],
	[ 'double precision' => q{CASE i % 50 WHEN 0 THEN 'NaN' WHEN 1 THEN '-Infinity' WHEN 2 THEN '-0' ELSE i * 1e-290 / 3.0 END} ],
	[ money => '(i * 12.34)::numeric::money' ],
	[ 'char(9)' => q{substr(E'\u00e9 bcdefgh', 1, i % 10)} ],
	[ '"char"' => q{chr(33 + i % 90)::"char"} ],
	[ 'varchar(12)' => q{substr('it''s a "word"', 1, i % 13)} ],
	[ name => q{'name' || i} ],
	[ bytea => q{decode(md5(i::text) || '005c0a2c22', 'hex')} ],
	[ boolean => 'i % 3 = 0' ],
	[ date => q{CASE i % 50 WHEN 0 THEN 'infinity' WHEN 1 THEN '0044-03-15 BC' ELSE '1900-01-01'::date + i * 17 END} ],
	[ time => q{time '00:00:00.000001' + i * interval '7.77 s'} ],
	[ timetz => q{timetz '12:34:56.789+05:30'} ],
	[ timestamp => q{CASE WHEN i % 50 = 0 THEN '-infinity' ELSE timestamp '2000-02-29' + i * interval '1 h 0.001 s' END} ],
	[ 'timestamp(2)' => q{timestamp '2000-02-29' + i * interval '0.01 s'} ],
	[ timestamptz => q{timestamptz '1883-11-18 12:00:00+00' + i * interval '9 days 0.000001 s'} ],
	[ interval => q{i * interval '1 mon -3 days 04:05:06.7'} ],
	[ uuid => 'md5(i::text)::uuid' ],
	[ inet => q{'10.0.0.0/8'::inet + i} ],
	[ cidr => q{CASE i % 2 WHEN 0 THEN '2001:db8::/32' ELSE '192.168.0.0/24' END::cidr} ],
	[ macaddr => q{lpad(to_hex(i), 12, '0')::macaddr} ],
	[ 'bit(5)' => 'i::bit(5)' ],
	[ 'bit varying(20)' => q{substr(i::bit(20)::text, 1, i % 21)::varbit} ],
	[ json => q{format('{"a" :%s,  "b":"\\u00e9\\n", "a":null}', i)::json} ],
	[ jsonb => q{jsonb_build_object('k', i, 'text', E'a"b\\\\c\n', 'list', jsonb_build_array(i, NULL, 1.50))} ],
	[ 'integer[]' => q{CASE WHEN i % 5 = 0 THEN '{}' ELSE ARRAY[i, NULL, -i] END} ],
	[ 'text[]' => q{ARRAY['a,b', E'"q"\\\\ \t', '', 'NULL', NULL, '{}', i::text]} ],
	[ 'integer[][]' => q{'[0:1][2:3]={{1,2},{3,4}}'} ],
	[ mood => q{(ARRAY['sad', 'so, so', '"happy"'])[1 + i % 3]::mood} ],
	[ positive => '1 + i % 100' ],
	[ pair => q{ROW(i, E'a"b\\\\,(c)\n')::pair} ],
	[ 'pair[]' => q{ARRAY[ROW(i, NULL)::pair, NULL, ROW(NULL, '')::pair]} ],
	[ int4range => q{CASE WHEN i % 5 = 0 THEN 'empty' ELSE int4range(i, 2 * i + 1, '[]') END} ],
	[ tstzrange => q{tstzrange('2020-01-01+00', NULL)} ],
	[ nummultirange => q{format('{[1,2),(%s,%s.5]}', i + 3, i + 3)::nummultirange} ],
	[ point => 'point(i / 3.0, -i)' ],
	[ box => 'box(point(i, i), point(0, 0))' ],
	[ polygon => q{polygon(box(point(i, 1), point(0, 0)))} ],
	[ path => q{'[(0,0),(1,1),(2,0)]'} ],
	[ circle => 'circle(point(i, 0), 2.5)' ],
	[ tsvector => q{to_tsvector('simple', 'a fat cat sat on mat ' || i)} ],
	[ tsquery => q{'fat & (cat | ''o''''clock'') & !dog'::tsquery} ],
	[ pg_lsn => q{'0/0'::pg_lsn + i} ],
	[ oid => '4294967295 - i' ],
	[ regclass => q{'pg_class'::regclass} ],
	[ '"a ""type"", and more"' => q{i::text || ' \\ '} ]);

push @types, [ xml => q{format('<a b="%s">&lt;\\</a>', i)::xml} ]
  if $node->psql('postgres', q{SELECT '<a/>'::xml}) == 0;

# what COPY's formats write in a way of their own
my @texts = (
	q{''}, q{'\N'}, q{E'\\\\\\\\N'}, q{'NULL'}, q{'\.'}, q{E'a\n\\\\.\nb'}, q{E'\\\\.'}, q{'\\'}, q{E'\t'}, q{E'\ta\t\tb'},
	q{E'\n'}, q{E'a\r\nb\rc\n'}, q{E'\b\f\v\x01\x7f'}, q{'"'}, q{'""'}, q{'a,"b",c'}, q{' a '}, q{E'\u00e9\u20ac\U0001F600'},
	q{E'\\\\x41\\\\101\\\\t'}, q{repeat('long ', 700)}, q{repeat(E'\\\\\t\n', 300)}, q{E'\uFEFFa'});
my $columns = join ', ', map { "c$_ $types[$_][0]" } 0 .. $#types;
my $values = join ', ', map { "CASE WHEN (i + $_) % 11 > 0 THEN ($types[$_][1])::text::$types[$_][0] END" } 0 .. $#types;

$node->safe_psql('postgres', 'CREATE DATABASE original');
$node->safe_psql('original', q{
	CREATE TYPE mood AS ENUM ('sad', 'so, so', '"happy"');
	CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
	CREATE TYPE pair AS (k integer, t text);
	CREATE DOMAIN "a ""type"", and more" AS text COLLATE "C" DEFAULT 'x' CHECK (length(VALUE) < 30);});
$node->safe_psql('original', qq{
	CREATE TABLE typed (k integer PRIMARY KEY, gone text, $columns);
	ALTER TABLE typed DROP gone;
	INSERT INTO typed SELECT i, $values FROM generate_series(1, 2000) i;
	CREATE TABLE texts (id serial PRIMARY KEY, t text, "a ""name""" varchar NOT NULL DEFAULT '');
	INSERT INTO texts (t) SELECT (ARRAY[@{[ join ', ', @texts ]}])[1 + i % @{[ scalar @texts ]}] FROM generate_series(1, 3000) i;
	CREATE TABLE older (PRIMARY KEY (id)) INHERITS (texts);
	INSERT INTO older (t) SELECT NULLIF(repeat(t, 2), '') FROM texts WHERE id < 2000;
	DELETE FROM texts WHERE id % 10 = 0;});
$node->safe_psql('original', q{
	CREATE TABLE measured (day date NOT NULL, k integer, value numeric(8,2), note text) PARTITION BY RANGE (day);
	CREATE TABLE measured_2023 PARTITION OF measured FOR VALUES FROM ('2023-01-01') TO ('2024-01-01');
	CREATE TABLE measured_rest PARTITION OF measured DEFAULT PARTITION BY HASH (k);
	CREATE TABLE measured_0 PARTITION OF measured_rest FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE measured_1 (note text, k integer, day date NOT NULL, value numeric(8,2));
	ALTER TABLE measured_rest ATTACH PARTITION measured_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO measured SELECT date '2022-06-01' + i % 900, i, i / 7.0, repeat(md5(i::text), 2) FROM generate_series(1, 15000) i;
	CREATE INDEX ON measured (k, day);

	CREATE TABLE customers (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text UNIQUE, since date DEFAULT '2020-01-01');
	INSERT INTO customers (name) SELECT 'customer ' || repeat(i::text, 10) FROM generate_series(1, 6000) i;
	CREATE SEQUENCE numbers INCREMENT 7 MINVALUE -100 START 3 CYCLE;
	CREATE TABLE orders (
		id bigint DEFAULT nextval('numbers') PRIMARY KEY,
		customer integer NOT NULL REFERENCES customers ON DELETE CASCADE DEFERRABLE,
		price numeric(10,2) CHECK (price >= 0),
		tax numeric GENERATED ALWAYS AS (price * 0.19) STORED,
		note text COLLATE "C");
	INSERT INTO orders (customer, price, note) SELECT 1 + i % 6000, i / 3.0, NULLIF('note, ' || i, 'note, 7') FROM generate_series(1, 15000) i;
	CREATE INDEX ON orders (lower(note)) WHERE price > 100;
	CREATE INDEX ON orders USING brin (id);
	CREATE INDEX ON orders USING hash (customer);
	CREATE TABLE nothing (k integer, t text);});

# Where rows differ in length, COPY does not keep their order: it goes back to pages that
# have room for one.  So both databases are clustered before they are compared.
my %clustered = (
	(map { $_ => "${_}_pkey" } qw(typed texts older customers orders)),
	(map { $_ => "${_}_k_day_idx" } qw(measured_2023 measured_0 measured_1)));

$node->safe_psql('original', join '', map { "ALTER TABLE $_ CLUSTER ON $clustered{$_};\n" } sort keys %clustered);

# ---- dumps and restores ----

# without the key that is another one each time
sub dump_of
{
	my ($database) = @_;
	my $file = "$directory/$database.sql";

	$node->safe_psql($database, 'CLUSTER');
	$node->command_ok([ 'pg_dump', '-f', $file, '-d', $node->connstr($database) ], "$database is dumped");
	return slurp_file($file) =~ s/^\\(un)?restrict .*\n//mgr;
}

my $original = dump_of('original');

# a new database that commands fill
sub restored
{
	my ($name, $database, $setting, @commands) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	{
		local $ENV{PGOPTIONS} = "-c csv_gpu_fdw.copy=$setting";

		$node->command_ok([ @$_, '-d', $node->connstr($database) ], "$name: $_->[0]") for @commands;
	}
	ok(dump_of($database) eq $original, "$name: the dump of the copy is that of the original")
	  or diag(scalar `diff $directory/original.sql $directory/$database.sql | cut -c 1-300 | head -40`);
	$node->safe_psql('postgres', "DROP DATABASE $database");
	return;
}

my @psql = ('psql', '-Xqv', 'ON_ERROR_STOP=1', '-o', "$directory/out");
my %sections = map { $_ => "$directory/$_.sql" } qw(pre-data post-data);

$node->command_ok([ 'pg_dump', '-Fc', '-f', "$directory/custom", '-d', $node->connstr('original') ], 'a custom dump');
$node->command_ok([ 'pg_dump', '-Fc', '--load-via-partition-root', '-f', "$directory/custom_root", '-d', $node->connstr('original') ], 'one that loads partitioned tables');
$node->command_ok([ 'pg_dump', "--section=$_", '-f', $sections{$_}, '-d', $node->connstr('original') ], "a dump of $_") for sort keys %sections;

restored("$_, psql", "copy_psql_$_", $_, [ @psql, '-f', "$directory/original.sql" ]) for @settings;
restored("$settings[-1], psql in a transaction", 'copy_single', $settings[-1], [ @psql, '--single-transaction', '-f', "$directory/original.sql" ]);
restored("$settings[-1], pg_restore of two jobs", 'copy_jobs', $settings[-1], [ 'pg_restore', '-e', '-j', 2, "$directory/custom" ]);
restored("$settings[-1], pg_restore of partitioned tables", 'copy_root', $settings[-1], [ 'pg_restore', '-e', "$directory/custom_root" ]);

# ---- the files of a dump's directory, as they are ----

$node->command_ok([ 'pg_dump', '-Fd', '-Z0', '-f', "$directory/files", '-d', $node->connstr('original') ], 'a dump in a directory');
$node->safe_psql('original', 'CREATE EXTENSION csv_gpu_fdw; CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw');
my $contents = PostgreSQL::Test::Utils::run_command([ 'pg_restore', '-l', "$directory/files" ]);

while ($contents =~ /^(\d+); \d+ \d+ TABLE DATA public (\w+)/mg)
{
	my ($file, $table) = (literal("$directory/files/$1.dat"), $2);
	my ($definitions, $names) = split /\n/, $node->safe_psql('original', qq{
		SELECT unnest(ARRAY[string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum), string_agg(quote_ident(attname), ', ' ORDER BY attnum)])
		FROM pg_attribute WHERE attrelid = '$table'::regclass AND attnum > 0 AND attgenerated = '' AND NOT attisdropped});

	is($node->safe_psql('original', qq{
		CREATE FOREIGN TABLE dumped ($definitions) SERVER csv OPTIONS (filename $file, format 'text');
		CREATE TEMPORARY TABLE a AS SELECT r::text FROM (SELECT $names FROM ONLY $table) r;
		CREATE TEMPORARY TABLE b AS SELECT r::text FROM (SELECT $names FROM dumped) r;
		SELECT (SELECT count(*) FROM (TABLE a EXCEPT ALL TABLE b) d) + (SELECT count(*) FROM (TABLE b EXCEPT ALL TABLE a) d) +
			(SELECT count(*) FROM csv_gpu_errors('dumped'));
		DROP FOREIGN TABLE dumped}), 0, "$table: its file has its rows");
}
$node->safe_psql('original', 'DROP EXTENSION csv_gpu_fdw CASCADE');

# ---- the same in CSV ----

my @tables = split /\n/, $node->safe_psql('original', q{SELECT oid::regclass FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1});
my $loads = '';

for my $i (0 .. $#tables)
{
	my $file = literal("$directory/$i.csv");

	# in it are line breaks of all kinds, and what was the end of data before PostgreSQL 18
	my $is_odd = $tables[$i] =~ /^(texts|older)$/;
	my $format = $is_odd ? 'text' : 'csv, HEADER match';

	$node->safe_psql('original', "COPY $tables[$i] TO $file (FORMAT $format)" =~ s/ match//r);
	$loads .= 'SET csv_gpu_fdw.copy = ' . ($is_odd ? $settings[-1] : 'force') . ";\n"
	  . ($i % 2 ? '\\copy' : 'COPY') . " $tables[$i] FROM $file (FORMAT $format);\n";
}
write_file("$directory/loads.sql", $loads, $original =~ /^SELECT pg_catalog\.setval.*\n/mg);
restored('CSV', 'copy_csv', 'force', map { [ @psql, '-f', $_ ] } $sections{'pre-data'}, "$directory/loads.sql", $sections{'post-data'});

finish();
