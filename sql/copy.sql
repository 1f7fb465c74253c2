--
-- csv_gpu_fdw.copy: COPY FROM through the engines.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup
LOAD 'csv_gpu_fdw';

CALL write_file('t.csv', E'1,"a,b",2024-01-01\n2,,\n3,"say ""x""",2024-02-29\n');
CALL write_file('bad.csv', E'1,a,2024-01-01\n2,b,2024-02-30\n');
CALL write_file('twice.csv', E'1,a,2024-01-01\n2,b,\n1,c,\n');
CALL write_file('header.csv', E'k;b\n1;''x''\n');
CALL write_file('odd.csv', E'1,a,\r\n2,b,\n');
CALL write_file('end.csv', E'1,a,\n\\.\n2,b,\n');
CALL write_file('keys.csv', E'1\n');
CALL write_file('parts.csv', E'1,"{""(a,\\""{[1,2)}\\"",)""}",\n');
CALL write_file('mark.csv', E'\uFEFF1,a,\n');
CALL write_file('names.csv', E'k,"b","d, or ""l"""\n1,a,\n2,b,\n');
CALL write_file('empty.csv', '');
SHOW csv_gpu_fdw.copy;
SET csv_gpu_fdw.copy = force;

CREATE TABLE t (k int PRIMARY KEY, b text NOT NULL DEFAULT 'none', d date, l int GENERATED ALWAYS AS (length(b)) STORED);
\set QUIET off
COPY t FROM 'regress_csv/t.csv' (FORMAT csv, FORCE_NOT_NULL (b));
COPY t (b, k) FROM 'regress_csv/header.csv' (FORMAT csv, HEADER, DELIMITER ';', QUOTE '''');
COPY t (k, b) FROM 'regress_csv/header.csv' (FORMAT csv, HEADER on, DELIMITER ';', QUOTE '''');
\set QUIET on
SELECT * FROM t ORDER BY k;
TRUNCATE t;
COPY t (k, b) FROM 'regress_csv/header.csv' (FORMAT csv, HEADER on, DELIMITER ';', QUOTE '''');
-- WHERE, of columns that are given and others; sequences go on for rows that it leaves out
CREATE TABLE filtered (id serial, k int, b text DEFAULT 'none', d date);
\set QUIET off
COPY filtered (k, b, d) FROM 'regress_csv/t.csv' (FORMAT csv) WHERE k > 1;
COPY filtered (k) FROM 'regress_csv/keys.csv' (FORMAT csv) WHERE b = 'none' AND d IS NULL AND id > 0;
COPY filtered (k) FROM 'regress_csv/keys.csv' (FORMAT csv) WHERE false;
\set QUIET on
SELECT * FROM filtered;
DROP TABLE filtered;
-- text is the default format
CALL write_file('t.txt', E'1\tsay \\"x\\"\\tand \\\\N\n2\t\\N\n3\t\n\\.\n');
CREATE TABLE text_target (k int, b text);
\set QUIET off
COPY text_target FROM 'regress_csv/t.txt';
COPY text_target (b) FROM 'regress_csv/t.csv' (DELIMITER ';', NULL '2,,');
\set QUIET on
SELECT k, b, b IS NULL AS b_null FROM text_target ORDER BY k, b;
-- errors are COPY's (028_copy compares texts), and nothing stays
\set VERBOSITY sqlstate
COPY t FROM 'regress_csv/bad.csv' (FORMAT csv);
COPY t FROM 'regress_csv/twice.csv' (FORMAT csv);
COPY t FROM 'regress_csv/t.csv' (FORMAT csv);
COPY t FROM 'regress_csv/none.csv' (FORMAT csv);
COPY nowhere FROM 'regress_csv/t.csv' (FORMAT csv);
COPY t FROM 'regress_csv/t.csv' (FORMAT csv, DELIMITER 'ab');
COPY t (k, nothing) FROM 'regress_csv/t.csv' (FORMAT csv);
COPY t (k, l) FROM 'regress_csv/t.csv' (FORMAT csv);
COPY t (k, k) FROM 'regress_csv/t.csv' (FORMAT csv);
COPY t (k, b) FROM 'regress_csv/t.csv' (FORMAT csv, FORCE_NULL (d));
COPY t (k, b) FROM 'regress_csv/t.csv' (FORMAT csv, FORCE_NULL (b, b));
-- no program is started for options that are wrong
COPY t (k) FROM PROGRAM 'echo 1 | tee regress_csv/started.csv' (FORMAT csv, FORCE_NULL (b));
-- 19 does not have this encoding any more
DO $$BEGIN
  COPY t (k) FROM PROGRAM 'echo 1 | tee regress_csv/started.csv' (FORMAT csv, ENCODING 'MULE_INTERNAL');
  RAISE 'it was taken';
EXCEPTION WHEN undefined_function OR invalid_parameter_value THEN
END$$;
COPY t (k) FROM 'regress_csv/started.csv' (FORMAT csv);
\set VERBOSITY default
SELECT * FROM t ORDER BY k;

-- a header that is to match
CREATE TABLE named (k int, b text, gone text, "d, or ""l""" date);
ALTER TABLE named DROP gone;
COPY named FROM 'regress_csv/names.csv' (FORMAT csv, HEADER match);
COPY named FROM PROGRAM 'cat regress_csv/names.csv' (FORMAT csv, HEADER match);
COPY named (b, k) FROM STDIN (FORMAT csv, HEADER match);
b,k
c,3
\.
SELECT * FROM named;
COPY named (k, "d, or ""l""", b) FROM 'regress_csv/names.csv' (FORMAT csv, HEADER match);
COPY named (k, b) FROM 'regress_csv/names.csv' (FORMAT csv, HEADER match);
COPY named FROM 'regress_csv/names.csv' (FORMAT csv, HEADER match, NULL 'k');
COPY named (k) FROM 'regress_csv/empty.csv' (FORMAT csv, HEADER match);
COPY named (k, b) FROM STDIN (FORMAT csv, HEADER match);
\.
COPY named (k) FROM 'regress_csv/empty.csv' (FORMAT csv, HEADER);
SELECT count(*) FROM named;

-- in a transaction, with a savepoint, in a function
BEGIN;
TRUNCATE t;
COPY t FROM 'regress_csv/t.csv' (FORMAT csv, FORCE_NOT_NULL (b));
SAVEPOINT s;
COPY t FROM 'regress_csv/t.csv' (FORMAT csv, FORCE_NOT_NULL (b));
ROLLBACK TO s;
SELECT count(*) FROM t;
ROLLBACK;
SELECT count(*) FROM t;
DO $$
DECLARE
  n bigint;
BEGIN
  DELETE FROM t;
  COPY t FROM 'regress_csv/t.csv' (FORMAT csv, FORCE_NOT_NULL (b));
  GET DIAGNOSTICS n = ROW_COUNT;
  RAISE INFO '% rows', n;
END $$;
BEGIN READ ONLY;
COPY t FROM 'regress_csv/t.csv' (FORMAT csv);
ROLLBACK;

-- data that come once
\set QUIET off
BEGIN;
TRUNCATE t;
COPY t FROM PROGRAM 'cat regress_csv/t.csv' (FORMAT csv, FORCE_NOT_NULL (b));
COPY t (k, b) FROM STDIN (FORMAT csv, HEADER);
k,b
7,"x
y"
\.
COPY t (k) FROM STDIN (FORMAT csv);
\.
\set QUIET on
SELECT * FROM t ORDER BY k;
SAVEPOINT s;
COPY t FROM PROGRAM 'cat regress_csv/t.csv; exit 3' (FORMAT csv);
ROLLBACK TO s;
COPY t (k) FROM PROGRAM 'echo 8; exit 3' (FORMAT csv);
ROLLBACK TO s;
COPY t (k) FROM PROGRAM 'yes x' (FORMAT csv);
ROLLBACK TO s;
-- psql's releases differ in how they read a \. in quotes
\copy t (k, b) FROM PROGRAM 'printf ''8,"x"\n9,"x\n''' (FORMAT csv)
ROLLBACK;
DO $$ BEGIN COPY t (k) FROM PROGRAM 'echo 9' (FORMAT csv); DELETE FROM t WHERE k = 9; END $$;

-- sequences, foreign keys, and partitions
CREATE TABLE serial_key (id serial PRIMARY KEY, k int, b text, d date);
CREATE TABLE identity_key (id int GENERATED BY DEFAULT AS IDENTITY, k int);
CREATE TABLE referencing (k int REFERENCES serial_key);
COPY serial_key (k, b, d) FROM 'regress_csv/t.csv' (FORMAT csv);
COPY identity_key (k) FROM 'regress_csv/keys.csv' (FORMAT csv);
SELECT * FROM serial_key;
SELECT * FROM identity_key;
COPY referencing FROM 'regress_csv/keys.csv' (FORMAT csv);
COPY referencing FROM PROGRAM 'echo 3; echo 4' (FORMAT csv);
SELECT * FROM referencing;
CREATE TABLE p (k int, b text, d date) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE p2 PARTITION OF p DEFAULT PARTITION BY RANGE (k);
CREATE TABLE p3 PARTITION OF p2 FOR VALUES FROM (2) TO (4);
COPY p FROM 'regress_csv/t.csv' (FORMAT csv);
COPY p FROM PROGRAM 'cat regress_csv/t.csv; echo 4,,' (FORMAT csv);
SELECT tableoid::regclass, * FROM p ORDER BY k;

-- what is left to COPY
CREATE VIEW v AS SELECT k, b, d FROM t;
CREATE TABLE plain (k int, b text, d date);
CREATE TABLE random_key (id float8 DEFAULT random(), k int, b text, d date);
CREATE TABLE checked (k int CHECK (k > random()), b text, d date);
CREATE DOMAIN odd AS int CHECK (VALUE > random() - 2);
CREATE TABLE with_domain (k odd, b text, d date);
CREATE DOMAIN odd_text AS text CHECK (length(VALUE) + random() >= 0);
CREATE TYPE inner_pair AS (a int, b odd);
CREATE TYPE pair AS (c text, d inner_pair[]);
CREATE DOMAIN pairs AS pair[];
CREATE TYPE odd_range AS RANGE (SUBTYPE = odd, SUBTYPE_OPCLASS = int4_ops, MULTIRANGE_TYPE_NAME = odd_multirange);
CREATE TYPE calm_pair AS (c text, d int4multirange, e point);
CREATE DOMAIN calm AS calm_pair[] CHECK (cardinality(VALUE) < 3);
CREATE TABLE with_array (k int, b odd_text[], d date);
CREATE TABLE with_composite (k int, b inner_pair, d date);
CREATE TABLE with_domain_over (k int, b pairs, d date);
CREATE TABLE with_range (k int, b odd_range, d date);
CREATE TABLE with_multirange (k int, b odd_multirange, d date);
CREATE TABLE with_calm (k int, b calm, d date);
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE INFO 'row %', NEW.k; RETURN NEW; END $$;
CREATE TABLE triggered (k int, b text, d date);
CREATE TRIGGER tell BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER tell BEFORE INSERT ON p1 FOR EACH ROW EXECUTE FUNCTION tell();
COPY p FROM 'regress_csv/t.csv' (FORMAT csv);
COPY v FROM 'regress_csv/t.csv' (FORMAT csv);
COPY plain FROM 'regress_csv/t.csv' (FORMAT csv) WHERE k > random();
-- 19 refuses this clause itself
DO $$BEGIN
  COPY plain FROM 'regress_csv/t.csv' (FORMAT csv) WHERE tableoid > 0;
  RAISE 'it was taken';
EXCEPTION WHEN feature_not_supported OR invalid_column_reference THEN
END$$;
COPY t (k, b, d) FROM 'regress_csv/t.csv' (FORMAT csv) WHERE l IS NULL;
COPY with_domain FROM 'regress_csv/t.csv' (FORMAT csv) WHERE k > 0;
COPY plain FROM 'regress_csv/t.csv' (FORMAT csv) WHERE k::odd > 0;
COPY plain FROM 'regress_csv/t.csv' (FORMAT csv, HEADER match);
COPY plain FROM 'regress_csv/t.csv' (FORMAT csv, FREEZE off);
COPY plain FROM 'regress_csv/odd.csv' (FORMAT csv);
COPY plain FROM 'regress_csv/mark.csv' (FORMAT csv);
COPY plain FROM 'regress_csv/*.csv' (FORMAT csv);
COPY random_key (k, b, d) FROM 'regress_csv/t.csv' (FORMAT csv);
COPY checked FROM 'regress_csv/t.csv' (FORMAT csv);
COPY with_domain FROM 'regress_csv/t.csv' (FORMAT csv);
COPY with_array (k) FROM 'regress_csv/keys.csv' (FORMAT csv);
COPY with_composite (k) FROM 'regress_csv/keys.csv' (FORMAT csv);
COPY with_domain_over (k) FROM 'regress_csv/keys.csv' (FORMAT csv);
COPY with_range (k) FROM 'regress_csv/keys.csv' (FORMAT csv);
COPY with_multirange (k) FROM 'regress_csv/keys.csv' (FORMAT csv);
COPY with_calm FROM 'regress_csv/parts.csv' (FORMAT csv);
SELECT * FROM with_calm;
COPY triggered FROM 'regress_csv/t.csv' (FORMAT csv);
SELECT count(*) FROM plain;
-- messages of functions come once, with COPY's context, whether or not it fails
CREATE FUNCTION check_and_tell(k int, level text) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$
	BEGIN
		IF level = 'info' THEN RAISE INFO 'k is %', k; ELSIF level = 'notice' THEN RAISE NOTICE 'k is %', k; ELSE RAISE WARNING 'k is %', k; END IF;
		RETURN k < 3;
	END $$;
CREATE TABLE telling (k int CHECK (check_and_tell(k, 'notice') IS NOT NULL), b text, d date);
CREATE TABLE failing (k int CHECK (check_and_tell(k, 'warning')), b text, d date);
CREATE TABLE indexed (k int, b text, d date);
CREATE INDEX ON indexed (check_and_tell(k, 'info'));
\set SHOW_CONTEXT always
COPY telling FROM 'regress_csv/t.csv' (FORMAT csv);
COPY failing FROM 'regress_csv/t.csv' (FORMAT csv);
COPY indexed FROM 'regress_csv/t.csv' (FORMAT csv);
\set SHOW_CONTEXT errors
SELECT (SELECT count(*) FROM telling) AS telling, (SELECT count(*) FROM failing) AS failing, (SELECT count(*) FROM indexed) AS indexed;
-- those that nobody would see are no reason
SET client_min_messages = warning;
COPY telling FROM 'regress_csv/t.csv' (FORMAT csv);
RESET client_min_messages;
-- functions that change settings, and that raise what ends the statement
CREATE FUNCTION set_and_tell(k int) RETURNS bool IMMUTABLE LANGUAGE plpgsql SET log_min_messages = error SET client_min_messages = info
	AS $$ BEGIN RAISE INFO 'k is %', k; IF k = 2 THEN RAISE EXCEPTION 'refused' USING ERRCODE = '40001'; END IF; RETURN true; END $$;
COPY plain FROM 'regress_csv/t.csv' (FORMAT csv) WHERE set_and_tell(k);
SHOW log_min_messages;
SHOW client_min_messages;
CREATE FUNCTION tell_early(k int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'early'; RETURN k; END $$;
COPY plain FROM 'regress_csv/t.csv' (FORMAT csv) WHERE k > tell_early(2) AND b IS NOT NULL;
COPY plain FROM 'regress_csv/t.csv' (FORMAT csv) WHERE k > tell_early(2) AND nothing;
-- WHERE needs the privilege to see what it names
CREATE ROLE regress_csv_copy_where;
GRANT INSERT ON plain TO regress_csv_copy_where;
GRANT pg_read_server_files TO regress_csv_copy_where;
GRANT USAGE ON SCHEMA csv_test TO regress_csv_copy_where;
GRANT SELECT (k) ON plain TO regress_csv_copy_where;
SET ROLE regress_csv_copy_where;
COPY plain FROM 'regress_csv/t.csv' (FORMAT csv) WHERE b IS NULL;
BEGIN;
COPY plain FROM 'regress_csv/t.csv' (FORMAT csv) WHERE k > 1;
ROLLBACK;
RESET ROLE;
DROP OWNED BY regress_csv_copy_where;
DROP ROLE regress_csv_copy_where;
-- in silence, unless it is forced; and so are short files
SET csv_gpu_fdw.copy = on;
COPY triggered FROM 'regress_csv/t.csv' (FORMAT csv);
COPY plain FROM 'regress_csv/t.csv' (FORMAT csv);
SELECT count(*) FROM plain;
-- CR CR LF is an error of COPY's, and a Ctrl-Z at the end a row
CALL write_file('crs.csv', E'1,x,\r\r\n2,y,\r\r\n');
COPY plain FROM 'regress_csv/crs.csv' (FORMAT csv);
CALL write_file('ctrl_z.csv', E'1,x,\n\x1A\n');
COPY plain FROM 'regress_csv/ctrl_z.csv' (FORMAT csv);
SET csv_gpu_fdw.copy = force;
COPY plain FROM 'regress_csv/crs.csv' (FORMAT csv);
COPY plain FROM 'regress_csv/ctrl_z.csv' (FORMAT csv);
COPY plain FROM PROGRAM 'cat regress_csv/ctrl_z.csv' (FORMAT csv);
CALL write_file('ctrl_z.csv', E'1,x,\n\x1A' || repeat(E'\n', 17));
COPY plain FROM 'regress_csv/ctrl_z.csv' (FORMAT csv);
SET csv_gpu_fdw.copy = on;
-- a long one is taken: by a subtransaction, whose number the rows have
CALL write_query('long.csv', $$ SELECT string_agg(i || ',number ' || i || ',', E'\n') FROM generate_series(1, 20000) i $$);
BEGIN;
TRUNCATE plain;
COPY plain FROM 'regress_csv/long.csv' (FORMAT csv);
SELECT count(*), sum(k), min(xmin::text) <> pg_current_xact_id()::text AS was_taken FROM plain;
COMMIT;

-- rights
\set VERBOSITY sqlstate
SET csv_gpu_fdw.copy = force;
CREATE ROLE regress_csv_copy;
GRANT USAGE, CREATE ON SCHEMA csv_test TO regress_csv_copy;
SET ROLE regress_csv_copy;
-- whoever has not loaded the library may
LOAD '$libdir/plugins/csv_gpu_fdw';
CREATE TABLE own (k int, b text, d date);
COPY own FROM 'regress_csv/t.csv' (FORMAT csv);
COPY own FROM PROGRAM 'cat regress_csv/t.csv' (FORMAT csv);
COPY own (k) FROM STDIN (FORMAT csv);
1
\.
-- and in whether they read data after a refused COPY FROM STDIN
\copy plain (k) FROM /dev/null (FORMAT csv)
SELECT count(*) FROM own;
RESET ROLE;
GRANT pg_read_server_files TO regress_csv_copy;
GRANT INSERT (k, b) ON plain TO regress_csv_copy;
SET ROLE regress_csv_copy;
COPY own FROM 'regress_csv/t.csv' (FORMAT csv);
COPY plain FROM 'regress_csv/t.csv' (FORMAT csv);
COPY plain (k, b) FROM 'regress_csv/header.csv' (FORMAT csv, HEADER, DELIMITER ';', QUOTE '''');
RESET ROLE;
ALTER TABLE plain ENABLE ROW LEVEL SECURITY;
GRANT INSERT ON plain TO regress_csv_copy;
SET ROLE regress_csv_copy;
COPY plain FROM 'regress_csv/t.csv' (FORMAT csv);
RESET ROLE;
RESET csv_gpu_fdw.copy;
DROP OWNED BY regress_csv_copy;
DROP ROLE regress_csv_copy;

\i :teardown
