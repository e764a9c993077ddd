/* sample_test.c - monitor output to readings: every format, and worse.
 *
 * Samples are tests/samples/monitor/<vendor>__<what>, written by hand: what the
 * tools print in their versions and states. expected.csv there holds the
 * values, one line per device. A sample of which expected.csv does not speak
 * tells of no device. Recorded output is read in the same way where there is
 * some (recordings.h, monitor-samples/).
 */
#include "protocol/base/buffer.h"
#include "protocol/base/file.h"
#include "protocol/base/printable.h"
#include "protocol/hardware/sample.h"
#include "protocol/yaml/document.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"
#include "tests/unit/recordings.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libgen.h>
#include <math.h>

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
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	char *rest, *line;

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

	/* Who recorded the share of memory did not always write it down. */
	if (reading == READING_MEM_USED_PCT && !*want &&
	    row->has & 1u << READING_MEM_USED_MIB)
		return false;
	if (!*want || !has)
		return *want || has;
	/* Whole MiB, some cut, are written down where bytes were printed. */
	return fabs(strtod(want, NULL) - row->value[reading]) >
	       (reading == READING_MEM_USED_MIB ||
				reading == READING_MEM_TOTAL_MIB
			? 0.999
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
	for (unsigned r = 0; r <= READING_MEM_USED_PCT && !*why; r++)
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
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 24);
	owned(samples_clear) struct samples samples = { 0 };
	struct error err = { 0 };
	size_t rows = 0, row = 0;

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

/* ---- a sampler's own words --------------------------------------------- */

#define HEAD "layouts:\n- name: t\n"

