/* collect.c - stores the files that a task collects, after its command has
 * ended.
 */
#include "agent/task/collect.h"

#include "agent/blobs/tar_ages.h"
#include "agent/blobs/tar_filter.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/blob/incoming.h"
#include "protocol/blob/pattern.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define STALL_MS 120000 /* without a byte from the engine */
#define STALLS_MAX 3    /* per path, which is then given up */
#define RETRY_MS 1000   /* while the engine is away */
#define LIST_NAME "files.json"
#define LIST_MAX (1 << 20)
#define PATH_BYTES 4096

struct collected {
	int64_t since; /* start of the command, seconds since 1970 */
	struct collected_file *files;
	size_t files_count;
};

/* clang-format off */
static const struct schema collected_schema = SCHEMA(collected,
	FIELD_OPTIONAL(collected, since),
	FIELD_MANY(collected, files, collected_file_schema));
/* clang-format on */

static void collected_clear(struct collected *list)
{
	codec_clear(&collected_schema, list);
}
OWNED_VALUE(struct collected, collected_clear)

struct collect {
	struct collect_services services;
	struct collected list;
	size_t next;         /* index of the next path */
	uint64_t left;       /* bytes that may still be collected */
	unsigned int stalls; /* of the present path */
	struct incoming *incoming;
	struct tar_filter *filter; /* of a pattern; NULL: all is taken */
	struct tar_ages ages;      /* of what is taken */
	struct engine_call *call;
	sd_event_source *timer;
	bool checking; /* all bytes are here, the hash is being made */
	bool done;
};

static int collect_save_list(struct spool *spool, const struct task_id *id,
			     const struct collected *list, struct error *err)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, LIST_MAX);
	if (codec_encode(&collected_schema, list, &text, err) < 0)
		return -1;
	return spool_write(spool, id, SPOOL_HOST, LIST_NAME, text.data,
			   text.size, err);
}

/* The absolute path, with its placeholders filled. */
static char *note_path(const struct task_spec *spec, const char *path,
		       const char *folder, const struct rendezvous *rendezvous,
		       struct error *err)
{
	owned(buffer_clear) struct buffer text;
	char *whole;

	buffer_init(&text, PATH_BYTES);
	if (command_text(spec, path, rendezvous, &text, err) < 0)
		return NULL;
	if (*text.data == '/')
		whole = buffer_take(&text);
	else if (asprintf(&whole, "%s/%s", strcmp(folder, "/") ? folder : "",
			  text.data) < 0)
		whole = NULL;
	if (!whole)
		error_nomem(err, "path");
	return whole;
}

int collect_note(struct spool *spool, const struct task_id *id,
		 const struct task_spec *spec, const char *folder,
		 const struct rendezvous *rendezvous, struct error *err)
{
	const struct strings *paths = &spec->container.collect;
	owned(collected_clear) struct collected list = { 0 };

	if (!paths->count)
		return 0;
	list.since = clock_wall_ms() / 1000;
	list.files = calloc(paths->count, sizeof(*list.files));
	if (!list.files)
		return error_nomem(err, "collect");
	for (size_t i = 0; i < paths->count; i++) {
		list.files[i].path = note_path(spec, paths->items[i], folder,
					       rendezvous, err);
		if (!list.files[i].path)
			return error_prefix(err, "collect");
		list.files_count++;
	}
	return collect_save_list(spool, id, &list, err);
}

/* Paths are collected one after another. */

static int collect_timer_run(sd_event_source *source, uint64_t usec, void *arg);

static void again_in(struct collect *collect, uint64_t delay_ms)
{
	loop_timer(collect->services.loop, &collect->timer, delay_ms,
		   collect_timer_run, collect, NULL);
}

static void drop_path(struct collect *collect)
{
	incoming_free(take(collect->incoming));
	tar_filter_free(take(collect->filter));
}

