/* extract_json.c - prints what was read in a log as JSON, for `regatta
 * extract`.
 */
#include "controller/results/extract_json.h"

#include "controller/results/json_object.h"
#include "protocol/base/printable_json.h"

static cJSON *record_field_json(const struct record *record,
				enum record_field field)
{
	switch (field) {
	case RECORD_STEP:
		return cJSON_CreateNumber((double)record->step);
	case RECORD_STEPS:
		return cJSON_CreateNumber((double)record->steps_total);
	case RECORD_RANK:
		return cJSON_CreateNumber(record->rank);
	case RECORD_FINISHED:
		return cJSON_CreateBool(record->finished);
	default:
		return number_json(record_value(record, field));
	}
}

static cJSON *record_json(const struct extract *extract,
			  const struct record *record, bool *failed)
{
	cJSON *object = cJSON_CreateObject();
	const char *name;
	double number;

	for (int f = 0; f < RECORD_FIELDS; f++)
		if (record_has(record, f))
			json_add(object, record_field_name(f),
				 record_field_json(record, f), failed);
	for (size_t m = 0; (name = extract_metric_name(extract, m)); m++)
		if (record_metric(record, m, &number))
			json_add(object, name, number_json(number), failed);
	return object;
}

/* Print an object without its first `skip` and last `leave` bytes. */
static int object_print(FILE *out, cJSON *object, bool failed, size_t skip,
			size_t leave, struct error *err)
{
	owned(buffer_clear) struct buffer line = BUFFER_INIT(SIZE_MAX / 2);
	char *text = failed ? NULL : cJSON_PrintUnformatted(object);
	int rc = text ? printable_json(&line, text, err)
		      : error_nomem(err, "log");

	cJSON_free(text);
	if (rc < 0)
		return -1;
	fwrite(line.data + skip, 1, line.size - skip - leave, out);
	return 0;
}

static int head_print(FILE *out, const char *format, size_t steps,
		      struct error *err)
{
	owned(cJSON_Delete) cJSON *head = cJSON_CreateObject();
	bool failed = !head;

	json_add_text(head, "format", format, &failed);
	json_add_number(head, "steps", (double)steps, &failed);
	return object_print(out, head, failed, 0, 1, err);
}

int extract_print_json(FILE *out, const struct extract *extract,
		       const char *format, const struct result *result,
		       uint64_t bytes, const cJSON *more, struct error *err)
{
	owned(cJSON_Delete) cJSON *tail = cJSON_CreateObject();
	cJSON *tree = codec_object(&result_schema, result, NULL);
	const cJSON *member;
	bool failed = !tail;
	size_t count;
	const struct record *records = extract_records(extract, &count);

	json_add_copy(tail, "metrics", row_at(tree, "metrics"), &failed);
	json_add(tail, "result", tree, &failed);
	json_add_number(tail, "bytes", (double)bytes, &failed);
	cJSON_ArrayForEach(member, more)
		json_add_copy(tail, member->string, member, &failed);
	if (head_print(out, format, count, err) < 0)
		return -1;
	fputs(",\"records\":[", out);
	for (size_t i = 0; i < count; i++) {
		bool lost = false;
		owned(cJSON_Delete) cJSON *record =
			record_json(extract, &records[i], &lost);

		if (i)
			fputc(',', out);
		if (object_print(out, record, lost, 0, 0, err) < 0)
			return -1;
	}
	fputs("],", out);
	if (object_print(out, tail, failed, 1, 0, err) < 0)
		return -1;
	fputc('\n', out);
	return 0;
}
