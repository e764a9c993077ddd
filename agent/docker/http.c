/* http.c - HTTP requests to one server, by libcurl on the event loop.
 */
#include "agent/docker/http.h"

#include "protocol/base/clock.h"
#include "protocol/base/loop.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>

#define BULK_BUFFER (128L << 10) /* libcurl's own is 16 KiB */
#define IDLE_CONNECTIONS 8L

enum call_state {
	CALL_WAITING,  /* given to libcurl when its callback has returned */
	CALL_RUNNING,  /* libcurl has it */
	CALL_FINISHED, /* done() is due */
};

struct http_call {
	TAILQ_ENTRY(http_call) entry; /* in calls, or finished */
	struct http *http;
	enum call_state state;
	bool cancelled;
	bool paused; /* its source has nothing now */
	CURL *easy;
	struct curl_slist *headers;
	char *body;
	http_source_fn *source;
	void *source_arg;
	http_data_fn *data;
	void *data_arg;
	http_done_fn *done;
	void *arg;
	uint32_t timeout_ms;
	uint32_t stall_ms;
	sd_event_source *stall;
	int64_t moved_ms; /* time of the last byte */
	struct buffer head, answer;
	char message[CURL_ERROR_SIZE];
	struct error error; /* code 0: none */
};
TAILQ_HEAD(http_calls, http_call);

struct http {
	sd_event *loop;
	char *host;
	char *base; /* "http://engine", "https://host:port" */
	char *socket;
	char *ca, *certificate, *key;
	CURLM *multi;
	sd_event_source *timer;  /* libcurl's */
	struct deferral *now;    /* libcurl's, for a timeout of 0 */
	struct deferral *finish; /* calls done() of finished calls */
	struct http_calls calls;
	struct http_calls finished;
	bool in_curl; /* a callback of libcurl runs: do not call libcurl */
	bool freed;   /* http_free() was called inside a callback */
};

static void http_destroy(struct http *http);

static int use_tls(struct http *http, const char *folder, struct error *err)
{
	static const char *const names[] = { "ca.pem", "cert.pem", "key.pem" };
	char **const paths[] = { &http->ca, &http->certificate, &http->key };

	for (size_t i = 0; i < 3; i++) {
		if (asprintf(paths[i], "%s/%s", folder, names[i]) < 0) {
			*paths[i] = NULL;
			return error_nomem(err, "http");
		}
		if (access(*paths[i], R_OK) < 0)
			return error_errno(err, "TLS folder: %s", *paths[i]);
	}
	return 0;
}

/* libcurl on the loop. */

static void http_call_free(struct http_call *call)
{
	loop_source_free(&call->stall);
	curl_easy_cleanup(call->easy);
	/* A header may hold a password. */
	for (struct curl_slist *at = call->headers; at; at = at->next)
		explicit_bzero(at->data, strlen(at->data));
	curl_slist_free_all(call->headers);
	buffer_clear(&call->head);
	buffer_clear(&call->answer);
	free(call->body);
	free(call);
}

static void call_finish(struct http_call *call)
{
	struct http *http = call->http;

	loop_source_free(&call->stall);
	TAILQ_REMOVE(&http->calls, call, entry);
	TAILQ_INSERT_TAIL(&http->finished, call, entry);
	call->state = CALL_FINISHED;
	deferral_run(http->finish);
}

static void call_add(struct http_call *call)
{
	CURLMcode rc = curl_multi_add_handle(call->http->multi, call->easy);

	if (rc == CURLM_OK) {
		call->state = CALL_RUNNING;
		return;
	}
	error_set(&call->error, EIO, "http: %s", curl_multi_strerror(rc));
	call_finish(call);
}

static void connect_error(struct http_call *call)
{
	struct http *http = call->http;
	struct error *err = &call->error;
	long os = 0;

	curl_easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &os);
	if (os == EACCES || os == EPERM)
		error_set(err, EACCES,
			  "no permission to access the engine at %s; add this "
			  "user to the group of its socket",
			  http->host);
	else if (os == ENETUNREACH || os == EHOSTUNREACH || os == ETIMEDOUT)
		error_set(err, (int)os, "engine at %s: %s", http->host,
			  strerror((int)os));
	else
		error_set(err, ECONNREFUSED,
			  "no engine at %s; start Docker (%s)", http->host,
			  os ? strerror((int)os) : call->message);
}

