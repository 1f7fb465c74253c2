# Joins of foreign tables find the rows of plain tables, with filters of the joins'
# keys: hash joins of every kind, in memory and beyond it, in one process and in
# several, once and repeated; with resident columns and without.
use lib 'test/t';
use CsvServer;
use JSON::PP;
use Time::HiRes qw(time);

random_seed();
my $seconds = amount(5);
my $directory = PostgreSQL::Test::Utils::tempdir;
my @engines = engines();
my $node = csv_server(
	'joins', QUICK_FILES, CHEAP_WORKERS,
	'csv_gpu_fdw.resident_memory' => '100MB',
	'csv_gpu_test.small_pieces' => 'on',
	max_worker_processes => 16);
my $session = new_session($node);

# ---- tables ----

# name, type, a value
my @columns = (
	[ 'k', 'integer', sub { int rand 200 } ],
	[ 's', 'smallint', sub { int(rand 300) - 100 } ],
	[ 'l', 'bigint', sub { chance(0.1) ? pick('-9223372036854775808', '4294967296', '-1') : int rand 250 } ],
	[ 'd', 'date', sub { sprintf('2001-%02d-%02d', 1 + int rand 12, 1 + int rand 28) } ],
	[ 'ts', 'timestamp', sub { sprintf('2001-01-%02d', 1 + int rand 28) . pick('', ' 12:00:00') } ],
	[ 'tz', 'timestamptz', sub { sprintf('2001-01-%02d 00:00:00', 1 + int rand 28) . pick('+00', '+02') } ],
	[ 'u', 'uuid', sub { sprintf('00000000-0000-0000-0000-000000000%03x', int rand 200) } ],
	[ 't', 'text', sub { pick('a', 'b', 'A', 'ab', 'a ', "\x{c3}\x{a4}", 'x' x 300) . int rand 30 } ],
	[ 'v', 'varchar(12)', sub { pick('a', 'b', 'ab', 'a ') . int rand 30 } ],
	[ 'n', 'numeric(8,2)', sub { int(rand 100) . pick('', '.5') } ],
	[ 'c', 'char(4)', sub { pick('a', 'b', 'ab') . int rand 30 } ]);
my $definition = join ', ', 'id integer', map { "$_->[0] $_->[1]" } @columns;
my @pairs = (
	(map { [ $_->[0], $_->[0] ] } @columns),
	[ 'k', 's' ], [ 's', 'l' ], [ 'l', 'k' ], [ 't', 'v' ], [ 'v', 't' ], [ 'd', 'ts' ], [ 'n', 'k' ]);
my @tables = qw(a b c p);

sub records
{
	my ($nrows, $nulls) = @_;
	my @records = map {
		join(',', $_, map { chance($nulls) ? '' : $_->[2]->() } @columns) . "\n"
	} 1 .. $nrows;

	# records that every query skips
	splice @records, rand @records, 0, "bad\n" if chance(0.3);
	return @records;
}

sub make_tables
{
	my $options = sub { "OPTIONS (log_verbosity 'silent', chunk_size '" . pick('1kB', '4kB', '1MB') . "', filename '$_[0]')" };
	my @keys = map { "id, $_->[0]" } @columns;

	$session->query('DROP SCHEMA IF EXISTS files, plain CASCADE; CREATE SCHEMA files; CREATE SCHEMA plain');
	foreach my $table (@tables)
	{
		write_file("$directory/$table.csv", records(pick(1, 30, 400, 1500), pick(0, 0.1)));
		write_file("$directory/$table.2.csv", records(pick(1, 30, 400), pick(0, 0.1)));
	}
	$session->value("CREATE FOREIGN TABLE files.$_ ($definition) SERVER csv " . $options->("$directory/$_.csv"))
	  foreach @tables[ 0 .. 2 ];
	$session->value("CREATE TABLE files.p ($definition) PARTITION BY RANGE (id);
		CREATE FOREIGN TABLE files.p1 PARTITION OF files.p FOR VALUES FROM (0) TO (10000) SERVER csv " . $options->("$directory/p.csv") . ';'
		  . "CREATE FOREIGN TABLE files.p2 PARTITION OF files.p DEFAULT SERVER csv " . $options->("$directory/p.2.csv"));
	$session->value("CREATE TABLE plain.$_ AS SELECT * FROM files.$_") foreach @tables;
	$session->value('ANALYZE') if chance(0.7);
	return;
}

# ---- queries ----

sub equality
{
	my ($left, $right) = @_;
	my $pair = pick(@pairs);

	return "$left.$pair->[0] = $right.$pair->[1]";
}

