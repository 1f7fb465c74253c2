/*
 * option_value.h
 *		Values of options, each by itself: ERROR where one is wrong.
 */
#ifndef CSV_OPTION_VALUE_H
#define CSV_OPTION_VALUE_H

#include "nodes/parsenodes.h"

/* a word that an option may have for its value */
typedef struct CsvWord
{
	const char *name;
	int			value;
} CsvWord;

/* one of the words, in any case */
extern int	csv_option_word(DefElem *def, const CsvWord *words);

/* a number without sign, fraction or unit; false if it is none */
extern bool csv_option_digits(const char *value, int64 *result);

/* such a number within bounds; a multiple of `step` */
extern int64 csv_option_count(DefElem *def, int64 min, int64 max);
extern int64 csv_option_multiple(DefElem *def, int step, int64 min, int64 max);

/* a number of bytes, with units as in postgresql.conf */
extern int64 csv_option_size(DefElem *def, int64 max);

/* one ASCII character that is no line break */
extern uint8_t csv_option_character(DefElem *def);

/*
 * a delimiter: CSV_DELIMITER_BYTES at most, no line breaks; a tab written as \t, which
 * other programs take for one, is an ERROR
 */
extern char *csv_option_delimiter(DefElem *def);

/* what begins comments: CSV_COMMENT_BYTES at most, no line breaks */
extern char *csv_option_comment(DefElem *def);

/* what stands for NULL or for the column's default */
extern char *csv_option_marker(DefElem *def);

/* likewise several: a text[] literal, as a list of C strings */
extern List *csv_option_strings(DefElem *def);

/* a pattern of files in a directory; may have slashes, except at its start */
extern char *csv_option_pattern(DefElem *def);

/* a name for SQL; a NOTICE if it is too long, and then cut */
extern char *csv_option_identifier(DefElem *def);

/* one character, of any number of bytes, that cannot be part of a number itself */
extern char *csv_option_thousands(DefElem *def);

#endif							/* CSV_OPTION_VALUE_H */
