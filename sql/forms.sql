--
-- Values in other forms: null_values, date_format, timestamp_format,
-- thousands_separator.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup
SET datestyle = 'ISO, MDY';
SET timezone = 'Europe/Berlin';

-- ---- null_values ----
CALL write_file('nulls.csv', E'1,NA,NA,x\n-999,-999,"NA",-999\n3,n/a,,"n/a"\n,2.5,-999,N\n');
CREATE FOREIGN TABLE nulls (a int, b numeric(8,2), c text, d text OPTIONS (null_values '{x}'))
	SERVER csv OPTIONS (filename 'regress_csv/nulls.csv', null_values '{NA,"n/a",-999}');
SELECT *, c IS NULL AS c_null, d IS NULL AS d_null FROM nulls;
SELECT count(*), count(a), count(b), count(c), count(d) FROM nulls;
SELECT c FROM nulls WHERE a IS NULL;
-- force_null is for these, too, and force_not_null against them
ALTER FOREIGN TABLE nulls ALTER c OPTIONS (force_null 'true'), ALTER d OPTIONS (SET null_values '{-999,N}', force_not_null 'true');
SELECT c, c IS NULL AS c_null, d, d IS NULL AS d_null FROM nulls;
-- none at all for a column
ALTER FOREIGN TABLE nulls ALTER c OPTIONS (DROP force_null, null_values '{}');
SELECT c FROM nulls;
ALTER FOREIGN TABLE nulls ALTER d OPTIONS (SET null_values 'x');
ALTER FOREIGN TABLE nulls ALTER d OPTIONS (SET null_values '{a,NULL}');
ALTER FOREIGN TABLE nulls OPTIONS (SET null_values '{"a,b"}');
ALTER FOREIGN TABLE nulls OPTIONS (SET null_values E'{"a\nb"}');
CALL write_file('words.csv', E'NULL\n\\N\nN\n');
CREATE FOREIGN TABLE words (a text) SERVER csv OPTIONS (filename 'regress_csv/words.csv', null_values '{"NULL","\\N"}');
SELECT a, a IS NULL AS a_null FROM words;

-- ---- dates and timestamps by a pattern ----
CALL write_file('dates.csv', E'31/12/2024,31.12.24 23:59,1735689599.25\n1/2/2024,1.2.99 7:05,0\n29/02/2023,x,1e9\n 05/06/2024 ,05.06.70 00:00 ,-1.5\n2024-01-02,01.01.2024 00:00,99999999999999\n01/02/2024x,01.02.24 00:00 y,1 2\n');
CREATE FOREIGN TABLE dates (d date, t timestamp, e timestamptz OPTIONS (timestamp_format 'epoch'))
	SERVER csv OPTIONS (filename 'regress_csv/dates.csv', date_format 'DD/MM/YYYY', timestamp_format 'DD.MM.YY HH24:MI', on_error 'skip');
SELECT d FROM dates;
SELECT t FROM dates;
SELECT e FROM dates;
SELECT count(*) FROM dates WHERE d >= '2024-06-05';
-- what the engine does not know is to_timestamp()'s: times without zone are not the session's
CALL write_file('more.csv', E'March 5 2024|2024-03-31 02:30:00|5:07 pm on 2/3/2024|2024-060|2024-01-02T03:04:05.678+02\nMay 31 2024|2024-03-31 02:30:00.5|12:00 AM on 12/31/2023|2023-365|2024-01-02T03:04:05.6-0530\n');
CREATE FOREIGN TABLE more (d date OPTIONS (date_format 'Month DD YYYY'),
	t timestamp OPTIONS (timestamp_format 'YYYY-MM-DD HH24:MI:SS.US'),
	u timestamp(0) OPTIONS (timestamp_format 'HH12:MI AM "on" MM/DD/YYYY'),
	y date OPTIONS (date_format 'YYYY-DDD'),
	z timestamptz(1) OPTIONS (timestamp_format 'YYYY-MM-DD"T"HH24:MI:SS.MSTZH'))
	SERVER csv OPTIONS (filename 'regress_csv/more.csv', delimiter '|');
