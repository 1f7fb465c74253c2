# Scans that are repeated for other values of their parameters find the rows of a
# plain table, whether these come from memory, from temporary files or from the
# file itself; and say what a scan of the file says of skipped records.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(time);

random_seed();
my $seconds = amount(4);
my $directory = PostgreSQL::Test::Utils::tempdir;
my @engines = engines();
my $node = csv_server('rescans', QUICK_FILES, 'csv_gpu_fdw.resident_memory' => '100MB');
my $session = new_session($node);
my $file = "$directory/f.csv";

# ---- rows ----

sub number { return pick('', '-') . int(rand 12) . pick('', '.0', '.5', '.50', '.25') }

# name, type, a value; some equal each other though they look different
my @columns = (
	[ 'i2', 'smallint', sub { int(rand 9) - 4 } ],
	[ 'i4', 'integer', sub { int rand 300 } ],
	[ 'i8', 'bigint', sub { pick(0, 1, 2, 70000, '9223372036854775807') } ],
	[ 'f4', 'real', sub { pick('0', '-0', 'NaN', '1.5', '2', '-inf') } ],
	[ 'f8', 'double precision', sub { pick('0', '-0', 'NaN', '1.5', '2', '1e300', '0.1') } ],
	[ 'n', 'numeric(15,2)', sub { chance(0.01) ? 'NaN' : number() } ],
	[ 'q', 'numeric', sub { chance(0.02) ? pick('NaN', '1' x 45, '0.12345678901234') : number() } ],
	[ 'd', 'date', sub { sprintf('2001-01-%02d', 1 + int rand 28) } ],
	[ 'ts', 'timestamp', sub { sprintf('2001-01-%02d', 1 + int rand 28) . pick('', ' 12:00:00') } ],
	[ 'u', 'uuid', sub { sprintf('00000000-0000-0000-0000-0000000000%02x', int rand 40) } ],
	[ 't', 'text', sub { pick('a', 'b', 'A', 'ab', 'a ', "\x{c3}\x{a4}", 'x' x 50) } ],
	[ 'v', 'varchar(12)', sub { pick('a', 'b', 'ab', 'a ', 'word') } ],
	[ 'c', 'char(5)', sub { pick('a', 'b', 'ab', 'a  ') } ],
	[ 'c9', 'char(9)', sub { pick('a', 'b', 'ab', 'a  ') } ]);
my $definition = 'i integer, ' . join ', ', map { "$_->[0] $_->[1]" } @columns;

sub record
{
	my ($number, $nulls) = @_;

	return join ',', $number, map { chance($nulls) ? '' : $_->[2]->() } @columns;
}

# what can be equal, of the table f and of the outer table o
my @equalities = (
	map({ "f.$_ = o.$_" } map { $_->[0] } @columns),
	'f.i2 = o.i4', 'f.i4 = o.i8', 'f.i8 = o.i2', 'o.i8 = f.i4', 'f.f8 = o.f4', 'o.f8 = f.f4',
	'f.n = o.q', 'f.q = o.n', 'f.n = o.i4', 'f.d = o.ts', 'f.ts = o.d', 'f.t = o.v', 'o.t = f.v',
	'f.c = o.c9', 'f.c9 = o.c', 'f.c::text = o.t', 'f.t = o.c::text', 'f.f8 = o.i4',
	'f.i4 = (SELECT o.i4)', 'f.i4 = o.i4 + 1', 'f.i4 = o.i2 AND f.t = o.t', 'f.i2 = o.i2 AND f.d = o.d');
my @conditions = (
	'f.i4 > o.i2', 'f.i4 > 100', 'f.n > 0', "f.t LIKE 'a%'", 'f.i2 IN (o.i2, 1)', 'f.i2 IS NOT NULL',
	'(f.i2 = o.i2 OR f.i4 < 50)', 'f.n < (SELECT avg(i) FROM o)', 'f.i % 3 = 0', 'length(f.t) > 1',
	'f.f8 <> o.f8', 'o.i4 > 20', 'f.i4 = ANY (ARRAY[o.i4, 1, 2])');
