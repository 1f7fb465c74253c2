# Every record is accounted for: of a scan that is read to its end, EXPLAIN ANALYZE's
# Records are rows that came out, those that the engine removed, and skipped records;
# whatever reads the file, evaluates the query, shares the scan or keeps the columns.
#
# Which rows came out is counted over a plain table, by the filter that EXPLAIN says the
# engine had.  Rows that the engine leaves open get the executor's clauses as well, in
# their order, and count as removed by the engine if any of all drops them: where there
# are such clauses, the executor's own counts tell.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(time);

random_seed();
my $seconds = amount(4);
my $directory = PostgreSQL::Test::Utils::tempdir;
my @engines = engines();
my $node = csv_server('account', QUICK_FILES,
	'csv_gpu_fdw.resident_memory' => '100MB',
	max_parallel_workers => 8,
	CHEAP_WORKERS,
	'csv_gpu_test.small_pieces' => 'on');
my $session = new_session($node);

# name, type, good values, bad ones
my @columns = (
	[ 'i', 'integer', [ 1 .. 20, ' 7' ], [ 'x', '99999999999' ] ],
	[ 'n', 'numeric(8,2)', [ '1.5', '2', '-3.25', '1e2' ], ['1e9'] ],
	[ 'q', 'numeric', [ '1.5', '2', '1' x 45 ], ['1..2'] ],
	[ 'd', 'date', [ '2001-02-03', '20010304', 'infinity' ], ['2001-02-30'] ],
	[ 't', 'text', [ 'a', 'b', '"a,b"', "\xc3\xa4", 'x' x 3000 ], ["\xff"] ],
	[ 'v', 'varchar(3)', [ 'a', 'abc', 'ab   ' ], ['abcd'] ],
	[ 'j', 'json', [ '1', '"""x"""' ], ['{'] ]);
my $definition = join ', ', map { "$_->[0] $_->[1]" } @columns;
my $names = join ', ', map { $_->[0] } @columns;

