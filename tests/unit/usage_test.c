/* usage_test.c - what was sampled beside a job comes out as its summary.
 */
#include "controller/results/remarks.h"
#include "controller/results/straggler.h"
#include "protocol/hardware/sample_format.h"

#include "tests/tap.h"
#include "tests/unit/usage_tree.h"

#include <math.h>

/* The stream of a node with two devices, of which readings are given. */
static void put_head(struct buffer *text, const char *node, uint32_t rank,
		     size_t devices)
{
	struct sample_format_device list[] = {
		{ 0, (char *)"0000:0e:00.0", (char *)"Example 9000" },
		{ 3, NULL, (char *)"Example 9000" },
	};
	struct sample_format_head head = {
		.node = (char *)node,
		.rank = rank,
		.time_ms = 1000,
		.interval_ms = 1000,
		.clock = true,
		.offset_ms = -3,
		.round_trip_ms = 1,
		.tool = (char *)"tool",
		.devices = list,
		.devices_count = devices,
	};

	sample_format_put_head(text, &head, SAMPLE_FORMAT_ALL, NULL);
	strings_clear(&head.columns);
	strings_clear(&head.host);
}

static void put(struct buffer *text, int64_t time_ms, uint32_t device,
		double power_w, double used_mib)
{
	struct device_sample row = { 0 };
	const struct device_sample *rows[] = { &row };

	if (power_w >= 0) {
		row.value[READING_POWER_W] = power_w;
		row.has |= 1U << READING_POWER_W;
	}
	row.value[READING_MEM_USED_MIB] = used_mib;
	row.value[READING_MEM_TOTAL_MIB] = 81920;
	row.has |= 1U << READING_MEM_USED_MIB | 1U << READING_MEM_TOTAL_MIB;
	sample_format_put_devices(text, time_ms, SAMPLE_FORMAT_ALL, &device,
				  rows, 1, NULL);
}

static struct usage *fed(const struct buffer *text, size_t piece)
{
	struct usage *usage = usage_new(NULL);

	for (size_t at = 0; at < text->size; at += piece)
		usage_feed(usage, text->data + at,
			   text->size - at < piece ? text->size - at : piece,
			   NULL);
	return usage;
}

static const cJSON *member(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const cJSON *nth(const cJSON *object, const char *name, int n)
{
	return cJSON_GetArrayItem(member(object, name), n);
}

static double number(const cJSON *object, const char *name)
{
	return cJSON_IsNumber(member(object, name))
		       ? member(object, name)->valuedouble
		       : NAN;
}

static bool about(double got, double want)
{
	if (fabs(got - want) < 1e-6)
		return true;
	printf("# got %g, wanted %g\n", got, want);
	return false;
}

/* The sentences of the remarks. */
static cJSON *remarks_of(const struct usage_summary *summary)
{
	struct result result = { 0 };
	cJSON *list;

	usage_remarks(summary, &result, NULL);
	list = remarks_sentences(result.flags, result.flags_count);
	codec_clear(&result_schema, &result);
	return list;
}

static bool has_text(const cJSON *list, const char *text)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
		if (!strcmp(cJSON_GetStringValue(item), text))
			return true;
	return false;
}

