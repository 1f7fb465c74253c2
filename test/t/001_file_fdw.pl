# Random files, read by file_fdw and by csv_gpu_fdw with the same options: the
# rows must be the same, in the same order.  Where file_fdw raises an error, the
# rows it gave before must be the first of ours, and nothing may crash.
use lib 'test/t';
use CsvServer;
use Data::Dumper;
use Encode ();
use Time::HiRes qw(time);

my $files_a_round = 50;

# encodings as PostgreSQL and as Perl name them, with characters that they have;
# in SJIS the last byte of some looks like a backslash or a bar
my %encodings = (
	UTF8 => [ 'UTF-8', "\x{e9}\x{df}\x{8868}\x{65e5}\x{1f600}\x{20ac}" ],
	LATIN1 => [ 'iso-8859-1', "\x{e9}\x{df}\x{f1}\x{b5}" ],
	EUC_JP => [ 'euc-jp', "\x{8868}\x{65e5}\x{30bd}\x{3042}" ],
	SJIS => [ 'cp932', "\x{8868}\x{30bd}\x{30dd}\x{80fd}\x{3042}\x{ff71}" ]);

# column types, with values that they take
my @types = (
	[ 'text', undef ],
	[ 'text', undef ],
	[ 'text', undef ],
	[ 'varchar(12)', undef ],
	[ 'char(12)', undef ],
	[ 'int2', sub { int(rand(65536)) - 32768 } ],
	[ 'int4', sub { pick('+', '-', '') . int(rand(10**pick(1, 5, 9))) } ],
	[ 'int8', sub { pick('', '-') . int(rand(10**9)) . int(rand(10**9)) } ],
	[ 'numeric', sub { pick('', '-') . int(rand(10**9)) . '.' . int(rand(10**9)) } ],
	[ 'numeric(15,2)', sub { sprintf '%.*f', pick(0, 1, 2, 5), rand(1e9) - 5e8 } ],
	[ 'float4', sub { sprintf '%.*g', pick(3, 9, 17), rand(1000) } ],
	[ 'float8', sub { sprintf '%.*e', pick(3, 9, 17), rand(1e9) - 5e8 } ],
	[ 'bool', sub { pick(qw(t f true FALSE 1 0 yes no on off)) } ],
	[ 'date', sub { sprintf '%04d-%02d-%02d', 1 + rand(9999), 1 + rand(12), 1 + rand(28) } ],
	[ 'timestamp', \&random_timestamp ],
	[ 'timestamptz', sub { random_timestamp() . pick('', 'Z', '+02', ' -03:30') } ],
	[ 'uuid', sub { join '-', map { random_hex($_) } 8, 4, 4, 4, 12 } ],
	[ 'int4[]', sub { '{' . join(',', map { int(rand(99)) } 0 .. rand(3)) . '}' } ]);

sub random_hex
{
	return join '', map { pick(0 .. 9, 'a' .. 'f', 'A' .. 'F') } 1 .. $_[0];
}

sub random_timestamp
{
	return sprintf '%04d-%02d-%02d%s%02d:%02d:%02d%s', 1000 + rand(3000),
	  1 + rand(12), 1 + rand(28), pick(' ', 'T'), rand(24), rand(60), rand(60),
	  pick('', '.5', '.123456');
}

