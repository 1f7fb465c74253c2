\set ECHO none
-- The end of each test: nothing is left.
SET client_min_messages = warning;
DROP EXTENSION csv_gpu_fdw CASCADE;
DROP SCHEMA csv_test CASCADE;
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm -rf regress_csv';
\set ECHO all
