/* session.h - exchanges messages with the controller: finds it, says hello,
 * reports all tasks and their changes, and does what it orders.
 *
 * A session that was lost is tried again for ever.
 */
#pragma once

#include "agent/boot.h"
#include "agent/departure.h"
#include "agent/engine_watch.h"
#include "agent/idle_look.h"
#include "agent/images/images.h"

struct session;

/* What it speaks for. The caller fills it before session_connect(). */
struct session_parts {
	sd_event *loop;
	const struct agent_config *config;
	const struct sysroot *roots;
	const char *instance;          /* of the agent */
	struct registries *registries; /* their keys follow the controller's */
	struct inventory *inventory;
	struct boot *boot;
	struct engine_watch *engine_watch;
	struct idle_look *idle_look;
	struct departure *departure;
	struct task_table *tasks;
	const struct task_services *services;
	struct images *images;
	void (*changed)(void *arg, bool open);
	void (*task_gone)(void *arg); /* one is out of the table */
	void *arg;
};

/* parts is borrowed. */
struct session *session_new(const struct session_parts *parts,
			    struct error *err);
void session_free(struct session *session);
OWNED_POINTER(struct session, session_free)

/* Connect to the controller once its endpoint is known. */
void session_connect(struct session *session);

/* The controller welcomed the agent. */
bool session_is_open(const struct session *session);

/* Its clock; false: not known. */
bool session_clock(const struct session *session, struct exchange *best);

/* Report all tasks, and whether the agent leaves. */
void session_report(struct session *session);

/* Report the devices, the policy and whether the engine answers, now or in the
 * next session.
 */
void session_inventory_changed(struct session *session);

/* Handlers of tasks and of modules that send messages; arg is the session. */
void session_task_changed(void *arg, struct task *task);
void session_task_progress(void *arg, struct task *task,
			   const struct image_progress *progress);
void session_task_gone(void *arg, struct task *task);
int session_send(void *arg, enum message_type type, const void *body,
		 const void *data, size_t size); /* -1: it was not sent */
int session_send_log(void *arg, const struct message_log *log, const void *data,
		     size_t size);
