--
-- Compressed files.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

-- the same two files, by each of the tools: id,name / 1,one / 2,"two|two" (two
-- lines), and 3,three / 4,four
\set gz1 1f8b0800000000000003cb4cd1c94bcc4de532d4c9cf4be532d2512a29cfe70262252e008cbb6cf51a000000
\set gz2 1f8b080000000000000333d629c9284a4de532d149cb2f2de202001ea8ac590f000000
\set zst1 28b52ffd0458d1000069642c6e616d650a312c6f6e650a322c2274776f0a74776f220aaedde4ec
\set zst2 28b52ffd0458790000332c74687265650a342c666f75720a473f69b8
\set lz1 04224d186440a71a00008069642c6e616d650a312c6f6e650a322c2274776f0a74776f220a00000000b8850867
\set lz2 04224d186440a70f000080332c74687265650a342c666f75720a00000000c5a0a31d
-- a frame that the tools pass over
\set skippable 502a4d1804000000736b6970
CALL write_file('a.csv.gz', decode(:'gz1', 'hex'));
CALL write_file('a.csv.zst', decode(:'zst1', 'hex'));
CALL write_file('a.csv.LZ4', decode(:'lz1', 'hex'));
CALL write_file('plain.csv', E'id,name\n9,nine\n');
CREATE FOREIGN TABLE t (id int, name text,
    file text OPTIONS (virtual 'filename'), line bigint OPTIONS (virtual 'line'), "offset" bigint OPTIONS (virtual 'byte_offset'))
    SERVER csv OPTIONS (filename 'regress_csv/a.csv.gz', header 'true');
SELECT * FROM t;
SELECT count(*), sum(id) FROM t;

