/*
 * ask.c
 *		Has GPUs answer queries over kept columns.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "ask.h"

#ifdef CSV_WITH_CUDA

#include "../../cuda/csv_cuda.h"

/*
 * A device reads this many rows of Q1's columns in half a millisecond.  Asking several
 * devices takes as long, for their threads.
 */
uint64_t	csv_least_device_rows = UINT64_C(8) << 20;

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

static DeviceCopies all_copies[CSV_MOST_DEVICES];
static pthread_once_t are_made = PTHREAD_ONCE_INIT;

/* guards the lists for quick readers; a change needs the device's mutex, too */
static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;

/* sets whose copies a thread will free; it may have to wait for devices */
typedef struct Forgotten
{
	LIST_ENTRY(Forgotten) of_all;
	uint64_t	set;
} Forgotten;

static pthread_mutex_t forgotten_mutex = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, Forgotten) forgotten = LIST_HEAD_INITIALIZER(forgotten);
static bool is_forgetting = false;	/* the thread is running */
static uint64_t used_devices = 0;	/* devices that were ever asked, by their places */

/* a question that is being answered */
typedef struct Asking
{
	const CsvColumnsQuestion *asked;
	uint32_t   *places;
	uint8_t    *seen;
	uint32_t   *widths;			/* bytes of an entry, for each column of the store */
} Asking;

/* some of the rows, for a device */
typedef struct Share
{
	const Asking *asking;
	CsvDevice  *device;
	uint32_t	first_row;
	uint32_t	nrows;
	Copy	   *copy;
	CsvArray   *arrays;			/* of a batch of the store */
	CsvCudaQuestion question;
	CsvColumnsAnswer *answers;
	CsvStatus	status;
	bool		whole;			/* the device has answered for all its rows */
	char		reason[CSV_REASON_BYTES];
} Share;

/* ---- copies ---- */

static void
make_on_devices(void)
{
	for (int i = 0; i < CSV_MOST_DEVICES; i++)
		pthread_mutex_init(&all_copies[i].mutex, NULL);
}

/* returns with its mutex held */
static DeviceCopies *
lock_device(CsvDevice *device)
{
	DeviceCopies *on = &all_copies[csv_device_place(device)];

	pthread_once(&are_made, make_on_devices);
	pthread_mutex_lock(&on->mutex);
	return on;
}

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
forget_on(int place, uint64_t set)
{
	DeviceCopies *on = &all_copies[place];
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
		uint64_t	devices;

		pthread_mutex_lock(&forgotten_mutex);
		which = LIST_FIRST(&forgotten);
		is_forgetting = which != NULL;
		if (which != NULL)
			LIST_REMOVE(which, of_all);
		devices = used_devices;
		pthread_mutex_unlock(&forgotten_mutex);
		if (which == NULL)
			return NULL;
		for (int i = 0; i < CSV_MOST_DEVICES; i++)
			if ((devices >> i & 1) != 0)
				forget_on(i, which->set);
		free(which);
	}
}

