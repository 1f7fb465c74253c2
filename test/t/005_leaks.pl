# Many scans in one session, ended in every way there is, leave nothing behind:
# no memory, no descriptor, no child process.
use lib 'test/t';
use CsvServer;

my $nscans = 150;

my $node = csv_server('leaks');
my $session = new_session($node);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $pid = $session->pid;

write_file("$directory/good.csv", map { "$_,row $_,2000-01-01,{1;2}\n" } 1 .. 5_000);
write_file("$directory/bad.csv", (map { "$_,row $_,2000-01-01,{1}\n" } 1 .. 5_000),
	"x,bad,2000-01-01,{1}\n");
write_file("$directory/quote.csv", (map { "$_,row $_,2000-01-01,{1}\n" } 1 .. 10_000),
	"1,\"no end\n" x 3000);
write_file("$directory/sjis.csv", "1,\x95\x5c\x83\x5c,2000-01-01,{1}\n" x 5000);

write_file("$directory/numbers.csv", map { my $n = $_; join(',', $n, $n % 9 ? "$n.5" : 'NaN', $n % 50 ? $n : '1e300', 'x' x ($n * 7 % 400), "c$n") . "\n" } 1 .. 300);
write_file("$directory/numbers2.csv", "1,NaN,1,,\nbad\n");

