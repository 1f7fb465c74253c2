# Files of the shapes in which tables are published: preambles, headers of several
# rows, footers, comments, words for missing values, dates in the orders of the
# world, separators of thousands, 8-bit encodings.  Of each, csv_gpu_sniff() must
# find the delimiter, where the data begins and, where that is said, names, types
# and options; and a table made of it by IMPORT holds as many records.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use CsvServer;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = csv_server('shapes');
my $dir = PostgreSQL::Test::Utils::tempdir;

chmod 0755, $dir;

# name => [content, delimiter, header_rows, what else]: names and types, joined by
# blanks, and the options null_values, date_format, timestamp_format,
# thousands_separator, decimal_separator, encoding; said: a pattern of the NOTICEs
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

shape('plain', "id,name,amount\n1,Ann,2.5\n2,Bob,3\n", ',', 1, names => 'id name amount', types => 'integer text numeric(2,1)');
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
shape('bars', "sku|descr|price\nA-1|nuts, bolts; nails|1.50\nA-2|glue; tape, rope|2.00\n", '|', 1, types => 'text text numeric(3,2)');
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
shape('version lines', "#DEVICE LOGGER v1.2\n[Channel 1]\nname=probe;unit=C\n[Data]\nIndex;Time;Value\n1;10:00:00;21.5\n2;10:00:10;21.6\n3;10:00:20;21.7\n", ';', 5);

# ---- preambles padded to the table's width ----

shape('padded title', "Population,,\n,,\nregion,men,women\nNorth,1,2\nSouth,3,4\n", ',', 3, names => 'region men women');
shape('padded notes', "Title of the table;;;\nSource: office;;;\nUnit: persons;;;\n;;;\nCode;Name;2019;2020\n01;North;10;12\n02;South;14;15\n03;East;9;9\n", ';', 5);
shape('padded, text only', "Staff list,,\nas of May,,\nname,role,room\nAnn,chief,A one\nBob,clerk,B two\nEve,clerk,A one\n", ',', 3, names => 'name role room');
shape('padded key and value', "Bank:,First,,\nAccount:,123,,\nPeriod:,2024,,\n,,,\nDate,Text,Debit,Credit\n2024-01-02,Rent,500.00,\n2024-01-03,Wages,,1500.00\n2024-01-04,Food,20.10,\n", ',', 5, names => 'date text debit credit');

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
shape('comments of commas', "# BRON: institute\n# Opmerking: door verplaatsing, en waarneemmethodieken\n# STN      = station\n# FG       = speed (in 0.1 m/s), daily\n# STN,YYYYMMDD,   FG,   TG\n#\n  260,20240101,   45,   71\n  260,20240102,   48,   82\n  260,20240103,   51,   93\n", ',', 6);

# ---- footers and comments ----

shape('a long footer', "Table 3\n\nregion;2019;2020\nNorth;1,5;2,5\nSouth;3,5;4,5\nWest;3,5;4,5\n\n" . rows(12, sub { "$_[0]) see note $_[0], page " . $_[0] * 3 }), ';', 3);

shape('sum', "item,count,price\na,1,2.5\nb,2,3.5\nTotal,3,6.0\n", ',', 1);
shape('notes below', "year,value,index\n2019,1,1.5\n2020,2,2.5\n2021,3,3.5\n\nNote: provisional, subject to revision\nSource: office\n", ',', 1);
shape('preamble and notes', "Exports, by partner\n\npartner;2019;2020\nDE;1,5;2,5\nFR;3,5;4,5\n\n\"Source: Office, national accounts\"\nQuestions: call us; or write\n", ';', 3);
shape('comments above', "# measured by probe 4\n# unit, mm; filtered\nt,x\n1,0.5\n2,0.6\n3,0.7\n", ',', 3, names => 't x');
shape('header is a comment', "# station 12, hourly\n# time,temp,wind\n2024-01-01 00:00,1.5,2\n2024-01-01 01:00,1.6,3\n2024-01-01 02:00,1.7,3\n", ',', 2, names => 'time temp wind');
shape('comments between', "t,x,y\n# calibration\n1,0.5,2\n# restart, again\n2,0.6,3\n3,0.7,4\n", ',', 2);
shape('ragged beginning', "id,name,amount,unit\n1,a,2\n2,b,3,kg\n3,c,4,kg\n4,d,5,kg\n", ',', 1);
shape('ragged beginning, no header', "1,a,2\n2,b,3,kg\n3,c,4,kg\n4,d,5,kg\n", ',', 0);
shape('ragged end', "a,b,c,d\n1,2,3,4\n5,6,7,8\n9,10,11,12\n13,14\n", ',', 1);
shape('two columns after prose', "Quarterly figures\nAll values in thousand, unless noted\nRounded\n\nQuarter;Value\n2023Q1;10\n2023Q2;11\n", ';', 5);

