/* image_rollout.c - carries out image orders: tells nodes, and follows their
 * progress.
 */
#include "controller/images/image_rollout.h"

#include "controller/images/image_references.h"
#include "controller/images/image_request.h"
#include "controller/images/logins.h"
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
#include <stdlib.h>
#include <string.h>

#define VENDORS "vendors/" /* folders of the images folder, by vendor */
#define GONE_NAMES_MAX 20  /* in the record of what a node removed by itself */

struct image_rollouts {
	struct image_rollouts_config with;
	char *folder;
	struct image_request *orders[IMAGE_ROLLOUT_ORDERS_MAX]; /* oldest first
								 */
	size_t count;
};

static void path_of(const struct image_rollouts *rollouts,
		    const struct image_request *order, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s.json", rollouts->folder,
		 image_request_name(order));
}

static void drop(struct image_rollouts *rollouts, struct image_request *order)
{
	size_t to = 0;

	for (size_t i = 0; i < rollouts->count; i++)
		if (rollouts->orders[i] != order)
			rollouts->orders[to++] = rollouts->orders[i];
	rollouts->count = to;
	image_request_free(order);
}

static struct image_request *order_find(const struct image_rollouts *rollouts,
					const char *name)
{
	for (size_t i = 0; i < rollouts->count; i++)
		if (!strcmp(image_request_name(rollouts->orders[i]), name))
			return rollouts->orders[i];
	return NULL;
}

/* The one that goes when there are too many: it ended, or else it only asks. */
static struct image_request *oldest(const struct image_rollouts *rollouts)
{
	for (size_t i = 0; i < rollouts->count; i++)
		if (image_request_final(rollouts->orders[i]))
			return rollouts->orders[i];
	for (size_t i = 0; i < rollouts->count; i++) {
		const struct image_request_kind *kind =
			image_request_kind_of(rollouts->orders[i]);

		if (!kind->durable && !kind->one)
			return rollouts->orders[i];
	}
	return NULL;
}

/* Lists of images are large, and soon old. */
static void drop_lists(struct image_rollouts *rollouts)
{
	size_t count = 0;

	for (size_t i = rollouts->count; i-- > 0;) {
		struct image_request *order = rollouts->orders[i];

		if (image_request_has_lists(order) &&
		    ++count > IMAGE_ROLLOUT_LISTS_MAX)
			image_request_drop_lists(order);
	}
}

/* The order is moved, and freed where there is no room. */
static struct image_request *keep(struct image_rollouts *rollouts,
				  struct image_request *order,
				  struct error *err)
{
	struct image_request *old = rollouts->count >= IMAGE_ROLLOUT_ORDERS_MAX
					    ? oldest(rollouts)
					    : NULL;

	if (!order)
		return NULL;
	if (rollouts->count >= IMAGE_ROLLOUT_ORDERS_MAX && !old) {
		image_request_free(order);
		error_set(err, EBUSY,
			  "%d image requests are already in progress",
			  IMAGE_ROLLOUT_ORDERS_MAX);
		return NULL;
	}
	if (old)
		drop(rollouts, old);
	rollouts->orders[rollouts->count++] = order;
	drop_lists(rollouts);
	return order;
}

/* Anything else is a file that a controller was writing when it died. */
static bool is_order_file(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot, ".json");
}

static int load_orders(struct image_rollouts *rollouts, struct error *err)
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
		if (!is_order_file(entry->d_name))
			unlink(path);
		else if (!keep(rollouts, image_request_load(path, &why), &why))
			log_warning("image order dropped: %s: %s",
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

	if (!rollouts) {
		error_nomem(err, "image orders");
		return NULL;
	}
	rollouts->with = *config;
	if (asprintf(&rollouts->folder, "%s/image-orders", folder) < 0) {
		rollouts->folder = NULL;
		error_nomem(err, "image orders");
		return NULL;
	}
	if (file_make_folders(rollouts->folder, 0700, err) < 0 ||
	    load_orders(rollouts, err) < 0)
		return NULL;
	return take(rollouts);
}

void image_rollouts_free(struct image_rollouts *rollouts)
{
	if (!rollouts)
		return;
	while (rollouts->count)
		drop(rollouts, rollouts->orders[0]);
	free(rollouts->folder);
	free(rollouts);
}

/* Telling nodes. */

static int send_act(struct image_rollouts *rollouts, struct node *node,
		    const struct message_image_do *act, bool needs,
		    struct error *err)
{
	struct message_image_do message = *act;
	int rc;

