/* standin_engine.c - an engine that exists only in memory.
 */
#include "agent/docker/engine_internal.h"
#include "agent/init/init.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "agent/docker/create_body.h"
#include "agent/task/write_watch.h"
#include "tests/bench/measure.h"
#include "tests/bench/standin.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <unistd.h>

#define LOOK_MS 1 /* how often rank 0 asks whether it is to fail */

#define IMAGE_ID                                                               \
	"sha256:00000000000000000000000000000000000000000000000000"            \
	"00000000000000"

struct container {
	char name[CONTAINER_NAME_MAX];
	char out[PATH_MAX / 4]; /* folder on the host */
	uint64_t job;
	uint32_t rank;
	bool running;
	int lock; /* of its regatta-init, which runs; 0: none does */
	int64_t started_ms;
	struct call *waiter;     /* for its end; NULL: none */
	sd_event_source *failer; /* of rank 0, while it is held */
	struct memory_engine *engine;
	TAILQ_ENTRY(container) next;
};

/* A call whose answer comes in a later turn. */
struct call {
	struct engine_call base;
	struct memory_engine *engine;
	engine_done_fn *done;
	void *arg;
	cJSON *answer;
	struct error error;      /* code 0: success */
	struct container *waits; /* its waiter; NULL: its answer is there */
	TAILQ_ENTRY(call) next;
};

struct memory_engine {
	struct engine base;
	sd_event *loop;
	sd_event_source *run;
	struct standin *standin;
	TAILQ_HEAD(, container) containers;
	TAILQ_HEAD(, call) calls;
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

/* Containers. */

static struct container *find(struct memory_engine *engine, const char *name)
{
	struct container *container;

	TAILQ_FOREACH(container, &engine->containers, next)
		if (!strcmp(container->name, name))
			return container;
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
		if (!strcmp(text_in(mount, "Target"), INIT_OUT))
			snprintf(container->out, sizeof(container->out), "%s",
				 text_in(mount, "Source"));
	container->job = strtoull(text_in(labels, LABEL_JOB), NULL, 10);
	container->rank =
		(uint32_t)strtoul(text_in(labels, LABEL_RANK), NULL, 10);
}

/* What regatta-init does first. A lock of the open file has no process, as one
 * of another PID namespace, so the agent does not look at it.
 */
static int init_begin(struct container *container, struct error *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX];
	owned_fd int fd = -1;

	snprintf(path, sizeof(path), "%s/started", container->out);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || fcntl(fd, F_OFD_SETLK, &lock) < 0 ||
	    write(fd, "", 1) != 1)
		return error_errno(err, "%s", path);
	container->lock = take_fd(&fd);
	return 0;
}

static void init_end(struct container *container)
{
	if (container->lock)
		close(container->lock);
	container->lock = 0;
}

