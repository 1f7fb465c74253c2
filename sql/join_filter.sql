--
-- Rows that have no partner in a hash join above the scan do not come out of it.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET max_parallel_workers_per_gather = 0;

CREATE FUNCTION joins(query text) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT line FROM explain(query, 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line
    WHERE line ~ '(Join|Scan|Append|Records|Removed by|Limit)';
$$;

CREATE FOREIGN TABLE f (a int, b bigint, t text, d date, u uuid, n numeric(8,2), c char(4))
  SERVER csv OPTIONS (filename 'regress_csv/f.csv');
COPY (SELECT i, i % 100, 'text ' || i % 50, date '2020-01-01' + i % 365, md5((i % 20)::text)::uuid, i / 4.0, i % 50
        FROM generate_series(1, 10000) i) TO PROGRAM 'cat > regress_csv/f.csv' WITH (FORMAT csv);
CREATE TABLE h (a smallint, b bigint, t text, d date, u uuid, n numeric(8,2), c char(4), v varchar(20));
INSERT INTO h VALUES
  (1, 1, 'text 1', '2020-01-02', md5('1')::uuid, 0.25, '1', 'text 2'),
  (7, NULL, 'text 1', NULL, NULL, 1.75, '2', 'text 3'),
  (NULL, 40, NULL, '2020-03-01', md5('x')::uuid, NULL, NULL, 'text 7');
ANALYZE h;

-- types that a filter takes, also integers of different widths
SELECT joins('SELECT * FROM f JOIN h USING (a)');
SELECT joins('SELECT * FROM f JOIN h ON f.a = h.b');
SELECT joins('SELECT * FROM f JOIN h USING (t)');
SELECT joins('SELECT * FROM f JOIN h ON f.t = h.v');
SELECT joins('SELECT * FROM f JOIN h USING (d)');
SELECT joins('SELECT * FROM f JOIN h USING (u)');
SELECT f.a, h.b FROM f JOIN h ON f.t = h.v WHERE f.a < 110 ORDER BY 1, 2;
-- several keys together
SELECT joins('SELECT * FROM f JOIN h USING (a, t)');
SELECT joins('SELECT * FROM f JOIN h ON f.b = h.b AND f.n = h.n');
-- and types that it does not take
SELECT joins('SELECT * FROM f JOIN h USING (n)');
SELECT joins('SELECT * FROM f JOIN h USING (c)');
SELECT joins('SELECT * FROM f JOIN h ON f.a + 1 = h.a');
CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT joins('SELECT * FROM f JOIN h ON f.t = h.t COLLATE loose');

-- joins from which all rows of the outer side come out, and those from which they do not
SELECT joins('SELECT * FROM f LEFT JOIN h USING (a)');
SELECT joins('SELECT * FROM f FULL JOIN h USING (a)');
SELECT joins('SELECT * FROM f WHERE NOT EXISTS (SELECT FROM h WHERE h.a = f.a)');
SELECT joins('SELECT * FROM f WHERE EXISTS (SELECT FROM h WHERE h.a = f.a)');
SELECT joins('SELECT * FROM h LEFT JOIN f USING (a)');
SELECT h.a, f.b FROM h LEFT JOIN f ON h.a = f.a AND f.b > 1 ORDER BY 1;

-- with the engine's filter: all records are in the account
SELECT joins('SELECT * FROM f JOIN h USING (b) WHERE f.n > 1000');
-- filters of two joins
CREATE TABLE few AS SELECT b, t FROM f WHERE a IN (1, 3, 5);
ANALYZE few;
SELECT joins('SELECT * FROM f JOIN h USING (t) JOIN few ON few.b = f.b');
SELECT f.a, few.t FROM f JOIN h USING (t) JOIN few ON few.b = f.b WHERE f.a < 300 ORDER BY 1, 2;
-- through a projection, partitions and the outer side of other joins
SELECT joins('SELECT * FROM (SELECT b + 1, a FROM f OFFSET 0) x JOIN h USING (a)');
SELECT joins('SELECT * FROM (SELECT b FROM f UNION ALL SELECT b FROM few) x JOIN h USING (b)');
SELECT joins('SELECT * FROM (f LEFT JOIN few USING (b)) x JOIN h ON x.a = h.a');
-- not through a limit, groups, or what has effects
SELECT joins('SELECT * FROM (SELECT a FROM f LIMIT 20) x JOIN h USING (a)');
SELECT joins('SELECT * FROM (SELECT b, count(*) FROM f GROUP BY b) x JOIN h USING (b)');
SELECT joins('SELECT * FROM (SELECT a FROM f WHERE random() < 2 OFFSET 0) x JOIN h USING (a)');
SELECT joins('SELECT * FROM (SELECT a, random() FROM f OFFSET 0) x JOIN h USING (a)');

-- records are checked and reported as without the filter
CREATE FOREIGN TABLE bad (a int, d date) SERVER csv OPTIONS (filename 'regress_csv/bad.csv');
CALL write_file('bad.csv', E'1,2020-01-01\n2,x\n3,y\nz,2020-01-01\n4\n5,2020-01-01\n,2020-01-01\n');
SET client_min_messages = notice;
SELECT bad.* FROM bad JOIN h USING (a);
SET csv_gpu_fdw.join_filter = off;
SELECT bad.* FROM bad JOIN h USING (a);
RESET client_min_messages;
SELECT joins('SELECT * FROM bad JOIN h USING (a)');
SET csv_gpu_fdw.join_filter = on;
SELECT joins('SELECT * FROM bad JOIN h USING (a)');

-- a filter that removes too few rows ends
CREATE FOREIGN TABLE large (a int, b bigint) SERVER csv OPTIONS (filename 'regress_csv/large.csv', chunk_size '16kB');
COPY (SELECT i, i % 1000 FROM generate_series(1, 100000) i) TO PROGRAM 'cat > regress_csv/large.csv' WITH (FORMAT csv);
CREATE TABLE most AS SELECT i::bigint b FROM generate_series(1, 990) i;
ANALYZE most;
SELECT 'some' FROM joins('SELECT * FROM large JOIN most USING (b)') line WHERE line ~ 'Removed by Join Filter: \d{1,3}$';
SELECT count(*), sum(a) FROM large JOIN most USING (b);

-- without an execution
SELECT explain('SELECT * FROM f JOIN h USING (a, t)');
\i :teardown
