/*
 * descriptors.h
 *		What csv_gpu_service has when it starts.
 */
#ifndef CSV_DESCRIPTORS_H
#define CSV_DESCRIPTORS_H

#define CSV_SERVICE_LISTEN		3	/* the socket that sessions connect to */
#define CSV_SERVICE_SERVER		4	/* has its end when the server has */
#define CSV_SERVICE_CONTROL		5	/* a socket: limits come from the worker */
#define CSV_SERVICE_LOCK		6	/* who has it is the server's service */

#endif							/* CSV_DESCRIPTORS_H */
