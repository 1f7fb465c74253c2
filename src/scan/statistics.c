/*
 * statistics.c
 *		Statistics of columns for the planner, of a sample of places.
 *
 * PostgreSQL's own functions compute them, as for ANALYZE.  But where equal
 * values stand side by side, as the lines of an order do, few places have many
 * of these duplicates.  There the rows of a place with one value count as one.
 */
#include "postgres.h"

#include <math.h>
#include <sys/stat.h>

#include "access/table.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type_d.h"
#include "port/pg_bitutils.h"
#include "utils/array.h"

#include "compat.h"
#include "scan/execute.h"
#include "table/listing.h"

/* in a sample; a longer record counts as bad */
#define PLACES			32
#define ROWS			4096
#define MOST_ROWS		(4 * ROWS)
#define RECORD_BYTES	(1024 * 1024)

/* the correlation of a column whose values are sorted, more or less */
#define SORTED			0.5

/* a CsvSkippedFn */
static bool
pass_over(void *arg, const CsvSkipped *skipped)
{
	return true;
}

/* divide the places among the files, by size; leave out files without any */
static const int *
divide_places(CsvTable *table)
{
	const bool *left_out = table->left_out;
	double		per_byte =
		PLACES / (double) Max(csv_source_size(table).file_bytes, 1);
	double		upto = 0;
	int		   *nplaces;

	if (table->files == NULL)
		(void) csv_find_files(table, true, &table->files, &table->nfiles);
	nplaces = palloc(sizeof(int) * (table->nfiles + 1));
	table->left_out = palloc(sizeof(bool) * (table->nfiles + 1));
	for (int i = 0; i < table->nfiles; i++)
	{
		double		before = ceil(upto * per_byte);
		struct stat st;

		if ((left_out == NULL || !left_out[i]) &&
			csv_table_stat(table, table->files[i], &st) == 0)
			upto += (double) st.st_size;
		nplaces[i] = (int) Min(ceil(upto * per_byte) - before, PLACES);
		table->left_out[i] = nplaces[i] == 0;
	}
	return nplaces;
}

CsvSampledRows *
csv_sample_rows(const CsvTable *table, const Bitmapset *attributes)
{
	CsvSampledRows *sample = palloc0(sizeof(CsvSampledRows));
	CsvTable	sampled = *table;
	CsvSampling sampling = {.nplaces = divide_places(&sampled)};
	Relation	relation = table_open(table->relid, NoLock);
	Datum	   *values = palloc0(sizeof(Datum) * table->natts);
	bool	   *isnull = palloc(sizeof(bool) * table->natts);
	int			stride = 1;
	CsvTableScan *scan;
	CsvBatches *batches;

	sample->attributes = attributes;
	sample->tupdesc = CreateTupleDescCopy(RelationGetDescr(relation));
	sample->rows = palloc(sizeof(HeapTuple) * MOST_ROWS);
	table_close(relation, NoLock);
	sampled.stop = false;
	sampled.reject_count = -1;
	sampled.reject_percent = -1;
	sampled.verbosity = CSV_VERBOSITY_SILENT;
	sampled.reader.chunk_bytes = CSV_PLACE_BYTES;
	sampled.reader.max_record_bytes =
		Min(table->reader.max_record_bytes, RECORD_BYTES);
	sampled.settings.engine = CSV_ENGINE_CPU;
	sampled.settings.cpu_threads = 1;
	scan = csv_table_scan_begin(&sampled, attributes, NULL, 0, pass_over, NULL);
	batches = scan->batches;
	batches->callbacks.changed = NULL;
	batches->sampling = &sampling;
	memset(isnull, true, sizeof(bool) * table->natts);
	while (csv_table_scan_next(scan, values, isnull))
	{
		const CsvBatch *batch = &scan->at->batch;
		double		nbytes = Min(batches->nbytes, PLACES * CSV_PLACE_BYTES);
		HeapTuple	row;

		if (sample->nseen == 0)
			stride = 1 + (int) (nbytes / batch->consumed * batch->nrows / ROWS);
		if (sample->nseen++ % stride != 0 || sample->nrows == MOST_ROWS)
			continue;
		row = heap_form_tuple(sample->tupdesc, values, isnull);
		row->t_tableOid = (Oid) batches->statistics.chunks;
		sample->rows[sample->nrows++] = row;
	}
	sample->row_bytes = (double) Max(batches->statistics.bytes, 1) /
		(double) Max(sample->nseen, 1);
	sample->is_part = sampling.is_part;
	csv_table_scan_end(scan);
	MemoryContextDelete(scan->context);
	return sampling.is_late ? NULL : sample;
}

