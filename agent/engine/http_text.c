/* http_text.c - texts of HTTP: parts of a query, values of headers.
 */
#include "agent/engine/http.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

bool http_header(const struct http_answer *answer, const char *name, char *to,
		 size_t size)
{
	size_t length = strlen(name);
	const char *at = answer->headers;

	while (at && *at) {
		const char *end = at + strcspn(at, "\r\n");

		if (!strncasecmp(at, name, length) && at[length] == ':') {
			at += length + 1;
			at += strspn(at, " \t");
			snprintf(to, size, "%.*s", (int)(end - at), at);
			return true;
		}
		at = end + strspn(end, "\r\n");
	}
	return false;
}
