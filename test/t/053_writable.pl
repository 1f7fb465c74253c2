# Rows that INSERT and COPY write to files are read back as the same rows, or are refused:
# random rows of many types, in random dialects and encodings, into plain files and
# patterns, new files and existing ones.
#
# COPY FROM, and Python's and DuckDB's readers where there are any, read the same values
# from files of a dialect that they know.  CSV_GPU_FDW_DUCKDB is the path of build/duckdb.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(sleep time);

random_seed();
my $seconds = amount(4);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server('writable', max_prepared_transactions => 2, max_wal_senders => 1, wal_level => 'replica', QUICK_FILES);
my %databases = (
	postgres => [ '', 'UTF8', 'UTF8', 'UTF8', 'LATIN1', 'SJIS', 'EUC_JP', 'GB18030', 'SQL_ASCII', 'UTF16', 'UTF16LE', 'UTF16BE' ],
	latin => [ '', 'LATIN1', 'UTF8', 'UTF16' ]);

$node->safe_psql('postgres', "CREATE DATABASE latin ENCODING LATIN1 LOCALE 'C' TEMPLATE template0");
$node->safe_psql('latin', 'CREATE EXTENSION csv_gpu_fdw; CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw');

# ---- random tables ----

my @texts = (
	"''", "'a'", "'plain text'", "','", "'\"'", "'a\"b'", "'\"\"'", "'\"a\"'", "E'\\\\'", "E'\\\\.'", "E'a\\\\nb'", "E'line\\nbreak'", "E'cr\\rhere'",
	"E'\\r\\n'", "E'\\n'", "E'\\r'", "E'end\\r'", "E'tab\\there'", "E'\\t'", "E'\\b\\f\\v'", "E'\\x1a'", "'NULL'", "'null'", "E'\\\\N'", "' '", "' padded '", "' left'", "'0'", "'t'",
	"'|'", "'||'", "'a|'", "';'", "'#'", "'#comment'", "'//x'", "'n/a'", "'-'", "'dflt'", "''''", "E'\\\\\"'", "repeat('x', 17)", "repeat('y', 16) || '\"'",
	"repeat('z', 31) || E'\\n'", "repeat(md5('1'), 100)");
my %high = (
	postgres => [ "U&'\\00e4'", "U&'\\3042\\8868\\30bd'", "repeat(U&'\\8868', 20) || ','", "U&'\\20ac'", "U&'\\feff'", "U&'\\feffa,b'", "U&'\\ff5e\\00a5\\203e'", "U&'\\+01F600'", "U&'\\00a7'" ],
	latin => [ "U&'\\00e4'", "U&'\\00ff\\00fe'", "U&'\\00e4,\\00f6'", "U&'\\00a7'" ]);
my @numbers = ('0', '1', '-1', '12', '100', '-999', '1000', '9999', '-12345', '2147483647', '-2147483648');
my @decimals = (@numbers, '0.1', '-0.01', '1.50', '12345.6789', '-1234567.891', '1000000000000000000000.000000000000001');
my @dates = ("'2001-02-28'", "'2000-02-29'", "'1999-12-31'", "'0001-01-01'", "'9999-12-31'", "'10000-01-01'", "'0001-12-31 BC'", "'infinity'", "'1969-12-31'");
my @stamps = ("'2001-02-28 12:34:56'", "'2000-02-29 00:00:00.5'", "'1999-12-31 23:59:59.999999'", "'1969-07-20 20:17:40.123'", "'0001-12-31 BC'", "'infinity'", "'2024-07-01 13:00:00'");
my %types = (
	bool => [ 'true', 'false' ],
	int2 => [ grep { abs($_) < 30000 } @numbers ],
	int4 => \@numbers,
	int8 => [ @numbers, '9223372036854775807' ],
	numeric => [ @decimals, "'NaN'", "'Infinity'", '1e100' ],
	'numeric(14,4)' => [ grep { !/\d{11}/ } @decimals ],
	float4 => [ @decimals[ 0 .. 12 ], '1.1', "'NaN'", "'-inf'", "'-0'", '1e30', '12345.678' ],
	float8 => [ @decimals, "'NaN'", "'inf'", '1e300', '0.1', '1e-5' ],
	date => \@dates, timestamp => \@stamps, 'timestamp(0)' => \@stamps, timestamptz => \@stamps,
	time => [ "'00:00'", "'12:34:56.789'" ],
	interval => [ "'1 day'", "'-1 year 3 months 04:05:06.7'" ],
	uuid => ["'00112233-4455-6677-8899-aabbccddeeff'"],
	json => [ q('{"a": [1, "x"]}'), "'1'" ], jsonb => [q('{"a": [1, "x"]}')],
	bytea => [ q('\x00ff'), q('\x') ],
	'int4[]' => [ "'{1,2,NULL}'", "'{}'", "'[2:3]={5,6}'" ],
	'text[]' => [ q('{a,"b,c","d\"e"}'), q('{NULL,"NULL",""}') ],
	int4range => [ "'[1,5)'", "'empty'" ], tstzrange => ["'[2001-01-01,2002-01-01)'"],
	money => ["'1234.56'"], '"char"' => [ "'x'", "','" ], name => ["'na,me'"], inet => ["'::1'"],
	mood => [ "'glad'", "'not, glad'" ], pair => [ q(ROW(1, 'x,y')), q(ROW(NULL, '')) ], whole => [ 1, 200 ]);
my @types = sort keys %types;
my @kinds = (qw(text text varchar), 'varchar(12)', 'char(5)', 'bpchar');

sub value
{
	my ($database, $type) = @_;

	return 'NULL' if chance(0.15);
	return '(' . pick(@{ $types{$type} }) . ")::$type" if $types{$type};
	return "(left(" . pick(@texts, @{ $high{$database} }) . ($type =~ /\((\d+)\)/ ? ", $1" : ', 100000') . "))::$type";
}

# options of dialects that other readers know
my $known_options = qr/^(?:header|delimiter|quote|escape|null|format|encoding|record_boundary)$/;

# "name 'value'", by weight
sub some
{
	my ($options, $probability, $name, @values) = @_;

	$options->{$name} = pick(@values) if chance($probability);
	return;
}

