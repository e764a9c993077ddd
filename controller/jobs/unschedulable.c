/* unschedulable.c - explains why a queued job cannot run on the known nodes.
 */
#include "controller/jobs/unschedulable.h"

#include <stdio.h>

static void shape_describe(const struct shape *shape, char *text, size_t size)
{
	char devices[40] = "";

	if (shape->devices)
		snprintf(devices, sizeof(devices), " with %u device%s",
			 shape->devices, shape->devices > 1 ? "s" : "");
	snprintf(text, size, "%u node%s of %s%s%s%s%s%.100s", shape->nodes,
		 shape->nodes > 1 ? "s" : "", shape->vendor,
		 shape->chip ? " " : "", shape->chip ? shape->chip : "",
		 devices, shape->labels ? " and labels " : "",
		 shape->labels ? shape->labels : "");
}

enum unschedulable unschedulable_of(const struct slot *slots, size_t count,
				    const struct shape *shape, char *text,
				    size_t size)
{
	size_t usable = 0, known = 0, silent = 0;
	char wanted[280], rest[120] = "";

	for (size_t i = 0; i < count && usable < shape->nodes; i++) {
		struct slot slot = slots[i];

		slot.usable = slot.usable || slot.cleaning;
		usable += slot_suits(&slot, shape);
		silent += !slot.vendor[0];
		slot.usable = true;
		slot.lost = 0;
		known += slot_suits(&slot, shape);
	}
	if (usable >= shape->nodes)
		return UNSCHEDULABLE_NONE;
	if (known >= shape->nodes)
		snprintf(rest, sizeof(rest),
			 "; down, drained or without a device: %zu",
			 known - usable);
	else if (silent)
		snprintf(rest, sizeof(rest),
			 "; down, and without a report of devices yet: %zu",
			 silent);
	shape_describe(shape, wanted, sizeof(wanted));
	snprintf(text, size, "needs %s; %zu %s known%s", wanted, known,
		 known == 1 ? "is" : "are", rest);
	return known >= shape->nodes ? UNSCHEDULABLE_DOWN : UNSCHEDULABLE_EVER;
}
