/* hostile_texts_test.c - a report whose texts are all hostile: no form of it
 * lets a control character, a tag or a line of theirs through.
 */
#include "controller/cli/commands/bundle_file.h"
#include "controller/report/reference.h"
#include "controller/report/report.h"
#include "tests/tap.h"

#include <string.h>

#define DEPTH_MAX 12
/* ESC, C1, a turn of the text, a tag, a line, a column, half a character. */
#define HOSTILE "a\033[31m\302\233\342\200\256<script>|`\r\n=1\342\200"

static cJSON *hostile_struct(const struct schema *schema, int depth, int row);

static cJSON *hostile_value(const struct field *field, int depth, int row)
{
	const char *text = strcmp(field->name, "state") ? HOSTILE : "completed";
	static const double points[] = { 1, 2 };
	cJSON *value;

	switch (field->kind) {
	case FIELD_STRING:
		return cJSON_CreateString(text);
	case FIELD_STRINGS:
		return cJSON_CreateStringArray(&text, 1);
	case FIELD_JSON:
		value = cJSON_CreateObject();
		cJSON_AddStringToObject(value, HOSTILE, text);
		cJSON_AddNumberToObject(value, "tp", row);
		return value;
	case FIELD_STRUCT:
	case FIELD_POINTER:
		return hostile_struct(field->schema, depth, row);
	case FIELD_LIST:
		value = cJSON_CreateArray();
		cJSON_AddItemToArray(value,
				     hostile_struct(field->schema, depth, row));
		return value;
	case FIELD_MAP:
		value = cJSON_CreateObject();
		cJSON_AddNumberToObject(value, HOSTILE, row);
		return value;
	case FIELD_ENUM:
		return cJSON_CreateString(field->names[1]);
	case FIELD_NUMBERS:
	case FIELD_DOUBLES:
		return cJSON_CreateDoubleArray(points, 2);
	case FIELD_BOOL:
	case FIELD_TRUTH:
		return cJSON_CreateTrue();
	default:
		return cJSON_CreateNumber(row);
	}
}

static cJSON *hostile_struct(const struct schema *schema, int depth, int row)
{
	cJSON *object = cJSON_CreateObject();

	for (size_t i = 0; depth < DEPTH_MAX && i < schema->count; i++)
		cJSON_AddItemToObject(object, schema->fields[i].name,
				      hostile_value(&schema->fields[i],
						    depth + 1, row));
	return object;
}

static void hostile_rows(struct report_rows *rows)
{
	owned(cJSON_Delete) cJSON *report = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(report, "rows");
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	struct error err = { 0 };

	for (int row = 1; row <= 3; row++)
		cJSON_AddItemToArray(list, hostile_struct(&report_row_schema, 0,
							  row));
	ok(codec_print(report, &text, &err) == 0 &&
		   report_parse(text.data, text.size, "f", rows, &err) == 0,
	   "a report of hostile texts is read: %s", err.text);
}

static int hostile_reference(const struct report_about *about,
			     const struct report_rows *rows, struct buffer *out,
			     struct error *err)
{
	return report_reference(about, rows, LANGUAGE_EN, out, err);
}

static int hostile_reference_html(const struct report_about *about,
				  const struct report_rows *rows,
				  struct buffer *out, struct error *err)
{
	return report_reference_html(about, rows, LANGUAGE_ZH, out, err);
}

static const struct {
	const char *name;
	int (*fn)(const struct report_about *about,
		  const struct report_rows *rows, struct buffer *out,
		  struct error *err);
	const char *line, *tag; /* that it must not have; NULL: it may */
} forms[] = {
	{ "Markdown", report_markdown, "\n=1", "<script>|" },
	{ "HTML", report_html, NULL, "<script>|" },
	{ "CSV", report_csv, "\n=1", NULL },
	{ "the reference", hostile_reference, "\n=1", "<script>|" },
	{ "its page", hostile_reference_html, NULL, "<script>|" },
};

int main(void)
{
	static const struct report_about about = {
		.title = HOSTILE, .sweep = 1, .name = HOSTILE, .client = HOSTILE
	};
	owned(report_rows_clear) struct report_rows rows = { 0 };

	tap_begin(60);
	hostile_rows(&rows);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		owned(buffer_clear) struct buffer out = BUFFER_INIT(1 << 24);
		const char *name = forms[i].name, *line = forms[i].line;

		ok(forms[i].fn(&about, &rows, &out, NULL) == 0 &&
			   strstr(out.data, "31m"),
		   "%s has the texts", name);
		ok(!strpbrk(out.data, "\033") && !strstr(out.data, "\302\233"),
		   "%s: none of their control characters", name);
		ok(!strstr(out.data, "\342\200\256") &&
			   !strstr(out.data, "\342\200\""),
		   "%s: none that turns the text, no half character", name);
		ok(!line || !strstr(out.data, line), "%s: no line of them",
		   name);
		ok(!forms[i].tag || !strstr(out.data, forms[i].tag),
		   "%s: no tag of them", name);
	}
	return tap_done();
}
