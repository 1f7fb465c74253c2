--
-- csv_gpu_load(): duplicates, and rows that the target refuses.  Random cases are in
-- test/t/067_duplicates.pl.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup
SET client_min_messages = notice;

CALL write_file('t1.csv', E'1,one,10\n2,two,20\n1,uno,11\n3\n');
CALL write_file('t2.csv', E'2,deux,22\n,none,1\n4,four,40\n,nul,2\n');
CREATE FOREIGN TABLE s (id int, name text, qty int)
  SERVER csv OPTIONS (filename 'regress_csv/t*.csv', log_verbosity 'silent');
CREATE TABLE t (id int UNIQUE, name text, qty int, n serial, twice int GENERATED ALWAYS AS (qty * 2) STORED);
CREATE TABLE r (filename text, record bigint, line bigint, byte_offset bigint, error text, message text, raw text);
CREATE FUNCTION load(duplicates text, source regclass DEFAULT 's', key text[] DEFAULT '{id}') RETURNS text LANGUAGE sql AS $$
  SELECT records_loaded || ' loaded, ' || records_skipped || ' skipped'
  FROM csv_gpu_load(source, 't', '{id,name,qty}', rejects => 'r', duplicates => duplicates, key => key) $$;

-- each, into an empty table and one that has keys
BEGIN;
SELECT load('first');
SELECT id, name, qty, twice FROM t ORDER BY id, name;
SELECT * FROM r;
ROLLBACK;
BEGIN;
INSERT INTO t VALUES (4, 'old', 0), (5, 'five', 50);
SAVEPOINT a;
SELECT load('last');
SELECT id, name, qty FROM t ORDER BY id, name;
SELECT record, error, message, raw FROM r;
ROLLBACK TO a;
SELECT load('update');
SELECT id, name, qty FROM t ORDER BY id, name;
SELECT record, error, message, raw FROM r;
ROLLBACK TO a;
-- a snapshot that lasts; a program; rows that are mostly updates
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT load('last');
ROLLBACK;
CREATE FOREIGN TABLE p (id int, name text, qty int)
  SERVER csv OPTIONS (program 'echo 7,a,1; echo 7,b,2; echo 8,c,3');
BEGIN;
SELECT load('first', 'p');
SELECT id, name FROM t;
ROLLBACK;
SELECT load('last', 'p');
BEGIN;
INSERT INTO t SELECT i, 'old' FROM generate_series(1, 4) i;
SELECT load('update');
SELECT id, name, qty FROM t ORDER BY id, name;
ROLLBACK;
-- new records, and frozen rows
BEGIN;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,qty}', mode => 'new_records', duplicates => 'last', key => '{id}');
SELECT bytes_behind FROM csv_gpu_positions;
ROLLBACK;
BEGIN;
TRUNCATE t;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,qty}', freeze => true, duplicates => 'first', key => '{id}');
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,NULL,NULL}', freeze => true, duplicates => 'update', key => '{id}');
ROLLBACK;
-- a generated column in the key
BEGIN;
ALTER TABLE t DROP CONSTRAINT t_id_key;
CREATE UNIQUE INDEX t_key ON t (id, twice) NULLS NOT DISTINCT;
SELECT load('first', key => '{id,twice}');
ROLLBACK;

-- what is wrong
SELECT load('first', key => NULL);
SELECT load('first', key => '{id,name}');
SELECT load('first', key => '{nothing}');
SELECT load('sometimes');
CREATE FOREIGN TABLE nothing (id int, name text, qty int) SERVER csv OPTIONS (filename 'regress_csv/nothing.csv');
\set VERBOSITY terse
SELECT load('last', 'nothing');
\set VERBOSITY default
CREATE UNIQUE INDEX ON t (n);
SELECT load('first', key => '{n}');
DROP INDEX t_n_idx;
-- an ERROR of a value names the record
SELECT records_loaded FROM csv_gpu_load('s', 't', '{id,name,qty}', duplicates => 'last', key => '{id}', expressions => '{"qty": "60 / (qty - 22)"}');

