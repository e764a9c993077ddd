/* http_driver.c - one call to the engine: version, deadline, answer, error.
 */
#include "agent/docker/engine_internal.h"

#include "agent/docker/engine_version.h"
#include "agent/docker/http.h"
#include "agent/docker/list_sieve.h"
#include "agent/docker/json_stream.h"
#include "protocol/base/loop.h"
#include "protocol/base/printable.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define NEGOTIATE_MS 10000
#define VERSION "/version"
#define FULL_TEXT 64 /* of the engine's words about a full disk */
#define PING "/_ping"

struct call {
	struct engine_call base;
	TAILQ_ENTRY(call) entry; /* in waiting, sent or failed */
	struct calls *list;
	struct http_engine *engine;
	struct call_plan plan;
	char *path, *path_podman, *body; /* owned; plan points to them */
	struct strings headers;
	struct http_call *http;
	sd_event_source *timer; /* timeout_ms, while it waits */
	struct json_stream stream;
	struct list_sieve sieve;
	bool busy;      /* a callback of the stream runs: do not free */
	bool cancelled; /* free when the callback has returned */
	struct error error;
};
TAILQ_HEAD(calls, call);

struct http_engine {
	struct engine base;
	sd_event *loop;
	char *host;
	struct http *http;
	char version[ENGINE_VERSION_SIZE]; /* "" : not known */
	struct http_call *negotiate;       /* asking for it */
	struct calls waiting;              /* for the version */
	struct calls sent;
	struct calls failed; /* done() is due, with their error */
	struct deferral *fail;
};

static int send_call(struct call *call);

static void call_move(struct call *call, struct calls *to)
{
	if (call->list)
		TAILQ_REMOVE(call->list, call, entry);
	call->list = to;
	if (to)
		TAILQ_INSERT_TAIL(to, call, entry);
}

static void driver_call_free(struct call *call)
{
	loop_source_free(&call->timer);
	json_stream_clear(&call->stream);
	list_sieve_clear(&call->sieve);
	/* A header may hold a password. */
	for (size_t i = 0; i < call->headers.count; i++)
		explicit_bzero(call->headers.items[i],
			       strlen(call->headers.items[i]));
	strings_clear(&call->headers);
	free(call->path);
	free(call->path_podman);
	free(call->body);
	free(call);
}

static void cancel(struct engine_call *base)
{
	struct call *call = (struct call *)base;

	call_move(call, NULL);
	if (call->http)
		http_cancel(take(call->http));
	call->cancelled = true;
	if (!call->busy)
		driver_call_free(call);
}

static void http_driver_resume(struct engine_call *base)
{
	struct call *call = (struct call *)base;

	if (call->http)
		http_resume(call->http);
}

/* End and free the call. done() may free the engine. */
static void http_driver_call_done(struct call *call, const struct error *err,
				  cJSON *answer)
{
	call_move(call, NULL);
	call->plan.done(call->plan.arg, err, answer);
	driver_call_free(call);
}

/* done() runs later, because the caller's call may not have returned. */
static void call_fail(struct call *call, const struct error *err)
{
	call->error = *err;
	loop_source_free(&call->timer);
	call_move(call, &call->engine->failed);
	deferral_run(call->engine->fail);
}

static void fail_ready(void *arg)
{
	struct http_engine *engine = arg;
	struct call *call = TAILQ_FIRST(&engine->failed);

	if (!call)
		return;
	if (TAILQ_NEXT(call, entry))
		deferral_run(engine->fail);
	http_driver_call_done(call, &call->error, NULL);
}

/* Answers. */

static int status_code(int status, int conflict)
{
	switch (status) {
	case 401:
	case 403:
		return EACCES;
	case 404:
		return ENOENT;
	case 409:
		return conflict ? conflict : EBUSY;
	}
	if (status >= 500)
		return EIO;
	return status >= 400 ? EINVAL : EPROTO;
}

/* Podman answers 500 for a name in use; the member "cause" tells. Source:
 * podman libpod/define/errors.go, containers/storage errors.go.
 */
static bool name_is_used(const cJSON *object)
{
	const char *cause = json_get_text(object, "cause");

	return cause && (!strcmp(cause, "that name is already in use") ||
			 !strcmp(cause, "container already exists"));
}

/* A full disk is told at the end of the words, behind paths and hashes. */
static bool tells_full(struct error *err, const char *text)
{
	static const char *const full[] = { "no space left on device",
					    "disk quota exceeded" };
	char end[FULL_TEXT];

	for (size_t i = 0; i < sizeof(full) / sizeof(full[0]); i++) {
		const char *at = strcasestr(text, full[i]);
		owned_free char *words =
			at ? strndup(text,
				     (size_t)(at - text) + strlen(full[i]))
			   : NULL;

		if (!words)
			continue;
		copy_end(end, sizeof(end), words);
		error_set(err, ENOSPC, "engine: %s", end);
		return true;
	}
	return false;
}

