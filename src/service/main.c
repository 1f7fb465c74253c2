/*
 * main.c
 *		csv_gpu_service: the program that keeps what all sessions of a server share.
 *
 * A background worker of the server (client/worker.c) starts it, watches it, and
 * passes it all files as descriptors: the program opens no file by its path.  It
 * always ends with exit status 0: at a signal; when the server or the worker ends;
 * when a newer session asks for it; or when nothing is kept, and no client has sent a
 * message for some time.
 *
 *		csv_gpu_service [SECONDS]	that time; without it, CSV_IDLE_SECONDS
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* accept4 */
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gpus.h"
#include "reader/clock.h"
#include "serve.h"

#define CSV_IDLE_SECONDS	300
#define MOST_EVENTS			64

/* the program ends this long after a device has failed for good */
#define CSV_LOST_SECONDS	2

/* the pause after a client that could not be refused, as no descriptor was left */
#define CSV_REFUSE_MICROSECONDS	10000

typedef struct Connection
{
	int			socket;
	CsvClient  *client;
} Connection;

typedef struct Program
{
	int			poll;
	int			spare;			/* a descriptor; -1: none */
	double		last_asked;		/* csv_now_seconds() */
	double		idle_seconds;
	double		lost_since;		/* when a lost device was found; 0: none */
} Program;

/*
 * There is nothing to clean up, and nothing that hangs may delay the end.  An orphan
 * must not end by a signal, which could look to the server like a crash of its own.
 */
static void
end_at_once(int signal)
{
	(void) signal;
	_exit(0);
}

