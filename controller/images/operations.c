/* operations.c - carries out image operations: sends them to nodes, and follows
 * their progress.
 */
#include "controller/images/operations.h"

#include "controller/images/logins.h"
#include "controller/images/operation.h"
#include "controller/images/sweep_image.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/registry/login.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define VENDORS "vendors/" /* folders of the images folder, by vendor */
#define GONE_NAMES_MAX 20  /* in the record of what a node removed by itself */

struct operations {
	struct operations_config with;
	struct operation *list[OPERATIONS_MAX]; /* oldest first */
	size_t count;
};

struct operations *operations_new(const struct operations_config *config,
				  struct error *err)
{
	struct operations *operations =
		error_calloc(sizeof(*operations), "image operations", err);

	if (operations)
		operations->with = *config;
	return operations;
}

static void operations_drop(struct operations *operations,
			    struct operation *operation)
{
	size_t to = 0;

	for (size_t i = 0; i < operations->count; i++)
		if (operations->list[i] != operation)
			operations->list[to++] = operations->list[i];
	operations->count = to;
	operation_free(operation);
}

void operations_free(struct operations *operations)
{
	if (!operations)
		return;
	while (operations->count)
		operations_drop(operations, operations->list[0]);
	free(operations);
}

static struct operation *operations_find(const struct operations *operations,
					 const char *id)
{
	for (size_t i = 0; i < operations->count; i++)
		if (!strcmp(operations->list[i]->spec.id, id))
			return operations->list[i];
	return NULL;
}

/* The first that ended, else the first that changes nothing later. */
static struct operation *operations_oldest(const struct operations *operations)
{
	for (size_t i = 0; i < operations->count; i++)
		if (operations->list[i]->final)
			return operations->list[i];
	for (size_t i = 0; i < operations->count; i++)
		if (!operations->list[i]->shared && !operations->list[i]->one)
			return operations->list[i];
	return NULL;
}

/* Lists of images are large, and soon out of date. */
static void operations_drop_lists(struct operations *operations)
{
	size_t count = 0;

	for (size_t i = operations->count; i-- > 0;) {
		const struct operation *operation = operations->list[i];
		bool any = false;

		for (size_t t = 0; t < operation->count; t++)
			any |= count < OPERATIONS_LISTS_MAX
				       ? operation->targets[t].node.images_count
				       : operation_target_drop_list(
						 &operation->targets[t]);
		count += any;
	}
}

static struct operation *operations_add(struct operations *operations,
					const struct image_spec *spec,
					const struct strings *nodes,
					struct error *err)
{
	struct operation *old = operations->count == OPERATIONS_MAX
					? operations_oldest(operations)
					: NULL;
	struct operation *operation;

	if (operations->count == OPERATIONS_MAX && !old)
		return error_null(
			error_set(err, EBUSY,
				  "%d image operations are already in progress",
				  OPERATIONS_MAX));
	operation = operation_new(spec, nodes, err);
	if (!operation)
		return NULL;
	if (old)
		operations_drop(operations, old);
	operations->list[operations->count++] = operation;
	operations_drop_lists(operations);
	return operation;
}

/* Sending to nodes. */

static int operations_send(struct operations *operations, struct node *node,
			   const struct image_spec *spec, bool needs,
			   struct error *err)
{
	struct message_image_do message = { .spec = *spec };
	int rc;

	message.spec.logins = NULL;
	message.spec.logins_count = 0;
	if (needs &&
	    sweep_images_list(operations->with.images, node_view(node)->vendor,
			      &message.needs, &message.needs_count, err) < 0)
		return -1;
	rc = logins_reseal(operations->with.logins, spec->logins,
			   spec->logins_count,
			   wire_peer_public(node_peer(node)),
			   &message.spec.logins, &message.spec.logins_count,
			   err);
	if (rc == 0)
		rc = wire_server_send(node_peer(node), MESSAGE_IMAGE_DO,
				      &message, NULL, 0, err);
	logins_free(message.spec.logins, message.spec.logins_count);
	needs_free(message.needs, message.needs_count);
	return rc;
}

/* Does the operation wait for this target? */
static bool is_asked(const struct operation *operation,
		     const struct operation_target *target)
{
	return !operation->one ||
	       target == &operation->targets[operation->asked];
}

static void operations_tell_node(struct operations *operations,
				 const struct operation *operation,
				 struct operation_target *target)
{
	struct node *node =
		node_find(operations->with.nodes, target->node.name);
	struct error err;

