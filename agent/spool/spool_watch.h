/* spool_watch.h - limits what a container writes to its folder on the host.
 *
 * regatta-init bounds the output that it keeps; but the folder is writable for
 * the command, which may make other files there. So everything in it counts:
 * bytes on the disk and names, looked at every SPOOL_LOOK_MS while the command
 * runs. Who writes fast is over the limit by what it writes in between. A file
 * that is removed while it is open is not seen: its room comes back when the
 * command ends.
 */
#ifndef AGENT_SPOOL_SPOOL_WATCH_H
#define AGENT_SPOOL_SPOOL_WATCH_H

#include "agent/spool/spool.h"

#include <systemd/sd-event.h>

#define SPOOL_LOOK_MS 1000
#define SPOOL_NAMES_MAX 2048 /* regatta-init makes 64 logs and 128 copies */

/* Beside the output that is kept: what comes until regatta-init cuts a log to
 * its limit, and what the agent writes.
 */
#define SPOOL_SLACK_BYTES (UINT64_C(256) << 20)

/* The folder holds too much; why says what, and what is allowed. Comes once,
 * never from inside a call. The watch may be freed in it.
 */
typedef void spool_over_fn(void *arg, const char *why);

struct spool_watch;

/* output_bytes: what may be kept of the output. All but id is borrowed. */
struct spool_watch *spool_watch_new(sd_event *loop, struct spool *spool,
				    const struct task_id *id,
				    uint64_t output_bytes, spool_over_fn *over,
				    void *arg, struct error *err);
void spool_watch_free(struct spool_watch *watch); /* NULL is fine */

#endif
