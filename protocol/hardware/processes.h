/* processes.h - the processes that use the devices, as a vendor's tool
 * prints them.
 *
 * The rules are those of a profile (profile.h, `processes`). The text is from
 * outside: NUL is a blank, lines are cut at SAMPLE_LINE_MAX, an expression that
 * meets its limit fits nothing.
 */
#ifndef PROTOCOL_HARDWARE_PROCESSES_H
#define PROTOCOL_HARDWARE_PROCESSES_H

#include "protocol/hardware/device.h"

#define PROCESSES_MAX 4096 /* rows that are looked at */

/* One row: a process and, as "" where it does not tell, the device. */
struct process_row {
	char device[SAMPLE_WORD_MAX]; /* as the tool counts: "0", "4/0" */
	char bus_id[SAMPLE_WORD_MAX];
	char uuid[SAMPLE_WORD_MAX];
	char name[SAMPLE_WORD_MAX];
	int64_t pid;
};

struct process_rows {
	struct process_row *list;
	size_t count;
};
void process_rows_clear(struct process_rows *rows);
OWNED_VALUE(struct process_rows, process_rows_clear)

/* The rows of the whole output; none is success. ENOMEM. */
int process_rows_read(const struct process_rules *rules, const char *text,
		      size_t size, struct process_rows *rows,
		      struct error *err);

/* Is the row's device this one? sample: the tool's row of it, or NULL; by its
 * number the device is then known.
 */
bool process_uses(const struct process_row *row,
		  const struct device_info *device,
		  const struct device_sample *sample);

#endif
