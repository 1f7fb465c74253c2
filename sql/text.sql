--
-- format 'text': COPY's own, as COPY TO and pg_dump write it.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FUNCTION show(value text) RETURNS text LANGUAGE sql AS
  $$SELECT replace(replace(value, E'\r', '<CR>'), E'\n', '<LF>')$$;
CREATE FOREIGN TABLE t (a text, b text, c text) SERVER csv OPTIONS (filename 'regress_csv/t.txt', format 'text');
CREATE VIEW v AS SELECT show(a) AS a, show(b) AS b, show(c) AS c FROM t;

-- what COPY TO writes, NULLs and all
CREATE TABLE source (i int, n numeric(8, 2), d date, b bool, f float8, t text, a text[], x bytea, j jsonb);
INSERT INTO source
  SELECT i, i / 3.0, '2024-01-01'::date + i, i % 2 = 0, i / 7.0,
    CASE i % 6 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN E'tab\t, newline\n and \\backslash' WHEN 3 THEN '\N'
      WHEN 4 THEN repeat(E'é\b\f\v\r', i) ELSE '\.' END,
    ARRAY['x', NULL, E'\\"\t', 'NULL'], decode(lpad(to_hex(i), 8, '0'), 'hex'), jsonb_build_object('key', E'"\\\n' || i)
  FROM generate_series(1, 2000) i;
COPY source TO PROGRAM 'cat > regress_csv/source.txt';
CREATE FOREIGN TABLE copied (i int, n numeric(8, 2), d date, b bool, f float8, t text, a text[], x bytea, j jsonb)
  SERVER csv OPTIONS (filename 'regress_csv/source.txt', format 'text');
SELECT count(*) FROM copied;
SELECT count(*) FROM (TABLE copied EXCEPT TABLE source) s;
SELECT count(*) FROM (TABLE source EXCEPT TABLE copied) s;
SELECT b, count(*), count(t), sum(n), max(d), min(t) FROM copied WHERE i > 10 GROUP BY b ORDER BY b;
SELECT i FROM copied WHERE t = '\N' AND i < 20 ORDER BY i;
SELECT i FROM copied WHERE t = '' AND i < 20 ORDER BY i;

-- with another delimiter, another NULL and a header
COPY source TO PROGRAM 'cat > regress_csv/source.txt' (DELIMITER '|', NULL 'none', HEADER);
ALTER FOREIGN TABLE copied OPTIONS (ADD delimiter '|', ADD null 'none', ADD header 'match');
SELECT count(*) FROM (TABLE copied EXCEPT TABLE source) s;
SELECT count(*) FROM (TABLE source EXCEPT TABLE copied) s;

-- escapes
CALL write_file('t.txt', E'\\b\\f\\v\t\\t\\n\\r\t\\\\n\n\\101\\x42\\x4a\t\\60\\7x\\1234\t\\x4\\xg\\q\\é\n');
SELECT a = E'\b\f' || chr(11) AS a, b = E'\t\n\r' AS b, c = E'\\n' AS c FROM t LIMIT 1;
SELECT a, b = '0' || chr(7) || 'xS4' AS b, c = E'\x04xgqé' AS c FROM t OFFSET 1;
-- quotes are data
CALL write_file('t.txt', E'"a"\t"\tb"\n""\t''\t"\n');
SELECT * FROM v;
-- a delimiter or a line break behind a backslash is data
CALL write_file('t.txt', E'1\\\t2\t3\\\n4\t5\n6\t7\\\\\t8\n\\\\\\\t9\t\\\\\\\\\t10\n');
SELECT * FROM v;
-- with CR LF
CALL write_file('t.txt', E'1\t2\t3\\\r\n4\r\n5\t6\t7\\\\\r\n8\t\\r\t9\r\n');
SELECT * FROM v;
-- with CR
CALL write_file('t.txt', E'1\t2\t3\\\r4\r5\t6\\\n\t7\r');
SELECT * FROM v;
-- NULL is what stands in the file
CALL write_file('t.txt', E'\\N\t\\\\N\t\\N \n\\x5cN\tN\t\n');
SELECT *, a IS NULL AS a_null, b IS NULL AS b_null, c IS NULL AS c_null FROM v;

