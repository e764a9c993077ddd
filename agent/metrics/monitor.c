/* monitor.c - samples of devices and host, while tasks run on this node.
 */
#include "agent/metrics/monitor.h"
#include "agent/metrics/host_usage.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/subprocess.h"
#include "protocol/hardware/device_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>

#define IPMI_INTERVAL_MS 5000 /* a BMC takes a second to answer */
#define IPMI_TIMEOUT_MS 10000
#define IPMI_OUTPUT_MAX 65536
#define FAILING_MS 30000 /* between tries of what fails again and again */
#define STUCK_MS 60000   /* after a tool that cannot be killed */
#define TELL_MS 10000    /* between errors whose words differ */
#define FIRST_MS 200     /* a task that is over by then has no samples */
#define CLOCK_STEP_MS 3  /* a better guess by less than that is no news */
#define TEXT_MAX (256 << 10)

/* A program that is run again and again. */
struct runner {
	struct monitor *monitor;
	struct subprocess *tool; /* it runs now */
	int64_t started_ms, not_before_ms;
	bool stuck;            /* the last run could not be killed */
	unsigned int failures; /* in a row */
	char trouble[SAMPLE_FORMAT_TEXT_MAX]; /* "" while all is well */
	int64_t told_ms;
};

struct monitor_stream {
	struct monitor *monitor;
	uint32_t rank;
	uint32_t indices[DEVICES_MAX];
	size_t count;
	int fd;
	bool begun; /* its head is written */
	bool full;  /* the last write failed */
	bool blind; /* it was told of a device that has no row */
	TAILQ_ENTRY(monitor_stream) next;
};

struct monitor {
	sd_event *loop;
	const struct monitor_config *config;
	struct host_usage *host;
	struct runner device, ipmi;
	struct strings ipmi_argv;
	double host_w; /* by IPMI */
	bool host_w_known;
	sd_event_source *timer;
	int64_t due_ms;
	uint32_t stated_ms; /* the interval that heads state */
	bool clock;         /* what heads state of the clock */
	struct exchange exchange;
	TAILQ_HEAD(, monitor_stream) streams;
	int64_t watched_until_ms; /* monotonic; somebody watches until then */
	struct samples last;      /* of the devices, */
	int64_t last_ms;          /* and when it was read */
	struct host_usage_sample host_last;
	int64_t host_last_ms;
};

/* Streams. */

/* All or nothing of it: a stream has whole lines, and its head first. */
static void stream_write(struct monitor_stream *stream,
			 const struct buffer *text)
{
	struct stat before = { 0 };
	ssize_t n;

	if (!stream->begun || fstat(stream->fd, &before) < 0)
		return;
	n = write(stream->fd, text->data, text->size);
	if (n == (ssize_t)text->size) {
		stream->full = false;
		return;
	}
	if (n > 0 && ftruncate(stream->fd, before.st_size) < 0)
		log_debug("samples: %s", strerror(errno));
	if (!stream->full)
		log_warning("samples of rank=%u are not kept: %s", stream->rank,
			    n < 0 ? strerror(errno) : "the disk is full");
	stream->full = true;
}

static void write_all(struct monitor *monitor, const struct buffer *text)
{
	struct monitor_stream *stream;

	TAILQ_FOREACH(stream, &monitor->streams, next)
	{
		stream_write(stream, text);
	}
}

static const struct devices *devices_now(const struct monitor *monitor)
{
	const struct monitor_config *config = monitor->config;
	const struct devices *devices =
		config->devices ? config->devices(config->arg) : NULL;

	return devices && devices->count ? devices : NULL;
}

static const struct device_info *device_of(const struct devices *devices,
					   uint32_t index)
{
	for (size_t i = 0; devices && i < devices->count; i++)
		if (devices->list[i].index == index)
			return &devices->list[i];
	return NULL;
}

/* Times in the streams: of the controller, once its clock is known. */
static int64_t stream_time(const struct monitor *monitor, int64_t mono_ms)
{
	int64_t ahead_ms =
		monitor->clock ? monitor->exchange.ahead_ms : clock_ahead_ms();

	return mono_ms + ahead_ms;
}

static const struct strings *tool_argv(const struct monitor *monitor)
{
	const struct profile *profile = monitor->config->profile;

	return profile && profile->monitor.sampler &&
			       profile->monitor.command.count
		       ? &profile->monitor.command
		       : NULL;
}

