/* device_info.c - one accelerator of a node, as its agent reports it.
 */
#include "protocol/message/device_info.h"

#include <string.h>

/* clang-format off */
static const struct schema device_number_schema = SCHEMA(device_number,
	FIELD(device_number, name),
	FIELD(device_number, value));

const struct schema device_info_schema = SCHEMA(device_info,
	FIELD(device_info, index),
	FIELD_OPTIONAL(device_info, bus_id),
	FIELD_OPTIONAL(device_info, uuid),
	FIELD_OPTIONAL(device_info, name),
	FIELD_OPTIONAL(device_info, chip),
	FIELD(device_info, numa),
	FIELD_OPTIONAL(device_info, memory_mib),
	FIELD_MANY(device_info, numbers, device_number_schema),
	FIELD_OPTIONAL(device_info, gone),
	FIELD_OPTIONAL(device_info, text));
/* clang-format on */

const char *device_number(const struct device_info *device, const char *name)
{
	for (size_t i = 0; i < device->numbers_count; i++)
		if (!strcmp(device->numbers[i].name, name))
			return device->numbers[i].value;
	return NULL;
}