	if (operation_target_final(target) || !node || !node_up(node) ||
	    !is_asked(operation, target))
		return;
	if (operations_send(operations, node, &operation->spec,
			    !operation->shared && !operation->one, &err) < 0)
		operation_target_fail(target, err.text);
}

static void operations_finish(struct operations *operations,
			      struct operation *operation)
{
	operation_finish(operation);
	log_info("image operation=%.12s %s has ended", operation->spec.id,
		 operation_word(&operation->spec));
	changes_progress(operations->with.changes);
}

static void operation_lose(struct operation *operation,
			   struct operation_target *target, const char *why)
{
	log_warning("image operation=%.12s node=%s failed: %s",
		    operation->spec.id, target->node.name, why);
	operation_target_fail(target, why);
	operation->content[0] = 0;
	operation->bytes = 0;
}

static void operation_lose_away(struct operation *operation,
				struct operation_target *target)
{
	operation_lose(operation, target,
		       operation->shared
			       ? "not reachable; the same command does the rest"
			       : "not reachable");
}

/* To save: fetch it from the node that has it; else ask the next node. */
static void operations_advance_one(struct operations *operations,
				   struct operation *operation)
{
	struct operation_target *target = &operation->targets[operation->asked];
	struct node *node =
		node_find(operations->with.nodes, target->node.name);
	struct error err;
	int rc = 0;

	if (*operation->content && node)
		rc = artifact_fetch_blob(operations->with.fetches, node,
					 operation->content, operation->bytes,
					 &err);
	if (rc < 0)
		operation_lose(operation, target, err.text);
	if (rc > 0 || (operation_target_failed(target) &&
		       operation->asked + 1 == operation->count)) {
		operations_finish(operations, operation);
	} else if (operation_target_failed(target)) {
		operation->asked++;
		operations_tell_node(operations, operation,
				     &operation->targets[operation->asked]);
	}
}

static void operations_advance(struct operations *operations,
			       struct operation *operation)
{
	if (operation->final)
		return;
	if (operation->one) {
		operations_advance_one(operations, operation);
		return;
	}
	for (size_t i = 0; i < operation->count; i++)
		if (!operation_target_final(&operation->targets[i]))
			return;
	operations_finish(operations, operation);
}

/* A node that saved an image must stay until it is fetched. */
static void operations_look(struct operations *operations,
			    struct operation *operation,
			    struct operation_target *target, int64_t now_ms)
{
	const struct node *node =
		node_find(operations->with.nodes, target->node.name);

	if (operation_target_failed(target) || !is_asked(operation, target) ||
	    (operation_target_final(target) && !operation->one))
		return;
	if (node && node_peer(node))
		target->away_ms = 0;
	else if (!target->away_ms)
		target->away_ms = now_ms;
	else if (now_ms - target->away_ms > OPERATION_AWAY_MS)
		operation_lose_away(operation, target);
}

void operations_tick(struct operations *operations)
{
	int64_t now_ms = clock_mono_ms();

	for (size_t i = 0; i < operations->count; i++) {
		struct operation *operation = operations->list[i];

		for (size_t t = 0; !operation->final && t < operation->count;
		     t++)
			operations_look(operations, operation,
					&operation->targets[t], now_ms);
		operations_advance(operations, operation);
	}
}

void operations_node_reported(struct operations *operations, struct node *node)
{
	for (size_t i = 0; i < operations->count; i++) {
		const struct operation *operation = operations->list[i];
		struct operation_target *target =
			operation_target(operation, node_name(node));

		if (target && !operation->final)
			operations_tell_node(operations, operation, target);
	}
}

