/*
 * message.c
 *		Sends and receives messages, and descriptors with them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* struct ucred */
#endif
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "message.h"
#include "packed.h"

#ifndef CSV_BUILD
#define CSV_BUILD "of a test"	/* otherwise the Makefile defines it */
#endif

_Static_assert(sizeof(CsvMessage) <= CSV_WIRE_BYTES,
			   "a message is no longer than that");
_Static_assert(sizeof(CsvPacked) + CSV_MOST_KEPT_COLUMNS * sizeof(CsvArray) +
			   offsetof(CsvBatchMessage, packed) <= sizeof(CsvBatchMessage),
			   "a message has room for a batch");

uint64_t
csv_wire_build(void)
{
	/* test/t/063_updates.pl edits these bytes of a library */
	static const volatile char build[] = "csv_gpu_fdw build " CSV_BUILD;
	uint64_t	hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; build[i] != '\0'; i++)
		hash = (hash ^ (unsigned char) build[i]) * UINT64_C(1099511628211);
	return hash;
}

/* room for descriptors beside a message */
typedef union Control
{
	struct cmsghdr head;
	uint8_t		bytes[CMSG_SPACE(sizeof(int) * CSV_WIRE_DESCRIPTORS)];
} Control;

bool
csv_wire_send(int socket, const void *message, size_t nbytes,
			  const CsvDescriptors *descriptors)
{
	struct iovec part = {(void *) (uintptr_t) message, nbytes};
	struct msghdr head = {.msg_iov = &part,.msg_iovlen = 1};
	Control		control;
	ssize_t		n;

	if (descriptors != NULL && descriptors->n > 0)
	{
		size_t		size = sizeof(int) * (size_t) descriptors->n;

		memset(&control, 0, sizeof(control));
		head.msg_control = &control;
		head.msg_controllen = CMSG_SPACE(size);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(&control.head), descriptors->files, size);
	}
	do
		n = sendmsg(socket, &head, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n >= 0;
}

void
csv_wire_close(CsvDescriptors *descriptors)
{
	for (int i = 0; i < descriptors->n; i++)
		close(descriptors->files[i]);
	descriptors->n = 0;
}

/* take the descriptors that came; close those beyond the room */
static bool
take_descriptors(struct msghdr *head, CsvDescriptors *descriptors)
{
	bool		good = (head->msg_flags & MSG_TRUNC) == 0;

	for (struct cmsghdr *part = CMSG_FIRSTHDR(head); part != NULL;
		 part = CMSG_NXTHDR(head, part))
	{
		size_t		n;

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		n = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++)
		{
			int			file;

			memcpy(&file, CMSG_DATA(part) + sizeof(int) * i, sizeof(int));
			if (descriptors->n < CSV_WIRE_DESCRIPTORS)
				descriptors->files[descriptors->n++] = file;
			else
			{
				close(file);
				good = false;
			}
		}
	}
	return good;
}

ssize_t
csv_wire_receive(int socket, void *message, size_t room,
				 CsvDescriptors *descriptors)
{
	struct iovec part = {message, room};
	Control		control;
	struct msghdr head = {
		.msg_iov = &part,.msg_iovlen = 1,
		.msg_control = &control,.msg_controllen = sizeof(control)
	};
	ssize_t		n;
	int			error = 0;

	descriptors->n = 0;
	do
		n = recvmsg(socket, &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	if (!take_descriptors(&head, descriptors) ||
		(n > 0 && n < (ssize_t) sizeof(uint32_t)))
		error = EBADMSG;
	else if ((head.msg_flags & MSG_CTRUNC) != 0)
		error = EMFILE;
	if (error != 0)
	{
		csv_wire_close(descriptors);
		errno = error;
		return -1;
	}

	/* a message of no bytes looks like the end, but may bring descriptors */
	if (n == 0)
		csv_wire_close(descriptors);
	return n;
}

bool
csv_wire_is_own_user(int socket)
{
	struct ucred peer;
	socklen_t	size = sizeof(peer);

	return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
		peer.uid == geteuid();
}
