/* openmetrics.h - writes figures as text that Prometheus and others read.
 *
 * Written in OpenMetrics 1.0 where the client asks for it, else in the text
 * format of Prometheus, version 0.0.4. Both differ in the names of counters'
 * families and in the last line.
 */
#ifndef PROTOCOL_HTTP_OPENMETRICS_H
#define PROTOCOL_HTTP_OPENMETRICS_H

#include "protocol/http/http_server.h"

#include <stdint.h>

struct openmetrics {
	struct buffer *out; /* borrowed */
	bool open;          /* OpenMetrics */
	bool failed;        /* there was no memory, or no room */
	const char *name;   /* of the family, and what its values add to it */
	const char *suffix;
};

enum openmetrics_kind { METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM };

/* Into the body of the reply, in the format that was asked for. */
void openmetrics_begin(struct openmetrics *metrics,
		       const struct http_request *request,
		       struct http_reply *reply);
/* The last line. If not all had room, the reply becomes an error. */
void openmetrics_end(struct openmetrics *metrics, struct http_reply *reply);

/* All values of a family follow its head. name: static, without "_total". */
void openmetrics_family(struct openmetrics *metrics, const char *name,
			enum openmetrics_kind kind, const char *help);

/*/* One value. Behind it names of labels, each with its text (which is
 * escaped), and NULL. A counter's must not fall.
 */
void openmetrics_value(struct openmetrics *metrics, double value, ...)
	__attribute__((sentinel));

/* A family of one value. */
void openmetrics_gauge(struct openmetrics *metrics, const char *name,
		       const char *help, double value);
void openmetrics_counter(struct openmetrics *metrics, const char *name,
			 const char *help, double value);

/* How long things took: buckets from 1 ms to 1,000 s, three in a decade. */
#define HISTOGRAM_BUCKETS 18
struct histogram {
	uint64_t counts[HISTOGRAM_BUCKETS + 1]; /* the last: longer */
	double sum_s;
};
void histogram_add(struct histogram *histogram, double seconds);
void openmetrics_histogram(struct openmetrics *metrics, const char *name,
			   const char *help, const struct histogram *histogram);

#endif
