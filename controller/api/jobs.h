/* jobs.h - describes jobs and events for replies.
 */
#pragma once

#include "controller/api/api.h"
#include "protocol/message/reply_jobs.h"

struct event_row;
struct job_row;

/* Fill *to, which was zero: the fields in lists of jobs, or all. On failure the
 * caller clears it, too.
 */
int job_describe(const struct api *api, const struct job_row *row,
		 struct job_info *to, struct error *err);
int job_describe_whole(const struct api *api, const struct job_row *row,
		       struct job_info *to, struct error *err);

/* What a queued job waits for, if that is its turn; else *to stays NULL. The
 * caller clears it, also after a failure.
 */
int job_describe_queue(const struct api *api, uint64_t job,
		       struct queue_info **to, struct error *err);

/* What is stored of a job that has ended, or the part in a schema of the same
 * struct; the caller clears it. A job without a result has none of it.
 */
void job_stored_read(const struct api *api, uint64_t job,
		     const struct schema *schema, struct stored_result *to);

/* Fields of a job that other requests need. ENOENT. */
struct job_facts {
	uint64_t sweep, origin;
	uint32_t attempt;
	enum job_state state;
};
int job_facts_read(const struct api *api, uint64_t job, struct job_facts *facts,
		   struct error *err);

/* Fill *to, which was zero; on failure the caller clears it, too. */
int event_describe(const struct event_row *row, struct event_info *to,
		   struct error *err);

/* The job whose result this one took over; NULL: it ran itself. */
int job_describe_origin(const struct api *api, const struct job_row *row,
			struct job_origin **to, struct error *err);
