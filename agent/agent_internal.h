/* agent_internal.h - what the files of the agent share.
 *
 * agent.c makes and frees the parts of an agent. recovery.c finds the tasks and
 * containers of an earlier agent. session.c exchanges messages with the
 * controller. task_table.c keeps the tasks. leave.c ends the agent when its
 * allocation ends. exporter.c serves metrics for Prometheus.
 */
#ifndef AGENT_AGENT_INTERNAL_H
#define AGENT_AGENT_INTERNAL_H

#include "agent/agent.h"
#include "agent/blobs/fetch.h"
#include "agent/devices/inventory.h"
#include "agent/images/disk_watermark.h"
#include "agent/images/image_operations.h"
#include "agent/metrics/host_facts.h"
#include "agent/images/registry_access.h"
#include "agent/task/task.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/machine.h"
#include "agent/docker/create_body.h"
#include "protocol/http/http_server.h"
#include "protocol/wire/wire.h"

#include <sys/queue.h>

#define AGENT_CALL_MS 30000
#define AGENT_ENDPOINT_SIZE 256

struct task_entry {
	struct task *task;
	TAILQ_ENTRY(task_entry) next;
};

struct agent {
	sd_event *loop;
	const struct agent_config *config;
	struct engine *engine;
	struct images *images;
	struct registries registries;
	struct spool *spool;
	struct stack_tools *stack_tools;
	struct log_sender *sender;
	struct blob_store *contents;
	struct fetches *fetches;
	struct image_usage *usage;
	struct image_operations_config image_operations_config;
	struct image_operations *operations;
	struct disk_watermark *watermark; /* NULL: no space is kept free */
	struct monitor_config monitor_config;
	struct monitor *monitor;
	struct wire_client *wire;
	char endpoint[AGENT_ENDPOINT_SIZE]; /* of the controller */
	struct http_server *exporter;       /* NULL: none */
	struct task_services services;
	struct inventory *inventory;
	bool inventory_due; /* it changed since it was reported */
	struct engine_features features;
	struct device_binding_source binding;
	char owner[400]; /* of containers that install, agent/images/install.h
			  */
	struct version_query *query; /* at the start */
	struct versions versions;    /* as last reported */
	struct engine_call *call;    /* at the start: version, info, list */
	sd_event_source *retry, *report, *strays;
	sd_event_source *inotify;
	cJSON *engine_version;
	char instance[33];
	char *folder; /* of the spool */
	bool recovery_begun;
	bool recovered;   /* it is done */
	bool leaving;     /* by leave.c, */
	int64_t until_ms; /* which starts at this time; 0: never */
	int64_t end_ms;   /* of the allocation; 0: never */
	struct time_limit *limit;
	sd_event_source *leave;
	sd_event_source *endpoint_timer; /* recovery_find_controller() */
	bool session;                    /* welcome was received */
	bool outage_logged;              /* of the engine or the controller */
	bool key_unsaved;         /* the controller's next key; it was logged */
	int64_t refused_since_ms; /* monotonic; 0: it is not refused */
	TAILQ_HEAD(, task_entry) tasks;
	size_t tasks_count;
};

/* Tasks. */
struct task_entry *task_table_find(struct agent *agent,
				   const struct task_id *id);
int task_table_add(struct agent *agent, struct task *task, struct error *err);
void task_table_remove(struct agent *agent, struct task_entry *entry);

/* image_operations_config.needs */
int task_table_needs(void *arg, struct image_need **list, size_t *count,
		     struct error *err);

/* exporter.c: metrics of this node for Prometheus, at GET /metrics of
 * config->metrics. It is plain HTTP without a login, so it has only the node's
 * name, numbers of jobs, and readings; nothing that jobs print. Requests keep
 * the monitor reading while no task runs (agent/metrics/monitor.h), so an idle
 * node has readings from the second request on. The caller frees it.
 */
struct http_server *exporter_new(struct agent *agent, struct error *err);

/* Update the text that systemctl status shows. Package scripts read it, too. */
void agent_tell_status(const struct agent *agent);

/* Where tools run; NULL: anywhere. */
const cpu_set_t *agent_housekeeping(const struct agent_config *config);

/* session.c: the handlers of the wire, of tasks, and of modules that send
 * messages.
 */
extern const struct wire_client_handler session_handler;
void session_task_changed(void *arg, struct task *task);
void session_task_progress(void *arg, struct task *task,
			   const struct image_progress *progress);
void session_task_gone(void *arg, struct task *task);
int session_send(void *arg, enum message_type type, const void *body,
		 const void *data, size_t size); /* -1: it was not sent */
int session_ask_room(void *arg, const struct message_image_room *room);
void session_tell_images(void *arg, const struct message_image_state *state);
int session_send_log(void *arg, const struct message_log *log, const void *data,
		     size_t size);

/* Report all tasks, and whether the agent leaves. */
void session_report(struct agent *agent);

/* Report the devices if they changed since the last report. */
void session_tell_inventory(struct agent *agent);

/* Read the file with the controller's endpoint repeatedly until there is a
 * session.
 */
void recovery_find_controller(struct agent *agent);

/* leave.c: start to leave shortly before the allocation ends. */
void leave_plan(struct agent *agent);

/* End the loop if the agent leaves, recovery is done and no task is left. */
void leave_if_empty(struct agent *agent);

/* recovery.c: the inventory's handler. Tasks are adopted, and the session is
 * opened, only when devices and driver are known.
 */
void recovery_devices(void *arg);

/* Remove containers with our labels that belong to no task. Only in a session:
 * a second agent with the same key, which would remove the containers of the
 * first, gets none.
 */
void recovery_strays(struct agent *agent);

/* The same a little later, if there is a session then: an engine that hung may
 * still create the container of a task that was removed.
 */
void recovery_strays_later(struct agent *agent);

#endif
