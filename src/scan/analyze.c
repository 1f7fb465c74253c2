/*
 * analyze.c
 *		Samples a table's rows for ANALYZE.
 */
#include "postgres.h"

#include <math.h>

#include "commands/progress.h"
#include "commands/vacuum.h"
#include "utils/backend_progress.h"
#include "utils/rel.h"
#include "utils/sampling.h"

#include "compat.h"
#include "scan/execute.h"
#include "table/source.h"

/* rows between two reports in pg_stat_progress_analyze */
#define CSV_PROGRESS_ROWS	1024

/* show the file there as ANALYZE shows the blocks of a plain table */
static void
show_progress(const CsvTableScan *scan, const CsvScanStatistics *statistics)
{
	int64		nbytes = csv_batches_certain_size(scan->batches);
	const int	columns[] = {
		PROGRESS_ANALYZE_BLOCKS_TOTAL, PROGRESS_ANALYZE_BLOCKS_DONE
	};
	const int64 values[] = {
		(nbytes + BLCKSZ - 1) / BLCKSZ,
		(statistics->batches.bytes + BLCKSZ - 1) / BLCKSZ
	};

	pgstat_progress_update_multi_param(lengthof(columns), columns, values);
}

/* heap_form_tuple(), with the row's position in the scan in place of a TID */
static HeapTuple
form_sample(TupleDesc tupdesc, Datum *values, bool *isnull, double position)
{
	HeapTuple	tuple = heap_form_tuple(tupdesc, values, isnull);
	uint64		number = (uint64) position;

	ItemPointerSet(&tuple->t_self, (BlockNumber) (number >> 16),
				   (OffsetNumber) number);
	return tuple;
}

static int
compare_positions(const void *a, const void *b)
{
	return ItemPointerCompare(&(*(const HeapTuple *) a)->t_self,
							  &(*(const HeapTuple *) b)->t_self);
}

/*
 * Take a random sample of the rows (Vitter's algorithm Z, as for plain tables), in the
 * order of the file: ANALYZE computes correlations from it.
 */
static int
csv_acquire_sample(Relation relation, int elevel, HeapTuple *rows,
				   int targrows, double *totalrows, double *totaldeadrows)
{
	TupleDesc	tupdesc = RelationGetDescr(relation);
	CsvTable   *table = csv_table_get(RelationGetRelid(relation));
	Datum	   *values = palloc(sizeof(Datum) * tupdesc->natts);
	bool	   *isnull = palloc(sizeof(bool) * tupdesc->natts);
	CsvScanStatistics statistics;
	CsvTableScan *scan;
	ReservoirStateData reservoir;
	double		nseen = 0;
	double		nskip = -1;
	int			nrows = 0;

	csv_table_check(table);
	memset(values, 0, sizeof(Datum) * tupdesc->natts);
	memset(isnull, true, sizeof(bool) * tupdesc->natts);
	reservoir_init_selection_state(&reservoir, targrows);

	scan = csv_table_scan_begin(table, csv_table_attributes(table), NULL, false,
								NULL, NULL);
	while (csv_table_scan_next(scan, values, isnull))
	{
		csv_vacuum_delay_point();
		if (nrows < targrows)
			rows[nrows++] = form_sample(tupdesc, values, isnull, nseen);
		else
		{
			if (nskip < 0)
				nskip = reservoir_get_next_S(&reservoir, nseen, targrows);
			if (nskip <= 0)
			{
				int			k = (int) (targrows *
									   sampler_random_fract(&reservoir.randstate));

				heap_freetuple(rows[k]);
				rows[k] = form_sample(tupdesc, values, isnull, nseen);
			}
			nskip -= 1;
		}
		nseen += 1;
		if (fmod(nseen, CSV_PROGRESS_ROWS) == 0)
		{
			csv_table_scan_statistics(scan, &statistics);
			show_progress(scan, &statistics);
		}
	}
	csv_table_scan_statistics(scan, &statistics);
	show_progress(scan, &statistics);
	csv_table_scan_end(scan);
	qsort(rows, nrows, sizeof(HeapTuple), compare_positions);

	*totalrows = nseen;
	*totaldeadrows = 0;
	ereport(elevel,
			(errmsg("\"%s\": file contains %.0f rows; %lld records skipped; %d rows in sample",
					RelationGetRelationName(relation), nseen,
					(long long) statistics.skipped, nrows)));
	return nrows;
}

bool
csv_analyze_table(Relation relation, AcquireSampleRowsFunc *func,
				  BlockNumber *totalpages)
{
	CsvTable   *table = csv_table_get(RelationGetRelid(relation));
	int64		nbytes = csv_source_size(table).data_bytes;

	/* as in file_fdw, a program is not run for statistics */
	if (table->filename == NULL)
		return false;
	*totalpages = (BlockNumber) Min((Max(nbytes, 0) + BLCKSZ - 1) / BLCKSZ,
									(int64) MaxBlockNumber);
	if (*totalpages < 1)
		*totalpages = 1;
	*func = csv_acquire_sample;
	return true;
}
