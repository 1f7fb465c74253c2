# Files that can be read in several ways.  IMPORT FOREIGN SCHEMA must read each as it is
# meant, or tell in a NOTICE what it assumes; and what the HINT of the NOTICE advises must
# work.
use lib 'test/t';
use CsvServer;
use File::Path qw(make_path);
use ImportTruth;

my $node = csv_server('doubts');
my $dir = new_folder();
my $ncases = 0;

# Names of NOTICEs.  In a case, what the NOTICE must have, too, stands behind a colon.
my %notice = (
	by_name => 'columns are found by name',
	by_place => 'fields are taken by their places',
	comment => 'lines that begin with "#"',
	comment_row => 'a line that begins with "#" has as many fields as a record of',
	dates => 'assuming dates in column',
	decimal => 'assuming "[.,]" as decimal separator in column',
	delimiter => 'assuming that \'.*\' delimits the fields of',
	either => 'in it may be decimal or separate thousands',
	encoding => 'that it is in ".*" is a guess',
	errors => 'records of ".*" have errors: foreign table',
	escapes => 'assuming that backslashes in ".*" begin escapes',
	few => 'are text for a few of their values',
	first_name => 'lacks the name of the first column',
	footers => 'differ in the number of lines below their data',
	header => 'assuming that the first record of ".*" is a header',
	headers => 'differ in the number of lines above their data',
	left_out => 'left out of',
	looks_like => 'using type text for columns of ".*" whose values look like numbers or dates',
	match => 'does not have "match" as its option "header"',
	names => 'has another number of fields than its records',
	no_header => 'has no header',
	null_numbers => 'assuming NULL for numbers of column',
	one_column => 'has one column',
	order => 'assuming (?:day|month)-first dates',
	quotes => 'assuming that quotes in ".*" enclose values',
	quotes_off => 'assuming that quotes in ".*" are parts of values',
	thousands => 'assuming "[.,]" as thousands separator in column',
	trim => 'assuming that blanks around the values of',
	two_marks => 'differ in their encodings',
	years => 'assuming years from 1970 to 2069');