static void put_head(struct monitor_stream *stream)
{
	const struct monitor *monitor = stream->monitor;
	const struct devices *devices = devices_now(monitor);
	const struct strings *argv = tool_argv(monitor);
	struct sample_format_device list[DEVICES_MAX] = { 0 };
	int64_t now_ms = clock_mono_ms();
	struct sample_format_head head = {
		.node = (char *)monitor->config->node,
		.rank = stream->rank,
		.time_ms = stream_time(monitor, now_ms),
		.interval_ms = monitor->stated_ms,
		.clock = monitor->clock,
		.tool = argv ? argv->items[0] : NULL,
		.cpus = (char *)monitor->config->cpus_text,
		.devices = list,
		.devices_count = argv ? stream->count : 0,
	};
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, TEXT_MAX);
	if (monitor->clock) {
		head.offset_ms = monitor->exchange.ahead_ms - clock_ahead_ms();
		head.round_trip_ms = monitor->exchange.round_trip_ms;
	}
	for (size_t i = 0; i < stream->count; i++) {
		const struct device_info *device =
			device_of(devices, stream->indices[i]);

		list[i].index = stream->indices[i];
		list[i].bus_id = device ? device->bus_id : NULL;
		list[i].name = device ? device->name : NULL;
	}
	if (sample_format_put_head(&text, &head, NULL) == 0)
		stream_write(stream, &text);
	strings_clear(&head.columns);
	strings_clear(&head.host);
}

static void put_heads(struct monitor *monitor)
{
	struct monitor_stream *stream;

	TAILQ_FOREACH(stream, &monitor->streams, next)
	{
		put_head(stream);
	}
}

static void put_error(struct monitor_stream *stream, const char *words)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, TEXT_MAX);
	if (sample_format_put_error(&text,
				    stream_time(stream->monitor,
						clock_mono_ms()),
				    words, NULL) == 0)
		stream_write(stream, &text);
}

/* Runners. */

/* It failed: say so once for each cause, and try less and less often. */
static void runner_failed(struct runner *runner, const char *words)
{
	struct monitor *monitor = runner->monitor;
	int64_t now_ms = clock_mono_ms();
	int64_t wait_ms = (int64_t)monitor->config->interval_ms
			  << (runner->failures < 8 ? runner->failures : 8);
	struct monitor_stream *stream;

	runner->failures++;
	runner->not_before_ms =
		now_ms + (wait_ms < FAILING_MS ? wait_ms : FAILING_MS);
	if (!strcmp(runner->trouble, words) ||
	    (*runner->trouble && now_ms - runner->told_ms < TELL_MS))
		return;
	snprintf(runner->trouble, sizeof(runner->trouble), "%s", words);
	runner->told_ms = now_ms;
	log_warning("monitor: %s", words);
	TAILQ_FOREACH(stream, &monitor->streams, next)
	{
		put_error(stream, words);
	}
}

static void runner_well(struct runner *runner)
{
	runner->stuck = false;
	runner->failures = 0;
	runner->trouble[0] = 0;
}

/* The next task sees for itself what is wrong. */
static void runner_stop(struct runner *runner)
{
	subprocess_cancel(take(runner->tool));
	if (runner->stuck)
		return; /* still not before its time */
	runner_well(runner);
	runner->not_before_ms = 0;
}

/* What a tool said that failed: its complaint, or else its first words. */
static void tool_words(const char *name, const struct subprocess_output *output,
		       char words[SAMPLE_FORMAT_TEXT_MAX])
{
	const char *said = output->complaint;
	size_t size = strlen(said);

	if (!size) {
		said = output->text + strspn(output->text, " \t\r\n");
		size = strcspn(said, "\r\n");
	}
	snprintf(words, SAMPLE_FORMAT_TEXT_MAX, "%s: exit code %d%s%.*s", name,
		 output->exit_code, size ? ": " : "",
		 (int)(size < 300 ? size : 300), said);
	words[strcspn(words, "\n")] = 0;
}

/* Tells in words what kept the runner from a reading, if anything did. */
static bool runner_check(struct runner *runner, const char *name,
			 const struct error *err,
			 const struct subprocess_output *output)
{
	char words[SAMPLE_FORMAT_TEXT_MAX];

	runner->tool = NULL;
	if (err) {
		runner_failed(runner, err->text);
		runner->stuck = err->code == EBUSY;
		if (runner->stuck)
			runner->not_before_ms = clock_mono_ms() + STUCK_MS;
		return false;
	}
	if (!output->exit_code)
		return true;
	tool_words(name, output, words);
	runner_failed(runner, words);
	return false;
}

