\set ECHO none
-- The end of each test: nothing is left.
SET client_min_messages = error;
ALTER SYSTEM RESET csv_gpu_fdw.resident_memory;
SELECT pg_reload_conf() \gset
DROP EXTENSION csv_gpu_fdw CASCADE;
DROP SCHEMA csv_test CASCADE;
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm -rf regress_csv';
\set ECHO all
