/* repository.c - one repository of a registry, asked by one user.
 */
#include "agent/registry/repository.h"

#include "protocol/base/file.h"
#include "protocol/message/codec.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#define HUB "docker.io"
#define HUB_HOST "registry-1.docker.io"
#define URL_MAX 4096 /* places elsewhere are signed, at length */
#define BASE_MAX (REFERENCE_HOST_MAX + 16)
#define QUERY_MAX 8192
#define CA_MAX (PATH_MAX + REFERENCE_HOST_MAX + 16)
#define REQUESTS_MAX 8

struct repository_call {
	TAILQ_ENTRY(repository_call) entry;
	struct repository *repository;
	struct repository_request request; /* its texts are owned */
	unsigned int requests;
	bool authorized;        /* 401 was answered once */
	struct http *token;     /* who gives out tokens */
	struct http *elsewhere; /* the host that the registry sent us to */
	char *place;            /* the path there, or here; NULL: the first */
	struct http_call *http;
};

struct repository {
	sd_event *loop;
	struct http *http;
	char host[REFERENCE_HOST_MAX + 1];
	char path[REFERENCE_PATH_MAX + 1];
	char base[BASE_MAX]; /* of its URLs */
	char *authorities;
	struct credential credential;
	char *authorization; /* the header, once it was asked for */
	bool plain;
	bool tls;
	bool answered;         /* so this is how it is reached */
	int64_t wait_until_ms; /* it wants us to */
	TAILQ_HEAD(, repository_call) calls;
};

static int send(struct repository_call *call, struct error *err);

/* The last thing: the call is gone afterwards. */
static void finish(struct repository_call *call, const struct error *err,
		   const struct http_answer *answer)
{
	http_done_fn *done = call->request.done;
	void *arg = call->request.arg;

	/* It may be cancelled, or all be closed, in there. */
	TAILQ_REMOVE(&call->repository->calls, call, entry);
	call->repository = NULL;
	done(arg, err, answer);
	repository_cancel(call);
}

static void fail(struct repository_call *call, const struct error *err)
{
	finish(call, err, NULL);
}

static void note_wait(struct repository *repository,
		      const struct http_answer *answer)
{
	bool busy = answer->status == 429 || answer->status == 503;
	uint32_t wait_s = busy ? http_wait_s(answer, time(NULL)) : 0;

	if (wait_s)
		repository->wait_until_ms =
			clock_mono_ms() + (int64_t)wait_s * 1000;
}

/* Below the registry's own API. What it keeps beside that, behind signed URLs,
 * is told as little of us as if it were elsewhere.
 */
static bool is_home(const struct repository_call *call)
{
	return !call->elsewhere &&
	       (!call->place || !strncmp(call->place, "/v2/", 4));
}

/* Servers. */

static bool has_authority(const struct repository *repository, const char *host,
			  char *path, size_t size)
{
	snprintf(path, size, "%s/%s/ca.crt", repository->authorities, host);
	return repository->authorities && access(path, R_OK) == 0;
}

static struct http *server(const struct repository *repository,
			   const char *base, struct error *err)
{
	char ca[CA_MAX];
	bool found =
		has_authority(repository, strstr(base, "://") + 3, ca,
			      sizeof(ca)) ||
		has_authority(repository, repository->host, ca, sizeof(ca));

	return http_new_web(repository->loop, base, found ? ca : NULL,
			    !repository->plain, err);
}

static int connect_to(struct repository *repository, struct error *err)
{
	const char *host =
		strcmp(repository->host, HUB) ? repository->host : HUB_HOST;

	snprintf(repository->base, sizeof(repository->base), "http%s://%s",
		 repository->tls ? "s" : "", host);
	http_free(repository->http);
	repository->http = server(repository, repository->base, err);
	return repository->http ? 0 : -1;
}

