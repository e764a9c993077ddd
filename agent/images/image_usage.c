/* image_usage.c - records which images Regatta brought here, and when jobs
 * used them.
 */
#include "agent/images/image_usage.h"

#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/list.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "images.json"
#define FILE_BYTES_MAX (8 << 20)
#define WRITE_MS 30000 /* until a new time of use is written */
#define COMING_MS 86400000

struct item {
	char *reference; /* the requested one */
	char *id;        /* NULL: it is coming */
	char *origin;    /* "": Regatta did not bring it */
	uint64_t used_ms;
};

struct items {
	struct item *items;
	size_t items_count;
};

/* clang-format off */
static const struct schema item_schema = SCHEMA(item,
	FIELD(item, reference),
	FIELD_OPTIONAL(item, id),
	FIELD(item, origin),
	FIELD_OPTIONAL(item, used_ms));
static const struct schema items_schema = SCHEMA(items,
	FIELD_MANY(items, items, item_schema));
/* clang-format on */

struct image_usage {
	sd_event *loop;
	char *path;
	struct items all;
	sd_event_source *timer;
};

/* The file. */

static int write_file(const struct image_usage *usage, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(FILE_BYTES_MAX);

	if (codec_encode(&items_schema, &usage->all, &text, err) < 0)
		return -1;
	return file_write(AT_FDCWD, usage->path, text.data, text.size, 0600, 1,
			  err);
}

static void image_usage_read_file(struct image_usage *usage)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(FILE_BYTES_MAX);
	struct error err;

	if (access(usage->path, F_OK) < 0 && errno == ENOENT)
		return;
	if (file_read(AT_FDCWD, usage->path, &text, &err) < 0 ||
	    codec_decode(&items_schema, text.data, text.size, &usage->all,
			 &err) < 0)
		log_warning("%s: %s; no image is treated as brought by Regatta",
			    usage->path, err.text);
}

static int write_run(sd_event_source *source, uint64_t usec, void *arg)
{
	const struct image_usage *usage = arg;
	struct error err;

	if (write_file(usage, &err) < 0)
		log_warning("%s: %s", usage->path, err.text);
	return 0;
}

static void write_later(struct image_usage *usage)
{
	int on = SD_EVENT_OFF;

	if (usage->timer)
		sd_event_source_get_enabled(usage->timer, &on);
	if (on == SD_EVENT_OFF)
		loop_timer(usage->loop, &usage->timer, WRITE_MS, write_run,
			   usage, NULL);
}

/* Items. */

static void image_usage_drop_at(struct image_usage *usage, size_t at)
{
	struct items *all = &usage->all;

	codec_clear(&item_schema, &all->items[at]);
	all->items_count--;
	memmove(&all->items[at], &all->items[at + 1],
		(all->items_count - at) * sizeof(*all->items));
}

static struct item *find_id(const struct image_usage *usage, const char *id)
{
	const struct items *all = &usage->all;

	for (size_t i = 0; i < all->items_count; i++)
		if (all->items[i].id && !strcmp(all->items[i].id, id))
			return &all->items[i];
	return NULL;
}

/* As the engine lists it. */
static void full_name(const char *text, char name[REFERENCE_LISTED_SIZE])
{
	struct reference reference;

	if (reference_parse(text, &reference, NULL) == 0)
		reference_listed(&reference, name);
	else
		snprintf(name, REFERENCE_LISTED_SIZE, "%s", text);
}

/* The coming item of this name. */
static struct item *find_coming(const struct image_usage *usage,
				const char *reference)
{
	const struct items *all = &usage->all;
	char name[REFERENCE_LISTED_SIZE];

	full_name(reference, name);
	for (size_t i = 0; i < all->items_count; i++)
		if (!all->items[i].id && !strcmp(all->items[i].reference, name))
			return &all->items[i];
	return NULL;
}

static void drop_item(struct image_usage *usage, const struct item *item)
{
	if (!item)
		return;
	image_usage_drop_at(usage, (size_t)(item - usage->all.items));
	write_later(usage);
}

/* Images that Regatta did not bring are forgotten first. */
static bool goes_before(const struct item *a, const struct item *b)
{
	if (!*a->origin != !*b->origin)
		return !*a->origin;
	return a->used_ms < b->used_ms;
}

static void image_usage_make_room(struct image_usage *usage)
{
	const struct items *all = &usage->all;
	size_t oldest = 0;

	if (all->items_count < IMAGE_USAGE_ITEMS_MAX)
		return;
	for (size_t i = 1; i < all->items_count; i++)
		if (goes_before(&all->items[i], &all->items[oldest]))
			oldest = i;
	image_usage_drop_at(usage, oldest);
}

