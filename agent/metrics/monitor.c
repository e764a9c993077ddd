/* monitor.c - samples of devices and host, while tasks run on this node.
 */
#include "agent/metrics/monitor.h"
#include "agent/metrics/host_usage.h"
#include "agent/metrics/kernel_log.h"
#include "agent/metrics/tool_runner.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/hardware/sample_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>

#define IPMI_INTERVAL_MS 5000 /* a BMC takes a second to answer */
#define IPMI_TIMEOUT_MS 10000
#define IPMI_OUTPUT_MAX 65536
#define FIRST_MS 200 /* a task that is over by then has no samples */
#define FILES_TURNS 10
#define CLOCK_STEP_MS 3 /* a smaller change of the offset is ignored */
#define TEXT_MAX (256 << 10)

static const struct strings ipmi_argv = {
	(char *[]){ (char *)"ipmitool", (char *)"dcmi", (char *)"power",
		    (char *)"reading" },
	4
};

struct monitor_stream {
	struct monitor *monitor;
	uint32_t rank;
	uint32_t indices[DEVICES_MAX];
	size_t count;
	int fd;
	bool begun;       /* its head is written */
	bool full;        /* the last write failed */
	bool row_missing; /* a device without a row was reported */
	TAILQ_ENTRY(monitor_stream) next;
};

struct monitor {
	sd_event *loop;
	const struct monitor_config *config;
	struct host_usage *host;
	struct tool_runner *device, *ipmi;
	double power_w; /* by IPMI */
	bool power_known;
	sd_event_source *timer;
	int64_t due_ms;
	uint32_t stated_ms; /* the interval that heads state, */
	unsigned stated;    /* and the readings, 1 << READING_... */
	bool clock;         /* what heads state of the clock */
	struct exchange exchange;
	TAILQ_HEAD(, monitor_stream) streams;
	int64_t watched_until_ms;   /* monotonic; see monitor_watch() */
	struct kernel_log *kernel;  /* NULL: not open */
	struct sample_files *files; /* of the devices; NULL: not open */
	unsigned files_turn;
	bool suffice;              /* the files give all; no tool is run */
	struct samples files_last; /* what they gave, for the next row */
	struct samples last;       /* of the devices, */
	int64_t last_ms;           /* and when it was read */
	struct host_usage_sample host_last;
	int64_t host_last_ms;
};

/* Streams. */

/* Write all of the text or nothing, so that a stream has whole lines. */
static void stream_write(struct monitor_stream *stream,
			 const struct buffer *text)
{
	struct stat after;
	ssize_t n;

	if (!stream->begun)
		return;
	n = write(stream->fd, text->data, text->size);
	if (n == (ssize_t)text->size) {
		stream->full = false;
		return;
	}
	if (n > 0 && (fstat(stream->fd, &after) < 0 ||
		      ftruncate(stream->fd, after.st_size - n) < 0))
		log_debug("samples: %s", strerror(errno));
	if (!stream->full)
		log_warning("samples of rank=%u are not kept: %s", stream->rank,
			    n < 0 ? strerror(errno) : "the disk is full");
	stream->full = true;
}

static void monitor_write_all(struct monitor *monitor,
			      const struct buffer *text)
{
	struct monitor_stream *stream;

	TAILQ_FOREACH(stream, &monitor->streams, next)
		stream_write(stream, text);
}

static const struct devices *monitor_list_devices(const struct monitor *monitor)
{
	const struct monitor_config *config = monitor->config;
	const struct devices *devices =
		config->devices ? config->devices(config->arg) : NULL;

	return devices && devices->count ? devices : NULL;
}

/* Times in the streams: of the controller, once its clock is known. */
static int64_t stream_time(const struct monitor *monitor, int64_t mono_ms)
{
	int64_t ahead_ms =
		monitor->clock ? monitor->exchange.ahead_ms : clock_ahead_ms();

	return mono_ms + ahead_ms;
}

static const struct monitor_rules *
monitor_get_rules(const struct monitor *monitor)
{
	static const struct monitor_rules none = { 0 };
	const struct profile *profile = monitor->config->profile;

	return profile && profile->monitor.sampler ? &profile->monitor : &none;
}

/* What reads the devices; NULL: nothing. */
static const char *monitor_tool(const struct monitor *monitor)
{
	const struct monitor_rules *rules = monitor_get_rules(monitor);

	if (monitor->suffice)
		return "/sys";
	return rules->commands_count
		       ? tool_runner_name(monitor->device, rules->commands)
		       : NULL;
}

