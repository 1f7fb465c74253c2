--
-- Files in UTF-16.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\set database :DBNAME
\i :setup

-- text as UTF-16, with a byte-order mark if there is one in it
CREATE FUNCTION units(content text) RETURNS SETOF int LANGUAGE sql AS $$
  SELECT unit FROM regexp_split_to_table(content, '') WITH ORDINALITY AS c (c, i), ascii(c) AS n,
    LATERAL (VALUES (1, CASE WHEN n < 65536 THEN n ELSE 55296 + (n - 65536) / 1024 END), (2, CASE WHEN n >= 65536 THEN 56320 + (n - 65536) % 1024 END)) AS u (half, unit)
    WHERE unit IS NOT NULL ORDER BY i, half
$$;
CREATE FUNCTION utf16le(content text) RETURNS bytea LANGUAGE sql AS
$$ SELECT coalesce(string_agg(decode(lpad(to_hex(u % 256 * 256 + u / 256), 4, '0'), 'hex'), '' ORDER BY i), '') FROM units(content) WITH ORDINALITY AS t (u, i) $$;
CREATE FUNCTION utf16be(content text) RETURNS bytea LANGUAGE sql AS
$$ SELECT coalesce(string_agg(decode(lpad(to_hex(u), 4, '0'), 'hex'), '' ORDER BY i), '') FROM units(content) WITH ORDINALITY AS t (u, i) $$;
SELECT utf16le(U&'\FEFFa\+01F600'), utf16be(U&'\FEFFa\+01F600');

-- the option, in any spelling that PostgreSQL takes of its own names; the order of bytes without a mark
CREATE FOREIGN TABLE t (id int, a text, b text) SERVER csv OPTIONS (filename 'regress_csv/t.csv', encoding 'UTF16');
SELECT utf16le(content) AS le, utf16be(content) AS be, utf16le(E'\uFEFF' || content) AS marked_le, utf16be(E'\uFEFF' || content) AS marked_be
  FROM (VALUES (E'1,äöü,"a,""b"""\n2,"two\nlines",日本\n3,,\U0001F600\n')) AS v (content) \gset
