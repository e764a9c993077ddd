/* report_test.c - rows to tables, with texts that try to break them.
 */
#include "controller/report/chart.h"
#include "controller/report/races.h"
#include "controller/report/report.h"
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"
#include "tests/unit/report_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

/* In a head, it is whole. */
#define PIN                                                                    \
	"reg.example/lab/team/train@sha256:"                                   \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Three rows: one good, one good with a flag, one failed, with every
 * character that Markdown or CSV gives a meaning.
 */
static const char rows_json[] =
	"[{\"job\":1,\"cell\":\"model=gpt_nano nodes=1\",\"repeat\":0,"
	"\"values\":{\"nodes\":1},\"state\":\"completed\",\"failure\":null,"
	"\"setup\":{\"vendor\":\"acme\",\"chip\":\"A1\",\"model\":\"gpt_nano\","
	"\"precision\":\"bf16\"},"
	"\"text\":null,\"nodes\":1,\"devices\":2,"
	"\"result\":{\"formula\":1,\"measured\":true,\"steps\":60,"
	"\"iteration_ms\":{\"median\":123.44,\"q1\":122,\"q3\":125.5,\"n\":54},"
	"\"loss\":{\"first\":5.5,\"last\":2.12345},"
	"\"tokens_per_second\":8300.5,"
	"\"tokens_per_second_per_device\":4150.25,\"memory_mib\":120.04,"
	"\"wall_s\":12.34,\"mfu\":null,\"flags\":[],"
	"\"inputs\":{\"started_ms\":1000000001000}},"
	"\"provenance\":{\"image\":\"sha256:aa\",\"engine\":\"20.10\","
	"\"image_pin\":\"" PIN "\","
	"\"kernel\":\"6.1\",\"nodes\":[\"n10\",\"n2\"]}},"
	"{\"job\":2,\"cell\":\"b\",\"repeat\":1,\"state\":\"completed\","
	"\"values\":{\"batch\":{\"micro\":4}},\"nodes\":2,\"devices\":4,"
	"\"result\":{\"formula\":1,\"tokens_per_second_per_device\":9,"
	"\"loss\":{\"first\":1,\"last\":\"nan\"},"
	"\"flags\":[\"it is <b>odd</b>\",\"very\"]},"
	"\"repeats\":{\"n\":2,\"mean\":9.5,\"stdev\":0.707,"
	"\"cv_percent\":7.44},\"anomalies\":[\"they differ\"],"
	"\"from\":{\"job\":7,\"sweep\":3},"
	"\"provenance\":{\"image\":\"sha256:aa\",\"engine\":\"24.0\","
	"\"kernel\":\"6.1\",\"nodes\":[\"n2\"]}},"
	"{\"job\":3,\"cell\":\"a|b_c_`x`\\n\\\"q\\\",\\u00e4 _d_\","
	"\"state\":\"failed\",\"failure\":\"exit\","
	"\"text\":\"rank 1\\nexited | 1\",\"nodes\":1,\"devices\":1,"
	"\"result\":{\"tokens_per_second_per_device\":777,"
	"\"flags\":[\"hidden\"]},"
	"\"provenance\":{\"image\":\"sha256:bad\"}},"
	"{\"job\":4,\"cell\":\"d\",\"state\":\"running\",\"nodes\":1,"
	"\"devices\":1,\"result\":null,\"provenance\":null}]";

/* clang-format off */
static const char markdown[] =
"Sweep 12, first, submitted 2001-09-09T01:46:40Z by ann.\n\n"
"largest job 2 nodes, 4 devices; model gpt_nano; vendor acme; chip A1; precision bf16; nodes n2, n10; image digest " PIN "; image id sha256:aa / sha256:bad; engine 20.10 / 24.0; kernel 6.1; steps 60; formula 1.\n\n"
"| cell                      | repeat | nodes | devices | token/p/s |   loss | memory (MiB) | step time (ms) | wall time (s) | state        |\n"
"| ------------------------- | -----: | ----: | ------: | --------: | -----: | -----------: | -------------: | ------------: | ------------ |\n"
"| model=gpt_nano nodes=1    |      1 |     1 |       2 |    4150.2 | 2.1235 |        120.0 |          123.4 |          12.3 | completed    |\n"
"| b                         |      2 |     2 |       4 |   9.0 (!) |    nan |            - |              - |             - | completed    |\n"
"| a\\|b_c\\_\\`x\\` \"q\",\xc3\xa4 \\_d\\_ |      1 |     1 |       1 |         - |      - |            - |              - |             - | failed: exit |\n"
"| d                         |      1 |     1 |       1 |         - |      - |            - |              - |             - | running      |\n"
"\n"
"Without a result:\n"
"\n"
"- job 3, a\\|b_c\\_\\`x\\` \"q\",\xc3\xa4 \\_d\\_: exit: rank 1 exited \\| 1\n"
"\n"
"What to do:\n"
"\n"
"- exit: see the preceding output (regatta logs) and other candidates (regatta diagnose)\n"
"\n"
"Jobs taken over from earlier sweeps:\n"
"\n"
"- job 2, b: from job 7 of sweep 3\n"
"\n"
"Suspect results (!):\n"
"\n"
"- job 2, b: it is \\<b\\>odd\\</b\\>\n"
"- job 2, b: very\n"
"- job 2, b: they differ\n";