static void test_errors(void)
{
	/* clang-format off */
	static const struct {
		const char *yaml, *error;
	} cases[] = {
		{ "na: [x]\n",
		  "m.yaml:1: missing \"layouts\" (expected a list of formats of the tool's output)" },
		{ "layouts: []\n",
		  "m.yaml:1: layouts: 0 layouts; expected 1 to 32" },
		{ "layouts:\n- read: lines\n",
		  "m.yaml:2: layouts[0]: missing \"name\"" },
		{ HEAD "  read: line\n",
		  "m.yaml:3: layouts[0].read: \"line\" is not valid here; expected lines, columns, keys or json; did you mean \"lines\"?" },
		{ HEAD "  read: lines\n  devise: [x]\n",
		  "m.yaml:4: layouts[0].devise: unknown key; expected name, read, when, all, from, until, group, device or more; did you mean \"device\"?" },
		{ HEAD "  read: lines\n",
		  "m.yaml:2: layouts[0]: missing \"device\" (required by read: "
		  "lines)" },
		{ HEAD "  read: columns\n  when: x\n",
		  "m.yaml:2: layouts[0]: missing \"fields\" (expected a map from words such as device or temp_c to expressions)" },
		{ HEAD "  read: columns\n  when: x\n  fields: {tempc: x}\n",
		  "m.yaml:5: layouts[0].fields.tempc: unknown key; expected device, part, bus_id, name, uuid, driver, physical, temp_c, power_w, power_cap_w ...; did you mean \"temp_c\"?" },
		{ HEAD "  read: lines\n  device: ['(']\n",
		  "m.yaml:4: layouts[0].device[0]: the expression is not valid after character 1: missing closing parenthesis" },
		{ HEAD "  read: lines\n  device: ['(?<temp>x)']\n",
		  "m.yaml:4: layouts[0].device[0]: a group named \"temp\" is not valid here; expected a word such as device, bus_id or temp_c, or a name that begins with _" },
		{ HEAD "  read: lines\n  device: []\n",
		  "m.yaml:4: layouts[0].device: 0 expressions; expected 1 to 32" },
		{ HEAD "  read: keys\n  device: x\n  separator: comma\n"
		  "  fields: {name: x}\n",
		  "m.yaml:5: layouts[0].separator: unknown key; expected name, read, when, all, device, group or fields" },
		{ "na: x\nlayouts: [{name: t, read: lines, device: x}]\n",
		  "m.yaml:1: na: \"x\" is not valid here; expected a list, [a, b] or lines that begin with \"- \"" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		owned(monitor_clear) struct monitor monitor = { 0 };
		struct error err;

		monitor_of(&monitor, cases[i].yaml, &err);
		is(err.text, cases[i].error, "refused: %s", cases[i].error);
	}
}

/* Read a text by a sampler of this YAML. */
static int read_by(const char *yaml, const char *text, size_t size,
		   struct samples *samples, struct error *err)
{
	owned(monitor_clear) struct monitor monitor = { 0 };

	if (!monitor_of(&monitor, yaml, err))
		return -1;
	return sampler_read(monitor.sampler, text, size, samples, err);
}

static void test_units(void)
{
	static const char yaml[] =
		"na: ['N/A', none]\n" HEAD
		"  read: columns\n  separator: comma\n  when: '^id,'\n"
		"  fields: {device: id, temp_c: t, power_w: p, "
		"power_cap_w: 'c \\(mW\\)', mem_used_mib: 'm(?: \\[.*\\])?', "
		"mem_total_mib: 'm(?: \\[.*\\])?', util_pct: u}\n";
	/* clang-format off */
	static const struct {
		const char *row;
		enum reading reading;
		double want; /* NAN: absent */
	} cases[] = {
		{ "id,t\n0,45", READING_TEMP_C, 45 },
		{ "id,t\n0,-3.5 C", READING_TEMP_C, -3.5 },
		{ "id,t\n0,45.0\302\260C", READING_TEMP_C, 45 },
		{ "id,t\n0,45\342\204\203", READING_TEMP_C, 45 },
		{ "id,t\n0,45000 mC", READING_TEMP_C, 45 },
		{ "id,t\n0,113 F", READING_TEMP_C, NAN },
		{ "id,t\n0,511.0c", READING_TEMP_C, NAN },
		{ "id,t\n0,45,0", READING_TEMP_C, 45 },
		{ "id,t\n0,0x2d", READING_TEMP_C, NAN },
		{ "id,t\n0,n/a", READING_TEMP_C, NAN },
		{ "id,t\n0,None", READING_TEMP_C, NAN },
		{ "id,t\n0,", READING_TEMP_C, NAN },
		{ "id,t\n0,\"45\"", READING_TEMP_C, 45 },
		{ "id,p\n0,90500 mW", READING_POWER_W, 90.5 },
		{ "id,p\n0,0.5kW", READING_POWER_W, 500 },
		{ "id,p\n0,-1 W", READING_POWER_W, NAN },
		{ "id,p\n0,100 W / 400 W", READING_POWER_W, 100 },
		{ "id,c (mW)\n0,400000", READING_POWER_CAP_W, 400 },
		{ "id,m\n0,1 GiB", READING_MEM_USED_MIB, 1024 },
		{ "id,m\n0,512K", READING_MEM_USED_MIB, 0.5 },
		{ "id,m [B]\n0,1048576", READING_MEM_USED_MIB, 1 },
		{ "id,m [B]\n0,7 MiB", READING_MEM_USED_MIB, 7 },
		{ "id,m\n0,2.5/ 16.0 GB", READING_MEM_USED_MIB, 2560 },
		{ "id,m\n0,2.5/ 16.0 GB", READING_MEM_TOTAL_MIB, 16384 },
		{ "id,m\n0,N/A/64 MB", READING_MEM_TOTAL_MIB, 64 },
		{ "id,m\n0,N/A/64 MB", READING_MEM_USED_MIB, NAN },
		{ "id,m\n0,0 / 0", READING_MEM_USED_MIB, NAN },
		{ "id,u\n0,100.0 %", READING_UTIL_PCT, 100 },
		{ "id,u\n0,65535", READING_UTIL_PCT, NAN },
		{ "id,u\n0,7 W", READING_UTIL_PCT, NAN },
		{ "id,u\r\n0,7 %\r\n", READING_UTIL_PCT, 7 },
		{ "\033[1mid,u\033[0m\n0,\033[32m7\033[0m %", READING_UTIL_PCT, 7 },
		{ "id,u\n0,7\nid,u\n0,9", READING_UTIL_PCT, 9 },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		owned(samples_clear) struct samples samples = { 0 };
		struct error err = { 0 };
		int rc = read_by(yaml, cases[i].row, strlen(cases[i].row),
				 &samples, &err);
		bool has = !rc && samples.rows[0].has & 1u << cases[i].reading;
		double got =
			has ? samples.rows[0].value[cases[i].reading] : NAN;

		char row[64];

		snprintf(row, sizeof(row), "%s", cases[i].row);
		printable(row, strlen(row));
		ok(!rc && samples.count == 1 &&
			   (isnan(cases[i].want)
				    ? !has
				    : fabs(got - cases[i].want) < 1e-9),
		   "%s of \"%s\" is %g (got %g) %s",
		   reading_name(cases[i].reading), row, cases[i].want, got,
		   err.text);
	}
}

/* The words that `regatta sample` does not print. */
static void test_words(void)
{
	static const char table[] =
		"| 4     Ascend910           | OK  | 1.5  36  0    / 0    |\n"
		"| 1     9                   | 0000:9F:00.0 | 0  0 / 0  3 / 6 "
		"|\n";
	owned(monitor_clear) struct monitor ascend = { 0 }, nvidia = { 0 };
	owned(samples_clear) struct samples npus = { 0 }, gpus = { 0 };
	struct error err = { 0 };

	ok(monitor_init(&ascend, "ascend", &err) &&
		   !sampler_read(ascend.sampler, table, sizeof(table) - 1,
				 &npus, &err),
	   "a table of NPUs is read %s", err.text);
	is(npus.count ? npus.rows[0].device : "", "4/1", "its chip");
	is(npus.count ? npus.rows[0].physical : "", "9", "its physical id");
	ok(monitor_init(&nvidia, "nvidia", &err) &&
		   !sampler_read(nvidia.sampler,
				 "index, uuid, memory.used [MiB]\n"
				 "3, GPU-12ab, 5 MiB\n",
				 49, &gpus, &err),
	   "a CSV with uuids is read %s", err.text);
	is(gpus.count ? gpus.rows[0].uuid : "", "GPU-12ab", "with the uuid");
}

static void test_bus_ids(void)
{
	/* clang-format off */
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "00000000:0E:00.0", "0000:0e:00.0" },
		{ "0000:0e:00.0", "0000:0e:00.0" },
		{ "0e:00.0", "0000:0e:00.0" },
		{ "0000000F:01:00.0", "000f:01:00.0" },
		{ "00000000:10:1C.0", "0000:10:1c.0" },
		{ "0000:xx:00.0", "-" },
		{ "0000:0e:00.8", "-" },
		{ "00010000:0e:00.0", "-" },
		{ "0000:0e:00.0x", "-" },
		{ "0e:00", "-" },
		{ "N/A", "-" },
		{ "", "-" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[BUS_ID_SIZE] = "-";

		ok(bus_id_normal(cases[i].text, out) == (*cases[i].want != '-'),
		   "\"%s\" is%s a bus id", cases[i].text,
		   *cases[i].want == '-' ? " not" : "");
		is(out, cases[i].want, "and is %s", cases[i].want);
	}
}

