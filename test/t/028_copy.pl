# COPY FROM with csv_gpu_fdw.copy: what PostgreSQL's own COPY does, to the letter,
# whatever the file, the options and the table.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(time);

random_seed();
my $seconds = amount(4);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server('copy', wal_level => 'replica', 'csv_gpu_fdw.copy' => 'force',
	session_preload_libraries => 'csv_gpu_fdw');
my $session = new_session($node);
my $version = int($session->value('SHOW server_version_num') / 10000);

note("$version has no ON_ERROR, LOG_VERBOSITY, REJECT_LIMIT, FORCE_NULL *") if $version < 17;
$session->query("\\set VERBOSITY verbose\n\\set SHOW_CONTEXT always\n"
	  . 'CREATE DOMAIN positive AS int CHECK (VALUE > 0); CREATE DOMAIN short AS text CHECK (length(VALUE) < 40);'
	  . "CREATE DOMAIN filled AS int NOT NULL; CREATE FUNCTION raises(int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS
		'BEGIN IF \$1 = 0 THEN RAISE ''it is %'', \$1; END IF; RETURN true; END'; CREATE DOMAIN raising AS int CHECK (raises(VALUE))");

# ---- random files ----

# COPY is to skip rows with bad values, so that there may be more of them
my $badness = 1;

sub bad
{
	my ($share) = @_;

	return chance($share * $badness);
}

my %values = (
	int => sub { pick(0, 1, -7, 2147483647, int(rand(1000)), bad(0.003) ? ('x', '2147483648', '') : 5) },
	bigint => sub { int(rand(2**50)) },
	text => sub { join '', map { pick('a' .. 'e', ' ', '\\', "\xc3\xa9", chance(0.01 / $badness**2) ? ("\xff", "\x00") : 'f') } 0 .. rand(20) },
	'varchar(12)' => sub { 'v' x rand(bad(0.003) ? 14 : 12) },
	'char(5)' => sub { 'c' x rand(5) },
	'numeric(8,2)' => sub { sprintf('%.2f', rand(bad(0.002) ? 1e7 : 1e5)) },
	'double precision' => sub { pick('1e10', 'NaN', '-Infinity', rand(100), ' 7 ') },
	date => sub { bad(0.002) ? '2024-02-30' : sprintf('%04d-%02d-%02d', 1900 + rand(200), 1 + rand(12), 1 + rand(28)) },
	timestamptz => sub { sprintf('2020-01-%02d %02d:00:00+02', 1 + rand(28), rand(24)) },
	bool => sub { pick(qw(t f true no 1 0)) },
	jsonb => sub { bad(0.002) ? '{' : '{"a": ' . int(rand(100)) . '}' },
	'int[]' => sub { '{' . join(',', map { int rand 10 } 0 .. rand(3)) . '}' },
	positive => sub { bad(0.0003) ? 0 : 1 + int(rand(100)) },
	filled => sub { bad(0.01) ? 'none' : int(rand(9)) },
	raising => sub { bad(0.002) ? 'y' : int(rand(chance(0.0001) ? 1 : 100)) },
	short => sub { 's' x rand(bad(0.003) ? 60 : 39) });

# as COPY TO writes it, or in another way that COPY reads
sub escaped
{
	my ($value, $dialect) = @_;
	my %letters = ("\n" => 'n', "\r" => 'r', "\t" => 't', "\x08" => 'b', "\f" => 'f', "\x0b" => 'v');

	$value =~ s{([\\\r\n\Q$dialect->{delimiter}\E])}{'\\' . ($letters{$1} // $1)}ge;
	$value =~ s{(.)}{chance(0.02) ? pick('\\x' . sprintf('%02x', ord $1), '\\' . sprintf('%03o', ord $1), $1 eq '.' ? '.' : "\\$1") : $1}ge
	  if chance(0.1) && $value !~ /\\/;
	return $value;
}

sub quoted
{
	my ($value, $dialect, $must) = @_;
	my ($quote, $escape) = @$dialect{qw(quote escape)};

	return escaped($value, $dialect) if $dialect->{is_text};

	return $value
	  if !$must && !chance(0.2) && $value !~ /[\Q$dialect->{delimiter}$quote$escape\E\r\n]/ && $value ne $dialect->{null};
	$value =~ s/([\Q$quote$escape\E])/$escape$1/g;
	return $quote . $value . $quote;
}

# a file's records, and whether COPY has to take nothing in its own way
sub records
{
	my ($types, $nrecords, $dialect) = @_;
	my @records;

	for (1 .. $nrecords)
	{
		my @fields = map {
			my $value = $values{$_}->();

			$value .= pick("\n", "\n\n", "$dialect->{delimiter}x", $dialect->{quote} // "\r\t", '\\.') if $_ eq 'text' && chance(0.1);
			chance(0.05) ? $dialect->{null} : quoted($value, $dialect, 0);
		} @$types;
		push @fields, 1 if chance(0.0005 / $badness);
		pop @fields if chance(0.0005 / $badness);
		$dialect->{uneven} = 1 if @fields != @$types;
		push @records, join($dialect->{delimiter}, @fields);
	}
	if ($dialect->{odd})
	{
		my $what = pick('', '', "\\.", "a\rb", "\r", "\"a\"b\"", '"', "\xef\xbb\xbf", "\x00", '\\.x', '"\\."',
			"1\\.", "1\\\n", "1\\\r", '\\', '\\\\.', '\\xff', '\\0', '1\\x', ('\\' x rand(80)) . '.');

		splice @records, rand(@records + 1), 0, $what;
	}
	return @records;
}

# of columns c0, c1, ...; seldom another one
sub header
{
	my ($ncolumns, $dialect) = @_;
	my @names = map { quoted("c$_", $dialect, 0) } 0 .. $ncolumns - 1;

	return '"a""b' if chance(0.05);
	splice @names, rand(@names), 1, @{ pick([], ['C0'], ['c'], [ $dialect->{null} ], [ quoted("c\n0", $dialect, 1) ], [ 'c0', 'c1' ]) } if chance(0.1);
	return join($dialect->{delimiter}, @names);
}

sub file_of
{
	my ($dialect, @records) = @_;
	my $end = $dialect->{break};
	my $bytes = join($end, @records);

	$bytes =~ s/\r?\n/\r\n/g if $end eq "\r\n";
	return $bytes . (chance(0.8) ? $end : '');
}

sub random_dialect
{
	return {
		is_text => 1,
		delimiter => pick("\t", "\t", "\t", ',', '|', 'A'),
		null => pick('\\N', '\\N', '\\N', '', 'NULL'),
		break => pick("\n", "\n", "\r\n", chance(0.1) ? "\r" : "\n"),
		odd => chance(0.3) } if chance(0.5);
	return {
		delimiter => pick(',', ',', ',', ';', "\t", '|'),
		quote => pick('"', '"', '"', "'"),
		escape => pick('"', '"', '\\'),
		null => pick('', '', 'NULL', '\\N'),
		break => pick("\n", "\n", "\r\n", chance(0.1) ? "\r" : "\n"),
		odd => chance(0.3) };
}

# where the file comes from, and whether psql has it say so itself
sub source_of
{
	my ($path) = @_;
	my $size = -s $path;

	return ('COPY', literal($path)) if chance(0.5);
	return ('\\copy', literal($path)) if chance(0.6);
	return ('COPY', 'PROGRAM ' . literal(pick("cat $path", "cat $path", "cat $path; exit 3", "cat $path; kill -9 \$\$",
		'head -c ' . int(rand($size + 1)) . " $path", "dd bs=100 if=$path 2>/dev/null")));
}

# ---- a COPY, in both ways ----

my (%reasons, %outcomes);

sub clean
{
	my ($text) = @_;

	$text =~ s/^psql:<stdin>:\d+: //mg;
	$text =~ s/^LOCATION: .*\n//mg;
	return $text;
}

# in a transaction that does not stay
sub outcome
{
	my ($copy, $setup, $statement) = @_;
	my ($out, $err) = $session->query("BEGIN;\nSET LOCAL csv_gpu_fdw.copy = $copy;\n$setup;\n\\set QUIET off\n$statement;\n\\set QUIET on\n"
		  . "SELECT count(*), md5(string_agg(t::text, ' ' ORDER BY tableoid, ctid)) FROM t;\nROLLBACK");

	$err = clean($err);

	# what fails because the transaction has failed
	$err =~ s/^ERROR:  25P02.*\n(LOCATION: .*\n)?//mg;
	return ($out, $err);
}

sub compare
{
	my ($setup, $statement, $may_be_left) = @_;
	my ($out, $err) = outcome('off', $setup, $statement);
	my ($our_out, $our_err) = outcome('force', $setup, $statement);

	# COPY may show bytes of the value for which it skipped a row before, which are gone
	s/^(CONTEXT:  COPY t, line \d+), column \w+: ".*?"$/$1/ms for $statement =~ /on_error ignore/ ? ($err, $our_err) : ();

	# the values of a sequence that were taken in vain
	s/^DETAIL:  Failing row contains .*?\)\.$/DETAIL/ms for $setup =~ /serial/ ? ($err, $our_err) : ();

	if ($our_err =~ /was not taken.*\nDETAIL:  Reason: (.*)\./)
	{
		$reasons{$1}++;
		return 1 if $may_be_left && $err !~ /^ERROR/m;
		diag("$setup;\n$statement\nCOPY: $out\n$err\nours was left to it: $1");
		return 0;
	}
	$outcomes{ $err =~ /^ERROR/m ? 'errors' : $err eq '' ? 'rows' : 'NOTICEs' }++;
	return 1 if $out eq $our_out && $err eq $our_err;
	diag("$setup;\n$statement\nCOPY: $out\n$err\nours: $our_out\n$our_err");
	return 0;
}

my $rounds = 0;
my $different = 0;
my $end = time + $seconds;

while (time < $end && $different < 3)
{
	my $dialect = random_dialect();
	my $ignores = $version >= 17 && chance(0.4);

	$badness = $ignores ? pick(3, 10, 50) : 1;
	# NULL is bad for a type of these
	my @types = map { pick(grep { $ignores || $_ ne 'filled' } sort keys %values) } 0 .. rand(6);
	my @columns = map { "c$_ $types[$_]" } 0 .. $#types;
	my @more = (
		chance(0.2) ? 'd int DEFAULT 7' : (),
		chance(0.2) ? 'e text DEFAULT current_user' : (),
		chance(0.1) ? 's serial' : (),
		chance(0.2) && $types[0] eq 'int' ? 'g int GENERATED ALWAYS AS (c0 / 2) STORED' : (),
		chance(0.2) ? 'CHECK (c0 IS NOT NULL)' : ());
	my @indexes = $types[0] =~ /json/ ? () : (chance(0.3) ? 'CREATE INDEX ON t (c0)' : (), chance(0.05) ? 'CREATE UNIQUE INDEX ON t (c0)' : ());
	my $path = "$directory/f.csv";
	my @records = records(\@types, pick(0, 1, 10, 300, 2000, chance(0.1) ? 30000 : 50), $dialect);

	if (chance(0.3))
	{
		my $nlines = $version >= 19 ? int(rand(4)) : 1;

		$dialect->{header} = $nlines != 1 ? "header $nlines" : chance(0.5) ? 'header' : 'header match';
		unshift @records, map { header(scalar(@types), $dialect) } 1 .. $nlines;
	}
	push @records, '\\.' if $dialect->{is_text} && chance(0.1);
	write_file($path, file_of($dialect, @records));

	my ($copy, $source) = source_of($path);
	my @options = ("delimiter " . literal($dialect->{delimiter}), 'null ' . literal($dialect->{null}),
		$dialect->{header} // (),
		$dialect->{is_text} ? () : ("quote " . literal($dialect->{quote}), 'escape ' . literal($dialect->{escape}),
			chance(0.1) ? "force_not_null (c0)" : (), chance(0.1) ? "force_null (c0)" : ()),
		$ignores ? ('on_error ignore', chance(0.6) ? 'log_verbosity ' . pick('default', 'verbose', $version >= 18 ? 'silent' : ()) : (),
			$version >= 18 && chance(0.3) ? 'reject_limit ' . pick(1, 10, 1000) : ()) : (),
		$version >= 17 && chance(0.05) ? pick('on_error stop', 'log_verbosity verbose', 'on_error ignored', 'reject_limit 3', 'force_null *', 'force_not_null *',
			$version >= 19 ? 'on_error set_null' : ()) : (),
		chance(0.05) ? pick("force_null (d)", "encoding 'LATIN1'", "encoding 'UTF8'", "header 'match'") : ());
	my $is_partitioned = chance(0.15) && $types[0] !~ /json/;
	my $setup = 'CREATE ' . ($is_partitioned ? '' : pick('', 'UNLOGGED', 'TEMP')) . ' TABLE t (gone int, ' . join(', ', @columns, @more) . ')'
	  . ($is_partitioned ? ' PARTITION BY HASH (c0)' . join('', map { "; CREATE TABLE t$_ PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER $_)" } 0, 1) : '')
	  . '; ALTER TABLE t DROP gone' . join('', map { "; $_" } @indexes);
	my $where = chance(0.2) ? ' WHERE ' . pick('c0 IS NOT NULL', 'true', 'c0::text > $$5$$', 'length(c0::text) / length(c0::text) = 1', 'NOT (c0 IS NULL) AND t.c0::text LIKE $$%1%$$',
		chance(0.1) ? ('c9 > 1', 'random() < 2', 'c0', 'tableoid > 0', '(SELECT true)', 't IS NOT NULL') : ()) : '';
	# after this record, COPY's numbers of lines may be too small
	my ($first, $escape) = ($records[0] // '', $dialect->{escape} // "\n");
	my $list = @more || chance(0.3) ? '(' . join(', ', map { "c$_" } 0 .. $#types) . ')' : '';

	$different++ if !compare($setup, "$copy t $list FROM $source (format " . ($dialect->{is_text} ? 'text' : 'csv') . ', ' . join(', ', @options) . ")$where",
		$dialect->{odd} || $dialect->{break} eq "\r" || "@options" =~ /match|force_null \(d\)|escape.*\\\\/ || $dialect->{header} || "@records" =~ /\n\\\./ || @records <= 1
		  || $source =~ /head -c/ || $where =~ /random|tableoid|t IS/
		  || "@options" =~ /set_null/ || ("@options" =~ /verbose/ && $first =~ /[\n\x80-\xff\Q$escape\E]/) || ($ignores && ($dialect->{uneven} || "@records" =~ /\\[0-7x]/)));
	$rounds++;
}
is($different, 0, "COPY and ours agree on $rounds random files");
note(join ', ', map { "$outcomes{$_} $_" } sort keys %outcomes);
note("left to COPY, $reasons{$_}: $_") for sort keys %reasons;

# ---- partitions that get no rows ----

my $other = new_session($node);
my $rows = write_file("$directory/rows.txt", join '', map { "$_\tx\n" } 1 .. 50000);

$session->value('CREATE TABLE p (k int, t text) PARTITION BY RANGE (k);
	CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (100000);
	CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (100000) TO (200000)');
$other->value('BEGIN; LOCK p2');
$session->value("SET lock_timeout = '5s'; SET csv_gpu_fdw.copy = on; BEGIN; COPY p FROM " . literal($rows));
is($session->value('SELECT count(*) FROM p1'), 50000, 'nobody waits for a partition that gets no rows');
$session->value('COMMIT');
$other->value('ROLLBACK');
$session->value('SET csv_gpu_fdw.copy = force; BEGIN; COPY p FROM ' . literal($rows));
is($session->value(q{SELECT count(*) FROM pg_locks WHERE relation = 'p2'::regclass AND mode = 'AccessShareLock'}), 0, 'nor is it locked');
$session->value('ROLLBACK');

# ---- free room in older pages ----

# so much of it as is worth pages at the end; both loads of a table find some
my (%places, %sizes);

for my $copy ('off', 'force')
{
	$session->value("CREATE TABLE room_$copy (k int, b text) WITH (autovacuum_enabled = off);
		INSERT INTO room_$copy SELECT i, repeat('x', 20) FROM generate_series(1, 50000) i;
		DELETE FROM room_$copy WHERE k % 1000 < 30");
	$session->value("VACUUM room_$copy");
	for my $first (100000, 200000)
	{
		my $path = write_file("$directory/room.txt", join '', map { "$_\t" . ('y' x 20) . "\n" } $first .. $first + 20000);

		$session->value("SET csv_gpu_fdw.copy = $copy; COPY room_$copy FROM " . literal($path));
	}
	$places{$copy} = $session->value("SELECT count(*), md5(string_agg(ctid || ' ' || k, ',' ORDER BY ctid)) FROM room_$copy");
	$sizes{$copy} = $session->value("SELECT pg_relation_size('room_$copy')");
}
is($places{force}, $places{off}, 'rows go where COPY puts them');
# from 16 on, COPY leaves empty pages at the end of a table
$session->value('SHOW server_version_num') < 160000 ? is($sizes{force}, $sizes{off}, 'and the table is as large') :
  cmp_ok($sizes{force}, '<=', $sizes{off}, 'and the table is no larger');

# ---- what some versions of COPY TO accept ----

$session->value('CREATE TABLE l (k int) PARTITION BY LIST (k); CREATE TABLE l1 PARTITION OF l DEFAULT; INSERT INTO l VALUES (1), (2);
	CREATE MATERIALIZED VIEW m AS TABLE l');
for my $statement ('COPY (TABLE l) TO STDOUT (FORMAT json)', 'COPY l TO STDOUT (FORMAT csv, HEADER)', 'COPY m TO STDOUT', 'COPY l1 TO STDOUT (HEADER 2)')
{
	my @both = map { join('', $session->query("SET csv_gpu_fdw.copy = $_;\n$statement")) } 'off', 'on';

	is(clean($both[1]), clean($both[0]), "$statement: as COPY");
}

# ---- rows that ON_ERROR skips, and records that have another error, too ----

if ($version >= 17)
{
	for my $line ("x,\xff", "x,\"a\nb\"", 'x,\\xff', 'x,\\377', 'x,\\N', 'x', 'x,y,z', '99999999999,' . 'y' x 200, '1,' . 'y' x 200, '1,yes     ')
	{
		for my $format ('csv', "text, delimiter ','")
		{
			my $path = write_file("$directory/one.csv", "1,a\n$line\n2,b\n");

			ok(compare('CREATE TABLE t (k int, v varchar(3))', "COPY t FROM '$path' (format $format, on_error ignore, log_verbosity verbose)",
				$line eq 'x' || $line =~ /\n|\\[x3]/ && $format ne 'csv'), "as COPY, $format: $line");
		}
	}

	my $path = write_file("$directory/one.csv", "1,\"a\nb\"\nx,a\n");

	ok(compare('CREATE TABLE t (k int, v text)', "COPY t FROM '$path' (format csv, on_error ignore, log_verbosity verbose)", 1),
		'as COPY: a first record of two lines');

	# they show while COPY runs
	$session->value('CREATE TABLE shown (k int)');
	$session->send("SET csv_gpu_fdw.copy = force; COPY shown FROM PROGRAM 'seq 1000000 | sed s/000\$/x/; until [ -e $directory/go ]; do sleep 0.1; done' (on_error ignore)");
	ok($node->poll_query_until('postgres', 'SELECT tuples_skipped > 0 AND tuples_excluded = 0 FROM pg_stat_progress_copy'), 'skipped rows are shown');
	write_file("$directory/go", '');
	like(($session->await)[1], qr/1000 rows were skipped/, 'and counted');
}

finish();