/* Set the call's error from libcurl's, unless a callback has set one. */
static void call_error(struct http_call *call, CURLcode rc)
{
	struct error *err = &call->error;
	const char *host = call->http->host;
	const char *words =
		call->message[0] ? call->message : curl_easy_strerror(rc);

	if (err->code || rc == CURLE_OK)
		return;
	switch (rc) {
	case CURLE_COULDNT_CONNECT:
		connect_error(call);
		break;
	case CURLE_OPERATION_TIMEDOUT:
		error_set(err, ETIMEDOUT,
			  "engine at %s: no answer within %u ms", host,
			  call->timeout_ms);
		break;
	case CURLE_COULDNT_RESOLVE_HOST:
		error_set(err, EHOSTUNREACH, "engine at %s: unknown host",
			  host);
		break;
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
		error_set(err, ECONNRESET,
			  "engine at %s: connection closed before the end of "
			  "the answer",
			  host);
		break;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_PEER_FAILED_VERIFICATION:
		error_set(err, EACCES, "engine at %s: TLS: %s", host, words);
		break;
	case CURLE_OUT_OF_MEMORY:
		error_nomem(err, "http");
		break;
	default:
		error_set(err, EPROTO, "engine at %s: %s", host, words);
	}
}

/* After each visit to libcurl: do what its callbacks deferred. */
static void http_settle(struct http *http)
{
	struct http_call *call, *next;
	CURLMsg *message;
	int left;

	if (http->freed) {
		http_destroy(http);
		return;
	}
	while ((message = curl_multi_info_read(http->multi, &left))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
				  (char **)&call);
		call_error(call, message->data.result);
		curl_multi_remove_handle(http->multi, call->easy);
		call_finish(call);
	}
	for (call = TAILQ_FIRST(&http->calls); call; call = next) {
		next = TAILQ_NEXT(call, entry);
		if (call->cancelled)
			http_cancel(call);
		else if (call->state == CALL_WAITING)
			call_add(call);
	}
	for (call = TAILQ_FIRST(&http->finished); call; call = next) {
		next = TAILQ_NEXT(call, entry);
		if (call->cancelled)
			http_cancel(call);
	}
}

static void http_visit(struct http *http, curl_socket_t fd, int what)
{
	int running;

	http->in_curl = true;
	curl_multi_socket_action(http->multi, fd, what, &running);
	http->in_curl = false;
	http_settle(http);
}

static int io_ready(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	int what = 0;

	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		what |= CURL_CSELECT_IN;
	if (events & (EPOLLOUT | EPOLLERR))
		what |= CURL_CSELECT_OUT;
	if (events & EPOLLERR)
		what |= CURL_CSELECT_ERR;
	http_visit(arg, fd, what);
	return 0;
}

static int timer_ready(sd_event_source *source, uint64_t usec, void *arg)
{
	http_visit(arg, CURL_SOCKET_TIMEOUT, 0);
	return 0;
}

static void now_ready(void *arg)
{
	http_visit(arg, CURL_SOCKET_TIMEOUT, 0);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg,
		     void *fd_arg)
{
	struct http *http = arg;
	sd_event_source *source = fd_arg;
	uint32_t events = (what & CURL_POLL_IN ? EPOLLIN : 0) |
			  (what & CURL_POLL_OUT ? EPOLLOUT : 0);

	if (what == CURL_POLL_REMOVE) {
		loop_source_free(&source);
		curl_multi_assign(http->multi, fd, NULL);
		return 0;
	}
	if (source)
		return sd_event_source_set_io_events(source, events) < 0 ? -1
									 : 0;
	if (sd_event_add_io(http->loop, &source, fd, events, io_ready, http) <
	    0)
		return -1;
	curl_multi_assign(http->multi, fd, source);
	return 0;
}