/* ---- hostile output ---------------------------------------------------- */

#define BIG 10485760

static void test_hostile_size(struct monitor *nvidia)
{
	owned_free char *big = malloc(BIG);
	owned(samples_clear) struct samples samples = { 0 };
	struct error err = { 0 };

	memset(big, 'x', BIG);
	ok(sampler_read(nvidia->sampler, big, BIG, &samples, &err) < 0 &&
		   err.code == E2BIG,
	   "a line of 10 MB: %s", err.text);
	ok(sampler_read(nvidia->sampler, big, SAMPLE_TEXT_MAX, &samples, &err) <
			   0 &&
		   err.code == EPROTO,
	   "one of 4 MiB: %s", err.text);
	memset(big, 0, SAMPLE_TEXT_MAX);
	ok(sampler_read(nvidia->sampler, big, SAMPLE_TEXT_MAX, &samples, &err) <
			   0 &&
		   err.code == EPROTO,
	   "NULs only: %s", err.text);
	memset(big, '\n', SAMPLE_TEXT_MAX);
	ok(sampler_read(nvidia->sampler, big, SAMPLE_TEXT_MAX, &samples, &err) <
		   0,
	   "empty lines only: %s", err.text);
	memset(big, '[', SAMPLE_TEXT_MAX);
	ok(sampler_read(nvidia->sampler, big, SAMPLE_TEXT_MAX, &samples, &err) <
		   0,
	   "brackets only: %s", err.text);
}

