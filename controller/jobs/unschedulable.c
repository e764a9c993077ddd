/* unschedulable.c - explains why a queued job cannot run on the known nodes.
 */
#include "controller/jobs/unschedulable.h"

#include <stdio.h>

static void describe(const struct shape *shape, char *text, size_t size)
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
	char wanted[280];
	int used;

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
	describe(shape, wanted, sizeof(wanted));
	if (known >= shape->nodes) {
		snprintf(text, size,
			 "needs %s; of %zu known, %zu can run it, the others "
			 "are "
			 "down, drained or lack a device",
			 wanted, known, usable);
		return UNSCHEDULABLE_DOWN;
	}
	used = snprintf(text, size, "needs %s; %zu %s known", wanted, known,
			known == 1 ? "is" : "are");
	if (silent && used > 0 && (size_t)used < size)
		snprintf(text + used, size - (size_t)used,
			 ", and %zu nodes that are down have not reported "
			 "their devices",
			 silent);
	return UNSCHEDULABLE_EVER;
}
