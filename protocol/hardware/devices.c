/* devices.c - a list of devices; which devices and rows are the same.
 */
#include "protocol/hardware/devices.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BUS_TAIL (sizeof("0e:00.0") - 1)

void devices_clear(struct devices *devices)
{
	for (size_t i = 0; i < devices->count; i++)
		codec_clear(&device_info_schema, &devices->list[i]);
	free(devices->list);
	*devices = (struct devices){ 0 };
}

bool device_has_bus(const struct device_info *device, const char *address)
{
	size_t size = strlen(address);
	char bus[BUS_ID_SIZE];

	/* Most are another: this is asked of each device and each row. */
	return device->bus_id && size >= BUS_TAIL &&
	       strlen(device->bus_id) == BUS_ID_SIZE - 1 &&
	       !strcasecmp(address + size - BUS_TAIL,
			   device->bus_id + BUS_ID_SIZE - 1 - BUS_TAIL) &&
	       bus_id_normal(address, bus) && !strcmp(bus, device->bus_id);
}

bool device_has_uuid(const struct device_info *device, const char *uuid)
{
	return device->uuid && *uuid && !strcasecmp(uuid, device->uuid);
}

/* Only of devices that were found as nodes: else numbers are not the tool's. */
static bool has_number(const struct device_info *device, const char *number)
{
	return !device->bus_id && device->numbers_count && *number &&
	       !strcmp(number, device->numbers[0].value);
}

static bool devices_are_same(const struct device_info *a,
			     const struct device_info *b)
{
	if (a->bus_id || b->bus_id)
		return a->bus_id && b->bus_id && !strcmp(a->bus_id, b->bus_id);
	return a->numbers_count && b->numbers_count &&
	       !strcmp(a->numbers[0].value, b->numbers[0].value);
}

/* How many devices before this one have the same bus id. */
static size_t count_before(const struct devices *devices, size_t index)
{
	size_t before = 0;

	for (size_t i = 0; i < index; i++)
		before += devices_are_same(&devices->list[i],
					   &devices->list[index]);
	return before;
}

size_t devices_match(const struct devices *devices, size_t index,
		     const struct devices *others)
{
	size_t skip = count_before(devices, index), i;

	for (i = 0; i < others->count; i++)
		if (devices_are_same(&others->list[i], &devices->list[index]) &&
		    !skip--)
			break;
	return i;
}

const struct device_sample *devices_row(const struct devices *devices,
					size_t index,
					const struct samples *samples)
{
	const struct device_info *device = &devices->list[index];
	size_t skip = count_before(devices, index);

	for (size_t i = 0; i < samples->count; i++)
		if (device_has_bus(device, samples->rows[i].bus_id) && !skip--)
			return &samples->rows[i];
	for (size_t i = 0; i < samples->count; i++)
		if (device_has_uuid(device, samples->rows[i].uuid) ||
		    has_number(device, samples->rows[i].device))
			return &samples->rows[i];
	return NULL;
}

void devices_rows(const struct devices *devices, const struct samples *samples,
		  const struct device_sample *rows[DEVICES_MAX])
{
	size_t there = 0, next = 0;
	bool any = false;

	for (size_t i = 0; i < devices->count; i++) {
		rows[i] = devices_row(devices, i, samples);
		any = any || rows[i];
		there += !devices->list[i].gone;
	}
	if (any || there != samples->count)
		return;
	for (size_t i = 0; i < devices->count; i++)
		if (!devices->list[i].gone)
			rows[i] = &samples->rows[next++];
}
