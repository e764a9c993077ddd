/* describe.h - sweeps, jobs and nodes as the JSON that people get.
 *
 * All objects are the caller's to delete.
 */
#ifndef CONTROLLER_SERVER_DESCRIBE_H
#define CONTROLLER_SERVER_DESCRIBE_H

#include "controller/jobs/cluster.h"
#include "controller/store/store.h"

/* {"since": the last event}: every answer begins so. */
cJSON *answer_new(struct cluster *cluster);

/* {"id", "name", "client", "submitted_ms", "jobs", "counts": {state: n},
 * "final"}
 */
cJSON *describe_sweep(struct cluster *cluster, const struct sweep_row *row);

/* {"job", "sweep", "cell", "repeat", "state", "attempt", "failure", "text",
 * "nodes", "devices", "vendor", "allocation": [names], "queued_ms",
 * "started_ms", "ended_ms", "removed", "progress": {what
 * image_progress_add_sum() adds, "step", "steps", "loss", "tokens_per_second"}
 * or null, "waits": what nodes a queued job lacks, or null, "from"}
 */
cJSON *describe_job(struct cluster *cluster, const struct job_row *row);

/* {"job", "sweep"}: where the job was taken over from; null: it ran. */
cJSON *describe_origin(struct cluster *cluster, const struct job_row *row);

/* The same and "spec", "tasks", "events", "result". */
cJSON *describe_job_whole(struct cluster *cluster, const struct job_row *row);

/* {"name", "state", "drained": now, "drain": {"from_ms", "until_ms", "reason"}
 * or null, "labels": {}, "vendor", "devices", "lost", "free", "chips":
 * {name: how many that are not lost}, "address", "jobs": [ids], "seen_ms",
 * "facts"}; lost ones are counted in devices, not in free.
 */
cJSON *describe_node(const struct cluster *cluster, const struct node *node);

/* The same and "inventory": what its agent says of each device, by index. */
cJSON *describe_node_whole(const struct cluster *cluster,
			   const struct node *node);

/* No job of the sweep is active, and no container or spool of it is left that
 * we know of.
 */
bool sweep_final(struct cluster *cluster, uint64_t sweep);

#endif
