# Rows that threads make pages of: whatever stands between them, the table is what
# insertions make of it, in the same order and without a hole.
use lib 'test/t';
use CsvServer;
use Time::HiRes qw(time);

random_seed();
my $seconds = amount(4);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server('threads', datestyle => 'ISO, MDY', timezone => 'UTC');
my $session = new_session($node);

$session->value("CREATE EXTENSION amcheck;
	CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'");

# a type whose values are in the engines' arrays; how to make one; and one that is not
my @types = (
	[ 'int', sub { int(rand(2000000)) - 1000000 }, sub { ' 12 ' } ],
	[ 'bigint', sub { int(rand(2**50)) }, sub { '-9223372036854775808' } ],
	[ 'smallint', sub { int(rand(60000)) - 30000 }, sub { ' -7' } ],
	[ 'bool', sub { pick(qw(t f true no)) }, sub { ' TRUE ' } ],
	[ 'double precision', sub { int(rand(1e6)) / 8 }, sub { pick('NaN', '1e-300', '-Infinity') } ],
	[ 'real', sub { int(rand(1000)) / 8 }, sub { '1e-38' } ],
	[ 'numeric(10,2)', sub { sprintf('%.2f', rand(1e7)) }, sub { pick('NaN', '1.5e3') } ],
	[ 'numeric(30,4)', sub { int(rand(1e9)) . '.1' }, sub { pick('NaN', '9' x 25) } ],
	[ 'date', sub { sprintf('%04d-%02d-%02d', 1900 + rand(200), 1 + rand(12), 1 + rand(28)) }, sub { pick('infinity', 'Jan 3 2001') } ],
	[ 'timestamp', sub { sprintf('2020-01-%02d %02d:00:00.%06d', 1 + rand(28), rand(24), rand(1e6)) }, sub { '2001-01-01 BC' } ],
	[ 'uuid', sub { join '-', map { sprintf("%0${_}x", rand(2**16)) } 8, 4, 4, 4, 12 }, sub { '{' . 'a' x 32 . '}' } ],
	[ 'text', sub { '"' . 'x' x rand(30) . '""y"' }, sub { 'long' x (600 + rand(5000)) } ],
	[ 'text', sub { 'y' x rand(300) }, sub { '"' . ('z,' x rand(1100)) . '"' } ],
	[ 'varchar(40)', sub { 'v' x rand(40) }, sub { 'v' x 40 . '  ' } ],
	[ 'char(12)', sub { 'c' x rand(12) }, sub { "\xc3\xa9" x 12 } ]);

my $contents = q{SELECT count(*), md5(string_agg(t::text, ' ' ORDER BY t::text COLLATE "C")) FROM %s t};
my ($ntables, $nrows_all, $nfailed, $nskipped) = (0, 0, 0, 0);
my @wrong;

for (my $end = time() + $seconds; time() < $end || $ntables < 12; $ntables++)
{
	my @columns = map { pick(@types) } 0 .. rand(9);
	my $nulls = pick(0, 0, 0.1);
	my $odd = pick(0, 0, 1 / 20000, 1 / 2000, 1 / 300, 1 / 20);
	my $toasted = 0;
	my $nrows = int(pick(rand(600), 3000, 10000 + rand(10000), 30000));
	my $is_bad = rand() < 0.2;
	my $on_error = pick('stop', 'stop', 'skip', 'set_null');
	my @made = map { my $c = $_; [ map { $c->[1]->() } 1 .. 200 ] } @columns;
	my @rows = map {
		my $r = $_;
		join ',', map {
			rand() < $nulls ? ''
			  : rand() < $odd ? ($on_error eq 'set_null' && rand() < 0.5 ? 'no such value' : $columns[$_][2]->())
			  : $made[$_][ ($r * 7 + $_) % 200 ]
		} 0 .. $#columns
	} 1 .. $nrows;
	@rows = grep { $_ ne '' } @rows;
	# too many fields
	$rows[rand @rows] .= ',' if $is_bad && @rows;
	my $file = write_file("$directory/random.csv", map { "$_\n" } @rows);
	my @definitions = map { "c$_ $columns[$_][0]" . (rand() < 0.05 ? ' NOT NULL' : '') } 0 .. $#columns;
	my $source = join ', ', map { s/ NOT NULL//r } @definitions;
	my @more = ((rand() < 0.2 ? ("d text DEFAULT 'def'", 'e int') : ()),
		(rand() < 0.1 ? 'n numeric DEFAULT 1.50' : ()), (rand() < 0.1 ? 'b bool DEFAULT true' : ()),
		(rand() < 0.1 ? 's serial' : ()), (rand() < 0.1 ? 'CHECK (c0 IS NOT NULL)' : ()));
	my @shuffled = ((sort { rand() <=> 0.5 } @definitions), @more);
	my $kind = pick('', 'UNLOGGED', 'TEMP');
	my $fillfactor = pick(100, 100, 40);
	my $index = rand() < 0.2 ? pick('c0', 'hash(c0)') : '';
	my $threads = pick(1, 2, 3, 8);
	my (%got, %size, $loaded, @differ);

	$session->value("DROP FOREIGN TABLE IF EXISTS source; CREATE FOREIGN TABLE source ($source) SERVER csv
		OPTIONS (filename '$file', quoting 'postgres', log_verbosity 'silent', on_error '$on_error')");
	# a trigger for rows has COPY insert them
	for my $way ('insert', 'auto')
	{
		$session->value("DROP TABLE IF EXISTS t_$way; CREATE $kind TABLE t_$way (gone int, " . join(', ', @shuffled)
			  . ") WITH (fillfactor = $fillfactor); ALTER TABLE t_$way DROP gone");
		$session->value("CREATE INDEX ON t_$way USING " . ($index =~ /hash/ ? $index : "btree ($index)")) if $index;
		$session->value("CREATE TRIGGER by_rows BEFORE INSERT ON t_$way FOR EACH ROW EXECUTE FUNCTION nothing()") if $way eq 'insert';
		my ($out, $err) = $session->query("SET csv_gpu_fdw.cpu_threads = $threads;
			SELECT records_loaded, records_skipped FROM csv_gpu_load('source', 't_$way')");
		my ($error) = $err =~ /(ERROR: .*)/s;
		# a load may be tried twice, and then takes further numbers
		$error =~ s/t_$way/t/g, $error =~ s/, \d+\)\.$/)./m if defined $error;
		$nfailed++ if defined $error;
		$loaded = !defined $error;
		$nskipped += $1 if $out =~ /\|(\d+)/;
		$got{$way} = join ' ', $out, $error // '', $session->value(sprintf $contents, "t_$way");
		$size{$way} = $session->value("SELECT pg_relation_size('t_$way') / 8192");
		my $corrupt = $session->value("SELECT count(*) FROM verify_heapam('t_$way')");
		$got{$way} .= ' corrupt' if $corrupt;
		$session->value("SELECT bt_index_check(indexrelid, true) FROM pg_index JOIN pg_class i ON i.oid = indexrelid
			JOIN pg_am a ON a.oid = relam WHERE indrelid = 't_$way'::regclass AND amname = 'btree'");
	}
	$nrows_all += @rows;

	# in the file's order, but for rows that are toasted, and what goes in row by row
	if ($loaded && !$index && !grep { length > 1500 } @rows)
	{
		my $list = join ', ', map { "c$_" } 0 .. $#columns;
		my ($file_order, $order) = map { $session->value("SELECT md5(string_agg(ROW($list)::text, ' ' $_") }
		  'ORDER BY ctid)) FROM t_auto', ')) FROM source';
		push @differ, 'order' if $file_order ne $order;
	}
	# insertions fill in what a longer row has left
	push @differ, 'holes' if $loaded && $size{auto} > $size{insert} * 1.1 + 2;
	next if !@differ && $got{insert} eq $got{auto};
	push @wrong, "$kind $fillfactor @shuffled; $index; threads $threads, rows $nrows, odd $odd, nulls $nulls @differ\n"
	  . "  $got{insert}, $size{insert} pages\n  $got{auto}, $size{auto} pages\n";
}
note "$ntables tables, $nrows_all rows, $nfailed loads failed, $nskipped records skipped";
is(scalar @wrong, 0, 'threads make the pages that insertions make') or diag @wrong;
ok($nskipped > 0 || $nfailed > 0, 'some files had errors');

done_testing();
