# IMPORT FOREIGN SCHEMA of files that are one table: their columns, names, keys, and the
# options "pattern", "table" and "suffixes".
use lib 'test/t';
use CsvServer;
use File::Path qw(make_path);

my $node = csv_server('folders');
my $directory = new_folder();
my $nfolders = 0;
my $folder;

# files of a new folder: name => contents
sub folder
{
	my (%files) = @_;

	$folder = "$directory/f" . ++$nfolders;
	for my $name (sort keys %files)
	{
		make_path("$folder/$name" =~ s{/[^/]*$}{}r);
		write_file("$folder/$name", $files{$name});
	}
	return;
}

# imports the folder; returns its NOTICEs, without its path
sub import
{
	my ($options, $tables) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "DROP SCHEMA IF EXISTS made CASCADE; CREATE SCHEMA made;
		IMPORT FOREIGN SCHEMA made " . ($tables // '') . " FROM SERVER csv INTO made OPTIONS (directory " .
		literal($folder) . ($options ? ", $options" : '') . ')');

	$err =~ s/\Q$folder\E/DIR/g;
	$err =~ s/^psql:<stdin>:\d+: //gm;
	return join "\n", grep { !/schema "made" does not exist|drop cascades to|^DETAIL:  drop|^drop/ } split /\n/, $err;
}

sub one_table
{
	my ($options) = @_;

	return main::import("pattern '*.csv', table 't'" . ($options ? ", $options" : ''));
}

sub tables
{
	return sql(q{SELECT string_agg(relname, ' ' ORDER BY relname COLLATE "C") FROM pg_class WHERE relnamespace = 'made'::regnamespace});
}

sub columns
{
	my ($table) = @_;

	return sql("SELECT string_agg(quote_ident(attname), ' ' ORDER BY attnum) FROM pg_attribute
		WHERE attrelid = 'made.$table'::regclass AND attnum > 0");
}

sub option
{
	return sql("SELECT coalesce((SELECT option_value FROM pg_foreign_table, pg_options_to_table(ftoptions)
		WHERE ftrelid = 'made.t'::regclass AND option_name = '$_[0]'), '')");
}

# ---- one table of a pattern ----

folder('a.csv' => "id,name\n1,x\n", 'b.csv' => "id,name\n2,y\n", 'c.csv.gz' => 'nothing', 'd.txt' => 'nothing');
is(one_table(), '', 'a pattern: nothing to say');
is(tables(), 't', 'one table');
is(sql('SELECT * FROM made.t ORDER BY id'), "1|x\n2|y", 'of all files that match');
is(option('filename'), "$folder/*.csv", 'and of those to come');
is(main::import(q{pattern '*.csv', table 'Orders 2024'}), '', 'any name');
is(tables(), 'Orders 2024', 'is the table\'s');
is(main::import(q{pattern '*.csv', table 'Orders 2024'}, 'EXCEPT ("Orders 2024")'), '', 'left out');
is(tables(), '', 'by EXCEPT');
is(main::import(q{pattern '*.csv', table 'Orders 2024'}, 'LIMIT TO ("Orders 2024")'), '', 'asked for');
is(tables(), 'Orders 2024', 'by LIMIT TO');
like(main::import(q{pattern '*.csv', table 'Orders 2024'}, 'LIMIT TO (other)'), qr/^NOTICE:  there is no file for table "other"/, 'another table');
is(tables(), '', 'is not made');
main::import(q{pattern '*.csv', table '} . 'x' x 80 . q{'});
is(tables(), 'x' x 63, 'a name that is too long is cut');

my %wrong = (
	q{pattern '*.csv'} => qr/option "pattern" requires option "table"/,
	q{table 't'} => qr/option "table" requires option "pattern"/,
	q{pattern '', table 't'} => qr/invalid value for option "pattern": ""/,
	q{pattern '/tmp/*.csv', table 't'} => qr/invalid value for option "pattern": "\/tmp/,
	q{pattern '*.csv', table ''} => qr/option "table" must not be empty/,
	q{pattern '*.csv', table 't', suffixes 'csv'} => qr/options "pattern" and "suffixes" conflict/,
	q{pattern 'none*', table 't'} => qr/none/,
	q{patern '*.csv'} => qr/invalid option "patern"(?s:.*)"pattern"/,
	q{suffixes ''} => qr/invalid value for option "suffixes": ""/,
	q{suffixes 'csv,,tsv'} => qr/"suffixes"/,
	q{suffixes '.csv'} => qr/invalid suffix in option "suffixes": "\.csv"/,
	q{suffixes 'a/b'} => qr/invalid suffix in option "suffixes": "a\/b"/,
	q{suffixes '*'} => qr/invalid suffix in option "suffixes": "\*"/,
	q{suffixes 'csv,gz'} => qr/invalid suffix in option "suffixes": "gz"(?s:.*)compressed/,
	q{suffixes 'csv,zip'} => qr/invalid suffix in option "suffixes": "zip"(?s:.*)compressed/);

