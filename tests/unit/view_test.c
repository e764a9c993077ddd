/* view_test.c - lists of structs on a terminal and on a page.
 */
#include "controller/view/views.h"
#include "protocol/message/rate.h"
#include "tests/tap.h"

#include <math.h>
#include <string.h>

/* The table of a terminal; the caller frees it. */
static char *printed(const struct view *view, const void *of, size_t count,
		     int64_t at_ms)
{
	struct view_table table = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	view_table_fill(&table, view, of, count, at_ms);
	table_print(&table.table, out, false, NULL);
	table_clear(&table.table);
	fclose(out);
	return text;
}

static void test_sweeps(void)
{
	const struct sweep_info sweeps[] = {
		{ .id = 3,
		  .name = (char *)"a<b",
		  .client = (char *)"ann",
		  .jobs = 2,
		  .counts.of[JOB_RUNNING] = 2 },
		{ .id = 4,
		  .name = (char *)"c",
		  .client = (char *)"ann",
		  .jobs = 1,
		  .counts.of[JOB_FAILED] = 1,
		  .final = true },
	};
	owned_free char *text = printed(&view_sweeps, sweeps, 2, 0);
	struct view_table table = { 0 };

	is(text,
	   "SWEEP  NAME  STATE   JOBS  SUBMITTED  BY   BY STATE\n"
	   "    3  a<b   active     2          -  ann  2 running\n"
	   "    4  c     ended      1          -  ann  1 failed\n",
	   "a list is a table");
	view_table_fill(&table, &view_sweeps, sweeps, 0, 0);
	ok(!strcmp(table.droppable[0], "BY") &&
		   !strcmp(table.droppable[1], "SUBMITTED") &&
		   !strcmp(table.droppable[2], "JOBS") && !table.droppable[3],
	   "columns say in which order a narrow terminal drops them");
	table_clear(&table.table);
}

static void test_page(void)
{
	struct progress_info progress = {
		.step = 3, .steps = 9, .suspected = true, .loss = (double)NAN
	};
	const struct job_info job = { .job = 7,
				      .cell = (char *)"a<b",
				      .state = (char *)"running",
				      .devices = 8,
				      .repeat = 1,
				      .rate = 80.25,
				      .rate_unit = RATE_STEPS,
				      .progress = &progress };
	owned(buffer_clear) struct buffer page = BUFFER_INIT(10000);
	struct writer to;

	writer_init(&to, &page, html_text);
	view_page_begin(&view_jobs, &to);
	view_page_row(&view_jobs, &job, &to);
	is_int(writer_end(&to, NULL), 0, "a row is written");
	is(page.data,
	   "<table><tr><th class=\"n\">Job</th><th>Cell</th><th>State</th>"
	   "<th class=\"n\">Rate</th><th>Nodes</th><th>Step</th>"
	   "<th class=\"n\">Loss</th><th>Reason</th></tr>\n"
	   "<td class=\"n\"><a href=\"/job/7\">7</a></td>"
	   "<td>a&lt;b #2</td><td class=\"running\">running</td>"
	   "<td class=\"n\">80.2 step/s</td><td>-</td>"
	   "<td><progress max=\"9\" value=\"3\"></progress> 3 of 9, "
	   "<span class=\"bad\">suspected hang</span></td>"
	   "<td class=\"n\"></td><td></td>",
	   "with links, a bar and a warning, and its own columns");
}

static void test_nodes(void)
{
	uint64_t jobs[] = { 4, 5 };
	struct node_rate rate = { -6.9, 0.4, 12, 3, true };
	char *drift[] = { (char *)"driver: 2, but 1 on 3 of 4 like it" };
	struct node_shown node = {
		.info = { .name = (char *)"n1",
			  .state = (char *)"down",
			  .vendor = (char *)"cpu",
			  .devices = 8,
			  .lost = 1,
			  .free = 2,
			  .seen_ms = 1000,
			  .jobs = { jobs, 2 },
			  .rate = &rate },
		.number = 2,
		.power_w = (double)NAN,
	};
	owned_free char *text = printed(&view_nodes, &node, 1, 62000);
	owned(buffer_clear) struct buffer page = BUFFER_INIT(10000);
	struct writer to;

	is(text,
	   "NODE  STATE  VENDOR  DEVICES  FREE          RATE %  ADDRESS   SEEN"
	   "  JOBS  NOTES\n"
	   "n1    down   cpu      7 of 8     2  -6.9 ± 0.4 (!)           1m01s"
	   "  4,5\n",
	   "a node that is away, and slower than others");
	node.info.drift = (struct strings){ drift, 1 };
	writer_init(&to, &page, html_text);
	view_page_row(&view_nodes, &node, &to);
	ok(strstr(page.data, "driver: 2, but 1 on 3 of 4 like it"),
	   "what it differs in is a note of it");
	ok(strstr(page.data, "<a href=\"/node/2\">n1</a></td>"
			     "<td class=\"bad\">down</td>"),
	   "its page is linked, its state marked: %s", page.data);
	ok(strstr(page.data, "<a href=\"/job/4\">4</a> "
			     "<a href=\"/job/5\">5</a>"),
	   "its jobs are linked");
	ok(strstr(page.data, "last heard 1970-01-01 00:00:01"),
	   "and when it was heard last is said in UTC");
}

int main(void)
{
	tap_begin(30);
	test_sweeps();
	test_page();
	test_nodes();
	return tap_done();
}
