/*
 * test_service.c
 *		What csv_gpu_service does with messages (src/service), without its sockets.
 *
 * Each test ends with everything let go of: no memory counts any more, and the
 * process has as many descriptors as before.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* F_ADD_SEALS */
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#ifdef CSV_WITH_CUDA
#include "../../src/service/device.h"
#endif
#include "../../src/service/serve.h"
#include "../../src/wire/store.h"
#include "rounds.h"

#define LIMIT		UINT64_C(1000000)
#define NUM_FILES	3

/* ---- two clients and some files ---- */

static CsvClient *alice;
static CsvClient *bob;
static int	files[NUM_FILES];
static int	ndescriptors;		/* before the test */

static CsvServiceReply reply;	/* to the last message */

static int
count_descriptors(void)
{
	DIR		   *directory = opendir("/proc/self/fd");
	const struct dirent *entry;
	int			n = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL)
	{
		char		target[64] = "";
		ssize_t		nbytes = readlinkat(dirfd(directory), entry->d_name, target,
										sizeof(target) - 1);

		/* files and sockets; a GPU's driver has devices, pipes and /proc open */
		n += nbytes > 0 && (strncmp(target, "/tmp/", 5) == 0 ||
							strncmp(target, "/memfd:", 7) == 0 ||
							strncmp(target, "socket:", 7) == 0);
	}
	closedir(directory);
	return n;
}

static void
set_limit(uint64_t nbytes)
{
	CsvLimitsMessage limits = {.kind = CSV_MESSAGE_LIMITS,.resident_bytes = nbytes};

	csv_service_set_limits(&limits);
}

/* false: the client would be let go of */
static bool
tell(CsvClient *client, const void *message, size_t nbytes,
	 CsvDescriptors *descriptors)
{
	CsvDescriptors none = {0};
	CsvMessage	copy;

	memset(&copy, 0xaa, sizeof(copy));
	memcpy(&copy, message, nbytes);
	return csv_client_handle(client, &copy, nbytes,
							 descriptors == NULL ? &none : descriptors, &reply);
}

static bool
say_hello(CsvClient *client, uint32_t version, uint64_t build)
{
	CsvHelloMessage hello = {.kind = CSV_MESSAGE_HELLO,.version = version,.build = build};

	return tell(client, &hello, sizeof(hello), NULL);
}

static CsvClient *
new_client(void)
{
	CsvClient  *client = csv_client_create();

	assert_non_null(client);
	assert_true(say_hello(client, CSV_WIRE_VERSION, csv_wire_build()));
	return client;
}

/* a GPU's driver opens descriptors in threads of its own until devices are awake */
int
before_all(void **state)
{
	(void) state;
#ifdef CSV_WITH_CUDA
	for (int i = 0; i < 10000; i++)
	{
		const char *name;
		CsvDeviceState its = csv_devices_state(CSV_ANY_DEVICE, &name);

		if (its == CSV_DEVICE_NONE || its == CSV_DEVICE_AWAKE)
			break;
		csv_devices_wake(CSV_ANY_DEVICE);
		usleep(1000);
	}
#endif
	return 0;
}

int
before_each(void **state)
{
	(void) state;
	ndescriptors = count_descriptors();
	for (int i = 0; i < NUM_FILES; i++)
	{
		char		path[] = "/tmp/csv_test_service.XXXXXX";

		files[i] = mkstemp(path);
		unlink(path);
	}
	set_limit(LIMIT);
	alice = new_client();
	bob = new_client();
	return 0;
}

/* what the program says of the host */
static CsvStatistics
host(void)
{
	CsvClient  *client = new_client();
	uint32_t	kind = CSV_MESSAGE_STATISTICS;

	assert_true(tell(client, &kind, sizeof(kind), NULL));
	csv_client_free(client);
	assert_true(reply.message.statistics.n >= 1);	/* those of devices follow */
	return reply.message.statistics.of[0];
}

static uint64_t
held(void)
{
	return host().memory_held;
}