static const char csv[] =
"job,cell,repeat,state,failure,text,nodes,devices,"
"tokens_per_second_per_device,tokens_per_second,loss_first,loss_last,"
"memory_mib,iteration_ms_median,iteration_ms_q1,iteration_ms_q3,"
"iteration_n,steps,wall_s,mfu,formula,image,engine,kernel,node_names,flags,"
"anomalies,repeats,repeats_mean,repeats_stdev,repeats_cv_percent,mfu_palm,hfu,"
"joules_per_token,slow_steps,vendor,chip,model,precision,framework,driver,"
"started_utc,ended_utc,iteration_ms_mean,iteration_ms_min,iteration_ms_max,"
"samples_per_second,power_w,energy_j,chip_memory_gib,rate,rate_unit,"
"power_source,node_power_w,clock_mhz,throttled_percent,"
"seed,store_run,store_runs,store_best,store_median,store_worst,"
"published_rate,published_percent,published_differs,published_source,"
"published_recipe,schema,sweep,sweep_name,"
"submitted_utc,cell.nodes,cell.batch.micro\r\n"
"1,model=gpt_nano nodes=1,1,completed,,,1,2,4150.25,8300.5,5.5,2.12345,120.04,123.44,122,125.5,54,60,12.34,,1,sha256:aa,20.10,6.1,n10; n2,,,,,,,,,,,acme,A1,gpt_nano,bf16,,,2001-09-09T01:46:41Z,,,,,,,,,4150.25,token/p/s,,,,,,,,,,,,,,,,3,12,first,2001-09-09T01:46:40Z,1,\r\n"
"2,b,2,completed,,,2,4,9,,1,nan,,,,,,,,,1,sha256:aa,24.0,6.1,n2,it is <b>odd</b>; very,they differ,2,9.5,0.707,7.44,,,,,,,,,,,,,,,,,,,,9,token/p/s,,,,,,,,,,,,,,,,3,12,first,2001-09-09T01:46:40Z,,4\r\n"
"3,\"a|b_c_`x`\n\"\"q\"\",\xc3\xa4 _d_\",1,failed,exit,\"rank 1\nexited | 1\",1,1,,,,,,,,,,,,,,sha256:bad,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,3,12,first,2001-09-09T01:46:40Z,,\r\n"
"4,d,1,running,,,1,1,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,3,12,first,2001-09-09T01:46:40Z,,\r\n";
/* clang-format on */

typedef int report_fn(const struct report_rows *rows, struct buffer *out,
		      struct error *err);

static const struct report_about about = {
	.title = "a <b> & \"c\"",
	.sweep = 12,
	.name = "first",
	.client = "ann",
	.submitted_ms = 1000000000000,
	.file = "sweep: <first>\nsteps: 4\n",
};

static int html(const struct report_rows *rows, struct buffer *out,
		struct error *err)
{
	return report_html(&about, rows, out, err);
}

static int csv_of(const struct report_rows *rows, struct buffer *out,
		  struct error *err)
{
	return report_csv(&about, rows, out, err);
}

static int json_of(const struct report_rows *rows, struct buffer *out,
		   struct error *err)
{
	return report_json(&about, rows, out, err);
}

static int markdown_of(const struct report_rows *rows, struct buffer *out,
		       struct error *err)
{
	return report_markdown(&about, rows, out, err);
}

static report_fn *const reports[] = { markdown_of, csv_of, json_of, html };

