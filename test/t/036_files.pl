# Files of directories as Hive has them, with columns that move and are missing
# from file to file: whatever the query, it finds the rows of a plain table, and reads
# just the files for which its conditions on their paths hold.
use lib 'test/t';
use CsvServer;
use File::Path qw(make_path remove_tree);
use Time::HiRes qw(time);

random_seed();
my $seconds = amount(4);
my $directory = PostgreSQL::Test::Utils::tempdir;
my @engines = engines();
my $node = csv_server(
	'files', QUICK_FILES,
	'csv_gpu_fdw.resident_memory' => '100MB',
	max_worker_processes => 16,
	max_parallel_workers => 12,
	parallel_setup_cost => 0,
	parallel_tuple_cost => 0);
my $session = new_session($node);
my @leaks;

# ---- files ----

# name, type, a value
my @columns = (
	[ 'i', 'integer', sub { 1 + int rand 500 } ],
	[ 'k', 'bigint', sub { pick(1, 2, 2023, 2024, '9223372036854775807') } ],
	[ 'n', 'numeric(8,2)', sub { (int(rand 4000) - 1000) / 4 } ],
	[ 'f8', 'double precision', sub { int(rand 100) / 4 } ],
	[ 't', 'text', sub { pick('a', 'b', 'north', "\xc3\xa4", '"x,y"', 'x' x 40) } ],
	[ 'c', 'char(6)', sub { pick('a', 'b', 'south') } ],
	[ 'd', 'date', sub { sprintf('2024-01-%02d', 1 + int rand 28) } ],
	[ 'e', 'mood', sub { pick('sad', 'ok') } ]);
my @keys = (
	[ 'year', 'integer', sub { pick('', 2020 + int rand 5) } ],
	[ 'region', 'text', sub { pick('', 'north', 'a%2Fb', 'South', "\xc3\xa4", '__HIVE_DEFAULT_PARTITION__') } ],
	[ 'day', 'date', sub { pick('', '2024-01-0' . (1 + int rand 3)) } ]);

sub value_of_key
{
	my ($value) = @_;

	return undef if $value eq '' || $value eq '__HIVE_DEFAULT_PARTITION__';
	return $value =~ s/%(..)/chr hex $1/ger;
}

sub copy_value
{
	my ($value) = @_;

	return '\N' if !defined $value || $value eq '';
	return $value =~ s/^"(.*)"$/$1/r;
}

# new files; returns rows of the plain tables "rows" and "files", as COPY reads them
sub make_files
{
	my ($nfiles, $bad, $most) = @_;
	my (@rows, @files);

	remove_tree("$directory/h");
	make_path("$directory/h");
	for my $number (1 .. $nfiles)
	{
		my @values = map { $_->[2]->() } @keys;
		my @parts = map { $values[$_] eq '' ? "none$_" : "$keys[$_][0]=$values[$_]" } 0 .. $#keys;
		my $path = join '/', "$directory/h", @parts;
		my @place = (map({ copy_value(value_of_key($_)) } @values), "$path/$number.csv");
		my %here = map { $_ => 1 } grep { chance(0.8) } 0 .. $#columns;
		my @order = sort { $a->[1] <=> $b->[1] } map { [ $_, rand ] } keys %here, pick('x', 'x y');
		my $content = join(',', map { $_->[0] =~ /x/ ? $_->[0] : $columns[ $_->[0] ][0] } @order) . "\n";

		for (1 .. (chance(0.1) ? 0 : int rand $most))
		{
			my @record = map { $here{$_} && !chance(0.1) ? $columns[$_][2]->() : '' } 0 .. $#columns;

			$content .= join(',', map { $_->[0] =~ /x/ ? 'y' : $record[ $_->[0] ] } @order);
			if ($bad && chance(0.05))
			{
				$content .= ",more\n";
				next;
			}
			$content .= "\n";
			push @rows, join("\t", map({ copy_value($_) } @record), @place) . "\n";
		}
		$content = '' if chance(0.05) && $content !~ /\n./;
		make_path($path);
		write_file("$path/$number.csv", $content);
		push @files, join("\t", @place) . "\n";
	}
	return (\@rows, \@files);
}

my $names = join ', ', map { "$_->[0] $_->[1]" } @columns, @keys;
my $definition = join ', ', map({ "$_->[0] $_->[1]" } @columns),
  map({ "$_->[0] $_->[1] OPTIONS (virtual 'path:$_->[0]')" } @keys), "file text OPTIONS (virtual 'filename')";
my $of_files = join ', ', map { "$_->[0] $_->[1]" } @keys;

