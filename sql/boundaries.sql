--
-- Where a record ends: LF, CR LF, CR, all of them, and blank lines.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

-- shows a value with its control characters
CREATE FUNCTION show(value text) RETURNS text LANGUAGE sql AS
  $$SELECT replace(replace(value, E'\r', '<CR>'), E'\n', '<LF>')$$;
CREATE FOREIGN TABLE t (a text, b text, line bigint OPTIONS (virtual 'line'),
                        record bigint OPTIONS (virtual 'record'),
                        byte_offset bigint OPTIONS (virtual 'byte_offset'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CREATE FOREIGN TABLE one (a text, line bigint OPTIONS (virtual 'line'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CREATE VIEW v AS SELECT show(a) AS a, show(b) AS b, line, record, byte_offset FROM t;

--
-- auto
--
-- LF, with and without a final one
CALL write_file('t.csv', E'1,2\n3,4\n');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2\n3,4');
SELECT * FROM v;
-- CR LF
CALL write_file('t.csv', E'1,2\r\n3,4\r\n');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2\r\n3,4');
SELECT * FROM v;
CALL write_file('t.csv', E'"1","2"\r\n"3","4"\r\n');
SELECT * FROM v;
-- lone CRs, where there is no LF
CALL write_file('t.csv', E'1,2\r3,4\r');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2\r3,4');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2\r');
SELECT * FROM v;
-- LF, CR LF and CR CR LF mixed; a third CR is not dropped
CALL write_file('t.csv', E'1,2\n3,4\r\n5,6\n7,8\r\r\n9,\r\n10,11\r\r\r\n12,\r\r\n"13","14\r\r\n"\r\r\n');
SELECT * FROM v;
-- as programs on Windows write it by mistake, with blank lines
CALL write_file('t.csv', E'1,2\r\r\n\r\r\n3,4\r\r\n');
SELECT * FROM v;
CALL write_file('t.csv', E'1\r\r\n\r\r\n2\r\r\n');
SELECT show(a), a IS NULL AS isnull, line FROM one;
-- a lone CR is data and no line where there is a LF, even further down
CALL write_file('t.csv', E'1,2\n3,4\r5\n\r6,7\n8,9\r');
SELECT * FROM v;
CALL write_file('t.csv', E'1\r,2\n3,4\n5,6\n');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2\r3\n4,5\r\n6,7\r');
SELECT * FROM v;
-- what is reported of a record lacks the CRs of its line break
CALL write_file('t.csv', E'1,2\r\r\n3\r\r\n4\r\r\r\n"5"x,6\r\r\n');
SELECT line, show(raw) AS raw, error FROM csv_gpu_errors('t');
-- LFs in quotes leave a file's lone CRs as they are, where quotes begin a record, too
CALL write_file('t.csv', E'a,"b"\r"1\n",2\r3,"4\r\n5"\r');
SELECT * FROM v;
-- breaks inside quotes decide nothing, and are data as they are
CALL write_file('t.csv', E'"1\r",2\n3,"4\r\n5"\n"6\n7","\r"\n');
SELECT * FROM v;
CALL write_file('t.csv', E'"1\n",2\r3,"4\r\n5"\r');
SELECT * FROM v;
-- a header's break decides, too
ALTER FOREIGN TABLE t OPTIONS (ADD header 'true');
CALL write_file('t.csv', E'a,b\r1,2\r3,4\r');
SELECT * FROM v;
ALTER FOREIGN TABLE t OPTIONS (DROP header);
-- each file of a pattern decides for itself
CREATE FOREIGN TABLE several (a text, b text) SERVER csv OPTIONS (filename 'regress_csv/s*.csv');
CALL write_file('s1.csv', E'1,2\r3,4\r');
CALL write_file('s2.csv', E'1,2\r\n3,4\r\n');
CALL write_file('s3.csv', E'1,2\n3,4\n');
SELECT * FROM several;

--
-- A Ctrl-Z alone on the last line ends the data
--
CALL write_file('t.csv', E'1,2\n3,4\n\x1A');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2\r\n3,4\r\n\x1A\r\n\r\n');
SELECT * FROM v;
CALL write_file('t.csv', E'1\r2\r\x1A\r');
SELECT * FROM one;
-- but nowhere else
CALL write_file('t.csv', E'1\n\x1A\n2\x1A');
SELECT replace(a, E'\x1A', '<SUB>') AS a, line FROM one;

--
-- lf: a CR before it is data
--
ALTER FOREIGN TABLE t OPTIONS (ADD record_boundary 'lf');
CALL write_file('t.csv', E'1,2\n3,4\r\n5\r6,7\n8,9');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2\r3,4\r');
SELECT * FROM v;
-- data after a closing quote, that is
CALL write_file('t.csv', E'1,"2"\r\n3,"4"\n');
SELECT * FROM v;

--
-- crlf: both bytes, in this order
--
ALTER FOREIGN TABLE t OPTIONS (SET record_boundary 'crlf');
CALL write_file('t.csv', E'1,2\r\n3,4\n5\r\n6\r7,8\r\n"9\n\r\n","10\r"\r\n11,12');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2\n3,4\n');
SELECT * FROM v;

--
-- cr
--
ALTER FOREIGN TABLE t OPTIONS (SET record_boundary 'cr');
CALL write_file('t.csv', E'1,2\r3,4\r5,6');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2\r\n3,4\r\n');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2\n3,4\n');
SELECT * FROM v;
-- a header may end in a LF
ALTER FOREIGN TABLE t OPTIONS (ADD header 'true');
CALL write_file('t.csv', E'a,b\n1,2\r3,4\r5,6\r');
SELECT * FROM v;
ALTER FOREIGN TABLE t OPTIONS (DROP header);
ALTER FOREIGN TABLE t OPTIONS (SET record_boundary 'AUTO');

--
-- blank lines: no record where there are several fields
--
CALL write_file('t.csv', E'\n1,2\n\n\n3,4\n\n');
SELECT * FROM v;
CALL write_file('t.csv', E'\r\n\r\n1,2\r\n\r\n3,4\r\n\r\n');
SELECT * FROM v;
CALL write_file('t.csv', E'\r\r1,2\r\r3,4\r\r');
SELECT * FROM v;
CALL write_file('t.csv', E'\n\n\n');
SELECT * FROM v;
-- a line of blanks is none
CALL write_file('t.csv', E'1,2\n \n3,4\n');
SELECT * FROM v;
-- a quoted empty field is none
CALL write_file('t.csv', E'1,2\n""\n3,4\n');
SELECT * FROM v;
-- in a file of one field it is a record, whose field is empty
CALL write_file('t.csv', E'\n1\n\n2\n');
SELECT show(a), a IS NULL AS isnull, line FROM one;
CALL write_file('t.csv', E'\r\n1\r\n\r\n2');
SELECT show(a), a IS NULL AS isnull, line FROM one;
CALL write_file('t.csv', E'\r1\r\r2\r');
SELECT show(a), a IS NULL AS isnull, line FROM one;
-- after the last boundary there is no further record
CALL write_file('t.csv', E'1\n""');
SELECT show(a), a IS NULL AS isnull, line FROM one;
-- of several fields in the file, not in the table, and by the other way about
CREATE FOREIGN TABLE first (a text OPTIONS ("column" '0')) SERVER csv
  OPTIONS (filename 'regress_csv/t.csv', columns '2');
CALL write_file('t.csv', E'1,2\n\n3,4\n');
SELECT * FROM first;
CREATE FOREIGN TABLE twice (a text OPTIONS ("column" '0'), b int OPTIONS ("column" '0')) SERVER csv
  OPTIONS (filename 'regress_csv/t.csv', columns '1');
CALL write_file('t.csv', E'1\n\n2\n');
SELECT * FROM twice;

--
-- multiline 'false': a break ends the record, inside quotes too
--
ALTER FOREIGN TABLE t OPTIONS (ADD multiline 'false');
CALL write_file('t.csv', E'1,"2"\n3,"4\n5"\n6,"7"\n');
SELECT * FROM v;
CALL write_file('t.csv', E'1,"2"\r\n3,"4\r\n5"\r\n6,"7"\r\n');
SELECT * FROM v;
-- the same with CR
CALL write_file('t.csv', E'1,"2"\r3,"4\r5"\r6,"7"\r');
SELECT * FROM v;

--
-- BOM: dropped at the top of a file, data anywhere else
--
ALTER FOREIGN TABLE t OPTIONS (DROP multiline);
CALL write_file('t.csv', E'\uFEFF1,2\n3,4\n');
SELECT * FROM v;
CALL write_file('t.csv', E'\uFEFF"1","2"\n');
SELECT * FROM v;
CALL write_file('t.csv', E'\uFEFF\uFEFF1,2\n\uFEFF3,4\n');
SELECT length(a), b, byte_offset FROM t;
ALTER FOREIGN TABLE t OPTIONS (ADD header 'match');
CALL write_file('t.csv', E'\uFEFFa,b\n1,2\n');
SELECT * FROM v;
ALTER FOREIGN TABLE t OPTIONS (DROP header);
-- half a BOM is data
CALL write_file('t.csv', '\xefbb312c320a'::bytea);
SELECT b FROM t;
SELECT a, b FROM t;
CALL write_file('t.csv', '\xef'::bytea);
SELECT a FROM one;
-- in each file of a pattern
CALL write_file('s1.csv', E'\uFEFF1,2\n');
CALL write_file('s2.csv', E'\uFEFF3,4\n');
CALL write_file('s3.csv', E'\uFEFF');
SELECT * FROM several;

\i :teardown
