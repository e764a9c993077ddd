/* image_request.c - an image order: its nodes, and how far each of them is.
 */
#include "controller/images/image_request.h"

#include "controller/images/image_progress.h"
#include "controller/images/node_output.h"

#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/registry/login.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE_REQUEST_FILE_MAX (4 << 20)
#define AWAY_MS 15000 /* a node that is to save is waited for */

/* What one node says of an order. */
struct stop {
	char name[KEY_NAME_SIZE];
	char phase[16]; /* "waiting", then as in message_image_state */
	uint64_t done, total;
	/* pull: as in message_image_state */
	bool partial;
	uint64_t rate;
	uint32_t layers, layers_total, tries;
	int64_t moved_ms; /* when any of these changed last */
	int64_t code;     /* errno value behind a failure */
	int64_t away_ms;  /* `one`: out of reach since; 0: it is not */
	char *text;
	struct image_info *images;
	size_t images_count;
	uint64_t left_out;
};

struct image_request {
	char name[CONTENT_HASH_SIZE];
	const struct image_request_kind *kind;
	struct message_image_do act; /* what nodes are told; no needs */
	struct stop *stops;
	size_t count;
	size_t next;                     /* `one`: the node that is asked */
	char content[CONTENT_HASH_SIZE]; /* saved */
	uint64_t bytes;
	struct node_output *output;
	bool final;
};

/* clang-format off */
static const struct image_request_kind kinds[] = {
	{ "load", .durable = true, .takes_name = true },
	{ "build", .durable = true, .takes_name = true },
	{ "pull", .durable = true, .takes_name = true },
	{ "save", .one = true, .takes_name = true },
	{ "remove", .needs = true, .takes_name = true },
	{ "list", .needs = true },
	{ "gc", .needs = true },
};
/* clang-format on */

const struct image_request_kind *image_request_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

/* What lies in the folder: an order that goes on, and is not final. */
struct stored {
	char *order;
	char *what; /* NULL: load */
	char *image;
	char *build;
	struct registry_login *logins;
	size_t logins_count;
	struct strings nodes;
};
/* clang-format off */
static const struct field stored_fields[] = {
	FIELD(stored, order),
	FIELD_OPTIONAL(stored, what),
	FIELD(stored, image),
	FIELD_OPTIONAL(stored, build),
	FIELD_MANY(stored, logins, registry_login_schema),
	FIELD(stored, nodes),
};
static const struct schema stored_schema = SCHEMA(stored, stored_fields);
/* clang-format on */

static void stored_clear(struct stored *stored)
{
	codec_clear(&stored_schema, stored);
}
OWNED_VALUE(struct stored, stored_clear)

/* Reading. */

const char *image_request_name(const struct image_request *order)
{
	return order->name;
}

const struct image_request_kind *
image_request_kind_of(const struct image_request *order)
{
	return order->kind;
}

const struct message_image_do *
image_request_operation(const struct image_request *order)
{
	return &order->act;
}

bool image_request_final(const struct image_request *order)
{
	return order->final;
}

size_t image_request_stops(const struct image_request *order)
{
	return order->count;
}

struct stop *image_request_stop_at(const struct image_request *order,
				   size_t index)
{
	return &order->stops[index];
}

struct stop *image_request_asked(const struct image_request *order)
{
	return order->kind->one ? &order->stops[order->next] : NULL;
}

const char *image_request_saved(const struct image_request *order,
				uint64_t *bytes)
{
	*bytes = order->bytes;
	return *order->content ? order->content : NULL;
}

const char *stop_name(const struct stop *stop)
{
	return stop->name;
}

const char *stop_phase(const struct stop *stop)
{
	return stop->phase;
}

const char *stop_text(const struct stop *stop)
{
	return stop->text;
}

/* Stops. */

bool stop_final(const struct stop *stop)
{
	return !strcmp(stop->phase, "ready") || !strcmp(stop->phase, "failed");
}

