/* captures.h - collects, checks and sorts the values of one match.
 */
#ifndef CONTROLLER_RESULTS_RULES_CAPTURES_H
#define CONTROLLER_RESULTS_RULES_CAPTURES_H

#include "controller/results/rules/rules.h"

struct capture {
	struct fields *names; /* borrowed; new names are added */
	struct captured captured;
	uint8_t order[CAPTURED_MAX]; /* of each value: the index of its source
				      */
	uint32_t met;                /* bit per condition of the rule */
	bool broken;                 /* its step is no number: discard it */
	bool no_memory;
	char spelled[FIELD_NAME_MAX * 2]; /* a text corrected by `spell` */
};

void capture_begin(struct capture *capture, struct fields *names,
		   const struct rule *rule);

/* Add the text found at a source of the rule. */
void capture_source(struct capture *capture, const struct source *source,
		    const char *text, size_t size);

/* Add the text found at a key (the path in a dict, or the key of a pair): to
 * the sources and conditions with this key, else to `others`.
 */
void capture_key(struct capture *capture, const char *key, size_t key_size,
		 const char *text, size_t size, bool quoted);

/* Call fn if the match is valid. Returns 0, or -1 if fn failed or memory ran
 * out.
 */
int capture_end(struct capture *capture, rules_fn *fn, void *arg);

#endif
