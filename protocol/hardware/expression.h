/* expression.h - a PCRE2 expression of a data file, with limits.
 *
 * Without regard to case, on bytes (a broken UTF-8 character must not end a
 * search). One match may take EXPRESSION_STEPS of PCRE2's steps: an expression
 * that would run for ever on some text is an error, never a hang.
 */
#ifndef PROTOCOL_HARDWARE_EXPRESSION_H
#define PROTOCOL_HARDWARE_EXPRESSION_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/yaml/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPRESSION_MAX 2048    /* bytes of an expression */
#define EXPRESSION_STEPS 50000 /* of one match */

struct expression;

/* From a scalar. EINVAL names file and line and what PCRE2 says. */
struct expression *expression_new(const struct value *value, struct error *err);
void expression_free(struct expression *expression);
OWNED_POINTER(struct expression, expression_free)

enum expression_place {
	EXPRESSION_ANYWHERE,
	EXPRESSION_START, /* at text[0] */
	EXPRESSION_WHOLE, /* from text[0] to its end */
};

/* 1: it matches, 0: it does not; -1 (EPROTO): it met its limit. */
int expression_match(struct expression *expression, const char *text,
		     size_t size, enum expression_place place,
		     struct error *err);

/* The named groups, in no order. A name may stand in several groups. */
size_t expression_groups(const struct expression *expression);
const char *expression_group_name(const struct expression *expression,
				  size_t index);

/* What the named group at index, or the group of that number (0: all of it),
 * caught in the last match, in its text; false: nothing.
 */
bool expression_caught(const struct expression *expression, size_t index,
		       const char **text, size_t *size);

/* Search text: the group 1, or the whole match where there is no such group, as
 * a string cut to size. ENOENT: it is not found; EPROTO as above.
 */
int expression_find(struct expression *expression, const char *text,
		    size_t text_size, char *out, size_t size,
		    struct error *err);

/* Try it on texts of its own letters that almost match: EPROTO when one of them
 * meets the limit, as an expression of nested repetitions does. Takes some
 * 20 ms of processor time at most.
 */
int expression_probe(struct expression *expression, struct error *err);

#endif
