# Many scans in one session, ended in every way there is, leave nothing behind:
# no memory, no descriptor, no child process.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use CsvServer;
use PostgreSQL::Test::Utils;
use Test::More;

my $nscans = 150;

my $node = csv_server('leaks');
my $session = new_session($node);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $pid = $session->pid;

write_file("$directory/good.csv", map { "$_,row $_,2000-01-01,{1;2}\n" } 1 .. 20_000);
write_file("$directory/bad.csv", (map { "$_,row $_,2000-01-01,{1}\n" } 1 .. 20_000),
	"x,bad,2000-01-01,{1}\n");
write_file("$directory/quote.csv", (map { "$_,row $_,2000-01-01,{1}\n" } 1 .. 10_000),
	"1,\"no end\n" x 3000);
write_file("$directory/sjis.csv", "1,\x95\x5c\x83\x5c,2000-01-01,{1}\n" x 5000);

$session->value("
	SET client_min_messages = error;
	CREATE DOMAIN numbers AS int[] CHECK (cardinality(VALUE) > 0);
	CREATE FOREIGN TABLE good (n int, t text, d date, a text)
		SERVER csv OPTIONS (filename '$directory/good.csv', chunk_size '100kB');
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
	'a value that ends a query' => 'SELECT count(1 / (n - 10000)) FROM good',
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

$session->quit;
$node->stop;
done_testing();
