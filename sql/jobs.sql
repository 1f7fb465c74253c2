--
-- Importer jobs, but for pg_cron itself, which the TAP tests start.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE f (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/j*.csv', log_verbosity 'silent');
CREATE TABLE t (a int, b text);

-- what a schedule may be
\set SHOW_CONTEXT never
SELECT csv_gpu_schedule('j', '30 * * * * ?', 'f', 't');
\echo :SQLSTATE
SELECT csv_gpu_schedule('j', '0 0 6 ? * 2-6', 'f', 't');
SELECT csv_gpu_schedule('j', '*/10 * * * * ?', 'f', 't');
SELECT csv_gpu_schedule('j', 'hourly', 'f', 't');
SELECT q AS quartz, csv_gpu_cron_fields(q) AS cron FROM unnest(ARRAY[
    '0 0 12 * * ?', '0 15 10 ? * MON-FRI', '0 0/5 14,18 * * ?', '0 0 12 1/5 * ?', '0 5/15 * * * ?',
    '0 11 11 11 11 ?', '0 0 0 ? JUL WED', '0 15 10 ? * 6L', '0 15 10 ? * 6#3', '0 15 10 L * ?', '0 0 9 15W * ?',
    '0 15 10 * * ? *', '0 15 10 * * ? 2005', '0/30 * * * * ?', '* * * * *', '0 0 9 ? * 1,7']) q;
-- what else is wrong, before pg_cron is asked
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', 'merge');
SELECT csv_gpu_schedule(NULL, '* * * * *', 'f', 't');
SELECT csv_gpu_schedule('j', '* * * * *', 't', 'f');
SELECT csv_gpu_schedule('j', '* * * * *', 't', 'f', 'new_files');
CREATE FOREIGN TABLE p (a int) SERVER csv OPTIONS (program 'echo 1');
SELECT csv_gpu_schedule('j', '* * * * *', 'p', 't', 'new_files');
-- without pg_cron; the hint has the server's version
\set VERBOSITY terse
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't');
-- a file's share changes with its name; a table that has all files warns of nothing
ALTER FOREIGN TABLE f OPTIONS (ADD share '0', ADD shares '2');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', 'new_files');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', 'append');
ALTER FOREIGN TABLE f OPTIONS (SET shares '1');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', 'new_records');
ALTER SERVER csv OPTIONS (ADD share '1', ADD shares '3');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', 'new_files');
ALTER FOREIGN TABLE f OPTIONS (DROP share, DROP shares);
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', 'new_records');
ALTER SERVER csv OPTIONS (DROP share, DROP shares);
\set VERBOSITY default
\echo :SQLSTATE
DO $$
DECLARE
  hint text;
BEGIN
  PERFORM csv_gpu_schedule('j', '* * * * *', 'f', 't');
EXCEPTION WHEN feature_not_supported THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RAISE NOTICE '%', regexp_replace(hint, 'postgresql-\d+', 'postgresql-NN');
END $$;
SELECT count(*) FROM csv_gpu_job;
SELECT csv_gpu_unschedule('j');
\echo :SQLSTATE
SELECT csv_gpu_run_job('j');

-- options are looked at before pg_cron is, and before there is a file
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', options => '{"column": ["a"]}');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', options => '["columns"]');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', options => '{"columns": 1}');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', options => '{"columns": ["c"]}');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', options => '{"rejects": "none"}');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', options => '{"on_rewrite": "skip"}');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', 'new_records', options => '{"on_rewrite": "jump"}');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', options => '{"duplicates": "all"}');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', options => '{"freeze": true}');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', keep_runs => 0);
SELECT csv_gpu_schedule('', '* * * * *', 'f', 't');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', on_failure => 'mail -s failed dba');
CREATE TABLE keyed (a int PRIMARY KEY);
SELECT csv_gpu_schedule('j', '* * * * *', 'p', 'keyed', options => '{"duplicates": "last"}');
DROP TABLE keyed;
CREATE TEMP TABLE short (a int, b text, record bigint);
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 'short');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', options => '{"rejects": "short"}');
CREATE TABLE rejects (record bigint, error text, raw text);
SELECT records_loaded FROM csv_gpu_load_file('f', 't', NULL, rejects => 'rejects', only_check => true);
\set VERBOSITY terse
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', 'new_records', options => '{"columns": [null, "b"], "rejects": "rejects", "on_rewrite": "skip", "new_columns": "ignore"}');
SELECT csv_gpu_resume('j');
SELECT csv_gpu_pause('j');
\set VERBOSITY default

-- when pg_cron runs a job: in GMT
SELECT s AS schedule, csv_gpu_next_run(s, '2026-11-29 14:34:08+00') AT TIME ZONE 'GMT' AS next FROM unnest(ARRAY[
    '* * * * *', '34 14 * * *', '*/15 * * * *', ' 5,10-20/5  8-10 * * * ', '0 6 * * mon-FRI', '0 0 31 * *', '0 0 29 2 *', '0 0 13 * fri',
    '0 0 */13 * fri', '0 0 1 jan *', '0 0 * * 7', '@hourly', '@daily', '@weekly', '@monthly', '@yearly', '@reboot', '30 seconds', '0 0 $ * *', '0 0 30 2 *', '']) s;
