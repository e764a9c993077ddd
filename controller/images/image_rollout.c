/* image_rollout.c - carries out requests for images: sends them to nodes, and
 * follows their progress.
 */
#include "controller/images/image_rollout.h"

#include "controller/images/image_request.h"
#include "controller/images/logins.h"
#include "controller/images/sweep_image.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/registry/login.h"
#include "protocol/wire/wire.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define VENDORS "vendors/" /* folders of the images folder, by vendor */
#define GONE_NAMES_MAX 20  /* in the record of what a node removed by itself */
#define AWAY_MS 15000      /* a disconnected node that is to save: given up */

struct image_rollouts {
	struct image_rollouts_config with;
	char folder[PATH_MAX - NAME_MAX - 1]; /* and a name in it */
	struct image_request *requests[IMAGE_ROLLOUT_REQUESTS_MAX]; /* oldest
								       first */
	size_t count;
};

static const char *id_of(const struct image_request *request)
{
	return request->message.order;
}

static void rollout_make_path(const struct image_rollouts *rollouts,
			      const struct image_request *request,
			      char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s.json", rollouts->folder,
		 id_of(request));
}

static int rollout_save(const struct image_rollouts *rollouts,
			const struct image_request *request, struct error *err)
{
	char path[PATH_MAX];

	rollout_make_path(rollouts, request, path);
	return image_request_save(request, path, err);
}

static void rollout_drop(struct image_rollouts *rollouts,
			 struct image_request *request)
{
	size_t to = 0;

	for (size_t i = 0; i < rollouts->count; i++)
		if (rollouts->requests[i] != request)
			rollouts->requests[to++] = rollouts->requests[i];
	rollouts->count = to;
	image_request_free(request);
}

static struct image_request *rollout_find(const struct image_rollouts *rollouts,
					  const char *id)
{
	for (size_t i = 0; i < rollouts->count; i++)
		if (!strcmp(id_of(rollouts->requests[i]), id))
			return rollouts->requests[i];
	return NULL;
}

/* The first that ended, else the first that changes nothing later. */
static struct image_request *oldest(const struct image_rollouts *rollouts)
{
	for (size_t i = 0; i < rollouts->count; i++)
		if (rollouts->requests[i]->final)
			return rollouts->requests[i];
	for (size_t i = 0; i < rollouts->count; i++)
		if (!rollouts->requests[i]->kind->durable &&
		    !rollouts->requests[i]->kind->one)
			return rollouts->requests[i];
	return NULL;
}

/* Lists of images are large, and soon out of date. */
static void drop_lists(struct image_rollouts *rollouts)
{
	size_t count = 0;

	for (size_t i = rollouts->count; i-- > 0;) {
		const struct image_request *request = rollouts->requests[i];
		bool any = false;

		for (size_t t = 0; t < request->count; t++)
			any |= count < IMAGE_ROLLOUT_LISTS_MAX
				       ? request->targets[t].state.images_count
				       : image_target_drop_list(
						 &request->targets[t]);
		count += any;
	}
}

/* The request is moved, and freed on failure. */
static struct image_request *rollout_keep(struct image_rollouts *rollouts,
					  struct image_request *request,
					  struct error *err)
{
	if (request && rollouts->count == IMAGE_ROLLOUT_REQUESTS_MAX) {
		struct image_request *old = oldest(rollouts);

		if (!old) {
			image_request_free(request);
			return error_null(
				error_set(err, EBUSY,
					  "%d image requests are already in "
					  "progress",
					  IMAGE_ROLLOUT_REQUESTS_MAX));
		}
		rollout_drop(rollouts, old);
	}
	if (!request)
		return NULL;
	rollouts->requests[rollouts->count++] = request;
	drop_lists(rollouts);
	return request;
}

/* Other files were being written when a controller was killed. */
static bool is_request_file(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot, ".json");
}

static int load_requests(struct image_rollouts *rollouts, struct error *err)
{
	struct dirent *entry;
	char path[PATH_MAX];
	struct error why;
	DIR *dir = opendir(rollouts->folder);

	if (!dir)
		return error_errno(err, "%s", rollouts->folder);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", rollouts->folder,
			 entry->d_name);
		if (!is_request_file(entry->d_name))
			unlink(path);
		else if (!rollout_keep(rollouts, image_request_load(path, &why),
				       &why))
			log_warning("image request dropped: %s: %s",
				    entry->d_name, why.text);
	}
	closedir(dir);
	return 0;
}

