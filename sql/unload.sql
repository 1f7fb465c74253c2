--
-- csv_gpu_unload(): the rows of a query into files.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

SELECT pg_get_function_arguments('csv_gpu_unload'::regproc);
SELECT pg_get_function_result('csv_gpu_unload'::regproc);

-- @ is the directory; ERRORs, which name it, come as NOTICEs
CREATE FUNCTION directory() RETURNS text LANGUAGE sql AS $$
  SELECT current_setting('data_directory') || '/regress_csv'
$$;
CREATE FUNCTION unload(arguments text) RETURNS TABLE (filename text, records bigint, bytes bigint)
LANGUAGE plpgsql AS $$
DECLARE
  message text;
  detail text;
  hint text;
BEGIN
  RETURN QUERY EXECUTE format('SELECT replace(filename, directory(), ''@''), records, bytes FROM csv_gpu_unload(%s)',
                              replace(arguments, '@', directory()));
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RAISE NOTICE '% % % %', SQLSTATE, replace(message, directory(), '@'), replace(detail, directory(), '@'), replace(hint, directory(), '@');
END $$;
-- what there is, hidden or not
CREATE FUNCTION files(below text DEFAULT '') RETURNS SETOF text LANGUAGE sql AS $$
  WITH RECURSIVE found AS (
    SELECT f AS name, (pg_stat_file('regress_csv' || below || '/' || f)).isdir FROM pg_ls_dir('regress_csv' || below) f
    UNION ALL
    SELECT name || '/' || f, (pg_stat_file('regress_csv' || below || '/' || name || '/' || f)).isdir
      FROM found, LATERAL (SELECT pg_ls_dir('regress_csv' || below || '/' || name) WHERE isdir) d(f))
  SELECT name || CASE WHEN isdir THEN '/' ELSE '' END FROM found ORDER BY name COLLATE "C"
$$;
CREATE FUNCTION content(name text) RETURNS text LANGUAGE sql AS $$
  SELECT pg_read_file('regress_csv/' || name)
$$;

CREATE TABLE t (id int, key text, n numeric(8,2), day date);
INSERT INTO t VALUES (1, 'a', 1.5, '2024-01-31'), (2, 'b', NULL, '2024-02-29'), (3, 'a', -0.25, NULL),
  (4, NULL, 4, '1999-12-31'), (5, '', 5, 'infinity'), (6, 'say "x", y', 6, '2024-01-31');

-- ---- one file ----