/* Base "https://host" and path of a URL; false: not one that we go to. */
static bool split_url(const struct repository *repository, const char *url,
		      char *base, size_t size, const char **path)
{
	size_t scheme = !strncmp(url, "https://", 8)  ? 8
			: !strncmp(url, "http://", 7) ? 7
						      : 0;
	size_t host = scheme ? strcspn(url + scheme, "/?#") : 0;

	if (!host || scheme + host >= size ||
	    strcspn(url, "@ \\") < scheme + host ||
	    (scheme == 7 && !repository->plain))
		return false;
	snprintf(base, size, "%.*s", (int)(scheme + host), url);
	*path = url + scheme + host;
	return true;
}

/* Tokens. */

/* name=value or name="value" at a place where a parameter may begin. */
bool repository_challenge(const char *header, const char *name, char *to,
			  size_t size)
{
	size_t length = strlen(name), used = 0;
	const char *at = header + strcspn(header, " ");
	bool quoted;

	while (*at) {
		at += strspn(at, " ,\t");
		if (!strncasecmp(at, name, length) && at[length] == '=')
			break;
		while (*at && *at != ',') {
			if (*at == '"')
				at += 1 + strcspn(at + 1, "\"");
			at += *at != 0;
		}
	}
	if (!*at)
		return false;
	at += length + 1;
	quoted = *at == '"';
	at += quoted;
	while (*at && used + 1 < size &&
	       (quoted ? *at != '"' : !strchr(", \t", *at))) {
		if (!isprint((unsigned char)*at))
			return false;
		to[used++] = *at++;
	}
	to[used] = 0;
	return used > 0;
}

/* The header of a token that was given out; NULL: there is none in it. */
static char *bearer(const char *body, size_t size)
{
	cJSON *tree = codec_parse(body, size, NULL);
	const char *token = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(tree, "token"));
	char *header = NULL;

	if (!token)
		token = cJSON_GetStringValue(
			cJSON_GetObjectItemCaseSensitive(tree, "access_token"));
	if (!token || strpbrk(token, "\r\n") ||
	    asprintf(&header, "Authorization: Bearer %s", token) < 0)
		header = NULL;
	cJSON_Delete(tree);
	return header;
}

static void token_done(void *arg, const struct error *failure,
		       const struct http_answer *answer)
{
	struct repository_call *call = arg;
	struct repository *repository = call->repository;
	struct error err;

	if (failure || answer->status / 100 != 2) {
		if (answer)
			note_wait(repository, answer);
		finish(call, failure, answer);
		return;
	}
	secret_free(repository->authorization);
	repository->authorization = bearer(answer->body, answer->size);
	if (!repository->authorization) {
		error_set(&err, EPROTO, "registry %s: no token in the answer",
			  repository->host);
		fail(call, &err);
	} else if (send(call, &err) < 0) {
		fail(call, &err);
	}
}

static int token_query(const struct repository *repository,
		       const char *challenge, const char *path,
		       struct buffer *query, struct error *err)
{
	char service[256], scope[REFERENCE_PATH_MAX + 32];

	snprintf(scope, sizeof(scope), "repository:%s:pull", repository->path);
	if (buffer_printf(query, err, "%s%s", *path == '/' ? "" : "/", path) <
		    0 ||
	    (repository_challenge(challenge, "service", service,
				  sizeof(service)) &&
	     http_query(query, "service", service, err) < 0))
		return -1;
	return http_query(query, "scope", scope, err);
}

static int ask_token(struct repository_call *call, const char *challenge,
		     struct error *err)
{
	const struct repository *repository = call->repository;
	owned(secret_strings_clear) struct strings headers = { 0 };
	owned(buffer_clear) struct buffer query;
	owned(secret_free) char *basic =
		credential_basic(&repository->credential);
	char realm[URL_MAX], base[BASE_MAX];
	const char *path;
	struct http_request request = {
		.method = "GET",
		.headers = &headers,
		.timeout_ms = call->request.timeout_ms,
		.stall_ms = call->request.stall_ms,
		.done = token_done,
		.arg = call,
	};

