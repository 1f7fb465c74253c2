# Files of the shapes in which tables are published: preambles, headers of several
# rows, sections, footers, comments, words for missing values, dates in the orders of
# the world, separators of thousands, delimiters of all kinds, 8-bit encodings.  Of each, csv_gpu_sniff() must
# find the delimiter, where the data begins and, where that is said, names, types
# and options; and a table made of it by IMPORT holds as many records.
use lib 'test/t';
use CsvServer;

my $node = csv_server('shapes');
my $dir = new_folder();

# name => [content, delimiter, header_rows, what else]: names and types, joined by
# blanks, and the options null_values, date_format, timestamp_format,
# thousands_separator, decimal_separator, encoding, comment, footer_rows, trim, format, quote; said: a pattern of the NOTICEs
my @shapes;

sub shape
{
	my ($name, $content, $delimiter, $header_rows, %more) = @_;

	push @shapes, { name => $name, content => $content, delimiter => $delimiter, header_rows => $header_rows, %more };
	return;
}

sub rows
{
	my ($n, $line) = @_;

	return join '', map { $line->($_) . "\n" } 1 .. $n;
}

# ---- no preamble ----

shape('plain', "id,name,amount\n1,Ann,2.5\n2,Bob,3\n", ',', 1, names => 'id name amount', types => 'integer text numeric');
shape('no header', "1,Ann,2.5\n2,Bob,3\n3,Eve,7\n", ',', 0);
shape('no header, dates', "2024-01-02;5,5\n2024-01-03;6,1\n", ';', 0, decimal_separator => ',');
shape('one record', "station;value\nOslo;3,4\n", ';', 1, names => 'station value');
shape('text only', "code,label,comment\nA,Apple pie,\"good, cheap\"\nB,Pear,fine\nC,Plum,\"old, blue\"\n", ',', 1, names => 'code label comment');
shape('text only, no header', "red,apple\ngreen,pear\nred,plum\nred,apple\n", ',', 0);
shape('one column', "name\nAnn\nBob\nEve\n", ',', 1, names => 'name');
shape('one column of prose', "remark\nIt was cold, and wet.\nFine\nNobody came, nobody went, nobody cared\nAll well\nSnow\nRain, then sun\nWind\n", "\t", 1, names => 'remark');
shape('one column of numbers', "12\n15\n18\n", ',', 0);
shape('header only', "id,name,amount\n", ',', 1);
shape('decimal commas, many columns', "a;b;c;d\n1,5;2,5;3,5;4,5\n1,6;2,6;3,6;4,6\n", ';', 1, decimal_separator => ',');
shape('tabs, commas in text', "id\tplace\tnote\n1\tBonn, Bad Godesberg\tx\n2\tKiel, Nord\ty\n", "\t", 1);
shape('bars', "sku|descr|price\nA-1|nuts, bolts; nails|1.50\nA-2|glue; tape, rope|2.00\n", '|', 1, types => 'text text numeric');
shape('years as header', "Country,1990,2000,2010,2020\nNorway,4.2,4.5,4.9,5.4\nSweden,8.6,8.9,9.4,10.4\n", ',', 1);
shape('years as header, integers', "region;2019;2020;2021\nNord;10;11;12\nSyd;20;21;22\n", ';', 1);
shape('lines of text in quotes', "id,note\n1,\"first\nsecond, line\"\n2,\"a\n\nb\"\n3,c\n", ',', 1);
shape('delimiter at the end of records', "date;temp;\n2024-01-01;3;\n2024-01-02;4;\n", ';', 1);
shape('records longer than the header', "date;temp\n2024-01-01;3;\n2024-01-02;4;\n2024-01-03;5;\n", ';', 1);
shape('excel separator', "sep=;\nItem;Price\nCheese;12,50\nOven;8,25\n", ';', 2, names => 'item price');
shape('log export', "2024-03-01 10:00:01,123|INFO|main|started, ok\n2024-03-01 10:00:02,456|WARN|worker|slow; retry, later\n2024-03-01 10:00:09,001|INFO|main|done\n", '|', 0);
shape('apostrophes', "id,name\n1,'a, b'\n2,'c'\n", ',', 1);

# ---- preambles with fewer fields ----

shape('title and blank line', "Population by region\n\nregion,population\nNorth,1200\nSouth,3400\n", ',', 3, names => 'region population');
shape('title, date, blank line', "Report of sales\nGenerated: 2024-05-01 10:00\n\nday,shop,total\n2024-04-30,A,10.5\n2024-04-30,B,12\n", ',', 4);
shape('prose with commas', "Rainfall, monthly, all stations\nSource: Weather service, Oslo, Norway\n\nstation;month;rain\nBlindern;2024-01;44,1\nBlindern;2024-02;30,5\nBlindern;2024-03;12,0\n", ';', 4, decimal_separator => ',');
shape('title without blank line', "Deaths by cause\ncause,year,deaths\nheart,2020,100\nlung,2020,50\n", ',', 2, names => 'cause year deaths');
shape('key and value, two fields', "Station:,Oslo\nLatitude:,59.9\nLongitude:,10.7\nElevation:,94\n\ndate,temperature,wind\n2024-01-01,1.5,3\n2024-01-02,2.5,4\n", ',', 6, names => 'date temperature wind');
shape('key and value, as wide as the table', "Station,Oslo\nElevation,94 m\nSensor,T-100\n\ndate,temperature\n2024-01-01,1.5\n2024-01-02,2.5\n2024-01-03,1.5\n", ',', 5, names => 'date temperature');
shape('key and value by colon', "Instrument: Spectro 2000\nOperator: lab 3\nDate: 12/03/2024\nMethod: A, B and C\n\nWavelength (nm)\tAbsorbance\n400.0\t0.123\n401.0\t0.125\n402.0\t0.130\n", "\t", 6);
shape('bank statement', "\"Konto\";\"DE00 1234\"\n\"Von\";\"01.01.2024\"\n\"Bis\";\"31.01.2024\"\n\n\"Buchungstag\";\"Empfaenger\";\"Verwendungszweck\";\"Betrag\"\n\"31.01.2024\";\"Laden, Bonn\";\"Einkauf; bar\";\"-12,50\"\n\"15.01.2024\";\"Firma\";\"Gehalt\";\"2.500,00\"\n",
	';', 5, date_format => 'DD.MM.YYYY', decimal_separator => ',', thousands_separator => '.');
shape('24 lines, 5 records', rows(23, sub { "Note $_[0]: values are estimates, see the handbook" }) . "\nyear;men;women\n2019;1;2\n2020;2;3\n2021;3;4\n2022;5;5\n2023;6;6\n", ';', 25);
shape('24 lines, 1 record', rows(23, sub { "Line $_[0] of the notes" }) . "\nid,amount,when\n1,2.5,2024-01-01\n", ',', 25);
shape('quotes in the preamble', "Screens of 24\" and 27\"\n\"All\" prices, with tax\n\nmodel,size,price\nA,24,100\nB,27,120\n", ',', 4);
shape('lines of a quoted preamble', "\"Notes:\nfirst; second, third\nend\"\n\nid;x;y\n1;2;3\n2;3;4\n", ';', 3);
shape('preamble, no header', "Export of sensor 7\nbegin 10:00\n\n1,0.5,0.25\n2,0.6,0.35\n3,0.7,0.45\n", ',', 3);
shape('preamble, then text only', "List of contacts\n\nname,street,city\nAnn,High St,Leeds\nBob,Low Rd,York\nEve,Mill Ln,Hull\n", ',', 3, names => 'name street city');
shape('blank lines first', "\n\nname,n\nx,1\ny,2\n", ',', 3);
shape('bom and title', "\xef\xbb\xbfTitel\n\nNavn;Antal\nA;1\nB;2\n", ';', 3);
shape('crlf, preamble', "Meter readings\r\nUnit: kWh\r\n\r\nmeter,from,to\r\n17,1.5,2.5\r\n18,2,3\r\n", ',', 4);
shape('two blank lines', "Title\n\nSub-title\n\n\na,b,c\n1,2,3\n4,5,6\n", ',', 6);
shape('preamble by the table\'s delimiter, narrower', "Data Source,World Development Indicators,\n\nLast Updated Date,2024-03-28,\n\n\"Country Name\",\"Country Code\",\"1960\",\"1961\",\"1962\",\n\"Aruba\",\"ABW\",\"54608\",\"55811\",\"56682\",\n\"Kenya\",\"KEN\",\"\",\"7\",\"8\",\n\"Chad\",\"TCD\",\"3\",\"4\",\"5\",\n", ',', 5);
shape('oscilloscope', "Record Length,5000,Points\nSample Interval,0.001,Sec\nTrigger,Auto\n\nTIME,CH1,CH2\n0.000,0.10,0.5\n0.001,0.12,0.6\n0.002,0.15,0.6\n0.003,0.11,0.7\n", ',', 5);
shape('version lines', "#DEVICE LOGGER v1.2\n[Channel 1]\nname=probe;unit=C\n[Data]\nIndex;Time;Value\n1;10:00:00;21.5\n2;10:00:10;21.6\n3;10:00:20;21.7\n", ';', 4, comment => '#');

# ---- preambles padded to the table's width ----

shape('padded title', "Population,,\n,,\nregion,men,women\nNorth,1,2\nSouth,3,4\n", ',', 3, names => 'region men women');
shape('padded notes', "Title of the table;;;\nSource: office;;;\nUnit: persons;;;\n;;;\nCode;Name;2019;2020\n01;North;10;12\n02;South;14;15\n03;East;9;9\n", ';', 5);
shape('padded, text only', "Staff list,,\nas of May,,\nname,role,room\nAnn,chief,A one\nBob,clerk,B two\nEve,clerk,A one\n", ',', 3, names => 'name role room');
shape('padded key and value', "Bank:,First,,\nAccount:,123,,\nPeriod:,2024,,\n,,,\nDate,Text,Debit,Credit\n2024-01-02,Rent,500.00,\n2024-01-03,Wages,,1500.00\n2024-01-04,Food,20.10,\n", ',', 5, names => 'date text debit credit');
shape('key and value, padded', "Station,Oslo,\nFrom,2024-01-01,\nid,name,v\n1,a,1.5\n2,b,2.5\n3,c,3.5\n4,d,4.5\n5,e,5.5\n", ',', 3, names => 'id name v');
shape('key and value, padded, account', "Konto;DE12;;\nZeitraum;2024;;\nSaldo;5,00;;\nDatum;Text;Betrag;W\n" . rows(5, sub { "0$_[0].02.2024;Miete;-$_[0],00;EUR" }), ';', 4, names => 'datum text betrag w');
shape('a name missing, a value too', "id,name,\nfoo,bar,\n" . rows(5, sub { "$_[0],a,$_[0]" }), ',', 1);
shape('a name missing, a value that fits', "id,name,\n7,bar,\nfoo,bar,baz\n" . rows(5, sub { "$_[0],a,$_[0]" }), ',', 1);

# ---- headers of several rows ----

shape('units', "time,temp,rain\n,degC,mm\n2024-01-01,3.5,0\n2024-01-02,4.5,1.2\n", ',', 2, names => 'time temp_degc rain_mm');
shape('groups', "Region;2020;;2021;\n;Men;Women;Men;Women\nNorth;1;2;3;4\nSouth;5;6;7;8\nWest;5;6;7;8\n", ';', 2, names => 'region _2020_men _2020_women _2021_men _2021_women');
shape('groups, no blank below', "Station,,Temperature,,Rain,\nid,name,min,max,sum,days\n1,Oslo,-3.5,4.5,10,3\n2,Bergen,1.5,7.5,50,9\n", ',', 2,
	names => 'station_id station_name temperature_min temperature_max rain_sum rain_days');
