/* time_limit.h - asks Slurm repeatedly when an allocation ends.
 *
 * The limit can change while the allocation runs (scontrol update TimeLimit).
 * Slurm does not report that, so it is asked every five minutes, and more often
 * shortly before the end.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdint.h>
#include <systemd/sd-event.h>

struct time_limit;

/* Wall clock; 0: it does not end. */
typedef void time_limit_fn(void *arg, int64_t end_ms);

/* job: the number of the Slurm job (copied); end_ms: its known end. changed()
 * runs from the loop after each answer that differs.
 */
struct time_limit *time_limit_new(sd_event *loop, const char *job,
				  int64_t end_ms, time_limit_fn *changed,
				  void *arg, struct error *err);
void time_limit_free(struct time_limit *limit);
OWNED_POINTER(struct time_limit, time_limit_free)