-- a pattern of all sorts: each file by its own suffix, with its own header
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/*');
SELECT * FROM t;

-- several members and frames, one after the other
CALL write_file('m.csv.gz', decode(:'gz1' || :'gz2', 'hex'));
CALL write_file('m.csv.zst', decode(:'zst1' || :'skippable' || :'zst2', 'hex'));
CALL write_file('m.csv.lz4', decode(:'lz1' || :'skippable' || :'lz2', 'hex'));
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/m.csv.*');
SELECT id, name, file FROM t;
-- zero bytes behind gzip's are padding
CALL write_file('m.csv.gz', decode(:'gz1' || :'gz2' || '0000000000', 'hex'));
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/m.csv.gz');
SELECT count(*) FROM t;

-- the option, over the suffix
CALL write_file('b.dat', decode(:'zst1', 'hex'));
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/b.dat', ADD compression 'zstd');
SELECT id, name FROM t;
CALL write_file('c.gz', E'id,name\n8,eight\n');
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/c.gz', SET compression 'None');
SELECT id, name FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET compression 'auto');
\set VERBOSITY sqlstate
SELECT id, name FROM t;
\set VERBOSITY default
ALTER FOREIGN TABLE t OPTIONS (SET compression 'bzip2');

-- a program's output, only if the option says so
ALTER FOREIGN TABLE t OPTIONS (DROP filename, DROP compression, ADD program 'cat regress_csv/plain.csv #.gz');
SELECT id, name FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET program 'cat regress_csv/m.csv.lz4', ADD compression 'lz4');
SELECT id, name FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET program 'cat regress_csv/m.csv.lz4; exit 3');
SELECT id, name FROM t;

-- a byte-order mark, CR LF, and an encoding that is converted
CALL write_file('bom.csv.gz', decode('1f8b08000000000000037bbf7b7f668a755e626e2a2f97b975716a596a1e2f170080c88d4615000000', 'hex'));
CREATE FOREIGN TABLE bom (id int, name text) SERVER csv
    OPTIONS (filename 'regress_csv/bom.csv.gz', header 'match', delimiter ';');
SELECT * FROM bom;
ALTER FOREIGN TABLE bom OPTIONS (SET filename 'regress_csv/a.csv.zst', SET delimiter ',', ADD encoding 'SJIS');
SELECT * FROM bom;

-- bad records, as in other files
CREATE FOREIGN TABLE bad (id int) SERVER csv OPTIONS (filename 'regress_csv/m.csv.gz', columns '2');
SELECT count(id) FROM bad;
SELECT record, line, byte_offset, error, raw FROM csv_gpu_errors('bad');

-- damaged, truncated, empty, and followed by something else
CREATE FOREIGN TABLE d (id int, name text) SERVER csv OPTIONS (filename '', header 'true');
CREATE FUNCTION damaged(file text, content text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  message text;
  detail text;
BEGIN
  CALL write_file(file, decode(content, 'hex'));
  EXECUTE format('ALTER FOREIGN TABLE d OPTIONS (SET filename %L)', 'regress_csv/' || file);
  PERFORM * FROM d;
  RETURN 'read';
EXCEPTION WHEN bad_copy_file_format THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
  -- what the library says of damage, and where it sees it, is its own
  IF message !~ 'unexpected end of file|trailing garbage' THEN
    message := regexp_replace(message, '": .*', '": ...');
    detail := regexp_replace(detail, '\d+', 'N');
  END IF;
  RETURN message || E'\n' || detail;
END $$;
SELECT damaged('d.gz', left(:'gz1', -2)), damaged('d.zst', left(:'zst1', -2)), damaged('d.lz4', left(:'lz1', -2));
SELECT damaged('d.gz', left(:'gz1', 8)), damaged('d.zst', left(:'zst1', 8)), damaged('d.lz4', left(:'lz1', 8));
SELECT damaged('d.gz', ''), damaged('d.zst', ''), damaged('d.lz4', '');
SELECT damaged('d.gz', :'gz1' || left(:'gz2', -2)), damaged('d.zst', :'zst1' || left(:'zst2', -2)), damaged('d.lz4', :'lz1' || left(:'lz2', -2));
SELECT damaged('d.gz', :'gz1' || '4142434445464748'), damaged('d.zst', :'zst1' || '4142434445464748'), damaged('d.lz4', :'lz1' || '4142434445464748');
SELECT damaged('d.gz', :'gz1' || '0000' || :'gz2');
-- checksums, each in the file's last bytes
SELECT damaged('d.gz', overlay(:'gz1' placing 'ff' from length(:'gz1') - 15)), damaged('d.zst', overlay(:'zst1' placing 'ff' from length(:'zst1') - 1)), damaged('d.lz4', overlay(:'lz1' placing 'ff' from length(:'lz1') - 1));

-- compressed or in UTF-16 under a plain name: told, unless it is to be read so
CREATE FOREIGN TABLE plain (id int, name text) SERVER csv OPTIONS (filename '', header 'true');
CREATE FUNCTION read_plain(content text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
  message text;
  hint text;
BEGIN
  CALL write_file('p.csv', decode(content, 'hex'));
  SELECT count(id) INTO n FROM plain;
  RETURN n || ' rows';
EXCEPTION WHEN bad_copy_file_format THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  RETURN message || E'\n' || hint;
END $$;
\set zip 504b0304140000000000
\set utf16 fffe310032000a00
ALTER FOREIGN TABLE plain OPTIONS (SET filename 'regress_csv/p.csv');
SELECT read_plain(:'gz1'), read_plain(:'zst1'), read_plain(:'lz1'), read_plain(:'zip');
-- bzip2 and xz; text that begins as bzip2's files do
SELECT read_plain('425a683931415926535900000000'), read_plain('fd377a585a000004e6d6b446'),
  read_plain(encode(E'BZh9,1\n', 'hex'));
SELECT read_plain(:'utf16'), read_plain('feff00310032000a'), read_plain('fffe'), read_plain('');
-- with what it does not begin with, it is none
SELECT read_plain('28b52f'), read_plain('504b0a'), read_plain('1f0a8b'), read_plain('0a' || :'gz1');
-- wherever else a file's first bytes may be read: without a header, by threads, converted
ALTER FOREIGN TABLE plain OPTIONS (DROP header, ADD record_boundary 'lf');
SELECT read_plain(:'gz1'), read_plain(:'zst1'), read_plain(:'utf16');
ALTER FOREIGN TABLE plain OPTIONS (ADD encoding 'SJIS');
SELECT read_plain(:'zst1');
-- in another encoding a file may begin so
ALTER FOREIGN TABLE plain OPTIONS (SET encoding 'LATIN1');
SELECT read_plain('fffe2c310a322c320a');
ALTER FOREIGN TABLE plain OPTIONS (DROP encoding, SET filename 'regress_csv/p*.csv');
SELECT read_plain(:'zst1');
ALTER FOREIGN TABLE plain OPTIONS (DROP filename, ADD program 'cat regress_csv/p.csv');
SELECT read_plain(:'lz1'), read_plain('fd377a585a000004e6d6b446');
ALTER FOREIGN TABLE plain OPTIONS (DROP program, ADD filename 'regress_csv/p.csv', ADD compression 'none');
SELECT read_plain(:'gz1'), read_plain(:'zst1'), read_plain(:'lz1'), read_plain(:'zip'), read_plain(:'utf16');
-- UTF-16 in gzip
CALL write_file('utf16.csv.gz', decode('1f8b0800000000000203fbff2f934187218f818bc1104857006900c557fcd112000000', 'hex'));
SELECT * FROM csv_gpu_sniff('regress_csv/utf16.csv.gz');
CALL write_file('p.csv', decode(:'zst1', 'hex'));
SELECT * FROM csv_gpu_sniff('regress_csv/p.csv');
CREATE SCHEMA csv_plain;
COPY (SELECT 1 WHERE false) TO PROGRAM 'mkdir regress_csv/plain && cp regress_csv/p.csv regress_csv/plain/';
IMPORT FOREIGN SCHEMA "regress_csv/plain" FROM SERVER csv INTO csv_plain;
IMPORT FOREIGN SCHEMA "regress_csv/plain" FROM SERVER csv INTO csv_plain OPTIONS (compression 'zstd');
SELECT * FROM csv_plain.p;
DROP SCHEMA csv_plain CASCADE;
-- sniffing has no options
CALL write_file('x.csv', decode('fd377a585a000004e6d6b446', 'hex'));
SELECT * FROM csv_gpu_sniff('regress_csv/x.csv');
CALL write_file('n.csv.gz', 'a,b');
SELECT * FROM csv_gpu_sniff('regress_csv/n.csv.gz');
SELECT * FROM csv_gpu_sniff('https://example.org/x.csv');
SELECT * FROM csv_gpu_sniff('s3://bucket/*.csv');
IMPORT FOREIGN SCHEMA "s3://bucket" FROM SERVER csv INTO public;
ALTER FOREIGN TABLE plain OPTIONS (SET filename 'https://example.org/x.csv');
SELECT * FROM plain;
ALTER FOREIGN TABLE plain OPTIONS (SET filename 'https://example.org/*.csv');
SELECT * FROM plain;

-- sizes and statistics
CREATE FOREIGN TABLE size (id int, name text) SERVER csv OPTIONS (filename 'regress_csv/a.csv.gz', header 'true');
SELECT line FROM explain('SELECT * FROM size', 'COSTS ON') line WHERE line ~ 'File';
ANALYZE size;
SELECT reltuples, relpages FROM pg_class WHERE oid = 'size'::regclass;
SELECT attname, n_distinct FROM pg_stats WHERE tablename = 'size' ORDER BY 1;

-- resident columns: the identity is that of the compressed file
\set memory 10MB
\i :set_memory
CALL settle();
SELECT sum(id) FROM size;
SELECT sum(id) FROM size;
SELECT filename, columns, rows FROM csv_gpu_resident();
CALL write_file('a.csv.gz', decode(:'gz1' || :'gz2', 'hex'));
SELECT sum(id) FROM size;
\set memory off
\i :set_memory

\i :teardown
