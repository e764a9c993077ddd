/* api.h - the requests of people to a controller: a function for each.
 *
 * A function reads its request and fills the reply, a struct of
 * protocol/message/reply_*.h that was zero but for `since`. If it returns -1,
 * the request is refused with *err, and nothing was changed. The caller
 * releases what the reply owns, also on failure.
 */
#pragma once

#include "protocol/message/message.h"

#include <stdbool.h>
#include <stddef.h>

struct access;
struct backups;
struct blob_service;
struct catalog;
struct operations;
struct job_table;
struct jobs;
struct lemons;
struct log_store;
struct changes;
struct nodes;
struct retention;
struct store;
struct sweep_logins;
struct viewers;
struct wire_peer;
struct wire_server;

/* The modules that requests use; all is borrowed. */
struct api {
	struct store *store;
	struct log_store *logs;
	struct jobs *jobs;
	struct job_table *table;
	struct nodes *nodes;
	struct lemons *lemons;
	struct sweep_logins *logins;
	struct blob_service *blobs;
	struct operations *operations;
	struct catalog *catalog;
	struct access *access;
	struct controller_key *keys; /* the controller's own */
	struct backups *backups;
	struct retention *retention;
	struct wire_server *wire;
	struct changes *changes;
	struct viewers *viewers;
};

struct api_request {
	const struct api *api;
	const void *message; /* the request's struct */
	const void *payload;
	size_t size;
	struct wire_peer *peer; /* the sender; NULL: the web pages */
	const char *by;         /* the sender's name */
	const char *public;     /* the sender's key */
	struct buffer *bytes;   /* payload of the reply */
	bool goes_on; /* set by fn: continues a request that is audited already
		       */
	bool recheck; /* set by fn: check all sessions against the keyring after
			 this turn's messages are sent */
};

typedef int api_fn(struct api_request *request, void *reply, struct error *err);

/* sweeps.c */
api_fn api_sweeps, api_sweep, api_text;
/* jobs.c */
api_fn api_jobs, api_job, api_events;
/* results.c */
api_fn api_results, api_series;
/* nodes.c */
api_fn api_nodes, api_node, api_drain, api_label, api_note;
/* keys.c */
api_fn api_keys, api_tokens, api_audit, api_token, api_admit, api_revoke,
	api_enrol, api_rotate, api_rotate_controller, api_web;
/* blobs.c */
api_fn api_files, api_blob_put, api_blob_get;
/* images.c */
api_fn api_image, api_image_operation, api_image_list;
/* log_read.c */
api_fn api_log_read;
/* submit.c */
api_fn api_submit;
/* plan.c */
api_fn api_plan;
/* descriptions.c */
api_fn api_descriptions;
/* stacks.c */
api_fn api_stacks;
/* cancel.c */
api_fn api_cancel, api_retry;
/* maintenance.c */
api_fn api_backup, api_gc, api_sign;

/* The reply of a request: a struct and its schema. */
struct api_reply {
	const struct schema *schema;
	void *data; /* owned */
};
void api_reply_clear(struct api_reply *reply);
OWNED_VALUE(struct api_reply, api_reply_clear)

/* Fill *reply, which the caller clears, also on failure. */
int api_answer(struct api_request *request, enum message_type type,
	       struct api_reply *reply, struct error *err);