static void runner_start(struct runner *runner, const struct strings *argv,
			 const struct strings *env, uint32_t timeout_ms,
			 size_t output_max, subprocess_done_fn *done)
{
	const struct monitor_config *config = runner->monitor->config;
	const struct subprocess_command command = {
		.argv = argv,
		.env = env,
		.bin = config->roots->bin,
		.timeout_ms = timeout_ms,
		.output_max = output_max,
		.cpus = config->cpus,
	};
	struct error err;

	if (runner->tool || clock_mono_ms() < runner->not_before_ms)
		return;
	runner->started_ms = clock_mono_ms();
	runner->tool = subprocess_run(runner->monitor->loop, &command, done,
				      runner, &err);
	if (!runner->tool)
		runner_failed(runner, err.text);
}

/* Devices. */

/* A device's row: of those that belong to the node's devices, or by place. */
static const struct device_sample *
row_for(const struct devices *devices, const struct samples *samples,
	const struct device_sample *const *rows, uint32_t index)
{
	for (size_t i = 0; devices && i < devices->count; i++)
		if (devices->list[i].index == index)
			return rows[i];
	return !devices && index < samples->count ? &samples->rows[index]
						  : NULL;
}

static void put_devices(struct monitor_stream *stream, int64_t time_ms,
			const struct devices *devices,
			const struct samples *samples,
			const struct device_sample *const *rows)
{
	const struct device_sample *mine[DEVICES_MAX];
	owned(buffer_clear) struct buffer text;
	size_t missing = 0;
	char words[120];

	buffer_init(&text, TEXT_MAX);
	for (size_t i = 0; i < stream->count; i++) {
		mine[i] = row_for(devices, samples, rows, stream->indices[i]);
		if (!mine[i] && !missing++)
			snprintf(words, sizeof(words),
				 "%.60s: says nothing of device %u",
				 tool_argv(stream->monitor)->items[0],
				 stream->indices[i]);
	}
	if (sample_format_put_devices(&text, time_ms, stream->indices, mine,
				      stream->count, NULL) == 0)
		stream_write(stream, &text);
	if (missing && !stream->blind)
		put_error(stream, words);
	stream->blind = missing > 0;
}

/* Tools that take longer than the interval are run as often as they end. */
static void state_interval(struct monitor *monitor, uint32_t took_ms)
{
	uint32_t interval_ms = monitor->config->interval_ms;
	uint32_t turns = took_ms / interval_ms + 1;
	uint32_t real_ms = turns * interval_ms;

	if (2 * real_ms >= monitor->stated_ms && real_ms <= monitor->stated_ms)
		return;
	monitor->stated_ms = real_ms;
	put_heads(monitor);
}

static void devices_done(void *arg, const struct error *err,
			 const struct subprocess_output *output)
{
	struct runner *runner = arg;
	struct monitor *monitor = runner->monitor;
	const struct monitor_rules *rules = &monitor->config->profile->monitor;
	const char *name = rules->command.items[0];
	const struct devices *devices = devices_now(monitor);
	const struct device_sample *rows[DEVICES_MAX] = { NULL };
	owned(samples_clear) struct samples samples = { 0 };
	struct monitor_stream *stream;
	int64_t time_ms;
	struct error why;

	if (!runner_check(runner, name, err, output))
		return;
	if (sampler_read(rules->sampler, output->text, output->size, &samples,
			 &why) < 0) {
		error_prefix(&why, "%s", name);
		runner_failed(runner, why.text);
		return;
	}
	runner_well(runner);
	state_interval(monitor, output->took_ms);
	if (devices)
		device_rows(devices, &samples, rows);
	time_ms =
		stream_time(monitor, runner->started_ms + output->took_ms / 2);
	TAILQ_FOREACH(stream, &monitor->streams, next)
	{
		put_devices(stream, time_ms, devices, &samples, rows);
	}
	samples_clear(&monitor->last);
	monitor->last = samples;
	samples = (struct samples){ 0 };
	monitor->last_ms = clock_mono_ms();
}

/* The host. */

static void ipmi_done(void *arg, const struct error *err,
		      const struct subprocess_output *output)
{
	struct runner *runner = arg;
	struct monitor *monitor = runner->monitor;
	static const char label[] = "Instantaneous power reading:";
	const char *at;
	char *end;

	monitor->host_w_known = false;
	if (!runner_check(runner, "ipmitool", err, output))
		return;
	at = strstr(output->text, label);
	at = at ? at + strlen(label) : "";
	monitor->host_w = strtod(at, &end);
	if (end == at || strncmp(end + strspn(end, " "), "Watts", 5) != 0) {
		runner_failed(runner, "ipmitool: no power reading in what it "
				      "prints");
		return;
	}
	runner_well(runner);
	runner->not_before_ms = runner->started_ms + IPMI_INTERVAL_MS;
	monitor->host_w_known = true;
}

