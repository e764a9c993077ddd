/* sample.h - reads values per device from the output of a vendor's monitor
 * tool.
 *
 * A sampler is compiled from the keys `na` and `layouts` of the `monitor:`
 * section of a vendor profile (regatta-profile(5)). One tool prints several
 * layouts: by version, by option, in a log that another monitor kept. They are
 * tried in order; the first that finds a device is used.
 *
 * A reading is absent, never 0, if the text lacks it, has an `na` word or an
 * unknown unit, or gives an impossible value (more than 100 percent, negative
 * power). If a device appears again, its later values replace the earlier ones.
 *
 * The text is not trusted. NUL is read as a blank, CR LF and CR as an end of
 * line. Escape sequences are removed, and lines longer than SAMPLE_LINE_MAX
 * bytes are skipped (except in JSON). The size of the text, the numbers of
 * devices and keys, and the CPU time are limited; see sampler_read().
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/yaml/value.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_TEXT_MAX 4194304 /* bytes of one output */
#define SAMPLE_LINE_MAX 4096    /* bytes of a line */
#define SAMPLE_DEVICES_MAX 256  /* rows of devices */
#define SAMPLE_WORD_MAX 64      /* bytes of a name, with the 0 */
#define SAMPLE_TIME_MS 2000     /* CPU time for one text */
#define SAMPLE_LAYOUTS_MAX 32   /* of one monitor */

enum reading {
	READING_TEMP_C,
	READING_POWER_W,
	READING_POWER_CAP_W,
	READING_MEM_USED_MIB,
	READING_MEM_TOTAL_MIB,
	READING_UTIL_PCT,
	READING_MEM_USED_PCT,
	READING_CLOCK_MHZ, /* of what computes */
	READING_CLOCK_MAX_MHZ,
	READING_THROTTLE_THERMAL_PCT, /* share of the time that the clock was */
	READING_THROTTLE_POWER_PCT,   /* held down, by cause */
	READING_THROTTLE_OTHER_PCT,
	READING_ECC_CORRECTED, /* since the driver was loaded */
	READING_ECC_UNCORRECTED,
	READING_REMAP_PENDING, /* 1: memory waits for a reset to be repaired */
	READING_PCIE_GEN,
	READING_PCIE_WIDTH,
	READING_LINK_ERRORS, /* since the machine was started */
	READINGS
};

/* "temp_c" ...; NULL when out of range. */
const char *reading_name(enum reading reading);

/* The values of one device. Texts that the output lacks are ""; the others are
 * printable and cut to fit.
 */
struct device_sample {
	char device[SAMPLE_WORD_MAX]; /* as the tool counts: "0", "4/0" */
	char bus_id[SAMPLE_WORD_MAX]; /* as printed */
	char name[SAMPLE_WORD_MAX];
	char uuid[SAMPLE_WORD_MAX];
	char driver[SAMPLE_WORD_MAX];
	char physical[SAMPLE_WORD_MAX];
	double value[READINGS];
	unsigned has; /* bit 1 << READING_... */
};

struct samples {
	struct device_sample *rows;
	size_t count;
	const char *layout; /* the one used; borrowed from the sampler */
};
void samples_clear(struct samples *samples);
OWNED_VALUE(struct samples, samples_clear)

struct sampler;

/* Compile the value of `monitor:` (or of another map with `layouts`). Its
 * document must outlive the sampler. Errors name file and line and quote PCRE2.
 */
struct sampler *sampler_new(const struct value *monitor, struct error *err);

/* Check each expression with expression_probe(). */
int sampler_probe(const struct sampler *sampler, struct error *err);
void sampler_free(struct sampler *sampler);
OWNED_POINTER(struct sampler, sampler_free)

/* Read one whole output. EPROTO: no layout fits, or an expression reached its
 * step limit; E2BIG: the text is larger than SAMPLE_TEXT_MAX, or has more
 * devices than SAMPLE_DEVICES_MAX or too many keys; ETIMEDOUT: reading took
 * more than SAMPLE_TIME_MS; ENOMEM. *samples is written only on success, and
 * then has at least one row.
 */
int sampler_read(const struct sampler *sampler, const char *text, size_t size,
		 struct samples *samples, struct error *err);

/* An array of objects with device, bus_id, name, the readings by name and
 * driver; null where the text has none. The caller deletes it; NULL: ENOMEM.
 */
cJSON *samples_json(const struct samples *samples, struct error *err);

/* Normalize a PCI address to the form 0000:0e:00.0 (four digits of domain,
 * lower case). Accepts 00000000:0E:00.0, 0000:0e:00.0 and 0e:00.0. False, with
 * out unchanged: text is no PCI address.
 */
#define BUS_ID_SIZE 13
bool bus_id_normal(const char *text, char out[BUS_ID_SIZE]);
