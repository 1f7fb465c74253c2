/*
 * test_service.c
 *		What csv_gpu_service does with messages, and kept columns in memory files.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* mkostemp */
#endif
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "service/serve.h"
#include "wire/store.h"
#include "reading.h"

#define MEGABYTE	(UINT64_C(1) << 20)

/* ---- files ---- */

static int
count_descriptors(void)
{
	DIR		   *directory = opendir("/proc/self/fd");
	int			n = 0;

	assert_non_null(directory);
	while (readdir(directory) != NULL)
		n++;
	closedir(directory);
	return n;
}

/* a file of so many bytes, and what it is; it has no name any more */
static int
make_file(size_t nbytes, CsvFileIdentity *identity)
{
	char		name[] = "/tmp/test_service.XXXXXX";
	int			file = mkostemp(name, O_CLOEXEC);
	struct stat st;

	assert_true(file >= 0);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(ftruncate(file, (off_t) nbytes), 0);
	assert_int_equal(fstat(file, &st), 0);
	*identity = csv_file_identity(&st);
	return file;
}

static int
make_memory_file(size_t nbytes, bool is_constant)
{
	int			file = csv_memory_file_create("test");

	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, (off_t) nbytes), 0);
	assert_true(csv_memory_file_seal(file, is_constant));
	return file;
}

/* ---- messages ---- */

typedef struct Server
{
	CsvService *service;
	CsvClient  *client;
	CsvServiceReply reply;
	int			ndescriptors;	/* before */
} Server;

static CsvClient *
add_client(Server *server)
{
	CsvClient  *client = csv_client_create(server->service);
	CsvHelloMessage hello = {CSV_MESSAGE_HELLO, CSV_WIRE_VERSION,
	csv_wire_sizes(), 1, 0};
	CsvMessage	message;
	CsvDescriptors none = {0, {0}};

	assert_non_null(client);
	memcpy(&message, &hello, sizeof(hello));
	assert_true(csv_client_handle(client, &message, sizeof(hello), &none,
								  &server->reply));
	assert_int_equal(server->reply.message.hello.version, CSV_WIRE_VERSION);
	return client;
}

static void
start(Server *server, uint64_t limit)
{
	CsvLimitsMessage limits;

	server->ndescriptors = count_descriptors();
	memset(&limits, 0, sizeof(limits));
	limits.resident_bytes = limit;
	server->service = csv_service_create();
	assert_non_null(server->service);
	csv_service_set_limits(server->service, &limits);
	server->client = add_client(server);
}

/* nothing is left, whatever was kept */
static void
stop(Server *server)
{
	csv_client_free(server->client);
	csv_service_free(server->service);
	assert_int_equal(count_descriptors(), server->ndescriptors);
}

/* hand a message over, with copies of descriptors (-1: none) */
static bool
say(Server *server, CsvClient *client, const void *bytes, size_t nbytes,
	int first, int second)
{
	CsvMessage	message;
	CsvDescriptors with = {0, {0}};
	bool		good;

	assert_true(nbytes <= sizeof(message));
	memset(&message, 0, sizeof(message));
	memcpy(&message, bytes, nbytes);
	if (first >= 0)
		with.files[with.n++] = fcntl(first, F_DUPFD_CLOEXEC, 0);
	if (second >= 0)
		with.files[with.n++] = fcntl(second, F_DUPFD_CLOEXEC, 0);
	good = csv_client_handle(client, &message, nbytes, &with, &server->reply);
	csv_wire_close(&with);
	return good;
}

/* columns 1, 2 ... of a table */
static size_t
set_find(CsvFindMessage *find, uint32_t kind, const CsvFileIdentity *file,
		 uint32_t table, uint32_t ncolumns)
{
	memset(find, 0, sizeof(*find));
	find->kind = kind;
	find->making = 1;
	find->user.database = 5;
	find->user.table = table;
	snprintf(find->user.filename, sizeof(find->user.filename), "file of %u", table);
	find->file = *file;
	find->nrows = 100;
	find->wanted.ncolumns = ncolumns;
	for (uint32_t i = 0; i < ncolumns; i++)
		find->wanted.columns[i].attnum = (int16_t) (i + 1);
	return CSV_WANTED_BYTES(CsvFindMessage, ncolumns);
}

