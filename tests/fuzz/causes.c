/* causes.c - feeds any bytes to the reader of failures; the pieces they come in
 * must make no difference, and what is quoted must be sound.
 *
 * The first byte of the input says how long the pieces are.
 */
#include "controller/causes/causes.h"
#include "protocol/base/utf8.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void check_line(const struct cause *cause)
{
	const char *at = cause->line;
	size_t left = strlen(at);

	must(left <= CAUSE_LINE_MAX);
	while (left) {
		size_t step = utf8_character(at, left, NULL);

		must(step > 0 && (unsigned char)*at >= ' ');
		at += step;
		left -= step;
	}
}

static char *diagnose(const uint8_t *data, size_t size, size_t piece)
{
	static struct failure_patterns *patterns;
	owned(causes_free) struct causes *causes = NULL;
	struct diagnosis diagnosis;
	cJSON *json;
	char *text;

	if (!patterns)
		patterns = failure_patterns_read("images/failures.yaml", NULL);
	must(patterns != NULL);
	causes = causes_new(patterns, NULL);
	must(causes != NULL);
	for (size_t at = 0; at < size; at += piece)
		must(causes_feed(causes, data + at,
				 size - at < piece ? size - at : piece,
				 NULL) == 0);
	must(causes_finish(causes, NULL) == 0);
	causes_diagnose(causes, size % 2, &diagnosis);
	must((diagnosis.class == CAUSE_NONE) == !diagnosis.cause);
	if (diagnosis.cause) {
		check_line(diagnosis.cause);
		must(diagnosis.cause->offset < size);
	}
	for (size_t i = 0; i < diagnosis.other_count; i++)
		check_line(diagnosis.others[i]);
	json = diagnosis_json(&diagnosis);
	text = cJSON_PrintUnformatted(json);
	cJSON_Delete(json);
	must(text != NULL);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *whole, *pieces;

	if (!size)
		return 0;
	whole = diagnose(data + 1, size - 1, size);
	pieces = diagnose(data + 1, size - 1, (size_t)*data + 1);
	must(!strcmp(whole, pieces));
	cJSON_free(whole);
	cJSON_free(pieces);
	return 0;
}
