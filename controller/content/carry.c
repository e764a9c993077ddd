/* carry.c - images carried to nodes, and from them: orders and how far they
 * are.
 */
#include "controller/content/carry.h"

#include "controller/cluster/node.h"
#include "protocol/file.h"
#include "protocol/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ORDER_FILE_MAX (4 << 20)

/* What one node says of an order. */
struct stop {
	char name[KEY_NAME_SIZE];
	char phase[16]; /* "waiting", then as in message_image_state */
	uint64_t done, total;
	char *text;
};

struct order {
	char name[CONTENT_HASH_SIZE];
	bool save;
	char *image;
	struct stop *stops;
	size_t count;
	size_t next;                     /* to save: the node that is asked */
	char content[CONTENT_HASH_SIZE]; /* saved */
	uint64_t bytes;
	bool final;
	TAILQ_ENTRY(order) entry;
};

struct carries {
	char *folder;
	TAILQ_HEAD(, order) orders; /* oldest first */
	size_t count;
};

/* What lies in the folder: an order to load that is not final. */
struct stored {
	char *order;
	char *image;
	struct strings nodes;
};
/* clang-format off */
static const struct field stored_fields[] = {
	FIELD(stored, order),
	FIELD(stored, image),
	FIELD(stored, nodes),
};
static const struct schema stored_schema = SCHEMA(stored, stored_fields);
/* clang-format on */

static void stored_clear(struct stored *stored)
{
	codec_clear(&stored_schema, stored);
}
OWNED_VALUE(struct stored, stored_clear)

static bool stop_final(const struct stop *stop)
{
	return !strcmp(stop->phase, "ready") || !strcmp(stop->phase, "failed");
}

static void set_phase(struct stop *stop, const char *phase)
{
	snprintf(stop->phase, sizeof(stop->phase), "%s", phase);
}

static void path_of(const struct carries *carries, const struct order *order,
		    char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s.json", carries->folder, order->name);
}

static void order_free(struct carries *carries, struct order *order)
{
	TAILQ_REMOVE(&carries->orders, order, entry);
	carries->count--;
	for (size_t i = 0; i < order->count; i++)
		free(order->stops[i].text);
	free(order->stops);
	free(order->image);
	free(order);
}

static struct order *order_find(const struct cluster *cluster, const char *name)
{
	struct order *order;

	TAILQ_FOREACH(order, &cluster->carries->orders, entry)
	{
		if (!strcmp(order->name, name))
			return order;
	}
	return NULL;
}

static struct order *order_new(struct carries *carries, const char *name,
			       bool save, const char *image,
			       const struct strings *nodes, struct error *err)
{
	struct order *order, *old;

	TAILQ_FOREACH(old, &carries->orders, entry)
	{
		if (old->final)
			break;
	}
	if (carries->count >= CARRY_ORDERS_MAX && !old) {
		error_set(err, EBUSY, "%d image orders are under way already",
			  CARRY_ORDERS_MAX);
		return NULL;
	}
	order = calloc(1, sizeof(*order));
	if (order) {
		order->image = strdup(image);
		order->stops = calloc(nodes->count + 1, sizeof(*order->stops));
	}
	if (!order || !order->image || !order->stops) {
		free(order ? order->image : NULL);
		free(order ? order->stops : NULL);
		free(order);
		error_nomem(err, "image order");
		return NULL;
	}
	snprintf(order->name, sizeof(order->name), "%s", name);
	order->save = save;
	for (size_t i = 0; i < nodes->count; i++) {
		struct stop *stop = &order->stops[order->count++];

		snprintf(stop->name, sizeof(stop->name), "%s", nodes->items[i]);
		set_phase(stop, "waiting");
	}
	if (carries->count >= CARRY_ORDERS_MAX)
		order_free(carries, old);
	TAILQ_INSERT_TAIL(&carries->orders, order, entry);
	carries->count++;
	return order;
}

/* Keeping. */

static int save_order(const struct carries *carries, const struct order *order,
		      struct error *err)
{
	owned(stored_clear) struct stored stored = { 0 };
	owned(buffer_clear) struct buffer text;
	char path[PATH_MAX];

	buffer_init(&text, ORDER_FILE_MAX);
	stored.order = strdup(order->name);
	stored.image = strdup(order->image);
	if (!stored.order || !stored.image)
		return error_nomem(err, "image order");
	for (size_t i = 0; i < order->count; i++)
		if (!stop_final(&order->stops[i]) &&
		    strings_add(&stored.nodes, order->stops[i].name, err) < 0)
			return -1;
	if (codec_encode(&stored_schema, &stored, &text, err) < 0)
		return -1;
	path_of(carries, order, path);
	return file_write(AT_FDCWD, path, text.data, text.size, 0600, 1, err);
}

