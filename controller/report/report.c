/* report.c - writes the rows of a sweep as CSV and JSON: the flat table.
 */
#include "controller/report/report.h"
#include "controller/report/races.h"

#include "controller/report/cells.h"
#include "controller/report/columns.h"
#include "controller/report/figures.h"
#include "controller/report/writer.h"
#include "controller/results/formula.h"
#include "controller/results/json_object.h"
#include "controller/results/remarks.h"
#include "protocol/base/printable_json.h"
#include "protocol/base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 64  /* of a matrix; further keys are left out */
#define KEY_DEPTH 4  /* of maps in maps */
#define KEY_SIZE 128 /* bytes of "batch.micro"; longer ones are left out */
#define CELL_KEY "cell."

/* The columns of the table behind the figures. */
struct flat_table {
	const struct report_about *about;
	const struct report_rows *rows;
	const struct report_rows *cells; /* only of JSON */
	struct strings keys;             /* of the matrix */
	cJSON *races;                    /* races_json() */
	struct raced *raced;             /* the cells in them, by label */
	size_t raced_count;
	struct columns shown; /* of these, the metrics */
};

/* A cell of a race, as in races_json(). */
struct raced {
	const char *cell;
	const cJSON *race, *item;
};

/* Write one value of a row; the first has `first` set. */
typedef void put_value_fn(struct writer *to, const char *title,
			  const struct datum *datum, bool first);

static struct datum datum_of_number(double number)
{
	return (struct datum){ .kind = isfinite(number) ? DATUM_NUMBER
							: DATUM_NONE,
			       .number = number };
}

static struct datum datum_of_text(const char *text)
{
	return (struct datum){ .kind = text ? DATUM_TEXT : DATUM_NONE,
			       .text = text };
}

static struct datum datum_of_time(double ms, char text[UTC_SIZE])
{
	return datum_of_text(ms > 0 ? utc_text((int64_t)ms, text) : NULL);
}

/* A value of the matrix. Of lists only the texts are shown; they are put
 * together in *list.
 */
static struct datum json_datum(const cJSON *value, struct strings *list,
			       struct error *err)
{
	const cJSON *item;

	if (cJSON_IsNumber(value))
		return datum_of_number(cJSON_GetNumberValue(value));
	if (cJSON_IsBool(value))
		return datum_of_text(cJSON_IsTrue(value) ? "true" : "false");
	if (!cJSON_IsArray(value))
		return datum_of_text(cJSON_GetStringValue(value));
	cJSON_ArrayForEach(item, value) {
		const char *text = cJSON_GetStringValue(item);

		strings_add(list, text ? text : "", err);
	}
	return (struct datum){ .kind = DATUM_LIST, .list = list };
}

static int compare_raced(const void *a, const void *b)
{
	return strcmp(((const struct raced *)a)->cell,
		      ((const struct raced *)b)->cell);
}

/* The members of a race, or of a cell in it, as columns "race_NAME". */
static void put_members(struct writer *to, const cJSON *titles,
			const cJSON *from, put_value_fn *put)
{
	const cJSON *title;

	cJSON_ArrayForEach(title, titles) {
		owned(strings_clear) struct strings list = { 0 };
		char name[KEY_SIZE];
		struct datum datum;

		if (cJSON_IsArray(title))
			continue;
		snprintf(name, sizeof(name), "%s%s",
			 strcmp(title->string, "race") ? "race_" : "",
			 title->string);
		datum = json_datum(row_at(from, title->string), &list,
				   &to->failure);
		put(to, name, &datum, false);
	}
}

/* Only where cells race. */
static void put_race(struct writer *to, const struct flat_table *table,
		     const struct report_row *row, put_value_fn *put)
{
	const struct raced key = { .cell = row ? row_cell(row) : "" };
	const struct raced *first = table->raced, *found = NULL;

	if (!table->raced_count)
		return;
	if (row && row->info.race)
		found = bsearch(&key, first, table->raced_count, sizeof(*first),
				compare_raced);
	put_members(to, first->race, found ? found->race : NULL, put);
	put_members(to, first->item, found ? found->item : NULL, put);
}

