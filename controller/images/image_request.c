/* image_request.c - a request for images on nodes, and its progress on each.
 */
#include "controller/images/image_request.h"

#include "controller/images/image_progress.h"

#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/registry/login.h"

#include <errno.h>
#include <fcntl.h>
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

static const struct schema *schema_of(enum message_type type)
{
	return message_kinds[type].schema;
}

/* Targets. */

bool image_target_failed(const struct image_target *target)
{
	return !strcmp(target->state.progress.phase, "failed");
}

bool image_target_final(const struct image_target *target)
{
	return !strcmp(target->state.progress.phase, "ready") ||
	       image_target_failed(target);
}

void image_target_fail(struct image_target *target, const char *why)
{
	image_transfer_free(take(target->transfer));
	string_set(&target->state.progress.phase, "failed", NULL);
	string_set(&target->state.text, why, NULL);
}

bool image_target_drop_list(struct image_target *target)
{
	struct message_image_state *state = &target->state;
	bool any = state->images_count;

	for (size_t i = 0; i < state->images_count; i++)
		codec_clear(&image_info_schema, &state->images[i]);
	free(take(state->images));
	state->images_count = 0;
	return any;
}

static void target_clear(struct image_target *target)
{
	image_transfer_free(take(target->transfer));
	codec_clear(schema_of(MESSAGE_IMAGE_STATE), &target->state);
}

struct image_target *image_request_target(const struct image_request *request,
					  const char *node)
{
	for (size_t i = 0; i < request->count; i++)
		if (!strcmp(request->targets[i].node, node))
			return &request->targets[i];
	return NULL;
}

/* Those that are there continue, or wait again. */
static int add_targets(struct image_request *request,
		       const struct strings *nodes, struct error *err)
{
	struct image_target *targets =
		reallocarray(request->targets,
			     request->count + nodes->count + 1,
			     sizeof(*targets));

	if (!targets)
		return error_nomem(err, "image request");
	request->targets = targets;
	for (size_t i = 0; i < nodes->count; i++) {
		struct image_target *target =
			image_request_target(request, nodes->items[i]);
		struct image_target fresh = { 0 };

		if (target && !image_target_final(target))
			continue;
		snprintf(fresh.node, sizeof(fresh.node), "%s", nodes->items[i]);
		if (string_set(&fresh.state.progress.phase, "waiting", err) < 0)
			return -1;
		if (target)
			target_clear(target);
		else
			target = &targets[request->count++];
		*target = fresh;
	}
	return 0;
}

/* Output. */

struct image_request_piece {
	char node[KEY_NAME_SIZE];
	char *text;
	TAILQ_ENTRY(image_request_piece) next;
};

static void drop_piece(struct image_request *request)
{
	struct image_request_piece *piece = TAILQ_FIRST(&request->output);

	TAILQ_REMOVE(&request->output, piece, next);
	request->output_bytes -= strlen(piece->text);
	request->output_first++;
	free(piece->text);
	free(piece);
}

/* The text is moved. Without memory it is lost. */
static void add_piece(struct image_request *request, const char *node,
		      char *text)
{
	struct image_request_piece *piece = calloc(1, sizeof(*piece));

	if (!piece) {
		free(text);
		return;
	}
	snprintf(piece->node, sizeof(piece->node), "%s", node);
	piece->text = text;
	TAILQ_INSERT_TAIL(&request->output, piece, next);
	request->output_bytes += strlen(text);
	request->output_next++;
	while (request->output_bytes > IMAGE_REQUEST_OUTPUT_MAX)
		drop_piece(request);
}

static int describe_output(const struct image_request *request, uint64_t after,
			   struct image_order_info *to, struct error *err)
{
	uint64_t number = request->output_first;
	const struct image_request_piece *piece;
	size_t bytes = 0;

	to->output =
		calloc(request->output_next - number + 1, sizeof(*to->output));
	if (!to->output)
		return error_nomem(err, "output");
	TAILQ_FOREACH(piece, &request->output, next)
	{
		size_t size = strlen(piece->text);
		struct image_output *item;

		if (number < after) {
			number++;
			continue;
		}
		/* At least one piece, so that the reader gets further. */
		if (bytes && bytes + size > IMAGE_REQUEST_REPLY_MAX)
			break;
		bytes += size;
		item = &to->output[to->output_count++];
		if (string_set(&item->node, piece->node, err) < 0 ||
		    string_set(&item->text, piece->text, err) < 0)
			return -1;
		number++;
	}
	to->after = number > after ? number : after;
	return 0;
}

/* Life. */

struct image_request *
image_request_new(const struct message_image_order *message,
		  const struct strings *nodes, struct error *err)
{
	owned(image_request_free) struct image_request *request =
		calloc(1, sizeof(*request));

	if (!request)
		return error_null(error_nomem(err, "image request"));
	TAILQ_INIT(&request->output);
	request->kind = image_request_kind(message->what);
	if (codec_copy(schema_of(MESSAGE_IMAGE_ORDER), message,
		       &request->message, err) < 0 ||
	    add_targets(request, nodes, err) < 0)
		return NULL;
	return take(request);
}

int image_request_again(struct image_request *request,
			const struct message_image_order *message,
			const struct strings *nodes, struct error *err)
{
	struct message_image_order *now = &request->message;
	struct registry_login *logins = NULL;
	size_t count = 0;

	if (logins_copy(&logins, &count, message->logins, message->logins_count,
			err) < 0)
		return -1;
	logins_free(now->logins, now->logins_count);
	now->logins = logins;
	now->logins_count = count;
	now->replace = message->replace;
	return add_targets(request, nodes, err);
}