-- or in a zone, whose 25th of October has 25 hours
SET cron.timezone = 'Europe/Berlin';
SELECT csv_gpu_next_run('30 2 * * *', '2026-10-24 12:00+00') AT TIME ZONE 'GMT', csv_gpu_next_run('0 6 * * *', '2026-07-01 12:00+00') AT TIME ZONE 'GMT';
RESET cron.timezone;

-- a crash would empty the target, but not the list of loaded files
CREATE UNLOGGED TABLE lost (LIKE t);
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 'lost', 'new_files');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 'lost', 'new_records');
CREATE TABLE parts (LIKE t) PARTITION BY RANGE (a);
ALTER TABLE parts ATTACH PARTITION lost DEFAULT;
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 'parts', 'new_files');
INSERT INTO csv_gpu_job (job, schedule, source, target, mode) SELECT 'lost ' || mode, '* * * * *', 'f', 'parts', mode
    FROM unnest('{new_files,new_records,append}'::text[]) mode;
SELECT r.job, r.records_loaded, r.error FROM csv_gpu_job j, csv_gpu_run_job(j.job) r;
DELETE FROM csv_gpu_job;
DELETE FROM csv_gpu_job_run;
DROP TABLE parts;
CREATE TEMPORARY TABLE lost (a int);
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 'lost', 'new_files');
DROP TABLE lost;

-- runs of jobs, each as one
CREATE VIEW runs AS SELECT job, filename, records_loaded, records_skipped, bytes_read, error FROM csv_gpu_job_run ORDER BY run;
INSERT INTO csv_gpu_job (job, schedule, source, target, mode)
    VALUES ('append', '* * * * *', 'f', 't', 'append'), ('replace', '* * * * *', 'f', 't', 'replace'), ('new', '* * * * *', 'f', 't', 'new_files');
