/* floor.c - how much of a disk must stay free: 50GiB, or 20% of it.
 */
#include "protocol/floor.h"

#include "protocol/document.h"
#include "protocol/value.h"

#include <string.h>

#define BYTES_MAX (UINT64_C(1) << 50)

int floor_parse(const char *text, const char *name, struct floor *floor,
		struct error *err)
{
	static const struct document_limits limits = { .bytes = 100 };
	owned(document_free) struct document *document =
		document_parse(text, strlen(text), name, &limits, err);
	const struct value *value;
	struct floor found = { 0 };
	double share;

	if (!document)
		return -1;
	value = document_root(document);
	if (!strchr(text, '%')) {
		if (value_size_bytes(value, 1, BYTES_MAX, &found.bytes, err) <
		    0)
			return -1;
		*floor = found;
		return 0;
	}
	if (value_share(value, &share, err) < 0)
		return -1;
	found.percent = (uint32_t)(share * 100 + 0.5);
	if (found.percent < 1 || found.percent > 99)
		return value_error(value, err,
				   "found %.20s, allowed are 1%% to 99%%, or "
				   "bytes as in 50GiB",
				   text);
	*floor = found;
	return 0;
}

uint64_t floor_on(const struct floor *floor, uint64_t disk_bytes)
{
	uint64_t share = disk_bytes / 100 * floor->percent;

	return share > floor->bytes ? share : floor->bytes;
}
