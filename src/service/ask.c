/*
 * ask.c
 *		Has GPUs answer queries over kept columns, in a thread for each question.
 *
 * The thread sends the answers in the order of the rows, then CSV_MESSAGE_END; or only
 * the latter, if the GPUs do not answer the query.  Its blocks last until the session
 * closes the socket.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "../../cuda/csv_cuda.h"
#include "ask.h"
#include "device.h"
#include "outlet.h"
#include "reader/arrays.h"
#include "reader/thread.h"
#include "wire/store.h"

/* a copy of some rows of a set's columns */
typedef struct Copy
{
	LIST_ENTRY(Copy) of_device;
	uint64_t	set;
	uint32_t	first_row;
	uint32_t	nrows;
	CsvCudaColumns *columns;
	uint64_t	nbytes;			/* on the device, after the last question */
} Copy;

/* of a device; it answers one question at a time, as columns are for one thread */
typedef struct DeviceCopies
{
	pthread_mutex_t mutex;
	LIST_HEAD(, Copy) copies;
} DeviceCopies;

static DeviceCopies all_copies[CSV_MOST_DEVICES] = {
	[0 ... CSV_MOST_DEVICES - 1] = {.mutex = PTHREAD_MUTEX_INITIALIZER}
};

/*
 * Guards what follows, and the lists for quick readers; a change of a list needs
 * the device's mutex, too.
 */
static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;

/* sets whose copies a thread will free; it may have to wait for devices */
typedef struct Forgotten
{
	LIST_ENTRY(Forgotten) of_all;
	uint64_t	set;
} Forgotten;

static LIST_HEAD(, Forgotten) forgotten = LIST_HEAD_INITIALIZER(forgotten);
static bool is_forgetting = false;	/* the thread is running */
static bool was_asked = false;	/* there may be copies */

/* an answer for nrows rows from first_row on */
typedef struct Answer
{
	uint32_t	first_row;
	uint32_t	nrows;
	CsvAnswer  *answer;			/* in the device's blocks */
	struct Answer *next;
} Answer;

/* some of the rows, for a device */
typedef struct Share
{
	const struct Asking *asking;
	CsvDevice  *device;
	uint32_t	first_row;
	uint32_t	nrows;
	Copy	   *copy;
	Answer	   *answers;		/* in the order of their rows */
	CsvStatus	status;
	bool		whole;			/* the device has answered for all its rows */
	char		reason[CSV_REASON_BYTES];
} Share;

/* a question that is being answered */
typedef struct Asking
{
	CsvOutlet	outlet;
	CsvAskMessage message;
	int			columns;		/* memory files */
	int			request;
	CsvStore   *store;
	CsvCudaQuestion question;
	uint32_t	places[CSV_MOST_KEPT_COLUMNS];	/* of the question */
	uint8_t		seen[CSV_MOST_KEPT_COLUMNS];
	uint32_t	widths[CSV_MOST_KEPT_COLUMNS];	/* bytes of an entry, for each
												 * column of the store */
	int			nshares;
	Share		shares[CSV_MOST_DEVICES];
} Asking;

/* ---- copies ---- */

static void
free_copy(Copy *copy)
{
	pthread_mutex_lock(&list_mutex);
	LIST_REMOVE(copy, of_device);
	pthread_mutex_unlock(&list_mutex);
	csv_cuda_columns_free(copy->columns);
	free(copy);
}

static void
forget_on(DeviceCopies *on, uint64_t set)
{
	Copy	   *copy;
	Copy	   *next;

	pthread_mutex_lock(&on->mutex);
	for (copy = LIST_FIRST(&on->copies); copy != NULL; copy = next)
	{
		next = LIST_NEXT(copy, of_device);
		if (copy->set == set)
			free_copy(copy);
	}
	pthread_mutex_unlock(&on->mutex);
}

static void *
run_forgetting(void *arg)
{
	(void) arg;
	for (;;)
	{
		Forgotten  *which;

		pthread_mutex_lock(&list_mutex);
		which = LIST_FIRST(&forgotten);
		is_forgetting = which != NULL;
		if (which != NULL)
			LIST_REMOVE(which, of_all);
		pthread_mutex_unlock(&list_mutex);
		if (which == NULL)
			return NULL;
		for (int i = 0; i < CSV_MOST_DEVICES; i++)
			forget_on(&all_copies[i], which->set);
		free(which);
	}
}

