# csv_gpu_unload(): the bytes of COPY TO for the same options, rows that are read back,
# and, after errors, cancels and crashes, no file but whole ones.
use lib 'test/t';
use CsvServer;
use File::Find;
use Time::HiRes qw(sleep time);

random_seed();
my $seconds = amount(3);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = csv_server('unload', CHEAP_WORKERS, init => { allows_streaming => 1 }, max_parallel_workers_per_gather => 2, restart_after_crash => 'on');
my $session = new_session($node);
my $out = "$directory/out";

# every file below a directory, hidden or not
sub files
{
	my ($below) = @_;
	my @files;

	find({ wanted => sub { push @files, substr($_, length($below) + 1) if -f }, no_chdir => 1 }, $below) if -d $below;
	return sort @files;
}

sub clear
{
	system('rm', '-rf', $out);
	mkdir $out;
	return;
}

# a call, as SQL
sub unload
{
	my ($query, $path, %options) = @_;

	return 'csv_gpu_unload(' . join(', ', literal($query), literal($path), map { "$_ => $options{$_}" } sort keys %options) . ')';
}

sub error
{
	return ($session->query($_[0]))[1] =~ s/^psql:<stdin>:\d+: //gmr;
}

# ---- random tables and options ----

my @texts = (
	"''", "'a'", "'plain text'", "','", "'\"'", "'a\"b'", "E'\\\\'", "E'\\\\.'", "E'line\\nbreak'", "E'cr\\rhere'", "E'tab\\there'", "'NULL'", "' '",
	"'../x'", "'a/b'", "'.'", "'%2F'", "'k=v'", "'*'", "'[x]'", "'__HIVE_DEFAULT_PARTITION__'", "U&'\\00e4\\20ac'", "repeat('x', 100)", "repeat('q\"', 20)");
my %types = (
	int4 => [ 0, 1, -1, 2147483647 ],
	int8 => [ 0, '9223372036854775807' ],
	bool => [ 'true', 'false' ],
	numeric => [ '0', '1.50', '-0.001', "'NaN'", '1e30' ],
	float8 => [ '0.1', "'-inf'", '1e-300' ],
	date => [ "'2001-02-28'", "'infinity'", "'0001-12-31 BC'" ],
	timestamptz => [ "'2024-07-01 01:02:03.1+02'", "'1999-12-31 23:59:59.999999Z'" ],
	uuid => ["'00112233-4455-6677-8899-aabbccddeeff'"],
	jsonb => [ q('{"a": [1, null]}'), "'[]'" ],
	'int4[]' => [ "'{1,2,NULL}'", "'{}'" ],
	text => \@texts);

# returns its columns' types
sub make_table
{
	my @columns = map { chance(0.5) ? 'text' : pick(sort keys %types) } 1 .. pick(2, 2, 3, 5, 12, 120);
	my $nrows = pick(0, 1, 10, 200, 3000);
	my @rows;

	for (1 .. ($nrows > 50 || @columns > 50 ? 20 : $nrows || 1))
	{
		push @rows, '(' . join(', ', map { (chance(0.1) ? 'NULL' : '(' . pick(@{ $types{$_} }) . ')') . "::$_" } @columns) . ')';
	}
	my $names = join(', ', map { "c$_" } 1 .. @columns);

	$session->value("DROP TABLE IF EXISTS t CASCADE; CREATE TABLE t AS SELECT v.* FROM (VALUES " . join(",\n", @rows)
		. ") v($names), generate_series(1, " . int($nrows / @rows + 0.99) . ') g; ANALYZE t');
	return @columns;
}

# the same for csv_gpu_unload() and COPY TO
sub make_options
{
	my %options = (format => pick("'csv'", "'csv'", "'text'"), header => pick("'true'", "'false'"));
	my $csv = $options{format} eq "'csv'";

	$options{delimiter} = pick("','", "';'", "'|'", "E'\\t'", "'-'") if chance(0.4);
	$options{null_string} = pick("''", "'NULL'", "'0'", "E'\\\\N'", "'a'") if chance(0.4);
	$options{encoding} = pick("'UTF8'", "'GB18030'") if chance(0.3);
	$options{quote} = pick("''''", "'~'") if $csv && chance(0.3);
	$options{escape} = pick("'\"'", "E'\\\\'", "'e'") if $csv && chance(0.3);
	my %copy = %options;
	$copy{null} = delete $copy{null_string} if exists $copy{null_string};
	return (\%options, '(' . join(', ', map { "$_ $copy{$_}" } sort keys %copy) . ')');
}

my %unpack = (none => 'cat', gzip => 'gzip -dc', zstd => 'zstd -dcq', lz4 => 'lz4 -dcq');
my @compressions = ('none', 'none', grep { has_program($_) } 'gzip', 'zstd', 'lz4');

sub contents
{
	my ($compression, $path) = @_;

	return $compression eq 'none' ? slurp_file($path) : scalar `$unpack{$compression} < '$path'`;
}

