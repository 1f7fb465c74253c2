/*
 * window.c
 *		Bytes of a file side by side in memory, up to the file's end.
 *
 * Bytes stay in their place, and move to the front when room is needed.
 */
#include "arrays.h"
#include "clock.h"
#include "window.h"

#include <errno.h>

/* pieces differ in size: allocate a little more, an eighth at most */
#define SPARE_BYTES	((uint64_t) 64 * 1024)

void
csv_window_empty(CsvFileWindow *window, uint64_t offset)
{
	window->from = offset;
	window->filled = 0;
}

void
csv_window_release(CsvFileWindow *window)
{
	csv_free(&window->memory, window->allocation);
	window->allocation = NULL;
	window->capacity = 0;
	window->filled = 0;
}

/* let the window begin at `from`, in new memory; the bytes behind are kept */
static CsvStatus
reallocate(CsvFileWindow *window, uint64_t from, uint64_t kept, uint64_t capacity)
{
	uint8_t    *allocation = window->memory.alloc(window->memory.owner,
												  capacity + 2 * CSV_MARGIN);

	if (allocation == NULL)
		return CSV_NO_MEMORY;
	memset(allocation, 0, CSV_MARGIN);
	if (kept > 0)
		memcpy(allocation + CSV_MARGIN, csv_window_at(window, from), kept);
	memset(allocation + CSV_MARGIN + kept, 0, CSV_MARGIN);
	csv_window_release(window);
	window->allocation = allocation;
	window->capacity = capacity;
	window->from = from;
	window->filled = kept;
	return CSV_OK;
}

/* make room for bytes up to `to`; bytes from `from` on are kept */
static CsvStatus
make_room(CsvFileWindow *window, uint64_t from, uint64_t to)
{
	uint64_t	end = csv_window_filled_to(window);
	bool		overlaps = from >= window->from && from <= end;
	uint64_t	kept = overlaps ? end - from : 0;
	uint64_t	nbytes = to - from;
	bool		fits = window->allocation != NULL;

	if (fits && overlaps && to - window->from <= window->capacity)
		return CSV_OK;
	if (!fits || nbytes > window->capacity)
	{
		nbytes += nbytes / 8 < SPARE_BYTES ? nbytes / 8 : SPARE_BYTES;
		return reallocate(window, from, kept, nbytes > window->least_capacity ?
						  nbytes : window->least_capacity);
	}
	if (kept > 0)
		memmove(window->allocation + CSV_MARGIN, csv_window_at(window, from), kept);
	window->from = from;
	window->filled = kept;
	return CSV_OK;
}

CsvStatus
csv_window_reach(CsvFileWindow *window, uint64_t from, uint64_t to, uint64_t more)
{
	uint64_t	end = csv_window_filled_to(window);
	uint64_t	most;
	CsvStatus	status;
	double		began;

	if (to > window->end)
		to = window->end;
	if (to <= from || (from >= window->from && to <= end))
		return CSV_OK;
	most = more < window->end - to ? to + more : window->end;
	status = make_room(window, from, most);
	if (status != CSV_OK)
		return status;

	began = csv_now_seconds();
	while ((end = csv_window_filled_to(window)) < to)
	{
		ssize_t		nread = window->read_at(window->read_arg,
											window->allocation + CSV_MARGIN +
											window->filled, most - end, end);

		if (nread < 0 && errno == EINTR)
			continue;
		if (nread < 0)
			return CSV_UNREADABLE;
		if (nread == 0)
		{
			window->is_cut |= window->end != UINT64_MAX;
			window->end = to = end;
		}
		window->filled += (uint64_t) nread;
	}
	memset(window->allocation + CSV_MARGIN + window->filled, 0, CSV_MARGIN);
	window->read_seconds += csv_now_seconds() - began;
	return CSV_OK;
}
