/*
 * fuzz_service.c
 *		Messages of any content to csv_gpu_service.
 *
 * The bytes are steps: which of some clients speaks, which message it makes or
 * which bytes of its own it sends, and which descriptors go along.  Whatever comes,
 * what is held stays within the limit, and nothing is left when the clients are gone.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* mkostemp */
#endif
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/serve.h"
#include "wire/store.h"

#define NCLIENTS	3
#define NFILES		4
#define LIMIT		UINT64_C(65536)

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

typedef struct Steps
{
	const uint8_t *at;
	size_t		nbytes;
} Steps;

/* a file, sealed memory, shared memory, and memory that is not sealed */
static int	files[NFILES];
static CsvFileIdentity identity;

static void
check(bool good)
{
	if (!good)
		abort();
}

static void
open_files(void)
{
	char		name[] = "/tmp/fuzz_service.XXXXXX";
	struct stat st;

	files[0] = mkostemp(name, O_CLOEXEC);
	check(files[0] >= 0 && unlink(name) == 0 && fstat(files[0], &st) == 0);
	identity = csv_file_identity(&st);
	for (int i = 1; i < NFILES; i++)
	{
		files[i] = csv_memory_file_create("fuzz");
		check(files[i] >= 0 && ftruncate(files[i], i == 2 ? 404 : 8192) == 0);
	}
	check(csv_memory_file_seal(files[1], true) &&
		  csv_memory_file_seal(files[2], false));
}

static uint8_t
take(Steps *steps)
{
	if (steps->nbytes == 0)
		return 0;
	steps->nbytes--;
	return *steps->at++;
}

/* such a message as a session sends, with small numbers; returns its bytes */
static size_t
make_message(CsvMessage *message, uint32_t kind, Steps *steps)
{
	uint8_t		number = take(steps);
	uint32_t	ncolumns = take(steps) % 4;
	CsvWanted  *wanted = NULL;
	size_t		nbytes = 0;

	memset(message, 0, sizeof(*message));
	message->kind = kind;
	switch (kind)
	{
		case CSV_MESSAGE_HELLO:
			message->hello.version = CSV_WIRE_VERSION;
			message->hello.sizes = csv_wire_sizes();
			return sizeof(message->hello);
		case CSV_MESSAGE_FIND:
		case CSV_MESSAGE_KEEP:
			message->find.making = 1 + number % 2;
			message->find.user.table = number % 20;
			message->find.nrows = 100;
			message->find.has_bad_values = number >> 7;
			message->find.file = identity;
			message->find.file.size += number >> 6 & 1;
			wanted = &message->find.wanted;
			nbytes = CSV_WANTED_BYTES(CsvFindMessage, ncolumns);
			break;
		case CSV_MESSAGE_LOOK:
			message->look.nfiles = number % 3;
			message->look.files[0] = identity;
			wanted = &message->look.wanted;
			nbytes = CSV_WANTED_BYTES(CsvLookMessage, ncolumns);
			break;
		case CSV_MESSAGE_RELEASE:
			message->set.set = number;
			return sizeof(message->set);
		case CSV_MESSAGE_ROOM:
			message->room.making = 1 + number % 2;
			message->room.nbytes = (uint64_t) (number >> 1) * 1024;
			message->room.read_bytes = 1;
			message->room.file_bytes = take(steps);
			return sizeof(message->room);
		case CSV_MESSAGE_GROUPING:
			message->grouping.nkeys = 1;
			message->grouping.set = number;
			message->grouping.keys[0].attnum = (int16_t) ncolumns;
			return sizeof(message->grouping);
		case CSV_MESSAGE_LIST:
			return sizeof(message->list);
		case CSV_MESSAGE_FORGET:
			message->forget.all = number >> 7;
			message->forget.set = number % 16;
			message->forget.table = take(steps) % 20;
			return sizeof(message->forget);
		default:
			return sizeof(uint32_t);
	}
	wanted->meaning[0] = number % 2;
	wanted->ncolumns = ncolumns;
	for (uint32_t i = 0; i < ncolumns; i++)
		wanted->columns[i].attnum = (int16_t) (i + 1);
	return nbytes;
}

/* what there is, as the first client is told */
static void
check_memory(CsvClient *client)
{
	CsvMessage	message;
	CsvDescriptors none = {0, {0}};
	CsvServiceReply reply;

	message.kind = CSV_MESSAGE_STATISTICS;
	if (csv_client_handle(client, &message, sizeof(uint32_t), &none, &reply))
		check(reply.message.statistics.memory_held <= LIMIT);
}

static void
run_step(CsvService *service, CsvClient **clients, Steps *steps)
{
	uint8_t		what = take(steps);
	CsvClient **client = &clients[what % NCLIENTS];
	CsvDescriptors with = {0, {0}};
	CsvMessage	message;
	CsvServiceReply reply;
	size_t		nbytes;
	uint8_t		files_with = take(steps);

	if (what & 0x80)
	{
		nbytes = take(steps) * 8;
		nbytes = nbytes < steps->nbytes ? nbytes : steps->nbytes;
		memset(&message, 0, sizeof(message));
		memcpy(&message, steps->at, nbytes);
		steps->at += nbytes;
		steps->nbytes -= nbytes;
		if (nbytes < sizeof(uint32_t))
			nbytes = sizeof(uint32_t);
	}
	else
		nbytes = make_message(&message, (uint32_t) (what >> 2) %
							  CSV_NUM_MESSAGE_KINDS, steps);
	for (; files_with % 8 < NFILES && with.n < CSV_WIRE_DESCRIPTORS;
		 files_with >>= 3)
		with.files[with.n++] = fcntl(files[files_with % 8], F_DUPFD_CLOEXEC, 0);
	if (!csv_client_handle(*client, &message, nbytes, &with, &reply))
	{
		csv_client_free(*client);
		*client = csv_client_create(service);
		check(*client != NULL);
	}
	csv_wire_close(&with);
	if (reply.close)
		csv_wire_close(&reply.descriptors);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	static bool is_open = false;
	Steps		steps = {data, nbytes};
	CsvLimitsMessage limits;
	CsvService *service;
	CsvClient  *clients[NCLIENTS];
	int			before;
	int			after;

	if (!is_open)
		open_files();
	is_open = true;

	/* descriptors are given out from the lowest one on */
	before = dup(files[0]);
	close(before);
	memset(&limits, 0, sizeof(limits));
	limits.resident_bytes = LIMIT;
	service = csv_service_create();
	check(service != NULL);
	csv_service_set_limits(service, &limits);
	for (int i = 0; i < NCLIENTS; i++)
		clients[i] = csv_client_create(service);
	while (steps.nbytes > 0)
	{
		run_step(service, clients, &steps);
		check_memory(clients[0]);
	}
	for (int i = 0; i < NCLIENTS; i++)
		csv_client_free(clients[i]);
	csv_service_free(service);

	after = dup(files[0]);
	check(after == before);
	close(after);
	return 0;
}
