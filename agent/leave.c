/* leave.c - ends the agent when its allocation ends.
 *
 * Each report tells the controller, so it knows after any restart. It returns
 * the jobs to its queue, and has their output fetched and their containers
 * removed. If that does not happen in time, the agent removes them itself.
 * Until the agent leaves, the end of the allocation may change.
 */
#include "agent/agent_internal.h"
#include "agent/slurm_share.h"
#include "agent/time_limit.h"
#include "protocol/base/clock.h"
#include "protocol/base/program.h"

#define EVICT_MS 20000 /* Slurm kills 30 s after its SIGTERM (KillWait) */
#define SPARE_MS 15000 /* before a known end */
#define END_MS 8000    /* for the engine to remove containers */

/* Replace what was planned before. */
static void set_timer(struct agent *agent, int64_t wait_ms,
		      sd_event_time_handler_t fn)
{
	loop_source_free(&agent->leave);
	loop_timer(agent->loop, &agent->leave,
		   wait_ms > 0 ? (uint64_t)wait_ms : 0, fn, agent, NULL);
}

static int end_now(sd_event_source *source, uint64_t usec, void *arg)
{
	struct agent *agent = arg;

	log_warning("the agent ends before its tasks are removed: tasks=%zu",
		    agent->tasks_count);
	sd_event_exit(agent->loop, EXIT_WORK_FAILED);
	return 0;
}

/* The controller has not had the tasks removed in time. */
static int evict(sd_event_source *source, uint64_t usec, void *arg)
{
	struct agent *agent = arg;
	struct task_entry *entry, *next;

	log_warning("removing the remaining tasks: tasks=%zu",
		    agent->tasks_count);
	set_timer(agent, END_MS, end_now);
	for (entry = TAILQ_FIRST(&agent->tasks); entry; entry = next) {
		next = TAILQ_NEXT(entry, next);
		task_discard(entry->task);
	}
	return 0;
}

void leave_if_empty(struct agent *agent)
{
	/* Before recovery is done, the tasks are not known. */
	if (agent->leaving && agent->recovered && !agent->tasks_count)
		sd_event_exit(agent->loop, EXIT_GOOD);
}

void agent_leave(struct agent *agent)
{
	int64_t left = agent->end_ms - clock_wall_ms() - SPARE_MS;
	bool planned = agent->until_ms && clock_wall_ms() >= agent->until_ms;

	if (agent->leaving)
		return;
	log_info("leaving: no new task is accepted; returning tasks=%zu",
		 agent->tasks_count);
	agent->leaving = true;
	set_timer(agent, planned && left > 0 ? left : EVICT_MS, evict);
	session_report(agent);
	leave_if_empty(agent);
}

static int time_over(sd_event_source *source, uint64_t usec, void *arg)
{
	agent_leave(arg);
	return 0;
}

/* time_limit_fn */
static void plan_end(void *arg, int64_t end_ms)
{
	struct agent *agent = arg;
	struct slurm_share share = *agent->config->share;

	/* Jobs that were returned are not taken back. */
	if (agent->leaving)
		return;
	share.end_ms = agent->end_ms = end_ms;
	agent->until_ms = slurm_share_leave_ms(&share);
	loop_source_free(&agent->leave);
	if (agent->until_ms)
		set_timer(agent, agent->until_ms - clock_wall_ms(), time_over);
}

static void limit_changed(void *arg, int64_t end_ms)
{
	struct agent *agent = arg;

	log_info("the time limit of the allocation was changed");
	plan_end(agent, end_ms);
	session_report(agent);
}

void leave_plan(struct agent *agent)
{
	const struct slurm_share *share = agent->config->share;
	struct error err;

	if (!share)
		return;
	plan_end(agent, share->end_ms);
	agent->limit = time_limit_new(agent->loop, share->job, share->end_ms,
				      limit_changed, agent, &err);
	if (!agent->limit)
		log_warning("%s", err.text);
}