int
after_each(void **state)
{
	(void) state;
	if (alice != NULL)
		csv_client_free(alice);
	if (bob != NULL)
		csv_client_free(bob);
	set_limit(0);
	assert_int_equal(held(), 0);
	assert_true(csv_service_is_empty());
	for (int i = 0; i < NUM_FILES; i++)
		close(files[i]);
	assert_int_equal(count_descriptors(), ndescriptors);
	return 0;
}

/* ---- messages ---- */

static CsvFileIdentity
identity_of(int file)
{
	struct stat st;

	assert_int_equal(fstat(file, &st), 0);
	return csv_file_identity(&st);
}

static int
memory_file(size_t nbytes, bool is_constant)
{
	int			file = csv_memory_file_create("test");

	assert_int_equal(ftruncate(file, (off_t) nbytes), 0);
	assert_true(csv_memory_file_seal(file, is_constant));
	return file;
}

/* columns "1 2 3": those; with d behind one: as decimals; p: with positions */
static void
set_wanted(CsvWanted *wanted, const char *columns)
{
	memset(wanted, 0, sizeof(*wanted));
	for (; *columns != '\0'; columns++)
		if (*columns == 'p')
			wanted->positions = 1;
		else if (*columns == 'd')
			wanted->columns[wanted->ncolumns - 1].decimal = 1;
		else if (*columns != ' ')
			wanted->columns[wanted->ncolumns++].attnum = (int16_t) (*columns - '0');
}

static size_t
set_find(CsvFindMessage *find, uint32_t kind, int file, const char *columns)
{
	memset(find, 0, sizeof(*find));
	find->kind = kind;
	find->nrows = 10;
	find->user = (CsvTableName) {.database = 1,.table = 2,.filename = "a.csv"};
	find->file = identity_of(file);
	set_wanted(&find->wanted, columns);
	return CSV_WANTED_BYTES(CsvFindMessage, find->wanted.ncolumns);
}

static bool
send_find(CsvClient *client, const CsvFindMessage *find, int file)
{
	CsvDescriptors with = {1, {file}};

	return tell(client, find, CSV_WANTED_BYTES(CsvFindMessage, find->wanted.ncolumns),
				&with);
}

/* the number of the set that is found, with a pin; 0: none */
static uint64_t
find(CsvClient *client, int file, const char *columns)
{
	CsvFindMessage message;

	(void) set_find(&message, CSV_MESSAGE_FIND, file, columns);
	assert_true(send_find(client, &message, file));
	assert_int_equal(reply.nbytes, sizeof(CsvFoundMessage));
	assert_int_equal(reply.descriptors.n, reply.message.found.found);
	assert_false(reply.close);
	return reply.message.found.set;
}

static bool
release(CsvClient *client, uint64_t set)
{
	CsvSetMessage message = {.kind = CSV_MESSAGE_RELEASE,.set = set};

	return tell(client, &message, sizeof(message), NULL);
}

/* is there one?  Without a pin */
static bool
has(int file, const char *columns)
{
	CsvLookMessage look;

	memset(&look, 0, sizeof(look));
	look.kind = CSV_MESSAGE_LOOK;
	look.nfiles = 1;
	look.files[0] = identity_of(file);
	set_wanted(&look.wanted, columns);
	assert_true(tell(bob, &look, CSV_WANTED_BYTES(CsvLookMessage, look.wanted.ncolumns),
					 NULL));
	return reply.message.found.found != 0;
}

/* for columns that were promised so many bytes before */
static bool
room(CsvClient *client, uint64_t before, uint64_t nbytes, uint64_t read_bytes,
	 uint64_t file_bytes)
{
	CsvRoomMessage message = {
		CSV_MESSAGE_ROOM, 0, before, nbytes, read_bytes, file_bytes
	};

	assert_true(tell(client, &message, sizeof(message), NULL));
	assert_int_equal(reply.nbytes, nbytes == 0 ? 0 : sizeof(CsvDoneMessage));
	return nbytes > 0 && reply.message.done.count != 0;
}