/* A node removed images because its own settings say so. */
static void operations_audit_prune(struct operations *operations,
				   const struct node *node,
				   const struct message_image_state *state)
{
	cJSON *object = cJSON_CreateObject();
	cJSON *names = cJSON_AddArrayToObject(object, "images");
	struct audit_row row = {
		.time_ms = clock_wall_ms(),
		.who = node_name(node),
		.role = role_name(ROLE_AGENT),
		.address = wire_peer_address(node_peer(node)),
		.act = "image-gc",
		.refusal = state->code ? state->text : NULL,
	};
	size_t count = 0;
	char *text;
	struct error err;

	for (size_t i = 0; i < state->images_count; i++) {
		const struct image_info *image = &state->images[i];

		if (image->removed && count++ < GONE_NAMES_MAX)
			cJSON_AddItemToArray(names,
					     cJSON_CreateString(
						     image->tags.count
							     ? image->tags
								       .items[0]
							     : image->id));
	}
	cJSON_AddNumberToObject(object, "removed", (double)count);
	cJSON_AddNumberToObject(object, "bytes",
				(double)state->progress.done_bytes);
	text = cJSON_PrintUnformatted(object);
	row.request = text ? text : "{}";
	log_info("node=%s removed %zu images by itself bytes=%" PRIu64 "%s%s",
		 node_name(node), count, state->progress.done_bytes,
		 row.refusal ? ": " : "", row.refusal ? row.refusal : "");
	if ((count || row.refusal) &&
	    store_put_audit(operations->with.store, &row, &err) < 0)
		log_error("audit: %s", err.text);
	cJSON_free(text);
	cJSON_Delete(object);
}

void operations_state(struct operations *operations, struct node *node,
		      struct message_image_state *state)
{
	struct operation *operation =
		operations_find(operations, state->operation);
	struct operation_target *target =
		operation ? operation_target(operation, node_name(node)) : NULL;

	if (!operation && state->by_itself && node_peer(node))
		operations_audit_prune(operations, node, state);
	if (!target || operation->final || operation_target_final(target))
		return;
	operation_report(operation, target, state, clock_mono_ms());
	if (operation_target_final(target))
		log_info("image operation=%.12s node=%s %s%s%s",
			 operation->spec.id, target->node.name,
			 target->node.progress.phase,
			 target->node.text ? ": " : "",
			 target->node.text ? target->node.text : "");
	changes_progress(operations->with.changes);
	operations_advance(operations, operation);
}

void operations_room(struct operations *operations, struct node *node,
		     const struct message_image_room *room)
{
	const struct image_spec spec = { .id = room->operation,
					 .kind = IMAGE_PRUNE };
	struct error err;

	/* Without an answer it removes nothing. */
	if (node_up(node) && blob_hash_valid(room->operation) &&
	    operations_send(operations, node, &spec, true, &err) < 0)
		log_warning("node=%s: %s", node_name(node), err.text);
}

/* People. */

static int operations_choose_named(struct operations *operations,
				   const struct strings *wanted,
				   struct strings *nodes, struct error *err)
{
	if (wanted->count > node_count(operations->with.nodes))
		return error_set(err, EINVAL,
				 "nodes: %zu names; expected at most %zu, the "
				 "number of nodes",
				 wanted->count,
				 node_count(operations->with.nodes));
	for (size_t i = 0; i < wanted->count; i++) {
		const struct node *node =
			node_find(operations->with.nodes, wanted->items[i]);

		if (!node)
			return node_unknown(operations->with.nodes,
					    wanted->items[i], err);
		if (!strings_has(nodes, node_name(node)) &&
		    strings_add(nodes, node_name(node), err) < 0)
			return -1;
	}
	return 0;
}

/* The vendor for whose nodes that folder has images; "": for all nodes. */
static void vendor_of(const char *build, char vendor[KEY_NAME_SIZE])
{
	size_t prefix = strlen(VENDORS);

	vendor[0] = 0;
	if (build && !strncmp(build, VENDORS, prefix))
		snprintf(vendor, KEY_NAME_SIZE, "%.*s",
			 (int)strcspn(build + prefix, "/"), build + prefix);
}

static int operations_choose_all(struct operations *operations,
				 const char *build, struct strings *nodes,
				 struct error *err)
{
	char vendor[KEY_NAME_SIZE];
	size_t up = 0;

	vendor_of(build, vendor);
	for (size_t i = 0; i < node_count(operations->with.nodes); i++) {
		const struct node *node = node_at(operations->with.nodes, i);

		up += node_peer(node) != NULL;
		if (node_peer(node) &&
		    (!vendor[0] || !strcmp(node_view(node)->vendor, vendor)) &&
		    strings_add(nodes, node_name(node), err) < 0)
			return -1;
	}
	if (nodes->count)
		return 0;
	return up ? error_set(err, ENOENT,
			      "no reachable node has devices of %s; regatta "
			      "vendors lists the vendors, --nodes selects any "
			      "nodes",
			      vendor)
		  : error_set(err, ENOENT, "no node is reachable");
}

