/*
 * sink.h
 *		Files that are written, compressed or not.
 *
 * Bytes are compressed by whole members of gzip, or frames of zstd and LZ4.  These may
 * follow each other in a file, so that a file can be closed and continued, also by
 * another process.
 */
#ifndef CSV_SINK_H
#define CSV_SINK_H

#include <sys/stat.h>

#include "output/fields.h"
#include "table/decompress.h"

/* a member or frame has so many bytes, if there are as many */
#define CSV_FRAME_BYTES		(1024 * 1024)

typedef struct CsvCompressor CsvCompressor;

/*
 * Creates a compressor, in the current memory context, whose deletion releases the
 * library's memory and ends the threads.  `name` is the file's, for messages: ERROR if
 * the library is missing.  compression: not AUTO; NULL is returned for NONE.
 * nthreads: at most, with the calling thread.
 */
extern CsvCompressor *csv_compressor_create(CsvCompression compression,
											const char *name, int nthreads);

/*
 * Append n bytes to the output, as members or frames.  At least one is made, even if there
 * are no bytes.
 */
extern void csv_compress(CsvCompressor *compressor, const char *bytes, size_t n,
						 StringInfo output);

/* mkdirat(), with the mode that goes with COPY's files */
extern int	csv_make_directory(int at, const char *path);

/* ERROR if the file of a path is not a regular file */
extern void csv_check_regular(const char *path, mode_t mode);

/* an open file; closed at the end of the (sub)transaction, too */
typedef struct CsvSink
{
	const char *name;
	int			fd;
	int64		nbytes;			/* in the file; the next byte is written there */
} CsvSink;

/* the numbers of a directory, which other users may move */
typedef struct CsvPlace
{
	dev_t		dev;
	ino_t		ino;
} CsvPlace;

/* ERROR if a directory has other numbers */
extern void csv_check_place(const char *path, const struct stat *st, const CsvPlace *place);

/*
 * Opens a file with O_WRONLY and these flags, such as O_CREAT | O_EXCL.  Files that it
 * creates have the mode of COPY's.  place: NULL, or its directory must be this one, and no
 * symbolic link is followed to it or in it.  sink->nbytes: the file's length.  Errors name
 * the file, whose name must live as long as the sink.
 */
extern void csv_sink_open(CsvSink *sink, const char *name, const CsvPlace *place,
						  int flags);

/* write at sink->nbytes; ERROR if not all bytes can be written */
extern void csv_sink_write(CsvSink *sink, const char *bytes, size_t n);

/* close; sync: once all bytes are on disk */
extern void csv_sink_close(CsvSink *sink, bool sync);

#endif							/* CSV_SINK_H */