static bool
promise(Server *server, CsvClient *client, uint32_t making, uint64_t nbytes)
{
	CsvRoomMessage room = {CSV_MESSAGE_ROOM, making, nbytes, 1, 1};

	assert_true(say(server, client, &room, sizeof(room), -1, -1));
	return nbytes > 0 && server->reply.message.done.count > 0;
}

static bool
keep(Server *server, CsvClient *client, const CsvFindMessage *find,
	 size_t nbytes, int file, size_t size)
{
	int			columns = make_memory_file(size, true);

	if (!promise(server, client, find->making, size))
	{
		close(columns);
		return false;
	}
	assert_true(say(server, client, find, nbytes, file, columns));
	close(columns);
	return server->reply.message.done.count > 0;
}

/* keep columns of a file: how many, of how many bytes */
static bool
keep_columns(Server *server, const CsvFileIdentity *identity, int file,
			 uint32_t table, uint32_t ncolumns, size_t size)
{
	CsvFindMessage find;
	size_t		nbytes = set_find(&find, CSV_MESSAGE_KEEP, identity, table,
								  ncolumns);

	return keep(server, server->client, &find, nbytes, file, size);
}

/* the number of the set that was found; 0: none was */
static uint64_t
find_columns(Server *server, CsvClient *client, const CsvFindMessage *find,
			 size_t nbytes, int file)
{
	assert_true(say(server, client, find, nbytes, file, -1));
	assert_int_equal(server->reply.descriptors.n,
					 server->reply.message.found.found);
	return server->reply.message.found.found ?
		server->reply.message.found.set : 0;
}

static uint64_t
look_for(Server *server, const CsvFileIdentity *identity, int file,
		 uint32_t table, uint32_t ncolumns)
{
	CsvFindMessage find;
	size_t		nbytes = set_find(&find, CSV_MESSAGE_FIND, identity, table,
								  ncolumns);

	return find_columns(server, server->client, &find, nbytes, file);
}

static void
release(Server *server, CsvClient *client, uint64_t set)
{
	CsvSetMessage message = {CSV_MESSAGE_RELEASE, 0, set};

	assert_true(say(server, client, &message, sizeof(message), -1, -1));
}

static uint64_t
memory_held(Server *server)
{
	uint32_t	ask = CSV_MESSAGE_STATISTICS;

	assert_true(say(server, server->client, &ask, sizeof(ask), -1, -1));
	return server->reply.message.statistics.memory_held;
}

/* ---- tests ---- */

static void
nobody_is_served_before_hello(void **state)
{
	Server		server;
	CsvClient  *client;
	uint32_t	ask = CSV_MESSAGE_STATISTICS;
	CsvHelloMessage hello = {CSV_MESSAGE_HELLO, CSV_WIRE_VERSION + 1,
	csv_wire_sizes(), 1, 0};

	(void) state;
	start(&server, MEGABYTE);
	client = csv_client_create(server.service);
	assert_false(say(&server, client, &ask, sizeof(ask), -1, -1));
	assert_true(say(&server, client, &hello, sizeof(hello), -1, -1));
	assert_int_equal(server.reply.message.hello.version, CSV_WIRE_VERSION);
	assert_false(say(&server, client, &ask, sizeof(ask), -1, -1));
	hello.version = CSV_WIRE_VERSION;
	hello.sizes++;
	assert_true(say(&server, client, &hello, sizeof(hello), -1, -1));
	assert_false(say(&server, client, &ask, sizeof(ask), -1, -1));
	hello.sizes--;
	assert_true(say(&server, client, &hello, sizeof(hello), -1, -1));
	assert_true(say(&server, client, &ask, sizeof(ask), -1, -1));
	assert_false(csv_service_is_retired(server.service));
	ask = CSV_MESSAGE_RETIRE;
	assert_true(say(&server, client, &ask, sizeof(ask), -1, -1));
	assert_true(csv_service_is_retired(server.service));
	csv_client_free(client);
	stop(&server);
}

