/* collect.c - stores the files that a task collects, after its command has
 * ended.
 */
#include "agent/task/collect.h"

#include "agent/task/mount_table.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/printable.h"
#include "protocol/base/subprocess.h"
#include "protocol/blob/incoming.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALL_MS 30000
#define CALLS_MAX 3     /* that time out */
#define RETRY_MS 1000   /* while the engine is away */
#define LAYER_MS 600000 /* to pack what is left of a layer */
#define TURN_MS 20      /* of copying, in each turn of the loop */
#define PIECE (256 << 10)
#define WHY_MAX 400
#define LIST_NAME "files.json"
#define LAYER_NAME "layer"
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
	size_t next;   /* index of the next path */
	uint64_t left; /* bytes that may still be collected */
	int tar;       /* of the present path, or -1 */
	struct incoming *incoming;
	struct engine_call *call;
	struct subprocess *layer; /* packs what is left of the container */
	unsigned int calls;       /* that timed out */
	bool layer_read;
	char lost[WHY_MAX]; /* why a path is not packed, then */
	sd_event_source *timer;
	bool checking; /* all bytes are here, the hash is being made */
	bool done;
	char piece[PIECE];
};

static int collect_save_list(struct spool *spool, const struct task_id *id,
			     const struct collected *list, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(LIST_MAX);

	if (codec_encode(&collected_schema, list, &text, err) < 0)
		return -1;
	return spool_write(spool, id, SPOOL_HOST, LIST_NAME, text.data,
			   text.size, err);
}

uint64_t collect_limit(const struct task_spec *spec)
{
	uint64_t limit = spec->container.collect_limit_bytes;

	if (!spec->container.collect.count)
		return 0;
	return limit ? limit : COLLECT_LIMIT_DEFAULT;
}

/* The absolute path, with its placeholders filled. */
static char *note_path(const struct task_spec *spec, const char *path,
		       const char *folder, const struct rendezvous *rendezvous,
		       struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(PATH_BYTES);
	char *whole;

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
		 const struct rendezvous *rendezvous, struct buffer *start,
		 struct error *err)
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
		if (buffer_printf(start, err, "collect=%s",
				  list.files[i].path) < 0 ||
		    buffer_append(start, "", 1, err) < 0)
			return -1;
	}
	if (buffer_printf(start, err, "collect_limit=%" PRIu64,
			  collect_limit(spec)) < 0 ||
	    buffer_append(start, "", 1, err) < 0)
		return -1;
	return collect_save_list(spool, id, &list, err);
}

/* Paths are collected one after another. */

static int collect_timer_run(sd_event_source *source, uint64_t usec, void *arg);

static void again_in(struct collect *collect, uint64_t delay_ms)
{
	loop_timer(collect->services.loop, &collect->timer, delay_ms,
		   collect_timer_run, collect, NULL);
}

/* What regatta-init packed the present path into. */
static void tar_name(const struct collect *collect, char *name, size_t size)
{
	snprintf(name, size, "collect-%zu.tar", collect->next);
}

static void drop_path(struct collect *collect)
{
	incoming_free(take(collect->incoming));
	if (collect->tar >= 0)
		close(take_fd(&collect->tar));
}

/* Record the outcome of the present path and go on. */
static void settled(struct collect *collect)
{
	const struct task_id *id = collect->services.id;
	char tar[40];
	struct error err;

	tar_name(collect, tar, sizeof(tar));
	drop_path(collect);
	collect->checking = false;
	collect->next++;
	/* If this fails, a restarted agent collects the path again. */
	if (collect_save_list(collect->services.spool, id, &collect->list,
			      &err) < 0)
		log_warning("job=%" PRIu64 " rank=%u: %s", id->job, id->rank,
			    err.text);
	else
		spool_drop_file(collect->services.spool, id, SPOOL_OUT, tar);
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

/* What the packer says of the present path; the command may have written it.
 * False: nothing.
 */
static bool packer_words(struct collect *collect, struct buffer *words)
{
	char name[40];

	snprintf(name, sizeof(name), "collect-%zu.why", collect->next);
	buffer_init(words, WHY_MAX);
	if (spool_read(collect->services.spool, collect->services.id, SPOOL_OUT,
		       name, words, NULL) < 0 ||
	    !words->size)
		return false;
	printable(words->data, words->size);
	return true;
}

static void collect_check_file(struct collect *collect)
{
	struct collected_file *file = &collect->list.files[collect->next];
	owned(buffer_clear) struct buffer words = { 0 };
	char hash[BLOB_HASH_SIZE];
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
		if (packer_words(collect, &words))
			file->text = strdup(words.data);
		settled(collect);
	}
}

/* Copy a part of the tar file. */
static void collect_copy(struct collect *collect)
{
	int64_t end = clock_mono_ms() + TURN_MS;
	struct error err;
	ssize_t got;

	do {
		got = read(collect->tar, collect->piece, PIECE);
		if (got < 0)
			error_errno(&err, "tar file");
		else if (got > 0 &&
			 incoming_write(collect->incoming, collect->piece,
					(size_t)got, &err) < 0)
			got = -1;
	} while (got > 0 && clock_mono_ms() < end);
	collect->checking = got == 0;
	if (got < 0)
		not_there(collect, err.text);
	else
		again_in(collect, 0);
}

/* What regatta-init did not pack. */