int32
csv_sampled_width(const CsvSampledRows *sample, AttrNumber attnum)
{
	double		nbytes = 0;
	int			n = 0;

	for (int i = 0; i < sample->nrows; i++)
	{
		bool		isnull;
		Datum		value = heap_getattr(sample->rows[i], attnum,
										 sample->tupdesc, &isnull);

		nbytes += isnull ? 0 : (double) VARSIZE_ANY(DatumGetPointer(value));
		n += !isnull;
	}
	return (int32) ceil(nbytes / Max(n, 1));
}

/* an AnalyzeAttrFetchFunc */
static Datum
fetch_value(VacAttrStats *stats, int row, bool *isnull)
{
	return heap_getattr(stats->rows[row], stats->tupattnum, stats->tupDesc,
						isnull);
}

/* a value, in a table of hashes */
typedef struct SampledValue
{
	uint64		hash;
	Oid			place;			/* the last that has it; 0: the entry is free */
	bool		is_local;		/* no other place has it */
} SampledValue;

/*
 * PostgreSQL's estimate of the distinct values (Haas and Stokes, Duj1), and no
 * more than are in the range of an integer key; 0: not known.  If most are at
 * one place each, leaves only the first row of each place and value in
 * stats->rows, and their number in *nrows.
 */
static double
count_distinct(VacAttrStats *stats, const CsvSampledRows *sample,
			   double ntuples, int *nrows)
{
	Oid			type = stats->attrtypid;
	TypeCacheEntry *cached =
		lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC_FINFO);
	FmgrInfo   *function = &cached->hash_extended_proc_finfo;
	uint32		mask = pg_nextpower2_32((uint32) sample->nrows * 2) - 1;
	SampledValue *entries = palloc0(sizeof(SampledValue) * (mask + 1));
	HeapTuple  *firsts = palloc(sizeof(HeapTuple) * sample->nrows);
	Oid			last = 0;
	int64		least = PG_INT64_MAX;
	int64		greatest = PG_INT64_MIN;
	double		n = 0;			/* values, */
	double		nplaces = 0;	/* places that have any, */
	int			nfirsts = 0;	/* values, of each place once, */
	double		nlocal = 0;		/* distinct values that only one place has, */
	double		ndistinct = 0;	/* all of them */
	double		ntable;			/* the table's number of what nfirsts counts */

	for (int i = 0; OidIsValid(function->fn_oid) && i < sample->nrows; i++)
	{
		Oid			place = sample->rows[i]->t_tableOid;
		bool		isnull;
		Datum		value = fetch_value(stats, i, &isnull);
		SampledValue *entry;
		uint64		hash;
		uint64		at;

		if (isnull)
			continue;
		least = Min(least, (int64) value);
		greatest = Max(greatest, (int64) value);
		value = FunctionCall2Coll(function, stats->attrcollid, value, 0);
		hash = at = DatumGetUInt64(value);
		while ((entry = &entries[at & mask])->place != 0 && entry->hash != hash)
			at++;
		n++;
		nplaces += place != last;
		last = place;
		if (entry->place == place)
			continue;
		firsts[nfirsts++] = sample->rows[i];
		ndistinct += entry->place == 0;
		nlocal += entry->place == 0 ? 1 : entry->is_local ? -1 : 0;
		*entry = (SampledValue) {hash, place, entry->place == 0};
	}
	if (n == 0)
		return 0;
	if ((double) sample->nseen < ntuples * 0.9 && nfirsts < n * 0.9 &&
		nlocal > ndistinct * 0.5)
	{
		stats->rows = firsts;
		*nrows = nfirsts;
	}
	stats->stanullfrac = (float4) (1 - n / sample->nrows);
	ntable = ntuples * n / sample->nrows;
	if (n > nplaces)
		ntable *= (nfirsts - nplaces) / (n - nplaces);
	ntable = Max(ntable, nfirsts);
	n = nfirsts * ndistinct / (nfirsts - nlocal + nlocal * (nfirsts / ntable));
	if (nlocal > 0 && (type == INT2OID || type == INT4OID || type == INT8OID ||
					   type == DATEOID))
		n = Min(n,
				((double) greatest - (double) least) * (1 + 1.0 / nfirsts) + 1);
	return Max(n, ndistinct);
}

