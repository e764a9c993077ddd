/* http_text_test.c - what answers say in headers, and how queries are written.
 */
#include "agent/docker/http.h"

#include "tests/tap.h"

/* 1795282710: Sat, 21 Nov 2026 17:38:30 GMT */
static void waits(void)
{
	static const struct {
		const char *header;
		uint32_t wait_s;
	} cases[] = {
		{ "Retry-After: 7", 7 },
		{ "retry-after:  8 \r\nX: 1", 8 },
		{ "Retry-After: 0", 0 },
		{ "Retry-After: 900", 900 },
		{ "Retry-After: 86400", 900 },
		{ "Retry-After: 99999999999999999999999999", 900 },
		{ "Retry-After: Sat, 21 Nov 2026 17:39:00 GMT", 30 },
		{ "Retry-After: Saturday, 21-Nov-26 17:39:00 GMT", 30 },
		{ "Retry-After: Sat Nov 21 17:39:00 2026", 30 },
		{ "Retry-After: Sun, 22 Nov 2026 17:39:00 GMT", 900 },
		{ "Retry-After: Sat, 21 Nov 2026 17:38:00 GMT", 0 },
		{ "Retry-After:", 0 },
		{ "Retry-After: -5", 0 },
		{ "Retry-After: 5s", 0 },
		{ "Retry-After: 1.5", 0 },
		{ "Retry-After: 5, 6", 0 },
		{ "Retry-After: soon", 0 },
		{ "Retry-After: Sat, 99 Nov 2026 99:99:99 GMT", 0 },
		{ "X-Retry-After: 7", 0 },
		{ "", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_answer answer = { .headers = cases[i].header };

		is_int(http_wait_s(&answer, 1795282710), cases[i].wait_s,
		       "\"%.*s\" is %u s", (int)strcspn(cases[i].header, "\r"),
		       cases[i].header, cases[i].wait_s);
	}
}

static void queries(void)
{
	owned(buffer_clear) struct buffer path;

	buffer_init(&path, 1000);
	buffer_text(&path, "/x", NULL);
	http_query(&path, "a", "1 &=?#/\xc3\xa9", NULL);
	http_query(&path, "b", "", NULL);
	is(path.data,
	   "/x?a=1%20%26%3D%3F%23%2F%C3%A9&b=", "query values are escaped");
}

int main(void)
{
	tap_begin(10);
	waits();
	queries();
	return tap_done();
}
