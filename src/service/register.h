/*
 * register.h
 *		Which columns of which files are kept, in whose memory files they are, and
 *		for how long.
 *
 * Columns of a file come as a sealed memory file (wire/store.h), of which the
 * register has the descriptor: it looks at none of its bytes.  All there are take
 * no more memory than the limit, what is not finished yet included, and what is
 * known of them.  What was not used for longest goes first, but nothing that a
 * client has pinned.
 *
 * When does a set of columns answer a query?  Which records are bad depends on
 * the columns that are looked at.  But where no value was bad, any of the columns
 * give the same rows and errors as all of them; otherwise, it takes the same
 * columns.
 */
#ifndef CSV_REGISTER_H
#define CSV_REGISTER_H

#include "wire/message.h"

typedef struct CsvSets CsvSets;
typedef struct CsvSet CsvSet;

/* NULL: no memory */
extern CsvSets *csv_register_create(void);
extern void csv_register_free(CsvSets *all);

/* bytes; what is too much goes at once, as far as nobody is at work on it */
extern void csv_register_limit(CsvSets *all, uint64_t nbytes);

/* memory that is held, with what is promised; and are there any columns? */
extern uint64_t csv_register_bytes(const CsvSets *all);
extern bool csv_register_is_empty(const CsvSets *all);

/*
 * Columns that answer a query over a file as that would, with a pin; NULL: there
 * are none.  Lets go of what is held of the file as it was before, and of those of
 * another file that the table knew by this name.
 */
extern CsvSet *csv_register_find(CsvSets *all, const CsvFileIdentity *file,
								 const CsvWanted *wanted,
								 const CsvTableName *user);
extern void csv_register_unpin(CsvSets *all, CsvSet *set);

/* the same, without any effect; NULL: there are none */
extern const CsvSet *csv_register_look(const CsvSets *all,
									   const CsvFileIdentity *file,
									   const CsvWanted *wanted);

extern uint64_t csv_set_number(const CsvSet *set);
extern uint64_t csv_set_nrows(const CsvSet *set);
extern int	csv_set_file(const CsvSet *set);

/*
 * May a client that has `before` bytes promised for columns take nbytes in all?
 * What it made so far came from read_bytes of the file's: if it will be too large
 * anyway, others need not make room.
 */
extern bool csv_register_promise(CsvSets *all, uint64_t before,
								 const CsvRoomMessage *room);
extern void csv_register_give_back(CsvSets *all, uint64_t nbytes);

/*
 * Keep columns, for which nothing is promised any more.  The descriptor is the
 * register's then.  False: they are not as they should be, or have no room.
 */
extern bool csv_register_keep(CsvSets *all, const CsvFindMessage *columns,
							  int file);

/*
 * How the rows of columns fall into groups by some of them: a memory file that is
 * shared by those who use them.  -1: there is none; then one may be added, if *may_add.
 */
extern int	csv_set_grouping(CsvSets *all, CsvSet *set,
							 const CsvGroupingMessage *keys, bool *may_add);
extern bool csv_set_add_grouping(CsvSets *all, CsvSet *set,
								 const CsvGroupingMessage *keys, int file);

/* write what tables of a database use to a file; how many sets; -1: it failed */
extern int	csv_register_list(const CsvSets *all, uint32_t database,
							  int file);

/* how many sets have gone */
extern uint32_t csv_register_forget(CsvSets *all,
									const CsvForgetMessage *which);

#endif							/* CSV_REGISTER_H */
