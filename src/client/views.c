/*
 * views.c
 *		What all sessions share, for SQL: csv_gpu_stat, csv_gpu_devices(),
 *		csv_gpu_resident(), csv_gpu_forget().
 */
#include "postgres.h"

#include <unistd.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "nodes/value.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "client/connection.h"
#include "client/gpu.h"
#include "compat.h"
#include "settings.h"
#include "table/counts.h"
#include "table/release.h"
#include "wire/store.h"

/* from 1970 to 2000 */
#define CSV_UNIX_TO_POSTGRES_MICROSECONDS \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

/* the pause before the next question for a list of devices */
#define CSV_LIST_MILLISECONDS	10

/* a set of columns, as a table of this database uses it */
typedef struct Listed
{
	const CsvListEntry *entry;
	const CsvKeyColumn *columns;
	const CsvGroupingMessage *groupings;
} Listed;

/* ---- the list ---- */

/* n entries at *at, which moves on; ERROR if they go beyond the end */
static const void *
take(char **at, const char *end, uint32 n, Size size)
{
	const void *entries = *at;

	if (n > (Size) (end - *at) / size)
		elog(ERROR, "csv_gpu_service sent a list that is not as it should be");
	*at += n * size;
	return entries;
}

/*
 * Ask for a list.  Returns its bytes, and sets *nbytes and *nentries; NULL: the
 * program does not run.
 */
