/*
 * dialect.c
 *		Compiles a CSV dialect to its transition table.
 */
#include "dialect.h"

#include <string.h>

/* the transition at a line break or the end of the input that ends the record */
static uint8_t
end_record(CsvState state)
{
	uint8_t		entry = CSV_STATE_RECORD_START | CSV_FIELD | CSV_RECORD;

	if (state == CSV_STATE_QUOTED || state == CSV_STATE_ESCAPE_SEEN ||
		state == CSV_STATE_SKIP_LINE)
		entry |= CSV_BAD;
	return entry;
}

/* the state after a byte of a delimiter that has nleft more bytes */
static uint8_t
after_delimiter_byte(unsigned nleft)
{
	return nleft == 0 ? CSV_STATE_FIELD_START : CSV_STATE_IN_DELIMITER + nleft - 1;
}

/*
 * One transition of the text format.  If lines are read alone, an escaped line break is
 * an error, like an open quote.  In an escaped CR LF, the LF is escaped as well.
 */
static uint8_t
text_transition(const CsvDialectOptions *opt, bool multiline, CsvState state,
				CsvClass class)
{
	bool		escaped = state == CSV_STATE_ESCAPE_SEEN;
	uint8_t		start = state == CSV_STATE_RECORD_START ? CSV_START : 0;

	switch (class)
	{
		case CSV_CLASS_END_OF_INPUT:
			return state == CSV_STATE_RECORD_START ? CSV_STATE_RECORD_START :
				end_record(CSV_STATE_UNQUOTED);
		case CSV_CLASS_BREAK:
			if (start != 0 && !opt->blank_is_record)
				return CSV_STATE_RECORD_START;
			return escaped && multiline ? CSV_STATE_UNQUOTED :
				end_record(state) | start;
		case CSV_CLASS_PRE_BREAK:
			return start != 0 && opt->blank_is_record ?
				CSV_STATE_FIELD_START | start : state;
		case CSV_CLASS_DELIMITER:
			return escaped ? CSV_STATE_UNQUOTED :
				after_delimiter_byte(opt->delimiter_rest_length) | CSV_FIELD | start;
		case CSV_CLASS_ESCAPE:
			return escaped ? CSV_STATE_UNQUOTED : CSV_STATE_ESCAPE_SEEN | start;
		default:
			return CSV_STATE_UNQUOTED | start;
	}
}

/*
 * One transition outside of quotes, or right behind them, at a byte that is not part of
 * a line break.  The error text_after_quote is the transition to SKIP_LINE.
 */
static uint8_t
outside_transition(const CsvDialectOptions *opt, CsvMode mode, CsvState state,
				   CsvClass class)
{
	bool		postgres = opt->quoting == CSV_QUOTING_POSTGRES;
	uint8_t		start = state == CSV_STATE_RECORD_START ? CSV_START : 0;

	if (class == CSV_CLASS_DELIMITER)
		return after_delimiter_byte(opt->delimiter_rest_length) | CSV_FIELD | start;

	if (state == CSV_STATE_QUOTE_SEEN || state == CSV_STATE_AFTER_QUOTE)
	{
		bool		doubling = opt->escape == opt->quote &&
			state == CSV_STATE_QUOTE_SEEN;

		if (class == CSV_CLASS_QUOTE && doubling)
			return CSV_STATE_QUOTED;
		if (!postgres)
			return class == CSV_CLASS_BLANK ? CSV_STATE_AFTER_QUOTE :
				CSV_STATE_SKIP_LINE;
		state = CSV_STATE_UNQUOTED; /* the quote closed; continue as outside */
	}

	/* blanks before a value are not part of it: a quote may follow */
	if (class == CSV_CLASS_BLANK && state != CSV_STATE_UNQUOTED)
		return CSV_STATE_FIELD_START | start;

	if (class == CSV_CLASS_QUOTE)
	{
		if (state != CSV_STATE_UNQUOTED)
			return CSV_STATE_QUOTED | start;
		if (mode == CSV_ALONE)
			return CSV_STATE_SKIP_LINE;
		if (postgres)
			return CSV_STATE_QUOTED;
	}
	return CSV_STATE_UNQUOTED | start;
}

/*
 * One transition.  Only a break or the end of the input leaves SKIP_LINE, with CSV_BAD.
 */
