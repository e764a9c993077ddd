/* literal.h - a text that every match of a regular expression must contain.
 *
 * A search for it is some ten times cheaper than the expression, and most
 * lines of a log hold no metric.
 */
#ifndef CONTROLLER_RESULTS_RULES_LITERAL_H
#define CONTROLLER_RESULTS_RULES_LITERAL_H

#include <stddef.h>

/* Copy the longest such text that is easily seen in a PCRE2 expression (one
 * that compiles, without compile options) to out, which has the expression's
 * length + 1 bytes. Returns its length; 0: none is seen, anything may match.
 */
size_t literal_find(const char *expression, char *out);

#endif
