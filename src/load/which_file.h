/*
 * which_file.h
 *		Which of a foreign table's files was loaded up to which position?
 */
#ifndef CSV_WHICH_FILE_H
#define CSV_WHICH_FILE_H

#include "load/positions.h"
#include "table/option.h"

/* what is done with a file that is not as it was loaded */
typedef enum CsvOnRewrite
{
	CSV_REWRITE_ERROR,
	CSV_REWRITE_RESTART,		/* it is loaded from its beginning */
	CSV_REWRITE_SKIP,			/* what comes behind its present end is loaded */
	CSV_REWRITE_ALL				/* as SKIP; all files count as rewritten */
} CsvOnRewrite;

typedef struct CsvGrowingFile
{
	char	   *name;
	int			number;			/* in the order of the names */
	CsvFileIdentity identity;	/* when it was listed, or looked at */
	int64		born;
	bool		is_packed;		/* it is compressed */
	bool		grows;			/* its last record may not be complete */

	/* what it is */
	bool		is_left_out;	/* another name of a file, or a copy, or it waits */
	bool		has_news;		/* it must be read */
	const CsvPosition *position;	/* NULL: not loaded before */
	bool		is_rewritten;	/* since then */
	bool		is_unpacked;	/* its unpacked bytes are the position's */

	/* while it is looked at */
	CsvPosition *named;			/* positions of its name */
	int			nnamed;
	bool		is_decided;
	int			fd;				/* -1: it is not open */
	uint8	   *heads[2];		/* bytes behind its header, as they are and unpacked;
								 * NULL: not read yet */
	size_t		nheads[2];
	uint64		complete;		/* of it: complete members or frames */
	const struct FileNews *news;	/* what the user is told; NULL: nothing */
	const char *other;			/* the file that the news names */

	CsvPosition now;			/* after the scan */
	bool		was_read;
} CsvGrowingFile;

/*
 * Lists the table's files, and decides about each.  The positions are sorted by
 * name.  In the current memory context.  ERROR for a program, two files of one
 * position and, unless on_rewrite says what to do, for a file that is not as it
 * was loaded.  A NOTICE tells each choice.
 */
extern CsvGrowingFile *csv_which_files(CsvTable *table, CsvPosition *positions,
									   int npositions, CsvOnRewrite on_rewrite, int *nfiles);

/* tells a choice by a NOTICE (not of silent tables) and in CsvTable.choices */
extern void csv_tell_choice(CsvTable *table, const char *message,
							const char *hint);

#endif							/* CSV_WHICH_FILE_H */
