/*
 * utf16.h
 *		Conversion of UTF-16 to UTF-8.
 */
#ifndef CSV_UTF16_H
#define CSV_UTF16_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* most bytes of UTF-8 for nbytes of UTF-16 */
#define CSV_UTF16_GROWTH(nbytes)	(((nbytes) + 1) / 2 * 3)

/*
 * Convert nbytes of UTF-16 to UTF-8.  `output` must have room for
 * CSV_UTF16_GROWTH(nbytes) bytes; *produced is set to how many were written.  Returns
 * the number of input bytes that were converted: all if at_end, otherwise all except an
 * incomplete character of less than four bytes.
 *
 * Invalid UTF-16 becomes invalid UTF-8, so that the check of the text finds it.  A
 * surrogate without its other half becomes the three bytes that encode its number, and
 * half a code unit at the end becomes 0xFF.  A byte-order mark is converted like any
 * other character.
 */
extern size_t csv_utf16_to_utf8(const uint8_t *input, size_t nbytes,
								bool big_endian, bool at_end,
								uint8_t *output, size_t *produced);

#endif							/* CSV_UTF16_H */
