--
-- Columns that are found by the header's names, in each file of a pattern.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (id int, name text, price numeric(8,2), year int, f text OPTIONS (virtual 'filename'))
  SERVER csv OPTIONS (filename 'regress_csv/y*.csv', header 'true', by_name 'true');
CALL write_file('y1.csv', E'id,name,price,year\n1,one,1.50,2001\n2,two,,2001\n');
-- other columns, in another order
CALL write_file('y2.csv', E'price,x,"id",unit\n2.50,x,3,kg\n3.25,,4,g\n');
-- none of the table's, and none at all
CALL write_file('y3.csv', E'x,y\n1,2\n3\n');
CALL write_file('y4.csv', '');
CALL write_file('y5.csv', E'year,name\n2005,five\n2006\n2007,seven,x\n');
SELECT * FROM t;
SELECT name, count(*), sum(price), max(year) FROM t GROUP BY name ORDER BY name;
SELECT id FROM t WHERE name IS NULL;
SELECT f, year FROM t WHERE year > 2001 OR id = 2;
SELECT count(*) FROM t;
SET csv_gpu_fdw.enable_pushdown = off;
SELECT name, count(*), sum(price), max(year) FROM t GROUP BY name ORDER BY name;
RESET csv_gpu_fdw.enable_pushdown;
-- missing fields and surplus ones: a surplus field is no column's
ALTER FOREIGN TABLE t OPTIONS (ADD ragged 'pad');
SELECT * FROM t WHERE f LIKE '%y5%' OR id IS NULL;
ALTER FOREIGN TABLE t OPTIONS (DROP ragged);
-- NULL of a column that the file lacks is a value as any other: its domain may refuse it
CREATE DOMAIN filled AS text NOT NULL;
CREATE DOMAIN small AS int CHECK (VALUE IS NOT NULL AND VALUE < 2006);
CREATE FOREIGN TABLE d (name filled, year small) SERVER csv
  OPTIONS (filename 'regress_csv/y*.csv', header 'true', by_name 'true', log_verbosity 'silent');
SELECT * FROM d;
SELECT year FROM d;
SELECT record, column_number, column_name, error, message, raw FROM csv_gpu_errors('d');
-- by another name; blanks count; a column that no file has
CREATE FOREIGN TABLE h (price float8, no text OPTIONS (header_name 'id'), "Year" int, other date) SERVER csv
  OPTIONS (filename 'regress_csv/y*.csv', header 'true', by_name 'true', log_verbosity 'silent');
SELECT * FROM h;
SELECT count(other), count("Year"), count(no) FROM h;
-- an empty name may be there twice, unless a column has it
CREATE FOREIGN TABLE one (id int, n text) SERVER csv
  OPTIONS (filename 'regress_csv/t.csv', header 'true', by_name 'true');
CALL write_file('t.csv', E'id,,"",\n1,2,3,4\n');
SELECT * FROM one;
ALTER FOREIGN TABLE one ALTER n OPTIONS (ADD header_name '');
SELECT * FROM one;
CALL write_file('t.csv', E'id,\n1,2\n');
SELECT * FROM one;
-- a name twice is an error, whether or not it is wanted or a column's
CALL write_file('t.csv', E'id,x,id\n1,2,3\n');
SELECT * FROM one;
SELECT n FROM one;
SELECT count(*) FROM one;
CALL write_file('t.csv', E'id,x,x,y\n1,2,3,4\n');
SELECT * FROM one;
-- so is a name that reads as NULL, or is empty, for a column that asks for it only
CREATE FOREIGN TABLE "nulls" (x text) SERVER csv
  OPTIONS (filename 'regress_csv/t.csv', header 'true', by_name 'true', null_values '{NA}');
CALL write_file('t.csv', E'NA,"",x,NA,""\n1,2,3,4,5\n');
SELECT * FROM "nulls";
ALTER FOREIGN TABLE "nulls" ADD "NA" text;
SELECT x FROM "nulls";
CALL write_file('t.csv', E'NA,"",x,""\n1,2,3,4\n');
SELECT * FROM "nulls";
-- whichever option says that it is NULL, and without regard to case
ALTER FOREIGN TABLE "nulls" OPTIONS (DROP null_values, ADD "null" 'NA');
SELECT * FROM "nulls";
ALTER FOREIGN TABLE "nulls" RENAME "NA" TO na;
SELECT * FROM "nulls";
ALTER FOREIGN TABLE "nulls" DROP na;
CALL write_file('t.csv', E'NA,x,NA\n1,NA,\n');
SELECT * FROM "nulls";
ALTER FOREIGN TABLE "nulls" OPTIONS (DROP "null"), ALTER x OPTIONS (ADD null_values '{NA}');
SELECT * FROM "nulls";
ALTER FOREIGN TABLE "nulls" ADD na text;
SELECT na FROM "nulls";
CALL write_file('t.csv', E'x,NA\n1,2\n');
SELECT * FROM "nulls";
ALTER FOREIGN TABLE "nulls" OPTIONS (DROP by_name, ADD "null" 'NA'), ALTER na OPTIONS (ADD header_name 'NA');
SELECT * FROM "nulls";
DROP FOREIGN TABLE "nulls";
-- without regard to case where no name matches exactly, among the names that are no other column's
CREATE FOREIGN TABLE cases (id int, "Id" int, name text, "ÄRGER" text) SERVER csv
  OPTIONS (filename 'regress_csv/t.csv', header 'true', by_name 'true');