$session->value("CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE SCHEMA plain; CREATE SCHEMA csv;
	CREATE TABLE plain.f ($names, file text); CREATE TABLE files ($of_files, file text);
	CREATE TABLE o (id int, y int, r text, dd date);
	INSERT INTO o SELECT g, 2019 + g % 6, (ARRAY['north', 'South', 'a/b'])[g % 4], date '2024-01-01' + g % 4 FROM generate_series(1, 12) g;
	ANALYZE o;");

sub make_tables
{
	my ($rows, $files) = make_files(pick(1, 3, 12, 30), chance(0.3), pick(3, 60, 400));
	my $options = pick('', ", chunk_size '4096'", ", ragged 'pad'");

	$session->value("DROP FOREIGN TABLE IF EXISTS csv.f;
		CREATE FOREIGN TABLE csv.f ($definition) SERVER csv
		  OPTIONS (filename '$directory/h/*/*/*/*.csv', header 'true', by_name 'true', log_verbosity 'silent'$options);");
	my @paths = (write_file("$directory/rows", @$rows), write_file("$directory/files", @$files));
	$session->value("TRUNCATE plain.f, files; COPY plain.f FROM '$paths[0]'; COPY files FROM '$paths[1]'; ANALYZE plain.f;");
	# surplus fields are no error then
	return $options !~ /pad/ || !grep { /,more$/m } map { slurp_file($_) } glob "$directory/h/*/*/*/*.csv";
}

# ---- queries ----

# on the path alone
my @on_path = (
	'year = 2022', 'year >= 2022', 'year IS NULL', 'year IN (2020, 2024)', 'year BETWEEN 2021 AND 2022', 'year + 1 = 2023',
	"region = 'north'", "region LIKE '%th'", "lower(region) = 'south'", "region = 'a/b'", 'region IS NOT NULL', "region > 'a' COLLATE \"C\"",
	"day = '2024-01-02'", "day < '2024-01-03'::date", "year = 2023 OR region = 'north'", 'NOT (year = 2022)',
	"coalesce(region, 'none') = 'none'", "file LIKE '%1.csv'", "file = 'nowhere'", "file LIKE '%year=2023%' AND year = 2023",
	"date_part('day', day) = year - 2020", 'false AND year = 1', "year::text = '2021'",
	'year = (SELECT max(y) - 1 FROM o)', 'region IN (SELECT r FROM o WHERE id = 1) IS NOT FALSE', 'day > (SELECT min(dd) FROM o)');
# and others
my @on_rows = (
	'i > 100', 'n > 0', "t = 'north'", 'k = year', 't = region', 'd = day', 'f8 IS NULL', "e = 'sad'", 'i % 3 = year % 3',
	"c = 'a'", 'year = 2023 OR i < 50', 'length(t) > 1', "t LIKE 'n%' AND region IS NOT NULL");
# with values of an outer row
my @on_outer = ('year = o.y', 'region = o.r', 'day = o.dd', 'year < o.y', 'o.r = region AND year > o.y', 'year = o.y AND i > o.id', 'year + o.id = 2025',
	'i = o.id * 7 AND day = o.dd', 'year = (SELECT o.y)');

my @queries = (
	'SELECT * FROM f WHERE %s', 'SELECT i, t FROM f WHERE %s', 'SELECT count(*) FROM f WHERE %s',
	'SELECT sum(i), min(n), max(t COLLATE "C"), count(d), avg(n) FROM f WHERE %s', 'SELECT c, d, count(*), sum(n) FROM f WHERE %s GROUP BY c, d',
	'SELECT year, region, count(*), sum(f8) FROM f WHERE %s GROUP BY year, region', 'SELECT file, max(i) FROM f WHERE %s GROUP BY file',
	'SELECT count(DISTINCT t) FROM f WHERE %s', 'SELECT i FROM f WHERE %s ORDER BY i LIMIT 5', 'SELECT e, year FROM f WHERE %s',
	'SELECT count(*) FROM f JOIN o ON o.y = f.year WHERE %s', 'WITH w AS MATERIALIZED (SELECT * FROM f WHERE %s) SELECT count(*), count(e) FROM w');
my @with_outer = (
	'SELECT o.id, (SELECT count(*) FROM f WHERE %s) FROM o', 'SELECT o.id, (SELECT count(*) FROM f WHERE %s OFFSET 0) FROM o',
	'SELECT o.id, f.i, f.t FROM o JOIN f ON %s', 'SELECT o.id, f.year, f.n FROM o LEFT JOIN f ON %s',
	'SELECT o.id FROM o WHERE EXISTS (SELECT FROM f WHERE %s)', 'SELECT o.id, s.* FROM o, LATERAL (SELECT d, count(*), sum(i) FROM f WHERE %s GROUP BY d) s',
	'SELECT o.id, s.* FROM o, LATERAL (SELECT i, year, c FROM f WHERE %s OFFSET 0) s');

sub settings
{
	return join '', map({ "SET $_ = " . pick('off', 'off', 'on') . ';' } 'enable_hashjoin', 'enable_mergejoin', 'enable_material', 'enable_memoize'),
	  'SET csv_gpu_fdw.engine = ' . pick(@engines) . ';' .
	  'SET csv_gpu_fdw.cpu_threads = ' . pick(1, 3) . ';' .
	  'SET csv_gpu_fdw.enable_pushdown = ' . pick('on', 'on', 'off') . ';' .
	  'SET csv_gpu_fdw.resident = ' . pick('off', 'off', 'on') . ';' .
	  'SET max_parallel_workers_per_gather = ' . pick(0, 0, 3) . ';' .
	  'SET min_parallel_table_scan_size = 0;';
}

sub ask
{
	my ($schema, $settings, $query) = @_;
	my ($out, $err) = $session->query("$settings SET search_path = $schema, public; $query");

	return (join("\n", sort split /\n/, $out), $err);
}

# the query, perhaps as one whose number is a parameter
sub as_prepared
{
	my ($query) = @_;

	return $query if !chance(0.3) || $query !~ s/\b(202\d)\b/\$1/;
	my $value = $1;

	return 'SET plan_cache_mode = ' . pick('force_generic_plan', 'force_custom_plan') .
	  "; PREPARE q(int) AS $query; EXECUTE q($value); DEALLOCATE q";
}

my ($ntried, $nleft_out, $nparallel, $nwrong, $nmiscounted) = (0, 0, 0, 0, 0);
my $end = time + $seconds;

for (my $round = 0; time < $end || ($nparallel == 0 && $round < 100); $round++)
{
	next if !make_tables();
	settle() if chance(0.5);
	for (1 .. 15)
	{
		my $settings = settings();
		my $path = join ' AND ', map { pick(@on_path) } 1 .. pick(1, 1, 2);
		my $where = join ' AND ', "($path)", map { '(' . pick(@on_rows) . ')' } 1 .. pick(0, 0, 1, 2);
		my $query = sprintf(pick(@queries), $where);

		$query = sprintf(pick(@with_outer), join ' AND ', pick(@on_outer), chance(0.5) ? "($where)" : ()) if chance(0.3);
		$query =~ s/\bk = year/f.k = f.year/;
		my $sql = as_prepared($query);
		my ($expected) = ask('plain', 'SET max_parallel_workers_per_gather = 0; SET enable_memoize = off;', $sql);
		my ($got, $err) = ask('csv', $settings, $sql);

		$ntried++;
		if ($got ne $expected || $err ne '')
		{
			diag("$settings\n$sql\n$err\nexpected\n" . substr($expected, 0, 2000) . "\ngot\n" . substr($got, 0, 2000)) if ++$nwrong < 3;
		}

		# which files are read
		my $nleft = $session->value("SET search_path = public; SELECT count(*) FROM files WHERE $path");
		my $nfiles = $session->value('SELECT count(*) FROM files');
		my ($plan) = ask('csv', $settings, ($path =~ /SELECT/ ? 'EXPLAIN ANALYZE' : pick('EXPLAIN', 'EXPLAIN ANALYZE')) . " SELECT sum(i) FROM f WHERE $path");

		$nparallel++ if $plan =~ /Parallel Foreign Scan/;
		next if $plan =~ /One-Time Filter|SubPlan/;
		$nleft_out++ if $nleft < $nfiles;
		diag("$path\n$plan\nexpected $nleft of $nfiles") if $plan !~ /Files: $nleft of $nfiles$/m && ++$nmiscounted < 3;
	}
}
is($nwrong, 0, "$ntried queries find what they find in a plain table");
is($nmiscounted, 0, 'files that are left are those whose paths the conditions hold for');
cmp_ok($nleft_out, '>', 0, "$nleft_out times some were left out");
cmp_ok($nparallel, '>', 0, "$nparallel scans were shared by processes");

# ---- files that are left out are not opened ----

remove_tree("$directory/h");
make_path("$directory/h/year=2023", "$directory/h/year=2024");
write_file("$directory/h/year=2023/a.csv", "i\n1\n");
write_file("$directory/h/year=2024/a.csv", "\x1f\x8b is no CSV");
$session->value("SET search_path = public; CREATE FOREIGN TABLE two (i int, year int OPTIONS (virtual 'path:year')) SERVER csv
	OPTIONS (filename '$directory/h/*/*.csv', header 'true')");
is($session->value('SELECT * FROM two WHERE year = 2023'), '1|2023', 'a file that is left out is not opened');
like(($session->query('SELECT * FROM two WHERE year > 2022'))[1], qr/^ERROR/, 'one that is left is');
is($session->value('SET max_parallel_workers_per_gather = 4; SELECT count(*) FROM two WHERE year < 2024'), '1', 'nor by several processes');

# ---- what others see ----

$session->value(q{CREATE ROLE nobody; CREATE ROLE reader; GRANT SELECT ON two TO reader;
	CREATE FUNCTION leak(text) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$BEGIN RAISE NOTICE 'seen: %', $1; RETURN true; END$$;
	CREATE VIEW owners AS SELECT * FROM two; GRANT SELECT ON owners TO nobody;
	CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM two WHERE i > 100; GRANT SELECT ON barrier TO nobody});
for my $explain ('', 'EXPLAIN ')
{
	my ($out, $err) = $session->query("SET ROLE nobody; $explain SELECT * FROM two WHERE leak(year::text); RESET ROLE");

	unlike($err, qr/seen/, "$explain: no rights, nothing is seen");
	like($err, qr/permission denied/, "$explain: but that");
	($out, $err) = $session->query("SET ROLE nobody; $explain SELECT * FROM barrier WHERE leak(year::text); RESET ROLE");
	unlike($err, qr/seen/, "$explain: nor of rows behind a barrier");
	unlike($out, qr/Files/, "$explain: nor how many files there are");
}
like(($session->query('SET ROLE reader; SELECT * FROM two WHERE leak(year::text) AND year = 2023; RESET ROLE'))[1], qr/seen: 2023/, 'with rights, it is');
like($session->value('SET ROLE nobody; EXPLAIN SELECT * FROM owners WHERE year = 2023; RESET ROLE'), qr/Files: 1 of 2/, 'by the rights of a view');

# rows of a partitioned table, and so files, that policies hide: whatever is asked of
# paths, nothing tells of others, not even an ERROR about what no year can be
remove_tree("$directory/h");
for my $part ('year=2023/region=north', 'year=2024/region=north', 'year=2023/region=hidden', 'year=hidden/region=south')
{
	make_path("$directory/h/$part");
	write_file("$directory/h/$part/a.csv", "1\n");
}
$session->value(qq{CREATE TABLE sales (i int, year int, region text, fn text) PARTITION BY LIST (i);
	CREATE FOREIGN TABLE sales_files (i int, year int OPTIONS (virtual 'path:year'), region text OPTIONS (virtual 'path:region'), fn text OPTIONS (virtual 'filename'))
	SERVER csv OPTIONS (filename '$directory/h/*/*/*.csv');
	ALTER TABLE sales ATTACH PARTITION sales_files DEFAULT;
	CREATE TABLE regions (who name, region text); INSERT INTO regions VALUES ('reader', 'north');
	ALTER TABLE sales ENABLE ROW LEVEL SECURITY; GRANT SELECT ON sales, regions TO reader;
	SET my.region = 'north'});
for my $policy ("region = 'north'", "region = current_setting('my.region')", "region = (SELECT region FROM regions WHERE who = current_user)",
	"region IN (SELECT region FROM regions WHERE who = current_user)", "fn LIKE '%north%'", "fn LIKE (SELECT '%' || region || '%' FROM regions)",
	"i = 1 AND region = (SELECT 'north'::text)")
{
	$session->value("CREATE POLICY p ON sales USING ($policy)");
	for my $asked ('leak(fn)', 'leak(region)', 'leak(region || year)', "region = 'hidden'", "region = 'nowhere'", 'year = 2023', 'year > 0 AND leak(fn)', "leak(fn) AND region <> 'north'",
		"fn LIKE '%hidden%'", "i = 1 AND leak(fn)")
	{
		for my $query ("EXPLAIN (COSTS off) SELECT * FROM sales WHERE $asked", "SELECT count(*) FROM sales WHERE $asked",
			"SELECT count(*) FROM (VALUES ('x')) v (x) LEFT JOIN sales ON $asked AND x = 'x'",
			"SELECT count(*) FROM (VALUES (true), (false)) v (x) LEFT JOIN LATERAL (SELECT * FROM sales WHERE x) s ON $asked")
		{
			my ($out, $err) = $session->query("SET ROLE reader; $query; RESET ROLE");

			# where a policy looks at rows, the files have to be read
			push @leaks, "$policy: $query\n$out$err" if $err =~ /hidden|south/ || ($err =~ /ERROR/ && $policy !~ / IN |^i/) ||
				($query =~ /EXPLAIN/ && $asked =~ /^region = / && $out =~ /Files: [01] of/ && $policy !~ /^region = '|current_setting|^fn LIKE '/);
			$session->query('RESET ROLE');
		}
	}
	$session->value('DROP POLICY p ON sales');
}
is(join("\n", @leaks), '', 'nothing of files that policies hide');

finish($session);