static void container_drop(struct memory_engine *engine,
			   struct container *container)
{
	TAILQ_REMOVE(&engine->containers, container, next);
	init_end(container);
	loop_source_free(&container->failer);
	free(container);
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

/* Into the file that the agent has made for it, as agent/init/init.h says. */
static int write_record(const struct container *container, const char *text,
			size_t size, struct error *err)
{
	char made[PATH_MAX], path[PATH_MAX];
	owned_fd int fd = -1;

	snprintf(made, sizeof(made), "%s/exit.json.new", container->out);
	snprintf(path, sizeof(path), "%s/exit.json", container->out);
	fd = open(made, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0 || write(fd, text, size) != (ssize_t)size ||
	    rename(made, path) < 0)
		return error_errno(err, "%s", made);
	return 0;
}

/* The command ends, as regatta-init would tell it. */
static int end(const struct memory_engine *engine, struct container *container,
	       int code, struct error *err)
{
	uint32_t log_bytes = engine->standin->log_bytes;
	long long now = clock_wall_ms();
	char text[600];
	int size;

	if (!container->running)
		return 0;
	container->running = false;
	init_end(container);
	if (log_bytes && write_log(container, log_bytes, err) < 0)
		return -1;
	size = snprintf(
		text, sizeof(text),
		"{\"version\": 1, \"exit_code\": %d, \"signal\": 0, "
		"\"started_ms\": %lld, \"ended_ms\": %lld, \"oom_kills\": 0, "
		"\"memory_peak_bytes\": 0, \"processes\": [{\"rank\": %u, "
		"\"exit_code\": %d, \"signal\": 0, \"ended_ms\": %lld, "
		"\"max_rss_kib\": 0, \"user_ms\": 0, \"system_ms\": 0, "
		"\"log_bytes\": %u}]}",
		code, (long long)container->started_ms, now, container->rank,
		code, now, log_bytes);
	return write_record(container, text, (size_t)size, err);
}

/* What the engine does. Each gets the container that the path names, and the
 * text of the request; *answer, where there is one, belongs to the caller.
 */

static int version(struct memory_engine *engine, struct container *container,
		   const char *body, cJSON **answer, struct error *err)
{
	*answer = cJSON_CreateObject();
	cJSON_AddStringToObject(*answer, "Version", "stand-in");
	cJSON_AddStringToObject(*answer, "ApiVersion", "1.43");
	return 0;
}

static int info(struct memory_engine *engine, struct container *container,
		const char *body, cJSON **answer, struct error *err)
{
	*answer = cJSON_CreateObject();
	return 0;
}

/* Nothing outlives its agent here, and no image is on a disk. */
static int list(struct memory_engine *engine, struct container *container,
		const char *body, cJSON **answer, struct error *err)
{
	*answer = cJSON_CreateArray();
	return 0;
}

static int image(struct memory_engine *engine, struct container *container,
		 const char *body, cJSON **answer, struct error *err)
{
	*answer = cJSON_CreateObject();
	cJSON_AddStringToObject(*answer, "Id", IMAGE_ID);
	return 0;
}

static int start(struct memory_engine *engine, struct container *container,
		 const char *body, cJSON **answer, struct error *err)
{
	struct standin *standin = engine->standin;

	if (!container->running && container->job < standin->jobs_max)
		standin->started_ns[container->job] = clock_ns();
	standin->started++;
	container->started_ms = clock_wall_ms();
	if (container->running)
		return 0;
	container->running = true;
	return init_begin(container, err);
}

/* Whoever waits is told, in a later turn. */
static int end_held(struct container *container, int code, struct error *err)
{
	struct memory_engine *engine = container->engine;
	struct call *call = take(container->waiter);
	int rc = end(engine, container, code, err);

	loop_source_free(&container->failer);
	if (rc == 0 && call) {
		call->waits = NULL;
		call->answer = cJSON_CreateObject();
		cJSON_AddNumberToObject(call->answer, "StatusCode", code);
		TAILQ_INSERT_TAIL(&engine->calls, call, next);
		sd_event_source_set_enabled(engine->run, SD_EVENT_ONESHOT);
	}
	return rc;
}

static int stop(struct memory_engine *engine, struct container *container,
		const char *body, cJSON **answer, struct error *err)
{
	struct standin *standin = engine->standin;

	if (standin->holds && container->running) {
		standin->stopped_ns = clock_ns();
		standin->stopped++;
	}
	return end_held(container, 0, err);
}

static int failer_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct container *container = arg;
	struct memory_engine *engine = container->engine;

	if (engine->standin->fails) {
		engine->standin->failed_ns = clock_ns();
		end_held(container, 1, NULL);
	} else {
		loop_timer(engine->loop, &container->failer, LOOK_MS,
			   failer_run, container, NULL);
	}
	return 0;
}

/* 1: it runs on. */
static int wait_end(struct memory_engine *engine, struct container *container,
		    const char *body, cJSON **answer, struct error *err)
{
	if (engine->standin->holds && container->running) {
		if (engine->standin->may_fail && container->rank == 0 &&
		    !container->failer &&
		    loop_timer(engine->loop, &container->failer, LOOK_MS,
			       failer_run, container, err) < 0)
			return -1;
		return 1;
	}
	if (end(engine, container, 0, err) < 0)
		return -1;
	*answer = cJSON_CreateObject();
	cJSON_AddNumberToObject(*answer, "StatusCode", 0);
	return 0;
}