static void monitor_put_head(struct monitor_stream *stream)
{
	const struct monitor *monitor = stream->monitor;
	const struct devices *devices = monitor_list_devices(monitor);
	const char *tool = monitor_tool(monitor);
	struct sample_format_device list[DEVICES_MAX] = { 0 };
	int64_t now_ms = clock_mono_ms();
	struct sample_format_head head = {
		.node = (char *)monitor->config->node,
		.rank = stream->rank,
		.time_ms = stream_time(monitor, now_ms),
		.interval_ms = monitor->stated_ms,
		.clock = monitor->clock,
		.tool = (char *)tool,
		.cpus = (char *)monitor->config->cpus_text,
		.devices = list,
		.devices_count = tool ? stream->count : 0,
	};
	owned(buffer_clear) struct buffer text = BUFFER_INIT(TEXT_MAX);

	if (monitor->clock) {
		head.offset_ms = monitor->exchange.ahead_ms - clock_ahead_ms();
		head.round_trip_ms = monitor->exchange.round_trip_ms;
	}
	for (size_t i = 0; i < stream->count; i++) {
		uint32_t index = stream->indices[i];

		list[i].index = index;
		if (devices && index < devices->count) {
			list[i].bus_id = devices->list[index].bus_id;
			list[i].name = devices->list[index].name;
		}
	}
	if (sample_format_put_head(&text, &head, monitor->stated, NULL) == 0)
		stream_write(stream, &text);
}

static void monitor_put_heads(struct monitor *monitor)
{
	struct monitor_stream *stream;

	TAILQ_FOREACH(stream, &monitor->streams, next)
		monitor_put_head(stream);
}

static void put_error(struct monitor_stream *stream, const char *words)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(TEXT_MAX);

	if (sample_format_put_error(&text,
				    stream_time(stream->monitor,
						clock_mono_ms()),
				    words, NULL) == 0)
		stream_write(stream, &text);
}

static void tool_failed(void *arg, const char *words)
{
	struct monitor *monitor = arg;
	struct monitor_stream *stream;

	TAILQ_FOREACH(stream, &monitor->streams, next)
		put_error(stream, words);
}

/* Devices. */

/* The row of each device by its index. Without a list of devices, that is the
 * order of the rows.
 */
static void find_rows(const struct devices *devices,
		      const struct samples *samples,
		      const struct device_sample *rows[DEVICES_MAX])
{
	if (devices)
		devices_rows(devices, samples, rows);
	for (size_t i = 0; !devices && i < samples->count && i < DEVICES_MAX;
	     i++)
		rows[i] = &samples->rows[i];
}

static void monitor_put_devices(struct monitor_stream *stream, int64_t time_ms,
				const struct device_sample *const *rows)
{
	const struct device_sample *mine[DEVICES_MAX];
	owned(buffer_clear) struct buffer text = BUFFER_INIT(TEXT_MAX);
	size_t missing = 0;
	char words[120];

	for (size_t i = 0; i < stream->count; i++) {
		mine[i] = rows[stream->indices[i]];
		if (!mine[i] && !missing++)
			snprintf(words, sizeof(words),
				 "%.60s: does not report device %u",
				 monitor_tool(stream->monitor),
				 stream->indices[i]);
	}
	if (sample_format_put_devices(&text, time_ms, stream->monitor->stated,
				      stream->indices, mine, stream->count,
				      NULL) == 0)
		stream_write(stream, &text);
	if (missing && !stream->row_missing)
		put_error(stream, words);
	stream->row_missing = missing > 0;
}

/* The rows of this interval are written. */
static void monitor_tell(const struct monitor *monitor)
{
	const struct monitor_config *config = monitor->config;

	if (config->wrote)
		config->wrote(config->arg);
}

/* A tool that takes longer than the interval runs less often. */
static void state_interval(struct monitor *monitor, uint32_t took_ms)
{
	uint32_t interval_ms = monitor->config->interval_ms;
	uint32_t turns = took_ms / interval_ms + 1;
	uint32_t real_ms = turns * interval_ms;

	if (2 * real_ms >= monitor->stated_ms && real_ms <= monitor->stated_ms)
		return;
	monitor->stated_ms = real_ms;
	monitor_put_heads(monitor);
}

