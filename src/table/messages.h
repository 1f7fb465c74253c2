/*
 * messages.h
 *		Messages of functions, while something is tried.
 */
#ifndef CSV_MESSAGES_H
#define CSV_MESSAGES_H

/*
 * From hold to release the frontend is sent no INFO, NOTICE or WARNING but those of
 * csv_warn(); release sends them after all, or drops them.  Release does nothing where
 * none are held; and what is held is sent before an ERROR or FATAL that is sent.
 */
extern void csv_messages_hold(void);
extern void csv_messages_release(bool send);

/* are they held?  Is there one? */
extern bool csv_messages_are_held(void);
extern bool csv_messages_any(void);

/* what is said where there is one */
#define CSV_MESSAGE_HELD	"a function had a message"

/* ERROR if there is one */
extern void csv_messages_check(void);

/* a WARNING that is sent in any case; its arguments are those of ereport() */
#define csv_warn(...) \
	do { \
		csv_messages_pass(true); \
		ereport(WARNING, __VA_ARGS__); \
		csv_messages_pass(false); \
	} while (0)

/* for csv_warn(): do messages pass? */
extern void csv_messages_pass(bool pass);

#endif							/* CSV_MESSAGES_H */
