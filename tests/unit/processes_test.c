/* processes_test.c - who uses the devices, as vendors' tools print it.
 */
#include "protocol/hardware/processes.h"

#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/hardware_lab.h"

#include <fcntl.h>
#include <string.h>

static void sample(const char *file, struct buffer *text)
{
	char path[200];

	buffer_init(text, SAMPLE_TEXT_MAX);
	snprintf(path, sizeof(path), "tests/samples/monitor/%s", file);
	if (file_read(AT_FDCWD, path, text, NULL) < 0)
		abort();
}

/* "0 967305 python; 1 967306 python worker" */
static char *rows_of(const char *vendor, const char *text, size_t size)
{
	owned(process_rows_clear) struct process_rows rows = { 0 };
	struct profile *profile = lab_profile(vendor);
	char *words = NULL;
	size_t n;
	FILE *out = open_memstream(&words, &n);

	if (process_rows_read(&profile->processes, text, size, &rows, NULL) < 0)
		abort();
	for (size_t i = 0; i < rows.count; i++)
		fprintf(out, "%s%s%s %lld %s", i ? "; " : "",
			rows.list[i].device, rows.list[i].bus_id,
			(long long)rows.list[i].pid, rows.list[i].name);
	fclose(out);
	profile_free(profile);
	return words;
}

static char *rows_of_sample(const char *vendor, const char *file)
{
	owned(buffer_clear) struct buffer text;

	sample(file, &text);
	return rows_of(vendor, text.data, text.size);
}

static void tables(void)
{
	owned_free char *metax =
		rows_of_sample("metax", "metax__process_x2.txt");
	owned_free char *free_board =
		rows_of_sample("metax", "metax__2.2.9_board_x8.txt");
	owned_free char *ascend =
		rows_of_sample("ascend", "ascend__processes_x2.txt");
	owned_free char *gaudi =
		rows_of_sample("gaudi", "gaudi__hl-smi_1.18_wide.txt");
	static const char csv[] =
		"00000000:10:1C.0, 3518784, /usr/bin/python3\n"
		"00000000:A0:1D.0, 17, [Not Found]\n"
		"no rows, at all\n";
	owned_free char *nvidia = rows_of("nvidia", csv, sizeof(csv) - 1);

	is(metax, "0 41007 invented; 1 41008 invented worker", "metax");
	is(free_board, "", "metax: nobody, in a table of devices");
	is(ascend,
	   "0/0 41007 invented_a; 0/0 41008 invented_b; 1/0 41009 invented_c",
	   "ascend");
	is(gaudi, "", "gaudi: rows that say N/A are nobody");
	is(nvidia,
	   "00000000:10:1C.0 3518784 /usr/bin/python3; "
	   "00000000:A0:1D.0 17 [Not Found]",
	   "nvidia");
}

static void whose(void)
{
	struct device_info device = { .bus_id = (char *)"0000:10:1c.0",
				      .uuid = (char *)"GPU-a" };
	struct device_sample told = { .device = "4/0" };
	struct process_row row = { .bus_id = "00000000:10:1C.0" };

	ok(process_uses(&row, &device, NULL), "a row of this bus id");
	snprintf(row.bus_id, sizeof(row.bus_id), "0000:11:1c.0");
	ok(!process_uses(&row, &device, &told), "of another");
	row = (struct process_row){ .uuid = "gpu-A" };
	ok(process_uses(&row, &device, NULL), "of this uuid");
	row = (struct process_row){ .device = "4/0" };
	ok(process_uses(&row, &device, &told), "of the tool's number");
	ok(!process_uses(&row, &device, NULL),
	   "which says nothing without the tool's row");
	snprintf(told.device, sizeof(told.device), "4");
	ok(!process_uses(&row, &device, &told), "of another number");
}

/* Whatever a tool prints, it is only lines. */
static void hostile(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(SAMPLE_TEXT_MAX);
	static const char odd[] = "0000:10:1c.0, 7\0\0, x"
				  "\r\n0000:10:1c.0, 8, \033[1m\n";
	owned_free char *words = NULL, *rows = NULL;

	for (int i = 0; i < 2 * PROCESSES_MAX; i++)
		buffer_printf(&text, NULL, "0000:10:1c.0, %d, x\n", i);
	rows = rows_of("nvidia", text.data, text.size);
	ok(strstr(rows, " 4096 x") && !strstr(rows, " 4097 x"),
	   "thousands of rows are cut");
	buffer_clear(&text);
	buffer_append(&text, odd, sizeof(odd) - 1, NULL);
	buffer_printf(&text, NULL, "0000:10:1c.0, %s", "99999999999999999999");
	for (int i = 0; i < 100000; i++)
		buffer_text(&text, "9", NULL);
	words = rows_of("nvidia", text.data, text.size);
	is(words, "0000:10:1c.0 8 ?[1m", "a long line is no row, and NULs");
}

int main(void)
{
	tap_begin(60);
	tables();
	whose();
	hostile();
	return tap_done();
}