sub equalities
{
	my ($left, $right) = @_;

	return join ' AND ', map { equality($left, $right) } 1 .. pick(1, 1, 2);
}

sub condition
{
	my ($table) = @_;

	return pick("$table.k < 20", "$table.id < 100", "$table.t LIKE 'a%'", "$table.n > 30", "$table.l IS NOT NULL",
		"length($table.t) > 3", "$table.d < '2001-03-01'", "$table.k % 3 = 0", 'true');
}

# a table that stands in the query as %s: a foreign table, or the plain table
sub table { return '%s.' . pick(@tables) }

sub subquery
{
	my $table = table();

	return pick(
		$table, $table, $table, $table,
		"(SELECT * FROM $table a WHERE " . condition('a') . ' OFFSET 0)',
		"(SELECT * FROM $table UNION ALL SELECT * FROM " . table() . ')',
		"(SELECT * FROM $table ORDER BY id LIMIT 50)");
}

# a correlated aggregate, whose groups may be joined
sub aggregate
{
	my ($outer) = @_;

	return '(SELECT ' . pick('count(*)', 'count(e.t)', 'sum(e.n)', '0.5 * avg(e.k)', 'max(e.l)', 'sum(e.n * e.k) - min(e.id)',
		'count(DISTINCT e.k)', 'sum(e.s) FILTER (WHERE e.k < 50)', 'sum(e.n) / 3', "coalesce(sum(e.k), 0) + $outer.id",
		'sum(e.k) / (count(*) + 1)')
	  . ' FROM ' . table() . ' e WHERE ' . equalities('e', $outer) . ' AND ' . condition('e') . ')';
}

