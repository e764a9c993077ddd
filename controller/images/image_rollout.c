/* image_rollout.c - image orders: who is told, and how far they are.
 */
#include "controller/images/image_rollout.h"

#include "controller/images/image_references.h"
#include "controller/images/image_request.h"
#include "controller/images/logins.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"
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
#define AWAY_MS 15000      /* a node that is to save is waited for */
#define GONE_NAMES_MAX 20  /* in the record of what a node removed by itself */

struct image_rollouts {
	char *folder;
	TAILQ_HEAD(orders_head, image_request) orders; /* oldest first */
	size_t count;
};

static void path_of(const struct image_rollouts *carries,
		    const struct image_request *order, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s.json", carries->folder, order->name);
}

static void drop(struct image_rollouts *carries, struct image_request *order)
{
	TAILQ_REMOVE(&carries->orders, order, entry);
	carries->count--;
	image_request_free(order);
}

static struct image_request *order_find(const struct cluster *cluster,
					const char *name)
{
	struct image_request *order;

	TAILQ_FOREACH(order, &cluster->carries->orders, entry)
	{
		if (!strcmp(order->name, name))
			return order;
	}
	return NULL;
}

/* The one that goes when there are too many: it ended, or else it only asks. */
static struct image_request *oldest(const struct image_rollouts *carries)
{
	struct image_request *order;

	TAILQ_FOREACH(order, &carries->orders, entry)
	{
		if (order->final)
			return order;
	}
	TAILQ_FOREACH(order, &carries->orders, entry)
	{
		if (!order->kind->durable && !order->kind->one)
			return order;
	}
	return NULL;
}

/* Lists of images are large, and soon old. */
static void drop_lists(struct image_rollouts *carries)
{
	struct image_request *order;
	size_t count = 0;

	TAILQ_FOREACH_REVERSE(order, &carries->orders, orders_head, entry)
	{
		bool has = false;

		for (size_t i = 0; i < order->count; i++) {
			has |= order->stops[i].images_count > 0;
			if (count >= IMAGE_ROLLOUT_LISTS_MAX)
				stop_drop_images(&order->stops[i]);
		}
		count += has;
	}
}

/* The order is moved, and freed where there is no room. */
static struct image_request *keep(struct image_rollouts *carries,
				  struct image_request *order,
				  struct error *err)
{
	struct image_request *old = carries->count >= IMAGE_ROLLOUT_ORDERS_MAX
					    ? oldest(carries)
					    : NULL;

	if (!order)
		return NULL;
	if (carries->count >= IMAGE_ROLLOUT_ORDERS_MAX && !old) {
		image_request_free(order);
		error_set(err, EBUSY, "%d image orders are under way already",
			  IMAGE_ROLLOUT_ORDERS_MAX);
		return NULL;
	}
	if (old)
		drop(carries, old);
	TAILQ_INSERT_TAIL(&carries->orders, order, entry);
	carries->count++;
	drop_lists(carries);
	return order;
}

/* Anything else is a file that a controller was writing when it died. */
static bool is_order_file(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot, ".json");
}

int image_rollout_open(struct cluster *cluster, const char *folder,
		       struct error *err)
{
	struct image_rollouts *carries = calloc(1, sizeof(*carries));
	struct dirent *entry;
	char path[PATH_MAX];
	struct error why;
	DIR *dir;

	if (!carries)
		return error_nomem(err, "image orders");
	TAILQ_INIT(&carries->orders);
	cluster->carries = carries;
	if (asprintf(&carries->folder, "%s/image-orders", folder) < 0) {
		carries->folder = NULL;
		return error_nomem(err, "image orders");
	}
	if (file_make_folders(carries->folder, 0700, err) < 0)
		return -1;
	dir = opendir(carries->folder);
	if (!dir)
		return error_errno(err, "%s", carries->folder);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", carries->folder,
			 entry->d_name);
		if (!is_order_file(entry->d_name))
			unlink(path);
		else if (!keep(carries, image_request_load(path, &why), &why))
			log_warning("image order dropped: %s: %s",
				    entry->d_name, why.text);
	}
	closedir(dir);
	return 0;
}

