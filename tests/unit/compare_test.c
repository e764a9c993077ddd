/* compare_test.c - two sweeps cell by cell, and losses against a baseline.
 */
#include "controller/report/compare.h"
#include "controller/report/report.h"
#include "controller/results/json_object.h"
#include "tests/tap.h"
#include "tests/unit/report_rows.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static bool shared; /* compare_shared() of the last comparison */

static cJSON *parse(const char *text)
{
	cJSON *json = cJSON_Parse(text);

	ok(json, "the test's own JSON is JSON");
	return json;
}

/* A completed row of a cell, at this rate, 100 to 104 ms a step. */
static cJSON *add(cJSON *rows, const char *cell, double rate,
		  const char *series)
{
	char text[2000];
	cJSON *row;

	snprintf(text, sizeof(text),
		 "{\"job\":%d,\"cell\":\"%s\",\"state\":\"completed\","
		 "\"result\":{\"tokens_per_second_per_device\":%.17g,"
		 "\"loss\":{\"last\":2.5},\"iteration_ms\":{\"median\":102,"
		 "\"q1\":100,\"q3\":104}},\"series\":{\"loss\":%s}}",
		 cJSON_GetArraySize(rows) + 1, cell, rate,
		 series ? series : "[]");
	row = parse(text);
	cJSON_AddItemToArray(rows, row);
	return row;
}

static double number(const cJSON *list, int item, const char *path)
{
	const cJSON *value = row_at(cJSON_GetArrayItem(list, item), path);

	return cJSON_IsNumber(value) ? value->valuedouble : NAN;
}

static bool is_true(const cJSON *list, int item, const char *path)
{
	return cJSON_IsTrue(row_at(cJSON_GetArrayItem(list, item), path));
}

static bool is_false(const cJSON *list, int item, const char *path)
{
	return cJSON_IsFalse(row_at(cJSON_GetArrayItem(list, item), path));
}

/* The comparison as JSON, as the command prints it. */
static cJSON *compare_json(const cJSON *const *sweeps, size_t count)
{
	owned(compare_cells_clear) struct compare_cells cells = { 0 };
	struct report_rows rows[COMPARE_SWEEPS_MAX] = { 0 };
	const struct report_rows *list[COMPARE_SWEEPS_MAX];
	cJSON *json = cJSON_CreateArray();

	for (size_t i = 0; i < count; i++) {
		rows[i] = rows_of_json(sweeps[i]);
		list[i] = &rows[i];
	}
	ok(compare_rows(list, count, 21, &cells, NULL) == 0,
	   "%zu sweeps are compared", count);
	for (size_t i = 0; i < cells.count; i++)
		cJSON_AddItemToArray(json, codec_object(&compare_cell_schema,
							&cells.items[i], NULL));
	shared = compare_shared(&cells);
	for (size_t i = 0; i < count; i++)
		report_rows_clear(&rows[i]);
	return json;
}

static cJSON *compare_two(const cJSON *a, const cJSON *b)
{
	const cJSON *sweeps[] = { a, b };

	return compare_json(sweeps, 2);
}

static void test_single(void)
{
	cJSON *a = cJSON_CreateArray(), *b = cJSON_CreateArray(), *list;

	add(a, "x", 100, "[[20,9],[21,2],[22,4]]");
	add(a, "y", 100, NULL);
	add(a, "only a", 7, NULL);
	add(b, "y", 103, NULL);
	add(b, "x", 150, "[[20,1],[21,2.1],[22,4.4]]");
	add(b, "only b", 8, NULL);
	list = compare_two(a, b);
	is_int(cJSON_GetArraySize(list), 4, "every cell of either sweep");
	ok(number(list, 0, "ratio") == 1.5 && is_true(list, 0, "significant"),
	   "cells are matched by their words: b is 1.5 times a");
	is(row_text(cJSON_GetArrayItem(list, 0), "by"), "steps",
	   "single runs are judged by the quartiles of their steps");
	/* 100 * 102 * (1/100 - 1/104) / 2 */
	ok(fabs(number(list, 0, "a.spread") - 1.9615385) < 1e-6,
	   "half their distance, as a rate");
	ok(is_false(list, 1, "significant"),
	   "three per cent are within 1.96 + 2.02");
	ok(fabs(number(list, 0, "loss.mean_percent") - 7.5) < 1e-9 &&
		   number(list, 0, "loss.steps") == 2,
	   "losses from step 21 on: (5 + 10) / 2 percent");
	ok(isnan(number(list, 2, "ratio")) &&
		   cJSON_IsNull(row_at(cJSON_GetArrayItem(list, 2), "b")) &&
		   cJSON_IsNull(row_at(cJSON_GetArrayItem(list, 3), "a")),
	   "what only one has stands alone");
	cJSON_Delete(list);
	add(a, "only a", 9, NULL);
	list = compare_two(a, b);
	ok(fabs(number(list, 2, "a.spread") - 12.706) < 1e-3,
	   "with the spread of its repeats");
	cJSON_Delete(list);
	cJSON_Delete(a);
	cJSON_Delete(b);
}

