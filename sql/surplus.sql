--
-- virtual 'surplus': the fields beyond the table's.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (a int, b text, rest text[] OPTIONS (virtual 'surplus'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', ragged 'pad');
CALL write_file('t.csv', E'1,x\n2,y,z\n3\n4,y,,"","a ""b"", c",1\r\n5,y,"d\ne"\n');
SELECT *, cardinality(rest) FROM t;
SELECT rest FROM t;
SELECT a FROM t WHERE rest <> '{}';
SELECT a, rest[1] FROM t WHERE a > 3;
SELECT count(*), sum(cardinality(rest)) FROM t;
SELECT a FROM t;
-- what stands for NULL does so here, and has no other meaning
ALTER FOREIGN TABLE t OPTIONS (ADD null 'NULL');
CALL write_file('t.csv', E'1,x,NULL,"NULL",,null\n2,x,NULL\n');
SELECT a, rest FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP null);
-- of the text format
ALTER FOREIGN TABLE t OPTIONS (ADD format 'text');
CALL write_file('t.csv', E'1\tx\t\\N\t\\\\N\ta\\tb\t\\x41\t\n2\tx\n');
SELECT a, rest FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP format);
-- the fields beyond those that a record should have, used or not
CREATE FOREIGN TABLE picked (b text OPTIONS ("column" '1'), rest text[] OPTIONS (virtual 'surplus'), again text[] OPTIONS (virtual 'surplus'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', ragged 'pad', columns '3');
CALL write_file('t.csv', E'1,2\n1,2,3\n1,2,3,4,5\n');
SELECT * FROM picked;
CREATE FOREIGN TABLE named (b text OPTIONS (header_name 'b'), rest text[] OPTIONS (virtual 'surplus'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', ragged 'pad', header 'true');
CALL write_file('t.csv', E'a,b\n1,2\n1\n1,2,3,4,5\n');
SELECT * FROM named;

-- they are checked as values of a wanted column are, and only then
CALL write_file('t.csv', E'1,x,\\344\n2,x,y,\\000\nx,x,\\344\n3,x,"\\303\\244"\n4,x,"y"z\n'::bytea);
SELECT * FROM t;
SELECT a, b FROM t;
SELECT a FROM t WHERE rest = '{}' AND a > 10;
SELECT record, column_number, column_name, error, message, raw FROM csv_gpu_errors('t');
ALTER FOREIGN TABLE t OPTIONS (ADD on_error 'set_null');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET on_error 'stop');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP on_error);
-- in another encoding
ALTER FOREIGN TABLE t OPTIONS (ADD encoding 'LATIN1');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP encoding);
-- more of them than anybody has
CALL write_query('t.csv', $$SELECT '1,x' || repeat(',', 100000) || E'\n2,x' || repeat(',', 100001) || E'\n3,x,y'$$);
SELECT a, cardinality(rest), rest[100000] IS NULL AS last FROM t;

-- EXPLAIN counts rows that have some
CALL write_file('t.csv', E'1,x\n2,y,z\n3\nx,y,z\n4,y,,\n');
CREATE FUNCTION account(query text) RETURNS TABLE (line text) LANGUAGE plpgsql AS $$
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
    IF line ~ '(Records|Removed|Filter|Aggregate)' THEN
      line := trim(line);
      RETURN NEXT;
    END IF;
  END LOOP;
END $$;
SELECT * FROM account('SELECT * FROM t WHERE a > 2');
SELECT * FROM account('SELECT a FROM t WHERE a > 2');

-- loads, with rejects
CREATE TABLE loaded (a int, b text, rest text[]);
CREATE TABLE rejects (record bigint, column_name text, error text, message text, raw text);
SELECT records_loaded, records_skipped FROM csv_gpu_load('t', 'loaded', rejects => 'rejects');
SELECT * FROM loaded;
SELECT * FROM rejects;

-- where it cannot be
CREATE FOREIGN TABLE wrong (a int, rest text[] OPTIONS (virtual 'surplus')) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
SELECT a FROM wrong;
ALTER FOREIGN TABLE wrong OPTIONS (ADD ragged 'pad');
SELECT a FROM wrong;
DROP FOREIGN TABLE wrong;
CREATE FOREIGN TABLE wrong (a int, rest text OPTIONS (virtual 'surplus')) SERVER csv OPTIONS (filename 'regress_csv/t.csv', ragged 'pad');
SELECT a FROM wrong;
DROP FOREIGN TABLE wrong;
CREATE FOREIGN TABLE wrong (a int, rest text[] OPTIONS (virtual 'surplus', max_chars '3')) SERVER csv OPTIONS (filename 'regress_csv/t.csv', ragged 'pad');

\i :teardown
