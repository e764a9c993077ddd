/* expression.h - matches PCRE2 expressions of data files, within limits.
 *
 * Matches ignore case and work on bytes, so that invalid UTF-8 does not end a
 * search. One match may take EXPRESSION_STEPS steps of PCRE2 (its match limit);
 * then it is an error.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/yaml/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPRESSION_MAX 2048    /* bytes of an expression */
#define EXPRESSION_STEPS 50000 /* of one match */

struct expression;

/* Compile the text of a scalar to a pcre2_code, on bytes, without \C. options:
 * further ones of PCRE2. The caller frees it. EINVAL as below.
 */
struct pcre2_real_code_8 *expression_compile(const struct value *value,
					     const char *text, uint32_t options,
					     struct error *err);

/* Compile a scalar of a document. EINVAL: the text names file and line and
 * quotes PCRE2.
 */
struct expression *expression_new(const struct value *value, struct error *err);
void expression_free(struct expression *expression);
OWNED_POINTER(struct expression, expression_free)

enum expression_place {
	EXPRESSION_ANYWHERE,
	EXPRESSION_START, /* at text[0] */
	EXPRESSION_WHOLE, /* from text[0] to its end */
};

/* 1: it matches, 0: it does not; -1 (EPROTO): the step limit was reached. */
int expression_match(struct expression *expression, const char *text,
		     size_t size, enum expression_place place,
		     struct error *err);

/* The named groups, in no particular order. Several groups may share a name. */
size_t expression_groups(const struct expression *expression);
const char *expression_group_name(const struct expression *expression,
				  size_t index);

/* What the named group at index captured in the last match, as a part of the
 * matched text. False: nothing.
 */
bool expression_caught(const struct expression *expression, size_t index,
		       const char **text, size_t *size);

/* The same for the group called name, the first that captured something. */
bool expression_caught_name(const struct expression *expression,
			    const char *name, const char **text, size_t *size);

/* Search the text and copy group 1, or the whole match if there is no group, to
 * out, cut to size. ENOENT: no match; EPROTO as above.
 */
int expression_find(struct expression *expression, const char *text,
		    size_t text_size, char *out, size_t size,
		    struct error *err);

/* Try the expression on texts made of its own letters that almost match.
 * EPROTO: one of them reaches the step limit, as nested repetitions do. Takes
 * at most about 20 ms of CPU time.
 */
int expression_probe(struct expression *expression, struct error *err);