# ---- missing values ----

shape('NA', "id,x,y\n1,NA,2.5\n2,3,NA\n3,4,1.5\n", ',', 1, types => 'integer integer numeric(2,1)', null_values => '{NA}');
shape('n/a and text', "id,x,code\n1,n/a,AT\n2,3,BE\n3,4,NA\n", ',', 1, types => 'integer integer text', null_values => '{n/a}');
shape('NA is a value', "code,name\nMY,Malaysia\nNA,Namibia\nNE,Niger\n", ',', 1, types => 'text text', null_values => undef);
shape('hyphen', "town;rain;sun\nA;-;1,5\nB;2,5;-\nC;1,5;2,5\n", ';', 1, types => 'text numeric(2,1) numeric(2,1)', null_values => '{-}', decimal_separator => ',');
shape('points', "k,v\n1,.\n2,5\n3,6\n", ',', 1, types => 'integer integer', null_values => '{.}');
shape('NULL in quotes', "id,v\n1,\"NULL\"\n2,\"5\"\n3,NULL\n", ',', 1, types => 'integer integer', null_values => '{"NULL"}');
shape('null among dates', "id,day\n1,2024-01-01\n2,null\n3,2024-02-01\n", ',', 1, types => 'integer date', null_values => '{"null"}');
shape('NaN', "id,v\n1,NaN\n2,1.5\n", ',', 1, types => 'integer double precision', null_values => undef);

# ---- dates ----

shape('day first', "day,v\n31/12/2024,1\n01/01/2025,2\n", ',', 1, types => 'date integer', date_format => 'DD/MM/YYYY');
shape('month first', "day,v\n12/31/2024,1\n01/01/2025,2\n", ',', 1, types => 'date integer', date_format => 'MM/DD/YYYY');
shape('points in dates', "Tag;Wert\n31.12.2024;1,5\n1.1.2025;2,5\n", ';', 1, types => 'date numeric(2,1)', date_format => 'DD.MM.YYYY');
shape('undecided', "day,v\n01/02/2024,1\n03/04/2024,2\n", ',', 1, types => 'date integer', said => qr/guess/);
shape('decided by another column', "from,to\n01/02/2024,25/02/2024\n03/04/2024,20/04/2024\n", ',', 1, types => 'date date', date_format => 'DD/MM/YYYY');
shape('two orders', "a,b\n31/12/2024,12/31/2024\n30/12/2024,12/30/2024\n", ',', 1, types => 'date date');
shape('digits', "date,v\n20241231,1\n20250101,2\n", ',', 1, types => 'date integer', date_format => 'YYYYMMDD');
shape('digits that are none', "id,v\n20241231,1\n20250101,2\n", ',', 1, types => 'integer integer');
shape('month\'s name', "d,v\n31-Dec-2024,1\n01-Jan-2025,2\n", ',', 1, types => 'date integer', date_format => 'DD-Mon-YYYY');
shape('year first, slashes', "d,v\n2024/12/31,1\n2025/01/01,2\n", ',', 1, types => 'date integer', date_format => 'YYYY/MM/DD');
shape('times', "t,v\n31/12/2024 23:59,1\n01/01/2025 00:00,2\n", ',', 1, types => 'timestamp integer', timestamp_format => 'DD/MM/YYYY HH24:MI');
shape('times of 12 hours', "t,v\n12/31/2024 11:59:59 PM,1\n01/01/2025 12:00:00 AM,2\n", ',', 1, types => 'timestamp integer', timestamp_format => 'MM/DD/YYYY HH12:MI:SS AM');
shape('times by points', "t;v\n31.12.2024 23:59:01;1,5\n01.01.2025 00:00:11;2,5\n", ';', 1, types => 'timestamp numeric(2,1)', timestamp_format => 'DD.MM.YYYY HH24:MI:SS');
shape('no dates', "version,v\n1.2.2024,1\n45.13.2024,2\n", ',', 1, types => 'text integer');

