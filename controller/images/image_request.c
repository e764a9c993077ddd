/* image_request.c - an image order: its nodes, how far each is, what they
 * print.
 */
#include "controller/images/image_request.h"

#include "controller/images/image_progress.h"

#include "protocol/base/file.h"
#include "protocol/registry/login.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE_REQUEST_FILE_MAX (4 << 20)

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

void stop_drop_images(struct stop *stop)
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

/* Output. */

static void drop_printed(struct image_request *order)
{
	struct printed *printed = TAILQ_FIRST(&order->output);

	TAILQ_REMOVE(&order->output, printed, entry);
	order->output_bytes -= strlen(printed->text);
	order->output_first++;
	free(printed->text);
	free(printed);
}

/* The text is moved. */
static void keep_printed(struct image_request *order, const struct stop *stop,
			 char *text)
{
	struct printed *printed = calloc(1, sizeof(*printed));

	if (!printed) {
		free(text);
		return;
	}
	printed->stop = (size_t)(stop - order->stops);
	printed->text = text;
	TAILQ_INSERT_TAIL(&order->output, printed, entry);
	order->output_bytes += strlen(text);
	order->output_next++;
	while (order->output_bytes > IMAGE_REQUEST_OUTPUT_MAX)
		drop_printed(order);
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
		TAILQ_INIT(&order->output);
		order->stops = calloc(nodes->count + 1, sizeof(*order->stops));
	}
	if (!order || !order->stops || copy_act(&order->act, message) < 0) {
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
	while (!TAILQ_EMPTY(&order->output))
		drop_printed(order);
	for (size_t i = 0; i < order->count; i++) {
		free(order->stops[i].text);
		stop_drop_images(&order->stops[i]);
	}
	free(order->stops);
	codec_clear(message_kinds[MESSAGE_IMAGE_DO].schema, &order->act);
	free(order);
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
		stop_drop_images(stop);
		stop->images = take(state->images);
		stop->images_count = state->images_count;
		state->images_count = 0;
	}
	if (state->output)
		keep_printed(order, stop, take(state->output));
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
		error_set(err, EPROTO, "no order");
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

/* From the piece `after` on, as much as one answer takes. */
static int describe_output(const struct image_request *order, uint64_t after,
			   struct image_order_info *to, struct error *err)
{
	uint64_t number = order->output_first;
	const struct printed *printed;
	size_t bytes = 0;

	to->output =
		calloc(order->output_next - number + 1, sizeof(*to->output));
	if (!to->output)
		return error_nomem(err, "output");
	TAILQ_FOREACH(printed, &order->output, entry)
	{
		struct image_output *item;

		if (number < after) {
			number++;
			continue;
		}
		bytes += strlen(printed->text);
		if (bytes > IMAGE_REQUEST_OUTPUT_TOLD &&
		    bytes > strlen(printed->text))
			break;
		item = &to->output[to->output_count++];
		if (string_set(&item->node, order->stops[printed->stop].name,
			       err) < 0 ||
		    string_set(&item->text, printed->text, err) < 0)
			return -1;
		number++;
	}
	to->after = number > after ? number : after;
	return 0;
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
	return describe_output(order, query->after, to, err);
}
