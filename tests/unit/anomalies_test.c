/* anomalies_test.c - repeats that differ, and rates that jump.
 */
#include "controller/report/anomalies.h"
#include "controller/report/row.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>
#include <math.h>

/* A completed row; mfu 0: none. */
static cJSON *add_row(cJSON *rows, const char *cell, double rate, double mfu)
{
	cJSON *row = cJSON_CreateObject();
	cJSON *result;

	cJSON_AddItemToArray(rows, row);
	cJSON_AddStringToObject(row, "cell", cell);
	cJSON_AddStringToObject(row, "state", "completed");
	result = cJSON_AddObjectToObject(row, "result");
	cJSON_AddNumberToObject(result, "tokens_per_second_per_device", rate);
	if (mfu > 0)
		cJSON_AddNumberToObject(result, "mfu", mfu);
	return row;
}

static double number(const cJSON *rows, int i, const char *path)
{
	return cJSON_GetNumberValue(row_at(cJSON_GetArrayItem(rows, i), path));
}

static void anomaly_is(const cJSON *rows, int i, const char *want,
		       const char *what)
{
	is(row_flag(cJSON_GetArrayItem(rows, i), 0), want, "%s", what);
}

/* Repeats that came one by one stand behind all others. */
static void test_gather(void)
{
	static const struct {
		const char *cell;
		double repeat;
	} given[] = { { "b", 0 }, { "b", 1 }, { "a", 0 }, { "c", 0 },
		      { "c", 2 }, { "a", 1 }, { "b", 2 }, { "c", 1 } };
	cJSON *rows = cJSON_CreateArray();
	char text[100] = "";
	const cJSON *row;

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		cJSON_AddNumberToObject(add_row(rows, given[i].cell, 1, 0),
					"repeat", given[i].repeat);
	ok(rows_gather(rows, NULL) == 0, "rows are gathered");
	cJSON_ArrayForEach(row, rows)
	{
		size_t n = strlen(text);

		snprintf(text + n, sizeof(text) - n, "%s%.0f ",
			 row_text(row, "cell"),
			 cJSON_GetNumberValue(row_at(row, "repeat")));
	}
	is(text, "b0 b1 b2 a0 a1 c0 c1 c2 ",
	   "by cell, in the order of the first ones, then by number");
	is_int(cJSON_GetArraySize(rows), 8, "none is lost");
	cJSON_Delete(rows);
}

static void test_repeats(void)
{
	struct error err = { 0 };
	cJSON *rows = cJSON_CreateArray();
	cJSON *row, *setup;

	/* Mean 100, differences -4, 0, 4: the standard deviation is 4. */
	add_row(rows, "nodes=1", 96, 0);
	add_row(rows, "nodes=1", 100, 0);
	add_row(rows, "nodes=1", 104, 0);
	row = add_row(rows, "nodes=1", 500, 0);
	cJSON_ReplaceItemInObjectCaseSensitive(row, "state",
					       cJSON_CreateString("failed"));
	add_row(rows, "nodes=2", 90, 0);
	ok(anomalies_add(rows, &err) == 0, "rows are looked at");
	ok(number(rows, 0, "repeats.n") == 3 &&
		   fabs(number(rows, 0, "repeats.mean") - 100) < 1e-9 &&
		   fabs(number(rows, 2, "repeats.stdev") - 4) < 1e-9 &&
		   fabs(number(rows, 2, "repeats.cv_percent") - 4) < 1e-9,
	   "each repeat has number, mean and spread of all");
	ok(!row_at(cJSON_GetArrayItem(rows, 3), "repeats"),
	   "what failed is no repeat");
	ok(!row_at(cJSON_GetArrayItem(rows, 4), "repeats"),
	   "one alone has no spread");
	anomaly_is(rows, 0, NULL, "a CV of 4 % is no anomaly");

	row = cJSON_GetArrayItem(rows, 0);
	setup = cJSON_AddObjectToObject(row, "setup");
	cJSON_AddNumberToObject(setup, "spread_percent", 3.5);
	anomalies_add(rows, &err);
	anomaly_is(rows, 2,
		   "the 3 repeats differ by 4.0 % (coefficient of variation), "
		   "more than 3.5 %",
		   "but above the limit of the sweep it is");
	is_int(cJSON_GetArraySize(row_at(row, "anomalies")), 1,
	       "which is said once");
	anomaly_is(rows, 4, NULL, "only of that cell");
	cJSON_Delete(rows);
}

