/* exporter.h - metrics of this node for Prometheus, at GET /metrics.
 *
 * It is plain HTTP without a login, so it has only the node's name, numbers of
 * jobs, and readings; nothing that jobs print. Requests keep the monitor
 * reading while no task runs (agent/metrics/monitor.h), so an idle node has
 * readings from the second request on.
 */
#pragma once

#include "agent/session.h"
#include "protocol/http/http_server.h"

struct exporter_config {
	sd_event *loop;
	const char *address; /* to listen at */
	const char *name;    /* http_config */
	const char *node;
	const char *state; /* the folder whose free space is told */
	struct monitor *monitor;
	const struct inventory *inventory;
	const struct task_table *tasks;
	const struct session *session;
};

/* config is borrowed. The caller frees it with http_server_free(). */
struct http_server *exporter_new(const struct exporter_config *config,
				 struct error *err);
