/* rendezvous.h - brings all ranks together: two sockets each, next and before.
 */
#ifndef IMAGES_CPU_RENDEZVOUS_H
#define IMAGES_CPU_RENDEZVOUS_H

#include "images/cpu/ring.h"

/* place->world is at least 2. Both sockets are connected, do not block and are
 * the caller's. How: ring.h.
 */
int rendezvous(const struct ring_place *place, int *next, int *before,
	       struct why *why);

#endif
