# Files that grow.
#
# 1. Whatever reads a file that was cut anywhere, it has the records that end before the
#    cut.
# 2. A file that is replaced under a scan: an ERROR, or a prefix of the first file.
# 3. A writer appends records in pieces, and rotates its files, while they are loaded and
#    queried, loads are cancelled, and the server is killed: at the end each record is
#    there once, in the order of its file.  CSV_GPU_FDW_SECONDS=N lets it write N seconds.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use CsvServer;
use IPC::Run;
use PostgreSQL::Test::Utils;
use POSIX ();
use Test::More;
use Time::HiRes ();

random_seed();
my $directory = PostgreSQL::Test::Utils::tempdir;
my @engines = engines();
my $node = csv_server(
	'growing',
	QUICK_FILES,
	CHEAP_WORKERS,
	max_worker_processes => 16,
	'csv_gpu_fdw.resident_memory' => '200MB',
	'csv_gpu_test.small_pieces' => 'on');
my $session = new_session($node);

# ---- records that end before a cut ----

# a number, and a text that may have line breaks, commas and quotes
sub record
{
	my ($n) = @_;
	my $text = join '', map { pick('a', 'b', 'cd', "\n", ',', '""', "\r\n", 'x' x int(rand 60)) } 0 .. rand 8;

	return qq{$n,"$text"} . pick("\n", "\n", "\r\n") . (chance(0.02) ? "\n" : '');
}

