--
-- Correlated aggregates whose groups are joined, and which are not.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup
LOAD 'csv_gpu_fdw';

-- is a subquery of it repeated?
CREATE FUNCTION is_repeated(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    IF line ~ 'SubPlan' THEN
      RETURN true;
    END IF;
  END LOOP;
  RETURN false;
END $$;
CREATE FOREIGN TABLE sold (k int, s smallint, n numeric(10,2), x int, f float8, t text, v varchar(9))
  SERVER csv OPTIONS (filename 'regress_csv/sold.csv', log_verbosity 'silent');
CALL write_query('sold.csv', $$SELECT string_agg(CASE WHEN i % 500 = 0 THEN E'bad\n' WHEN i % 7 = 0 THEN format(E',%s,%s,,1.5,%s,\n', i % 5, i, i % 3) ELSE format(E'%s,%s,%s,%s,1e300,%s,%s\n', i % 50, i % 5, i % 90 / 4.0, i % 11, i % 3, i % 3) END, '') FROM generate_series(1, 3000) i$$);
CREATE TABLE plain AS SELECT * FROM sold;
CREATE TABLE part AS SELECT i AS k, i::bigint AS l, i % 6 AS s, (i % 4)::text AS t, i % 3000 AS q FROM generate_series(-3, 60) i UNION ALL SELECT NULL, NULL, 1, NULL, 7;

-- the plan, and rows that differ from those of the plain table
CREATE FUNCTION compare(query text) RETURNS TABLE (repeated bool, rows bigint, differing bigint) LANGUAGE plpgsql AS $$
DECLARE
  other text := replace(query, 'sold', 'plain');
BEGIN
  EXECUTE 'CREATE TEMP TABLE ours AS ' || query;
  EXECUTE 'CREATE TEMP TABLE others AS ' || other;
  RETURN QUERY EXECUTE format('SELECT %L::bool, (SELECT count(*) FROM ours), (SELECT count(*) FROM ((TABLE ours EXCEPT ALL TABLE others) UNION ALL (TABLE others EXCEPT ALL TABLE ours)) d)', is_repeated(query));
  DROP TABLE ours, others;
END $$;

-- in WHERE and SELECT; rows without a group; keys that are null
SELECT * FROM compare('SELECT * FROM part WHERE q < (SELECT 0.2 * avg(n) FROM sold WHERE sold.k = part.k)');
SELECT * FROM compare('SELECT k, (SELECT count(*) FROM sold WHERE k = part.k) FROM part');
SELECT * FROM compare('SELECT k, (SELECT count(x) + coalesce(sum(n), -1) + part.q FROM sold WHERE part.k = k AND s = part.s AND x > 3) FROM part');
SELECT * FROM compare('SELECT * FROM part WHERE 0 = (SELECT count(*) FROM sold WHERE k = part.k)');
SELECT * FROM compare('SELECT * FROM part WHERE k IS NULL OR 10 < (SELECT max(n) - min(n) / 2 FROM sold WHERE k = part.k)');
SELECT * FROM compare('SELECT * FROM part WHERE coalesce((SELECT sum(x * n) FROM sold WHERE k = part.k), 0) > (SELECT 3.0 * count(DISTINCT x) FILTER (WHERE t = ''1'') FROM sold WHERE s = part.s)');
SELECT * FROM compare('SELECT t, (SELECT count(*) FROM sold WHERE t = part.t), (SELECT max(x) FROM sold WHERE v = part.t) FROM part');
SELECT * FROM compare('SELECT l, (SELECT sum(x) FROM sold WHERE k = l) AS a, (SELECT sum(x) FROM sold WHERE s = l + 1) AS b FROM part');
SELECT * FROM compare('SELECT k, (SELECT 10 / sum(k) FROM sold WHERE k = part.k) FROM part WHERE k > 0');
SELECT * FROM compare('SELECT a.k, b.q FROM part a LEFT JOIN part b ON a.k = b.q + 1 WHERE a.q < (SELECT avg(n) FROM sold WHERE k = b.k AND s = a.s)');
-- in subqueries, views and CTEs
SELECT * FROM compare('SELECT * FROM part WHERE k IN (SELECT k FROM part p WHERE q < (SELECT avg(n) FROM sold WHERE k = p.k))');
SELECT * FROM compare('WITH w AS MATERIALIZED (SELECT k FROM part WHERE q < (SELECT sum(x) FROM sold WHERE k = part.k)) SELECT * FROM w UNION ALL SELECT * FROM w');
CREATE VIEW popular AS SELECT * FROM part WHERE 5 < (SELECT count(*) FROM sold WHERE k = part.k AND t IN ('0', '1') AND x >= -1);
SELECT is_repeated('SELECT * FROM popular WHERE s > 1');
SELECT count(*) FROM popular WHERE s > 1;
SELECT * FROM compare('SELECT s, count(*) FROM part WHERE 5 < (SELECT count(*) FROM sold WHERE k = part.k) GROUP BY s HAVING s > (SELECT avg(x) / 9 FROM sold WHERE s = part.s)');
SELECT * FROM compare('SELECT DISTINCT (SELECT count(*) FROM sold WHERE s = part.s) AS count FROM part ORDER BY count');
PREPARE two_times (int) AS SELECT count(*) FROM part WHERE q < (SELECT $1 * avg(n) FROM sold WHERE sold.k = part.k AND x > $1);
EXECUTE two_times (1);
EXECUTE two_times (2);

-- an ERROR could come from groups for which nobody asks
CREATE TEMP TABLE some_parts AS SELECT k, q FROM part WHERE k BETWEEN 1 AND 5;
SELECT * FROM compare('SELECT * FROM some_parts p WHERE 0 < (SELECT 1 / sum(k) FROM sold WHERE k = p.k)');
SELECT * FROM compare('SELECT * FROM some_parts p WHERE 0 < (SELECT sum(1 / k) FROM sold WHERE k = p.k)');
SELECT is_repeated('SELECT (SELECT sum(f * f) FROM sold WHERE k = p.k) FROM some_parts p');
SELECT is_repeated('SELECT (SELECT sum(f) FROM sold WHERE k = p.k) FROM some_parts p');
SELECT is_repeated('SELECT (SELECT min(t::int) FROM sold WHERE k = p.k) FROM some_parts p');
SELECT * FROM compare('SELECT k, (SELECT count(*) FROM sold WHERE k = p.k AND 10 / k > 2) FROM some_parts p');
SELECT * FROM compare('SELECT k, CASE WHEN k <> 0 THEN (SELECT count(*) FROM sold WHERE k = 10 / p.k) END FROM part p');
SELECT * FROM compare('SELECT k FROM part p WHERE k = 0 OR (SELECT count(*) FROM sold WHERE k = 10 / p.k) > 60');
SELECT * FROM compare('SELECT k, CASE WHEN k > 100 THEN (SELECT count(*) FROM sold WHERE k = p.k) END FROM part p');
CREATE FOREIGN TABLE odd (k int, x int, a text COLLATE "C", b text COLLATE "POSIX", j json[], r int4range) SERVER csv OPTIONS (filename 'regress_csv/odd.csv');
SELECT clause, is_repeated('SELECT k FROM part WHERE (SELECT ' || clause || ' AND k = part.k) > 0') AS repeated
  FROM unnest(ARRAY['max(x) FROM odd WHERE x > 0', 'max(x) FROM odd WHERE a = b', 'max(x) FROM odd WHERE texteq(a, b)',
    'max(CASE a WHEN b THEN 1 END) FROM odd WHERE true', 'max(x) FROM odd WHERE coalesce(a, b) IN (''x'', ''y'')',
    'max(x) FROM odd WHERE a ^@ ''x''',
    'max(x) FROM odd WHERE j = ''{1,2}''', 'count(DISTINCT r) FROM odd WHERE true', 'max(x) FROM odd WHERE r < ''[1,2]''']) clause;
SELECT is_repeated('SELECT k FROM part WHERE (SELECT max(coalesce(a, b)) FROM odd WHERE k = part.k) IS NOT NULL');
SELECT is_repeated('SELECT k FROM part WHERE (SELECT max(j) FROM odd WHERE k = part.k) IS NOT NULL');
-- nor may clauses of queries around the query see such groups
SELECT * FROM compare('SELECT * FROM (SELECT k, (SELECT sum(k) FROM sold WHERE k = p.k) FROM some_parts p) s WHERE 10 / sum > 0');
SELECT * FROM compare('SELECT k, (SELECT sum(k) / sum(x) FROM sold WHERE k = p.k) AS y FROM some_parts p ORDER BY y');
SELECT is_repeated('SELECT k, (SELECT sum(k) FROM sold WHERE k = p.k) FROM part p ORDER BY k LIMIT 3');
SELECT * FROM compare('SELECT k, (SELECT sum(x) FROM sold WHERE k = p.k) AS y FROM part p ORDER BY y, k LIMIT 3');
CREATE TABLE copied (k int, n bigint);
SELECT is_repeated('INSERT INTO copied SELECT k, (SELECT count(*) FROM sold WHERE k = p.k) FROM part p');
INSERT INTO copied SELECT k, (SELECT count(*) FROM sold WHERE k = p.k) FROM part p;
SELECT count(*), sum(n - (SELECT count(*) FROM plain WHERE k = copied.k)) AS differing FROM copied;
CREATE ROLE regress_csv_seller;
GRANT ALL ON SCHEMA csv_test TO regress_csv_seller;
GRANT SELECT ON some_parts TO regress_csv_seller;
CREATE TEMP VIEW sums AS SELECT k, (SELECT sum(x) FROM sold WHERE k = p.k) FROM some_parts p;
GRANT SELECT ON sums TO regress_csv_seller;
SET ROLE regress_csv_seller;
CREATE FUNCTION csv_test.seen(value bigint) RETURNS bool COST 0.001 STRICT LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'seen: %', value; RETURN true; END $$;
SELECT count(*) FROM sums WHERE csv_test.seen(sum);
RESET ROLE;
DROP OWNED BY regress_csv_seller CASCADE;
DROP ROLE regress_csv_seller;

-- not by equalities of columns; not with other outer values; not only an aggregate
SELECT * FROM compare('SELECT k, (SELECT count(*) FROM sold WHERE k < part.k) FROM part');
SELECT * FROM compare('SELECT k, (SELECT count(*) FROM sold WHERE k = part.k AND x < part.q) FROM part');
SELECT * FROM compare('SELECT k, (SELECT count(*) FROM sold WHERE k + 1 = part.k) FROM part');
SELECT * FROM compare('SELECT k, (SELECT sum(x + part.k) FROM sold WHERE k = part.k) FROM part');
SELECT * FROM compare('SELECT k, (SELECT count(*) FROM sold WHERE k = part.k HAVING count(*) > 55) FROM part');
SELECT * FROM compare('SELECT k, (SELECT count(*) FROM sold WHERE k = part.k OFFSET 1) FROM part');
SELECT * FROM compare('SELECT k, (SELECT max(t) FROM sold WHERE k = part.k ORDER BY 1) FROM part');
SELECT * FROM compare('SELECT k, (SELECT max(n) FROM sold WHERE k = part.k ORDER BY 1) FROM part');
SELECT * FROM compare('SELECT k, (SELECT count(*) FROM sold WHERE k = part.k GROUP BY s ORDER BY 1 LIMIT 1) FROM part');
SELECT * FROM compare('SELECT k, (SELECT string_agg(t, '','' ORDER BY t) FROM sold WHERE k = part.k) FROM part');
SELECT * FROM compare('SELECT k, (SELECT count(*) FROM sold WHERE k = part.k AND random() >= 0) FROM part');
SELECT * FROM compare('SELECT k, (SELECT count(*) FROM sold WHERE t COLLATE "C" = part.t) FROM part');
-- a query that is itself repeated
SELECT * FROM compare('SELECT k, (SELECT max(p.q) FROM part p WHERE p.s = part.s AND p.q > (SELECT avg(n) FROM sold WHERE k = p.k)) FROM part');
SELECT * FROM compare('WITH RECURSIVE r AS (SELECT 1 AS k UNION ALL SELECT k + 1 FROM r WHERE k < 5 AND 0 < (SELECT count(*) FROM sold WHERE sold.k = r.k)) SELECT * FROM r');
-- two timestamps that one value equals
CREATE FOREIGN TABLE sold_at (k timestamp, x int) SERVER csv OPTIONS (filename 'regress_csv/sold_at.csv');
CALL write_query('sold_at.csv', $$VALUES (E'2024-03-31 02:30:00,1\n2024-03-31 03:30:00,10\n')$$);
SET TimeZone = 'Europe/Berlin';
SELECT z, (SELECT sum(x) FROM sold_at WHERE k = z) FROM (VALUES ('2024-03-31 03:30+02'::timestamptz), ('2024-03-31 05:30+02')) v(z);
RESET TimeZone;
-- one outer row
SELECT is_repeated('SELECT (SELECT sum(x) FROM sold WHERE k = p.k) FROM some_parts p WHERE q = 3 AND k > 2 AND k < 4');
-- cursors
BEGIN;
DECLARE c CURSOR FOR SELECT k, (SELECT count(*) FROM sold WHERE k = p.k) FROM some_parts p;
FETCH 2 FROM c;
UPDATE some_parts SET q = q WHERE CURRENT OF c;
FETCH BACKWARD 1 FROM c;
COMMIT;
-- many subqueries: some are joined
SELECT is_repeated(format('SELECT %s FROM part', string_agg('(SELECT sum(x) + ' || i || ' FROM sold WHERE k = part.k)', ', '))) FROM generate_series(1, 15) i;
SELECT is_repeated(format('SELECT %s FROM part', string_agg('(SELECT sum(x) + ' || i || ' FROM sold WHERE k = part.k)', ', '))) FROM generate_series(1, 50) i;
-- rows that are locked or changed
SELECT is_repeated('SELECT * FROM part WHERE q < (SELECT avg(n) FROM sold WHERE sold.k = part.k) FOR UPDATE');
SELECT is_repeated('UPDATE part SET q = (SELECT count(*) FROM sold WHERE sold.k = part.k)');
-- plain tables are left alone
SELECT is_repeated('SELECT k, (SELECT count(*) FROM plain WHERE k = part.k) FROM part');

-- plans that were made before the library was there are made again
\c
SET search_path = csv_test;
PREPARE counts AS SELECT k, (SELECT count(*) FROM sold WHERE k = p.k) FROM part p;
EXPLAIN (COSTS OFF) EXECUTE counts \g (format=unaligned tuples_only=on) | grep -c SubPlan
EXPLAIN (COSTS OFF) EXECUTE counts \g (format=unaligned tuples_only=on) | grep -c SubPlan

\i :teardown