-- the end of the data, if it is the last line
CALL write_file('t.txt', E'1\t2\t3\n\\.\n');
SELECT * FROM v;
CALL write_file('t.txt', E'1\t2\t3\n\\.');
SELECT * FROM v;
CALL write_file('t.txt', E'1\t2\t3\r\n\\.\r\n');
SELECT * FROM v;
CALL write_file('t.txt', E'\\.\n');
SELECT * FROM v;
-- pg_dump puts empty lines behind it
CALL write_file('t.txt', E'1\t2\t3\n\\.\n\n\n');
SELECT * FROM v;
CALL write_file('t.txt', E'1\t2\t3\n\\.\n4\t5\t6\n');
SELECT * FROM v;
-- the same in a file of one column
CREATE FOREIGN TABLE one (a text) SERVER csv OPTIONS (filename 'regress_csv/one.txt', format 'text');
CALL write_file('one.txt', E'a\n\n\\N\n\\\\.\n.\n\\.\n');
SELECT a, a IS NULL AS is_null FROM one;
SELECT count(*), count(a) FROM one;
CALL write_file('one.txt', E'a\n\n\\.\n\n\n');
SELECT a FROM one;

-- errors
CALL write_file('t.txt', E'1\t2\n1\t2\t3\t4\n1\t2\t3\\\t4\n');
SELECT * FROM v;
CREATE FOREIGN TABLE checked (n int, s text OPTIONS (max_chars '3', byte_width '4'), v varchar(2))
  SERVER csv OPTIONS (filename 'regress_csv/t.txt', format 'text');
CALL write_file('t.txt', E'1\t\\x61\\142\\143\tab\\n\n2\t\\141bcd\tab\n3\tabc\\144\tab\n4\tééé\ta\n5\tab\\\\\ta\\x20\\x20\\040\n\\61\\x32\ta\tb\n6x\\n\ta\tb\n');
SELECT * FROM checked;
-- zero bytes and what is no UTF-8, also by escapes
CALL write_file('t.txt', E'1\t\\0\t\n2\t\\x00a\t\n3\t\\xff\t\n4\t\\303\\251\ta\n5\t\\xc3\\n\ta\n');
SELECT * FROM checked;
SELECT record, column_name, error, message, raw FROM csv_gpu_errors('checked');
CALL write_file('t.txt', '\x3109c35c78613909610a'::bytea);
SELECT * FROM checked;
-- a record that is too long: its lines are read alone
CREATE FOREIGN TABLE short (a text) SERVER csv OPTIONS (filename 'regress_csv/t.txt', format 'text', max_record_size '8');
CALL write_file('t.txt', E'12345678\n123\\\n4567\\\n89\nabc\n');
SELECT * FROM short;

-- other encodings: what is converted is what stands in the file
CREATE FOREIGN TABLE latin (a text, b text) SERVER csv
  OPTIONS (filename 'regress_csv/t.txt', format 'text', encoding 'LATIN1');
CALL write_file('t.txt', convert_to(E'é\t\\303\\251\na\\101\t\\xe9\n', 'LATIN1'));
SELECT * FROM latin;
CREATE FOREIGN TABLE sjis (a text, b text) SERVER csv
  OPTIONS (filename 'regress_csv/t.txt', format 'text', encoding 'SJIS');
-- the second byte of this character is a backslash
CALL write_file('t.txt', '\x835c095c6e0a'::bytea);
SELECT a, show(b) AS b FROM sjis;

-- options
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere', format 'text', quote '''');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (escape '"', filename '/nowhere', format 'text');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere', format 'text', quoting 'postgres');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere', format 'text', multiline 'true');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere', format 'text', delimiter 'a');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere', format 'text', delimiter E'\\');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere', format 'text', null E'a\tb');
CREATE FOREIGN TABLE bad (a text OPTIONS (force_null 'true')) SERVER csv OPTIONS (filename 'regress_csv/t.txt', format 'text');
SELECT * FROM bad;
ALTER FOREIGN TABLE bad ALTER a OPTIONS (DROP force_null, ADD force_not_null 'true');
SELECT * FROM bad;
ALTER FOREIGN TABLE bad OPTIONS (SET format 'csv', ADD quote '''');
ALTER FOREIGN TABLE bad OPTIONS (SET format 'text');

-- IMPORT, where the format is said
COPY source (i, n, d, b, f, t) TO PROGRAM 'cat > regress_csv/imported.tsv' (HEADER);
IMPORT FOREIGN SCHEMA regress_csv LIMIT TO (imported) FROM SERVER csv INTO csv_test
  OPTIONS (format 'text', directory 'regress_csv');
SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'imported'::regclass AND attnum > 0 ORDER BY attnum;
SELECT unnest(ftoptions) FROM pg_foreign_table WHERE ftrelid = 'imported'::regclass;
SELECT count(*) FROM (SELECT i, n, d, b, t FROM imported EXCEPT SELECT i, n, d, b, t FROM source) s;

-- a load
CREATE TABLE target (LIKE source);
SELECT records_loaded, records_skipped FROM csv_gpu_load('copied', 'target');
SELECT count(*) FROM (TABLE target EXCEPT TABLE source) s;

\i :teardown