#define REPORTS (sizeof(reports) / sizeof(reports[0]))

static void test_good(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(100000);
	struct report_rows rows = rows_of_text(rows_json), same;
	cJSON *back;

	ok(report_markdown(&about, &rows, &out, NULL) == 0, "a table is made");
	is(out.data, markdown, "as people read it");
	buffer_clear(&out);
	ok(csv_of(&rows, &out, NULL) == 0, "CSV is made");
	is(out.data, csv, "as RFC 4180 has it");
	buffer_clear(&out);
	ok(json_of(&rows, &out, NULL) == 0, "JSON is made");
	back = cJSON_Parse(out.data);
	same = rows_of_json(cJSON_GetObjectItem(back, "rows"));
	buffer_consume(&out, out.size);
	report_markdown(&about, &same, &out, NULL);
	is(out.data, markdown, "with the rows as they are");
	report_rows_clear(&same);
	cJSON_Delete(back);
	report_rows_clear(&rows);
}

static void test_hostile_json(void)
{
	static const char text[] =
		"[{\"cell\":\"a\\u009bb\",\"state\":\"failed\","
		"\"failure\":\"exit\",\"text\":\"c\\u202ed\"}]";
	owned(buffer_clear) struct buffer out = BUFFER_INIT(100000);
	struct report_rows rows = rows_of_text(text);

	json_of(&rows, &out, NULL);
	ok(strstr(out.data, "a\\u009bb") && strstr(out.data, "c\\u202ed") &&
		   !strstr(out.data, "\xc2\x9b") &&
		   !strstr(out.data, "\xe2\x80\xae"),
	   "JSON has no controls for a terminal");
	report_rows_clear(&rows);
}

/* Columns that some cells measured, and others did not. */
static void test_optional_columns(void)
{
	static const char text[] =
		"[{\"state\":\"completed\",\"result\":{\"mfu\":0.39541,"
		"\"joules_per_token\":0.5,\"metric_columns\":[\"acc\"],"
		"\"metrics\":{\"acc\":35.9}}},"
		"{\"state\":\"completed\",\"result\":{\"mfu\":null,"
		"\"metric_columns\":[\"bandwidth_gbps\",\"acc\"],"
		"\"metrics\":{\"bandwidth_gbps\":188.25,\"acc\":1,"
		"\"lr\":0.1}}},"
		"{\"state\":\"failed\",\"result\":{\"hfu\":0.5,"
		"\"metrics\":{\"hidden\":1}}}]";
	owned(buffer_clear) struct buffer out = BUFFER_INIT(100000);
	struct report_rows rows = rows_of_text(text);

	report_markdown(&about, &rows, &out, NULL);
	ok(strstr(out.data, "| rate | MFU (%) | loss |  acc | "
			    "bandwidth_gbps | memory (MiB) | J/token |"),
	   "what any completed row measured is a column, once");
	ok(strstr(out.data, "|   39.54 |    - | 35.9 |              - |"),
	   "a fraction is shown in percent");
	ok(strstr(out.data, "|       - |    - |    1 |         188.25 |"),
	   "what a row has not is a dash");
	ok(!strstr(out.data, "HFU") && !strstr(out.data, "hidden"),
	   "a failed row brings no column");
	ok(!strstr(out.data, "lr"),
	   "nor does a number that the rules keep out of tables");
	buffer_consume(&out, out.size);
	csv_of(&rows, &out, NULL);
	ok(strstr(out.data, ",submitted_utc,acc,bandwidth_gbps\r\n") &&
		   strstr(out.data, ",35.9,\r\n") &&
		   strstr(out.data, ",1,188.25\r\n"),
	   "the columns of CSV stay; metrics stand behind them");
	report_rows_clear(&rows);
}