CALL write_file('j1.csv', E'1,one\n2,two\nx,three\n');
SELECT job, records_loaded, records_skipped, error FROM csv_gpu_run_job('append');
SELECT job, records_loaded, records_skipped, error FROM csv_gpu_run_job('append');
SELECT count(*) FROM t;
SELECT job, records_loaded, records_skipped, error FROM csv_gpu_run_job('replace');
SELECT * FROM t;
-- a run that fails leaves all as it was, and is on record
ALTER FOREIGN TABLE f OPTIONS (ADD on_error 'stop');
SELECT job, records_loaded, records_skipped, error FROM csv_gpu_run_job('replace');
ALTER FOREIGN TABLE f OPTIONS (SET filename 'regress_csv/none*.csv');
SELECT job, records_loaded, records_skipped, error FROM csv_gpu_run_job('append');
SELECT * FROM t;
ALTER FOREIGN TABLE f OPTIONS (SET filename 'regress_csv/j*.csv', DROP on_error);
ALTER TABLE t ADD CONSTRAINT u UNIQUE (a) DEFERRABLE INITIALLY DEFERRED;
SELECT job, records_loaded, records_skipped, error FROM csv_gpu_run_job('append');
-- a column that has no namesake
CREATE TABLE named (other int);
INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES ('named', '* * * * *', 'f', 'named', 'append');
SELECT error FROM csv_gpu_run_job('named');
DELETE FROM csv_gpu_job WHERE job = 'named';
DROP TABLE named;
SET statement_timeout = '100ms';
CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$;
CREATE TRIGGER slow BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION slow();
SELECT job, records_loaded, records_skipped, error FROM csv_gpu_run_job('replace');
RESET statement_timeout;
DROP TRIGGER slow ON t;
ALTER TABLE t DROP CONSTRAINT u;
SELECT * FROM runs;
-- tables that are gone
CREATE TABLE gone (a int, b text);
CREATE FOREIGN TABLE gone_source (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/j*.csv');
INSERT INTO csv_gpu_job (job, schedule, source, target, mode)
    SELECT 'no target ' || mode, '* * * * *', 'f', 'gone', mode FROM unnest(ARRAY['append', 'replace', 'new_files']) mode;
INSERT INTO csv_gpu_job (job, schedule, source, target, mode)
    SELECT 'no source ' || mode, '* * * * *', 'gone_source', 't', mode FROM unnest(ARRAY['append', 'replace', 'new_files']) mode;
DROP TABLE gone;
DROP FOREIGN TABLE gone_source;
SET client_min_messages = error;
SELECT r.job, r.error FROM csv_gpu_job j, csv_gpu_run_job(j.job) r WHERE j.job LIKE 'no %' ORDER BY j.job;
RESET client_min_messages;
SELECT count(*) FROM t;
DELETE FROM csv_gpu_job WHERE job LIKE 'no %';

-- new files, each once
SET csv_gpu_test.file_age = 0; -- tests may see files older (test/inject): not here
TRUNCATE t;
DELETE FROM csv_gpu_job_run;
COPY (SELECT 1 WHERE false) TO PROGRAM 'touch -d "1 hour" regress_csv/j1.csv';
SELECT filename, settled FROM csv_gpu_files('f');
-- a file that is not settled is not nothing
SELECT filename, records_loaded, error, files_waiting FROM csv_gpu_run_job('new');
COPY (SELECT 1 WHERE false) TO PROGRAM 'cp -p regress_csv/j1.csv regress_csv/j2.csv; touch -d "-1 hour" regress_csv/j1.csv';
SELECT filename, records_loaded, error, files_waiting FROM csv_gpu_run_job('new');
SELECT filename, records_loaded, error, files_waiting FROM csv_gpu_run_job('new');
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/j2.csv';
SELECT filename, records_loaded, error, files_waiting FROM csv_gpu_run_job('new');
-- a file is settled a second after it was written, neither sooner nor later
DO $$
DECLARE
  written timestamptz;
  before timestamptz;
  is_settled boolean;
BEGIN
  FOR i IN 0 .. 40 LOOP
    written := clock_timestamp() - (0.8 + i * 0.01) * interval '1 second';
    EXECUTE format('COPY (SELECT 1 WHERE false) TO PROGRAM %L',
      format('touch -d @%s regress_csv/j1.csv', extract(epoch FROM written)));
    before := clock_timestamp();
    SELECT settled INTO STRICT is_settled FROM csv_gpu_files('f');
    IF is_settled AND clock_timestamp() - written < '1 second' OR NOT is_settled AND before - written >= '1 second' THEN
      RAISE 'settled: %, % to % after it was written', is_settled, before - written, clock_timestamp() - written;
    END IF;
  END LOOP;
END $$;
COPY (SELECT 1 WHERE false) TO PROGRAM 'touch -d "-1 hour" regress_csv/j1.csv';
DELETE FROM csv_gpu_job_file;
TRUNCATE t;
SELECT filename, records_loaded FROM csv_gpu_run_job('new');
CALL write_file('j2.csv', E'5,five\n');
CALL write_file('j3.csv', E'6,six,\n7,seven\n');
ALTER FOREIGN TABLE f OPTIONS (ADD on_error 'stop');
COPY (SELECT 1 WHERE false) TO PROGRAM 'touch -d "-1 hour" regress_csv/j2.csv regress_csv/j3.csv';
SELECT filename, records_loaded, error FROM csv_gpu_run_job('new');
-- what is renamed is known, what is written to is not; what failed is tried again
COPY (SELECT 1 WHERE false) TO PROGRAM 'mv regress_csv/j2.csv regress_csv/j9.csv; chmod 644 regress_csv/j9.csv';
CALL write_file('j1.csv', E'1,one\n');
ALTER FOREIGN TABLE f OPTIONS (DROP on_error);
COPY (SELECT 1 WHERE false) TO PROGRAM 'touch -d "-1 hour" regress_csv/j1.csv';
SELECT filename, records_loaded, records_skipped, error FROM csv_gpu_run_job('new');
SELECT * FROM t ORDER BY a;
SELECT job, filename FROM csv_gpu_job_file ORDER BY filename;
SELECT filename, settled FROM csv_gpu_files('f');
-- a file that is written to meanwhile is not loaded
CREATE FUNCTION append() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  COPY (SELECT '11,eleven') TO PROGRAM 'cat >> regress_csv/j5.csv';
  RETURN NEW;
END $$;
CREATE TRIGGER append BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION append();
CALL write_file('j5.csv', E'10,ten\n');
COPY (SELECT 1 WHERE false) TO PROGRAM 'touch -d "-1 hour" regress_csv/j5.csv';
SELECT filename, records_loaded, error FROM csv_gpu_run_job('new');
DROP TRIGGER append ON t;
SELECT count(*) FROM t WHERE a >= 10;
-- a file whose last record is not whole waits, until it has rested for a minute
SET csv_gpu_test.file_age = 0;
CREATE TABLE w (a int, b text);
CREATE FOREIGN TABLE wf (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/w*.csv', log_verbosity 'silent');
INSERT INTO csv_gpu_job (job, schedule, source, target, mode)
    VALUES ('w new', '* * * * *', 'wf', 'w', 'new_files'), ('w append', '* * * * *', 'wf', 'w', 'append'), ('w replace', '* * * * *', 'wf', 'w', 'replace');
CALL write_file('w1.csv', E'1,"a\nb"\n');
CALL write_file('w2.csv', E'2,one\n2,10000');
CALL write_file('w3.csv', E'3,"one\n');
CALL write_file('w4.csv', E'');
COPY (SELECT 1 WHERE false) TO PROGRAM 'touch -d "-3 seconds" regress_csv/w?.csv';
SELECT filename, settled, whole FROM csv_gpu_files('wf');
SELECT filename, records_loaded, error, files_waiting FROM csv_gpu_run_job('w new');
SELECT filename, records_loaded, error, files_waiting FROM csv_gpu_run_job('w append');
SELECT filename, records_loaded, error, files_waiting FROM csv_gpu_run_job('w replace');
SELECT * FROM w;
COPY (SELECT 1 WHERE false) TO PROGRAM 'touch -d "-61 seconds" regress_csv/w2.csv regress_csv/w3.csv regress_csv/w4.csv';
SELECT filename, records_loaded, error, files_waiting FROM csv_gpu_run_job('w new');
SELECT records_loaded, error, files_waiting FROM csv_gpu_run_job('w replace');
-- escapes, and other ends of records
CREATE FUNCTION is_whole(content bytea, options text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
  CALL write_file('e.csv', content);
  EXECUTE format('DROP FOREIGN TABLE IF EXISTS ef; CREATE FOREIGN TABLE ef (a text) SERVER csv OPTIONS (filename ''regress_csv/e.csv''%s)', options);
  RETURN (SELECT whole FROM csv_gpu_files('ef'));
END $$;
SET client_min_messages = warning;
SELECT CASE WHEN length(content) < 10 THEN content ELSE length(content) || '' END AS content, options, is_whole(convert_to(content, 'UTF8'), options) FROM (VALUES (E'a\r\n', ''), (E'a\r', ''), (E'a\r', $$, record_boundary 'lf'$$), (E'a\n', $$, record_boundary 'cr'$$),
    (E'"a""\n', ''), (E'"a""b"\n', ''), (E'"a\\"\n', $$, escape '\'$$), (E'"a\\""\n', $$, escape '\'$$), (E'"a\n', $$, multiline 'false'$$),
    (E'a\\\n', $$, format 'text'$$), (E'a\\\\\n', $$, format 'text'$$), (E'a"\n', $$, quote ''$$), (E'a\n', $$, compression 'gzip'$$),
    (E'a\r\nb\r', ''), (E'a\nb\r\r', ''), (E'a\n', $$, record_boundary 'crlf'$$), (E'a\r\n', $$, record_boundary 'crlf'$$),
    (E'#"\na\n', $$, comment '#'$$), (E'#"\na', $$, comment '#'$$), (E'#', $$, comment '#'$$), (E'5" pipe\n', ''), (E'5" pipe\n', $$, quoting 'postgres'$$),
    (E'a "b\n', $$, trim 'true'$$), (E'a;"b\n', $$, delimiter ';'$$), (E'a;"b\n', $$, delimiter '||'$$), (E'a||"b\n', $$, delimiter '||'$$),
    (repeat(E'a\n', 600000) || E'"b\n', ''), (repeat(E'a\n', 600000) || E'"b"\n', ''), (repeat(E'a\r', 600000), '')) v(content, options);
-- in other encodings
SELECT encoding, bytes, is_whole(decode(bytes, 'hex'), format(', encoding %L', encoding)) FROM (VALUES ('UTF-16', 'FFFE61000A00'), ('UTF-16', 'FFFE61000A'), ('UTF-16', 'FFFE6100'), ('UTF-16LE', '610022000A00'),
    ('UTF-16LE', '220061000A00'), ('UTF-16BE', '0061000A'), ('UTF-16BE', '000A0A00'), ('SJIS', '835C0A')) v(encoding, bytes);
RESET client_min_messages;
-- a pattern stays one for a job even if a file has exactly its name
COPY (SELECT 1 WHERE false) TO PROGRAM 'printf "9,mine\n" > "regress_csv/w*.csv"; touch -d "-1 hour" regress_csv/w*.csv';
SELECT * FROM wf;
SELECT filename, records_loaded, error FROM csv_gpu_run_job('w new');
SELECT records_loaded, error FROM csv_gpu_run_job('w replace');
DELETE FROM csv_gpu_job WHERE job LIKE 'w %';
DELETE FROM csv_gpu_job_file WHERE job LIKE 'w %';
DELETE FROM csv_gpu_job_run WHERE job LIKE 'w %';
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/w*.csv regress_csv/e.csv';
DROP FOREIGN TABLE wf, ef;
DROP TABLE w;
DROP FUNCTION is_whole;
-- nor is one that is written to while another is loaded
CREATE FUNCTION append_next() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT EXISTS (SELECT FROM t WHERE a = 13) THEN
    COPY (SELECT '12,twelve') TO PROGRAM 'cat >> regress_csv/j6.csv';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER append_next AFTER INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION append_next();
CALL write_file('j6.csv', E'13,thirteen\n');
COPY (SELECT 1 WHERE false) TO PROGRAM 'touch -d "-1 hour" regress_csv/j5.csv regress_csv/j6.csv';
SELECT filename, records_loaded, error FROM csv_gpu_run_job('new');
DROP TRIGGER append_next ON t;
SELECT a FROM t WHERE a >= 10 ORDER BY a;
DELETE FROM t WHERE a >= 10;
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/j5.csv regress_csv/j6.csv';
-- a file of two names is one
COPY (SELECT 1 WHERE false) TO PROGRAM 'printf "12,twelve\n" > regress_csv/j6.csv; touch -d "-1 hour" regress_csv/j6.csv; ln -s j6.csv regress_csv/j7.csv; ln regress_csv/j6.csv regress_csv/j8.csv';
SELECT filename, records_loaded, error FROM csv_gpu_run_job('new');
SELECT filename, records_loaded, error FROM csv_gpu_run_job('new');
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/j[678].csv';
-- files that cannot be looked at leave the others alone
COPY (SELECT 1 WHERE false) TO PROGRAM 'printf "12,twelve\n" > regress_csv/j6.csv; touch -d "-1 hour" regress_csv/j6.csv; ln -s nowhere regress_csv/j4.csv; ln -s j7.csv regress_csv/j7.csv; ln -s nowhere regress_csv/j8.csv';
SELECT * FROM csv_gpu_files('f') WHERE settled IS NULL;
SET client_min_messages = error;
SELECT filename, records_loaded, split_part(split_part(error, E'\n', 1), ': ', 1) AS error, files_waiting FROM csv_gpu_run_job('new');
RESET client_min_messages;
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/j[4678].csv';
-- nothing matches: nothing is new
ALTER FOREIGN TABLE f OPTIONS (SET filename 'regress_csv/none*.csv');
SELECT * FROM csv_gpu_run_job('new');
ALTER FOREIGN TABLE f OPTIONS (SET filename 'regress_csv/j*.csv');
-- one file by itself: one of the table's only
SELECT records_loaded, records_skipped, bytes_read FROM csv_gpu_load_file('f', 't', 'regress_csv/j9.csv');
SELECT csv_gpu_load_file('f', 't', '/etc/passwd');
SELECT csv_gpu_load_file('f', 't', '/nosuchfile');
SELECT csv_gpu_load_file('f', 't', 'regress_csv/jnone.csv');
SELECT csv_gpu_load_file('f', 't', 'regress_csv/./j9.csv');
COPY (SELECT 1 WHERE false) TO PROGRAM 'mkdir regress_csv/jd.csv';
SELECT csv_gpu_load_file('f', 't', 'regress_csv/jd.csv');
COPY (SELECT 1 WHERE false) TO PROGRAM 'rmdir regress_csv/jd.csv; mkfifo regress_csv/jd.csv';
SET statement_timeout = '10s';
SELECT csv_gpu_load_file('f', 't', 'regress_csv/jd.csv');
SELECT job, error FROM csv_gpu_run_job('replace');
SELECT filename, error FROM csv_gpu_run_job('new');
RESET statement_timeout;
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/jd.csv';
-- no longer than a path may be
SELECT csv_gpu_load_file('f', 't', 'regress_csv/' || repeat('j', 1100000));
-- and its size is what progress is shown of
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE NOTICE '% bytes in all', (SELECT bytes_total FROM pg_stat_progress_copy WHERE pid = pg_backend_pid());
  RETURN NEW;
END $$;
CREATE TRIGGER tell BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION tell();
SELECT bytes_read FROM csv_gpu_load_file('f', 't', 'regress_csv/j9.csv');
DROP TRIGGER tell ON t;
SELECT count(*) FROM f;
-- one within another, by a trigger
CREATE TABLE other (LIKE t);
CREATE FUNCTION load_other() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM csv_gpu_load_file('f', 'other', 'regress_csv/j1.csv');
  RETURN NULL;
END $$;
CREATE TRIGGER other BEFORE INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION load_other();
SELECT records_loaded, records_skipped FROM csv_gpu_load_file('f', 't', 'regress_csv/j9.csv');
DROP TRIGGER other ON t;
SELECT count(*) FROM other;
-- a temporary target, behind a table of its name
CREATE TEMP TABLE hidden (a int, b text);
CREATE TABLE hidden (a int, b text);
INSERT INTO csv_test.hidden VALUES (1, 'stays');
INSERT INTO pg_temp.hidden VALUES (1, 'goes');
INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES ('hidden', '* * * * *', 'f', 'pg_temp.hidden', 'replace');
SET search_path = csv_test, public, pg_temp;
SELECT error FROM csv_gpu_run_job('hidden');
SET search_path = csv_test, public;
DELETE FROM csv_gpu_job WHERE job = 'hidden';
SELECT count(*), bool_or(b = 'goes') AS any_old FROM pg_temp.hidden;
SELECT * FROM csv_test.hidden;
SELECT csv_gpu_schedule(repeat('j', 51), '* * * * *', 'f', 't');

-- triggers see the caller's search path
CREATE TABLE seen (path text);
CREATE FUNCTION note_path() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES (current_setting('search_path')); RETURN NULL; END $$;
CREATE TRIGGER note AFTER INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION note_path();
SELECT error FROM csv_gpu_run_job('append');
SELECT * FROM seen;
SHOW search_path;
DROP TRIGGER note ON t;

-- options, and each load in a transaction of its own
DELETE FROM csv_gpu_job_run;
CREATE TABLE o (a int, b text, c text DEFAULT 'default');
CREATE FOREIGN TABLE of (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/o*.csv', log_verbosity 'silent');
CREATE TABLE failures (at timestamptz DEFAULT now(), job text, state text, error text);
INSERT INTO csv_gpu_job (job, schedule, source, target, mode, keep_runs)
    VALUES ('o new', '* * * * *', 'of', 'o', 'new_files', 5), ('o records', '* * * * *', 'of', 'o', 'new_records', NULL);
INSERT INTO csv_gpu_job_option (job, options, on_failure) SELECT job, '{"columns": ["a", null], "rejects": "csv_test.rejects"}',
    'INSERT INTO failures (job, state, error) SELECT job, state, error FROM csv_gpu_job_run ORDER BY run DESC LIMIT 1'
    FROM csv_gpu_job WHERE job LIKE 'o %';
CALL write_file('o1.csv', E'1,one\n2,two\nx,three\n');
CALL write_file('o2.csv', E'x;1\ny;2\n');
CALL write_file('o3.csv', E'3,three\n');
COPY (SELECT 1 WHERE false) TO PROGRAM 'touch -d "-1 hour" regress_csv/o*.csv';
CALL csv_gpu_run('o new');
CREATE VIEW states AS SELECT job, filename, records_loaded AS loaded, records_skipped AS skipped, state, error FROM csv_gpu_job_run ORDER BY run;
SELECT * FROM states;
SELECT * FROM o;
SELECT * FROM rejects;
SELECT job, state, error FROM failures;
SELECT filename FROM csv_gpu_job_file WHERE job = 'o new' ORDER BY 1;
BEGIN;
CALL csv_gpu_run('o new');
ROLLBACK;
-- its own error is not the run's end
UPDATE csv_gpu_job_option SET on_failure = 'SELECT 1/0' WHERE job = 'o new';
CALL csv_gpu_run('o new');
SELECT * FROM states;
-- no more rows than asked; files stay known
CALL csv_gpu_run('o new');
CALL csv_gpu_run('o new');
SELECT filename, loaded, state FROM states;
SELECT filename FROM csv_gpu_job_file WHERE job = 'o new' ORDER BY 1;
-- a run that was killed, and one in a process that goes on with something else
INSERT INTO csv_gpu_job_run (job, filename, started, pid) VALUES ('o new', 'killed', now(), 0), ('o new', 'old', '2020-01-01', pg_backend_pid());
SELECT running FROM csv_gpu_jobs WHERE job = 'o new';
CALL csv_gpu_run('o new');
SELECT * FROM states;
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/o2.csv';
-- a cancel ends the run, and leaves what was loaded before
CALL write_file('o4.csv', E'4,four\n');
CALL write_file('o5.csv', E'5,five\n');
CALL write_file('o6.csv', E'6,six\n');
COPY (SELECT 1 WHERE false) TO PROGRAM 'touch -d "-1 hour" regress_csv/o*.csv';
DELETE FROM csv_gpu_job_run;
CREATE FUNCTION slow_at_5() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.a = 5 THEN PERFORM pg_sleep(60); END IF; RETURN NEW; END $$;
CREATE TRIGGER slow BEFORE INSERT ON o FOR EACH ROW EXECUTE FUNCTION slow_at_5();
SET statement_timeout = '1s';
CALL csv_gpu_run('o new');
RESET statement_timeout;
DROP TRIGGER slow ON o;
SELECT * FROM states;
SELECT count(*) FROM o WHERE a IN (4, 5, 6);
CALL csv_gpu_run('o new');
SELECT filename, loaded, state FROM states;
-- a run of new records that finds none leaves no row, but is a success
DELETE FROM csv_gpu_job_run;
CALL csv_gpu_run('o records');
SELECT * FROM states;
UPDATE csv_gpu_job SET last_success = '2020-01-01';
CALL csv_gpu_run('o records');
SELECT count(*) FROM csv_gpu_run_job('o records');
SELECT count(*) FROM states;
SELECT job, active, running, last_success > now() - interval '1 minute' AS success, last_error, next_run, records_loaded, bytes_read
    FROM csv_gpu_jobs WHERE job LIKE 'o %';
-- frozen rows after TRUNCATE
INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES ('o replace', '* * * * *', 'of', 'o', 'replace');
INSERT INTO csv_gpu_job_option (job, options) VALUES ('o replace', '{"freeze": true}');
CALL csv_gpu_run('o replace');
SELECT state, error, loaded FROM states WHERE job = 'o replace';
SELECT csv_gpu_unschedule('o replace');
DELETE FROM csv_gpu_job_run WHERE job = 'o replace';
-- what has been dropped
DROP TABLE rejects;
CALL csv_gpu_run('o records');
SELECT state, error FROM states;
SELECT job, last_error FROM csv_gpu_jobs WHERE job LIKE 'o %';
-- no user's rows keep others from their view
BEGIN;
INSERT INTO csv_gpu_job_run (job, started, duration, records_loaded) SELECT 'o records', now(), '1 s', 9223372036854775807 FROM generate_series(1, 2);
INSERT INTO csv_gpu_job_run (job, started, duration) VALUES ('o records', '294276-12-31', '1 year'), ('o records', 'infinity', '1 year');
UPDATE csv_gpu_job SET last_success = NULL, schedule = repeat('0-59,', 150) || '0 ' || repeat('0-23,', 400000) || '0 * * *';
SET LOCAL statement_timeout = '10 s';
SELECT last_success = now() + interval '1 s' AS success, records_loaded FROM csv_gpu_jobs WHERE job = 'o records';
SELECT csv_gpu_next_run(repeat('0-59,', 100) || '0 ' || repeat('0-23,', 100) || '0 * * *', '2026-01-01 UTC');
ROLLBACK;
-- members of pg_monitor see neither options nor on_failure
CREATE ROLE regress_csv_monitor IN ROLE pg_monitor;
GRANT USAGE ON SCHEMA csv_test TO regress_csv_monitor;
SET ROLE regress_csv_monitor;
SELECT (SELECT count(*) FROM csv_gpu_job) > 0 AS jobs, (SELECT count(*) FROM csv_gpu_jobs) > 0 AS states, (SELECT count(*) FROM csv_gpu_job_option) AS options;
RESET ROLE;
DROP OWNED BY regress_csv_monitor;
DROP ROLE regress_csv_monitor;
SET client_min_messages = warning;
SELECT csv_gpu_unschedule(job) FROM csv_gpu_job WHERE job LIKE 'o %';
RESET client_min_messages;
SELECT count(*) FROM csv_gpu_job_option;
DELETE FROM csv_gpu_job_run;
DROP VIEW states;
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/o*.csv';

-- each user's own
CREATE ROLE regress_csv_job1;
CREATE ROLE regress_csv_job2;
GRANT USAGE ON SCHEMA csv_test TO regress_csv_job1, regress_csv_job2;
GRANT SELECT ON f, t TO regress_csv_job1;
SET ROLE regress_csv_job1;
SELECT count(*) FROM csv_gpu_job;
SELECT count(*) FROM csv_gpu_job_run;
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't');
INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES ('append', '* * * * *', 'f', 't', 'append');
SELECT job, records_loaded, error FROM csv_gpu_run_job('append');
INSERT INTO csv_gpu_job (owner, job, schedule, source, target, mode) VALUES ('pg_monitor', 'x', '* * * * *', 'f', 't', 'append');
UPDATE csv_gpu_job SET owner = 'pg_monitor';
UPDATE csv_gpu_job SET description = 'mine' RETURNING job;
INSERT INTO csv_gpu_job_file (owner, job, identity, filename, run) VALUES ('pg_monitor', 'new', 'x', 'x', 1);
INSERT INTO csv_gpu_job_run (owner, job, started, duration) VALUES ('pg_monitor', 'new', now(), '1s');
RESET ROLE;
GRANT INSERT ON t TO regress_csv_job1;
SET ROLE regress_csv_job1;
SELECT owner, job, records_loaded, error FROM csv_gpu_run_job('append');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't', 'replace');
SET ROLE regress_csv_job2;
SELECT count(*) FROM csv_gpu_job;
SELECT csv_gpu_run_job('append');
SELECT csv_gpu_unschedule('append');
SELECT * FROM csv_gpu_files('f');
SELECT csv_gpu_load_file('f', 't', 'regress_csv/j1.csv');
SELECT csv_gpu_schedule('j', '* * * * *', 'f', 't');
-- what a role forgets is its own, also in a function of another's
RESET ROLE;
INSERT INTO csv_gpu_job_file (job, identity, filename, run) VALUES ('append', 'x', 'x.csv', 1);
SET ROLE regress_csv_job1;
INSERT INTO csv_gpu_job_run (job, started, duration) VALUES ('append', '2020-01-01', '1s'), ('other', '2020-01-01', '1s');
INSERT INTO csv_gpu_job_file (job, identity, filename, run) VALUES ('append', 'x', 'x.csv', 1), ('append', 'y', 'y.csv', 1), ('other', 'x', 'x.csv', 1);
CREATE VIEW pg_temp.kept AS SELECT owner, 'run ' || job AS what, started < '2021-01-01' AS old, NULL AS filename FROM csv_gpu_job_run
    UNION ALL SELECT owner, 'file ' || job, NULL, filename FROM csv_gpu_job_file;
SELECT csv_gpu_forget_runs('append', '2021-01-01');
SELECT csv_gpu_forget_files('append', 'x.csv');
SELECT what, old, filename FROM kept ORDER BY 1, 2, 3;
SELECT csv_gpu_forget_runs('append');
SELECT csv_gpu_forget_files('append');
SELECT what, old, filename FROM kept ORDER BY 1, 2, 3;
SELECT csv_gpu_forget_runs(NULL);
SELECT csv_gpu_forget_files('none');
CREATE FUNCTION pg_temp.forget_other() RETURNS void LANGUAGE sql SECURITY DEFINER
    AS $$ SELECT csv_gpu_forget_runs('other'); SELECT csv_gpu_forget_files('other') $$;
DROP VIEW pg_temp.kept;
RESET ROLE;
INSERT INTO csv_gpu_job_run (job, started, duration) VALUES ('other', '2020-01-01', '1s');
SELECT pg_temp.forget_other();
SELECT owner = current_user::regrole AS mine, count(*) FROM csv_gpu_job_run WHERE job = 'other' GROUP BY 1;
SELECT owner = current_user::regrole AS mine, job, filename FROM csv_gpu_job_file WHERE filename = 'x.csv';
SELECT csv_gpu_forget_runs('other'), csv_gpu_forget_files('append');
SELECT count(*) FROM csv_gpu_job_run WHERE job = 'other';
SELECT owner = current_user::regrole AS mine, job FROM csv_gpu_job ORDER BY mine, job;
-- a job is its role's, whatever the role's name, and whoever gets that name
ALTER ROLE regress_csv_job1 RENAME TO "regress_csv 'Job' ""1""";
CREATE ROLE regress_csv_job1;
GRANT USAGE ON SCHEMA csv_test TO regress_csv_job1;
GRANT SELECT ON f TO regress_csv_job1;
GRANT INSERT ON t TO regress_csv_job1;
SET ROLE regress_csv_job1;
SELECT (SELECT count(*) FROM csv_gpu_job) AS jobs, (SELECT count(*) FROM csv_gpu_job_run) AS runs;
SELECT csv_gpu_run_job('append');
SELECT csv_gpu_unschedule('append');
RESET ROLE;
SET ROLE "regress_csv 'Job' ""1""";
SELECT owner, job, records_loaded, error FROM csv_gpu_run_job('append');
SELECT DISTINCT owner, job FROM csv_gpu_job_run;
SELECT csv_gpu_unschedule('append');
RESET ROLE;
SELECT count(*) FROM csv_gpu_job WHERE job = 'append';
SELECT csv_gpu_unschedule('new');
SELECT count(*) FROM csv_gpu_job_file;

-- in a schema whose name wants quotes
DROP TABLE t;
DROP VIEW runs;
SET client_min_messages = warning;
DROP EXTENSION csv_gpu_fdw CASCADE;
RESET client_min_messages;
CREATE SCHEMA "Odd Schema";
-- with namesakes of what the script uses
CREATE FUNCTION "Odd Schema".quote_ident(name) RETURNS text LANGUAGE sql AS $$ SELECT 'regress_csv_job1' $$;
CREATE FUNCTION "Odd Schema".always(regrole, regrole) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;
CREATE OPERATOR "Odd Schema".= (FUNCTION = "Odd Schema".always, LEFTARG = regrole, RIGHTARG = regrole);
CREATE EXTENSION csv_gpu_fdw SCHEMA "Odd Schema";
-- and of its functions: with no argument that may be left out, and with other types
DO $$
DECLARE
  function record;
  types text;
BEGIN
  FOR function IN SELECT p.proname, p.pronargs - p.pronargdefaults AS nrequired,
        string_to_array(oidvectortypes(p.proargtypes), ', ') AS types
      FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid JOIN pg_proc p ON p.oid = d.objid
      WHERE d.classid = 'pg_proc'::regclass AND d.deptype = 'e' AND e.extname = 'csv_gpu_fdw' AND p.pronargs > 0
        AND p.proname <> 'csv_gpu_fdw_validator' LOOP
    FOREACH types IN ARRAY ARRAY[array_to_string(function.types[:function.nrequired], ', '),
        replace(replace(array_to_string(function.types, ', '), 'regclass', 'oid'), 'text', 'varchar'),
        replace(replace(replace(array_to_string(function.types[:function.nrequired], ', '), 'text[]', 'anyarray'), 'regclass', 'anyelement'), 'text', 'anyelement')] LOOP
      BEGIN
        EXECUTE format('CREATE FUNCTION "Odd Schema".%I(%s) RETURNS integer LANGUAGE plpgsql AS %L',
          function.proname, types, $x$BEGIN RAISE 'called'; END$x$);
      EXCEPTION WHEN duplicate_function THEN
      END;
    END LOOP;
  END LOOP;
END $$;
SELECT p.proname, count(*) FROM pg_proc p WHERE p.pronamespace = '"Odd Schema"'::regnamespace AND p.prosrc ~ 'called' GROUP BY 1 ORDER BY 1;
CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw;
CREATE FOREIGN TABLE f (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/j*.csv', log_verbosity 'silent');
CREATE TABLE t (a int, b text);
INSERT INTO "Odd Schema".csv_gpu_job (job, schedule, source, target, mode)
    VALUES ('it''s "new"', '* * * * *', 'f', 't', 'new_files');
COPY (SELECT 1 WHERE false) TO PROGRAM 'touch -d "-1 hour" regress_csv/j*.csv';
SELECT filename, records_loaded, error FROM "Odd Schema".csv_gpu_run_job('it''s "new"');
INSERT INTO "Odd Schema".csv_gpu_job (job, schedule, source, target, mode)
    VALUES ('append', '* * * * *', 'f', 't', 'append'), ('replace', '* * * * *', 'f', 't', 'replace');
SELECT records_loaded, error FROM "Odd Schema".csv_gpu_run_job('append');
SELECT records_loaded, error FROM "Odd Schema".csv_gpu_run_job('replace');
SET search_path = "Odd Schema", csv_test, public, pg_catalog;
INSERT INTO "Odd Schema".csv_gpu_job_run (job, started, pid) VALUES ('replace', now(), 0);
CALL "Odd Schema".csv_gpu_run('replace');
SET search_path = csv_test, public;
SELECT records_loaded, state FROM "Odd Schema".csv_gpu_job_run ORDER BY run DESC LIMIT 2;
SELECT job, running, records_loaded FROM "Odd Schema".csv_gpu_jobs;
\set VERBOSITY terse
SELECT "Odd Schema".csv_gpu_schedule('j', '30 * * * * ?', 'f'::regclass, 't'::regclass, 'append'::text, NULL::text, NULL::jsonb, 1000, NULL::text);
SELECT "Odd Schema".csv_gpu_schedule('j', '* * * * *', 'f'::regclass, 't'::regclass, 'new_files'::text, NULL::text, NULL::jsonb, 1000, NULL::text);
SELECT "Odd Schema".csv_gpu_distribute('f'::regclass, 'x'::text, '{}'::text[], NULL::text[]);
SELECT "Odd Schema".csv_gpu_distribute('f'::regclass, 'x'::text, '{n}'::text[], NULL::text[]);
SELECT "Odd Schema".csv_gpu_distribute_citus('f'::regclass, 'x'::text);
\set VERBOSITY default
GRANT USAGE ON SCHEMA "Odd Schema" TO regress_csv_job1;
SET ROLE regress_csv_job1;
SELECT count(*) FROM "Odd Schema".csv_gpu_job;
RESET ROLE;
SELECT "Odd Schema".csv_gpu_unschedule('it''s "new"');
SET client_min_messages = warning;
DROP EXTENSION csv_gpu_fdw CASCADE;
DROP SCHEMA "Odd Schema" CASCADE;
RESET client_min_messages;
CREATE EXTENSION csv_gpu_fdw SCHEMA public;

DROP OWNED BY regress_csv_job1, regress_csv_job2, "regress_csv 'Job' ""1""";
DROP ROLE regress_csv_job1, regress_csv_job2, "regress_csv 'Job' ""1""";
\i :teardown