sub make_query
{
	my @kinds = ('JOIN', 'JOIN', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN');
	my $from = subquery() . ' x ' . pick(@kinds) . ' ' . subquery() . ' y ON ' . equalities('x', 'y');
	my $where = 'WHERE ' . condition('x') . ' AND ' . condition('y');

	$from .= ' ' . pick(@kinds) . ' ' . subquery() . ' z ON ' . equalities(pick('x', 'y'), 'z') if chance(0.4);
	$where .= pick(' AND ', ' AND NOT ') . 'EXISTS (SELECT FROM ' . table() . ' e WHERE ' . equalities('e', pick('x', 'y'))
	  . ' AND ' . condition('e') . ')'
	  if chance(0.3);
	$where .= ' AND ' . pick('x.n', 'y.k', '7') . pick(' < ', ' >= ', ' = ') . aggregate(pick('x', 'y')) if chance(0.2);
	return pick(
		"SELECT x.*, y.id FROM $from $where",
		'SELECT x.id, ' . aggregate('x') . ', ' . aggregate('y') . " FROM $from $where AND x.id < 30",
		"SELECT x.id, y.t FROM $from $where",
		"SELECT y.k, count(*), sum(x.id) FROM $from $where GROUP BY y.k",
		"SELECT count(*), count(x.t), count(y.u) FROM $from $where",
		"SELECT x.id FROM $from $where ORDER BY 1 LIMIT 10",
		# joins that are repeated, also with another hash table
		'SELECT o.id, (SELECT count(*) FROM ' . table() . ' x JOIN ' . table() . ' y ON ' . equalities('x', 'y')
		  . ' WHERE ' . pick('x', 'y') . '.id < o.id) FROM ' . table() . ' o WHERE o.id < 12',
		'SELECT o.id, q.* FROM ' . table() . ' o, LATERAL (SELECT x.id, y.k FROM ' . table() . ' x JOIN ' . table()
		  . ' y ON ' . equalities('x', 'y') . ' WHERE ' . condition('x') . ' AND ' . pick('x', 'y')
		  . '.k = o.k OFFSET 0) q WHERE o.id < 12',
		'SELECT x.id FROM ' . table() . ' x WHERE ' . pick('x.k', 'x.l', 'x.s') . pick(' IN ', ' NOT IN ')
		  . '(SELECT y.k FROM ' . table() . ' y WHERE y.k IS NOT NULL AND ' . condition('y') . ')');
}

sub settings
{
	my %settings = (
		enable_mergejoin => pick('off', 'off', 'off', 'on'),
		enable_nestloop => pick('off', 'off', 'on'),
		enable_material => pick('off', 'on'),
		enable_memoize => pick('off', 'on'),
		enable_parallel_hash => pick('on', 'on', 'off'),
		parallel_leader_participation => pick('on', 'on', 'off'),
		max_parallel_workers_per_gather => pick(0, 0, 2),
		'csv_gpu_test.parallel_workers' => 2,
		work_mem => pick('64kB', '4MB'),
		hash_mem_multiplier => 1,
		'csv_gpu_fdw.resident' => pick('on', 'off'),
		'csv_gpu_fdw.enable_pushdown' => pick('on', 'on', 'off'),
		'csv_gpu_fdw.engine' => pick(@engines),
		'csv_gpu_fdw.join_filter' => pick(('on') x 5, 'off'));

	return join '', map { "SET $_ = '$settings{$_}';" } sort keys %settings;
}

# ---- the account of a scan: each of its records is somewhere ----

my ($naccounts, $nremoved, $nshared) = (0, 0, 0);

sub check_accounts
{
	my ($plan, $query) = @_;

	check_accounts($_, $query) foreach @{ $plan->{Plans} // [] };
	return if !defined $plan->{Records};
	$nremoved += $plan->{'Rows Removed by Join Filter'} // 0;
	$nshared += $plan->{'Rows Removed by Join Filter'} // 0 if $plan->{'Parallel Aware'};
	# without a filter, a hash join may look at the first row only
	return if $plan->{'Actual Loops'} != 1 || !$plan->{'Engine Join Filter'};
	my $sum = $plan->{'Actual Rows'};

	$sum += $plan->{$_} // 0 foreach 'Skipped Records', 'Rows Removed by Filter', 'Rows Removed by Engine Filter',
	  'Rows Removed by Engine Limit', 'Rows Removed by Join Filter';
	$naccounts++;
	return if $sum == $plan->{Records} || $query =~ /LIMIT/;
	fail('the account of a scan');
	diag("$query\n" . JSON::PP->new->pretty->encode($plan));
	return;
}

# ---- random joins ----

my ($nqueries, $ndifferent, $until) = (0, 0, time() + $seconds);

# on a machine that is busy, some queries more
while (time() < $until || (!($naccounts && $nremoved) && time() < $until + 60))
{
	make_tables();
	for (1 .. 25)
	{
		my $query = make_query();
		my $with_files = $query =~ s/%s/pick('files', 'files', 'plain')/ger;
		my $plain = $query =~ s/%s/plain/gr;
		my $answer = sub { $session->value("SELECT count(*), sum(hashtextextended(r::text, 0)::numeric) FROM ($_[0]) r") };
		my $settings = settings();

		$session->value($settings);
		my $found = $answer->($with_files);

		check_accounts(decode_json($session->value("EXPLAIN (ANALYZE, FORMAT JSON) $with_files"))->[0]{Plan}, $with_files)
		  if chance(0.2);
		my $right = $answer->($plain);

		$nqueries++;
		next if $found eq $right;
		$ndifferent++;
		diag("$settings\n$with_files\nfound $found, not $right") if $ndifferent <= 3;
	}
}
is($ndifferent, 0, "$nqueries queries find the rows of plain tables");
cmp_ok($naccounts, '>', 0, "$naccounts scans have all of their records in their accounts");
cmp_ok($nremoved, '>', 0, "join filters removed $nremoved rows");
note("$nshared of them in scans that processes shared");

# ---- one hash table of several processes, whose rows come from another such table ----

write_file("$directory/many.csv", map { ($_ % 1000) . ",$_\n" } 1 .. 20000);
write_file("$directory/few.csv", map { ($_ * 10) . ",$_\n" } 1 .. 100);
$session->value("RESET ALL; SET search_path = public; SET csv_gpu_fdw.resident = off;
	CREATE FOREIGN TABLE many (k int, n int) SERVER csv OPTIONS (filename '$directory/many.csv', chunk_size '2kB');
	CREATE FOREIGN TABLE few (k int, m int) SERVER csv OPTIONS (filename '$directory/few.csv', chunk_size '1kB');
	CREATE TABLE keys AS SELECT m FROM generate_series(1, 10) m; ANALYZE keys; ANALYZE many; ANALYZE few;
	SET enable_mergejoin = off; SET enable_nestloop = off; SET max_parallel_workers_per_gather = 2;
	SET csv_gpu_test.parallel_workers = 2; SET join_collapse_limit = 1");
my $join = 'SELECT count(*), sum(n), max(md5(n::text)) FROM many JOIN (few JOIN keys USING (m)) USING (k)';

like(
	$session->value("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $join"),
	qr/Parallel Hash Join.*Join Filter: \(many.k\)\n.*Rows Removed by Join Filter: 19800\n.*Parallel Hash .*Parallel Hash Join.*Parallel Foreign Scan on few/s,
	'a shared filter');
is($session->value($join), $session->value("SET csv_gpu_fdw.join_filter = off; $join"), 'and its rows');

finish($session);
