--
-- csv_gpu_load() into tables with indexes: where these may be built after the rows,
-- and that all is then as if they had not.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup
CREATE EXTENSION amcheck;
CREATE EXTENSION btree_gist;

CALL write_query('t.csv', $$ SELECT string_agg(i * 7919 % 5003 || ',' || 'text ' || i % 100 || ',' || CASE WHEN i % 10 > 0 THEN i::text ELSE '' END, E'\n') FROM generate_series(1, 5000) i $$);
CALL write_query('twice.csv', $$ SELECT string_agg(CASE i WHEN 4000 THEN 5 * 7919 % 5003 ELSE i * 7919 % 5003 END || ',' || i || CASE WHEN i > 4000 THEN repeat('x', 40) ELSE '' END || CASE WHEN i % 1000 = 7 THEN ',,' ELSE ',' END, E'\n') FROM generate_series(1, 5000) i $$);
CREATE FOREIGN TABLE s (k int, b text, c int) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CREATE FOREIGN TABLE twice (k int, b text, c int) SERVER csv OPTIONS (filename 'regress_csv/twice.csv', notice_limit '3');

-- which of a table's indexes have been built since
CREATE TABLE before (index regclass, filenode oid);
CREATE PROCEDURE remember(name text) LANGUAGE sql AS $$
  DELETE FROM before;
  INSERT INTO before SELECT indexrelid, pg_relation_filenode(indexrelid) FROM pg_index WHERE indrelid = name::regclass;
$$;
CREATE FUNCTION built() RETURNS TABLE (nbuilt bigint, nindexes bigint) LANGUAGE sql AS $$
  SELECT count(*) FILTER (WHERE pg_relation_filenode(index) <> filenode), count(*) FROM before;
$$;

-- indexes of all kinds
BEGIN;
CREATE TABLE t (k int PRIMARY KEY, b text, c int UNIQUE);
CREATE INDEX ON t (lower(b)) WHERE c % 2 = 0;
CREATE INDEX ON t USING hash (b);
CREATE INDEX ON t USING brin (k);
CREATE INDEX ON t USING gist (k, c);
CREATE INDEX ON t USING gin (to_tsvector('simple', b));
CREATE UNIQUE INDEX ON t (b, c) INCLUDE (k);
CALL remember('t');
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT * FROM built();
SELECT count(*) FROM (SELECT * FROM t EXCEPT ALL SELECT * FROM s) difference;
-- what comes after them is in them, too
INSERT INTO t VALUES (-1, 'TEXT', -2);
COMMIT;
SELECT bt_index_parent_check(indexrelid, true) FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indrelid = 't'::regclass AND relam = (SELECT oid FROM pg_am WHERE amname = 'btree') ORDER BY indexrelid;
SELECT count(*) FROM verify_heapam('t');
SET enable_seqscan = off;
SELECT * FROM t WHERE k = -1;
SELECT count(*) FROM t WHERE lower(b) = 'text 8' AND c % 2 = 0;
SELECT count(*) FROM t WHERE b = 'text 8';
SELECT count(*) FROM t WHERE k BETWEEN 100 AND 199;
SELECT count(*) FROM t WHERE to_tsvector('simple', b) @@ '8'::tsquery;
RESET enable_seqscan;
INSERT INTO t VALUES (-1);

-- a table that was emptied, and what was there before is there again
BEGIN;
TRUNCATE t;
CALL remember('t');
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT * FROM built();
SAVEPOINT a;
SELECT records_loaded FROM csv_gpu_load('s', 't');
ROLLBACK TO a;
SELECT count(*) FROM t;
ROLLBACK;
SELECT count(*), min(k) FROM t;
-- in a savepoint
BEGIN;
SAVEPOINT a;
TRUNCATE t;
SELECT records_loaded FROM csv_gpu_load('s', 't');
RELEASE a;
COMMIT;
SELECT count(*), min(k) FROM t;
SELECT bt_index_check('t_pkey', true);

