--
-- Filters and aggregates that the engine has.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (
  id int, city varchar(20), kind char(4), price numeric(10,2), weight float8, sold date, at timestamp, ok boolean,
  code uuid, note text)
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv',
E'1,Rom,ab,10.50,1.5,2024-01-01,2024-01-01 10:00:00,t,00000000-0000-0000-0000-000000000001,one\n'
'2,Bonn,ab,2.25,0.25,2024-02-01,2024-02-01 00:00:00,f,00000000-0000-0000-0000-000000000002,"two, ""too"""\n'
'3,Rom,cd,0.75,,2024-03-01,,t,,\n'
'4,Lyon,,100.00,-2,1999-12-31,1999-12-31 23:59:59,,ffffffff-ffff-ffff-ffff-ffffffffffff,four\n'
'bad,Lyon,ab,1,1,2024-01-01,,t,,x\n'
'6,Bonn,cd,,NaN,infinity,infinity,f,,six\n'
'7,Rom,ab,NaN,-0, 2024-01-05,2024-01-05 07:08:09.5,t,,seven\n');

-- what the engine has, and what it leaves to the executor
SELECT explain('SELECT id FROM t WHERE price > 1 AND length(note) > 3');
SELECT explain('SELECT kind, sum(price * (1 - price)), count(*) FROM t WHERE sold >= ''2024-01-01'' GROUP BY kind');
SELECT explain('SELECT city, count(*) FROM t GROUP BY city HAVING sum(id) > 3');
SELECT explain('SELECT array_agg(id) FROM t WHERE ok');
SELECT explain('SELECT sum(length(note)) FROM t');
SELECT explain('SELECT max(note), min(note COLLATE "C") FROM t');
SELECT explain('SELECT count(*) + 1, sum(id) / 2 FROM t WHERE random() > 2');