# ---- numbers ----

shape('thousands, English', "item,amount\na,\"1,234.56\"\nb,12.5\nc,\"2,000,000.00\"\n", ',', 1, types => 'text numeric(9,2)', thousands_separator => ',');
shape('thousands, whole numbers', "town,people\na,\"1,234\"\nb,812\nc,\"2,345,000\"\n", ',', 1, types => 'text integer', thousands_separator => ',');
shape('thousands, German', "artikel;preis\na;1.234,56\nb;12,50\n", ';', 1, types => 'text numeric(6,2)', thousands_separator => '.', decimal_separator => ',');
shape('thousands, French', "ville;habitants;part\nA;1 234;1,5\nB;12 345;2,5\n", ';', 1, types => 'text integer numeric(2,1)', thousands_separator => ' ', decimal_separator => ',');
shape('thousands, Swiss', "ort\tbetrag\nA\t1'234.50\nB\t12'345.00\n", "\t", 1, types => 'text numeric(7,2)', thousands_separator => "'");
shape('decimal commas in quotes', "a,b\n\"1,5\",x\n\"22,75\",y\n\"3,25\",z\n", ',', 1, types => 'numeric(4,2) text', decimal_separator => ',');

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
shape('ga', "# ----------------------------------------\n# All Web Site Data\n# Pages\n# 20240101-20240131\n# ----------------------------------------\n\nPage,Pageviews,Bounce Rate\n/home,\"1,234\",45.67%\n/about,567,12.30%\n,\"1,801\",30.00%\n", ',', 7);
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

# ---- all of them ----

my %count = (right => 0, dialect => 0);
my %has = map { $_ => 1 } split /\n/,
  $node->safe_psql('postgres', "SELECT unnest(proargnames) FROM pg_proc WHERE proname = 'csv_gpu_sniff'");

# what csv_gpu_sniff() says, column by column; of options that of any row
sub sniff
{
	my ($file) = @_;
	my @options = grep { $has{$_} } qw(null_values date_format timestamp_format thousands_separator decimal_separator encoding);
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT delimiter, min(header_rows), string_agg(column_name, ' ' ORDER BY column_number),"
		  . " string_agg(type, ' ' ORDER BY column_number), sum(nulls)"
		  . join('', map { ", max($_)" } @options)
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
	my $header_rows = @lines;
	push @lines, map { join $delimiter, map { $_->() } @columns } 1 .. $nrecords;
	return { name => "random $number", delimiter => $delimiter, header_rows => $header_rows,
		content => join '', map { s/\n/$break/gr . $break } @lines, @footer };
}

random_seed();
my $nrandom = $ENV{CSV_GPU_FDW_FILES} // 200;
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
	elsif ($ENV{CSV_GPU_FDW_FILES})
	{
		diag(sprintf "%s: delimiter %s, header_rows %s, not %s, %s\n%s", $shape->{name},
			@$found{qw(delimiter header_rows)}, @$shape{qw(delimiter header_rows)},
			join '', map { "$_\n" } (split /\n/, $shape->{content})[ 0 .. $shape->{header_rows} + 3 ]);
	}
}
note("of $nrandom random shapes, $nright are right");
cmp_ok($nright, '>=', 0.9 * $nrandom, 'nine of ten random shapes are right');

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

$node->stop;
done_testing();
