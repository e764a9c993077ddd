/* node_blobs.c - all that a node does with contents: store, fetch, give.
 */
#include "agent/blobs/node_blobs.h"

#include <stdlib.h>

struct node_blobs {
	struct node_blobs_config config;
	struct blob_store *contents;
	struct fetch_config fetch_config;
	struct fetches *fetches;
};

/* fetch_config.say */
static int say(void *arg, enum message_type type, const void *body,
	       const void *data, size_t size)
{
	const struct node_blobs *blobs = arg;

	return blobs->config.say(blobs->config.arg, type, body, data, size);
}

/* fetch_config.touch */
static void touch(void *arg)
{
	const struct node_blobs *blobs = arg;

	blobs->config.touch(blobs->config.arg);
}

struct node_blobs *node_blobs_new(const struct node_blobs_config *config,
				  struct error *err)
{
	owned(node_blobs_free) struct node_blobs *blobs =
		calloc(1, sizeof(*blobs));

	if (!blobs) {
		error_nomem(err, "contents");
		return NULL;
	}
	blobs->config = *config;
	blobs->contents = blob_store_new(config->state, err);
	if (!blobs->contents)
		return NULL;
	blobs->fetch_config = (struct fetch_config){
		.loop = config->loop,
		.contents = blobs->contents,
		.key = config->key,
		.address = config->address,
		.port = config->port,
		.say = say,
		.touch = touch,
		.arg = blobs,
	};
	blobs->fetches = fetches_new(&blobs->fetch_config, err);
	return blobs->fetches ? take(blobs) : NULL;
}

void node_blobs_free(struct node_blobs *blobs)
{
	if (!blobs)
		return;
	fetches_free(blobs->fetches);
	blob_store_free(blobs->contents);
	free(blobs);
}

struct blob_store *node_blobs_contents(const struct node_blobs *blobs)
{
	return blobs->contents;
}

struct fetches *node_blobs_fetches(const struct node_blobs *blobs)
{
	return blobs->fetches;
}

const char *node_blobs_endpoint(const struct node_blobs *blobs)
{
	return fetches_endpoint(blobs->fetches);
}

void node_blobs_session(struct node_blobs *blobs, bool begins)
{
	fetches_session(blobs->fetches, begins);
}

bool node_blobs_heard(struct node_blobs *blobs, enum message_type type,
		      void *body, const void *payload, size_t size)
{
	switch (type) {
	case MESSAGE_CONTENT_FROM:
		fetches_from(blobs->fetches, body);
		return true;
	case MESSAGE_CONTENT_GRANT:
		fetches_grant(blobs->fetches, body);
		return true;
	case MESSAGE_CONTENT_READ:
		fetches_read(blobs->fetches, body);
		return true;
	case MESSAGE_CONTENT_PIECE:
		fetches_piece(blobs->fetches, body, payload, size);
		return true;
	default:
		return false;
	}
}