static void figures(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	struct usage *usage[2];
	struct doubles memories = { 0 };
	struct usage_summary sums;
	cJSON *summary, *again;
	const cJSON *device;
	char *one, *two;

	put_head(&text, "n1", 0, 2);
	/* 100 W, then a ramp to 300 W in one second: 100 + 200 J. */
	put(&text, 10000, 0, 100, 1024);
	put(&text, 11000, 0, 100, 2048);
	put(&text, 12000, 0, 300, 512);
	put(&text, 10000, 3, 50, 100);
	put(&text, 12500, 3, 50, 100);
	put(&text, 12500, 7, 9999, 99999);
	usage[0] = fed(&text, text.size);
	usage[1] = NULL;
	summary = usage_tree((const struct usage *const *)usage, 2);
	device = nth(summary, "devices", 0);
	is_int(cJSON_GetArraySize(member(summary, "devices")), 2,
	       "only devices that the head names count");
	is(cJSON_GetStringValue(member(device, "bus_id")), "0000:0e:00.0",
	   "a device keeps its address");
	ok(about(number(member(device, "power_w"), "mean"), 500.0 / 3) &&
		   about(number(member(device, "power_w"), "max"), 300),
	   "mean and largest power");
	ok(about(number(device, "energy_j"), 300) &&
		   about(number(device, "energy_s"), 2),
	   "energy is the trapezoid over real times");
	ok(about(number(member(device, "mem_used_mib"), "max"), 2048) &&
		   about(number(device, "mem_total_mib"), 81920),
	   "peak of memory, and how much there is");
	ok(cJSON_IsNull(member(device, "temp_c")),
	   "what was never read is null, not 0");
	ok(about(number(device, "interval_ms"), 1000), "the interval is told");
	ok(about(number(nth(summary, "devices", 1), "energy_j"), 125),
	   "an interval of 2.5 s counts with its length");
	ok(about(number(summary, "energy_j"), 425) &&
		   about(number(summary, "power_w"), 500.0 / 3 + 50),
	   "the job's energy and power are the devices' sums");
	ok(about(number(summary, "mem_used_mib"), 2048) &&
		   about(number(summary, "mem_total_mib"), 81920),
	   "its memory is that of the fullest device");
	usage_summarize((const struct usage *const *)usage, 2, NULL, &sums,
			NULL);
	usage_memories(&sums, &memories, NULL);
	ok(memories.count == 2 && about(memories.items[0], 2048) &&
		   about(memories.items[1], 100),
	   "and there is a list of all peaks");
	free(memories.items);
	codec_clear(&usage_summary_schema, &sums);
	usage_free(usage[0]);
	usage[0] = fed(&text, 1);
	again = usage_tree((const struct usage *const *)usage, 1);
	one = cJSON_PrintUnformatted(summary);
	two = cJSON_PrintUnformatted(again);
	is(two, one, "fed byte by byte it is the same");
	cJSON_free(one);
	cJSON_free(two);
	cJSON_Delete(summary);
	cJSON_Delete(again);
	usage_free(usage[0]);
}

static void gaps(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	const struct usage *usage;
	struct doubles memories = { 0 };
	struct usage_summary sums;
	cJSON *summary, *list;
	const cJSON *device;

	put_head(&text, "n1", 0, 2);
	put(&text, 10000, 0, 100, 0);
	put(&text, 15000, 0, 100, 0);
	put(&text, 15500, 0, -1, 0);
	put(&text, 21000, 0, 100, 0);
	put(&text, 20000, 0, 100, 0);
	put(&text, 22000, 0, 100, 0);
	usage = fed(&text, 100);
	summary = usage_tree(&usage, 1);
	device = nth(summary, "devices", 0);
	ok(about(number(device, "energy_j"), 700),
	   "five intervals are bridged, six are not, time never runs back");
	ok(number(device, "gaps") == 1 && about(number(device, "gaps_s"), 6),
	   "the gap is stated");
	ok(cJSON_IsNull(member(summary, "energy_j")) &&
		   cJSON_IsNull(member(summary, "power_w")),
	   "a device that never told makes no sum of the rest");
	usage_summarize(&usage, 1, NULL, &sums, NULL);
	list = remarks_of(&sums);
	is(cJSON_GetStringValue(cJSON_GetArrayItem(list, 0)),
	   "n1: device 0 was not sampled for 6.0 s, and its energy lacks that "
	   "time",
	   "the gap is told in words");
	is(cJSON_GetStringValue(cJSON_GetArrayItem(list, 1)),
	   "n1: device 3 was never sampled", "and so is the silence");
	usage_memories(&sums, &memories, NULL);
	ok(!memories.count, "and makes no list of peaks");
	codec_clear(&usage_summary_schema, &sums);
	cJSON_Delete(list);
	cJSON_Delete(summary);
	usage_free((struct usage *)usage);
}

