--
-- The header: passed over, matched, or asked for names.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (a text, b text, line int OPTIONS (virtual 'line'), record int OPTIONS (virtual 'record'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', header 'true');

-- passed over; records count from 1 after it, lines from the top
CALL write_file('t.csv', E'a,b\n1,2\n3\n5,6\n');
SELECT * FROM t;
-- checked for nothing
CALL write_file('t.csv', E'one field\n1,2\n');
SELECT * FROM t;
CALL write_file('t.csv', E'"a"x,b\n1,2\n');
SELECT * FROM t;
CALL write_file('t.csv', E'\\377\\000,\\376\n1,2\n'::bytea);
SELECT * FROM t;
-- a quoted line break belongs to it
CALL write_file('t.csv', E'"a\nx",b\n1,2\n');
SELECT * FROM t;
-- a blank line counts as a header row, but as no record after it
CALL write_file('t.csv', E'\na,b\n\n1,2\n');
SELECT * FROM t;
-- longer than a record may be; with a quoting error over several lines, its first line
ALTER FOREIGN TABLE t OPTIONS (ADD max_record_size '20');
CALL write_query('t.csv', $$SELECT repeat('h', 200) || E',b\n1,2\n'$$);
SELECT * FROM t;
CALL write_query('t.csv', $$SELECT '"' || repeat('h', 200) || E',b\n1,2\n3,"x"\n'$$);
SELECT * FROM t;
CALL write_file('t.csv', E'h,"h\nyy"x\n1,2\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP max_record_size);
-- off and on, in COPY's spellings
CALL write_file('t.csv', E'1,2\n3,4\n');
ALTER FOREIGN TABLE t OPTIONS (SET header 'off');
SELECT count(*) FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET header 'ON');
SELECT count(*) FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP header);

-- header_rows
ALTER FOREIGN TABLE t OPTIONS (ADD header_rows '3');
CALL write_file('t.csv', E'title\n\n"x\ny",z\n1,2\n3,4\n');
SELECT * FROM t;
CALL write_file('t.csv', E'title\n\n');
SELECT * FROM t;
CALL write_file('t.csv', E'1,2\n3,4');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET header_rows '0');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET header_rows '2', ADD header 'true');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP header_rows);

-- each file of a pattern has its own
CALL write_file('h1.csv', E'a,b\n1,2\n');
CALL write_file('h2.csv', E'\uFEFFa,b\n3,4');
CALL write_file('h3.csv', '');
CALL write_file('h4.csv', E'a,b\r\n5,6\r\n');
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/h?.csv');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/t.csv');

