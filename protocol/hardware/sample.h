/* sample.h - the output of a vendor's monitor tool to readings per device.
 *
 * A sampler is compiled from the `monitor:` section of a vendor profile
 * (profile.h says where the tool is run; here only its output counts):
 *
 *	monitor:
 *	  command: [nvidia-smi, "--query-gpu=...", "--format=csv,noheader"]
 *	  env: {NAME: value}
 *	  timeout: 5s
 *	  na: ["N/A", "[N/A]", "[Not Supported]", NA, "-"]
 *	  layouts:		# the first whose `when` is found in the text
 *	    - name: ...
 *	      when: 'PCRE2 expression'
 *	      ...		# how this layout is read, see sample.c's room
 *
 * One tool prints several layouts (by version, by option, in a log that
 * another monitor kept): each is a layout, chosen by what the text says. A
 * reading that the text does not have, or has as one of the `na` words, is
 * absent: never 0.
 *
 * The text is from outside: NULs, invalid UTF-8, lines of any length and
 * thousands of rows are met with limits, in words. Expressions run with match
 * limits; one that meets them is an error.
 */
#ifndef PROTOCOL_HARDWARE_SAMPLE_H
#define PROTOCOL_HARDWARE_SAMPLE_H

#include "protocol/error.h"
#include "protocol/owned.h"
#include "protocol/value.h"

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_TEXT_MAX 4194304 /* bytes of output looked at */
#define SAMPLE_DEVICES_MAX 256  /* rows of devices */
#define SAMPLE_WORD_MAX 64      /* bytes of a name, with the 0 */

enum reading {
	READING_TEMP_C,
	READING_POWER_W,
	READING_POWER_CAP_W,
	READING_MEM_USED_MIB,
	READING_MEM_TOTAL_MIB,
	READING_UTIL_PCT,
	READING_MEM_USED_PCT,
	READINGS
};

/* "temp_c" ...; NULL when out of range. */
const char *reading_name(enum reading reading);

/* What one row says of one device. Words are "" where the text has none. */
struct device_sample {
	char device[SAMPLE_WORD_MAX]; /* as the tool counts: "0", "4/0" */
	char bus_id[SAMPLE_WORD_MAX]; /* as printed */
	char name[SAMPLE_WORD_MAX];
	char uuid[SAMPLE_WORD_MAX];
	char driver[SAMPLE_WORD_MAX];
	double value[READINGS];
	unsigned has; /* bit 1 << READING_... */
};

struct samples {
	struct device_sample *rows;
	size_t count;
	const char *layout; /* the one chosen; borrowed from the sampler */
};
void samples_clear(struct samples *samples);
OWNED_VALUE(struct samples, samples_clear)

struct sampler;

/* From the value of `monitor:`. Errors name file and line; a broken expression
 * also what PCRE2 says.
 */
struct sampler *sampler_new(const struct value *monitor, struct error *err);
void sampler_free(struct sampler *sampler);
OWNED_POINTER(struct sampler, sampler_free)

/* Read one whole output. EPROTO: no layout fits, or the layout found no
 * device; E2BIG: larger than SAMPLE_TEXT_MAX, or more rows than
 * SAMPLE_DEVICES_MAX. *samples is written only on success.
 */
int sampler_read(const struct sampler *sampler, const char *text, size_t size,
		 struct samples *samples, struct error *err);

/* An array of objects with device, bus_id, name, the readings by name and
 * driver; null where the text has none. The caller deletes it; NULL: ENOMEM.
 */
cJSON *samples_json(const struct samples *samples, struct error *err);

/* One PCI address in the one spelling used here: 0000:0e:00.0, a domain of
 * four digits, in lower case. False (and out untouched) when text is none.
 * Accepts 00000000:0E:00.0, 0000:0e:00.0 and 0e:00.0.
 */
#define BUS_ID_SIZE 13
bool bus_id_normal(const char *text, char out[BUS_ID_SIZE]);

#endif
