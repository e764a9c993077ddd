/* operation.c - one image operation: the nodes that carry it out, and what they
 * report.
 */
#include "controller/images/operation.h"

#include "controller/images/image_progress.h"
#include "protocol/registry/login.h"

#include <stdlib.h>
#include <string.h>

const char *operation_word(const struct image_spec *spec)
{
	if (spec->kind == IMAGE_ENSURE)
		return spec->build ? "build" : "pull";
	return spec->kind == IMAGE_PRUNE ? "gc" : image_kind_names[spec->kind];
}

/* Targets. */

bool operation_target_failed(const struct operation_target *target)
{
	return !strcmp(target->node.progress.phase, "failed");
}

bool operation_target_final(const struct operation_target *target)
{
	return !strcmp(target->node.progress.phase, "ready") ||
	       operation_target_failed(target);
}

void operation_target_fail(struct operation_target *target, const char *why)
{
	string_set(&target->node.progress.phase, "failed", NULL);
	string_set(&target->node.text, why, NULL);
}

bool operation_target_drop_list(struct operation_target *target)
{
	struct image_node *node = &target->node;
	bool any = node->images_count;

	for (size_t i = 0; i < node->images_count; i++)
		codec_clear(&image_info_schema, &node->images[i]);
	free(take(node->images));
	node->images_count = 0;
	return any;
}

struct operation_target *operation_target(const struct operation *operation,
					  const char *node)
{
	for (size_t i = 0; i < operation->count; i++)
		if (!strcmp(operation->targets[i].node.name, node))
			return &operation->targets[i];
	return NULL;
}

/* Those that are there continue, or wait again. */
static int operation_add_targets(struct operation *operation,
				 const struct strings *nodes, struct error *err)
{
	struct operation_target *targets =
		reallocarray(operation->targets,
			     operation->count + nodes->count + 1,
			     sizeof(*targets));

	if (!targets)
		return error_nomem(err, "image operation");
	operation->targets = targets;
	for (size_t i = 0; i < nodes->count; i++) {
		struct operation_target *target =
			operation_target(operation, nodes->items[i]);
		struct operation_target fresh = { 0 };

		if (target && !operation_target_final(target))
			continue;
		if (string_set(&fresh.node.name, nodes->items[i], err) < 0 ||
		    string_set(&fresh.node.progress.phase, "waiting", err) <
			    0) {
			codec_clear(&image_node_schema, &fresh.node);
			return -1;
		}
		if (target)
			codec_clear(&image_node_schema, &target->node);
		else
			target = &targets[operation->count++];
		*target = fresh;
	}
	return 0;
}

/* Output. */

struct operation_piece {
	struct image_output output;
	TAILQ_ENTRY(operation_piece) next;
};

static void operation_drop_piece(struct operation *operation)
{
	struct operation_piece *piece = TAILQ_FIRST(&operation->output);

	TAILQ_REMOVE(&operation->output, piece, next);
	operation->output_bytes -= strlen(piece->output.text);
	operation->output_first++;
	free(piece->output.node);
	free(piece->output.text);
	free(piece);
}

/* The text is moved. Without memory it is lost. */
static void operation_add_piece(struct operation *operation, const char *node,
				char *text)
{
	struct operation_piece *piece = calloc(1, sizeof(*piece));

	if (!piece || !(piece->output.node = strdup(node))) {
		free(piece);
		free(text);
		return;
	}
	piece->output.text = text;
	TAILQ_INSERT_TAIL(&operation->output, piece, next);
	operation->output_bytes += strlen(text);
	operation->output_next++;
	while (operation->output_bytes > OPERATION_OUTPUT_MAX)
		operation_drop_piece(operation);
}

/* Borrow the pieces from `to->after` on that fit one reply. */
static void operation_show_output(const struct operation *operation,
				  struct image_operation_info *to)
{
	uint64_t number = operation->output_first;
	const struct operation_piece *piece;
	size_t bytes = 0;

	TAILQ_FOREACH(piece, &operation->output, next) {
		size_t size = strlen(piece->output.text);

		if (number < to->after) {
			number++;
			continue;
		}
		/* At least one piece, so that the reader gets further. */
		if (bytes && bytes + size > OPERATION_REPLY_MAX)
			break;
		bytes += size;
		to->output[to->output_count++] = piece->output;
		number++;
	}
	if (number > to->after)
		to->after = number;
}