struct image_rollouts *
image_rollouts_new(const struct image_rollouts_config *config,
		   const char *folder, struct error *err)
{
	owned(image_rollouts_free) struct image_rollouts *rollouts =
		calloc(1, sizeof(*rollouts));

	if (!rollouts)
		return error_null(error_nomem(err, "image requests"));
	rollouts->with = *config;
	snprintf(rollouts->folder, sizeof(rollouts->folder), "%s/image-orders",
		 folder);
	if (file_make_folders(rollouts->folder, 0700, err) < 0 ||
	    load_requests(rollouts, err) < 0)
		return NULL;
	return take(rollouts);
}

void image_rollouts_free(struct image_rollouts *rollouts)
{
	if (!rollouts)
		return;
	while (rollouts->count)
		rollout_drop(rollouts, rollouts->requests[0]);
	free(rollouts);
}

/* Sending to nodes. */

static int send_operation(struct image_rollouts *rollouts, struct node *node,
			  struct message_image_do message,
			  const struct message_image_order *from, bool needs,
			  struct error *err)
{
	int rc;

	if (needs &&
	    sweep_images_list(rollouts->with.images, node_view(node)->vendor,
			      &message.needs, &message.needs_count, err) < 0)
		return -1;
	rc = logins_reseal(rollouts->with.logins, from->logins,
			   from->logins_count,
			   wire_peer_public(node_peer(node)), &message.logins,
			   &message.logins_count, err);
	if (rc == 0)
		rc = wire_server_send(node_peer(node), MESSAGE_IMAGE_DO,
				      &message, NULL, 0, err);
	logins_free(message.logins, message.logins_count);
	needs_free(message.needs, message.needs_count);
	return rc;
}

static struct image_target *asked(const struct image_request *request)
{
	return &request->targets[request->asked];
}

static void rollout_tell_node(struct image_rollouts *rollouts,
			      const struct image_request *request,
			      struct image_target *target)
{
	struct node *node = node_find(rollouts->with.nodes, target->node);
	const struct message_image_order *from = &request->message;
	const struct message_image_do message = {
		.order = from->order,
		.what = from->what,
		.image = from->image,
		.build = from->build,
		.ids = from->ids,
		.keep = from->keep,
		.floor_bytes = from->floor_bytes,
		.floor_percent = from->floor_percent,
		.dry_run = from->dry_run,
		.replace = from->replace,
	};
	struct error err;

	if (image_target_final(target) || !node || !node_up(node) ||
	    (request->kind->one && target != asked(request)))
		return;
	if (send_operation(rollouts, node, message, from, request->kind->needs,
			   &err) < 0)
		image_target_fail(target, err.text);
}

static void rollouts_mark_changed(struct image_rollouts *rollouts)
{
	changes_progress(rollouts->with.changes);
}

static void rollout_finish(struct image_rollouts *rollouts,
			   struct image_request *request)
{
	char path[PATH_MAX];

	image_request_finish(request);
	rollout_make_path(rollouts, request, path);
	unlink(path);
	log_info("image request=%.12s %s has ended", id_of(request),
		 request->kind->name);
	rollouts_mark_changed(rollouts);
}

/* The node that is asked cannot deliver the saved image. */
static void lose(struct image_request *request, const char *why)
{
	log_warning("image request=%.12s node=%s failed: %s", id_of(request),
		    asked(request)->node, why);
	image_target_fail(asked(request), why);
	request->content[0] = 0;
	request->bytes = 0;
}

static bool is_away(struct image_target *target, const struct node *node)
{
	int64_t now = clock_mono_ms();

	if (node && node_peer(node))
		target->lost_ms = 0;
	else if (!target->lost_ms)
		target->lost_ms = now;
	return target->lost_ms && now - target->lost_ms > AWAY_MS;
}

/* To save: fetch it from the node that has it; else ask the next node. */
static void advance_one(struct image_rollouts *rollouts,
			struct image_request *request)
{
	struct image_target *target = asked(request);
	struct node *node = node_find(rollouts->with.nodes, target->node);
	struct error err;
	int rc = 0;

