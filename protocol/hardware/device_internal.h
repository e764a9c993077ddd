/* device_internal.h - the candidates of a search for devices.
 *
 * device.c finds candidates and names them; device_numbers.c gives them their
 * numbers.
 */
#pragma once

#include "protocol/hardware/device.h"

#define NUMBER_SIZE 32 /* bytes of a number, with the 0 */

/* What a search knows of a device until it is finished. */
struct candidate {
	char pci_device[5];                 /* "" without PCI */
	const struct device_sample *row;    /* of the monitor, or NULL */
	const struct device_sample *mapped; /* of the second tool, or NULL */
};

struct search {
	const struct profile *profile;
	const struct sysroot *roots;
	const struct samples *monitor, *map;
	const struct devices *known;
	struct devices found; /* its list has room for DEVICES_MAX */
	struct candidate candidates[DEVICES_MAX]; /* of `found`, by place */
	char *why;
	size_t why_size;
};

/* Append a sentence to `why`: what was not found, or was left out. */
__attribute__((format(printf, 2, 3))) void search_because(struct search *search,
							  const char *fmt, ...);

/* A text of a tool's row by its name in profiles ("uuid"). NULL: no row, or the
 * row lacks it.
 */
const char *row_word(const struct device_sample *row, const char *word);

/* Add a number to the device. */
int device_number_add(struct device_info *device, const char *name,
		      const char *value, struct error *err);

/* Give all candidates their numbers, rule by rule, as devices_find() says.
 * Rules of the same name follow each other. A candidate that lacks a required
 * number is dropped, and `why` says so.
 */
int search_numbers(struct search *search, struct error *err);
