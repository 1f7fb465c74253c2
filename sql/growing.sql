--
-- Files that grow: the option "growing".
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup
CREATE PROCEDURE append_file(name text, content text) LANGUAGE plpgsql AS $$
BEGIN
  CALL write_file(name, pg_read_binary_file('regress_csv/' || name) || convert_to(content, 'UTF8'));
END $$;
CALL write_file('growing.csv', E'a,b\n1,one\n2,"two\n2"\n3,thr');
CREATE FOREIGN TABLE growing (a int, b text, n bigint OPTIONS (virtual 'record'), l bigint OPTIONS (virtual 'line'))
	SERVER csv OPTIONS (filename 'regress_csv/growing.csv', header 'match', growing 'true', on_error 'stop');
-- half a record is not there yet
SELECT * FROM growing;
SELECT count(*), sum(a) FROM growing;
SELECT * FROM csv_gpu_errors('growing');
SELECT explain('SELECT a FROM growing', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');
CALL append_file('growing.csv', E'ee\n"4\n');
SELECT * FROM growing;
CALL append_file('growing.csv', E'",5\r');
SELECT a, b FROM growing;
CALL append_file('growing.csv', E'\n');
SELECT a, b FROM growing;
-- half a header
CALL write_file('growing.csv', 'a,');
SELECT * FROM growing;
CALL append_file('growing.csv', E'b\n');
SELECT * FROM growing;
ALTER FOREIGN TABLE growing OPTIONS (SET header 'true', ADD comment '#');
CALL write_file('growing.csv', E'# a com');
SELECT * FROM growing;
CALL append_file('growing.csv', E'ment\na,b\n#5,five');
SELECT * FROM growing;
CALL append_file('growing.csv', E'\n6,six\n');
SELECT * FROM growing;
-- without the option
ALTER FOREIGN TABLE growing OPTIONS (SET growing 'false', SET on_error 'skip');
CALL write_file('growing.csv', E'a,b\n1,one\n3');
SELECT a FROM growing;
ALTER FOREIGN TABLE growing OPTIONS (SET growing 'true');
SELECT a FROM growing;
-- line ends that may not be complete
CREATE FOREIGN TABLE growing_end (a text, b text) SERVER csv OPTIONS (filename 'regress_csv/growing.csv', growing 'true');
CALL write_file('growing.csv', E'1,one\r');
SELECT * FROM growing_end;
CALL append_file('growing.csv', E'2,two\r');
SELECT * FROM growing_end;
CALL write_file('growing.csv', E'1,one\r\n2,two\r\r');
SELECT * FROM growing_end;
CALL append_file('growing.csv', E'\n');
SELECT * FROM growing_end;
-- lone CRs may be of a value while no LF is there; a quote behind one may open a field
CALL write_file('growing.csv', E'1,o\r"ne,x\n2",x\r3,x');
SELECT * FROM growing_end;
SELECT count(*) FROM growing_end;
ALTER FOREIGN TABLE growing_end OPTIONS (ADD record_boundary 'cr');
SELECT * FROM growing_end;
ALTER FOREIGN TABLE growing_end OPTIONS (DROP record_boundary);
-- not beyond the bytes that are searched
CALL write_file('growing.csv', E'1,one\r2,' || repeat('x', 1048576 - 9) || E'\r');
SELECT a, length(b) FROM growing_end;
ALTER FOREIGN TABLE growing_end OPTIONS (ADD chunk_size '64kB', ADD parallel_workers '2');
SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET parallel_leader_participation = off;
SELECT explain('SELECT * FROM growing_end');
SELECT a, length(b) FROM growing_end;
RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET parallel_leader_participation;
ALTER FOREIGN TABLE growing_end OPTIONS (DROP chunk_size, DROP parallel_workers);
CALL append_file('growing.csv', E'3,thre\r');
SELECT a, length(b) FROM growing_end;
CALL append_file('growing.csv', E'4,f\n5\r6,s');
SELECT a, length(b) FROM growing_end;
ALTER FOREIGN TABLE growing_end OPTIONS (ADD record_boundary 'crlf');
CALL write_file('growing.csv', E'1,one\r\n2,two\r\n3,three\n\r');
SELECT * FROM growing_end;
ALTER FOREIGN TABLE growing_end OPTIONS (SET record_boundary 'auto', ADD delimiter '||');
CALL write_file('growing.csv', E'1||one\n2|');
SELECT * FROM growing_end;
-- the text format, with half an end of data
ALTER FOREIGN TABLE growing_end OPTIONS (SET delimiter '|', ADD format 'text');
CALL write_file('growing.csv', E'1|one\\\nline\n2|two\\\n');
SELECT * FROM growing_end;
CALL append_file('growing.csv', E'\n\\.\n');
SELECT * FROM growing_end;
-- too long
ALTER FOREIGN TABLE growing_end OPTIONS (DROP format, ADD max_record_size '20');
CALL write_file('growing.csv', E'1|one\n"2|two\n3|three\n4|four\n5|fi');
SELECT * FROM growing_end;
-- other encodings
CREATE FOREIGN TABLE growing_wide (a text, b text) SERVER csv OPTIONS (filename 'regress_csv/growing.csv', growing 'true', encoding 'UTF16');
CALL write_file('growing.csv', bytea '\x61002c0062000a0063002c0064000a');
SELECT * FROM growing_wide;
CALL write_file('growing.csv', bytea '\x61002c0062000a0063002c0064000a00');
SELECT * FROM growing_wide;
CALL write_file('growing.csv', bytea '\x61002c0062000d000a');
SELECT * FROM growing_wide;
CALL write_file('growing.csv', bytea '\x61002c0062000d000a0063002c0064000d000a');
SELECT * FROM growing_wide;
ALTER FOREIGN TABLE growing_wide OPTIONS (SET encoding 'SJIS');
CALL write_file('growing.csv', bytea '\x612c620a632c835c0a642c83');
SELECT * FROM growing_wide;
-- compressed files end with their last complete member or frame
CREATE FOREIGN TABLE growing_gz (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/growing.csv.gz', growing 'true', on_error 'stop');
\set gz1 '1f8b080000000000020333d4c9cf4be532d22929cfe732d629c90000f0ec0e6310000000'
\set gz2 '1f8b08000000000002032b4a4de532d149cb2f2de232d54903003aa59ffd0e000000'
\set gz3 '1f8b0800000000000203cb2c4be502008b0549cf04000000'
CALL write_file('growing.csv.gz', decode(:'gz1', 'hex'));
SELECT * FROM growing_gz;
CALL write_file('growing.csv.gz', decode(:'gz1' || left(:'gz2', -10), 'hex'));
SELECT * FROM growing_gz;
CALL write_file('growing.csv.gz', decode(:'gz1' || :'gz2' || '0000' || left(:'gz3', 6), 'hex'));
SELECT * FROM growing_gz;
CALL write_file('growing.csv.gz', decode(:'gz1' || :'gz2' || :'gz3', 'hex'));
SELECT * FROM growing_gz;
CALL write_file('growing.csv.gz', decode(left(:'gz1', 10), 'hex'));
SELECT * FROM growing_gz;
-- damage is an error
CALL write_file('growing.csv.gz', decode(:'gz1' || repeat('1234567890', 4), 'hex'));
SELECT * FROM growing_gz;
-- a pattern: an unterminated record is a record if the file has rested, and is not the newest
CREATE FOREIGN TABLE growing_all (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/grow-*.csv', growing 'true');
CALL write_file('grow-1.csv', E'1,one\n2,two');
CALL write_file('grow-2.csv', E'3,three\n4');
SELECT a FROM growing_all;
COPY (SELECT 1 WHERE false) TO PROGRAM 'touch -d "1 hour ago" regress_csv/grow-1.csv';
SELECT a FROM growing_all;
COPY (SELECT 1 WHERE false) TO PROGRAM 'touch -d "2 hours ago" regress_csv/grow-2.csv';
SELECT a FROM growing_all;
-- what does not go together
ALTER FOREIGN TABLE growing OPTIONS (ADD footer_rows '1');
CREATE FOREIGN TABLE wrong (a int) SERVER csv OPTIONS (program 'cat /dev/null', growing 'true');
CREATE FOREIGN TABLE wrong (a int) SERVER csv OPTIONS (filename 'f', growing 'maybe');

-- csv_gpu_load() of new records
CREATE FOREIGN TABLE log (a int, b text, n bigint OPTIONS (virtual 'record'), l int OPTIONS (virtual 'line'))
	SERVER csv OPTIONS (filename 'regress_csv/log', header 'true');
CREATE TABLE target (i bigint GENERATED ALWAYS AS IDENTITY, a int, b text, n bigint, l int);
CREATE TABLE rejects (record bigint, line bigint, byte_offset bigint, error text, raw text);
CREATE FUNCTION load_log(on_rewrite text DEFAULT 'error', OUT records_loaded bigint, OUT records_skipped bigint, OUT bytes_read bigint)
LANGUAGE sql AS $$
  SELECT records_loaded, records_skipped, bytes_read FROM csv_gpu_load('log', 'target', rejects => 'rejects', mode => 'new_records', on_rewrite => $1)
$$;
CREATE FUNCTION shell(command text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('COPY (SELECT 1 WHERE false) TO PROGRAM %L', 'cd regress_csv && ' || command);
END $$;
CREATE VIEW positions AS
  SELECT source, target, filename, bytes_read, bytes_behind, records_read, state FROM csv_gpu_positions ORDER BY source::text, filename, state;
SET client_min_messages = warning;
CALL write_file('log', E'a,b\n1,one\n2,"two\n2"\n3,th');
SELECT * FROM load_log();
SELECT * FROM load_log();
SELECT * FROM positions;
SELECT shell($$printf 'ree\n4,"fo' >>log$$);
SELECT * FROM load_log();
SELECT shell($$printf 'ur\n4",x\nbad\n5,five\n' >>log$$);
SELECT * FROM positions;
SELECT * FROM load_log();
TABLE target ORDER BY i;
TABLE rejects;
-- a transaction that fails leaves nothing
BEGIN;
SELECT shell($$printf '6,six\n' >>log$$);
SELECT * FROM load_log();
SELECT bytes_read, records_read FROM positions;
ROLLBACK;
SELECT bytes_read, records_read FROM positions;
SELECT * FROM load_log();
-- rewritten
SELECT shell($$printf 'a,b\n1,one\n' >log$$);
SELECT * FROM load_log();
SELECT state FROM positions;
SELECT * FROM load_log('restart');
SELECT * FROM load_log();
SELECT shell($$printf 'a,b\n7,x\n8,eight\n9,ni' >log$$);
SELECT * FROM load_log();
SELECT state FROM positions;
SELECT * FROM load_log('skip');
SELECT shell($$printf 'ne\n' >>log$$);
SELECT * FROM load_log();
SELECT a, b, n, l FROM target ORDER BY i OFFSET 5;
-- rotation: renamed, copied and truncated, dated names, removed
ALTER FOREIGN TABLE log OPTIONS (SET filename 'regress_csv/log*');
TRUNCATE target;
SELECT shell($$printf '10,ten\n' >>log && mv log log.1 && printf 'a,b\n11,eleven\n' >log$$);
SELECT * FROM load_log();
SELECT * FROM positions;
SELECT shell($$printf '12,twelve\n' >>log && mv log.1 log.2 && cp log log.1 && printf 'a,b\n13,thirteen\n' >log$$);
SELECT * FROM load_log();
SELECT shell($$printf '14,fourteen\n' >>log && cp -p log log.9$$);
SELECT * FROM load_log();
SELECT shell($$rm log && printf 'a,b\n15,fifteen\n' >log-2026-11-28 && ln log-2026-11-28 log-link$$);
SELECT * FROM load_log();
SELECT shell($$rm log.*$$);
SELECT * FROM load_log();
SELECT filename, bytes_behind, records_read, state FROM positions;
SELECT shell($$mv log-2026-11-28 other && mv log-link log-30 && printf '16,sixteen\n' >>log-30 && mv other log-31$$);
SELECT * FROM load_log();
SELECT a, b, n, l FROM target ORDER BY i;
-- a copy that is being made
SELECT shell($$rm log*; printf 'a,b\n17,seventeen\n18,eighteen\n' >log.a && printf 'a,b\n17,seven' >log.b$$);
SELECT * FROM load_log();
SELECT filename FROM positions WHERE state = 'open';
SELECT shell($$cp log.a log.b && printf '' >log.a$$);
SELECT * FROM load_log();
SELECT filename, records_read FROM positions WHERE state = 'open';
-- a copy that is complete, of a file that is truncated then
SELECT shell($$printf 'a,b\n18,same\n' >log.c && cp log.c log.d$$);
SELECT * FROM load_log();
SELECT shell($$printf '' >log.c$$);
SELECT * FROM load_log();
-- a file that cannot be examined
SELECT shell($$ln -s log.e log.e$$);
SELECT * FROM load_log();
SELECT shell($$rm log.e$$);
-- the last record of a file that has rested, and is not the newest
SELECT shell($$printf '19,nineteen' >>log.b && touch -d '1 hour ago' log.b$$);
SELECT * FROM load_log();
SELECT shell('touch log.a');
SELECT a FROM target ORDER BY i DESC LIMIT 1;
-- half a line of such a file waits for an hour, or as long as the table says
SELECT shell($$printf 'a,b\n20,twenty\n21,twe' >log.f && touch -d '10 minutes ago' log.f && printf 'a,b\n' >log.g$$);
SET client_min_messages = notice;
SELECT * FROM load_log();
SELECT shell($$printf 'nty-one\n22,half' >>log.f && touch -d '10 minutes ago' log.f && touch log.g$$);
SELECT * FROM load_log();
ALTER FOREIGN TABLE log OPTIONS (ADD growing_rest '300');
SELECT * FROM load_log();
SELECT * FROM load_log();
-- then the line's other half has changed a record that was loaded
SELECT shell($$printf ' a line\n23,x\n' >>log.f && touch log.g$$);
SELECT state FROM positions WHERE filename = 'regress_csv/log.f';
SELECT * FROM load_log();
SELECT * FROM load_log('restart');
SELECT a, b FROM target WHERE a > 19 ORDER BY i;
SELECT state FROM positions WHERE filename = 'regress_csv/log.f';
-- its line break alone has not, except a LF behind a CR, which was loaded as data
SELECT shell($$printf 'a,b\r\n24,x\r\n25,y\r' >log.h && printf 'a,b\n26,z' >log.i && touch -d '10 minutes ago' log.[hi] && touch log.g$$);
SELECT * FROM load_log();
SELECT shell($$printf '\n27,x\r\n' >>log.h && printf '\r\n28,y\r\n' >>log.i && touch log.g$$);
SELECT filename, state FROM positions WHERE filename ~ 'log.[hi]';
SELECT * FROM load_log();
SELECT * FROM load_log('skip');
SELECT a, b, length(b) FROM target WHERE a > 23 ORDER BY a;
ALTER FOREIGN TABLE log OPTIONS (DROP growing_rest);
SET client_min_messages = warning;
-- names: of the table and its target, and what is dropped
ALTER TABLE target RENAME TO goal;
ALTER FOREIGN TABLE log RENAME TO journal;
SELECT source, target FROM positions WHERE filename = 'regress_csv/log.b';
SELECT csv_gpu_forget_positions('journal', 'goal', 'regress_csv/log.b');
SELECT count(*) FROM positions WHERE filename = 'regress_csv/log.b';
SELECT count(*) > 0 FROM positions;
DROP TABLE goal CASCADE;
SELECT count(*) FROM csv_gpu_position;
CREATE TABLE target (a int, b text, n bigint, l int);
SELECT records_loaded FROM csv_gpu_load('journal', 'target', mode => 'new_records');
SELECT csv_gpu_forget_positions('journal', 'target');
SELECT records_loaded FROM csv_gpu_load('journal', 'target', mode => 'new_records');
SELECT count(*) FROM csv_gpu_position;
DROP FOREIGN TABLE journal;
SELECT count(*) FROM csv_gpu_position;
-- compressed and converted files
CREATE FOREIGN TABLE log (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/growing.csv.gz');
ALTER TABLE target DROP n, DROP l;
TRUNCATE target;
CALL write_file('growing.csv.gz', decode(:'gz1', 'hex'));
SELECT records_loaded FROM csv_gpu_load('log', 'target', mode => 'new_records');
CALL write_file('growing.csv.gz', decode(:'gz1' || :'gz2' || left(:'gz3', 16), 'hex'));
SELECT records_loaded FROM csv_gpu_load('log', 'target', mode => 'new_records');
CALL write_file('growing.csv.gz', decode(:'gz1' || :'gz2' || :'gz3', 'hex'));
SELECT records_loaded FROM csv_gpu_load('log', 'target', mode => 'new_records');
TABLE target;
ALTER FOREIGN TABLE log OPTIONS (SET filename 'regress_csv/wide.csv');
TRUNCATE target;
CALL write_file('wide.csv', '\xfffe31002c0062000a0032002c0064000a'::bytea);
SELECT records_loaded FROM csv_gpu_load('log', 'target', mode => 'new_records');
CALL write_file('wide.csv', '\xfffe31002c0062000a0032002c0064000a0033002c0064000a00'::bytea);
SELECT records_loaded FROM csv_gpu_load('log', 'target', mode => 'new_records');
TABLE target;
-- half a code unit, half a surrogate pair and half a character at the end of a line that is too long
ALTER FOREIGN TABLE log OPTIONS (ADD max_record_size '4');
CREATE FUNCTION load_wide(content bytea, OUT records_loaded bigint, OUT records_skipped bigint) LANGUAGE plpgsql AS $$
BEGIN
  CALL write_file('wide.csv', content);
  SELECT l.records_loaded, l.records_skipped INTO load_wide.records_loaded, load_wide.records_skipped
    FROM csv_gpu_load('log', 'target', mode => 'new_records') l;
END $$;
TRUNCATE target;
SELECT csv_gpu_forget_positions('log', 'target');
\set wide1 fffe31002c0061000a003500350035003500350035003500350035000a
\set wide2 :wide1 0032002c0062000a003500350035003500350035003500350035003dd8
\set wide3 :wide2 00de0a0033002c0063000a00
SELECT * FROM load_wide(decode(:'wide1', 'hex'));
SELECT * FROM load_wide(decode(:'wide2', 'hex'));
SELECT * FROM load_wide(decode(:'wide3', 'hex'));
TABLE target;
ALTER FOREIGN TABLE log OPTIONS (ADD encoding 'GB18030');
TRUNCATE target;
SELECT csv_gpu_forget_positions('log', 'target');
SELECT * FROM load_wide(bytea '\x312c610a35353535353535813081');
SELECT * FROM load_wide(bytea '\x312c610a35353535353535813081300a322c620a');
TABLE target;
SELECT csv_gpu_forget_positions('log', 'target');
ALTER FOREIGN TABLE log OPTIONS (DROP encoding, DROP max_record_size);
-- the first line break comes later
ALTER FOREIGN TABLE log OPTIONS (ADD header 'false', SET filename 'regress_csv/log');
CREATE FOREIGN TABLE lines (t text) SERVER csv OPTIONS (filename 'regress_csv/log');
CREATE TABLE all_lines (t text);
SELECT shell($$printf 'a\rb' >log$$);
SELECT records_loaded FROM csv_gpu_load('lines', 'all_lines', mode => 'new_records');
SELECT shell($$printf 'c\nd\n' >>log$$);
SELECT records_loaded FROM csv_gpu_load('lines', 'all_lines', mode => 'new_records');
SELECT to_json(t) FROM all_lines;
DROP FOREIGN TABLE lines;
ALTER FOREIGN TABLE log OPTIONS (DROP header);
SELECT shell('rm log*');
-- a record that is too long, or badly quoted, across the end
ALTER FOREIGN TABLE log OPTIONS (ADD max_record_size '20');
TRUNCATE target;
SELECT shell($$printf '1|one\n"2|two\n3|three\n4,fo' | tr '|' ',' >log$$);
SELECT records_loaded, records_skipped FROM csv_gpu_load('log', 'target', mode => 'new_records');
SELECT shell($$printf 'ur\n555555555555555555555555555555' >>log$$);
SELECT records_loaded, records_skipped FROM csv_gpu_load('log', 'target', mode => 'new_records');
SELECT shell($$printf '5555\n6,six\n' >>log$$);
SELECT records_loaded, records_skipped FROM csv_gpu_load('log', 'target', mode => 'new_records');
TABLE target;
-- jobs
CREATE VIEW runs AS SELECT job, filename, records_loaded, records_skipped, bytes_read, error, files_waiting FROM csv_gpu_job_run ORDER BY run;
INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES ('j', '* * * * *', 'log', 'target', 'new_records');
SELECT shell($$printf '7,seven\n8,ei' >>log$$);
SELECT job, filename, records_loaded, bytes_read, error FROM csv_gpu_run_job('j');
SELECT records_loaded, error FROM csv_gpu_run_job('j');
SELECT shell($$printf 'ght\n' >>log$$);
SELECT records_loaded, error FROM csv_gpu_run_job('j');
SELECT shell($$printf 'new\n' >log$$);
SELECT records_loaded, error FROM csv_gpu_run_job('j');
TABLE runs;
SELECT a FROM target OFFSET 4;
SELECT csv_gpu_forget_positions('log', 'target');
SELECT csv_gpu_schedule('k', '* * * * *', 'log', 'target', 'newest');
SELECT shell($$printf '6,six\n' >log$$);
-- what is refused
SELECT records_loaded FROM csv_gpu_load('log', 'target', mode => 'newest');
SELECT records_loaded FROM csv_gpu_load('log', 'target', mode => 'new_records', on_rewrite => 'ignore');
SELECT records_loaded FROM csv_gpu_load('log', 'target', on_rewrite => 'skip');
SELECT records_loaded FROM csv_gpu_load('log', 'target', mode => 'all', on_rewrite => 'restart');
CREATE FOREIGN TABLE no_log (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/log', footer_rows '1');
SELECT records_loaded FROM csv_gpu_load('no_log', 'target', mode => 'new_records');
ALTER FOREIGN TABLE no_log OPTIONS (DROP footer_rows, DROP filename, ADD program 'cat /dev/null');
SELECT records_loaded FROM csv_gpu_load('no_log', 'target', mode => 'new_records');
CREATE TEMPORARY TABLE short (a int, b text);
SELECT records_loaded FROM csv_gpu_load('log', 'short', mode => 'new_records');
DROP TABLE short;
-- a crash would empty the target, or a part of it, but not the positions
CREATE UNLOGGED TABLE short (a int, b text);
SELECT records_loaded FROM csv_gpu_load('log', 'short', mode => 'new_records');
ALTER TABLE short SET LOGGED;
SELECT records_loaded FROM csv_gpu_load('log', 'short', mode => 'new_records');
ALTER TABLE short SET UNLOGGED;
SELECT records_loaded FROM csv_gpu_load('log', 'short', mode => 'new_records');
DROP TABLE short;
CREATE TABLE short (a int, b text) PARTITION BY RANGE (a);
CREATE TABLE short_1 PARTITION OF short FOR VALUES FROM (0) TO (1000) PARTITION BY RANGE (a);
CREATE TABLE short_11 PARTITION OF short_1 FOR VALUES FROM (0) TO (1000);
CREATE UNLOGGED TABLE short_2 (a int, b text);
SELECT records_loaded > 0 FROM csv_gpu_load('log', 'short', mode => 'new_records');
ALTER TABLE short_1 ATTACH PARTITION short_2 FOR VALUES FROM (1000) TO (2000);
SELECT records_loaded FROM csv_gpu_load('log', 'short', mode => 'new_records');
DROP TABLE short;
-- rows do not go to tables that inherit
CREATE TABLE short (a int, b text);
CREATE UNLOGGED TABLE short_1 () INHERITS (short);
SELECT records_loaded > 0 FROM csv_gpu_load('log', 'short', mode => 'new_records');
DROP TABLE short CASCADE;
ALTER FOREIGN TABLE no_log OPTIONS (DROP program, ADD filename 'regress_csv/nothing*');
SELECT records_loaded FROM csv_gpu_load('no_log', 'target', mode => 'new_records');
SELECT csv_gpu_forget_positions(NULL, 'target');
-- a trigger of the target that does the same
CREATE FUNCTION load_again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE tg_argv[0];
  RETURN new;
END $$;
CREATE TABLE again (LIKE target);
CREATE TRIGGER again BEFORE INSERT ON again FOR EACH ROW EXECUTE FUNCTION load_again('SELECT csv_gpu_load(''log'', ''again'', mode => ''new_records'')');
SELECT records_loaded FROM csv_gpu_load('log', 'again', mode => 'new_records');
CREATE OR REPLACE TRIGGER again BEFORE INSERT ON again FOR EACH ROW EXECUTE FUNCTION load_again('SELECT csv_gpu_forget_positions(''log'', ''again'')');
SELECT records_loaded FROM csv_gpu_load('log', 'again', mode => 'new_records');
DROP TRIGGER again ON again;
SELECT records_loaded > 0 FROM csv_gpu_load('log', 'again', mode => 'new_records');
DROP TABLE again;
-- privileges
CREATE ROLE regress_growing;
GRANT USAGE ON SCHEMA csv_test TO regress_growing;
GRANT SELECT ON log TO regress_growing;
GRANT INSERT ON target TO regress_growing;
SET ROLE regress_growing;
SELECT records_loaded FROM csv_gpu_load('log', 'target', mode => 'new_records');
SELECT count(*) FROM csv_gpu_positions;
SELECT csv_gpu_forget_positions('log', 'target');
SELECT count(*) FROM csv_gpu_position;
DELETE FROM csv_gpu_position;
SELECT csv_gpu_drop_positions();
RESET ROLE;
REVOKE INSERT ON target FROM regress_growing;
SET ROLE regress_growing;
SELECT records_loaded FROM csv_gpu_load('log', 'target', mode => 'new_records');
RESET ROLE;
GRANT pg_monitor TO regress_growing;
SET ROLE regress_growing;
SELECT count(*) FROM csv_gpu_positions;
RESET ROLE;
DROP OWNED BY regress_growing;
DROP ROLE regress_growing;
-- a file that may not be read
SELECT shell('chmod 000 log');
-- the HINT has the server's user
\set VERBOSITY terse
SELECT * FROM load_log();
\set VERBOSITY default
SELECT shell('chmod 600 log');
-- a name that no file has, and a target that has the records
CREATE FOREIGN TABLE later (a int) SERVER csv OPTIONS (filename 'regress_csv/later*');
CREATE TABLE had (a int PRIMARY KEY);
INSERT INTO had VALUES (1);
SET client_min_messages = notice;
SELECT records_loaded FROM csv_gpu_load('later', 'had', mode => 'new_records');
SELECT shell('echo 1 >later');
SELECT records_loaded FROM csv_gpu_load('later', 'had', mode => 'new_records');
\i :teardown
