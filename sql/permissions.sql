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
-- only a superuser bounds the memory taken on the GPU
SET csv_gpu_fdw.gpu_memory_limit = 100;
\echo :SQLSTATE
SET csv_gpu_fdw.engine = 'cpu';
SELECT * FROM v;
RESET csv_gpu_fdw.engine;
RESET ROLE;
SET csv_gpu_fdw.gpu_memory_limit = 100;
RESET csv_gpu_fdw.gpu_memory_limit;
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
DROP OWNED BY regress_csv_owner, regress_csv_reader CASCADE;
DROP ROLE regress_csv_owner, regress_csv_reader;

\i :teardown
