# Files as people have them.  Each is read in one statement after IMPORT FOREIGN SCHEMA,
# and whatever else a user has to say of it: all values come out, and nothing is skipped
# but what is broken.
use lib 'test/t';
use CsvServer;
use Encode qw(encode);
use File::Path qw(make_path);

my $nrecords = 500;
my $node = csv_server('real');
my $directory = new_folder();

# name, files and their contents; query, and its rows
# import: options of IMPORT; then: SQL before the query; errors: records that are broken
sub real
{
	my ($name, %file) = @_;
	my $schema = $name =~ s/\W/_/gr;
	my $path = "$directory/$schema";
	my $options = join ', ', 'directory ' . literal($path), "log_verbosity 'silent'", $file{import} // ();

	for my $relative (sort keys %{ $file{files} })
	{
		make_path("$path/" . $relative =~ s{[^/]*$}{}r);
		write_file("$path/$relative", $file{files}{$relative});
	}
	$node->safe_psql('postgres', "CREATE SCHEMA $schema; SET client_min_messages = error;
		IMPORT FOREIGN SCHEMA $schema FROM SERVER csv INTO $schema OPTIONS ($options);
		" . ($file{then} // ''));
	my @found = split /\n/, $node->safe_psql('postgres', "SET client_min_messages = error; SET search_path = $schema; $file{query}");
	my @expected = @{ $file{rows} };
	my ($wrong) = grep { ($found[$_] // 'none') ne ($expected[$_] // 'none') } 0 .. (@found > @expected ? @found : @expected);

	is(defined $wrong ? ($found[$wrong] // 'none') : '', defined $wrong ? ($expected[$wrong] // 'none') : '', "$name: its rows");
	is($node->safe_psql('postgres', "SELECT count(*) FROM csv_gpu_errors('$schema.$file{table}')"), $file{errors} // 0,
		"$name: nothing else is skipped") if $file{table};
	return;
}

sub many
{
	my ($line) = @_;

	return map { $line->($_) } 1 .. $nrecords;
}

# 1234567.8 as 1.234.567,80
sub german
{
	my ($number) = @_;
	my $text = sprintf('%.2f', $number);

	$text =~ s/\./,/;
	1 while $text =~ s/(\d)(\d{3})([.,])/$1.$2$3/;
	return $text;
}

sub lines
{
	return join '', map { "$_\n" } @_;
}

sub day { return sprintf('%02d', 1 + $_[0] % 28) }

# ---- a bank statement: preamble, footer, numbers and dates as in Germany, ISO-8859-1 ----

my @amounts = many(sub { ($_[0] * 7919 % 2000003 - 1000000) / 100 });
my $sum = 0;

$sum += $_ for @amounts;
real('bank statement',
	files => { 'statement.csv' => encode('iso-8859-1', join "\r\n",
		'Kontoauszug;', "Kontoinhaber;J\x{fc}rgen M\x{fc}ller", 'Zeitraum;01.01.2024 - 31.12.2024', '',
		"Buchungstag;Empf\x{e4}nger;Verwendungszweck;Betrag",
		map({ sprintf '%s.03.2024;Gesch%sft %d;"Einkauf; bar";%s', day($_), "\x{e4}", $_, german($amounts[ $_ - 1 ]) } 1 .. $nrecords),
		sprintf('Summe;;;%s', german($sum)), '') },
	table => 'statement',
	query => q{SELECT buchungstag, "empfänger", verwendungszweck, betrag FROM statement},
	rows => [ many(sub { sprintf '2024-03-%s|Geschäft %d|Einkauf; bar|%.2f', day($_[0]), $_[0], $amounts[ $_[0] - 1 ] }) ]);

# ---- a spreadsheet's export: UTF-16, tabs ----

real('spreadsheet',
	files => { 'sheet.tsv' => encode('UTF-16', join "\r\n", "Artikel\tGr\x{f6}\x{df}e\tPreis",
		many(sub { "\"\x{c4}rmel \"\"$_[0]\"\"\"\t$_[0]\t" . $_[0] / 4 }), '') },
	table => 'sheet',
	query => 'SELECT * FROM sheet',
	rows => [ many(sub { sprintf 'Ärmel "%d"|%d|%s', $_[0], $_[0], $_[0] / 4 }) ]);

# ---- a log: two bars between, one within ----

real('log',
	files => { 'server.csv' => lines many(sub { sprintf '2024-05-%s 10:00:%02d||%s||job %d|%d||done', day($_[0]), $_[0] % 60, $_[0] % 7 ? 'INFO' : 'WARN', $_[0], $_[0] }) },
	table => 'server',
	query => 'SELECT * FROM server',
	rows => [ many(sub { sprintf '2024-05-%s 10:00:%02d|%s|job %d|%d|done', day($_[0]), $_[0] % 60, $_[0] % 7 ? 'INFO' : 'WARN', $_[0], $_[0] }) ]);

# ---- sensors: -999 and NA ----

real('sensors',
	files => { 'sensors.csv' => lines 'time,temp,wind', many(sub {
		sprintf '2024-01-%s 00:00:00,%s,%s', day($_[0]), $_[0] % 9 ? $_[0] % 40 / 4 : '-999', $_[0] % 11 ? $_[0] % 12 : 'NA' }) },
	table => 'sensors',
	query => 'SELECT time::timestamp, temp::float8, wind FROM sensors',
	rows => [ many(sub { sprintf '2024-01-%s 00:00:00|%s|%s', day($_[0]), $_[0] % 9 ? $_[0] % 40 / 4 : '', $_[0] % 11 ? $_[0] % 12 : '' }) ]);

# ---- a file a year, whose columns moved ----

real('years',
	files => {
		'sales_2022.csv' => lines('shop,total', many(sub { "s$_[0],$_[0]" })),
		'sales_2023.csv' => lines('total,clerk,shop', many(sub { "$_[0],c,s$_[0]" })),
		'sales_2024.csv' => lines('clerk,shop,region,total', many(sub { "c,s$_[0],north,$_[0]" })) },
	then => "ALTER FOREIGN TABLE years.sales_2024 OPTIONS (SET filename '$directory/years/sales_*.csv', ADD by_name 'true')",
	table => 'sales_2024',
	query => "SELECT shop, region, clerk, total FROM sales_2024",
	rows => [ many(sub { "s$_[0]|||$_[0]" }), many(sub { "s$_[0]||c|$_[0]" }), many(sub { "s$_[0]|north|c|$_[0]" }) ]);

# ---- directories as Hive has them ----

real('hive',
	files => { map { my $month = $_; ("year=2024/month=$month/part.csv" => lines 'shop,total', many(sub { "s$_[0]," . $_[0] * $month })) } 1 .. 3 },
	table => 'hive',
	query => 'SELECT year, month, shop, total FROM hive WHERE month <> 2 ORDER BY month, total',
	rows => [ map { my $month = $_; many(sub { "2024|$month|s$_[0]|" . $_[0] * $month }) } 1, 3 ]);

# ---- milliseconds since 1970 ----

real('epochs',
	files => { 'clicks.csv' => lines 'at,page', many(sub { sprintf '%d,/p/%d', 1704067200000 + $_[0] * 1001, $_[0] }) },
	then => "ALTER FOREIGN TABLE epochs.clicks ALTER at TYPE timestamp, ALTER at OPTIONS (ADD timestamp_format 'epoch_ms')",
	table => 'clicks',
	query => "SELECT round((extract(epoch FROM at) * 1000)::numeric), page FROM clicks",
	rows => [ many(sub { sprintf '%d|/p/%d', 1704067200000 + $_[0] * 1001, $_[0] }) ]);

# ---- a survey: quotes within quotes, and a record that is broken ----

real('survey',
	files => { 'survey.csv' => lines 'id,answer,mark',
		many(sub { $_[0] % 5 ? "$_[0],\"fine\",3" : "$_[0],\"a 5\" pipe, \"or\" so\",1" }), '501,"no"x' },
	import => "quoting 'lenient'",
	table => 'survey',
	errors => 1,
	query => 'SELECT * FROM survey',
	rows => [ many(sub { $_[0] % 5 ? "$_[0]|fine|3" : "$_[0]|a 5\" pipe, \"or\" so|1" }) ]);

# ---- comments ----

real('comments',
	files => { 'rates.csv' => lines '# rates, as of today', '#', 'code,rate', many(sub { ($_[0] % 50 ? '' : "# checked, \"twice\n") . "C$_[0]," . $_[0] / 8 }) },
	table => 'rates',
	query => 'SELECT code, rate::float8 FROM rates',
	rows => [ many(sub { "C$_[0]|" . $_[0] / 8 }) ]);

# ---- the data of a dump ----

$node->safe_psql('postgres', q{CREATE TABLE dumped (id int, note text, at timestamptz);
	INSERT INTO dumped SELECT g, CASE g % 4 WHEN 0 THEN NULL WHEN 1 THEN E'a\tb\\\\c' WHEN 2 THEN E'two\nlines' ELSE 'plain' END, '2024-01-01 00:00+00' FROM generate_series(1, 500) g;
	COPY dumped TO '} . "$directory/dumped'");
my $data = slurp_file("$directory/dumped");
real('dump',
	files => { 'dumped.tsv' => "$data\\.\n" },
	table => 'dumped',
	query => 'SELECT count(*) FROM dumped f JOIN public.dumped d ON f.*::text = d.*::text',
	rows => [ 500 ]);

finish();