	if (needs &&
	    image_references_list(rollouts->with.references,
				  node_view(node)->vendor, &message.needs,
				  &message.needs_count, err) < 0)
		return -1;
	message.logins = NULL;
	message.logins_count = 0;
	rc = logins_reseal(rollouts->with.logins, act->logins,
			   act->logins_count, wire_peer_public(node_peer(node)),
			   &message.logins, &message.logins_count, err);
	if (rc == 0)
		rc = wire_server_send(node_peer(node), MESSAGE_IMAGE_DO,
				      &message, NULL, 0, err);
	logins_free(message.logins, message.logins_count);
	needs_free(message.needs, message.needs_count);
	return rc;
}

static void tell(struct image_rollouts *rollouts,
		 const struct image_request *order, struct stop *stop)
{
	struct node *node = node_find(rollouts->with.nodes, stop_name(stop));
	const struct stop *asked = image_request_asked(order);
	struct error err;

	if (stop_final(stop) || !node || !node_up(node) ||
	    (asked && stop != asked))
		return;
	if (send_act(rollouts, node, image_request_operation(order),
		     image_request_kind_of(order)->needs, &err) < 0)
		stop_set(stop, "failed", err.text);
}

static void changed(struct image_rollouts *rollouts)
{
	changes_progress(rollouts->with.changes);
}

static void finish(struct image_rollouts *rollouts, struct image_request *order)
{
	char path[PATH_MAX];

	image_request_finish(order);
	path_of(rollouts, order, path);
	unlink(path);
	log_info("image order=%.12s %s is over", image_request_name(order),
		 image_request_kind_of(order)->name);
	changed(rollouts);
}

/* Where the saved image lies, or is being made, nobody can get it. */
static void lose(struct image_request *order, const char *why)
{
	log_warning("image order=%.12s node=%s failed: %s",
		    image_request_name(order),
		    stop_name(image_request_asked(order)), why);
	image_request_lose(order, why);
}

/* To save: from the node that has it; else the next one is asked. */
static void advance_one(struct image_rollouts *rollouts,
			struct image_request *order)
{
	struct stop *stop = image_request_asked(order);
	struct node *node = node_find(rollouts->with.nodes, stop_name(stop));
	uint64_t bytes;
	const char *saved = image_request_saved(order, &bytes);
	struct error err;
	int rc = 0;

	if (saved && node)
		rc = artifact_fetch_content(rollouts->with.fetches, node, saved,
					    bytes, &err);
	if (rc > 0) {
		finish(rollouts, order);
		return;
	}
	if (rc < 0)
		lose(order, err.text);
	else if (stop_is_away(stop, node && node_peer(node)) &&
		 !stop_failed(stop))
		lose(order, "out of reach");
	if (!stop_failed(stop))
		return;
	if (image_request_next(order))
		tell(rollouts, order, image_request_asked(order));
	else
		finish(rollouts, order);
}

static void advance(struct image_rollouts *rollouts,
		    struct image_request *order)
{
	if (image_request_final(order))
		return;
	if (image_request_asked(order)) {
		advance_one(rollouts, order);
		return;
	}
	for (size_t i = 0; i < image_request_stops(order); i++)
		if (!stop_final(image_request_stop_at(order, i)))
			return;
	finish(rollouts, order);
}

void image_rollout_tick(struct image_rollouts *rollouts)
{
	for (size_t i = 0; i < rollouts->count; i++)
		if (image_request_asked(rollouts->orders[i]))
			advance(rollouts, rollouts->orders[i]);
}

void image_rollout_report(struct image_rollouts *rollouts, struct node *node)
{
	for (size_t i = 0; i < rollouts->count; i++) {
		struct image_request *order = rollouts->orders[i];
		struct stop *stop = image_request_stop(order, node_name(node));

		if (stop && !image_request_final(order))
			tell(rollouts, order, stop);
	}
}

/* Nobody ordered it: what a node did by itself is recorded as its own act. */
static void note_own_act(struct image_rollouts *rollouts,
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
	cJSON_AddNumberToObject(object, "bytes", (double)state->done_bytes);
	text = cJSON_PrintUnformatted(object);
	row.request = text ? text : "{}";
	log_info("node=%s removed %zu images by itself bytes=%" PRIu64 "%s%s",
		 node_name(node), count, state->done_bytes,
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
	struct image_request *order = order_find(rollouts, state->order);
	struct stop *stop =
		order ? image_request_stop(order, node_name(node)) : NULL;

	if (!order && state->by_itself && node_peer(node))
		note_own_act(rollouts, node, state);
	if (!stop || image_request_final(order) || stop_final(stop))
		return;
	image_request_heard(order, stop, state);
	if (stop_final(stop))
		log_info("image order=%.12s node=%s %s%s%s",
			 image_request_name(order), node_name(node),
			 stop_phase(stop), stop_text(stop) ? ": " : "",
			 stop_text(stop) ? stop_text(stop) : "");
	changed(rollouts);
	advance(rollouts, order);
}

void image_rollout_room(struct image_rollouts *rollouts, struct node *node,
			const struct message_image_room *room)
{
	struct message_image_do act = { .order = room->order,
					.what = (char *)"gc" };
	struct error err;

	/* Without an answer it removes nothing. */
	if (node_up(node) && content_hash_valid(room->order) &&
	    send_act(rollouts, node, &act, true, &err) < 0)
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
		/* A second stop at a node would be waited for in vain. */
		if (!strings_has(nodes, node_name(node)) &&
		    strings_add(nodes, node_name(node), err) < 0)
			return -1;
	}
	return 0;
}

