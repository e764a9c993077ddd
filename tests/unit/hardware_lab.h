/* hardware_lab.h - a simulated /dev, /sys and /proc below a temporary folder.
 */
#pragma once

#include "protocol/hardware/profile.h"

#include <stdbool.h>

struct lab {
	char folder[64];
	char dev[80], sys[80], proc[80], bin[80];
	struct sysroot roots;
};

/* Make the folders. */
void lab_begin(struct lab *lab);
/* Remove everything. */
void lab_end(struct lab *lab);

/* A file with this text, and the folders above it; path: "/sys/...". */
void lab_file(struct lab *lab, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void lab_link(struct lab *lab, const char *path, const char *to);
void lab_remove(struct lab *lab, const char *path);

/* A character device like /dev/null; without the right to make one, a link to
 * it in the real /dev, which no test of nodes can pass: see lab_nodes().
 */
void lab_node(struct lab *lab, const char *path);
bool lab_nodes(void); /* can this machine make them? */

/* A PCI function: vendor, device, class as hex digits; numa may be -1. */
void lab_pci(struct lab *lab, const char *bus_id, const char *vendor,
	     const char *device, const char *class, int numa);

/* The profile of a vendor, as it is shipped. */
struct profile *lab_profile(const char *vendor);
/* A profile from its text. */
struct profile *lab_profile_text(const char *text);
