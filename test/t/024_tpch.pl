# TPC-H's 22 queries over CSV files: answers are those over tables that COPY has
# loaded, whatever the plan: without statistics, with them, and with parallel
# workers wherever there can be some.
use lib 'test/t';
use CsvServer;

my $queries = 'test/bench/tpch';
my $directory = PostgreSQL::Test::Utils::tempdir;
my $definitions = slurp_file("$queries/tables.sql");
my @tables = $definitions =~ /^CREATE TABLE (\w+)/mg;
my %made = (
	supplier => 100, part => 2000, partsupp => 8000, customer => 1500, orders => 15000,
	nation => 25, region => 5);
my $node = csv_server('tpch', max_worker_processes => 16, max_parallel_workers => 16);
my $session = new_session($node);

# ---- the tables, of a hundredth of scale 1 ----

system_or_bail 'tpch', '0.01', $directory;
$session->value("CREATE SCHEMA plain; SET search_path = plain; $definitions");
$session->value("COPY $_ FROM '$directory/$_.csv' (FORMAT csv)") for @tables;
$session->value('CREATE INDEX ON lineitem (l_partkey); ANALYZE; CREATE SCHEMA csv; SET search_path = csv');
while ($definitions =~ /^CREATE (TABLE (\w+) \(.*?\n\));/msg)
{
	$session->value("CREATE FOREIGN $1 SERVER csv OPTIONS (filename '$directory/$2.csv', format 'csv')");
}
is($session->value("SELECT count(*) FROM $_"), $made{$_}, "rows of $_") for sort keys %made;

# ---- the queries ----

sub query
{
	my ($number) = @_;
	my $sql = slurp_file(sprintf("$queries/q%02d.sql", $number));

	# its constant goes with the scale
	$sql =~ s/\* 0\.0001/* 0.01/ if $number == 11;

	# one lineitem is read for each of these, since it is asked before the part's name
	$sql =~ s/(WHERE) (ps_partkey IN)/$1 ps_partkey % 100 = 21 AND $2/ if $number == 20;
	return $sql;
}

my %expected;

sub is_as_expected
{
	my ($how) = @_;

	for my $number (1 .. 22)
	{
		is($session->value(query($number)), $expected{$number}, "Q$number, $how");
	}
	return;
}

$session->value('SET search_path = plain');
for my $number (1 .. 22)
{
	$expected{$number} = $session->value(query($number));
	isnt($expected{$number}, '', "Q$number has an answer");
}
$session->value('SET search_path = csv; SET max_parallel_workers_per_gather = 0');
is_as_expected('without statistics');
$session->value('ANALYZE ' . join ', ', @tables);
is_as_expected('with statistics');
$session->value(
	'SET max_parallel_workers_per_gather = 4; SET min_parallel_table_scan_size = 0;
	SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0');
is_as_expected('with workers');

finish($session);