SELECT d, t, u, y FROM more;
SELECT z FROM more;
ALTER FOREIGN TABLE more ALTER z OPTIONS (SET timestamp_format 'YYYY-MM-DD"T"HH24:MI:SS.MSTZHTZM');
SELECT z FROM more;
ALTER FOREIGN TABLE more ALTER t OPTIONS (ADD null_values '{}'), ALTER d OPTIONS (SET date_format 'YYYYMMDD');
CALL write_file('epochs.csv', E'1735689599250|-1|1735689599250000\n1735689599.5|0|20240229\n253402300800000|99|1\n');
CREATE FOREIGN TABLE epochs (a timestamp OPTIONS (timestamp_format 'epoch_ms'), b date OPTIONS (date_format 'epoch'),
	c timestamptz(0) OPTIONS (timestamp_format 'EPOCH_US'))
	SERVER csv OPTIONS (filename 'regress_csv/epochs.csv', delimiter '|');
SELECT * FROM epochs;
-- a column's type and its pattern have to go together
ALTER FOREIGN TABLE epochs ALTER b OPTIONS (timestamp_format 'epoch');
SELECT * FROM epochs;
ALTER FOREIGN TABLE epochs ALTER a OPTIONS (SET timestamp_format 'YYYY-MM-DDTHH24');
ALTER FOREIGN TABLE epochs ALTER a OPTIONS (SET timestamp_format 'HH24:MI');
ALTER FOREIGN TABLE epochs ALTER a OPTIONS (SET timestamp_format 'YYYY-MM-DD HH24:MM:SS');
ALTER FOREIGN TABLE epochs ALTER a OPTIONS (SET timestamp_format 'YYYY "x');
ALTER FOREIGN TABLE epochs ALTER a OPTIONS (SET timestamp_format 'FMYYYY');
ALTER FOREIGN TABLE epochs ALTER a OPTIONS (SET timestamp_format E'YYYY\\');

-- the minutes of an offset before its hours; epochs up to the end of time
CALL write_file('zones.csv', E'2024-01-01 30 +02,9224318015999\n');
CREATE FOREIGN TABLE zones (a timestamptz OPTIONS (timestamp_format 'YYYY-MM-DD TZM TZH'), b timestamp OPTIONS (timestamp_format 'epoch'))
	SERVER csv OPTIONS (filename 'regress_csv/zones.csv');
SELECT a = to_timestamp('2024-01-01 30 +02', 'YYYY-MM-DD TZM TZH') AS same, b FROM zones;
-- a value that is too long in the file's encoding
DO $$ BEGIN EXECUTE format('CREATE FOREIGN TABLE long_null (t text) SERVER csv OPTIONS (filename ''regress_csv/zones.csv'', encoding ''EUC_JP'', null_values %L)', ARRAY[repeat(U&'\00e9', 100), 'ok']); END $$;
SELECT * FROM long_null;

-- ---- thousands ----
CALL write_file('thousands.csv', E'"1,234,567";"1,234.50";"-1,234,567.25"\n1234567;1234.5;"1,234e3"\n"12,34";"1,23.0";1\n"1,234,";",123";2\n+999;"12,345.678";"1,234,567,890,123,456.789"\n');
CREATE FOREIGN TABLE thousands (a int, b numeric(12,2), c float8)
	SERVER csv OPTIONS (filename 'regress_csv/thousands.csv', delimiter ';', thousands_separator ',');
