/*
 * faults.c
 *		Which engine is to fail, and when.
 */
#include <pthread.h>
#include <stdlib.h>

#include "inject.h"

/* of an owner of memory, or of an engine */
typedef struct Entry
{
	struct Entry *next;
	const void *of;
	CsvInjected injected;
	int			nparsed;
} Entry;

CsvInjected csv_injected;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Entry *owners;
static Entry *engines;

static Entry **
find(Entry **list, const void *of)
{
	while (*list != NULL && (*list)->of != of)
		list = &(*list)->next;
	return list;
}

/* the entry, which is new where there was none; the mutex is held */
static Entry *
renew(Entry **list, const void *of)
{
	Entry	   *entry = *find(list, of);

	if (entry == NULL)
	{
		entry = calloc(1, sizeof(Entry));
		if (entry == NULL)
			abort();
		entry->of = of;
		entry->next = *list;
		*list = entry;
	}
	entry->nparsed = 0;
	return entry;
}

CsvInjected
csv_faults_find(const CsvMemory *memory)
{
	CsvInjected injected = csv_injected;
	Entry	   *entry;

	pthread_mutex_lock(&mutex);
	entry = *find(&owners, memory);
	if (entry != NULL)
		injected = entry->injected;
	pthread_mutex_unlock(&mutex);
	return injected;
}

void
csv_faults_set(const CsvMemory *memory, const CsvInjected *injected)
{
	pthread_mutex_lock(&mutex);
	renew(&owners, memory)->injected = *injected;
	pthread_mutex_unlock(&mutex);
}

void
csv_faults_open(const void *engine, int gpu_fault)
{
	pthread_mutex_lock(&mutex);
	renew(&engines, engine)->injected.gpu_fault = gpu_fault;
	pthread_mutex_unlock(&mutex);
}

int
csv_faults_now(const void *engine)
{
	int			fault = 0;
	Entry	   *entry;

	pthread_mutex_lock(&mutex);
	entry = *find(&engines, engine);
	if (entry != NULL && ++entry->nparsed == abs(entry->injected.gpu_fault))
		fault = entry->injected.gpu_fault;
	pthread_mutex_unlock(&mutex);
	return fault;
}

void
csv_faults_close(const void *engine)
{
	Entry	  **place;
	Entry	   *entry;

	pthread_mutex_lock(&mutex);
	place = find(&engines, engine);
	entry = *place;
	if (entry != NULL)
		*place = entry->next;
	pthread_mutex_unlock(&mutex);
	free(entry);
}
