/* adaptive_repeats.h - repeats cells until their rate is known precisely
 * enough.
 *
 * When no repeat of such a cell is active any more, the cell is checked: its
 * rate is known well enough, its repeats are used up, or it is repeated once
 * more. The decision is stored in the same commit as the end of the last
 * repeat: a new job of the same sweep (JOB_EVENT_MORE), or the reason why there
 * is none (JOB_EVENT_ENOUGH). So a killed controller has stored both or
 * neither.
 */
#pragma once

#include "controller/jobs/repeats.h"

/* Is one more repeat needed? text: why, or why not. */
bool repeats_more(const struct repeats *repeats, char *text, size_t size);

/* Check a cell of which perhaps all repeats were taken over. */
int adaptive_repeats_resume(struct jobs *jobs, uint64_t sweep,
			    uint64_t cell_index, const struct job_spec *spec,
			    struct error *err);

/* Check the cells whose repeats have ended; before the commit. */
void adaptive_repeats_settle(struct jobs *jobs);
