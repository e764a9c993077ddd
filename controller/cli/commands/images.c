/* images.c - image list, build, remove, gc: the images of the nodes.
 */
#include "controller/cli/commands/images.h"

#include "controller/cli/commands/image_options.h"
#include "controller/cli/commands/imageview.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/json.h"
#include "controller/cli/logins.h"
#include "protocol/base/program.h"
#include "protocol/config/free_space.h"
#include "protocol/registry/login.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define KEEP_DEFAULT 1
#define ID_DIGITS 12
#define VENDORS "vendors/"

static int begin(struct image_view *view, struct cli *cli, const char *stage,
		 struct error *err)
{
	if (image_view_init(view, cli, err) < 0 ||
	    image_view_connect(view, err) < 0)
		return -1;
	image_view_stage(view, stage);
	return 0;
}

static int order(struct image_view *view, struct cli *cli,
		 struct message_image_order *message, const char *stage,
		 struct answer *answer, struct error *err)
{
	return begin(view, cli, stage, err) < 0
		       ? -1
		       : image_view_order(view, message, answer, err);
}

/* The images of each node, one node after another: of all together they would
 * not fit an answer. They come to be the members "images" of the nodes.
 */
static int fetch_images(struct image_view *view, cJSON *image,
			struct error *err)
{
	cJSON *node;

	cJSON_ArrayForEach(node,
			   cJSON_GetObjectItemCaseSensitive(image, "nodes"))
	{
		owned(answer_clear) struct answer answer = { 0 };
		char *name = (char *)json_text(node, "name");
		struct message_query query = {
			.what = QUERY_IMAGE,
			.name = (char *)json_text(image, "order"),
			.after = UINT32_MAX, /* no output */
			.keys = { &name, 1 },
		};
		const cJSON *item;

		if (client_query(view->client, &query, &answer, err) < 0)
			return -1;
		cJSON_ArrayForEach(item,
				   json_list(json_get(answer.body, "image"),
					     "nodes"))
		{
			cJSON *images = cJSON_DetachItemFromObjectCaseSensitive(
				(cJSON *)item, "images");

			if (strcmp(json_text(item, "name"), name) != 0 ||
			    !images) {
				cJSON_Delete(images);
				continue;
			}
			cJSON_AddNumberToObject(node, "left_out",
						(double)json_u64(item,
								 "left_out"));
			cJSON_AddItemToObject(node, "images", images);
		}
	}
	return 0;
}

/* What people see of an image. */

static const char *name_of(const cJSON *image)
{
	const cJSON *first = json_list(image, "tags");

	if (!first || !first->child)
		first = json_list(image, "digests");
	return first && cJSON_IsString(first->child) ? first->child->valuestring
						     : "<none>";
}

static const char *short_id(const cJSON *image, char to[ID_DIGITS + 1])
{
	const char *id = json_text(image, "id");
	const char *at = strchr(id, ':');

	snprintf(to, ID_DIGITS + 1, "%s", at ? at + 1 : id);
	return to;
}

/* list */

/* One image, wherever it is: the first node's, with "nodes" and "used_ms". */
static cJSON *merged(cJSON *rows, const cJSON *image)
{
	cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		if (!strcmp(json_text(row, "id"), json_text(image, "id")))
			return row;
	}
	row = cJSON_Duplicate(image, true);
	cJSON_AddArrayToObject(row, "nodes");
	cJSON_AddItemToArray(rows, row);
	return row;
}

static void merge(cJSON *row, const cJSON *image, const char *node)
{
	cJSON *nodes = cJSON_GetObjectItemCaseSensitive(row, "nodes");
	uint64_t containers = json_u64(row, "containers");

	if (cJSON_GetArraySize(nodes) > 0)
		containers += json_u64(image, "containers");
	cJSON_DeleteItemFromObjectCaseSensitive(row, "containers");
	cJSON_AddNumberToObject(row, "containers", (double)containers);
	cJSON_AddItemToArray(nodes, cJSON_CreateString(node));
	if (json_u64(image, "used_ms") > json_u64(row, "used_ms")) {
		cJSON_DeleteItemFromObjectCaseSensitive(row, "used_ms");
		cJSON_AddNumberToObject(row, "used_ms",
					json_double(image, "used_ms"));
	}
	if (!*json_text(row, "needed") && *json_text(image, "needed")) {
		cJSON_DeleteItemFromObjectCaseSensitive(row, "needed");
		cJSON_AddStringToObject(row, "needed",
					json_text(image, "needed"));
	}
	if (!*json_text(row, "origin") && *json_text(image, "origin")) {
		cJSON_DeleteItemFromObjectCaseSensitive(row, "origin");
		cJSON_AddStringToObject(row, "origin",
					json_text(image, "origin"));
	}
}

