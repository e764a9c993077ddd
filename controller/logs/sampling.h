/* sampling.h - a gang's samples, read as they come in, for its summary.
 *
 * As with the metrics, the stored files are read, never the wire: after a
 * restart the same bytes give the same figures.
 */
#ifndef CONTROLLER_LOGS_SAMPLING_H
#define CONTROLLER_LOGS_SAMPLING_H

#include "controller/cluster/cluster.h"

/* Reading one node's samples. */
struct sampling {
	struct usage *usage; /* NULL: none came yet */
	uint64_t offset;
	bool broken; /* the stored samples cannot be read */
	bool quiet;  /* all was read when it was looked at last */
};

/* Some of the node's samples were stored. */
void sampling_wake(struct gang *gang, uint32_t rank);

/* Read up to size bytes of the stream of each node that was woken, through
 * piece; true: there may be more.
 */
bool sampling_read(struct cluster *cluster, struct gang *gang, char *piece,
		   size_t size);

/* Nothing that is stored is left to read. */
bool sampling_done(struct cluster *cluster, const struct gang *gang);

/* Of all nodes: usage_summary(), usage_curves(), usage_host_curves(). The
 * caller deletes it; NULL: ENOMEM.
 */
cJSON *sampling_summary(const struct gang *gang, struct error *err);
cJSON *sampling_curves(const struct gang *gang, struct error *err);
cJSON *sampling_host_curves(const struct gang *gang, struct error *err);

void sampling_clear(struct gang *gang);

#endif