static void take_host(struct monitor *monitor, int64_t now_ms)
{
	owned(buffer_clear) struct buffer text;
	struct host_usage_sample sample;

	buffer_init(&text, TEXT_MAX);
	host_usage_take(monitor->host, now_ms, &sample);
	if (monitor->host_w_known) {
		sample.value[HOST_POWER_W] = monitor->host_w;
		sample.has |= 1U << HOST_POWER_W;
	}
	if (sample_format_put_host(&text, stream_time(monitor, now_ms), &sample,
				   NULL) == 0)
		write_all(monitor, &text);
	monitor->host_last = sample;
	monitor->host_last_ms = now_ms;
}

/* Time. */

/* A first look at the controller's clock, or a better one: tell it. */
static void look_at_clock(struct monitor *monitor)
{
	const struct monitor_config *config = monitor->config;
	struct exchange now;

	if (!config->clock || !config->clock(config->arg, &now))
		return;
	if (monitor->clock &&
	    now.round_trip_ms >= monitor->exchange.round_trip_ms &&
	    llabs(now.ahead_ms - monitor->exchange.ahead_ms) < CLOCK_STEP_MS)
		return;
	monitor->clock = true;
	monitor->exchange = now;
	put_heads(monitor);
}

/* What an agent before us left may end in half a line. */
static void end_line(struct monitor_stream *stream)
{
	struct buffer newline = { .data = (char *)"\n", .size = 1 };
	struct stat st;

	if (fstat(stream->fd, &st) == 0 && st.st_size)
		stream_write(stream, &newline);
}

static void begin_streams(struct monitor *monitor)
{
	struct monitor_stream *stream;

	TAILQ_FOREACH(stream, &monitor->streams, next)
	{
		if (stream->begun)
			continue;
		stream->begun = true;
		end_line(stream);
		put_head(stream);
		if (*monitor->device.trouble)
			put_error(stream, monitor->device.trouble);
		if (*monitor->ipmi.trouble)
			put_error(stream, monitor->ipmi.trouble);
	}
}

/* No task is left, and nobody watches. */
static void rest(struct monitor *monitor)
{
	if (!TAILQ_EMPTY(&monitor->streams) ||
	    clock_mono_ms() < monitor->watched_until_ms)
		return;
	loop_timer_stop(monitor->timer);
	runner_stop(&monitor->device);
	runner_stop(&monitor->ipmi);
	monitor->host_w_known = false;
	monitor->watched_until_ms = 0;
}

static int tick(sd_event_source *source, uint64_t usec, void *arg)
{
	struct monitor *monitor = arg;
	const struct strings *argv = tool_argv(monitor);
	int64_t now_ms = clock_mono_ms(), interval_ms;

	look_at_clock(monitor);
	begin_streams(monitor);
	take_host(monitor, now_ms);
	if (argv)
		runner_start(&monitor->device, argv,
			     &monitor->config->profile->monitor.env,
			     monitor->config->profile->monitor.timeout_ms,
			     SAMPLE_TEXT_MAX, devices_done);
	if (monitor->config->ipmi)
		runner_start(&monitor->ipmi, &monitor->ipmi_argv, NULL,
			     IPMI_TIMEOUT_MS, IPMI_OUTPUT_MAX, ipmi_done);
	/* On a grid, so that the mean interval is the one asked for. */
	interval_ms = TAILQ_EMPTY(&monitor->streams)
			      ? MONITOR_WATCH_INTERVAL_MS
			      : monitor->config->interval_ms;
	monitor->due_ms += interval_ms;
	if (monitor->due_ms <= now_ms)
		monitor->due_ms = now_ms + interval_ms;
	loop_timer(monitor->loop, &monitor->timer,
		   (uint64_t)(monitor->due_ms - now_ms), tick, monitor, NULL);
	rest(monitor);
	return 0;
}

/* Beginning and ending. */

struct monitor *monitor_new(sd_event *loop, const struct monitor_config *config,
			    struct error *err)
{
	static const char *const ipmi[] = { "ipmitool", "dcmi", "power",
					    "reading" };
	owned(monitor_free) struct monitor *monitor =
		calloc(1, sizeof(*monitor));

	if (!monitor) {
		error_nomem(err, "monitor");
		return NULL;
	}
	TAILQ_INIT(&monitor->streams);
	monitor->loop = sd_event_ref(loop);
	monitor->config = config;
	monitor->device.monitor = monitor;
	monitor->ipmi.monitor = monitor;
	monitor->stated_ms = config->interval_ms;
	for (size_t i = 0; i < sizeof(ipmi) / sizeof(ipmi[0]); i++)
		if (strings_add(&monitor->ipmi_argv, ipmi[i], err) < 0)
			return NULL;
	monitor->host =
		host_usage_new(config->roots->sys, config->roots->proc, err);
	return monitor->host ? take(monitor) : NULL;
}

