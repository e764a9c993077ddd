/* web.c - serves the pages and metrics of a controller over HTTP. */
#include "controller/web/web.h"
#include "controller/web/live.h"
#include "controller/web/report_page.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE "regatta"

struct web {
	struct web_sources sources;
	const struct counters *counters;
	struct viewers *viewers;
	struct budgets *budgets;
	bool encrypted;
	struct live *live;
	struct http_server *server;
};

typedef int route_fn(struct web *web, const struct http_request *request,
		     struct http_reply *reply, struct error *err);

static int send_metrics(struct web *web, const struct http_request *request,
			struct http_reply *reply, struct error *err)
{
	metrics_answer(&web->sources.parts, web->counters, request, reply);
	return 0;
}

static int send_style(struct web *web, const struct http_request *request,
		      struct http_reply *reply, struct error *err)
{
	reply->type = "text/css; charset=utf-8";
	return buffer_text(&reply->body, web_style, err);
}

static int send_script(struct web *web, const struct http_request *request,
		       struct http_reply *reply, struct error *err)
{
	reply->type = "text/javascript; charset=utf-8";
	return buffer_text(&reply->body, web_script, err);
}

static int login(struct web *web, const struct http_request *request,
		 struct http_reply *reply, struct error *err)
{
	char cookie[VIEWERS_SECRET_SIZE];

	if (!viewers_enter(web->viewers, http_argument(request, "ticket"),
			   cookie))
		return error_set(err, EACCES,
				 "this address was already used or has "
				 "expired; `regatta web` prints a new one");
	snprintf(reply->cookie, sizeof(reply->cookie),
		 COOKIE "=%s; Max-Age=%d; Path=/; HttpOnly; SameSite=Lax%s",
		 cookie, VIEWERS_COOKIE_S, web->encrypted ? "; Secure" : "");
	reply->status = 303;
	reply->location = "/";
	return 0;
}

/* NULL: it has no login, or not from there. */
static const struct key *web_key(const struct web *web,
				 const struct http_request *request,
				 struct error *err)
{
	char address[HTTP_ADDRESS_SIZE];

	http_client_address(request, address);
	return viewers_know(web->viewers, http_cookie(request, COOKIE), address,
			    err);
}

static int web_open_stream(struct web *web, const struct http_request *request,
			   struct http_reply *reply, struct error *err)
{
	const char *path = http_argument(request, "page");
	const char *shape = http_argument(request, "shape");
	const char *state = http_argument(request, "state");
	const char *cookie = http_cookie(request, COOKIE);

	snprintf(reply->pass, sizeof(reply->pass), "%s", cookie ? cookie : "");
	return live_open(web->live,
			 viewers_know(web->viewers, cookie, NULL, NULL),
			 path ? path : "",
			 shape ? strtoull(shape, NULL, 16) : 0,
			 state ? strtoull(state, NULL, 16) : 0, reply, err);
}

static int send_page(struct web *web, const struct http_request *request,
		     struct http_reply *reply, struct error *err)
{
	owned(web_page_clear) struct web_page page;
	const char *path = http_path(request);
	unsigned long long sweep;
	int end = 0;

	web_page_init(&page, &web->sources);
	if (sscanf(path, "/sweep/%llu/report%n", &sweep, &end) == 1 && end &&
	    !path[end])
		return report_page_answer(&web->sources, sweep, reply, err);
	reply->type = "text/html; charset=utf-8";
	return web_page_render(&page, path, err) < 0
		       ? -1
		       : web_page_document(&page, path, &reply->body, err);
}

/* What a request needs, and to whom its processor time is charged. */
enum door {
	DOOR_KEY,    /* a login; its key */
	DOOR_NOBODY, /* nothing; all who ask without one together */
	DOOR_OPEN    /* nothing, to nobody: it costs nothing */
};

/* All other paths are pages. */
static const struct {
	const char *path;
	route_fn *answer;
	enum door door;
} routes[] = {
	/* clang-format off */
	{ "/metrics",   send_metrics,    DOOR_NOBODY },
	{ "/style.css", send_style,      DOOR_OPEN },
	{ "/script.js", send_script,     DOOR_OPEN },
	{ "/login",     login,           DOOR_OPEN },
	{ "/live",      web_open_stream, DOOR_KEY },
	/* clang-format on */
};