shape('title, groups, units', "Climate of towns\n\nTown;Summer;;Winter;\n;mean;max;mean;max\n;C;C;C;C\nOslo;16,5;30,1;-3,5;5,0\nBergen;14,5;28,0;2,0;8,0\n", ';', 5,
	names => 'town summer_mean_c summer_max_c winter_mean_c winter_max_c');
shape('names and units in full', "TIMESTAMP,RECORD,AirTC_Avg,RH\nTS,RN,Deg C,%\n2024-01-01 00:00:00,1,3.5,80\n2024-01-01 00:10:00,2,3.6,81\n2024-01-01 00:20:00,3,3.6,82\n", ',', 2,
	names => 'timestamp_ts record_rn airtc_avg_deg_c rh');
shape('logger with four rows', "\"TOA5\",\"CR1000\",\"prog\"\n\"TIMESTAMP\",\"RECORD\",\"Batt\",\"Temp\",\"Rain\"\n\"TS\",\"RN\",\"Volts\",\"Deg C\",\"mm\"\n\"\",\"\",\"Min\",\"Avg\",\"Tot\"\n\"2024-01-01 00:00:00\",1,12.5,3.5,0\n\"2024-01-01 00:10:00\",2,12.4,3.4,0.2\n",
	',', 4, names => 'timestamp_ts record_rn batt_volts_min temp_deg_c_avg rain_mm_tot');
shape('column numbers', "Code,Area,Homes\n(1),(2),(3)\nA,10.5,100\nB,20.5,200\nC,7,50\n", ',', 2);
shape('line below the header', "id|name|amount\n---|---|---\n1|a|2.5\n2|b|3.5\n", '|', 2);

shape('columns counted', "Code;Name;Flaeche;Einwohner\n1;2;3;4\n01;Nord;12,5;1000\n02;Sued;13,5;2000\n03;West;8,25;500\n", ';', 2, names => 'code name flaeche einwohner');
shape('plate reader', "User: lab\nTest ID: 12\n\n1. Raw data (450)\n\n,1,2,3,4\nA,0.12,0.13,0.15,0.11\nB,0.22,0.23,0.25,0.21\nC,0.32,0.33,0.35,0.31\n", ',', 6);
shape('levels of a data frame', "Price,Close,High,Low\nTicker,ABC,ABC,ABC\nDate,,,\n2024-01-02,1.5,2.5,0.5\n2024-01-03,1.6,2.6,0.6\n", ',', 3, names => 'price_ticker close_abc high_abc low_abc');
shape('coordinates', "name;place\nA;52.1,13.4\nB;53.1,12.4\nC;51.1,11.4\n", ';', 1);
shape('time series without a header', "\"Title\",\"Index of prices\"\n\"CDID\",\"L55O\"\n\"Unit\",\"%\"\n\"Release date\",\"17-04-2024\"\n\"Important notes\",\n\"1989\",\"5.7\"\n\"1990\",\"8.0\"\n\"1991\",\"7.5\"\n", ',', 5);
shape('years with blanks', "unit,geo\\time\t2019 \t2020 \nA,DE\t1.5 \t2.5 \nA,FR\t: \t3.5 \n", "\t", 1);
shape('dates as header', "Province,Country,Lat,1/22/20,1/23/20\n,Chad,15.4,0,1\nHubei,China,30.9,444,450\n", ',', 1);
shape('line of quotes for a blank one', "\"Konto:\";\"DE12 / Giro\";\n\n\"Stand vom 05.05.2024:\";\"1.000,00 EUR\";\n\"\"\n\"Datum\";\"Text\";\"Betrag\"\n\"02.05.2024\";\"Miete\";\"-500,00\"\n\"03.05.2024\";\"Lohn\";\"1.500,00\"\n\"04.05.2024\";\"Brot\";\"-3,50\"\n", ';', 5, names => 'datum text betrag');
shape('blank cells above', ",,,\n,,,\nname,count,share,unit\nA,1,2.5,kg\nB,2,3.5,kg\n", ',', 3, names => 'name count share unit');
shape('comments of commas', "# BRON: institute\n# Opmerking: door verplaatsing, en waarneemmethodieken\n# STN      = station\n# FG       = speed (in 0.1 m/s), daily\n# STN,YYYYMMDD,   FG,   TG\n#\n  260,20240101,   45,   71\n  260,20240102,   48,   82\n  260,20240103,   51,   93\n", ',', 0, comment => '#', names => 'stn yyyymmdd fg tg');

shape('a wide delimiter before signs', "id::price\n1::\$5\n2::\$6\n3::\$7\n", '::', 1, names => 'id price');
shape('bars before percent signs', "id||share\n1||%5\n2||%6\n3||%7\n", '||', 1, names => 'id share');
shape('pairs, the first like thousands', "1 500\n2 34\n3 12\n4 7\n", ' ', 0);
shape('two unlike characters', "a~|b~|c\n1~|x~|3\n2~|y~|4\n", '~|', 1, names => 'a b c');

# ---- footers and comments ----

shape('a long footer', "Table 3\n\nregion;2019;2020\nNorth;1,5;2,5\nSouth;3,5;4,5\nWest;3,5;4,5\n\n" . rows(12, sub { "$_[0]) see note $_[0], page " . $_[0] * 3 }), ';', 3, footer_rows => 12);

shape('a count below', "a;b\n1;2\n3;4\nRows: 2\n", ';', 1, footer_rows => 1);
shape('sum', "item,count,price\na,1,2.5\nb,2,3.5\nTotal,3,6.0\n", ',', 1, footer_rows => 1);
shape('notes below', "year,value,index\n2019,1,1.5\n2020,2,2.5\n2021,3,3.5\n\nNote: provisional, subject to revision\nSource: office\n", ',', 1, footer_rows => 2);
shape('preamble and notes', "Exports, by partner\n\npartner;2019;2020\nDE;1,5;2,5\nFR;3,5;4,5\n\n\"Source: Office, national accounts\"\nQuestions: call us; or write\n", ';', 3, footer_rows => 2);
shape('comments above', "# measured by probe 4\n# unit, mm; filtered\nt,x\n1,0.5\n2,0.6\n3,0.7\n", ',', 1, comment => '#', names => 't x');
shape('header is a comment', "# station 12, hourly\n# time,temp,wind\n2024-01-01 00:00,1.5,2\n2024-01-01 01:00,1.6,3\n2024-01-01 02:00,1.7,3\n", ',', 0, comment => '#', names => 'time temp wind');
shape('comments between', "t,x,y\n# calibration\n1,0.5,2\n# restart, again\n2,0.6,3\n3,0.7,4\n", ',', 1, comment => '#');
shape('ragged beginning', "id,name,amount,unit\n1,a,2\n2,b,3,kg\n3,c,4,kg\n4,d,5,kg\n", ',', 1);
shape('ragged beginning, no header', "1,a,2\n2,b,3,kg\n3,c,4,kg\n4,d,5,kg\n", ',', 0);
shape('ragged end', "a,b,c,d\n1,2,3,4\n5,6,7,8\n9,10,11,12\n13,14\n", ',', 1, footer_rows => undef);
shape('two columns after prose', "Quarterly figures\nAll values in thousand, unless noted\nRounded\n\nQuarter;Value\n2023Q1;10\n2023Q2;11\n", ';', 5);

# ---- missing values ----

shape('NA', "id,x,y\n1,NA,2.5\n2,3,NA\n3,4,1.5\n", ',', 1, types => 'integer integer numeric', null_values => '{NA}');
shape('n/a and text', "id,x,code\n1,n/a,AT\n2,3,BE\n3,4,NA\n", ',', 1, types => 'integer integer text', null_values => '{n/a}');
shape('NA is a value', "code,name\nMY,Malaysia\nNA,Namibia\nNE,Niger\n", ',', 1, types => 'text text', null_values => undef);
shape('hyphen', "town;rain;sun\nA;-;1,5\nB;2,5;-\nC;1,5;2,5\n", ';', 1, types => 'text numeric numeric', null_values => '{-}', decimal_separator => ',');
shape('points', "k,v\n1,.\n2,5\n3,6\n", ',', 1, types => 'integer integer', null_values => '{.}');
shape('NULL in quotes', "id,v\n1,\"NULL\"\n2,\"5\"\n3,NULL\n", ',', 1, types => 'integer integer', null_values => '{"NULL"}');
shape('null among dates', "id,day\n1,2024-01-01\n2,null\n3,2024-02-01\n", ',', 1, types => 'integer date', null_values => '{"null"}');
shape('NaN', "id,v\n1,NaN\n2,1.5\n", ',', 1, types => 'integer double precision', null_values => undef);

# ---- dates ----

shape('day first', "day,v\n31/12/2024,1\n01/01/2025,2\n", ',', 1, types => 'date integer', date_format => 'DD/MM/YYYY');
shape('month first', "day,v\n12/31/2024,1\n01/01/2025,2\n", ',', 1, types => 'date integer', date_format => 'MM/DD/YYYY');
shape('points in dates', "Tag;Wert\n31.12.2024;1,5\n1.1.2025;2,5\n", ';', 1, types => 'date numeric', date_format => 'DD.MM.YYYY');
shape('undecided', "day,v\n01/02/2024,1\n03/04/2024,2\n", ',', 1, types => 'date integer', said => qr/assuming month-first dates in column "day"/);
shape('decided by another column', "from,to\n01/02/2024,25/02/2024\n03/04/2024,20/04/2024\n", ',', 1, types => 'date date', date_format => 'DD/MM/YYYY');
shape('two orders', "a,b\n31/12/2024,12/31/2024\n30/12/2024,12/30/2024\n", ',', 1, types => 'date date');
shape('digits', "date,v\n20241231,1\n20250101,2\n", ',', 1, types => 'date integer', date_format => 'YYYYMMDD');
shape('digits that are none', "id,v\n20241231,1\n20250101,2\n", ',', 1, types => 'integer integer');
shape('month\'s name', "d,v\n31-Dec-2024,1\n01-Jan-2025,2\n", ',', 1, types => 'date integer', date_format => 'DD-Mon-YYYY');
shape('year first, slashes', "d,v\n2024/12/31,1\n2025/01/01,2\n", ',', 1, types => 'date integer', date_format => 'YYYY/MM/DD');
shape('times', "t,v\n31/12/2024 23:59,1\n01/01/2025 00:00,2\n", ',', 1, types => 'timestamp integer', timestamp_format => 'DD/MM/YYYY HH24:MI');
shape('times of 12 hours', "t,v\n12/31/2024 11:59:59 PM,1\n01/01/2025 12:00:00 AM,2\n", ',', 1, types => 'timestamp integer', timestamp_format => 'MM/DD/YYYY HH12:MI:SS AM');
shape('times by points', "t;v\n31.12.2024 23:59:01;1,5\n01.01.2025 00:00:11;2,5\n", ';', 1, types => 'timestamp numeric', timestamp_format => 'DD.MM.YYYY HH24:MI:SS');
shape('no dates', "version,v\n1.2.2024,1\n45.13.2024,2\n", ',', 1, types => 'text integer');

# ---- numbers ----

shape('thousands, English', "item,amount\na,\"1,234.56\"\nb,12.5\nc,\"2,000,000.00\"\n", ',', 1, types => 'text numeric', thousands_separator => ',');
shape('thousands, whole numbers', "town,people\na,\"1,234\"\nb,812\nc,\"2,345,000\"\n", ',', 1, types => 'text integer', thousands_separator => ',');
shape('thousands, German', "artikel;preis\na;1.234,56\nb;12,50\n", ';', 1, types => 'text numeric', thousands_separator => '.', decimal_separator => ',');
shape('thousands, French', "ville;habitants;part\nA;1 234;1,5\nB;12 345;2,5\n", ';', 1, types => 'text integer numeric', thousands_separator => ' ', decimal_separator => ',');
shape('thousands, Swiss', "ort\tbetrag\nA\t1'234.50\nB\t12'345.00\n", "\t", 1, types => 'text numeric', thousands_separator => "'");
shape('decimal commas in quotes', "a,b\n\"1,5\",x\n\"22,75\",y\n\"3,25\",z\n", ',', 1, types => 'numeric text', decimal_separator => ',');

