--
-- Delimiter, quote and escape; the simple format.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (a text, b text, c text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');

-- the defaults
CALL write_file('t.csv', E'x,"y,y","z ""z"""\n ,"", "q"\n');
SELECT *, b IS NULL AS bnull FROM t;

-- delimiter
ALTER FOREIGN TABLE t OPTIONS (ADD delimiter ';');
CALL write_file('t.csv', E'1;"a;b";c,d\n2;;"x"\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET delimiter E'\t');
CALL write_file('t.csv', E'1\t"a\tb"\tc,d\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET delimiter E'\x01');
CALL write_file('t.csv', E'1\x01"a\x01b"\x01c,d\n');
SELECT a, b = E'a\x01b' AS b, c FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET delimiter ' ');
CALL write_file('t.csv', E'1 "a b" c\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET delimiter '0');
CALL write_file('t.csv', E'10"202"03\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET delimiter E'\x7f');
CALL write_file('t.csv', E'1\x7f2\x7f3\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP delimiter);

-- quote
ALTER FOREIGN TABLE t OPTIONS (ADD quote '''');
CALL write_file('t.csv', E'\'a,b\',\'it\'\'s\',"c"\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET quote '|');
CALL write_file('t.csv', E'|a,b|,|c||d|,"e"\n');
SELECT * FROM t;

-- escape
ALTER FOREIGN TABLE t OPTIONS (DROP quote, ADD escape '\');
CALL write_file('t.csv', E'"a\\"b","c\\\\d","e\\nf"\n\\,x\\y,"\\\\\\""\n');
SELECT * FROM t;
-- an escape outside quotes is data; a doubled quote is none where the escape is another character
CALL write_file('t.csv', E'"a""b",c,d\n\\"e\\",f,g\n"h","i\\,j",k\n');
SELECT * FROM t;
-- an escape at the end of the input leaves the field open
CALL write_file('t.csv', E'a,b,"c\\"');
SELECT * FROM t;
CALL write_file('t.csv', E'a,b,"c\\');
SELECT * FROM t;
-- the delimiter as escape: it escapes inside quotes, and separates outside
ALTER FOREIGN TABLE t OPTIONS (SET escape ',');
CALL write_file('t.csv', E'"a,"b",c,"d,,e"\n1,2,3\n');
SELECT * FROM t;
-- the escape given as the quote is the default
ALTER FOREIGN TABLE t OPTIONS (SET escape '"');
CALL write_file('t.csv', E'"a""b","""",""\n');
SELECT *, c IS NULL AS cnull FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP escape);

-- the simple format: quotes are data, and a line break always ends the record
ALTER FOREIGN TABLE t OPTIONS (ADD quote '');
CALL write_file('t.csv', E'"a","b",c"\n"x,y",z\n1,5" pipe,"\r\n""",\\,\'\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (ADD delimiter E'\t');
CALL write_file('t.csv', E'"a\tb"\tc,d\n1\t\t\n1\t2\t3\t4\n');
SELECT *, b IS NULL AS bnull FROM t;
-- nothing is quoted there, so force_null has nothing to do
ALTER FOREIGN TABLE t ALTER b OPTIONS (ADD force_null 'true');
CALL write_file('t.csv', E'1\t""\t3\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t ALTER b OPTIONS (DROP force_null);
ALTER FOREIGN TABLE t OPTIONS (DROP quote, DROP delimiter);

-- a line of a backslash and a dot is data
CALL write_file('t.csv', E'1,2,3\n\\.\n4,5,6\n\\.,\\.,\\.\n');
SELECT * FROM t;
CREATE FOREIGN TABLE one (a text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'1\n\\.\n"\\."\n2\n');
SELECT * FROM one;

-- blanks belong to the value, and a quote after a blank is data
CALL write_file('t.csv', E' a , b ,  \n "a" ,"b","c"\n');
SELECT a, length(a), b, length(b), c, length(c) FROM t;

-- delimiter, quote and escape next to each other, all fields empty
CALL write_file('t.csv', E',,\n"","",""\n"","",\n"""","""",""""""\n",",",,","\n"\n');
SELECT *, a IS NULL AS anull, c IS NULL AS cnull FROM t;

-- the format may be named, in any case
ALTER FOREIGN TABLE t OPTIONS (ADD format 'CSV');
CALL write_file('t.csv', E'1,2,3\n');
SELECT * FROM t;

\i :teardown