static void load_order(struct carries *carries, const char *name)
{
	owned(stored_clear) struct stored stored = { 0 };
	owned(buffer_clear) struct buffer text;
	char path[PATH_MAX];
	struct error err;

	buffer_init(&text, ORDER_FILE_MAX);
	snprintf(path, sizeof(path), "%s/%s", carries->folder, name);
	if (file_read(AT_FDCWD, path, &text, &err) < 0 ||
	    codec_decode(&stored_schema, text.data, text.size, &stored, &err) <
		    0 ||
	    (!content_hash_valid(stored.order) &&
	     error_set(&err, EPROTO, "no order")) ||
	    !order_new(carries, stored.order, false, stored.image,
		       &stored.nodes, &err))
		log_warning("image order dropped: %s: %s", name, err.text);
}

int carry_open(struct cluster *cluster, const char *folder, struct error *err)
{
	struct carries *carries = calloc(1, sizeof(*carries));
	struct dirent *entry;
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
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			load_order(carries, entry->d_name);
	closedir(dir);
	return 0;
}

void carry_close(struct cluster *cluster)
{
	struct carries *carries = take(cluster->carries);

	if (!carries)
		return;
	while (!TAILQ_EMPTY(&carries->orders))
		order_free(carries, TAILQ_FIRST(&carries->orders));
	free(carries->folder);
	free(carries);
}

/* Telling nodes. */

static void tell(struct cluster *cluster, struct order *order,
		 const struct stop *stop)
{
	struct node *node = node_find(cluster, stop->name);
	struct message_image_load load = { .recipe = order->name };
	struct message_image_save save = { order->name, order->image };
	struct error err;

	if (stop_final(stop) || !node || !node->peer || !node->reported ||
	    (order->save && stop != &order->stops[order->next]))
		return;
	if (wire_server_send(node->peer,
			     order->save ? MESSAGE_IMAGE_SAVE
					 : MESSAGE_IMAGE_LOAD,
			     order->save ? (void *)&save : (void *)&load, NULL,
			     0, &err) < 0)
		log_error("node=%s: %s", node->name, err.text);
}

static void changed(struct cluster *cluster)
{
	cluster->progress_seq++;
	cluster->changed = true;
}

static void finish(struct cluster *cluster, struct order *order)
{
	char path[PATH_MAX];

	order->final = true;
	path_of(cluster->carries, order, path);
	unlink(path);
	log_info("image order=%.12s image=%s is over", order->name,
		 order->image);
	changed(cluster);
}

/* To save: from the node that has it; else the next one is asked. */
static void advance_save(struct cluster *cluster, struct order *order)
{
	struct stop *stop = &order->stops[order->next];
	struct node *node = node_find(cluster, stop->name);

	if (*order->content) {
		if (node &&
		    gather_content(cluster, node, order->content, order->bytes))
			finish(cluster, order);
		return;
	}
	if (strcmp(stop->phase, "failed") != 0)
		return;
	if (order->next + 1 == order->count) {
		finish(cluster, order);
		return;
	}
	order->next++;
	tell(cluster, order, &order->stops[order->next]);
}

static void advance(struct cluster *cluster, struct order *order)
{
	if (order->final)
		return;
	if (order->save) {
		advance_save(cluster, order);
		return;
	}
	for (size_t i = 0; i < order->count; i++)
		if (!stop_final(&order->stops[i]))
			return;
	finish(cluster, order);
}

void carry_tick(struct cluster *cluster)
{
	struct order *order;

	TAILQ_FOREACH(order, &cluster->carries->orders, entry)
	{
		if (order->save)
			advance(cluster, order);
	}
}

void carry_report(struct cluster *cluster, struct node *node)
{
	struct order *order;

	TAILQ_FOREACH(order, &cluster->carries->orders, entry)
	{
		for (size_t i = 0; i < order->count; i++)
			if (!order->final &&
			    !strcmp(order->stops[i].name, node->name))
				tell(cluster, order, &order->stops[i]);
	}
}

void carry_state(struct cluster *cluster, struct node *node,
		 const struct message_image_state *state)
{
	struct order *order = order_find(cluster, state->order);
	struct stop *stop = NULL;

	for (size_t i = 0; order && i < order->count; i++)
		if (!strcmp(order->stops[i].name, node->name))
			stop = &order->stops[i];
	if (!stop || order->final || stop_final(stop))
		return;
	set_phase(stop, state->phase);
	stop->done = state->done_bytes;
	stop->total = state->total_bytes;
	free(stop->text);
	stop->text = state->text ? strdup(state->text) : NULL;
	if (stop_final(stop))
		log_info("image order=%.12s node=%s %s%s%s", order->name,
			 node->name, stop->phase, stop->text ? ": " : "",
			 stop->text ? stop->text : "");
	if (order->save && content_hash_valid(state->content)) {
		memcpy(order->content, state->content, sizeof(order->content));
		order->bytes = state->total_bytes;
	}
	changed(cluster);
	advance(cluster, order);
}

/* People. */

