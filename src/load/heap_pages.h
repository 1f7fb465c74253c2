/*
 * heap_pages.h
 *		Lays out rows as heap pages, and appends many pages at a time.
 *		docs/internals.md says why that is safe.
 */
#ifndef CSV_HEAP_PAGES_H
#define CSV_HEAP_PAGES_H

#include "access/heapam.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "load/indexes.h"
#include "load/tuple.h"

typedef struct CsvHeapPages CsvHeapPages;

/*
 * Returns how many shared buffers a load may have pinned when it needs another: at
 * least one, and so few that some buffers would be left if every backend pinned as
 * many.
 */
extern int	csv_pin_limit(void);

/*
 * Can rows be appended to the relation in pages, as far as the relation and this session
 * decide that?  The caller must check the indexes.
 */
extern bool csv_heap_takes_pages(Relation relation);

/*
 * The relation must be locked against changes of its definition.  cid is the
 * command's.  options are table_multi_insert()'s, for rows that go to older pages and
 * for the last rows.  entries get all rows, unless NULL.  Uses the current memory
 * context.  The context and the entries must outlive the result.
 */
extern CsvHeapPages *csv_heap_pages_begin(Relation relation, CommandId cid, int options,
										  CsvIndexEntries *entries);

/*
 * Add a row, with an entry per attribute of the relation.  Returns false if the tuple
 * might need toasting.  The caller must then insert it in the ordinary way.
 */
extern bool csv_heap_pages_add(CsvHeapPages *pages, const Datum *values,
							   const bool *isnull);

/*
 * Add rows of a run, by nthreads threads including this one.  Each call must have the
 * same template.  Returns the number of rows added, from the first on.  *stopped: the
 * next row must be added or inserted by itself.
 */
extern uint32 csv_heap_pages_add_run(CsvHeapPages *pages, const CsvRowRun *run,
									 const CsvRowTemplate *template, int nthreads,
									 bool *stopped);

/* Write the remaining pages; insert rows that fill no page at the relation's end. */
extern void csv_heap_pages_end(CsvHeapPages *pages);

#endif							/* CSV_HEAP_PAGES_H */