static char *
ask_for_list(const void *message, Size size, Size *nbytes, uint32 *nentries)
{
	CsvMessage	answer;
	CsvDescriptors came;
	int64		length;
	char	   *bytes = NULL;

	if (!csv_service_ask(message, size, NULL, &answer, &came))
		return NULL;
	length = came.n == 1 ? csv_memory_file_size(came.files[0], true) : -1;
	if (length >= 0)
		bytes = palloc_extended(length + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	if (bytes != NULL && pread(came.files[0], bytes, length, 0) != length)
		bytes = NULL;
	csv_wire_close(&came);
	if (bytes == NULL)
		elog(ERROR, "could not read a list of csv_gpu_service: %m");
	*nbytes = (Size) length;
	*nentries = answer.listed.nentries;
	return bytes;
}

/* sets of this database, the last used first; NULL with *n 0: no program runs */
static Listed *
list_sets(int *n)
{
	CsvListMessage message = {CSV_MESSAGE_LIST, MyDatabaseId};
	uint32		nentries;
	Size		nbytes;
	char	   *at;
	char	   *end;
	Listed	   *listed;

	*n = 0;
	if (!csv_service_connect(false) ||
		(at = ask_for_list(&message, sizeof(message), &nbytes,
						   &nentries)) == NULL)
		return NULL;
	end = at + nbytes;
	if (nentries > nbytes / sizeof(CsvListEntry))
		elog(ERROR, "csv_gpu_service sent a list that is not as it should be");
	*n = (int) nentries;
	listed = palloc(sizeof(Listed) * (*n + 1));
	for (int i = 0; i < *n; i++)
	{
		const CsvListEntry *entry = take(&at, end, 1, sizeof(CsvListEntry));

		listed[i].entry = entry;
		listed[i].columns = take(&at, end, entry->ncolumns,
								 sizeof(CsvKeyColumn));
		listed[i].groupings = take(&at, end, entry->ngroupings,
								   sizeof(CsvGroupingMessage));
	}
	return listed;
}

/* the table no longer uses the set; all: drop all sets; returns how many went */
static int32
forget(const CsvListEntry *entry, bool all)
{
	CsvForgetMessage message;
	CsvMessage	answer;

	memset(&message, 0, sizeof(message));
	message.kind = CSV_MESSAGE_FORGET;
	message.all = all;
	if (!all)
	{
		message.set = entry->set;
		message.database = entry->user.database;
		message.table = entry->user.table;
	}
	return csv_service_ask(&message, sizeof(message), NULL, &answer, NULL) ?
		(int32) answer.done.count : 0;
}

/* ---- SQL ---- */

static const char *
column_name(const Listed *listed, AttrNumber attnum)
{
	const char *name = get_attname(listed->entry->user.table, attnum, true);

	return name != NULL ? name : "";
}

static Datum
text_array(Datum *texts, int n)
{
	return PointerGetDatum(construct_array(texts, n, TEXTOID, -1, false,
										   TYPALIGN_INT));
}

static Datum
column_names(const Listed *listed)
{
	int			n = (int) listed->entry->ncolumns;
	Datum	   *names = palloc(sizeof(Datum) * Max(n, 1));

	for (int i = 0; i < n; i++)
		names[i] = CStringGetTextDatum(column_name(listed,
												   listed->columns[i].attnum));
	return text_array(names, n);
}

/* each grouping as a list of columns, as in GROUP BY */
static Datum
grouping_names(const Listed *listed)
{
	List	   *names = NIL;
	Datum	   *texts;
	ListCell   *cell;
	int			n = 0;

	for (uint32 i = 0; i < listed->entry->ngroupings; i++)
	{
		const CsvGroupingMessage *grouping = &listed->groupings[i];
		StringInfoData name;

		initStringInfo(&name);
		for (uint32 k = 0; k < Min(grouping->nkeys, CSV_MOST_GROUPING_KEYS); k++)
			appendStringInfo(&name, "%s%s", k > 0 ? ", " : "",
							 quote_identifier(column_name(listed,
														  grouping->keys[k].attnum)));
		names = list_append_unique(names, makeString(name.data));
	}
	texts = palloc(sizeof(Datum) * Max(list_length(names), 1));
	foreach(cell, names)
		texts[n++] = CStringGetTextDatum(strVal(lfirst(cell)));
	return text_array(texts, n);
}

PG_FUNCTION_INFO_V1(csv_gpu_resident);

/*
 * A row for each file, set of columns, and table of this database that uses it, if the
 * user may read the table.  Tables that were dropped no longer use
 * their sets.
 */
Datum
csv_gpu_resident(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Listed	   *listed;
	int			n;

	csv_begin_function(fcinfo, "strict -> setof text regclass text[] bigint bigint text "
					   "timestamp with time zone text[]");
	listed = list_sets(&n);
	for (int i = 0; i < n; i++)
	{
		const CsvListEntry *entry = listed[i].entry;
		Datum		values[8];
		bool		nulls[8] = {false};
		bool		is_missing = false;
		AclResult	allowed = pg_class_aclcheck_ext(entry->user.table,
													GetUserId(), ACL_SELECT,
													&is_missing);

		if (is_missing)
			(void) forget(entry, false);
		if (is_missing || allowed != ACLCHECK_OK)
			continue;
		values[0] = CStringGetTextDatum(pnstrdup(entry->user.filename,
												 CSV_NAME_BYTES));
		values[1] = ObjectIdGetDatum(entry->user.table);
		values[2] = column_names(&listed[i]);
		values[3] = Int64GetDatum((int64) entry->nrows);
		values[4] = Int64GetDatum((int64) entry->nbytes);
		values[5] = CStringGetTextDatum(entry->on_device != 0 ?
										"host, device" : "host");
		values[6] = TimestampTzGetDatum(entry->last_used -
										CSV_UNIX_TO_POSTGRES_MICROSECONDS);
		values[7] = grouping_names(&listed[i]);
		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(csv_gpu_forget);

/*
 * The number of files and sets of columns that were dropped: all, for a superuser;
 * otherwise sets that only the user's tables use.
 */
Datum
csv_gpu_forget(PG_FUNCTION_ARGS)
{
	int32		nforgotten = 0;
	Listed	   *listed;
	int			n;

	csv_begin_function(fcinfo, "strict -> integer");
	if (superuser())
		PG_RETURN_INT32(csv_service_connect(false) ? forget(NULL, true) : 0);
	listed = list_sets(&n);
	for (int i = 0; i < n; i++)
		if (csv_owns_table(listed[i].entry->user.table, GetUserId()))
			nforgotten += forget(listed[i].entry, false);
	PG_RETURN_INT32(nforgotten);
}

PG_FUNCTION_INFO_V1(csv_gpu_devices);

/*
 * A row for each GPU that the program sees.  If there may be a GPU, starts the
 * program, but no GPU.
 */
Datum
csv_gpu_devices(PG_FUNCTION_ARGS)
{
	static uint32 wait_event = 0;
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	uint32		message = CSV_MESSAGE_DEVICES;
	uint32		n;
	Size		nbytes;
	char	   *at;
	char	   *end;

	csv_begin_function(fcinfo, "strict -> setof integer text text bigint bigint boolean text");
	if (!csv_service_connect(csv_gpu_state(CSV_ANY_DEVICE, NULL) !=
							 CSV_DEVICE_NONE) ||
		!csv_service_has_cuda())
		return (Datum) 0;

	/* drivers may take long */
	while ((at = ask_for_list(&message, sizeof(message), &nbytes, &n)) != NULL &&
		   n == CSV_LATER)
		csv_service_pause(CSV_LIST_MILLISECONDS,
						  csv_wait_event(&wait_event, "CsvGpuDevices"));
	if (at == NULL)
		return (Datum) 0;
	end = at + nbytes;
	while (n-- > 0)
	{
		const CsvDeviceEntry *entry = take(&at, end, 1, sizeof(CsvDeviceEntry));
		Datum		values[7];
		bool		nulls[7] = {false};

		values[0] = Int32GetDatum(entry->number);
		values[1] = CStringGetTextDatum(pnstrdup(entry->name,
												 CSV_DEVICE_NAME_BYTES));
		values[2] = CStringGetTextDatum(psprintf("%d.%d",
												 entry->capability_major,
												 entry->capability_minor));
		values[3] = Int64GetDatum((int64) entry->memory_total);
		values[4] = Int64GetDatum(entry->memory_free);
		nulls[4] = entry->memory_free < 0;
		values[5] = BoolGetDatum(entry->usable != 0);
		values[6] = CStringGetTextDatum(pnstrdup(entry->reason,
												 CSV_DEVICE_NAME_BYTES));
		nulls[6] = entry->reason[0] == '\0';
		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(csv_gpu_stat);

/*
 * The number of scans that fell back, for each reason that occurred.  For the host,
 * also of COPY (in `host`; otherwise it is NULL).
 */
static Datum
fallbacks_of(const CsvCounts *counts, const CsvHostCounts *host)
{
	static const char *names[CSV_NUM_FALLBACKS] = {
		[CSV_FALLBACK_FAILED] = "failed",
		[CSV_FALLBACK_MEMORY] = "memory",
		[CSV_FALLBACK_STARTING] = "starting"
	};
	const char *separator = "";
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoChar(&text, '{');
	for (int i = 0; i < CSV_NUM_FALLBACKS; i++)
		if (counts->fallbacks[i] > 0)
		{
			appendStringInfo(&text, "%s\"%s\": " UINT64_FORMAT, separator,
							 names[i], counts->fallbacks[i]);
			separator = ", ";
		}
	for (int i = 0; host != NULL && i < host->nreasons; i++)
	{
		appendStringInfoString(&text, i == 0 ? "\"copy\": {" : ", ");
		escape_json(&text, host->reasons[i].text);
		appendStringInfo(&text, ": " UINT64_FORMAT "%s", host->reasons[i].count,
						 i + 1 == host->nreasons ? "}" : "");
	}
	appendStringInfoChar(&text, '}');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(text.data));
}

/* runs: the program runs */
static void
put_statistics(ReturnSetInfo *result, const CsvStatisticsMessage *message,
			   const CsvStatistics *statistics, bool runs)
{
	const CsvCounts *counts = &statistics->counts;
	bool		is_host = statistics->device < 0;
	CsvHostCounts host;
	Datum		values[16];
	bool		nulls[16] = {false};

	if (is_host)
	{
		csv_host_counts_get(&host);
		host.counts.resident_hits = counts->resident_hits;
		host.counts.resident_misses = counts->resident_misses;
		counts = &host.counts;
	}
	values[0] = Int32GetDatum(statistics->device);
	nulls[0] = is_host;
	values[1] = CStringGetTextDatum(pnstrdup(statistics->name,
											 CSV_DEVICE_NAME_BYTES));
	values[2] = Int32GetDatum(message->pid);
	values[3] = TimestampTzGetDatum(message->since -
									CSV_UNIX_TO_POSTGRES_MICROSECONDS);
	nulls[2] = nulls[3] = !runs;
	values[4] = Int32GetDatum((int32) counts->scans_running);
	values[5] = Int64GetDatum((int64) counts->scans_done);
	values[6] = Int64GetDatum((int64) counts->bytes_read);
	values[7] = Int64GetDatum((int64) counts->chunks);
	values[8] = Int64GetDatum((int64) counts->rows);
	values[9] = Int64GetDatum((int64) counts->resident_hits);
	values[10] = Int64GetDatum((int64) counts->resident_misses);
	values[11] = fallbacks_of(counts, is_host ? &host : NULL);
	values[12] = Int64GetDatum((int64) statistics->memory_held);
	values[13] = Int64GetDatum((int64) statistics->memory_limit);
	values[14] = Int64GetDatum((int64) counts->failures);
	values[15] = Int64GetDatum(is_host ? (int64) host.records_skipped : 0);
	nulls[15] = !is_host;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* a row for the host, and for each device in use; does not start the program */
Datum
csv_gpu_stat(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	uint32		message = CSV_MESSAGE_STATISTICS;
	CsvMessage	answer;
	bool		runs;

	csv_begin_function(fcinfo, "strict -> setof integer text integer timestamp with time zone "
					   "integer bigint bigint bigint bigint bigint bigint jsonb bigint "
					   "bigint bigint bigint");
	runs = csv_service_connect(false) &&
		csv_service_ask(&message, sizeof(message), NULL, &answer, NULL);
	if (!runs)
	{
		CsvStatistics *host = &answer.statistics.of[0];

		memset(&answer, 0, sizeof(answer));
		host->device = -1;
		host->memory_limit = csv_settings.resident_memory;
		strlcpy(host->name, "host", sizeof(host->name));
		answer.statistics.n = 1;
	}
	for (uint32 i = 0; i < Min(answer.statistics.n, 1 + CSV_MOST_DEVICES); i++)
		put_statistics(result, &answer.statistics, &answer.statistics.of[i], runs);
	return (Datum) 0;
}