SELECT a FROM thousands;
SELECT b FROM thousands;
SELECT c FROM thousands;
SELECT sum(b), count(*) FROM thousands WHERE b > 1000;
CALL write_file('swiss.csv', E'1\u2019234.5;1.234,5\n1234;12\u202f345,25\n');
CREATE FOREIGN TABLE swiss (a numeric, b text) SERVER csv OPTIONS (filename 'regress_csv/swiss.csv', delimiter ';', thousands_separator E'\u2019');
SELECT a FROM swiss;
CREATE FOREIGN TABLE german (a text, b numeric) SERVER csv OPTIONS (filename 'regress_csv/swiss.csv', delimiter ';', thousands_separator '.', decimal_separator ',');
SELECT b FROM german;
ALTER FOREIGN TABLE german OPTIONS (SET thousands_separator ',');
ALTER FOREIGN TABLE german OPTIONS (SET thousands_separator '"');
ALTER FOREIGN TABLE german OPTIONS (SET thousands_separator '0');
ALTER FOREIGN TABLE german OPTIONS (SET thousands_separator '..');
-- the delimiter: quoted values can have it
ALTER FOREIGN TABLE thousands OPTIONS (SET delimiter ',');
CALL write_file('thousands.csv', E'"1,234","1,234.5",1\n1,234,3\n');
SELECT * FROM thousands;

-- ---- time zones and the order of dates ----
-- 600 records whose values have offsets or not, and days and months in any order: a table
-- with the options reads in any session the rows that another reads where the settings are so
COPY (
  SELECT i, w, CASE i % 7 WHEN 0 THEN iso || '+02' WHEN 1 THEN w || ' EST' ELSE w END, d, w,
      substr(iso, 12) || CASE WHEN i % 3 = 0 THEN '-05' ELSE '' END, '{"' || w || '",' || d || '}', '["' || d || '",]', w
    FROM (SELECT i, iso, CASE WHEN i % 5 < 2 THEN iso WHEN i % 5 = 2 THEN replace(d || substr(iso, 11), '/', '-') ELSE d || substr(iso, 11) END AS w, d
      FROM (SELECT i, to_char(timestamp '2024-01-01' + i * interval '17 h 13 min 7 s', 'YYYY-MM-DD HH24:MI:SS') AS iso,
          format('%s/%s/%s', 1 + i % 13, 1 + i % 27, CASE WHEN i % 2 = 0 THEN '2024' ELSE '11' END) AS d
        FROM generate_series(1, 600) i) a) b) TO PROGRAM 'cat >regress_csv/moments.csv' (FORMAT csv);
CREATE DOMAIN moment AS timestamptz;
CREATE FOREIGN TABLE plain (i int, t timestamp, tz timestamptz, d date, tz0 timestamptz(0), z timetz, a timestamptz[], r tstzrange, m moment)
	SERVER csv OPTIONS (filename 'regress_csv/moments.csv', log_verbosity 'silent', on_error 'set_null');
CREATE FOREIGN TABLE formed (i int, t timestamp, tz timestamptz, d date, tz0 timestamptz(0), z timetz, a timestamptz[], r tstzrange, m moment)
	SERVER csv OPTIONS (filename 'regress_csv/moments.csv', log_verbosity 'silent', on_error 'set_null', timezone 'UTC', date_order 'MDY');
CREATE FUNCTION differences(zone text, date_order text, OUT rows bigint, OUT filtered bigint, OUT groups bigint, OUT known bigint)
LANGUAGE plpgsql AS $$
DECLARE
  was text := current_setting('timezone') || ' ' || current_setting('datestyle');
BEGIN
  EXECUTE format('ALTER FOREIGN TABLE formed OPTIONS (SET timezone %L, SET date_order %L)', zone, date_order);
  CREATE TEMP TABLE seen AS SELECT * FROM formed;
  CREATE TEMP TABLE few AS SELECT i FROM formed WHERE tz < '2024-06-30 22:00Z' AND d > '2024-02-03' AND t >= '2023-01-01';
  CREATE TEMP TABLE grouped AS SELECT d, count(*), max(tz), min(tz0) FROM formed GROUP BY d;
  IF was <> current_setting('timezone') || ' ' || current_setting('datestyle') OR timetz '0:00' <> (timestamptz '2024-01-01 00:00')::timetz THEN
    RAISE 'the settings have changed';
  END IF;
  PERFORM set_config('timezone', zone, true), set_config('datestyle', 'ISO, ' || date_order, true);
  CREATE TEMP TABLE truth AS SELECT * FROM plain;
  rows := (SELECT count(*) FROM seen FULL JOIN truth USING (i) WHERE seen IS DISTINCT FROM truth);
  filtered := (SELECT count(*) FROM few FULL JOIN (SELECT i FROM truth WHERE tz < '2024-06-30 22:00Z' AND d > '2024-02-03' AND t >= '2023-01-01') t USING (i)
    WHERE few IS NULL OR t IS NULL);
  groups := (SELECT count(*) FROM (TABLE grouped EXCEPT SELECT d, count(*), max(tz), min(tz0) FROM truth GROUP BY d) x);
  known := (SELECT count(t) + count(tz) + count(d) + count(z) + count(a) + count(r) + count(m) FROM truth);
  DROP TABLE seen, few, grouped, truth;
  SET LOCAL timezone = 'Asia/Kolkata';
  SET LOCAL datestyle = 'ISO, MDY';