-- rights: as of INSERT ... ON CONFLICT
CREATE ROLE regress_csv_loader;
GRANT ALL ON SCHEMA csv_test TO regress_csv_loader;
GRANT SELECT ON s TO regress_csv_loader;
GRANT INSERT ON t, r TO regress_csv_loader;
GRANT ALL ON SEQUENCE t_n_seq TO regress_csv_loader;
SET ROLE regress_csv_loader;
SELECT load('first');
RESET ROLE;
GRANT SELECT (id) ON t TO regress_csv_loader;
SET ROLE regress_csv_loader;
BEGIN;
SELECT load('first');
ROLLBACK;
SELECT load('update');
RESET ROLE;
-- row-level security as there
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY low ON t TO regress_csv_loader USING (true) WITH CHECK (id IS NULL OR id < 4);
SET ROLE regress_csv_loader;
SELECT records_loaded FROM csv_gpu_load('s', 't', '{id,name,qty}');
SELECT load('first');
RESET ROLE;
DROP POLICY low ON t;
CREATE POLICY low ON t TO regress_csv_loader USING (true) WITH CHECK (true);
SET ROLE regress_csv_loader;
BEGIN;
SELECT load('first');
ROLLBACK;
RESET ROLE;
ALTER TABLE t DISABLE ROW LEVEL SECURITY;
DROP OWNED BY regress_csv_loader;
DROP ROLE regress_csv_loader;
DROP TABLE t;
DROP FOREIGN TABLE p;

--
-- refused rows
--
CALL write_file('t1.csv', E'1,one,10\n2,two,20\n1,uno,11\n3\n4,,40\n5,five,-5\n6,six,60\n7,three,70\n8,toolong,80\n');
CALL write_file('t2.csv', E'9,nine,30\n30,thirty,\n10,ten,11\n11,eleven,10\n12,twelve,13\n13,x,14\n14,y,99\n15,,100\n');
CREATE TABLE t (id int PRIMARY KEY, name varchar(6) CONSTRAINT given NOT NULL, parent int);
ALTER TABLE t ADD CONSTRAINT positive CHECK (parent > 0);
CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE NOTICE '% %', TG_WHEN, TG_LEVEL;
  RETURN NULL;
END $$;
CREATE TRIGGER told AFTER INSERT ON t EXECUTE FUNCTION told();
SELECT records_loaded FROM csv_gpu_load('s', 't', '{id,name,parent}');
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,parent}', rejects => 'r');
SELECT * FROM t;
SELECT filename, record, error, message, raw FROM r;
-- a parent in the same load, before or behind, and in a circle; one that is refused refuses its children
TRUNCATE t, r;
ALTER TABLE t ADD FOREIGN KEY (parent) REFERENCES t;
INSERT INTO t SELECT i, 'old' FROM generate_series(20, 80, 10) i WHERE i <> 30;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,parent}', rejects => 'r');
SELECT * FROM t WHERE name <> 'old';
SELECT record, error, message, raw FROM r;
-- a parent of which one record is refused, and another goes in
CALL write_file('children.csv', E'5,child,1\n1,one,\n1,lost,9\n7,stray,9\n');
CREATE FOREIGN TABLE children (id int, name text, qty int)
  SERVER csv OPTIONS (filename 'regress_csv/children.csv', log_verbosity 'silent');