# returns how many records it has
sub make_file
{
	my ($path, $header, $bad, $nfooter) = @_;
	my $nrecords = pick(0, 1, 10, 300, 3000);
	my $text = $header ? "$names\n" : '';

	for (1 .. $nrecords)
	{
		my $line = join ',', map { chance(0.1) ? '' : pick(@{ $_->[ chance($bad) ? 3 : 2 ] }) } @columns;

		$line .= pick(',', ',more', ',1,2') if chance($bad);
		$line =~ s/,[^,]*$// if chance($bad);
		# not `",`: that would end what an earlier line has begun, and they were one record
		$line = qq{"x$line} if chance($bad / 3);
		$line = qq{"a"$line} if chance($bad / 3);
		$text .= "$line\n" . (chance(0.01) ? "\n" : '');
	}
	$text .= pick("total\n", "1\n\n", qq{"x\n}) for 1 .. $nfooter;
	chomp $text;
	write_file($path, $text);
	return $nrecords;
}

my @filters = ('i > 5', 'i IS NULL', 'i < 15 AND i > 2', 'n > 1', 'n IS NOT NULL', 'q > 1.7', 'd < date \'2002-01-01\'', 't = \'a\'',
	't IS NULL', 't LIKE \'a%\'', 'v = \'ab \'', 'v < \'b\'', 'length(t) > 1', 'md5(t) < \'8\'', 'i % 3 = 0', 'j IS NULL', 'i > 100',
	'cardinality(more) > 0');

# what wants columns and comes to rows, groups, or the first rows
sub make_query
{
	my ($has_more) = @_;
	my @where = grep { $has_more || !/more/ } map { chance(0.5) ? pick(@filters) : () } 1 .. 3;
	my $where = @where ? ' WHERE ' . join(' AND ', map { "($_)" } @where) : '';
	my @some = grep { chance(0.4) } map { $_->[0] } @columns;
	my $kind = pick(qw(rows rows groups groups aggregate order md5));

	push @some, 'more' if $has_more && chance(0.5);
	return 'SELECT ' . (@some ? join(', ', @some) : '1') . " FROM f$where" if $kind eq 'rows';
	return "SELECT i, count(*), sum(n), max(t) FROM f$where GROUP BY i" if $kind eq 'groups' && chance(0.5);
	return "SELECT d, v, count(*), count(DISTINCT i) FROM f$where GROUP BY d, v" if $kind eq 'groups';
	return 'SELECT ' . pick('count(*)', 'sum(n), max(q)', 'count(i), min(d), max(v)') . " FROM f$where" if $kind eq 'aggregate';
	return 'SELECT i, v FROM f' . $where . ' ORDER BY ' . pick('i', 'n DESC', 'd, i') . ' LIMIT ' . pick(1, 10, 1000) if $kind eq 'order';
	return "SELECT count(md5(t)) FROM f$where";
}

# the attributes that a query wants: of those that it names, which are all there are
sub wanted
{
	my ($query) = @_;
	my %named = map { $_ => 1 } $query =~ /\b(\w+)\b/g;

	return grep { $named{$_} } (map { $_->[0] } @columns), 'more';
}

my ($nqueries, $nshared, $nkept, $npushed, $nskips, $nnulls, @wrong) = (0, 0, 0, 0, 0, 0);
my $end = time + $seconds;

# on a busy machine, on until there was something of each kind
while (@wrong < 3 && (time < $end
		|| ($nqueries < 1000 && grep { $_ == 0 } $nshared, $nkept, $npushed, $nskips, $nnulls)))
{
	my $nfiles = pick(1, 1, 2);
	my $header = chance(0.3);
	my $bad = pick(0, 0.001, 0.05);
	my $has_more = chance(0.4);
	my $nfooter = pick(0, 0, 2);
	my $nrecords = 0;
	my $options = "log_verbosity 'silent', filename '$directory/?.csv'" . ($header ? ", header 'true'" : '')
	  . ($nfooter ? ", footer_rows '$nfooter'" : '')
	  . ($has_more ? ", ragged 'pad'" : pick('', ", ragged 'pad'"))
	  . pick('', ", on_error 'set_null'") . pick('', ", chunk_size '1000B'", ", chunk_size '64kB'") . pick('', ", encoding 'LATIN1'");

	unlink glob "$directory/?.csv";
	$nrecords += make_file("$directory/$_.csv", $header, $bad, $nfooter) for 1 .. $nfiles;
	$session->value("SET client_min_messages = warning; DROP FOREIGN TABLE IF EXISTS f;
		CREATE FOREIGN TABLE f ($definition" . ($has_more ? ", more text[] OPTIONS (virtual 'surplus')" : '') . ") SERVER csv OPTIONS ($options)");
	settle() if chance(0.3);
	for (1 .. 8)
	{
		my $query = make_query($has_more);
		my @wanted = wanted($query);
		my $list = @wanted ? join(', ', @wanted) : '1 AS one';
		my $settings = 'SET csv_gpu_fdw.engine = ' . pick(@engines) . '; SET csv_gpu_fdw.resident = ' . pick('on', 'off')
		  . '; SET csv_gpu_fdw.enable_pushdown = ' . pick('on', 'on', 'on', 'off') . '; SET csv_gpu_fdw.cpu_threads = ' . pick(1, 3)
		  . '; SET csv_gpu_test.gpu_groups = ' . pick(0, 1, 20) . "; SET work_mem = '" . pick('64kB', '4MB') . "'"
		  . '; SET csv_gpu_test.parallel_workers = ' . pick(0, 4) . '; SET max_parallel_workers_per_gather = ' . pick(0, 4)
		  . '; SET parallel_leader_participation = ' . pick('on', 'off') . ';';

		$session->value("SET max_parallel_workers_per_gather = 0; SET csv_gpu_fdw.enable_pushdown = off; SET csv_gpu_fdw.resident = off;
			DROP TABLE IF EXISTS plain; CREATE TABLE plain AS SELECT $list FROM f");
		my $said = $session->value("$settings EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");
		my %number = map { /^ *([A-Z][\w ]*): (\d+)$/ ? ($1 => $2) : () } split /\n/, $said;
		my ($filter) = $said =~ /Engine Filter: (.*)$/m;
		my ($rows, $loops) = $said =~ /Foreign Scan.*\(actual rows=([\d.]+) loops=(\d+)\)/;
		my $nplain = $session->value('SELECT count(*) FROM plain');
		my $came_out = $session->value('SELECT count(*) FROM plain f' . (defined $filter ? " WHERE $filter" : ''));
		my $removed = $number{'Rows Removed by Engine Filter'} // 0;
		my $is_shared = $said =~ /Parallel Foreign Scan/;
		my @found;

		$nqueries++;
		$nshared++ if $is_shared && $said =~ /Workers Launched: [1-9]/;
		$nkept++ if $said =~ /Resident Columns: ([1-9]\d*) of \1$/m;
		$npushed++ if $removed > 0;
		$nskips++ if $number{'Skipped Records'} > 0;
		$nnulls++ if $number{'Values Set to NULL'};
		push @found, "$number{Records} records of $nrecords" if $number{Records} != $nrecords;
		push @found, "skipped $number{'Skipped Records'}, of $nrecords records $nplain are rows" if $number{'Skipped Records'} != $nrecords - $nplain;
		push @found, "removed $removed, $came_out came out"
		  if $said !~ /^ +Filter: /m && $number{Records} != $came_out + $removed + $number{'Skipped Records'};
		# the executor knows the number as well, of several processes by its average; of the
		# engine's groups it does not
		if ($said !~ /Aggregate on/)
		{
			my $counted = ($rows + ($number{'Rows Removed by Filter'} // 0)) * $loops;
			my $expected = $number{Records} - $removed - $number{'Skipped Records'} - ($number{'Rows Removed by Engine Limit'} // 0);

			push @found, "$counted rows are said to come out, $expected did" if abs($counted - $expected) > ($loops == 1 ? 0 : $loops);
		}
		push @found, 'nulls without the option' if ($options =~ /set_null/) != exists $number{'Values Set to NULL'};
		push @found, 'surplus without its column' if (grep { $_ eq 'more' } @wanted) != exists $number{'Records with Surplus Fields'};
		if (exists $number{'Records with Surplus Fields'})
		{
			my $nsurplus = $session->value("SELECT count(*) FROM plain WHERE more <> '{}' OR more IS NULL");

			push @found, "surplus in $number{'Records with Surplus Fields'} rows of $nsurplus" if $number{'Records with Surplus Fields'} != $nsurplus;
		}
		next if !@found;
		push @wrong, $query;
		diag(join("\n", @found, $options, $settings, $query, $said));
	}
}
is(scalar @wrong, 0, "$nqueries queries account for every record");
cmp_ok($nshared, '>', 0, "$nshared were shared");
cmp_ok($nkept, '>', 0, "$nkept were of kept columns");
cmp_ok($npushed, '>', 0, "of $npushed the engine removed rows");
cmp_ok($nskips, '>', 0, "$nskips skipped records");
cmp_ok($nnulls, '>', 0, "$nnulls set values to NULL");
finish($session);
