/* usage_warnings.c - what a summary says of its own gaps, errors and memory.
 */
#include "controller/results/usage.h"
#include "protocol/hardware/sample_format.h"

#include <stdarg.h>

#define GAPS_TOLD 3 /* devices whose gaps are told one by one */

static const char *text_of(const cJSON *item, const char *name)
{
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(item, name));

	return text ? text : "?";
}

static double number_of(const cJSON *item, const char *name)
{
	const cJSON *number = cJSON_GetObjectItemCaseSensitive(item, name);

	return cJSON_IsNumber(number) ? number->valuedouble : 0;
}

cJSON *usage_memories(const cJSON *usage)
{
	const cJSON *devices =
		cJSON_GetObjectItemCaseSensitive(usage, "devices");
	cJSON *list = cJSON_CreateArray();
	const cJSON *device;

	if (!list)
		return NULL;
	cJSON_ArrayForEach(device, devices)
	{
		const cJSON *peak = cJSON_GetObjectItemCaseSensitive(
			cJSON_GetObjectItemCaseSensitive(device,
							 "mem_used_mib"),
			"max");

		if (!cJSON_IsNumber(peak))
			break;
		if (!cJSON_AddItemToArray(list, cJSON_CreateNumber(
							peak->valuedouble))) {
			cJSON_Delete(list);
			return NULL;
		}
	}
	if (!device && cJSON_GetArraySize(devices))
		return list;
	cJSON_Delete(list);
	return cJSON_CreateNull();
}

__attribute__((format(printf, 3, 4))) static int
warn(cJSON *list, struct error *err, const char *fmt, ...)
{
	char text[SAMPLE_FORMAT_TEXT_MAX + 200];
	va_list args;
	cJSON *item;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	item = cJSON_CreateString(text);
	if (item && cJSON_AddItemToArray(list, item))
		return 0;
	cJSON_Delete(item);
	return error_nomem(err, "usage");
}

static int warn_gaps(const cJSON *devices, cJSON *list, struct error *err)
{
	const cJSON *device;
	int told = 0, more = 0;

	cJSON_ArrayForEach(device, devices)
	{
		if (!number_of(device, "samples")) {
			if (told++ < GAPS_TOLD &&
			    warn(list, err, "%s: device %.0f was never sampled",
				 text_of(device, "node"),
				 number_of(device, "device")) < 0)
				return -1;
		} else if (number_of(device, "gaps")) {
			if (told++ < GAPS_TOLD &&
			    warn(list, err,
				 "%s: device %.0f was not sampled for %.1f s, "
				 "and its energy lacks that time",
				 text_of(device, "node"),
				 number_of(device, "device"),
				 number_of(device, "gaps_s")) < 0)
				return -1;
		}
	}
	more = told - GAPS_TOLD;
	return more > 0 ? warn(list, err,
			       "%d more devices were sampled with gaps", more)
			: 0;
}

int usage_warnings(const cJSON *usage, cJSON *list, struct error *err)
{
	const cJSON *error;

	cJSON_ArrayForEach(error,
			   cJSON_GetObjectItemCaseSensitive(usage, "errors"))
	{
		if (warn(list, err, "%s: monitor: %s", text_of(error, "node"),
			 text_of(error, "text")) < 0)
			return -1;
	}
	return warn_gaps(cJSON_GetObjectItemCaseSensitive(usage, "devices"),
			 list, err);
}
