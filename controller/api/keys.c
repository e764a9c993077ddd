/* keys.c - requests about keys, tokens and the audit log. */
#include "controller/access/access.h"
#include "controller/access/controller_key.h"
#include "controller/access/key_rotation.h"
#include "controller/access/viewers.h"
#include "controller/api/api.h"
#include "controller/api/page.h"
#include "controller/blobs/blob_service.h"
#include "controller/jobs/node_events.h"
#include "controller/jobs/job.h"
#include "controller/nodes/node.h"
#include "protocol/base/clock.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define JOBS_TEXT 80 /* bytes of the jobs that are named */

static int list_copy(struct page *page, const void *from)
{
	void *to = page_row(page);

	return to ? codec_copy(page->schema, from, to, page->err) : page->stop;
}

static int list_key(const struct key_info *key, void *arg)
{
	return list_copy(arg, key);
}

static int list_token(const struct token_info *token, void *arg)
{
	return list_copy(arg, token);
}

int api_keys(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct reply_keys *to = reply;
	struct page page =
		page_of(request->api, &key_info_schema, query->limit, err);
	int rc;

	page.skip = query->after;
	rc = access_keys(request->api->access, list_key, &page);
	to->more = page.more;
	to->keys = page_take(&page, &to->keys_count);
	return rc < 0 ? -1 : 0;
}

int api_tokens(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct reply_tokens *to = reply;
	struct page page =
		page_of(request->api, &token_info_schema, query->limit, err);
	int rc;

	page.skip = query->after;
	rc = access_tokens(request->api->access, list_token, &page);
	to->more = page.more;
	to->tokens = page_take(&page, &to->tokens_count);
	return rc < 0 ? -1 : 0;
}

static int describe_audit(const struct audit_row *row, struct audit_info *to,
			  struct error *err)
{
	to->seq = row->seq;
	to->time_ms = row->time_ms;
	to->request = codec_parse(row->request, strlen(row->request), NULL);
	if (string_set(&to->who, row->who, err) < 0 ||
	    string_set(&to->role, row->role, err) < 0 ||
	    string_set(&to->address, row->address, err) < 0 ||
	    string_set(&to->act, row->act, err) < 0 ||
	    string_set(&to->chain, row->chain, err) < 0)
		return -1;
	return string_set(&to->refusal, row->refusal, err);
}

static int list_audit(const struct audit_row *row, void *arg)
{
	struct page *page = arg;
	struct audit_info *info = page_row(page);

	return info ? describe_audit(row, info, page->err) : page->stop;
}

int api_audit(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct reply_audit *to = reply;
	struct page page =
		page_of(request->api, &audit_info_schema, query->limit, err);
	int rc = store_audit(request->api->store, query->after, page.limit + 1,
			     list_audit, &page, err);

	to->more = page.more;
	to->audit = page_take(&page, &to->audit_count);
	return rc < 0 ? -1 : 0;
}

int api_token(struct api_request *request, void *reply, struct error *err)
{
	struct reply_token *to = reply;

	if (access_token(request->api->access, request->by, request->message,
			 to, err) < 0)
		return -1;
	return string_set(&to->listens,
			  wire_server_endpoint(request->api->wire), err);
}

int api_admit(struct api_request *request, void *reply, struct error *err)
{
	return access_admit(request->api->access, request->by, request->message,
			    reply, err);
}

int api_enrol(struct api_request *request, void *reply, struct error *err)
{
	int rc = access_enrol(request->api->access, request->public,
			      wire_peer_address(request->peer),
			      request->message, reply, err);

	/* The new key may have replaced another one. */
	wire_server_recheck(request->api->wire);
	return rc;
}

int api_rotate(struct api_request *request, void *reply, struct error *err)
{
	const struct node *node = node_find(request->api->nodes, request->by);

	int rc = access_rotate(request->api->access, request->public,
			       node ? node_view(node)->machine : NULL,
			       request->message, reply, err);

	request->goes_on = rc > 0;
	return rc < 0 ? -1 : 0;
}

/* Peers learn the next key with their next heartbeat. */
int api_rotate_controller(struct api_request *request, void *reply,
			  struct error *err)
{
	const struct message_rotate_controller *message = request->message;
	struct reply_rotate_controller *to = reply;
	struct controller_key *keys = request->api->keys;

	if (controller_key_rotate(keys, clock_wall_ms(), message->keep_s, err) <
	    0)
		return -1;
	wire_server_set_next_key(request->api->wire, controller_key_next(keys));
	to->from_ms = keys->from_ms;
	return string_set(&to->public, keys->next.public, err);
}

/* Refuse to remove a node that runs tasks. */
static int check_idle(const struct api *api, const char *name,
		      struct error *err)
{
	const struct node *node = node_find(api->nodes, name);
	struct task *task;
	char jobs[JOBS_TEXT] = "";
	size_t used = 0;

	if (!node || !node_first_task(node))
		return 0;
	for (task = node_first_task(node); task; task = node_next_task(task)) {
		if (used >= sizeof(jobs) - 24) {
			snprintf(jobs + used, sizeof(jobs) - used, " ...");
			break;
		}
		used += (size_t)snprintf(jobs + used, sizeof(jobs) - used,
					 "%s %" PRIu64, used ? "," : "",
					 job_id(task_job(task)));
	}
	return error_set(err, EPERM,
			 "%s runs tasks of job%s; run 'regatta node drain %s' "
			 "and wait, or use --force, which ends them and "
			 "starts them on other nodes",
			 name, jobs, name);
}

/* The node's tasks start again on other nodes at once. The node's session ends
 * after it was told to remove them.
 */
static int key_remove_node(struct api_request *request, const char *name,
			   struct reply_revoke *reply, struct error *err)
{
	const struct api *api = request->api;
	struct node *node = node_find(api->nodes, name);
	char why[KEY_NAME_SIZE + 20];

	if (!node)
		return 0;
	snprintf(why, sizeof(why), "%s was removed", node_name(node));
	if (node_remove(api->nodes, node, err) < 0)
		return -1;
	reply->reached = node_peer(node) != NULL;
	node_event_lost(api->jobs, node, why);
	request->recheck = true;
	return 0;
}

int api_revoke(struct api_request *request, void *reply, struct error *err)
{
	const struct message_revoke *message = request->message;
	const struct api *api = request->api;
	struct reply_revoke *to = reply;
	bool is_node = !strcmp(message->kind, "node");

	to->reached = true;
	if (!strcmp(message->name, request->by))
		return error_set(err, EPERM,
				 "you cannot remove your own key %s; another "
				 "operator can",
				 request->by);
	if ((is_node && !message->force &&
	     check_idle(api, message->name, err) < 0) ||
	    access_revoke(api->access, request->by, message, to, err) < 0)
		return -1;
	blob_service_revoked(api->blobs, message->name);
	if (is_node)
		return key_remove_node(request, message->name, to, err);
	wire_server_recheck(api->wire);
	return 0;
}

int api_web(struct api_request *request, void *reply, struct error *err)
{
	struct reply_web *to = reply;

	to->address =
		viewers_address(request->api->viewers, request->public, err);
	return to->address ? 0 : -1;
}