void stop_set(struct stop *stop, const char *phase, const char *text)
{
	snprintf(stop->phase, sizeof(stop->phase), "%s", phase);
	free(stop->text);
	stop->text = text ? strdup(text) : NULL;
}

bool stop_failed(const struct stop *stop)
{
	return !strcmp(stop->phase, "failed");
}

bool stop_is_away(struct stop *stop, bool in_reach)
{
	int64_t now = clock_mono_ms();

	if (in_reach)
		stop->away_ms = 0;
	else if (!stop->away_ms)
		stop->away_ms = now;
	return stop->away_ms && now - stop->away_ms > AWAY_MS;
}

static void drop_images(struct stop *stop)
{
	for (size_t i = 0; i < stop->images_count; i++)
		codec_clear(&image_info_schema, &stop->images[i]);
	free(stop->images);
	stop->images = NULL;
	stop->images_count = 0;
}

struct stop *image_request_stop(const struct image_request *order,
				const char *node)
{
	for (size_t i = 0; i < order->count; i++)
		if (!strcmp(order->stops[i].name, node))
			return &order->stops[i];
	return NULL;
}

/* Life. */

static int copy_act(struct message_image_do *act,
		    const struct message_image_order *from)
{
	act->order = strdup(from->order);
	act->what = strdup(from->what);
	act->image = from->image ? strdup(from->image) : NULL;
	act->build = from->build ? strdup(from->build) : NULL;
	if (strings_copy(&act->ids, &from->ids, NULL) < 0 ||
	    logins_copy(&act->logins, &act->logins_count, from->logins,
			from->logins_count, NULL) < 0)
		return -1;
	act->keep = from->keep;
	act->floor_bytes = from->floor_bytes;
	act->floor_percent = from->floor_percent;
	act->dry_run = from->dry_run;
	act->replace = from->replace;
	return act->order && act->what && !act->image == !from->image &&
			       !act->build == !from->build
		       ? 0
		       : -1;
}

static void add_stop(struct image_request *order, const char *node)
{
	struct stop *stop = &order->stops[order->count++];

	snprintf(stop->name, sizeof(stop->name), "%s", node);
	stop_set(stop, "waiting", NULL);
}

struct image_request *
image_request_new(const struct image_request_kind *kind,
		  const struct message_image_order *message,
		  const struct strings *nodes, struct error *err)
{
	owned(image_request_free) struct image_request *order =
		calloc(1, sizeof(*order));

	if (order) {
		order->output = node_output_new();
		order->stops = calloc(nodes->count + 1, sizeof(*order->stops));
	}
	if (!order || !order->stops || !order->output ||
	    copy_act(&order->act, message) < 0) {
		error_nomem(err, "image order");
		return NULL;
	}
	snprintf(order->name, sizeof(order->name), "%s", message->order);
	order->kind = kind;
	for (size_t i = 0; i < nodes->count; i++)
		add_stop(order, nodes->items[i]);
	return take(order);
}

static void wait_again(struct stop *stop)
{
	stop_set(stop, "waiting", NULL);
	stop->done = stop->total = 0;
	stop->code = 0;
}

int image_request_again(struct image_request *order,
			const struct message_image_order *message,
			const struct strings *nodes, struct error *err)
{
	struct registry_login *logins = NULL;
	size_t logins_count = 0, room = order->count + nodes->count;
	struct stop *stops =
		reallocarray(order->stops, room + 1, sizeof(*stops));

	if (!stops)
		return error_nomem(err, "image order");
	order->stops = stops;
	if (logins_copy(&logins, &logins_count, message->logins,
			message->logins_count, err) < 0)
		return -1;
	logins_free(order->act.logins, order->act.logins_count);
	order->act.logins = logins;
	order->act.logins_count = logins_count;
	order->act.replace = message->replace;
	memset(stops + order->count, 0, nodes->count * sizeof(*stops));
	for (size_t i = 0; i < nodes->count; i++) {
		struct stop *stop = image_request_stop(order, nodes->items[i]);

		if (!stop)
			add_stop(order, nodes->items[i]);
		else if (stop_final(stop))
			wait_again(stop);
	}
	return 0;
}