static void test_jumps(void)
{
	cJSON *rows = cJSON_CreateArray();

	/* Out of order; nodes=8 is the odd one, 4 and 16 its neighbours. */
	add_row(rows, "nodes=16 lr=a", 70, 0);
	add_row(rows, "nodes=2 lr=a", 95, 0);
	add_row(rows, "nodes=8 lr=a", 80000, 0);
	add_row(rows, "nodes=4 lr=a", 90, 0);
	add_row(rows, "nodes=1 lr=a", 100, 0);
	anomalies_add(rows, NULL);
	anomaly_is(rows, 2, "the rate is 888.9 times that of nodes=4",
		   "a rate far above those beside it");
	anomaly_is(rows, 3, NULL, "of which one has a neighbour that fits");
	anomaly_is(rows, 0, "the rate of nodes=8 is 1142.9 times as high",
		   "one at the end has only the odd neighbour");
	anomaly_is(rows, 1, NULL, "others are not touched");
	cJSON_Delete(rows);

	rows = cJSON_CreateArray();
	add_row(rows, "nodes=1 batch.micro=1", 100, 0);
	add_row(rows, "nodes=2 batch.micro=1", 600, 0);
	add_row(rows, "nodes=2 batch.micro=2", 610, 0);
	anomalies_add(rows, NULL);
	anomaly_is(rows, 0, "the rate of nodes=2 is 6.0 times as high",
		   "a cell with one neighbour");
	anomaly_is(rows, 1, NULL, "one with two, of which one fits");
	anomaly_is(rows, 2, NULL, "two values differ: no neighbour");
	cJSON_Delete(rows);

	rows = cJSON_CreateArray();
	add_row(rows, "about=a b=x nodes=1", 100, 0);
	add_row(rows, "about=a b=x nodes=2", 20, 0);
	anomalies_add(rows, NULL);
	anomaly_is(rows, 1, NULL, "exactly a fifth is no jump");
	cJSON_Delete(rows);
}

static void test_work(void)
{
	cJSON *rows = cJSON_CreateArray();

	add_row(rows, "model=7b nodes=1", 4000, 0);
	add_row(rows, "model=70b nodes=1", 400, 0);
	anomalies_add(rows, NULL);
	anomaly_is(rows, 1, NULL, "a larger model is slower");
	cJSON_Delete(rows);

	rows = cJSON_CreateArray();
	add_row(rows, "model=7b nodes=1", 4000, 0.5);
	add_row(rows, "model=70b nodes=1", 400, 0.45);
	add_row(rows, "model=13b nodes=1", 40, 0.01);
	anomalies_add(rows, NULL);
	anomaly_is(rows, 0, NULL, "where the share of the peak is known");
	anomaly_is(rows, 2, "the rate of model=70b is 45.0 times as high",
		   "that is compared");
	cJSON_Delete(rows);
}

static void test_words(void)
{
	cJSON *rows = cJSON_CreateArray();

	add_row(rows, "name=a b c nodes=1", 100, 0);
	add_row(rows, "name=a b c nodes=2", 1000, 0);
	add_row(rows, "sweep", 7, 0);
	anomalies_add(rows, NULL);
	anomaly_is(rows, 1, "the rate is 10.0 times that of nodes=1",
		   "a value may have blanks");
	anomaly_is(rows, 2, NULL, "a cell may have no values");
	cJSON_Delete(rows);
	rows = cJSON_CreateArray();
	ok(anomalies_add(rows, NULL) == 0, "there may be no rows");
	cJSON_AddItemToArray(rows, cJSON_CreateNull());
	ok(anomalies_add(rows, NULL) < 0, "what is no row is refused");
	cJSON_Delete(rows);
}

static void test_many(void)
{
	cJSON *rows = cJSON_CreateArray(), *row;
	int found = 0;
	char cell[60];

	for (int i = 0; i < 20000; i++) {
		snprintf(cell, sizeof(cell), "a=%d b=%d c=%d", i % 30,
			 i / 30 % 30, i / 900);
		add_row(rows, cell, i == 12345 ? 1000 : 100, 0);
	}
	is_int(anomalies_add(rows, NULL), 0, "20,000 cells are compared");
	cJSON_ArrayForEach(row, rows) found +=
		cJSON_HasObjectItem(row, "anomalies");
	ok(found == 1 && cJSON_HasObjectItem(cJSON_GetArrayItem(rows, 12345),
					     "anomalies"),
	   "and the one that jumps is found (%d found)", found);
	cJSON_Delete(rows);
}

static void test_faults(void)
{
	cJSON *rows = cJSON_CreateArray();
	bool failed = true, good = true;
	long n = 0;

	for (int i = 0; i < 4; i++)
		add_row(rows, i < 2 ? "nodes=1" : "nodes=2", 1 + 100 * i, 0);
	fault_hook_cjson();
	while (failed && good) {
		struct error err = { 0 };
		int rc;

		fault_arm(++n);
		rc = anomalies_add(rows, &err);
		failed = fault_disarm();
		good = failed ? rc < 0 && err.code == ENOMEM : rc == 0;
	}
	ok(good && n > 10, "each of %ld allocations may fail", n - 1);
	cJSON_Delete(rows);
	cJSON_InitHooks(NULL);
}

int main(void)
{
	tap_begin(20);
	test_gather();
	test_repeats();
	test_jumps();
	test_work();
	test_words();
	test_many();
	test_faults();
	return tap_done();
}