TRUNCATE t, r;
SELECT records_loaded, records_skipped FROM csv_gpu_load('children', 't', '{id,name,parent}', rejects => 'r', duplicates => 'first');
SELECT record, error, message, raw FROM r;
-- a duplicate of the key that an older index would refuse, too, does not count
CALL write_file('children.csv', E'1,one,1\n1,one,2\n2,one,3\n3,three,\n');
ALTER FOREIGN TABLE children OPTIONS (ADD reject_limit '2');
CREATE TABLE u (id int, name text UNIQUE, qty int NOT NULL);
ALTER TABLE u ADD PRIMARY KEY (id);
TRUNCATE r;
SELECT records_loaded, records_skipped FROM csv_gpu_load('children', 'u', rejects => 'r', duplicates => 'first');
SELECT record, error, message FROM r;
-- a deferrable constraint, which ON CONFLICT must not see
TRUNCATE u, r;
ALTER TABLE u ADD UNIQUE (qty) DEFERRABLE;
CREATE TRIGGER told AFTER INSERT ON u EXECUTE FUNCTION told();
SELECT records_loaded, records_skipped FROM csv_gpu_load('children', 'u', rejects => 'r', duplicates => 'first', filter => 'id <> 2');
SELECT record, error, message FROM r;
SELECT csv_gpu_load('children', 'u', rejects => 'r');
DROP TABLE u;
DROP FOREIGN TABLE children;
-- with `duplicates`, too; one of the key that is an ERROR
TRUNCATE t, r;
ALTER TABLE t DROP CONSTRAINT t_parent_fkey;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,parent}', rejects => 'r', duplicates => 'last');
SELECT record, error, message FROM r;
SELECT csv_gpu_load('s', 't', '{id,name,parent}', rejects => 'r', duplicates => 'error');
-- with a filter and expressions, whose values may be refused
TRUNCATE t, r;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,parent}', rejects => 'r', duplicates => 'first',
  filter => 'id < 9 AND name <> ''three''', expressions => '{"id": "60 / (6 - id)", "name": "left(name, 5)"}');
SELECT * FROM t;
SELECT record, error, message FROM r;
-- they count
ALTER FOREIGN TABLE s OPTIONS (ADD reject_limit '2');
SELECT csv_gpu_load('s', 't', '{id,name,parent}', rejects => 'r');
ALTER FOREIGN TABLE s OPTIONS (DROP reject_limit, SET log_verbosity 'default');
-- partitions, and an exclusion constraint
DROP TABLE t;
TRUNCATE r;
CREATE TABLE t (id int, name text, parent int) PARTITION BY RANGE (id);
CREATE TABLE t1 PARTITION OF t (EXCLUDE (name WITH =)) FOR VALUES FROM (0) TO (10);
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,parent}', rejects => 'r');
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't1', '{id,name,parent}', rejects => 'r');
SELECT error, message, count(*) FROM r GROUP BY 1, 2 ORDER BY 1, 2;
DROP TABLE t;
-- rows that are tested for a partition whose columns have another order; and one that a trigger would drop
CREATE TABLE t (id int, name text, parent int) PARTITION BY RANGE (id);
CREATE TABLE t1 (parent int, name text, id int);
ALTER TABLE t ATTACH PARTITION t1 FOR VALUES FROM (0) TO (20);
CREATE FUNCTION drops() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RETURN CASE WHEN new.parent IS NOT NULL THEN new END;
END $$;
CREATE TRIGGER drops BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION drops();
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,parent}', rejects => 'r');
DROP TABLE t;
-- foreign keys compare by the parent's type and collation
CALL write_file('t1.csv', E'1,"a ",1\n2,b,1\n2,c,1\n2,"a  ",1\n');
CALL write_file('t2.csv', '');
CREATE TABLE parents (name char(4) COLLATE "C" PRIMARY KEY);
INSERT INTO parents VALUES ('a'), ('b');
CREATE TABLE t (id int PRIMARY KEY, name text COLLATE "POSIX" REFERENCES parents);
TRUNCATE r;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,NULL}', rejects => 'r');
SELECT * FROM t;
SELECT record, error, message FROM r;
-- a deferrable constraint beside the key
TRUNCATE t, r;
ALTER TABLE t ADD UNIQUE (id, name) DEFERRABLE;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,NULL}', rejects => 'r');
SELECT record, error, message FROM r;
ALTER TABLE t DROP CONSTRAINT t_id_name_key;
-- rows that the first reading refuses
TRUNCATE t, r;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,NULL}', rejects => 'r', duplicates => 'last',
  expressions => '{"name": "left(''a'', 1 / (2 - id))"}');
