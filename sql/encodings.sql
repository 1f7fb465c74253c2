--
-- Encodings: UTF-8 checked, others converted; bytes that are no characters; zero bytes.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (id int, v text, w text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');

--
-- UTF-8: valid characters of each length, the first and the last of each
--
CALL write_file('t.csv', decode('312c01c280dfbf2c7f0a322ce0a080ed9fbfee8080efbfbf2c0a332cf0908080f48fbfbf2c0a', 'hex'));
SELECT id, length(v), octet_length(v), length(w) FROM t;
-- invalid ones: each is a bad record, its neighbours are good
CREATE FUNCTION try_bytes(VARIADIC sequences text[]) RETURNS TABLE (bytes text, message text, rest bigint)
LANGUAGE plpgsql AS $$
BEGIN
  ALTER FOREIGN TABLE t OPTIONS (ADD log_verbosity 'silent');
  FOREACH bytes IN ARRAY sequences LOOP
    -- alone in the field, within text, at the end of a longer text, quoted, and at the end of the file
    CALL write_file('t.csv', convert_to(E'1,a,b\n2,', 'UTF8') || decode(bytes, 'hex') || convert_to(E',b\n3,a,b\n4,ab', 'UTF8') ||
                    decode(bytes, 'hex') || convert_to(E'c,b\n5,"', 'UTF8') || convert_to(repeat('ä', 40), 'UTF8') || decode(bytes, 'hex') ||
                    convert_to(E'",b\n6,a,', 'UTF8') || decode(bytes, 'hex'));
    SELECT count(*) INTO rest FROM t WHERE v IS NOT NULL AND w IS NOT NULL;
    FOR message IN SELECT string_agg(e.record || ': ' || e.message, E'\n' ORDER BY e.record) FROM csv_gpu_errors('t') e LOOP
      RETURN NEXT;
    END LOOP;
  END LOOP;
  ALTER FOREIGN TABLE t OPTIONS (DROP log_verbosity);
END $$;
\x
-- a continuation byte alone; overlong; a surrogate; above U+10FFFF; 5 and 6 bytes; never used
SELECT * FROM try_bytes('80', 'bf', 'c0af', 'c180', 'e09fbf', 'f08fbfbf', 'eda080', 'edbfbf', 'f4908080', 'f5808080', 'f888808080', 'fc8480808080', 'fe', 'ff');
-- cut off
SELECT * FROM try_bytes('c3', 'e282', 'e2', 'f09f9880c3', 'f09f98', 'f09f', 'f0');
\x
-- not wanted, not checked
CALL write_file('t.csv', E'1,\\377,a\n2,b,\\355\\240\\200\n3,c,\\000\n'::bytea);
SELECT id FROM t;
SELECT id, v FROM t;
SELECT id, w FROM t;
SELECT id FROM t WHERE w <> '';
-- of a number, an input function's and a char(n) likewise
CREATE FOREIGN TABLE typed (i int, f float8, j json, c char(5), d date) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'\\377,,,,\n,\\377,,,\n,,"""\\377""",,\n,,,\\377,\n,,,,\\377\n1,2,3,4,2000-01-01\n'::bytea);
SELECT * FROM typed;
-- a character cut in two by nothing but the end of the file
CALL write_file('t.csv', E'1,a,\\360\\237\\230'::bytea);
SELECT * FROM t;

--
-- zero bytes: an error where the field is wanted
--
CALL write_file('t.csv', E'1,\\000,x\n2,a\\000b,x\n3,"\\000",x\n4,a,b\\000\n5,a,b\n6,\\000\\377,\\377\n'::bytea);
SELECT * FROM t;
SELECT id FROM t;
CALL write_file('t.csv', E'1\\000,,,,\n,1\\000,,,\n,,\\000,,\n,,,a\\000,\n,,,,\\0002000-01-01\n1,2,3,4,2000-01-01\n'::bytea);
SELECT * FROM typed;
CALL write_file('t.csv', E'1,a,b\\000'::bytea);
SELECT * FROM t;