static void test_formulas(void)
{
	static const char text[] =
		"[{\"job\":1,\"cell\":\"=cmd|'/c calc'!A1\","
		"\"state\":\"failed\",\"failure\":\"exit\","
		"\"text\":\"@SUM(1,2)\"},"
		"{\"job\":2,\"cell\":\"-2+3\",\"state\":\"completed\","
		"\"result\":{\"loss\":{\"last\":-1.5}}},"
		"{\"job\":3,\"cell\":\"x;=1+1\",\"state\":\"failed\","
		"\"failure\":\"exit\",\"text\":\"a\\n+1;b-2\"}]";
	owned(buffer_clear) struct buffer out = BUFFER_INIT(1 << 20);
	struct report_rows rows = rows_of_text(text);

	csv_of(&rows, &out, NULL);
	ok(strstr(out.data, ",'=cmd|'/c calc'!A1,"),
	   "a text that a spreadsheet would run has an apostrophe");
	ok(strstr(out.data, ",\"'@SUM(1,2)\","), "inside of its quotes");
	ok(strstr(out.data, ",'-2+3,"), "also one that looks like a sum");
	ok(strstr(out.data, ",x;'=1+1,") && strstr(out.data, "\"a\n'+1;b-2\""),
	   "or where some split lines and fields");
	ok(strstr(out.data, ",-1.5,"), "but a number is a number");
	report_rows_clear(&rows);
}

/* The manual lists the columns, in their order. */
static void test_manual(void)
{
	owned(buffer_clear) struct buffer page = BUFFER_INIT(1 << 20);
	owned(buffer_clear) struct buffer out = BUFFER_INIT(1 << 20);
	const struct report_rows rows = { 0 };
	char *title, *more;
	const char *at;
	size_t count = 0;

	report_csv(&about, &rows, &out, NULL);
	file_read(AT_FDCWD, "controller/regatta-protocol.7", &page, NULL);
	at = strstr(page.data, "\n.Sh REPORT TABLE\n");
	for (title = strtok_r(out.data, ",\r\n", &more); at && title;
	     title = strtok_r(NULL, ",\r\n", &more)) {
		char line[100];

		snprintf(line, sizeof(line), "\n.It Va %s\n", title);
		at = strstr(at, "\n.It ");
		if (at && strncmp(at, line, strlen(line)) != 0) {
			printf("# not there: %s", line + 1);
			at = NULL;
		}
		at = at ? at + 1 : NULL;
		count++;
	}
	ok(at && count > 50 && strstr(at, "\n.El\n") &&
		   (!strstr(at, "\n.It ") ||
		    strstr(at, "\n.It ") > strstr(at, "\n.El\n")),
	   "the manual lists the columns, and no others");
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		n++;
	return n;
}

/* Three jobs, with words that a browser would read as markup. */
static const char html_rows[] =
	"[{\"job\":1,\"cell\":\"<script>alert(1)</script>\","
	"\"state\":\"completed\",\"result\":{"
	"\"tokens_per_second_per_device\":50,\"flags\":[\"o<d>d\"],"
	"\"inputs\":{\"ended_ms\":1000000060000}},"
	"\"provenance\":{\"image\":\"sha256:aa\",\"os\":\"D&D\","
	"\"environment\":{\"driver\":\"5<3\",\"nodes\":[\"n1\",\"n2\"]}"
	"},"
	"\"series\":{\"loss\":[[1,3],[2,null],[3,2],[4,1]],"
	"\"tokens_per_second\":[[1,10],[2,11]],\"devices\":["
	"{\"node\":\"n1\",\"device\":\"0\","
	"\"power_w\":[[0,100],[1,300],[2,300]]},"
	"{\"node\":\"n2\",\"device\":\"0\","
	"\"power_w\":[[0,100],[1,200],[2,200]]},"
	"{\"node\":\"n2\",\"device\":\"1\","
	"\"power_w\":[[0,5]],\"temp_c\":[[0,40]]}],"
	"\"hosts\":[{\"node\":\"n1\",\"cpu_pct\":[[0,9],[1,8],[2,8]]},"
	"{\"node\":\"n<2>\",\"cpu_pct\":[[0,7],[1,8],[2,8]]}]}},"
	"{\"job\":2,\"cell\":\"b\",\"repeat\":1,\"state\":"
	"\"completed\","
	"\"result\":{\"tokens_per_second_per_device\":100}},"
	"{\"job\":3,\"cell\":\"c\",\"state\":\"failed\","
	"\"tail\":\"last\\n<b>words\","
	"\"failure\":\"oom\",\"text\":\"rank 1 & 2\"}]";

