--
-- csv_gpu_load() by pages: which tables it is for, and that they hold then what
-- they would hold otherwise.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup
CREATE EXTENSION pageinspect;

-- rows of every kind: NULLs anywhere, short and long values
CALL write_query('t.csv', $$
  SELECT string_agg(concat_ws(',', CASE WHEN i % 7 <> 0 THEN i::text ELSE '' END, i % 3 = 0, CASE WHEN i % 5 <> 0 THEN (i % 100)::text ELSE '' END,
    i * 1000000007::bigint, i / 7.0::float8, i / 3.0::float4, CASE WHEN i % 11 <> 0 THEN round(i * 1.5, 2)::text ELSE '' END,
    date '2000-01-01' + i, timestamp '2000-01-01' + i * interval '1 minute', md5(i::text)::uuid,
    repeat('x', i % 200), CASE WHEN i % 13 <> 0 THEN repeat('y', i % 150) ELSE '' END, '"' || i || '"', chr(65 + i % 26)), E'\n')
  FROM generate_series(1, 5000) i $$);
CREATE FOREIGN TABLE s (i int, b bool, s smallint, l bigint, f double precision, r real, n numeric(12,2), d date,
  ts timestamp, u uuid, t text, v varchar(150), j jsonb, c char)
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', ragged 'pad', log_verbosity 'silent');
CREATE TABLE plain (i int, b bool, s smallint, l bigint, f double precision, r real, n numeric(12,2), d date,
  ts timestamp, u uuid, t text, v varchar(150), j jsonb, c char);
CREATE TABLE pages (LIKE plain);
SELECT count(*) FROM s;

-- a trigger for rows has COPY insert them
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER by_rows BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION nothing();
SELECT records_loaded FROM csv_gpu_load('s', 'plain');
SELECT records_loaded FROM csv_gpu_load('s', 'pages');
SELECT count(*) FROM (SELECT * FROM plain EXCEPT ALL SELECT * FROM pages) difference;
SELECT count(*) FROM (SELECT * FROM pages EXCEPT ALL SELECT * FROM plain) difference;
-- tuples are the same to the last bit, but for who made them and when
CREATE FUNCTION tuples(name text) RETURNS TABLE (lp_len smallint, t_infomask int, t_infomask2 int,
  t_hoff smallint, t_bits text, t_data bytea, at_itself boolean) LANGUAGE sql AS $$
  SELECT lp_len, t_infomask & ~ x'0300'::int, t_infomask2, t_hoff, t_bits, t_data, t_ctid = format('(%s,%s)', b, lp)::tid
  FROM generate_series(0, pg_relation_size(name) / current_setting('block_size')::bigint - 1) b,
    heap_page_items(get_raw_page(name, b)) $$;
SELECT count(*) AS differences FROM (SELECT * FROM tuples('plain') EXCEPT ALL SELECT * FROM tuples('pages')) difference;
SELECT count(*) AS differences FROM (SELECT * FROM tuples('pages') EXCEPT ALL SELECT * FROM tuples('plain')) difference;
SELECT bool_and(at_itself) FROM tuples('pages');
-- once more: no page is left half empty
SELECT records_loaded FROM csv_gpu_load('s', 'pages');
SELECT records_loaded FROM csv_gpu_load('s', 'plain');
SELECT pg_relation_size('pages') < pg_relation_size('plain') * 1.05 AS dense;
SELECT count(*) FROM (SELECT * FROM plain EXCEPT ALL SELECT * FROM pages) difference;
-- it is visible to whom it should be, and can be changed
BEGIN;
SELECT records_loaded FROM csv_gpu_load('s', 'pages');
SELECT count(*) FROM pages;
UPDATE pages SET i = -i WHERE i % 100 = 1;
DELETE FROM pages WHERE i % 2 = 0;
SELECT count(*), count(*) FILTER (WHERE i < 0) FROM pages;
ROLLBACK;
SELECT count(*) FROM pages;
VACUUM pages;
SELECT count(*) FROM pages;
-- it is counted for autovacuum
SELECT pg_stat_force_next_flush();
SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'pages' AND schemaname = 'csv_test';
DROP TABLE pages;

