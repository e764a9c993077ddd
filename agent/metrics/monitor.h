/* monitor.h - samples of devices and host, while tasks run on this node.
 *
 * One monitor serves all tasks of the node: it runs the profile's command once
 * an interval, never again before the last run has ended, reads the host beside
 * it, and writes to each task's stream (protocol/hardware/sample_format.h) the
 * readings of that task's devices. With no task, and nobody who watches, it
 * does nothing; a task that is over within a fifth of a second has no samples.
 *
 * What goes wrong (a tool that fails, hangs, floods, or does not know a device)
 * becomes a line in the streams, once for each cause; then it is tried on, less
 * and less often while it fails.
 */
#ifndef AGENT_METRICS_MONITOR_H
#define AGENT_METRICS_MONITOR_H

#include "protocol/hardware/device.h"
#include "protocol/hardware/device_metrics.h"
#include "protocol/hardware/sample_format.h"
#include "protocol/wire/clock_offset.h"

#include <sched.h>
#include <systemd/sd-event.h>

#define MONITOR_INTERVAL_MS 1000
#define MONITOR_WATCH_MS 90000          /* it goes on so long for who watches */
#define MONITOR_WATCH_INTERVAL_MS 10000 /* while no task runs */

/* Borrowed until monitor_free(). */
struct monitor_config {
	const char *node;              /* its name */
	const struct profile *profile; /* NULL: the host only */
	const struct sysroot *roots;
	const cpu_set_t *cpus; /* where tools run; NULL: anywhere */
	const char *cpus_text; /* the same, as it was given */
	uint32_t interval_ms;
	bool ipmi; /* ask ipmitool for the power of the machine */
	/* The node's devices as they are now; NULL or empty: not known, then
	 * device i is the tool's row i.
	 */
	const struct devices *(*devices)(void *arg);
	/* wire_client_clock(); NULL: no clock but our own. */
	bool (*clock)(void *arg, struct exchange *best);
	void *arg;
};

struct monitor;
struct monitor *monitor_new(sd_event *loop, const struct monitor_config *config,
			    struct error *err);
/* Streams that are left are ended. */
void monitor_free(struct monitor *monitor);
OWNED_POINTER(struct monitor, monitor_free)

/* Begin to sample for the task of this node rank, that has these devices
 * (decimal numbers on the node). fd: the stream, opened for appending; it is
 * closed at the end, also when this fails.
 */
struct monitor_stream;
struct monitor_stream *monitor_begin(struct monitor *monitor, uint32_t rank,
				     const struct strings *devices, int fd,
				     struct error *err);
/* NULL is fine. */
void monitor_end(struct monitor_stream *stream);

/* Somebody watches: go on for MONITOR_WATCH_MS, also without a task. */
void monitor_watch(struct monitor *monitor);

/* What was read last; none of it is older than MONITOR_WATCH_MS. All zero where
 * nothing was read yet. Fills devices[DEVICES_MAX], returns how many there are;
 * texts are borrowed until the loop goes on.
 */
size_t monitor_devices(const struct monitor *monitor,
		       struct device_metrics *devices);
struct host_usage_sample monitor_host(const struct monitor *monitor);

#endif
