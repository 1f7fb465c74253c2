# Statistics of a sample: the planner expects about as many rows with them as after ANALYZE,
# for random tables; a sample of any bytes says nothing, and changes nothing.
use lib 'test/t';
use CsvServer;
use JSON::PP;

random_seed();
my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server('sampled');
my $session = new_session($node);

# ---- expected rows ----

# a type, and the expression of a value in row i of n; many of them are side by side, or far apart
my @kinds = (
	[ 'integer', sub { 'i' } ],
	[ 'bigint', sub { 'i / ' . pick(2, 4, 50, 3000) } ],
	[ 'integer', sub { '(random() * ' . pick(1, 5, 300, 20000, 1e9) . ')::int' } ],
	[ 'integer', sub { '(random() ^ 4 * ' . pick(5, 300, 20000) . ')::int' } ],
	[ 'smallint', sub { 'i * 7919 % ' . pick(2, 30, 1000) } ],
	[ 'date', sub { "'2020-01-01'::date + i / " . pick(1, 20, 900) . '' } ],
	[ 'date', sub { "'2020-01-01'::date + (random() * " . pick(10, 2000) . ')::int' } ],
	[ 'timestamp', sub { "'2020-01-01'::timestamp + i * interval '1 minute'" } ],
	[ 'numeric(10,2)', sub { '(random() * ' . pick(1, 100, 10000) . ')::numeric(10,2)' } ],
	[ 'float8', sub { 'random()' } ],
	[ 'text', sub { 'md5((i / ' . pick(1, 3, 40) . ')::text)' } ],
	[ 'text', sub { "chr(65 + (random() * 25)::int) || repeat('x', (random() * " . pick(3, 200) . ')::int)' } ],
	[ 'text', sub { "CASE WHEN random() < 0.3 THEN E'two\\nlines, \"quoted\"' ELSE 'a' || i % 50 END" } ],
	[ 'uuid', sub { 'md5((random() * ' . pick(10, 5000) . ')::int::text)::uuid' } ],
	[ 'boolean', sub { 'random() < ' . pick(0.1, 0.5, 0.99) } ]);

# the planner's number of rows, and width
sub expected
{
	my ($query) = @_;
	my $plan = decode_json($session->value("EXPLAIN (FORMAT JSON) $query"))->[0]{Plan};

	return ($plan->{'Plan Rows'}, $plan->{'Plan Width'});
}

# a factor of 4, or a twentieth of the table: ANALYZE has more rows, and from everywhere
sub is_near
{
	my ($one, $other, $nrows) = @_;

	return abs($one - $other) <= $nrows / 20 + 8 || ($one <= 4 * $other && $other <= 4 * $one);
}

for my $round (1 .. amount(5))
{
	my $nrows = pick(1, 50, 2000, 30000, 100000);
	my $nulls = pick(0, 0, 0.2, 0.9);
	my @columns = map { my $kind = pick(@kinds); [ "c$_", $kind->[0], $kind->[1]->() ] } 1 .. 6;
	my $values = join ', ', map { "CASE WHEN random() >= $nulls THEN $_->[2] END AS $_->[0]" } @columns;
	my $definition = join ', ', map { "$_->[0] $_->[1]" } @columns;
	my $nfiles = $nrows < 50 ? 1 : pick(1, 1, 3, 50);
	my $header = pick('true', 'false');
	my @far;

	$session->value("CREATE TABLE made AS SELECT i, $values FROM generate_series(1, $nrows) i");
	for my $n (0 .. $nfiles - 1)
	{
		$session->value('COPY (SELECT ' . join(', ', map { $_->[0] } @columns) .
			  " FROM made WHERE i * ${nfiles}::bigint / ($nrows + 1) = $n ORDER BY i) TO '$directory/$round.$n.csv' (FORMAT csv, HEADER $header)");
	}
	$session->value("CREATE FOREIGN TABLE t ($definition) SERVER csv OPTIONS (filename '$directory/$round.*.csv', header '$header')");
	my @queries = ('SELECT * FROM t', map { my $column = $_->[0];
		my $value = $session->value("SELECT quote_nullable($column) FROM made ORDER BY random() LIMIT 1");
		map { "SELECT * FROM t WHERE $_" } "$column = $value", "$column > $value", "$column <= $value", "$column IS NULL"
	} @columns);
	my @groups = map { "SELECT DISTINCT $_->[0] FROM t" } @columns;
	my %sampled = map { $_ => [ expected($_) ] } @queries, @groups;

	like($session->value('EXPLAIN SELECT * FROM t'), qr/Statistics: sampled/, 'sampled');
	$session->value('ANALYZE t');
	unlike($session->value('EXPLAIN SELECT * FROM t'), qr/Statistics: sampled/, 'analyzed');
	for my $query (@queries)
	{
		my ($rows, $width) = expected($query);
		my $has = $sampled{$query};

		push @far, "$query: @$has for $rows $width"
		  if !is_near($has->[0], $rows, $nrows) || $has->[1] > 2 * $width + 8 || $width > 2 * $has->[1] + 8;
	}
	for my $query (@groups)
	{
		my ($rows) = expected($query);
		my $groups = $session->value("SELECT count(*) FROM ($query) q");

		# where ANALYZE's sample misses what there is, it is no measure
		push @far, "$query: $sampled{$query}[0] for $groups (ANALYZE: $rows)"
		  if !is_near($sampled{$query}[0], $groups, $nrows) && !is_near($sampled{$query}[0], $rows, $nrows);
	}
	is_deeply(\@far, [], "round $round: $nrows rows in $nfiles files, " . join ', ', map { "$_->[1] $_->[2]" } @columns);
	$session->value('DROP TABLE made; DROP FOREIGN TABLE t');
}

# ---- any bytes ----

for my $round (1 .. amount(10))
{
	my $bytes = join '', map { pick("1,2,x\n", "1,2,x\n", ",,\n", "\n", '"', "\r", "\0", chr int rand 256, ',' x 20, 'x' x 5000, "1,\xe4,\"\n") } 1 .. pick(0, 3, 300, 40000);
	my %options = (
		on_error => pick('skip', 'stop', 'set_null'), header => pick('true', 'false'), multiline => pick('true', 'false'),
		compression => pick('none', 'none', 'none', 'gzip'), ragged => pick('pad', 'skip'));
	my $options = join ', ', map { "$_ '$options{$_}'" } sort keys %options;

	write_file("$directory/any.csv", $bytes);
	my ($out, $err) = $session->query("BEGIN;
		CREATE FOREIGN TABLE any_bytes (a int, b numeric, c text) SERVER csv OPTIONS (filename '$directory/any.csv', $options);
		SAVEPOINT a;
		EXPLAIN SELECT * FROM any_bytes WHERE a > 1 AND b < 2 AND c > 'a';
		RELEASE a;
		SELECT count(*) FROM generate_series(1, 10);
		ROLLBACK");

	is($err, '', "nothing is said of any bytes, with $options");
	like($out, qr/^10$/m, 'the transaction goes on');
}

finish($session);