	buffer_init(&query, QUERY_MAX);
	if (!repository_challenge(challenge, "realm", realm, sizeof(realm)) ||
	    !split_url(repository, realm, base, sizeof(base), &path))
		return error_set(err, EACCES,
				 "registry %s: it sends us to no place that "
				 "could give us a token",
				 repository->host);
	if (token_query(repository, challenge, path, &query, err) < 0 ||
	    (basic && strings_add(&headers, basic, err) < 0))
		return -1;
	http_free(call->token);
	call->token = server(repository, base, err);
	if (!call->token)
		return -1;
	request.path = query.data;
	return http_send(call->token, &request, err) ? 0 : -1;
}

/* 401: who are you? false: that is the answer. A token may also have become too
 * old.
 */
static bool authorize(struct repository_call *call,
		      const struct http_answer *answer)
{
	struct repository *repository = call->repository;
	char challenge[URL_MAX];
	struct error err;
	int rc;

	if (call->authorized || !is_home(call) ||
	    !http_header(answer, "WWW-Authenticate", challenge,
			 sizeof(challenge)))
		return false;
	call->authorized = true;
	if (!strncasecmp(challenge, "Bearer ", 7)) {
		rc = ask_token(call, challenge, &err);
	} else if (strncasecmp(challenge, "Basic", 5) != 0) {
		return false;
	} else {
		secret_free(repository->authorization);
		repository->authorization =
			credential_basic(&repository->credential);
		if (!repository->authorization)
			return false;
		rc = send(call, &err);
	}
	if (rc < 0)
		fail(call, &err);
	return true;
}

/* Asking. */

/* Elsewhere: nobody there is told who we are. */
static int find_place(struct repository_call *call,
		      const struct http_answer *answer, struct error *err)
{
	const struct repository *repository = call->repository;
	char url[URL_MAX], base[BASE_MAX];
	const char *path = url;

	if (!http_header(answer, "Location", url, sizeof(url)) ||
	    strlen(url) == sizeof(url) - 1 || /* or it was cut */
	    ((url[0] != '/' || url[1] == '/') &&
	     !split_url(repository, url, base, sizeof(base), &path)))
		return error_set(err, EPROTO,
				 "registry %s: it sends us to no place that we "
				 "go to",
				 repository->host);
	free(call->place);
	call->place = strdup(*path == '/' ? path : "/");
	if (!call->place)
		return error_nomem(err, "registry");
	if (path == url) /* the same host */
		return 0;
	http_free(take(call->elsewhere));
	if (!strcmp(base, repository->base))
		return 0;
	call->elsewhere = server(repository, base, err);
	return call->elsewhere ? 0 : -1;
}

static void go_elsewhere(struct repository_call *call,
			 const struct http_answer *answer)
{
	struct error err;

	if (find_place(call, answer, &err) < 0 || send(call, &err) < 0)
		fail(call, &err);
}

static bool alone(const struct repository_call *call)
{
	return call == TAILQ_FIRST(&call->repository->calls) &&
	       !TAILQ_NEXT(call, entry);
}

static void answered(void *arg, const struct error *failure,
		     const struct http_answer *answer)
{
	struct repository_call *call = arg;
	struct repository *repository = call->repository;
	struct error err;

	call->http = NULL;
	if (failure && repository->plain && repository->tls &&
	    !repository->answered && alone(call)) {
		repository->tls = false;
		if (connect_to(repository, &err) < 0 || send(call, &err) < 0)
			fail(call, &err);
		return;
	}
	if (failure) {
		fail(call, failure);
		return;
	}
	repository->answered = true;
	note_wait(repository, answer);
	if (answer->status == 401 && authorize(call, answer))
		return;
	if (answer->status / 100 == 3 && answer->status != 304)
		go_elsewhere(call, answer);
	else
		finish(call, NULL, answer);
}