	if (*request->content && node)
		rc = artifact_fetch_content(rollouts->with.fetches, node,
					    request->content, request->bytes,
					    &err);
	if (rc > 0) {
		rollout_finish(rollouts, request);
		return;
	}
	if (rc < 0)
		lose(request, err.text);
	else if (is_away(target, node) && !image_target_failed(target))
		lose(request, "out of reach");
	if (!image_target_failed(target))
		return;
	if (request->asked + 1 == request->count) {
		rollout_finish(rollouts, request);
		return;
	}
	request->asked++;
	rollout_tell_node(rollouts, request, asked(request));
}

static void rollout_advance(struct image_rollouts *rollouts,
			    struct image_request *request)
{
	if (request->final)
		return;
	if (request->kind->one) {
		advance_one(rollouts, request);
		return;
	}
	for (size_t i = 0; i < request->count; i++)
		if (!image_target_final(&request->targets[i]))
			return;
	rollout_finish(rollouts, request);
}

void image_rollout_tick(struct image_rollouts *rollouts)
{
	for (size_t i = 0; i < rollouts->count; i++)
		if (rollouts->requests[i]->kind->one)
			rollout_advance(rollouts, rollouts->requests[i]);
}

void image_rollout_node_reported(struct image_rollouts *rollouts,
				 struct node *node)
{
	for (size_t i = 0; i < rollouts->count; i++) {
		const struct image_request *request = rollouts->requests[i];
		struct image_target *target =
			image_request_target(request, node_name(node));

		if (target && !request->final)
			rollout_tell_node(rollouts, request, target);
	}
}

/* A node removed images because its own settings say so. */
static void audit_own_gc(struct image_rollouts *rollouts,
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
	    store_put_audit(rollouts->with.store, &row, &err) < 0)
		log_error("audit: %s", err.text);
	cJSON_free(text);
	cJSON_Delete(object);
}

void image_rollout_state(struct image_rollouts *rollouts, struct node *node,
			 struct message_image_state *state)
{
	struct image_request *request = rollout_find(rollouts, state->order);
	struct image_target *target =
		request ? image_request_target(request, node_name(node)) : NULL;

	if (!request && state->by_itself && node_peer(node))
		audit_own_gc(rollouts, node, state);
	if (!target || request->final || image_target_final(target))
		return;
	image_request_report(request, target, state);
	if (image_target_final(target))
		log_info("image request=%.12s node=%s %s%s%s", id_of(request),
			 target->node, target->state.progress.phase,
			 target->state.text ? ": " : "",
			 target->state.text ? target->state.text : "");
	rollouts_mark_changed(rollouts);
	rollout_advance(rollouts, request);
}

void image_rollout_room(struct image_rollouts *rollouts, struct node *node,
			const struct message_image_room *room)
{
	const struct message_image_do message = { .order = room->order,
						  .what = (char *)"gc" };
	const struct message_image_order from = { 0 };
	struct error err;

	/* Without an answer it removes nothing. */
	if (node_up(node) && content_hash_valid(room->order) &&
	    send_operation(rollouts, node, message, &from, true, &err) < 0)
		log_warning("node=%s: %s", node_name(node), err.text);
}

/* People. */