# A file: its options, columns and text.
sub random_file
{
	my %file = (
		delimiter => pick(',', ',', ';', '|', "\t", ' ', ':', '\\'),
		quote => pick('"', '"', '"', "'", '`', '|', 'q'),
		quoting => pick('rfc4180', 'postgres'),
		null => pick('', '', '', 'NULL', '\N', 'x', ' '),
		header => pick('false', 'false', 'true', 'match'),
		encoding => pick('UTF8', 'UTF8', keys %encodings),
		chunk_size => pick(1, 2, 3, 10, 1 + int(rand(200)), undef));
	my $eol = $file{eol} = pick("\n", "\n", "\r\n", "\r");
	my $ncolumns = pick(1, 2, 3, 3, 4, 1 + int(rand(20)));

	$file{format} = chance(0.25) ? 'text' : 'csv';
	$file{escape} = pick($file{quote}, $file{quote}, '\\', '!', 'e');
	if ($file{format} eq 'text')
	{
		$file{delimiter} = pick("\t", "\t", ',', '|', ' ', 'A');
		$file{null} = pick('\N', '\N', '', 'NULL');
		delete @file{qw(quote quoting escape)};
	}
	$file{letters} = [
		'a' .. 'e', 'N', 'x', '0' .. '3', ' ', '.', ',', ';', '\\', '!',
		split //, $encodings{ $file{encoding} }[1] ];

	# a file that file_fdw accepts, or, less often, anything
	$file{wild} = chance(0.3) ? rand(0.1) : 0;

	my @columns = map { { name => "c$_", type => pick(@types) } } 1 .. $ncolumns;
	for my $column (@columns)
	{
		$column->{options} = join ', ',
		  (chance(0.1) ? "force_null 'true'" : ()),
		  (chance(0.1) ? "force_not_null 'true'" : ()) if $file{format} eq 'csv';
		$column->{options} //= '';
	}

	my @records = map {
		join $file{delimiter}, map { random_field(\%file, $_) } @columns
	} 1 .. (chance(0.005) ? 2000 : pick(0, 1, 5, 20, int(rand(60))));
	unshift @records, join $file{delimiter}, map { $_->{name} } @columns
	  if $file{header} ne 'false';
	splice @records, rand(@records), 0, pick('', 'a', "\x{0}", "a$file{delimiter}" x 9)
	  if chance($file{wild});
	$file{text} = join $eol, @records, chance(0.7) ? '' : ();

	# COPY takes a lone \. for the end of the file
	$file{text} =~ s/\\+\././g;
	$file{text} = Encode::encode($encodings{ $file{encoding} }[0], $file{text});
	# a byte of a letter only: without its quote, a file would be another
	if (chance($file{wild}))
	{
		my $at = int(rand(length $file{text}));

		substr $file{text}, $at, 1, pick("\xff", "\x80", "\x82")
		  if substr($file{text}, $at, 1) =~ /[a-d0-9]/;
	}

	$file{columns} = join ', ', map {
		"$_->{name} $_->{type}[0]" . ($_->{options} ? " OPTIONS ($_->{options})" : '')
	} @columns;
	# without "match", what is wanted may be less than what is there
	$file{wanted} = join ', ', map { $_->{name} } grep { chance(0.6) } @columns
	  if chance(0.3);
	$file{wanted} ||= join ', ', map { $_->{name} } @columns;
	return \%file;
}

sub random_field
{
	my ($file, $column) = @_;
	my ($quote, $escape) = ($file->{quote}, $file->{escape});
	my $generator = $column->{type}[1];
	my $value;

	return $file->{null} if chance(0.1) && $column->{options} !~ /not_null/;
	$value = $generator ? $generator->() : join '', map { pick(@{ $file->{letters} }) } 1 .. rand(10);
	$value = join '', map { pick(@{ $file->{letters} }) } 1 .. rand(20) if chance($file->{wild});

	return escaped($file, $value) if $file->{format} eq 'text';
	# a quote somewhere, paired or not; rfc4180 means something else by it
	if ($file->{quoting} eq 'postgres' && chance($file->{wild}))
	{
		substr $value, rand(1 + length $value), 0, pick($quote, $escape, $quote . $escape);
		return $value;
	}
	if ($file->{quoting} eq 'postgres' && chance(0.2))
	{
		# quotes in the middle mean something there
		my $middle = int(rand(1 + length $value));

		return unquoted($file, substr($value, 0, $middle)) . quoted($file, substr($value, $middle));
	}
	# what is in quotes is not NULL
	return quoted($file, $value) if chance(0.3) || $value eq '';
	return unquoted($file, $value);
}

# a value in the text format, in which bytes have several spellings
sub escaped
{
	my ($file, $value) = @_;

	$value =~ s{(.)}{
		$1 eq '\\' || $1 eq $file->{delimiter} ? "\\$1" : chance(0.9) ? $1 :
		  ord $1 < 128 ? pick(sprintf('\x%02x', ord $1), sprintf('\%03o', ord $1)) : "\\$1"}ge;
	$value .= pick('\n', '\t', '\b\f', '\r\v', '\x7', '\18', '\q', "\\$file->{delimiter}", '\303\251', '\xff', '\0')
	  if chance(0.05) && $value =~ /[a-e]/;
	return $value;
}

# a value in quotes; a text may have more in it then
sub quoted
{
	my ($file, $value) = @_;
	my ($quote, $escape) = ($file->{quote}, $file->{escape});

	if ($value =~ /[a-e]/ && $value !~ /-|^[tf]/)
	{
		substr $value, rand(length $value), 0,
		  pick("\n", "\r", "\r\n", $quote, $file->{delimiter}, $escape)
		  for 1 .. rand(4);
	}
	$value =~ s/([\Q$quote$escape\E])/$escape$1/g;
	return "$quote$value$quote";
}

# a value without quotes, or with them if need be
sub unquoted
{
	my ($file, $value) = @_;

	return quoted($file, $value)
	  if index($value, $file->{quote}) >= 0 || index($value, $file->{delimiter}) >= 0;
	return $value;
}

sub options
{
	my ($file, @names) = @_;

	return join ', ', map { "$_ " . literal($file->{$_}) }
	  grep { defined $file->{$_} } @names;
}

random_seed();
my $node = csv_server('file_fdw');
my $session = new_session($node);
my $directory = PostgreSQL::Test::Utils::tempdir;

$session->value(<<'SQL');
SET client_min_messages = error;

-- the rows up to the first error, and that error
CREATE FUNCTION rows_of(relation text, wanted text, OUT records text[], OUT message text)
LANGUAGE plpgsql AS $$
DECLARE
	records_cursor refcursor;
	record text;
BEGIN
	records := '{}';
	OPEN records_cursor FOR EXECUTE format('SELECT ROW(%s)::text FROM %I', wanted, relation);
	LOOP
		FETCH records_cursor INTO record;
		EXIT WHEN NOT FOUND;
		records := records || record;
	END LOOP;
	CLOSE records_cursor;
EXCEPTION WHEN OTHERS THEN
	message := SQLSTATE || ' ' || SQLERRM;
END $$;

CREATE FUNCTION compare(columns text, wanted text, file_options text, csv_options text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	expected record;
	found record;
	n int;
BEGIN
	BEGIN
		EXECUTE format('CREATE FOREIGN TABLE by_file (%s) SERVER file OPTIONS (%s)', columns, file_options);
	EXCEPTION WHEN OTHERS THEN
		RETURN 'refused';
	END;
	EXECUTE format('CREATE FOREIGN TABLE by_csv (%s) SERVER csv OPTIONS (%s)', columns, csv_options);
	expected := rows_of('by_file', wanted);
	found := rows_of('by_csv', wanted);
	DROP FOREIGN TABLE by_file, by_csv;

	n := cardinality(expected.records);
	IF expected.records IS DISTINCT FROM found.records[1:n] OR
		(expected.message IS NULL AND
		 (cardinality(found.records) <> n OR found.message IS NOT NULL)) THEN
		RETURN format(E'DIFFERENT\nfile_fdw: %s %s\ncsv_gpu_fdw: %s %s',
			expected.records, expected.message, found.records, found.message);
	END IF;
	RETURN format('%s %s', CASE WHEN expected.message IS NULL THEN 'same' ELSE 'start' END, n);
EXCEPTION WHEN OTHERS THEN
	RETURN format('DIFFERENT, csv_gpu_fdw refuses: %s', SQLERRM);
END $$;
SQL

sub comparison
{
	my ($file) = @_;
	my @both = qw(filename format header delimiter quote escape null encoding);

	return sprintf "SELECT compare(%s, %s, %s, %s);\n", map { literal($_) } $file->{columns}, $file->{wanted},
	  options($file, @both), options($file, @both, qw(quoting chunk_size log_verbosity record_boundary));
}

my %count = (same => 0, start => 0, refused => 0, DIFFERENT => 0);
my $nrows = 0;
my $end = time() + amount(5);

# on a busy machine longer, until there are enough
while ((time() < $end || (time() < $end + 120 && ($count{same} <= 100 || $count{start} <= 10))) && $count{DIFFERENT} < 3)
{
	my @files = map { random_file() } 1 .. $files_a_round;
	my $sql = '';

	for my $i (0 .. $#files)
	{
		my $file = $files[$i];

		$file->{filename} = write_file("$directory/$i.csv", $file->{text});
		$file->{log_verbosity} = 'silent';
		# where file_fdw goes by the first line break, "auto" looks for a LF
		$file->{record_boundary} = 'cr' if $file->{eol} eq "\r" && $file->{text} =~ /\n/;
		$sql .= comparison($file);
	}

	# each answer may have several lines; all but the first are indented here
	my ($out, $err) = $session->query($sql);
	my @answers = split /^(?=same|start|refused|DIFFERENT)/m, $out;

	is(scalar @answers, scalar @files, 'an answer for each file') or diag($err), last
	  if @answers != @files;
	for my $i (0 .. $#files)
	{
		my ($verdict, $rows) = $answers[$i] =~ /^(\w+)(?: (\d+))?/;

		# so it does where a carriage return stands alone, before the first line break or behind it
		for my $boundary ($files[$i]{text} =~ /\r(?!\n)/ ? qw(cr lf) : ())
		{
			last if $verdict ne 'DIFFERENT';
			$files[$i]{record_boundary} = $boundary;
			($answers[$i]) = $session->query(comparison($files[$i]));
			($verdict, $rows) = $answers[$i] =~ /^(\w+)(?: (\d+))?/;
		}
		$count{$verdict}++;
		$nrows += $rows || 0;
		next if $verdict ne 'DIFFERENT';
		local $Data::Dumper::Useqq = 1;
		local $Data::Dumper::Sortkeys = 1;
		delete $files[$i]{letters};
		diag($answers[$i], Dumper($files[$i]));
		my $next = $count{DIFFERENT};
		rename "$directory/$i.csv", "$ENV{TESTDATADIR}/different$next.csv";
	}
}

is($count{DIFFERENT}, 0, 'same rows as file_fdw');
cmp_ok($count{same}, '>', 100, 'many files were compared');
cmp_ok($count{start}, '>', 10, 'and some that file_fdw refuses');
note("$count{same} files the same, $count{start} up to an error of file_fdw, "
	  . "$count{refused} with options that it refuses; $nrows rows");
finish($session);
