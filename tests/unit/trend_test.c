/* trend_test.c - the same cells over many sweeps.
 */
#include "controller/report/trend.h"
#include "tests/tap.h"
#include "tests/unit/report_rows.h"

#include <math.h>
#include <stdio.h>

#define SWEEPS 6

static struct report_rows rows_of(const char *vendor, double rate, int repeats)
{
	cJSON *list = cJSON_CreateArray();
	struct report_rows rows;

	for (int i = 0; i < repeats; i++) {
		char text[300];

		/* The repeats lie 2 apart, around the rate. */
		snprintf(text, sizeof(text),
			 "{\"cell\":\"model=m layout=a b nodes=2\","
			 "\"state\":\"completed\",\"setup\":{\"model\":\"m\","
			 "\"vendor\":\"%s\"},\"result\":{"
			 "\"tokens_per_second_per_device\":%g}}",
			 vendor, rate + 2 * i - (repeats - 1));
		cJSON_AddItemToArray(list, cJSON_Parse(text));
	}
	cJSON_AddItemToArray(list,
			     cJSON_Parse(
				     "{\"cell\":\"model=m layout=a b nodes=2\","
				     "\"state\":\"failed\"}"));
	rows = rows_of_json(list);
	cJSON_Delete(list);
	return rows;
}

static void test_fall(void)
{
	static const double rates[SWEEPS] = { 100, 102, 98, 97, 80, 0 };
	struct trend_sweep sweeps[SWEEPS];
	struct trend_cells cells = { 0 };
	const struct trend_cell *cell;

	for (int i = 0; i < SWEEPS; i++)
		sweeps[i] = (struct trend_sweep){
			.about = { .sweep = (uint64_t)i + 1, .name = "s" },
			.rows = rows_of(i == 5 ? "other" : "acme",
					i == 5 ? 10 : rates[i], 3),
		};
	trend_cells_find(sweeps, SWEEPS, "nodes=2 layout=a b", &cells, NULL);
	is_int(cells.count, 2, "cells of two vendors are two, of one cell one");
	cell = cells.items;
	is_int(cell->points_count, 5, "a point for each sweep");
	ok(cell->points[1].rate == 102 && cell->points[1].n == 3,
	   "the mean of its completed repeats");
	ok(isnan(cell->points[0].change_percent) &&
		   cell->points[1].change_percent == 2,
	   "and its change against the earlier ones");
	for (int i = 0; i < 5; i++)
		ok(cell->points[i].regression == (i == 4),
		   "sweep %d: only a clear fall is a regression", i + 1);
	trend_cells_clear(&cells);
	trend_cells_find(sweeps, SWEEPS, "m", &cells, NULL);
	is_int(cells.count, 2, "a model finds its cells");
	trend_cells_clear(&cells);
	trend_cells_find(sweeps, SWEEPS, "layout=a", &cells, NULL);
	is_int(cells.count, 0, "a part of a word does not");
	trend_cells_clear(&cells);
	report_rows_clear(&sweeps[0].rows);
	sweeps[0].rows = rows_of_text(
		"[{\"cell\":\"nodes=2\",\"state\":\"completed\","
		"\"setup\":{\"model\":\"m\"},"
		"\"result\":{\"tokens_per_second_per_device\":9}}]");
	trend_cells_find(sweeps, 1, "model=m nodes=2", &cells, NULL);
	is_int(cells.count, 1,
	       "the model is a word, also where it is the only");
	trend_cells_clear(&cells);
	trend_cells_find(sweeps, 1, "model=x nodes=2", &cells, NULL);
	is_int(cells.count, 0, "another model is another word");
	trend_cells_clear(&cells);
	for (int i = 0; i < SWEEPS; i++)
		report_rows_clear(&sweeps[i].rows);
}

/* After noise, a fall within twice its deviation is none. */
static void test_noise(void)
{
	static const double rates[5] = { 100, 120, 90, 110, 90 };
	struct trend_sweep sweeps[5];
	struct trend_cells cells = { 0 };

	for (int i = 0; i < 5; i++)
		sweeps[i] = (struct trend_sweep){
			.about = { .sweep = (uint64_t)i + 1 },
			.rows = rows_of("acme", rates[i], 1),
		};
	trend_cells_find(sweeps, 5, "m", &cells, NULL);
	ok(cells.count == 1 && !cells.items->points[4].regression,
	   "a fall within the noise is no regression");
	trend_cells_clear(&cells);
	for (int i = 0; i < 5; i++)
		report_rows_clear(&sweeps[i].rows);
}

int main(void)
{
	tap_begin(30);
	test_fall();
	test_noise();
	return tap_done();
}