static void hosts(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	struct host_usage_sample host = { .has = 1U << HOST_CPU_PCT |
						 1U << HOST_POWER_W };
	const struct usage *usage;
	const cJSON *first;
	cJSON *summary, *curves;

	put_head(&text, "n1", 4, 0);
	host.value[HOST_CPU_PCT] = 10;
	host.value[HOST_POWER_W] = 700;
	sample_format_put_host(&text, 1000, &host, NULL);
	host.value[HOST_CPU_PCT] = 30;
	host.has = 1U << HOST_CPU_PCT;
	sample_format_put_host(&text, 2000, &host, NULL);
	usage = fed(&text, 7);
	summary = usage_tree(&usage, 1);
	first = nth(summary, "hosts", 0);
	ok(about(number(member(first, "cpu_pct"), "mean"), 20) &&
		   about(number(member(first, "power_w"), "max"), 700),
	   "the host's readings stand beside");
	ok(number(first, "rank") == 4 && number(first, "offset_ms") == -3 &&
		   number(first, "round_trip_ms") == 1,
	   "with the offset of its clock and how well it is known");
	ok(cJSON_IsNull(member(summary, "energy_j")) &&
		   cJSON_IsNull(member(summary, "mem_used_mib")),
	   "a node without devices has no figures of them");
	curves = usage_host_curves(&usage, 1, NULL);
	first = cJSON_GetArrayItem(member(cJSON_GetArrayItem(curves, 0),
					  "cpu_pct"),
				   1);
	ok(cJSON_GetArraySize(curves) == 1 &&
		   about(cJSON_GetNumberValue(cJSON_GetArrayItem(first, 0)),
			 1.5) &&
		   about(cJSON_GetNumberValue(cJSON_GetArrayItem(first, 1)),
			 30),
	   "its processors over time, from its own first sample");
	cJSON_Delete(curves);
	cJSON_Delete(summary);
	usage_free((struct usage *)usage);
}

/* What two nodes say of their networks in a job of two samples. */
static void networks(void)
{
	const struct usage *streams[2];
	struct usage_summary sums;
	cJSON *list;

	for (int i = 0; i < 2; i++) {
		owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
		struct host_usage_sample host = {
			.has = 1U << HOST_NET_ERRORS |
			       1U << HOST_NET_RETRANSMITS
		};

		put_head(&text, i ? "n2" : "n1", (uint32_t)i, 0);
		host.value[HOST_NET_ERRORS] = 500;
		host.value[HOST_NET_RETRANSMITS] = 7000;
		sample_format_put_host(&text, 1000, &host, NULL);
		host.value[HOST_NET_ERRORS] = i ? 502 : 500;
		host.value[HOST_NET_RETRANSMITS] = i ? 8234 : 7010;
		sample_format_put_host(&text, 2000, &host, NULL);
		streams[i] = fed(&text, 50);
	}
	usage_summarize(streams, 2, NULL, &sums, NULL);
	ok(about(sums.hosts[0].net_errors, 0) &&
		   about(sums.hosts[1].net_errors, 2) &&
		   about(sums.hosts[0].net_retransmits, 10),
	   "what a network did wrong in the job, not before");
	list = remarks_of(&sums);
	ok(has_text(list, "n2: 2 errors of its network during the job") &&
		   has_text(list, "n2: 1234 packets of RDMA were lost and sent "
				  "again during the job"),
	   "is told of its node");
	is_int(cJSON_GetArraySize(list), 2,
	       "and a few lost packets are not told");
	cJSON_Delete(list);
	codec_clear(&usage_summary_schema, &sums);
	usage_free((struct usage *)streams[0]);
	usage_free((struct usage *)streams[1]);
}

