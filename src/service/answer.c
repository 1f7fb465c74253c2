/*
 * answer.c
 *		A thread that has GPUs answer a query over kept columns.
 *
 * The thread sends the answers in the order of the rows, then CSV_MESSAGE_END; or only
 * the latter, if the GPUs do not answer the query.  Its blocks last until the session
 * closes the socket.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "answer.h"
#include "ask.h"
#include "outlet.h"

typedef struct Answering
{
	CsvOutlet	outlet;
	CsvAskMessage message;
	int			columns;
	int			request;
} Answering;

/* false: the session is gone */
static bool
send_answers(CsvOutlet *outlet, const CsvColumnsAnswer *answers,
			 const CsvQuery *query)
{
	CsvEndMessage end = {.kind = CSV_MESSAGE_END};

	csv_outlet_begin(outlet);
	for (; answers != NULL; answers = answers->next)
	{
		outlet->device = answers->device;
		if (!csv_wire_encode_answer(answers->answer, query, &outlet->finder,
									(uint8_t *) outlet->reply.bytes))
			return csv_outlet_send_failure(outlet, CSV_FAILURE_MEMORY, 0, "");
		outlet->reply.first_row = answers->first_row;
		outlet->reply.nrows = answers->nrows;
		if (!csv_outlet_send_reply(outlet, CSV_MESSAGE_ANSWER,
								   csv_wire_answer_bytes()))
			return false;
	}
	return csv_outlet_send(outlet, &end, sizeof(end));
}

static void
answer(Answering *answering, CsvStore *store, const CsvWireRequest *request)
{
	CsvOutlet  *outlet = &answering->outlet;
	CsvColumnsQuestion question = {
		answering->message.device, answering->message.must_wait != 0,
		answering->message.set, store, request->request, request->layout,
		csv_outlet_is_left, outlet
	};
	CsvColumnsAnswer *answers;
	char		reason[CSV_REASON_BYTES];
	CsvMessage	message;
	CsvDescriptors descriptors;
	CsvStatus	status = csv_devices_ask(&question, &answers, &outlet->device,
										 reason, sizeof(reason));
	bool		sent = false;

	if (status == CSV_DEVICE_FAILED)
		sent = csv_outlet_send_failure(outlet, CSV_FAILURE_DEVICE, 0, reason);
	else if (status == CSV_OK)
		sent = send_answers(outlet, answers, request->request->query);

	/* the session sends no more messages: wait until it closes the socket */
	if (sent && csv_outlet_receive(outlet, &message, &descriptors) > 0)
		csv_wire_close(&descriptors);
	csv_answers_free(answers);
}

static void *
run_answering(void *arg)
{
	Answering  *answering = arg;
	CsvOutlet  *outlet = &answering->outlet;
	CsvWireRequest *request = csv_outlet_read_request(outlet,
													  answering->request);
	CsvStore   *store = csv_store_open(&outlet->memory, answering->columns);

	if (request != NULL && request->request != NULL && store != NULL)
		answer(answering, store, request);
	if (store != NULL)
		csv_store_close(store);
	if (request != NULL)
		csv_wire_free_request(request, &outlet->memory);
	close(answering->columns);
	close(answering->request);
	csv_outlet_free(outlet);
	free(answering);
	return NULL;
}

bool
csv_answer_start(const CsvAskMessage *message, int columns, int request,
				 int socket)
{
	Answering  *answering = calloc(1, sizeof(Answering));
	pthread_attr_t attributes;
	pthread_t	thread;
	bool		good;

	if (answering == NULL)
		return false;
	csv_outlet_init(&answering->outlet, NULL, socket, !message->must_wait);
	answering->message = *message;
	answering->columns = columns;
	answering->request = request;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	good = pthread_create(&thread, &attributes, run_answering, answering) == 0;
	pthread_attr_destroy(&attributes);
	if (!good)
		free(answering);
	return good;
}