# records as a multiset, without headers: line breaks in quotes cut all copies alike
sub pool
{
	my ($header, @contents) = @_;

	return join "\n", sort map { substr($_, length $header) =~ /([^\n]*)\n/g } @contents;
}

sub copied
{
	my ($query, $copy) = @_;

	# in its order
	$session->value("BEGIN; SET LOCAL max_parallel_workers_per_gather = 0; COPY ($query) TO '$directory/copied' $copy; COMMIT");
	return slurp_file("$directory/copied");
}

my ($nsets, $nfiles, $ndifferent, $until) = (0, 0, 0, time() + $seconds);

sub different
{
	my ($what) = @_;

	diag($what) if $ndifferent++ < 3;
	return;
}

while (time() < $until)
{
	my @columns = make_table();

	for (1 .. 4)
	{
		my ($options, $copy) = make_options();
		my $compression = pick(@compressions);
		my $query = pick('TABLE t', 'SELECT * FROM t', 'SELECT * FROM t ORDER BY t::text', 'SELECT * FROM t ORDER BY t::text LIMIT 7');
		my $keys = @columns > 2 && @columns < 50 && chance(0.5) ? [ map { "c$_" } chance(0.5) ? (2) : (2, 1) ] : undef;
		my %more = (%$options, compression => "'$compression'");

		clear();
		$more{max_file_size} = pick("'2kB'", "'10kB'") if chance(0.3);
		$more{partition_by} = "'{" . join(',', @$keys) . "}'" if $keys;
		$more{ordered} = 'true' if !$keys && chance(0.5);
		my $path = $keys ? "$out/keys" : "$out/some.csv";
		my $what = unload($query, $path, %more);
		my @rows = split /\n/, $session->value("SELECT filename, records, bytes FROM $what");
		my @found = files($out);

		$nsets++;
		$nfiles += @found;
		different("$what: files " . join(' ', @found) . " and\n@rows") if @rows != @found || grep { my ($name, undef, $bytes) = split /\|/; -s $name != $bytes } @rows;
		my $others = join(', ', grep { my $name = $_; !grep { $_ eq $name } @{ $keys // [] } } map { "c$_" } 1 .. @columns);
		my $expected = copied("SELECT $others FROM ($query) q", $copy);
		my $header = $options->{header} eq "'true'" ? $expected =~ s/^([^\n]*\n).*/$1/sr : '';
		my @contents = map { contents($compression, (split /\|/)[0]) } @rows;

		different("$what: a file without its header") if grep { substr($_, 0, length $header) ne $header } @contents;
		my $same = $more{ordered} ? join('', $header, map { substr($_, length $header) } @contents) eq $expected
			: pool($header, @contents) eq pool($header, $expected);
		different("$what: bytes differ from COPY") if !$same;
		next if !$keys || $options->{format} ne "'csv'" || $query =~ /LIMIT/;

		# the keys' values, as text, with each file's rows
		my $pattern = "$out/keys" . '/*' x @$keys . '/*.csv*';
		my %format = %$options;
		delete $format{format};
		$format{null} = delete $format{null_string} if exists $format{null_string};
		my $definition = join(', ', (map { "$_ text" } split /, /, $others), map { "$_ text OPTIONS (virtual 'path:$_')" } @$keys);
		my $texts = join(', ', map { $columns[ $_ - 1 ] eq 'bool' ? "left(c$_\::text, 1)" : "c$_\::text" } 1 .. @columns);
		my $names = join(', ', map { "c$_" } 1 .. @columns);
		my $difference = $session->value("SET client_min_messages = error; DROP FOREIGN TABLE IF EXISTS back; CREATE FOREIGN TABLE back ($definition) SERVER csv OPTIONS (filename "
			. literal($pattern) . ', ' . join(', ', map { "$_ $format{$_}" } sort keys %format) . ');'
			. (@found ? "SELECT (SELECT count(*) FROM (SELECT $texts FROM t EXCEPT ALL SELECT $names FROM back) a), (SELECT count(*) FROM (SELECT $names FROM back EXCEPT ALL SELECT $texts FROM t) b)"
				: "SELECT '0|0'"));

		# texts that are NULL by null_string are written with quotes, and stay texts
		different("$what: read back $difference") if $difference ne '0|0';
	}
}
is($ndifferent, 0, "$nsets sets of $nfiles files have the bytes of COPY TO, and are read back");

# ---- processes ----

clear();
$session->value(q{
	CREATE TABLE many AS SELECT n, n % 10 AS k, md5(n::text) AS t FROM generate_series(1, 50000) n; ANALYZE many;
	CREATE FUNCTION pid() RETURNS int PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN pg_backend_pid(); END';
	CREATE FUNCTION wait(ms int) RETURNS int PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(ms / 1000.0); RETURN ms; END'});

sub by_workers
{
	my ($path) = @_;
	my @rows = split /\n/, $session->value('SELECT filename FROM ' . unload('SELECT pid(), n FROM many', $path));

	return join '', map { slurp_file($_) =~ s/^pid,n\n//r } @rows;
}

$session->value('SET parallel_leader_participation = off');
unlike(by_workers("$out/a.csv"), qr/^@{[$session->pid]},/m, 'workers write');
$session->value('BEGIN; CREATE TABLE new (i int)');
$session->value('SELECT count(*) FROM ' . unload('SELECT pid(), n FROM many', "$out/b.csv"));
$session->value('COMMIT');
unlike(join('', map { slurp_file("$out/$_") } grep { /^b/ } files($out)), qr/^@{[$session->pid]},/m, 'so they do in a transaction that has written');
$session->value('RESET parallel_leader_participation');
is(sprintf('%o', (stat("$out/" . (files($out))[0]))[2] & 0777), '644', 'the mode of a file');

# ---- what is replaced ----

sub mode
{
	return sprintf('%o', (lstat $_[0])[2] & 07777);
}

# all in a directory: kinds, modes, links and contents
sub picture
{
	my ($below) = @_;
	my @lines;

	find({ wanted => sub {
		my $name = substr($_, length $below);
		push @lines, -l ? "$name -> " . readlink : -d ? "$name/ " . mode($_) : "$name " . mode($_) . ' ' . (-p || !-r ? '' : slurp_file($_));
	}, no_chdir => 1 }, $below);
	return join "\n", sort @lines;
}

# any one file: as COPY TO does, or refused by both
my ($ncases, $nrefused, $nunlike) = (0, 0, 0);

for (1 .. 200)
{
	my @modes = (0600, 0640, 0664, 0644, 0666, $> == 0 ? () : (0444, 0400, 0));
	my $kind = pick('file', 'link', 'link', 'chain', 'dangling', 'loop', 'nothing', 'directory', 'missing');
	my ($mode, $directory_mode, $relative) = (pick(@modes), pick(0755, 0700, 0777), chance(0.5));

	clear();
	foreach my $side ("$out/copy", "$out/unload")
	{
		mkdir $side;
		mkdir "$side/there" if $kind ne 'missing';
		my $target = $kind eq 'file' ? "$side/x.csv" : "$side/there/real.csv";

		write_file($target, 'old') if $kind =~ /file|link|chain/;
		chmod $mode, $target;
		symlink $relative ? 'there/real.csv' : $target, $kind eq 'chain' ? "$side/there/next" : "$side/x.csv" if $kind =~ /link|chain|dangling|missing/;
		symlink 'there/next', "$side/x.csv" if $kind eq 'chain';
		symlink 'x.csv', "$side/x.csv" if $kind eq 'loop';
		mkdir "$side/x.csv" if $kind eq 'directory';
		chmod $directory_mode, "$side/there";
	}
	my (undef, $copy_error) = $session->query("COPY (SELECT 1 AS a) TO '$out/copy/x.csv' (FORMAT csv, HEADER)");
	my (undef, $error) = $session->query('SELECT count(*) FROM ' . unload('SELECT 1 AS a', "$out/unload/x.csv", overwrite => 'true'));
	$ncases++;
	$nrefused += $error ne '';
	next if ($copy_error eq '') == ($error eq '') && picture("$out/copy") =~ s/copy/unload/gr eq picture("$out/unload");
	diag("$kind, mode " . sprintf('%o', $mode) . ": $copy_error$error\n" . picture("$out/copy") . "\n" . picture("$out/unload")) if $nunlike++ < 3;
}
is($nunlike, 0, "$ncases single files are like COPY TO's, of which $nrefused are refused");

# sets: a file has the mode that its name had, or what all had in common
my ($nmodes, $nother) = (0, 0);
my @set = ('SELECT n FROM generate_series(1, 30) n', "$out/a.csv", ordered => 'true', max_file_size => "'40'");

for (1 .. 30)
{
	my ($by_key, $common) = (chance(0.5), 0644);
	my @old = $by_key ? map { "keys/k=$_/data.csv" } grep { chance(0.5) } 1 .. 6 : map { $_ ? "a-$_.csv" : 'a.csv' } 0 .. int(rand(5));
	my (%expected, %directory);

	clear();
	mkdir "$out/keys";
	foreach my $file (@old)
	{
		my ($above) = $file =~ m{(.*)/};

		mkdir "$out/$above" if $by_key;
		write_file("$out/$file", 'old');
		$common &= $expected{$file} = pick(0600, 0640, 0660, 0664, 0604, 0644);
		chmod $expected{$file}, "$out/$file";
		next if !$by_key;
		$directory{$above} = pick(0700, 0750, 0770, 0755, 0775);
		chmod $directory{$above}, "$out/$above";
	}
	my $common_directory = 0755;
	$common_directory &= $_ foreach values %directory;
	my @new = split /\n/, $session->value('SELECT filename FROM '
		. ($by_key ? unload('SELECT n AS k, n FROM generate_series(1, 6) n', "$out/keys", partition_by => "'{k}'", overwrite => 'true')
			: unload(@set, overwrite => 'true')));

	foreach my $file (map { substr($_, length("$out/")) } @new)
	{
		my ($above) = $file =~ m{(.*)/};

		$nmodes++;
		next if mode("$out/$file") eq sprintf('%o', $expected{$file} // $common)
			&& (!$by_key || mode("$out/$above") eq sprintf('%o', $directory{$above} // $common_directory));
		diag("$file: " . mode("$out/$file")) if $nother++ < 3;
	}
}
is($nother, 0, "$nmodes files of sets have the modes of what they replace");

# files that go without new ones
my $removed = qr/NOTICE:  files that are removed, and not written anew: (\d+), the first: "([^"]*)"/;

clear();
$session->value('SET client_min_messages = notice');
$session->value('SELECT count(*) FROM ' . unload(@set));
is(($session->query('SELECT count(*) FROM ' . unload(@set, overwrite => 'true')))[1], '', 'the same files again: no NOTICE');
my $nbefore = () = files($out);
write_file("$out/a-2024.csv", q{somebody else's});
is(join(' ', ($session->query('SELECT count(*) FROM ' . unload('SELECT 1', "$out/a.csv", overwrite => 'true')))[1] =~ $removed), "$nbefore $out/a-1.csv", 'a NOTICE of removed files');
is(join(' ', files($out)), 'a-2024.csv a.csv', 'and only these are');
like(error('SELECT count(*) FROM ' . unload('SELECT 1', "$out/a-2024.csv")), qr/ERROR:  file ".*a-2024.csv" exists/, 'a file with a number in its own name');
my @fives = ('SELECT n % 5 AS k, n FROM generate_series(1, 10) n', "$out/keys", partition_by => "'{k}'");
$session->value('SELECT count(*) FROM ' . unload(@fives));
write_file("$out/keys/k=4/more.csv", 'x');
is(join(' ', ($session->query('SELECT count(*) FROM ' . unload($fives[0] . ' WHERE n % 5 > 2', @fives[ 1 .. 3 ], overwrite => 'true')))[1] =~ s/, the first.*//sr), 'NOTICE:  files that are removed, and not written anew: 4', 'of keys');

# links and files of a set that are not the path itself
foreach my $case ([ 'a-1.csv', 'a number', "$out/a.csv" ], [ 'keys/k=1/data.csv', 'a key', "$out/keys", partition_by => "'{k}'" ])
{
	my ($file, $name, @case) = @$case;
	my $call = 'SELECT count(*) FROM ' . unload('SELECT 1 AS k, 2 AS v', @case, overwrite => 'true');

	clear();
	system('mkdir', '-p', "$out/keys/k=1");
	write_file("$directory/elsewhere", 'old');
	symlink "$directory/elsewhere", "$out/$file";
	my $before = picture($out);
	like(error($call), qr/ERROR:  "$out\/$file" is not a regular file/, "a link in the place of a file of $name");
	is(picture($out) . slurp_file("$directory/elsewhere"), "${before}old", 'is not replaced');
  SKIP:
	{
		skip 'root may write to all files', 2 if $> == 0;
		my $user = getpwuid $>;

		unlink "$out/$file";
		write_file("$out/$file", 'old');
		chmod 0444, "$out/$file";
		$before = picture($out);
		like(error($call), qr/ERROR:  could not write to file "$out\/$file": Permission denied\nHINT:  The server runs as operating system user "$user"/, "a file of $name that cannot be written");
		is(picture($out), $before, 'is not replaced');
	}
}

# several files by a link, which leads to none of them then
clear();
mkdir "$out/there";
symlink 'there/b.csv', "$out/a.csv";
$session->value('SELECT count(*) FROM ' . unload(@set));
is(join(' ', grep { !/b-\d+\.csv/ } files("$out/there")), '', 'a link names a set');
my $numbered = () = files("$out/there");
$session->query('SELECT count(*) FROM ' . unload('SELECT 1', "$out/a.csv", overwrite => 'true'));
is(join(' ', $numbered > 1, files("$out/there"), readlink "$out/a.csv"), '1 b.csv there/b.csv', 'again and again');

# the suffix is that of the file to which a link leads
unlink "$out/a.csv";
symlink 'there/b.csv.gz', "$out/a.csv";
like(error('SELECT count(*) FROM ' . unload('SELECT 1', "$out/a.csv", overwrite => 'true', compression => "'none'")),
	qr/ERROR:  invalid value for option "path": "$out\/there\/b\.csv\.gz"\nDETAIL:  Its suffix/, 'a link to a name of another compression');

# names that are not valid text
clear();
mkdir "$out/keys";
symlink "$out/n\xe4me.csv", "$out/a.csv";
is($session->value('SELECT replace(filename, $$' . $out . '$$, $$$$) FROM ' . unload('SELECT 1', "$out/a.csv")), '/n\xe4me.csv', 'the name of a file');
my @messages = (error('SELECT count(*) FROM ' . unload('SELECT 1', "$out/a.csv")));
$session->query('BEGIN; SELECT count(*) FROM ' . unload('SELECT 1', "$out/a.csv", overwrite => 'true'));
unlink "$out/n\xe4me.csv";
mkdir "$out/n\xe4me.csv";
push @messages, error('COMMIT'), error('SELECT count(*) FROM ' . unload('SELECT 1', "$out/a.csv"));
mkdir "$out/keys/n\xe4me";
my @keys = ('SELECT 1 AS k, 2 AS v', "$out/keys", partition_by => "'{k}'", overwrite => 'true');
push @messages, error('SELECT count(*) FROM ' . unload(@keys));
rename "$out/keys/n\xe4me", "$out/keys/k=\xe4";
symlink 'x', "$out/keys/k=\xe4/\xff";
push @messages, error('SELECT count(*) FROM ' . unload(@keys));
unlink "$out/keys/k=\xe4/\xff";
write_file("$out/keys/k=\xe4/data.csv", 'x');
push @messages, ($session->query('SELECT count(*) FROM ' . unload(@keys)))[1];
is(scalar(grep { /\\xe4/ && !/[\x80-\xff]/ } @messages), 6, 'ERRORs and a NOTICE show their bytes') or diag(@messages);
$session->value('SET client_min_messages = warning');

# ---- a standby ----

clear();
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('unload_standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
is($standby->safe_psql('postgres', 'SELECT sum(records) FROM ' . unload('TABLE many', "$out/standby", partition_by => "'{k}'")), '50000', 'a standby');
is(scalar(my @there = files($out)), 10, 'which leaves nothing else');
my (undef, undef, $failure) = $standby->psql('postgres', 'SELECT count(*) FROM ' . unload('SELECT 1 / (n - 9) FROM many', "$out/a.csv"));

like($failure, qr/division by zero/, 'an ERROR there');
is(scalar(@there = files($out)), 10, 'leaves nothing');
$standby->stop;

# ---- memory ----

clear();
$session->value("SET maintenance_work_mem = '1MB'");
my $nkeys = 5000;
my ($before, $nopen) = (rss_kb($session->pid), descriptors($session->pid));
my ($count, undef, $most) = $session->query_watched('SELECT count(*), sum(records) FROM '
	. unload("SELECT n * 7919 % $nkeys AS k, n, repeat('x', 100) AS t FROM generate_series(1, 50000) n", "$out/keys", partition_by => "'{k}'"));
is($count, "$nkeys|50000", "$nkeys keys");
my $shown = $most - $before;
note("$shown kB more memory");
# the name of a key, and each file in the list
cmp_ok($shown, '<', 20 * 1024, 'take little memory');
is(scalar(grep { /^k=\d+\/data\.csv$/ } files("$out/keys")), $nkeys, 'all files have names');
is(descriptors($session->pid), $nopen, 'no file is open');
$session->value('RESET maintenance_work_mem');

# ---- what goes wrong ----

# all of these leave nothing behind
sub leaves_nothing
{
	my ($name) = @_;

	return is(join(' ', glob("$out/* $out/.csv*")), '', "$name leaves nothing");
}

clear();
my $slow = 'SELECT n, k, wait(1) FROM many';

foreach my $case ([ "$out/a.csv" ], [ "$out/a.csv.gz" ], [ "$out/keys", partition_by => "'{k}'" ], [ "$out/o.csv", ordered => 'true' ])
{
	$session->send('SELECT count(*) FROM ' . unload($slow, @$case));
	$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE '%wait(1)%' AND pid <> pg_backend_pid()});
	sleep(rand(0.1));
	$node->safe_psql('postgres', 'SELECT pg_cancel_backend(' . $session->pid . ')');
	like(($session->await)[1], qr/canceling statement due to user request/, 'a cancel');
	leaves_nothing('it');
}
like(error('SELECT count(*) FROM ' . unload('SELECT n, 1 / (40000 - n) FROM many', "$out/a.csv")), qr/division by zero/, 'an ERROR in a process');
leaves_nothing('it');
my $ended = new_session($node);

$ended->send('SELECT count(*) FROM ' . unload($slow, "$out/keys", partition_by => "'{k}'"));
$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_progress_copy WHERE command = 'COPY TO' AND type = 'FILE'");
ok(1, 'pg_stat_progress_copy has it');
$node->safe_psql('postgres', 'SELECT pg_terminate_backend(' . $ended->pid . ')');
$ended->{run}->finish;
$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = ' . $ended->pid);
leaves_nothing('the end of a session');

SKIP:
{
	skip 'no prlimit', 3 if !has_program('prlimit');
	my $full = new_session($node);

	$full->value('SET max_parallel_workers_per_gather = 0');
	# WAL files have 16 MB
	system('prlimit', '--fsize=17000000', '--pid', $full->pid) == 0 or die 'prlimit';
	my $large = q{SELECT repeat('x', 1000) FROM generate_series(1, 20000)};
	my $message = ($full->query('SELECT count(*) FROM ' . unload($large, "$out/a.csv")))[1];

	like($message, qr/ERROR:  could not write to file ".*": File too large/, 'a file that cannot grow');
	leaves_nothing('it');
	is($full->value('SELECT count(*) FROM ' . unload($large, "$out/a.csv", max_file_size => "'16MB'")), 2, 'smaller files can be written');
	$full->quit;
}

# two sessions, one path
clear();
my $other = new_session($node);

$session->value('BEGIN; SELECT count(*) FROM ' . unload('SELECT 1 AS first', "$out/a.csv"));
$other->value('BEGIN; SELECT count(*) FROM ' . unload('SELECT 2 AS second', "$out/a.csv"));
$session->value('COMMIT');
like(($other->query('COMMIT'))[1], qr/ERROR:  file ".*a.csv" exists/, 'of two sessions the second fails');
is(join(' ', files($out)), 'a.csv', 'which leaves nothing');
is(slurp_file("$out/a.csv"), "first\n1\n", 'the file is of the first');

# within a directory that another transaction replaces
clear();
my @by_key = ('SELECT 1 AS k, 2 AS v', "$out/keys", partition_by => "'{k}'");

$session->value('SELECT count(*) FROM ' . unload(@by_key));
$session->value('BEGIN; SELECT count(*) FROM ' . unload('SELECT 1', "$out/keys/k=1/extra.csv"));
like(($other->query('SELECT count(*) FROM ' . unload(@by_key, overwrite => 'true')))[1],
	qr/ERROR:  cannot overwrite directory ".*keys\/k=1"/, 'a directory into which a transaction writes');
$session->value('COMMIT');
is(join(' ', files($out)), 'keys/k=1/data.csv keys/k=1/extra.csv', 'both have their files');
$other->value('SELECT count(*) FROM ' . unload(@by_key, overwrite => 'true'));
is(join(' ', files($out)), 'keys/k=1/data.csv', 'later it can be replaced');

# one directory, two names
clear();
mkdir "$out/a";
symlink 'a', "$out/b";
$session->value('BEGIN; SELECT count(*) FROM ' . unload('SELECT 1 AS first', "$out/a/x.csv"));
$session->value('SELECT count(*) FROM ' . unload('SELECT 2 AS second', "$out/b/x.csv", overwrite => 'true'));
is(($session->query('COMMIT'))[1], '', 'one file by two names of its directory');
is(join(' ', map { $_ . slurp_file("$out/$_") } files($out)), "a/x.csvsecond\n2\n", 'the second call replaces it');

# what is removed must not come back after a crash
clear();
$session->value('SELECT count(*) FROM ' . unload('SELECT 1', "$out/a.csv"));
my $inserted = $session->value('SET synchronous_commit = off; CREATE TABLE off (i int); BEGIN; INSERT INTO off VALUES (1); SELECT pg_current_wal_insert_lsn()');
$session->value('SELECT count(*) FROM ' . unload('SELECT 2', "$out/a.csv", overwrite => 'true'));
is($session->value("COMMIT; SELECT pg_current_wal_flush_lsn() > '$inserted'"), 't', 'a commit is on disk');
$session->value('RESET synchronous_commit');

# a transaction that fails after its files have got their names
clear();
$session->value('SELECT count(*) FROM ' . unload('SELECT 1 AS first', "$out/a.csv"));
$session->value('CREATE TABLE x (i int); CREATE TABLE y (i int)');
$session->value('BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM x');
$other->value('BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM y');
$session->value('INSERT INTO y VALUES (1); SELECT count(*) FROM ' . unload('SELECT 3 AS third', "$out/a.csv", overwrite => 'true')
	. ', ' . unload('SELECT 1 AS k, 4 AS fourth', "$out/keys", partition_by => "'{k}'") . ' AS b');
$other->value('INSERT INTO x VALUES (1); COMMIT');
like(error('COMMIT'), qr/could not serialize access/, 'a serialization failure at COMMIT');
is(join(' ', files($out)), 'a.csv', 'new files are gone');
is(slurp_file("$out/a.csv"), "first\n1\n", 'and the old one is back');
$other->quit;

# rows and a call for one file
$session->value("CREATE FOREIGN TABLE w (i int) SERVER csv OPTIONS (filename '$out/w.csv', writable 'true')");
foreach my $first (0, 1)
{
	my $writer = new_session($node);
	my @statements = ('INSERT INTO w VALUES (1)', 'SELECT records FROM ' . unload('SELECT 2 AS i', "$out/w.csv"));

	$writer->value('BEGIN; ' . join('; ', @statements[ $first, 1 - $first ]));
	like(($writer->query('COMMIT'))[1], qr/ERROR:  cannot write to file ".*w.csv" and call csv_gpu_unload\(\) for it in one transaction/,
		'INSERT and csv_gpu_unload() of one file');
	is(join(' ', files($out)), 'a.csv', 'which leaves nothing');
	$writer->quit;
}

# a directory that has another name at COMMIT
mkdir "$out/sub";
$session->value('BEGIN; SELECT count(*) FROM ' . unload('SELECT 1', "$out/sub/a.csv"));
rename "$out/sub", "$out/other";
like(error('COMMIT'), qr/ERROR:  could not .*sub/, 'a directory that has gone: an ERROR');
is($session->value('SELECT 1'), 1, 'and no more');
rename "$out/other", "$out/sub";
rmdir "$out/sub";

# ---- crashes ----

# what an aborted transaction has set aside
my $aborted = $session->value('BEGIN; SELECT pg_current_xact_id(); ROLLBACK');
my $system = $session->value('SELECT system_identifier FROM pg_control_system()');
my $hidden = "$out/.csvgpu-$system-1-$aborted-0.csvgpu";

system('mkdir', '-p', "$hidden/new/k=1", "$hidden/old/k=2");
rename "$out/a.csv", "$hidden/old/a.csv";
write_file("$hidden/old/k=2/data.csv", 'x');
write_file("$hidden/new/k=1/data.csv", 'y');
chmod 0700, $hidden;
is($session->value("SELECT state FROM csv_gpu_leftovers('$out', true)"), 'aborted', 'what a crash leaves behind');
is(join(' ', files($out)), 'a.csv k=2/data.csv', 'is put back');

my $victim = "$directory/victim";
my $leftovers = "SELECT state FROM csv_gpu_leftovers('$out', true)";

$session->value('RESET client_min_messages');

# a hidden directory of an aborted transaction, with old/a.csv
sub aborted_directory
{
	clear();
	mkdir $hidden, 0700;
	mkdir "$hidden/$_", 0700 foreach qw(new old);
	write_file("$hidden/old/a.csv", 'old');
	return;
}

# the next call puts back what an aborted transaction has set aside
aborted_directory();
write_file("$hidden/new/a-1.csv", 'new');
$session->value('SELECT count(*) FROM ' . unload('SELECT 1', "$out/b.csv"));
is(join(' ', files($out)), 'a.csv b.csv', 'the next call puts back what a crash in a commit leaves behind');
is(slurp_file("$out/a.csv"), 'old', 'the old file');

# and gives the files of a committed transaction their names
my $committed = $session->value('SELECT pg_current_xact_id()');

aborted_directory();
write_file("$hidden/new/$_.csv", 'new') foreach qw(a a-1);
rename $hidden, "$out/.csvgpu-$system-1-$committed-0.csvgpu" or die;
is($session->value($leftovers), 'committed', 'a crash after a commit');
is(join(' ', map { $_ . slurp_file("$out/$_") } files($out)), 'a-1.csvnew a.csvnew', 'the new files have their names');

# what others have written since stays
aborted_directory();
write_file("$out/a.csv", 'theirs');
is(($session->query('SELECT count(*) FROM ' . unload('SELECT 1', "$out/b.csv")))[1], '', 'a file of that name: no word at each call');
like(($session->query($leftovers))[1], qr/WARNING:  could not rename file ".*old\/a.csv": File exists/, 'csv_gpu_leftovers() tells it');
is(slurp_file("$out/a.csv"), 'theirs', 'the file stays');

# the server's own directory, to which another user has given such a name
aborted_directory();
mkdir "$hidden/base", 0700;
$session->value('SELECT count(*) FROM ' . unload('SELECT 1', "$out/b.csv"));
is($session->value($leftovers), 'unknown', 'a directory that has something else in it');
is(join(' ', grep { -e "$hidden/$_" } qw(base old/a.csv)), 'base old/a.csv', 'is left alone');

# symbolic links, and directories that others could have made
mkdir $victim, 0700;
mkdir "$victim/old", 0700;
write_file("$victim/$_", 'x') foreach qw(1247 old/1247);
foreach my $case ([ 'link', sub { symlink $victim, $hidden } ],
	[ 'old', sub { mkdir $hidden, 0700; symlink $victim, "$hidden/old" } ],
	[ 'mode', sub { mkdir $hidden; chmod 0755, $hidden; mkdir "$hidden/old"; write_file("$hidden/old/1247", 'x') } ])
{
	clear();
	$case->[1]->();
	$session->query($leftovers);
	$session->value('SELECT count(*) FROM ' . unload('SELECT 1', "$out/a.csv"));
	is(join(' ', files($victim), map { "$_ stays" } grep { -e "$out/$_" } '1247'), '1247 old/1247', "$case->[0]: nothing is moved");
}
foreach my $end (qw(ROLLBACK COMMIT))
{
	clear();
	$session->value('BEGIN; SELECT count(*) FROM ' . unload('SELECT 1', "$out/a.csv"));
	my ($made) = glob "$out/.csvgpu-*";
	rename $made, "$out/away";
	symlink $victim, $made;
	my (undef, $message) = $session->query($end);
	is(join(' ', files($victim)), '1247 old/1247', "$end follows no link that took the directory's place");
	is(join(' ', files($out)), '', 'and removes its own files');
	like($message, qr/ERROR:  directory ".*" is no longer the same/, 'with an ERROR') if $end eq 'COMMIT';
}

# while rows are written
clear();
mkdir "$out/keys";
$session->send('SELECT count(*) FROM ' . unload("SELECT 1 AS k, pg_sleep(0.01) IS NULL AS s FROM generate_series(1, 300)", "$out/keys", partition_by => "'{k}'"));
my $taken;
sleep(0.01) until ($taken) = grep { -d "$_/old" } glob "$out/keys/.csvgpu-*";
rename $taken, "$out/away" or die;
symlink $victim, $taken;
like(($session->await)[1], qr/ERROR:  (could not open file ".*" for writing: |directory ".*" is no longer the same)/, 'a link that takes the place while rows are written');
is(join(' ', files($victim)), '1247 old/1247', 'no file is made elsewhere');

# a tree that is too deep for descriptors
aborted_directory();
unlink "$hidden/old/a.csv";
system('mkdir', '-p', "$hidden/new/" . 'd/' x 900);
is($session->value('SELECT count(*) FROM ' . unload('SELECT 1', "$out/a.csv")), 1, 'a deep tree is no ERROR');
like(($session->query($leftovers))[1], qr/WARNING:  could not remove directory ".*": File name too long/, 'it stays');

# one that is in use, by a server with a copy of the data directory
aborted_directory();
open(my $lock, '<', $hidden) or die;
flock($lock, 6) or die;
is($session->value($leftovers), '', 'a locked directory is left alone');
close $lock;
is($session->value($leftovers), 'aborted', 'until the lock is released');

like(error('SELECT count(*) FROM ' . unload('SELECT 1', "$out/.x.csvgpu")), qr/ERROR:  file name ".x.csvgpu" is reserved/, 'a name that looks hidden');
like(error('SELECT count(*) FROM ' . unload(q{SELECT 1 AS a, 'x.csvgpu' AS ".k"}, "$out/keys", partition_by => "'{.k}'")),
	qr/ERROR:  column name "\.k" cannot be used in "partition_by"/, 'of a key');

SKIP:
{
	skip 'root can remove all files', 1 if $> == 0;
	my $latin = new_session($node);
	my $euro = "$directory/\xe2\x82\xac";

	mkdir $euro;
	$latin->value("BEGIN; SELECT count(*) FROM " . unload('SELECT 1', "$euro/a.csv"));
	chmod 0555, $euro;
	# it cannot show the name; the setting goes with the transaction, after the report
	$latin->query("SET client_encoding = 'LATIN1'");
	$latin->query('ROLLBACK');
	is($latin->value('SELECT 1'), 1, 'a report that the client could not read');
	chmod 0755, $euro;
	$latin->quit;
}

my ($ncrashes, $nbad, $generation) = (0, 0, 0);

clear();
$until = time() + $seconds;
while (time() < $until)
{
	# the same set again and again, until the server dies
	my $writer = new_session($node);
	my $by_key = chance(0.5);
	my @case = $by_key ? ("$out/keys", partition_by => "'{k}'") : ("$out/set.csv", ordered => 'true', max_file_size => "'200kB'");
	my $end = time() + rand(0.5);
	my $call = unload('@', @case, overwrite => 'true') =~ s/'@'/query/r;

	$writer->send("DO \$\$ DECLARE query text; BEGIN FOR g IN $generation .. $generation + 999 LOOP
		query := 'SELECT ' || g || ' AS g, k, t FROM many WHERE n <= 20000'; PERFORM count(*) FROM $call; COMMIT; END LOOP; END \$\$");
	$generation += 1000;
	sleep(0.02) while time() < $end;
	kill 'KILL', $writer->pid;
	$writer->{run}->kill_kill;
	$ncrashes++;
	# until all sessions have ended, and until there can be one again
	sleep(0.02) while eval { $session->query('SELECT 1'); $session->{run}->pumpable };
	$session->{run}->kill_kill;
	sleep(0.1) until eval { $session = new_session($node) };
	$session->value("SELECT count(*) FROM csv_gpu_leftovers('$_', true)") foreach grep { -d } $out, "$out/keys";
	foreach my $file (files($out))
	{
		my @lines = split /\n/, slurp_file("$out/$file");
		my %generations = map { /^(\d+),/ ? ($1 => 1) : () } @lines[ 1 .. $#lines ];

		next if keys %generations == 1 && $lines[0] eq ($file =~ /k=/ ? 'g,t' : 'g,k,t') && ($file !~ /k=/ || @lines == 2001);
		diag("$file has " . @lines . ' lines of ' . join(' ', keys %generations)) if $nbad++ < 3;
	}
	if (my @left = grep { /csvgpu/ } files($out))
	{
		diag("left: @left") if $nbad++ < 3;
	}
}
is($nbad, 0, "after $ncrashes crashes all files are whole, and nothing else is left");

finish($session);
