/* cells_test.c - one row of all repeats of a cell.
 */
#include "controller/report/cells.h"
#include "controller/report/report.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"
#include "tests/unit/report_rows.h"

#include <math.h>
#include <string.h>

#define RUN(cell, repeat, rate, more)                                          \
	"{\"job\":1,\"cell\":\"" cell "\",\"repeat\":" #repeat                 \
	",\"state\":\"completed\",\"result\":{"                                \
	"\"tokens_per_second_per_device\":" #rate ",\"mfu\":0." #rate          \
	",\"wall_s\":4,\"inputs\":{\"devices\":2,\"power_w\":" #rate "}" more  \
	"}}"
#define FAILED(cell, repeat)                                                   \
	"{\"job\":1,\"cell\":\"" cell "\",\"repeat\":" #repeat                 \
	",\"state\":\"failed\",\"failure\":\"exit\"}"

static const char runs_json[] =
	"[" FAILED("n=1", 0) "," RUN("n=1", 1, 99, ",\"loss\":{\"first\":4,\"last\":\"nan\"},\"metrics\":{\"acc\":1}") "," RUN(
		"n=1", 2, 101,
		",\"flags\":[\"odd\"],"
		"\"loss\":{\"first\":6,"
		"\"last\":1},"
		"\"metrics\":{\"acc\":2}") "," RUN("n=2", 0, 127,
						   "") "," RUN("n=2", 1, 126,
							       "") "," RUN("n="
									   "2",
									   2,
									   128,
									   "") "," FAILED("n=3",
											  0) "]";

static void test_means(void)
{
	owned(report_rows_clear) struct report_rows runs =
		rows_of_text(runs_json);
	owned(report_rows_clear) struct report_rows cells = { 0 };
	const struct report_about about = { .sweep = 1 };
	const struct report_row *cell;
	const struct repeats_info *of;

	is_int(cells_make(&runs, &about, &cells, NULL), 0, "cells are made");
	is_int((long long)cells.count, 3, "a row for each cell");
	cell = &cells.items[0];
	of = cell->repeats;
	ok(row_completed(cell) && of->runs == 3 && of->completed == 2 &&
		   of->failed == 1,
	   "a failed run is counted");
	ok(row_rate(cell).value == 100 && of->min == 99 && of->max == 101 &&
		   fabs(of->margin - 12.706) < 0.01,
	   "the rate is the mean, with its interval and range");
	ok(fabs(cell->info.result->loss->first - 5) < 1e-9 &&
		   isnan(cell->info.result->loss->last),
	   "other numbers are means, too; a loss that is no number stays one");
	ok(row_metric(cell, "acc") == 1.5, "so are metrics");
	ok(row_flag(cell, 0), "a cell with a suspect run is suspect");
	ok(cell->info.result->inputs.power_w == 101,
	   "from what a result was computed is that of one run");
	ok(of->relation == RELATION_SLOWER &&
		   fabs(of->relative - 1.27) < 1e-9 &&
		   isfinite(of->relative_margin),
	   "a cell is compared with the best one");
	is_int(cells.items[1].repeats->relation, RELATION_BEST,
	       "which is the best");
	ok(!row_completed(&cells.items[2]) &&
		   cells.items[2].repeats->relation == RELATION_NONE,
	   "a cell that failed has no rate to compare");
	ok(cells_shown(&runs, &cells, &about) == &cells &&
		   cells_shown(&runs, &cells,
			       &(struct report_about){ .runs = true }) == &runs,
	   "a table shows cells, unless it is to show runs");
}

static void test_baselines(void)
{
	owned(report_rows_clear) struct report_rows runs =
		rows_of_text(runs_json);
	owned(report_rows_clear) struct report_rows other = rows_of_text(
		"[" RUN("n=2", 0, 254, "") "," RUN("n=1", 0, 50, "") "]");
	owned(report_rows_clear) struct report_rows cells = { 0 },
						    again = { 0 };
	struct report_about about = { .baseline = &other,
				      .baseline_name = "sweep 3" };
	char text[CELLS_LEGEND];

	cells_make(&runs, &about, &cells, NULL);
	ok(cells.items[0].repeats->relation == RELATION_FASTER &&
		   cells.items[0].repeats->relative == 2 &&
		   isnan(cells.items[0].repeats->relative_margin) &&
		   cells.items[1].repeats->relation == RELATION_SLOWER,
	   "each cell is compared with that of the baseline, by its words");
	is(cells_legend(&about, &cells, LANGUAGE_EN, text),
	   "Rates are means; ±: half of their 95 % interval. Relative to "
	   "sweep 3.",
	   "the legend names the baseline");
	about = (struct report_about){ .baseline_cell = "n=1" };
	cells_make(&runs, &about, &again, NULL);
	ok(again.items[0].repeats->relation == RELATION_BASELINE &&
		   again.items[1].repeats->relation == RELATION_FASTER,
	   "or with a cell of its own sweep");
}

static void test_table(void)
{
	owned(report_rows_clear) struct report_rows runs =
		rows_of_text(runs_json);
	const struct report_about about = { .sweep = 1 };
	owned(buffer_clear) struct buffer out = BUFFER_INIT(100000);

	report_markdown(&about, &runs, &out, NULL);
	ok(strstr(out.data,
		  "| 100.0 ± 12.7 (!) | 2 of 3, 1 failed |  99.0-101.0 "
		  "| 1.27 ± 0.18 × slower |"),
	   "a row of the table: %s", out.data);
	ok(strstr(out.data, "| 0 of 1, 1 failed |") &&
		   strstr(out.data, "failed: exit |"),
	   "a cell that failed says so");
	out.size = 0;
	report_json(&about, &runs, &out, NULL);
	ok(strstr(out.data, "],\n\"cells\": [\n{\"job\":1,") &&
		   strstr(out.data, "\"relation\":\"slower\""),
	   "JSON has the cells beside the runs");
}

int main(void)
{
	tap_begin(30);
	test_means();
	test_baselines();
	test_table();
	for (int n = 1;; n++) {
		struct report_rows runs = rows_of_text(runs_json),
				   cells = { 0 };
		const struct report_about about = { .sweep = 1 };
		bool failed;
		int rc;

		fault_arm(n);
		rc = cells_make(&runs, &about, &cells, NULL);
		failed = fault_disarm();
		if (failed != (rc < 0))
			ok(false, "allocation %d", n);
		report_rows_clear(&cells);
		report_rows_clear(&runs);
		if (!failed)
			break;
	}
	ok(true, "no memory is an error, and nothing leaks");
	return tap_done();
}