static void errors(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	const struct usage *usage;
	struct usage_summary sums;
	cJSON *summary, *list;
	char cause[600];

	put_head(&text, "n1", 0, 0);
	for (int i = 0; i < 3; i++)
		sample_format_put_error(&text, 1000 + i, "tool: gone\n\"away\"",
					NULL);
	for (int i = 0; i < 40; i++) {
		memset(cause, 'x', sizeof(cause) - 1);
		cause[sizeof(cause) - 1] = 0;
		cause[0] = (char)('A' + i);
		sample_format_put_error(&text, 2000 + i, cause, NULL);
	}
	usage = fed(&text, 100);
	summary = usage_tree(&usage, 1);
	is_int(cJSON_GetArraySize(member(summary, "errors")), USAGE_ERRORS_MAX,
	       "so many different errors are kept");
	is(cJSON_GetStringValue(member(nth(summary, "errors", 0), "text")),
	   "tool: gone?\"away\"", "in words without control characters");
	ok(number(nth(summary, "errors", 0), "count") == 3,
	   "the same is counted");
	ok(number(nth(summary, "errors", USAGE_ERRORS_MAX - 1), "count") ==
		   40 - USAGE_ERRORS_MAX + 2,
	   "and what is more than that");
	usage_summarize(&usage, 1, NULL, &sums, NULL);
	list = remarks_of(&sums);
	is(cJSON_GetStringValue(cJSON_GetArrayItem(list, 0)),
	   "n1: monitor: tool: gone?\"away\"", "the result can tell it");
	codec_clear(&usage_summary_schema, &sums);
	cJSON_Delete(list);
	cJSON_Delete(summary);
	usage_free((struct usage *)usage);
}

/* A reading each second of devices 0 and 3, of which the second is slow. */
static void put_state(struct buffer *text, int64_t time_ms, double throttle,
		      double errors)
{
	struct device_sample row = { 0 };
	const struct device_sample *rows[] = { &row, &row };
	const uint32_t indices[] = { 0, 3 };

	row.value[READING_THROTTLE_POWER_PCT] = throttle;
	row.value[READING_LINK_ERRORS] = errors;
	row.value[READING_CLOCK_MHZ] = 2000;
	row.has = 1U << READING_THROTTLE_POWER_PCT | 1U << READING_LINK_ERRORS |
		  1U << READING_CLOCK_MHZ;
	sample_format_put_devices(text, time_ms, SAMPLE_FORMAT_ALL, indices,
				  rows, 1, NULL);
	row.value[READING_CLOCK_MHZ] = 1820;
	row.value[READING_LINK_ERRORS] = 8;
	row.value[READING_THROTTLE_POWER_PCT] = 0;
	row.value[READING_POWER_W] = 300;
	row.has |= 1U << READING_POWER_W;
	sample_format_put_devices(text, time_ms, SAMPLE_FORMAT_ALL, indices + 1,
				  rows, 1, NULL);
}

/* Nodes with two devices each, of which only these powers and clocks are not
 * like those of the others.
 */
struct odd {
	uint32_t node, device; /* 1: both of its devices */
	double power_w, clock_mhz;
	int64_t from_s; /* until 70; the job begins at 10 */
};

static struct usage *odd_node(uint32_t node, const struct odd *odd)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	char name[16];

	snprintf(name, sizeof(name), "n%u", node);
	put_head(&text, name, node, 2);
	for (int64_t s = 1; s < 70; s++)
		for (uint32_t i = 0; i < 4; i += 3) {
			bool is_odd = node == odd->node && s >= odd->from_s &&
				      (odd->device == 1 || odd->device == i);
			struct device_sample row = {
				.has = 1U << READING_POWER_W |
				       1U << READING_CLOCK_MHZ
			};
			const struct device_sample *rows[] = { &row };

			row.value[READING_POWER_W] = s < 10   ? 100
						     : is_odd ? odd->power_w
							      : 500 + node;
			row.value[READING_CLOCK_MHZ] =
				is_odd ? odd->clock_mhz : 1900;
			sample_format_put_devices(&text, s * 1000,
						  SAMPLE_FORMAT_ALL, &i, rows,
						  1, NULL);
		}
	return fed(&text, 4096);
}

