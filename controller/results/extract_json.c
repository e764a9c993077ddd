/* extract_json.c - prints what was read in a log as JSON, for `regatta
 * extract`.
 */
#include "controller/results/extract_json.h"

#include "controller/results/json_object.h"

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

cJSON *extract_json(const struct extract *extract, const char *format,
		    const struct result *result, uint64_t bytes,
		    struct error *err)
{
	owned(cJSON_Delete) cJSON *object = cJSON_CreateObject();
	cJSON *tree = codec_object(&result_schema, result, NULL);
	cJSON *list = cJSON_CreateArray();
	bool failed = false;
	size_t count;
	const struct record *records = extract_records(extract, &count);

	json_add_text(object, "format", format, &failed);
	json_add_number(object, "steps", (double)count, &failed);
	for (size_t i = 0; i < count; i++)
		json_add(list, NULL, record_json(extract, &records[i], &failed),
			 &failed);
	json_add(object, "records", list, &failed);
	json_add_copy(object, "metrics", row_at(tree, "metrics"), &failed);
	json_add(object, "result", tree, &failed);
	json_add_number(object, "bytes", (double)bytes, &failed);
	if (failed)
		return error_null(error_nomem(err, "log"));
	return take(object);
}
