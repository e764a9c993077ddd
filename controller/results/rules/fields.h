/* fields.h - numbers the names of captured values and converts texts to values.
 *
 * Some names are predefined: they fill the fields of struct record (record.h).
 * All other names are metrics.
 */
#pragma once

#include "controller/results/rules/log_rules.h"
#include "controller/results/rules/record.h"

#define FIELDS_MAX 192    /* names of a description and of one log */
#define FIELD_NAME_MAX 64 /* bytes in one */
#define FIELD_NONE UINT16_MAX

/* Names by number. Numbers below RECORD_FIELDS are an enum record_field; then
 * come the names of `base` (NULL: none), which must not change any more; then
 * `names`.
 */
struct fields {
	const struct fields *base;
	char *names[FIELDS_MAX];
	size_t count;
};

void fields_clear(struct fields *fields);

/* Find or add a name. 1: *field is its number; 0: not a valid name (1 to
 * FIELD_NAME_MAX printable ASCII characters), or too many names; -1: no memory.
 * *factor converts numbers of predefined names: multiply by it (iteration_s:
 * 1000); if it is negative, divide its absolute value by the number
 * (steps_per_second: -1000).
 */
int fields_add(struct fields *fields, const char *name, size_t size,
	       uint16_t *field, double *factor);
const char *fields_name(const struct fields *fields, uint16_t field);

/* How a text is converted to a value. */
enum value_form {
	FORM_NUMBER, /* a number, or true and false */
	FORM_TEXT,
	FORM_CLOCK,   /* H:MM:SS.ss or a plain number: seconds */
	FORM_FLAG,    /* true if the text is not empty */
	FORM_PERCENT, /* a fraction; becomes percent */
	FORM_SI,      /* 10.0k, 1.2M, 3B: a number with its decimal suffix */
	FORM_THOUSAND,
	FORM_MILLION,
	FORM_MILLI,   /* divided by 1000 */
	FORM_COUNTER, /* a growing number: the run's value is the last step's
		       */
	FORM_PACE, /* 8.2s/it, 1.7it/s, 933us/step, 30 ms: seconds per item */
};

/* The words of the forms, by enum value_form; ends in NULL. */
extern const char *const value_forms[];

enum captured_kind { CAPTURED_NUMBER, CAPTURED_BOOL, CAPTURED_TEXT };

struct captured_value {
	uint16_t field;
	enum captured_kind kind;
	double number;    /* of a bool: 0 or 1 */
	const char *text; /* borrowed from the record of the log */
	size_t size;
};

/* Convert text. False: it has not this form. */
bool value_from(struct captured_value *value, enum value_form form,
		const char *text, size_t size);