/* What is told of these nodes, and while the job runs. */
static void straggler_is(uint32_t nodes, const struct odd *odd,
			 const char *want, const char *live)
{
	static const struct usage_span steady = { 10000, 70000 };
	struct usage *streams[4] = { 0 };
	const struct usage *const *list = (const struct usage *const *)streams;
	struct straggler *now = NULL;
	struct usage_summary sums;
	const char *text = NULL;
	const cJSON *item;
	cJSON *told;

	for (uint32_t i = 0; i < nodes; i++)
		streams[i] = odd_node(i, odd);
	usage_summarize(list, nodes, &steady, &sums, NULL);
	straggler_find(list, nodes, NULL, &now, NULL);
	told = remarks_of(&sums);
	cJSON_ArrayForEach(item, told)
		if (strstr(item->valuestring, "waited"))
			text = item->valuestring;
	is(text, want, "who works while the others wait: %s",
	   want ? want : "nobody");
	is(now ? now->who : NULL, live, "and is named while the job runs");
	cJSON_Delete(told);
	if (now)
		codec_clear(&straggler_schema, now);
	free(now);
	codec_clear(&usage_summary_schema, &sums);
	for (uint32_t i = 0; i < nodes; i++)
		usage_free(streams[i]);
}

static void stragglers(void)
{
	static const struct odd even = { .node = 9 };
	static const struct odd slow = { 2, 1, 625, 1880, 10 };
	static const struct odd late = { 2, 1, 625, 1880, 36 };
	static const struct odd device = { 1, 3, 625, 1900, 10 };
	static const struct odd boosted = { 2, 1, 625, 2100, 10 };
	static const struct odd little = { 2, 1, 540, 1900, 10 };
	static const struct odd short_one = { 2, 1, 625, 1880, 60 };

	straggler_is(4, &even, NULL, NULL);
	straggler_is(4, &slow,
		     "n2 was at least 20 % slower than its 3 peers throughout: "
		     "it drew 25 % more power, while they waited",
		     "n2");
	straggler_is(4, &late,
		     "n2 was at least 20 % slower than its 3 peers for 56 % of "
		     "the time: it drew 25 % more power, while they waited",
		     "n2");
	straggler_is(2, &device,
		     "n1 device 3 was at least 20 % slower than its 3 peers "
		     "throughout: it drew 25 % more power, while they waited",
		     "n1 device 3");
	straggler_is(4, &boosted, NULL, NULL);
	straggler_is(4, &little, NULL, NULL);
	straggler_is(4, &short_one, NULL, NULL);
}

static void states(void)
{
	static const struct usage_span steady = { 20000, 70000 };
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	const struct usage *usage;
	struct usage_summary sums;
	cJSON *list;

	put_head(&text, "n1", 0, 2);
	/* Held down in the warm-up, and 6 s of the 50 s after it. */
	for (int64_t s = 10; s <= 70; s++)
		put_state(&text, s * 1000, s < 20 || s >= 64 ? 100 : 0,
			  s < 40 ? 4 : 7);
	usage = fed(&text, 333);
	usage_summarize(&usage, 1, &steady, &sums, NULL);
	ok(about(sums.throttled_pct, 12) && about(sums.clock_mhz, 1910) &&
		   about(sums.steady_s, 50),
	   "of the steady state: what was held down, and the mean clock");
	ok(about(sums.devices[0].link_errors, 3) &&
		   about(sums.devices[1].link_errors, 0),
	   "of the job: by how much a counter grew");
	is_int((int)sums.devices[1].power_samples, 61,
	       "how often power was read");
	list = remarks_of(&sums);
	ok(has_text(list, "n1: device 0 was throttled 12 % of the 50 s of "
			  "the steady state (power)"),
	   "a clock that was held down is told");
	ok(has_text(list, "n1: the clock of device 3 was 9 % below the other "
			  "devices"),
	   "and one that is below the others");
	ok(has_text(list, "n1: 3 link errors during the job (device 0)"),
	   "and errors of a link");
	is_int(cJSON_GetArraySize(list), 3, "and nothing else");
	cJSON_Delete(list);
	codec_clear(&usage_summary_schema, &sums);
	usage_summarize(&usage, 1, NULL, &sums, NULL);
	list = remarks_of(&sums);
	ok(has_text(list, "n1: device 0 was throttled 28 % (power)"),
	   "without a known steady state it is of the job");
	cJSON_Delete(list);
	codec_clear(&usage_summary_schema, &sums);
	usage_free((struct usage *)usage);
}