/* A timer of ours would be a moment late even for 0, so that is a
 * deferral. The accuracy is 1 microsecond as 0 would mean 250 ms.
 */
static int on_timer(CURLM *multi, long timeout_ms, void *arg)
{
	struct http *http = arg;
	uint64_t usec = timeout_ms > 0 ? (uint64_t)timeout_ms * 1000 : 0;
	int rc;

	loop_timer_stop(http->timer);
	if (timeout_ms)
		deferral_stop(http->now);
	else
		deferral_run(http->now);
	if (timeout_ms <= 0)
		return 0;
	if (!http->timer)
		return sd_event_add_time_relative(http->loop, &http->timer,
						  CLOCK_MONOTONIC, usec, 1,
						  timer_ready, http) < 0
			       ? -1
			       : 0;
	rc = sd_event_source_set_time_relative(http->timer, usec);
	if (rc >= 0)
		rc = sd_event_source_set_enabled(http->timer, SD_EVENT_ONESHOT);
	return rc < 0 ? -1 : 0;
}

static struct http_answer answer_of(const struct http_call *call)
{
	long status = 0;

	curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	return (struct http_answer){
		.status = (int)status,
		.body = call->answer.data,
		.size = call->answer.size,
		.head = call->head.data,
	};
}

/* One call a turn: done() may free http. */
static void finish_ready(void *arg)
{
	struct http *http = arg;
	struct http_call *call = TAILQ_FIRST(&http->finished);
	struct http_answer answer;

	if (!call)
		return;
	TAILQ_REMOVE(&http->finished, call, entry);
	if (!TAILQ_EMPTY(&http->finished))
		deferral_run(http->finish);
	answer = answer_of(call);
	if (call->error.code)
		call->done(call->arg, &call->error, NULL);
	else
		call->done(call->arg, NULL, &answer);
	http_call_free(call);
}

/* Callbacks of one transfer. They run inside libcurl. */

static bool call_dropped(const struct http_call *call)
{
	return call->cancelled || call->http->freed;
}

static size_t on_header(char *data, size_t one, size_t size, void *arg)
{
	struct http_call *call = arg;

	call->moved_ms = clock_mono_ms();
	if (call_dropped(call))
		return 0;
	/* A status line begins a new answer, for example after "100 Continue".
	 */
	if (size > 5 && !memcmp(data, "HTTP/", 5))
		buffer_consume(&call->head, call->head.size);
	if (buffer_append(&call->head, data, size, NULL) < 0) {
		error_set(&call->error, E2BIG,
			  "engine at %s: more than %d bytes of headers",
			  call->http->host, HTTP_HEADERS_MAX);
		return 0;
	}
	return size;
}

static size_t on_data(char *data, size_t one, size_t size, void *arg)
{
	struct http_call *call = arg;
	struct http_answer answer = answer_of(call);
	struct error err = { 0 };
	int rc;

	call->moved_ms = clock_mono_ms();
	if (call_dropped(call))
		return 0;
	if (call->data && answer.status / 100 == 2) {
		rc = call->data(call->data_arg, data, size, &err);
	} else {
		rc = buffer_append(&call->answer, data, size, &err);
		if (rc < 0)
			error_prefix(&err, "engine at %s: answer",
				     call->http->host);
	}
	if (rc < 0 && err.code)
		call->error = err;
	return rc < 0 || call_dropped(call) ? 0 : size;
}

static size_t on_read(char *data, size_t one, size_t size, void *arg)
{
	struct http_call *call = arg;
	struct error err = { 0 };
	ssize_t got;

	call->moved_ms = clock_mono_ms();
	if (call_dropped(call))
		return CURL_READFUNC_ABORT;
	got = call->source(call->source_arg, data, size, &err);
	call->paused = got < 0 && err.code == EAGAIN;
	if (call->paused)
		return CURL_READFUNC_PAUSE;
	if (got < 0)
		call->error = err;
	return got < 0 || call_dropped(call) ? CURL_READFUNC_ABORT
					     : (size_t)got;
}

static int arm_stall(struct http_call *call, struct error *err);

