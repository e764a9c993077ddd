/* patterns.c - the rules of all log formats, as patterns for `grep -E -f`.
 */
#include "tests/bench/patterns.h"

#include <ctype.h>
#include <string.h>

#define PATTERN_MAX 4096

/* A class of Perl's, of which inner stands in brackets and outer by itself. */
struct class
{
	char letter;
	const char *inner, *outer;
};
/* clang-format off */
static const struct class classes[] = {
	{ 'd', "0-9", "[0-9]" },
	{ 's', "[:space:]", "[[:space:]]" },
	{ 'w', "[:alnum:]_", "[[:alnum:]_]" },
	{ 'S', NULL, "[^[:space:]]" },
	{ 'D', NULL, "[^0-9]" },
};
/* clang-format on */

static const char *escaped(char letter, bool inside)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i].letter == letter)
			return inside ? classes[i].inner : classes[i].outer;
	return NULL;
}

/* Behind "(?", to what follows it; NULL: grep has no such thing. */
static const char *group(const char *at)
{
	if (*at == ':')
		return at + 1;
	if (*at != '<' || !isalpha((unsigned char)at[1]))
		return NULL;
	at = strchr(at, '>');
	return at ? at + 1 : NULL;
}

/* false: it cannot be said. */
static bool translate(const char *at, char out[PATTERN_MAX])
{
	bool inside = false;
	size_t used = 0;

	while (*at && used < PATTERN_MAX - 32) {
		const char *words;

		if (*at == '\\') {
			words = escaped(at[1], inside);
			if (words)
				used += (size_t)snprintf(out + used, 32, "%s",
							 words);
			else if (inside && isalpha((unsigned char)at[1]))
				return false;
			else if (inside)
				out[used++] = at[1];
			else
				used += (size_t)snprintf(out + used, 32, "\\%c",
							 at[1]);
			at += 2;
			continue;
		}
		if (!inside && !strncmp(at, "(?", 2)) {
			at = group(at + 2);
			if (!at)
				return false;
			out[used++] = '(';
			continue;
		}
		/* Lazy and possessive repeats match the same lines. */
		if (!inside && strchr("*+?}", *at) &&
		    (at[1] == '?' || at[1] == '+')) {
			out[used++] = *at;
			at += 2;
			continue;
		}
		inside = inside ? *at != ']' : *at == '[';
		out[used++] = *at++;
	}
	out[used] = 0;
	return !*at;
}

static int add_rules(const struct value *rules, struct buffer *to,
		     size_t *left_out, struct error *err)
{
	char pattern[PATTERN_MAX];

	for (size_t i = 0; i < value_count(rules); i++) {
		const struct value *match =
			value_get(value_at(rules, i), "match");

		if (!match)
			continue;
		if (!translate(value_text(match), pattern))
			++*left_out;
		else if (buffer_printf(to, err, "%s\n", pattern) < 0)
			return -1;
	}
	return 0;
}

int patterns_write(const struct catalog *catalog, struct buffer *to,
		   size_t *left_out, struct error *err)
{
	const struct framework *framework;

	*left_out = 0;
	for (size_t i = 0; (framework = catalog_framework_at(catalog, i));
	     i++) {
		const struct value *rules =
			framework->log ? value_get(framework->log, "rules")
				       : NULL;

		if (rules && add_rules(rules, to, left_out, err) < 0)
			return -1;
	}
	return 0;
}
