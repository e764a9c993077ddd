/* columns.c - chooses and fills the columns of result tables.
 */
#include "controller/report/columns.h"

#include "controller/report/row.h"
#include "protocol/base/utf8.h"

#include <stdio.h>
#include <string.h>

struct column_rule {
	const char *title;
	const char *path;
	const char *format; /* NULL: a text */
	double scale;       /* shown = value * scale; 0: as it is */
	bool measured;      /* only of completed rows */
	bool optional;      /* left out when no row has it */
	bool flagged;       /* marked when the row has flags */
	bool state;         /* with the class of the failure */
	bool labelled;      /* left out when labels say it */
	bool metrics;       /* one column for each member of the map there */
};

/* clang-format off */
static const struct column_rule rules[] = {
	{ .title = "cell", .path = "cell" },
	{ .title = "repeat", .path = "repeat", .format = "%.0f",
	  .optional = true, .labelled = true },
	{ .title = "nodes", .path = "nodes", .format = "%.0f" },
	{ .title = "devices", .path = "devices", .format = "%.0f" },
	{ .title = "token/p/s",
	  .path = ROW_RATE, .format = "%.1f",
	  .measured = true, .flagged = true },
	{ .title = "MFU (%)", .path = "result.mfu", .format = "%.2f",
	  .scale = 100, .measured = true, .optional = true },
	{ .title = "HFU (%)", .path = "result.hfu", .format = "%.2f",
	  .scale = 100, .measured = true, .optional = true },
	{ .title = "loss", .path = "result.loss.last", .format = "%.4f",
	  .measured = true },
	{ .title = "loss difference (%)", .path = "alignment.mean_percent",
	  .format = "%.2f", .measured = true, .optional = true },
	{ .title = "aligned", .path = "alignment.verdict", .measured = true,
	  .optional = true },
	{ .path = "result.metrics", .format = "%.6g", .measured = true,
	  .optional = true, .metrics = true },
	{ .title = "memory (MiB)", .path = "result.memory_mib",
	  .format = "%.1f", .measured = true },
	{ .title = "J/token", .path = "result.joules_per_token",
	  .format = "%.3f", .measured = true, .optional = true },
	{ .title = "step time (ms)", .path = "result.iteration_ms.median",
	  .format = "%.1f", .measured = true },
	{ .title = "wall time (s)", .path = "result.wall_s", .format = "%.1f",
	  .measured = true },
	{ .title = "state", .path = "state", .state = true },
};
/* clang-format on */

#define RULES (sizeof(rules) / sizeof(rules[0]))

static bool has_column(const struct columns *columns, const char *metric)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->metrics[i] && !strcmp(columns->metrics[i], metric))
			return true;
	return false;
}

static void add_column(struct columns *columns, const struct column_rule *rule,
		       const char *metric)
{
	if (columns->count == COLUMNS_MAX)
		return;
	columns->heads[columns->count] = (struct column){
		.title = metric ? metric : rule->title,
		.right = rule->format != NULL,
	};
	columns->rules[columns->count] = rule;
	columns->metrics[columns->count] = metric;
	columns->count++;
}

static void add_metrics(struct columns *columns, const struct column_rule *rule,
			const cJSON *rows)
{
	const cJSON *row, *metric;

	cJSON_ArrayForEach(row, rows)
	{
		cJSON_ArrayForEach(metric, row_at(row, rule->path))
		{
			if (row_completed(row) && metric->string &&
			    row_shows(row, metric->string) &&
			    !has_column(columns, metric->string))
				add_column(columns, rule, metric->string);
		}
	}
}

/* The number of a repeat is only shown if a cell has more than one. */
static bool is_wanted(const struct column_rule *rule, const cJSON *row)
{
	const cJSON *value = row_at(row, rule->path);

	if (!rule->measured)
		return cJSON_IsNumber(value) && value->valuedouble > 0;
	return row_completed(row) && value && !cJSON_IsNull(value);
}

static bool any_wants(const struct column_rule *rule, const cJSON *rows)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		if (is_wanted(rule, row))
			return true;
	}
	return false;
}

void columns_choose(const cJSON *rows, bool labelled, struct columns *columns)
{
	*columns = (struct columns){ 0 };
	for (size_t i = 0; i < RULES; i++) {
		if (labelled && rules[i].labelled)
			continue;
		if (rules[i].metrics)
			add_metrics(columns, &rules[i], rows);
		else if (!rules[i].optional || any_wants(&rules[i], rows))
			add_column(columns, &rules[i], NULL);
	}
}

static const char *state_text(const cJSON *row, char text[COLUMN_TEXT])
{
	const char *state = row_text(row, "state");
	const char *failure = row_failure(row);

	snprintf(text, COLUMN_TEXT, "%s%s%s", state ? state : "-",
		 failure ? ": " : "", failure ? failure : "");
	return text;
}

/* Copy a text; one that is too long is cut between characters and ends in
 * "...".
 */
static const char *copy_text(const char *from, char text[COLUMN_TEXT])
{
	size_t size = strlen(from);

	if (size >= COLUMN_TEXT) {
		size = utf8_cut(from, COLUMN_TEXT - 4);
		memcpy(text + size, "...", 4);
	} else {
		text[size] = 0;
	}
	return memcpy(text, from, size);
}

const char *column_text(const struct columns *columns, size_t column,
			const cJSON *row, char text[COLUMN_TEXT])
{
	const struct column_rule *rule = columns->rules[column];
	const cJSON *value = row_at(row, rule->path);
	char number[64] = "-";

	if (columns->metrics[column])
		value = cJSON_GetObjectItemCaseSensitive(value,
							 columns->metrics
								 [column]);
	if (rule->state)
		return state_text(row, text);
	if (rule->measured && !row_completed(row))
		return copy_text("-", text);
	if (cJSON_IsString(value))
		return copy_text(value->valuestring, text);
	if (cJSON_IsNumber(value) && rule->format)
		/* The formats stand in the table above. */
		snprintf(number, sizeof(number), rule->format,
			 value->valuedouble * (rule->scale ? rule->scale : 1));
	snprintf(text, COLUMN_TEXT, "%s%s", number,
		 rule->flagged && row_flagged(row) ? " (!)" : "");
	return text;
}

/* Tables. */

static double rate_of(const cJSON *row)
{
	return row_completed(row) ? number_at(row, ROW_RATE) : 0;
}

static double best_rate(const cJSON *rows)
{
	double best = 0;
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		if (rate_of(row) > best)
			best = rate_of(row);
	}
	return best;
}

static void add_cell(const struct columns *columns, size_t column,
		     const cJSON *row, const struct labels *labels, double best,
		     struct table *table)
{
	bool bad = column == columns->count - 1 && row_text(row, "failure") &&
		   !row_completed(row);
	char text[COLUMN_TEXT], label[LABEL_SIZE];

	table_cell(table, bad ? RED : PLAIN, "%s",
		   labels && !column ? labels_row(labels, row, label)
				     : column_text(columns, column, row, text));
	if (best > 0 && columns->rules[column]->flagged)
		table_bar(table, rate_of(row) / best * 100);
}

void columns_table(const struct columns *columns, const cJSON *rows,
		   const struct labels *labels, struct table *table)
{
	double best = best_rate(rows);
	const cJSON *row;

	*table = (struct table){ .columns = columns->heads };
	cJSON_ArrayForEach(row, rows)
	{
		for (size_t c = 0; c < columns->count; c++)
			add_cell(columns, c, row, labels, best, table);
	}
}
