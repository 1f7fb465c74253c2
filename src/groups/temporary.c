/*
 * temporary.c
 *		Reading and writing temporary files: see temporary.h.
 */
#include "postgres.h"

#include "groups/temporary.h"

/* BufFileWrite() takes no const before 16 */
void
csv_temporary_write(BufFile *file, const void *from, size_t nbytes)
{
	BufFileWrite(file, unconstify(void *, from), nbytes);
}

void
csv_temporary_read(BufFile *file, void *to, size_t nbytes)
{
	if (BufFileRead(file, to, nbytes) != nbytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: %m")));
}
