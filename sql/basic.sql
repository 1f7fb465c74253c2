--
-- A CSV file as a table.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CALL write_file('people.csv', E'1,Ada,1.70,1990-05-17\n2,Grace,1.62,1985-12-09\n3,"Kurt, jr.",,\n4,"Emmy ""E""",1.58,1999-01-31\n');
CREATE FOREIGN TABLE people (id int, name text, height float8, born date)
  SERVER csv OPTIONS (filename 'regress_csv/people.csv');

SELECT * FROM people;
-- columns in another order, some of them, none of them
SELECT born, name FROM people ORDER BY name;
SELECT count(*) FROM people;
SELECT 1 AS one FROM people WHERE false;
SELECT id FROM people WHERE name LIKE 'K%';
SELECT name FROM people WHERE height IS NULL;
SELECT sum(id), max(height), min(born), count(born) FROM people;
-- the whole row, system columns
SELECT p FROM people p WHERE id = 4;
SELECT tableoid::regclass, (p).name FROM people p WHERE id = 1;
SELECT row_to_json(p) FROM people p LIMIT 1;
-- a foreign table is read only
INSERT INTO people VALUES (5, 'Alan');
UPDATE people SET name = 'x';
DELETE FROM people;
-- what is written between two queries is read
CALL write_file('people.csv', E'7,Sofia,1.66,1950-01-15');
SELECT * FROM people;
CALL write_file('people.csv', '');
SELECT * FROM people;
SELECT count(*) FROM people;

--
-- files that hold less than they might
--
CREATE FOREIGN TABLE t (a text, b text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CREATE FOREIGN TABLE one (a text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CREATE FOREIGN TABLE h (a text, b text) SERVER csv OPTIONS (filename 'regress_csv/t.csv', header 'true');
CREATE FOREIGN TABLE h3 (a text, b text) SERVER csv OPTIONS (filename 'regress_csv/t.csv', header_rows '3');
-- nothing
CALL write_file('t.csv', '');
SELECT * FROM t;
SELECT * FROM one;
SELECT * FROM h;
SELECT * FROM h3;
-- a BOM and nothing else
CALL write_file('t.csv', E'\uFEFF');
SELECT * FROM t;
SELECT * FROM one;
SELECT * FROM h;
-- a line break and nothing else: no record of two fields, but one of one field
CALL write_file('t.csv', E'\n');
SELECT * FROM t;
SELECT *, a IS NULL AS isnull FROM one;
SELECT * FROM h;
-- a header only, with and without its boundary
CALL write_file('t.csv', E'a,b\n');
SELECT * FROM h;
SELECT * FROM h3;
CALL write_file('t.csv', E'a,b');
SELECT * FROM h;
SELECT * FROM h3;
-- as many header rows as records, and one record more
CALL write_file('t.csv', E'1,2\n3,4\n5,6\n');
SELECT * FROM h3;
CALL write_file('t.csv', E'1,2\n3,4\n5,6\n7,8\n');
SELECT * FROM h3;
-- one byte
CALL write_file('t.csv', ',');
SELECT *, a IS NULL AS anull, b IS NULL AS bnull FROM t;
CALL write_file('t.csv', 'x');
SELECT * FROM one;
SELECT * FROM t;
CALL write_file('t.csv', '"');
SELECT * FROM one;
CALL write_file('t.csv', '\000'::bytea);
SELECT * FROM one;
SELECT * FROM t;

--
-- files of one byte over and over
--
CALL write_query('t.csv', $$SELECT repeat('"', 1000)$$);
SELECT length(a), count(*) FROM one GROUP BY 1;
CALL write_query('t.csv', $$SELECT repeat('"', 1001)$$);
SELECT count(*) FROM one;
CALL write_query('t.csv', $$SELECT repeat(',', 1000)$$);
SELECT count(*) FROM one;
SELECT count(*) FROM t;
CALL write_query('t.csv', $$SELECT repeat(E'\n', 1000)$$);
SELECT count(*), count(a) FROM one;
SELECT count(*) FROM t;
CALL write_query('t.csv', $$SELECT repeat(E'\r', 1000)$$);
SELECT count(*), count(a) FROM one;
SELECT count(*) FROM t;
CALL write_file('t.csv', decode(repeat('00', 1000), 'hex'));
SELECT count(*) FROM one;
SELECT a FROM one;
CALL write_file('t.csv', decode(repeat('ff', 1000), 'hex'));
SELECT count(*) FROM one;
SELECT a FROM one;

--
-- 1,600 columns
--
CALL write_query('wide.csv', $$SELECT string_agg(line, E'\n') FROM (SELECT string_agg((r * 10000 + c)::text, ',' ORDER BY c) AS line FROM generate_series(1, 3) r, generate_series(1, 1600) c GROUP BY r ORDER BY r) s$$);
DO $$
BEGIN
  EXECUTE (SELECT format('CREATE FOREIGN TABLE wide (%s) SERVER csv OPTIONS (filename %L)',
                         string_agg(format('c%s int', c), ', ' ORDER BY c), 'regress_csv/wide.csv')
           FROM generate_series(1, 1600) c);
END $$;
SELECT c1, c2, c800, c1599, c1600 FROM wide;
SELECT count(*) FROM wide WHERE c1600 - c1 = 1599;
SELECT c1600 FROM wide w WHERE w IS NOT NULL LIMIT 1;

\i :teardown
