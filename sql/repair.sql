--
-- Records with quoting errors, and records that are too long: what they cost.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (a text, b text, record int OPTIONS (virtual 'record'),
                        line int OPTIONS (virtual 'line'), byte_offset int OPTIONS (virtual 'byte_offset'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');

--
-- a stray quote costs the line it stands in
--
-- the quote that opens is closed nowhere
CALL write_file('t.csv', E'1,a\n2,"b\n3,c\n4,d\n');
SELECT * FROM t;
-- it is closed by the opening quote of a later line: text after that one
CALL write_file('t.csv', E'1,a\n2,"b\n3,c\n"4",d\n5,e\n');
SELECT * FROM t;
-- the same, with more of them
CALL write_file('t.csv', E'1,a\n2,"b\n3,"c"\n4,"d"\n5,"e"\n6,f\n');
SELECT * FROM t;
-- with what closes it, a good record: nobody can tell
CALL write_file('t.csv', E'1,a\n2,"b\n3,c\n4,d"\n5,e\n');
SELECT * FROM t;
-- good fields before the error
CALL write_file('t.csv', E'"1\n1","a\nb"c\n2,b\n');
SELECT * FROM t;

--
-- the further lines are read alone, strictly
--
-- a quote inside an unquoted field is an error there
CALL write_file('t.csv', E'1,"a\n2,5" pipe\n3,c\n4,6" pipe\n5,e\n');
SELECT * FROM t;
-- no field reaches over a line there
CALL write_file('t.csv', E'1,"a\n2,b\n3,"c\nd"\n4,d"x\n5,e\n');
SELECT * FROM t;
-- counts and values are checked as in any record
CALL write_file('t.csv', E'1,"a\n2\n3,c,d\n4,d\n');
SELECT * FROM t;
-- blank lines are none
CALL write_file('t.csv', E'1,"a\n\n\n2,b\n\n3,c\n');
SELECT * FROM t;
-- doubled quotes are quotes
CALL write_file('t.csv', E'1,"a\n"2","""b"""\n3,"c,""d"""\n');
SELECT * FROM t;
-- after the bad record's last line, normal reading again
CALL write_file('t.csv', E'1,"a\n2,b"x\n3,"c\nd"\n4,5" pipe\n');
SELECT a, replace(b, E'\n', '<LF>') AS b, record, line, byte_offset FROM t;
-- one bad record after the other
CALL write_file('t.csv', E'1,"a"x\n2,"b"x\n3,"c\n4,d"x\n5,"e\n6,f"x\n7,g\n');
SELECT * FROM t;
-- CR LF, and lone CR
CALL write_file('t.csv', E'1,a\r\n2,"b\r\n3,c\r\n4,"d"\r\n5,e\r\n');
SELECT * FROM t;
CALL write_file('t.csv', E'1,a\r2,"b\r3,c\r4,"d"\r5,e\r');
SELECT * FROM t;
-- quoting 'postgres' likewise
ALTER FOREIGN TABLE t OPTIONS (ADD quoting 'postgres');
CALL write_file('t.csv', E'1,a\n2,b"\n3,c\n4,"d"x\n5,e"f\n6,f\n');
SELECT a, replace(b, E'\n', '<LF>') AS b, record, line, byte_offset FROM t;
CALL write_file('t.csv', E'1,a\n2,b"\n3,c\n4,d"x"\n5,"e"\n6,f\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP quoting);
-- in the first record, and in the header
CALL write_file('t.csv', E'"\n1,a\n2,b\n');
SELECT * FROM t;
CALL write_file('t.csv', E'"a\n1,a\n2,b\n');
ALTER FOREIGN TABLE t OPTIONS (ADD header 'true');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP header);

--
-- many lines, and one stray quote among them
--
CALL write_query('t.csv', $$SELECT string_agg(CASE WHEN i = 100 THEN '100,"x' ELSE i || ',y' || i END || E'\n', '' ORDER BY i) FROM generate_series(1, 2000) i$$);
SELECT count(*), sum(a::int), min(record), max(record), max(line) FROM t;
ALTER FOREIGN TABLE t OPTIONS (ADD chunk_size '100');
SELECT count(*), sum(a::int), min(record), max(record), max(line) FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP chunk_size);

--
-- max_record_size: the record's bytes without its boundary
--
ALTER FOREIGN TABLE t OPTIONS (ADD max_record_size '10');
-- 9, 10 and 11 bytes
CALL write_file('t.csv', E'1,2345678\n1,23456789\n1,234567890\n1,2\n');
SELECT * FROM t;
CALL write_file('t.csv', E'1,2345678\r\n1,23456789\r\n1,234567890\r\n1,2\r\n');
SELECT * FROM t;
-- at the end of input
CALL write_file('t.csv', E'1,23456789');
SELECT * FROM t;
CALL write_file('t.csv', E'1,234567890');
SELECT * FROM t;
-- quotes count
CALL write_file('t.csv', E'1,"234567"\n1,"2345678"\n');
SELECT * FROM t;
-- a record of several lines: the first is lost, those that begin within the window are read alone
CALL write_file('t.csv', E'1,"234\n78"\n1,"2345\n789"\n3,4\n5,"6\n7"\n');
SELECT a, replace(b, E'\n', '<LF>') AS b, record, line, byte_offset FROM t;
CALL write_file('t.csv', E'1,"\n2,b\n3,c\n4,d\n5,e\n6,f\n');
SELECT * FROM t;
-- the window ends, and a quote may reach over lines again
CALL write_file('t.csv', E'1,"a\n2,b\n3,cc\n4,"\nd"\n5,e\n');
SELECT a, replace(b, E'\n', '<LF>') AS b, record, line, byte_offset FROM t;
-- a line alone that is too long
CALL write_file('t.csv', E'1,"a\n2,bbbbbbbbbbbbbbb\n3,c\n');
SELECT * FROM t;
-- length and quoting come before the count
CALL write_file('t.csv', E'1,2,3,4,5,6,7\n1,2,3\n1\n');
SELECT * FROM t;
CALL write_file('t.csv', E'1,"2"3456789\n1,"2"3456\n');
SELECT * FROM t;
-- the count of them, wherever the chunks end
CALL write_query('t.csv', $$SELECT string_agg(i || ',' || repeat('x', i) || E'\n', '' ORDER BY i) FROM generate_series(1, 40) i$$);
ALTER FOREIGN TABLE t OPTIONS (ADD log_verbosity 'silent');
SELECT count(*), max(a::int) AS a, max(record) AS record FROM t;
ALTER FOREIGN TABLE t OPTIONS (ADD chunk_size '1');
SELECT count(*), max(a::int), max(record) FROM t;
SELECT count(*), min(record), max(record), min(byte_offset), max(byte_offset) FROM csv_gpu_errors('t');
ALTER FOREIGN TABLE t OPTIONS (DROP chunk_size, DROP log_verbosity);
-- one byte
ALTER FOREIGN TABLE t OPTIONS (SET max_record_size '1');
CALL write_file('t.csv', E',\n1,\n,1\n,');
SELECT * FROM t;

-- 16 MB by default: one byte below, at and above it
ALTER FOREIGN TABLE t OPTIONS (DROP max_record_size);
CALL write_query('t.csv', $$SELECT '1,' || repeat('x', 16777213) || E'\n2,' || repeat('y', 16777214) || E'\n3,' || repeat('z', 16777215) || E'\n4,d\n'$$);
SELECT a, length(b), left(b, 1) AS first, record FROM t;
ALTER FOREIGN TABLE t OPTIONS (ADD max_record_size '17MB');
SELECT a, length(b), left(b, 1) AS first, record FROM t;

\i :teardown
