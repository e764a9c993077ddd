/* metrics.c - writes the metrics of a controller for Prometheus. */
#include "controller/web/metrics.h"
#include "controller/cluster/active_job.h"
#include "controller/logs/log_ingest.h"
#include "controller/logs/log_reader.h"
#include "controller/nodes/node.h"
#include "controller/results/series.h"
#include "protocol/hardware/device_metrics.h"
#include "protocol/base/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_SIZE 24

static const char *metrics_format_number(uint64_t value, char text[NUMBER_SIZE])
{
	snprintf(text, NUMBER_SIZE, "%" PRIu64, value);
	return text;
}

/* Nodes. */

enum node_figure {
	UP,
	DRAINED,
	PROBATION,
	ENGINE,
	DEVICES,
	DEVICES_BUSY,
	DEVICES_LOST
};

static const struct family {
	const char *name;
	const char *help;
} node_families[] = {
	[UP] = { "regatta_node_up", "1 if the node's agent is connected." },
	[ENGINE] = { "regatta_node_engine_up",
		     "1 if the node's agent is connected, and its engine "
		     "answers." },
	[DRAINED] = { "regatta_node_drained", "1 if the node is drained." },
	[PROBATION] = { "regatta_node_on_probation",
			"1 if the node failed repeatedly, and takes one job at "
			"a time." },
	[DEVICES] = { "regatta_node_devices",
		      "Devices of the node, including lost ones." },
	[DEVICES_BUSY] = { "regatta_node_devices_busy",
			   "Devices that are allocated to jobs." },
	[DEVICES_LOST] = { "regatta_node_devices_lost",
			   "Devices that are gone or broken." },
};

static double node_value(const struct node *node, const struct slot *slot,
			 enum node_figure figure)
{
	switch (figure) {
	case UP:
		return !strcmp(node_state(node), "up");
	case ENGINE:
		return node_up(node) && !node_view(node)->engine_away.text;
	case DRAINED:
		return node_view(node)->drained;
	case PROBATION:
		return node_view(node)->health.probation_ms != 0;
	case DEVICES:
		return slot->devices;
	case DEVICES_BUSY:
		return __builtin_popcountll(slot->busy);
	case DEVICES_LOST:
		return __builtin_popcountll(slot->lost);
	}
	return 0;
}

static void put_nodes(const struct jobs_parts *parts,
		      struct openmetrics *metrics)
{
	for (enum node_figure f = UP; f <= DEVICES_LOST; f++) {
		openmetrics_family(metrics, node_families[f].name, METRIC_GAUGE,
				   node_families[f].help);
		for (size_t i = 0; i < node_count(parts->nodes); i++) {
			const struct node *node = node_at(parts->nodes, i);

			if (node_view(node)->removed)
				continue;
			openmetrics_value(metrics,
					  node_value(node,
						     node_slot(parts->nodes,
							       node),
						     f),
					  "node", node_name(node), "vendor",
					  node_view(node)->vendor, NULL);
		}
	}
}

static void put_probation(const struct jobs_parts *parts,
			  struct openmetrics *metrics)
{
	openmetrics_family(metrics, "regatta_node_probation_timestamp_seconds",
			   METRIC_GAUGE,
			   "Since when the node is on probation, and the class "
			   "of its last failure.");
	for (size_t i = 0; i < node_count(parts->nodes); i++) {
		const struct node *node = node_at(parts->nodes, i);
		const struct node_health *health = &node_view(node)->health;

		if (health->probation_ms && !node_view(node)->removed)
			openmetrics_value(metrics,
					  (double)health->probation_ms / 1000,
					  "node", node_name(node), "failure",
					  health->failure, NULL);
	}
}

/* Jobs. */

struct job_counts {
	uint64_t of[JOB_STATES];
	int64_t oldest_ms; /* since when the oldest queued one waits; 0: none */
};

static void count_job(struct job *job, void *arg)
{
	struct job_counts *counts = arg;

	counts->of[job_state(job)]++;
	if (job_state(job) == JOB_QUEUED &&
	    (!counts->oldest_ms || job_queued_ms(job) < counts->oldest_ms))
		counts->oldest_ms = job_queued_ms(job);
}

static void put_counts(const struct jobs_parts *parts,
		       struct openmetrics *metrics)
{
	struct job_counts counts = { .oldest_ms = 0 };
	int64_t now_ms = clock_wall_ms();

	job_each(parts->table, count_job, &counts);
	openmetrics_family(metrics, "regatta_jobs", METRIC_GAUGE,
			   "Jobs that have not ended, by state.");
	for (int state = JOB_QUEUED; !job_state_final(state); state++)
		openmetrics_value(metrics, (double)counts.of[state], "state",
				  job_state_name(state), NULL);
	openmetrics_gauge(metrics, "regatta_queue_oldest_seconds",
			  "Time for which the oldest queued job has waited.",
			  counts.oldest_ms
				  ? (double)(now_ms - counts.oldest_ms) / 1000
				  : 0);
}

enum job_figure { STARTED, STEP, STEPS, STEP_TIME, LOSS, RATE };

static const struct family job_families[] = {
	[STARTED] = { "regatta_job_started_timestamp_seconds",
		      "When the running job was started." },
	[STEP] = { "regatta_job_step", "Last step in the job's output." },
	[STEPS] = { "regatta_job_steps", "Total number of steps of the job." },
	[STEP_TIME] = { "regatta_job_step_timestamp_seconds",
			"Time of arrival of the last step." },
	[LOSS] = { "regatta_job_loss", "Loss of the last step." },
	[RATE] = { "regatta_job_rate",
		   "Rate of the last step, per second and device, in the "
		   "unit of its label." },
};

