# Values that a table must not change in silence, in files made at random beside their
# truth: words that are NULL in some columns only, files with the byte-order mark of UTF-8
# beside files without it, and dates with the names of months.
#
# EFFORT=N makes more cases of each, SEED=N others.
use lib 'test/t';
use CsvServer;
use Encode qw(encode decode);
use File::Path qw(remove_tree);

$ENV{SEED} ||= 1;
my $ncases = amount(250);
my $node = csv_server('values', QUICK_FILES, CHEAP_WORKERS, 'csv_gpu_test.small_pieces' => 'on', 'csv_gpu_fdw.resident_memory' => '64MB', datestyle => 'ISO, YMD');
my $dir = new_folder() . '/values';
my $session = new_session($node);
my (%wrong, %seen);

random_seed();

# what the directory has from now on: names and bytes
sub files
{
	my (%files) = @_;

	remove_tree($dir);
	mkdir $dir;
	write_file("$dir/$_", $files{$_}) for keys %files;
	return;
}

# A statement's rows as lists, and what it said.
sub rows
{
	my ($sql, $from) = @_;
	my ($out, $err) = ($from // $session)->query($sql);

	return [ map { [ split /\|/, $_, -1 ] } split /\n/, $out ], $err;
}

# IMPORT of the directory as one table; gives what it said
sub import_of
{
	my ($options, $from) = @_;

	return (rows(
			qq{SET client_min_messages = warning; DROP SCHEMA IF EXISTS i CASCADE; CREATE SCHEMA i; SET client_min_messages = notice;
			IMPORT FOREIGN SCHEMA files FROM SERVER csv INTO i OPTIONS (directory '$dir', pattern '*.csv', table 't'$options)}, $from))[1];
}

sub wrong
{
	my ($kind, $case, $why, @more) = @_;

	push @{ $wrong{$kind} }, "case $case: $why" . join '', map { "\n    " . s/\n/\n    /gr } @more;
	return;
}

# report a kind: what must have been seen at least once, too
sub told
{
	my ($kind, @seen) = @_;

	note("$kind: " . join ', ', map { "$seen{$kind}{$_} $_" } sort keys %{ $seen{$kind} });
	is(scalar @{ $wrong{$kind} // [] }, 0, "$ncases cases of $kind: nothing is changed in silence");
	diag($_) for grep { defined } @{ $wrong{$kind} // [] }[ 0 .. 2 ];
	cmp_ok($seen{$kind}{$_} // 0, '>', 0, "$kind: $_") for @seen;
	return;
}

# ---- words that are NULL ----

# The first files have the words in columns of numbers, dates and the like; later files have
# them everywhere.
my @words = ('NA', 'N/A', 'n/a', '-', '--', '.', '?', 'null', 'NULL', 'None', '#N/A', 'na', 'ND');
my %value_of = (
	integer => sub { 1 + int rand 5000 },
	numeric => sub { sprintf '%d.%02d', rand 900, rand 100 },
	date => sub { sprintf '%d-%02d-%02d', 1990 + rand 40, 1 + rand 12, 1 + rand 28 },
	boolean => sub { pick('true', 'false') },
	text => sub { join '', map { pick('A' .. 'Z') } 1 .. 3 });

for my $case (1 .. $ncases)
{
	my @columns = (
		{ type => 'text', words => [] },
		map { { type => pick(sort keys %value_of), words => [ map { pick(@words) } 1 .. rand 3 ] } } 1 .. 2 + rand 4);
	my $quotes = chance(0.3);
	my $line = sub {
		my ($record, @values) = @_;

		return join(',', $record, map { $quotes && chance(0.3) ? qq{"$_"} : $_ } @values) . "\n";
	};
	my $header = join(',', 'id', map { "c$_" } 0 .. $#columns) . "\n";
	my (@first, @later, %truth);

	for my $record (1 .. 12)
	{
		push @first, $line->($record, map {
				my $words = $_->{type} eq 'text' ? [] : $_->{words};

				$record <= @$words ? $words->[ $record - 1 ] : $value_of{ $_->{type} }->() } @columns);
	}
	files('1.csv' => $header . join '', @first);

	my $said = import_of('');
	my ($got) = rows(q{SELECT a.attname, format_type(atttypid, NULL), coalesce(s.null_values, ''),
		coalesce((SELECT option_value FROM pg_options_to_table(attfdwoptions) WHERE option_name = 'null_values'), '')
		FROM pg_attribute a JOIN csv_gpu_sniff('} . "$dir/1.csv" . q{') s ON column_name = attname WHERE attrelid = 'i.t'::regclass AND attnum > 1 ORDER BY attnum});

	for my $i (0 .. $#columns)
	{
		my ($name, $type, $sniffed, $option) = @{ $got->[$i] };

		wrong('NULL words', $case, "csv_gpu_sniff() shows $sniffed, IMPORT writes $option for $name") if $sniffed ne $option;
		wrong('NULL words', $case, "$name is $type") if $type ne $columns[$i]{type};
	}

	# the column's own words, or words of others in texts; one record has another word
	my $odd = 1 + int rand 8;

	for my $record (101 .. 108)
	{
		my @values = map { my $own = $_->{type} eq 'text' ? \@words : $_->{words}; @$own && chance(0.5) ? pick(@$own) : $value_of{ $_->{type} }->() } @columns;
		my $is_odd = $record == 100 + $odd && chance(0.5);

		if ($is_odd)
		{
			my ($i) = grep { $columns[$_]{type} ne 'text' } 0 .. $#columns;

			$is_odd = defined $i;
			$values[$i] = 'unheard-of' if $is_odd;
		}
		$truth{$record} = [ map { my ($column, $value) = ($columns[$_], $values[$_]); $column->{type} ne 'text' && (grep { $_ eq $value } @words) ? '<NULL>' : $value } 0 .. $#columns ] if !$is_odd;
		push @later, $line->($record, @values);
	}
	write_file("$dir/2.csv", $header . join '', @later);
	my ($rows, $err) = rows("SELECT id, " . join(', ', map { "coalesce(c$_\::text, '<NULL>')" } 0 .. $#columns) . " FROM i.t WHERE id > 100 ORDER BY id");
	my %rows = map { my ($id, @values) = @$_; ($id => \@values) } @$rows;

	for my $record (101 .. 108)
	{
		my ($is, $must) = map { $_->{$record} ? join '|', @{ $_->{$record} } : 'no row' } \%rows, \%truth;

		$seen{'NULL words'}{ $must eq 'no row' ? 'bad records' : $must =~ /<NULL>/ ? 'records with NULL' : 'other records' }++;
		wrong('NULL words', $case, "$is, not $must", $header, @first[ 0 .. 3 ], @later, $said, $err) if $is ne $must || ($must eq 'no row' && $err !~ /skipped/);
	}
}
told('NULL words', 'records with NULL', 'bad records');

# ---- byte-order marks ----

my @texts = ('Zoë', 'José', 'naïve café', 'Œuvre', '10 €', 'Ærø', 'plain', 'Łódź', '東京', 'ascii only');
my %forms = (
	marked => sub { "\xef\xbb\xbf" . encode('UTF-8', $_[0]) },
	utf8 => sub { encode('UTF-8', $_[0]) },
	single => sub { encode('cp1252', $_[0]) },
	utf16 => sub { "\xff\xfe" . encode('UTF-16LE', $_[0]) });

sub fits
{
	my ($text, $name) = @_;
	my $copy = $text;

	return defined eval { encode($name, $copy, Encode::FB_CROAK) };
}

$node->safe_psql('postgres', q{CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'});
$node->safe_psql('latin', q{CREATE EXTENSION csv_gpu_fdw; CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw});
my %sessions = (UTF8 => $session, LATIN1 => new_session($node, database => 'latin'));

utf8::decode($_) for @texts;
for my $case (1 .. $ncases)
{
	my $database = chance(0.15) ? 'LATIN1' : 'UTF8';
	my $from = $sessions{$database};
	my $client = pick('UTF8', 'UTF8', 'LATIN1', $database eq 'UTF8' ? 'WIN1252' : ());
	my $imports = chance(0.5);
	my $encoding = pick('', '', '', 'UTF8', 'LATIN1', $database eq 'UTF8' ? ('WIN1252', 'WIN1252') : (), $imports ? () : ('UTF16', 'UTF16BE', 'SQL_ASCII', $database eq 'UTF8' ? 'SJIS' : ()));
	my $far = chance(0.5);
	my (%files, %truth, %form_of, @all);

	for my $number (1 .. 1 + int rand 3)
	{
		my $form = $number == 1 && chance(0.5) ? 'single' : pick('marked', 'marked', 'utf8', 'single', 'utf16');
		my @texts = grep { ($form ne 'single' || fits($_, 'cp1252')) && ($far || fits($_, 'iso-8859-1')) } @texts;
		my @rows = map { [ $number * 1000 + $_, pick(@texts) ] } 1 .. 1 + rand(chance(0.1) ? 900 : 20);
		my $name = "$number.csv";

		$files{$name} = $forms{$form}->(join '', "id,name\n", map { "$_->[0],$_->[1]\n" } @rows);
		$form_of{$name} = $form;
		$truth{$name} = { map { ($_->[0] => unpack 'H*', encode('UTF-8', $_->[1])) } @rows };
		push @all, @rows if $form eq 'marked';
	}
	files(%files);
	my ($set, $reset) = ("SET client_encoding = '$client'", 'RESET client_encoding');
	my $option = $encoding eq '' ? '' : ", encoding '$encoding'";
	my $said = '';
	my $made;

	$from->query($set);
	if ($imports)
	{
		$said = import_of($option, $from);
	}
	else
	{
		$said = (rows(qq{SET client_min_messages = warning; DROP SCHEMA IF EXISTS i CASCADE; CREATE SCHEMA i; SET client_min_messages = notice;
			CREATE FOREIGN TABLE i.t (id int, name text) SERVER csv OPTIONS (filename '$dir/*.csv', header 'true'$option)}, $from))[1];
	}
	$said = encode('UTF-8', decode('cp1252', $said)) if $client ne 'UTF8';
	if ($said =~ /ERROR/)
	{
		$seen{marks}{'errors of IMPORT'}++;
		wrong('marks', $case, 'an error of IMPORT without a hint', join(' ', %form_of) . ", $database, $client, '$encoding'", $said) if $said !~ /HINT/;
		$from->query($reset);
		next;
	}
	settle() if chance(0.1);

	my ($rows, $err, @again);
	my $query = "SELECT id, encode(convert_to(name, 'UTF8'), 'hex') FROM i.t";
	for my $way ('', 'SET max_parallel_workers_per_gather = 4', 'SET max_parallel_workers_per_gather = 0', "SET csv_gpu_fdw.cpu_threads = 1")
	{
		my ($now, $now_err) = rows("$way; $query ORDER BY id", $from);

		($rows, $err) = ($now, $now_err) if !defined $rows;
		push @again, $way if "@{[ map { qq{@$_} } @$now ]}" ne "@{[ map { qq{@$_} } @$rows ]}" || ($now_err =~ /ERROR/) != ($err =~ /ERROR/);
	}
	$from->query('RESET ALL; SET client_min_messages = notice');
	wrong('marks', $case, "other rows with $_") for @again;

	my $what = "files " . join(' ', map { "$_:$form_of{$_}" } sort keys %form_of) . ", database $database, client $client, encoding '$encoding', " . ($imports ? 'import' : 'table');
	my %rows = map { ($_->[0] => $_->[1]) } @$rows;

	if ($said =~ /have errors/ && $err =~ /column "id" does not exist/)
	{
		$seen{marks}{'names of another encoding'}++;
		next;
	}
	if ($err =~ /ERROR/)
	{
		# only where a mark contradicts, or a character cannot be
		wrong('marks', $case, 'an error without need', $what, $said, $err)
		  if $err !~ /HINT/ || ($encoding !~ /UTF16/ && !(grep { /utf16/ } values %form_of) && !(grep { my $row = $_; grep { !fits($row->[1], $_) } 'cp1252', 'iso-8859-1', 'shiftjis' } @all));
		$seen{marks}{errors}++;
		next;
	}
	for my $name (sort keys %truth)
	{
		my $form = $form_of{$name};
		my $nwrong = grep { exists $rows{$_} && $rows{$_} ne $truth{$name}{$_} } keys %{ $truth{$name} };
		my $nlost = grep { !exists $rows{$_} } keys %{ $truth{$name} };

		$seen{marks}{"files $form"}++;
		$seen{marks}{'marked files beside others'}++ if $form eq 'marked' && grep { $_ ne 'marked' } values %form_of;
		wrong('marks', $case, "$nlost rows of $name are lost without a word", $what, $said, $err) if $nlost > 0 && ($form =~ /marked|utf16/ || $encoding !~ /UTF16/) && $err !~ /skipped|errors/;
		wrong('marks', $case, "$nwrong rows of $name are wrong", $what, $said, $err) if $form eq 'marked' && ($nwrong > 0 || $nlost > 0) && $database eq 'UTF8';
		next if $form ne 'utf8' || $encoding ne '' || !$imports || $nwrong == 0;
		$seen{marks}{'files in UTF-8 told'}++;
		wrong('marks', $case, "$name is taken for another encoding in silence", $what, $said, $err) if $said !~ /valid in encoding "UTF8"/;
	}
}
told('marks', 'files marked', 'marked files beside others', 'errors', 'files in UTF-8 told');

# ---- dates ----

my @full = qw(January February March April May June July August September October November December);

for my $case (1 .. $ncases)
{
	my $cased = pick(sub { $_[0] }, sub { uc $_[0] }, sub { lc $_[0] });
	my $long = chance(0.5);
	my $only_may = chance(0.05);
	my $short_year = chance(0.25);
	my $sept = chance(0.2);
	my $padded = chance(0.5);
	my $time = chance(0.2) ? pick('10:30', '10:30:05', '10:30 PM') : '';
	my $order = pick(
		'month DAY, year', 'month DAY, year', 'month DAY year', 'DAY month year', 'DAY month, year', 'DAYmonthyear', 'DAYmonthyear', 'month-year', 'month-year', 'DAY-month', 'DAY-month-year',
		'month/DAY/year', 'DAY.month.year', 'month year', 'weekday, month DAY, year', 'DAYth of month year', 'month DAYth, year', 'month. DAY, year', 'month DAY', $short_year ? () : ('year-month-DAY', 'year month DAY'));
	my $delimiter = pick(',', ';', "\t");
	my $named = pick('date', 'sold', 'val');
	my (@values, @days);
	my $write = sub {
		my ($y, $m, $d, $name) = @_;
		my $text = $order =~ s/month/$cased->($name)/er;

		$text =~ s/DAY/$padded ? sprintf('%02d', $d) : $d/e;
		$text =~ s/year/$short_year ? sprintf('%02d', $y % 100) : $y/e;
		$text =~ s/weekday/Monday/;
		return $text . ($time ? " $time" : '');
	};

	for my $record (1 .. 5 + rand 30)
	{
		my ($y, $m, $d) = (2000 + int rand 29, $only_may ? 5 : 1 + int rand 12, 1 + int rand 28);

		push @days, sprintf('%d-%02d-%02d', $y, $m, $d) . ($time eq '' ? '' : $time =~ /PM/ ? ' 22:30:00' : ' ' . substr "$time:00", 0, 8);
		push @values, $write->($y, $m, $d, $sept && $m == 9 ? 'Sept' : $long ? $full[ $m - 1 ] : substr $full[ $m - 1 ], 0, 3);
	}
	my $text = sub { join '', "id$delimiter$named\n", map { my $value = $_[$_]; $value = qq{"$value"} if $delimiter eq ',' && $value =~ /,/; ($_ + 1) . "$delimiter$value\n" } 0 .. $#_ };
	files('1.csv' => $text->(@values));
	my $said = import_of('');
	my ($rows, $err) = rows("SELECT pg_typeof($named), $named FROM i.t ORDER BY id");
	my $got = join ';', map { $_->[1] } @$rows;
	my $type = $rows->[0][0] // 'nothing';

	$seen{dates}{"as $type"}++;
	if ($type eq 'text')
	{
		wrong('dates', $case, "other text: $got", $text->(@values), $said, $err) if $got ne join ';', @values;
		wrong('dates', $case, "text without a word: $values[0]", $text->(@values), $said, $err) if $said !~ /Column "$named"/;
		wrong('dates', $case, "$order is text: $values[0]", $said)
		  if $order =~ /^(month DAY, year|DAY month year|DAYmonthyear)$/ && !grep { /sept(?!em)/i } @values;
	}
	else
	{
		wrong('dates', $case, "$got, not @days", $text->(@values), $said, $err) if $got ne join ';', @days;
		wrong('dates', $case, "a month without a day is a date: $values[0]", $said) if $order !~ /DAY/ || $order !~ /year/;
	}

	# later files have the other names: right, or a bad record
	my ($y, $m, $d) = (2012, 1 + int rand 12, 1 + int rand 28);
	my $other = $write->($y, $m, $d, $long ? substr $full[ $m - 1 ], 0, 3 : $full[ $m - 1 ]);

	write_file("$dir/2.csv", $text->($other));
	($rows, $err) = rows("SELECT $named FROM i.t WHERE id = 1 ORDER BY $named" . ($type eq 'text' ? '' : " DESC"));
	wrong('dates', $case, "$other is read as " . join ';', map { $_->[0] } @$rows)
	  if !grep { $_->[0] eq $other || index($_->[0], sprintf '%d-%02d-%02d', $y, $m, $d) == 0 } @$rows and $err !~ /skipped/;
}
told('dates', 'as text', 'as date', 'as timestamp without time zone');

finish(values %sessions);
