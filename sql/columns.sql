--
-- Which field feeds which column, and how many fields there are.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

-- the count of fields is that of the columns
CREATE FOREIGN TABLE t (a text, b text, c text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'1,2,3\n1,2\n1\n1,2,3,4\n,,\n1,2,3,\n');
SELECT * FROM t;
-- checked also where nothing is wanted
SELECT count(*) FROM t;

--
-- column and columns
--
CREATE FOREIGN TABLE picked (f7 text OPTIONS ("column" '7'), f0 int OPTIONS ("column" '0'), f3 text OPTIONS ("column" '3'))
  SERVER csv OPTIONS (filename 'regress_csv/p.csv', columns '8');
CALL write_file('p.csv', E'0,1,2,3,4,5,6,7\n10,"1,1",,"3","\n",5,6,"7"\n20,1,2,3,4,5,6\n20,1,2,3,4,5,6,7,8\n');
SELECT * FROM picked;
SELECT f0 FROM picked;
SELECT f3, f7 FROM picked WHERE f0 = 10;
-- fields that nobody names may be of any length, and hold anything
CALL write_query('p.csv', $$SELECT format(E'1,%s,2,3,"%s",,,7\n', repeat('x', 1000000), repeat(E'""\n', 1000))$$);
SELECT * FROM picked;
CALL write_file('p.csv', E'1,\\377,\\000,3,\\355\\240\\200,,,7\n'::bytea);
SELECT * FROM picked;
-- as many fields as there can be
CREATE FOREIGN TABLE wide (last text OPTIONS ("column" '99999'), first int OPTIONS ("column" '0')) SERVER csv
  OPTIONS (filename 'regress_csv/p.csv', columns '100000');
CALL write_query('p.csv', $$SELECT '7' || repeat(',', 99999) || E'last\n1,2\n8' || repeat(',"",x', 49999) || E',z\n9' || repeat(',', 100000)$$);
SELECT * FROM wide;
-- a column without the option: its position
CREATE FOREIGN TABLE half (a text, b text OPTIONS ("column" '0'), c text)
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', columns '3');
CALL write_file('t.csv', E'1,2,3\n');
SELECT * FROM half;
-- one field for several columns, each with its own type and limits
CREATE FOREIGN TABLE shared (as_text text OPTIONS ("column" '1'), as_int int OPTIONS ("column" '1'),
                             short text OPTIONS ("column" '1', max_chars '3'), as_numeric numeric(8,2) OPTIONS ("column" '1'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', columns '2');
CALL write_file('t.csv', E'a,1\nb,+23\nc, 4\nd,x\ne,1234\nf,1.5\ng,abcd\n');
SELECT * FROM shared;
SELECT as_text, as_numeric FROM shared;
SELECT short FROM shared;
-- more fields than columns, and no column at all of the file's
CREATE FOREIGN TABLE lines (line int OPTIONS (virtual 'line'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', columns '2');
SELECT max(line), count(*) FROM lines;

--
-- dropped, generated and added columns
--
CREATE FOREIGN TABLE changing (gone int, a int, b text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'1,x\n2,y\n');
SELECT * FROM changing;
ALTER FOREIGN TABLE changing DROP COLUMN gone;
SELECT * FROM changing;
ALTER FOREIGN TABLE changing ADD COLUMN c int;
CALL write_file('t.csv', E'1,x,5\n2,y,6\n');
SELECT * FROM changing;
ALTER FOREIGN TABLE changing DROP COLUMN a;
CALL write_file('t.csv', E'x,5\ny,6\n');
SELECT * FROM changing;
SELECT c FROM changing;
CREATE FOREIGN TABLE generated (a int, twice int GENERATED ALWAYS AS (a * 2) STORED, b text)
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'1,x\n2,y\n');
SELECT a, b FROM generated;
-- virtual ones between the others
CREATE FOREIGN TABLE virtual (l int OPTIONS (virtual 'line'), a int, r int OPTIONS (virtual 'record'), b text)
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');
SELECT * FROM virtual;
-- a child of a plain table
CREATE TABLE parent (a int, b text);
CREATE FOREIGN TABLE child () INHERITS (parent) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
INSERT INTO parent VALUES (0, 'plain');
SELECT tableoid::regclass, * FROM parent ORDER BY a;
-- a partition
CREATE TABLE parted (a int, b text) PARTITION BY LIST (a);
CREATE FOREIGN TABLE part PARTITION OF parted FOR VALUES IN (1, 2) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
SELECT * FROM parted WHERE a = 2;

--
-- ragged 'pad'
--
CREATE FOREIGN TABLE padded (a text, b text, c text OPTIONS (force_not_null 'true'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', ragged 'pad');
CALL write_file('t.csv', E'1,2,3\n1,2\n1\n1,2,3,4\n1,2,3,"4,",5,\n,\n""\n1,\n');
SELECT *, a IS NULL AS anull, b IS NULL AS bnull, c IS NULL AS cnull FROM padded;
SELECT count(*) FROM padded;
-- a blank line is still no record; quoting is still checked, in surplus fields too
CALL write_file('t.csv', E'1\n\n1,2,3,"4"x\n1,"2\n');
SELECT * FROM padded;
-- surplus fields are not wanted
CALL write_file('t.csv', E'1,2,3,\\377\n1,\\377\n'::bytea);
SELECT * FROM padded;
-- a number that is missing
CREATE FOREIGN TABLE padded_int (a int, b int NOT NULL, c float8, d date)
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', ragged 'pad');
CALL write_file('t.csv', E'1,2,3.5,2024-02-29,5\n6\n7,8,\n');
SELECT * FROM padded_int;
-- a picked field that is missing
CREATE FOREIGN TABLE padded_pick (z text OPTIONS ("column" '4'), a text OPTIONS ("column" '0'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', ragged 'pad', columns '5');
SELECT *, z IS NULL AS znull FROM padded_pick;
-- one field a record
CREATE FOREIGN TABLE padded_one (a text) SERVER csv OPTIONS (filename 'regress_csv/t.csv', ragged 'pad');
CALL write_file('t.csv', E'1\n\n2,x\n,\n');
SELECT *, a IS NULL AS anull FROM padded_one;

\i :teardown