void image_request_free(struct image_request *order)
{
	if (!order)
		return;
	node_output_free(order->output);
	for (size_t i = 0; i < order->count; i++) {
		free(order->stops[i].text);
		drop_images(&order->stops[i]);
	}
	free(order->stops);
	codec_clear(message_kinds[MESSAGE_IMAGE_DO].schema, &order->act);
	free(order);
}

void image_request_lose(struct image_request *order, const char *why)
{
	stop_set(image_request_asked(order), "failed", why);
	order->content[0] = 0;
	order->bytes = 0;
}

bool image_request_next(struct image_request *order)
{
	if (order->next + 1 == order->count)
		return false;
	order->next++;
	return true;
}

void image_request_finish(struct image_request *order)
{
	order->final = true;
	logins_free(order->act.logins, order->act.logins_count);
	order->act.logins = NULL;
	order->act.logins_count = 0;
}

bool image_request_has_lists(const struct image_request *order)
{
	for (size_t i = 0; i < order->count; i++)
		if (order->stops[i].images_count)
			return true;
	return false;
}

void image_request_drop_lists(struct image_request *order)
{
	for (size_t i = 0; i < order->count; i++)
		drop_images(&order->stops[i]);
}

static void keep_progress(struct stop *stop,
			  const struct message_image_state *state)
{
	if (strcmp(stop->phase, state->phase) != 0 ||
	    stop->done != state->done_bytes || stop->layers != state->layers ||
	    stop->tries != state->tries)
		stop->moved_ms = clock_mono_ms();
	stop->done = state->done_bytes;
	stop->total = state->total_bytes;
	stop->partial = state->partial;
	stop->rate = state->rate;
	stop->layers = state->layers;
	stop->layers_total = state->layers_total;
	stop->tries = state->tries;
}

void image_request_heard(struct image_request *order, struct stop *stop,
			 struct message_image_state *state)
{
	keep_progress(stop, state);
	stop_set(stop, state->phase, state->text);
	stop->code = state->code;
	stop->left_out = state->left_out;
	if (state->images_count) {
		drop_images(stop);
		stop->images = take(state->images);
		stop->images_count = state->images_count;
		state->images_count = 0;
	}
	if (state->output)
		node_output_add(order->output, stop->name, take(state->output));
	if (order->kind->one && content_hash_valid(state->content)) {
		memcpy(order->content, state->content, sizeof(order->content));
		order->bytes = state->total_bytes;
	}
}

/* Keeping. */

int image_request_save(const struct image_request *order, const char *path,
		       struct error *err)
{
	owned(stored_clear) struct stored stored = { 0 };
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, IMAGE_REQUEST_FILE_MAX);
	stored.order = strdup(order->name);
	stored.what = strdup(order->kind->name);
	stored.image = strdup(order->act.image);
	stored.build = order->act.build ? strdup(order->act.build) : NULL;
	if (!stored.order || !stored.what || !stored.image ||
	    !stored.build != !order->act.build)
		return error_nomem(err, "image order");
	if (logins_copy(&stored.logins, &stored.logins_count, order->act.logins,
			order->act.logins_count, err) < 0)
		return -1;
	for (size_t i = 0; i < order->count; i++)
		if (!stop_final(&order->stops[i]) &&
		    strings_add(&stored.nodes, order->stops[i].name, err) < 0)
			return -1;
	if (codec_encode(&stored_schema, &stored, &text, err) < 0)
		return -1;
	return file_write(AT_FDCWD, path, text.data, text.size, 0600, 1, err);
}

