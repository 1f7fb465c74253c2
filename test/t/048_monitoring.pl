# What an administrator sees of scans: counts, lines in the log, progress.
use lib 'test/t';
use CsvServer;

my $node = csv_server('monitoring', 'csv_gpu_fdw.engine' => 'cpu', max_worker_processes => 20);
my $directory = new_folder();

write_file("$directory/t.csv", "1,a\nx,b\n3,c\n4,d,e\n");
write_file("$directory/many.csv", map { $_ % 1000 == 0 ? "x$_,a\n" : "$_,a\n" } 1 .. 40_000);

sql(qq{
	CREATE FOREIGN TABLE t (id int, v text) SERVER csv OPTIONS (filename '$directory/t.csv', engine 'cpu');
	CREATE FOREIGN TABLE many (id int, v text) SERVER csv OPTIONS (filename '$directory/many.csv', engine 'cpu');
	CREATE TABLE rows (id int, v text);
	CREATE TABLE rejects (record bigint)});

# ---- counts of the host ----

my $columns = 'scans_running, scans_done, bytes_read, rows, records_skipped, failures';
sub host
{
	return sql("SELECT concat_ws(' ', $_[0]) FROM csv_gpu_stat WHERE device IS NULL");
}
is(host($columns), '0 0 0 0 0 0', 'nothing was done yet');
is(host('fallbacks'), '{}', 'nor left to others');
sql('SELECT count(v) FROM t');
is(host($columns), '0 1 18 3 1 0', 'a scan by the CPU, of a wrong number of fields');
sql('SELECT id FROM t');
is(host($columns), '0 2 36 5 3 0', 'and of a bad value, too');
my $session = new_session($node);
$session->query('BEGIN; DECLARE c CURSOR FOR SELECT * FROM t; FETCH 1 FROM c');
is(host('scans_running, scans_done'), '1 2', 'one runs');
$session->query('COMMIT');
is(host('scans_running, scans_done'), '0 3', 'no longer');
$session->query('BEGIN; DECLARE c CURSOR FOR SELECT * FROM t; FETCH 1 FROM c; SELECT 1/0; ROLLBACK');
is(host('scans_running, scans_done'), '0 4', 'nor one that an ERROR ends');
my $pid = $session->value('SELECT pg_backend_pid()');
$session->query('BEGIN; DECLARE c CURSOR FOR SELECT * FROM t; FETCH 1 FROM c');
sql("SELECT pg_terminate_backend($pid, 60000)");
is(host('scans_running, scans_done'), '0 5', 'or whose session is ended');
eval { $session->quit };

my $parallel = 'SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET parallel_leader_participation';
my $before = host('records_skipped, rows');
sql("ALTER FOREIGN TABLE many OPTIONS (ADD chunk_size '16kB', ADD log_verbosity 'silent'); $parallel = on; SELECT count(id) FROM many");
is(host('scans_done'), 6, 'processes that share a scan are one');
my ($skipped, $rows) = split / /, $before;
is(host("records_skipped - $skipped, rows - $rows"), '40 39960', 'whose records all count');

# ---- COPY that was not taken ----

write_file("$directory/bad.csv", "1,a\nx,b\n");
write_file("$directory/good.csv", "1,a\n");
my $copy = sub { $node->psql('postgres', "LOAD 'csv_gpu_fdw'; SET csv_gpu_fdw.copy = $_[0]; COPY rows FROM '$directory/$_[1]' ($_[2])") };
$copy->('off', 'good.csv', 'format csv, freeze');
is(host('fallbacks'), '{}', 'COPY that was not wanted is not counted');
$copy->('force', 'good.csv', 'format csv');
is(host('fallbacks'), '{}', 'nor one that was taken');
$copy->('on', 'good.csv', 'format csv') for 1 .. 3;
$copy->('force', 'good.csv', 'format csv, freeze false');
$copy->('force', 'bad.csv', 'format csv');
sql('CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$; CREATE TRIGGER f BEFORE INSERT ON rows FOR EACH ROW EXECUTE FUNCTION f()');
$copy->('force', 'good.csv', 'format csv');
is(host(q{fallbacks->'copy' = '{"it is short": 3, "it has the option ...": 1, "it failed": 1, "the table has triggers": 1}'}),
	't', 'COPY that was not taken is counted by its reasons, without names and values');
sql('DROP TRIGGER f ON rows');
$copy->('on', 'good.csv', "format csv, \"a\"\"secret\303\251$_\" 1") for 1 .. 40;
is(host(q{fallbacks->'copy'->'it has the option ...'}), '41', 'also of names that have quotes themselves');

# ---- lines in the log ----

