/*
 * sizes.c
 *		Sizes and identities of a table's files, without opening them.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "table/decompress.h"
#include "table/listing.h"
#include "table/sizes.h"
#include "table/text.h"

/*
 * Growth of compressed files, for estimates: tables of numbers and short texts grow to
 * three to six times their size.  UTF-16 hardly makes a compressed file larger.
 * Without compression, such tables take twice as many bytes in UTF-16.
 */
#define COMPRESSION_RATIO	4
#define UTF16_RATIO			2

/* more files than this are small if their mean size is below LEAST_MEAN_BYTES */
#define MOST_SMALL_FILES	16
#define LEAST_MEAN_BYTES	(64 * 1024)

const CsvSourceSize csv_unknown_size = {
	.file_bytes = -1, .data_bytes = -1, .nfiles = -1
};

void
csv_add_file_size(const CsvTable *table, const char *name, int64 file_bytes,
			  CsvSourceSize *size)
{
	int64		data_bytes = file_bytes;

	if (csv_file_compression(table, name) != CSV_COMPRESSION_NONE)
		data_bytes *= COMPRESSION_RATIO;
	else if (table->utf16 >= CSV_UTF16_ANY)
		data_bytes /= UTF16_RATIO;
	size->nfiles++;
	size->file_bytes += file_bytes;
	size->data_bytes += data_bytes;
	size->is_exact &= data_bytes == file_bytes;
}

CsvSourceSize
csv_source_size(const CsvTable *table)
{
	CsvSourceSize size = {.is_exact = true};
	char	  **names;
	int			nnames;

	if (table->program != NULL ||
		!csv_find_files(table, true, &names, &nnames))
		return csv_unknown_size;
	for (int i = 0; i < nnames; i++)
	{
		struct stat st;

		if (csv_is_left_out(table, i))
			continue;
		if (stat(names[i], &st) != 0 || !S_ISREG(st.st_mode))
			return csv_unknown_size;
		csv_add_file_size(table, names[i], st.st_size, &size);
	}
	return size;
}

void
csv_source_decide_resident(CsvTable *table)
{
	CsvSourceSize size;

	if (!table->settings.resident)
		return;
	size = csv_source_size(table);
	if (size.nfiles > MOST_SMALL_FILES)
		table->settings.resident = size.data_bytes / size.nfiles >= LEAST_MEAN_BYTES;
}

bool
csv_identify(const CsvTable *table, const struct stat *st,
		 CsvFileIdentity *identity)
{
	if (!S_ISREG(st->st_mode) || table->encoding != table->file_encoding)
		return false;
	*identity = csv_file_identity(st);
	return true;
}

bool
csv_source_identities(const CsvTable *table, char ***names,
					  CsvFileIdentity **identities, int *nfiles)
{
	char	  **found;
	int			nfound;

	if (table->program != NULL ||
		!csv_find_files(table, true, &found, &nfound))
		return false;
	*names = palloc_extended(sizeof(char *) * nfound, MCXT_ALLOC_HUGE);
	*identities = palloc_extended(sizeof(CsvFileIdentity) * nfound,
								  MCXT_ALLOC_HUGE);
	*nfiles = 0;
	for (int i = 0; i < nfound; i++)
	{
		struct stat st;

		if (csv_is_left_out(table, i))
			continue;
		if (stat(found[i], &st) != 0 ||
			!csv_identify(table, &st, &(*identities)[*nfiles]))
			return false;
		(*names)[(*nfiles)++] = csv_shown_filename(found[i]);
	}
	return true;
}