like(main::import($_), qr/^ERROR:  (?s:.*)$wrong{$_}/, $_) for sort keys %wrong;

folder('[ab]*/x.csv' => "a,b\n1,2\n", 'ab/x.csv' => "c,d\n3,4\n");
$folder .= '/[ab]*';
is(one_table(), '', 'a directory whose name would be a pattern');
is(sql('SELECT * FROM made.t'), '1|2', 'is none');

folder('2023/a.csv' => "id,v\n1,2\n", '2024/a.csv' => "id,v\n3,4\n", '2024/b.tsv' => "id\tv\n3\t4\n");
is(main::import(q{pattern '*/*.csv', table 't'}), '', 'a pattern of directories');
is(sql('SELECT * FROM made.t ORDER BY id'), "1|2\n3|4", 'has their files');

folder('a.csv' => "id,v\n1,2\n", 'b.csv' => '');
is(one_table(), '', 'an empty file');
is(sql('SELECT * FROM made.t'), '1|2', 'has no rows');
folder('a.csv' => '', 'b.csv' => '');
like(one_table(), qr/^ERROR:  "DIR\/\*\.csv" is empty/, 'where all are empty, there is no table');

# ---- columns of all files ----

folder('2024-01.csv' => "order_id,amount,region\n1,10,north\n2,20,south\n",
	'2024-02.csv' => "order_id,amount,region,channel\n3,30,north,web\n",
	'2024-03.csv' => "order_id,order_date,total,region,channel,discount\n4,2024-03-01,40,south,shop,5\n");
my $said = one_table();
my $another_name = "HINT:  If two of these are one column under two names, coalesce() has the values of both; OPTIONS (by_name 'false') makes one column of them, if the fields of all files are in one order.";
is(columns('t'), 'order_id amount region channel order_date total discount', 'a monthly folder: the columns of all files');
is(sql('SELECT count(*), sum(amount), sum(total), count(channel), count(order_date), sum(discount) FROM made.t'), '4|60|40|2|1|5',
	'each value under its name');
is($said, qq{NOTICE:  files of "DIR/*.csv" differ in their headers, as "DIR/2024-02.csv" does from the first one: columns are found by name
DETAIL:  The first file lacks columns "channel", "order_date", "total", "discount".
A later file lacks column "amount".
} . $another_name, 'and what is said');
is(one_table(q{by_name 'true'}), $said, 'the same with by_name');
is(columns('t'), 'order_id amount region channel order_date total discount', 'which has them all');


sub differ
{
	my ($file) = @_;

	return qq{NOTICE:  files of "DIR/*.csv" differ in their headers, as "DIR/$file.csv" does from the first one: columns are found by name\n};
}

