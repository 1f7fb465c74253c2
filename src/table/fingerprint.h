/*
 * fingerprint.h
 *		Knows a file by its first bytes, under any name.
 *
 * Hashes of both ends tell most files apart, and cost two reads.  A checksum of all
 * bytes decides; more bytes extend it.
 */
#ifndef CSV_FINGERPRINT_H
#define CSV_FINGERPRINT_H

#include "common/sha2.h"

#include "reader/reader.h"

#define CSV_END_BYTES	4096

typedef struct CsvFingerprint
{
	uint64		nbytes;			/* the file's first bytes: */
	uint8		first[PG_SHA256_DIGEST_LENGTH]; /* SHA-256 of the first CSV_END_BYTES */
	uint8		last[PG_SHA256_DIGEST_LENGTH];	/* and of the last; fewer bytes if there
												 * are not as many */
	uint32		crc;			/* CRC-32C of all, not finished */
} CsvFingerprint;

/*
 * The fingerprint of the file's first nbytes bytes.  before: NULL, or the fingerprint of
 * fewer bytes of this file, which are not read again.  Returns false if the file is
 * shorter.  ERROR if it cannot be read.  All functions here process interrupts.
 */
extern bool csv_fingerprint_make(int file, const char *name, uint64 nbytes,
								 const CsvFingerprint *before,
								 CsvFingerprint *fingerprint);

/*
 * SHA-256 of the first and of the last of the file's first nbytes bytes, CSV_END_BYTES at
 * most; false: it is shorter
 */
extern bool csv_fingerprint_first(int file, const char *name, uint64 nbytes, uint8 *hash);
extern bool csv_fingerprint_last(int file, const char *name, uint64 nbytes, uint8 *hash);

/* does the file begin with these bytes, by both ends of them? */
extern bool csv_fingerprint_fits_ends(int file, const char *name,
									  const CsvFingerprint *fingerprint);

/* SHA-256 of bytes in memory */
extern void csv_fingerprint_hash(const uint8 *bytes, size_t nbytes, uint8 *hash);

/* are these the next bytes that `read` delivers, by the first of them and the checksum? */
extern bool csv_fingerprint_fits(CsvReadFn read, void *arg, const CsvFingerprint *fingerprint);

/*
 * Does a file begin with all that `read` delivers?  *nbytes: so many bytes, unless it does
 * not.
 */
extern bool csv_fingerprint_is_prefix(CsvReadFn read, void *arg, int file, const char *name,
									  uint64 *nbytes);

/* when the file was made, in nanoseconds; 0: not known */
extern int64 csv_time_of_birth(const char *filename);

#endif							/* CSV_FINGERPRINT_H */