-- the same with and without
CREATE FUNCTION alike(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  pushed text[];
  plain text[];
BEGIN
  EXECUTE 'SELECT array_agg(x::text ORDER BY x::text) FROM (' || query || ') x' INTO pushed;
  PERFORM set_config('csv_gpu_fdw.enable_pushdown', 'off', true);
  EXECUTE 'SELECT array_agg(x::text ORDER BY x::text) FROM (' || query || ') x' INTO plain;
  PERFORM set_config('csv_gpu_fdw.enable_pushdown', 'on', true);
  IF pushed IS DISTINCT FROM plain THEN
    RAISE WARNING 'with: %, without: %', pushed, plain;
  END IF;
  RETURN QUERY SELECT unnest(pushed);
END $$;
ALTER FOREIGN TABLE t OPTIONS (ADD log_verbosity 'silent');
SELECT alike('SELECT id FROM t WHERE price > 1');
SELECT alike('SELECT id FROM t WHERE price > 1 AND sold BETWEEN ''2024-01-01'' AND ''2024-01-31''');
SELECT alike('SELECT id FROM t WHERE price <> ''NaN''');
SELECT alike('SELECT id FROM t WHERE price IN (0.750, 2.25, 3) OR price IS NULL');
SELECT alike('SELECT id FROM t WHERE weight >= 1');
SELECT alike('SELECT id FROM t WHERE weight = 0');
SELECT alike('SELECT id FROM t WHERE sold > at');
SELECT alike('SELECT id FROM t WHERE kind = ''ab'' AND city <> ''Rom''');
SELECT alike('SELECT id FROM t WHERE kind LIKE ''ab'' OR city LIKE ''%o%''');
SELECT alike('SELECT id FROM t WHERE note LIKE ''%, "%'' OR note LIKE ''s%''');
SELECT alike('SELECT id FROM t WHERE note LIKE ''%o%e'' AND city NOT LIKE ''R%o%m%'' OR note LIKE ''s%%x''');
SELECT alike('SELECT id FROM t WHERE NOT ok');
SELECT alike('SELECT id FROM t WHERE ok IS NOT TRUE');
SELECT alike('SELECT id FROM t WHERE city NOT IN (''Rom'', NULL)');
SELECT alike('SELECT id FROM t WHERE code > ''00000000-0000-0000-0000-000000000001''');
SELECT alike('SELECT id FROM t WHERE CASE kind WHEN ''ab'' THEN id > 1 ELSE coalesce(ok, true) END');
SELECT alike('SELECT count(*), count(weight), count(DISTINCT city), sum(id), avg(id), min(id), max(id) FROM t');
SELECT alike('SELECT sum(price), avg(price), min(price), max(price), stddev(price) FROM t');
SELECT alike('SELECT sum(price), avg(price), min(price), max(price), variance(price), var_pop(price) FROM t WHERE price < 1000');
SELECT alike('SELECT sum(weight), avg(weight), min(weight), max(weight) FROM t WHERE weight < 1000');
SELECT alike('SELECT min(sold), max(sold), min(at), max(at), bool_and(ok), bool_or(ok) FROM t');
SELECT alike('SELECT min(note COLLATE "C"), max(city COLLATE "C"), min(kind COLLATE "C") FROM t');
SELECT alike('SELECT kind, count(*), sum(price * 2 - 0.125) FROM t GROUP BY kind');
SELECT alike('SELECT variance(weight), var_samp(weight), var_pop(weight), stddev(weight), stddev_samp(weight), stddev_pop(weight) FROM t WHERE weight <= 4');
SELECT alike('SELECT kind, round(variance(weight)::numeric, 12), stddev_pop(weight) FILTER (WHERE id < 4) FROM t GROUP BY kind');
SELECT explain('SELECT kind, variance(weight), stddev_pop(weight) FILTER (WHERE id < 4) FROM t GROUP BY kind');
SELECT alike('SELECT kind, ok, sum(id) FILTER (WHERE price > 1) FROM t GROUP BY kind, ok');
SELECT alike('SELECT price, count(*) FROM t GROUP BY price');
SELECT alike('SELECT count(*) FROM t WHERE id > 100 HAVING count(*) = 0');
SELECT alike('SELECT city FROM t WHERE id > 100 GROUP BY city');
SELECT alike('SELECT upper(city), sum(id) + count(*) FROM t GROUP BY city HAVING max(id) > 3');

-- each row once
SELECT explain('SELECT DISTINCT kind, ok, 1 FROM t WHERE id > 1');
SELECT line FROM explain('SELECT DISTINCT ON (kind) kind, id FROM t') line WHERE line ~ 'Not in|Engine [GA]';
SELECT line FROM explain('SELECT DISTINCT ON (kind) kind, count(*) FROM t GROUP BY kind') line WHERE line ~ 'Not in|Engine [GA]';
SELECT alike('SELECT DISTINCT kind, ok, 1 FROM t');
SELECT alike('SELECT DISTINCT price, weight IS NULL FROM t WHERE id > 1');
SELECT alike('SELECT DISTINCT 1 FROM t WHERE id > 100');
SELECT DISTINCT city FROM t WHERE id < 7 ORDER BY city DESC LIMIT 2;

-- upper and lower case; PostgreSQL decides about texts that are not ASCII
CALL write_file('letters.csv', E'Rom,@AZ[,1\nROM,`az{,2\nróm,"a""Bz",3\n,,4\n123456789 abcdefghij XYZ,AB,5\nRÓM,Ab ,6\nromA,ab,7\n');
CREATE FOREIGN TABLE letters (a text, b char(4), i int) SERVER csv OPTIONS (filename 'regress_csv/letters.csv');
SELECT explain('SELECT lower(a), max(upper(b) COLLATE "C") FROM letters WHERE a ILIKE ''%R%'' GROUP BY lower(a)');
SELECT explain('SELECT 1 FROM letters WHERE a ILIKE ''ó%'' OR a ILIKE ''a_''');
SELECT line FROM explain('SELECT lower(a), initcap(a), count(*) FROM letters GROUP BY 1, 2') line WHERE line ~ 'Not in|Engine [GA]';
SELECT alike('SELECT lower(a), count(*), max(upper(b) COLLATE "C") FROM letters GROUP BY lower(a)');
SELECT alike('SELECT DISTINCT upper(a), lower(b) FROM letters');
SELECT alike('SELECT i FROM letters WHERE a ILIKE ''ROM%'' OR b ILIKE ''AB  '' OR a NOT ILIKE ''%o%'' OR b ILIKE ''%"bZ''');
SELECT alike('SELECT i FROM letters WHERE lower(coalesce(a, ''X'')) IN (''rom'', ''x'', ''123456789 abcdefghij xyz'') OR upper(b) = ''@AZ[''');
SELECT alike('SELECT * FROM (SELECT upper(b), i FROM letters ORDER BY upper(b) DESC, i LIMIT 4) x');
SELECT line FROM explain('SELECT count(*) FROM letters WHERE lower(a) <> ''rom''', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Filter|Records|Removed';

-- an operation that PostgreSQL refuses is refused as PostgreSQL does it
SELECT id FROM t WHERE id + 2147483647 > 0;
SELECT count(*) FROM t WHERE id < 100 OR id + 2147483647 > 0;
SELECT sum(id * 2147483647) FROM t;
SELECT id FROM t WHERE CASE WHEN id > 0 THEN true ELSE id * 2147483647 > 0 END;

-- products beyond the engine's lanes; -0 and 0 are one group
CREATE FOREIGN TABLE long (f float8, p numeric(30,2), q numeric(30,2))
  SERVER csv OPTIONS (filename 'regress_csv/long.csv');
CALL write_file('long.csv', E'-0,99999999999999999999999999.00,9999999999999999999.00\n0,1,1\n5,1,1\n');
SELECT alike('SELECT f + 0::float8 AS f, sum(p * q) FROM long GROUP BY long.f');
SELECT alike('SELECT min(f + 0::float8), max(f + 0::float8) FROM long WHERE p * q > 0 AND f < 1');
SELECT alike('SELECT min(f + 0::float8), max(f + 0::float8) FROM long WHERE p > 1e-30 AND f < 1');

-- variances of floats are those of the exact numbers, to the last bit or two
CREATE FOREIGN TABLE f (k int, f8 float8, f4 real) SERVER csv OPTIONS (filename 'regress_csv/f.csv');
CALL write_query('f.csv', $$SELECT string_agg(format(E'%s,%s,%s\n', i % 3, 1e9 + i % 1000 / 8.0, i * 7919 % 4001 / 16.0), '') FROM generate_series(1, 5000) i$$);
SELECT explain('SELECT var_pop(f8) FROM f');
CREATE TABLE exact AS SELECT k, var_samp(f8::numeric) AS samp, var_pop(f8::numeric) AS pop, var_pop(f4::float8::numeric) AS single, stddev(f8::numeric) AS root
  FROM f GROUP BY k;
SELECT explain('SELECT k, var_samp(f8), var_pop(f8), var_pop(f4), stddev(f8) FROM f GROUP BY k');
SELECT k, abs(s / samp::float8 - 1) < 4e-16 AS samp, abs(p / pop::float8 - 1) < 4e-16 AS pop, abs(p4 / single::float8 - 1) < 4e-16 AS single,
  abs(r / root::float8 - 1) < 4e-16 AS root
  FROM exact JOIN (SELECT k, var_samp(f8), var_pop(f8), var_pop(f4), stddev(f8) FROM f GROUP BY k) x (k, s, p, p4, r) USING (k) ORDER BY k;
-- a constant as a key, of more than a few rows
SELECT line FROM explain('SELECT (SELECT 5), sum(k) FROM f GROUP BY 1') line WHERE line ~ 'Engine (Group|Agg)';
CALL write_file('f.csv', E'1,1e200,0\n2,1e200,inf\n2,1,1\n3,inf,NaN\n4,1e-150,1\n5,1e-100,3e38\n5,3e-100,-3e38\n6,,\n7,3,2\n7,3,2\n');
SELECT alike('SELECT k, var_pop(f8), var_samp(f8), stddev_pop(f4), stddev(f4) FROM f WHERE k <> 2 GROUP BY k');
SELECT alike('SELECT k, var_pop(f4), var_samp(f4) FROM f GROUP BY k');
SELECT variance(f8) FROM f WHERE k = 2;
SELECT var_pop(f8) FROM f WHERE k < 3 GROUP BY k;

-- a numeric without a scale: each value shows as many digits as it has
CREATE FOREIGN TABLE q (id int, q numeric, n numeric(10,2)) SERVER csv OPTIONS (filename 'regress_csv/q.csv');
CALL write_file('q.csv', E'1,1.5,1\n2,1.50,2\n3,1.5000000000001,3\n4,-0.000001,4\n5,NaN,5\n6,,6\n7,123456789012345678901234567890123456789012,7\n8,1e-20,8\n9,0.00,9\n');
SELECT explain('SELECT q FROM q WHERE q >= 1.50 AND q + n < 10');
SELECT alike('SELECT q FROM q WHERE q >= 1.50 AND q + n < 10');
SELECT alike('SELECT id FROM q WHERE q = 1.5');
SELECT alike('SELECT id FROM q WHERE q IN (1.50000000000010, 0)');
SELECT alike('SELECT id FROM q WHERE q > 0 AND q < 1');
SELECT alike('SELECT id FROM q WHERE q < 0.0000001');
SELECT alike('SELECT id FROM q WHERE q * 2 > n OR q IS NULL');
SELECT alike('SELECT id FROM q WHERE CASE WHEN id < 5 THEN q ELSE 1.000000 END > 1');
SELECT alike('SELECT q, id FROM q ORDER BY q DESC, id LIMIT 5');
SELECT explain('SELECT count(q), sum(n) FROM q WHERE q > 1');
SELECT alike('SELECT count(q), sum(n) FROM q WHERE q > 1');
SELECT explain('SELECT q, sum(q), avg(q + n), max(q * (1 - n)), count(DISTINCT q), scale(q) FROM q WHERE q > 1 GROUP BY q, scale(q)');
SELECT explain('SELECT variance(q) FROM q');
SELECT alike('SELECT sum(q), avg(q), min(q), max(q), count(q), count(DISTINCT q) FROM q WHERE id < 5');
SELECT alike('SELECT id % 2 = 1, sum(q), avg(q), min(q), max(q), count(DISTINCT q) FROM q GROUP BY 1');
SELECT alike('SELECT sum(q), avg(q), min(q), max(q) FROM q WHERE id IN (7, 8)');
SELECT alike('SELECT sum(q), avg(q), min(q), max(q), max(scale(q)) FROM q WHERE id IN (8, 9)');
SELECT alike('SELECT sum(q), avg(q), max(q) FROM q WHERE q IS NULL');
SELECT alike('SELECT sum(q + n), sum(q - n), sum(q * n), sum(-q), sum(q * (1 - n) * (1 + q)) FROM q WHERE id < 5');
SELECT alike('SELECT sum(q) FILTER (WHERE id = 1), sum(q) FILTER (WHERE id > 8), min(q) FILTER (WHERE id <= 2) FROM q WHERE id IN (1, 3, 9)');
SELECT alike('SELECT sum(CASE WHEN id < 3 THEN q * n ELSE 0 END), sum(CASE id WHEN 9 THEN q WHEN 8 THEN n END), max(coalesce(q, n)), min(coalesce(q * 1.000, 0.0)) FROM q WHERE id <> 5');
SELECT alike('SELECT q, count(*), sum(n), max(scale(q)) FROM q WHERE id <> 2 GROUP BY q');
SELECT alike('SELECT trim_scale(q), count(*), sum(n), count(DISTINCT q) FROM q GROUP BY q');
SELECT alike('SELECT q * n, scale(q), count(*) FROM q GROUP BY 1, 2');
-- of equal ones, the one with the most digits
CALL write_file('q.csv', E'1,-2,1\n1,-2.00,1\n1,-2.0,1\n2,7.0,1\n2,7.000,1\n2,7,1\n3,1e-20,1\n3,0.000000000000000000010,1\n4,-0.00,1\n4,0,1\n');
SELECT id, q, min(q), max(q), sum(q), avg(q) FROM q GROUP BY id, q ORDER BY id;
SELECT min(q), max(q) FROM q;
-- what no lane holds
CALL write_file('q.csv', E'1,Infinity,1\n1,5,1\n2,-Infinity,1\n2,inf,1\n3,-inf,1\n3,NaN,1\n4,-inf,1\n4,1e50,1\n5,1e50,1\n5,1,1\n5,-1e-30,1\n6,NaN,1\n7,1' || repeat('0', 200) || E'.50,1\n7,0.' || repeat('0', 3000) || E'1,1\n7,2.' || repeat('0', 3000) || E',1\n8,2,1\n8,inf,1\n9,1e50,1\n9,-12345678901234567890123456,1\n');
SELECT alike('SELECT id, sum(q), avg(q), min(q), max(q), count(q), count(DISTINCT q) FROM q WHERE id <> 7 GROUP BY id');
SELECT alike('SELECT id, q, count(*), sum(n) FROM q WHERE id <> 7 GROUP BY id, q');
SELECT length(line) FROM alike('SELECT sum(q), avg(q), min(q), max(q), count(DISTINCT q) FROM q WHERE id = 7') line;
SELECT length(line) FROM alike('SELECT q, count(*) FROM q WHERE id = 7 GROUP BY q') line;
SELECT length(line) FROM alike('SELECT sum(q), min(q) FROM q WHERE id BETWEEN 7 AND 8 AND q < 10 AND q > 0') line;
-- more digits than numeric_round() makes
CALL write_file('q.csv', E'1,2.' || repeat('0', 3000) || E',1\n1,3,1\n');
SELECT length(line) FROM alike('SELECT sum(q), max(q) FROM q') line;
SELECT length(line) FROM alike('SELECT q, count(*) FROM q GROUP BY q') line;

-- skipped records are reported all the same, dropped or not
ALTER FOREIGN TABLE t OPTIONS (SET log_verbosity 'default');
SELECT id FROM t WHERE id = 7;
SELECT count(*) FROM t WHERE id = 8;
CALL write_file('t.csv', E'1,Rom,ab,x,,,,,,\n2,Bonn,ab,2, 1,,,,,\n3,Lyon,ab,3,a,,,,,\n');
SELECT id, price FROM t WHERE city = 'Bonn' AND weight > 0;
SELECT sum(price), sum(weight) FROM t WHERE city = 'Bonn';

-- parameters
CALL write_file('t.csv', E'1,Rom,ab,10.5,,,,,,\n2,Bonn,ab,2.125,,,,,,\n3,Lyon,ab,3,,,,,,\n');
SET plan_cache_mode = force_generic_plan;
PREPARE by_price(numeric, text[]) AS SELECT id FROM t WHERE price >= $1 AND city = ANY ($2);
SELECT explain('EXECUTE by_price(1, NULL)');
EXECUTE by_price(2.13, '{Rom,Bonn}');
EXECUTE by_price(2.1300001, '{Rom,Bonn}');
EXECUTE by_price('NaN', '{Rom}');
EXECUTE by_price(NULL, '{Rom}');
EXECUTE by_price(1, '{}');
EXECUTE by_price(1, NULL);
PREPARE total(int) AS SELECT sum(price), count(*) FROM t WHERE id > $1;
EXECUTE total(1);
EXECUTE total(2);
-- an empty list: nothing is equal to any of it, but the ERRORs of what is looked for come
PREPARE any_of(int[]) AS SELECT count(*) FROM t WHERE id = ANY ($1);
EXECUTE any_of('{}');
PREPARE none_of(int[]) AS SELECT count(*) FROM t WHERE nullif(id, 1) <> ALL ($1);
EXECUTE none_of('{}');
PREPARE any_large(int[]) AS SELECT count(*) FROM t WHERE id * 2000000000 = ANY ($1);
EXECUTE any_large('{}');
SELECT count(*) FROM t WHERE id * 2000000000 <> ALL ('{}');
SELECT count(*) FILTER (WHERE id * 2000000000 <> ALL ('{}')) FROM t;
RESET plan_cache_mode;
SELECT x, (SELECT count(*) FROM t WHERE id <= x) FROM generate_series(0, 3) x;
SELECT id FROM t WHERE price = (SELECT max(price) FROM t);

-- what has no columns is the same for all rows; a key of that kind tells no groups apart
ALTER FOREIGN TABLE t OPTIONS (SET log_verbosity 'silent');
SELECT explain('SELECT current_date, count(*) FROM t GROUP BY 1');
SELECT explain('SELECT now(), city, count(*) FROM t GROUP BY 1, 2');
SELECT line FROM explain('SELECT random() < 2, sum(id) FROM t GROUP BY 1') line WHERE line ~ 'Engine (Group|Agg)';
SELECT alike('SELECT current_date - current_date, count(*) FROM t GROUP BY current_date');
SELECT alike('SELECT current_date = current_date, city, count(*) FROM t GROUP BY current_date, city HAVING count(*) > 0');
SELECT alike('SELECT now() = now(), current_user::text = current_user, count(*) FROM t GROUP BY now(), current_user::text');
SELECT alike('SELECT current_user = session_user, max(price) FROM t GROUP BY current_user, session_user');
SELECT alike('SELECT (SELECT 5), city, sum(id) FROM t GROUP BY 1, 2');
SELECT alike('SELECT (SELECT max(id) FROM t) AS m, sum(id) FROM t WHERE id < (SELECT max(id) FROM t) GROUP BY 1');
SELECT alike('SELECT ''x'', NULL, count(*) FROM t GROUP BY 1, 2');
SELECT alike('SELECT ROW(1, 2), ARRAY[3], count(*) FROM t GROUP BY 1, 2');
SELECT alike('SELECT random() < 2, count(random()) FROM t GROUP BY 1');
SELECT alike('SELECT current_date = current_date FROM t GROUP BY current_date');
SELECT alike('SELECT DISTINCT current_date = current_date, now() = now() FROM t GROUP BY current_date, id');
SELECT alike('SELECT count(now()), count(DISTINCT current_date), max(current_date) = current_date, sum((SELECT 5)) FROM t');
SELECT alike('SELECT count(*) FILTER (WHERE now() > ''2000-01-01''), count(id) FILTER (WHERE (SELECT false)) FROM t GROUP BY now()');
-- no row, no group
SELECT alike('SELECT current_date, count(*) FROM t WHERE id > 100 GROUP BY 1');
SELECT alike('SELECT true FROM t WHERE id > 100 GROUP BY now()');
SELECT alike('SELECT 1 FROM t GROUP BY now() HAVING sum(id) > 100');
-- of an ERROR, nobody asks before there is a row
SET plan_cache_mode = force_generic_plan;
PREPARE by_nothing(int, text) AS SELECT $1, $2, city, count(*), sum($1), max($2) FROM t WHERE id >= $1 GROUP BY $1, $2, city ORDER BY city COLLATE "C";
SELECT explain('EXECUTE by_nothing(1, NULL)');
EXECUTE by_nothing(2, 'x');
EXECUTE by_nothing(3, NULL);
EXECUTE by_nothing(NULL, 'x');
PREPARE by_sum(int) AS SELECT $1 + 1, count(*) FROM t WHERE id = $1 + 1 GROUP BY $1 + 1;
EXECUTE by_sum(1);
EXECUTE by_sum(7);
EXECUTE by_sum(2147483647);
PREPARE by_quotient(int) AS SELECT 1 / $1, count(*) FROM t WHERE id > $1 GROUP BY 1;
EXECUTE by_quotient(0);
EXECUTE by_quotient(1);
RESET plan_cache_mode;
-- values of an outer row: anew for each
SELECT line FROM explain('SELECT * FROM generate_series(1, 3) i, LATERAL (SELECT i AS k, count(*) FROM t GROUP BY 1) y') line WHERE line ~ 'Engine (Group|Agg)';
SELECT alike('SELECT * FROM generate_series(1, 3) i, LATERAL (SELECT i AS k, count(*), sum(id + i) FROM t GROUP BY 1) y');
SELECT alike('SELECT * FROM generate_series(1, 3) i, LATERAL (SELECT i AS k, city, count(*) FROM t WHERE id <= i GROUP BY 1, 2) y');
SELECT alike('SELECT * FROM generate_series(1, 3) i, LATERAL (SELECT sum(k), max(k), count(*) FILTER (WHERE k > 1), count(DISTINCT k) FROM (SELECT i AS k FROM t) s) y');
SELECT alike('SELECT i, (SELECT i + count(*) FROM t GROUP BY i HAVING count(*) > i) FROM generate_series(1, 4) i');
SELECT alike('SELECT i, ARRAY(SELECT id FROM t ORDER BY i, id DESC LIMIT i) FROM generate_series(0, 3) i');
SELECT alike('SELECT i, y.* FROM generate_series(1, 3) i LEFT JOIN LATERAL (SELECT city, i * 2 AS z FROM t WHERE id > i GROUP BY city, i * 2) y ON true');

-- values of the outer side of a nested loop
CALL write_file('t.csv',
E'1,Rom,ab,10.50,1.5,2024-01-01,2024-01-01 10:00:00,t,00000000-0000-0000-0000-000000000001,one\n'
'2,Bonn,a,2.25,0.25,2024-02-01,2024-02-01 00:00:00,f,00000000-0000-0000-0000-000000000002,two\n'
'3,Rom,cd,NaN,, 2024-03-01,,t,,\nbad\n4,Lyon,,100.00,-2,1999-12-31,1999-12-31 23:59:59,,,four\n');
CREATE TABLE outer_side (i int, city text, kind char(6), n numeric, day date, at timestamp);
INSERT INTO outer_side VALUES (1, 'Rom', 'ab', 2.250, '2024-01-01', '2024-02-01'), (2, 'Bonn', 'a', 'NaN', '2024-03-01', NULL),
  (3, NULL, NULL, NULL, NULL, 'infinity');
ANALYZE outer_side;
ALTER FOREIGN TABLE t OPTIONS (SET log_verbosity 'silent');
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
-- PostgreSQL 17 turns the clause around
SELECT replace(line, '((t.city)::text = o.city)', '(o.city = (t.city)::text)') AS explain
  FROM explain('SELECT o.i, id FROM outer_side o LEFT JOIN t ON t.city = o.city') line;
SELECT alike('SELECT o.i, id FROM outer_side o JOIN t ON t.city = o.city');
SELECT alike('SELECT o.i, id FROM outer_side o JOIN t ON t.kind = o.kind AND id <= o.i');
SELECT explain('SELECT o.i, id FROM outer_side o LEFT JOIN t ON price >= n AND length(note) > o.i');
SELECT alike('SELECT o.i, id FROM outer_side o LEFT JOIN t ON price >= n AND length(note) > o.i');
SELECT alike('SELECT o.i, id FROM outer_side o LEFT JOIN t ON sold = day');
SELECT alike('SELECT o.i, id FROM outer_side o LEFT JOIN t ON sold = day AND t.at <= o.at');
SELECT alike('SELECT i FROM outer_side o WHERE EXISTS (SELECT FROM t WHERE t.city = o.city AND id > i)');
SELECT alike('SELECT i FROM outer_side o WHERE NOT EXISTS (SELECT FROM t WHERE t.city = o.city AND id > i)');
SELECT alike('SELECT o.i, p.i, id FROM outer_side o, outer_side p, t WHERE id = o.i + p.i');
SELECT alike('SELECT o.i, s FROM outer_side o, LATERAL (SELECT sum(price) AS s FROM t WHERE t.city = o.city OR id > o.i) x');
SELECT alike('SELECT o.i, x.id FROM outer_side o, LATERAL (SELECT id, o.n AS m FROM t WHERE id <> o.i) x WHERE x.m > 1');
-- what raises an ERROR does so where the executor would
SELECT o.i, id FROM outer_side o JOIN t ON id * 1000000000 > o.i;
SELECT count(*) FROM outer_side o JOIN t ON id > 100 AND id = 1 / (o.i - 1);
SELECT o.i, id FROM outer_side o JOIN t ON t.city = o.city WHERE id * 1000000000 > 0;
SELECT o.i, id FROM outer_side o JOIN t ON id * 1000000000 > o.i AND t.city = 'Rom' AND t.city = o.city;
-- skipped records are reported once
ALTER FOREIGN TABLE t OPTIONS (SET log_verbosity 'default');
SELECT o.i, id FROM outer_side o LEFT JOIN t ON t.city = o.city;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
RESET enable_memoize;
CALL write_file('t.csv', E'1,Rom,ab,10.5,,,,,,\n2,Bonn,ab,2.125,,,,,,\n3,Lyon,ab,3,,,,,,\n');

-- what may raise an ERROR is evaluated only if a row gets there
CREATE FUNCTION noisy(int) RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
  RAISE NOTICE 'asked for 1/%', $1;
  RETURN 1 / $1;
END $$;
CREATE FOREIGN TABLE none (id int) SERVER csv OPTIONS (filename 'regress_csv/none.csv');
CALL write_file('none.csv', '');
SET plan_cache_mode = force_generic_plan;
PREPARE nothing(int) AS SELECT count(*) FROM none WHERE id = 1 / $1;
EXECUTE nothing(0);
PREPARE never(int) AS SELECT count(*) FROM t WHERE id < 0 AND id = 1 / $1;
EXECUTE never(0);
PREPARE always(int) AS SELECT count(*) FROM t WHERE id = 1 / $1;
SELECT explain('EXECUTE always(1)');
EXECUTE always(1);
EXECUTE always(0);
RESET plan_cache_mode;
SELECT count(*) FROM none WHERE id = (SELECT noisy(0));
SELECT count(*) FROM t WHERE id < 0 AND id = (SELECT noisy(0));
SELECT count(*) FROM t WHERE id > 0 OR id = (SELECT noisy(0));
SELECT count(*) FROM t WHERE id < 3 AND id = (SELECT noisy(1));
SELECT count(*) FROM t WHERE id < 3 AND id = (SELECT noisy(0));
SELECT count(*) FROM t WHERE id < 3 AND NOT (id = ANY (ARRAY(SELECT noisy(1))));

-- from the next chunk on, the engine has the subquery's value
CREATE FOREIGN TABLE many (id int, k int) SERVER csv OPTIONS (filename 'regress_csv/many.csv');
SELECT string_agg(i || ',' || i % 3 || E'\n', '') AS lines FROM generate_series(1, 100000) i \gset
CALL write_file('many.csv', :'lines');
SELECT k, count(*), sum(id) FROM many WHERE id > 10 AND k >= (SELECT noisy(1)) GROUP BY k ORDER BY k;
SELECT count(*), sum(id) FROM many WHERE id > 10 AND (k IN (0, 2, (SELECT noisy(1)))) = (id > 50000);

-- a filter of a security barrier view stays in front of what leaks
CREATE FUNCTION leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$
BEGIN
  RAISE NOTICE 'sees %', $1;
  RETURN true;
END $$;
CREATE VIEW guarded WITH (security_barrier) AS SELECT * FROM t WHERE city <> 'Rom';
SELECT id FROM guarded WHERE leak(city) AND id < 3;

-- no pushdown where a column's every value is its input function's
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE FOREIGN TABLE d (id positive, city text) SERVER csv OPTIONS (filename 'regress_csv/d.csv');
CALL write_file('d.csv', E'1,Rom\n-1,Bonn\n3,Lyon\n');
SELECT explain('SELECT id FROM d WHERE city = ''Rom''');
SELECT id FROM d WHERE city = 'Rom';
SELECT explain('SELECT count(*) FROM d WHERE city = ''Rom''');
SELECT count(*) FROM d WHERE city = 'Rom';

-- partitions, each by itself or put together
CREATE TABLE parts (part int, city text, price numeric(10,2), weight float8) PARTITION BY LIST (part);
CREATE FOREIGN TABLE part1 PARTITION OF parts FOR VALUES IN (1) SERVER csv OPTIONS (filename 'regress_csv/part1.csv');
CREATE FOREIGN TABLE part2 PARTITION OF parts FOR VALUES IN (2) SERVER csv OPTIONS (filename 'regress_csv/part2.csv');
CALL write_query('part1.csv', $$SELECT string_agg(format(E'1,%s,%s,%s\n', (ARRAY['Rom', 'Bonn'])[1 + i % 2], i % 7, i % 5), '') FROM generate_series(1, 1000) i$$);
CALL write_query('part2.csv', $$SELECT string_agg(format(E'2,%s,%s,%s\n', (ARRAY['Rom', 'Lyon'])[1 + i % 2], CASE WHEN i = 500 THEN 'NaN' ELSE (i % 11)::text END, CASE WHEN i % 13 > 0 THEN i % 3 END), '') FROM generate_series(1, 1000) i$$);
ANALYZE parts;
SET enable_partitionwise_aggregate = on;
SELECT explain('SELECT part, sum(price) FROM parts WHERE weight > 1 GROUP BY part');
SELECT explain('SELECT avg(price), count(*) FROM parts WHERE weight > 1');
SELECT alike('SELECT part, sum(price), avg(weight), count(DISTINCT city) FROM parts WHERE weight > 1 GROUP BY part');
SELECT alike('SELECT city, count(*), count(weight), sum(price), avg(price), stddev(price), sum(part), avg(part), variance(part), min(price), max(price) FROM parts GROUP BY city');
SELECT alike('SELECT round(stddev(weight)::numeric, 12), round(var_pop(weight)::numeric, 12), avg(weight) FROM parts');
SELECT alike('SELECT avg(weight), round(stddev(weight)::numeric, 12), sum(weight) FROM parts');
SELECT alike('SELECT city, avg(weight), round(var_samp(weight)::numeric, 12) FROM parts GROUP BY city');
SELECT alike('SELECT part, round(stddev(weight)::numeric, 12), variance(weight) FILTER (WHERE price > 1000) FROM parts GROUP BY part');
SELECT alike('SELECT sum(weight), avg(weight), min(weight), max(weight), bool_or(weight > 3), bool_and(price < 11), avg(price) FROM parts WHERE price <> ''NaN''');
SELECT alike('SELECT sum(price), sum(part), avg(price), avg(part), avg(weight), max(city) FROM parts WHERE price > 1000 AND price <> ''NaN''');
RESET enable_partitionwise_aggregate;

-- more groups than there is memory for
CREATE FOREIGN TABLE crowd (a int, b int, c text) SERVER csv OPTIONS (filename 'regress_csv/crowd.csv');
CALL write_query('crowd.csv', $$SELECT string_agg(format(E'%s,%s,%s\n', i % 9973, CASE WHEN i % 1000 = 0 THEN ' 7' ELSE i::text END, md5(i::text)), '') FROM generate_series(1, 20000) i$$);
SET work_mem = '64kB';
SET csv_gpu_fdw.sampled_statistics = off;
SELECT alike('SELECT count(*), sum(a), sum(n), sum(s), min(m), max(m), min(x), round(max(y)::numeric, 6) FROM (SELECT a, count(*) n, sum(b) s, min(c COLLATE "C") m, avg(b) x, stddev(b::float8) y FROM crowd GROUP BY a) x');
SET csv_gpu_fdw.engine = cpu;
SELECT line ~ 'Batches: \d+' FROM explain('SELECT a, sum(b) FROM crowd GROUP BY a', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Batches';
SELECT alike('SELECT count(*), sum(a), sum(n), sum(s), min(m), max(m), sum(d) FROM (SELECT a, count(*) n, sum(b) s, min(c COLLATE "C") m, count(DISTINCT b) d FROM crowd GROUP BY a) x');
-- nor for values of which each is counted once, in few groups
SELECT line ~ 'Batches: \d+' FROM explain('SELECT count(DISTINCT c) FROM crowd', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Batches';
SELECT alike('SELECT count(DISTINCT c), count(DISTINCT b), count(DISTINCT a), count(DISTINCT c) FILTER (WHERE b > 100), sum(b) FROM crowd');
SELECT alike('SELECT a > 5000, count(DISTINCT c), count(DISTINCT b), count(*) FROM crowd GROUP BY 1');
SELECT alike('SELECT i, (SELECT count(DISTINCT c) FROM crowd WHERE a < i * 4000) FROM generate_series(1, 3) i');
SELECT alike('SELECT i, n FROM generate_series(1, 2) i, (SELECT count(DISTINCT c) AS n FROM crowd OFFSET 0) y');
RESET csv_gpu_fdw.engine;
RESET csv_gpu_fdw.sampled_statistics;
RESET work_mem;

-- a leakproof function may raise an ERROR, too, for want of a collation: no other
-- clause and no limit of the engine keeps rows from it
CALL write_file('collations.csv', E'a,b,1\n,b,2\n');
CREATE FOREIGN TABLE collations (a text COLLATE "C", b text COLLATE "POSIX", i int)
	SERVER csv OPTIONS (filename 'regress_csv/collations.csv');
SELECT * FROM collations WHERE a >= b AND i < 0;
\echo :SQLSTATE
SELECT count(*) FROM collations WHERE a = ANY (ARRAY[b]) AND i < 0;
\echo :SQLSTATE
SELECT * FROM collations WHERE greatest(a, b) IS NULL AND i < 0;
\echo :SQLSTATE
SELECT a >= b, i FROM collations ORDER BY i DESC LIMIT 1;
\echo :SQLSTATE

-- rows that the engine is not sure of, and that its filter drops, are accounted for
CALL write_file('odd.csv', E't,1\ntr,NaN\nf,2\nfa,-1\n');
CREATE FOREIGN TABLE odd (b bool, n numeric(8,2)) SERVER csv OPTIONS (filename 'regress_csv/odd.csv');
SELECT line FROM explain('SELECT * FROM odd WHERE b', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'rows=|Records|Removed';
SELECT line FROM explain('SELECT * FROM odd WHERE n < 0', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'rows=|Records|Removed';
SELECT line FROM explain('SELECT count(*) FROM odd WHERE n < 0 AND b', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Records|Removed';

-- and none at all where it is off
SET csv_gpu_fdw.enable_pushdown = off;
SELECT explain('SELECT count(*) FROM t WHERE id > 1');
RESET csv_gpu_fdw.enable_pushdown;

-- parts of dates and times, and integer division: exact, or left to the executor
CREATE FOREIGN TABLE moments (id int, d date, ts timestamp(3), tm time(2), small smallint, large bigint)
  SERVER csv OPTIONS (filename 'regress_csv/moments.csv', log_verbosity 'silent');
CALL write_query('moments.csv', $$
  SELECT string_agg(format(E'%s,%s,%s,%s,%s,%s\n', i, date '0001-01-01' + i * 5113, timestamp '1899-12-27 21:07:08.125' + i * interval '37:11:13.5',
    time '00:00' + i * interval '123.45 s', i % 7 - 3, 9007199254740993 * (i % 5 - 2)), '') || E'901,infinity,-infinity,24:00,-32768,-9223372036854775808\n'
    || E'902,0044-03-15 BC,4713-12-01 BC,4:05 PM,0,0\n903,294276-12-31,294276-12-31 23:59:59,23:59:59.99,1,1\n904,5874897-12-31,,,,\n905,,,00:00:00.01,,\n'
  FROM generate_series(0, 600) i$$);
SELECT count(*) FROM unnest('{year,quarter,month,week,day,dow,isodow,doy,isoyear,epoch}'::text[]) unit, unnest('{d,ts}'::text[]) moment,
  alike(format('SELECT id, extract(%s FROM %s), date_part(%1$L, ts) FROM moments GROUP BY 1, 2, 3', unit, moment));
SELECT count(*) FROM unnest('{hour,minute,second,epoch}'::text[]) unit, unnest('{tm,ts}'::text[]) moment,
  alike(format('SELECT id, extract(%s FROM %s), date_part(%1$L, tm) FROM moments GROUP BY 1, 2, 3', unit, moment));
SELECT count(*) FROM unnest('{YEAR,quarter,month,week,day,hour,minute,second}'::text[]) unit, unnest('{ts,d::timestamp}'::text[]) moment,
  alike(format('SELECT id, date_trunc(%L, %s) FROM moments WHERE d < ''4000-01-01'' GROUP BY 1, 2', unit, moment));
SELECT alike('SELECT count(*), min(tm), max(tm), max(ts::time), min(ts::date), sum(extract(second FROM tm)) FROM moments WHERE tm >= ''12:00'' AND ts::date < d');
SELECT alike('SELECT extract(year FROM ts) y, count(*), sum(extract(month FROM d)::int) FROM moments WHERE id < 900 GROUP BY 1 HAVING extract(year FROM ts) < 1901');
SELECT alike('SELECT id FROM moments WHERE id < 900 ORDER BY date_trunc(''month'', ts) DESC, tm LIMIT 3');
SELECT count(*) FROM unnest('{small / 2::smallint,small % 3,small / 2,large / 3,large % 1000,large / -7,large % -1,id / 10,100 % (id + 1)}'::text[]) value,
  alike(format('SELECT id, %s FROM moments WHERE id <= 902 GROUP BY 1, 2', value));
SELECT alike('SELECT count(*), sum(large / small) FROM moments WHERE small <> 0 AND large / small > 1');
SELECT count(large / small) FROM moments;
SELECT count(*) FROM moments WHERE large / -1 > 0;
SELECT count(*) FROM moments WHERE small / (-1)::smallint > 0;
SELECT explain('SELECT date_trunc(''month'', ts), count(*), max(tm) FROM moments WHERE extract(year FROM d) > 20 AND ts::date > d OR large / 2 % 3 < 2 GROUP BY 1');
SELECT explain('SELECT id, extract(second FROM tm), date_part(''hour'', ts), large / 2 FROM moments GROUP BY 1, 2, 3, 4');
-- the same names in other places, and units that nobody knows
CREATE FUNCTION date_trunc(text, date) RETURNS timestamp IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $2; END';
SELECT explain('SELECT count(*) FROM moments WHERE date_trunc(''month'', d) > ''2000-01-01'' AND extract(century FROM ts) > 20 AND date_trunc(ts::text, ts) > ts');
SELECT count(*) FROM moments WHERE date_trunc('dow', ts) > '2000-01-01';
SELECT count(*) FROM moments WHERE extract(hour FROM d) > 1;
DROP FUNCTION date_trunc(text, date);

\i :teardown
