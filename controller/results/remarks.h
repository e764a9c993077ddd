/* remarks.h - what is said about a result: codes, numbers and words, and the
 * sentence of each in any language.
 *
 * A remark is stored and sent as its code and its arguments (struct remark);
 * the sentence is made where it is shown. The table of sentences is in
 * remarks.c. In a sentence stand
 *
 *	{0}	the first number, as short as it is exact
 *	{1.2}	the second number, with two digits after the point
 *	{a}	the first word, {b} the second one
 *	[...]	is left out when an argument in it is missing
 *
 * A remark with only a text is that text, in every language.
 */
#pragma once

#include "controller/results/language.h"
#include "protocol/message/result.h"

enum remark_code {
	/* Of the steps. */
	REMARK_END_UNREPORTED,
	REMARK_END_REPORTED, /* step, steps */
	REMARK_LOG_ENDS,     /* step, steps */
	REMARK_SLOWDOWN,     /* step, ms */
	REMARK_IMPOSSIBLE_TIMES,
	REMARK_IMPOSSIBLE_RATES,
	REMARK_ONE_STEP,
	REMARK_UNSETTLED,
	REMARK_SLOW_STEPS,      /* slow, of all */
	REMARK_LONGER_THAN_JOB, /* from, to, ms, s, s of the job */
	REMARK_WIDE_SPREAD,     /* q1, q3, median */
	REMARK_EPOCH_SHARES,
	REMARK_EPOCH_BARS,
	REMARK_RUNS_MIXED,
	REMARK_ARRIVAL, /* ms, error */
	/* Of figures that cannot be. */
	REMARK_LOSS,              /* loss as a word; step, steps */
	REMARK_IMPOSSIBLE_MFU,    /* percent */
	REMARK_IMPOSSIBLE_PALM,   /* percent */
	REMARK_IMPOSSIBLE_HFU,    /* percent */
	REMARK_IMPOSSIBLE_MEMORY, /* MiB, MiB of the device */
	REMARK_SIMULATED,
	/* Of two sources: the one, the other, up to (or missing). */
	REMARK_TOKENS_DIFFER,
	REMARK_SAMPLES_DIFFER,
	REMARK_ARRIVAL_DIFFERS,
	REMARK_BATCH_DIFFERS,
	REMARK_SAMPLES_GROW,
	REMARK_TOKENS_GROW,
	REMARK_TOKENS_STATED,
	REMARK_TFLOPS_DIFFER,
	REMARK_MFU_DIFFERS,
	/* Of samples: node; device. */
	REMARK_NEVER_SAMPLED,
	REMARK_NOT_SAMPLED, /* s */
	REMARK_MORE_GAPS,   /* devices */
	/* Device, value, length of the steady state in s (or missing); node. */
	REMARK_THROTTLED_THERMAL,
	REMARK_THROTTLED_POWER,
	REMARK_THROTTLED_OTHER,
	REMARK_ECC_CORRECTED,
	REMARK_ECC_UNCORRECTED,
	REMARK_LINK_ERRORS,
	REMARK_REMAP_PENDING,
	REMARK_CLOCK_BELOW,
	REMARK_NET_ERRORS,      /* errors; node, as the next ones */
	REMARK_NET_RETRANSMITS, /* packets */
	/* Percent, peers, percent of power, percent of time; who. */
	REMARK_SLOWER,
	REMARK_SLOWER_AT_TIMES,
	REMARK_MORE_ALIKE,        /* devices or nodes */
	REMARK_FEW_POWER_SAMPLES, /* samples, least that is enough */
	REMARK_MONITOR,           /* node, text */
	/* Of nodes: their values. */
	REMARK_DRIVERS_DIFFER,
	REMARK_CHIPS_DIFFER,
	REMARK_NODE,          /* node, its warning */
	REMARK_REJECTED,      /* nodes */
	REMARK_STRAGGLER,     /* the verdict of stacks.h */
	REMARK_LAST_TO_ENTER, /* that of flights_last() */
	/* Of the log's format. */
	REMARK_FORMATS_TIED,
	REMARK_LINE_UNREAD, /* the line */
	REMARK_LAST_LINE_OPEN,
	REMARK_LEARN,
	REMARK_RULES_SLOW,
	REMARK_FILES_UNREAD, /* files */
	REMARK_COARSE,       /* numbers of steps; steps that are kept */
	/* Of a log that was read by meaning. */
	REMARK_BY_MEANING, /* names that were taken */
	REMARK_STEPS_EPOCHS,
	REMARK_STEPS_COUNTED,
	REMARK_STEPS_NAMELESS,
	REMARK_LOSS_GUESSED, /* its name */
	REMARK_LOSS_PARTS,
	REMARK_BEGINS_LATE,
	REMARK_EPOCHS_GUESSED,
	REMARK_FIGURE_OPEN, /* its name */
	REMARK_SCOPE_OPEN,
	REMARK_MEMORY_UNIT,
	REMARK_CLOCK_DIFFERS, /* ms, ms by the clock */
	/* Of a cell and its neighbours. */
	REMARK_REPEATS_DIFFER, /* repeats, percent, limit */
	REMARK_SEEDS_EQUAL,    /* repeats; seed */
	REMARK_RATE_ABOVE,     /* times; neighbour */
	REMARK_RATE_BELOW,     /* times; neighbour */
	REMARKS
};

#define REMARK_NUMBERS_MAX 5
#define REMARK_WORDS_MAX 2
#define REMARK_TEXT_MAX 1024 /* bytes of a sentence */

/* A remark as it is made. Numbers and words that its sentence does not have are
 * ignored, a number that is not finite and those after it are missing.
 */
struct remark_said {
	enum remark_code code;
	double numbers[REMARK_NUMBERS_MAX];
	const char *words[REMARK_WORDS_MAX]; /* NULL: "" */
};

/* SAID(LOG_ENDS, .numbers = { 19, 20 }) */
#define SAID(c, ...)                                                           \
	(&(const struct remark_said){ .code = REMARK_##c, __VA_ARGS__ })

/* Append to a list of remarks, whose owner clears it. ENOMEM: it is unchanged.
 */
int remark_add(struct remark **list, size_t *count,
	       const struct remark_said *said, struct error *err);

/* The sentence: in text[0..size), or the remark's own text. Of a code that only
 * a newer version knows: "code: numbers; words".
 */
const char *remark_sentence(const struct remark *remark, enum language language,
			    char *text, size_t size);

/* The English sentences as a JSON list; the caller deletes it. NULL: ENOMEM. */
cJSON *remarks_sentences(const struct remark *list, size_t count);

/* For tests: the name of a code, and its sentence with the marks. */
const char *remark_code_name(enum remark_code code);
const char *remark_pattern(enum remark_code code, enum language language);
