# ImportTruth.pm: compares the tables of IMPORT FOREIGN SCHEMA with the truth about files.
#
#	imported(NODE, DIRECTORY, OPTIONS)	imports, reads all tables, and forgets them again
#	judged(TRUTHS, TABLE, NOTICES)	lists of reasons: why a value or a record was changed in
#					silence; why the result is not right; why its records, fields and
#					names are not; and of each column whether its type is "exact",
#					"weaker", "told" or "wrong"
#	lines(LINE ...)			a text of them
#	parsed(TEXT, TRUTH)			records of a text, as its dialect has them
#
# TRUTH of a file is a hash:
#
#	delimiter	undef: any
#	header_rows	undef: any; a list: one of these
#	columns		hashes of name (undef: any; a list: one of these), header (its text), kind,
#				must_tell (another type than text needs a NOTICE), and types: names of
#				types, with "?" behind if they need a NOTICE about the column, with "="
#				before if they have no precision
#	rows		lists of values as the file has them, after quotes and blanks
#	decimal, thousands, order	marks of numbers, and "DMY", "MDY" or "YMD" of dates
#	nulls		words that are NULL in columns of other types than text
#	any_order	columns may stand in any order, and are found by their names
#	header_told	names may be others if a NOTICE speaks of the header
#	lost		number of records that a NOTICE may leave out or add
#	said		patterns that the file's NOTICEs must match
#	unless_said	a pattern of a NOTICE without which this reading changes values in silence
#	options		of the table, or undef for those that must not be there
#
# A value is the same if only its spelling differs: 1.50 and 1.5 as a number, 31.12.2024
# and 2024-12-31 as a date of order DMY.  The kind says how a value may be spelt; a value of kind "text" must be what the file has, character by character, and one of
# kind "any" may be anything.
package ImportTruth;

use strict;
use warnings;

use Exporter 'import';
use CsvServer;
use File::Basename qw(basename);
use PostgreSQL::Test::Utils;
use Time::Local qw(timegm);

our @EXPORT = qw(imported judged parsed same_value lines);

my %month = map { ($_->[1] => $_->[0]) }
  ([ 1, 'jan' ], [ 2, 'feb' ], [ 3, 'mar' ], [ 4, 'apr' ], [ 5, 'may' ], [ 6, 'jun' ],
	[ 7, 'jul' ], [ 8, 'aug' ], [ 9, 'sep' ], [ 10, 'oct' ], [ 11, 'nov' ], [ 12, 'dec' ]);

# What types a kind may have without a word.
my %types_of = (
	text => ['text'],
	int => [ 'integer', 'bigint' ],
	num => [ 'numeric', 'double precision', 'integer', 'bigint' ],
	date => ['date'],
	ts => ['timestamp'],
	tstz => ['timestamptz'],
	time => ['time'],
	bool => ['boolean'],
	uuid => ['uuid']);

# ---- what the server says and has ----

# Import all files of a directory, read all tables, and undo it.  Gives a hash of
# tables by name (columns, options, rows), and NOTICEs by the files' names.
sub imported
{
	my ($node, $directory, %how) = @_;
	my ($script, $out, $err) = map { "$PostgreSQL::Test::Utils::tmp_check/import_$$.$_" } qw(sql out err);
	my $options = join ', ', "directory '$directory'", $how{options} // ();
	my $again = $how{again} // '';

	open my $file, '>', $script or die "$script: $!";
	print $file <<"S";
\\set ON_ERROR_ROLLBACK on
\\set QUIET on
SET timezone = 'UTC'; SET datestyle = 'ISO, YMD'; SET intervalstyle = 'postgres';
BEGIN;
CREATE SCHEMA imported;
SET LOCAL search_path = imported, public;
IMPORT FOREIGN SCHEMA files FROM SERVER csv INTO imported OPTIONS ($options);
\\echo \@meta
COPY (SELECT c.relname, 0, o.option_name, o.option_value FROM pg_class c JOIN pg_foreign_table f ON ftrelid = c.oid, pg_options_to_table(ftoptions) o
	UNION ALL SELECT c.relname, a.attnum, a.attname, replace(replace(replace(format_type(a.atttypid, a.atttypmod), ' without time zone', ''), 'timestamp with time zone', 'timestamptz'), 'character varying', 'varchar')
		FROM pg_class c JOIN pg_foreign_table f ON ftrelid = c.oid JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0
	UNION ALL SELECT c.relname, -a.attnum, o.option_name, o.option_value
		FROM pg_class c JOIN pg_foreign_table f ON ftrelid = c.oid JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0, pg_options_to_table(attfdwoptions) o) TO STDOUT;
$again
\\pset tuples_only on
\\pset format unaligned
SELECT format('SELECT %L', '\@table ' || replace(relname, E'\\n', ' ')), format('COPY (SELECT * FROM %s) TO STDOUT', c.oid::regclass) FROM pg_class c JOIN pg_foreign_table f ON ftrelid = c.oid ORDER BY relname \\gexec
ROLLBACK;
S
	close $file;
	{
		local $ENV{PGOPTIONS} = '-c client_min_messages=notice';

		system(qq{timeout 600 psql -X -q -d "} . $node->connstr('postgres') . qq{" -f "$script" >"$out" 2>"$err"});
	}
	my $tables = tables_of(slurp_file($out));

	return { tables => $tables, notices => notices_of(slurp_file($err), $tables), text => slurp_file($err) };
}