static Copy *
make_copy(const Share *share, DeviceCopies *on)
{
	const CsvLayout *layout = csv_store_layout(share->asking->store);
	Copy	   *copy = calloc(1, sizeof(Copy));

	if (copy == NULL)
		return NULL;
	copy->set = share->asking->message.set;
	copy->first_row = share->first_row;
	copy->nrows = share->nrows;
	copy->columns = csv_cuda_columns_create(csv_device_session(share->device),
											layout->ncolumns, share->nrows);
	if (copy->columns == NULL)
	{
		free(copy);
		return NULL;
	}
	pthread_mutex_lock(&list_mutex);
	LIST_INSERT_HEAD(&on->copies, copy, of_device);
	pthread_mutex_unlock(&list_mutex);
	return copy;
}

/*
 * The copy of these rows.  Frees copies of other rows, made when there were more
 * devices or fewer.  NULL: there is no memory.
 */
static Copy *
get_copy(const Share *share, DeviceCopies *on)
{
	Copy	   *copy;
	Copy	   *next;
	Copy	   *found = NULL;

	for (copy = LIST_FIRST(&on->copies); copy != NULL; copy = next)
	{
		next = LIST_NEXT(copy, of_device);
		if (copy->set != share->asking->message.set)
			continue;
		if (copy->first_row == share->first_row && copy->nrows == share->nrows)
			found = copy;
		else
			free_copy(copy);
	}
	return found != NULL ? found : make_copy(share, on);
}

/* the places of the devices that have columns of a set */
static uint64_t
devices_with(uint64_t set)
{
	uint64_t	found = 0;
	const Copy *copy;

	pthread_mutex_lock(&list_mutex);
	for (int i = 0; i < CSV_MOST_DEVICES; i++)
		LIST_FOREACH(copy, &all_copies[i].copies, of_device)
			if (copy->set == set && copy->nbytes > 0)
				found |= UINT64_C(1) << i;
	pthread_mutex_unlock(&list_mutex);
	return found;
}

/* ---- a question ---- */

/* find the layout's columns in the store; false: one is missing */
static bool
find_places(Asking *asking)
{
	const CsvLayout *layout = asking->question.layout;
	const CsvLayout *kept = csv_store_layout(asking->store);

	for (uint32_t i = 0; i < layout->ncolumns; i++)
	{
		uint32_t	place = 0;

		while (place < kept->ncolumns &&
			   kept->columns[place].attnum != layout->columns[i].attnum)
			place++;
		if (place == kept->ncolumns ||
			kept->columns[place].kind != layout->columns[i].kind ||
			kept->columns[place].precision != layout->columns[i].precision ||
			kept->columns[place].scale != layout->columns[i].scale)
			return false;
		asking->places[i] = place;
	}
	return true;
}

/* note what the batches' statuses have, and how wide entries are */
static bool
look_at_batches(Asking *asking)
{
	CsvArray	arrays[CSV_MOST_KEPT_COLUMNS];
	const CsvStore *store = asking->store;
	const CsvLayout *layout = asking->question.layout;

	for (uint32_t n = 0; n < csv_store_nbatches(store); n++)
	{
		CsvResidentBatch batch;

		if (!csv_store_batch(store, n, arrays, &batch))
			return false;
		for (uint32_t i = 0; i < layout->ncolumns; i++)
		{
			uint32_t	place = asking->places[i];
			const CsvArray *array = &arrays[place];

			if (!array->all_ok)
				asking->seen[i] |= CSV_CUDA_SEEN_NOT_OK;
			if (array->any_slow)
				asking->seen[i] |= CSV_CUDA_SEEN_SLOW;
			if (array->stride > asking->widths[place])
				asking->widths[place] = array->stride;
		}
	}
	return true;
}

/* can devices answer it?  Depends on the store, which never changes. */
static bool
is_for_device(Asking *asking)
{
	uint64_t	nrows = csv_store_nrows(asking->store);

	return nrows > 0 && nrows <= INT32_MAX &&
		csv_store_layout(asking->store)->ncolumns <= CSV_MOST_KEPT_COLUMNS &&
		asking->question.layout->ncolumns <= CSV_MOST_KEPT_COLUMNS &&
		find_places(asking) && look_at_batches(asking);
}

/* ---- some of the rows, on a device ---- */