static int inspect(struct memory_engine *engine, struct container *container,
		   const char *body, cJSON **answer, struct error *err)
{
	cJSON *state;

	*answer = cJSON_CreateObject();
	state = cJSON_AddObjectToObject(*answer, "State");
	cJSON_AddStringToObject(state, "Status",
				container->running      ? "running"
				: container->started_ms ? "exited"
							: "created");
	cJSON_AddNumberToObject(state, "ExitCode", 0);
	return 0;
}

static int discard(struct memory_engine *engine, struct container *container,
		   const char *body, cJSON **answer, struct error *err)
{
	container_drop(engine, container);
	engine->standin->removed++;
	engine->standin->removed_ns = clock_ns();
	return 0;
}

static int create(struct memory_engine *engine, const char *name,
		  const char *text, cJSON **answer, struct error *err)
{
	struct container *container;
	cJSON *body;

	if (find(engine, name))
		return error_set(err, EEXIST, "stand-in: %s exists", name);
	body = cJSON_Parse(text);
	container = calloc(1, sizeof(*container));
	if (!container || !body) {
		cJSON_Delete(body);
		free(container);
		return error_nomem(err, "stand-in");
	}
	snprintf(container->name, sizeof(container->name), "%s", name);
	container->engine = engine;
	read_body(container, body);
	cJSON_Delete(body);
	TAILQ_INSERT_TAIL(&engine->containers, container, next);
	*answer = cJSON_CreateObject();
	cJSON_AddStringToObject(*answer, "Id", name);
	return 0;
}

/* Requests. */

typedef int action_fn(struct memory_engine *engine, struct container *container,
		      const char *body, cJSON **answer, struct error *err);

static const struct {
	const char *method, *path; /* or how it begins */
	const char *what;          /* behind the container's ID, or NULL */
	action_fn *action;
} requests[] = {
	{ "GET", "/version", NULL, version },
	{ "GET", "/info", NULL, info },
	{ "GET", "/containers/json", NULL, list },
	{ "GET", "/images/json", NULL, list },
	{ "GET", "/images/", NULL, image },
	{ "POST", "/containers/", "/start", start },
	{ "POST", "/containers/", "/stop", stop },
	{ "POST", "/containers/", "/wait", wait_end },
	{ "GET", "/containers/", "/json", inspect },
	{ "DELETE", "/containers/", "", discard },
};

#define CREATE "/containers/create?name="

/* The container of /containers/NAME/what?...; NULL: it is something else. */
static bool names_container(const char *path, const char *what,
			    char name[CONTAINER_NAME_MAX])
{
	const char *rest = path + strlen("/containers/");
	size_t size = strcspn(rest, "/?");

	snprintf(name, CONTAINER_NAME_MAX, "%.*s", (int)size, rest);
	rest += size;
	size = strcspn(rest, "?");
	return size == strlen(what) && !strncmp(rest, what, size);
}

/* 1: the answer comes when the container ends. */
static int serve(struct memory_engine *engine, const struct call_plan *plan,
		 struct container **of, cJSON **answer, struct error *err)
{
	char name[CONTAINER_NAME_MAX] = "";

	if (!strncmp(plan->path, CREATE, strlen(CREATE)))
		return create(engine, plan->path + strlen(CREATE), plan->body,
			      answer, err);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		const char *what = requests[i].what;
		struct container *container = NULL;

		if (strcmp(plan->method, requests[i].method) != 0 ||
		    strncmp(plan->path, requests[i].path,
			    strlen(requests[i].path)) != 0 ||
		    (what && !names_container(plan->path, what, name)))
			continue;
		if (what && !(container = find(engine, name)))
			return error_set(err, ENOENT, "stand-in: no %s", name);
		*of = container;
		return requests[i].action(engine, container, plan->body, answer,
					  err);
	}
	return error_set(err, EINVAL, "stand-in: %s %.100s is not known",
			 plan->method, plan->path);
}

