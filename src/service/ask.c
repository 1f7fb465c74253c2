/*
 * ask.c
 *		Has a GPU answer queries over kept columns.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "ask.h"

#ifdef CSV_WITH_CUDA

#include "../../cuda/csv_cuda.h"

/* a copy of a set's columns */
typedef struct Copy
{
	LIST_ENTRY(Copy) of_all;
	uint64_t	set;
	CsvCudaColumns *columns;
	uint64_t	nbytes;			/* on the device, after the last question */
} Copy;

/*
 * One question at a time: columns on a device are for one thread.  Who forgets a
 * set does not wait for that.
 */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, Copy) copies = LIST_HEAD_INITIALIZER(copies);

/* for who only looks at the list, and must not wait: held beside the other to change it */
static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;

/* a question that is being answered */
typedef struct Asking
{
	const CsvColumnsQuestion *asked;
	CsvSession *session;
	CsvCudaColumns *columns;
	CsvCudaQuestion question;
	CsvArray   *arrays;			/* of a batch of the store */
	uint32_t   *places;
	uint8_t    *seen;
	uint32_t   *widths;			/* bytes of an entry, per column of the store */
	char	   *reason;
	size_t		reason_size;
} Asking;

/* sets that are forgotten, and perhaps not gone yet */
static pthread_mutex_t forgotten_mutex = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, Copy) forgotten = LIST_HEAD_INITIALIZER(forgotten);

static Copy *
find_copy(uint64_t set)
{
	Copy	   *copy;

	LIST_FOREACH(copy, &copies, of_all)
		if (copy->set == set)
			return copy;
	return NULL;
}

/* copies of sets that are forgotten go */
static void
sweep(void)
{
	Copy	   *which;

	pthread_mutex_lock(&forgotten_mutex);
	while ((which = LIST_FIRST(&forgotten)) != NULL)
	{
		Copy	   *copy = find_copy(which->set);

		LIST_REMOVE(which, of_all);
		free(which);
		if (copy == NULL)
			continue;
		pthread_mutex_lock(&list_mutex);
		LIST_REMOVE(copy, of_all);
		pthread_mutex_unlock(&list_mutex);
		csv_cuda_columns_free(copy->columns);
		free(copy);
	}
	pthread_mutex_unlock(&forgotten_mutex);
}

/* NULL: no memory */
static CsvCudaColumns *
get_columns(const Asking *asking)
{
	const CsvStore *store = asking->asked->store;
	Copy	   *copy = find_copy(asking->asked->set);

	if (copy != NULL)
		return copy->columns;
	copy = calloc(1, sizeof(Copy));
	if (copy == NULL)
		return NULL;
	copy->set = asking->asked->set;
	copy->columns = csv_cuda_columns_create(asking->session,
											csv_store_layout(store)->ncolumns,
											(uint32_t) csv_store_nrows(store));
	if (copy->columns == NULL)
	{
		free(copy);
		return NULL;
	}
	pthread_mutex_lock(&list_mutex);
	LIST_INSERT_HEAD(&copies, copy, of_all);
	pthread_mutex_unlock(&list_mutex);
	return copy->columns;
}

/* which of the store's columns the layout's are; false: it lacks one */
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