# which of -0 and 0 is the least is not sure
my @queries = (
	'SELECT o.id, (SELECT count(*) FROM f WHERE %s) FROM o',
	'SELECT o.id, (SELECT count(*) FROM f WHERE %s OFFSET 0) FROM o',
	'SELECT o.id, s.* FROM o, LATERAL (SELECT count(*), count(i2), sum(n), avg(n), min(f8 + 0::float8), max(f8 + 0::float8), max(t COLLATE "C"), sum(i4 + o.i4), count(DISTINCT d) FROM f WHERE %s) s',
	'SELECT o.id, s.* FROM o, LATERAL (SELECT d, n, count(*), max(i) FROM f WHERE %s GROUP BY d, n HAVING count(*) > 1) s',
	'SELECT o.id, s.* FROM o LEFT JOIN LATERAL (SELECT * FROM f WHERE %s OFFSET 0) s ON true',
	'SELECT o.id, f.* FROM o JOIN f ON %s',
	'SELECT o.id, f.i, f.t FROM o LEFT JOIN f ON %s',
	'SELECT o.id FROM o WHERE EXISTS (SELECT FROM f WHERE %s)',
	'SELECT o.id FROM o WHERE NOT EXISTS (SELECT FROM f WHERE %s OFFSET 0)',
	'SELECT o.id, (SELECT i FROM f WHERE %s LIMIT 1) FROM o',
	'SELECT o.id, (SELECT i FROM f WHERE %s LIMIT 1 OFFSET 2) FROM o',
	'SELECT o.id, s.i, s.t FROM o, LATERAL (SELECT i, t FROM f WHERE %s ORDER BY n DESC, i LIMIT 3) s',
	'SELECT o.id FROM o WHERE o.i4 > (SELECT avg(f.n) FROM f WHERE %s)',
	'SELECT o.id FROM o WHERE o.i4 > (SELECT avg(f.n) FROM f WHERE %s OFFSET 0)');

sub make_query
{
	my $where = join ' AND ', pick(@equalities), map { chance(0.5) ? pick(@conditions) : () } 1 .. 2;

	return sprintf(pick(@queries), $where);
}

