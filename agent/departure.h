/* departure.h - ends the agent when its allocation ends.
 *
 * Each report tells the controller, so it knows after any restart. It returns
 * the jobs to its queue, and has their output fetched and their containers
 * removed. If that does not happen in time, the agent removes them itself.
 * Until the agent leaves, the end of the allocation may change.
 */
#pragma once

#include "agent/slurm_share.h"
#include "agent/task_table.h"

struct departure;

/* share: the allocation, or NULL; it and the tasks are borrowed. changed(): the
 * controller shall have a report. With a share, the departure begins shortly
 * before the allocation ends.
 */
struct departure *departure_new(sd_event *loop, const struct slurm_share *share,
				struct task_table *tasks,
				void (*changed)(void *arg), void *arg,
				struct error *err);
void departure_free(struct departure *departure);
OWNED_POINTER(struct departure, departure_free)

/* Begin now: agent_leave(). */
void departure_begin(struct departure *departure);

/* The tasks of an earlier agent are in the table. Before that, an empty table
 * ends nothing.
 */
void departure_tasks_known(struct departure *departure);

/* End the loop if the agent leaves and no task is left. */
void departure_check(const struct departure *departure);

/* Say in a report whether and when the agent leaves. */
void departure_tell(const struct departure *departure,
		    struct message_report *report);
