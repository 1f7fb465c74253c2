# The program that serves all sessions (csv_gpu_service): there is one for each
# server, whoever has it started, it goes with the server, and whatever is killed,
# answers are right and nothing is left.
use lib 'test/t';
use CsvServer;
use IO::Socket::UNIX;
use Socket qw(SOCK_SEQPACKET);
use Time::HiRes qw(sleep time);

random_seed();
my $seconds = amount(4);
my $directory = PostgreSQL::Test::Utils::tempdir;
my $nrows = 20000;
my $sum = $nrows * ($nrows + 1) / 2;
my $query = 'SELECT sum(a) FROM t';
my $node = csv_server(
	'service', QUICK_FILES,
	'csv_gpu_fdw.engine' => 'cpu',	# what is kept needs no GPU; 026_scans has those
	'csv_gpu_fdw.resident_memory' => '64MB',
	restart_after_crash => 'on',
	max_connections => 60,
	max_worker_processes => 4);
my $socket = $node->data_dir . '/pg_stat_tmp/csv_gpu_fdw.socket';

write_file("$directory/t.csv", map { "$_,text of $_\n" } 1 .. $nrows);
settle();

my $table = "CREATE FOREIGN TABLE t (a int, b text) SERVER csv OPTIONS (filename '$directory/t.csv')";

$node->safe_psql('postgres', $table);

# ---- processes ----

sub wait_until
{
	my ($what, $condition) = @_;
	my $end = time() + 60;

	while (time() < $end)
	{
		return ok(1, $what) if $condition->();
		sleep(0.02);
	}
	return ok(0, $what);
}

sub is_gone
{
	my ($pid) = @_;

	return proc($pid, 'stat') =~ /^$|^\d+ \(.*\) Z/;
}

sub stat_of
{
	my ($server, $columns) = @_;

	return $server->safe_psql('postgres', "SELECT $columns FROM csv_gpu_stat WHERE device IS NULL");
}

# ---- one program, started when it is needed ----

$node->safe_psql('postgres', "SELECT count(*) FROM csv_gpu_resident(); EXPLAIN $query; SELECT csv_gpu_forget()");
is(stat_of($node, 'pid, since, scans_done, resident_hits, memory_held, memory_limit, fallbacks'),
	'||0|0|0|' . 64 * 1024 * 1024 . '|{}', 'nobody has needed it');
is((service($node))[0], undef, 'so there is none');

my @sessions = map { new_session($node) } 1 .. 20;

$_->send($query) for @sessions;
for my $session (@sessions)
{
	my ($out, $err) = $session->await;

	is("$out$err", $sum, 'sessions that all need it at once');
}
is(scalar(() = processes('csv_gpu_fdw service', postmaster($node))), 1, 'there is one worker');

my ($worker, $program) = service($node);

