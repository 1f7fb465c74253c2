/*
 * utf16.h
 *		UTF-16 as UTF-8.
 */
#ifndef CSV_UTF16_H
#define CSV_UTF16_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* what nbytes of UTF-16 become at most */
#define CSV_UTF16_GROWTH(nbytes)	(((nbytes) + 1) / 2 * 3)

/*
 * Convert nbytes of UTF-16 to UTF-8, and say in *produced how many bytes that
 * makes: output has room for CSV_UTF16_GROWTH(nbytes).  Returns how many bytes of
 * input are done: all of them at_end of the text, else all but what may be half
 * of a character, which is less than four.
 *
 * What is no text becomes bytes that are no UTF-8, so that it is found where
 * text is checked: a surrogate without its other half the three bytes that would
 * be its own, and half a code unit, at the end, 0xFF.  A byte-order mark is a
 * character like any other.
 */
extern size_t csv_utf16_to_utf8(const uint8_t *input, size_t nbytes,
								bool big_endian, bool at_end,
								uint8_t *output, size_t *produced);

#endif							/* CSV_UTF16_H */
