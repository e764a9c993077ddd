/* job_reason.h - finds in the output of its ranks, and in the files that were
 * followed, why a job failed.
 *
 * It reads only the last REASON_BYTES of the output, so that it does not block
 * the controller's loop.
 */
#pragma once

#include "controller/causes/causes.h"
#include "controller/cluster/effects.h"
#include "protocol/message/result.h"
#include "protocol/wire/key.h"

#define REASON_STREAMS_MAX 16
#define REASON_BYTES 1048576 /* of all streams together */
#define REASON_LINE_MAX 200  /* bytes of the line in a sentence */

struct extract_rules;

/* Why a job failed. What is not known: "", CAUSE_NONE or REASON_UNKNOWN. */
#define REASON_UNKNOWN INT64_MIN
struct reason {
	char node[KEY_NAME_SIZE];
	int64_t task;  /* the container: its node rank */
	int64_t rank;  /* of the process in its program */
	bool launched; /* what the task started, as its output shows */
	bool left; /* it ended before, without an error, which made others fail:
		      the line is theirs */
	enum causes_class class;
	int64_t exit_code;
	char signal[16];
	char line[CAUSE_LINE_MAX + 1];
	char stream[32];
	int64_t offset; /* of the line in the stream */
};

/* A stream of a task, and how what wrote it ended. */
struct reason_stream {
	const char *name;
	const char *node;
	uint32_t task;
	bool whole;        /* of all that the command of the task starts */
	uint32_t launches; /* task_launches() */
	int64_t rank;      /* that wrote it alone, or REASON_UNKNOWN */
	int64_t exit_code;
};

/* A failed job, and how to read its output; texts are borrowed. */
struct reason_job {
	const struct job_effects *effects;
	uint64_t id;
	uint32_t attempt;
	bool exited; /* with a code: any error counts */
	struct reason_stream
		streams[REASON_STREAMS_MAX]; /* first ended first */
	size_t count;
	struct extract_rules *rules; /* of its figures; NULL: none */
};

/* False: no line of the output is a reason.
 *
 * ends: from rank_ends_list(); none stay none. Each gets the last step of the
 * rank and its line with an error, if known. A rank that only its launcher
 * names is appended, without a time.
 */
bool job_reason_read(struct failure_patterns *patterns,
		     const struct reason_job *job, struct end_info **ends,
		     size_t *ends_count, struct reason *reason);

/* Does a launcher report that one of its processes failed, and that it will end
 * the others? The last `bytes` of each stream are read.
 */
bool job_reason_gave_up(struct failure_patterns *patterns,
			const struct reason_job *job, uint64_t bytes);

/* The sentence `how`, continued with the line of the reason, and with its rank
 * and node where `how` names others. What `how` calls a rank is a task if it
 * launched the rank. The caller frees it; NULL: there is
 * nothing to add.
 */
char *job_reason_sentence(const char *how, const struct reason *reason);