static int web_answer_charged(struct web *web, route_fn *answer,
			      const struct http_request *request,
			      const struct key *key, struct http_reply *reply,
			      struct error *err)
{
	int64_t now_ms = clock_mono_ms(), before_us;
	struct budget *budget = budget_of(web->budgets, key ? key->public : "",
					  key ? key->role : 0, now_ms);
	uint32_t wait_ms = budget ? budget_wait_ms(budget, now_ms) : 0;
	int rc;

	if (!budget)
		return error_nomem(err, "web");
	if (wait_ms)
		return error_set(err, EBUSY,
				 "%s used more processor time than it may; try "
				 "again in %u ms",
				 key ? key->name : "requests without a login",
				 wait_ms);
	if (!budget_timed(budget))
		return answer(web, request, reply, err);
	before_us = clock_cpu_us();
	rc = answer(web, request, reply, err);
	budget_spend(budget, clock_cpu_us() - before_us);
	return rc;
}

static int route(struct web *web, const struct http_request *request,
		 struct http_reply *reply, struct error *err)
{
	route_fn *answer = send_page;
	enum door door = DOOR_KEY;
	const struct key *key = NULL;

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (!strcmp(http_path(request), routes[i].path)) {
			answer = routes[i].answer;
			door = routes[i].door;
		}
	if (door == DOOR_OPEN)
		return answer(web, request, reply, err);
	if (door == DOOR_KEY)
		key = web_key(web, request, err);
	if (door == DOOR_KEY && !key)
		return -1;
	return web_answer_charged(web, answer, request, key, reply, err);
}

/* A page that says why there is no other. */
static void web_refuse(struct web *web, const struct error *why,
		       struct http_reply *reply)
{
	owned(web_page_clear) struct web_page page;

	web_page_init(&page, &web->sources);
	snprintf(page.title, sizeof(page.title), "%s",
		 why->code == EACCES   ? "Login required"
		 : why->code == ENOENT ? "Not found"
				       : "The page cannot be shown");
	web_html(&page, "<p>");
	writer_code(&page.out, why->text);
	web_html(&page, "</p>\n");
	buffer_clear(&reply->body);
	reply->type = "text/html; charset=utf-8";
	reply->status = why->code == EACCES   ? 403
			: why->code == ENOENT ? 404
			: why->code == EBUSY  ? 503
					      : 500;
	web_page_document(&page, NULL, &reply->body, NULL);
}

/* Each key; the metrics; and everybody else. */
static void web_owner(void *arg, const struct http_request *request,
		      char owner[HTTP_OWNER_SIZE])
{
	const struct web *web = arg;
	const struct key *key = web_key(web, request, NULL);

	_Static_assert(HTTP_OWNER_SIZE >= KEY_TEXT_SIZE, "");
	snprintf(owner, HTTP_OWNER_SIZE, "%s",
		 key                                       ? key->public
		 : !strcmp(http_path(request), "/metrics") ? "metrics"
							   : "");
}

static void web_on_request(void *arg, const struct http_request *request,
			   struct http_reply *reply)
{
	struct error err = { 0 };

	if (route(arg, request, reply, &err) < 0)
		web_refuse(arg, &err, reply);
}

static void on_stream_gone(void *arg, void *topic)
{
	struct web *web = arg;

	live_gone(web->live, topic);
}

static bool web_allows_stream(void *arg, const char *cookie)
{
	const struct web *web = arg;

	return viewers_know(web->viewers, cookie, NULL, NULL);
}

struct web *web_new(const struct web_config *config, struct error *err)
{
	static const struct http_handler handler = {
		.owner = web_owner,
		.answer = web_on_request,
		.stream_gone = on_stream_gone,
		.stream_allowed = web_allows_stream,
	};
	owned(web_free) struct web *web = calloc(1, sizeof(*web));

	if (!web)
		return error_null(error_nomem(err, "web"));
	web->sources = config->sources;
	web->counters = config->counters;
	web->viewers = config->viewers;
	web->budgets = config->budgets;
	web->encrypted = config->http->certificate;
	web->live = live_new(config->loop, &web->sources, web->budgets, err);
	if (!web->live)
		return NULL;
	web->server =
		http_server_new(config->loop, config->http, &handler, web, err);
	if (!web->server)
		return error_null(error_prefix(err, "web"));
	live_serve(web->live, web->server);
	viewers_serve(web->viewers, http_server_url(web->server));
	log_info("web at %s", http_server_url(web->server));
	return take(web);
}

void web_free(struct web *web)
{
	if (!web)
		return;
	http_server_free(web->server);
	live_free(web->live);
	free(web);
}

void web_update(struct web *web)
{
	if (web)
		live_update(web->live);
}
