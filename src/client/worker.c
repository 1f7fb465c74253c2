/*
 * worker.c
 *		Starts csv_gpu_service, and watches it.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "postmaster/postmaster.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/wait_event.h"

#include "client/worker.h"
#include "compat.h"
#include "settings.h"
#include "wire/message.h"

#define CSV_SERVICE_PROGRAM	"csv_gpu_service"

/* when memory is short, the program is killed first: nothing is lost with it */
#define CSV_OOM_SCORE		"1000"

/* connections that are not accepted yet */
#define CSV_BACKLOG			1024

extern PGDLLEXPORT void csv_gpu_service_main(Datum arg);

/* ---- for sessions ---- */

/* bytes of the file that are locked */
#define CSV_LOCK_SERVICE	0	/* by the program, with the worker */
#define CSV_LOCK_START		1	/* by the process that has a worker started */
#define CSV_LOCK_WORKER		2

/* a program that should end has this long, and is then killed */
#define CSV_END_MILLISECONDS	2000
#define CSV_END_LOOK_MILLISECONDS	10

static struct flock
byte_lock(off_t byte)
{
	struct flock lock;

	memset(&lock, 0, sizeof(lock));
	lock.l_type = F_WRLCK;
	lock.l_whence = SEEK_SET;
	lock.l_start = byte;
	lock.l_len = 1;
	return lock;
}

static int
open_lock(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static bool
take_byte(int file, off_t byte)
{
	struct flock lock = byte_lock(byte);

	return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

bool
csv_worker_exists(void)
{
	struct flock lock = byte_lock(CSV_LOCK_WORKER);
	int			file = open_lock(CSV_SERVICE_LOCKED);
	bool		taken;

	if (file < 0)
		return false;
	taken = fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	close(file);
	return taken;
}

int
csv_worker_may_start(void)
{
	int			file = open_lock(CSV_SERVICE_LOCKED);

	if (file >= 0 && take_byte(file, CSV_LOCK_START))
		return file;
	if (file >= 0)
		close(file);
	return -1;
}

BackgroundWorkerHandle *
csv_worker_start(void)
{
	BackgroundWorker worker;
	BackgroundWorkerHandle *handle;

	memset(&worker, 0, sizeof(worker));
	strlcpy(worker.bgw_name, "csv_gpu_fdw service", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "csv_gpu_fdw service", BGW_MAXLEN);
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS;
	worker.bgw_start_time = BgWorkerStart_ConsistentState;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, "csv_gpu_fdw",
			sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "csv_gpu_service_main", BGW_MAXLEN);
	worker.bgw_notify_pid = MyProcPid;
	return RegisterDynamicBackgroundWorker(&worker, &handle) ? handle : NULL;
}

/* ---- the worker ---- */

/* for the program */
typedef struct Given
{
	int			listen;
	int			control;		/* the program's end */
	int			lock;
	char		path[MAXPGPATH];	/* of the program */
} Given;

static pid_t program_pid = 0;

static void
handle_child(SIGNAL_ARGS)
{
	int			save_errno = errno;

	SetLatch(MyLatch);
	errno = save_errno;
}

/* has the program ended within this time? */
static bool
await_end(int milliseconds)
{
	for (int waited = 0; waited < milliseconds;
		 waited += CSV_END_LOOK_MILLISECONDS)
	{
		if (waitpid(program_pid, NULL, WNOHANG) == program_pid)
			return true;
		pg_usleep(CSV_END_LOOK_MILLISECONDS * 1000);
	}
	return false;
}

/* for on_proc_exit(): end the program, if it runs, and remove the socket */
static void
end_program(int code, Datum arg)
{
	unlink(CSV_SERVICE_SOCKET);
	if (program_pid <= 0 || kill(program_pid, SIGTERM) != 0 ||
		await_end(CSV_END_MILLISECONDS))
		return;

	/* even this does not end a program that is stuck in the kernel: do not wait */
	kill(program_pid, SIGKILL);
	(void) await_end(CSV_END_MILLISECONDS);
}

static int
open_lock_or_fail(const char *path)
{
	int			file = open_lock(path);

	if (file < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\": %m", path)));
	return file;
}

