/* loop.c - ZeroMQ sockets and short timers on the sd-event loop.
 */
#include "protocol/base/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <zmq.h>

struct zmq_watch {
	sd_event *loop;
	void *socket;
	sd_event_source *wake;  /* io source of ZMQ_FD */
	struct deferral *ready; /* runs while there may be input */
	int burst;
	bool paused;
	bool *freed; /* set while the callback runs, which may free us */
	zmq_ready_fn *fn;
	void *arg;
};

struct deferral {
	sd_event *loop;
	sd_event_source *source; /* while it is due */
	bool idle;
	deferral_fn *fn;
	void *arg;
};

struct deferral *deferral_new(sd_event *loop, bool idle, deferral_fn *fn,
			      void *arg, struct error *err)
{
	struct deferral *deferral =
		error_calloc(sizeof(*deferral), "event loop", err);

	if (!deferral)
		return NULL;
	*deferral = (struct deferral){
		.loop = sd_event_ref(loop),
		.idle = idle,
		.fn = fn,
		.arg = arg,
	};
	return deferral;
}

void deferral_free(struct deferral *deferral)
{
	if (!deferral)
		return;
	loop_source_free(&deferral->source);
	sd_event_unref(deferral->loop);
	free(deferral);
}

static int deferral_due(sd_event_source *source, void *arg)
{
	struct deferral *deferral = arg;

	loop_source_free(&deferral->source);
	deferral->fn(deferral->arg);
	return 0;
}

/* A new source each time: one that is only switched on again keeps its place in
 * the queue, in front of all others, which would starve.
 */
void deferral_run(struct deferral *deferral)
{
	if (deferral->source)
		return;
	if (sd_event_add_defer(deferral->loop, &deferral->source, deferral_due,
			       deferral) >= 0 &&
	    deferral->idle)
		sd_event_source_set_priority(deferral->source,
					     SD_EVENT_PRIORITY_IDLE);
}

void deferral_stop(struct deferral *deferral)
{
	if (deferral)
		loop_source_free(&deferral->source);
}

static bool socket_has_input(void *socket)
{
	int events = 0;
	size_t size = sizeof(events);

	return zmq_getsockopt(socket, ZMQ_EVENTS, &events, &size) == 0 &&
	       (events & ZMQ_POLLIN);
}

static int wake_io(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	zmq_watch_touch(arg);
	return 0;
}

static void ready_run(void *arg)
{
	struct zmq_watch *watch = arg;
	bool freed = false;

	watch->freed = &freed;
	for (int n = 0; n < watch->burst && !watch->paused; n++) {
		int took = watch->fn(watch->arg);

		if (freed)
			return;
		if (!took)
			break;
	}
	watch->freed = NULL;
	/* fn's calls may have cleared the wake-up of the socket. */
	if (!watch->paused && socket_has_input(watch->socket))
		zmq_watch_touch(watch);
}

struct zmq_watch *zmq_watch_new(sd_event *loop, void *socket, int burst,
				zmq_ready_fn *ready, void *arg,
				struct error *err)
{
	owned(zmq_watch_free) struct zmq_watch *watch =
		calloc(1, sizeof(*watch));
	int fd;
	size_t size = sizeof(fd);
	int rc;

	if (!watch)
		return error_null(error_nomem(err, "watch"));
	watch->loop = sd_event_ref(loop);
	watch->socket = socket;
	watch->burst = burst;
	watch->fn = ready;
	watch->arg = arg;
	watch->ready = deferral_new(loop, false, ready_run, watch, err);
	if (!watch->ready)
		return NULL;
	if (zmq_getsockopt(socket, ZMQ_FD, &fd, &size) < 0)
		return error_null(error_errno(err, "ZeroMQ socket"));
	rc = sd_event_add_io(loop, &watch->wake, fd, EPOLLIN, wake_io, watch);
	if (rc < 0)
		return error_null(
			error_set(err, -rc,
				  "event loop: cannot watch a socket"));
	/* Messages that are here already were announced before this watch
	 * existed. */
	zmq_watch_touch(watch);
	return take(watch);
}

void zmq_watch_free(struct zmq_watch *watch)
{
	if (!watch)
		return;
	if (watch->freed)
		*watch->freed = true;
	deferral_free(watch->ready);
	loop_source_free(&watch->wake);
	sd_event_unref(watch->loop);
	free(watch);
}

void zmq_watch_touch(struct zmq_watch *watch)
{
	if (!watch->paused)
		deferral_run(watch->ready);
}

void zmq_watch_pause(struct zmq_watch *watch, int paused)
{
	watch->paused = paused;
	/* ZMQ_FD stays readable while nobody asks the socket: the loop would
	 * spin. */
	sd_event_source_set_enabled(watch->wake,
				    paused ? SD_EVENT_OFF : SD_EVENT_ON);
	deferral_stop(watch->ready);
	zmq_watch_touch(watch);
}

/* How much later a timer may run, in us. An accuracy of 0 would mean 250 ms. */
static uint64_t timer_slack(uint64_t delay_ms)
{
	uint64_t slack_ms = delay_ms * TIMER_SLACK_PERCENT / 100;

	return 1000 * (slack_ms < 1                 ? 1
		       : slack_ms > TIMER_SLACK_MAX ? TIMER_SLACK_MAX
						    : slack_ms);
}

int loop_timer(sd_event *loop, sd_event_source **timer, uint64_t delay_ms,
	       sd_event_time_handler_t fn, void *arg, struct error *err)
{
	uint64_t slack = timer_slack(delay_ms);
	int rc;

	if (*timer) {
		rc = sd_event_source_set_time_accuracy(*timer, slack);
		if (rc >= 0)
			rc = sd_event_source_set_time_relative(*timer,
							       delay_ms * 1000);
		if (rc >= 0)
			rc = sd_event_source_set_enabled(*timer,
							 SD_EVENT_ONESHOT);
	} else {
		rc = sd_event_add_time_relative(loop, timer, CLOCK_MONOTONIC,
						delay_ms * 1000, slack, fn,
						arg);
	}
	return rc < 0 ? error_set(err, -rc, "event loop: cannot set a timer")
		      : 0;
}

void loop_timer_stop(sd_event_source *timer)
{
	if (timer)
		sd_event_source_set_enabled(timer, SD_EVENT_OFF);
}

void loop_source_free(sd_event_source **source)
{
	*source = sd_event_source_disable_unref(*source);
}

void loop_source_detach(sd_event_source *source)
{
	sd_event_source_set_destroy_callback(source, free);
	sd_event_source_set_floating(source, 1);
	sd_event_source_unref(source);
}