/* A column for each reading that any device ever had. */
static void state_readings(struct monitor *monitor,
			   const struct device_sample *const *rows)
{
	unsigned has = monitor->stated;

	for (size_t i = 0; i < DEVICES_MAX; i++)
		has |= rows[i] ? rows[i]->has : 0;
	if (has == monitor->stated)
		return;
	monitor->stated = has;
	monitor_put_heads(monitor);
}

/* Write the rows to the streams, and keep them. */
static void monitor_take_devices(struct monitor *monitor,
				 struct samples *samples, int64_t at_ms)
{
	const struct device_sample *rows[DEVICES_MAX] = { NULL };
	struct monitor_stream *stream;
	int64_t time_ms = stream_time(monitor, at_ms);

	find_rows(monitor_list_devices(monitor), samples, rows);
	state_readings(monitor, rows);
	TAILQ_FOREACH(stream, &monitor->streams, next)
		monitor_put_devices(stream, time_ms, rows);
	monitor_tell(monitor);
	samples_clear(&monitor->last);
	monitor->last = *samples;
	*samples = (struct samples){ 0 };
	monitor->last_ms = clock_mono_ms();
}

/* Add what only the files gave; each value once. */
static void merge_files(struct monitor *monitor, struct samples *samples)
{
	const struct devices *devices = monitor_list_devices(monitor);
	const struct device_sample *rows[DEVICES_MAX] = { NULL };

	if (!devices)
		return;
	find_rows(devices, samples, rows);
	for (size_t i = 0; i < monitor->files_last.count; i++) {
		const struct device_sample *from = &monitor->files_last.rows[i];
		struct device_sample *to =
			rows[i] ? &samples->rows[rows[i] - samples->rows]
				: NULL;

		for (int r = 0; to && r < READINGS; r++)
			if (from->has & ~to->has & 1U << r)
				to->value[r] = from->value[r];
		if (to)
			to->has |= from->has;
	}
	samples_clear(&monitor->files_last);
}

static void monitor_join(struct monitor *monitor);

static int devices_read(void *arg, const struct subprocess_output *output,
			int64_t at_ms, struct error *err)
{
	struct monitor *monitor = arg;
	owned(samples_clear) struct samples samples = { 0 };

	if (sampler_read(monitor_get_rules(monitor)->sampler, output->text,
			 output->size, &samples, err) < 0)
		return -1;
	state_interval(monitor, output->took_ms);
	merge_files(monitor, &samples);
	monitor_join(monitor);
	monitor_take_devices(monitor, &samples, at_ms);
	return 0;
}

/* Read the files of the devices; those that seldom change at every tenth time.
 */
static void monitor_read_files(struct monitor *monitor, int64_t now_ms)
{
	const struct monitor_config *config = monitor->config;
	const struct devices *devices = monitor_list_devices(monitor);
	owned(samples_clear) struct samples samples = { 0 };
	bool all = monitor->files_turn++ % FILES_TURNS == 0;

	if (!devices || !monitor_get_rules(monitor)->sampler ||
	    (!all && !monitor_get_rules(monitor)->files_count))
		return;
	if (!monitor->files)
		monitor->files = sample_files_new(config->profile,
						  config->roots, devices, NULL);
	if (!monitor->files ||
	    sample_files_read(monitor->files, all, &samples, NULL) < 0)
		return;
	monitor->suffice = sample_files_suffice(&samples);
	if (monitor->suffice) {
		monitor_take_devices(monitor, &samples, now_ms);
	} else if (all) {
		samples_clear(&monitor->files_last);
		monitor->files_last = samples;
		samples = (struct samples){ 0 };
	}
}

static void kernel_told(void *arg, const char *text)
{
	char words[SAMPLE_FORMAT_TEXT_MAX];

	snprintf(words, sizeof(words), "kernel: %.380s", text);
	tool_failed(arg, words);
}

/* What the kernel says of devices while tasks run. */
static void monitor_read_kernel(struct monitor *monitor)
{
	struct expression *match = monitor_get_rules(monitor)->kernel;

	if (!match || TAILQ_EMPTY(&monitor->streams))
		return;
	if (!monitor->kernel)
		monitor->kernel = kernel_log_new(monitor->config->roots->dev);
	if (monitor->kernel)
		kernel_log_read(monitor->kernel, match, kernel_told, monitor);
}

/* Devices may be others when they are read again. */
static void monitor_close_files(struct monitor *monitor)
{
	kernel_log_free(take(monitor->kernel));
	sample_files_free(take(monitor->files));
	samples_clear(&monitor->files_last);
	monitor->files_turn = 0;
	monitor->suffice = false;
}

