/*
 * job.c
 *		What the processes of one csv_gpu_unload() share.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/builtins.h"

#include "compat.h"
#include "output/format.h"
#include "output/job.h"
#include "output/keys.h"
#include "output/staging.h"

#define CSV_JOB_MAGIC		UINT64CONST(0x637376756e6c6f64)

/* for small jobs; the area grows by itself */
#define CSV_AREA_BYTES		(256 * 1024)

#define CSV_JOB_OFFSET		MAXALIGN(sizeof(CsvJobShared))

/* of the innermost csv_gpu_unload() that this process takes part in */
static CsvJob *current_job;

CsvJob *
csv_job_current(void)
{
	return current_job;
}

void
csv_job_forget(CsvJob *before)
{
	current_job = before;
}

static dsa_pointer
share_bytes(CsvJob *job, const void *bytes, size_t n)
{
	dsa_pointer shared = dsa_allocate(job->area, Max(n, 1));

	memcpy(dsa_get_address(job->area, shared), bytes, n);
	return shared;
}

static dsa_pointer
share_text(CsvJob *job, const char *text)
{
	return share_bytes(job, text, strlen(text) + 1);
}

/* the keys, and what is written of other columns */
static void
share_columns(CsvJob *job, const CsvUnloadPlan *plan)
{
	CsvJobShared *shared = job->shared;
	int			natts = plan->tupdesc->natts;
	uint16	   *keys = palloc0(sizeof(uint16) * (size_t) Max(natts, 1));
	CsvFormatted *columns = palloc0(sizeof(CsvFormatted) * (size_t) Max(natts, 1));
	CsvOutputBytes names;
	CsvOutputBytes header;
	int			ncolumns = 0;
	ListCell   *cell;

	csv_output_begin(&names, 1024);
	csv_output_begin(&header, 1024);
	foreach(cell, plan->keys)
	{
		int			att = lfirst_int(cell);

		keys[att] = (uint16) (foreach_current_index(cell) + 1);
		csv_key_name(&names, NameStr(TupleDescAttr(plan->tupdesc, att)->attname));
	}
	for (int i = 0; i < natts; i++)
		if (keys[i] == 0)
			columns[ncolumns++].att = i;
	csv_output_format_begin(&shared->format, plan->copy, ncolumns);
	csv_output_format_null(&shared->format);
	if (plan->copy->header_line != COPY_HEADER_FALSE)
	{
		csv_format_header(columns, ncolumns, plan->tupdesc, &header, &shared->format);
		csv_output_byte(&header, '\n');
	}
	shared->natts = natts;
	shared->nkeys = list_length(plan->keys);
	shared->keys = share_bytes(job, keys, sizeof(uint16) * (size_t) natts);
	shared->key_names = share_bytes(job, names.bytes, names.length);
	shared->header = share_bytes(job, header.bytes, header.length);
	shared->header_length = header.length;
}

CsvJob *
csv_job_create(const CsvUnloadPlan *plan)
{
	CsvJob	   *job = palloc0(sizeof(CsvJob));
	dshash_parameters parameters = csv_shared_hash(CSV_STREAM_ID_BYTES,
												   sizeof(CsvStream));
	CsvJobShared *shared;

	job->segment = dsm_create(CSV_JOB_OFFSET + CSV_AREA_BYTES, 0);
	shared = job->shared = dsm_segment_address(job->segment);
	memset(shared, 0, sizeof(CsvJobShared));
	job->area = dsa_create_in_place((char *) shared + CSV_JOB_OFFSET, CSV_AREA_BYTES,
									LWTRANCHE_PARALLEL_QUERY_DSA, job->segment);
	job->streams = dshash_create(job->area, &parameters, NULL);
	shared->leader = MyProcPid;
	shared->role = GetUserId();
	shared->compression = plan->compression;
	shared->most_bytes = plan->most_bytes;
	shared->is_row = plan->is_row;
	shared->nthreads = 1;
	shared->null = share_text(job, plan->copy->null_print);
	shared->directory = share_text(job, plan->directory);
	share_columns(job, plan);
	shared->streams = dshash_get_hash_table_handle(job->streams);
	pg_atomic_init_u32(&shared->nstreams, 0);
	pg_atomic_init_u32(&shared->nfiles, 0);
	pg_atomic_init_u64(&shared->nrecords, 0);
	pg_atomic_init_u64(&shared->nbytes, 0);
	SpinLockInit(&shared->lock);
	shared->files = InvalidDsaPointer;
	shared->magic = CSV_JOB_MAGIC;
	current_job = job;
	return job;
}

