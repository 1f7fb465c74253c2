--
-- Virtual columns: filename, record, line and byte_offset.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (file text OPTIONS (virtual 'filename'), record bigint OPTIONS (virtual 'record'),
                        line bigint OPTIONS (virtual 'line'), byte_offset bigint OPTIONS (virtual 'byte_offset'),
                        a text, b text)
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');
-- records count skipped ones and no blank lines; lines count every break, also inside quotes
CALL write_file('t.csv', E'1,x\n\n2,"y\ny\n"\n3\n"4\n4",z\n\n5,"\n');
SELECT file, record, line, byte_offset, left(a, 1) AS a FROM t;
-- of the line breaks of the file's own kind
CALL write_file('t.csv', E'1,"y\ry\r\ny"\n2,y\n');
SELECT record, line FROM t;
CALL write_file('t.csv', E'1,"y\ny"\r2,y\r');
SELECT record, line FROM t;
CALL write_file('t.csv', E'1,x\n\n2,"y\ny\n"\n3\n"4\n4",z\n\n5,"\n');
-- after a header records start at 1, lines and bytes at the top of the file
ALTER FOREIGN TABLE t OPTIONS (ADD header_rows '2');
CALL write_file('t.csv', E'\uFEFFtitle\n"a\n",b\n1,x\n2\n3,y\r\n4,z');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP header_rows);
-- alone, in a WHERE clause, none of the file's own
SELECT line FROM t;
SELECT a FROM t WHERE line = 4;
SELECT max(record), count(*) FROM t WHERE file LIKE '%t.csv';
SELECT file FROM t LIMIT 1;
-- the other types
CREATE FOREIGN TABLE i (file varchar OPTIONS (virtual 'filename'), record int OPTIONS (virtual 'record'),
                        line int OPTIONS (virtual 'line'), byte_offset int OPTIONS (virtual 'byte_offset'), a int)
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'1\nx\n\n3\n');
SELECT *, pg_typeof(file), pg_typeof(record) FROM i;
-- one twice
CREATE FOREIGN TABLE twice (l1 int OPTIONS (virtual 'line'), a text, l2 bigint OPTIONS (virtual 'line'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');
SELECT * FROM twice;
-- types that they cannot have
CREATE FOREIGN TABLE wrong (a text, l smallint OPTIONS (virtual 'line')) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
SELECT a FROM wrong;
DROP FOREIGN TABLE wrong;
CREATE FOREIGN TABLE wrong (a text, f int OPTIONS (virtual 'filename')) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
SELECT a FROM wrong;
DROP FOREIGN TABLE wrong;
CREATE FOREIGN TABLE wrong (a text, r text OPTIONS (virtual 'record')) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
SELECT a FROM wrong;

-- each file of a pattern starts afresh
CALL write_file('v1.csv', E'a,b\n1,2\n3,4\n');
CALL write_file('v2.csv', E'a,b');
CALL write_file('v3.csv', E'a,b\n\n5,6\n7\n8,9');
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/v*.csv', ADD header 'true');
SELECT * FROM t;
SELECT file, count(*), max(byte_offset) FROM t GROUP BY file ORDER BY file;
-- of a program, filename is its command
ALTER FOREIGN TABLE t OPTIONS (DROP filename, ADD program 'cat regress_csv/v1.csv', DROP header);
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP program, ADD filename 'regress_csv/t.csv');

-- names that are no valid text, of directories and files, are shown as one
COPY (SELECT 1 WHERE false) TO PROGRAM 'd=regress_csv/$(printf "n\344me"); mkdir "$d" regress_csv/valid; printf "3,y\n" > regress_csv/valid/v.csv; for f in "$(printf "\303.csv")" "$(printf "\303\266.csv")"; do printf "1,x\n2\n" > "$d/$f"; done';
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/*/*.csv');
SELECT file, record, a, b FROM t WHERE convert_from(convert_to(file, 'UTF8'), 'UTF8') = file ORDER BY file;
SELECT file, count(*) FROM t GROUP BY file ORDER BY file;
SELECT filename, message FROM csv_gpu_errors('t');
CREATE TABLE loaded (file text, record bigint, line bigint, byte_offset bigint, a text, b text);
CREATE TABLE rejects (filename text, record bigint, line bigint, byte_offset bigint, column_number int, column_name text, error text, message text, raw text);
SELECT records_loaded, records_skipped FROM csv_gpu_load('t', 'loaded', rejects => 'rejects');
SELECT l.file, r.filename FROM loaded l JOIN rejects r ON r.filename = l.file ORDER BY 1;
SELECT column_name, records, skipped FROM csv_gpu_sniff('regress_csv/*/*.csv');
SELECT filename FROM csv_gpu_files('t');
ALTER FOREIGN TABLE t OPTIONS (ADD on_error 'stop');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP on_error, ADD compression 'gzip');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP compression);
COPY (SELECT 1 WHERE false) TO PROGRAM 'chmod 000 regress_csv/n*/*.csv';
-- the HINT has the server's user
\set VERBOSITY terse
SELECT * FROM t;
COPY (SELECT 1 WHERE false) TO PROGRAM 'chmod 000 regress_csv/n*/';
SELECT * FROM t;
\set VERBOSITY default
COPY (SELECT 1 WHERE false) TO PROGRAM 'chmod 700 regress_csv/n*/';
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/t.csv');

-- whatever the chunk size
CALL write_query('t.csv', $$SELECT string_agg(i || CASE WHEN i % 11 = 0 THEN E'\n\n' WHEN i % 13 = 0 THEN E',"a\nb"\n' ELSE E',c\n' END, '' ORDER BY i) FROM generate_series(1, 300) i$$);
ALTER FOREIGN TABLE t OPTIONS (ADD log_verbosity 'silent');
CREATE TABLE places AS SELECT record, line, byte_offset, a FROM t;
SELECT count(*), count(*) FILTER (WHERE record = a::int) AS record_is_a, max(line), max(byte_offset) FROM places;
ALTER FOREIGN TABLE t OPTIONS (ADD chunk_size '1');
SELECT record, line, byte_offset, a FROM t EXCEPT SELECT * FROM places;
ALTER FOREIGN TABLE t OPTIONS (SET chunk_size '64');
SELECT record, line, byte_offset, a FROM t EXCEPT SELECT * FROM places;
-- as the error table has them
SELECT count(*), bool_and(raw::int = record) AS right_record, bool_and(NOT EXISTS (SELECT FROM places p WHERE p.record = e.record)) AS apart
  FROM csv_gpu_errors('t') e;

\i :teardown
