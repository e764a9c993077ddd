/* extract.h - a training log in, its metrics out: rules that are data.
 *
 * The rules stand in a framework description (images/frameworks/), section
 * `log:`
 *
 *	log:
 *	  read: first	# the output of which rank: first, last or all
 *	  rules:
 *	    - match: 'step (?<step>\d+)/(?<steps>\d+) \| loss (?<loss>\S+)'
 *
 * `match` is a PCRE2 expression over bytes (no UTF mode), searched anywhere
 * in a record of the log, as often as it occurs there. Its named groups say
 * what they caught; others are errors:
 *
 *	step, steps		a step's number, and of how many
 *	loss
 *	iteration_ms, iteration_s	time of one step
 *	tokens_per_second, samples_per_second	over all devices
 *	memory_mib		1024 * 1024 bytes
 *	finished		any text: the training says that it is done
 *
 * What is caught counts for the step that the same match names; without one,
 * for the step before it, or for the summary where `finished` caught
 * something. A step that comes again (several ranks, a restart) is one step:
 * what is caught later replaces what was there.
 *
 * A record of the log ends at LF or CR. ANSI escape sequences are removed
 * first; NUL and invalid UTF-8 are bytes like others. A record longer than
 * EXTRACT_LINE_MAX is dropped whole. What follows the last end counts only if
 * it closes its last field itself, with '|' or '}': a number that was cut is
 * never delivered.
 */
#ifndef CONTROLLER_RESULTS_EXTRACT_H
#define CONTROLLER_RESULTS_EXTRACT_H

#include "protocol/document.h"
#include "protocol/error.h"
#include "protocol/owned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXTRACT_LINE_MAX 65536     /* bytes in a record of the log */
#define EXTRACT_RULES_MAX 64       /* rules in a description */
#define EXTRACT_MATCH_MAX 4096     /* bytes in an expression */
#define EXTRACT_RECORDS_MAX 262144 /* steps kept; later ones only as latest */

enum record_field {
	RECORD_STEP,
	RECORD_STEPS,
	RECORD_LOSS,
	RECORD_ITERATION_MS,
	RECORD_TOKENS_PER_SECOND,
	RECORD_SAMPLES_PER_SECOND,
	RECORD_MEMORY_MIB,
	RECORD_FINISHED,
	RECORD_FIELDS
};

/* One step, or the summary. A field holds something only if it has its bit in
 * `has`; a loss may be NaN or infinite, as printed.
 */
struct record {
	uint64_t step;
	uint64_t steps_total;
	double loss;
	double iteration_ms;
	double tokens_per_second;
	double samples_per_second;
	double memory_mib;
	unsigned has; /* bit 1 << RECORD_... */
	bool finished;
};

static inline bool record_has(const struct record *record,
			      enum record_field field)
{
	return record->has & 1u << field;
}

/* The field of a record that is a double; NULL for the other fields. */
double *record_number(struct record *record, enum record_field field);

/* Compiled rules: shared by any number of extracts of the same thread, which
 * must not outlive them.
 */
struct extract_rules;

/* From the value of `log:`. Errors name file and line; a broken expression
 * also says what PCRE2 says, and where in it.
 */
struct extract_rules *extract_rules_new(const struct value *log,
					struct error *err);
void extract_rules_free(struct extract_rules *rules);
OWNED_POINTER(struct extract_rules, extract_rules_free)

enum extract_read { EXTRACT_FIRST, EXTRACT_LAST, EXTRACT_ALL };

/* Which ranks' streams are to be read: the first, the last, or each, into an
 * extract of its own, put together by extract_merge().
 */
enum extract_read extract_rules_read(const struct extract_rules *rules);

/* The state of reading one stream. */
struct extract;

struct extract *extract_new(struct extract_rules *rules, struct error *err);
void extract_free(struct extract *extract);
OWNED_POINTER(struct extract, extract_free)

/* The next bytes of the stream, in pieces of any size. Only ENOMEM fails:
 * the stream is then read no further.
 */
int extract_feed(struct extract *extract, const void *data, size_t size,
		 struct error *err);

/* The stream ends here: decide on the record without an end. */
int extract_finish(struct extract *extract, struct error *err);

/* Add what another stream of the same job gave: steps that both have keep
 * what is there.
 */
int extract_merge(struct extract *to, const struct extract *from,
		  struct error *err);

/* The steps so far, by number; borrowed until the next feed. */
const struct record *extract_records(const struct extract *extract,
				     size_t *count);

/* What the program said at its end; has == 0: nothing. Borrowed. */
const struct record *extract_summary(const struct extract *extract);

/* The last value of every field, for a display of the progress. Borrowed. */
const struct record *extract_latest(const struct extract *extract);

/* What was not read: records too long, rules that met their match limit on a
 * record, steps past EXTRACT_RECORDS_MAX. All 0 is the rule.
 */
struct extract_losses {
	uint64_t long_lines;
	uint64_t match_limits;
	uint64_t steps;
};
const struct extract_losses *extract_losses(const struct extract *extract);

#endif