# ---- encodings ----

shape('windows', "id;n\xe4me;preis\n1;M\xfcller;5 \x80\n2;K\xf6hl;6 \x80\n", ';', 1, encoding => 'WIN1252', said => qr/guess/);
shape('utf-8 with a fault', "id,name\n1,M\xc3\xbcller\n2,K\xc3\xb6hl\n3,S\xc3\xb8r\n4,\xff\n", ',', 1, encoding => 'UTF8');
shape('latin, with preamble', "\xdcbersicht\n\nOrt;Wert\nK\xf6ln;1,5\nM\xfcnchen;2,5\n", ';', 3, encoding => 'WIN1252');

shape('windows, far behind', "id,name,v\n" . rows(30_000, sub { "$_[0],Name $_[0],$_[0]" }) . "30001,M\xfcller,5\n30002,K\xf6hl,6\n", ',', 1, encoding => 'WIN1252', said => qr/guess/);

# ---- as published ----

shape('census', "GEO_ID,NAME,P1_001N,P1_002N\nGeography,Geographic Area Name, !!Total:, !!Total:!!One race\n0400000US01,Alabama,5024279,4767326\n0400000US02,Alaska,733391,643867\n", ',', 2);
shape('bls', "Series Id:,CUUR0000SA0\nNot Seasonally Adjusted\nArea:,U.S. city average\nItem:,All items\n\nYear,Jan,Feb,Mar\n2020,257.9,258.6,258.1\n2021,261.5,263.0,264.8\n", ',', 6);
shape('bfs', "\"Kanton\";\"Jahr 2019\";\"Jahr 2020\"\n\"Zurich\";1520;1539\n\"Bern\";1034;1039\n", ';', 1);
shape('statcan', "REF_DATE,GEO,DGUID,UOM,VALUE,STATUS\n2020-01,Canada,2016A000011124,Persons,100,\n2020-02,Canada,2016A000011124,Persons,,x\n", ',', 1);
shape('ga', "# ----------------------------------------\n# All Web Site Data\n# Pages\n# 20240101-20240131\n# ----------------------------------------\n\nPage,Pageviews,Bounce Rate\n/home,\"1,234\",45.67%\n/about,567,12.30%\n,\"1,801\",30.00%\n", ',', 2, comment => '#');
shape('ads', "Campaign report\n\"January 1, 2024 - January 31, 2024\"\nCampaign,Clicks,Cost\nA,10,5.5\nB,20,6.5\nTotal: Account,30,12.0\n", ',', 3);
shape('ing', "Umsatzanzeige;Datei erstellt am: 01.01.2024 10:00\n;Letztes Update: aktuell\n\nIBAN;DE12\nKontoname;Girokonto\nBank;ING\nKunde;Max\nZeitraum;01.01.2024 - 31.01.2024\n\nSortierung;Datum absteigend\n\nIn der Datei finden Sie alle bereits gebuchten Ums\xc3\xa4tze. Die vorgemerkten fehlen.\n\nBuchung;Valuta;Auftraggeber;Buchungstext;Saldo;W;Betrag\n31.01.2024;31.01.2024;Laden;Lastschrift;1.234,56;EUR;-10,00\n30.01.2024;30.01.2024;Firma;Gehalt;1.244,56;EUR;2.000,00\n", ';', 14);
shape('hobo', "\"Plot Title: pond\"\n\"#\",\"Date Time, GMT-05:00\",\"Temp, C (LGR S/N: 10)\"\n1,07/01/12 12:00:00 PM,25.1\n2,07/01/12 01:00:00 PM,25.3\n3,07/01/12 02:00:00 PM,25.4\n", ',', 2);
shape('chrom', "Chromatogram Data\nTime(min)\tIntensity\n0.00\t10\n0.01\t11\n0.02\t14\n", "\t", 2);
shape('corner', ",Q1,Q2,Q3\nSales,10,20,30\nCosts,5,6,7\n", ',', 1);
shape('percent', "Region,2019,2020\nNorth,10%,12%\nSouth,9%,8%\n", ',', 1);
shape('json', "id,payload\n1,\"{\"\"a\"\": 1, \"\"b\"\": [1,2]}\"\n2,\"{\"\"a\"\": 2}\"\n", ',', 1);
shape('un', "Country,Year,Value,Footnote\nChad,2019,1.5,1\nChad,2020,1.6,\nMali,2020,1.9,1\n\nfootnoteSeqID,Footnote\n1,Some text, and more\n2,Other text\n", ',', 1);
shape('first blank', "date,open,high,low\n2024-01-01,,,\n2024-01-02,1.5,2.5,0.5\n2024-01-03,1.6,2.6,0.6\n", ',', 1);
shape('avg', "day,temp\n2024-01-01,1.5\n2024-01-02,2.5\nAverage,2.0\n", ',', 1);
shape('contact text', "Name,Email,Phone\nAnn Lee,ann\@x.org,+47 123 456\nBob Ray,bob\@y.org,+47 987 654\n", ',', 1);
shape('urls', "title;url;tags\nHome;https://a.org/x?y=1,2;a,b\nNews;https://a.org/z;c\n", ';', 1);
shape('sdmx', "DATAFLOW,LAST UPDATE,freq,geo,TIME_PERIOD,OBS_VALUE,OBS_FLAG\nESTAT:X(1.0),22/05/24 23:00:00,A,AT,2020,1.5,\nESTAT:X(1.0),22/05/24 23:00:00,A,BE,2020,2.5,e\n", ',', 1);
shape('ecb', "DATE,TIME PERIOD,EURO (EXR.D.USD)\n1999-01-04,04 Jan 1999,1.1789\n1999-01-05,05 Jan 1999,1.1790\n", ',', 1);
shape('bundesbank', ";BBK01.TT1;BBK01.TT1_FLAGS\n;Geldmenge / M1;\nEinheit;Mrd EUR;\nDimension;Eins;\nStand vom;31.05.2024;\n2024-01;1,5;\n2024-02;1,6;\n2024-03;1,7;\n", ';', 5);
shape('meteoblue', "location,Basel,Basel\nlat,47.5,47.5\nlon,7.5,7.5\nvariable,Temperature,Precipitation\nunit,C,mm\nlevel,2 m,sfc\ntimestamp,Basel Temperature,Basel Precipitation\n20240101T0000,1.5,0\n20240101T0100,1.6,0.2\n20240101T0200,1.7,0\n", ',', 7);
shape('openmeteo', "latitude,longitude,elevation,utc_offset_seconds\n52.5,13.4,38.0,0\n\ntime,temperature_2m (C)\n2024-01-01T00:00,1.5\n2024-01-01T01:00,1.6\n2024-01-01T02:00,1.7\n2024-01-01T03:00,1.7\n", ',', 4);
shape('insee', "\"Libelle\";\"idBank\";\"Derniere maj\";\"Periode\";\"2023-01\";\"2023-02\"\n\"Indice\";\"001\";\"12/01/2024\";\"\";\"115.6\";\"116.8\"\n\"Codes\";\"\";\"\";\"\";\"A\";\"A\"\n", ';', 1);
shape('statbank', "\"1.1.1 Population by sex, age and time\"\n\n\"sex\",\"age\",\"2022\",\"2023\"\n\"Men\",\"Total\",2920000,2948000\n\"Women\",\"Total\",2950000,2984000\n\n\"Source: Statistics\"\n\"Contact: x\"\n", ',', 3);
shape('few fields', "Titel: Liste\nDatum: 01.02.2024\n\nNr;Name\n1;Anna\n2;Bert\n", ';', 4);
shape('only text wide', "Species;Family;Habitat;Status\nParus major;Paridae;forest;common\nCorvus corax;Corvidae;mountains;rare\nPica pica;Corvidae;towns;common\n", ';', 1);
shape('title text', "List of species\n\nSpecies;Family;Habitat\nParus major;Paridae;forest\nCorvus corax;Corvidae;mountains\n", ';', 3);
shape('long names text', "Question 1: How satisfied are you with the service that was provided to you last year?,Question 2: Would you recommend us?\nVery satisfied,Yes\nNot satisfied,No\nSatisfied,Yes\n", ',', 1);
shape('merged title', "Quarterly national accounts,,,,\nBillion EUR,,,,\n,2022,,2023,\nSector,Q1,Q2,Q1,Q2\nAgriculture,1.5,1.6,1.7,1.8\nIndustry,5.5,5.6,5.7,5.8\n,,,,\nSource: office,,,,\n", ',', 4);
shape('mixed eol', "a;b\r\n1;2\n3;4\r\n", ';', 1);
shape('spectrometer', "Spectrum1,\nWavelength (nm),Abs\n800.0,0.01\n799.0,0.02\n798.0,0.03\n", ',', 2);
shape('thermo', "Sample Name,X1\nMethod,A\nInjected,12/03/2024\n\nNo.,RT,Area,Height\n1,1.5,100.5,10\n2,2.5,200.5,20\n3,3.5,1.5,30\n\nTotal,,302.5,60\n", ',', 5);
shape('gps', "latitude;longitude;time\n52,5;13,4;2024-01-01T10:00:00Z\n52,6;13,5;2024-01-01T10:00:10Z\n", ';', 1);
shape('iis-like', "date|time|ip|path|status\n2024-01-01|10:00:00|1.2.3.4|/a,b|200\n2024-01-01|10:00:01|1.2.3.5|/c|404\n", '|', 1);