void image_rollout_close(struct cluster *cluster)
{
	struct image_rollouts *carries = take(cluster->carries);

	if (!carries)
		return;
	while (!TAILQ_EMPTY(&carries->orders))
		drop(carries, TAILQ_FIRST(&carries->orders));
	free(carries->folder);
	free(carries);
}

/* Telling nodes. */

static int send_act(struct cluster *cluster, struct node *node,
		    const struct message_image_do *act, bool needs,
		    struct error *err)
{
	struct message_image_do message = *act;
	int rc;

	if (needs &&
	    image_references_list(cluster, node->vendor, &message.needs,
				  &message.needs_count, err) < 0)
		return -1;
	message.logins = NULL;
	message.logins_count = 0;
	rc = logins_reseal(cluster, act->logins, act->logins_count,
			   wire_peer_public(node->peer), &message.logins,
			   &message.logins_count, err);
	if (rc == 0)
		rc = wire_server_send(node->peer, MESSAGE_IMAGE_DO, &message,
				      NULL, 0, err);
	logins_free(message.logins, message.logins_count);
	needs_free(message.needs, message.needs_count);
	return rc;
}

static void tell(struct cluster *cluster, const struct image_request *order,
		 struct stop *stop)
{
	struct node *node = node_find(cluster, stop->name);
	struct error err;

	if (stop_final(stop) || !node || !node->peer || !node->reported ||
	    (order->kind->one && stop != &order->stops[order->next]))
		return;
	if (send_act(cluster, node, &order->act, order->kind->needs, &err) < 0)
		stop_set(stop, "failed", err.text);
}

static void changed(struct cluster *cluster)
{
	cluster->progress_seq++;
	cluster->news.events = true;
}

static void finish(struct cluster *cluster, struct image_request *order)
{
	char path[PATH_MAX];

	order->final = true;
	logins_free(order->act.logins, order->act.logins_count);
	order->act.logins = NULL;
	order->act.logins_count = 0;
	path_of(cluster->carries, order, path);
	unlink(path);
	log_info("image order=%.12s %s is over", order->name,
		 order->kind->name);
	changed(cluster);
}

/* Where the saved image lies, or is being made, nobody can get it. */
static void lose(struct image_request *order, struct stop *stop,
		 const char *why)
{
	log_warning("image order=%.12s node=%s failed: %s", order->name,
		    stop->name, why);
	stop_set(stop, "failed", why);
	order->content[0] = 0;
	order->bytes = 0;
}

static bool is_away(const struct node *node, struct stop *stop)
{
	int64_t now = clock_mono_ms();

	if (node && node->peer)
		stop->away_ms = 0;
	else if (!stop->away_ms)
		stop->away_ms = now;
	return stop->away_ms && now - stop->away_ms > AWAY_MS;
}

/* To save: from the node that has it; else the next one is asked. */
static void advance_one(struct cluster *cluster, struct image_request *order)
{
	struct stop *stop = &order->stops[order->next];
	struct node *node = node_find(cluster, stop->name);
	struct error err;
	int rc = 0;

	if (*order->content && node)
		rc = artifact_fetch_content(cluster, node, order->content,
					    order->bytes, &err);
	if (rc > 0) {
		finish(cluster, order);
		return;
	}
	if (rc < 0)
		lose(order, stop, err.text);
	else if (is_away(node, stop) && strcmp(stop->phase, "failed") != 0)
		lose(order, stop, "out of reach");
	if (strcmp(stop->phase, "failed") != 0)
		return;
	if (order->next + 1 == order->count) {
		finish(cluster, order);
		return;
	}
	order->next++;
	tell(cluster, order, &order->stops[order->next]);
}

static void advance(struct cluster *cluster, struct image_request *order)
{
	if (order->final)
		return;
	if (order->kind->one) {
		advance_one(cluster, order);
		return;
	}
	for (size_t i = 0; i < order->count; i++)
		if (!stop_final(&order->stops[i]))
			return;
	finish(cluster, order);
}

void image_rollout_tick(struct cluster *cluster)
{
	struct image_request *order;

	TAILQ_FOREACH(order, &cluster->carries->orders, entry)
	{
		if (order->kind->one)
			advance(cluster, order);
	}
}

