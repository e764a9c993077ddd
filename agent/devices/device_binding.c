/* device_binding.c - completes the spec of a task for the devices that it
 * was given.
 */
#include "agent/devices/device_binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void task_spec_clear(struct task_spec *spec)
{
	codec_clear(&task_spec_schema, spec);
}

static int pick(const struct devices *devices, const char *text,
		const struct device_info **picked, struct error *err)
{
	char *end;
	unsigned long index = strtoul(text, &end, 10);
	const struct device_info *device;

	if (!*text || *end || index >= devices->count)
		return error_set(err, ENODEV,
				 "device %.20s is not on this node; it has %zu "
				 "devices, numbered from 0",
				 text, devices->count);
	device = &devices->list[index];
	if (device->gone || device->text)
		return error_set(err, ENODEV, "device %lu%s%s: %s", index,
				 device->bus_id ? " at " : "",
				 device->bus_id ? device->bus_id : "",
				 device->text ? device->text
					      : "it has disappeared");
	*picked = device;
	return 0;
}

int device_binding_apply(const struct device_binding_source *source,
			 const struct task_spec *spec, bool probe,
			 struct task_spec *completed, struct error *err)
{
	const struct devices *devices = inventory_devices(source->inventory);
	const struct device_info *picked[DEVICES_MAX];
	owned(task_spec_clear) struct task_spec own = { 0 };
	struct device_injection injection = {
		.profile = inventory_profile(source->inventory),
		.roots = source->roots,
		.features = source->features,
		.devices = picked,
		.whole = !spec->shared,
	};

	if (spec->devices.count > DEVICES_MAX)
		return error_set(err, ENODEV,
				 "%zu devices; expected at most %d",
				 spec->devices.count, DEVICES_MAX);
	if (codec_copy(&task_spec_schema, spec, &own, err) < 0)
		return -1;
	for (size_t i = 0; devices->count && i < spec->devices.count; i++)
		if (pick(devices, spec->devices.items[i],
			 &picked[injection.count++], err) < 0)
			return -1;
	if (devices->count && injection.profile &&
	    (device_injection_apply(&injection, &own.container, err) < 0 ||
	     (probe && device_injection_probe(&injection, err) < 0))) {
		if (err && err->code != ENOMEM)
			err->code = ENODEV; /* another node may have it */
		return -1;
	}
	*completed = own;
	own = (struct task_spec){ 0 };
	return 0;
}
