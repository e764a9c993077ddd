/* metrics.c - makes one figure of each named number of a log.
 */
#include "controller/results/metrics.h"

#include "controller/results/steady.h"

#include <math.h>
#include <string.h>

/* values has room for all records. */
static double steps_median(const struct record *records, size_t count,
			   size_t first, size_t metric, double *values)
{
	size_t n = 0;

	for (size_t i = first; i < count; i++)
		if (record_metric(&records[i], metric, &values[n]) &&
		    isfinite(values[n]))
			n++;
	if (!n)
		return NAN;
	sort_values(values, n);
	return quantile(values, n, 0.5);
}

/* values has room for all records. */
static double metric_of_steps(const struct extract *extract, size_t metric,
			      size_t first, double *values)
{
	size_t count;
	const struct record *records = extract_records(extract, &count);
	const char *name = extract_metric_name(extract, metric);
	double most = NAN, number;

	switch (extract_rules_take(extract_rules_of(extract), name)) {
	case TAKE_LAST:
		return extract_metric_last(extract, (int)metric);
	case TAKE_MAX:
		for (size_t i = 0; i < count; i++)
			if (record_metric(&records[i], metric, &number) &&
			    isfinite(number))
				most = fmax(most, number);
		return most;
	default:
		return steps_median(records, count, first, metric, values);
	}
}

static bool metric_is_there(const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->metrics_count; i++)
		if (result->metrics[i].name &&
		    !strcmp(result->metrics[i].name, name))
			return true;
	return false;
}

/* The list has room. */
static int metric_add(struct result *to, const struct extract_rules *rules,
		      const char *name, double number, struct error *err)
{
	struct named_number *metric = &to->metrics[to->metrics_count];

	if (!isfinite(number) || metric_is_there(to, name))
		return 0;
	metric->number = number;
	if (string_set(&metric->name, name, err) < 0)
		return -1;
	to->metrics_count++;
	if (extract_rules_column(rules, name) &&
	    strings_add(&to->metric_columns, name, err) < 0)
		return -1;
	return extract_rules_percent(rules, name)
		       ? strings_add(&to->metric_percents, name, err)
		       : 0;
}

static int metrics_add(struct result *to, const struct extract *extract,
		       size_t first, double *values, struct error *err)
{
	size_t runs;
	const struct extract_rules *rules = extract_rules_of(extract);
	const struct record *summary = extract_summary(extract);
	const struct run_metric *run = extract_run_metrics(extract, &runs);
	const char *name;

	for (size_t i = 0; i < runs; i++)
		if (run[i].count &&
		    metric_add(to, rules, run[i].name,
			       run[i].sum / (double)run[i].count, err) < 0)
			return -1;
	for (size_t m = 0; (name = extract_metric_name(extract, m)); m++) {
		double number;

		if (!record_metric(summary, m, &number))
			number = metric_of_steps(extract, m, first, values);
		if (metric_add(to, rules, name, number, err) < 0)
			return -1;
	}
	return 0;
}

size_t metrics_run_count(const struct extract *extract)
{
	size_t runs;

	extract_run_metrics(extract, &runs);
	return runs + (size_t)__builtin_popcountll(
			      extract_summary(extract)->has_metric);
}

int metrics_compute(const struct extract *extract, size_t first,
		    struct result *to, struct error *err)
{
	owned_free double *values = NULL;
	size_t count, runs, names = 0;

	extract_records(extract, &count);
	extract_run_metrics(extract, &runs);
	while (extract_metric_name(extract, names))
		names++;
	/* One more: record_metric() may look at a value that does not count. */
	values = calloc(count + 1, sizeof(*values));
	to->metrics = calloc(runs + names + 1, sizeof(*to->metrics));
	return values && to->metrics
		       ? metrics_add(to, extract, first, values, err)
		       : error_nomem(err, "result");
}
