/* straggler.h - which node or device of a gang the others wait for.
 *
 * A gang runs at the speed of its slowest member, which works while the others
 * wait: it draws clearly more power than the median of its peers, and not
 * because its clock is higher. Utilisation does not tell, since waiting for a
 * collective counts as work. Nodes are compared, and if none stands out, single
 * devices; at least STRAGGLER_PEERS + 1 of them.
 *
 * What waits draws some power, too. So the peers waited at least
 * (power - theirs) / power of the time, and so much slower the straggler is.
 */
#pragma once

#include "controller/results/usage.h"

#define STRAGGLER_PEERS 2
#define STRAGGLER_POWER_PCT 10      /* above the median of the peers */
#define STRAGGLER_SHARE_PCT 50      /* of the time, at least */
#define STRAGGLER_THROUGHOUT_PCT 90 /* of the time is all of it */

/* The straggler of a job by the streams of its nodes (usage.h) in this time;
 * NULL: in the later half of what was sampled. *to: NULL: there is none; else
 * the caller clears it (straggler_schema) and frees it. ENOMEM.
 */
int straggler_find(const struct usage *const *streams, size_t count,
		   const struct usage_span *span, struct straggler **to,
		   struct error *err);
