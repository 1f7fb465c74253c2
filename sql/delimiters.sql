--
-- Delimiters of several bytes, and the option "trim".
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup
-- first come, first served where they overlap
CALL write_file('bars.csv', E'a||b||c\n1||"x||""y"""||3\n2|||x|||3\n4||||\n"5"||6\n"7"|x||y||8\n');
CREATE FOREIGN TABLE bars (a text, b text, c text, n bigint OPTIONS (virtual 'record'))
	SERVER csv OPTIONS (filename 'regress_csv/bars.csv', header 'match', delimiter '||');
SELECT * FROM bars;
SELECT b, count(*) FROM bars WHERE c <> '|3' OR c IS NULL GROUP BY b ORDER BY b;
SELECT record, line, byte_offset, error, raw FROM csv_gpu_errors('bars');
ALTER FOREIGN TABLE bars OPTIONS (SET delimiter '|||', ragged 'pad', SET header 'false');
SELECT a, b, c FROM bars;
-- characters of the file's encoding
CALL write_file('section.csv', E'1\u00a7eins\u00a7x\n2\u00a7"zw\u00a7ei"\u00a7y\n');
CREATE FOREIGN TABLE section (a int, b text, c text) SERVER csv OPTIONS (filename 'regress_csv/section.csv', delimiter E'\u00a7', encoding 'UTF8');
SELECT * FROM section;
CALL write_file('section.csv', convert_to(E'1\u00a7eins\u00a7x\n2\u00a7"zw\u00a7ei\u00e4"\u00a7y\n', 'LATIN1'));
ALTER FOREIGN TABLE section OPTIONS (SET encoding 'LATIN1');
SELECT * FROM section;
SELECT sum(a) FROM section WHERE c > 'x';
-- of the text format
CALL write_file('text.txt', E'1::a\\::b::c\n2::\\N::\\\\\n');
CREATE FOREIGN TABLE texts (a int, b text, c text) SERVER csv OPTIONS (filename 'regress_csv/text.txt', format 'text', delimiter '::');
SELECT * FROM texts;
-- trim: before "null" is looked at, in the header, and outside of quotes
CALL write_file('blanks.csv', E' a , " b " ,\tc\n1 ,  x y\t, 2.50 \n 2 , " z " ,\t\n3,"",  4\n4, "x" y ,5\n');
CREATE FOREIGN TABLE blanks (a int, " b " text, c numeric) SERVER csv
	OPTIONS (filename 'regress_csv/blanks.csv', header 'match', trim 'true', null 'x y');
SELECT * FROM blanks;
SELECT " b ", sum(c) FROM blanks WHERE a < 3 GROUP BY 1 ORDER BY 1;
SELECT record, error, raw FROM csv_gpu_errors('blanks');
ALTER FOREIGN TABLE blanks OPTIONS (ADD quoting 'postgres', SET null '');
SELECT * FROM blanks;
-- by name, limits, and with a comment
CALL write_file('blanks.csv', E'# a line\n c , a\n 1.5 , 12 \n 2 , 3\n');
CREATE FOREIGN TABLE named (a text OPTIONS (max_chars '2'), c float8, d int) SERVER csv
	OPTIONS (filename 'regress_csv/blanks.csv', header 'true', by_name 'true', trim 'on', comment '#');
SELECT * FROM named;
-- lenient
CALL write_file('lenient.csv', E'1||"a "b" | c" ||2\n2||  "x" y" || 3\n3||"open|| 4\n4||"a|"||"\n');
CREATE FOREIGN TABLE lenient (a int, b text, c text) SERVER csv OPTIONS (filename 'regress_csv/lenient.csv', delimiter '||', quoting 'lenient');
SELECT a, '<' || b || '>' AS b, '<' || c || '>' AS c FROM lenient;
ALTER FOREIGN TABLE lenient OPTIONS (trim 'true');
SELECT a, '<' || b || '>' AS b, '<' || c || '>' AS c FROM lenient;
-- delimiters that are blanks, and lines of nothing else
CALL write_file('blanks.csv', E'1\t x \t "y"\t\n \n  \t\t\t\n');
CREATE FOREIGN TABLE tabs (a text, b text, c text, d text) SERVER csv OPTIONS (filename 'regress_csv/blanks.csv', delimiter E'\t', trim 'true');
SELECT * FROM tabs;
CALL write_file('blanks.csv', E'1 , 2, 3\n"4", "5", "6"\n');
CREATE FOREIGN TABLE comma_blank (a text, b text) SERVER csv OPTIONS (filename 'regress_csv/blanks.csv', delimiter ', ', trim 'true', ragged 'pad');
SELECT * FROM comma_blank;
-- the text format: an escaped blank stays
CALL write_file('blanks.txt', E' 1 \t \\N \n2\t a\\  \n');
CREATE FOREIGN TABLE text_blanks (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/blanks.txt', format 'text', trim 'true');
SELECT a, b, length(b) FROM text_blanks;
-- wrong ones
ALTER FOREIGN TABLE bars OPTIONS (SET delimiter '123456789');
ALTER FOREIGN TABLE bars OPTIONS (SET delimiter E'|\n');
ALTER FOREIGN TABLE bars OPTIONS (SET delimiter '|"');
ALTER FOREIGN TABLE bars OPTIONS (SET delimiter '|\', escape '\');
ALTER FOREIGN TABLE bars OPTIONS (null 'a|||b');
ALTER FOREIGN TABLE texts OPTIONS (SET delimiter ':\');
ALTER FOREIGN TABLE named OPTIONS (SET comment ' #');
ALTER FOREIGN TABLE named OPTIONS (quote ' ');
ALTER FOREIGN TABLE named OPTIONS (escape E'\t');
ALTER FOREIGN TABLE named OPTIONS (SET trim 'maybe');
ALTER FOREIGN TABLE section OPTIONS (SET delimiter E'\u00a7\u00a7\u00a7\u00a7', SET encoding 'UTF8');
ALTER FOREIGN TABLE section OPTIONS (SET delimiter E'\u20ac', SET encoding 'LATIN1');
SELECT * FROM section;
-- in these encodings a character may seem to begin in the middle of another one
ALTER FOREIGN TABLE section OPTIONS (SET delimiter E'\u3001', SET encoding 'EUC_JP');
SELECT * FROM section;
ALTER FOREIGN TABLE section OPTIONS (SET delimiter E'||');
CALL write_file('section.csv', convert_to(E'1||\u4e9c||\u3044\n', 'EUC_JP'));
SELECT * FROM section;

\i :teardown
