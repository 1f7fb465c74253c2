# A scan can be cancelled whatever it waits for or works on.
use lib 'test/t';
use CsvServer;
use POSIX qw(mkfifo);
use Time::HiRes qw(sleep time);

# Seconds of work after it was to end, and seconds until it ends, of which a
# busy machine may add many.
my ($at_once, $patience) = (0.5, 5);

my $node = csv_server('cancel');
my $session = new_session($node);
my $other = new_session($node);
my $directory = PostgreSQL::Test::Utils::tempdir;

# the GPU is up before anything is timed
write_file("$directory/small.csv", "1,a\n");
mkfifo("$directory/no_writer", 0644) or die $!;
mkfifo("$directory/idle_writer", 0644) or die $!;
open my $writer, '+<', "$directory/idle_writer" or die $!;
write_file("$directory/long.csv", "1,a,\"b\"\n" x 2_000_000);
$session->value("
	CREATE FOREIGN TABLE small (a int, b text) SERVER csv OPTIONS (filename '$directory/small.csv');
	SELECT * FROM small;");
$other->value('SELECT * FROM small');

# Runs what ends after so many seconds, by its timeout or by this function.
# Returns its ERROR, and how late it was, if it was.
sub interrupted
{
	my ($query, $seconds, $function) = @_;
	my $start = time();

	$session->send($query);
	sleep(0.01) while !$session->ended && time() - $start < $seconds;
	my $work = cpu_seconds($session->pid);
	$start = time();
	$other->value("SELECT $function(" . $session->pid . ')') if $function;
	my ($out, $err) = $session->await;
	$seconds = time() - $start;
	$work = cpu_seconds($session->pid) - $work;
	return ($err, $work < $at_once && $seconds < $patience ? '' : "$work seconds of work in $seconds seconds");
}

my @sources = (
	[ 'a program that sleeps', "program 'sleep 60'", 'n int' ],
	[ 'a program that sleeps after some rows', "program 'seq 1000; sleep 60'", 'n int' ],
	[ 'a program that does not end', "program 'yes 1,a'", 'n int, t text' ],
	[ 'a program of bad records', "program 'yes x'", 'n int, t text' ],
	[ 'a program of bad values', "program 'yes x,y'", 'n int, t text' ],
	[ 'a program of quotes', q{program 'yes x\",\"'}, 'n text, t text' ],
	[ 'a program of blank lines', q{program 'yes ""'}, 'n text, t text' ],
	[ 'a program of one quoted field', q{program 'echo -n \\"; yes x', max_record_size '1000MB'}, 'n text' ],
	[ 'a FIFO without a writer', "filename '$directory/no_writer'", 'n int' ],
	[ 'a FIFO whose writer is idle', "filename '$directory/idle_writer'", 'n int' ],
	[ 'zero bytes without end', "filename '/dev/zero'", 'n int' ],
	[ 'values that need input functions', q{program 'yes "{1,2}"', delimiter ';'}, 'n int[]' ]);

for (@sources)
{
	my ($name, $options, $columns) = @$_;

	$options =~ s/\\/\\\\/g;
	$options =~ s/program '/program E'/;
	$session->value("
		DROP FOREIGN TABLE IF EXISTS t;
		CREATE FOREIGN TABLE t ($columns) SERVER csv OPTIONS ($options, log_verbosity 'silent');");

	# both ways to cancel
	my ($err, $late) = interrupted("SET statement_timeout = 300; SELECT count(n) FROM t; RESET statement_timeout", 0.3);
	like($err, qr/^ERROR:  canceling statement due to statement timeout/, "$name: statement_timeout");
	is($late, '', "$name: in time");

	($err, $late) = interrupted('SELECT count(n) FROM t', 0.2, 'pg_cancel_backend');
	like($err, qr/^ERROR:  canceling statement due to user request/, "$name: pg_cancel_backend");
	is($late, '', "$name: at once");
}

# One record of many megabytes, of bytes that no fast way is for; cancelled at
# some moments: in the search for the boundary, in the header, index, columns.
my $huge = "$directory/huge.csv";

for (
	[ 'delimiters', '', ',', 150_000_000, 1000 ],
	[ 'quotes', '', '"' ],
	[ 'open quotes', '', ',"' ],
	[ 'delimiters in quotes', '', '","' ],
	[ 'an open quote and lines', '"', "x,y\n" ],
	[ 'a field with escapes', '"', '""x' ],
	[ 'a field of two-byte characters', '"', "\xc3\xa9" ],
	[ 'a field that is no UTF-8', '"', "\xc3x" ],
	[ 'blank lines', '', "\n" ],
	[ 'lines of quotes', '', "\"\n" ],
	[ 'text after quotes', '', '"x"y,' ],
	[ 'digits', '', '0' ],
	[ 'blanks', '', ' ' ])
{
	my ($name, $first, $unit, $nbytes, @moments) = @$_;
	my $options = "filename '$huge', max_record_size '500MB', log_verbosity 'silent'";

	$nbytes //= 30_000_000;
	write_file($huge, $first, $unit x ($nbytes / length $unit));
	$session->value("
		SET statement_timeout = 0;
		DROP FOREIGN TABLE IF EXISTS huge, huge_header;
		DROP TABLE IF EXISTS target;
		CREATE FOREIGN TABLE huge (a text, b int) SERVER csv OPTIONS ($options, ragged 'pad');
		CREATE FOREIGN TABLE huge_header (a text, b int) SERVER csv OPTIONS ($options, header 'match');
		CREATE TABLE target (a text, b int);");
	for my $query (
		'SELECT count(a), count(b) FROM huge',
		'SELECT count(*) FROM huge_header',
		"SELECT count(*) FROM csv_gpu_errors('huge')",
		"SELECT csv_gpu_load('huge', 'target')",
		"SELECT count(*) FROM csv_gpu_sniff('$huge')")
	{
		my @late;

		for my $timeout (50, 300, @moments)
		{
			my ($err, $late) = interrupted("SET statement_timeout = $timeout; $query", $timeout / 1000);

			last if $err !~ /statement timeout/;
			push @late, $late if $late;
		}
		is("@late", '', "one record, $name: $query ends in time");
	}
}
$session->value('SET statement_timeout = 0; DROP FOREIGN TABLE huge, huge_header');
unlink $huge;

# a chunk of many rows that the engine leaves to the executor
write_file("$directory/dates.csv", "Jan 3 2001\n" x 3_000_000);
$session->value("CREATE FOREIGN TABLE dates (d date) SERVER csv OPTIONS (filename '$directory/dates.csv', chunk_size '1GB')");
for my $query (
	'SELECT d, count(*) FROM dates GROUP BY d',
	q{SELECT count(*) FROM dates WHERE d < '1990-01-01'},
	q{SELECT * FROM dates WHERE d < '1990-01-01'},
	q{SELECT * FROM dates WHERE d < '1990-01-01' ORDER BY d LIMIT 3})
{
	my ($err, $late) = interrupted("SET statement_timeout = 500; $query", 0.5);

	like($err, qr/statement timeout/, "$query does not end by itself");
	is($late, '', "$query ends in time");
}
$session->value('SET statement_timeout = 0');

# a join that reads the file again and again
$session->value("
	CREATE FOREIGN TABLE long (a int, b text, c text) SERVER csv OPTIONS (filename '$directory/long.csv');
	SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off;");
for my $query (
	'SELECT count(*) FROM long a, long b, long c WHERE a.a = b.a AND b.a = c.a',
	'SELECT count(*) FROM generate_series(1, 1000) n, LATERAL (SELECT n FROM long OFFSET 0) l',
	'ANALYZE long, long, long, long, long, long, long, long',
	"SELECT count(*) FROM generate_series(1, 1000) n, csv_gpu_errors('long', n)")
{
	my ($err, $late) = interrupted("SET statement_timeout = 300; $query; RESET statement_timeout", 0.3);

	like($err, qr/^ERROR:  canceling statement due to statement timeout/, "canceled: $query");
	is($late, '', 'in time');
}

# a program does not outlive the backend that is terminated
$session->value("
	DROP FOREIGN TABLE t;
	CREATE FOREIGN TABLE t (n int) SERVER csv OPTIONS (program 'sleep 4242');");
$session->send('SELECT * FROM t');
sleep(0.2);
$other->value('SELECT pg_terminate_backend(' . $session->pid . ', 5000)');
my $nprograms;
for (1 .. 50)
{
	$nprograms = grep { (eval { slurp_file($_) } // '') eq "sleep\x{0}4242\x{0}" } glob('/proc/[0-9]*/cmdline');
	last if $nprograms == 0;
	sleep(0.1);
}
is($nprograms, 0, 'the program has ended with the backend');

is($other->value('SELECT b FROM small'), 'a', 'other sessions go on');
close $writer;
finish($other);
