/* rules.h - matches one record of a log against the rules.
 *
 * log_rules.h describes the rules.
 */
#pragma once

#include "controller/results/rules/rule.h"

#define CAPTURED_MAX 96 /* values of one match */

/* The captured values of one match: each field once, in the order of the
 * description, then those of `others`. Texts are borrowed from the record.
 */
struct captured {
	const struct rule *rule;
	struct captured_value values[CAPTURED_MAX];
	size_t count;
};

const struct captured_value *captured_find(const struct captured *captured,
					   uint16_t field);

/* Call fn for each match of each rule in text[0..size), in the order of the
 * rules. New names are added to `names`, whose base is rules->fields. If fn
 * returns -1, rules_match() returns -1 at once; it also returns -1 if memory
 * runs out. *limits is increased for each rule that reached PCRE2's limit.
 * above: the title on the line above, with " {" behind it; "": none.
 */
typedef int rules_fn(const struct captured *captured, void *arg);
int rules_match(struct extract_rules *rules, struct fields *names,
		const char *text, size_t size, const char *above, rules_fn *fn,
		void *arg, uint64_t *limits);

/* Does any rule look at what stands above? */
bool rules_ask_above(const struct extract_rules *rules);

/* The first position from `at` on where a match is possible; end: none. */
const char *rules_next(const struct extract_rules *rules, const char *at,
		       const char *end);

/* The text without ANSI escape sequences: the text itself if it has none, else
 * a copy in a buffer of the rules, valid until the next call. *size (at most
 * EXTRACT_LINE_MAX) is updated.
 */
const char *rules_plain(struct extract_rules *rules, const char *text,
			size_t *size);