void image_rollout_report(struct cluster *cluster, struct node *node)
{
	struct image_request *order;

	TAILQ_FOREACH(order, &cluster->carries->orders, entry)
	{
		struct stop *stop = image_request_stop(order, node->name);

		if (stop && !order->final)
			tell(cluster, order, stop);
	}
}

/* Nobody ordered it: what a node did by itself is recorded as its own act. */
static void note_own_act(struct cluster *cluster, const struct node *node,
			 const struct message_image_state *state)
{
	cJSON *object = cJSON_CreateObject();
	cJSON *names = cJSON_AddArrayToObject(object, "images");
	struct audit_row row = {
		.time_ms = clock_wall_ms(),
		.who = node->name,
		.role = role_name(ROLE_AGENT),
		.address = wire_peer_address(node->peer),
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
		 node->name, count, state->done_bytes, row.refusal ? ": " : "",
		 row.refusal ? row.refusal : "");
	if ((count || row.refusal) &&
	    store_put_audit(cluster->store, &row, &err) < 0)
		log_error("audit: %s", err.text);
	cJSON_free(text);
	cJSON_Delete(object);
}

void image_rollout_state(struct cluster *cluster, struct node *node,
			 struct message_image_state *state)
{
	struct image_request *order = order_find(cluster, state->order);
	struct stop *stop =
		order ? image_request_stop(order, node->name) : NULL;

	if (!order && state->by_itself && node->peer)
		note_own_act(cluster, node, state);
	if (!stop || order->final || stop_final(stop))
		return;
	image_request_heard(order, stop, state);
	if (stop_final(stop))
		log_info("image order=%.12s node=%s %s%s%s", order->name,
			 node->name, stop->phase, stop->text ? ": " : "",
			 stop->text ? stop->text : "");
	changed(cluster);
	advance(cluster, order);
}

void image_rollout_room(struct cluster *cluster, struct node *node,
			const struct message_image_room *room)
{
	struct message_image_do act = { .order = room->order,
					.what = (char *)"gc" };
	struct error err;

	/* Without an answer it removes nothing. */
	if (node->peer && node->reported && content_hash_valid(room->order) &&
	    send_act(cluster, node, &act, true, &err) < 0)
		log_warning("node=%s: %s", node->name, err.text);
}

/* People. */

