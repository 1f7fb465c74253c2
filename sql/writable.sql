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
COPY (SELECT 1 WHERE false) TO PROGRAM 'cd regress_csv && for f in .aborted-*; do d=`echo $f | sed s/aborted/directory/`; mkdir -p $d/new/a; echo 12 >$d/new/a/b; done';
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


COPY (SELECT 1 WHERE false) TO PROGRAM 'rm -rf regress_csv && mkdir regress_csv';

-- ---- INSERT and COPY ----

CREATE FUNCTION content(pattern text) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT convert_from(pg_read_binary_file('regress_csv/' || f), 'UTF8') FROM pg_ls_dir('regress_csv') f WHERE f ~ pattern ORDER BY f
$$;
CREATE FOREIGN TABLE plain (a int NOT NULL, b text, c numeric CHECK (c < 100)) SERVER csv
  OPTIONS (filename 'regress_csv/plain.csv', header 'true', writable 'true');
SELECT count(*) FROM plain;
INSERT INTO plain VALUES (1, 'x', 1.50), (2, 'with, comma', NULL), (3, 'a "quote"', 3) RETURNING a, b, tableoid::regclass;
SELECT content('^plain');
SELECT * FROM plain;
-- rows are not seen before the commit, and savepoints hold
BEGIN;
INSERT INTO plain VALUES (4, '', 4);
SAVEPOINT s;
INSERT INTO plain VALUES (5, 'lost', 5);
ROLLBACK TO s;
SAVEPOINT t;
INSERT INTO plain SELECT i, 'six' FROM generate_series(6, 7) i;
RELEASE t;
COPY plain FROM stdin;
8	eight	8
\.
SELECT count(*) FROM plain;
COMMIT;
SELECT * FROM plain;
BEGIN;
INSERT INTO plain VALUES (9);
ROLLBACK;
-- constraints
INSERT INTO plain VALUES (NULL);
INSERT INTO plain VALUES (1, 'x', 100);
INSERT INTO plain VALUES (10) ON CONFLICT DO NOTHING;
INSERT INTO plain VALUES (10) ON CONFLICT (a) DO NOTHING;
SELECT max(a), count(*) FROM plain;
-- what cannot be
UPDATE plain SET a = 1;
DELETE FROM plain;
BEGIN;
INSERT INTO plain VALUES (11);
PREPARE TRANSACTION 'p';
ROLLBACK;
CREATE FOREIGN TABLE readonly (a int) SERVER csv OPTIONS (filename 'regress_csv/plain.csv', writable 'false');
INSERT INTO readonly VALUES (1);
EXPLAIN INSERT INTO readonly VALUES (1);
COPY readonly FROM stdin;
1
\.
TRUNCATE readonly;
-- by a partitioned table and a view; never without the option
CREATE TABLE parted (a int) PARTITION BY LIST (a);
ALTER TABLE parted ATTACH PARTITION readonly FOR VALUES IN (1);
INSERT INTO parted VALUES (1);
COPY parted FROM PROGRAM 'echo 1';
ALTER TABLE parted DETACH PARTITION readonly;
DROP TABLE parted;
CREATE VIEW over AS SELECT * FROM readonly;
INSERT INTO over VALUES (1);
SELECT is_insertable_into FROM information_schema.tables WHERE table_name IN ('readonly', 'over');
BEGIN;
PREPARE into_readonly AS INSERT INTO readonly VALUES (1);
SAVEPOINT s;
EXECUTE into_readonly;
ROLLBACK TO s;
DEALLOCATE into_readonly;
COMMIT;
DROP VIEW over;
CREATE FOREIGN TABLE programmed (a int) SERVER csv OPTIONS (program 'echo 1');
INSERT INTO programmed VALUES (1);
-- the HINT can be followed
ALTER FOREIGN TABLE readonly OPTIONS (SET filename 'regress_csv/readonly.csv', SET writable 'true');
INSERT INTO readonly VALUES (1);
SELECT * FROM readonly;
ALTER FOREIGN TABLE readonly OPTIONS (SET filename 'regress_csv/plain.csv', SET writable 'false');

-- a generated column: nothing would compute it for the file's rows
CREATE FOREIGN TABLE generated (a int, b int GENERATED ALWAYS AS (a + 1) STORED) SERVER csv
  OPTIONS (filename 'regress_csv/generated.csv', writable 'true');
