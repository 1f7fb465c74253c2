/*
 * fuzz_service.c
 *		libFuzzer: what clients send to csv_gpu_service.
 *
 * The input chooses messages of a few clients, well formed or of any bytes, with
 * descriptors of any kind.  At no time more memory may be held than the limit (if
 * that was lowered, it may not become more), and in the end nothing is left:
 * neither memory nor a descriptor.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* F_ADD_SEALS */
#endif
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../src/service/serve.h"
#include "../../src/wire/store.h"
#include "../differential/case.h"
#include "messages.h"

#define NUM_CLIENTS		4
#define NUM_FILES		3
#define MOST_SETS		8		/* whose numbers are remembered */
#define MOST_MESSAGES	300

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

typedef struct World
{
	Choices		choices;
	CsvClient  *clients[NUM_CLIENTS];
	CsvClient  *watcher;
	uint64_t	sets[MOST_SETS];
	uint64_t	nrows[MOST_SETS];
	uint32_t	nsets;
	uint64_t	limit;
	uint64_t	held;
} World;

static int	files[NUM_FILES];	/* regular ones, of no name */

/* has the input any more choices? */
static bool
is_over(const World *world)
{
	return world->choices.nbytes == 0;
}

/* ---- descriptors ---- */

static int
memory_file(World *world, uint64_t nbytes, int seals)
{
	int			file = csv_memory_file_create("fuzz");

	expect(file >= 0 && ftruncate(file, (off_t) nbytes) == 0);

	/* memory behind its end */
	if (chance(&world->choices, 8))
		(void) fallocate(file, FALLOC_FL_KEEP_SIZE, 0, 65536);
	if (seals != 0)
		expect(fcntl(file, F_ADD_SEALS, seals) == 0);
	return file;
}

#define ALL_SEALS	(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* one of no use, mostly */
static int
any_file(World *world)
{
	uint32_t	size = choose(&world->choices, 64) * 512;

	switch (choose(&world->choices, 8))
	{
		case 0:
			return memory_file(world, size, 0);
		case 1:
			return memory_file(world, size, F_SEAL_SHRINK | F_SEAL_WRITE);
		case 2:
			return memory_file(world, size, F_SEAL_WRITE | F_SEAL_GROW);
		case 3:
			return memory_file(world, size, ALL_SEALS);
		case 4:
			return memory_file(world, size, ALL_SEALS | F_SEAL_WRITE);
		case 5:
			return open("/dev/null", O_RDWR);
		case 6:
			return open("/", O_RDONLY);
		default:
			return dup(files[choose(&world->choices, NUM_FILES)]);
	}
}

/* ---- messages ---- */

static void
set_wanted(World *world, CsvWanted *wanted)
{
	Choices    *choices = &world->choices;

	wanted->declaration[0] = (uint8_t) choose(choices, 2);
	wanted->positions = choose(choices, 2);
	wanted->ncolumns = choose(choices, 5);
	for (uint32_t i = 0; i < wanted->ncolumns; i++)
	{
		wanted->columns[i].attnum = (int16_t) (i + 1 + choose(choices, 3));
		wanted->columns[i].decimal = (uint16_t) choose(choices, 2);
	}
}

static CsvFileIdentity
identity_of(int file)
{
	struct stat st;

	expect(fstat(file, &st) == 0);
	return csv_file_identity(&st);
}

static size_t
make_find(World *world, CsvFindMessage *find, CsvDescriptors *descriptors)
{
	int			file = files[choose(&world->choices, NUM_FILES)];

	/* another state of the file */
	if (chance(&world->choices, 16))
		expect(ftruncate(file, choose(&world->choices, 256)) == 0);
	find->promised = choose(&world->choices, 4) * 1000;
	find->user.database = choose(&world->choices, 2);
	find->user.table = choose(&world->choices, 16);
	find->user.filename[0] = (char) ('a' + choose(&world->choices, 4));
	find->nrows = choose(&world->choices, 1000);
	find->has_bad_values = (uint16_t) choose(&world->choices, 2);
	find->grows = (uint16_t) choose(&world->choices, 2);
	find->stretch.from.offset = choose(&world->choices, 4) * 64;
	find->stretch.to.offset = choose(&world->choices, 8) * 64;
	find->file = identity_of(file);
	set_wanted(world, &find->wanted);
	bring(descriptors, chance(&world->choices, 16) ? any_file(world) : dup(file));
	if (find->kind == CSV_MESSAGE_KEEP)
		bring(descriptors, chance(&world->choices, 8) ? any_file(world) :
			  memory_file(world, choose(&world->choices, 64) * 1000,
						  ALL_SEALS | F_SEAL_WRITE));
	return CSV_WANTED_BYTES(CsvFindMessage, find->wanted.ncolumns);
}

