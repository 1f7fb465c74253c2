# CsvServer.pm: what the tests in this directory share.
#
#	csv_server(NAME, setting => value ...)	a private server with the extension,
#					the foreign server "csv" and, for comparison, "file" of file_fdw;
#					"init" among the settings is for PostgreSQL::Test::Cluster's init()
#	CsvServer::Session				psql that stays connected, with standard
#					output and error apart
#	finish(SESSION ...)				at the end: they quit, and all servers stop
#	new_folder()					for files that the server's user, and others, may read
#
# The tests read with the engine of CSV_GPU_FDW_ENGINE, cpu unless it is set.
# EFFORT=N gives the random ones N times as much time or as many inputs, and SEED=N repeats
# a run.
package CsvServer;

use strict;
use warnings;

use base 'Exporter';
use File::Basename qw(dirname);
use File::Path qw(make_path);
use POSIX ();
use Test::More;
use Time::HiRes ();

# what PostgreSQL's own tests are told, of the server whose pg_config is in PATH
BEGIN
{
	my $tests = dirname(`pg_config --pgxs`) . '/../test';

	unshift @INC, "$tests/perl";
	$ENV{PG_REGRESS} //= "$tests/regress/pg_regress";
	# PostgreSQL 15 asks for the first of them, later ones for the other two
	$ENV{TESTDIR} //= '.';
	$ENV{TESTDATADIR} //= "$ENV{TESTDIR}/tmp_check";
	$ENV{TESTLOGDIR} //= "$ENV{TESTDATADIR}/log";
	$ENV{LC_ALL} = 'C';
	make_path($ENV{TESTDATADIR}, $ENV{TESTLOGDIR});
}

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(csv_server sql finish new_folder engine engines use_gpu has_stand_in new_session literal write_file resident_memory
  gpu_memory_limit has_program
  random_seed amount pick chance between rss_kb cpu_seconds descriptors settle start_again kill_server await_server
  proc processes postmaster service
  QUICK_FILES CHEAP_WORKERS);

my $file_age = 0;
my @servers;

# a test has strict, warnings and what PostgreSQL's and Perl's modules for tests export, too
sub import
{
	strict->import;
	warnings->import;
	$_->export_to_level(1) for qw(CsvServer Test::More);
	local $Exporter::ExportLevel = 1;
	PostgreSQL::Test::Utils->import;
	return;
}

sub engine
{
	return $ENV{CSV_GPU_FDW_ENGINE} || 'cpu';
}

# Have servers use a GPU; where the tests have none, a stand-in for it (test/inject).
sub use_gpu
{
	return if engine() eq 'cuda';
	$ENV{CSV_GPU_FDW_ENGINE} = 'cuda';
	$ENV{CSV_GPU_FDW_STAND_IN} = 1;
	return;
}

# Engines that sessions may choose from time to time, the GPU's or a stand-in's among
# them; servers have that of engine() first.
sub engines
{
	return 'cuda' if engine() eq 'cuda';
	$ENV{CSV_GPU_FDW_STAND_IN} = 1;
	return ('cpu', 'cuda');
}

sub has_stand_in
{
	return exists $ENV{CSV_GPU_FDW_STAND_IN};
}

# with settings; QUICK_FILES: files can be kept as soon as they are written;
# CHEAP_WORKERS: a plan has workers, however small the file is
use constant QUICK_FILES => ('csv_gpu_test.file_age' => 0.97);
use constant CHEAP_WORKERS => (
	min_parallel_table_scan_size => 0,
	parallel_setup_cost => 0,
	parallel_tuple_cost => 0);

