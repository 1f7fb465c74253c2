--
-- The option "comment": lines that are no records.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/sql/include/setup.sql'
\i :setup
CALL write_file('comments.csv', E'# made, "by\n#\na,b\n# not a header\n1,one\n#2,two\n# "open\n 3,#three\n"#4",four\n5\n#');
CREATE FOREIGN TABLE comments (a text, b text, n bigint OPTIONS (virtual 'record'), l bigint OPTIONS (virtual 'line'))
	SERVER csv OPTIONS (filename 'regress_csv/comments.csv', header 'match', comment '#');
SELECT * FROM comments;
SELECT count(*) FROM comments WHERE b <> 'one';
SELECT record, line, byte_offset, error, raw FROM csv_gpu_errors('comments');
-- in quotes, and in lines that are read again, which begin records each
CALL write_file('comments.csv', E'a,b\n1,"x\n# y"\n2,"open\n# no record\n3,three\n');
SELECT * FROM comments;
-- strings of several bytes
CALL write_file('comments.csv', E'--;--\na;b\n-1;one\n--1;two\n- - 2;three\n---\n');
ALTER FOREIGN TABLE comments OPTIONS (SET comment '--', delimiter ';');
SELECT a, b, n, l FROM comments;
SELECT count(*) FROM comments WHERE a::int < 0;
-- longer than any record may be
CALL write_file('comments.csv', E'a;b\n1;one\n--' || repeat('long ', 1000) || E'\n2;two\n');
ALTER FOREIGN TABLE comments OPTIONS (max_record_size '20', chunk_size '100');
SELECT a, b, n, l FROM comments;
-- of the text format
CALL write_file('comments.txt', E'% made\n1\tone\\\n% two\n%\\\n2\ttwo\n');
CREATE FOREIGN TABLE text_comments (a int, b text) SERVER csv OPTIONS (filename 'regress_csv/comments.txt', format 'text', comment '%');
SELECT * FROM text_comments;
-- none
ALTER FOREIGN TABLE text_comments OPTIONS (SET comment '');
SELECT b FROM text_comments;
-- wrong ones
ALTER FOREIGN TABLE comments OPTIONS (SET comment '123456789');
ALTER FOREIGN TABLE comments OPTIONS (SET comment E'a\nb');
ALTER FOREIGN TABLE comments OPTIONS (SET comment ';');
ALTER FOREIGN TABLE comments OPTIONS (SET comment '"#');
ALTER FOREIGN TABLE text_comments OPTIONS (SET comment '\#');

\i :teardown