/* The titles (row: NULL), or the values of a row. */
static void put_flat(struct writer *to, const struct flat_table *table,
		     const struct report_row *row, put_value_fn *put)
{
	const struct report_about *about = table->about;
	struct datum none = { 0 }, datum;
	const struct report_figure *figure;
	char utc[UTC_SIZE];

	for (size_t i = 0; (figure = figure_at(i)); i++) {
		if (!figure->name)
			continue;
		datum = row ? figure_datum(figure, row) : none;
		if (figure->time)
			datum = datum_of_time(row ? datum.number : 0, utc);
		put(to, figure->name, &datum, !i);
	}
	datum = datum_of_number(REPORT_VERSION);
	put(to, "schema", &datum, false);
	datum = datum_of_number((double)about->sweep);
	put(to, "sweep", &datum, false);
	datum = datum_of_text(about->name);
	put(to, "sweep_name", &datum, false);
	datum = datum_of_time((double)about->submitted_ms, utc);
	put(to, "submitted_utc", &datum, false);
	for (size_t i = 0; i < table->keys.count; i++) {
		owned(strings_clear) struct strings list = { 0 };
		char title[KEY_SIZE + sizeof(CELL_KEY)];

		snprintf(title, sizeof(title), CELL_KEY "%s",
			 table->keys.items[i]);
		datum = json_datum(row ? row_at(row->info.values,
						table->keys.items[i])
				       : NULL,
				   &list, &to->failure);
		put(to, title, &datum, false);
	}
	for (size_t c = 0; c < table->shown.count; c++) {
		const char *metric = table->shown.metrics[c];

		if (!metric)
			continue;
		datum = datum_of_number(row && row_completed(row)
						? row_metric(row, metric)
						: NAN);
		put(to, metric, &datum, false);
	}
	put_race(to, table, row, put);
}

/* Add the keys of a matrix, in the order of the rows. */
static int find_keys(const cJSON *values, const char *prefix, int depth,
		     struct strings *keys, struct error *err)
{
	const cJSON *value;