static void test_repeats(void)
{
	cJSON *a = cJSON_CreateArray(), *b = cJSON_CreateArray(), *list;

	for (int i = 0; i < 3; i++) {
		add(a, "x", 100 + i, NULL); /* 101, deviation 1 */
		add(b, "x", 103 + i, NULL); /* 104 */
		add(a, "y", 100 + 10 * i, NULL);
		add(b, "y", 103 + 10 * i, NULL);
		add(a, "z", 100, NULL);
	}
	add(b, "z", 100, NULL);
	list = compare_two(a, b);
	ok(number(list, 0, "a.rate") == 101 &&
		   fabs(number(list, 0, "a.spread") - 2.4841) < 1e-3 &&
		   number(list, 0, "a.n") == 3,
	   "repeats have a mean and half of its interval");
	/* t = 3 / sqrt(2/3) = 3.67 > 2.776 */
	ok(is_true(list, 0, "significant"),
	   "three above a spread of one is no chance");
	/* t = 0.367 */
	ok(is_false(list, 1, "significant"), "with a spread of ten it is");
	is(row_text(cJSON_GetArrayItem(list, 2), "by"), "steps",
	   "one repeat has no deviation");
	ok(is_false(list, 2, "significant"), "equal is not apart");
	cJSON_Delete(list);
	cJSON_Delete(a);
	cJSON_Delete(b);
}

static void test_strange(void)
{
	cJSON *a = parse("[{},{\"cell\":\"x\"},{\"cell\":\"x\",\"state\":"
			 "\"completed\"}]");
	cJSON *b = parse("[{\"cell\":\"x\",\"state\":\"failed\",\"result\":{"
			 "\"tokens_per_second_per_device\":5}}]");
	cJSON *list = compare_two(a, b);

	is_int(cJSON_GetArraySize(list), 1, "rows without a cell are left out");
	ok(isnan(number(list, 0, "ratio")) && number(list, 0, "b.n") == 0,
	   "what did not complete has no rate");
	cJSON_Delete(list);
	cJSON_Delete(a);
	cJSON_Delete(b);
}

static void set_about(cJSON *row, const char *vendor, double micro,
		      const char *align)
{
	char text[600];

	snprintf(text, sizeof(text),
		 "{\"vendor\":\"%s\",\"about\":{\"align\":%s}}", vendor, align);
	cJSON_AddItemToObject(row, "setup", parse(text));
	snprintf(text, sizeof(text), "{\"micro\":%g}", micro);
	cJSON_AddItemToObject(row, "values", parse(text));
}

static const char *verdict(const struct report_rows *rows, int item)
{
	const struct alignment_info *alignment = rows->items[item].alignment;

	return alignment ? alignment->verdict : NULL;
}

