/* standin_engine.c - an engine and its images that exist only in memory.
 */
#include "tests/bench/standin.h"
#include "protocol/container.h"
#include "agent/engine/image.h"
#include "agent/init/init.h"
#include "protocol/file.h"
#include "tests/bench/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>

struct container {
	char name[CONTAINER_NAME_MAX];
	char out[PATH_MAX / 4]; /* folder on the host */
	uint64_t job;
	uint32_t rank;
	bool running;
	int64_t started_ms;
	TAILQ_ENTRY(container) next;
};

/* A call, or an image that is waited for, whose answer comes in a later turn.
 */
struct engine_call {
	struct engine *engine;
	engine_done_fn *done;
	image_done_fn *image_done;
	void *arg;
	cJSON *answer;
	int code; /* errno value; 0: success */
	char reference[128];
	TAILQ_ENTRY(engine_call) next;
};

struct engine {
	sd_event *loop;
	sd_event_source *run;
	struct standin *standin;
	TAILQ_HEAD(, container) containers;
	TAILQ_HEAD(, engine_call) calls;
};

struct images {
	struct engine *engine;
};

/* What the benchmark sees. */

static size_t standin_size(size_t jobs_max)
{
	return sizeof(struct standin) + jobs_max * sizeof(int64_t);
}

struct standin *standin_new(size_t jobs_max)
{
	struct standin *standin =
		mmap(NULL, standin_size(jobs_max), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (standin == MAP_FAILED)
		return NULL;
	standin->jobs_max = jobs_max;
	return standin;
}

void standin_free(struct standin *standin)
{
	if (standin)
		munmap(standin, standin_size(standin->jobs_max));
}

void standin_host(const struct standin *standin, char host[STANDIN_HOST_SIZE])
{
	snprintf(host, STANDIN_HOST_SIZE, "standin:%" PRIxPTR,
		 (uintptr_t)standin);
}

/* Answers. */

static const struct image *the_image(const char *reference, struct image *image)
{
	*image = (struct image){
		.id = "sha256:000000000000000000000000000000000000000000000000"
		      "0000000000000000",
		.reference = reference,
		.user = "",
		.workdir = "",
	};
	return image;
}

static void answer(struct engine_call *call)
{
	struct image image;
	struct error err;

	TAILQ_REMOVE(&call->engine->calls, call, next);
	if (call->code)
		error_set(&err, call->code, "stand-in: %s",
			  strerror(call->code));
	if (call->image_done)
		call->image_done(call->arg, NULL,
				 the_image(call->reference, &image));
	else
		call->done(call->arg, call->code ? &err : NULL, call->answer);
	cJSON_Delete(call->answer);
	free(call);
}

/* One a turn, so that a callback may cancel any other. */
static int run(sd_event_source *source, void *arg)
{
	struct engine *engine = arg;
	struct engine_call *call = TAILQ_FIRST(&engine->calls);

	if (call)
		answer(call);
	if (!TAILQ_EMPTY(&engine->calls))
		sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

static struct engine_call *call_new(struct engine *engine, engine_done_fn *done,
				    void *arg, int code, cJSON *body,
				    struct error *err)
{
	struct engine_call *call = calloc(1, sizeof(*call));

	if (!call) {
		cJSON_Delete(body);
		error_nomem(err, "call");
		return NULL;
	}
	call->engine = engine;
	call->done = done;
	call->arg = arg;
	call->code = code;
	call->answer = body;
	TAILQ_INSERT_TAIL(&engine->calls, call, next);
	sd_event_source_set_enabled(engine->run, SD_EVENT_ONESHOT);
	return call;
}

void engine_call_cancel(struct engine_call *call)
{
	if (!call)
		return;
	TAILQ_REMOVE(&call->engine->calls, call, next);
	cJSON_Delete(call->answer);
	free(call);
}

/* The engine. */

struct engine *engine_new(sd_event *loop, const char *host,
			  const char *tls_folder, struct error *err)
{
	owned(engine_free) struct engine *engine = calloc(1, sizeof(*engine));
	uintptr_t standin;

	if (!engine) {
		error_nomem(err, "engine");
		return NULL;
	}
	TAILQ_INIT(&engine->containers);
	TAILQ_INIT(&engine->calls);
	if (sscanf(host, "standin:%" SCNxPTR, &standin) != 1) {
		error_set(err, EINVAL, "%s: not a stand-in", host);
		return NULL;
	}
	engine->standin = (struct standin *)standin; /* NOLINT: our own */
	engine->loop = sd_event_ref(loop);
	if (sd_event_add_defer(loop, &engine->run, run, engine) < 0 ||
	    sd_event_source_set_enabled(engine->run, SD_EVENT_OFF) < 0) {
		error_nomem(err, "engine");
		return NULL;
	}
	return take(engine);
}

static void container_drop(struct engine *engine, struct container *container)
{
	TAILQ_REMOVE(&engine->containers, container, next);
	free(container);
}

void engine_free(struct engine *engine)
{
	struct container *container;
	struct engine_call *call;

	if (!engine)
		return;
	while ((call = TAILQ_FIRST(&engine->calls)))
		engine_call_cancel(call);
	while ((container = TAILQ_FIRST(&engine->containers)))
		container_drop(engine, container);
	sd_event_source_disable_unref(engine->run);
	sd_event_unref(engine->loop);
	free(engine);
}

struct engine_call *engine_version(struct engine *engine, uint32_t timeout_ms,
				   engine_done_fn *done, void *arg,
				   struct error *err)
{
	cJSON *version = cJSON_CreateObject();

	cJSON_AddStringToObject(version, "Version", "stand-in");
	cJSON_AddStringToObject(version, "ApiVersion", "1.43");
	return call_new(engine, done, arg, 0, version, err);
}

/* Nothing outlives its agent here. */
struct engine_call *engine_container_list(struct engine *engine, bool all,
					  const struct strings *labels,
					  uint32_t timeout_ms,
					  engine_done_fn *done, void *arg,
					  struct error *err)
{
	return call_new(engine, done, arg, 0, cJSON_CreateArray(), err);
}

/* Containers. */

static struct container *find(struct engine *engine, const char *name)
{
	struct container *container;

	TAILQ_FOREACH(container, &engine->containers, next)
	{
		if (!strcmp(container->name, name))
			return container;
	}
	return NULL;
}

static const char *text_in(const cJSON *object, const char *name)
{
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(object, name));

	return text ? text : "";
}

/* Where the exit record goes, and whose it is. */
static void read_body(struct container *container, const cJSON *body)
{
	const cJSON *host =
		cJSON_GetObjectItemCaseSensitive(body, "HostConfig");
	const cJSON *labels = cJSON_GetObjectItemCaseSensitive(body, "Labels");
	const cJSON *mount;

	cJSON_ArrayForEach(mount,
			   cJSON_GetObjectItemCaseSensitive(host, "Mounts"))
	{
		if (!strcmp(text_in(mount, "Target"), INIT_OUT))
			snprintf(container->out, sizeof(container->out), "%s",
				 text_in(mount, "Source"));
	}
	container->job = strtoull(text_in(labels, LABEL_JOB), NULL, 10);
	container->rank =
		(uint32_t)strtoul(text_in(labels, LABEL_RANK), NULL, 10);
}

struct engine_call *engine_container_create(struct engine *engine,
					    const char *name, const cJSON *body,
					    uint32_t timeout_ms,
					    engine_done_fn *done, void *arg,
					    struct error *err)
{
	struct container *container;
	cJSON *made;