/* Its user has only the ids of /etc/subuid and /etc/subgid. Sources:
 * containers/storage pkg/archive/archive.go; moby pkg/archive (lchown(2),
 * EINVAL: a number that the namespace has not).
 */
static bool tells_ids(const char *text)
{
	return strstr(text, "insufficient UIDs") ||
	       strstr(text, "not enough IDs available") ||
	       (strstr(text, "lchown ") && strstr(text, "invalid argument"));
}

void engine_error(struct error *err, int code, const char *text)
{
	if (tells_full(err, text))
		return;
	if (tells_ids(text))
		error_set(err, ENOTSUP,
			  "the image has files with user or group ids that the "
			  "engine's user may not use; give this user 65536 ids "
			  "in /etc/subuid and /etc/subgid, then run podman "
			  "system migrate");
	else
		error_set(err, code, "engine: %.*s", (int)strcspn(text, "\n"),
			  text);
}

/* The text is {"message": "..."}, or else the beginning of the body. */
static void status_error(struct http_engine *engine, int conflict,
			 const struct http_answer *answer, struct error *err)
{
	cJSON *object = codec_parse(answer->body, answer->size, NULL);
	const char *text = json_get_text(object, "message");
	int code = status_code(answer->status, conflict);

	if (conflict && name_is_used(object))
		code = conflict;
	if (!text)
		text = answer->body;
	if (*text)
		engine_error(err, code, text);
	else
		error_set(err, code, "engine: HTTP status %d without a message",
			  answer->status);
	/* The engine was replaced by one of another version. */
	if (answer->status == 400 && strstr(text, "client version"))
		engine->version[0] = 0;
	cJSON_Delete(object);
}

/* {"errorDetail": {"message": "..."}, "error": "..."} inside a 200. */
static bool stream_error(const cJSON *object, struct error *err)
{
	const char *text = json_get_text(object, "error");
	const cJSON *detail = json_get(object, "errorDetail");
	const char *long_text = json_get_text(detail, "message");

	if (!text && !long_text)
		return false;
	engine_error(err, EIO, long_text ? long_text : text);
	return true;
}

static int call_object(void *arg, const cJSON *object)
{
	struct call *call = arg;

	if (stream_error(object, &call->error))
		return 1;
	call->plan.object(call->plan.arg, object);
	return call->cancelled;
}

static int call_data(void *arg, const void *data, size_t size,
		     struct error *err)
{
	struct call *call = arg;
	int rc;

	/* After an error the rest is read, so the connection can be used again.
	 */
	if (call->error.code)
		return 0;
	call->busy = true;
	rc = json_stream_feed(&call->stream, data, size, call_object, call,
			      err);
	call->busy = false;
	if (!call->cancelled)
		return rc < 0 ? -1 : 0;
	driver_call_free(call);
	return -1;
}

static int call_list(void *arg, const void *data, size_t size,
		     struct error *err)
{
	struct call *call = arg;

	if (list_sieve_feed(&call->sieve, data, size, err) == 0)
		return 0;
	return error_prefix(err, "engine at %s: list", call->engine->host);
}

/* The end of a stream of objects. True: the call is freed. */
static bool end_stream(struct call *call)
{
	struct error err = { 0 };

	if (call->error.code)
		return false;
	call->busy = true;
	if (json_stream_end(&call->stream, call_object, call, &err) < 0)
		call->error = err;
	call->busy = false;
	if (call->cancelled) {
		driver_call_free(call);
		return true;
	}
	return false;
}

/* *tree is NULL if there is no body; Podman answers an empty line when it sets
 * a tag.
 */
static int parse_answer(const struct http_answer *answer, cJSON **tree,
			struct error *err)
{
	*tree = NULL;
	if (answer->status == 304 ||
	    answer->size == strspn(answer->body, "\r\n"))
		return 0;
	*tree = codec_parse(answer->body, answer->size, err);
	return *tree ? 0 : error_prefix(err, "engine's answer");
}

/* What is no list is not taken for an empty one. */
static int parse_list(const struct buffer *text, cJSON **tree,
		      struct error *err)
{
	*tree = codec_parse(text->data, text->size, err);
	if (!*tree)
		return error_prefix(err, "engine's answer");
	if (cJSON_IsArray(*tree))
		return 0;
	cJSON_Delete(take(*tree));
	return error_set(err, EPROTO, "engine's answer: not a list");
}

