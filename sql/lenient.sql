--
-- quoting 'lenient': no record is lost for its quotes.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (a text, b text, record int OPTIONS (virtual 'record'),
                        line int OPTIONS (virtual 'line'), byte_offset int OPTIONS (virtual 'byte_offset'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', quoting 'lenient');

--
-- which quote ends a field
--
-- the first one that a delimiter, the line's end, or blanks and one of these follow
CALL write_file('t.csv', E'1,"5" pipe"\n"a "b" c",2\n3,"a", b"\n"a, "b", c" d",4\n5,"a"b\n6,"a"b"\n7,"a" \t\n"8"\t ,"b" c"  \n');
SELECT * FROM t;
-- there is none: then the one that opens is data, and delimiters count again
CALL write_file('t.csv', E'1,"a\n"2,b\n3,"a"b\n"4"x,"y\n');
SELECT * FROM t;
-- doubled quotes are two: whoever wrote the line has not doubled any
CALL write_file('t.csv', E'1,"a ""b"" c" d"\n2,""a""b"\n3,""a"b\n4,"5""\n');
SELECT * FROM t;
-- but as part of a record without an error
CALL write_file('t.csv', E'1,"5""\n2,"6""\n');
SELECT * FROM t;
-- elsewhere in a field they are data anyway
CALL write_file('t.csv', E'1,a"b"\n"2"x, "a"\n3"","a"b"\n');
SELECT * FROM t;
-- records without an error are what they are
CALL write_file('t.csv', E'1,"a ""b"" c"\n2,"a\nb"\n3,5" pipe\n"4",""\n5,"a"" , ""b"\n');
SELECT a, replace(b, E'\n', '<LF>') AS b, record, line, byte_offset FROM t;
-- with the wrong number of fields they are skipped, with the error that they had
CALL write_file('t.csv', E'1,"a"b,c\n"2"x\n3,"a", b", c" d"\n4,"a\n5\n6,"b"c"\n');
SELECT * FROM t;
SELECT record, line, column_number, error, message, raw FROM csv_gpu_errors('t');
-- the end of the file, CR LF, lone CR
CALL write_file('t.csv', E'1,"a"b\r\n2,"a"b"\r\n3,"a" \r\n4,"a"b');
SELECT * FROM t;
CALL write_file('t.csv', E'1,"a"b\r2,"a"b"\r3,"a" \r4,"a"b');
SELECT * FROM t;
CALL write_file('t.csv', E'1,"a"b\r');
SELECT a, replace(b, E'\r', '<CR>') AS b FROM t;

--
-- the first line is the record, and those after it live
--
CALL write_file('t.csv', E'1,a\n2,"b\n3,c\n4,"d\n"5",e\n6,f\n');
SELECT * FROM t;
-- of a record of several lines whose error is further down
CALL write_file('t.csv', E'1,"a\n2,b\n3,c"d\n4,"e\nf"\n');
SELECT a, replace(b, E'\n', '<LF>') AS b, record, line, byte_offset FROM t;
-- lines that are read alone may have errors that they had not as part of the file
CALL write_file('t.csv', E'1,"a\n2,5" pipe\n3,"c\n4,d"\n5,"e ""f""",g"h"\n6,"g"x\n7,h\n');
SELECT * FROM t;
-- the last record has no end; blank lines
CALL write_file('t.csv', E'1,"a\n\n2,b\n\n3,c"d\n4,"d\n\n');
SELECT * FROM t;
-- without multiline
ALTER FOREIGN TABLE t OPTIONS (ADD multiline 'false');
CALL write_file('t.csv', E'1,"a\nb"\n2,5" pipe\n3,"c"\n4,"5""\n5,"6""\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP multiline);
-- a record that is too long is one, whatever its quotes
ALTER FOREIGN TABLE t OPTIONS (ADD max_record_size '10');
CALL write_file('t.csv', E'1,"a"bcdef\n2,"a"bcdefg\n3,"a\n4,b\n5,c\n6,d\n7,"e"f\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP max_record_size);

--
-- other dialects
--
-- a blank that is the delimiter is one
ALTER FOREIGN TABLE t OPTIONS (ADD delimiter E'\t');
CALL write_file('t.csv', E'"1"x"\t"a" b"\n"2" \t"a"b" \n"3"x"\t\n4\t"a\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET delimiter ' ', ADD quote '''');
CALL write_file('t.csv', E'''1''x'' ''a,b''\t\n2 ''a''b''\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP delimiter, DROP quote);
-- what an escape escapes ends no field, and is what it stands for
ALTER FOREIGN TABLE t OPTIONS (ADD escape '\');
CALL write_file('t.csv', E'1,"a \\"b\\", "c" d"\n2,"a\\\\"b"\n3,"a"b\\"\n4,"a\\\\"\n5,"a"\\n\n6,"a""b"\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP escape);
-- no quotes at all
ALTER FOREIGN TABLE t OPTIONS (ADD quote '');
CALL write_file('t.csv', E'1,"a"b\n2,"\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP quote);
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere', format 'text', quoting 'lenient');
ALTER FOREIGN TABLE t OPTIONS (SET quoting 'Lenient');
-- it is an error again
ALTER FOREIGN TABLE t OPTIONS (SET quoting 'rfc4180');
CALL write_file('t.csv', E'1,"a"b\n2,"c\n');
SELECT * FROM t;
-- a comment is none of it
ALTER FOREIGN TABLE t OPTIONS (SET quoting 'lenient', ADD comment '#');
CALL write_file('t.csv', E'1,"a\n#,"b\n2,c"d\n#,"x"y\n3,"e"f\n');
SELECT * FROM t;

--
-- values are checked as any others
--
CREATE FOREIGN TABLE v (i int, d date, n numeric(8,2), c varchar(5), t text)
  SERVER csv OPTIONS (filename 'regress_csv/v.csv', quoting 'lenient');
CALL write_file('v.csv', E'1,2024-01-02,1.50,abc,"x"y\n"2" ,"2024-01-03","2.5","abc","x" y"\n3,"never",1,a,"x"y\nx,"never",1,a,"x"y\n5,2024-01-05,1,"abcdef","x"y"\n6,2024-01-06,1,"abc    ","x"y"\n7,2024-01-07,"1"0,a,b\n8,,,,"\n');
SELECT i, d, n, c || '|' AS c, t FROM v;
-- of the columns that are wanted
SELECT i, t FROM v;
SELECT count(*) FROM v;
-- bytes
CALL write_file('v.csv', E'1,,,,"x"\\344"\n2,,,,"x"\\000"\n3,,,"\\303\\244\\303\\244\\303\\244\\303\\244\\303\\244","x"\\303\\244"\n4,,,"\\344","x"y\n'::bytea);
SELECT * FROM v;
SELECT i FROM v;
SELECT record, column_name, error, raw FROM csv_gpu_errors('v');
-- what is NULL
ALTER FOREIGN TABLE v OPTIONS (ADD null_values '{NA}', ADD date_format 'DD.MM.YYYY');
ALTER FOREIGN TABLE v ALTER c OPTIONS (ADD force_null 'true');
CALL write_file('v.csv', E'1,2.1.2024,NA,"NA","NA" x"\n2,NA,"NA",NA,"x"y\n3,"03.01.2024" ,3,"","x"y\n4,2024-01-04,,,"x"y\n');
SELECT * FROM v;
-- bad values as NULL
ALTER FOREIGN TABLE v OPTIONS (ADD on_error 'set_null');
SELECT * FROM v;
-- limits
ALTER FOREIGN TABLE v OPTIONS (SET on_error 'skip');
ALTER FOREIGN TABLE v ALTER t OPTIONS (ADD max_chars '4', ADD byte_width '4');
CALL write_file('v.csv', E'1,,,,"a"b\n2,,,,"a"b"\n3,,,,"a"bcd\n4,,,,"a"bc\n5,,,,"\\303\\244"\\303\\244"\n6,,,,"\\303\\244"\\303\\244"\n7,,,,"\\303\\244"b"\n'::bytea);
SELECT i, t FROM v;
-- an ERROR at the first, and a limit
ALTER FOREIGN TABLE v OPTIONS (SET on_error 'stop');
CALL write_file('v.csv', E'1,,,,"a"b\n2,,,"a"b\n');
SELECT i, t FROM v;
SELECT i, t FROM v LIMIT 1;

--
-- filters and groups in the engine, columns that are kept
--
CREATE FOREIGN TABLE g (k text, n int, x numeric(8,2))
  SERVER csv OPTIONS (filename 'regress_csv/g.csv', quoting 'lenient', log_verbosity 'silent');
CALL write_query('g.csv', $$SELECT string_agg(CASE i % 5 WHEN 0 THEN format(E'"k"%s",%s,%s.5\n', i % 3, i, i) WHEN 1 THEN format(E'"k"%s,"%s" ,%s\n', i % 3, i, i)
  WHEN 2 THEN format(E'"k""%s",%s,%s\n', i % 3, i, i) WHEN 3 THEN format(E'"k"%s,%s\n', i % 3, i) ELSE format(E'k%s,%s,"%s"x\n', i % 3, i, i) END, '' ORDER BY i) FROM generate_series(1, 3000) i$$);
SELECT k, count(*), sum(n), sum(x) FROM g GROUP BY k ORDER BY k;
SELECT k, n, x FROM g WHERE n < 12;
SELECT count(*) FROM g;
SELECT explain('SELECT k, n FROM g WHERE n > 20 AND x < 100', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');
ALTER FOREIGN TABLE g OPTIONS (ADD chunk_size '100');
SELECT k, count(*), sum(n), sum(x) FROM g GROUP BY k ORDER BY k;
ALTER FOREIGN TABLE g OPTIONS (DROP chunk_size);
CALL settle();
\set memory 10MB
\i :set_memory
SELECT k, n, x FROM g WHERE n < 12;
SELECT explain('SELECT k, n, x FROM g');
SELECT k, n, x FROM g WHERE n < 12;
SELECT k, count(*), sum(n), sum(x) FROM g GROUP BY k ORDER BY k;
SELECT k, count(*), sum(n), sum(x) FROM g GROUP BY k ORDER BY k;
SELECT count(*), sum(n) FROM g WHERE k = 'k"2';
\set memory off
\i :set_memory
-- loads
CREATE TABLE loaded (k text, n int, x numeric(8,2));
SELECT records_loaded, records_skipped FROM csv_gpu_load('g', 'loaded');
SELECT k, count(*), sum(n), sum(x) FROM loaded GROUP BY k ORDER BY k;

--
-- ragged 'pad', surplus fields, headers
--
CREATE FOREIGN TABLE p (a int, b text, rest text[] OPTIONS (virtual 'surplus'), line int OPTIONS (virtual 'line'))
  SERVER csv OPTIONS (filename 'regress_csv/p.csv', quoting 'lenient', ragged 'pad');
CALL write_file('p.csv', E'1\n"2"\n"3" ,"a"b,"c" d" ,"e\n4,"a"b"\n5,"a\n6,b,"5" pipe",,""\n"7",8" pipe\n8,"x ""y""","z ""y"""\n');
SELECT * FROM p;
SELECT rest FROM p;
SELECT a, rest[1] FROM p WHERE a > 2;
SELECT count(*) FROM p;
CALL write_file('p.csv', E'1,b,"x"\\344"\n2,b,"x"y"\n'::bytea);
SELECT * FROM p;
SELECT a, b FROM p;
ALTER FOREIGN TABLE p OPTIONS (ADD header 'match', ADD columns '3');
CALL write_file('p.csv', E'a,"b" ,"c"d\n1,"x"y\n');
SELECT * FROM p;
CREATE FOREIGN TABLE h (inches text OPTIONS (header_name '5" pipe'), b text)
  SERVER csv OPTIONS (filename 'regress_csv/h.csv', quoting 'lenient', header 'true', by_name 'true');
CALL write_file('h.csv', E'"a ""b""","5" pipe",b\n1,2,"3"\n1,"2"x,"3"x"\n');
SELECT * FROM h;
CALL write_file('h.csv', E'b,"5" pipe\n1,"2"x\n');
SELECT * FROM h;

--
-- IMPORT FOREIGN SCHEMA reads the file so, if it is told
--
CREATE SCHEMA found;
CREATE VIEW made AS
  SELECT attname, format_type(atttypid, atttypmod), ftoptions
  FROM pg_attribute JOIN pg_class c ON c.oid = attrelid JOIN pg_foreign_table ON ftrelid = attrelid
  WHERE relnamespace = 'found'::regnamespace AND attnum > 0 ORDER BY attnum;
COPY (SELECT 1 WHERE false) TO PROGRAM 'mkdir regress_csv/import';
CALL write_query('import/messy.csv', $$SELECT E'id;"name" ;"size 5" pipe"\n' || string_agg(format(E'%s;"item "%s" of %s";%s\n', i, i, i * 2, '"' || i * 3 || '" '), '' ORDER BY i) FROM generate_series(1, 300) i$$);
IMPORT FOREIGN SCHEMA "regress_csv/import" FROM SERVER csv INTO found OPTIONS (quoting 'lenient');
SELECT * FROM made;
SELECT * FROM found.messy LIMIT 2;
CALL write_query('import/messy.csv', $$SELECT string_agg(format(E'%s,"item "%s, %s"\n', i, i, i * 2), '' ORDER BY i) FROM generate_series(1, 300) i$$);
DROP FOREIGN TABLE found.messy;
IMPORT FOREIGN SCHEMA "regress_csv/import" FROM SERVER csv INTO found OPTIONS (quoting 'lenient');
SELECT * FROM made;
SELECT * FROM found.messy LIMIT 2;

SET client_min_messages = warning;
DROP SCHEMA found CASCADE;
\i :teardown