/* Life. */

struct operation *operation_new(const struct image_spec *spec,
				const struct strings *nodes, struct error *err)
{
	owned(operation_free) struct operation *operation =
		error_calloc(sizeof(*operation), "image operation", err);

	if (!operation)
		return NULL;
	TAILQ_INIT(&operation->output);
	operation->shared =
		spec->kind == IMAGE_ENSURE || spec->kind == IMAGE_LOAD;
	operation->one = spec->kind == IMAGE_SAVE;
	if (codec_copy(&image_spec_schema, spec, &operation->spec, err) < 0 ||
	    operation_add_targets(operation, nodes, err) < 0)
		return NULL;
	return take(operation);
}

int operation_join(struct operation *operation, const struct image_spec *spec,
		   const struct strings *nodes, struct error *err)
{
	struct image_spec *now = &operation->spec;
	struct registry_login *logins = NULL;
	size_t count = 0;

	if (logins_copy(&logins, &count, spec->logins, spec->logins_count,
			err) < 0)
		return -1;
	logins_free(now->logins, now->logins_count);
	now->logins = logins;
	now->logins_count = count;
	now->replace = spec->replace;
	return operation_add_targets(operation, nodes, err);
}

void operation_free(struct operation *operation)
{
	if (!operation)
		return;
	while (!TAILQ_EMPTY(&operation->output))
		operation_drop_piece(operation);
	for (size_t i = 0; i < operation->count; i++)
		codec_clear(&image_node_schema, &operation->targets[i].node);
	free(operation->targets);
	image_bundle_clear(&operation->bundle);
	codec_clear(&image_spec_schema, &operation->spec);
	free(operation);
}

void operation_finish(struct operation *operation)
{
	operation->final = true;
	image_bundle_clear(&operation->bundle);
	logins_free(take(operation->spec.logins), operation->spec.logins_count);
	operation->spec.logins_count = 0;
}

void operation_report(struct operation *operation,
		      struct operation_target *target,
		      struct message_image_state *state, int64_t now_ms)
{
	struct image_node *node = &target->node;

	if (state->output)
		operation_add_piece(operation, node->name, take(state->output));
	if (image_progress_moved(&node->progress, &state->progress))
		target->moved_ms = now_ms;
	codec_clear(&image_progress_schema, &node->progress);
	node->progress = state->progress;
	state->progress = (struct image_progress){ 0 };
	node->code = state->code;
	free(node->text);
	node->text = take(state->text);
	if (state->images_count) {
		operation_target_drop_list(target);
		node->images = take(state->images);
		node->images_count = state->images_count;
		state->images_count = 0;
	}
	node->left_out = state->left_out;
	if (operation->one && blob_hash_valid(state->content)) {
		memcpy(operation->content, state->content,
		       sizeof(operation->content));
		operation->bytes = node->progress.total_bytes;
	}
}

/* Describing. */

int operation_describe(const struct operation *operation,
		       const struct message_query *query, int64_t now_ms,
		       struct image_operation_info *to, struct error *err)
{
	size_t pieces = operation->output_next - operation->output_first;
	owned_free struct image_node *nodes =
		calloc(operation->count + 1, sizeof(*nodes));
	owned_free struct image_output *output =
		calloc(pieces + 1, sizeof(*output));
	const struct image_spec *spec = &operation->spec;
	struct image_operation_info borrowed = {
		.operation = spec->id,
		.what = (char *)operation_word(spec),
		.image = spec->image ? spec->image : (char *)"",
		.nodes = nodes,
		.nodes_count = operation->count,
		.content =
			*operation->content ? (char *)operation->content : NULL,
		.bytes = operation->bytes,
		.output = output,
		.after = query->after,
		.final = operation->final,
	};

	if (!nodes || !output)
		return error_nomem(err, "image operation");
	for (size_t i = 0; i < operation->count; i++) {
		nodes[i] = operation->targets[i].node;
		image_progress_pace(&nodes[i].progress,
				    operation->targets[i].moved_ms, now_ms);
		if (!strings_has(&query->keys, nodes[i].name))
			nodes[i].images_count = nodes[i].left_out = 0;
	}
	operation_show_output(operation, &borrowed);
	return codec_copy(&image_operation_info_schema, &borrowed, to, err);
}
