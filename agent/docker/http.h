/* http.h - sends HTTP requests to one server, with libcurl on the event loop.
 *
 * http_send() returns at once. done() runs later from the loop, exactly once,
 * never from inside a call; after it the handle is gone. Every function here
 * may be called inside any callback, also http_free() and http_cancel(). No
 * callback of a cancelled call runs again.
 *
 * An answer has at most HTTP_ANSWER_MAX bytes, its headers HTTP_HEADERS_MAX; a
 * streamed answer is limited only in time. Proxies of the environment are not
 * used, redirects are not followed, bodies are not decompressed. The program
 * must ignore SIGPIPE. libcurl resolves host names in a thread of its own.
 *
 * err->code in done(): ECONNREFUSED (no server; also: the socket does not
 * exist), EACCES (socket or certificate), EHOSTUNREACH, ETIMEDOUT, ECONNRESET
 * (closed before the end), EPROTO (not HTTP), E2BIG (over a limit), ENOMEM, or
 * the code that a source or data callback set.
 */
#pragma once

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
	const char *body; /* ends in NUL; empty if it was streamed */
	size_t size;
	const char *head; /* "HTTP/1.1 200 OK\r\nName: value\r\n..." */
};

/* Exactly one of err and answer is NULL. An answer may have any status. */
typedef void http_done_fn(void *arg, const struct error *err,
			  const struct http_answer *answer);

/* A part of the body. -1 with *err set ends the call with that error. */
typedef int http_data_fn(void *arg, const void *data, size_t size,
			 struct error *err);

/* Give the next part of an upload, at most size bytes; 0: its end; -1 with *err
 * set ends the call with that error. Must not block: with EAGAIN the upload
 * pauses, and cannot stall, until http_resume().
 */
typedef ssize_t http_source_fn(void *arg, void *buffer, size_t size,
			       struct error *err);

struct http_request {
	const char *method;
	const char *path;       /* with the query; begins with '/' */
	const char *body;       /* JSON text, or NULL */
	http_source_fn *source; /* a tar stream instead of body; or NULL */
	void *source_arg;
	const struct strings *headers; /* further "Name: value", or NULL */
	http_data_fn *data; /* NULL: collect the body. The body of a status
			       other than 2xx is always collected */
	void *data_arg;
	bool bulk; /* data gets large pieces. libcurl gives up to 100 pieces in
		      a turn of the loop, so what they cost must be little */
	uint32_t timeout_ms; /* of the whole exchange; 0: none */
	uint32_t stall_ms;   /* without a byte in either direction; 0: none */
	http_done_fn *done;
	void *arg;
};

/* host: "unix:///absolute/path" or "tcp://HOST:PORT". tls_folder (tcp only, or
 * NULL) holds ca.pem (only its authorities are trusted), cert.pem and key.pem.
 * EINVAL: host or tls_folder is not valid.
 */
struct http *http_new(sd_event *loop, const char *host, const char *tls_folder,
		      struct error *err);

void http_free(struct http *http);
OWNED_POINTER(struct http, http_free)

/* *request is copied, except the arguments of its callbacks. */
struct http_call *http_send(struct http *http,
			    const struct http_request *request,
			    struct error *err);
void http_cancel(struct http_call *call);

/* The source has more. Not from inside a source or data callback. */
void http_resume(struct http_call *call);

/* Convert a host of http_new() for libcurl: to the base of URLs and, for a
 * socket, to its path. The caller frees both, also on failure. Pure.
 */
int http_address(const char *host, bool tls, char **base, char **path,
		 struct error *err);

/* The value of a header of the answer; the case of the name does not matter.
 * False: no such header, or its value does not fit.
 */
bool http_head_value(const struct http_answer *answer, const char *name,
		     char *value, size_t size);

/* Append "?name=value", or "&name=value" behind an earlier '?'; value is
 * escaped.
 */
int http_query(struct buffer *path, const char *name, const char *value,
	       struct error *err);