/* copy the missing rows of a part of a column; false: no room, or a failure */
static bool
copy_entries(Share *share, uint32_t place, bool statuses)
{
	const CsvStore *store = share->asking->store;
	const CsvCudaQuestion *question = &share->asking->question;
	uint32_t	which = statuses ? CSV_CUDA_STATUSES(place) :
		CSV_CUDA_VALUES(place);
	uint32_t	width = statuses ? 1 : share->asking->widths[place];
	uint64_t	end = (uint64_t) share->first_row + share->nrows;
	uint64_t	row = share->first_row +
		(uint64_t) csv_cuda_columns_filled(share->copy->columns, which);
	CsvArray	arrays[CSV_MOST_KEPT_COLUMNS];

	for (uint32_t n = 0; n < csv_store_nbatches(store) && row < end; n++)
	{
		const CsvArray *array = &arrays[place];
		CsvResidentBatch batch;
		uint64_t	batch_end;
		uint64_t	skipped;
		uint32_t	nrows;

		if (!csv_store_batch(store, n, arrays, &batch))
			return false;
		batch_end = (uint64_t) batch.first_row + batch.batch.nrows;
		if (batch_end <= row || (uint64_t) batch.first_row > row)
			continue;
		skipped = row - (uint64_t) batch.first_row;
		nrows = (uint32_t) ((batch_end < end ? batch_end : end) - row);
		if (question->interrupted(question->interrupted_arg) ||
			!csv_cuda_columns_add(share->copy->columns, which,
								  (uint32_t) (row - share->first_row), width,
								  !statuses ? array->values + skipped * array->stride :
								  array->all_ok ? NULL : array->status + skipped,
								  statuses ? 1 : array->stride, nrows,
								  question->memory_limit, share->reason,
								  sizeof(share->reason)))
			return false;
		row += nrows;
	}
	return row == end;
}

/* false: the device does not answer the question, has no room, or has failed */
static bool
copy_columns(Share *share)
{
	const Asking *asking = share->asking;
	const CsvCudaQuestion *question = &asking->question;
	uint32_t	ncolumns = question->layout->ncolumns;
	uint64_t	width = 0;

	for (uint32_t i = 0; i < ncolumns; i++)
	{
		if (csv_cuda_question_needs(question, i, false))
			width += asking->widths[asking->places[i]];
		width += csv_cuda_question_needs(question, i, true);
	}
	if (!csv_cuda_question_fits(csv_device_session(share->device), question,
								width * share->nrows))
		return false;
	for (uint32_t i = 0; i < ncolumns; i++)
		for (int statuses = 0; statuses < 2; statuses++)
			if (csv_cuda_question_needs(question, i, statuses != 0) &&
				!copy_entries(share, asking->places[i], statuses != 0))
				return false;
	return true;
}

/* ask for all rows; on any return the answers so far remain */
static CsvStatus
ask_rows(Share *share)
{
	Answer	  **last = &share->answers;

	for (uint32_t row = 0; row < share->nrows;)
	{
		Answer	   *next = calloc(1, sizeof(Answer));
		CsvStatus	status;

		if (next == NULL)
			return CSV_OK;
		next->first_row = share->first_row + row;
		next->nrows = share->nrows - row;
		status = csv_cuda_columns_answer(share->copy->columns,
										 &share->asking->question, row,
										 &next->nrows, &next->answer,
										 share->reason, sizeof(share->reason));
		if (status != CSV_OK || next->answer == NULL)
		{
			free(next);
			return status;
		}
		row += next->nrows;
		*last = next;
		last = &next->next;
	}
	share->whole = true;
	return CSV_OK;
}

static CsvStatus
ask_device(Share *share, DeviceCopies *on)
{
	CsvStatus	status = CSV_OK;
	uint64_t	nbytes;

	share->copy = get_copy(share, on);
	if (share->copy == NULL)
		return CSV_OK;
	if (copy_columns(share))
		status = ask_rows(share);
	else if (share->reason[0] != '\0')
		status = CSV_DEVICE_FAILED;
	nbytes = csv_cuda_columns_bytes(share->copy->columns);
	pthread_mutex_lock(&list_mutex);
	share->copy->nbytes = nbytes;
	pthread_mutex_unlock(&list_mutex);
	return status;
}

