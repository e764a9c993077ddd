/* departure.c - ends the agent when its allocation ends.
 */
#include "agent/departure.h"
#include "agent/time_limit.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/program.h"

#include <stdlib.h>

#define EVICT_MS 20000 /* Slurm kills 30 s after its SIGTERM (KillWait) */
#define SPARE_MS 15000 /* before a known end */
#define END_MS 8000    /* for the engine to remove containers */

struct departure {
	sd_event *loop;
	const struct slurm_share *share; /* NULL: none */
	struct task_table *tasks;
	void (*changed)(void *arg);
	void *arg;
	bool tasks_known;
	bool leaving;
	int64_t until_ms; /* it begins at this time; 0: never */
	int64_t end_ms;   /* of the allocation; 0: never */
	struct time_limit *limit;
	sd_event_source *timer;
};

/* Replace what was planned before. */
static void set_timer(struct departure *departure, int64_t wait_ms,
		      sd_event_time_handler_t fn)
{
	loop_source_free(&departure->timer);
	loop_timer(departure->loop, &departure->timer,
		   wait_ms > 0 ? (uint64_t)wait_ms : 0, fn, departure, NULL);
}

static int end_now(sd_event_source *source, uint64_t usec, void *arg)
{
	struct departure *departure = arg;

	log_warning("the agent ends before its tasks are removed: tasks=%zu",
		    task_table_count(departure->tasks));
	sd_event_exit(departure->loop, EXIT_WORK_FAILED);
	return 0;
}

static void task_evict(void *arg, struct task *task)
{
	task_discard(task);
}

/* The controller has not had the tasks removed in time. */
static int evict(sd_event_source *source, uint64_t usec, void *arg)
{
	struct departure *departure = arg;

	log_warning("removing the remaining tasks: tasks=%zu",
		    task_table_count(departure->tasks));
	set_timer(departure, END_MS, end_now);
	task_table_each(departure->tasks, task_evict, NULL);
	return 0;
}

void departure_check(const struct departure *departure)
{
	if (departure->leaving && departure->tasks_known &&
	    !task_table_count(departure->tasks))
		sd_event_exit(departure->loop, EXIT_GOOD);
}

void departure_begin(struct departure *departure)
{
	int64_t left = departure->end_ms - clock_wall_ms() - SPARE_MS;
	bool planned =
		departure->until_ms && clock_wall_ms() >= departure->until_ms;

	if (departure->leaving)
		return;
	log_info("leaving: no new task is accepted; returning tasks=%zu",
		 task_table_count(departure->tasks));
	departure->leaving = true;
	set_timer(departure, planned && left > 0 ? left : EVICT_MS, evict);
	departure->changed(departure->arg);
	departure_check(departure);
}

static int time_over(sd_event_source *source, uint64_t usec, void *arg)
{
	departure_begin(arg);
	return 0;
}

static void plan_end(struct departure *departure, int64_t end_ms)
{
	struct slurm_share share = *departure->share;

	/* Jobs that were returned are not taken back. */
	if (departure->leaving)
		return;
	share.end_ms = departure->end_ms = end_ms;
	departure->until_ms = slurm_share_leave_ms(&share);
	loop_source_free(&departure->timer);
	if (departure->until_ms)
		set_timer(departure, departure->until_ms - clock_wall_ms(),
			  time_over);
}

/* time_limit_fn */
static void limit_changed(void *arg, int64_t end_ms)
{
	struct departure *departure = arg;

	log_info("the time limit of the allocation was changed");
	plan_end(departure, end_ms);
	departure->changed(departure->arg);
}

void departure_tasks_known(struct departure *departure)
{
	departure->tasks_known = true;
	departure_check(departure);
}

void departure_tell(const struct departure *departure,
		    struct message_report *report)
{
	report->until_ms = (uint64_t)departure->until_ms;
	report->leaving = departure->leaving;
}

static void departure_plan(struct departure *departure)
{
	const struct slurm_share *share = departure->share;
	struct error err;

	plan_end(departure, share->end_ms);
	departure->limit =
		time_limit_new(departure->loop, share->job, share->end_ms,
			       limit_changed, departure, &err);
	if (!departure->limit)
		log_warning("%s", err.text);
}

struct departure *departure_new(sd_event *loop, const struct slurm_share *share,
				struct task_table *tasks,
				void (*changed)(void *arg), void *arg,
				struct error *err)
{
	struct departure *departure = malloc(sizeof(*departure));

	if (!departure)
		return error_null(error_nomem(err, "agent"));
	*departure = (struct departure){
		.loop = loop,
		.share = share,
		.tasks = tasks,
		.changed = changed,
		.arg = arg,
	};
	if (share)
		departure_plan(departure);
	return departure;
}

void departure_free(struct departure *departure)
{
	if (!departure)
		return;
	loop_source_free(&departure->timer);
	time_limit_free(departure->limit);
	free(departure);
}