# ---- as published: instruments, banks, statistics, logs ----
shape('pvgis', "Latitude (decimal degrees):\t45.000\r\nLongitude (decimal degrees):\t8.000\r\nElevation (m):\t250\r\nRadiation database:\tPVGIS-SARAH2\r\n\r\nSlope: 35 deg.\r\n\r\ntime,G(i),H_sun,T2m,WS10m,Int\r\n20200101:0010,0.0,0.0,1.12,1.03,0.0\r\n20200101:0110,0.0,0.0,1.02,1.10,0.0\r\n20200101:0210,0.0,0.0,0.99,1.17,0.0\r\n20200101:0310,5.5,0.0,0.95,1.20,0.0\r\n", ',', 8, names => 'time g_i h_sun t2m ws10m int');
shape('nrel tmy3', "724699,\"BROOMFIELD\",CO,-7.0,39.917,-105.117,1724\nDate (MM/DD/YYYY),Time (HH:MM),ETR (W/m^2),GHI (W/m^2)\n01/01/1996,01:00,0,0\n01/01/1996,02:00,0,0\n01/01/1996,03:00,1,2\n01/01/1996,04:00,7,9\n", ',', 2);
shape('nsrdb', "Source,Location ID,City,State,Latitude,Longitude,Time Zone\nNSRDB,145809,-,-,39.73,-104.98,-7\nYear,Month,Day,Hour,Minute,DHI,Temperature\n2020,1,1,0,30,0,-3.1\n2020,1,1,1,30,0,-3.6\n2020,1,1,2,30,0,-4.2\n2020,1,1,3,30,0,-4.9\n", ',', 3);
shape('argo', "//<CreationDate>2020-05-01</CreationDate>\n//<Creator>lab</Creator>\nCruise;Station;Type;yyyy-mm-ddThh:mm;Depth [m];Temp [C]\nA1;1;C;2020-05-01T10:00;0.5;12.3\nA1;1;C;2020-05-01T10:00;10;11.9\nA1;2;C;2020-05-01T13:00;0.5;12.4\n", ';', 1, comment => '//');
shape('esri grid like', "ncols,4\nnrows,2\nnodata,-9999\n\nx,y,z,class\n1,1,2.5,A\n2,1,3.5,B\n3,1,-9999,A\n", ',', 5);
shape('kreditkarte', "\"Kreditkarte:\";\"4998********1234\";\n\n\"Zeitraum:\";\"letzte 60 Tage\";\n\"Saldo:\";\"-123.45 EUR\";\n\"Datum:\";\"05.05.2024\";\n\n\"Umsatz abgerechnet\";\"Wertstellung\";\"Belegdatum\";\"Beschreibung\";\"Betrag (EUR)\";\"\";\n\"Nein\";\"03.05.2024\";\"02.05.2024\";\"AMZN Mktp DE\";\"-29,99\";\"\";\n\"Ja\";\"30.04.2024\";\"29.04.2024\";\"Paypal\";\"-5,00\";\"\";\n", ';', 7);
shape('chase', "Details,Posting Date,Description,Amount,Type,Balance,Check or Slip #\nDEBIT,05/03/2024,\"ONLINE PAYMENT, THANK YOU\",-25.10,ACH_DEBIT,1200.55,,\nCREDIT,05/01/2024,\"PAYROLL\",2500.00,ACH_CREDIT,1225.65,,\n", ',', 1);
shape('releve', "Compte courant n 123 ;;;;\nSolde au 31/05/2024 : 1 234,56 EUR;;;;\n;;;;\nDate;Date de valeur;D\xc3\xa9bit;Cr\xc3\xa9dit;Libell\xc3\xa9\n31/05/2024;31/05/2024;-45,20;;CB MONOPRIX\n30/05/2024;30/05/2024;;1 850,00;VIR SALAIRE\n29/05/2024;29/05/2024;-12,00;;PRLV\n", ';', 4, thousands_separator => ' ', decimal_separator => ',');
shape('paypal', "\"Date\",\"Time\",\"TimeZone\",\"Name\",\"Gross\",\"Fee\",\"Net\"\n\"5/1/2024\",\"10:11:12\",\"PDT\",\"Ann\",\"1,200.00\",\"-3.20\",\"1,196.80\"\n\"5/13/2024\",\"11:11:12\",\"PDT\",\"Bob\",\"20.00\",\"-0.90\",\"19.10\"\n", ',', 1, thousands_separator => ',');
shape('usgs rdb', "# ---- WARNING ----\n# Some data, which may be provisional\n#\n# Data for: USGS 01646500\nagency_cd\tsite_no\tdatetime\t69928_00060\t69928_00060_cd\n5s\t15s\t20d\t14n\t10s\nUSGS\t01646500\t2024-01-01\t12300\tA\nUSGS\t01646500\t2024-01-02\t11800\tA\nUSGS\t01646500\t2024-01-03\t11100\tA\n", "\t", 2, comment => '#');
shape('noaa co2', "# --------------------------------------------------------------------\n# USE OF NOAA DATA\n#\n# These data are made freely available, to the public\n# \"Quoted, text\" here\nyear,month,decimal date,average,ndays\n1958,3,1958.2027,315.71,-1\n1958,4,1958.2877,317.45,-1\n1958,5,1958.3699,317.51,-1\n", ',', 1, comment => '#', names => 'year month decimal_date average ndays');
shape('vcf', "##fileformat=VCFv4.2\n##source=caller, v2\n##INFO=<ID=DP,Number=1,Type=Integer>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\n20\t14370\trs6054257\tG\tA\t29\n20\t17330\t.\tT\tA\t3\n20\t1110696\trs6040355\tA\tG\t67\n", "\t", 1, comment => '##', names => 'chrom pos id ref alt qual');
shape('header begins with #', "#,Team,Points\n1,Reds,54\n2,Blues,51\n3,Greens,48\n", ',', 1, comment => undef);
shape('bed header', "#chrom\tstart\tend\tname\nchr1\t100\t200\ta\nchr2\t150\t250\tb\nchr2\t350\t450\tc\n", "\t", 1, comment => undef, names => 'chrom start end_ name');
shape('colours', "#ff0000,red,3\n#00ff00,green,4\n#0000ff,blue,5\n", ',', 0, comment => undef);
shape('colours with a name', "code,name,n\n#ff0000,red,3\n#00ff00,green,4\n#0000ff,blue,5\n", ',', 1, comment => undef);
shape('hashtags', "tag,topic\n#rust,systems\n#sql,data\nnone,other\n#go,cloud\n", ',', 1, comment => undef);
shape('a missing first value', "v,w,x\n--,5,3\n7,6,4\n--,4,5\n8,8,6\n", ',', 1, comment => undef);
shape('excel error first', "ratio,n\n#DIV/0!,5\n2.5,7\n#N/A,9\n3.5,1\n", ',', 1, comment => undef);
shape('w3c', "#Software: Microsoft Internet Information Services 8.5\n#Version: 1.0\n#Date: 2024-05-01 00:00:01\n#Fields: date time s-ip cs-method cs-uri-stem sc-status time-taken\n2024-05-01 00:00:01 10.0.0.1 GET /index.html 200 15\n2024-05-01 00:00:02 10.0.0.1 GET /a.css 200 3\n2024-05-01 00:00:07 10.0.0.1 POST /login 302 45\n2024-05-01 00:00:09 10.0.0.1 GET /b.js 404 2\n", ' ', 0, comment => '#');
shape('weka comments', "% 1. Title: Iris plants\n% 2. Sources: R.A. Fisher, 1936\n%\nsepal_length,sepal_width,species\n5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,versicolor\n", ',', 1, comment => '%');
shape('ini comments', "; exported by tool, version 3\n; do not edit\nkey,value,unit\nalpha,1.5,m\nbeta,2.5,s\ngamma,3.5,kg\n", ',', 1, comment => ';');
shape('sql comments', "-- extract of orders, nightly\n-- rows: 3\nid|customer|total\n1|Ann|10.50\n2|Bob|7.25\n3|Eve|1.00\n", '|', 1, comment => '--');
shape('comments between and at the end', "t;p;q\n1;0,5;2\n2;0,6;3\n# sensor cleaned; offset 0.1\n3;0,7;4\n4;0,7;4\n# end of data\n", ';', 1, comment => '#');
shape('comments of as many fields', "a,b,c\n1,2,3\n# one, two, three\n4,5,6\n7,8,9\n", ',', 1, comment => '#');
shape('comment with a quote', "# \"unbalanced, title\nx,y\n1,2\n3,4\n5,6\n", ',', 1, comment => '#');
shape('pandas dump', ",name,score\n0,Ann,1.5\n1,Bob,2.5\n2,Eve,3.5\n", ',', 1, names => 'column_1 name score');
shape('r dump', "\"mpg\",\"cyl\",\"disp\"\n\"Mazda RX4\",21,6,160\n\"Datsun 710\",22.8,4,108\n\"Valiant\",18.1,6,225\n", ',', 1);
shape('german statistics', "GENESIS-Tabelle: 12411-0001\nBev\xc3\xb6lkerung: Deutschland, Stichtag;;\nFortschreibung des Bev\xc3\xb6lkerungsstandes;;\nDeutschland;;\nStichtag;Bev\xc3\xb6lkerungsstand;\n;Anzahl;\n31.12.2019;83166711;\n31.12.2020;83155031;\n31.12.2021;83237124;\n__________;;\n;;\n(C)opyright Statistisches Bundesamt (Destatis), 2024;;\n", ';', 6);
shape('zensus', "AGS_12;RS_Nat;Name;Einwohner_01;Einwohner_02\n01001000;010010000000;Flensburg, Stadt;82258;40345\n01002000;010020000000;Kiel;235782;114511\n01003000;010030000000;L\xc3\xbcbeck;210305;99924\n", ';', 1);
shape('istat', "\"ITTER107\",\"Territorio\",\"TIPO_DATO\",\"Value\",\"Flag Codes\"\n\"IT\",\"Italia\",\"JAN\",59816673,\n\"ITC\",\"Nord-ovest\",\"JAN\",15831941,\n", ',', 1);
shape('ons', "\"Title\",\"CPIH INDEX 00: ALL ITEMS 2015=100\"\n\"CDID\",\"L522\"\n\"Source dataset ID\",\"MM23\"\n\"PreUnit\",\"\"\n\"Unit\",\"Index, base year = 100\"\n\"Release date\",\"17-04-2024\"\n\"Next release\",\"22 May 2024\"\n\"Important notes\",\"\"\n\"1988\",\"46.9\"\n\"1989\",\"49.3\"\n\"1990\",\"53.3\"\n\"1988 Q1\",\"46.0\"\n\"1988 Q2\",\"46.5\"\n", ',', 8);
shape('fred', "DATE,GDP\n1947-01-01,243.164\n1947-04-01,245.968\n1947-07-01,.\n", ',', 1, null_values => '{.}');
shape('oecd', "\"LOCATION\",\"Country\",\"TIME\",\"Value\",\"Flag Codes\",\"Flags\"\n\"AUS\",\"Australia\",\"2019\",4.2,,\n\"AUT\",\"Austria\",\"2019\",5.1,\"E\",\"Estimated value\"\n", ',', 1);
shape('hydro', "Station;Pegel K\xc3\xb6ln\nMessstellennummer;2730010\nParameter;Wasserstand Rohdaten\nEinheit;cm\nZeitbezug;MEZ\nDatum;Uhrzeit;Wert\n01.05.2024;00:00;345\n01.05.2024;00:15;346\n01.05.2024;00:30;346\n", ';', 6);
shape('dwd', "STATIONS_ID;MESS_DATUM;QN_9;TT_TU;RF_TU;eor\n         44;2024010100;    3;   5.2;  93.0;eor\n         44;2024010101;    3;   5.4;  92.0;eor\n         44;2024010102;    3;-999;-999;eor\n", ';', 1, names => 'stations_id mess_datum qn_9 tt_tu rf_tu eor');
shape('survey with two headers', "StartDate,EndDate,Status,Q1,Q2\nStart Date,End Date,Response Type,How old are you?,\"Where, if at all, do you live?\"\n\"{\"\"ImportId\"\":\"\"startDate\"\"}\",\"{\"\"ImportId\"\":\"\"endDate\"\"}\",\"{\"\"ImportId\"\":\"\"status\"\"}\",\"{\"\"ImportId\"\":\"\"QID1\"\"}\",\"{\"\"ImportId\"\":\"\"QID2\"\"}\"\n2024-05-01 10:00:00,2024-05-01 10:05:00,0,34,Oslo\n2024-05-01 11:00:00,2024-05-01 11:07:00,0,45,Bergen\n2024-05-02 10:00:00,2024-05-02 10:09:00,0,29,Oslo\n", ',', 3);
shape('xy export', "XYDATA\nTITLE\tSample A\nXUNITS\tNANOMETERS\nYUNITS\tABSORBANCE\nNPOINTS\t4\nXYDATA\n190.0000\t0.1234\n190.5000\t0.1256\n191.0000\t0.1301\n191.5000\t0.1333\n", "\t", 6);
shape('keithley', "\"Start Time:\",\"05/01/2024 10:00:00.123\"\n\"Model:\",\"2000\"\n\nScan Number,Time,Channel 101 (C),Alarm 101\n1,05/01/2024 10:00:00:123,21.5,0\n2,05/01/2024 10:00:10:123,21.6,0\n3,05/01/2024 10:00:20:123,21.6,1\n", ',', 4);
shape('google trends', "Category: All categories\n\nWeek,cheese: (Worldwide),bread: (Worldwide)\n2024-01-07,75,32\n2024-01-14,78,33\n2024-01-21,74,<1\n", ',', 3);
shape('typeperf', "\"(PDH-CSV 4.0)\",\"\\\\HOST\\Processor(_Total)\\% Processor Time\",\"\\\\HOST\\Memory\\Available MBytes\"\n\"05/01/2024 10:00:00.123\",\"12.5\",\"1024\"\n\"05/01/2024 10:00:01.123\",\"11.25\",\"1020\"\n\"05/01/2024 10:00:02.123\",\"10.5\",\"1021\"\n", ',', 1);
shape('jmeter', "timeStamp,elapsed,label,responseCode,success\n1714550400000,123,HTTP Request,200,true\n1714550400500,98,HTTP Request,200,true\n", ',', 1);
shape('sap export', "01.05.2024                      Dynamische Listenausgabe                    1\n\n|Material|Werk|Bestand|ME |\n|--------|----|-------|---|\n|A-100   |1000|  12,00|ST |\n|A-200   |1000|   3,50|KG |\n|B-100   |2000| 112,00|ST |\n", '|', 4);
shape('markdown', "| id | name | qty |\n|----|------|-----|\n| 1  | Ann  | 5   |\n| 2  | Bob  | 6   |\n| 3  | Eve  | 7   |\n", '|', 2);
shape('title in the first cell, blank second row', "Table A1: Persons by age and sex,,,,\n,,,,\nAge,Male,,Female,\n,Number,%,Number,%\n0-14,100,10.5,90,9.5\n15-64,300,31.0,310,32.5\n65+,80,8.5,95,10.0\n,,,,\n\"Note: figures, as of 2020\",,,,\n", ',', 4, names => 'age male_number male female_number female');
shape('wide years with codes', "Indicator,Unit,2018,2019,2020p\nGDP,mn EUR,100.5,101.5,95.0\nCPI,index,101,102,102.5\n", ',', 1);
shape('quarters', "Series;Q1 2023;Q2 2023;Q3 2023\nExports;1.234;1.345;1.456\nImports;2.345;2.456;2.567\n", ';', 1);
shape('months across', "Jahr;Jan;Feb;Mrz;Jahr gesamt\n2021;1,2;3,4;5,6;3,4\n2022;2,2;4,4;6,6;4,4\n2023;;5,4;7,6;\n", ';', 1);
shape('dates in title', "Wechselkurse vom 01.05.2024 bis 03.05.2024\n\nDatum;USD;GBP;CHF\n01.05.2024;1,0671;0,8543;0,9801\n02.05.2024;1,0698;0,8551;0,9765\n03.05.2024;1,0744;0,8567;0,9732\n", ';', 3, date_format => 'DD.MM.YYYY');
shape('preamble of one wide line', "Generated by ERP 5.1 on 2024-05-01 10:00:00 user=ops rows=3 filter=none\nsku,stock,price\nA1,5,1.50\nB2,0,2.50\nC3,17,9.99\n", ',', 2);
shape('text only with footer', "Name,Capital,Continent\nNorway,Oslo,Europe\nChad,N'Djamena,Africa\nPeru,Lima,America\n\nSource: atlas\n", ',', 1, footer_rows => 1);

