--
-- The quoting grammars: rfc4180 and postgres.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FUNCTION show(value text) RETURNS text LANGUAGE sql AS
  $$SELECT replace(replace(value, E'\r', '<CR>'), E'\n', '<LF>')$$;
CREATE FOREIGN TABLE t (a text, b text, c text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CREATE VIEW v AS SELECT show(a) AS a, show(b) AS b, show(c) AS c FROM t;

--
-- rfc4180, the default
--
-- a quote opens a field at its start only
CALL write_file('t.csv', E'1,5" pipe,6"" pipe\n"2",a"b"c,"x"\n3, "a b",c"\n');
SELECT * FROM v;
-- a doubled quote, also at the start and the end of a field
CALL write_file('t.csv', E'"""a","a""","""a"""\n"""","""""","a""""b"\n');
SELECT * FROM v;
-- delimiters and breaks are data in quotes
CALL write_file('t.csv', E'"a,b","c\nd","e\r\nf"\n"\n",",","\r"\n"1\n2\n3",4,"5\n\n6"\n');
SELECT * FROM v;
-- the last field of the last record may be quoted, with no boundary after it
CALL write_file('t.csv', E'1,2,"3"');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2,"3\n"');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2,""');
SELECT *, c IS NULL AS cnull FROM v;
CALL write_file('t.csv', E'1,2,');
SELECT *, c IS NULL AS cnull FROM v;

-- text after the closing quote: that line is lost, and no other
CALL write_file('t.csv', E'"a"b,c,d\n1,2,3\n1,"a" ,3\n1,2,"a"""b\n4,5,6\n"a""b"c"d",5,6\n7,8,9\n');
SELECT * FROM v;
-- the field is that of the file, the first one of the record
CALL write_file('t.csv', E'1,2,3\n"1"x,"2"y,"3"z\n1,2,"3"z\n1,2,3,"4"z\n');
SELECT * FROM v;
-- quoting comes before the count
CALL write_file('t.csv', E'"1"x\n1,2,3,4,5,"6"x\n1\n');
SELECT * FROM v;
-- at the end of input
CALL write_file('t.csv', E'1,2,3\n1,2,"3"z');
SELECT * FROM v;
-- a CR that is no part of a break
CALL write_file('t.csv', E'1,2,"3"\r\n4,5,"6"\r');
SELECT * FROM v;

-- a quote that is never closed: its line is lost, and no other
CALL write_file('t.csv', E'1,2,3\n4,"5,6\n7,8,9\n10,11,12\n');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2,3\n4,"5,6');
SELECT * FROM v;
CALL write_file('t.csv', E'"');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2,"3\n');
SELECT * FROM v;

-- checked also where the field is not wanted, and nothing is
CALL write_file('t.csv', E'1,2,"3"z\n1,"2"z,3\n4,5,6\n7,8,"9\n');
SELECT a FROM t;
SELECT count(*) FROM t;
SELECT a FROM t WHERE b > '0';

--
-- multiline 'false'
--
ALTER FOREIGN TABLE t OPTIONS (ADD multiline 'false');
CALL write_file('t.csv', E'1,"a\nb",3\n4,"5",6\n7,8,"9\n10,"1""1","12"\n"13"x,14,15\n16,17,"18"');
SELECT * FROM v;
CALL write_file('t.csv', E'1,2,"3\r\n4,5,6\r\n7,8,"9');
SELECT * FROM v;
ALTER FOREIGN TABLE t OPTIONS (DROP multiline);

--
-- postgres: a quote opens or closes quoting wherever it stands, as in COPY
--
ALTER FOREIGN TABLE t OPTIONS (ADD quoting 'postgres');
CALL write_file('t.csv', E'1,a"b,c"d,3\n"4"x,"5"" pipe"y,"6"\n7,"a""b"" ""c",""\n"a""b"c"d",""x"",9\n10,5" x" y,"11"\n');
SELECT * FROM v;
CREATE TABLE copied (a text, b text, c text);
COPY copied FROM 'regress_csv/t.csv' (FORMAT csv);
SELECT count(*) FROM copied;
(SELECT * FROM t EXCEPT ALL SELECT * FROM copied) UNION ALL (SELECT * FROM copied EXCEPT ALL SELECT * FROM t);
-- what was quoted anywhere is not NULL
CALL write_file('t.csv', E'"",NULL,""""\n,N"U"LL,\n');
ALTER FOREIGN TABLE t OPTIONS (ADD "null" 'NULL');
SELECT *, b IS NULL AS bnull FROM v;
TRUNCATE copied;
COPY copied FROM 'regress_csv/t.csv' (FORMAT csv, NULL 'NULL');
SELECT *, b IS NULL AS bnull FROM copied;
ALTER FOREIGN TABLE t OPTIONS (DROP "null");
-- another escape
ALTER FOREIGN TABLE t OPTIONS (ADD escape '\');
CALL write_file('t.csv', E'a\\b,"c\\"d",e\\"f,g"\nx"\\\\"y,"1\\2",\n');
SELECT * FROM v;
TRUNCATE copied;
COPY copied FROM 'regress_csv/t.csv' (FORMAT csv, ESCAPE '\');
SELECT show(a) AS a, show(b) AS b, show(c) AS c FROM copied;
ALTER FOREIGN TABLE t OPTIONS (DROP escape);
-- not closed
CALL write_file('t.csv', E'1,2,3\n4,5",6\n7,8,9\n10,11"",12\n');
SELECT * FROM v;
-- nothing is text after a quote
CALL write_file('t.csv', E'1,2,"3"z\n"4" ,5,6\n');
SELECT * FROM v;

--
-- both grammars read a file without oddities as COPY does
--
CALL write_query('t.csv', $$SELECT string_agg(format(E'%s,"%s",%s\n', i, repeat('a,', i % 3) || repeat('""', i % 4) || repeat(E'\n', i % 2), CASE i % 5 WHEN 0 THEN '' WHEN 1 THEN '""' ELSE 'z' END), '' ORDER BY i) FROM generate_series(1, 500) i$$);
TRUNCATE copied;
COPY copied FROM 'regress_csv/t.csv' (FORMAT csv);
SELECT count(*), count(b), count(c), sum(length(b)) FROM t;
SELECT count(*), count(b), count(c), sum(length(b)) FROM copied;
(SELECT * FROM t EXCEPT ALL SELECT * FROM copied) UNION ALL (SELECT * FROM copied EXCEPT ALL SELECT * FROM t);
ALTER FOREIGN TABLE t OPTIONS (SET quoting 'rfc4180');
(SELECT * FROM t EXCEPT ALL SELECT * FROM copied) UNION ALL (SELECT * FROM copied EXCEPT ALL SELECT * FROM t);

\i :teardown
