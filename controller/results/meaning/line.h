/* line.h - what the numbers of one line mean together.
 */
#pragma once

#include "controller/results/meaning/notation.h"

#include <stdbool.h>
#include <stddef.h>

/* The time of day that a line, or its prefix, was printed at. */

/* The first clock of the text, "... 09:12:16,111 ...", in seconds of the day;
 * NaN: none. *fraction becomes true if it has fractions of a second.
 */
double line_clock(const char *text, size_t size, bool *fraction);

#define LINE_NAME_MAX 40 /* bytes of a name that are kept */
#define LINE_COUNTERS 4

/* What a record of a line has. */
enum line_value {
	LINE_STEP,
	LINE_BATCH, /* a step within an epoch */
	LINE_EPOCH,
	LINE_SAMPLES_DONE, /* of an epoch: 640/60000 (1%) */
	LINE_LOSS,
	LINE_MS,
	LINE_TOKENS,
	LINE_TOKENS_PER_DEVICE,
	LINE_SAMPLES,
	LINE_SAMPLES_PER_DEVICE,
	LINE_MEMORY,
	LINE_LR,
	LINE_GRAD_NORM,
	LINE_ACCURACY,
	LINE_GLOBAL_BATCH,
	LINE_CONSUMED_SAMPLES,
	LINE_CONSUMED_TOKENS,
	LINE_DATA_TIME,
	LINE_CLOCK,
	LINE_OPEN_STEP_TIME,
	LINE_OPEN_TIME,
	LINE_OPEN_RATE,
	LINE_VALUES
};

struct line_pick {
	bool has;
	unsigned rank; /* of its name: the lower the surer */
	double number;
	double total;  /* NaN: none */
	double unit_s; /* of an open time; NaN: open */
	bool scoped;   /* of a rate: it says of how many devices */
	bool decimal;  /* of a memory: MB, not MiB; of an epoch: it has a point
			*/
	bool label;    /* it stands before the line as ranks do */
	char name[LINE_NAME_MAX]; /* not ended */
	size_t name_size;
	const char *text; /* the number as printed, in the line */
	size_t text_size;
	enum meaning_role role;
};

struct line_reading {
	struct line_pick picks[LINE_VALUES];
	struct line_pick unnamed[2]; /* ratios in brackets */
	size_t unnamed_count;
	struct line_pick alone[2]; /* [100], or [1, 2000] */
	size_t alone_count;
	/* Whole numbers of which no name says what they count. */
	struct line_pick counters[LINE_COUNTERS];
	size_t counter_count;
	struct line_pick of_train; /* "train 1.75", and nothing more */
	bool of_other;             /* a "valid 1.80" stands beside it */
	bool starts;               /* a whole number without a name begins it */
	bool percent;              /* the last number is in percent */
	bool trains;               /* a word says that it is of the training */
	bool evaluates;            /* so does any value of an evaluation */
	unsigned numbers;          /* of the line */
	unsigned bare_times;       /* of them, in ms, without a name */
	bool parts;                /* several losses that may be parts of one */
	bool alone_open; /* alone[0] stands, its bracket is not closed */
	bool leads;      /* the first ratio is "(0/4)", before all names */
	bool nameless;   /* its step has no name and may be no step */
	bool loss_next;  /* the next number is the loss "at step 10" */
	int64_t rank;    /* that printed it; -1: unknown */
	bool other;      /* the whole line is of an evaluation or the like */
	bool section;    /* the current part of it is */
	bool bar;
	double bar_clock; /* in seconds */
	bool drawn;       /* it has a bar of signs, without that clock */
	/* Called when another record begins in the same line. */
	void (*flush)(void *arg);
	void *flush_arg;
};

void line_begin(struct line_reading *line);

/* The line's text goes: values that are kept have none any more. */
void line_forget_text(struct line_reading *line);

/* A notation_fn; arg is the line. */
notation_fn line_take;

/* All numbers are there: choose the step. */
void line_end(struct line_reading *line);

/* Its rank may be no rank, but count the lines. */
void line_put_label(struct line_reading *line);

/* Does it say where in the training it is? */
bool line_has_place(const struct line_reading *line);

/* Has its step a name, so that it is more than a ratio? */
bool line_names_step(const struct line_reading *line);

/* Does its step count over all epochs? A ratio beside it has an epoch's total,
 * "epoch 5, 20/300, step 1220".
 */
bool line_step_is_over_all(const struct line_reading *line);

/* Is its epoch a number of them, "epochs: 200", a setting? */
bool line_counts_epochs(const struct line_reading *line);

/* Is it a bar of which nothing is done, "0/90 [00:09<?"? */
bool line_bar_is_empty(const struct line_reading *line);

/* Is its loss one by its name? Else it may be a part of it. */
bool line_loss_is_sure(const struct line_reading *line);

/* Has it any value beside a step or an epoch? */
bool line_has_any(const struct line_reading *line);

/* Has it a time of a step, or a rate? */
bool line_has_rate(const struct line_reading *line);

/* Has it a value that only a training step has? */
bool line_measures(const struct line_reading *line);