/* Record the outcome of the present path and go on. */
static void settled(struct collect *collect)
{
	const struct task_id *id = collect->services.id;
	struct error err;

	drop_path(collect);
	collect->checking = false;
	collect->stalls = 0;
	collect->next++;
	/* If this fails, a restarted agent collects the path again. */
	if (collect_save_list(collect->services.spool, id, &collect->list,
			      &err) < 0)
		log_warning("job=%" PRIu64 " rank=%u: %s", id->job, id->rank,
			    err.text);
	again_in(collect, 0);
}

static void not_there(struct collect *collect, const char *why)
{
	struct collected_file *file = &collect->list.files[collect->next];

	file->text = strdup(why);
	if (!file->text)
		again_in(collect, RETRY_MS);
	else
		settled(collect);
}

/* Note files that are older than the job, and hard links that were left out. */
static void note_warnings(struct collect *collect)
{
	const struct tar_ages *ages = &collect->ages;
	uint64_t lost =
		collect->filter ? tar_filter_links_lost(collect->filter) : 0;
	char older[80] = "", links[80] = "";

	if (ages->older)
		snprintf(older, sizeof(older),
			 "%" PRIu64 " of %" PRIu64
			 " files are older than the job",
			 ages->older, ages->files);
	if (lost)
		snprintf(links, sizeof(links),
			 "%" PRIu64 " hard links are left out: what they link "
			 "to does not match",
			 lost);
	if ((*older || *links) &&
	    asprintf(&collect->list.files[collect->next].text, "%s%s%s", older,
		     *older && *links ? "; " : "", links) < 0)
		collect->list.files[collect->next].text = NULL;
}

static void collect_check_file(struct collect *collect)
{
	struct collected_file *file = &collect->list.files[collect->next];
	char hash[CONTENT_HASH_SIZE];
	struct error err = { 0 };
	int rc = incoming_finish(collect->incoming, hash, &err);

	if (rc > 0) {
		again_in(collect, 0);
	} else if (rc < 0) {
		not_there(collect, err.text);
	} else {
		file->content = strdup(hash);
		file->bytes = incoming_length(collect->incoming);
		collect->left -= file->bytes;
		note_warnings(collect);
		settled(collect);
	}
}

/* tar_filter_out_fn */
static int keep_data(void *arg, const void *data, size_t size,
		     struct error *err)
{
	struct collect *collect = arg;

	tar_ages_feed(&collect->ages, data, size);
	if (incoming_write(collect->incoming, data, size, err) == 0)
		return 0;
	if (err && err->code == E2BIG)
		error_set(err, E2BIG,
			  "too large: more than the %" PRIu64
			  " bytes that are left of collect_limit",
			  collect->left);
	return -1;
}

/* engine_data_fn */
static int collect_take_data(void *arg, const void *data, size_t size,
			     struct error *err)
{
	struct collect *collect = arg;

	return collect->filter
		       ? tar_filter_feed(collect->filter, data, size, err)
		       : keep_data(arg, data, size, err);
}

static void got_path(void *arg, const struct error *err, cJSON *answer)
{
	struct collect *collect = arg;
	bool stalled = err && err->code == ETIMEDOUT;
	struct error wrong;

	collect->call = NULL;
	collect->stalls += stalled;
	if (!err && collect->filter &&
	    tar_filter_end(collect->filter, &wrong) < 0)
		err = &wrong;
	if (!err) {
		collect->checking = true;
		collect_check_file(collect);
	} else if (engine_away(err) && collect->stalls < STALLS_MAX) {
		drop_path(collect);
		again_in(collect, RETRY_MS);
	} else {
		not_there(collect, err->text);
	}
}

static uint64_t collect_find_limit(const struct collect *collect)
{
	uint64_t limit = collect->services.spec->container.collect_limit_bytes;

	return limit ? limit : COLLECT_LIMIT_DEFAULT;
}

