/*
 * sizes.h
 *		Sizes and identities of a table's files, without opening them.
 */
#ifndef CSV_SIZES_H
#define CSV_SIZES_H

#include "wire/identity.h"
#include "table/option.h"

/* the table's files as they are now, without files that are left out */
typedef struct CsvSourceSize
{
	int64		file_bytes;		/* on disk */
	int64		data_bytes;		/* that the source will deliver; an estimate for
								 * compressed files and declared UTF-16 */
	int			nfiles;
	bool		is_exact;		/* data_bytes is no estimate */
} CsvSourceSize;

/*
 * The numbers are -1 if unknown: a program, a FIFO, a device, or no file.  The scan
 * will report missing files, so that is not an ERROR here.
 */
extern CsvSourceSize csv_source_size(const CsvTable *table);

/*
 * Sets table->settings.resident to false if there are many small files: looking up the
 * resident columns of a small file takes longer than reading it.
 */
extern void csv_source_decide_resident(CsvTable *table);

extern const CsvSourceSize csv_unknown_size;

/* adds a file of this many bytes on disk */
extern void csv_add_file_size(const CsvTable *table, const char *name, int64 file_bytes,
							  CsvSourceSize *size);

/* as csv_source_identity() */
extern bool csv_identify(const CsvTable *table, const struct stat *st,
						 CsvFileIdentity *identity);

/*
 * Like csv_source_identity(), for all files of a table that are not left out, without
 * opening them.  Names are as shown.
 */
extern bool csv_source_identities(const CsvTable *table, char ***names,
								  CsvFileIdentity **identities, int *nfiles);

#endif							/* CSV_SIZES_H */
