/*
 * keys.h
 *		Names of directories, KEY=VALUE, as Hive writes them.
 */
#ifndef CSV_KEYS_H
#define CSV_KEYS_H

#include "output/fields.h"

/* append NAME= and a zero byte, with escapes */
extern void csv_key_name(CsvOutputBytes *output, const char *name);

/*
 * Append a value, with escapes; NULL: the value is NULL.  What csv_path_value() reads
 * in the name is the same value.
 */
extern void csv_key_value(CsvOutputBytes *output, const char *value);

#endif							/* CSV_KEYS_H */
