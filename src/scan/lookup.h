/*
 * lookup.h
 *		Rows of a scan that is repeated for other values of its parameters: stored
 *		once, by a hash of the columns that these values must be equal to.
 *
 * The first scan reads the file.  A later scan first stores all rows that may come out
 * for any parameters.  From then on, rows come from there.  A scan returns the rows
 * with the hash of the values, in file order; the caller must compare the values
 * themselves.  All rows are from the same state of the file.
 *
 * Memory is limited as for a hash table of the executor.  If the rows take more, they
 * go to a temporary file, sorted by their hash, and a scan reads a few kB of it.
 * If temp_file_limit is set, all scans read the file instead.
 */
#ifndef CSV_LOOKUP_H
#define CSV_LOOKUP_H

#include "nodes/execnodes.h"
#include "storage/buffile.h"

#include "scan/scan.h"

/*
 * An equality, as an integer in a list of a plan: the number of the clause, and the
 * side that the table's column is on.
 */
#define CSV_EQUALITY(clause, side)	((clause) * 2 + (side))
#define CSV_EQUALITY_CLAUSE(equality)	((equality) / 2)
#define CSV_EQUALITY_SIDE(equality) ((equality) % 2)

/*
 * For the planner, too: how many scans come first if the columns are resident.
 * Storing the rows takes about as long as this many scans.  Otherwise it takes as
 * long as two scans, and one comes first.
 */
#define CSV_SCANS_OF_RESIDENT	40

/* for the planner, too: bytes of a row beside its tuple, about */
#define CSV_LOOKUP_ROW_BYTES	32

typedef enum CsvLookupState
{
	CSV_LOOKUP_WAITS,			/* scans read the file */
	CSV_LOOKUP_FILLS,
	CSV_LOOKUP_READY,
	CSV_LOOKUP_FAILED			/* it never will be ready */
} CsvLookupState;

typedef struct CsvLookup
{
	MemoryContext context;
	ExprContext *econtext;		/* in which parameters are known */
	int			row_natts;		/* attributes of a row */
	int			nwanted;		/* the row's attributes that are wanted, */
	AttrNumber *attnums;		/* and their numbers in the row */
	TupleTableSlot *slot;		/* for one tuple: a key, and these attributes */
	struct CsvLookupKey *keys;
	int			nkeys;
	CsvLookupState state;

	/* scans that have read the file */
	int64		nscans;
	int64		nbytes;			/* that these scans read */
	bool		awaits_end;		/* wait until a scan gets to its end */

	/* the rows */
	MemoryContext rows_context;
	struct CsvLookupRow *last;	/* in file order */
	char	   *room;			/* of the current block: the free part, */
	size_t		room_bytes;		/* and its size */
	int64		nrows;
	uint32		nbuckets;		/* in memory a power of 2 */
	struct CsvLookupRow **buckets;	/* in memory */
	struct Tuplesortstate *sort;	/* of the file's rows; NULL: none */
	BufFile    *file;			/* NULL: all rows are in memory */
	int64	   *starts;			/* of the buckets in the file, and the end */

	/* the rows that are looked for */
	bool		has_hash;		/* their hash is known */
	uint32		hash;
	struct CsvLookupRow *next;	/* in memory; NULL: none */
	int64		left;			/* bytes of their bucket in the file, not read yet */
	MinimalTuple read;			/* the last row from there */
	uint32		read_bytes;		/* room for it */

	/* for EXPLAIN ANALYZE */
	int64		nlookups;		/* scans that took their rows from here */
	int64		most_bytes;		/* of memory */
	int64		disk_bytes;
} CsvLookup;

/*
 * For rows as in `row_desc`, in which attributes that are not wanted are NULL, and these
 * equalities of `clauses`.  Uses the current memory context.  Everything else that it
 * holds is released with that context, or by csv_lookup_end().
 */
extern CsvLookup *csv_lookup_create(PlanState *parent, TupleDesc row_desc,
									const Bitmapset *wanted, List *clauses,
									List *equalities);

/*
 * Call when the scan starts again; parameters may have changed.  If it returns true,
 * the scan's rows come from here; it may have stored all rows first.  If it returns
 * false, the caller must rewind the scan.  all_bytes: the size of all files, if scans
 * leave out files by their parameters; otherwise 0.
 */
extern bool csv_lookup_rescan(CsvLookup *lookup, CsvTableScan *scan,
							  int64 all_bytes);

/* call after csv_lookup_rescan() has returned true; as csv_table_scan_next() */
extern bool csv_lookup_next(CsvLookup *lookup, Datum *values, bool *isnull);
extern void csv_lookup_end(CsvLookup *lookup);

#endif							/* CSV_LOOKUP_H */
