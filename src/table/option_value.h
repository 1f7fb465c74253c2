/*
 * option_value.h
 *		Values of single options: ERROR if a value is wrong.
 */
#ifndef CSV_OPTION_VALUE_H
#define CSV_OPTION_VALUE_H

#include "nodes/parsenodes.h"

/* ERROR: the value of an option is wrong; detail and hint may be NULL */
extern void csv_refuse_value(const char *option, const char *value, const char *detail,
							 const char *hint)
	__attribute__((noreturn));

/* a word that may be an option's value */
typedef struct CsvWord
{
	const char *name;
	int			value;
} CsvWord;

/* of CsvCompression (option_list.c) */
extern const CsvWord csv_compression_words[];

/* returns the value of one of the words, in any case */
extern int	csv_option_word(DefElem *def, const CsvWord *words);

/* a number without sign, fraction or unit; false if the value is not such a number */
extern bool csv_option_digits(const char *value, int64 *result);

/* such a number within bounds, and a multiple of `step` */
extern int64 csv_option_count(DefElem *def, int step, int64 min, int64 max);

/* a number of bytes, with units as in postgresql.conf */
extern int64 csv_option_size(DefElem *def, int64 max);

/* one ASCII character, except a line break */
extern uint8_t csv_option_character(DefElem *def);

/*
 * A delimiter: at most CSV_DELIMITER_BYTES, no line breaks.  ERROR for a backslash and
 * "t", which other programs take for a tab.
 */
extern char *csv_option_delimiter(DefElem *def);

/* a string that begins comments: at most CSV_COMMENT_BYTES, no line breaks */
extern char *csv_option_comment(DefElem *def);

/* a string that means NULL or the column's default */
extern char *csv_option_marker(DefElem *def);

/* several such strings: a text[] literal, returned as a list of C strings */
extern List *csv_option_strings(DefElem *def);

/* a pattern of files in a directory; may have slashes, but not at its start */
extern char *csv_option_pattern(DefElem *def);

/* an SQL identifier; NOTICE if it is too long and was truncated */
extern char *csv_option_identifier(DefElem *def);

/* one character, of any number of bytes, that cannot be part of a number itself */
extern char *csv_option_thousands(DefElem *def);

#endif							/* CSV_OPTION_VALUE_H */
