# Kinds of files whose delimiter, quotes, header or types are easily guessed wrongly: lists
# in values, delimiters of several characters, quotes that do not close, codes that look
# like numbers or dates, directories KEY=VALUE, odd headers.  IMPORT FOREIGN SCHEMA must
# give each the right table, and must not change a value or lose a record in silence.  Among
# them are files whose strong reading is right, so that all columns as text is
# wrong, too.
#
# CSV_GPU_FDW_KIND=WORD: only kinds whose name has the word.
use lib 'test/t';
use CsvServer;
use ImportTruth;
use File::Path qw(make_path);

my $node = csv_server('kinds');
my $dir = new_folder();
my %nulls = map { ($_ => 1) } 'NA', 'N/A', 'n/a', '-', '.', 'null', 'NULL', 'None', 'none', 'nan', 'NaN', '#N/A', '';
my (@kinds, $kind);

# Shorter names of options of cases, and of types; a kind stands for its types.
my %long = (d => 'delimiter', h => 'header_rows', q => 'quote', e => 'escape', dec => 'decimal', tho => 'thousands', ord => 'order', opt => 'options');
my %types = (
	int => [qw(integer bigint)],
	num => [ 'numeric', 'double precision', 'integer', 'bigint' ],
	dbl => ['double precision'],
	ts => ['timestamp'],
	tstz => ['timestamptz'],
	bool => ['boolean']);

sub rows
{
	my ($n, $line) = @_;

	return map { $line->($_) } 1 .. $n;
}

sub kind
{
	$kind = { name => $_[0], files => [], folders => [] };
	push @kinds, $kind;
	return;
}

