/* literal.h - finds a text that every match of a regular expression must
 * contain.
 *
 * Searching for a text is about ten times cheaper than matching, and most lines
 * of a log hold no metric.
 */
#ifndef CONTROLLER_RESULTS_RULES_LITERAL_H
#define CONTROLLER_RESULTS_RULES_LITERAL_H

#include <stddef.h>

/* Copy the longest such text that a simple analysis finds to out, which has the
 * expression's length + 1 bytes. The expression must compile without options.
 * Returns the text's length; 0: none found, any text may match.
 */
size_t literal_find(const char *expression, char *out);

#endif
