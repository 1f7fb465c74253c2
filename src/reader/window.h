/*
 * window.h
 *		Bytes of a file side by side in memory, up to the file's end.
 *
 * The window moves forward in the file, and grows as more bytes are needed:
 *
 *	 margin | bytes [from, from + filled) of the file | free | margin
 *
 * Margins have CSV_MARGIN bytes, which engines may read, and no meaning.
 */
#ifndef CSV_WINDOW_H
#define CSV_WINDOW_H

#include "place.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CsvFileWindow
{
	CsvMemory	memory;

	/* as in CsvReadAhead; after EINTR it is called again */
	ssize_t		(*read_at) (void *arg, uint8_t *buffer, size_t nbytes,
							uint64_t offset);
	void	   *read_arg;
	uint64_t	end;			/* bytes behind it are not read; UINT64_MAX: the
								 * file's length is not known yet */
	bool		is_cut;			/* the file is shorter than `end` was */

	uint64_t	least_capacity; /* of new memory */
	uint8_t    *allocation;		/* with both margins */
	uint64_t	capacity;		/* without the margins */
	uint64_t	from;
	uint64_t	filled;
	double		read_seconds;
} CsvFileWindow;

/* the byte at an offset, which is in the window or at its end */
static inline const uint8_t *
csv_window_at(const CsvFileWindow *window, uint64_t offset)
{
	return window->allocation == NULL ? NULL :
		window->allocation + CSV_MARGIN + (offset - window->from);
}

/* the offset behind the last byte in the window */
static inline uint64_t
csv_window_filled_to(const CsvFileWindow *window)
{
	return window->from + window->filled;
}

/* forget all bytes: the window begins at this offset */
extern void csv_window_empty(CsvFileWindow *window, uint64_t offset);

/*
 * Read bytes [from, to) of the file, as far as it has them.  If any byte must be read,
 * up to `more` bytes may be read in addition.  Bytes before `from` may be dropped.  If
 * the file turns out to be shorter, `end` becomes its length.  Returns CSV_OK,
 * CSV_NO_MEMORY, or CSV_UNREADABLE with errno.
 */
extern CsvStatus csv_window_reach(CsvFileWindow *window, uint64_t from, uint64_t to,
								  uint64_t more);

/* free the memory */
extern void csv_window_release(CsvFileWindow *window);

#ifdef __cplusplus
}
#endif

#endif							/* CSV_WINDOW_H */
