/* causes_internal.h - the causes found so far, for causes.c and diagnosis.c. */
#pragma once

#include "controller/causes/causes.h"
#include "controller/causes/repeated_lines.h"
#include "controller/causes/traceback.h"
#include "controller/prefixes/prefixes.h"
#include "protocol/base/buffer.h"

#define BURST_GAP 20 /* neutral lines that part bursts of errors */

struct causes {
	struct failure_patterns *patterns; /* borrowed */
	struct prefixes *prefixes;         /* of its lines */
	struct buffer partial;             /* the line so far, cut */
	/* The line before, unless it has another meaning; empty: none. */
	struct buffer before;
	uint64_t before_number;
	uint64_t before_offset;
	bool plain; /* the line that is read has no meaning of its own */
	struct line_origin origin; /* of this line; host is `host` */
	char host[END_HOST_MAX];
	uint64_t number; /* of the line */
	bool repeats;    /* it is of a kind that comes with larger numbers */
	bool begun;      /* it starts a new number; after '\r' it does not */
	uint64_t offset; /* of the line */
	uint64_t fed;    /* bytes */
	struct cause all[CAUSES_MAX];
	size_t count;
	uint32_t worst_order; /* none of all has a higher one */
	struct process_ends ends;
	struct repeated_lines repeated;
	uint64_t first_cause; /* its line */
	uint64_t progress;    /* lines of it since the first cause */
	uint64_t alive;       /* the same, with those of FAILURE_ALIVE */
	uint64_t grown;       /* of them that repeat one with larger numbers */
	uint64_t neutral;     /* lines that say nothing of failures */
	uint64_t burst;       /* of errors that were read by their words */
	uint64_t burst_neutral; /* neutral at its last line */
	struct traceback traceback;
	uint64_t column;          /* the last line that is not indented */
	int64_t speaker;          /* the rank named last as the source, or -1 */
	uint64_t spoken;          /* the line that named it */
	struct cause *unfinished; /* its text is in the next line; or NULL */
	uint64_t gave_up; /* lines of progress before a launcher gave up, and
			     one; 0: none did */
	bool help;        /* the line is of a help text */
	/* Lines of progress before an intended end, from which later errors
	 * follow, and one; 0: there was none.
	 */
	uint64_t ended;
};

/* "SIGKILL" for 9; "": unknown. */
const char *causes_signal_name(int64_t number);

/* Is there a cause of a lower order already? */
bool causes_before(const struct causes *causes, uint32_t order);
