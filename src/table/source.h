/*
 * source.h
 *		The bytes of a table: a file, the files that match a pattern, or a
 *		program's standard output.
 *
 * Compressed files (decompress.h) are delivered decompressed, and some encodings
 * converted (conversion.h): sizes and identities are the files', offsets count
 * what is delivered.
 *
 * The files are opened one after the other.  Every wait can be cancelled,
 * also that for the writer of a FIFO.
 *
 * What a source holds open is closed when the memory context is deleted in
 * which the source was created.  fd.c's own files, which end with the
 * transaction, will not do: a cursor may open its next file in a
 * subtransaction and outlive its rollback, and fd.c would close the file then.
 */
#ifndef CSV_SOURCE_H
#define CSV_SOURCE_H

#include "wire/identity.h"
#include "table/interrupts.h"
#include "table/option.h"

typedef struct CsvSource CsvSource;

/* what may become of a file while it is read */
typedef enum CsvFileChange
{
	CSV_FILE_SAME,				/* none of the following */
	CSV_FILE_SHORTER,			/* fewer bytes came than it had at first */
	CSV_FILE_LONGER,
	CSV_FILE_GONE				/* it matched the pattern, but could not be opened */
} CsvFileChange;

/*
 * A source for the table, in the current memory context; the table must
 * outlive it.  Expands a pattern (ERROR where nothing matches, or what is no
 * regular file), opens nothing.
 */
extern CsvSource *csv_source_create(const CsvTable *table);

/*
 * Look for the table's files, which are those of all sources to come then; none is
 * left out at first.  ERROR as of csv_source_create(); if quiet, false.
 */
extern bool csv_source_list(CsvTable *table, bool quiet);

/*
 * Close what is open, and open the next file that is not left out, or start the
 * program.  False when there are no more.  A file of a pattern that is gone sets *gone
 * and is not opened; with NULL, the source passes over it.
 */
extern bool csv_source_open_next(CsvSource *source, bool *gone);

/*
 * Open that file, from 0, whichever was open before.  False if it is gone
 * (CSV_FILE_GONE).  Where no file may be missing (CsvTable.stop and all_files), the
 * pattern is expanded once more to find a renamed file, and a file that is gone is an
 * ERROR.  as: the file that all processes of a scan read, which may have been renamed,
 * too; or NULL.
 */
extern bool csv_source_open(CsvSource *source, int number,
							const CsvFileIdentity *as);

/* ERROR: the file last opened is gone */
extern void csv_source_missing(const CsvSource *source)
	__attribute__((noreturn));

/* a reader has found that the open file ends at this offset, if not before; any thread */
extern void csv_source_note_end(CsvSource *source, uint64_t offset);

/* the file that is open has been read to its end: did it change meanwhile? */
extern CsvFileChange csv_source_change(const CsvSource *source);

/* the number of the file last opened */
extern int	csv_source_number(const CsvSource *source);

/*
 * A CsvReadFn; arg is the CsvSource.  ERROR where reading fails, where a program
 * that has reached its end did not succeed, or where a file's first bytes say
 * that it is something else than the table does: compressed, or in UTF-16 or
 * UTF-32.  Processes interrupts.
 */
extern size_t csv_source_read(void *arg, uint8_t *buffer, size_t nbytes);

/* was one of the files that were read in UTF-16? */
extern bool csv_source_found_utf16(const CsvSource *source);

/*
 * Has a file that nobody has opened the mark of UTF-16?  Not one that cannot be read: it
 * is to fail when it is opened, and say why.
 */
extern bool csv_source_is_marked_utf16(const char *name);

/* for ereport(): a hint, where a relative path, or "~", may not be what was meant */
extern int	csv_hint_relative(const char *path);

/*
 * The names of a table's files, in the order in which they are read; none where
 * nothing matches.  They are those of directories, and may be no valid text
 * (csv_shown_filename).  ERROR for a program.
 */
extern void csv_source_files(const CsvTable *table, char ***names,
							 int *nfiles);

/*
 * Of the table's files, have only this one read.  ERROR where the table has no
 * such file.
 */
extern void csv_source_choose_file(CsvTable *table, const char *filename);

/*
 * Can the file that is open, and of which something was read, be read at any
 * place, by several threads?  Then *ahead tells how; it may be used until the file
 * is closed.
 */
extern bool csv_source_read_ahead(CsvSource *source, CsvReadAhead *ahead);

/*
 * What tells the file that is open from what it may become.  False where that
 * says little of the bytes delivered: of what is no regular file, and of one
 * whose encoding is converted, by a function that users may replace.
 */
extern bool csv_source_identity(const CsvSource *source,
								CsvFileIdentity *identity);

/* the descriptor of the file that is open */
extern int	csv_source_file(const CsvSource *source);

/*
 * The names of the files, as the operating system has them: the source's own.  Of
 * each, by number from 0, without opening it: what it is, and whether it can be
 * read at any place; false if there is no such regular file.  And is the file that is open
 * that one?
 */
extern void csv_source_names(const CsvSource *source, char ***names,
							 int *nfiles);
extern bool csv_source_look_at(const CsvSource *source, int number,
							   CsvFileIdentity *identity, bool *seekable);
extern bool csv_source_is_open(const CsvSource *source,
							   const CsvFileIdentity *identity);
extern bool csv_source_is_left_out(const CsvSource *source, int number);

/*
 * As csv_source_identity() of all files of a table that are not left out, without
 * opening them; names as shown.
 */
extern bool csv_source_identities(const CsvTable *table, char ***names,
								  CsvFileIdentity **identities, int *nfiles);

/*
 * The file last opened, or the program's command, as datums and messages have
 * it: valid text.  Lives as long as the source.
 */
extern const char *csv_source_name(const CsvSource *source);

/* is the open file one that can be read twice? */
extern bool csv_source_is_regular(const CsvSource *source);

/* start from the first file again; a program will be run again */
extern void csv_source_rewind(CsvSource *source);

/*
 * Close what is open.  ERROR where a program failed, but for SIGPIPE if it was
 * not read to its end.  Not needed on the way out after an error.
 */
extern void csv_source_close(CsvSource *source);

/*
 * Total size of the table's files in bytes as they are now, and their number, but
 * for those left out;
 * -1 where it is not known: a program, a FIFO or device, or nothing to be
 * found (no error here: that is for the scan to report).  nfiles may be NULL.
 */
extern int64 csv_source_size(const CsvTable *table, int *nfiles);

/*
 * The bytes that the source will deliver, as far as the files' sizes tell: of
 * compressed ones, and of UTF-16 where the table says so, an estimate, which is
 * not exact.  -1 where not even that is
 * known.  is_exact may be NULL.
 */
extern int64 csv_source_data_size(const CsvTable *table, bool *is_exact);

/*
 * Turn table->settings.resident off where there are many files, and small ones: to find
 * what is kept of such a file takes longer than to read it.
 */
extern void csv_source_decide_resident(CsvTable *table);

#endif							/* CSV_SOURCE_H */
