/*
 * fingerprint.c
 *		Knows a file by its first bytes, under any name.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "common/cryptohash.h"
#include "port/pg_crc32c.h"

#include "table/fingerprint.h"
#include "table/interrupts.h"
#include "table/listing.h"

#define READ_BYTES	(256 * 1024)

void
csv_fingerprint_hash(const uint8 *bytes, size_t nbytes, uint8 *hash)
{
	pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);

	if (context == NULL || pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, bytes, nbytes) < 0 ||
		pg_cryptohash_final(context, hash, PG_SHA256_DIGEST_LENGTH) < 0)
		elog(ERROR, "could not hash bytes of a file");
	pg_cryptohash_free(context);
}

/* SHA-256 of at most CSV_END_BYTES bytes; false: the file ends before */
static bool
hash_end(int file, const char *name, size_t nbytes, uint64 offset, uint8 *hash)
{
	uint8		bytes[CSV_END_BYTES];

	csv_check_interrupts();
	if (csv_read_at(file, name, bytes, nbytes, offset) < nbytes)
		return false;
	csv_fingerprint_hash(bytes, nbytes, hash);
	return true;
}

bool
csv_fingerprint_first(int file, const char *name, uint64 nbytes, uint8 *hash)
{
	return hash_end(file, name, Min(nbytes, CSV_END_BYTES), 0, hash);
}

bool
csv_fingerprint_last(int file, const char *name, uint64 nbytes, uint8 *hash)
{
	size_t		n = Min(nbytes, CSV_END_BYTES);

	return hash_end(file, name, n, nbytes - n, hash);
}

/* adds the bytes [from, to) to the checksum; false: the file ends before */
static bool
add_to_crc(int file, const char *name, uint64 from, uint64 to, uint32 *crc)
{
	uint8	   *bytes = palloc(READ_BYTES);
	bool		is_there = true;

	while (is_there && from < to)
	{
		size_t		nbytes = Min(to - from, READ_BYTES);

		csv_check_interrupts();
		is_there = csv_read_at(file, name, bytes, nbytes, from) == nbytes;
		if (is_there)
			COMP_CRC32C(*crc, bytes, nbytes);
		from += nbytes;
	}
	pfree(bytes);
	return is_there;
}

bool
csv_fingerprint_make(int file, const char *name, uint64 nbytes,
					 const CsvFingerprint *before, CsvFingerprint *fingerprint)
{
	uint64		from = 0;

	fingerprint->nbytes = nbytes;
	INIT_CRC32C(fingerprint->crc);
	if (before != NULL && before->nbytes <= nbytes)
	{
		from = before->nbytes;
		fingerprint->crc = before->crc;
	}
	return add_to_crc(file, name, from, nbytes, &fingerprint->crc) &&
		csv_fingerprint_first(file, name, nbytes, fingerprint->first) &&
		csv_fingerprint_last(file, name, nbytes, fingerprint->last);
}

bool
csv_fingerprint_fits_ends(int file, const char *name, const CsvFingerprint *fingerprint)
{
	uint8		hash[PG_SHA256_DIGEST_LENGTH];

	return csv_fingerprint_first(file, name, fingerprint->nbytes, hash) &&
		memcmp(hash, fingerprint->first, sizeof(hash)) == 0 &&
		csv_fingerprint_last(file, name, fingerprint->nbytes, hash) &&
		memcmp(hash, fingerprint->last, sizeof(hash)) == 0;
}

bool
csv_fingerprint_fits(CsvReadFn read, void *arg, const CsvFingerprint *fingerprint)
{
	uint8	   *bytes = palloc(READ_BYTES);
	uint64		nfirst = Min(fingerprint->nbytes, CSV_END_BYTES);
	uint8		hash[PG_SHA256_DIGEST_LENGTH];
	uint32		crc;
	bool		fits = true;
	size_t		n;

	INIT_CRC32C(crc);
	for (uint64 done = 0; fits && done < fingerprint->nbytes; done += n)
	{
		uint8	   *at = bytes + (done < nfirst ? done : 0);
		uint64		end = done < nfirst ? nfirst : fingerprint->nbytes;

		csv_check_interrupts();
		n = read(arg, at, Min(end - done, READ_BYTES));
		COMP_CRC32C(crc, at, n);
		fits = n > 0;
		if (done + n == nfirst)
		{
			csv_fingerprint_hash(bytes, nfirst, hash);
			fits = memcmp(hash, fingerprint->first, sizeof(hash)) == 0;
		}
	}
	pfree(bytes);
	return fits && EQ_CRC32C(crc, fingerprint->crc);
}

bool
csv_fingerprint_is_prefix(CsvReadFn read, void *arg, int file, const char *name,
						  uint64 *nbytes)
{
	uint8	   *bytes = palloc(2 * READ_BYTES);
	bool		is_same = true;
	size_t		n;

	/* most files that differ do so at once */
	for (*nbytes = 0; is_same; *nbytes += n)
	{
		n = read(arg, bytes, *nbytes == 0 ? CSV_END_BYTES : READ_BYTES);
		if (n == 0)
			break;
		csv_check_interrupts();
		is_same = csv_read_at(file, name, bytes + READ_BYTES, n, *nbytes) == n &&
			memcmp(bytes, bytes + READ_BYTES, n) == 0;
	}
	pfree(bytes);
	return is_same;
}

int64
csv_time_of_birth(const char *filename)
{
#ifdef STATX_BTIME
	struct statx st;

	if (statx(AT_FDCWD, filename, 0, STATX_BTIME, &st) == 0 &&
		(st.stx_mask & STATX_BTIME) != 0)
		return st.stx_btime.tv_sec * INT64CONST(1000000000) + st.stx_btime.tv_nsec;
#endif
	return 0;
}
