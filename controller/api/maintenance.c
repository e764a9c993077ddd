/* maintenance.c - requests about the controller: backup, gc, sign. */
#include "controller/access/controller_key.h"
#include "controller/access/statement.h"
#include "controller/api/api.h"
#include "controller/api/backups.h"
#include "controller/api/sweeps.h"
#include "controller/retention/retention.h"
#include "protocol/base/clock.h"
#include "protocol/base/digest.h"

#include <errno.h>

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

	if (message->sweep &&
	    sweep_check_owner(request->api, message->sweep, request->by,
			      message->force, err) < 0)
		return -1;
	request->goes_on = message->goes_on || message->dry_run;
	return retention_order(request->api->retention, message, reply, err);
}

int api_sign(struct api_request *request, void *reply, struct error *err)
{
	const struct message_sign *message = request->message;
	struct reply_sign *to = reply;

	if (!digest_hex_valid(message->manifest))
		return error_set(err, EINVAL,
				 "manifest: expected a SHA-256 in hexadecimal");
	if (sweep_check_owner(request->api, message->sweep, request->by, true,
			      err) < 0)
		return -1;
	to->sweep = message->sweep;
	to->at_ms = clock_wall_ms();
	if (string_set(&to->by, request->by, err) < 0 ||
	    string_set(&to->manifest, message->manifest, err) < 0)
		return -1;
	return statement_sign(&request->api->keys->current, to, err);
}