sub make_tables
{
	my ($schema, $options) = @_;
	my $name = $file;

	if (chance(0.2))
	{
		$name = "$file.gz";
		system_or_bail('gzip', '-fk', $file);
	}
	$session->query(
		"DROP SCHEMA IF EXISTS $schema CASCADE; CREATE SCHEMA $schema;
		CREATE FOREIGN TABLE $schema.f ($definition) SERVER csv OPTIONS (filename '$name'$options);");
	return;
}

# COPY need not put rows into a table in their order
$session->query("CREATE SCHEMA plain; CREATE TABLE plain.rows ($definition);
	CREATE VIEW plain.f AS SELECT * FROM plain.rows ORDER BY i;
	CREATE TABLE o (id integer, $definition)");

sub make_outer
{
	my $path = write_file("$directory/o.csv", map { "$_," . record($_, 0.05) . "\n" } 1 .. pick(1, 2, 3, 10, 50, 300));

	$session->value("TRUNCATE o; COPY o FROM '$path' (FORMAT csv); ANALYZE o;");
	return;
}

my @nowhere = ('enable_hashjoin', 'enable_mergejoin', 'enable_material', 'enable_memoize');

sub settings
{
	return join '', map({ "SET $_ = " . pick('off', 'off', 'on') . ';' } @nowhere),
	  'SET csv_gpu_fdw.engine = ' . pick(@engines) . ';' .
	  'SET csv_gpu_fdw.enable_pushdown = ' . pick('on', 'on', 'on', 'off') . ';';
}

my %memory = (
	ample => 'SET work_mem = 65536; SET hash_mem_multiplier = 2; SET temp_file_limit = -1;',
	# files that are divided into buckets in one step, and in several
	files => 'SET work_mem = 256; SET hash_mem_multiplier = 1; SET temp_file_limit = -1;',
	large => 'SET work_mem = 64; SET hash_mem_multiplier = 1; SET temp_file_limit = -1;',
	none => 'SET work_mem = 64; SET hash_mem_multiplier = 1; SET temp_file_limit = 1000000;');

sub ask
{
	my ($schema, $settings, $query) = @_;
	my ($out, $err) = $session->query("$settings SET search_path = $schema, public; $query");

	return (join("\n", sort split /\n/, $out), $err);
}

# how often rows came from memory or files, and how many chunks were read
sub properties
{
	my ($settings, $query) = @_;
	my ($text) = ask('csv', $settings, "EXPLAIN (ANALYZE, FORMAT JSON) $query");
	my %sum = (memory => 0, disk => 0, chunks => 0);

	$sum{memory} += $_ for $text =~ /"Rescans from Memory": (\d+)/g;
	$sum{disk} += $_ for $text =~ /"Rescans from Disk": (\d+)/g;
	$sum{chunks} += $_ for $text =~ /"Chunks": (\d+)/g;
	return \%sum;
}

# ---- random queries over good files ----

my ($ntried, $nmemory, $ndisk) = (0, 0, 0);
my @wrong;
my $end = time + $seconds * 0.6;

# on a busy machine, on until there was something of each kind
for (my $round = 0; time < $end || (($nmemory == 0 || $ndisk == 0) && $round < 100); $round++)
{
	my $nulls = pick(0, 0.1, 0.5);
	my $nrows = pick(0, 1, 50, 1500, 3000);

	write_file($file, map { record($_, $nulls) . "\n" } 1 .. $nrows);
	make_tables('csv', pick('', ", chunk_size '4096'"));
	make_outer();
	$session->value("TRUNCATE plain.rows; COPY plain.rows FROM '$file' (FORMAT csv); ANALYZE plain.rows;");
	$session->value('SET csv_gpu_fdw.resident = ' . (chance(0.15) ? 'on' : 'off'));
	settle() if chance(0.15);
	for my $n (1 .. 12)
	{
		my $settings = settings() . $memory{ pick(keys %memory) };
		my $query = make_query();
		# over a sorted plain table whose filter has a sub-select, PostgreSQL 15's
		# Memoize finds other rows than a plan without it
		my ($expected) = ask('plain', "$settings SET enable_memoize = off;", $query);
		my ($got, $err) = ask('csv', $settings, $query);

		$ntried++;
		if ($got ne $expected || $err ne '')
		{
			push @wrong, "$settings\n$query\n$err";
			diag("$settings\n$query\n$err\nexpected\n" . substr($expected, 0, 2000) . "\ngot\n" . substr($got, 0, 2000)) if @wrong < 3;
		}
		next if $n > 4;
		my $properties = properties($settings, $query);

		$nmemory += $properties->{memory} > 0;
		$ndisk += $properties->{disk} > 0;
	}
}
is(scalar @wrong, 0, "$ntried random queries find the rows of a plain table");
cmp_ok($nmemory, '>', 0, 'some from memory');
cmp_ok($ndisk, '>', 0, 'some from temporary files');

# ---- what is said of skipped records ----

my $nsaid = 0;
my $ndifferent = 0;

$session->value("SET csv_gpu_fdw.resident = off");
$end = time + $seconds * 0.4;
for (my $round = 0; time < $end || ($nsaid == 0 && $round < 100); $round++)
{
	my $bad = pick(0.0003, 0.002, 0.01);
	my $nrows = 3000;

	write_file($file, map { (chance($bad) ? 'x' : '') . record($_, 0.1) . (chance($bad) ? pick(',', ',x', '"') : '') . "\n" } 1 .. $nrows);
	make_tables('csv', pick('', ", chunk_size '8192'")
		  . pick('', '', ", on_error 'stop'", (", on_error 'set_null'") x 3, ", reject_limit '3'", ", reject_limit '1%'", ", notice_limit '1'", ", log_verbosity 'verbose'"));
	make_outer();
	for (1 .. 8)
	{
		my $settings = settings();
		my $query = make_query();
		my ($expected, $said) = ask('csv', $settings . $memory{none}, $query);
		my ($got, $err) = ask('csv', $settings . $memory{ pick('ample', 'files', 'large') }, $query);

		$nsaid += $said ne '';
		next if $got eq $expected && $err eq $said;
		# plans may differ with the memory there is, and stop elsewhere
		my ($plan) = ask('csv', $settings . $memory{none}, "EXPLAIN (COSTS OFF) $query");
		my @plans = map { (ask('csv', $settings . $memory{$_}, "EXPLAIN (COSTS OFF) $query"))[0] } 'ample', 'files', 'large';
		next if grep { $_ ne $plan } @plans;
		$ndifferent++;
		diag("$settings\n$query\nexpected $said\ngot $err") if $ndifferent < 3;
	}
}
is($ndifferent, 0, 'of skipped records, the same is said as by scans of the file');
cmp_ok($nsaid, '>', 0, "something was said $nsaid times");

# ---- how often the file is read ----

write_file($file, map { ($_ % 500) . ",$_\n" } 1 .. 20000);
$session->value(
	"DROP SCHEMA csv CASCADE; CREATE SCHEMA csv; SET search_path = csv, public;
	CREATE FOREIGN TABLE f (a integer, b integer) SERVER csv OPTIONS (filename '$file', chunk_size '16384')");
my $sums = 'SELECT sum((SELECT sum(b) FROM f WHERE a = k OFFSET 0)) FROM generate_series(1, 300) k';
my $once = properties($memory{ample}, 'SELECT sum(b) FROM f WHERE a = 1');
my $ample = properties($memory{ample}, $sums);
my $files = properties($memory{files}, $sums);
my $none = properties($memory{none}, $sums);

is($ample->{chunks}, 2 * $once->{chunks}, 'the first scan reads the file, and the second');
is($ample->{memory}, 299, 'all others have their rows from memory');
is($files->{chunks}, 2 * $once->{chunks}, 'with too little memory, too');
is($files->{disk}, 299, 'and rows come from a temporary file');
cmp_ok($none->{chunks}, '>=', 300 * $once->{chunks}, 'which has no limit, or is not made');
is($none->{memory} + $none->{disk}, 0, 'then all scans read the file');

# ---- one state of the file ----

foreach my $kept ('ample', 'large')
{
	my ($limit, $states) = (24, '');

	write_file($file, map { ($_ % 500) . ",$_\n" } 1 .. 20000);
	($states) = $session->query(
		"BEGIN; $memory{$kept}
		DECLARE s CURSOR WITH HOLD FOR SELECT k, (SELECT count(*) FROM f WHERE a = k OFFSET 0) FROM generate_series(1, $limit) k;
		FETCH 12 FROM s;
		\\! sed -i 's/^[12][0-9],/5,/' '$file'
		FETCH 4 FROM s;
		SAVEPOINT a; SELECT 1/0; ROLLBACK TO a;
		COMMIT; FETCH ALL FROM s; CLOSE s");
	is($states, join("\n", map { "$_|40" } 1 .. $limit), "$kept: rows are from one state of the file; a cursor lives on");
}

# ---- what is given back ----

my $descriptors = descriptors($session->pid);
$session->value("$memory{files} SELECT count(s) FROM (SELECT (SELECT sum(b) FROM f WHERE a = k OFFSET 0) s FROM generate_series(1, 20) k LIMIT 15) x");
is(descriptors($session->pid), $descriptors, 'temporary files are closed');
$session->query('SET statement_timeout = 200; SELECT count(*) FROM generate_series(1, 100000000) k WHERE EXISTS (SELECT FROM f WHERE a = k OFFSET 0); RESET statement_timeout');
is($session->value('SELECT count(*) FROM f'), 20000, 'a cancel leaves nothing behind');
is(descriptors($session->pid), $descriptors, 'also no temporary file');

finish($session);