sub table_options
{
	my ($database) = @_;
	my %options;
	my $encoding = pick(@{ $databases{$database} });

	some(\%options, 0.2, format => 'text');
	my $is_csv = !$options{format};
	some(\%options, 0.4, delimiter => ';', "\t", '|', ($is_csv ? (' ', '.', '-', '0', ':') : ()), '||', '~|~', $encoding =~ /^(|UTF8|LATIN1|UTF16.*)$/ && !($encoding eq '' && $database eq 'latin') ? '§' : ';;');
	some(\%options, 0.3, header => 'true', 'true', 'match');
	some(\%options, 0.3, null => 'NULL', 'n/a', '-', ' ', $is_csv ? '\N' : '');
	some(\%options, 0.15, null_values => '{NULL,null}', '{"",0,n/a}');
	some(\%options, 0.15, decimal_separator => ',');
	some(\%options, 0.15, thousands_separator => '.', ' ', "_", ',');
	some(\%options, 0.2, date_format => 'DD.MM.YYYY', 'YYYY-MM-DD', 'FMDD Mon YY', 'epoch');
	some(\%options, 0.2, timestamp_format => 'YYYY-MM-DD HH24:MI:SS', 'DD/MM/YYYY HH12:MI:SS.US AM', 'epoch', 'epoch_ms', 'epoch_us', 'YYYYMMDDHH24MISSUS', 'YYYY-MM-DD"T"HH24:MI:SS.USTZH:TZM');
	some(\%options, 0.3, timezone => 'America/New_York', 'Asia/Tokyo', 'UTC');
	some(\%options, 0.2, date_order => 'DMY', 'MDY', 'YMD');
	some(\%options, 0.2, trim => 'true');
	some(\%options, 0.2, comment => '#', '//');
	some(\%options, 0.3, record_boundary => 'lf', 'crlf', 'cr');
	some(\%options, 0.1, ragged => 'pad');
	some(\%options, 0.05, max_record_size => '200');
	if ($is_csv)
	{
		some(\%options, 0.3, quote => "'", '~', '', '');
		some(\%options, 0.2, escape => '\\', '!') if ($options{quote} // '"') ne '';
		some(\%options, 0.3, quoting => 'postgres', 'lenient');
		some(\%options, 0.15, multiline => 'false');
	}
	$options{encoding} = $encoding if $encoding ne '';
	delete @options{ grep { !/$known_options/ } keys %options } if chance(0.4);
	return %options;
}

# options as SQL
sub options_sql
{
	my (%options) = @_;

	return join ', ', map { "$_ " . literal($options{$_}) } sort keys %options;
}

my ($nrows, $nrefused, $ntables, $nfiles, $ncrlf) = (0, 0, 0, 0, 0);
my (%refusals, %readings);

# ---- other readers ----

# Fields of CSV files, as lines of hexadecimal digits, in order: of one file in the
# dialect of COPY, and of others in a dialect.
write_file("$directory/fields.py", <<'PYTHON');
import csv, sys
delimiter, quote, encoding, header, *paths = sys.argv[1:]
csv.field_size_limit(10 ** 9)
rows = []
for path in paths:
	with open(path, encoding=encoding, newline='') as file:
		rows += list(csv.reader(file, delimiter=delimiter, quotechar=quote, strict=True))[int(header):]
for row in sorted(','.join(field.encode().hex() for field in row) for row in rows):
	print(row)
PYTHON

my %python_encodings = (UTF8 => 'utf-8', LATIN1 => 'latin-1', map { $_ => 'utf-16' } 'UTF16', 'UTF16LE', 'UTF16BE');
my %unpack = ('.gz' => 'gzip -dc', '.zst' => 'zstd -dcq', '.lz4' => 'lz4 -dcq');

sub fields
{
	my ($delimiter, $quote, $encoding, $header, @files) = @_;

	return join '', run_command([ 'python3', "$directory/fields.py", $delimiter, $quote, $encoding, $header, @files ]);
}

# what others read from the files of the table "f", and should, which is "written":
# (reader, expected, found)
sub read_by_others
{
	my ($session, $heap, $options, @files) = @_;
	my %copy = map { $_ => $options->{$_} } grep { exists $options->{$_} } qw(format delimiter quote escape null encoding);
	my $is_csv = !$options->{format};
	my $encoding = $options->{encoding} // 'UTF8';
	my $null = $options->{null} // '';
	my $has_header = $options->{header} ? 1 : 0;
	my $quote = $options->{quote} // '"';
	my $delimiter = $options->{delimiter} // ',';
	my @readings;

	return if !@files || $quote eq '' || $delimiter !~ /^[ -~\t]$/;
	$session->value('SET csv_gpu_fdw.copy = off; RESET DateStyle; RESET extra_float_digits; RESET IntervalStyle');

	for (@files)
	{
		my ($suffix) = /(\.gz|\.zst|\.lz4)$/;

		next if !$suffix;
		system("$unpack{$suffix} '$_' >'$_.plain'") == 0 or die "$suffix: $_";
		$_ = "$_.plain";
	}
	if ($encoding !~ /^UTF16/)
	{
		my $definition = join ', ', (map { "$_ " . literal($copy{$_}) } sort keys %copy), $is_csv ? ('format csv') : (), "header $has_header";
		my $sql = join '; ', map { 'COPY back FROM ' . literal($_) . " ($definition)" } @files;
		my ($out, $err) = $session->query("BEGIN; CREATE TEMP TABLE back ($heap) ON COMMIT DROP; $sql; COPY back TO STDOUT; COMMIT");

		push @readings, [ 'COPY', ($session->query('COPY written TO STDOUT'))[0], $out . $err ];
	}
	return @readings if !$is_csv || !has_program('python3') || !$python_encodings{$encoding}
	  || ($options->{escape} // $quote) ne $quote;
	my $all = "$directory/written";

	$session->value("COPY written TO '$all' (FORMAT csv, NULL " . literal($null) . ", QUOTE E'\\x02', FORCE_QUOTE *, ENCODING 'UTF8')");
	my $expected = fields(',', "\x02", 'utf-8', 0, $all);

	push @readings, [ 'Python', $expected, fields($delimiter, $quote, $python_encodings{$encoding}, $has_header, @files) ];
	return @readings if !$ENV{CSV_GPU_FDW_DUCKDB} || $encoding ne 'UTF8';
	my $ncolumns = () = $heap =~ /"(?:[^"]|"")*" /g;

	unlink $all;
	my $files = join ', ', map { "'$_'" } @files;
	my $columns = join ', ', map { "'c$_': 'varchar'" } 1 .. $ncolumns;
	my $read = "read_csv([$files], auto_detect = false, header = " . ($has_header ? 'true' : 'false') . ", delim = '"
	  . $delimiter . "', quote = '" . $quote =~ s/'/''/gr . "', escape = '" . $quote =~ s/'/''/gr
	  . "', strict_mode = false, parallel = false, allow_quoted_nulls = false, new_line = '" . { crlf => '\\r\\n', cr => '\\r', lf => '\\n' }->{ $options->{record_boundary} // 'lf' } . "', columns = {$columns})";
	my $errors = (run_command([ $ENV{CSV_GPU_FDW_DUCKDB}, 1, "COPY (SELECT * FROM $read) TO '$all' (FORMAT csv, HEADER false, FORCE_QUOTE *)" ]))[1];

	push @readings, [ 'DuckDB', $expected, $errors || fields(',', '"', 'utf-8', 0, $all) ];
	return @readings;
}

sub try_table
{
	my ($session, $database, $number) = @_;
	my @columns = map { chance(0.5) ? pick(@kinds) : pick(@types) } 1 .. pick(1, 1, 2, 3, 6);
	my %options = table_options($database);
	my $suffix = pick('.csv', '.csv', '.csv', '.csv.gz', '.csv.zst', '.csv.lz4');
	my $is_pattern = chance(0.5);
	my $file = "$directory/$database-$number";
	my @names = map { pick('c', 'a b', 'A,') . $_ } 1 .. @columns;
	my $is_plain = !grep { !/^(header|delimiter|encoding|record_boundary|ragged)$/ } keys %options;

	$is_plain = 0 if ($options{encoding} // 'UTF8') !~ /^UTF/;	# characters may have no equivalent
	my @definitions;

	if ($options{header} && $options{header} eq 'true' && chance(0.3))
	{
		$options{by_name} = 'true';
	}
	for my $i (0 .. $#columns)
	{
		my %of_column;

		some(\%of_column, 0.1, force_null => 'true') if !$options{format};
		some(\%of_column, 0.1, force_not_null => 'true') if !$options{format};
		some(\%of_column, 0.1, max_chars => 5, 20);
		some(\%of_column, 0.1, byte_width => 8, 40);
		some(\%of_column, 0.1, null_values => '{a,1}');
		$is_plain = 0 if %of_column;
		push @definitions, qq("$names[$i]" $columns[$i]) . (%of_column ? ' OPTIONS (' . options_sql(%of_column) . ')' : '');
	}
	my $heap = join ', ', map { qq("$names[$_]" $columns[$_]) } 0 .. $#columns;
	my @rows = map { '(' . join(', ', map { value($database, $_) } @columns) . ')' } 1 .. pick(1, 3, 20);
	my $definition = "CREATE FOREIGN TABLE f (" . join(', ', @definitions) . ") SERVER csv OPTIONS (filename '$file" .
	  ($is_pattern ? '-*' : '') . "$suffix', writable 'true', " . options_sql(%options, on_error => 'skip') . ')';
	my ($out, $err) = $session->query("SET client_min_messages = warning; DROP TABLE IF EXISTS h, written; DROP FOREIGN TABLE IF EXISTS f; RESET client_min_messages;
		CREATE TABLE h ($heap); CREATE TABLE written (LIKE h); ALTER TABLE h ADD COLUMN n serial;
		INSERT INTO h VALUES " . join(",\n", @rows) . ";\n$definition");
	my $setting = pick('', '', "SET DateStyle = 'German'", 'SET extra_float_digits = 0', "SET IntervalStyle = 'iso_8601'", "SET TimeZone = 'Asia/Kolkata'");
	my $what = "$definition; $setting";

	# conflicts of options
	return if $err =~ /^ERROR/m && $err !~ /ERROR:  (?:syntax|column|cannot)/;
	is($err, '', "made: $what") or return;
	my $names = join ', ', map { qq("$_") } @names;

	# a file whose lines end in CRLF, if nothing refuses the row
	if (!$is_pattern && !$options{record_boundary} && chance(0.5))
	{
		my $nulls = join ', ', ('NULL') x @columns;

		$session->query("ALTER FOREIGN TABLE f OPTIONS (ADD record_boundary 'crlf')");
		($out, $err) = $session->query("INSERT INTO f VALUES ($nulls)");
		$session->value("INSERT INTO written VALUES ($nulls)") if $err eq '';
		$session->value("ALTER FOREIGN TABLE f OPTIONS (DROP record_boundary)");
		$ncrlf++ if $err eq '';
	}

	# several statements and subtransactions, and what is written by others before
	for my $part (0 .. pick(0, 0, 1, 2))
	{
		($out, $err) = $session->query("BEGIN; $setting;\n" . ($part > 0 && chance(0.2) ? 'TRUNCATE f; DELETE FROM written;' : '') . "
			DO \$\$ DECLARE i int; message text; BEGIN
			FOR i IN SELECT n FROM h WHERE n % 3 = $part % 3 OR $part = 0 ORDER BY n LOOP
			BEGIN
				INSERT INTO f SELECT $names FROM h WHERE n = i;
				INSERT INTO written SELECT $names FROM h WHERE n = i;
			EXCEPTION WHEN others THEN
				GET STACKED DIAGNOSTICS message = PG_EXCEPTION_DETAIL;
				RAISE WARNING 'refused: % %', SQLERRM, message;
			END; END LOOP; END \$\$;\nCOMMIT");
		for (split /\n/, $err)
		{
			next if !/^WARNING:  refused: (.*)/;
			$nrefused++;
			my $why = $1;
			$why =~ s/"(?:[^"]|"")*"|\d+/x/g;
			$refusals{$why}++;
			fail("refused in a plain dialect: $what: $_") if $is_plain && !/no equivalent/;
		}
		# a name of the header that cannot be written
		return if $err =~ /^ERROR:  cannot write column/m;
		if ($err =~ /^ERROR/m)
		{
			fail("written: $what: $err");
			return;
		}
	}
	my ($expected) = $session->query("COPY (SELECT * FROM written) TO STDOUT");
	my @found = $session->query("COPY (SELECT * FROM f) TO STDOUT");

	# without quotes, or if they do not span lines, a CR or LF in a value may look like a
	# line break: the rows are right, and it is told
	$found[1] =~ s/WARNING:  file ".*" has line breaks outside quotes that end no records\nHINT:  .*\n?//g
	  if (exists $options{quote} && $options{quote} eq '') || ($options{multiline} // '') eq 'false';
	# one row after another, in the order of the transactions
	my $sort = sub { join "\n", $is_pattern ? sort(split /\n/, $_[0]) : $_[0] };
	$nrows += () = $expected =~ /\n/g;
	$ntables++;
	$nfiles += my @files = glob("$file*");
	if ($found[1] eq '' && $sort->($expected) eq $sort->($found[0]))
	{
		return if grep { !/$known_options/ } keys %options;
		for (read_by_others($session, $heap, \%options, grep { -s } @files))
		{
			my ($reader, $written, $read) = @$_;

			$readings{$reader} += @files;
			next if join("\n", sort split /\n/, $written) eq join("\n", sort split /\n/, $read);
			fail("$reader: $what");
			note("expected:\n$written\nfound:\n$read\nfiles: ", map { unpack('H*', slurp_file($_)) =~ s/^(.{600}).*/$1.../r . ' ' } @files);
		}
		return;
	}
	fail("read back: $what");
	note("expected:\n$expected\nfound:\n$found[0]\n$found[1]\nfiles: ",
		join ', ', map { "$_ " . unpack('H*', slurp_file($_)) =~ s/^(.{600}).*/$1.../r } glob("$file*"));
	return;
}

my %sessions = map { $_ => new_session($node, database => $_) } sort keys %databases;
for my $database (sort keys %sessions)
{
	$sessions{$database}->query("SET client_encoding = UTF8; CREATE TYPE mood AS ENUM ('glad', 'not, glad'); CREATE TYPE pair AS (a int, b text);
		CREATE DOMAIN whole AS int CHECK (VALUE > 0)");
}
for (my ($number, $end) = (0, time + $seconds); time < $end; $number++)
{
	my $database = chance(0.8) ? 'postgres' : 'latin';

	try_table($sessions{$database}, $database, $number);
	unlink glob("$directory/$database-*");
}
note("$ntables tables, $nfiles files, $ncrlf begun with CRLF, $nrows rows, $nrefused refused; by other readers ", join ', ', map { "$_ $readings{$_}" } sort keys %readings);
note("$refusals{$_} $_") foreach sort { $refusals{$b} <=> $refusals{$a} } keys %refusals;
ok($nrows > 0, 'rows were written');
$_->value("SET client_min_messages = warning; DROP FOREIGN TABLE IF EXISTS f") foreach values %sessions;

# ---- savepoints ----

{
	my $session = $sessions{postgres};

	$session->value("CREATE TABLE heap (i int, t text);
		CREATE FOREIGN TABLE saved_plain (i int, t text) SERVER csv OPTIONS (filename '$directory/saved.csv', header 'true', writable 'true');
		CREATE FOREIGN TABLE saved_files (i int, t text) SERVER csv OPTIONS (filename '$directory/saved-*.csv.lz4', writable 'true')");
	for my $transaction (1 .. 30)
	{
		my @savepoints;
		my $sql = "BEGIN;\n";

		for my $step (1 .. 1 + rand 15)
		{
			my $what = rand;

			if ($what < 0.5)
			{
				my ($n, $width) = (pick(1, 10, 300), pick(1, 500));

				$sql .= "INSERT INTO $_ SELECT $transaction * 1000 + $step, repeat('x', $width) FROM generate_series(1, $n);\n" foreach qw(heap saved_plain saved_files);
			}
			elsif ($what < 0.7)
			{
				push @savepoints, "s$step";
				$sql .= "SAVEPOINT s$step;\n";
			}
			elsif ($what < 0.95 && @savepoints)
			{
				my $which = int rand @savepoints;
				my $back = chance(0.6);

				$sql .= ($back ? 'ROLLBACK TO ' : 'RELEASE ') . "$savepoints[$which];\n";
				$#savepoints = $back ? $which : $which - 1;
			}
			elsif ($what >= 0.95)
			{
				$sql .= "TRUNCATE $_;\n" foreach qw(heap saved_plain saved_files);
			}
		}
		my (undef, $err) = $session->query($sql . (chance(0.8) ? 'COMMIT' : 'ROLLBACK'));
		my $sums = join "\n", $session->query(join ';', map { "SELECT i, count(*), sum(length(t)) FROM $_ GROUP BY i ORDER BY i" } qw(saved_plain saved_files));
		my ($heap) = $session->query('SELECT i, count(*), sum(length(t)) FROM heap GROUP BY i ORDER BY i');

		is("$err$sums", ($heap eq '' ? '' : "$heap\n") . "$heap\n", "savepoints of transaction $transaction") or diag($sql);
	}
}

# ---- two sessions ----

my ($one, $two) = map { new_session($node) } 1 .. 2;

sub lines
{
	my ($file) = @_;

	return split /(?<=\n)/, slurp_file("$directory/$file");
}

# the SQLSTATE or message of an error
sub fails
{
	my ($session, $sql, $error, $what) = @_;
	my ($out, $err) = $session->query($sql);

	like($err, $error, $what);
	return;
}

$one->value("CREATE FOREIGN TABLE plain (i int, t text) SERVER csv OPTIONS (filename '$directory/plain.csv', header 'true', writable 'true');
	CREATE FOREIGN TABLE other (i int, t text) SERVER csv OPTIONS (filename '$directory/plain.csv', header 'true', writable 'true');
	CREATE FOREIGN TABLE files (i int, t text) SERVER csv OPTIONS (filename '$directory/files-*.csv', writable 'true');
	CREATE PROCEDURE write_some(first int, n int) LANGUAGE plpgsql AS \$\$
	BEGIN
		FOR i IN first .. first + n - 1 LOOP
			INSERT INTO plain SELECT i, repeat('x', j) FROM generate_series(1, 50) j;
			INSERT INTO other VALUES (i, 'other');
			INSERT INTO files VALUES (i, 'file');
			IF i % 5 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
		END LOOP;
	END \$\$");
$one->send('CALL write_some(1, 100)');
$two->send('CALL write_some(101, 100)');
my $reader = new_session($node);
my $torn = 0;
while (!$one->ended || !$two->ended)
{
	my ($out, $err) = $reader->query("SELECT i FROM plain GROUP BY i HAVING count(*) <> 51 UNION ALL SELECT count(*) - count(DISTINCT i) FROM files HAVING count(*) <> count(DISTINCT i)");

	$torn++ if "$out$err" ne '';
}
is(join('', $one->await, $two->await), '', 'both have written');
is($torn, 0, 'readers see whole transactions');
is($one->value('SELECT count(*), count(DISTINCT i) FROM plain'), '8160|160', 'all committed rows are there');
is($one->value('SELECT count(*), count(DISTINCT i) FROM files'), '160|160', 'and those of the pattern');
is(scalar(grep { !/\n\z/ } lines('plain.csv')), 0, 'each line is whole');

# a cursor sees the files of its beginning
$one->value('TRUNCATE files; TRUNCATE plain; INSERT INTO plain VALUES (1); INSERT INTO files VALUES (1)');
$one->value('BEGIN; DECLARE p CURSOR FOR SELECT i FROM plain; DECLARE f CURSOR FOR SELECT i FROM files');
$two->value('INSERT INTO plain VALUES (2); INSERT INTO files VALUES (2)');
is($one->value('FETCH ALL FROM p; FETCH ALL FROM f; SELECT count(*) FROM plain; COMMIT'), "1\n1\n2", 'a cursor sees sizes and names of its beginning');

# kept columns, and plans
$one->value("SET csv_gpu_fdw.resident = on; PREPARE q AS SELECT count(*) FROM plain");
for my $n (3 .. 8)
{
	$two->value("INSERT INTO plain VALUES ($n)");
	is($one->value('EXECUTE q'), $n, "a prepared statement sees row $n");
}

# ---- other programs ----

sub append
{
	my ($file, $bytes) = @_;

	open my $handle, '>>:raw', "$directory/$file" or die "$file: $!";
	print $handle $bytes;
	close $handle;
	return;
}

append('plain.csv', '9,no break');
$one->value('BEGIN; INSERT INTO plain VALUES (10)');
append('plain.csv', ' at all');
$one->value('COMMIT');
is(join('', (lines('plain.csv'))[ -2, -1 ]), "9,no break at all\n10,\n", 'a line that another program has not ended is ended');
$one->value('BEGIN; INSERT INTO plain VALUES (11)');
write_file("$directory/plain.csv", "t;i\nx;1\n");
fails($one, 'COMMIT', qr/^ERROR:  header of ".*plain.csv" has 1 fields, but records of foreign table "plain" have 2/, 'a header of another delimiter');
is(slurp_file("$directory/plain.csv"), "t;i\nx;1\n", 'nothing was written below it');
$one->value("CREATE FOREIGN TABLE named (i int OPTIONS (header_name 'i'), t text OPTIONS (header_name 't')) SERVER csv
	OPTIONS (filename '$directory/named.csv', header 'true', writable 'true')");
$one->value("INSERT INTO named VALUES (1, 'x')");
$one->value("BEGIN; INSERT INTO named VALUES (2, 'y')");
write_file("$directory/named.csv", "t,i\nx,1\n");
fails($one, 'COMMIT', qr/^ERROR:  file ".*named.csv" was replaced in the meantime/, 'another header');
$one->value("INSERT INTO named VALUES (3, 'z')");
is(join('', lines('named.csv')), "t,i\nx,1\nz,3\n", 'columns are where the header has them');

# lone CRs, and the end of the data
write_file("$directory/cr.csv", "1,a\r2,b\r");
write_file("$directory/end.txt", "1\ta\n\\.\n");
$one->value("CREATE FOREIGN TABLE cr (i int, t text) SERVER csv OPTIONS (filename '$directory/cr.csv', writable 'true');
	CREATE FOREIGN TABLE ended (i int, t text) SERVER csv OPTIONS (filename '$directory/end.txt', format 'text', writable 'true')");
$one->value("INSERT INTO cr VALUES (3, 'c')");
is(slurp_file("$directory/cr.csv"), "1,a\r2,b\r3,c\r", 'lone CRs end records');
fails($one, "INSERT INTO ended VALUES (3, 'c')", qr/^ERROR:  cannot append to file ".*end.txt"\nDETAIL:  Its last line marks the end of the data/m, 'behind \\.');
is(slurp_file("$directory/end.txt"), "1\ta\n\\.\n", 'nothing was written');

# files that others have begun: below a header, rows go by names, or by place if the header
# has no name in another place; their line breaks are those of the file
sub begun_file
{
	my ($number) = @_;
	my @columns = splice @{ [ sort { rand() <=> rand() } 'id', 'name', 'home city', 'Zip', 'a_b', 'x1' ] }, 0, pick(1, 2, 3, 4);
	my $how = pick('place', 'place', 'place', 'by_name', 'header_name');
	my $break = pick("\n", "\r\n", "\r\n", "\r");
	my $delimiter = pick(',', ',', ';');
	my @header = @columns;
	my $name = "$directory/begun-$number.csv";

	# what each change makes of the header
	for (pick('same', 'same', 'order', 'order', 'case', 'other', 'one more', 'one less', 'one other', 'delimiter', 'none', 'empty'))
	{
		@header = sort { rand() <=> rand() } @header if /order|case/;
		@header = map { chance(0.5) ? uc : lc } @header if /case/;
		@header = map { "other$_" } 1 .. @header if /^other/;
		splice @header, rand(@header + 1), 0, 'more' if /one more/;
		splice @header, rand(@header), 1 if /one less/;
		$header[ rand @header ] = 'other' if /one other/;
		$delimiter = ($delimiter eq ',' ? ';' : ',') if /delimiter/;
		@header = map { 100 + $_ } 1 .. @header if /none/;
		@header = () if /empty/;
	}
	my $is_empty = !@header;
	my @first = map { chance(0.3) && $break ne "\r" ? qq("a\nb$_") : "v$_" } 1 .. @header;
	my $bytes = $is_empty ? pick('', $break) : join($delimiter, map { chance(0.2) ? qq("$_") : $_ } @header) . $break;
	my $ends = 1;

	if (!$is_empty && chance(0.6))
	{
		$ends = chance(0.7);
		$bytes .= join($delimiter, @first) . ($ends ? $break : '');
	}
	$bytes = "\xef\xbb\xbf$bytes" if !$is_empty && chance(0.1);
	write_file($name, $bytes);
	my $table_delimiter = chance(0.9) ? $delimiter : ',';
	my $definition = join ', ', map { qq("$_" text) . ($how eq 'header_name' ? qq( OPTIONS (header_name '$_')) : '') } @columns;

	return ($name, $bytes, $ends, $break, $how, $delimiter, $table_delimiter, \@columns, \@header, "CREATE FOREIGN TABLE begun_$number ($definition) SERVER csv
		OPTIONS (filename '$name', header 'true', delimiter '$table_delimiter', writable 'true'" . ($how eq 'by_name' ? ", by_name 'true')" : ')'));
}

# what must come of a row "value of COLUMN" for each column: the bytes that are appended,
# or undef for an ERROR; and whether there is a NOTICE
sub begun_row
{
	my ($break, $how, $delimiter, $table_delimiter, $columns, $header) = @_;
	my @header = $table_delimiter eq $delimiter || @$header < 2 ? @$header : (join $delimiter, @$header);
	my %value = map { $_ => "value of $_" } @$columns;

	return (join($table_delimiter, @$columns) . "\n" . join($table_delimiter, map { $value{$_} } @$columns) . "\n", 0) if !@header;
	if ($how ne 'place')
	{
		my @row = ('') x @header;

		for my $column (@$columns)
		{
			my ($field) = grep { $header[$_] eq $column } 0 .. $#header;

			($field) = grep { lc $header[$_] eq lc $column } 0 .. $#header if !defined $field && $how eq 'by_name';
			return (undef, 0) if !defined $field;
			$row[$field] = $value{$column};
		}
		@row = ('""') if @row == 1 && $row[0] eq '';
		return (join($table_delimiter, @row) . $break, 0);
	}
	return (undef, 0) if @header != @$columns;
	my $nfound = 0;

	for my $i (0 .. $#header)
	{
		my $same = sub { $header[ $_[0] ] eq $columns->[$i] ? 2 : lc $header[ $_[0] ] eq lc $columns->[$i] ? 1 : 0 };

		return (undef, 0) if grep { $_ != $i && $same->($_) > $same->($i) } 0 .. $#header;
		$nfound++ if $same->($i);
	}
	return (join($table_delimiter, map { $value{$_} } @$columns) . $break, !$nfound);
}

{
	my %outcomes;

	for my $number (1 .. 300)
	{
		my ($name, $bytes, $ends, $break, $how, $delimiter, $table_delimiter, $columns, $header, $definition) = begun_file($number);
		my ($row, $is_told) = begun_row($break, $how, $delimiter, $table_delimiter, $columns, $header);
		my ($out, $err) = $one->query("$definition;\nINSERT INTO begun_$number VALUES (" . join(', ', map { "'value of $_'" } @$columns) . ')');
		my $expected = !defined $row ? $bytes : @$header ? $bytes . ($ends ? '' : $break) . $row : $row;
		my $outcome = !defined $row ? 'ERROR' : $is_told ? 'NOTICE' : 'written';
		my $found = $err =~ /^ERROR:  (?:header of|column "|cannot write column)/m ? 'ERROR' : $err =~ /^NOTICE:  header of/m ? 'NOTICE' : $err eq '' ? 'written' : $err;

		$outcomes{"$how: $outcome"}++;
		next if $found eq $outcome && slurp_file($name) eq $expected;
		fail("a file that others have begun: $definition: $outcome");
		note("$found: $err\n", map { s/\r/<CR>/gr } "before: $bytes\nexpected: $expected\nfound: " . slurp_file($name));
	}
	note(join ', ', map { "$_ $outcomes{$_}" } sort keys %outcomes);
	is(scalar(grep { $outcomes{"place: $_"} } 'ERROR', 'NOTICE', 'written'), 3, 'files that others have begun');
}

# files that have no header yet, or not all of it
write_file("$directory/named.csv", "\n");
write_file("$directory/marked.csv", "\xff\xfe");
$one->value("CREATE FOREIGN TABLE two_rows (i int, t text) SERVER csv OPTIONS (filename '$directory/named.csv', header_rows '2', writable 'true');
	CREATE FOREIGN TABLE marked (i int, t text) SERVER csv OPTIONS (filename '$directory/marked.csv', header 'true', writable 'true');
	CREATE FOREIGN TABLE zipped (i int, t text) SERVER csv OPTIONS (filename '$directory/zipped.csv.gz', header 'true', writable 'true')");
fails($one, 'INSERT INTO two_rows VALUES (1)', qr/^ERROR:  the header of file ".*" is not complete/, 'half a header');
$one->value('TRUNCATE two_rows; INSERT INTO two_rows VALUES (1)');
is(slurp_file("$directory/named.csv"), "\ni,t\n1,\n", 'TRUNCATE makes room for a header');
system("gzip </dev/null >$directory/zipped.csv.gz") == 0 or die;
for my $table ('marked', 'zipped')
{
	$one->value("INSERT INTO $table VALUES (1, 'x'); INSERT INTO $table VALUES (2, 'y')");
	is(join(' ', $one->query("SELECT * FROM $table")), "1|x\n2|y ", "a file without bytes gets a header: $table");
}

# ---- failures ----

# at the last moment: a serialization failure comes after the rows were written
$one->value("CREATE TABLE skew (i int); INSERT INTO skew VALUES (0);
	CREATE FOREIGN TABLE late_too (i int) SERVER csv OPTIONS (filename '$directory/late.csv', writable 'true');
	CREATE FOREIGN TABLE late (i int) SERVER csv OPTIONS (filename '$directory/late.csv', writable 'true');
	CREATE FOREIGN TABLE later (i int) SERVER csv OPTIONS (filename '$directory/later-*.csv', writable 'true')");
for my $before (undef, "7\n")
{
	write_file("$directory/late.csv", $before) if defined $before;
	$_->value('BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT * FROM skew; INSERT INTO skew VALUES (1)') foreach $one, $two;
	# two tables of one file
	$one->value('INSERT INTO late VALUES (1); INSERT INTO later VALUES (1); INSERT INTO late_too VALUES (2); INSERT INTO late VALUES (3)');
	$two->value('COMMIT');
	fails($one, 'COMMIT', qr/^ERROR:  could not serialize/, 'a failure when the transaction commits');
	is(-e "$directory/late.csv" ? slurp_file("$directory/late.csv") : undef, $before, 'the file is as it was before');
	is(join(' ', glob("$directory/{later,.later}*")), '', 'the new file is gone');
}
is(($one->query('INSERT INTO late VALUES (1)'))[1], '', 'the next transaction writes');

# only the file that the transaction has made goes, by its own name
mkdir "$directory/elsewhere" or die;
for my $made (1, 0)
{
	unlink map { "$directory/$_" } 'linked.csv', 'link', 'elsewhere/file';
	symlink('link', "$directory/linked.csv") && symlink('elsewhere/file', "$directory/link") or die;
	write_file("$directory/elsewhere/file", "7\n") if !$made;
	$one->value("CREATE FOREIGN TABLE IF NOT EXISTS linked (i int) SERVER csv OPTIONS (filename '$directory/linked.csv', writable 'true')");
	$_->value('BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT * FROM skew; INSERT INTO skew VALUES (1)') foreach $one, $two;
	$one->value('INSERT INTO linked VALUES (1)');
	$two->value('COMMIT');
	fails($one, 'COMMIT', qr/^ERROR:  could not serialize/, 'a failure when the transaction commits');
	is(readlink("$directory/linked.csv") . ' ' . readlink("$directory/link"), 'link elsewhere/file', 'links stay');
	is(-e "$directory/elsewhere/file" ? slurp_file("$directory/elsewhere/file") : undef, $made ? undef : "7\n", 'their file is as it was before');
	$one->value('INSERT INTO linked VALUES (2)');
	is(slurp_file("$directory/elsewhere/file"), $made ? "2\n" : "7\n2\n", 'rows go through links');
}
fails($one, 'BEGIN; TRUNCATE late; INSERT INTO late_too VALUES (1); COMMIT', qr/^ERROR:  cannot truncate file ".*" and write to it by another table/, 'TRUNCATE by one of two tables');
is(slurp_file("$directory/late.csv"), "7\n1\n", 'nothing has changed');
mkdir "$directory/closed" or die;
$one->value("CREATE FOREIGN TABLE closed (i int) SERVER csv OPTIONS (filename '$directory/closed/*.csv', writable 'true')");
chmod 0555, "$directory/closed";
SKIP:
{
	skip 'everything may be written', 1 if -w "$directory/closed";
	fails($one, 'INSERT INTO closed VALUES (1)', qr/^ERROR:  could not open file .* for writing: Permission denied/, 'a directory that may not be written');
}
chmod 0755, "$directory/closed";
$one->value('INSERT INTO closed VALUES (1)');
fails($one, 'BEGIN; INSERT INTO closed VALUES (1); PREPARE TRANSACTION \'x\'', qr/^ERROR:  cannot PREPARE a transaction that has written/, 'PREPARE TRANSACTION');
$one->value('BEGIN; SAVEPOINT s; INSERT INTO closed VALUES (1); ROLLBACK TO s; PREPARE TRANSACTION \'x\'');
$one->value('ROLLBACK PREPARED \'x\'');

# a server with a copy of this server's data directory takes hidden files for those of
# other transactions, so they are locked
{
	my ($tag) = glob("$directory/closed/csvgpu-*") or die;
	my $aborted = $one->value('BEGIN; SELECT pg_current_xact_id(); ROLLBACK');
	my $hidden = $tag =~ s{/(csvgpu-\d+-\d+)-\d+-(\d+\.csv)$}{/.$1-$aborted-$2.csvgpu}r;

	write_file($hidden, "1\n");
	open(my $file, '<', $hidden) or die "$hidden: $!";
	flock($file, 6) or die "$hidden: $!";
	is($one->value("SELECT state FROM csv_gpu_leftovers('$directory/closed', true)"), '', 'a locked file is left alone');
	close $file;
	is($one->value("SELECT state FROM csv_gpu_leftovers('$directory/closed', true)"), 'aborted', 'until the lock is released');

	# a commit that waits
	$node->safe_psql('postgres', q(ALTER SYSTEM SET synchronous_standby_names = 'nosuch'; SELECT pg_reload_conf()));
	ok($node->poll_query_until('postgres', q(SELECT setting = 'nosuch' FROM pg_settings WHERE name = 'synchronous_standby_names')), 'there is no standby');
	$one->send("SELECT pg_sleep(0.1);\nINSERT INTO closed VALUES (5)");
	ok($node->poll_query_until('postgres', q(SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep')), 'a commit waits');
	($hidden) = glob("$directory/closed/.*csvgpu");
	open($file, '<', $hidden) or die "no hidden file: $!";
	ok(!flock($file, 5), 'its file is locked');
	$node->safe_psql('postgres', 'ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()');
	is(($one->await)[1], '', 'the commit goes on');
	ok(flock($file, 5), 'and the lock is released');

	# csv_gpu_unload() replaces a file: rows that another session appends come behind the new ones
	mkdir "$directory/both" or die;
	write_file("$directory/both/w.csv", "1\n");
	$one->value("CREATE FOREIGN TABLE w (i int) SERVER csv OPTIONS (filename '$directory/both/w.csv', writable 'true')");
	my $other = new_session($node);
	$other->value("SET synchronous_commit = local");
	$node->safe_psql('postgres', q(ALTER SYSTEM SET synchronous_standby_names = 'nosuch'; SELECT pg_reload_conf()));
	ok($node->poll_query_until('postgres', q(SELECT setting = 'nosuch' FROM pg_settings WHERE name = 'synchronous_standby_names')), 'there is no standby');
	$one->send("SELECT pg_sleep(0.1);\nSELECT records FROM csv_gpu_unload('SELECT 2', '$directory/both/w.csv', header => false, overwrite => true)");
	ok($node->poll_query_until('postgres', q(SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep')), 'its commit waits');
	$other->send("SELECT pg_sleep(0.1);\nINSERT INTO w VALUES (3)");
	ok($node->poll_query_until('postgres', q(SELECT count(*) > 0 FROM pg_locks WHERE NOT granted)), 'and so does an INSERT');
	$node->safe_psql('postgres', 'ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()');
	is(($one->await)[1], '', 'the commit goes on');
	is(($other->await)[1], '', 'and then the INSERT');
	is(slurp_file("$directory/both/w.csv"), "2\n3\n", 'the file has the rows of both');
	$other->quit;
}

# files of other servers and programs, in the same directory
{
	mkdir "$directory/shared" or die;
	my $system = $one->value('SELECT system_identifier FROM pg_control_system()');
	my $other = $system - 1;
	my $aborted = $one->value('BEGIN; SELECT pg_current_xact_id(); ROLLBACK');
	my @theirs = ('a-theirs.csv', "a-csvgpu-$other-1-$aborted-5.csv", "a-csvgpu-$system-1-$aborted-5x.csv", "a-csvgpu-$system-1-$aborted-05.csv",
		"a-xcsvgpu-$system-1-$aborted-5.csv", "a-csvgpu-$system-1-$aborted.csv", "b-csvgpu-$system-1-$aborted-5.csv", "a-csvgpu-$system-1-$aborted-5.csv.bak",
		".a-csvgpu-$other-1-$aborted-5.csv.csvgpu", ".a-csvgpu-$system-2-$aborted-5.csv.csvgpu", ".a-csvgpu-$system-1-$aborted-5.csv", ".theirs.csvgpu",
		".csvgpu-$other-1-$aborted-0.csvgpu/new/x.csv", ".csvgpu-$system-2-$aborted-0.csvgpu/old/x.csv");
	my $committed = $one->value('SELECT pg_current_xact_id()');
	my @ours = ("a-csvgpu-$system-1-$committed-5.csv", ".a-csvgpu-$system-1-$aborted-6.csv.csvgpu", ".csvgpu-$system-1-$aborted-0.csvgpu/new/x.csv");

	for (@theirs, @ours)
	{
		my $path = "$directory/shared/$_";

		if (/\//)
		{
			my ($hidden, $below) = split /\//;

			mkdir "$directory/shared/$hidden", 0700;
			mkdir "$directory/shared/$hidden/$below", 0700;
		}
		write_file($path, "1,$_\n");
	}
	$one->value("CREATE FOREIGN TABLE shared (i int, t text) SERVER csv OPTIONS (filename '$directory/shared/a-*.csv', writable 'true')");
	is($one->value('SELECT count(*) FROM shared'), 7, 'files of many servers');
	$one->value("TRUNCATE shared; INSERT INTO shared VALUES (2); TRUNCATE shared; SELECT count(*) FROM csv_gpu_unload('SELECT 1', '$directory/shared/b.csv');
		SELECT * FROM csv_gpu_leftovers('$directory/shared', true)");
	is(join(' ', grep { !-e "$directory/shared/$_" || slurp_file("$directory/shared/$_") ne "1,$_\n" } @theirs), '', 'files of others stay');
	is(join(' ', grep { -e "$directory/shared/$_" } @ours), '', 'ours are gone');
}

# a report after the commit, with a name that the client's encoding lacks
mkdir "$directory/\xe2\x82\xac" or die;
$one->value("CREATE FOREIGN TABLE euro (i int) SERVER csv OPTIONS (filename '$directory/\xe2\x82\xac/*.csv', writable 'true'); INSERT INTO euro VALUES (1)");
for my $encoding ('UTF8', 'LATIN1')
{
	$one->value("SET client_encoding = $encoding; BEGIN; TRUNCATE euro");
	chmod 0555, "$directory/\xe2\x82\xac";
	SKIP:
	{
		skip 'everything may be written', 2 if -w "$directory/\xe2\x82\xac";
		my $before = -s $node->logfile;

		fails($one, 'COMMIT', $encoding eq 'UTF8' ? qr/^WARNING:  could not remove file ".*\xe2\x82\xac/ : qr/^$/, "a report to a client of $encoding");
		like(slurp_file($node->logfile, $before), qr/could not remove file/, 'is in the log');
	}
	chmod 0755, "$directory/\xe2\x82\xac";
}
is($one->value('RESET client_encoding; SELECT count(*) FROM euro'), 1, 'the session goes on');
SKIP:
{
	skip 'no prlimit', 4 if system('prlimit', '--pid=' . $one->pid, '--fsize=1000000:unlimited') != 0;
	my $plain = slurp_file("$directory/cr.csv");

	for my $table ('cr', 'closed')
	{
		fails($one, "INSERT INTO $table (i) SELECT generate_series(1, 1000000)", qr/^ERROR:  could not write to file .*: File too large/m, "a full disk: $table");
	}
	is(slurp_file("$directory/cr.csv"), $plain, 'the file is as it was before');
	is(join(' ', map { s{.*/}{}r =~ s/csvgpu-[-\d]+/tag/r } glob("$directory/closed/{*,.*csvgpu}")), 'tag.csv tag.csv', 'no file is left');
	system('prlimit', '--pid=' . $one->pid, '--fsize=unlimited:unlimited') == 0 or die;
}

# ---- copies of the server ----

# TRUNCATE and csv_gpu_leftovers() take nothing that a copy, or the copied server, has written
{
	mkdir "$directory/copied" or die;
	$one->value("CREATE FOREIGN TABLE copied (i int) SERVER csv OPTIONS (filename '$directory/copied/*.csv', writable 'true')");
	$one->value("INSERT INTO copied VALUES ($_)") foreach 1 .. 3;
	my ($hidden) = glob("$directory/copied/*-1-*.csv");
	my $aborted = $one->value('BEGIN; SELECT pg_current_xact_id(); ROLLBACK');
	my $long_ago = time - 7200;

	# one file that a crash has left, and one whose transaction the copy has not seen
	$hidden =~ s{/(csvgpu-\d+-\d+)-\d+-(\d+\.csv)$}{/.$1-$aborted-$2.csvgpu} or die;
	write_file($hidden, "4\n");
	utime($long_ago, $long_ago, $hidden, glob("$directory/copied/*.csv"));
	my @all = sort(glob("$directory/copied/*.csv"), $hidden);
	my $files = sub { join ' ', sort grep { -e } @all };
	my $refused = qr/^ERROR:  another server may have written file ".*\nDETAIL:.*\nHINT:  .* csv_gpu_take_over\(\)/m;

	$_->quit foreach $one, $two, $reader, values %sessions;
	$node->stop;
	for my $kind ('cold', 'promoted')
	{
		my $copy = PostgreSQL::Test::Cluster->new("copy_$kind");

		system('cp', '-a', $node->data_dir, $copy->data_dir) == 0 or die;
		$copy->append_conf('postgresql.conf', 'port = ' . $copy->port . "\nunix_socket_directories = '" . $copy->host . "'\n");
		unlink $copy->data_dir . '/postmaster.pid';
		write_file($copy->data_dir . '/standby.signal', '') if $kind eq 'promoted';
		$copy->start;
		$copy->promote if $kind eq 'promoted';
		my $session = new_session($copy);

		# the numbers of transactions are given on the copy, too
		$session->value('SELECT pg_current_xact_id()') foreach 1 .. 20;
		is($session->value('SELECT count(*) FROM copied'), 3, "$kind: the copy sees the rows");
		fails($session, $_, $refused, "$kind: $_") foreach 'TRUNCATE copied', 'BEGIN; TRUNCATE copied', 'ROLLBACK; BEGIN; INSERT INTO copied VALUES (5); TRUNCATE copied; COMMIT';
		is($session->value('SELECT count(*) FROM copied'), 3, "$kind: its rows are rolled back");
		like($session->value("SELECT state FROM csv_gpu_leftovers('$directory/copied', true)"), qr/^unknown$/, "$kind: a hidden file of the copied server");
		is($files->(), "@all", "$kind: all files stay");
		$session->value('INSERT INTO copied VALUES (6)');
		is($session->value('SELECT count(*) FROM copied'), 4, "$kind: the copy can write");
		fails($session, 'TRUNCATE copied', $refused, "$kind: TRUNCATE deletes all or nothing");
		is($session->value('SELECT count(*) FROM copied'), 4, "$kind: its own file is there, too");
		fails($session, 'SELECT csv_gpu_take_over($$skew$$)', qr/^ERROR:  "skew" is not a writable foreign table/, "$kind: another table");
		$session->value('BEGIN; SELECT csv_gpu_take_over($$copied$$); ROLLBACK');
		fails($session, 'TRUNCATE copied', $refused, "$kind: a call holds for its transaction");
		if ($kind eq 'promoted')
		{
			$session->value('BEGIN; SELECT csv_gpu_take_over($$copied$$); TRUNCATE copied; SAVEPOINT s; TRUNCATE copied; ROLLBACK TO s; ROLLBACK');
			is($session->value('SELECT count(*) FROM copied'), 4, 'a ROLLBACK deletes nothing');
			$session->value('BEGIN; SELECT csv_gpu_take_over($$copied$$); SAVEPOINT s; TRUNCATE copied; ROLLBACK TO s; COMMIT');
			is($session->value('SELECT count(*) FROM copied'), 4, 'nor does ROLLBACK TO');
			$session->value('BEGIN; SELECT csv_gpu_take_over($$copied$$); TRUNCATE copied; INSERT INTO copied VALUES (7); COMMIT');
			is($session->value('TABLE copied'), 7, 'files that were taken over are deleted');
			is(($session->query('TRUNCATE copied'))[1], '', 'what remains is its own');
			is($files->(), $hidden, 'hidden files are not taken over');
		}
		$session->quit;
		$copy->stop;
		unlink glob("$directory/copied/{*,.*csvgpu}");
		write_file($_, "1\n") && utime($long_ago, $long_ago, $_) foreach @all;
	}
	$node->start;
	($one, $two) = map { new_session($node) } 1 .. 2;
	utime(undef, undef, @all);
	is($one->value("SELECT state FROM csv_gpu_leftovers('$directory/copied', true)"), 'aborted', 'the copied server knows its hidden files');
	is(($one->query('TRUNCATE copied'))[1], '', 'and the others');
	is(join(' ', glob("$directory/copied/{*,.*csv*}")), '', 'they are gone');
}

# ---- crashes ----

$one->value("CREATE TABLE log (i int); TRUNCATE files");
my ($nkilled, $nfound) = (0, 0);
for my $round (1 .. amount(4))
{
	my $writer = new_session($node);

	$writer->send("DO \$\$ BEGIN FOR i IN 1 .. 100000 LOOP
		INSERT INTO log VALUES ($round * 1000000 + i);
		INSERT INTO files SELECT $round * 1000000 + i, repeat('x', 100) FROM generate_series(1, 1 + i % 3 * 300);
		COMMIT; END LOOP; END \$\$");
	sleep(0.05 + rand(0.3));
	kill_server($node);
	undef $writer;
	start_again($node);
	$nfound += () = glob("$directory/.files*");

	my $session = new_session($node);

	# settled by the next write, or by the function
	$session->value($round % 2 ? 'INSERT INTO files VALUES (0)' : "SELECT * FROM csv_gpu_leftovers('$directory', true)");
	is(join(' ', glob("$directory/.files*")), '', "round $round: nothing is left");
	is($session->value('SELECT count(*) FROM (SELECT i FROM files WHERE i > 0 GROUP BY i HAVING count(*) <> 1 + i % 1000000 % 3 * 300) x'), 0,
		"round $round: each file is whole");
	is($session->value('SELECT count(*) FROM (SELECT DISTINCT i FROM files WHERE i > 0) f FULL JOIN log USING (i) WHERE f.i IS NULL OR log.i IS NULL'), 0,
		"round $round: rows of committed transactions are there, and no others");
}
note("$nfound files were found under hidden names");

done_testing();
