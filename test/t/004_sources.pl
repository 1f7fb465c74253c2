# Files and programs that go wrong while they are read: an ERROR where that is
# the truth, never a crash, and the session goes on.
use lib 'test/t';
use CsvServer;
use POSIX qw(mkfifo);
use Time::HiRes qw(sleep);

my $node = csv_server('sources');
my $session = new_session($node);
my $directory = PostgreSQL::Test::Utils::tempdir;

sub read_program
{
	my ($program, $query) = @_;

	return $session->query('DROP FOREIGN TABLE IF EXISTS p;
		CREATE FOREIGN TABLE p (n int) SERVER csv OPTIONS (program ' . literal($program) . ');'
		  . ($query || 'SELECT count(*), sum(n) FROM p'));
}

# ---- programs ----

$session->value('SET client_min_messages = warning');
my ($out, $err) = read_program('seq 100000');
is($out, '100000|5000050000', 'a program that ends well');

($out, $err) = read_program('seq 100000; exit 3');
is($out, '', 'a program that fails gives no result');
like($err, qr/^ERROR:  program "seq 100000; exit 3" failed\nDETAIL:  child process exited with exit code 3/,
	'but an error');

($out, $err) = read_program('seq 100000; kill -9 $$');
like($err, qr/^ERROR:  program .* failed\nDETAIL:  child process was terminated by signal 9/,
	'so with one that is killed');

($out, $err) = read_program('no-such-program');
like($err, qr/^ERROR:  program "no-such-program" failed\nDETAIL:  command not found/,
	'and with one that there is not');

($out, $err) = read_program('exit 1');
like($err, qr/^ERROR:  program "exit 1" failed/, 'one that fails without a word');

($out, $err) = read_program('true');
is("$out$err", '0|', 'one that ends well without a word');

($out, $err) = read_program('yes 1', 'SELECT n FROM p LIMIT 3');
is("$out$err", "1\n1\n1", 'one that is not read to its end');

($out, $err) = read_program('seq 3; exec >&-; sleep 0.3; exit 5');
like($err, qr/exited with exit code 5/, 'one that fails after it has closed its output');

($out, $err) = read_program('seq 3; echo "of the program" >&2');
is("$out$err", '3|6', 'what it writes to standard error is not data');

($out, $err) = read_program('printf "1\n2"; sleep 0.2; printf "3\n"');
is("$out$err", '2|24', 'a record that comes in pieces');

($out, $err) = read_program('cat', 'SELECT * FROM p');
is("$out$err", '', 'a program has no standard input to wait for');

# ---- files that are none, or not any more ----

$session->value("CREATE FOREIGN TABLE f (n int, t text) SERVER csv OPTIONS (filename '$directory/f.csv')");
($out, $err) = $session->query('SELECT * FROM f');
like($err, qr{^ERROR:  could not open file ".*/f.csv" for reading: No such file or directory}, 'no such file');

mkdir "$directory/f.csv";
($out, $err) = $session->query('SELECT * FROM f');
like($err, qr{^ERROR:  ".*/f.csv" is a directory}, 'a directory');
rmdir "$directory/f.csv";

write_file("$directory/f.csv", "1,a\n");
chmod 0, "$directory/f.csv";
($out, $err) = $session->query('SELECT * FROM f');
like($err, qr{^ERROR:  could not open file ".*/f.csv" for reading: Permission denied}, 'a file that may not be read');
unlink "$directory/f.csv";

symlink '/dev/null', "$directory/f.csv";
is($session->value('SELECT count(*) FROM f'), 0, 'a device without data');
unlink "$directory/f.csv";

mkfifo("$directory/f.csv", 0644);
my $child = fork // die $!;
if ($child == 0)
{
	open my $fifo, '>', "$directory/f.csv" or POSIX::_exit(1);
	syswrite $fifo, "$_,some text\n" for 1 .. 50_000;
	POSIX::_exit(0);
}
is($session->value('SELECT count(*), sum(n) FROM f'), '50000|1250025000', 'a FIFO');
waitpid $child, 0;
unlink "$directory/f.csv";

# ---- files that change while they are read ----

# many chunks of 64 kB: most of the file is not read yet when the first rows come
my $nrecords = 300_000;
my $text = join '', map { "$_,row $_\n" } 1 .. $nrecords;
my $path = "$directory/f.csv";
my %changes = (
	'truncated to nothing' => sub { truncate $path, 0 },
	'truncated by half' => sub { truncate $path, (-s $path) / 2 },
	'truncated by a byte' => sub { truncate $path, (-s $path) - 1 },
	'grown' => sub { append_to_file($path, $text) },
	'replaced' => sub { rename write_file("$directory/new.csv", "-1,new\n" x 1000), $path },
	'overwritten' => sub {
		system 'dd', 'if=/dev/zero', "of=$path", 'bs=1M', 'count=4', 'conv=notrunc', 'status=none';
	},
	'removed' => sub { unlink $path });

$session->value('CREATE TEMP TABLE seen (n int, t text)');
for my $change (sort keys %changes)
{
	for my $chunk_size ('64kB', '4MB')
	{
		write_file($path, $text);
		$session->value("
			TRUNCATE seen;
			DROP FOREIGN TABLE f;
			CREATE FOREIGN TABLE f (n int, t text)
				SERVER csv OPTIONS (filename '$path', log_verbosity 'silent', chunk_size '$chunk_size');
			BEGIN;
			DECLARE c NO SCROLL CURSOR FOR SELECT * FROM f;
			FETCH 10 FROM c;");
		$changes{$change}->();
		($out, $err) = $session->query('MOVE ALL FROM c; COMMIT;');
		is($err, '', "read on in a file that was $change (chunks of $chunk_size)");

		write_file($path, $text);
		$session->send('INSERT INTO seen SELECT * FROM f');
		sleep(rand(0.3));
		$changes{$change}->();
		($out, $err) = $session->await;
		like($err, qr/^(ERROR:  could not open file.*|)$/, 'and while a query runs');
	}
	my $wrong = $session->value("
		SELECT count(*) FROM seen WHERE t IS DISTINCT FROM 'row ' || n AND (n, t) IS DISTINCT FROM (-1, 'new')");
	# where it was cut, a number may have lost its end, or bytes of old and new may stand side by side
	cmp_ok($wrong, '<=', 1, 'no rows that were never there');
}

is($session->value('SELECT 1'), 1, 'the session lives');
finish($session);