static int operations_check(const struct operation *running,
			    const struct image_spec *spec, struct error *err)
{
	const char *word = operation_word(spec);

	if (!blob_hash_valid(spec->id))
		return error_set(err, EINVAL,
				 "id: '%.80s' is not valid here; expected 64 "
				 "hex digits",
				 spec->id);
	if (running && running->spec.kind != spec->kind)
		return error_set(err, EEXIST,
				 "image operation %.12s already exists, for %s",
				 spec->id, operation_word(&running->spec));
	if (spec->kind != IMAGE_LIST && spec->kind != IMAGE_PRUNE &&
	    (!spec->image || !*spec->image))
		return error_set(err, EINVAL, "%s: the image is missing", word);
	return 0;
}

static int operations_read_bundle(struct operations *operations,
				  const struct image_spec *spec,
				  struct image_bundle *bundle,
				  struct error *err)
{
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT(IMAGE_BUNDLE_BYTES_MAX);

	if (spec->kind != IMAGE_LOAD)
		return 0;
	if (blob_store_text(blob_service_store(operations->with.blobs),
			    spec->id, &text, err) == 0)
		return image_bundle_parse(text.data, text.size, bundle, err);
	return err->code != ENOENT
		       ? -1
		       : error_set(err, ENOENT,
				   "image operation %.12s: the controller does "
				   "not have its bundle",
				   spec->id);
}

bool operations_need(const struct operations *operations,
		     const struct node *node, const char *hash)
{
	for (size_t i = 0; i < operations->count; i++) {
		const struct operation *operation = operations->list[i];

		if (operation->spec.kind == IMAGE_LOAD && !operation->final &&
		    operation_target(operation, node_name(node)) &&
		    (!strcmp(operation->spec.id, hash) ||
		     image_bundle_blob(&operation->bundle, hash)))
			return true;
	}
	return false;
}

/* Nodes that work on it get it again, and report how far they are. */
static void operations_send_all(struct operations *operations,
				struct operation *operation)
{
	for (size_t i = 0; i < operation->count; i++) {
		struct operation_target *target = &operation->targets[i];
		const struct node *node =
			node_find(operations->with.nodes, target->node.name);

		if (!operation->shared && !operation->one && !node_peer(node))
			operation_lose_away(operation, target);
		operations_tell_node(operations, operation, target);
	}
	operations_advance(operations, operation);
}

int operations_begin(struct operations *operations, const char *by,
		     const struct image_spec *spec, const struct strings *nodes,
		     struct strings *chosen, struct error *err)
{
	owned(image_bundle_clear) struct image_bundle bundle = { 0 };
	owned(strings_clear) struct strings names = { 0 };
	struct operation *operation = operations_find(operations, spec->id);

	if (operations_check(operation, spec, err) < 0 ||
	    operations_read_bundle(operations, spec, &bundle, err) < 0 ||
	    (nodes->count
		     ? operations_choose_named(operations, nodes, &names, err)
		     : operations_choose_all(operations, spec->build, &names,
					     err)) < 0)
		return -1;
	if (operation && operation->shared && !operation->final) {
		if (operation_join(operation, spec, &names, err) < 0)
			return -1;
	} else {
		if (operation)
			operations_drop(operations, operation);
		operation = operations_add(operations, spec, &names, err);
		if (!operation)
			return -1;
		operation->bundle = bundle;
		bundle = (struct image_bundle){ 0 };
	}
	operations_send_all(operations, operation);
	log_info("image operation=%.12s %s image=%s nodes=%zu by=%s", spec->id,
		 operation_word(spec), spec->image ? spec->image : "",
		 names.count, by);
	changes_progress(operations->with.changes);
	*chosen = names;
	names = (struct strings){ 0 };
	return 0;
}

int operations_describe(struct operations *operations,
			const struct message_query *query,
			struct image_operation_info *to, struct error *err)
{
	const char *id = query->name ? query->name : "";
	const struct operation *operation = operations_find(operations, id);

	if (!operation)
		return error_set(err, ENOENT,
				 "no image operation %.12s; it ended with the "
				 "controller that began it; run the command "
				 "again",
				 id);
	if (operation_describe(operation, query, clock_mono_ms(), to, err) < 0)
		return -1;
	for (size_t i = 0; i < to->nodes_count; i++) {
		const struct node *node =
			node_find(operations->with.nodes, to->nodes[i].name);

		to->nodes[i].up = node && node_peer(node);
	}
	return 0;
}
