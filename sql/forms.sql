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

\i :teardown
