/* retention_config.h - how much is kept, and how long; and of what.
 */
#ifndef CONTROLLER_RETENTION_RETENTION_CONFIG_H
#define CONTROLLER_RETENTION_RETENTION_CONFIG_H

#include <stdint.h>

struct blob_service;
struct job_table;
struct log_ingest;
struct log_store;
struct sd_event;
struct store;

/* 0: without a limit. */
struct keep {
	uint64_t logs_bytes; /* output of all jobs */
	uint64_t free_bytes; /* of the disk that are to be free: else the output
				of old jobs goes */
	uint64_t audit_rows; /* orders that are remembered, */
	uint64_t audit_days; /* and how long they are in any case */
	uint64_t sweep_days; /* after that long a sweep is forgotten */
};

/* All is borrowed. */
struct retention_config {
	struct sd_event *loop;
	struct store *store;
	struct log_store *logs;
	struct blob_service *blobs;
	const struct job_table *table;
	const struct log_ingest *ingest;
	struct keep keep;
};

#endif
