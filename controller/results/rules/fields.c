/* fields.c - numbers the names of captured values and converts texts to values.
 */
#include "controller/results/rules/fields.h"

#include "controller/results/rules/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char *const value_forms[] = {
	"number",   "text",    "clock", "flag",    "percent", "si",
	"thousand", "million", "milli", "counter", "pace",    NULL,
};

/* clang-format off */
static const struct known {
	const char *name;
	enum record_field field;
	double factor;
} known[] = {
	{ "step", RECORD_STEP, 1 },
	{ "steps", RECORD_STEPS, 1 },
	{ "loss", RECORD_LOSS, 1 },
	{ "iteration_ms", RECORD_ITERATION_MS, 1 },
	{ "iteration_s", RECORD_ITERATION_MS, 1000 },
	{ "steps_per_second", RECORD_ITERATION_MS, -1000 },
	{ "tokens_per_second", RECORD_TOKENS_PER_SECOND, 1 },
	{ "samples_per_second", RECORD_SAMPLES_PER_SECOND, 1 },
	{ "tokens_per_second_per_device", RECORD_TOKENS_PER_DEVICE, 1 },
	{ "memory_mib", RECORD_MEMORY_MIB, 1 },
	{ "memory_gib", RECORD_MEMORY_MIB, 1024 },
	{ "memory_gb", RECORD_MEMORY_MIB, 1e9 / 1048576 },
	{ "rank", RECORD_RANK, 1 },
	{ "finished", RECORD_FINISHED, 1 },
};
/* clang-format on */

#define KNOWN (sizeof(known) / sizeof(known[0]))

void fields_clear(struct fields *fields)
{
	for (size_t i = 0; i < fields->count; i++)
		free(fields->names[i]);
	fields->count = 0;
}

static bool same(const char *name, const char *text, size_t size)
{
	return !strncmp(name, text, size) && !name[size];
}

static bool field_name_valid(const char *name, size_t size)
{
	if (!size || size > FIELD_NAME_MAX)
		return false;
	for (size_t i = 0; i < size; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	return true;
}

static bool find_own(const struct fields *fields, size_t base, const char *name,
		     size_t size, uint16_t *field)
{
	for (size_t i = 0; i < fields->count; i++)
		if (same(fields->names[i], name, size)) {
			*field = (uint16_t)(RECORD_FIELDS + base + i);
			return true;
		}
	return false;
}

int fields_add(struct fields *fields, const char *name, size_t size,
	       uint16_t *field, double *factor)
{
	size_t base = fields->base ? fields->base->count : 0;

	*factor = 1;
	if (!field_name_valid(name, size))
		return 0;
	for (size_t i = 0; i < KNOWN; i++)
		if (same(known[i].name, name, size)) {
			*field = (uint16_t)known[i].field;
			*factor = known[i].factor;
			return 1;
		}
	if (fields->base && find_own(fields->base, 0, name, size, field))
		return 1;
	if (find_own(fields, base, name, size, field))
		return 1;
	if (fields->count == FIELDS_MAX)
		return 0;
	fields->names[fields->count] = strndup(name, size);
	if (!fields->names[fields->count])
		return -1;
	*field = (uint16_t)(RECORD_FIELDS + base + fields->count++);
	return 1;
}

const char *record_field_name(enum record_field field)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (known[i].field == field)
			return known[i].name;
	return "";
}

const char *fields_name(const struct fields *fields, uint16_t field)
{
	size_t base = fields->base ? fields->base->count : 0;

	if (field >= RECORD_FIELDS + base)
		return fields->names[field - RECORD_FIELDS - base];
	if (field >= RECORD_FIELDS)
		return fields->base->names[field - RECORD_FIELDS];
	return record_field_name((enum record_field)field);
}

static bool field_read_number(const char *text, size_t size, double *number)
{
	return size && number_read(text, size, number) == size;
}

/* True, False, true, false. */
static bool read_bool(const char *text, size_t size, double *number)
{
	if (size == 4 && !strncasecmp(text, "true", 4))
		*number = 1;
	else if (size == 5 && !strncasecmp(text, "false", 5))
		*number = 0;
	else
		return false;
	return true;
}

