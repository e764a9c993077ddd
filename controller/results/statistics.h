/* statistics.h - computes the figures of a job from its records: spreads,
 * rates, progress.
 *
 * Plain numbers, NaN where one is not known; result.h says what each means.
 */
#pragma once

#include "controller/results/extract.h"
#include "protocol/message/result.h"
#include "protocol/message/spec.h"

/* What a result is computed from. */
struct result_input {
	const struct measure_spec *measure; /* borrowed, not NULL */
	const struct record *records;       /* by step, as extract gives them */
	size_t record_count;
	const struct record *summary;  /* NULL: none */
	const struct extract *extract; /* source of other metrics, or NULL */
	const char *unread; /* why no step was read; NULL: no line matched the
			       rules of the framework */
	struct usage_summary *usage; /* of its samples; NULL: none */
	struct result_inputs inputs; /* at least 1 device. power_w 0: that of
					usage */
	bool devices_guessed; /* nobody said how many devices there were */
};

/* When the steady state was: from the arrival of its first record to that of
 * the last one. False: not known. ENOMEM counts as not known.
 */
bool statistics_steady_span(const struct result_input *input, int64_t *from_ms,
			    int64_t *to_ms);

#define STATISTICS_SLOW 32 /* slow steps that are listed */

/* The values of one field in the steady state; n == 0: there is none. */
struct spread {
	double median, q1, q3, mean, min, max;
	size_t n;
	size_t impossible; /* left out: not above 0, or not finite */
};

struct statistics {
	size_t first;   /* record after the warm-up; record_count: none */
	uint64_t above; /* steps up to this number are warm-up */
	bool settled;   /* the end of the warm-up was found or given */
	size_t paced;   /* steady records with a pace */
	size_t slow;    /* slow ones among them */
	uint64_t slow_steps[STATISTICS_SLOW]; /* the first of them by number */
	double lost_ms;
	struct spread iteration;
	bool arrived; /* `iteration` is from the arrival of lines */
	struct spread tokens;
	struct spread per_device; /* tokens/s of one device */
	struct spread samples;
	double tokens_per_second; /* from the best source there is */
	double samples_per_second;
	const char *source; /* "iteration", "reported", "summary", "arrival";
			       NULL */
	double reported;    /* tokens/s as the program prints it, median */
	double wall_s;
	double memory_mib; /* largest that the program printed */
	bool total_known;
	uint64_t total;   /* announced steps, or those of the sweep if they are
			   * more
			   */
	uint64_t reached; /* steps made, counted from 1; 0: unknown */
	uint64_t stride;  /* median of the steps from one record to the next */
	bool finished;    /* the program reports its end */
};

int statistics_compute(const struct result_input *input,
		       struct statistics *figures, struct error *err);
