/* published_test.c - published figures beside measured ones. */
#include "controller/catalog/published.h"

#include "controller/report/report.h"
#include "tests/tap.h"
#include "tests/unit/report_rows.h"

#include <math.h>

/* A completed run with a rate of 2600 on 16 H800, and more members. */
#define RUN(devices, setup)                                                    \
	"[{\"job\": 1, \"cell\": \"a=1\", \"state\": \"completed\", "          \
	"\"devices\": " devices ", \"setup\": {\"model\": \"baichuan2-13b\", " \
	"\"chip\": \"H800-SXM5-80GB\", " setup "}, \"result\": "               \
	"{\"tokens_per_second_per_device\": 2601.6, \"flags\": []}}]"

static struct catalog *catalog;

/* Find the figure; the row keeps it. */
static const struct published_info *find(struct report_rows *rows)
{
	struct error err = { 0 };

	ok(published_find(catalog, &rows->items->info,
			  &rows->items->info.published, &err) == 0,
	   "a figure is looked for (%s)", err.text);
	return rows->items->info.published;
}

static void column_is(const struct report_rows *rows, const char *want)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(1 << 20);
	struct error err = { 0 };

	ok(report_markdown(&(struct report_about){ 0 }, rows, &out, &err) ==
			   0 &&
		   strstr(out.data, want),
	   "the table says %s", want);
}

static void test_equal(void)
{
	owned(report_rows_clear) struct report_rows rows = rows_of_text(
		RUN("16", "\"precision\": \"BF16\", \"sequence\": 2048, "
			  "\"accumulate\": 64, \"micro_batch\": 1"));
	const struct published_info *of = find(&rows);

	ok(of && of->rate == 2710 && !of->differs,
	   "the entry with the same recipe is taken");
	ok(of && fabs(of->percent - 96) < 1e-9, "and the share of it told");
	column_is(&rows, "| 96.0 % of 2710 ");
	column_is(&rows, "published figures FlagPerf, NVIDIA H800 2x8");
}

static void test_recipe(void)
{
	owned(report_rows_clear) struct report_rows rows = rows_of_text(
		RUN("16", "\"precision\": \"bf16\", \"sequence\": 2048, "
			  "\"accumulate\": 16, \"micro_batch\": 2"));

	find(&rows);
	column_is(&rows, "| 125.8 % of 2068 (micro_batch 2, not 1; "
			 "accumulate 16, not 8) ");
}

static void test_other(void)
{
	owned(report_rows_clear) struct report_rows rows =
		rows_of_text(RUN("8", "\"precision\": \"bf16\""));
	const struct published_info *of = find(&rows);

	ok(of && isnan(of->percent), "with other devices there is no share");
	column_is(&rows, "| 2068 (not comparable: devices 8, not 16; "
			 "sequence unknown, not 2048) ");
}

static void test_none(void)
{
	owned(report_rows_clear) struct report_rows rows = rows_of_text(
		"[{\"job\": 1, \"state\": \"completed\", \"setup\": "
		"{\"model\": \"gpt-nano\"}, \"result\": "
		"{\"tokens_per_second_per_device\": 5, \"flags\": []}}]");

	ok(!find(&rows), "of other models there is none");
}

/* A run among nine in the store. */
static void test_store(void)
{
	owned(report_rows_clear) struct report_rows rows = rows_of_text(
		"[{\"job\": 7, \"cell\": \"a=1\", \"state\": \"completed\","
		"  \"store\": {\"run\": 4, \"runs\": 9, \"best\": 30,"
		"  \"median\": 20, \"worst\": 10}, \"result\": "
		"{\"tokens_per_second_per_device\": 25, \"flags\": []}}]");

	column_is(&rows, " run 4 of 9: 30.0 / 20.0 / 10.0 ");
}

int main(void)
{
	struct error err = { 0 };

	catalog = catalog_load("images", &err);
	tap_begin(30);
	if (!ok(catalog != NULL, "the catalog is loaded (%s)", err.text))
		return tap_done();
	test_equal();
	test_recipe();
	test_other();
	test_none();
	test_store();
	catalog_free(catalog);
	return tap_done();
}
