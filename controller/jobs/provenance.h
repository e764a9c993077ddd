/* provenance.h - the origin of a result: what ran, on which nodes, read by
 * which rules.
 *
 * Of the facts that nodes state, those that are no texts, or long ones, are
 * only in the environment.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "protocol/message/result.h"

/* Fill *to, for a job with a gang; the caller clears it, also on failure. The
 * environment begins with the text in *shared (owned), which is the same for
 * other jobs of the sweep on this node; NULL: with none.
 */
int provenance_fill(const struct job *job, struct provenance *to, char **shared,
		    struct error *err);

/* Does any of the job's nodes report simulated devices? */
bool provenance_simulated(const struct gang *gang);