SELECT record, error, message FROM r;
-- a key that INSERT would not check
TRUNCATE t, r;
ALTER TABLE t DISABLE TRIGGER ALL;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,NULL}', rejects => 'r', filter => 'name <> ''b''');
ALTER TABLE t ENABLE TRIGGER ALL;
SELECT * FROM t;
TRUNCATE t;
SET session_replication_role = replica;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,NULL}', rejects => 'r', filter => 'name <> ''b''');
RESET session_replication_role;
SELECT record, error, message FROM r;
-- a trigger that takes the key from the rows before
CREATE FUNCTION numbered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  new.id := (SELECT count(*) FROM csv_test.t);
  RETURN new;
END $$;
CREATE TRIGGER numbered BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION numbered();
TRUNCATE t, r;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,NULL}', rejects => 'r');
SELECT * FROM t;
SELECT record, error, message FROM r;
DROP TRIGGER numbered ON t;
-- a function that is called while the load is planned reads the source, too
CREATE FUNCTION source_rows() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (SELECT count(*) FROM csv_test.s WHERE id > 0);
END $$;
CREATE FUNCTION unchanged() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN new; END $$;
CREATE TRIGGER unchanged BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION unchanged();
TRUNCATE t, r;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,NULL,NULL}', rejects => 'r', duplicates => 'last',
  filter => 'id <= source_rows()', expressions => '{"name": "repeat(''a'', source_rows() - 3)"}');
SELECT * FROM t;
SELECT record, error FROM r;
DROP TABLE t, parents;
-- a file that comes, or changes, between two scans of one load
CALL write_file('t1.csv', E'1,one,1\n-2,two,2\n3,three,3\n');
CREATE TABLE t (id int PRIMARY KEY CHECK (id > 0), name text, parent int);
CREATE SEQUENCE times;
CREATE FUNCTION changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF nextval('csv_test.times') % 2 = 0 THEN
    CALL csv_test.write_file(TG_ARGV[0], TG_ARGV[1]);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER changes BEFORE INSERT ON t EXECUTE FUNCTION changes('t0.csv', '4,four,4');
TRUNCATE r;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,parent}', rejects => 'r');
SELECT * FROM t;
SELECT record, error, raw FROM r;
DROP TRIGGER changes ON t;
CREATE TRIGGER changes BEFORE INSERT ON t EXECUTE FUNCTION changes('t1.csv', '5,the file has become longer than it was,5');
TRUNCATE t, r;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,parent}', rejects => 'r');
DROP TABLE t;
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/t0.csv';
-- a filter that leaves out files, for each scan of a load
CALL write_file('t1.csv', E'1,one,1\n1,uno,1\n');
CALL write_file('t2.csv', E'1,un,1\n-2,deux,2\n2,two,2\n');
CALL write_file('t3.csv', E'4,bad\n5\n');
CREATE FOREIGN TABLE named (id int, name text, file text OPTIONS (virtual 'filename'), qty int)
  SERVER csv OPTIONS (filename 'regress_csv/t*.csv');
CREATE TABLE t (id int PRIMARY KEY CHECK (id > 0), name text);
TRUNCATE r;
SELECT records_loaded, records_skipped FROM csv_gpu_load('named', 't', '{id,name,NULL,NULL}', rejects => 'r',
  filter => 'file < ''regress_csv/t3'' AND file > ''regress_csv/t1.csv''');
SELECT * FROM t;
SELECT filename, record, error FROM r;
SELECT records_loaded, records_skipped FROM csv_gpu_load('named', 't', '{id,name,NULL,NULL}', duplicates => 'update',
  filter => 'file < ''regress_csv/t3'' AND id > 0');
SELECT * FROM t;
DROP TABLE t;
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/t3.csv';
-- more verdicts than work_mem holds
CALL write_file('t2.csv', '');
CALL write_query('t1.csv', $$SELECT string_agg(i % 5000 || ',a,1', E'\n') FROM generate_series(1, 10000) i$$);
CREATE TABLE t (id int PRIMARY KEY, name text, parent int);
TRUNCATE r;
SET work_mem = 64;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,parent}', rejects => 'r', duplicates => 'last');
SELECT error, count(*), min(record), max(record) FROM r GROUP BY 1;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', '{id,name,parent}', duplicates => 'update');
DROP TABLE t;

\i :teardown
