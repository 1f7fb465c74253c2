--
-- Who may define a table, who may read it.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CALL write_file('t.csv', E'1,x\n2\n3,y\n');
CREATE ROLE regress_csv_owner;
CREATE ROLE regress_csv_reader;
GRANT ALL ON SCHEMA csv_test TO regress_csv_owner;
GRANT USAGE ON SCHEMA csv_test TO regress_csv_reader;

-- a table needs USAGE on the server
SET ROLE regress_csv_owner;
CREATE FOREIGN TABLE t (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER csv TO regress_csv_owner;
-- filename needs pg_read_server_files, program needs pg_execute_server_program
SET ROLE regress_csv_owner;
CREATE FOREIGN TABLE t (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
\echo :SQLSTATE
CREATE FOREIGN TABLE t (a int, b text) SERVER csv OPTIONS (program 'cat regress_csv/t.csv');
\echo :SQLSTATE
RESET ROLE;
GRANT pg_read_server_files TO regress_csv_owner;
SET ROLE regress_csv_owner;
CREATE FOREIGN TABLE t (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CREATE FOREIGN TABLE p (a int, b text) SERVER csv OPTIONS (program 'cat regress_csv/t.csv');
SELECT * FROM t;
RESET ROLE;
REVOKE pg_read_server_files FROM regress_csv_owner;
GRANT pg_execute_server_program TO regress_csv_owner;
SET ROLE regress_csv_owner;
CREATE FOREIGN TABLE p (a int, b text) SERVER csv OPTIONS (program 'cat regress_csv/t.csv');
SELECT * FROM p;
-- changing any option of a table needs the role as well
ALTER FOREIGN TABLE t OPTIONS (ADD header 'true');
ALTER FOREIGN TABLE t OPTIONS (SET filename 'postgresql.conf');
-- a column's does not
ALTER FOREIGN TABLE t ALTER b OPTIONS (ADD max_chars '5');
-- reading needs no more than SELECT
SELECT * FROM t;
RESET ROLE;
SET ROLE regress_csv_reader;
SELECT * FROM t;
\echo :SQLSTATE
RESET ROLE;
GRANT SELECT (a) ON t TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT a FROM t;
SELECT b FROM t;
SELECT * FROM t;
RESET ROLE;
GRANT SELECT ON t TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT * FROM t;
-- through a view, as its owner
RESET ROLE;
REVOKE ALL ON t FROM regress_csv_reader;
CREATE VIEW v AS SELECT * FROM t WHERE a > 1;
GRANT SELECT ON v TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT * FROM v;
SELECT * FROM t;
SELECT * FROM csv_gpu_errors('v');
-- the devices are no secret
SELECT count(*) >= 0 AS counted FROM csv_gpu_devices();
-- the memory taken on the GPU is the server's to bound
SET csv_gpu_fdw.gpu_memory_limit = 100;
\echo :SQLSTATE
SET csv_gpu_fdw.engine = 'cpu';
SELECT * FROM v;
RESET csv_gpu_fdw.engine;
RESET ROLE;
SET csv_gpu_fdw.gpu_memory_limit = 100;
-- the owner of a server may set what stands on it
GRANT USAGE ON FOREIGN DATA WRAPPER csv_gpu_fdw TO regress_csv_owner;
GRANT CREATE ON DATABASE :DBNAME TO regress_csv_owner;
SET ROLE regress_csv_owner;
CREATE SERVER own FOREIGN DATA WRAPPER csv_gpu_fdw OPTIONS (on_error 'stop');
CREATE FOREIGN TABLE o (a int, b text) SERVER own OPTIONS (program 'cat regress_csv/t.csv');
SELECT * FROM o;
RESET ROLE;
REVOKE CREATE ON DATABASE :DBNAME FROM regress_csv_owner;
DROP VIEW v;

--
-- Messages quote a value where who gets them may read it himself; what lets a
-- query read the table, a view's owner or a parent table, does not count.
--
CREATE TYPE color AS ENUM ('red');
CREATE DOMAIN even AS int CHECK (VALUE % 2 = 0);
CREATE FUNCTION says(text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF $1 LIKE 'secret%' THEN
    RAISE invalid_parameter_value USING MESSAGE = $1, DETAIL = $1, HINT = $1;
  END IF;
  RETURN true;
END $$;
CREATE DOMAIN told AS text CHECK (says(VALUE));
CREATE FOREIGN TABLE m (id int, i int, n numeric(4,2), c color, j json, e even, d told, v varchar(3), u text)
  SERVER csv OPTIONS (filename 'regress_csv/m.csv', encoding 'UTF8');
CALL write_file('m.csv', convert_to(E'1,secret,1,red,1,2,a,b,c\n2,1,secret,red,1,2,a,b,c\n3,1,1,secret,1,2,a,b,c\n', 'UTF8')
  || convert_to(E'4,1,1,red,secret,2,a,b,c\n5,1,1,red,1,7777,a,b,c\n6,1,1,red,1,2,secret,b,c\n', 'UTF8')
  || convert_to(E'7,1,1,red,1,2,a,secret,c\n8,1,1,red,1,2,a,b,', 'UTF8') || '\xf0414243'::bytea
  || convert_to(E'\n9,1,1,red,1,2,a,b,c\nx,1,1,red,1,2,a,b,c\n11,secret\n', 'UTF8'));
CREATE VIEW mv AS SELECT * FROM m;
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM m WHERE id < 5;
GRANT SELECT ON mv, barrier TO regress_csv_reader;
SELECT count(v), count(u) FROM mv;
SET ROLE regress_csv_reader;
SELECT count(v), count(u) FROM mv;
SELECT count(i) FROM barrier;
-- a column of which he may
RESET ROLE;
GRANT SELECT (i, j) ON m TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT count(v), count(u) FROM mv;
SELECT i FROM m;
RESET ROLE;
-- the same in ERRORs
ALTER FOREIGN TABLE m OPTIONS (ADD reject_limit '1');
SET ROLE regress_csv_reader;
SELECT count(n) FROM mv;
SELECT count(n), count(d) FROM mv;
RESET ROLE;
ALTER FOREIGN TABLE m OPTIONS (DROP reject_limit, ADD on_error 'stop');
-- DETAILs, too
SELECT count(d) FROM mv;
SELECT count(j) FROM mv;
SET ROLE regress_csv_reader;
SELECT count(n) FROM mv;
\echo :SQLSTATE
SELECT count(i) FROM mv;
SELECT count(d) FROM mv;
\echo :SQLSTATE
SELECT count(u) FROM mv;
\echo :SQLSTATE
-- an ERROR of the input function that no option can skip
RESET ROLE;
BEGIN;
ALTER TYPE color ADD VALUE 'secret';
SAVEPOINT s;
SELECT count(c) FROM mv;
ROLLBACK TO s;
SET LOCAL ROLE regress_csv_reader;
SELECT count(c) FROM mv;
\echo :SQLSTATE
ROLLBACK;
-- in a plan that another user has made and run
RESET ROLE;
PREPARE kept AS SELECT count(n) FROM mv;
EXECUTE kept;
SET ROLE regress_csv_reader;
EXECUTE kept;
RESET ROLE;
DEALLOCATE kept;
-- a function with its owner's rights is told what he may read; who fetches from
-- a cursor of its, what he may
CREATE FUNCTION count_n() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(n) FROM csv_test.m';
CREATE FUNCTION open_n() RETURNS refcursor LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  c refcursor := 'c';
BEGIN
  OPEN c FOR SELECT n FROM csv_test.m;
  RETURN c;
END $$;
\set SHOW_CONTEXT never
SET ROLE regress_csv_reader;
SELECT count_n();
BEGIN;
SELECT open_n();
FETCH ALL FROM c;
ROLLBACK;
RESET ROLE;
-- ANALYZE reads as the table's owner, but tells whoever says it
ALTER FOREIGN TABLE m OPTIONS (SET on_error 'skip', ADD reject_limit '1');
ALTER FOREIGN TABLE m OWNER TO regress_csv_owner;
ANALYZE m;
-- who may be the database's owner, without SELECT
ALTER FOREIGN TABLE m OWNER TO CURRENT_USER;
SELECT current_database() AS db, quote_ident(datdba::regrole::text) AS dba FROM pg_database WHERE datname = current_database() \gset
ALTER DATABASE :"db" OWNER TO regress_csv_reader;
SET ROLE regress_csv_reader;
ANALYZE m;
RESET ROLE;
ALTER DATABASE :"db" OWNER TO :dba;

-- values that are set to NULL, and surplus fields, are quoted to the same
ALTER FOREIGN TABLE m OPTIONS (DROP reject_limit, SET filename 'regress_csv/r.csv', SET on_error 'set_null', ADD ragged 'pad', ADD columns '9');
ALTER FOREIGN TABLE m ADD rest text[] OPTIONS (virtual 'surplus');
CALL write_file('r.csv', convert_to(E'1,1,secret,red,1,secret,secret,b,c,', 'UTF8') || '\xf0414243'::bytea || convert_to(E'\n2,1,1,red,1,2,a,b,c,secret\n', 'UTF8'));
CREATE VIEW mr AS SELECT * FROM m;
GRANT SELECT ON mr TO regress_csv_reader;
SELECT n, d, rest FROM mr;
SET ROLE regress_csv_reader;
SELECT n, d, rest FROM mr;
SELECT rest FROM m;
RESET ROLE;
DROP VIEW mr;

-- a partition: who may read its parent may read it there
CREATE TABLE parent (id int, i int, n numeric(4,2)) PARTITION BY LIST (id);
CREATE FOREIGN TABLE part (i int OPTIONS (column '1'), n numeric(4,2) OPTIONS (column '2'), id int OPTIONS (column '0'))
  SERVER csv OPTIONS (filename 'regress_csv/m.csv', columns '9', notice_limit '2');
ALTER TABLE parent ATTACH PARTITION part DEFAULT;
GRANT SELECT (id, n) ON parent TO regress_csv_reader;
CREATE VIEW pv AS SELECT * FROM parent;
GRANT SELECT ON pv TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT count(i), count(n) FROM pv;
SELECT count(n) FROM parent;
RESET ROLE;
-- but for rows that are not for him
ALTER TABLE parent ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON parent USING (id > 100);
SET ROLE regress_csv_reader;
SELECT count(n) FROM parent;
RESET ROLE;
GRANT SELECT ON part TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT count(n) FROM parent;
RESET ROLE;

-- names of a header that is data
CREATE FOREIGN TABLE h (id text, salary text) SERVER csv OPTIONS (filename 'regress_csv/h.csv', header 'match');
CALL write_file('h.csv', E'id,12345\n2,b\n');
CREATE VIEW hv AS SELECT * FROM h;
GRANT SELECT ON hv TO regress_csv_reader;
SELECT id FROM hv;
SET ROLE regress_csv_reader;
SELECT id FROM hv;
RESET ROLE;
-- and those that differ in case from the one that is asked for
ALTER FOREIGN TABLE h OPTIONS (SET header 'true');
ALTER FOREIGN TABLE h ALTER salary OPTIONS (ADD header_name 'Total');
CALL write_file('h.csv', E'id,TOTAL\n2,b\n');
SELECT count(salary) FROM hv;
SET ROLE regress_csv_reader;
SELECT count(salary) FROM hv;
RESET ROLE;

-- rejects have whole records: as csv_gpu_errors() they need SELECT on all of the table
CREATE TABLE target (id int);
CREATE TABLE rejects (raw text, message text);
GRANT INSERT ON target, rejects TO regress_csv_reader;
CREATE FOREIGN TABLE l (id int, salary text) SERVER csv OPTIONS (filename 'regress_csv/l.csv');
CALL write_file('l.csv', E'1,1000\nx,2000\n');
GRANT SELECT (id) ON l TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT records_loaded FROM csv_gpu_load('l', 'target', '{id,NULL}');
SELECT records_loaded FROM csv_gpu_load('l', 'target', '{id,NULL}', 'rejects');
\echo :SQLSTATE
SELECT count(*) FROM csv_gpu_errors('l');
RESET ROLE;
GRANT SELECT (salary) ON l TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT records_loaded FROM csv_gpu_load('l', 'target', '{id,NULL}', 'rejects');
RESET ROLE;
GRANT SELECT ON l TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT records_loaded FROM csv_gpu_load('l', 'target', '{id,NULL}', 'rejects');
RESET ROLE;
SELECT * FROM rejects;
-- of the target's rows, a constraint's message has no more than was loaded
ALTER TABLE target ADD secret text DEFAULT 'secret', ADD CHECK (id > 1) NOT VALID;
GRANT INSERT (id) ON target TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT records_loaded FROM csv_gpu_load('l', 'target', '{id,NULL}');
RESET ROLE;

-- what a user asks of rows that a policy hides is not answered by EXPLAIN ANALYZE:
-- no count of its own tells how many of them his clauses drop
CREATE TABLE rows (id int, who text, v text) PARTITION BY LIST (who);
CREATE FOREIGN TABLE rows_of_all PARTITION OF rows FOR VALUES IN ('regress_csv_reader', 'other')
	SERVER csv OPTIONS (filename 'regress_csv/r.csv');
CALL write_file('r.csv', E'1,regress_csv_reader,10\n2,other,20\n3,other,SECRET\n');
ALTER TABLE rows ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON rows USING (who = current_user);
GRANT SELECT ON rows TO regress_csv_reader;
SET ROLE regress_csv_reader;
SELECT * FROM rows;
SELECT line FROM explain('SELECT * FROM rows WHERE v LIKE ''SEC%''', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Filter';
SELECT line FROM explain('SELECT * FROM rows WHERE id * id = 9 AND v = ''SECRET''', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Filter';
RESET ROLE;
-- a policy that the engine has comes first there, and is counted with them
DROP POLICY own ON rows;
CREATE POLICY own ON rows USING (who = 'regress_csv_reader');
SET ROLE regress_csv_reader;
SELECT line FROM explain('SELECT * FROM rows WHERE v = ''SECRET''', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Filter';
RESET ROLE;
-- nor do operators get hidden values when a query is planned with statistics of the file: the
-- planner would call this one with values, to see how many rows it leaves
CREATE FUNCTION leak(int, int) RETURNS bool LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'value'; END$$;
CREATE OPERATOR >>> (PROCEDURE = leak, LEFTARG = int, RIGHTARG = int, RESTRICT = scalargtsel);
CREATE FUNCTION leaks(query text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'EXPLAIN ' || query;
  RETURN false;
EXCEPTION WHEN raise_exception THEN
  RETURN true;
END $$;
CREATE FOREIGN TABLE secrets (id int, n int) SERVER csv OPTIONS (filename 'regress_csv/secrets.csv');
CREATE VIEW some_secrets WITH (security_barrier) AS SELECT * FROM secrets WHERE id < 10;
CREATE VIEW all_secrets AS SELECT * FROM secrets;
CALL write_query('secrets.csv', $$SELECT string_agg(format(E'%s,%s\n', i, i * 7), '') FROM generate_series(1, 1000) i$$);
CALL write_query('r.csv', $$SELECT string_agg(format(E'%s,other,20\n', i), '') FROM generate_series(1, 1000) i$$);
GRANT SELECT ON some_secrets, all_secrets, rows_of_all TO regress_csv_reader;
GRANT SELECT (id) ON secrets TO regress_csv_reader;
SELECT leaks('SELECT id FROM secrets WHERE id >>> 3'), leaks('SELECT id FROM secrets WHERE n >>> 3'), leaks('SELECT * FROM rows WHERE id >>> 3');
SET ROLE regress_csv_reader;
SELECT leaks('SELECT id FROM secrets WHERE id >>> 3'), leaks('SELECT id FROM all_secrets WHERE n >>> 3');
SELECT leaks('SELECT id FROM some_secrets WHERE id >>> 3'), leaks('SELECT * FROM rows WHERE id >>> 3');
-- this query fails, but only after it is planned
SELECT leaks('SELECT id FROM secrets WHERE n >>> 3');
RESET ROLE;
SET client_min_messages = warning;
DROP OWNED BY regress_csv_owner, regress_csv_reader CASCADE;
RESET client_min_messages;
DROP ROLE regress_csv_owner, regress_csv_reader;

\i :teardown