static void
set_signals(void)
{
	static const int ending[] = {SIGTERM, SIGINT, SIGQUIT};
	struct sigaction action;
	sigset_t	none;

	memset(&action, 0, sizeof(action));
	action.sa_handler = end_at_once;
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sigaction(ending[i], &action, NULL);
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* raise the limit of descriptors: each set of columns has one */
static void
raise_limits(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return;
	files.rlim_cur = files.rlim_max;
	(void) setrlimit(RLIMIT_NOFILE, &files);
}

/* ---- connections ---- */

static bool
watch(const Program *program, int descriptor, void *of)
{
	struct epoll_event event;

	memset(&event, 0, sizeof(event));
	event.events = EPOLLIN;
	event.data.ptr = of;
	return epoll_ctl(program->poll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

static void
drop_connection(Connection *connection)
{
	close(connection->socket);
	if (connection->client != NULL)
		csv_client_free(connection->client);
	free(connection);
}

/*
 * There are no descriptors left.  A client must not wait for one, so the spare
 * descriptor is used to accept and close its connection.  If even this fails, a pause
 * keeps the program from trying all the time.
 */
static void
refuse_client(Program *program)
{
	int			socket = -1;

	if (errno != EMFILE && errno != ENFILE)
		return;
	if (program->spare >= 0)
	{
		close(program->spare);
		socket = accept4(CSV_SERVICE_LISTEN, NULL, NULL,
						 SOCK_CLOEXEC | SOCK_NONBLOCK);
	}
	if (socket >= 0)
		close(socket);
	else
		usleep(CSV_REFUSE_MICROSECONDS);
	program->spare = fcntl(CSV_SERVICE_LISTEN, F_DUPFD_CLOEXEC, 0);
}

/* only processes of the same user may connect */
static void
accept_client(Program *program)
{
	int			socket = accept4(CSV_SERVICE_LISTEN, NULL, NULL,
								 SOCK_CLOEXEC | SOCK_NONBLOCK);
	Connection *connection;

	if (socket < 0)
	{
		refuse_client(program);
		return;
	}
	connection = calloc(1, sizeof(Connection));
	if (connection == NULL)
	{
		close(socket);
		return;
	}
	connection->socket = socket;
	connection->client = csv_client_create();
	if (connection->client == NULL || !csv_wire_is_own_user(socket) ||
		!watch(program, socket, connection))
		drop_connection(connection);
}

/* false: drop the client */
static bool
serve_client(Program *program, Connection *connection)
{
	CsvMessage	message;
	CsvDescriptors descriptors;
	CsvServiceReply reply;
	ssize_t		nbytes = csv_wire_receive(connection->socket, &message,
										  sizeof(message), &descriptors);
	bool		good;

	if (nbytes < 0 && errno == EAGAIN)
		return true;
	if (nbytes <= 0)
		return false;
	program->last_asked = csv_now_seconds();
	good = csv_client_handle(connection->client, &message, (size_t) nbytes,
							 &descriptors, &reply);
	csv_wire_close(&descriptors);

	/* the client waits for the answer, so the socket has room for it */
	if (good && reply.nbytes > 0)
		good = csv_wire_send(connection->socket, &reply.message, reply.nbytes,
							 &reply.descriptors);
	if (reply.close)
		csv_wire_close(&reply.descriptors);
	return good;
}

/* false: the worker is gone */
static bool
hear_worker(void)
{
	CsvMessage	message;
	CsvDescriptors descriptors;
	ssize_t		nbytes = csv_wire_receive(CSV_SERVICE_CONTROL, &message,
										  sizeof(message), &descriptors);

	if (nbytes < 0 && errno == EAGAIN)
		return true;
	csv_wire_close(&descriptors);
	if (nbytes != (ssize_t) sizeof(CsvLimitsMessage) ||
		message.kind != CSV_MESSAGE_LIMITS)
		return false;
	csv_service_set_limits(&message.limits);
	return true;
}

/* ---- the program ---- */

/* sources of events other than connections */
static char server_event;
static char listen_event;
static char worker_event;

static bool
is_over(Program *program)
{
	if (csv_service_is_retired())
		return true;

	/* a thread that uses the device ends the program (outlet.c); otherwise end here */
	if (program->lost_since == 0 && csv_gpus != NULL && csv_gpus->any_is_lost())
		program->lost_since = csv_now_seconds();
	if (program->lost_since != 0 &&
		csv_now_seconds() - program->lost_since >= CSV_LOST_SECONDS)
		return true;
	return csv_service_is_empty() &&
		csv_now_seconds() - program->last_asked >= program->idle_seconds;
}

/* false: end the program */
static bool
handle_event(Program *program, const struct epoll_event *event)
{
	void	   *of = event->data.ptr;

	if (of == &server_event)
		return false;
	if (of == &worker_event)
		return hear_worker();
	if (of == &listen_event)
		accept_client(program);
	else if (!serve_client(program, of))
		drop_connection(of);
	return true;
}

int
main(int argc, char **argv)
{
	Program		program;
	struct epoll_event events[MOST_EVENTS];

	set_signals();
	raise_limits();
	memset(&program, 0, sizeof(program));
	program.idle_seconds = argc > 1 ? atol(argv[1]) : CSV_IDLE_SECONDS;
	program.last_asked = csv_now_seconds();
	csv_service_begin();
	program.poll = epoll_create1(EPOLL_CLOEXEC);
	program.spare = fcntl(CSV_SERVICE_LISTEN, F_DUPFD_CLOEXEC, 0);
	if (program.poll < 0 ||
		!watch(&program, CSV_SERVICE_SERVER, &server_event) ||
		!watch(&program, CSV_SERVICE_CONTROL, &worker_event) ||
		!watch(&program, CSV_SERVICE_LISTEN, &listen_event))
	{
		fprintf(stderr, "csv_gpu_service is started by PostgreSQL: %s\n",
				strerror(errno));
		return 0;
	}
	while (!is_over(&program))
	{
		int			n = epoll_wait(program.poll, events, MOST_EVENTS, 1000);

		/* each connection has one event at most, so none is of a dropped connection */
		for (int i = 0; i < n; i++)
			if (!handle_event(&program, &events[i]))
				return 0;
	}
	return 0;
}