/* id: NULL: not known yet. Returns NULL when memory runs out. */
static struct item *image_usage_append(struct image_usage *usage,
				       const char *reference, const char *id,
				       const char *origin)
{
	struct items *all = &usage->all;
	struct item *item;

	image_usage_make_room(usage);
	item = LIST_ADD(all->items, all->items_count, NULL);
	if (!item)
		return NULL;
	*item = (struct item){
		.reference = strdup(reference),
		.id = id ? strdup(id) : NULL,
		.origin = strdup(origin),
		.used_ms = (uint64_t)clock_wall_ms(),
	};
	if (item->reference && item->origin && !item->id == !id)
		return item;
	image_usage_drop_at(usage, all->items_count - 1);
	return NULL;
}

int image_usage_coming(struct image_usage *usage, const char *reference,
		       const char *origin, struct error *err)
{
	char name[REFERENCE_LISTED_SIZE];

	if (find_coming(usage, reference))
		return 0;
	full_name(reference, name);
	if (!image_usage_append(usage, name, NULL, origin))
		return error_nomem(err, "image");
	if (write_file(usage, err) == 0)
		return 0;
	image_usage_drop_at(usage, usage->all.items_count - 1);
	return error_prefix(err, "image %.80s", reference);
}

void image_usage_failed(struct image_usage *usage, const char *reference)
{
	drop_item(usage, find_coming(usage, reference));
}

/* The item with this id, or the coming one with this reference: it gets the id.
 */
static struct item *image_usage_settle(struct image_usage *usage,
				       const char *reference, const char *id)
{
	struct item *item = find_id(usage, id);
	struct item *coming = find_coming(usage, reference);

	if (item && coming) {
		drop_item(usage, coming);
		item = find_id(usage, id);
	} else if (coming) {
		coming->id = strdup(id);
		write_later(usage);
		item = coming;
	}
	return item;
}

void image_usage_came(struct image_usage *usage, const char *reference,
		      const char *id)
{
	image_usage_settle(usage, reference, id);
}

const char *image_usage_id(const struct image_usage *usage,
			   const char *reference)
{
	char name[REFERENCE_LISTED_SIZE];

	full_name(reference, name);
	for (size_t i = 0; i < usage->all.items_count; i++)
		if (usage->all.items[i].id &&
		    !strcmp(usage->all.items[i].reference, name))
			return usage->all.items[i].id;
	return NULL;
}

const char *image_usage_origin(const struct image_usage *usage, const char *id)
{
	const struct item *item = find_id(usage, id);

	return item ? item->origin : "";
}

void image_usage_used(struct image_usage *usage, const char *reference,
		      const char *id)
{
	struct item *item = image_usage_settle(usage, reference, id);

	if (!item)
		item = image_usage_append(usage, reference, id, "");
	if (!item)
		return;
	item->used_ms = (uint64_t)clock_wall_ms();
	write_later(usage);
}

void image_usage_tell(struct image_usage *usage, struct image_info *image)
{
	const struct strings *names[] = { &image->tags, &image->digests };
	/* A loaded image was entered by its id. */
	struct item *item = image_usage_settle(usage, image->id, image->id);

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; !item && j < names[i]->count; j++)
			item = image_usage_settle(usage, names[i]->items[j],
						  image->id);
	if (!item)
		return;
	if (*item->origin) {
		free(image->origin);
		image->origin = strdup(item->origin);
	}
	if (!strcmp(item->origin, IMAGE_LOADED) && !image->config)
		image->config = strdup(item->reference);
	image->used_ms = item->used_ms;
}

static bool is_there(const struct item *item, const struct image_info *images,
		     size_t count)
{
	if (!item->id)
		return (uint64_t)clock_wall_ms() < item->used_ms + COMING_MS;
	for (size_t i = 0; i < count; i++)
		if (!strcmp(images[i].id, item->id))
			return true;
	return false;
}

void image_usage_keep_only(struct image_usage *usage,
			   const struct image_info *images, size_t count)
{
	for (size_t i = usage->all.items_count; i-- > 0;)
		if (!is_there(&usage->all.items[i], images, count))
			drop_item(usage, &usage->all.items[i]);
}

/* Creation and release. */

struct image_usage *image_usage_new(sd_event *loop, const char *state,
				    struct error *err)
{
	owned(image_usage_free) struct image_usage *usage =
		calloc(1, sizeof(*usage));

	if (!usage || asprintf(&usage->path, "%s/" FILE_NAME, state) < 0) {
		if (usage)
			usage->path = NULL;
		return error_null(error_nomem(err, "images"));
	}
	usage->loop = sd_event_ref(loop);
	image_usage_read_file(usage);
	return take(usage);
}

void image_usage_free(struct image_usage *usage)
{
	int on = SD_EVENT_OFF;

	if (!usage)
		return;
	if (usage->timer)
		sd_event_source_get_enabled(usage->timer, &on);
	if (on != SD_EVENT_OFF)
		write_run(NULL, 0, usage);
	loop_source_free(&usage->timer);
	codec_clear(&items_schema, &usage->all);
	sd_event_unref(usage->loop);
	free(usage->path);
	free(usage);
}
