# 063_updates.pl: a new library is moved into place while sessions use the old one.
#
# The other build is a copy whose identity was edited.  The library lies in a directory of
# this test, because other tests use the installed one at the same time.
use strict;
use warnings;

use File::Copy qw(copy);
use FindBin;
use lib $FindBin::RealBin;

use CsvServer;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $installed = `pg_config --pkglibdir`;

chomp $installed;
mkdir "$dir/lib" or die $!;

# move a library and a program of another build into place
my $builds = 0;

sub install
{
	my $build = sprintf('%016x', $builds++);

	foreach my $name ('csv_gpu_fdw.so', 'csv_gpu_service', 'csv_gpu_stand_in')
	{
		my $bytes = slurp_file("$installed/$name");

		$bytes =~ s/csv_gpu_fdw build \K[0-9a-f]{16}/$build/ or die "$name does not know its build";
		write_file("$dir/new", $bytes);
		chmod 0755, "$dir/new";
		rename("$dir/new", "$dir/lib/$name") or die $!;
	}
	return;
}

install();
my $node = csv_server(
	'updates',
	'csv_gpu_fdw.engine' => 'auto',
	'csv_gpu_fdw.cpu_threads' => 1,
	dynamic_library_path => "$dir/lib:\$libdir",
	max_parallel_workers_per_gather => 2,
	plan_cache_mode => 'force_generic_plan',
	'csv_gpu_fdw.resident' => 'off',
	'csv_gpu_fdw.resident_memory' => '64MB',
	CHEAP_WORKERS, QUICK_FILES);

write_file("$dir/$_.csv", map { "$_," . $_ % 97 . ",text $_\n" } 1 .. 50000) foreach 'big1', 'big2';
$node->safe_psql('postgres', "UPDATE pg_proc SET probin = '$dir/lib/csv_gpu_fdw' WHERE probin = '\$libdir/csv_gpu_fdw'");
$node->safe_psql('postgres', "CREATE FOREIGN TABLE big (a int, b int, c text) SERVER csv OPTIONS (filename '$dir/big?.csv');
	CREATE TABLE plain AS SELECT g AS a, 'x' || g AS t FROM generate_series(1, 100000) g;
	ANALYZE plain");

my @queries = (
	'SELECT count(*), sum(a), max(c) FROM big WHERE b < 50',
	'SELECT count(*), max(t) FROM big JOIN plain USING (a)',
	'SELECT count(*), max(t) FROM plain LEFT JOIN big USING (a) WHERE b IS NULL',
	'SELECT left(c, 7), count(DISTINCT a) FROM big GROUP BY 1 ORDER BY 1 LIMIT 3');
my @right = map { $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; $_") } @queries;
my $unload = "SELECT sum(records) FROM csv_gpu_unload('SELECT * FROM plain', '$dir/out%d.csv', overwrite => true)";
my $replaced = qr/^ERROR:  the library of csv_gpu_fdw was replaced after this session began\nHINT:  Start a new session\.\n/;

sub prepare
{
	my ($session) = @_;

	$session->value("PREPARE q$_ AS $queries[$_]") foreach 0 .. $#queries;
	return;
}

sub workers
{
	my ($session, $query) = @_;
	my ($workers) = $session->value("EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF) $query") =~ /Workers Launched: (\d+)/;

	return $workers // 0;
}

# is what a session gets right?
sub is_right
{
	my ($session, $what) = @_;

	is($session->value($queries[$_]), $right[$_], "$what: query $_") foreach 0 .. $#queries;
	is($session->value($unload), 100000, "$what: csv_gpu_unload()");
	return;
}

# ---- plans and workers ----

my $old = new_session($node);

prepare($old);
is($old->value("EXECUTE q$_"), $right[$_], "before the update: query $_") foreach 0 .. $#queries;
is(workers($old, "EXECUTE q$_"), 2, 'with workers') foreach 0 .. $#queries;
$old->value($unload);

install();
foreach my $number (0 .. $#queries)
{
	my ($out, $err) = $old->query("EXECUTE q$number");

	like($err, $replaced, "an old plan of query $number with new workers");
	is($old->value("SELECT 'lives'"), 'lives', 'the session goes on');
}
is_right($old, 'the old session makes plans without workers');
is(workers($old, $queries[0]), 0, 'none');

my $new = new_session($node);

is_right($new, 'a new session');
is(workers($new, $queries[1]), 2, 'has workers');

# ---- csv_gpu_service ----

my $keeps = "SET csv_gpu_fdw.resident = on; $queries[0]";
my $pid = 'SELECT pid FROM csv_gpu_stat WHERE device IS NULL';

is($new->value($keeps), $right[0], 'a session has columns kept');
my $first = $new->value($pid);

isnt($first, '', 'by the program');
install();
my $newer = new_session($node);

is($newer->value($keeps), $right[0], 'after an update, too');
my $second = $newer->value($pid);

isnt($second, '', 'a program runs');
isnt($second, $first, 'of the new build');
is($new->value($keeps), $right[0], 'an older session does without it');
is($old->value($keeps), $right[0], 'so does a still older one');
is($new->value($pid), '', 'it has none');
is($newer->value($pid), $second, 'and the newer one keeps its own');

# ---- a library that all processes of the server inherit ----

$_->quit foreach $old, $new, $newer;
$node->append_conf('postgresql.conf', "shared_preload_libraries = '$dir/lib/csv_gpu_fdw'");
$node->restart;
install();
$old = new_session($node);
prepare($old);
is($old->value("EXECUTE q$_"), $right[$_], "preloaded: query $_") foreach 0 .. $#queries;
is(workers($old, 'EXECUTE q0'), 2, 'preloaded: workers');
is_right($old, 'preloaded');
is($old->value($keeps), $right[0], 'without the new program');
is($old->value($pid), '', 'there is none');
$old->quit;

is(() = slurp_file($node->logfile) =~ /terminated by signal|PANIC/g, 0, 'no process has crashed');
$node->stop;
done_testing();
