/*
 * sampling.c
 *		Records at places all over the open file.  A file that is small, or
 *		cannot be read at any offset, is read from its beginning.
 */
#include "postgres.h"

#include <fcntl.h>

#include "batches/reading.h"
#include "reader/piece.h"

/* the most waiting for files */
#define MOST_SECONDS	0.04

bool
csv_sampling_next(CsvBatches *batches)
{
	CsvSampling *sampling = batches->sampling;
	CsvPieceReader *reader = csv_reader_here(batches->reader);
	const CsvFilePlace *start = csv_reader_place(batches->reader);
	CsvBatch   *batch = &batches->at.batch;
	int			nplaces = sampling->nplaces[csv_source_number(batches->source)];
	int64		most = (int64) nplaces * CSV_PLACE_BYTES;
	int64		nbytes = (int64) csv_source_known_bytes(batches->source);
	int64		stretch;		/* from place to place, up to the file's end */
	CsvReadAhead ahead;

	if (csv_reader_read_seconds(batches->reader) > MOST_SECONDS)
		sampling->is_late = true;
	else if (nbytes <= most || !csv_source_read_ahead(batches->source, &ahead))
	{
		sampling->is_part |= batches->file_bytes >= most;
		return batches->file_bytes < most && csv_reading_next(batches);
	}
	stretch = (nbytes - CSV_PLACE_BYTES) / Max(nplaces - 1, 1);
	/* a disk gets all places at once */
	for (int i = 0; sampling->place == 0 && i < nplaces; i++)
		(void) posix_fadvise(csv_source_file(batches->source), stretch * i,
							 2 * CSV_PLACE_BYTES, POSIX_FADV_WILLNEED);
	while (!sampling->is_late && sampling->place < nplaces)
	{
		CsvPiece	piece = {.is_last = true};	/* its end is not guessed */
		CsvStatus	status;

		piece.from = (uint64) (stretch * sampling->place++);
		piece.is_exact = piece.from <= start->offset;
		if (piece.is_exact)
			piece.begin = *start;
		piece.to = Max(piece.from, piece.begin.offset) + CSV_PLACE_BYTES;
		memset(batch, 0, sizeof(*batch));
		while ((status = csv_piece_guess(reader, &piece)) != CSV_OK ||
			   (piece.found &&
				(status = csv_piece_parse(reader, &piece.begin, piece.to,
										  !piece.is_exact, batch,
										  &piece.at_end)) != CSV_OK))
			csv_reading_fail(batches, status);
		batches->file_bytes = (int64) batch->file_offset;
		csv_reading_count(batches);
		if (batch->nrecords > 0)
			return true;
	}
	return false;
}
