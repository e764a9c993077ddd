/* device_rows.c - which row of a monitor's output speaks of which device.
 */
#include "protocol/hardware/device_rows.h"

#include <string.h>
#include <strings.h>

static bool same_bus(const struct device_sample *row,
		     const struct device_info *device)
{
	char bus[BUS_ID_SIZE];

	return device->bus_id && bus_id_normal(row->bus_id, bus) &&
	       !strcmp(bus, device->bus_id);
}

static bool same_uuid(const struct device_sample *row,
		      const struct device_info *device)
{
	return device->uuid && *row->uuid &&
	       !strcasecmp(row->uuid, device->uuid);
}

/* Only of devices that were found as nodes: else numbers are not the tool's. */
static bool same_number(const struct device_sample *row,
			const struct device_info *device)
{
	return !device->bus_id && device->numbers_count && *row->device &&
	       !strcmp(row->device, device->numbers[0].value);
}

/* How many devices before this one share its bus. */
static size_t place_on_bus(const struct devices *devices, size_t i)
{
	const char *bus_id = devices->list[i].bus_id;
	size_t place = 0;

	for (size_t k = 0; bus_id && k < i; k++)
		place += devices->list[k].bus_id &&
			 !strcmp(devices->list[k].bus_id, bus_id);
	return place;
}

static const struct device_sample *
row_of(const struct devices *devices, const struct samples *samples, size_t i)
{
	const struct device_info *device = &devices->list[i];
	size_t place = place_on_bus(devices, i);

	for (size_t k = 0; k < samples->count; k++)
		if (same_bus(&samples->rows[k], device) && !place--)
			return &samples->rows[k];
	for (size_t k = 0; k < samples->count; k++)
		if (same_uuid(&samples->rows[k], device) ||
		    same_number(&samples->rows[k], device))
			return &samples->rows[k];
	return NULL;
}

void device_rows(const struct devices *devices, const struct samples *samples,
		 const struct device_sample *rows[DEVICES_MAX])
{
	size_t there = 0, next = 0;
	bool any = false;

	for (size_t i = 0; i < devices->count; i++) {
		rows[i] = row_of(devices, samples, i);
		any = any || rows[i];
		there += !devices->list[i].gone;
	}
	if (any || there != samples->count)
		return;
	for (size_t i = 0; i < devices->count; i++)
		if (!devices->list[i].gone)
			rows[i] = &samples->rows[next++];
}
