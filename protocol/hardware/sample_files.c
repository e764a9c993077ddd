/* sample_files.c - reads the state of devices from files of the kernel.
 */
#include "protocol/hardware/sample_files.h"
#include "protocol/base/list.h"
#include "protocol/hardware/sample_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CELL_MAX 128 /* bytes of a value */

/* An open file, and what of it is a value of a device. */
struct sample_file {
	int fd;
	bool again;      /* it is the file before this one, and read with it */
	uint32_t device; /* place in the list */
	unsigned field;
	bool seldom;                  /* its value seldom changes */
	const struct file_rule *rule; /* NULL: of every PCI function */
	struct binary_counters counters;
	const char *after; /* the value is behind this word; NULL: all of it */
};

struct sample_files {
	const struct sampler *sampler;
	char (*bus_ids)[BUS_ID_SIZE];
	size_t devices;
	struct sample_file *list;
	size_t count;
	char last[PATH_MAX]; /* of the file that was opened last */
};

static const struct {
	const char *name, *after;
	enum reading reading;
} pci_files[] = {
	{ "current_link_speed", NULL, READING_PCIE_GEN },
	{ "current_link_width", NULL, READING_PCIE_WIDTH },
	{ "aer_dev_correctable", "TOTAL_ERR_COR ", READING_LINK_ERRORS },
};

static int sample_files_add(struct sample_files *files, const char *path,
			    const struct sample_file *from, struct error *err)
{
	struct sample_file *added = LIST_ADD(files->list, files->count, err);

	if (!added)
		return -1;
	*added = *from;
	added->again = !strcmp(files->last, path);
	added->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (added->fd < 0)
		files->count--;
	else
		snprintf(files->last, sizeof(files->last), "%s", path);
	return 0;
}

/* The first of the rule's paths that is there. */
static int rule_open(struct sample_files *files, const struct file_rule *rule,
		     const struct sysroot *roots,
		     const struct device_info *device, uint32_t index,
		     struct error *err)
{
	const struct sample_file file = { .device = index,
					  .field = rule->field,
					  .seldom = rule->seldom,
					  .rule = rule };

	for (size_t i = 0; i < rule->paths.count; i++) {
		owned(strings_clear) struct strings found = { 0 };
		char pattern[PATH_MAX], path[PATH_MAX];
		struct stat st;

		if (device_path(device, rule->paths.items[i], pattern, NULL) <
			    0 ||
		    sysroot_glob(roots, pattern, false, &found, NULL) < 0 ||
		    !found.count ||
		    sysroot_find(roots, found.items[0], path, &st, NULL) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		return sample_files_add(files, path, &file, err);
	}
	return 0;
}

static int pci_open(struct sample_files *files, const struct sysroot *roots,
		    const struct device_info *device, uint32_t index,
		    struct error *err)
{
	size_t count = sizeof(pci_files) / sizeof(pci_files[0]);

	for (size_t i = 0; device->bus_id && i < count; i++) {
		const struct sample_file file = {
			.device = index,
			.field = FIELD_READINGS + pci_files[i].reading,
			.seldom = true,
			.after = pci_files[i].after,
		};
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/%s",
			 roots->sys, device->bus_id, pci_files[i].name);
		if (sample_files_add(files, path, &file, err) < 0)
			return -1;
	}
	return 0;
}

static int device_open(struct sample_files *files,
		       const struct profile *profile,
		       const struct sysroot *roots,
		       const struct device_info *device, uint32_t index,
		       struct error *err)
{
	const struct monitor_rules *rules = &profile->monitor;

	if (device->bus_id)
		snprintf(files->bus_ids[index], BUS_ID_SIZE, "%s",
			 device->bus_id);
	for (size_t i = 0; i < rules->files_count; i++)
		if (rule_open(files, &rules->files[i], roots, device, index,
			      err) < 0)
			return -1;
	return pci_open(files, roots, device, index, err);
}

