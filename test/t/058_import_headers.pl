# Files whose first or last records are easily taken for what they are not: headers of
# numbers (years, hours, months, wavelengths, percents, the index of a data frame), rows
# of numbers below a header, dates and times as names, rows of words, labels, types, units
# and missing values, last rows of text, files of one row, matrices without a header.  The
# test has written each file, so it knows its header, its records and its types.
# csv_gpu_sniff() must find these, or tell what it assumed and the option that settles it;
# and ordinary files must not have such a NOTICE.
#
# EFFORT=N makes more files of each kind, SEED=N others.
# CSV_GPU_FDW_EXAMPLES=N shows N files of each kind that are not right.
use lib 'test/t';
use CsvServer;

my $nfiles = amount(200);
my $seed = $ENV{SEED} || 1;
my $examples = $ENV{CSV_GPU_FDW_EXAMPLES} || 2;
my $node = csv_server('headers');
my $dir = new_folder();

note("SEED=$seed");

# ---- parts of files ----

# the marks of all values of a file, and its rows' names
my ($mark, $decimal);
my @towns = qw(Oslo Bergen Hamar Molde Alta Bodo Narvik Skien Moss Larvik Halden Voss);
my @people = qw(ann bob eve carl dora emil fred gina hugo ida jan kim);
my @codes = map { sprintf 'ST%03d', $_ * 7 } 1 .. 12;
my @first_names = qw(station id name country Region GEO gene site Code sample_id);

sub number
{
	return $_[0] =~ s/\./$decimal/r;
}

# a function that makes values of a column, or of a matrix
sub values_of
{
	my @makers = (
		sub { between(0, 20) },
		sub { between(0, 999) },
		sub { between(10_000, 5_000_000) },
		sub { number(sprintf '%.1f', rand(40) - 5) },
		sub { number(sprintf '%.3f', rand) },
		sub { number(sprintf '%.2f', rand(1000)) });
	my $maker = pick(@makers);

	return $maker if chance(0.7);
	return sub { chance(0.1) ? pick('', 'NA') : $maker->() };
}

sub labels
{
	my @pool = @{ pick(\@towns, \@people, \@codes, [ 1 .. 12 ]) };

	return @pool[ 0 .. $_[0] - 1 ];
}

sub line
{
	return join($mark, @_) . "\n";
}

# A matrix with names of its rows, below a header or none, as lines
sub matrix
{
	my ($header, $nrows, $ncolumns, $value) = @_;
	my @labels = labels($nrows);

	$value //= values_of();
	return ($header ? line(@$header) : (), map { my $label = $_; line($label, map { $value->() } 1 .. $ncolumns) } @labels);
}