sub has_name
{
	my ($said, $name) = @_;
	my ($which, $what) = $name =~ /^(\w+)(?::(.*))?$/s;

	die "no NOTICE \"$which\"" if !exists $notice{$which};
	my $without_lines = $said =~ s/ \(line \d+(?: of "[^"]*")?\)//gr;

	return $said =~ /$notice{$which}/ && index($said . $without_lines, $what // '') >= 0;
}

# Import, and compare with columns, rows (all of them; or their number, and some) and the
# names of all NOTICEs, but for those of scans.
sub compare
{
	my ($name, $import, $columns, $rows, $notices, %more) = @_;
	my $result = imported($node, "$dir/$ncases/f", options => $import || undef, again => $more{alter});
	my $table = $result->{tables}{f};
	my @rows = map { join '|', map { $_ // '~' } @$_ } @{ $table->{rows} // [] };
	my @said = grep { /^(?:NOTICE|WARNING|ERROR)/ && !/^NOTICE:  (?:skipped|set to NULL)/ } split /\n(?=(?:NOTICE|WARNING|ERROR):)/, $result->{text} =~ s/^psql:\S+ //gmr;

	if (@$rows && $rows->[0] =~ /^\d+ rows$/)
	{
		my %has = map { ($_ => 1) } @rows;

		@rows = (@rows . ' rows', grep { $has{$_} } @$rows);
	}
	is(join(', ', map { "$_->{name} $_->{type}" } @{ $table->{columns} // [] }), $columns, "$name: columns");
	is(join("\n", @rows), join("\n", @$rows), "$name: rows");
	my @missing = grep { my $wanted = $_; !grep { has_name($_, $wanted) } @said } @$notices;
	my @others = grep { my $said = $_; !grep { has_name($said, $_) } @$notices } @said;
	ok(!@missing && !@others, "$name: NOTICEs") or diag(join "\n", 'missing:', @missing, 'not expected:', @others, 'all:', @said);
	is($table->{options}{$_}, $more{options}{$_}, "$name: option $_") for sort keys %{ $more{options} // {} };
	return @said;
}

# A case: its file or files, and what compare() wants.  "import" and "options" are those
# of the statement and of the table; "hint" is [NOTICE, columns, rows, notices] after another
# IMPORT with the options that the NOTICE's HINT names, "alter" [SQL, rows] after an ALTER FOREIGN
# TABLE that a HINT advises; "locked" is a directory that must not be read.
sub doubt
{
	my ($name, $files, $columns, $rows, $notices, %more) = @_;
	my $top = "$dir/" . ++$ncases . '/f';
	my $one = !ref $files;
	my @import = $more{import} // ();

	unshift @import, "pattern '*', table 'f'" if !$one && !grep { /=/ } keys %$files;
	$files = { 'f.csv' => $files } if $one;
	for my $path (keys %$files)
	{
		make_path("$top/$path" =~ s{/[^/]*$}{}r);
		write_file("$top/$path", $files->{$path});
	}
	my $import = join ', ', @import;
	chmod 0, "$top/$more{locked}" if $more{locked};
	my @said = compare($name, $import, $columns, $rows, $notices, options => $more{options});

	chmod 0755, "$top/$more{locked}" if $more{locked};
	if ($more{hint})
	{
		my ($which, @wanted) = @{ $more{hint} };
		my ($advice) = grep { has_name($_, $which) } @said;
		my ($options) = ($advice // '') =~ /HINT:.*?OPTIONS \((.*?)\)(?=[ ;,.]|$)/m;

		ok($options, "$name: a HINT has options") or diag(@said);
		compare("$name, with $options", join(', ', @import, $options), @wanted);
	}
	if ($more{alter})
	{
		my ($statement, $values) = @{ $more{alter} };

		like(join("\n", @said), qr/HINT:.*(?:ALTER FOREIGN TABLE|type|option)|"match"/, "$name: a HINT");
		compare("$name, $statement", $import, $columns, $values, $notices, alter => "$statement;");
	}
	return;
}

# ---- delimiters ----

my @thirty = (1 .. 30);

doubt('a caret in values', lines('1,3^6', '2,7^3', '3,8^3', '4,3^9'), 'column_1 numeric, column_2 integer', [ '1.3|6', '2.7|3', '3.8|3', '4.3|9' ], ["delimiter:','"],
	hint => [ 'delimiter', 'column_1 integer, column_2 text', [ '1|3^6', '2|7^3', '3|8^3', '4|3^9' ], [] ]);
doubt('a caret before NULL', lines('5^1,NULL', '7^6,z'), 'column_1 integer, column_2 text', [ '5|1,NULL', '7|6,z' ], ['delimiter'], hint => [ 'delimiter', 'column_1 text, column_2 text', [ '5^1|NULL', '7^6|z' ], [] ]);
for my $mark ('$', '<')
{
	doubt("$mark behind an empty column", lines(map { "$_;;$mark" . $_ % 9 } 1 .. 30), 'column_1 integer, column_2 integer', [ map { "$_|" . $_ % 9 } @thirty ], ['delimiter'],
		hint => [ 'delimiter', 'column_1 integer, column_2 text, column_3 text', [ map { "$_|~|$mark" . $_ % 9 } @thirty ], $mark eq '$' ? ['looks_like:currency'] : [] ]);
}
doubt('an asterisk before an empty column', lines(map { "$_*;;$_" } 1 .. 30), 'column_1 integer, column_2 integer', [ map { "$_|$_" } @thirty ], ['delimiter'], hint => [ 'delimiter', 'column_1 text, column_2 text, column_3 integer', [ map { "$_*|~|$_" } @thirty ], [] ]);
doubt('equal signs at the ends of codes', lines('8F2afE07==, gamma', 'Bd86fCCG==, Paris', '4C4bAaAG==, Rome'), 'column_1 text, column_2 text', [ '8F2afE07==|gamma', 'Bd86fCCG==|Paris', '4C4bAaAG==|Rome' ], [ 'delimiter', 'trim' ],
	hint => [ 'delimiter', 'column_1 text, column_2 text', [ '8F2afE07|, gamma', 'Bd86fCCG|, Paris', '4C4bAaAG|, Rome' ], [] ]);
doubt('tildes behind tabs', lines(map { "$_\t~" . $_ * 3 } @thirty), 'column_1 integer, column_2 integer', [ map { "$_|" . $_ * 3 } @thirty ], [ 'delimiter', 'trim' ],
	hint => [ 'delimiter', 'column_1 integer, column_2 text', [ map { "$_|~" . $_ * 3 } @thirty ], [] ]);
doubt('tildes behind tabs, a header', lines("id\tpath\tn", map { "$_\t~/x$_\t$_" } @thirty), 'id integer, path text, n integer', [ map { "$_|~/x$_|$_" } @thirty ], []);
doubt('tildes and signs', lines("~92\t+23", "~12\t+32"), 'column_1 text, column_2 text', [ '~92|+23', '~12|+32' ], []);
doubt('fractions without a zero, behind tabs', lines(map { sprintf "%d\t,%d", $_, $_ * 3 } @thirty), 'column_1 integer, column_2 numeric', [ '30 rows', '1|0.3', '30|0.90' ], ['delimiter'], hint => [ 'delimiter', 'column_1 integer, column_2 integer', [ '30 rows', '1|3', '30|90' ], ['trim'] ]);
doubt('fractions without a zero, a header', lines("ID\tGEWICHT\tALTER", map { sprintf "%d\t,%02d\t%d", $_, $_ * 3, 20 + $_ } @thirty), 'id integer, gewicht numeric, alter integer', [ '30 rows', '1|0.03|21', '30|0.90|50' ], []);
doubt('a title above numbers', lines('Sales 2024', '10,20', '30,40', '50,60'), 'sales_2024 numeric', [ '10.20', '30.40', '50.60' ], ['one_column'], hint => [ 'one_column', 'column_1 integer, column_2 integer', [ '10|20', '30|40', '50|60' ], [ 'names', 'left_out' ] ]);
doubt('pairs by semicolons', lines('0,a;b0', '1,a;b1', '2,a;b2'), 'column_1 text, column_2 text', [ '0,a|b0', '1,a|b1', '2,a|b2' ], ["delimiter:','"], hint => [ 'delimiter', 'column_1 integer, column_2 text', [ '0|a;b0', '1|a;b1', '2|a;b2' ], [] ]);
doubt('lists by commas', lines('1;58,94,7', '2;62,53,1', '3;83,64,2'), 'column_1 text, column_2 integer, column_3 integer', [ '1;58|94|7', '2;62|53|1', '3;83|64|2' ], ["delimiter:';'"], hint => [ 'delimiter', 'column_1 integer, column_2 text', [ '1|58,94,7', '2|62,53,1', '3|83,64,2' ], [] ]);
doubt('lists behind tabs', lines("0\ta;b;c0", "1\ta;b;c1", "2\ta;b;c2"), 'column_1 text, column_2 text, column_3 text', [ "0\ta|b|c0", "1\ta|b|c1", "2\ta|b|c2" ], ["delimiter:'\t'"], hint => [ 'delimiter', 'column_1 integer, column_2 text', [ '0|a;b;c0', '1|a;b;c1', '2|a;b;c2' ], [] ]);
doubt('numbers with both', lines('0,0;0,123456789', '1,1;1,123456790', '2,2;2,123456791'), 'column_1 numeric, column_2 numeric', [ '0.0|0.123456789', '1.1|1.123456790', '2.2|2.123456791' ], ['delimiter'], hint => [ 'delimiter', 'column_1 integer, column_2 text, column_3 integer', [ '0|0;0|123456789', '1|1;1|123456790', '2|2;2|123456791' ], [] ]);
doubt('two bars', lines('1,alpha||Jones', '2,Lee||gamma', '3,green||red'), 'column_1 text, column_2 text, column_3 text', [ '1,alpha|~|Jones', '2,Lee|~|gamma', '3,green|~|red' ], ["delimiter:'||'"], hint => [ 'delimiter', 'column_1 text, column_2 text', [ '1,alpha|Jones', '2,Lee|gamma', '3,green|red' ], [] ]);
doubt('a quoted comma', lines('1,94;80,"zeta, Lee"', '2,42;25,"alpha, Rome"', '3,51;33,'), 'column_1 numeric, column_2 text', [ '1.94|80,"zeta, Lee"', '2.42|25,"alpha, Rome"', '3.51|33,' ], ['delimiter'], hint => [ 'delimiter', 'column_1 integer, column_2 text, column_3 text', [ '1|94;80|zeta, Lee', '2|42;25|alpha, Rome', '3|51;33|~' ], [] ]);
doubt('a title above tabs and bars', lines('Export 2024-01-05', "pipe\tfull", "Paris|delta\tsouth red", "Berlin|green\talpha blue", "red\tOslo Jones", "Oslo|north|x\tLee eps"), 'pipe text, full_ text', [ 'Paris|delta|south red', 'Berlin|green|alpha blue', 'red|Oslo Jones', 'Oslo|north|x|Lee eps' ], [ 'header', 'left_out' ]);
doubt('tildes in the first of two files', { '1.csv' => lines("id\ta", "1\t~5", "2\t~6"), '2.csv' => lines("id\ta", "3\t7") }, 'id integer, a text', [ '1|~5', '2|~6', '3|7' ], []);

# ---- quotes, backslashes, blanks ----

doubt('a quote inside a value', lines('id;v', '1;a"b', '2;"c"', '3;d'), 'id integer, v text', [ '1|a"b', '2|c', '3|d' ], ['quotes:quote inside an unquoted value'], hint => [ 'quotes', 'id integer, v text', [ '1|a"b', '2|"c"', '3|d' ], [] ]);
doubt('quotes that nothing calls for', lines('id,v', '1,a', '2,"c"', '3,e', '4,f'), 'id integer, v text', [ '1|a', '2|c', '3|e', '4|f' ], ['quotes:quotes that its value does not need'], hint => [ 'quotes', 'id integer, v text', [ '1|a', '2|"c"', '3|e', '4|f' ], [] ]);
doubt('quotes that would join lines', lines('id,v', '1,a', '2,"b', '3,c', '4,d"', '5,e'), 'id integer, v text', [ '1|a', '2|"b', '3|c', '4|d"', '5|e' ], ['quotes_off'], hint => [ 'quotes_off', 'id integer, v text', [ '1|a', "2|b\n3,c\n4,d", '5|e' ], [] ]);
doubt('quotes in quotes', lines('id,v', '1,"a "b" c"', '2,"d"', '3,"e, f"', '4,"g, h"'), 'id integer, v text', [ '2|d', '3|e, f', '4|g, h' ], ['errors'], hint => [ 'errors', 'id integer, v text', [ '1|a "b" c', '2|d', '3|e, f', '4|g, h' ], [] ]);
doubt('apostrophes beside JSON', lines('id;who;json', map { "$_;'N$_';\"{\"\"a\"\": $_}\"" } 1 .. 3), 'id integer, who text, json text', [ map { "$_|'N$_'|{\"a\": $_}" } 1 .. 3 ], []);
doubt('apostrophes beside a quoted comma', lines('id,word,label', "1,'a',x y", "2,'b',g", "3,'c',\"d, x\""), 'id integer, word text, label text', [ "1|'a'|x y", "2|'b'|g", "3|'c'|d, x" ], []);
doubt('apostrophes beside line breaks', "who,pair,note\n'Lee',eps;Jones,\"line\nbreak\"\n'Lee',zeta;beta,N/A\n", 'who text, pair text, note text', [ "'Lee'|eps;Jones|line\nbreak", "'Lee'|zeta;beta|N/A" ], ['header'], hint => [ 'header', 'column_1 text, column_2 text, column_3 text', [ 'who|pair|note', "'Lee'|eps;Jones|line\nbreak", "'Lee'|zeta;beta|N/A" ], [] ]);
doubt('other quotes in the second file', { '1.csv' => lines('id,a', '1,x', '3,w'), '2.csv' => lines('id,a', "2,'y'", "4,'z'") }, 'id integer, a text', [ '1|x', '3|w', "2|'y'", "4|'z'" ], []);
doubt('a quote that does not close', lines(map { "$_\tw$_" } 1 .. 9000) . lines("7\t\"open\tx", map { "$_\tw" } 1 .. 100), 'column_1 integer, column_2 text', [ '9100 rows', "1|w1", '100|w' ], ['errors']);
doubt('backslashes of paths', lines("id\tpath\tn", "1\tC:\\new\t\\N", "2\tC:\\temp\t5"), 'id integer, path text, n integer', [ "1|C:\new|~", "2|C:\temp|5" ], ['escapes'], options => { format => 'text' },
	hint => [ 'escapes', 'id integer, path text, n integer', [ "1|C:\\new|~", "2|C:\\temp|5" ], [] ]);
my $escaped = lines(map { "$_\ta\\tb\t\\N" } 1 .. 1499);
doubt('tabs and line breaks only', $escaped . lines("1500\tc\\nd\t5"), 'column_1 integer, column_2 text, column_3 integer', [ '1500 rows', "1|a\tb|~", "1500|c\nd|5" ], ['escapes'], options => { format => 'text' });
doubt('a backslash that is doubled', $escaped . lines("1500\tc\\\\d\t5"), 'column_1 integer, column_2 text, column_3 integer', [ '1500 rows', "1|a\tb|~", '1500|c\\d|5' ], [], options => { format => 'text' });
doubt('a late backslash of none of COPY\'s escapes', $escaped . lines("1500\tc\\d\t5"), 'column_1 integer, column_2 text, column_3 integer', [ '1500 rows', "1|a\\tb|~", '1500|c\\d|5' ], [], options => { format => undef });
doubt('blanks before a column', lines('1, a,5', '2,  b,6', '3, c,7'), 'column_1 integer, column_2 text, column_3 integer', [ '1|a|5', '2|b|6', '3|c|7' ], ['trim'], options => { trim => 'true' }, hint => [ 'trim', 'column_1 integer, column_2 text, column_3 integer', [ '1| a|5', '2|  b|6', '3| c|7' ], [] ]);
doubt('blanks below a header without', lines('id,txt,n', '1, a,5', '2,  b,6', '3, c,7'), 'id integer, txt text, n integer', [ '1|a|5', '2|b|6', '3|c|7' ], ['trim'], hint => [ 'trim', 'id integer, txt text, n integer', [ '1| a|5', '2|  b|6', '3| c|7' ], [] ]);
doubt('blanks below a header with blanks', lines('id, txt, n', '1, a, 5', '2, b, 6', '3, c, 7'), 'id integer, txt text, n integer', [ '1|a|5', '2|b|6', '3|c|7' ], [], options => { trim => 'true' });
doubt('blanks in a few values', lines('id,txt', '1, a', '2,b', '3,c'), 'id integer, txt text', [ '1| a', '2|b', '3|c' ], [], options => { trim => undef });

# ---- headers, comments, footers ----

doubt('one line of words', lines('Ann,Bonn,Berlin'), 'ann text, bonn text, berlin text', [], ['header'], hint => [ 'header', 'column_1 text, column_2 text, column_3 text', ['Ann|Bonn|Berlin'], [] ]);
my @data = ([ qw(DE89370400440532013000 GB29NWBK60161331926819 FR1420041010050500013M02606) ], [ qw(ja nein nein) ], [ qw(63892fc e72eb6d 3284314 2258e56) ], [ '2024-01-05T10:00:00.123456789Z', '2024-01-05T10:00:00.1Z' ]);
for my $values (@data)
{
	my $type = $values->[0] =~ /Z$/ ? 'timestamptz' : 'text';
	my @below = @$values[ 1 .. $#$values ];

	@below = ('2024-01-05 10:00:00.1+00') if $type ne 'text';
	my $name = lc($values->[0] =~ s/\W/_/gr =~ s/^(?=\d)/_/r);
	doubt("$values->[0] as a name", lines(@$values), "$name $type", \@below, ['header'], hint => [ 'header', 'column_1 text', $values, [] ]);
}
doubt('plans of jobs', lines('39 1 * * *;12f2af4', '1 3 * * *;2348583'), '_39_1 text, _12f2af4 integer', ['1 3 * * *|2348583'], ['header'], hint => [ 'header', 'column_1 text, column_2 text', [ '39 1 * * *|12f2af4', '1 3 * * *|2348583' ], ['delimiter'] ]);
for my $values ([qw(316148410X 0306406152 1861978766 316148410X)], [ 'AB100,1.0.0', 'AB2,1.2.10', 'AB33,10.2' ], [ 'medium,151.206.162.227', 'medium,60.98.235.20', 'high,162.73.235.29' ])
{
	doubt("$values->[0] is no name", lines(@$values), join(', ', map { "column_$_ text" } 1 .. split /,/, $values->[0]), [ map { s/,/|/r } @$values ], []);
}
for my $values ([ 'Q1,Q2,Q3', 'A1,A2,A1', 'A2,A2,A3' ], [ 'id1,id2', 'ab12,cd34', 'ef56,gh78' ], [ 'TEAM1,TEAM2', 'GER1,FRA2', 'ITA1,ESP2' ])
{
	my @rows = map { s/,/|/gr } @$values;

	doubt("$values->[0] above codes", lines(@$values), join(', ', map { "column_$_ text" } 1 .. split /,/, $values->[0]), \@rows, ['no_header'],
		hint => [ 'no_header', join(', ', map { lc($_) . ' text' } split /,/, $values->[0]), [ @rows[ 1, 2 ] ], [] ]);
}
for my $names ('Name,CO2,City', 'name,phone2,city', 'Name,Ort,2024')
{
	my @names = map { lc s/^(?=\d)/_/r } split /,/, $names;

	doubt("$names, an empty column", lines($names, $names =~ /2024/ ? ('Ann,Ulm,', 'Bob,Kiel,') : ('Ann,,Ulm', 'Bob,,Kiel')), join(', ', map { "$_ text" } @names), $names =~ /2024/ ? [ 'Ann|Ulm|~', 'Bob|Kiel|~' ] : [ 'Ann|~|Ulm', 'Bob|~|Kiel' ], ['header']);
}
doubt('an empty record below the name, above numbers', lines('v', '', 1, 2, 3), 'v integer', [ '~', 1, 2, 3 ], []);
doubt('an empty record below the name, above codes', lines('sku', '', 'A-1', 'B-22', 'C-7'), 'sku text', [ '~', 'A-1', 'B-22', 'C-7' ], ['header']);
doubt('empty quotes below the name', lines('name', '""', 'DE31', 'DE98x', 'DE72'), 'name text', [ '', 'DE31', 'DE98x', 'DE72' ], ['header'], hint => [ 'header', 'column_1 text', [ 'name', '', 'DE31', 'DE98x', 'DE72' ], [] ]);
doubt('empty quotes in the first line', lines('""', 1, 2, 3), 'column_1 integer', [ '~', 1, 2, 3 ], []);
doubt('units below years', lines('geo;2022;2023', ';Anzahl;Anzahl', 'Kiel;5;6', 'Ulm;7;8'), 'geo text, _2022_anzahl integer, _2023_anzahl integer', [ 'Kiel|5|6', 'Ulm|7|8' ], [], options => { header_rows => 2 });
doubt('records that are shorter than the header', lines('id,v,w', '1,2', '2,3', '3,4,5'), 'id integer, v integer', [ '1|2', '2|3' ], [ 'names', 'errors' ], hint => [ 'names', 'id integer, v integer, w integer', [ '1|2|~', '2|3|~', '3|4|5' ], [] ]);
doubt('names of rows', lines('A,B,C', 'A,0,1,1', 'B,1,0,0', 'C,1,0,0'), 'column_1 text, a integer, b integer, c integer', [ 'A|0|1|1', 'B|1|0|0', 'C|1|0|0' ], ['first_name'], alter => [ 'ALTER FOREIGN TABLE f RENAME c TO d; ALTER FOREIGN TABLE f RENAME column_1 TO c', [ 'A|0|1|1', 'B|1|0|0', 'C|1|0|0' ] ]);
doubt('a source below the data', lines('year,v', '2021,6', 'Source: office', '"Note: x, y"'), 'year integer, v integer', ['2021|6'], ['left_out:2 lines below the data ("Source: office")'], options => { footer_rows => 2 });
doubt('two tables', "Page,Views,Rate\n/,1,45.5%\n/a,34,10.0%\n\nDay,Views\n1/1/24,500\n1/2/24,768\n", 'page text, views integer, rate text', [ '/|1|45.5%', '/a|34|10.0%' ], [ 'left_out:3 lines below the data', 'looks_like:has a percent sign' ]);
doubt('numbers of rows that begin as comments', lines('Name,Phone2', '#1001,+18 7205187704', '#1002,+7 6311275567', '#1003,+98 688519264'), 'name text, phone2 text', [ '#1001|+18 7205187704', '#1002|+7 6311275567', '#1003|+98 688519264' ], ['header'], options => { comment => undef });
my $commented = "# made by x\nid,v\n" . lines(map { "$_,w$_" } 1 .. 30000) . "#7,x\n";
doubt('a late row that begins as a comment', $commented, 'id integer, v text', [ '30000 rows', '30000|w30000' ], [ 'comment:# made by x', 'comment_row:#7,x' ], options => { comment => '#' });
doubt('a row that begins as a comment, text', "id,v\n# made by x\n" . lines(map { "a$_,w$_" } 1 .. 30000) . "#7,x\n", 'id text, v text', ['30000 rows'], [ 'comment', 'comment_row' ], hint => [ 'comment_row', 'id text, v text', [ '30001 rows', '#7|x' ], ['errors'] ]);
doubt('a second file of such rows', { '1.csv' => lines('# note', 'id,v', '1,2'), '2.csv' => lines('id,v', '#3,4', '#5,6') }, 'id integer, v integer', ['1|2'], [ 'comment:# note', 'comment_row:#3,4' ], hint => [ 'comment_row', 'id text, v text', [ '4 rows', '1|2', '#3|4' ], [ 'few', 'headers', 'left_out' ] ]);
doubt('names in a comment', lines('#Version: 1.0', '#Fields: date time x-edge', "2024-01-01\t00:00:01\tFRA2", "2024-01-01\t00:00:02\tFRA2"), 'date date, time time, x_edge text', [ '2024-01-01|00:00:01|FRA2', '2024-01-01|00:00:02|FRA2' ], ['comment:#Version']);
doubt('names in a comment, by blanks', lines('# x y z', '1.0 2.0 3.0', '4.0 5.0 6.0'), 'x numeric, y numeric, z numeric', [ '1.0|2.0|3.0', '4.0|5.0|6.0' ], []);
doubt('header match, names of the header', lines('id,v', '1,2'), 'id integer, v integer', ['1|2'], [], import => q{header 'match'}, options => { header => 'match' });
doubt('header match, other names', lines('Order ID,v', '1,2'), 'order_id integer, v integer', ['1|2'], ['match'], import => q{header 'match'}, options => { header => 'true' },
	alter => [ q{ALTER FOREIGN TABLE f RENAME order_id TO "Order ID"; ALTER FOREIGN TABLE f OPTIONS (SET header 'match')}, ['1|2'] ]);

# ---- numbers and dates ----

my @text = ('ALTER FOREIGN TABLE f ALTER ', ' TYPE text');
my $kurs = lines('kurs;betrag', '1.085;1.005,50', '1.092;6,50');
doubt('rates beside amounts', $kurs, 'kurs integer, betrag numeric', [ '1085|1005.50', '1092|6.50' ], ['thousands:column "kurs"'], alter => [ join('kurs', @text), [ '1.085|1005.50', '1.092|6.50' ] ]);
doubt('versions beside amounts', lines('version;betrag', '4.100;1.000,50', '4.200;2,5'), 'version integer, betrag numeric', [ '4100|1000.50', '4200|2.5' ], ['thousands:column "version"'], alter => [ join('version', @text), [ '4.100|1000.50', '4.200|2.5' ] ]);
doubt('places beside amounts', lines('lat,lon,preis', '52.123,13.404,"1.005,50"', '48.856,2.352,"6,50"'), 'lat integer, lon integer, preis numeric', [ '52123|13404|1005.50', '48856|2352|6.50' ], [ 'thousands:column "lat"', 'thousands:column "lon"' ],
	alter => [ join('lat', @text) . ', ' . join('lon', 'ALTER ', ' TYPE text'), [ '52.123|13.404|1005.50', '48.856|2.352|6.50' ] ]);
my @dots = map { sprintf '%d.%03d', $_ % 7 + 1, $_ } 0 .. 499;
doubt('a late decimal comma', lines('id;v', (map { "$_;$dots[$_]" } 0 .. 499), '500;2,5'), 'id integer, v numeric', [ '501 rows', '0|1000', '499|3499', '500|2.5' ], ['thousands']);
doubt('a late decimal comma in another column', lines('id,v,w', (map { "$_,$dots[$_]," } 0 .. 499), '500,,"1.234,5"'), 'id integer, v integer, w numeric', [ '501 rows', '0|1000|~', '500|~|1234.5' ], ['thousands']);
doubt('the same in the second file', { '1.csv' => lines('id,lat,p', '1,52.123,5'), '2.csv' => lines('id,lat,p', '2,48.856,"1.234,5"') }, 'id integer, lat integer, p numeric', [ '1|52123|5', '2|48856|1234.5' ], ['thousands']);
doubt('lists that look like numbers', lines('user,groups', 'ann,"1,5"', 'bob,"10,12"', 'cy,"7,8"'), 'user_ text, groups numeric', [ 'ann|1.5', 'bob|10.12', 'cy|7.8' ], ['decimal'], alter => [ join('groups', @text), [ 'ann|1,5', 'bob|10,12', 'cy|7,8' ] ]);
doubt('commas beside points, in two columns', lines('1,"1,5",0.5', '2,"2,25",1.5', '3,"10",2.5'), 'column_1 integer, column_2 text, column_3 numeric', [ '1|1,5|0.5', '2|2,25|1.5', '3|10|2.5' ], ['looks_like:"1,5" has other separators than numbers of the table.']);
doubt('commas beside points, in one column', lines('id;v', '1;1,5', '2;2,25', '3;1.5'), 'id integer, v text', [ '1|1,5', '2|2,25', '3|1.5' ], ['looks_like:"1.5" has other separators than other values.']);
doubt('a late percent sign', lines('id,v', map { $_ < 500 ? "$_,$_" : "$_,5%" } 1 .. 500), 'id integer, v text', [ '500 rows', '500|5%' ], ['looks_like:"5%" has a percent sign.']);
my $late = lines('id,v', map { $_ < 1500 ? "$_,$_" : "$_,n.d." } 1 .. 1500);
doubt('a late word', $late, 'id integer, v text', [ '1500 rows', '1|1', '1500|n.d.' ], ['few:1499 of 1500 values are numbers, "n.d." (line 1501) is not'], alter => [ q{ALTER FOREIGN TABLE f ALTER v TYPE int, OPTIONS (ADD on_error 'set_null')}, [ '1500 rows', '1|1', '1500|~' ] ]);
doubt('a late word, skipped', $late, 'id integer, v text', ['1500 rows'], ['few'], alter => [ 'ALTER FOREIGN TABLE f ALTER v TYPE int', [ '1499 rows', '1499|1499' ] ]);
doubt('a late word, as NULL', $late, 'id integer, v integer', [ '1500 rows', '1|1', '1500|~' ], [], import => q{null_values '{n.d.}'});
doubt('words for missing values behind many texts', lines('id,v', (map { "$_,w$_" } 1 .. 1200), '1201,NA', '1202,n/a'), 'id integer, v text', [ '1202 rows', '1201|NA', '1202|n/a' ], []);
doubt('the same, beside a column of numbers', lines('v,n', (map { "w$_,$_" } 1 .. 1200), 'NA,NA', 'n/a,5'), 'v text, n integer', [ '1202 rows', 'NA|~', 'n/a|5' ], []);
doubt('thousands or not', lines('id;v', '1;1.234', '2;15.678'), 'id integer, v text', [ '1|1.234', '2|15.678' ], ['either'], hint => [ 'either', 'id integer, v numeric', [ '1|1.234', '2|15.678' ], [] ]);
doubt('thousands, as said', lines('id;v', '1;1.234', '2;15.678'), 'id integer, v integer', [ '1|1234', '2|15678' ], [], import => q{thousands_separator '.', decimal_separator ','});
doubt('thousands in quotes', lines('id,v', '1,"1,234"', '2,"15,678"'), 'id integer, v integer', [ '1|1234', '2|15678' ], ['thousands'], hint => [ 'thousands', 'id integer, v numeric', [ '1|1.234', '2|15.678' ], [] ]);
doubt('numbers for missing values', lines('id,v', map { "$_," . ($_ % 2 ? -999 : $_) } 1 .. 8), 'id integer, v integer', [ map { "$_|" . ($_ % 2 ? '~' : $_) } 1 .. 8 ], ['null_numbers'], alter => [ q{ALTER FOREIGN TABLE f ALTER v OPTIONS (SET null_values '{}')}, [ map { "$_|" . ($_ % 2 ? -999 : $_) } 1 .. 8 ] ]);
doubt('months first', lines('id,d', '1,01/02/2024', '2,03/04/2024'), 'id integer, d date', [ '1|2024-01-02', '2|2024-03-04' ], ['order:month-first'], alter => [ q{ALTER FOREIGN TABLE f OPTIONS (SET date_format 'DD/MM/YYYY')}, [ '1|2024-02-01', '2|2024-04-03' ] ]);
doubt('days first', lines('id;d', '1;01/02/2024', '2;03/04/2024'), 'id integer, d date', [ '1|2024-02-01', '2|2024-04-03' ], ['order:day-first'], alter => [ q{ALTER FOREIGN TABLE f OPTIONS (SET date_format 'MM/DD/YYYY')}, [ '1|2024-01-02', '2|2024-03-04' ] ]);
doubt('years to come', lines('id;d', '1;31.12.24', '2;30.11.45'), 'id integer, d date', [ '1|2024-12-31', '2|2045-11-30' ], [ 'dates', 'years' ], alter => [ 'ALTER FOREIGN TABLE f ALTER d TYPE text, OPTIONS (DROP date_format)', [ '1|31.12.24', '2|30.11.45' ] ]);
my @forms = ([ '13/01/2024', '01/13/2024', '"13/01/2024" has the day first, and "01/13/2024" the month.' ], [ '2024-01-05', '31.12.2024', '"31.12.2024" has another form than other dates.' ], [ '25/12/2024', '2024-12-25', '"25/12/2024" has another form than other dates.' ]);
for my $form (@forms)
{
	my ($one, $other, $why) = @$form;

	doubt("$one beside $other", lines('id,d', "1,$one", "2,$other"), 'id integer, d text', [ "1|$one", "2|$other" ], ["looks_like:$why"]);
	doubt("$one beside $other, late", lines('id,d', (map { "$_,$one" } 1 .. 1500), "1501,$other"), 'id integer, d text', [ '1501 rows', "1|$one", "1501|$other" ], ["looks_like:$why"]);
	doubt("$one beside $other, in two files", { '1.csv' => lines('id,d', "1,$one"), '2.csv' => lines('id,d', "2,$other") }, 'id integer, d text', [ "1|$one", "2|$other" ], ["looks_like:$why"]);
}
my $refs = lines('id,ref', '1,10/2/13', '2,14/5/16', '3,27/8/19');
doubt('a reference that may be a date', $refs, 'id integer, ref text', [ '1|10/2/13', '2|14/5/16', '3|27/8/19' ], ['looks_like:"10/2/13" may be a date of several orders, or a version.']);
doubt('a reference that is a date', $refs, 'id integer, ref date', [ '1|2013-02-10', '2|2016-05-14', '3|2019-08-27' ], [], import => q{date_format 'DD/MM/YY'});
doubt('a score', lines('id,score', '1,10-12-11', '2,21-10-12'), 'id integer, score date', [ '1|2011-12-10', '2|2012-10-21' ], ['dates'], alter => [ q{ALTER FOREIGN TABLE f ALTER score TYPE text, OPTIONS (DROP date_format)}, [ '1|10-12-11', '2|21-10-12' ] ]);
doubt('a version', lines('id,ver', '1,12.19.13'), 'id integer, ver date', ['1|2013-12-19'], ['dates'], alter => [ q{ALTER FOREIGN TABLE f ALTER ver TYPE text, OPTIONS (DROP date_format)}, ['1|12.19.13'] ]);
doubt('versions', lines('id,version', '1,2024.1.5', '2,2024.12.31'), 'id integer, version text', [ '1|2024.1.5', '2|2024.12.31' ], ['looks_like:"2024.1.5" has another form than other dates.']);
doubt('a zone in the second file', { '1.csv' => lines('id,t', '1,2024-01-01T00:00:00'), '2.csv' => lines('id,t', '2,2024-01-01T00:00:00Z') }, 'id integer, t text', [ '1|2024-01-01T00:00:00', '2|2024-01-01T00:00:00Z' ], ['looks_like:has a time zone']);

# ---- encodings ----

my $long = lines(map { "$_,name of $_" } 1 .. 24000);
my $euro = lines(map { "$_,\xc3\xa4$_" } 1 .. 20000);
my $invalid = sub { lines(map { "9000$_,a$_[0]b" } 1 .. $_[1]) };
doubt('a few bytes that are not valid, late', lines('id,v') . $long . $euro . $invalid->("\xff", 3), 'id integer, v text', [ '44000 rows', "7|\xc3\xa47" ], ['errors:Other values beyond ASCII are valid'], options => { encoding => 'UTF8' });
doubt('one in the first line', lines('id,v') . $invalid->("\xff", 1) . $long . $euro, 'id integer, v text', [ '44000 rows', "7|\xc3\xa47" ], ['errors:Other values beyond ASCII are valid'], options => { encoding => 'UTF8' });
doubt('only such bytes, late', lines('id,v') . $long . $invalid->("\xe4", 3), 'id integer, v text', [ '24003 rows', "90001|a\xc3\xa4b" ], ['encoding'], options => { encoding => 'WIN1252' });
doubt('only such bytes, late, which WIN1252 does not have', lines('id,v') . $long . $invalid->("\x81", 3), 'id integer, v text', [ '24003 rows', "90001|a\xc2\x81b" ], ['encoding:LATIN1'], options => { encoding => 'LATIN1' });
doubt('another encoding in the second file', { '1.csv' => lines('id,a', "1,K\xc3\xb6ln"), '2.csv' => lines('id,a', "2,D\xfcren") }, 'id integer, a text', ["1|K\xc3\xb6ln"], ['errors']);

# ---- folders ----

my @names = ([ 'A', 'a' ], [ 'a b', 'a_b' ], [ 'a-b', 'a_b' ], [ 'Price', 'price_' ], [ '\x', 'y' ]);
for my $pair (@names)
{
	my ($one, $other) = @$pair;
	my $name = lc $one =~ s/\W/_/gr;
	my $second = lc $other eq $name ? "${name}_2" : $other;

	$name = 'x' if $one eq '\x';
	doubt("names $one and $other in another order", { '1.csv' => lines("id,$one,$other", '1,2,3'), '2.csv' => lines("id,$other,$one", '4,5,6') }, "id integer, $name integer, $second integer", [ '1|2|3', '4|6|5' ], ['by_name']);
}
doubt('another order in a later file', { '1.csv' => lines('id,a,b', '1,2,3'), '2.csv' => lines('id,a,b,c', '4,5,6,7'), '3.csv' => lines('id,b,a', '7,8,9') }, 'id integer, a integer, b integer, c integer', [ '1|2|3|~', '4|5|6|7', '7|9|8|~' ], ['by_name']);
doubt('marks in some files', { '1.csv' => lines("\xef\xbb\xbfid,v", '1,5'), '2.csv' => lines('id,v', '2,6'), '3.csv' => lines("\xef\xbb\xbfv,id", '7,3') }, 'id integer, v integer', [ '1|5', '2|6', '3|7' ], ['by_name']);
doubt('another name', { '1.csv' => lines('id,customer', '1,Ann'), '2.csv' => lines('id,client', '2,Bob') }, 'id integer, customer text, client text', [ '1|Ann|~', '2|~|Bob' ], ['by_name'], hint => [ 'by_name', 'id integer, customer text', [ '1|Ann', '2|Bob' ], ['by_place'] ]);
doubt('no header in the second file', { '1.csv' => lines('name,city', 'Ann,Bonn'), '2.csv' => lines('Cy,Kiel', 'Di,Mainz') }, 'name text, city text, cy text, kiel text', [ 'Ann|Bonn|~|~', '~|~|Di|Mainz' ], [ 'header', 'by_name' ], hint => [ 'by_name', 'column_1 text, column_2 text', [ 'name|city', 'Ann|Bonn', 'Cy|Kiel', 'Di|Mainz' ], [] ]);
doubt('a sum below the second file', { '1.csv' => lines('id,a', '1,5', '2,7'), '2.csv' => lines('id,a', '3,6', '4,8', 'Total,14') }, 'id text, a integer', [ '1|5', '2|7', '3|6', '4|8', 'Total|14' ], [ 'footers', "few:\"Total\" (line 4 of \"$dir/" . ($ncases + 1) . '/f/2.csv")' ]);
doubt('a title above the second file', { '1.csv' => lines('id,a', '1,5', '2,7'), '2.csv' => lines('Report Feb', '', 'id,a', '3,6', '4,8') }, 'id text, a text', [ '1|5', '2|7', 'id|a', '3|6', '4|8' ], [ 'headers', 'few' ]);
doubt('a column without a name', { '1.csv' => lines('id,v', '1,2'), '2.csv' => lines('id,v,', '4,5,6') }, 'id integer, v integer', ['1|2'], [ 'by_place', 'errors' ]);
doubt('UTF-16 in the second file', { '1.csv' => lines('id,a', '1,x'), '2.csv' => join('', "\xff\xfe", map { "$_\0" } split //, "id,a\n2,y\n") }, 'id integer, a text', [ '1|x', '2|y' ], ['two_marks'], options => { encoding => undef });
my %keys = ('2024-01-05' => 'date', '01-02-2024' => 'text', '2024-02-30' => 'text', '1.10' => 'numeric', 'true' => 'boolean', '1e5' => 'text', '+1' => 'text', 'NULL' => 'text', 'a%20b' => 'text', '' => 'text', '2024-01-05 10%3A00%3A00' => 'timestamp');
for my $key (sort keys %keys)
{
	my $value = $key eq 'true' ? 't' : $key =~ s/%(..)/chr hex $1/ger;

	doubt("a key $key", { "k=$key/x.csv" => lines('id', 1) }, "id integer, k $keys{$key}", ["1|$value"], []);
}
doubt('the key of no value', { 'k=1/x.csv' => lines('id', 1), 'k=__HIVE_DEFAULT_PARTITION__/x.csv' => lines('id', 2) }, 'id integer, k integer', [ '1|1', '2|~' ], []);
doubt('a key beside a column of its name', { 'Year=2023/x.csv' => lines('id,year', '2,6'), 'Year=2024/x.csv' => lines('id,year', '1,5') }, 'id integer, year integer, year_2 integer', [ '2|6|2023', '1|5|2024' ], []);
for my $day ('31/12/2024', '31.12.2024', '12/31/2024')
{
	doubt("keys that are dates beside $day", { map { ("k=2024-01-0$_/x.csv" => lines('id,d,e', "$_,$day,$day")) } 5, 6 }, 'id integer, d date, e date, k date', [ map { "$_|2024-12-31|2024-12-31|2024-01-0$_" } 5, 6 ], []);
}
doubt('keys that are times beside others', { map { ("k=2024-01-0$_ 10%3A00%3A00/x.csv" => lines('id,t', "$_,31/12/2024 23:15:00")) } 5, 6 }, 'id integer, t timestamp, k timestamp', [ map { "$_|2024-12-31 23:15:00|2024-01-0$_ 10:00:00" } 5, 6 ], []);

if ($> != 0)
{
	doubt('a directory that cannot be read', { 'k=1/x.csv' => lines('id', 1), 'f.csv' => lines('id,v', '1,2') }, 'id integer, v integer', ['1|2'], [], locked => 'k=1');
}

# ---- patterns can be cancelled ----

mkdir "$dir/links" or die $!;
symlink '.', "$dir/links/l$_" or die $! for 0 .. 9;
write_file("$dir/links/x.csv", lines('id', 1));
my $session = new_session($node);
my $seconds = cpu_seconds($session->pid);
my ($out, $err) = $session->query("SET statement_timeout = '300ms'; SELECT count(*) FROM csv_gpu_sniff('$dir/links/*/*/*/*/*/*/x.csv')");
like($err, qr/canceling statement due to statement timeout/, 'a pattern of a million files: cancelled');
cmp_ok(cpu_seconds($session->pid) - $seconds, '<', 5, 'a pattern of a million files: at once');

finish();