END $$;
SET timezone = 'Asia/Kolkata';
SELECT zone, o, (differences(zone, o)).* FROM unnest('{UTC,America/New_York,Australia/Lord_Howe,<-03:30>+03:30}'::text[]) zone, unnest('{DMY,MDY,YMD}'::text[]) o;
-- two values, as they are
CALL write_file('two.csv', E'2024-07-01 10:00,3/4/2024,1\n2024-07-01 10:00+02,13/4/2024,2\n2024-07-01 10:00,4/13/2024,3\n');
CREATE FOREIGN TABLE two (tz timestamptz, d date, i int) SERVER csv
	OPTIONS (filename 'regress_csv/two.csv', timezone 'america/new_york', date_order 'dmy');
SELECT * FROM two;
SELECT timestamptz '2024-07-01 10:00' AS session, date '3/4/2024' AS order;
-- patterns go first; a pattern without an offset is in the table's zone, and a timestamp with an offset is that zone's
ALTER FOREIGN TABLE two OPTIONS (ADD date_format 'MM/DD/YYYY', ADD timestamp_format 'YYYY-MM-DD HH24:MI', ADD log_verbosity 'silent');
SELECT * FROM two;
ALTER FOREIGN TABLE two ALTER tz TYPE timestamp;
ALTER FOREIGN TABLE two OPTIONS (SET timestamp_format 'YYYY-MM-DD HH24:MITZH');
SELECT tz, i FROM two WHERE i = 2;
-- keys of paths; parallel workers
COPY (SELECT 1 WHERE false) TO PROGRAM 'mkdir -p regress_csv/k/day=3-4-2024 && echo 1 >regress_csv/k/day=3-4-2024/a.csv';
CREATE FOREIGN TABLE key (i int, day date OPTIONS (virtual 'path:day')) SERVER csv OPTIONS (filename 'regress_csv/k/*/*.csv', date_order 'DMY');
SELECT * FROM key WHERE day < '2024-04-04';
SELECT * FROM key WHERE day < '2024-04-03';
SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET parallel_leader_participation = off;
SELECT (differences('Asia/Tokyo', 'DMY')).rows;
RESET min_parallel_table_scan_size; RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET parallel_leader_participation;
-- errors and loads
SELECT record, column_name, message FROM csv_gpu_errors('two') ORDER BY 1, 2;
ALTER FOREIGN TABLE two ALTER tz TYPE timestamptz;
ALTER FOREIGN TABLE two OPTIONS (DROP date_format, DROP timestamp_format);
CREATE TABLE loaded (LIKE two);
SELECT records_loaded, records_skipped FROM csv_gpu_load('two', 'loaded');
TABLE loaded;
-- rows are written so that the table reads them again; an hour that the zone has twice is refused
CREATE FOREIGN TABLE written (tz timestamptz, t timestamp OPTIONS (timestamp_format 'YYYY-MM-DD HH24:MI TZH:TZM'), d date) SERVER csv
	OPTIONS (filename 'regress_csv/written.csv', timezone 'America/New_York', date_order 'DMY', timestamp_format 'DD.MM.YYYY HH24:MI', writable 'true');
