/*
 * piece.h
 *		Reads a file at any offset, a piece at a time.
 *
 * Several readers (threads or processes) share a file.  Each takes a piece, guesses
 * where the first record in it begins, and parses from there up to the first record
 * of the next piece, with the same guess for that.  When the pieces before it are read,
 * it is known where their records end.  If that is where the piece began, its batch is
 * right.  Otherwise the reader parses the piece again, from where the earlier records
 * end.  So the result is the same as with one reader, and if the guesses are right, all
 * readers work at the same time.
 */
#ifndef CSV_PIECE_H
#define CSV_PIECE_H

#include "place.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CsvPieceOptions
{
	const CsvEngine *engine;	/* configured with the dialect */
	void	   *engine_state;
	const CsvDialect *dialect;
	CsvMemory	memory;

	/* as in CsvReadAhead; after EINTR it is called again */
	ssize_t		(*read_at) (void *arg, uint8_t *buffer, size_t nbytes,
							uint64_t offset);
	void	   *read_arg;
	uint64_t	file_bytes;		/* bytes behind that are not read */
	uint64_t	max_record_bytes;
	bool		(*interrupted) (void *arg);
	void	   *interrupted_arg;
} CsvPieceOptions;

typedef struct CsvPieceReader CsvPieceReader;

/* NULL if there is no memory */
extern CsvPieceReader *csv_piece_reader_create(const CsvPieceOptions *options);

/* change file_bytes */
extern void csv_piece_set_file_bytes(CsvPieceReader *reader,
									 uint64_t file_bytes);
extern void csv_piece_reader_free(CsvPieceReader *reader);

/*
 * A piece reaches from the first record that begins at or after `from` to the first
 * record that begins at or after `to`, where the next piece begins.
 */
typedef struct CsvPiece
{
	uint64_t	from;			/* offsets in the file */
	uint64_t	to;
	bool		is_first;		/* a record begins at `from`: no guess */
	bool		is_last;		/* it ends with the file: no guess */

	/* guessed */
	bool		found;			/* a record was found near `from` */
	uint64_t	start;			/* where that record begins */
	uint64_t	end;			/* of the piece; `to` if no record was found there */
} CsvPiece;

/*
 * Guess where the piece begins and ends: at the first record of the piece, and of the
 * next piece.  The guess depends only on the file's bytes.  Returns CSV_OK,
 * CSV_NO_MEMORY, or CSV_UNREADABLE.
 */
extern CsvStatus csv_piece_guess(CsvPieceReader *reader, CsvPiece *piece);

/*
 * Parse the piece as csv_piece_parse() does, from the guessed record, which must be
 * found.  If a wrong guess may be the reason for a failure, `found` becomes false and
 * CSV_OK is returned.
 */
extern CsvStatus csv_piece_parse_guess(CsvPieceReader *reader, CsvPiece *piece,
									   CsvFilePlace *place, CsvBatch *batch,
									   bool *at_end);

/*
 * Parse the whole records from *place on, up to offset `end`, or beyond it if there is
 * no whole record before it.  *place moves to where they end.  *at_end is set if that
 * is the end of the file, or its footer begins there: the last piece of a file with a
 * footer must be longer than a footer can be (footer.h).  The batch lives until the
 * next call, and may be empty.  After CSV_INTERRUPTED the call may be repeated.
 */
extern CsvStatus csv_piece_parse(CsvPieceReader *reader, CsvFilePlace *place,
								 uint64_t end, CsvBatch *batch, bool *at_end);

/* seconds spent reading */
extern double csv_piece_read_seconds(const CsvPieceReader *reader);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_PIECE_H */