static Copy *
make_copy(const Share *share, DeviceCopies *on)
{
	const CsvColumnsQuestion *asked = share->asking->asked;
	Copy	   *copy = calloc(1, sizeof(Copy));

	if (copy == NULL)
		return NULL;
	copy->set = asked->set;
	copy->first_row = share->first_row;
	copy->nrows = share->nrows;
	copy->columns = csv_cuda_columns_create(csv_device_session(share->device),
											csv_store_layout(asked->store)->ncolumns,
											share->nrows);
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
		if (copy->set != share->asking->asked->set)
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
	const CsvLayout *layout = asking->asked->layout;
	const CsvLayout *kept = csv_store_layout(asking->asked->store);

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
look_at_batches(Asking *asking, CsvArray *arrays)
{
	const CsvStore *store = asking->asked->store;
	const CsvLayout *layout = asking->asked->layout;

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
is_for_device(Asking *asking, CsvArray *arrays)
{
	const CsvColumnsQuestion *asked = asking->asked;
	uint64_t	nrows = csv_store_nrows(asked->store);

	if (nrows == 0 || nrows > INT32_MAX || !find_places(asking) ||
		!look_at_batches(asking, arrays))
		return false;
	for (uint32_t i = 0; i < asked->layout->ncolumns; i++)
		if (asked->request->all_certain &&
			(asking->seen[i] & CSV_CUDA_SEEN_SLOW) != 0)
			return false;
	return true;
}

/* ---- some of the rows, on a device ---- */

/* copy the missing rows of a part of a column; false: no room, or a failure */
static bool
copy_entries(Share *share, uint32_t place, bool statuses)
{
	const CsvColumnsQuestion *asked = share->asking->asked;
	uint32_t	which = statuses ? CSV_CUDA_STATUSES(place) :
		CSV_CUDA_VALUES(place);
	uint32_t	width = statuses ? 1 : share->asking->widths[place];
	uint64_t	end = (uint64_t) share->first_row + share->nrows;
	uint64_t	row = share->first_row +
		(uint64_t) csv_cuda_columns_filled(share->copy->columns, which);

	for (uint32_t n = 0; n < csv_store_nbatches(asked->store) && row < end; n++)
	{
		const CsvArray *array = &share->arrays[place];
		CsvResidentBatch batch;
		uint64_t	batch_end;
		uint64_t	skipped;
		uint32_t	nrows;

		if (!csv_store_batch(asked->store, n, share->arrays, &batch))
			return false;
		batch_end = (uint64_t) batch.first_row + batch.batch.nrows;
		if (batch_end <= row || (uint64_t) batch.first_row > row)
			continue;
		skipped = row - (uint64_t) batch.first_row;
		nrows = (uint32_t) ((batch_end < end ? batch_end : end) - row);
		if (asked->interrupted(asked->interrupted_arg) ||
			!csv_cuda_columns_add(share->copy->columns, which,
								  (uint32_t) (row - share->first_row), width,
								  !statuses ? array->values + skipped * array->stride :
								  array->all_ok ? NULL : array->status + skipped,
								  statuses ? 1 : array->stride, nrows,
								  share->question.memory_limit, share->reason,
								  sizeof(share->reason)))
			return false;
		row += nrows;
	}
	return row == end;
}

static bool
copy_columns(Share *share)
{
	const CsvCudaQuestion *question = &share->question;
	const Asking *asking = share->asking;
	uint32_t	ncolumns = question->layout->ncolumns;
	uint64_t	width = 0;

	for (uint32_t i = 0; i < ncolumns; i++)
	{
		if (csv_cuda_question_needs(question, i, false))
			width += asking->widths[asking->places[i]];
		width += csv_cuda_question_needs(question, i, true);
	}
	/* do not make others give up memory in vain */
	if (!csv_cuda_columns_may_be(csv_device_session(share->device),
								 width * share->nrows, question->memory_limit))
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
	CsvColumnsAnswer **last = &share->answers;

	for (uint32_t row = 0; row < share->nrows;)
	{
		CsvColumnsAnswer *next = calloc(1, sizeof(CsvColumnsAnswer));
		CsvStatus	status;

		if (next == NULL)
			return CSV_OK;
		next->device = share->device;
		next->first_row = share->first_row + row;
		next->nrows = share->nrows - row;
		status = csv_cuda_columns_answer(share->copy->columns, &share->question, row,
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
	if (share->copy == NULL ||
		!csv_cuda_question_fits(csv_device_session(share->device), &share->question))
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
	const Asking *asking = share->asking;
	const CsvColumnsQuestion *asked = asking->asked;
	DeviceCopies *on = lock_device(share->device);

	share->question.request = asked->request;
	share->question.layout = asked->layout;
	share->question.places = asking->places;
	share->question.seen = asking->seen;
	share->question.memory_limit = csv_device_memory_limit();
	share->question.interrupted = asked->interrupted;
	share->question.interrupted_arg = asked->interrupted_arg;
	pthread_mutex_lock(&forgotten_mutex);
	used_devices |= csv_device_bit(share->device);
	pthread_mutex_unlock(&forgotten_mutex);
	share->arrays = calloc(csv_store_layout(asked->store)->ncolumns + 1,
						  sizeof(CsvArray));

	/* while the session is connected, its columns are not forgotten */
	if (asked->interrupted(asked->interrupted_arg))
		share->status = CSV_INTERRUPTED;
	else if (share->arrays != NULL)
		share->status = ask_device(share, on);
	pthread_mutex_unlock(&on->mutex);
	free(share->arrays);
	return NULL;
}

/* ---- all rows ---- */

/* run each share in a thread, except the first */
static void
run_shares(Share *shares, int n)
{
	pthread_t	threads[CSV_MOST_DEVICES];
	bool		started[CSV_MOST_DEVICES];

	for (int i = 1; i < n; i++)
		started[i] = pthread_create(&threads[i], NULL, run_share, &shares[i]) == 0;
	run_share(&shares[0]);
	for (int i = 1; i < n; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
		else
			run_share(&shares[i]);
}

/* devices for all rows, with equal shares; returns the number of devices */
static int
share_rows(const Asking *asking, Share *shares)
{
	const CsvColumnsQuestion *asked = asking->asked;
	uint64_t	nrows = csv_store_nrows(asked->store);
	CsvDevice  *devices[CSV_MOST_DEVICES];
	int			n = csv_devices_awake(asked->device, devices);

	while (n > 1 && nrows / (uint64_t) n < csv_least_device_rows)
		n--;
	for (int i = 0; i < n; i++)
	{
		uint64_t	first = nrows * (uint64_t) i / (uint64_t) n;
		uint64_t	end = nrows * ((uint64_t) i + 1) / (uint64_t) n;

		memset(&shares[i], 0, sizeof(Share));
		shares[i].asking = asking;
		shares[i].device = devices[i];
		shares[i].first_row = (uint32_t) first;
		shares[i].nrows = (uint32_t) (end - first);
	}
	return n;
}

/* the answers of all devices, or none, with a status, if some have not answered */
static CsvStatus
join_answers(const Share *shares, int n, CsvColumnsAnswer **answers,
			 CsvDevice **device, char *reason, size_t reason_size)
{
	CsvColumnsAnswer **last = answers;
	const Share *worst = &shares[0];
	bool		whole = true;

	for (int i = 0; i < n; i++)
	{
		CsvCounts  *counts = csv_device_counts(shares[i].device);

		csv_count(shares[i].whole ? &counts->resident_hits :
				  &counts->resident_misses, 1);
		*last = shares[i].answers;
		while (*last != NULL)
			last = &(*last)->next;
		whole &= shares[i].whole;
		if (worst->status == CSV_OK || shares[i].status == CSV_DEVICE_FAILED)
			worst = &shares[i];
	}
	*device = worst->device;
	snprintf(reason, reason_size, "%s", worst->reason);
	if (!whole)
	{
		csv_answers_free(*answers);
		*answers = NULL;
	}
	return worst->status;
}

static CsvStatus
ask(const Asking *asking, CsvColumnsAnswer **answers, CsvDevice **device,
	char *reason, size_t reason_size)
{
	const CsvColumnsQuestion *asked = asking->asked;
	Share		shares[CSV_MOST_DEVICES];
	int			n = share_rows(asking, shares);
	CsvStatus	status;

	if (n <= 1)
	{
		CsvDeviceWish wish = {
			asked->device, asked->may_wait, devices_with(asked->set), false, NULL
		};

		memset(&shares[0], 0, sizeof(Share));
		shares[0].asking = asking;
		shares[0].nrows = (uint32_t) csv_store_nrows(asked->store);
		shares[0].device = csv_device_take(&wish, reason, reason_size);
		if (shares[0].device == NULL)
			return asked->may_wait ? CSV_DEVICE_FAILED : CSV_OK;
		n = 1;
	}
	run_shares(shares, n);
	status = join_answers(shares, n, answers, device, reason, reason_size);
	if (n == 1)
		csv_device_leave(shares[0].device);
	return status;
}

CsvStatus
csv_devices_ask(const CsvColumnsQuestion *question, CsvColumnsAnswer **answers,
				CsvDevice **device, char *reason, size_t reason_size)
{
	uint32_t	nkept = csv_store_layout(question->store)->ncolumns;
	uint32_t	ncolumns = question->layout->ncolumns;
	CsvArray   *arrays = calloc(nkept + 1, sizeof(CsvArray));
	Asking		asking;
	CsvStatus	status = CSV_OK;

	*answers = NULL;
	*device = NULL;
	reason[0] = '\0';
	asking.asked = question;
	asking.places = calloc(ncolumns + 1, sizeof(uint32_t));
	asking.seen = calloc(ncolumns + 1, 1);
	asking.widths = calloc(nkept + 1, sizeof(uint32_t));
	if (arrays != NULL && asking.places != NULL && asking.seen != NULL &&
		asking.widths != NULL && is_for_device(&asking, arrays))
		status = ask(&asking, answers, device, reason, reason_size);
	free(arrays);
	free(asking.places);
	free(asking.seen);
	free(asking.widths);
	return status;
}

void
csv_answers_free(CsvColumnsAnswer *answers)
{
	while (answers != NULL)
	{
		CsvColumnsAnswer *next = answers->next;

		csv_cuda_answer_free(csv_device_session(answers->device),
							 answers->answer);
		free(answers);
		answers = next;
	}
}

void
csv_devices_forget(uint64_t set)
{
	Forgotten  *which;
	pthread_t	thread;

	pthread_once(&are_made, make_on_devices);
	pthread_mutex_lock(&forgotten_mutex);
	which = used_devices == 0 ? NULL : calloc(1, sizeof(Forgotten));
	if (which != NULL)
	{
		which->set = set;
		LIST_INSERT_HEAD(&forgotten, which, of_all);
	}
	if (which != NULL && !is_forgetting &&
		pthread_create(&thread, NULL, run_forgetting, NULL) == 0)
	{
		pthread_detach(thread);
		is_forgetting = true;
	}
	pthread_mutex_unlock(&forgotten_mutex);
}

bool
csv_devices_have(uint64_t set)
{
	return devices_with(set) != 0;
}

#else							/* without CUDA */

uint64_t	csv_least_device_rows = 0;

CsvStatus
csv_devices_ask(const CsvColumnsQuestion *question, CsvColumnsAnswer **answers,
				CsvDevice **device, char *reason, size_t reason_size)
{
	(void) question;
	(void) reason;
	(void) reason_size;
	*answers = NULL;
	*device = NULL;
	return CSV_OK;
}

void
csv_answers_free(CsvColumnsAnswer *answers)
{
	(void) answers;
}

void
csv_devices_forget(uint64_t set)
{
	(void) set;
}

bool
csv_devices_have(uint64_t set)
{
	(void) set;
	return false;
}

#endif
