/* monitors.c - writes the samples of a job in the format of FlagPerf's monitor
 * logs.
 */
#include "controller/cli/commands/monitors.h"

#include "controller/cli/commands/exported.h"
#include "controller/cli/commands/streams.h"
#include "controller/sweep/flagperf/names.h"
#include "protocol/hardware/sample_format.h"
#include "protocol/message/json_get.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define TIME_FORM "%Y-%m-%d-%H:%M:%S"
#define LINE_MAX_BYTES 4096
#define UNKNOWN "N/A"
#define HOSTS 3

/* The readings of the host, with their names in files and details. */
static const struct {
	const char *name;
	enum host_reading reading;
} host_logs[HOSTS] = {
	{ "cpu", HOST_CPU_PCT },
	{ "mem", HOST_MEM_USED_MIB },
	{ "pwr", HOST_POWER_W },
};

/* The readings of devices that FlagPerf's analysis takes. */
static const struct {
	const char *name;
	enum reading reading;
} device_lists[] = {
	{ "temp", READING_TEMP_C },
	{ "power", READING_POWER_W },
	{ "mem", READING_MEM_USED_MIB },
};

#define DEVICE_LISTS (sizeof(device_lists) / sizeof(device_lists[0]))

struct monitors {
	const struct monitored *of;
	FILE *files[HOSTS];
	FILE *devices;            /* opened for the first device */
	const struct value *line; /* of the vendor, or NULL: it has none */
	const struct value *log;
	struct names names;
	struct sample_format_columns columns;
	struct buffer rest;
};

static void monitors_clear(struct monitors *monitors)
{
	for (size_t i = 0; i < HOSTS; i++)
		if (monitors->files[i])
			fclose(monitors->files[i]);
	if (monitors->devices)
		fclose(monitors->devices);
	names_clear(&monitors->names);
	buffer_clear(&monitors->rest);
}
OWNED_VALUE(struct monitors, monitors_clear)

/* The member of this name; it is made if it does not exist. */
static cJSON *member(cJSON *object, const char *name, bool array)
{
	cJSON *item = json_get(object, name);

	if (item || !object)
		return item;
	return array ? cJSON_AddArrayToObject(object, name)
		     : cJSON_AddObjectToObject(object, name);
}

/* Suites without a detail_result.json have no list. */
static void detail_keep(cJSON *list, double value)
{
	if (list)
		cJSON_AddItemToArray(list, cJSON_CreateNumber(value));
}

/* The host's own. */

/* Shares of 1 and watts, as FlagPerf's own monitor writes them. */
static void monitors_take_host(struct monitors *monitors,
			       const struct sample_format_line *line)
{
	double memory = monitors->of->memory_mib;
	const double scales[HOSTS] = { 0.01, memory > 0 ? 1 / memory : 0, 1 };
	char time[EXPORT_TIME_SIZE];

	export_time(line->time_ms, TIME_FORM, time);
	for (size_t i = 0; i < HOSTS; i++) {
		double value =
			line->host.value[host_logs[i].reading] * scales[i];

		if (!(line->host.has & 1u << host_logs[i].reading) ||
		    scales[i] <= 0)
			continue;
		fprintf(monitors->files[i], "%s\t%.6g\n", time, value);
		detail_keep(member(monitors->of->detail, host_logs[i].name,
				   true),
			    value);
	}
}

/* Devices. */

static int name_readings(struct names *names,
			 const struct sample_format_point *point,
			 struct error *err)
{
	for (int i = 0; i < READINGS; i++) {
		char text[32] = UNKNOWN;

		/* Two digits, and no zeros at their end. */
		if (point->has & 1u << i)
			snprintf(text, sizeof(text), "%.12g",
				 round(point->value[i] * 100) / 100);
		if (names_set(names, reading_name((enum reading)i), text, err) <
		    0)
			return -1;
	}
	return 0;
}

/* Devices are numbered by their position among those of the job. */
static void keep_details(struct monitors *monitors,
			 const struct sample_format_point *point, size_t device)
{
	cJSON *vendor = member(monitors->of->detail, "vendor", false);
	char number[24];

	snprintf(number, sizeof(number), "%zu", device);
	for (size_t i = 0; i < DEVICE_LISTS; i++) {
		cJSON *list =
			member(member(vendor, device_lists[i].name, false),
			       number, true);
		enum reading reading = device_lists[i].reading;

		if (point->has & 1u << reading)
			detail_keep(list, point->value[reading]);
	}
	if (vendor && point->has & 1u << READING_MEM_TOTAL_MIB &&
	    !json_get(vendor, "max_mem"))
		cJSON_AddNumberToObject(vendor, "max_mem",
					point->value[READING_MEM_TOTAL_MIB]);
}