# name; files; columns, sorted rows, NOTICEs
my @folders = (
	[ 'a renamed column',
		{ a => "id,amount\n1,10\n", b => "id,total\n2,20\n" },
		'id amount total', '1|10| 2||20',
		differ('b') . qq{DETAIL:  The first file lacks column "total".
A later file lacks column "amount".
} . $another_name ],
	[ 'all of them renamed',
		{ a => "id,name\n1,a\n2,b\n", b => "nr,nom\n3,c\n4,d\n" },
		'id name nr nom', '1|a|| 2|b|| ||3|c ||4|d',
		qr/HINT:  If the files have no headers, give OPTIONS \(header 'false'\)\.$/ ],
	[ 'a column that is gone, and one that a later file has besides',
		{ a => "id,a,z\n1,2,3\n", b => "id,b,z\n4,5,6\n", c => "id,a,b,z\n7,8,9,0\n" },
		'id a z b', '1|2|3| 4||6|5 7|8|0|9',
		differ('b') . qq{DETAIL:  The first file lacks column "b".
A later file lacks column "a".
} . $another_name ],
	[ 'another order',
		{ a => "id,name\n1,x\n", b => "name,id\ny,2\n" },
		'id name', '1|x 2|y', differ('b') =~ s/\n//r ],
	[ 'another order and case',
		{ a => "ID,Name,City\n1,x,o\n", b => "name,city,id\ny,p,2\n" },
		'id name city', '1|x|o 2|y|p', differ('b') =~ s/\n//r ],
	[ 'case alone',
		{ a => "ID,Name\n1,x\n", b => "id,NAME\n2,y\n" }, 'id name', '1|x 2|y', '' ],
	[ 'other spellings at the same places',
		{ a => "Order ID,Unit Price\n1,2\n", b => "order_id,unit-price\n3,4\n", c => "\xef\xbb\xbf\xef\xbb\xbfORDER\xc2\xa0ID, unit price\n5,6\n" },
		'order_id unit_price', '1|2 3|4 5|6', '' ],
	[ 'names that differ in case only in one file',
		{ a => "id,Name,name\n1,x,y\n", b => "name,Name,id\nv,w,2\n", c => "id,NAME\n3,u\n" },
		'id name name_2 name_3', '1|x|y| 2|w|v| 3|||u',
		differ('b') . qq{DETAIL:  The first file lacks column "name_3".
A later file lacks columns "name", "name_2".
} . $another_name ],
	[ 'the same, in a later file',
		{ a => "id,Name\n1,x\n", b => "NAME,Name,id\nv,w,2\n" },
		'id name name_2', '1|x| 2|w|v',
		differ('b') . qq{DETAIL:  The first file lacks column "name_2".} ],
	[ 'fewer columns',
		{ a => "id,a,b\n1,2,3\n", b => "id,b\n4,5\n" }, 'id a b', '1|2|3 4||5',
		differ('b') . qq{DETAIL:  A later file lacks column "a".} ],
	[ 'other types',
		{ a => "id,v\n1,2\n", b => "id,v\n2,x\n" }, 'id v', '1|2 2|x', '' ],
	[ 'names that are there twice',
		{ a => "id,v,v\n1,2,3\n", b => "v,id,v\n5,4,6\n" }, 'id v v_2', '1|2|3 5|4|6',
		qr/differ in their headers, as "DIR\/b\.csv" does .*: fields are taken by their places\nDETAIL:  "DIR\/a\.csv" has two fields of the name "v"\.\nHINT:  If columns differ, make another table of such files\.$/ ],
	[ 'names that are there twice in the same order',
		{ a => "id,v,v\n1,2,3\n", b => "id,v,v\n4,5,6\n" }, 'id v v_2', '1|2|3 4|5|6', '' ],
	[ 'a field without a name',
		{ a => ",v\n1,2\n", b => ",w\n3,4\n" }, 'column_1 v', '1|2 3|4',
		qr/fields are taken by their places\nDETAIL:  "DIR\/a\.csv" has a field without a name\.\nHINT:  If columns differ, make another table of such files\.$/ ],
	[ 'a header below a title',
		{ a => "Report\n\nid,v\n1,2\n2,3\n", b => "Report\n\nv,id\n4,3\n5,4\n" }, 'id v', '1|2 2|3 3|4 4|5',
		qr/columns are found by name\nNOTICE:  left out/ ],
	[ 'a title above the first header, and another order below',
		{ a => "Report\n\nid,v\n1,2\n2,3\n", b => "v,id\n4,3\n5,4\n" }, 'v id', 'id|v 1|2 2|3 4|3 5|4',
		qr/differ in the number of lines above their data(?s:.*)differ in their headers, as "DIR\/b\.csv" does .*: fields are taken by their places/ ],
	[ 'header rows of groups, whose last rows are the same',
		{ a => "town,summer,,winter,\n,mean,max,mean,max\noslo,1,2,3,4\nrome,3,4,5,6\n",
			b => "town,winter,,summer,\n,mean,max,mean,max\noslo,3,4,1,2\nrome,3,4,5,6\n" },
		'town summer_mean summer_max winter_mean winter_max', 'oslo|1|2|3|4 rome|3|4|5|6 oslo|3|4|1|2 rome|3|4|5|6',
		qr/fields are taken by their places\nDETAIL:  The header of "DIR\/a\.csv" has names in several rows\.\nHINT:  If columns differ, make another table of such files\.$/ ],
	[ 'the same header rows',
		{ a => "speed,temp\nkm,c\n1,2\n2,3\n", b => "speed,temp\nkm,c\n3,4\n4,5\n" },
		'speed_km temp_c', '1|2 2|3 3|4 4|5', '' ],
	[ 'another delimiter',
		{ a => "id,v\n1,2\n2,3\n", b => "id;v\n3;4\n5;6\n" }, 'id v', '1|2 2|3',
		qr/fields are taken by their places\nDETAIL:  "DIR\/b\.csv" has only one field by the first file's delimiter\.(?s:.*)2 of 4 records of .* have errors/ ],
	[ 'another encoding',
		{ a => "id,gr\xc3\xb6\xc3\x9fe\n1,2\n2,3\n", b => "id,gr\xf6\xdfe\n3,4\n5,6\n" },
		"id \"gr\xc3\xb6\xc3\x9fe\"", '1|2 2|3 3|4 5|6',
		qr/fields are taken by their places\nDETAIL:  The header of "DIR\/b\.csv" is not valid in the table's encoding\.\nHINT:  If columns differ, make another table of such files\.$/ ],
	[ 'a header without the name of a field',
		{ a => "a,b\nx,1,2\ny,3,4\n", b => "b,a\nx,1,2\ny,3,4\n" }, 'column_1 a b', 'x|1|2 y|3|4 x|1|2 y|3|4',
		qr/fields are taken by their places\nDETAIL:  The header of "DIR\/a\.csv" has another number of fields than its records\.\nHINT:  If columns differ, make another table of such files\.$/ ],
	[ 'a file that has a header only, first',
		{ a => "id,v\n", b => "id,v\n1,2\n" }, 'id v', '1|2', '' ],
	[ 'no header, and another number of fields',
		{ a => "1,2020-01-01\n2,2020-01-02\n", b => "3,2020-01-01,4\n" }, 'column_1 column_2', '1|2020-01-01 2|2020-01-02',
		qr/1 of 3 records of "DIR\/\*\.csv" have errors: foreign table "t" skips them/ ],
	[ 'no header in a later file',
		{ a => "id,v\n1,2\n2,3\n", b => "3,4\n4,5\n" }, 'id v', 'id|v 1|2 2|3 3|4 4|5',
		qr/differ in the number of lines above their data: "header_rows" is 0, as in "DIR\/b\.csv"/ ],
	[ 'no header in the first file',
		{ a => "1,2\n2,3\n", b => "id,v\n3,4\n4,5\n" }, 'column_1 column_2', '1|2 2|3 id|v 3|4 4|5',
		qr/differ in the number of lines above their data/ ]);
for my $case (@folders)
{
	my ($name, $files, $columns, $rows, $notice) = @$case;

	folder(map { ("$_.csv" => $files->{$_}) } keys %$files);
	$said = one_table();
	is(columns('t'), $columns, "$name: columns");
	is(sql('SELECT * FROM made.t') =~ s/\n/ /gr, $rows, "$name: rows");
	ref $notice ? like($said, $notice, "$name: what is said") : is($said, $notice, "$name: what is said");
}

# ---- by_name as it is given ----

folder('a.csv' => "id,amount\n1,10\n", 'b.csv' => "total,id\n20,2\n");
like(one_table(q{by_name 'false'}), qr/fields are taken by their places$/, 'by places, as asked for');
is(columns('t'), 'id amount', 'has the names of the first file');
like(one_table(q{header 'match'}), qr/fields are taken by their places\nNOTICE:  foreign table "t" does not have "match" as its option "header"/, 'as does header match');
folder('a.csv' => "id,v\n1,2\n", 'b.csv' => "v,id\n3,4\n");
like(one_table(q{"null" 'v'}), qr/fields are taken by their places\nDETAIL:  "DIR\/a\.csv" has a field without a name\.\nHINT:/, 'a name that reads as NULL');
folder('a.csv' => ",amount\n1,10\n", 'b.csv' => "amount,id\n20,2\n");
like(one_table(q{by_name 'true'}), qr/by_name may not find all fields of .*\nDETAIL:  "DIR\/a\.csv" has a field without a name\./, 'no name');
is(sql('SELECT * FROM made.t'), "10|\n20|2", 'has no column');
folder('a.csv' => "id,v,v\n1,2,3\n", 'b.csv' => "id,v\n4,5\n");
like(one_table(q{by_name 'true'}), qr/^ERROR:  header of "DIR\/a\.csv" has more than one field "v"/, 'nor has one that is there twice');
folder('a.csv' => "Order ID,v\n1,2\n", 'b.csv' => "order_id,V\n3,4\n");
is(one_table(q{by_name 'true'}), differ('b') . qq{DETAIL:  The first file lacks column "order_id_2".
A later file lacks column "order_id".
} . $another_name, 'where spelling counts');
is(sql('SELECT * FROM made.t'), "1|2|\n|4|3", 'and each value is there');
folder('a.csv' => "Report\nid,v\n1,2\n2,3\n", 'b.csv' => "id,v\n3,4\n5,6\n");
like(one_table(q{by_name 'true'}), qr/differ in the number of lines above/, 'by_name with other numbers of lines above the data');

# more columns than a table can have
folder(map { my $n = $_; ("$n.csv" => join(',', map { "c${n}_$_" } 1 .. 700) . "\n" . join(',', 1 .. 700) . "\n") } 1 .. 3);
like(one_table(), qr/fields are taken by their places\nDETAIL:  The files have more than 1600 names\./, 'too many columns for by_name');
is(sql('SELECT c1_1, c1_700 FROM made.t'), "1|700\n1|700\n1|700", 'by places');
like(one_table(q{by_name 'true'}), qr/ERROR:  .* has 1601 fields, and a table can have at most 1600 columns/, 'and if by_name is given');

# ---- suffixes ----

folder('a.csv' => "id\n1\n", 'b.TXT' => "id,v\n1,2\n", 'c.log' => "id|v\n1|2\n", 'd.tsv' => "id\tv,w\n1\t2,3\n",
	'e.txt.bz2' => '', 'f.dat' => "id\tv,w\n1\t2,3\n", 'g.csvx' => "id\n1\n", 'h' => "id\n1\n");
system("gzip -c $folder/b.TXT > $folder/z.txt.gz") == 0 or die;
is(main::import(''), '', 'csv and tsv');
is(tables(), 'a d', 'are the suffixes');
is(main::import(q{suffixes 'txt, LOG'}), qq{NOTICE:  compressed files of directory "DIR" were passed over: 1, the first: "e.txt.bz2"
DETAIL:  Files that bzip2, xz or zip have compressed cannot be read.
HINT:  Decompress them, or compress them by gzip, zstd or LZ4.}, 'others');
is(tables(), 'b c z', 'in any case, compressed or not');
is(sql('SELECT * FROM made.z'), '1|2', 'which are read');
main::import(q{suffixes 'csv,tsv,txt,log,dat'});
is(tables(), 'a b c d f z', 'all of them');
folder('k=1/a.txt' => "id\n1\n", 'k=2/a.txt' => "id\n2\n");
like(main::import(''), qr/^NOTICE:  directory "DIR" has no files \*\.csv or \*\.tsv: there are no tables\nHINT:  For files with other suffixes, set the option "suffixes"\./, 'none');
is(main::import(q{suffixes 'txt'}), '', 'directories KEY=VALUE');
my ($hive) = $folder =~ m{([^/]+)$};
is(sql("SELECT * FROM made.$hive"), "1|1\n2|2", 'have suffixes, too');

# ---- keys ----

folder('a=1/x.csv' => "id\n1\n", 'b=2/x.csv' => "id\n2\n", 'a=3/x.csv' => "id\n3\n");
like(main::import(q{pattern '*/*.csv', table 't'}), qr/^$/, 'directories of several keys');
is(sql('SELECT id, a, b FROM made.t ORDER BY id'), "1|1|\n2||2\n3|3|", 'a column for each');
is(sql("SELECT string_agg(column_name || coalesce(' ' || virtual, ''), ', ') FROM csv_gpu_sniff('$folder/*/*.csv')"),
	'id, a path:a, b path:b', 'in csv_gpu_sniff(), too');
is(main::import(q{pattern 'a=*/*.csv', table 't'}), '', 'one key');
is(sql('SELECT * FROM made.t ORDER BY id'), "1|1\n3|3", 'by a pattern');
$folder .= '/a=1';
is(one_table(), '', 'a key of the directory itself');
is(sql('SELECT * FROM made.t'), '1', 'is none of the table');

# ---- names ----

folder('b2.csv' => "\xef\xbb\xbf\xef\xbb\xbfid,na\xe2\x80\x8bme\xef\xbb\xbf,unit\xe3\x80\x80price\xc2\xa0\n1,x,2\n");
main::import('');
is(columns('b2'), 'id name unit_price', 'byte-order marks and characters without width vanish');

# ---- no limits ----

folder('a.csv' => "name,amount\nab,1.25\ncd,2.50\n");
main::import('');
append_to_file("$folder/a.csv", "longer,12345.678\nof all,1\n");
is(sql('SELECT * FROM made.a'), "ab|1.25\ncd|2.50\nlonger|12345.678\nof all|1", 'rows that come later are rows of the table');

finish();