/* The host. */

static int ipmi_read(void *arg, const struct subprocess_output *output,
		     int64_t at_ms, struct error *err)
{
	struct monitor *monitor = arg;
	static const char label[] = "Instantaneous power reading:";
	const char *at = strstr(output->text, label);
	char *end;

	at = at ? at + strlen(label) : "";
	monitor->power_w = strtod(at, &end);
	monitor->power_known =
		end != at && !strncmp(end + strspn(end, " "), "Watts", 5);
	return monitor->power_known
		       ? 0
		       : error_set(err, EINVAL,
				   "no power reading in its output");
}

static void monitor_take_host(struct monitor *monitor, int64_t now_ms)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(TEXT_MAX);
	struct host_usage_sample sample;

	host_usage_take(monitor->host, now_ms, &sample);
	if (monitor->power_known && !*tool_runner_failure(monitor->ipmi)) {
		sample.value[HOST_POWER_W] = monitor->power_w;
		sample.has |= 1U << HOST_POWER_W;
	}
	if (sample_format_put_host(&text, stream_time(monitor, now_ms), &sample,
				   NULL) == 0)
		monitor_write_all(monitor, &text);
	if (!monitor_tool(monitor))
		monitor_tell(monitor);
	monitor->host_last = sample;
	monitor->host_last_ms = now_ms;
}

/* Time. */

/* Write new heads when the controller's clock is known, or known better. */
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
	monitor_put_heads(monitor);
}

/* The output of an earlier agent may end within a line. */
static void monitor_end_line(struct monitor_stream *stream)
{
	struct buffer newline = { .data = (char *)"\n", .size = 1 };
	struct stat st;

	if (fstat(stream->fd, &st) == 0 && st.st_size)
		stream_write(stream, &newline);
}

static void begin_streams(struct monitor *monitor)
{
	struct monitor_stream *stream;

	TAILQ_FOREACH(stream, &monitor->streams, next) {
		if (stream->begun)
			continue;
		stream->begun = true;
		monitor_end_line(stream);
		monitor_put_head(stream);
		if (*tool_runner_failure(monitor->device))
			put_error(stream, tool_runner_failure(monitor->device));
		if (*tool_runner_failure(monitor->ipmi))
			put_error(stream, tool_runner_failure(monitor->ipmi));
	}
}

/* Stop, if no task is left and monitor_watch() is over. */
static void monitor_rest(struct monitor *monitor)
{
	if (!TAILQ_EMPTY(&monitor->streams) ||
	    clock_mono_ms() < monitor->watched_until_ms)
		return;
	loop_timer_stop(monitor->timer);
	tool_runner_rest(monitor->device);
	tool_runner_rest(monitor->ipmi);
	monitor_close_files(monitor);
	monitor->power_known = false;
	monitor->watched_until_ms = 0;
}

static void monitor_run_tools(struct monitor *monitor)
{
	const struct monitor_config *config = monitor->config;
	const struct monitor_rules *rules = monitor_get_rules(monitor);
	struct subprocess_command command = {
		.bin = config->roots->bin,
		.cpus = config->cpus,
	};
	char last[64];

	if (rules->commands_count && !monitor->suffice) {
		command.env = &rules->env;
		command.timeout_ms = rules->timeout_ms;
		command.output_max = SAMPLE_TEXT_MAX;
		if (rules->loop)
			snprintf(last, sizeof(last), "%.40s%u", rules->loop,
				 config->interval_ms);
		tool_runner_run(monitor->device, &command, rules->commands,
				rules->commands_count,
				rules->loop ? last : NULL);
	}
	if (config->ipmi) {
		command.env = NULL;
		command.timeout_ms = IPMI_TIMEOUT_MS;
		command.output_max = IPMI_OUTPUT_MAX;
		tool_runner_run(monitor->ipmi, &command, &ipmi_argv, 1, NULL);
	}
}

static void monitor_turn(struct monitor *monitor, int64_t now_ms)
{
	look_at_clock(monitor);
	begin_streams(monitor);
	monitor_take_host(monitor, now_ms);
	monitor_read_kernel(monitor);
	monitor_read_files(monitor, now_ms);
	monitor_run_tools(monitor);
}

