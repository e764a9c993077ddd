/* fields.h - the names under which rules catch values, and texts to values.
 *
 * A few names are known: they fill the fields of struct record (record.h).
 * All others are names of their own: metrics.
 */
#ifndef CONTROLLER_RESULTS_RULES_FIELDS_H
#define CONTROLLER_RESULTS_RULES_FIELDS_H

#include "controller/results/rules/log_rules.h"
#include "controller/results/rules/record.h"

#define FIELDS_MAX 192    /* names in a description, with those it meets */
#define FIELD_NAME_MAX 64 /* bytes in one */
#define FIELD_NONE UINT16_MAX

/* Names by number. Those below RECORD_FIELDS are an enum record_field; then
 * come those of `base` (NULL: none), which does not change any more, and then
 * one's own.
 */
struct fields {
	const struct fields *base;
	char *names[FIELDS_MAX];
	size_t count;
};

void fields_clear(struct fields *fields);

/* The number of a name, new ones are added: 1; 0: it is no name (1 to
 * FIELD_NAME_MAX printable ASCII characters) or there are too many; -1: no
 * memory. *factor is what a number under a known name is to be multiplied
 * with: 1000 for iteration_s. A factor below 0 is to be divided by the number,
 * without its sign: -1000 for steps_per_second.
 */
int fields_add(struct fields *fields, const char *name, size_t size,
	       uint16_t *field, double *factor);
const char *fields_name(const struct fields *fields, uint16_t field);

/* How a text becomes a value. */
enum value_form {
	FORM_NUMBER, /* a number, or true and false */
	FORM_TEXT,
	FORM_CLOCK,   /* H:MM:SS.ss or a plain number: seconds */
	FORM_FLAG,    /* true, if there is any text */
	FORM_ANY,     /* a number if it is one, else text */
	FORM_PERCENT, /* a share of 1: in percent */
	FORM_SI,      /* 10.0k, 1.2M, 3B: a number with its decimal suffix */
	FORM_THOUSAND,
	FORM_MILLION,
	FORM_MILLI,   /* in thousandths */
	FORM_COUNTER, /* a number that grows: of all steps the last one counts
		       */
	FORM_PACE,    /* 8.2s/it, 1.7it/s, 933us/step, 30 ms: seconds for one */
};

/* The forms' words, in their order; ends in NULL. */
extern const char *const value_forms[];

enum caught_kind { CAUGHT_NUMBER, CAUGHT_BOOL, CAUGHT_TEXT };

struct caught_value {
	uint16_t field;
	enum caught_kind kind;
	double number;    /* of a bool: 0 or 1 */
	const char *text; /* borrowed from the record of the log */
	size_t size;
};

/* False: the text is no such value. */
bool value_from(struct caught_value *value, enum value_form form,
		const char *text, size_t size);

#endif
