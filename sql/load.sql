--
-- csv_gpu_load(): the records of a foreign table into a table, as COPY FROM
-- would put them there.  What goes by pages is in load_pages.sql.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

SELECT pg_get_function_arguments('csv_gpu_load'::regproc);
SELECT pg_get_function_result('csv_gpu_load'::regproc);

CALL write_file('t.csv', E'id,name,qty\n1,one,10\n2,two,20\n3\n4,"fo\nur",\n5,five,50\n');
CREATE FOREIGN TABLE s (id int, name text, qty int)
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', header 'true');
CREATE TABLE t (id int, name text, qty int);

-- a row of counts; NOTICEs as of a query
SELECT records_loaded, records_skipped, bytes_read, elapsed > '0' AS took_time,
  elapsed < '1 minute' AS not_long FROM csv_gpu_load('s', 't');
SELECT * FROM t;
-- once more; by name of arguments
ALTER FOREIGN TABLE s OPTIONS (ADD log_verbosity 'silent');
SELECT records_loaded, records_skipped FROM csv_gpu_load(target => 't', source => 's');
SELECT count(*) FROM t;
-- its own rows are not seen before it ends, and are then
BEGIN;
TRUNCATE t;
SELECT (csv_gpu_load('s', 't')).records_loaded;
SELECT count(*) FROM t;
ROLLBACK;
SELECT count(*) FROM t;
-- a part of a transaction that is undone
BEGIN;
SAVEPOINT a;
SELECT records_loaded FROM csv_gpu_load('s', 't');
ROLLBACK TO a;
SELECT records_loaded FROM csv_gpu_load('s', 't');
COMMIT;
SELECT count(*) FROM t;
-- in a function, whose exception undoes it
DO $$
BEGIN
  BEGIN
    PERFORM csv_gpu_load('s', 't');
    RAISE division_by_zero;
  EXCEPTION WHEN division_by_zero THEN
    NULL;
  END;
  PERFORM csv_gpu_load('s', 't');
END $$;
SELECT count(*) FROM t;
-- nothing to load
CALL write_file('t.csv', E'id,name,qty\n');
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't');
CALL write_file('t.csv', '');
SELECT records_loaded, records_skipped, bytes_read FROM csv_gpu_load('s', 't');
CALL write_file('t.csv', E'id,name,qty\n1,one,10\n2,two,20\n3\n4,"fo\nur",\n5,five,50\n');

-- columns that are kept
\set memory 16MB
\i :set_memory
CALL settle();
SELECT records_loaded, records_skipped, bytes_read FROM csv_gpu_load('s', 't');
SELECT columns, rows FROM csv_gpu_resident();
TRUNCATE t;
SELECT records_loaded, records_skipped, bytes_read FROM csv_gpu_load('s', 't');
SELECT * FROM t;
\set memory off
\i :set_memory

-- several files
CALL write_file('u1.csv', E'id,name,qty\n1,one,10\n');
CALL write_file('u2.csv', E'id,name,qty\n2,two,20\n3,three,30\n');
ALTER FOREIGN TABLE s OPTIONS (SET filename 'regress_csv/u*.csv');
TRUNCATE t;
SELECT records_loaded, bytes_read FROM csv_gpu_load('s', 't');
SELECT * FROM t;
ALTER FOREIGN TABLE s OPTIONS (SET filename 'regress_csv/t.csv');
-- a program
CREATE FOREIGN TABLE p (id int, name text, qty int)
  SERVER csv OPTIONS (program 'echo 7,seven,70');
SELECT records_loaded, bytes_read FROM csv_gpu_load('p', 't');
ALTER FOREIGN TABLE p OPTIONS (SET program 'echo 8,eight,80; exit 3');
SELECT records_loaded FROM csv_gpu_load('p', 't');
SELECT * FROM t WHERE id > 3;
DROP FOREIGN TABLE p;
DROP TABLE t;

--
-- columns
--
-- by name, whatever their order; others have their defaults
CREATE TABLE t (n serial, qty bigint, extra text DEFAULT 'none', gone int, name varchar(10),
  twice bigint GENERATED ALWAYS AS (qty * 2) STORED, id int, k int GENERATED ALWAYS AS IDENTITY,
  at timestamptz DEFAULT 'epoch');
