/* report.c - writes the rows of a sweep as CSV and JSON.
 */
#include "controller/report/report.h"

#include "controller/report/row.h"
#include "controller/report/tidy.h"
#include "controller/report/writer.h"
#include "controller/results/formula.h"

#include <string.h>

/* A field in quotes if it needs them, as RFC 4180 says. What a spreadsheet
 * would take for a formula gets an apostrophe, which makes it a text there.
 */
static int csv_text(struct buffer *out, const char *text, struct error *err)
{
	const char *guard = *text && strchr("=+-@\t\r", *text) ? "'" : "";

	if (!strpbrk(text, ",\"\r\n"))
		return buffer_printf(out, err, "%s%s", guard, text);
	if (buffer_printf(out, err, "\"%s", guard) < 0)
		return -1;
	for (; *text; text++)
		if (buffer_append(out, *text == '"' ? "\"\"" : text,
				  *text == '"' ? 2 : 1, err) < 0)
			return -1;
	return buffer_append(out, "\"", 1, err);
}

/* Texts of a list, in one field with "; " between them. */
static void put_list(struct writer *to, const cJSON *list)
{
	owned(buffer_clear) struct buffer joined;
	const cJSON *item;

	buffer_init(&joined, to->out->limit);
	cJSON_ArrayForEach(item, list)
	{
		const char *text = cJSON_GetStringValue(item);

		buffer_printf(&joined, &to->failure, "%s%s",
			      joined.size ? "; " : "", text ? text : "");
	}
	writer_text(to, joined.data);
}

static void put_value(struct writer *to, const cJSON *value)
{
	if (cJSON_IsNumber(value))
		writer_printf(to, "%.10g", value->valuedouble);
	else if (cJSON_IsString(value))
		writer_text(to, value->valuestring);
	else if (cJSON_IsBool(value))
		writer_raw(to, cJSON_IsTrue(value) ? "true" : "false");
	else if (cJSON_IsArray(value))
		put_list(to, value);
}

/* Write a report from the rows and the table made of them. */
typedef void put_fn(struct writer *to, const struct strings *titles,
		    const cJSON *table, const cJSON *rows);

static int put_report(const struct report_about *about, const cJSON *rows,
		      put_fn *put, struct buffer *out, struct error *err)
{
	owned(strings_clear) struct strings titles = { 0 };
	struct writer to;
	cJSON *table;

	if (rows_check(rows, err) < 0)
		return -1;
	table = tidy_rows(about, rows, &titles, err);
	if (!table)
		return -1;
	writer_init(&to, out, csv_text);
	put(&to, &titles, table, rows);
	cJSON_Delete(table);
	return writer_end(&to, err);
}

static void put_csv(struct writer *to, const struct strings *titles,
		    const cJSON *table, const cJSON *rows)
{
	const cJSON *row, *value;

	for (size_t i = 0; i < titles->count; i++)
		writer_printf(to, i ? ",%s" : "%s", titles->items[i]);
	writer_raw(to, "\r\n");
	cJSON_ArrayForEach(row, table)
	{
		cJSON_ArrayForEach(value, row)
		{
			if (value != row->child)
				writer_raw(to, ",");
			put_value(to, value);
		}
		writer_raw(to, "\r\n");
	}
}

int report_csv(const struct report_about *about, const cJSON *rows,
	       struct buffer *out, struct error *err)
{
	return put_report(about, rows, put_csv, out, err);
}

/* One row per line, so that two reports can be compared line by line. */
static void put_lines(struct writer *to, const char *name, const cJSON *rows)
{
	const cJSON *row;

	writer_raw(to, name);
	cJSON_ArrayForEach(row, rows)
	{
		char *text = cJSON_PrintUnformatted(row);

		writer_raw(to, row == rows->child ? "\n" : ",\n");
		if (text)
			writer_raw(to, text);
		else
			error_nomem(&to->failure, "report");
		cJSON_free(text);
	}
	writer_raw(to, "\n]");
}

static void put_json(struct writer *to, const struct strings *titles,
		     const cJSON *table, const cJSON *rows)
{
	writer_printf(to, "{\"version\": %d, \"formula\": %d, ", TIDY_VERSION,
		      FORMULA_VERSION);
	put_lines(to, "\"table\": [", table);
	put_lines(to, ",\n\"rows\": [", rows);
	writer_raw(to, "}\n");
}

int report_json(const struct report_about *about, const cJSON *rows,
		struct buffer *out, struct error *err)
{
	return put_report(about, rows, put_json, out, err);
}