INSERT INTO generated SELECT 1 WHERE false;
COPY generated (a) FROM stdin;
1
\.
SELECT content('generated');
DROP FOREIGN TABLE generated;

-- ---- options ----

\set make 'CREATE FOREIGN TABLE x (a int) SERVER csv OPTIONS (writable ''true'', '
:make program 'cat');
:make footer_rows '1', filename 'regress_csv/x.csv');
:make filename 'regress_csv/*/x.csv');
:make filename 'regress_csv/x*y*.csv');
:make filename 'regress_csv/x-?.csv');
:make filename 'regress_csv/x-[0-9].csv');
:make filename 'regress_csv/.*');
:make filename 'regress_csv/.x-*.csvgpu');
:make filename 'regress_csv/.x.csvgpu');
:make filename 'regress_csv/');
:make filename 'regress_csv/x-*.csv.bz2');
:make filename 'regress_csv/x.csv.bz2', compression 'none');
DROP FOREIGN TABLE x;
:make filename 'regress_csv/x-*.csv', share '0', shares '2');
INSERT INTO x VALUES (1);
ALTER FOREIGN TABLE x OPTIONS (SET shares '1');
INSERT INTO x VALUES (1);
TABLE x;
TRUNCATE x;
DROP FOREIGN TABLE x;
:make filename 'regress_csv/missing/x.csv');
INSERT INTO x VALUES (1);
DROP FOREIGN TABLE x;
:make filename 'regress_csv');
INSERT INTO x VALUES (1);
TRUNCATE x;
DROP FOREIGN TABLE x;

-- ---- rows that would not be read back ----

CREATE FOREIGN TABLE bare (a int, b text, c text OPTIONS (max_chars '3'), d date) SERVER csv
  OPTIONS (filename 'regress_csv/bare.csv', quote '', null 'NULL', delimiter '||', date_format 'DD.MM.YY', writable 'true');
INSERT INTO bare VALUES (1, 'x', 'abc', '2001-02-03'), (2, 'x|y', '"', NULL);
INSERT INTO bare VALUES (1, 'a||b');
INSERT INTO bare VALUES (1, 'a|');
INSERT INTO bare VALUES (1, E'a\nb');
INSERT INTO bare VALUES (1, 'NULL');
INSERT INTO bare VALUES (1, 'x', 'abcd');
INSERT INTO bare VALUES (1, 'x', 'abc', '1901-02-03');
INSERT INTO bare VALUES (1, 'x', 'abc', 'infinity');
INSERT INTO bare SELECT i, CASE i WHEN 3 THEN 'NULL' END FROM generate_series(1, 5) i;
SELECT content('^bare');
SELECT * FROM bare;
-- two columns of a field
CREATE FOREIGN TABLE same (a int, b text OPTIONS ("column" '0')) SERVER csv
  OPTIONS (filename 'regress_csv/same.csv', columns '1', writable 'true');