/* what is in any of the batches' statuses, and how wide entries are */
static bool
look_at_batches(Asking *asking)
{
	const CsvStore *store = asking->asked->store;
	const CsvLayout *layout = asking->asked->layout;

	for (uint32_t n = 0; n < csv_store_nbatches(store); n++)
	{
		CsvResidentBatch batch;

		if (!csv_store_batch(store, n, asking->arrays, &batch))
			return false;
		for (uint32_t i = 0; i < layout->ncolumns; i++)
		{
			uint32_t	place = asking->places[i];
			const CsvArray *array = &asking->arrays[place];

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

/* the rows of a part that are not there yet; false: no room, or it failed */
static bool
copy_part(Asking *asking, uint32_t place, bool statuses)
{
	const CsvStore *store = asking->asked->store;
	uint32_t	part = statuses ? CSV_CUDA_STATUSES(place) :
		CSV_CUDA_VALUES(place);
	uint32_t	nfilled = csv_cuda_columns_filled(asking->columns, part);
	uint32_t	width = statuses ? 1 : asking->widths[place];

	if (nfilled == csv_store_nrows(store))
		return true;
	for (uint32_t n = 0; n < csv_store_nbatches(store); n++)
	{
		const CsvArray *array = &asking->arrays[place];
		CsvResidentBatch batch;

		if (!csv_store_batch(store, n, asking->arrays, &batch))
			return false;
		if (batch.batch.nrows == 0 || batch.first_row < nfilled)
			continue;
		if (asking->asked->interrupted(asking->asked->interrupted_arg) ||
			!csv_cuda_columns_add(asking->columns, part,
								  (uint32_t) batch.first_row, width,
								  !statuses ? array->values :
								  array->all_ok ? NULL : array->status,
								  statuses ? 1 : array->stride,
								  batch.batch.nrows,
								  asking->question.memory_limit, asking->reason,
								  asking->reason_size))
			return false;
	}
	return true;
}

static bool
copy_columns(Asking *asking)
{
	const CsvCudaQuestion *question = &asking->question;
	uint32_t	ncolumns = question->layout->ncolumns;
	uint64_t	width = 0;

	for (uint32_t i = 0; i < ncolumns; i++)
	{
		if (csv_cuda_question_needs(question, i, false))
			width += asking->widths[asking->places[i]];
		width += csv_cuda_question_needs(question, i, true);
	}
	/* others are not to make room in vain */
	if (!csv_cuda_columns_may_be(asking->session, width *
								 csv_store_nrows(asking->asked->store),
								 question->memory_limit))
		return false;
	for (uint32_t i = 0; i < ncolumns; i++)
		for (int statuses = 0; statuses < 2; statuses++)
			if (csv_cuda_question_needs(question, i, statuses != 0) &&
				!copy_part(asking, asking->places[i], statuses != 0))
				return false;
	return true;
}

/* all rows; what has come so far stays in *answers, whatever happens */
static CsvStatus
ask_rows(Asking *asking, CsvColumnsAnswer **answers, bool *whole)
{
	uint32_t	nrows = (uint32_t) csv_store_nrows(asking->asked->store);

	for (uint32_t row = 0; row < nrows;)
	{
		CsvColumnsAnswer *next = calloc(1, sizeof(CsvColumnsAnswer));
		CsvStatus	status;

		if (next == NULL)
			return CSV_OK;
		next->first_row = row;
		next->nrows = nrows - row;
		status = csv_cuda_columns_answer(asking->columns, &asking->question, row,
										 &next->nrows, &next->answer,
										 asking->reason, asking->reason_size);
		if (status != CSV_OK || next->answer == NULL)
		{
			free(next);
			return status;
		}
		row += next->nrows;
		*answers = next;
		answers = &next->next;
	}
	*whole = true;
	return CSV_OK;
}

/* how much of the set is on the device now */
static void
note_bytes(uint64_t set)
{
	Copy	   *copy = find_copy(set);
	uint64_t	nbytes = copy == NULL ? 0 : csv_cuda_columns_bytes(copy->columns);

	pthread_mutex_lock(&list_mutex);
	if (copy != NULL)
		copy->nbytes = nbytes;
	pthread_mutex_unlock(&list_mutex);
}

/* is it a question for a device?  Of the store, which nobody changes. */
static bool
is_for_device(Asking *asking)
{
	const CsvColumnsQuestion *asked = asking->asked;
	uint64_t	nrows = csv_store_nrows(asked->store);

	if (nrows == 0 || nrows > INT32_MAX || !find_places(asking) ||
		!look_at_batches(asking))
		return false;
	for (uint32_t i = 0; i < asked->layout->ncolumns; i++)
		if (asked->request->all_certain &&
			(asking->seen[i] & CSV_CUDA_SEEN_SLOW) != 0)
			return false;
	return true;
}

static CsvStatus
ask(Asking *asking, CsvColumnsAnswer **answers, bool *whole)
{
	asking->columns = get_columns(asking);
	if (asking->columns == NULL ||
		!csv_cuda_question_fits(asking->session, &asking->question))
		return CSV_OK;
	if (copy_columns(asking))
		return ask_rows(asking, answers, whole);
	return asking->reason[0] != '\0' ? CSV_DEVICE_FAILED : CSV_OK;
}

CsvStatus
csv_device_ask(CsvDevice *device, const CsvColumnsQuestion *question,
				CsvColumnsAnswer **answers, char *reason, size_t reason_size)
{
	uint32_t	nkept = csv_store_layout(question->store)->ncolumns;
	uint32_t	ncolumns = question->layout->ncolumns;
	Asking		asking;
	CsvStatus	status = CSV_OK;
	bool		whole = false;

	*answers = NULL;
	reason[0] = '\0';
	memset(&asking, 0, sizeof(asking));
	asking.asked = question;
	asking.session = csv_device_session(device);
	asking.reason = reason;
	asking.reason_size = reason_size;
	asking.arrays = calloc(nkept + 1, sizeof(CsvArray));
	asking.places = calloc(ncolumns + 1, sizeof(uint32_t));
	asking.seen = calloc(ncolumns + 1, 1);
	asking.widths = calloc(nkept + 1, sizeof(uint32_t));
	asking.question.request = question->request;
	asking.question.layout = question->layout;
	asking.question.places = asking.places;
	asking.question.seen = asking.seen;
	asking.question.memory_limit = csv_device_memory_limit();
	asking.question.interrupted = question->interrupted;
	asking.question.interrupted_arg = question->interrupted_arg;
	if (asking.arrays != NULL && asking.places != NULL && asking.seen != NULL &&
		asking.widths != NULL && is_for_device(&asking))
	{
		pthread_mutex_lock(&mutex);
		sweep();
		if (csv_cuda_wake(asking.session, csv_device_number(device), reason,
						  reason_size))
		{
			status = ask(&asking, answers, &whole);
			note_bytes(question->set);
		}
		else
			status = CSV_DEVICE_FAILED;
		pthread_mutex_unlock(&mutex);
	}
	free(asking.arrays);
	free(asking.places);
	free(asking.seen);
	free(asking.widths);
	if (!whole)
	{
		csv_answers_free(device, *answers);
		*answers = NULL;
	}
	return status;
}

void
csv_answers_free(CsvDevice *device, CsvColumnsAnswer *answers)
{
	while (answers != NULL)
	{
		CsvColumnsAnswer *next = answers->next;

		csv_cuda_answer_free(csv_device_session(device), answers->answer);
		free(answers);
		answers = next;
	}
}

void
csv_device_forget(uint64_t set)
{
	Copy	   *which = calloc(1, sizeof(Copy));

	if (which == NULL)
		return;
	which->set = set;
	pthread_mutex_lock(&forgotten_mutex);
	LIST_INSERT_HEAD(&forgotten, which, of_all);
	pthread_mutex_unlock(&forgotten_mutex);
	if (pthread_mutex_trylock(&mutex) != 0)
		return;
	sweep();
	pthread_mutex_unlock(&mutex);
}

bool
csv_device_has(uint64_t set)
{
	Copy	   *copy;
	bool		exist;

	pthread_mutex_lock(&list_mutex);
	copy = find_copy(set);
	exist = copy != NULL && copy->nbytes > 0;
	pthread_mutex_unlock(&list_mutex);
	return exist;
}

#else							/* there are none */

CsvStatus
csv_device_ask(CsvDevice *device, const CsvColumnsQuestion *question,
				CsvColumnsAnswer **answers, char *reason, size_t reason_size)
{
	(void) device;
	(void) question;
	(void) reason;
	(void) reason_size;
	*answers = NULL;
	return CSV_OK;
}

void
csv_answers_free(CsvDevice *device, CsvColumnsAnswer *answers)
{
	(void) device;
	(void) answers;
}

void
csv_device_forget(uint64_t set)
{
	(void) set;
}

bool
csv_device_has(uint64_t set)
{
	(void) set;
	return false;
}

#endif
