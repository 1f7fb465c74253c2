/*
 * connection.c
 *		The connection to csv_gpu_service.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "client/channel.h"
#include "client/connection.h"
#include "client/worker.h"
#include "compat.h"
#include "table/interrupts.h"
#include "table/messages.h"
#include "table/release.h"

/* the longest wait for a start; the pause between looks */
#define CSV_START_MILLISECONDS	10000
#define CSV_LOOK_MILLISECONDS	5

/*
 * The program answers at once.  If it does not answer, or cannot be started, it is
 * stuck, or not fully installed.  Then the session does without it for some time.
 */
#define CSV_ANSWER_MILLISECONDS	5000
#define CSV_WITHOUT_MILLISECONDS	60000

/* a lock, a socket, a socket pair for a scan, and two event sets to wait for them */
#define CSV_FILES_NEEDED	6

/* NULL: there is no connection */
static CsvChannel *service = NULL;
static uint64 number = 0;		/* of the last connection */
static bool is_asking = false;	/* an answer has yet to come */
static bool has_cuda = false;	/* the program was built with CUDA */
static bool is_outdated = false;	/* the program is newer than this session */
static bool is_other_build = false; /* the program that last answered */
static TimestampTz without_since = 0;	/* the program; 0: not */

static void
disconnect(void)
{
	if (service != NULL)
		csv_channel_free(service);
	service = NULL;
	is_asking = false;
}

/* run without the program for some time; raises a WARNING, once per session */
static void
do_without(const char *what, const char *hint)
{
	static bool warned = false;

	without_since = GetCurrentTimestamp();
	if (!warned)
		csv_warn((errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				  errmsg("%s", what),
				  errhint("%s", hint)));
	warned = true;
}

static void
do_without_other_build(const char *hint)
{
	do_without("csv_gpu_service is of another build than this session's library",
			   hint);
}

uint64
csv_service_connection(void)
{
	return service != NULL ? number : 0;
}

bool
csv_service_has_cuda(void)
{
	return service != NULL && has_cuda;
}

bool
csv_service_ask(const void *message, size_t nbytes, const CsvDescriptors *with,
				CsvMessage *answer, CsvDescriptors *came)
{
	CsvDescriptors none;
	uint32		kind = *(const uint32 *) message;

	if (service == NULL)
		return false;
	if (came == NULL)
		came = &none;
	is_asking = true;
	if (!csv_channel_send(service, message, nbytes, with) ||
		csv_channel_receive(service, answer, sizeof(*answer), came,
							CSV_ANSWER_MILLISECONDS) == 0)
	{
		bool		is_late = errno == ETIMEDOUT;

		disconnect();
		if (is_late)
			do_without("csv_gpu_service does not answer",
					   "Queries do without it for a minute.");
		return false;
	}
	is_asking = false;
	if (came == &none)
		csv_wire_close(came);
	if (answer->kind == kind)
		return true;
	csv_wire_close(came);
	disconnect();
	return false;
}

void
csv_service_tell(const void *message, size_t nbytes)
{
	if (service != NULL &&
		(is_asking || !csv_channel_tell(service, message, nbytes)))
		disconnect();
}

/* ---- connecting ---- */