static void
columns_answer_queries_for_fewer_of_them(void **state)
{
	Server		server;
	CsvFileIdentity identity;
	int			file = make_file(10, &identity);
	CsvFindMessage find;
	size_t		nbytes;
	uint64_t	set;

	(void) state;
	start(&server, MEGABYTE);
	assert_int_equal(look_for(&server, &identity, file, 7, 2), 0);
	assert_true(keep_columns(&server, &identity, file, 7, 2, 4096));
	assert_int_equal(memory_held(&server), 4096);
	set = look_for(&server, &identity, file, 7, 2);
	assert_int_not_equal(set, 0);
	assert_int_equal(look_for(&server, &identity, file, 7, 1), set);
	assert_int_equal(look_for(&server, &identity, file, 7, 0), set);
	assert_int_equal(look_for(&server, &identity, file, 7, 3), 0);

	/* the others' forms, places, and meanings */
	nbytes = set_find(&find, CSV_MESSAGE_FIND, &identity, 8, 1);
	assert_int_equal(find_columns(&server, server.client, &find, nbytes, file), set);
	find.wanted.columns[0].decimal = 1;
	assert_int_equal(find_columns(&server, server.client, &find, nbytes, file), 0);
	find.wanted.columns[0].decimal = 0;
	find.wanted.positions = 1;
	assert_int_equal(find_columns(&server, server.client, &find, nbytes, file), 0);
	find.wanted.positions = 0;
	find.wanted.meaning[31] = 1;
	assert_int_equal(find_columns(&server, server.client, &find, nbytes, file), 0);

	/* what stands for others takes their place; with bad values, it does not */
	assert_true(keep_columns(&server, &identity, file, 7, 3, 8192));
	assert_int_not_equal(look_for(&server, &identity, file, 7, 2), set);
	nbytes = set_find(&find, CSV_MESSAGE_KEEP, &identity, 7, 4);
	find.has_bad_values = 1;
	assert_true(keep(&server, server.client, &find, nbytes, file, 4096));
	assert_int_not_equal(look_for(&server, &identity, file, 7, 4), 0);
	nbytes = set_find(&find, CSV_MESSAGE_FIND, &identity, 7, 1);
	find.wanted.columns[0].attnum = 4;
	assert_int_equal(find_columns(&server, server.client, &find, nbytes, file), 0);
	stop(&server);
	close(file);
}

static void
a_file_is_what_it_is_now(void **state)
{
	Server		server;
	CsvFileIdentity identity;
	CsvFileIdentity changed;
	CsvFileIdentity other_identity;
	int			file = make_file(10, &identity);
	int			other = make_file(10, &other_identity);
	struct stat st;

	(void) state;
	start(&server, MEGABYTE);
	/* not one that the client only speaks of */
	assert_false(keep_columns(&server, &identity, other, 7, 1, 4096));
	assert_int_equal(memory_held(&server), 0);
	assert_true(keep_columns(&server, &identity, file, 7, 1, 4096));
	assert_int_equal(look_for(&server, &identity, other, 7, 1), 0);
	assert_int_equal(ftruncate(file, 11), 0);
	assert_int_equal(fstat(file, &st), 0);
	changed = csv_file_identity(&st);
	assert_int_equal(look_for(&server, &identity, file, 7, 1), 0);
	assert_int_equal(look_for(&server, &changed, file, 7, 1), 0);
	assert_int_equal(memory_held(&server), 0);

	/* another one of the same name */
	assert_true(keep_columns(&server, &changed, file, 7, 1, 4096));
	assert_int_equal(look_for(&server, &other_identity, other, 7, 1), 0);
	assert_int_equal(memory_held(&server), 0);
	stop(&server);
	close(file);
	close(other);
}

