/* json.c - what a controller answered, read without trust.
 */
#include "controller/cli/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MAX 9007199254740991.0

const cJSON *json_get(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

const cJSON *json_list(const cJSON *object, const char *name)
{
	const cJSON *item = json_get(object, name);

	return cJSON_IsArray(item) ? item : NULL;
}

const char *json_text(const cJSON *object, const char *name)
{
	const cJSON *item = json_get(object, name);

	return cJSON_IsString(item) ? item->valuestring : "";
}

bool json_bool(const cJSON *object, const char *name)
{
	return cJSON_IsTrue(json_get(object, name));
}

uint64_t json_u64(const cJSON *object, const char *name)
{
	const cJSON *item = json_get(object, name);
	unsigned long long number;
	char *end;

	if (cJSON_IsNumber(item))
		return item->valuedouble >= 0 && item->valuedouble <= EXACT_MAX
			       ? (uint64_t)item->valuedouble
			       : 0;
	if (!cJSON_IsString(item) || item->valuestring[0] < '0' ||
	    item->valuestring[0] > '9')
		return 0;
	errno = 0;
	number = strtoull(item->valuestring, &end, 10);
	return *end || errno ? 0 : number;
}

double json_double(const cJSON *object, const char *name)
{
	const cJSON *item = json_get(object, name);

	return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

struct sorted {
	cJSON *row;
	const char *text;
};

static int compare_sorted(const void *a, const void *b)
{
	return strverscmp(((const struct sorted *)a)->text,
			  ((const struct sorted *)b)->text);
}

void json_sort(cJSON *rows, const char *name)
{
	size_t count = (size_t)cJSON_GetArraySize(rows), used = 0;
	owned_free struct sorted *sorted = calloc(count + 1, sizeof(*sorted));

	if (!sorted)
		return;
	for (; rows && rows->child; used++) {
		cJSON *row = cJSON_DetachItemViaPointer(rows, rows->child);

		sorted[used] = (struct sorted){ row, json_text(row, name) };
	}
	qsort(sorted, used, sizeof(*sorted), compare_sorted);
	for (size_t i = 0; i < used; i++)
		cJSON_AddItemToArray(rows, sorted[i].row);
}