static int stall_ready(sd_event_source *source, uint64_t usec, void *arg)
{
	struct http_call *call = arg;
	struct http *http = call->http;
	struct error err;

	if (call->paused)
		call->moved_ms = clock_mono_ms();
	if (clock_mono_ms() - call->moved_ms < (int64_t)call->stall_ms &&
	    arm_stall(call, &err) == 0)
		return 0;
	error_set(&call->error, ETIMEDOUT, "engine at %s: no data for %u ms",
		  http->host, call->stall_ms);
	curl_multi_remove_handle(http->multi, call->easy);
	call_finish(call);
	return 0;
}

/* The timer is not moved at every byte: when it fires, it checks the time of
 * the last one.
 */
static int arm_stall(struct http_call *call, struct error *err)
{
	int64_t silent = clock_mono_ms() - call->moved_ms;

	return loop_timer(call->http->loop, &call->stall,
			  (uint64_t)(call->stall_ms - silent), stall_ready,
			  call, err);
}

/* Requests. */

static int set_body(struct http_call *call, const struct http_request *request)
{
	CURL *easy = call->easy;
	CURLcode rc = CURLE_OK;

	if (request->source) {
		rc |= curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
		rc |= curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
		rc |= curl_easy_setopt(easy, CURLOPT_READDATA, call);
		/* libcurl sends a request again if an idle connection is dead,
		 * which a stream cannot be.
		 */
		rc |= curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	} else if (request->body || !strcmp(request->method, "POST")) {
		call->body = strdup(request->body ? request->body : "");
		if (!call->body)
			return -1;
		rc |= curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
				       (curl_off_t)strlen(call->body));
		rc |= curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body);
	}
	rc |= curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
	return rc == CURLE_OK ? 0 : -1;
}

static int set_headers(struct http_call *call,
		       const struct http_request *request)
{
	const char *type = request->source ? "Content-Type: application/x-tar"
					   : "Content-Type: application/json";
	struct curl_slist *list = curl_slist_append(NULL, type);

	if (!list)
		return -1;
	call->headers = list;
	/* Otherwise libcurl waits a second for a "100 Continue". */
	if (!curl_slist_append(list, "Expect:"))
		return -1;
	for (size_t i = 0; request->headers && i < request->headers->count; i++)
		if (!curl_slist_append(list, request->headers->items[i]))
			return -1;
	return curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, list) ==
			       CURLE_OK
		       ? 0
		       : -1;
}

static int set_options(struct http_call *call,
		       const struct http_request *request)
{
	struct http *http = call->http;
	CURL *easy = call->easy;
	owned_free char *url = NULL;
	CURLcode rc = CURLE_OK;

	if (asprintf(&url, "%s%s", http->base, request->path) < 0) {
		url = NULL;
		return -1;
	}
	rc |= curl_easy_setopt(easy, CURLOPT_URL, url);
	rc |= curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	rc |= curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
	rc |= curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	rc |= curl_easy_setopt(easy, CURLOPT_PROXY, "");
	rc |= curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
			       (long)CURL_HTTP_VERSION_1_1);
	rc |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	rc |= curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->message);
	rc |= curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	rc |= curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
	rc |= curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
	rc |= curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
	rc |= curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
			       (long)request->timeout_ms);
	if (request->bulk)
		rc |= curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, BULK_BUFFER);
	if (http->socket)
		rc |= curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH,
				       http->socket);
	/* Otherwise libcurl also trusts the system's authorities. */
	if (http->ca) {
		rc |= curl_easy_setopt(easy, CURLOPT_CAINFO, http->ca);
		rc |= curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
	if (http->certificate) {
		rc |= curl_easy_setopt(easy, CURLOPT_SSLCERT,
				       http->certificate);
		rc |= curl_easy_setopt(easy, CURLOPT_SSLKEY, http->key);
	}
	return rc == CURLE_OK ? 0 : -1;
}

struct http_call *http_send(struct http *http,
			    const struct http_request *request,
			    struct error *err)
{
	struct http_call *call = calloc(1, sizeof(*call));

