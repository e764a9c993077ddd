/* images.c - image list, build, remove, gc: the images of the nodes.
 */
#include "controller/cli/commands/images.h"

#include "controller/cli/commands/rows.h"
#include "controller/cli/logins.h"
#include "protocol/base/program.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <string.h>

#define KEEP_DEFAULT 1
#define ID_DIGITS 12
#define VENDORS "vendors/"

static int images_begin(struct image_view *view, struct cli *cli,
			const char *nodes, const char *stage, struct error *err)
{
	if (image_view_init(view, cli, nodes, err) < 0 ||
	    image_view_connect(view, err) < 0)
		return -1;
	image_view_stage(view, stage);
	return 0;
}

/* Fetch the images of each node of the operation, one node after another: the
 * images of all nodes would not fit an answer.
 */
static int fetch_images(struct image_view *view,
			struct image_operation_info *image, struct error *err)
{
	for (size_t i = 0; i < image->nodes_count; i++) {
		owned(answer_clear) struct answer answer = { 0 };
		struct image_node *node = &image->nodes[i];
		struct message_query query = {
			.what = QUERY_IMAGE,
			.name = image->operation,
			.after = UINT32_MAX, /* no output */
			.keys = { &node->name, 1 },
		};
		struct image_operation_info *told;

		if (client_query(view->client, &query, &answer, err) < 0)
			return -1;
		told = image_answer(&answer);
		for (size_t k = 0; k < told->nodes_count; k++) {
			struct image_node *from = &told->nodes[k];

			if (strcmp(from->name, node->name) != 0 || node->images)
				continue;
			node->images = take(from->images);
			node->images_count = from->images_count;
			node->left_out = from->left_out;
			from->images_count = 0;
		}
	}
	return 0;
}

/* Run the operation, and fetch all images. */
static int run_images(struct image_view *view, struct image_spec *spec,
		      struct answer *answer, struct error *err)
{
	return image_view_run(view, spec, answer, err) < 0
		       ? -1
		       : fetch_images(view, image_answer(answer), err);
}

/* The rows of the tables. */

/* An image of one node (gc), or of all nodes that have it (list). */
struct image_row {
	char *name;
	struct image_info image;
	struct strings nodes;
	char *node;
	bool dry_run;
};

/* clang-format off */
#define OF_IMAGE(m) \
	{ .name = #m, .kind = FIELD_KIND_(image_row, image.m), \
	  .optional = true, .offset = offsetof(struct image_row, image.m) }

static const struct schema image_row_schema = SCHEMA(image_row,
	FIELD(image_row, name),
	OF_IMAGE(id), OF_IMAGE(config), OF_IMAGE(tags), OF_IMAGE(digests), OF_IMAGE(bytes),
	OF_IMAGE(created_ms), OF_IMAGE(used_ms), OF_IMAGE(containers),
	OF_IMAGE(origin), OF_IMAGE(needed), OF_IMAGE(removed),
	FIELD_OPTIONAL(image_row, nodes),
	FIELD_OPTIONAL(image_row, node),
	FIELD_OPTIONAL(image_row, dry_run));
/* clang-format on */

/* A row of the image, which moves into it. NULL: out of memory. */
static struct image_row *image_row_add(struct rows *rows,
				       struct image_info *image)
{
	struct image_row *list =
		reallocarray(rows->items, rows->count + 1, sizeof(*list));
	const char *name = image->tags.count      ? image->tags.items[0]
			   : image->digests.count ? image->digests.items[0]
						  : "<none>";

	if (!list)
		return NULL;
	rows->schema = &image_row_schema;
	rows->items = (char *)list;
	list += rows->count;
	*list = (struct image_row){ .name = strdup(name) };
	if (!list->name)
		return NULL;
	rows->count++;
	list->image = *image;
	*image = (struct image_info){ 0 };
	return list;
}

/* Its short id and size. */
static void image_put_facts(struct view_row *row,
			    const struct image_info *image)
{
	const char *at = strchr(image->id, ':');

	view_cell(row, NULL, "%.*s", ID_DIGITS, at ? at + 1 : image->id);
	view_text(row, human_bytes(image->bytes).text);
}

/* list */

static const char *digest_of(const char *name)
{
	const char *at = strchr(name, '@');

	return at ? at + 1 : name;
}

