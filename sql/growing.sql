--
-- Files that grow: the option "growing".
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup
CREATE PROCEDURE append_file(name text, content text) LANGUAGE plpgsql AS $$
BEGIN
  CALL write_file(name, pg_read_binary_file('regress_csv/' || name) || convert_to(content, 'UTF8'));
END $$;
CALL write_file('growing.csv', E'a,b\n1,one\n2,"two\n2"\n3,thr');
CREATE FOREIGN TABLE growing (a int, b text, n bigint OPTIONS (virtual 'record'), l bigint OPTIONS (virtual 'line'))
	SERVER csv OPTIONS (filename 'regress_csv/growing.csv', header 'match', growing 'true', on_error 'stop');
-- half a record is not there yet
SELECT * FROM growing;
SELECT count(*), sum(a) FROM growing;
SELECT * FROM csv_gpu_errors('growing');
SELECT explain('SELECT a FROM growing', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');
CALL append_file('growing.csv', E'ee\n"4\n');
SELECT * FROM growing;
CALL append_file('growing.csv', E'",5\r');
SELECT a, b FROM growing;
CALL append_file('growing.csv', E'\n');
SELECT a, b FROM growing;
-- half a header
CALL write_file('growing.csv', 'a,');
SELECT * FROM growing;
CALL append_file('growing.csv', E'b\n');
SELECT * FROM growing;
ALTER FOREIGN TABLE growing OPTIONS (SET header 'true', ADD comment '#');
CALL write_file('growing.csv', E'# a com');
SELECT * FROM growing;
CALL append_file('growing.csv', E'ment\na,b\n#5,five');
SELECT * FROM growing;
CALL append_file('growing.csv', E'\n6,six\n');
SELECT * FROM growing;
-- without the option
ALTER FOREIGN TABLE growing OPTIONS (SET growing 'false', SET on_error 'skip');
CALL write_file('growing.csv', E'a,b\n1,one\n3');
SELECT a FROM growing;
ALTER FOREIGN TABLE growing OPTIONS (SET growing 'true');
SELECT a FROM growing;
-- line ends that may not be complete
CREATE FOREIGN TABLE growing_end (a text, b text) SERVER csv OPTIONS (filename 'regress_csv/growing.csv', growing 'true');
CALL write_file('growing.csv', E'1,one\r');
SELECT * FROM growing_end;
CALL append_file('growing.csv', E'2,two\r');
SELECT * FROM growing_end;
CALL write_file('growing.csv', E'1,one\r\n2,two\r\r');
SELECT * FROM growing_end;
CALL append_file('growing.csv', E'\n');
SELECT * FROM growing_end;
ALTER FOREIGN TABLE growing_end OPTIONS (ADD record_boundary 'crlf');
CALL write_file('growing.csv', E'1,one\r\n2,two\r\n3,three\n\r');
SELECT * FROM growing_end;
ALTER FOREIGN TABLE growing_end OPTIONS (SET record_boundary 'auto', ADD delimiter '||');
CALL write_file('growing.csv', E'1||one\n2|');
SELECT * FROM growing_end;
-- the text format, with half an end of data
ALTER FOREIGN TABLE growing_end OPTIONS (SET delimiter '|', ADD format 'text');
CALL write_file('growing.csv', E'1|one\\\nline\n2|two\\\n');
SELECT * FROM growing_end;
CALL append_file('growing.csv', E'\n\\.\n');
SELECT * FROM growing_end;
-- too long
ALTER FOREIGN TABLE growing_end OPTIONS (DROP format, ADD max_record_size '20');
CALL write_file('growing.csv', E'1|one\n"2|two\n3|three\n4|four\n5|fi');
SELECT * FROM growing_end;
-- other encodings
CREATE FOREIGN TABLE growing_wide (a text, b text) SERVER csv OPTIONS (filename 'regress_csv/growing.csv', growing 'true', encoding 'UTF16');
CALL write_file('growing.csv', bytea '\x61002c0062000a0063002c0064000a');
SELECT * FROM growing_wide;
CALL write_file('growing.csv', bytea '\x61002c0062000a0063002c0064000a00');
SELECT * FROM growing_wide;
ALTER FOREIGN TABLE growing_wide OPTIONS (SET encoding 'SJIS');
CALL write_file('growing.csv', bytea '\x612c620a632c835c0a642c83');
SELECT * FROM growing_wide;
-- compressed files end with their last complete member or frame
CREATE FOREIGN TABLE growing_gz (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/growing.csv.gz', growing 'true', on_error 'stop');
\set gz1 '1f8b080000000000020333d4c9cf4be532d22929cfe732d629c90000f0ec0e6310000000'
\set gz2 '1f8b08000000000002032b4a4de532d149cb2f2de232d54903003aa59ffd0e000000'
\set gz3 '1f8b0800000000000203cb2c4be502008b0549cf04000000'
CALL write_file('growing.csv.gz', decode(:'gz1', 'hex'));
SELECT * FROM growing_gz;
CALL write_file('growing.csv.gz', decode(:'gz1' || left(:'gz2', -10), 'hex'));
SELECT * FROM growing_gz;
CALL write_file('growing.csv.gz', decode(:'gz1' || :'gz2' || '0000' || left(:'gz3', 6), 'hex'));
SELECT * FROM growing_gz;
CALL write_file('growing.csv.gz', decode(:'gz1' || :'gz2' || :'gz3', 'hex'));
SELECT * FROM growing_gz;
CALL write_file('growing.csv.gz', decode(left(:'gz1', 10), 'hex'));
SELECT * FROM growing_gz;
-- damage is an error
CALL write_file('growing.csv.gz', decode(:'gz1' || repeat('1234567890', 4), 'hex'));
SELECT * FROM growing_gz;
-- a pattern: an unterminated record is a record if the file has rested, and is not the newest
CREATE FOREIGN TABLE growing_all (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/grow-*.csv', growing 'true');
CALL write_file('grow-1.csv', E'1,one\n2,two');
CALL write_file('grow-2.csv', E'3,three\n4');
SELECT a FROM growing_all;
COPY (SELECT) TO PROGRAM 'touch -d "1 hour ago" regress_csv/grow-1.csv';
SELECT a FROM growing_all;
COPY (SELECT) TO PROGRAM 'touch -d "2 hours ago" regress_csv/grow-2.csv';
SELECT a FROM growing_all;
-- what does not go together
ALTER FOREIGN TABLE growing OPTIONS (ADD footer_rows '1');
CREATE FOREIGN TABLE wrong (a int) SERVER csv OPTIONS (program 'cat /dev/null', growing 'true');
CREATE FOREIGN TABLE wrong (a int) SERVER csv OPTIONS (filename 'f', growing 'maybe');
\i :teardown