ALTER TABLE t DROP COLUMN gone;
ALTER TABLE t ADD COLUMN late int DEFAULT 99;
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT * FROM t;
-- in order
TRUNCATE t;
SELECT records_loaded FROM csv_gpu_load('s', 't', '{qty,extra,id}');
SELECT qty, extra, id, name FROM t;
-- one left out is not looked at: what is wrong with it is no error
TRUNCATE t;
CALL write_file('t.csv', E'id,name,qty\n1,one,ten\n2,two,20\n');
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', ARRAY['id', 'name', NULL]);
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't');
SELECT id, name, qty FROM t;
TRUNCATE t;
-- nothing but defaults
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', ARRAY[NULL, NULL, NULL]);
SELECT id, extra, late FROM t;
TRUNCATE t;
-- an identity's values are those of the file, as in COPY
SELECT records_loaded FROM csv_gpu_load('s', 't', ARRAY['k', NULL, NULL]);
SELECT k, id FROM t;
-- what is wrong
SELECT csv_gpu_load('s', 't', '{id,name}');
SELECT csv_gpu_load('s', 't', '{id,name,qty,extra}');
SELECT csv_gpu_load('s', 't', '{id,name,nothing}');
SELECT csv_gpu_load('s', 't', '{id,name,id}');
SELECT csv_gpu_load('s', 't', '{id,name,twice}');
SELECT csv_gpu_load('s', 't', '{id,name,ctid}');
SELECT csv_gpu_load('s', 't', '{{id,name,qty}}');
ALTER TABLE t RENAME name TO label;
SELECT csv_gpu_load('s', 't');
ALTER TABLE t RENAME twice TO name;
SELECT csv_gpu_load('s', 't');
SELECT csv_gpu_load(NULL, 't');
SELECT csv_gpu_load('s', NULL);
SELECT csv_gpu_load('t', 't');
DROP TABLE t;
-- virtual columns are columns as any
ALTER FOREIGN TABLE s ADD line int OPTIONS (virtual 'line'), ADD file text OPTIONS (virtual 'filename');
CREATE TABLE t (line int, id int, name text, qty text, file text);
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT * FROM t;
ALTER FOREIGN TABLE s DROP line, DROP file;
DROP TABLE t;

-- values are assigned, as by INSERT
CALL write_file('t.csv', E'id,name,qty\n1,abc,10\n2,"de   ",20\n');
CREATE DOMAIN small AS int CHECK (VALUE < 20);
CREATE TABLE t (id numeric(5,2), name varchar(3), qty text);
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT * FROM t;
TRUNCATE t;
ALTER TABLE t ALTER name TYPE varchar(2);
SELECT records_loaded FROM csv_gpu_load('s', 't');
ALTER TABLE t ALTER name TYPE text, ALTER qty TYPE small USING 1;
SELECT records_loaded FROM csv_gpu_load('s', 't');
ALTER TABLE t ALTER qty TYPE date USING NULL;
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT count(*) FROM t;
DROP TABLE t;
-- the source's may be a domain's
CREATE FOREIGN TABLE d (id small, name text, qty small)
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', header 'true', log_verbosity 'silent');
CREATE TABLE t (id int, name text, qty bigint);
SELECT records_loaded, records_skipped FROM csv_gpu_load('d', 't');
SELECT * FROM t;
DROP FOREIGN TABLE d;
DROP TABLE t;