INSERT INTO written VALUES ('2024-07-01 10:00', '2024-07-01 10:00', '2024-04-03') RETURNING *;
COPY written FROM stdin (FORMAT csv);
2024-01-01 00:00Z,2024-01-01 00:00,2024-12-03
\.
INSERT INTO written VALUES ('2024-11-03 06:30Z', NULL, NULL);
INSERT INTO written VALUES ('2024-11-03 05:30Z', NULL, NULL);
TABLE written;
SELECT pg_read_file('regress_csv/written.csv');
SHOW timezone;
-- IMPORT: the session's zone for a column that may need it; the order of dates if servers share the files
CALL write_file('zoned.csv', E'id,at,day,time\n1,2024-07-01 10:00Z,2024-04-03,10:00\n2,2024-07-01 10:00+02,2024-04-05,11:00\n');
CALL write_file('unzoned.csv', E'id,at,day\n1,2024-07-01 10:00,2024-04-03\n2,2024-07-01 11:00,2024-04-05\n');
CALL write_file('ordered.csv', E'id,day\n1,03/04/2024\n2,05/06/2024\n');
CREATE FUNCTION imported(settings text DEFAULT '') RETURNS TABLE (name name, options text) LANGUAGE plpgsql AS $$
BEGIN
  CREATE SCHEMA i;
  EXECUTE format('IMPORT FOREIGN SCHEMA regress_csv LIMIT TO (zoned, unzoned, ordered) FROM SERVER csv INTO i OPTIONS (header ''true'' %s)', settings);
  RETURN QUERY SELECT relname, array_to_string(ARRAY(SELECT format('%s=%s', option_name, option_value) FROM pg_options_to_table(ftoptions)
      WHERE option_name ~ '^date|time'), ', ') FROM pg_foreign_table JOIN pg_class c ON c.oid = ftrelid WHERE relnamespace = 'i'::regnamespace ORDER BY 1;
  SET LOCAL client_min_messages = warning;
  DROP SCHEMA i CASCADE;
END $$;
SELECT * FROM imported();
SELECT * FROM imported($$, share '0', shares '1'$$);
SET datestyle = 'ISO, DMY'; SET timezone = -3.5;
SELECT * FROM imported($$, share '0', shares '1'$$);
SELECT * FROM imported($$, share '0', shares '1', timezone 'UTC', date_order 'MDY'$$);
SELECT * FROM imported($$, all_text 'true', share '0', shares '1'$$);
-- functions that a type calls: checks of a domain see the session's settings; what such a function
-- sets ends with it
SET timezone = 'America/Los_Angeles';
CREATE FUNCTION sets(timestamptz) RETURNS boolean LANGUAGE plpgsql SET timezone = 'UTC'
  AS $$BEGIN RETURN $1 > '2024-01-01'; END$$;
CREATE DOMAIN late AS timestamptz(0) NOT NULL CHECK (sets(value));
CREATE DOMAIN seen AS late CHECK (current_setting('timezone') = 'America/Los_Angeles');
CALL write_file('seen.csv', E'2024-07-01 10:00:00.6,"{2024-07-01 10:00,2024-07-01 11:00}"\n2023-07-01 10:00,{}\n,{}\nx,{}\n');
CREATE FOREIGN TABLE of_domain (at seen, many late[]) SERVER csv OPTIONS (filename 'regress_csv/seen.csv', timezone 'Asia/Tokyo');
SELECT at AT TIME ZONE 'Asia/Tokyo' AS at, many[1] AT TIME ZONE 'Asia/Tokyo' AS first, many[2] AT TIME ZONE 'Asia/Tokyo' AS second FROM of_domain;
-- what is wrong
ALTER FOREIGN TABLE two OPTIONS (SET timezone 'Nowhere');
ALTER FOREIGN TABLE two OPTIONS (SET timezone '');
ALTER FOREIGN TABLE two OPTIONS (SET timezone '+02:00');
ALTER FOREIGN TABLE two OPTIONS (SET date_order 'DYM');
ALTER FOREIGN TABLE two ALTER d OPTIONS (date_order 'DMY');
ALTER SERVER csv OPTIONS (ADD timezone 'UTC');
RESET timezone; RESET datestyle;

\i :teardown