void image_request_free(struct image_request *request)
{
	if (!request)
		return;
	while (!TAILQ_EMPTY(&request->output))
		drop_piece(request);
	for (size_t i = 0; i < request->count; i++)
		target_clear(&request->targets[i]);
	free(request->targets);
	codec_clear(schema_of(MESSAGE_IMAGE_ORDER), &request->message);
	free(request);
}

void image_request_finish(struct image_request *request)
{
	request->final = true;
	logins_free(take(request->message.logins),
		    request->message.logins_count);
	request->message.logins_count = 0;
}

void image_request_report(struct image_request *request,
			  struct image_target *target,
			  struct message_image_state *state)
{
	struct message_image_state now, *was = &target->state;

	if (state->output)
		add_piece(request, target->node, take(state->output));
	if (state->images_count) {
		image_target_drop_list(target);
		was->images = take(state->images);
		was->images_count = state->images_count;
		state->images_count = 0;
	}
	/* Without memory its last report stays. */
	if (codec_copy(schema_of(MESSAGE_IMAGE_STATE), state, &now, NULL) < 0)
		return;
	now.images = take(was->images);
	now.images_count = was->images_count;
	was->images_count = 0;
	codec_clear(schema_of(MESSAGE_IMAGE_STATE), was);
	*was = now;
	image_transfer_keep(&target->transfer, &now.progress, clock_mono_ms());
	if (request->kind->one && content_hash_valid(now.content)) {
		memcpy(request->content, now.content, sizeof(request->content));
		request->bytes = now.progress.total_bytes;
	}
}

/* Storing. */

int image_request_save(const struct image_request *request, const char *path,
		       struct error *err)
{
	struct message_image_order message = request->message;
	owned(strings_clear) struct strings nodes = { 0 };
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, IMAGE_REQUEST_FILE_MAX);
	for (size_t i = 0; i < request->count; i++)
		if (!image_target_final(&request->targets[i]) &&
		    strings_add(&nodes, request->targets[i].node, err) < 0)
			return -1;
	message.nodes = nodes;
	if (codec_encode(schema_of(MESSAGE_IMAGE_ORDER), &message, &text, err) <
	    0)
		return -1;
	return file_write(AT_FDCWD, path, text.data, text.size, 0600, 1, err);
}

struct image_request *image_request_load(const char *path, struct error *err)
{
	owned(buffer_clear) struct buffer text;
	struct message_image_order message = { 0 };
	const struct image_request_kind *kind;
	struct image_request *request = NULL;
	cJSON *tree;
	int rc = -1;

	buffer_init(&text, IMAGE_REQUEST_FILE_MAX);
	if (file_read(AT_FDCWD, path, &text, err) < 0)
		return NULL;
	tree = codec_parse(text.data, text.size, err);
	if (tree)
		rc = codec_from_other(schema_of(MESSAGE_IMAGE_ORDER), tree,
				      &message, err);
	cJSON_Delete(tree);
	if (rc < 0)
		return NULL;
	kind = image_request_kind(message.what);
	if (content_hash_valid(message.order) && kind && kind->durable)
		request = image_request_new(&message, &message.nodes, err);
	else
		error_set(err, EPROTO, "not a valid image request");
	codec_clear(schema_of(MESSAGE_IMAGE_ORDER), &message);
	return request;
}

/* Describing. */

static int add_images(const struct message_image_state *from,
		      struct image_node *to, struct error *err)
{
	to->left_out = from->left_out;
	if (!from->images_count)
		return 0;
	to->images = calloc(from->images_count, sizeof(*to->images));
	if (!to->images)
		return error_nomem(err, "images");
	for (; to->images_count < from->images_count; to->images_count++)
		if (codec_copy(&image_info_schema,
			       &from->images[to->images_count],
			       &to->images[to->images_count], err) < 0)
			return -1;
	return 0;
}

static int describe_target(const struct image_target *target, bool images,
			   struct image_node *to, struct error *err)
{
	const struct message_image_state *state = &target->state;

	to->code = state->code;
	if ((target->transfer
		     ? image_transfer_describe(target->transfer,
					       clock_mono_ms(), &to->progress,
					       err)
		     : codec_copy(&image_progress_schema, &state->progress,
				  &to->progress, err)) < 0 ||
	    string_set(&to->name, target->node, err) < 0 ||
	    string_set(&to->text, state->text, err) < 0)
		return -1;
	return images ? add_images(state, to, err) : 0;
}

int image_request_describe(const struct image_request *request,
			   const struct message_query *query,
			   struct image_order_info *to, struct error *err)
{
	const struct message_image_order *message = &request->message;

	to->bytes = request->bytes;
	to->final = request->final;
	to->nodes = calloc(request->count + 1, sizeof(*to->nodes));
	if (!to->nodes)
		return error_nomem(err, "image request");
	to->nodes_count = request->count;
	for (size_t i = 0; i < request->count; i++)
		if (describe_target(&request->targets[i],
				    strings_has(&query->keys,
						request->targets[i].node),
				    &to->nodes[i], err) < 0)
			return -1;
	if (string_set(&to->order, message->order, err) < 0 ||
	    string_set(&to->what, message->what, err) < 0 ||
	    string_set(&to->image, message->image ? message->image : "", err) <
		    0 ||
	    string_set(&to->content,
		       *request->content ? request->content : NULL, err) < 0)
		return -1;
	return describe_output(request, query->after, to, err);
}