--
-- constraints
--
CALL write_file('t.csv', E'id,name,qty\n1,one,10\n2,two,20\n3\n4,four,\n5,five,50\n');
CREATE TABLE t (id int, name text, qty int NOT NULL);
SELECT records_loaded FROM csv_gpu_load('s', 't');
ALTER TABLE t ALTER qty DROP NOT NULL, ADD CONSTRAINT few CHECK (id < 5);
SELECT records_loaded FROM csv_gpu_load('s', 't');
ALTER TABLE t DROP CONSTRAINT few, ADD PRIMARY KEY (id), ADD UNIQUE (name);
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT id, name FROM t ORDER BY id;
-- deferred ones
ALTER TABLE t DROP CONSTRAINT t_name_key, DROP CONSTRAINT t_pkey, ADD UNIQUE (id) DEFERRABLE INITIALLY DEFERRED;
BEGIN;
SELECT records_loaded FROM csv_gpu_load('s', 't');
COMMIT;
ALTER TABLE t DROP CONSTRAINT t_id_key, ADD EXCLUDE USING btree (name WITH =);
SELECT records_loaded FROM csv_gpu_load('s', 't');
-- an index finds them
TRUNCATE t;
SELECT records_loaded FROM csv_gpu_load('s', 't');
SET enable_seqscan = off;
SELECT id FROM t WHERE name = 'five';
RESET enable_seqscan;
DROP TABLE t;
-- rows wait before they are inserted, and an ERROR still names the record
CREATE TABLE t (id int PRIMARY KEY, name text) PARTITION BY RANGE (id);
CREATE TABLE t_few PARTITION OF t FOR VALUES FROM (1) TO (1000);
CREATE TABLE t_many PARTITION OF t FOR VALUES FROM (1000) TO (10000);
CREATE FOREIGN TABLE many (id int, name text) SERVER csv OPTIONS (filename 'regress_csv/many.csv');
CALL write_query('many.csv', $$ SELECT string_agg(CASE i WHEN 1000 THEN 7 ELSE i END || ',x', E'\n') FROM generate_series(1, 2500) i $$);
SELECT records_loaded FROM csv_gpu_load('many', 't');
CALL write_query('many.csv', $$ SELECT string_agg(CASE i WHEN 1500 THEN 1200 ELSE i END || ',x', E'\n') FROM generate_series(1, 2500) i $$);
SELECT records_loaded FROM csv_gpu_load('many', 't');
CALL write_query('many.csv', $$ SELECT string_agg(i || ',x', E'\n') FROM generate_series(1, 2500) i $$);
SELECT records_loaded FROM csv_gpu_load('many', 't');
SELECT tableoid::regclass, count(*), sum(id) FROM t GROUP BY 1 ORDER BY 1;
DROP FOREIGN TABLE many;
DROP TABLE t;
-- foreign keys, to another table and to itself
CREATE TABLE other (id int PRIMARY KEY);
INSERT INTO other VALUES (1), (2), (4);
CREATE TABLE t (id int REFERENCES other, name text, qty int);
SELECT records_loaded FROM csv_gpu_load('s', 't');
INSERT INTO other VALUES (5);
SELECT records_loaded FROM csv_gpu_load('s', 't');
DROP TABLE t;
DROP TABLE other;
CALL write_file('t.csv', E'id,name,qty\n1,one,2\n2,two,1\n3,three,\n');
CREATE TABLE t (id int PRIMARY KEY, name text, qty int REFERENCES t);
SELECT records_loaded FROM csv_gpu_load('s', 't');
CALL write_file('t.csv', E'id,name,qty\n4,one,4\n5,two,6\n');
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT count(*) FROM t;
DROP TABLE t;

--
-- triggers
--
CALL write_file('t.csv', E'id,name,qty\n1,one,10\n2,two,20\n4,four,\n5,five,50\n');
CREATE TABLE t (id int, name text, qty int);
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE NOTICE '% % %: % rows', TG_WHEN, TG_OP, TG_LEVEL, (SELECT count(*) FROM t);
  IF TG_LEVEL = 'ROW' THEN
    IF NEW.id = 2 THEN
      RETURN NULL;
    END IF;
    NEW.name := upper(NEW.name);
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER a BEFORE INSERT ON t EXECUTE FUNCTION tell();
CREATE TRIGGER b AFTER INSERT ON t EXECUTE FUNCTION tell();
SELECT records_loaded FROM csv_gpu_load('s', 't');
TRUNCATE t;
CREATE TRIGGER c BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION tell();
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't');
SELECT * FROM t;
TRUNCATE t;
DROP TRIGGER c ON t;
CREATE TRIGGER c AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION tell();
SELECT records_loaded FROM csv_gpu_load('s', 't');
-- a trigger that fails
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id = 4 THEN RAISE EXCEPTION 'no fours'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER d BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION fail();
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT count(*) FROM t;
DROP TABLE t;
-- transition tables
CREATE TABLE t (id int, name text, qty int);
CREATE FUNCTION total() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE NOTICE '% rows, of %', (SELECT count(*) FROM fresh), (SELECT sum(qty) FROM fresh);
  RETURN NULL;
END $$;
CREATE TRIGGER a AFTER INSERT ON t REFERENCING NEW TABLE AS fresh EXECUTE FUNCTION total();
SELECT records_loaded FROM csv_gpu_load('s', 't');
DROP TABLE t;
-- a volatile default may look at the rows before
CREATE TABLE t (id int, name text, qty int, before bigint);
CREATE FUNCTION before() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT count(*) FROM t';
ALTER TABLE t ALTER before SET DEFAULT before();
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT id, before FROM t;
DROP TABLE t;
DROP FUNCTION before;