static struct rate metrics_job_rate(const struct gang *gang)
{
	const struct record *record = log_reader_latest(gang);

	return record ? step_rate(record, &gang_spec(gang)->measure,
				  gang_devices(gang))
		      : rate_of(0, 0, 0, 0);
}

/* NAN: not known. */
static double job_value(const struct gang *gang, enum job_figure figure)
{
	static const struct record nothing;
	const struct record *record = log_reader_latest(gang);

	if (!record)
		record = &nothing;
	switch (figure) {
	case STARTED:
		return (double)job_started_ms(gang_job(gang)) / 1000;
	case STEP:
		if (record_has(record, RECORD_STEP))
			return (double)record->step;
		break;
	case STEPS:
		if (record_has(record, RECORD_STEPS))
			return (double)record->steps_total;
		break;
	case STEP_TIME:
		if (record->came_ms)
			return (double)record->came_ms / 1000;
		break;
	case LOSS:
		if (record_has(record, RECORD_LOSS))
			return record->loss;
		break;
	case RATE:
		return metrics_job_rate(gang).value;
	}
	return (double)NAN;
}

static void put_job_family(const struct jobs_parts *parts,
			   enum job_figure figure, struct openmetrics *metrics)
{
	const struct gang *gang;
	char job[NUMBER_SIZE], sweep[NUMBER_SIZE];

	openmetrics_family(metrics, job_families[figure].name, METRIC_GAUGE,
			   job_families[figure].help);
	for (gang = gang_first(parts->table); gang; gang = gang_next(gang)) {
		double value;

		if (job_state(gang_job(gang)) != JOB_RUNNING)
			continue;
		value = job_value(gang, figure);
		if (!isnan(value))
			openmetrics_value(
				metrics, value, "job",
				metrics_format_number(job_id(gang_job(gang)),
						      job),
				"sweep",
				metrics_format_number(job_sweep(gang_job(gang)),
						      sweep),
				figure == RATE ? "unit" : NULL,
				rate_units[metrics_job_rate(gang).unit], NULL);
	}
}

/* Devices of the jobs that run. */

static size_t metrics_take_devices(const struct jobs_parts *parts,
				   struct device_metrics *to, size_t room)
{
	const struct gang *gang;
	size_t count = 0;

	for (gang = gang_first(parts->table); gang; gang = gang_next(gang)) {
		if (job_state(gang_job(gang)) != JOB_RUNNING)
			continue;
		for (uint32_t rank = 0; rank < gang_nodes(gang); rank++)
			for (size_t i = 0;
			     count < room &&
			     log_reader_device(gang, rank, i, &to[count]);
			     i++)
				count++;
	}
	return count;
}

static void metrics_put_devices(const struct jobs_parts *parts,
				struct openmetrics *metrics)
{
	struct device_metrics *list =
		calloc(METRICS_DEVICES_MAX, sizeof(*list));
	size_t count =
		list ? metrics_take_devices(parts, list, METRICS_DEVICES_MAX)
		     : 0;

	metrics->failed |= !list;
	device_metrics_put(metrics, list, count);
	free(list);
}

void counters_changed(struct counters *counters, const struct job *job,
		      enum job_event event, int64_t now_ms)
{
	if (event == JOB_EVENT_COMPLETE || event == JOB_EVENT_FAIL ||
	    event == JOB_EVENT_CANCEL)
		counters->ended[job_state(job)][job_failure(job)]++;
	if (event == JOB_EVENT_START)
		histogram_add(&counters->dispatch,
			      (double)(now_ms - job_queued_ms(job)) / 1000);
}

static void put_counters(const struct counters *counters,
			 struct openmetrics *metrics)
{
	openmetrics_family(metrics, "regatta_jobs_ended", METRIC_COUNTER,
			   "Jobs that have ended since the controller "
			   "started.");
	for (int state = 0; state < JOB_STATES; state++)
		for (int class = 0; class < FAILURES; class ++)
			if (counters->ended[state][class])
				openmetrics_value(metrics,
						  (double)counters
							  ->ended[state][class],
						  "state",
						  job_state_name(state),
						  "class",
						  class ? failure_name(class)
							: "",
						  NULL);
	openmetrics_histogram(metrics, "regatta_job_dispatch_seconds",
			      "Time from queued to started on all nodes.",
			      &counters->dispatch);
	openmetrics_histogram(metrics, "regatta_store_commit_seconds",
			      "Commits of the store.", &counters->commit);
}

void metrics_answer(const struct jobs_parts *parts,
		    const struct counters *counters,
		    const struct http_request *request,
		    struct http_reply *reply)
{
	struct openmetrics metrics;

	if (!openmetrics_begin(&metrics, request, reply))
		return;
	openmetrics_family(&metrics, "regatta_controller_info", METRIC_GAUGE,
			   "Version and labels of this controller; always 1.");
	openmetrics_value(&metrics, 1, "version", REGATTA_VERSION, NULL);
	put_nodes(parts, &metrics);
	put_probation(parts, &metrics);
	put_counts(parts, &metrics);
	for (enum job_figure figure = STARTED; figure <= RATE; figure++)
		put_job_family(parts, figure, &metrics);
	metrics_put_devices(parts, &metrics);
	openmetrics_counter(&metrics, "regatta_log_received_bytes",
			    "Output of jobs that was received and stored.",
			    (double)log_ingest_stored_bytes(parts->ingest));
	put_counters(counters, &metrics);
	openmetrics_end(&metrics, reply);
}
