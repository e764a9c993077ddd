/* processes.h - reads from the output of a vendor's tool which processes use
 * the devices.
 *
 * The rules are those of a profile (`processes` in regatta-profile(5)). The
 * text is not trusted: NUL counts as a blank, lines are cut at SAMPLE_LINE_MAX
 * bytes, and an expression that reaches its step limit does not match.
 */
#pragma once

#include "protocol/hardware/devices.h"
#include "protocol/hardware/profile.h"

#define PROCESSES_MAX 4096 /* rows read; more are ignored */

/* One row: a process and its device. Texts that the row lacks are "". */
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

/* Read all rows of the output. No row is success. ENOMEM. */
int process_rows_read(const struct process_rules *rules, const char *text,
		      size_t size, struct process_rows *rows,
		      struct error *err);

/* Is the row's device this one? sample: the device's row in the monitor's
 * output, whose device number is compared, or NULL.
 */
bool process_uses(const struct process_row *row,
		  const struct device_info *device,
		  const struct device_sample *sample);