static void
what_was_not_used_for_longest_goes_first(void **state)
{
	Server		server;
	CsvFileIdentity identity[4];
	int			file[4];
	uint64_t	set;

	(void) state;
	start(&server, 3 * 8192);
	for (int i = 0; i < 4; i++)
		file[i] = make_file(1 + (size_t) i, &identity[i]);
	for (int i = 0; i < 3; i++)
		assert_true(keep_columns(&server, &identity[i], file[i],
								 10 + (uint32_t) i, 1, 8192));
	assert_int_equal(memory_held(&server), 3 * 8192);
	release(&server, server.client, look_for(&server, &identity[0], file[0], 10, 1));
	assert_true(keep_columns(&server, &identity[3], file[3], 13, 1, 8192));
	assert_int_equal(look_for(&server, &identity[1], file[1], 11, 1), 0);
	set = look_for(&server, &identity[0], file[0], 10, 1);
	assert_int_not_equal(set, 0);

	/* what is pinned stays, and what is too large drives nothing out */
	assert_false(promise(&server, server.client, 2, 3 * 8192 + 1));
	assert_int_equal(memory_held(&server), 3 * 8192);
	assert_true(promise(&server, server.client, 2, 2 * 8192));
	assert_int_equal(memory_held(&server), 3 * 8192);
	assert_false(promise(&server, server.client, 2, 3 * 8192));
	assert_int_equal(look_for(&server, &identity[0], file[0], 10, 1), set);
	assert_false(promise(&server, server.client, 2, 0));
	assert_int_equal(memory_held(&server), 8192);
	for (int i = 0; i < 4; i++)
		close(file[i]);
	stop(&server);
}

static void
what_a_client_holds_goes_with_it(void **state)
{
	Server		server;
	CsvClient  *client;
	CsvFileIdentity identity;
	int			file = make_file(10, &identity);
	CsvFindMessage find;
	CsvForgetMessage all = {CSV_MESSAGE_FORGET, 1, 0, 0, 0};
	size_t		nbytes;

	(void) state;
	start(&server, MEGABYTE);
	client = add_client(&server);
	assert_true(promise(&server, client, 1, MEGABYTE / 2));
	assert_int_equal(memory_held(&server), MEGABYTE / 2);
	assert_false(promise(&server, server.client, 1, MEGABYTE / 2 + 1));
	csv_client_free(client);
	assert_int_equal(memory_held(&server), 0);

	/* pinned columns that are forgotten go with their last pin */
	assert_true(keep_columns(&server, &identity, file, 7, 1, 4096));
	client = add_client(&server);
	nbytes = set_find(&find, CSV_MESSAGE_FIND, &identity, 7, 1);
	assert_int_not_equal(find_columns(&server, client, &find, nbytes, file), 0);
	assert_int_not_equal(find_columns(&server, client, &find, nbytes, file), 0);
	assert_true(say(&server, server.client, &all, sizeof(all), -1, -1));
	assert_int_equal(server.reply.message.done.count, 1);
	assert_int_equal(look_for(&server, &identity, file, 7, 1), 0);
	assert_int_equal(memory_held(&server), 4096);
	csv_client_free(client);
	assert_int_equal(memory_held(&server), 0);
	assert_true(csv_service_is_empty(server.service));
	stop(&server);
	close(file);
}

