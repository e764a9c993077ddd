/* derive.c - computes rates from the values of a log.
 */
#include "controller/results/document/derive.h"

#include "controller/results/document/timed.h"
#include "controller/results/formula.h"
#include "controller/results/json_object.h"

#include <math.h>
#include <string.h>

static double iteration_time(const struct record *record, const void *arg)
{
	return record_has(record, RECORD_ITERATION_MS) ? record->iteration_ms
						       : NAN;
}

static void add_step_times(cJSON *object, const struct derive_input *input,
			   const struct timed *timed, bool headline)
{
	const struct context *context = input->context;

	if (!timed->count)
		return;
	if (!headline) {
		add_timed(cJSON_AddObjectToObject(object, "after_warmup"),
			  context, timed);
		return;
	}
	add_timed(object, context, timed);
	add_timed(cJSON_AddObjectToObject(object, "all_intervals"), context,
		  timed);
	add_unevaluated(object, input, timed);
}

/* The mean of the rates that the steady steps print. */
static void add_reported(cJSON *object, const char *name,
			 const struct derive_input *input,
			 const struct timed *timed, enum record_field field)
{
	size_t count, n = 0;
	const struct record *records = extract_records(input->extract, &count);
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		if (timed->first < timed->count &&
		    records[i].step >= timed->steps[timed->first] &&
		    record_has(&records[i], field)) {
			sum += record_value(&records[i], field);
			n++;
		}
	if (n)
		add_figure(object, name, sum / (double)n);
}

/* DeepSpeed's timer. */

struct current {
	int metric;
	double global_batch;
};

static double current_time(const struct record *record, const void *arg)
{
	const struct current *current = arg;
	double rate;

	return record_metric(record, (size_t)current->metric, &rate)
		       ? current->global_batch / rate * 1000
		       : NAN;
}

static int add_running_average(cJSON *object, const struct derive_input *input,
			       struct error *err)
{
	const struct context *context = input->context;
	struct current current = { extract_metric_find(input->extract,
						       "samples_per_s_current"),
				   context->global_batch };
	double average =
		extract_metric_last(input->extract,
				    extract_metric_find(input->extract,
							"samples_per_s_running_"
							"avg"));
	owned(timed_clear) struct timed timed = { 0 };
	cJSON *inner;

	cJSON_AddStringToObject(object, "flagperf_rule",
				"last RunningAvgSamplesPerSec");
	add_figure(object, "samples_per_s_last_running_avg", average);
	add_rates(object, context, average);
	if (current.metric < 0 || !(context->global_batch > 0))
		return 0;
	if (timed_collect(&timed, input, current_time, &current, err) < 0)
		return -1;
	inner = cJSON_CreateObject();
	add_timed(inner, context, &timed);
	add_figure(object, "warmup_steps", timed.warmup_steps);
	add_figure(object, "mean_iter_time_s_from_current",
		   row_double(inner, "mean_iter_time_s"));
	add_figure(object, "tokens_per_s_from_current",
		   row_double(inner, "tokens_per_s"));
	cJSON_Delete(inner);
	return 0;
}

/* TimeHistory: intervals of several steps each. */

struct interval {
	int seconds;
	int from;
};

static double interval_time(const struct record *record, const void *arg)
{
	const struct interval *interval = arg;
	double seconds, from;

	if (!record_metric(record, (size_t)interval->seconds, &seconds) ||
	    !record_metric(record, (size_t)interval->from, &from) ||
	    !((double)record->step > from))
		return NAN;
	return seconds * 1000 / ((double)record->step - from);
}

