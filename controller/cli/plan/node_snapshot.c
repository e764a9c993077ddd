/* node_snapshot.c - the nodes of a controller, as its scheduler sees them.
 */
#include "controller/cli/plan/node_snapshot.h"
#include "controller/cli/json.h"
#include "controller/nodes/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void node_snapshot_clear(struct node_snapshot *fleet)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct slot *slot = &fleet->slots[i];

		for (uint32_t k = 0; slot->parts && k < slot->devices; k++)
			free((char *)slot->parts[k].chip);
		free((struct slot_device *)slot->parts);
		free((char *)slot->vendor);
		free((char *)slot->labels);
		free(fleet->names[i]);
	}
	free(fleet->slots);
	free(fleet->names);
	*fleet = (struct node_snapshot){ 0 };
}

static int grow(struct node_snapshot *fleet)
{
	size_t room = fleet->count ? fleet->count * 2 : 1;
	struct slot *slots;
	char **names;

	/* Room for powers of two, without a second counter. */
	if (fleet->count & (fleet->count - 1))
		return 0;
	slots = realloc(fleet->slots, room * sizeof(*slots));
	if (!slots)
		return -1;
	fleet->slots = slots;
	names = realloc(fleet->names, room * sizeof(char *));
	if (!names)
		return -1;
	fleet->names = names;
	return 0;
}

/* "chips": {name: how many of the devices that are there}. */
static int read_chips(struct slot *slot, const cJSON *chips)
{
	struct slot_device *parts = calloc(slot->devices, sizeof(*parts));
	const cJSON *chip;
	uint32_t at = 0;

	slot->parts = parts;
	if (!parts)
		return -1;
	for (uint32_t i = 0; i < slot->devices; i++)
		parts[i].numa = -1;
	cJSON_ArrayForEach(chip, chips)
	{
		uint64_t count = json_u64(chips, chip->string);

		for (; count && at < slot->devices; count--) {
			parts[at].chip = strdup(chip->string);
			if (!parts[at++].chip)
				return -1;
		}
	}
	return 0;
}

int node_snapshot_add(struct node_snapshot *fleet, const cJSON *node,
		      struct error *err)
{
	uint64_t devices = json_u64(node, "devices");
	uint64_t lost = json_u64(node, "lost");
	struct slot *slot;

	if (grow(fleet) < 0)
		return error_nomem(err, "nodes");
	slot = &fleet->slots[fleet->count];
	*slot = (struct slot){ .devices = SCHEDULER_DEVICES_MAX };
	if (devices < SCHEDULER_DEVICES_MAX)
		slot->devices = (uint32_t)devices;
	fleet->names[fleet->count++] = strdup(json_text(node, "name"));
	slot->vendor = strdup(json_text(node, "vendor"));
	if (!fleet->names[fleet->count - 1] || !slot->vendor ||
	    (slot->devices && read_chips(slot, json_get(node, "chips")) < 0))
		return error_nomem(err, "nodes");
	slot->labels = labels_text(json_get(node, "labels"));
	slot->usable = !strcmp(json_text(node, "state"), "up") &&
		       !json_bool(node, "drained");
	fleet->usable += slot->usable;
	/* Which ones are lost makes no difference: the last ones. */
	for (uint32_t i = slot->devices; i-- && lost; lost--)
		slot->lost |= UINT64_C(1) << i;
	return 0;
}

int node_snapshot_fetch(struct node_snapshot *fleet, struct client *client,
			struct error *err)
{
	owned(json_free) cJSON *nodes = NULL;
	const cJSON *node;

	if (client_list(client, QUERY_NODES, 0, "nodes", NULL, &nodes, err) < 0)
		return -1;
	cJSON_ArrayForEach(node, nodes)
	{
		if (node_snapshot_add(fleet, node, err) < 0)
			return -1;
	}
	return 0;
}
