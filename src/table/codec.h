/*
 * codec.h
 *		The libraries that decompress, behind one function.
 *
 * Nothing here calls PostgreSQL: a codec may be used in any thread, in one at a
 * time.
 */
#ifndef CSV_CODEC_H
#define CSV_CODEC_H

#include "table/library.h"
#include "table/option.h"

typedef struct CsvCodec CsvCodec;

/* what a library has done in one call */
typedef struct CsvDecoded
{
	size_t		consumed;
	size_t		produced;
	bool		complete;		/* a member or frame ends here */
	const char *failure;		/* NULL: none */
} CsvDecoded;

/* of a failure that is not the file's */
extern const char csv_codec_no_memory[];

/*
 * Who decompresses.  The exact one says of a damaged file what is wrong, and
 * where.  The fast one may be another library: of a file that it takes, the
 * bytes are the same, and its failures say nothing.
 */
typedef enum CsvCodecKind
{
	CSV_CODEC_EXACT,
	CSV_CODEC_FAST,
	CSV_CODEC_FAST_SMALL		/* and fails where much memory is wanted */
} CsvCodecKind;

/*
 * Open the libraries of a compression, which this build has.  False if that
 * fails.  The main thread calls this before any thread opens a codec.
 */
extern bool csv_codec_prepare(CsvCompression compression,
							  CsvLibraryFailure *failure);

/* NULL if there is no memory.  csv_codec_prepare() has returned true. */
extern CsvCodec *csv_codec_open(CsvCompression compression, CsvCodecKind kind);

/* NULL may be closed, too */
extern void csv_codec_close(CsvCodec *codec);

/* a member or frame is what comes next, whatever came before */
extern void csv_codec_restart(CsvCodec *codec);

/*
 * Make up to noutput bytes of ninput bytes of input; both may be 0.  Stops
 * behind a member or frame, and begins the next one when called again.
 */
extern void csv_codec_step(CsvCodec *codec,
						   const uint8_t *input, size_t ninput,
						   uint8_t *output, size_t noutput,
						   CsvDecoded *decoded);

/*
 * What this build lacks for a compression, as the option has it, and Debian's
 * package of its headers; NULL where it lacks nothing.
 */
extern const char *csv_codec_missing(CsvCompression compression,
									 const char **package);

#endif							/* CSV_CODEC_H */
