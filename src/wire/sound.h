/*
 * sound.h
 *		Checks numbers that other processes have sent.
 *
 * Engines do not check their input for indexes out of range.  A sound dialect or layout
 * is safe, whatever its values.  Queries are not checked: csv_gpu_service takes them
 * only from sessions of its own user and build.
 *
 * The functions trust counts and pointers.
 */
#ifndef CSV_WIRE_SOUND_H
#define CSV_WIRE_SOUND_H

#include <string.h>

#include "../query/query.h"

/* may the value be used as a bool? */
static inline bool
csv_is_bool(const bool *value)
{
	uint8_t		byte;

	memcpy(&byte, value, 1);
	return byte <= 1;
}

extern bool csv_dialect_is_sound(const CsvDialectOptions *options);
extern bool csv_layout_is_sound(const CsvLayout *layout);

#endif							/* CSV_WIRE_SOUND_H */