static void test_html(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(100000);
	struct report_rows rows = rows_of_text(html_rows);

	ok(html(&rows, &out, NULL) == 0, "a page");
	is_int(count(out.data, "<script"), 0, "without a script");
	ok(strstr(out.data, "&lt;script&gt;alert(1)&lt;/script&gt;") &&
		   strstr(out.data, "o&lt;d&gt;d") &&
		   strstr(out.data, "<h1>a &lt;b&gt; &amp; &quot;c&quot;</h1>"),
	   "every text from outside is escaped");
	ok(!strstr(out.data, "http"), "and nothing is fetched");
	ok(strstr(out.data, "<dt>submitted by</dt><dd>ann</dd>") &&
		   strstr(out.data, "<dd>2001-09-09T01:46:40Z</dd>") &&
		   strstr(out.data, "<dd>2001-09-09T01:47:40Z</dd>") &&
		   strstr(out.data, "<dt>system</dt><dd>D&amp;D</dd>"),
	   "it says who ran it, when, and on what");
	ok(strstr(out.data,
		  ">2 of 3 jobs completed. The fastest, b #2, reached 100.0 "
		  "token/p/s. 1 ended without a "
		  "result. 1 result is suspect.</p>"),
	   "and how it ended");
	ok(strstr(out.data, "<p>What to do (oom): use a smaller batch, or more "
			    "<code>memory</code> in the sweep</p>"),
	   "and what to do about failures");
	ok(strstr(out.data, "b #2<") && !strstr(out.data, ">repeat<"),
	   "the number of a repeat is part of the name of its cell");
	ok(strstr(out.data, "--w:50.0%") && strstr(out.data, "--w:100.0%"),
	   "a bar shows each rate beside the best");
	ok(strstr(out.data, "<td class=\"bad\">failed: oom</td>") &&
		   strstr(out.data, "oom: rank 1 &amp; 2") &&
		   strstr(out.data, "<pre>last\n&lt;b&gt;words</pre>"),
	   "a failure is told with its sentence and the end of its log");
	/* Bars of the rate, all losses, and of the job loss, power and
	 * processors: two rates and one temperature are no curve.
	 */
	is_int(count(out.data, "<svg"), 5, "a chart for all that has a shape");
	is_int(count(out.data, "<path class=\"l1\""), 2,
	       "the devices of a job share a chart, and so do its nodes");
	ok(strstr(out.data, "CPU load of the nodes") &&
		   strstr(out.data, "n&lt;2&gt;") && strstr(out.data, ">n2 0<"),
	   "whose lines are named");
	ok(strstr(out.data, "<tr><th>environment.driver</th><td><div>5&lt;3"
			    "</div></td></tr>") &&
		   strstr(out.data, "<div>n1, n2</div>"),
	   "the provenance is told, its maps and lists as such");
	ok(strstr(out.data, "<pre>sweep: &lt;first&gt;\nsteps: 4\n</pre>"),
	   "with the sweep file");
	report_rows_clear(&rows);
}

/* Rows of one model on 1, 2 and 4 nodes of two vendors, with `devices` curves
 * in the first one.
 */
static cJSON *scaling_rows(int devices)
{
	cJSON *rows = cJSON_CreateArray(), *list = cJSON_CreateArray();

	for (int i = 0; i < 6; i++) {
		char text[600];
		int nodes = 1 << i % 3;

		snprintf(text, sizeof(text),
			 "{\"job\":%d,\"cell\":\"model=m nodes=%d\","
			 "\"state\":\"completed\",\"nodes\":%d,"
			 "\"setup\":{\"vendor\":\"%s\",\"chip\":\"X\"},"
			 "\"result\":{\"tokens_per_second_per_device\":%d,"
			 "\"memory_mib\":512,\"chip_memory_gib\":1,"
			 "\"flags\":[\"node n%d took %d.5 ms\",\"5 %% "
			 "apart\"]}}",
			 i, nodes, nodes, i < 3 ? "acme" : "zeta",
			 nodes == 4 ? 50 : 100, 7, i);
		cJSON_AddItemToArray(rows, cJSON_Parse(text));
	}
	for (int i = 0; i < devices; i++) {
		char text[200];

		snprintf(text, sizeof(text),
			 "{\"node\":\"n%d\",\"device\":\"0\",\"power_w\":"
			 "[[0,%d],[1,100],[2,100]]}",
			 i, 100 + i);
		cJSON_AddItemToArray(list, cJSON_Parse(text));
	}
	cJSON_AddItemToObject(cJSON_AddObjectToObject(rows->child, "series"),
			      "devices", list);
	return rows;
}