-- an index refuses a row: which one, and nothing stays; NOTICEs come once
BEGIN;
TRUNCATE t;
SAVEPOINT a;
SELECT records_loaded FROM csv_gpu_load('twice', 't');
ROLLBACK TO a;
SELECT count(*) FROM t;
SELECT records_loaded FROM csv_gpu_load('s', 't');
COMMIT;
CREATE TABLE rejected (record bigint, error text);
BEGIN;
CREATE TABLE u (k int PRIMARY KEY, b text, c int);
SAVEPOINT a;
SELECT records_loaded FROM csv_gpu_load('twice', 'u', rejects => 'rejected');
ROLLBACK TO a;
ALTER TABLE u DROP CONSTRAINT u_pkey;
CREATE INDEX ON u (k);
SELECT records_loaded, records_skipped FROM csv_gpu_load('twice', 'u', rejects => 'rejected');
COMMIT;
SELECT count(*) FROM u;
SELECT * FROM rejected ORDER BY record;
-- what was there already
BEGIN;
TRUNCATE u;
ALTER TABLE u ADD PRIMARY KEY (k);
INSERT INTO u VALUES (7);
SELECT records_loaded FROM csv_gpu_load('s', 'u');
ROLLBACK;
-- an expression fails
BEGIN;
TRUNCATE u;
CREATE INDEX ON u ((1 / (k - 7)));
SELECT records_loaded FROM csv_gpu_load('s', 'u');
ROLLBACK;
-- a key that is too long
CALL write_query('long.csv', $$ SELECT string_agg(i || ',' || (SELECT string_agg(md5(k::text || i), '') FROM generate_series(1, CASE i WHEN 40 THEN 200 ELSE 1 END) k) || ',', E'\n') FROM generate_series(1, 50) i $$);
CREATE FOREIGN TABLE long (k int, b text, c int) SERVER csv OPTIONS (filename 'regress_csv/long.csv');
BEGIN;
CREATE TABLE v (k int, b text, c int);
CREATE INDEX ON v (b);
\set VERBOSITY sqlstate
SELECT records_loaded FROM csv_gpu_load('long', 'v');
\set VERBOSITY default
ROLLBACK;

-- unlogged and temporary tables, and triggers that look at them
CREATE UNLOGGED TABLE v (k int PRIMARY KEY, b text, c int);
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  RAISE NOTICE '% % %: % rows', TG_WHEN, TG_OP, TG_LEVEL, (SELECT count(*) FROM v WHERE k > 0);
  RETURN NULL;
END $$;
BEGIN;
TRUNCATE v;
CREATE TRIGGER a BEFORE INSERT ON v EXECUTE FUNCTION tell();
CREATE TRIGGER b AFTER INSERT ON v EXECUTE FUNCTION tell();
CALL remember('v');
SELECT records_loaded FROM csv_gpu_load('s', 'v');
SELECT * FROM built();
SELECT bt_index_check('v_pkey', true);
CREATE TEMP TABLE w (k int PRIMARY KEY, b text, c int);
CALL remember('w');
SELECT records_loaded FROM csv_gpu_load('s', 'w');
SELECT * FROM built();
SELECT bt_index_check('w_pkey', true);
COMMIT;
DROP TABLE v, w;

-- values that are toasted are in them, too
CALL write_query('wide.csv', $$ SELECT string_agg(i || ',' || (SELECT string_agg(md5(i || ' ' || k), '') FROM generate_series(1, CASE WHEN i % 10 = 0 THEN 500 ELSE i % 70 END) k) || ',', E'\n') FROM generate_series(1, 300) i $$);
CREATE FOREIGN TABLE wide (k int, b text, c int) SERVER csv OPTIONS (filename 'regress_csv/wide.csv');
BEGIN;
CREATE TABLE v (k int PRIMARY KEY, b text, c int);
CALL remember('v');
SELECT records_loaded FROM csv_gpu_load('wide', 'v');
SELECT * FROM built();
SELECT bt_index_check('v_pkey', true);
SELECT count(*) FROM (SELECT * FROM v EXCEPT ALL SELECT * FROM wide) difference;
ROLLBACK;

