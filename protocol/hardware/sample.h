/* sample.h - reads values per device from the output of a vendor's monitor
 * tool.
 *
 * A sampler is compiled from the `monitor:` section of a vendor profile (only
 * its keys `na` and `layouts`; profile.h describes the others). One tool prints
 * several layouts (by version, by option, in a log that another monitor kept).
 * Each is an entry of `layouts`. They are tried in order; the first that finds
 * a device is used.
 *
 *	monitor:
 *	  na: ["N/A", "[N/A]", NA, "-"]	# words for "not known", in any case
 *	  layouts:
 *	    - name: table
 *	      read: lines | columns | keys | json
 *	      when: expression		# one line must match it; optional
 *	      all: [expression, ...]	# lines with words for all devices
 *	      from: expression		# a line that begins a block; the last
 *				# block with devices counts
 *	      until: expression		# the line that ends a block; one that
 *				# `when` matches begins it again
 *	      ...
 *
 * Expressions are those of expression.h. They are matched at the first
 * character of a line that is no blank; only `when`, `from` and `until` are
 * searched for in the whole line. Named groups (or the keys of `fields`) say
 * what is read. A group whose name begins with '_' only serves its expression.
 * The names are:
 *
 *	device		the tool's number of the device; without it devices
 *			are counted from 0
 *	part		the die or chip of a device: "4" and "0" are "4/0"
 *	bus_id, name, uuid, driver
 *	physical	a second number of the device: that of its device node
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
 * A reading is absent, never 0, if the text lacks it, has an `na` word or an
 * unknown unit, or gives an impossible value (more than 100 percent, negative
 * power). If a device appears again, its later values replace the earlier ones.
 *
 * The text is not trusted. NUL is read as a blank, CR LF and CR as an end of
 * line. Escape sequences are removed, and lines longer than SAMPLE_LINE_MAX
 * bytes are skipped (except in JSON). The size of the text, the numbers of
 * devices and keys, and the CPU time are limited; see sampler_read().
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

#endif
