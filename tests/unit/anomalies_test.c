/* anomalies_test.c - repeats that differ, and rates that jump.
 */
#include "controller/report/anomalies.h"
#include "controller/results/remarks.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"
#include "tests/unit/report_rows.h"

#include <errno.h>
#include <math.h>

/* Add a completed row; mfu 0: none. */
static struct report_row *add_row(struct report_rows *rows, const char *cell,
				  double rate, double mfu)
{
	cJSON *list = cJSON_CreateArray(), *json = cJSON_CreateObject();
	cJSON *result = cJSON_CreateObject();
	struct report_rows one;

	cJSON_AddItemToArray(list, json);
	cJSON_AddStringToObject(json, "cell", cell);
	cJSON_AddStringToObject(json, "state", "completed");
	cJSON_AddItemToObject(json, "result", result);
	cJSON_AddNumberToObject(result, "tokens_per_second_per_device", rate);
	if (mfu > 0)
		cJSON_AddNumberToObject(result, "mfu", mfu);
	one = rows_of_json(list);
	cJSON_Delete(list);
	if (!(rows->count & (rows->count + 1)))
		rows->items =
			realloc(rows->items,
				2 * (rows->count + 1) * sizeof(*rows->items));
	rows->items[rows->count] = one.items[0];
	free(one.items);
	return &rows->items[rows->count++];
}

static void anomaly_is(const struct report_rows *rows, size_t i,
		       const char *want, const char *what)
{
	const struct remark *flag = row_flag(&rows->items[i], 0);
	char text[REMARK_TEXT_MAX];

	is(flag ? remark_sentence(flag, LANGUAGE_EN, text, sizeof(text)) : NULL,
	   want, "%s", what);
}

/* Repeats that came one by one stand behind all others. */
static void test_gather(void)
{
	static const struct {
		const char *cell;
		uint32_t repeat;
	} given[] = { { "b", 0 }, { "b", 1 }, { "a", 0 }, { "c", 0 },
		      { "c", 2 }, { "a", 1 }, { "b", 2 }, { "c", 1 } };
	struct report_rows rows = { 0 };
	char text[100] = "";

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		add_row(&rows, given[i].cell, 1, 0)->info.repeat =
			given[i].repeat;
	ok(rows_gather(&rows, NULL) == 0, "rows are gathered");
	ROWS_EACH(row, &rows)
	{
		size_t n = strlen(text);

		snprintf(text + n, sizeof(text) - n, "%s%u ", row->info.cell,
			 row->info.repeat);
	}
	is(text, "b0 b1 b2 a0 a1 c0 c1 c2 ",
	   "by cell, in the order of the first ones, then by number");
	is_int(rows.count, 8, "none is lost");
	report_rows_clear(&rows);
}

static void test_repeats(void)
{
	struct error err = { 0 };
	struct report_rows rows = { 0 };
	struct report_row *row;

	/* Mean 100, differences -4, 0, 4: the standard deviation is 4. */
	add_row(&rows, "nodes=1", 96, 0);
	add_row(&rows, "nodes=1", 100, 0);
	add_row(&rows, "nodes=1", 104, 0);
	row = add_row(&rows, "nodes=1", 500, 0);
	string_set(&row->info.state, "failed", NULL);
	add_row(&rows, "nodes=2", 90, 0);
	ok(anomalies_add(&rows, &err) == 0, "rows are looked at");
	row = rows.items;
	ok(row[0].repeats && row[2].repeats && row[0].repeats->n == 3 &&
		   fabs(row[0].repeats->mean - 100) < 1e-9 &&
		   fabs(row[2].repeats->stdev - 4) < 1e-9 &&
		   fabs(row[2].repeats->cv_percent - 4) < 1e-9,
	   "each repeat has number, mean and spread of all");
	ok(!row[3].repeats, "what failed is no repeat");
	ok(!row[4].repeats, "one alone has no spread");
	anomaly_is(&rows, 0, NULL, "a CV of 4 % is no anomaly");

	row->info.setup = calloc(1, sizeof(*row->info.setup));
	row->info.setup->measure.spread_percent = 3.5;
	anomalies_add(&rows, &err);
	anomaly_is(&rows, 2,
		   "the 3 repeats differ by 4.0 % (coefficient of variation), "
		   "more than 3.5 %",
		   "but above the limit of the sweep it is");
	is_int(row->anomalies_count, 1, "which is said once");
	anomaly_is(&rows, 4, NULL, "only of that cell");
	report_rows_clear(&rows);
}