static int choose_named(struct cluster *cluster, const struct strings *wanted,
			struct strings *nodes, struct error *err)
{
	if (wanted->count > node_count(cluster))
		return error_set(err, EINVAL,
				 "nodes: %zu names, there are %zu nodes",
				 wanted->count, node_count(cluster));
	for (size_t i = 0; i < wanted->count; i++) {
		const struct node *node = node_find(cluster, wanted->items[i]);

		if (!node)
			return error_set(err, ENOENT,
					 "no node '%.64s'; regatta nodes shows "
					 "all",
					 wanted->items[i]);
		/* A second stop at a node would be waited for in vain. */
		if (!strings_has(nodes, node->name) &&
		    strings_add(nodes, node->name, err) < 0)
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

static int choose_all(struct cluster *cluster, const char *build,
		      struct strings *nodes, struct error *err)
{
	char vendor[KEY_NAME_SIZE];
	size_t up = 0;

	vendor_of(build, vendor);
	for (size_t i = 0; i < node_count(cluster); i++) {
		const struct node *node = node_at(cluster, i);

		up += node->peer != NULL;
		if (node->peer &&
		    (!vendor[0] || !strcmp(node->vendor, vendor)) &&
		    strings_add(nodes, node->name, err) < 0)
			return -1;
	}
	if (nodes->count)
		return 0;
	return up ? error_set(err, ENOENT,
			      "no node in reach has devices of %s; regatta "
			      "vendors lists what there is, --nodes chooses "
			      "any nodes",
			      vendor)
		  : error_set(err, ENOENT, "no node is in reach");
}

static int check_order(struct cluster *cluster,
		       const struct message_image_order *message,
		       const struct image_request_kind *kind, struct error *err)
{
	const struct image_request *order = order_find(cluster, message->order);
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
	if (order && order->kind != kind)
		return error_set(err, EEXIST,
				 "image order %.12s is one to %s already",
				 order->name, order->kind->name);
	if (kind->takes_name && (!message->image || !*message->image))
		return error_set(err, EINVAL, "%s: which image?", kind->name);
	if (!strcmp(kind->name, "build") && !message->build)
		return error_set(err, EINVAL, "build: which folder?");
	if (strcmp(kind->name, "load") != 0)
		return 0;
	if (blob_store_look(blob_service_contents(cluster), message->order,
			    &bytes, &whole, err) < 0)
		return -1;
	return whole ? 0
		     : error_set(err, ENOENT,
				 "image order %.12s: its recipe is not here",
				 message->order);
}

/* Somebody ordered the same, and it is not over: for other nodes, perhaps, who
 * are not to lose it.
 */
static struct image_request *
begin_again(struct cluster *cluster, struct image_request *order,
	    const struct message_image_order *message,
	    const struct strings *nodes, struct error *err)
{
	char path[PATH_MAX];

	if (image_request_again(order, message, nodes, err) < 0)
		return NULL;
	path_of(cluster->carries, order, path);
	if (image_request_save(order, path, err) < 0)
		return NULL;
	for (size_t i = 0; i < nodes->count; i++)
		tell(cluster, order,
		     image_request_stop(order, nodes->items[i]));
	advance(cluster, order);
	return order;
}

static struct image_request *begin(struct cluster *cluster,
				   const struct image_request_kind *kind,
				   const struct message_image_order *message,
				   const struct strings *nodes,
				   struct error *err)
{
	struct image_rollouts *carries = cluster->carries;
	struct image_request *order = order_find(cluster, message->order);
	char path[PATH_MAX];

	if (order)
		drop(carries, order);
	order = keep(carries, image_request_new(kind, message, nodes, err),
		     err);
	if (!order)
		return NULL;
	path_of(carries, order, path);
	if (kind->durable && image_request_save(order, path, err) < 0) {
		drop(carries, order);
		return NULL;
	}
	for (size_t i = 0; i < order->count; i++) {
		const struct node *node =
			node_find(cluster, order->stops[i].name);

		if (!kind->durable && !kind->one && !(node && node->peer))
			stop_set(&order->stops[i], "failed", "out of reach");
		tell(cluster, order, &order->stops[i]);
	}
	advance(cluster, order);
	return order;
}

int image_rollout_order(struct cluster *cluster, const char *by,
			const struct message_image_order *message,
			struct strings *chosen, struct error *err)
{
	owned(strings_clear) struct strings nodes = { 0 };
	const struct image_request_kind *kind =
		image_request_kind(message->what);
	struct image_request *order;

	if (check_order(cluster, message, kind, err) < 0 ||
	    (message->nodes.count
		     ? choose_named(cluster, &message->nodes, &nodes, err)
		     : choose_all(cluster, message->build, &nodes, err)) < 0)
		return -1;
	order = order_find(cluster, message->order);
	order = order && kind->durable && !order->final
			? begin_again(cluster, order, message, &nodes, err)
			: begin(cluster, kind, message, &nodes, err);
	if (!order)
		return -1;
	log_info("image order=%.12s %s image=%s nodes=%zu by=%s", order->name,
		 message->what, message->image ? message->image : "",
		 nodes.count, by);
	changed(cluster);
	*chosen = nodes;
	nodes = (struct strings){ 0 };
	return 0;
}

int image_rollout_describe(struct cluster *cluster,
			   const struct message_query *query,
			   struct image_order_info *to, struct error *err)
{
	const char *name = query->name ? query->name : "";
	const struct image_request *order = order_find(cluster, name);

	if (!order)
		return error_set(err, ENOENT,
				 "no image order %.12s; a controller that was "
				 "started anew knows only those to load, build "
				 "and pull: run the command again",
				 name);
	if (image_request_describe(order, query, to, err) < 0)
		return -1;
	for (size_t i = 0; i < to->nodes_count; i++) {
		const struct node *node = node_find(cluster, to->nodes[i].name);

		to->nodes[i].up = node && node->peer;
	}
	return 0;
}
