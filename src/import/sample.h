/*
 * sample.h
 *		The beginning and the end of a file, and what their bytes tell of it.
 */
#ifndef CSV_SAMPLE_H
#define CSV_SAMPLE_H

#include "table/source.h"

typedef struct CsvSample
{
	const uint8_t *bytes;		/* after a byte-order mark, as the source delivers them */
	uint64		nbytes;
	bool		at_end;			/* this is all of the file */
	bool		prefers_tab;	/* the file's name says so */
	bool		is_utf16;		/* the source converts from UTF-16, by the file's mark */

	/* the file's last bytes, where the sample does not have them and they were read */
	const uint8_t *tail;
	uint64		ntail;
} CsvSample;

/* the beginning of a file that tells its dialect */
#define CSV_SAMPLE_BYTES	(256 * 1024)

/* bytes, or fields, between two checks for interrupts */
#define CSV_BYTES_TO_INTERRUPT	(1024 * 1024)

/* most bytes of a line in a message */
#define CSV_SHOWN_LINE_BYTES	200

/*
 * Read the beginning of the file that is open: `capacity` bytes, or twice its first line
 * if that is more.  In the current memory context.
 */
extern void csv_sample_read(const CsvTable *table, CsvSource *source, uint64 capacity,
							CsvSample *sample);

/* read the end of the file that is open, after its beginning */
extern void csv_sample_read_tail(CsvSource *source, CsvSample *sample);

/* pass over a byte-order mark of UTF-8; false if there is none */
extern bool csv_sample_pass_mark(CsvSample *sample);

/* the name of UTF-16's order of bytes, for a file without a mark; NULL: it is not UTF-16 */
extern const char *csv_guess_utf16(const CsvSample *sample);

/*
 * By the first LF outside quotes, or by CRs if there is no LF; inside them if there is neither.
 * Quote 0: there are no quotes.  CSV_BOUNDARY_AUTO: the sample has neither.
 */
extern CsvBoundary csv_find_boundary(const CsvSample *sample, uint8_t quote);

/* CRs that not all lines have, outside quotes; 0: there are none */
typedef struct CsvOddCrs
{
	uint64		lone_line;		/* the first line with a CR that is data */
	uint64		doubled_line;	/* the first line that ends with CR CR LF, if others do not */
} CsvOddCrs;

extern CsvOddCrs csv_find_odd_crs(const CsvDialectOptions *options,
								  const CsvSample *sample);

/* does boundary 'auto' read lone CRs as record boundaries? */
extern bool csv_auto_finds_cr(const CsvDialectOptions *options, const CsvSample *sample);

/* the beginning of the line at `start`, in the current memory context */
extern char *csv_sample_line(const CsvSample *sample, uint64 start);

/* do these bytes stand anywhere in the sample? */
extern bool csv_sample_has(const CsvSample *sample, const char *bytes);

/* do they stand at this place? */
extern bool csv_sample_has_at(const CsvSample *sample, uint64 pos, const char *bytes);

/* the beginning of the line after `pos`; the sample's end if there is none */
extern uint64 csv_sample_next_line(const CsvSample *sample, uint64 pos, uint8_t break_byte);

/* ---- all lines of a table's files, where the sample leaves a doubt ---- */

/* bytes beyond ASCII */
typedef struct CsvHighBytes
{
	uint64		nvalid;			/* characters of UTF-8 */
	uint64		ninvalid;		/* bytes of none */
	bool		not_win1252;	/* there are bytes that WIN1252 does not have */
	const char *utf8_file;		/* the first file with characters of UTF-8, no such bytes, and no
								 * mark; NULL: there is none */
} CsvHighBytes;

/* Add the bytes of a sample.  The last may be half of a character, unless it is at_end. */
extern void csv_count_high_bytes(const CsvSample *sample, CsvHighBytes *counts);

/* the encoding that they tell, if it is not UTF-8; otherwise NULL */
extern const char *csv_encoding_of(const CsvHighBytes *counts);

/* count them in all files of the table */
extern CsvHighBytes csv_look_for_high_bytes(const CsvTable *table);

/* backslashes, as lines in COPY's text format have them; no program writes numbers of bytes */
typedef struct CsvEscapes
{
	bool		odd;			/* COPY does not write one */
	bool		nulls;			/* \N, all of a field */
	bool		letters;		/* before letters: tabs, line breaks */
	bool		doubled;		/* before another, which stands for itself */
	bool		joins;			/* before a delimiter or a line break */
	bool		is_open;		/* ... at the end of the last line */
	bool		at_end;			/* the last line is \., the end of the data */
} CsvEscapes;

/* add what some lines have */
extern void csv_add_escapes(CsvEscapes *escapes, const CsvDialectOptions *dialect,
							const CsvSample *sample);

/* nothing but `odd` counts where it is set */
extern CsvEscapes csv_look_for_escapes(const CsvTable *table);

/* does a log's comment with the names of its fields begin at this place? */
static inline bool
csv_names_fields(const CsvSample *sample, uint64 pos)
{
	return csv_sample_has_at(sample, pos, "#Fields:") || csv_sample_has_at(sample, pos, "#fields");
}

/*
 * The first line that begins as the table's comments do and has as many delimiters as a
 * row, comments at the beginning of a file aside; in a log whose fields a comment names,
 * the first that names others, with its number and file in *line and *file.  NULL: there is
 * none.  In the current memory context.
 */
extern char *csv_look_for_odd_comment(const CsvTable *table, CsvBoundary boundary,
									  uint32 nfields, uint64 *line, const char **file);

#endif							/* CSV_SAMPLE_H */