static void test_hostile_rows(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(SAMPLE_TEXT_MAX);
	owned(samples_clear) struct samples samples = { 0 };
	struct error err = { 0 };

	buffer_text(&text, "index, temperature.gpu\n", NULL);
	for (int i = 0; i < 20000; i++)
		buffer_printf(&text, NULL, "%d, 40\n", i);
	{
		owned(monitor_clear) struct monitor nvidia = { 0 };

		monitor_init(&nvidia, "nvidia", &err);
		ok(sampler_read(nvidia.sampler, text.data, text.size, &samples,
				&err) < 0 &&
			   err.code == E2BIG,
		   "thousands of devices: %s", err.text);
	}
	buffer_clear(&text);
	for (int i = 0; i < 20000; i++)
		buffer_printf(&text, NULL, "%d 40\n", i % 16);
	is_int(read_by(HEAD "  read: lines\n"
			    "  device: '(?<device>\\d+) (?<temp_c>\\d+)'\n",
		       text.data, text.size, &samples, &err),
	       0, "thousands of lines of a few devices are read");
	is_int((long long)samples.count, 16, "each device once");
}

/* The values of `{"a": {"a": ...}}`, deep. */
static void test_hostile_json(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(SAMPLE_TEXT_MAX);
	owned(samples_clear) struct samples samples = { 0 };
	struct error err = { 0 };

	for (int i = 0; i < 100000; i++)
		buffer_text(&text, "{\"a\":", NULL);
	ok(read_by(HEAD "  read: json\n  device: a\n  fields: {name: a}\n",
		   text.data, text.size, &samples, &err) < 0 &&
		   err.code == EPROTO,
	   "JSON of any depth: %s", err.text);
	buffer_clear(&text);
	buffer_text(&text, "{\"card0\":{", NULL);
	for (int i = 0; i < 70000; i++)
		buffer_printf(&text, NULL, "\"k%d\":1,", i);
	buffer_text(&text, "\"z\":1}}", NULL);
	ok(read_by(HEAD "  read: json\n  device: card0\n"
			"  fields: {name: z}\n",
		   text.data, text.size, &samples, &err) < 0 &&
		   err.code == E2BIG,
	   "JSON of too many keys: %s", err.text);
}

static void test_hostile_expressions(void)
{
	owned_free char *text = malloc(SAMPLE_TEXT_MAX);
	owned(samples_clear) struct samples samples = { 0 };
	struct error err = { 0 };

	memset(text, 'a', SAMPLE_TEXT_MAX);
	for (size_t i = 70; i < SAMPLE_TEXT_MAX; i += 71)
		text[i] = '\n';
	ok(read_by(HEAD "  read: lines\n  device: '(?:a+)+[bc]'\n", text, 4096,
		   &samples, &err) < 0 &&
		   err.code == EPROTO && strstr(err.text, "\"(?:a+)+[bc]\""),
	   "an expression that would run for ever: %s", err.text);
	ok(read_by(HEAD "  read: lines\n  device: 'a*a*a*[bc]'\n", text,
		   SAMPLE_TEXT_MAX, &samples, &err) < 0 &&
		   err.code == ETIMEDOUT,
	   "one that is slow on each of many lines: %s", err.text);
}

