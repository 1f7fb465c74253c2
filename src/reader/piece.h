/*
 * piece.h
 *		Reads a file at any offset, a piece at a time.
 *
 * Several readers share a file: threads (pieces.h) or processes.
 *
 *	1. A reader claims the next piece of the file.
 *	2. The reader guesses where the first record of the piece begins, and parses
 *	   from there up to the first record of the next piece, with the same guess
 *	   for that.
 *	3. When the pieces before it have joined the chain, it is known where their
 *	   records end.  If the piece began there, its batch is right, and it joins,
 *	   too.  Otherwise the reader parses the piece again, from there.
 *
 * So the result is the same as with one reader.  If the guesses are right, all
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
 * The pieces of a file, in order.  This is plain memory, of a process or shared
 * by processes.  A lock of the owner guards it.  Zeros are the top of a file.
 */
typedef struct CsvChain
{
	uint32_t	nclaimed;
	uint64_t	claimed_to;		/* where the next piece begins */
	uint32_t	njoined;
	CsvFilePlace place;			/* where the records of these pieces end */
} CsvChain;

/*
 * A piece reaches from the first record that begins at or after `from` to the first
 * record that begins at or after `to`, where the next piece begins.
 */
typedef struct CsvPiece
{
	uint32_t	number;			/* in its file, from 0 */
	uint64_t	from;			/* offsets in the file */
	uint64_t	to;
	bool		is_exact;		/* its records begin at `begin`: no guess */
	bool		is_last;		/* it ends with the file: no guess */

	/* guessed, if `end` is not 0 */
	bool		found;			/* a record was found near `from` */
	uint64_t	end;			/* of the piece; `to` if no record was found there */

	CsvFilePlace begin;			/* where parsing begins, */
	CsvFilePlace place;			/* and where the parsed records end */
	CsvBatch	batch;
	bool		at_end;			/* as in csv_piece_parse() */
} CsvPiece;

/*
 * Claim the next piece, of nbytes bytes.  If it would leave last_bytes or less
 * before `end`, it is the last.
 */
extern void csv_chain_claim(CsvChain *chain, uint64_t nbytes,
							uint64_t last_bytes, uint64_t end,
							CsvPiece *piece);

/*
 * Parse the piece, unless no record was found near its begin.  The first call
 * guesses.  After CSV_INTERRUPTED it may be repeated.  Returns the same as
 * csv_piece_guess() and csv_piece_parse().
 */
extern CsvStatus csv_piece_read(CsvPieceReader *reader, CsvPiece *piece);

/*
 * All pieces before this one have joined the chain: let it join.  False: the
 * guess was wrong, and csv_piece_read() must read it again.
 */
extern bool csv_chain_join(CsvChain *chain, CsvPiece *piece);

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
