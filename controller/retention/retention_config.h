/* retention_config.h - the limits of retention, and the modules that it uses.
 */
#pragma once

#include <stdint.h>

struct blob_service;
struct job_table;
struct log_ingest;
struct log_store;
struct sd_event;
struct store;

/* 0: no limit. */
struct keep {
	uint64_t logs_bytes; /* output of all jobs */
	uint64_t free_bytes; /* bytes of the disk to keep free: else the output
				of old jobs is removed */
	uint64_t audit_rows; /* rows of the audit log to keep */
	uint64_t audit_days; /* younger rows are kept in any case */
	uint64_t sweep_days; /* older sweeps are removed */
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
