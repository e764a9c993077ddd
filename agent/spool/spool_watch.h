/* spool_watch.h - limits what a container writes to its folder on the host.
 *
 * regatta-init bounds the output that it keeps, but the command may make other
 * files in the folder. So all bytes on disk and all names in it count. They are
 * counted every SPOOL_LOOK_MS while the command runs; a command can exceed the
 * limit by what it writes in between. Files that are removed while they are
 * open are not counted; their space is free again when the command ends.
 */
#ifndef AGENT_SPOOL_SPOOL_WATCH_H
#define AGENT_SPOOL_SPOOL_WATCH_H

#include "agent/spool/spool.h"

#include <systemd/sd-event.h>

#define SPOOL_LOOK_MS 1000
#define SPOOL_NAMES_MAX 2048 /* regatta-init makes 64 logs and 128 copies */

/* Allowed beside the kept output: what is written before regatta-init cuts a
 * log to its limit, and what the agent writes.
 */
#define SPOOL_SLACK_BYTES (UINT64_C(256) << 20)

/* The folder holds too much; why names the amount and the limit. Called once,
 * never from inside a call of this header. The watch may be freed within it.
 */
typedef void spool_over_fn(void *arg, const char *why);

struct spool_watch;

/* output_bytes: limit of the kept output. id is copied, the rest is borrowed.
 */
struct spool_watch *spool_watch_new(sd_event *loop, struct spool *spool,
				    const struct task_id *id,
				    uint64_t output_bytes, spool_over_fn *over,
				    void *arg, struct error *err);
void spool_watch_free(struct spool_watch *watch); /* NULL is fine */

#endif
