/* metrics.c - makes one figure of each named number of a log.
 */
#include "controller/results/metrics.h"

#include "controller/results/json_object.h"
#include "controller/results/steady.h"

#include <math.h>

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

static void add(cJSON *to, const char *name, double number, bool *failed)
{
	if (isfinite(number) && !cJSON_HasObjectItem(to, name))
		json_add_number(to, name, number, failed);
}

static void add_all(cJSON *to, const struct extract *extract, size_t first,
		    double *values, bool *failed)
{
	size_t count, runs;
	const struct record *records = extract_records(extract, &count);
	const struct record *summary = extract_summary(extract);
	const struct run_metric *run = extract_run_metrics(extract, &runs);
	const char *name;

	for (size_t i = 0; i < runs; i++)
		if (run[i].count)
			add(to, run[i].name, run[i].sum / (double)run[i].count,
			    failed);
	for (size_t m = 0; (name = extract_metric_name(extract, m)); m++) {
		double number;

		if (!record_metric(summary, m, &number))
			number =
				extract_rules_counter(extract_rules_of(extract),
						      name)
					? extract_metric_last(extract, (int)m)
					: steps_median(records, count, first, m,
						       values);
		add(to, name, number, failed);
	}
}

size_t metrics_run_count(const struct extract *extract)
{
	size_t runs;

	extract_run_metrics(extract, &runs);
	return runs + (size_t)__builtin_popcountll(
			      extract_summary(extract)->has_metric);
}

cJSON *metrics_json(const struct extract *extract, size_t first)
{
	size_t count;
	cJSON *object = cJSON_CreateObject();
	bool failed = !object;
	double *values;

	extract_records(extract, &count);
	/* One more: record_metric() may look at a value that does not count. */
	values = calloc(count + 1, sizeof(*values));
	if (values)
		add_all(object, extract, first, values, &failed);
	failed |= !values;
	free(values);
	if (!failed)
		return object;
	cJSON_Delete(object);
	return NULL;
}

cJSON *metrics_names(const struct extract *extract, const cJSON *metrics,
		     metrics_rule_fn *wanted)
{
	cJSON *names = cJSON_CreateArray();
	bool failed = !names;
	const cJSON *metric;

	cJSON_ArrayForEach(metric, metrics)
	{
		if (wanted(extract_rules_of(extract), metric->string))
			json_add_text(names, NULL, metric->string, &failed);
	}
	if (!failed)
		return names;
	cJSON_Delete(names);
	return NULL;
}
