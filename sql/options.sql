--
-- Options: what is refused when they are set, and when a table is planned.
-- No file is read here.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

--
-- where an option may stand
--
ALTER FOREIGN DATA WRAPPER csv_gpu_fdw OPTIONS (ADD engine 'cpu');
CREATE SERVER csv_bad FOREIGN DATA WRAPPER csv_gpu_fdw OPTIONS (engines 'cpu');
CREATE SERVER csv_bad FOREIGN DATA WRAPPER csv_gpu_fdw OPTIONS (filename '/nowhere.csv');
CREATE SERVER csv_bad FOREIGN DATA WRAPPER csv_gpu_fdw OPTIONS (delimiter ';');
CREATE USER MAPPING FOR CURRENT_USER SERVER csv OPTIONS (engine 'cpu');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', delimeter ';');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', "Header" 'true');
CREATE FOREIGN TABLE bad (a int OPTIONS (max_char '3')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a int OPTIONS (columns '3')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a int OPTIONS (wide 'yes')) SERVER csv OPTIONS (filename '/nowhere.csv');
-- as other readers call them
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', new_line 'crlf');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', sep ';');
CREATE FOREIGN TABLE bad (a int OPTIONS (dateformat 'x')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a int OPTIONS (skip '1')) SERVER csv OPTIONS (filename '/nowhere.csv');
IMPORT FOREIGN SCHEMA "/nowhere" FROM SERVER csv INTO public OPTIONS (sample_size '10');

-- "default" came to COPY and file_fdw with 16
DO $$
DECLARE
  have_default bool := current_setting('server_version_num')::int >= 160000;
  option text;
  expected text;
  got text;
BEGIN
  FOR option, expected IN VALUES
    ('\D', 'fine'),
    ('x,y', 'delimiter character must not appear in the DEFAULT specification'),
    ('"', 'quote character must not appear in the DEFAULT specification'),
    (E'\n', 'default representation cannot use newline or carriage return'),
    ('', 'NULL specification and DEFAULT specification cannot be the same')
  LOOP
    got := 'fine';
    BEGIN
      EXECUTE format('CREATE FOREIGN TABLE with_default (a int) SERVER csv
        OPTIONS (filename %L, "default" %L)', '/nowhere.csv', option);
      DROP FOREIGN TABLE with_default;
    EXCEPTION WHEN OTHERS THEN
      got := SQLERRM;
    END;
    IF NOT have_default THEN
      expected := 'invalid option "default"';
    END IF;
    IF got <> expected THEN
      RAISE WARNING 'default %: %', option, got;
    END IF;
  END LOOP;
END
$$;

--
-- the source
--
CREATE FOREIGN TABLE bad (a int) SERVER csv;
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (header 'true');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', program 'true');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', format 'binary');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', format 'parquet');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', encoding 'klingon');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', encoding 'utf-32');

--
-- the dialect
--
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', delimiter '\t');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', delimiter ';;;;;;;;;');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', delimiter '');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', delimiter E'\n');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', delimiter '"');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', quote ',');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', quote '""');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', quote E'\r');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', escape '');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', escape '\\');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', escape E'\n');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', quote '', escape '\');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', quoting 'excel');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', multiline 'maybe');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', record_boundary 'lfcr');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', "null" E'a\nb');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', "null" E'\r');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', "null" 'a,b');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', "null" '"NULL"');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', decimal_separator ';');

--
-- the header and the count of fields
--
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', header 'perhaps');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', header '2');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', header_rows '-1');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', header_rows 'two');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', header 'true', header_rows '0');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', header 'match', header_rows '0');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', columns '0');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', columns '100001');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', columns '1.5');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', columns '');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', ragged 'cut');

--
-- errors and limits
--
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', on_error 'panic');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', reject_limit '0');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', reject_limit '-5');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', reject_limit '1.5');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', reject_limit '0%');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', reject_limit '100.5%');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', reject_limit '%');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', reject_limit '1.2.3%');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', reject_limit '5% ');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', on_error 'stop', reject_limit '5');
CREATE SERVER csv_bad FOREIGN DATA WRAPPER csv_gpu_fdw OPTIONS (reject_limit 'some');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', log_verbosity 'loud');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', notice_limit '-1');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', notice_limit '99999999999999999999');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', engine 'gpu');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', chunk_size '0');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', chunk_size '2GB');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', chunk_size '64 Mio');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', parallel_workers '-1');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', parallel_workers '1025');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', growing_rest '-1');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', growing_rest '2147483648');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', max_record_size '1GB');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', max_record_size '-1');
CREATE FOREIGN TABLE bad (a int) SERVER csv OPTIONS (filename '/nowhere.csv', max_record_size 'big');

