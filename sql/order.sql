--
-- ORDER BY with LIMIT: what is beyond it stays in the engine.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (
  id int, city varchar(20), kind char(4), price numeric(10,2), weight float8, sold date, ok boolean, code uuid, note text)
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', log_verbosity 'silent');
-- each in its order, odd spellings and values too long for their place among them
CALL write_query('t.csv', $$SELECT string_agg(CASE
  WHEN i % 97 = 0 THEN E'bad\n'
  ELSE format(E'%s,%s,%s,%s,%s,%s,%s,%s,%s\n', i, (ARRAY['Rom', 'Bonn', 'Lyon', 'Bern', ''])[1 + i % 5],
    (ARRAY['ab', 'a', 'abcd', ''])[1 + i % 4],
    CASE i % 50 WHEN 0 THEN 'NaN' WHEN 1 THEN '' WHEN 2 THEN '1e3' ELSE (i * 7919 % 1000 / 100.0)::text END,
    CASE i % 60 WHEN 0 THEN 'NaN' WHEN 1 THEN '' WHEN 2 THEN '-inf' WHEN 3 THEN ' 7' ELSE (i * 104729 % 1000 / 8.0)::text END,
    CASE i % 70 WHEN 0 THEN 'infinity' WHEN 1 THEN '' WHEN 2 THEN '2024-1-2' ELSE (date '2024-01-01' + i * 7 % 300)::text END,
    CASE i % 3 WHEN 0 THEN 't' WHEN 1 THEN 'f' END,
    CASE WHEN i % 11 > 0 THEN lpad(to_hex(i * 31 % 1000), 32, '0') END,
    CASE WHEN i % 500 = 3 THEN repeat('long ', 3000) ELSE substr(md5(i::text), 1, i % 9) END) END, '') FROM generate_series(1, 4000) i$$);
ALTER FOREIGN TABLE t OPTIONS (ADD chunk_size '10kB');