static void test_align_in_sweep(void)
{
	static const char align[] =
		"{\"values\":{\"vendor\":\"nvidia\"},\"from_step\":2,"
		"\"tolerance\":0.02}";
	static const struct {
		const char *vendor;
		double micro;
		const char *loss;
	} cells[] = {
		{ "nvidia", 1, "[[1,9],[2,2],[3,1]]" },
		{ "nvidia", 2, "[[1,9],[2,4],[3,3]]" },
		{ "metax", 2, "[[1,5],[2,4.04],[3,3.03]]" },
		{ "metax", 1, "[[1,5],[2,2.1],[3,1.03]]" },
		{ "amd", 1, "[[1,5],[2,2],[3,null]]" },
		{ "amd", 2, "[[7,5]]" },
	};
	cJSON *json = cJSON_CreateArray();
	struct report_rows rows;
	owned(buffer_clear) struct buffer out = BUFFER_INIT(100000);

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		set_about(add(json, "x", 1, cells[i].loss), cells[i].vendor,
			  cells[i].micro, align);
	rows = rows_of_json(json);
	ok(align_rows(&rows, NULL, NULL) == 0, "a sweep with a baseline");
	is(verdict(&rows, 0), "baseline", "the baseline itself");
	is(verdict(&rows, 2), "True",
	   "one per cent from the baseline with the same micro batch");
	is(verdict(&rows, 3), "False", "four per cent is more than two");
	ok(fabs(rows.items[3].alignment->mean_percent - 4) < 1e-9,
	   "of the steps from the second on");
	is(verdict(&rows, 4), "False",
	   "a loss that becomes no number is not aligned");
	is(verdict(&rows, 5), "False", "nor is one without a common step");
	is(rows.items[2].alignment->baseline, "job 2", "which job is told");
	ok(report_markdown(&(struct report_about){ 0 }, &rows, &out, NULL) ==
			   0 &&
		   strstr(out.data, "| loss difference (%) | aligned  |"),
	   "the table has columns for it");
	report_rows_clear(&rows);
	cJSON_Delete(json);
}

static void test_align_with_job(void)
{
	cJSON *json = cJSON_CreateArray();
	struct report_rows rows;
	cJSON *series = parse("{\"loss\":[[21,2]]}");

	set_about(add(json, "x", 1, "[[21,2.01]]"), "metax", 1,
		  "{\"job\":99,\"from_step\":21,\"tolerance\":0.02}");
	set_about(add(json, "x", 1, "[[21,2.01]]"), "metax", 1, "null");
	for (int micro = 1; micro <= 2; micro++)
		set_about(add(json, "x", 1, "[[21,2.01]]"), "metax", micro,
			  "{\"job\":99,\"from_step\":21,\"tolerance\":0.02,"
			  "\"cells\":{\"micro\":\"2\"}}");
	rows = rows_of_json(json);
	align_rows(&rows, series, NULL);
	is(verdict(&rows, 0), "True", "a job may be the baseline");
	ok(!verdict(&rows, 1), "without a baseline there is no verdict");
	ok(!verdict(&rows, 2), "nor for cells that are not to be compared");
	is(verdict(&rows, 3), "True", "but for those that are");
	cJSON_Delete(series);
	report_rows_clear(&rows);
	cJSON_Delete(json);
}

/* Three sweeps: each later one is held against the first. */
static void test_three(void)
{
	cJSON *a = cJSON_CreateArray(), *b = cJSON_CreateArray();
	cJSON *c = cJSON_CreateArray(), *list;
	const cJSON *sweeps[] = { a, b, c };

	add(a, "x", 100, NULL);
	add(a, "x", 102, NULL);
	add(b, "y", 9, NULL);
	add(c, "x", 201, NULL);
	add(c, "x", 203, NULL);
	list = compare_json(sweeps, 3);
	is_int(cJSON_GetArraySize(list), 2, "all cells of all sweeps");
	ok(cJSON_IsNull(row_at(list->child, "b")) &&
		   fabs(cJSON_GetNumberValue(
				row_at(cJSON_GetArrayItem(row_at(list->child,
								 "more"),
							  0),
				       "ratio")) -
			2) < 1e-9,
	   "the third is twice the first, the second lacks the cell");
	ok(shared, "a cell is shared");
	cJSON_Delete(list);
	list = compare_json(sweeps, 2);
	ok(!shared, "of the first two none is");
	cJSON_Delete(list);
	/* ln 2 -+ t(1 degree of freedom, 12.7) * sqrt((1/101)^2 + (1/202)^2) */
	sweeps[1] = c;
	list = compare_json(sweeps, 2);
	ok(fabs(number(list, 0, "ratio_low") - 1.737) < 0.002 &&
		   fabs(number(list, 0, "ratio_high") - 2.303) < 0.002,
	   "the ratio has an interval: %.4f to %.4f",
	   number(list, 0, "ratio_low"), number(list, 0, "ratio_high"));
	cJSON_Delete(list);
	cJSON_Delete(a);
	cJSON_Delete(b);
	cJSON_Delete(c);
}

