/* engine.c - the part of the Docker Engine API that the agent uses.
 */
#include "agent/docker/engine.h"

#include "agent/docker/engine_internal.h"
#include "agent/docker/http.h"
#include "protocol/base/buffer.h"
#include "protocol/message/json_get.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define PATH_LIMIT (64 << 10)
#define CPU_PERIOD_US 100000
#define ID_MAX 255

static int id_check(const char *id, struct error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-";
	size_t size = strlen(id);

	if (!size || size > ID_MAX || strspn(id, allowed) < size ||
	    strchr("_.-", id[0]))
		return error_set(err, EINVAL,
				 "container \"%.80s\": a name or id is "
				 "[a-zA-Z0-9][a-zA-Z0-9_.-]*, at most %d bytes",
				 id, ID_MAX);
	return 0;
}

static int container_path(struct buffer *path, const char *id, const char *what,
			  struct error *err)
{
	if (id_check(id, err) < 0)
		return -1;
	return buffer_printf(path, err, "/containers/%s%s", id, what);
}

static int query_number(struct buffer *path, const char *name, int64_t value,
			struct error *err)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	return http_query(path, name, text, err);
}

/* NAME=JSON; the tree is freed. */
static int query_json(struct buffer *path, const char *name, cJSON *tree,
		      struct error *err)
{
	char *text = cJSON_PrintUnformatted(tree);
	int rc = text ? http_query(path, name, text, err)
		      : error_nomem(err, "engine");

	cJSON_free(text);
	cJSON_Delete(tree);
	return rc;
}

/* filters={"label": [...]} */
static int query_filters(struct buffer *path, const struct strings *labels,
			 struct error *err)
{
	cJSON *filters = cJSON_CreateObject();
	cJSON *list;

	if (labels && labels->count) {
		list = cJSON_AddArrayToObject(filters, "label");
		for (size_t i = 0; i < labels->count; i++)
			cJSON_AddItemToArray(list, cJSON_CreateString(
							   labels->items[i]));
	}
	return query_json(path, "filters", filters, err);
}

/* labels={"key": "value"} */
static int query_label(struct buffer *path, const char *key, const char *value,
		       struct error *err)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, key, value);
	return query_json(path, "labels", object, err);
}

static struct engine_call *engine_call_begin(struct engine *engine,
					     struct call_plan plan,
					     struct error *err)
{
	/* The driver copies what it needs of the plan. */
	/* cppcheck-suppress returnDanglingLifetime */
	return engine->driver->begin(engine, &plan, err);
}

void engine_call_cancel(struct engine_call *call)
{
	if (call)
		call->driver->cancel(call);
}

void engine_call_resume(struct engine_call *call)
{
	if (call && call->driver->resume)
		call->driver->resume(call);
}

void engine_free(struct engine *engine)
{
	if (engine)
		engine->driver->free(engine);
}

const char *engine_host(const struct engine *engine)
{
	return engine->host;
}

bool engine_podman(const struct engine *engine)
{
	return engine->podman;
}

bool engine_away(const struct error *err)
{
	return err->code == ECONNREFUSED || err->code == ECONNRESET ||
	       err->code == ETIMEDOUT;
}

static struct call_plan plan_of(const char *method, uint32_t timeout_ms,
				engine_done_fn *done, void *arg)
{
	return (struct call_plan){ .method = method,
				   .timeout_ms = timeout_ms,
				   .done = done,
				   .arg = arg };
}

static struct engine_call *simple(struct engine *engine, const char *method,
				  const char *path, uint32_t timeout_ms,
				  engine_done_fn *done, void *arg,
				  struct error *err)
{
	struct call_plan plan = plan_of(method, timeout_ms, done, arg);

	plan.path = path;
	return engine_call_begin(engine, plan, err);
}

static struct engine_call *engine_list(struct engine *engine, const char *path,
				       uint32_t timeout_ms,
				       engine_done_fn *done, void *arg,
				       struct error *err)
{
	struct call_plan plan = plan_of("GET", timeout_ms, done, arg);

