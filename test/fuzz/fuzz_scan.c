/*
 * fuzz_scan.c
 *		libFuzzer: what a session sends to its scan in csv_gpu_service.
 *
 * The program has a stand-in for a GPU.  The input chooses messages, well formed or
 * of any bytes, in any order, with descriptors of any kind.  Whatever they are, the
 * scan ends with its socket, and leaves no descriptor.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* memfd_create */
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../src/service/device.h"
#include "../../src/service/gpu_scan.h"
#include "../../src/wire/packed.h"
#include "../../src/wire/request.h"
#include "../../src/wire/store.h"
#include "../differential/case.h"
#include "messages.h"

#define NUM_FILES		3
#define NUM_REQUESTS	4
#define MOST_STEPS		40
#define SETTLED_SECONDS	1.2		/* until files may stay on the device */
#define END_SECONDS		20

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

typedef struct Bytes
{
	uint8_t    *bytes;
	size_t		nbytes;
} Bytes;

static int	files[NUM_FILES];
static Bytes requests[NUM_REQUESTS];	/* the first ones without a query */

/* ---- what there is to send ---- */

/* rows of a number and a text; every query is about the number */
static void
make_requests(void)
{
	static const CsvColumn columns[] = {
		{.kind = CSV_KIND_INT4,.attnum = 1,.max_chars = -1,.byte_width = -1,
		.type_chars = -1,.precision = -1},
		{.kind = CSV_KIND_TEXT,.field = 1,.attnum = 2,.max_chars = 5,
		.byte_width = -1,.type_chars = -1,.precision = -1}
	};
	static const CsvLayout layout = {
		.nfields = 2,.decimal_separator = '.',.ncolumns = 2,.columns = columns
	};
	static const CsvConstant five = {.lane = CSV_LANE_INT,.value = {.integer = 5}};
	static const CsvInstruction instructions[] = {
		{.operation = CSV_OP_COLUMN,.lane = CSV_LANE_INT},
		{.operation = CSV_OP_CONSTANT,.lane = CSV_LANE_INT,.result = 1},
		{.operation = CSV_OP_GREATER,.lane = CSV_LANE_INT,.result = 2,.b = 1}
	};
	static const uint16_t filters[] = {2};
	static const CsvKey keys[] = {{.value = 0,.lane = CSV_LANE_INT}};
	static const bool hidden[] = {false, true};
	static const CsvQuery filter = {
		.nregisters = 3,.ninstructions = 3,.nfilter_instructions = 3,
		.nconstants = 1,.instructions = instructions,.constants = &five,
		.nfilters = 1,.filters = filters
	};
	CsvQuery	groups = filter;

	groups.aggregates = true;
	groups.nkeys = 1;
	groups.keys = keys;
	for (int i = 0; i < NUM_REQUESTS; i++)
	{
		CsvRequest	request = {i == 3 ? &groups : &filter, hidden, i == 3};
		CsvWireRequest wire = {
			.dialect = {.delimiter = ',',.quote = '"',.multiline = true},
			.max_record_bytes = 1000,.chunk_bytes = i % 2 == 0 ? 0 : 300,
			.layout = &layout,.request = i < 2 ? NULL : &request
		};

		requests[i].bytes = csv_wire_encode_request(&wire, &csv_thread_memory,
													&requests[i].nbytes);
		expect(requests[i].bytes != NULL);
	}
}

/* a large one, a small one with a record that is too long, and an empty one */
static void
make_files(void)
{
	for (int i = 0; i < NUM_FILES; i++)
	{
		FILE	   *file = tmpfile();

		expect(file != NULL);
		for (int row = 0; row < (i == 0 ? 9000 : i == 1 ? 100 : 0); row++)
			fprintf(file, row % 70 == 5 ? "%d,\"te\nxt\"\n" :
					row % 50 == 7 ? "bad %d\n" : "%d,text\n", row);
		if (i == 1)
			fprintf(file, "%3000d\n1,x\n", 1);
		expect(fflush(file) == 0);
		files[i] = dup(fileno(file));
		fclose(file);
	}
	usleep((useconds_t) (SETTLED_SECONDS * 1e6));
}