INSERT INTO same VALUES (1, '1'), (1, 'x');
INSERT INTO same VALUES (1, '1'), (1, NULL);
INSERT INTO same VALUES (1, '1'), (NULL, NULL);
SELECT * FROM same;
DROP FOREIGN TABLE same;
CREATE FOREIGN TABLE odd (a text, b numeric, c text OPTIONS (force_not_null 'true')) SERVER csv
  OPTIONS (filename 'regress_csv/odd.csv', trim 'true', comment '#', null_values '{n/a,-}', decimal_separator ',',
           thousands_separator '.', delimiter ';', quote '''', writable 'true');
INSERT INTO odd VALUES ('#1', 1234567.5, ' x '), ('n/a', -1000, ''), ('it''s', 0.5, '-'), (' ', NULL, E'a\nb');
INSERT INTO odd VALUES ('x', 1, NULL);
SELECT content('^odd');
SELECT * FROM odd;
DROP FOREIGN TABLE bare, odd;

-- a time beyond the last
CREATE FOREIGN TABLE times (a timestamp(0), b timestamptz(0)) SERVER csv
  OPTIONS (filename 'regress_csv/times.csv', writable 'true');
INSERT INTO times VALUES ('294276-12-31 23:59:59.999999', NULL);
INSERT INTO times VALUES ('infinity', '294276-12-31 23:59:59.999999+00');
INSERT INTO times VALUES ('infinity', '-infinity'), ('294276-12-31 23:59:59.4', NULL);
SELECT a FROM times;
-- max_record_size is for the bytes that are read
CREATE FOREIGN TABLE sjis (a text, b text) SERVER csv
  OPTIONS (filename 'regress_csv/sjis.csv', encoding 'SJIS', max_record_size '40', writable 'true');
INSERT INTO sjis VALUES (repeat(U&'\65e5', 13), 'x');
INSERT INTO sjis VALUES (repeat(U&'\65e5', 12), 'xyz');
CREATE FOREIGN TABLE latin (a text) SERVER csv
  OPTIONS (filename 'regress_csv/latin.csv', max_record_size '40', writable 'true');
INSERT INTO latin VALUES (repeat('x', 41));
INSERT INTO latin VALUES (repeat('x', 40));
SELECT (SELECT b FROM sjis), (SELECT length(a) FROM latin);
-- a header that begins with a byte-order mark
CREATE FOREIGN TABLE marked (U&"\FEFFa" int, b int) SERVER csv
  OPTIONS (filename 'regress_csv/marked.csv', header 'true', by_name 'true', writable 'true');
INSERT INTO marked VALUES (1, 2);
SELECT convert_to(content('^marked'), 'UTF8');
SELECT sum(U&"\FEFFa"), sum(b) FROM marked;
ALTER FOREIGN TABLE marked OPTIONS (ADD quote '');
TRUNCATE marked;
INSERT INTO marked VALUES (1, 2);
-- a first record that begins like an archive, or a compressed file
CREATE FOREIGN TABLE archive (a text, b int) SERVER csv OPTIONS (filename 'regress_csv/archive.csv', writable 'true');
INSERT INTO archive VALUES (E'PK\x03\x04', 1), ('BZh91AY&SY', 2), ('PK', 3);
TABLE archive;
ALTER FOREIGN TABLE archive OPTIONS (ADD quote '');
TRUNCATE archive;
INSERT INTO archive VALUES (E'PK\x03\x04', 1);
DROP FOREIGN TABLE archive;
DROP FOREIGN TABLE times, sjis, latin, marked;

-- ---- files that others have begun ----

\set make 'CREATE FOREIGN TABLE x (a int, b text) SERVER csv OPTIONS (filename ''regress_csv/begun.csv'', writable ''true'' '
\set show 'SELECT convert_to(content(''^begun''), ''UTF8''); SELECT * FROM x; DROP FOREIGN TABLE x;'
-- a LF behind CRs is no data, and would be part of the next record
CALL write_file('begun.csv', E'1,a\r2,b\n');
:make);
INSERT INTO x VALUES (3, 'c');
:show
-- lone CRs end records, as long as no LF does
CALL write_file('begun.csv', E'1,a\r2,b\r');
:make, quote '');
INSERT INTO x VALUES (3, E'c\nd');
INSERT INTO x VALUES (3, 'c');
:show
CALL write_file('begun.csv', E'1,a\r2,b\r');
:make, multiline 'false');
INSERT INTO x VALUES (3, E'c\nd');
INSERT INTO x VALUES (3, 'c');
:show
CALL write_file('begun.csv', E'1,a\r2,b\r');
:make);
INSERT INTO x VALUES (3, E'c\nd');
:show
-- and LFs, as long as the first is not too far away
CALL write_file('begun.csv', '');
:make, quote '', max_record_size '2MB');
INSERT INTO x VALUES (1, E'a\rb' || repeat('x', 1100000));
INSERT INTO x VALUES (1, E'a\rb' || repeat('x', 1000000)), (2, E'a\rb');
SELECT a, length(b) FROM x;
DROP FOREIGN TABLE x;
-- the last line lacks its break
CALL write_file('begun.csv', E'1,a\n2,"open');
:make);
INSERT INTO x VALUES (3, 'c');
ALTER FOREIGN TABLE x OPTIONS (ADD quoting 'postgres');
INSERT INTO x VALUES (3, 'c');
ALTER FOREIGN TABLE x OPTIONS (ADD multiline 'false');
INSERT INTO x VALUES (3, 'c');
:show
CALL write_file('begun.csv', U&'\FEFF"open');
:make);
INSERT INTO x VALUES (3, 'c');
CALL write_file('begun.csv', '1,"escaped\');
ALTER FOREIGN TABLE x OPTIONS (ADD escape '\');
INSERT INTO x VALUES (3, 'c');
CALL write_file('begun.csv', '1,"escaped\""');
INSERT INTO x VALUES (3, 'c');
:show
CALL write_file('begun.csv', E'1\ta\\');
:make, format 'text');
INSERT INTO x VALUES (3, 'c');
CALL write_file('begun.csv', E'1\t' || repeat(E'\\', 100001));
INSERT INTO x VALUES (3, 'c');
CALL write_file('begun.csv', E'1\t' || repeat(E'\\', 100000));
INSERT INTO x VALUES (3, 'c');
INSERT INTO x VALUES (4, repeat(E'\\', 100));
INSERT INTO x VALUES (5, 'd');
SELECT a, length(b) FROM x;
CALL write_file('begun.csv', E'1\ta\\\n');
INSERT INTO x VALUES (3, 'c');
CALL write_file('begun.csv', E'1\ta\\\r\n');
INSERT INTO x VALUES (3, 'c');
-- a line that is longer than a record
ALTER FOREIGN TABLE x OPTIONS (ADD max_record_size '50000');
CALL write_file('begun.csv', repeat('y', 200000) || E'\n1\t' || repeat('x', 60000));
INSERT INTO x VALUES (3, 'c');
CALL write_file('begun.csv', repeat('y', 200000) || E'\n1\t' || repeat('x', 40000));
INSERT INTO x VALUES (3, 'c');
SELECT a, length(b) FROM x;
DROP FOREIGN TABLE x;
-- a CR that a LF would make a part of the line break
CALL write_file('begun.csv', E'1,a\n2,b\r');
:make);
INSERT INTO x VALUES (3, 'c');
ALTER FOREIGN TABLE x OPTIONS (ADD record_boundary 'lf');
INSERT INTO x VALUES (3, 'c');
:show
-- nothing behind a byte-order mark
CREATE FOREIGN TABLE x (a text) SERVER csv OPTIONS (filename 'regress_csv/begun.csv', writable 'true');
CALL write_file('begun.csv', '\xefbbbf'::bytea);
INSERT INTO x VALUES ('x');
:show
:make, header 'true');
CALL write_file('begun.csv', '\xefbbbf'::bytea);
INSERT INTO x VALUES (1, 'x');
:show
CREATE FOREIGN TABLE x (a text) SERVER csv
  OPTIONS (filename 'regress_csv/begun.csv', encoding 'UTF16', writable 'true');
CALL write_file('begun.csv', '\xfeff'::bytea);
INSERT INTO x VALUES ('x');
SELECT pg_read_binary_file('regress_csv/begun.csv');
DROP FOREIGN TABLE x;
-- CRLFs end records, if a CRLF ends the first line
\set show 'SELECT convert_to(content(''^begun''), ''UTF8'');'
CALL write_file('begun.csv', E'a,b\r\n');
:make, header 'true');
INSERT INTO x VALUES (1, E'one\ntwo'), (2, E'cr\r');
:show
CREATE TABLE copied (a int, b text);
COPY copied FROM 'regress_csv/begun.csv' (FORMAT csv, HEADER);
SELECT count(*) FROM (TABLE copied EXCEPT TABLE x) t;
DROP TABLE copied;
CALL write_file('begun.csv', E'a,b\r\n1,"one\ntwo"');
INSERT INTO x VALUES (3, 'c');
:show
CALL write_file('begun.csv', E'"a\nc",b\r\n1,x\n');
INSERT INTO x VALUES (3, 'c');
:show
CALL write_file('begun.csv', E'a,b\n1,x\r\n');
INSERT INTO x VALUES (3, 'c');
:show
DROP FOREIGN TABLE x;
CALL write_file('begun.csv', E'1,a\r\n');
:make, quote '');
INSERT INTO x VALUES (3, E'c\nd');
\set VERBOSITY terse
INSERT INTO x VALUES (3, E'c\r');
\set VERBOSITY default
INSERT INTO x VALUES (3, 'c');
:show
DROP FOREIGN TABLE x;
CALL write_file('begun.csv', E'1\ta\r\n');
:make, format 'text');
INSERT INTO x VALUES (3, E'c\nd\r');
:show
SELECT count(*) FROM x WHERE b = E'c\nd\r';
DROP FOREIGN TABLE x;
COPY (SELECT 1 WHERE false) TO PROGRAM 'printf "a,b\r\n1,x\r\n" | gzip >regress_csv/begun.csv.gz';
CREATE FOREIGN TABLE x (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/begun.csv.gz', header 'true', writable 'true');
INSERT INTO x VALUES (3, 'c');
COPY (SELECT 1 WHERE false) TO PROGRAM 'gunzip <regress_csv/begun.csv.gz >regress_csv/begun.csv; rm regress_csv/begun.csv.gz';
:show
DROP FOREIGN TABLE x;
CALL write_file('begun.csv', '\xfffe61000d000a00'::bytea);
CREATE FOREIGN TABLE x (a text) SERVER csv OPTIONS (filename 'regress_csv/begun.csv', header 'true', writable 'true');
INSERT INTO x VALUES ('b');
SELECT pg_read_binary_file('regress_csv/begun.csv');
DROP FOREIGN TABLE x;
-- an empty line is no header
CREATE FOREIGN TABLE x (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/begun.csv', header 'true', writable 'true');
CALL write_file('begun.csv', E'\n');
INSERT INTO x VALUES (1, 'x');
INSERT INTO x VALUES (2, 'y');
:show
CALL write_file('begun.csv', E'\r\n');
BEGIN;
INSERT INTO x VALUES (1, 'x');
ROLLBACK;
:show
INSERT INTO x VALUES (1, 'x');
:show
CALL write_file('begun.csv', E'\r');
INSERT INTO x VALUES (1, 'x');
:show
-- further lines could change which breaks end the records
CALL write_file('begun.csv', E'a,b\n1,x\r2,y\r3,z\r\n');
SELECT * FROM x;
INSERT INTO x VALUES (4, 'w');
ALTER FOREIGN TABLE x OPTIONS (ADD record_boundary 'crlf');
CALL write_file('begun.csv', E'\n');
INSERT INTO x VALUES (1, 'x');
:show
ALTER FOREIGN TABLE x OPTIONS (SET record_boundary 'cr');
CALL write_file('begun.csv', E'\n');
INSERT INTO x VALUES (1, 'x');
:show
ALTER FOREIGN TABLE x OPTIONS (DROP record_boundary);
CALL write_file('begun.csv', E'\n\r\n');
INSERT INTO x VALUES (1, 'x');
:show
CALL write_file('begun.csv', E'\n1,x\n');
INSERT INTO x VALUES (1, 'x');
:show
DROP FOREIGN TABLE x;
-- two rows, which are NULL, below a header of one field
CREATE FOREIGN TABLE x (a int) SERVER csv OPTIONS (filename 'regress_csv/begun.csv', header 'true', writable 'true');
CALL write_file('begun.csv', E'\n\n\n');
INSERT INTO x VALUES (1);
TABLE x;
DROP FOREIGN TABLE x;
-- a header, by place
CALL write_file('begun.csv', E'name,city\nAnn,Rome\n');
CREATE FOREIGN TABLE x (city text, name text) SERVER csv OPTIONS (filename 'regress_csv/begun.csv', header 'true', writable 'true');
INSERT INTO x VALUES ('Oslo', 'Bob');
CALL write_file('begun.csv', E'Name,zip\nAnn,Rome\n');
INSERT INTO x VALUES ('Oslo', 'Bob');
CALL write_file('begun.csv', E'name;city\nAnn;Rome\n');
INSERT INTO x VALUES ('Oslo', 'Bob');
CALL write_file('begun.csv', E'city,name,zip\nRome,Ann,1\n');
INSERT INTO x VALUES ('Oslo', 'Bob');
COPY x FROM stdin (FORMAT csv);
Oslo,Bob
\.
:show
TRUNCATE x;
INSERT INTO x VALUES ('Oslo', 'Bob');
:show
CALL write_file('begun.csv', E'Ann,Rome\n');
INSERT INTO x VALUES ('Oslo', 'Bob');
INSERT INTO x VALUES ('Oslo', 'Bob');
:show
CREATE FOREIGN TABLE other_encoding (city text, name text) SERVER csv OPTIONS (filename 'regress_csv/begun.csv', header 'true', writable 'true');
CALL write_file('begun.csv', '\xe42ce40a'::bytea);
INSERT INTO other_encoding VALUES ('Oslo', 'Bob');
DROP FOREIGN TABLE other_encoding;
-- and by name
ALTER FOREIGN TABLE x OPTIONS (ADD by_name 'true');
CALL write_file('begun.csv', E'name,city\nAnn,Rome\n');
INSERT INTO x VALUES ('Oslo', 'Bob');
:show
ALTER FOREIGN TABLE x OPTIONS (DROP by_name);
ALTER FOREIGN TABLE x ALTER city OPTIONS (ADD header_name 'name'), ALTER name OPTIONS (ADD header_name 'city');
INSERT INTO x VALUES ('Oslo', 'Bob');
:show
DROP FOREIGN TABLE x;
-- names that only a number tells apart
CALL write_file('begun.csv', E'a,a\n1,2\n');
CREATE FOREIGN TABLE x (a text, a_2 text) SERVER csv OPTIONS (filename 'regress_csv/begun.csv', header 'true', writable 'true');
INSERT INTO x VALUES ('3', '4');
:show
DROP FOREIGN TABLE x;
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm -f regress_csv/begun.csv regress_csv/marked.csv regress_csv/times.csv regress_csv/sjis.csv regress_csv/latin.csv regress_csv/archive.csv';

-- ---- patterns ----

CREATE FOREIGN TABLE many (a int, b text, f text OPTIONS (virtual 'filename')) SERVER csv
  OPTIONS (filename 'regress_csv/many-*.csv.gz', writable 'true');
SELECT count(*) FROM many;
INSERT INTO many VALUES (1, 'x'), (2, 'y');
BEGIN;
INSERT INTO many SELECT i, repeat('z', 1000) FROM generate_series(3, 1000) i;
SELECT count(*) FROM many;
COMMIT;
SELECT a, length(b), masked(f) FROM many WHERE a < 4;
SELECT count(*), count(DISTINCT f) FROM many;
SELECT * FROM files WHERE name ~ 'many';
INSERT INTO many VALUES (1, 'x', 'no');
-- partitions
CREATE TABLE parted (a int, b text, f text) PARTITION BY RANGE (a);
ALTER TABLE parted ATTACH PARTITION many FOR VALUES FROM (0) TO (2000);
CREATE TABLE parted_rest PARTITION OF parted DEFAULT;
INSERT INTO parted VALUES (1001, 'routed'), (5000, 'here') RETURNING *;
INSERT INTO many VALUES (5000, 'out of bounds');
COPY parted (a, b) FROM stdin (FORMAT csv);
1002,copied
6000,copied
\.
UPDATE parted SET a = 1003 WHERE a = 6000;
SELECT a, b FROM parted WHERE a > 1000 ORDER BY 1;
BEGIN;
TRUNCATE many;
INSERT INTO many VALUES (7, 'after');
SELECT count(*) FROM many;
ROLLBACK;
SELECT count(*) FROM many;
CALL write_file('many-other.csv.gz', '\x1f8b080000000000020333d4a9e00200bce5b75f04000000'::bytea);
BEGIN;
INSERT INTO many VALUES (6, 'before');
TRUNCATE many;
INSERT INTO many VALUES (7, 'after');
COMMIT;
SELECT a, b, masked(f) FROM many;
BEGIN;
TRUNCATE many;
SAVEPOINT s;
TRUNCATE many;
ROLLBACK TO s;
COMMIT;
SELECT a, b FROM many;
-- files of other timelines, and of numbers that this server has not given, or has given to others
\set VERBOSITY sqlstate
INSERT INTO many VALUES (1, 'own');
CALL write_file('many-' || tag(:'committed', 1234) || '.csv.gz', '');
TRUNCATE many;
CALL write_file('many-' || tag('123456789012') || '.csv.gz', '');
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/many-*-1234-*';
BEGIN;
INSERT INTO many VALUES (2, 'kept');
SAVEPOINT s;
TRUNCATE many;
ROLLBACK TO s;
COMMIT;
CALL write_file('many-' || tag(:'aborted') || '.csv.gz', '');
COPY (SELECT 1 WHERE false) TO PROGRAM 'rm regress_csv/many-*-123456789012-*';
TRUNCATE many;
\set VERBOSITY default
SELECT csv_gpu_take_over('files');
SELECT csv_gpu_take_over('readonly');
BEGIN;
SELECT csv_gpu_take_over('many');
TRUNCATE many;
SELECT count(*) FROM files WHERE name ~ 'many';
COMMIT;
SELECT * FROM files WHERE name ~ 'many';
-- TRUNCATE of a plain file
TRUNCATE plain;
SELECT * FROM plain;
SELECT content('^plain');
INSERT INTO plain VALUES (1, 'x');
BEGIN;
INSERT INTO plain VALUES (2, 'y');
SAVEPOINT s;
TRUNCATE plain;
INSERT INTO plain VALUES (3, 'z');
ROLLBACK TO s;
INSERT INTO plain VALUES (4, 'z');
COMMIT;
SELECT content('^plain');
BEGIN;
INSERT INTO plain VALUES (5, 'y');
TRUNCATE plain;
INSERT INTO plain VALUES (6, 'z');
COMMIT;
SELECT content('^plain');

-- ---- functions that write to the table while a row is written ----

CREATE FOREIGN TABLE nested (a text, b text) SERVER csv OPTIONS (filename 'regress_csv/nested-*.csv', writable 'true');
CREATE FUNCTION writes_too(v int) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('regress.sql', true) <> '' THEN
    EXECUTE current_setting('regress.sql');
  END IF;
  RETURN true;
END $$;
CREATE DOMAIN calls AS int CHECK (writes_too(VALUE));
ALTER FOREIGN TABLE nested ALTER b TYPE calls[];
-- the value is checked when the row is written, too
SET regress.sql = 'INSERT INTO nested VALUES (repeat(''inner'', 1000))';
INSERT INTO nested SELECT repeat('outer', 10), array_agg(i) FROM generate_series(1, 100) i;
SET regress.sql = 'SET client_encoding = LATIN1; INSERT INTO nested VALUES (repeat(''inner'', 1000))';
INSERT INTO nested SELECT 'outer', ARRAY[1];
RESET client_encoding;
SET regress.sql = 'TRUNCATE nested';
INSERT INTO nested SELECT 'outer', ARRAY[1];
-- an error that is caught
SET regress.sql = 'DO $x$ BEGIN INSERT INTO nested VALUES (''inner''); EXCEPTION WHEN object_in_use THEN END $x$';
BEGIN;
INSERT INTO nested SELECT 'outer', ARRAY[2];
SAVEPOINT s;
SET regress.sql = 'SELECT 1 / 0';
INSERT INTO nested SELECT 'lost', ARRAY[1];
ROLLBACK TO s;
SET regress.sql = '';
INSERT INTO nested SELECT 'behind', ARRAY[3];
COMMIT;
SELECT * FROM nested ORDER BY 1;
-- a domain by itself is checked once
CREATE FOREIGN TABLE checked (a calls) SERVER csv OPTIONS (filename 'regress_csv/checked.csv', writable 'true');
CREATE TABLE values_of_domain AS SELECT 1::calls AS a;
SET regress.sql = 'SELECT 1 / 0';
INSERT INTO checked SELECT a FROM values_of_domain;
RESET regress.sql;
SELECT content('^checked');

-- ---- a definition that changes ----

CREATE FOREIGN TABLE changed (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/changed-*.csv', header 'true', writable 'true');
CREATE PROCEDURE change(ddl text) LANGUAGE plpgsql AS $$
BEGIN
  BEGIN
    INSERT INTO changed VALUES (1, NULL);
    EXECUTE ddl;
    INSERT INTO changed VALUES (2, NULL);
    RAISE EXCEPTION 'written';
  EXCEPTION WHEN others THEN
    RAISE NOTICE '%: %', ddl, SQLERRM;
  END;
END $$;
CALL change('ALTER FOREIGN TABLE changed OPTIONS (ADD delimiter '';'')');
CALL change('ALTER FOREIGN TABLE changed OPTIONS (ADD null ''NULL'')');
CALL change('ALTER FOREIGN TABLE changed OPTIONS (ADD encoding ''LATIN1'')');
CALL change('ALTER FOREIGN TABLE changed OPTIONS (ADD compression ''gzip'')');
CALL change('ALTER FOREIGN TABLE changed ALTER b OPTIONS (ADD null_values ''{x}'')');
CALL change('ALTER FOREIGN TABLE changed RENAME b TO c');
CALL change('ALTER FOREIGN TABLE changed ALTER b TYPE varchar');
CALL change('SET LOCAL client_encoding = LATIN1');
CALL change('ALTER FOREIGN TABLE changed OPTIONS (ADD notice_limit ''3'')');
CALL change('SET LOCAL DateStyle = German');
-- what is rolled back has no effect
BEGIN;
INSERT INTO changed VALUES (1, 'x');
SAVEPOINT s;
TRUNCATE changed;
ALTER FOREIGN TABLE changed RENAME b TO c;
ALTER FOREIGN TABLE changed OPTIONS (ADD delimiter ';');
INSERT INTO changed VALUES (2, 'y');
ROLLBACK TO s;
COMMIT;
SELECT content('^changed');
BEGIN;
INSERT INTO changed VALUES (3, 'x');
SAVEPOINT s;
TRUNCATE changed;
ALTER FOREIGN TABLE changed OPTIONS (ADD delimiter ';');
INSERT INTO changed VALUES (4, 'y');
ROLLBACK TO s;
INSERT INTO changed VALUES (5, 'z');
COMMIT;
SELECT a, b FROM changed ORDER BY 1;
DROP FOREIGN TABLE changed;

-- ---- row security of a partitioned table ----

CREATE TABLE secure (a int, b text) PARTITION BY LIST (a);
CREATE FOREIGN TABLE secure_file PARTITION OF secure FOR VALUES IN (1)
  SERVER csv OPTIONS (filename 'regress_csv/secure-*.csv', writable 'true');
CREATE TABLE secure_heap PARTITION OF secure FOR VALUES IN (2);
ALTER TABLE secure ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secure USING (b = current_user) WITH CHECK (b = current_user);
CREATE ROLE regress_csv_writer;
GRANT USAGE ON SCHEMA csv_test TO regress_csv_writer;
GRANT ALL ON secure TO regress_csv_writer;
GRANT pg_read_server_files TO regress_csv_writer;
SET ROLE regress_csv_writer;
INSERT INTO secure VALUES (2, 'another');
INSERT INTO secure VALUES (1, 'another');
INSERT INTO secure VALUES (1, current_user), (2, current_user);
UPDATE secure SET a = 1, b = 'another' WHERE a = 2;
COPY secure FROM '/dev/null';
SELECT * FROM secure;
RESET ROLE;
DROP TABLE secure;
REVOKE USAGE ON SCHEMA csv_test FROM regress_csv_writer;
DROP ROLE regress_csv_writer;

-- a name without a directory is one in the data directory
CREATE FOREIGN TABLE without_directory (a int) SERVER csv OPTIONS (filename 'regress_csv-*.csv', writable 'true');
INSERT INTO without_directory VALUES (1);
SELECT * FROM without_directory;
TRUNCATE without_directory;
SELECT * FROM without_directory;
DROP FOREIGN TABLE without_directory;

-- rows that the temporary file has no room for (the message differs between releases)
CREATE FOREIGN TABLE waiting (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/waiting.csv', writable 'true');
\set VERBOSITY terse
SET temp_file_limit = '100kB';
BEGIN;
INSERT INTO waiting VALUES (1, 'x');
SAVEPOINT s;
\set VERBOSITY sqlstate
INSERT INTO waiting SELECT i, repeat('x', 100) FROM generate_series(1, 2000) i;
\set VERBOSITY terse
ROLLBACK TO s;
COMMIT;
BEGIN;
INSERT INTO waiting VALUES (2, 'x');
SAVEPOINT s;
\set VERBOSITY sqlstate
INSERT INTO waiting SELECT i, repeat('x', 100) FROM generate_series(1, 2000) i;
\set VERBOSITY terse
ROLLBACK TO s;
INSERT INTO waiting VALUES (3, 'x');
ROLLBACK;
BEGIN;
SAVEPOINT s;
INSERT INTO waiting VALUES (4, 'x');
\set VERBOSITY sqlstate
INSERT INTO waiting SELECT i, repeat('x', 100) FROM generate_series(1, 2000) i;
ROLLBACK TO s;
COMMIT;
BEGIN;
SAVEPOINT s;
INSERT INTO waiting SELECT i, repeat('x', 100) FROM generate_series(1, 2000) i;
ROLLBACK TO s;
INSERT INTO waiting SELECT i, repeat('y', 100) FROM generate_series(1, 500) i;
COMMIT;
RESET temp_file_limit;
\set VERBOSITY default
SELECT count(*), count(DISTINCT a), sum(length(b)), min(b) = max(b) AS same FROM waiting;

\i :teardown