	plan.path = path;
	plan.lists = true;
	return engine_call_begin(engine, plan, err);
}

struct engine_call *engine_version(struct engine *engine, uint32_t timeout_ms,
				   engine_done_fn *done, void *arg,
				   struct error *err)
{
	return simple(engine, "GET", "/version", timeout_ms, done, arg, err);
}

static int engine_pong(void *arg, const void *data, size_t size,
		       struct error *err)
{
	return 0;
}

struct engine_call *engine_ping(struct engine *engine, uint32_t timeout_ms,
				engine_done_fn *done, void *arg,
				struct error *err)
{
	const struct call_plan plan = {
		.method = "GET",
		.path = "/_ping",
		.newest = true,
		.data = engine_pong,
		.timeout_ms = timeout_ms,
		.done = done,
		.arg = arg,
	};

	return engine_call_begin(engine, plan, err);
}

struct engine_call *engine_info(struct engine *engine, uint32_t timeout_ms,
				engine_done_fn *done, void *arg,
				struct error *err)
{
	struct call_plan plan = plan_of("GET", timeout_ms, done, arg);

	plan.newest = true;
	plan.path = "/info";
	return engine_call_begin(engine, plan, err);
}

struct engine_call *engine_podman_info(struct engine *engine,
				       uint32_t timeout_ms,
				       engine_done_fn *done, void *arg,
				       struct error *err)
{
	return simple(engine, "GET", "/libpod/info", timeout_ms, done, arg,
		      err);
}

/* Containers. */

/* method /containers/ID/what */
static struct engine_call *container_call(struct engine *engine,
					  const char *method, const char *id,
					  const char *what, uint32_t timeout_ms,
					  engine_done_fn *done, void *arg,
					  struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);

	if (container_path(&path, id, what, err) < 0)
		return NULL;
	return simple(engine, method, path.data, timeout_ms, done, arg, err);
}

struct engine_call *engine_container_create(struct engine *engine,
					    const char *name, const cJSON *body,
					    uint32_t timeout_ms,
					    engine_done_fn *done, void *arg,
					    struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);
	struct engine_call *call;
	struct call_plan plan = plan_of("POST", timeout_ms, done, arg);
	char *text;

	plan.conflict = EEXIST;
	if (id_check(name, err) < 0 ||
	    buffer_text(&path, "/containers/create", err) < 0 ||
	    http_query(&path, "name", name, err) < 0)
		return NULL;
	text = cJSON_PrintUnformatted(body);
	if (!text)
		return error_null(error_nomem(err, "engine"));
	plan.path = path.data;
	plan.body = text;
	call = engine_call_begin(engine, plan, err);
	cJSON_free(text);
	return call;
}

struct engine_call *engine_container_start(struct engine *engine,
					   const char *id, uint32_t timeout_ms,
					   engine_done_fn *done, void *arg,
					   struct error *err)
{
	return container_call(engine, "POST", id, "/start", timeout_ms, done,
			      arg, err);
}

struct engine_call *engine_container_stop(struct engine *engine, const char *id,
					  uint32_t grace_s, uint32_t timeout_ms,
					  engine_done_fn *done, void *arg,
					  struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);

	if (container_path(&path, id, "/stop", err) < 0 ||
	    query_number(&path, "t", grace_s, err) < 0)
		return NULL;
	return simple(engine, "POST", path.data, timeout_ms, done, arg, err);
}

struct engine_call *engine_container_remove(struct engine *engine,
					    const char *id, uint32_t timeout_ms,
					    engine_done_fn *done, void *arg,
					    struct error *err)
{
	return container_call(engine, "DELETE", id, "?force=1&v=1", timeout_ms,
			      done, arg, err);
}

struct engine_call *engine_container_inspect(struct engine *engine,
					     const char *id,
					     uint32_t timeout_ms,
					     engine_done_fn *done, void *arg,
					     struct error *err)
{
	return container_call(engine, "GET", id, "/json", timeout_ms, done, arg,
			      err);
}