--
-- match: the names must be the columns'
--
ALTER FOREIGN TABLE t OPTIONS (SET header 'match');
CALL write_file('t.csv', E'a,b\n1,2\n');
SELECT * FROM t;
CALL write_file('t.csv', E'"a","b"\r\n1,2\r\n');
SELECT * FROM t;
CALL write_file('t.csv', E'a,c\n1,2\n');
SELECT * FROM t;
\echo :SQLSTATE
-- also where the column is not wanted
SELECT a FROM t;
CALL write_file('t.csv', E'A,b\n1,2\n');
SELECT * FROM t;
CALL write_file('t.csv', E'b,a\n1,2\n');
SELECT * FROM t;
CALL write_file('t.csv', E'a\n1,2\n');
SELECT * FROM t;
\echo :SQLSTATE
CALL write_file('t.csv', E'a,b,c\n1,2\n');
SELECT * FROM t;
CALL write_file('t.csv', E'a,\n1,2\n');
SELECT * FROM t;
CALL write_file('t.csv', E'a, b\n1,2\n');
SELECT * FROM t;
-- an empty file has no header to be wrong
CALL write_file('t.csv', '');
SELECT * FROM t;
-- of several header rows, the last
ALTER FOREIGN TABLE t OPTIONS (ADD header_rows '2');
CALL write_file('t.csv', E'x,y,z\na,b\n1,2\n');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP header_rows);
-- names with quotes and beyond ASCII
CREATE FOREIGN TABLE names ("Größe" text, "say ""hi""" text, "two
lines" text) SERVER csv OPTIONS (filename 'regress_csv/t.csv', header 'match');
CALL write_file('t.csv', E'Größe,"say ""hi""","two\nlines"\n1,2,3\n');
SELECT * FROM names;
ALTER FOREIGN TABLE names OPTIONS (ADD encoding 'LATIN1');
CALL write_file('t.csv', convert_to(E'Größe,"say ""hi""","two\nlines"\nä,2,3\n', 'LATIN1'));
SELECT * FROM names;
-- dropped and generated columns have no field
CREATE FOREIGN TABLE gaps (gone int, a int, doubled int GENERATED ALWAYS AS (a * 2) STORED, b int)
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', header 'match');
ALTER FOREIGN TABLE gaps DROP COLUMN gone;
CALL write_file('t.csv', E'a,b\n1,2\n');
SELECT a, b FROM gaps;

--
-- header_name: the field is found by its name
--
CREATE FOREIGN TABLE by_name (city text OPTIONS (header_name 'City'), id int OPTIONS (header_name 'id'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', header 'true');
CALL write_file('t.csv', E'id,name,City\n1,Ada,Paris\n2,Grace,Rome\n');
SELECT * FROM by_name;
SELECT id FROM by_name;
-- names differ in case
CALL write_file('t.csv', E'ID,CITY\n1,Paris\n');
SELECT city FROM by_name;
SELECT id FROM by_name;
-- the fields in another order, and more of them: each record must have as many
CALL write_file('t.csv', E'x,"City",y,id\n,Paris,,1\n,Rome,2\n');
SELECT * FROM by_name;
-- each file of a pattern in its own order
CALL write_file('h1.csv', E'id,City\n1,Paris\n');
CALL write_file('h2.csv', E'City,z,id\nRome,,2\n');
CALL write_file('h3.csv', '');
CALL write_file('h4.csv', E'id,z,y,x,City\r\n3,,,,Oslo\r\n');
ALTER FOREIGN TABLE by_name OPTIONS (SET filename 'regress_csv/h?.csv');
SELECT * FROM by_name;
SELECT id FROM by_name WHERE city > 'P';
-- a file that lacks a name, after others
CALL write_file('h5.csv', E'id,place\n4,Rome\n');
SELECT * FROM by_name;
SELECT * FROM by_name LIMIT 3;
ALTER FOREIGN TABLE by_name OPTIONS (SET filename 'regress_csv/t.csv');
-- a name that is not there, or twice; case and blanks count
CALL write_file('t.csv', E'id,name\n1,Ada\n');
SELECT * FROM by_name;
\echo :SQLSTATE
CALL write_file('t.csv', E'id,city\n1,Paris\n');
SELECT * FROM by_name;
CALL write_file('t.csv', E'id,City \n1,Paris\n');
SELECT * FROM by_name;
CALL write_file('t.csv', E'id,City,City\n1,Paris,Rome\n');
SELECT * FROM by_name;
-- not wanted, so not looked for
SELECT id FROM by_name;
-- an empty file
CALL write_file('t.csv', '');
SELECT * FROM by_name;
-- far too many names
CALL write_query('t.csv', $$SELECT repeat(',', 100000) || E'\n'$$);
SELECT * FROM by_name;
-- the count of fields may be given, and then is that
ALTER FOREIGN TABLE by_name OPTIONS (ADD columns '3');
CALL write_file('t.csv', E'id,City\n1,Paris\n2,Rome,x\n');
SELECT * FROM by_name;
ALTER FOREIGN TABLE by_name OPTIONS (DROP columns);
-- one name for two columns; by name and by number side by side
CREATE FOREIGN TABLE mixed (a text OPTIONS (header_name 'x'), b int OPTIONS (header_name 'x'),
                            c text OPTIONS ("column" '0'), d bigint OPTIONS (virtual 'line'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', header_rows '2');
CALL write_file('t.csv', E'a report\nw,x\n1,2\n3,four\n5,6\n');
SELECT * FROM mixed;
-- beyond ASCII, in the file's encoding
CREATE FOREIGN TABLE latin (g text OPTIONS (header_name 'Größe'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', header 'true', encoding 'LATIN1');
CALL write_file('t.csv', convert_to(E'a,Größe\n1,ü\n', 'LATIN1'));
SELECT * FROM latin;
-- by number, the header tells how many fields a record has
CREATE FOREIGN TABLE by_number (c text OPTIONS ("column" '2'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', header 'true');
CALL write_file('t.csv', E'a,b,c,d\n1,2,3,4\n5,6,7\n');
SELECT * FROM by_number;
CALL write_file('t.csv', E'a,b\n1,2\n');
SELECT * FROM by_number;

\i :teardown