my $place = -s $node->logfile;
sub logged
{
	my $log = slurp_file($node->logfile, $place);

	$place = -s $node->logfile;
	return join '|', map { /LOG:  (skipped .*)/ ? $1 =~ s/\Q$directory\E/D/r : () } split /\n/, $log;
}
my $line = 'skipped 2 records of "D/t.csv"';
sql('SELECT * FROM t; SELECT count(id) FROM t');
is(logged(), '', 'a client that sees NOTICEs: nothing');
sql("SET application_name = 'postgres_fdw'; SELECT * FROM t; SELECT 1");
is(logged(), $line, 'postgres_fdw by its name: a line');
sql("SET application_name = 'postgres_fdw'; SELECT v FROM t WHERE id = 1 LIMIT 0; SELECT count(*) FROM csv_gpu_errors('t')");
is(logged(), '', 'unless no record was skipped, or skipped records are listed');
sql('BEGIN; DECLARE c CURSOR FOR SELECT * FROM t; FETCH 1 FROM c; FETCH 9 FROM c; COMMIT');
is(logged(), $line, 'a cursor: a line, too');
sql('DO $$DECLARE r record; BEGIN FOR r IN SELECT * FROM t LOOP END LOOP; END$$');
is(logged(), '', 'but not a cursor of SPI');
sql("ALTER FOREIGN TABLE t OPTIONS (ADD log_verbosity 'silent'); SET application_name = 'postgres_fdw'; SELECT * FROM t");
is(logged(), '', 'silent is silent');
sql("ALTER FOREIGN TABLE t OPTIONS (SET log_verbosity 'verbose'); SET application_name = 'postgres_fdw'; SELECT csv_gpu_load('t', 'rows'); SELECT csv_gpu_load('t', 'rows', NULL, 'rejects')");
is(logged(), "$line|$line", 'a load, without and with rejects');
sql("ALTER FOREIGN TABLE many OPTIONS (SET log_verbosity 'default'); SET application_name = 'postgres_fdw'; $parallel = off; SELECT count(id) FROM many");
is(logged(), 'skipped 40 records of "D/many.csv"', 'several processes: one line');

# through postgres_fdw itself
my ($host, $port) = ($node->host, $node->port);
sql(qq{CREATE EXTENSION postgres_fdw;
	CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
	CREATE USER MAPPING FOR CURRENT_USER SERVER loop;
	CREATE VIEW errors AS SELECT * FROM csv_gpu_errors('t');
	CREATE FOREIGN TABLE far (id int, v text) SERVER loop OPTIONS (table_name 't');
	CREATE FOREIGN TABLE far_errors (record bigint, message text) SERVER loop OPTIONS (table_name 'errors')});
is(sql("SET postgres_fdw.application_name = 'another'; SELECT count(id) FROM far WHERE v < 'c'"), 1, 'rows come from far');
is(logged(), $line, 'and a line is left there');
is(sql('SELECT record, message FROM far_errors'), qq(2|column "id": invalid input syntax for type integer: "x"\n4|expected 2 columns, found 3), 'errors, too, can be seen from far');

# ---- progress ----

# without bad values: a subtransaction that fails ends what a backend shows
write_file("$directory/numbers.csv", map { "$_\n" } 1 .. 5000);
my $nblocks = int((-s "$directory/numbers.csv") / 8192) + 1;
sql(qq{
	CREATE FUNCTION progress(id int) RETURNS boolean LANGUAGE plpgsql AS \$\$
	BEGIN
		IF id = 3999 THEN
			RAISE NOTICE '% %', (SELECT command || ' ' || relid::regclass FROM pg_stat_progress_copy WHERE pid = pg_backend_pid()),
				(SELECT phase || ' ' || (sample_blks_total = $nblocks) || ' ' || (sample_blks_scanned BETWEEN 1 AND $nblocks) FROM pg_stat_progress_analyze WHERE pid = pg_backend_pid());
		END IF;
		RETURN true;
	END \$\$;
	CREATE DOMAIN watched AS int CHECK (progress(VALUE))});
sql(qq{CREATE FOREIGN TABLE w (id watched) SERVER csv OPTIONS (filename '$directory/numbers.csv')});
my ($rc, $out, $err) = $node->psql('postgres', q{SELECT count(*) FROM csv_gpu_errors('w')});
like($err, qr/NOTICE:  COPY FROM w <NULL>/, 'csv_gpu_errors() shows its progress');
($rc, $out, $err) = $node->psql('postgres', 'ANALYZE w');
like($err, qr/NOTICE:  <NULL> acquiring sample rows true true/, 'and so does ANALYZE');
is(sql('SELECT count(*) FROM pg_stat_progress_copy'), 0, 'nothing is left');

write_file("$directory/big.csv", join '', map { "$_,some text,more of it\n" } 1 .. 100_000);
my $background = $node->background_psql('postgres', on_error_stop => 0);
$background->query_until(qr/begun/, qq{\\echo begun\nDO \$\$BEGIN LOOP PERFORM csv_gpu_sniff('$directory/big.csv'); COMMIT; END LOOP; END\$\$;\n});
ok( $node->poll_query_until('postgres', 'SELECT count(*) = 1 FROM pg_stat_progress_copy WHERE relid = 0 AND bytes_processed > 0'),
	'csv_gpu_sniff() and IMPORT do, of no relation');
sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'DO %csv_gpu_sniff%'");
eval { $background->quit };
finish();