/* the descriptor is closed in any case, where it is not kept */
static bool
send_keep(CsvClient *client, const CsvFindMessage *keep, int file, int columns)
{
	CsvDescriptors with = {2, {dup(file), columns}};
	bool		good = tell(client, keep, CSV_WANTED_BYTES(CsvFindMessage,
														   keep->wanted.ncolumns), &with);
	bool		kept = good && reply.message.done.count != 0;

	assert_int_equal(with.n, kept ? 1 : 2);
	csv_wire_close(&with);
	return kept;
}

static bool
keep(int file, const char *columns, size_t nbytes)
{
	CsvFindMessage message;

	(void) set_find(&message, CSV_MESSAGE_KEEP, file, columns);
	message.promised = nbytes == 0 ? 1 : nbytes;
	return room(alice, 0, message.promised, 1, 1) &&
		send_keep(alice, &message, file, memory_file(nbytes, true));
}

static uint32_t
forget(bool all, uint64_t set, uint32_t table)
{
	CsvForgetMessage message = {CSV_MESSAGE_FORGET, all, set, 1, table};

	assert_true(tell(bob, &message, sizeof(message), NULL));
	return reply.message.done.count;
}

/* ---- which messages are heard ---- */

TEST(hello_comes_first)
{
	CsvClient  *client = csv_client_create();
	CsvStatisticsMessage message = {.kind = CSV_MESSAGE_STATISTICS};

	assert_false(tell(client, &message, sizeof(message.kind), NULL));
	assert_true(say_hello(client, CSV_WIRE_VERSION + 1, csv_wire_build()));
	assert_int_equal(reply.message.hello.version, CSV_WIRE_VERSION);
	assert_false(tell(client, &message, sizeof(message.kind), NULL));
	assert_true(say_hello(client, CSV_WIRE_VERSION, csv_wire_build() + 1));
	assert_false(tell(client, &message, sizeof(message.kind), NULL));
	assert_true(say_hello(client, CSV_WIRE_VERSION, csv_wire_build()));
	assert_true(tell(client, &message, sizeof(message.kind), NULL));
	csv_client_free(client);

	/* one of another build may have it end */
	client = csv_client_create();
	message.kind = CSV_MESSAGE_RETIRE;
	assert_false(csv_service_is_retired());
	assert_true(tell(client, &message, sizeof(message.kind), NULL));
	assert_int_equal(reply.nbytes, 0);
	assert_true(csv_service_is_retired());
	csv_client_free(client);
}

/* any kind, with any number of bytes and of descriptors, of nothing but one byte */
TEST(messages_of_wrong_sizes_are_refused)
{
	static const uint8_t fills[] = {0, 1, 0xff};
	CsvMessage	message;

	for (uint32_t kind = 0; kind < CSV_NUM_MESSAGE_KINDS + 3; kind++)
		for (size_t nbytes = 0; nbytes <= sizeof(message); nbytes += nbytes < 300 ? 1 : 997)
			for (int n = 0; n <= CSV_WIRE_DESCRIPTORS; n++)
			{
				CsvClient  *client = new_client();
				CsvDescriptors with = {
					n, {dup(files[0]), dup(files[1]), dup(files[0])}
				};

				for (int i = n; i < CSV_WIRE_DESCRIPTORS; i++)
					close(with.files[i]);
				memset(&message, fills[nbytes % LENGTH(fills)], sizeof(message));
				message.kind = kind;
				if (!csv_client_handle(client, &message, nbytes, &with, &reply))
					assert_int_equal(reply.nbytes, 0);
				if (reply.close)
					csv_wire_close(&reply.descriptors);
				csv_wire_close(&with);
				csv_client_free(client);
			}
	assert_int_equal(held(), 0);
}

