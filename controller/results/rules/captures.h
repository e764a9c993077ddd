/* captures.h - the values of one match as they are found, checked and put in
 * order.
 */
#ifndef CONTROLLER_RESULTS_RULES_CAPTURES_H
#define CONTROLLER_RESULTS_RULES_CAPTURES_H

#include "controller/results/rules/rules.h"

struct capture {
	struct fields *names; /* borrowed; grows by those that are new */
	struct caught caught;
	uint8_t order[CAUGHT_MAX]; /* of the values: number of their source */
	uint32_t met;              /* bit per condition of the rule */
	bool broken;               /* its step is no number: not to be used */
	bool no_memory;
	char spelled[FIELD_NAME_MAX * 2]; /* a text put right */
};

void capture_begin(struct capture *catching, struct fields *names,
		   const struct rule *rule);

/* What stands at a source of the rule. */
void capture_source(struct capture *catching, const struct source *source,
		    const char *text, size_t size);

/* What stands at a key (a dict's path, or that of a pair): for the sources and
 * conditions that name it, else for `others`.
 */
void capture_key(struct capture *catching, const char *key, size_t key_size,
		 const char *text, size_t size, bool quoted);

/* Give a match that is one to fn: 0, or -1. */
int capture_end(struct capture *catching, rules_fn *fn, void *arg);

#endif
