/* node_snapshot.c - copies the nodes of a controller for the scheduler
 * simulation.
 */
#include "controller/cli/plan/node_snapshot.h"
#include "controller/nodes/labels.h"

#include <stdlib.h>
#include <string.h>

void node_snapshot_clear(struct node_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->count; i++) {
		struct slot *slot = &snapshot->slots[i];

		for (uint32_t k = 0; slot->parts && k < slot->devices; k++)
			free((char *)slot->parts[k].chip);
		free((struct slot_device *)slot->parts);
		free((char *)slot->vendor);
		free((char *)slot->labels);
		free(snapshot->names[i]);
	}
	free(snapshot->slots);
	free(snapshot->names);
	node_policies_clear(&snapshot->policies);
	*snapshot = (struct node_snapshot){ 0 };
}

static int node_snapshot_grow(struct node_snapshot *snapshot)
{
	size_t room = snapshot->count ? snapshot->count * 2 : 1;
	struct slot *slots;
	char **names;

	/* The room is the next power of two. */
	if (snapshot->count & (snapshot->count - 1))
		return 0;
	slots = realloc(snapshot->slots, room * sizeof(*slots));
	if (!slots)
		return -1;
	snapshot->slots = slots;
	names = realloc(snapshot->names, room * sizeof(char *));
	if (!names)
		return -1;
	snapshot->names = names;
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
		double count = chip->valuedouble;

		for (; count >= 1 && at < slot->devices; count--) {
			parts[at].chip = strdup(chip->string);
			if (!parts[at++].chip)
				return -1;
		}
	}
	return 0;
}

int node_snapshot_add(struct node_snapshot *snapshot,
		      const struct node_info *node, struct error *err)
{
	uint32_t lost = node->lost;
	struct slot *slot;

	if (node_snapshot_grow(snapshot) < 0)
		return error_nomem(err, "nodes");
	slot = &snapshot->slots[snapshot->count];
	*slot = (struct slot){ .devices = SCHEDULER_DEVICES_MAX };
	if (node->devices < SCHEDULER_DEVICES_MAX)
		slot->devices = node->devices;
	snapshot->names[snapshot->count++] = strdup(node->name);
	slot->vendor = strdup(node->vendor ? node->vendor : "");
	if (!snapshot->names[snapshot->count - 1] || !slot->vendor ||
	    (slot->devices && read_chips(slot, node->chips) < 0))
		return error_nomem(err, "nodes");
	if (node_policies_add(&snapshot->policies, node, err) < 0)
		return -1;
	slot->labels = labels_text(node->labels);
	slot->usable = !strcmp(node->state, "up") && !node->drained;
	snapshot->usable += slot->usable;
	/* It makes no difference which devices are lost: take the last ones. */
	for (uint32_t i = slot->devices; i-- && lost; lost--)
		slot->lost |= UINT64_C(1) << i;
	return 0;
}

int node_snapshot_fetch(struct node_snapshot *snapshot, struct client *client,
			struct error *err)
{
	owned(rows_clear) struct rows nodes = { 0 };

	if (client_rows(client, QUERY_NODES, 0, NULL, &nodes, err) < 0)
		return -1;
	for (size_t i = 0; i < nodes.count; i++)
		if (node_snapshot_add(snapshot, rows_at(&nodes, i), err) < 0)
			return -1;
	return 0;
}