# ---- rows of sections, one record ----
shape('sect', "Region,Men,Women\nNorth,,\nOslo,1,2\nHamar,3,4\nSouth,,\nRome,5,6\nBari,7,8\n", ',', 1, names => 'region men women');
shape('sect, preamble', "Population\n\nRegion;2019;2020\nNorden;;\nKiel;10,5;11\nHusum;9,5;8\nSueden;;\nPassau;7,5;7\nHof;1;2\n", ';', 3);
shape('sect, short', "item,qty,price\nFruit\nApple,3,1.20\nPear,4,1.50\nVegetables\nLeek,2,0.80\nKale,5,2.10\n", ',', 1, names => 'item qty price');
shape('one record below a preamble', "Batch 17\nOperator: Lee\n\n17,2.5,2024-05-01\n", ',', 3);
shape('one record, header and preamble', "Batch 17\nOperator: Lee\n\nbatch;mass;day\n17;2,5;2024-05-01\n", ';', 4);

# ---- footers ----
shape('total', "item,count,price\na,1,2.5\nb,2,3.5\nc,4,4.5\nTotal,7,\n", ',', 1, footer_rows => 1, types => 'text integer numeric');
shape('notes below 2', "year,value,index\n2019,1,1.5\n2020,2,2.5\n2021,3,3.5\n\nNote: provisional, subject to revision\nSource: office\n", ',', 1, footer_rows => 2, types => 'integer integer numeric');
shape('sum of sections', "dept;cost;staff\nA;10,5;3\nB;20,5;4\nSumme;31,0;7\n", ';', 1, footer_rows => 1);
shape('padded footer', "id,name,v\n1,a,2\n2,b,3\n3,c,4\n,,\nSource: office,,\nUpdated: 2024-05-01,,\n", ',', 1, footer_rows => 3);
shape('count line', "id|name|v\n1|a|2.5\n2|b|3.5\n3|c|1.5\n(3 rows)\n", '|', 1, footer_rows => 1);
shape('trailer record', "HDR|20240501|SYS\n100|Ann|2024-04-30|12.50\n101|Bob|2024-04-30|7.25\n102|Eve|2024-04-30|99.00\nTRL|3\n", '|', 1, footer_rows => 1);
shape('end marker', "t,x,y\n1,2.5,3\n2,2.6,4\n3,2.7,5\nEND\n", ',', 1, footer_rows => 1);
shape('average', "day,temp,rain\n2024-01-01,1.5,0\n2024-01-02,2.5,1.2\n2024-01-03,2.0,0.1\nMean,2.0,0.4\n", ',', 1, footer_rows => 1);
shape('no footer but a short record', "a,b,c\n1,2,3\n4,5,6\n7,8\n9,10,11\n", ',', 1, footer_rows => undef);
shape('last value empty', "id,v\n1,2\n2,3\n3,\n", ',', 1, footer_rows => undef);
my $good = "id,day,amount,note\n" . rows(20, sub { sprintf '%d,2024-01-%02d,%d.5,ok %d', ($_[0]) x 4 });
my %last = ('cut off' => "21,pending", 'two words' => 'A,B', 'quoted' => "\"multi\nline\"", 'a code alone' => 'X21,,,', 'a word' => 'x', 'a time' => '10:30');
shape("$_ last", "$good$last{$_}\n", ',', 1, footer_rows => undef) for sort keys %last;
shape('word last', "sku,price\nPEN-1,2\nINK-1,3\nPAD-1,4\nx\n", ',', 1, footer_rows => undef);
shape('prose cut off', "text,n\nIt was a long day,1\nand it went on further,2\nnobody came to the house,3\nIt was a very", ',', 1, footer_rows => undef);
shape('sum and a note', "${good}Total,,210.5,\nrounded\n", ',', 1, footer_rows => 2);
shape('text last', "k,v\na,1\nb,2\nc,x\n", ',', 1, footer_rows => undef);

# ---- COPY's text format ----
shape('copy', "1\tAnn\t\\N\n2\tBob\\tSmith\t2.5\n3\t\\N\t3.5\n", "\t", 0, format => 'text', types => 'integer text numeric');
shape('copy, escapes', "1\tline one\\nline two\tt\n2\tback\\\\slash\tf\n3\tplain\tt\n4\t\\N\tf\n", "\t", 0, format => 'text');
shape('copy, end', "1\ta\t2024-01-01\n2\t\\N\t2024-01-02\n3\tc\t\\N\n\\.\n", "\t", 0, format => 'text');
shape('pg_dump', "1\ta\t2024-01-01\n2\t\\N\t2024-01-02\n3\tc\t\\N\n\\.\n\n\n", "\t", 0, format => 'text');
shape('tabs, no escapes', "id\tname\n1\tAnn\n2\tBob\n", "\t", 1, format => 'csv');
shape('tabs, paths', "id\tpath\n1\tC:\\new\\table\n2\tC:\\windows\\N\n", "\t", 1, format => 'csv');
shape('mysql outfile', "1\tO'Neil\t\\N\n2\tsay \"hi\"\t5\n3\t\"quoted\" text\t\\N\n", "\t", 0, format => 'text');
shape('tabs, N alone and quotes', "id\tname\tv\n1\t\"a\tb\"\t\\N\n2\t\"c\"\t5\n", "\t", 1, format => 'csv');
shape('commas, N', "id,name,v\n1,Ann,\\N\n2,Bob,5\n3,Eve,6\n", ',', 1, format => 'csv', null_values => '{"\\\\N"}');

# ---- separators, dates ----
shape('no-break blank', "ville;habitants\nParis;2\xc2\xa0102\xc2\xa0650\nLyon;522\xc2\xa0250\nNantes;323\xc2\xa0204\n", ';', 1, types => 'text integer', thousands_separator => "\xc2\xa0");
shape('narrow no-break blank', "ville;part;habitants\nParis;1,5;2\xe2\x80\xaf102\xe2\x80\xaf650\nLyon;2,5;522\xe2\x80\xaf250\nBrie;3,5;812\n", ';', 1, types => 'text numeric integer', thousands_separator => "\xe2\x80\xaf");
shape('typographic apostrophe', "ort;betrag\nBern;1\xe2\x80\x99234.50\nChur;12\xe2\x80\x99345.00\n", ';', 1, types => 'text numeric', thousands_separator => "\xe2\x80\x99");
shape('no-break blank of windows', "ville;habitants\nOrl\xe9ans;116\xa0685\nB\xe9ziers;78\xa0308\nN\xeemes;148\xa0561\n", ';', 1, types => 'text integer', encoding => 'WIN1252');
shape('two digits, slashes', "d,v\n12/31/24,1\n1/5/25,2\n", ',', 1, types => 'date integer', date_format => 'MM/DD/YY');
shape('two digits, day first', "d;v\n31/12/24;1,5\n05/01/25;2,5\n", ';', 1, types => 'date numeric', date_format => 'DD/MM/YY');
shape('two digits, year first?', "d,v\n01/02/03,1\n04/05/06,2\n", ',', 1, types => 'text integer');
shape('two digits, times', "t,v\n07/21/12 12:00:00 PM,25.1\n07/22/12 01:00:00 PM,25.3\n", ',', 1, types => 'timestamp numeric', timestamp_format => 'MM/DD/YY HH12:MI:SS AM');
shape('two digits, hyphens', "d,v\n31-12-24,1\n05-01-25,2\n", ',', 1, types => 'date integer', date_format => 'DD-MM-YY');
shape('epochs', "t,v\n1714550400,1\n1714550460,2\n", ',', 1, types => 'integer integer');

# ---- blanks ----
shape('blanks delimit', "x y z\n1 2.5 3\n2 3.5 4\n3 4.5 5\n", ' ', 1, names => 'x y z');
shape('blanks delimit, no header', "1 2.5 3\n2 3.5 4\n3 4.5 5\n4 4.5 5\n", ' ', 0);
shape('blanks delimit, quotes', "\"name\" \"v\" \"w\"\n\"Ann Lee\" 2.5 3\n\"Bob\" 3.5 4\n\"Eve\" 4.5 5\n", ' ', 1);
shape('prose of blanks', "It was cold\nThe sun shone\nNobody came home\nSnow fell again\n", ',', 1);
shape('names of blanks', "name\nAnn Lee\nBob Ray\nEve Fox\n", ',', 1);

# ---- no delimiters of several characters, no blanks around values ----

