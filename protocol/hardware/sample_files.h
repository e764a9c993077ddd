/* sample_files.h - reads the state of devices from files of the kernel: no
 * program is run.
 *
 * The files are those of the profile's `monitor.files`, and of each device with
 * a bus address those that every PCI function has: the speed and width of its
 * link and, where the kernel reports them, its link's errors. They stay open,
 * so that a reading costs one system call.
 *
 * Sources: Linux Documentation/ABI/testing/sysfs-bus-pci (current_link_speed,
 * current_link_width) and sysfs-bus-pci-devices-aer_stats (TOTAL_ERR_COR).
 */
#pragma once

#include "protocol/hardware/device.h"

#define SAMPLE_FILE_MAX 4096 /* bytes of one file */

struct sample_files;

/* Open what there is of the devices. profile is borrowed. ENOMEM. */
struct sample_files *sample_files_new(const struct profile *profile,
				      const struct sysroot *roots,
				      const struct devices *devices,
				      struct error *err);
void sample_files_free(struct sample_files *files);
OWNED_POINTER(struct sample_files, sample_files_free)

/* Do the files replace a tool: has each device one of
 * temperature, power and load?
 */
bool sample_files_suffice(const struct samples *samples);

/* A row for each device, in their order. all: also files whose values seldom
 * change. A file that cannot be read gives no value. ENOMEM.
 */
int sample_files_read(struct sample_files *files, bool all,
		      struct samples *samples, struct error *err);