static void test_overview(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(200000);
	cJSON *json = scaling_rows(13), *row;
	struct report_rows rows = rows_of_json(json);

	ok(html(&rows, &out, NULL) == 0, "a page of two vendors on many nodes");
	ok(strstr(out.data, ">all: model=m</p>") &&
		   strstr(out.data, ">nodes=4<") &&
		   strstr(out.data, "cell by nodes</p>"),
	   "what all cells share is said once");
	ok(strstr(out.data, "<span class=\"k0\">acme X</span> "
			    "<span class=\"k1\">zeta X</span>"),
	   "vendors are told apart");
	ok(count(out.data, "<line class=\"limit\"") == 6 &&
		   strstr(out.data, "Memory per device (dashed: "),
	   "memory is shown beside what the chip has");
	ok(strstr(out.data, ">Scaling: ") && count(out.data, ">100<") >= 1 &&
		   count(out.data, ">50.0<") >= 2,
	   "and how the rate holds over nodes");
	is_int(count(out.data, "<path class=\"band f0\""), 1,
	       "many devices are a band");
	ok(strstr(out.data, "mean of 13 devices"), "which says so");
	ok(strstr(out.data, "<summary>6 jobs (0, 1, 2, 3, 4, 5): node n7 took "
			    "0.5–5.5 ms</summary>"),
	   "suspects of one cause stand together");
	ok(strstr(out.data, "4, 5): 5 % apart</summary>"),
	   "with the numbers that all of them have");
	report_rows_clear(&rows);
	cJSON_Delete(json);
	json = scaling_rows(8);
	buffer_consume(&out, out.size);
	cJSON_ArrayForEach(row, json)
		cJSON_DeleteItemFromObject(cJSON_GetObjectItem(row, "result"),
					   "chip_memory_gib");
	rows = rows_of_json(json);
	cJSON_Delete(json);
	ok(html(&rows, &out, NULL) == 0 && !strstr(out.data, "class=\"band\""),
	   "few devices are lines");
	ok(strstr(out.data, "Memory per device<") &&
		   !strstr(out.data, "dashed"),
	   "where no chip has a figure for memory, none is named");
	report_rows_clear(&rows);
}

static void test_empty(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(100000);
	const struct report_rows rows = { 0 };
	const char *line;
	int lines = 0;

	ok(report_markdown(&about, &rows, &out, NULL) == 0, "no rows, a table");
	for (line = out.data; (line = strchr(line, '\n')); line++)
		lines++;
	is_int(lines, 4, "of a head only");
	buffer_clear(&out);
	json_of(&rows, &out, NULL);
	ok(strstr(out.data,
		  "\"table\": [\n],\n\"rows\": [\n],\n\"cells\": [\n]}\n"),
	   "no rows, JSON");
}

/* What is missing counts as not known. */
static void test_bare(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(100000);
	struct report_rows rows =
		rows_of_text("[{},{\"state\":\"completed\",\"result\":{},"
			     "\"setup\":{},\"provenance\":{}}]");

	for (size_t i = 0; i < REPORTS; i++)
		ok(reports[i](&rows, &out, NULL) == 0,
		   "format %zu takes rows that lack everything", i);
	report_rows_clear(&rows);
}

/* Every limit on the output, down to nothing, fails as a whole or not. */
static void test_limits(void)
{
	struct report_rows rows = rows_of_text(rows_json);

	for (size_t i = 0; i < REPORTS; i++) {
		size_t limit = 3, refused = 0;
		bool good = true;

		for (;; limit += 7) {
			owned(buffer_clear) struct buffer out;
			struct error err = { 0 };

			buffer_init(&out, limit);
			buffer_text(&out, "abc", NULL);
			if (reports[i](&rows, &out, &err) == 0)
				break;
			good &= err.code == E2BIG && !strcmp(out.data, "abc");
			refused++;
		}
		ok(good && refused > 50,
		   "format %zu leaves nothing behind when it does not fit", i);
	}
	report_rows_clear(&rows);
}

static void test_no_memory(void)
{
	struct report_rows rows = rows_of_text(rows_json);

	fault_hook_cjson();
	for (size_t i = 0; i < REPORTS; i++) {
		bool good = true, failed = true;
		long n = 0;

		while (failed && good) {
			owned(buffer_clear) struct buffer out =
				BUFFER_INIT(100000);
			struct error err = { 0 };
			int rc;

			fault_arm(++n);
			rc = reports[i](&rows, &out, &err);
			failed = fault_disarm();
			good = failed ? rc < 0 && err.code == ENOMEM &&
						!out.size
				      : rc == 0;
		}
		ok(good && n > 3,
		   "format %zu: each of %ld allocations may fail", i, n - 1);
	}
	cJSON_InitHooks(NULL);
	report_rows_clear(&rows);
}

