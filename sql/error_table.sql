--
-- csv_gpu_errors(): the skipped records as rows.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (id int, city text OPTIONS (max_chars '8'), qty int, note text OPTIONS (byte_width '8'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', header 'true', max_record_size '60', log_verbosity 'silent');
CALL write_file('t.csv', E'id,city,qty,note\r\n1,Paris,10,fine\r\n2,Rome,20\r\n3,Constantinople,30,x\r\n4,Oslo,40,nine bytes\r\n5,M\\374nchen,50,x\r\n6,Bern,many,x\r\n7,"Bonn"?,70,x\r\n8,Nice,80,\\000\r\n9,Athens,90,012345678901234567890123456789012345678901234567890123456789\r\n10,Kiev,100,fine\r\n11,Riga,"110,fine\r\n12,Bath,120,fine'::bytea);
-- names and types of what it returns
SELECT pg_get_function_arguments('csv_gpu_errors'::regproc), pg_get_function_result('csv_gpu_errors'::regproc);
\x
SELECT * FROM csv_gpu_errors('t');
\x
-- it reads the file afresh, and every column counts as wanted
SELECT count(*) FROM t;
SELECT error, count(*) FROM csv_gpu_errors('t') GROUP BY 1 ORDER BY 1;
-- max_records
SELECT record, error FROM csv_gpu_errors('t', 2);
SELECT record, error FROM csv_gpu_errors('t', max_records => 1);
SELECT record, error FROM csv_gpu_errors('t', 0);
SELECT count(*) FROM csv_gpu_errors('t', 1000000000000);
SELECT count(*) FROM csv_gpu_errors('t', NULL);
SELECT count(*) FROM csv_gpu_errors('t', -1);
SELECT count(*) FROM csv_gpu_errors(NULL);
SELECT count(*) FROM csv_gpu_errors(source => 't'::regclass);
-- neither on_error nor reject_limit nor NOTICEs
ALTER FOREIGN TABLE t OPTIONS (ADD on_error 'stop', SET log_verbosity 'verbose');
SELECT count(*) FROM csv_gpu_errors('t');
ALTER FOREIGN TABLE t OPTIONS (DROP on_error, ADD reject_limit '1');
SELECT count(*) FROM csv_gpu_errors('t');
ALTER FOREIGN TABLE t OPTIONS (SET reject_limit '1%');
SELECT count(*) FROM csv_gpu_errors('t');
ALTER FOREIGN TABLE t OPTIONS (DROP reject_limit, SET log_verbosity 'silent');
-- a chunk at a time
ALTER FOREIGN TABLE t OPTIONS (ADD chunk_size '1');
SELECT record, line, byte_offset, error, length(raw) FROM csv_gpu_errors('t');
ALTER FOREIGN TABLE t OPTIONS (DROP chunk_size);
-- under a condition of the query
SELECT e.record, e.message FROM csv_gpu_errors('t') e WHERE error = 'bad_value';
-- a good file, an empty one
CALL write_file('t.csv', E'id,city,qty,note\n1,Paris,10,fine\n');
SELECT * FROM csv_gpu_errors('t');
CALL write_file('t.csv', '');
SELECT * FROM csv_gpu_errors('t');

--
-- raw: the skipped text, invalid bytes as \xHH, at most 64 kB
--
CREATE FOREIGN TABLE r (a text OPTIONS (max_chars '2'), b text) SERVER csv OPTIONS (filename 'regress_csv/t.csv', log_verbosity 'silent');
CALL write_file('t.csv', E'abc,\\303\\244\nabc,\\377\\303\\000\\360\\237\\230\\200\\355\\240\\200\\300\\200\nabc,\\\\xff\\\\\n"abc","x\ny,""z"\n\\346\\226,\\\\\n'::bytea);
SELECT record, raw, length(raw) FROM csv_gpu_errors('r');
-- of a record with a quoting error, its first line
CALL write_file('t.csv', E'1,"a\n2,b\n"3",c\n');
SELECT record, error, raw FROM csv_gpu_errors('r');
CALL write_file('t.csv', E'1,"a\r\n2,b');
SELECT record, error, raw FROM csv_gpu_errors('r');
-- long ones
CALL write_query('t.csv', $$SELECT repeat('x', 100000) || E',1\n' || repeat('ä', 50000) || E',1\nabc,' || repeat('y', 65531) || E'\nabc,' || repeat('y', 65532) || E'\nabc,' || repeat('y', 65533) || E'\nabc' || repeat('€', 30000) || E',\n'$$);
SELECT record, octet_length(raw), right(raw, 1) AS last FROM csv_gpu_errors('r');
CALL write_file('t.csv', convert_to('abc,', 'UTF8') || decode(repeat('ff', 20000), 'hex'));
SELECT record, octet_length(raw), right(raw, 4) AS last FROM csv_gpu_errors('r');
-- in the server's encoding
ALTER FOREIGN TABLE r OPTIONS (ADD encoding 'LATIN1');
CALL write_file('t.csv', E'\\344\\366\\374,\\337\\000\\377\n'::bytea);
SELECT message, raw FROM csv_gpu_errors('r');
ALTER FOREIGN TABLE r OPTIONS (SET encoding 'WIN1252');
CALL write_file('t.csv', E'ab\\344,\\201\\200\n'::bytea);
SELECT message, raw FROM csv_gpu_errors('r');
ALTER FOREIGN TABLE r OPTIONS (DROP encoding);

-- column_number is the field of the file, from 1; column_name its column
CREATE FOREIGN TABLE f (c int OPTIONS ("column" '2'), a int OPTIONS ("column" '0'), c2 date OPTIONS ("column" '2'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', columns '4');
CALL write_file('t.csv', E'1,x,y,\nz,,,\n1,,20240101,"4"4\n1,,"20240101"0,\n1,,5,\n1,2,3\n');
SELECT record, column_number, column_name, error, message FROM csv_gpu_errors('f');
-- the file of each record
CREATE FOREIGN TABLE p (a int) SERVER csv OPTIONS (filename 'regress_csv/p*.csv');
CALL write_file('p1.csv', E'1\nx\n');
CALL write_file('p2.csv', E'y\n2\n\nz\n');
SELECT filename, record, line, byte_offset, raw FROM csv_gpu_errors('p');
SELECT filename, record FROM csv_gpu_errors('p', 2);
ALTER FOREIGN TABLE p OPTIONS (DROP filename, ADD program 'printf ''1\nx\n''');
SELECT filename, record, line, byte_offset, raw FROM csv_gpu_errors('p');
-- fewer of them than the program would write
ALTER FOREIGN TABLE p OPTIONS (SET program 'yes');
SELECT record, raw FROM csv_gpu_errors('p', 3);

--
-- not one of our tables, no such file
--
CREATE TABLE plain (a int);
SELECT * FROM csv_gpu_errors('plain');
\echo :SQLSTATE
CREATE VIEW seen AS SELECT * FROM t;
SELECT * FROM csv_gpu_errors('seen');
SELECT * FROM csv_gpu_errors('no_such_table');
SELECT * FROM csv_gpu_errors(0);
ALTER FOREIGN TABLE r OPTIONS (SET filename 'regress_csv/missing.csv');
SELECT * FROM csv_gpu_errors('r');

--
-- SELECT on the whole table
--
CREATE ROLE regress_csv_reader;
GRANT USAGE ON SCHEMA csv_test TO regress_csv_reader;
GRANT SELECT (a) ON f TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT count(*) FROM csv_gpu_errors('f');
\echo :SQLSTATE
RESET ROLE;
GRANT SELECT (a, c, c2) ON f TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT count(*) FROM csv_gpu_errors('f');
RESET ROLE;
GRANT SELECT ON f TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT count(*) FROM csv_gpu_errors('f');
RESET ROLE;
REVOKE ALL ON f FROM regress_csv_reader;
REVOKE USAGE ON SCHEMA csv_test FROM regress_csv_reader;
DROP ROLE regress_csv_reader;

\i :teardown