static void call_answered(void *arg, const struct error *err,
			  const struct http_answer *answer)
{
	struct call *call = arg;
	struct http_engine *engine = call->engine;
	cJSON *tree = NULL;

	call->http = NULL;
	if (err) {
		/* The engine may come back with another version. */
		engine->version[0] = 0;
		call->error = *err;
	} else if (answer->status / 100 != 2 && answer->status != 304) {
		status_error(engine, call->plan.conflict, answer, &call->error);
	} else if (call->plan.object) {
		if (end_stream(call))
			return;
	} else if (call->plan.lists) {
		parse_list(&call->sieve.text, &tree, &call->error);
	} else if (!call->plan.data) {
		parse_answer(answer, &tree, &call->error);
	}
	http_driver_call_done(call, call->error.code ? &call->error : NULL,
			      call->error.code ? NULL : tree);
	cJSON_Delete(tree);
}

/* The API version. */

/* Send the calls that waited for the version, or fail them. answer: to
 * /version.
 */
static void negotiated(struct http_engine *engine, cJSON *answer,
		       struct error *err)
{
	struct call *call, *asks = NULL;

	if (!err->code)
		engine_version_choose(answer, engine->host, engine->version,
				      err);
	else
		engine->version[0] = 0;
	while ((call = TAILQ_FIRST(&engine->waiting)))
		if (!err->code && !asks && !strcmp(call->plan.path, VERSION))
			call_move(asks = call, NULL);
		else if (err->code || send_call(call) < 0)
			call_fail(call, err->code ? err : &call->error);
	/* A waiting engine_version() gets the same answer. */
	if (asks)
		http_driver_call_done(asks, NULL, answer);
}

static void version_answered(void *arg, const struct error *failure,
			     const struct http_answer *answer)
{
	struct http_engine *engine = arg;
	cJSON *tree = NULL;
	struct error err = { 0 };

	engine->negotiate = NULL;
	if (failure) {
		err = *failure;
	} else if (answer->status != 200) {
		status_error(engine, 0, answer, &err);
		error_prefix(&err, "%s does not report its version",
			     engine->host);
		/* A server without /version is no Docker engine. */
		if (err.code == ENOENT)
			err.code = EPROTO;
	} else {
		tree = codec_parse(answer->body, answer->size, &err);
		if (!tree)
			error_prefix(&err, "engine's answer to /version");
	}
	negotiated(engine, tree, &err);
	cJSON_Delete(tree);
}

static int http_engine_ask(struct http_engine *engine, const char *path,
			   http_done_fn *done, struct error *err)
{
	struct http_request request = {
		.method = "GET",
		.path = path,
		.timeout_ms = NEGOTIATE_MS,
		.done = done,
		.arg = engine,
	};

	engine->negotiate = http_send(engine->http, &request, err);
	return engine->negotiate ? 0 : -1;
}

static void pinged(void *arg, const struct error *failure,
		   const struct http_answer *answer)
{
	struct http_engine *engine = arg;
	cJSON *tree = NULL;
	struct error err = { 0 };

	engine->negotiate = NULL;
	if (failure)
		err = *failure;
	else
		tree = engine_version_podman(answer);
	engine->base.podman = tree;
	if (failure || tree ||
	    http_engine_ask(engine, VERSION, version_answered, &err) < 0)
		negotiated(engine, tree, &err);
	cJSON_Delete(tree);
}

static int negotiate(struct http_engine *engine, struct error *err)
{
	return engine->negotiate ? 0
				 : http_engine_ask(engine, PING, pinged, err);
}

/* Sending. */

/* What is left of timeout_ms after waiting for the version; at least 1. */
static uint32_t time_left(struct call *call)
{
	uint64_t end, now;

	if (!call->timer)
		return call->plan.timeout_ms;
	if (sd_event_source_get_time(call->timer, &end) < 0 ||
	    sd_event_now(call->engine->loop, CLOCK_MONOTONIC, &now) < 0)
		return call->plan.timeout_ms;
	return end > now + 1000 ? (uint32_t)((end - now) / 1000) : 1;
}

