/* openmetrics.h - writes metrics as text for Prometheus.
 *
 * Written in OpenMetrics 1.0 where the client asks for it, else in the text
 * format of Prometheus, version 0.0.4. Both differ in the names of counters'
 * families and in the last line.
 */
#pragma once

#include "protocol/http/http_server.h"

#include <stdint.h>

struct openmetrics {
	struct buffer *out; /* borrowed */
	bool open;          /* OpenMetrics */
	bool failed;        /* no memory, or the body's limit was reached */
	const char *name;   /* of the family; suffix: added by its values */
	const char *suffix;
};

enum openmetrics_kind { METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM };

/* Begin to write the body of the reply, in the format that the client accepts.
 * False: the reply is a refusal, because the client uses a name that is not
 * ours.
 */
bool openmetrics_begin(struct openmetrics *metrics,
		       const struct http_request *request,
		       struct http_reply *reply);
/* Write the last line. If writing failed, the reply becomes an error. */
void openmetrics_end(struct openmetrics *metrics, struct http_reply *reply);

/* Begin a family; all its values follow. name: static, without "_total". */
void openmetrics_family(struct openmetrics *metrics, const char *name,
			enum openmetrics_kind kind, const char *help);

/* Write one value, followed by pairs of a label's name and its text (which is
 * escaped here), and NULL. The value of a counter must not decrease.
 */
void openmetrics_value(struct openmetrics *metrics, double value, ...)
	__attribute__((sentinel));

/* A family of one value. */
void openmetrics_gauge(struct openmetrics *metrics, const char *name,
		       const char *help, double value);
void openmetrics_counter(struct openmetrics *metrics, const char *name,
			 const char *help, double value);

/* Durations, in buckets from 1 ms to 1,000 s, three per decade. */
#define HISTOGRAM_BUCKETS 18
struct histogram {
	uint64_t counts[HISTOGRAM_BUCKETS + 1]; /* the last: longer */
	double sum_s;
};
void histogram_add(struct histogram *histogram, double seconds);
void openmetrics_histogram(struct openmetrics *metrics, const char *name,
			   const char *help, const struct histogram *histogram);
