/* maintenance.c - requests about the controller: backup, gc. */
#include "controller/api/api.h"
#include "controller/api/backups.h"
#include "controller/retention/retention.h"

int api_backup(struct api_request *request, void *reply, struct error *err)
{
	bool begun = false;
	int rc = backups_answer(request->api->backups, request->message, reply,
				request->bytes, &begun, err);

	request->goes_on = !begun;
	return rc;
}

int api_gc(struct api_request *request, void *reply, struct error *err)
{
	const struct message_gc *message = request->message;

	request->goes_on = message->goes_on;
	return retention_order(request->api->retention, message, reply, err);
}
