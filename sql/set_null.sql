--
-- on_error 'set_null': what a type refuses, or a limit, is NULL.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (id int, city text OPTIONS (max_chars '8'), qty int, note text OPTIONS (byte_width '8'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', max_record_size '60', on_error 'set_null');

-- each error once: those of structure skip the record
CALL write_file('t.csv', E'1,Paris,10,fine\n2,Rome,20\n3,Constantinople,30,x\n4,Oslo,40,nine bytes\n5,M\\374nchen,50,x\n6,Bern,many,x\n7,"Bonn"?,70,x\n8,Nice,80,\\000\n9,Athens,90,012345678901234567890123456789012345678901234567890123456789\n10,Kiev,100,fine\n11,Riga,"110,fine\n'::bytea);
SELECT * FROM t;
-- of the wanted columns only
SELECT id FROM t;
SELECT qty FROM t WHERE id > 3;
SELECT count(*) FROM t;
-- filters, groups and orders see NULL
SELECT id FROM t WHERE qty IS NULL;
SELECT id FROM t WHERE city IS NULL AND qty > 40;
SELECT count(*), count(qty), sum(qty), count(city), max(note) FROM t;
SELECT qty IS NULL AS none, count(*) FROM t GROUP BY 1 ORDER BY 1;
SELECT id, qty FROM t ORDER BY qty DESC LIMIT 2;
-- several in one record, each by itself, in the order of fields
CALL write_file('t.csv', E'x,Constantinople,y,123456789\n1,a,2,b\n');
SELECT * FROM t;
SELECT record, line, byte_offset, column_number, column_name, error, message, raw FROM csv_gpu_errors('t');
SELECT column_name, error FROM csv_gpu_errors('t', 2);
-- as they are told one by one: among columns of one field by the attribute's number
CREATE FOREIGN TABLE same_field (b int OPTIONS ("column" '0'), a date OPTIONS ("column" '0'), c text OPTIONS ("column" '1', max_chars '1'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', columns '2', on_error 'set_null');
CALL write_file('t.csv', E'x,toolong\n20240101,toolong\n1,x\n');
SELECT * FROM same_field;

-- with all kinds of markers and short records
CREATE FOREIGN TABLE marked (a int, b int OPTIONS (force_null 'true'), c int OPTIONS (force_not_null 'true'), d varchar(3))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', null '-', ragged 'pad', on_error 'set_null');
CALL write_file('t.csv', E'-,"-",-,"-"\n"-",-,"-",-\n1\n2,x\n3,,,long\n4,4,4,abc   \n');
SELECT * FROM marked;

-- detail, and the value's own words, as of a skipped record
CREATE FOREIGN TABLE detailed (n numeric(6,2), j json) SERVER csv OPTIONS (filename 'regress_csv/t.csv', delimiter ';', on_error 'set_null');
CALL write_file('t.csv', E'10000;1\n9999.995;1\n1e4;1\n1x;1\n1;{\n1;' || repeat('x', 250) || E'\n1.5;[2]\n');
SELECT * FROM detailed;

-- domains: NULL may be refused, too, and then the record is skipped for what is wrong with the value
CREATE DOMAIN small AS int CHECK (VALUE < 100);
CREATE DOMAIN given AS int NOT NULL;
CREATE DOMAIN known AS text CHECK (VALUE IS NOT NULL AND VALUE <> 'x');
CREATE FOREIGN TABLE domains (a small, b given, c known) SERVER csv OPTIONS (filename 'regress_csv/t.csv', on_error 'set_null');
CALL write_file('t.csv', E'1,1,a\n100,1,a\nx,1,a\n1,x,a\n1,,a\n1,1,x\n1,1,\nx,x,a\n,2,b\n');
SELECT * FROM domains;
SELECT record, column_name, error, message FROM csv_gpu_errors('domains');
SELECT a FROM domains;

--
-- NOTICEs and limits
--
CREATE FOREIGN TABLE many (id int, v text OPTIONS (max_chars '3')) SERVER csv OPTIONS (filename 'regress_csv/many.csv', on_error 'set_null');
CALL write_query('many.csv', $$SELECT string_agg(i || CASE WHEN i % 10 = 0 THEN ',long' WHEN i % 7 = 0 THEN '' ELSE ',x' END || E'\n', '' ORDER BY i) FROM generate_series(1, 100) i$$);
SELECT count(*), count(v) FROM many;
ALTER FOREIGN TABLE many OPTIONS (ADD notice_limit '2');
SELECT count(*), count(v) FROM many;
SELECT count(id) FROM many;
SELECT count(*) FROM (SELECT v FROM many LIMIT 15) s;
-- neither counts for the other's limit
ALTER FOREIGN TABLE many OPTIONS (ADD reject_limit '13');
SELECT count(*), count(v) FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET reject_limit '12');
SELECT count(*), count(v) FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET reject_limit '13%');
SELECT count(*), count(v) FROM many;
ALTER FOREIGN TABLE many OPTIONS (DROP reject_limit, ADD log_verbosity 'silent');
SELECT count(*), count(v) FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET log_verbosity 'verbose');
SELECT count(*), count(v) FROM many WHERE id <= 30;
ALTER FOREIGN TABLE many OPTIONS (SET log_verbosity 'default');
-- only values
CALL write_query('many.csv', $$SELECT string_agg(i || CASE WHEN i % 10 = 0 THEN ',long' ELSE ',x' END || E'\n', '' ORDER BY i) FROM generate_series(1, 100) i$$);
SELECT count(*), count(v) FROM many;
CALL write_query('many.csv', $$SELECT string_agg(i || E',long\n', '' ORDER BY i) FROM generate_series(1, 100) i$$);
SELECT count(*), count(v) FROM many;
-- a scan that is repeated tells it once
ALTER FOREIGN TABLE many OPTIONS (SET notice_limit '100');
CALL write_file('many.csv', E'1,x\n2,long\n3,y\n');
SELECT i, (SELECT count(v) FROM many WHERE id >= i) FROM generate_series(1, 3) i;

--
-- EXPLAIN
--
CREATE FUNCTION account(query text) RETURNS TABLE (line text) LANGUAGE plpgsql AS $$
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
    IF line ~ '(Records|Removed|NULL)' THEN
      line := trim(line);
      RETURN NEXT;
    END IF;
  END LOOP;
END $$;
CALL write_file('many.csv', E'1,x\n2,long\n3,y\n4\nz,long\n');
SELECT * FROM account('SELECT id, v FROM many');
SELECT * FROM account('SELECT id, v FROM many WHERE id > 1');
SELECT * FROM account('SELECT id FROM many WHERE id > 1');
ALTER FOREIGN TABLE many OPTIONS (DROP on_error);
SELECT * FROM account('SELECT id, v FROM many');

--
-- Where else it stands
--
-- on the server, for its tables; it is no stop
ALTER SERVER csv OPTIONS (ADD on_error 'set_null');
SELECT * FROM many;
ALTER FOREIGN TABLE many OPTIONS (ADD on_error 'skip');
SELECT * FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET on_error 'SET_NULL', ADD reject_limit '5');
SELECT * FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET on_error 'null');
ALTER SERVER csv OPTIONS (DROP on_error);