static void
tables_let_go_one_by_one(void **state)
{
	Server		server;
	CsvFileIdentity identity;
	int			file = make_file(10, &identity);
	CsvForgetMessage forget = {CSV_MESSAGE_FORGET, 0, 0, 5, 7};
	CsvListMessage list = {CSV_MESSAGE_LIST, 5};
	CsvFindMessage find;
	size_t		nbytes;

	(void) state;
	start(&server, MEGABYTE);
	assert_true(keep_columns(&server, &identity, file, 7, 1, 4096));
	nbytes = set_find(&find, CSV_MESSAGE_FIND, &identity, 8, 1);
	forget.set = find_columns(&server, server.client, &find, nbytes, file);
	release(&server, server.client, forget.set);
	assert_true(say(&server, server.client, &list, sizeof(list), -1, -1));
	assert_int_equal(server.reply.message.listed.nentries, 2);
	assert_int_equal(csv_memory_file_size(server.reply.descriptors.files[0], true),
					 2 * (sizeof(CsvListEntry) + sizeof(CsvKeyColumn)));
	assert_true(server.reply.close);
	csv_wire_close(&server.reply.descriptors);
	list.database = 6;
	assert_true(say(&server, server.client, &list, sizeof(list), -1, -1));
	assert_int_equal(server.reply.message.listed.nentries, 0);
	csv_wire_close(&server.reply.descriptors);
	assert_true(say(&server, server.client, &forget, sizeof(forget), -1, -1));
	assert_int_equal(server.reply.message.done.count, 0);
	assert_int_equal(memory_held(&server), 4096);
	forget.table = 8;
	assert_true(say(&server, server.client, &forget, sizeof(forget), -1, -1));
	assert_int_equal(server.reply.message.done.count, 1);
	assert_int_equal(memory_held(&server), 0);
	stop(&server);
	close(file);
}

static void
groupings_are_shared_and_few(void **state)
{
	Server		server;
	CsvFileIdentity identity;
	int			file = make_file(10, &identity);
	CsvGroupingMessage keys;
	size_t		size = sizeof(uint32_t) * 101;
	int			right = make_memory_file(size, false);
	int			wrong = make_memory_file(size + 4, false);

	(void) state;
	start(&server, MEGABYTE);
	assert_true(keep_columns(&server, &identity, file, 7, 1, 4096));
	memset(&keys, 0, sizeof(keys));
	keys.kind = CSV_MESSAGE_GROUPING;
	keys.nkeys = 1;
	/* of columns that are pinned only */
	assert_false(say(&server, server.client, &keys, sizeof(keys), -1, -1));
	keys.set = look_for(&server, &identity, file, 7, 1);
	for (int i = 0; i < 9; i++)
	{
		keys.keys[0].attnum = (int16_t) i;
		assert_true(say(&server, server.client, &keys, sizeof(keys), -1, -1));
		assert_int_equal(server.reply.message.done.count, i < 8);
		assert_true(say(&server, server.client, &keys, sizeof(keys), wrong, -1));
		assert_int_equal(server.reply.descriptors.n, 0);
		assert_true(say(&server, server.client, &keys, sizeof(keys), right, -1));
		assert_int_equal(server.reply.descriptors.n, i < 8);
	}
	assert_int_equal(memory_held(&server), 4096 + 8 * size);
	stop(&server);
	close(file);
	close(right);
	close(wrong);
}

static void
only_sealed_memory_is_kept(void **state)
{
	Server		server;
	CsvFileIdentity identity;
	int			file = make_file(10, &identity);
	int			open = csv_memory_file_create("test");
	int			shared = make_memory_file(4096, false);
	CsvFindMessage find;
	size_t		nbytes = set_find(&find, CSV_MESSAGE_KEEP, &identity, 7, 1);
	int			wrong[] = {open, shared, file};

	(void) state;
	start(&server, MEGABYTE);
	for (int i = 0; i < 3; i++)
	{
		assert_true(promise(&server, server.client, 1, 4096));
		assert_true(say(&server, server.client, &find, nbytes, file, wrong[i]));
		assert_int_equal(server.reply.message.done.count, 0);
		assert_int_equal(memory_held(&server), 0);
	}
	/* nor any that no room was taken for */
	assert_false(say(&server, server.client, &find, nbytes, file, open));
	stop(&server);
	close(file);
	close(open);
	close(shared);
}

/* ---- columns in memory files ---- */

static bool
may_take(void *arg, uint64_t nbytes)
{
	return nbytes <= *(uint64_t *) arg;
}

