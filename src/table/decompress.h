/*
 * decompress.h
 *		Files of gzip, zstd and LZ4, decompressed as they are read.
 *
 * With the libraries that PostgreSQL itself is built with, as far as their
 * headers were there when csv_gpu_fdw was built (CSV_WITH_GZIP and so on), and
 * with ISA-L for gzip.
 */
#ifndef CSV_DECOMPRESS_H
#define CSV_DECOMPRESS_H

#include "table/option.h"

typedef struct CsvDecompressor CsvDecompressor;

typedef void (*CsvSeekFn) (void *arg, uint64_t offset);

/*
 * How a file of this name is compressed, where `choice` is what the table says:
 * never CSV_COMPRESSION_AUTO.
 */
extern CsvCompression csv_compression_of(const char *filename,
										 CsvCompression choice);

/*
 * ERROR if a file that is read as it is begins as a compressed one does: as CSV
 * it would be no rows, or nonsense.  Ten bytes of it tell, fewer not always.
 */
extern void csv_check_not_compressed(const char *name, const uint8_t *bytes,
									 size_t nbytes);

/* the length of a name without the suffix that tells of compression */
extern size_t csv_name_without_compression(const char *filename);

/* the same of a compression that is told, and not read: bzip2, xz, zip */
extern size_t csv_name_without_unread(const char *filename);

/*
 * A decompressor for one file after the other, in the current memory context,
 * which gives back what the libraries hold.  Compressed bytes come from read,
 * which may leave by an ERROR, and begin anew at an offset after seek, which is
 * called for regular files only.
 */
extern CsvDecompressor *csv_decompressor_create(CsvReadFn read, CsvSeekFn seek,
												void *arg);

/*
 * Begin with a file.  `name` is for messages and must outlive the file; ERROR
 * where this build has no library for it.  fd is not -1 if it is a descriptor of
 * a regular file that begins with the bytes that read will deliver: up to
 * nthreads threads may take them from there, until csv_decompressor_end.
 */
extern void csv_decompressor_begin(CsvDecompressor *decompressor,
								   CsvCompression compression,
								   const char *name, int fd, int nthreads);

/*
 * Up to nbytes decompressed bytes; 0 at the end.  A file that is damaged, ends
 * too early, or goes on with something else is an ERROR.
 */
extern size_t csv_decompressor_read(CsvDecompressor *decompressor,
									uint8_t *buffer, size_t nbytes);

/* stop, and let go of what the library holds; may be called at any time */
extern void csv_decompressor_end(CsvDecompressor *decompressor);

#endif							/* CSV_DECOMPRESS_H */
