/* http.h - HTTP requests to one server, by libcurl on the event loop.
 *
 * http_send() returns at once. done() runs later from the loop, exactly once,
 * never from inside a call; after it the handle is gone. Everything here may
 * be called from inside any callback, http_free() and http_cancel() too: then
 * no callback of what was dropped runs again.
 *
 * An answer is at most HTTP_ANSWER_MAX bytes, its headers HTTP_HEADERS_MAX; a
 * streamed one has no limit but those of time. Proxies of the environment are
 * not used, redirects not followed, nothing is unpacked. The program must
 * ignore SIGPIPE. A host name (not an address) is looked up by a thread of
 * libcurl's.
 *
 * err->code in done(): ECONNREFUSED (nobody there; also a socket that does not
 * exist), EACCES (socket or certificate), EHOSTUNREACH, ETIMEDOUT, ECONNRESET
 * (closed before the end), EPROTO (not HTTP), E2BIG (over a limit), ENOMEM, or
 * whatever a source or data callback said.
 */
#ifndef AGENT_DOCKER_HTTP_H
#define AGENT_DOCKER_HTTP_H

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/message/codec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#define HTTP_ANSWER_MAX (16 << 20)
#define HTTP_HEADERS_MAX (64 << 10)

struct http;
struct http_call;

struct http_answer {
	int status;
	const char *body; /* NUL behind it; empty when it was streamed */
	size_t size;
	const char *head; /* "HTTP/1.1 200 OK\r\nName: value\r\n..." */
};

/* Exactly one of err and answer is NULL: any status is an answer. */
typedef void http_done_fn(void *arg, const struct error *err,
			  const struct http_answer *answer);

/* A part of the body. -1 with *err set ends the call with that error. */
typedef int http_data_fn(void *arg, const void *data, size_t size,
			 struct error *err);

/* The next part of an upload, at most size bytes; 0: its end; -1 with *err set
 * ends the call with that error, but EAGAIN: there is none now, ask again after
 * http_resume(). Must not block.
 */
typedef ssize_t http_source_fn(void *arg, void *buffer, size_t size,
			       struct error *err);

struct http_request {
	const char *method;
	const char *path;       /* with the query; begins with '/' */
	const char *body;       /* JSON text, or NULL */
	http_source_fn *source; /* or a tar stream of unknown length */
	void *source_arg;
	const struct strings *headers; /* "Name: value", beside ours; NULL */
	http_data_fn *data; /* NULL: the body is collected. Bodies of other
			       answers than 2xx always are */
	void *data_arg;
	uint32_t timeout_ms; /* of the whole exchange; 0: none */
	uint32_t stall_ms;   /* without a byte in either direction, while
				nobody says not now; 0: none */
	http_done_fn *done;
	void *arg;
};

/* host: "unix:///absolute/path" or "tcp://HOST:PORT". tls_folder (tcp only,
 * or NULL) holds ca.pem, whose authorities alone count, cert.pem and key.pem.
 * EINVAL: what is wrong with it.
 */
struct http *http_new(sd_event *loop, const char *host, const char *tls_folder,
		      struct error *err);

void http_free(struct http *http);
OWNED_POINTER(struct http, http_free)

/* All of *request but its callbacks' arguments is copied. */
struct http_call *http_send(struct http *http,
			    const struct http_request *request,
			    struct error *err);
void http_cancel(struct http_call *call);

/* source() may be asked again, in a later turn of the loop. */
void http_resume(struct http_call *call);

/* What an address as http_new() takes it means for libcurl: the base of URLs
 * and, for a socket, its path, both owned by the caller also on failure. Pure.
 */
int http_address(const char *host, bool tls, char **base, char **path,
		 struct error *err);

/* The value of that line of an answer's head, whatever the case of its name;
 * false: there is none, or it is longer.
 */
bool http_head_value(const struct http_answer *answer, const char *name,
		     char *value, size_t size);

/* Append "?name=value", or "&name=value" behind an earlier '?'; value is
 * escaped.
 */
int http_query(struct buffer *path, const char *name, const char *value,
	       struct error *err);

#endif