-- a fillfactor
CREATE TABLE pages (LIKE plain) WITH (fillfactor = 50);
SELECT records_loaded FROM csv_gpu_load('s', 'pages');
CREATE TABLE half (LIKE plain) WITH (fillfactor = 50);
INSERT INTO half SELECT * FROM s;
SELECT pg_relation_size('pages') BETWEEN pg_relation_size('half') * 0.95 AND pg_relation_size('half') * 1.05 AS alike,
  pg_relation_size('pages') > pg_relation_size('plain') * 0.8 AS large;
DROP TABLE half, pages;
-- unlogged and temporary tables
CREATE UNLOGGED TABLE pages (LIKE plain);
SELECT records_loaded FROM csv_gpu_load('s', 'pages');
SELECT count(*), sum(i) FROM pages;
DROP TABLE pages;
CREATE TEMP TABLE pages (LIKE plain);
SELECT records_loaded FROM csv_gpu_load('s', 'pages');
SELECT count(*), sum(i) FROM pages;
DROP TABLE pages;
-- a table that is new, or emptied
BEGIN;
CREATE TABLE pages (LIKE plain);
SELECT records_loaded FROM csv_gpu_load('s', 'pages');
SAVEPOINT a;
TRUNCATE pages;
SELECT records_loaded FROM csv_gpu_load('s', 'pages');
SELECT records_loaded FROM csv_gpu_load('s', 'pages');
SELECT count(*) FROM pages;
ROLLBACK TO a;
SELECT count(*) FROM pages;
COMMIT;
SELECT count(*), sum(i) FROM pages;
DROP TABLE pages, plain;

