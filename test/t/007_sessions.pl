# Scans among the rest of a session's work: cursors, subtransactions, several
# scans at once, scans inside of scans, changes of options, other sessions.
use lib 'test/t';
use CsvServer;

my $node = csv_server('sessions');
my $session = new_session($node);
my $directory = PostgreSQL::Test::Utils::tempdir;

write_file("$directory/numbers.csv", map { "$_,number $_,{$_}\n" } 1 .. 50_000);
write_file("$directory/some_bad.csv", map { $_ % 1000 == 7 ? "x$_,bad,{1}\n" : "$_,number $_,{$_}\n" } 1 .. 20_000);
$session->value("
	CREATE DOMAIN positives AS int[] CHECK (VALUE[1] > 0);
	CREATE FOREIGN TABLE numbers (n int, t text, a positives)
		SERVER csv OPTIONS (filename '$directory/numbers.csv', chunk_size '10kB');
	CREATE FOREIGN TABLE some_bad (n int, t text, a positives)
		SERVER csv OPTIONS (filename '$directory/some_bad.csv', log_verbosity 'silent', chunk_size '10kB');
	CREATE TABLE plain (n int);");

# ---- cursors and subtransactions ----

my ($out, $err) = $session->query("
	BEGIN;
	DECLARE c CURSOR FOR SELECT n, a FROM numbers;
	FETCH 2 FROM c;
	SAVEPOINT s;
	FETCH 3 FROM c;
	INSERT INTO plain VALUES (1);
	SELECT 1 / 0;
	ROLLBACK TO s;
	FETCH 2 FROM c;
	MOVE 10000 FROM c;
	FETCH 1 FROM c;
	RELEASE s;
	FETCH 1 FROM c;
	COMMIT;
	SELECT count(*) FROM plain;");
is($out, join("\n", map({ "$_|{$_}" } 1 .. 7), map({ "$_|{$_}" } 10008, 10009), 0),
	'a cursor goes on after a subtransaction has rolled back');
like($err, qr/^ERROR:  division by zero\n$/, 'whose error is the only one');

($out, $err) = $session->query("
	BEGIN;
	SAVEPOINT s;
	DECLARE c CURSOR FOR SELECT n, a FROM numbers;
	FETCH 1 FROM c;
	ROLLBACK TO s;
	FETCH 1 FROM c;
	ROLLBACK;
	SELECT 'lives'");
is($out, "1|{1}\nlives", 'a cursor made in a subtransaction goes with it');
like($err, qr/^ERROR:  cursor "c" does not exist\n$/, 'as any other');

# an error in the cursor's own scan
($out, $err) = $session->query("
	BEGIN;
	DECLARE c CURSOR FOR SELECT n FROM numbers WHERE 100 / (n - 500) IS NOT NULL;
	FETCH 1 FROM c;
	SAVEPOINT s;
	MOVE ALL FROM c;
	ROLLBACK TO s;
	FETCH 1 FROM c;
	ROLLBACK;
	SELECT count(*) FROM numbers");
is($out, "1\n50000", 'a cursor whose scan has failed');
like($err, qr/^ERROR:  division by zero\nERROR:  portal "c" cannot be run\n$/, 'cannot be run again');

is($session->value("
	BEGIN;
	DECLARE a CURSOR FOR SELECT n FROM numbers;
	DECLARE b CURSOR WITH HOLD FOR SELECT n FROM some_bad WHERE n > 10;
	DECLARE c SCROLL CURSOR FOR SELECT n FROM numbers;
	FETCH 1 FROM a; FETCH 1 FROM b; FETCH 1 FROM c;
	FETCH 1 FROM b; FETCH 2 FROM a; FETCH ABSOLUTE 40000 FROM c; FETCH PRIOR FROM c;
	CLOSE a;
	COMMIT;
	FETCH 1 FROM b; CLOSE b;"),
	join("\n", 1, 11, 1, 12, 2, 3, 40000, 39999, 13), 'cursors side by side');

is($session->value(q{
	DO $$
	DECLARE r record; sum bigint := 0;
	BEGIN
		FOR r IN SELECT n FROM numbers WHERE n <= 1000 LOOP
			BEGIN
				INSERT INTO plain VALUES (r.n);
				sum := sum + 1000 / (r.n % 3);
			EXCEPTION WHEN division_by_zero THEN NULL;
			END;
		END LOOP;
		RAISE INFO '%', sum;
	END $$;
	SELECT count(*) FROM plain;}), 667, 'a loop over rows with a subtransaction each');

# ---- rescans, joins, functions ----

is($session->value("
	SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off;
	SELECT count(*), sum(s.n) FROM generate_series(1, 20) g, LATERAL (SELECT n FROM some_bad WHERE n = g * 100 OFFSET 0) s"),
	'20|21000', 'a scan that is run again');
($out, $err) = $session->query("
	ALTER FOREIGN TABLE some_bad OPTIONS (SET log_verbosity 'default', notice_limit '2');
	SELECT count(s.n) FROM generate_series(1, 3) g, LATERAL (SELECT n, g FROM some_bad OFFSET 0) s");
is($out, 3 * 19980, 'counts the same rows each time');
is(scalar(() = $err =~ /^NOTICE:/mg), 3, 'and tells of bad records once');
$session->value("
	RESET ALL;
	ALTER FOREIGN TABLE some_bad OPTIONS (SET log_verbosity 'silent')");

is($session->value('SELECT count(*) FROM numbers a JOIN numbers b USING (n) JOIN some_bad c USING (n)'),
	19980, 'a join of scans of one file');
$session->value(q{
	CREATE FUNCTION read_again(wanted int) RETURNS text LANGUAGE sql AS
		'SELECT t FROM numbers WHERE n = wanted';
	CREATE FUNCTION check_it(wanted int[]) RETURNS boolean LANGUAGE plpgsql AS
		'BEGIN RETURN (SELECT count(*) FROM numbers WHERE n = wanted[1]) = 1; END';
	CREATE DOMAIN verified AS int[] CHECK (check_it(VALUE));});
is($session->value('SELECT read_again(n) FROM numbers WHERE n % 10000 = 0'),
	join("\n", map { "number $_" } 10000, 20000, 30000, 40000, 50000), 'a scan inside of a scan');
write_file("$directory/checked.csv", "{1}\n{50001}\n{3}\n{}\n");
($out, $err) = $session->query("
	CREATE FOREIGN TABLE checked (a verified) SERVER csv OPTIONS (filename '$directory/checked.csv', delimiter ';');
	SELECT a FROM checked");
is($out, "{1}\n{3}", 'a scan inside of an input function');
like($err, qr/record 2 .*: value for domain verified violates check constraint "verified_check".*record 4 /s,
	'which may refuse');

# ---- options that change ----

is($session->value("
	PREPARE p AS SELECT count(*) FROM numbers;
	EXECUTE p;
	ALTER FOREIGN TABLE numbers OPTIONS (SET filename '$directory/some_bad.csv');
	EXECUTE p;
	ALTER FOREIGN TABLE numbers OPTIONS (SET filename '$directory/numbers.csv', ADD header 'true');
	EXECUTE p;
	ALTER FOREIGN TABLE numbers OPTIONS (DROP header);"),
	"50000\n20000\n49999", 'a prepared statement sees options as they are');
is($session->value("
	BEGIN;
	DECLARE c CURSOR FOR SELECT n FROM numbers;
	FETCH 1 FROM c;
	DROP FOREIGN TABLE checked;
	ALTER SERVER csv OPTIONS (ADD on_error 'stop');
	FETCH 1 FROM c;
	ROLLBACK;"), "1\n2", 'a scan keeps the options that it began with');
($out, $err) = $session->query('BEGIN; DECLARE c CURSOR FOR SELECT n FROM numbers; FETCH 1 FROM c; DROP FOREIGN TABLE numbers; ROLLBACK;');
like($err, qr/^ERROR:  cannot DROP (FOREIGN )?TABLE "numbers" because it is being used by active queries/, 'a table in use stays');

# ---- other sessions ----

my @sessions = map { new_session($node) } 1 .. 6;
for my $round (1 .. 3)
{
	$_->send('SELECT count(*), sum(n), count(a), max(t) FROM some_bad') for @sessions;
	my %answers = map { my ($answer, $error) = $_->await; ("$answer$error" => 1) } @sessions;

	is(scalar(keys %answers), 1, 'several sessions read one file at once')
	  or diag(explain(\%answers));
	like((keys %answers)[0], qr/^19980\|/, 'and all of it');
}
$sessions[0]->value("CREATE TABLE copy AS SELECT n FROM numbers");
is($session->value('SELECT count(*) FROM copy'), 50000, 'what one has read, another sees');
$_->quit for @sessions;

finish($session);
