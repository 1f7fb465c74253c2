--
-- Bad records: each error, what is said about it, and how many there may be.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FOREIGN TABLE t (id int, city text OPTIONS (max_chars '8'), qty int, note text OPTIONS (byte_width '8'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', max_record_size '60');

-- each error once
CALL write_file('t.csv', E'1,Paris,10,fine\n2,Rome,20\n3,Constantinople,30,x\n4,Oslo,40,nine bytes\n5,M\\374nchen,50,x\n6,Bern,many,x\n7,"Bonn"?,70,x\n8,Nice,80,\\000\n9,Athens,90,012345678901234567890123456789012345678901234567890123456789\n10,Kiev,100,fine\n11,Riga,"110,fine\n'::bytea);
SELECT * FROM t;
-- of the wanted columns only, but for counts, quoting and length
SELECT id FROM t;
SELECT qty FROM t WHERE id > 3;
SELECT count(*) FROM t;

-- one error a record: quoting and length, then the count, then the lowest field
CALL write_file('t.csv', E'x,Constantinople,"9"9\nx,Constantinople,y,123456789,z\nx,Constantinople,y,123456789\n1,Constantinople,y,123456789\n1,a,y,123456789\n1,a,2,123456789\n'::bytea);
SELECT * FROM t;
-- within a field: nul_byte, invalid_utf8, too_many_chars, too_many_bytes, bad_value
CREATE FOREIGN TABLE order_of (v int OPTIONS (max_chars '4', byte_width '8'), w text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'xxxxxxxxx\\377\\000,\nxxxxxxxxx\\377,\nxxxxxxxxx,\n\\342\\202\\254\\342\\202\\254\\342\\202\\254,\nxxxx,\n1,\n'::bytea);
SELECT * FROM order_of;
-- among columns of one field, the lowest attribute number
CREATE FOREIGN TABLE same_field (b int OPTIONS ("column" '0'), a date OPTIONS ("column" '0'), c text OPTIONS ("column" '1', max_chars '1'))
  SERVER csv OPTIONS (filename 'regress_csv/t.csv', columns '2');
CALL write_file('t.csv', E'x,toolong\n20240101,toolong\n1,x\n');
SELECT * FROM same_field;
SELECT a FROM same_field;
-- the lowest field, whatever the order of the columns
CREATE FOREIGN TABLE turned (b int OPTIONS ("column" '1'), a int OPTIONS ("column" '0')) SERVER csv
  OPTIONS (filename 'regress_csv/t.csv', columns '2');
CALL write_file('t.csv', E'x,y\n1,y\nx,2\n1,2\n');
SELECT * FROM turned;

-- what the input function says beside its message: a precision, where JSON breaks off
CREATE FOREIGN TABLE detailed (n numeric(6,2), j json) SERVER csv OPTIONS (filename 'regress_csv/t.csv', delimiter ';');
CALL write_file('t.csv', E'10000;1\n9999.995;1\n1e4;1\n1x;1\n1;{\n1;' || repeat('x', 250) || E'\n1.5;[2]\n');
SELECT * FROM detailed;
SELECT error, message FROM csv_gpu_errors('detailed', 1);
ALTER FOREIGN TABLE detailed OPTIONS (ADD decimal_separator ',');
CALL write_file('t.csv', E'9999,995;1\n1.5;1\n');
SELECT n FROM detailed;
ALTER FOREIGN TABLE detailed OPTIONS (ADD reject_limit '1');
SELECT n FROM detailed;
ALTER FOREIGN TABLE detailed OPTIONS (DROP reject_limit, ADD on_error 'stop');
SELECT n FROM detailed;

--
-- NOTICEs: notice_limit and log_verbosity
--
CREATE FOREIGN TABLE many (id int, v text OPTIONS (max_chars '3')) SERVER csv OPTIONS (filename 'regress_csv/many.csv');
CALL write_query('many.csv', $$SELECT string_agg(i || CASE WHEN i % 10 = 0 THEN ',long' WHEN i % 7 = 0 THEN '' WHEN i % 25 = 1 THEN ',"x' ELSE ',x' END || E'\n', '' ORDER BY i) FROM generate_series(1, 100) i$$);
-- the first 10, and a summary if there were more
SELECT count(*) FROM many;
SELECT count(v) FROM many;
-- exactly as many as the limit, and one more
CALL write_query('many.csv', $$SELECT string_agg(i || CASE WHEN i % 10 = 0 THEN ',long' WHEN i % 7 = 0 THEN '' ELSE ',x' END || E'\n', '' ORDER BY i) FROM generate_series(1, 30) i$$);
ALTER FOREIGN TABLE many OPTIONS (ADD notice_limit '4');
SELECT count(*) FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET notice_limit '3');
SELECT count(*) FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET notice_limit '0');
SELECT count(*) FROM many;
SELECT count(v) FROM many;
ALTER FOREIGN TABLE many OPTIONS (ADD log_verbosity 'silent');
SELECT count(v) FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET log_verbosity 'verbose');
SELECT count(*) FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET log_verbosity 'default', SET notice_limit '2');
-- of a table in another schema, and of one whose name needs quotes, the hint names it as it must be written
CREATE SCHEMA csv_test2;
ALTER FOREIGN TABLE many SET SCHEMA csv_test2;
SELECT count(*) FROM csv_test2.many;
ALTER FOREIGN TABLE csv_test2.many RENAME TO "Many 'bad' ones";
SELECT count(*) FROM csv_test2."Many 'bad' ones";
ALTER FOREIGN TABLE csv_test2."Many 'bad' ones" SET SCHEMA csv_test;
DROP SCHEMA csv_test2;
SELECT count(*) FROM "Many 'bad' ones";
ALTER FOREIGN TABLE "Many 'bad' ones" RENAME TO many;
-- of a pattern, the summary names the pattern, and notices count over all files
CALL write_file('m1.csv', E'1\n2\n3,c\n');
CALL write_file('m2.csv', E'4\n5,e\n6\n');
ALTER FOREIGN TABLE many OPTIONS (SET filename 'regress_csv/m?.csv');
SELECT * FROM many;
-- of a program, its command
ALTER FOREIGN TABLE many OPTIONS (DROP filename, ADD program 'cat regress_csv/m1.csv regress_csv/m2.csv', SET notice_limit '1');
SELECT * FROM many;
ALTER FOREIGN TABLE many OPTIONS (DROP program, ADD filename 'regress_csv/many.csv', DROP notice_limit);
-- a scan that ends early says nothing of later records
SELECT * FROM many LIMIT 6;
SELECT * FROM many LIMIT 7;
SELECT id FROM many LIMIT 13;
-- on the server, as the default for its tables
ALTER SERVER csv OPTIONS (ADD notice_limit '1');
SELECT count(*) FROM many;
ALTER FOREIGN TABLE many OPTIONS (ADD notice_limit '2');
SELECT count(*) FROM many;
ALTER SERVER csv OPTIONS (SET notice_limit '0', ADD log_verbosity 'silent');
ALTER FOREIGN TABLE many OPTIONS (DROP notice_limit);
SELECT count(*) FROM many;
ALTER FOREIGN TABLE many OPTIONS (DROP log_verbosity);
SELECT count(*) FROM many;
ALTER SERVER csv OPTIONS (DROP notice_limit, DROP log_verbosity);

