/*
 * heap_pages.h
 *		Rows laid out as pages of a heap, and appended to it many pages at a
 *		time.  docs/internals.md says why that is safe.
 */
#ifndef CSV_HEAP_PAGES_H
#define CSV_HEAP_PAGES_H

#include "access/heapam.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "load/tuple.h"

typedef struct CsvHeapPages CsvHeapPages;

/*
 * How many shared buffers a load may have pinned when it wants another: as many
 * as would leave some where all backends did so, but one at least.
 */
extern int	csv_pin_limit(void);

/*
 * What about a relation, or about this session, keeps rows from being appended
 * to it in pages; NULL: nothing.  Indexes are the caller's matter.
 */
extern const char *csv_heap_pages_obstacle(const ResultRelInfo *relation);

/*
 * For who follows the rows: pages of them, in private memory, once they are in the
 * relation; and rows that go in in the ordinary way, with their place.
 */
typedef struct CsvPagesHook
{
	void		(*page) (void *arg, Page page);
	void		(*row) (void *arg, TupleTableSlot *slot);
	void	   *arg;
} CsvPagesHook;

/*
 * The relation is locked against changes of its definition, and cid is the
 * command's; options of table_multi_insert() are for rows that older pages have room
 * for, and for the last ones.  In the current memory context, which must outlive it, as
 * the hook must.
 */
extern CsvHeapPages *csv_heap_pages_begin(Relation relation, CommandId cid, int options,
										  const CsvPagesHook *hook);

/*
 * Add a row, an entry per attribute of the relation.  False if it is one that
 * has to be toasted, or may have to: it is to be inserted then as any other.
 */
extern bool csv_heap_pages_add(CsvHeapPages *pages, const Datum *values,
							   const bool *isnull);

/*
 * Add rows of a run, by so many threads with this one; each call has the same
 * template.  Returns how many were added, of the first ones; *stopped: the next
 * one has to be added, or inserted, by itself.
 */
extern uint32 csv_heap_pages_add_run(CsvHeapPages *pages, const CsvRowRun *run,
									 const CsvRowTemplate *template, int nthreads,
									 bool *stopped);

/* Write what is left.  Rows that fill no page are inserted at the relation's end. */
extern void csv_heap_pages_end(CsvHeapPages *pages);

#endif							/* CSV_HEAP_PAGES_H */
