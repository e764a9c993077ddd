/* job_reason.h - finds why a job failed in what its ranks printed.
 *
 * Of their output the last REASON_BYTES are read, so that no job keeps the
 * controller's loop.
 */
#ifndef CONTROLLER_JOBS_JOB_REASON_H
#define CONTROLLER_JOBS_JOB_REASON_H

#include "controller/cluster/effects.h"

#include <cjson/cJSON.h>

#define REASON_STREAMS_MAX 16
#define REASON_BYTES 1048576 /* of all streams together */
#define REASON_LINE_MAX 200  /* bytes of the line in a sentence */

struct extract_rules;
struct failure_patterns;

/* What a rank printed, and how it ended. */
struct reason_stream {
	const char *name;
	const char *node;
	uint32_t rank;
	int64_t exit_code;
};

/* A job that failed, and whom to ask for its output; texts are borrowed. */
struct reason_job {
	const struct job_effects *effects;
	void *world;
	uint64_t id;
	uint32_t attempt;
	const char *how; /* its sentence so far */
	struct reason_stream
		streams[REASON_STREAMS_MAX]; /* first ended first */
	size_t count;
	struct extract_rules *rules; /* of its figures; NULL: none */
};

/* {node, rank, how, class, exit_code, signal, line, stream, offset}: `offset`
 * is where the line begins in the stream; what is not known is null. NULL:
 * nothing that was printed says why. The caller deletes it.
 *
 * ends: of rank_ends_json(), or NULL. Each gets {step, line}, the last step
 * that the rank printed and what it said, as far as they are known; a rank that
 * only its launcher tells of is put behind them, without a time.
 */
cJSON *job_reason_read(struct failure_patterns *patterns,
		       const struct reason_job *job, cJSON *ends);

/* Does a launcher among them say that a process of its failed, and that it will
 * end? The last `bytes` of each stream are read.
 */
bool job_reason_gave_up(struct failure_patterns *patterns,
			const struct reason_job *job, uint64_t bytes);

/* The sentence, going on with the line of the reason, and with the rank and the
 * node that it speaks of where the sentence names others. The caller frees it;
 * NULL: the sentence stays as it is.
 */
char *job_reason_sentence(const char *how, const cJSON *reason);

#endif
