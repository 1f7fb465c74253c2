--
-- NULL: null, force_null and force_not_null, and default.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (a text, b text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
-- the empty string, where it is not quoted
CALL write_file('t.csv', E',""\n"",\n , \nNULL,"NULL"\n\\N,"\\N"\n');
SELECT *, a IS NULL AS anull, b IS NULL AS bnull FROM t;
-- another
ALTER FOREIGN TABLE t OPTIONS (ADD "null" 'NULL');
SELECT *, a IS NULL AS anull, b IS NULL AS bnull FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET "null" '\N');
SELECT *, a IS NULL AS anull, b IS NULL AS bnull FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET "null" ' ');
SELECT *, a IS NULL AS anull, b IS NULL AS bnull FROM t;
-- all of it, and as it stands
ALTER FOREIGN TABLE t OPTIONS (SET "null" 'nul');
CALL write_file('t.csv', E'nul,null\nNUL, nul\nnul ,nu\n');
SELECT *, a IS NULL AS anull, b IS NULL AS bnull FROM t;
-- longer than a word, and beyond ASCII
ALTER FOREIGN TABLE t OPTIONS (SET "null" 'nothing to be found here');
CALL write_file('t.csv', E'nothing to be found here,nothing to be found her\n"nothing to be found here",nothing to be found here!\n');
SELECT *, a IS NULL AS anull FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET "null" 'für nichts');
CALL write_file('t.csv', E'für nichts,"für nichts"\n');
SELECT *, a IS NULL AS anull FROM t;
ALTER FOREIGN TABLE t OPTIONS (ADD encoding 'LATIN1');
CALL write_file('t.csv', convert_to(E'für nichts,für etwas\n', 'LATIN1'));
SELECT *, a IS NULL AS anull FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP encoding);
-- the quote character may be in it where quoting is off
ALTER FOREIGN TABLE t OPTIONS (SET "null" '""', ADD quote '');
CALL write_file('t.csv', E'"",\n"x","\n');
SELECT *, a IS NULL AS anull, b IS NULL AS bnull FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET "null" 'NULL', DROP quote);

-- force_null: a quoted one is NULL as well; force_not_null: an unquoted one is not
CREATE FOREIGN TABLE forced (a text, n text OPTIONS (force_null 'true'), nn text OPTIONS (force_not_null 'true'),
                             both_ text OPTIONS (force_null 'true', force_not_null 'true'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', "null" 'NULL');
CALL write_file('t.csv', E'NULL,NULL,NULL,NULL\n"NULL","NULL","NULL","NULL"\n,,,\n');
SELECT a IS NULL AS a, n IS NULL AS n, nn IS NULL AS nn, both_ IS NULL AS both_, nn AS nn_value, both_ AS both_value FROM forced;
-- as COPY has it
CREATE TABLE copied (a text, n text, nn text, both_ text);
COPY copied FROM 'regress_csv/t.csv' (FORMAT csv, NULL 'NULL', FORCE_NULL (n, both_), FORCE_NOT_NULL (nn, both_));
SELECT a IS NULL AS a, n IS NULL AS n, nn IS NULL AS nn, both_ IS NULL AS both_ FROM copied;
ALTER FOREIGN TABLE forced OPTIONS (DROP "null");
CALL write_file('t.csv', E',,,\n"","","",""\n');
SELECT a IS NULL AS a, n IS NULL AS n, nn IS NULL AS nn, both_ IS NULL AS both_ FROM forced;
-- "false" is the default
ALTER FOREIGN TABLE forced ALTER n OPTIONS (SET force_null 'false');
SELECT n IS NULL AS n FROM forced;

-- of other types
CREATE FOREIGN TABLE typed (i int OPTIONS (force_null 'true'), f float8, b bool, d date, n numeric, u uuid, j jsonb, arr int[])
  SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E',,,,,,,\n"",1,t,2024-01-01,1,12345678-1234-5678-1234-567812345678,1,{}\n1,,f,,2,,,"{1,2}"\n');
SELECT * FROM typed;
SELECT count(i), count(f), count(b), count(d), count(n), count(u), count(j), count(arr) FROM typed;
-- a quoted empty string is none of them
CALL write_file('t.csv', E',"",,,,,,\n,,,"",,,,\n');
SELECT * FROM typed;
-- an empty string that is not NULL is no number
ALTER FOREIGN TABLE typed ALTER f OPTIONS (ADD force_not_null 'true');
CALL write_file('t.csv', E',,,,,,,\n,NaN,,,,,,\n');
SELECT i, f FROM typed;

-- default: from 16 on
CREATE FUNCTION try_default() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  IF current_setting('server_version_num')::int < 160000 THEN
    BEGIN
      ALTER FOREIGN TABLE t OPTIONS (ADD "default" '\D');
    EXCEPTION WHEN fdw_invalid_option_name THEN
      RETURN 'as expected';
    END;
    RETURN 'not refused';
  END IF;
  CREATE FOREIGN TABLE defaulted (a text DEFAULT 'none', b int DEFAULT 6 * 7, c date)
    SERVER csv OPTIONS (filename 'regress_csv/t.csv', "default" '\D', log_verbosity 'silent');
  CALL write_file('t.csv', E'\\D,\\D,\n"\\D",1,2024-01-01\nx\\D,\\D,\n\\D,\\D,\\D\n');
  SELECT string_agg(d::text, ' ') INTO result FROM defaulted d;
  SELECT result || ' ' || string_agg(message, ' ') INTO result FROM csv_gpu_errors('defaulted');
  RETURN CASE WHEN result = '(none,42,) ("\\D",1,2024-01-01) ("x\\D",42,) column "c": unexpected default marker, for there is no default' THEN 'as expected' ELSE result END;
END $$;
SELECT try_default();

\i :teardown
