/*
 * lookup.h
 *		Rows of a scan that is repeated for other values of its parameters: kept
 *		once, by a hash of the columns that these values must be equal to.
 *
 * The first scan reads the file.  A later one first has all rows kept that may
 * come out whatever the parameters are; from then on, rows come from there.  What
 * comes out is to be checked: rows whose hash is that of the values, in file
 * order.  All rows are those of one state of the file.
 *
 * Memory is what a hash table of the executor may take.  Where the rows take
 * more, and have been read often enough, they go to temporary files by their
 * hash, of which a scan reads one.
 */
#ifndef CSV_LOOKUP_H
#define CSV_LOOKUP_H

#include "nodes/execnodes.h"

#include "scan/scan.h"

/*
 * An equality, as an integer of a list in a plan: the number of the clause, and
 * the side that the table's column is on.
 */
#define CSV_EQUALITY(clause, side)	((clause) * 2 + (side))
#define CSV_EQUALITY_CLAUSE(equality)	((equality) / 2)
#define CSV_EQUALITY_SIDE(equality) ((equality) % 2)

/*
 * For the planner, too: how many scans come first where rows have to go to files,
 * and where the session keeps the columns.  Keeping the rows takes as long as
 * about so many scans; otherwise, it is as two.
 */
#define CSV_SCANS_BEFORE_FILES	5
#define CSV_SCANS_OF_RESIDENT	40

/* likewise: the number of files, and what a row takes beside its tuple, about */
extern uint32 csv_lookup_files(void);
#define CSV_LOOKUP_ROW_BYTES	32

typedef struct CsvLookup CsvLookup;

/* for EXPLAIN ANALYZE */
typedef struct CsvLookupStatistics
{
	int64		nscans;			/* that took their rows from here */
	int64		memory_bytes;	/* at most */
	int64		disk_bytes;
} CsvLookupStatistics;

/*
 * For rows as `desc` has them, and these equalities of `clauses`.  In the current
 * memory context; what it holds beside is given back with that, or at the end.
 */
extern CsvLookup *csv_lookup_create(PlanState *parent, TupleDesc desc,
									List *clauses, List *equalities);

/*
 * The scan is to start again; parameters may have changed.  True: its rows come
 * from here, which may have taken a look at all of them.  False: it is to be
 * rewound.  Where scans leave out files by their parameters, all_bytes is what all
 * files come to; else 0.
 */
extern bool csv_lookup_rescan(CsvLookup *lookup, CsvTableScan *scan,
							  int64 all_bytes);

/* is it taking that look?  No parameter counts then. */
extern bool csv_lookup_is_filling(const CsvLookup *lookup);

/* since the last csv_lookup_rescan() was true: as csv_table_scan_next() */
extern bool csv_lookup_next(CsvLookup *lookup, Datum *values, bool *isnull);
extern void csv_lookup_end(CsvLookup *lookup);

extern void csv_lookup_statistics(const CsvLookup *lookup,
								  CsvLookupStatistics *statistics);

#endif							/* CSV_LOOKUP_H */
