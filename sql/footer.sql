--
-- The option "footer_rows": records at the end of a file that are no data.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup
CALL write_file('footer.csv', E'a,b\n1,one\n2,two,2\n3,"three\n3"\n4,four\n\n\n# said\nTotal,"4\n\n');
CREATE FOREIGN TABLE footer (a int, b text, n bigint OPTIONS (virtual 'record'), l bigint OPTIONS (virtual 'line'))
	SERVER csv OPTIONS (filename 'regress_csv/footer.csv', header 'match', footer_rows '1', comment '#');
SELECT * FROM footer;
SELECT record, line, byte_offset, error, raw FROM csv_gpu_errors('footer');
SELECT count(*), sum(a) FROM footer;
SELECT b, count(*) FROM footer WHERE a > 1 GROUP BY b ORDER BY b;
SELECT a FROM footer ORDER BY a DESC LIMIT 1;
-- neither rows nor skipped
SELECT explain('SELECT a FROM footer', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');
SELECT explain('SELECT a FROM footer WHERE a > 1', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');
-- records of a footer are no errors, whatever they are
ALTER FOREIGN TABLE footer OPTIONS (ADD on_error 'stop', SET footer_rows '3');
SELECT a, b FROM footer;
ALTER FOREIGN TABLE footer OPTIONS (SET footer_rows '4');
SELECT a, b FROM footer;
-- all records, and more
ALTER FOREIGN TABLE footer OPTIONS (SET footer_rows '5');
SELECT a, b FROM footer;
ALTER FOREIGN TABLE footer OPTIONS (SET footer_rows '10000');
SELECT a, b FROM footer;
SELECT count(*) FROM footer;
ALTER FOREIGN TABLE footer OPTIONS (SET footer_rows '3', SET header 'false', ADD header_rows '3');
SELECT a, b FROM footer;
ALTER FOREIGN TABLE footer OPTIONS (DROP header_rows, SET header 'match', DROP on_error);
-- in chunks, with rescans
ALTER FOREIGN TABLE footer OPTIONS (SET footer_rows '1', ADD chunk_size '1', ADD log_verbosity 'silent');
SELECT * FROM footer;
SELECT x, (SELECT string_agg(b, ';') FROM footer WHERE a <> x) FROM generate_series(1, 4) x;
-- longer than any record may be
CALL write_file('footer.csv', E'a,b\n1,one\n2,two\n' || repeat('long ', 1000) || E'\n"' || repeat(E'and long\n', 2) || E'last');
ALTER FOREIGN TABLE footer OPTIONS (ADD max_record_size '20', SET footer_rows '4');
SELECT * FROM footer;
-- of each file
CALL write_file('many_1.csv', E'b,a\none,1\nx\n');
CALL write_file('many_2.csv', E'a,b\nx');
CALL write_file('many_3.csv', E'a\n3\n4\n5');
CREATE FOREIGN TABLE many (a int, b text, f text OPTIONS (virtual 'filename')) SERVER csv
	OPTIONS (filename 'regress_csv/many_*.csv', header 'true', by_name 'true', footer_rows '1');
SELECT * FROM many;
SELECT f, count(*) FROM many GROUP BY f ORDER BY f;
-- of a program and a compressed file, whose lengths nobody knows
CREATE FOREIGN TABLE program (a int) SERVER csv OPTIONS (program 'seq 1 1000', footer_rows '10');
SELECT count(*), min(a), max(a) FROM program;
SELECT a FROM program OFFSET 988;
ALTER FOREIGN TABLE program OPTIONS (SET program 'seq 1 1000 | gzip', ADD compression 'gzip');
SELECT count(*), min(a), max(a) FROM program;
-- of the text format: its end is no record
CALL write_file('footer.txt', E'1\tone\n2\ttwo\n\\.\n3\n\\.\n');
CREATE FOREIGN TABLE text_footer (a text, b text) SERVER csv OPTIONS (filename 'regress_csv/footer.txt', format 'text', footer_rows '1');
SELECT * FROM text_footer;
ALTER FOREIGN TABLE text_footer OPTIONS (SET footer_rows '2');
SELECT * FROM text_footer;
-- columns that are kept
\set memory 10MB
\i :set_memory
CALL write_file('footer.csv', E'a,b\n1,one\n2,two\n3,three\n');
CALL settle();
ALTER FOREIGN TABLE footer OPTIONS (DROP max_record_size, DROP chunk_size, SET footer_rows '1');
SELECT a FROM footer;
SELECT a FROM footer;
SELECT explain('SELECT a FROM footer');
ALTER FOREIGN TABLE footer OPTIONS (SET footer_rows '2');
SELECT explain('SELECT a FROM footer');
SELECT a FROM footer;
-- loads
CREATE TABLE target (a int, b text);
CREATE FOREIGN TABLE source (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/footer.csv', header 'true', footer_rows '1');
SELECT records_loaded, records_skipped FROM csv_gpu_load('source', 'target');
INSERT INTO target SELECT * FROM source;
SELECT * FROM target ORDER BY 1, 2;
-- wrong ones
ALTER FOREIGN TABLE footer OPTIONS (SET footer_rows '-1');
ALTER FOREIGN TABLE footer OPTIONS (SET footer_rows '10001');
ALTER FOREIGN TABLE footer OPTIONS (SET footer_rows 'one');
ALTER SERVER csv OPTIONS (ADD footer_rows '1');
-- more than can be held back
ALTER FOREIGN TABLE program OPTIONS (DROP compression, SET program 'yes 1 | head -c 7000000; yes x | tr -d ''\n'' | head -c 5000000');
SELECT count(*) FROM program;

\i :teardown
