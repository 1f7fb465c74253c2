/*
 * surplus.h
 *		Columns with the option virtual 'surplus': the fields that a record has
 *		beyond the table's, as text[].
 */
#ifndef CSV_SURPLUS_H
#define CSV_SURPLUS_H

#include "scan/fetch.h"

typedef struct CsvSurplus CsvSurplus;

/* for a wanted column of that kind, in the current memory context */
extern CsvSurplus *csv_surplus_create(const CsvTable *table,
									  const CsvTableColumn *column);

/*
 * Make the column's value for the record of an entry, which should have nfields
 * fields, in the current memory context.  *nsurplus: how many more it has.  If one of
 * these fields is refused, the record is refused, too: returns false, with *refusal
 * filled in.
 */
extern bool csv_surplus_fill(CsvSurplus *surplus, CsvCareful *careful,
							 uint32_t entry, uint32_t nfields, uint32_t *nsurplus,
							 Datum *value, bool *isnull, CsvRefusal *refusal);

#endif							/* CSV_SURPLUS_H */
