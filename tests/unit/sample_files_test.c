/* sample_files_test.c - what the shipped profile of amd reads of the kernel's
 * files, where no program is run.
 */
#include "protocol/base/file.h"
#include "protocol/hardware/profile.h"
#include "protocol/hardware/sample_files.h"

#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUS "0000:0c:00.0"

static char folder[] = "/tmp/sample-files-XXXXXX";

/* In place, as the kernel changes them. */
static void put(const char *name, const void *data, size_t size)
{
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/bus/pci/devices/" BUS "/%s", folder,
		 name);
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(path, 0755);
		*p = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (write(fd, data, size) != (ssize_t)size)
		printf("# %s\n", strerror(errno));
	close(fd);
}

static void put_text(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

/* A number as these machines store it. */
static void set_number(char *data, size_t at, size_t bytes, uint64_t number)
{
	for (size_t i = 0; i < bytes; i++)
		data[at + i] = (char)(number >> (8 * i));
}

/* gpu_metrics of a size and revision. */
static void put_metrics(size_t size, unsigned char revision, const size_t *at,
			const uint64_t *numbers, size_t bytes, size_t count)
{
	char data[4096] = { 0 };

	set_number(data, 0, 2, size);
	data[2] = 1;
	data[3] = (char)revision;
	for (size_t i = 0; i < count; i++)
		set_number(data, at[i], bytes, numbers[i]);
	put("gpu_metrics", data, size);
}

static const struct device_sample *read_again(struct sample_files *files,
					      struct samples *samples)
{
	samples_clear(samples);
	if (sample_files_read(files, true, samples, NULL) < 0)
		return NULL;
	return &samples->rows[0];
}

/* NAN: absent. */
static double value_of(const struct device_sample *row, enum reading reading)
{
	return row->has & 1U << reading ? row->value[reading] : NAN;
}

static void check(const struct device_sample *row, enum reading reading,
		  double want, const char *when)
{
	double is = value_of(row, reading);

	ok(isnan(want) ? isnan(is) : is == want, "%s: %s is %g (%g)", when,
	   reading_name(reading), want, is);
}

/* Counters of all time, of a hot processor, power, and three that are hot. */
static const struct {
	size_t size;
	unsigned char revision;
	size_t at[6];
} residencies[] = {
	{ 1664, 6, { 32, 36, 40, 44, 48, 52 } },
	{ 2208, 7, { 40, 44, 48, 52, 56, 60 } },
	{ 3360, 8, { 40, 44, 48, 52, 56, 60 } },
};

static void counters(struct sample_files *files, struct samples *samples)
{
	static const uint64_t before[6] = { 0xfffffff0, 5, 7, 9, 11, 13 };
	static const uint64_t after[6] = { 184, 5, 107, 9, 31, 14 };

	for (size_t i = 0; i < 3; i++) {
		char when[40];

		snprintf(when, sizeof(when), "revision 1.%u",
			 residencies[i].revision);
		put_metrics(residencies[i].size, residencies[i].revision,
			    residencies[i].at, before, 4, 6);
		read_again(files, samples);
		put_metrics(residencies[i].size, residencies[i].revision,
			    residencies[i].at, after, 4, 6);
		check(read_again(files, samples), READING_THROTTLE_POWER_PCT,
		      50, when);
		check(&samples->rows[0], READING_THROTTLE_THERMAL_PCT, 10,
		      when);
		check(read_again(files, samples), READING_THROTTLE_POWER_PCT,
		      NAN, "counters that stand");
	}
}

static void status(struct sample_files *files, struct samples *samples)
{
	static const size_t at = 112;
	static const struct {
		uint64_t bits;
		double power, thermal, other;
	} cases[] = {
		{ 0, 0, 0, 0 },
		{ 1ULL << 36, 0, 100, 0 },
		{ 1ULL << 47 | 1, 100, 100, 0 },
		{ 1ULL << 22, 100, 0, 0 },
		{ 1ULL << 57, 0, 0, 100 },
		{ UINT64_MAX, NAN, NAN, NAN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct device_sample *row;

		put_metrics(120, 3, &at, &cases[i].bits, 8, 1);
		row = read_again(files, samples);
		check(row, READING_THROTTLE_POWER_PCT, cases[i].power, "bits");
		check(row, READING_THROTTLE_THERMAL_PCT, cases[i].thermal,
		      "bits");
		check(row, READING_THROTTLE_OTHER_PCT, cases[i].other, "bits");
	}
	put_metrics(120, 9, &at, &cases[1].bits, 8, 1);
	check(read_again(files, samples), READING_THROTTLE_THERMAL_PCT, NAN,
	      "a revision that nobody knows");
	put("gpu_metrics", "\x78\0\1", 3);
	check(read_again(files, samples), READING_THROTTLE_THERMAL_PCT, NAN,
	      "a file that is cut");
	put("gpu_metrics", "\x78\0\1\3", 4);
	check(read_again(files, samples), READING_THROTTLE_THERMAL_PCT, NAN,
	      "its head alone");
}

static void texts(struct sample_files *files, struct samples *samples)
{
	const struct device_sample *row = read_again(files, samples);

	ok(sample_files_suffice(samples), "no tool is needed");
	check(row, READING_TEMP_C, 61, "files");
	check(row, READING_POWER_W, 702, "files");
	check(row, READING_POWER_CAP_W, 750, "files");
	check(row, READING_MEM_USED_MIB, 1024, "files");
	check(row, READING_MEM_TOTAL_MIB, 2048, "files");
	check(row, READING_UTIL_PCT, 97, "files");
	check(row, READING_CLOCK_MHZ, 1950, "files");
	check(row, READING_CLOCK_MAX_MHZ, 2100, "files");
	check(row, READING_ECC_CORRECTED, 4, "files");
	check(row, READING_ECC_UNCORRECTED, 1, "files");
	is(row->uuid, "5a2f000000000001", "the card's own number");
}

int main(void)
{
	struct device_info device = { .bus_id = (char *)BUS };
	struct devices devices = { .list = &device, .count = 1 };
	struct sysroot roots = real_roots;
	owned(profiles_clear) struct profiles profiles = { 0 };
	owned(samples_clear) struct samples samples = { 0 };
	struct sample_files *files;
	struct error err = { 0 };

	tap_begin(30);
	if (!mkdtemp(folder) || profiles_load("images", &profiles, &err) < 0)
		return 1;
	roots.sys = folder;
	put_text("unique_id", "5a2f000000000001\n");
	put_text("hwmon/hwmon3/temp2_input", "61000\n");
	put_text("hwmon/hwmon3/power1_average", "702000000\n");
	put_text("hwmon/hwmon3/power1_cap", "750000000\n");
	put_text("mem_info_vram_used", "1073741824\n");
	put_text("mem_info_vram_total", "2147483648\n");
	put_text("gpu_busy_percent", "97\n");
	put_text("pp_dpm_sclk", "0: 132Mhz\nS: 1950Mhz *\n1: 2100Mhz\n");
	put_text("ras/umc_err_count", "ue: 1\nce: 4\n");
	put_text("gpu_metrics", "");
	files = sample_files_new(profiles_find(&profiles, "amd"), &roots,
				 &devices, &err);
	if (ok(files, "files are open (%s)", err.text)) {
		texts(files, &samples);
		counters(files, &samples);
		status(files, &samples);
	}
	sample_files_free(files);
	file_remove_tree(AT_FDCWD, folder, NULL);
	return tap_done();
}
