\set ECHO none
-- The beginning of each test.  Files lie in the directory regress_csv under
-- the server's data directory: the server may write there wherever it runs,
-- and a relative name is the same in every NOTICE.
\set teardown :abs_srcdir '/sql/include/teardown.sql'
\set set_memory :abs_srcdir '/sql/include/memory.sql'
\set wait_for_memory :abs_srcdir '/sql/include/wait_for_memory.sql'
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS csv_gpu_fdw CASCADE;
DROP SCHEMA IF EXISTS csv_test CASCADE;
CREATE SCHEMA csv_test;
SET search_path = csv_test, public;
SET client_encoding = 'UTF8';
SET datestyle = 'ISO, MDY';
SET timezone = 'UTC';
CREATE EXTENSION csv_gpu_fdw SCHEMA public;
CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw;
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm -rf regress_csv && mkdir regress_csv';

-- a file of exactly these bytes
CREATE PROCEDURE write_file(name text, content bytea) LANGUAGE plpgsql AS $$
DECLARE
  object oid := lo_from_bytea(0, content);
BEGIN
  PERFORM lo_export(object, 'regress_csv/' || name);
  PERFORM lo_unlink(object);
END $$;
CREATE PROCEDURE write_file(name text, content text) LANGUAGE plpgsql AS $$
BEGIN
  CALL write_file(name, convert_to(content, 'UTF8'));
END $$;

-- a file of what a query returns, one value of type text
CREATE PROCEDURE write_query(name text, query text) LANGUAGE plpgsql AS $$
DECLARE
  content text;
BEGIN
  EXECUTE query INTO content;
  CALL write_file(name, content);
END $$;

-- waits until files that were written so far have settled: a second, unless the
-- server has been made to see them older (test/inject)
CREATE PROCEDURE settle() LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_sleep(1.02 - coalesce(current_setting('csv_gpu_test.file_age', true)::float, 0));
END $$;

-- EXPLAIN, less what differs from run to run and from engine to engine
CREATE FUNCTION explain(query text, options text DEFAULT 'COSTS OFF')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
    FOR line IN SELECT regexp_split_to_table(line, E'\n') LOOP
      CONTINUE WHEN line ~ '(Planning|Execution|Buffers|Storage|Disabled|Window: | GPU: )';
      line := regexp_replace(line, '((?<!Not in )Engine:|"Engine":|<Engine>)( ?"?)[^"<,]*', '\1\2...');
      line := regexp_replace(line, '(Time"?:|Chunks"?:|Time>|Chunks>|Chunks"?:)( ?)[0-9.]+', '\1\2...');
      line := regexp_replace(line, '(cost|actual time)=[0-9.]+', '\1=...', 'g');
      line := regexp_replace(line, 'rows=(\d+)\.00', 'rows=\1', 'g');
      RETURN NEXT line;
    END LOOP;
  END LOOP;
END $$;
RESET client_min_messages;
\set ECHO all
