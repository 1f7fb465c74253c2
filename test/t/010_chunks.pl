# What is read depends neither on where chunks end nor on the engine: random
# bytes and random options, read in chunks of several sizes, must give the same
# rows, the same skipped records and the same ERRORs as the CPU engine gives
# that reads all at once.
use lib 'test/t';
use CsvServer;
use Data::Dumper;
use Time::HiRes qw(time);

my $files_a_round = 50;

my %columns = (
	text => sub { () },
	'varchar(3)' => sub { () },
	int => sub { chance(0.1) ? "max_chars '2'" : () },
	'numeric(4,1)' => sub { () },
	date => sub { () },
	'int[]' => sub { () });

# A text with bytes of all classes, mostly in the shape of records.
sub random_text
{
	my ($delimiter, $quote, $escape, $ncolumns) = @_;
	my $eol = pick("\n", "\n", "\r\n", "\r");
	my $wild = chance(0.5) ? rand(0.3) : 0;
	my @plain = ('a', 'b', '1', '2', '1.5', '{1}', '2000-01-02', "\xc3\xa9", "\xe8\xa1\xa8", ' ', '');
	my @special = ($delimiter, $quote, $quote, $escape, "\n", "\r", "\r\n", "\0", "\xff", "\xc3", 'x' x 40,
		"$quote$delimiter$quote", "$quote$eol", "$delimiter$quote", '\\', "\xef\xbb\xbf");
	my $text = chance(0.05) ? "\xef\xbb\xbf" : '';

	for my $i (1 .. pick(0, 1, 3, 10, 30))
	{
		my @fields = map {
			my $value = join '', map { pick(@plain) } 1 .. pick(0, 1, 1, 1, 3);

			$value .= pick(@special) . pick(@plain) if chance($wild);
			if (chance(0.3))
			{
				$value .= pick($eol, $delimiter, "$escape$quote", "$escape$escape", 'a') if chance(0.3);
				$value = "$quote$value$quote";
			}
			$value;
		} 1 .. (chance(0.9) ? $ncolumns : int(rand(5)));

		$text .= join($delimiter, @fields) . (chance(0.95) ? $eol : pick("\n", "\r", "\r\n", "\n\n", ''));
	}
	chop $text if chance(0.3);
	return $text;
}