static void *
run_share(void *arg)
{
	Share	   *share = arg;
	const CsvCudaQuestion *question = &share->asking->question;
	DeviceCopies *on = &all_copies[csv_device_place(share->device)];

	pthread_mutex_lock(&on->mutex);
	pthread_mutex_lock(&list_mutex);
	was_asked = true;
	pthread_mutex_unlock(&list_mutex);

	/* while the session is connected, its columns are not forgotten */
	share->status = question->interrupted(question->interrupted_arg) ?
		CSV_INTERRUPTED : ask_device(share, on);
	pthread_mutex_unlock(&on->mutex);
	return NULL;
}

/* ---- all rows ---- */

/* run each share in a thread, except the first */
static void
run_shares(Asking *asking)
{
	pthread_t	threads[CSV_MOST_DEVICES];
	bool		started[CSV_MOST_DEVICES] = {false};

	for (int i = 1; i < asking->nshares; i++)
		started[i] = csv_thread_start(&threads[i], run_share,
									  &asking->shares[i]);
	run_share(&asking->shares[0]);
	for (int i = 1; i < asking->nshares; i++)
		if (started[i])
			csv_thread_join(threads[i]);
		else
			run_share(&asking->shares[i]);
}

/*
 * Devices for all rows, with equal shares.  None: fewer than two devices are awake, or
 * there are too few rows.
 */
static void
share_rows(Asking *asking)
{
	uint64_t	nrows = csv_store_nrows(asking->store);
	CsvDevice  *devices[CSV_MOST_DEVICES];
	int			n = csv_devices_awake(asking->message.device, devices);

	while (n > 1 && nrows / (uint64_t) n < csv_least_device_rows)
		n--;
	asking->nshares = n > 1 ? n : 0;
	for (int i = 0; i < asking->nshares; i++)
	{
		uint64_t	first = nrows * (uint64_t) i / (uint64_t) n;
		uint64_t	end = nrows * ((uint64_t) i + 1) / (uint64_t) n;

		asking->shares[i].device = devices[i];
		asking->shares[i].first_row = (uint32_t) first;
		asking->shares[i].nrows = (uint32_t) (end - first);
	}
}

/* take a device for all rows; false, with a message in `reason`: there is none */
static bool
take_device(Asking *asking, char *reason, size_t reason_size)
{
	CsvDeviceWish wish = {
		asking->message.device, asking->message.must_wait != 0,
		devices_with(asking->message.set), false, NULL
	};
	Share	   *share = &asking->shares[0];

	share->device = csv_device_take(&wish, reason, reason_size);
	if (share->device == NULL)
		return false;
	share->nrows = (uint32_t) csv_store_nrows(asking->store);
	asking->nshares = 1;
	return true;
}

static void
free_answers(Asking *asking)
{
	for (int i = 0; i < asking->nshares; i++)
	{
		Share	   *share = &asking->shares[i];

		while (share->answers != NULL)
		{
			Answer	   *next = share->answers->next;

			csv_cuda_answer_free(csv_device_session(share->device),
								 share->answers->answer);
			free(share->answers);
			share->answers = next;
		}
	}
}

/*
 * Count what the devices have done.  The share whose status is the status of all; it
 * has a message if the device failed.
 */
static const Share *
find_worst(const Asking *asking, bool *whole)
{
	const Share *worst = &asking->shares[0];

	*whole = true;
	for (int i = 0; i < asking->nshares; i++)
	{
		const Share *share = &asking->shares[i];
		CsvCounts  *counts = csv_device_counts(share->device);

		csv_count(share->whole ? &counts->resident_hits :
				  &counts->resident_misses, 1);
		*whole &= share->whole;
		if (worst->status == CSV_OK || share->status == CSV_DEVICE_FAILED)
			worst = share;
	}
	return worst;
}

/*
 * Ask a device, or several devices.  CSV_OK without answers: devices cannot answer the
 * question, or there is no memory for the columns.  Otherwise CSV_INTERRUPTED, or
 * CSV_DEVICE_FAILED with a message in `reason`.
 */
