/* sample_test.c - monitor output to readings: every recorded one, and worse.
 *
 * Samples are tests/samples/monitor/<vendor>__<what>; expected.csv there holds
 * the values, one line per device, and a `.src` file beside each says where it
 * is from. A sample of which expected.csv does not speak tells of no device.
 * variants/ holds, in the same way, what the tools print in other versions and
 * states, written by hand.
 */
#include "protocol/buffer.h"
#include "protocol/document.h"
#include "protocol/file.h"
#include "protocol/hardware/sample.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libgen.h>
#include <math.h>
#include <time.h>

#define FOLDER "tests/samples/monitor/"

struct monitor {
	struct document *document;
	struct sampler *sampler;
};

static void monitor_clear(struct monitor *monitor)
{
	sampler_free(monitor->sampler);
	document_free(monitor->document);
}
OWNED_VALUE(struct monitor, monitor_clear)

static bool monitor_init(struct monitor *monitor, const char *vendor,
			 struct error *err)
{
	char path[200];

	snprintf(path, sizeof(path), "images/vendors/%s/profile.yaml", vendor);
	monitor->document = document_read(path, NULL, err);
	monitor->sampler =
		monitor->document
			? sampler_new(value_get(document_root(
							monitor->document),
						"monitor"),
				      err)
			: NULL;
	return monitor->sampler;
}

/* A sampler of a `monitor:` given here. */
static bool monitor_of(struct monitor *monitor, const char *yaml,
		       struct error *err)
{
	memset(err, 0, sizeof(*err));
	monitor->document =
		document_parse(yaml, strlen(yaml), "m.yaml", NULL, err);
	monitor->sampler =
		monitor->document
			? sampler_new(document_root(monitor->document), err)
			: NULL;
	return monitor->sampler;
}

/* ---- expected.csv ------------------------------------------------------ */

enum column { FILE_NAME, DEVICE, BUS_ID, NAME, NUMBERS, DRIVER = 11, COLUMNS };

#define ROWS_MAX 2000

struct expected {
	char *text;
	char *rows[ROWS_MAX][COLUMNS];
	size_t count;
};

static void expected_clear(struct expected *expected)
{
	free(expected->text);
}
OWNED_VALUE(struct expected, expected_clear)

static void expected_read(struct expected *expected, const char *path)
{
	owned(buffer_clear) struct buffer text;
	char *rest, *line;

	buffer_init(&text, 1 << 20);
	if (file_read_any(path, &text, NULL) < 0)
		return;
	expected->text = rest = buffer_take(&text);
	strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n")) && expected->count < ROWS_MAX) {
		char **row = expected->rows[expected->count];

		for (size_t c = 0; c < COLUMNS && line; c++)
			row[c] = strsep(&line, ",");
		expected->count += row[DRIVER] != NULL;
	}
}

static bool number_differs(const struct device_sample *row,
			   enum reading reading, const char *want)
{
	bool has = row->has & 1u << reading;

	if (!*want || !has)
		return *want || has;
	/* Whole MiB are written down where bytes were printed. */
	return fabs(strtod(want, NULL) - row->value[reading]) >
	       (reading == READING_MEM_USED_MIB ||
				reading == READING_MEM_TOTAL_MIB
			? 0.5
			: 0.001);
}

/* What a row has and was not expected, in words; "" is nothing. */
static void compare(const struct device_sample *row, char **want, char *why,
		    size_t size)
{
	const char *words[] = { row->device, row->bus_id, row->name,
				row->driver };
	const enum column columns[] = { DEVICE, BUS_ID, NAME, DRIVER };

	*why = 0;
	for (size_t i = 0; i < 4 && !*why; i++)
		if (strcmp(words[i], want[columns[i]]))
			snprintf(why, size,
				 "device %s: got \"%s\", want \"%s\"",
				 want[DEVICE], words[i], want[columns[i]]);
	for (unsigned r = 0; r < READINGS && !*why; r++)
		if (number_differs(row, (enum reading)r, want[NUMBERS + r]))
			snprintf(why, size,
				 "device %s: %s: got %g (%s), want \"%s\"",
				 want[DEVICE], reading_name((enum reading)r),
				 row->value[r],
				 row->has & 1u << r ? "there" : "absent",
				 want[NUMBERS + r]);
}

static void check_sample(const char *path, struct expected *expected)
{
	char copy[300], vendor[40], why[300] = "";
	const char *file;
	owned(monitor_clear) struct monitor monitor = { 0 };
	owned(buffer_clear) struct buffer text;
	owned(samples_clear) struct samples samples = { 0 };
	struct error err = { 0 };
	size_t rows = 0, row = 0;

	buffer_init(&text, 1 << 24);
	snprintf(copy, sizeof(copy), "%s", path);
	file = basename(copy);
	snprintf(vendor, sizeof(vendor), "%.*s", (int)strcspn(file, "_"), file);
	for (size_t i = 0; i < expected->count; i++)
		rows += !strcmp(expected->rows[i][FILE_NAME], file);
	if (!monitor_init(&monitor, vendor, &err) ||
	    file_read_any(path, &text, &err) < 0) {
		ok(false, "%s: %s", file, err.text);
		return;
	}
	if (sampler_read(monitor.sampler, text.data, text.size, &samples,
			 &err) < 0) {
		ok(!rows && err.code == EPROTO, "%s: %s", file, err.text);
		return;
	}
	if (samples.count != rows)
		snprintf(why, sizeof(why), "got %zu devices, want %zu",
			 samples.count, rows);
	for (size_t i = 0; i < expected->count && !*why; i++)
		if (!strcmp(expected->rows[i][FILE_NAME], file))
			compare(&samples.rows[row++], expected->rows[i], why,
				sizeof(why));
	ok(!*why, "%s: %zu devices by \"%s\"%s%s", file, samples.count,
	   samples.layout, *why ? ": " : "", why);
}

static void test_folder(const char *folder)
{
	char path[200];
	owned(expected_clear) struct expected expected = { 0 };
	glob_t found = { 0 };

	snprintf(path, sizeof(path), "%sexpected.csv", folder);
	expected_read(&expected, path);
	ok(expected.count > 0, "%s says what is to be found", path);
	snprintf(path, sizeof(path), "%s*__*", folder);
	glob(path, 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (!strstr(found.gl_pathv[i], ".src"))
			check_sample(found.gl_pathv[i], &expected);
	globfree(&found);
}

int main(void)
{
	tap_begin(120);
	test_folder(FOLDER);
	test_folder(FOLDER "variants/");
	(void)monitor_of;
	return tap_done();
}
