/* sample_row.c - the row of a device: its words, numbers and units.
 */
#include "protocol/base/printable.h"
#include "protocol/base/utf8.h"
#include "protocol/hardware/sample_internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

/* clang-format off */
static const struct {
	const char *name;
	size_t offset; /* of a word in struct row */
} fields[FIELDS] = {
	[FIELD_DEVICE] = { "device", offsetof(struct row, sample.device) },
	[FIELD_PART] = { "part", offsetof(struct row, part) },
	[FIELD_BUS_ID] = { "bus_id", offsetof(struct row, sample.bus_id) },
	[FIELD_NAME] = { "name", offsetof(struct row, sample.name) },
	[FIELD_UUID] = { "uuid", offsetof(struct row, sample.uuid) },
	[FIELD_DRIVER] = { "driver", offsetof(struct row, sample.driver) },
	[FIELD_PHYSICAL] = { "physical",
			     offsetof(struct row, sample.physical) },
	[FIELD_READINGS + READING_TEMP_C] = { "temp_c", 0 },
	[FIELD_READINGS + READING_POWER_W] = { "power_w", 0 },
	[FIELD_READINGS + READING_POWER_CAP_W] = { "power_cap_w", 0 },
	[FIELD_READINGS + READING_MEM_USED_MIB] = { "mem_used_mib", 0 },
	[FIELD_READINGS + READING_MEM_TOTAL_MIB] = { "mem_total_mib", 0 },
	[FIELD_READINGS + READING_UTIL_PCT] = { "util_pct", 0 },
	[FIELD_READINGS + READING_MEM_USED_PCT] = { "mem_used_pct", 0 },
	[FIELD_READINGS + READING_CLOCK_MHZ] = { "clock_mhz", 0 },
	[FIELD_READINGS + READING_CLOCK_MAX_MHZ] = { "clock_max_mhz", 0 },
	[FIELD_READINGS + READING_THROTTLE_THERMAL_PCT] = {
		"throttle_thermal_pct", 0 },
	[FIELD_READINGS + READING_THROTTLE_POWER_PCT] = {
		"throttle_power_pct", 0 },
	[FIELD_READINGS + READING_THROTTLE_OTHER_PCT] = {
		"throttle_other_pct", 0 },
	[FIELD_READINGS + READING_ECC_CORRECTED] = { "ecc_corrected", 0 },
	[FIELD_READINGS + READING_ECC_UNCORRECTED] = { "ecc_uncorrected", 0 },
	[FIELD_READINGS + READING_REMAP_PENDING] = { "remap_pending", 0 },
	[FIELD_READINGS + READING_PCIE_GEN] = { "pcie_gen", 0 },
	[FIELD_READINGS + READING_PCIE_WIDTH] = { "pcie_width", 0 },
	[FIELD_READINGS + READING_LINK_ERRORS] = { "link_errors", 0 },
};

enum dimension {
	TEMPERATURE,
	POWER,
	MEMORY,
	PERCENT,
	CLOCK,
	SHARE, /* of time; of several causes the largest counts */
	COUNT,
	FLAG,
	GENERATION
};

enum half { NEITHER, FIRST, SECOND };

static const struct {
	double min, max; /* what can be */
	enum dimension dimension;
	enum half half; /* of "x / y", where both stand together */
} readings[READINGS] = {
	[READING_TEMP_C] = { -60, 250, TEMPERATURE, NEITHER },
	[READING_POWER_W] = { 0, 60000, POWER, FIRST },
	[READING_POWER_CAP_W] = { 0, 60000, POWER, SECOND },
	[READING_MEM_USED_MIB] = { 0, 1e9, MEMORY, FIRST },
	[READING_MEM_TOTAL_MIB] = { 0, 1e9, MEMORY, SECOND },
	[READING_UTIL_PCT] = { 0, 100, PERCENT, NEITHER },
	[READING_MEM_USED_PCT] = { 0, 100, PERCENT, NEITHER },
	[READING_CLOCK_MHZ] = { 0, 1e5, CLOCK, NEITHER },
	[READING_CLOCK_MAX_MHZ] = { 0, 1e5, CLOCK, NEITHER },
	[READING_THROTTLE_THERMAL_PCT] = { 0, 100, SHARE, NEITHER },
	[READING_THROTTLE_POWER_PCT] = { 0, 100, SHARE, NEITHER },
	[READING_THROTTLE_OTHER_PCT] = { 0, 100, SHARE, NEITHER },
	[READING_ECC_CORRECTED] = { 0, 1e15, COUNT, NEITHER },
	[READING_ECC_UNCORRECTED] = { 0, 1e15, COUNT, NEITHER },
	[READING_REMAP_PENDING] = { 0, 1, FLAG, NEITHER },
	[READING_PCIE_GEN] = { 1, 16, GENERATION, NEITHER },
	[READING_PCIE_WIDTH] = { 1, 64, COUNT, NEITHER },
	[READING_LINK_ERRORS] = { 0, 1e15, COUNT, NEITHER },
};