static void test_hostile_words(void)
{
	static const char text[] =
		"0, \xff\xfe\x80 \033]0;x\a\001 "
		"a name of many more than the sixty three bytes that a word "
		"may have \xe6\xb2\x90, 40\n";
	owned(samples_clear) struct samples samples = { 0 };
	struct error err = { 0 };
	cJSON *json, *again;
	char *printed;

	is_int(read_by(HEAD "  read: lines\n  device: '(?<device>\\d+), "
			    "(?<name>.*), (?<temp_c>\\d+)'\n",
		       text, sizeof(text) - 1, &samples, &err),
	       0, "a name of any bytes is read");
	json = samples_json(&samples, &err);
	printed = cJSON_PrintUnformatted(json);
	again = printed ? cJSON_Parse(printed) : NULL;
	ok(again && !strpbrk(printed, "\033\001\xff"),
	   "and printed as good JSON");
	is_int(samples.rows ? (long long)strlen(samples.rows[0].name) : 0,
	       SAMPLE_WORD_MAX - 1, "cut to what a word may have");
	free(printed);
	cJSON_Delete(json);
	cJSON_Delete(again);
}

/* Every sample, ended at many places, and with NULs in many. */
static void test_cut(const char *folder)
{
	char path[200];
	glob_t found = { 0 };
	size_t reads = 0;

	snprintf(path, sizeof(path), "%s*__*", folder);
	glob(path, 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		owned(monitor_clear) struct monitor monitor = { 0 };
		owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 24);
		const char *file = strrchr(found.gl_pathv[i], '/') + 1;
		struct error err;

		snprintf(path, sizeof(path), "%.*s", (int)strcspn(file, "_"),
			 file);
		if (strstr(file, ".src") ||
		    !monitor_init(&monitor, path, &err) ||
		    file_read_any(found.gl_pathv[i], &text, &err) < 0)
			continue;
		for (size_t size = 0; size < text.size; size += 61) {
			owned(samples_clear) struct samples samples = { 0 };

			reads += !sampler_read(monitor.sampler, text.data, size,
					       &samples, &err);
			if (size % 2)
				text.data[size] = 0;
		}
	}
	ok(reads > 100, "texts cut anywhere are read as far as they go (%zu)",
	   reads);
	globfree(&found);
}