SELECT explain('SELECT id, note FROM t WHERE id > 9 ORDER BY price DESC, city COLLATE "C", id LIMIT 5');
SELECT explain('SELECT id FROM t ORDER BY price DESC NULLS LAST, sold NULLS FIRST LIMIT 5 OFFSET 10');
SELECT line ~ 'Limit: 3\d\d\d' AS many FROM explain('SELECT id FROM t ORDER BY price * 2 + id LIMIT 5', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line
  WHERE line ~ 'Rows Removed';

-- the same with and without
CREATE FUNCTION alike(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  pushed text[];
  plain text[];
BEGIN
  EXECUTE 'SELECT array_agg(left(x::text, 60)) FROM (' || query || ') x' INTO pushed;
  PERFORM set_config('csv_gpu_fdw.enable_pushdown', 'off', true);
  EXECUTE 'SELECT array_agg(left(x::text, 60)) FROM (' || query || ') x' INTO plain;
  PERFORM set_config('csv_gpu_fdw.enable_pushdown', 'on', true);
  IF pushed IS DISTINCT FROM plain THEN
    RAISE WARNING 'with: %, without: %', pushed, plain;
  END IF;
  RETURN QUERY SELECT unnest(pushed);
END $$;
SELECT alike('SELECT id FROM t ORDER BY id LIMIT 3');
SELECT alike('SELECT id FROM t ORDER BY id DESC LIMIT 3 OFFSET 2');
SELECT alike('SELECT price, id FROM t ORDER BY price, id LIMIT 3');
SELECT alike('SELECT price, id FROM t ORDER BY price DESC, id DESC LIMIT 3');
SELECT alike('SELECT price, id FROM t ORDER BY price DESC NULLS LAST, id LIMIT 3 OFFSET 78');
SELECT alike('SELECT weight, id FROM t ORDER BY weight, id LIMIT 3 OFFSET 65');
SELECT alike('SELECT weight, id FROM t ORDER BY weight DESC NULLS LAST, id LIMIT 3 OFFSET 65');
SELECT alike('SELECT weight, id FROM t WHERE weight > 7 AND city LIKE ''%o%'' ORDER BY weight NULLS FIRST, id LIMIT 3');
SELECT alike('SELECT sold, id FROM t ORDER BY sold DESC NULLS LAST, id LIMIT 3 OFFSET 56');
SELECT alike('SELECT ok, id FROM t ORDER BY ok NULLS FIRST, id LIMIT 2');
SELECT alike('SELECT ok, id FROM t ORDER BY ok DESC NULLS LAST, id LIMIT 2');
SELECT alike('SELECT code, id FROM t ORDER BY code, id LIMIT 2 OFFSET 5');
SELECT alike('SELECT note, id FROM t ORDER BY note, id LIMIT 2 OFFSET 500');
SELECT alike('SELECT note, id FROM t ORDER BY note DESC NULLS LAST, id LIMIT 2');
SELECT alike('SELECT note, id FROM t WHERE note LIKE ''long%'' ORDER BY note DESC NULLS LAST, id LIMIT 2');
SELECT alike('SELECT kind, city, id FROM t ORDER BY kind DESC NULLS LAST, city, id DESC LIMIT 3');
SELECT alike('SELECT price * id AS y, id FROM t ORDER BY y DESC NULLS LAST, id LIMIT 3 OFFSET 79');

-- constants that no decimal of the column's scale is: the engine decides on them, too
CREATE VIEW constants AS SELECT unnest(ARRAY['NaN', 'Infinity', '-Infinity', '1e37', '-1e37', '5.005', '-0.001', '1e-40', '999999999999999999999999999999999999.001']) AS c;
SELECT op, c, alike(format('SELECT count(*), sum(id), min(price) FROM t WHERE price %s %L::numeric', op, c))
  FROM unnest(ARRAY['<', '<=', '=', '<>', '>', '>=']) op, constants;
SELECT alike('SELECT id, price FROM t WHERE price IN (''NaN'', 1e37, 5.0500, 5.055) ORDER BY id LIMIT 3');
SELECT alike('SELECT count(*), sum(id) FROM t WHERE price NOT IN (''NaN'', 1e37, 5.0500, 5.055)');
SELECT c, line ~ 'Limit: 3\d\d\d' AS many
  FROM constants, explain(format('SELECT id FROM t WHERE price <> %L::numeric ORDER BY id LIMIT 5', c), 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line
  WHERE line ~ 'by Engine Limit';
SELECT explain('SELECT sum(price + 1e38) FROM t');
DROP VIEW constants;
-- nor do those that leave 128 bits come out on the other side
CREATE FOREIGN TABLE few (id int, n numeric(10,2), f numeric(38,38)) SERVER csv OPTIONS (filename 'regress_csv/few.csv');
CALL write_query('few.csv', $$SELECT E'1,-534.00,0.5\n2,5,\n3,,0.25\n4,7.25,-0.75\n'$$);
CREATE FUNCTION wide(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  found text[] := '{}';
  answer text;
  n numeric;
  alike_ones bigint := 0;
BEGIN
  FOR n IN SELECT sign * c FROM (
      SELECT m * 10::numeric ^ k AS c FROM generate_series(1, 9) m, generate_series(33, 42) k
      UNION ALL SELECT trunc(2::numeric ^ b) / 10::numeric ^ s + d FROM generate_series(124, 130) b, generate_series(0, 3) s, generate_series(-1, 1) d
      UNION ALL SELECT repeat('9', digits)::numeric + x FROM generate_series(35, 40) digits, unnest(ARRAY[0, 0.9, 1]) x) c,
      unnest(ARRAY[1, -1]) sign LOOP
    FOREACH answer IN ARRAY ARRAY['on', 'off'] LOOP
      PERFORM set_config('csv_gpu_fdw.enable_pushdown', answer, true);
      EXECUTE query INTO answer USING n;
      found := answer || found;
    END LOOP;
    IF found[1] IS DISTINCT FROM found[2] THEN
      RAISE WARNING '% with %: %, without: %', query, n, found[2], found[1];
    ELSE
      alike_ones := alike_ones + 1;
    END IF;
  END LOOP;
  PERFORM set_config('csv_gpu_fdw.enable_pushdown', 'on', true);
  RETURN alike_ones;
END $$;
SELECT wide('SELECT array_agg(id) FROM few WHERE n < $1');
SELECT wide('SELECT array_agg(id) FROM few WHERE n >= $1 OR id = $1');
SELECT wide('SELECT array_agg(id) FROM few WHERE n IN ($1, 7.25) OR f > $1');
SELECT wide('SELECT array[sum(n * $1), sum(id - $1), max(f + $1)] FROM few');
DROP FUNCTION wide;
DROP FOREIGN TABLE few;
SELECT alike('SELECT * FROM t ORDER BY id DESC LIMIT 1');
SELECT alike('SELECT t FROM t ORDER BY id LIMIT 1');
SELECT alike('SELECT count(*), sum(id) FROM (SELECT id FROM t ORDER BY price, id LIMIT 1000) x');
SELECT alike('SELECT count(*), sum(id) FROM (SELECT id FROM t ORDER BY price, id LIMIT 100000) x');
SELECT alike('SELECT count(*) FROM (SELECT id FROM t WHERE id = 8 ORDER BY price LIMIT 10) x');
SELECT alike('SELECT id FROM t ORDER BY id LIMIT 0');
SELECT alike('SELECT count(*) FROM (SELECT id FROM t ORDER BY id LIMIT NULL) x');
SELECT alike('SELECT id FROM t ORDER BY id LIMIT 2 OFFSET NULL');
SELECT alike('SELECT id FROM t ORDER BY id OFFSET 3957');

-- few bytes for the keys
SET work_mem = '64kB';
SELECT alike('SELECT note, id FROM t WHERE note IS NOT NULL ORDER BY note DESC, id LIMIT 9');
SELECT alike('SELECT count(*), sum(id) FROM (SELECT id FROM t ORDER BY note DESC, id LIMIT 900) x');
RESET work_mem;

-- limits that are known only when the query runs
SET plan_cache_mode = force_generic_plan;
PREPARE first(bigint, int) AS SELECT id FROM t ORDER BY price DESC NULLS LAST, id LIMIT $1 OFFSET $2 + 78;
SELECT explain('EXECUTE first(2, 0)');
EXECUTE first(2, 0);
EXECUTE first(1, 2);
EXECUTE first(0, 0);
EXECUTE first(-1, 0);
RESET plan_cache_mode;
SELECT x, id FROM generate_series(1, 3) x, LATERAL (SELECT id FROM t WHERE id > 10 * x ORDER BY id LIMIT x) y;
SELECT id FROM t ORDER BY id DESC LIMIT (SELECT count(*) FROM generate_series(1, 2));
SELECT count(*) FROM (SELECT id FROM t ORDER BY id LIMIT (SELECT NULL::bigint) OFFSET 5) x;
SELECT count(*) FROM (SELECT id FROM t ORDER BY id LIMIT 7 OFFSET (SELECT NULL::bigint)) x;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM t ORDER BY id DESC LIMIT 3;
FETCH 2 FROM c;
FETCH BACKWARD ALL FROM c;
FETCH ALL FROM c;
COMMIT;

-- skipped records are reported all the same, and values refused where they are
ALTER FOREIGN TABLE t OPTIONS (SET log_verbosity 'default', ADD notice_limit '2');
SELECT id FROM t ORDER BY id LIMIT 1;
ALTER FOREIGN TABLE t OPTIONS (SET log_verbosity 'silent');

-- an ERROR of a row that is not wanted
SELECT explain('SELECT id * 1000000 FROM t ORDER BY id LIMIT 1');
SELECT id * 1000000 FROM t ORDER BY id LIMIT 1;
SELECT explain('SELECT 1.0 / (id - 4000) FROM t ORDER BY id LIMIT 1');
SELECT 1.0 / (id - 4000) FROM t ORDER BY id LIMIT 1;
SELECT id FROM t ORDER BY id * 1000000 LIMIT 1;

-- not where anything stands between
SELECT explain('SELECT id FROM t WHERE length(note) > 3 ORDER BY id LIMIT 1');
SELECT explain('SELECT DISTINCT id FROM t ORDER BY id LIMIT 1');
SELECT explain('SELECT id, row_number() OVER () FROM t ORDER BY id LIMIT 1');
SELECT explain('SELECT id, generate_series(1, 2) FROM t ORDER BY id LIMIT 1');
SELECT explain('SELECT id FROM t ORDER BY id FETCH FIRST 1 ROW WITH TIES');
SELECT explain('SELECT id FROM t ORDER BY random() LIMIT 1');
SELECT explain('SELECT id FROM t ORDER BY id LIMIT 1 + (random() * 2)::int');
SELECT explain('SELECT id FROM t ORDER BY id LIMIT 10001');
SELECT explain('SELECT a.id FROM t a, t b WHERE a.id = b.id ORDER BY a.id LIMIT 1');
SELECT explain('SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE');
SELECT explain('SELECT sum(id) FROM t GROUP BY city ORDER BY 1 LIMIT 1');
-- but what is computed after the limit may be anything
SELECT id, random() < 2 AS less, (SELECT count(*) FROM generate_series(1, t.id)) AS n FROM t ORDER BY id DESC LIMIT 2;
SELECT explain('SELECT id, random() FROM t ORDER BY id LIMIT 1');

-- partitions, and parts of a UNION ALL
CREATE TABLE parts (part int, n int) PARTITION BY LIST (part);
CREATE FOREIGN TABLE part1 PARTITION OF parts FOR VALUES IN (1) SERVER csv OPTIONS (filename 'regress_csv/part1.csv');
CREATE FOREIGN TABLE part2 (n int, part int) SERVER csv OPTIONS (filename 'regress_csv/part2.csv');
ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES IN (2);
CALL write_query('part1.csv', $$SELECT string_agg(format(E'1,%s\n', i * 37 % 1000), '') FROM generate_series(1, 1000) i$$);
CALL write_query('part2.csv', $$SELECT string_agg(format(E'%s,2\n', i * 41 % 1000), '') FROM generate_series(1, 1000) i$$);
ANALYZE parts;
SELECT explain('SELECT * FROM parts ORDER BY n DESC, part LIMIT 3');
SELECT alike('SELECT * FROM parts ORDER BY n DESC, part LIMIT 3');
SELECT alike('SELECT n + part AS y FROM parts ORDER BY n * part DESC, n LIMIT 3');
SELECT explain('SELECT x FROM (SELECT n AS x FROM part1 UNION ALL SELECT n + 1 FROM part2) u ORDER BY x LIMIT 2');
SELECT alike('SELECT x FROM (SELECT n AS x FROM part1 UNION ALL SELECT n + 1 FROM part2) u ORDER BY x LIMIT 2');
SELECT explain('SELECT x FROM (SELECT n AS y, 0 AS x FROM part1 UNION ALL SELECT n, (1.0 / n)::int FROM part2) u ORDER BY y LIMIT 2');
SELECT x FROM (SELECT n AS y, 0 AS x FROM part1 UNION ALL SELECT n, (1.0 / n)::int FROM part2) u ORDER BY y LIMIT 2;

\i :teardown
