/* homogeneity.h - compares the nodes of a gang, and collects their warnings.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "protocol/message/result.h"

/* A fact of the task's node: from the task's preflight, else from the node's
 * hello; NULL: neither has it.
 */
const cJSON *task_fact(const struct task *task, const char *name);

/* Do all nodes have the same driver, and their held devices the same chips? If
 * not, text is a sentence that names the differences, and *odd the first node
 * that differs from most. Unknown values are not compared.
 */
bool gang_alike(const struct gang *gang, char *text, size_t size,
		struct node **odd);

/* Add remarks about differences between nodes, and the warnings of their
 * preflights. ENOMEM.
 */
int gang_warnings(const struct gang *gang, struct remark **list, size_t *count,
		  struct error *err);
