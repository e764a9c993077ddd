/* depot.c - all that a node does with contents: store, fetch, give.
 */
#include "agent/content/depot.h"

#include <stdlib.h>

struct depot {
	struct depot_config config;
	struct blob_store *contents;
	struct fetch_config fetch_config;
	struct fetches *fetches;
};

/* fetch_config.say */
static int say(void *arg, enum message_type type, const void *body,
	       const void *data, size_t size)
{
	const struct depot *depot = arg;

	return depot->config.say(depot->config.arg, type, body, data, size);
}

/* fetch_config.touch */
static void touch(void *arg)
{
	const struct depot *depot = arg;

	depot->config.touch(depot->config.arg);
}

struct depot *depot_new(const struct depot_config *config, struct error *err)
{
	owned(depot_free) struct depot *depot = calloc(1, sizeof(*depot));

	if (!depot) {
		error_nomem(err, "contents");
		return NULL;
	}
	depot->config = *config;
	depot->contents = blob_store_new(config->state, err);
	if (!depot->contents)
		return NULL;
	depot->fetch_config = (struct fetch_config){
		.loop = config->loop,
		.contents = depot->contents,
		.key = config->key,
		.address = config->address,
		.port = config->port,
		.say = say,
		.touch = touch,
		.arg = depot,
	};
	depot->fetches = fetches_new(&depot->fetch_config, err);
	return depot->fetches ? take(depot) : NULL;
}

void depot_free(struct depot *depot)
{
	if (!depot)
		return;
	fetches_free(depot->fetches);
	blob_store_free(depot->contents);
	free(depot);
}

struct blob_store *depot_contents(const struct depot *depot)
{
	return depot->contents;
}

struct fetches *depot_fetches(const struct depot *depot)
{
	return depot->fetches;
}

const char *depot_endpoint(const struct depot *depot)
{
	return fetches_endpoint(depot->fetches);
}

void depot_session(struct depot *depot, bool begins)
{
	fetches_session(depot->fetches, begins);
}

bool depot_heard(struct depot *depot, enum message_type type, void *body,
		 const void *payload, size_t size)
{
	switch (type) {
	case MESSAGE_CONTENT_FROM:
		fetches_from(depot->fetches, body);
		return true;
	case MESSAGE_CONTENT_GRANT:
		fetches_grant(depot->fetches, body);
		return true;
	case MESSAGE_CONTENT_READ:
		fetches_read(depot->fetches, body);
		return true;
	case MESSAGE_CONTENT_PIECE:
		fetches_piece(depot->fetches, body, payload, size);
		return true;
	default:
		return false;
	}
}