/* [[H:]M:]S: every part but the last is whole. */
static bool read_clock(const char *text, size_t size, double *seconds)
{
	double total = 0, part;

	for (int parts = 0; parts < 3; parts++) {
		const char *colon = memchr(text, ':', size);
		size_t length = colon ? (size_t)(colon - text) : size;

		if (!field_read_number(text, length, &part) || !(part >= 0))
			return false;
		total = total * 60 + part;
		if (!colon) {
			*seconds = total;
			return true;
		}
		text += length + 1;
		size -= length + 1;
	}
	return false;
}

struct unit {
	const char *text;
	double factor;
};

/* The whole text as a number with a unit. */
static bool read_unit(const struct unit *units, size_t count, const char *text,
		      size_t size, double *number)
{
	size_t digits = size;

	while (digits && isalpha((unsigned char)text[digits - 1]))
		digits--;
	for (size_t i = 0; i < count; i++)
		if (same(units[i].text, text + digits, size - digits)) {
			while (digits && text[digits - 1] == ' ')
				digits--;
			if (!field_read_number(text, digits, number))
				return false;
			*number *= units[i].factor;
			return true;
		}
	return false;
}

static bool read_si(const char *text, size_t size, double *number)
{
	static const struct unit units[] = {
		{ "", 1 },    { "k", 1e3 }, { "K", 1e3 },  { "M", 1e6 },
		{ "G", 1e9 }, { "B", 1e9 }, { "T", 1e12 },
	};

	return read_unit(units, sizeof(units) / sizeof(units[0]), text, size,
			 number);
}

static bool read_pace(const char *text, size_t size, double *seconds)
{
	static const struct unit units[] = {
		{ "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 },
		{ "sec", 1 },   { "m", 60 },    { "min", 60 },  { "h", 3600 },
	};
	const char *mark = memchr(text, '/', size);
	size_t head = mark ? (size_t)(mark - text) : size;
	size_t digits = head;

	if (!mark || size - head != 2 || mark[1] != 's')
		return read_unit(units, sizeof(units) / sizeof(units[0]), text,
				 head, seconds);
	/* it/s, steps/s: a rate. */
	while (digits && isalpha((unsigned char)text[digits - 1]))
		digits--;
	while (digits && text[digits - 1] == ' ')
		digits--;
	if (!field_read_number(text, digits, seconds) || !(*seconds > 0))
		return false;
	*seconds = 1 / *seconds;
	return true;
}

/* A number in one of the special forms; false: it is none. */
static bool field_read_form(enum value_form form, const char *text, size_t size,
			    double *number)
{
	switch (form) {
	case FORM_SI:
		return read_si(text, size, number);
	case FORM_PACE:
		return read_pace(text, size, number);
	case FORM_CLOCK:
		return read_clock(text, size, number);
	default:
		break;
	}
	if (!field_read_number(text, size, number))
		return false;
	*number *= form == FORM_PERCENT    ? 100
		   : form == FORM_THOUSAND ? 1e3
		   : form == FORM_MILLION  ? 1e6
		   : form == FORM_MILLI    ? 1e-3
					   : 1;
	return true;
}

bool value_from(struct captured_value *value, enum value_form form,
		const char *text, size_t size)
{
	value->kind = CAPTURED_NUMBER;
	value->text = text;
	value->size = size;
	if (form == FORM_FLAG) {
		value->kind = CAPTURED_BOOL;
		value->number = 1;
		return size > 0;
	}
	if (form == FORM_CLOCK || form >= FORM_PERCENT) {
		value->number = NAN;
		return field_read_form(form, text, size, &value->number);
	}
	if (form == FORM_TEXT) {
		value->kind = CAPTURED_TEXT;
		return true;
	}
	if (field_read_number(text, size, &value->number))
		return true;
	value->kind = CAPTURED_BOOL;
	return read_bool(text, size, &value->number);
}
