/* causes.h - finds in the output of a program why it failed.
 *
 * It reads a log once. The time depends only on its size, not on its content:
 * of each line FAILURE_LINE_MAX bytes are read, and CAUSES_MAX causes are kept.
 * failure_patterns.h defines the meaning of lines. The output is not trusted: a
 * program can print misleading lines about itself.
 */
#pragma once

#include "controller/causes/cause_line.h"
#include "controller/causes/process_ends.h"

#include <cjson/cJSON.h>

#define CAUSES_MAX 256
#define CAUSES_OTHERS_MAX 8 /* further causes of a diagnosis */

struct causes;

/* The patterns are borrowed. NULL: ENOMEM. */
struct causes *causes_new(struct failure_patterns *patterns, struct error *err);
void causes_free(struct causes *causes);
OWNED_POINTER(struct causes, causes_free)

/* Read the next bytes of the output, in pieces of any size. ENOMEM. */
int causes_feed(struct causes *causes, const void *data, size_t size,
		struct error *err);

/* The output ends. */
int causes_finish(struct causes *causes, struct error *err);

/* Does a launcher report that one of its processes failed and that it will end
 * the others, without progress after that? Call causes_finish() before.
 */
bool causes_gave_up(const struct causes *causes);

/* How the processes ended, as the launcher reports it; borrowed. */
const struct process_ends *causes_ends(const struct causes *causes);

/* One cause that was found. */
struct cause {
	enum causes_class class;
	int64_t rank;         /* that printed it, global; -1: unknown */
	char *line;           /* without prefixes and colours; UTF-8 */
	uint64_t line_number; /* from 1 */
	uint64_t offset;      /* of the line in the output, in bytes */
	const struct failure_meaning *meaning; /* of the patterns */
	uint64_t progress;  /* lines of progress before it, */
	uint64_t alive;     /* with those of life */
	uint64_t grown;     /* of them that repeat one with larger numbers */
	uint64_t burst;     /* of errors that follow from one another */
	uint64_t neutral;   /* lines before it that say nothing of any */
	uint64_t shape;     /* of its line, without numbers */
	int64_t local_rank; /* -1: unknown */
	int32_t exit_code;  /* END_CODE_UNKNOWN: unknown */
	char signal[12];    /* "": none */
	char host[END_HOST_MAX];
	const struct process_end *quoted; /* the launcher's report that quotes
					     it, or in which it stands; or
					     NULL */
	bool reported;                    /* only that report has it */
};

struct diagnosis {
	enum causes_class class;   /* CAUSE_NONE: nothing failed */
	int64_t rank;              /* -1: unknown */
	bool local;                /* it is the rank on its node */
	const char *host;          /* NULL: unknown */
	int32_t exit_code;         /* END_CODE_UNKNOWN: unknown */
	char signal[12];           /* "": none */
	const struct cause *cause; /* NULL: nothing failed */
	const struct cause *others[CAUSES_OTHERS_MAX];
	size_t other_count;
};

/* Choose the main cause, after causes_finish(). failed: the program is known to
 * have failed, so an error counts even with progress after it. *diagnosis
 * borrows from causes.
 */
void causes_diagnose(const struct causes *causes, bool failed,
		     struct diagnosis *diagnosis);

/* {class, rank, host, exit_code, signal, line, line_number, offset, others},
 * with null for unknown values; others is a list of {class, rank, line,
 * line_number}. The caller deletes it; NULL: ENOMEM.
 */
cJSON *diagnosis_json(const struct diagnosis *diagnosis);
