/* effects.h - how the core of the controller acts on its environment.
 *
 * Jobs, gangs, nodes and log ingest own no socket, loop, clock or disk. They
 * act only through the functions below, which they get at their creation. In
 * the daemon these use ZeroMQ, sd-event and the file system
 * (controller/effects.h). In the simulator they are models that lose, delay and
 * fail by a seed (tests/simulation). No function calls back into its caller, so
 * the same events with the same answers give the same effects.
 *
 * Writing rows is not an effect. The store queues rows in memory, the driver
 * commits them at the end of the turn, and reads see committed rows. So the
 * simulator runs the real store, on a disk that fails.
 */
#pragma once

#include "controller/cluster/lifecycle.h"
#include "protocol/message/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct node;
struct task;
struct job;

struct job_effects {
	void *arg; /* of every call */
	/* Time: the wall clock, which may jump, and one that does not. */
	int64_t (*wall_ms)(void *arg);
	int64_t (*mono_ms)(void *arg);
	/* Run another turn of the loop after this one. */
	void (*turn)(void *arg);
	/* Run jobs_read() when nothing more urgent is to do. */
	void (*read_soon)(void *arg);

	/* Send a command to a connected node, after the commit of the turn. It
	 * may be lost with the session; then the node reports again.
	 */
	int (*send)(void *arg, const struct node *node, enum message_type type,
		    const void *body, struct error *err);
	/* End the session of a node that broke the protocol. */
	void (*drop)(void *arg, const struct node *node, int code,
		     const char *why);

	/* Output: see log_store.h. */
	int (*log_append)(void *arg, const struct message_log *log,
			  const void *data, size_t size, uint64_t *length,
			  struct error *err);
	int (*log_length)(void *arg, uint64_t job, uint32_t attempt,
			  const char *stream, uint64_t *length,
			  struct error *err);
	int (*log_read)(void *arg, uint64_t job, uint32_t attempt,
			const char *stream, uint64_t offset, void *data,
			size_t size, size_t *got, struct error *err);
	/* When the byte arrived; 0: unknown. */
	int64_t (*log_time)(void *arg, uint64_t job, uint32_t attempt,
			    const char *stream, uint64_t offset);
	/* The output of the attempt survives a power cut, once the rows that
	 * are queued are committed.
	 */
	int (*log_sync)(void *arg, uint64_t job, uint32_t attempt,
			struct error *err);
	void (*log_close)(void *arg, uint64_t job, uint32_t attempt);

	/* Is this content of a node here? 1: yes. 0: it is fetched, or will be;
	 * jobs_check_files() follows. -1: the node cannot send it.
	 */
	int (*fetch)(void *arg, struct node *node, const char *hash,
		     uint64_t bytes, struct error *err);
	/* Keep the job's collected files and its workspace durably. *list: a
	 * JSON object that lists the files, for the caller to delete; NULL:
	 * there are none. A second call is success.
	 */
	int (*keep_files)(void *arg, struct job *job, cJSON **list,
			  struct error *err);

	/* This event changed the job's state or attempt. May be NULL. */
	void (*changed)(void *arg, const struct job *job, enum job_event event);
};

static inline int64_t effects_wall_ms(const struct job_effects *effects)
{
	return effects->wall_ms(effects->arg);
}

static inline int64_t effects_mono_ms(const struct job_effects *effects)
{
	return effects->mono_ms(effects->arg);
}
