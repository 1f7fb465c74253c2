/*
 * writes.h
 *		INSERT and TRUNCATE of foreign tables: callbacks of the executor (FdwRoutine).
 *
 * Rows are written when the transaction commits.
 */
#ifndef CSV_WRITES_H
#define CSV_WRITES_H

#include "nodes/execnodes.h"
#include "utils/relcache.h"

extern int	csv_is_updatable(Relation relation);
extern void csv_begin_modify(ModifyTableState *state, ResultRelInfo *result, List *fdw_private,
							 int subplan, int flags);
extern void csv_begin_insert(ModifyTableState *state, ResultRelInfo *result);
extern TupleTableSlot *csv_exec_insert(EState *estate, ResultRelInfo *result,
									   TupleTableSlot *slot, TupleTableSlot *plan_slot);
extern void csv_exec_truncate(List *relations, DropBehavior behavior,
							  bool restart_sequences);

/* from now on, ends of transactions write and give files their names (staging.h), too */
extern void csv_writes_init(void);

#endif							/* CSV_WRITES_H */