/* what a store has of a batch is the batch */
static void
expect_batch(const CsvStore *store, const CsvBatch *batch, const CsvLayout *layout,
			 const CsvDialect *dialect)
{
	CsvArray	arrays[8];
	CsvResidentBatch kept;

	assert_int_equal(csv_store_nbatches(store), 1);
	assert_int_equal(csv_store_nrows(store), batch->nrows);
	assert_true(csv_store_batch(store, 0, arrays, &kept));
	assert_int_equal(kept.batch.nrows, batch->nrows);
	assert_int_equal(kept.batch.nerrors, batch->nerrors);
	for (uint32_t i = 0; i < layout->ncolumns; i++)
		for (uint32_t row = 0; row < batch->nrows; row++)
		{
			const CsvArray *array = &batch->arrays[i];
			uint8_t		status = array->all_ok ? CSV_VALUE_OK :
				array->status[row];

			assert_int_equal(arrays[i].all_ok ? CSV_VALUE_OK :
							 arrays[i].status[row], status);
			if (status == CSV_VALUE_OK && layout->columns[i].kind == CSV_KIND_INT4)
				assert_memory_equal(arrays[i].values + (size_t) row *
									arrays[i].stride, array->values +
									(size_t) row * array->stride, 4);
			if (status == CSV_VALUE_DOUBTFUL)
			{
				CsvScan		scan;
				uint32_t	place = kept.batch.row_offsets[row];

				memset(&scan, 0, sizeof(scan));
				assert_int_equal(csv_scan_record(&scan, &reading_memory, dialect,
												 CSV_NORMAL, kept.batch.bytes,
												 place, kept.batch.nbytes, true),
								 CSV_OK);
				assert_memory_equal(kept.batch.bytes + place,
									batch->bytes + batch->row_offsets[row],
									scan.end - place);
				free(scan.separators);
			}
		}
	for (uint32_t i = 0; i < batch->nerrors; i++)
	{
		assert_int_equal(kept.batch.errors[i].code, batch->errors[i].code);
		assert_int_equal(kept.error_places[i], batch->errors[i].offset);
	}
}

/* a file of two fields, of which the last one or both are kept */
static void
expect_file(const char *text, uint32_t ncolumns, bool any_slow)
{
	CsvDialectOptions options = {.delimiter = ',',.quote = '"',.multiline = true,
		.boundary = CSV_BOUNDARY_LF
	};
	CsvColumn	columns[2] = {
		column_of(CSV_KIND_INT4, 0), column_of(CSV_KIND_TEXT, 1)
	};
	CsvLayout	layout = {.nfields = 2,.ncolumns = ncolumns,.columns = columns + 2 - ncolumns,
		.want_positions = true,.null_bytes = (const uint8_t *) ""
	};
	CsvCpuOptions cpu = {.isa = CSV_ISA_BEST};
	void	   *engine = csv_cpu_open(&reading_memory, &cpu);
	uint8_t    *bytes = calloc(1, strlen(text) + 256);
	uint64_t	limit = MEGABYTE;
	int			file = csv_memory_file_create("test");
	CsvDialect	dialect;
	CsvInput	input;
	CsvBatch	batch;
	CsvStoreWriter *writer;
	CsvStoreSummary summary;
	CsvStore   *store;

	columns[0].attnum = 1;
	columns[1].attnum = 2;
	csv_dialect_compile(&dialect, &options);
	memcpy(bytes + 64, text, strlen(text));
	memset(&input, 0, sizeof(input));
	input.bytes = bytes + 64;
	input.nbytes = strlen(text);
	input.max_record_bytes = 1000;
	input.at_end = true;
	assert_int_equal(csv_cpu_engine.configure(engine, &dialect, &layout), CSV_OK);
	assert_int_equal(csv_cpu_engine.parse(engine, &input, &batch), CSV_OK);
	assert_int_equal(batch.nerrors, 2);
	assert_int_equal(batch.arrays[0].any_slow, any_slow);

	writer = csv_store_begin(&reading_memory, file, &dialect, &layout);
	limit = 10;
	assert_false(csv_store_add(writer, &batch, may_take, &limit));
	csv_store_free(writer);
	limit = MEGABYTE;
	writer = csv_store_begin(&reading_memory, file, &dialect, &layout);
	assert_true(csv_store_add(writer, &batch, may_take, &limit));
	/* it cannot be read before it is complete */
	assert_null(csv_store_open(&reading_memory, file));
	assert_true(csv_store_finish(writer, may_take, &limit, &summary));
	csv_store_free(writer);
	assert_int_equal(summary.nrows, batch.nrows);
	assert_int_equal(summary.ncolumns, ncolumns);
	assert_true(summary.has_bad_values);
	assert_true(pwrite(file, "x", 1, 0) < 0);
	assert_true(ftruncate(file, 0) < 0);
	store = csv_store_open(&reading_memory, file);
	assert_non_null(store);
	assert_int_equal(csv_store_layout(store)->ncolumns, ncolumns);
	assert_memory_equal(csv_store_dialect(store), &dialect, sizeof(dialect));
	expect_batch(store, &batch, &layout, &dialect);
	csv_store_pass(store, 0);
	expect_batch(store, &batch, &layout, &dialect);
	csv_store_close(store);
	csv_cpu_engine.close(engine);
	free(bytes);
	close(file);
}

