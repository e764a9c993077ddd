/* device_merge.c - updates the list of known devices with those just found.
 */
#include "agent/devices/device_merge.h"

#include "protocol/base/log.h"

#include <stdlib.h>

static void keep_word(char **to, char **from)
{
	if (!*to)
		*to = take(*from);
}

/* Facts that are not reported now are kept. */
static void update(struct device_info *known, struct device_info *found)
{
	uint32_t index = known->index;

	keep_word(&found->uuid, &known->uuid);
	keep_word(&found->name, &known->name);
	keep_word(&found->chip, &known->chip);
	if (!found->memory_mib)
		found->memory_mib = known->memory_mib;
	codec_clear(&device_info_schema, known);
	*known = *found;
	known->index = index;
	*found = (struct device_info){ 0 };
}

static int merge_append_device(struct devices *devices,
			       struct device_info *found, struct error *err)
{
	struct device_info *list;

	if (devices->count >= DEVICES_MAX) {
		log_warning("more than %d devices, including gone ones; %s is "
			    "not used",
			    DEVICES_MAX,
			    found->bus_id ? found->bus_id : "a device");
		return 0;
	}
	list = realloc(devices->list, (devices->count + 1) * sizeof(*list));
	if (!list)
		return error_nomem(err, "devices");
	devices->list = list;
	list += devices->count;
	*list = *found;
	list->index = (uint32_t)devices->count++;
	*found = (struct device_info){ 0 };
	return 0;
}

static void mark_gone(struct device_info *device)
{
	if (device->gone)
		return;
	device->gone = true;
	free(device->text);
	device->text = strdup("it has disappeared");
}

int device_merge(struct devices *known, struct devices *found, size_t *news,
		 struct error *err)
{
	bool taken[DEVICES_MAX] = { false };
	size_t matches[DEVICES_MAX];

	for (size_t i = 0; i < known->count; i++)
		matches[i] = devices_match(known, i, found);
	for (size_t i = 0; i < known->count; i++) {
		if (matches[i] == found->count) {
			mark_gone(&known->list[i]);
			continue;
		}
		taken[matches[i]] = true;
		*news += known->list[i].gone;
		update(&known->list[i], &found->list[matches[i]]);
	}
	for (size_t i = 0; i < found->count; i++) {
		if (taken[i])
			continue;
		++*news;
		if (merge_append_device(known, &found->list[i], err) < 0)
			return -1;
	}
	known->simulated = found->simulated;
	return 0;
}
