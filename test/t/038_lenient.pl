# quoting 'lenient': random files of careless writers, and what regular expressions find
# in them.  Rows and errors are those, for any columns that a query wants, with each
# engine, in chunks, in parallel, from kept columns, with filters and groups, and in loads.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(time);

random_seed();
my $seconds = amount(4);
my $directory = PostgreSQL::Test::Utils::tempdir;
my @engines = engines();
my $node = csv_server('lenient', QUICK_FILES,
	'csv_gpu_fdw.resident_memory' => '100MB',
	max_parallel_workers_per_gather => 0,
	max_parallel_workers => 8,
	min_parallel_table_scan_size => 0,
	parallel_setup_cost => 0,
	parallel_tuple_cost => 0,
	'csv_gpu_test.small_pieces' => 'on');
my $session = new_session($node);
my $file = "$directory/f.csv";

$session->value("SET client_min_messages = warning; \\pset null -");

# ---- files ----

# of one dialect, with so many columns
sub random_file
{
	my ($delimiter, $ncolumns, $nrecords, $share) = @_;
	my $eol = pick("\n", "\n", "\r\n");
	my $text = '';

	for my $record (1 .. $nrecords)
	{
		my @fields = map {
			my $value = join '', map { pick('a', 'b', '1', '22', ' ', '', "\xc3\xa4") } 1 .. pick(0, 1, 1, 2, 3);

			$value = int rand 100 if chance(0.4);
			if (chance($share))
			{
				# quotes that nobody has doubled, or that nobody has closed
				$value .= pick('"', '" ', '""', "\"$delimiter", "$delimiter\"", '" b', "\"$delimiter\"", "\t\"", "\"$eol", "a$eol") . pick('', 'c', '3');
				$value = pick(qq{"$value"}, qq{"$value" }, qq{"$value"\t}, qq{"$value}, $value, qq{x"$value"}, qq{ "$value"});
			}
			elsif (chance(0.3))
			{
				$value .= pick($delimiter, '""', $eol, '') if chance(0.5);
				$value = qq{"$value"};
			}
			$value;
		} 1 .. (chance(0.97) ? $ncolumns : $ncolumns + pick(-1, 1, 2));

		$text .= join($delimiter, @fields) . $eol;
	}
	$text =~ s|\r?\n\z|| if chance(0.2);
	write_file($file, $text);
	return $text;
}

# ---- what stands in them ----

# of a line by itself
sub lenient_fields
{
	my ($line, $d) = @_;
	my $blank = $d eq "\t" ? qr/ / : qr/[ \t]/;
	my @fields;

	pos($line) = 0;
	do
	{
		$line =~ /\G"(.*?)"$blank*(?=\Q$d\E|\z)/gc ? push @fields, [ $1, 1 ] : $line =~ /\G([^\Q$d\E]*)/gc && push @fields, [ $1, 0 ];
	} while ($line =~ /\G\Q$d\E/gc);
	return \@fields;
}

# Records: { record, line, fields: [text, quoted] ... or error: [code, field] }.
sub read_records
{
	my ($text, $d, $multiline, $ncolumns, $pad) = @_;
	my @of_mode = (
		[ $multiline ? qr/(?>"(?:[^"]|"")*+")/ : qr/(?>"(?:[^"\r\n]|"")*+")/, qr/(?:[^"\r\n\Q$d\E][^\r\n\Q$d\E]*)?/ ],
		[ qr/(?>"(?:[^"\r\n]|"")*+")/, qr/[^"\r\n\Q$d\E]*/ ]);
	my ($line, $alone_until, @records) = (1, 0);

	pos($text) = 0;
	while (pos($text) < length $text)
	{
		my $start = pos $text;
		my $is_alone = $start < $alone_until;
		my ($quoted, $unquoted) = @{ $of_mode[$is_alone] };
		my $field = qr/$quoted|$unquoted/;
		my %record = (line => $line);

		if ($text =~ /\G\r?\n/gc)
		{
			$line++;
			next;
		}
		if ($text =~ /\G((?:(?:$field)\Q$d\E)*+(?:$field))(?:\r?\n|\z)/gc)
		{
			my $raw = $1;

			$line += () = substr($text, $start, pos($text) - $start) =~ /\n/g;
			pos($raw) = 0;
			do
			{
				$raw =~ /\G($field)/gc or die;
				push @{ $record{fields} }, $1 =~ /\A"(.*)"\z/s ? [ $1 =~ s/""/"/gr, 1 ] : [ $1, 0 ];
			} while ($raw =~ /\G\Q$d\E/gc);
		}
		else
		{
			my ($code, $end, $nfields) = ('text_after_quote', undef, 1);

			$text =~ /\G((?:(?:$field)\Q$d\E)*+)/gc;
			my $before = $1;
			while ($before =~ /\G(?:$field)\Q$d\E/gc) { $nfields++ }
			if (substr($text, pos $text, 1) eq '"' && $text !~ /\G$quoted/gc)
			{
				$code = 'unterminated_quote';
				$end = length $text if $multiline && !$is_alone;
			}
			$text =~ /\G[^\n]*\n?/gc;
			$alone_until = $end // pos $text if !$is_alone;

			pos($text) = $start;
			$text =~ /\G([^\n]*?)(?:\r?\n|\z)/gc;
			$line++;
			$record{fields} = lenient_fields($1, $d);
			if (!$pad && @{ $record{fields} } != $ncolumns)
			{
				delete $record{fields};
				$record{error} = [ $code, $nfields ];
			}
			else
			{
				$record{is_lenient} = 1;
			}
		}
		push @records, \%record;
		$record{record} = @records;
		$record{error} = [ 'column_count', '-' ] if !$pad && $record{fields} && @{ $record{fields} } != $ncolumns;
	}
	return \@records;
}

# rows of these columns, and errors
sub read_plainly
{
	my ($records, $types, @wanted) = @_;
	my (@rows, @errors);

	RECORD: for my $record (@$records)
	{
		my @row;

		if ($record->{error})
		{
			push @errors, join '|', $record->{record}, $record->{line}, @{ $record->{error} };
			next;
		}
		for my $c (@wanted)
		{
			my ($value, $is_quoted) = @{ $record->{fields}[$c] // [ '', 0 ] };

			if (!$is_quoted && $value eq '')
			{
				$value = undef;
			}
			elsif ($types->[$c] eq 'integer')
			{
				if ($value !~ /\A\s*[0-9]+\s*\z/)
				{
					push @errors, join '|', $record->{record}, $record->{line}, 'bad_value', $c + 1;
					next RECORD;
				}
				$value += 0;
			}
			push @row, $value;
		}
		push @rows, { values => \@row, record => $record };
	}
	return (\@rows, \@errors);
}

# a value as psql shows it here
sub shown
{
	return defined $_[0] ? $_[0] =~ s/\n/<LF>/gr =~ s/\r/<CR>/gr : '-';
}

# ---- reading ----

my ($nfiles, $nread, $nlenient, $nerrors, $nshared, $nkept, @wrong) = (0, 0, 0, 0, 0, 0);

sub compare
{
	my ($what, $expected, $got) = @_;

	$nread++;
	$got = join "\n", sort split /\n/, $got;
	$expected = join "\n", sort @$expected;
	return if $got eq $expected;
	push @wrong, $what;
	diag("$what\nexpected:\n$expected\ngot:\n$got\nfile:\n" . slurp_file($file)) if @wrong < 3;
	return;
}

my $end = time + $seconds;

while (@wrong < 3 && (time < $end
		|| ($nfiles < 100 && grep { $_ == 0 } $nlenient, $nerrors, $nshared, $nkept)))
{
	my $d = pick(',', ',', ';', "\t");
	my @types = map { pick('text', 'text', 'integer') } 1 .. pick(2, 3, 3, 5);
	my $multiline = chance(0.7);
	my $pad = chance(0.3);
	my $text = random_file($d, scalar @types, pick(1, 5, 50, 400), pick(0.01, 0.1, 0.4));
	my $records = read_records($text, $d, $multiline, scalar @types, $pad);

	$nfiles++;
	$nlenient += grep { $_->{is_lenient} } @$records;
	$nerrors += grep { $_->{error} } @$records;
	$session->value("DROP FOREIGN TABLE IF EXISTS t; CREATE FOREIGN TABLE t ("
		  . join(', ', map { "c$_ $types[$_]" } 0 .. $#types)
		  . ", record int OPTIONS (virtual 'record'), line int OPTIONS (virtual 'line'), rest text[] OPTIONS (virtual 'surplus'))"
		  . " SERVER csv OPTIONS (filename '$file', quoting 'lenient', log_verbosity 'silent', delimiter " . ($d eq "\t" ? "E'\\t'" : "'$d'")
		  . ", multiline '" . ($multiline ? 'true' : 'false') . "', ragged 'pad'"
		  . (chance(0.5) ? ", chunk_size '" . pick('64B', '1000B', '4kB') . "'" : '') . ')');
	$session->value("ALTER FOREIGN TABLE t DROP COLUMN rest; ALTER FOREIGN TABLE t OPTIONS (SET ragged 'skip')") if !$pad;
	settle() if chance(0.5);
	for (1 .. 4)
	{
		my @wanted = grep { chance(0.7) } 0 .. $#types;
		my $settings = 'SET csv_gpu_fdw.engine = ' . pick(@engines) . '; SET csv_gpu_fdw.resident = ' . pick('on', 'on', 'off')
		  . '; SET csv_gpu_fdw.enable_pushdown = ' . pick('on', 'on', 'off') . '; SET csv_gpu_fdw.cpu_threads = ' . pick(1, 3)
		  . '; SET csv_gpu_test.parallel_workers = ' . pick(0, 4) . '; SET max_parallel_workers_per_gather = ' . pick(0, 4) . ';';

		next if !@wanted;
		my ($rows) = read_plainly($records, \@types, @wanted);
		my @lines = map { join '|', map { shown($_) } @{ $_->{values} }, $_->{record}{record}, $_->{record}{line} } @$rows;
		my $list = join ', ', map { $types[$_] eq 'text' ? "replace(replace(c$_, E'\\n', '<LF>'), E'\\r', '<CR>')" : "c$_" } @wanted;

		compare("$settings $list", \@lines, $session->value("$settings SELECT $list, record, line FROM t"));
		my $columns = join ', ', map { "c$_" } @wanted;
		my $plan = $session->value("EXPLAIN SELECT $columns FROM t");
		$nshared++ if $plan =~ /Parallel Foreign Scan/;
		$nkept++ if $plan =~ /Resident Columns: ([1-9]\d*) of \1$/m;

		# a filter by a value that is there, and groups
		my $place = int rand @wanted;
		my $c = $wanted[$place];
		my @values = grep { defined && $_ ne '' } map { $_->{values}[$place] } @$rows;
		my $value = @values ? pick(@values) : 'x';
		my ($where, @passed) = $types[$c] eq 'text' ?
		  ("c$c = " . literal($value), grep { ($_->{values}[$place] // '-') eq $value } @$rows) :
		  ("c$c < 50", grep { ($_->{values}[$place] // 50) < 50 } @$rows);

		@lines = map { join '|', map { shown($_) } @{ $_->{values} } } @passed;
		compare("$settings $list WHERE $where", \@lines, $session->value("$settings SELECT $list FROM t WHERE $where"));

		my ($of_one) = read_plainly($records, \@types, $c);
		my %count;

		$count{ $_->{values}[0] // '-' }++ for @$of_one;
		@lines = map { shown($_) . "|$count{$_}" } keys %count;
		my $key = $types[$c] eq 'text' ? "replace(replace(c$c, E'\\n', '<LF>'), E'\\r', '<CR>')" : "c$c";
		compare("$settings groups of c$c", \@lines, $session->value("$settings SELECT $key, n FROM (SELECT c$c, count(*) AS n FROM t GROUP BY c$c) g"))
		  if !grep { $_ eq '-' } @values;
		compare("$settings count", [ scalar grep { !$_->{error} } @$records ], $session->value("$settings SELECT count(*) FROM t"));

		next if !$pad;
		@lines = map { join '/', map { shown($_->[1] || $_->[0] ne '' ? $_->[0] : undef) } @{ $_->{fields} }[ scalar @types .. $#{ $_->{fields} } ] } @$records;
		compare("$settings surplus", [ grep { $_ ne '' } @lines ],
			$session->value("$settings SELECT * FROM (SELECT replace(replace(array_to_string(rest, '/', '-'), E'\\n', '<LF>'), E'\\r', '<CR>') AS r FROM t) s WHERE r <> ''"));
	}

	# all columns: the error table, and a load
	my ($rows, $errors) = read_plainly($records, \@types, 0 .. $#types);
	my $list = join ', ', map { "c$_" } 0 .. $#types;
	my $shown = join ', ', map { $types[$_] eq 'text' ? "replace(replace(c$_, E'\\n', '<LF>'), E'\\r', '<CR>')" : "c$_" } 0 .. $#types;

	compare('errors', $errors, $session->value("SELECT record, line, error, column_number FROM csv_gpu_errors('t')"));
	next if $pad;
	my $loaded = $session->value("SET csv_gpu_fdw.engine = cpu; DROP FOREIGN TABLE IF EXISTS l; DROP TABLE IF EXISTS loaded;
		ALTER FOREIGN TABLE t DROP COLUMN record, DROP COLUMN line;
		CREATE TABLE loaded AS SELECT $list FROM t LIMIT 0;
		SELECT records_loaded, records_skipped FROM csv_gpu_load('t', 'loaded'); SELECT $shown FROM loaded");
	compare('load', [ @$rows . '|' . @$errors, map { join '|', map { shown($_) } @{ $_->{values} } } @$rows ], $loaded);
}

is(scalar @wrong, 0, "$nread queries over $nfiles files read what stands there");
cmp_ok($nlenient, '>', 0, "$nlenient records were read leniently");
cmp_ok($nerrors, '>', 0, "$nerrors records were skipped");
cmp_ok($nshared, '>', 0, "$nshared scans were shared");
cmp_ok($nkept, '>', 0, "$nkept were of kept columns");
finish($session);
