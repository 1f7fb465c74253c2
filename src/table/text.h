/*
 * text.h
 *		Bytes of files and directories as text that the database can hold.
 */
#ifndef CSV_TEXT_H
#define CSV_TEXT_H

/*
 * Bytes in an encoding as text that is valid in the database's: what is not
 * valid, or has no equivalent, as \xHH.  At most max_bytes bytes of it.  In the
 * current memory context.
 */
extern char *csv_valid_text(int encoding, const char *bytes, uint64 nbytes,
							uint64 max_bytes);

/*
 * A file's name as datums and messages have it: a directory may have names that
 * are no valid text.  Itself where it is valid, else in the current memory
 * context.
 */
extern char *csv_shown_filename(char *filename);

/*
 * May an option hold the file's name, so that the file is found by it again?
 * Else false, and a message of this level that it was passed over.
 */
extern bool csv_check_filename(int elevel, char *filename);

/* can a character be seen? */
typedef enum CsvVisibility
{
	CSV_VISIBLE,
	CSV_BLANK,					/* of any kind */
	CSV_CONTROL,				/* also what breaks lines, and tabs */
	CSV_ZERO_WIDTH				/* also a byte-order mark, and marks of direction */
} CsvVisibility;

/*
 * The first character of nbytes bytes of valid text in the database's encoding.  *length
 * is the bytes that it has, *code its Unicode code point; 0 where it has none.
 */
extern CsvVisibility csv_visibility(const char *text, size_t nbytes, int *length,
									uint32 *code);

/*
 * Text of a file as messages quote it: control characters and characters without width
 * are escaped, as \xHH (ASCII) or \uHHHH; with keep_lines line feeds stay.  In the
 * current memory context.
 */
extern char *csv_visible_text(const char *text, size_t nbytes, bool keep_lines);

/* the same in double quotes; without them where it has some itself */
extern char *csv_quoted_text(const char *text);

extern bool csv_is_ascii(const char *text, uint64 nbytes);

/* the server's conversion from one encoding to the other; ERROR if it has none */
extern Oid	csv_find_conversion(int from, int to);

#endif							/* CSV_TEXT_H */