--
-- partitions
--
CREATE TABLE t (id int, name text, qty int) PARTITION BY RANGE (id);
CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (1) TO (3);
CREATE TABLE t2 (qty int, gone int, id int NOT NULL, name text);
ALTER TABLE t2 DROP COLUMN gone;
ALTER TABLE t ATTACH PARTITION t2 FOR VALUES FROM (3) TO (5);
SELECT records_loaded FROM csv_gpu_load('s', 't');
CREATE TABLE t3 PARTITION OF t DEFAULT PARTITION BY LIST (name);
CREATE TABLE t31 PARTITION OF t3 FOR VALUES IN ('five', 'six');
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT tableoid::regclass, * FROM t ORDER BY id;
-- triggers, and transition tables, of the table and of partitions
CREATE TRIGGER a AFTER INSERT ON t REFERENCING NEW TABLE AS fresh EXECUTE FUNCTION total();
SELECT records_loaded FROM csv_gpu_load('s', 't');
DROP TRIGGER a ON t;
CREATE TRIGGER c BEFORE INSERT ON t2 FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER a AFTER INSERT ON t REFERENCING NEW TABLE AS fresh EXECUTE FUNCTION total();
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT tableoid::regclass, name, count(*) FROM t GROUP BY 1, 2 ORDER BY 1, 2;
DROP TRIGGER c ON t2;
DROP TRIGGER a ON t;
-- indexes of partitions
TRUNCATE t;
ALTER TABLE t ADD UNIQUE (id, name);
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT records_loaded FROM csv_gpu_load('s', 't');
-- a partition by itself
TRUNCATE t;
SELECT records_loaded FROM csv_gpu_load('s', 't1');
-- more partitions than buffers are kept for
DROP TABLE t;
CREATE TABLE t (id int, name text, qty int) PARTITION BY LIST (qty);
DO $$
BEGIN
  FOR i IN 0 .. 69 LOOP
    EXECUTE format('CREATE TABLE t_%s PARTITION OF t FOR VALUES IN (%s)', i, i);
  END LOOP;
END $$;
CALL write_query('t.csv', $$ SELECT E'id,name,qty\n' || string_agg(i || ',x' || i || ',' || i % 70, E'\n') FROM generate_series(1, 20000) i $$);
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT count(*), sum(id), count(DISTINCT tableoid), bool_and(id % 70 = qty AND name = 'x' || id) FROM t;
DROP TABLE t;

--
-- kinds of targets
--
CALL write_file('t.csv', E'id,name,qty\n1,one,10\n2,two,20\n');
CREATE UNLOGGED TABLE t (id int, name text, qty int);
SELECT records_loaded FROM csv_gpu_load('s', 't');
CREATE TEMP TABLE temporary (id int, name text, qty int);
SELECT records_loaded FROM csv_gpu_load('s', 'temporary');
SELECT * FROM temporary;
CREATE VIEW v AS SELECT * FROM t;
SELECT records_loaded FROM csv_gpu_load('s', 'v');
CREATE FUNCTION into_t() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t VALUES (NEW.id + 100, NEW.name, NEW.qty);
  RETURN NEW;
END $$;
CREATE TRIGGER v INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION into_t();
SELECT records_loaded FROM csv_gpu_load('s', 'v');
SELECT * FROM t;
CREATE MATERIALIZED VIEW m AS SELECT * FROM t;
SELECT records_loaded FROM csv_gpu_load('s', 'm');
CREATE SEQUENCE q;
SELECT records_loaded FROM csv_gpu_load('s', 'q', ARRAY[NULL, NULL, NULL]);
CREATE INDEX i ON t (id);
SELECT records_loaded FROM csv_gpu_load('s', 'i');
-- releases differ in the CONTEXT
\set VERBOSITY terse
SELECT records_loaded FROM csv_gpu_load('s', 's');
\set VERBOSITY default
SELECT records_loaded FROM csv_gpu_load('s', 0);
-- inheritance: into the table itself
CREATE TABLE heir () INHERITS (t);
SELECT records_loaded FROM csv_gpu_load('s', 'heir');
SELECT tableoid::regclass, count(*) FROM t GROUP BY 1 ORDER BY 1;
DROP TABLE t CASCADE;