static void
columns_come_back_as_they_were(void **state)
{
	static const char text[] =
		"1,a\n2,b\nbad\n 3,\"c, \"\"d\"\"\"\n4,\xc3\xa4\nx,e\n5,f\xff\n,g\n7,h";

	(void) state;
	expect_file(text, 2, true);
	/* somebody may look into a bad record, but into no row */
	expect_file(text, 1, false);
}

static void
damaged_columns_are_refused(void **state)
{
	CsvDialectOptions options = {.delimiter = ',',.quote = '"'};
	CsvLayout	layout = {.nfields = 1};
	uint64_t	limit = MEGABYTE;
	int			file = csv_memory_file_create("test");
	uint8_t		bytes[4096];
	CsvDialect	dialect;
	CsvStoreWriter *writer;
	CsvStoreSummary summary;
	ssize_t		nbytes;

	(void) state;
	csv_dialect_compile(&dialect, &options);
	writer = csv_store_begin(&reading_memory, file, &dialect, &layout);
	assert_true(csv_store_finish(writer, may_take, &limit, &summary));
	csv_store_free(writer);
	nbytes = pread(file, bytes, sizeof(bytes), 0);
	assert_true(nbytes > 0);
	for (int at = 0; at < nbytes * 8; at++)
	{
		int			copy = csv_memory_file_create("test");
		CsvStore   *store;

		bytes[at / 8] ^= (uint8_t) (1 << at % 8);
		assert_int_equal(pwrite(copy, bytes, (size_t) nbytes, 0), nbytes);
		bytes[at / 8] ^= (uint8_t) (1 << at % 8);
		assert_null(csv_store_open(&reading_memory, copy));
		assert_true(csv_memory_file_seal(copy, true));
		store = csv_store_open(&reading_memory, copy);
		/* if it is taken, all that it says is there */
		for (uint32_t i = 0; store != NULL && i < csv_store_nbatches(store); i++)
		{
			CsvArray	arrays[8];
			CsvResidentBatch batch;

			if (csv_store_layout(store)->ncolumns <= 8)
				(void) csv_store_batch(store, i, arrays, &batch);
		}
		if (store != NULL)
			csv_store_close(store);
		close(copy);
	}
	close(file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_is_served_before_hello),
		cmocka_unit_test(columns_answer_queries_for_fewer_of_them),
		cmocka_unit_test(a_file_is_what_it_is_now),
		cmocka_unit_test(what_was_not_used_for_longest_goes_first),
		cmocka_unit_test(what_a_client_holds_goes_with_it),
		cmocka_unit_test(tables_let_go_one_by_one),
		cmocka_unit_test(groupings_are_shared_and_few),
		cmocka_unit_test(only_sealed_memory_is_kept),
		cmocka_unit_test(columns_come_back_as_they_were),
		cmocka_unit_test(damaged_columns_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
