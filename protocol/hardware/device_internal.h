/* device_internal.h - what device.c finds, on its way to a list of devices.
 *
 * device.c finds candidates and names them; device_numbers.c gives them their
 * numbers.
 */
#ifndef PROTOCOL_HARDWARE_DEVICE_INTERNAL_H
#define PROTOCOL_HARDWARE_DEVICE_INTERNAL_H

#include "protocol/hardware/device.h"

#define NUMBER_SIZE 32 /* bytes of a number, with the 0 */

/* One that may become a device. */
struct candidate {
	struct device_info info;
	char bus_id[BUS_ID_SIZE]; /* "" without PCI */
	char pci_device[5];
	const struct device_sample *row;    /* of the monitor, or NULL */
	const struct device_sample *mapped; /* of the second tool, or NULL */
};

struct search {
	const struct profile *profile;
	const struct sysroot *roots;
	const struct samples *monitor, *map;
	const struct devices *known;
	struct candidate *list;
	size_t count;
	char *why;
	size_t room, used;
	size_t left_out;
};

/* Add to the words that say what was not found, or not taken. */
__attribute__((format(printf, 2, 3))) void search_because(struct search *search,
							  const char *fmt, ...);

/* Case does not matter; with prefix an item may be the beginning of the word.
 */
bool profile_lists(const struct profile_list *list, const char *word,
		   bool prefix);

/* One of the words of a tool's row, by the name that profiles have for it.
 * NULL: no row, or no such word.
 */
const char *row_word(const struct device_sample *row, const char *word);

/* Add a number to the device. */
int device_number_add(struct device_info *device, const char *name,
		      const char *value, struct error *err);

/* Give all candidates their numbers, rule by rule, so that a rule may build on
 * those before it, and an order counts only what they have left. Rules of one
 * name stand together. Who lacks a required number is dropped, with a reason.
 */
int search_numbers(struct search *search, struct error *err);

#endif