TEST(wanted_columns_are_checked)
{
	CsvDescriptors with = {1, {files[0]}};
	CsvFindMessage message;

	(void) set_find(&message, CSV_MESSAGE_FIND, files[0], "12");
	assert_true(send_find(alice, &message, files[0]));
	for (uint32_t n = 0; n < 4; n++)
	{
		message.wanted.ncolumns = n;
		assert_int_equal(tell(alice, &message, CSV_WANTED_BYTES(CsvFindMessage, 2), &with),
						 n == 2);
	}
	message.wanted.ncolumns = UINT32_MAX;
	assert_false(tell(alice, &message, CSV_WANTED_BYTES(CsvFindMessage, 2), &with));
	(void) set_find(&message, CSV_MESSAGE_FIND, files[0], "12");
	memset(message.user.filename, 'a', CSV_NAME_BYTES);
	assert_false(send_find(alice, &message, files[0]));
}

/* a message of no bytes looks like the end of the connection */
TEST(descriptors_without_a_message_are_closed)
{
	CsvDescriptors with = {2, {files[0], files[1]}};
	CsvDescriptors came;
	CsvMessage	message;
	int			ends[2];
	int			n;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	n = count_descriptors();
	assert_true(csv_wire_send(ends[0], &message, 0, &with));
	assert_int_equal(csv_wire_receive(ends[1], &message, sizeof(message), &came), 0);
	assert_int_equal(count_descriptors(), n);
	assert_true(csv_wire_send(ends[0], &n, 3, &with));
	assert_int_equal(csv_wire_receive(ends[1], &message, sizeof(message), &came), -1);
	assert_int_equal(errno, EBADMSG);
	assert_int_equal(count_descriptors(), n);
	assert_int_equal(csv_wire_receive(ends[1], &message, sizeof(message), &came), -1);
	assert_int_equal(errno, EAGAIN);
	close(ends[0]);
	close(ends[1]);
}

/* ---- which columns answer which query ---- */

TEST(columns_answer_queries)
{
	CsvFindMessage message;
	CsvCounts	before = host().counts;
	uint64_t	set;

	assert_int_equal(find(alice, files[0], "1"), 0);
	assert_true(keep(files[0], "1 2d 3p", 5000));
	set = find(alice, files[0], "1 2d 3p");
	assert_true(set != 0);
	assert_int_equal(reply.message.found.nrows, 10);
	assert_int_equal(csv_memory_file_size(reply.descriptors.files[0], true), 5000);
	assert_int_equal(find(bob, files[0], "1"), set);
	assert_int_equal(find(bob, files[0], "3 2p"), set);
	assert_int_equal(find(bob, files[0], ""), set);
	assert_int_equal(find(bob, files[0], "4"), 0);
	assert_int_equal(find(bob, files[0], "1d"), 0);
	assert_int_equal(find(bob, files[1], "1"), 0);
	assert_int_equal(host().counts.resident_hits - before.resident_hits, 4);
	assert_int_equal(host().counts.resident_misses - before.resident_misses, 4);

	/* another declaration; another file than the client says */
	(void) set_find(&message, CSV_MESSAGE_FIND, files[0], "1");
	message.wanted.declaration[31] = 1;
	assert_true(send_find(bob, &message, files[0]));
	assert_int_equal(reply.message.found.found, 0);
	(void) set_find(&message, CSV_MESSAGE_FIND, files[0], "1");
	assert_true(send_find(bob, &message, files[1]));
	assert_int_equal(reply.message.found.found, 0);

	/* without positions; more columns take the place of fewer */
	assert_true(keep(files[1], "1", 100));
	assert_false(has(files[1], "1p"));
	assert_true(keep(files[1], "1 2", 100));

	/* the table's name is the second file's now */
	assert_int_equal(forget(true, 0, 0), 1);
}

TEST(bad_values_take_the_same_columns)
{
	CsvFindMessage message;

	(void) set_find(&message, CSV_MESSAGE_KEEP, files[0], "1 2p");
	message.has_bad_values = 1;
	message.promised = 100;
	assert_true(room(alice, 0, 100, 1, 1));
	assert_true(send_keep(alice, &message, files[0], memory_file(100, true)));
	assert_true(has(files[0], "2 1"));
	assert_true(has(files[0], "1 2p"));
	assert_false(has(files[0], "1"));
	assert_false(has(files[0], "1 2 3"));
	assert_false(has(files[0], ""));
}

