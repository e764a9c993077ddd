/* profile_internal.h - the tables and readers shared by the profile*.c files.
 */
#pragma once

#include "protocol/hardware/map_reader.h"
#include "protocol/hardware/profile.h"

/* profile_sections.c: the whole file, into a struct profile. */
extern const struct map_field profile_fields[];

/* profile_fields.c: paths without "." and "..". const char *. A device path
 * begins with /dev/, a system path with /dev/, /sys/ or /proc/; both may hold
 * {name}s and one '*'. A file path is any other path and holds neither.
 */
map_read_fn read_device_path;
map_read_fn read_system_path;
map_read_fn read_file_path;

/* NAME of an environment variable. const char *. */
map_read_fn read_variable;

/* struct strings. PCI ids have 4 hex digits, classes 2 to 6; both are quoted,
 * as they may look like numbers.
 */
map_read_fn read_device_paths;
map_read_fn read_pci_ids;
map_read_fn read_pci_classes;

/* struct strings, from a map: NAME=VALUE; name=soft[:hard]. */
map_read_fn read_env;
map_read_fn read_ulimits;
