/*
 * store.h
 *		Converted columns of a file in memory that processes share.
 *
 * The columns of a file are kept as the batches that an engine made for a set of
 * columns: arrays and statuses, errors, and the bytes of the records that a reader may
 * have to look into.  A memory file (memfd_create) has all batches, as packed.h has
 * them, and then their directory.  Its writer seals it: from then on no process can
 * change or shorten it.
 *
 * Readers map the file.  All offsets and indexes are checked before a batch is handed
 * out, but not values, statuses and the bytes of records.
 */
#ifndef CSV_STORE_H
#define CSV_STORE_H

#include "reader/reader.h"

/*
 * A batch (is_resident).  It has the records of rows with a doubtful or long value, and of
 * errors from nul_byte on.
 */
typedef struct CsvResidentBatch
{
	CsvBatch	batch;
	int64_t		first_row;		/* number of rows in earlier batches */
} CsvResidentBatch;

/* ---- memory files ---- */

/* a new file, for sealing; -1 with errno: failed */
extern int	csv_memory_file_create(const char *name);

/*
 * Make the file nbytes long, of zeros, with all its memory allocated, so that writing
 * to a mapping cannot fail for lack of memory.  False with errno.
 */
extern bool csv_memory_file_reserve(int file, uint64_t nbytes);

/* no process can change its size any more; is_constant: nor write to it */
extern bool csv_memory_file_seal(int file, bool is_constant);

/*
 * The size of a file that csv_memory_file_seal() has sealed, in bytes, if this
 * descriptor can map it.  Otherwise -1.
 */
extern int64_t csv_memory_file_size(int file, bool is_constant);

/*
 * The most memory that the file takes, in bytes: the larger of its size, as parts may
 * not be allocated yet, and of its allocated memory, which may reach beyond its end.
 * Otherwise -1, as csv_memory_file_size().
 */
extern int64_t csv_memory_file_held(int file, bool is_constant);

/* ---- writing ---- */

typedef struct CsvStoreWriter CsvStoreWriter;

/* of a finished file */
typedef struct CsvStoreSummary
{
	uint64_t	nrows;
	uint32_t	ncolumns;
	bool		has_bad_values; /* a record was bad for the value of a column */
} CsvStoreSummary;

/*
 * Write to an empty memory file, which the caller closes.  Only the layout's fields
 * and columns matter.  NULL: there is no memory.
 */
extern CsvStoreWriter *csv_store_begin(const CsvMemory *memory, int file,
									   const CsvDialect *dialect,
									   const CsvLayout *layout);
extern void csv_store_free(CsvStoreWriter *writer);

/*
 * Write a batch, if may_take() allows the file to have nbytes bytes.  False: it does
 * not, or there is no memory.
 */
extern bool csv_store_add(CsvStoreWriter *writer, const CsvBatch *batch,
						  bool (*may_take) (void *arg, uint64_t nbytes),
						  void *arg);

/* bytes of the CSV file that the batches came from */
extern uint64_t csv_store_bytes_read(const CsvStoreWriter *writer);

/* after the last batch: if may_take() allows it, write the directory; seal the file */
extern bool csv_store_finish(CsvStoreWriter *writer,
							 bool (*may_take) (void *arg, uint64_t nbytes),
							 void *arg, CsvStoreSummary *summary);

/* ---- reading ---- */

/* the bytes of arrays of this size, in many files, do not overflow */
#define CSV_MOST_KEPT_ROWS	(UINT64_C(1) << 48)

typedef struct CsvStore CsvStore;

/*
 * Map a sealed file, which the caller may close then, of columns that were read with
 * these options.  NULL: there is no memory, or csv_store_finish() has not written the
 * file.
 */
extern CsvStore *csv_store_open(const CsvMemory *memory, int file,
								const CsvDialectOptions *dialect);
extern void csv_store_close(CsvStore *store);

extern uint32_t csv_store_nbatches(const CsvStore *store);
extern uint64_t csv_store_nrows(const CsvStore *store);
extern const CsvDialect *csv_store_dialect(const CsvStore *store);

/* has only nfields, ncolumns, and the columns without their null_values */
extern const CsvLayout *csv_store_layout(const CsvStore *store);

/*
 * A batch, by its number.  `arrays` has room for the layout's columns.  False: the
 * file is not valid.
 */
extern bool csv_store_batch(const CsvStore *store, uint32_t number,
							CsvArray *arrays, CsvResidentBatch *batch);

/*
 * Batches before this one will not be read for some time: their memory no longer
 * counts as this process's own.
 */
extern void csv_store_pass(CsvStore *store, uint32_t number);

#endif							/* CSV_STORE_H */