--
-- freeze
--
CREATE TABLE t (id int, name text, qty int);
SELECT records_loaded FROM csv_gpu_load('s', 't', freeze => true);
BEGIN;
TRUNCATE t;
SAVEPOINT a;
SELECT records_loaded FROM csv_gpu_load('s', 't', freeze => true);
ROLLBACK;
BEGIN;
TRUNCATE t;
DECLARE c CURSOR FOR SELECT 1;
SELECT records_loaded FROM csv_gpu_load('s', 't', freeze => true);
ROLLBACK;
BEGIN;
TRUNCATE t;
SELECT records_loaded FROM csv_gpu_load('s', 't', freeze => true);
COMMIT;
SELECT count(*), bool_and(xmin::text IS NOT NULL) FROM t;
CREATE EXTENSION pageinspect;
SELECT DISTINCT t_infomask & x'0300'::int = x'0300'::int AS frozen FROM heap_page_items(get_raw_page('t', 0));
DROP EXTENSION pageinspect;
CREATE TABLE parted (id int, name text, qty int) PARTITION BY LIST (id);
SELECT records_loaded FROM csv_gpu_load('s', 'parted', freeze => true);
SELECT records_loaded FROM csv_gpu_load('s', 't', freeze => NULL);
DROP TABLE t, parted;

--
-- rejects
--
CALL write_file('t.csv', E'id,name,qty\n1,one,10\n2,two\n3,three,many\n4,"four"x,40\n5,five,50\n');
CREATE TABLE t (id int, name text, qty int);
CREATE TABLE rejects AS SELECT *, now() AS loaded_at, 's'::regclass AS source FROM csv_gpu_errors('s') LIMIT 0;
SELECT column_name, data_type FROM information_schema.columns
  WHERE table_name = 'rejects' AND table_schema = 'csv_test' ORDER BY ordinal_position;
ALTER FOREIGN TABLE s OPTIONS (SET log_verbosity 'default', ADD notice_limit '2');
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', rejects => 'rejects');
SELECT * FROM t;
SELECT filename, record, line, byte_offset, column_number, column_name, error, message, raw, source,
  loaded_at BETWEEN now() - interval '1 minute' AND clock_timestamp() AS now FROM rejects;
SELECT * FROM csv_gpu_errors('s') EXCEPT SELECT filename, record, line, byte_offset, column_number, column_name, error, message, raw FROM rejects;
-- what is resident has no bytes of them: the file is read again
\set memory 10MB
\i :set_memory
CALL settle();
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't');
SELECT columns, rows FROM csv_gpu_resident();
TRUNCATE t, rejects;
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', rejects => 'rejects');
SELECT record, raw FROM rejects;
SELECT csv_gpu_forget();
\set memory off
\i :set_memory
-- the same transaction
TRUNCATE t, rejects;
BEGIN;
SELECT records_loaded FROM csv_gpu_load('s', 't', rejects => 'rejects');
ROLLBACK;
SELECT count(*) FROM rejects;
-- only what is loaded is checked
SELECT records_loaded, records_skipped FROM csv_gpu_load('s', 't', ARRAY['id', NULL, NULL], rejects => 'rejects');
SELECT record, error FROM rejects;
-- some of the columns, others, none; constraints and triggers are its own
CREATE TABLE few (n serial, error varchar(20) CHECK (error <> 'bad_value'), record int);
SELECT records_loaded FROM csv_gpu_load('s', 't', rejects => 'few');
ALTER TABLE few DROP CONSTRAINT few_error_check;
SELECT records_loaded FROM csv_gpu_load('s', 't', rejects => 'few');
SELECT record, error FROM few;
CREATE TABLE none (a int);
SELECT records_loaded FROM csv_gpu_load('s', 't', rejects => 'none');
-- limits and on_error hold, with a table of rejects as without
ALTER FOREIGN TABLE s OPTIONS (ADD reject_limit '1', SET log_verbosity 'silent');
SELECT records_loaded FROM csv_gpu_load('s', 't', rejects => 'rejects');
SELECT records_loaded FROM csv_gpu_load('s', 't');
ALTER FOREIGN TABLE s OPTIONS (SET reject_limit '50%');
SELECT records_loaded FROM csv_gpu_load('s', 't', rejects => 'rejects');
SELECT records_loaded FROM csv_gpu_load('s', 't');
ALTER FOREIGN TABLE s OPTIONS (DROP reject_limit, ADD on_error 'stop');
SELECT records_loaded FROM csv_gpu_load('s', 't', rejects => 'rejects');
SELECT records_loaded FROM csv_gpu_load('s', 't');
ALTER FOREIGN TABLE s OPTIONS (DROP on_error);
SELECT count(*) FROM t;
DROP TABLE t, rejects, few, none;