static bool has_digest(const struct image_info *image, const char *digest)
{
	const struct strings *digests = &image->digests;
	bool found = !strcmp(image->id, digest);

	for (size_t i = 0; !found && i < digests->count; i++)
		found = !strcmp(digest_of(digests->items[i]), digest);
	return found;
}

/* Engines call one image by different ids: by its config, or by the digest that
 * it has in registries.
 */
static bool is_same_image(const struct image_info *a,
			  const struct image_info *b)
{
	bool same = !strcmp(a->config ? a->config : a->id,
			    b->config ? b->config : b->id) ||
		    has_digest(b, a->id);

	for (size_t i = 0; !same && i < a->digests.count; i++)
		same = has_digest(b, digest_of(a->digests.items[i]));
	return same;
}

/* Add an image of a node. A row has it once, with the facts of all nodes. */
static int image_row_merge(struct rows *rows, struct image_info *image,
			   const char *node, struct error *err)
{
	struct image_row *row = (struct image_row *)rows->items;
	struct image_row *end = row ? row + rows->count : NULL;

	while (row != end && !is_same_image(&row->image, image))
		row++;
	if (row != end) {
		row->image.containers += image->containers;
		if (image->used_ms > row->image.used_ms)
			row->image.used_ms = image->used_ms;
		if (!row->image.needed)
			row->image.needed = take(image->needed);
		if (!row->image.origin)
			row->image.origin = take(image->origin);
	} else {
		row = image_row_add(rows, image);
	}
	return row ? strings_add(&row->nodes, node, err)
		   : error_nomem(err, "images");
}

static int image_row_compare(const void *a, const void *b)
{
	return strverscmp(((const struct image_row *)a)->name,
			  ((const struct image_row *)b)->name);
}

static int merge_all(struct rows *rows, struct image_operation_info *image,
		     struct error *err)
{
	for (size_t i = 0; i < image->nodes_count; i++) {
		struct image_node *node = &image->nodes[i];

		for (size_t k = 0; k < node->images_count; k++)
			if (image_row_merge(rows, &node->images[k], node->name,
					    err) < 0)
				return -1;
	}
	if (rows->count)
		qsort(rows->items, rows->count, sizeof(struct image_row),
		      image_row_compare);
	return 0;
}

static void nodes_words(const struct strings *nodes, char *to, size_t size)
{
	to[0] = 0;
	for (size_t i = 0; i < nodes->count; i++) {
		if (strlen(to) + 90 > size) {
			text_append(to, size, " and %zu more",
				    nodes->count - i);
			return;
		}
		text_append(to, size, "%s%.64s", i ? "," : "", nodes->items[i]);
	}
}

static void image_put(struct view_row *row, const void *of)
{
	const struct image_row *image = of;
	const struct image_info *info = &image->image;
	char text[300];

	if (info->tags.count > 1)
		view_cell(row, NULL, "%s (+%zu)", image->name,
			  info->tags.count - 1);
	else
		view_text(row, image->name);
	image_put_facts(row, info);
	nodes_words(&image->nodes, text, sizeof(text));
	view_text(row, text);
	view_text(row, info->origin ? info->origin : "by others");
	view_clock(row, (int64_t)info->used_ms);
	if (info->needed)
		view_text(row, info->needed);
	else if (info->containers)
		view_cell(row, NULL, "%u container%s", info->containers,
			  info->containers == 1 ? "" : "s");
	else
		view_text(row, "-");
}

static const struct view_column list_columns[] = {
	{ "IMAGE", NULL, false, 0 },   { "ID", NULL, false, 0 },
	{ "SIZE", NULL, true, 0 },     { "NODES", NULL, false, 3 },
	{ "BROUGHT", NULL, false, 1 }, { "LAST USED", NULL, false, 2 },
	{ "USE", NULL, false, 0 },     { NULL, NULL, false, 0 },
};
static const struct view list_view = { "images",     sizeof(struct image_row),
				       list_columns, image_put,
				       "no images",  true };

/* Print the errors of nodes, then the rows of all others. */
static int show_images(struct image_view *view, const struct view *how,
		       const struct image_operation_info *image,
		       const struct rows *rows, struct error *err)
{
	size_t lacking = image_view_tell(view, image, false);
	int code;

	image_view_hide(view);
	code = rows_show(view->cli, how, client_clock_ms(view->client), rows,
			 err);
	for (size_t i = 0; i < image->nodes_count; i++)
		if (image->nodes[i].left_out)
			image_view_say(view, "%s: %llu more images",
				       image->nodes[i].name,
				       (unsigned long long)image->nodes[i]
					       .left_out);
	return code == EXIT_GOOD && lacking ? EXIT_WORK_FAILED : code;
}