static void few_powers(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	const struct usage *usage;
	struct usage_summary sums;
	cJSON *list;

	put_head(&text, "n1", 0, 1);
	for (int64_t s = 0; s < 59; s++)
		put(&text, s * 1000, 0, 100, 5);
	usage = fed(&text, 333);
	usage_summarize(&usage, 1, NULL, &sums, NULL);
	is(sums.power_source, "device, by tool", "what read the power is told");
	list = remarks_of(&sums);
	ok(has_text(list, "the power of a device is the mean of 59 samples, "
			  "fewer than 60"),
	   "a power of few samples is told");
	cJSON_Delete(list);
	codec_clear(&usage_summary_schema, &sums);
	usage_free((struct usage *)usage);
}

static void nonsense(void)
{
	static const char no_interval[] =
		"{\"trace\":1,\"node\":\"n\",\"rank\":0,\"time_ms\":1,"
		"\"interval_ms\":0,\"clock\":true,\"columns\":[],\"host\":[]}";
	static const char *const lines[] = {
		" ",
		"x",
		"[]",
		"{}",
		"{\"t\":1}",
		"{\"t\":-1,\"h\":[]}",
		"{\"t\":1,\"d\":[[]]}",
		"{\"t\":1,\"d\":[[-1]]}",
		"{\"t\":1,\"d\":[7]}",
		"{\"t\":1,\"d\":[[\"x\"]]}",
		"{\"t\":1e99,\"d\":[]}",
		"{\"trace\":2}",
		no_interval,
	};
	size_t count = sizeof(lines) / sizeof(lines[0]);
	owned(buffer_clear) struct buffer text = BUFFER_INIT(8 << 20);
	const struct usage *usage;
	owned_free char *huge = malloc(3 << 20);
	cJSON *summary;

	put(&text, 1000, 0, 5, 5); /* before any head */
	put_head(&text, "n1", 0, 1);
	for (size_t i = 0; i < count; i++)
		buffer_printf(&text, NULL, "%s\n", lines[i]);
	memset(huge, '[', 3 << 20);
	buffer_append(&text, huge, 3 << 20, NULL);
	buffer_text(&text, "\n", NULL);
	put(&text, 2000, 0, 5, 5);
	buffer_text(&text, "{\"t\":3000,\"d\":[[0", NULL); /* cut off */
	usage = fed(&text, 4096);
	summary = usage_tree(&usage, 1);
	ok(number(summary, "broken_lines") == (double)count + 2,
	   "lines that are none are counted: %g",
	   number(summary, "broken_lines"));
	ok(number(nth(summary, "devices", 0), "samples") == 1,
	   "and the good ones between them are read");
	cJSON_Delete(summary);
	usage_free((struct usage *)usage);
}

int main(void)
{
	tap_begin(40);
	figures();
	gaps();
	hosts();
	networks();
	errors();
	states();
	stragglers();
	few_powers();
	nonsense();
	return tap_done();
}
