/*
 * file_form.h
 *		How records are written to a file of a table: where its fields and breaks are.
 */
#ifndef CSV_FILE_FORM_H
#define CSV_FILE_FORM_H

#include "output/fields.h"
#include "table/option.h"

/* what a file's own bytes may decide */
typedef struct CsvFileForm
{
	bool		has_bytes;		/* the file is there, and is not empty */
	bool		is_blank;		/* it has an empty line only, which counts as empty */
	uint8_t		boundary;		/* CsvBoundary, not AUTO */
	CsvUtf16	utf16;			/* NO, LITTLE or BIG */
	uint32_t	nfields;
	int32	   *fields;			/* of each attribute; -1: not in the file */
} CsvFileForm;

/* the form of a file that the table makes; in the current memory context */
extern CsvFileForm csv_file_form_new(const CsvTable *table);

/*
 * The form of the table's only file; of a new file if it is empty or not there.  ERROR
 * if the file does not fit the table.
 */
extern CsvFileForm csv_file_form_read(const CsvTable *table);

/* can records of one form follow records of the other? */
extern bool csv_file_forms_equal(const CsvTable *table, const CsvFileForm *a,
								 const CsvFileForm *b);

/* the line break that ends records */
extern const char *csv_line_break(uint8_t boundary);

/*
 * Does the table's only file, which has bytes, end without a line break?  ERROR if
 * records behind its end would not be read, or would change its last record.
 */
extern bool csv_file_lacks_break(const CsvTable *table, const CsvFileForm *form);

/* convert bytes of whole characters from UTF-8 to UTF-16 */
extern void csv_utf8_to_utf16(const char *bytes, size_t n, CsvUtf16 utf16,
							  StringInfo output);

#endif							/* CSV_FILE_FORM_H */
