/*
 * joins.h
 *		Finds hash joins whose keys can filter the rows of scans.
 */
#ifndef CSV_JOINS_H
#define CSV_JOINS_H

/* installs a hook that does so whenever the executor has set up a plan */
extern void csv_joins_init(void);

/* a scan that processes share has got its shared memory */
extern void csv_joins_have_memory(void);

#endif							/* CSV_JOINS_H */
