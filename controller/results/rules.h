/* rules.h - one record of a log against the rules: matches to caught values.
 *
 * extract.h has the rules' contract, and extract_rules_new() and _free(),
 * which live here too.
 */
#ifndef CONTROLLER_RESULTS_RULES_H
#define CONTROLLER_RESULTS_RULES_H

#include "controller/results/extract.h"

/* Call fn for each match of each rule in text[0..size), with what it caught;
 * has == 0 matches are left out. fn returns 0, or -1 to end the walk, which
 * returns it. *limits counts the rules that gave up on this text.
 */
typedef int rules_fn(const struct record *caught, void *arg);
int rules_match(struct extract_rules *rules, const char *text, size_t size,
		rules_fn *fn, void *arg, uint64_t *limits);

/* Where text without its ANSI escape sequences stands: the text itself when
 * it has none, else EXTRACT_LINE_MAX bytes of the rules, valid until the next
 * call. *size (at most EXTRACT_LINE_MAX) is brought down to it.
 */
const char *rules_plain(struct extract_rules *rules, const char *text,
			size_t *size);

#endif
