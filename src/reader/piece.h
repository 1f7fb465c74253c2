/*
 * piece.h
 *		A file read at any place, a piece at a time.
 *
 * Several readers, threads or processes, share a file: each takes a piece of it,
 * guesses where the first record in it begins, and parses from there up to
 * where the next piece's first record begins, by the same guess.  What it has read
 * counts if the records before it end where it began: that is known once the
 * pieces before it are read.  Else it reads again, from where they did end.  So
 * all find what one reader finds, and where guesses are right all work at once.
 */
#ifndef CSV_PIECE_H
#define CSV_PIECE_H

#include "place.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CsvPieceOptions
{
	const CsvEngine *engine;	/* configured with the dialect; of one output */
	void	   *engine_state;
	const CsvDialect *dialect;
	CsvMemory	memory;

	/* as in CsvReadAhead; EINTR is seen to, other failures are not */
	ssize_t		(*read_at) (void *arg, uint8_t *buffer, size_t nbytes,
							uint64_t offset);
	void	   *read_arg;
	uint64_t	file_bytes;		/* what comes after is not read */
	uint64_t	max_record_bytes;
	bool		(*interrupted) (void *arg);
	void	   *interrupted_arg;
} CsvPieceOptions;

typedef struct CsvPieceReader CsvPieceReader;

/* NULL where there is no memory */
extern CsvPieceReader *csv_piece_reader_create(const CsvPieceOptions *options);

/* from now on, the file has so many bytes */
extern void csv_piece_set_file_bytes(CsvPieceReader *reader,
									 uint64_t file_bytes);
extern void csv_piece_reader_free(CsvPieceReader *reader);

/*
 * A piece reaches from the first record that begins at or after an offset to
 * the first one at or after the next piece's.
 */
typedef struct CsvPiece
{
	uint64_t	from;			/* offsets in the file */
	uint64_t	to;
	bool		is_first;		/* it begins where the records do, */
	bool		is_last;		/* and ends with the file: nothing to guess */

	/* guessed */
	bool		found;			/* a record's begin, near `from`: */
	uint64_t	start;
	uint64_t	end;			/* of the piece; `to` where none was found there */
} CsvPiece;

/*
 * Guess where the piece's first record begins, and the next piece's.  Depends on
 * the file's bytes only.  CSV_OK, CSV_NO_MEMORY, or CSV_UNREADABLE.
 */
extern CsvStatus csv_piece_guess(CsvPieceReader *reader, CsvPiece *piece);

/*
 * Parse it from there, which has to be found, as csv_piece_parse() does.  A failure that
 * may be the guess's makes it one that was not found.
 */
extern CsvStatus csv_piece_parse_guess(CsvPieceReader *reader, CsvPiece *piece,
									   CsvFilePlace *place, CsvBatch *batch,
									   bool *at_end);

/*
 * Parse the whole records from *place on, up to offset `end`; beyond it if
 * otherwise there would be none.  *place moves to where they end; *at_end: that is
 * the end of the file, or of what is data in it: the last piece of a file with a
 * footer has to be longer than the footer can be (footer.h).  The batch lives until the next call, and may be empty.
 * After CSV_INTERRUPTED the call may be repeated.
 */
extern CsvStatus csv_piece_parse(CsvPieceReader *reader, CsvFilePlace *place,
								 uint64_t end, CsvBatch *batch, bool *at_end);

/* seconds spent reading */
extern double csv_piece_read_seconds(const CsvPieceReader *reader);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_PIECE_H */
