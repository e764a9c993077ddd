/* image_progress.h - the progress of images on their way to nodes, for tasks
 * and for operations.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "protocol/message/reply_jobs.h"

#define IMAGE_PROGRESS_SILENT_MS 5000 /* without a change, it has stalled */

/* now_ms is monotonic here. */

/* Store a node's report in place of the last one; *transfer NULL: it is the
 * first. Without memory the last one stays.
 */
struct image_transfer;
void image_transfer_keep(struct image_transfer **transfer,
			 const struct image_progress *progress, int64_t now_ms);
void image_transfer_free(struct image_transfer *transfer);

/* Is anything new in the second report? */
bool image_progress_moved(const struct image_progress *from,
			  const struct image_progress *to);

/* Set silence and end of a report, which last changed at moved_ms. What has
 * stalled, or is ready or failed, has no rate.
 */
void image_progress_pace(struct image_progress *progress, int64_t moved_ms,
			 int64_t now_ms);

/* The last report about the image of a task, with its pace; *to stays NULL if
 * the task is not being prepared. The caller owns *to, also on failure.
 */
int image_progress_of_task(const struct task *task, int64_t now_ms,
			   struct image_progress **to, struct error *err);

/* Of a finished transfer: {"node", "bytes", "seconds"}; NULL: there was none.
 * The caller deletes it.
 */
cJSON *image_progress_summary(const struct task *task, int64_t now_ms);

/* The sum over all tasks of a gang that is being prepared, into *to. phase and
 * eta_seconds are those of the node with most left. If all transfers have
 * stalled, silent_seconds is the smallest of theirs. Without transfers nothing
 * is set.
 */
int image_progress_add_sum(const struct gang *gang, int64_t now_ms,
			   struct progress_info *to, struct error *err);

/* Has a transfer stalled? Then watchers are updated about its duration. */
bool image_progress_stalled(const struct job_table *table, int64_t now_ms);