static int send(struct repository_call *call, struct error *err)
{
	const struct repository *repository = call->repository;
	const struct repository_request *wanted = &call->request;
	owned(secret_strings_clear) struct strings headers = { 0 };
	owned_free char *path = NULL;
	struct http_request request = {
		.method = "GET",
		.headers = &headers,
		.begun = wanted->begun,
		.data = wanted->data,
		.data_arg = wanted->arg,
		.timeout_ms = wanted->timeout_ms,
		.stall_ms = wanted->stall_ms,
		.done = answered,
		.arg = call,
	};

	if (call->requests++ == REQUESTS_MAX)
		return error_set(err, EPROTO,
				 "registry %s: it leads in a circle",
				 repository->host);
	if (asprintf(&path, "/v2/%s/%s", repository->path, wanted->path) < 0) {
		path = NULL;
		return error_nomem(err, "registry");
	}
	request.path = call->place ? call->place : path;
	if ((wanted->header &&
	     strings_add(&headers, wanted->header, err) < 0) ||
	    (is_home(call) && repository->authorization &&
	     strings_add(&headers, repository->authorization, err) < 0))
		return -1;
	call->http =
		http_send(call->elsewhere ? call->elsewhere : repository->http,
			  &request, err);
	return call->http ? 0 : -1;
}

struct repository_call *repository_ask(struct repository *repository,
				       const struct repository_request *request,
				       struct error *err)
{
	owned(repository_cancel) struct repository_call *call =
		calloc(1, sizeof(*call));

	if (!call) {
		error_nomem(err, "registry");
		return NULL;
	}
	call->repository = repository;
	call->request = *request;
	call->request.path = strdup(request->path);
	call->request.header = request->header ? strdup(request->header) : NULL;
	TAILQ_INSERT_TAIL(&repository->calls, call, entry);
	if (!call->request.path || (request->header && !call->request.header)) {
		error_nomem(err, "registry");
		return NULL;
	}
	return send(call, err) < 0 ? NULL : take(call);
}

void repository_resume(struct repository_call *call)
{
	if (call->http)
		http_resume(call->http);
}

void repository_cancel(struct repository_call *call)
{
	if (!call)
		return;
	if (call->repository)
		TAILQ_REMOVE(&call->repository->calls, call, entry);
	if (call->http)
		http_cancel(call->http);
	http_free(call->token);
	http_free(call->elsewhere);
	free(call->place);
	free((char *)call->request.path);
	free((char *)call->request.header);
	free(call);
}

/* Life. */

static int copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -1 : 0;
}

struct repository *repository_open(sd_event *loop,
				   const struct reference *reference,
				   const struct repository_way *way,
				   struct error *err)
{
	owned(repository_close) struct repository *repository =
		calloc(1, sizeof(*repository));
	const struct credential *who = way->credential;

	if (!repository) {
		error_nomem(err, "registry");
		return NULL;
	}
	TAILQ_INIT(&repository->calls);
	repository->loop = sd_event_ref(loop);
	repository->plain = way->plain;
	repository->tls = true;
	reference_place(reference, repository->host, repository->path);
	if (copy_text(&repository->authorities, way->authorities) < 0 ||
	    (who &&
	     (copy_text(&repository->credential.username, who->username) < 0 ||
	      copy_text(&repository->credential.password, who->password) <
		      0))) {
		error_nomem(err, "registry");
		return NULL;
	}
	return connect_to(repository, err) < 0 ? NULL : take(repository);
}

void repository_close(struct repository *repository)
{
	struct repository_call *call;

	if (!repository)
		return;
	while ((call = TAILQ_FIRST(&repository->calls)))
		repository_cancel(call);
	http_free(repository->http);
	sd_event_unref(repository->loop);
	credential_clear(&repository->credential);
	secret_free(repository->authorization);
	free(repository->authorities);
	free(repository);
}

const char *repository_host(const struct repository *repository)
{
	return repository->host;
}

uint64_t repository_wait_ms(const struct repository *repository)
{
	int64_t left_ms = repository->wait_until_ms - clock_mono_ms();

	return repository->wait_until_ms && left_ms > 0 ? (uint64_t)left_ms : 0;
}

int repository_refused(const struct repository *repository, int status,
		       struct error *err)
{
	return error_set(err,
			 status == 404                    ? ENOENT
			 : status == 401 || status == 403 ? EACCES
			 : status == 429                  ? EBUSY
							  : EIO,
			 "registry %s: HTTP status %d", repository->host,
			 status);
}
