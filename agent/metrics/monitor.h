/* monitor.h - samples of devices and host, while tasks run on this node.
 *
 * One monitor serves all tasks of the node. Once an interval it runs the
 * profile's command, unless the last run has not ended, and reads the host. It
 * writes to each task's stream (protocol/hardware/sample_format.h) the readings
 * of that task's devices. Without tasks and watchers it does nothing. A task
 * that ends within 0.2 s has no samples.
 *
 * Lines of the kernel's log that the profile names, such as NVIDIA's Xid,
 * become lines of the streams, too.
 *
 * A fault (the tool fails, hangs, prints too much, or does not know a device)
 * becomes a line in the streams, once for each cause. The tool is tried again,
 * less and less often while it fails.
 */
#pragma once

#include "protocol/hardware/device.h"
#include "protocol/hardware/device_metrics.h"
#include "protocol/hardware/sample_format.h"
#include "protocol/wire/clock_offset.h"

#include <sched.h>
#include <systemd/sd-event.h>

#define MONITOR_INTERVAL_MS 1000
#define MONITOR_WATCH_MS 90000          /* monitor_watch() lasts so long */
#define MONITOR_WATCH_INTERVAL_MS 10000 /* while no task runs */

/* Borrowed until monitor_free(). */
struct monitor_config {
	const char *node;              /* its name */
	const struct profile *profile; /* NULL: the host only */
	const struct sysroot *roots;
	const cpu_set_t *cpus; /* where tools run; NULL: anywhere */
	const char *cpus_text; /* the same as a list */
	uint32_t interval_ms;
	bool ipmi; /* ask ipmitool for the power of the machine */
	/* The node's present devices. NULL or empty: not known; then device i
	 * is the tool's row i.
	 */
	const struct devices *(*devices)(void *arg);
	/* wire_client_clock(); NULL: only the local clock. */
	bool (*clock)(void *arg, struct exchange *best);
	/* The rows of an interval are in the streams. NULL: nobody cares. */
	void (*wrote)(void *arg);
	void *arg;
};

struct monitor;
struct monitor *monitor_new(sd_event *loop, const struct monitor_config *config,
			    struct error *err);
/* Streams that are left are ended. */
void monitor_free(struct monitor *monitor);
OWNED_POINTER(struct monitor, monitor_free)

/* Begin to sample for the task with this node rank and these devices (decimal
 * numbers on the node). fd: its stream, opened for appending; owned, also on
 * failure.
 */
struct monitor_stream;
struct monitor_stream *monitor_begin(struct monitor *monitor, uint32_t rank,
				     const struct strings *devices, int fd,
				     struct error *err);
/* NULL is fine. */
void monitor_end(struct monitor_stream *stream);

/* Sample for the next MONITOR_WATCH_MS, also without a task. */
void monitor_watch(struct monitor *monitor);

/* The last readings, none older than MONITOR_WATCH_MS; all zero before the
 * first one. Fills devices[DEVICES_MAX] and returns their number. Texts are
 * borrowed, until control returns to the loop.
 */
size_t monitor_devices(const struct monitor *monitor,
		       struct device_metrics *devices);
struct host_usage_sample monitor_host(const struct monitor *monitor);