bool
csv_service_has_descriptors(void)
{
	int			files[CSV_FILES_NEEDED];
	int			n = 0;
	bool		good;

	while (n < CSV_FILES_NEEDED &&
		   (files[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		n++;
	good = n == CSV_FILES_NEEDED;
	while (n > 0)
		close(files[--n]);
	return good;
}

/*
 * Is the program of the same build?  A newer session asks an older program to end.  An
 * older session does without a newer program, as long as the session lasts.
 */
static bool
say_hello(void)
{
	CsvHelloMessage hello;
	CsvMessage	answer;
	uint32		retire = CSV_MESSAGE_RETIRE;

	memset(&hello, 0, sizeof(hello));
	hello.kind = CSV_MESSAGE_HELLO;
	hello.version = CSV_WIRE_VERSION;
	hello.build = csv_wire_build();
	hello.pid = MyProcPid;
	if (!csv_service_ask(&hello, sizeof(hello), NULL, &answer, NULL))
		return false;
	has_cuda = answer.hello.has_cuda != 0;
	is_other_build = answer.hello.version != hello.version ||
		answer.hello.build != hello.build;
	if (!is_other_build)
		return true;
	is_outdated = csv_library_is_replaced(false);
	if (!is_outdated)
		csv_service_tell(&retire, sizeof(retire));
	disconnect();
	if (is_outdated)
		do_without_other_build(csv_library_is_replaced(true) ?
							   "Start a new session." : "Restart the server.");
	return false;
}

static bool
try_to_connect(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	MemoryContext outer;
	int			fd;

	/* a socket without a worker belongs to a program that should have ended */
	if (!csv_worker_exists())
		return false;
	strlcpy(address.sun_path, CSV_SERVICE_SOCKET, sizeof(address.sun_path));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	if (connect(fd, (struct sockaddr *) &address, sizeof(address)) != 0 ||
		!csv_wire_is_own_user(fd))
	{
		close(fd);
		return false;
	}
	outer = MemoryContextSwitchTo(TopMemoryContext);
	service = csv_channel_create(fd);
	MemoryContextSwitchTo(outer);
	number++;
	return say_hello();
}

void
csv_service_pause(long milliseconds, uint32 wait_event)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 milliseconds, wait_event);
	ResetLatch(MyLatch);
	csv_check_interrupts();
}

/*
 * With the right to have a worker started: have it started, unless there is one.  Does
 * without the program if that fails.
 */
static void
start_worker(BackgroundWorkerHandle **handle)
{
	if (*handle != NULL)
	{
		pid_t		pid;
		BgwHandleStatus status = GetBackgroundWorkerPid(*handle, &pid);

		if (status != BGWH_STOPPED && status != BGWH_POSTMASTER_DIED)
			return;
		if (is_other_build)
			do_without_other_build("Install all files of csv_gpu_fdw from one build.");
		else
			do_without("could not start csv_gpu_service: it has ended",
					   "The server's log says why.");
		return;
	}
	if (csv_worker_exists())
		return;
	is_other_build = false;
	*handle = csv_worker_start();
	if (*handle == NULL)
		do_without("could not start csv_gpu_service: there is no place for its background worker",
				   "You may need to increase max_worker_processes.");
}

/*
 * Wait for a program that is ending or starting.  This session or another has it
 * started.
 */
static bool
start_and_connect(void)
{
	TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
												  CSV_START_MILLISECONDS);
	static uint32 wait_event = 0;
	BackgroundWorkerHandle *handle = NULL;
	volatile bool started = false;
	volatile int right = -1;

	PG_TRY();
	{
		while (!(started = try_to_connect()) && !is_outdated && without_since == 0)
		{
			bool		is_late = GetCurrentTimestamp() >= end;

			if (right >= 0 && is_late)
				do_without("could not start csv_gpu_service: it does not answer",
						   "The server's log may say why.");
			if (is_late)
				break;
			if (right >= 0)
				start_worker(&handle);
			else if ((right = csv_worker_may_start()) >= 0)
				continue;
			if (without_since == 0)
				csv_service_pause(CSV_LOOK_MILLISECONDS,
								  csv_wait_event(&wait_event, "CsvGpuServiceStart"));
		}
	}
	PG_FINALLY();
	{
		if (right >= 0)
			close(right);
	}
	PG_END_TRY();
	return started;
}

static bool
does_without(void)
{
	if (without_since != 0 &&
		TimestampDifferenceExceeds(without_since, GetCurrentTimestamp(),
								   CSV_WITHOUT_MILLISECONDS))
		without_since = 0;
	return without_since != 0;
}

bool
csv_service_connect(bool start)
{
	/* the program may have ended, or an ERROR may have left an answer unread */
	if (service != NULL && !is_asking && csv_channel_is_quiet(service))
		return true;
	disconnect();
	if (is_outdated || does_without() || !csv_service_has_descriptors())
		return false;
	return try_to_connect() ||
		(start && without_since == 0 && IsUnderPostmaster &&
		 start_and_connect());
}
