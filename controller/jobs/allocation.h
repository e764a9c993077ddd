/* allocation.h - the nodes and devices of a job, as the store keeps them.
 */
#pragma once

#include "protocol/message/codec.h"

struct allocated_task {
	char *node;
	char *devices; /* a hexadecimal number, one bit each */
};

struct job_allocation {
	uint32_t port;                /* of the rendezvous; 0: not known yet */
	char *address;                /* of the rendezvous, or NULL */
	struct strings addresses;     /* of all nodes, if they are wanted */
	struct allocated_task *tasks; /* by rank */
	size_t tasks_count;
};
extern const struct schema job_allocation_schema;

/* Read the text of the store; NULL: nothing is allocated. EPROTO. */
int allocation_read(const char *text, struct job_allocation *to,
		    struct error *err);

uint64_t allocation_devices(const struct allocated_task *task);