--
-- columns
--
CREATE FOREIGN TABLE bad (a int OPTIONS ("column" '-1')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a int OPTIONS ("column" '100000')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a int OPTIONS ("column" '0', header_name 'a')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a int OPTIONS (virtual 'size')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a int OPTIONS (virtual 'line', "column" '0')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a int OPTIONS (header_name 'a', virtual 'line')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a text OPTIONS (virtual 'filename', byte_width '80')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a text OPTIONS (virtual 'filename', max_chars '80')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a text OPTIONS (virtual 'filename', force_null 'true')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a text OPTIONS (virtual 'filename', force_not_null 'false')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a text OPTIONS (byte_width '3')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a text OPTIONS (byte_width '6')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a text OPTIONS (byte_width '0')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a text OPTIONS (byte_width '1073741824')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a text OPTIONS (max_chars '0')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a text OPTIONS (max_chars '268435440')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a text OPTIONS (force_null 'x')) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE bad (a text OPTIONS (force_not_null 'x')) SERVER csv OPTIONS (filename '/nowhere.csv');

--
-- what is fine
--
CREATE SERVER csv_all FOREIGN DATA WRAPPER csv_gpu_fdw
  OPTIONS (engine 'cpu', on_error 'stop', reject_limit '5%', log_verbosity 'silent',
           notice_limit '0', chunk_size '1');