#define LONG(n, note)                                                          \
	"{\"job\":1,\"cell\":\"note=\\\"" note "\\\" n=" n                     \
	"\",\"state\":\"completed\","                                          \
	"\"result\":{\"tokens_per_second_per_device\":9,\"flags\":[]}}"

/* Bars of cells with a long value, which differ at its end or behind it. */
static void test_bar_labels(void)
{
	static const char *const labels[] = {
		"&quot;a value of m.. more words&quot;, 1<title>",
		"&quot;a value of m.. more words&quot;, 2<title>",
		"&quot;a value of m.. more birds&quot;, 2<title>",
	};
	owned(buffer_clear) struct buffer page = BUFFER_INIT(1 << 20);
	struct report_rows rows = rows_of_text(
		"[" LONG("1", "a value of many more words") "," LONG(
			"2",
			"a value of many more words") "," LONG("2",
							       "a value of "
							       "many more "
							       "birds") "]");
	bool good = true;

	good = good && report_html(&about, &rows, &page, NULL) == 0;
	for (size_t i = 0; good && i < 3; i++)
		good = strstr(page.data, labels[i]);
	ok(good, "a bar's label keeps both ends of a long value");
	report_rows_clear(&rows);
}

/* Twelve cells with two repeats, of two keys; then with a third. */
static cJSON *many_rows(int keys)
{
	cJSON *list = cJSON_CreateArray();
	char text[600];

	for (int i = 0; i < 12 * (keys > 2 ? 4 : 1); i++)
		for (int repeat = 0; repeat < 2; repeat++) {
			snprintf(text, sizeof(text),
				 "{\"job\":%d,\"cell\":\"a=%d b=<%d>%s%d\","
				 "\"repeat\":%d,\"state\":\"completed\","
				 "\"result\":{\"tokens_per_second_per_device\":"
				 "%d},\"series\":{\"loss\":[[1,%d],[2,2],[3,1]]"
				 "}}",
				 i, i % 3, i / 3 % 4, keys > 2 ? " c=" : "",
				 keys > 2 ? i / 12 : 0, repeat,
				 100 + i + repeat, 3 + repeat);
			cJSON_AddItemToArray(list, cJSON_Parse(text));
		}
	return list;
}

/* Every phrase of the page that a reader sees is translated. */
static void test_chinese(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(1 << 20);
	owned(cJSON_Delete) cJSON *list = many_rows(3);
	owned(report_rows_clear) struct report_rows rows = rows_of_json(list);
	struct report_about zh = about;

	zh.language = LANGUAGE_ZH;
	report_html(&zh, &rows, &out, NULL);
	ok(strstr(out.data, "<html lang=\"zh\">") &&
		   strstr(out.data, "完成作业 96 / 96。最快的 a=2 b=&lt;3&gt; "
				    "c=3 达到 "),
	   "the page is Chinese");
	ok(strstr(out.data, "<th class=\"n less\">运行次数</th>") &&
		   strstr(out.data, ">最快</td>") &&
		   strstr(out.data, " × 慢</td>"),
	   "so are the heads and words of its table");
	ok(strstr(out.data, "最快单元的loss") &&
		   strstr(out.data, "横线：均值的 95 % 置信区间") &&
		   strstr(out.data, "最高速率："),
	   "and its charts");
	ok(!strstr(out.data, "cells") && !strstr(out.data, "Rates are") &&
		   !strstr(out.data, ">completed") &&
		   !strstr(out.data, "submitted"),
	   "no English is left");
}

