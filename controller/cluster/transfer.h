/* transfer.h - images and contents on their way to the nodes of a job.
 */
#ifndef CONTROLLER_CLUSTER_TRANSFER_H
#define CONTROLLER_CLUSTER_TRANSFER_H

#include "controller/cluster/cluster.h"

/* What a node tells replaces what it told before. No memory: it stays. */
void transfer_keep(struct task *task, const struct message_progress *progress);
void transfer_clear(struct task *task);

/* {"phase", "done_bytes", "total_bytes", "rate", "eta_seconds", "layers",
 * "layers_total", "tries", "moving": [{"id", "phase", "done_bytes",
 * "total_bytes"}]}, or NULL: nothing moves. While layers are unpacked,
 * done_bytes counts what is. rate: bytes a second; it and eta_seconds are only
 * there when they are known. The caller deletes it.
 */
cJSON *transfer_of_task(const struct task *task);

/* Of an image that came: {"node", "bytes", "seconds"}, or NULL: none was sent.
 * The caller deletes it.
 */
cJSON *transfer_summary(const struct task *task);

/* The same of all tasks of a gang that is being prepared, added to `to`, and
 * "nodes_done": those that have all they need. The phase is that of the node
 * that has furthest to go, so is eta_seconds. Adds nothing when nothing moves.
 */
void transfer_add_sum(const struct gang *gang, cJSON *to);

#endif