struct engine_call *engine_container_size(struct engine *engine, const char *id,
					  uint32_t timeout_ms,
					  engine_done_fn *done, void *arg,
					  struct error *err)
{
	return container_call(engine, "GET", id, "/json?size=true", timeout_ms,
			      done, arg, err);
}

struct engine_call *engine_container_wait(struct engine *engine, const char *id,
					  engine_done_fn *done, void *arg,
					  struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);
	owned(buffer_clear) struct buffer podman = BUFFER_INIT(PATH_LIMIT);
	struct call_plan plan = plan_of("POST", 0, done, arg);

	/* On a Docker client's wait, Podman (4.3) polls without a pause, which
	 * takes a whole CPU. Its own call does not.
	 */
	if (container_path(&path, id, "/wait", err) < 0 ||
	    buffer_printf(&podman, err, "/libpod%s", path.data) < 0 ||
	    http_query(&path, "condition", "not-running", err) < 0)
		return NULL;
	plan.path = path.data;
	plan.path_podman = podman.data;
	return engine_call_begin(engine, plan, err);
}

int engine_wait_code(const cJSON *answer)
{
	const cJSON *code = cJSON_IsNumber(answer)
				    ? answer
				    : json_get(answer, "StatusCode");

	return cJSON_IsNumber(code) ? code->valueint : -1;
}

struct engine_call *engine_container_logs(struct engine *engine, const char *id,
					  uint32_t stall_ms,
					  engine_data_fn *data,
					  engine_done_fn *done, void *arg,
					  struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);
	struct call_plan plan = plan_of("GET", 0, done, arg);

	plan.data = data;
	plan.stall_ms = stall_ms;
	if (container_path(&path, id, "/logs?follow=1&stdout=1&stderr=1", err) <
	    0)
		return NULL;
	plan.path = path.data;
	return engine_call_begin(engine, plan, err);
}

struct engine_call *engine_exec_create(struct engine *engine, const char *id,
				       const struct strings *argv,
				       uint32_t timeout_ms,
				       engine_done_fn *done, void *arg,
				       struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);
	cJSON *body = cJSON_CreateObject();
	cJSON *words = cJSON_AddArrayToObject(body, "Cmd");
	owned_free char *text = NULL;
	struct call_plan plan = plan_of("POST", timeout_ms, done, arg);

	for (size_t i = 0; i < argv->count; i++)
		cJSON_AddItemToArray(words, cJSON_CreateString(argv->items[i]));
	if (cJSON_GetArraySize(words) == (int)argv->count &&
	    cJSON_AddTrueToObject(body, "AttachStdout"))
		text = cJSON_PrintUnformatted(body);
	cJSON_Delete(body);
	if (!text)
		return error_null(error_nomem(err, "engine"));
	if (container_path(&path, id, "/exec", err) < 0)
		return NULL;
	plan.path = path.data;
	plan.body = text;
	return engine_call_begin(engine, plan, err);
}

struct engine_call *engine_exec_start(struct engine *engine, const char *exec,
				      uint32_t timeout_ms, engine_data_fn *data,
				      engine_done_fn *done, void *arg,
				      struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);
	struct call_plan plan = plan_of("POST", timeout_ms, done, arg);

	plan.body = "{\"Detach\":false,\"Tty\":false}";
	plan.data = data;
	if (id_check(exec, err) < 0 ||
	    buffer_printf(&path, err, "/exec/%s/start", exec) < 0)
		return NULL;
	plan.path = path.data;
	return engine_call_begin(engine, plan, err);
}