shape('empty fields', "a,b,c,d\n1,,,4\n2,,,5\n3,,,6\n", ',', 1);
shape('empty fields everywhere', "a,,b,,c\n1,,2,,3\n4,,5,,6\n", ',', 1);
shape('empty fields between bars', "a|b|c\n1||3\n2||4\n3|x|5\n", '|', 1);
shape('colons of times', "at;what\n10:00::1;x\n10:05::2;y\n", ';', 1);
shape('commas and blanks in prose', "id,remark\n1,\"good, cheap, small\"\n2,\"bad, dear\"\n", ',', 1);
shape('tabs in blanks', "id \t name \t v\n1 \t a \t 2\n2 \t b \t 3\n", "\t", 1);
shape('c++ names', "ns::name;calls;time\nstd::sort;5;1,5\nstd::map::find;7;2,5\nmain;1;9,5\n", ';', 1);
shape('ip6', "addr,hits\nfe80::1,5\nfe80::a2,6\n2001:db8::5,7\n", ',', 1);
shape('one blank', "id,name\n1,Ann \n2,Bob\n3, Eve\n", ',', 1, trim => undef);
shape('no blanks', "id,name\n1,Ann\n2,Bob\n", ',', 1, trim => undef);

# ---- delimiters of several characters, blanks around values ----

shape('two bars', "id||name||amount\n1||Ann||2.5\n2||Bob||3.5\n3||Eve||\n", '||', 1, names => 'id name amount');
shape('movielens', "1::Toy Story (1995)::Animation|Children's|Comedy\n2::Jumanji (1995)::Adventure|Children's|Fantasy\n3::Heat (1995)::Action|Crime|Thriller\n", '::', 0);
shape('ratings', "1::1193::5::978300760\n1::661::3::978302109\n1::914::3::978301968\n", '::', 0);
shape('bar tilde bar', "id|~|name|~|v\n1|~|a|b|~|2\n2|~|c~d|~|3\n3|~|e|~|4\n", '|~|', 1);
shape('tilde bar tilde', "id~|~name~|~v\n1~|~a~|~2\n2~|~c~|~3\n", '~|~', 1);
shape('carets', "A^|^B^|^C\n1^|^x^|^2.5\n2^|^y^|^3.5\n", '^|^', 1);
shape('ats', "id\@\@mail\@\@n\n1\@\@ann\@x.org\@\@5\n2\@\@bob\@y.org\@\@6\n", '@@', 1);
shape('two semicolons', "id;;note;;v\n1;;a;b;;2,5\n2;;c;;3,5\n3;;d;;4\n", ';;', 1);
shape('bars in blanks', "date | level | count\n2024-01-01 | INFO | 5\n2024-01-02 | WARN | 6\n", '|', 1, trim => 'true');
shape('comma and blank', "name, age, score\nAnn, 34, 1.5\nBob, 45, 2.5\nEve, 29, 3.5\n", ',', 1, trim => 'true');
shape('comma and blank, quotes', "name, note\nAnn, \"a, b\"\nBob, \"c\"\nEve, \"d, e\"\n", ',', 1, trim => 'true');
shape('four bars', "id||||name||||v\n1||||a||||2\n2||||b||||3\n", '||||', 1);
shape('hash caret hash', "id#^#name#^#v\n1#^#a#^#2.5\n2#^#b#^#3.5\n", '#^#', 1);
shape('blanks around', "id , name , v\n1 , Ann , 2.5\n2 , Bob , 3.5\n3 , Eve , 1.5\n", ',', 1, trim => 'true', names => 'id name v');
shape('blanks before quotes', "\"id\", \"name\", \"v\"\n \"1\" , \"Ann, A\" , \"x\"\n \"2\" , \"Bob\" , \"y\"\n \"3\" , \"Eve\" , \"z\"\n", ',', 1, trim => 'true');
shape('aligned', "id  |name      |v\n1   |Ann       |  2.5\n2   |Bob Ray   | 13.5\n10  |Eve       |  1.5\n", '|', 1, trim => 'true');
shape('aligned, commas', "station,    date, temp\n   44,20240101,  5.2\n   44,20240102, -1.0\n   44,20240103, 12.5\n", ',', 1, trim => 'true');
shape('aligned NA', "id;  a;  b\n1 ; NA;2.5\n2 ;  5; NA\n3 ;  7;1.5\n", ';', 1, trim => 'true', null_values => '{NA}');

# blanks and quotes behind delimiters of all kinds
for my $d (';', "\t", '|', '~', '^')
{
	shape("blanks before quotes, '$d'", "id${d}word\n1$d \"x\"\n2$d \"y\"\n3$d \"w\"\n", $d, 1, trim => 'true', names => 'id word', quote => '"');
	shape("blanks before quotes, '$d', no header", rows(20, sub { "$_[0]$d \"x $_[0]\"$d $_[0].5" }), $d, 0, trim => 'true', quote => '"');
	shape("blanks before a few quotes, '$d'", "id${d}word\n" . rows(20, sub { "$_[0]$d" . ($_[0] == 7 ? ' "x" of old' : 'y') }), $d, 1, trim => undef);
}
for my $n (3, 4, 20, 60)
{
	shape("comma and blank, $n numbers and quotes", "id,n,word\n" . rows($n, sub { "$_[0], 5$_[0], \"x$_[0]\"" }), ',', 1, trim => 'true', names => 'id n word', quote => '"');
	shape("comma and blank, $n numbers and quotes, no header", rows($n, sub { "$_[0], 5$_[0], \"x$_[0]\"" }), ',', 0, trim => 'true', quote => '"');
	for my $d (',', ';', '|')
	{
		shape("blanks around '$d', $n numbers and quotes", "id${d}word${d}n\n" . rows($n, sub { "$_[0] $d \"x\" $d 5$_[0]" }), $d, 1, trim => 'true', names => 'id word n', quote => '"');
		shape("blanks around '$d', $n texts and quotes", "name $d word $d n\n" . rows($n, sub { "n$_[0] $d \"x\" $d 5$_[0]" }), $d, 1, trim => 'true', names => 'name word n', quote => '"');
		shape("blank behind '$d', $n texts, quotes, numbers", "name$d word$d n\n" . rows($n, sub { "n$_[0]$d \"x\"$d 5$_[0]" }), $d, 1, trim => 'true', names => 'name word n', quote => '"');
	}
}
for my $n (3, 30)
{
	shape("blanks around, half in quotes, $n", "name , n\n" . rows($n, sub { "\"b$_[0], x\" , $_[0]\n\"c$_[0]\" , 1$_[0]" }), ',', 1, trim => 'true', names => 'name n', quote => '"');
}
for my $d ('||', '::', '|~|')
{
	shape("blanks around '$d'", "a $d b $d c\n" . rows(20, sub { "n$_[0] $d x $d $_[0]" }), $d, 1, trim => 'true', names => 'a b c', types => 'text text integer');
	shape("blanks around '$d', quotes", "a $d b $d c\n" . rows(20, sub { "n$_[0] $d \"x, $d y\" $d $_[0]" }), $d, 1, trim => 'true', names => 'a b c', types => 'text text integer');
}
shape('blanks around two bars, no header', "a || x || 1\nb || y || 2\nc || z || 3\n", '||', 0, trim => 'true');
shape('tabs between blanks, quotes', rows(20, sub { "\"x $_[0]\" \t \"5$_[0]\" \t \"2024-01-02\"" }), "\t", 0, trim => 'true', quote => '"');
shape('bars in quotes behind blanks', "id | word\n" . rows(20, sub { "$_[0] | \"x | y\"" }), '|', 1, trim => 'true', quote => '"');
shape('ditto marks behind blanks', "a; b; c\n" . rows(20, sub { "$_[0]; \"; 5" }), ';', 1);
shape('a web log of this machine', rows(30, sub { "::1 - - [03/Oct/2024:13:55:" . (10 + $_[0]) . " +0200] \"GET /a/$_[0] HTTP/1.1\" 200 20$_[0]" }), ' ', 0);
shape('colons, times', "id::t::w\n1::10:20:30::a\n2::11:20:30::b\n3::12:20:30::c\n4::12:21:30::d\n", '::', 1, names => 'id t w');
shape('colons, timestamps', "id::t::w\n" . rows(120, sub { sprintf '%d::2024-01-02 10:%02d:%02d::w%d', $_[0], $_[0] % 60, $_[0] % 7, $_[0] }), '::', 1, names => 'id t w', types => 'integer timestamp text');
shape('colons, timestamps, no header', rows(20, sub { sprintf '%d::2024-01-02 10:%02d:00::w%d', $_[0], $_[0] % 60, $_[0] }), '::', 0, types => 'integer timestamp text');

# ---- data that does not look like data ----

# only the last records have a number, a date or a truth value
for my $n (2, 5, 20, 200)
{
	shape("$n codes, then a number", "name,code\n" . rows($n, sub { "n$_[0],c$_[0]" }) . "m,12345\n", ',', 1, names => 'name code', types => 'text text');
	shape("$n codes, then numbers", "name,code\n" . rows($n, sub { "n$_[0],c$_[0]" }) . "m1,1\nm2,2\n", ',', 1, names => 'name code');
	shape("$n towns, then a number", "name,city,code\n" . rows($n, sub { "n$_[0],city $_[0],c$_[0]" }) . "m,Rome,12345\n", ',', 1, names => 'name city code');
	shape("$n values, then a date", "name,date\n" . rows($n, sub { "n$_[0],n.d." }) . "m,2024-01-01\n", ',', 1, names => 'name date');
	shape("$n quarters, then a date", "name,date,k\n" . rows($n, sub { "n$_[0],2024-Q$_[0],x" }) . "m,2024-01-01,x\n", ',', 1, names => 'name date k');
	shape("$n values, then a truth value", "name,ok\n" . rows($n, sub { "n$_[0],maybe" }) . "m1,true\nm2,false\n", ',', 1, names => 'name ok');
	shape("$n codes of one column, then a number", "code\n" . rows($n, sub { "c$_[0]" }) . "12345\n", ',', 1, names => 'code', types => 'text');
	shape("$n texts and a sum", "name;city\n" . rows($n, sub { "n$_[0];c$_[0]" }) . "Total;$n\n", ';', 1, names => 'name city');
	shape("$n texts and a note", "name;city\n" . rows($n, sub { "n$_[0];c$_[0]" }) . "Source: office; 2024\n", ';', 1, names => 'name city');
}
shape('codes of post', "name,zip\nAnn,SW1A 1AA\nBob,EC1A 1BB\nJoe,75008\n", ',', 1, names => 'name zip', types => 'text text');
shape('versions', "host,version,state\nweb1,v12.3,up\nweb2,v12.4,up\ndb1,15,down\n", ',', 1, names => 'host version state');
shape('numbers behind text', "name,zip\n" . rows(60, sub { "n$_[0],c $_[0]" }) . rows(20, sub { "m$_[0],$_[0]" }), ',', 1, names => 'name zip', types => 'text text');

