--
-- What a file holds: csv_gpu_sniff().
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup

CREATE FUNCTION sniff(content text, name text DEFAULT 's.csv')
RETURNS TABLE (header_name text, column_name text, type text, nulls bigint, max_chars int, byte_width int)
LANGUAGE plpgsql AS $$
BEGIN
  CALL write_file(name, content);
  RETURN QUERY SELECT s.header_name, s.column_name, s.type, s.nulls, s.max_chars, s.byte_width
    FROM csv_gpu_sniff('regress_csv/' || name) s ORDER BY s.column_number;
END $$;
-- the type of a column with these values
CREATE FUNCTION type_of(VARIADIC content text[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  CALL write_file('t.csv', E'n,x\n1,' || array_to_string(content, E'\n1,') || E'\n');
  RETURN (SELECT s.type FROM csv_gpu_sniff('regress_csv/t.csv') s WHERE s.column_number = 2);
END $$;
CREATE FUNCTION dialect_of(content bytea, name text DEFAULT 'd.csv') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  found record;
BEGIN
  CALL write_file(name, content);
  SELECT s.*, count(*) OVER () fields INTO found FROM csv_gpu_sniff('regress_csv/' || name) s LIMIT 1;
  RETURN format('delimiter %s quote %s escape %s boundary %s header_rows %s decimal %s encoding %s fields %s records %s skipped %s',
    to_json(found.delimiter), found.quote, found.escape, found.record_boundary, found.header_rows,
    found.decimal_separator, found.encoding, found.fields, found.records, found.skipped);
END $$;
CREATE FUNCTION dialect_of(content text, name text DEFAULT 'd.csv') RETURNS text LANGUAGE sql AS
$$ SELECT dialect_of(convert_to(content, 'UTF8'), name) $$;

-- all of it
CALL write_file('a.csv', E'Id,Full Name,since\n1,"Ödön, B",2020-02-29\n2,,\n');
\x on
SELECT * FROM csv_gpu_sniff('regress_csv/a.csv');
\x off

-- integers
SELECT type_of('1', '-5', '0'), type_of('2147483647', '-2147483648'), type_of('2147483648'), type_of('-2147483649');
SELECT type_of('9223372036854775807', '-9223372036854775808'), type_of('9223372036854775808'), type_of('-9223372036854775809', '1');
SELECT type_of(' 1', '2 '), type_of('1', ' '), type_of('- 1'), type_of('1', '0x10'), type_of('1_000'), type_of('1', '1,');
-- codes
SELECT type_of('007', '1'), type_of('-07'), type_of('00'), type_of('0'), type_of('+47123'), type_of('01.5');
-- decimals
SELECT type_of('1.5', '-22.25', '3'), type_of('0.5', '.25'), type_of('5.'), type_of('.'), type_of('-.5'), type_of('-.'), type_of('1.5', '123456789012345678901234567890');
SELECT type_of(repeat('9', 1000)), type_of(repeat('9', 1001)), type_of('0.' || repeat('1', 1000), '0.5'), type_of('1.2.3');
-- floats
SELECT type_of('1e5', '2.5'), type_of('-1.5E-300', '3'), type_of('1e400', '1'), type_of('5e-324'), type_of('1e-400'), type_of('1e'), type_of('1e5', '01e5');
SELECT type_of('NaN', '1'), type_of('-inf', '2.5', 'Infinity'), type_of('nan'), type_of('inf', 'nan'), type_of('1e5', '12345678901234567890');
-- booleans
SELECT type_of('true', 'FALSE'), type_of('t', 'f'), type_of('true'), type_of('yes', 'no'), type_of('NO', 'NO'), type_of('y'), type_of('on', 'Off'), type_of('t', '1'), type_of('tr', 'false');
-- dates and timestamps: nothing mixed with zones
SELECT type_of('2020-02-29', '0001-01-01'), type_of('2020-02-30'), type_of('29.02.2020'), type_of('02/29/2020'), type_of('2020-2-9'), type_of('infinity', '2020-01-01'), type_of('20200229');
SELECT type_of('2020-02-29', '2020-02-29 23:59:59.123456'), type_of('2020-02-29T10:00'), type_of('2020-02-29 24:00:01'), type_of('2020-01-01 10:00:00.1234567');
SELECT type_of('2020-02-29 10:00:00Z', '2020-02-29T10:00:00+05:30'), type_of('2020-02-29 10:00:00Z', '2020-02-29 10:00:00'), type_of('2020-02-29', '2020-02-29 10:00:00Z'), type_of('10:00:00');
-- uuid
SELECT type_of('550e8400-e29b-41d4-a716-446655440000', '550E8400-E29B-41D4-A716-446655440000'), type_of('550e8400e29b41d4a716446655440000'), type_of(' 550e8400-e29b-41d4-a716-446655440000');
-- a time zone by its name, and times of day
SELECT type_of('2020-01-01 00:00:00 UTC', '2020-01-02 10:30:00.5 GMT', '2020-01-02 10:30:00Z'), type_of('2020-01-01 00:00:00 CET'), type_of('04:00:00', '23:59:59.123456'), type_of('24:30:00'), type_of('04:00');

-- numbers that are codes, addresses, phones, versions
SELECT type_of('12E5', '45E3'), type_of('12E5', '1045'), type_of('1e5', '1045'), type_of('192.168.100.101', '10.168.100.102'), type_of('601 234 567', '512 345 678'), type_of('1.234.567', '2.100.001'), type_of('1 234.567', '1.5');
SELECT type_of('5', '1 234', '1 234 567'), type_of('1 234', '12 345'), type_of('1 234.5'), type_of('-1 234'), type_of('5', '1 234 567', '1234'), type_of('101 102 103', '104', '105 106');

-- signs in odd places
SELECT type_of('5.00-', '7'), type_of('(900.23)', '5'), type_of('$5', '7.50'), type_of(U&'\22123.5', '1.5'), type_of('''-0.02', '1'), type_of('10%', '12.5%'), type_of('="02345"', '="1"');

-- a double has 17 digits, zeros in front not counted
SELECT type_of('0.011111111111111112', '1e-5'), type_of('0.0111111111111111123', '1e-5');

-- dates: versions, years, centuries
SELECT type_of('20.04.16', '18.04.22'), type_of('4.6.15', '5.1.2'), type_of('31.12.24', '01.01.25'), type_of('13.02.9019'), type_of('13/02/0024'), type_of('31/12/9999', '13/01/2024'), type_of('16-07-68', '23-10-64');

-- eight digits are dates where the name has that word
SELECT column_name, type FROM sniff(E'date,startDate,order_date,Erstelldatum,birthdate,candidate_id,update_no,mandate,date_id,validated\n20240131,20240131,20240131,20240131,20240131,20240131,20240131,20240131,20240131,20240131\n');

-- odd values at the top or at the bottom, where there are few
SELECT column_name, type FROM sniff(E'tx,area,v\nmany,km2,1\n1,1.5,2\n2,2.5,3\n3,3.5,4\n4,4.5,n.n.\n');

-- NULLs: where all are, and quoted ones, which a type takes with force_null
SELECT type_of('', ''), type_of('1', ''), type_of('""', '""'), type_of('1', '""'), type_of('"1"', '" "');
SELECT * FROM sniff(E'a,b,c\n1,,""\n,,""\n"",,\n');
-- a type is that of the last value, too
SELECT * FROM sniff('id,a,b,c' || E'\n' || (SELECT string_agg(i || ',' || i || ',2020-01-01,true', E'\n') FROM generate_series(1, 50000) i) || E'\n50001,x,2020-02-30,maybe');
SELECT * FROM sniff('id,a,b,c' || E'\n' || (SELECT string_agg(i || ',' || i || ',2020-01-01,1', E'\n') FROM generate_series(1, 50000) i) || E'\n50001,3000000000,2020-01-01 10:00,1.25');

-- a point that may be decimal or part thousands, where another column has decimal commas
SELECT column_name, type FROM sniff(E'artikel;preis;menge\n1;1.234,56;10\n2;12,00;1.000\n3;-3,5;2\n');
SELECT column_name, type FROM sniff(E'preis;menge\n0,125;1.000\n');
SELECT column_name, type FROM sniff(E'preis,menge\n"12,00",-12.500\n" 1.234,567 ", 1.000 \n,\n');
-- not where something tells: another point, an exponent, no column of decimal commas, or that alone may be thousands
SELECT column_name, type FROM sniff(E'preis;menge;b;c;d;e\n12,00;1.000;1234.000;0.500;.500;1.000e3\n1,5;2.5;1.000;1.000;1.000;2\n');
SELECT column_name, type FROM sniff(E'preis;menge\n1.234;1.000\n2,345;1.000\n');
SELECT column_name, type FROM sniff(E'preis;menge\nab 1,5;1.000\n2,5;1.000\n');
SELECT column_name, type FROM sniff(E'preis;menge\n2,5;1.000\n007,5;1.000\n');
SELECT column_name, type FROM sniff(E'preis;menge\n2,5;1.000\n1.23,5;1.000\n');
SELECT column_name, type FROM sniff(E'preis;menge\n10;1.000\n;2.000\n');
-- the other way round
SELECT column_name, type FROM sniff(E'a;b;c;d\n1,5;2,5;1,000;1,234.56\n2;3;2;12.00\n');
-- where nothing tells, and where a later value does
SELECT column_name, type FROM sniff(E'id;menge\n1;1.000\n2;999\n3;12.000\n');
SELECT column_name, type FROM sniff(E'id\tmenge\n1\t1.250\n2\t12.125\n');
SELECT column_name, type FROM sniff(E'id;menge\n1;1.000\n2;999\n3;1.000.000\n');
SELECT column_name, type FROM sniff('id;menge' || E'\n' || (SELECT string_agg(i || ';1.000', E'\n') FROM generate_series(1, 30000) i) || E'\n30001;1,5');
SELECT column_name, type FROM sniff('id;menge' || E'\n' || (SELECT string_agg(i || ';5', E'\n') FROM generate_series(1, 30000) i) || E'\n30001;1.000,5');

-- names
SELECT header_name, column_name FROM sniff(E'id,id,,"the ""id""",order,User,ctid,1st,a  b,_x_, trim ,-,"two\nlines",ÄÖ,id_2,column_3\n' || repeat('1,', 15) || '1');
SELECT column_name, length(column_name) FROM sniff(repeat('x', 70) || ',' || repeat('x', 80) || ',' || repeat('ä', 40) || ',' || repeat('ä', 41) || E'\n1,2,3,4\n');
SELECT header_name, column_name FROM sniff(E'a\tb\n1\t2\n', 's.tsv');
CALL write_file('a.csv', '\x61ff2c62c0af2c63000a312c322c330a'::bytea);
SELECT header_name, column_name, skipped FROM csv_gpu_sniff('regress_csv/a.csv');

-- zero bytes in names, at their ends and in names that are long
CALL write_file('a.csv', '\x00612c62006100622c63002c00000a312c322c332c340a'::bytea);
SELECT to_json(header_name) AS header_name, column_name, type FROM csv_gpu_sniff('regress_csv/a.csv');
CALL write_file('a.csv', '\x6e006d2c6f0a782c790a7a2c770a'::bytea);
SELECT to_json(header_name) AS header_name, column_name, type FROM csv_gpu_sniff('regress_csv/a.csv');
CALL write_file('a.csv', '\x6900'::bytea || convert_to(repeat('x', 200000) || E',b\n1,2\n', 'UTF8'));
SELECT length(header_name), left(header_name, 4), column_name, type FROM csv_gpu_sniff('regress_csv/a.csv');
CALL write_file('a.csv', '\x6900'::bytea || decode(repeat('c3a4', 100000), 'hex') || '\xff2c620a312c320a');
SELECT length(header_name), left(header_name, 4), column_name, type FROM csv_gpu_sniff('regress_csv/a.csv');
SET client_encoding = 'LATIN1';
SELECT length(header_name), left(header_name, 2), column_name, type FROM csv_gpu_sniff('regress_csv/a.csv');
RESET client_encoding;

-- header or none
SELECT header_name, column_name, type FROM sniff(E'1,a\n2,b\n');
SELECT header_name, column_name, type FROM sniff(E'alpha,beta\nx y,z\nu,v\n');
SELECT header_name, column_name, type FROM sniff(E'red,5\nblue,6\n');
SELECT header_name, column_name, type FROM sniff(E'red,blue\nblue,red\nred,green\n');
SELECT header_name, column_name, type FROM sniff(E'name,city');
SELECT header_name, column_name, type FROM sniff(E'5,6');
SELECT header_name, column_name, type FROM sniff(E'\n\nname,n\nx,1\n');
SELECT dialect_of(E'id,2010\n1,5\n2,6\n3,7\n');
SELECT header_name, type FROM sniff(E'station,1,2,3\nSA,11.2,8.1,-0.2\nSB,19.6,10.8,20.4\n');
SELECT header_name, type FROM sniff(E',0,1\n0,5,6\n1,3,2\n');
SELECT header_name, type FROM sniff(E'state,2018\nAlabama,R+27\nAlaska,R+9\n');
SELECT header_name, type FROM sniff(E'A,1,2,3\nB,2,4,6\nC,5,6,7\n');
SELECT header_name, type FROM sniff(E'A,1,2,3\nB,7,4,6\nC,8,8,7\n');
SELECT dialect_of(E'foo,bar,baz\n1,2,3\n4,5,six\n');
SELECT header_name, type FROM sniff(E'code,name,B01_001\nid,Name of area,Estimate of total\nx1,North 1,77\nx2,North 2,78\nx3,North 3,90\n');
SELECT dialect_of(E'n,a,b\n1,x,5\nNote: one,,\n2,y,6\nNote: two,,\nNote: three,,\n');
SELECT * FROM sniff('');
SELECT * FROM sniff(E'\n\n');

-- dialects
SELECT dialect_of(E'a;b;c\n1,5;2;x\n2,25;3;y\n');
SELECT dialect_of(E'a;b\n1,234;x\n2,345;y\n');
SELECT dialect_of(E'1,5;2,5\n3,5;4,5\n');
SELECT dialect_of(E'a\tb, c\n1\tx, y\n');
SELECT dialect_of(E'a|b|c\n1|x|y\n');
-- lists that end with another delimiter; "$", prices; names of a log's fields
SELECT column_name, type, header_name FROM sniff(E'chrom\tstart\tsizes\nchr1\t100\t1,3,\nchr1\t200\t2,4,\n');
SELECT column_name, type FROM sniff(E'name\tsizes\ng1\t7,\ng2\t8,\n');
SELECT dialect_of(E'g1\t5\t1|2|3|\ng2\t6\t4|5|6|\n');
SELECT dialect_of(E'id;\tn\n1;\tx\n2;\ty\n');
SELECT dialect_of(E'primaryid$drug$sex\n101$ASPIRIN, COATED$F\n102$$M\n');
SELECT dialect_of(E'101$ASPIRIN$F\n102$$M\n');
SELECT dialect_of(E'id,price\n1,$5.20\n2,$7.80\n');
SELECT dialect_of(E'US$5\nUS$7\n');
SELECT column_name, type FROM sniff(E'#path\tconn\n#fields\tts\tuid\n#types\ttime\tstring\n1.5\tC1\n2.5\tC2\n#fields\tts\tuid\n1.6\tC3\n#fields\tuid\tts\nC4\t1.7\n#close\t2024\n');
SELECT column_name, type FROM sniff(E'#Version: 1.0\n#Fields: time sc-status cs(User-Agent)\n10:00:01 200 a+(X11;+Linux)\n10:00:02 404 b+(X11;+Linux)\n');
SELECT column_name, type FROM sniff(E'#Version: 1.0\n#Fields: date time c-ip sc-status\n2024-05-01 10:00:01 200\n2024-05-01 10:00:02 404\n');
SELECT dialect_of(E'a,b\r\n1,"x\ny"\r\n');
SELECT dialect_of(E'a,b\r1,x\r2,y\r');
SELECT dialect_of(E'id,name\n1,''a, b''\n2,''c''\n');
SELECT dialect_of(E'id,name\n1,O''Hara\n2,''tis\n');
SELECT dialect_of(E'id,name\n1,"say \\"yes\\", please"\n2,"b"\n');
SELECT dialect_of(E'id,inch\n1,"5" pipe\n2,"6" pipe\n3,"7" pipe\n4,8\n');
SELECT dialect_of(E'id,name\n1,"say \\"yes\\", please"\n2,"\\"b\\", too"\n3,"a \\"c\\", d"\n');
SELECT dialect_of(E'id,inch\n1,"5" pipe\n2,6\n3,7\n4,8\n');
SELECT dialect_of(E'word\nhello, world\nfoo\nbar\n');
SELECT dialect_of(E'word\nfoo\nbar\n');
SELECT dialect_of('a' || chr(1) || E'b\n1' || chr(1) || E'2\n');
SELECT dialect_of(E'a,b,c\n1,2,3\n1,2\n1,2,3,4\n4,5,6\n');
SELECT dialect_of(E'a\t1,2,3\nb\t4,5,6\n', 'd.tsv');
-- numbers of fields that are equally frequent: the header's, else the largest
SELECT dialect_of(E'id,name,comment\n1,Anna,ok\n2,Bob,fine, thanks\n');
SELECT dialect_of(E'id,name,comment\n1,Anna,ok\n2,Bob\n');
SELECT dialect_of(E'id,name,comment\n1,Anna\n2,Bob,fine, thanks\n3,Eve,ok\n');
SELECT dialect_of(E'1,2020-01-01,3\n1,2020-01-01,3,4\n');
-- most records have another number than the header: names that vanish are told
SELECT header_name, column_name, records, skipped FROM csv_gpu_sniff('regress_csv/d.csv');
CALL write_file('d.csv', E'id,name,comment,more\n1,Anna\n2,Bob\n3,Eve,x,y\n');
SELECT header_name, column_name, records, skipped FROM csv_gpu_sniff('regress_csv/d.csv');
CALL write_file('d.csv', E'id,name\n1,Anna,ok\n2,Bob,ok\n3,Eve\n');
SELECT header_name, column_name, records, skipped FROM csv_gpu_sniff('regress_csv/d.csv');
CALL write_file('d.csv', E'id,name\n1,Anna,ok\n2,Bob,ok,x\n');
SELECT header_name, column_name, records, skipped FROM csv_gpu_sniff('regress_csv/d.csv');
CALL write_file('d.csv', E'id,name\n');
SELECT header_name, column_name, records, skipped FROM csv_gpu_sniff('regress_csv/d.csv');
-- a first line longer than what is looked at otherwise
SELECT dialect_of('id,' || repeat('x', 600000) || E'\n1,2\n');
-- encodings
SELECT dialect_of('\xefbbbf69643b780a313bc3a40a'::bytea);
SET client_encoding = 'LATIN1';
SELECT dialect_of('\x69643b780a313be40a'::bytea);
SELECT dialect_of('\xefbbbf69643b780a313bc3a40a'::bytea);
SET client_encoding = 'SJIS';
SELECT dialect_of('\x69643b780a313b835c0a'::bytea);
SELECT dialect_of('\xefbbbf69643b780a313bc3a40a'::bytea);
RESET client_encoding;
SELECT dialect_of('\x69643b780a313be40a'::bytea);
SELECT dialect_of('\xfffe61002c0062000a00'::bytea);

-- comments, footers, COPY's text format, separators beyond ASCII
CREATE FUNCTION options_of(content text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  found record;
BEGIN
  CALL write_file('d.csv', content);
  SELECT min(s.delimiter) AS delimiter, min(s.header_rows) AS header, min(s.comment) AS comment,
    min(s.footer_rows) AS footer, nullif(min(s.format), 'csv') AS format, min(s.thousands_separator) AS thousands,
    min(s.date_format) AS dates, string_agg(s.column_name || ' ' || s.type, ', ' ORDER BY s.column_number) AS columns
    INTO found FROM csv_gpu_sniff('regress_csv/d.csv') s;
  RETURN jsonb_strip_nulls(to_jsonb(found));
END $$;
SELECT options_of(E'# made by hand\n\nid,name\n1,Ann\n# a break\n2,Bob\n');
SELECT options_of(E'# made by hand\n# id,name\n1,Ann\n2,Bob\n');
SELECT options_of(E'##one\n##two\n#id\tname\n1\tAnn\n2\tBob\n');
SELECT options_of(E'#id,name\n1,Ann\n2,Bob\n');
SELECT options_of(E'code,n\n#a,1\n#b,2\n--,3\n');
SELECT options_of(E'id,n\n1,2\n2,3\n3,x\n');
SELECT options_of(E'item,n\na,2\nb,3\nTotal,5\n');
SELECT options_of(E'item,n\na,2\nb,3\nTotal,6\n');
SELECT options_of(E'item;n;v\na;2;1\nb;3;2\n\nSource: here\nof today\n');
SELECT options_of('id,n' || E'\n' || (SELECT string_agg(i || ',' || i, E'\n') FROM generate_series(1, 60000) i) || E'\n\n(60000 rows)\nEND\n');
SELECT options_of(E'1\tAnn\t\\N\n2\tBo\\tb\t2.5\n\\.\n');
SELECT options_of(E'1\tAnn\t\\N\n2\tBo\\tb\t2.5\n\\.\n\n\n');
SELECT options_of(E'1\tC:\\new\n2\tC:\\old\n');
SELECT options_of(E'ville;n\nA;1\u00a0234\nB;12\u202f345\nC;123\u00a0456\n');
SELECT options_of(E'ville;n\nA;1\u00a0234\nB;12\u00a0345\nC;5\n');
SELECT options_of(E'd,n\n31/12/24,1\n05/01/25,2\n'), options_of(E'd,n\n01/02/03,1\n02/03/04,2\n');
SELECT options_of(E'x y\n1 2.5\n2 3.5\n3 4.5\n'), options_of(E'2024-01-01 10:00:00\n2024-01-01 11:00:00\n');

-- compressed, and a pattern
CALL write_file('z1.csv.gz', decode('1f8b0800000000000003cb4cd1c94bcc4de532d4c9cf4be532d2512a29cfe70262252e008cbb6cf51a000000', 'hex'));
CALL write_file('z2.csv', E'id,name\nx,y\n');
SELECT column_name, type, records FROM csv_gpu_sniff('regress_csv/z1.csv.gz');
SELECT column_name, type, records FROM csv_gpu_sniff('regress_csv/z*');

-- what cannot be
CALL write_file('wide.csv', repeat('a,', 1600) || 'a');
SELECT count(*) FROM csv_gpu_sniff('regress_csv/wide.csv');
CALL write_file('wide.csv', repeat('a,', 1599) || 'a');
SELECT count(*), count(DISTINCT column_name) FROM csv_gpu_sniff('regress_csv/wide.csv');
SELECT * FROM csv_gpu_sniff('regress_csv/none.csv');
SELECT * FROM csv_gpu_sniff('regress_csv/none*');
SELECT * FROM csv_gpu_sniff('regress_csv');
SELECT * FROM csv_gpu_sniff('/dev/null');
SELECT * FROM csv_gpu_sniff(NULL);
-- beginnings that fill the sample: a record with line breaks, blank lines, half a line break
SELECT dialect_of('a,b' || E'\n1,"' || repeat(E'line\n', 70000) || E'"\n2,x\n');
SELECT dialect_of('"' || repeat(E'line\n', 70000) || E'",b\n2,x\n');
SELECT dialect_of(repeat(E'\n', 300000) || E'a,b\n1,2\n');
SELECT dialect_of(repeat('a', 262143) || E'\r\n1\r\n2\r\n');
-- CRs: two at each line's end, two at some, one in the first line, one in a later line
SELECT dialect_of(E'a,b\r\r\n1,"2\r\n"\r\r\n3,4\r\r\n');
SELECT dialect_of(E'a,b\r\n1,2\r\n3,4\r\r\n');
SELECT dialect_of(E'a\r,b\n1,2\n3,4\n');
SELECT dialect_of(E'a,b\n1,2\n"3\r",4\n5\r6,7\n');
-- all of them ends of records, but for LFs in quotes; LF beside CR LF
SELECT dialect_of(E'a,b\r"1\n",2\r3,4\r');
SELECT dialect_of(E'a,b\r\n1,2\n3,4\r\n');
-- more fields than a table can have
SELECT dialect_of(repeat(',', 3000000) || E'\n');
-- whole numbers that a double would round
SELECT type_of('9007199254740993', '1e5'), type_of('900719925474099', '1e5');
CREATE ROLE regress_csv_sniff;
SET ROLE regress_csv_sniff;
SELECT * FROM csv_gpu_sniff('regress_csv/a.csv');
RESET ROLE;
GRANT pg_read_server_files TO regress_csv_sniff;
GRANT USAGE ON SCHEMA csv_test TO regress_csv_sniff;
SET ROLE regress_csv_sniff;
SELECT count(*) FROM csv_gpu_sniff('regress_csv/z2.csv');
RESET ROLE;
DROP OWNED BY regress_csv_sniff;
DROP ROLE regress_csv_sniff;

\i :teardown