sub csv_server
{
	my ($name, %settings) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	my %init = %{ delete $settings{init} // {} };

	%settings = (
		'csv_gpu_fdw.engine' => engine(),
		jit => 'off',
		log_statement => 'none',
		shared_buffers => '128MB',
		%settings);
	$file_age = $settings{'csv_gpu_test.file_age'} // 0;
	$node->init(%init, extra => [ '--encoding=UTF8', '--no-locale', @{ $init{extra} // [] } ]);
	$node->append_conf('postgresql.conf',
		join('', map { "$_ = '$settings{$_}'\n" } sort keys %settings));
	$node->start;
	push @servers, $node;
	$node->safe_psql(
		'postgres', q{
		CREATE EXTENSION csv_gpu_fdw;
		CREATE EXTENSION file_fdw;
		CREATE SERVER csv FOREIGN DATA WRAPPER csv_gpu_fdw;
		CREATE SERVER file FOREIGN DATA WRAPPER file_fdw;});
	return $node;
}

# a statement of the superuser, in the first of the servers
sub sql
{
	return $servers[0]->safe_psql('postgres', $_[0]);
}

sub finish
{
	$_->quit for @_;
	$_->stop for grep { $_->{_pid} } @servers;
	done_testing();
	return;
}

sub new_folder
{
	my $folder = PostgreSQL::Test::Utils::tempdir();

	chmod 0755, $folder;
	return $folder;
}

# a string as SQL has it
sub literal
{
	my ($string) = @_;

	$string =~ s/'/''/g;
	return $string =~ s/\\/\\\\/g ? "E'$string'" : "'$string'";
}

sub write_file
{
	my ($path, @bytes) = @_;

	open my $file, '>:raw', $path or die "$path: $!";
	print $file @bytes or die "$path: $!";
	close $file or die "$path: $!";
	return $path;
}

# memory for kept columns from now on, in the program that serves all sessions, too
sub resident_memory
{
	my ($node, $memory) = @_;
	my $bytes = $memory eq 'off' ? 0 : "pg_size_bytes('$memory')";

	# a session that has not loaded the library does not know the setting
	$node->safe_psql('postgres', "LOAD 'csv_gpu_fdw';\nALTER SYSTEM SET csv_gpu_fdw.resident_memory = '$memory'");
	$node->reload;
	$node->poll_query_until('postgres', "SELECT memory_limit = $bytes FROM csv_gpu_stat WHERE device IS NULL")
	  or die "memory for kept columns is not $memory";
	return;
}

# memory of the GPU from now on, in the program, too, where that uses one
sub gpu_memory_limit
{
	my ($node, $megabytes) = @_;

	$node->safe_psql('postgres', "LOAD 'csv_gpu_fdw';\nALTER SYSTEM SET csv_gpu_fdw.gpu_memory_limit = '${megabytes}MB'");
	$node->reload;
	$node->poll_query_until('postgres', "SELECT coalesce((SELECT $megabytes = 0 OR memory_limit = $megabytes * 1024 * 1024 FROM csv_gpu_stat WHERE device = 0), true)")
	  or die "memory of the GPU is not $megabytes MB";
	return;
}

sub has_program
{
	my ($name) = @_;

	return scalar grep { -x "$_/$name" } split /:/, $ENV{PATH};
}

# the seed of this run, said so that it can be repeated
sub random_seed
{
	my $seed = $ENV{SEED} || int(rand(2**31));

	note("SEED=$seed");
	srand($seed);
	return $seed;
}

# one of these
sub pick
{
	return $_[ rand @_ ];
}

# true with this probability
sub chance
{
	return rand() < $_[0];
}

# a number of [from, to]
sub between
{
	return $_[0] + int rand($_[1] - $_[0] + 1);
}

# so many random inputs, or seconds for them, by EFFORT
sub amount
{
	my ($usual) = @_;

	return int($usual * ($ENV{EFFORT} || 1) + 0.5);
}

# Files that were written so far may be kept now: a second after they were, less
# what the setting "csv_gpu_test.file_age" makes them older (test/inject).
sub settle
{
	my ($age) = @_;

	Time::HiRes::sleep(1.02 - ($age // $file_age));
	return;
}

# memory of a process that is not shared with others
sub rss_kb
{
	my ($pid) = @_;
	my $status = slurp_file("/proc/$pid/status");

	return $status =~ /^RssAnon:\s+(\d+)/m ? $1 : 0;
}

# What a process has worked, its threads included: unlike time that passes, it
# does not depend on what else the machine has to do.
sub cpu_seconds
{
	my ($pid) = @_;
	my ($user, $system) =
	  slurp_file("/proc/$pid/stat") =~ /.*\) \S(?: -?\d+){10} (\d+) (\d+)/;

	return ($user + $system) / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}

# what a process has open, less what comes and goes with the server's own work
sub descriptors
{
	my ($pid) = @_;

	return scalar grep { !m{/base/|/global/|/pg_wal/|/pg_xact/} }
	  map { readlink($_) // '' } glob("/proc/$pid/fd/*");
}

# start after a crash: those who were left alone may take a moment to go
sub start_again
{
	my ($node) = @_;

	for (1 .. 100)
	{
		$node->{_pid} = undef;
		return 1 if $node->start(fail_ok => 1);
		Time::HiRes::sleep(0.2);
	}
	die 'the server does not start';
}

# what the system says of a process; nothing, if it is gone
sub proc
{
	my ($pid, $what) = @_;

	open my $file, '<', "/proc/$pid/$what" or return '';
	return <$file> // '';
}

# those of a name that are children of another one
sub processes
{
	my ($name, $parent) = @_;
	my @found;

	for my $directory (glob '/proc/[0-9]*')
	{
		my ($pid) = $directory =~ /(\d+)$/;
		my ($state, $ppid) = proc($pid, 'stat') =~ /^\d+ \(.*\) (\S) (\d+)/ or next;

		next if $ppid != $parent || $state eq 'Z';
		push @found, $pid if proc($pid, 'cmdline') =~ /$name/;
	}
	return @found;
}

sub postmaster
{
	my ($server) = @_;
	my ($pid) = slurp_file($server->data_dir . '/postmaster.pid') =~ /^(\d+)/;

	return $pid;
}

# the worker, and the program
sub service
{
	my ($server) = @_;
	my ($worker) = processes('csv_gpu_fdw service', postmaster($server));
	my ($program) = defined $worker ? processes('csv_gpu_service', $worker) : ();

	return ($worker, $program);
}

# all of it at once: a checkpointer alone might wait for a backend that is gone
sub kill_server
{
	my ($node) = @_;
	my $postmaster = postmaster($node);

	kill 'KILL', $postmaster, processes('^', $postmaster);
	return;
}

# a server that recovers from a crash; psql that cannot connect would not read its input
sub await_server
{
	my ($node) = @_;

	for (1 .. 1800)
	{
		return if system('pg_isready', '-q', '-h', $node->host, '-p', $node->port) == 0;
		Time::HiRes::sleep(0.1);
	}
	die 'the server does not recover';
}

sub new_session
{
	return CsvServer::Session->new(@_);
}

package CsvServer::Session;

use strict;
use warnings;

use IPC::Run;
use Time::HiRes ();

# new_session(NODE, user => NAME)
sub new
{
	my ($class, $node, %options) = @_;
	my $self = bless { in => '', out => '', err => '', queries => 0 }, $class;
	my $connection = $node->connstr($options{database} // 'postgres');

	$connection .= " user=$options{user}" if $options{user};
	$self->{timer} = IPC::Run::timeout(600);
	$self->{run} = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $connection ],
		'<', \$self->{in}, '>', \$self->{out}, '2>', \$self->{err},
		$self->{timer});
	$self->{pid} = $self->value('SELECT pg_backend_pid()');
	return $self;
}

sub pid
{
	return $_[0]->{pid};
}

# send SQL and do not wait for its end; await() does
sub send
{
	my ($self, $sql) = @_;

	$self->{queries}++;
	$self->{mark} = "end-of-query-$self->{queries}";
	$self->{timer}->start;	# anew for each query
	$self->{in} .= "$sql\n;\n\\echo $self->{mark}\n\\warn $self->{mark}\n";
	$self->{run}->pump_nb;
	return;
}

# Have both outputs their mark?  It comes last; all of a long output would be looked through
# again and again.
sub is_marked
{
	my ($self) = @_;

	return !grep { substr($_, length($_) > 4096 ? -4096 : 0) !~ /^$self->{mark}\n/m } $self->{out}, $self->{err};
}

# has it ended?
sub ended
{
	my ($self) = @_;

	$self->{run}->pump_nb;
	return $self->is_marked;
}

# what it wrote: (standard output, standard error)
sub await
{
	my ($self) = @_;
	my $mark = $self->{mark};

	while (!$self->is_marked)
	{
		die "psql has ended: $self->{err}" if !$self->{run}->pumpable;
		$self->{run}->pump;
	}
	$self->{out} =~ s/^$mark\n//m;
	$self->{err} =~ s/^$mark\n//m;
	my ($out, $err) = ($self->{out}, $self->{err});
	($self->{out}, $self->{err}) = ('', '');
	chomp $out;
	return ($out, $err);
}

sub query
{
	my ($self, $sql) = @_;

	$self->send($sql);
	return $self->await;
}

# The same, and the most memory (RSS, kB) that the backend had meanwhile.
sub query_watched
{
	my ($self, $sql) = @_;
	my $most = 0;

	$self->send($sql);
	while (!$self->ended)
	{
		my $rss = CsvServer::rss_kb($self->{pid});

		$most = $rss if $rss > $most;
		Time::HiRes::sleep(0.01);
	}
	return ($self->await, $most);
}

# the output of SQL that must not fail
sub value
{
	my ($self, $sql) = @_;
	my ($out, $err) = $self->query($sql);

	if ($err =~ /^(ERROR|FATAL|PANIC)/m)
	{
		Test::More::diag($err, "in: $sql");
		die 'a query has failed';
	}
	return $out;
}

sub quit
{
	my ($self) = @_;

	$self->{in} .= "\\q\n";
	$self->{run}->finish;
	return;
}

1;