/*
 * The lock lasts as long as the descriptors are open.  False: the server has another
 * worker.  After a worker was killed, its program may be about to end; if it does not
 * end, its lock is replaced.
 */
static bool
take_lock(Given *given)
{
	int			worker = open_lock_or_fail(CSV_SERVICE_LOCKED);

	given->lock = open_lock_or_fail(CSV_SERVICE_LOCKED);
	if (!take_byte(worker, CSV_LOCK_WORKER))
		return false;
	for (int waited = 0; waited < CSV_END_MILLISECONDS;
		 waited += CSV_END_LOOK_MILLISECONDS)
	{
		if (take_byte(given->lock, CSV_LOCK_SERVICE))
			return true;
		pg_usleep(CSV_END_LOOK_MILLISECONDS * 1000);
	}
	ereport(LOG,
			(errmsg("an earlier csv_gpu_service does not end: starting a new one")));
	close(given->lock);
	unlink(CSV_SERVICE_LOCKED_NEW);
	given->lock = open_lock_or_fail(CSV_SERVICE_LOCKED_NEW);
	if (!take_byte(given->lock, CSV_LOCK_SERVICE) ||
		!take_byte(open_lock_or_fail(CSV_SERVICE_LOCKED_NEW), CSV_LOCK_WORKER) ||
		rename(CSV_SERVICE_LOCKED_NEW, CSV_SERVICE_LOCKED) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not lock file \"%s\": %m",
						CSV_SERVICE_LOCKED_NEW)));
	return true;
}

static void
open_socket(Given *given)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t		mask = umask(0177);
	bool		good;

	strlcpy(address.sun_path, CSV_SERVICE_SOCKET, sizeof(address.sun_path));
	unlink(CSV_SERVICE_SOCKET); /* of a worker that was killed */
	given->listen = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC |
						   SOCK_NONBLOCK, 0);
	good = given->listen >= 0 &&
		bind(given->listen, (struct sockaddr *) &address,
			 sizeof(address)) == 0 &&
		listen(given->listen, CSV_BACKLOG) == 0;
	umask(mask);
	if (!good)
		ereport(ERROR,
				(errcode_for_socket_access(),
				 errmsg("could not create socket \"%s\": %m",
						CSV_SERVICE_SOCKET)));
}

/* the program is in the directory of this library */
static void
find_program(Given *given)
{
	Dl_info		library;
	char		directory[MAXPGPATH];

	if (dladdr((const void *) csv_gpu_service_main, &library) == 0)
		elog(ERROR, "could not find this library's file");
	strlcpy(directory, library.dli_fname, sizeof(directory));
	get_parent_directory(directory);
	join_path_components(given->path, directory, CSV_SERVICE_PROGRAM);
}

/* ---- between fork and exec: only calls that are safe there ---- */

static void
raise_oom_score(void)
{
	int			file = open("/proc/self/oom_score_adj", O_WRONLY);
	ssize_t		n;

	if (file < 0)
		return;
	n = write(file, CSV_OOM_SCORE, strlen(CSV_OOM_SCORE));
	(void) n;
	close(file);
}

/* close all descriptors from this number on */
static void
close_from(int first)
{
	struct rlimit files;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0U, 0) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return;
	for (int file = first; file < (int) files.rlim_cur; file++)
		close(file);
}

