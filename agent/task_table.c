/* task_table.c - the tasks of a node.
 */
#include "agent/task_table.h"

#include <stdlib.h>
#include <sys/queue.h>

struct task_entry {
	struct task *task;
	TAILQ_ENTRY(task_entry) next;
};

struct task_table {
	TAILQ_HEAD(, task_entry) tasks;
	size_t count;
	void (*changed)(void *arg);
	void *arg;
};

struct task_table *task_table_new(void (*changed)(void *arg), void *arg,
				  struct error *err)
{
	struct task_table *table = calloc(1, sizeof(*table));

	if (!table)
		return error_null(error_nomem(err, "tasks"));
	TAILQ_INIT(&table->tasks);
	table->changed = changed;
	table->arg = arg;
	return table;
}

void task_table_free(struct task_table *table)
{
	struct task_entry *entry;

	if (!table)
		return;
	while ((entry = TAILQ_FIRST(&table->tasks))) {
		TAILQ_REMOVE(&table->tasks, entry, next);
		task_free(entry->task);
		free(entry);
	}
	free(table);
}

size_t task_table_count(const struct task_table *table)
{
	return table->count;
}

struct task *task_table_find(const struct task_table *table,
			     const struct task_id *id)
{
	struct task_entry *entry;

	TAILQ_FOREACH(entry, &table->tasks, next)
		if (task_id_equal(task_id(entry->task), id))
			return entry->task;
	return NULL;
}

int task_table_add(struct task_table *table, struct task *task,
		   struct error *err)
{
	struct task_entry *entry = malloc(sizeof(*entry));

	if (!entry)
		return error_nomem(err, "task");
	entry->task = task;
	TAILQ_INSERT_TAIL(&table->tasks, entry, next);
	table->count++;
	table->changed(table->arg);
	return 0;
}

void task_table_remove(struct task_table *table, const struct task *task)
{
	struct task_entry *entry;

	TAILQ_FOREACH(entry, &table->tasks, next) {
		if (entry->task != task)
			continue;
		TAILQ_REMOVE(&table->tasks, entry, next);
		free(entry);
		table->count--;
		table->changed(table->arg);
		return;
	}
}

void task_table_each(struct task_table *table, task_table_fn *fn, void *arg)
{
	struct task_entry *entry, *next;

	for (entry = TAILQ_FIRST(&table->tasks); entry; entry = next) {
		next = TAILQ_NEXT(entry, next);
		fn(arg, entry->task);
	}
}

int task_table_needs(const struct task_table *table, struct image_need **list,
		     size_t *count, struct error *err)
{
	const struct task_entry *entry;

	*count = 0;
	*list = calloc(table->count * TASK_NEEDS_MAX + 1, sizeof(**list));
	if (!*list)
		return error_nomem(err, "images");
	TAILQ_FOREACH(entry, &table->tasks, next)
		*count += task_needs(entry->task, *list + *count);
	return 0;
}