sub random_options
{
	my ($delimiter, $quote, $escape) = @_;
	my %options = (delimiter => $delimiter, quote => $quote);

	$options{escape} = $escape if $escape ne $quote;
	$options{quoting} = pick('rfc4180', 'postgres', 'lenient');
	$options{multiline} = 'false' if chance(0.2);
	$options{record_boundary} = pick(qw(lf crlf cr)) if chance(0.2);
	$options{ragged} = 'pad' if chance(0.2);
	$options{max_record_size} = pick(5, 20, 60, 200) if chance(0.3);
	$options{header_rows} = pick(1, 2) if chance(0.2);
	$options{null} = pick('a', 'NULL', '1') if chance(0.2);
	$options{on_error} = pick('stop', 'set_null', 'set_null', 'set_null') if chance(0.2);
	$options{reject_limit} = pick(1, 3, '20%') if ($options{on_error} // '') ne 'stop' && chance(0.1);
	$options{encoding} = pick('LATIN1', 'SJIS') if chance(0.1);
	return \%options;
}

random_seed();
my $node = csv_server('chunks');
my $session = new_session($node);
my $directory = PostgreSQL::Test::Utils::tempdir;
my @engines = engine() eq 'cpu' ? ('cpu') : (engine(), engine(), 'cpu');

$session->value(<<'SQL');
SET client_min_messages = error;

CREATE FUNCTION read_as(engine text, wanted text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text := '';
	part text;
BEGIN
	PERFORM set_config('csv_gpu_fdw.engine', engine, false);
	BEGIN
		EXECUTE format('SELECT count(*) || string_agg(ROW(%s)::text, E''\n'') FROM t', wanted) INTO part;
		answer := coalesce(part, 'none');
	EXCEPTION WHEN OTHERS THEN
		answer := SQLSTATE || SQLERRM;
	END;
	BEGIN
		SELECT count(*) || string_agg(e::text, E'\n') INTO part FROM csv_gpu_errors('t') e;
		answer := answer || E'\n' || coalesce(part, 'none');
	EXCEPTION WHEN OTHERS THEN
		answer := answer || E'\n' || SQLSTATE || SQLERRM;
	END;
	RETURN answer;
END $$;

-- the engines and chunk sizes with which the file is read otherwise than at once
CREATE FUNCTION compare(columns text, wanted text, options text, engines text[], sizes text[])
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	expected text;
	found text;
BEGIN
	EXECUTE format('CREATE FOREIGN TABLE t (%s) SERVER csv OPTIONS (%s, chunk_size ''1MB'')', columns, options);
	expected := read_as('cpu', wanted);
	FOR i IN 1 .. cardinality(engines) LOOP
		EXECUTE format('ALTER FOREIGN TABLE t OPTIONS (SET chunk_size %L)', sizes[i]);
		found := read_as(engines[i], wanted);
		IF found <> expected THEN
			DROP FOREIGN TABLE t;
			RETURN format(E'DIFFERENT in chunks of %s (%s):\n%s\nall at once:\n%s', sizes[i], engines[i], found, expected);
		END IF;
	END LOOP;
	DROP FOREIGN TABLE t;
	RETURN 'same ' || length(expected);
EXCEPTION WHEN OTHERS THEN
	RETURN 'refused ' || SQLERRM;
END $$;
SQL

my %count = (same => 0, DIFFERENT => 0, refused => 0);
my $end = time() + amount(3);

while ((time() < $end || $count{same} + $count{refused} <= 50) && $count{DIFFERENT} < 3)
{
	my $sql = '';
	my @files;

	for my $i (1 .. $files_a_round)
	{
		my @dialect = (pick(',', ',', ';', '|'), pick('"', '"', "'"));
		my $ncolumns = pick(1, 2, 3, 4);
		my $number = 0;

		push @dialect, pick($dialect[1], $dialect[1], '\\', '!');
		my @definitions = map {
			my $type = pick('text', keys %columns);
			my $options = join ', ', $columns{$type}->(), (chance(0.1) ? "byte_width '4'" : ());

			'c' . ++$number . " $type" . ($options ? " OPTIONS ($options)" : '');
		} 1 .. $ncolumns;
		my @wanted = map { "c$_" } grep { chance(0.8) } 1 .. $ncolumns;

		if (chance(0.5))
		{
			push @definitions, map { "$_ int OPTIONS (virtual '$_')" } qw(record line byte_offset);
			push @wanted, qw(record line byte_offset);
		}
		my $text = random_text(@dialect, $ncolumns);
		my $options = random_options(@dialect);

		if ($options->{ragged} && chance(0.7))
		{
			push @definitions, "surplus text[] OPTIONS (virtual 'surplus')";
			push @wanted, 'surplus';
		}
		my @used = map { pick(@engines) } 1 .. 3;
		my @sizes = map { pick(1, 2, 3, 10, 1 + int(rand(100)), 1 + int(rand(1000))) } @used;

		$options->{filename} = write_file("$directory/$i.csv", $text);
		$options->{columns} = $ncolumns;
		$options->{log_verbosity} = 'silent';
		push @files, { text => $text, options => $options, columns => \@definitions, wanted => \@wanted };
		$sql .= sprintf "SELECT compare(%s, %s, %s, %s, %s);\n",
		  map { literal($_) } join(', ', @definitions), join(', ', @wanted),
		  join(', ', map { "$_ " . literal($options->{$_}) } sort keys %$options),
		  '{' . join(',', @used) . '}', '{' . join(',', @sizes) . '}';
	}

	my ($out, $err) = $session->query($sql);
	my @answers = split /^(?=same|refused|DIFFERENT)/m, $out;

	is(scalar @answers, scalar @files, 'an answer for each file') or diag($err), last
	  if @answers != @files;
	for my $i (0 .. $#files)
	{
		my ($verdict) = $answers[$i] =~ /^(\w+)/;

		$count{$verdict}++;
		next if $verdict eq 'same';
		local $Data::Dumper::Useqq = 1;
		local $Data::Dumper::Sortkeys = 1;
		diag($answers[$i], Dumper($files[$i]));
	}
}

is($count{DIFFERENT}, 0, 'what is read does not depend on chunks and engine');
is($count{refused}, 0, 'all tables could be made');
cmp_ok($count{same}, '>', 50, 'many files were compared');
note("$count{same} files the same");
finish($session);