--
-- filter and expressions
--
CREATE TABLE t (id int, name varchar(5), qty numeric(5,1), loaded date);
CREATE FUNCTION load_t(filter text, expressions jsonb DEFAULT NULL, columns text[] DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE t;
  RETURN QUERY SELECT format('%s loaded, %s skipped', records_loaded, records_skipped)
    FROM csv_gpu_load('s', 't', columns, filter => load_t.filter, expressions => load_t.expressions);
  RETURN QUERY SELECT t::text FROM t;
EXCEPTION WHEN OTHERS THEN
  RETURN NEXT SQLSTATE || ' ' || SQLERRM;
END $$;
-- by the engine, the executor, both, and neither; bad records count in all of them
SELECT load_t('qty > 10');
SELECT load_t('length(name) < 4 AND random() < 2');
SELECT load_t('s.qty > 10 AND length(name) < 4 -- a comment');
SELECT load_t('false'), load_t('NULL'), load_t('id > 0 AND false'), load_t('now() < ''2000-01-01''');
SELECT load_t('id > 0 OR true');
SELECT load_t('id < 5 AND ''pg_class''::regclass <> id');
SELECT load_t('s IS NOT NULL');
-- in place of a column, besides, cast as by INSERT, with "columns", and in no need of columns
SELECT load_t(NULL, '{"name": "upper(name)", "loaded": "''2020-02-02 01:00''::timestamp", "qty": "coalesce(qty, 0) * 1.5"}');
SELECT load_t('id <> 2', '{"qty": "s.id || ''.25''"}', '{NULL,name,NULL}');
SELECT load_t('id <> 2', '{"qty": "(s.id || ''.25'')::float"}', '{NULL,name,NULL}');
SELECT load_t('qty < 20', '{"name": "''a''''b''"}', '{NULL,NULL,NULL}');
SELECT load_t(NULL, '{"name": "name || ''longer''"}');
SELECT load_t('1 / (id - 5) > 0'), load_t(NULL, '{"qty": "1 / (id - 5)"}');
-- nothing but one expression
SELECT filter, load_t(filter) FROM unnest('{qty > 10) OR (true,true; SELECT 1,"",*,s.*,true FROM s,true WHERE true,true AS a,"true, false",id,missing > 1,
  ctid IS NULL,tableoid > 0,EXISTS (SELECT 1),count(*) > 1,row_number() OVER () > 1,"generate_series(1, 2) > 1",DEFAULT,$1,''a,true LIMIT 1}'::text[]) AS filter;
SELECT load_t(NULL, '["name"]'), load_t(NULL, '{"name": 1}'), load_t(NULL, '{"other": "1"}'), load_t(NULL, '{"ctid": "1"}');
SELECT load_t(NULL, '{"name": "max(name)"}'), load_t(NULL, '{"name": "(SELECT 1)"}'), load_t(NULL, '{"loaded": "1"}');
SELECT records_loaded FROM csv_gpu_load('s', 't', filter => 'qty + nothing');
-- columns that only SQL uses need no namesake
ALTER TABLE t DROP COLUMN qty;
SELECT load_t(NULL, '{"name": "id || ''-'' || qty"}'), load_t('qty > 10'), load_t(NULL);
SELECT load_t(NULL, '{"qty": "1", "id": "qty"}');
ALTER TABLE t ADD always int GENERATED ALWAYS AS IDENTITY, ADD made int GENERATED ALWAYS AS (id) STORED;
SELECT load_t(NULL, '{"always": "qty"}'), load_t(NULL, '{"made": "qty"}');
-- a function sees the rows before, and its own
ALTER TABLE t DROP made;
CREATE FUNCTION seen() RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES (0); SELECT count(*)::int FROM t';
SELECT load_t(NULL, '{"id": "seen()", "name": "qty"}');
SELECT load_t('seen() < 4', NULL, '{id,name,NULL}');
-- all at once, without reading
SELECT * FROM csv_gpu_load_file('s', 't', NULL, filter => 'qty > 10 AND missing', only_check => true);
CREATE TABLE few (record bigint);
SELECT records_loaded FROM csv_gpu_load_file('s', 't', NULL, columns => '{id,name,NULL}', rejects => 'few', only_check => true);
DROP TABLE few;
-- a file that is left out counts as read
CALL write_file('a.csv', E'1\n2\n');
CALL write_file('b.csv', E'3\n4\n');
CREATE FOREIGN TABLE files (id int, f text OPTIONS (virtual 'filename')) SERVER csv OPTIONS (filename 'regress_csv/[ab].csv');
SELECT records_loaded FROM csv_gpu_load('files', 't', filter => 'f LIKE ''%a.csv'' AND id > 1', mode => 'new_records');
SELECT records_loaded FROM csv_gpu_load('files', 't', filter => 'id > 0 OR f = ''''', mode => 'new_records');
SELECT records_loaded, bytes_read FROM csv_gpu_load('files', 't', filter => 'f LIKE ''%a.csv''');
SELECT records_loaded FROM csv_gpu_load_file('files', 't', 'regress_csv/b.csv', filter => 'f LIKE ''%a.csv''');
DROP FOREIGN TABLE files;
DROP TABLE t;
DROP FUNCTION load_t, seen;

--
-- new columns
--
CALL write_file('n1.csv', E'id,x\n1,10\n');
CALL write_file('n2.csv', E'Zip,x,id,"a ""b""",\n94,20,2,q,r\n');
CALL write_file('n3.csv', E'x,ID,zip\n30,3,95\n');
CREATE FOREIGN TABLE n (id int, x int, f text OPTIONS (virtual 'filename')) SERVER csv OPTIONS (filename 'regress_csv/n*.csv', header 'true');
CREATE TABLE t (x int, "Zip" varchar(3), id int, f text);
SELECT records_loaded FROM csv_gpu_load('n', 't', new_columns => 'error');
ALTER FOREIGN TABLE n OPTIONS (ADD by_name 'true');
SELECT records_loaded FROM csv_gpu_load('n', 1, new_columns => 'add');
SELECT records_loaded FROM csv_gpu_load('n', 't', new_columns => 'error');
SELECT records_loaded FROM csv_gpu_load('n', 't', new_columns => 'other');
SELECT records_loaded FROM csv_gpu_load('n', 't', '{id,x,f}', new_columns => 'add');
SELECT records_loaded FROM csv_gpu_load_file('n', 't', 'regress_csv/n1.csv', new_columns => 'error');
SELECT records_loaded FROM csv_gpu_load('n', 't', new_columns => 'ignore');
-- in the load's transaction
BEGIN;
SELECT records_loaded FROM csv_gpu_load('n', 't', new_columns => 'add', expressions => '{"x": "x / 0"}');
ROLLBACK;
SELECT records_loaded FROM csv_gpu_load('n', 't', new_columns => 'add', mode => 'new_records');
SELECT * FROM t;
SELECT records_loaded FROM csv_gpu_load('n', 't', new_columns => 'error', mode => 'new_records');
-- names that columns cannot have; the files are not read to check the arguments
CALL write_file('n4.csv', E'id,ctid\n5,50\n');
SELECT records_loaded FROM csv_gpu_load('n', 't', new_columns => 'add');
SELECT records_loaded FROM csv_gpu_load_file('n', 't', 'regress_csv/n4.csv', new_columns => 'add', only_check => true);
CALL write_query('n4.csv', $$SELECT 'id,' || repeat('x', 64) || E'\n'$$);
SELECT records_loaded FROM csv_gpu_load('n', 't', new_columns => 'add');
CALL write_file('n4.csv', E'id,x,x\n');
SELECT records_loaded FROM csv_gpu_load('n', 't', new_columns => 'add');
CALL write_file('n4.csv', E'id,y\n');
CREATE ROLE regress_csv_loader;
GRANT USAGE ON SCHEMA csv_test TO regress_csv_loader;
GRANT SELECT (id) ON n TO regress_csv_loader;
GRANT INSERT ON t TO regress_csv_loader;
SET ROLE regress_csv_loader;
SELECT records_loaded FROM csv_gpu_load('n', 't', '{id,NULL,NULL,NULL,NULL}', new_columns => 'error');
RESET ROLE;
GRANT SELECT ON n TO regress_csv_loader;
SET ROLE regress_csv_loader;
SELECT records_loaded FROM csv_gpu_load('n', 't', '{id,NULL,NULL,NULL,NULL}', new_columns => 'error');
SELECT records_loaded FROM csv_gpu_load('n', 't', new_columns => 'add');
SELECT records_loaded FROM csv_gpu_load_file('n', 't', NULL, new_columns => 'add', only_check => true);
RESET ROLE;
DROP FOREIGN TABLE n;
DROP TABLE t;
DROP OWNED BY regress_csv_loader;
DROP ROLE regress_csv_loader;

--
-- who may
--
CREATE TABLE t (id int, name text, qty int);
CREATE TABLE rejects (record bigint, error text, secret int DEFAULT 1);
CREATE ROLE regress_csv_loader;
GRANT USAGE ON SCHEMA csv_test TO regress_csv_loader;
SET ROLE regress_csv_loader;
SELECT records_loaded FROM csv_gpu_load('s', 't');
RESET ROLE;
GRANT INSERT ON t TO regress_csv_loader;
SET ROLE regress_csv_loader;
SELECT records_loaded FROM csv_gpu_load('s', 't');
RESET ROLE;
GRANT SELECT (id, name) ON s TO regress_csv_loader;
SET ROLE regress_csv_loader;
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT records_loaded FROM csv_gpu_load('s', 't', ARRAY['id', 'name', NULL]);
SELECT records_loaded FROM csv_gpu_load('s', 't', ARRAY['id', 'name', NULL], rejects => 'rejects');
SELECT records_loaded FROM csv_gpu_load('s', 't', ARRAY['id', 'name', NULL], filter => 'qty > 10');
SELECT records_loaded FROM csv_gpu_load('s', 't', ARRAY['id', NULL, NULL], expressions => '{"name": "qty"}');
SELECT records_loaded FROM csv_gpu_load('s', 't', ARRAY['id', NULL, NULL], expressions => '{"name": "s"}');
SELECT records_loaded FROM csv_gpu_load('s', 't', ARRAY['id', NULL, NULL], filter => 'id > 2', expressions => '{"name": "s.name"}');
SELECT records_loaded FROM csv_gpu_load('s', 't', ARRAY['id', NULL, NULL], filter => 'pg_read_file(name) = ''''');
RESET ROLE;
GRANT SELECT ON s TO regress_csv_loader;
REVOKE INSERT ON t FROM regress_csv_loader;
GRANT INSERT (id, name) ON t TO regress_csv_loader;
GRANT INSERT (record) ON rejects TO regress_csv_loader;
SET ROLE regress_csv_loader;
SELECT records_loaded FROM csv_gpu_load('s', 't');
SELECT records_loaded FROM csv_gpu_load('s', 't', ARRAY['id', 'name', NULL]);
SELECT records_loaded FROM csv_gpu_load('s', 't', ARRAY['id', 'name', NULL], rejects => 'rejects');
RESET ROLE;
GRANT INSERT (error) ON rejects TO regress_csv_loader;
SET ROLE regress_csv_loader;
SELECT records_loaded FROM csv_gpu_load('s', 't', ARRAY['id', 'name', NULL], rejects => 'rejects');
RESET ROLE;
SELECT * FROM rejects;
-- row-level security is refused where it applies, as in COPY
GRANT ALL ON t, rejects TO regress_csv_loader;
ALTER TABLE rejects ENABLE ROW LEVEL SECURITY;
SET ROLE regress_csv_loader;
SELECT records_loaded FROM csv_gpu_load('s', 't', rejects => 'rejects');
RESET ROLE;
ALTER TABLE rejects DISABLE ROW LEVEL SECURITY;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
SET ROLE regress_csv_loader;
SELECT records_loaded FROM csv_gpu_load('s', 't');
SET row_security = off;
SELECT records_loaded FROM csv_gpu_load('s', 't');
RESET row_security;
RESET ROLE;
SELECT records_loaded FROM csv_gpu_load('s', 't');
-- not where nothing may be written, but to a temporary table
BEGIN READ ONLY;
SELECT records_loaded FROM csv_gpu_load('s', 't');
ROLLBACK;
CREATE TEMP TABLE local (LIKE t);
BEGIN READ ONLY;
SELECT records_loaded FROM csv_gpu_load('s', 'local');
SELECT records_loaded FROM csv_gpu_load('s', 'local', rejects => 'rejects');
ROLLBACK;
-- nor in a parallel query, whatever a function says of itself
CREATE FUNCTION load_in_parallel() RETURNS bigint LANGUAGE sql PARALLEL SAFE AS
  $$ SELECT records_loaded FROM csv_gpu_load('s', 't') $$;
CREATE FUNCTION load_file_in_parallel() RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS
  $$ BEGIN RETURN (SELECT records_loaded FROM csv_gpu_load_file('s', 't', 'regress_csv/t.csv')); END $$;
\set SHOW_CONTEXT never
-- it has another name from PostgreSQL 16 on
SELECT name AS parallel FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \gset
SET :parallel = on;
SELECT load_in_parallel();
\echo :SQLSTATE
SELECT load_file_in_parallel();
RESET :parallel;
\set SHOW_CONTEXT errors
DROP FUNCTION load_in_parallel, load_file_in_parallel;
DROP TABLE t, rejects, local;
DROP OWNED BY regress_csv_loader;
DROP ROLE regress_csv_loader;
\i :teardown
