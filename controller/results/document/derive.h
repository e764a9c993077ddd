/* derive.h - computes rates from the values of a log.
 *
 * The result is a JSON object. Its members depend on the contents of the log:
 *
 *	step times	warmup_steps, warmup_records, timed_records, rule,
 *			mean_iter_time_s, samples_per_s, tokens_per_s,
 *			tokens_per_s_per_device, mfu_6n, mfu_palm over the
 *			steps after the warm-up; all_intervals repeats these
 *			rates; if there were evaluations, those of the rest are
 *			without_the_interval_after_evaluation. The slow first
 *			step after a restart counts as warm-up
 *	rates of the steps	mean_of_reported_tokens_per_s and
 *			mean_of_reported_samples_per_s after the warm-up
 *	DeepSpeed's timer	its last finite running average and the rates
 *			from it; *_from_current from its current figures
 *	TimeHistory	samples over seconds of whole intervals
 *	a last line with samples/s	(PerfLog's FINISHED): its rates;
 *			those of the step times are then `after_warmup`
 *	Trainer's result	its own figures, and the mean step time
 *	MLPerf		samples_per_s_wall
 *	base results of one metric	mean, min, max
 *
 * A rate is left out if one of its factors is unknown. Utilisations are
 * fractions. formula.h computes the rates.
 */
#ifndef CONTROLLER_RESULTS_DOCUMENT_DERIVE_H
#define CONTROLLER_RESULTS_DOCUMENT_DERIVE_H

#include "controller/results/document/timed.h"

/* NULL with ENOMEM. */
cJSON *derive(const struct derive_input *input, struct error *err);

/* MLPerf: the time of the run, and the number of its last epoch. */
double mlperf_seconds(const struct sections *sections);
double mlperf_epochs(const struct sections *sections);

/* Only the rates of step times, with this many warm-up steps. NULL: no step
 * times, or no memory.
 */
cJSON *derive_behind(const struct derive_input *input, double warmup_steps);

#endif
