/* task_table.c - the tasks of a node.
 */
#include "agent/agent_internal.h"

#include <stdlib.h>
#include <systemd/sd-daemon.h>

struct task_entry *task_table_find(struct agent *agent,
				   const struct task_id *id)
{
	struct task_entry *entry;

	TAILQ_FOREACH(entry, &agent->tasks, next)
	{
		if (task_id_equal(task_id(entry->task), id))
			return entry;
	}
	return NULL;
}

int task_table_needs(void *arg, struct image_need **list, size_t *count,
		     struct error *err)
{
	const struct agent *agent = arg;
	const struct task_entry *entry;

	*count = 0;
	*list = calloc(agent->tasks_count * TASK_NEEDS_MAX + 1, sizeof(**list));
	if (!*list)
		return error_nomem(err, "images");
	TAILQ_FOREACH(entry, &agent->tasks, next)
	{
		*count += task_needs(entry->task, *list + *count);
	}
	return 0;
}

void agent_tell_status(const struct agent *agent)
{
	sd_notifyf(0, "STATUS=%zu task%s, controller %s", agent->tasks_count,
		   agent->tasks_count == 1 ? "" : "s",
		   agent->session ? "connected" : "out of reach");
}

int task_table_add(struct agent *agent, struct task *task, struct error *err)
{
	struct task_entry *entry = malloc(sizeof(*entry));

	if (!entry)
		return error_nomem(err, "task");
	entry->task = task;
	TAILQ_INSERT_TAIL(&agent->tasks, entry, next);
	agent->tasks_count++;
	agent_tell_status(agent);
	return 0;
}

void task_table_remove(struct agent *agent, struct task_entry *entry)
{
	TAILQ_REMOVE(&agent->tasks, entry, next);
	agent->tasks_count--;
	agent_tell_status(agent);
	free(entry);
}
