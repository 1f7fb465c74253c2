/*
 * source.h
 *		The bytes of a table: a file, the files that match a pattern, or a
 *		program's standard output.
 *
 * Compressed files (decompress.h) are decompressed, and some encodings are converted
 * (conversion.h).  Sizes and identities are those stored in the file system; offsets
 * count the delivered bytes.
 *
 * The files are opened one after the other.  Every wait can be cancelled, including
 * the wait for the writer of a FIFO.
 *
 * A source closes its open file or program when the memory context is deleted in which
 * the source was created.  fd.c would close the file at the end of the transaction or
 * subtransaction, which is too early: a cursor may open its next file in a
 * subtransaction, and outlive the rollback.
 */
#ifndef CSV_SOURCE_H
#define CSV_SOURCE_H

#include "wire/identity.h"
#include "table/interrupts.h"
#include "table/option.h"
#include "table/listing.h"

typedef struct CsvSource CsvSource;

/* how a file may change while it is read, or what else is told of it */
typedef enum CsvFileChange
{
	CSV_FILE_SAME,				/* no change */
	CSV_FILE_SHORTER,			/* fewer bytes were read than it had at first */
	CSV_FILE_LONGER,
	CSV_FILE_GONE,				/* it matched the pattern, but could not be opened */
	CSV_FILE_ODD_BREAKS			/* csv_reader_has_odd_breaks() */
} CsvFileChange;

/*
 * Creates a source for the table, in the current memory context.  The table must
 * outlive it.  Expands a pattern, but opens nothing.  ERROR if no file matches, or if
 * a match is not a regular file.
 */
extern CsvSource *csv_source_create(const CsvTable *table);

/*
 * Lists the table's files, for all sources that are created later.  At first no file
 * is left out.  If quiet, returns false instead of the ERRORs of csv_source_create().
 */
extern bool csv_source_list(CsvTable *table, bool quiet);

/*
 * Closes the open file, and opens the next file that is not left out, or starts the
 * program.  Returns false if there are no more files.  If a file of a pattern is gone,
 * sets *gone and opens nothing; if `gone` is NULL, skips the file.
 */
extern bool csv_source_open_next(CsvSource *source, bool *gone);

/*
 * Opens the file with this number at offset 0, whichever file was open before.
 * Returns false if it is gone (CSV_FILE_GONE).  If no file may be missing
 * (CsvTable.stop and all_files), the pattern is expanded again to find a renamed file,
 * and a missing file is an ERROR.  as: NULL, or the file that all processes of a scan
 * read, which may have been renamed, too.
 */
extern bool csv_source_open(CsvSource *source, int number,
							const CsvFileIdentity *as);

/* ERROR: the file opened last is gone */
extern void csv_source_missing(const CsvSource *source)
	__attribute__((noreturn));

/* the open file was found to end at or before this offset; any thread may call this */
extern void csv_source_note_end(CsvSource *source, uint64_t offset);

/* did the open file, which has been read to its end, change meanwhile? */
extern CsvFileChange csv_source_change(const CsvSource *source);

/*
 * Does this file (by its number) of a table with the option "growing" still grow?  Only
 * if it is the newest file of its pattern, or was modified a moment ago.
 */
extern bool csv_source_grows(const CsvSource *source, int number);

/*
 * ERROR if the open file, which grows, has other first bytes than when it was opened:
 * bytes that were read may be those of another file.
 */
extern void csv_source_check_same(const CsvSource *source);

/* the number of the file opened last */
extern int	csv_source_number(const CsvSource *source);

/*
 * The size of the open file when the scan began.  Of a compressed file that grows, only
 * complete members and frames count.
 */
extern uint64 csv_source_known_bytes(const CsvSource *source);

/* the bytes that the open file will deliver, if it is not converted; 0: not known */
extern uint64 csv_source_expected_bytes(const CsvSource *source);

/*
 * A CsvReadFn; arg is the CsvSource.  ERROR if reading fails, if a program that has
 * reached its end failed, or if the first bytes of a file contradict the table: the
 * file is compressed, or in UTF-16 or UTF-32.  Processes interrupts.
 */
extern size_t csv_source_read(void *arg, uint8_t *buffer, size_t nbytes);

/* the byte order of the last file that was in UTF-16; CSV_UTF16_NO: none was */
extern CsvUtf16 csv_source_found_utf16(const CsvSource *source);

/*
 * The names of a table's files, in the order in which they are read.  *nfiles is 0 if
 * no file matches.  The names are as in the directories, and may not be valid text
 * (see csv_shown_filename).  ERROR for a program.
 */
extern void csv_source_files(const CsvTable *table, char ***names,
							 int *nfiles);

/*
 * Makes the table read only this one of its files.  ERROR if it is not a file of the
 * table.
 */
extern void csv_source_choose_file(CsvTable *table, const char *filename);

/*
 * Can several threads read the open file at any offset?  Something must have been read
 * from it.  If true, *ahead tells how, until the file is closed.
 */
extern bool csv_source_read_ahead(CsvSource *source, CsvReadAhead *ahead);

/*
 * Sets *identity, which distinguishes the open file from later versions of it.
 * Returns false if the identity says little about the delivered bytes: the file is not
 * a regular file, or its encoding is converted by a function that users may replace.
 */
extern bool csv_source_identity(const CsvSource *source,
								CsvFileIdentity *identity);

/* the descriptor of the open file */
extern int	csv_source_file(const CsvSource *source);

/* The names of the files, as the operating system has them.  The source owns them. */
extern void csv_source_names(const CsvSource *source, char ***names,
							 int *nfiles);
/*
 * The identity of a file, and whether it can be read at any offset.  Does not open it.
 * number counts from 0.  Returns false if there is no such regular file.
 */
extern bool csv_source_look_at(const CsvSource *source, int number,
							   CsvFileIdentity *identity, bool *seekable);
/* is the open file the file with this identity? */
extern bool csv_source_is_open(const CsvSource *source,
							   const CsvFileIdentity *identity);
extern bool csv_source_is_left_out(const CsvSource *source, int number);

/*
 * The file opened last, or the program's command, as valid text for datums and
 * messages.  Lives as long as the source.
 */
extern const char *csv_source_name(const CsvSource *source);

/* can the open file be read twice? */
extern bool csv_source_is_regular(const CsvSource *source);

/* starts from the first file again; runs a program again */
extern void csv_source_rewind(CsvSource *source);

/*
 * Closes the open file or program.  ERROR if a program failed, except by SIGPIPE if it
 * was not read to its end.  Not needed after an error.
 */
extern void csv_source_close(CsvSource *source);

/*
 * As csv_source_size(), of the source's files as they were when the source was created or, without
 * a pattern, when the file was opened.
 */
extern CsvSourceSize csv_source_listed_size(CsvSource *source);

#endif							/* CSV_SOURCE_H */
