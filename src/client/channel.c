/*
 * channel.c
 *		Sends and receives messages, and waits.
 */
#include "postgres.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "client/channel.h"
#include "compat.h"
#include "table/interrupts.h"

/* most answers come before a process could go to sleep and wake up */
#define CSV_POLL_MILLISECONDS	1

struct CsvChannel
{
	int			socket;
	WaitEventSet *events;		/* NULL: not made yet */
};

CsvChannel *
csv_channel_create(int socket)
{
	CsvChannel *channel = palloc_extended(sizeof(CsvChannel),
										  MCXT_ALLOC_ZERO | MCXT_ALLOC_NO_OOM);

	if (channel == NULL || !AcquireExternalFD())
	{
		close(socket);
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("no more sockets for csv_gpu_service")));
	}
	channel->socket = socket;
	return channel;
}

void
csv_channel_free(CsvChannel *channel)
{
	if (channel->events != NULL)
		FreeWaitEventSet(channel->events);
	close(channel->socket);
	ReleaseExternalFD();
	pfree(channel);
}

/* wait until the socket is ready, or the time is over; ERROR for an interrupt */
static void
wait_for(CsvChannel *channel, uint32 what, long milliseconds)
{
	static uint32 wait_event = 0;
	struct pollfd ready = {
		channel->socket, what == WL_SOCKET_READABLE ? POLLIN : POLLOUT, 0
	};
	WaitEvent	event;

	if (poll(&ready, 1, CSV_POLL_MILLISECONDS) > 0)
		return;
	if (channel->events == NULL)
	{
		channel->events = csv_wait_event_set(3);
		AddWaitEventToSet(channel->events, what, channel->socket, NULL, NULL);
		AddWaitEventToSet(channel->events, WL_LATCH_SET, PGINVALID_SOCKET,
						  MyLatch, NULL);
		AddWaitEventToSet(channel->events, WL_EXIT_ON_PM_DEATH,
						  PGINVALID_SOCKET, NULL, NULL);
	}
	ModifyWaitEvent(channel->events, 0, what, NULL);
	if (WaitEventSetWait(channel->events, milliseconds, &event, 1,
						 csv_wait_event(&wait_event, "CsvGpuService")) == 1 &&
		(event.events & WL_LATCH_SET) != 0)
		ResetLatch(MyLatch);
	csv_check_interrupts();
}

bool
csv_channel_send(CsvChannel *channel, const void *message, size_t nbytes,
				 const CsvDescriptors *descriptors)
{
	while (!csv_wire_send(channel->socket, message, nbytes, descriptors))
	{
		if (errno != EAGAIN)
			return false;
		wait_for(channel, WL_SOCKET_WRITEABLE, -1);
	}
	return true;
}

size_t
csv_channel_receive(CsvChannel *channel, void *message, size_t room,
					CsvDescriptors *descriptors, long milliseconds)
{
	TimestampTz end = milliseconds < 0 ? DT_NOEND :
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds);
	ssize_t		nbytes;

	while ((nbytes = csv_wire_receive(channel->socket, message, room,
									  descriptors)) < 0 && errno == EAGAIN)
	{
		long		left = -1;

		if (milliseconds >= 0 &&
			(left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(),
													end)) == 0)
		{
			errno = ETIMEDOUT;
			return 0;
		}
		wait_for(channel, WL_SOCKET_READABLE, left);
	}
	if (nbytes >= 0 || errno != EMFILE)
		errno = 0;
	return nbytes > 0 ? (size_t) nbytes : 0;
}

bool
csv_channel_tell(CsvChannel *channel, const void *message, size_t nbytes)
{
	return csv_wire_send(channel->socket, message, nbytes, NULL);
}

bool
csv_channel_is_quiet(const CsvChannel *channel)
{
	char		byte;

	return recv(channel->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
		errno == EAGAIN;
}
