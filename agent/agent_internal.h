/* agent_internal.h - what the files of the agent share.
 *
 * agent.c opens and closes what an agent consists of, recovery.c looks what is
 * there at the start, session.c speaks with the controller, task_table.c keeps
 * the tasks, leave.c ends it in an allocation, exporter.c tells Prometheus of
 * all that.
 */
#ifndef AGENT_AGENT_INTERNAL_H
#define AGENT_AGENT_INTERNAL_H

#include "agent/agent.h"
#include "agent/blobs/node_blobs.h"
#include "agent/devices/inventory.h"
#include "agent/images/disk_watermark.h"
#include "agent/images/image_operations.h"
#include "agent/metrics/host_facts.h"
#include "agent/docker/registries.h"
#include "agent/task/task.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/machine.h"
#include "protocol/hardware/container.h"
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
	struct node_blobs *blobs;
	struct image_usage *record;
	struct image_operations_config image_operations_config;
	struct image_operations *acts;
	struct disk_watermark *watermark; /* NULL: there is no floor */
	struct monitor_config monitor_config;
	struct monitor *monitor;
	struct wire_client *wire;
	char endpoint[AGENT_ENDPOINT_SIZE]; /* where it leads */
	struct http_server *exporter;       /* NULL: none */
	struct task_room room;
	struct inventory *inventory;
	bool inventory_due; /* it changed, and that was not told */
	struct engine_features abilities;
	struct device_binding_source allot;
	char owner[400]; /* of containers that install, agent/images/install.h
			  */
	struct version_query *query; /* at the start */
	struct versions versions;    /* as last told */
	struct engine_call *call;    /* at the start: version, info, list */
	sd_event_source *retry, *report, *strays;
	sd_event_source *inotify;
	cJSON *engine_version;
	char instance[33];
	char *folder;     /* of the spool */
	bool begun;       /* to look what the engine has, */
	bool looked;      /* and did so */
	bool leaving;     /* leave.c, */
	int64_t until_ms; /* which begins then by itself; 0: never, */
	sd_event_source *leave;
	sd_event_source *elsewhere;
	bool session; /* welcome was heard */
	bool complained;
	bool unkept; /* it was told that the next key cannot be kept */
	int64_t refused_since_ms; /* monotonic; 0: it is not */
	TAILQ_HEAD(, task_entry) tasks;
	size_t tasks_count;
};

/* Tasks. */
struct task_entry *entry_find(struct agent *agent, const struct task_id *id);
int entry_add(struct agent *agent, struct task *task, struct error *err);
void entry_remove(struct agent *agent, struct task_entry *entry);

/* image_operations_config.needs */
int entries_needs(void *arg, struct image_need **list, size_t *count,
		  struct error *err);

/* exporter.c: figures of this node for Prometheus, at GET /metrics of
 * config->metrics. Over plain HTTP and without a login: the node's name,
 * numbers of jobs, and readings; nothing of what jobs print. Asking keeps the
 * monitor reading while no task runs (agent/metrics/monitor.h), so an idle node
 * has readings from the second time on. The caller frees it.
 */
struct http_server *exporter_new(struct agent *agent, struct error *err);

/* What systemctl status shows; packages look there for tasks, too. */
void agent_tell_status(const struct agent *agent);

/* Where tools run; NULL: anywhere. */
const cpu_set_t *agent_housekeeping(const struct agent_config *config);

/* The session: handlers of the wire, of tasks, and of what sends pieces. */
extern const struct wire_client_handler session_handler;
void session_task_changed(void *arg, struct task *task);
void session_task_progress(void *arg, struct task *task,
			   const struct image_progress *progress);
void session_task_gone(void *arg, struct task *task);
int session_say_content(void *arg, enum message_type type, const void *body,
			const void *data, size_t size);
int session_ask_room(void *arg, const struct message_image_room *room);
void session_tell_images(void *arg, const struct message_image_state *state);
void session_say_command(void *arg, enum message_type type, const void *body,
			 const void *data, size_t size);
int session_send_log(void *arg, const struct message_log *log, const void *data,
		     size_t size);

/* Tell all tasks, and whether it leaves. */
void session_report(struct agent *agent);

/* Tell the devices if they changed since that was told. */
void session_tell_inventory(struct agent *agent);

/* No session: look whether the controller is somewhere else by now. */
void begin_elsewhere(struct agent *agent);

/* leave.c: leave by itself when the time of the allocation has come. */
void leave_plan(struct agent *agent);

/* The end of one that leaves: what there is was looked for, or a task is gone.
 */
void leave_if_empty(struct agent *agent);

/* The inventory's handler: nothing is adopted or begun before it is known what
 * devices there are, and with what driver.
 */
void begin_devices(void *arg);

/* Remove containers of ours that are no task's. Only when welcome: a second
 * agent with the same key, to which the containers of the first are strays,
 * never is.
 */
void begin_strays(struct agent *agent);

/* Look for them a little later, if a session is there then: an engine that hung
 * may yet make a container of a task that is gone.
 */
void begin_strays_later(struct agent *agent);

#endif
