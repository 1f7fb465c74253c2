# Columns that IMPORT FOREIGN SCHEMA is given, programs that it reads, and a look at a
# file without a table.
use lib 'test/t';
use CsvServer;

my $node = csv_server('given');
my $given = new_folder();
my $import = sub {
	my ($options, $from) = @_;

	return (new_session($node)->query("DROP SCHEMA IF EXISTS given CASCADE; CREATE SCHEMA given; SET client_min_messages = notice;
		IMPORT FOREIGN SCHEMA \"" . ($from // $given) . "\" FROM SERVER csv INTO given OPTIONS ($options)"))[1] =~ s/^NOTICE:  (?:drop|schema "given").*\n(?:DETAIL.*\n(?:drop.*\n|and \d.*\n)*)?//gmr;
};
my $columns = sub {
	return $node->safe_psql('postgres', q{SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attfdwoptions[1]), ', ' ORDER BY attnum)
		FROM pg_attribute WHERE attrelid = ANY (SELECT oid FROM pg_class WHERE relnamespace = 'given'::regnamespace) AND attnum > 0});
};

write_file("$given/a.csv", "id,amount,Day Of\n1,5,02.01.2024\n2,7,31.01.2024\n");
is($import->(q(types 'amount numeric(8,2), "Day Of" date, id text')), '', 'types');
is($columns->(), 'id text, amount numeric(8,2), day_of date', 'columns have them');
is($node->safe_psql('postgres', 'SELECT * FROM given.a ORDER BY 1'), "1|5.00|2024-01-02\n2|7.00|2024-01-31", 'with the option that the form needs');
is($import->(q(all_text 'true', types 'amount int', virtual 'file filename, n record, at line, pos byte_offset')), '', 'one type, and further columns');
is($columns->(), 'id text, amount integer, day_of text, file text virtual=filename, n bigint virtual=record, at bigint virtual=line, pos bigint virtual=byte_offset', 'columns');
is($node->safe_psql('postgres', 'SELECT file, n, at, pos FROM given.a WHERE amount = 7'), "$given/a.csv|2|3|32", 'their values');
for ([ q(types 'none int'), 'no table has the column "none" of option "types"' ],
	[ q(types 'id int primary key'), 'invalid value for option "types": "id int primary key"' ],
	[ q{types 'id int); DROP SCHEMA given; CREATE TABLE x (id int'}, 'invalid value for option "types"' ],
	[ q{types 'id int) INHERITS (pg_class'}, 'invalid value for option "types"' ],
	[ q(types 'id nonsense'), 'type "nonsense" does not exist' ],
	[ q(types 'id'), 'syntax error at' ],
	[ q(virtual 'file name'), 'virtual "name" not recognized' ],
	[ q(program 'true'), 'option "program" requires option "table"' ],
	[ q(program 'true', table 't', pattern '*'), 'options "program" and "pattern" conflict' ],
	[ q(program 'true', table 't'), '"true" is empty: there is no table "t"' ],
	[ q(program 'echo 1; exit 3', table 't'), 'program "echo 1; exit 3" failed' ])
{
	like($import->($_->[0]), qr/^ERROR:  \Q$_->[1]/m, $_->[0]);
}
is($import->("program 'cat $given/a.csv', table 'p', types 'id bigint'", 'x'), '', 'a program');
is($node->safe_psql('postgres', 'SELECT sum(id), sum(amount), max(day_of) FROM given.p'), '3|12|2024-01-31', 'its rows');
write_file("$given/b.csv", join '', "id,v\n", map { $_ == 1700 ? "$_,\"x\n1\"\n" : $_ == 1900 ? "$_,none\n" : "$_,$_\n" } 1 .. 2000);
like($import->("pattern 'b.csv', table 'b'"), qr/Column "v": 1998 of 2000 values are numbers, "x\\x0a1" \(line 1701\) is not\./, 'the line of a value');
is($node->safe_psql('postgres', "SELECT record, fields FROM csv_gpu_peek('$given/b.csv', 2)"), qq(1|{"id": "1", "v": "1"}\n2|{"id": "2", "v": "2"}), 'peek');
like((new_session($node)->query("SELECT * FROM csv_gpu_peek('$given/b.csv', -1)"))[1], qr/^ERROR:  number of rows must not be negative/m, 'less than no rows');
write_file("$given/c.csv", "k,v\n,\"a\"\"b\"\n");
is($node->safe_psql('postgres', "SELECT fields FROM csv_gpu_peek('$given/c.csv')"), '{"k": null, "v": "a\"b"}', 'NULL and quotes');
write_file("$given/empty.csv", '');
is($node->safe_psql('postgres', "SELECT count(*) FROM csv_gpu_peek('$given/empty.csv')"), 0, 'an empty file');
like((new_session($node)->query("SELECT csv_gpu_open('$given/empty.csv')"))[1], qr/^ERROR:  ".*" is empty: there is no table "empty"/m, 'which makes no table');
like((new_session($node)->query("DROP SERVER csv CASCADE; SELECT csv_gpu_open('$given/a.csv')"))[1], qr/^ERROR:  there is no server for ".*" that you may use\nHINT:  Run: CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw;/m, 'nor without a server');
finish();
