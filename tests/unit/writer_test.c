/* writer_test.c - escaped texts, numbers, and the first failure.
 */
#include "controller/report/writer.h"
#include "tests/tap.h"

#include <errno.h>
#include <math.h>

static void test_escapes(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(1000);
	struct writer to;

	writer_init(&to, &out, html_text);
	writer_printf(&to, "<b>%s</b> %% ", "<i>\n");
	writer_text(&to, NULL);
	writer_text(&to, "a&b");
	writer_raw(&to, "<br>");
	ok(writer_end(&to, NULL) == 0, "HTML is written");
	is(out.data, "<b>&lt;i&gt; </b> % -a&amp;b<br>",
	   "every %%s is escaped, the format is not");
	buffer_clear(&out);
	writer_init(&to, &out, markdown_text);
	writer_printf(&to, "- **%s**\n", "a|b_c_");
	is(out.data, "- **a\\|b_c\\_**\n", "Markdown is escaped its own way");
	buffer_clear(&out);
	writer_init(&to, &out, html_text);
	to.missing = "";
	writer_raw(&to, "<p>");
	writer_text(&to, NULL);
	writer_raw(&to, "</p>");
	writer_text(&to, "\xc3\xa9 \xff\x7f plain");
	is(out.data, "<p></p>\xc3\xa9 \xef\xbf\xbd  plain",
	   "a missing text is as said, and bytes that are no UTF-8 are "
	   "replaced");
	buffer_clear(&out);
	writer_text(&to, "\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbc");
	is(out.data, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbc",
	   "so are characters that XML does not have");
}

static void test_numbers(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(1000);
	struct writer to;

	writer_init(&to, &out, html_text);
	writer_printf(&to, "%d %zu %.1f %.*f %.3g %g %s", -3, (size_t)7, 1.25,
		      2, 2.5, 1e9, (double)NAN, "end");
	is(out.data, "-3 7 1.2 2.50 1e+09 nan end",
	   "each conversion takes its own argument");
	buffer_clear(&out);
	writer_printf(&to, "%u %llu %02u %s", 4000000000U,
		      18000000000000000000ULL, 7U, "end");
	is(out.data, "4000000000 18000000000000000000 07 end",
	   "so do unsigned ones");
}

static void test_failure(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(10);
	struct error err = { 0 };
	struct writer to;

	buffer_text(&out, "before", NULL);
	writer_init(&to, &out, html_text);
	writer_raw(&to, "12");
	writer_cut(&to, 7);
	is(out.data, "before1", "what was written can be taken back");
	writer_text(&to, "too long");
	writer_raw(&to, "3");
	ok(writer_end(&to, &err) < 0 && err.code == E2BIG,
	   "the first failure is told at the end");
	is(out.data, "before", "and the buffer is as it was before");
}

int main(void)
{
	tap_begin(60);
	test_escapes();
	test_numbers();
	test_failure();
	return tap_done();
}