void monitor_free(struct monitor *monitor)
{
	struct monitor_stream *stream;

	if (!monitor)
		return;
	while ((stream = TAILQ_FIRST(&monitor->streams)))
		monitor_end(stream);
	monitor->watched_until_ms = 0;
	rest(monitor);
	samples_clear(&monitor->last);
	loop_source_free(&monitor->timer);
	strings_clear(&monitor->ipmi_argv);
	host_usage_free(monitor->host);
	sd_event_unref(monitor->loop);
	free(monitor);
}

static int take_indices(struct monitor_stream *stream,
			const struct strings *devices, struct error *err)
{
	for (size_t i = 0; i < devices->count; i++) {
		char *end;
		unsigned long index = strtoul(devices->items[i], &end, 10);

		if (*end || end == devices->items[i] || index >= DEVICES_MAX ||
		    stream->count >= DEVICES_MAX)
			return error_set(err, EINVAL,
					 "devices: '%.20s' is not valid here; "
					 "expected 0 to %d",
					 devices->items[i], DEVICES_MAX - 1);
		stream->indices[stream->count++] = (uint32_t)index;
	}
	return 0;
}

static void stream_free(struct monitor_stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	free(stream);
}
OWNED_POINTER(struct monitor_stream, stream_free)

struct monitor_stream *monitor_begin(struct monitor *monitor, uint32_t rank,
				     const struct strings *devices, int fd,
				     struct error *err)
{
	owned(stream_free) struct monitor_stream *stream =
		calloc(1, sizeof(*stream));
	struct monitor_stream *begun;

	if (!stream) {
		close(fd);
		error_nomem(err, "samples");
		return NULL;
	}
	stream->monitor = monitor;
	stream->rank = rank;
	stream->fd = fd;
	if (take_indices(stream, devices, err) < 0)
		return NULL;
	if (TAILQ_EMPTY(&monitor->streams)) {
		monitor->due_ms = clock_mono_ms() + FIRST_MS;
		if (loop_timer(monitor->loop, &monitor->timer, FIRST_MS, tick,
			       monitor, err) < 0)
			return NULL;
	}
	begun = take(stream);
	TAILQ_INSERT_TAIL(&monitor->streams, begun, next);
	return begun;
}

void monitor_end(struct monitor_stream *stream)
{
	struct monitor *monitor = stream ? stream->monitor : NULL;

	if (!stream)
		return;
	TAILQ_REMOVE(&monitor->streams, stream, next);
	stream_free(stream);
	rest(monitor);
}

/* Who watches. */

void monitor_watch(struct monitor *monitor)
{
	int64_t now_ms = clock_mono_ms();

	if (TAILQ_EMPTY(&monitor->streams) && !monitor->watched_until_ms) {
		monitor->due_ms = now_ms;
		loop_timer(monitor->loop, &monitor->timer, 0, tick, monitor,
			   NULL);
	}
	monitor->watched_until_ms = now_ms + MONITOR_WATCH_MS;
}

size_t monitor_devices(const struct monitor *monitor, struct device_metrics *to)
{
	const struct devices *devices = devices_now(monitor);
	const struct device_sample *rows[DEVICES_MAX] = { NULL };
	size_t count = 0;

	if (clock_mono_ms() - monitor->last_ms > MONITOR_WATCH_MS)
		return 0;
	if (devices)
		device_rows(devices, &monitor->last, rows);
	for (uint32_t index = 0; index < DEVICES_MAX; index++) {
		const struct device_sample *row =
			row_for(devices, &monitor->last, rows, index);
		const struct device_info *device = device_of(devices, index);

		if (!row)
			continue;
		to[count] = (struct device_metrics){
			.node = monitor->config->node,
			.index = index,
			.uuid = device && device->uuid ? device->uuid
						       : row->uuid,
			.bus_id = device && device->bus_id ? device->bus_id
							   : row->bus_id,
			.name = device && device->name ? device->name
						       : row->name,
			.has = row->has,
		};
		memcpy(to[count].value, row->value, sizeof(row->value));
		count++;
	}
	return count;
}

struct host_usage_sample monitor_host(const struct monitor *monitor)
{
	static const struct host_usage_sample none;

	return clock_mono_ms() - monitor->host_last_ms > MONITOR_WATCH_MS
		       ? none
		       : monitor->host_last;
}