/* A page has a chart of each, and the cells' words as text. */
static void test_html(void)
{
	cJSON *a = cJSON_CreateArray(), *b = cJSON_CreateArray();
	owned(compare_cells_clear) struct compare_cells cells = { 0 };
	struct report_rows rows[2];
	const struct report_rows *const both[] = { &rows[0], &rows[1] };
	const struct compare_sweep sweeps[] = {
		{ { .sweep = 1, .name = "<first>", .client = "ann" },
		  &rows[0] },
		{ { .sweep = 7,
		    .name = "second",
		    .client = "bob",
		    .submitted_ms = 1000000000000 },
		  &rows[1] },
	};
	struct buffer out;

	buffer_init(&out, 1 << 20);
	for (int i = 0; i < 3; i++) {
		add(a, "m=<x> n=1", 100 + i, NULL);
		add(b, "m=<x> n=1", 200 + i, NULL);
		add(a, "m=<x> n=2", 100 + i, NULL);
		add(b, "m=<x> n=2", 90 + i, NULL);
	}
	rows[0] = rows_of_json(a);
	rows[1] = rows_of_json(b);
	ok(compare_rows(both, 2, 21, &cells, NULL) == 0 &&
		   compare_html(&cells, sweeps, 2, &out, NULL) == 0,
	   "a comparison is a page");
	ok(strstr(out.data, "Throughput per device") &&
		   strstr(out.data, "Ratio to the first sweep"),
	   "with charts of rates and ratios");
	ok(strstr(out.data, "<h1>sweep 7 against sweep 1</h1>") &&
		   strstr(out.data, ">sweep 1</dt><dd>&lt;first&gt;, ") &&
		   strstr(out.data, "<dd>second, 2001-09-09T01:46:40Z, by bob"),
	   "of sweeps with names, dates and users");
	ok(strstr(out.data, "Charts label each cell by n."),
	   "it says how charts name cells");
	ok(strstr(out.data, "class=\"spread\"") &&
		   strstr(out.data, "class=\"limit\""),
	   "intervals, and where both are the same");
	ok(strstr(out.data, "m=&lt;x&gt;") && !strstr(out.data, "<x>"),
	   "and all words as text");
	ok(strstr(out.data, "1.990 (") && strstr(out.data, ">slower<"),
	   "ratios have their intervals in the table");
	buffer_clear(&out);
	report_rows_clear(&rows[0]);
	report_rows_clear(&rows[1]);
	cJSON_Delete(a);
	cJSON_Delete(b);
}

static void test_units(void)
{
	cJSON *a = parse("[{\"cell\":\"x\",\"state\":\"completed\","
			 "\"result\":{\"samples_per_second\":40,"
			 "\"inputs\":{\"devices\":4}}}]");
	cJSON *b = parse("[{\"cell\":\"x\",\"state\":\"completed\","
			 "\"result\":{\"samples_per_second\":60,"
			 "\"inputs\":{\"devices\":4}}}]");
	cJSON *c = cJSON_CreateArray(), *list;

	list = compare_two(a, b);
	ok(number(list, 0, "ratio") == 1.5 && number(list, 0, "a.rate") == 10,
	   "a program that counts samples is compared by samples");
	is(row_text(row_at(cJSON_GetArrayItem(list, 0), "b"), "unit"),
	   "sample/p/s", "which the comparison says");
	cJSON_Delete(list);
	add(c, "x", 20, NULL);
	list = compare_two(a, c);
	ok(isnan(number(list, 0, "ratio")) && !is_true(list, 0, "significant"),
	   "samples are not compared with tokens");
	cJSON_Delete(list);
	cJSON_Delete(a);
	cJSON_Delete(b);
	cJSON_Delete(c);
}

int main(void)
{
	tap_begin(60);
	test_single();
	test_three();
	test_repeats();
	test_strange();
	test_units();
	test_align_in_sweep();
	test_align_with_job();
	test_html();
	return tap_done();
}