# what COPY wrote as text
sub unescaped
{
	my ($value) = @_;

	return undef if $value eq '\\N';
	return $value if index($value, '\\') < 0;
	my %plain = (b => "\b", f => "\f", n => "\n", r => "\r", t => "\t", v => "\013");

	$value =~ s/\\(.)/$plain{$1} \/\/ $1/gse;
	return $value;
}

sub tables_of
{
	my (%tables, $rows);

	for my $line (split /\n/, $_[0])
	{
		if ($line eq '@meta')
		{
			$rows = undef;
		}
		elsif ($line =~ /^\@table (.*)/)
		{
			$rows = $tables{$1}{rows} = [];
		}
		elsif ($rows)
		{
			push @$rows, [ map { unescaped($_) } split /\t/, $line, -1 ];
		}
		else
		{
			my ($table, $number, $name, $value) = map { unescaped($_) } split /\t/, $line, -1;

			if ($number == 0)
			{
				$tables{$table}{options}{$name} = $value;
			}
			elsif ($number > 0)
			{
				$tables{$table}{columns}[ $number - 1 ]{name} = $name;
				$tables{$table}{columns}[ $number - 1 ]{type} = $value;
			}
			else
			{
				$tables{$table}{columns}[ -$number - 1 ]{options}{$name} = $value;
			}
		}
	}
	return \%tables;
}

# Messages by the names of the files that they name; if they name none, by their
# tables' names.  What names neither is under ''.
sub notices_of
{
	my ($text, $tables) = @_;
	my (%notices, $message);

	for my $line (split /\n/, $text)
	{
		if ($line =~ /^(?:psql:\S+ )?((?:NOTICE|WARNING|INFO|ERROR):.*)/)
		{
			$message = { text => $1 };
			$notices{_all} //= [];
			push @{ $notices{_all} }, $message;
		}
		elsif ($message)
		{
			$message->{text} .= "\n$line";
		}
	}
	for my $m (@{ delete $notices{_all} // [] })
	{
		my %quoted = map { ($_ => 1) } $m->{text} =~ /"([^"]*)"/g;
		my %files = map { (basename($_) => 1) } grep { m{/} } keys %quoted;
		my @of = keys %files ? keys %files : grep { exists $tables->{$_} } keys %quoted;

		@of = ('') if !@of;
		push @{ $notices{$_} }, $m->{text} for @of;
	}
	return \%notices;
}

# ---- values ----

