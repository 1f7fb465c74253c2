/*
 * serve.c
 *		Checks messages, and does what they say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gpus.h"
#include "serve.h"
#include "wire/store.h"

/* of one client */
#define MOST_PINS		4096
#define MOST_PROMISES	1024

struct CsvService
{
	CsvSets *all;
	CsvLimitsMessage limits;
	bool		retired;
	int64_t		since;			/* microseconds since 1970 */
	uint64_t	hits;
	uint64_t	misses;
};

typedef struct Pin
{
	LIST_ENTRY(Pin) of_client;
	CsvSet	   *set;
} Pin;

/* columns that the client makes */
typedef struct Promise
{
	LIST_ENTRY(Promise) of_client;
	uint32_t	number;
	uint64_t	nbytes;			/* promised */
} Promise;

struct CsvClient
{
	CsvService *service;
	bool		is_known;		/* has said hello */
	LIST_HEAD(Pins, Pin) pins;
	int			npins;
	LIST_HEAD(Promises, Promise) promises;
	int			npromises;
};

CsvService *
csv_service_create(void)
{
	CsvService *service = calloc(1, sizeof(CsvService));
	struct timespec now;

	if (service == NULL)
		return NULL;
	service->all = csv_register_create();
	if (service->all == NULL)
	{
		free(service);
		return NULL;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	service->since = (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
	return service;
}

void
csv_service_free(CsvService *service)
{
	csv_register_free(service->all);
	free(service);
}

void
csv_service_set_limits(CsvService *service, const CsvLimitsMessage *limits)
{
	service->limits = *limits;
	csv_register_limit(service->all, limits->resident_bytes);
	if (csv_gpus != NULL)
		csv_gpus->set_limits(limits);
}

static bool
any_scan(void)
{
	return csv_gpus != NULL && csv_gpus->count_scans() > 0;
}

bool
csv_service_is_empty(const CsvService *service)
{
	return csv_register_is_empty(service->all) &&
		csv_register_bytes(service->all) == 0 && !any_scan();
}

bool
csv_service_is_retired(const CsvService *service)
{
	return service->retired && !any_scan();
}

/* ---- clients ---- */

CsvClient *
csv_client_create(CsvService *service)
{
	CsvClient  *client = calloc(1, sizeof(CsvClient));

	if (client != NULL)
		client->service = service;
	return client;
}

static void
drop_pin(CsvClient *client, Pin *pin)
{
	csv_register_unpin(client->service->all, pin->set);
	LIST_REMOVE(pin, of_client);
	client->npins--;
	free(pin);
}

static void
drop_promise(CsvClient *client, Promise *promise)
{
	csv_register_give_back(client->service->all, promise->nbytes);
	LIST_REMOVE(promise, of_client);
	client->npromises--;
	free(promise);
}

void
csv_client_free(CsvClient *client)
{
	for (Pin *pin = LIST_FIRST(&client->pins), *next; pin != NULL; pin = next)
	{
		next = LIST_NEXT(pin, of_client);
		drop_pin(client, pin);
	}
	for (Promise *promise = LIST_FIRST(&client->promises), *next;
		 promise != NULL; promise = next)
	{
		next = LIST_NEXT(promise, of_client);
		drop_promise(client, promise);
	}
	free(client);
}

static Pin *
find_pin(const CsvClient *client, uint64_t set)
{
	Pin		   *pin;

	LIST_FOREACH(pin, &client->pins, of_client)
		if (csv_set_number(pin->set) == set)
			return pin;
	return NULL;
}

static Promise *
find_promise(const CsvClient *client, uint32_t number)
{
	Promise	   *promise;

	LIST_FOREACH(promise, &client->promises, of_client)
		if (promise->number == number)
			return promise;
	return NULL;
}

/* ---- checking messages ---- */

/* it must end with its columns, each of them once */
static bool
is_wanted(const CsvWanted *wanted, size_t before, size_t nbytes)
{
	size_t		least = before + offsetof(CsvWanted, columns);
	uint8_t		seen[CSV_MOST_KEPT_COLUMNS + 1] = {0};

	if (nbytes < least || wanted->ncolumns > CSV_MOST_KEPT_COLUMNS ||
		nbytes != least + sizeof(CsvKeyColumn) * wanted->ncolumns)
		return false;
	for (uint32_t i = 0; i < wanted->ncolumns; i++)
	{
		int			attnum = wanted->columns[i].attnum;

		if (attnum < 1 || attnum > CSV_MOST_KEPT_COLUMNS || seen[attnum] ||
			wanted->columns[i].decimal > 1)
			return false;
		seen[attnum] = 1;
	}
	return wanted->positions <= 1;
}

static bool
is_find(const CsvFindMessage *find, size_t nbytes)
{
	return is_wanted(&find->wanted, offsetof(CsvFindMessage, wanted), nbytes) &&
		memchr(find->user.filename, 0, CSV_NAME_BYTES) != NULL &&
		find->has_bad_values <= 1;
}

/* is the descriptor the file that the client means? */
static bool
is_that_file(const CsvFileIdentity *file, int descriptor)
{
	struct stat st;
	CsvFileIdentity identity;

	if (fstat(descriptor, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	identity = csv_file_identity(&st);
	return csv_same_file(&identity, file);
}

/* ---- handlers of messages ---- */

static bool
handle_hello(CsvClient *client, const CsvMessage *message, size_t nbytes,
			 CsvDescriptors *descriptors, CsvServiceReply *reply)
{
	const CsvHelloMessage *hello = &message->hello;
	CsvHelloMessage *answer = &reply->message.hello;

	(void) nbytes;
	(void) descriptors;
	memset(answer, 0, sizeof(*answer));
	answer->kind = CSV_MESSAGE_HELLO;
	answer->version = CSV_WIRE_VERSION;
	answer->sizes = csv_wire_sizes();
	answer->pid = getpid();
	answer->has_cuda = csv_gpus != NULL;
	reply->nbytes = sizeof(*answer);
	client->is_known = hello->version == answer->version &&
		hello->sizes == answer->sizes;
	return true;
}

static bool
handle_retire(CsvClient *client, const CsvMessage *message, size_t nbytes,
			  CsvDescriptors *descriptors, CsvServiceReply *reply)
{
	(void) message;
	(void) nbytes;
	(void) descriptors;
	(void) reply;
	client->service->retired = true;
	return true;
}

static bool
handle_find(CsvClient *client, const CsvMessage *message, size_t nbytes,
			CsvDescriptors *descriptors, CsvServiceReply *reply)
{
	const CsvFindMessage *find = &message->find;
	CsvFoundMessage *answer = &reply->message.found;
	CsvSet	   *set = NULL;
	Pin		   *pin;

	if (!is_find(find, nbytes) || client->npins == MOST_PINS)
		return false;
	memset(answer, 0, sizeof(*answer));
	answer->kind = CSV_MESSAGE_FIND;
	reply->nbytes = sizeof(*answer);
	pin = malloc(sizeof(Pin));
	if (pin != NULL && is_that_file(&find->file, descriptors->files[0]))
		set = csv_register_find(client->service->all, &find->file,
								&find->wanted, &find->user);
	if (set == NULL)
	{
		free(pin);
		client->service->misses++;
		return true;
	}
	client->service->hits++;
	pin->set = set;
	LIST_INSERT_HEAD(&client->pins, pin, of_client);
	client->npins++;
	answer->found = 1;
	answer->set = csv_set_number(set);
	answer->nrows = csv_set_nrows(set);
	csv_reply_with_file(reply, csv_set_file(set), false);
	return true;
}

static bool
handle_release(CsvClient *client, const CsvMessage *message, size_t nbytes,
			   CsvDescriptors *descriptors, CsvServiceReply *reply)
{
	Pin		   *pin = find_pin(client, message->set.set);

	(void) nbytes;
	(void) descriptors;
	(void) reply;
	if (pin != NULL)
		drop_pin(client, pin);
	return pin != NULL;
}

static bool
handle_look(CsvClient *client, const CsvMessage *message, size_t nbytes,
			CsvDescriptors *descriptors, CsvServiceReply *reply)
{
	const CsvLookMessage *look = &message->look;
	CsvFoundMessage *answer = &reply->message.found;

	(void) descriptors;
	if (!is_wanted(&look->wanted, offsetof(CsvLookMessage, wanted), nbytes) ||
		look->nfiles > CSV_MOST_IDENTITIES)
		return false;
	memset(answer, 0, sizeof(*answer));
	answer->kind = CSV_MESSAGE_LOOK;
	answer->found = 1;
	reply->nbytes = sizeof(*answer);
	for (uint32_t i = 0; i < look->nfiles && answer->found; i++)
	{
		const CsvSet *set = csv_register_look(client->service->all,
											  &look->files[i], &look->wanted);

		answer->found = set != NULL;
		if (set != NULL)
			answer->nrows += csv_set_nrows(set);
	}
	return true;
}

static bool
handle_room(CsvClient *client, const CsvMessage *message, size_t nbytes,
			CsvDescriptors *descriptors, CsvServiceReply *reply)
{
	const CsvRoomMessage *room = &message->room;
	Promise	   *promise = find_promise(client, room->making);
	bool		may;

	(void) nbytes;
	(void) descriptors;
	if (room->making == 0)
		return false;
	if (room->nbytes == 0)
	{
		if (promise != NULL)
			drop_promise(client, promise);
		return true;
	}
	if (promise == NULL)
	{
		if (client->npromises == MOST_PROMISES ||
			(promise = calloc(1, sizeof(Promise))) == NULL)
			return csv_reply_done(reply, CSV_MESSAGE_ROOM, 0);
		promise->number = room->making;
		LIST_INSERT_HEAD(&client->promises, promise, of_client);
		client->npromises++;
	}
	may = csv_register_promise(client->service->all, promise->nbytes, room);
	if (may && room->nbytes > promise->nbytes)
		promise->nbytes = room->nbytes;
	return csv_reply_done(reply, CSV_MESSAGE_ROOM, may);
}

static bool
handle_keep(CsvClient *client, const CsvMessage *message, size_t nbytes,
			CsvDescriptors *descriptors, CsvServiceReply *reply)
{
	const CsvFindMessage *keep = &message->find;
	Promise	   *promise;
	bool		kept;

	if (!is_find(keep, nbytes) ||
		(promise = find_promise(client, keep->making)) == NULL)
		return false;
	drop_promise(client, promise);
	kept = is_that_file(&keep->file, descriptors->files[0]) &&
		csv_register_keep(client->service->all, keep, descriptors->files[1]);
	if (kept)
		descriptors->n = 1;
	return csv_reply_done(reply, CSV_MESSAGE_KEEP, kept);
}

static bool
handle_grouping(CsvClient *client, const CsvMessage *message, size_t nbytes,
				CsvDescriptors *descriptors, CsvServiceReply *reply)
{
	const CsvGroupingMessage *keys = &message->grouping;
	CsvSets *all = client->service->all;
	Pin		   *pin = find_pin(client, keys->set);
	bool		may_add = false;
	int			file;

	(void) nbytes;
	if (pin == NULL || keys->nkeys == 0 || keys->nkeys > CSV_MOST_GROUPING_KEYS)
		return false;
	if (descriptors->n == 1 &&
		csv_set_add_grouping(all, pin->set, keys, descriptors->files[0]))
		descriptors->n = 0;
	file = csv_set_grouping(all, pin->set, keys, &may_add);
	if (file >= 0)
		csv_reply_with_file(reply, file, false);
	return csv_reply_done(reply, CSV_MESSAGE_GROUPING, may_add);
}

static bool
handle_list(CsvClient *client, const CsvMessage *message, size_t nbytes,
			CsvDescriptors *descriptors, CsvServiceReply *reply)
{
	CsvListedMessage *answer = &reply->message.listed;
	int			file = csv_memory_file_create("csv_gpu_fdw list");
	int			n;

	(void) nbytes;
	(void) descriptors;
	if (file < 0)
		return false;
	n = csv_register_list(client->service->all, message->list.database, file);
	csv_reply_with_file(reply, file, true);
	if (n < 0 || !csv_memory_file_seal(file, true))
		return false;
	answer->kind = CSV_MESSAGE_LIST;
	answer->nentries = (uint32_t) n;
	reply->nbytes = sizeof(*answer);
	return true;
}

static bool
handle_forget(CsvClient *client, const CsvMessage *message, size_t nbytes,
			  CsvDescriptors *descriptors, CsvServiceReply *reply)
{
	(void) nbytes;
	(void) descriptors;
	return csv_reply_done(reply, CSV_MESSAGE_FORGET,
					  csv_register_forget(client->service->all,
										  &message->forget));
}

static bool
handle_statistics(CsvClient *client, const CsvMessage *message, size_t nbytes,
				  CsvDescriptors *descriptors, CsvServiceReply *reply)
{
	const CsvService *service = client->service;
	CsvStatisticsMessage *answer = &reply->message.statistics;
	CsvStatistics *host = &answer->of[0];

	(void) message;
	(void) nbytes;
	(void) descriptors;
	memset(answer, 0, sizeof(*answer));
	answer->kind = CSV_MESSAGE_STATISTICS;
	answer->pid = getpid();
	answer->since = service->since;
	host->device = -1;
	host->counts.resident_hits = service->hits;
	host->counts.resident_misses = service->misses;
	host->memory_held = csv_register_bytes(service->all);
	host->memory_limit = service->limits.resident_bytes;
	snprintf(host->name, sizeof(host->name), "host");
	answer->n = 1;
	if (csv_gpus != NULL)
		answer->n += (uint32_t) csv_gpus->statistics(answer->of + 1,
													 CSV_MOST_DEVICES);
	reply->nbytes = sizeof(*answer);
	return true;
}

/* DEVICE, DEVICES, ASK and SCAN */
static bool
handle_gpu(CsvClient *client, const CsvMessage *message, size_t nbytes,
		   CsvDescriptors *descriptors, CsvServiceReply *reply)
{
	int			columns = -1;

	(void) nbytes;
	if (message->kind == CSV_MESSAGE_ASK)
	{
		const Pin  *pin = find_pin(client, message->ask.set);

		if (pin == NULL)
			return false;
		columns = csv_set_file(pin->set);
	}
	if (csv_gpus != NULL)
		return csv_gpus->handle(message, columns, descriptors, reply);

	/* zeros say that there is no device, and that the answer is no */
	memset(&reply->message, 0, sizeof(reply->message));
	reply->message.kind = message->kind;
	reply->nbytes = sizeof(CsvDeviceMessage);
	return true;
}

/* nbytes: 0: the handler checks it; ndescriptors: or one fewer, if is_optional */
static const struct
{
	bool		(*function) (CsvClient *client, const CsvMessage *message,
							 size_t nbytes, CsvDescriptors *descriptors,
							 CsvServiceReply *reply);
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
	uint32_t	kind = message->kind;
	int			missing;

	reply->nbytes = 0;
	reply->descriptors.n = 0;
	reply->close = false;

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
	return handlers[kind].function(client, message, nbytes, descriptors, reply);
}
