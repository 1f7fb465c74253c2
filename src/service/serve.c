/*
 * serve.c
 *		Checks messages, and does what they say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpus.h"
#include "reader/arrays.h"
#include "serve.h"
#include "wire/store.h"

#define MOST_PINS		4096	/* of one client */

/* what all clients share */
static CsvLimitsMessage limits;
static bool retired = false;
static int64_t since;			/* microseconds since 1970 */
static uint64_t hits = 0;
static uint64_t misses = 0;

struct CsvClient
{
	bool		is_known;		/* has said hello */
	CsvSet	  **pins;			/* sets that it uses */
	uint32_t	npins;
	uint32_t	capacity;
	uint64_t	promised;		/* bytes for columns that it makes */
};

/* a message, and what goes with it */
typedef struct Call
{
	CsvClient  *client;
	const CsvMessage *message;
	size_t		nbytes;
	CsvDescriptors *descriptors;
	CsvServiceReply *reply;
} Call;

void
csv_service_begin(void)
{
	since = csv_now_microseconds();
}

void
csv_service_set_limits(const CsvLimitsMessage *message)
{
	limits = *message;
	csv_sets_limit(limits.resident_bytes);
	if (csv_gpus != NULL)
		csv_gpus->set_limits(&limits);
}

static bool
any_scan(void)
{
	return csv_gpus != NULL && csv_gpus->count_scans() > 0;
}

bool
csv_service_is_empty(void)
{
	return csv_sets_bytes() == 0 && !any_scan();
}

bool
csv_service_is_retired(void)
{
	return retired && !any_scan();
}

/* ---- clients ---- */

CsvClient *
csv_client_create(void)
{
	return calloc(1, sizeof(CsvClient));
}

static void
drop_pin(CsvClient *client, CsvSet **pin)
{
	csv_set_unpin(*pin);
	*pin = client->pins[--client->npins];
}

static void
give_back(CsvClient *client, uint64_t nbytes)
{
	csv_sets_give_back(nbytes);
	client->promised -= nbytes;
}

void
csv_client_free(CsvClient *client)
{
	while (client->npins > 0)
		drop_pin(client, client->pins);
	give_back(client, client->promised);
	csv_free(&csv_thread_memory, client->pins);
	free(client);
}

static CsvSet **
find_pin(const CsvClient *client, uint64_t set)
{
	for (uint32_t i = 0; i < client->npins; i++)
		if (client->pins[i]->number == set)
			return &client->pins[i];
	return NULL;
}

/* ---- checking messages ---- */

/* it must end with its columns */
static bool
is_wanted(const CsvWanted *wanted, size_t before, size_t nbytes)
{
	size_t		least = before + offsetof(CsvWanted, columns);

	return nbytes >= least && wanted->ncolumns <= CSV_MOST_KEPT_COLUMNS &&
		nbytes == least + sizeof(CsvKeyColumn) * wanted->ncolumns;
}

static bool
is_find(const CsvFindMessage *find, size_t nbytes)
{
	return is_wanted(&find->wanted, offsetof(CsvFindMessage, wanted), nbytes) &&
		memchr(find->user.filename, 0, CSV_NAME_BYTES) != NULL;
}