/* Whose images lie in that folder? In *vendor; "": anybody's. */
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

static int check_order(struct image_rollouts *rollouts,
		       const struct message_image_order *message,
		       const struct image_request_kind *kind, struct error *err)
{
	const struct image_request *order =
		order_find(rollouts, message->order);
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
	if (order && image_request_kind_of(order) != kind)
		return error_set(err, EEXIST,
				 "image request %.12s already exists, for %s",
				 image_request_name(order),
				 image_request_kind_of(order)->name);
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

/* Somebody ordered the same, and it is not over: for other nodes, perhaps, who
 * are not to lose it.
 */
static struct image_request *
begin_again(struct image_rollouts *rollouts, struct image_request *order,
	    const struct message_image_order *message,
	    const struct strings *nodes, struct error *err)
{
	char path[PATH_MAX];

	if (image_request_again(order, message, nodes, err) < 0)
		return NULL;
	path_of(rollouts, order, path);
	if (image_request_save(order, path, err) < 0)
		return NULL;
	for (size_t i = 0; i < nodes->count; i++)
		tell(rollouts, order,
		     image_request_stop(order, nodes->items[i]));
	advance(rollouts, order);
	return order;
}

static struct image_request *begin(struct image_rollouts *rollouts,
				   const struct image_request_kind *kind,
				   const struct message_image_order *message,
				   const struct strings *nodes,
				   struct error *err)
{
	struct image_request *order = order_find(rollouts, message->order);
	char path[PATH_MAX];

	if (order)
		drop(rollouts, order);
	order = keep(rollouts, image_request_new(kind, message, nodes, err),
		     err);
	if (!order)
		return NULL;
	path_of(rollouts, order, path);
	if (kind->durable && image_request_save(order, path, err) < 0) {
		drop(rollouts, order);
		return NULL;
	}
	for (size_t i = 0; i < image_request_stops(order); i++) {
		struct stop *stop = image_request_stop_at(order, i);
		const struct node *node =
			node_find(rollouts->with.nodes, stop_name(stop));

		if (!kind->durable && !kind->one && !(node && node_peer(node)))
			stop_set(stop, "failed", "out of reach");
		tell(rollouts, order, stop);
	}
	advance(rollouts, order);
	return order;
}

int image_rollout_order(struct image_rollouts *rollouts, const char *by,
			const struct message_image_order *message,
			struct strings *chosen, struct error *err)
{
	owned(strings_clear) struct strings nodes = { 0 };
	const struct image_request_kind *kind =
		image_request_kind(message->what);
	struct image_request *order;

	if (check_order(rollouts, message, kind, err) < 0 ||
	    (message->nodes.count
		     ? choose_named(rollouts, &message->nodes, &nodes, err)
		     : choose_all(rollouts, message->build, &nodes, err)) < 0)
		return -1;
	order = order_find(rollouts, message->order);
	order = order && kind->durable && !image_request_final(order)
			? begin_again(rollouts, order, message, &nodes, err)
			: begin(rollouts, kind, message, &nodes, err);
	if (!order)
		return -1;
	log_info("image order=%.12s %s image=%s nodes=%zu by=%s",
		 image_request_name(order), message->what,
		 message->image ? message->image : "", nodes.count, by);
	changed(rollouts);
	*chosen = nodes;
	nodes = (struct strings){ 0 };
	return 0;
}

int image_rollout_describe(struct image_rollouts *rollouts,
			   const struct message_query *query,
			   struct image_order_info *to, struct error *err)
{
	const char *name = query->name ? query->name : "";
	const struct image_request *order = order_find(rollouts, name);

	if (!order)
		return error_set(err, ENOENT,
				 "no image request %.12s; after a restart, the "
				 "controller knows only requests to load, "
				 "build and pull; run the command again",
				 name);
	if (image_request_describe(order, query, to, err) < 0)
		return -1;
	for (size_t i = 0; i < to->nodes_count; i++) {
		const struct node *node =
			node_find(rollouts->with.nodes, to->nodes[i].name);

		to->nodes[i].up = node && node_peer(node);
	}
	return 0;
}