static int add_intervals(cJSON *object, const struct derive_input *input,
			 const struct interval *interval, struct error *err)
{
	size_t count, n = 0;
	const struct record *records = extract_records(input->extract, &count);
	double batch = input->context->global_batch;
	double samples = 0, seconds = 0, rates = 0;
	owned(timed_clear) struct timed timed = { 0 };

	if (timed_collect(&timed, input, interval_time, interval, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		double step = interval_time(&records[i], interval) / 1000;
		double rate = records[i].samples_per_second, from;

		if (!(step > 0) ||
		    !record_has(&records[i], RECORD_SAMPLES_PER_SECOND) ||
		    !record_metric(&records[i], (size_t)interval->from,
				   &from) ||
		    from < timed.warmup_steps)
			continue;
		from = (double)records[i].step - from;
		samples += batch > 0 ? from * batch : rate * step * from;
		seconds += step * from;
		rates += rate;
		n++;
	}
	add_figure(object, "warmup_steps", timed.warmup_steps);
	if (!n)
		return 0;
	add_rates(object, input->context, samples / seconds);
	add_figure(object, "mean_of_reported", rates / (double)n);
	return 0;
}

/* PerfLog's last line. */

static void add_event_times(cJSON *object, const struct sections *sections)
{
	double step_end = NAN, finished = NAN;
	const cJSON *row;

	for (size_t i = 0; (row = section_row(sections, "events", i, NULL));
	     i++) {
		const char *name =
			cJSON_GetStringValue(cJSON_GetArrayItem(row, 0));
		const cJSON *time = cJSON_GetArrayItem(row, 1);

		if (!name || !cJSON_IsNumber(time))
			continue;
		if (!strcmp(name, "STEP_END"))
			step_end = time->valuedouble;
		if (!strcmp(name, "FINISHED"))
			finished = time->valuedouble;
	}
	add_figure(object, "wall_ms_step_end_to_finished", finished - step_end);
}

static void add_finished(cJSON *object, const struct derive_input *input,
			 const cJSON *finished)
{
	static const char *const copied[] = { "final_loss", "converged",
					      "final_accuracy",
					      "final_mlm_accuracy" };
	double rate = row_double(finished, "training_sequences_per_second");

	for (size_t i = 0; i < sizeof(copied) / sizeof(copied[0]); i++) {
		const cJSON *item =
			cJSON_GetObjectItemCaseSensitive(finished, copied[i]);

		if (item)
			cJSON_AddItemToObject(object, copied[i],
					      cJSON_Duplicate(item, true));
	}
	add_event_times(object, input->sections);
	if (cJSON_GetObjectItemCaseSensitive(object, "samples_per_s"))
		return;
	add_rates(object, input->context, rate);
	/* Published tables cut the figure instead of rounding it. */
	add_figure(object, "tokens_per_s_per_device_as_printed_in_the_table",
		   floor(row_double(object, "tokens_per_s_per_device")));
}

/* The result that HuggingFace's Trainer, or PaddleNLP's, prints. */

static double total_steps(const struct derive_input *input, const cJSON *result)
{
	double total = row_double(result, "steps");
	size_t count = section_count(input->sections, "progress");
	double key = NAN;

	if (input->context->total_steps > 0)
		return input->context->total_steps;
	if (total > 0)
		return total;
	section_row(input->sections, "progress", count - 1, &key);
	return key;
}

static void add_trainer(cJSON *object, const struct derive_input *input,
			const cJSON *result)
{
	const struct context *context = input->context;
	const cJSON *closing = section_row(input->sections, "closing", 0, NULL);
	double runtime = row_double(closing, "train_runtime_s");
	double rate = row_double(result, "train_samples_per_second");
	double steps = total_steps(input, result);
	double loss = NAN;
	size_t count;
	const struct record *records = extract_records(input->extract, &count);
	cJSON *rates = cJSON_CreateObject();

	if (!(runtime > 0))
		runtime = row_double(result, "train_runtime_s");
	while (count-- && !record_has(&records[count], RECORD_LOSS))
		;
	if (count < SIZE_MAX)
		loss = records[count].loss;
	add_figure(object, "train_runtime_s", runtime);
	add_figure(object, "mean_iter_time_s", runtime / steps);
	add_rates(object, context, rate);
	add_rates(rates, context, rate);
	add_figure(object, "samples_per_s_reported", rate);
	add_figure(object, "tokens_per_s_from_reported",
		   row_double(rates, "tokens_per_s"));
	add_figure(object, "tokens_per_s_per_device_from_reported",
		   row_double(rates, "tokens_per_s_per_device"));
	add_figure(object, "global_batch_from_result",
		   round(rate * runtime / steps));
	add_figure(object, "final_loss_last_interval", loss);
	add_figure(object, "train_loss_mean", row_double(result, "train_loss"));
	cJSON_Delete(rates);
}

/* MLPerf. */
double mlperf_seconds(const struct sections *sections)
{
	const cJSON *run = section_row(sections, "run", 0, NULL);

	return (row_double(run, "stop_ms") - row_double(run, "start_ms")) /
	       1000;
}

double mlperf_epochs(const struct sections *sections)
{
	double epochs = 0;
	const cJSON *row;

	for (size_t i = 0; (row = section_row(sections, "blocks", i, NULL));
	     i++)
		epochs = fmax(epochs, row_double(row, "first_epoch_num") +
					      row_double(row, "epoch_count") -
					      1);
	return epochs;
}

static void add_wall(cJSON *object, const struct sections *sections)
{
	const cJSON *info = section_row(sections, "info", 0, NULL);
	double epochs = mlperf_epochs(sections);

	if (epochs > 0)
		add_figure(object, "samples_per_s_wall",
			   epochs * row_double(info, "train_samples") /
				   mlperf_seconds(sections));
}

/* Results of the base suite, when all are of one metric and unit. */
static void add_results(cJSON *object, const struct derive_input *input)
{
	size_t count;
	const struct run_metric *metric =
		extract_run_metrics(input->extract, &count);
	double peak = input->context->spec_tflops;
	char name[64];

	if (count != 1)
		return;
	add_figure(object, "mean", metric->sum / (double)metric->count);
	add_figure(object, "min", metric->min);
	add_figure(object, "max", metric->max);
	if (!(peak > 0))
		peak = input->context->peak_flops_per_device / 1e12;
	snprintf(name, sizeof(name), "utilisation_of_%g", peak);
	if (peak > 0)
		add_figure(object, name,
			   metric->sum / (double)metric->count / peak);
}

static const cJSON *trainer_result(const struct sections *sections)
{
	size_t lines = section_count(sections, "train_result_lines");
	const cJSON *row = section_row(sections, "train_result", 0, NULL);

	return row ? row
		   : section_row(sections, "train_result_lines", lines - 1,
				 NULL);
}

static int fill(cJSON *object, const struct derive_input *input,
		struct error *err)
{
	const struct sections *sections = input->sections;
	struct interval interval = {
		extract_metric_find(input->extract, "interval_s"),
		extract_metric_find(input->extract, "from_step"),
	};
	const cJSON *finished = section_row(sections, "finished", 0, NULL);
	const cJSON *result = trainer_result(sections);
	/* The rates of these logs' steps are means since the start. */
	bool closed = section_count(sections, "train_result_lines") > 0;
	bool final =
		closed ||
		isfinite(row_double(finished, "training_sequences_per_second"));
	owned(timed_clear) struct timed timed = { 0 };

	if (timed_collect(&timed, input, iteration_time, NULL, err) < 0)
		return -1;
	if (interval.seconds >= 0 && interval.from >= 0 &&
	    add_intervals(object, input, &interval, err) < 0)
		return -1;
	if (extract_metric_find(input->extract, "samples_per_s_running_avg") >=
		    0 &&
	    add_running_average(object, input, err) < 0)
		return -1;
	add_step_times(object, input, &timed, !final);
	add_reported(object, "mean_of_reported_tokens_per_s", input, &timed,
		     RECORD_TOKENS_PER_SECOND);
	add_reported(object, "mean_of_reported_samples_per_s", input, &timed,
		     RECORD_SAMPLES_PER_SECOND);
	if (finished)
		add_finished(object, input, finished);
	else if (result && (closed || !timed.count))
		add_trainer(object, input, result);
	add_wall(object, sections);
	add_results(object, input);
	return 0;
}

cJSON *derive(const struct derive_input *input, struct error *err)
{
	cJSON *object = cJSON_CreateObject();

	if (object && fill(object, input, err) == 0)
		return object;
	if (!object)
		error_nomem(err, "rates");
	cJSON_Delete(object);
	return NULL;
}

cJSON *derive_behind(const struct derive_input *input, double warmup_steps)
{
	struct context context = *input->context;
	struct derive_input copy = *input;
	owned(timed_clear) struct timed timed = { 0 };
	cJSON *object;

	context.warmup_steps = warmup_steps;
	context.warmup_records = -1;
	copy.context = &context;
	if (timed_collect(&timed, &copy, iteration_time, NULL, NULL) < 0 ||
	    !timed.count)
		return NULL;
	object = cJSON_CreateObject();
	add_timed(object, &context, &timed);
	return object;
}