static const struct unit {
	enum dimension dimension;
	const char *word;
	double factor;
} units[] = {
	{ TEMPERATURE, "C", 1 },
	{ TEMPERATURE, "\302\260C", 1 },    /* degree sign */
	{ TEMPERATURE, "\302\260", 1 },
	{ TEMPERATURE, "\260C", 1 },        /* the same in Latin-1 */
	{ TEMPERATURE, "\342\204\203", 1 }, /* degree Celsius sign */
	{ TEMPERATURE, "'C", 1 },
	{ TEMPERATURE, "deg C", 1 },
	{ TEMPERATURE, "degC", 1 },
	{ TEMPERATURE, "Celsius", 1 },
	{ TEMPERATURE, "mC", 1e-3 },
	{ POWER, "W", 1 },
	{ POWER, "Watt", 1 },
	{ POWER, "Watts", 1 },
	{ POWER, "mW", 1e-3 },
	{ POWER, "uW", 1e-6 },
	{ POWER, "kW", 1e3 },
	{ MEMORY, "MiB", 1 },
	{ MEMORY, "MB", 1 },
	{ MEMORY, "M", 1 },
	{ MEMORY, "GiB", 1024 },
	{ MEMORY, "GB", 1024 },
	{ MEMORY, "G", 1024 },
	{ MEMORY, "KiB", 1.0 / 1024 },
	{ MEMORY, "KB", 1.0 / 1024 },
	{ MEMORY, "K", 1.0 / 1024 },
	{ MEMORY, "B", 1.0 / 1048576 },
	{ MEMORY, "Byte", 1.0 / 1048576 },
	{ MEMORY, "Bytes", 1.0 / 1048576 },
	{ MEMORY, "TiB", 1048576 },
	{ MEMORY, "TB", 1048576 },
	{ PERCENT, "%", 1 },
	{ PERCENT, "\357\274\205", 1 }, /* as wide as a Chinese character */
	{ PERCENT, "pct", 1 },
	{ PERCENT, "percent", 1 },
	{ CLOCK, "MHz", 1 },
	{ CLOCK, "GHz", 1e3 },
	{ CLOCK, "kHz", 1e-3 },
	{ CLOCK, "Hz", 1e-6 },
	{ SHARE, "%", 1 },
};

/* Words that are values. A generation of PCI Express is known by its speed. */
static const struct {
	enum dimension dimension;
	const char *word;
	double value;
} value_words[] = {
	{ SHARE, "Active", 100 },
	{ SHARE, "Not Active", 0 },
	{ FLAG, "Yes", 1 },
	{ FLAG, "No", 0 },
	{ GENERATION, "2.5 GT/s", 1 },
	{ GENERATION, "2.5 GT/s PCIe", 1 },
	{ GENERATION, "5 GT/s", 2 },
	{ GENERATION, "5.0 GT/s PCIe", 2 },
	{ GENERATION, "8 GT/s", 3 },
	{ GENERATION, "8.0 GT/s PCIe", 3 },
	{ GENERATION, "16 GT/s", 4 },
	{ GENERATION, "16.0 GT/s PCIe", 4 },
	{ GENERATION, "32 GT/s", 5 },
	{ GENERATION, "32.0 GT/s PCIe", 5 },
	{ GENERATION, "64 GT/s", 6 },
	{ GENERATION, "64.0 GT/s PCIe", 6 },
};
/* clang-format on */

#define UNITS (sizeof(units) / sizeof(units[0]))
#define WORDS (sizeof(value_words) / sizeof(value_words[0]))

const char *field_name(unsigned field)
{
	return fields[field].name;
}

bool field_named(const char *name, unsigned *field)
{
	for (unsigned i = 0; i < FIELDS; i++) {
		if (!strcmp(fields[i].name, name)) {
			*field = i;
			return true;
		}
	}
	return false;
}

/* Values may be quoted. */
static struct sample_text sample_value_trim(struct sample_text text)
{
	return text_trim(text, " \t\"'");
}

