/* processes.c - the processes that use the devices, as a vendor's tool
 * prints them.
 */
#include "protocol/hardware/processes.h"
#include "protocol/base/printable.h"

#include <stdlib.h>
#include <string.h>

void process_rows_clear(struct process_rows *rows)
{
	free(rows->list);
	*rows = (struct process_rows){ 0 };
}

/* Copy what the group of that name captured, or "". */
static void copy_group(const struct expression *row, const char *name,
		       char out[SAMPLE_WORD_MAX])
{
	const char *text = "";
	size_t size = 0;

	expression_caught_name(row, name, &text, &size);
	snprintf(out, SAMPLE_WORD_MAX, "%.*s", (int)size, text);
	printable(out, strlen(out));
}

/* False: the line is no row, or one without a process. */
static bool process_row_take(const struct process_rules *rules,
			     const char *line, size_t size,
			     struct process_row *row)
{
	char part[SAMPLE_WORD_MAX], pid[SAMPLE_WORD_MAX];
	size_t used;

	if (expression_match(rules->row, line, size, EXPRESSION_START, NULL) <
	    1)
		return false;
	copy_group(rules->row, "device", row->device);
	copy_group(rules->row, "part", part);
	copy_group(rules->row, "bus_id", row->bus_id);
	copy_group(rules->row, "uuid", row->uuid);
	copy_group(rules->row, "name", row->name);
	copy_group(rules->row, "pid", pid);
	used = strlen(row->device);
	if (*part)
		snprintf(row->device + used, SAMPLE_WORD_MAX - used, "/%s",
			 part);
	row->pid = strtoll(pid, NULL, 10);
	return row->pid > 0;
}

int process_rows_read(const struct process_rules *rules, const char *text,
		      size_t size, struct process_rows *rows, struct error *err)
{
	struct process_rows found = {
		.list = calloc(PROCESSES_MAX, sizeof(*found.list)),
	};
	const char *end = text + size;
	bool begun = !rules->from;

	if (!found.list)
		return error_nomem(err, "processes");
	while (text < end && found.count < PROCESSES_MAX) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((eol ? eol : end) - text);
		char line[SAMPLE_LINE_MAX + 1];
		size_t skip;

		if (length > SAMPLE_LINE_MAX)
			length = SAMPLE_LINE_MAX;
		for (size_t i = 0; i < length; i++)
			line[i] = text[i] ? text[i] : ' ';
		while (length && strchr(" \t\r", line[length - 1]))
			length--;
		line[length] = 0;
		skip = strspn(line, " \t");
		text = eol ? eol + 1 : end;
		if (!begun)
			begun = expression_match(rules->from, line, length,
						 EXPRESSION_ANYWHERE,
						 NULL) == 1;
		else
			found.count +=
				process_row_take(rules, line + skip,
						 length - skip,
						 &found.list[found.count]);
	}
	*rows = found;
	return 0;
}

bool process_uses(const struct process_row *row,
		  const struct device_info *device,
		  const struct device_sample *sample)
{
	if (*row->bus_id)
		return device_has_bus(device, row->bus_id);
	if (*row->uuid)
		return device_has_uuid(device, row->uuid);
	return *row->device && sample && !strcmp(row->device, sample->device);
}