struct engine_call *
engine_container_commit(struct engine *engine, const char *id, const char *tag,
			const char *label, uint32_t timeout_ms,
			engine_done_fn *done, void *arg, struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);
	struct reference parts;
	struct call_plan plan = plan_of("POST", timeout_ms, done, arg);
	char change[200];

	plan.body = "{}"; /* Podman 4 refuses an empty body */
	snprintf(change, sizeof(change), "LABEL %s=", label);
	if (id_check(id, err) < 0 || reference_parse(tag, &parts, err) < 0 ||
	    buffer_text(&path, "/commit", err) < 0 ||
	    http_query(&path, "container", id, err) < 0 ||
	    http_query(&path, "repo", parts.name, err) < 0 ||
	    http_query(&path, "tag", parts.tag, err) < 0 ||
	    http_query(&path, "changes", "CMD [\"sleep\", \"infinity\"]", err) <
		    0 ||
	    http_query(&path, "changes", change, err) < 0)
		return NULL;
	plan.path = path.data;
	return engine_call_begin(engine, plan, err);
}

struct engine_call *engine_container_list(struct engine *engine, bool all,
					  const struct strings *labels,
					  uint32_t timeout_ms,
					  engine_done_fn *done, void *arg,
					  struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);

	if (buffer_text(&path, "/containers/json", err) < 0 ||
	    query_number(&path, "all", all, err) < 0 ||
	    query_filters(&path, labels, err) < 0)
		return NULL;
	return engine_list(engine, path.data, timeout_ms, done, arg, err);
}

/* Images. */

/* A checked reference needs no escaping inside a path. */
static int image_path(struct buffer *path, const char *reference,
		      const char *what, struct error *err)
{
	struct reference parts;

	if (reference_parse(reference, &parts, err) < 0)
		return -1;
	if (!parts.name[0])
		return buffer_printf(path, err, "/images/%s%s", parts.digest,
				     what);
	return buffer_printf(path, err, "/images/%s%s%s%s", parts.name,
			     parts.digest[0] ? "@"
			     : parts.tag[0]  ? ":"
					     : "",
			     parts.digest[0] ? parts.digest : parts.tag, what);
}

struct engine_call *engine_image_list(struct engine *engine,
				      uint32_t timeout_ms, engine_done_fn *done,
				      void *arg, struct error *err)
{
	return engine_list(engine, "/images/json", timeout_ms, done, arg, err);
}

struct engine_call *engine_image_inspect(struct engine *engine,
					 const char *reference,
					 uint32_t timeout_ms,
					 engine_done_fn *done, void *arg,
					 struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);

	if (image_path(&path, reference, "/json", err) < 0)
		return NULL;
	return simple(engine, "GET", path.data, timeout_ms, done, arg, err);
}

struct engine_call *engine_distribution(struct engine *engine,
					const char *reference, const char *auth,
					uint32_t timeout_ms,
					engine_done_fn *done, void *arg,
					struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);
	struct reference parts;
	struct call_plan plan = plan_of("GET", timeout_ms, done, arg);

	plan.header = auth;
	if (reference_parse(reference, &parts, err) < 0 ||
	    buffer_printf(&path, err, "/distribution/%s/json", reference) < 0)
		return NULL;
	plan.path = path.data;
	return engine_call_begin(engine, plan, err);
}

struct engine_call *engine_image_pull(struct engine *engine,
				      const char *reference, const char *auth,
				      uint32_t stall_ms,
				      engine_object_fn *progress,
				      engine_done_fn *done, void *arg,
				      struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);
	struct reference parts;
	struct call_plan plan = plan_of("POST", 0, done, arg);
	const char *tag;

	plan.header = auth;
	plan.object = progress;
	plan.stall_ms = stall_ms;
	if (reference_parse(reference, &parts, err) < 0)
		return NULL;
	if (!parts.name[0])
		return error_null(error_set(err, EINVAL,
					    "image %s: an id cannot be pulled, "
					    "only a name",
					    reference));
	/* Without a tag the engine would pull every tag there is. */
	tag = parts.digest[0] ? parts.digest
	      : parts.tag[0]  ? parts.tag
			      : "latest";
	if (buffer_text(&path, "/images/create", err) < 0 ||
	    http_query(&path, "fromImage", parts.name, err) < 0 ||
	    http_query(&path, "tag", tag, err) < 0)
		return NULL;
	plan.path = path.data;
	return engine_call_begin(engine, plan, err);
}