int64
csv_job_handle(const CsvJob *job)
{
	return dsm_segment_handle(job->segment);
}

void
csv_job_refuse(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("this function is for %s only", "csv_gpu_unload()")));
}

CsvJob *
csv_job_attach(int64 handle)
{
	dshash_parameters parameters = csv_shared_hash(CSV_STREAM_ID_BYTES,
												   sizeof(CsvStream));
	PGPROC	   *leader = MyProc->lockGroupLeader;
	dsm_segment *segment;
	CsvJobShared *shared;
	CsvJob	   *job;

	if (current_job != NULL && csv_job_handle(current_job) == handle)
		return current_job;
	if (leader == NULL || leader == MyProc || handle <= 0 || handle > PG_UINT32_MAX)
		csv_job_refuse();
	segment = dsm_attach((dsm_handle) handle);
	if (segment == NULL)
		csv_job_refuse();
	shared = dsm_segment_address(segment);
	if (dsm_segment_map_length(segment) < CSV_JOB_OFFSET + CSV_AREA_BYTES ||
		shared->magic != CSV_JOB_MAGIC || shared->leader != leader->pid ||
		shared->role != GetUserId())
		csv_job_refuse();
	job = MemoryContextAllocZero(TopTransactionContext, sizeof(CsvJob));
	job->segment = segment;
	job->shared = shared;
	job->area = dsa_attach_in_place((char *) shared + CSV_JOB_OFFSET, segment);
	/* until the worker exits */
	dsm_pin_mapping(segment);
	dsa_pin_mapping(job->area);
	job->streams = dshash_attach(job->area, &parameters, shared->streams, NULL);
	current_job = job;
	return job;
}

char *
csv_job_path(const CsvJob *job, const CsvUnloadFile *file)
{
	return psprintf("%s/" CSV_STAGING_ROWS "%u",
					(char *) dsa_get_address(job->area, job->shared->directory), file->name);
}

/* ---- for the leader ---- */

bool
csv_job_is_empty(const CsvJob *job)
{
	return pg_atomic_read_u32(&job->shared->nfiles) == 0;
}

static int
compare_files(const void *a, const void *b)
{
	const CsvWritten *first = a;
	const CsvWritten *second = b;
	int			order = first->directory == NULL ? 0 :
		strcmp(first->directory, second->directory);

	if (order == 0 && first->stream != second->stream)
		order = first->stream < second->stream ? -1 : 1;
	return order != 0 ? order : first->number < second->number ? -1 : 1;
}

CsvWritten *
csv_job_files(CsvJob *job, int *nfiles)
{
	CsvJobShared *shared = job->shared;
	int			nmost = (int) pg_atomic_read_u32(&shared->nfiles);
	CsvWritten *files = palloc_extended(sizeof(CsvWritten) * (size_t) Max(nmost, 1),
										MCXT_ALLOC_HUGE);
	int			n = 0;
	dsa_pointer at = shared->files;

	while (DsaPointerIsValid(at))
	{
		CsvUnloadFile *file = dsa_get_address(job->area, at);

		files[n++] = (CsvWritten) {
			.directory = DsaPointerIsValid(file->directory) ?
			dsa_get_address(job->area, file->directory) : NULL,
			.stream = file->stream, .number = file->number,
			.name = file->name,
			.nrecords = file->nrecords, .nbytes = file->nbytes
		};
		at = file->next;
	}
	if (n > 1)
		qsort(files, (size_t) n, sizeof(CsvWritten), compare_files);
	for (int i = 0; i < n; i++)
		files[i].is_alone = files[i].number == 1 &&
			(i + 1 == n || files[i + 1].stream != files[i].stream);
	*nfiles = n;
	return files;
}

void
csv_job_end(CsvJob *job, CsvJob *before)
{
	current_job = before;
	dshash_detach(job->streams);
	dsa_detach(job->area);
	dsm_detach(job->segment);
}
