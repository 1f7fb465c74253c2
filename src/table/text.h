/*
 * text.h
 *		Bytes of files and directories as text that the database can hold.
 */
#ifndef CSV_TEXT_H
#define CSV_TEXT_H

/*
 * Returns bytes of an encoding as valid text of the database encoding, at most
 * max_bytes bytes.  Bytes that are not valid, or have no equivalent, become \xHH.
 * Allocated in the current memory context.
 */
extern char *csv_valid_text(int encoding, const char *bytes, uint64 nbytes,
							uint64 max_bytes);

/*
 * Returns a file's name as valid text for datums and messages; names in directories
 * need not be valid text.  Returns the argument if it is valid, otherwise a string in
 * the current memory context.
 */
extern char *csv_shown_filename(const char *filename);

/*
 * Can an option hold the file's name, so that the file is found by it again?
 * Otherwise returns false, and reports at level elevel that the file was skipped.
 */
extern bool csv_check_filename(int elevel, const char *filename);

/* can a character be seen? */
typedef enum CsvVisibility
{
	CSV_VISIBLE,
	CSV_BLANK,					/* of any kind */
	CSV_CONTROL,				/* also line breaks and tabs */
	CSV_ZERO_WIDTH				/* also byte-order marks and marks of direction */
} CsvVisibility;

/*
 * Classifies the first character of nbytes bytes of valid text in the database
 * encoding. *length is its length in bytes.  *code is its Unicode code point, or 0 if
 * it has none.
 */
extern CsvVisibility csv_visibility(const char *text, size_t nbytes, int *length,
									uint32 *code);

/*
 * Returns text of a file as messages quote it: control characters and zero-width
 * characters become \xHH (ASCII) or \uHHHH.  If keep_lines, line feeds stay.
 * Allocated in the current memory context.
 */
extern char *csv_visible_text(const char *text, size_t nbytes, bool keep_lines);

/* like csv_visible_text(), in double quotes, unless the text itself has some */
extern char *csv_quoted_text(const char *text);

/* the server's conversion from one encoding to another; ERROR if there is none */
extern Oid	csv_find_conversion(int from, int to);

/*
 * Replaces each %XX by its byte, except %00: Hive's strings contain no zero bytes.
 * Allocated in the current memory context.
 */
extern char *csv_decode_percent(const char *text, size_t length);

/* Hive's word for NULL and for an empty value */
#define CSV_PATH_NULL	"__HIVE_DEFAULT_PARTITION__"

/*
 * The value of a key in a path, as Hive writes it: VALUE in a directory named
 * KEY=VALUE.  The last such directory counts; %XX in its name means a byte.  Returns
 * NULL if there is no such directory, or if VALUE means NULL.  Allocated in the
 * current memory context; may not be valid text.
 */
extern char *csv_path_value(const char *path, const char *key);

/* the directory of a file, in the current memory context */
extern char *csv_directory_of(const char *path);

/* a file's name without symbolic links, as far as the file, or its directory, is there */
extern char *csv_real_path(const char *filename);

/* the key in a name KEY=VALUE; decoded and allocated as by csv_path_value() */
extern char *csv_path_key(const char *name);

/* can the option "virtual" name the key? */
extern bool csv_is_path_key(const char *key);

#endif							/* CSV_TEXT_H */
