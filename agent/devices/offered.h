/* offered.h - which devices of this node an agent offers, by number or UUID.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/base/strings.h"

#include <sched.h>
#include <stdbool.h>

/* A list of processors as the kernel writes them: "0-3,8". */

/* EINVAL names the fault. */
int cpu_list_parse(const char *text, cpu_set_t *cpus, struct error *err);

struct offered {
	cpu_set_t numbers;    /* positions; when there are no UUIDs */
	struct strings uuids; /* as the vendor's tool prints them */
};

/* text: "0,2-3", or whole UUIDs between commas: "GPU-" or another word, and 36
 * digits and dashes. EINVAL names the fault. CUDA also takes the beginning of a
 * UUID; that is refused, because another device may get the same beginning.
 */
int offered_parse(const char *text, struct offered *offered, struct error *err);
void offered_clear(struct offered *offered);
OWNED_VALUE(struct offered, offered_clear)

/* Is the device at that position, with that UUID (NULL: unknown), offered? */
bool offered_has(const struct offered *offered, size_t position,
		 const char *uuid);