--
-- single-byte encodings
--
ALTER FOREIGN TABLE t OPTIONS (ADD encoding 'LATIN1');
CALL write_file('t.csv', convert_to(E'1,äöü,ß\n2,"é ""è""",plain\n3,\u00ff,\u00a0\n', 'LATIN1'));
SELECT id, v, octet_length(v), w = E'\u00a0' AS nbsp FROM t;
-- characters are counted after the conversion, and so are bytes
ALTER FOREIGN TABLE t ALTER v OPTIONS (ADD max_chars '3');
CALL write_file('t.csv', convert_to(E'1,äöü,\n2,äöüß,\n3,"ä""ü",\n4,"ä""üx",\n', 'LATIN1'));
SELECT id, v FROM t;
ALTER FOREIGN TABLE t ALTER v OPTIONS (DROP max_chars, ADD byte_width '4');
CALL write_file('t.csv', convert_to(E'1,äö,\n2,äöa,\n3,abcd,\n4,abcde,\n', 'LATIN1'));
SELECT id, v FROM t;
ALTER FOREIGN TABLE t ALTER v OPTIONS (DROP byte_width);
-- a byte that the encoding does not have
ALTER FOREIGN TABLE t OPTIONS (SET encoding 'WIN1252');
CALL write_file('t.csv', E'1,\\200\\223\\224,a\n2,a\\201b,a\n3,b,c\n'::bytea);
SELECT * FROM t;
-- char(n), varchar(n) and numbers
CREATE FOREIGN TABLE latin (v varchar(3), c char(3), n int) SERVER csv OPTIONS (filename 'regress_csv/t.csv', encoding 'LATIN1');
CALL write_file('t.csv', convert_to(E'äöü,ä,1\näöüß,ä,1\näöü  ,äöü  ,2\na,äöüx,3\na,b,ü\n', 'LATIN1'));
SELECT v, length(v), c, octet_length(c), n FROM latin;
-- EUC_JP: several bytes, none of them ASCII
ALTER FOREIGN TABLE t OPTIONS (SET encoding 'EUC_JP');
CALL write_file('t.csv', convert_to(E'1,東京,"大,阪"\n', 'EUC_JP'));
SELECT * FROM t;
CALL write_file('t.csv', E'1,\\244,b\n2,a,b\n'::bytea);
SELECT * FROM t;

--
-- encodings whose characters hide ASCII bytes: converted first
--
ALTER FOREIGN TABLE t OPTIONS (SET encoding 'SJIS', ADD delimiter '|', ADD escape '\', ADD header 'true');
-- 0x7C and 0x5C are the second bytes of these
SELECT convert_to('ポ表', 'SJIS');
ALTER FOREIGN TABLE t ADD COLUMN line int OPTIONS (virtual 'line'), ADD COLUMN byte_offset int OPTIONS (virtual 'byte_offset');
CALL write_file('t.csv', convert_to(E'id|ポ|表\n1|ポ|表\n2|"ポ|"|"表\\""\n3|x|表\n', 'SJIS'));
SELECT * FROM t;
CALL write_file('t.csv', E'id|v|w\n1|\\203\\377|b\n2|a|\\203|\n3|a|b\n4|\\240|b\n'::bytea);
SELECT id FROM t;
SELECT id, v, w FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET encoding 'GBK', DROP delimiter, DROP escape, DROP header);
CALL write_file('t.csv', convert_to(E'1,中文,"引号"\n', 'GBK'));
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET encoding 'BIG5');
CALL write_file('t.csv', convert_to(E'1,功,許蓋\n', 'BIG5'));
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET encoding 'GB18030');
CALL write_file('t.csv', convert_to(E'1,中文,ä\n', 'GB18030'));
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET encoding 'UHC');
CALL write_file('t.csv', convert_to(E'1,한국,똠\n', 'UHC'));
SELECT * FROM t;
-- longer than what is converted at a time
ALTER FOREIGN TABLE t OPTIONS (SET encoding 'SJIS');
DO $$
DECLARE
  content bytea;
BEGIN
  SELECT convert_to(string_agg(i || ',' || repeat('表', i % 9) || ',ポ' || E'\n', '' ORDER BY i), 'SJIS') INTO content FROM generate_series(1, 20000) i;
  CALL write_file('t.csv', content);
END $$;
SELECT count(*), sum(length(v)), count(DISTINCT w), max(line), max(byte_offset) FROM t;
-- the NULL marker is converted as well
ALTER FOREIGN TABLE t OPTIONS (ADD "null" '表');
CALL write_file('t.csv', convert_to(E'1,表,"表"\n', 'SJIS'));
SELECT id, v IS NULL AS vnull, w IS NULL AS wnull FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP "null", DROP encoding);

