# files in UTF-16 are read as the same text in UTF-8 is: rows, what is
# said of bad records, and csv_gpu_errors(), in both byte orders, with a byte-order
# mark and without, compressed, of programs and FIFOs, in chunks of a few bytes, by
# the processes of a parallel query, and by a GPU.
#
# Text is random, with characters beyond the first plane, surrogates without their
# other half, and zeros.  Where there is a python3, that encodes it.
use lib 'test/t';
use CsvServer;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use POSIX qw(mkfifo);

use_gpu();

my $files = amount(30);
my $node = csv_server(
	'utf16',
	'csv_gpu_fdw.engine' => 'auto',
	max_worker_processes => 8,
	max_parallel_workers => 4,
	CHEAP_WORKERS,
	'csv_gpu_test.small_pieces' => 'on');
my $dir = new_folder();
my $has_python = has_program('python3');
my $tester = new_session($node);

random_seed();

# ---- text, as a list of code points ----

my @pieces = (
	sub { ord(pick('a' .. 'z', '0' .. '9')) },
	sub { map { ord } split //, join('', map { pick('a' .. 'z') } 1 .. rand 60) },
	sub { ord(pick(' ', '"', "'", '\\', '.')) },
	sub { 0x80 + int(rand 0x780) },
	sub { 0x800 + int(rand 0xd000) },
	sub { 0xe000 + int(rand 0x2000) },
	sub { 0x10000 + int(rand 0x100000) });

my @hostile = (
	@pieces,
	sub { 0xd800 + int(rand 0x800) },
	sub { 0 },
	sub { 0x0a0d },
	sub { map { ord } split //, pick("\r", "\n", "\r\n", '"', '""', ',', ";\n") },
	sub { (0xd83d, ord("\n")) });

sub random_field
{
	my ($pieces) = @_;
	my @field = map { pick(@$pieces)->() } 1 .. rand 6;

	return @field if chance(0.8);
	return (ord('"'), (map { $_ == ord('"') ? ($_, $_) : $_ } @field, chance(0.3) ? (ord("\n"), ord(',')) : ()), ord('"'));
}

sub random_text
{
	my $pieces = chance(0.5) ? \@pieces : \@hostile;
	my @text;

	for my $record (1 .. rand 80)
	{
		push @text, map({ ord } split //, $record), ord(','), random_field($pieces), ord(','), random_field($pieces), ord("\n");
	}
	pop @text if chance(0.2);
	return @text;
}

# ---- encodings ----

# code units: those of the text, in which surrogates may stand by themselves
sub units
{
	return map { $_ < 0x10000 ? $_ : (0xd7c0 + ($_ >> 10), 0xdc00 + ($_ & 0x3ff)) } @_;
}

sub utf16
{
	my ($order, @text) = @_;

	return pack($order eq 'LE' ? 'v*' : 'n*', units(@text));
}

# of code units, so that two halves that meet by chance are a character
sub utf8
{
	my @units = units(@_);
	my $bytes = '';

	while (@units)
	{
		my $c = shift @units;

		$c = 0x10000 + (($c & 0x3ff) << 10) + (shift(@units) & 0x3ff)
		  if ($c & 0xfc00) == 0xd800 && @units && ($units[0] & 0xfc00) == 0xdc00;
		$bytes .= pack('C*',
			  $c < 0x80 ? ($c)
			: $c < 0x800 ? (0xc0 | $c >> 6, 0x80 | $c & 0x3f)
			: $c < 0x10000 ? (0xe0 | $c >> 12, 0x80 | $c >> 6 & 0x3f, 0x80 | $c & 0x3f)
			: (0xf0 | $c >> 18, 0x80 | $c >> 12 & 0x3f, 0x80 | $c >> 6 & 0x3f, 0x80 | $c & 0x3f));
	}
	return $bytes;
}

# the same by a program that knows nothing of this one
sub utf16_of_python
{
	my ($order, $file) = @_;
	my $encoding = 'utf-16-' . lc $order;
	my $result = `python3 -c "import sys; b = open('$file', 'rb').read(); sys.stdout.buffer.write(b.decode('utf-8', 'surrogatepass').encode('$encoding', 'surrogatepass'))"`;

	die 'python3 failed' if $?;
	return $result;
}

# ---- tables ----

my $columns = "id int, a text, b text OPTIONS (max_chars '30'), rest text, r bigint OPTIONS (virtual 'record'), "
  . "l bigint OPTIONS (virtual 'line'), o bigint OPTIONS (virtual 'byte_offset')";

# all that is found in a table, but for the names of files
sub found
{
	my ($settings, $from, $options) = @_;
	my $before = join ';', map { "SET $_" } @$settings;
	my ($out, $err);

	# told of every record means read by one process
	$options .= ", log_verbosity 'verbose'" if $options !~ /notice_limit/;
	($out, $err) = $tester->query(
		qq{
		SET client_min_messages = warning;
		DROP FOREIGN TABLE IF EXISTS t;
		CREATE FOREIGN TABLE t ($columns) SERVER csv OPTIONS ($from, ragged 'pad', columns '4', $options);
		SET client_min_messages = notice;
		$before;
		SELECT id, md5(a), length(a), b, r, l, o FROM t ORDER BY r, o, a, b;
		SELECT r FROM t WHERE a > 'm' ORDER BY r, o;
		SELECT count(*), count(a), sum(length(a)), max(id) FROM t;
		RESET ALL;
		SELECT record, line, byte_offset, column_name, error, message, raw FROM csv_gpu_errors('t');});
	$err =~ s/^psql:<stdin>:\d+: //gm;
	$err =~ s/ of "[^"]*"/ of the file/g;
	$err =~ s/file "[^"]*"/the file/g;
	$err =~ s/^CONTEXT:  parallel worker\n//gm;
	return "$out\n$err";
}

my $ndifferent = 0;

sub compare
{
	my ($what, $got, $expected) = @_;

	return if $got eq $expected;
	$ndifferent++;
	is($got, $expected, $what);
	return;
}

my @serial = ('max_parallel_workers_per_gather = 0');
my $nrows = 0;

for my $number (1 .. $files)
{
	my @text = random_text();
	my $order = pick('LE', 'BE');
	my $marked = chance(0.5);
	my $half = chance(0.15);
	my $text = write_file("$dir/text.csv", utf8(($marked ? 0xfeff : ()), @text), $half ? "\xff" : '');
	my $bytes = utf16($order, ($marked ? 0xfeff : ()), @text);
	my $options = join ', ',
	  "on_error '" . pick('skip', 'skip', 'skip', 'stop') . "'",
	  chance(0.2) ? "record_boundary 'lf'" : (), chance(0.2) ? "multiline 'false'" : (),
	  chance(0.2) ? "quoting 'postgres'" : (), chance(0.2) ? "max_record_size '40'" : ();
	my $file = "$dir/units.csv";
	my $from = "filename '$file'";
	my @settings = @serial;

	if ($has_python && !$half)
	{
		my $other = utf16_of_python($order, $text);

		compare("file $number by python3", unpack('H*', $bytes), unpack('H*', $other));
		$bytes = $other;
	}
	write_file($file, $bytes, $half ? chr(int(rand 256)) : '');

	my $expected = found(\@settings, "filename '$text'", "encoding 'UTF8', $options");
	$nrows += () = $expected =~ /^\d+\|[0-9a-f]{32}\|/gm;
	my @encodings = ("UTF16$order", $marked || $order eq 'LE' ? 'UTF16' : (), $marked ? '' : ());

	for my $encoding (@encodings)
	{
		my $with = $encoding ne '' ? "encoding '$encoding', $options" : $options;
		my $what = "file $number, '$encoding'";
		my $size = pick(1, 2, 3, 5, 7, 64, 1000);

		compare($what, found(\@settings, $from, $with), $expected);
		compare("$what, chunks of $size", found(\@settings, $from, "chunk_size '$size', $with"), $expected);
		compare("$what, a program",
			found(\@settings, "program 'head -c 1 $file; sleep 0.01; tail -c +2 $file'", $with), $expected)
		  if chance(0.2);
		compare("$what, a GPU", found([ @settings, "csv_gpu_fdw.engine = 'cuda'" ], $from, $with), $expected)
		  if has_stand_in() && chance(0.5);
		if (chance(0.3))
		{
			system("gzip -c $file > $file.gz") == 0 or die;
			compare("$what, by gzip", found(\@settings, "filename '$file.gz'", $with), $expected);
		}
	}
}
is($ndifferent, 0, "$files files: as the same text in UTF-8");
note("$nrows rows");

# ---- several files, several processes ----

{
	my @files = map { "$dir/part$_" } 1 .. 6;

	for my $round (1 .. 10)
	{
		for my $i (0 .. $#files)
		{
			my @text = random_text();

			write_file("$files[$i].txt", utf8(0xfeff, @text));
			write_file("$files[$i].csv", $i % 3 == 2 ? utf8(0xfeff, @text) : utf16(pick('LE', 'BE'), 0xfeff, @text));
		}
		my $limit = "notice_limit '5'";
		my $expected = found(\@serial, "filename '$dir/part*.txt'", "encoding 'UTF8', $limit");
		my $verbose = found(\@serial, "filename '$dir/part*.txt'", "encoding 'UTF8'");

		for my $workers (0, 1, 3)
		{
			my @settings = ("max_parallel_workers_per_gather = $workers");

			push @settings, "csv_gpu_fdw.engine = 'cuda'" if has_stand_in() && chance(0.3);
			compare("files of all sorts, $workers workers", found(\@settings, "filename '$dir/part*.csv'", $limit), $expected);
			compare("the same, verbose", found(\@settings, "filename '$dir/part*.csv'", "chunk_size '10'"), $verbose);
		}
	}
	is($ndifferent, 0, 'patterns');
}
{
	my $session = new_session($node);
	my @rows = map { "$_,\x{e4}" . 'x' x 50 . "\n" } 1 .. 50_000;
	my $wide = join '', @rows;
	my @parts = map { "$dir/large$_.csv" } 1 .. 3;

	write_file($parts[0], utf16('LE', 0xfeff, map { ord } split //, $wide));
	write_file($parts[1], utf8(map { ord } split //, $wide));
	write_file($parts[2], utf16('BE', 0xfeff, map { ord } split //, $wide));
	$session->value("CREATE FOREIGN TABLE large (id int, v text) SERVER csv OPTIONS (filename '$dir/large*.csv')");
	$session->value('SET max_parallel_workers_per_gather = 3');
	like($session->value('EXPLAIN SELECT count(*), sum(id), sum(length(v)) FROM large'), qr/Parallel Foreign Scan/, 'a parallel plan');
	is($session->value('SELECT count(*), sum(id), sum(length(v)) FROM large'), '150000|3750075000|7650000', 'a pattern of both, shared');
	is($session->value("SELECT count(*), count(v) FROM large WHERE id % 1000 = 7 AND v LIKE '%x'"), '150|150', 'filtered');
	$session->value("ALTER FOREIGN TABLE large OPTIONS (SET filename '$parts[2]')");
	is($session->value('SELECT count(*), sum(id), sum(length(v)) FROM large'), '50000|1250025000|2550000', 'a file that turns out to be in UTF-16');
	$session->value("ALTER FOREIGN TABLE large OPTIONS (ADD encoding 'UTF16')");
	unlike($session->value('EXPLAIN SELECT count(*) FROM large'), qr/Parallel/, 'one that is said to be is not shared');

	# of a table that is not analyzed, as many rows are expected as of the same text in UTF-8
	my ($expected) = $session->value("ALTER FOREIGN TABLE large OPTIONS (SET filename '$parts[1]', SET encoding 'UTF8'); EXPLAIN SELECT * FROM large") =~ /rows=(\d+)/;
	my ($rows) = $session->value("ALTER FOREIGN TABLE large OPTIONS (SET filename '$parts[2]', SET encoding 'UTF16'); EXPLAIN SELECT * FROM large") =~ /rows=(\d+)/;

	cmp_ok(abs($rows - $expected), '<', $expected / 20, 'rows expected');
	$session->value('ANALYZE large');
	like($session->value('EXPLAIN SELECT * FROM large'), qr/rows=50000 /, 'analyzed');
	is($session->value("SELECT records, skipped, encoding FROM csv_gpu_sniff('$parts[0]') LIMIT 1"), '50000|0|UTF16', 'csv_gpu_sniff()');
	$session->quit;
}

# ---- a FIFO, and one that never ends ----

{
	my $session = new_session($node);
	my $fifo = "$dir/fifo.csv";
	my $bytes = utf16('BE', 0xfeff, map { ord } split //, "1,\x{20ac}\n2,b\n");

	mkfifo($fifo, 0644) or die;
	$session->value("CREATE FOREIGN TABLE fifo (id int, v text) SERVER csv OPTIONS (filename '$fifo')");
	my $writer = fork;
	if ($writer == 0)
	{
		open my $out, '>:raw', $fifo or POSIX::_exit(1);
		for my $byte (split //, $bytes)
		{
			syswrite $out, $byte;
			select undef, undef, undef, 0.002;
		}
		close $out;
		POSIX::_exit(0);
	}
	is($session->value('SELECT count(*), sum(length(v)) FROM fifo'), '2|2', 'a FIFO that has a byte at a time');
	waitpid $writer, 0;

	$session->value("SET csv_gpu_fdw.engine = 'cpu'");
	$session->value(q{CREATE FOREIGN TABLE endless (id int, v text) SERVER csv OPTIONS (program $$printf '\377\376'; yes | tr '\n' '\0'$$, max_record_size '1MB')});
	my $before = rss_kb($session->pid);
	my ($out, $err) = $session->query(q{SET statement_timeout = '1s'; SELECT count(*) FROM endless});
	like("$out$err", qr/canceling statement due to statement timeout/, 'cancelled');
	cmp_ok(rss_kb($session->pid) - $before, '<', 64 * 1024, 'in bounded memory');
	$session->quit;
}

done_testing();