static int tick(sd_event_source *source, uint64_t usec, void *arg)
{
	struct monitor *monitor = arg;
	int64_t now_ms = clock_mono_ms(), interval_ms;

	monitor_turn(monitor, now_ms);
	/* On a grid, so that the mean interval is the configured one. */
	interval_ms = TAILQ_EMPTY(&monitor->streams)
			      ? MONITOR_WATCH_INTERVAL_MS
			      : monitor->config->interval_ms;
	monitor->due_ms += interval_ms;
	if (monitor->due_ms <= now_ms)
		monitor->due_ms = now_ms + interval_ms;
	loop_timer(monitor->loop, &monitor->timer,
		   (uint64_t)(monitor->due_ms - now_ms), tick, monitor, NULL);
	monitor_rest(monitor);
	return 0;
}

/* A tool that loops wakes the loop once an interval: what is due at about that
 * time is done then, too, and the timer comes later if it fails to.
 */
static void monitor_join(struct monitor *monitor)
{
	int64_t interval_ms = monitor->config->interval_ms;
	int64_t now_ms = clock_mono_ms();

	if (!monitor_get_rules(monitor)->loop ||
	    TAILQ_EMPTY(&monitor->streams) ||
	    4 * (now_ms - monitor->host_last_ms) < 3 * interval_ms)
		return;
	monitor_turn(monitor, now_ms);
	monitor->due_ms = now_ms + interval_ms + interval_ms / 4;
	loop_timer(monitor->loop, &monitor->timer,
		   (uint64_t)(monitor->due_ms - now_ms), tick, monitor, NULL);
}

/* Beginning and ending. */

struct monitor *monitor_new(sd_event *loop, const struct monitor_config *config,
			    struct error *err)
{
	owned(monitor_free) struct monitor *monitor =
		calloc(1, sizeof(*monitor));
	struct tool_runner_config device = {
		.interval_ms = config->interval_ms,
		.output = devices_read,
		.failure = tool_failed,
		.arg = monitor,
	};
	struct tool_runner_config power = device;

	power.output = ipmi_read;
	power.rest_ms = IPMI_INTERVAL_MS;
	if (!monitor)
		return error_null(error_nomem(err, "monitor"));
	TAILQ_INIT(&monitor->streams);
	monitor->loop = sd_event_ref(loop);
	monitor->config = config;
	monitor->stated_ms = config->interval_ms;
	monitor->host =
		host_usage_new(config->roots->sys, config->roots->proc, err);
	monitor->device = tool_runner_new(loop, &device, err);
	monitor->ipmi = tool_runner_new(loop, &power, err);
	return monitor->host && monitor->device && monitor->ipmi ? take(monitor)
								 : NULL;
}

void monitor_free(struct monitor *monitor)
{
	struct monitor_stream *stream;

	if (!monitor)
		return;
	while ((stream = TAILQ_FIRST(&monitor->streams)))
		monitor_end(stream);
	tool_runner_free(monitor->device);
	tool_runner_free(monitor->ipmi);
	monitor_close_files(monitor);
	samples_clear(&monitor->last);
	loop_source_free(&monitor->timer);
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

static void monitor_stream_free(struct monitor_stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	free(stream);
}
OWNED_POINTER(struct monitor_stream, monitor_stream_free)

struct monitor_stream *monitor_begin(struct monitor *monitor, uint32_t rank,
				     const struct strings *devices, int fd,
				     struct error *err)
{
	owned(monitor_stream_free) struct monitor_stream *stream =
		calloc(1, sizeof(*stream));
	struct monitor_stream *begun;

	if (!stream) {
		close(fd);
		return error_null(error_nomem(err, "samples"));
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
	monitor_stream_free(stream);
	monitor_rest(monitor);
}

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
	const struct devices *devices = monitor_list_devices(monitor);
	const struct device_sample *rows[DEVICES_MAX] = { NULL };
	size_t count = 0;

	if (clock_mono_ms() - monitor->last_ms > MONITOR_WATCH_MS)
		return 0;
	find_rows(devices, &monitor->last, rows);
	for (uint32_t index = 0; index < DEVICES_MAX; index++) {
		const struct device_sample *row = rows[index];
		struct device_info device = { 0 };

		if (!row)
			continue;
		if (devices)
			device = devices->list[index];
		to[count] = (struct device_metrics){
			.node = monitor->config->node,
			.index = index,
			.uuid = device.uuid ? device.uuid : row->uuid,
			.bus_id = device.bus_id ? device.bus_id : row->bus_id,
			.name = device.name ? device.name : row->name,
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