-- by somebody who may load, and no more: functions of the owner's are not run for him
-- with the other one's search_path
CREATE ROLE regress_csv_loader;
CREATE SCHEMA regress_csv_evil AUTHORIZATION regress_csv_loader;
GRANT USAGE ON SCHEMA csv_test TO regress_csv_loader;
GRANT SELECT ON s TO regress_csv_loader;
CREATE TABLE v (k int PRIMARY KEY, b text, c int);
CREATE FUNCTION norm(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN lower(t); END';
CREATE INDEX ON v (norm(b));
GRANT INSERT, TRUNCATE ON v TO regress_csv_loader;
SET ROLE regress_csv_loader;
CREATE FUNCTION regress_csv_evil.lower(t text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF current_user <> 'regress_csv_loader' THEN RAISE EXCEPTION 'called by %', current_user; END IF;
  RETURN pg_catalog.lower(t);
END $$;
SET search_path = regress_csv_evil, csv_test, public, pg_catalog;
BEGIN;
TRUNCATE v;
SELECT records_loaded FROM csv_gpu_load('s', 'v');
COMMIT;
RESET ROLE;
SET search_path = csv_test, public;
-- what came with the server is
DROP INDEX v_norm_idx;
CALL remember('v');
SET ROLE regress_csv_loader;
BEGIN;
TRUNCATE v;
SELECT records_loaded FROM csv_gpu_load('s', 'v');
COMMIT;
RESET ROLE;
SELECT * FROM built();
SELECT bt_index_check('v_pkey', true);
DROP TABLE v;
DROP SCHEMA regress_csv_evil CASCADE;
REVOKE ALL ON SCHEMA csv_test FROM regress_csv_loader;
REVOKE ALL ON s FROM regress_csv_loader;
DROP ROLE regress_csv_loader;

--
-- a table that others may see: entries come in the order of keys
--
CREATE TABLE v (k int PRIMARY KEY, b text, c int, UNIQUE (b, c) INCLUDE (k));
CREATE INDEX ON v (lower(b) DESC NULLS LAST, c) WHERE c % 2 = 0;
INSERT INTO v VALUES (-1, 'text', -2), (-2, NULL, NULL), (-3, NULL, NULL);
CALL remember('v');
SELECT records_loaded FROM csv_gpu_load('s', 'v');
SELECT * FROM built();
SELECT count(*) FROM (SELECT * FROM v EXCEPT ALL SELECT * FROM s) difference;
SELECT bt_index_parent_check(indexrelid, true) FROM pg_index WHERE indrelid = 'v'::regclass ORDER BY indexrelid;
SELECT count(*) FROM verify_heapam('v');
SET enable_seqscan = off;
SELECT * FROM v WHERE k BETWEEN 100 AND 102 ORDER BY k;
SELECT count(*) FROM v WHERE lower(b) = 'text 8' AND c % 2 = 0;
RESET enable_seqscan;
-- rows that it refuses, as they are there already, or twice in the file
SELECT records_loaded FROM csv_gpu_load('s', 'v');
DELETE FROM v WHERE k > 0;
SELECT records_loaded FROM csv_gpu_load('twice', 'v');
SELECT count(*) FROM v;
BEGIN;
SAVEPOINT a;
SELECT records_loaded FROM csv_gpu_load('s', 'v');
SELECT count(*) FROM v;
ROLLBACK TO a;
SELECT count(*) FROM v;
COMMIT;
-- toasted rows are in them, too
CREATE TABLE w (k int PRIMARY KEY, b text, c int);
SELECT records_loaded FROM csv_gpu_load('wide', 'w');
SELECT count(*) FROM (SELECT * FROM w EXCEPT ALL SELECT * FROM wide) difference;
SELECT bt_index_parent_check('w_pkey', true);
DROP TABLE w;
-- a cursor that looks at one, and a trigger
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
DECLARE c CURSOR FOR SELECT k FROM v WHERE k < 0 ORDER BY k;
FETCH 1 FROM c;
CREATE TRIGGER b AFTER INSERT ON v EXECUTE FUNCTION tell();
SELECT records_loaded FROM csv_gpu_load('s', 'v');
FETCH ALL FROM c;
ROLLBACK;
DROP TABLE v;

--
-- where they are not built last
--
-- few rows
CREATE FOREIGN TABLE few (k int, b text, c int) SERVER csv OPTIONS (filename 'regress_csv/few.csv');
CALL write_query('few.csv', $$ SELECT string_agg(i || ',' || 'text ' || i || ',' || i, E'\n') FROM generate_series(1, 1000) i $$);
BEGIN;
TRUNCATE u;
CALL remember('u');
SELECT records_loaded FROM csv_gpu_load('few', 'u');
SELECT * FROM built();
ROLLBACK;
CALL write_query('more.csv', $$ SELECT string_agg(i * 7919 % 20011 || ',' || 'text ' || i || ',' || i, E'\n') FROM generate_series(1, 20000) i $$);
CREATE FOREIGN TABLE more (k int, b text, c int) SERVER csv OPTIONS (filename 'regress_csv/more.csv');
-- more rows, once and again: few beside those that are there
BEGIN;
TRUNCATE u;
CALL remember('u');
SELECT records_loaded FROM csv_gpu_load('more', 'u');
SELECT * FROM built();
CALL remember('u');
SELECT records_loaded FROM csv_gpu_load('more', 'u');
SELECT * FROM built();
ROLLBACK;
-- a table that others may see
CALL remember('u');
SELECT records_loaded FROM csv_gpu_load('more', 'u');
SELECT * FROM built();
-- a deferred constraint, an exclusion constraint
BEGIN;
CREATE TABLE v (k int UNIQUE DEFERRABLE INITIALLY DEFERRED, b text, c int);
CALL remember('v');
SELECT records_loaded FROM csv_gpu_load('more', 'v');
SELECT * FROM built();
CREATE TABLE w (k int, b text, c int, EXCLUDE USING gist (k WITH =));
CALL remember('w');
SELECT records_loaded FROM csv_gpu_load('more', 'w');
SELECT * FROM built();
ROLLBACK;
-- a check that may look at the table
BEGIN;
CREATE TABLE v (k int PRIMARY KEY, b text, c int);
CREATE FUNCTION few() RETURNS boolean LANGUAGE sql AS 'SELECT EXISTS (SELECT FROM v) OR true';
ALTER TABLE v ADD CHECK (few());
CALL remember('v');
SELECT records_loaded FROM csv_gpu_load('more', 'v');
SELECT * FROM built();
ROLLBACK;
-- nor one of a domain's, or a cast
BEGIN;
CREATE TABLE v (k int PRIMARY KEY, b text, c int);
CREATE FUNCTION fine(c int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN EXISTS (SELECT FROM v) OR true; END';
CREATE DOMAIN watched AS int CHECK (fine(VALUE));
ALTER TABLE v ALTER c TYPE watched;
CALL remember('v');
SELECT records_loaded FROM csv_gpu_load('more', 'v');
SELECT * FROM built();
ROLLBACK;
-- a cursor that is at an index, beside indexes that are only built, not sorted
BEGIN;
TRUNCATE t;
INSERT INTO t VALUES (-1, 'x'), (-2, 'y');
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
DECLARE c CURSOR FOR SELECT k FROM t WHERE k < 0 ORDER BY k;
FETCH 1 FROM c;
CALL remember('t');
SELECT records_loaded FROM csv_gpu_load('more', 't');
SELECT * FROM built();
FETCH ALL FROM c;
CLOSE c;
ROLLBACK;
-- a program, which would have to be run twice
CREATE FOREIGN TABLE program (k int, b text, c int) SERVER csv OPTIONS (program 'cat regress_csv/more.csv');
BEGIN;
TRUNCATE u;
CALL remember('u');
SELECT records_loaded FROM csv_gpu_load('program', 'u');
SELECT * FROM built();
ROLLBACK;
-- frozen rows
BEGIN;
TRUNCATE u;
CALL remember('u');
SELECT records_loaded FROM csv_gpu_load('more', 'u', freeze => true);
SELECT * FROM built();
ROLLBACK;
-- partitions
BEGIN;
CREATE TABLE v (k int PRIMARY KEY, b text, c int) PARTITION BY RANGE (k);
CREATE TABLE v1 PARTITION OF v FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
CALL remember('v1');
SELECT records_loaded FROM csv_gpu_load('more', 'v');
SELECT * FROM built();
ROLLBACK;
-- keys in the order of the file: pages of the index are as full as after a build
CALL write_query('ascending.csv', $$ SELECT string_agg(i || ',x', E'\n') FROM generate_series(1, 20000) i $$);
CREATE FOREIGN TABLE ascending_file (k int, b text) SERVER csv OPTIONS (filename 'regress_csv/ascending.csv');
CREATE TABLE ascending (k int PRIMARY KEY, b text);
SELECT records_loaded FROM csv_gpu_load('ascending_file', 'ascending');
SELECT pg_relation_size('ascending_pkey') AS loaded \gset
REINDEX INDEX ascending_pkey;
SELECT :loaded < 1.2 * pg_relation_size('ascending_pkey') AS is_small;
\i :teardown