my @records = map { record($_) } 1 .. 12_000;
my $text = "n,t\n" . join '', @records;
# blank lines count with the record behind them
my @real_ends;
{
	my $offset = 4;

	foreach my $record (@records)
	{
		push @real_ends, $offset + length($record =~ s/(?<=\n)\n$//r);
		$offset += length $record;
	}
}

# the texts of the first records
my @texts = map { s/^\d+,"(.*)"\r?\n+\z/$1/sr =~ s/""/"/gr } @records;

sub texts
{
	my ($n) = @_;

	return @texts[ 0 .. $n - 1 ];
}

my %ways = (
	'one thread' => ['SET csv_gpu_fdw.cpu_threads = 1; SET max_parallel_workers_per_gather = 0'],
	'threads' => ['SET csv_gpu_fdw.cpu_threads = 4; SET max_parallel_workers_per_gather = 0', ", chunk_size '64kB'"],
	'processes' => ['SET csv_gpu_fdw.cpu_threads = 1; SET max_parallel_workers_per_gather = 3', ", chunk_size '64kB'"],
	'a stream' => ['SET csv_gpu_fdw.cpu_threads = 4; SET max_parallel_workers_per_gather = 0', ", encoding 'SJIS'"]);
my @compressions = ([ 'gzip', '-nc', 'gz' ], [ 'zstd', '-qc', 'zst' ], [ 'lz4', '-qc', 'lz4' ]);

foreach my $engine (@engines)
{
	foreach my $way (sort keys %ways)
	{
		my ($settings, $options) = @{ $ways{$way} };

		$session->value("$settings; SET csv_gpu_fdw.engine = $engine; DROP FOREIGN TABLE IF EXISTS f;
			CREATE FOREIGN TABLE f (n int, t text) SERVER csv OPTIONS (filename '$directory/f.csv',
				header 'match', growing 'true', on_error 'stop'" . ($options // '') . ')');
		foreach my $cut (0, 2, 4, map { int rand(1 + length $text) } 1 .. 6)
		{
			my $nwhole = grep { $_ <= $cut } @real_ends;

			write_file("$directory/f.csv", substr $text, 0, $cut);
			is($session->value(
					'SELECT count(*) || \',\' || coalesce(max(n), 0) || \',\' || coalesce(sum(n), 0) FROM f'),
				"$nwhole,$nwhole," . $nwhole * ($nwhole + 1) / 2, "$engine, $way: cut at $cut");
			is($session->value("SELECT count(*) FROM (SELECT n, t FROM f OFFSET 0) f WHERE t LIKE '%' AND n > 0"),
				$nwhole, 'and as rows');
		}
	}
}

# members and frames, of which the last may be cut
foreach my $compression (@compressions)
{
	my ($program, $flags, $suffix) = @$compression;
	my $path = "$directory/c.csv.$suffix";
	my $part = "$directory/part";
	my @members;
	my $nmembers = 40;

  SKIP:
	{
		skip "no $program", 1 if !has_program($program);
		foreach my $i (1 .. $nmembers)
		{
			write_file($part, substr $text, int(length($text) * ($i - 1) / $nmembers),
				int(length($text) * $i / $nmembers) - int(length($text) * ($i - 1) / $nmembers));
			push @members, scalar `$program $flags $part`;
		}
		$session->value("SET csv_gpu_fdw.engine = cpu; SET csv_gpu_fdw.cpu_threads = 4; DROP FOREIGN TABLE IF EXISTS f;
			CREATE FOREIGN TABLE f (n int, t text) SERVER csv OPTIONS (filename '$path', header 'match', growing 'true', on_error 'stop')");
		foreach my $try (1 .. 8)
		{
			my $n = int rand($nmembers + 1);
			my $rest = $n < $nmembers ? substr $members[$n], 0, int rand length $members[$n] : '';
			my $bytes = int(length($text) * $n / $nmembers);
			my $nwhole = grep { $_ <= $bytes } @real_ends;

			write_file($path, @members[ 0 .. $n - 1 ], $rest);
			is($session->value('SELECT count(*) || \',\' || coalesce(max(n), 0) FROM f'), "$nwhole,$nwhole",
				"$program: $n members and " . length($rest) . ' bytes');
		}
	}
}

# ---- kept columns of a file that becomes longer ----

my $kept_path = "$directory/kept.csv";
my @kept_ways = ([ 'cpu', 1 ], [ 'cpu', 4 ], map { [ $_, 1 ] } grep { $_ ne 'cpu' } @engines);

# what stat counts of columns that were found
sub hits
{
	return $session->value("SELECT sum(resident_hits) FROM csv_gpu_stat");
}

foreach my $way (@kept_ways)
{
	my ($engine, $threads) = @$way;
	my $cut = 300_000;
	my $nsets;

	$session->value("SET csv_gpu_fdw.engine = $engine; SET csv_gpu_fdw.cpu_threads = $threads; RESET max_parallel_workers_per_gather;
		SELECT csv_gpu_forget(); DROP FOREIGN TABLE IF EXISTS f;
		CREATE FOREIGN TABLE f (n int, t text, r bigint OPTIONS (virtual 'record')) SERVER csv OPTIONS (filename '$kept_path',
			header 'match', growing 'true', on_error 'stop')");
	write_file($kept_path, substr $text, 0, $cut);
	foreach my $try (0 .. 25)
	{
		my $nwhole = grep { $_ <= $cut } @real_ends;
		my $before = hits();

		is($session->value('SELECT count(*) || \',\' || max(n) || \',\' || sum(n) || \',\' || sum(length(t)) || \',\' || max(r) FROM f'),
			join(',', $nwhole, $nwhole, $nwhole * ($nwhole + 1) / 2, length(join '', texts($nwhole)), $nwhole),
			"$engine, $threads threads: kept up to $cut");
		is($session->value("SELECT t FROM f WHERE n = $nwhole"), (texts($nwhole))[-1] =~ s/\r\n?/\n/gr, 'and the last row') if (texts($nwhole))[-1] !~ /\r/;
		cmp_ok(hits(), '>', $before, 'by kept columns') if $try > 0;
		$nsets = $session->value("SELECT count(*) FROM csv_gpu_resident() WHERE source = 'f'::regclass");
		cmp_ok($nsets, '<', 24, "$nsets sets");
		my $more = pick(1, 5, 30, 100, 2000, 30_000);

		append_to_file($kept_path, substr $text, $cut, $more);
		$cut += $more;
	}
	# the file is another one, and longer
	write_file($kept_path, "n,t\n" . join '', map { "1,other\n" } 1 .. 150_000);
	is($session->value('SELECT count(*) || \',\' || max(n) FROM f'), '150000,1', "$engine: a file that was replaced");
	is($session->value('SELECT count(*) || \',\' || max(n) FROM f'), '150000,1', 'again');
	write_file($kept_path, "n,t\n1,x\n");
	is($session->value('SELECT count(*) || \',\' || max(n) FROM f'), '1,1', 'and is shorter');
}
# another table reads the file as it is
$session->value("CREATE FOREIGN TABLE g (n int, t text) SERVER csv OPTIONS (filename '$kept_path', header 'match', ragged 'pad')");
append_to_file($kept_path, "2,y\n3");
foreach (1 .. 2)
{
	is($session->value('SELECT count(*) FROM g'), 3, 'without the option');
	is($session->value('SELECT count(*) FROM f'), 2, 'with it');
}
$session->value('DROP FOREIGN TABLE g');

# ---- a file that is replaced under a scan ----

my $big = join '', map { "$_," . ('x' x 90) . "\n" } 1 .. 240_000;
my $other = join '', map { "$_," . ('y' x 95) . "\n" } 1 .. 260_000;
my $path = "$directory/f.csv";

foreach my $engine (@engines)
{
	foreach my $on_error ('stop', 'skip')
	{
		$session->value("SET csv_gpu_fdw.engine = $engine; SET csv_gpu_fdw.resident = off; DROP FOREIGN TABLE f;
			CREATE FOREIGN TABLE f (n int, t text) SERVER csv OPTIONS (filename '$path', chunk_size '64kB', growing 'true', on_error '$on_error')");
		write_file($path, $big);
		$session->value('BEGIN; DECLARE c NO SCROLL CURSOR FOR SELECT n, t FROM f; FETCH 1 FROM c');
		# the same inode, as with copytruncate
		write_file($path, $other);
		my ($out, $err) = $session->query('FETCH ALL FROM c');

		like($err, qr/ERROR:  file ".*f.csv" was replaced while it was read/, "copied and truncated: $engine, $on_error");
		unlike($out, qr/y/, 'no row of another file');
		$session->query('ROLLBACK');

		write_file($path, $big);
		$session->value('BEGIN; DECLARE c NO SCROLL CURSOR FOR SELECT n, t FROM f; FETCH 1 FROM c');
		truncate $path, 5_000_017;
		($out, $err) = $session->query('FETCH ALL FROM c');
		like($err, $on_error eq 'stop' ? qr/ERROR:  file ".*f.csv" became shorter/ : qr/WARNING:  file ".*f.csv" became shorter/,
			"shorter: $engine, $on_error");
		$session->query('ROLLBACK');

		write_file($path, $big);
		$session->value('BEGIN; DECLARE c NO SCROLL CURSOR FOR SELECT n, t FROM f; FETCH 1 FROM c');
		append_to_file($path, "0,more\n");
		($out, $err) = $session->query('FETCH ALL FROM c');
		is($err, '', "longer: $engine, $on_error");
		is($out =~ tr/\n//, 239_999 - 1, 'as far as it went') or diag(substr $out, -200);
		$session->query('ROLLBACK');
	}
}

$session->quit;
$session = undef;

# ---- a writer, and what is loaded meanwhile ----

my $nwritten = 0;	# files that were begun

# appends random records, in random pieces; returns the handle of a file that was begun
sub begin_log
{
	my ($name) = @_;

	open my $file, '>>:raw', $name or die "$name: $!";
	$nwritten++;
	return { name => $name, file => $file, stream => $nwritten, n => 0 };
}

sub write_pieces
{
	my ($log, $bytes) = @_;

	while (length $bytes)
	{
		my $n = chance(0.5) ? length $bytes : 1 + int rand length $bytes;

		syswrite($log->{file}, substr($bytes, 0, $n)) == $n or die "$log->{name}: $!";
		substr($bytes, 0, $n) = '';
		select undef, undef, undef, rand(0.004) if chance(0.3);
	}
}

sub append_records
{
	my ($log) = @_;
	my $bytes = '';

	foreach (1 .. pick(1, 1, 3, 200))
	{
		$log->{n}++;
		$bytes .= "$log->{stream}," . record($log->{n});
	}
	write_pieces($log, $bytes);
}

# to the next names
sub shift_names
{
	my ($name) = @_;
	my $n = 1;

	$n++ while -e "$name.$n";
	while (--$n > 0)
	{
		rename "$name.$n", "$name." . ($n + 1) or die $!;
	}
}

# by one of four ways; the file to go on with
sub rotate
{
	my ($log, $dir) = @_;
	my $how = pick('rename', 'copy', 'dated', 'restore');
	my $name = "$dir/app.log";

	if ($how eq 'rename')
	{
		shift_names($name);
		rename $name, "$name.1" or die $!;
		# it goes on for a while under its new name
		append_records($log) if chance(0.5);
		return begin_log($name);
	}
	if ($how eq 'copy')
	{
		shift_names($name);
		system('cp', $name, "$name.1") == 0 or die;
		truncate $log->{file}, 0 or die $!;
		$log->{stream} = ++$nwritten;
		$log->{n} = 0;
		return $log;
	}
	if ($how eq 'dated')
	{
		rename $name, "$dir/app-$nwritten.log" or die $!;
		return begin_log($name);
	}
	# a backup takes its place, as it was before, with another inode
	system('cp', $name, "$dir/backup") == 0 or die;
	rename "$dir/backup", $name or die $!;
	open $log->{file}, '>>:raw', $name or die $!;
	return $log;
}

# writes to the directory for some seconds; the last numbers of all files
sub run_writer
{
	my ($dir, $seconds) = @_;
	my $end = Time::HiRes::time() + $seconds;
	my $log = begin_log("$dir/app.log");
	my %last;

	while (Time::HiRes::time() < $end)
	{
		append_records($log);
		$last{ $log->{stream} } = $log->{n};
		next if !chance(0.02);
		my $old = $log->{stream};
		my $rotated = rotate($log, $dir);

		$last{$old} = $log->{n} if $rotated->{stream} == $old || $rotated != $log;
		$log = $rotated;
	}
	append_records($log);
	$last{ $log->{stream} } = $log->{n};
	write_file("$dir/last", map { "$_,$last{$_}\n" } sort { $a <=> $b } keys %last);
	return;
}

my $load = q{SELECT records_loaded FROM csv_gpu_load('app', 'loaded', mode => 'new_records')};
my $dir = "$directory/app";
my $seconds = seconds_to_run(8);
my %allowed = map { $_ => 0 } 'both begin with', 'was replaced', 'became shorter', 'canceling statement', 'could not open',
  'could not stat', 'is shorter than when it was loaded', 'has changed before the place', 'terminating connection|server closed|connection to server|recovery mode|starting up';

mkdir $dir;
$node->append_conf('postgresql.conf', "restart_after_crash = on\nlog_min_messages = panic");
$node->restart;
$node->safe_psql('postgres', qq{
	CREATE FOREIGN TABLE app (stream int, n int, t text) SERVER csv OPTIONS (filename '$dir/app*', growing 'true', on_error 'stop');
	CREATE TABLE loaded (i bigint GENERATED ALWAYS AS IDENTITY, stream int, n int, t text);
	CREATE INDEX ON loaded (stream, n);});

# of a query: is all as it should be, or an ERROR that may be?
sub try_query
{
	my ($sql, $expected) = @_;
	my ($status, $out, $err) = (2, '', 'server closed');

	# psql may end before it has got its input
	eval { ($status, $out, $err) = $node->psql('postgres', $sql, timeout => 60); 1 } or $@ =~ /Broken pipe|ack/ or die $@;
	my ($reason) = grep { ($err // '') =~ /$_/ } keys %allowed;

	return $out if $status == 0 && (!defined $expected || $out eq $expected);
	if ($status != 0 && defined $reason)
	{
		$allowed{$reason}++;
		return;
	}
	fail("$sql: $out $err");
	return;
}

my $writer = fork // die $!;

if ($writer == 0)
{
	srand;
	eval { run_writer($dir, $seconds); 1 } or warn $@;
	POSIX::_exit(0);
}
my $nloads = 0;
my $nkilled = 0;

while (waitpid($writer, POSIX::WNOHANG()) == 0)
{
	my $what = rand;

	if ($what < 0.6)
	{
		$nloads++ if defined try_query($load);
	}
	elsif ($what < 0.8)
	{
		# each file's records from the first on
		try_query('SELECT stream, count(DISTINCT n), max(n) FROM app GROUP BY stream HAVING count(DISTINCT n) <> max(n)', '');
	}
	elsif ($what < 0.9)
	{
		try_query('SET statement_timeout = ' . (1 + int rand 30) . "; $load");
	}
	elsif ($what < 0.97)
	{
		# two at once, of which one fails at the end
		try_query("BEGIN; $load; ROLLBACK");
	}
	elsif (chance(0.3))
	{
		# as after a crash of the machine
		$node->stop('immediate');
		$node->start;
		$nkilled++;
	}
	else
	{
		# a process is killed in the middle of a load, which ends all others
		my $sleeping = IPC::Run::start([ 'psql', '-XAtqc', "BEGIN; $load; SELECT pg_sleep(60)", $node->connstr('postgres') ], '<', \'', '>', '/dev/null', '2>', '/dev/null');

		Time::HiRes::sleep(0.1);
		my $pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE query ~ 'pg_sleep' AND pid <> pg_backend_pid()});

		kill 'KILL', $pid if $pid =~ /^\d+$/;
		eval { IPC::Run::finish($sleeping) };
		$nkilled++;
		$node->poll_query_until('postgres', 'SELECT true');
	}
}
my $last;
do { $last = try_query($load) } while (defined $last && $last > 0);
is($last, 0, "all is loaded: $nloads loads, the server was killed $nkilled times");
note(join ', ', map { "$_: $allowed{$_}" } grep { $allowed{$_} } sort keys %allowed);
is($node->safe_psql('postgres', 'SELECT stream, max(n) FROM loaded GROUP BY stream ORDER BY stream') =~ s/\|/,/gr,
	slurp_file("$dir/last") =~ s/\n$//r, 'all records');
is($node->safe_psql('postgres', 'SELECT stream, n, count(*) FROM loaded GROUP BY stream, n HAVING count(*) > 1 LIMIT 5'), '', 'each once');
is($node->safe_psql('postgres',
		'SELECT stream, n FROM (SELECT stream, n, lag(n, 1, 0) OVER (PARTITION BY stream ORDER BY i) + 1 AS due FROM loaded) l WHERE n <> due LIMIT 5'),
	'', 'in the order of each file');

$node->stop;
done_testing();
