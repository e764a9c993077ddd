/* image_progress.h - images and contents on their way to the nodes of a job.
 */
#ifndef CONTROLLER_JOBS_IMAGE_PROGRESS_H
#define CONTROLLER_JOBS_IMAGE_PROGRESS_H

#include "controller/jobs/cluster.h"

#define IMAGE_PROGRESS_SILENT_MS 5000 /* without a change: it stands still */

/* What a node tells replaces what it told before. No memory: it stays. */
void image_progress_keep(struct task *task,
			 const struct message_progress *progress);
void image_progress_clear(struct task *task);

/* {"phase", "done_bytes", "total_bytes", "partial", "rate", "eta_seconds",
 * "silent_seconds", "layers", "layers_total", "tries", "moving": [{"id",
 * "phase", "done_bytes", "total_bytes"}]}, or NULL: nothing moves. While layers
 * are unpacked, done_bytes counts what is. partial: layers whose size is not told
 * are not in total_bytes. rate: bytes a second; it and
 * eta_seconds are only there when they are known, silent_seconds only, and in
 * their place, when it stands still for that long. The caller deletes it.
 */
cJSON *image_progress_of_task(const struct task *task);

/* Of an image that came: {"node", "bytes", "seconds"}, or NULL: none was sent.
 * The caller deletes it.
 */
cJSON *image_progress_summary(const struct task *task);

/* The same of all tasks of a gang that is being prepared, added to `to`, and
 * "nodes_done": those that have all they need. The phase is that of the node
 * that has furthest to go, so is eta_seconds; silent_seconds is that of the one
 * that stands still the least, if all do. Adds nothing when nothing moves.
 */
void image_progress_add_sum(const struct gang *gang, cJSON *to);

/* Every half second: who waits for news hears of what stands still. */
void image_progress_tick(struct cluster *cluster);

#endif
