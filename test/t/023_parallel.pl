# 023_parallel.pl: scans that the processes of a parallel query share.
#
# 1. Hostile files are read by one process and by several, 1 to 8 workers, in
#    pieces of every size, and from kept columns: the rows are the same, and so is
#    all that is said of skipped records, to the letter.  A third of
#    them are read by a GPU.
# 2. Plans: what is shared, and what is not.
# 3. Queries of every kind give what they give with one process.
# 4. What goes wrong: files that cannot be read, cancels, workers that die.
use lib 'test/t';
use CsvServer;
use Cwd qw(abs_path);
use File::Basename qw(dirname);

use_gpu();

my $files = amount(90);
my $seed = random_seed();
my $node = csv_server(
	'parallel',
	'csv_gpu_fdw.engine' => 'auto',
	max_worker_processes => 16,
	max_parallel_workers => 12,
	max_connections => 20,
	restart_after_crash => 'on',
	CHEAP_WORKERS,
	'csv_gpu_fdw.resident_memory' => '64MB',
	'csv_gpu_fdw.resident' => 'off',
	'csv_gpu_test.file_age' => 60,
	'csv_gpu_test.small_pieces' => 'on');
my $dir = new_folder();

$node->safe_psql('postgres',
	'CREATE SCHEMA stress; CREATE SERVER stress FOREIGN DATA WRAPPER csv_gpu_fdw');

# ---- hostile files ----

# what psql printed between its marks
sub split_output
{
	my ($text) = @_;
	my %parts;

	while ($text =~ /^== (\S+ \S+)\n(.*?)(?=^==)/gms)
	{
		$parts{$1} = $2;
	}
	return %parts;
}

# of both streams, by the same marks
sub run_psql
{
	my ($sql) = @_;
	my ($out, $err) = ('', '');
	my @psql = (
		'psql', '-XqAt', '-d', $node->connstr('postgres'), '-v', 'SHOW_CONTEXT=never',
		'-v', 'VERBOSITY=verbose', '-f', '-');

	IPC::Run::run(\@psql, '<', \$sql, '>', \$out, '2>', \$err) or die "psql: $err";
	return ({ split_output($out) }, { split_output($err) });
}

my $hostile = abs_path(dirname(__FILE__) . '/../../build/test/hostile');
my ($compared, $shared, $kept, $with_reports, $different) = (0, 0, 0, 0, 0);