static cJSON *merge_all(const cJSON *image)
{
	cJSON *rows = cJSON_CreateArray();
	const cJSON *node, *item;

	cJSON_ArrayForEach(node, json_list(image, "nodes"))
	{
		cJSON_ArrayForEach(item, json_list(node, "images"))
		{
			cJSON *row = merged(rows, item);

			cJSON_DeleteItemFromObjectCaseSensitive(row, "name");
			cJSON_AddStringToObject(row, "name", name_of(row));
			merge(row, item, json_text(node, "name"));
		}
	}
	json_sort(rows, "name");
	return rows;
}

static void nodes_words(const cJSON *row, char *to, size_t size)
{
	size_t used = 0;
	const cJSON *node;

	to[0] = 0;
	cJSON_ArrayForEach(node, json_list(row, "nodes"))
	{
		size_t left = size - used;

		if (left < 90) {
			snprintf(to + used, left, " and %d more",
				 cJSON_GetArraySize(json_list(row, "nodes")));
			return;
		}
		used += (size_t)snprintf(to + used, left, "%s%.64s",
					 used ? "," : "",
					 cJSON_IsString(node)
						 ? node->valuestring
						 : "?");
	}
}

static void use_words(const cJSON *row, char *to, size_t size)
{
	unsigned long long count = json_u64(row, "containers");

	if (*json_text(row, "needed"))
		snprintf(to, size, "%s", json_text(row, "needed"));
	else if (count)
		snprintf(to, size, "%llu container%s", count,
			 count == 1 ? "" : "s");
	else
		snprintf(to, size, "-");
}

static const struct column list_columns[] = {
	{ "IMAGE", false }, { "ID", false },      { "SIZE", true },
	{ "NODES", false }, { "BROUGHT", false }, { "LAST USED", false },
	{ "USE", false },   { NULL, false },
};

static void list_row(struct table *table, const void *item, int64_t now_ms)
{
	const cJSON *row = item;
	char id[ID_DIGITS + 1], text[300];
	const char *origin = json_text(row, "origin");
	const cJSON *tags = json_list(row, "tags");
	int more = cJSON_GetArraySize(tags) - 1;

	if (more > 0)
		table_cell(table, PLAIN, "%s (+%d)", json_text(row, "name"),
			   more);
	else
		table_cell(table, PLAIN, "%s", json_text(row, "name"));
	table_cell(table, PLAIN, "%s", short_id(row, id));
	table_cell(table, PLAIN, "%s",
		   human_bytes(json_u64(row, "bytes"), text));
	nodes_words(row, text, sizeof(text));
	table_cell(table, PLAIN, "%s", text);
	table_cell(table, PLAIN, "%s", *origin ? origin : "by others");
	table_cell(table, PLAIN, "%s",
		   human_clock((int64_t)json_u64(row, "used_ms"), text));
	use_words(row, text, sizeof(text));
	table_cell(table, PLAIN, "%s", text);
}

static const struct rows_view list_view = { "images", list_columns, list_row,
					    "no images" };

static void tell_left_out(struct image_view *view, const cJSON *image)
{
	const cJSON *node;

	cJSON_ArrayForEach(node, json_list(image, "nodes"))
	{
		unsigned long long count = json_u64(node, "left_out");

		if (count)
			image_view_say(view, "%s: %llu more images",
				       json_text(node, "name"), count);
	}
}

int images_list(struct cli *cli, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	owned(image_view_clear) struct image_view view = { 0 };
	owned(json_free) cJSON *rows = NULL;
	char name[CONTENT_HASH_SIZE];
	struct message_image_order message = { .what = (char *)"list",
					       .order = name };
	size_t ready, count;
	cJSON *image;
	int code;

	image_order_name(name);
	if (order(&view, cli, &message, "looking", &answer, err) < 0)
		return -1;
	image = cJSON_GetObjectItemCaseSensitive(answer.body, "image");
	if (fetch_images(&view, image, err) < 0)
		return -1;
	ready = image_view_tell(&view, image, "ask again when it is back",
				&count);
	rows = merge_all(image);
	display_free(take(view.display));
	code = rows_show_made(cli, &list_view, view.client, rows, err);
	tell_left_out(&view, image);
	return code == EXIT_GOOD && ready < count ? EXIT_WORK_FAILED : code;
}

/* build */

static int tell_built(struct image_view *view, const cJSON *image)
{
	char size[HUMAN_SIZE];
	size_t count, ready;
	const cJSON *node;

	ready = image_view_tell(view, image, "it builds when it is back",
				&count);
	cJSON_ArrayForEach(node, json_list(image, "nodes"))
	{
		if (!strcmp(json_text(node, "phase"), "ready"))
			image_view_say(view, "%s: %s, %s",
				       json_text(node, "name"),
				       json_text(node, "text"),
				       human_bytes(json_u64(node,
							    "total_bytes"),
						   size));
	}
	return ready == count ? EXIT_GOOD : EXIT_WORK_FAILED;
}

