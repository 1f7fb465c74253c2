--
-- Servers whose encoding is not UTF-8.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\set database :DBNAME

--
-- LATIN1
--
CREATE DATABASE regress_csv_latin1 TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C';
\c regress_csv_latin1
SET lc_messages = 'C';
\i :setup
CREATE FOREIGN TABLE t (id int, v text, w text OPTIONS (max_chars '3')) SERVER csv OPTIONS (filename 'regress_csv/t.csv', encoding 'UTF8');
-- converted to the server's encoding; characters are counted, whatever their bytes
CALL write_file('t.csv', '\x312cc3a4c3b6c3bc2cc39f0a322c22c3a92c2222c3a82222222c22c3a4c3b6c3bc220a332c612cc3a4c3b6c3bcc39f0a342c622c78797a0a'::bytea);
SELECT id, v, octet_length(v), w, octet_length(w) FROM t;
-- a character that the server's encoding does not have, and bytes that are none
CALL write_file('t.csv', '\x312ce282ac2c0a322c612cff0a332c612cc3a40a342c22c3a4e282ac222c0a'::bytea);
SELECT * FROM t;
SELECT id FROM t;
SELECT record, error, raw FROM csv_gpu_errors('t');
-- no conversion there
ALTER FOREIGN TABLE t OPTIONS (SET encoding 'KOI8R');
SELECT id FROM t;
-- a file in the server's own encoding: every byte is a character, but for zero
ALTER FOREIGN TABLE t OPTIONS (SET encoding 'LATIN1');
CALL write_file('t.csv', '\x312ce4f6fc2cdf0a322cff2c800a332c00e42c0a342ce4e4e4e42ce4e4e4e40a'::bytea);
SELECT id, v, octet_length(v), octet_length(w) FROM t;
SELECT record, error, raw FROM csv_gpu_errors('t');
-- names in the header, NULL and messages
CREATE FOREIGN TABLE h (g text OPTIONS (header_name E'gr\u00f6\u00dfe'), n int OPTIONS (header_name 'n')) SERVER csv
  OPTIONS (filename 'regress_csv/t.csv', header 'true', encoding 'UTF8', "null" E'\u00e4');
CALL write_file('t.csv', '\x6e2c6772c3b6c39f650a312cc3bc0a322cc3a40ac3b62c780a'::bytea);
SELECT g, g IS NULL AS gnull, n FROM h;
-- char(n), varchar(n) and an input function
CREATE FOREIGN TABLE typed (v varchar(2), c char(3), j json) SERVER csv OPTIONS (filename 'regress_csv/t.csv', encoding 'UTF8');
CALL write_file('t.csv', '\xc3a4c3b62cc3a42c222222c3a42222220ac3a4c3b6c3bc2c2c0a2cc3a4c3b6c3bcc39f2c0ac3a4c3b620202cc3a4c3b6c3bc20202c7b7d0a'::bytea);
SELECT v, octet_length(v), c, octet_length(c), j FROM typed;
\i :teardown
\c :database
DROP DATABASE regress_csv_latin1;

--
-- SQL_ASCII: takes any bytes
--
CREATE DATABASE regress_csv_ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C';
\c regress_csv_ascii
SET lc_messages = 'C';
\i :setup
SET client_encoding = 'SQL_ASCII';
CREATE FOREIGN TABLE t (id int, v text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', '\x312cc3a40a322cff0a332c00'::bytea);
SELECT id, v::bytea FROM t;
-- the file's own encoding is kept, and checked
ALTER FOREIGN TABLE t OPTIONS (ADD encoding 'UTF8');
SELECT id, v::bytea FROM t;
SELECT record, error, raw FROM csv_gpu_errors('t');
\i :teardown
\c :database
DROP DATABASE regress_csv_ascii;