	cJSON_ArrayForEach(value, values) {
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

static int flat_init_races(struct flat_table *table, struct error *err)
{
	const cJSON *race, *item;

	table->races = races_json(table->rows);
	table->raced = calloc(table->rows->count + 1, sizeof(*table->raced));
	if (!table->races || !table->raced)
		return error_nomem(err, "report");
	cJSON_ArrayForEach(race, table->races) {
		cJSON_ArrayForEach(item, row_at(race, "cells"))
			table->raced[table->raced_count++] =
				(struct raced){ row_text(item, "cell"), race,
						item };
	}
	qsort(table->raced, table->raced_count, sizeof(*table->raced),
	      compare_raced);
	return 0;
}

static int flat_init(struct flat_table *table, struct error *err)
{
	if (flat_init_races(table, err) < 0)
		return -1;
	ROWS_EACH(row, table->rows)
	{
		if (find_keys(row->info.values, "", 1, &table->keys, err) < 0)
			return -1;
	}
	columns_choose(table->rows, false, &table->shown);
	return 0;
}

typedef void put_fn(struct writer *to, const struct flat_table *table);

static int report_put(const struct report_about *about,
		      const struct report_rows *rows,
		      const struct report_rows *cells, escape_fn *escaped,
		      put_fn *put, struct buffer *out, struct error *err)
{
	struct flat_table table = { .about = about,
				    .rows = rows,
				    .cells = cells };
	struct writer to;

	writer_init(&to, out, escaped);
	if (flat_init(&table, &to.failure) == 0)
		put(&to, &table);
	strings_clear(&table.keys);
	free(table.raced);
	cJSON_Delete(table.races);
	return writer_end(&to, err);
}

/* Does a spreadsheet take what begins here for a formula? Some split lines at
 * semicolons or tabs instead of commas, and know no quotes within a field.
 */
static bool csv_is_formula(const char *text, size_t at)
{
	return strchr("=+-@\t\r", text[at]) &&
	       (!at || strchr(";\t\r\n", text[at - 1]));
}

/* A field in quotes if it needs them, as RFC 4180 says. What a spreadsheet
 * would take for a formula gets an apostrophe, which makes it a text there.
 */
static int csv_text(struct buffer *out, const char *text, struct error *err)
{
	const char *quote = strpbrk(text, ",\"\r\n") ? "\"" : "";

	if (buffer_text(out, quote, err) < 0)
		return -1;
	for (size_t i = 0, size; text[i]; i += size) {
		const char *put;

		size = writer_character(text + i, "\t\r\n", &put);
		if ((csv_is_formula(text, i) &&
		     buffer_text(out, "'", err) < 0) ||
		    (text[i] == '"' && buffer_text(out, "\"", err) < 0) ||
		    buffer_append(out, put,
				  put == text + i ? size : strlen(put),
				  err) < 0)
			return -1;
	}
	return buffer_text(out, quote, err);
}

static void csv_title(struct writer *to, const char *title,
		      const struct datum *datum, bool first)
{
	writer_printf(to, first ? "%s" : ",%s", title);
}

/* How many texts a list has, and each of them. */
static size_t list_size(const struct datum *datum)
{
	return datum->kind == DATUM_LIST      ? datum->list->count
	       : datum->kind == DATUM_REMARKS ? datum->count
					      : 0;
}

static const char *list_text(const struct datum *datum, size_t index,
			     char text[REMARK_TEXT_MAX])
{
	if (datum->kind == DATUM_LIST)
		return datum->list->items[index];
	return remark_sentence(&datum->remarks[index], LANGUAGE_EN, text,
			       REMARK_TEXT_MAX);
}

/* Texts of a list, in one field with "; " between them. */
static void csv_list(struct writer *to, const struct datum *datum)
{
	owned(buffer_clear) struct buffer joined;
	char text[REMARK_TEXT_MAX];

	buffer_init(&joined, to->out->limit);
	for (size_t i = 0; i < list_size(datum); i++)
		buffer_printf(&joined, &to->failure, "%s%s", i ? "; " : "",
			      list_text(datum, i, text));
	if (joined.size)
		writer_text(to, joined.data);
}

static void csv_value(struct writer *to, const char *title,
		      const struct datum *datum, bool first)
{
	if (!first)
		writer_raw(to, ",");
	if (datum->kind == DATUM_NUMBER)
		writer_printf(to, "%.10g", datum->number);
	else if (datum->kind == DATUM_TEXT)
		writer_text(to, datum->text);
	else
		csv_list(to, datum);
}

static void report_csv_put(struct writer *to, const struct flat_table *table)
{
	put_flat(to, table, NULL, csv_title);
	writer_raw(to, "\r\n");
	ROWS_EACH(row, table->rows)
	{
		put_flat(to, table, row, csv_value);
		writer_raw(to, "\r\n");
	}
}

int report_csv(const struct report_about *about, const struct report_rows *rows,
	       struct buffer *out, struct error *err)
{
	return report_put(about, rows, NULL, csv_text, report_csv_put, out,
			  err);
}

static int report_json_text(struct buffer *out, const char *text,
			    struct error *err)
{
	const cJSON string = { .type = cJSON_String,
			       .valuestring = (char *)text };
	char *quoted = cJSON_PrintUnformatted(&string);
	int rc = quoted ? buffer_text(out, quoted, err)
			: error_nomem(err, "report");

	cJSON_free(quoted);
	return rc;
}

static void json_list(struct writer *to, const struct datum *datum)
{
	char text[REMARK_TEXT_MAX];

	writer_raw(to, "[");
	for (size_t i = 0; i < list_size(datum); i++)
		writer_printf(to, i ? ",%s" : "%s", list_text(datum, i, text));
	writer_raw(to, "]");
}

static void json_value(struct writer *to, const char *title,
		       const struct datum *datum, bool first)
{
	const cJSON number = { .type = cJSON_Number,
			       .valuedouble = datum->number };
	char text[64];

	writer_printf(to, first ? "%s:" : ",%s:", title);
	if (datum->kind == DATUM_NUMBER &&
	    cJSON_PrintPreallocated((cJSON *)&number, text, sizeof(text),
				    false))
		writer_raw(to, text);
	else if (datum->kind == DATUM_TEXT)
		writer_text(to, datum->text);
	else if (datum->kind == DATUM_NONE)
		writer_raw(to, "null");
	else
		json_list(to, datum);
}

static void json_row(struct writer *to, const struct report_row *row)
{
	if (!to->failure.code)
		codec_encode(&report_row_schema, row, to->out, &to->failure);
}

static void json_races(struct writer *to, const cJSON *races)
{
	char *text = cJSON_PrintUnformatted(races);

	if (!text) {
		error_nomem(&to->failure, "report");
	} else if (cJSON_GetArraySize(races)) {
		writer_raw(to, ",\n\"races\": ");
		writer_raw(to, text);
	}
	cJSON_free(text);
}

/* One row per line, so that two reports can be compared line by line. */
static void report_json_put(struct writer *to, const struct flat_table *table)
{
	const char *between = "\n";

	writer_printf(to, "{\"version\": %d, \"formula\": %d, \"table\": [",
		      REPORT_VERSION, FORMULA_VERSION);
	ROWS_EACH(row, table->rows)
	{
		writer_raw(to, between);
		writer_raw(to, "{");
		put_flat(to, table, row, json_value);
		writer_raw(to, "}");
		between = ",\n";
	}
	writer_raw(to, "\n],\n\"rows\": [");
	between = "\n";
	ROWS_EACH(row, table->rows)
	{
		writer_raw(to, between);
		json_row(to, row);
		between = ",\n";
	}
	writer_raw(to, "\n],\n\"cells\": [");
	between = "\n";
	ROWS_EACH(cell, table->cells)
	{
		writer_raw(to, between);
		json_row(to, cell);
		between = ",\n";
	}
	writer_raw(to, "\n]");
	json_races(to, table->races);
	writer_raw(to, "}\n");
}

int report_json(const struct report_about *about,
		const struct report_rows *rows, struct buffer *out,
		struct error *err)
{
	owned(report_rows_clear) struct report_rows cells = { 0 };
	owned(buffer_clear) struct buffer text = BUFFER_INIT(out->limit);

	if (cells_make(rows, about, &cells, err) < 0 ||
	    report_put(about, rows, &cells, report_json_text, report_json_put,
		       &text, err) < 0)
		return -1;
	return printable_json(out, text.data, err);
}
