/* json_object.c - reads and builds JSON objects: rows, results, samples.
 */
#include "controller/results/json_object.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const cJSON *row_at(const cJSON *row, const char *path)
{
	char name[64];

	while (row && *path) {
		size_t n = strcspn(path, ".");

		snprintf(name, sizeof(name), "%.*s", (int)n, path);
		row = cJSON_GetObjectItemCaseSensitive(row, name);
		path += path[n] ? n + 1 : n;
	}
	return row;
}

const char *row_text(const cJSON *row, const char *path)
{
	return cJSON_GetStringValue(row_at(row, path));
}

double row_double(const cJSON *row, const char *path)
{
	return cJSON_GetNumberValue(row_at(row, path));
}

cJSON *number_json(double number)
{
	return isfinite(number) ? cJSON_CreateNumber(number)
				: cJSON_CreateString(number_word(number));
}

void json_add(cJSON *to, const char *name, cJSON *item, bool *failed)
{
	if (item && (name ? cJSON_AddItemToObject(to, name, item)
			  : cJSON_AddItemToArray(to, item)))
		return;
	cJSON_Delete(item);
	*failed = true;
}

void json_add_number(cJSON *to, const char *name, double number, bool *failed)
{
	json_add(to, name,
		 isfinite(number) ? cJSON_CreateNumber(number)
				  : cJSON_CreateNull(),
		 failed);
}

void json_add_text(cJSON *to, const char *name, const char *text, bool *failed)
{
	json_add(to, name, text ? cJSON_CreateString(text) : cJSON_CreateNull(),
		 failed);
}

void json_add_copy(cJSON *to, const char *name, const cJSON *item, bool *failed)
{
	json_add(to, name,
		 item ? cJSON_Duplicate(item, true) : cJSON_CreateNull(),
		 failed);
}
