/* blobs.c - requests for blobs by their hash, and for the files of a job. */
#include "controller/api/jobs.h"
#include "controller/blobs/blob_service.h"
#include "controller/blobs/blob_users.h"
#include "controller/cluster/lifecycle.h"
#include "controller/store/store.h"
#include "protocol/message/reply_logs.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct files {
	struct reply_files *reply;
	struct error *err;
};

/* The data of the event. */
static const struct schema data_schema =
	SCHEMA(reply_files, FIELD_ROWS(reply_files, files, file_info_schema));

/* The last event of this kind replaces earlier ones. */
static int event_read_files(const struct event_row *row, void *arg)
{
	struct files *files = arg;
	struct reply_files found;

	if (strcmp(row->kind, job_event_name(JOB_EVENT_FILES)) || !row->data)
		return 0;
	if (codec_decode(&data_schema, row->data, strlen(row->data), &found,
			 files->err) < 0)
		return -1;
	found.since = files->reply->since;
	codec_clear(&data_schema, files->reply);
	*files->reply = found;
	return 0;
}

int api_files(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct store *store = request->api->store;
	struct reply_files *to = reply;
	struct files files = { to, err };
	struct job_facts job;

	if (job_facts_read(request->api, query->id, &job, err) < 0 ||
	    store_events(store, job.origin ? job.origin : query->id, 0, 0,
			 event_read_files, &files, err) < 0)
		return -1;
	return blob_users_note_gone(blob_service_store(request->api->blobs),
				    to->files, to->files_count, err);
}

int api_blob_put(struct api_request *request, void *reply, struct error *err)
{
	const struct message_blob_put *message = request->message;

	request->goes_on = !request->size || message->offset;
	return blob_service_put(request->api->blobs, request->peer, message,
				request->payload, request->size, reply, err);
}

/* Workspaces hold the code of others, and images their files: a hash alone,
 * which every list of jobs shows, opens nothing.
 */
static int check_blob_get(struct api_request *request,
			  const struct message_blob_get *get, struct error *err)
{
	struct job_facts job = { 0 };

	if (wire_peer_role(request->peer) == ROLE_OPERATOR)
		return 0;
	if (job_facts_read(request->api, get->job, &job, err) < 0)
		return -1;
	if (blob_users_has_file(blob_service_store(request->api->blobs),
				job.origin ? job.origin : get->job, get->hash))
		return 0;
	return error_set(err, EPERM,
			 "blob %.12s is no collected file of job %" PRIu64,
			 get->hash, get->job);
}

int api_blob_get(struct api_request *request, void *reply, struct error *err)
{
	if (check_blob_get(request, request->message, err) < 0)
		return -1;
	return blob_service_get(request->api->blobs, request->message, reply,
				request->bytes, err);
}