	if (find(engine, name))
		return call_new(engine, done, arg, EEXIST, NULL, err);
	container = calloc(1, sizeof(*container));
	if (!container) {
		error_nomem(err, "container");
		return NULL;
	}
	snprintf(container->name, sizeof(container->name), "%s", name);
	read_body(container, body);
	TAILQ_INSERT_TAIL(&engine->containers, container, next);
	made = cJSON_CreateObject();
	cJSON_AddStringToObject(made, "Id", name);
	return call_new(engine, done, arg, 0, made, err);
}

struct engine_call *engine_container_start(struct engine *engine,
					   const char *id, uint32_t timeout_ms,
					   engine_done_fn *done, void *arg,
					   struct error *err)
{
	struct container *container = find(engine, id);
	struct standin *standin = engine->standin;

	if (!container)
		return call_new(engine, done, arg, ENOENT, NULL, err);
	if (!container->running && container->job < standin->jobs_max)
		standin->started_ns[container->job] = clock_ns();
	standin->started++;
	container->running = true;
	container->started_ms = clock_wall_ms();
	return call_new(engine, done, arg, 0, NULL, err);
}

static int write_log(const struct container *container, uint32_t size,
		     struct error *err)
{
	char path[PATH_MAX];
	char text[4096];

	if (size > sizeof(text))
		size = sizeof(text);
	memset(text, 'x', size);
	text[size - 1] = '\n';
	snprintf(path, sizeof(path), "%s/rank-%u.log", container->out,
		 container->rank);
	return file_write(AT_FDCWD, path, text, size, 0644, 0, err);
}

/* The command ends, as regatta-init would tell it. */
static int end(const struct engine *engine, struct container *container,
	       struct error *err)
{
	uint32_t log_bytes = engine->standin->log_bytes;
	long long now = clock_wall_ms();
	char path[PATH_MAX], text[600];
	int size;

