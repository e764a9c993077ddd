/* profile_sections.h - the sections of a profile: from values to its structs.
 *
 * For profile.c. Each reader writes what it has read until an error, which
 * profile_free() releases.
 */
#ifndef PROTOCOL_HARDWARE_PROFILE_SECTIONS_H
#define PROTOCOL_HARDWARE_PROFILE_SECTIONS_H

#include "protocol/hardware/profile_fields.h"

field_fn read_discover;  /* struct discover_rules */
field_fn read_container; /* struct container_rules */
field_fn read_chips;     /* struct profile */
field_fn read_images;    /* struct profile */
field_fn read_visible;   /* struct profile */
field_fn read_versions;  /* struct profile */
field_fn read_processes; /* struct process_rules */
field_fn read_monitor;   /* struct monitor_rules */

#endif
