/* report.c - rows of a sweep as CSV and JSON, for programs.
 */
#include "controller/report/report.h"

#include "controller/report/row.h"
#include "controller/report/tidy.h"
#include "controller/results/formula.h"

#include <string.h>

/* A field in quotes if it needs them, as RFC 4180 says. What a spreadsheet
 * would take for a formula gets an apostrophe, which makes it a text there.
 */
static int put_field(struct buffer *out, const char *text, struct error *err)
{
	owned(buffer_clear) struct buffer guarded;

	buffer_init(&guarded, out->limit);
	if (*text && strchr("=+-@\t\r", *text)) {
		if (buffer_printf(&guarded, err, "'%s", text) < 0)
			return -1;
		text = guarded.data;
	}
	if (!strpbrk(text, ",\"\r\n"))
		return buffer_text(out, text, err);
	if (buffer_append(out, "\"", 1, err) < 0)
		return -1;
	for (; *text; text++)
		if (buffer_append(out, *text == '"' ? "\"\"" : text,
				  *text == '"' ? 2 : 1, err) < 0)
			return -1;
	return buffer_append(out, "\"", 1, err);
}

/* Texts of a list, in one field with "; " between them. */
static int put_list(struct buffer *out, const cJSON *list, struct error *err)
{
	owned(buffer_clear) struct buffer joined;
	const cJSON *item;

	buffer_init(&joined, out->limit);
	cJSON_ArrayForEach(item, list)
	{
		const char *text = cJSON_GetStringValue(item);

		if ((joined.size && buffer_text(&joined, "; ", err) < 0) ||
		    buffer_text(&joined, text ? text : "", err) < 0)
			return -1;
	}
	return put_field(out, joined.data, err);
}

static int put_value(struct buffer *out, const cJSON *value, struct error *err)
{
	if (cJSON_IsNumber(value))
		return buffer_printf(out, err, "%.10g", value->valuedouble);
	if (cJSON_IsString(value))
		return put_field(out, value->valuestring, err);
	if (cJSON_IsBool(value))
		return buffer_text(out, cJSON_IsTrue(value) ? "true" : "false",
				   err);
	return cJSON_IsArray(value) ? put_list(out, value, err) : 0;
}

static int put_titles(struct buffer *out, const struct strings *titles,
		      struct error *err)
{
	for (size_t i = 0; i < titles->count; i++)
		if ((i && buffer_append(out, ",", 1, err) < 0) ||
		    put_field(out, titles->items[i], err) < 0)
			return -1;
	return buffer_text(out, "\r\n", err);
}

static int put_rows(struct buffer *out, const cJSON *table, struct error *err)
{
	const cJSON *row, *value;

	cJSON_ArrayForEach(row, table)
	{
		cJSON_ArrayForEach(value, row)
		{
			if ((value != row->child &&
			     buffer_append(out, ",", 1, err) < 0) ||
			    put_value(out, value, err) < 0)
				return -1;
		}
		if (buffer_text(out, "\r\n", err) < 0)
			return -1;
	}
	return 0;
}

int report_csv(const struct report_about *about, const cJSON *rows,
	       struct buffer *out, struct error *err)
{
	owned(strings_clear) struct strings titles = { 0 };
	size_t size = out->size;
	cJSON *table;
	int rc;

	if (rows_check(rows, err) < 0)
		return -1;
	table = tidy_rows(about, rows, &titles, err);
	rc = table && put_titles(out, &titles, err) == 0
		     ? put_rows(out, table, err)
		     : -1;
	cJSON_Delete(table);
	return rc < 0 ? rows_undo(out, size) : 0;
}

/* One row a line, so that two reports can be compared line by line. */
static int put_list_of(struct buffer *out, const char *name, const cJSON *rows,
		       struct error *err)
{
	const cJSON *row;

	if (buffer_printf(out, err, "\"%s\": [", name) < 0)
		return -1;
	cJSON_ArrayForEach(row, rows)
	{
		char *text = cJSON_PrintUnformatted(row);
		int rc = text ? buffer_printf(out, err, "%s\n%s",
					      row == rows->child ? "" : ",",
					      text)
			      : error_nomem(err, "report");

		cJSON_free(text);
		if (rc < 0)
			return -1;
	}
	return buffer_text(out, "\n]", err);
}

int report_json(const struct report_about *about, const cJSON *rows,
		struct buffer *out, struct error *err)
{
	owned(strings_clear) struct strings titles = { 0 };
	size_t size = out->size;
	cJSON *table;
	int rc = -1;

	if (rows_check(rows, err) < 0)
		return -1;
	table = tidy_rows(about, rows, &titles, err);
	if (table &&
	    buffer_printf(out, err, "{\"version\": %d, \"formula\": %d, ",
			  TIDY_VERSION, FORMULA_VERSION) == 0 &&
	    put_list_of(out, "table", table, err) == 0 &&
	    buffer_text(out, ",\n", err) == 0 &&
	    put_list_of(out, "rows", rows, err) == 0)
		rc = buffer_text(out, "}\n", err);
	cJSON_Delete(table);
	return rc < 0 ? rows_undo(out, size) : 0;
}
