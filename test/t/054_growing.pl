# Files that grow.
#
# 1. Whatever reads a file that was cut anywhere, it has the records that end before the
#    cut.
# 2. A file that is replaced under a scan: an ERROR, or a prefix of the first file.
#
# 056_growing_log.pl has logs that are loaded while they are written.
use lib 'test/t';
use CsvServer;

random_seed();
my $directory = PostgreSQL::Test::Utils::tempdir;
my @engines = engines();
my $node = csv_server(
	'growing',
	QUICK_FILES,
	CHEAP_WORKERS,
	max_worker_processes => 16,
	'csv_gpu_fdw.resident_memory' => '200MB',
	'csv_gpu_test.small_pieces' => 'on');
my $session = new_session($node);

# ---- records that end before a cut ----

# a number, and a text that may have line breaks, commas and quotes
sub record
{
	my ($n) = @_;
	my $text = join '', map { pick('a', 'b', 'cd', "\n", ',', '""', "\r\n", 'x' x int(rand 60)) } 0 .. rand 8;

	return qq{$n,"$text"} . pick("\n", "\n", "\r\n") . (chance(0.02) ? "\n" : '');
}

my @records = map { record($_) } 1 .. 12_000;
my $text = "n,t\n" . join '', @records;
# blank lines count with the record behind them
my @real_ends;
{
	my $offset = 4;

	foreach my $record (@records)
	{
		push @real_ends, $offset + length($record =~ s/(?<=\n)\n$//r);
		$offset += length $record;
	}
}

# the texts of the first records
my @texts = map { s/^\d+,"(.*)"\r?\n+\z/$1/sr =~ s/""/"/gr } @records;

sub texts
{
	my ($n) = @_;

	return @texts[ 0 .. $n - 1 ];
}

my %ways = (
	'one thread' => ['SET csv_gpu_fdw.cpu_threads = 1; SET max_parallel_workers_per_gather = 0'],
	'threads' => ['SET csv_gpu_fdw.cpu_threads = 4; SET max_parallel_workers_per_gather = 0', ", chunk_size '64kB'"],
	'processes' => ['SET csv_gpu_fdw.cpu_threads = 1; SET max_parallel_workers_per_gather = 3', ", chunk_size '64kB'"],
	'a stream' => ['SET csv_gpu_fdw.cpu_threads = 4; SET max_parallel_workers_per_gather = 0', ", encoding 'SJIS'"]);
my @compressions = ([ 'gzip', '-nc', 'gz' ], [ 'zstd', '-qc', 'zst' ], [ 'lz4', '-qc', 'lz4' ]);

foreach my $engine (@engines)
{
	foreach my $way (sort keys %ways)
	{
		my ($settings, $options) = @{ $ways{$way} };

		$session->value("$settings; SET csv_gpu_fdw.engine = $engine; DROP FOREIGN TABLE IF EXISTS f;
			CREATE FOREIGN TABLE f (n int, t text) SERVER csv OPTIONS (filename '$directory/f.csv',
				header 'match', growing 'true', on_error 'stop'" . ($options // '') . ')');
		foreach my $cut (0, 2, 4, map { int rand(1 + length $text) } 1 .. 6)
		{
			my $nwhole = grep { $_ <= $cut } @real_ends;

			write_file("$directory/f.csv", substr $text, 0, $cut);
			is($session->value(
					'SELECT count(*) || \',\' || coalesce(max(n), 0) || \',\' || coalesce(sum(n), 0) FROM f'),
				"$nwhole,$nwhole," . $nwhole * ($nwhole + 1) / 2, "$engine, $way: cut at $cut");
			is($session->value("SELECT count(*) FROM (SELECT n, t FROM f OFFSET 0) f WHERE t LIKE '%' AND n > 0"),
				$nwhole, 'and as rows');
		}
	}
}

# members and frames, of which the last may be cut
foreach my $compression (@compressions)
{
	my ($program, $flags, $suffix) = @$compression;
	my $path = "$directory/c.csv.$suffix";
	my $part = "$directory/part";
	my @members;
	my $nmembers = 40;

  SKIP:
	{
		skip "no $program", 1 if !has_program($program);
		foreach my $i (1 .. $nmembers)
		{
			write_file($part, substr $text, int(length($text) * ($i - 1) / $nmembers),
				int(length($text) * $i / $nmembers) - int(length($text) * ($i - 1) / $nmembers));
			push @members, scalar `$program $flags $part`;
		}
		$session->value("SET csv_gpu_fdw.engine = cpu; SET csv_gpu_fdw.cpu_threads = 4; DROP FOREIGN TABLE IF EXISTS f;
			CREATE FOREIGN TABLE f (n int, t text) SERVER csv OPTIONS (filename '$path', header 'match', growing 'true', on_error 'stop')");
		foreach my $try (1 .. 8)
		{
			my $n = int rand($nmembers + 1);
			my $rest = $n < $nmembers ? substr $members[$n], 0, int rand length $members[$n] : '';
			my $bytes = int(length($text) * $n / $nmembers);
			my $nwhole = grep { $_ <= $bytes } @real_ends;

			write_file($path, @members[ 0 .. $n - 1 ], $rest);
			is($session->value('SELECT count(*) || \',\' || coalesce(max(n), 0) FROM f'), "$nwhole,$nwhole",
				"$program: $n members and " . length($rest) . ' bytes');
		}
	}
}

# ---- kept columns of a file that becomes longer ----

my $kept_path = "$directory/kept.csv";
my @kept_ways = ([ 'cpu', 1 ], [ 'cpu', 4 ], map { [ $_, 1 ] } grep { $_ ne 'cpu' } @engines);

# what stat counts of columns that were found
sub hits
{
	return $session->value("SELECT sum(resident_hits) FROM csv_gpu_stat");
}

foreach my $way (@kept_ways)
{
	my ($engine, $threads) = @$way;
	my $cut = 300_000;
	my $nsets;

	$session->value("SET csv_gpu_fdw.engine = $engine; SET csv_gpu_fdw.cpu_threads = $threads; RESET max_parallel_workers_per_gather;
		SELECT csv_gpu_forget(); DROP FOREIGN TABLE IF EXISTS f;
		CREATE FOREIGN TABLE f (n int, t text, r bigint OPTIONS (virtual 'record')) SERVER csv OPTIONS (filename '$kept_path',
			header 'match', growing 'true', on_error 'stop')");
	write_file($kept_path, substr $text, 0, $cut);
	foreach my $try (0 .. 15)
	{
		my $nwhole = grep { $_ <= $cut } @real_ends;
		my $before = hits();

		is($session->value('SELECT count(*) || \',\' || max(n) || \',\' || sum(n) || \',\' || sum(length(t)) || \',\' || max(r) FROM f'),
			join(',', $nwhole, $nwhole, $nwhole * ($nwhole + 1) / 2, length(join '', texts($nwhole)), $nwhole),
			"$engine, $threads threads: kept up to $cut");
		is($session->value("SELECT t FROM f WHERE n = $nwhole"), (texts($nwhole))[-1] =~ s/\r\n?/\n/gr, 'and the last row') if (texts($nwhole))[-1] !~ /\r/;
		cmp_ok(hits(), '>', $before, 'by kept columns') if $try > 0;
		$nsets = $session->value("SELECT count(*) FROM csv_gpu_resident() WHERE source = 'f'::regclass");
		cmp_ok($nsets, '<', 24, "$nsets sets");
		my $more = pick(1, 5, 30, 100, 2000, 30_000);

		append_to_file($kept_path, substr $text, $cut, $more);
		$cut += $more;
	}
	# the file is another one, and longer
	write_file($kept_path, "n,t\n" . join '', map { "1,other\n" } 1 .. 150_000);
	is($session->value('SELECT count(*) || \',\' || max(n) FROM f'), '150000,1', "$engine: a file that was replaced");
	is($session->value('SELECT count(*) || \',\' || max(n) FROM f'), '150000,1', 'again');
	write_file($kept_path, "n,t\n1,x\n");
	is($session->value('SELECT count(*) || \',\' || max(n) FROM f'), '1,1', 'and is shorter');
}
# another table reads the file as it is
$session->value("CREATE FOREIGN TABLE g (n int, t text) SERVER csv OPTIONS (filename '$kept_path', header 'match', ragged 'pad')");
append_to_file($kept_path, "2,y\n3");
foreach (1 .. 2)
{
	is($session->value('SELECT count(*) FROM g'), 3, 'without the option');
	is($session->value('SELECT count(*) FROM f'), 2, 'with it');
}
$session->value('DROP FOREIGN TABLE g');

# ---- a file that is replaced under a scan ----

my $big = join '', map { "$_," . ('x' x 90) . "\n" } 1 .. 120_000;
my $other = join '', map { "$_," . ('y' x 95) . "\n" } 1 .. 130_000;
my $path = "$directory/f.csv";

foreach my $engine (@engines)
{
	foreach my $on_error ('stop', 'skip')
	{
		$session->value("SET csv_gpu_fdw.engine = $engine; SET csv_gpu_fdw.resident = off; DROP FOREIGN TABLE f;
			CREATE FOREIGN TABLE f (n int, t text) SERVER csv OPTIONS (filename '$path', chunk_size '64kB', growing 'true', on_error '$on_error')");
		write_file($path, $big);
		$session->value('BEGIN; DECLARE c NO SCROLL CURSOR FOR SELECT n, t FROM f; FETCH 1 FROM c');
		# the same inode, as with copytruncate
		write_file($path, $other);
		my ($out, $err) = $session->query('FETCH ALL FROM c');

		like($err, qr/ERROR:  file ".*f.csv" was replaced while it was read/, "copied and truncated: $engine, $on_error");
		unlike($out, qr/y/, 'no row of another file');
		$session->query('ROLLBACK');

		write_file($path, $big);
		$session->value('BEGIN; DECLARE c NO SCROLL CURSOR FOR SELECT n, t FROM f; FETCH 1 FROM c');
		truncate $path, 5_000_017;
		($out, $err) = $session->query('FETCH ALL FROM c');
		like($err, $on_error eq 'stop' ? qr/ERROR:  file ".*f.csv" became shorter/ : qr/WARNING:  file ".*f.csv" became shorter/,
			"shorter: $engine, $on_error");
		$session->query('ROLLBACK');

		write_file($path, $big);
		$session->value('BEGIN; DECLARE c NO SCROLL CURSOR FOR SELECT n, t FROM f; FETCH 1 FROM c');
		append_to_file($path, "0,more\n");
		($out, $err) = $session->query('FETCH ALL FROM c');
		is($err, '', "longer: $engine, $on_error");
		is($out =~ tr/\n//, 119_999 - 1, 'as far as it went') or diag(substr $out, -200);
		$session->query('ROLLBACK');
	}
}

finish($session);
