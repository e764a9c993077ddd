/* loop.h - ZeroMQ sockets and short timers on the sd-event loop.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

/* Runs from the loop while the socket has input. Take one message; return 1
 * when there was one, 0 when there was none after all or when what is left is
 * for the next turn. It may free the watch: then return 0.
 */
typedef int zmq_ready_fn(void *arg);

/* Watch a socket (borrowed). At most `burst` messages are taken per turn of
 * the loop, so that nobody starves. Free the watch before closing the socket.
 *
 * libzmq's ZMQ_FD is edge-triggered (zmq_getsockopt(3)): it only says "look
 * again", and any use of the socket may clear it. So the socket is looked at
 * again after each run of ready(). After a send, bind or connect outside of
 * ready(), call zmq_watch_touch(). To ask all sockets before each sleep would
 * work too, but with a thousand clients on one loop it costs 3 ms a message.
 */
struct zmq_watch;
struct zmq_watch *zmq_watch_new(sd_event *loop, void *socket, int burst,
				zmq_ready_fn *ready, void *arg,
				struct error *err);
void zmq_watch_free(struct zmq_watch *watch);
OWNED_POINTER(struct zmq_watch, zmq_watch_free)

/* The socket was used outside of ready(): look at it in the next turn. */
void zmq_watch_touch(struct zmq_watch *watch);

/* Stop and resume taking messages (back-pressure). */
void zmq_watch_pause(struct zmq_watch *watch, int paused);

/* Arm *timer (made at first use, a one-shot) to run fn(arg) in delay_ms; a
 * timer that is armed is moved. fn returns 0. It may run 5 % later, at most
 * 100 ms, so that the loop wakes up once for timers that are near each other.
 */
#define TIMER_SLACK_PERCENT 5
#define TIMER_SLACK_MAX 100 /* ms */
int loop_timer(sd_event *loop, sd_event_source **timer, uint64_t delay_ms,
	       sd_event_time_handler_t fn, void *arg, struct error *err);
void loop_timer_stop(sd_event_source *timer); /* NULL is fine */

/* Work for a later turn of the loop: fn(arg), once after each deferral_run(),
 * when what was ready before it has had its turn. Unlike a timer it is not
 * late. idle: when nothing else is ready. fn may run and free the deferral.
 */
typedef void deferral_fn(void *arg);
struct deferral;
struct deferral *deferral_new(sd_event *loop, bool idle, deferral_fn *fn,
			      void *arg, struct error *err);
void deferral_free(struct deferral *deferral); /* NULL is fine */
OWNED_POINTER(struct deferral, deferral_free)

void deferral_run(struct deferral *deferral);
void deferral_stop(struct deferral *deferral); /* NULL is fine */

void loop_source_free(sd_event_source **source);

/* The loop owns the source from now on, and the source its userdata (free(3)).
 */
void loop_source_detach(sd_event_source *source);