	if (!call || !(call->easy = curl_easy_init())) {
		free(call);
		return error_null(error_nomem(err, "http"));
	}
	call->http = http;
	call->source = request->source;
	call->source_arg = request->source_arg;
	call->data = request->data;
	call->data_arg = request->data_arg;
	call->done = request->done;
	call->arg = request->arg;
	call->timeout_ms = request->timeout_ms;
	call->stall_ms = request->stall_ms;
	call->moved_ms = clock_mono_ms();
	buffer_init(&call->head, HTTP_HEADERS_MAX);
	buffer_init(&call->answer, HTTP_ANSWER_MAX);
	if (set_options(call, request) < 0 || set_body(call, request) < 0 ||
	    set_headers(call, request) < 0) {
		http_call_free(call);
		return error_null(error_nomem(err, "http"));
	}
	if (call->stall_ms && arm_stall(call, err) < 0) {
		http_call_free(call);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&http->calls, call, entry);
	if (!http->in_curl)
		call_add(call);
	return call;
}

void http_cancel(struct http_call *call)
{
	struct http *http = call->http;

	if (http->in_curl) {
		call->cancelled = true;
		return;
	}
	if (call->state == CALL_RUNNING)
		curl_multi_remove_handle(http->multi, call->easy);
	if (call->state == CALL_FINISHED)
		TAILQ_REMOVE(&http->finished, call, entry);
	else
		TAILQ_REMOVE(&http->calls, call, entry);
	http_call_free(call);
}

void http_resume(struct http_call *call)
{
	struct http *http = call->http;

	if (!call->paused || call->state != CALL_RUNNING)
		return;
	call->paused = false;
	call->moved_ms = clock_mono_ms();
	http->in_curl = true;
	curl_easy_pause(call->easy, CURLPAUSE_CONT);
	http->in_curl = false;
	http_settle(http);
}

/* Creation and release. */

static int http_attach(struct http *http, struct error *err)
{
	CURLMcode rc = CURLM_OK;

	http->multi = curl_multi_init();
	if (!http->multi)
		return error_nomem(err, "http");
	rc |= curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION,
				on_socket);
	rc |= curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
	rc |= curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	rc |= curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
	rc |= curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS,
				IDLE_CONNECTIONS);
	if (rc != CURLM_OK)
		return error_set(err, EIO, "http: libcurl refuses an option");
	http->finish = deferral_new(http->loop, false, finish_ready, http, err);
	http->now = deferral_new(http->loop, false, now_ready, http, err);
	return http->finish && http->now ? 0 : -1;
}

struct http *http_new(sd_event *loop, const char *host, const char *tls_folder,
		      struct error *err)
{
	owned(http_free) struct http *http =
		error_calloc(sizeof(*http), "http", err);

	if (!http)
		return NULL;
	TAILQ_INIT(&http->calls);
	TAILQ_INIT(&http->finished);
	http->loop = sd_event_ref(loop);
	http->host = strdup(host);
	if (!http->host)
		return error_null(error_nomem(err, "http"));
	if (http_address(host, tls_folder, &http->base, &http->socket, err) <
		    0 ||
	    (tls_folder && use_tls(http, tls_folder, err) < 0) ||
	    http_attach(http, err) < 0)
		return NULL;
	return take(http);
}

static void http_destroy(struct http *http)
{
	struct http_call *call;

	http->in_curl = false;
	while ((call = TAILQ_FIRST(&http->calls)) ||
	       (call = TAILQ_FIRST(&http->finished)))
		http_cancel(call);
	curl_multi_cleanup(http->multi);
	loop_source_free(&http->timer);
	deferral_free(http->now);
	deferral_free(http->finish);
	sd_event_unref(http->loop);
	free(http->host);
	free(http->base);
	free(http->socket);
	free(http->ca);
	free(http->certificate);
	free(http->key);
	free(http);
}

void http_free(struct http *http)
{
	if (!http)
		return;
	http->freed = true;
	if (!http->in_curl)
		http_destroy(http);
}
