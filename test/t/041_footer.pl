# Records at the end of a file that are no data: whoever reads the file, and whether
# anybody knows beforehand where it ends, all is as of the file without them.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(time);

random_seed();
my $seconds = amount(5);
my $directory = PostgreSQL::Test::Utils::tempdir;
my @engines = engines();
my $node = csv_server('footer', QUICK_FILES,
	'csv_gpu_fdw.resident_memory' => '200MB',
	max_parallel_workers => 8,
	min_parallel_table_scan_size => 0,
	parallel_setup_cost => 0,
	parallel_tuple_cost => 0);
my $session = new_session($node);
my $has_gzip = has_program('gzip');

# what one of the records is, good or bad, in one line or several
sub make_record
{
	my ($bad) = @_;
	my $number = int(rand(1000));

	return pick("$number,two,3\n", "x$number,\"\n", "$number\n", "$number,\"a\" b\n") if chance($bad);
	return "$number,\"several\nlines, \n\nof $number\"\n" if chance(0.02);
	return "\n# none\n$number,\n" if chance(0.02);
	return "$number," . 'text ' x rand(20) . "\n";
}

# as many bytes of records, in few kinds of pieces
sub make_body
{
	my ($nbytes, $bad) = @_;
	my @parts = map { join '', map { make_record($bad) } 1 .. 50 } 1 .. 20;
	my $body = '';

	$body .= pick(@parts) while length $body < $nbytes;
	return $body . ($nbytes > 0 ? "1,last\n" : '');
}

# returns how many records it has
sub make_footer
{
	my $nrecords = pick(1, 1, 2, 5, 1000);
	my $footer = '';

	for (1 .. $nrecords)
	{
		$footer .= pick("Total,\"12\"\n", "12,13\n", "sum\n", "\"of\n all,\",\n", "a \"note\", and\n", "1,\"open\"x\n",
			"\n\nblank\n", "# none\n1,2\n", 'x' x 3000 . "\n");
	}
	$footer .= pick('', "\n", "# end", "\n\n# end\n");
	chomp $footer if chance(0.3);
	return ($nrecords, $footer);
}

my @queries = ('SELECT count(*) FROM f', 'SELECT count(*), sum(a), max(b) FROM f', 'SELECT a, count(*) FROM f WHERE a > 500 GROUP BY a ORDER BY a',
	'SELECT md5(string_agg(a || coalesce(b, \'-\'), \',\' ORDER BY l)) FROM f', 'SELECT max(l), max(r), sum(length(b)) FROM f WHERE a < 100',
	'SELECT a, b FROM f ORDER BY a DESC, b, l LIMIT 5', 'SELECT count(*), max(record), md5(string_agg(raw, \',\')) FROM csv_gpu_errors(\'f\')',
	'SELECT x, (SELECT count(*) FROM f WHERE a > x) FROM generate_series(1, 2) x',
	'CREATE TEMP TABLE t (a int, b text, l bigint, r bigint); SELECT records_loaded, records_skipped FROM csv_gpu_load(\'f\', \'t\');
	SELECT count(*), sum(r), sum(a) FROM t; DROP TABLE t');

my ($nqueries, $nshared, $nkept, @wrong) = (0, 0, 0);
my $end = time + $seconds;

while (@wrong < 3 && (time < $end || ($nqueries < 500 && grep { $_ == 0 } $nshared, $nkept)))
{
	my $bytes = pick(0, 1000, 100_000, 3_900_000 + rand(600_000), 8_000_000 * rand());
	my $body = ($bytes > 0 && chance(0.5) ? "a,b\n" : '');
	my $options = ($body ne '' ? "header_rows '1', " : '') . "comment '#', notice_limit '3'"
	  . pick('', ", chunk_size '1000B'", ", chunk_size '100kB'", ", chunk_size '1MB'") . pick('', ", encoding 'LATIN1'")
	  . pick('', ", max_record_size '1000'") . pick('', ", quoting 'postgres'");
	my $way = pick('file', 'file', 'file', 'program', $has_gzip ? ('gzip', 'gzip') : ());
	my ($nfooter, $footer) = make_footer();
	my %path = (whole => "$directory/whole.csv", part => "$directory/part.csv");

	$body .= make_body($bytes, pick(0, 0.0001, 0.05));
	write_file($path{whole}, $body);
	write_file($path{part}, $body . $footer);
	$options .= ", max_record_size '100000'" if $options =~ /postgres/ && $options !~ /max_record/;
	if ($way eq 'gzip')
	{
		unlink "$path{$_}.gz" for keys %path;
		system('gzip', '-1', $path{$_}) == 0 or die for keys %path;
		$path{$_} .= '.gz' for keys %path;
	}

	# of the postgres grammar, quotes reach farther than one of these files tells
	next if $options =~ /postgres/ && $footer =~ /"/;

	# so do they from a record that does not close them to a record of several lines
	next if $body =~ /,"\n[^"]*\z/ && $footer =~ /^[^"]*"of/;
	for (1 .. 6)
	{
		my $query = pick(@queries);
		my $settings = 'SET csv_gpu_fdw.engine = ' . pick(@engines) . '; SET csv_gpu_fdw.resident = ' . pick('on', 'off')
		  . '; SET csv_gpu_fdw.enable_pushdown = ' . pick('on', 'on', 'off') . '; SET csv_gpu_fdw.cpu_threads = ' . pick(1, 3)
		  . '; SET csv_gpu_test.parallel_workers = ' . pick(0, 3) . '; SET max_parallel_workers_per_gather = ' . pick(0, 3)
		  . '; SET csv_gpu_test.small_pieces = ' . pick('on', 'off') . ';';
		my %found;

		settle() if chance(0.2);
		for my $file (qw(whole part))
		{
			my $from = $way eq 'program' ? "program 'cat $path{$file}'" : "filename '$path{$file}'";
			my $said;

			$session->value("SET client_min_messages = warning; DROP FOREIGN TABLE IF EXISTS f; CREATE FOREIGN TABLE f
				(a int, b text, l bigint OPTIONS (virtual 'line'), r bigint OPTIONS (virtual 'record')) SERVER csv
				OPTIONS ($from, $options" . ($file eq 'part' ? ", footer_rows '$nfooter'" : '') . '); SET client_min_messages = notice');
			$said = join "\n", $session->query("$settings $query");
			$said =~ s/(whole|part)\.csv/file.csv/g;
			$found{$file} = $said;
			next if $query !~ /^SELECT [^x]/ || $query =~ /errors/ || $file eq 'whole';
			# the second time perhaps of columns that are kept
			$said = $session->value("$settings SET client_min_messages = warning; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");
			$nshared++ if $said =~ /Workers Launched: [1-9]/;
			$nkept++ if $said =~ /Resident Columns: ([1-9]\d*) of \1$/m;
		}
		$nqueries++;
		next if $found{whole} eq $found{part};
		push @wrong, $query;
		diag(join "\n", $way, $options, $settings, $query, "$nfooter records behind " . length($body) . ' bytes', $footer =~ s/x{3000}/xxx/gr,
			@found{qw(whole part)});
	}
}
is(scalar @wrong, 0, "$nqueries queries see no footer");
cmp_ok($nshared, '>', 0, "$nshared were shared");
cmp_ok($nkept, '>', 0, "$nkept were of kept columns");
finish($session);
