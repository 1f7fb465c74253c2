\set ECHO none
-- From now on csv_gpu_fdw.resident_memory is :memory, here and in the program that
-- serves all sessions.
ALTER SYSTEM SET csv_gpu_fdw.resident_memory = :'memory';
SELECT pg_reload_conf() \gset
\i :wait_for_memory
\set ECHO all
