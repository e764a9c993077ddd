/* depot.c - all that a node does with contents: store, fetch, give, load.
 */
#include "agent/content/depot.h"

#include <stdlib.h>

struct depot {
	struct depot_config config;
	bool session;
	struct contents *contents;
	struct fetch_config fetch_config;
	struct fetches *fetches;
	struct load_config load_config;
	struct loads *loads;
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
	loads_touch(depot->loads);
}

/* load_config.tell: one that is lost is told again, for the controller asks. */
static void tell(void *arg, const struct message_image_state *state)
{
	const struct depot *depot = arg;

	if (depot->session)
		depot->config.say(depot->config.arg, MESSAGE_IMAGE_STATE, state,
				  NULL, 0);
}

struct depot *depot_new(const struct depot_config *config, struct error *err)
{
	owned(depot_free) struct depot *depot = calloc(1, sizeof(*depot));

	if (!depot) {
		error_nomem(err, "contents");
		return NULL;
	}
	depot->config = *config;
	depot->contents = contents_new(config->state, err);
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
	if (!depot->fetches)
		return NULL;
	depot->load_config = (struct load_config){
		.loop = config->loop,
		.engine = config->engine,
		.contents = depot->contents,
		.fetches = depot->fetches,
		.guard = config->guard,
		.tell = tell,
		.arg = depot,
	};
	depot->loads = loads_new(&depot->load_config, err);
	return depot->loads ? take(depot) : NULL;
}

void depot_free(struct depot *depot)
{
	if (!depot)
		return;
	loads_free(depot->loads);
	fetches_free(depot->fetches);
	contents_free(depot->contents);
	free(depot);
}

struct contents *depot_contents(const struct depot *depot)
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
	depot->session = begins;
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
	case MESSAGE_IMAGE_LOAD:
		loads_load(depot->loads, body);
		return true;
	case MESSAGE_IMAGE_SAVE:
		loads_save(depot->loads, body);
		return true;
	default:
		return false;
	}
}
