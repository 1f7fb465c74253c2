/*
 * temporary.h
 *		Reading and writing temporary files.
 */
#ifndef CSV_TEMPORARY_H
#define CSV_TEMPORARY_H

#include "storage/buffile.h"

extern void csv_temporary_write(BufFile *file, const void *from, size_t nbytes);

/* ERROR if the file has fewer bytes */
extern void csv_temporary_read(BufFile *file, void *to, size_t nbytes);

#endif							/* CSV_TEMPORARY_H */