-- few rows go where there is room
CALL write_file('few.csv', E'1,a\n2,b\n');
CREATE FOREIGN TABLE few (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/few.csv', log_verbosity 'silent');
CREATE TABLE t (a int, b text);
DO $$ BEGIN FOR i IN 1 .. 20 LOOP PERFORM csv_gpu_load('few', 't'); END LOOP; END $$;
SELECT count(*), pg_relation_size('t') / current_setting('block_size')::int AS pages FROM t;
DROP TABLE t;

-- a table that is loaded and deleted from does not grow for ever
CALL write_query('many.csv', $$ SELECT string_agg(i || ',' || repeat('x', 100), E'\n') FROM generate_series(1, 20000) i $$);
CREATE FOREIGN TABLE many (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/many.csv');
CREATE TABLE t (a int, b text, n serial);
CREATE TABLE keyed (a int, b text, n serial PRIMARY KEY);
SELECT records_loaded FROM csv_gpu_load('many', 't');
SELECT records_loaded FROM csv_gpu_load('many', 'keyed');
SELECT pg_relation_size('t') AS t, pg_relation_size('keyed') AS keyed \gset
DELETE FROM t WHERE a > 5000;
DELETE FROM keyed WHERE a > 5000;
VACUUM (TRUNCATE off) t, keyed;
SELECT records_loaded FROM csv_gpu_load('many', 't');
SELECT records_loaded FROM csv_gpu_load('many', 'keyed');
SELECT pg_relation_size('t') < 1.5 * :t AS t, pg_relation_size('keyed') < 1.5 * :keyed AS keyed;
DROP TABLE t, keyed;

-- what a row may need on its way in
CALL write_query('few.csv', $$ SELECT string_agg(i || ',' || 'text ' || i, E'\n') FROM generate_series(1, 2000) i $$);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE t (gone int, a positive NOT NULL, b varchar(20) CHECK (b <> ''), n serial, twice bigint GENERATED ALWAYS AS (a * 2) STORED,
  k int GENERATED BY DEFAULT AS IDENTITY, at timestamptz DEFAULT 'epoch', nothing text);
ALTER TABLE t DROP COLUMN gone;
SELECT records_loaded FROM csv_gpu_load('few', 't');
SELECT count(*), count(nothing), sum(a), bool_and(a = n AND a = k AND twice = 2 * a AND b = 'text ' || a AND at = 'epoch') FROM t;
ALTER TABLE t ADD CHECK (a < 1900);
TRUNCATE t;
ALTER TABLE t ADD CHECK (a < 1700);
SELECT records_loaded FROM csv_gpu_load('few', 't');
SELECT count(*) FROM t;
DROP TABLE t;
-- statement triggers
CREATE TABLE t (a int, b text);
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE NOTICE '% % %: % rows', TG_WHEN, TG_OP, TG_LEVEL, (SELECT count(*) FROM t);
  RETURN NULL;
END $$;
CREATE TRIGGER a BEFORE INSERT ON t EXECUTE FUNCTION tell();
CREATE TRIGGER b AFTER INSERT ON t EXECUTE FUNCTION tell();
SELECT records_loaded FROM csv_gpu_load('few', 't');
DROP TABLE t;

-- rows that are toasted, or might be, take the ordinary way
CALL write_query('wide.csv', $$ SELECT string_agg(i || ',' || repeat(chr(97 + i % 26), (i * 37) % 3000) || ',' ||
  (SELECT string_agg(md5(i || ' ' || k), '') FROM generate_series(1, CASE WHEN i % 10 = 0 THEN 500 ELSE i % 70 END) k), E'\n')
  FROM generate_series(1, 700) i $$);
CREATE FOREIGN TABLE wide (a int, b text, c text) SERVER csv OPTIONS (filename 'regress_csv/wide.csv', ragged 'pad');
CREATE TABLE t (a int, b text, c text);
SELECT records_loaded FROM csv_gpu_load('wide', 't');
SELECT count(*) FROM (SELECT * FROM t EXCEPT ALL SELECT * FROM wide) difference;
SELECT count(*) FROM (SELECT * FROM wide EXCEPT ALL SELECT * FROM t) difference;
SELECT count(*) > 50 AS toasted FROM t WHERE pg_column_size(c) > 2500;
-- also where they may not be moved, or not compressed
TRUNCATE t;
ALTER TABLE t ALTER b SET STORAGE external, ALTER c SET STORAGE main;
SELECT records_loaded FROM csv_gpu_load('wide', 't', ARRAY['a', 'b', NULL]);
SELECT count(*), sum(length(b)) FROM t;
SELECT count(*), sum(length(b)) FROM wide;
TRUNCATE t;
ALTER TABLE t ALTER b SET STORAGE plain;
CALL write_query('wide.csv', $$ SELECT string_agg(i || ',' || repeat('x', i * 100) || ',' , E'\n') FROM generate_series(1, 90) i $$);
SELECT records_loaded FROM csv_gpu_load('wide', 't');
SELECT count(*) FROM t;
TRUNCATE t;
CALL write_query('wide.csv', $$ SELECT string_agg(i || ',' || repeat('x', i * 100) || ',' , E'\n') FROM generate_series(1, 75) i $$);
SELECT records_loaded FROM csv_gpu_load('wide', 't');
SELECT count(*) FROM (SELECT * FROM t EXCEPT ALL SELECT * FROM wide) difference;
DROP TABLE t;
-- a default that is toasted elsewhere
CREATE TABLE large AS SELECT string_agg(md5(k::text), '') AS c FROM generate_series(1, 500) k;
CREATE FUNCTION of_large() RETURNS text LANGUAGE sql STABLE AS 'SELECT c FROM large';
CREATE TABLE t (a int, b text, c text DEFAULT of_large());
SELECT records_loaded FROM csv_gpu_load('few', 't');
SELECT count(*), bool_and(t.c = large.c) FROM t, large;
DROP TABLE large, t;

-- empty rows: a page has no more than so many
CREATE TABLE t (a int, b text);
SELECT records_loaded FROM csv_gpu_load('few', 't', ARRAY[NULL, NULL]::text[]);
SELECT count(*), count(a), max(lp) FROM t, LATERAL (SELECT max(lp) AS lp FROM heap_page_items(get_raw_page('t', 0))) page GROUP BY page.lp;
CREATE TABLE bare ();
SELECT records_loaded FROM csv_gpu_load('few', 'bare', ARRAY[NULL, NULL]::text[]);
SELECT count(*), max(lp) FROM heap_page_items(get_raw_page('bare', 0));
DROP TABLE t, bare;

--
-- which tables it is not for: what their rows need is done
--
CREATE TABLE t (a int, b text);
CREATE INDEX i ON t USING hash (a);
SELECT records_loaded FROM csv_gpu_load('few', 't');
SET enable_seqscan = off;
SELECT * FROM t WHERE a = 1234;
RESET enable_seqscan;
DROP INDEX i;
TRUNCATE t;
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.b := NEW.b || '' changed''; RETURN NEW; END';
CREATE TRIGGER c BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION change();
SELECT records_loaded FROM csv_gpu_load('few', 't');
SELECT count(*) FROM t WHERE b = 'text ' || a || ' changed';
DROP TRIGGER c ON t;
CREATE TABLE seen (a int);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO seen VALUES (NEW.a); RETURN NULL; END';
CREATE TRIGGER c AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION see();
SELECT records_loaded FROM csv_gpu_load('few', 't');
SELECT count(*), sum(a) FROM seen;
DROP TRIGGER c ON t;
CREATE FUNCTION see_all() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''% fresh rows'', (SELECT count(*) FROM fresh); RETURN NULL; END';
CREATE TRIGGER c AFTER INSERT ON t REFERENCING NEW TABLE AS fresh EXECUTE FUNCTION see_all();
SELECT records_loaded FROM csv_gpu_load('few', 't');
DROP TRIGGER c ON t;
CREATE TABLE other (a int PRIMARY KEY);
INSERT INTO other SELECT generate_series(1, 2000);
ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES other;
TRUNCATE t;
SELECT records_loaded FROM csv_gpu_load('few', 't');
TRUNCATE t;
DELETE FROM other WHERE a = 1234;
SELECT records_loaded FROM csv_gpu_load('few', 't');
DROP TABLE t, other, seen;
CREATE TABLE t (a int, b text, c double precision DEFAULT random());
SELECT records_loaded FROM csv_gpu_load('few', 't');
SELECT count(*), count(DISTINCT c) > 1900 AS differ FROM t;
DROP TABLE t;
CREATE TABLE t (a int, b text) PARTITION BY LIST (a);
CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1);
CREATE TABLE t2 PARTITION OF t DEFAULT;
SELECT records_loaded FROM csv_gpu_load('few', 't');
SELECT tableoid::regclass, count(*) FROM t GROUP BY 1 ORDER BY 1;
SELECT records_loaded FROM csv_gpu_load('few', 't1');
DROP TABLE t;
BEGIN;
CREATE TABLE t (a int, b text);
SELECT records_loaded FROM csv_gpu_load('few', 't', freeze => true);
SELECT count(*), bool_and(t_infomask & x'0300'::int = x'0300'::int) AS frozen FROM heap_page_items(get_raw_page('t', 0));
ROLLBACK;
CREATE UNLOGGED TABLE t (a int, b text);
SET zero_damaged_pages = on;
SELECT records_loaded FROM csv_gpu_load('few', 't');
SELECT count(*) FROM t;
RESET zero_damaged_pages;
DROP TABLE t;
DROP EXTENSION pageinspect;
\i :teardown
