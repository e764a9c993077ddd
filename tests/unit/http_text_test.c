/* http_text_test.c - how queries are written.
 */
#include "agent/docker/http.h"

#include "tests/tap.h"

static void queries(void)
{
	owned(buffer_clear) struct buffer path = BUFFER_INIT(1000);

	buffer_text(&path, "/x", NULL);
	http_query(&path, "a", "1 &=?#/\xc3\xa9", NULL);
	http_query(&path, "b", "", NULL);
	is(path.data,
	   "/x?a=1%20%26%3D%3F%23%2F%C3%A9&b=", "query values are escaped");
}

int main(void)
{
	tap_begin(10);
	queries();
	return tap_done();
}