static void test_jumps(void)
{
	struct report_rows rows = { 0 };

	/* Out of order; nodes=8 is the odd one, 4 and 16 its neighbours. */
	add_row(&rows, "nodes=16 lr=a", 70, 0);
	add_row(&rows, "nodes=2 lr=a", 95, 0);
	add_row(&rows, "nodes=8 lr=a", 80000, 0);
	add_row(&rows, "nodes=4 lr=a", 90, 0);
	add_row(&rows, "nodes=1 lr=a", 100, 0);
	anomalies_add(&rows, NULL);
	anomaly_is(&rows, 2, "the rate is 888.9 times that of nodes=4",
		   "a rate far above those beside it");
	anomaly_is(&rows, 3, NULL, "of which one has a neighbour that fits");
	anomaly_is(&rows, 0, "the rate of nodes=8 is 1142.9 times as high",
		   "one at the end has only the odd neighbour");
	anomaly_is(&rows, 1, NULL, "others are not touched");
	report_rows_clear(&rows);

	rows = (struct report_rows){ 0 };
	add_row(&rows, "nodes=1 batch.micro=1", 100, 0);
	add_row(&rows, "nodes=2 batch.micro=1", 600, 0);
	add_row(&rows, "nodes=2 batch.micro=2", 610, 0);
	anomalies_add(&rows, NULL);
	anomaly_is(&rows, 0, "the rate of nodes=2 is 6.0 times as high",
		   "a cell with one neighbour");
	anomaly_is(&rows, 1, NULL, "one with two, of which one fits");
	anomaly_is(&rows, 2, NULL, "two values differ: no neighbour");
	report_rows_clear(&rows);

	rows = (struct report_rows){ 0 };
	add_row(&rows, "about=a b=x nodes=1", 100, 0);
	add_row(&rows, "about=a b=x nodes=2", 20, 0);
	anomalies_add(&rows, NULL);
	anomaly_is(&rows, 1, NULL, "exactly a fifth is no jump");
	report_rows_clear(&rows);
}

static void test_work(void)
{
	struct report_rows rows = { 0 };

	add_row(&rows, "model=7b nodes=1", 4000, 0);
	add_row(&rows, "model=70b nodes=1", 400, 0);
	anomalies_add(&rows, NULL);
	anomaly_is(&rows, 1, NULL, "a larger model is slower");
	report_rows_clear(&rows);

	rows = (struct report_rows){ 0 };
	add_row(&rows, "model=7b nodes=1", 4000, 0.5);
	add_row(&rows, "model=70b nodes=1", 400, 0.45);
	add_row(&rows, "model=13b nodes=1", 40, 0.01);
	anomalies_add(&rows, NULL);
	anomaly_is(&rows, 0, NULL, "where the share of the peak is known");
	anomaly_is(&rows, 2, "the rate of model=70b is 45.0 times as high",
		   "that is compared");
	report_rows_clear(&rows);
}

static void test_words(void)
{
	struct report_rows rows = { 0 };

	add_row(&rows, "name=a b c nodes=1", 100, 0);
	add_row(&rows, "name=a b c nodes=2", 1000, 0);
	add_row(&rows, "sweep", 7, 0);
	anomalies_add(&rows, NULL);
	anomaly_is(&rows, 1, "the rate is 10.0 times that of nodes=1",
		   "a value may have blanks");
	anomaly_is(&rows, 2, NULL, "a cell may have no values");
	report_rows_clear(&rows);
	rows = (struct report_rows){ 0 };
	ok(anomalies_add(&rows, NULL) == 0, "there may be no rows");
	report_rows_clear(&rows);
}

static void test_many(void)
{
	struct report_rows rows = { 0 };
	int found = 0;
	char cell[60];

	for (int i = 0; i < 20000; i++) {
		snprintf(cell, sizeof(cell), "a=%d b=%d c=%d", i % 30,
			 i / 30 % 30, i / 900);
		add_row(&rows, cell, i == 12345 ? 1000 : 100, 0);
	}
	is_int(anomalies_add(&rows, NULL), 0, "20,000 cells are compared");
	ROWS_EACH(row, &rows)
	{
		found += row->anomalies_count > 0;
	}
	ok(found == 1 && rows.items[12345].anomalies_count,
	   "and the one that jumps is found (%d found)", found);
	report_rows_clear(&rows);
}

static void test_faults(void)
{
	struct report_rows rows = { 0 };
	bool failed = true, good = true;
	long n = 0;

	for (int i = 0; i < 4; i++)
		add_row(&rows, i < 2 ? "nodes=1" : "nodes=2", 1 + 100 * i, 0);
	while (failed && good) {
		struct error err = { 0 };
		int rc;

		fault_arm(++n);
		rc = anomalies_add(&rows, &err);
		failed = fault_disarm();
		good = failed ? rc < 0 && err.code == ENOMEM : rc == 0;
	}
	ok(good && n > 10, "each of %ld allocations may fail", n - 1);
	report_rows_clear(&rows);
}

int main(void)
{
	tap_begin(19);
	test_gather();
	test_repeats();
	test_jumps();
	test_work();
	test_words();
	test_many();
	test_faults();
	return tap_done();
}
