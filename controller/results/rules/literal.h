/* literal.h - finds texts that every match of a regular expression must
 * contain.
 *
 * Searching for a text is about ten times cheaper than matching, and most lines
 * of a log hold no metric.
 */
#pragma once

#include <stddef.h>

#define LITERAL_EXPRESSION_MAX 1024 /* bytes, of literals_either() */

/* Copy such texts that a simple analysis finds to out, in their order, each
 * with a 0 behind it and an empty one behind the last. out has the expression's
 * length + 2 bytes. The expression must compile without options.
 */
void literals_find(const char *expression, char *out);

/* Texts of which every match holds at least one: those of the alternatives of
 * one group, as above. Returns the size of the shortest; 0: none were found.
 */
size_t literals_either(const char *expression, char *out);

/* The longest of them alone. Returns its length; 0: none was found, any text
 * may match.
 */
size_t literal_find(const char *expression, char *out);
