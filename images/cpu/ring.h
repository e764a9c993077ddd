/* ring.h - sums an array over all ranks, which stand in a ring of TCP links.
 *
 * Rank 0 listens at the job's rendezvous address. Every other rank opens a
 * port of its own and tells rank 0, which answers with the places of all once
 * the last has come; then each connects to the next. A sum travels in `world`
 * chunks: world - 1 rounds add them up, world - 1 rounds spread them (the ring
 * all-reduce), so each link carries 2 (world - 1) / world of the array and all
 * ranks end with the same bits.
 */
#pragma once

#include "images/cpu/rendezvous.h"

#include <stddef.h>

/* Blocks until the ring is closed. A rank that differs in world or digest is
 * refused and told why; strangers at the port are ignored.
 */
struct ring *ring_new(const struct ring_place *place, struct failure *failure);
void ring_free(struct ring *ring);

/* data[i] = the sum of data[i] over all ranks. Every rank calls this with the
 * same count. -1 as soon as a neighbour has gone away; the ring is then of no
 * more use.
 */
int ring_sum(struct ring *ring, float *data, size_t count,
	     struct failure *failure);