# the first record's values are missing, or odd
for my $odd ('', '#N/A', '5 kg', qw(n/a NA - ? unknown pending tbd tbc none five <5 5* X1 +5% 0x5 A100))
{
	shape("first '$odd'", "name,price\nAnn,$odd\nBob,2\nJoe,3\n", ',', 1, names => 'name price');
	shape("first '$odd', 20 records", "name,price\nAnn,$odd\n" . rows(19, sub { "N$_[0],$_[0]" }), ',', 1, names => 'name price');
	shape("first '$odd', codes", "sku,price\nPEN,$odd\nINK-0,2\nINK-1,3\n", ',', 1, names => 'sku price');
	shape("first '$odd', twice", "country,2020,2021\nAruba,$odd,$odd\nBobland,2,3\nJoeland,3,4\n", ',', 1, names => 'country _2020 _2021');
	shape("first '$odd', dates", "name,town,price,day\nAnn Lee,Rome,$odd,$odd\nBob,Oslo,2.50,2024-01-01\nJoe,Rome,3.50,2024-01-02\n", ',', 1, names => 'name town price day');
	shape("first '$odd', by date", "day,price\n2024-01-01,$odd\n2024-01-02,2.5\n2024-01-03,3.5\n", ',', 1, names => 'day price');
	shape("first '$odd', no text", "day,price\n$odd,$odd\n2024-01-02,2.5\n2024-01-03,3.5\n2024-01-04,3.5\n", ',', 1, names => 'day price') if $odd;
}
shape('numbers of phones', "name,phone\nAnn,+49 30 123\n" . rows(100, sub { "N$_[0],030 $_[0]" }), ',', 1, names => 'name phone', types => 'text text');
shape('numbers of accounts', "a,b\n(5.00),5-\n0.50,0\n1.50,2\n2.50,3\n", ',', 1, names => 'a b');
shape('units in brackets', "name;price;w\n;(EUR);[kg]\nBob;2;3\nJoe;3;3\n", ';', 2, names => 'name price_eur w_kg');
shape('a unit', "name;price\n;EUR\nBob;2\nJoe;3\n", ';', 2, names => 'name price_eur');
shape('blank line among codes', "name,code\nn0,c0\nn1,c1\n\nn2,c2\nn3,5\n", ',', 1, names => 'name code');

# damage near the top
for my $header ("id,name,v\n", '')
{
	my $h = $header ? 1 : 0;
	my @names = (names => $h ? 'id name v' : 'column_1 column_2 column_3');
	my %bad = (short => '7,x', long => '7,x,3,4', lines => "7,\"a\nb\",3,4", backslash => "7,a\\\nb,7", quotes => '7,"a "q" b",3');

	for my $kind (sort keys %bad)
	{
		shape("$kind at record $_, header $h", $header . rows(30, do { my $k = $_; sub { $_[0] == $k ? $bad{$kind} : "$_[0],name$_[0],$_[0]" } }),
			',', $h, @names)
		  for 1 .. 4;
	}
}
shape('damage, text', "name,city\nx\nAnn,Rome\nBob,Oslo\nEve,Bern\n", ',', 1, names => 'name city');
shape('a backslash once', "\"0\",\"he \\\"hi\\\" 0\",\\N,\"2.5\"\n" . rows(40, sub { "\"$_[0]\",\"plain $_[0]\",\\N,\"2.5\"" }), ',', 0);
shape('a column of decimal commas', "x\n1,5\n2,5\n3,25\n", "\t", 1, names => 'x', decimal_separator => ',');
shape('sentences below a name', "comment\nGood, but expensive\nBad, but cheap\nFine, and new\n", "\t", 1, names => 'comment');

# ---- what is in values, and may look like delimiters ----

shape('comma and blank, more in quotes', "name, note\nAnn, \"a, b, c\"\nBob, \"c, d\"\n", ',', 1, trim => 'true');
shape('percent signs', "a;b\n" . rows(20, sub { "$_[0],5 %;x$_[0]" }), ';', 1);
shape('percent signs, no header', rows(20, sub { "$_[0],5 %;x$_[0]" }), ';', 0);
shape('percent signs, three columns', "name;share;n\n" . rows(20, sub { "n$_[0];0,$_[0] %;$_[0]" }), ';', 1);
shape('units at the end, three columns', "name;a;b\n" . rows(20, sub { "n$_[0]!;$_[0],5 *;x" }), ';', 1);
shape('marks before values', rows(20, sub { "$_[0];#$_[0]a;#x" }), ';', 0);
shape('coordinates', "name;coord\nA;52,5 13,4\nB;48,1 11,5\n", ';', 1, names => 'name coord');
shape('ranges', "name;range\n" . rows(20, sub { "n$_[0];0,$_[0] - 0,7" }), ';', 1, names => 'name range');
shape('coordinates, bars', "name|coord\nA|52,5 13,4\nB|48,1 11,5\n", '|', 1, names => 'name coord');
shape('coordinates, carets', "name^coord\n" . rows(20, sub { "n$_[0]^$_[0],5 13,4" }), '^', 1, names => 'name coord');
shape('two bars, empty fields', rows(40, sub { $_[0] . '||' . ($_[0] % 3 ? '' : 'x') . '||' . ($_[0] % 4 ? '' : 'y') . "||1.$_[0]" }), '||', 0);
shape('two bars, more empty fields', "id||a||b||c||d||e||f||v\n" . rows(20, sub { $_[0] . '||' x 7 . "1.$_[0]" }), '||', 1);
shape('one bar, empty fields', "id|a|b|c|d\n" . rows(20, sub { "$_[0]||||1.$_[0]" }), '|', 1);
shape('semicolons in quotes, blanks between', rows(30, sub { "10.0.0.$_[0] - - [03/Oct/2024:13:55:" . (10 + $_[0]) . " +0200] \"GET /a/$_[0] HTTP/1.1\" 200 20$_[0] \"https://ex.com/\" \"Mozilla/5.0 (X11; Linux)\"" }), ' ', 0);
shape('commas in quotes, blanks between', rows(30, sub { "10.0.0.$_[0] - - [03/Oct/2024:13:55:" . (10 + $_[0]) . " +0200] \"GET /a/$_[0] HTTP/1.1\" 200 20$_[0] \"-\" \"Mozilla/5.0 (KHTML, like Gecko)\"" }), ' ', 0);
shape('points between thousands, or not', "a;b\n" . rows(9, sub { "$_[0].000;$_[0],5" }), ';', 1, types => 'text numeric', decimal_separator => ',', said => qr/separates thousands/);
shape('more points than commas', "a;b;c\n" . rows(9, sub { "$_[0].000;$_[0],5;$_[0].500" }), ';', 1, types => 'text numeric text', decimal_separator => ',');
shape('commas between thousands, or not', "a;b\n" . rows(9, sub { "$_[0],000;$_[0].5" }), ';', 1, types => 'text numeric', said => qr/separates thousands/);
shape('text format, line breaks', rows(30, sub { "$_[0]\t" . ($_[0] % 3 ? '\\N' : $_[0] % 2 ? "x\\\ny" : 'abc') . "\t6.1$_[0]\t2024-02-01 00:00:00" }), "\t", 0, format => 'text', types => 'integer text numeric timestamp');
shape('text format, nothing but a line break', "1\tone\t5\n2\ttwo\\\nlines\t6\n3\tx\t7\n4\tz\t8\n", "\t", 0, format => 'text', types => 'integer text integer');
shape('text format, the first record has the line break', "0\ttext 0\\\nmore\t0\t\\N\n" . rows(40, sub { "$_[0]\ttext $_[0]\t$_[0]\t\\N" }), "\t", 0, format => 'text');
shape('text format, line breaks in most records', "id\tnote\tv\n" . rows(30, sub { "$_[0]\ta\\\nb\\\nc\t6.1$_[0]" }), "\t", 1, format => 'text', types => 'integer text numeric');
shape('text format, tabs in values', "1\tone\\\ttwo\t5\n2\ttwo\t6\n3\tx\t7\n4\tz\t8\n", "\t", 0, format => 'text', types => 'integer text integer');
shape('drives', "id\tdrive\tn\n" . rows(20, sub { "$_[0]\tC:\\\t$_[0]" }), "\t", 1, format => 'csv');
shape('drives, no header', rows(20, sub { "$_[0]\tC:\\\t$_[0]" }), "\t", 0, format => 'csv');
shape('directories', "id\tdir\n" . rows(20, sub { "$_[0]\tC:\\temp\\" }), "\t", 1, format => 'csv');

for my $some (3, 50)
{
	shape("backslashes before quotes in $some lines", rows(50, sub { "10.0.0.$_[0] - - [03/Oct/2024:13:55:36 +0200] \"GET /a/$_[0] HTTP/1.1\" 200 6$_[0] \"-\" \"Mozilla/5.0 (X11; Linux)"
				. ($_[0] <= $some ? ' \\"q\\"' : '') . '"' }), ' ', 0);
}

# ---- UTF-16 without a mark ----

# as UTF-16 of ASCII, ae and Cyrillic
sub wide
{
	my ($format, $text) = @_;

	return pack "$format*", map { ord } split //, $text;
}

my $wide_text = "id\tname\r\n" . rows(20, sub { "$_[0]\tK\xe4se $_[0]" });
shape('UTF-16LE', wide('v', $wide_text), "\t", 1, names => 'id name', types => 'integer text', encoding => 'UTF16LE', said => qr/UTF16LE.* is a guess/);
shape('UTF-16BE', wide('n', $wide_text), "\t", 1, names => 'id name', types => 'integer text', encoding => 'UTF16BE', said => qr/UTF16BE.* is a guess/);
shape("MySQL's quotes", qq{1,"a \\"b\\" c",5\n2,"d",\\N\n3,"e",7\n4,"f",8\n}, ',', 0, null_values => '{"\\\\N"}');
shape('thousandths behind commas', "name;share\n" . rows(20, sub { sprintf "n%d;0,%03d", $_[0], $_[0] * 7 }), ';', 1, decimal_separator => ',', types => 'text numeric');
shape('thousands or decimals', "kg\tday\n1,250\t13.03.2024\n2,500\t14.03.2024\n", "\t", 1, types => 'integer date', said => qr/assuming "," as thousands separator in column "kg"/);
shape('one odd value', "id,n\n" . rows(40, sub { "$_[0]," . ($_[0] == 20 ? 'many' : $_[0]) }), ',', 1, types => 'integer text', said => qr/Column "n": 39 of 40 values are numbers, "many" \(line 21\) is not/);
shape('one odd date', "id,d\n" . rows(40, sub { sprintf "%d,2024-01-%s", $_[0], $_[0] == 3 ? 'xx' : sprintf '%02d', $_[0] % 28 + 1 }), ',', 1, types => 'integer text', said => qr/Column "d": 39 of 40 values are dates or times, "2024-01-xx" \(line 4\) is not/);
shape('house numbers', "street,no\n" . rows(40, sub { "s$_[0]," . ($_[0] % 4 ? $_[0] : "$_[0]a") }), ',', 1, types => 'text text', said => qr/^$/);
shape('a footer, far behind', "id;name;sum\n" . rows(30_000, sub { "$_[0];name $_[0];$_[0],5" }) . "\nTotal;;450030000,5\nas of today\n", ';', 1, footer_rows => 2);
shape('a footer, far behind, UTF-16LE', wide('v', "id;name;sum\n" . rows(30_000, sub { "$_[0];name $_[0];$_[0],5" }) . "\nTotal;;450030000,5\nas of today\n"), ';', 1, footer_rows => 2, encoding => 'UTF16LE');
shape('UTF-16LE, Cyrillic', wide('v', "id;name\n" . rows(20, sub { "$_[0];" . "\x{438}\x{43c}\x{44f}" x 5 })), ';', 1, encoding => 'UTF16LE');
shape('zero bytes', "a,b\n" . rows(9, sub { "$_[0],x\0y" }), ',', 1, encoding => 'UTF8', said => qr/UTF-16/);
shape('stray quotes', "id,note\n" . rows(9, sub { $_[0] % 3 ? "$_[0],\"x, \"\"y\"\"\"" : "$_[0],\"a \"b\" c\"" }), ',', 1, said => qr/quoting 'lenient'/);

# ---- all of them ----

my %count = (right => 0, dialect => 0);
my %has = map { $_ => 1 } split /\n/,
  $node->safe_psql('postgres', "SELECT unnest(proargnames) FROM pg_proc WHERE proname = 'csv_gpu_sniff'");

