/*
 * windows.cu
 *		Windows: stretches of whole records whose index fits into the memory for it.
 *		Lays out CSV_DEVICE_INDEX.
 */
#include "call.h"

/* memory for index and masks */
static size_t
index_budget(const CsvCall *call)
{
	size_t		budget = (size_t) (call->found.nbytes * CSV_INDEX_SHARE);

	return budget < CSV_INDEX_FLOOR ? CSV_INDEX_FLOOR : budget;
}

/* the masks' part of it, which comes first */
static size_t
masks_bytes(const CsvCall *call)
{
	return (size_t) call->view.ntiles * CSV_TILE_THREADS * CSV_NUM_MASKS * 8;
}

/*
 * Lay out a window of ntiles tiles, nseparators separators and nrecords records, from
 * base on (NULL: not known yet).  Returns its bytes.
 */
static size_t
lay_out_window(const CsvCall *call, CsvView *view, uint32_t ntiles,
			   uint32_t nseparators, uint32_t nrecords, uint8_t *base)
{
	size_t		span = (size_t) ntiles * CSV_TILE_BYTES;
	uint32_t	each = call->cuda->max_per_field > 2 ? 2 :
		call->cuda->max_per_field;
	uint32_t  **tables[] = {&view->record_start, &view->record_first,
	&view->record_line, &view->record_key, &view->rows};
	size_t		next = 0;

	csv_place(base, &next, (size_t) nseparators + 1, &view->separators);
	for (uint32_t **table : tables)
		csv_place(base, &next, (size_t) nrecords + 2, table);
	csv_place(base, &next, (size_t) nrecords / CSV_SELECT_RECORDS + 2,
			  &view->select_ranks);
	view->max_longs =
		(uint32_t) (span / (CSV_LONG_FIELD_BYTES + 1) + 1) * each;
	view->max_pieces = view->max_longs +
		(uint32_t) (span / CSV_PIECE_BYTES + 1) * each;
	csv_place(base, &next, view->max_longs, &view->longs);
	csv_place(base, &next, view->max_pieces, &view->pieces);
	return next;
}

/* bytes of a window from a record up to a tile */
static size_t
window_bytes(const CsvCall *call, uint32_t first_record, uint32_t first_tile,
			 uint32_t until)
{
	const CsvRanks *ranks = call->found.ranks;
	CsvView		nowhere;

	return lay_out_window(call, &nowhere, until - first_tile,
						  ranks[until].separators -
						  ranks[first_tile].separators,
						  ranks[until].ends - first_record, NULL);
}

/* make room for the masks, and for the composed transitions that lead to them */
CsvStatus
csv_window_place_masks(CsvCall *call)
{
	CsvView    *view = &call->view;
	size_t		prefixes_at = masks_bytes(call);
	size_t		nbytes = prefixes_at +
		(size_t) view->ntiles * CSV_TILE_THREADS *
		(call->cuda->tables.wide ? sizeof(CsvWideMap) : sizeof(CsvNarrowMap));
	size_t		budget = index_budget(call);
	uint8_t    *base;

	TRY(csv_work_reserve(&call->work, CSV_DEVICE_INDEX,
						 nbytes > budget ? nbytes : budget, 0));
	base = csv_work_memory(&call->work, CSV_DEVICE_INDEX);
	view->masks = (uint64_t *) base;
	/* not needed any more when a window is filled */
	view->prefixes = base + prefixes_at;
	return CSV_OK;
}

/*
 * The last tile from `low` to `high` that may_be() accepts.  may_be() accepts `low`; it
 * refuses all tiles behind the first that it refuses.
 */
template <typename MayBe>
static uint32_t
last_tile(uint32_t low, uint32_t high, MayBe may_be)
{
	while (low < high)
	{
		uint32_t	middle = low + (high - low + 1) / 2;

		if (may_be(middle))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* open as many whole tiles as fit the budget, but at least one record */
CsvStatus
csv_window_open(CsvCall *call, uint32_t first_record, uint32_t max_records)
{
	CsvView    *view = &call->view;
	const CsvRanks *ranks = call->found.ranks;
	size_t		budget = index_budget(call) - masks_bytes(call);
	uint32_t	first_tile;
	uint32_t	until;
	uint32_t	nseparators;
	size_t		nbytes;
	uint8_t    *base;

	first_tile = last_tile(0, view->ntiles - 1, [&] (uint32_t tile)
	{
		return ranks[tile].starts <= first_record;
	});

	/* the fewest tiles up to the end of the first record */
	until = 1 + last_tile(first_tile, view->ntiles - 1, [&] (uint32_t tile)
	{
		return ranks[tile].ends <= first_record;
	});

	/* the most tiles that fit, if that is more */
	until = last_tile(until, view->ntiles, [&] (uint32_t tile)
	{
		return window_bytes(call, first_record, first_tile, tile) <= budget;
	});

	view->first_tile = first_tile;
	view->window_tiles = until - first_tile;
	view->first_record = first_record;
	view->first_separator = ranks[first_tile].separators;
	view->nrecords = ranks[until].ends - first_record;
	if (view->nrecords > max_records)
		view->nrecords = max_records;
	nseparators = ranks[until].separators - view->first_separator;
	nbytes = lay_out_window(call, view, view->window_tiles, nseparators,
							view->nrecords, NULL);
	TRY(csv_work_reserve(&call->work, CSV_DEVICE_INDEX,
						 masks_bytes(call) + nbytes, masks_bytes(call)));
	base = csv_work_memory(&call->work, CSV_DEVICE_INDEX);
	view->masks = (uint64_t *) base;
	lay_out_window(call, view, view->window_tiles, nseparators, view->nrecords,
				   base + masks_bytes(call));
	return CSV_OK;
}

CsvStatus
csv_window_launch(CsvCall *call)
{
	cudaStream_t stream = call->work.session->stream;

	TRY(csv_work_clear(&call->work, &call->view.counters->any_bad,
					   sizeof(uint32_t)));
	csv_launch_index(&call->view, stream);
	csv_launch_check(&call->view, stream);
	csv_launch_select(&call->view, stream);
	return CSV_OK;
}
