# 023_parallel.pl: scans that the processes of a parallel query share.
#
# Hostile files are read by one process and by several, 1 to 8 workers, in pieces
# of every size: the rows are the same, and so is all that is said of skipped
# records, to the letter.  CSV_GPU_FDW_FILES=N reads N files.
use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;

use lib dirname(__FILE__);
use CsvServer;
use PostgreSQL::Test::Utils;

my $files = $ENV{CSV_GPU_FDW_FILES} // 300;
my $seed = random_seed();
my $node = csv_server(
	'parallel',
	'csv_gpu_fdw.engine' => 'auto',
	max_worker_processes => 16,
	max_parallel_workers => 12,
	max_connections => 20,
	min_parallel_table_scan_size => 0,
	parallel_setup_cost => 0,
	parallel_tuple_cost => 0);
my $dir = PostgreSQL::Test::Utils::tempdir();

chmod 0755, $dir;
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
my ($compared, $shared, $with_reports, $different) = (0, 0, 0, 0);

for (my $done = 0; $done < $files; $done += 50, $seed++)
{
	my $folder = "$dir/$seed";
	my $sql = `'$hostile' '$folder' $seed 50 parallel`;

	die "hostile: $?" if $? != 0;
	my ($rows, $messages) = run_psql($sql);
	foreach my $name (map { /^(\S+) serial$/ ? $1 : () } sort keys %$messages)
	{
		my @serial = map { $_->{"$name serial"} } $rows, $messages;
		my @parallel = map { $_->{"$name parallel"} } $rows, $messages;

		# where in psql's input it stood is no matter
		s/^psql:<stdin>:\d+: //gm foreach $serial[1], $parallel[1];
		s/^LOCATION: .*\n//gm foreach $serial[1], $parallel[1];
		$compared++;
		$shared++ if ($rows->{"$name plan"} // '') =~ /Parallel Foreign Scan/;
		$with_reports++ if $serial[1] ne '';
		next if $serial[0] eq $parallel[0] && $serial[1] eq $parallel[1];
		$different++;
		diag("seed $seed, file $name:\nserial:\n$serial[0]$serial[1]"
			  . "parallel:\n$parallel[0]$parallel[1]")
		  if $different <= 3;
	}
	system('rm', '-rf', $folder) if $different == 0;
}
is($different, 0, "$compared files read the same by one process and by several");
cmp_ok($shared, '>', $compared / 3, "$shared of them were shared");
cmp_ok($with_reports, '>', $compared / 5, "$with_reports of them had something to report");

done_testing();