struct image_request *image_request_load(const char *path, struct error *err)
{
	owned(stored_clear) struct stored stored = { 0 };
	owned(buffer_clear) struct buffer text;
	struct message_image_order message = { 0 };
	const struct image_request_kind *kind;

	buffer_init(&text, IMAGE_REQUEST_FILE_MAX);
	if (file_read(AT_FDCWD, path, &text, err) < 0 ||
	    codec_decode(&stored_schema, text.data, text.size, &stored, err) <
		    0)
		return NULL;
	message.what = stored.what ? stored.what : (char *)"load";
	kind = image_request_kind(message.what);
	if (!content_hash_valid(stored.order) || !kind || !kind->durable) {
		error_set(err, EPROTO, "not a valid image request");
		return NULL;
	}
	message.order = stored.order;
	message.image = stored.image;
	message.build = stored.build;
	message.logins = stored.logins;
	message.logins_count = stored.logins_count;
	return image_request_new(kind, &message, &stored.nodes, err);
}

/* Describing. */

static int add_images(struct image_node *to, const struct stop *stop,
		      struct error *err)
{
	to->left_out = stop->left_out;
	if (!stop->images_count)
		return 0;
	to->images = calloc(stop->images_count, sizeof(*to->images));
	if (!to->images)
		return error_nomem(err, "images");
	for (; to->images_count < stop->images_count; to->images_count++)
		if (codec_copy(&image_info_schema,
			       &stop->images[to->images_count],
			       &to->images[to->images_count], err) < 0)
			return -1;
	return 0;
}

/* As of a job's image (image_progress.h). */
static void describe_progress(const struct stop *stop, struct image_node *to)
{
	int64_t silent = clock_mono_ms() - stop->moved_ms;
	bool still = silent >= IMAGE_PROGRESS_SILENT_MS;

	to->partial = stop->partial;
	to->layers = stop->layers;
	to->layers_total = stop->layers_total;
	to->tries = stop->tries;
	to->rate = to->eta_seconds = (double)NAN;
	if (stop_final(stop) || !stop->tries)
		return;
	if (still && stop->done < stop->total)
		to->silent_seconds = (uint64_t)(silent / 1000);
	if (still || !stop->rate)
		return;
	to->rate = (double)stop->rate;
	if (!stop->partial && stop->total >= stop->done)
		to->eta_seconds =
			(double)(stop->total - stop->done) / (double)stop->rate;
}

static int describe_stop(const struct stop *stop, bool images,
			 struct image_node *to, struct error *err)
{
	to->done_bytes = stop->done;
	to->total_bytes = stop->total;
	to->code = stop->code;
	describe_progress(stop, to);
	if (string_set(&to->name, stop->name, err) < 0 ||
	    string_set(&to->phase, stop->phase, err) < 0 ||
	    string_set(&to->text, stop->text, err) < 0)
		return -1;
	return images ? add_images(to, stop, err) : 0;
}

int image_request_describe(const struct image_request *order,
			   const struct message_query *query,
			   struct image_order_info *to, struct error *err)
{
	const char *image = order->act.image ? order->act.image : "";

	to->bytes = order->bytes;
	to->final = order->final;
	to->nodes = calloc(order->count + 1, sizeof(*to->nodes));
	if (!to->nodes)
		return error_nomem(err, "image order");
	to->nodes_count = order->count;
	for (size_t i = 0; i < order->count; i++)
		if (describe_stop(&order->stops[i],
				  strings_has(&query->keys,
					      order->stops[i].name),
				  &to->nodes[i], err) < 0)
			return -1;
	if (string_set(&to->order, order->name, err) < 0 ||
	    string_set(&to->what, order->kind->name, err) < 0 ||
	    string_set(&to->image, image, err) < 0 ||
	    string_set(&to->content, *order->content ? order->content : NULL,
		       err) < 0)
		return -1;
	return node_output_describe(order->output, query->after, to, err);
}