static bool sample_text_is_word(struct sample_text text, const char *word)
{
	return strlen(word) == text.size &&
	       !strncasecmp(word, text.data, text.size);
}

static bool says_nothing(const struct run *run, struct sample_text text)
{
	if (!text.size)
		return true;
	for (size_t i = 0; i < run->sampler->na.count; i++)
		if (sample_text_is_word(text, run->sampler->na.items[i]))
			return true;
	return false;
}

static const struct unit *unit_find(enum dimension dimension,
				    struct sample_text text)
{
	for (size_t i = 0; i < UNITS; i++)
		if (units[i].dimension == dimension &&
		    sample_text_is_word(text, units[i].word))
			return &units[i];
	return NULL;
}

/* The unit in the last brackets: "Memory (B)", "memory.used [MiB]". */
static const struct unit *unit_in_name(enum dimension dimension,
				       struct sample_text name)
{
	size_t end = name.size, at;

	while (end && name.data[end - 1] != ')' && name.data[end - 1] != ']')
		end--;
	if (!end)
		return NULL;
	for (at = --end;
	     at && name.data[at - 1] != '(' && name.data[at - 1] != '[';)
		at--;
	return unit_find(dimension, sample_value_trim((struct sample_text){
					    name.data + at, end - at }));
}

/* Digits with a point and an exponent, as far as they go; 0: none. */
static size_t sample_measure_number(const char *text, size_t size)
{
	size_t at = size && (text[0] == '-' || text[0] == '+'), digits = at;

	while (at < size && isdigit((unsigned char)text[at]))
		at++;
	if (at == digits)
		return 0;
	if (at + 1 < size && text[at] == '.' &&
	    isdigit((unsigned char)text[at + 1]))
		for (at++; at < size && isdigit((unsigned char)text[at]);)
			at++;
	return at;
}

/* The size of the number at the start, and the text behind it. */
static size_t split_number(struct sample_text text, struct sample_text *behind)
{
	size_t size = sample_measure_number(text.data, text.size);

	*behind = sample_value_trim(
		(struct sample_text){ text.data + size, text.size - size });
	return size;
}

/* The half of "x / y" that belongs to the reading. If x has no unit, it has
 * that of y.
 */
static struct sample_text choose_half(enum reading reading,
				      struct sample_text text,
				      struct sample_text *unit)
{
	const char *slash = memrchr(text.data, '/', text.size);
	struct sample_text half = text;

	if (!slash || readings[reading].half == NEITHER)
		return text;
	half.data = slash + 1;
	half.size = (size_t)(text.data + text.size - half.data);
	half = sample_value_trim(half);
	split_number(half, unit);
	if (readings[reading].half == SECOND)
		return half;
	return sample_value_trim(
		(struct sample_text){ text.data, (size_t)(slash - text.data) });
}

static bool sample_row_read_word(enum dimension dimension,
				 struct sample_text text, double *number)
{
	for (size_t i = 0; i < WORDS; i++)
		if (value_words[i].dimension == dimension &&
		    sample_text_is_word(text, value_words[i].word)) {
			*number = value_words[i].value;
			return true;
		}
	return false;
}

static bool sample_row_read_number(enum reading reading,
				   struct sample_text text,
				   const struct sample_text *name,
				   double *number)
{
	enum dimension dimension = readings[reading].dimension;
	struct sample_text behind, shared = { "", 0 };
	const struct unit *unit = NULL;
	char copy[64];
	size_t size;

	if (sample_row_read_word(dimension, text, number))
		return true;
	text = choose_half(reading, text, &shared);
	size = split_number(text, &behind);
	if (!size || size >= sizeof(copy))
		return false;
	memcpy(copy, text.data, size);
	copy[size] = 0;
	if (!behind.size)
		behind = shared;
	if (behind.size) {
		unit = unit_find(dimension, behind);
		if (!unit)
			return false;
	} else if (name) {
		unit = unit_in_name(dimension, *name);
	}
	*number = strtod(copy, NULL) * (unit ? unit->factor : 1);
	return *number >= readings[reading].min &&
	       *number <= readings[reading].max;
}

static bool sample_row_put_word(struct row *row, unsigned field,
				struct sample_text text)
{
	char *word = (char *)row + fields[field].offset;
	size_t size;

