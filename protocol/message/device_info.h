/* device_info.h - one accelerator of a node, as its agent reports it.
 */
#pragma once

#include "protocol/message/codec.h"

#define DEVICES_MAX 64 /* per node, as the scheduler counts */

struct device_number {
	char *name;  /* "minor" */
	char *value; /* "3" */
};

struct device_info {
	uint32_t index;      /* on the node: what allocations name */
	bool gone;           /* was there before, is not now */
	char *bus_id;        /* as bus_id_normal() writes it; the dies of a card
				may share it; NULL: found by its device node */
	char *uuid;          /* NULL: unknown; name and chip likewise */
	char *name;          /* the product name as the tool prints it */
	char *chip;          /* name in the profile's chips */
	int64_t numa;        /* -1: unknown */
	uint64_t memory_mib; /* 0: unknown */
	struct device_number *numbers;
	size_t numbers_count;
	char *text; /* why it cannot be used; NULL: it can */
};
extern const struct schema device_info_schema;

/* The number called name; NULL: it has none. */
const char *device_number(const struct device_info *device, const char *name);