CREATE FOREIGN TABLE all_options (
  a text OPTIONS ("column" '99999', byte_width '4', max_chars '268435439',
                  force_null 'true', force_not_null 'off'),
  b text OPTIONS (header_name 'B', byte_width '1073741756'),
  c text OPTIONS (virtual 'filename'),
  d bigint OPTIONS (virtual 'record'),
  e bigint OPTIONS (virtual 'line'),
  f int OPTIONS (virtual 'byte_offset')
) SERVER csv_all
  OPTIONS (filename '/nowhere/*.csv', format 'csv', header 'match', header_rows '3',
           delimiter '|', quote '''', escape '\', quoting 'postgres', multiline 'off',
           "null" 'NULL', encoding 'latin1', decimal_separator ',', columns '100000',
           record_boundary 'crlf', ragged 'pad', on_error 'ignore', log_verbosity 'verbose',
           notice_limit '2147483647', chunk_size '1GB', max_record_size '1023MB',
           engine 'auto', parallel_workers '1024');
DROP FOREIGN TABLE all_options;
CREATE FOREIGN TABLE t (a int, b int) SERVER csv
  OPTIONS (program 'true', header_rows '2', header 'false', quote '', "null" '"',
           delimiter '|', reject_limit '0.5%', chunk_size '16kB', max_record_size '1');

--
-- ALTER
--
ALTER FOREIGN TABLE t OPTIONS (ADD filename '/nowhere.csv');
ALTER FOREIGN TABLE t OPTIONS (DROP program);
ALTER FOREIGN TABLE t OPTIONS (DROP program, ADD filename '/nowhere.csv');
ALTER FOREIGN TABLE t OPTIONS (SET quote '"');
ALTER FOREIGN TABLE t OPTIONS (DROP quote);
ALTER FOREIGN TABLE t OPTIONS (SET delimiter ',', DROP "null", DROP quote);
ALTER FOREIGN TABLE t OPTIONS (SET reject_limit '101%');
ALTER FOREIGN TABLE t OPTIONS (ADD on_error 'stop');
ALTER FOREIGN TABLE t OPTIONS (SET header 'true', SET header_rows '0');
ALTER FOREIGN TABLE t OPTIONS (DROP header, DROP header_rows, DROP reject_limit);
ALTER FOREIGN TABLE t ALTER a OPTIONS (ADD byte_width '10');
ALTER FOREIGN TABLE t ALTER a OPTIONS (ADD byte_width '12');
ALTER FOREIGN TABLE t ALTER a OPTIONS (ADD virtual 'line');
ALTER FOREIGN TABLE t ALTER a OPTIONS (DROP byte_width, ADD virtual 'line');
ALTER FOREIGN TABLE t ALTER a OPTIONS (DROP virtual);
ALTER SERVER csv OPTIONS (ADD engine 'fast');
ALTER SERVER csv OPTIONS (ADD columns '3');

--
-- who may name what is read
--
CREATE ROLE regress_csv_user;
GRANT USAGE ON FOREIGN SERVER csv TO regress_csv_user;
GRANT USAGE ON SCHEMA csv_test TO regress_csv_user;
CREATE SCHEMA csv_user AUTHORIZATION regress_csv_user;
ALTER FOREIGN TABLE t OWNER TO regress_csv_user;
SET ROLE regress_csv_user;
CREATE FOREIGN TABLE csv_user.u (a int) SERVER csv OPTIONS (filename '/nowhere.csv');
CREATE FOREIGN TABLE csv_user.u (a int) SERVER csv OPTIONS (program 'true');
-- any option of a table, as the others come along
ALTER FOREIGN TABLE t OPTIONS (ADD header 'true');
ALTER FOREIGN TABLE t ALTER a OPTIONS (ADD force_null 'true');
RESET ROLE;
GRANT pg_read_server_files TO regress_csv_user;
SET ROLE regress_csv_user;
CREATE FOREIGN TABLE csv_user.u (a int) SERVER csv OPTIONS (filename '/nowhere.csv');
ALTER FOREIGN TABLE csv_user.u OPTIONS (DROP filename, ADD program 'true');
RESET ROLE;
REVOKE pg_read_server_files FROM regress_csv_user;
GRANT pg_execute_server_program TO regress_csv_user;
SET ROLE regress_csv_user;
ALTER FOREIGN TABLE csv_user.u OPTIONS (DROP filename, ADD program 'true');
ALTER FOREIGN TABLE csv_user.u OPTIONS (DROP program, ADD filename '/nowhere.csv');
RESET ROLE;
DROP SCHEMA csv_user CASCADE;
DROP FOREIGN TABLE t;
REVOKE USAGE ON FOREIGN SERVER csv FROM regress_csv_user;
REVOKE USAGE ON SCHEMA csv_test FROM regress_csv_user;
DROP ROLE regress_csv_user;

--
-- table and columns together: refused when a query is planned
--
CREATE FOREIGN TABLE t (a int, b int OPTIONS ("column" '6')) SERVER csv
  OPTIONS (filename '/nowhere.csv', columns '3');
EXPLAIN SELECT a FROM t;
-- a header tells the number of fields, as long as "columns" does not
ALTER FOREIGN TABLE t OPTIONS (ADD header 'true');
EXPLAIN SELECT a FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP columns, DROP header);
EXPLAIN SELECT a FROM t;
DROP FOREIGN TABLE t;

-- without "column", a column's field is its position
CREATE FOREIGN TABLE t (gone int, a int, v bigint OPTIONS (virtual 'line'), b int, c int) SERVER csv
  OPTIONS (filename '/nowhere.csv', columns '2');
ALTER FOREIGN TABLE t DROP COLUMN gone;
EXPLAIN SELECT a FROM t;
DROP FOREIGN TABLE t;

CREATE FOREIGN TABLE t (a int, b int OPTIONS (header_name 'beta')) SERVER csv
  OPTIONS (filename '/nowhere.csv', columns '2');
EXPLAIN SELECT a FROM t;
DROP FOREIGN TABLE t;

CREATE FOREIGN TABLE t (v int OPTIONS (virtual 'line')) SERVER csv
  OPTIONS (filename '/nowhere.csv');
EXPLAIN SELECT v FROM t;
DROP FOREIGN TABLE t;

CREATE FOREIGN TABLE t (a int, v smallint OPTIONS (virtual 'record')) SERVER csv
  OPTIONS (filename '/nowhere.csv');
EXPLAIN SELECT a FROM t;
DROP FOREIGN TABLE t;
CREATE FOREIGN TABLE t (a int, v varchar(10) OPTIONS (virtual 'filename')) SERVER csv
  OPTIONS (filename '/nowhere.csv');
EXPLAIN SELECT a FROM t;
DROP FOREIGN TABLE t;

\i :teardown