/* is the descriptor the file that the client means?  One that grows may be longer. */
static bool
is_that_file(const CsvFindMessage *find, int descriptor)
{
	const CsvFileIdentity *file = &find->file;
	struct stat st;
	CsvFileIdentity identity;

	if (fstat(descriptor, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	identity = csv_file_identity(&st);
	return find->grows ? identity.device == file->device && identity.inode == file->inode :
		csv_same_file(&identity, file);
}

/* ---- handlers of messages ---- */

static bool
handle_hello(const Call *call)
{
	const CsvHelloMessage *hello = &call->message->hello;
	CsvHelloMessage *answer = &call->reply->message.hello;

	answer->version = CSV_WIRE_VERSION;
	answer->build = csv_wire_build();
	answer->pid = getpid();
	answer->has_cuda = csv_gpus != NULL;
	call->reply->nbytes = sizeof(*answer);
	call->client->is_known = hello->version == answer->version &&
		hello->build == answer->build;
	return true;
}

static bool
handle_retire(const Call *call)
{
	(void) call;
	retired = true;
	return true;
}

static bool
handle_find(const Call *call)
{
	const CsvFindMessage *find = &call->message->find;
	CsvFoundMessage *answer = &call->reply->message.found;
	CsvClient  *client = call->client;
	CsvSet	   *set = NULL;

	if (!is_find(find, call->nbytes) || client->npins == MOST_PINS)
		return false;
	call->reply->nbytes = sizeof(*answer);
	if (csv_grow(&csv_thread_memory, &client->pins, &client->capacity,
				 client->npins + 1, 8, sizeof(CsvSet *)) &&
		is_that_file(find, call->descriptors->files[0]))
		set = csv_sets_find(find);
	if (set == NULL)
	{
		misses += find->set == 0;
		return true;
	}
	/* processes that share a scan count as one */
	hits += find->set == 0;
	client->pins[client->npins++] = set;
	answer->found = 1;
	answer->set = set->number;
	answer->nrows = set->nrows;
	answer->stretch = set->stretch;
	csv_reply_with_file(call->reply, set->file, false);
	return true;
}

static bool
handle_release(const Call *call)
{
	CsvSet	  **pin = find_pin(call->client, call->message->set.set);

	if (pin != NULL)
		drop_pin(call->client, pin);
	return pin != NULL;
}

static bool
handle_look(const Call *call)
{
	const CsvLookMessage *look = &call->message->look;
	CsvFoundMessage *answer = &call->reply->message.found;

	if (!is_wanted(&look->wanted, offsetof(CsvLookMessage, wanted), call->nbytes) ||
		look->nfiles > CSV_MOST_IDENTITIES)
		return false;
	answer->found = 1;
	call->reply->nbytes = sizeof(*answer);
	for (uint32_t i = 0; i < look->nfiles && answer->found; i++)
	{
		answer->found = csv_sets_look(&look->files[i], &look->wanted, &answer->nrows);
	}
	return true;
}

static bool
handle_room(const Call *call)
{
	const CsvRoomMessage *room = &call->message->room;
	CsvClient  *client = call->client;
	bool		may;

	if (room->before > client->promised)
		return false;
	if (room->nbytes == 0)
	{
		give_back(client, room->before);
		return true;
	}
	may = csv_sets_promise(room);
	if (may && room->nbytes > room->before)
		client->promised += room->nbytes - room->before;
	return csv_reply_done(call->reply, may);
}

static bool
handle_keep(const Call *call)
{
	const CsvFindMessage *keep = &call->message->find;
	CsvDescriptors *descriptors = call->descriptors;
	bool		kept;

	if (!is_find(keep, call->nbytes) || keep->promised > call->client->promised)
		return false;
	give_back(call->client, keep->promised);
	kept = is_that_file(keep, descriptors->files[0]) &&
		csv_sets_keep(keep, descriptors->files[1]);
	if (kept)
		descriptors->n = 1;
	return csv_reply_done(call->reply, kept);
}

static bool
handle_grouping(const Call *call)
{
	const CsvGroupingMessage *keys = &call->message->grouping;
	CsvDescriptors *descriptors = call->descriptors;
	CsvSet	  **pin = find_pin(call->client, keys->set);
	bool		may_add = false;
	int			file;

	if (pin == NULL || keys->nkeys == 0 || keys->nkeys > CSV_MOST_GROUPING_KEYS)
		return false;
	if (descriptors->n == 1 &&
		csv_set_add_grouping(*pin, keys, descriptors->files[0]))
		descriptors->n = 0;
	file = csv_set_grouping(*pin, keys, &may_add);
	if (file >= 0)
		csv_reply_with_file(call->reply, file, false);
	return csv_reply_done(call->reply, may_add);
}

static bool
handle_list(const Call *call)
{
	CsvListedMessage *answer = &call->reply->message.listed;
	int			file = csv_memory_file_create("csv_gpu_fdw list");
	int			n;

	if (file < 0)
		return false;
	n = csv_sets_list(call->message->list.database, file);
	csv_reply_with_file(call->reply, file, true);
	if (n < 0 || !csv_memory_file_seal(file, true))
		return false;
	answer->nentries = (uint32_t) n;
	call->reply->nbytes = sizeof(*answer);
	return true;
}

static bool
handle_forget(const Call *call)
{
	return csv_reply_done(call->reply,
						  csv_sets_forget(&call->message->forget));
}

static bool
handle_statistics(const Call *call)
{
	CsvStatisticsMessage *answer = &call->reply->message.statistics;
	CsvStatistics *host = &answer->of[0];

	answer->pid = getpid();
	answer->since = since;
	host->device = -1;
	host->counts.resident_hits = hits;
	host->counts.resident_misses = misses;
	host->memory_held = csv_sets_bytes();
	host->memory_limit = limits.resident_bytes;
	snprintf(host->name, sizeof(host->name), "host");
	answer->n = 1;
	if (csv_gpus != NULL)
		answer->n += (uint32_t) csv_gpus->statistics(answer->of + 1,
													 CSV_MOST_DEVICES);
	call->reply->nbytes = sizeof(*answer);
	return true;
}

/* DEVICE, DEVICES, ASK and SCAN */
static bool
handle_gpu(const Call *call)
{
	CsvSet	  **pin = NULL;

	if (call->message->kind == CSV_MESSAGE_ASK)
	{
		pin = find_pin(call->client, call->message->ask.set);
		if (pin == NULL)
			return false;
	}
	if (csv_gpus != NULL)
		return csv_gpus->handle(call->message, pin == NULL ? -1 : (*pin)->file,
								call->descriptors, call->reply);

	/* zeros say that there is no device, and that the answer is no */
	call->reply->nbytes = sizeof(CsvDeviceMessage);
	return true;
}

/* nbytes: 0: the handler checks it; ndescriptors: or one fewer, if is_optional */
static const struct
{
	bool		(*function) (const Call *call);
	size_t		nbytes;
	int			ndescriptors;
	bool		is_optional;
}			handlers[CSV_NUM_MESSAGE_KINDS] = {
	[CSV_MESSAGE_HELLO] = {handle_hello, sizeof(CsvHelloMessage), 0, false},
	[CSV_MESSAGE_RETIRE] = {handle_retire, sizeof(uint32_t), 0, false},
	[CSV_MESSAGE_FIND] = {handle_find, 0, 1, false},
	[CSV_MESSAGE_RELEASE] = {handle_release, sizeof(CsvSetMessage), 0, false},
	[CSV_MESSAGE_LOOK] = {handle_look, 0, 0, false},
	[CSV_MESSAGE_ROOM] = {handle_room, sizeof(CsvRoomMessage), 0, false},
	[CSV_MESSAGE_KEEP] = {handle_keep, 0, 2, false},
	[CSV_MESSAGE_GROUPING] = {handle_grouping, sizeof(CsvGroupingMessage), 1, true},
	[CSV_MESSAGE_LIST] = {handle_list, sizeof(CsvListMessage), 0, false},
	[CSV_MESSAGE_FORGET] = {handle_forget, sizeof(CsvForgetMessage), 0, false},
	[CSV_MESSAGE_STATISTICS] = {handle_statistics, sizeof(uint32_t), 0, false},
	[CSV_MESSAGE_DEVICE] = {handle_gpu, sizeof(CsvDeviceMessage), 0, false},
	[CSV_MESSAGE_DEVICES] = {handle_gpu, sizeof(uint32_t), 0, false},
	[CSV_MESSAGE_ASK] = {handle_gpu, sizeof(CsvAskMessage), 2, false},
	[CSV_MESSAGE_SCAN] = {handle_gpu, sizeof(CsvScanMessage), 1, false},
};

bool
csv_client_handle(CsvClient *client, const CsvMessage *message, size_t nbytes,
				  CsvDescriptors *descriptors, CsvServiceReply *reply)
{
	const Call	call = {client, message, nbytes, descriptors, reply};
	uint32_t	kind = message->kind;
	int			missing;

	memset(reply, 0, sizeof(*reply));
	reply->message.kind = kind;

	/* the program is about to end (outlet.c); the client wants a new program */
	if (csv_gpus != NULL && csv_gpus->any_is_lost())
		return false;
	if (nbytes < sizeof(kind) || kind >= CSV_NUM_MESSAGE_KINDS ||
		handlers[kind].function == NULL)
		return false;

	/* a client of another build may say hello, and ask this program to end */
	if (!client->is_known && kind != CSV_MESSAGE_HELLO &&
		kind != CSV_MESSAGE_RETIRE)
		return false;
	missing = handlers[kind].ndescriptors - descriptors->n;
	if ((handlers[kind].nbytes != 0 && nbytes != handlers[kind].nbytes) ||
		missing < 0 || missing > (int) handlers[kind].is_optional)
		return false;
	return handlers[kind].function(&call);
}
