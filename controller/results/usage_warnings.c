/* usage_warnings.c - finds gaps and errors in a summary of samples.
 */
#include "controller/results/json_object.h"
#include "controller/results/usage.h"
#include "protocol/hardware/sample_format.h"

#include <math.h>
#include <stdarg.h>

#define GAPS_TOLD 3 /* devices whose gaps are reported one by one */

cJSON *usage_memories(const cJSON *usage)
{
	const cJSON *devices = row_at(usage, "devices"), *device;
	cJSON *list = cJSON_CreateArray();
	bool failed = !list;

	cJSON_ArrayForEach(device, devices)
	{
		double peak = row_double(device, "mem_used_mib.max");

		if (isnan(peak))
			break;
		json_add_number(list, NULL, peak, &failed);
	}
	if (!failed && !device && cJSON_GetArraySize(devices))
		return list;
	cJSON_Delete(list);
	return failed ? NULL : cJSON_CreateNull();
}

__attribute__((format(printf, 3, 4))) static void
warn(cJSON *list, bool *failed, const char *fmt, ...)
{
	char text[SAMPLE_FORMAT_TEXT_MAX + 200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	json_add_text(list, NULL, text, failed);
}

static const char *node_of(const cJSON *item)
{
	const char *node = row_text(item, "node");

	return node ? node : "?";
}

static void warn_gaps(const cJSON *devices, cJSON *list, bool *failed)
{
	const cJSON *device;
	int told = 0;

	cJSON_ArrayForEach(device, devices)
	{
		bool never = !number_at(device, "samples");

		if (!never && !number_at(device, "gaps"))
			continue;
		if (told++ >= GAPS_TOLD)
			continue;
		if (never)
			warn(list, failed, "%s: device %.0f was never sampled",
			     node_of(device), number_at(device, "device"));
		else
			warn(list, failed,
			     "%s: device %.0f was not sampled for %.1f s, and "
			     "its energy lacks that time",
			     node_of(device), number_at(device, "device"),
			     number_at(device, "gaps_s"));
	}
	if (told > GAPS_TOLD)
		warn(list, failed, "%d more devices were sampled with gaps",
		     told - GAPS_TOLD);
}

void usage_warnings(const cJSON *usage, cJSON *list, bool *failed)
{
	const cJSON *error;

	cJSON_ArrayForEach(error, row_at(usage, "errors"))
	{
		const char *text = row_text(error, "text");

		warn(list, failed, "%s: monitor: %s", node_of(error),
		     text ? text : "?");
	}
	warn_gaps(row_at(usage, "devices"), list, failed);
}
