/* meaning.h - reads a log without rules for it: by the names and units of its
 * numbers (rules/lexicon.h).
 *
 * A line is a record if it names a step, and a loss or a rate. Lines in which a
 * step is not named count only as long as no line names one: then epochs are
 * the steps, else the lines are. What a line leaves open, such as the unit of
 * "time: 0.41", is kept as a metric under its own name, for open_figures.h.
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
	struct epoch_steps epochs;
	enum meaning_steps steps;
	/* Of the line with most values, as for learn.h: "loss=2.5". */
	struct strings example;
	/* The name that each role had first; "": none. */
	char names[MEANING_ROLES][MEANING_NAME_MAX + 1];
};

struct meaning;

/* lexicon is borrowed. NULL: ENOMEM. */
struct meaning *meaning_new(const struct lexicon *lexicon, struct error *err);
void meaning_free(struct meaning *meaning);

/* Read a line, without its prefix, whose clock is `stamp` (line.h; NaN:
 * none) and which this rank has printed (-1: unknown). As rules_match().
 */
int meaning_read(struct meaning *meaning, struct fields *names,
		 const char *text, size_t size, double stamp, int64_t rank,
		 rules_fn *fn, void *arg);

/* Does the next line belong to a table or a dict, whatever is in it? */
bool meaning_reads_all(const struct meaning *meaning);

const struct meaning_found *meaning_found(const struct meaning *meaning);