--
-- without the option: the client's encoding, as in COPY
--
CALL write_file('t.csv', E'1,\\344,\\366\n'::bytea);
SELECT count(v) FROM t;
SET client_encoding = 'LATIN1';
SELECT id, length(v), octet_length(v), w = U&'\00f6' AS w FROM t;
SET client_encoding = 'UTF8';
--
-- a byte-order mark of UTF-8 counts more than the encoding: files of a pattern, in any form
--
CREATE FOREIGN TABLE m (id int, v text) SERVER csv OPTIONS (filename 'regress_csv/m?.csv', header 'true', encoding 'WIN1252');
CREATE FOREIGN TABLE z (id int, v text) SERVER csv OPTIONS (filename 'regress_csv/m2.csv.gz', header 'true', encoding 'WIN1252');
CREATE FOREIGN TABLE p (id int, v text) SERVER csv OPTIONS (program 'cat regress_csv/m2.csv', header 'true', encoding 'WIN1252');
CALL write_file('m1.csv', convert_to(E'id,v\n1,Zoë\n2,10 €\n', 'WIN1252'));
CALL write_file('m2.csv', convert_to(E'\uFEFFid,v\n3,Zoë\n4,10 €\n', 'UTF8'));
COPY (SELECT 1 WHERE false) TO PROGRAM 'gzip <regress_csv/m2.csv >regress_csv/m2.csv.gz';
SELECT *, octet_length(v) FROM m ORDER BY id;
SELECT * FROM z;
SELECT * FROM p;
CREATE TABLE loaded (id int, v text);
SELECT records_loaded, records_skipped FROM csv_gpu_load('m', 'loaded');
SELECT * FROM loaded ORDER BY id;
ALTER FOREIGN TABLE m OPTIONS (ADD by_name 'true', SET encoding 'SJIS');
CALL write_file('m1.csv', E'v,id\n\\203\\174,1\n'::bytea);
SELECT * FROM m ORDER BY id;
-- also more than the client's
ALTER FOREIGN TABLE m OPTIONS (DROP encoding);
CALL write_file('m1.csv', convert_to(E'id,v\n1,Zoë\n', 'LATIN1'));
CALL write_file('m2.csv', convert_to(E'\uFEFFid,v\n3,Zoë\n', 'UTF8'));
SET client_encoding = 'LATIN1';
SELECT id, v = U&'Zo\00eb' AS right FROM m ORDER BY id;
SET client_encoding = 'UTF8';
-- characters that the encoding does not have
CALL write_file('m2.csv', convert_to(E'\uFEFFid,v\n3,東京\n', 'UTF8'));
ALTER FOREIGN TABLE m OPTIONS (ADD encoding 'LATIN1', DROP by_name);
SELECT * FROM m;
CALL write_file('m2.csv', '\xefbbbf69642c760a332cff0a'::bytea);
SELECT * FROM m;
ALTER FOREIGN TABLE m OPTIONS (SET filename 'regress_csv/m2.csv', SET encoding 'UTF8');
SELECT * FROM m;
-- UTF-16 contradicts, and rows are not written into such a file
CALL write_file('m2.csv', convert_to(E'\uFEFFid,v\n3,Zoë\n', 'UTF8'));
ALTER FOREIGN TABLE m OPTIONS (SET encoding 'UTF16LE');
SELECT * FROM m;
ALTER FOREIGN TABLE m OPTIONS (SET encoding 'LATIN1', ADD writable 'true');
INSERT INTO m VALUES (5, 'Zoë');
ALTER FOREIGN TABLE m OPTIONS (SET encoding 'UTF8');
INSERT INTO m VALUES (5, 'Zoë');
SELECT * FROM m;
-- kept columns: of files that are not converted
\set memory 64MB
\i :set_memory
CALL write_file('m1.csv', convert_to(E'id,v\n1,Zoë\n', 'LATIN1'));
CALL settle();
ALTER FOREIGN TABLE m OPTIONS (SET filename 'regress_csv/m?.csv', SET encoding 'LATIN1', DROP writable);
SELECT * FROM m ORDER BY id;
SELECT * FROM m ORDER BY id;
\set memory off
\i :set_memory

-- SQL_ASCII: taken for the server's encoding
ALTER FOREIGN TABLE t OPTIONS (ADD encoding 'SQL_ASCII');
CALL write_file('t.csv', E'1,ä,\\303\\266\n2,\\344,a\n'::bytea);
SELECT id, v, w FROM t;

\i :teardown