static int open_devices(struct monitors *monitors, struct error *err)
{
	owned(buffer_clear) struct buffer name;
	char path[PATH_MAX];

	buffer_init(&name, NAME_MAX);
	if (names_fill(&monitors->names, monitors->log, &name, err) < 0)
		return -1;
	monitors->devices =
		export_open(monitors->of->folder, name.data, path, err);
	return monitors->devices ? 0 : -1;
}

/* "N/AW" is "N/A": what is not known has no unit. */
static void drop_units(char *text)
{
	while ((text = strstr(text, UNKNOWN))) {
		text += strlen(UNKNOWN);
		memmove(text, text + strcspn(text, " /"),
			strlen(text + strcspn(text, " /")) + 1);
	}
}

static int monitors_take_devices(struct monitors *monitors,
				 const struct sample_format_line *line,
				 struct error *err)
{
	char time[EXPORT_TIME_SIZE];

	if (!monitors->line || !line->count)
		return 0;
	if (!monitors->devices && open_devices(monitors, err) < 0)
		return -1;
	export_time(line->time_ms, TIME_FORM, time);
	fprintf(monitors->devices, "%s\n", time);
	for (size_t i = 0; i < line->count; i++) {
		owned(buffer_clear) struct buffer text;

		buffer_init(&text, LINE_MAX_BYTES);
		if (name_readings(&monitors->names, &line->points[i], err) <
			    0 ||
		    names_fill(&monitors->names, monitors->line, &text, err) <
			    0)
			return -1;
		drop_units(text.data);
		fprintf(monitors->devices, "%s\n", text.data);
		keep_details(monitors, &line->points[i], i);
	}
	fputc('\n', monitors->devices);
	return 0;
}

/* The stream. */

/* file_reader_fn */
static int take_samples(const void *piece, size_t size, void *arg,
			struct error *err)
{
	struct monitors *monitors = arg;
	char *end, *at;
	int rc = 0;

	if (buffer_append(&monitors->rest, piece, size, err) < 0)
		return -1;
	at = monitors->rest.data;
	while (rc == 0 &&
	       (end = memchr(at, '\n',
			     monitors->rest.size -
				     (size_t)(at - monitors->rest.data)))) {
		owned(sample_format_line_clear) struct sample_format_line
			line = { 0 };

		if (sample_format_read(&monitors->columns, at,
				       (size_t)(end - at), &line, NULL) == 0) {
			if (line.kind == SAMPLE_FORMAT_HOST)
				monitors_take_host(monitors, &line);
			else if (line.kind == SAMPLE_FORMAT_DEVICES)
				rc = monitors_take_devices(monitors, &line,
							   err);
		}
		at = end + 1;
	}
	buffer_consume(&monitors->rest, (size_t)(at - monitors->rest.data));
	return rc;
}

static int open_all(struct monitors *monitors, struct error *err)
{
	const struct monitored *of = monitors->of;
	const struct value *how = value_get(of->how, of->vendor);

	for (size_t i = 0; i < HOSTS; i++) {
		char name[32], path[PATH_MAX];

		snprintf(name, sizeof(name), "%s_monitor.log",
			 host_logs[i].name);
		member(of->detail, host_logs[i].name, true);
		monitors->files[i] = export_open(of->folder, name, path, err);
		if (!monitors->files[i])
			return -1;
	}
	for (size_t i = 0; i < DEVICE_LISTS; i++)
		member(member(of->detail, "vendor", false),
		       device_lists[i].name, false);
	if (!*of->vendor)
		return 0;
	how = how ? how : value_get(of->how, "others");
	monitors->log = value_get(how, "log");
	if (monitors->log) {
		monitors->line = value_get(how, of->suite);
		if (!monitors->line)
			monitors->line = value_get(how, "line");
	}
	return names_set(&monitors->names, "vendor", of->vendor, err);
}

int monitors_write(struct client *client, const struct monitored *monitored,
		   struct error *err)
{
	owned(monitors_clear) struct monitors monitors = { .of = monitored };
	char stream[SAMPLE_FORMAT_STREAM_SIZE];

	buffer_init(&monitors.rest, (size_t)4 << 20);
	if (open_all(&monitors, err) < 0)
		return -1;
	sample_format_stream(monitored->node, stream);
	return stream_read(client, monitored->job, monitored->attempt, stream,
			   0, take_samples, &monitors, err);
}
