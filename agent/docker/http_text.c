/* http_text.c - texts of HTTP: addresses, and parts of a query.
 */
#include "agent/docker/http.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

int http_query(struct buffer *path, const char *name, const char *value,
	       struct error *err)
{
	char mark = strchr(path->data, '?') ? '&' : '?';
	char *text = curl_easy_escape(NULL, value, (int)strlen(value));
	int rc;

	if (!text)
		return error_nomem(err, "query");
	rc = buffer_printf(path, err, "%c%s=%s", mark, name, text);
	curl_free(text);
	return rc;
}

bool http_head_value(const struct http_answer *answer, const char *name,
		     char *value, size_t size)
{
	size_t length = strlen(name), value_length;
	const char *line = answer->head, *from;

	for (; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncasecmp(line, name, length) != 0 || line[length] != ':')
			continue;
		from = line + length + 1;
		from += strspn(from, " \t");
		value_length = strcspn(from, "\r\n");
		if (value_length >= size)
			return false;
		memcpy(value, from, value_length);
		value[value_length] = 0;
		return true;
	}
	return false;
}

/* Addresses. */

static int read_unix(const char *host, char **base, char **path,
		     struct error *err)
{
	const char *at = host + 7;
	struct sockaddr_un address;

	if (at[0] != '/')
		return error_set(err, EINVAL,
				 "engine address %s: unix:// needs an "
				 "absolute path, as in "
				 "unix:///var/run/docker.sock",
				 host);
	if (strlen(at) >= sizeof(address.sun_path))
		return error_set(err, EINVAL,
				 "engine address: the socket's path has %zu "
				 "bytes; expected at most %zu",
				 strlen(at), sizeof(address.sun_path) - 1);
	*path = strdup(at);
	*base = strdup("http://engine");
	return *path && *base ? 0 : error_nomem(err, "http");
}

static int read_tcp(const char *host, bool tls, char **base, struct error *err)
{
	const char *at = host + 6;
	const char *colon = strrchr(at, ':');
	size_t size = colon ? (size_t)(colon - at) : 0;
	bool six = size > 2 && at[0] == '[' && at[size - 1] == ']';
	char *end = NULL;
	long port = colon && isdigit((unsigned char)colon[1])
			    ? strtol(colon + 1, &end, 10)
			    : 0;
	const char *allowed = six ? "0123456789abcdefABCDEF:.[]"
				  : "0123456789abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-_";

	if (!size || size > 255 || strspn(at, allowed) < size || !end || *end ||
	    port < 1 || port > 65535)
		return error_set(err, EINVAL,
				 "engine address %s: expected tcp://HOST:PORT",
				 host);
	if (asprintf(base, "http%s://%s", tls ? "s" : "", at) < 0) {
		*base = NULL;
		return error_nomem(err, "http");
	}
	return 0;
}

int http_address(const char *host, bool tls, char **base, char **path,
		 struct error *err)
{
	if (!strncmp(host, "tcp://", 6))
		return read_tcp(host, tls, base, err);
	if (strncmp(host, "unix://", 7) != 0)
		return error_set(err, EINVAL,
				 "engine address %s: expected unix:///PATH or "
				 "tcp://HOST:PORT",
				 host);
	if (tls)
		return error_set(err, EINVAL,
				 "engine address %s: TLS is for tcp:// only",
				 host);
	return read_unix(host, base, path, err);
}