/* ---- what is kept ---- */

TEST(only_proper_files_are_kept)
{
	CsvFindMessage message;
	uint64_t	before = held();
	int			file;

	(void) set_find(&message, CSV_MESSAGE_KEEP, files[0], "1");
	message.promised = 100;

	/* without the room that it says, the client is to go */
	assert_false(send_keep(alice, &message, files[0], memory_file(100, true)));
	assert_true(room(alice, 0, 100, 1, 1));
	assert_false(send_keep(alice, &message, files[0], memory_file(100, false)));
	assert_true(room(alice, 0, 100, 1, 1));
	assert_false(send_keep(alice, &message, files[0], open("/dev/null", O_RDWR)));
	assert_true(room(alice, 0, 100, 1, 1));
	assert_false(send_keep(alice, &message, files[0], dup(files[0])));
	assert_true(room(alice, 0, 100, 1, 1));
	assert_false(send_keep(alice, &message, files[1], memory_file(100, true)));
	assert_true(room(alice, 0, 100, 1, 1));
	assert_false(send_keep(alice, &message, files[0], memory_file(LIMIT + 1, true)));

	/* one that can still grow; memory behind its end; too many rows to count */
	file = csv_memory_file_create("test");
	assert_int_equal(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE), 0);
	assert_true(room(alice, 0, 100, 1, 1));
	assert_false(send_keep(alice, &message, files[0], file));
	file = csv_memory_file_create("test");
	assert_int_equal(fallocate(file, FALLOC_FL_KEEP_SIZE, 0, LIMIT), 0);
	assert_true(csv_memory_file_seal(file, true));
	assert_true(room(alice, 0, 100, 1, 1));
	assert_false(send_keep(alice, &message, files[0], file));
	message.nrows = UINT64_MAX;
	assert_true(room(alice, 0, 100, 1, 1));
	assert_false(send_keep(alice, &message, files[0], memory_file(100, true)));
	assert_int_equal(held(), before);
	assert_int_equal(before, 0);
}

TEST(changed_and_replaced_files_go)
{
	CsvFindMessage message;
	uint64_t	set;

	assert_true(keep(files[0], "1", 100));
	set = find(alice, files[0], "1");
	assert_int_equal(write(files[0], "x", 1), 1);
	assert_false(has(files[0], "1"));
	assert_true(held() > 0);
	assert_int_equal(find(bob, files[0], "1"), 0);

	/* in use, it is held until it is released */
	assert_true(held() > 0);
	assert_true(release(alice, set));
	assert_int_equal(held(), 0);
	assert_false(release(alice, set));

	/* another file of the same name; of another name; and used by another table */
	assert_true(keep(files[0], "1", 100));
	(void) set_find(&message, CSV_MESSAGE_FIND, files[1], "1");
	strcpy(message.user.filename, "b.csv");
	assert_true(send_find(bob, &message, files[1]));
	assert_true(has(files[0], "1"));
	message = (CsvFindMessage) {0};
	(void) set_find(&message, CSV_MESSAGE_FIND, files[0], "1");
	message.user.table = 3;
	assert_true(send_find(bob, &message, files[0]));
	assert_true(release(bob, reply.message.found.set));
	assert_int_equal(find(bob, files[1], "1"), 0);
	assert_true(has(files[0], "1"));
	message.file = identity_of(files[1]);
	assert_true(send_find(bob, &message, files[1]));
	assert_false(has(files[0], "1"));
	assert_int_equal(held(), 0);
}

/* ---- room ---- */

