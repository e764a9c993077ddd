/* unschedulable.c - explains why a queued job cannot run on the known nodes.
 */
#include "controller/jobs/unschedulable.h"

#include "protocol/base/strings.h"
#include "protocol/base/units.h"
#include "protocol/message/result.h"

#include <stdlib.h>
#include <string.h>

/* " accepted since 2030-01-31T22:00:00Z and labels rack=a" */
static void shape_labels(const char *labels, char *text, size_t size)
{
	const char *rest = labels ? labels : "";
	char since[UTC_SIZE];
	int64_t seconds;

	text[0] = 0;
	if (!strncmp(rest, ACCEPTED_LABEL "=", sizeof(ACCEPTED_LABEL))) {
		seconds = strtoll(rest + sizeof(ACCEPTED_LABEL), (char **)&rest,
				  10);
		text_append(text, size, " accepted since %s",
			    utc_text(seconds * 1000, since));
		rest += *rest == ',';
	}
	if (*rest)
		text_append(text, size, " and labels %.100s", rest);
}

static void shape_describe(const struct shape *shape, char *text, size_t size)
{
	char devices[40] = "", labels[180];

	shape_labels(shape->labels, labels, sizeof(labels));
	if (shape->devices)
		snprintf(devices, sizeof(devices), " with %u device%s",
			 shape->devices, shape->devices > 1 ? "s" : "");
	snprintf(text, size, "%u node%s of %s%s%s%s%s", shape->nodes,
		 shape->nodes > 1 ? "s" : "", shape->vendor,
		 shape->chip ? " " : "", shape->chip ? shape->chip : "",
		 devices, labels);
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
