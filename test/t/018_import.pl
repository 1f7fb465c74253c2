# IMPORT FOREIGN SCHEMA over folders of varied files: every table then reads
# without a skipped record, and holds what file_fdw reads as text.
use lib 'test/t';
use CsvServer;
use Encode qw(encode);

my $node = csv_server('import');
my $dir = new_folder();

random_seed();

sub import_folder
{
	my ($folder, $options) = @_;
	my ($rc, $out, $err);

	sql('DROP SCHEMA IF EXISTS made CASCADE; CREATE SCHEMA made');
	($rc, $out, $err) = $node->psql('postgres',
			'IMPORT FOREIGN SCHEMA "remote" FROM SERVER csv INTO made OPTIONS (directory '
		  . literal($folder)
		  . ($options // '') . ')');
	is($rc, 0, 'imported') or diag($err);
	return $err;
}

# the columns of a table: [name, type] each
sub columns
{
	my ($table) = @_;

	return map { [ split /\|/, $_, 2 ] } split /\n/,
	  sql("SELECT quote_ident(attname), format_type(atttypid, atttypmod) FROM pg_attribute"
		  . " WHERE attrelid = 'made.$table'::regclass AND attnum > 0 ORDER BY attnum");
}

# Reads a table to its end with on_error 'stop', all columns, and compares each
# value with what file_fdw reads as text.  (The values of file_fdw are given
# the column's type, since 1.5 may be 1.50 there, and NULL for the words that were
# found to stand for it.)
sub check_table
{
	my ($table, $file, $options, $decimal) = @_;
	my @columns = columns($table);
	my $n = 0;
	my $trim = sql("SELECT count(*) FROM pg_foreign_table, pg_options_to_table(ftoptions)"
		  . " WHERE ftrelid = 'made.$table'::regclass AND option_name = 'trim'");
	my @missing = map { literal($_) } split /\n/, sql("SELECT coalesce((SELECT option_value FROM pg_options_to_table(attfdwoptions) WHERE option_name = 'null_values'), '{}')"
		  . " FROM pg_attribute WHERE attrelid = 'made.$table'::regclass AND attnum > 0 ORDER BY attnum");

	sql("ALTER FOREIGN TABLE made.$table OPTIONS (ADD on_error 'stop')");
	sql('DROP FOREIGN TABLE IF EXISTS other; CREATE FOREIGN TABLE other ('
		  . join(', ', map { 'c' . $n++ . ' text' } @columns)
		  . ") SERVER file OPTIONS (filename "
		  . literal($file)
		  . ", format 'csv'$options)");
	my $differs = join ' OR ', map {
		# what is nothing but blanks is NULL then, and "" is not
		my $text = $trim ? "CASE WHEN b.c$_ !~ E'^[ \\t]+\$' THEN btrim(b.c$_, E' \\t') END" : "b.c$_";

		$text = "replace($text, ',', '.')" if $decimal && $columns[$_][1] =~ /numeric|double/;
		$text = "CASE WHEN $text <> '' AND $text <> ALL ($missing[$_]) THEN $text END" if $columns[$_][1] ne 'text';
		"a.$columns[$_][0] IS DISTINCT FROM $text"
		  . ($columns[$_][1] eq 'text' ? '' : "::$columns[$_][1]")
	} 0 .. $#columns;
	return sql("SELECT count(*) || ' of ' || greatest((SELECT count(*) FROM made.$table), (SELECT count(*) FROM other)) || ' differ'"
		  . " FROM (SELECT *, row_number() OVER () FROM made.$table) a"
		  . " FULL JOIN (SELECT *, row_number() OVER () FROM other) b USING (row_number)"
		  . " WHERE a.row_number IS NULL OR b.row_number IS NULL OR $differs");
}

# ---- a folder of varied files ----

my $varied = "$dir/varied";
mkdir $varied or die;
my $rows = 30_000;

# what changes in the last record only
write_file("$varied/late.csv",
	"id,int,num,day,flag,time,none\n",
	(map { "$_,$_,1.5,2020-02-29,true,2020-02-29 10:00:00,\n" } 1 .. $rows),
	"99999999999,x,123456.789,2020-02-29 11:00,maybe,2020-02-29 10:00:00+02,\n");
write_file("$varied/nulls.csv", "a,b,c\n", map { "$_,,\n" } 1 .. 1000);
write_file("$varied/names.csv",
	"id,id,,\"the \"\"id\"\", quoted\",select,1st,\"two\nlines\",", '_' x 62, "\xc3\xa4\n1,2,3,4,5,6,7,8\n");
write_file("$varied/no_header.csv", map { "$_,2020-01-01,$_.25\n" } 1 .. 1000);
write_file("$varied/semicolons.csv", "id;amount;name\n", map { "$_;$_,75;a, b\n" } 1 .. 1000);
write_file("$varied/tabs.tsv", "id\tname\n", map { "$_\tSmith, John; Jr.\n" } 1 .. 1000);
write_file("$varied/crlf.csv", "id,text\r\n", map { "$_,\"two\r\nlines, $_\"\r\n" } 1 .. 1000);
write_file("$varied/bom.csv", "\xef\xbb\xbfid,n\xc3\xa4me\n", map { "$_,\xc3\xb6\n" } 1 .. 1000);
write_file("$varied/utf16.csv", encode('UTF-16', join '', "id,n\x{e4}me\n", map { "$_,\x{20ac}\n" } 1 .. 1000));
write_file("$varied/codes.csv", "zip,n,phone\n", map { sprintf "%05d,%d,+47%08d\n", $_, $_, $_ } 1 .. 1000);
write_file("$varied/quoted.csv", "\"id\",\"v\"\n", map { "\"$_\",\"" . ($_ % 3 ? "$_.5" : '') . "\"\n" } 1 .. 1000);
write_file("$varied/pipes.csv", "id|u\n", map { sprintf "%d|00000000-0000-4000-8000-%012x\n", $_, $_ } 1 .. 1000);
write_file("$varied/it's \"hostile\"\n; DROP TABLE x; --.csv", "a,b\n1,2\n");
write_file("$varied/empty.csv");

my %packed = (gz => 'gzip', zst => 'zstd -q', lz4 => 'lz4 -q');
for my $suffix (keys %packed)
{
	my ($tool) = split / /, $packed{$suffix};

	next if !has_program($tool);
	system("$packed{$suffix} -c < $varied/late.csv > $varied/packed_$suffix.csv.$suffix") == 0 or die;
}

my $said = import_folder($varied, ", limits 'true'");
is(join("\n", grep { /NOTICE/ && !/(?:late|packed_\w+)\.csv\S* are text for a few of their values/ } split /\n/, $said),
	"psql:<stdin>:1: NOTICE:  \"$varied/empty.csv\" is empty: there is no table \"empty\"", 'nothing to say but of the empty file');
is(scalar(() = $said =~ /Column "\w+": \d+ of \d+ values are/g), 3 * (() = $said =~ /are text for a few/g), 'and of late values');

my %types = (
	late => 'bigint text numeric(9,3) timestamp_without_time_zone text text text',
	nulls => 'integer text text',
	names => 'integer integer integer integer integer integer integer integer',
	no_header => 'integer date numeric(6,2)',
	semicolons => 'integer numeric(6,2) text',
	tabs => 'integer text',
	crlf => 'integer text',
	bom => 'integer text',
	utf16 => 'integer text',
	codes => 'text integer text',
	quoted => 'integer numeric(5,1)',
	pipes => 'integer uuid',
	it_s_hostile_drop_table_x => 'integer integer');
$types{"packed_$_"} = $types{late} for grep { -e "$varied/packed_$_.csv.$_" } keys %packed;

is(sql("SELECT string_agg(relname, ' ' ORDER BY relname COLLATE \"C\") FROM pg_class WHERE relnamespace = 'made'::regnamespace"),
	join(' ', sort keys %types), 'a table for each of the others');
for my $table (sort keys %types)
{
	is(join(' ', map { (my $type = $_->[1]) =~ tr/ /_/; $type } columns($table)),
		$types{$table}, "types of $table");
	is(sql("SELECT count(*) FROM csv_gpu_errors('made.$table')"), 0, "no bad record in $table");
}
is(sql("SELECT count(*), sum(length(\"n\xc3\xa4me\")) FROM made.utf16"), '1000|1000', 'values in UTF-16');
is(join(' ', map { $_->[0] } columns('names')),
	'id id_2 column_3 the_id_quoted select_ _1st two_lines column_8', 'names');
is(join(' ', map { $_->[0] } columns('no_header')), 'column_1 column_2 column_3', 'names without a header');

my $header = ", header 'true'";
like(check_table($_->[0], "$varied/$_->[1]", $_->[2], $_->[3]), qr/^0 of [1-9]\d* differ/, "values of $_->[0]")
  for [ 'late', 'late.csv', $header ],
  [ 'nulls', 'nulls.csv', $header ],
  [ 'no_header', 'no_header.csv', '' ],
  [ 'semicolons', 'semicolons.csv', "$header, delimiter ';'", 1 ],
  [ 'tabs', 'tabs.tsv', "$header, delimiter E'\\t'" ],
  [ 'crlf', 'crlf.csv', $header ],
  [ 'bom', 'bom.csv', $header ],
  [ 'codes', 'codes.csv', $header ],
  [ 'quoted', 'quoted.csv', $header ],
  [ 'pipes', 'pipes.csv', "$header, delimiter '|'" ],
  map { [ "packed_$_", 'late.csv', $header ] } grep { $types{"packed_$_"} } sort keys %packed;

# ---- random values of many spellings ----

my @spellings = (
	sub { int(rand(10)) }, sub { int(rand(2**31)) * (rand() < 0.5 ? -1 : 1) },
	sub { join '', 1 + int(rand(9)), map { int(rand 10) } 1 .. int(rand 25) },
	sub { sprintf '%.*f', int(rand 6), rand(1000) - 500 }, sub { '.' . int(rand(100)) },
	sub { sprintf '%.*e', int(rand 17), (rand() - 0.5) * 10**(int(rand 620) - 310) },
	sub { (qw(NaN Infinity -inf nan inf))[ rand 5 ] },
	sub { (qw(t f true false TRUE False yes no Y n on off 1 0 tr fals))[ rand 16 ] },
	sub { sprintf '%04d-%02d-%02d', rand(10000), 1 + rand(12), 1 + rand(31) },
	sub { sprintf '%04d-%02d-%02d%s%02d:%02d:%02d', 1 + rand(9998), 1 + rand(12), 1 + rand(28), (' ', 'T')[ rand 2 ], rand(25), rand(60), rand(61) },
	sub { sprintf '%04d-%02d-%02d %02d:%02d:%02d%s', 1 + rand(9998), 1 + rand(12), 1 + rand(28), rand(24), rand(60), rand(60), ('Z', '+02', '-0530', ' +14:00', '+16:00', '+25')[ rand 6 ] },
	sub { sprintf '%08x-%04x-%04x-%04x-%012x', map { rand(65536) } 1 .. 5 },
	sub { sprintf '%032x', rand(2**31) },
	sub { '' }, sub { '""' }, sub { '"quoted, ""text"""' }, sub { ' ' . int(rand 100) . ' ' },
	sub { '0' . int(rand 100) }, sub { '+' . int(rand 100) }, sub { '-' }, sub { '.' }, sub { '5.' }, sub { "\xc3\xa9" x rand(20) }, sub { 'x' x rand(300) });
my $random = "$dir/random";
mkdir $random or die;
for my $n (1 .. 60)
{
	my @generators = map { [ @spellings[ map { rand @spellings } 0 .. rand(3) ] ] } 1 .. 8;
	my $content = join(',', map { "c$_" } 0 .. 8) . "\n";

	for my $record (1 .. 1 + int(rand(400)))
	{
		# most values of a column are of one kind
		my @values = map { (rand() < 0.98 ? $_->[0] : $_->[ rand @$_ ])->() } @generators;

		$content .= join(',', $record, map { rand() < 0.02 && !/^"/ ? " $_\t" : $_ } @values) . "\n";
	}
	write_file("$random/f$n.csv", $content);
}
import_folder($random, $header);
my ($ntyped, $nbad) = (0, 0);
for my $n (1 .. 60)
{
	$ntyped += grep { $_->[1] ne 'text' } columns("f$n");
	my $result = check_table("f$n", "$random/f$n.csv", $header);

	next if $result =~ /^0 of/;
	$nbad++;
	diag("f$n: $result");
	system("cp $random/f$n.csv $ENV{TESTLOGDIR}");
}
is($nbad, 0, 'random files read without a skipped record, as file_fdw has their text');
cmp_ok($ntyped, '>', 100, "types other than text are inferred ($ntyped of 540)");

# ---- hostile bytes, in files and in their names ----

my @pieces = (
	"\0", "\x01", "\xff", "\xc3", "\xc3\xa4", "\xe2\x82\xac" x 30, "\xef\xbb\xbf", "\xff\xfe",
	',', ',', ';', "\t", '|', ',' x 40, '"', '"', "'", '\\', "\n", "\n", "\r\n", "\r", ' ', '_', '%', '*', '[', '?',
	'a', 'A', 'id', 'id', 'select', 'user', 'ctid', 'x' x 70, '1', '1', '-1.5', '007', '1e400', 'NaN', 'true', '2020-02-29');

sub hostile
{
	return join '', map { $pieces[ rand @pieces ] } 1 .. rand($_[0]);
}

# what every table made of them must satisfy
sql(q{
CREATE FUNCTION check_all(OUT ntables int, OUT wrong text) LANGUAGE plpgsql AS $$
DECLARE
	name text;
	nrows bigint;
	nerrors bigint;
	loaded record;
BEGIN
	ntables := 0;
	wrong := '';
	FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'made'::regnamespace LOOP
		EXECUTE format('SELECT count(t::text) FROM made.%I t', name) INTO nrows;
		EXECUTE format('SELECT count(e::text) FROM csv_gpu_errors(''made.%I'') e', name) INTO nerrors;
		EXECUTE format('CREATE TABLE loaded AS SELECT * FROM made.%I WITH NO DATA', name);
		EXECUTE format('SELECT * FROM csv_gpu_load(''made.%I'', ''loaded'')', name) INTO loaded;
		IF loaded.records_loaded <> nrows OR loaded.records_skipped <> nerrors THEN
			wrong := wrong || format(' %s: %s + %s <> %s', name, nrows, nerrors, loaded);
		END IF;
		DROP TABLE loaded;
		ntables := ntables + 1;
	END LOOP;
END $$});

my $hostile = "$dir/hostile";
my $until = time + amount(2);
my ($nfiles, $ntables, $wrong) = (0, 0, '');

mkdir $hostile or die;
do
{
	system('rm', '-rf', '--', glob("$hostile/*")) == 0 or die;
	for my $n (1 .. 100)
	{
		my $name = substr(hostile(6), 0, 200) =~ tr{/\0}{}dr;

		write_file("$hostile/$n$name.csv", hostile(8), "\n" x (rand() < 0.5), hostile(100));
	}
	$nfiles += 100;
	import_folder($hostile, ", log_verbosity 'silent'" . (rand() < 0.5 ? '' : ", header 'true'"));
	my ($n, $bad) = split /\|/, sql('SELECT * FROM check_all()');
	$ntables += $n;
	$wrong .= $bad;
} while (time < $until);
note("$ntables tables of $nfiles files");
cmp_ok($ntables, '>', $nfiles / 10, 'hostile files make tables');
is($wrong, '', 'and as many rows, errors and loaded records');

# what holds their names can be dumped and restored
sql('CREATE FOREIGN TABLE told (file text OPTIONS (virtual $$filename$$), a text) SERVER csv OPTIONS (filename '
	  . literal("$hostile/*")
	  . ", quote '', encoding 'SQL_ASCII', compression 'none', log_verbosity 'silent');
	CREATE TABLE kept AS SELECT file FROM told;
	INSERT INTO kept SELECT filename FROM csv_gpu_errors('told')");
cmp_ok(sql("SELECT count(DISTINCT file) FROM kept WHERE file ~ '[\\\\]xff'"), '>', 0, 'some are no valid text');
sql('CREATE DATABASE restored');
command_ok([ 'pg_dump', '-f', "$dir/dump.sql", $node->connstr('postgres') ], 'dumped');
command_ok([ 'psql', '-Xqv', 'ON_ERROR_STOP=1', '-f', "$dir/dump.sql", $node->connstr('restored') ], 'restored');
my $all = 'SELECT count(*), md5(string_agg(file, E\'\\n\' ORDER BY file COLLATE "C")) FROM kept';
is($node->safe_psql('restored', $all), sql($all), 'the same names');

# ---- a delimiter that is given ----

# one that the file has in other bytes than the statement, and several with blanks around values
for my $given ([ "\xc2\xa7", "\xa7", 'LATIN1' ], [ "\xc2\xa7", "\xc2\xa7", 'UTF8' ], [ '||', ' ||  ', 'UTF8' ], [ "\xc2\xa7", "\t\xa7 ", 'LATIN1' ])
{
	my ($delimiter, $bytes, $encoding) = @$given;

	mkdir "$dir/given";
	write_file("$dir/given/one.csv", map { join($bytes, @$_) . "\n" } [ 'id', 'name', 'amount' ], map { [ $_, "name $_", "$_.5" ] } 1 .. 50);
	import_folder("$dir/given", ', delimiter ' . literal($delimiter) . ", encoding '$encoding'");
	is(sql("SELECT count(*), sum(id), min(name), sum(amount) FROM made.one WHERE name = 'name ' || id"),
		'50|1275|name 1|1300.0', "given: $delimiter in $encoding");
}

# ---- files of a table that differ ----

my $plain = "id,w\n1,a\n2,b\n";
my %ways = (
	'line ends' => [ $plain =~ tr/\n/\r/r, $plain ],
	'marks' => [ "\xff\xfe" . encode('UTF-16LE', $plain), $plain ],
	'marks of both kinds' => [ "\xfe\xff" . encode('UTF-16BE', $plain), "\xff\xfe" . encode('UTF-16LE', $plain) ],
	'marks of UTF-8' => [ "\xef\xbb\xbf$plain", $plain ]);
for my $way (sort keys %ways)
{
	for my $turned (0, 1)
	{
		my $folder = "$dir/differ_" . lc($way =~ s/\W/_/gr) . $turned;

		mkdir $_ or die for $folder, "$folder/y=1", "$folder/y=2", "$folder/y=3";
		write_file("$folder/y=1/a.csv", $ways{$way}[$turned]);
		write_file("$folder/y=$_/a.csv", $ways{$way}[ 1 - $turned ]) for 2, 3;
		my $err = import_folder($folder);
		my ($table) = $folder =~ m{([^/]+)$};
		is(sql("SELECT count(*), sum(id), string_agg(w, '' ORDER BY y, id), sum(y) FROM made.$table"), '6|9|ababab|12', "$way, $turned");
		like($err, $way eq 'marks' ? qr/differ in their encodings/ : qr/^$/, 'and what is said');
	}
}

mkdir $_ or die for map { "$dir/keys$_" } '', '/%2F=x', '/k=1', '/k=2', '/other=1';
write_file("$dir/keys/$_.csv", $plain) for '%2F=x/a', 'k=1/a', 'k=2/a', 'other=1/a', 'k=2/b';
my $told = import_folder("$dir/keys");
is(sql('SELECT count(*), sum(k) FROM made.keys'), '6|10', 'a key that has no name is passed over');
like($told, qr/leaves out files that do not match.*: 2, the first: .*%2F=x/, 'which is said');
write_file("$dir/keys/k=1/a.csv", join(',', 1 .. 1600) . "\n");
write_file("$dir/keys/good.csv", $plain);
like(import_folder("$dir/keys"), qr/has 1600 fields and 1 keys, and a table can have at most 1600 columns/, 'too many with the key');
is(sql("SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = 'made'::regnamespace"), 'good', 'and others are tables');

# ---- interrupted, and once more ----

write_file("$dir/long.csv", "a,b\n", "1,text\n" x 3_000_000);
my $session = new_session($node);

# the GPU's driver keeps its files open
$session->query("SELECT count(*) FROM csv_gpu_sniff('$dir/long.csv')");
my $before = descriptors($session->pid);
$session->query(q{SET statement_timeout = '20ms'});
my ($out, $err) = $session->query("SELECT count(*) FROM csv_gpu_sniff('$dir/long.csv')");
like($err, qr/canceling statement due to statement timeout/, 'cancelled');
is(descriptors($session->pid), $before, 'nothing stays open');

# threads that read values must not outlive what they write to
$session->query('SET csv_gpu_fdw.cpu_threads = 4');
for my $timeout (map { 20 * $_ } 1 .. 12)
{
	$session->query("SET statement_timeout = '${timeout}ms'");
	$session->query("SELECT count(*) FROM csv_gpu_sniff('$dir/long.csv')");
}
$session->query('RESET statement_timeout');
mkdir "$dir/unfit" or die;
write_file("$dir/unfit/$_.csv.gz", 'not compressed') for 1 .. 20;
($out, $err) = $session->query('IMPORT FOREIGN SCHEMA "remote" FROM SERVER csv INTO made OPTIONS (directory ' . literal("$dir/unfit") . ')');
is(scalar(() = $err =~ /was passed over/g), 20, 'all passed over');
is(descriptors($session->pid), $before, 'nor of those');
is($session->value("SELECT string_agg(type, ' ') FROM csv_gpu_sniff('$dir/long.csv')"), 'integer text', 'and on it goes');

# ---- few descriptors: what is wrong is said ----

SKIP:
{
	skip 'there is no prlimit', 1 if system('prlimit --version >/dev/null 2>&1') != 0;
	my $pid = $session->pid;
	my %said;

	mkdir "$dir/few";
	write_file("$dir/few/$_.csv", "a,b\n1,2\n") for 1 .. 3;
	for my $limit (3 .. 20)
	{
		system("prlimit --pid $pid --nofile=$limit:") == 0 or die;
		my ($rows, $error) = $session->query("SELECT count(*) FROM csv_gpu_sniff('$dir/few/*.csv')");
		$said{ $error =~ /Too many open files/ ? 'too many' : $error || $rows }++;
	}
	is(join('; ', grep { $_ ne 'too many' } sort keys %said), '2', 'sniffed, or there are too many open files');
}

# ---- lines of megabytes ----

write_file("$dir/wide.csv", '|' x 2_000_000 . "\n");
(undef, undef, $err) = $node->psql('postgres', "SELECT * FROM csv_gpu_sniff('$dir/wide.csv')");
like($err, qr/has 2000001 fields, and a table can have at most 1600 columns/, 'more fields than may be tried');
write_file("$dir/comment.csv", '#' . 'x' x 20_000_000 . "\n", "id,name\n", map { "$_,name $_\n" } 1 .. 50);
is(sql("SELECT string_agg(column_name || ' ' || type, ' ') FROM csv_gpu_sniff('$dir/comment.csv')"), 'id integer name text',
	'below a comment that is longer than a record may be');
my $below = join '', map { "$_,name $_\n" } 1 .. 20;
my @odd;
for my $nbytes (map { my $power = 2**$_; map { $power - $_ } 2 .. 9 } 16 .. 21)
{
	write_file("$dir/edge.csv", '#' . 'x' x $nbytes . "\nid,name\n$below");
	write_file("$dir/edge_header.csv", 'id,' . 'x' x $nbytes . "\n$below");
	for my $name (qw(edge edge_header))
	{
		my $found = sql("SELECT count(*) || ' ' || string_agg(type, ' ') || ' ' || max(header_rows) FROM csv_gpu_sniff('$dir/$name.csv')");

		push @odd, "$name, $nbytes: $found" if $found ne '2 integer text 1';
	}
}
is(join("\n", @odd), '', 'below lines of any length');
write_file("$dir/comment.csv", '#' . 'x' x 40_000_000 . "\n", "id,name\n");
(undef, undef, $err) = $node->psql('postgres', "SELECT * FROM csv_gpu_sniff('$dir/comment.csv')");
like($err, qr/no record of .* ends within its first 33554432 bytes/, 'a line that is longer than is looked for');

finish();