	if (!container->running)
		return 0;
	container->running = false;
	if (log_bytes && write_log(container, log_bytes, err) < 0)
		return -1;
	size = snprintf(
		text, sizeof(text),
		"{\"version\": 1, \"exit_code\": 0, \"signal\": 0, "
		"\"started_ms\": %lld, \"ended_ms\": %lld, \"oom_kills\": 0, "
		"\"memory_peak_bytes\": 0, \"processes\": [{\"rank\": %u, "
		"\"exit_code\": 0, \"signal\": 0, \"ended_ms\": %lld, "
		"\"max_rss_kib\": 0, \"user_ms\": 0, \"system_ms\": 0, "
		"\"log_bytes\": %u}]}",
		(long long)container->started_ms, now, container->rank, now,
		log_bytes);
	snprintf(path, sizeof(path), "%s/exit.json", container->out);
	return file_write(AT_FDCWD, path, text, (size_t)size, 0644, 0, err);
}

struct engine_call *engine_container_wait(struct engine *engine, const char *id,
					  engine_done_fn *done, void *arg,
					  struct error *err)
{
	struct container *container = find(engine, id);
	cJSON *code;

	if (!container)
		return call_new(engine, done, arg, ENOENT, NULL, err);
	if (end(engine, container, err) < 0)
		return NULL;
	code = cJSON_CreateObject();
	cJSON_AddNumberToObject(code, "StatusCode", 0);
	return call_new(engine, done, arg, 0, code, err);
}

struct engine_call *engine_container_stop(struct engine *engine, const char *id,
					  uint32_t grace_s, uint32_t timeout_ms,
					  engine_done_fn *done, void *arg,
					  struct error *err)
{
	struct container *container = find(engine, id);

	if (container && end(engine, container, err) < 0)
		return NULL;
	return call_new(engine, done, arg, container ? 0 : ENOENT, NULL, err);
}

struct engine_call *engine_container_inspect(struct engine *engine,
					     const char *id,
					     uint32_t timeout_ms,
					     engine_done_fn *done, void *arg,
					     struct error *err)
{
	const struct container *container = find(engine, id);
	cJSON *all, *state;

	if (!container)
		return call_new(engine, done, arg, ENOENT, NULL, err);
	all = cJSON_CreateObject();
	state = cJSON_AddObjectToObject(all, "State");
	cJSON_AddStringToObject(state, "Status",
				container->running      ? "running"
				: container->started_ms ? "exited"
							: "created");
	cJSON_AddNumberToObject(state, "ExitCode", 0);
	return call_new(engine, done, arg, 0, all, err);
}

struct engine_call *engine_container_remove(struct engine *engine,
					    const char *id, bool force,
					    bool volumes, uint32_t timeout_ms,
					    engine_done_fn *done, void *arg,
					    struct error *err)
{
	struct container *container = find(engine, id);

	if (!container)
		return call_new(engine, done, arg, ENOENT, NULL, err);
	container_drop(engine, container);
	engine->standin->removed++;
	engine->standin->removed_ns = clock_ns();
	return call_new(engine, done, arg, 0, NULL, err);
}

/* Images: every one is there. */

const char *image_phase_name(enum image_phase phase)
{
	return "checking";
}

struct images *images_new(sd_event *loop, struct engine *engine,
			  const char *folder, uint32_t stall_ms,
			  uint32_t retry_ms, struct error *err)
{
	struct images *images = calloc(1, sizeof(*images));

	if (images)
		images->engine = engine;
	else
		error_nomem(err, "images");
	return images;
}

void images_free(struct images *images)
{
	free(images);
}

struct image_wait *image_ensure(struct images *images,
				const struct image_wanted *wanted,
				image_progress_fn *progress,
				image_done_fn *done, void *arg,
				struct error *err)
{
	struct engine_call *call =
		call_new(images->engine, NULL, arg, 0, NULL, err);

	if (!call)
		return NULL;
	call->image_done = done;
	snprintf(call->reference, sizeof(call->reference), "%s",
		 wanted->reference);
	return (struct image_wait *)call; /* the type is only a name */
}

void image_release(struct image_wait *wait)
{
	engine_call_cancel((struct engine_call *)wait);
}