for (my $done = 0; $done < $files; $done += 30, $seed++)
{
	my $folder = "$dir/$seed";
	my $sql = `'$hostile' '$folder' $seed 30 parallel`;

	die "hostile: $?" if $? != 0;
	$sql = "SET csv_gpu_fdw.engine = cuda;\n$sql" if $done % 90 == 60;
	my ($rows, $messages) = run_psql($sql);
	foreach my $name (map { /^(\S+) serial$/ ? $1 : () } sort keys %$messages)
	{
		my @serial = map { $_->{"$name serial"} } $rows, $messages;

		# where in psql's input it stood is no matter
		s/^(psql:<stdin>:\d+: |LOCATION: .*\n)//gm foreach $serial[1];
		$compared++;
		$shared++ if ($rows->{"$name plan"} // '') =~ /Parallel Foreign Scan/;
		$kept++ if ($rows->{"$name keptplan"} // '') =~ /Parallel Foreign Scan.*Resident Columns: ([1-9]\d*) of \1$/ms;
		$with_reports++ if $serial[1] ne '';
		foreach my $way (grep { exists $rows->{"$name $_"} } 'parallel', 'keeping', 'kept')
		{
			my @other = map { $_->{"$name $way"} } $rows, $messages;

			s/^(psql:<stdin>:\d+: |LOCATION: .*\n)//gm foreach $other[1];
			next if $serial[0] eq $other[0] && $serial[1] eq $other[1];
			$different++;
			diag("seed $seed, file $name:\nserial:\n$serial[0]$serial[1]$way:\n$other[0]$other[1]")
			  if $different <= 3;
		}
	}
	system('rm', '-rf', $folder) if $different == 0;
}
is($different, 0, "$compared files read the same by one process and by several");
cmp_ok($shared, '>', $compared / 5, "$shared of them were shared");
cmp_ok($kept, '>', $compared / 60, "$kept of them were shared from kept columns");
cmp_ok($with_reports, '>', $compared / 10, "$with_reports of them had something to report");

# the header is longer than the first piece, and a quote that it opens leaves the lines
# behind it to be read alone
write_file("$dir/open.csv", "h,i\nx,5\"y\nz,w\n1,2\"3\"4\n5,6\n7,8\n");
$node->safe_psql('postgres', <<"SQL");
CREATE FOREIGN TABLE open (a text, b text) SERVER csv OPTIONS (filename '$dir/open.csv', header_rows '3',
  quoting 'postgres', multiline 'true', ragged 'skip', chunk_size '8B');
SQL
is($node->safe_psql('postgres', "SET csv_gpu_test.parallel_workers = $_; SET max_parallel_workers_per_gather = $_;"
	  . 'SELECT * FROM open ORDER BY a'), "5,6\n7,8" =~ tr/,/|/r, "an open quote of the header, $_ workers")
  foreach 0, 4;

# ---- plans ----

my @rows = map { join(',', $_, $_ % 7, "text $_", $_ % 50 ? '' : 'x') . "\n" } 1 .. 20000;

write_file("$dir/many.csv", @rows);
write_file("$dir/part$_.csv", @rows[ ($_ - 1) * 5000 .. $_ * 5000 - 1 ]) foreach 1 .. 4;
write_file("$dir/few.csv", map { "$_,name $_\n" } 0 .. 6);
$node->safe_psql('postgres', <<"SQL");
SET client_min_messages = error;
CREATE DOMAIN even AS int CHECK (VALUE % 2 = 0);
CREATE FUNCTION unsafe(int) RETURNS bool LANGUAGE plpgsql PARALLEL UNSAFE AS 'BEGIN RETURN true; END';
CREATE DOMAIN odd AS int CHECK (unsafe(VALUE));
CREATE FOREIGN TABLE many (a int, b int, c text, d text) SERVER csv
  OPTIONS (filename '$dir/many.csv', chunk_size '2kB');
CREATE FOREIGN TABLE parts (a int, b int, c text, d text) SERVER csv
  OPTIONS (filename '$dir/part?.csv', chunk_size '2kB');
CREATE FOREIGN TABLE few (b int, name text) SERVER csv OPTIONS (filename '$dir/few.csv');
CREATE FOREIGN TABLE chatty (a int, b int, c text, d text) SERVER csv
  OPTIONS (filename '$dir/many.csv', log_verbosity 'verbose');
CREATE FOREIGN TABLE program (a int, b int, c text, d text) SERVER csv
  OPTIONS (program 'cat "$dir/many.csv"');
CREATE FOREIGN TABLE evens (a even, b int, c text, d text) SERVER csv OPTIONS (filename '$dir/many.csv');
CREATE FOREIGN TABLE odds (a odd, b int, c text, d text) SERVER csv OPTIONS (filename '$dir/many.csv');
CREATE TABLE ranges (a int, b int, c text, d text) PARTITION BY RANGE (a);
CREATE FOREIGN TABLE range1 PARTITION OF ranges FOR VALUES FROM (1) TO (5001) SERVER csv
  OPTIONS (filename '$dir/part1.csv', chunk_size '2kB');
CREATE FOREIGN TABLE range2 PARTITION OF ranges FOR VALUES FROM (5001) TO (10001) SERVER csv
  OPTIONS (filename '$dir/part2.csv', chunk_size '2kB');
CREATE TABLE plain AS SELECT * FROM many;
ANALYZE plain;
SQL

my $forced = 'SET csv_gpu_test.parallel_workers = 4; SET max_parallel_workers_per_gather = 4;';

# the plan of a query, with workers wherever there may be some
sub plan_of
{
	my ($query, $settings) = @_;

	return $node->safe_psql('postgres', $forced . ($settings // '') . " EXPLAIN (COSTS OFF) $query");
}

like(plan_of('SELECT count(md5(c)) FROM many'), qr/Partial Aggregate.*Parallel Foreign Scan/s, 'partial aggregates');
like(plan_of('SELECT * FROM many ORDER BY c, a'), qr/Gather Merge.*Sort.*Parallel Foreign Scan/s, 'Gather Merge');
like(
	plan_of('SELECT count(*) FROM many JOIN parts USING (a)'),
	qr/Parallel Hash Join.*Parallel Foreign Scan.*Parallel Hash.*Parallel Foreign Scan/s,
	'Parallel Hash Join');
like(
	plan_of('SELECT count(*) FROM many JOIN few USING (b)'),
	qr/Parallel Foreign Scan on many.*Parallel Foreign Scan on few|Parallel Foreign Scan on few.*Parallel Foreign Scan on many/s,
	'a join with a small file');
like(plan_of('SELECT count(md5(c)) FROM ranges'), qr/Parallel Append.*Parallel Foreign Scan/s, 'Parallel Append');
like(plan_of('CREATE TABLE made AS SELECT * FROM many WHERE md5(c) < \'8\''), qr/Gather.*Parallel Foreign Scan/s, 'CREATE TABLE AS');
like(plan_of('SELECT b, count(*) FROM many GROUP BY b'), qr/^Foreign Scan|\n *->  Foreign Scan/, 'groups of the engine are not shared');
unlike(plan_of("SELECT count(md5(a || c)) FROM $_"), qr/Gather|Parallel/, "$_ is not shared")
  foreach qw(chatty program odds);
# before 17, errors of a domain need a subtransaction
my $domain = plan_of('SELECT count(md5(a || c)) FROM evens');

is($domain =~ /Parallel Foreign Scan/ ? 'shared' : 'alone', $node->pg_version >= 17 ? 'shared' : 'alone', 'a domain');
# ---- how many workers ----

# the number of workers for a table of a file of so many MB
sub planned_workers
{
	my ($megabytes, $options, $settings) = @_;
	my @names = map { "$dir/empty$_" } 1 .. ($options =~ /compression/ ? 3 : 1);
	my $query = 'SELECT count(md5(c)) FROM sized';

	foreach my $name (@names)
	{
		write_file($name, '');
		truncate($name, $megabytes * 1024 * 1024 / @names) or die "truncate: $!";
	}
	my $plan = $node->safe_psql('postgres', "BEGIN;
		CREATE FOREIGN TABLE sized (a int, b int, c text) SERVER csv
		  OPTIONS (filename '$dir/empty" . (@names > 1 ? '?' : 1) . "'$options);
		SET LOCAL csv_gpu_fdw.sampled_statistics = off;
		SET LOCAL max_parallel_workers_per_gather = 8; SET LOCAL min_parallel_table_scan_size = '8MB';
		SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0;
		" . ($settings // '') . "; EXPLAIN (COSTS OFF) $query; ROLLBACK");
	unlink(@names);
	return $plan =~ /Workers Planned: (\d+)/ ? $1 : 0;
}

is(planned_workers(7, ''), 0, 'no worker for a file below min_parallel_table_scan_size');
is(planned_workers(9, ''), 1, 'a worker for a file above it');
is(planned_workers(25, ''), 2, 'as many as for a plain table');
is(planned_workers(200, ''), 5, 'more for a larger file');
is(planned_workers(750, ''), 8, 'all workers for a file of 750 MB');
is(planned_workers(750, '', 'SET LOCAL min_parallel_table_scan_size = 0'), 8, 'the settings bound them');
is(planned_workers(750, '', "SET LOCAL min_parallel_table_scan_size = '1GB'"), 0, 'both settings');
is(planned_workers(750, ", compression 'gzip'"), 3, 'no more workers than files that are read as a whole');
is(planned_workers(1, ", parallel_workers '3'"), 3, 'parallel_workers of a small file');
is(planned_workers(750, ", parallel_workers '3'"), 3, 'parallel_workers of a large file');
is(planned_workers(750, ", parallel_workers '9'"), 8, 'parallel_workers above the limit');
is(planned_workers(750, ", parallel_workers '0'"), 0, 'parallel_workers 0');
is(planned_workers(750, ", parallel_workers '4', compression 'gzip'"), 4, 'parallel_workers of compressed files');
unlike(
	$node->safe_psql('postgres', "BEGIN; ALTER FOREIGN TABLE few OPTIONS (parallel_workers '0');
		SET LOCAL max_parallel_workers_per_gather = 8; SET LOCAL min_parallel_table_scan_size = 0;
		SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0;
		EXPLAIN SELECT count(*) FROM many JOIN few USING (b); ROLLBACK"),
	qr/Parallel Foreign Scan on few/,
	'nor in a join');

my $resident = 'SET csv_gpu_fdw.resident = on;';

unlike(plan_of('SELECT count(md5(c)) FROM many', $resident), qr/Gather|Parallel/, 'a file whose columns may be kept is not shared');
like(plan_of('SELECT count(md5(c)) FROM many'), qr/Gather|Parallel/, 'a session may do without');
$node->safe_psql('postgres', "$resident SET client_min_messages = error; SELECT * FROM many; SELECT * FROM parts; SELECT * FROM few");
like(
	plan_of('SELECT count(*) FROM many JOIN parts USING (a)', $resident),
	qr/Parallel Hash Join.*Parallel Foreign Scan.*Resident Columns: 1 of 1.*Parallel Hash.*Parallel Foreign Scan.*Resident Columns: 1 of 1/s,
	'kept columns are shared');
like(
	$node->safe_psql('postgres', "$forced $resident EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(md5(c)) FROM many WHERE b = 1"),
	qr/Parallel Foreign Scan.*Resident Columns: 2 of 2.*Records: 20000\s.*Chunks: 0$/ms,
	'each record of kept columns once');
# a file that grows: two stretches are kept, and what comes behind them is read
my $digest = 'SELECT count(*), sum(a), max(md5(c)) FROM grows';

write_file("$dir/grows.csv", @rows[ 0 .. 17999 ]);
$node->safe_psql('postgres', "CREATE FOREIGN TABLE grows (a int, b int, c text, d text) SERVER csv
	OPTIONS (filename '$dir/grows.csv', chunk_size '2kB', growing 'true')");
foreach my $end (18499, 18999, 19499)
{
	$node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; $resident $digest");
	append_to_file("$dir/grows.csv", join('', @rows[ $end - 499 .. $end ]));
	my $read = $node->safe_psql('postgres', $digest);
	like(plan_of($digest, $resident), qr/Parallel Foreign Scan.*Resident Columns: 2 of 2/s, "up to $end: kept columns are shared");
	is($node->safe_psql('postgres', "$forced $resident SET csv_gpu_test.lost_sets = $_; $digest"), $read,
		"up to $end: and the rest is read, lost $_") foreach 0, 0, 2, 3;
}
unlike(
	$node->safe_psql('postgres', 'RESET min_parallel_table_scan_size; SET min_parallel_table_scan_size = \'8MB\'; EXPLAIN SELECT count(md5(c)) FROM many'),
	qr/Gather|Parallel/,
	'a small file is not shared');
# a path that is safe, but knows nothing of the others, would be run by each worker
unlike(
	plan_of('SELECT count(*) FROM plain p WHERE EXISTS (SELECT 1 FROM many m WHERE m.a = p.a AND m.b < p.b)'),
	qr/Parallel Seq Scan(?:.(?!Parallel Foreign))*->  Foreign Scan/s,
	'no worker has a scan of its own');

$node->safe_psql('postgres', "CREATE FOREIGN TABLE telling (a int, b int, c text, d text) SERVER csv
  OPTIONS (filename '$dir/many.csv', notice_limit '1000000')");
unlike(plan_of('SELECT count(md5(c)) FROM telling'), qr/Gather|Parallel/, 'messages without end are not shared');

# a small chunk_size makes no small pieces, which would cost more than they are worth
like(
	$node->safe_psql('postgres', "$forced SET csv_gpu_test.small_pieces = off; "
		  . 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(md5(c)) FROM many'),
	qr/Parallel Foreign Scan.*Chunks: \d$/ms,
	'pieces are not small');

# ---- queries ----

my @queries = (
	'SELECT count(*), sum(a), max(md5(c)) FROM many',
	'SELECT count(*), sum(a), max(md5(c)) FROM parts',
	'SELECT count(*), sum(a), max(md5(c)) FROM ranges',
	'SELECT * FROM many WHERE a % 1000 = 1 ORDER BY a',
	'SELECT a, c FROM many ORDER BY md5(c) LIMIT 20',
	'SELECT count(*), max(m.a) FROM many m JOIN parts p ON m.a = p.a JOIN few f ON f.b = p.b WHERE f.name <> \'name 3\'',
	'SELECT b, count(*), max(md5(c)) FROM parts GROUP BY b ORDER BY b',
	'SELECT m.b, f.name, count(*) FROM many m LEFT JOIN few f ON m.b = f.b AND f.b > 2 GROUP BY 1, 2 ORDER BY 1',
	'SELECT count(*) FROM many WHERE a NOT IN (SELECT a FROM parts WHERE b = 1)',
	'SELECT count(*) FROM plain p WHERE EXISTS (SELECT FROM many m WHERE m.a = p.a AND m.b = 2)',
	'SELECT a, (SELECT count(*) FROM few f WHERE f.b >= p.b) FROM plain p WHERE a < 20 ORDER BY a',
	'SELECT p.a, s.n FROM (VALUES (1), (2), (3)) p(a), LATERAL (SELECT count(md5(c)) n FROM many m WHERE m.b = p.a) s ORDER BY 1',
	'SELECT count(*) FROM (SELECT a FROM many UNION SELECT a + 10 FROM parts) s',
	'SELECT count(*) FROM (SELECT * FROM many LIMIT 100) s',
	'SELECT count(*) FROM many WHERE a < (SELECT max(b) * 100 FROM few)',
	'WITH m AS MATERIALIZED (SELECT * FROM many WHERE md5(c) < \'8\') SELECT count(*), count(DISTINCT m.a) FROM m, m n WHERE m.a = n.a',
	'SELECT count(a), avg(b) FROM many WHERE d IS NULL');

# the answers, each by itself
sub answers
{
	my ($settings) = @_;

	return split /^==\n/m,
	  $node->safe_psql('postgres', "$settings\n" . join("\n\\echo ==\n", map { "$_;" } @queries));
}

my @alone = answers('SET max_parallel_workers_per_gather = 0;');

foreach my $settings (
	'',
	'SET csv_gpu_fdw.engine = cuda;',
	'SET csv_gpu_fdw.engine = cuda; SET parallel_leader_participation = off;',
	'SET parallel_leader_participation = off;',
	$resident,
	"$resident SET csv_gpu_test.lost_sets = 3;",
	"$resident SET parallel_leader_participation = off;",
	"$resident SET csv_gpu_fdw.engine = cuda;",
	"$resident SET enable_mergejoin = off; SET enable_hashjoin = off;",
	'SET max_parallel_workers = 0;',
	$node->pg_version >= 16 ? 'SET debug_parallel_query = on;' : 'SET force_parallel_mode = on;',
	'SET enable_partitionwise_join = on; SET enable_partitionwise_aggregate = on;',
	'SET enable_hashjoin = off;',
	'SET enable_mergejoin = off; SET enable_hashjoin = off;')
{
	my @shared = answers("$forced $settings");

	is($shared[$_], $alone[$_], "$settings $queries[$_]") foreach 0 .. $#queries;
}
$node->safe_psql('postgres', <<"SQL");
$forced
CREATE TABLE made AS SELECT * FROM many WHERE md5(c) < '8';
CREATE MATERIALIZED VIEW view AS SELECT * FROM parts WHERE md5(c) < '8';
REFRESH MATERIALIZED VIEW view;
SQL
is( $node->safe_psql(
		'postgres',
		q{SELECT count(*) FROM (TABLE made EXCEPT ALL SELECT * FROM plain WHERE md5(c) < '8') s
		UNION ALL SELECT count(*) FROM (TABLE view EXCEPT ALL SELECT * FROM plain WHERE md5(c) < '8') s
		UNION ALL SELECT count(*) - (SELECT count(*) FROM plain WHERE md5(c) < '8') FROM made}),
	"0\n0\n0",
	'CREATE TABLE AS, materialized views');

# a cursor fetches as it goes: nobody shares its scan
is( $node->safe_psql(
		'postgres', "$forced BEGIN; DECLARE c CURSOR FOR SELECT count(md5(c)) FROM many; FETCH ALL FROM c; COMMIT"),
	20000,
	'a cursor');
is( $node->safe_psql(
		'postgres', "$forced PREPARE p (int) AS SELECT count(md5(c)) FROM many WHERE b = \$1; "
		  . 'EXECUTE p(1); EXECUTE p(1); EXECUTE p(1); EXECUTE p(1); EXECUTE p(1); EXECUTE p(1); EXECUTE p(2)'),
	join("\n", (2858) x 6, 2857),
	'a prepared statement');

# without the option "encoding", all processes read the client's encoding
write_file("$dir/accents.csv", map { "$_,\xe4\n" } 1 .. 20000);
$node->safe_psql('postgres', "CREATE FOREIGN TABLE accents (a int, c text) SERVER csv OPTIONS (filename '$dir/accents.csv', chunk_size '2kB')");
foreach my $leader (qw(on off))
{
	is( $node->safe_psql(
			'postgres',
			"$forced SET client_encoding = 'LATIN1'; SET parallel_leader_participation = $leader; "
			  . q{SELECT count(*), min(md5(c)) = md5(U&'\00e4'), max(md5(c)) = md5(U&'\00e4') FROM accents}),
		'20000|t|t',
		"the client's encoding, leader $leader");
}

# all processes' work is told
foreach my $engine (qw(cpu cuda))
{
	my $explained = $node->safe_psql('postgres',
		"$forced SET csv_gpu_fdw.engine = $engine; SET parallel_leader_participation = off; "
		  . 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(md5(c)) FROM many WHERE b = 3');

	like($explained, qr/Workers Launched: [1-4]/, "$engine: workers were launched");
	like($explained, qr/Engine: $engine \(/, 'the engine');
	like($explained, qr/Records: 20000\n/, 'records of all processes');
	like($explained, qr/Rows Removed by Engine Filter: 17143\n/, 'rows that were dropped');
}

# ---- what is said ----

my @bad = @rows;

$bad[$_] = "bad\n" foreach 100, 5000, 5001, 12000, 19999;
# and values, among them
$bad[$_] = "$_,x," . 'long' x 20 . ",\n" foreach 99, 101, 5002, 6000, 11999, 19998;
write_file("$dir/bad.csv", @bad);
$node->safe_psql('postgres', <<"SQL");
CREATE FOREIGN TABLE bad (a int, b int, c text OPTIONS (max_chars '70'), d text) SERVER csv
  OPTIONS (filename '$dir/bad.csv', chunk_size '2kB');
SQL

# what psql prints to standard error
sub messages
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $sql, extra_params => [ '-v', 'SHOW_CONTEXT=never' ]);

	$err =~ s/^psql:<stdin>:\d+: //gm;
	return $err;
}

foreach my $options (
	"", "notice_limit '2'", "on_error 'stop'", "reject_limit '3'", "reject_limit '4'",
	"reject_limit '0.01%'", "reject_limit '1%'", "log_verbosity 'silent'", "on_error 'set_null'",
	"on_error 'set_null', notice_limit '4'", "on_error 'set_null', notice_limit '2', reject_limit '4'",
	"on_error 'set_null', notice_limit '0', reject_limit '5'")
{
	my @names = map { (split / /)[0] } split /, /, $options;
	my $set = $options eq '' ? '' : 'ALTER FOREIGN TABLE bad OPTIONS (' . join(', ', map { "ADD $_" } split /, /, $options) . ');';
	my $reset = $options eq '' ? '' : 'ALTER FOREIGN TABLE bad OPTIONS (' . join(', ', map { "DROP $_" } @names) . ');';

	foreach my $query ('SELECT count(*), max(md5(c || b)) FROM bad', 'SELECT count(*) FROM bad x JOIN parts y ON x.a = y.a')
	{
		$node->safe_psql('postgres', $set) if $set;
		my $alone = messages("SET max_parallel_workers_per_gather = 0; $query");
		my $shared = messages("$forced $query");
		my $without_leader = messages("$forced SET parallel_leader_participation = off; $query");
		my $on_gpu = messages("$forced SET csv_gpu_fdw.engine = cuda; $query");
		$node->safe_psql('postgres', $reset) if $reset;
		is($shared, $alone, "$options: $query");
		is($without_leader, $alone, "$options, without the leader: $query");
		is($on_gpu, $alone, "$options, on the GPU: $query");
	}
}

# scans that are repeated say it once
is( messages("$forced SELECT p.a, s.n FROM (VALUES (1), (2), (3)) p(a), LATERAL (SELECT count(md5(c)) n FROM bad m WHERE m.b = p.a) s"),
	messages("SET max_parallel_workers_per_gather = 0; SELECT count(*) FROM bad WHERE b = 1"),
	'repeated scans');

# ---- what goes wrong ----

# ERRORs of reading come in the order of the files, after what is said before
write_file("$dir/bad$_.csv", "a,b,c,d\n", @bad) foreach 1 .. 4;
$node->safe_psql('postgres', <<"SQL");
CREATE FOREIGN TABLE headers (a int, b int, c text, d text) SERVER csv
  OPTIONS (filename '$dir/bad?.csv', chunk_size '2kB', header 'match', notice_limit '100');
SQL
foreach my $trouble (
	[ 'a header', sub { write_file("$dir/bad3.csv", "a,b,x,d\n", @bad) } ],
	[ 'compression', sub { write_file("$dir/bad3.csv", "\x1f\x8b\x08\x00", @bad) } ],
	[ 'a right', sub { chmod 0000, "$dir/bad3.csv" } ])
{
	my ($name, $make) = @$trouble;

	$make->();
	SKIP:
	{
		skip 'root may read everything', 2 if $name eq 'a right' && $> == 0;
		my $alone = messages('SET max_parallel_workers_per_gather = 0; SELECT count(*), max(md5(c)) FROM headers');

		like($alone, qr/NOTICE.*ERROR/s, "$name: an ERROR in mid-scan");
		is(messages("$forced SELECT count(*), max(md5(c)) FROM headers"), $alone, "$name: the same with workers");
	}
	chmod 0644, "$dir/bad3.csv";
}

# a header that is longer than pieces are
write_file("$dir/header.csv", 'a,b,"', ('x""' x 100, "\n") x 2000, qq{",d\n}, @rows);
$node->safe_psql('postgres', "CREATE FOREIGN TABLE header (a int, b int, c text, d text) SERVER csv
	OPTIONS (filename '$dir/header.csv', header 'true')");
foreach my $pieces ('SET csv_gpu_test.small_pieces = off;', "ALTER FOREIGN TABLE header OPTIONS (ADD chunk_size '1000B');")
{
	is($node->safe_psql('postgres', "$pieces $forced SELECT count(*), sum(a), max(md5(c)) FROM header"),
		$node->safe_psql('postgres', 'SELECT count(*), sum(a), max(md5(c)) FROM plain'),
		"a header longer than pieces: $pieces");
}

# files that have nothing but a footer, or nothing, at the end of a pattern
foreach my $names (['f1', 'f2', 'empty'], ['empty', 'f1'], ['empty'], ['f1', 'foot', 'empty'])
{
	my %content = (f1 => "1,a\n2,b\nfoot,x\n", f2 => "3,c\nfoot,x\n", foot => "foot,x\n", empty => '');
	my $folder = "$dir/footers-" . join '-', @$names;

	mkdir $folder or die $!;
	write_file("$folder/" . $_ . $names->[$_], $content{ $names->[$_] }) foreach 0 .. $#$names;
	$node->safe_psql('postgres', "DROP FOREIGN TABLE IF EXISTS footers;
		CREATE FOREIGN TABLE footers (a int, b text) SERVER csv OPTIONS (filename '$folder/*', footer_rows '1')");
	is($node->safe_psql('postgres', "$forced SET statement_timeout = '60s'; SELECT count(*), sum(a) FROM footers"),
		$node->safe_psql('postgres', 'SET max_parallel_workers_per_gather = 0; SELECT count(*), sum(a) FROM footers'), "footers: @$names");
}

# many NOTICEs before an ERROR: whoever raises it waits for those that the leader says
write_file("$dir/often.csv", map { $_ % 5 ? "$_,1,x,\n" : "bad $_\n" } 1 .. 20000);
foreach my $options ("reject_limit '3500', notice_limit '3500'", "reject_limit '1%', notice_limit '5000'")
{
	$node->safe_psql('postgres', "DROP FOREIGN TABLE IF EXISTS often;
		CREATE FOREIGN TABLE often (a int, b int, c text, d text) SERVER csv
		  OPTIONS (filename '$dir/often.csv', chunk_size '4096', $options)");
	my $query = q{SELECT a FROM often WHERE md5(c) < '8'};
	my $alone = messages("SET max_parallel_workers_per_gather = 0; $query");
	my $different = grep { messages("$forced SET parallel_leader_participation = on; $query") ne $alone } 1 .. 15;

	like($alone, qr/^ERROR:  skipped/m, "$options: an ERROR");
	cmp_ok(scalar(() = $alone =~ /^NOTICE/gm), '>=', 3500, "$options: NOTICEs before it");
	is($different, 0, "$options: the same with workers, and in the same order");
}

# what stands behind a file that cannot be read to its end is not looked at
SKIP:
{
	skip 'no gzip', 6 if !has_program('gzip');
	write_file("$dir/cut1.csv", map { "$_,1,text $_,\n" } 1 .. 100000);
	write_file("$dir/cut2.csv", "1,1,x,\n2\n3\n4,1,x,\n");
	system("gzip -f '$dir/cut1.csv' '$dir/cut2.csv'") == 0 or die;
	truncate "$dir/cut1.csv.gz", (-s "$dir/cut1.csv.gz") - 3 or die;
	foreach my $options ("notice_limit '10'", "reject_limit '1'", "on_error 'stop'")
	{
		$node->safe_psql('postgres', "DROP FOREIGN TABLE IF EXISTS cut;
			CREATE FOREIGN TABLE cut (a int, b int, c text, d text) SERVER csv
			  OPTIONS (filename '$dir/cut?.csv.gz', $options)");
		my $query = q{SELECT count(*) FROM cut WHERE md5(c) < '8'};
		my $alone = messages("SET max_parallel_workers_per_gather = 0; $query");

		like($alone, qr/^ERROR:  could not decompress "[^"]*cut1/, "$options: an ERROR");
		is(messages("$forced $query"), $alone, "$options: nothing is said of the file behind it");
	}
}

# what a query says that asks for the advisory lock 7, and sees a change when it has it
sub changed_meanwhile
{
	my ($query, $change) = @_;
	my $holder = new_session($node);
	my ($out, $err) = ('', '');

	$holder->query('SELECT pg_advisory_lock(7)');
	my $running = IPC::Run::start(
		[ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c',
			"$forced SET statement_timeout = '60s'; $query" ],
		'>', \$out, '2>', \$err);
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'advisory'})
	  or die "the query does not wait: $out$err";
	$change->();
	$holder->query('SELECT pg_advisory_unlock(7)');
	$running->finish;
	$holder->quit;
	return $out . $err;
}

# files that change between repeated scans, which read them anew
sub repeated_scans
{
	my ($change) = @_;

	write_file("$dir/changing.csv", map { "$_,1,x,\n" } 1 .. 1000);
	return changed_meanwhile(
		"SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
		SELECT p.a, s.n, pg_advisory_lock_shared(7) FROM (VALUES (1), (2), (3)) p(a)
		LEFT JOIN (SELECT count(md5(c)) n FROM changing m) s ON p.a < s.n", $change);
}

$node->safe_psql('postgres', "CREATE FOREIGN TABLE changing (a int, b int, c text, d text) SERVER csv OPTIONS (filename '$dir/changing.csv')");
is( repeated_scans(sub { write_file("$dir/changing.csv", map { "1000000$_,1,yyyyyyyyy,\n" } 1 .. 900) }),
	"1|1000|\n2|900|\n3|900|\n",
	'a file that is written anew');
like(
	repeated_scans(
		sub {
			unlink "$dir/changing.csv";
			system('mkfifo', "$dir/changing.csv") == 0 or die;
			chmod 0666, "$dir/changing.csv";
		}),
	qr/ERROR:.*replaced/,
	'a FIFO in its place');
unlink "$dir/changing.csv";

# options of the server that change before there are workers: they have the leader's
write_file("$dir/optioned.csv", map { ($_ % 100 ? $_ : 'x') . ",1,x,\n" } 1 .. 20000);
$node->safe_psql('postgres', "CREATE SERVER changing FOREIGN DATA WRAPPER csv_gpu_fdw;
	CREATE FOREIGN TABLE optioned (a int, b int, c text, d text) SERVER changing OPTIONS (filename '$dir/optioned.csv')");
my %back = (
	"ADD on_error 'stop'" => 'DROP on_error',
	"ADD on_error 'set_null'" => 'DROP on_error',
	"ADD reject_limit '3'" => 'DROP reject_limit',
	"ADD log_verbosity 'silent'" => 'DROP log_verbosity');
foreach my $change (sort keys %back)
{
	my $said = changed_meanwhile(
		'SET parallel_leader_participation = off;
		 SELECT pg_advisory_lock_shared(7)::text UNION ALL SELECT count(md5(c))::text FROM optioned WHERE a > 0',
		sub { $node->safe_psql('postgres', "ALTER SERVER changing OPTIONS ($change)") });

	like($said, qr/^\n19800\n/, "$change: the rows are all there");
	is(() = $said =~ /skipped 200 records/g, 1, "$change: one summary");
	$node->safe_psql('postgres', "ALTER SERVER changing OPTIONS ($back{$change})");
}

# what takes long in a library can be cancelled: frames of zstd that say nothing
SKIP:
{
	skip 'no zstd', 2 if !has_program('zstd');
	foreach my $i (1, 2)
	{
		open my $file, '>:raw', "$dir/skip$i.csv.zst" or die;
		foreach my $frame (0 .. 39)
		{
			sysseek $file, $frame * (8 + 0xfffffff0), 0 or die;
			syswrite $file, pack('VV', 0x184d2a50, 0xfffffff0) or die;
		}
		truncate $file, 40 * (8 + 0xfffffff0) or die;
		close $file;
	}
	$node->safe_psql('postgres', "CREATE FOREIGN TABLE skipping (a int, b int, c text, d text) SERVER csv OPTIONS (filename '$dir/skip?.csv.zst')");
	my $began = Time::HiRes::time();

	like(
		messages("$forced SET statement_timeout = '500ms'; SELECT count(md5(c)) FROM skipping"),
		qr/canceling statement due to statement timeout/,
		'a cancel while there is nothing to read');
	cmp_ok(Time::HiRes::time() - $began, '<', 30, 'soon');
}

# cancels, and workers that die
write_file("$dir/large.csv", map { join(',', $_, $_ % 7, 'x' x 200, '') . "\n" } 1 .. 150000);
$node->safe_psql('postgres', <<"SQL");
CREATE FOREIGN TABLE large (a int, b int, c text, d text) SERVER csv OPTIONS (filename '$dir/large.csv');
SQL
{
	my $looker = new_session($node);
	my $running = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', "$forced SELECT count(*) FROM large WHERE md5(repeat(c || a, 20)) < '0'" ], '>', \my $out, '2>', \my $err);
	my $most = 0;

	# the leader alone would come to a fifth
	while ($most < 0.4 && $running->pumpable)
	{
		my $share = $looker->value('SELECT bytes_processed::float8 / bytes_total FROM pg_stat_progress_copy');

		$most = $share if $share ne '' && $share > $most;
		$running->pump_nb;
		Time::HiRes::usleep(5000);
	}
	$running->finish;
	cmp_ok($most, '>=', 0.4, 'progress is that of all processes');
	$looker->quit;
}
my $slow = "$forced SELECT count(*) FROM large WHERE md5(repeat(c || a, 100)) < '0'";

like(messages("SET statement_timeout = '150ms'; $slow"), qr/canceling statement due to statement timeout/, 'a cancel');
foreach my $signal ('pg_terminate_backend', 'kill -9')
{
	my ($out, $err) = ('', '');
	my $running = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', $slow ], '>', \$out, '2>', \$err);
	my $worker;

	foreach (1 .. 200)
	{
		$worker = $node->safe_psql('postgres',
			q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'parallel worker' LIMIT 1});
		last if $worker;
		Time::HiRes::usleep(10000);
	}
	ok($worker, "$signal: there is a worker");
	if ($signal eq 'kill -9')
	{
		kill 'KILL', $worker;
	}
	else
	{
		$node->safe_psql('postgres', "SELECT pg_terminate_backend($worker)");
	}
	$running->finish;
	like($err, qr/terminating (background worker|connection)|lost connection|server closed/, "$signal: the query ends: $err");
	await_server($node);
	is($node->safe_psql('postgres', "$forced SELECT count(md5(c)) FROM large"), 150000, "$signal: and the next one is right");
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'}), 0, 'no worker is left');

done_testing();
