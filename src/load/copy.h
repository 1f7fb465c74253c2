/*
 * copy.h
 *		COPY FROM through the engines (csv_gpu_fdw.copy).
 */
#ifndef CSV_COPY_H
#define CSV_COPY_H

/* define the setting, and hook utility statements; call once */
extern void csv_copy_init(void);

#endif							/* CSV_COPY_H */
