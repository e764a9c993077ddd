/* node_devices.c - the devices of a node, as its agent reports them.
 *
 * The last report is kept while the node is down, and over a restart of the
 * controller. A device keeps its index for as long as it is reported.
 */
#include "controller/nodes/node_internal.h"

#include "protocol/base/log.h"

#include <errno.h>
#include <stdlib.h>

static bool device_lost(const struct device_info *device)
{
	return device->gone || device->text;
}

static uint64_t lost_of(const struct device_info *list, size_t count)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < count; i++)
		if (device_lost(&list[i]))
			lost |= UINT64_C(1) << i;
	return lost;
}

static void list_clear(struct device_info **list, size_t *count)
{
	for (size_t i = 0; i < *count; i++)
		codec_clear(&device_info_schema, &(*list)[i]);
	free(*list);
	*list = NULL;
	*count = 0;
}

void node_devices_clear(struct node *node)
{
	list_clear(&node->view.inventory, &node->view.inventory_count);
}

static int node_devices_check(const struct device_info *list, size_t count,
			      struct error *err)
{
	if (count > SCHEDULER_DEVICES_MAX)
		return error_set(err, EPROTO,
				 "inventory of %zu devices; expected at most "
				 "%d",
				 count, SCHEDULER_DEVICES_MAX);
	for (size_t i = 0; i < count; i++)
		if (list[i].index != i)
			return error_set(err, EPROTO,
					 "inventory: device %zu has index %u",
					 i, list[i].index);
	return 0;
}

static void log_changes(const struct node *node, uint64_t lost, uint64_t back)
{
	for (size_t i = 0; i < node->view.inventory_count; i++) {
		const struct device_info *device = &node->view.inventory[i];
		const char *bus_id = device->bus_id ? device->bus_id : "";

		if (lost >> i & 1)
			log_warning("node=%s lost device %zu %s: %s",
				    node->view.name, i, bus_id,
				    device->text ? device->text
						 : "it has disappeared");
		else if (back >> i & 1)
			log_info("node=%s device %zu %s is available again",
				 node->view.name, i, bus_id);
	}
}

int node_devices_take(struct node *node, struct device_info **list,
		      size_t *count, uint64_t *newly_lost, struct error *err)
{
	uint64_t before =
		lost_of(node->view.inventory, node->view.inventory_count);
	uint64_t lost;

	if (node_devices_check(*list, *count, err) < 0)
		return -1;
	list_clear(&node->view.inventory, &node->view.inventory_count);
	node->view.inventory = *list;
	node->view.inventory_count = *count;
	*list = NULL;
	*count = 0;
	lost = lost_of(node->view.inventory, node->view.inventory_count);
	log_changes(node, lost & ~before, before & ~lost);
	*newly_lost = lost & ~before;
	for (size_t i = 0; i < node->view.inventory_count; i++)
		node->parts[i] = (struct slot_device){
			.numa = node->view.inventory[i].numa,
			.chip = node->view.inventory[i].chip,
		};
	return 0;
}

void node_devices_show(const struct node *node, struct slot *slot)
{
	if (node->view.inventory_count)
		slot->devices = (uint32_t)node->view.inventory_count;
	slot->parts = node->view.inventory_count ? node->parts : NULL;
	slot->lost = lost_of(node->view.inventory, node->view.inventory_count);
}

cJSON *node_devices_json(const struct node *node)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; i < node->view.inventory_count; i++)
		cJSON_AddItemToArray(array,
				     codec_object(&device_info_schema,
						  &node->view.inventory[i],
						  NULL));
	return array;
}

void node_devices_load(struct node *node, const cJSON *json)
{
	int size = cJSON_GetArraySize(json);
	const cJSON *item;
	struct device_info *list;

	if (size <= 0 || size > SCHEDULER_DEVICES_MAX)
		return;
	list = calloc((size_t)size, sizeof(*list));
	node_devices_clear(node);
	node->view.inventory = list;
	cJSON_ArrayForEach(item, json) {
		/* Another version wrote it: the node reports it again. */
		if (!list ||
		    codec_from_object(&device_info_schema, item,
				      &list[node->view.inventory_count],
				      NULL) < 0) {
			node_devices_clear(node);
			return;
		}
		node->view.inventory_count++;
	}
}