TEST(what_was_used_last_stays)
{
	uint64_t	set;

	for (int i = 0; i < NUM_FILES; i++)
	{
		CsvFindMessage message;

		(void) set_find(&message, CSV_MESSAGE_KEEP, files[i], "1");
		message.user.table = 10 + (uint32_t) i;
		message.promised = LIMIT / 4;
		assert_true(room(alice, 0, LIMIT / 4, 1, 1));
		assert_true(send_keep(alice, &message, files[i], memory_file(LIMIT / 4, true)));
		assert_true(release(alice, find(alice, files[i], "1")));
		if (i < 2)
			assert_true(ftruncate(files[2], 0) == 0);
	}

	/* the name that find() says is now files[2]'s; the first is used again */
	set = find(bob, files[0], "1");
	assert_true(set != 0);
	assert_true(has(files[1], "1") && has(files[2], "1"));
	assert_true(room(alice, 0, LIMIT / 2, 1, 1));
	assert_true(has(files[0], "1") && !has(files[1], "1"));
	assert_true(held() <= LIMIT);

	/* what is in use does not go for others, but for nobody */
	assert_false(room(alice, LIMIT / 2, LIMIT - 1000, 1, 1));
	assert_true(has(files[0], "1") && !has(files[2], "1"));
	assert_true(release(bob, set));
	assert_true(room(alice, LIMIT / 2, LIMIT - 1000, 1, 1));
	assert_false(has(files[0], "1"));
	assert_int_equal(held(), LIMIT - 1000);
}

TEST(promises_are_given_back)
{
	CsvRoomMessage message = {.kind = CSV_MESSAGE_ROOM,.before = 1,.nbytes = 2};

	assert_false(tell(alice, &message, sizeof(message), NULL));
	assert_true(room(alice, 0, 1000, 1, 1));
	assert_true(room(alice, 1000, 3000, 1, 1));
	assert_true(room(alice, 3000, 2000, 1, 1));
	assert_true(room(alice, 0, 500, 1, 1));
	assert_true(room(bob, 0, 400, 1, 1));
	assert_int_equal(held(), 3900);
	assert_false(room(alice, 3000, LIMIT, 1, 1));
	assert_false(room(alice, 3000, UINT64_MAX, 1, 1));
	assert_int_equal(held(), 3900);
	(void) room(alice, 3000, 0, 0, 0);
	assert_int_equal(held(), 900);
	message.nbytes = 0;
	message.before = 501;
	assert_false(tell(alice, &message, sizeof(message), NULL));
	csv_client_free(alice);
	alice = NULL;
	assert_int_equal(held(), 400);
}

/* others need not make room for what will be too large anyway */
TEST(large_files_drive_nobody_out)
{
	assert_true(keep(files[0], "1", LIMIT / 2));
	assert_false(room(alice, 0, LIMIT * 6 / 10, 10, 100));
	assert_true(has(files[0], "1"));
	assert_true(room(alice, 0, LIMIT * 6 / 10, 10, 10));
	assert_false(has(files[0], "1"));
}

TEST(limits_may_be_lowered)
{
	uint64_t	set;

	assert_true(keep(files[0], "1", LIMIT / 2));
	set = find(bob, files[0], "1");
	assert_true(keep(files[1], "1", 1000));
	set_limit(LIMIT / 4);
	assert_true(has(files[0], "1") && !has(files[1], "1"));
	assert_int_equal(host().memory_limit, LIMIT / 4);

	/* it holds as soon as it can */
	assert_true(release(bob, set));
	assert_int_equal(held(), 0);
	set_limit(0);
	assert_false(room(alice, 0, 1, 1, 1));
}

/* columns of no bytes take some, too */
TEST(many_sets_stay_within_the_limit)
{
	CsvFindMessage message;

	for (uint32_t i = 0; i < 3000; i++)
	{
		(void) set_find(&message, CSV_MESSAGE_KEEP, files[0], "1");
		memcpy(message.wanted.declaration, &i, sizeof(i));
		message.promised = 1;
		assert_true(room(alice, 0, 1, 1, 1));
		assert_true(send_keep(alice, &message, files[0], memory_file(0, true)));
	}
	assert_true(held() <= LIMIT);
	assert_true(count_descriptors() < ndescriptors + 600);
	assert_true(forget(true, 0, 0) > 100);
	assert_int_equal(held(), 0);
}

/* ---- groupings ---- */