CREATE FUNCTION rows_of(content bytea, encoding text DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  message text;
  hint text;
BEGIN
  CALL write_file('t.csv', content);
  ALTER FOREIGN TABLE t OPTIONS (DROP encoding);
  IF encoding IS NOT NULL THEN
    EXECUTE format('ALTER FOREIGN TABLE t OPTIONS (ADD encoding %L)', encoding);
  ELSE
    RETURN QUERY SELECT t::text FROM t;
    ALTER FOREIGN TABLE t OPTIONS (ADD encoding 'UTF8');
    RETURN;
  END IF;
  RETURN QUERY SELECT t::text FROM t;
EXCEPTION WHEN bad_copy_file_format OR invalid_parameter_value THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  RETURN NEXT message || E'\n' || hint;
END $$;
SELECT rows_of(:'le', 'UTF16');
SELECT rows_of(:'marked_le', 'UTF16') EXCEPT ALL SELECT rows_of(:'le', 'utf-16');
SELECT rows_of(:'marked_be', 'Utf_16') EXCEPT ALL SELECT rows_of(:'le', 'UTF16');
SELECT rows_of(:'be', 'utf-16be') EXCEPT ALL SELECT rows_of(:'le', 'UTF-16LE');
SELECT rows_of(:'marked_be', 'UTF16BE') EXCEPT ALL SELECT rows_of(:'marked_le', 'UTF16LE');
-- without the option
SELECT rows_of(:'marked_be') EXCEPT ALL SELECT rows_of(:'le', 'UTF16');
SELECT rows_of(:'marked_le') EXCEPT ALL SELECT rows_of(:'le', 'UTF16');
-- a mark that says something else than the option does
SELECT rows_of(:'marked_be', 'UTF16LE');
SELECT rows_of(:'marked_le', 'UTF16BE');
SELECT rows_of(:'marked_le', 'UTF8');
-- and names that are none
SELECT rows_of(:'le', 'UTF16L');
SELECT rows_of(:'le', 'UTF1');
SELECT rows_of(:'le', 'UTF16LEE');
-- UTF-32
SELECT rows_of('\xfffe0000310000000a000000'), rows_of('\xfffe0000310000000a000000', 'UTF16'), rows_of('\x0000feff000000310000000a', 'UTF8');
-- without the option, the text is UTF-8 or what the client has
SET client_encoding = 'LATIN1';
SELECT rows_of(:'marked_le');
SET client_encoding = 'SJIS';
SELECT count(*) FROM rows_of(:'marked_le');
SET client_encoding = 'UTF8';
-- nothing, a mark and nothing else, and less than a mark
SELECT rows_of('', 'UTF16'), rows_of('\xfffe', 'UTF16'), rows_of('\xfeff'), rows_of('\xfffe');
SELECT rows_of('\xff'), rows_of('\x31', 'UTF16BE');

-- what is no text is bad where it is wanted: surrogates without their other half, half a code unit, U+0000
CREATE FOREIGN TABLE bad (id int, v text, line bigint OPTIONS (virtual 'line'), "offset" bigint OPTIONS (virtual 'byte_offset')) SERVER csv
  OPTIONS (filename 'regress_csv/t.csv', encoding 'UTF16BE', log_verbosity 'verbose');
CALL write_file('t.csv', utf16be(E'1,ä\n2,') || '\xd83d' || utf16be(E'\n3,') || '\xde00d83d' || utf16be(E'x\n4,y\n5,') || '\x0000' || utf16be(E'\n6,\U0001F600\n7,') || '\xd83d' || utf16be(E'"\n8,\nx,9\n10,z') || '\x00');
SELECT * FROM bad;
SELECT id FROM bad;
SELECT record, line, byte_offset, error, message, raw FROM csv_gpu_errors('bad');
ALTER FOREIGN TABLE bad OPTIONS (SET log_verbosity 'silent');
SELECT count(*), count(v) FROM bad;
ALTER FOREIGN TABLE bad OPTIONS (ADD on_error 'stop');
SELECT * FROM bad;
-- records are as long as they are in UTF-8
CALL write_file('t.csv', utf16be(E'1,äö\n2,äöx\n3,äöäö\n'));
ALTER FOREIGN TABLE bad OPTIONS (DROP on_error, ADD max_record_size '7');
SELECT * FROM bad;
SELECT record, error FROM csv_gpu_errors('bad');

-- the boundary, the header, markers, and all else that is text
CREATE FOREIGN TABLE h (g text OPTIONS (header_name E'gr\u00f6\u00dfe'), n int OPTIONS (header_name 'n')) SERVER csv
  OPTIONS (filename 'regress_csv/t.csv', header 'true', "null" E'\u00e4', delimiter E'\t');
CALL write_file('t.csv', utf16le(E'\uFEFFn\tgröße\r1\tü\r2\tä\r'));
SELECT g, g IS NULL AS gnull, n FROM h;
CREATE FOREIGN TABLE x (a text, b text) SERVER csv OPTIONS (filename 'regress_csv/t.csv', format 'text', encoding 'UTF16LE');
CALL write_file('t.csv', utf16le(E'a\\tb\t\\N\n\\303\\244\tä\n\\.\n'));
SELECT * FROM x;

-- each file of a pattern by its own mark; programs
CALL write_file('p1.csv', utf16le(E'\uFEFF1,ä,le\n'));
CALL write_file('p2.csv', E'2,ä,utf8\n');
CALL write_file('p3.csv', utf16be(E'\uFEFF3,ä,be\n'));
CALL write_file('p4.csv', E'\uFEFF4,ä,utf8 with a mark\n');
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/p?.csv', DROP encoding);
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (ADD encoding 'UTF16');
SELECT count(*) FROM t;
ALTER FOREIGN TABLE t OPTIONS (SET filename 'regress_csv/p[123].csv');
SELECT count(*) FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP encoding, DROP filename, ADD program 'cat regress_csv/p3.csv');
SELECT * FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP program, ADD filename 'regress_csv/p3.csv', ADD encoding 'UTF16');
SELECT * FROM t;

