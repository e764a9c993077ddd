/* openmetrics_test.c - figures as text: names, labels, buckets.
 */
#include "protocol/hardware/device_metrics.h"
#include "protocol/http/openmetrics.h"

#include "tests/tap.h"

#include <math.h>

static void test_formats(void)
{
	static const char *const words[] = {
		"# HELP a_total Count.\n# TYPE a_total counter\na_total 3\n",
		"# HELP a Count.\n# TYPE a counter\na_total 3\n",
	};

	for (int open = 0; open < 2; open++) {
		owned(buffer_clear) struct buffer out = BUFFER_INIT(4096);
		struct openmetrics metrics = { .out = &out, .open = open };

		openmetrics_counter(&metrics, "a", "Count.", 3);
		is(out.data, words[open], "a counter, in %s",
		   open ? "OpenMetrics" : "0.0.4");
	}
}

static void test_labels(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(4096);
	struct openmetrics metrics = { .out = &out };

	openmetrics_family(&metrics, "g", METRIC_GAUGE, "Gauge.");
	buffer_consume(&out, out.size);
	openmetrics_value(&metrics, 0.5, "name", "a\"b\\c\nd\033\xff", "none",
			  NULL, NULL);
	is(out.data, "g{name=\"a\\\"b\\\\c?d??\",none=\"\"} 0.5\n",
	   "quotes are escaped, control characters and broken ones are not "
	   "sent");
	buffer_consume(&out, out.size);
	openmetrics_value(&metrics, (double)NAN, NULL);
	openmetrics_value(&metrics, -(double)INFINITY, NULL);
	is(out.data, "g NaN\ng -Inf\n", "figures that are none");
}

static void test_histogram(void)
{
	struct histogram histogram = { .sum_s = 0 };
	owned(buffer_clear) struct buffer out = BUFFER_INIT(65536);
	struct openmetrics metrics = { .out = &out };

	histogram_add(&histogram, 0.001);
	histogram_add(&histogram, 0.7);
	histogram_add(&histogram, 5000);
	openmetrics_histogram(&metrics, "h", "Time.", &histogram);
	ok(strstr(out.data, "h_bucket{le=\"0.001\"} 1\n"),
	   "a bucket holds its bound");
	ok(strstr(out.data, "h_bucket{le=\"0.5\"} 1\n") &&
		   strstr(out.data, "h_bucket{le=\"1\"} 2\n"),
	   "buckets add up");
	ok(strstr(out.data, "h_bucket{le=\"1000\"} 2\n") &&
		   strstr(out.data, "h_bucket{le=\"+Inf\"} 3\n"),
	   "what took longer is in the last one");
	ok(strstr(out.data, "h_sum 5000.701\nh_count 3\n"), "sum and count");
}

/* Names, labels and units are those of NVIDIA's DCGM exporter. */
static void test_devices(void)
{
	struct device_metrics device = {
		.node = "n1",
		.uuid = "GPU-1",
		.bus_id = "0000:1a:00.0",
		.name = "Acme A1",
		.job = 7,
		.index = 2,
		.has = 1U << READING_POWER_W | 1U << READING_MEM_USED_PCT,
	};
	owned(buffer_clear) struct buffer out = BUFFER_INIT(4096);
	struct openmetrics metrics = { .out = &out };

	device.value[READING_POWER_W] = 300.5;
	device.value[READING_MEM_USED_PCT] = 25;
	device_metrics_put(&metrics, &device, 1);
	ok(strstr(out.data,
		  "\nDCGM_FI_DEV_POWER_USAGE{gpu=\"2\",UUID=\"GPU-1\","
		  "pci_bus_id=\"0000:1a:00.0\",modelName=\"Acme A1\","
		  "Hostname=\"n1\",job=\"7\"} 300.5\n"),
	   "a device's power, as dashboards ask for it");
	ok(strstr(out.data, "\nDCGM_FI_DEV_FB_USED_PERCENT{") &&
		   strstr(out.data, "} 0.25\n"),
	   "its memory is a share of 1");
	ok(!strstr(out.data, "GPU_TEMP"), "what was not read is not there");
}

static void test_no_room(void)
{
	struct http_reply reply = { .status = 200 };
	struct openmetrics metrics = { .out = &reply.body };

	buffer_init(&reply.body, 40);
	openmetrics_gauge(&metrics, "g", "A gauge with much to say.", 1);
	openmetrics_end(&metrics, &reply);
	ok(reply.status == 500 && reply.body.size < 40,
	   "half of the figures are not sent as if they were all");
	buffer_clear(&reply.body);
}

int main(void)
{
	tap_begin(30);
	test_formats();
	test_labels();
	test_histogram();
	test_devices();
	test_no_room();
	return tap_done();
}