is(stat_of($node, 'pid'), $program, 'and one program, which says who it is');
is($_->value($query), $sum, 'from what is kept') for @sessions;
is($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) $query") =~ /Resident Columns: (.*)/ ? $1 : '', '1 of 1', 'in a new session, too');
cmp_ok(stat_of($node, 'resident_hits'), '>=', 20, 'hits are counted');
cmp_ok(stat_of($node, 'memory_held'), '>=', 4 * $nrows, 'and memory');
is((stat $socket)[2] & 07777, 0600, 'nobody else may connect');
like(slurp_file("/proc/$program/oom_score_adj"), qr/^1000$/, 'it goes first where memory is short');
is(readlink("/proc/$program/cwd"), $node->data_dir, 'it is where the server is');
is(join(' ', grep { m{^/} && !m{^/(?:dev/|memfd:)|\.log$} } map { readlink($_) // '' } glob("/proc/$program/fd/*")),
	$node->data_dir . '/pg_stat_tmp/csv_gpu_fdw.lock', 'it has no file open but the lock, and the log');

# tables that declare the same share, as far as each may see
$node->safe_psql('postgres', "CREATE ROLE reader; CREATE FOREIGN TABLE same (a int, b text) SERVER csv OPTIONS (filename '$directory/../" .
	  ($directory =~ s{.*/}{}r) . "/t.csv'); CREATE FOREIGN TABLE other (a bigint, b text) SERVER csv OPTIONS (filename '$directory/t.csv');
	CREATE DATABASE another; GRANT SELECT ON same TO reader");
is($node->safe_psql('postgres', 'EXPLAIN (COSTS OFF) SELECT sum(a) FROM same') =~ /Resident Columns: (.*)/ ? $1 : '', '1 of 1', 'another table of the same file');
is($node->safe_psql('postgres', 'EXPLAIN (COSTS OFF) SELECT sum(a) FROM other') =~ /Resident Columns: (.*)/ ? $1 : '', '0 of 1', 'other columns are not those');
is($node->safe_psql('postgres', 'SELECT sum(a) FROM same; SELECT string_agg(source::text, \' \' ORDER BY source::text) FROM csv_gpu_resident()'), "$sum\nsame t", 'both use them');
is($node->safe_psql('postgres', 'SET ROLE reader; SELECT string_agg(source::text, \' \') FROM csv_gpu_resident(); SELECT csv_gpu_forget()'), "same\n0", 'who may read one of them sees that, and drops nothing');
$node->safe_psql('another', "CREATE EXTENSION csv_gpu_fdw; CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw; $table");
is($node->safe_psql('another', "EXPLAIN (COSTS OFF) $query") =~ /Resident Columns: (.*)/ ? $1 : '', '1 of 1', 'so does one of another database');
is($node->safe_psql('another', "SELECT count(*) FROM csv_gpu_resident(); $query; SELECT count(*) FROM csv_gpu_resident()"), "0\n$sum\n1", 'where it is listed once it has used them');
$node->safe_psql('postgres', "ALTER FOREIGN TABLE same OWNER TO reader; GRANT USAGE ON FOREIGN SERVER csv TO reader");
is($node->safe_psql('postgres', "SET ROLE reader; SELECT csv_gpu_forget(); SELECT count(*) FROM csv_gpu_resident()"), "0\n0", 'its owner lets go of it: others use the columns');
is($node->safe_psql('postgres', "SELECT csv_gpu_forget(); SELECT memory_held FROM csv_gpu_stat WHERE device IS NULL"), "1\n0", 'a superuser of all');

# ---- limits, and who holds what ----

my ($session, $second) = @sessions;

my $misses = stat_of($node, 'resident_misses');

$session->value($query);
is(stat_of($node, 'resident_misses'), $misses + 1, 'a miss is counted');
$session->value("BEGIN; DECLARE c CURSOR FOR SELECT a FROM t; FETCH 1 FROM c");
is($second->value('SELECT csv_gpu_forget()'), '1', 'columns that somebody is at work on');
cmp_ok(stat_of($node, 'memory_held'), '>', 0, 'are there until then');
is($session->value("MOVE 18998 IN c; FETCH 1 FROM c"), 19000, 'for him');
$session->value('COMMIT');
is(stat_of($node, 'memory_held'), 0, 'and go with that');
$session->value("$query; BEGIN; DECLARE c CURSOR FOR SELECT a FROM t; FETCH 1 FROM c");
kill 'TERM', $session->pid;
wait_until('a session that is terminated', sub { is_gone($session->pid) });
is($second->value('SELECT csv_gpu_forget()'), '1', 'one that is gone');
wait_until('holds nothing', sub { stat_of($node, 'memory_held') eq '0' });
resident_memory($node, 'off');
is($second->value("$query; SELECT count(*) FROM csv_gpu_resident()"), "$sum\n0", 'nothing is kept without memory');
resident_memory($node, '64MB');

# ---- messages of any content ----

my ($nsent, $nclosed) = (0, 0);

while ($nsent < 3000)
{
	my $client = IO::Socket::UNIX->new(Type => SOCK_SEQPACKET, Peer => $socket) or last;
	my $kind = pick(0, 2 .. 14);	# not 1, which asks it to end

	for (1 .. 3)
	{
		my $message = pack('L', $kind) . join('', map { chr rand 256 } 1 .. pick(0, 4, 12, 28, 60, rand 2000, rand 9000));

		$nsent++;
		last if !defined send($client, $message, 0x4000);
	}
	$nclosed++;
}
cmp_ok($nsent, '>=', 3000, 'messages that mean nothing');
is(join(' ', service($node)), "$worker $program", 'do it no harm');
is($second->value("$query; $query"), "$sum\n$sum", 'nor others');

# ---- what is killed ----

my $start = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');

sub kill_and_ask
{
	my ($signal) = @_;
	my (undef, $victim) = service($node);
	my ($out, $err);

	kill $signal, $victim if defined $victim;
	($out, $err) = $second->query("$query; $query");
	return "$out$err";
}

my ($nkills, @wrong) = (0);
my $end = time() + $seconds;

while (time() < $end || $nkills < 10)
{
	my $signal = pick('KILL', 'KILL', 'TERM', 'ABRT', 'SEGV');
	my $pause = rand 0.01;
	my $answer;

	# while one session reads, another one is asked
	$sessions[2]->send("$query; $query; SELECT b, count(*) FROM t WHERE a < 5 GROUP BY b");
	sleep($pause);
	$answer = kill_and_ask($signal);
	push @wrong, "$signal: $answer" if $answer ne "$sum\n$sum";
	$answer = join '', $sessions[2]->await;
	push @wrong, "$signal: $answer" if $answer !~ /^$sum\n$sum\ntext of/;
	$nkills++;
}
is(join("\n", @wrong), '', "killed $nkills times, with sessions at work");
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $start, 'the server has not noticed');
wait_until('no more than one is left', sub { scalar(() = processes('csv_gpu_fdw service', postmaster($node))) <= 1 });

$second->value($query);
($worker, $program) = service($node);
kill 'TERM', $worker;
wait_until('the worker is terminated', sub { is_gone($worker) });
wait_until('the program goes with it', sub { is_gone($program) });
ok(!-e $socket, 'and its socket');
is($second->value("$query; $query"), "$sum\n$sum", 'the next query has another one');

$_->quit for @sessions[ 1 .. $#sessions ];
for my $victim ('worker', 'session')
{
	my $session = new_session($node);

	$session->value($query);
	($worker, $program) = service($node);
	kill 'KILL', $victim eq 'worker' ? $worker : $session->pid;
	wait_until("the $victim is killed: the server starts anew", sub { is_gone($worker) });
	wait_until('the program has ended', sub { is_gone($program) });
	await_server($node);
	is($node->safe_psql('postgres', "$query; $query"), "$sum\n$sum", 'and all is as before');
}
for my $mode ('immediate', 'fast', 'killed')
{
	$node->safe_psql('postgres', $query);
	($worker, $program) = service($node);
	my $postmaster = postmaster($node);

	if ($mode eq 'killed')
	{
		$node->kill9;
		# where nobody waits for it, its number stays in use
		wait_until('the postmaster is killed', sub { is_gone($postmaster) });
		unlink $node->data_dir . '/postmaster.pid', $node->host . '/.s.PGSQL.' . $node->port . '.lock';
	}
	else
	{
		$node->stop($mode);
	}
	wait_until("stopped ($mode): the program has ended", sub { is_gone($program) });
	wait_until('and the worker', sub { is_gone($worker) });
	$node->start;
	is($node->safe_psql('postgres', "$query; $query"), "$sum\n$sum", 'the next server has its own');
}

# ---- a program that is stuck ----

# one that does not answer: a session does without, and is told so once
my $stuck = new_session($node);
my $late = "WARNING:  csv_gpu_service does not answer\nHINT:  Queries do without it for a minute.\n";

$stuck->value($query);
($worker, $program) = service($node);
kill 'STOP', $program;
my $began = time();
my ($answer, $warning) = $stuck->query("$query; $query");

is($answer, "$sum\n$sum", 'a program that is stuck holds up nobody');
is($warning, $late, 'with one WARNING');
$began = time();
($answer, $warning) = $stuck->query("$query; EXPLAIN (COSTS OFF) $query; SELECT count(*) FROM csv_gpu_stat");
unlike($warning, qr/WARNING/, 'no further one');
# the program has five seconds to answer
cmp_ok(time() - $began, '<', 5, 'nor is it asked again at once');
$stuck->quit;

# nor the server's end, or the next server
$node->stop('fast');
ok(is_gone($program), 'stopped: it is killed');
$node->start;
is($node->safe_psql('postgres', "$query; $query"), "$sum\n$sum", 'the next server has its own');
($worker, $program) = service($node);
kill 'STOP', $program;
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', "$query; $query"), "$sum\n$sum", 'one that is left behind is of no account');
($worker, my $other) = service($node);
isnt($other, undef, 'there is another one');
isnt($other, $program, 'which is not the one before');
ok(!is_gone($program), 'that is stuck still');
kill 'KILL', $program;
is(stat_of($node, 'pid'), $other, 'and whose end is no matter');

# no descriptors are left: who connects is not to wait
run_log([ 'prlimit', "--pid=$other", '--nofile=' . scalar(() = glob("/proc/$other/fd/*")) . ':4096' ]) or die;
($answer, $warning) = new_session($node)->query($query);
is($answer, $sum, 'no descriptors left: who connects does without');

# ---- another server of the same user, whose data directory has a long path ----

my $another = csv_server('far_' . 'a' x 200, QUICK_FILES, 'csv_gpu_fdw.resident_memory' => '64MB');

cmp_ok(length($another->data_dir), '>', 200, 'a long path');
$another->safe_psql('postgres', $table);
is($another->safe_psql('postgres', "$query; $query"), "$sum\n$sum", 'is no matter');
is($node->safe_psql('postgres', "$query; $query"), "$sum\n$sum", 'each server');
isnt(stat_of($another, 'pid'), stat_of($node, 'pid'), 'has a program of its own');
is(stat_of($another, 'pid'), (service($another))[1], 'which is its own');
$another->stop;

# ---- where it cannot be started ----

$node->append_conf('postgresql.conf', 'max_worker_processes = 0');
$node->restart;

my ($out, $err);

$session = new_session($node);
($out, $err) = $session->query("$query; $query");
is($out, "$sum\n$sum", 'no place for a worker: queries are answered');
like($err, qr/^WARNING:  could not start csv_gpu_service: there is no place for its background worker\nHINT:  You may need to increase max_worker_processes\.\n$/, 'with one WARNING');
is(stat_of($node, 'pid'), '', 'there is no program');
$session->quit;
$node->stop;

# without a server around it
my $single = '';

run_log([ 'postgres', '--single', '-D', $node->data_dir, 'postgres' ], '<', \"$query\n", '>', \$single, '2>&1');
like($single, qr/ = "$sum"/, 'in single-user mode');
unlike($single, qr/WARNING/, 'where nobody expects it');

done_testing();
