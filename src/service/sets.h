/*
 * sets.h
 *		The columns of files that are kept, their memory files, and how long they stay.
 *
 * The columns of a file come as a sealed memory file (wire/store.h).  The list of sets
 * keeps its descriptor, and does not look into it.  All sets of columns, with
 * unfinished sets and the list itself, take no more memory than the limit.
 * The set that was not used for longest goes first, but no set that a client has
 * pinned.
 *
 * When does a set of columns answer a query?  Which records are bad depends on the
 * columns that are read.  If no value was bad, any of the columns give the same rows
 * and errors as all of them.  Otherwise the query must read the same columns.
 */
#ifndef CSV_SETS_H
#define CSV_SETS_H

#include <sys/queue.h>
#include <time.h>

#include "wire/message.h"

#define CSV_MOST_GROUPINGS	8	/* of one set; they stay as long as the set */

typedef struct CsvGrouping
{
	CsvGroupingMessage keys;
	int			file;
} CsvGrouping;

/* only sets.c changes it */
typedef struct CsvSet
{
	TAILQ_ENTRY(CsvSet) by_use;
	LIST_ENTRY(CsvSet) of_file;
	uint64_t	number;
	CsvFileIdentity identity;
	bool		grows;			/* it has the columns of a stretch of the file */
	CsvStretch	stretch;
	bool		has_bad_values;
	uint64_t	nrows;
	uint64_t	nbytes;			/* of memory files, and of this set's data */
	int			file;
	int			ngroupings;
	CsvGrouping groupings[CSV_MOST_GROUPINGS];
	TAILQ_HEAD(CsvUsers, CsvUser) users;
	int			nusers;
	int			npins;
	bool		listed;			/* otherwise it goes with its last pin */
	int64_t		last_used;
	CsvWanted	wanted;			/* allocated for its columns only */
} CsvSet;

/* since 1970 */
static inline int64_t
csv_now_microseconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return (int64_t) time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* bytes; frees sets beyond the limit at once, except pinned sets */
extern void csv_sets_limit(uint64_t nbytes);

/* memory of sets, and promised memory; 0: there are no sets */
extern uint64_t csv_sets_bytes(void);

/*
 * A set, with a pin, that answers a query over a file just as the file would; NULL:
 * there is none.  Drops sets of an earlier state of the file.  If the table had
 * another file under this name, drops that file's sets, unless another table uses
 * them.
 *
 * If the file grows, the set's stretch begins at the given place.  A set is not found if
 * the client must read bytes behind it in any case, and there are at least as many bytes
 * behind it as in its stretch: the client reads both together, so that a file has few
 * sets.
 */
extern CsvSet *csv_sets_find(const CsvFindMessage *find);
extern void csv_set_unpin(CsvSet *set);

/*
 * Would sets answer a query over nearly all of the file?  Adds to *nrows the rows that
 * they have.
 */
extern bool csv_sets_look(const CsvFileIdentity *file, const CsvWanted *wanted,
						  uint64_t *nrows);

/*
 * May a client take this room for columns?  Then what is more than before is promised
 * to it.  If the whole will be too large anyway, no other set makes room.
 */
extern bool csv_sets_promise(const CsvRoomMessage *room);
extern void csv_sets_give_back(uint64_t nbytes);

/*
 * Keep columns, whose promise has been given back; owns the descriptor then.  False:
 * they are not valid, or have no room.
 */
extern bool csv_sets_keep(const CsvFindMessage *columns, int file);

/*
 * How the rows of a set fall into groups by some of its columns: a memory file, shared
 * by its users.  -1: there is none; it may be added if *may_add.
 */
extern int	csv_set_grouping(CsvSet *set, const CsvGroupingMessage *keys,
							 bool *may_add);
extern bool csv_set_add_grouping(CsvSet *set, const CsvGroupingMessage *keys,
								 int file);

/* write to a file the sets that a database's tables use; their number; -1: failure */
extern int	csv_sets_list(uint32_t database, int file);

/* returns how many sets were dropped */
extern uint32_t csv_sets_forget(const CsvForgetMessage *which);

#endif							/* CSV_SETS_H */