struct sample_files *sample_files_new(const struct profile *profile,
				      const struct sysroot *roots,
				      const struct devices *devices,
				      struct error *err)
{
	owned(sample_files_free) struct sample_files *files =
		calloc(1, sizeof(*files));

	if (!files || !(files->bus_ids = calloc(devices->count + 1,
						sizeof(*files->bus_ids))))
		return error_null(error_nomem(err, "samples"));
	files->sampler = profile->monitor.sampler;
	files->devices = devices->count;
	for (size_t i = 0; i < devices->count; i++)
		if (device_open(files, profile, roots, &devices->list[i],
				(uint32_t)i, err) < 0)
			return NULL;
	return take(files);
}

void sample_files_free(struct sample_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->count; i++)
		close(files->list[i].fd);
	free(files->list);
	free(files->bus_ids);
	free(files);
}

bool sample_files_suffice(const struct samples *samples)
{
	static const unsigned any = 1U << READING_TEMP_C |
				    1U << READING_POWER_W |
				    1U << READING_UTIL_PCT;

	for (size_t i = 0; i < samples->count; i++)
		if (!(samples->rows[i].has & any))
			return false;
	return samples->count > 0;
}

/* The part of the file's text that is its value. False: there is none. */
static bool file_value(struct sample_file *file, char *cell,
		       struct sample_text *value)
{
	const struct file_rule *rule = file->rule;
	const char *at;
	double share;

	*cell = 0;
	if (rule && rule->binary_count) {
		if (binary_share(rule->binary, rule->binary_count, value->data,
				 value->size, &file->counters, &share))
			snprintf(cell, CELL_MAX, "%.3f", share);
		*value = (struct sample_text){ cell, strlen(cell) };
		return value->size > 0;
	}
	*value = text_trim(*value, "\n");
	if (rule && rule->match) {
		expression_find(rule->match, value->data, value->size, cell,
				CELL_MAX, NULL);
		*value = (struct sample_text){ cell, strlen(cell) };
	} else if (file->after) {
		at = memmem(value->data, value->size, file->after,
			    strlen(file->after));
		at = at ? at + strlen(file->after) : value->data + value->size;
		value->size = (size_t)(value->data + value->size - at);
		value->data = at;
	}
	return value->size > 0;
}

static void file_take(struct sample_file *file, const struct run *run,
		      struct sample_text text, struct row *row)
{
	char cell[CELL_MAX], unit[16] = "";

	if (!file_value(file, cell, &text))
		return;
	if (file->rule && file->rule->unit)
		snprintf(unit, sizeof(unit), "(%s)", file->rule->unit);
	row_put(run, row, file->field, 1, text,
		&(struct sample_text){ unit, strlen(unit) });
}

int sample_files_read(struct sample_files *files, bool all,
		      struct samples *samples, struct error *err)
{
	const struct run run = { .sampler = files->sampler };
	const struct sample_file *last = NULL;
	char text[SAMPLE_FILE_MAX];
	ssize_t got = 0;
	owned_free struct row *rows = calloc(files->devices + 1, sizeof(*rows));
	struct device_sample *made =
		calloc(files->devices + 1, sizeof(*samples->rows));

	if (!rows || !made) {
		free(made);
		return error_nomem(err, "samples");
	}
	for (size_t i = 0; i < files->count; i++) {
		struct sample_file *file = &files->list[i];

		if (!all && file->seldom)
			continue;
		if (!file->again || last != file - 1)
			got = pread(file->fd, text, sizeof(text), 0);
		last = file;
		file_take(file, &run,
			  (struct sample_text){ text,
						got > 0 ? (size_t)got : 0 },
			  &rows[file->device]);
	}
	for (size_t i = 0; i < files->devices; i++) {
		made[i] = rows[i].sample;
		snprintf(made[i].device, SAMPLE_WORD_MAX, "%zu", i);
		snprintf(made[i].bus_id, SAMPLE_WORD_MAX, "%s",
			 files->bus_ids[i]);
	}
	*samples = (struct samples){ .rows = made,
				     .count = files->devices,
				     .layout = "files" };
	return 0;
}