static int
request_file(Choices *choices)
{
	const Bytes *request = &requests[choose(choices, NUM_REQUESTS)];
	int			file = csv_memory_file_create("fuzz");

	expect(file >= 0 &&
		   write(file, request->bytes, request->nbytes) == (ssize_t) request->nbytes);
	if (!chance(choices, 16))
		expect(csv_memory_file_seal(file, true));
	return file;
}

static int
any_file(Choices *choices)
{
	switch (choose(choices, 6))
	{
		case 0:
			return open("/dev/null", O_RDWR);
		case 1:
			return open("/", O_RDONLY);
		case 2:
			return open("/dev/null", O_WRONLY);
		case 3:
			return csv_memory_file_create("fuzz");
		case 4:
			return request_file(choices);
		default:
			return fcntl(files[choose(choices, NUM_FILES)], F_DUPFD_CLOEXEC, 0);
	}
}

/* ---- a session ---- */

typedef struct Session
{
	Choices		choices;
	int			socket;
	bool		is_over;		/* the scan has ended it */
	CsvParseMessage next;		/* where a file goes on, after a batch */
} Session;

static uint64_t
any_offset(Choices *choices)
{
	return chance(choices, 32) ? UINT64_MAX - choose(choices, 256) :
		choose(choices, 2) * choose(choices, 256) * 300;
}

/* returns its bytes */
static size_t
make_message(Session *session, CsvMessage *message, CsvDescriptors *descriptors)
{
	static const uint32_t kinds[] = {
		CSV_MESSAGE_FILE, CSV_MESSAGE_FILE, CSV_MESSAGE_PARSE, CSV_MESSAGE_PARSE,
		CSV_MESSAGE_PARSE, CSV_MESSAGE_PARSE, CSV_MESSAGE_NEED, CSV_MESSAGE_QUERY,
		CSV_MESSAGE_HELD, CSV_NUM_MESSAGE_KINDS
	};
	Choices    *choices = &session->choices;
	size_t		nbytes;

	message->kind = kinds[choose(choices, sizeof(kinds) / sizeof(kinds[0]))];
	switch (message->kind)
	{
		case CSV_MESSAGE_FILE:
			message->file.is_stream = chance(choices, 4);
			message->file.is_shared = (uint16_t) choose(choices, 2);
			message->file.from = any_offset(choices);
			message->file.file_bytes = any_offset(choices);
			bring(descriptors, request_file(choices));
			if (message->file.is_stream == 0)
				bring(descriptors, chance(choices, 8) ? any_file(choices) :
					  fcntl(files[choose(choices, NUM_FILES)], F_DUPFD_CLOEXEC, 0));
			return sizeof(CsvFileMessage);
		case CSV_MESSAGE_PARSE:
			message->parse = session->next;
			if (chance(choices, 2))
			{
				message->parse.at_end = (uint16_t) choose(choices, 2);
				message->parse.has_footer = chance(choices, 8);
				message->parse.skip_line = chance(choices, 8);
				message->parse.offset = any_offset(choices);
				message->parse.nbytes = any_offset(choices);
				message->parse.alone_until = choose(choices, 2) *
					choose(choices, 256);
			}
			message->kind = CSV_MESSAGE_PARSE;
			session->next = message->parse;
			return sizeof(CsvParseMessage);
		case CSV_MESSAGE_NEED:
			message->data.nbytes = any_offset(choices);
			return sizeof(CsvDataMessage);
		case CSV_MESSAGE_QUERY:
			bring(descriptors, request_file(choices));
			return sizeof(message->kind);
		case CSV_MESSAGE_HELD:
			message->held.first = choose(choices, 2) * choose(choices, 256);
			return sizeof(CsvHeldMessage);
		default:
			break;
	}
	nbytes = sizeof(message->kind) + choose(choices, 100);
	for (size_t i = 0; i < nbytes; i++)
		((uint8_t *) message)[i] = (uint8_t) choose(choices, 256);
	if (chance(choices, 2))
		message->kind = kinds[choose(choices, 8)];
	return nbytes;
}