CALL write_file('t.csv', E'ID,Name,ÄRGER\n1,one,x\n');
SELECT * FROM cases;
CALL write_file('t.csv', E'NAME,Id\none,1\n');
SELECT * FROM cases;
CALL write_file('t.csv', E'NAME,Name,id,ID\none,two,1,2\n');
SELECT id, "Id" FROM cases;
SELECT name FROM cases;
CALL write_file('t.csv', E'NAME,Name,name\none,two,three\n');
SELECT name FROM cases;
-- also below other lines; the last record of the header has the names
CALL write_file('t.csv', E'id\nsep\n"",id\n1,2\n');
ALTER FOREIGN TABLE one OPTIONS (ADD header_rows '3');
SELECT * FROM one;
CALL write_file('t.csv', E'id\nsep\n\n1\n2\n');
SELECT * FROM one;
ALTER FOREIGN TABLE one OPTIONS (DROP header_rows);
-- a file of one field: a blank line is a record
CALL write_file('t.csv', E'id\n1\n\n2\n');
SELECT * FROM one;
CALL write_file('t.csv', E'x\n1\n\n2\n');
SELECT * FROM one;
-- types that engines convert, and those that they do not
CREATE TYPE mood AS ENUM ('sad');
CREATE FOREIGN TABLE types (a int, t text, v varchar(3), c char(3), i2 smallint, i8 bigint, f4 real, f8 float8, n numeric,
                            n2 numeric(30,2), b bool, d date, ts timestamp, tz timestamptz, u uuid, m mood, arr int[], j jsonb)
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', header 'true', by_name 'true');
CALL write_file('t.csv', E'x,a,z\n1,2,3\n4,5,6\n');
SELECT * FROM types;
SELECT count(t), count(v), count(c), count(i2), count(i8), count(f4), count(f8), count(n), count(n2), sum(a) FROM types;
SELECT c, n2, d, count(*), sum(f8), min(ts), max(v) FROM types GROUP BY c, n2, d;
SELECT * FROM types ORDER BY c, a DESC LIMIT 1;

-- without it, a header with the columns' names in another order is an ERROR
CALL write_file('o1.csv', E'id,x,y\n1,10,100\n');
CALL write_file('o2.csv', E'Y,x,id\n200,20,2\n');
CREATE FOREIGN TABLE by_place (id int, x int, f text OPTIONS (virtual 'filename'), y int)
  SERVER csv OPTIONS (filename 'regress_csv/o*.csv', header 'true');
CREATE TABLE loaded (id int, x int, f text, y int);
SELECT * FROM by_place;
SELECT count(*) FROM by_place;
SELECT x FROM by_place WHERE f LIKE '%2.csv';
SELECT records_loaded FROM csv_gpu_load('by_place', 'loaded');
SELECT * FROM csv_gpu_errors('by_place');
SELECT id, y FROM by_place WHERE f LIKE '%1.csv';
CALL write_file('o2.csv', E'"y",x,id\r\n200,20,2\r\n');
SELECT * FROM by_place;
ALTER FOREIGN TABLE by_place OPTIONS (ADD by_name 'true');
SELECT * FROM by_place;
-- not if a name differs or comes twice, or columns have numbers, or the encoding is another
ALTER FOREIGN TABLE by_place OPTIONS (DROP by_name);
CALL write_file('o2.csv', E'y,z,id\n200,20,2\n');
SELECT * FROM by_place;
CALL write_file('o2.csv', E'y,id,id\n200,20,2\n');
SELECT * FROM by_place;
CALL write_file('o2.csv', '\x792c78ff2c69640a3230302c32302c320a'::bytea);
SELECT * FROM by_place;
CALL write_file('o2.csv', E'y,x,id\n200,20,2\n');
ALTER FOREIGN TABLE by_place ALTER id OPTIONS (ADD "column" '0'), ALTER x OPTIONS (ADD "column" '1'), ALTER y OPTIONS (ADD "column" '2');
SELECT * FROM by_place;
DROP FOREIGN TABLE by_place;
-- a load refuses a file that has none of the columns; one is enough, also if it is not loaded
CREATE FOREIGN TABLE other (id int, x int, y int) SERVER csv OPTIONS (filename 'regress_csv/o*.csv', header 'true', by_name 'true');
CALL write_file('o2.csv', E'y;x;id\n200;20;2\n');
SELECT * FROM other;
SELECT records_loaded FROM csv_gpu_load('other', 'loaded');
CALL write_file('o2.csv', E'Y\n200\n');
SELECT records_loaded FROM csv_gpu_load('other', 'loaded', '{id,x,NULL}');
DROP FOREIGN TABLE other;
DROP TABLE loaded;

-- what contradicts it
CREATE FOREIGN TABLE wrong (a int) SERVER csv OPTIONS (filename 'x', header 'match', by_name 'true');
CREATE FOREIGN TABLE wrong (a int) SERVER csv OPTIONS (filename 'x', header 'true', by_name 'true', columns '2');
CREATE FOREIGN TABLE wrong (a int) SERVER csv OPTIONS (filename 'x', header 'true', by_name 'maybe');
CREATE FOREIGN TABLE wrong (a int) SERVER csv OPTIONS (filename 'regress_csv/t.csv', by_name 'true');
SELECT * FROM wrong;
ALTER FOREIGN TABLE wrong OPTIONS (ADD header 'true');
SELECT * FROM wrong;
ALTER FOREIGN TABLE wrong ALTER a OPTIONS (ADD "column" '1');
SELECT * FROM wrong;
ALTER FOREIGN TABLE wrong OPTIONS (SET by_name 'false');
SELECT * FROM wrong;

\i :teardown
