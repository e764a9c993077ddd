/* table_test.c - one table in three forms, with texts that try to break each.
 */
#include "controller/report/table.h"
#include "controller/report/labels.h"
#include "protocol/base/utf8.h"
#include "tests/tap.h"

#include <string.h>

static const struct column columns[] = {
	{ "cell", false },
	{ "rate", true },
	{ NULL, false },
};

static struct table sample(void)
{
	struct table table = { .columns = columns };

	table_cell(&table, PLAIN, "%s", "a|b <i>\033[2J");
	table_cell(&table, PLAIN, "%s", "1.5");
	table_bar(&table, 50);
	table_cell(&table, RED, "%s", "失败");
	table_cell(&table, PLAIN, "%s", "-");
	return table;
}

static void test_terminal(void)
{
	owned(table_clear) struct table table = sample();
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	table_print(&table, out, false, NULL);
	fclose(out);
	is(text,
	   "cell            rate\n"
	   "a|b <i>\\x1b[2J   1.5\n"
	   "失败               -\n",
	   "a terminal has aligned columns without control characters");
	free(text);
}

/* Nothing of a reason is lost, and a path is in one piece. */
static void test_fold(void)
{
	static const struct column pairs[] = { { "NAME", false },
					       { "REASON", false },
					       { NULL, false } };
	owned(table_clear) struct table table = { .columns = pairs,
						  .fold = 30 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	table_text(&table, "abcdef");
	table_text(&table, "no such program in /usr/local/libexec/vendor/bin, "
			   "nor elsewhere");
	table_text(&table, "b");
	table_text(&table, "short");
	table_print(&table, out, false, NULL);
	table.fold = 20;
	table_print(&table, out, false, NULL);
	fclose(out);
	is(text,
	   "NAME    REASON\n"
	   "abcdef  no such program in\n"
	   "        /usr/local/libexec/vendor/bin,\n"
	   "        nor elsewhere\n"
	   "b       short\n"
	   "NAME    REASON\n"
	   "abcdef  no such program in /usr/local/libexec/vendor/bin, "
	   "nor elsewhere\n"
	   "b       short\n",
	   "a long last text goes on below itself, where there is room");
	free(text);
}

static void test_markup(void)
{
	owned(table_clear) struct table table = sample();
	owned(buffer_clear) struct buffer text = BUFFER_INIT(10000);
	owned(buffer_clear) struct buffer page = BUFFER_INIT(10000);
	owned(buffer_clear) struct buffer little = BUFFER_INIT(20);
	struct writer to;

	writer_init(&to, &text, markdown_text);
	table_markdown(&table, &to);
	ok(writer_end(&to, NULL) == 0 && strstr(text.data, "| cell ") &&
		   strstr(text.data, "-: |\n") && strstr(text.data, "a\\|b") &&
		   !strstr(text.data, "<i>"),
	   "Markdown has no further column and no tag");
	table_drop_column(&table, "rate");
	writer_init(&to, &page, html_text);
	table_html(&table, &to);
	ok(writer_end(&to, NULL) == 0 && strstr(page.data, "a|b &lt;i&gt;") &&
		   strstr(page.data, "<td class=\"n bar less\" "
				     "style=\"--w:50.0%\">1.5</td>") &&
		   strstr(page.data, "<td class=\"bad\">失败</td>"),
	   "HTML has the bar, the marks and no foreign tag");
	writer_init(&to, &little, html_text);
	table_html(&table, &to);
	ok(writer_end(&to, NULL) < 0, "a limit is kept");
}

/* As compare has them, with long names and long figures. */
static const struct column wide[] = {
	{ "CELL", false }, { "TOKEN/P/S 12", true }, { "TOKEN/P/S 17", true },
	{ "RATIO", true }, { "VERDICT", false },     { "LOSS %", true },
	{ NULL, false },
};
static const char *const droppable[] = { "LOSS %", "VERDICT", "TOKEN/P/S 17",
					 "TOKEN/P/S 12", NULL };

/* The longest line at so many columns. */
static size_t longest(size_t width, char *left_out, size_t size, char **text)
{
	owned(table_clear) struct table table = { .columns = wide };
	size_t most = 0, length;
	FILE *out;

	for (int i = 0; i < 2; i++) {
		table_cell(&table, PLAIN, "%s",
			   i ? "layout=a"
			     : "model=llama2-70b-hf layout=tp8pp4dp1 名=模型 "
			       "batch.micro=4 env.VARIANT=of-a-long-name");
		table_cell(&table, PLAIN, "%s", "123456 ± 1234 n=10");
		table_cell(&table, PLAIN, "%s", "99999 ± 10 n=10");
		table_cell(&table, PLAIN, "%s", "1.235 (1.201–1.269)");
		table_cell(&table, PLAIN, "%s", "faster");
		table_cell(&table, PLAIN, "%s", "12.34 (56.78)");
	}
	if (width)
		table_narrow(&table, width, width / 4, droppable);
	out = open_memstream(text, &length);
	table_print(&table, out, false, NULL);
	fclose(out);
	table_left_out(&table, left_out, size);
	for (char *at = *text, *end; (end = strchr(at, '\n')); at = end + 1) {
		*end = 0;
		if (utf8_width(at) > most)
			most = utf8_width(at);
		*end = '\n';
	}
	return most;
}

static void test_narrow(void)
{
	static const struct {
		size_t width;
		const char *left_out;
	} cases[] = {
		{ 40, "TOKEN/P/S 12, TOKEN/P/S 17, VERDICT, LOSS %" },
		{ 60, "TOKEN/P/S 17, VERDICT, LOSS %" },
		{ 80, "VERDICT, LOSS %" },
		{ 100, "LOSS %" },
		{ 120, "" },
		{ 200, "" },
	};
	char left_out[200], *text = NULL;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t width = cases[i].width;
		size_t most = longest(width, left_out, sizeof(left_out), &text);

		ok(most <= width, "%zu columns hold its lines: %zu", width,
		   most);
		is(left_out, cases[i].left_out,
		   "and what is not there is named");
		ok(strstr(text, "layout=a") &&
			   strstr(text, "1.235 (1.201–1.269)"),
		   "names and ratios are there");
		ok((strstr(text, "of-a-long-name") != NULL) == (width == 200) &&
			   (strstr(text, "..") != NULL) == (width < 200),
		   "a name that is shortened has dots");
		free(take(text));
	}
	ok(longest(0, left_out, sizeof(left_out), &text) > 100 && !*left_out,
	   "nothing is cut where there is no terminal");
	free(text);
}

