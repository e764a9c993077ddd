/* rules.h - one record of a log against the rules: matches to caught values.
 *
 * extract.h has the rules' contract, and extract_rules_new() and _free(),
 * which live here too.
 */
#ifndef CONTROLLER_RESULTS_RULES_RULES_H
#define CONTROLLER_RESULTS_RULES_RULES_H

#include "controller/results/rules/rule.h"

#define CAUGHT_MAX 96 /* values of one match */

/* What one match caught: each field once, in the order of the description,
 * and then others. Texts are borrowed and die with the record of the log.
 */
struct caught {
	const struct rule *rule;
	struct caught_value values[CAUGHT_MAX];
	size_t count;
};

const struct caught_value *caught_find(const struct caught *caught,
				       uint16_t field);

/* Call fn for each match of each rule in text[0..size), in the order of the
 * rules. Names that the description does not have are added to `names`, whose
 * base are the fields of the rules. fn returns 0, or -1 to end the walk, which
 * returns it. -1, too, when memory runs out. *limits counts the rules that gave
 * up on this text.
 */
typedef int rules_fn(const struct caught *caught, void *arg);
int rules_match(struct extract_rules *rules, struct fields *names,
		const char *text, size_t size, rules_fn *fn, void *arg,
		uint64_t *limits);

/* The first place from `at` on where a match may stand in plain text; end:
 * there is none.
 */
const char *rules_next(const struct extract_rules *rules, const char *at,
		       const char *end);

/* Where the text begins behind the labels that launchers put before a line,
 * of a rank or a process: "[rank3]:", "[default0]:", "3: ",
 * "(TaskRunner pid=1)", "[1,0]<stdout>:". *size becomes smaller.
 */
const char *rules_unlabelled(const char *text, size_t *size);

/* Where text without its ANSI escape sequences stands: the text itself when
 * it has none, else EXTRACT_LINE_MAX bytes of the rules, valid until the next
 * call. *size (at most EXTRACT_LINE_MAX) is brought down to it.
 */
const char *rules_plain(struct extract_rules *rules, const char *text,
			size_t *size);

#endif
