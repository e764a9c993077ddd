/* controller.h - owns store, wire, timers and jobs, and runs the turn of the
 * loop: what was decided is committed before messages about it are sent.
 */
#pragma once

#include "controller/retention/retention.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/http/http_server.h"
#include "protocol/wire/key.h"

#include <systemd/sd-event.h>

struct controller_config {
	const char *state;  /* folder of store and logs */
	const char *listen; /* wire_server_bind() */
	const char *keys;   /* list of the keys that may connect */
	const char *images; /* folder of models, frameworks, vendors */
	uint64_t
		node_lost_ms; /* disconnected so long, a node loses its tasks */
	bool pods;            /* jobs_config.pods */
	struct keep keep;
	struct http_config web; /* its address NULL: no web pages */
	struct key key;         /* the controller's own */
};

/* The loop ends with this code when the controller's key changes. A new
 * controller_new() loads the next key and continues.
 */
#define CONTROLLER_AGAIN 75

/* Nodes send a heartbeat every WIRE_HEARTBEAT_MS, but not more often than this
 * for each node of the cluster: 10,000 nodes send 333 a second. Their samples
 * come five times as often.
 */
#define CONTROLLER_HEARTBEAT_EACH_MS 3

struct controller;
struct controller *controller_new(sd_event *loop,
				  const struct controller_config *config,
				  struct error *err);
/* Jobs keep running; the next controller of this folder continues with them. */
void controller_free(struct controller *controller);
OWNED_POINTER(struct controller, controller_free)

/* The endpoint that it listens at, with the actual port. */
const char *controller_endpoint(const struct controller *controller);

/* Jobs that have not ended. */
size_t controller_jobs(const struct controller *controller);

/* Cancel all jobs, and end the loop when no connected node has any part of them
 * left, or after a minute.
 */
void controller_drain(struct controller *controller);