/* What the shipped profiles read of a device's state. NAN: absent. */
static void test_sensors(void)
{
	static const char nvidia[] =
		"index, clocks.current.sm [MHz], clocks.max.sm [MHz], "
		"clocks_event_reasons.sw_power_cap, "
		"clocks_event_reasons.hw_thermal_slowdown, "
		"clocks_event_reasons.sw_thermal_slowdown, "
		"clocks_event_reasons.hw_power_brake_slowdown, "
		"ecc.errors.corrected.volatile.total, "
		"ecc.errors.uncorrected.volatile.total, remapped_rows.pending, "
		"pcie.link.gen.current, pcie.link.width.current, "
		"utilization.gpu [%]\n"
		"0, 1410 MHz, 1980 MHz, Not Active, Active, Not Active, "
		"Not Active, 7, 0, Yes, 5, 16, 99 %\n"
		"1, [N/A], 1980 MHz, Active, Not Active, Not Active, "
		"Not Active, [N/A], [N/A], No, 1, 8, 0 %\n";
	static const char amd[] =
		"[{\"gpu\": 0, \"clock\": {\"gfx_0\": {\"clk\": {\"value\": "
		"132, "
		"\"unit\": \"MHz\"}, \"max_clk\": {\"value\": 2100, \"unit\": "
		"\"MHz\"}}}, \"pcie\": {\"width\": 16, \"speed\": {\"value\": "
		"32, "
		"\"unit\": \"GT/s\"}}, \"ecc\": {\"total_correctable_count\": "
		"3, "
		"\"total_uncorrectable_count\": 0}, \"throttle\": "
		"{\"prochot_violation_activity\": {\"value\": 0, \"unit\": "
		"\"%\"}, "
		"\"hbm_thermal_violation_activity\": {\"value\": 12, \"unit\": "
		"\"%\"}, \"ppt_violation_activity\": \"N/A\"}}]";
	static const struct {
		const char *vendor, *text;
		size_t row;
		double want[READINGS - READING_CLOCK_MHZ];
	} cases[] = {
		{ "nvidia",
		  nvidia,
		  0,
		  { 1410, 1980, 100, 0, NAN, 7, 0, 1, 5, 16, NAN } },
		{ "nvidia",
		  nvidia,
		  1,
		  { NAN, 1980, 0, 100, NAN, NAN, NAN, 0, 1, 8, NAN } },
		{ "amd",
		  amd,
		  0,
		  { 132, 2100, 12, NAN, NAN, 3, 0, NAN, 5, 16, NAN } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		owned(monitor_clear) struct monitor monitor = { 0 };
		owned(samples_clear) struct samples samples = { 0 };
		struct error err = { 0 };

		if (!monitor_init(&monitor, cases[i].vendor, &err) ||
		    sampler_read(monitor.sampler, cases[i].text,
				 strlen(cases[i].text), &samples, &err) < 0) {
			ok(false, "%s: %s", cases[i].vendor, err.text);
			continue;
		}
		for (int r = READING_CLOCK_MHZ; r < READINGS; r++) {
			double want = cases[i].want[r - READING_CLOCK_MHZ];
			const struct device_sample *row =
				&samples.rows[cases[i].row];
			bool has = row->has & 1U << r;

			ok(isnan(want) ? !has : has && row->value[r] == want,
			   "%s, device %zu: %s is %g", cases[i].vendor,
			   cases[i].row, reading_name((enum reading)r), want);
		}
	}
}

static void test_memory(void)
{
	static const char yaml[] =
		"na: [x]\n" HEAD
		"  read: json\n  device: '\\d+'\n  fields: {temp_c: t}\n"
		"- name: u\n  read: columns\n  when: '^d$'\n"
		"  fields: {device: d}\n";
	owned(document_free) struct document *document =
		document_parse(yaml, strlen(yaml), "m.yaml", NULL, NULL);
	const struct value *value = document_root(document);

	for (int n = 1;; n++) {
		owned(sampler_free) struct sampler *sampler = NULL;
		owned(samples_clear) struct samples samples = { 0 };
		struct error err = { 0 };
		bool failed;
		int rc;

		fault_arm(n);
		sampler = sampler_new(value, &err);
		rc = sampler ? sampler_read(sampler, "d\n0\n", 4, &samples,
					    &err)
			     : -1;
		failed = fault_disarm();
		ok(failed == (rc < 0), "allocation %d: an error, no leak", n);
		if (!failed)
			break;
	}
}

int main(void)
{
	owned(monitor_clear) struct monitor nvidia = { 0 };
	struct error err = { 0 };
	char folder[160];
	bool recorded =
		recordings_folder("monitor-samples", folder, sizeof(folder));

	tap_begin(120);
	test_folder(FOLDER);
	if (recorded)
		test_folder(folder);
	test_errors();
	test_units();
	test_sensors();
	test_words();
	test_bus_ids();
	ok(monitor_init(&nvidia, "nvidia", &err), "nvidia: %s", err.text);
	test_hostile_size(&nvidia);
	test_hostile_rows();
	test_hostile_json();
	test_hostile_expressions();
	test_hostile_words();
	test_cut(FOLDER);
	if (recorded)
		test_cut(folder);
	test_memory();
	return tap_done();
}