static void test_many(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(1 << 20);
	owned(cJSON_Delete) cJSON *few = many_rows(2), *all = many_rows(3);
	owned(report_rows_clear) struct report_rows some = rows_of_json(few);
	owned(report_rows_clear) struct report_rows many = rows_of_json(all);

	html(&some, &out, NULL);
	ok(strstr(out.data, "<th>a</th><th>b</th><th class=\"n\">nodes</th>") &&
		   strstr(out.data, "<td>2</td><td>&lt;3&gt;0</td>"),
	   "few keys are columns of their own");
	is_int(count(out.data, "<path class=\"band "), 12,
	       "a curve for each cell, in a band of its repeats");
	is_int(count(out.data, "<span class=\"k"), 12, "and a legend");
	ok(strstr(out.data, "line: 95 % interval of the mean") &&
		   strstr(out.data, "band: lowest to highest repeat"),
	   "which says what lines and bands are");
	ok(strstr(out.data, "<summary>24 single runs</summary>"),
	   "single runs are below");
	ok(!strstr(out.data, "<script"), "no scripts are needed");
	out.size = 0;
	html(&many, &out, NULL);
	ok(strstr(out.data, "Best rate by b (down) and c (across)") ||
		   strstr(out.data, "Best rate by c (down) and b (across)"),
	   "many cells are a heat map by the keys with most values");
	is_int(count(out.data, "<path class=\"s"), 48,
	       "and lines across the axes of all keys");
	ok(strstr(out.data, "<path class=\"s0\" fill=\"none\" "
			    "data-v=\"0-0 1-0 2-0 \" d=\"M"),
	   "in the colour of their rate");
	ok(!strstr(out.data, "<3>"), "texts are escaped");
	ok(strstr(out.data, "Loss of the fastest cells"),
	   "curves of the fastest ones");
}

#define RUN(job, cell, repeat, rate)                                           \
	"{\"job\":" job ",\"cell\":\"x=" cell "\",\"repeat\":" repeat          \
	",\"state\":\"completed\",\"nodes\":1,\"devices\":1,\"result\":{"      \
	"\"tokens_per_second_per_device\":" rate "}}"

static void test_wide_interval(void)
{
	owned(buffer_clear) struct buffer page = BUFFER_INIT(1 << 20);
	struct report_rows rows = rows_of_text(
		"[" RUN("1", "1", "0",
			"10") "," RUN("2", "1", "1",
				      "100") "," RUN("3", "2", "0",
						     "50") "," RUN("4", "2",
								   "1",
								   "51") "]");
	const char *line = NULL;

	if (report_html(&about, &rows, &page, NULL) == 0)
		line = strstr(page.data, "class=\"spread\" x1=\"");
	ok(line && strtod(strstr(line, "x1=") + 4, NULL) >= 190,
	   "an interval that reaches below 0 does not cross the names");
	report_rows_clear(&rows);
}

/* A heat and two full runs, 3 % apart, of a race whose winner is repeated until
 * half of the interval is at most so wide.
 */
static const char *race_end_with(const char *width, char end[20])
{
	static const char row[] =
		"{\"job\":%d,\"cell\":\"a\",\"repeat\":%d,\"state\":"
		"\"completed\","
		"\"setup\":{\"vendor\":\"acme\"},\"nodes\":1,\"devices\":1,"
		"\"result\":{\"tokens_per_second_per_device\":%d},"
		"\"race\":{\"heat\":%s,\"steps\":3,\"margin\":0.05,\"tie\":0."
		"01,"
		"\"confidence\":0.95,\"max\":2,\"repeat\":2,\"until\":"
		"{\"width\":%s,\"confidence\":0.95,\"max\":9}}}";
	owned(report_rows_clear) struct report_rows rows = { 0 };
	owned(cJSON_Delete) cJSON *races = NULL;
	char text[2000] = "[";

	for (int i = 0; i < 3; i++) {
		text_append(text, sizeof(text), "%s", i ? "," : "");
		text_append(text, sizeof(text), row, i + 1, i,
			    i == 2 ? 103 : 100, i ? "false" : "true", width);
	}
	text_append(text, sizeof(text), "]");
	rows = rows_of_text(text);
	races = races_json(&rows);
	snprintf(end, 20, "%s",
		 cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(
			 cJSON_GetArrayItem(races, 0), "end")));
	return end;
}

static void test_race_until(void)
{
	char end[20];

	is(race_end_with("0.5", end), "won", "a race is over");
	is(race_end_with("0.01", end), "running",
	   "but not before the winner's rate is known as well as is asked for");
}

int main(void)
{
	tap_begin(25);
	test_good();
	test_hostile_json();
	test_optional_columns();
	test_formulas();
	test_manual();
	test_html();
	test_overview();
	test_bar_labels();
	test_many();
	test_race_until();
	test_wide_interval();
	test_chinese();
	test_empty();
	test_bare();
	test_limits();
	test_no_memory();
	return tap_done();
}