static void order_clear(struct message_image_order *message)
{
	/* The other members are borrowed. */
	logins_free(message->logins, message->logins_count);
}
OWNED_VALUE(struct message_image_order, order_clear)

int images_build(struct cli *cli, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	owned(image_view_clear) struct image_view view = { 0 };
	const char *given = cli->args[1];
	bool vendors = strchr(given, '/') &&
		       strncmp(given, VENDORS, strlen(VENDORS)) != 0;
	char name[CONTENT_HASH_SIZE], folder[300];
	owned(order_clear) struct message_image_order message = {
		.what = (char *)"build",
		.order = name,
		.image = (char *)image_given(cli)->tag,
		.build = folder,
	};
	const struct strings none = { 0 };
	const cJSON *image;
	int code;

	if (snprintf(folder, sizeof(folder), "%s%s", vendors ? VENDORS : "",
		     given) >= (int)sizeof(folder))
		return error_set(err, EINVAL, "%.80s...: too long", given);
	/* As a job finds it. */
	if (!message.image)
		message.image = folder;
	/* The same again, and one sees the same build. */
	image_order_named(name, message.image, folder);
	if (begin(&view, cli, "building", err) < 0 ||
	    logins_collect_images(cli, view.client, &none, true,
				  &message.logins, &message.logins_count,
				  err) < 0)
		return -1;
	if (image_view_order(&view, &message, &answer, err) < 0) {
		if (err->code == EINTR)
			error_set(err, EINTR,
				  "interrupted; the nodes go on, and the same "
				  "command shows it again");
		return -1;
	}
	image = json_get(answer.body, "image");
	code = tell_built(&view, image);
	if (cli_format(cli, "json") && cli_print_json(cli, image, err) < 0)
		return -1;
	return code;
}

/* remove */

/* Not there is not there: that is what was wanted, unless it is so on all. */
static int tell_removed(struct image_view *view, const cJSON *image,
			const char *name)
{
	size_t gone = 0, failed = 0;
	char size[HUMAN_SIZE];
	const cJSON *node;

	cJSON_ArrayForEach(node, json_list(image, "nodes"))
	{
		const char *at = json_text(node, "name");
		const char *text = json_text(node, "text");

		if (!strcmp(json_text(node, "phase"), "ready")) {
			gone++;
			human_bytes(json_u64(node, "done_bytes"), size);
			if (*text)
				image_view_say(view,
					       "%s: the name %s is removed; "
					       "the image has others",
					       at, text);
			else
				image_view_say(view, "%s: removed, %s freed",
					       at, size);
		} else if (json_u64(node, "code") == ENOENT) {
			image_view_say(view, "%s: not there", at);
		} else {
			failed++;
			image_view_say(view, "%s: %s", at,
				       *text ? text : "out of reach");
		}
	}
	if (!gone && !failed)
		image_view_say(view, "%s: on none of these nodes", name);
	return gone && !failed ? EXIT_GOOD : EXIT_WORK_FAILED;
}

static bool has_tag(const cJSON *image, const char *tag)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, json_list(image, "tags"))
	{
		if (cJSON_IsString(item) && !strcmp(item->valuestring, tag))
			return true;
	}
	return false;
}

/* A node that was told by a sweep's pin what a name means has no such name:
 * what the name means on the others, it means there.
 */
static int find_ids(struct image_view *view, const char *word,
		    struct strings *ids, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	char name[CONTENT_HASH_SIZE], tag[REFERENCE_MAX + 200];
	struct message_image_order message = { .what = (char *)"list",
					       .order = name };
	const cJSON *node, *item;
	struct reference parts;
	cJSON *image;

	if (reference_parse(word, &parts, err) < 0)
		return -1;
	snprintf(tag, sizeof(tag), "%s:%s", parts.name,
		 parts.tag[0] ? parts.tag : "latest");
	image_order_name(name);
	if (image_view_order(view, &message, &answer, err) < 0)
		return -1;
	image = cJSON_GetObjectItemCaseSensitive(answer.body, "image");
	if (fetch_images(view, image, err) < 0)
		return -1;
	cJSON_ArrayForEach(node, json_list(image, "nodes"))
	{
		cJSON_ArrayForEach(item, json_list(node, "images"))
		{
			if (has_tag(item, tag) &&
			    strings_add(ids, json_text(item, "id"), err) < 0)
				return -1;
		}
	}
	return 0;
}