--
-- reject_limit
--
ALTER FOREIGN TABLE many OPTIONS (ADD log_verbosity 'silent', ADD reject_limit '4');
SELECT count(*) FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET reject_limit '3');
SELECT count(*) FROM many;
\echo :SQLSTATE
ALTER FOREIGN TABLE many OPTIONS (SET log_verbosity 'default', SET reject_limit '2');
SELECT count(*) FROM many;
-- as the scan passes the record
SELECT id FROM many LIMIT 18;
SELECT id FROM many LIMIT 19;
-- the error table takes no notice of it
SELECT count(*) FROM csv_gpu_errors('many');
-- a percentage: of all records of the scan, at its end
ALTER FOREIGN TABLE many OPTIONS (SET log_verbosity 'silent', SET reject_limit '13.4%');
SELECT count(*) FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET reject_limit '13.3%');
SELECT count(*) FROM many;
\echo :SQLSTATE
-- a scan that ends early is not tested
SELECT id FROM many LIMIT 1;
ALTER FOREIGN TABLE many OPTIONS (SET reject_limit '100%');
CALL write_file('many.csv', E'1\n2\n3\n');
SELECT count(*) FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET reject_limit '99.9%');
SELECT count(*) FROM many;
-- of no records at all
CALL write_file('many.csv', '');
SELECT count(*) FROM many;
-- of a pattern: all files together
ALTER FOREIGN TABLE many OPTIONS (SET filename 'regress_csv/m?.csv', SET reject_limit '66%');
SELECT count(*) FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET reject_limit '67%');
SELECT count(*) FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET reject_limit '2', SET log_verbosity 'default');
SELECT count(*) FROM many;
-- a table's replaces its server's
ALTER SERVER csv OPTIONS (ADD reject_limit '1');
SELECT count(*) FROM many;
ALTER FOREIGN TABLE many OPTIONS (DROP reject_limit);
SELECT count(*) FROM many;
ALTER SERVER csv OPTIONS (DROP reject_limit);

