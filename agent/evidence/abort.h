/* abort.h - makes the ranks of a container print their stacks, and end.
 *
 * Python prints the stacks of all its threads at SIGABRT, where its
 * faulthandler is on, and ends. Source: Python's documentation, "faulthandler".
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <systemd/sd-event.h>
#include <sys/types.h>

#define EVIDENCE_ABORT_MS 5000 /* for all of them */

struct evidence_abort;

/* Called from the loop, once: all have ended, or the time is over. The object
 * is freed after it.
 */
typedef void evidence_abort_fn(void *arg);

/* Send SIGABRT to each rank's process below root that handles it; none leaves a
 * core file. Ranks of one launcher share an output, so they are signalled one
 * after the other while the launcher is stopped. NULL: no process handles
 * SIGABRT, and done() never runs.
 */
struct evidence_abort *evidence_abort_begin(sd_event *loop, pid_t root,
					    evidence_abort_fn *done, void *arg);
/* Launchers are continued; done() does not run. NULL is fine. */
void evidence_abort_cancel(struct evidence_abort *abort);
OWNED_POINTER(struct evidence_abort, evidence_abort_cancel)
