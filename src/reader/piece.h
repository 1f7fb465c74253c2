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

#include "window.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Parses a file at any place.  The caller fills in what a call needs; zeros are right for
 * the rest.  csv_window_release() frees all memory.
 */
typedef struct CsvPieceReader
{
	const CsvEngine *engine;	/* configured with the dialect */
	void	   *engine_state;
	const CsvDialect *dialect;
	CsvMemory	memory;
	uint64_t	max_record_bytes;
	bool		(*interrupted) (void *arg);
	void	   *interrupted_arg;
	uint32_t	output;			/* as in CsvInput */

	/* the file, up to window.end */
	CsvFileWindow	window;
	CsvOwnBytes own;			/* await NULL: the engine has no bytes itself */
	uint64_t	held_bytes;		/* this many bytes at the end may be a footer, which
								 * was not searched yet */
	bool		goes_on;		/* bytes follow that this reader must not read, or that
								 * are not there yet */
	bool		has_footer;		/* a footer follows */
} CsvPieceReader;

/*
 * The data of the file reach at least up to this offset; UINT64_MAX if its length is not
 * known.
 */
extern uint64_t csv_piece_sure_end(const CsvPieceReader *reader);

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
 * Parse the whole records from *place on, up to offset `end`, or beyond it if there is
 * no whole record before it.  *place moves to where they end.  *at_end is set if the
 * reader comes no further there: the data of the file end, or no whole record is left
 * before bytes that it must not read.  The batch lives until the next call with the same
 * output, and may be empty.  After CSV_INTERRUPTED the call may be repeated.
 *
 * If the records may be in the footer, it is searched from *place on, and held_bytes
 * becomes 0.  is_guess: *place may be wrong.  Then records that may be in the footer are
 * not read.
 */
extern CsvStatus csv_piece_parse(CsvPieceReader *reader, CsvFilePlace *place,
								 uint64_t end, bool is_guess, CsvBatch *batch,
								 bool *at_end);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_PIECE_H */
