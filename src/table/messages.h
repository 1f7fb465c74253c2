/*
 * messages.h
 *		Messages of functions, while something is tried.
 */
#ifndef CSV_MESSAGES_H
#define CSV_MESSAGES_H

/*
 * From begin to end, which do not nest, nobody sees an INFO, NOTICE or WARNING but those
 * of csv_warn().
 */
extern void csv_messages_begin(void);
extern void csv_messages_end(void);

/* ERROR if there was one since begin that somebody would have seen */
extern void csv_messages_check(void);

/* a WARNING that is seen in any case; its arguments are those of ereport() */
#define csv_warn(...) \
	do { \
		csv_messages_pass(true); \
		ereport(WARNING, __VA_ARGS__); \
		csv_messages_pass(false); \
	} while (0)

/* for csv_warn(): do messages pass? */
extern void csv_messages_pass(bool pass);

#endif							/* CSV_MESSAGES_H */
