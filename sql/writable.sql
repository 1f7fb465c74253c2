--
-- Tables that can be written.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

-- what there is in the directory, without numbers that differ
CREATE FUNCTION masked(name text) RETURNS text LANGUAGE sql AS $$
  SELECT regexp_replace(name, 'csvgpu-\d+-(\d+)-\d+-\d+', 'csvgpu-S-\1-X-O')
$$;
CREATE VIEW files AS SELECT masked(f) AS name FROM pg_ls_dir('regress_csv') f ORDER BY 1;

-- ---- what a crash leaves behind ----

CREATE FUNCTION tag(xid xid8, timeline int DEFAULT 1) RETURNS text LANGUAGE sql AS $$
  SELECT format('csvgpu-%s-%s-%s-7', system_identifier, timeline, xid) FROM pg_control_system()
$$;
SELECT pg_current_xact_id() AS committed \gset
BEGIN;
SELECT pg_current_xact_id() AS aborted \gset
ROLLBACK;
\set make 'CALL write_file(format(''.%s-%s.csv.csvgpu'', '
BEGIN;
:make 'committed', tag(:'committed')), '12345');
:make 'aborted', tag(:'aborted')), '123');
:make 'running', tag(pg_current_xact_id())), '');
:make 'other-timeline', tag(:'committed', 1234)), '');
:make 'to-come', tag('123456789012')), '');
:make 'other-server', 'csvgpu-1-1-3-7'), '');
:make 'untagged', 'csvgpu-'), '');
CALL write_file('.suffix-' || tag(:'aborted') || '.csv', '');
CALL write_file('dot-' || tag(:'aborted') || '.csv.csvgpu', '');
COPY (SELECT 1 WHERE false) TO PROGRAM 'cd regress_csv && for f in .aborted-*; do d=`echo $f | sed s/aborted/directory/`; mkdir -p $d/a; echo 12 >$d/a/b; done';
SELECT masked(filename), bytes, state FROM csv_gpu_leftovers('regress_csv') ORDER BY 1;
SELECT masked(filename), bytes, state FROM csv_gpu_leftovers('regress_csv', true) ORDER BY 1;
COMMIT;
-- the transaction that was running has committed now
SELECT * FROM files;
SELECT masked(filename), bytes, state FROM csv_gpu_leftovers('regress_csv', true) ORDER BY 1;
-- a file is never replaced
:make 'committed', tag(:'committed')), '1234567');
\set VERBOSITY sqlstate
SELECT count(*) FROM csv_gpu_leftovers('regress_csv', true) WHERE state = 'committed';
\set VERBOSITY default
SELECT count(*), min((pg_stat_file('regress_csv/' || f)).size) FROM pg_ls_dir('regress_csv') f WHERE f ~ '^committed';
CREATE ROLE regress_csv_writer;
SET ROLE regress_csv_writer;
SELECT * FROM csv_gpu_leftovers('regress_csv');
RESET ROLE;
GRANT pg_write_server_files TO regress_csv_writer;
SET ROLE regress_csv_writer;
SELECT count(*) FROM csv_gpu_leftovers('regress_csv');
SELECT count(*) FROM csv_gpu_leftovers('regress_csv/missing');
RESET ROLE;
DROP ROLE regress_csv_writer;

\i :teardown
