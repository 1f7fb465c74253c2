/*
 * job.c
 *		What the processes of one csv_gpu_unload() share.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/dsm.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "output/format.h"
#include "output/job.h"
#include "output/keys.h"
#include "output/hidden.h"

static void
add_text(CsvOutputBytes *texts, const char *text)
{
	csv_output_bytes(texts, text, strlen(text) + 1);
}

/* the keys, and the texts, which need the other columns */
static void
set_columns(CsvJobShared *shared, const CsvUnloadPlan *plan, CsvOutputBytes *texts)
{
	int			natts = plan->tupdesc->natts;
	CsvFormatted *columns = palloc0(sizeof(CsvFormatted) * (size_t) Max(natts, 1));
	int			ncolumns = 0;
	ListCell   *cell;

	shared->natts = natts;
	shared->nkeys = list_length(plan->keys);
	foreach(cell, plan->keys)
		shared->keys[lfirst_int(cell)] = (uint16) (foreach_current_index(cell) + 1);
	for (int i = 0; i < natts; i++)
		if (shared->keys[i] == 0)
			columns[ncolumns++].att = i;
	csv_output_format_begin(&shared->format, plan->copy, ncolumns);

	add_text(texts, plan->copy->null_print);
	add_text(texts, plan->directory);
	if (plan->copy->header_line != COPY_HEADER_FALSE)
	{
		csv_format_header(columns, ncolumns, plan->tupdesc, texts, &shared->format);
		csv_output_byte(texts, '\n');
	}
	csv_output_byte(texts, '\0');
	foreach(cell, plan->keys)
		csv_key_name(texts, NameStr(TupleDescAttr(plan->tupdesc, lfirst_int(cell))->attname));
}

int64
csv_job_create(const CsvUnloadPlan *plan)
{
	CsvJobShared *shared = palloc0(sizeof(CsvJobShared));
	dsm_segment *segment;
	CsvOutputBytes texts;

	csv_output_begin(&texts, 1024);
	shared->leader = MyProcPid;
	shared->compression = plan->compression;
	shared->most_bytes = plan->most_bytes;
	shared->dev = plan->dev;
	shared->ino = plan->ino;
	set_columns(shared, plan, &texts);
	pg_atomic_init_u64(&shared->nrecords, 0);
	pg_atomic_init_u64(&shared->nbytes, 0);

	segment = dsm_create(offsetof(CsvJobShared, texts) + texts.length, 0);
	memcpy(dsm_segment_address(segment), shared, offsetof(CsvJobShared, texts));
	shared = dsm_segment_address(segment);
	memcpy(shared->texts, texts.bytes, texts.length);
	for (int i = 0; i < CSV_JOB_LOCKS; i++)
		LWLockInitialize(&shared->locks[i], LWTRANCHE_PARALLEL_QUERY_DSA);
	return dsm_segment_handle(segment);
}

void
csv_job_end(int64 handle)
{
	dsm_detach(dsm_find_mapping((dsm_handle) handle));
}

CsvJob *
csv_job_open(int64 handle)
{
	CsvJob	   *job = palloc(sizeof(CsvJob));
	dsm_segment *segment = dsm_find_mapping((dsm_handle) handle);

	if (segment == NULL)
	{
		segment = dsm_attach((dsm_handle) handle);
		if (segment == NULL)
			elog(ERROR, "could not map dynamic shared memory segment");
		/* until the worker exits */
		dsm_pin_mapping(segment);
	}
	job->shared = dsm_segment_address(segment);
	job->null = job->shared->texts;
	job->directory = job->null + strlen(job->null) + 1;
	job->header = job->directory + strlen(job->directory) + 1;
	job->key_names = job->header + strlen(job->header) + 1;
	return job;
}

char *
csv_job_file(const CsvJob *job, const char *stream, int number)
{
	Datum		digest;

	/* keys may be longer than the name of a file */
	if (job->shared->nkeys > 0)
	{
		digest = DirectFunctionCall1(sha256_bytea, CStringGetTextDatum(stream));
		stream = TextDatumGetCString(DirectFunctionCall2(binary_encode, digest,
														 CStringGetTextDatum("hex")));
	}
	return psprintf(CSV_HIDDEN_ROWS "%s-%d", stream, number);
}