/* Cells that differ in the first word or in the last. */
static void test_squeeze(void)
{
	static const char *const cells[] = {
		"VARIANT=the-first-of-two-long-names LAYOUT=tensor-parallel-8",
		"VARIANT=the-second-of-two-long-names LAYOUT=tensor-parallel-8",
		"VARIANT=the-first-of-two-long-names LAYOUT=tensor-parallel-4",
		"VARIANT=the-second-of-two-long-names LAYOUT=tensor-parallel-4",
		"VARIANT=名称很长很长很长的第一个单元 LAYOUT=tensor-parallel-4",
	};
	static const size_t widths[] = { 26, 32, 40, 60 };
	char names[5][LABEL_SIZE];

	for (size_t w = 0; w < 4; w++) {
		bool fit = true, apart = true;

		for (size_t i = 0; i < 5; i++) {
			snprintf(names[i], LABEL_SIZE, "%s", cells[i]);
			labels_squeeze(names[i], widths[w]);
			fit &= utf8_width(names[i]) <= widths[w];
			for (size_t k = 0; k < i; k++)
				apart &= strcmp(names[i], names[k]) != 0;
		}
		ok(fit, "%zu columns hold a name: %s", widths[w], names[0]);
		ok(apart, "and each is another: %s", names[4]);
	}
	snprintf(names[0], LABEL_SIZE, "a=1 b=2");
	labels_squeeze(names[0], 7);
	is(names[0], "a=1 b=2", "what fits stays");
	labels_squeeze(names[0], 6);
	is(names[0], "1 b=2", "a key goes first");
	labels_squeeze(names[0], 2);
	is(names[0], "1", "and what cannot fit is cut");
	snprintf(names[0], LABEL_SIZE, "batch.micro=2 nodes=1 lr=0.1");
	labels_squeeze(names[0], 22);
	is(names[0], "micro=2 nodes=1 lr=0.1", "of a key its group");
	labels_squeeze(names[0], 18);
	is(names[0], "2 nodes=1 lr=0.1", "and then the rest");
	snprintf(names[0], LABEL_SIZE, "note=\"a rather long text\" b=1 #2");
	labels_squeeze(names[0], 17);
	is(names[0], "\"a ra..text\" 1 #2", "a value with blanks is one word");
}

/* As the list of jobs has them. */
static void test_sentences(void)
{
	static const struct column job[] = {
		{ "JOB", true },
		{ "CELL", false },
		{ "DETAIL", false },
		{ NULL, false },
	};
	owned(table_clear) struct table table = { .columns = job };
	static const char *const none[] = { NULL };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	table_cell(&table, PLAIN, "%s", "17");
	table_cell(&table, PLAIN, "%s", "model=of-a-long-name n=2");
	table_cell(&table, RED, "%s", "exit: 模型 n1: rank 0 exited with 1");
	table_narrow(&table, 40, 10, none);
	table_print(&table, out, false, NULL);
	fclose(out);
	is(text,
	   "JOB  CELL              DETAIL\n"
	   " 17  of-a-long-name 2  exit: 模型 n1:..\n",
	   "a name keeps both ends, a sentence its beginning");
	free(text);
}

int main(void)
{
	tap_begin(62);
	test_squeeze();
	test_sentences();
	test_narrow();
	test_terminal();
	test_fold();
	test_markup();
	return tap_done();
}
