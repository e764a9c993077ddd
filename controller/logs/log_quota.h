/* log_quota.h - how much is kept, and the output of a job that prints too much.
 */
#ifndef CONTROLLER_LOGS_LOG_QUOTA_H
#define CONTROLLER_LOGS_LOG_QUOTA_H

#include <stddef.h>
#include <stdint.h>

struct cluster;
struct gang;

/* What is kept; 0: without a limit. */
struct keep {
	uint64_t job_bytes;  /* output of one attempt of a job */
	uint64_t logs_bytes; /* output of all jobs */
	uint64_t free_bytes; /* of the disk that are to be free: else the output
				of old jobs goes */
	uint64_t ends_bytes; /* of each end of a stream that is shortened */
	uint64_t audit_rows; /* orders that are remembered, */
	uint64_t audit_days; /* and how long they are in any case */
	uint64_t sweep_days; /* after that long a sweep is forgotten */
};

/* `size` bytes of a stream were stored, or (0) some were read: when its job has
 * more than keep.job_bytes by now, and this stream more than its share, the
 * middle of the stream goes, but nothing that is still to be read for figures.
 * Beginning and end stay.
 */
void quota_stored(struct cluster *cluster, struct gang *gang,
		  const char *stream, size_t size);

#endif