bool image_info_is(const struct image_info *image, const char *name)
{
	char listed[REFERENCE_LISTED_SIZE];
	struct reference wanted;

	if (reference_parse(name, &wanted, NULL) < 0)
		return false;
	reference_listed(&wanted, listed);
	return strings_has(&image->tags, listed) ||
	       strings_has(&image->digests, listed);
}

int images_ask(struct image_view *view, struct cli *cli, const char *nodes,
	       struct answer *answer, struct error *err)
{
	struct image_spec spec = { .kind = IMAGE_LIST };

	return images_begin(view, cli, nodes, "looking", err) < 0
		       ? -1
		       : run_images(view, &spec, answer, err);
}

int images_list(struct cli *cli, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	owned(image_view_clear) struct image_view view = { 0 };
	owned(rows_clear) struct rows rows = { 0 };
	const struct image_options *given = cli->given;

	if (images_ask(&view, cli, given->nodes, &answer, err) < 0 ||
	    merge_all(&rows, image_answer(&answer), err) < 0)
		return -1;
	return show_images(&view, &list_view, image_answer(&answer), &rows,
			   err);
}

/* build */

int images_build(struct cli *cli, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	owned(image_view_clear) struct image_view view = { 0 };
	const struct image_options *given = cli->given;
	const char *word = cli->args[1];
	bool vendors = strchr(word, '/') &&
		       strncmp(word, VENDORS, strlen(VENDORS)) != 0;
	char id[BLOB_HASH_SIZE], folder[300];
	owned(logins_clear) struct logins logins = { 0 };
	struct image_spec spec = {
		.kind = IMAGE_ENSURE,
		.id = id,
		.image = (char *)given->tag,
		.build = folder,
	};
	const struct strings none = { 0 };
	const struct image_operation_info *image;
	size_t lacking;

	if (snprintf(folder, sizeof(folder), "%s%s", vendors ? VENDORS : "",
		     word) >= (int)sizeof(folder))
		return error_set(err, EINVAL, "%.80s...: the path is too long",
				 word);
	/* A job uses the same name. */
	if (!spec.image)
		spec.image = folder;
	/* The same command again shows the same build. */
	image_operation_named(id, spec.image, folder);
	if (images_begin(&view, cli, given->nodes, "building", err) < 0 ||
	    logins_collect_images(cli, view.client, &none, true, &logins, err) <
		    0)
		return -1;
	spec.logins = logins.items;
	spec.logins_count = logins.count;
	if (image_view_run(&view, &spec, &answer, err) < 0)
		return -1;
	image = image_answer(&answer);
	lacking = image_view_tell(&view, image, true);
	return image_view_end(&view, image,
			      lacking ? EXIT_WORK_FAILED : EXIT_GOOD, err);
}

/* remove */

/* A node without the image is no failure, unless no node has it. */
static int tell_removed(struct image_view *view,
			const struct image_operation_info *image,
			const char *name)
{
	size_t gone = 0, failed = 0;

	for (size_t i = 0; i < image->nodes_count; i++) {
		const struct image_node *node = &image->nodes[i];
		const char *text = image_node_text(node);

		if (!image_node_ready(node) && node->code == ENOENT) {
			image_view_say(view, "%s: no such image", node->name);
			continue;
		}
		gone += image_node_ready(node);
		failed += !image_node_ready(node);
		if (!image_node_ready(node))
			image_view_say(view, "%s: %s", node->name, text);
		else if (*text)
			image_view_say(view,
				       "%s: the name %s is removed; the image "
				       "has others",
				       node->name, text);
		else
			image_view_say(view, "%s: removed, %s freed",
				       node->name,
				       human_bytes(node->progress.done_bytes)
					       .text);
	}
	if (!gone && !failed)
		image_view_say(view, "%s is on none of these nodes", name);
	return gone && !failed ? EXIT_GOOD : EXIT_WORK_FAILED;
}

/* Find the ids that the name has on the nodes. A node that pulled the image by
 * its digest does not know the name, and removes it by id.
 */
