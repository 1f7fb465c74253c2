--
-- Files, patterns and programs.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (a int, file text OPTIONS (virtual 'filename')) SERVER csv OPTIONS (filename 'regress_csv/s1.csv');
CALL write_file('s1.csv', E'1\n');
CALL write_file('s2.csv', E'2\n');
CALL write_file('s10.csv', E'10');
CALL write_file('S3.csv', E'3\n');
CALL write_file('s4.txt', E'4\n');
COPY (SELECT 1 WHERE false) TO PROGRAM 'mkdir regress_csv/s5.csv regress_csv/sub regress_csv/empty regress_csv/sub/a regress_csv/sub/b';
CALL write_file('sub/a/s6.csv', E'6\n');
CALL write_file('sub/b/s7.csv', E'7\n');
SELECT * FROM t;
-- patterns: in sorted order, by bytes, without directories
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/s*.csv');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/s?.csv');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/[Ss][0-9].*');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/s[!1]*.csv');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/sub/*/s*.csv');
SELECT * FROM t;
-- no match, now, and directories only
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/x*.csv');
SELECT * FROM t;
\echo :SQLSTATE
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/empty/*');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/sub/*');
SELECT * FROM t;
-- what may have been meant
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/sub');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET filename '~/s1.csv');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET filename '~/*.csv');
SELECT * FROM t;
-- a query may be planned before the files are there
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/x*.csv');
SELECT explain('SELECT a FROM t');
PREPARE later AS SELECT a FROM t;
EXECUTE later;
CALL write_file('x1.csv', E'11\n');
EXECUTE later;
CALL write_file('x0.csv', E'10\n');
EXECUTE later;
DEALLOCATE later;
-- an existing file of exactly that name wins
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/s[12].csv');
SELECT * FROM t;
CALL write_file('s[12].csv', E'12\n');
SELECT * FROM t;
CALL write_file('x*.csv', E'99\n');
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/x*.csv');
SELECT * FROM t;
-- a name that is none
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/missing.csv');
SELECT * FROM t;
\echo :SQLSTATE
SELECT explain('SELECT a FROM t');
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/s5.csv');
SELECT * FROM t;
\echo :SQLSTATE
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/s1.csv/x.csv');
SELECT * FROM t;
-- blanks, quotes and letters beyond ASCII in a name
CALL write_file('a "b" ''c'' ä.csv', E'5\nx\n');
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/a "b" ''c'' ä.csv');
SELECT * FROM t;
-- a link, and one that leads nowhere
COPY (SELECT 1 WHERE false) TO PROGRAM 'ln -s s1.csv regress_csv/l1.csv; ln -s nowhere.csv regress_csv/l2.csv';
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/l1.csv');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/l2.csv');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/l?.csv');
SELECT * FROM t;
-- that the server may not read
COPY (SELECT 1 WHERE false) TO PROGRAM 'chmod 0 regress_csv/s2.csv regress_csv/sub/b';
-- the HINT has the server's user
\set VERBOSITY terse
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/s2.csv');
SELECT * FROM t;
\echo :SQLSTATE
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/s*.csv');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/sub/b/s7.csv');
SELECT * FROM t;
-- a pattern that leads into a directory which cannot be read answers nothing, rather than a part
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/sub/*/*');
SELECT * FROM t;
\set VERBOSITY default
COPY (SELECT 1 WHERE false) TO PROGRAM 'chmod 700 regress_csv/s2.csv regress_csv/sub/b';
SELECT * FROM t;
-- a device
ALTER FOREIGN TABLE t OPTIONS (SET filename '/dev/null');
SELECT * FROM t;
-- of a pattern, regular files only: what may wait for ever is not come upon by chance
CALL write_file('i1.csv', E'1\n');
COPY (SELECT 1 WHERE false) TO PROGRAM 'mkfifo regress_csv/i2.csv; ln -s /dev/null regress_csv/i3.csv; ln -s i1.csv regress_csv/i0.csv';
SET statement_timeout = '10s';
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/i*.csv');
SELECT * FROM t;
\echo :SQLSTATE
SELECT csv_gpu_sniff('regress_csv/i*.csv');
SELECT explain('SELECT * FROM t');
SELECT filename FROM csv_gpu_files('t') ORDER BY 1;
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/i[013].csv');
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM t;
FETCH 1 FROM c;
ROLLBACK;
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/i[01].csv');
SELECT * FROM t;
-- one that is named is read
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/i3.csv');
SELECT * FROM t;
RESET statement_timeout;
-- a file that is not there any more when the scan gets to it, and one in the midst of others
CALL write_file('y1.csv', E'1\n');
CALL write_file('y2.csv', '');
CALL write_file('y3.csv', E'3');
CALL write_file('y4.csv', E'4\n');
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/y*.csv');
SELECT * FROM t;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM t;
FETCH 1 FROM c;
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/y3.csv';
FETCH ALL FROM c;
ROLLBACK;
SELECT * FROM t;

--
-- programs
--
ALTER FOREIGN TABLE t OPTIONS (DROP filename, ADD program 'echo 1; echo x; echo 3');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET program 'cat regress_csv/s1.csv regress_csv/s2.csv | tr 1 7');
SELECT a FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET program 'true');
SELECT a FROM t;
-- that fails: at once, half way, or at its end
ALTER FOREIGN TABLE t OPTIONS (SET program 'exit 3');
SELECT a FROM t;
\echo :SQLSTATE
ALTER FOREIGN TABLE t OPTIONS (SET program 'echo 1; echo 2; false');
SELECT a FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET program 'echo 1; echo 2; kill -9 $$');
SELECT a FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET program 'regress_csv/no-such-program 2>/dev/null');
SELECT a FROM t;
-- a failure is told even where no row came of it
SELECT count(*) FROM t;
-- that is not read to its end: it dies of that, and nobody minds
ALTER FOREIGN TABLE t OPTIONS (SET program 'yes 1');
SELECT a FROM t LIMIT 3;
-- its standard output only
ALTER FOREIGN TABLE t OPTIONS (SET program 'echo 1; echo 2 >/dev/null; echo 3');
SELECT a FROM t;
-- in pieces that end anywhere
ALTER FOREIGN TABLE t OPTIONS (SET program 'printf 1; sleep 0.02; printf ''2\n3''; sleep 0.02; printf ''4\r''; sleep 0.02; printf ''\n5''');
SELECT a FROM t;
-- once for each scan
COPY (SELECT 1 WHERE false) TO PROGRAM ': > regress_csv/runs';
ALTER FOREIGN TABLE t OPTIONS (SET program 'echo run >> regress_csv/runs; wc -l < regress_csv/runs');
SELECT a FROM t;
SELECT explain('SELECT a FROM t');
SELECT a FROM t;
-- not run by ANALYZE
SET client_min_messages = error;
ANALYZE t;
RESET client_min_messages;
SELECT a FROM t;

\i :teardown
