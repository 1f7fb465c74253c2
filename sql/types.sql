--
-- Values: what a column's type makes of a field is what its cast makes of the same text.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

-- Reads spellings as a column of the type, and casts them; shows where the two
-- differ, in the value or in the message, and how many spellings there were.
CREATE FUNCTION check_type(type text, options text, VARIADIC spellings text[],
                           OUT spelling text, OUT by_cast text, OUT from_file text)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
  content text := '';
  n int := 0;
BEGIN
  FOREACH spelling IN ARRAY spellings LOOP
    content := content || '"' || replace(spelling, '"', '""') || E'"\n';
  END LOOP;
  CALL write_file('types.csv', content);
  EXECUTE format('CREATE FOREIGN TABLE spelled (v %s OPTIONS ("column" ''0''), n bigint OPTIONS (virtual ''record'')) SERVER csv
                  OPTIONS (filename ''regress_csv/types.csv'', columns ''1'', log_verbosity ''silent'' %s)', type, options);
  FOREACH spelling IN ARRAY spellings LOOP
    n := n + 1;
    BEGIN
      EXECUTE format('SELECT %L::%s::text', CASE WHEN options ~ 'decimal' THEN translate(spelling, ',.', '.,') ELSE spelling END, type)
        INTO by_cast;
    EXCEPTION WHEN OTHERS THEN
      by_cast := 'ERROR: ' || CASE WHEN options ~ 'decimal' THEN translate(SQLERRM, ',.', '.,') ELSE SQLERRM END;
    END;
    EXECUTE format('SELECT max(v::text) FROM spelled WHERE n = %s', n) INTO from_file;
    IF from_file IS NULL THEN
      SELECT replace(e.message, 'column "v": ', 'ERROR: ') INTO from_file FROM csv_gpu_errors('spelled') e WHERE record = n;
    END IF;
    IF from_file IS DISTINCT FROM by_cast THEN
      RETURN NEXT;
    END IF;
  END LOOP;
  DROP FOREIGN TABLE spelled;
  spelling := type || ': ' || n;
  by_cast := NULL;
  from_file := NULL;
  RETURN NEXT;
END $$;

SELECT * FROM check_type('bool', '', 't', 'f', 'true', 'false', 'TRUE', 'False', 'tr', 'fa', 'fals', 'y', 'n', 'yes', 'no', 'on', 'off', 'of', 'o', '1', '0', ' t ', E'\tfalse\n', 'tt', 'truee', '2', '', ' ', '01', 'yess', 'ON', 'nO');
SELECT * FROM check_type('int2', '', '0', '-0', '+1', '32767', '32768', '-32768', '-32769', ' 7', '7 ', E'\t7\n', '7x', 'x', '', ' ', '-', '+', '--1', '1 2', '0x10', '0o17', '0b11', '1_000', '00012', '1.0', '1e2', '000000000000000000000000000032767', '1,000', '٣');
SELECT * FROM check_type('int4', '', '0', '-0', '2147483647', '2147483648', '-2147483648', '-2147483649', '+2147483647', '  12  ', '1_0', '_10', '10_', '0x7fffffff', '1.', '.1', '1-', '- 1', '99999999999999999999', E'1\v', E'1\f', E'1\r', E'1\u00a0');
SELECT * FROM check_type('int8', '', '0', '9223372036854775807', '9223372036854775808', '-9223372036854775808', '-9223372036854775809', '18446744073709551616', '1e3', '12345678901234567', '-1234567890123456789', '00000000000000000000000000000001', '9223372036854775807 ', '92233720368547758070', 'NaN');
SELECT * FROM check_type('float4', '', '0', '-0', '1', '1.5', '.5', '5.', '-.5', '+1', '1e10', '1E+10', '1e-10', '3.4028235e38', '3.4028236e38', '3.5e38', '1e39', '-1e39', '1e-45', '1e-46', '7e-46', '8e-46', '1.1754944e-38', '1.17549435e-38', '16777217', '16777219', '0.1', '0.3', '1e', '1e+', '.', '-', '', ' ', 'NaN', 'nan', 'Infinity', '-Infinity', 'inf', '-inf', '+inf', '+NaN', '-NaN', 'infinit', '0x10', '0x1p3', '1 ', ' 1', '1_0', '1.2.3', '1,5', '9007199791611905', '1.00000017881393432617187499', '1.00000017881393432617187500', '1.00000017881393432617187501', '00001.5', '123456789012345678901234567890', '1e00000000000000000001', '1e99999999999', '0e99999999999', '1d', 'infx');
SELECT * FROM check_type('float8', '', '0', '-0', '1', '1.5', '.5', '5.', '1e308', '1.7976931348623157e308', '1.7976931348623159e308', '1e309', '-1e309', '4.9e-324', '2.4e-324', '2.5e-324', '1e-400', '2.2250738585072014e-308', '2.2250738585072011e-308', '0.1', '0.2', '0.30000000000000004', '9007199254740993', '9007199254740992.5', '123456789.123456789', '1e22', '1e23', '8.41e21', '5e-324', '179769313486231580793728971405301199e273', '6.02214076e23', '3.141592653589793238462643383279', 'NaN', 'inf', '-Infinity', 'iNfInItY', '1e1000000000000', '-0.0', '0e400', '0.000000000000000000000000000000000000000000000000000000000000000000000000000001e70', '1e+5', '1e +5', '+.5e-1', '++1', '1f', '', '.e1', '1.e1', '0x1.8p1', ' 1.5 ', '1.5 x', '9999999999999999', '99999999999999999999', '7205759403792793199999e-5', '7205759403792793200001e-5', '2e-1074', '1234567890123456789012345678901234567890e-30', 'e5');
SELECT * FROM check_type('float8', ', decimal_separator '',''', '0', '1,5', ',5', '5,', '-1,25e3', '1e5', 'NaN', '1,2,3', '1.5', '1.234,5', 'x', '', ' 2,5 ', '-Infinity');
SELECT * FROM check_type('float4', ', decimal_separator '',''', '0,1', '16777217,0', '1e39', '1.5', 'x,y');
SELECT * FROM check_type('numeric', ', decimal_separator '',''', '0', '1,50', ',5', '5,', '-1,25e3', '123456789012345678901234567890,123456789', 'NaN', '1,2,3', '1.5', 'x', '', ' 2,5 ');
SELECT * FROM check_type('numeric(6,2)', ', decimal_separator '',''', '1,005', '9999,994', '9999,995', '1.5', '-,5');
SELECT * FROM check_type('numeric', '', '0', '-0', '1', '1.50', '.5', '5.', '-.5', '+1', '1e10', '1.5E-10', '1e-5', 'NaN', 'nan', 'Infinity', '-inf', '+inf', '12345678901234567890123456789012345678.12345678901234567890', '0.00001', '10000', '9999', '99999999', '0001', '1e1000', '1e131072', '1e-16383', '1e-16384', '', ' ', '.', '1e', '1e+', 'x', '1 ', ' 1', '1x', '1_000', '0x1f', '--1', '1.2.3', '1,5', '000.000', '0e10', '1e2147483648', '1e-2147483649', '10.00000000', '100000000.00000001', '-00012.3400');
SELECT * FROM check_type('numeric(5,2)', '', '0', '1', '1.005', '1.004999', '999.99', '999.994', '999.995', '-999.995', '1000', '0.001', '-0.004', '1e2', '1e3', '12.3', 'NaN', 'Infinity', '.005', '9.995', '99.995', '00999.99', '1e-3');
SELECT * FROM check_type('numeric(38,10)', '', '0', '1234567890123456789012345678.1234567890', '1.23456789005', '1.234567890049', '9999999999999999999999999999', '10000000000000000000000000000', '9999999999999999999999999999.99999999995', '0.00000000005', '0.00000000004');
SELECT * FROM check_type('numeric(3,-2)', '', '12345', '99950', '99949', '50', '49', '1');
SELECT * FROM check_type('numeric(2,4)', '', '0.0099', '0.00995', '0.01', '0.00001', '0.00005');
SELECT * FROM check_type('numeric(1000,500)', '', '1.5', '-0.1', '1e400', '1e600');
SELECT * FROM check_type('date', '', '2024-02-29', '2023-02-29', '1999-12-31', '2000-01-01', '0001-01-01', '0000-01-01', '9999-12-31', '10000-01-01', '5874897-12-31', '5874898-01-01', '4713-11-24 BC', '4714-11-23 BC', '4714-11-24 BC', '2024-2-9', '2024-13-01', '2024-00-01', '2024-01-00', '2024-01-32', '2024-04-31', '20240229', '2024.060', '02/29/2024', '29.02.2024', 'Feb 29, 2024', '29-Feb-2024', 'J2451545', 'infinity', '-infinity', 'epoch', '1900-02-29', '2000-02-29', '2100-02-29', ' 2024-02-29 ', '2024-02-29 12:00:00', '2024-02-29T12:00:00Z', '2024-02-29x', '2024-02', '2024', '', ' ', 'x', '99-01-08', '70-01-08', '08-Jan-99', '2024-02-29 BC', '2024/02/29', '2024-02/29', '-2024-02-29', '+2024-02-29', '002024-02-29', '2024-002-29', '2024-1-1', '1-1-1');
SELECT * FROM check_type('timestamp', '', '2024-02-29 12:34:56', '2024-02-29T12:34:56', '2024-02-29t12:34:56', '2024-02-29 12:34', '2024-02-29', '2024-02-29 12:34:56.789', '2024-02-29 12:34:56.123456', '2024-02-29 12:34:56.1234565', '2024-02-29 12:34:56.9999995', '2024-02-29 12:34:56.', '2024-02-29 24:00:00', '2024-02-29 24:00:01', '2024-02-29 25:00', '2024-02-29 23:59:60', '2024-02-29 23:59:61', '2024-02-29 23:60:00', '1999-12-31 23:59:59.999999', '2000-01-01 00:00:00', '0001-01-01 00:00:00', '4713-01-01 00:00:00 BC', '294276-12-31 23:59:59.999999', '294277-01-01 00:00:00', '2024-02-29 12:34:56Z', '2024-02-29 12:34:56+05:30', '2024-02-29 12:34:56 UTC', '2024-02-29 12:34:56 PM', '2024-02-29 12:34:56 AM', '2024-02-29 1:2:3', '2024-2-9 12:34:56', '20240229 123456', '20240229T123456', '2024-02-29  12:34:56', ' 2024-02-29 12:34:56 ', 'infinity', '-infinity', 'epoch', '2024-02-30 12:00:00', '2024-02-29 12', '2024-02-29 12:34:56x', '', 'Thu Feb 29 12:34:56 2024', '02/29/2024 12:34:56', '2024-02-29 -1:00:00', '2024-02-29 12:3:4', '2024-02-29 12:34:5.6', '2024-02-29 12:34:56,789', '2024-02-29-12:34:56', '12:34:56 2024-02-29', '2024-02-29 12:34:56.000000000000000000001');
SELECT * FROM check_type('timestamp(3)', '', '2024-02-29 12:34:56', '2024-02-29 12:34:56.1234', '2024-02-29 12:34:56.1235', '2024-02-29 12:34:56.9995', '1999-12-31 23:59:59.9995', '1969-12-31 23:59:59.1235', 'infinity');
SELECT * FROM check_type('timestamp(0)', '', '2024-02-29 12:34:56.5', '2024-02-29 12:34:57.5', '1969-12-31 23:59:59.5', '2024-12-31 23:59:59.9');
SET timezone = 'America/New_York';
SELECT * FROM check_type('timestamptz', '', '2024-02-29 12:34:56', '2024-02-29 12:34:56Z', '2024-02-29T12:34:56Z', '2024-02-29T12:34:56z', '2024-02-29 12:34:56+00', '2024-02-29 12:34:56+05:30', '2024-02-29 12:34:56-0800', '2024-02-29 12:34:56+14:59', '2024-02-29 12:34:56+15:59:59', '2024-02-29 12:34:56+16', '2024-02-29 12:34:56.5+01', '2024-02-29 12:34:56 +01', '2024-02-29 12:34:56 PST', '2024-02-29 12:34:56 Europe/Paris', '2024-03-10 02:30:00', '2024-11-03 01:30:00', '2024-07-01 00:00:00', '2024-01-01 00:00:00', '1883-11-18 12:00:00', '2024-02-29', '2024-02-29Z', '2024-02-29 12:34Z', '2024-02-29 24:00:00Z', '294276-12-31 23:59:59Z', '294277-01-01 00:00:00Z', '4714-11-24 00:00:00Z BC', '4714-11-23 00:00:00Z BC', 'infinity', '2024-02-29 12:34:56 xyz', '2024-02-29 12:34:56+5', '2024-02-29 12:34:56+', '', '2024-02-29 12:34:56.1234567Z', '2024-02-29 23:59:60Z', '2024-02-29T12:34:56.123+00:00');
SELECT * FROM check_type('timestamptz(2)', '', '2024-02-29 12:34:56.125Z', '2024-02-29 12:34:56.135+01', '2024-02-29 12:34:56.999');
SET timezone = 'UTC';
SET datestyle = 'SQL, DMY';
SELECT * FROM check_type('date', '', '2024-02-03', '02/03/2024', '20240203', '3.2.2024', '02-03-2024');
SELECT * FROM check_type('timestamp', '', '2024-02-03 04:05:06', '02/03/2024 04:05:06');
SET datestyle = 'ISO, YMD';
SELECT * FROM check_type('date', '', '2024-02-03', '02-03-04', '02/03/2024');
SET datestyle = 'ISO, MDY';
SELECT * FROM check_type('uuid', '', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', 'a0eebc999c0b4ef8bb6d6bb9bd380a11', 'a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11', '{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a111', 'g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', ' a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 ', '', 'a-0eebc999c0b4ef8bb6d6bb9bd380a11', '00000000-0000-0000-0000-000000000000');
SELECT * FROM check_type('text', '', 'a', '', ' a ', E'a\nb', E'a\r\nb', '"', 'a,b', '\', '\N', 'ä€😀', E'\x01\x7f');
SELECT * FROM check_type('time', '', '12:34:56', '24:00:00', '24:00:01', '12:34:56.7', 'allballs', '', 'x', '12:34 PM', '1234');
SELECT * FROM check_type('timetz', '', '12:34:56+02', '12:34:56', 'x');
SELECT * FROM check_type('interval', '', '1 day', '1 mon -2 days', 'P1Y2M', '01:02:03', '-1', 'x', '', '1 fortnight');
SELECT * FROM check_type('interval minute to second(1)', '', '01:02:03.456', '5');
SELECT * FROM check_type('bytea', '', '\x00ff', '\xDEADbeef', 'abc', '\000\377', '\\', '\x0', '\xgg', '\9', '');
SELECT * FROM check_type('json', '', '{}', '{"a": [1, 2.5e3, null, "x\n"]}', '[1,]', '', 'nul', '"\ud83d\ude00"', '"\ud83d"', '{"a":1,"a":2}', ' 1 ');
SELECT * FROM check_type('jsonb', '', '{}', '{"b": 1, "a": [1, 2.5e3, null]}', '[1,]', '', '"\u0000"', '{"a":1,"a":2}', '1e400');
SELECT * FROM check_type('inet', '', '192.168.0.1', '192.168.0.0/16', '::1', '1.2.3', '300.1.1.1', '');
SELECT * FROM check_type('cidr', '', '192.168.0.0/16', '192.168.0.1/16', '10', 'x');
SELECT * FROM check_type('macaddr', '', '08:00:2b:01:02:03', '08002b010203', 'x');
SELECT * FROM check_type('oid', '', '0', '4294967295', '4294967296', '-1', '-2147483649', 'x', '');
SELECT * FROM check_type('"char"', '', 'a', 'ab', '', '\101');
SELECT * FROM check_type('name', '', 'a', repeat('x', 63), repeat('x', 64), repeat('ä', 40));
SELECT * FROM check_type('money', '', '1', '12.34', '-5', 'x', '99999999999999999999');
-- a cast to bit(n) cuts and pads, the input function refuses: these differ
SELECT * FROM check_type('bit(4)', '', '1010', '101', '10101', 'xA', 'B1010', '2');
SELECT * FROM check_type('varbit(5)', '', '1010', '', '101010', 'X1');
-- these do not
SELECT * FROM check_type('point', '', '(1,2)', '1,2', '(1,2', 'x');
SELECT * FROM check_type('tsvector', '', 'a fat cat', '''a'':1A b', ':', '');
SELECT * FROM check_type('int4range', '', '[1,5)', '(1,5]', 'empty', '[5,1]', '[1,', '[,]', 'x');
SELECT * FROM check_type('int[]', '', '{}', '{1,2,NULL}', '{{1,2},{3,4}}', '[2:3]={1,2}', '{1,x}', '{1', '1,2', '{99999999999}', '');
SELECT * FROM check_type('text[]', '', '{}', '{a,"b,c","d\"e",NULL,"NULL"}', '{"a}', E'{"x\ny"}');
SELECT * FROM check_type('numeric(4,1)[]', '', '{1.25,2.35}', '{12345}');
SELECT * FROM check_type('regclass', '', 'pg_class', 'no_such_table', '1259');
SELECT * FROM check_type('xid', '', '1', '0x10');
SELECT * FROM check_type('pg_lsn', '', '0/1', '16/B374D848', 'x');

-- types of our own
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
SELECT * FROM check_type('mood', '', 'sad', 'ok', 'happy', 'Happy', ' ok', 'glad', '');
CREATE TYPE pair AS (a int, b text);
SELECT * FROM check_type('pair', '', '(1,x)', '(,)', '(1,"a,b")', '(x,y)', '(1)', '(1,2,3)', '1,x');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
SELECT * FROM check_type('positive', '', '1', '0', '-5', 'x', '2147483648', ' 7 ');
CREATE DOMAIN short_name AS varchar(5) CHECK (VALUE !~ '^\s*$');
CREATE DOMAIN code AS positive CHECK (VALUE % 2 = 0);
SELECT * FROM check_type('code', '', '2', '3', '-2');
SELECT * FROM check_type('positive[]', '', '{1,2}', '{1,-2}');
CREATE TYPE span AS RANGE (subtype = float8);
SELECT * FROM check_type('span', '', '[1.5,2.5)', '[3,2]', '[a,b]');

-- the input function of a domain sees NULLs, and blanks beyond varchar's n
CREATE DOMAIN given AS int NOT NULL;
CREATE DOMAIN given_text AS text CHECK (VALUE IS NOT NULL AND VALUE <> 'bad');
CREATE FOREIGN TABLE domains (a given, b given_text, c short_name) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'1,x,abc\n,x,abc\n2,,abc\n3,bad,abc\n4,"",abcde  \n5,x,abcdef\n6,x,"     "\n7,x,\n');
SELECT * FROM domains;
SELECT a FROM domains;
SELECT count(*) FROM domains;
-- a domain's check may run SQL
CREATE TABLE allowed (v text);
INSERT INTO allowed VALUES ('red'), ('green');
CREATE FUNCTION is_allowed(text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
  RETURN EXISTS (SELECT FROM allowed WHERE v = $1);
END $$;
CREATE DOMAIN colour AS text CHECK (is_allowed(VALUE) OR VALUE IS NULL);
CREATE FOREIGN TABLE colours (id int, c colour) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_query('t.csv', $$SELECT string_agg(format(E'%s,%s\n', i, CASE i % 100 WHEN 7 THEN 'blue' WHEN 8 THEN '' ELSE (ARRAY['red', 'green'])[1 + i % 2] END), '' ORDER BY i) FROM generate_series(1, 600) i$$);
SELECT c, count(*), min(id), max(id) FROM colours GROUP BY c ORDER BY c;
-- one that raises an error of its own
CREATE FUNCTION not_thirteen(n int) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
  IF n = 13 THEN
    RAISE EXCEPTION 'thirteen is refused' USING ERRCODE = 'P1313';
  END IF;
  RETURN true;
END $$;
CREATE DOMAIN lucky AS int CHECK (not_thirteen(VALUE));
CREATE FOREIGN TABLE lucks (n lucky) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'12\n13\n14\n');
SELECT * FROM lucks;
ALTER FOREIGN TABLE lucks OPTIONS (ADD on_error 'stop');
SELECT * FROM lucks;
\echo :SQLSTATE

-- a value that its input function gives up on
CREATE FOREIGN TABLE nested (id int, j json) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_query('t.csv', $$SELECT E'1,[[]]\n2,' || repeat('[', 100000) || E'\n3,[]\n'$$);
SELECT * FROM nested;

-- one that may not be used yet
BEGIN;
ALTER TYPE mood ADD VALUE 'glad';
CREATE FOREIGN TABLE new_moods (m mood) SERVER csv OPTIONS (filename 'regress_csv/t.csv');
CALL write_file('t.csv', E'sad\nglad\n');
SELECT * FROM new_moods;
ROLLBACK;

-- many refused values of a type that needs its input function
CREATE FOREIGN TABLE moods (id int, m mood) SERVER csv OPTIONS (filename 'regress_csv/t.csv', log_verbosity 'silent');
CALL write_query('t.csv', $$SELECT string_agg(format(E'%s,%s\n', i, (ARRAY['sad', 'ok', 'happy', 'angry'])[1 + i % 4]), '' ORDER BY i) FROM generate_series(1, 1000) i$$);
SELECT m, count(*), sum(id) FROM moods GROUP BY m ORDER BY m;

\i :teardown