SELECT * FROM unload($$'TABLE t', '@/one.csv'$$);
SELECT content('one.csv');
SELECT * FROM unload($$'SELECT id, key FROM t WHERE id < 4 ORDER BY id DESC', '@/two.txt', format => 'text', header => false$$);
SELECT content('two.txt');
SELECT * FROM unload($$'VALUES (1, ''x|y''), (2, NULL)', '@/values.csv', delimiter => '|', quote => '''', escape => '\', null_string => 'none', header => false$$);
SELECT content('values.csv');
SELECT * FROM unload($$'SELECT U&''\00e4'' AS a', '@/latin', encoding => 'LATIN1'$$);
SELECT pg_read_binary_file('regress_csv/latin');
-- quotes, byte-order mark, line breaks; of each file
SELECT * FROM unload($$'SELECT 1 AS a, NULL AS b, ''x'' AS c', '@/forced.csv', force_quote => '{c,a}'$$);
SELECT content('forced.csv');
SELECT * FROM unload($$'SELECT 1 AS a, NULL AS b, ''x'' AS c', '@/all.csv', force_quote => '{*}', record_boundary => 'CRLF', bom => true, encoding => 'UTF8'$$);
SELECT encode(pg_read_binary_file('regress_csv/all.csv'), 'escape');
SELECT * FROM unload($$'SELECT i AS a, E''x\ny'' AS b FROM generate_series(1, 3) i', '@/boundary.csv', record_boundary => 'crlf', bom => true, encoding => 'UTF8', ordered => true, max_file_size => '12'$$);
SELECT encode(pg_read_binary_file('regress_csv/boundary-2.csv'), 'escape');
SELECT * FROM unload($$'SELECT i AS k, 2 AS a FROM generate_series(1, 2) i', '@/boundary', record_boundary => 'crlf', bom => true, encoding => 'UTF8', force_quote => '{*}', partition_by => '{k}', header => false$$);
SELECT encode(pg_read_binary_file('regress_csv/boundary/k=2/data.csv'), 'escape');
SELECT * FROM unload($$'SELECT 1 AS a, ''x'' AS b', '@/boundary.txt', record_boundary => 'crlf', bom => true, encoding => 'UTF8', format => 'text'$$);
SELECT encode(pg_read_binary_file('regress_csv/boundary.txt'), 'escape');
SELECT * FROM unload($$'SELECT 1 AS a WHERE false', '@/bom.csv', bom => true, encoding => 'UTF8', header => false, record_boundary => NULL$$);
SELECT encode(pg_read_binary_file('regress_csv/bom.csv'), 'escape');
COPY (SELECT 1 WHERE false) TO PROGRAM 'cd regress_csv && rm -r forced.csv all.csv bom.csv boundary*';
-- no rows, no columns, more columns than a function has arguments
SELECT * FROM unload($$'SELECT * FROM t WHERE false', '@/empty.csv'$$);
SELECT content('empty.csv');
SELECT * FROM unload($$'SELECT FROM t', '@/none.csv'$$);
SELECT format('%L, %L', 'SELECT ' || string_agg(i || ' AS c' || i, ', '), '@/wide.csv') AS wide FROM generate_series(1, 150) i \gset
SELECT * FROM unload(:'wide');
SELECT records FROM unload($$'SELECT 1 AS a', '@/none.csv', overwrite => true$$);
SELECT records FROM unload($$'SELECT a FROM (VALUES (1)) v(a) ORDER BY a', '@/none.csv', overwrite => true, ordered => true$$);
SELECT length(content('wide.csv')), right(content('wide.csv'), 8);
SELECT * FROM unload(replace(:'wide', 'wide.csv', 'wide') || $$, partition_by => '{c3,c149}'$$);
SELECT * FROM unload(replace(:'wide', 'wide.csv', 'wide') || $$, partition_by => (SELECT array_agg('c' || i) FROM generate_series(1, 51) i)$$);
SELECT length(content('wide/c3=3/c149=149/data.csv'));
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm -r regress_csv/wide';
SELECT * FROM files();

-- ---- what is refused ----

SELECT * FROM unload($$'TABLE t', '@/one.csv'$$);
SELECT * FROM unload($$'TABLE t', 'one.csv'$$);
SELECT * FROM unload($$'TABLE t', '@'$$);
SELECT * FROM unload($$'TABLE t', '/'$$);
SELECT * FROM unload($$'TABLE t', '@/.a.csvgpu'$$);
SELECT * FROM unload($$'TABLE t', '@/missing/one.csv'$$);
SELECT * FROM unload($$NULL, '@/x.csv'$$);
SELECT * FROM unload($$'TABLE t', NULL$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv', format => 'binary'$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv', delimiter => ',,'$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv', encoding => 'none'$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv', compression => 'bzip2'$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv', max_file_size => 'large'$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv', max_file_size => '1 XB'$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv', max_file_size => '0'$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv', force_quote => '{nokey}'$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv', force_quote => '{id,NULL}'$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv', force_quote => '{id,id}'$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv', bom => true, encoding => 'LATIN1'$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv', record_boundary => 'cr'$$);
SELECT * FROM unload($$'TABLE t', '@/x-*.csv'$$);
SELECT * FROM unload($$'TABLE t', '@/x*y', partition_by => '{id}'$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv.gz', compression => 'zstd'$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv.gz', compression => 'none'$$);
SELECT * FROM unload($$'TABLE t', '@/x.LZ4', compression => 'gzip', ordered => true$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv.bz2'$$);
SELECT * FROM unload($$'TABLE t', '@/x.zip', compression => 'gzip'$$);
SELECT * FROM unload($$'TABLE t', '@/x.csv', ordered => true, partition_by => '{id}'$$);
SELECT * FROM unload($$'TABLE t', '@/x', partition_by => '{nokey}'$$);
SELECT * FROM unload($$'TABLE t', '@/x', partition_by => '{id,id}'$$);
SELECT * FROM unload($$'TABLE t', '@/x', partition_by => '{}'$$);
SELECT * FROM unload($$'TABLE t', '@/x', partition_by => '{NULL}'$$);
SELECT * FROM unload($$'SELECT id, id FROM t', '@/x', partition_by => '{id}'$$);
SELECT * FROM unload($$'SELECT id FROM t', '@/x', partition_by => '{id}'$$);
SELECT * FROM unload($$'SELECT 1 AS ".k", id FROM t', '@/x', partition_by => '{.k}'$$);
SELECT * FROM unload($$'SELECT 1 AS "k=", id FROM t', '@/x', partition_by => '{k=}'$$);
SELECT * FROM unload($$'SELECT 1 AS "a/b", id FROM t', '@/x', partition_by => '{a/b}'$$);
SELECT * FROM unload($$'', '@/x.csv'$$);
SELECT * FROM unload($$'SELECT 1; SELECT 2', '@/x.csv'$$);
SELECT * FROM unload($$'SELECT id INTO other FROM t', '@/x.csv'$$);
SELECT * FROM unload($$'SELECT 1 UNION SELECT id FROM t) q; DELETE FROM t; SELECT FROM (SELECT', '@/x.csv'$$);
SELECT * FROM unload($$'WITH gone AS (DELETE FROM t RETURNING id) SELECT * FROM gone', '@/x.csv'$$);
SELECT * FROM unload($$'DELETE FROM t RETURNING id', '@/x.csv'$$);
SELECT * FROM unload($$'EXPLAIN SELECT 1', '@/x.csv'$$);
SELECT * FROM unload($$'SELECT nothing FROM t', '@/x.csv'$$);
SELECT * FROM unload($$'SELECT 1 / (id - 3) FROM t', '@/x', partition_by => '{}'$$);
SELECT * FROM unload($$'SELECT 1 / (id - 3), id FROM t', '@/x', partition_by => '{id}'$$);
SELECT * FROM unload($$'SELECT id, repeat(''k'', 300) AS key FROM t', '@/x', partition_by => '{key}'$$);
-- a position in the query
SELECT csv_gpu_unload('SELECT id, nothing FROM t', directory() || '/x.csv');
SELECT * FROM files();

-- ---- several files, in a parallel plan ----

CREATE TABLE large AS SELECT i AS id, i % 7 AS key, md5(i::text) AS text FROM generate_series(1, 20000) i;
ANALYZE large;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE FOREIGN TABLE again (id int, key int, text text) SERVER csv
  OPTIONS (filename 'regress_csv/large*.csv', header 'true');
CREATE TABLE written AS SELECT * FROM unload($$'TABLE large', '@/large.csv'$$);
SELECT sum(records), sum(bytes) = sum((pg_stat_file(replace(filename, '@', directory()))).size) FROM written;
SELECT count(*) FROM (TABLE again EXCEPT ALL TABLE large) d;
SELECT count(*) FROM (TABLE large EXCEPT ALL TABLE again) d;
-- all of the set is replaced, and nothing else
SET client_min_messages = warning;
SELECT records FROM unload($$'SELECT 1', '@/large.csv', overwrite => true$$);
RESET client_min_messages;
SELECT * FROM files() f WHERE f ~ '^large';
CALL write_file('large-x.csv', 'other');
CALL write_file('large-07.csv', 'other');
CALL write_file('large-7.csv', 'behind a gap');
CALL write_file('large-2.csv', 'of the set');
CALL write_file('large-1.csv', 'of the set');
SELECT count(*) FROM unload($$'TABLE large', '@/large.csv'$$);
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/large.csv';
SELECT count(*) FROM unload($$'TABLE large', '@/large.csv'$$);
-- the NOTICE has the name of the directory
SET client_min_messages = warning;
SELECT sum(records) FROM unload($$'SELECT * FROM large LIMIT 10', '@/large.csv', overwrite => true, ordered => true$$);
RESET client_min_messages;
SELECT * FROM files() f WHERE f ~ '^large';
-- a file that is somebody else's is in the way
SELECT * FROM unload($$'SELECT i FROM generate_series(1, 8) i', '@/large.csv', overwrite => true, ordered => true, header => false, max_file_size => '1'$$);
SELECT content('large-7.csv'), content('large.csv') LIKE 'id%';
-- it can be read meanwhile, and the set cannot
CREATE FOREIGN TABLE other (what text) SERVER csv OPTIONS (filename 'regress_csv/large-7.csv');
SELECT records FROM unload($$'TABLE other', '@/large.csv', overwrite => true, header => false$$);
SELECT content('large.csv');
ALTER FOREIGN TABLE other OPTIONS (SET filename 'regress_csv/large.csv');
SELECT records FROM unload($$'TABLE other', '@/large.csv', overwrite => true$$);
COPY (SELECT 1 WHERE false) TO PROGRAM 'cd regress_csv && rm large*.csv';
SELECT count(*) > 0 FROM unload($$'TABLE large', '@/large.csv'$$);
-- at most so large, except for a record that is larger by itself
SELECT sum(records), max(bytes) <= 50000, count(*) > 15 FROM unload($$'TABLE large', '@/sized.csv', max_file_size => '50000'$$);
SELECT filename, records FROM unload($$'SELECT repeat(''x'', 100 * i) AS x FROM generate_series(1, 4) i', '@/long.csv', max_file_size => '0.2kB', ordered => true$$);
-- rows in the query's order
SELECT * FROM unload($$'SELECT * FROM large ORDER BY text', '@/ordered.csv', ordered => true$$);
SELECT md5(content('ordered.csv')) = md5(E'id,key,text\n' || string_agg(format(E'%s,%s,%s\n', id, key, text), '' ORDER BY text)) FROM large;
-- sorted by a column, by an expression, and by what is not below the sort
CREATE FUNCTION in_order(query text, ordering text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM csv_gpu_unload(query || ' ORDER BY ' || ordering, directory() || '/sorted.csv', ordered => true, overwrite => true, header => false);
END $$;
SELECT in_order('SELECT id, text FROM large', 'key, id DESC');
SELECT md5(content('sorted.csv')) = md5(string_agg(format(E'%s,%s\n', id, text), '' ORDER BY key, id DESC)) FROM large;
SELECT in_order('SELECT text AS t, id FROM large', 'right(text, 8), id');
SELECT md5(content('sorted.csv')) = md5(string_agg(format(E'%s,%s\n', text, id), '' ORDER BY right(text, 8), id)) FROM large;
SELECT in_order('SELECT DISTINCT key FROM large', 'key');
SELECT content('sorted.csv');
SELECT in_order('SELECT key, count(*), random() < 2 FROM large GROUP BY key', '1');
SELECT content('sorted.csv');
SELECT in_order('SELECT id FROM large WHERE id < 3 UNION ALL SELECT 7', '1 DESC');
SELECT content('sorted.csv');
-- a transaction that has written
BEGIN;
INSERT INTO large VALUES (0, 0, 'own row');
SELECT sum(records) FROM unload($$'TABLE large', '@/own.csv'$$);
ROLLBACK;

-- ---- compression ----

CREATE FOREIGN TABLE packed (id int, key int, text text, file text OPTIONS (virtual 'filename')) SERVER csv
  OPTIONS (filename 'regress_csv/packed*', header 'true');
SELECT sum(records) FROM unload($$'TABLE large', '@/packed.csv.gz'$$);
SELECT sum(records) FROM unload($$'TABLE large', '@/packed.csv.zst'$$);
SELECT sum(records) FROM unload($$'TABLE large', '@/packed.csv.lz4', max_file_size => '200kB'$$);
SELECT sum(records) FROM unload($$'TABLE large', '@/packed.csv', compression => 'none', ordered => true$$);
SELECT regexp_replace(file, '.*\.', ''), count(*), count(DISTINCT id), min(id), max(id), count(DISTINCT text) FROM packed GROUP BY 1 ORDER BY 1;
SELECT filename FROM unload($$'TABLE large', '@/by_word', compression => 'gzip', ordered => true$$);
-- not in workers, by a function that says that it is
CREATE FUNCTION unload_one() RETURNS bigint PARALLEL SAFE LANGUAGE sql
AS $$ SELECT count(*) FROM csv_gpu_unload('SELECT 1', directory() || '/one.csv') $$;
\set SHOW_CONTEXT never
SELECT count(unload_one()) FROM large;
\set SHOW_CONTEXT errors
SELECT * FROM unload($$'SELECT unload_one() FROM large', '@/two.csv'$$);
SELECT substr(pg_read_binary_file('regress_csv/by_word'), 1, 2);

-- ---- by keys ----

SELECT * FROM unload($$'TABLE t', '@/keys', partition_by => '{key}'$$);
SELECT * FROM files('/keys');
SELECT content('keys/key=a/data.csv');
CREATE FOREIGN TABLE by_key (id int, n numeric(8,2), day date, key text OPTIONS (virtual 'path:key')) SERVER csv
  OPTIONS (filename 'regress_csv/keys/*/*.csv', header 'true');
SELECT count(*) FROM (SELECT id, key, n, day FROM by_key EXCEPT ALL TABLE t) d;
SELECT count(*) FROM (TABLE t EXCEPT ALL SELECT id, key, n, day FROM by_key) d;
-- names of keys that are not safe as names of files
SELECT filename FROM unload($$'SELECT 1 AS id, x AS "a%b*c" FROM unnest(ARRAY[''.'', ''..'', ''/'', ''a/../b'', ''%41'', ''*?['', E''\n'', ''__HIVE_DEFAULT_PARTITION__'', NULL, U&''\00e4 \20ac'']) x', '@/odd', partition_by => ARRAY['a%b*c']$$);
-- two keys, in their order, and several files a key
SELECT sum(records), count(DISTINCT split_part(filename, '/data', 1)), count(*) > 14, max(bytes) <= 40000
  FROM unload($$'SELECT *, id % 2 AS odd FROM large', '@/two', partition_by => '{odd,key}', max_file_size => '40000', compression => 'none'$$);
SELECT DISTINCT regexp_replace(f, '\d+', 'N', 'g') FROM files('/two') f ORDER BY 1;
CREATE FOREIGN TABLE by_two (id int, text text, key int OPTIONS (virtual 'path:key'), odd int OPTIONS (virtual 'path:odd')) SERVER csv
  OPTIONS (filename 'regress_csv/two/*/*/*.csv', header 'true');
SELECT count(*), count(DISTINCT id), bool_and(id % 7 = key AND id % 2 = odd) FROM by_two;
SELECT filename FROM unload($$'SELECT * FROM large WHERE key < 2', '@/gzip', partition_by => '{key}', compression => 'gzip'$$);
-- no rows: an empty directory
SELECT * FROM unload($$'SELECT * FROM t WHERE false', '@/nothing', partition_by => '{key}'$$);
SELECT count(*) FROM files('/nothing');
-- the directory's contents are one set
SELECT * FROM unload($$'TABLE t', '@/keys', partition_by => '{id}'$$);
SET client_min_messages = warning;
SELECT * FROM unload($$'TABLE t', '@/keys', partition_by => '{id}', overwrite => true$$);
RESET client_min_messages;
SELECT * FROM files('/keys') f WHERE f ~ '/$';
CALL write_file('keys/note.txt', 'mine');
SELECT * FROM unload($$'TABLE t', '@/keys', partition_by => '{id}', overwrite => true$$);
SELECT * FROM unload($$'TABLE t', '@/one.csv', partition_by => '{id}'$$);

-- ---- files that the query reads ----

SELECT * FROM unload($$'SELECT * FROM again WHERE id < 3', '@/large.csv', overwrite => true$$);
CREATE VIEW hidden AS SELECT count(*) FROM by_two;
SELECT * FROM unload($$'SELECT *, 1 AS key FROM hidden', '@/two', partition_by => '{key}', overwrite => true$$);
SELECT sum(records) FROM unload($$'SELECT * FROM again WHERE id < 3', '@/other.csv', overwrite => true$$);

-- ---- ends of transactions ----

COPY (SELECT 1 WHERE false) TO PROGRAM 'rm -rf regress_csv && mkdir regress_csv';
-- nothing appears before the commit
BEGIN;
SELECT records FROM unload($$'TABLE t', '@/a.csv'$$);
SELECT regexp_replace(f, 'csvgpu-[0-9-]+', 'csvgpu-N') FROM files() f;
COMMIT;
SELECT * FROM files();
BEGIN;
SELECT records FROM unload($$'TABLE t', '@/b.csv'$$);
SELECT sum(records) FROM unload($$'TABLE t', '@/b', partition_by => '{key}'$$);
ROLLBACK;
SELECT * FROM files();
BEGIN;
SELECT records FROM unload($$'TABLE t', '@/c.csv'$$);
SAVEPOINT s;
SELECT records FROM unload($$'TABLE t', '@/d.csv'$$);
SAVEPOINT s2;
SELECT records FROM unload($$'TABLE t', '@/e.csv'$$);
RELEASE s2;
ROLLBACK TO s;
SELECT records FROM unload($$'TABLE t', '@/f.csv'$$);
RELEASE s;
COMMIT;
SELECT * FROM files();
-- the same file twice; what was set aside comes back
BEGIN;
SELECT records FROM unload($$'TABLE t', '@/g.csv'$$);
SELECT records FROM unload($$'SELECT 1', '@/g.csv', overwrite => true$$);
COMMIT;
SELECT content('g.csv');
BEGIN;
SELECT records FROM unload($$'SELECT 2', '@/a.csv', overwrite => true$$);
SELECT records FROM unload($$'TABLE t', '@/h.csv'$$);
CALL write_file('h.csv', 'another program wrote this');
\set VERBOSITY sqlstate
COMMIT;
\set VERBOSITY default
SELECT * FROM files();
SELECT content('h.csv'), content('a.csv') LIKE 'id,key%';
BEGIN;
SELECT records FROM unload($$'SELECT 3', '@/a.csv', overwrite => true$$);
ROLLBACK;
SELECT content('a.csv') LIKE 'id,key%';
-- a file that is not of the set comes meanwhile, by another program or in the transaction
\set numbers '''SELECT i FROM generate_series(1, 3) i'', ''@/j.csv'', ordered => true, header => false, max_file_size => ''1'', overwrite => true'
BEGIN;
SELECT filename FROM unload(:'numbers');
CALL write_file('j-2.csv', 'another program wrote this');
\set VERBOSITY sqlstate
COMMIT;
BEGIN;
SELECT filename FROM unload($$'SELECT 2', '@/k-2.csv', header => false$$);
SELECT filename FROM unload(replace(:'numbers', 'j', 'k'));
COMMIT;
\set VERBOSITY default
SELECT * FROM files() f WHERE f ~ '^[jk]';
BEGIN;
SELECT records FROM unload($$'SELECT 3', '@/i.csv'$$);
PREPARE TRANSACTION 'unload';
SELECT * FROM files();

-- ---- links ----

SELECT * FROM csv_gpu_unload('SELECT 1', '/dev/fd/0', overwrite => true);

-- ---- privileges ----

CREATE ROLE regress_csv_unloader;
GRANT USAGE ON SCHEMA csv_test TO regress_csv_unloader;
SET ROLE regress_csv_unloader;
SELECT csv_gpu_unload('SELECT 1', '/tmp/regress_csv.csv');
RESET ROLE;
GRANT pg_write_server_files TO regress_csv_unloader;
SET ROLE regress_csv_unloader;
SELECT csv_gpu_unload('TABLE t', '/tmp/regress_csv.csv');
RESET ROLE;
DROP OWNED BY regress_csv_unloader;
DROP ROLE regress_csv_unloader;

\i :teardown