# A matrix below numbers; the first name is a word, or empty
sub below_numbers
{
	my ($names, %how) = @_;

	# data whose numbers grow from left to right, in some files
	if (!$how{values} && !$how{uneven} && chance(0.1))
	{
		my $sum;

		return { lines => [ line($how{first} // pick(@first_names), @$names), map { $sum = between(0, 50); line($_, map { $sum += between(0, 9) } @$names) } labels(between(2, 12)) ], header => 1 };
	}
	return { lines => [ matrix([ $how{first} // pick(@first_names, ''), @$names ], between(1, 12), scalar @$names, $how{values}) ], header => 1 };
}

sub counted
{
	my ($from, $step, $n, $format) = @_;

	return [ map { number(sprintf $format // '%s', $from + $step * $_) } 0 .. $n - 1 ];
}

# a table of columns of several types, without a header
sub columns
{
	my ($nrows) = @_;
	my @makers = (
		sub { between(1, 9999) }, sub { number(sprintf '%.2f', rand(500)) }, sub { pick(@towns) . ' ' . pick(@people) },
		sub { sprintf '20%02d-%02d-%02d', between(0, 24), between(1, 12), between(1, 28) }, sub { pick(@towns) });
	my @types = ($makers[ between(0, 1) ], map { pick(@makers) } 1 .. between(1, 6));

	return map { [ map { $_->() } @types ] } 1 .. $nrows;
}

my @words = qw(id name total price count note weight origin place status batch owner);

sub words
{
	return map { $words[$_] } 0 .. $_[0] - 1;
}

# ---- kinds ----

# A file is a hash of lines, header (the number of its rows), footer, types (of all
# columns), told (a pattern that its NOTICEs must match), quiet (it must be right).
my %kinds = (
	years => sub { below_numbers(counted(between(1850, 2015), pick(1, 1, 5, 10, -1), between(1, 20))) },
	hours => sub { below_numbers(counted(0, pick(1, 1, 2, 6), between(3, 24), pick('%s', '%02d'))) },
	months => sub { below_numbers(counted(1, 1, 12, pick('%s', '%02d'))) },
	wavelengths => sub { below_numbers(counted(between(350, 900) + pick(0, 0.5), pick(0.5, 1, 5, 10), between(4, 40), pick('%.1f', '%s', '%.2f')), first => pick('sample', 'id', '', 'Spectrum', 'wavelength')) },
	'uneven steps' => sub {
		my @all = @{ pick([ 0, 0.1, 0.5, 1, 2, 5, 10, 50 ], [ 1, 5, 10, 25, 50, 75, 90, 95, 99 ], [ 412, 443, 490, 510, 555, 670, 865 ], [ 0, 5, 18, 30, 45, 65, 80 ]) };

		return below_numbers([ map { number($_) } @all[ 0 .. between(3, $#all) ] ], uneven => 1);
	},
	'numbers in quotes' => sub {
		my $n = between(1, 6);
		my $value = pick(sub { between(0, 99) }, sub { number(sprintf '%.2f', rand 9) });
		my @labels = map { qq{"$_"} } labels(between(2, 12));

		return { lines => [ line(pick('""', '"id"', '"Site"'), map { qq{"$_"} } @{ counted(between(1, 90), between(1, 7), $n) }), map { my $label = $_; line($label, map { $value->() } 1 .. $n) } @labels ], header => 1 };
	},
	percents => sub { below_numbers(counted(pick(0, 5, 10), pick(5, 10), between(3, 10), '%s%%')) },
	frames => sub {
		my $n = between(2, 10);

		return { lines => [ line('', 0 .. $n - 1), map { my $row = $_; my $value = values_of(); line($row, map { $value->() } 1 .. $n) } 0 .. between(0, 9) ], header => 1 };
	},
	mixed => sub {
		my $n = between(3, 8);
		my $value = values_of();
		my @keys = labels(between(2, 12));

		return { lines => [ line('id', 'name', @{ counted(pick(between(1950, 2010), 1), 1, $n) }, 'total'), map { my $key = $_; line($key, pick(@towns), map { $value->() } 0 .. $n) } @keys ], header => 1 };
	},
	'one number' => sub { below_numbers([ between(1990, 2024) ], values => pick(sub { between(0, 300) }, sub { number(sprintf '%.2f', rand(90)) }, sub { pick('D+', 'R+') . between(1, 40) })) },
	'numbers above texts' => sub {
		my $n = between(3, 8);

		return { lines => [ matrix([ pick(@first_names), 1 .. $n ], between(2, 12), $n, sub { pick(qw(yes no maybe x open done)) }) ], header => 1 };
	},
	matrices => sub { return { lines => [ matrix(undef, between(3, 12), between(1, 10)) ], header => 0, ordinary => 1 } },
	'numbers only' => sub {
		my ($n, $value) = (between(2, 10), values_of());

		return { lines => [ map { line(map { $value->() } 1 .. $n) } 1 .. between(3, 12) ], header => 0, ordinary => 1 };
	},
	'header of words' => sub { my @rows = columns(between(2, 12)); return { lines => [ map { line(@$_) } [ words(scalar @{ $rows[0] }) ], @rows ], header => 1, ordinary => 1 } },
	'one row' => sub {
		my ($row) = columns(1);

		return { lines => [ line(@$row) ], header => 0 } if chance(0.4);
		return { lines => [ line(pick(@first_names), @{ counted(pick(0, 1, between(1950, 2015)), 1, between(3, 12)) }) ], header => pick(0, 1) } if chance(0.5);
		return { lines => [ line(words(between(2, 8))) ], header => 1 };
	},
	'counting row' => sub {
		# data that counts as a row of the columns' numbers does
		my $n = between(3, 4);
		my @rows = map { my $row = $_; [ map { $_ == $n ? pick(@people) : $row + $_ } 1 .. $n ] } 1 .. between(1, 5);

		return { lines => [ map { line(@$_) } [ words($n) ], [ 1 .. $n ], @rows ], header => 1 };
	},
	labels => sub {
		# labels of codes, above numbers and texts
		my @makers = ([ sub { between(1000, 99999) }, 'integer' ], [ sub { number(sprintf '%.1f', rand(100)) }, 'numeric' ],
			[ sub { '*****' }, 'text' ], [ sub { 'State ' . between(1, 50) }, 'text' ], [ sub { pick(@towns) }, 'text' ]);
		my @columns = (pick([ sub { sprintf '0400000US%02d', between(1, 99) }, 'text' ], [ sub { between(1, 999) }, 'integer' ]), $makers[ between(0, 1) ], map { pick(@makers) } 1 .. between(1, 5));
		my @codes = (pick(qw(GEO_ID id Q0)), map { sprintf pick('B%05d_%03dE', 'V%d%03d', 'Q%d_%d'), between(1, 99), $_ } 1 .. $#columns);
		my @texts = (pick('id', 'Geography', 'Response ID'), map { pick('Women', 'Men', 'Households', 'Rent paid') . pick('!!Total', '!!Margin of Error', ' per month', ' in the last year') . " ($_)" } ('A' .. 'F')[ 0 .. $#columns - 1 ]);

		return { lines => [ map { line(@$_) } \@codes, \@texts, map { [ map { $_->[0]->() } @columns ] } 1 .. between(3, 12) ], header => 2, types => [ map { $_->[1] } @columns ] };
	},
	'times above words' => sub {
		# rosters and timetables
		my $first = between(1, 20);
		my $n = between(2, 8);
		my $form = pick(
			sub { sprintf '2024-04-%02d', $_[0] }, sub { sprintf '%02d/04/2024', $_[0] }, sub { sprintf '%02d.04.2024', $_[0] },
			sub { "$_[0].4." }, sub { "$_[0]/4" }, sub { sprintf '%d-%02d', 2000 + $_[0] / 12, 1 + $_[0] % 12 }, sub { sprintf '%02d:00', $_[0] % 24 },
			sub { sprintf '%02d:00:00', $_[0] % 24 }, sub { sprintf '%d:00-%d:00', $_[0], $_[0] + 1 }, sub { "$_[0] Apr" }, sub { "Apr-$_[0]" }, sub { "April $_[0], 2024" });
		my @names = map { my $name = $form->($_); $name =~ /$mark/ ? qq{"$name"} : $name } $first .. $first + $n - 1;
		my @values = pick([qw(early late)], [ 'early', 'late', '' ], [qw(Math Art PE Music)], [qw(x yes no)]);
		my @rows = (map { my $row = $_; [ $people[$row], map { $values[0][ ($row + $_) % @{ $values[0] } ] } 1 .. $n ] } 0 .. pick(0, between(3, 11), between(3, 11)));

		return { lines => [ map { line(@$_) } [ pick('Name', 'employee', 'class', ''), @names ], @rows ], header => 1 };
	},
	'words below names' => sub {
		# one row of words above rows of values: data, or a second row of names
		my $n = between(3, 6);
		my @words = (pick('Gift', 'Widget', 'Stand', 'extra'), pick('free', 'gratis', 'open'), pick('unlimited', 'many', 'any'), qw(varying often seldom))[ 0 .. $n - 1 ];
		my @makers = (pick(sub { "A$_[0]" }, sub { "village$_[0]" }, sub { $_[0] }), map { pick(sub { number(sprintf '%.2f', rand 9) }, sub { between(1, 999) }) } 2 .. $n);
		my @rows = map { my $row = $_; [ map { $_->($row) } @makers ] } 10 .. between(13, 30);
		my $again = chance(0.3);

		splice @rows, between(1, 3), 0, [ map { "$_ too" } @words ] if $again;
		return { lines => [ map { line(@$_) } [ words($n) ], \@words, @rows ], header => 1, quiet => $again };
	},
	units => sub {
		# types and units, whose rows belong to the names; units that recur do not
		my $n = between(2, 5);
		my $row = sub { my @of = @_; [ map { pick(@of) } 1 .. $n ] };
		my @above = map { $row->(@$_) } @{ pick([ [qw(int float double integer)] ], [ [qw((kg) (m) [s])] ], [ [qw(int float numeric timestamp)], [qw((kg) (m) [s])] ], [ [qw(double real)], [qw(s m/s kg)] ]) };
		my $again = chance(0.2) ? between(5, 50) : 0;

		@above = (([ ('kg') x $n ]) x $again) if $again;
		return { lines => [ map { line(@$_) } [ words($n) ], @above, map { [ map { between(1, 99) } 1 .. $n ] } 1 .. between(2, 9) ], header => 1 + ($again ? 0 : @above), quiet => !$again };
	},
	'missing values' => sub {
		# first records of nothing, or nearly
		my @rows = columns(between(3, 12));
		my $n = @{ $rows[0] };
		my $missing = pick('', 'NA', 'n/a', '-', 'NULL');
		my @key = pick([], [ between(1, 9) ]);

		return { lines => [ map { line(@$_) } [ words($n) ], (map { [ @key, ($missing) x ($n - @key) ] } 1 .. between(1, 2)), @rows ], header => 1 };
	},
	'last rows' => sub {
		# rows of text and empty fields, which stand above, too
		my @rows = columns(between(4, 10));
		my $n = @{ $rows[0] };
		my $text = sub { [ pick('see note ', 'Remark ', 'Note: ', 'total of part ', '(closed) ') . between(1, 9), ('') x ($n - 1) ] };

		return { lines => [ map { line(@$_) } [ words($n) ], @rows[ 0 .. 1 ], $text->(), @rows[ 2 .. $#rows ], $text->(), $text->() ], header => 1 };
	},
	footers => sub {
		my @rows = columns(between(4, 10));
		my $n = @{ $rows[0] };

		return { lines => [ map { line(@$_) } [ words($n) ], @rows, [ 'Source: the office', ('') x ($n - 1) ] ], header => 1, footer => 1 };
	});

# ---- what comes ----

my @cases;

for my $kind (sort keys %kinds)
{
	srand($seed * 1000 + unpack '%16C*', $kind);
	for my $number (1 .. $nfiles)
	{
		$mark = pick(',', ',', ';', "\t");
		$decimal = $mark eq ';' && chance(0.5) ? ',' : '.';
		my $case = $kinds{$kind}->();

		$case->{kind} = $kind;
		$case->{file} = write_file("$dir/" . $kind =~ s/ /_/gr . "_$number.csv", @{ $case->{lines} });
		push @cases, $case;
	}
}

my ($out, $err) = ('', '');
my $script = join '', "\\pset format unaligned\n\\pset tuples_only on\n", map { "\\echo \@$_->{file}\n\\warn \@$_->{file}\n" .
	  "SELECT header_rows, coalesce(footer_rows, 0), records, skipped, string_agg(type, ',' ORDER BY column_number) FROM csv_gpu_sniff('$_->{file}') GROUP BY 1, 2, 3, 4;\n" } @cases;

$node->psql('postgres', $script, stdout => \$out, stderr => \$err);

# by file
sub parts
{
	my ($text) = @_;

	return map { /^(\S+)\n(.*)/s ? ($1 => $2) : () } split /^@(?=\/)/m, $text;
}

my %found = parts("$out\n");
my %said = parts($err =~ s/^psql:\S+ //gmr);
my (%right, %silent, %wolf, %shown);

for my $case (@cases)
{
	my ($kind, $file) = @$case{qw(kind file)};
	my ($header, $footer, $records, $skipped, $types) = split /\|/, ($found{$file} // '') =~ s/\n//gr;
	my $said = $said{$file} // '';
	my $expected = @{ $case->{lines} } - $case->{header} - ($case->{footer} // 0);
	my $is_right = ($header // -1) == $case->{header} && $footer == ($case->{footer} // 0) && $records == $expected && !$skipped
	  && (!$case->{types} || $types eq join ',', @{ $case->{types} });
	my $is_told = $said =~ /^HINT:.*(?:\bheader '|"?header_rows\b|"?footer_rows\b)/m;

	$right{$kind} += $is_right;
	$wolf{$kind}++ if $case->{ordinary} && $said =~ /assuming that .* header|left out of/;
	push @{ $silent{$kind} }, $file if !$is_right && (!$is_told || $case->{quiet});
	next if $is_right || ($shown{ $kind . $is_told }++ >= $examples);
	note(($is_told ? 'told: ' : 'silent: ') . "$kind, " . ($found{$file} // 'none') . join('', @{ $case->{lines} }) . $said);
}

for my $kind (sort keys %kinds)
{
	note(sprintf '%s: %d of %d are right', $kind, $right{$kind}, $nfiles);
	is(scalar @{ $silent{$kind} // [] }, 0, "$kind: none is wrong in silence");
	cmp_ok($wolf{$kind} // 0, '<=', $nfiles * 0.03, "$kind: ordinary files have no NOTICE of a header");
}

finish();