static uint8_t
transition(const CsvDialectOptions *opt, CsvMode mode, CsvState state,
		   CsvClass class)
{
	bool		multiline = opt->multiline && mode == CSV_NORMAL;
	bool		quoted = state == CSV_STATE_QUOTED ||
		state == CSV_STATE_ESCAPE_SEEN;

	if (state >= CSV_STATE_IN_DELIMITER)
		return after_delimiter_byte(state - CSV_STATE_IN_DELIMITER);
	if (state == CSV_STATE_COMMENT)
		return class == CSV_CLASS_BREAK || class == CSV_CLASS_END_OF_INPUT ?
			CSV_STATE_RECORD_START : CSV_STATE_COMMENT;
	if (class == CSV_CLASS_COMMENT)
	{
		if (state == CSV_STATE_RECORD_START)
			return CSV_STATE_COMMENT;
		class = CSV_CLASS_OTHER;
	}
	if (opt->quoting == CSV_QUOTING_TEXT)
		return text_transition(opt, multiline, state, class);

	/* a byte that is delimiter and escape is an escape only inside quotes */
	if (class == CSV_CLASS_DELIMITER_ESCAPE)
		class = quoted ? CSV_CLASS_ESCAPE : CSV_CLASS_DELIMITER;

	if (class == CSV_CLASS_END_OF_INPUT)
		return state == CSV_STATE_RECORD_START ? CSV_STATE_RECORD_START :
			end_record(state);

	if (class == CSV_CLASS_BREAK)
	{
		if (state == CSV_STATE_RECORD_START)	/* a blank line */
			return opt->blank_is_record ? (end_record(state) | CSV_START) :
				CSV_STATE_RECORD_START;
		if (quoted && multiline)
			return CSV_STATE_QUOTED;
		return end_record(state);
	}

	/*
	 * CRs of a line break are data inside quotes, and part of the break elsewhere.  In
	 * a blank line that is a record, they start the record, and the LF ends it.
	 */
	if (class == CSV_CLASS_PRE_BREAK)
	{
		if (quoted)
			return CSV_STATE_QUOTED;
		if (state == CSV_STATE_RECORD_START && opt->blank_is_record)
			return CSV_STATE_FIELD_START | CSV_START;
		return state;
	}

	if (state == CSV_STATE_SKIP_LINE)
		return state;

	/* an escape that no quote or escape follows is data */
	if (state == CSV_STATE_ESCAPE_SEEN)
	{
		if (class == CSV_CLASS_QUOTE || class == CSV_CLASS_ESCAPE)
			return CSV_STATE_QUOTED;
		state = CSV_STATE_QUOTED;
	}

	if (state == CSV_STATE_QUOTED)
	{
		if (class == CSV_CLASS_QUOTE)
			return CSV_STATE_QUOTE_SEEN;
		if (class == CSV_CLASS_ESCAPE)
			return CSV_STATE_ESCAPE_SEEN;
		return CSV_STATE_QUOTED;
	}

	return outside_transition(opt, mode, state, class);
}

/* classes: the set of classes that bytes can have, a bit for each */
static void
give_class(CsvDialect *dialect, uint32_t *classes, uint8_t byte, CsvClass class)
{
	dialect->class_of[byte] = class;
	*classes |= UINT32_C(1) << class;
}

static void
fill_table(CsvDialect *dialect, CsvMode mode, int nstates, uint32_t classes)
{
	for (int state = 0; state < nstates; state++)
		for (int class = 0; class < CSV_NUM_CLASSES; class++)
			if ((classes >> class & 1) != 0)
				dialect->table[mode][state][class] =
					transition(&dialect->opt, mode, state, class);
}

/*
 * A small file costs little more than its dialect.  So only the transitions are made
 * that the dialect's states and classes can meet.
 */
void
csv_dialect_compile(CsvDialect *dialect, const CsvDialectOptions *options)
{
	CsvDialectOptions *opt = &dialect->opt;
	uint32_t	classes = UINT32_C(1) << CSV_CLASS_OTHER |
		UINT32_C(1) << CSV_CLASS_BREAK | UINT32_C(1) << CSV_CLASS_PRE_BREAK |
		UINT32_C(1) << CSV_CLASS_END_OF_INPUT;
	int			nstates;

	memset(dialect, 0, sizeof(*dialect));
	*opt = *options;
	if (opt->quoting == CSV_QUOTING_TEXT)
	{
		opt->quote = 0;
		opt->escape = '\\';
		opt->multiline = true;
	}
	else if (opt->quote == 0)
		opt->escape = 0;
	else if (opt->escape == 0)
		opt->escape = opt->quote;

	dialect->trim_crs = opt->boundary == CSV_BOUNDARY_AUTO ? CSV_BREAK_CRS :
		opt->boundary == CSV_BOUNDARY_CRLF;
	dialect->break_byte = csv_break_byte(opt->boundary);

	if (opt->trim)
	{
		give_class(dialect, &classes, ' ', CSV_CLASS_BLANK);
		give_class(dialect, &classes, '\t', CSV_CLASS_BLANK);
	}
	give_class(dialect, &classes, opt->delimiter, CSV_CLASS_DELIMITER);
	if (opt->quoting == CSV_QUOTING_TEXT)
		give_class(dialect, &classes, opt->escape, CSV_CLASS_ESCAPE);
	else if (opt->quote != 0)
	{
		give_class(dialect, &classes, opt->quote, CSV_CLASS_QUOTE);
		if (opt->escape == opt->delimiter)
			give_class(dialect, &classes, opt->escape, CSV_CLASS_DELIMITER_ESCAPE);
		else if (opt->escape != opt->quote)
			give_class(dialect, &classes, opt->escape, CSV_CLASS_ESCAPE);
	}
	if (opt->comment_length > 0)
		give_class(dialect, &classes, opt->comment[0], CSV_CLASS_COMMENT);

	nstates = opt->delimiter_rest_length > 0 ? CSV_NUM_STATES :
		opt->trim ? CSV_STATE_IN_DELIMITER : CSV_NUM_NARROW_STATES;
	fill_table(dialect, CSV_NORMAL, nstates, classes);
	/* lines that are read alone differ only at these classes */
	memcpy(dialect->table[CSV_ALONE], dialect->table[CSV_NORMAL],
		   sizeof(dialect->table[CSV_ALONE]));
	fill_table(dialect, CSV_ALONE, nstates,
			   classes & (UINT32_C(1) << CSV_CLASS_BREAK | UINT32_C(1) << CSV_CLASS_QUOTE));
}

void
csv_dialect_set_delimiter(CsvDialectOptions *options, const char *delimiter)
{
	options->delimiter = (uint8_t) delimiter[0];
	options->delimiter_rest_length = (uint8_t) (strlen(delimiter) - 1);
	memcpy(options->delimiter_rest, delimiter + 1, options->delimiter_rest_length);
}

void
csv_dialect_delimiter(const CsvDialectOptions *options,
					  char delimiter[CSV_DELIMITER_BYTES + 1])
{
	memset(delimiter, 0, CSV_DELIMITER_BYTES + 1);
	delimiter[0] = (char) options->delimiter;
	memcpy(delimiter + 1, options->delimiter_rest, options->delimiter_rest_length);
}