static size_t
make_look(World *world, CsvLookMessage *look)
{
	look->nfiles = choose(&world->choices, 4);
	for (uint32_t i = 0; i < look->nfiles; i++)
		look->files[i] = identity_of(files[choose(&world->choices, NUM_FILES)]);
	set_wanted(world, &look->wanted);
	return CSV_WANTED_BYTES(CsvLookMessage, look->wanted.ncolumns);
}

static size_t
make_grouping(World *world, CsvGroupingMessage *grouping,
			  CsvDescriptors *descriptors)
{
	uint32_t	n = choose(&world->choices, MOST_SETS);

	grouping->set = world->sets[n];
	grouping->nkeys = 1 + choose(&world->choices, 2);
	grouping->keys[0].attnum = (int16_t) choose(&world->choices, 12);
	grouping->keys[0].trim = (uint16_t) choose(&world->choices, 2);
	if (chance(&world->choices, 2))
		bring(descriptors, chance(&world->choices, 8) ? any_file(world) :
			  memory_file(world, sizeof(uint32_t) * (world->nrows[n] + 1),
						  ALL_SEALS));
	return sizeof(*grouping);
}

/* any bytes, mostly of a known kind */
static size_t
make_anything(World *world, CsvMessage *message, CsvDescriptors *descriptors)
{
	size_t		nbytes = choose(&world->choices, 200);

	if (chance(&world->choices, 8))
		nbytes = (4 + 67 * choose(&world->choices, 256)) % sizeof(*message);
	for (size_t i = 0; i < nbytes && !is_over(world); i++)
		((uint8_t *) message)[i] = (uint8_t) choose(&world->choices, 256);
	if (chance(&world->choices, 2))
		message->kind = choose(&world->choices, CSV_NUM_MESSAGE_KINDS);
	for (uint32_t n = choose(&world->choices, 3); n > 0; n--)
		bring(descriptors, any_file(world));
	return nbytes < sizeof(message->kind) ? sizeof(message->kind) : nbytes;
}

/* as a session would make it; returns its bytes */
static size_t
make_message(World *world, CsvMessage *message, CsvDescriptors *descriptors)
{
	Choices    *choices = &world->choices;

	message->kind = choose(choices, CSV_NUM_MESSAGE_KINDS + 4);
	switch (message->kind)
	{
		case CSV_MESSAGE_HELLO:
			message->hello.version = CSV_WIRE_VERSION;
			message->hello.build = csv_wire_build();
			return sizeof(CsvHelloMessage);
		case CSV_MESSAGE_FIND:
		case CSV_MESSAGE_KEEP:
			return make_find(world, &message->find, descriptors);
		case CSV_MESSAGE_RELEASE:
			message->set.set = world->sets[choose(choices, MOST_SETS)];
			return sizeof(CsvSetMessage);
		case CSV_MESSAGE_LOOK:
			return make_look(world, &message->look);
		case CSV_MESSAGE_ROOM:
			message->room.before = choose(choices, 4) * 1000;
			message->room.nbytes = choose(choices, 256) * 1000;
			message->room.read_bytes = choose(choices, 256);
			message->room.file_bytes = choose(choices, 256);
			return sizeof(CsvRoomMessage);
		case CSV_MESSAGE_GROUPING:
			return make_grouping(world, &message->grouping, descriptors);
		case CSV_MESSAGE_LIST:
			message->list.database = choose(choices, 2);
			return sizeof(CsvListMessage);
		case CSV_MESSAGE_FORGET:
			message->forget.all = chance(choices, 8);
			message->forget.set = world->sets[choose(choices, MOST_SETS)];
			message->forget.database = choose(choices, 2);
			message->forget.table = choose(choices, 16);
			return sizeof(CsvForgetMessage);
		case CSV_MESSAGE_STATISTICS:
		case CSV_MESSAGE_RETIRE:
			return sizeof(message->kind);
		default:
			return make_anything(world, message, descriptors);
	}
}

/* ---- answers ---- */

