/*
 * register.h
 *		The columns of files that are kept, their memory files, and how long they stay.
 *
 * The columns of a file come as a sealed memory file (wire/store.h).  The register
 * keeps its descriptor, and does not look into it.  All sets of columns, with
 * unfinished sets and the register's own data, take no more memory than the limit.
 * The set that was not used for longest goes first, but no set that a client has
 * pinned.
 *
 * When does a set of columns answer a query?  Which records are bad depends on the
 * columns that are read.  If no value was bad, any of the columns give the same rows
 * and errors as all of them.  Otherwise the query must read the same columns.
 */
#ifndef CSV_REGISTER_H
#define CSV_REGISTER_H

#include "wire/message.h"

typedef struct CsvSets CsvSets;
typedef struct CsvSet CsvSet;

/* NULL: no memory */
extern CsvSets *csv_register_create(void);
extern void csv_register_free(CsvSets *all);

/* bytes; frees sets beyond the limit at once, except pinned sets */
extern void csv_register_limit(CsvSets *all, uint64_t nbytes);

/* memory of sets, and promised memory; and are there any sets? */
extern uint64_t csv_register_bytes(const CsvSets *all);
extern bool csv_register_is_empty(const CsvSets *all);

/*
 * A set, with a pin, that answers a query over a file just as the file would; NULL:
 * there is none.  Drops sets of an earlier state of the file.  If the table had
 * another file under this name, drops that file's sets, unless another table uses
 * them.
 */
extern CsvSet *csv_register_find(CsvSets *all, const CsvFileIdentity *file,
								 const CsvWanted *wanted,
								 const CsvTableName *user);
extern void csv_register_unpin(CsvSets *all, CsvSet *set);

/* the same without any effect; NULL: there is none */
extern const CsvSet *csv_register_look(const CsvSets *all,
									   const CsvFileIdentity *file,
									   const CsvWanted *wanted);

extern uint64_t csv_set_number(const CsvSet *set);
extern uint64_t csv_set_nrows(const CsvSet *set);
extern int	csv_set_file(const CsvSet *set);

/*
 * May a client that was promised `before` bytes for columns take nbytes in all?  The
 * columns come from read_bytes of the file's bytes so far.  If the whole will be too
 * large anyway, no other set makes room.
 */
extern bool csv_register_promise(CsvSets *all, uint64_t before,
								 const CsvRoomMessage *room);
extern void csv_register_give_back(CsvSets *all, uint64_t nbytes);

/*
 * Keep columns, whose promise has been given back; owns the descriptor then.  False:
 * they are not valid, or have no room.
 */
extern bool csv_register_keep(CsvSets *all, const CsvFindMessage *columns,
							  int file);

/*
 * How the rows of a set fall into groups by some of its columns: a memory file, shared
 * by its users.  -1: there is none; it may be added if *may_add.
 */
extern int	csv_set_grouping(CsvSets *all, CsvSet *set,
							 const CsvGroupingMessage *keys, bool *may_add);
extern bool csv_set_add_grouping(CsvSets *all, CsvSet *set,
								 const CsvGroupingMessage *keys, int file);

/* write to a file the sets that a database's tables use; their number; -1: failure */
extern int	csv_register_list(const CsvSets *all, uint32_t database,
							  int file);

/* returns how many sets were dropped */
extern uint32_t csv_register_forget(CsvSets *all,
									const CsvForgetMessage *which);

#endif							/* CSV_REGISTER_H */
