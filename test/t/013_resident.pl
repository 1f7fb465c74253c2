# Columns that are kept are those of the file: as long as nothing has changed,
# they give what reading it gives, NOTICEs included, to every session; and whatever
# changes, it is read again.
use lib 'test/t';
use CsvServer;
use List::Util qw(min);
use Time::HiRes qw(time);

random_seed();
my $seconds = amount(4);
my $directory = PostgreSQL::Test::Utils::tempdir;
my @engines = engines();
my $node = csv_server('resident', QUICK_FILES, CHEAP_WORKERS, max_parallel_workers_per_gather => 0, 'csv_gpu_test.parallel_workers' => 3, 'csv_gpu_fdw.resident_memory' => '64MB', datestyle => 'ISO, MDY', timezone => 'UTC');
my $session = new_session($node);
my $other = new_session($node);	# reads files

$other->value('SET csv_gpu_fdw.resident = off');

# what a query would take from memory: "2 of 2"
sub resident
{
	my ($query, $options) = @_;
	my $plan = $session->value('EXPLAIN (COSTS OFF' . ($options // '') . ") $query");

	return $plan =~ /Resident Columns: (.*)/ ? $1 : 'none';
}

sub create
{
	my ($name, $columns, $path, $options) = @_;

	$session->value("DROP FOREIGN TABLE IF EXISTS $name;
		CREATE FOREIGN TABLE $name ($columns) SERVER csv OPTIONS (filename '$path'" . ($options // '') . ')');
}

# a query that is answered by what is held, and as it would be without
sub is_kept
{
	my ($query, $name) = @_;

	$session->value('SET csv_gpu_fdw.resident = off');
	my @plain = $session->query($query);
	$session->value('SET csv_gpu_fdw.resident = on; SELECT csv_gpu_forget()');
	my @first = $session->query($query);
	my @second = $session->query($query);

	is_deeply(\@first, \@plain, "$name: the same while it is kept");
	is_deeply(\@second, \@plain, "$name: the same from what is kept");
	like(resident($query), qr/^(\d+) of \1$/, "$name: all columns are resident");
}

# ---- one change, and the file is read again ----

my $file = "$directory/a.csv";
my $values = 'SELECT string_agg(a || b::text, \' \' ORDER BY a, b) FROM t';

write_file($file, "1,x\n2,y\n3,z\n");
create('t', 'a int, b text', $file);
$session->value('SET csv_gpu_test.file_age = 0');
is($session->value($values), '1x 2y 3z', 'a file that was just written');
is(resident($values), '0 of 2', 'is not kept');
settle(0);
is($session->value($values), '1x 2y 3z', 'the first query');
is(resident($values), '2 of 2', 'is kept after a second');
is($session->value('SELECT sum(a) FROM t WHERE a > 1'), '5', 'a column of them');
is(resident('SELECT b FROM t'), '1 of 1', 'fewer columns are held with more');
is(resident('SELECT count(*) FROM t'), '0 of 0', 'no column');
like($session->value('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT a, b FROM t'),
	qr/Resident Columns: 2 of 2.*Records: 3.*Skipped Records: 0.*Chunks: 0/s, 'EXPLAIN ANALYZE');

# the same size, and the times set back
my @times = (stat $file)[8, 9];
write_file($file, "1,x\n2,Y\n3,z\n");
utime(@times, $file) or die;
is((stat $file)[9], $times[1], 'the time of modification is as it was');
is(resident($values), '0 of 2', 'one byte: not what is held');
is($session->value($values), '1x 2Y 3z', 'one byte: the file of now');
is($session->value('SELECT count(*) FROM csv_gpu_resident()'), '0', 'what was held is gone');
$session->value('RESET csv_gpu_test.file_age');

settle();
is_kept($values, 'after a byte');
open my $append, '>>', $file or die;
print $append "4,w\n";
close $append;
is($session->value($values), '1x 2Y 3z 4w', 'appended to');
settle();
is_kept($values, 'after more');
write_file("$directory/new", "5,x\n6,Y\n7,z\n8,w\n");
settle();
rename "$directory/new", $file or die;
is($session->value($values), '5x 6Y 7z 8w', 'another file of the same name');
settle();
is_kept($values, 'after another');
unlink $file;
like(($session->query($values))[1], qr/ERROR:  could not open file/, 'a file that is gone');
write_file($file, "1,x\n2,y\n");
chmod 0000, $file;
like(($session->query($values))[1], qr/ERROR:  could not open file/, 'one that must not be read') unless $> == 0;
chmod 0644, $file;
settle();

# ---- options and settings ----

write_file($file, "1;01/02/2003;2003-04-05 06:07:08;1 2\n2;03/04/2005;05/06/2007 08:09:10;-1 2\n");
settle();
create('t', 'a int, d date, ts timestamptz, i interval', $file, ", delimiter ';'");
$values = 'SELECT a, d, ts, i FROM t';
is_kept($values, 'dates');
for my $change (
	"SET datestyle = 'ISO, DMY'", "SET timezone = 'Asia/Tokyo'", "SET intervalstyle = 'sql_standard'",
	'ALTER FOREIGN TABLE t OPTIONS (ADD header_rows \'1\')', 'ALTER FOREIGN TABLE t OPTIONS (DROP header_rows)',
	"ALTER FOREIGN TABLE t OPTIONS (ADD null '2')", "ALTER FOREIGN TABLE t OPTIONS (DROP null)",
	'ALTER FOREIGN TABLE t ALTER d TYPE text', 'ALTER FOREIGN TABLE t ALTER a TYPE numeric(5,2)',
	"ALTER FOREIGN TABLE t ALTER d OPTIONS (ADD max_chars '3')", 'ALTER FOREIGN TABLE t ALTER d OPTIONS (DROP max_chars)',
	"ALTER FOREIGN TABLE t ALTER a OPTIONS (ADD force_null 'true')",
	"ALTER FOREIGN TABLE t OPTIONS (ADD encoding 'LATIN1')",
	"ALTER FOREIGN TABLE t OPTIONS (ADD ragged 'pad')", "ALTER FOREIGN TABLE t OPTIONS (SET delimiter ' ')")
{
	$session->value($change);
	like(resident($values), qr/^0 of 4$/, "$change: not what is held");
	is_kept($values, $change);
}
$session->value('RESET datestyle; RESET timezone; RESET intervalstyle');

# ---- what is not kept ----

$session->value('SELECT csv_gpu_forget()');
mkdir "$directory/small";
write_file("$directory/small/$_.csv", "$_,x\n") for 1 .. 16;
create('small', 'a int, b text', "$directory/small/*.csv");
settle();
is_kept('SELECT sum(a), count(b) FROM small', 'a pattern of a few small files');
write_file("$directory/small/17.csv", "17,x\n");
settle();
is(resident('SELECT sum(a) FROM small'), 'none', 'one of many is not kept: EXPLAIN');
is($session->value('SELECT sum(a) FROM small'), '153', 'one of many: rows');
is(resident('SELECT sum(a) FROM small', ', ANALYZE'), 'none', 'one of many: EXPLAIN ANALYZE');
is($session->value('SELECT count(*) FROM csv_gpu_resident() WHERE filename LIKE \'%/17.csv\''), '0', 'one of many: it is not there');
write_file("$directory/small/17.csv", map { "17,x\n" } 1 .. 250000);
settle();
is_kept('SELECT sum(a), count(b) FROM small', 'many that are not small on average');

$session->value('SELECT csv_gpu_forget()');
create('many', 'a int, b text', "$directory/many.csv");
write_file("$directory/many.csv", map { "$_,text of $_\n" } 1 .. 300000);
settle();
$session->value('SELECT * FROM many LIMIT 5');
$session->query('SELECT 1 / (a - 200000) FROM many');
$session->value("SET statement_timeout = '20ms'");
like(($session->query('SELECT count(*) FROM many WHERE pg_sleep(0.0001) IS NOT NULL'))[1], qr/statement timeout/, 'a cancel');
$session->value('RESET statement_timeout');
is($session->value('SELECT count(*) FROM csv_gpu_resident()'), '0', 'nothing is kept of scans that did not end');
is($session->value('SELECT count(*), sum(a) FROM many'), '300000|45000150000', 'one that did');
is($session->value('SELECT columns, rows FROM csv_gpu_resident()'), '{a}|300000', 'is kept');
$session->value('BEGIN; DECLARE c CURSOR FOR SELECT a FROM many; FETCH 3 FROM c');
is($session->value('SELECT csv_gpu_forget()'), '1', 'letting go under a cursor');
is($session->value('MOVE 199996 IN c; FETCH 2 FROM c'), "200000\n200001", 'the cursor goes on');
$session->value('COMMIT');

# written to while it is read
$session->value('BEGIN; DECLARE c CURSOR FOR SELECT a FROM many; FETCH 3 FROM c');
open $append, '>>', "$directory/many.csv" or die;
print $append "0,last\n";
close $append;
$session->value('MOVE ALL IN c; COMMIT');
is($session->value('SELECT count(*) FROM csv_gpu_resident()'), '0', 'a file that was written to');
create('program', 'a int', 'x');
$session->value("ALTER FOREIGN TABLE program OPTIONS (DROP filename, ADD program 'echo 1')");
is($session->value('SELECT a FROM program; SELECT a FROM program'), "1\n1", 'a program');
is(resident('SELECT a FROM program'), 'none', 'is not kept');

# ---- memory ----

for my $i (1 .. 5)
{
	write_file("$directory/part$i.csv", map { $i * $_ . ",x\n" } 1 .. 120000);
	create("part$i", 'a int, b text', "$directory/part$i.csv");
}
settle();
resident_memory($node, '2MB');
$session->value("SELECT sum(a) FROM part$_") for 1 .. 5;
sub held { return $session->value("SELECT string_agg(source::text, ' ' ORDER BY last_used) FROM csv_gpu_resident()") }
is(held(), 'part2 part3 part4 part5', 'the one used first goes first');
$session->value('SELECT sum(a) FROM part2; SELECT sum(a) FROM part1');
is(held(), 'part4 part5 part2 part1', 'what was used again stays');
cmp_ok($session->value('SELECT sum(bytes) FROM csv_gpu_resident()'), '<=', 2 * 1024 * 1024, 'within the limit');
is($session->value('SELECT sum(bytes) = (SELECT memory_held FROM csv_gpu_stat WHERE device IS NULL) FROM csv_gpu_resident()'),
	't', 'all of it is counted');
resident_memory($node, '1MB');
is(held(), 'part2 part1', 'a lower limit holds at once');
is($session->value('SELECT count(*), count(b) FROM many'), '300001|300001', 'a file that is too large');
is(held(), 'part2 part1', 'drives nothing out');
resident_memory($node, 'off');
is(held(), '', 'off');
is($session->value('SELECT memory_held FROM csv_gpu_stat WHERE device IS NULL'), '0', 'nothing is left');

resident_memory($node, '4MB');
my ($before, @grown) = (rss_kb($session->pid));
for my $round (1 .. 40)
{
	$session->value('SELECT sum(a), count(b) FROM part' . (1 + $round % 5));
	$session->query('SELECT 1 / (a - 250000), b FROM many') if $round % 4 == 0;
	next if $round % 10 != 0;
	push @grown, rss_kb($session->pid) - $before;
	$before += $grown[-1];
}
note("grown by @grown kB");
cmp_ok(min(@grown), '<', 1000, 'memory does not grow by each ten queries');

# ---- how rows fall into groups is remembered ----

write_file("$directory/groups.csv", map { ($_ % 7) . ',' . ($_ % 3 ? 'x ' : 'x') . ",$_\n" } 1 .. 30000);
create('groups', 'k int, c char(3), v int', "$directory/groups.csv");
settle();
resident_memory($node, '64MB');
for my $filter ('v > 29000', 'v > 10000', 'true', 'v < 3')
{
	is_kept("SELECT k, c, count(*), sum(v), min(v) FROM groups WHERE $filter GROUP BY k, c ORDER BY k, c", "groups where $filter");
	is_kept("SELECT c, count(DISTINCT k) FROM groups WHERE $filter GROUP BY c", "fewer keys where $filter");
}
$session->value('SELECT csv_gpu_forget(); SELECT sum(k), count(c), max(v) FROM groups');
$session->value("SELECT k, c, sum(v) FROM groups WHERE v > $_ GROUP BY k, c") for 20000, 500;
$session->value('SELECT c, count(*) FROM groups WHERE v > 9 GROUP BY c');
is($session->value("SELECT groupings FROM csv_gpu_resident() WHERE source = 'groups'::regclass"), '{"k, c",c}', 'they are listed');
$session->value('SELECT k + 1, count(*), sum(v) FROM groups GROUP BY 1');
is($session->value("SELECT groupings FROM csv_gpu_resident() WHERE source = 'groups'::regclass"), '{"k, c",c}', 'what is no column is not');
is($session->value('SELECT sum(bytes) = (SELECT memory_held FROM csv_gpu_stat WHERE device IS NULL) FROM csv_gpu_resident()'),
	't', 'their memory is counted');

# ---- several files, and a table that comes to its file a second time ----

create('parts', 'f text OPTIONS (virtual \'filename\'), line bigint OPTIONS (virtual \'line\'),
	place bigint OPTIONS (virtual \'byte_offset\'), a int, b text', "$directory/part[1-3].csv");
is_kept('SELECT f, count(*), sum(a), max(line), sum(place) FROM parts GROUP BY f ORDER BY f', 'a pattern');
is_kept('SELECT x, (SELECT count(*) FROM part1 WHERE a < x) FROM generate_series(1, 3) x', 'a rescan');
write_file("$directory/part2.csv", "7,x\n");
is($session->value('SELECT f ~ \'part2\', count(*) FROM parts GROUP BY 1 ORDER BY 1'), "f|240000\nt|1", 'one of them has changed');
$session->value('DROP FOREIGN TABLE part1');
is($session->value("SELECT count(*) FROM csv_gpu_resident() WHERE filename ~ 'part1' AND source <> 'parts'::regclass"), '0', 'a dropped table');

$session->value("CREATE ROLE reader; GRANT SELECT ON part3 TO reader; SELECT sum(a) FROM part3; SET ROLE reader");
is(held(), 'part3', 'others see what they may read');
$session->value('RESET ROLE');
like(($session->query("ALTER SYSTEM SET csv_gpu_fdw.resident_memory = 'all'"))[1], qr/ERROR:  invalid value/, 'no such amount');
like(($session->query('SET csv_gpu_fdw.resident_memory = auto'))[1], qr/ERROR:  parameter .* cannot be changed now/, 'it is not a session\'s');

# ---- random files and queries ----

my $break = "\n";

sub text
{
	my $text = chance(0.02) ? 'long ' x rand 3000 : chance(0.05) ? "\xc3\xa4" x rand 9 : pick('', 'a', 'abc', 'some words', ' x');

	return chance(0.2) ? '"' . $text . pick('', '""', ',', $break) . '"' : $text;
}

my @columns = (
	[ 'i', 'int', sub { chance(0.01) ? pick('x', '99999999999') : chance(0.01) ? ' 7' : int rand 1000 } ],
	[ 'n', 'numeric(8,2)', sub { chance(0.02) ? pick('1e3', 'NaN', '1e9', 'n') : sprintf '%.2f', rand 1000 } ],
	[ 'f', 'float8', sub { chance(0.05) ? '1' x 30 . '.5' : rand 1000 } ],
	[ 'd', 'date', sub { chance(0.05) ? pick('1/2/2003', '13/2/2003', 'tomorrow', 'x') : sprintf '2003-%02d-01', 1 + rand 12 } ],
	[ 'tz', 'timestamptz', sub { chance(0.1) ? pick('2003-01-02 03:04:05', 'yesterday') : '2003-01-02 03:04:05+01' } ],
	[ 't', 'text', \&text ],
	[ 'v', 'varchar(8)', sub { chance(0.02) ? 'too many characters' : pick('', 'a', 'bcd', 'x' x 8) } ],
	[ 'a', 'int[]', sub { chance(0.02) ? '{' : '"{1,' . int(rand 9) . '}"' } ],
	[ 'r', 'int4range', sub { chance(0.02) ? '[2,1)' : '"[1,' . int(1 + rand 9) . ')"' } ]);

sub make_file
{
	my ($path) = @_;
	my $nrows = pick(0, 1, 50, 2000, 2000, 20000);
	my $bad = pick(0, 0.001, 0.01);
	my $clean = chance(0.3);
	my @records;

	$break = pick("\n", "\n", "\r\n");
	for (1 .. $nrows)
	{
		my @row = map { chance(0.1) ? '' : $_->[2]->() } @columns;

		@row = (1, '2.50', 3, '2003-01-01', '2003-01-02 03:04:05+01', 'text', 'v', '{}', 'empty') if $clean;
		push @records, chance($bad) ? pick('bad', '1,"stray" quote', '1,"open', "1,a\0b", '') : join(',', @row);
	}
	write_file($path, join($break, @records), chance(0.5) ? $break : '');
}

sub condition
{
	return pick('i > 500', 'n < 300.5', 'd > date \'2003-06-01\'', 't = \'abc\'', 'v LIKE \'b%\'', 'f > 0 AND i < 900',
		'length(t) > 3', 'a IS NULL', 'line > 100', 'r && \'[1,3)\'', 'tz < \'2003-01-03\'', 'true');
}

sub query
{
	my @names = ((map { $_->[0] } @columns), 'record', 'line', 'place');

	return 'SELECT ' . join(', ', map { pick(@names) } 0 .. rand 5) . ' FROM random WHERE ' . condition() if chance(0.5);
	return "SELECT i, n, place FROM random WHERE " . condition() . ' ORDER BY ' . pick('i', 'n DESC', 'd, i DESC', 't') . ', place LIMIT ' . pick(1, 10, 1000) if chance(0.2);
	return 'SELECT count(*), ' . join(', ', map { pick('sum(i)', 'sum(n)', 'avg(f)', 'max(d)', 'min(t)', 'count(a)', 'max(line)', 'sum(n * (1 - n))') } 0 .. rand 3) .
	  ' FROM random WHERE ' . condition() if chance(0.5);
	return 'SELECT ' . pick('i', 'v', 'd', 't') . ', count(*), sum(n), max(i) FROM random WHERE ' . condition() . ' GROUP BY 1 ORDER BY 1' if chance(0.5);
	return 'SELECT d, v, count(*), min(tz) FROM random WHERE ' . condition() . ' GROUP BY d, v ORDER BY d, v';
}

my ($nqueries, $nresident, $nshared, $ndifferent) = (0, 0, 0, 0);
my $gpu_limit = 0;	# megabytes
my $end = time() + $seconds;
my $nfiles = 8;
my $definition = join ', ', (map { "$_->[0] $_->[1]" } @columns), map { "$_->[0] bigint OPTIONS (virtual '$_->[1]')" }
  ([ 'record', 'record' ], [ 'line', 'line' ], [ 'place', 'byte_offset' ]);

sub gpu_hits
{
	return $session->value('SELECT resident_hits FROM csv_gpu_stat WHERE device = 0');
}

# on a busy machine, on until there was something of each kind
sub is_enough
{
	return time() > $end && ($nqueries > 2000 || ($nresident > $nqueries / 4 && $nshared > 0 && gpu_hits() > 0));
}

while (!is_enough() && $ndifferent == 0)
{
	make_file("$directory/random$_.csv") for 1 .. $nfiles;
	settle();
	for my $i (1 .. $nfiles)
	{
		create('random', $definition, "$directory/random" . pick($i, $i, "[$i" . (1 + $i % $nfiles) . ']') . '.csv', ', notice_limit \'' . pick(0, 5, 100000) . "'" .
			  (chance(0.3) ? ", chunk_size '" . pick('1kB', '16kB') . "'" : '') . (chance(0.2) ? ", reject_limit '" . pick('3', '2%') . "'" : ''));
		for (1 .. 12)
		{
			my $query = query();
			my $settings = "SET timezone = '" . pick('UTC', 'UTC', 'UTC', 'Asia/Tokyo') . "';" .
			  'SET csv_gpu_fdw.enable_pushdown = ' . pick('on', 'off') . ';';
			# sums of floats depend on the order of rows
			my $workers = $query =~ /avg\(f\)/ ? 0 : pick(0, 3);
			my @expected;

			last if is_enough();
			$other->value($settings);
			@expected = $other->query($query);
			$session->value("$settings SET max_parallel_workers_per_gather = $workers;" . 'SET csv_gpu_fdw.engine = ' . pick(@engines));
			resident_memory($node, pick('64MB', '1MB')) if chance(0.02);
			gpu_memory_limit($node, $gpu_limit = pick(0, 1)) if has_stand_in() && chance(0.05);
			for my $round (1 .. 2)
			{
				my @found;

				$nresident++ if resident($query) =~ /^(\d+) of \1$/;
				$nqueries++;
				@found = $session->query($query);
				$nshared++ if $session->value("EXPLAIN $query") =~ /Parallel Foreign Scan.*Resident Columns: (\d+) of \1/s;
				# workers' rows come in any order
				$_ = join("\n", sort split /\n/, $_, -1) foreach $workers ? ($found[0], $expected[0]) : ();
				$found[1] =~ s/^CONTEXT:  parallel worker\n//gm;
				next if $found[0] eq $expected[0] && $found[1] eq $expected[1];
				# an open quote makes a record of half a file
				next if $gpu_limit && $found[1] =~ /ERROR:  GPU failed .*: out of GPU memory: a record needs more than the limit$/m;
				$ndifferent++;
				diag("round $round of $query:\nexpected: ", substr($expected[0], 0, 1000), "\n", $expected[1],
					"\nfound: ", substr($found[0], 0, 1000), "\n", $found[1]);
			}
			last if $ndifferent;
		}
		last if $ndifferent;
	}
}
note("$nqueries queries, $nresident of them from resident columns, $nshared shared");
is($ndifferent, 0, 'no query gives anything else');
cmp_ok($nresident, '>', $nqueries / 4, 'many are answered from memory');
cmp_ok($nshared, '>', 0, 'some by several processes');
cmp_ok(gpu_hits(), '>', 0, 'and some of them by a GPU');

finish($session, $other);