-- kept columns
\set memory 64MB
\i :set_memory
CALL settle();
CREATE FOREIGN TABLE k (id int, a text, b text) SERVER csv OPTIONS (filename 'regress_csv/p3.csv');
SELECT * FROM k;
SELECT count(*) > 0 AS kept FROM explain('SELECT * FROM k') AS line WHERE line ~ 'Resident Columns: 3 of 3';
SELECT * FROM k;
ALTER FOREIGN TABLE k OPTIONS (ADD encoding 'UTF16BE');
SELECT count(*) > 0 AS kept FROM explain('SELECT * FROM k') AS line WHERE line ~ 'Resident Columns: 3 of 3';
SELECT * FROM k;
\set memory off
\i :set_memory

-- COPY has no UTF-16
SET csv_gpu_fdw.copy = 'on';
CREATE TABLE copied (id int, a text, b text);
\set VERBOSITY sqlstate
COPY copied FROM PROGRAM 'cat regress_csv/p1.csv' (FORMAT csv);
SET csv_gpu_fdw.copy = 'force';
COPY copied FROM PROGRAM 'cat regress_csv/p1.csv' (FORMAT csv);
\set VERBOSITY default
COPY copied FROM PROGRAM 'true' (FORMAT csv, ENCODING 'UTF16');
RESET csv_gpu_fdw.copy;

-- what a file holds
CALL write_file('s.txt', utf16le(E'\uFEFFName\tseit\r\nÄrmel\t2020-02-29\r\n'));
SELECT column_number, column_name, header_name, type, delimiter, record_boundary, header_rows, encoding, records, skipped FROM csv_gpu_sniff('regress_csv/s.txt');
SET client_encoding = 'LATIN1';
SELECT column_name = U&'\00E4rmel' AS bad, encoding, records FROM csv_gpu_sniff('regress_csv/s.txt') LIMIT 1;
SET client_encoding = 'UTF8';
COPY (SELECT 1 WHERE false) TO PROGRAM 'mkdir regress_csv/made && mv regress_csv/s.txt regress_csv/made/s.csv';
CALL write_file('made/plain.csv', utf16be(E'id,größe\n1,2\n'));
CREATE SCHEMA csv_made;
IMPORT FOREIGN SCHEMA "regress_csv/made" LIMIT TO (s) FROM SERVER csv INTO csv_made;
IMPORT FOREIGN SCHEMA "regress_csv/made" LIMIT TO (plain) FROM SERVER csv INTO csv_made OPTIONS (encoding 'utf-16be');
SELECT foreign_table_name, option_value FROM information_schema.foreign_table_options WHERE foreign_table_schema = 'csv_made' AND option_name = 'encoding' ORDER BY 1;
SELECT * FROM csv_made.s;
SELECT * FROM csv_made.plain;
SET client_min_messages = warning;
DROP SCHEMA csv_made CASCADE;
RESET client_min_messages;
\i :teardown

-- a server whose encoding is another one: as of a file in UTF-8
CREATE DATABASE regress_csv_utf16 TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C';
\c regress_csv_utf16
SET lc_messages = 'C';
\i :setup
CALL write_file('t.csv', '\xfeff0031002c00e4000a0032002c20ac000a0033002cd83d000a'::bytea);
CREATE FOREIGN TABLE t (id int, v text) SERVER csv OPTIONS (filename 'regress_csv/t.csv', encoding 'UTF16');
SELECT id, v, octet_length(v) FROM t;
SELECT id FROM t;
SELECT record, error, raw FROM csv_gpu_errors('t');
\i :teardown
\c :database
DROP DATABASE regress_csv_utf16;
