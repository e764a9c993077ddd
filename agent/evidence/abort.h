/* abort.h - makes the ranks of a container print their stacks, and end.
 *
 * Python prints the stacks of all its threads at SIGABRT, where its
 * faulthandler is on, and ends. Source: Python's documentation, "faulthandler".
 */
#ifndef AGENT_EVIDENCE_ABORT_H
#define AGENT_EVIDENCE_ABORT_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <systemd/sd-event.h>
#include <sys/types.h>

#define EVIDENCE_ABORT_MS 5000 /* for all of them */

struct evidence_abort;

/* Runs from the loop, once: they are gone, or the time is over. The object is
 * freed after it.
 */
typedef void evidence_abort_fn(void *arg);

/* Signal each rank's process below root that handles SIGABRT; it leaves no core
 * file. Those of a launcher, which share an output, are signalled one after the
 * other while the launcher is halted. NULL: there is none, and done() never
 * runs.
 */
struct evidence_abort *evidence_abort_begin(sd_event *loop, pid_t root,
					    evidence_abort_fn *done, void *arg);
/* Launchers go on; done() does not run. NULL is fine. */
void evidence_abort_cancel(struct evidence_abort *abort);
OWNED_POINTER(struct evidence_abort, evidence_abort_cancel)

#endif