static int send_call(struct call *call)
{
	struct http_engine *engine = call->engine;
	const struct call_plan *plan = &call->plan;
	const char *to = engine->base.podman && plan->path_podman
				 ? plan->path_podman
				 : plan->path;
	struct http_request request = {
		.method = plan->method,
		.body = plan->body,
		.source = plan->source,
		.source_arg = plan->source_arg,
		.headers = &call->headers,
		.data = plan->object  ? call_data
			: plan->lists ? call_list
				      : plan->data,
		.data_arg = plan->object || plan->lists ? call : plan->arg,
		.bulk = plan->data != NULL,
		.timeout_ms = time_left(call),
		.stall_ms = plan->stall_ms,
		.done = call_answered,
		.arg = call,
	};
	owned_free char *path = NULL;

	if (asprintf(&path, "%s%s%s", plan->newest ? "" : "/v",
		     plan->newest ? "" : engine->version, to) < 0) {
		path = NULL;
		return error_nomem(&call->error, "engine");
	}
	request.path = path;
	call->http = http_send(engine->http, &request, &call->error);
	if (!call->http)
		return -1;
	loop_source_free(&call->timer);
	call_move(call, &engine->sent);
	return 0;
}

static int waited_too_long(sd_event_source *source, uint64_t usec, void *arg)
{
	struct call *call = arg;

	error_set(&call->error, ETIMEDOUT,
		  "engine at %s: no answer within %u ms", call->engine->host,
		  call->plan.timeout_ms);
	http_driver_call_done(call, &call->error, NULL);
	return 0;
}

/* For its /version Podman searches the packages of the machine, which takes a
 * second of a processor.
 */
static bool is_asked_by_ping(const struct call *call)
{
	return call->engine->base.podman && !strcmp(call->plan.path, VERSION);
}

static int wait_for_version(struct call *call, struct error *err)
{
	struct http_engine *engine = call->engine;

	if (negotiate(engine, err) < 0)
		return -1;
	if (call->plan.timeout_ms &&
	    loop_timer(engine->loop, &call->timer, call->plan.timeout_ms,
		       waited_too_long, call, err) < 0)
		return -1;
	call_move(call, &engine->waiting);
	return 0;
}

static struct engine_call *http_driver_begin(struct engine *base,
					     const struct call_plan *plan,
					     struct error *err)
{
	struct http_engine *engine = (struct http_engine *)base;
	struct call *call = error_calloc(sizeof(*call), "engine", err);
	int rc;

	if (!call)
		return NULL;
	json_stream_init(&call->stream);
	list_sieve_init(&call->sieve, HTTP_ANSWER_MAX);
	call->base.driver = base->driver;
	call->engine = engine;
	call->plan = *plan;
	call->plan.path = call->path = strdup(plan->path);
	call->plan.path_podman = call->path_podman =
		plan->path_podman ? strdup(plan->path_podman) : NULL;
	call->plan.body = call->body = plan->body ? strdup(plan->body) : NULL;
	if (!call->path || (plan->path_podman && !call->path_podman) ||
	    (plan->body && !call->body) ||
	    (plan->header &&
	     strings_add(&call->headers, plan->header, NULL) < 0))
		rc = error_nomem(&call->error, "engine");
	else if (engine->version[0] && !is_asked_by_ping(call))
		rc = send_call(call);
	else
		rc = wait_for_version(call, &call->error);
	if (rc < 0) {
		if (err)
			*err = call->error;
		call_move(call, NULL);
		driver_call_free(call);
		return NULL;
	}
	return &call->base;
}

/* Creation and release. */

static void free_engine(struct engine *base)
{
	struct http_engine *engine = (struct http_engine *)base;
	struct call *call;

	while ((call = TAILQ_FIRST(&engine->waiting)) ||
	       (call = TAILQ_FIRST(&engine->sent)) ||
	       (call = TAILQ_FIRST(&engine->failed)))
		cancel(&call->base);
	http_free(engine->http);
	deferral_free(engine->fail);
	sd_event_unref(engine->loop);
	free(engine->host);
	free(engine);
}

static const struct engine_driver http_driver = {
	.begin = http_driver_begin,
	.cancel = cancel,
	.resume = http_driver_resume,
	.free = free_engine,
};

struct engine *engine_new(sd_event *loop, const char *host,
			  const char *tls_folder, struct error *err)
{
	struct http_engine *engine =
		error_calloc(sizeof(*engine), "engine", err);
	owned(engine_free) struct engine *base = NULL;

	if (!engine)
		return NULL;
	base = &engine->base;
	base->driver = &http_driver;
	TAILQ_INIT(&engine->waiting);
	TAILQ_INIT(&engine->sent);
	TAILQ_INIT(&engine->failed);
	engine->loop = sd_event_ref(loop);
	engine->host = strdup(host);
	if (!engine->host)
		return error_null(error_nomem(err, "engine"));
	base->host = engine->host;
	engine->http = http_new(loop, host, tls_folder, err);
	if (!engine->http)
		return NULL;
	engine->fail = deferral_new(loop, false, fail_ready, engine, err);
	if (!engine->fail)
		return NULL;
	return take(base);
}