static bool listed(const struct strings *nodes, const char *name)
{
	for (size_t i = 0; i < nodes->count; i++)
		if (!strcmp(nodes->items[i], name))
			return true;
	return false;
}

static int choose_nodes(struct cluster *cluster, const struct strings *wanted,
			struct strings *nodes, struct error *err)
{
	if (wanted->count > cluster->nodes_count)
		return error_set(err, EINVAL,
				 "nodes: found %zu names, there are %zu nodes",
				 wanted->count, cluster->nodes_count);
	for (size_t i = 0; i < wanted->count; i++) {
		const struct node *node = node_find(cluster, wanted->items[i]);

		if (!node)
			return error_set(err, ENOENT, "node '%.64s': not there",
					 wanted->items[i]);
		/* A second stop at a node would be waited for in vain. */
		if (!listed(nodes, node->name) &&
		    strings_add(nodes, node->name, err) < 0)
			return -1;
	}
	for (size_t i = 0; !wanted->count && i < cluster->nodes_count; i++)
		if (cluster->nodes[i]->peer &&
		    strings_add(nodes, cluster->nodes[i]->name, err) < 0)
			return -1;
	return nodes->count ? 0 : error_set(err, ENOENT, "no node is in reach");
}

static int check_order(struct cluster *cluster,
		       const struct message_image_order *message,
		       struct error *err)
{
	bool load = !strcmp(message->what, "load"), whole;
	uint64_t bytes;

	if (!load && strcmp(message->what, "save") != 0)
		return error_set(err, EINVAL,
				 "what: found '%.40s', allowed are load and "
				 "save",
				 message->what);
	if (contents_look(stock_contents(cluster), message->order, &bytes,
			  &whole, err) < 0)
		return -1;
	return !load || whole ? 0
			      : error_set(err, ENOENT,
					  "image order %.12s: its recipe is "
					  "not here",
					  message->order);
}

cJSON *carry_order(struct cluster *cluster, const char *by,
		   const struct message_image_order *message, struct error *err)
{
	owned(strings_clear) struct strings nodes = { 0 };
	struct order *order = order_find(cluster, message->order);
	cJSON *body, *list;

	if (check_order(cluster, message, err) < 0 ||
	    choose_nodes(cluster, &message->nodes, &nodes, err) < 0)
		return NULL;
	if (order)
		order_free(cluster->carries, order);
	order = order_new(cluster->carries, message->order,
			  !strcmp(message->what, "save"), message->image,
			  &nodes, err);
	if (!order)
		return NULL;
	if (!order->save && save_order(cluster->carries, order, err) < 0) {
		order_free(cluster->carries, order);
		return NULL;
	}
	log_info("image order=%.12s %s image=%s nodes=%zu by=%s", order->name,
		 message->what, order->image, order->count, by);
	body = cJSON_CreateObject();
	list = cJSON_AddArrayToObject(body, "nodes");
	for (size_t i = 0; i < order->count; i++) {
		cJSON_AddItemToArray(list,
				     cJSON_CreateString(order->stops[i].name));
		tell(cluster, order, &order->stops[i]);
	}
	changed(cluster);
	return body;
}

static cJSON *describe_stop(struct cluster *cluster, const struct stop *stop)
{
	const struct node *node = node_find(cluster, stop->name);
	cJSON *item = cJSON_CreateObject();

	cJSON_AddStringToObject(item, "name", stop->name);
	cJSON_AddBoolToObject(item, "up", node && node->peer);
	cJSON_AddStringToObject(item, "phase", stop->phase);
	cJSON_AddNumberToObject(item, "done_bytes", (double)stop->done);
	cJSON_AddNumberToObject(item, "total_bytes", (double)stop->total);
	cJSON_AddItemToObject(item, "text",
			      stop->text ? cJSON_CreateString(stop->text)
					 : cJSON_CreateNull());
	return item;
}

cJSON *carry_describe(struct cluster *cluster, const char *name,
		      struct error *err)
{
	const struct order *order = order_find(cluster, name);
	cJSON *body, *list;

	if (!order) {
		error_set(err, ENOENT, "image order %.12s: not there", name);
		return NULL;
	}
	body = cJSON_CreateObject();
	cJSON_AddStringToObject(body, "order", order->name);
	cJSON_AddStringToObject(body, "what", order->save ? "save" : "load");
	cJSON_AddStringToObject(body, "image", order->image);
	list = cJSON_AddArrayToObject(body, "nodes");
	for (size_t i = 0; i < order->count; i++)
		cJSON_AddItemToArray(list,
				     describe_stop(cluster, &order->stops[i]));
	cJSON_AddItemToObject(body, "content",
			      *order->content
				      ? cJSON_CreateString(order->content)
				      : cJSON_CreateNull());
	cJSON_AddNumberToObject(body, "bytes", (double)order->bytes);
	cJSON_AddBoolToObject(body, "final", order->final);
	return body;
}
