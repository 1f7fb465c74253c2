/*
 * modify.h
 *		INSERT and TRUNCATE of foreign tables: callbacks of the executor (FdwRoutine).
 */
#ifndef CSV_MODIFY_H
#define CSV_MODIFY_H

#include "nodes/execnodes.h"
#include "utils/relcache.h"

extern int	csv_is_updatable(Relation relation);
extern TupleTableSlot *csv_exec_insert(EState *estate, ResultRelInfo *result,
									   TupleTableSlot *slot, TupleTableSlot *plan_slot);
extern void csv_exec_truncate(List *relations, DropBehavior behavior,
							  bool restart_sequences);

#endif							/* CSV_MODIFY_H */