int images_remove(struct cli *cli, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	owned(image_view_clear) struct image_view view = { 0 };
	owned(strings_clear) struct strings ids = { 0 };
	char name[CONTENT_HASH_SIZE];
	struct message_image_order message = { .what = (char *)"remove",
					       .order = name,
					       .image = cli->args[1] };
	cJSON *image;
	int code;

	image_order_name(name);
	if (begin(&view, cli, "removing", err) < 0 ||
	    find_ids(&view, cli->args[1], &ids, err) < 0)
		return -1;
	message.ids = ids;
	if (image_view_order(&view, &message, &answer, err) < 0)
		return -1;
	image = cJSON_GetObjectItemCaseSensitive(answer.body, "image");
	if (fetch_images(&view, image, err) < 0)
		return -1;
	code = tell_removed(&view, image, cli->args[1]);
	if (cli_format(cli, "json") && cli_print_json(cli, image, err) < 0)
		return -1;
	return code;
}

/* gc */

static const struct column gc_columns[] = {
	{ "NODE", false }, { "IMAGE", false },     { "ID", false },
	{ "SIZE", true },  { "LAST USED", false }, { "RESULT", false },
	{ NULL, false },
};

static void gc_row(struct table *table, const void *item, int64_t now_ms)
{
	const cJSON *row = item;
	bool removed = json_bool(row, "removed");
	const char *needed = json_text(row, "needed");
	char id[ID_DIGITS + 1], text[HUMAN_SIZE];

	table_cell(table, PLAIN, "%s", json_text(row, "node"));
	table_cell(table, PLAIN, "%s", name_of(row));
	table_cell(table, PLAIN, "%s", short_id(row, id));
	table_cell(table, PLAIN, "%s",
		   human_bytes(json_u64(row, "bytes"), text));
	table_cell(table, PLAIN, "%s",
		   human_clock((int64_t)json_u64(row, "used_ms"), text));
	if (removed)
		table_cell(table, YELLOW, "%s",
			   json_bool(row, "dry_run") ? "would go" : "removed");
	else
		table_cell(table, PLAIN, "stays%s%s", *needed ? ": " : "",
			   needed);
}

static const struct rows_view gc_view = { "images", gc_columns, gc_row,
					  "no images that Regatta brought" };

/* Rows of all nodes, and words on each. */
static cJSON *gc_rows(struct image_view *view, const cJSON *image, bool dry_run)
{
	cJSON *rows = cJSON_CreateArray();
	const cJSON *node, *item;
	char size[HUMAN_SIZE];

	cJSON_ArrayForEach(node, json_list(image, "nodes"))
	{
		size_t gone = 0;

		cJSON_ArrayForEach(item, json_list(node, "images"))
		{
			cJSON *row = cJSON_Duplicate(item, true);

			cJSON_AddStringToObject(row, "node",
						json_text(node, "name"));
			cJSON_AddBoolToObject(row, "dry_run", dry_run);
			cJSON_AddItemToArray(rows, row);
			gone += json_bool(item, "removed");
		}
		if (!strcmp(json_text(node, "phase"), "ready"))
			image_view_say(view, "%s: %zu image%s %s, %s%s",
				       json_text(node, "name"), gone,
				       gone == 1 ? "" : "s",
				       dry_run ? "would go" : "removed",
				       dry_run ? "at most " : "",
				       human_bytes(json_u64(node, "done_bytes"),
						   size));
	}
	return rows;
}

int images_gc(struct cli *cli, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	owned(image_view_clear) struct image_view view = { 0 };
	owned(json_free) cJSON *rows = NULL;
	const struct image_options *options = image_given(cli);
	char name[CONTENT_HASH_SIZE];
	struct message_image_order message = {
		.what = (char *)"gc",
		.order = name,
		.keep = options->keep_images == OPTION_NONE
				? KEEP_DEFAULT
				: (uint32_t)options->keep_images,
		.dry_run = options->dry_run,
	};
	size_t ready, count;
	cJSON *image;
	int code;

	message.floor_bytes = options->floor.bytes;
	message.floor_percent = options->floor.percent;
	image_order_name(name);
	if (order(&view, cli, &message, "removing", &answer, err) < 0)
		return -1;
	image = cJSON_GetObjectItemCaseSensitive(answer.body, "image");
	if (fetch_images(&view, image, err) < 0)
		return -1;
	rows = gc_rows(&view, image, options->dry_run);
	ready = image_view_tell(&view, image, "nothing is removed there",
				&count);
	display_free(take(view.display));
	code = rows_show_made(cli, &gc_view, view.client, rows, err);
	tell_left_out(&view, image);
	return code == EXIT_GOOD && ready < count ? EXIT_WORK_FAILED : code;
}
