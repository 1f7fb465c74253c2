/*
 * copy.h
 *		COPY FROM through the engines (csv_gpu_fdw.copy).
 */
#ifndef CSV_COPY_H
#define CSV_COPY_H

/* define the setting, and take a place among those that see utility statements; once */
extern void csv_copy_init(void);

#endif							/* CSV_COPY_H */
