--
-- Virtual columns of what a file's path says, shares of files, and files that a filter leaves out.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup
COPY (SELECT 1 WHERE false) TO PROGRAM 'cd regress_csv && mkdir -p h/year=2023/m=1 h/year=2023/m=2 h/year=2024/m=1 h/year=2024/m=__HIVE_DEFAULT_PARTITION__ h/year=2024/m=1/year=2025 h/none/x && mkdir -p "h/year=%32025/m=" "h/year=2026/m=a%3Db%2fc%zz%0"';
CALL write_file('h/year=2023/m=1/a.csv', E'i,t\n1,one\n2,two\n');
CALL write_file('h/year=2023/m=2/a.csv', E'i,t\n3,three\n4\n');
CALL write_file('h/year=2024/m=1/a.csv', E't,i\nfive,5\n');
CALL write_file('h/year=2024/m=__HIVE_DEFAULT_PARTITION__/a.csv', E'i,t\n6,six\n');
CALL write_file('h/none/x/year=1.csv', E'i,t\n7,seven\n');
CALL write_file('h/year=%32025/m=/a.csv', E'i,t\n8,eight\n');
CALL write_file('h/year=2026/m=a%3Db%2fc%zz%0/a.csv', E'i,t\n9,nine\n');
CREATE FOREIGN TABLE t (i int, t text, year int OPTIONS (virtual 'path:year'), m text OPTIONS (virtual 'path:m'),
                        f text OPTIONS (virtual 'filename'))
  SERVER csv OPTIONS (filename 'regress_csv/h/*/*/*.csv', header 'true', by_name 'true');
