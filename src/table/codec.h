/*
 * codec.h
 *		The libraries that decompress, behind one function.
 *
 * Nothing here calls PostgreSQL.  Any thread may use a codec, one thread at a time.
 */
#ifndef CSV_CODEC_H
#define CSV_CODEC_H

#include "table/library.h"
#include "table/option.h"
#include "wire/identity.h"

typedef struct CsvCodec CsvCodec;

/* the result of one call of a library */
typedef struct CsvDecoded
{
	size_t		consumed;
	size_t		produced;
	bool		complete;		/* a member or frame ends here */
	const char *failure;		/* NULL: no failure */
} CsvDecoded;

/* a failure for which the file is not to blame */
extern const char csv_codec_no_memory[];

/* why a library could not be opened */
typedef struct CsvLibraryFailure
{
	const char *name;			/* file name; NULL: this build lacks the library */
	const char *package;		/* Debian's package */
	const char *reason;			/* valid until the next call of dlopen() */
} CsvLibraryFailure;

/*
 * Opens the libraries of a compression.  Returns false if that fails, or if this build
 * lacks the library; the caller may try again.  The main thread must call this
 * before any thread opens a codec.
 */
extern bool csv_codec_prepare(CsvCompression compression,
							  CsvLibraryFailure *failure);

/*
 * NULL if there is no memory.  Requires a successful csv_codec_prepare().  A fast codec
 * may use another library: it returns the same bytes if it accepts the file, but its
 * failures say nothing.  Other codecs report the error in a damaged file.
 */
extern CsvCodec *csv_codec_open(CsvCompression compression, bool fast);

/* NULL may be passed, too */
extern void csv_codec_close(CsvCodec *codec);

/* expect the beginning of a member or frame, whatever came before */
extern void csv_codec_restart(CsvCodec *codec);

/*
 * Decompresses up to ninput bytes of input into up to noutput bytes; both may be 0.
 * Stops at the end of a member or frame; the next call begins the next one.
 */
extern void csv_codec_step(CsvCodec *codec,
						   const uint8_t *input, size_t ninput,
						   uint8_t *output, size_t noutput,
						   CsvDecoded *decoded);

/*
 * ---- ISA-L within a member of gzip ----
 *
 * Its state is plain memory.  Where it is not used, there is no state.
 */

#define CSV_STATE_BYTES	(96 * 1024)

/* only states of the same version can be set; 0: there are none */
extern uint64_t csv_codec_version(void);

/* of what the member has delivered so far */
extern uint32_t csv_codec_crc(const CsvCodec *codec);

/* a state of nbytes, at most CSV_STATE_BYTES; NULL: there is none now */
extern const void *csv_codec_state(const CsvCodec *codec, size_t *nbytes);

/* goes on from a state in a file; false: it must be restarted */
extern bool csv_codec_load(CsvCodec *codec, int file, off_t offset,
						   size_t nbytes);

#endif							/* CSV_CODEC_H */
