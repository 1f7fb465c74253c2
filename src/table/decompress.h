/*
 * decompress.h
 *		Files of gzip, zstd and LZ4, decompressed as they are read.
 *
 * Uses the libraries that PostgreSQL itself is built with, if their headers were found
 * when csv_gpu_fdw was built (CSV_WITH_GZIP and so on), and ISA-L for gzip.
 */
#ifndef CSV_DECOMPRESS_H
#define CSV_DECOMPRESS_H

#include "table/option.h"

typedef struct CsvDecompressor CsvDecompressor;

typedef void (*CsvSeekFn) (void *arg, uint64_t offset);

/*
 * How the file of this name is compressed.  `choice` is the table's option.  Never
 * returns CSV_COMPRESSION_AUTO.
 */
extern CsvCompression csv_compression_of(const char *filename,
										 CsvCompression choice);

/* the same for a file of the table, or its program's output */
extern CsvCompression csv_file_compression(const CsvTable *table, const char *name);

/*
 * ERROR if a file that is read without decompression begins like a compressed file: as
 * CSV it would have no rows, or nonsense.  Ten bytes are always enough; fewer may not
 * be.
 */
extern void csv_check_not_compressed(const CsvTable *table, const char *name,
									 const uint8_t *bytes, size_t nbytes);

/* does it?  For files that are written */
extern bool csv_begins_compressed(const uint8_t *bytes, size_t nbytes);

/*
 * The length of a name without the suffix of a compression that is read, or otherwise
 * of a compression that is not read: bzip2, xz, zip.
 */
extern size_t csv_name_without_compression(const char *filename, bool is_read);

/* the suffix of files with this compression; empty for NONE */
extern const char *csv_compression_suffix(CsvCompression compression);

/*
 * Opens the libraries of a compression other than NONE.  ERROR if this build lacks
 * them, or if they are not installed.  `name` is the file's, for messages.
 */
extern void csv_compression_prepare(CsvCompression compression, const char *name,
									bool is_output);

/*
 * Creates a decompressor, in the current memory context, for any number of files in
 * turn.  Deleting the context releases the memory of the libraries.  `read` delivers
 * compressed bytes and may raise an ERROR.  `seek` sets the offset at which `read`
 * continues; it is called for regular files only.  has_options: hints may name some.
 */
extern CsvDecompressor *csv_decompressor_create(CsvReadFn read, CsvSeekFn seek,
												void *arg, bool has_options);

/*
 * Begins a file.  `name` is for messages, and must outlive the file.  ERROR if this
 * build has no library for it.  fd: -1, or the descriptor of a regular file that
 * begins with the bytes that `read` will deliver.  Up to nthreads threads may then
 * read from it until csv_decompressor_end().  end: NULL, or the length of a file that
 * grows; becomes the end of its last complete member or frame, behind which `read` must
 * deliver nothing.  If the bytes before are damaged, *end stays: reading will say why.
 * complete: as far as its members or frames are known to be complete.
 */
extern void csv_decompressor_begin(CsvDecompressor *decompressor,
								   CsvCompression compression,
								   const char *name, int fd, uint64 *end,
								   uint64 complete, int nthreads);

/*
 * Returns up to nbytes decompressed bytes; 0 at the end.  ERROR if a file is damaged,
 * ends too early, or continues with something other than a member or frame.
 */
extern size_t csv_decompressor_read(CsvDecompressor *decompressor,
									uint8_t *buffer, size_t nbytes);

/* stops, and releases the library's memory; may be called at any time */
extern void csv_decompressor_end(CsvDecompressor *decompressor);

#endif							/* CSV_DECOMPRESS_H */
