# Large files, records and fields, wide tables: in memory that does not grow
# with the file, and in time linear in it.
use lib 'test/t';
use CsvServer;

my $MB = 1024 * 1024;

my $node = csv_server('large');
my $session = new_session($node);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $path = "$directory/large.csv";

# on a GPU, input and output buffers are in memory of the host, too
my $buffers_kb = engine() eq 'cpu' ? 50_000 : 4_000_000;

sub make_table
{
	my ($columns, $options) = @_;

	$session->value("
		SET client_min_messages = error;
		DROP FOREIGN TABLE IF EXISTS t;
		CREATE FOREIGN TABLE t ($columns) SERVER csv OPTIONS (filename '$path', log_verbosity 'silent' $options)");
	return;
}

sub errors
{
	return $session->value("
		SELECT record, line, byte_offset, error FROM csv_gpu_errors('t') LIMIT 3");
}

# ---- RSS is flat ----

my $lines = join '', map { sprintf "%d,%s,%.2f,2000-01-%02d\n", $_, 'text ' x 14, $_ / 7, 1 + $_ % 28 } 1 .. 10_000;
my $copies = int(110 * $MB / length $lines);
open my $file, '>:raw', $path or die $!;
print $file $lines for 1 .. $copies;
close $file or die $!;

make_table('n int, t text, v numeric(12,2), d date', '');
my $rss_before = rss_kb($session->pid);
my ($out, $err, $rss) = $session->query_watched(
	'SELECT count(*), sum(length(t)), sum(v) IS NOT NULL, max(d) FROM t');
is($out, join('|', 10_000 * $copies, 700_000 * $copies, 't', '2000-01-28'), 'a file of 110 MB');
cmp_ok($rss - $rss_before, '<', $buffers_kb, 'is read in little memory');
note(sprintf '%d MB: RSS +%d kB', (-s $path) / $MB, $rss - $rss_before);

# chunks of this size are read by several threads
make_table('n int, t text, v numeric(12,2), d date', q{, chunk_size '64MB'});
for my $threads (1, 3, 8)
{
	is($session->value("
		SET csv_gpu_fdw.cpu_threads = $threads;
		SELECT count(*), sum(n), sum(length(t)), min(v), max(d) FROM t"),
		$session->value("
		SELECT $copies * 10000, $copies * sum(n), $copies * 700000, 0.14, DATE '2000-01-28'
		FROM generate_series(1, 10000) n"),
		"read by $threads threads");
}
make_table('n int, t text, v numeric(12,2), d date', '');

($out, $err, $rss) = $session->query_watched("
	BEGIN;
	DECLARE a CURSOR FOR SELECT * FROM t; FETCH 1 FROM a;
	DECLARE b CURSOR FOR SELECT n FROM t; MOVE 1000000 FROM b;
	DECLARE c CURSOR FOR SELECT t FROM t; MOVE 10 FROM c;
	COMMIT;");
is($err, '', 'three cursors at once');
cmp_ok($rss - $rss_before, '<', 3 * $buffers_kb, 'in as little memory each');
note(sprintf '3 cursors: RSS +%d kB', $rss - $rss_before);

# all of it skipped, which must not pile up either
make_table('n date, t text, v numeric(12,2), d date', '');
($out, $err, $rss) = $session->query_watched("SELECT count(n) FROM t");
is($out, 0, 'a file of bad values');
cmp_ok($rss - $rss_before, '<', $buffers_kb, 'is skipped in little memory');
make_table('n int, t text, d date', '');
($out, $err, $rss) = $session->query_watched("SELECT count(n) FROM t");
is($out, 0, 'a file of wrong records');
cmp_ok($rss - $rss_before, '<', $buffers_kb, 'likewise');

# ---- many files, one after the other, in one query ----

open $file, '>:raw', $path or die $!;
print $file $lines;
close $file or die $!;
my $other = new_session($node);
$other->value("
	CREATE TABLE parts (n int, t text, v numeric(12,2), d date);
	DO \$\$ BEGIN
		FOR i IN 1..100 LOOP
			EXECUTE format('CREATE FOREIGN TABLE part%s () INHERITS (parts) SERVER csv OPTIONS (filename ''$path'')', i);
		END LOOP;
	END \$\$;
	EXPLAIN SELECT * FROM parts;");
$rss_before = rss_kb($other->pid);
($out, $err, $rss) = $other->query_watched('SELECT count(*), sum(length(t)), min(v), max(d) FROM parts');
is("$out$err", '1000000|70000000|0.14|2000-01-28', '100 partitions');
cmp_ok($rss - $rss_before, '<', $buffers_kb, 'are read in the memory of one');
note(sprintf '100 partitions: RSS +%d kB', $rss - $rss_before);
$other->quit;

# ---- more distinct values than there is memory for ----

my $nvalues = 1_000_000;
open $file, '>:raw', $path or die $!;
print $file map { my $i = $_; "$i,text number " . $i * 7 % $nvalues . "," . $i % 1000 . "\n" } $_ * 1000 .. $_ * 1000 + 999
  for 0 .. $nvalues / 1000 - 1;
close $file or die $!;
make_table('n int, t text, k int', '');
$session->value("SET work_mem = '4MB'");
my %distinct = (
	'SELECT count(DISTINCT t) FROM t' => $nvalues,
	'SELECT count(DISTINCT t), count(DISTINCT k) FILTER (WHERE n > 100), count(DISTINCT n) FROM t' =>
	  "$nvalues|1000|$nvalues",
	'SELECT count(*), sum(c), min(c), max(c) FROM (SELECT k, count(DISTINCT t) c FROM t GROUP BY k) x' =>
	  "1000|$nvalues|" . $nvalues / 1000 . '|' . $nvalues / 1000,
	'SELECT count(*), sum(c), max(c) FROM (SELECT n, count(DISTINCT t) c FROM t GROUP BY n) x' => "$nvalues|$nvalues|1");
for my $query (sort keys %distinct)
{
	$rss_before = rss_kb($session->pid);
	($out, $err, $rss) = $session->query_watched($query);
	is("$out$err", $distinct{$query}, $query);
	cmp_ok($rss - $rss_before, '<', $buffers_kb, 'little memory for it');
	note(sprintf 'distinct values: RSS +%d kB', $rss - $rss_before);
}
# groups: the memory is the same, however many threads there are
for my $threads (1, 4)
{
	$session->value("SET csv_gpu_fdw.cpu_threads = $threads");
	$rss_before = rss_kb($session->pid);
	($out, $err, $rss) = $session->query_watched('SELECT count(*), sum(c), max(s) FROM (SELECT t, count(*) c, sum(n) s FROM t GROUP BY t) x');
	is("$out$err", "$nvalues|$nvalues|" . ($nvalues - 1), "groups, $threads threads");
	cmp_ok($rss - $rss_before, '<', $buffers_kb, 'little memory for them');
	note(sprintf 'groups: RSS +%d kB', $rss - $rss_before);
}
$session->value('RESET csv_gpu_fdw.cpu_threads');
$session->value('RESET work_mem');

# ---- a field of 100 MB ----

open $file, '>:raw', $path or die $!;
print $file "1,first\n2,", 'x' x $MB;
print $file 'x' x $MB for 2 .. 100;
print $file "\n3,third\n";
close $file or die $!;

make_table('n int, t text', '');
$rss_before = rss_kb($session->pid);
($out, $err, $rss) = $session->query_watched('SELECT n, length(t) FROM t');
is("$out$err", "1|5\n3|5", 'a field of 100 MB is too long a record');
cmp_ok($rss - $rss_before, '<', $buffers_kb, 'and never in memory as a whole');
note(sprintf 'record too long: RSS +%d kB', $rss - $rss_before);
is(errors(), '2|2|8|record_too_long', 'as its error says');

make_table('n int, t text', ", max_record_size '200MB'");
($out, $err, $rss) = $session->query_watched('SELECT n, length(t) FROM t');
is("$out$err", "1|5\n2|104857600\n3|5", 'it is read where max_record_size allows it');
note(sprintf 'record of 100 MB: RSS +%d kB', $rss - $rss_before);
is($session->value("SELECT count(*) FROM pg_backend_memory_contexts WHERE total_bytes > $MB AND name <> 'TopMemoryContext'"),
	0, 'memory is given back');
# malloc keeps some of it
cmp_ok(rss_kb($session->pid) - $rss_before, '<', 70_000, 'to the system, too') if engine() eq 'cpu';

($out, $err) = $session->query('SELECT n FROM t');
is("$out$err", "1\n2\n3", 'so it is where another column is wanted');

# quoted, and with quotes to remove
open $file, '>:raw', $path or die $!;
print $file "1,first\n2,\"";
print $file '""' x ($MB / 2) for 1 .. 40;
print $file "\"\n3,third\n";
close $file or die $!;
make_table('n int, t text', ", max_record_size '200MB'");
($out, $err) = $session->query(q{SELECT n, length(t), t = repeat('"', length(t)) FROM t WHERE n = 2});
is("$out$err", '2|20971520|t', 'a long field of quotes');

# ---- line breaks in quotes ----

write_file($path, "1,\"", "line\n" x 1_000_000, "\"\n2,b\n");
make_table('n int, t text', '');
($out, $err) = $session->query("SELECT n, length(t), length(replace(t, E'\\n', '')) FROM t");
is("$out$err", "1|5000000|4000000\n2|1|1", 'a field of a million lines');
make_table("n int, t text, l int OPTIONS (virtual 'line'), o int OPTIONS (virtual 'byte_offset')", '');
is($session->value('SELECT n, l, o FROM t'), "1|1|0\n2|1000002|5000005", 'lines are counted in it');

make_table('n int, t text', ", multiline 'false'");
is($session->value('SELECT count(*) FROM t'), 1, 'a million bad lines, without multiline');

# ---- stray quotes: linear time, and a line each ----

sub seconds
{
	my ($query) = @_;
	my $before = cpu_seconds($session->pid);

	$session->value($query);
	return cpu_seconds($session->pid) - $before;
}

sub linear
{
	my ($name, $make, $options) = @_;
	my @seconds;

	# Four times as much; sixteen times would be quadratic.  Fresh memory costs more at
	# times: the least of three, where the first will not do.
	for my $try (1 .. 3)
	{
		my $which = 0;

		for my $nbytes (2 * $MB, 8 * $MB)
		{
			write_file($path, $make->($nbytes));
			make_table('n text, t text', $options // '');

			my $now = seconds('SELECT count(n) FROM t');

			$seconds[$which] = $now if !defined $seconds[$which] || $now < $seconds[$which];
			$which++;
		}
		note(sprintf '%s: 2 MB %.3f s, 8 MB %.3f s', $name, @seconds);
		last if $seconds[1] < 11 * $seconds[0] + 0.5;
	}
	cmp_ok($seconds[1], '<', 11 * $seconds[0] + 0.5, "$name: linear time");
	return;
}

for my $quoting ('rfc4180', 'postgres', 'lenient')
{
	my $option = ", quoting '$quoting'";

	linear("lines x\",\" ($quoting)", sub { "x\",\"\n" x ($_[0] / 5) }, $option);
	linear("lines \"x ($quoting)", sub { "\"x\n" x ($_[0] / 3) }, $option);
	linear("lines a,\" ($quoting)", sub { "a,\"\n" x ($_[0] / 4) }, $option);
	linear("lines \"a\"b ($quoting)", sub { "\"a\"b\n" x ($_[0] / 5) }, $option);
	linear("quotes only ($quoting)", sub { '"' x $_[0] }, $option);
	linear("odd quotes only ($quoting)", sub { '"' x ($_[0] + 1) }, $option);
	linear("an open quote, then delimiters ($quoting)", sub { '"' . ',' x $_[0] }, $option);
	linear("carriage returns ($quoting)", sub { "a\"\r" x ($_[0] / 3) }, $option);
	linear("small max_record_size ($quoting)", sub { "a,\"\n" x ($_[0] / 4) }, "$option, max_record_size '1kB'");
}
linear('quotes that end no field', sub { '"a,' x ($_[0] / 3) }, ", quoting 'lenient'");
linear('quotes and blanks', sub { '"a" ' x ($_[0] / 4) }, ", quoting 'lenient'");
linear('escapes', sub { '"\\,' x ($_[0] / 3) }, ", quoting 'lenient', escape '\\'");
linear('lines of fields that end nowhere', sub { ('"a,' x 1000 . "\n") x ($_[0] / 3001) }, ", quoting 'lenient'");
linear('blank lines', sub { "\n" x $_[0] });
linear('delimiters only', sub { ',' x $_[0] });
linear('one field', sub { 'x' x $_[0] });

my $nlines = 0;
write_file($path, "0,\"never closed\n", map { $nlines++; "$_,some more text in the line\n" } 1 .. 50 * $MB / 36);
make_table('n int, t text', '');
is($session->value('SELECT count(*), min(n), max(n) FROM t'), "$nlines|1|$nlines",
	'a quote never closed at the top of 50 MB costs one line');
is(errors(), '1|1|0|record_too_long', 'which is too long a record');

make_table('n int, t text', ", quoting 'postgres', max_record_size '100MB'");
is($session->value('SELECT count(*), min(n), max(n) FROM t'), "$nlines|1|$nlines",
	'so it is where the record may be as long as the file');
is(errors(), '1|1|0|unterminated_quote', 'which has an unterminated quote then');

# ---- records of very many fields ----

# only as many separators are kept as a record may have fields; a window per thread
for my $fields (15_000_000, 20_000_000)
{
	my $many_kb = engine() eq 'cpu' ? 4 * 60_000 : $buffers_kb;
	my $many = new_session($node);

	write_file($path, map { ',' x ($fields - 1) . "\n" } 1 .. 8);
	make_table('a text, b text', '');
	$many->value('SET client_min_messages = error; SET csv_gpu_fdw.cpu_threads = 4; EXPLAIN SELECT * FROM t');
	my $before = rss_kb($many->pid);
	($out, $err, $rss) = $many->query_watched('SELECT count(a) FROM t');
	is("$out$err", 0, "records of $fields fields");
	cmp_ok($rss - $before, '<', $many_kb, 'are skipped in little memory');
	note(sprintf '%d fields: RSS +%d kB', $fields, $rss - $before);
	is($many->value("SELECT message FROM csv_gpu_errors('t', 1)"),
		$fields > 16 * $MB ? 'record is longer than 16777216 bytes' : "expected 2 columns, found $fields",
		'and told as others');
	$many->quit;
}
make_table('a text, b text', ", ragged 'pad'");
write_file($path, ('1,2' . ',' x 5_000_000 . "\n") x 2, "3,4\n", '5,6' . ',' x 100_001);
is($session->value('SELECT string_agg(a || b, NULL) FROM t'), '12123456', 'surplus fields are dropped, however many');

write_file($path, ',' x (40 * $MB) . "\n");
my $sniffing = new_session($node);
$rss_before = rss_kb($sniffing->pid);
my $sniff_work = cpu_seconds($sniffing->pid);
($out, $err, $rss) = $sniffing->query_watched("SELECT count(*) FROM csv_gpu_sniff('$path')");
$sniff_work = cpu_seconds($sniffing->pid) - $sniff_work;
like($err, qr/no record of .* ends within its first 33554432 bytes/, 'csv_gpu_sniff() of a line without end');
cmp_ok($rss - $rss_before, '<', 100_000, 'takes little memory');
note(sprintf 'a line of 40 MB: RSS +%d kB, %.2f s', $rss - $rss_before, $sniff_work);
$sniffing->quit;

# ---- wide tables ----

my $ncolumns = 1600;
write_file($path, map { my $i = $_; join(',', map { $i + $_ } 1 .. $ncolumns) . "\n" } 1 .. 2000);
make_table(join(', ', map { "c$_ int" } 1 .. $ncolumns), '');
is($session->value('SELECT count(*), sum(c1), sum(c800), sum(c1600) FROM t'),
	join('|', 2000, map { 2001 * 1000 + 2000 * $_ } 1, 800, 1600), '1,600 columns');
is($session->value('SELECT count(t::text) FROM t'), 2000, 'all of them wanted');
make_table(join(', ', map { "c$_ text" } 1 .. $ncolumns), '');
is($session->value('SELECT count(*), max(length(t::text)) FROM t'), '2000|8001', 'of text');
make_table('a text, z int OPTIONS (column \'1599\')', ", columns '1600'");
is($session->value('SELECT count(a), sum(z) FROM t'), '2000|' . (2001 * 1000 + 2000 * 1600), 'few of many fields');

# a batch holds what the widest value needs: one long among many short ones
write_file($path, "1,", 'x' x (2 * $MB), "\n", map { "$_,short\n" } 2 .. 500_000);
make_table('n int, t text', '');
$rss_before = rss_kb($session->pid);
($out, $err, $rss) = $session->query_watched('SELECT count(*), max(length(t)), sum(n) FROM t');
is("$out$err", '500000|2097152|125000250000', 'one long value among short ones');
cmp_ok($rss - $rss_before, '<', $buffers_kb, 'does not make all entries as wide');
note(sprintf 'one long value: RSS +%d kB', $rss - $rss_before);

is($session->value('SELECT 1'), 1, 'the session lives');
unlink $path;
finish($session);
