/* image_progress.h - the progress of images on their way to the nodes of a
 * job.
 */
#ifndef CONTROLLER_IMAGES_IMAGE_PROGRESS_H
#define CONTROLLER_IMAGES_IMAGE_PROGRESS_H

#include "controller/cluster/active_job.h"
#include "protocol/message/reply_jobs.h"

#define IMAGE_PROGRESS_SILENT_MS 5000 /* without a change: it stands still */

/* now_ms is monotonic here. */

/* What a node tells replaces what it told before. No memory: it stays. */
void image_progress_keep(struct task *task,
			 const struct message_progress *progress,
			 int64_t now_ms);
void image_progress_clear(struct task *task);

/* What moves to the task's node; *to stays NULL when nothing does. While layers
 * are unpacked, done_bytes counts what is. It stands still when it did so for
 * IMAGE_PROGRESS_SILENT_MS; then no rate is known. The caller owns it, on
 * failure, too.
 */
int image_progress_of_task(const struct task *task, int64_t now_ms,
			   struct progress_info **to, struct error *err);

/* Of an image that came: {"node", "bytes", "seconds"}, or NULL: none was sent.
 * The caller deletes it.
 */
cJSON *image_progress_summary(const struct task *task, int64_t now_ms);

/* The same of all tasks of a gang that is being prepared, into *to. The phase
 * is that of the node that has furthest to go, so is eta_seconds;
 * silent_seconds is that of the one that stands still the least, if all do.
 * Nothing is set when nothing moves.
 */
int image_progress_add_sum(const struct gang *gang, int64_t now_ms,
			   struct progress_info *to, struct error *err);

/* Does anything stand still? Watchers are told for how long. */
bool image_progress_stalled(const struct job_table *table, int64_t now_ms);

#endif