SELECT * FROM t;
-- csv_gpu_sniff() has them, too
SELECT column_number, column_name, header_name, type, virtual FROM csv_gpu_sniff('regress_csv/h/year=202[34]/m=[12]/a.csv');
SELECT column_name, type, virtual FROM csv_gpu_sniff('regress_csv/h/none/x/year=1.csv');
-- records of files that are left out are not read
SELECT * FROM t WHERE year = 2024;
SELECT i, m FROM t WHERE m IS NULL;
SELECT count(*), sum(i) FROM t WHERE year >= 2024 AND m = '1';
SELECT year, count(*) FROM t WHERE year < 2024 GROUP BY year;
SELECT i FROM t WHERE f LIKE '%/none/%';
SELECT i FROM t WHERE f LIKE '%/none/%' AND year = 2024;
SELECT count(*) FROM t WHERE f = 'nowhere';
SELECT i FROM t WHERE year = i;
SELECT i FROM t WHERE (year = 2023 AND m = '1') OR (m = '' AND i > 7);
SELECT i FROM t WHERE year = 2023 AND (m = '1' OR i = 3) AND i <> 2;
SELECT explain('SELECT * FROM t');
SELECT explain('SELECT i FROM t WHERE year = 2024');
SELECT explain('SELECT i FROM t WHERE year = 2024 AND i > 5 AND initcap(t) = ''Six''', 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF');
SELECT explain('SELECT count(*), sum(i) FROM t WHERE f LIKE ''%2023%'' AND i > 1', 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF');
SELECT explain('SELECT i FROM t WHERE f = ''nowhere'' ORDER BY i LIMIT 1', 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF');
SELECT explain('SELECT i FROM t WHERE year = 2024', 'COSTS OFF, FORMAT JSON');
SELECT explain('SELECT i FROM t WHERE m = ''1'' OR i > 2');
SELECT i FROM t WHERE m = '1' OR i > 2;
SELECT explain('SELECT f, lower(m), count(*), max(year) FROM t GROUP BY f, lower(m)');
SELECT f, lower(m), count(*), max(year) FROM t GROUP BY f, lower(m) ORDER BY 1;
SELECT DISTINCT year FROM t WHERE i > 1 OR m IS NULL ORDER BY year;
SELECT i, year FROM t ORDER BY year DESC, i LIMIT 3;
SELECT explain('SELECT i FROM t WHERE random() > year');
SET csv_gpu_fdw.enable_pushdown = off;
SELECT explain('SELECT i FROM t WHERE year = 2024 AND i > 5', 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF');
RESET csv_gpu_fdw.enable_pushdown;
-- parameters
PREPARE by_year(int) AS SELECT i, year FROM t WHERE year = $1;
EXECUTE by_year(2023);
SET plan_cache_mode = force_generic_plan;
EXECUTE by_year(2024);
EXECUTE by_year(NULL);
EXECUTE by_year(2023);
SELECT explain('EXECUTE by_year(2024)');
SELECT explain('EXECUTE by_year(2024)', 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF');
RESET plan_cache_mode;
SELECT i FROM t WHERE year = (SELECT 2024 + count(*) - 1 FROM (VALUES (1)) v);
SELECT * FROM explain('SELECT i FROM t WHERE year = (SELECT 2023 + count(*) FROM (VALUES (1)) v)', 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF') l WHERE l ~ 'Files';
-- scans that are repeated: each bad record is told of once
SELECT y, (SELECT sum(i) FROM t WHERE year = y) FROM (VALUES (2024), (2023), (2022), (2023), (2025), (2024), (2023)) v(y);
SELECT y, x, (SELECT i FROM t WHERE year = y AND i > x LIMIT 1) FROM (VALUES (2024, 5), (2023, 0), (2023, 2), (2023, 3), (2024, 0)) v(y, x);
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off;
CREATE TABLE o AS SELECT * FROM (VALUES (2024), (2023), (2022)) v(y);
ANALYZE o;
SELECT o.y, t.i FROM o JOIN t ON t.year = o.y ORDER BY i;
SELECT * FROM explain('SELECT o.y, t.i FROM o JOIN t ON t.year = o.y + 0', 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF') l WHERE l ~ 'Files|Records|Nested';
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_material;
-- under 'stop', an error of a file that is read late
ALTER FOREIGN TABLE t OPTIONS (ADD on_error 'stop');
SELECT y, (SELECT sum(i) FROM t WHERE year = y) FROM (VALUES (2024), (2023)) v(y);
SELECT y, (SELECT sum(i) FROM t WHERE year = y) FROM (VALUES (2024), (2025)) v(y);
ALTER FOREIGN TABLE t OPTIONS (DROP on_error);
-- estimates are of the files that are left
CREATE FUNCTION estimate(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
CALL write_query('h/year=2026/m=a%3Db%2fc%zz%0/a.csv', $$SELECT E'i,t\n' || string_agg(i + 10 || ',x', E'\n') FROM generate_series(1, 10000) i$$);
SELECT estimate('SELECT * FROM t') > 1000, estimate('SELECT * FROM t WHERE year = 2026') > 1000, estimate('SELECT * FROM t WHERE year = 2023');
-- loads, samples and the error table take all files
CREATE TABLE loaded (i int, t text, year int, m text, f text);
SET client_min_messages = warning;
SELECT records_loaded, records_skipped FROM csv_gpu_load('t', 'loaded');
RESET client_min_messages;
SELECT year, m, count(*) FROM loaded GROUP BY year, m ORDER BY year, m;
SELECT filename, record FROM csv_gpu_errors('t');
ANALYZE t;
SELECT n_distinct FROM pg_stats WHERE tablename = 't' AND attname = 'year';
SELECT estimate('SELECT * FROM t WHERE year = 2026');
-- as a partition
CREATE TABLE parent (i int, t text, year int, m text, f text) PARTITION BY RANGE (i);
ALTER TABLE parent ATTACH PARTITION t FOR VALUES FROM (0) TO (100000);
SELECT count(*), min(year) FROM parent WHERE year > 2024;
SELECT * FROM explain('SELECT count(*) FROM parent WHERE year > 2024') l WHERE l ~ 'Files';
ALTER TABLE parent DETACH PARTITION t;
-- values that a type refuses; of other types
CREATE FOREIGN TABLE u (i int, y smallint OPTIONS (virtual 'path:m')) SERVER csv
  OPTIONS (filename 'regress_csv/h/*/*/*.csv', header 'true', by_name 'true', log_verbosity 'silent');
SELECT i FROM u WHERE i = 7;
SELECT * FROM u;
SELECT * FROM u WHERE y = 1;
SELECT explain('SELECT * FROM u WHERE y = 1');
SELECT count(*) FROM csv_gpu_errors('u');
SELECT * FROM u WHERE y = 1 AND i > 0;
CREATE DOMAIN filled AS text NOT NULL;
CREATE FOREIGN TABLE v (i int, y filled OPTIONS (virtual 'path:m')) SERVER csv
  OPTIONS (filename 'regress_csv/h/*/*/*.csv', header 'true', by_name 'true');
SELECT * FROM v WHERE i = 7;
CREATE FOREIGN TABLE w (i int, y date OPTIONS (virtual 'PATH:day'), a numeric(4,1)[] OPTIONS (virtual 'path:a'), c char(3) OPTIONS (virtual 'path:c'))
  SERVER csv OPTIONS (filename 'regress_csv/w/*/*/*/x.csv', decimal_separator ',', delimiter ';');
COPY (SELECT 1 WHERE false) TO PROGRAM 'cd regress_csv && mkdir -p "w/day=2024-02-29/a={1.25,2}/c=x" && printf "1;\n" | cut -c1 >"w/day=2024-02-29/a={1.25,2}/c=x/x.csv"';
SELECT *, c || '|' AS d FROM w WHERE y < '2024-03-01'::date AND c = 'x' AND a[1] > 1;
SELECT explain('SELECT * FROM w WHERE y < current_date');
-- what is wrong
CREATE FOREIGN TABLE wrong (i int OPTIONS (virtual 'path:')) SERVER csv OPTIONS (filename 'x');
CREATE FOREIGN TABLE wrong (i int OPTIONS (virtual 'path:a=b')) SERVER csv OPTIONS (filename 'x');
CREATE FOREIGN TABLE wrong (i int OPTIONS (virtual 'paths')) SERVER csv OPTIONS (filename 'x');
CREATE FOREIGN TABLE wrong (i int OPTIONS (virtual 'path:a', max_chars '3')) SERVER csv OPTIONS (filename 'x');
-- a single file; a program has no path
CREATE FOREIGN TABLE s (i int, t text, year int OPTIONS (virtual 'path:year'), f text OPTIONS (virtual 'filename'))
  SERVER csv OPTIONS (filename 'regress_csv/h/year=2023/m=1/a.csv', header 'true');
SELECT * FROM s WHERE year = 2023;
SELECT * FROM s WHERE year = 2024;
SELECT explain('SELECT * FROM s WHERE year = 2024');
ALTER FOREIGN TABLE s OPTIONS (DROP filename, ADD program 'cat regress_csv/h/year=2023/m=1/a.csv');
SELECT * FROM s WHERE year IS NULL AND f LIKE 'cat%';
SELECT explain('SELECT * FROM s WHERE year = 2024');
-- a share of the files; beside keys and filters, in parallel, and none of the files
COPY (SELECT 1 WHERE false) TO PROGRAM 'cd regress_csv && mkdir -p s/year=2023 s/year=2024 s/year=2025';
CALL write_file('s/year=2023/a.csv', E'i,t\n1,one\n4\n2,two\n');
CALL write_file('s/year=2023/b.csv', E'i,t\n3,three\n');
CALL write_file('s/year=2024/a.csv', E't,i\nfive,5\n');
CALL write_file('s/year=2024/b.csv', E'i,t\n6,six\n');
CALL write_file('s/year=2025/a.csv', E'i,t\n7,seven\n8,\n');
CREATE SERVER second FOREIGN DATA WRAPPER csv_gpu_fdw OPTIONS (share '1', shares '3');
CREATE FOREIGN TABLE shared (i int, t text, year int OPTIONS (virtual 'path:year'), share int OPTIONS (virtual 'share'))
  SERVER second OPTIONS (filename 'regress_csv/s/*/*.csv', header 'true', by_name 'true');
SELECT * FROM shared;
SELECT filename FROM csv_gpu_files('shared');
SELECT record, error FROM csv_gpu_errors('shared');
SELECT share, count(*), sum(i) FROM shared WHERE year >= 2024 GROUP BY share;
SELECT explain('SELECT i FROM shared WHERE share = 1 AND year > 2024');
SELECT explain('SELECT i FROM shared WHERE share <> 1', 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF');
SELECT count(*), sum(i), min(share) FROM shared WHERE share = 2;
SELECT s.share, sum(shared.i) FROM (VALUES (0), (1)) s(share) LEFT JOIN shared ON shared.share = s.share GROUP BY 1 ORDER BY 1;
ANALYZE shared;
SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET parallel_leader_participation = off;
ALTER FOREIGN TABLE shared OPTIONS (SET filename 'regress_csv/h/*/*/*.csv', ADD share '1', ADD shares '3');
SELECT explain('SELECT i FROM shared WHERE year > 0 AND i < 12');
SELECT count(DISTINCT i), sum(i), min(share) FROM shared WHERE t <> '';
ALTER FOREIGN TABLE shared OPTIONS (SET filename 'regress_csv/s/*/*.csv', DROP share, DROP shares);
RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET parallel_leader_participation;
CREATE FUNCTION by_share(n int) RETURNS TABLE (of_share int, rows bigint, total bigint) LANGUAGE plpgsql AS $$
BEGIN
  FOR k IN 0 .. n - 1 LOOP
    EXECUTE format('ALTER SERVER second OPTIONS (SET share %L, SET shares %L)', k, n);
    RETURN QUERY SELECT k, count(*), sum(i) FROM shared;
  END LOOP;
END $$;
ALTER FOREIGN TABLE shared OPTIONS (ADD log_verbosity 'silent');
SELECT * FROM by_share(3);
SELECT n, sum(rows), sum(total) FROM generate_series(1, 12) n, by_share(n) GROUP BY n HAVING (sum(rows), sum(total)) IS DISTINCT FROM (7, 32);
-- the last of 100 shares has no files, which is no error; a pattern without files is an error
ALTER SERVER second OPTIONS (SET share '99', SET shares '100');
SELECT * FROM shared;
SELECT count(*), max(share) FROM shared WHERE year = 2024;
SELECT count(*) FROM shared WHERE share = 99 GROUP BY year;
SELECT explain('SELECT * FROM shared WHERE year = 2024');
SELECT i, (SELECT count(*) FROM shared WHERE shared.i = o.i) FROM (VALUES (1), (2)) o(i) ORDER BY i;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM shared;
FETCH ALL FROM c;
FETCH ALL FROM c;
COMMIT;
SELECT count(*) FROM csv_gpu_files('shared');
SELECT count(*) FROM csv_gpu_errors('shared');
ANALYZE shared;
CREATE TABLE no_rows (LIKE shared);
SELECT records_loaded, records_skipped, bytes_read FROM csv_gpu_load('shared', 'no_rows');
SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SELECT count(DISTINCT i) FROM shared WHERE t <> '';
RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost;
ALTER FOREIGN TABLE shared OPTIONS (SET filename 'regress_csv/s/*.nothing');
SELECT * FROM shared;
-- a table's options count instead of its server's; a plain name and a program are not shared
ALTER FOREIGN TABLE shared OPTIONS (SET filename 'regress_csv/s/*/*.csv', ADD share '2', ADD shares '3');
SELECT i, share FROM shared;
ALTER FOREIGN TABLE shared OPTIONS (SET filename 'regress_csv/s/year=2023/a.csv');
SELECT i, share FROM shared WHERE share = 2;
ALTER FOREIGN TABLE shared OPTIONS (DROP share, DROP shares, DROP filename, ADD program 'cat regress_csv/s/year=2023/a.csv');
SELECT i, share FROM shared WHERE share = 99;
ALTER FOREIGN TABLE shared OPTIONS (ADD share '2', ADD shares '3');
-- IMPORT looks at all files, and makes the column
CREATE SCHEMA made;
IMPORT FOREIGN SCHEMA regress_csv FROM SERVER second INTO made OPTIONS (pattern 's/*/a.csv', "table" 't', share '1', shares '2');
\d made.t
SELECT i, share FROM made.t;
-- what is wrong
ALTER FOREIGN TABLE t OPTIONS (ADD share '0');
ALTER FOREIGN TABLE t OPTIONS (ADD shares '2');
ALTER FOREIGN TABLE t OPTIONS (ADD share '2', ADD shares '2');
ALTER FOREIGN TABLE t OPTIONS (ADD share '-1', ADD shares '2');
ALTER FOREIGN TABLE t OPTIONS (ADD share '0', ADD shares '0');
ALTER SERVER second OPTIONS (DROP share);
ALTER SERVER second OPTIONS (SET share '100');
IMPORT FOREIGN SCHEMA regress_csv FROM SERVER csv INTO made OPTIONS (pattern 's/*/*.csv', "table" 'u', share '1');
ALTER FOREIGN TABLE t ADD share int OPTIONS (virtual 'share');
SELECT share FROM t;
ALTER FOREIGN TABLE t OPTIONS (ADD share '1', ADD shares '3');
ALTER FOREIGN TABLE t ALTER share TYPE text;
SELECT share FROM t;
ALTER FOREIGN TABLE t ALTER share TYPE bigint;
SELECT i, share FROM t WHERE i < 4;
ALTER FOREIGN TABLE t OPTIONS (DROP share, DROP shares);
ALTER FOREIGN TABLE t DROP share;
-- a file's share is decided by its name alone, without its directory and suffixes; names are
-- 6 of several kinds, and 600 generated ones
CREATE FOREIGN TABLE placed () SERVER csv OPTIONS (filename 'regress_csv/placed/*', columns '1', share '0', shares '1');
CREATE FUNCTION places(n int) RETURNS TABLE (shares int, share int, name text) LANGUAGE plpgsql AS $$
BEGIN
  FOR k IN 0 .. n - 1 LOOP
    EXECUTE format('ALTER FOREIGN TABLE placed OPTIONS (SET share %L, SET shares %L)', k, n);
    RETURN QUERY SELECT n, k, regexp_replace(filename, '.*/', '') FROM csv_gpu_files('placed');
  END LOOP;
END $$;
CREATE PROCEDURE make_files(what text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('COPY (SELECT 1 WHERE false) TO PROGRAM %L', 'mkdir -p regress_csv/placed/year=1 && cd regress_csv/placed && ' || what);
END $$;
CALL make_files('touch a b.csv c.tsv 2024.01.csv 2024.02.csv part-0001.csv.gz $(seq -f x%03g.csv 0 199) $(seq 1 7 2800)');
SELECT n, count(*), count(DISTINCT name) FROM generate_series(1, 9) n, places(n) GROUP BY n ORDER BY n;
CREATE TABLE then_placed AS SELECT p.* FROM generate_series(1, 9) n, places(n) p;
-- names of known shares: other platforms and versions must agree
SELECT shares, name, share FROM then_placed WHERE name ~ '^[abcp]|^2024[.]' AND shares IN (2, 3, 8) ORDER BY name COLLATE "C", shares;
-- about as many files in each share; a further share takes its files, and the others keep theirs
SELECT shares, min(files) > 606 / shares * 0.7 AND max(files) < 606 / shares * 1.3 AS is_even
  FROM (SELECT shares, share, count(*) AS files FROM then_placed GROUP BY 1, 2) f GROUP BY 1 ORDER BY 1;
SELECT b.shares, count(*) FILTER (WHERE a.share <> b.share AND b.share < a.shares) AS others,
    count(*) FILTER (WHERE a.share <> b.share) BETWEEN 606 / b.shares * 0.7 AND 606 / b.shares * 1.3 AS is_part
  FROM then_placed a JOIN then_placed b USING (name) WHERE b.shares = a.shares + 1 GROUP BY 1 ORDER BY 1;
-- files that come and go change nothing for the rest
CALL make_files('rm x00*.csv && touch $(seq -f %g.csv 5000 5100) zz 0.csv');
SELECT count(*), count(*) FILTER (WHERE a.share = b.share) AS same FROM then_placed a JOIN places(5) b USING (shares, name);
-- equal names lie together, in any directory and with any suffix
CALL make_files('for f in $(seq 1 7 2800) x100 x150; do s=$((s + 1)); set -- .csv .TSV .gz .csv.gz .tsv.zst .Csv.LZ4 ""; shift $((s % 7)); touch year=1/$f$1; done');
ALTER FOREIGN TABLE placed OPTIONS (SET filename 'regress_csv/placed/year=1/*');
SELECT count(*), count(*) FILTER (WHERE a.share = b.share) AS same
  FROM then_placed a JOIN places(6) b ON b.shares = a.shares AND regexp_replace(b.name, '[.].*', '') = regexp_replace(a.name, '[.].*', '') AND a.name !~ '^2024[.]';
SELECT count(*), count(DISTINCT share) FROM places(3);
ALTER FOREIGN TABLE placed OPTIONS (SET share '0', SET shares '10001');
DROP FOREIGN TABLE placed;
-- no file at all
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/h/none/*/*.txt');
SELECT * FROM t WHERE year = 2024;
SELECT explain('SELECT * FROM t WHERE year = 2024');

\i :teardown