/* The driver. */

static void drop_call(struct call *call)
{
	if (call->waits)
		call->waits->waiter = NULL;
	else
		TAILQ_REMOVE(&call->engine->calls, call, next);
	cJSON_Delete(call->answer);
	free(call);
}

/* One a turn, so that a callback may cancel any other. */
static int run(sd_event_source *source, void *arg)
{
	struct memory_engine *engine = arg;
	struct call *call = TAILQ_FIRST(&engine->calls);

	if (!call)
		return 0;
	TAILQ_REMOVE(&engine->calls, call, next);
	if (!TAILQ_EMPTY(&engine->calls))
		sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	call->done(call->arg, call->error.code ? &call->error : NULL,
		   call->answer);
	cJSON_Delete(call->answer);
	free(call);
	return 0;
}

static struct engine_call *
begin(struct engine *base, const struct call_plan *plan, struct error *err)
{
	struct memory_engine *engine = (struct memory_engine *)base;
	struct call *call = calloc(1, sizeof(*call));
	struct container *container = NULL;
	int rc;

	if (!call) {
		error_nomem(err, "stand-in");
		return NULL;
	}
	call->base.driver = base->driver;
	call->engine = engine;
	call->done = plan->done;
	call->arg = plan->arg;
	engine->standin->calls++;
	/* Done at once, told later. */
	rc = serve(engine, plan, &container, &call->answer, &call->error);
	if (rc > 0 && container) {
		call->waits = container;
		container->waiter = call;
		return &call->base;
	}
	if (rc == 0)
		call->error.code = 0;
	TAILQ_INSERT_TAIL(&engine->calls, call, next);
	sd_event_source_set_enabled(engine->run, SD_EVENT_ONESHOT);
	return &call->base;
}

static void cancel(struct engine_call *base)
{
	drop_call((struct call *)base);
}

static void memory_engine_free(struct memory_engine *engine)
{
	struct container *container;
	struct call *call;

	if (!engine)
		return;
	while ((call = TAILQ_FIRST(&engine->calls)))
		drop_call(call);
	while ((container = TAILQ_FIRST(&engine->containers))) {
		if (container->waiter)
			drop_call(container->waiter);
		container_drop(engine, container);
	}
	sd_event_source_disable_unref(engine->run);
	sd_event_unref(engine->loop);
	free(engine);
}
OWNED_POINTER(struct memory_engine, memory_engine_free)

static void free_engine(struct engine *base)
{
	memory_engine_free((struct memory_engine *)base);
}

static const struct engine_driver memory_driver = {
	.begin = begin,
	.cancel = cancel,
	.free = free_engine,
};

struct engine *standin_engine(sd_event *loop, struct standin *standin,
			      struct error *err)
{
	owned(memory_engine_free) struct memory_engine *engine =
		calloc(1, sizeof(*engine));

	if (!engine) {
		error_nomem(err, "stand-in");
		return NULL;
	}
	TAILQ_INIT(&engine->containers);
	TAILQ_INIT(&engine->calls);
	engine->base =
		(struct engine){ .driver = &memory_driver, .host = "stand-in" };
	engine->standin = standin;
	engine->loop = sd_event_ref(loop);
	if (sd_event_add_defer(loop, &engine->run, run, engine) < 0 ||
	    sd_event_source_set_enabled(engine->run, SD_EVENT_OFF) < 0) {
		error_nomem(err, "stand-in");
		return NULL;
	}
	return &take(engine)->base;
}

/* In place of the library's: what a container writes is not counted. Each count
 * is a process, and the files of thousands of nodes are in the table that this
 * one copies and closes for it.
 */
struct write_watch {
	char nothing;
};

struct write_watch *write_watch_new(const struct write_watch_config *config,
				    struct error *err)
{
	return error_calloc(sizeof(struct write_watch), "limits", err);
}

void write_watch_free(struct write_watch *watch)
{
	free(watch);
}
