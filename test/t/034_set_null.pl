# on_error 'set_null': random files whose values are known to be good or bad, one by
# one.  Rows and messages are those that this makes, for any columns that a query
# wants, with each engine, in chunks, in parallel, from kept columns, and in loads.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(time);

random_seed();
my $seconds = amount(4);
my $directory = PostgreSQL::Test::Utils::tempdir;
my @engines = engines();
my $node = csv_server('set_null', QUICK_FILES,
	'csv_gpu_fdw.resident_memory' => '100MB',
	max_parallel_workers_per_gather => 0,
	max_parallel_workers => 8,
	CHEAP_WORKERS,
	'csv_gpu_test.small_pieces' => 'on');
my $session = new_session($node);
my $file = "$directory/f.csv";

$session->value(q{
	SET client_min_messages = notice;
	CREATE DOMAIN small AS int CHECK (VALUE < 100);
	CREATE DOMAIN given AS int NOT NULL;
	\set SHOW_CONTEXT never
});

# ---- values ----

# as it stands in the file; what it becomes, or undef; and what is said of it then, after
# the column's name
sub good { return [ $_[0], $_[1] // $_[0] ] }
sub bad { return [ $_[0], undef, @_[ 1, 2 ] ] }
sub no_syntax { return bad($_[0], qq{: invalid input syntax for type $_[1]: "} . ($_[2] // $_[0]) . '"') }

my $invalid = ' holds an invalid byte sequence for encoding "UTF8": 0xff';

# type and options of a column; its values
my @columns = (
	[ 'integer', '', good('12'), good(' -7 ', '-7'), good('"3"', '3'), no_syntax('x', 'integer'), no_syntax('""', 'integer', ''),
		bad('99999999999', ': value "99999999999" is out of range for type integer'), bad("1\0", ' holds a zero byte'),
		bad("\xff", $invalid), no_syntax('1' . 'y' x 80, 'integer') ],
	[ 'integer', "max_chars '4'", good('1234'), good('"12"', '12'), bad('00012', ' has 5 characters, limit 4'), no_syntax('12x', 'integer'),
		bad('1' x 100, ' has 100 characters, limit 4') ],
	[ 'bigint', '', good('123456789012'), no_syntax('1.5', 'bigint') ],
	[ 'numeric(6,2)', '', good('12.5', '12.50'), good('1e3', '1000.00'), no_syntax('"1,5"', 'numeric', '1,5'),
		bad('10000', ': numeric field overflow', 'A field with precision 6, scale 2 must round to an absolute value less than 10^4.') ],
	[ 'numeric', '', good('12.50'), no_syntax('--1', 'numeric') ],
	[ 'double precision', '', good('1.5'), no_syntax('1.5.', 'double precision') ],
	[ 'boolean', '', good('t'), good('no', 'f'), no_syntax('maybe', 'boolean') ],
	[ 'date', '', good('2001-02-03'), good('20010203', '2001-02-03'), bad('2001-02-30', ': date/time field value out of range: "2001-02-30"'),
		no_syntax('yesterdays', 'date') ],
	[ 'uuid', '', good('00000000-0000-0000-0000-000000000001'), no_syntax('0-1', 'uuid') ],
	[ 'text', "max_chars '3'", good('abc'), good("\xc3\xa4\xc3\xb6\xc3\xbc"), bad('abcd', ' has 4 characters, limit 3'), bad("a\xff", $invalid),
		bad("\0", ' holds a zero byte'), bad('x' x 300, ' has 300 characters, limit 3'), good('"a,b"', 'a,b') ],
	[ 'text', "byte_width '8'", good('12345678'), bad('123456789', ' has 9 bytes, limit 8'), bad("\xc3\xa4" x 5, ' has 10 bytes, limit 8') ],
	[ 'text', '', good('x'), good('y' x 200), bad("a\0", ' holds a zero byte'), bad("\xff", $invalid) ],
	[ 'varchar(3)', '', good('abc'), good('ab     ', 'ab '), bad('abcd', ' has 4 characters, limit 3') ],
	[ 'small', '', good('99'), bad('100', ': value for domain small violates check constraint "small_check"'), no_syntax('x', 'integer') ],
	[ 'given', '', good('1'), good('2'), good('3'), good('4'), no_syntax('x', 'integer') ],
	[ 'inet', '', good('10.0.0.1'), no_syntax('10.0.0', 'inet') ]);

sub random_file
{
	my ($definition, $nrecords) = @_;
	my $share = pick(0, 0.01, 0.1, 0.5);
	my $offset = 0;
	my (@records, $text);

	for my $number (1 .. $nrecords)
	{
		my @values = map {
			my (undef, undef, @choice) = @$_;
			my @good = grep { defined $_->[1] } @choice;
			my @bad = grep { !defined $_->[1] } @choice;

			chance($share) ? pick(@bad) : chance(0.1) ? [ '', undef ] : pick(@good);
		} @$definition;
		my $line = join ',', map { $_->[0] } @values;
		my $error;

		if (chance(0.01))
		{
			($line, $error) = pick(
				[ "$line,", 'expected ' . @values . ' columns, found ' . (@values + 1) ],
				[ '"a"b', 'text after closing quote in field 1' ])->@*;
		}
		push @records, { number => $number, offset => $offset, values => \@values, error => $error };
		$text .= "$line\n";
		$offset += length($line) + 1;
	}
	write_file($file, $text // '');
	return \@records;
}

# ---- what is expected ----

sub notice
{
	my ($record, $what, $column, $why, $detail) = @_;

	return ($what eq '' ? 'skipped' : 'set to NULL in') . qq{ record $record->{number} of "$file": }
	  . ($column eq '' ? $why : qq{column "$column"$why})
	  . "\nLine $record->{number}, byte offset $record->{offset}." . (defined $detail ? " $detail" : '');
}

# rows and messages, of the columns with these numbers
sub read_plainly
{
	my ($definition, $records, @wanted) = @_;
	my (@rows, @said, $nskipped, $nnulls);

	($nskipped, $nnulls) = (0, 0);
	for my $record (@$records)
	{
		my (@row, @nulls, $skipped);

		$skipped = notice($record, '', '', $record->{error}) if defined $record->{error};
		for my $c (@wanted)
		{
			my (undef, $value, $why, $detail) = @{ $record->{values}[$c] };
			my $is_given = $definition->[$c][0] eq 'given';

			last if defined $skipped;
			$why //= ': domain given does not allow null values' if $is_given && !defined $value;
			$skipped = notice($record, '', "c$c", $why, $detail) if $is_given && !defined $value;
			push @nulls, notice($record, 'null', "c$c", $why, $detail) if !$is_given && defined $why;
			push @row, $value // '-';
		}
		push @said, defined $skipped ? $skipped : @nulls;
		$nskipped += defined $skipped;
		$nnulls += @nulls if !defined $skipped;
		push @rows, join('|', @row) if !defined $skipped;
	}
	return { records => scalar @$records, rows => \@rows, said => \@said, skipped => $nskipped, nulls => $nnulls };
}

# the NOTICEs of psql, each with its DETAIL
sub said
{
	my ($err) = @_;

	$err =~ s/^HINT: .*\n//gm;
	$err =~ s/\nDETAIL:  /\n/g;
	return grep { $_ ne '' } map { s/\n\z//r } split /^NOTICE:  /m, $err;
}

# ---- reading ----

my ($nfiles, $nread, $nnulls, $nskipped, $nshared, $nkept, @wrong) = (0, 0, 0, 0, 0, 0);

sub compare
{
	my ($what, $expected, $out, $err, $limit) = @_;
	my @said = said($err);
	my @told = @{ $expected->{said} };

	# a summary comes, too, where no record was good
	if (@told > $limit || ($expected->{skipped} && $expected->{skipped} == $expected->{records}))
	{
		splice @told, $limit if @told > $limit;
		push @told, pop @said // '';
		my $nulls = $expected->{nulls};
		my $values = "$nulls value" . ($nulls == 1 ? '' : 's');
		my $summary = $expected->{skipped} == 0 ? qq{set $values of "$file" to NULL} :
		  "skipped $expected->{skipped} record" . ($expected->{skipped} == 1 ? '' : 's') . qq{ of "$file"}
			. ($nulls ? ", set $values to NULL" : '');

		$told[-1] = "no summary: $summary" if index($told[-1], "$summary\n") != 0;
		$told[-1] .= ' (no count)' if $nulls && $told[-1] !~ /set_null $nulls[,.]/;
		pop @told if $told[-1] !~ /no summary|no count/;
	}
	$nread++;
	return if $out eq join("\n", @{ $expected->{rows} }) && "@said" eq "@told";
	push @wrong, $what;
	diag("$what\nrows expected:\n" . join("\n", @{ $expected->{rows} }) . "\ngot:\n$out\nsaid:\n@said\nexpected:\n@told") if @wrong < 3;
	return;
}

my $end = time + $seconds;

# on a busy machine, on until there was something of each kind
while (@wrong < 3 && (time < $end
		|| ($nfiles < 100 && grep { $_ == 0 } $nnulls, $nskipped, $nshared, $nkept)))
{
	my @definition = map { pick(@columns) } 1 .. pick(1, 2, 4, 7);
	my $records = random_file(\@definition, pick(1, 5, 50, 400, 2000));
	my $is_small = @$records <= 400;
	my $limit = pick(0, 3, 10, 3000);
	my $columns = join ', ', map { "c$_ $definition[$_][0]" . ($definition[$_][1] ? " OPTIONS ($definition[$_][1])" : '') } 0 .. $#definition;

	$nfiles++;
	$session->value("DROP FOREIGN TABLE IF EXISTS t;
		CREATE FOREIGN TABLE t ($columns) SERVER csv OPTIONS (filename '$file', on_error 'set_null', notice_limit '$limit'"
		  . (chance(0.5) ? ", chunk_size '" . pick('64B', '1000B', '4kB') . "'" : '') . ')');
	settle() if chance(0.3);
	$session->value("\\pset null -");
	for (1 .. 5)
	{
		my @wanted = grep { chance(0.7) } 0 .. $#definition;
		my $list = join ', ', map { "c$_" } @wanted;
		my $settings = 'SET csv_gpu_fdw.engine = ' . pick(@engines) . '; SET csv_gpu_fdw.resident = ' . pick('on', 'off')
		  . '; SET csv_gpu_fdw.enable_pushdown = ' . pick('on', 'on', 'off') . '; SET csv_gpu_fdw.cpu_threads = ' . pick(1, 3)
		  . '; SET csv_gpu_test.parallel_workers = ' . pick(0, 4) . '; SET max_parallel_workers_per_gather = ' . pick(0, 4) . ';';
		my $expected = read_plainly(\@definition, $records, @wanted);

		next if !@wanted;
		$nnulls += $expected->{nulls};
		$nskipped += $expected->{skipped};
		# groups have no order, nor have rows of a parallel scan
		my $sorted = { %$expected, rows => [ sort @{ $expected->{rows} } ] };
		my ($out, $err) = $session->query("$settings SELECT $list FROM t");

		compare("$settings $list", $sorted, join("\n", sort split /\n/, $out), $err, $limit);
		my $plan = $session->value("EXPLAIN SELECT $list FROM t");
		$nshared++ if $plan =~ /Parallel Foreign Scan/;
		$nkept++ if $plan =~ /Resident Columns: ([1-9]\d*) of \1$/m;

		# a filter sees NULL, and so do groups
		my $place = int rand @wanted;
		my $column = "c$wanted[$place]";
		my $wants_null = chance(0.5);
		my @passed = grep { ((split /\|/, $_, -1)[$place] eq '-') == $wants_null } @{ $sorted->{rows} };
		my $where = "$column IS " . ($wants_null ? 'NULL' : 'NOT NULL');

		($out, $err) = $session->query("$settings SELECT $list FROM t WHERE $where");
		compare("$settings $list WHERE $where", { %$sorted, rows => \@passed }, join("\n", sort split /\n/, $out), $err, $limit);

		my $of_one = read_plainly(\@definition, $records, $wanted[$place]);
		my $nvalues = grep { $_ ne '-' } @{ $of_one->{rows} };
		($out, $err) = $session->query("$settings SELECT count(*), count($column) FROM t");
		compare("$settings count $column", { %$of_one, rows => [ @{ $of_one->{rows} } . "|$nvalues" ] }, $out, $err, $limit);
	}

	# all columns: the error table, and a load with its rejects
	my $all = read_plainly(\@definition, $records, 0 .. $#definition);
	my $list = join ', ', map { "c$_" } 0 .. $#definition;
	my @said = map { m/^(.*?) record (\d+) of "[^"]*": (.*)\n/ ? "$2|" . ($1 eq 'skipped' ? 'skipped' : 'set_null') . "|$3" : "? $_" } @{ $all->{said} };
	my $errors = "record, CASE error WHEN 'set_null' THEN error ELSE 'skipped' END, message";

	is($session->value("SELECT $errors FROM csv_gpu_errors('t')"), join("\n", @said), "csv_gpu_errors() of file $nfiles");
	# rows of a parallel scan have no order
	my ($out, $err) = $session->query("SET csv_gpu_fdw.engine = cpu; SET max_parallel_workers_per_gather = 0;
		SET client_min_messages = warning; DROP TABLE IF EXISTS loaded, rejects; CREATE TABLE loaded AS SELECT * FROM t LIMIT 0;
		CREATE TABLE rejects (record bigint, error text, message text);
		SELECT records_loaded, records_skipped FROM csv_gpu_load('t', 'loaded', rejects => 'rejects');
		SELECT $errors FROM rejects ORDER BY record, message COLLATE \"C\"; SELECT $list FROM loaded;
		TRUNCATE loaded;
		SELECT records_loaded, records_skipped FROM csv_gpu_load('t', 'loaded');
		SELECT $list FROM loaded; SET client_min_messages = notice");
	my $loaded = @{ $all->{rows} } . "|$all->{skipped}";

	my @rejected = map { $_->[2] } sort { $a->[0] <=> $b->[0] || $a->[1] cmp $b->[1] } map { [ (split /\|/, $_, 3)[0, 2], $_ ] } @said;

	is("$out$err", join("\n", $loaded, @rejected, @{ $all->{rows} }, $loaded, @{ $all->{rows} }), "loads of file $nfiles");
}

is(scalar @wrong, 0, "$nread queries over $nfiles files read what stands there");
cmp_ok($nnulls, '>', 0, "$nnulls values were set to NULL");
cmp_ok($nskipped, '>', 0, "$nskipped records were skipped");
cmp_ok($nshared, '>', 0, "$nshared scans were shared");
cmp_ok($nkept, '>', 0, "$nkept were of kept columns");
finish($session);
