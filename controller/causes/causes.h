/* causes.h - the output of a program in, why it failed out.
 *
 * Reads a log once, in time that grows with its size alone, whatever stands in
 * it: of each line FAILURE_LINE_MAX bytes are looked at, and CAUSES_MAX causes
 * are kept. failure_patterns.h says what the lines mean. What is found is
 * only as good as the output: whoever writes it can mislead about itself.
 */
#ifndef CONTROLLER_CAUSES_CAUSES_H
#define CONTROLLER_CAUSES_CAUSES_H

#include "controller/causes/process_ends.h"

#include <cjson/cJSON.h>

#define CAUSES_MAX 256
#define CAUSE_LINE_MAX 1024 /* bytes of a line that is quoted */
#define CAUSES_OTHERS_MAX 8 /* told beside the diagnosis */

struct causes;

/* The patterns are borrowed. NULL: ENOMEM. */
struct causes *causes_new(struct failure_patterns *patterns, struct error *err);
void causes_free(struct causes *causes);
OWNED_POINTER(struct causes, causes_free)

/* The next bytes of the output, in pieces of any size. Only ENOMEM fails. */
int causes_feed(struct causes *causes, const void *data, size_t size,
		struct error *err);

/* The output ends here. */
int causes_finish(struct causes *causes, struct error *err);

/* Does a launcher say that a process of its failed and that it will end, and
 * nothing makes progress behind that? After causes_finish().
 */
bool causes_gave_up(const struct causes *causes);

/* What the launcher says of its processes; borrowed. */
const struct process_ends *causes_ends(const struct causes *causes);

/* One cause that was found. */
struct cause {
	enum causes_class class;
	int64_t rank;         /* that said it, global; -1: not told */
	char *line;           /* without prefixes and colours; UTF-8 */
	uint64_t line_number; /* from 1 */
	uint64_t offset;      /* of the line in the output, in bytes */
	const struct failure_meaning *meaning; /* of the patterns */
	uint64_t progress;  /* lines of progress that came before it */
	int64_t local_rank; /* -1: not told */
	int32_t exit_code;  /* END_CODE_UNKNOWN: not told */
	char signal[12];    /* "": none */
	char host[END_HOST_MAX];
	bool guilty;                      /* the line itself accuses the rank */
	const struct process_end *quoted; /* in what a launcher says of it, or
					     NULL */
};

struct diagnosis {
	enum causes_class class;   /* CAUSE_NONE: nothing failed */
	int64_t rank;              /* -1: not told */
	const char *host;          /* NULL: not told */
	int32_t exit_code;         /* END_CODE_UNKNOWN: not told */
	char signal[12];           /* "": none */
	const struct cause *cause; /* NULL where nothing failed */
	const struct cause *others[CAUSES_OTHERS_MAX];
	size_t other_count;
};

/* What the output says, after causes_finish(). failed: it is known that the
 * program failed, so that an error counts though something went on behind it.
 * Borrowed from the causes.
 */
void causes_diagnose(const struct causes *causes, bool failed,
		     struct diagnosis *diagnosis);

/* {class, rank, host, exit_code, signal, line, line_number, offset, others},
 * null where it is not known; others is a list of {class, rank, line,
 * line_number}. The caller deletes it; NULL: no memory.
 */
cJSON *diagnosis_json(const struct diagnosis *diagnosis);

#endif
