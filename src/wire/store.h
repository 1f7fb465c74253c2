/*
 * store.h
 *		Converted columns of a file in memory that processes share.
 *
 * What is kept of a file are the batches that an engine made of it, for a set of
 * columns: arrays and statuses, errors, and the bytes of those records that
 * whoever takes a batch may have to look into.  They are in a memory file
 * (memfd_create), one batch behind the other, and then a directory of them.  Who
 * writes it seals it: from then on nobody can change it, nor make it shorter.
 *
 * Who reads it maps it.  All that says where something is in it, or in an array
 * of columns, has been checked before it is handed out; values, statuses and the
 * records' bytes are not.
 */
#ifndef CSV_STORE_H
#define CSV_STORE_H

#include "reader/reader.h"

/*
 * A batch: bytes, and the offsets into them in row_offsets and errors, are only
 * of records that somebody may look into.  Rows with a doubtful or long value
 * are, and errors from nul_byte on.  Where records stood in the batch's part of
 * the file, these tell.
 */
typedef struct CsvResidentBatch
{
	CsvBatch	batch;
	const uint32_t *row_places; /* NULL where the engine gave no row_offsets */
	const uint64_t *error_places;
	int64_t		first_row;		/* rows of the batches before */
} CsvResidentBatch;

/* ---- memory files ---- */

/* one of its own, for sealing; -1, with errno, where there can be none */
extern int	csv_memory_file_create(const char *name);

/*
 * Make it so long, of zeros, all of which is there: who writes to a mapping of it need
 * not fear that there is no memory then.  False with errno.
 */
extern bool csv_memory_file_reserve(int file, uint64_t nbytes);

/* from now on nobody can make it longer or shorter; nor write to it, if is_constant */
extern bool csv_memory_file_seal(int file, bool is_constant);

/*
 * Its size in bytes, if it is such a file, as csv_memory_file_seal() leaves it,
 * and can be mapped by this descriptor.  Else -1.
 */
extern int64_t csv_memory_file_size(int file, bool is_constant);

/*
 * Memory that it takes at most, as csv_memory_file_size(): the larger of its size,
 * since parts may not be there yet, and what there is, also behind its end.
 */
extern int64_t csv_memory_file_held(int file, bool is_constant);

/* ---- writing ---- */

typedef struct CsvStoreWriter CsvStoreWriter;

/* what is in it */
typedef struct CsvStoreSummary
{
	uint64_t	nrows;
	uint32_t	ncolumns;
	bool		has_bad_values; /* a record was bad for a column's value */
} CsvStoreSummary;

/*
 * Write to an empty memory file, which the caller closes; NULL: no memory.  Of
 * the layout, fields and columns count.
 */
extern CsvStoreWriter *csv_store_begin(const CsvMemory *memory, int file,
									   const CsvDialect *dialect,
									   const CsvLayout *layout);
extern void csv_store_free(CsvStoreWriter *writer);

/*
 * Write a batch, if may_take() allows that the file comes to so many bytes.  False
 * if not, or where there is no memory.
 */
extern bool csv_store_add(CsvStoreWriter *writer, const CsvBatch *batch,
						  bool (*may_take) (void *arg, uint64_t nbytes),
						  void *arg);

/* bytes of the CSV file that batches were made of */
extern uint64_t csv_store_bytes_read(const CsvStoreWriter *writer);

/* the last batch is written: write the directory, likewise, and seal the file */
extern bool csv_store_finish(CsvStoreWriter *writer,
							 bool (*may_take) (void *arg, uint64_t nbytes),
							 void *arg, CsvStoreSummary *summary);

/* ---- reading ---- */

/* so few that bytes of an array of them, in many files, can be counted */
#define CSV_MOST_KEPT_ROWS	(UINT64_C(1) << 48)

typedef struct CsvStore CsvStore;

/*
 * Map a file that was sealed, which may be closed then.  NULL: no memory, or it is
 * not what csv_store_finish() writes.
 */
extern CsvStore *csv_store_open(const CsvMemory *memory, int file);
extern void csv_store_close(CsvStore *store);

extern uint32_t csv_store_nbatches(const CsvStore *store);
extern uint64_t csv_store_nrows(const CsvStore *store);
extern const CsvDialect *csv_store_dialect(const CsvStore *store);

/* only columns, less their null_values, their number, and that of fields are in it */
extern const CsvLayout *csv_store_layout(const CsvStore *store);

/*
 * A batch, by its number.  `arrays` has room for the layout's columns.  False if
 * it is not as it should be.
 */
extern bool csv_store_batch(const CsvStore *store, uint32_t number,
							CsvArray *arrays, CsvResidentBatch *batch);

/*
 * Batches before this one are not looked at for some time: what this process has
 * of them in memory need not count as its own.
 */
extern void csv_store_pass(CsvStore *store, uint32_t number);

#endif							/* CSV_STORE_H */