static void
take_reply(World *world, CsvServiceReply *reply)
{
	expect(reply->nbytes <= sizeof(CsvMessage));
	for (int i = 0; i < reply->descriptors.n; i++)
		expect(fcntl(reply->descriptors.files[i], F_GETFD) >= 0);
	if (reply->nbytes > 0 && reply->message.kind == CSV_MESSAGE_FIND &&
		reply->message.found.found)
	{
		uint32_t	n = world->nsets++ % MOST_SETS;

		expect(reply->descriptors.n == 1 &&
			   csv_memory_file_size(reply->descriptors.files[0], true) >= 0);
		world->sets[n] = reply->message.found.set;
		world->nrows[n] = reply->message.found.nrows;
	}
	if (reply->close)
		csv_wire_close(&reply->descriptors);
}

static uint64_t
held_now(World *world)
{
	CsvMessage	message = {.kind = CSV_MESSAGE_STATISTICS};
	CsvDescriptors none = {0};
	CsvServiceReply reply;

	expect(csv_client_handle(world->watcher, &message, sizeof(message.kind),
							 &none, &reply));
	return reply.message.statistics.of[0].memory_held;
}

static CsvClient *
make_client(World *world)
{
	CsvClient  *client = csv_client_create();
	CsvMessage	message = {.hello = {.kind = CSV_MESSAGE_HELLO,
	.version = CSV_WIRE_VERSION,.build = csv_wire_build()}};
	CsvDescriptors none = {0};
	CsvServiceReply reply;

	expect(client != NULL);
	if (!chance(&world->choices, 16))
		expect(csv_client_handle(client, &message, sizeof(message.hello), &none,
								 &reply));
	return client;
}

static void
send_message(World *world, uint32_t n)
{
	static CsvMessage message;
	static CsvServiceReply reply;
	CsvDescriptors descriptors = {0};
	size_t		nbytes;
	bool		good;

	memset(&message, 0, sizeof(message));
	nbytes = make_message(world, &message, &descriptors);
	if (chance(&world->choices, 32))
		bring(&descriptors, any_file(world));
	good = csv_client_handle(world->clients[n], &message, nbytes, &descriptors,
							 &reply);
	csv_wire_close(&descriptors);
	take_reply(world, &reply);
	if (!good)
	{
		csv_client_free(world->clients[n]);
		world->clients[n] = NULL;
	}
}

static void
set_limit(World *world, uint64_t limit)
{
	CsvLimitsMessage limits = {.kind = CSV_MESSAGE_LIMITS,.resident_bytes = limit};

	world->limit = limit;
	csv_service_set_limits(&limits);
}

static void
take_step(World *world)
{
	uint32_t	n = choose(&world->choices, NUM_CLIENTS);
	uint64_t	before = world->held;

	if (world->clients[n] == NULL)
		world->clients[n] = make_client(world);
	if (chance(&world->choices, 32))
	{
		csv_client_free(world->clients[n]);
		world->clients[n] = NULL;
	}
	else if (chance(&world->choices, 32))
		set_limit(world, choose(&world->choices, 256) * 4000);
	else
		send_message(world, n);
	world->held = held_now(world);
	expect(world->held <= world->limit || world->held <= before);
}

/* the first descriptor that is free: as long as none leaks, the same */
static int
free_descriptor(void)
{
	int			file = open("/dev/null", O_RDONLY);

	close(file);
	return file;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	static World world;
	int			first;

	if (nbytes == 0)
		return 0;
	for (int i = 0; i < NUM_FILES && files[i] == 0; i++)
		files[i] = dup(fileno(tmpfile()));
	first = free_descriptor();
	memset(&world, 0, sizeof(world));
	world.choices.bytes = data;
	world.watcher = make_client(&world);	/* no more choices: it says hello */
	world.choices.bytes = data;
	world.choices.nbytes = nbytes;
	set_limit(&world, 500000);
	for (int i = 0; i < MOST_MESSAGES && !is_over(&world); i++)
		take_step(&world);
	for (int i = 0; i < NUM_CLIENTS; i++)
		if (world.clients[i] != NULL)
			csv_client_free(world.clients[i]);
	expect(held_now(&world) <= world.limit);
	set_limit(&world, 0);
	expect(csv_service_is_empty() && held_now(&world) == 0);
	csv_client_free(world.watcher);
	expect(free_descriptor() == first);
	return 0;
}
