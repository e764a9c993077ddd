/* table_test.c - one table in three forms, with texts that try to break each.
 */
#include "controller/report/table.h"
#include "tests/tap.h"

#include <string.h>

static const struct column columns[] = {
	{ "cell", false },
	{ "rate", true },
	{ NULL, false },
};

static struct table *sample(void)
{
	struct table *table = table_new(columns, NULL);

	table_cell(table, PLAIN, "%s", "a|b <i>\033[2J");
	table_cell(table, PLAIN, "%s", "1.5");
	table_bar(table, 50);
	table_cell(table, RED, "%s", "失败");
	table_cell(table, PLAIN, "%s", "-");
	return table;
}

static void test_terminal(void)
{
	owned(table_free) struct table *table = sample();
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	table_print(table, out, false, NULL);
	fclose(out);
	is(text,
	   "cell            rate\n"
	   "a|b <i>\\x1b[2J   1.5\n"
	   "失败               -\n",
	   "a terminal has aligned columns without control characters");
	free(text);
}

static void test_markup(void)
{
	owned(table_free) struct table *table = sample();
	owned(buffer_clear) struct buffer text, page;
	struct error err;

	buffer_init(&text, 10000);
	buffer_init(&page, 10000);
	ok(table_markdown(table, &text, NULL) == 0 &&
		   strstr(text.data, "| cell ") &&
		   strstr(text.data, "-: |\n") && strstr(text.data, "a\\|b") &&
		   !strstr(text.data, "<i>"),
	   "Markdown has no further column and no tag");
	ok(table_html(table, &page, NULL) == 0 &&
		   strstr(page.data, "a|b &lt;i&gt;") &&
		   strstr(page.data, "<td class=\"n bar\" "
				     "style=\"--w:50.0%\">1.5</td>") &&
		   strstr(page.data, "<td class=\"bad\">失败</td>"),
	   "HTML has the bar, the mark and no foreign tag");
	buffer_clear(&page);
	buffer_init(&page, 20);
	ok(table_html(table, &page, &err) < 0, "a limit is kept");
}

int main(void)
{
	tap_begin(60);
	test_terminal();
	test_markup();
	return tap_done();
}
