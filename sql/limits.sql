--
-- max_chars, byte_width, varchar(n) and char(n).
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (id int, v text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');

--
-- max_chars: one below, at and above it; after quotes are removed, in characters
--
ALTER FOREIGN TABLE t ALTER v OPTIONS (ADD max_chars '5');
CALL write_file('t.csv', E'1,abcd\n2,abcde\n3,abcdef\n4,"abcde"\n5,"abcdef"\n6,\n7,""\n8,"a""b""c"\n9,"""""""""""a"\n10,"ab\ncd"\n11,"ab\r\ncd"\n12,"a,b,c"\n13,"a,b,c,"\n');
SELECT id, replace(v, E'\n', '<LF>') AS v, length(v) FROM t;
-- blanks count
CALL write_file('t.csv', E'1,abc  \n2,abc   \n3,     \n4,      \n');
SELECT id, length(v) FROM t;
-- 2-, 3- and 4-byte characters count as one each
CALL write_file('t.csv', E'1,éèêëē\n2,éèêëēx\n3,€€€€€\n4,€€€€€€\n5,😀😁😂😃😄\n6,😀😁😂😃😄😅\n7,aé€😀b\n8,aé€😀bc\n9,"😀,""é"\n10,"😀,""é€z"\n');
SELECT id, v, octet_length(v) FROM t;
-- not wanted, not checked
SELECT id FROM t WHERE id > 8;
-- wanted by a WHERE clause alone
SELECT id FROM t WHERE v < 'b';
-- checked whether or not a filter would have rejected the record
SELECT id FROM t WHERE id = 3 AND v <> '';
-- a NULL is checked for nothing
ALTER FOREIGN TABLE t OPTIONS (ADD "null" 'nothing');
CALL write_file('t.csv', E'1,nothing\n2,"nothing"\n3,none\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP "null");
-- one character
ALTER FOREIGN TABLE t ALTER v OPTIONS (SET max_chars '1');
CALL write_file('t.csv', E'1,\n2,a\n3,ab\n4,😀\n5,""""\n6,""""""\n');
SELECT * FROM t;

--
-- byte_width: the bytes of the value
--
ALTER FOREIGN TABLE t ALTER v OPTIONS (DROP max_chars, ADD byte_width '8');
CALL write_file('t.csv', E'1,abcdefg\n2,abcdefgh\n3,abcdefghi\n4,"abcdefgh"\n5,"""bcdefg"""\n6,"""bcdefgh"""\n7,😀😁\n8,😀😁x\n9,€€é\n10,€€€\n11,"ab\n,fgh"\n');
SELECT id, replace(v, E'\n', '<LF>') AS v FROM t;
ALTER FOREIGN TABLE t ALTER v OPTIONS (SET byte_width '4');
CALL write_file('t.csv', E'1,abc\n2,abcd\n3,abcde\n4,\n5,"""""""""""",\n');
SELECT * FROM t;
-- both: characters first
ALTER FOREIGN TABLE t ALTER v OPTIONS (SET byte_width '8', ADD max_chars '4');
CALL write_file('t.csv', E'1,abcd\n2,abcdefghi\n3,€€€\n4,€€\n5,éééé\n6,ééééé\n');
SELECT * FROM t;
-- without byte_width, four bytes for each character
ALTER FOREIGN TABLE t ALTER v OPTIONS (DROP byte_width);
CALL write_file('t.csv', E'1,😀😁😂😃\n2,abcd\n');
SELECT * FROM t;

--
-- of columns that are not text
--
CREATE FOREIGN TABLE numbers (a int OPTIONS (max_chars '3'), b numeric OPTIONS (byte_width '4'), c date OPTIONS (max_chars '10'),
                              d bool OPTIONS (max_chars '4'), e json OPTIONS (max_chars '6'), f bytea OPTIONS (byte_width '8'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'123,1.25,2024-02-29,true,"{""a"":1}",\\x0102\n');
SELECT * FROM numbers;
CALL write_file('t.csv', E'123,1.25,2024-02-29,true,"[1, 2]",\\x010203\n1234,1,2024-02-29,t,1,\n 123,1,2024-02-29,t,1,\n1,1.250,2024-02-29,t,1,\n1,1,2024-02-29 ,t,1,\n1,1,2024-02-29,false,1,\n1,1,2024-02-29,t,1234567,\n1,1,2024-02-29,t,123456,\\x01020304\n');
SELECT * FROM numbers;
-- limits come before what the type makes of the value
CALL write_file('t.csv', E'none,1,2024-02-29,t,1,\nx,1,2024-02-29,t,1,\n1,1e400,2024-02-29,t,1,\n1,x,not a date at all,t,1,\n');
SELECT * FROM numbers;

--
-- varchar(n) and char(n): blanks beyond n are cut, any other excess is an error
--
CREATE FOREIGN TABLE strings (id int, v varchar(4), c char(4)) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'1,abcd,abcd\n2,abc,abc\n3,abcd    ,abcd    \n4,abcde,a\n5,a,abcde\n6,abcd e,a\n7,a,abcd e\n8,,\n9,"",""\n10,😀😁😂😃,😀😁😂😃\n11,😀😁😂😃😄,a\n12,😀😁😂😃   ,😀  \n13,"a""b""","""a"""\n14,ab  ,ab  \n15,"    ","      "\n16,abcdé,a\n17,"abcd\t",a\n');
SELECT id, v, length(v), octet_length(v) AS bytes, c, length(c), octet_length(c) AS bytes, c || '|' AS c2 FROM strings;
-- as the casts have it
CREATE TABLE expected (id int, v varchar(4), c char(4));
INSERT INTO expected VALUES (1, 'abcd', 'abcd'), (2, 'abc', 'abc'), (3, 'abcd    ', 'abcd    '), (10, '😀😁😂😃', '😀😁😂😃');
SELECT count(*) FROM strings s JOIN expected e USING (id) WHERE s.v = e.v AND s.c = e.c AND octet_length(s.v) = octet_length(e.v) AND octet_length(s.c) = octet_length(e.c);
-- max_chars stands before n, and byte_width beside both
CREATE FOREIGN TABLE both_limits (id int, v varchar(4) OPTIONS (max_chars '6'), c char(4) OPTIONS (max_chars '6'), w varchar(4) OPTIONS (byte_width '8'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'1,abcd  ,abcd  ,abcd\n2,abcd   ,a,a\n3,a,abcd   ,a\n4,abcdef,a,a\n5,a,abcdef,a\n6,abcdefg,a,a\n7,a,a,éééé\n8,a,a,€€€\n9,a,a,abcde\n');
SELECT * FROM both_limits;
-- varchar and char without n, name, "char"
CREATE FOREIGN TABLE others (v varchar, b bpchar, n name, c "char") SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_query('t.csv', $$SELECT E'abc  ,abc  ,abc  ,x\n' || repeat('v', 1000) || ',' || repeat('b', 1000) || ',' || repeat('n', 100) || E',xyz\n'$$);
SELECT length(v) AS v, octet_length(b) AS b, length(n) AS n, c FROM others;
-- a wide char(n)
CREATE FOREIGN TABLE wide (c char(300), d char(1000)) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_query('t.csv', $$SELECT repeat('a', 300) || ',' || repeat('b', 1000) || E'\n' || repeat('a', 301) || E',b\na,' || repeat('b', 1001) || E'\na   ,b\n'$$);
SELECT octet_length(c), length(c), octet_length(d), length(d) FROM wide;

--
-- without limits nothing is cut or dropped
--
ALTER FOREIGN TABLE t ALTER v OPTIONS (DROP max_chars);
CALL write_query('t.csv', $$SELECT string_agg(n || ',' || repeat('x', n) || E'\n', '' ORDER BY n) FROM unnest(ARRAY[0, 1, 125, 126, 127, 128, 255, 256, 4095, 65535, 65536, 1000000]) n$$);
SELECT count(*), count(*) FILTER (WHERE length(v) = id) AS right_length, max(length(v)) FROM t;
-- one long value among many short ones
CALL write_query('t.csv', $$SELECT string_agg(n || ',' || repeat('x', CASE n WHEN 500 THEN 2000000 ELSE 1 + n % 7 END) || E'\n', '' ORDER BY n) FROM generate_series(1, 1000) n$$);
SELECT count(*), sum(length(v)), max(length(v)) FROM t;
SELECT id, length(v) FROM t WHERE id BETWEEN 499 AND 501;
-- quoted, with quotes inside it
CALL write_query('t.csv', $$SELECT '1,"' || repeat('""', 300000) || E'"\n2,' || repeat('😀', 100000) || E'\n'$$);
SELECT id, length(v), octet_length(v) FROM t;
-- a number of many digits
CREATE FOREIGN TABLE long_int (id int, v int) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_query('t.csv', $$SELECT '1,' || repeat(' ', 100000) || E'7\n2,' || repeat('0', 100000) || E'8\n3,' || repeat('9', 1000) || E'\n'$$);
SELECT * FROM long_int;

\i :teardown