static CsvStatus
ask(Asking *asking, char *reason, size_t reason_size)
{
	const Share *worst;
	bool		is_taken;
	bool		whole;

	share_rows(asking);
	is_taken = asking->nshares == 0;
	if (is_taken && !take_device(asking, reason, reason_size))
		return asking->message.must_wait ? CSV_DEVICE_FAILED : CSV_OK;
	for (int i = 0; i < asking->nshares; i++)
		asking->shares[i].asking = asking;
	run_shares(asking);
	worst = find_worst(asking, &whole);
	asking->outlet.device = worst->device;
	snprintf(reason, reason_size, "%s", worst->reason);
	if (!whole)
		free_answers(asking);
	if (is_taken)
		csv_device_leave(worst->device);
	return worst->status;
}

/* ---- a thread for a question ---- */

/* false: the session is gone */
static bool
send_answers(Asking *asking)
{
	const CsvQuery *query = asking->question.request->query;
	CsvOutlet  *outlet = &asking->outlet;
	CsvEndMessage end = {.kind = CSV_MESSAGE_END};

	csv_outlet_begin(outlet);
	for (int i = 0; i < asking->nshares; i++)
	{
		outlet->device = asking->shares[i].device;
		for (const Answer *answer = asking->shares[i].answers; answer != NULL;
			 answer = answer->next)
		{
			CsvBatch	batch = {
				.nrows = answer->nrows, .nrecords = answer->nrows,
				.file_records = answer->first_row, .answer = answer->answer
			};

			if (!csv_outlet_send_batch(outlet, CSV_MESSAGE_ANSWER, &batch, 0, query))
				return false;
		}
	}
	return csv_outlet_send(outlet, &end, sizeof(end));
}

static void
answer(Asking *asking, const CsvWireRequest *request)
{
	CsvOutlet  *outlet = &asking->outlet;
	char		reason[CSV_REASON_BYTES] = "";
	CsvMessage	message;
	CsvDescriptors descriptors;
	CsvStatus	status = CSV_OK;
	bool		sent = false;

	asking->question.request = request->request;
	asking->question.layout = request->layout;
	asking->question.places = asking->places;
	asking->question.seen = asking->seen;
	asking->question.memory_limit = csv_device_memory_limit();
	asking->question.interrupted = csv_outlet_is_left;
	asking->question.interrupted_arg = outlet;
	if (is_for_device(asking))
		status = ask(asking, reason, sizeof(reason));
	if (status == CSV_DEVICE_FAILED)
		sent = csv_outlet_send_failure(outlet, CSV_FAILURE_DEVICE, 0, reason);
	else if (status == CSV_OK)
		sent = send_answers(asking);

	/* the session sends no more messages: wait until it closes the socket */
	if (sent && csv_outlet_receive(outlet, &message, &descriptors) > 0)
		csv_wire_close(&descriptors);
	free_answers(asking);
}

static void *
run_asking(void *arg)
{
	Asking	   *asking = arg;
	CsvOutlet  *outlet = &asking->outlet;
	CsvWireRequest *request = csv_outlet_read_request(outlet, asking->request);

	if (request != NULL && request->request != NULL)
		asking->store = csv_store_open(&outlet->memory, asking->columns,
									   &request->dialect);
	if (asking->store != NULL)
		answer(asking, request);
	if (asking->store != NULL)
		csv_store_close(asking->store);
	csv_free(&outlet->memory, request);
	close(asking->columns);
	close(asking->request);
	csv_outlet_free(outlet);
	free(asking);
	return NULL;
}

bool
csv_ask_start(const CsvAskMessage *message, int columns, int request, int socket)
{
	Asking	   *asking = calloc(1, sizeof(Asking));

	if (asking == NULL)
		return false;
	csv_outlet_init(&asking->outlet, socket, !message->must_wait);
	asking->message = *message;
	asking->columns = columns;
	asking->request = request;
	if (csv_thread_detach(run_asking, asking))
		return true;
	free(asking);
	return false;
}

/* ---- columns that are no longer kept ---- */

void
csv_devices_forget(uint64_t set)
{
	Forgotten  *which;

	pthread_mutex_lock(&list_mutex);
	which = was_asked ? calloc(1, sizeof(Forgotten)) : NULL;
	if (which != NULL)
	{
		which->set = set;
		LIST_INSERT_HEAD(&forgotten, which, of_all);
	}
	if (which != NULL && !is_forgetting)
		is_forgetting = csv_thread_detach(run_forgetting, NULL);
	pthread_mutex_unlock(&list_mutex);
}

bool
csv_devices_have(uint64_t set)
{
	return devices_with(set) != 0;
}