struct engine_call *engine_image_tag(struct engine *engine,
				     const char *reference, const char *name,
				     const char *tag, uint32_t timeout_ms,
				     engine_done_fn *done, void *arg,
				     struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);

	if (image_path(&path, reference, "/tag", err) < 0 ||
	    http_query(&path, "repo", name, err) < 0 ||
	    http_query(&path, "tag", tag, err) < 0)
		return NULL;
	return simple(engine, "POST", path.data, timeout_ms, done, arg, err);
}

static int query_limits(struct buffer *path,
			const struct engine_build_limits *limits,
			struct error *err)
{
	const int64_t quota = (int64_t)(limits->cpus * CPU_PERIOD_US);
	const int64_t memory = (int64_t)limits->memory_bytes;

	if (memory && (query_number(path, "memory", memory, err) < 0 ||
		       query_number(path, "memswap", memory, err) < 0))
		return -1;
	if (quota && (query_number(path, "cpuperiod", CPU_PERIOD_US, err) < 0 ||
		      query_number(path, "cpuquota", quota, err) < 0))
		return -1;
	return limits->network
		       ? http_query(path, "networkmode", limits->network, err)
		       : 0;
}

struct engine_call *
engine_image_build(struct engine *engine, const char *tag, const char *key,
		   const char *value, const char *auth,
		   const struct engine_build_limits *limits, uint32_t stall_ms,
		   engine_source_fn *source, void *source_arg,
		   engine_object_fn *progress, engine_done_fn *done, void *arg,
		   struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);
	struct reference parts;
	struct call_plan plan = plan_of("POST", 0, done, arg);

	plan.source = source;
	plan.source_arg = source_arg;
	plan.header = auth;
	plan.object = progress;
	plan.stall_ms = stall_ms;
	if (reference_parse(tag, &parts, err) < 0 ||
	    buffer_text(&path, "/build", err) < 0 ||
	    http_query(&path, "t", tag, err) < 0 ||
	    query_number(&path, "rm", 1, err) < 0 ||
	    query_number(&path, "forcerm", 1, err) < 0 ||
	    query_label(&path, key, value, err) < 0 ||
	    query_limits(&path, limits, err) < 0)
		return NULL;
	plan.path = path.data;
	return engine_call_begin(engine, plan, err);
}

struct engine_call *engine_image_load(struct engine *engine, uint32_t stall_ms,
				      engine_source_fn *source,
				      void *source_arg,
				      engine_object_fn *progress,
				      engine_done_fn *done, void *arg,
				      struct error *err)
{
	struct call_plan plan = plan_of("POST", 0, done, arg);

	plan.source = source;
	plan.source_arg = source_arg;
	plan.object = progress;
	plan.stall_ms = stall_ms;
	plan.path = "/images/load?quiet=1";
	return engine_call_begin(engine, plan, err);
}

struct engine_call *engine_image_save(struct engine *engine,
				      const char *reference, uint32_t stall_ms,
				      engine_data_fn *data,
				      engine_done_fn *done, void *arg,
				      struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);
	struct call_plan plan = plan_of("GET", 0, done, arg);

	plan.data = data;
	plan.stall_ms = stall_ms;
	if (image_path(&path, reference, "/get", err) < 0)
		return NULL;
	plan.path = path.data;
	return engine_call_begin(engine, plan, err);
}

struct engine_call *engine_image_remove(struct engine *engine,
					const char *reference, bool force,
					uint32_t timeout_ms,
					engine_done_fn *done, void *arg,
					struct error *err)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(PATH_LIMIT);

	if (image_path(&path, reference, "", err) < 0 ||
	    query_number(&path, "force", force, err) < 0)
		return NULL;
	return simple(engine, "DELETE", path.data, timeout_ms, done, arg, err);
}