$session->value("
	SET client_min_messages = error;
	CREATE DOMAIN numbers AS int[] CHECK (cardinality(VALUE) > 0);
	CREATE FOREIGN TABLE good (n int, t text, d date, a text)
		SERVER csv OPTIONS (filename '$directory/good.csv', chunk_size '25kB');
	CREATE FOREIGN TABLE bad (n int, t text, d date, a numbers)
		SERVER csv OPTIONS (filename '$directory/bad.csv', on_error 'stop');
	CREATE FOREIGN TABLE skipped (n int, t text, d int, a text)
		SERVER csv OPTIONS (filename '$directory/good.csv');
	CREATE FOREIGN TABLE quote (n int, t text, d date, a numbers)
		SERVER csv OPTIONS (filename '$directory/quote.csv', chunk_size '1kB');
	CREATE FOREIGN TABLE sjis (n int, t text, d date, a text)
		SERVER csv OPTIONS (filename '$directory/sjis.csv', encoding 'SJIS');
	CREATE FOREIGN TABLE program (n int)
		SERVER csv OPTIONS (program 'seq 20000');
	CREATE FOREIGN TABLE failing (n int)
		SERVER csv OPTIONS (program 'seq 20000; exit 1');
	CREATE FOREIGN TABLE pattern (n int, t text, d date, a text)
		SERVER csv OPTIONS (filename '$directory/[gs]*.csv');
	CREATE FOREIGN TABLE missing (n int) SERVER csv OPTIONS (filename '$directory/none.csv');

	CREATE FOREIGN TABLE figures (n int, d numeric(8,2), f float8, t text, c char(9), line int OPTIONS (virtual 'line'))
		SERVER csv OPTIONS (filename '$directory/numbers.csv');
	CREATE FOREIGN TABLE files (n int, d numeric(8,2), file text OPTIONS (virtual 'filename'))
		SERVER csv OPTIONS (filename '$directory/numbers*.csv', columns '5', chunk_size '1kB');
	CREATE FOREIGN TABLE commands (n int) SERVER csv OPTIONS (program 'seq 20');

	-- what is in memory contexts while a query runs, of which all of a row is wanted
	CREATE FUNCTION held_in_query(of_row text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS \$\$
	BEGIN
		RETURN (SELECT sum(used_bytes) FROM pg_backend_memory_contexts);
	END \$\$;

	-- run a query many times, in one transaction and with or without an error
	CREATE PROCEDURE run_often(query text, times int) LANGUAGE plpgsql AS \$\$
	BEGIN
		FOR i IN 1 .. times LOOP
			BEGIN
				EXECUTE query;
			EXCEPTION WHEN OTHERS THEN
				NULL;
			END;
		END LOOP;
	END \$\$;");

sub children
{
	return scalar grep { /\) \S+ $pid / } map { eval { slurp_file($_) } // '' } glob('/proc/[0-9]*/stat');
}

# bytes in memory contexts, descriptors, RSS in kB; a context of caches may take
# a larger block at any time
sub held
{
	return ($session->value('SELECT sum(used_bytes) FROM pg_backend_memory_contexts'),
		descriptors($pid), rss_kb($pid));
}

my %queries = (
	'read to the end' => 'SELECT count(d) FROM good',
	'ended early' => 'SELECT * FROM good LIMIT 5',
	'an ERROR in mid-scan' => 'SELECT count(*) FROM bad WHERE n > 0',
	'a value that ends a query' => 'SELECT count(1 / (n - 2500)) FROM good',
	'skipped records' => 'SELECT count(d) FROM skipped',
	'skipped lines after a stray quote' => 'SELECT count(d) FROM quote',
	'values in subtransactions' => 'SELECT count(a) FROM bad',
	'errors as rows' => "SELECT count(raw) FROM csv_gpu_errors('skipped', 2000)",
	'converted text' => 'SELECT count(t) FROM sjis',
	'a program' => 'SELECT count(n) FROM program',
	'a program that is not read to its end' => 'SELECT n FROM program LIMIT 1',
	'a program that fails' => 'SELECT count(n) FROM failing',
	'a pattern' => 'SELECT count(*) FROM pattern',
	'no file' => 'SELECT count(*) FROM missing',
	'plans only' => 'EXPLAIN SELECT * FROM good',
	'a rescan' => 'SELECT count(*) FROM generate_series(1, 5) n, LATERAL (SELECT n FROM good OFFSET 0) g',
	'ANALYZE' => 'ANALYZE good');

# the CPU engine's helpers
sub threads
{
	return scalar(() = glob("/proc/$pid/task/*"));
}

# fill caches: of all queries, and then once more before each
$session->value('CALL run_often(' . literal($_) . ', 2)') for values %queries;

for my $name (sort keys %queries)
{
	my $query = literal($queries{$name});

	$session->value("CALL run_often($query, 10)");
	my ($bytes, $files, $rss) = held();

	$session->value("CALL run_often($query, $nscans)");
	my ($bytes_then, $files_then, $rss_then) = held();

	cmp_ok($bytes_then - $bytes, '<', 200_000, "$name: memory contexts");
	cmp_ok($rss_then - $rss, '<', 3000, "$name: RSS (kB)");
	cmp_ok($files_then, '<=', $files, "$name: descriptors");
	note(sprintf '%s: %+d bytes in contexts, %+d kB RSS', $name, $bytes_then - $bytes, $rss_then - $rss);
}
is(children(), 0, 'no child processes');

# a scan that begins anew, over and over, in one query; x is the outer row's
my %rescans = (
	'filter' => [ 500, 'SELECT n, t, line FROM figures WHERE n = x % 300' ],
	'list' => [ 500, 'SELECT n FROM figures WHERE n = ANY (ARRAY[x, 2, 3]) AND t < x::text' ],
	'no filter' => [ 500, 'SELECT max(n + x) FROM figures WHERE length(t) > 3' ],
	'first rows' => [ 500, 'SELECT n, c, d FROM figures WHERE n <> x ORDER BY t DESC, d LIMIT x % 7' ],
	'groups' => [ 500, 'SELECT n > 150, t FROM figures WHERE n > x % 100 GROUP BY n > 150, t LIMIT 3' ],
	'aggregates' => [ 500, 'SELECT x AS k, count(*), sum(n), avg(f), min(t), max(c), count(DISTINCT t) FROM figures WHERE n > x % 100' ],
	'sums beyond lanes' => [ 500, 'SELECT c, sum(d), avg(d), variance(d), sum(f) FROM figures WHERE n <> x GROUP BY c, f LIMIT 5' ],
	'deviations beyond floats' => [ 500, 'SELECT n, stddev(f), var_pop(d) FROM figures WHERE n <> x GROUP BY n LIMIT 5' ],
	'the same groups again' => [ 500, 'SELECT c, sum(d) FROM figures GROUP BY c ORDER BY c LIMIT 1' ],
	'groups on disk' => [ 60, 'SELECT n, count(*) FROM good WHERE n <> x GROUP BY n, t ORDER BY 1 LIMIT 1' ],
	'groups on disk, left early' => [ 60, 'SELECT n, count(*) FROM good WHERE n <> x GROUP BY n, t LIMIT 1' ],
	'distinct values on disk' => [ 60, 'SELECT count(DISTINCT t), count(DISTINCT n) FROM good WHERE n <> x' ],
	'files' => [ 300, 'SELECT file, sum(d), count(*) FROM files WHERE n <> x GROUP BY file' ],
	'aggregates of files' => [ 300, 'SELECT sum(d), count(*) FROM files WHERE n <> x' ],
	'joins' => [ 60, 'SELECT g.t FROM good g JOIN (SELECT f.n, f.t FROM figures f WHERE f.n <> x OFFSET 0) f ON f.n = g.n AND f.t <> g.t' ],
	'programs' => [ 30, 'SELECT count(*) FROM commands WHERE n <> x' ]);

$session->value("SET work_mem = '64kB'; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off");
for my $name (sort keys %rescans)
{
	my ($times, $query) = @{ $rescans{$name} };
	my $files = descriptors($pid);
	# memory that is lost grows in each fifth of the scans; by chance (groups on disk
	# have more files open than before, say) it grows in some
	my @most = map { "max(bytes) FILTER (WHERE x * 5 / ($times + 1) = $_)" } 0 .. 4;
	my $grown = $session->value('SELECT least(' . join(', ', map { "$most[$_] - $most[$_ - 1]" } 1 .. 4) . ") FROM
		(SELECT x, held_in_query(l::text) AS bytes FROM generate_series(1, $times) x LEFT JOIN LATERAL ($query) l ON true OFFSET 0) o");

	cmp_ok($grown, '<', 30 * $times / 5, "rescans: $name: memory contexts");
	cmp_ok(descriptors($pid), '<=', $files, "rescans: $name: descriptors");
	note("rescans: $name: $grown bytes");
}
$session->value('RESET work_mem; RESET enable_mergejoin; RESET enable_material; RESET enable_memoize');

# scans that share their work with helpers, however they end
$session->value('SET csv_gpu_fdw.engine = cpu; SET csv_gpu_fdw.cpu_threads = 3');
my $threads = threads();
for my $name (sort keys %queries)
{
	$session->value('CALL run_often(' . literal($queries{$name}) . ', 5)');
	is(threads(), $threads, "$name: threads");
}
$session->value('RESET csv_gpu_fdw.engine; RESET csv_gpu_fdw.cpu_threads');

# in one transaction, memory must not grow with the number of scans in it, or
# with that of the rows
my ($bytes) = held();
$session->value('BEGIN; SELECT count(*) FROM bad;');
$session->query('CALL run_often(\'SELECT count(*) FROM bad\', 50);');
$session->query('ROLLBACK');
cmp_ok((held())[0] - $bytes, '<', 200_000, 'after a transaction that failed');

# what an input function keeps from call to call, it makes once
my $domains = PostgreSQL::Test::Utils::tempdir . '/domains.csv';

write_file($domains, map { "$_\n" } 1 .. 100_000);
$session->query("CREATE DOMAIN short AS text CHECK (length(VALUE) < 1000);
	CREATE FOREIGN TABLE domains (a short) SERVER csv OPTIONS (filename '$domains')");
$session->query('BEGIN; DECLARE c CURSOR FOR SELECT a FROM domains; MOVE 99999 FROM c');
cmp_ok($session->value('SELECT count(*) FROM pg_backend_memory_contexts c WHERE '
		# since 18 a path of numbers leads to a context
		  . ($node->pg_version >= 18 ? 'EXISTS (SELECT FROM pg_backend_memory_contexts p
				WHERE p.name = \'csv_gpu_fdw scan\' AND c.level = p.level + 1 AND c.path[p.level] = p.path[p.level])'
			: 'parent = \'csv_gpu_fdw scan\'')),
	'<', 20, 'contexts of a domain');
$session->query('ROLLBACK');

$session->quit;

# what is still open at the end of a query, such as a temporary file
unlike(slurp_file($node->logfile), qr/leak/, 'no leak has been logged');
finish();