void collect_note_layer(struct spool *spool, const struct task_id *id,
			pid_t pid)
{
	owned(mount_table_clear) struct mount_table table = { 0 };
	owned_free char *layer = NULL;
	owned_fd int process = -1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process >= 0 && mount_table_read(process, &table, NULL) == 0)
		layer = mount_table_layer(&table);
	if (layer)
		spool_write(spool, id, SPOOL_HOST, LAYER_NAME, layer,
			    strlen(layer), NULL);
}

static void layer_lost(struct collect *collect, const char *why)
{
	collect->layer_read = true;
	snprintf(collect->lost, sizeof(collect->lost),
		 "regatta-init was killed before it packed the path: %s", why);
	again_in(collect, 0);
}

static void layer_packed(void *arg, const struct error *err,
			 const struct subprocess_output *output)
{
	struct collect *collect = arg;

	collect->layer = NULL;
	layer_lost(collect, err                 ? err->text
			    : output->exit_code ? output->complaint
						: "nothing of it is there");
}

/* regatta-init pack OUT ROOT LIMIT SINCE PATH... (agent/init/init.h) */
static int layer_pack(struct collect *collect, const char *layer,
		      struct error *err)
{
	const struct collect_services *services = &collect->services;
	const struct collected *list = &collect->list;
	owned(strings_clear) struct strings argv = { 0 };
	struct subprocess_command command = {
		.argv = &argv,
		.timeout_ms = LAYER_MS,
		.output_max = PATH_MAX,
	};
	char out[PATH_MAX];

	spool_path(services->spool, services->id, SPOOL_OUT, out);
	if (strings_add(&argv, services->init_program, err) < 0 ||
	    strings_add(&argv, "pack", err) < 0 ||
	    strings_add(&argv, out, err) < 0 ||
	    strings_add(&argv, layer, err) < 0 ||
	    strings_printf(&argv, err, "%" PRIu64, collect->left) < 0 ||
	    strings_printf(&argv, err, "%" PRId64, list->since) < 0)
		return -1;
	for (size_t i = 0; i < list->files_count; i++)
		if (strings_add(&argv, list->files[i].path, err) < 0)
			return -1;
	collect->layer = subprocess_run(services->loop, &command, layer_packed,
					collect, err);
	return collect->layer ? 0 : -1;
}

static void layer_asked(void *arg, const struct error *err, cJSON *answer)
{
	struct collect *collect = arg;
	const struct collect_services *services = &collect->services;
	const char *layer =
		json_get_text_or_empty(json_get(json_get(answer, "GraphDriver"),
						"Data"),
				       "UpperDir");
	owned(buffer_clear) struct buffer noted = BUFFER_INIT(PATH_MAX);
	struct error wrong;

	if (*layer != '/' &&
	    spool_read(services->spool, services->id, SPOOL_HOST, LAYER_NAME,
		       &noted, NULL) == 0 &&
	    noted.size)
		layer = noted.data;

	collect->call = NULL;
	collect->calls += err && err->code == ETIMEDOUT;
	if (err && engine_away(err) && collect->calls < CALLS_MAX)
		again_in(collect, RETRY_MS);
	else if (err)
		layer_lost(collect, err->text);
	else if (*layer != '/')
		layer_lost(collect, "neither the engine nor the kernel says "
				    "where the container's own layer is");
	else if (layer_pack(collect, layer, &wrong) < 0)
		layer_lost(collect, wrong.text);
}

static void layer_ask(struct collect *collect)
{
	struct error err;

	collect->call =
		engine_container_inspect(collect->services.engine,
					 collect->services.container, CALL_MS,
					 layer_asked, collect, &err);
	if (!collect->call)
		layer_lost(collect, err.text);
}

static void nothing_packed(struct collect *collect)
{
	owned(buffer_clear) struct buffer words = { 0 };

	if (packer_words(collect, &words))
		not_there(collect, words.data);
	else if (collect->layer_read)
		not_there(collect, collect->lost);
	else
		layer_ask(collect);
}

static void begin_path(struct collect *collect)
{
	const struct collect_services *services = &collect->services;
	struct error err = { 0 };
	char name[40];

	tar_name(collect, name, sizeof(name));
	collect->tar = spool_open_file(services->spool, services->id, SPOOL_OUT,
				       name, &err);
	if (collect->tar < 0 && err.code == ENOENT) {
		nothing_packed(collect);
		return;
	}
	if (collect->tar >= 0)
		collect->incoming = incoming_new(services->blobs, NULL,
						 collect->left, &err);
	if (collect->incoming)
		again_in(collect, 0);
	else
		not_there(collect, err.code == ELOOP || err.code == EINVAL
					   ? "the command left something else "
					     "in the place of the tar file"
					   : err.text);
}

static int collect_timer_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct collect *collect = arg;
	const struct collected *list = &collect->list;

	if (collect->checking) {
		collect_check_file(collect);
		return 0;
	}
	if (collect->tar >= 0) {
		collect_copy(collect);
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
		if (blob_store_look(collect->services.blobs, file->content,
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
	owned(buffer_clear) struct buffer text = BUFFER_INIT(LIST_MAX);

	err->code = 0;
	if (!services->spec->container.collect.count)
		return NULL;
	collect = error_calloc(sizeof(*collect), "collect", err);
	if (!collect)
		return NULL;
	collect->services = *services;
	collect->tar = -1;
	collect->left = collect_limit(services->spec);
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
	subprocess_cancel(collect->layer);
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
		blob_store_touch(collect->services.blobs,
				 collect->list.files[i].content);
}