/* become the program; does not return */
static void
become_program(Given *given, pid_t parent, int failed)
{
	const int	wanted[] = {
		[0] = given->listen,
		[1] = postmaster_alive_fds[POSTMASTER_FD_WATCH],
		[2] = given->control,
		[3] = given->lock,
		[4] = failed
	};
	int			high[lengthof(wanted)];
	char	   *argv[] = {given->path, NULL};
	int			error;
	ssize_t		n;

	/* the program sets its own handlers, and then unblocks signals */
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(0);
	raise_oom_score();

	/* first to numbers that are not in the way */
	for (size_t i = 0; i < lengthof(wanted); i++)
		if ((high[i] = fcntl(wanted[i], F_DUPFD, 16)) < 0)
			_exit(0);
	for (size_t i = 0; i < lengthof(wanted); i++)
		if (dup2(high[i], CSV_SERVICE_LISTEN + (int) i) < 0)
			_exit(0);
	failed = CSV_SERVICE_LISTEN + (int) lengthof(wanted) - 1;
	close_from(failed + 1);
	fcntl(failed, F_SETFD, FD_CLOEXEC);
	execv(given->path, argv);
	error = errno;
	n = write(failed, &error, sizeof(error));
	(void) n;
	_exit(0);
}

/* ERROR if it fails */
static void
start_program(Given *given)
{
	sigset_t	all;
	sigset_t	before;
	pid_t		parent = getpid();
	int			failed[2];
	int			error = 0;
	ssize_t		n;

	if (pipe2(failed, O_CLOEXEC) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create pipe: %m")));
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	program_pid = fork();
	if (program_pid == 0)
		become_program(given, parent, failed[1]);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (program_pid < 0)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("could not fork: %m")));
	close(failed[1]);
	while ((n = read(failed[0], &error, sizeof(error))) < 0 && errno == EINTR)
		;
	close(failed[0]);
	if (n != sizeof(error))
		return;
	errno = error;
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not start program \"%s\": %m", given->path)));
}

/* ---- while the program runs ---- */

static void
tell_limits(int control)
{
	CsvLimitsMessage limits;

	memset(&limits, 0, sizeof(limits));
	limits.kind = CSV_MESSAGE_LIMITS;
	limits.device = csv_settings.device;
	limits.resident_bytes = (uint64) csv_settings.resident_memory;
	limits.gpu_bytes = (uint64) csv_settings.gpu_memory_limit * 1024 * 1024;
	if (!csv_wire_send(control, &limits, sizeof(limits), NULL))
		ereport(LOG,
				(errcode_for_socket_access(),
				 errmsg("could not send limits to csv_gpu_service: %m")));
}

/* has the program ended?  Its status should be 0 */
static bool
has_ended(void)
{
	int			status;

	if (waitpid(program_pid, &status, WNOHANG) != program_pid)
		return false;
	program_pid = 0;
	if (WIFSIGNALED(status))
		ereport(LOG,
				(errmsg("csv_gpu_service was terminated by signal %d: %s",
						WTERMSIG(status), pg_strsignal(WTERMSIG(status)))));
	else if (WEXITSTATUS(status) != 0)
		ereport(LOG,
				(errmsg("csv_gpu_service exited with exit code %d",
						WEXITSTATUS(status))));
	return true;
}

void
csv_gpu_service_main(Datum arg)
{
	Given		given;
	static uint32 wait_event = 0;
	int			control[2];

	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGCHLD, handle_child);
	BackgroundWorkerUnblockSignals();

	memset(&given, 0, sizeof(given));
	if (!take_lock(&given))
		proc_exit(0);
	on_proc_exit(end_program, (Datum) 0);
	find_program(&given);
	open_socket(&given);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
				   control) != 0)
		ereport(ERROR,
				(errcode_for_socket_access(),
				 errmsg("could not create sockets: %m")));
	given.control = control[1];
	tell_limits(control[0]);
	start_program(&given);
	close(given.listen);
	close(given.control);

	while (!ShutdownRequestPending && !has_ended())
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, -1,
						 csv_wait_event(&wait_event, "CsvGpuWorkerMain"));
		ResetLatch(MyLatch);
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
			tell_limits(control[0]);
		}
	}
	proc_exit(0);
}
