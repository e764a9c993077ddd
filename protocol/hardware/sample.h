/* sample.h - reads the output of a vendor's monitor tool: values per device.
 *
 * A sampler is compiled from the `monitor:` section of a vendor profile
 * (profile.h says where the tool is run; here only its output counts, so only
 * `na` and `layouts` are read and other keys are left to the profile's
 * reader). One tool prints several layouts (by version, by option, in a log
 * that another monitor kept): each is an entry of `layouts`, tried in order;
 * the first counts that finds a device.
 *
 *	monitor:
 *	  na: ["N/A", "[N/A]", NA, "-"]	# words for "not known", in any case
 *	  layouts:
 *	    - name: table
 *	      read: lines | columns | keys | json
 *	      when: expression		# some line must match; optional
 *	      all: [expression, ...]	# lines with words for all devices
 *	      from: expression		# a line that begins a new block; of
 *					# several the last with devices counts
 *	      until: expression		# the line where a block ends; one
 *					# that `when` matches begins it again
 *	      ...
 *
 * Expressions are PCRE2's, without regard to case (expression.h). Those over
 * lines are matched at the first character of a line that is no blank; only
 * `when`, `from` and `until` may stand anywhere in it. What they read is told
 * by named groups (or by the keys of `fields`), which are these; the names of
 * groups that only serve an expression itself begin with '_':
 *
 *	device		the number by which the tool calls the device; where
 *			there is none devices are counted from 0
 *	part		the die or chip of a device: "4" and "0" are "4/0"
 *	bus_id, name, uuid, driver
 *	physical	a second number of the device: that of its node
 *	temp_c, power_w, power_cap_w, mem_used_mib, mem_total_mib, util_pct,
 *	mem_used_pct	a number with or without a unit, which is converted; a
 *			unit may stand in the name of a column or key, too:
 *			"Memory (B)". M, MB and MiB are all 2^20 bytes, as
 *			every tool means them. A memory total of 0 is none.
 *			Of "12 / 64 GB" the first is what is used, the second
 *			what there is; the same of power and its cap
 *
 * read: lines - boxed tables, logs, any lines:
 *	group: [expression, ...]	# a line with words for all devices
 *					# from it on
 *	device: [expression, ...]	# a line that begins a device
 *	more: [expression, ...]		# lines behind it; each counts once
 *
 * read: columns - a header, then a line per device. The header is the line
 * that `when` matches, and again whenever it matches again:
 *	separator: comma | blanks | bar	# blanks: two or more, or where that
 *					# does not fit, one or more
 *	fields: {word: expression or list of them over a column's whole name}
 *	row: expression			# lines that are rows; otherwise those
 *					# whose device is a number
 *	units: expression		# a line that holds the columns' units
 *
 * read: keys - "key: value" lines, in sections by their indent:
 *	device: [expression, ...]	# a line that begins a device; its group
 *					# _key catches a key and its value,
 *					# where each line names its device anew
 *	group: [expression, ...]	# a line with words for all devices
 *					# behind it
 *	fields: {word: expression or list}  # over "section/key"; of a list the
 *					# first counts that has a value. What
 *					# stands before the first device holds
 *					# for all
 * read: json - a JSON text, also behind lines that are none:
 *	device: [expression, ...]	# over the path of an object, as "GPU/0"
 *	fields: as above, over paths in the object; {"value": 1, "unit": "W"}
 *		is one value. Outside of all devices, over the whole path
 *
 * A reading that the text does not have, or has as one of the `na` words, with
 * a unit that is not known or beyond what can be (percents past 100, negative
 * power), is absent: never 0. A device that is told of again replaces what was
 * told before: the output of a tool that repeats itself is its last state.
 *
 * The text is from outside. NUL is read as a blank, CR LF and CR as an end of
 * line, escape sequences are left out, lines of more than SAMPLE_LINE_MAX bytes
 * are not looked at (but in JSON). Texts, devices, keys and processor time have
 * limits, which are errors in words.
 */
#ifndef PROTOCOL_HARDWARE_SAMPLE_H
#define PROTOCOL_HARDWARE_SAMPLE_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/yaml/value.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_TEXT_MAX 4194304 /* bytes of output looked at */
#define SAMPLE_LINE_MAX 4096    /* bytes of a line */
#define SAMPLE_DEVICES_MAX 256  /* rows of devices */
#define SAMPLE_WORD_MAX 64      /* bytes of a name, with the 0 */
#define SAMPLE_TIME_MS 2000     /* processor time for one text */
#define SAMPLE_LAYOUTS_MAX 32   /* of one monitor */

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

/* What one row says of one device. Words are "" where the text has none; they
 * are printable, and cut to fit.
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
	const char *layout; /* the one chosen; borrowed from the sampler */
};
void samples_clear(struct samples *samples);
OWNED_VALUE(struct samples, samples_clear)

struct sampler;

/* From the value of `monitor:` (or of another map with `layouts`), whose
 * document must outlive the sampler. Errors name file and line; a broken
 * expression also what PCRE2 says.
 */
struct sampler *sampler_new(const struct value *monitor, struct error *err);

/* Try each expression as expression_probe() does. */
int sampler_probe(const struct sampler *sampler, struct error *err);
void sampler_free(struct sampler *sampler);
OWNED_POINTER(struct sampler, sampler_free)

/* Read one whole output. EPROTO: no layout fits, or an expression met its
 * limit; E2BIG: larger than SAMPLE_TEXT_MAX, more devices than
 * SAMPLE_DEVICES_MAX, or more keys than can be meant; ETIMEDOUT: it took
 * SAMPLE_TIME_MS; ENOMEM. *samples is written only on success, and then has at
 * least one row.
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
