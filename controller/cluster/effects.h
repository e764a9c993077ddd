/* effects.h - what the life of jobs asks of the world around it.
 *
 * Jobs, gangs, nodes and log ingest decide; they own no socket, loop, clock or
 * disk. What they need of these they ask for through the calls below, which
 * they are given once. The daemon fills them with ZeroMQ, sd-event and the file
 * system (controller/effects.h), the simulator with models that lose, delay and
 * fail by a seed (tests/simulation). No call here calls back into who asked:
 * the same events with the same answers give the same effects.
 *
 * Rows are no effect. The store takes them into a queue in memory, which the
 * driver commits at the end of the turn, and reads see what is committed: a
 * function of what was put, like the rest of the core. So the simulator runs
 * the real store, too, over a disk that fails below it.
 */
#ifndef CONTROLLER_CLUSTER_EFFECTS_H
#define CONTROLLER_CLUSTER_EFFECTS_H

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
	/* gang_deadlines() is to run at that time of mono_ms(). Replaces what
	 * was asked for before.
	 */
	void (*wake_at)(void *arg, int64_t mono_ms);
	/* Another turn of the loop is to follow this one. */
	void (*turn)(void *arg);
	/* jobs_read() is to run once nothing more urgent is there. */
	void (*read_soon)(void *arg);

	/* A command to a node in reach: it goes out after the commit of the
	 * turn, or is lost with the session; then the node reports again.
	 */
	int (*send)(void *arg, const struct node *node, enum message_type type,
		    const void *body, struct error *err);
	/* The node broke the protocol: its session ends. */
	void (*drop)(void *arg, const struct node *node, int code,
		     const char *why);

	/* Output, as log_store.h says. */
	int (*log_append)(void *arg, const struct message_log *log,
			  const void *data, size_t size, uint64_t *length,
			  struct error *err);
	int (*log_length)(void *arg, uint64_t job, uint32_t attempt,
			  const char *stream, uint64_t *length,
			  struct error *err);
	int (*log_read)(void *arg, uint64_t job, uint32_t attempt,
			const char *stream, uint64_t offset, void *data,
			size_t size, size_t *got, struct error *err);
	/* When the byte came; 0: unknown. */
	int64_t (*log_time)(void *arg, uint64_t job, uint32_t attempt,
			    const char *stream, uint64_t offset);
	int (*log_sync)(void *arg, uint64_t job, uint32_t attempt,
			struct error *err);
	void (*log_close)(void *arg, uint64_t job, uint32_t attempt);

	/* Are all files here that the ended task collected? If not, they are
	 * fetched, and gang_advance() follows.
	 */
	bool (*files_here)(void *arg, struct task *task);
	/* Keep the job's collected files and its workspace, durably. *list: a
	 * JSON object that tells of the files, for the caller to delete; NULL:
	 * there are none. Again is success.
	 */
	int (*keep_files)(void *arg, struct job *job, cJSON **list,
			  struct error *err);

	/* The job is in another state, or attempt, by this event. NULL: nobody
	 * counts.
	 */
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

#endif
