/* homogeneity.h - compares the nodes of a gang, and collects their warnings.
 */
#ifndef CONTROLLER_JOBS_HOMOGENEITY_H
#define CONTROLLER_JOBS_HOMOGENEITY_H

#include "controller/cluster/active_job.h"

/* A fact of the task's node when the task was checked, as far as it was told,
 * else as it joined; NULL: neither.
 */
const cJSON *task_fact(const struct task *task, const char *name);
/* All of them. The caller deletes the object, before the task or what is known
 * of its node changes: the values are theirs. NULL: ENOMEM.
 */
cJSON *task_facts(const struct task *task);

/* Same driver, and same chips of the devices that are held? Where they differ,
 * a sentence of which node has what, and *odd is the first node that is not as
 * most are. What a node does not tell differs from nothing.
 */
bool gang_alike(const struct gang *gang, char *text, size_t size,
		struct node **odd);

/* Add to a list of sentences what must be said beside the result: how nodes
 * differ, and what they were warned of when they were checked.
 */
void gang_warnings(const struct gang *gang, cJSON *list);

#endif
