/* retention_limits.h - how much is kept, and how long.
 */
#ifndef CONTROLLER_CLUSTER_RETENTION_LIMITS_H
#define CONTROLLER_CLUSTER_RETENTION_LIMITS_H

#include <stdint.h>

/* 0: without a limit. */
struct keep {
	uint64_t logs_bytes; /* output of all jobs */
	uint64_t free_bytes; /* of the disk that are to be free: else the output
				of old jobs goes */
	uint64_t audit_rows; /* orders that are remembered, */
	uint64_t audit_days; /* and how long they are in any case */
	uint64_t sweep_days; /* after that long a sweep is forgotten */
};

#endif