/* The engine can only give a folder: the one before the pattern. */
static int begin_filter(struct collect *collect, const char *folder,
			const char *pattern, struct error *err)
{
	uint64_t limit = collect_find_limit(collect);

	if (!*folder)
		return error_set(err, EINVAL,
				 "the whole container would have to be read; "
				 "name a folder that contains it");
	collect->filter =
		tar_filter_new(pattern,
			       limit > UINT64_MAX / COLLECT_READ_FACTOR
				       ? UINT64_MAX
				       : limit * COLLECT_READ_FACTOR,
			       keep_data, collect, err);
	return collect->filter ? 0 : -1;
}

static void begin_path(struct collect *collect)
{
	const char *path = collect->list.files[collect->next].path;
	const char *pattern;
	char folder[PATH_MAX];
	struct error err = { 0 };
	int rc = 0;

	collect->ages = (struct tar_ages){ .since = collect->list.since };
	if (pattern_split(path, folder, sizeof(folder), &pattern)) {
		rc = begin_filter(collect, folder, pattern, &err);
		path = folder;
	}
	if (rc == 0)
		collect->incoming = incoming_new(collect->services.contents,
						 NULL, collect->left, &err);
	if (collect->incoming)
		collect->call =
			engine_archive_get(collect->services.engine,
					   collect->services.container, path,
					   STALL_MS, collect_take_data,
					   got_path, collect, &err);
	if (!collect->call)
		not_there(collect, err.text);
}

static int collect_timer_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct collect *collect = arg;
	const struct collected *list = &collect->list;

	if (collect->checking) {
		collect_check_file(collect);
		return 0;
	}
	while (collect->next < list->files_count &&
	       (list->files[collect->next].content ||
		list->files[collect->next].text))
		collect->next++;
	if (collect->next < list->files_count) {
		begin_path(collect);
		return 0;
	}
	collect->done = true;
	collect->services.done(collect->services.arg);
	return 0;
}

/* Contents that an earlier agent collected count, if they still exist. */
static void count_earlier(struct collect *collect)
{
	for (size_t i = 0; i < collect->list.files_count; i++) {
		struct collected_file *file = &collect->list.files[i];
		uint64_t bytes;
		bool whole;

		if (!file->content)
			continue;
		if (blob_store_look(collect->services.contents, file->content,
				    &bytes, &whole, NULL) == 0 &&
		    whole && bytes <= collect->left) {
			collect->left -= bytes;
		} else {
			free(file->content);
			file->content = NULL;
		}
	}
}

struct collect *collect_begin(const struct collect_services *services,
			      struct error *err)
{
	owned(collect_free) struct collect *collect = NULL;
	owned(buffer_clear) struct buffer text;

	err->code = 0;
	buffer_init(&text, LIST_MAX);
	if (!services->spec->container.collect.count)
		return NULL;
	collect = error_calloc(sizeof(*collect), "collect", err);
	if (!collect)
		return NULL;
	collect->services = *services;
	collect->left = collect_find_limit(collect);
	if (spool_read(services->spool, services->id, SPOOL_HOST, LIST_NAME,
		       &text, err) < 0 ||
	    codec_decode(&collected_schema, text.data, text.size,
			 &collect->list, err) < 0) {
		/* The command never started: there is nothing to collect. */
		if (err->code == ENOENT)
			err->code = 0;
		return NULL;
	}
	count_earlier(collect);
	again_in(collect, 0);
	return take(collect);
}

void collect_free(struct collect *collect)
{
	if (!collect)
		return;
	engine_call_cancel(collect->call);
	drop_path(collect);
	loop_source_free(&collect->timer);
	collected_clear(&collect->list);
	free(collect);
}

bool collect_is_done(const struct collect *collect)
{
	return collect->done;
}

int collect_list(const struct collect *collect, struct collected_file **files,
		 size_t *count)
{
	struct collected copy;

	if (codec_copy(&collected_schema, &collect->list, &copy, NULL) < 0)
		return -1;
	*files = copy.files;
	*count = copy.files_count;
	return 0;
}

void collect_touch(const struct collect *collect)
{
	for (size_t i = 0; i < collect->list.files_count; i++)
		blob_store_touch(collect->services.contents,
				 collect->list.files[i].content);
}