# 'id int, pair text:text/num?': columns with names ("*": any; several: with "|"), kind, and
# types if these are not the kind's
sub columns
{
	return [
		map {
			my ($names, $of, $list) = /^\s*(\S+) (\w+)(?::(.*?))?\s*$/ or die "\"$_\" is not a column";
			my %column = (kind => $of);

			$column{name} = [ split /\|/, $names ] if $names ne '*';
			$column{types} = [ map { my ($t, $told) = /^(.*?)(\??)$/; map { "$_$told" } @{ $types{$t} // [$t] } } split m{/}, $list ] if defined $list;
			\%column
		} split /, /, $_[0]
	];
}

sub truth
{
	my ($content, $columns, %more) = @_;
	my %truth = (delimiter => ',', header_rows => 1, nulls => \%nulls);

	$truth{ $long{$_} // $_ } = $more{$_} for keys %more;
	$truth{columns} = columns($columns);
	if (!$truth{rows})
	{
		my $records = parsed($content, \%truth);
		my $above = $truth{above} // $truth{header_rows};

		$above = $above->[0] if ref $above;
		splice @$records, 0, $above // 1;
		splice @$records, -$truth{below} if $truth{below};
		$truth{rows} = [ grep { @{ $truth{columns} } == 1 || @$_ > 1 } @$records ];
	}
	return \%truth;
}

# A file: its content, its columns, and further truths (see ImportTruth.pm); another truth
# is or => [columns, ...]
sub file
{
	my ($name, $content, $columns, %more) = @_;
	my @or = @{ delete $more{or} // [] };
	my $suffix = delete $more{suffix} // 'csv';
	my @truths = truth($content, $columns, %more);

	push @truths, truth($content, shift @$_, %more, @$_) for @or;
	push @{ $kind->{files} }, { name => $name, content => $content, truths => \@truths, suffix => $suffix };
	return;
}

# A folder: its files by path, the table that it must give, its columns and rows
sub folder
{
	my ($name, $files, $table, $columns, %more) = @_;
	my %case = map { ($_ => delete $more{$_}) } grep { exists $more{$_} } qw(import again check);
	my @or = @{ delete $more{or} // [] };
	my @truths = truth('', $columns, delimiter => undef, header_rows => undef, %more);

	push @truths, truth('', shift @$_, delimiter => undef, header_rows => undef, %more, @$_) for @or;
	push @{ $kind->{folders} }, { name => $name, files => $files, table => $table, truths => \@truths, %case };
	return;
}

# ---- lists in values: the header tells the delimiter ----

kind('lists');
file('pairs by semicolons', lines('order_no,pair', '1,5;10', '2,6;12', '3,8;14'), 'order_no int, pair text');
file('pairs by bars', lines('film,genres', '1,5|10', '2,6|12', '3,8|14'), 'film int, genres text');
file('latitude and longitude', lines('stop,position', '1,59.9;10.7', '2,60.4;5.3', '3,58.1;8.0'), 'stop int, position text');
file('seats by bars', lines('year,places', '2019,12|13', '2020,12|14', '2021,11|9'), 'year int, places text');
file('three numbers', lines('id,parts', '101,7;8;9', '102,1;2;3', '103,4;5;6'), 'id int, parts text');
file('lists of two and three', lines('id,parts', '101,7;8;9', '102,1;2', '103,4;5;6', '104,4;5;6', '105,4;5;6'), 'id int, parts text');
file('colours', lines('id,colour', '1,255;0;0', '2,0;255;0', '3,0;0;255'), 'id int, colour text');
file('alleles', lines('snp,alleles', 'rs1,A|G', 'rs2,C|T', 'rs3,G|G'), 'snp text, alleles text');
file('ranges by tildes', lines('id,span', '1,5~10', '2,6~12', '3,8~14'), 'id int, span text');
file('one column of decimal commas', lines('value', '1,5', '75', '3,10'), '* text', d => undef, or => [ [ '* num', dec => ',' ] ]);
file('one column of phones', lines('value', '+47 83 17 31 83', '+47 21 30 45 88', '+47 40 12 99 01', '+47 22 22 55 55'), 'value text', d => undef);
file('one column of ranges', lines('pages', '12-15', '3-9', '101-140'), 'pages text', d => undef);
file('one column of addresses', lines('address', 'Elm St 5, Leeds', 'Oak Rd 7, York', 'Mill Ln 2, Hull'), 'address text', d => undef);
file('powers', lines('id,term', '1,x^2', '2,y^3', '3,z^2', '4,x^5'), 'id int, term text');
file('exons by commas, between tabs', lines("gene\texon_starts\tstrand", "TP53\t7571719,7573926,7576524\t-", "KRAS\t25358179,25362728,25368370\t-", "MYC\t128748314,128750493,128752641\t+"),
	'gene text, exon_starts text, strand text', d => "\t");
file('exons that end with commas', lines("name\tcount\tstarts", "NM_1\t3\t10,20,30,", "NM_2\t3\t11,25,36,", "NM_3\t3\t17,27,39,"), 'name text, count int, starts text', d => "\t");
file('decimal commas and bars', lines('id;pris;merker', '1;2,5;a|b', '2;3,75;c|d', '3;10,25;a|d'), 'id int, pris num, merker text', d => ';', dec => ',');
file('tags by semicolons', lines('post,tags,votes', '7,sql;postgres,12', '8,css;html,3', '9,perl;regex,44'), 'post int, tags text, votes int');
file('roles by commas', lines('account|roles', '7|admin,editor', '8|viewer,guest', '9|admin,guest'), 'account int, roles text', d => '|');
file('times by tildes', lines('shop,open', 'A,08:00~16:30', 'B,09:30~18:00', 'C,07:15~15:45'), 'shop text, open text');
file('lines by semicolons and blanks', lines('road,line', '7,10.1 59.9;10.2 59.8;10.3 59.7', '8,11.1 60.9;11.2 60.8;11.3 60.7', '9,9.1 58.9;9.2 58.8;9.3 58.7'), 'road int, line text');
file('diagnoses', lines('patient,sex,codes', 'p1,f,I10;E11', 'p2,m,J45;K21', 'p3,f,N39;Z00'), 'patient text, sex text, codes text');
file('one record', lines('id,pair', '1,5;10'), 'id int, pair text');
file('300 records', lines('sample,reads', rows(300, sub { "S$_[0]," . join ';', map { $_ * $_[0] } 3, 5, 7, 11 })), 'sample text, reads text');
file('scopes by two colons', lines('line,symbol', '10,std::vector', '25,boost::any', '31,std::map'), 'line int, symbol text');
file('two lists', lines('id,x,y', '1,1;2;3,4;5;6', '2,2;3;4,5;6;7', '3,7;8;9,1;2;3'), 'id int, x text, y text');
file('list first', lines('coords,name', '59.91;10.75,Oslo', '60.39;5.32,Bergen', '63.43;10.39,Trondheim'), 'coords text, name text');
file('quoted names', lines('"id","labels"', '1,"red;green"', '2,"blue;white"', '3,"black;grey"'), 'id int, labels text');
file('parameters of a request', lines('code,query', '200,a=1&b=2;c=3', '404,a=7&b=1;c=8', '200,a=4&b=4;c=9'), 'code int, query text');
file('dice', lines('throw,dice', '1,6 1 3', '2,5 5 2', '3,1 1 4', '4,6 6 6'), 'throw int, dice text');
file('one column of words by blanks', lines('phrase', 'to be or not', 'as you like it', 'all that ends well'), 'phrase text', d => undef);
file('attributes of a feature', lines("chrom\tstart\tattributes", "chr1\t100\tID=g1;Name=a;Note=x", "chr1\t250\tID=g2;Name=b;Note=y", "chr2\t90\tID=g3;Name=c;Note=z"), 'chrom text, start int, attributes text', d => "\t");
file('crlf and lists', "id,ports\r\n1,80;443\r\n2,22;25\r\n3,53;123\r\n", 'id int, ports text');
# here the other delimiter is right
file('semicolons, decimal commas', lines('dato;pris', '2024-01-01;1,5', '2024-01-02;2,5', '2024-01-03;13,75'), 'dato date, pris num', d => ';', dec => ',');
file('semicolons, decimal commas in all columns', lines('x;y;z', '1,5;2,25;3,5', '4,5;5,75;6,5', '7,25;8,5;9,5'), 'x num, y num, z num', d => ';', dec => ',');
file('semicolons, no header', lines('1;2,5;3,5', '2;3,5;4,25', '3;4,75;5,5'), 'column_1 int, column_2 num, column_3 num', d => ';', h => 0, dec => ',');
file('carets', lines('id^name^qty', '1^bolt, small^5', '2^nut, big^7', '3^rod^9'), 'id int, name text, qty int', d => '^');
file('tildes', lines('id~name~price', '1~bolt~5.25', '2~nut~0.75', '3~rod~12.5'), 'id int, name text, price num', d => '~');
file('bars, texts with commas and semicolons', lines('sku|text|price', 'a-1|nuts, bolts; nails|1.50', 'a-2|glue, tape; rope|2.75', 'a-3|wood, iron; tin|9.25'), 'sku text, text text, price num', d => '|');
file('title with commas above semicolons', lines('Prices of fish, by month, in crowns', '', 'month;cod;herring', '2024-01;31,5;8,25', '2024-02;33,5;7,75', '2024-03;29,25;8,5'), 'month text, cod num, herring num', d => ';', h => 3, dec => ',');

# ---- delimiters of several characters ----

kind('long delimiters');
file('colons before dollars', lines('id::price::note', '1::$5::x', '2::$7::y', '3::$12::z'), 'id int, price text, note text', d => '::');
file('bars, a dollar', lines('a||b||c', '1||$5||x', '2||$6||y', '3||$9||z'), 'a int, b text, c text', d => '||');
file('bars, last column mostly empty', lines('a||b||c', '1||u||', '2||v||', '3||w||note', '4||x||'), 'a int, b text, c text', d => '||');
file('bars, all of the last column empty', lines('id||name||rest', '1||Ann||', '2||Bob||', '3||Eve||'), 'id int, name text, rest text', d => '||');
file('bars, middle empty', lines('id||code||name', '1||||Ann', '2||||Bob', '3||k7||Eve'), 'id int, code text, name text', d => '||');
file('bars and tilde', lines('id|~|city|~|temp', '1|~|Oslo|~|3.5', '2|~|Bergen|~|7.25', '3|~|Bodo|~|-1.5'), 'id int, city text, temp num', d => '|~|');
file('tilde and bar', lines('key~|~value~|~unit', 'a~|~1~|~kg', 'b~|~2~|~m', 'c~|~3~|~s'), 'key text, value int, unit text', d => '~|~');
file('bars and hash', lines('id|#|text|#|n', '1|#|first, of all|#|10', '2|#|then; again|#|20', '3|#|last|#|30'), 'id int, text text, n int', d => '|#|');
file('three bars', lines('id|||text|||n', '1|||a|b|||10', '2|||c|||20', '3|||d|e|||30'), 'id int, text text, n int', d => '|||');
file('ratings, no header', lines('1::1193::5::978300760', '1::661::3::978302109', '2::914::3::978301968', '3::3408::4::978300275'), 'column_1 int, column_2 int, column_3 int, column_4 int', d => '::', h => 0);
file('films, no header', lines("1::Toy Box (1995)::Animation|Children's", '2::Jungle Game (1995)::Adventure|Fantasy', '3::Old Men (1995)::Comedy|Romance', '10::Gold (1995)::Action|Thriller'),
	'column_1 int, column_2 text, column_3 text', d => '::', h => 0);
file('times between colons', lines('id::at::ok', '1::08:30:00::yes', '2::09:15:20::no', '3::23:59:59::yes'), 'id int, at time:time/text, ok bool:boolean/text', d => '::');
file('bars in values', lines('id||expr||n', '1||a|b||4', '2||c|d||5', '3||e||6'), 'id int, expr text, n int', d => '||');
file('hashes', lines('id##who##when', '1##Ann##2024-03-01', '2##Bob##2024-03-15', '3##Eve##2024-04-30'), 'id int, who text, when_ date', d => '##');
file('at signs', lines('id@@mail@@n', '1@@ann@example.org@@5', '2@@bob@example.org@@6', '3@@eve@example.org@@7'), 'id int, mail text, n int', d => '@@');
file('carets', lines('id^^name^^qty', '1^^bolt^^5', '2^^nut^^7', '3^^rod^^9'), 'id int, name text, qty int', d => '^^');
file('caret and bar', lines('id^|^name^|^qty', '1^|^bolt^|^5', '2^|^nut^|^7', '3^|^rod^|^9'), 'id int, name text, qty int', d => '^|^');
file('tildes', lines('id~~name~~qty', '1~~bolt~~5', '2~~nut~~7', '3~~rod~~9'), 'id int, name text, qty int', d => '~~');
file('semicolons twice', lines('id;;navn;;pris', '1;;bolt;;5,25', '2;;mutter;;7,75', '3;;stang;;9,25'), 'id int, navn text, pris num', d => ';;', dec => ',');
file('bars with blanks', lines('id | name | qty', '1 | bolt, long | 5', '2 | nut | 7', '3 | rod | 9'), 'id int, name text, qty int', d => '|', trim => 1, or => [ [ 'id int, name text, qty int', d => ' | ', trim => 0 ] ]);
file('200 records', lines('user||page||ms', rows(200, sub { "u$_[0]||/p/$_[0]?a=1|2||" . $_[0] * 7 })), 'user_ text, page text, ms int', d => '||');
file('quotes', lines('id||name||qty', '1||"a||b"||5', '2||"c"||7', '3||"d ""e"""||9'), 'id int, name text, qty int', d => '||');
file('quotes everywhere', lines('"id"::"name"::"qty"', '"1"::"a::b"::"5"', '"2"::"c"::"7"', '"3"::"d"::"9"'), 'id int, name text, qty int', d => '::');
file('crlf', "id||name\r\n1||x\r\n2||y\r\n3||z\r\n", 'id int, name text', d => '||');
file('prices in dollars', lines('sku::price::stock', 'a1::$5.20::10', 'a2::$17.90::12', 'a3::$3.10::7'), 'sku text, price text, stock int', d => '::');
# here the shorter delimiter is right
file('empty column between commas', lines('a,b,c', '1,,3', '2,,4', '5,,6'), 'a int, b text, c int');
file('empty column between semicolons', lines('x;y;z', '1;;3', '2;;4', '5;;6'), 'x int, y text, z int', d => ';');
file('empty columns between bars', lines('a|b|c|d', '1||x|', '2||y|', '3||z|7'), 'a int, b text, c text, d int', d => '|');
file('empty columns between tabs', lines("a\tb\tc", "1\t\tx", "2\t\ty", "3\t\tz"), 'a int, b text, c text', d => "\t");
file('an empty name', lines('id,,name', '1,,x', '2,,y', '3,,z'), 'id int, * text, name text');
file('two empty columns at the end', lines('id,name,,', '1,x,,', '2,y,,', '3,z,,'), 'id int, name text, * text, * text');
file('signs before numbers', lines('id,delta', '1,-5', '2,-7', '3,-12'), 'id int, delta int');
file('dollars behind commas', lines('id,price,note', '1,$5,x', '2,$7,y', '3,$12,z'), 'id int, price text:text/num?, note text');
file('empty quotes', lines('"id","x","y"', '"1","","a"', '"2","","b"', '"3","","c"'), 'id int, x text, y text');

# ---- delimiter, quote and blanks together ----

kind('blanks and quotes');
file('comma and tab', lines("id,\tname,\tqty", "1,\tbolt b1,\t5", "2,\tnut,\t6", "3,\trod d,\t7"), 'id int, name text, qty int', trim => 1);
file('semicolon and tab', lines("id;\tname;\tqty", "1;\tbb b1;\t5", "2;\tplain;\t6", "3;\tc d;\t7"), 'id int, name text, qty int', d => ';', trim => 1);
file('comma and tab, no header', lines("2016-01-07 0:00,\t16:15,\t56: North,\ttest,\t0,\t39.99,\t<Unknown>,\t", "2016-01-08 0:00,\t16:30,\t57: South,\ttest,\t1,\t40.00,\t<Unknown>,\t", "2016-01-09 0:00,\t17:30,\t57: South,\ttest,\t1,\t140.00,\t<Unknown>,\t"),
	'* ts:ts/text, * time:time/text, * text, * text, * int, * num, * text, * text', h => 0, trim => 1);
file('apostrophes behind blanks', lines("'x101', 23, 'bb, b1', 1", "'x102', 24, 'plain', 2", "'x103', 25, 'c, d', 3"), 'column_1 text, column_2 int, column_3 text, column_4 int', h => 0, q => "'", trim => 1);
file('apostrophes behind blanks, all with commas', lines("id, name, qty", "1, 'bb, b1', 5", "2, 'plain', 6", "3, 'c, d', 7"), 'id int, name text, qty int', q => "'", trim => 1);
file('backslashes in apostrophes', lines("'AB';'BC';1;'it\\'s'", "'AC';'BD; x';2;'plain'", "'AD';'BE';3;'so'"), 'column_1 text, column_2 text, column_3 int, column_4 text', d => ';', h => 0, q => "'", e => '\\');
file('backslashes in apostrophes, header', lines("id;name;n;js", "'AA';'BB';1234567890;'{\"a\":1}'", "'AB';'BC';1234567891;'{\"a\":\"it\\'s\",\"b\":[1,2]}'", "'AC';'BD; x';1234567892;'{\"a\":2}'", "'AD';'BE';1234567893;'{\"a\":3}'"),
	'id text, name text, n int, js text', d => ';', q => "'", e => '\\');
file('objects in apostrophes', lines("'AA';'BB';1234567890;;;'{\"D\":[\"lady\\'s_mail\@example.org\",\"1\@example.org\",\"\"]}'", "'AB';'BC';1234567891;;;'{\"D\":[\"plain\@example.org\"]}'", "'AC';'BD; x';1234567892;;;'{\"D\":[]}'"),
	'* text, * text, * int, * text, * text, * text', d => ';', h => 0, q => "'", e => '\\');
file('insert statements', lines("1,'O\\'Neill','it\\'s'", "2,'Smith','x, y'", "3,'Ray','z'"), '* int, * text, * text', h => 0, q => "'", e => '\\');
file('blanks before quotes', lines('id, name, city', '1, "Ann, B", "Oslo"', '2, "Bob", "Rome, IT"', '3, "Eve", "Bonn"'), 'id int, name text, city text', trim => 1);
file('blanks around all', lines('id , name , city', '1 , Ann , Oslo', '2 , Bob , Rome', '3 , Eve , Bonn'), 'id int, name text, city text', trim => 1);
file('aligned by blanks', lines('  id,    name,   qty', '   1,    bolt,    15', '   2,     nut,   225', '  10,    rods,     5'), 'id int, name text, qty int', trim => 1);
file('bars in a frame of blanks', lines(' id | name  | qty ', ' 1  | bolt  | 5   ', ' 2  | nut s | 17  ', ' 3  | rod   | 225 '), 'id int, name text, qty int', d => '|', trim => 1);
file('a tab before quotes', lines("id,\t\"name\",\t\"text\"", "1,\t\"a\",\t\"x, y\"", "2,\t\"b\",\t\"z\"", "3,\t\"c\",\t\"u, v\""), 'id int, name text, text text', trim => 1);
file('apostrophes and tabs', lines("id\tname\tqty", "1\t'a\tb'\t5", "2\t'c'\t6", "3\t'd'\t7"), 'id int, name text, qty int', d => "\t", q => "'");
file('apostrophes and semicolons', lines("'id';'name';'qty'", "'1';'a; b';'5'", "'2';'c';'6'", "'3';'it''s';'7'"), 'id int, name text, qty int', d => ';', q => "'");
file('apostrophes and bars', lines("'id'|'name'|'qty'", "'1'|'a|b'|'5'", "'2'|'c'|'6'", "'3'|'d'|'7'"), 'id int, name text, qty int', d => '|', q => "'");
file('apostrophes around texts only', lines("id,name,qty", "1,'a, b',5", "2,'c',6", "3,'d, e',7"), 'id int, name text, qty int', q => "'");
file('backslashes in quotes', lines('id,name,qty', '1,"a \"big\" one",5', '2,"c, d",6', '3,"e",7'), 'id int, name text, qty int', e => '\\');
file('backslashes and semicolons in quotes', lines('id;text', '1;"say \"yes; no\""', '2;"x; y"', '3;"z"'), 'id int, text text', d => ';', e => '\\');
file('objects with backslashes', lines('id,doc', '1,"{\"a\": 1, \"b\": 2}"', '2,"{\"a\": 3, \"b\": 4}"', '3,"{\"a\": 5}"'), 'id int, doc text', e => '\\');
file('semicolon and blank', lines('id; name; qty', '1; bolt; 5', '2; nut, small; 6', '3; rod; 7'), 'id int, name text, qty int', d => ';', trim => 1);
file('wide gaps between bars', lines("id  |\tname  |\tqty", "1   |\tbolt  |\t5", "2   |\tnut   |\t6", "3   |\trod   |\t7"), 'id int, name text, qty int', d => '|', trim => 1);
# here apostrophes and blanks are data
file('apostrophes of inches and feet', lines("id,size,n", "1,5' 11,3", "2,6' 2,4", "3,5' 9,5"), 'id int, size text, n int');
file('apostrophes in names', lines("id,name,town", "1,O'Neill,D'Arcy Hill", "2,Smith,King's Lynn", "3,D'Souza,St John's"), 'id int, name text, town text');
file('apostrophes at the beginning', lines("id,word,n", "1,'tis,3", "2,'twas,4", "3,so,5"), 'id int, word text, n int');
file('apostrophes that force text', lines("id,fee", "1,'-0.02", "2,15.10", "3,'-75.63", "4,20.00"), 'id int, fee any:num/text?');
file('blanks inside quotes', lines('id,name', '1," Ann "', '2,"Bob "', '3," Eve"'), 'id int, name text');
file('blanks behind some commas', lines('id,text', '1,well', '2, but', '3,then'), 'id int, text text', rows => [ [ 1, 'well' ], [ 2, ' but' ], [ 3, 'then' ] ]);
file('quotes, all standard', lines('"id","name"', '"1","a ""b"" c"', '"2","d, e"', '"3","f"'), 'id int, name text');
file('backslashes of paths', lines('id,path', '1,C:\temp\a', '2,C:\data\b', '3,D:\c'), 'id int, path text');
file('backslash at the end of quotes', lines('id,path', '1,"C:\temp\"', '2,"C:\data\"', '3,"D:\x, y\"'), 'id int, path text');
file('inches', lines('id,screen,price', '1,24",199.50', '2,27",249.00', '3,32",399.00'), 'id int, screen text, price num');

# ---- a quote that opens and does not close ----

kind('open quotes');
# the quotes are data; or they do enclose lines, and a NOTICE tells
sub open_quotes
{
	my ($name, $content, $columns, %more) = @_;

	file($name, $content, $columns, q => '', %more, or => [ [ $columns, q => '"', unless_said => qr/quot/i ] ]);
	return;
}
my @tsv = rows(400, sub { "$_[0]\ttext $_[0]\teng" });
my @open = @tsv;
$open[49] = "50\t\"text 50\teng";
$open[349] = "350\ttext 350\"\teng";
open_quotes('400 lines between tabs', lines("id\tname\tlang", @open), 'id int, name text, lang text', d => "\t", lost => 400);
@open = @tsv;
$open[9] = "10\t\"text 10\teng";
file('400 lines, one quote', lines("id\tname\tlang", @open), 'id int, name text, lang text', d => "\t", q => '', lost => 1);
@open = @tsv;
$open[99] = "100\t\"Hi\" she said\teng";
$open[299] = "300\t\"No\teng";
file('400 lines, quotes of speech', lines("id\tname\tlang", @open), 'id int, name text, lang text', d => "\t", q => '', lost => 2);
for my $d ([ 'commas', ',' ], [ 'semicolons', ';' ], [ 'bars', '|' ], [ 'tabs', "\t" ])
{
	my ($word, $c) = @$d;
	my @l = rows(60, sub { join $c, $_[0], "name $_[0]", 7 * $_[0] });

	$l[20] = join $c, 21, '"name 21', 147;
	file("one quote, $word", lines(join($c, qw(id name qty)), @l), 'id int, name text, qty int', d => $c, q => '', lost => 1);
	$l[44] = join $c, 45, 'name 45"', 315;
	open_quotes("two quotes, 24 lines apart, $word", lines(join($c, qw(id name qty)), @l), 'id int, name text, qty int', d => $c, lost => 60);
	$l[30] = join $c, 31, '"', 217;
	open_quotes("three quotes, $word", lines(join($c, qw(id name qty)), @l), 'id int, name text, qty int', d => $c, lost => 60);
}
file('inches at the beginning', lines("id\tsize\tn", rows(30, sub { "$_[0]\t" . ($_[0] % 10 == 3 ? '"big"er' : 'm') . "\t5" })), 'id int, size text, n int', d => "\t", q => '', lost => 3);
open_quotes('ditto marks', lines("no\tplace\tn", "1\tOslo\t5", "2\t\"\t6", "3\t\"\t7", "4\tRome\t8"), 'no int, place text, n int', d => "\t", lost => 3);
file('last line opens', lines('id,text', '1,a', '2,b', '3,"c'), 'id int, text text', q => '', lost => 1);
file('first line opens', lines('id,text', '1,"a', '2,b', '3,c', '4,d'), 'id int, text text', q => '', lost => 4);
file('log of requests', lines(rows(50, sub { "10:0$_[0]|GET|/a?q=" . ($_[0] == 20 || $_[0] == 41 ? '|"agent' : '|agent') . "|200" })), '* text, * text, * text, * text, * int', d => '|', h => 0, q => '', lost => 50);
file('tweets', lines("id\tuser\ttext", "1\tann\t\"so it is", "2\tbob\twell", "3\teve\tyes\"", "4\tann\tno", "5\tbob\t\"ok\"", "6\teve\tbye"), 'id int, user_ text, text text', d => "\t", q => '', lost => 6,
	or => [ [ 'id int, user_ text, text text', d => "\t", q => '"', lost => 6, unless_said => qr/quot/i ], [ 'id int, user_ text, text text', d => "\t", q => '', lost => 6, rows => [ [ 1, 'ann', '"so it is' ], [ 2, 'bob', 'well' ], [ 3, 'eve', 'yes"' ], [ 4, 'ann', 'no' ], [ 5, 'bob', 'ok' ], [ 6, 'eve', 'bye' ] ] ] ]);
open_quotes('gene descriptions', lines("gene\tdescription\tn", rows(100, sub { "g$_[0]\t" . ($_[0] == 7 ? "\"5' end" : $_[0] == 93 ? "3'' end\"" : 'kinase') . "\t$_[0]" })), 'gene text, description text, n int', d => "\t", lost => 100);
# here the quotes do enclose line breaks
file('addresses of two lines', lines('id,address,n', map { ("$_,\"Street $_", "Town $_\",7") } 1 .. 20), 'id int, address text, n int');
file('letters', lines('id,letter', '1,"Dear Ann,', '', 'all is well.', 'Yours, Bob"', '2,short', '3,"Dear Bob,', 'thanks."'), 'id int, letter text');
file('a table in a value', lines('id,data,n', '1,"a,b', '1,2', '3,4",5', '2,"x,y",6', '3,"z",7'), 'id int, data text, n int');
file('lists of lines in quotes, tabs', lines("id\tnote\tn", "1\t\"one\n two\n three\"\t5", "2\t\"x\"\t6", "3\t\"y\nz\"\t7"), 'id int, note text, n int', d => "\t");
file('all in quotes, line breaks', lines('"id","text"', '"1","a', 'b"', '"2","c"', '"3","d', '', 'e"'), 'id int, text text');
file('semicolons, line breaks', lines('id;text;n', "1;\"a\nb; c\";5", '2;"d";6', "3;\"e\n\nf\";7"), 'id int, text text, n int', d => ';');
file('one value of 100 lines', lines('id,log', '1,"' . join("\n", map { "step $_: done" } 1 .. 100) . '"', '2,none', '3,"a, b"'), 'id int, log text');
file('quotes in an unquoted value', lines('id,name,n', '1,a "b" c,5', '2,5" pipe,6', '3,d,7'), 'id int, name text, n int');
file('empty quotes', lines('id,name,n', '1,"",5', '2,"x",6', '3,"",7'), 'id int, name text, n int');
# ---- codes that look like numbers ----

kind('numbers');
file('addresses', lines('host,ip', 'gate,192.168.100.101', 'mail,192.168.100.102', 'www,192.168.100.203'), 'host text, ip text');
file('addresses beside semicolons', lines('host;ip', 'gate;192.168.100.101', 'mail;192.168.100.102', 'www;192.168.100.203'), 'host text, ip text', d => ';');
file('addresses beside decimal commas', lines('host;ip;last', 'gate;10.100.200.101;1,5', 'mail;10.100.200.102;2,25', 'www;10.100.200.203;0,5'), 'host text, ip text, last num', d => ';', dec => ',');
file('addresses between tabs', lines("ip\thits", "172.100.200.101\t5", "172.100.201.102\t6", "172.100.202.203\t7"), 'ip text, hits int', d => "\t");
file('phones by blanks', lines('name,phone', 'A,601 234 567', 'B,512 345 678', 'C,733 111 222'), 'name text, phone text');
file('phones by points', lines('name;tel', 'A;601.234.567', 'B;512.345.678', 'C;733.111.222'), 'name text, tel text', d => ';');
file('phones by blanks, tabs', lines("who\tmobile", "A\t70 123 456", "B\t71 345 678", "C\t79 111 222"), 'who text, mobile text', d => "\t");
file('phones with plus', lines('name,phone', 'A,+4781549300', 'B,+4721549355', 'C,+4790012345'), 'name text, phone text');
file('phones with zeros', lines('name,phone', 'A,0791234567', 'B,0447654321', 'C,0311234567'), 'name text, phone text');
file('register numbers', lines('name,siren', 'A,732 829 320', 'B,356 000 000', 'C,552 100 554'), 'name text, siren text');
file('insurance numbers', lines('name;ahv', 'A;756.1234.5678.97', 'B;756.9217.0769.85', 'C;756.3047.5009.62'), 'name text, ahv text', d => ';');
file('versions', lines('pkg,version', 'a,1.234.567', 'b,2.100.001', 'c,3.111.222'), 'pkg text, version text');
file('versions beside semicolons', lines('pkg;version', 'a;1.234.567', 'b;2.100.001', 'c;3.111.222'), 'pkg text, version text', d => ';');
file('versions of three short parts', lines('pkg,version', 'a,1.10.2', 'b,2.0.13', 'c,10.4.1'), 'pkg text, version text');
file('builds', lines('app,build', 'a,10.240.500', 'b,10.241.100', 'c,11.100.200'), 'app text, build text');
file('part codes', lines('part,qty', '12E5,1', '45E3,2', '10E1,3', '77E9,4'), 'part text, qty int');
file('part codes among others', lines('part,qty', '22E58,1', '22F58,2', '22E17,3', '22A01,4'), 'part text, qty int');
file('part codes, small e', lines('id,hash', '1,1e10', '2,9e05', '3,7e88', '4,3e21'), 'id int, hash text');
file('cells of a map', lines('cell,n', '12E03,5', '13E04,6', '12E11,7', '14E02,9'), 'cell text, n int');
file('rooms', lines('room,seats', '1E1,20', '1E2,24', '2E1,18', '3E5,40'), 'room text, seats int');
file('thousands or decimals', lines('id;amount', '1;1.000', '2;2.500', '3;999', '4;12.000'), 'id int, amount text:text?/int?/num?', d => ';');
file('thousands or decimals, some short', lines('name;pop', 'A;1.234', 'B;2.345', 'C;12.345', 'D;345'), 'name text, pop text:text?/int?/num?', d => ';');
file('thousands or decimals in quotes', lines('id,amount', '1,"1,000"', '2,"2,500"', '3,"12,000"'), 'id int, amount text:text/int?/num?');
file('zip codes', lines('zip,town', '02134,Boston', '10001,New York', '94110,San Francisco'), 'zip text, town text');
file('codes of one width', lines('code,n', '007,1', '123,2', '456,3'), 'code text, n int');
file('account numbers', lines('iban,bal', 'NO93 8601 1117 947,5', 'NO83 3000 1234 567,6'), 'iban text, bal int');
file('card numbers', lines('card,n', '4929 1234 5678 9012,1', '4929 2345 6789 0123,2', '4539 3456 7890 1234,3'), 'card text, n int');
file('long codes', lines('code,n', '00034012345678901234567890,1', '10034012345678901234567890,2'), 'code text, n int');
file('numbers beyond bigint', lines('id,n', '18446744073709551615,1', '99999999999999999999,2'), 'id num:numeric/text, n int');
file('fractions', lines('size,n', '1/2,1', '3/4,2', '7/8,3'), 'size text, n int');
file('percent', lines('share,n', '12%,1', '45.5%,2', '7%,3'), 'share text, n int');
file('hexadecimal', lines('reg,n', '0x1F,1', '0x2A,2', '0x10,3'), 'reg text, n int');
file('underscores', lines('code,n', '1_000,1', '2_500,2', '12_000,3'), 'code text, n int');
file('scores', lines('game,score', '1,3:1', '2,0:0', '3,2:2'), 'game int, score text');
file('sections', lines('section;title', '1.1;Scope', '1.2;Terms', '1.10;Notes', '2.1;Use'), 'section num:text/num, title text', d => ';');
file('sections of three parts', lines('section;title', '1.1.100;Scope', '1.2.200;Terms', '1.10.300;Notes'), 'section text, title text', d => ';');
file('words that are infinite', lines('name,n', 'inf,1', 'nan,2', 'infinity,3'), 'name text, n int');
file('letters of numbers', lines('id,grade', '1,1d', '2,2f', '3,3d'), 'id int, grade text');
file('plus before codes', lines('diff,n', '+1,5', '+2,6', '+10,7'), 'diff text, n int');
file('numbers that end with a point', lines('no,name', '1.,a', '2.,b', '3.,c'), 'no num:text/num, name text');
file('tax numbers', lines('company;tax', 'A;12.345.678', 'B;98.765.432', 'C;11.222.333'), 'company text, tax text:text/int?', d => ';');
file('one number with a letter, late', lines('id,code', (map { "$_,$_" } 1 .. 3000), '3001,30B'), 'id int, code text:text?/int?/num?');
file('one number with zeros, late', lines('id,code', (map { "$_," . (1000 + $_) } 1 .. 3000), '3001,0042'), 'id int, code text:text/text?');
file('many digits', lines('id,v', '1,0.12345678901234567890123', '2,1.5', '3,2.25'), 'id int, v num:numeric/text');
file('doubles and many digits', lines('id,v', '1,1e-5', '2,0.1234567890123456789', '3,2.25'), 'id int, v num:numeric/text/text?');
# here numbers are numbers
file('numbers', lines('a,b,c', '1,-2.5,1e5', '2,3.75,2.5e-3', '3,0,-1E10'), 'a int, b num:numeric, c num:dbl/numeric');
file('thousands and decimals', lines('id,amount', '1,"1,234.56"', '2,"12,345.00"', '3,7.25'), 'id int, amount num:numeric', tho => ',');
file('thousands and decimals, German', lines('id;betrag', '1;1.234,56', '2;12.345,00', '3;7,25'), 'id int, betrag num:numeric', d => ';', dec => ',', tho => '.');
file('thousands and decimals, Swiss', lines("id;betrag", "1;1'234.56", "2;12'345.00", "3;7.25"), 'id int, betrag num:numeric', d => ';', tho => "'");
file('thousands and decimals, French', lines("id;montant", "1;1 234,56", "2;12 345,00", "3;7,25"), 'id int, montant num:numeric', d => ';', dec => ',', tho => ' ');
file('millions', lines('land;folk;areal', 'Norge;5.488.984;385.207,0', 'Sverige;10.521.556;450.295,5', 'Island;376.248;103.000,25'), 'land text, folk int:int/text/int?, areal num:numeric', d => ';', dec => ',', tho => '.');
file('thousands of one group', lines('city,people', 'A,"1,234,567"', 'B,"234,567"', 'C,"12,345"', 'D,999'), 'city text, people int:int/text?/int?/text', tho => ',');
file('decimal commas between tabs', lines("id\tv", "1\t1,5", "2\t2,75", "3\t-10,25"), 'id int, v num:numeric', d => "\t", dec => ',');
file('negative numbers', lines('t,v', '-5,-0.5', '10,.25', '-15,-.75'), 't int, v num:numeric');
file('big integers', lines('id,v', '9223372036854775807,1', '2147483648,2'), 'id int:bigint, v int');
file('zeros', lines('a,b', '0,0.0', '0,0.5', '1,1.0'), 'a int, b num:numeric');
file('NaN among numbers', lines('a,b', '1,NaN', '2,1.5', '3,2.5', '4,7.5'), 'a int, b num');
file('NA among numbers', lines('a,b', '1,NA', '2,15', '3,25', '4,75'), 'a int, b int');
file('latitudes', lines('lat,lon', '59.9138688,10.7522454', '60.3912628,5.3220544', '63.4305149,10.3950528'), 'lat num, lon num');

# ---- codes that look like dates ----

kind('dates');
file('candidates', lines('candidate_id,update_no,votes', '20191101,20200110,0', '20191102,20200111,1', '20191103,20200112,2', '20191104,20200113,3'), 'candidate_id int, update_no int, votes int');
file('updates', lines('update_id,v', '20240115,a', '20240116,b', '20231231,c'), 'update_id int, v text');
file('mandates', lines('mandate,mdate_code,n', '20240101,20240201,1', '20240102,20240203,2', '20240103,20240207,3'), 'mandate int, * int, n int');
file('dated and validated', lines('validated,n', '20240101,1', '20240102,2', '20240103,3'), 'validated int:int/date?, n int');
file('releases like days', lines('os,release', 'a,20.04.16', 'b,18.04.22', 'c,22.04.30'), 'os text, release text:text/date?');
file('versions like days', lines('pkg,version', 'a,4.6.15', 'b,4.11.3', 'c,5.2.20'), 'pkg text, version text:text/date?');
file('versions like days of long years', lines('pkg,version', 'a,1.1.10', 'b,2.1.11', 'c,13.4.20'), 'pkg text, version text:text/date?');
file('births of two digits', lines('name,birth', 'A,16-07-68', 'B,23-10-64', 'C,04-02-71', 'D,30-12-49'), 'name text, birth text:text/date?', ord => 'DMY');
file('births of two digits, slashes', lines('name,born', 'A,16/07/68', 'B,23/10/64', 'C,04/02/71', 'D,30/12/49'), 'name text, born text:text/date?', ord => 'DMY');
file('births of two digits, months first', lines('name,dob', 'A,07/16/55', 'B,10/23/64', 'C,02/14/71', 'D,12/30/49'), 'name text, dob text:text/date?', ord => 'MDY');
file('years far away', lines('id,code', '1,9019-01-15', '2,8020-03-17', '3,7123-11-30'), 'id int, code text:text/date');
file('years far away, one number', lines('part,day_code', '1,90190115', '2,80200317', '3,71231130'), 'part int, day_code int');
file('days below 13', lines('id,day', '1,01/02/2024', '2,03/04/2024', '3,05/06/2024'), 'id int, day text:text/text?/date?');
file('days below 13, points', lines('id;dag', '1;01.02.2024', '2;03.04.2024', '3;05.06.2024'), 'id int, dag date:date/text/date?', d => ';', ord => 'DMY');
file('days of both orders', lines('id,day', '1,13/02/2024', '2,02/14/2024', '3,05/06/2024'), 'id int, day text');
file('days that do not exist', lines('id,day', '1,2024-02-30', '2,2024-01-15', '3,2024-03-17'), 'id int, day text:text/text?');
file('zero days', lines('id,day', '1,0000-00-00', '2,2024-01-15', '3,2024-03-17', '4,2024-04-20'), 'id int, day text:text?/date?/text');
file('fractions of three parts', lines('id,part', '1,1/2/30', '2,3/4/50', '3,5/6/70'), 'id int, part text:text/date?');
file('heights and weights', lines('id,hwt', '1,180-75-20', '2,165-60-25', '3,172-81-31'), 'id int, hwt text');
file('ranges of pages', lines('id,pages', '1,10-12', '2,12-15', '3,31-40'), 'id int, pages text');
file('ISBN', lines('isbn,title', '978-3-16-148410-0,a', '978-0-306-40615-7,b'), 'isbn text, title text');
file('months of years', lines('month,n', '2024-01,1', '2024-02,2', '2024-03,3'), 'month text, n int');
file('quarters', lines('quarter,n', '2024-Q1,1', '2024-Q2,2', '2024-Q3,3'), 'quarter text, n int');
file('weeks', lines('week,n', '2024-W01,1', '2024-W17,2', '2024-W52,3'), 'week text, n int');
file('cases', lines('case,court', '12-2020-31,a', '11-2021-17,b', '10-2022-25,c'), '* text:text/date?, court text');
file('words of days', lines('id,due', '1,today', '2,tomorrow', '3,yesterday'), 'id int, due text');
file('words beside days', lines('id,due', '1,now', '2,2024-01-15', '3,infinity'), 'id int, due text:text/text?');
file('8 digits that are often no days', lines('date_code,n', '20241301,1', '20240115,2', '20240231,3'), 'date_code int, n int');
file('order numbers', lines('orderno,n', rows(40, sub { sprintf '202401%02d,%d', $_[0] % 31 + 1, $_[0] })), 'orderno int:int/date?, n int');
file('times beyond a day', lines('run,took', '1,25:10:00', '2,23:59:59', '3,30:00:01'), 'run int, took text:text/interval');
file('ratios', lines('run,ratio', '1,16:9', '2,4:3', '3,21:9'), 'run int, ratio text');
file('days of 24 hours', lines('id,at', '1,2024-01-01 24:00:00', '2,2024-01-02 10:00:00', '3,2024-01-03 11:00:00'), 'id int, at text:text/text?');
file('zones that are words', lines('id,at', '1,2024-01-01 10:00:00 CET', '2,2024-07-02 10:00:00 CEST', '3,2024-01-03 11:00:00 CET'), 'id int, at text:text/text?/tstz?');
file('mixed dates and timestamps', lines('id,at', '1,2024-01-01', '2,2024-07-02 10:00:00', '3,2024-01-03'), 'id int, at ts:text/ts');
file('a late other order', lines('id,day', (map { sprintf '%d,%02d/%02d/2024', $_, 13 + $_ % 15, 1 + $_ % 12 } 1 .. 2500), '2501,03/25/2024'), 'id int, day text:text/text?/date?', ord => 'DMY');
# here dates are dates
file('dates', lines('id,day', '1,2024-01-15', '2,2024-02-29', '3,1999-12-31'), 'id int, day date');
file('8 digits in a column of dates', lines('date,n', '20240115,1', '20240229,2', '19991231,3'), 'date date:date/int/date?, n int');
file('8 digits, order date', lines('order_date,n', rows(40, sub { sprintf '2024%02d%02d,%d', $_[0] % 12 + 1, $_[0] % 28 + 1, $_[0] })), 'order_date date:date/int/date?, n int');
file('days first', lines('id,day', '1,31/12/2024', '2,01/02/2024', '3,15/06/2023'), 'id int, day date', ord => 'DMY');
file('months first', lines('id,day', '1,12/31/2024', '2,02/01/2024', '3,06/15/2023'), 'id int, day date', ord => 'MDY');
file('points', lines('id;dag;v', '1;31.12.2024;1,5', '2;01.02.2024;2,5', '3;15.06.2023;3,5'), 'id int, dag date, v num', d => ';', dec => ',', ord => 'DMY');
file('names of months', lines('id,day', '1,31-Dec-2024', '2,01-Feb-2024', '3,15-Jun-2023'), 'id int, day date', ord => 'DMY');
file('timestamps', lines('id,at', '1,2024-01-15 10:00:00', '2,2024-02-29 23:59:59.123', '3,1999-12-31 00:00:00'), 'id int, at ts');
file('timestamps with T', lines('id,at', '1,2024-01-15T10:00:00', '2,2024-02-29T23:59:59', '3,1999-12-31T00:00:00'), 'id int, at ts');
file('timestamps with Z', lines('id,at', '1,2024-01-15T10:00:00Z', '2,2024-02-29T23:59:59Z', '3,1999-12-31T00:00:00Z'), 'id int, at tstz');
file('timestamps with offsets', lines('id,at', '1,2024-01-15 10:00:00+01:00', '2,2024-02-29 23:59:59+02:00', '3,1999-12-31 00:00:00-05:30'), 'id int, at tstz');
file('timestamps of days first', lines('id;at', '1;31.12.2024 10:00', '2;01.02.2024 23:59', '3;15.06.2023 00:00'), 'id int, at ts', d => ';', ord => 'DMY');
file('timestamps with AM and PM', lines('id,at', '1,12/31/2024 10:00 AM', '2,02/01/2024 11:59 PM', '3,06/15/2023 12:00 AM'), 'id int, at ts', ord => 'MDY');
file('old dates', lines('id,day', '1,1814-05-17', '2,1905-06-07', '3,1536-01-02'), 'id int, day date');

# ---- directories KEY=VALUE ----

kind('directories');
# one key, its values, what the column may be
sub keys_of
{
	my ($name, $key, $column, $values, %more) = @_;
	my ($n, %files, @rows) = (0);

	for my $value (sort { "$a/" cmp "$b/" } @$values)
	{
		$files{"$key=$value/a.csv"} = lines('id,v', map { my $i = ++$n; push @rows, [ $i, "x$i", $value ]; "$i,x$i" } 1 .. 2);
	}
	folder($name, \%files, undef, "id int, v text, $column", rows => \@rows, %more);
	return;
}
keys_of('days by points', 'k', 'k text', [ '05.02.2024', '06.03.2024' ]);
keys_of('days by points, above 12', 'k', 'k text', [ '13.02.2024', '25.03.2024' ]);
keys_of('days by slashes of another kind', 'k', 'k text', [ '05-02-2024', '06-03-2024' ]);
keys_of('days of two digits', 'k', 'k text', [ '16-07-68', '23-10-64' ]);
keys_of('days by names of months', 'day', 'day date:text/date', [ '05-Feb-2024', '06-Mar-2024' ], ord => 'DMY');
keys_of('NA beside 1', 'k', 'k text:text/int', [ 'NA', '1' ]);
keys_of('null beside 1', 'k', 'k text:text/int', [ 'null', '1', '2' ]);
keys_of('the default of Hive', 'k', 'k int:text/int', [ '__HIVE_DEFAULT_PARTITION__', '2024' ], nulls => { '__HIVE_DEFAULT_PARTITION__' => 1 });
keys_of('words of days', 'k', 'k text', [ 'today', 'tomorrow' ]);
keys_of('a word beside days', 'k', 'k text', [ 'now', '2024-01-15' ]);
keys_of('infinity beside numbers', 'k', 'k num:text/dbl', [ 'infinity', '1' ]);
keys_of('epoch beside days', 'k', 'k text', [ 'epoch', '2024-01-15' ]);
keys_of('part codes', 'part', 'part text', [ '12E5', '45E3' ]);
keys_of('versions', 'version', 'version text', [ '1.10.2', '2.0.13' ]);
keys_of('versions of two parts', 'version', 'version num:text/num', [ '1.10', '1.9' ]);
keys_of('decimal commas', 'k', 'k text', [ '1,5', '2,5' ]);
keys_of('plus signs', 'k', 'k text', [ '+1', '+2' ]);
keys_of('zip codes', 'zip', 'zip text', [ '02134', '94110', '7001' ]);
keys_of('a day that does not exist', 'k', 'k text', [ '2024-02-30', '2024-01-15' ]);
keys_of('days and timestamps', 'k', 'k ts:text/ts', [ '2024-01-15', '2024-01-15 10:00:00' ]);
keys_of('weeks', 'week', 'week text', [ '2024-W05', '2024-W06' ]);
keys_of('phones', 'k', 'k text', [ '601 234 567', '512 345 678' ]);
keys_of('addresses', 'host', 'host text', [ '192.168.100.101', '192.168.100.102' ]);
keys_of('hours', 'hour', 'hour text:text/time', [ '10:30', '11:45' ]);
keys_of('more digits than a bigint has', 'k', 'k text:text/numeric', [ '99999999999999999999', '1' ]);
keys_of('letters of truth values', 'k', 'k text:text/bool', [ 't', 'f' ]);
keys_of('one letter of a truth value', 'k', 'k text', [ 't', 'x' ]);
keys_of('8 digits', 'k', 'k int:int/text/date', [ '20240115', '20240116' ]);
keys_of('8 digits of dt', 'dt', 'dt int:int/text/date', [ '20240115', '20240229' ]);
# here values are of a type
keys_of('years', 'year', 'year int', [ 2023, 2024 ]);
keys_of('days', 'day', 'day date', [ '2024-01-15', '2024-02-29' ]);
keys_of('signed numbers', 'zone', 'zone int', [ -1, 1, 12 ]);
keys_of('numbers with a point', 'level', 'level num:numeric/dbl', [ '1.5', '2.25' ]);
keys_of('regions', 'region', 'region text', [ 'eu', 'us' ]);
keys_of('big numbers', 'id2', 'id2 int:bigint', [ '9999999999', '1' ]);
folder('two keys', { 'year=2023/month=01/a.csv' => lines('id,v', '1,a'), 'year=2023/month=02/a.csv' => lines('id,v', '2,b'), 'year=2024/month=01/a.csv' => lines('id,v', '3,c') },
	undef, 'id int, v text, year int, month int:int/text', rows => [ [ 1, 'a', 2023, '01' ], [ 2, 'b', 2023, '02' ], [ 3, 'c', 2024, '01' ] ]);
folder('a key that is a column, too', { 'year=2023/a.csv' => lines('year,v', '2023,a'), 'year=2024/a.csv' => lines('year,v', '2024,b') },
	undef, 'year int, v text, * int', rows => [ [ 2023, 'a', 2023 ], [ 2024, 'b', 2024 ] ]);

# ---- headers ----

kind('headers');
file('names above hashes', lines('file,md5', 'a,d41d8cd98f00b204e9800998ecf8427e', 'b,0cc175b9c0f1b6a831c399e269772661'), 'file text, md5 text');
file('hashes first', lines('sha256,path', '3a7bd3e2360a,/etc/x', '9f86d081884c,/etc/y'), 'sha256 text, path text');
file('names with digits above codes', lines('name,code1,code2', 'Ann,AB12,X9', 'Bob,BC13,Y8', 'Cy,CD14,Z7'), 'name text, code1 text, code2 text');
file('names of hashes', lines('id,sha256,sha1', 'a1,3a7bd3e2360a,9f86d081', 'b2,9f86d081884c,aa11bb22'), 'id text, sha256 text, sha1 text');
file('quarters above parentheses', lines('Account,Q1,Q2', 'Sales,"1,200.50","1,310.00"', 'Costs,"(1,050.25)",(900.00)', 'Tax,(30.10),(41.00)'), 'account text, q1 num:num/text?, q2 num:num/text?', tho => ',');
file('names above versions', lines('pkg,v1,v2', 'a,1.10.2,2.0.1', 'b,0.9.17,1.1.0', 'c,3.4.5,3.5.0'), 'pkg text, v1 text, v2 text');
file('names above plates', lines('plate,model', 'AB 12345,T3', 'EK 99001,M5', 'DN 55512,X1'), 'plate text, model text');
file('names above rooms', lines('person,room', 'Ann,A12', 'Bob,B7', 'Eve,C101'), 'person text, room text');
file('names above addresses of machines', lines('host,mac', 'www,00:1a:2b:3c:4d:5e', 'db,00:1a:2b:3c:4d:5f'), 'host text, mac text');
file('names above phones', lines('name,phone1,phone2', 'A,+47 815 49 300,+47 900 12 345', 'B,+47 215 49 355,+47 400 98 765'), 'name text, phone1 text, phone2 text');
file('names above genes', lines('gene,probe1,probe2', 'TP53,201746_at,211300_s_at', 'MYC,202431_s_at,244089_at'), 'gene text, probe1 text, probe2 text');
file('names above times', lines('bus,stop1,stop2', '12A,08:05,08:17', '12B,08:25,08:37', '14A,09:05,09:10'), 'bus text, stop1 time:time/text, stop2 time:time/text');
file('years above words', lines('party,2019,2020', 'A,won,lost', 'B,lost,won', 'C,lost,lost'), 'party text, _2019 text, _2020 text', or => [ [ 'party text, * text, * text' ] ]);
file('names above coordinates', lines('well,pos', 'A-1,59N 10E', 'A-2,60N 11E', 'B-1,61N 12E'), 'well text, pos text');
file('names above long sentences', lines('key,text', 'k1,"It was cold, and wet."', 'k2,"All went well."', 'k3,"Nothing, then."'), 'key text, text text');
file('names above answers', lines('q1,q2,q3', 'agree,neutral,agree', 'disagree,agree,neutral', 'agree,agree,agree'), 'q1 text, q2 text, q3 text');
file('row names lacking above numbers', lines('"height","weight"', '"1",5.5,60', '"2",6.1,70', '"3",5.9,80'), '* int:int/text, height num, weight int', header_told => 1);
file('row names lacking', lines('"mpg","cyl","gear"', '"Mazda RX4",21,6,4', '"Datsun 710",22.8,4,4', '"Hornet",21.4,6,3'), '* text, mpg num, cyl int, gear int', header_told => 1);
file('row names lacking, blanks', lines('mpg cyl gear', 'Mazda 21 6 4', 'Datsun 22.8 4 4', 'Hornet 21.4 6 3'), '* text, mpg num, cyl int, gear int', d => ' ', header_told => 1);
file('row names lacking, tabs', lines("tumor1\ttumor2\tnormal1", "TP53\t5.5\t6.1\t7.25", "MYC\t1.5\t2.25\t3.5", "KRAS\t0.5\t0.25\t0.75"), '* text, tumor1 num, tumor2 num, normal1 num', d => "\t", header_told => 1);
my @wide = map { [ $_, "n$_", 'x' ] } 41 .. 200;
file('wider data below 40 records', lines('id,name', (map { "$_,n$_" } 1 .. 40), (map { join ',', @$_ } @wide)), 'id int, name text', rows => [ map { [ $_, "n$_" ] } 1 .. 40 ], said => [qr/expected|error|skip|fields/],
	or => [ [ 'id int, name text, * text', rows => \@wide ] ]);
file('narrower data, then as wide as the header', lines('x,y,z', (map { '1,2' } 1 .. 80), (map { "$_,2,3" } 1 .. 40)), 'x int, y int, z int', rows => [ map { [ $_, 2, 3 ] } 1 .. 40 ], said => [qr/expected|error|skip|fields/],
	or => [ [ 'x int, y int', rows => [ map { [ 1, 2 ] } 1 .. 80 ] ], [ 'x int, y int, z int', rows => [ (map { [ 1, 2, '' ] } 1 .. 80), map { [ $_, 2, 3 ] } 1 .. 40 ] ] ]);
file('a narrow record below the header', lines('a,b,c', '1,2', '3,4,5', '6,7,8', '9,10,11'), 'a int, b int, c int', rows => [ [ 3, 4, 5 ], [ 6, 7, 8 ], [ 9, 10, 11 ] ], said => [qr/expected|error|skip|fields/]);
file('an empty record below the names', lines('kind,code,n', ',,', 'a,x,1', 'b,y,2'), 'kind text, code text, n int');
file('an empty record in quotes', lines('"kind","n"', '"",""', '"a","1"', '"b","2"'), 'kind text, n int');
file('two empty records', lines('id;a;b', ';;', ';;', '1;x;1,5', '2;y;2,5'), 'id int, a text, b num', d => ';', dec => ',');
file('first values missing', lines('id,a,b', ',,5', '1,x,6', '2,y,7'), 'id int, a text, b int');
file('words, no header', lines('red,apple', 'green,pear', 'red,plum', 'green,apple'), '* text, * text', h => [ 0, 1 ], above => 0, lost => 1);
file('names of people, no header', lines('Ann;Smith;Leeds', 'Bob;Jones;York', 'Eve;Brown;Hull'), '* text, * text, * text', d => ';', h => [ 0, 1 ], above => 0, lost => 1);
file('one word a line, no header', lines('the', 'quick', 'brown', 'fox'), '* text', d => undef, h => [ 0, 1 ], above => 0, lost => 1);
file('codes and words, no header', lines("AF\tAfghanistan", "AL\tAlbania", "DZ\tAlgeria", "AD\tAndorra"), '* text, * text', d => "\t", h => [ 0, 1 ], above => 0, lost => 1);
file('names twice', lines('id,v,v', '1,a,b', '2,c,d'), 'id int, v text, * text');
file('units in names', lines('time (s),temp [C],rain/mm', '1,2.5,0', '2,3.5,1'), '* int, * num, * int');
file('one record', lines('name,town,code', 'Ann,Oslo,X1'), 'name text, town text, code text');
file('names and truth values', lines('task,done', 'a,yes', 'b,no', 'c,yes'), 'task text, done bool:bool/text');
file('a name that is a number', lines('id,2024', '1,5', '2,6', '3,7'), '* int, * int', or => [ [ '* text:text?/int?, * int', h => 0, above => 0 ] ]);
file('all names are numbers', lines('Country,1990,2000,2010', 'Norway,4.2,4.5,4.9', 'Sweden,8.6,8.9,9.4'), 'country text, _1990 num, _2000 num, _2010 num');
# here there is no header
file('numbers', lines('1,2,3', '4,5,6', '7,8,9'), 'column_1 int, column_2 int, column_3 int', h => 0);
file('a name and numbers', lines('Ann,5,2.5', 'Bob,6,3.5', 'Eve,7,4.5'), 'column_1 text, column_2 int, column_3 num', h => 0);
file('dates and numbers', lines('2024-01-01;1,5', '2024-01-02;2,5', '2024-01-03;0,5'), 'column_1 date, column_2 num', d => ';', h => 0, dec => ',');
file('a log', lines('2024-03-01 10:00:00|INFO|started|5', '2024-03-01 10:00:01|WARN|slow|17', '2024-03-01 10:00:09|INFO|done|2'), 'column_1 ts, column_2 text, column_3 text, column_4 int', d => '|', h => 0);
file('one column of numbers', lines('12', '15', '18'), 'column_1 int', d => undef, h => 0);

# ---- odd rows below a header ----

kind('odd rows');
# The row is data: the column is text, and told; or it is NULL or left out, and told; or it is
# part of the header.
file('codes above numbers', lines('station,many', 'Tx,many', '1,2', '3,4', '5,6'), 'station int:text?/int?, many int:text?/int?', lost => 1, or => [ [ '* int, * int', h => 2, above => 2 ] ]);
file('units in the last column', lines('land;folk;areal', ';;km²', 'A;5;10,5', 'B;6;11,5', 'C;7;12,5'), 'land text, folk int, areal num:text?/num?', d => ';', dec => ',', lost => 1, or => [ [ 'land text, folk int, areal_km² num', h => 2, above => 2 ], [ '* text, * int, * num', h => 2, above => 2 ] ]);
file('units in brackets', lines('land;folk;areal', ';[1];[km²]', 'A;5;10,5', 'B;6;11,5', 'C;7;12,5'), 'land text, folk int:text?/int?, areal num:text?/num?', d => ';', dec => ',', lost => 1, or => [ [ '* text, * int, * num', h => 2, above => 2 ] ]);
file('two rows of units', lines('Name,Dual,Date,Temp,Area', 'Units,,,C,m2', '[0],,,cec_t,cec_area', 'Module A,Y,12/17/2008,65,0.67', 'Module B,Y,4/28/2008,65,0.67', 'Module C,N,10/7/2010,47.4,1.567'),
	'name text, dual text:text/text?/bool?, date date:date/date?/text?, temp num:text?/num?, area num:text?/num?', ord => 'MDY', lost => 2,
	or => [ [ '* text, * bool:bool/text, * date:date/text?, * num, * num', h => 3, above => 3 ], [ '* text, * bool:text?/bool, * date:text?/date/date?, * num:text?, * num:text?', h => 2, above => 2 ] ]);
file('units of a logger', lines('time,temp,rain', 's,degC,mm', '1,2.5,0', '2,3.5,1', '3,2.5,0'), 'time int:text?/int?, temp num:text?/num?, rain int:text?/int?', lost => 1, or => [ [ '* int, * num, * int', h => 2, above => 2 ] ]);
file('types of columns', lines('id,name,v', 'int,string,float', '1,a,2.5', '2,b,3.5', '3,c,4.5'), 'id int:text?/int?, name text:text/text?, v num:text?/num?', lost => 1, or => [ [ '* int, * text, * num', h => 2, above => 2 ] ]);
file('an odd first row', lines('id,n', '1,unknown', (map { "$_,$_" } 2 .. 40)), 'id int, n int:text?/int?');
file('an odd row in the middle', lines('id,n', (map { "$_," . ($_ == 20 ? 'pending' : $_) } 1 .. 40)), 'id int, n int:text?/int?');
file('an odd last row', lines('id,n', (map { "$_,$_" } 1 .. 40), '41,closed'), 'id int, n int:text?/int?');
file('a value below a limit', lines('id,lead', (map { "$_," . ($_ == 7 ? '<0.5' : "$_.5") } 1 .. 40)), 'id int, lead num:text?/num?');
file('a star at a number', lines('id,n', (map { "$_,$_" . ($_ == 9 ? '*' : '') } 1 .. 40)), 'id int, n int:text?/int?');
file('names again in the middle', lines('id,n', (map { ("$_,$_", $_ == 20 ? 'id,n' : ()) } 1 .. 40)), 'id int:text?/int?, n int:text?/int?', lost => 1);
file('names again at once', lines('id,n', 'id,n', (map { "$_,$_" } 1 .. 40)), 'id int:text?/int?, n int:text?/int?', lost => 1, or => [ [ '* int, * int', h => 2, above => 2 ] ]);
file('a row of dashes', lines('id|name|v', '--|----|--', '1|a|2.5', '2|b|3.5', '3|c|4.5'), 'id int:text?/int?, name text:text/text?, v num:text?/num?', d => '|', lost => 1, or => [ [ '* int, * text, * num', h => 2, above => 2 ] ]);
file('a mean below', lines('id,n', (map { "$_,$_" } 1 .. 40), 'mean,20.5'), 'id int:text?/int/int?, n num:num/num?/text?', lost => 1);
file('a sum below', lines('day;n', (map { sprintf '2024-01-%02d;%d', $_, $_ } 1 .. 30), 'Total;465'), 'day date:text?/date/date?, n int', d => ';', lost => 1);
file('a date among numbers', lines('id,n', (map { "$_," . ($_ == 30 ? '2024-01-01' : $_) } 1 .. 40)), 'id int, n int:text?/int?');
file('a number among dates', lines('id,day', (map { sprintf '%d,%s', $_, $_ == 30 ? 45292 : sprintf '2024-03-%02d', $_ % 28 + 1 } 1 .. 40)), 'id int, day date:text?/date?');
file('a decimal comma among points', lines('id;v', (map { "$_;$_." . ($_ % 10) } 1 .. 20), '21;7,5', (map { "$_;$_.25" } 22 .. 40)), 'id int, v num:text?/num?', d => ';');
file('careless quotes', lines('id,name,text', '1,"Ann,"x"', '2,"Bob","y"', '3,"Eve","z"', '4,"Al","so "it" is"', '5,"Bo","w"', '6,"Cy","v"'), 'id int, name text, text text', lost => 2,
	rows => [ [ 1, '"Ann', 'x' ], [ 2, 'Bob', 'y' ], [ 3, 'Eve', 'z' ], [ 4, 'Al', 'so "it" is' ], [ 5, 'Bo', 'w' ], [ 6, 'Cy', 'v' ] ]);
file('careless quotes in the first rows', lines('id,size,text', '1,5,"a "b" c"', '2,6,"d "e""', '3,7,"f"', '4,8,"g"', '5,9,"h"', '6,10,"i"'), 'id int, size int, text text', lost => 2,
	rows => [ [ 1, 5, 'a "b" c' ], [ 2, 6, 'd "e"' ], [ 3, 7, 'f' ], [ 4, 8, 'g' ], [ 5, 9, 'h' ], [ 6, 10, 'i' ] ]);
file('backslashes before quotes outside quotes', lines('kind,text,n', 'a,paper towels,1', 'a,"paper, towels",2', 'a,paper \" towels,3', 'a,\"paper towels\",4'), 'kind text, text text, n int', lost => 2);
file('a late text', lines('id,n', (map { "$_,$_" } 1 .. 3000), '3001,late'), 'id int, n int:text?/int?');
# here odd rows are ordinary
file('missing numbers', lines('id,n', '1,', '2,5', '3,', '4,6'), 'id int, n int');
file('words for missing', lines('id,n', '1,n/a', '2,5', '3,n/a', '4,6'), 'id int, n int');
file('texts that are sometimes numbers', lines('id,answer', '1,yes', '2,5', '3,perhaps', '4,17', '5,no'), 'id int, answer text');
file('units only', lines('quantity,unit', '5,kg', '7,m', '9,s'), 'quantity int, unit text');

# ---- types too weak ----

kind('weak types');
file('17 digits beside exponents', lines('id,v', '1,1e-5', '2,0.011111111111111112', '3,2.5'), 'id int, v num:dbl/numeric');
file('17 digits', lines('id,v', '1,0.30000000000000004', '2,0.011111111111111112', '3,-2.2250738585072014e-308'), 'id int, v num:dbl/numeric');
file('timestamps of a log', lines('id,at', '1,2020-01-01 00:00:00 UTC', '2,2020-01-02 10:30:00.5 UTC', '3,2020-01-03 23:59:59 UTC'), 'id int, at tstz');
file('log of a server', lines('2024-05-01 10:00:00.123 UTC,"app","db",4711,"LOG","started"', '2024-05-01 10:00:01.456 UTC,"app","db",4711,"ERROR","no table ""x"""', '2024-05-01 10:00:02.789 UTC,"app","db",4712,"LOG","done"'),
	'* tstz, * text, * text, * int, * text, * text', h => 0);
file('timestamps with GMT', lines('id,at', '1,2020-01-01 00:00:00 GMT', '2,2020-01-02 10:30:00 GMT'), 'id int, at tstz:tstz/text?');
file('times', lines('start,stop', '04:00:00,04:20:10', '04:30:00,05:00:00', '14:00:22,14:10:00'), 'start time, stop time');
file('times without seconds', lines('stop,leaves', 'A,08:05', 'B,12:17', 'C,23:45'), 'stop text, leaves time:time/text');
file('times with fractions', lines('lap,at', '1,10:00:00.125', '2,10:01:30.5', '3,10:03:00.75'), 'lap int, at time');
file('minus of typesetters', lines('datum;pris', '2025-02-02;1,5', "2025-02-03;\xe2\x88\x923,5", '2025-02-04;10,99', "2025-02-05;\xe2\x88\x920,50"), 'datum date, pris num:num/text?', d => ';', dec => ',');
file('minus of typesetters, points', lines('id,v', '1,1.5', "2,\xe2\x88\x923.5", '3,10.99'), 'id int, v num:num/text?');
file('minus of typesetters, integers', lines('place,temp', 'A,5', "B,\xe2\x88\x923", "C,\xe2\x88\x9212", 'D,0'), 'place text, temp int:num/text?');
file('minus behind', lines('Date,Text,Amount', '2024-01-02,Coffee,5.00-', '2024-01-05,Salary,2000.00', '2024-01-08,Rent,1200.00-'), 'date date, text text, amount num:num/text?');
file('minus behind, commas', lines('Datum;Text;Betrag', '02.01.2024;Kaffee;5,00-', '15.01.2024;Gehalt;2000,00', '31.01.2024;Miete;1200,00-'), 'datum date, text text, betrag num:num/text?', d => ';', dec => ',', ord => 'DMY');
file('parentheses', lines('Date,Text,Amount', '2024-02-01,Pay,1500.00', '2024-02-03,Rent,(900.23)', '2024-02-05,Shop,(12.40)'), 'date date, text text, amount num:num/text?');
file('parentheses and dollars', lines('Date,Text,Amount', '2024-02-01,Pay,$+1500.00', '2024-02-03,Rent,($900.23)', '2024-02-05,Shop,($12.40)'), 'date date, text text, amount text:text?/num?');
file('parentheses and thousands', lines('Account,Amount', 'Sales,"1,200.50"', 'Costs,"(1,050.25)"', 'Tax,(30.10)'), 'account text, amount num:num/text?', tho => ',');
file('formulas of Excel', lines('NOM;VILLE;ZIP;TEL;N', 'Leroy;"Brest";="02345";="+33-2-99";7896', 'Moreau;"Lyon";="69001";="+33-4-11";12'), 'nom text, ville text, zip text:text/text?, tel text:text/text?, n int', d => ';', rows => [ [ 'Leroy', 'Brest', '="02345"', '="+33-2-99"', 7896 ], [ 'Moreau', 'Lyon', '="69001"', '="+33-4-11"', 12 ] ], said => [qr/"zip"/],
	or => [ [ 'nom text, ville text, zip text, tel text, n int', rows => [ [ 'Leroy', 'Brest', '02345', '+33-2-99', 7896 ], [ 'Moreau', 'Lyon', '69001', '+33-4-11', 12 ] ], said => [] ] ]);
file('formulas of Excel, commas', lines('id,code', '1,="007"', '2,="123"', '3,="456"'), 'id int, code text:text/text?', rows => [ [ 1, '="007"' ], [ 2, '="123"' ], [ 3, '="456"' ] ], said => [qr/"code"/],
	or => [ [ 'id int, code text', rows => [ [ 1, '007' ], [ 2, '123' ], [ 3, '456' ] ], said => [] ] ]);
file('uuids', lines('id,n', '123e4567-e89b-12d3-a456-426614174000,1', '00112233-4455-6677-8899-aabbccddeeff,2'), 'id uuid, n int');
file('uuids in capitals', lines('id,n', '123E4567-E89B-12D3-A456-426614174000,1', '00112233-4455-6677-8899-AABBCCDDEEFF,2'), 'id uuid, n int');
file('truth values', lines('id,ok', '1,true', '2,false', '3,true'), 'id int, ok bool');
file('truth values in capitals', lines('id,ok', '1,TRUE', '2,FALSE', '3,TRUE'), 'id int, ok bool');
file('exponents of a spreadsheet', lines('id,v', '1,1.5E+03', '2,2.25E-02', '3,-7E+00'), 'id int, v num:dbl/numeric');
file('points at the ends', lines('id,v', '1,.5', '2,5.', '3,-.25'), 'id int, v num');
file('numbers in quotes', lines('"id","v"', '"1","2.5"', '"2","3.5"'), 'id int, v num');
file('numbers behind blanks', lines('id, v', '1,   2.5', '2,  13.5', '3, 103.5'), 'id int, v num', trim => 1);
file('missing values in quotes', lines('id,v', '"1",""', '"2","3.5"', '"3",""'), 'id int, v num');
file('timestamps to the minute', lines('id,at', '1,2024-01-15 10:00', '2,2024-02-29 23:59'), 'id int, at ts');
file('timestamps with fractions of 9 digits', lines('id,at', '1,2024-01-15 10:00:00.123456789', '2,2024-02-29 23:59:00.000000001'), 'id int, at text:text/text?/ts?');
file('compact timestamps', lines('id,at', '1,20240115T100000Z', '2,20240229T235959Z'), 'id int, at text:text/text?/tstz');
file('seconds since 1970', lines('id,at', '1,1700000000', '2,1700003600'), 'id int, at int');
file('a comma before milliseconds', lines('at|level', '2024-03-01 10:00:01,123|INFO', '2024-03-01 10:00:02,456|WARN'), 'at ts:ts/text/text?, level text', d => '|');
# here text is right
file('times and words', lines('id,at', '1,04:00', '2,noon', '3,06:30'), 'id int, at text');
file('words in parentheses', lines('id,v', '1,(open)', '2,(closed)', '3,5'), 'id int, v text');
file('dashes behind', lines('id,v', '1,A-', '2,5-', '3,B+'), 'id int, v text');

# ---- limits: rows that are appended later are rows ----

kind('limits');
sub later
{
	my ($name, $first, $then, $columns, %more) = @_;
	my $import = delete $more{import};
	my $suffix = $more{suffix} // 'csv';
	my @rows = map { [ split /\Q$more{d}\E/, $_, -1 ] } split /\n/, ($first =~ s/^.*\n//r) . $then if ($more{d} //= ',');

	(my $printed = $then) =~ s/([\\%])/$1$1/g;
	$printed =~ s/\n/\\n/g;
	$printed =~ s/'/'"'"'/g;
	folder($name, { "a.$suffix" => $first }, 'a', $columns, rows => \@rows, h => 1, import => $import, again => sub { "\\! printf '$printed' >>$_[0]/a.$suffix" }, %more);
	return;
}
later('a longer text', lines('id,name', '1,Ann', '2,Bob'), lines('3,Alexandra', '4,' . 'x' x 5000), 'id int, name text');
later('more digits', lines('id,v', '1,1.5', '2,2.5'), lines('3,1000.5', '4,123456789012345678901.5'), 'id int, v num:=numeric');
later('more decimals', lines('id,v', '1,1.5', '2,2.5'), lines('3,1.123456', '4,0.00000000000000000001'), 'id int, v num:=numeric');
later('two of three columns', lines('id,name,v', '1,Ann,1.5'), lines('2,Bobby,10.5', '3,Eve,2.25', '4,Al,3'), 'id int, name text, v num:=numeric');
later('decimal commas', lines('id;v', '1;1,5', '2;2,5'), lines('3;1000,125'), 'id int, v num:=numeric', d => ';', dec => ',');
later('wider characters', lines('id,name', '1,abc'), lines("2,\xc3\xa6\xc3\xb8\xc3\xa5"), 'id int, name text');
later('codes', lines('code,n', 'A1,1', 'B2,2'), lines('C100,3'), 'code text, n int');
later('empty values', lines('id,name,v', '1,Ann,1.5'), lines('2,,', '3,x,'), 'id int, name text, v num:=numeric');
later('a column without values', lines('id,note', '1,', '2,'), lines('3,now a note'), 'id int, note text');
later('dates stay dates', lines('id,day', '1,2024-01-15'), lines('2,2025-12-31'), 'id int, day date');
later('negative numbers', lines('id,v', '1,1.5'), lines('2,-1234.5'), 'id int, v num:=numeric');
later('tabs', lines("id\tname", "1\tAnn"), lines("2\tAlexandra"), 'id int, name text', d => "\t");
later('bars', lines('id|name|v', '1|Ann|0.5'), lines('2|Alexandra|100.25'), 'id int, name text, v num:=numeric', d => '|');
later('large integers', lines('id,n', '1,5000000000'), lines('2,9000000000000000000'), 'id int, n int:bigint');
later('words for missing', lines('id,v', '1,NA', '2,2.5'), lines('3,NA', '4,20.25'), 'id int, v num:=numeric');
later('quoted texts', lines('id,name', '1,"Ann"'), lines('2,Alexandra Smith'), 'id int, name text', rows => [ [ 1, 'Ann' ], [ 2, 'Alexandra Smith' ] ]);
later('a file of one row', lines('id,name', '1,a'), lines(map { "$_," . 'a' x $_ } 2 .. 200), 'id int, name text');
later('no decimals yet', lines('id,v', '1,0.5'), lines('2,100', '3,7'), 'id int, v num:=numeric');
later('.tsv', lines("id\tname", "1\tAnn"), lines("2\tAlexandra"), 'id int, name text', d => "\t", suffix => 'tsv');
later('only some records', lines('id,v', (map { "$_,$_.5" } 1 .. 100)), lines('101,1000.25'), 'id int, v num:=numeric', import => "sample_records '10'");
later('limits on request', lines('id,name,v', '1,Ann,1.5', '2,Bob,2.5'), '', 'id int, name text, v num:=numeric(2,1)', import => "limits 'true'",
	check => sub { my ($name, $r) = @_; is($r->{tables}{a}{columns}[1]{options}{max_chars}, 3, "$name: max_chars"); });
later('no limits, said', lines('id,name,v', '1,Ann,1.5', '2,Bob,2.5'), lines('3,Alexandra,10.25'), 'id int, name text, v num:=numeric', import => "limits 'false'",
	check => sub { my ($name, $r) = @_; ok(!exists $r->{tables}{a}{columns}[1]{options}{max_chars}, "$name: no max_chars"); });
# ---- names ----

kind('names');
file('a no-break blank', "Prix\xc2\xa0HT,nom,total\xc2\xa0\n1.5,a,2\n2.5,b,3\n", 'prix_ht num, nom text, total|total_ int');
file('a blank without width', "\xe2\x80\x8bid,na\xe2\x80\x8bme\n1,x\n2,y\n", 'id int, name text');
file('a byte-order mark', "\xef\xbb\xbfid,name\n1,x\n2,y\n", 'id int, name text');
file('two byte-order marks', "\xef\xbb\xbf\xef\xbb\xbfid,name\n1,x\n2,y\n", 'id int, name text');
file('a byte-order mark before quotes', "\xef\xbb\xbf\"id\",\"name\"\n1,x\n2,y\n", 'id int, name text');
file('two byte-order marks before quotes', "\xef\xbb\xbf\xef\xbb\xbf\"id\",\"name\"\n1,x\n2,y\n", 'id int, name text');
file('a byte-order mark inside', "id,\xef\xbb\xbfname\n1,x\n2,y\n", 'id int, name text');
file('a thin blank', "Antall\xe2\x80\xafby,v\n1,x\n2,y\n", 'antall_by int, v text');
file('an em blank', "id,first\xe2\x80\x83name\n1,x\n2,y\n", 'id int, first_name text');
file('a soft hyphen or word joiner', "id,na\xe2\x81\xa0me\n1,x\n2,y\n", 'id int, name text');
file('a tab in quotes', "id,\"first\tname\"\n1,x\n2,y\n", 'id int, first_name text');
file('a line break in quotes', "id,\"first\nname\"\n1,x\n2,y\n", 'id int, first_name text');
file('capitals', "ID,Name,TOTAL\n1,x,2\n2,y,3\n", 'id int, name text, total int');
file('letters of Norwegian', "id,m\xc3\xa5l,\xc3\xb8re\n1,x,2\n2,y,3\n", "id int, m\xc3\xa5l text, \xc3\xb8re int");
file('letters of Greek', "id,\xcf\x84\xce\xb9\xce\xbc\xce\xae\n1,2.5\n2,3.5\n", "id int, \xcf\x84\xce\xb9\xce\xbc\xce\xae num");
file('the same twice', "v,v,id\nx,y,1\nz,u,2\n", 'v text, v_2|v_1|v2 text, id int');
file('the same but for case', "Id,id,name\n1,2,x\n3,4,y\n", 'id int, id_2|id_1|id2 int, name text');
file('the same but for blanks', "a b,a_b,c\n1,2,x\n3,4,y\n", 'a_b int, a_b_2|a_b_1 int, c text');
file('reserved words', "select,from,table\n1,2,x\n3,4,y\n", 'select_ int, from_ int, table_ text');
file('a name of 80 letters', 'id,' . 'n' x 80 . "\n1,x\n2,y\n", 'id int, ' . 'n' x 63 . ' text');
file('two names of 80 letters', 'n' x 80 . ',' . 'n' x 79 . "m\n1,x\n2,y\n", '* int, * text');
file('digits first', "1st,2nd\n1,x\n2,y\n", '_1st int, _2nd text');
file('punctuation', "price (NOK),share %,a/b\n1.5,2,x\n2.5,3,y\n", '* num, * int, * text');
file('blanks around', "id , name ,total\n1,x,2\n2,y,3\n", 'id int, name text, total int');
file('an empty name', "id,,total\n1,x,2\n2,y,3\n", 'id int, * text, total int');
file('a name like those without', "column_2,x\n1,a\n2,b\n", 'column_2 int, x text');
file('quotes in names', "id,\"the \"\"name\"\"\"\n1,x\n2,y\n", 'id int, * text');

# ---- folders: one table for many files ----

kind('folders');
my $orders = "pattern '*.csv', table 'orders'";
my @o = ([ 1, 'a', '2.5' ], [ 2, 'b', '3.5' ], [ 3, 'c', '4.5' ]);
sub orders
{
	my ($name, $files, $columns, $rows, %more) = @_;

	folder($name, $files, 'orders', $columns, rows => $rows, import => $orders, any_order => 1, %more);
	return;
}
orders('same columns', { 'jan.csv' => lines('id,name,v', '1,a,2.5', '2,b,3.5'), 'mar.csv' => lines('id,name,v', '3,c,4.5') }, 'id int, name text, v num', \@o);
orders('other order', { 'jan.csv' => lines('id,name,v', '1,a,2.5', '2,b,3.5'), 'mar.csv' => lines('v,id,name', '4.5,3,c') }, 'id int, name text, v num', \@o);
orders('a column more', { 'jan.csv' => lines('id,name', '1,a', '2,b'), 'mar.csv' => lines('id,name,v', '3,c,4.5') }, 'id int, name text, v num', [ [ 1, 'a', '' ], [ 2, 'b', '' ], [ 3, 'c', '4.5' ] ]);
orders('a column less', { 'jan.csv' => lines('id,name,v', '1,a,2.5', '2,b,3.5'), 'mar.csv' => lines('id,v', '3,4.5') }, 'id int, name text, v num', [ [ 1, 'a', '2.5' ], [ 2, 'b', '3.5' ], [ 3, '', '4.5' ] ]);
orders('a column more in the middle', { 'jan.csv' => lines('id,v', '1,2.5', '2,3.5'), 'mar.csv' => lines('id,channel,v', '3,web,4.5') }, 'id int, channel text, v num', [ [ 1, '', '2.5' ], [ 2, '', '3.5' ], [ 3, 'web', '4.5' ] ]);
orders('a renamed column', { 'jan.csv' => lines('id,day,v', '1,2024-01-05,2.5'), 'mar.csv' => lines('id,order_date,v', '3,2024-03-05,4.5') }, 'id int, day date, order_date date, v num',
	[ [ 1, '2024-01-05', '', '2.5' ], [ 3, '', '2024-03-05', '4.5' ] ], said => [qr/order_date|"day"/]);
orders('three files, each with a column of its own', { '1.csv' => lines('id,a', '1,x'), '2.csv' => lines('id,b', '2,y'), '3.csv' => lines('id,c', '3,z') }, 'id int, a text, b text, c text', [ [ 1, 'x', '', '' ], [ 2, '', 'y', '' ], [ 3, '', '', 'z' ] ]);
orders('other case', { 'jan.csv' => lines('id,name,v', '1,a,2.5', '2,b,3.5'), 'mar.csv' => lines('ID,Name,V', '3,c,4.5') }, 'id int, name text, v num', \@o);
orders('other case and order', { 'jan.csv' => lines('id,name,v', '1,a,2.5', '2,b,3.5'), 'mar.csv' => lines('V,Name,ID', '4.5,c,3') }, 'id int, name text, v num', \@o);
orders('other case and order, texts', { 'jan.csv' => lines('first,last', 'Ann,Smith', 'Bob,Jones'), 'mar.csv' => lines('LAST,FIRST', 'Brown,Eve') }, 'first text, last text', [ [ 'Ann', 'Smith' ], [ 'Bob', 'Jones' ], [ 'Eve', 'Brown' ] ]);
orders('texts in the second file', { 'jan.csv' => lines('id,code', '1,5', '2,6'), 'mar.csv' => lines('id,code', '3,A7') }, 'id int, code text', [ [ 1, 5 ], [ 2, 6 ], [ 3, 'A7' ] ]);
orders('zeros in the second file', { 'jan.csv' => lines('id,code', '1,15', '2,26'), 'mar.csv' => lines('id,code', '3,07') }, 'id int, code text', [ [ 1, 15 ], [ 2, 26 ], [ 3, '07' ] ]);
orders('decimals in the second file', { 'jan.csv' => lines('id,v', '1,5', '2,6'), 'mar.csv' => lines('id,v', '3,7.25') }, 'id int, v num:numeric/dbl', [ [ 1, 5 ], [ 2, 6 ], [ 3, '7.25' ] ]);
orders('days that only the second file settles', { 'jan.csv' => lines('id,day', '1,01/02/2024', '2,03/02/2024'), 'mar.csv' => lines('id,day', '3,31/03/2024') }, 'id int, day date:date/text', [ [ 1, '01/02/2024' ], [ 2, '03/02/2024' ], [ 3, '31/03/2024' ] ], ord => 'DMY');
orders('words for missing in the second file', { 'jan.csv' => lines('id,v', '1,5.5', '2,6.5'), 'mar.csv' => lines('id,v', '3,NA', '4,7.5') }, 'id int, v num', [ [ 1, '5.5' ], [ 2, '6.5' ], [ 3, 'NA' ], [ 4, '7.5' ] ]);
orders('a file of names only', { 'jan.csv' => lines('id,name,v', '1,a,2.5', '2,b,3.5', '3,c,4.5'), 'mar.csv' => lines('id,name,v') }, 'id int, name text, v num', \@o);
orders('a byte-order mark in the second file', { 'jan.csv' => lines('id,name,v', '1,a,2.5', '2,b,3.5'), 'mar.csv' => "\xef\xbb\xbf" . lines('id,name,v', '3,c,4.5') }, 'id int, name text, v num', \@o);
orders('crlf in the second file', { 'jan.csv' => lines('id,name,v', '1,a,2.5', '2,b,3.5'), 'mar.csv' => "id,name,v\r\n3,c,4.5\r\n" }, 'id int, name text, v num', \@o);
orders('40 files', { map { (sprintf('%02d.csv', $_), lines('id,v', "$_,$_.5")) } 1 .. 40 }, 'id int, v num', [ map { [ $_, "$_.5" ] } 1 .. 40 ]);
orders('wider values in the second file', { 'jan.csv' => lines('id,name,v', '1,a,2.5'), 'mar.csv' => lines('id,name,v', '2,' . 'b' x 300 . ',3000000.125') }, 'id int, name text, v num', [ [ 1, 'a', '2.5' ], [ 2, 'b' x 300, '3000000.125' ] ]);
orders('only some files', { 'jan.csv' => lines('id,name,v', '1,a,2.5', '2,b,3.5', '3,c,4.5'), 'other.csv' => lines('x,y', '1,2') }, 'id int, name text, v num', \@o, import => "pattern 'j*.csv', table 'orders'");
orders('files of another suffix', { 'jan.txt' => lines('id,name,v', '1,a,2.5', '2,b,3.5'), 'mar.txt' => lines('id,name,v', '3,c,4.5'), 'read.me' => "nothing\n" }, 'id int, name text, v num', \@o, import => "pattern '*.txt', table 'orders'");
orders('pattern of digits', { 'o1.csv' => lines('id,name,v', '1,a,2.5', '2,b,3.5'), 'o2.csv' => lines('id,name,v', '3,c,4.5'), 'ox.csv' => lines('z', '9') }, 'id int, name text, v num', \@o, import => "pattern 'o[0-9].csv', table 'orders'");
orders('semicolons', { 'jan.csv' => lines('id;name;v', '1;a;2,5', '2;b;3,5'), 'mar.csv' => lines('id;name;v', '3;c;4,5') }, 'id int, name text, v num', [ [ 1, 'a', '2,5' ], [ 2, 'b', '3,5' ], [ 3, 'c', '4,5' ] ], dec => ',');
for my $suffix (qw(txt log dat))
{
	folder("suffix $suffix", { "a.$suffix" => lines('id,name,v', '1,a,2.5', '2,b,3.5', '3,c,4.5') }, 'a', 'id int, name text, v num', rows => \@o, import => "suffixes 'csv,$suffix'");
}
folder('suffix txt, tabs', { 'a.txt' => lines("id\tname\tv", "1\ta\t2.5", "2\tb\t3.5", "3\tc\t4.5") }, 'a', 'id int, name text, v num', rows => \@o, import => "suffixes 'txt'");
folder('suffixes leave out others', { 'a.txt' => lines('id,name,v', '1,a,2.5', '2,b,3.5', '3,c,4.5'), 'b.csv' => lines('x,y', '1,2') }, 'a', 'id int, name text, v num', rows => \@o, import => "suffixes 'txt'",
	check => sub { my ($name, $r) = @_; is(join(' ', sort keys %{ $r->{tables} }), 'a', "$name: tables"); });
folder('no suffixes said', { 'a.csv' => lines('id,name,v', '1,a,2.5', '2,b,3.5', '3,c,4.5'), 'b.txt' => lines('x,y', '1,2'), 'c.tsv' => lines("x\ty", "1\t2") }, 'a', 'id int, name text, v num', rows => \@o,
	check => sub { my ($name, $r) = @_; is(join(' ', sort keys %{ $r->{tables} }), 'a c', "$name: tables"); });
# months whose columns changed, by name
my %months = ('month=01/o.csv' => lines('order_id,channel,total', '1,web,5.5', '2,shop,6.5'), 'month=02/o.csv' => lines('order_id,order_date,total', '3,2024-02-05,7.5'), 'month=03/o.csv' => lines('total,order_id,discount', '8.5,4,1.5'));
folder('months whose columns changed', \%months, undef, 'order_id int, channel text, order_date date, discount num, total num, month int:int/text',
	rows => [ [ 1, 'web', '', '', '5.5', '01' ], [ 2, 'shop', '', '', '6.5', '01' ], [ 3, '', '2024-02-05', '', '7.5', '02' ], [ 4, '', '', '1.5', '8.5', '03' ] ], import => "by_name 'true'", any_order => 1);
folder('months whose columns are in another case and order', { 'month=01/o.csv' => lines('id,first,last', '1,Ann,Smith'), 'month=02/o.csv' => lines('ID,LAST,FIRST', '2,Jones,Bob') }, undef, 'id int, first text, last text, month int:int/text',
	rows => [ [ 1, 'Ann', 'Smith', '01' ], [ 2, 'Bob', 'Jones', '02' ] ], any_order => 1);
folder('months whose columns are in another case', { 'month=01/o.csv' => lines('id,first,last', '1,Ann,Smith'), 'month=02/o.csv' => lines('Id,First,Last', '2,Bob,Jones') }, undef, 'id int, first text, last text, month int:int/text',
	rows => [ [ 1, 'Ann', 'Smith', '01' ], [ 2, 'Bob', 'Jones', '02' ] ], any_order => 1);

# ---- line ends, marks, escapes ----

kind('line ends');
file('two CRs', "\"TLA\",\"ROAD NAME\",\"N\"\r\r\n\"A\",\"SH 1\",5\r\r\n\"B\",\"SH 2\",7\r\r\n", 'tla text, road_name text, n int');
file('two CRs, no quotes', "id,name\r\r\n1,x\r\r\n2,y\r\r\n", 'id int, name text');
file('a CR in the first line', "id,na\rme\n1,x\n2,y\n3,z\n", 'id int, * text', end => '\n');
file('a CR in a title', "Report\rof May\nid,name\n1,x\n2,y\n3,z\n", 'id int, name text', h => undef, rows => [ [ 1, 'x' ], [ 2, 'y' ], [ 3, 'z' ] ]);
file('a CR in a value', "id,name\n1,x\ry\n2,y\n3,z\n", 'id int, name text', end => '\n');
file('CRs only', "id,name\r1,x\r2,y\r3,z\r", 'id int, name text', end => '\r');
file('CR LF', "id,name\r\n1,x\r\n2,y\r\n", 'id int, name text');
file('CR LF, then LF', "id,name\r\n1,x\n2,y\r\n3,z\n", 'id int, name text');
file('LF, then CR LF', "id,name\n1,x\n2,y\r\n3,z\n", 'id int, name text');
file('no end of the last line', "id,name\n1,x\n2,y", 'id int, name text');
file('CR LF, no end of the last line', "id,name\r\n1,x\r\n2,y", 'id int, name text');
file('Ctrl-Z', "id,name\r\n1,x\r\n3,y\x1a", 'id int, name text', rows => [ [ 1, 'x' ], [ 3, "y\x1a" ] ]);
file('Ctrl-Z in a line of its own', "id,name\r\n1,x\r\n3,y\r\n\x1a", 'id int, name text', rows => [ [ 1, 'x' ], [ 3, 'y' ] ]);
file('blank lines between', "id,name\n\n1,x\n\n2,y\n\n", 'id int, name text', h => [ 1, 2 ], rows => [ [ 1, 'x' ], [ 2, 'y' ] ]);
file('line feeds in quotes, CR LF', "id,name\r\n1,\"a\nb\"\r\n2,c\r\n", 'id int, name text', rows => [ [ 1, "a\nb" ], [ 2, 'c' ] ]);
file('CR LF in quotes, LF', "id,name\n1,\"a\r\nb\"\n2,c\n", 'id int, name text', rows => [ [ 1, "a\r\nb" ], [ 2, 'c' ] ]);
file('escaped bars', lines('1|plain text|3', '2|has a bar \| inside|4', '3|another|5', '4|two\|bars\|here|6'), '* int, * text, * int', d => '|', h => 0, lost => 2, said => [qr/backslash|format 'text'|escape/],
	rows => [ [ 1, 'plain text', 3 ], [ 2, 'has a bar | inside', 4 ], [ 3, 'another', 5 ], [ 4, 'two|bars|here', 6 ] ], or => [ [ '* int, * text, * int', said => [], opt => { format => 'text' } ] ]);
file('backslashes before quotes', lines('attribute,paper towels,1', 'attribute,"paper, towels",2', 'attribute,paper \" towels,3', 'attribute,\"paper towels\",4'), '* text, * text, * int', h => 0, lost => 4, said => [qr/backslash|escape/],
	rows => [ [ 'attribute', 'paper towels', 1 ], [ 'attribute', 'paper, towels', 2 ], [ 'attribute', 'paper \" towels', 3 ], [ 'attribute', '\"paper towels\"', 4 ] ],
	or => [ [ '* text, * text, * int', said => [], lost => 0, rows => [ [ 'attribute', 'paper towels', 1 ], [ 'attribute', 'paper, towels', 2 ], [ 'attribute', 'paper " towels', 3 ], [ 'attribute', '"paper towels"', 4 ] ] ] ]);
file('COPY\'s text format', lines("1\ta\\tb\t\\N", "2\t\\N\t5", "3\tc\t7"), '* int, * text, * int', d => "\t", h => 0, rows => [ [ 1, "a\tb", '' ], [ 2, '', 5 ], [ 3, 'c', 7 ] ]);
file('COPY\'s mark of the end', lines("1\ta\t4", "2\tb\t5", "3\tc\t7", '\.'), '* int, * text, * int', d => "\t", h => 0, opt => { format => 'text' }, rows => [ [ 1, 'a', 4 ], [ 2, 'b', 5 ], [ 3, 'c', 7 ] ]);
file('UTF-16', join('', "\xff\xfe", map { "$_\0" } split //, "id,name\n1,x\n2,y\n"), 'id int, name text', rows => [ [ 1, 'x' ], [ 2, 'y' ] ]);
file('UTF-16, big end first', join('', "\xfe\xff", map { "\0$_" } split //, "id,name\n1,x\n2,y\n"), 'id int, name text', rows => [ [ 1, 'x' ], [ 2, 'y' ] ]);
file('Latin-1', "id,name\n1,Bj\xf8rn\n2,\xc5se\n3,K\xe5re\n", 'id int, name text', rows => [ [ 1, "Bj\xc3\xb8rn" ], [ 2, "\xc3\x85se" ], [ 3, "K\xc3\xa5re" ] ], said => [qr/WIN1252|LATIN1|encoding/]);
file('a line feed at the very end, twice', "id,name\n1,x\n2,y\n\n\n", 'id int, name text', rows => [ [ 1, 'x' ], [ 2, 'y' ] ]);
file('a delimiter at every end', lines('id,name,', '1,x,', '2,y,'), 'id int, name text, * text');
file('a delimiter at the ends of records only', lines('id,name', '1,x,', '2,y,'), 'id int, name text, * text', rows => [ [ 1, 'x', '' ], [ 2, 'y', '' ] ], or => [ [ 'id int, name text', rows => [ [ 1, 'x' ], [ 2, 'y' ] ] ] ]);

# ---- the tests ----

sub result
{
	my ($name, $table, $said, @truths) = @_;
	my ($silent, $wrong) = judged(\@truths, $table, $said);

	s/\Q$dir\E//g for @$silent, @$wrong, my @shown = @{ $said // [] };
	ok(!@$silent, "$name: nothing is changed in silence") or diag(join "\n", @$silent);
	ok(!@$wrong && !@$silent, "$name: right") or diag(join "\n", @$wrong, @shown);
	return;
}

for my $k (@kinds)
{
	next if $ENV{CSV_GPU_FDW_KIND} && $k->{name} !~ /$ENV{CSV_GPU_FDW_KIND}/;
	my $directory = "$dir/" . $k->{name} =~ s/ /_/gr;
	my $n = 0;

	make_path($directory);
	for my $case (@{ $k->{files} })
	{
		$case->{table} = sprintf 'f%03d', ++$n;
		write_file("$directory/$case->{table}.$case->{suffix}", $case->{content});
	}
	if (@{ $k->{files} })
	{
		my $result = imported($node, $directory);

		for my $case (@{ $k->{files} })
		{
			result("$k->{name}: $case->{name}", $result->{tables}{ $case->{table} },
				$result->{notices}{"$case->{table}.$case->{suffix}"} // $result->{notices}{ $case->{table} }, @{ $case->{truths} });
		}
	}
	for my $case (@{ $k->{folders} })
	{
		my $top = sprintf '%s/d%03d', $directory, ++$n;

		for my $path (sort keys %{ $case->{files} })
		{
			(my $parent = "$top/$path") =~ s{/[^/]*$}{};
			make_path($parent);
			write_file("$top/$path", $case->{files}{$path});
		}
		my $again = $case->{again} ? $case->{again}->($top) : '';
		my $result = imported($node, $top, options => $case->{import}, again => $again);
		my @said = split /\n(?=\S* ?(?:NOTICE|WARNING|ERROR):)/, $result->{text};

		result("$k->{name}: $case->{name}", $result->{tables}{ $case->{table} // sprintf 'd%03d', $n }, \@said, @{ $case->{truths} });
		$case->{check}->("$k->{name}: $case->{name}", $result) if $case->{check};
	}
}

finish();
