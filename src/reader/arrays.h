/*
 * arrays.h
 *		Arrays in memory of a CsvMemory.
 */
#ifndef CSV_ARRAYS_H
#define CSV_ARRAYS_H

#include <string.h>

#include "reader.h"

/* place may be NULL */
static inline void
csv_free(const CsvMemory *memory, void *place)
{
	if (place != NULL)
		memory->free(memory->owner, place);
}

/* memory that is all zero, or NULL */
static inline void *
csv_alloc_zeros(const CsvMemory *memory, size_t nbytes)
{
	void	   *place = memory->alloc(memory->owner, nbytes);

	return place == NULL ? NULL : memset(place, 0, nbytes);
}

/*
 * array: the address of a pointer to *capacity entries of entry_bytes bytes.  Give it
 * room for n entries, and for twice as many as before, or `least` at first.  False:
 * no memory; the array is as it was.
 */
static inline bool
csv_grow(const CsvMemory *memory, void *array, uint32_t *capacity, size_t n,
		 uint32_t least, size_t entry_bytes)
{
	size_t		wanted = *capacity == 0 ? least : 2 * (size_t) *capacity;
	void	   *before;
	void	   *larger;

	if (n <= *capacity)
		return true;
	while (wanted < n)
		wanted *= 2;
	larger = memory->alloc(memory->owner, wanted * entry_bytes);
	if (larger == NULL)
		return false;
	memcpy(&before, array, sizeof(before));
	if (before != NULL)
		memcpy(larger, before, *capacity * entry_bytes);
	csv_free(memory, before);
	memcpy(array, &larger, sizeof(larger));
	*capacity = (uint32_t) wanted;
	return true;
}

/*
 * Give an array of *capacity bytes room for nbytes.  A new array has no meaning yet.
 * False: no memory; there is no array.
 */
static inline bool
csv_renew(const CsvMemory *memory, void *array, size_t *capacity, size_t nbytes)
{
	void	   *place;

	if (nbytes <= *capacity)
		return true;
	memcpy(&place, array, sizeof(place));
	/* alloc may leave by longjmp */
	memset(array, 0, sizeof(place));
	*capacity = 0;
	csv_free(memory, place);
	place = memory->alloc(memory->owner, nbytes);
	memcpy(array, &place, sizeof(place));
	*capacity = place == NULL ? 0 : nbytes;
	return place != NULL;
}

#endif							/* CSV_ARRAYS_H */
