/* trend_test.c - the same cells over many sweeps.
 */
#include "controller/report/row.h"
#include "controller/report/trend.h"
#include "tests/tap.h"

#include <stdio.h>
#include <string.h>

#define SWEEPS 6

static cJSON *rows_of(const char *vendor, double rate, int repeats)
{
	cJSON *rows = cJSON_CreateArray();

	for (int i = 0; i < repeats; i++) {
		char text[300];

		/* The repeats lie 2 apart, around the rate. */
		snprintf(text, sizeof(text),
			 "{\"cell\":\"model=m layout=a b nodes=2\","
			 "\"state\":\"completed\",\"setup\":{\"model\":\"m\","
			 "\"vendor\":\"%s\"},\"result\":{"
			 "\"tokens_per_second_per_device\":%g}}",
			 vendor, rate + 2 * i - (repeats - 1));
		cJSON_AddItemToArray(rows, cJSON_Parse(text));
	}
	cJSON_AddItemToArray(rows,
			     cJSON_Parse(
				     "{\"cell\":\"model=m layout=a b nodes=2\","
				     "\"state\":\"failed\"}"));
	return rows;
}

static void test_fall(void)
{
	static const double rates[SWEEPS] = { 100, 102, 98, 97, 80, 0 };
	struct trend_sweep sweeps[SWEEPS];
	cJSON *cells, *cell, *points;

	for (int i = 0; i < SWEEPS; i++)
		sweeps[i] = (struct trend_sweep){
			.about = { .sweep = (uint64_t)i + 1, .name = "s" },
			.rows = rows_of(i == 5 ? "other" : "acme",
					i == 5 ? 10 : rates[i], 3),
		};
	cells = trend_cells(sweeps, SWEEPS, "nodes=2 layout=a b", NULL);
	is_int(cJSON_GetArraySize(cells), 2,
	       "cells of two vendors are two, of one cell one");
	cell = cJSON_GetArrayItem(cells, 0);
	points = cJSON_GetObjectItem(cell, "points");
	is_int(cJSON_GetArraySize(points), 5, "a point for each sweep");
	ok(number_at(cJSON_GetArrayItem(points, 1), "rate") == 102 &&
		   number_at(cJSON_GetArrayItem(points, 1), "n") == 3,
	   "the mean of its completed repeats");
	ok(cJSON_IsNull(
		   row_at(cJSON_GetArrayItem(points, 0), "change_percent")) &&
		   number_at(cJSON_GetArrayItem(points, 1), "change_percent") ==
			   2,
	   "and its change against the earlier ones");
	for (int i = 0; i < 5; i++)
		ok(cJSON_IsTrue(row_at(cJSON_GetArrayItem(points, i),
				       "regression")) == (i == 4),
		   "sweep %d: only a clear fall is a regression", i + 1);
	cJSON_Delete(cells);
	cells = trend_cells(sweeps, SWEEPS, "m", NULL);
	is_int(cJSON_GetArraySize(cells), 2, "a model finds its cells");
	cJSON_Delete(cells);
	cells = trend_cells(sweeps, SWEEPS, "layout=a", NULL);
	is_int(cJSON_GetArraySize(cells), 0, "a part of a word does not");
	cJSON_Delete(cells);
	for (int i = 0; i < SWEEPS; i++)
		cJSON_Delete((cJSON *)sweeps[i].rows);
}

/* After noise, a fall within twice its deviation is none. */
static void test_noise(void)
{
	static const double rates[5] = { 100, 120, 90, 110, 90 };
	struct trend_sweep sweeps[5];
	cJSON *cells;

	for (int i = 0; i < 5; i++)
		sweeps[i] = (struct trend_sweep){
			.about = { .sweep = (uint64_t)i + 1 },
			.rows = rows_of("acme", rates[i], 1),
		};
	cells = trend_cells(sweeps, 5, "m", NULL);
	ok(cJSON_IsFalse(
		   row_at(cJSON_GetArrayItem(row_at(cells->child, "points"), 4),
			  "regression")),
	   "a fall within the noise is no regression");
	cJSON_Delete(cells);
	for (int i = 0; i < 5; i++)
		cJSON_Delete((cJSON *)sweeps[i].rows);
}

int main(void)
{
	tap_begin(30);
	test_fall();
	test_noise();
	return tap_done();
}