# what csv_gpu_sniff() says, column by column; of options that of any row
sub sniff
{
	my ($file) = @_;
	my @options = grep { $has{$_} } qw(null_values date_format timestamp_format thousands_separator decimal_separator encoding comment footer_rows trim format quote);
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT delimiter, min(header_rows), string_agg(column_name, ' ' ORDER BY column_number),"
		  . " string_agg(type, ' ' ORDER BY column_number), sum(nulls)"
		  . join('', map { ", max($_\::text)" } @options)
		  . ' FROM csv_gpu_sniff(' . literal($file) . ') GROUP BY delimiter',
		extra_params => [ '-F', "\x02", '-P', 'null=(none)' ]);
	my %found;

	@found{ 'delimiter', 'header_rows', 'names', 'types', 'nulls', @options } = map { $_ eq '(none)' ? undef : $_ } split /\x02/, $out, -1;
	$found{said} = $err;
	return \%found;
}

for my $shape (@shapes)
{
	my $file = "$dir/shape.csv";

	write_file($file, $shape->{content});
	my $found = sniff($file);
	my @wrong = grep {
		my ($got, $expected) = ($found->{$_} // '(none)', $shape->{$_} // '(none)');

		$_ eq 'said' ? $got !~ $expected : $got ne $expected
	} grep { !/^(name|content)$/ } sort keys %$shape;

	$count{right}++ if !@wrong;
	$count{dialect}++ if !grep { /^(delimiter|header_rows)$/ } @wrong;
	ok(!@wrong, $shape->{name}) or diag(join "\n", $shape->{name}, map { "$_: " . ($found->{$_} // 'NULL') . ", not " . ($shape->{$_} // 'NULL') } @wrong);
}
note("of " . @shapes . " shapes, delimiter and first record are right in $count{dialect}, all in $count{right}");

# ---- random ones ----

# A file is put together of a preamble, a header, records and a footer; each has many
# forms, and the delimiter is not always one that stands in no other place.
my @words = qw(north south east west river mountain city valley coast island steel copper wheat rye barley oats
  spring summer autumn winter large small old new first last upper lower inner outer);
my @names = qw(region area code label amount value total share rate count price weight height level flow depth status remark);

sub phrase
{
	return join ' ', map { pick(@words) } 1 .. 1 + rand($_[0]);
}

sub number
{
	my ($point, $decimals) = @_;

	return sprintf('%.*f', $decimals, rand(1000)) =~ s/\./$point/r;
}

# a generator of a column's values
sub column
{
	my ($point, $delimiter) = @_;
	my $decimals = 1 + int(rand(3));
	my $format = pick('%04d-%02d-%02d', '%3$02d.%2$02d.%1$04d', '%04d/%02d/%02d');
	my $prefix = uc(pick('a' .. 'z'));

	return (
		sub { int(rand(10_000)) },
		sub { number($point, $decimals) },
		sub { chance(0.2) ? '' : number($point, $decimals) },
		sub { chance(0.2) ? pick('NA', '-', 'n/a') : int(rand(100)) },
		sub { sprintf $format, 2000 + rand(24), 1 + rand(12), 1 + rand(28) },
		sub { sprintf '%s%03d', $prefix, rand(1000) },
		sub { phrase(2) },
		sub { '"' . phrase(3) . "$delimiter " . phrase(2) . '"' },
		sub { chance(0.1) ? '"' . phrase(2) . "\n" . phrase(2) . '"' : phrase(3) })[ rand 9 ];
}

# lines above the table, of fewer fields; without their ends
sub preamble
{
	my ($delimiter) = @_;
	my $kind = int(rand(6));
	my $n = chance(0.2) ? 10 + int(rand(14)) : 1 + int(rand(5));

	return map {
		$kind == 0 ? ucfirst(phrase(4)) :
		$kind == 1 ? ucfirst(phrase(3)) . ', ' . phrase(3) . (chance(0.5) ? ', ' . phrase(2) . '.' : '') :
		$kind == 2 ? ucfirst(phrase(1)) . ': ' . pick(phrase(2), '2024-05-01', '12.5', '31.12.2023 10:00') :
		$kind == 3 ? ucfirst(phrase(1)) . $delimiter . pick(phrase(2), '2024-05-01', '17') :
		$kind == 4 ? '# ' . phrase(4) :
		'"' . ucfirst(phrase(4)) . '"'
	} 1 .. $n;
}

sub random_shape
{
	my ($number) = @_;
	my $delimiter = pick(',', ',', ';', ';', "\t", '|');
	my $point = $delimiter ne ',' && chance(0.5) ? ',' : '.';
	my $ncolumns = 2 + int(rand(chance(0.3) ? 14 : 5));
	my $nrecords = chance(0.3) ? 1 + int(rand(5)) : 6 + int(rand(60));
	my $break = chance(0.2) ? "\r\n" : "\n";
	my @columns = map { column($point, $delimiter) } 1 .. $ncolumns;
	my (@lines, @header, @footer);

	# text alone tells nothing of where it begins
	$columns[ rand @columns ] = sub { number($point, 2) } if chance(0.9) || $nrecords < 6;
	if (chance(0.6))
	{
		@lines = preamble($delimiter);
		push @lines, '' if chance(0.7) || $lines[-1] =~ /\Q$delimiter\E/;
		@lines = map { $_ . $delimiter x ($ncolumns - 1 - (() = /\Q$delimiter\E/g)) } @lines
		  if chance(0.3) && !grep { (() = /\Q$delimiter\E/g) >= $ncolumns } @lines;
	}
	if (chance(0.85))
	{
		my $n = 0;

		@header = (join $delimiter, map { ucfirst(pick(@names)) . '_' . ++$n } 1 .. $ncolumns);
		if ($ncolumns > 3 && chance(0.15))
		{
			unshift @header, join $delimiter, map { $_ % 2 ? ucfirst(phrase(1)) : '' } 1 .. $ncolumns;
		}
		elsif ($ncolumns > 2 && chance(0.15))
		{
			push @header, join $delimiter, map { pick('mm', 'kg', 'm/s', '%', 'EUR') } 1 .. $ncolumns;
		}
	}
	@footer = pick([ '', 'Source: ' . phrase(3) ], [ 'Notes: ' . phrase(3) . ', ' . phrase(2) ],
		[ '', '1) ' . phrase(2), '2) ' . phrase(4) ])->@* if chance(0.25) && $nrecords > 2;
	push @lines, @header;
	my $header_rows = grep { !/^#/ } @lines;
	push @lines, map { join $delimiter, map { $_->() } @columns } 1 .. $nrecords;
	return { name => "random $number", delimiter => $delimiter, header_rows => $header_rows,
		content => join '', map { s/\n/$break/gr . $break } @lines, @footer };
}

# the same ones each time, as their number is compared
$ENV{SEED} ||= 1;
random_seed();
my $nrandom = amount(200);
my $nright = 0;

for my $number (1 .. $nrandom)
{
	my $shape = random_shape($number);

	write_file("$dir/shape.csv", $shape->{content});
	my $found = sniff("$dir/shape.csv");

	if ($found->{delimiter} eq $shape->{delimiter} && $found->{header_rows} == $shape->{header_rows})
	{
		$nright++;
	}
	elsif ($ENV{EFFORT})
	{
		diag(sprintf "%s: delimiter %s, header_rows %s, not %s, %s\n%s", $shape->{name},
			@$found{qw(delimiter header_rows)}, @$shape{qw(delimiter header_rows)},
			join '', map { "$_\n" } (split /\n/, $shape->{content})[ 0 .. $shape->{header_rows} + 3 ]);
	}
}
note("of $nrandom random shapes, $nright are right");
# 94 of 100 are; of the others most could be read in two ways
cmp_ok($nright, '>=', 7 / 8 * $nrandom, 'seven of eight random shapes are right');

# ---- tables made of them ----

# whatever was found, all values of a table are of its types: no record is skipped that
# csv_gpu_sniff() has not counted
mkdir "$dir/all" or die;
my $number = 0;
write_file(sprintf('%s/all/t%03d.csv', $dir, ++$number), $_->{content}) for @shapes, map { random_shape($_) } 1 .. $nrandom;
$node->safe_psql('postgres', 'CREATE SCHEMA made; SET client_min_messages = warning;'
	  . ' IMPORT FOREIGN SCHEMA "shapes" FROM SERVER csv INTO made OPTIONS (directory ' . literal("$dir/all") . ", log_verbosity 'silent')");
$node->safe_psql('postgres', q{
CREATE FUNCTION check_all(directory text, OUT ntables int, OUT wrong text) LANGUAGE plpgsql AS $$
DECLARE
	name text;
	nrows bigint;
	nerrors bigint;
	found record;
BEGIN
	ntables := 0;
	wrong := '';
	SET client_min_messages = warning;
	FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'made'::regnamespace ORDER BY 1 LOOP
		EXECUTE format('SELECT count(t::text) FROM made.%I t', name) INTO nrows;
		EXECUTE format('SELECT count(e::text) FROM csv_gpu_errors(''made.%I'') e', name) INTO nerrors;
		SELECT min(records) AS records, min(skipped) AS skipped INTO found FROM csv_gpu_sniff(directory || '/' || name || '.csv');
		IF found.records - found.skipped <> nrows OR found.skipped <> nerrors THEN
			wrong := wrong || format(' %s: %s rows and %s errors, found %s', name, nrows, nerrors, found);
		END IF;
		ntables := ntables + 1;
	END LOOP;
END $$});
is($node->safe_psql('postgres', 'SELECT * FROM check_all(' . literal("$dir/all") . ')'), "$number|", 'tables hold what was found');

# and these mean what they should
sub value
{
	my ($content, $sql) = @_;

	system('rm', '-rf', "$dir/one") == 0 && mkdir "$dir/one" or die;
	write_file("$dir/one/t.csv", $content);
	return $node->safe_psql('postgres', 'DROP SCHEMA made CASCADE; CREATE SCHEMA made; SET client_min_messages = warning;'
		  . ' IMPORT FOREIGN SCHEMA "shapes" FROM SERVER csv INTO made OPTIONS (directory ' . literal("$dir/one") . "); SELECT $sql FROM made.t");
}

is(value("day;amount\n31.12.2024;1.234,56\n1.2.2025;-\n", 'string_agg(t::text, chr(32))'), '(2024-12-31,1234.56) (2025-02-01,)', 'German');
is(value("at,n\n12/31/2024 11:59:59 PM,\"1,234\"\n1/2/2025 12:00:00 AM,\"12,345\"\n", 'string_agg(t::text, chr(32))'),
	'("2024-12-31 23:59:59",1234) ("2025-01-02 00:00:00",12345)', 'American');
is(value("at,n\n2024-01-02 10:00:00,5\n2024-01-02 10:00:01,\"NA\"\n", 'count(*), count(n), min(at)'), '2|1|2024-01-02 10:00:00', 'a word in quotes');
is(value("a,b,c\n31-Dec-2024,x,NA\n01-JAN-2025,NA,1\n", 'string_agg(t::text, chr(32))'), '(2024-12-31,x,) (2025-01-01,NA,1)', 'a word that is a value, too');
is(value("a,b\n31/12/2024,12/31/2024\n30/12/2024,12/30/2024\n", 'count(*), min(a), max(b)'), '2|2024-12-30|2024-12-31', 'two orders');
is(value("station,t,u\n1,-999,5\n2,3,-999\n3,-999,7\n4,-999,8\n5,2,9\n6,3,9\n7,1,1\n", 'count(t), count(u), min(u)'), '4|7|-999', 'a number for missing values');
is(value("at;v\n01.02.2024 10:00:00,5;1\n01.02.2024 10:00:01,25;2\n13.02.2024 10:00;3\n", 'string_agg(t::text, chr(32) ORDER BY v)'),
	'("2024-02-01 10:00:00.5",1) ("2024-02-01 10:00:01.25",2) ("2024-02-13 10:00:00",3)', 'fractions behind commas, and less of a time');

finish();