	/* "card0" and "GPU 0" are number 0. */
	if (field == FIELD_DEVICE || field == FIELD_PART) {
		while (text.size && !isdigit((unsigned char)text.data[0])) {
			text.data++;
			text.size--;
		}
		if (!text.size)
			return false;
	}
	size = text.size < SAMPLE_WORD_MAX
		       ? text.size
		       : utf8_cut(text.data, SAMPLE_WORD_MAX - 1);
	memcpy(word, text.data, size);
	memset(word + size, 0, SAMPLE_WORD_MAX - size);
	printable(word, size);
	return true;
}

/* Does the row still take a value of this rank for the field? */
static bool row_is_open(const struct row *row, unsigned field, unsigned rank)
{
	bool shares = field >= FIELD_READINGS &&
		      readings[field - FIELD_READINGS].dimension == SHARE;

	return !row->rank[field] || row->rank[field] > rank ||
	       (shares && row->rank[field] == rank);
}

bool row_put(const struct run *run, struct row *row, unsigned field,
	     unsigned rank, struct sample_text text,
	     const struct sample_text *unit)
{
	double number;

	text = sample_value_trim(text);
	if (!row_is_open(row, field, rank) || says_nothing(run, text))
		return false;
	if (field < FIELD_READINGS) {
		if (!sample_row_put_word(row, field, text))
			return false;
	} else {
		enum reading reading = (enum reading)(field - FIELD_READINGS);

		if (!sample_row_read_number(reading, text, unit, &number))
			return false;
		if (row->rank[field] == rank &&
		    number < row->sample.value[reading])
			return false;
		row->sample.value[reading] = number;
		row->sample.has |= 1u << reading;
	}
	row->rank[field] = (uint8_t)rank;
	return true;
}

void row_put_groups(const struct run *run, struct row *row,
		    const struct expression *expression)
{
	for (size_t i = 0; i < expression_groups(expression); i++) {
		unsigned field;
		struct sample_text text;

		if (field_named(expression_group_name(expression, i), &field) &&
		    expression_caught(expression, i, &text.data, &text.size))
			row_put(run, row, field, 1, text, NULL);
	}
}

int row_put_key(struct run *run, struct row *row, struct sample_text key,
		struct sample_text value, struct error *err)
{
	if (++run->keys > SAMPLE_KEYS_MAX)
		return error_set(err, E2BIG, "more than %d keys",
				 SAMPLE_KEYS_MAX);
	for (unsigned field = 0; field < FIELDS; field++) {
		const struct expressions *names = &run->layout->fields[field];

		for (size_t i = 0; i < names->count; i++) {
			int rc;

			if (!row_is_open(row, field, (unsigned)i + 1))
				break;
			rc = run_match(run, names->list[i], key,
				       EXPRESSION_WHOLE, err);
			if (rc < 0)
				return -1;
			if (rc)
				row_put(run, row, field, (unsigned)i + 1, value,
					&key);
		}
	}
	return 0;
}

struct row *run_row(struct run *run, const struct row *words, struct error *err)
{
	struct row *row = &run->rows[run->count];

	if (run->count == SAMPLE_DEVICES_MAX)
		return error_null(error_set(err, E2BIG, "more than %d devices",
					    SAMPLE_DEVICES_MAX));
	if (words)
		*row = *words;
	else
		memset(row, 0, sizeof(*row));
	run->count++;
	return row;
}

/* A memory total of 0 is none. A device's number includes its part. */
static void sample_row_complete(struct row *row)
{
	struct device_sample *sample = &row->sample;
	unsigned total = 1u << READING_MEM_TOTAL_MIB;
	size_t size = strlen(sample->device);

	if ((sample->has & total) && sample->value[READING_MEM_TOTAL_MIB] <= 0)
		sample->has &= ~(total | 1u << READING_MEM_USED_MIB);
	if (*sample->device && *row->part) {
		snprintf(sample->device + size, sizeof(sample->device) - size,
			 "/%s", row->part);
		*row->part = 0;
	}
}

void run_row_end(struct run *run)
{
	struct row *last = run->count ? &run->rows[run->count - 1] : NULL;

	if (!last)
		return;
	sample_row_complete(last);
	for (size_t i = 0; *last->sample.device && i + 1 < run->count; i++) {
		struct device_sample *sample = &run->rows[i].sample;

		if (!strcmp(sample->device, last->sample.device) &&
		    !strcmp(sample->bus_id, last->sample.bus_id)) {
			run->rows[i] = *last;
			run->count--;
			return;
		}
	}
}

const char *reading_name(enum reading reading)
{
	return (unsigned)reading < READINGS
		       ? fields[FIELD_READINGS + reading].name
		       : NULL;
}