/* update_attstats() of PostgreSQL's analyze.c, without the update */
static HeapTuple
form_statistics(Oid relid, const VacAttrStats *stats)
{
	Relation	catalog = table_open(StatisticRelationId, AccessShareLock);
	Datum		values[Natts_pg_statistic] = {
		ObjectIdGetDatum(relid), Int16GetDatum(stats->tupattnum),
		BoolGetDatum(false), Float4GetDatum(stats->stanullfrac),
		Int32GetDatum(stats->stawidth), Float4GetDatum(stats->stadistinct)
	};
	bool		nulls[Natts_pg_statistic] = {false};
	HeapTuple	tuple;

	for (int k = 0; k < STATISTIC_NUM_SLOTS; k++)
	{
		int			n = stats->numnumbers[k];
		Datum	   *numbers = palloc(sizeof(Datum) * Max(n, 1));
		Datum	   *value = values + k - 1;
		ArrayType  *array;

		for (int i = 0; i < n; i++)
			numbers[i] = Float4GetDatum(stats->stanumbers[k][i]);
		value[Anum_pg_statistic_stakind1] = Int16GetDatum(stats->stakind[k]);
		value[Anum_pg_statistic_staop1] = ObjectIdGetDatum(stats->staop[k]);
		value[Anum_pg_statistic_stacoll1] = ObjectIdGetDatum(stats->stacoll[k]);
		array = construct_array(numbers, n, FLOAT4OID, 4, true, TYPALIGN_INT);
		value[Anum_pg_statistic_stanumbers1] = PointerGetDatum(array);
		nulls[Anum_pg_statistic_stanumbers1 - 1 + k] = n == 0;
		n = stats->numvalues[k];
		array = construct_array(stats->stavalues[k], n, stats->statypid[k],
								stats->statyplen[k], stats->statypbyval[k],
								stats->statypalign[k]);
		value[Anum_pg_statistic_stavalues1] = PointerGetDatum(array);
		nulls[Anum_pg_statistic_stavalues1 - 1 + k] = n == 0;
	}
	tuple = heap_form_tuple(RelationGetDescr(catalog), values, nulls);
	table_close(catalog, AccessShareLock);
	return tuple;
}

HeapTuple
csv_column_statistics(const CsvSampledRows *sample, Oid relid,
					  AttrNumber attnum, double ntuples)
{
	Form_pg_attribute attribute = TupleDescAttr(sample->tupdesc, attnum - 1);
	Oid			oid = attribute->atttypid;
	HeapTuple	tuple = SearchSysCacheCopy1(TYPEOID, ObjectIdGetDatum(oid));
	Form_pg_type type = (Form_pg_type) GETSTRUCT(tuple);
	VacAttrStats stats = {
		CSV_STATISTICS_TARGET(attribute),
		.attrtypid = oid,
		.attrtypmod = attribute->atttypmod,
		.attrtype = type,
		.attrcollid = attribute->attcollation,
		.anl_context = CurrentMemoryContext,
		.tupattnum = attnum,
		.rows = sample->rows,
		.tupDesc = sample->tupdesc
	};
	int			nrows = sample->nrows;
	double		ndistinct;
	float4		null_fraction;

	for (int k = 0; k < STATISTIC_NUM_SLOTS; k++)
	{
		stats.statypid[k] = oid;
		stats.statyplen[k] = type->typlen;
		stats.statypbyval[k] = type->typbyval;
		stats.statypalign[k] = type->typalign;
	}
	if (nrows == 0 || !bms_is_member(attnum, sample->attributes) ||
		!(OidIsValid(type->typanalyze) ?
		  OidFunctionCall1(type->typanalyze, PointerGetDatum(&stats)) != 0 :
		  std_typanalyze(&stats)))
		return NULL;
	ndistinct = count_distinct(&stats, sample, ntuples, &nrows);
	null_fraction = stats.stanullfrac;
	stats.compute_stats(&stats, fetch_value, nrows, ntuples);
	for (int k = 0; k < STATISTIC_NUM_SLOTS; k++)
	{
		/* the beginning of a file tells little of values that are sorted */
		if (stats.stakind[k] == STATISTIC_KIND_CORRELATION && sample->is_part &&
			fabsf(stats.stanumbers[k][0]) > SORTED)
			return NULL;
		if (stats.stakind[k] == STATISTIC_KIND_MCV && nrows < sample->nrows)
			stats.stakind[k] = 0;
	}
	if (ndistinct > 0)
	{
		stats.stanullfrac = null_fraction;
		stats.stadistinct = (float4) (ndistinct > 0.1 * ntuples ?
									  -ndistinct / ntuples : rint(ndistinct));
	}
	return form_statistics(relid, &stats);
}
