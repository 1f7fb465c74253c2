/*
 * descriptors.h
 *		The descriptors that csv_gpu_service starts with.
 */
#ifndef CSV_DESCRIPTORS_H
#define CSV_DESCRIPTORS_H

#define CSV_SERVICE_LISTEN		3	/* the socket that sessions connect to */
#define CSV_SERVICE_SERVER		4	/* reaches its end when the server ends */
#define CSV_SERVICE_CONTROL		5	/* a socket: the worker sends limits */
#define CSV_SERVICE_LOCK		6	/* its holder is the server's service */

#endif							/* CSV_DESCRIPTORS_H */