# a number in one spelling: sign, digits, point, digits; undef for anything else
sub plain_number
{
	my ($text, $truth) = @_;
	my $thousands = $truth->{thousands} // '';
	my $decimal = $truth->{decimal} // '.';

	$text =~ s/^\s+|\s+$//g;
	$text =~ s/^\xe2\x88\x92/-/;
	$text = "-$1" if $text =~ /^\((.*)\)$/ || $text =~ /^(.*)-$/;
	$text =~ s/(?<=\d)\Q$thousands\E(?=\d{3})//g if $thousands ne '';
	if ($decimal ne '.')
	{
		return undef if $text =~ /\./;
		$text =~ s/\Q$decimal\E/./;
	}
	return lc $text if $text =~ /^[+-]?(?:nan|infinity|inf)$/i;
	my ($sign, $whole, $fraction, $exponent) = $text =~ /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/
	  or return undef;

	$fraction //= '';
	return undef if "$whole$fraction" eq '';
	$exponent //= 0;
	return undef if abs($exponent) > 400;
	if ($exponent > 0)
	{
		$fraction .= '0' x ($exponent - length $fraction) if $exponent > length $fraction;
		$whole .= substr($fraction, 0, $exponent, '');
	}
	elsif ($exponent < 0)
	{
		$whole = '0' x (-$exponent - length $whole) . $whole if -$exponent > length $whole;
		$fraction = substr($whole, $exponent) . $fraction;
		$whole = substr($whole, 0, $exponent);
	}
	$whole =~ s/^0+(?=\d)//;
	$whole = '0' if $whole eq '';
	$fraction =~ s/0+$//;
	my $number = $fraction eq '' ? $whole : "$whole.$fraction";

	return $sign eq '-' && $number =~ /[1-9]/ ? "-$number" : $number;
}

sub plain_date
{
	my ($text, $truth) = @_;
	my $order = $truth->{order} // 'YMD';
	my ($year, $month, $day);

	if ($text =~ /^(\d{4})(\d\d)(\d\d)$/ || $text =~ m{^(\d{4})[-/.](\d\d?)[-/.](\d\d?)$})
	{
		($year, $month, $day) = ($1, $2, $3);
	}
	elsif ($text =~ m{^(\d\d?)[-/. ]?([A-Za-z]{3})[a-z]*[-/. ]?(\d{4}|\d\d)$} && $month{ lc $2 })
	{
		($year, $month, $day) = ($3, $month{ lc $2 }, $1);
	}
	elsif ($text =~ m{^(\d\d?)[-/.](\d\d?)[-/.](\d{4}|\d\d)$})
	{
		($year, $month, $day) = $order eq 'MDY' ? ($3, $1, $2) : $order eq 'YMD' ? ($1, $2, $3) : ($3, $2, $1);
	}
	else
	{
		return undef;
	}
	# PostgreSQL's own rule of two digits
	$year += $year < 70 ? 2000 : 1900 if length $year == 2;
	return sprintf('%04d-%02d-%02d', $year, $month, $day);
}

