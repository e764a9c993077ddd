/* task_table.h - the tasks of a node.
 */
#pragma once

#include "agent/images/images.h"
#include "agent/task/task.h"

struct task_table;

/* changed() follows each change of the number of tasks. */
struct task_table *task_table_new(void (*changed)(void *arg), void *arg,
				  struct error *err);

/* Frees the tasks, too; their containers and spools stay. */
void task_table_free(struct task_table *table);
OWNED_POINTER(struct task_table, task_table_free)

size_t task_table_count(const struct task_table *table);

/* NULL: there is none. */
struct task *task_table_find(const struct task_table *table,
			     const struct task_id *id);

/* Takes over the task, unless it fails. */
int task_table_add(struct task_table *table, struct task *task,
		   struct error *err);

/* Gives the task back to the caller. */
void task_table_remove(struct task_table *table, const struct task *task);

/* Call fn() with each task, which it may remove. */
typedef void task_table_fn(void *arg, struct task *task);
void task_table_each(struct task_table *table, task_table_fn *fn, void *arg);

/* The images that the tasks need, as image_services.needs. */
int task_table_needs(const struct task_table *table, struct image_need **list,
		     size_t *count, struct error *err);
