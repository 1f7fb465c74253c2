/*
 * value.h
 *		Values that an engine leaves to PostgreSQL: from a field's bytes to a
 *		datum by the type's input function, with refusals caught.
 */
#ifndef CSV_VALUE_H
#define CSV_VALUE_H

#include "fmgr.h"

#include "table/option.h"

/* how a column's values are made; one per wanted column */
typedef struct CsvValueInput
{
	const CsvTable *table;
	const CsvTableColumn *column;
	CsvColumn	spec;
	FmgrInfo	function;
	FmgrInfo	conversion;		/* from the file's encoding, once it is used */
	Oid			ioparam;
	int32		typmod;
	bool		has_forms;		/* the table has a time zone or an order of dates */
	bool		checks_domain;	/* `function` is of the base type; this remains ... */
	void	   *domain;			/* ... for domain_check() */
	bool		calls_others;	/* the function may call any other */
	bool		is_strict;		/* NULL is not refused */
	bool		pure;			/* the function may be left by longjmp */
	bool		comma_decimal;	/* decimal_separator ',' applies */
	bool		has_thousands;	/* thousands_separator applies */
} CsvValueInput;

/* why a value was refused */
typedef struct CsvValueError
{
	CsvErrorCode code;			/* CSV_ERROR_NONE: not refused */
	int			sqlerrcode;		/* bad_value: the input function's own */
	char	   *message;		/* bad_value: the function's, without parts that the
								 * user may not see; invalid_utf8; otherwise NULL */
	char	   *detail;			/* bad_value: as message; NULL: none */
	int64		count;			/* characters or bytes, for the limits */
	int64		limit;
	bool		is_soft;		/* the input function raises no ERROR for ... */
	const char *value;			/* ... this text; NULL: a null value */
} CsvValueError;

/* set a session's setting up to the end of a GUC nesting level */
extern void csv_set_in_level(const char *name, const char *value);

/* lookups for a column; the FmgrInfo lives in `context` */
extern void csv_value_init(CsvValueInput *input, const CsvTable *table,
						   const CsvTableColumn *column,
						   MemoryContext context);

/*
 * Make a datum of a field: its content in the file's encoding, with quotes and
 * escapes.  All rules apply, in their order: NULL, default, zero bytes,
 * encoding, limits, input function.  Returns false, with *error filled in, if
 * the value is refused.  Memory comes from the current context.
 */
extern bool csv_value_from_field(CsvValueInput *input,
								 const CsvDialect *dialect,
								 const uint8_t *field, uint64_t length,
								 Datum *value, bool *isnull,
								 CsvValueError *error);

/*
 * The same up to the input function: *text is the value in the database's encoding, of
 * *nbytes bytes, or NULL if the field is NULL.  *is_default: it stands for the default.
 */
extern bool csv_value_text(CsvValueInput *input, const CsvDialect *dialect,
						   const uint8_t *field, uint64_t length, char **text,
						   uint64_t *nbytes, bool *is_default, CsvValueError *error);

/*
 * Call the input function for a C string, and catch its refusal.  The string is NULL
 * for a null value, for which only non-strict functions are called.
 */
extern bool csv_value_from_cstring(CsvValueInput *input, char *string,
								   Datum *value, CsvValueError *error);

/* make NULL; only non-strict functions are called for it, and may refuse it */
extern bool csv_value_null(CsvValueInput *input, Datum *value,
						   CsvValueError *error);

/* refuse a value that is beyond PostgreSQL's limits, for this reason; returns false */
extern bool csv_value_beyond(CsvValueError *error, const char *message);
#define CSV_TOO_LONG_FOR_DATUM	"value is longer than a datum can be"

/* Are the bytes valid in the file's encoding?  False, with *error, if they are not. */
extern bool csv_value_check_bytes(CsvValueInput *input, const uint8_t *bytes,
								  uint64_t length, CsvValueError *error);

/*
 * Is an ERROR with this SQLSTATE about the value?  Cancellation, lack of
 * resources and failures of the server are not, and end the scan.  An internal error
 * (XX000) is a failure of the server if the function is pure.  Functions of extensions
 * raise it for bad values, and a subtransaction undoes all that they have done.
 */
extern bool csv_is_about_value(int sqlerrcode, bool pure);

/*
 * Call `work` in a memory context, and catch its ERROR: returns a copy of it in the
 * current memory context, or NULL.  inside: in a subtransaction, which is rolled back
 * after an ERROR, or if `work` returns false.
 */
extern ErrorData *csv_attempt(bool (*work) (void *arg), void *arg,
							  MemoryContext context, bool inside);

/*
 * Does the type's input function hold nothing but memory when it refuses a value, so
 * that it needs no subtransaction?  And may a subtransaction be opened now?
 */
extern bool csv_is_pure_input(Oid type);
extern bool csv_may_open_subtransaction(void);

/* ---- formatted.c: values in the form that a table's options give ---- */

/*
 * Make a date, timestamp or timestamptz (the type's OID and typmod) from a text, as
 * to_date() and to_timestamp() do by the pattern.  A timestamp without zone has the
 * time of the text.  An epoch is in UTC.  If these functions refuse the text, or if it
 * goes on behind the pattern's end, that is an ERROR about the value.
 */
extern Datum csv_date_by_pattern(const CsvPattern *pattern, Oid type, int32 typmod,
								 const char *text);

/*
 * Returns a number's text without its thousands separators, in the current memory
 * context.  Returns NULL if they do not stand between groups of three digits.
 */
extern char *csv_without_thousands(const char *text, const char *separator);

#endif							/* CSV_VALUE_H */