static int find_ids(struct image_view *view, const char *word,
		    struct strings *ids, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct image_spec spec = { .kind = IMAGE_LIST };
	char tag[REFERENCE_MAX + 200];
	const struct image_operation_info *image;
	struct reference parts;

	if (reference_parse(word, &parts, err) < 0)
		return -1;
	snprintf(tag, sizeof(tag), "%s:%s", parts.name,
		 parts.tag[0] ? parts.tag : "latest");
	if (run_images(view, &spec, &answer, err) < 0)
		return -1;
	image = image_answer(&answer);
	for (size_t i = 0; i < image->nodes_count; i++) {
		const struct image_node *node = &image->nodes[i];

		for (size_t k = 0; k < node->images_count; k++)
			if (strings_has(&node->images[k].tags, tag) &&
			    strings_add(ids, node->images[k].id, err) < 0)
				return -1;
	}
	return 0;
}

int images_remove(struct cli *cli, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	owned(image_view_clear) struct image_view view = { 0 };
	owned(strings_clear) struct strings ids = { 0 };
	const struct image_options *given = cli->given;
	struct image_spec spec = { .kind = IMAGE_REMOVE,
				   .image = cli->args[1] };

	if (images_begin(&view, cli, given->nodes, "removing", err) < 0 ||
	    find_ids(&view, cli->args[1], &ids, err) < 0)
		return -1;
	spec.ids = ids;
	if (run_images(&view, &spec, &answer, err) < 0)
		return -1;
	return image_view_end(&view, image_answer(&answer),
			      tell_removed(&view, image_answer(&answer),
					   cli->args[1]),
			      err);
}

/* gc */

static void gc_put(struct view_row *row, const void *of)
{
	const struct image_row *image = of;
	const char *needed = image->image.needed;

	view_text(row, image->node);
	view_text(row, image->name);
	image_put_facts(row, &image->image);
	view_clock(row, (int64_t)image->image.used_ms);
	if (image->image.removed)
		view_cell(row, MARK(.colour = YELLOW), "%s",
			  image->dry_run ? "would go" : "removed");
	else
		view_cell(row, NULL, "stays%s%s", needed ? ": " : "",
			  needed ? needed : "");
}

static const struct view_column gc_columns[] = {
	{ "NODE", NULL, false, 0 },      { "IMAGE", NULL, false, 0 },
	{ "ID", NULL, false, 1 },        { "SIZE", NULL, true, 0 },
	{ "LAST USED", NULL, false, 2 }, { "RESULT", NULL, false, 0 },
	{ NULL, NULL, false, 0 },
};
static const struct view gc_view = {
	"images", sizeof(struct image_row),         gc_columns,
	gc_put,   "no images that Regatta brought", true
};

/* Add the rows of all nodes, and print a message about each node. */
static int gc_rows(struct image_view *view, struct image_operation_info *image,
		   bool dry_run, struct rows *rows, struct error *err)
{
	for (size_t i = 0; i < image->nodes_count; i++) {
		struct image_node *node = &image->nodes[i];
		size_t gone = 0;

		for (size_t k = 0; k < node->images_count; k++) {
			struct image_row *row =
				image_row_add(rows, &node->images[k]);

			if (!row || !(row->node = strdup(node->name)))
				return error_nomem(err, "images");
			row->dry_run = dry_run;
			gone += row->image.removed;
		}
		if (image_node_ready(node))
			image_view_say(view, "%s: %zu image%s %s, %s%s",
				       node->name, gone, gone == 1 ? "" : "s",
				       dry_run ? "would go" : "removed",
				       dry_run ? "at most " : "",
				       human_bytes(node->progress.done_bytes)
					       .text);
	}
	return 0;
}

int images_gc(struct cli *cli, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	owned(image_view_clear) struct image_view view = { 0 };
	owned(rows_clear) struct rows rows = { 0 };
	const struct image_options *options = cli->given;
	struct image_spec spec = {
		.kind = IMAGE_PRUNE,
		.keep = options->keep_images == OPTION_NONE
				? KEEP_DEFAULT
				: (uint32_t)options->keep_images,
		.floor_bytes = options->floor.bytes,
		.floor_percent = options->floor.percent,
		.dry_run = options->dry_run,
	};

	if (images_begin(&view, cli, options->nodes, "removing", err) < 0 ||
	    run_images(&view, &spec, &answer, err) < 0 ||
	    gc_rows(&view, image_answer(&answer), options->dry_run, &rows,
		    err) < 0)
		return -1;
	return show_images(&view, &gc_view, image_answer(&answer), &rows, err);
}
