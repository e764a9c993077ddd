/* tidy.c - converts the rows of a sweep to one flat table for programs.
 */
#include "controller/report/tidy.h"

#include "controller/report/columns.h"
#include "controller/report/row.h"

#include <stdio.h>
#include <string.h>

#define KEYS_MAX 64  /* of a matrix; further keys are left out */
#define KEY_DEPTH 4  /* of maps in maps */
#define KEY_SIZE 128 /* bytes of "batch.micro"; longer ones are left out */

enum kind {
	ROW,      /* at the path, of any row */
	MEASURED, /* at the path, of completed rows */
	TIME,     /* as MEASURED: ms since 1970, shown as UTC */
};

static const struct {
	const char *title;
	const char *path;
	enum kind kind;
} rules[] = {
	{ "job", "job", ROW },
	{ "cell", "cell", ROW },
	{ "repeat", "repeat", ROW },
	{ "state", "state", ROW },
	{ "failure", "failure", ROW },
	{ "text", "text", ROW },
	{ "nodes", "nodes", ROW },
	{ "devices", "devices", ROW },
	{ "tokens_per_second_per_device", ROW_RATE, MEASURED },
	{ "tokens_per_second", "result.tokens_per_second", MEASURED },
	{ "loss_first", "result.loss.first", MEASURED },
	{ "loss_last", "result.loss.last", MEASURED },
	{ "memory_mib", "result.memory_mib", MEASURED },
	{ "iteration_ms_median", "result.iteration_ms.median", MEASURED },
	{ "iteration_ms_q1", "result.iteration_ms.q1", MEASURED },
	{ "iteration_ms_q3", "result.iteration_ms.q3", MEASURED },
	{ "iteration_n", "result.iteration_ms.n", MEASURED },
	{ "steps", "result.steps", MEASURED },
	{ "wall_s", "result.wall_s", MEASURED },
	{ "mfu", "result.mfu", MEASURED },
	{ "formula", "result.formula", MEASURED },
	{ "image", "provenance.image", ROW },
	{ "engine", "provenance.engine", ROW },
	{ "kernel", "provenance.kernel", ROW },
	{ "node_names", "provenance.nodes", ROW },
	{ "flags", "result.flags", MEASURED },
	{ "anomalies", "anomalies", MEASURED },
	{ "repeats", "repeats.n", MEASURED },
	{ "repeats_mean", "repeats.mean", MEASURED },
	{ "repeats_stdev", "repeats.stdev", MEASURED },
	{ "repeats_cv_percent", "repeats.cv_percent", MEASURED },
	{ "mfu_palm", "result.mfu_palm", MEASURED },
	{ "hfu", "result.hfu", MEASURED },
	{ "joules_per_token", "result.joules_per_token", MEASURED },
	{ "slow_steps", "result.slow_steps.count", MEASURED },
	{ "vendor", "setup.vendor", ROW },
	{ "chip", "setup.chip", ROW },
	{ "model", "setup.model", ROW },
	{ "precision", "setup.precision", ROW },
	{ "framework", "setup.framework", ROW },
	{ "driver", "provenance.driver", ROW },
	{ "started_utc", "result.inputs.started_ms", TIME },
	{ "ended_utc", "result.inputs.ended_ms", TIME },
	{ "iteration_ms_mean", "result.iteration_ms.mean", MEASURED },
	{ "iteration_ms_min", "result.iteration_ms.min", MEASURED },
	{ "iteration_ms_max", "result.iteration_ms.max", MEASURED },
	{ "samples_per_second", "result.samples_per_second", MEASURED },
	{ "power_w", "result.usage.power_w", MEASURED },
	{ "energy_j", "result.usage.energy_j", MEASURED },
	{ "chip_memory_gib", "result.chip_memory_gib", MEASURED },
};

#define RULES (sizeof(rules) / sizeof(rules[0]))

/* Add the keys of a matrix, in the order of the rows. */
static int find_keys(const cJSON *values, const char *prefix, int depth,
		     struct strings *keys, struct error *err)
{
	const cJSON *value;

	cJSON_ArrayForEach(value, values)
	{
		char key[KEY_SIZE];

		if (!value->string ||
		    snprintf(key, sizeof(key), "%s%s%s", prefix,
			     *prefix ? "." : "",
			     value->string) >= (int)sizeof(key))
			continue;
		if (cJSON_IsObject(value)) {
			if (depth < KEY_DEPTH &&
			    find_keys(value, key, depth + 1, keys, err) < 0)
				return -1;
		} else if (keys->count < KEYS_MAX && !strings_has(keys, key) &&
			   strings_add(keys, key, err) < 0) {
			return -1;
		}
	}
	return 0;
}

static void put_time(cJSON *flat, const char *title, double ms, bool *failed)
{
	char text[UTC_SIZE];

	json_add_text(flat, title, ms > 0 ? utc_text((int64_t)ms, text) : NULL,
		      failed);
}

static void put_rules(cJSON *flat, const cJSON *row, bool *failed)
{
	for (size_t i = 0; i < RULES; i++) {
		const cJSON *value = row_at(row, rules[i].path);

		if (rules[i].kind != ROW && !row_completed(row))
			value = NULL;
		if (rules[i].kind == TIME)
			put_time(flat, rules[i].title,
				 cJSON_GetNumberValue(value), failed);
		else
			json_add_copy(flat, rules[i].title, value, failed);
	}
}

static cJSON *flat_row(const struct report_about *about, const cJSON *row,
		       const struct strings *keys, const struct columns *chosen,
		       bool *failed)
{
	const cJSON *metrics =
		row_completed(row) ? row_at(row, "result.metrics") : NULL;
	cJSON *flat = cJSON_CreateObject();

	put_rules(flat, row, failed);
	json_add_number(flat, "schema", TIDY_VERSION, failed);
	json_add_number(flat, "sweep", (double)about->sweep, failed);
	json_add_text(flat, "sweep_name", about->name, failed);
	put_time(flat, "submitted_utc", (double)about->submitted_ms, failed);
	for (size_t i = 0; i < keys->count; i++) {
		char title[KEY_SIZE + 8];

		snprintf(title, sizeof(title), "cell.%s", keys->items[i]);
		json_add_copy(flat, title,
			      row_at(row_at(row, "values"), keys->items[i]),
			      failed);
	}
	for (size_t c = 0; c < chosen->count; c++) {
		const char *metric = chosen->metrics[c];

		if (metric)
			json_add_copy(flat, metric,
				      cJSON_GetObjectItemCaseSensitive(metrics,
								       metric),
				      failed);
	}
	return flat;
}

cJSON *tidy_rows(const struct report_about *about, const cJSON *rows,
		 struct strings *titles, struct error *err)
{
	owned(strings_clear) struct strings keys = { 0 };
	cJSON *table = cJSON_CreateArray(), *blank;
	bool failed = !table;
	struct columns chosen;
	const cJSON *row, *column;

	cJSON_ArrayForEach(row, rows)
	{
		failed |=
			find_keys(row_at(row, "values"), "", 1, &keys, err) < 0;
	}
	columns_choose(rows, false, &chosen);
	blank = flat_row(about, NULL, &keys, &chosen, &failed);
	cJSON_ArrayForEach(column, blank)
	{
		failed |= strings_add(titles, column->string, err) < 0;
	}
	cJSON_Delete(blank);
	for (row = rows->child; row && !failed; row = row->next)
		json_add(table, NULL,
			 flat_row(about, row, &keys, &chosen, &failed),
			 &failed);
	if (!failed)
		return table;
	cJSON_Delete(table);
	return error_null(error_nomem(err, "report"));
}
