/* steps.h - makes records from captured values: one per step, a summary, and
 * the latest values. log_rules.h has the rules for that.
 */
#pragma once

#include "controller/results/rules/bar_pace.h"
#include "controller/results/rules/rules.h"
#include "controller/results/share_steps.h"

#define METRIC_NONE UINT8_MAX
#define LATE_RANKS 8 /* steps that a rank prints later than another */

struct steps {
	struct fields names;    /* on top of those of the rules */
	struct record *records; /* by step */
	size_t count;
	size_t capacity;
	size_t current; /* the record that was touched last */
	struct record summary;
	struct record latest;
	struct record pending; /* values for the next step */
	uint8_t metric_of[RECORD_FIELDS + 2 * FIELDS_MAX]; /* field to number */
	uint16_t metrics[EXTRACT_METRICS_MAX];             /* and back */
	size_t metric_count;
	struct run_metric *run; /* EXTRACT_METRICS_MAX, or NULL */
	size_t run_count;
	uint64_t progress; /* the last step of a progress bar; 0: none */
	struct bar_pace bar;
	uint64_t total; /* of the progress bar that is used; 0: unknown */
	bool idle; /* it was complete before the first step, and not drawn since
		    */
	unsigned weak;     /* of the rule that gave the records */
	uint64_t numbered; /* steps that were counted, not printed */
	struct said {
		double sum, loss, share;
		uint64_t fields; /* a hash of which ones it has */
	} said;        /* values of the last one without a number of its own */
	double number; /* the value for which the last one was counted */
	struct share_steps shares;
	double batch; /* samples per step, if samples give the step; 0: none */
	double samples;   /* the most that the log says it has seen */
	bool batch_said;  /* the log names the batch */
	bool paired;      /* a match has both a step and samples */
	bool went_on;     /* a step came after a reported end */
	bool several;     /* the records are those of the last of several runs
			   */
	uint64_t clashes; /* losses that replaced another one of the step, but
			     for those of a restart */
	uint64_t back;    /* steps that came after a later one */
	struct again {
		uint64_t to;      /* the last step before a restart; 0: none */
		uint64_t from;    /* its first step */
		uint64_t clashes; /* since then */
		uint64_t stride;  /* between the last two steps */
		uint64_t taken;   /* as steps.taken */
	} again;
	uint64_t anew;   /* steps.taken at the begin of a run that begins anew
			    and has passed the one before; 0: none */
	uint64_t before; /* the step before the current; UINT64_MAX: none */
	struct elapsed {
		double seconds; /* of the clock at this step; 0: none yet */
		uint64_t step;
	} elapsed[2]; /* the one before, and the last */
	struct epochs {
		bool begun;
		double first;
		double now;
		uint64_t base;  /* steps of the epochs before */
		uint64_t low;   /* the first step of an epoch */
		uint64_t last;  /* step of this epoch */
		bool from_zero; /* an epoch 0 was there */
		bool whole;    /* the one that the rule counts from was there */
		bool late;     /* a later one was */
		double length; /* if only the ends of epochs are printed; else 0
				*/
	} epochs;
	uint64_t last;   /* the step that was taken last */
	uint64_t taken;  /* matches, so far */
	uint64_t summed; /* the same at the last one of the summary */
	uint64_t made;   /* records, with those that are no longer kept */
	unsigned coarse; /* one of 2^coarse numbers of steps is kept */
	uint64_t lost;   /* steps beyond EXTRACT_MOVES_MAX */
	uint64_t moved;  /* records that were moved to insert earlier steps */
};

void steps_init(struct steps *steps, const struct extract_rules *rules);
void steps_clear(struct steps *steps);

/* Is it progress of the training? False: its total differs from the announced
 * one, or, without one, from the first.
 */
bool steps_counts(struct steps *steps, const struct captured *captured);

/* 0, or -1: no memory. */
int steps_take(struct steps *steps, const struct captured *captured);

/* step_records.c: find or add the record of a step. 1: *record is it; 0: it is
 * not kept; -1: no memory.
 */
int steps_record(struct steps *steps, uint64_t step, struct record **record);

/* step_records.c; the log is complete: if it begins again, and ends before the
 * last step of the run before, keep the records of the last run and those that
 * it goes on from. Ranks that print a few steps later are no run.
 */
void steps_keep_last_run(struct steps *steps);

/* step_number.c: the step of a match. The match has the number itself, alone or
 * with its epoch; or it follows from samples, from a share of all epochs, from
 * a bar, or by counting. 1: *step is the number; 0: there is no step yet; -1:
 * the step is not known, and the match belongs to none.
 */
int step_number(struct steps *steps, const struct captured *captured,
		uint64_t *step);

/* step_number.c: a bar was drawn; number the steps of earlier shares again, if
 * necessary.
 */
void step_numbers_bar(struct steps *steps);

/* step_number.c: the training ended, and its last bar was drawn: number the
 * steps again by the share that the match may have.
 */
void step_numbers_end(struct steps *steps, const struct captured *captured);

/* step_samples.c; the log is complete: numbers of steps that are numbers of
 * samples, by what the log says of both, become steps. -1: no memory.
 */
int step_numbers_samples(struct steps *steps);

/* The log is complete: a rate of samples that batch and step time disprove
 * becomes NaN, for its unit is another one.
 */
void steps_check_rates(struct steps *steps);

/* Add values of `from` that `to` does not have. Both must have the same rules.
 */
int steps_merge(struct steps *to, const struct steps *from);
