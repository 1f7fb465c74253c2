# Logs that are loaded while they are written.
#
# 1. Two programs append records in pieces to a log, plain and gzip, and rotate it.  Loads
#    and jobs of new records, and queries, run beside them.  Loads are cancelled, and
#    backends, the server and csv_gpu_service are killed.  Each answer has the first
#    records of each file, and at the end each target has each record once, in the order
#    of its file.  A load refuses a log in which a record was mended until it is told to go
#    on.  EFFORT=N lets the programs write longer: from EFFORT=13 on, small equal files, too.
# 2. A standby that is promoted goes on where its rows end, with the same files, and with
#    copies of them.
use lib 'test/t';
use CsvServer;
use Compress::Zlib ();
use Digest::MD5 qw(md5_hex);
use Fcntl qw(:flock);
use List::Util qw(max min shuffle);
use Time::HiRes qw(sleep time);

my $seed = random_seed();
my $directory = PostgreSQL::Test::Utils::tempdir;
my @engines = engines();
my $seconds = amount(5);
# a long run needs no more than a part of the machine
my $pace = $seconds > 60 ? 0.1 : 0.01;

# ---- logs ----

my $nstreams = 0;	# of records, each from number 1 on

# a record's text begins with a hash of all of it, and may have line breaks, commas and quotes
sub record
{
	my ($stream, $n) = @_;
	my $text = join '', map { pick('a', 'b', 'cd', "\n", ',', '"', "\r\n", 'x' x int(rand 60)) } 0 .. rand 8;
	my $field = substr(md5_hex("$stream,$n,$text"), 0, 8) . $text;

	return qq{$stream,$n,"} . $field =~ s/"/""/gr . '"' . pick("\n", "\n", "\r\n") . (chance(0.02) ? "\n" : '');
}

# { name, file, gzip, stream, n }: n records of the stream were written
sub begin_log
{
	my ($name, $gzip) = @_;
	my $log = { name => $name, gzip => $gzip, stream => ++$nstreams, n => 0 };

	open_log($log);
	return $log;
}

sub open_log
{
	my ($log) = @_;

	open $log->{file}, '>>:raw', $log->{name} or die "$log->{name}: $!";
	return;
}

sub write_pieces
{
	my ($log, $bytes) = @_;

	while (length $bytes)
	{
		my $n = chance(0.5) ? length $bytes : 1 + int rand length $bytes;

		syswrite($log->{file}, substr($bytes, 0, $n)) == $n or die "$log->{name}: $!";
		substr($bytes, 0, $n) = '';
		sleep(rand 0.004) if chance(0.3);
	}
	return;
}

# a member of gzip may end within a record
sub append_records
{
	my ($log, $nrecords) = @_;
	my $bytes = join '', map { record($log->{stream}, ++$log->{n}) } 1 .. $nrecords // pick(1, 1, 3, 200);

	if ($log->{gzip})
	{
		my $cut = chance(0.5) ? int rand length $bytes : 0;

		$bytes = join '', map { Compress::Zlib::memGzip($_) } grep { length } substr($bytes, 0, $cut), substr($bytes, $cut);
	}
	write_pieces($log, $bytes);
	return;
}

# app.log.1 is app.log.2 then, and so on
sub shift_names
{
	my ($name) = @_;
	my $n = 1;

	$n++ while -e "$name.$n";
	while (--$n > 0)
	{
		rename "$name.$n", "$name." . ($n + 1) or die $!;
	}
	return;
}

# the log to go on with
sub rotate
{
	my ($log, $how) = @_;
	my $name = $log->{name};

	if ($how eq 'copied and truncated')
	{
		shift_names($name);
		open my $copy, '>:raw', "$name.1" or die $!;
		write_pieces({ name => "$name.1", file => $copy }, slurp_file($name));
		sleep(rand 0.03);
		truncate $log->{file}, 0 or die $!;
		$log->{stream} = ++$nstreams;
		$log->{n} = 0;
		return $log;
	}
	if ($how eq 'restored')
	{
		# as it was, with another inode
		my $copy = $name =~ s{[^/]*$}{copy}r;

		system('cp', $name, $copy) == 0 or die;
		rename $copy, $name or die $!;
		open_log($log);
		return $log;
	}
	shift_names($name) if $how eq 'renamed';
	if ($how eq 'compressed')
	{
		# a program that still had the file would lose its records
		my $dated = $name =~ s/app\.log/app-$log->{stream}.log/r;

		rename $name, $dated or die $!;
		my $next = begin_log($name, $log->{gzip});
		append_records($next) if chance(0.5);
		system('gzip', $dated) == 0 or die;
		return $next;
	}
	rename $name, $how eq 'renamed' ? "$name.1" : $name =~ s/app\.log/app-$log->{stream}.log/r or die $!;
	my $next = begin_log($name, $log->{gzip});

	# some programs still have the file
	append_records($next) if chance(0.5);
	append_records($log) if chance(0.5);
	return $next;
}

# another text of a record, in the log itself or in a file that takes its place; loads see the
# first 4 kB of a log that only grew.  Not if no record suits
sub mend
{
	my ($log, $how) = @_;
	my $bytes = $log->{gzip} ? `gzip -dc $log->{name}` : slurp_file($log->{name});
	my $n = 1 + int rand($how =~ /place/ ? min($log->{n}, 5) : $log->{n});

	$bytes =~ /^$log->{stream},$n,"(.{8}((?:[^"]|"")*a(?:[^"]|"")*))"/ms or return;
	my ($at, $old, $text) = ($-[1], $1, $2);

	return if $how =~ /place/ && $at + length $old > 4000;
	$text = $text =~ tr/a/c/r =~ s/""/"/gr;
	substr($bytes, $at, length $old) = (substr(md5_hex("$log->{stream},$n,$text"), 0, 8) . $text) =~ s/"/""/gr;
	if ($how =~ /place/)
	{
		open my $file, '+<:raw', $log->{name} or die $!;
		sysseek $file, $at, 0;
		syswrite $file, substr($bytes, $at, length $old);
		return 1;
	}
	my $copy = $log->{name} =~ s{[^/]*$}{copy}r;

	write_file($copy, $log->{gzip} ? Compress::Zlib::memGzip($bytes) : $bytes);
	rename $copy, $log->{name} or die $!;
	open_log($log);
	return 1;
}

my @rotations = ('renamed', 'copied and truncated', 'dated', 'restored', 'compressed', 'mended in place', 'mended by a new file');
# streams of two equal files are above
my $equal = 1000000;
my $is_log = "stream < $equal";
my $is_right = q{left(t, 8) = left(md5(stream || ',' || n || ',' || substr(t, 9)), 8)};

# targets, that must have the first $last->{stream} records of each stream
sub check_target
{
	my ($node, $target, $last, $what) = @_;
	my $read = sub { $node->safe_psql('postgres', "SELECT stream, n FROM (SELECT *, lag(n, 1, 0) OVER (PARTITION BY stream ORDER BY i) AS before FROM $target WHERE $is_log) t WHERE $_[0] LIMIT 5") };

	is($node->safe_psql('postgres', "SELECT stream || ',' || max(n) FROM $target WHERE $is_log GROUP BY stream ORDER BY stream"),
		join("\n", map { "$_,$last->{$_}" } grep { $last->{$_} > 0 } sort { $a <=> $b } keys %$last), "$what: all records");
	is($read->('n <> before + 1'), '', "$what: each once, in the order of its file");
	is($read->("NOT $is_right"), '', "$what: as they were written");
	return;
}

my $columns = '(i bigint GENERATED ALWAYS AS IDENTITY, stream int, n int, t text)';

sub create_source
{
	my ($node, $source, $pattern) = @_;

	$node->safe_psql('postgres', "CREATE FOREIGN TABLE $source (stream int, n int, t text) SERVER csv OPTIONS (filename '$pattern', growing 'true', on_error 'stop')");
	return;
}

# ---- what goes on beside ----

my @kinds = ('plain', 'gzip');
my $libdir = `pg_config --pkglibdir`;
chomp $libdir;
my @cron = -e "$libdir/pg_cron.so" ?
  (shared_preload_libraries => 'pg_cron', 'cron.database_name' => 'postgres', 'cron.use_background_workers' => 'on') : ();
my $node = csv_server(
	'log',
	QUICK_FILES,
	CHEAP_WORKERS,
	@cron,
	restart_after_crash => 'on',
	log_min_messages => 'panic',
	max_worker_processes => 20,
	'csv_gpu_fdw.resident_memory' => '64MB',
	'csv_gpu_test.small_pieces' => 'on');
my %suffix = (plain => '', gzip => '.gz');
# the end of a gzip member is missing if the file becomes shorter under a query
my %may_fail = map { $_ => qr/$_/ } 'both begin with the bytes', 'was replaced', 'became shorter', 'unexpected end of file', 'canceling statement', 'could not open file', 'process of this run has ended',
  'could not (?:stat|examine|get)', 'is shorter than when it was loaded', 'has changed before the place', 'GPU failed while reading',
  'server closed|terminating connection|connection to server|recovery mode|starting up|shutting down|not yet accepting|administrator command|Broken pipe';

$node->safe_psql('postgres', 'CREATE EXTENSION pg_cron') if @cron;
foreach my $kind (@kinds)
{
	mkdir "$directory/$kind" or die $!;
	# the name is new for each file, so that the compression has to be an option
	create_source($node, $kind, "$directory/$kind/app*");
	$node->safe_psql('postgres', "ALTER FOREIGN TABLE $kind OPTIONS (ADD compression 'gzip')") if $kind eq 'gzip';
	$node->safe_psql('postgres', "CREATE TABLE ${kind}_$_ $columns; CREATE INDEX ON ${kind}_$_ (stream, n)") foreach 'loaded', 'by_job';
	$node->safe_psql('postgres', @cron ? "SELECT csv_gpu_schedule('$kind', '* * * * *', '$kind', '${kind}_by_job', 'new_records')" :
		"INSERT INTO csv_gpu_job (job, schedule, source, target, mode) VALUES ('$kind', '* * * * *', '$kind', '${kind}_by_job', 'new_records')");
}

# processes write lines to common files
sub note_event
{
	my ($file, $line) = @_;

	open my $events, '>>', "$directory/$file" or die $!;
	syswrite $events, "$line\n" or die $!;
	return;
}

sub events
{
	my ($file) = @_;

	return -e "$directory/$file" ? split(/\n/, slurp_file("$directory/$file")) : ();
}

# no file is deleted while names change
sub lock_names
{
	open my $file, '>>', "$directory/lock" or die $!;
	flock $file, LOCK_EX or die $!;
	return $file;
}

# why it may have failed; undef: it must not
sub reason
{
	my ($message) = @_;

	return (grep { $message =~ $may_fail{$_} } sort keys %may_fail)[0];
}

# the output, if it has not failed for a reason
sub try_sql
{
	my ($what, $sql) = @_;
	my ($status, $out, $err) = (2, '', 'server closed');
	my $settings = 'SET csv_gpu_fdw.engine = ' . pick('auto', @engines) . '; SET csv_gpu_fdw.cpu_threads = ' . pick(1, 3) .
	  '; SET max_parallel_workers_per_gather = ' . pick(0, 2);

	# psql may end before it has got its input
	eval { ($status, $out, $err) = $node->psql('postgres', "$settings; $sql", timeout => 120); 1 } or $@ =~ /Broken pipe|ack/ or die $@;
	$err //= '';
	# nothing begins alike, but small equal files
	foreach my $notice ($err =~ /NOTICE:  (file "[^"]*" .*)/g)
	{
		note_event('events', "told: $1") if $notice =~ /" ([a-z ,]*)/;
		note_event('failures', $notice) if $notice =~ /as a new file/ && $notice !~ /app-\d{7}-/;
	}
	if ($status == 0)
	{
		note_event('events', $what);
		return $out;
	}
	my $reason = reason($err);

	note_event(defined $reason ? 'events' : 'failures', defined $reason ? "$what: $reason" : "$sql: $err");
	return;
}

sub load
{
	my ($kind, $target, $more) = @_;

	return "SELECT records_loaded FROM csv_gpu_load('$kind', '${kind}_" . ($target // 'loaded') . "', mode => 'new_records'" . ($more // '') . ')';
}

# until nothing is left, or the reason why nothing can be loaded does not pass
sub load_all
{
	my ($kind, $target, $more) = @_;

	for (my $end = time + 60; time < $end; sleep(0.05))
	{
		my $left = try_sql('load', load($kind, $target, $more));

		return 1 if defined $left && $left eq '0';
	}
	note_event('failures', "$kind, $target: not all can be loaded" . ($more // ''));
	return 0;
}

# a log of which all is loaded is mended: each load fails until it is told to go on
sub mend_log
{
	my ($log, $kind, $how) = @_;
	my @targets = ('loaded', 'by_job');

	return 0 if $log->{n} == 0 || grep({ !load_all($kind, $_) } @targets) || !mend($log, $how);
	foreach my $target (@targets)
	{
		my $out = try_sql('load of a mended log', load($kind, $target));

		note_event('failures', "$kind, $target: $how, but nothing was told") if defined $out;
		load_all($kind, $target, ", on_rewrite => 'skip'");
	}
	return 1;
}

# true if the job's run has not failed
sub run_job
{
	my ($kind) = @_;
	my $errors = try_sql('job', "SELECT error FROM csv_gpu_run_job('$kind') WHERE error IS NOT NULL");

	return defined $errors && $errors eq '';
}

sub expect
{
	my ($what, $sql, $expected) = @_;
	my $out = try_sql($what, $sql);

	note_event('failures', "$sql: $out") if defined $out && $out ne $expected;
	return;
}

# deletes some of the dated files of which all is loaded: their inodes are used again.  A
# number is the next file's; if that was not loaded before, it is a rewritten file.
sub delete_files
{
	my ($kind) = @_;
	my $lock = lock_names();

	return if !defined try_sql('load', load($kind)) || !run_job($kind);
	my $names = try_sql('positions', "SELECT filename FROM csv_gpu_positions WHERE source = '$kind'::regclass AND state = 'open'
		AND bytes_behind = 0 AND filename ~ 'app-' GROUP BY filename HAVING count(DISTINCT target) = 2");

	foreach my $name (grep { chance(0.7) } split /\n/, $names // '')
	{
		unlink $name or die "$name: $!";
		note_event('events', 'deleted');
	}
	return;
}

sub act
{
	my $kind = pick(@kinds);
	my $load = load($kind);
	my $what = rand;

	if ($what < 0.3)
	{
		try_sql('load', $load);
	}
	elsif ($what < 0.5)
	{
		run_job($kind);
	}
	elsif ($what < 0.65)
	{
		# each file's records from the first on
		expect('query', "SELECT stream, count(DISTINCT n), max(n), bool_and($is_right) FROM $kind GROUP BY stream
			HAVING count(DISTINCT n) <> max(n) OR NOT bool_and($is_right)", '');
	}
	elsif ($what < 0.75)
	{
		# a few columns, which are kept
		expect('query', "SELECT stream, count(DISTINCT n), max(n) FROM $kind GROUP BY stream HAVING count(DISTINCT n) <> max(n)", '');
	}
	elsif ($what < 0.8)
	{
		expect('query of a target', "SELECT stream FROM ${kind}_$_ WHERE $is_log GROUP BY stream HAVING count(*) <> max(n)", '') foreach 'loaded', 'by_job';
	}
	elsif ($what < 0.88)
	{
		try_sql('timeout', 'SET statement_timeout = ' . (1 + int rand 30) . '; ' . pick($load, "SELECT csv_gpu_run_job('$kind')", "CALL csv_gpu_run('$kind')"));
	}
	elsif ($what < 0.94)
	{
		try_sql('rollback', "BEGIN; $load; ROLLBACK");
	}
	else
	{
		delete_files($kind);
	}
	sleep(rand(2 * $pace));
	return;
}

# writes for some seconds; the number of records of each stream is in the file "last"
sub write_logs
{
	my ($kind) = @_;
	my $end = time + $seconds;
	my $log = begin_log("$directory/$kind/app.log$suffix{$kind}", $kind eq 'gzip');
	my $rotation_rate = $seconds > 60 ? pick(0.01, 0.03) : 0.05;
	my %last;
	my %inodes;
	my $npairs = 0;

	while (time < $end)
	{
		append_records($log);
		$last{ $log->{stream} } = $log->{n};
		sleep(rand(2 * $pace));
		next if !chance($rotation_rate);
		my $lock = lock_names();
		my ($old, $stream, $how) = ($log, $log->{stream}, pick(grep { !/compressed|place/ || !$log->{gzip} } @rotations));

		if ($seconds > 60 && chance(0.1))
		{
			my $bytes = join '', map { record($equal + $npairs, $_) } 1 .. 3;

			foreach my $which ('a', 'b')
			{
				write_file("$directory/$kind/app-" . ($equal + $npairs) . "-$which$suffix{$kind}", $log->{gzip} ? Compress::Zlib::memGzip($bytes) : $bytes);
				sleep(0.02);
			}
			$npairs++;
			note_event('events', 'two equal files');
			write_file("$directory/$kind/pairs", "$npairs\n", time . "\n");
		}
		if ($how =~ /mended/)
		{
			note_event('events', "file $how") if mend_log($log, $kind, $how);
			next;
		}
		$log = rotate($log, $how);
		$last{$stream} = $old->{n} if $old->{stream} == $stream;
		$last{ $log->{stream} } = $log->{n};
		my $inode = (stat $log->{name})[1];

		note_event('events', "file $how");
		note_event('events', 'inode that is used again') if $log != $old && $inodes{$inode};
		$inodes{$inode} = 1;
	}
	write_file("$directory/$kind/last", map { "$_,$last{$_}\n" } keys %last);
	return;
}

# the process; its number makes its random choices its own
my @forked;

sub in_process
{
	my ($function) = @_;
	my $pid = fork // die $!;

	push @forked, $pid;
	return $pid if $pid != 0;
	srand($seed + @forked);
	eval { $function->(); 1 } or note_event('failures', $@);
	POSIX::_exit(0);
}

# they must not outlive a test that dies
END
{
	my $status = $?;

	kill 'KILL', @forked;
	$? = $status;
}

sub kill_something
{
	my ($what) = @_;

	if ($what eq 'program')
	{
		my (undef, $program) = service($node);

		return if !defined $program;
		kill 'KILL', $program;
	}
	elsif ($what eq 'process')
	{
		# at random a load, a job, a query or a worker, which ends all others
		my @victims = processes('^postgres: .*(\[local\]|parallel worker|pg_cron|csv_gpu)', postmaster($node));

		return if !@victims;
		kill 'KILL', pick(@victims);
		sleep(0.1);
		await_server($node);
	}
	elsif ($what eq 'server')
	{
		kill_server($node);
		start_again($node);
	}
	else
	{
		$node->stop('immediate');
		$node->start;
	}
	note_event('events', "killed: $what");
	return;
}

my @writers = map { my $kind = $_; in_process(sub { write_logs($kind) }) } @kinds;
my @actors = map { in_process(sub { act() while !-e "$directory/stop" }) } 1 .. 2;
my @kills = shuffle('program', 'process', 'server', 'immediate');
my $began = time;

for (my $n = 0; time < $began + $seconds; $n++)
{
	sleep($seconds > 60 ? rand 10 : $seconds / 5);
	# the first ones are one of each; the program's death costs others nothing
	kill_something($kills[$n] // (chance(0.5) ? 'program' : pick(@kills)));
}
waitpid $_, 0 foreach @writers;
write_file("$directory/stop");
waitpid $_, 0 foreach @actors;
@forked = ();

foreach my $kind (@kinds)
{
	my %last = map { split /,/ } events("$kind/last");
	my ($npairs, $made) = events("$kind/pairs");
	my $left;

	# they may be copies in the making for a minute
	sleep(max(0, $made + 62 - time)) if defined $made;
	do { $left = try_sql('load', load($kind)) } while (defined $left && $left ne '0');
	is($left, '0', "$kind: all is loaded");
	ok(run_job($kind), "$kind: by the job, too");
	foreach my $target ("${kind}_loaded", "${kind}_by_job")
	{
		check_target($node, $target, \%last, $target);
		is($node->safe_psql('postgres', "SELECT count(*) FROM (SELECT FROM $target WHERE NOT $is_log GROUP BY stream, n HAVING count(*) = 2) t"),
			3 * ($npairs // 0), "$target: equal files");
	}
	note("$kind: " . keys(%last) . ' files, ' . List::Util::sum(values %last) . ' records');
}
is(join("\n", events('failures')), '', 'nothing else has failed');
is(join("\n", grep { !defined reason($_) } split /\n/, $node->safe_psql('postgres', q{SELECT replace(error, E'\n', ' ') FROM csv_gpu_job_run WHERE error IS NOT NULL})),
	'', 'nor have runs of jobs');
{
	my %events;

	$events{$_}++ foreach events('events');
	note(join "\n", map { "$events{$_} $_" } sort keys %events);
	note($node->safe_psql('postgres', q{SELECT count(*) || ' runs by pg_cron' FROM cron.job_run_details WHERE status = 'succeeded'})) if @cron;
}
$node->stop;

# ---- a standby that is promoted ----

my $logs = "$directory/standby";
my $primary = csv_server('primary', QUICK_FILES, init => { allows_streaming => 1 });
my %standbys = map { $_ => PostgreSQL::Test::Cluster->new($_) } 'same', 'copies';
my $load = q{SELECT records_loaded FROM csv_gpu_load('app', 'loaded', mode => 'new_records')};
my @logs;

sub last_numbers
{
	return { map { $_->{stream} => $_->{n} } @logs };
}

mkdir $logs or die $!;
create_source($primary, 'app', "$logs/app*");
$primary->safe_psql('postgres', "CREATE TABLE loaded $columns");
$primary->backup('backup');
foreach my $standby (values %standbys)
{
	$standby->init_from_backup($primary, 'backup', has_streaming => 1);
	$standby->start;
}
push @logs, begin_log("$logs/app.log");
append_records($logs[0], 1000);
is($primary->safe_psql('postgres', $load), 1000, 'loaded before');
append_records($logs[0], 500);
$logs[1] = rotate($logs[0], 'renamed');
append_records($_, 300) foreach @logs;
$primary->safe_psql('postgres', $load);
check_target($primary, 'loaded', last_numbers(), 'the primary');
$primary->wait_for_catchup($standbys{copies}, 'replay');
# one standby does not get what comes from here on
$standbys{copies}->stop;
append_records($_, 200) foreach @logs;
my $half = record($logs[1]{stream}, ++$logs[1]{n});
write_pieces($logs[1], substr $half, 0, 5);
$primary->safe_psql('postgres', $load);
# the other gets the rows of a load that is not committed
my $session = new_session($primary);

append_records($logs[0], 5000);
$session->value("BEGIN; $load");
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
$primary->wait_for_catchup($standbys{same}, 'replay');
kill_server($primary);
$primary->{_pid} = undef;
eval { $session->quit };
write_pieces($logs[1], substr $half, 5);
$standbys{same}->promote;
is($standbys{same}->safe_psql('postgres', $load), 5001, 'the same files: what was not committed, and half a record');
$logs[2] = rotate($logs[1], 'dated');
append_records($_, 400) foreach @logs;
$standbys{same}->safe_psql('postgres', $load);
check_target($standbys{same}, 'loaded', last_numbers(), 'the same files');
is($standbys{same}->safe_psql('postgres', $load), 0, 'the same files: no more');
$standbys{same}->stop;

# copies in the place of the files, with their times, but other inodes
system('cp', '-pR', $logs, "$directory/copies") == 0 or die;
unlink glob "$logs/*";
system("cp -p $directory/copies/* $logs") == 0 or die;
$standbys{copies}->start;
$standbys{copies}->promote;
$standbys{copies}->safe_psql('postgres', $load);
check_target($standbys{copies}, 'loaded', last_numbers(), 'copies');
open_log($logs[2]);
append_records($logs[2], 100);
push @logs, rotate($logs[2], 'renamed');
append_records($logs[3], 100);
$standbys{copies}->safe_psql('postgres', $load);
check_target($standbys{copies}, 'loaded', last_numbers(), 'copies that were written');
is($standbys{copies}->safe_psql('postgres', $load), 0, 'copies: no more');
$standbys{copies}->stop;
done_testing();