-- loads: rejects have a row for each
CREATE TABLE loaded (id int, v text);
CREATE TABLE rejects (record bigint, column_name text, error text, message text, raw text);
SELECT records_loaded, records_skipped FROM csv_gpu_load('many', 'loaded');
SELECT records_loaded, records_skipped FROM csv_gpu_load('many', 'loaded', rejects => 'rejects');
SELECT * FROM loaded;
SELECT * FROM rejects;
CREATE TABLE strict_loaded (id int, v text NOT NULL);
SELECT records_loaded FROM csv_gpu_load('many', 'strict_loaded');
ANALYZE many;

-- in other encodings
CREATE FOREIGN TABLE latin (a text OPTIONS (max_chars '3'), b int) SERVER csv OPTIONS (filename 'regress_csv/t.csv', encoding 'LATIN1', on_error 'set_null');
CALL write_file('t.csv', E'\\344\\344\\344,1\n\\344\\344\\344\\344,\\344\nx\\000,2\n'::bytea);
SELECT * FROM latin;

-- IMPORT finds out the types, which no value of the file is against
CALL write_file('new.csv', E'a,b\n1,x\n2,\\377\n3,z\n'::bytea);
IMPORT FOREIGN SCHEMA "regress_csv" LIMIT TO (new) FROM SERVER csv INTO csv_test OPTIONS (on_error 'set_null');
SELECT * FROM new;

\i :teardown
