/* sampling.h - reads the samples of a gang as they arrive, for its summary.
 *
 * It reads the stored files, never messages: after a restart the same bytes
 * give the same figures.
 */
#pragma once

#include "controller/cluster/effects.h"

struct usage;

/* effects: borrowed. */
struct samplings;
struct samplings *samplings_new(const struct job_effects *effects, uint64_t job,
				uint32_t attempt, uint32_t nodes);
void samplings_free(struct samplings *samplings);

/* Some of the node's samples were stored. */
void samplings_wake(struct samplings *samplings, uint32_t rank);

/* Read up to size bytes of the stream of each node that was woken, through
 * piece; true: there may be more.
 */
bool samplings_read(struct samplings *samplings, char *piece, size_t size);

/* The samples read from the node's stream; NULL: none yet. */
const struct usage *samplings_usage(const struct samplings *samplings,
				    uint32_t rank);

/* Is everything read that is stored? */
bool samplings_done(const struct samplings *samplings);

/* What was read of each node, by rank, as the calls of usage.h take it. The
 * caller frees the list; NULL: ENOMEM.
 */
const struct usage **samplings_list(const struct samplings *samplings,
				    struct error *err);
