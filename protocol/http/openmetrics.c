/* openmetrics.c - writes figures as text that Prometheus and others read.
 */
#include "protocol/http/openmetrics.h"
#include "protocol/base/printable.h"
#include "protocol/base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define LABEL_MAX 200 /* bytes of a text; the rest is left out */

static const char open_type[] =
	"application/openmetrics-text; version=1.0.0; charset=utf-8";
static const char plain_type[] = "text/plain; version=0.0.4; charset=utf-8";

static const double bounds_s[HISTOGRAM_BUCKETS] = {
	0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5,
	1,     2,     5,     10,   20,   50,   100, 200, 1000,
};

bool openmetrics_begin(struct openmetrics *metrics,
		       const struct http_request *request,
		       struct http_reply *reply)
{
	const char *accept = http_header(request, "Accept");

	if (!http_host_is_ours(request)) {
		reply->status = 421;
		buffer_text(&reply->body,
			    "the Host of the request is not this machine; "
			    "expected its address, its name, localhost or "
			    "the name of its settings\n",
			    NULL);
		return false;
	}
	*metrics = (struct openmetrics){
		.out = &reply->body,
		.open = accept &&
			strstr(accept, "application/openmetrics-text"),
	};
	reply->type = metrics->open ? open_type : plain_type;
	return true;
}

void openmetrics_end(struct openmetrics *metrics, struct http_reply *reply)
{
	if (metrics->open && buffer_text(metrics->out, "# EOF\n", NULL) < 0)
		metrics->failed = true;
	if (!metrics->failed)
		return;
	buffer_clear(&reply->body);
	buffer_text(&reply->body, "out of memory\n", NULL);
	reply->status = 500;
}

static void openmetrics_put_text(struct openmetrics *metrics, const char *text)
{
	if (buffer_text(metrics->out, text, NULL) < 0)
		metrics->failed = true;
}

void openmetrics_family(struct openmetrics *metrics, const char *name,
			enum openmetrics_kind kind, const char *help)
{
	static const char *const words[] = { "gauge", "counter", "histogram" };
	const char *total =
		kind == METRIC_COUNTER && !metrics->open ? "_total" : "";

	metrics->name = name;
	metrics->suffix = kind == METRIC_COUNTER ? "_total" : "";
	if (buffer_printf(metrics->out, NULL,
			  "# HELP %s%s %s\n# TYPE %s%s %s\n", name, total, help,
			  name, total, words[kind]) < 0)
		metrics->failed = true;
}

/* A label's text, which may be from outside. */
static void openmetrics_put_escaped(struct openmetrics *metrics,
				    const char *text)
{
	char line[LABEL_MAX];
	char one[2] = "";

	snprintf(line, sizeof(line), "%s", text);
	line[utf8_cut(line, strlen(line))] = 0;
	printable(line, strlen(line));
	for (const char *at = line; *at; at++) {
		if (*at == '"' || *at == '\\')
			openmetrics_put_text(metrics, "\\");
		one[0] = *at;
		openmetrics_put_text(metrics, one);
	}
}

static void openmetrics_put_number(struct openmetrics *metrics, double value)
{
	const char *word = isnan(value)     ? "NaN"
			   : value > 1e308  ? "+Inf"
			   : value < -1e308 ? "-Inf"
					    : NULL;

	if (word)
		openmetrics_put_text(metrics, word);
	else if (buffer_printf(metrics->out, NULL, "%.15g", value) < 0)
		metrics->failed = true;
	openmetrics_put_text(metrics, "\n");
}

static void openmetrics_put_value(struct openmetrics *metrics,
				  const char *suffix, double value,
				  va_list labels)
{
	const char *before = "{", *label;

	openmetrics_put_text(metrics, metrics->name);
	openmetrics_put_text(metrics, suffix);
	while ((label = va_arg(labels, const char *))) {
		const char *text = va_arg(labels, const char *);

		openmetrics_put_text(metrics, before);
		openmetrics_put_text(metrics, label);
		openmetrics_put_text(metrics, "=\"");
		openmetrics_put_escaped(metrics, text ? text : "");
		openmetrics_put_text(metrics, "\"");
		before = ",";
	}
	openmetrics_put_text(metrics, *before == ',' ? "} " : " ");
	openmetrics_put_number(metrics, value);
}

static void put_suffixed(struct openmetrics *metrics, const char *suffix,
			 double value, ...) __attribute__((sentinel));
static void put_suffixed(struct openmetrics *metrics, const char *suffix,
			 double value, ...)
{
	va_list labels;

	va_start(labels, value);
	openmetrics_put_value(metrics, suffix, value, labels);
	va_end(labels);
}

void openmetrics_value(struct openmetrics *metrics, double value, ...)
{
	va_list labels;

	va_start(labels, value);
	openmetrics_put_value(metrics, metrics->suffix, value, labels);
	va_end(labels);
}

void openmetrics_gauge(struct openmetrics *metrics, const char *name,
		       const char *help, double value)
{
	openmetrics_family(metrics, name, METRIC_GAUGE, help);
	openmetrics_value(metrics, value, NULL);
}

void openmetrics_counter(struct openmetrics *metrics, const char *name,
			 const char *help, double value)
{
	openmetrics_family(metrics, name, METRIC_COUNTER, help);
	openmetrics_value(metrics, value, NULL);
}

void histogram_add(struct histogram *histogram, double seconds)
{
	size_t i = 0;

	while (i < HISTOGRAM_BUCKETS && seconds > bounds_s[i])
		i++;
	histogram->counts[i]++;
	histogram->sum_s += seconds;
}

void openmetrics_histogram(struct openmetrics *metrics, const char *name,
			   const char *help, const struct histogram *histogram)
{
	uint64_t count = 0;
	char bound[16];

	openmetrics_family(metrics, name, METRIC_HISTOGRAM, help);
	for (size_t i = 0; i <= HISTOGRAM_BUCKETS; i++) {
		count += histogram->counts[i];
		if (i < HISTOGRAM_BUCKETS)
			snprintf(bound, sizeof(bound), "%g", bounds_s[i]);
		else
			snprintf(bound, sizeof(bound), "+Inf");
		put_suffixed(metrics, "_bucket", (double)count, "le", bound,
			     NULL);
	}
	put_suffixed(metrics, "_sum", histogram->sum_s, NULL);
	put_suffixed(metrics, "_count", (double)count, NULL);
}
