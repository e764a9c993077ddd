/* api.c - the table of the requests of people. */
#include "controller/api/api.h"
#include "controller/store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static api_fn *const queries[QUERY_KINDS] = {
	[QUERY_SWEEPS] = api_sweeps,
	[QUERY_SWEEP] = api_sweep,
	[QUERY_TEXT] = api_text,
	[QUERY_JOBS] = api_jobs,
	[QUERY_JOB] = api_job,
	[QUERY_NODES] = api_nodes,
	[QUERY_NODE] = api_node,
	[QUERY_EVENTS] = api_events,
	[QUERY_RESULTS] = api_results,
	[QUERY_SERIES] = api_series,
	[QUERY_KEYS] = api_keys,
	[QUERY_TOKENS] = api_tokens,
	[QUERY_AUDIT] = api_audit,
	[QUERY_FILES] = api_files,
	[QUERY_IMAGE] = api_image,
	[QUERY_WEB] = api_web,
	[QUERY_DESCRIPTIONS] = api_descriptions,
};

static api_fn *const requests[MESSAGE_TYPES] = {
	[MESSAGE_SUBMIT] = api_submit,
	[MESSAGE_PLAN] = api_plan,
	[MESSAGE_CANCEL] = api_cancel,
	[MESSAGE_RETRY] = api_retry,
	[MESSAGE_STACKS] = api_stacks,
	[MESSAGE_LOG_READ] = api_log_read,
	[MESSAGE_TOKEN] = api_token,
	[MESSAGE_ADMIT] = api_admit,
	[MESSAGE_REVOKE] = api_revoke,
	[MESSAGE_DRAIN] = api_drain,
	[MESSAGE_LABEL] = api_label,
	[MESSAGE_NOTE] = api_note,
	[MESSAGE_BACKUP] = api_backup,
	[MESSAGE_GC] = api_gc,
	[MESSAGE_SIGN] = api_sign,
	[MESSAGE_ROTATE] = api_rotate,
	[MESSAGE_ROTATE_CONTROLLER] = api_rotate_controller,
	[MESSAGE_ENROL] = api_enrol,
	[MESSAGE_BLOB_PUT] = api_blob_put,
	[MESSAGE_BLOB_GET] = api_blob_get,
	[MESSAGE_IMAGE_OPERATION] = api_image_operation,
	[MESSAGE_IMAGE_LIST] = api_image_list,
};
/* clang-format on */

static api_fn *function_of(enum message_type type, const void *message)
{
	const struct message_query *query = message;

	return type == MESSAGE_QUERY ? queries[query->what] : requests[type];
}

/* Most replies have the number of the last event that they know. */
static void set_since(const struct api *api, const struct schema *schema,
		      void *reply)
{
	const struct field *since = codec_field(schema, "since");

	if (since)
		*(uint64_t *)((char *)reply + since->offset) =
			store_seen_event(api->store);
}

void api_reply_clear(struct api_reply *reply)
{
	if (reply->data)
		codec_clear(reply->schema, reply->data);
	free(reply->data);
	*reply = (struct api_reply){ 0 };
}

int api_answer(struct api_request *request, enum message_type type,
	       struct api_reply *reply, struct error *err)
{
	const struct schema *schema =
		message_reply_schema(type, request->message);
	api_fn *fn = function_of(type, request->message);

	*reply = (struct api_reply){ .schema = schema };
	if (!fn || !schema)
		return error_set(err, EPROTO, "%s is not a request",
				 message_kinds[type].name);
	reply->data = calloc(1, schema->size);
	if (!reply->data)
		return error_nomem(err, "answer");
	set_since(request->api, schema, reply->data);
	return fn(request, reply->data, err);
}