static int choose_named(struct image_rollouts *rollouts,
			const struct strings *wanted, struct strings *nodes,
			struct error *err)
{
	if (wanted->count > node_count(rollouts->with.nodes))
		return error_set(err, EINVAL,
				 "nodes: %zu names; expected at most %zu, the "
				 "number of nodes",
				 wanted->count,
				 node_count(rollouts->with.nodes));
	for (size_t i = 0; i < wanted->count; i++) {
		const struct node *node =
			node_find(rollouts->with.nodes, wanted->items[i]);

		if (!node)
			return error_set(err, ENOENT,
					 "no node '%.64s'; regatta nodes shows "
					 "all",
					 wanted->items[i]);
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

static int choose_all(struct image_rollouts *rollouts, const char *build,
		      struct strings *nodes, struct error *err)
{
	char vendor[KEY_NAME_SIZE];
	size_t up = 0;

	vendor_of(build, vendor);
	for (size_t i = 0; i < node_count(rollouts->with.nodes); i++) {
		const struct node *node = node_at(rollouts->with.nodes, i);

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

static int rollout_check_order(struct image_rollouts *rollouts,
			       const struct message_image_order *message,
			       const struct image_request_kind *kind,
			       struct error *err)
{
	const struct image_request *request =
		rollout_find(rollouts, message->order);
	uint64_t bytes;
	bool whole;

	if (!kind)
		return error_set(err, EINVAL,
				 "what: '%.40s' is not valid here; expected "
				 "load, save, build, pull, remove or gc",
				 message->what);
	if (!content_hash_valid(message->order))
		return error_set(err, EINVAL,
				 "order: '%.80s' is not valid here; expected "
				 "64 hex digits",
				 message->order);
	if (request && request->kind != kind)
		return error_set(err, EEXIST,
				 "image request %.12s already exists, for %s",
				 id_of(request), request->kind->name);
	if (kind->takes_name && (!message->image || !*message->image))
		return error_set(err, EINVAL, "%s: the image is missing",
				 kind->name);
	if (!strcmp(kind->name, "build") && !message->build)
		return error_set(err, EINVAL, "build: the folder is missing");
	if (strcmp(kind->name, "load") != 0)
		return 0;
	if (blob_store_look(blob_service_contents(rollouts->with.blobs),
			    message->order, &bytes, &whole, err) < 0)
		return -1;
	return whole ? 0
		     : error_set(err, ENOENT,
				 "image request %.12s: the controller does not "
				 "have its bundle",
				 message->order);
}

/* The same was requested before, perhaps for other nodes, which keep it. */
static int rollout_begin_again(struct image_rollouts *rollouts,
			       struct image_request *request,
			       const struct message_image_order *message,
			       const struct strings *nodes, struct error *err)
{
	if (image_request_again(request, message, nodes, err) < 0 ||
	    rollout_save(rollouts, request, err) < 0)
		return -1;
	for (size_t i = 0; i < nodes->count; i++)
		rollout_tell_node(rollouts, request,
				  image_request_target(request,
						       nodes->items[i]));
	rollout_advance(rollouts, request);
	return 0;
}

static int rollout_begin(struct image_rollouts *rollouts,
			 const struct message_image_order *message,
			 const struct strings *nodes, struct error *err)
{
	struct image_request *request = rollout_find(rollouts, message->order);

	if (request)
		rollout_drop(rollouts, request);
	request = rollout_keep(rollouts, image_request_new(message, nodes, err),
			       err);
	if (!request)
		return -1;
	if (request->kind->durable &&
	    rollout_save(rollouts, request, err) < 0) {
		rollout_drop(rollouts, request);
		return -1;
	}
	for (size_t i = 0; i < request->count; i++) {
		struct image_target *target = &request->targets[i];
		const struct node *node =
			node_find(rollouts->with.nodes, target->node);

		if (!request->kind->durable && !request->kind->one &&
		    !node_peer(node))
			image_target_fail(target, "out of reach");
		rollout_tell_node(rollouts, request, target);
	}
	rollout_advance(rollouts, request);
	return 0;
}

int image_rollout_request(struct image_rollouts *rollouts, const char *by,
			  const struct message_image_order *message,
			  struct strings *chosen, struct error *err)
{
	owned(strings_clear) struct strings nodes = { 0 };
	const struct image_request_kind *kind =
		image_request_kind(message->what);
	struct image_request *request = rollout_find(rollouts, message->order);

	if (rollout_check_order(rollouts, message, kind, err) < 0 ||
	    (message->nodes.count
		     ? choose_named(rollouts, &message->nodes, &nodes, err)
		     : choose_all(rollouts, message->build, &nodes, err)) < 0)
		return -1;
	if ((request && kind->durable && !request->final
		     ? rollout_begin_again(rollouts, request, message, &nodes,
					   err)
		     : rollout_begin(rollouts, message, &nodes, err)) < 0)
		return -1;
	log_info("image request=%.12s %s image=%s nodes=%zu by=%s",
		 message->order, message->what,
		 message->image ? message->image : "", nodes.count, by);
	rollouts_mark_changed(rollouts);
	*chosen = nodes;
	nodes = (struct strings){ 0 };
	return 0;
}

int image_rollout_describe(struct image_rollouts *rollouts,
			   const struct message_query *query,
			   struct image_order_info *to, struct error *err)
{
	const char *id = query->name ? query->name : "";
	const struct image_request *request = rollout_find(rollouts, id);

	if (!request)
		return error_set(err, ENOENT,
				 "no image request %.12s; after a restart, the "
				 "controller knows only requests to load, "
				 "build and pull; run the command again",
				 id);
	if (image_request_describe(request, query, to, err) < 0)
		return -1;
	for (size_t i = 0; i < to->nodes_count; i++) {
		const struct node *node =
			node_find(rollouts->with.nodes, to->nodes[i].name);

		to->nodes[i].up = node && node_peer(node);
	}
	return 0;
}
