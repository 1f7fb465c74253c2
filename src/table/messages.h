/*
 * messages.h
 *		Messages of functions that are called on trial.
 */
#ifndef CSV_MESSAGES_H
#define CSV_MESSAGES_H

/*
 * Between delay and release, the frontend gets no INFO, NOTICE or WARNING except by
 * csv_warn().  Release then sends the delayed messages, or drops them; it does nothing if
 * messages are not delayed.  If an ERROR or FATAL is sent, the delayed messages are sent
 * first.
 */
extern void csv_messages_delay(void);
extern void csv_messages_release(bool send);

/* are messages being delayed?  Has one been delayed? */
extern bool csv_messages_are_delayed(void);
extern bool csv_messages_any(void);

/* the text of the ERROR below */
#define CSV_MESSAGE_DELAYED	"a function had a message"

/* ERROR if a message has been delayed */
extern void csv_messages_check(void);

/* a WARNING that is always sent; the arguments are as for ereport() */
#define csv_warn(...) \
	do { \
		csv_messages_pass(true); \
		ereport(WARNING, __VA_ARGS__); \
		csv_messages_pass(false); \
	} while (0)

/* for csv_warn(): lets messages pass, or not */
extern void csv_messages_pass(bool pass);

#endif							/* CSV_MESSAGES_H */