/* the next input is what a reader would ask for, so it may have been parsed */
static void
pass_batch(Session *session, const CsvPacked *packed)
{
	const CsvBatch *batch = &packed->batch;
	CsvParseMessage *next = &session->next;

	next->offset += batch->consumed;
	next->nbytes -= batch->consumed;
	next->skip_line = batch->skip_line;
	next->alone_until = batch->alone_until > batch->consumed ?
		batch->alone_until - batch->consumed : 0;
}

/* take whatever has been sent, or, if there is to be an answer, wait for that */
static void
take_answers(Session *session, bool must_wait)
{
	static union
	{
		CsvMessage	other;
		CsvBatchMessage batch;
	}			message;
	CsvDescriptors descriptors;
	ssize_t		nbytes;

	while (!session->is_over)
	{
		struct pollfd ready = {session->socket, POLLIN, 0};

		/* libFuzzer's alarms interrupt it */
		if (must_wait)
			expect(poll(&ready, 1, END_SECONDS * 1000) == 1 || errno == EINTR);
		nbytes = csv_wire_receive(session->socket, &message, sizeof(message),
								  &descriptors);
		if (nbytes < 0 && errno == EAGAIN)
			return;
		session->is_over = nbytes <= 0;
		csv_wire_close(&descriptors);
		if (nbytes > 0 && message.other.kind == CSV_MESSAGE_BATCH)
			pass_batch(session, (const CsvPacked *) message.batch.packed);
		if (nbytes > 0 && message.other.kind != CSV_MESSAGE_BLOCK)
			must_wait = false;
	}
}

static void
take_step(Session *session)
{
	static CsvMessage message;
	CsvDescriptors descriptors = {0};
	bool		asks;
	size_t		nbytes;

	memset(&message, 0, sizeof(message));
	nbytes = make_message(session, &message, &descriptors);
	if (chance(&session->choices, 32))
		bring(&descriptors, any_file(&session->choices));
	asks = nbytes == sizeof(CsvParseMessage) && descriptors.n == 0 &&
		message.kind == CSV_MESSAGE_PARSE;

	/* where the socket is full, a real session waits */
	if (!csv_wire_send(session->socket, &message, nbytes, &descriptors))
	{
		session->is_over = errno != EAGAIN;
		asks = false;
	}
	csv_wire_close(&descriptors);
	take_answers(session, asks);
}

/* those that are open, but for blocks of inputs, which the stand-in keeps */
static int
count_descriptors(void)
{
	DIR		   *directory = opendir("/proc/self/fd");
	int			n = 0;
	const struct dirent *entry;

	expect(directory != NULL);
	while ((entry = readdir(directory)) != NULL)
	{
		char		target[64] = "";

		(void) readlinkat(dirfd(directory), entry->d_name, target,
						  sizeof(target) - 1);
		n += strstr(target, "memfd:csv_gpu_fdw (") == NULL;
	}
	closedir(directory);
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	CsvScanMessage scan = {.kind = CSV_MESSAGE_SCAN,.must_wait = 1};
	Session		session = {.choices = {.bytes = data,.nbytes = nbytes}};
	const char *name;
	int			ends[2];
	int			before;
	int			waited = 0;

	expect(csv_devices_state(CSV_ANY_DEVICE, &name) != CSV_DEVICE_NONE);
	if (files[0] == 0)
	{
		make_requests();
		make_files();
		csv_devices_wake(CSV_ANY_DEVICE);
	}

	/* any of them, one of them, or one that there is not */
	scan.device = (int32_t) choose(&session.choices, 4) - 1;
	before = count_descriptors();
	expect(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
					  ends) == 0);
	session.socket = ends[0];
	expect(csv_scan_start(&scan, ends[1]));
	for (int i = 0; i < MOST_STEPS && !session.is_over &&
		 session.choices.nbytes > 0; i++)
		take_step(&session);
	close(session.socket);
	for (; csv_scan_count() > 0; waited++)
	{
		expect(waited < END_SECONDS * 10000);
		usleep(100);
	}

	/* threads that copy a file let go of it a moment later */
	for (; count_descriptors() != before; waited++)
	{
		expect(waited < END_SECONDS * 10000);
		usleep(100);
	}
	return 0;
}