--
-- on_error
--
ALTER FOREIGN TABLE many OPTIONS (ADD on_error 'ignore', SET filename 'regress_csv/m1.csv');
SELECT * FROM many;
ALTER FOREIGN TABLE many OPTIONS (SET on_error 'stop');
SELECT * FROM many;
\echo :SQLSTATE
-- each error, with its SQLSTATE
ALTER FOREIGN TABLE t OPTIONS (ADD on_error 'stop');
CREATE FUNCTION try_record(content bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
BEGIN
  CALL write_file('t.csv', E'1,a,2,b\n'::bytea || content || E'3,c,4,d\n'::bytea);
  PERFORM * FROM t;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN SQLSTATE || ' ' || SQLERRM || ' / ' || detail;
END $$;
SELECT try_record(E'1,2,3\n');
SELECT try_record(E'1,123456789,3,4\n');
SELECT try_record(E'1,2,3,123456789\n');
SELECT try_record(E'1,\\377,3,4\n'::bytea);
SELECT try_record(E'1,2,3,\\000\n'::bytea);
SELECT try_record(E'1,2,x,4\n');
SELECT try_record(E'1,2,99999999999,4\n');
SELECT try_record(E'1,"2"x,3,4\n');
SELECT try_record(E'1,2,"3,4\n');
SELECT try_record(convert_to('1,2,3,' || repeat('x', 55) || E'\n', 'UTF8'));
-- a good file, and one that is wrong only beyond what is read
SELECT try_record(E'1,2,3,4\n');
CALL write_file('t.csv', E'1,a,2,b\nx\n');
SELECT * FROM t LIMIT 1;
SELECT * FROM t;
-- the ERROR comes when the scan gets there: rows before it have gone out
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM t;
FETCH 1 FROM c;
FETCH 1 FROM c;
ROLLBACK;
-- nothing that is not wanted stops a scan
CALL write_file('t.csv', E'1,123456789,x,123456789\n');
SELECT id FROM t;
-- quoted values in messages are cut at 200 bytes
CREATE FOREIGN TABLE long_values (v int) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_query('t.csv', $$SELECT repeat('x', 200) || E'\n' || repeat('y', 201) || E'\n' || repeat('z', 100000) || E'\n' || repeat('€', 100) || E'\n'$$);
SELECT record, length(message), octet_length(message), left(message, 60), right(message, 10) FROM csv_gpu_errors('long_values');

-- not one good record: the hint says what to look at, by the most frequent error
CREATE FOREIGN TABLE none_good (a int, b int) SERVER csv OPTIONS (filename 'regress_csv/none.csv', notice_limit '0');
CALL write_file('none.csv', E'1;2\n3;4\n5,x\n');
SELECT * FROM none_good;
SELECT * FROM none_good LIMIT 0;
CREATE TABLE none_good_rows (a int, b int);
SELECT records_loaded, records_skipped FROM csv_gpu_load('none_good', 'none_good_rows');
CALL write_file('none.csv', E'a,b\nc,d\n');
SELECT a FROM none_good;
CALL write_file('none.csv', E'"1"x,2\n');
SELECT a FROM none_good;
CALL write_file('none.csv', E'"1"x,2\n3,4\n');
SELECT a FROM none_good;
CALL write_file('none.csv', '\xff2c310a'::bytea);
SELECT a FROM none_good;
-- nor nine in ten, at the end of the scan, and where a scan ends early behind 1,000 records
CALL write_query('none.csv', $$SELECT string_agg(CASE WHEN i % 10 = 0 THEN '1,2' ELSE '1;2' END || E'\n', '' ORDER BY i) FROM generate_series(1, 2000) i$$);
SELECT count(*) FROM none_good;
SELECT * FROM none_good LIMIT 1 OFFSET 150;
SELECT * FROM none_good LIMIT 1;
CALL write_query('none.csv', $$SELECT string_agg(CASE WHEN i % 9 = 0 THEN '1,2' ELSE '1;2' END || E'\n', '' ORDER BY i) FROM generate_series(1, 2000) i$$);
SELECT count(*) FROM none_good;
-- with one in three there is no such hint
CALL write_file('none.csv', E'1;2\n3,4\n5;6\n');
SELECT * FROM none_good;
CALL write_file('none.csv', '');
SELECT * FROM none_good;


-- what cannot be seen is escaped in messages; blanks stay
CALL write_file('t.csv', E'x\u200b1,a\n\u001b[1m,b\n"1\n\t2",c\n1\u00a0000,d\n5,e\n');
CREATE FOREIGN TABLE unseen (n int, t text) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
SELECT * FROM unseen;
SELECT message FROM csv_gpu_errors('unseen');
-- a hint for records that are too long, in the ERROR and the summary
CREATE FOREIGN TABLE long_records (n int, t text) SERVER csv
  OPTIONS (filename 'regress_csv/t.csv', max_record_size '8', on_error 'stop');
CALL write_file('t.csv', E'1,a\n2,long text\n3,long text\n');
SELECT * FROM long_records;
ALTER FOREIGN TABLE long_records OPTIONS (SET on_error 'skip', ADD notice_limit '1');
SELECT * FROM long_records;
ALTER FOREIGN TABLE long_records OPTIONS (SET on_error 'skip', SET notice_limit '2');
SELECT * FROM long_records;
-- a hint at the encoding where at least every other record is invalid
CALL write_file('t.csv', '\x312c610a322cff0a332cff0a342c620a'::bytea);
ALTER FOREIGN TABLE long_records OPTIONS (DROP notice_limit);
SELECT * FROM long_records;
SELECT * FROM long_records LIMIT 1;

-- an internal error, by which functions of extensions refuse values, is a bad value, too
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hstore;
RESET client_min_messages;
CREATE FOREIGN TABLE extension_type (id int, h hstore, hs hstore[]) SERVER csv OPTIONS (filename 'regress_csv/t.csv', delimiter ';', log_verbosity 'silent');
CALL write_file('t.csv', E'1;a=>1;{}\n2;a=>;{}\n3;b=>2;"{""c=>"",d}"\n4;c=>3;"{""d=>4""}"\n');
SELECT * FROM extension_type;
SELECT record, line, column_name, error FROM csv_gpu_errors('extension_type');
ALTER FOREIGN TABLE extension_type OPTIONS (ADD on_error 'set_null');
SELECT * FROM extension_type;
CREATE TABLE extension_rows (id int, h hstore, hs hstore[]);
SELECT records_loaded, records_skipped FROM csv_gpu_load('extension_type', 'extension_rows');
CREATE FUNCTION try_code(value text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF value ~ '^[0-9A-Z]{5}$' THEN
    RAISE 'code %', value USING ERRCODE = value;
  END IF;
  RETURN true;
END $$;
CREATE DOMAIN raising AS text CHECK (try_code(VALUE));
CREATE FOREIGN TABLE raised (id int, v raising OPTIONS (max_chars '9'), w text OPTIONS (max_chars '9')) SERVER csv OPTIONS (filename 'regress_csv/t.csv', header 'true');
CALL write_file('t.csv', E'id,v,w\n1,XX000,x\n2,fine,x\n');
SELECT * FROM raised;
-- other errors end the scan, and say where
CREATE PROCEDURE try_codes(content text) LANGUAGE plpgsql AS $$
DECLARE
  code text;
  context text;
BEGIN
  FOREACH code IN ARRAY ARRAY['57014', '57P01', '53200', '53100', '40001', '40P01', '55P03', '58030', 'XX001'] LOOP
    CALL write_file('t.csv', replace(content, '$', code));
    BEGIN
      PERFORM id, v, w FROM raised;
      RAISE NOTICE 'no error';
    EXCEPTION WHEN query_canceled OR OTHERS THEN
      GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
      RAISE NOTICE '%: %', SQLSTATE, substring(context FROM 'record [^\n]*');
    END;
  END LOOP;
END $$;
ALTER FOREIGN TABLE raised OPTIONS (ADD log_verbosity 'silent');
-- behind a skipped record and a value of two lines; in a record that is bad anyway
CALL try_codes(E'id,v,w\nx,a,b\n1,"a\nb",c\n\n2,$,d\n3,c,d\n');
CALL try_codes(E'id,v,w\n1,a,b\n2,$,0123456789\n3,c,d\n');
-- in a row of many that the engine has chosen
CREATE FUNCTION content() RETURNS text LANGUAGE sql AS $$
  SELECT E'id,v,w\n' || string_agg(i || ',' || CASE WHEN i = 1990 THEN '53200' ELSE 'v' END || ',' || CASE WHEN i % 7 = 0 THEN '0123456789' ELSE 'w' END || E'\n', '' ORDER BY i)
    FROM generate_series(1, 2000) i $$;
CALL write_query('t.csv', 'SELECT content()');
SELECT v FROM raised WHERE id % 10 = 0 AND id > 1900;
SELECT v, w FROM raised WHERE id > 1980;

\i :teardown
