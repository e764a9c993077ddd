/* values.h - the values that a record takes from a line, and what the lines of
 * a log show together.
 */
#pragma once

#include "controller/results/meaning/epoch_steps.h"
#include "controller/results/meaning/line.h"
#include "controller/results/rules/rules.h"

#define MEANING_OPEN_MAX 4
#define MEANING_NAME_MAX LINE_NAME_MAX

/* Why the number of a step is what it is, from the surest. */
enum meaning_steps {
	STEPS_NAMED,
	STEPS_EPOCHS,  /* each epoch counts as one step */
	STEPS_COUNTED, /* each line does */
	MEANING_STEPS
};

/* A number whose meaning the names leave open. */
struct meaning_open {
	char name[MEANING_NAME_MAX + 1]; /* of the metric */
	uint16_t field;
	enum meaning_role role; /* ROLE_STEP_TIME, ROLE_TIME, ROLE_RATE */
	double unit_s;          /* of a time, in seconds; NaN: open */
};

/* When the line of a step was printed, by its own clock. */
struct meaning_clock {
	uint64_t step;
	double seconds;
};

/* What was found so far. */
struct meaning_found {
	struct meaning_open open[MEANING_OPEN_MAX];
	size_t open_count;
	struct meaning_clock *clocks;
	size_t clock_count;
	bool fractions;    /* its clocks have fractions of seconds */
	bool data_time;    /* a time of data stands beside `time` */
	bool scope_open;   /* a rate says not whether it is of all devices */
	bool decimal;      /* a memory is in MB or GB */
	bool nameless;     /* what is taken as its steps has no name */
	bool loss_sure;    /* a name says that it is the loss */
	bool loss_guessed; /* what is taken as it may be a part of it */
	bool loss_parts;   /* lines have several parts of it, and no sum */
	struct epoch_steps epochs;
	enum meaning_steps steps;
	/* Of the line with most values, as for learn.h: "loss=2.5". */
	struct strings example;
	/* The name that each role had first; "": none. */
	char names[MEANING_ROLES][MEANING_NAME_MAX + 1];
};

#define LINE_VALUES_TAKEN 14 /* that have a name of their own */

struct line_values {
	struct captured captured; /* of the last line; the caller sets rule */
	/* Their fields, and that of a share of epochs; FIELD_NONE: not known
	 * yet.
	 */
	uint16_t fields[LINE_VALUES_TAKEN];
	uint16_t share;
	size_t example_count; /* values of the line of the example */
};

void line_values_init(struct line_values *values);

/* Take the values of a line that is complete, and add to what was found. step
 * is not used where steps are counted. example: the line may be kept as one.
 * -1: no memory.
 */
int line_values_put(struct line_values *values, struct meaning_found *found,
		    struct fields *names, const struct line_reading *line,
		    enum meaning_steps steps, uint64_t step, bool example);

/* Keep the first name of a role. */
void line_values_name(struct meaning_found *found, const struct line_pick *pick,
		      enum meaning_role role);