sub plain_time
{
	my ($text) = @_;
	my ($hour, $minute, $second, $fraction, $half) =
	  $text =~ /^(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?: ?([AaPp])\.?[Mm]\.?)?$/ or return undef;

	$hour = $hour % 12 + (lc $half eq 'p' ? 12 : 0) if $half;
	$fraction = defined $fraction ? ".$fraction" : '';
	$fraction =~ s/\.?0+$//;
	return sprintf('%02d:%02d:%02d', $hour, $minute, $second // 0) . $fraction;
}

sub plain_timestamp
{
	my ($text, $truth) = @_;
	my ($day, $time) = $text =~ /^(\S+?)(?:[ T](\d.*))?$/ or return undef;
	my $date = plain_date($day, $truth) // return undef;

	return "$date 00:00:00" if !defined $time;
	$time = plain_time($time) // return undef;
	return "$date $time";
}

# seconds since 1970, and the fraction
sub plain_instant
{
	my ($text, $truth) = @_;
	my $zone = $text =~ s/ ?(Z|UTC|GMT)$// ? '+00' : $text =~ s/ ?([+-]\d\d(?::?\d\d)?)$// ? $1 : '+00';
	my $plain = plain_timestamp($text, $truth) // return undef;
	my ($year, $month, $day, $hour, $minute, $second, $fraction) =
	  $plain =~ /^(\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+)(.*)$/ or return undef;
	my ($sign, $hours, $minutes) = $zone =~ /^([+-])(\d\d):?(\d\d)?$/;
	my $seconds = eval { timegm($second, $minute, $hour, $day, $month - 1, $year) } // return undef;

	return $seconds - ($sign eq '-' ? -1 : 1) * ($hours * 3600 + ($minutes // 0) * 60) . $fraction;
}

my %truth_value = map { ($_ => 't') } qw(t true yes y on 1);

$truth_value{$_} = 'f' for qw(f false no n off 0);

my %plain = (
	int => \&plain_number,
	num => \&plain_number,
	date => \&plain_date,
	ts => \&plain_timestamp,
	tstz => \&plain_instant,
	time => \&plain_time,
	bool => sub { $truth_value{ lc $_[0] } },
	uuid => sub { lc $_[0] });
my %iso = (order => 'YMD');

# Is what the table has, of a type, what the file says?
sub same_value
{
	my ($value, $type, $text, $kind, $truth) = @_;

	return 1 if $kind eq 'any' || defined $value && ($value eq $text || $text eq '' && $value eq '\N' && ($truth->{format} // '') eq 'text');
	return $text eq '' || $type ne 'text' && $truth->{nulls}{$text} || $type eq 'text' && $text eq '\\N' && ($truth->{format} // '') eq 'text' if !defined $value;
	# blanks around a value are no more than its spelling, where the dialect does not say
	if ($text =~ /^\s|\s$/ || $value =~ /^\s|\s$/)
	{
		s/^\s+|\s+$//g for my ($v, $t) = ($value, $text);
		return 1 if $v eq $t;
	}
	return '' if $kind eq 'text' || $type eq 'text';
	if ($kind eq 'date' && $type =~ /^timestamp/)
	{
		$kind = 'ts';
	}
	my $convert = $plain{$kind};
	my $of_file = $convert->($text, $truth) // return '';
	my $of_table = $convert->($value, \%iso) // return '';

	return 1 if $of_table eq $of_file;
	# the same double: its shortest spelling
	return $type eq 'double precision' && $of_file =~ /^[-\d.]+$/ && length($of_file =~ s/^[-0.]+|\.//gr) <= 17
	  && $of_file == $of_table;
}

# ---- judgement ----

sub same_row
{
	my ($row, $expected, $columns, $kinds, $truth) = @_;

	for my $i (0 .. $#$expected)
	{
		return '' if !same_value($row->[$i], $columns->[$i]{type}, $expected->[$i], $kinds->[$i], $truth);
	}
	return 1;
}

sub printed
{
	return substr(join('|', map { defined $_ ? $_ : '(null)' } @{ $_[0] }), 0, 200);
}

# Is a column's name the name in a header, apart from capitals and marks?
sub same_name
{
	my ($name, $header) = map { lc($_) =~ s/[^a-z0-9\x80-\xff]+//gr } @_;

	return $header eq '' || index($name, substr($header, 0, 60)) == 0;
}

# NOTICEs that the delimiter or the quotes may be wrong, and so all values
our $doubts = qr/assuming that .* (?:delimits the fields of|has one column)|would be records without quotes|assuming that quotes in/;

# Does a NOTICE name the column, and something to settle it by?
sub told
{
	my ($notices, @names) = @_;

	for my $message (@{ $notices // [] })
	{
		next if $message =~ /skipped record/ || $message !~ /(?:_values|_rows|_error|_format|_separator|all_text|by_name|quote|delimiter|trim|options?\b|type)/i;
		return 1 if grep { index($message, "\"$_\"") >= 0 } @names;
	}
	return 0;
}

# does the type of a column match one in a list?
sub is_type
{
	my ($type, $name) = @_;

	return $type eq substr($name, 1) if $name =~ /^=/;
	return $type eq $name || $type =~ /^\Q$name\E\(/ || $name eq 'timestamptz' && $type =~ /^timestamp(\(\d\))? with time zone/;
}

# a table with its columns in the order of a truth, if it has all of them
sub in_order
{
	my ($table, $truth) = @_;
	my %place = map { ($table->{columns}[$_]{name} => $_) } 0 .. $#{ $table->{columns} };
	my @places = map { $place{ $_->{name}[0] } } @{ $truth->{columns} };

	return $table if @places != keys %place || grep { !defined } @places;
	return { %$table, columns => [ @{ $table->{columns} }[@places] ], rows => [ map { [ @$_[@places] ] } @{ $table->{rows} } ] };
}

# by the truth that fits best, if there are several
sub judged
{
	my ($truths, $table, $notices) = @_;
	my ($best, $least);

	for my $truth (@$truths)
	{
		my @verdict = judged_by($truth, $table, $notices);
		my $reasons = @{ $verdict[0] } + @{ $verdict[1] };

		($best, $least) = (\@verdict, $reasons) if !defined $least || $reasons < $least;
		last if !$reasons;
	}
	return @$best;
}

sub judged_by
{
	my ($truth, $table, $notices) = @_;
	my $said = join "\n", @{ $notices // [] };
	my (@silent, @wrong, @shape, @types);

	return ([], ['no table'], ['no table'], []) if !$table && $said ne '';
	return (['no table'], [], ['no table'], []) if !$table;
	$table = in_order($table, $truth) if $truth->{any_order};
	my @actual = @{ $table->{columns} };
	my @columns = @{ $truth->{columns} };
	my $options = $table->{options} // {};
	my $delimiter = $options->{delimiter} // (($options->{format} // 'csv') eq 'text' ? "\t" : ',');
	my $header_rows = $options->{header_rows} // (($options->{header} // 'false') ne 'false' ? 1 : 0);
	my @rows = @{ $table->{rows} // [] };
	my @expected = @{ $truth->{rows} };
	my @kinds = map { $_->{kind} } @columns;

	push @shape, "delimiter \"$delimiter\" instead of \"$truth->{delimiter}\""
	  if defined $truth->{delimiter} && $delimiter ne $truth->{delimiter} && @columns > 1;
	if (defined(my $rows = $truth->{header_rows}))
	{
		push @shape, "header_rows $header_rows" if !grep { $_ == $header_rows } ref $rows ? @$rows : $rows;
	}
	for my $name (sort keys %{ $truth->{options} // {} })
	{
		my $value = $truth->{options}{$name};

		push @wrong, "$name is " . ($options->{$name} // 'not set')
		  if defined $value ? ($options->{$name} // '') !~ (ref $value ? $value : qr/^\Q$value\E$/) : exists $options->{$name};
	}
	if (@actual != @columns)
	{
		push @shape, scalar(@actual) . ' columns instead of ' . @columns;
		# one column of whole lines changes nothing
		push @silent, 'values split or joined: ' . printed($rows[0] // [])
		  if $said !~ $doubts && (@actual != 1 || $actual[0]{type} ne 'text' || @rows < @expected);
		return (\@silent, [ @shape, @wrong ], \@shape, []);
	}

	# types
	my @told = map { $said =~ $doubts || told($notices, grep { defined } $actual[$_]{name}, $columns[$_]{header}) } 0 .. $#actual;
	my @by_notice;

	for my $i (0 .. $#columns)
	{
		my ($c, $type, $found) = ($columns[$i], $actual[$i]{type}, 0);

		for my $t (@{ $c->{types} // $types_of{ $c->{kind} } })
		{
			(my $name = $t) =~ s/\?$//;
			next if !is_type($type, $name);
			$found = 1 if $t !~ /\?$/ || $told[$i];
			$by_notice[$i] = 1 if $t =~ /\?$/;
			last if $found;
		}
		push @wrong, "column $actual[$i]{name} is $type" . ($told[$i] ? ' (told)' : '') if !$found;
		push @silent, "column $actual[$i]{name} ($type): this is a guess" if $c->{must_tell} && $type ne 'text' && !$told[$i];
		push @types, $found && !$by_notice[$i] ? 'exact' : $found ? 'told' : $type eq 'text' ? 'weaker' : 'wrong';
		push @shape, "column $actual[$i]{name} is \"$c->{header}\"" if ($c->{header} // '') ne '' && !same_name($actual[$i]{name}, $c->{header}) && !($truth->{header_told} && $said =~ /header|names/);
		if (defined $c->{name} && !($truth->{header_told} && $said =~ /header|names/) && !grep { $_ eq $actual[$i]{name} } ref $c->{name} ? @{ $c->{name} } : $c->{name})
		{
			push @shape, "name $actual[$i]{name} instead of " . (ref $c->{name} ? $c->{name}[0] : $c->{name});
		}
	}

	# Records: the table may have more above, such as a header that was not found; each
	# of the others must be there, or a NOTICE speaks of records.
	my $about_rows = $said =~ /record|line|row|footer|header|comment|left out|skip/;
	my ($e, @changed) = (0);

	if (@rows == @expected || @rows > @expected)
	{
		my $above = @rows - @expected;

		push @shape, scalar(@rows) . ' rows instead of ' . @expected if $above && !$truth->{lost};
		for my $i (0 .. $#columns)
		{
			my ($kind, $type) = ($kinds[$i], $actual[$i]{type});

			for my $n (0 .. $#expected)
			{
				my ($value, $text) = ($rows[ $n + $above ][$i], $expected[$n][$i]);

				next if defined $value && defined $text && $value eq $text;
				next if same_value($value, $type, $text // '', $kind, $truth);
				push @changed, $i;
				push @silent, "column $actual[$i]{name} ($type): \"" . ($value // 'NULL') . "\" was \"" . ($text // '') . '"' if !$told[$i];
				last;
			}
		}
		push @wrong, "values of $actual[$_]{name} differ" for grep { !$by_notice[$_] && $told[$_] } @changed;
	}
	else
	{
		my $missing = @expected - @rows;

		push @shape, scalar(@rows) . ' rows instead of ' . @expected if !$truth->{lost} || $missing > $truth->{lost};
		push @silent, "$missing records lost" if !$about_rows;
		for my $row (@rows)
		{
			my $begin = $e;

			$e++ while $e < @expected && !same_row($row, $expected[$e], \@actual, \@kinds, $truth);
			next if $e++ < @expected;
			push @silent, 'row changed: ' . printed($row) if !grep { $_ } @told;
			push @wrong, 'row changed';
			last;
		}
	}
	for my $pattern (@{ $truth->{said} // [] })
	{
		push @wrong, "not said: $pattern" if $said !~ $pattern;
	}
	push @silent, "not said: $truth->{unless_said}" if $truth->{unless_said} && $said !~ $truth->{unless_said};
	return (\@silent, [ @shape, @wrong ], \@shape, \@types);
}

# ---- a text's records ----

sub lines
{
	return join '', map { "$_\n" } @_;
}

# Records of a text by the dialect of a truth: delimiter, quote, escape, trim, comment.
sub parsed
{
	my ($text, $truth) = @_;
	my $delimiter = quotemeta($truth->{delimiter} // "\0");
	my $quote = quotemeta($truth->{quote} // '"');
	my $escape = defined $truth->{escape} ? quotemeta $truth->{escape} : undef;
	my $blanks = $truth->{trim} ? '[ \t]*' : '';
	my $end = $truth->{end} // '\r*\n|\r*\z';
	my $comment = $truth->{comment};
	my $inside = defined $escape ? "(?:[^$quote$escape]|$escape.)*" : "(?:[^$quote]|$quote$quote)*";
	my $quoted = $quote eq '' ? qr/(?!)/ : qr/$quote($inside)$quote(?=$blanks(?:$delimiter|$end))/s;
	my $plain = qr/((?:(?!$delimiter|$end).)*)/s;
	my (@records, @fields);

	$text =~ s/^\xef\xbb\xbf//;
	pos($text) = 0;
	while (pos($text) < length $text)
	{
		if (!@fields && defined $comment && $text =~ /\G\Q$comment\E[^\n]*\n/gc)
		{
			next;
		}
		$text =~ /\G$blanks/gc if $blanks ne '';
		my $value;

		if ($text =~ /\G$quoted/gc)
		{
			$value = $1;
			if (defined $escape)
			{
				$value =~ s/$escape(.)/$1/gs;
			}
			else
			{
				$value =~ s/$quote$quote/$truth->{quote} \/\/ '"'/ge;
			}
			$text =~ /\G$blanks/gc if $blanks ne '';
		}
		else
		{
			$text =~ /\G$plain/gc;
			$value = $1;
			$value =~ s/[ \t]+$// if $blanks ne '';
		}
		push @fields, $value;
		next if $text =~ /\G$delimiter/gc && (pos($text) < length $text || (push(@fields, ''), 1));
		$text =~ /\G(?:$end)/gc;
		push @records, [@fields];
		@fields = ();
	}
	push @records, [@fields] if @fields;
	return \@records;
}

1;