static int
grouping(CsvClient *client, uint64_t set, int16_t attnum, int file)
{
	CsvGroupingMessage message = {.kind = CSV_MESSAGE_GROUPING,.nkeys = 1,.set = set};
	CsvDescriptors with = {file >= 0 ? 1 : 0, {file}};

	message.keys[0].attnum = attnum;
	if (!tell(client, &message, sizeof(message), &with))
		return -1;
	csv_wire_close(&with);
	return reply.descriptors.n > 0 ? 2 : (int) reply.message.done.count;
}

TEST(groupings_belong_to_sets)
{
	const size_t nbytes = sizeof(uint32_t) * 11;
	CsvFindMessage message;
	uint64_t	set;
	int			file;

	assert_true(keep(files[0], "1", 1000));
	assert_int_equal(grouping(alice, 1, 1, -1), -1);	/* not pinned */
	set = find(alice, files[0], "1");

	/* by its number, as processes do that share a scan */
	(void) set_find(&message, CSV_MESSAGE_FIND, files[0], "1");
	message.set = set;
	assert_true(send_find(bob, &message, files[0]));
	assert_int_equal(reply.message.found.set, set);
	message.set++;
	assert_true(send_find(bob, &message, files[0]));
	assert_int_equal(reply.message.found.found, 0);
	assert_true(release(bob, set));
	assert_int_equal(grouping(alice, set, 1, -1), 1);
	assert_int_equal(grouping(alice, set, 1, memory_file(nbytes + 4, false)), 1);
	assert_int_equal(grouping(alice, set, 1, memory_file(nbytes, true)), 1);
	file = csv_memory_file_create("test");
	assert_int_equal(ftruncate(file, (off_t) nbytes), 0);
	assert_int_equal(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(grouping(alice, set, 1, file), 1);
	for (int16_t i = 1; i <= 8; i++)
		assert_int_equal(grouping(alice, set, i, memory_file(nbytes, false)), 2);
	assert_int_equal(grouping(alice, set, 9, -1), 0);
	assert_int_equal(grouping(alice, set, 9, memory_file(nbytes, false)), 0);
	assert_int_equal(find(bob, files[0], "1"), set);
	assert_int_equal(grouping(bob, set, 8, -1), 2);
	assert_int_equal(grouping(bob, set, 8, memory_file(nbytes, false)), 2);

	/* one that is forgotten has them until it goes */
	assert_int_equal(forget(true, 0, 0), 1);
	assert_int_equal(grouping(bob, set, 8, -1), 2);
	assert_true(release(bob, set));
	assert_true(release(alice, set));
	assert_int_equal(held(), 0);
}

/* ---- users and lists ---- */

static uint32_t
list(uint32_t database)
{
	CsvListMessage message = {CSV_MESSAGE_LIST, database};

	assert_true(tell(bob, &message, sizeof(message), NULL));
	assert_true(reply.close && reply.descriptors.n == 1);
	assert_true(csv_memory_file_size(reply.descriptors.files[0], true) >=
				(int64_t) (sizeof(CsvListEntry) * reply.message.listed.nentries));
	csv_wire_close(&reply.descriptors);
	return reply.message.listed.nentries;
}

TEST(tables_use_sets)
{
	uint64_t	set;

	assert_int_equal(list(1), 0);
	assert_true(keep(files[0], "1", 1000));
	set = find(alice, files[0], "1");
	for (uint32_t i = 0; i < 40; i++)
	{
		CsvFindMessage message;

		(void) set_find(&message, CSV_MESSAGE_FIND, files[0], "1");
		message.user.table = 100 + i;
		assert_true(send_find(bob, &message, files[0]));
		assert_int_equal(list(1), i + 2 < 16 ? i + 2 : 16);
	}
	assert_int_equal(list(2), 0);
	for (uint32_t i = 0; i < 39; i++)
		assert_int_equal(forget(false, set, 100 + i), 0);
	assert_int_equal(forget(false, set + 1, 139), 0);
	assert_int_equal(forget(false, set, 139), 1);
	assert_int_equal(list(1), 0);
	assert_true(held() > 0);
	csv_client_free(bob);
	bob = NULL;
	assert_true(held() > 0);	/* with the last pin only */
	assert_true(release(alice, set));
	assert_int_equal(held(), 0);
}

/* ---- a file that grows ---- */

static bool
keep_stretch(int file, uint64_t from, uint64_t to, const char *columns)
{
	CsvFindMessage message;

	(void) set_find(&message, CSV_MESSAGE_KEEP, file, columns);
	message.grows = 1;
	message.stretch.from.offset = from;
	message.stretch.to.offset = to;
	message.promised = 100;
	return room(alice, 0, 100, 1, 1) &&
		send_keep(alice, &message, file, memory_file(100, true));
}

/* where the stretch ends that is found from an offset on; 0: none is found */
static uint64_t
find_stretch(int file, uint64_t from, const char *columns)
{
	CsvFindMessage message;
	uint64_t	to;

	(void) set_find(&message, CSV_MESSAGE_FIND, file, columns);
	message.grows = 1;
	message.stretch.from.offset = from;
	assert_true(send_find(alice, &message, file));
	if (!reply.message.found.found)
		return 0;
	assert_int_equal(reply.message.found.stretch.from.offset, from);
	to = reply.message.found.stretch.to.offset;
	assert_true(release(alice, reply.message.found.set));
	return to;
}

TEST(stretches_of_a_file)
{
	int			file = files[0];

	assert_int_equal(ftruncate(file, 1000), 0);
	assert_false(keep_stretch(file, 0, 0, "12"));
	assert_false(keep_stretch(file, 500, 400, "12"));
	assert_int_equal(find_stretch(file, 0, "12"), 0);
	assert_true(keep_stretch(file, 0, 1000, "12"));
	assert_int_equal(find_stretch(file, 0, "12"), 1000);
	assert_int_equal(find_stretch(file, 0, "2"), 1000);
	assert_int_equal(find_stretch(file, 0, "3"), 0);
	assert_int_equal(find_stretch(file, 1000, "12"), 0);
	assert_true(has(file, "12"));

	/* these are not columns of the whole file, nor the other way round */
	assert_int_equal(find(alice, file, "12"), 0);

	/* it becomes longer, and what is there still counts */
	assert_int_equal(ftruncate(file, 1100), 0);
	assert_int_equal(find_stretch(file, 0, "12"), 1000);
	assert_true(has(file, "12"));
	assert_true(keep_stretch(file, 1000, 1100, "12"));
	assert_int_equal(find_stretch(file, 1000, "12"), 1100);

	/* a short stretch is read again, with the bytes behind it, if any must be read */
	assert_int_equal(ftruncate(file, 1150), 0);
	assert_int_equal(find_stretch(file, 1000, "12"), 1100);
	assert_int_equal(ftruncate(file, 1300), 0);
	assert_false(has(file, "12"));
	assert_int_equal(find_stretch(file, 0, "12"), 1000);
	assert_int_equal(find_stretch(file, 1000, "12"), 0);
	assert_true(keep_stretch(file, 1000, 1300, "12"));
	assert_int_equal(find_stretch(file, 1000, "12"), 1300);
	assert_true(has(file, "12"));
	assert_int_equal(forget(true, 0, 0), 2);

	/* of a file that became shorter, nothing is found */
	assert_true(keep_stretch(file, 0, 1000, "12"));
	assert_true(keep_stretch(file, 1000, 1300, "12"));
	assert_int_equal(ftruncate(file, 900), 0);
	assert_int_equal(find_stretch(file, 0, "12"), 0);
	assert_false(has(file, "12"));
	assert_int_equal(forget(true, 0, 0), 0);

	/* the whole file, which grows no more, replaces its stretches */
	assert_true(keep_stretch(file, 0, 900, "12"));
	assert_true(keep(file, "12", 100));
	assert_int_equal(find_stretch(file, 0, "12"), 0);
	assert_int_not_equal(find(alice, file, "12"), 0);
}
