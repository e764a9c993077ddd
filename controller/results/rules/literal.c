/* literal.c - finds a text that every match of a regular expression must
 * contain.
 */
#include "controller/results/rules/literal.h"

#include <ctype.h>
#include <string.h>

/* A walk over the top level of an expression. A run is a sequence of plain
 * characters that every match contains. If the syntax is not understood, the
 * walk gives up: a missed literal costs time, a wrong one costs metrics.
 */
struct walk {
	const char *at;
	char *best;
	size_t best_size;
	char run[256];
	size_t run_size;
};

static void end_run(struct walk *walk)
{
	if (walk->run_size > walk->best_size) {
		walk->best_size = walk->run_size;
		memcpy(walk->best, walk->run, walk->run_size);
	}
	walk->run_size = 0;
}

/* Skip a class, past its ']'; NULL: not understood. */
static const char *skip_class(const char *at)
{
	at++;
	if (*at == '^')
		at++;
	if (*at == ']')
		at++;
	while (*at && *at != ']') {
		if (*at == '[' && at[1] && strchr(":.=", at[1]))
			return NULL;
		if (*at == '\\' && (!at[1] || strchr("QE", *++at)))
			return NULL;
		at++;
	}
	return *at ? at + 1 : NULL;
}

/* Skip a group, past its ')'; NULL: not understood, or it has an option that
 * affects the text after it.
 */
static const char *skip_group(const char *at)
{
	int depth = 0;

	while (*at) {
		if (*at == '[') {
			at = skip_class(at);
			if (!at)
				return NULL;
			continue;
		}
		if (*at == '\\') {
			if (!at[1] || strchr("QE", at[1]))
				return NULL;
			at += 2;
			continue;
		}
		if (*at == '(' && at[1] == '*')
			return NULL;
		if (*at == '(' && at[1] == '?' &&
		    (!at[2] || !strchr(":<P=!>'", at[2])))
			return NULL;
		if (*at == '(')
			depth++;
		if (*at == ')' && --depth == 0)
			return at + 1;
		at++;
	}
	return NULL;
}

/* One-letter escapes for a class or a position. */
static int plain_escape(char c)
{
	return c && strchr("dDsSwWhHvVRbBAzZGtnrfea", c) != NULL;
}

/* One item at the top level; 0: give up. */
static int walk_step(struct walk *walk)
{
	const char *at = walk->at;

	if (*at == '\\' && isalnum((unsigned char)at[1])) {
		end_run(walk);
		walk->at += 2;
		return plain_escape(at[1]);
	}
	if (strchr("([", *at)) {
		end_run(walk);
		walk->at = *at == '(' ? skip_group(at) : skip_class(at);
		return walk->at != NULL;
	}
	if (*at == '|')
		return 0;
	if (strchr("*?{", *at) && walk->run_size)
		walk->run_size--;
	if (*at == '{') { /* a quantifier or a brace ends the run */
		end_run(walk);
		while (isdigit((unsigned char)at[1]) || at[1] == ',')
			at++;
		walk->at = at[1] == '}' ? at + 2 : at + 1;
		return 1;
	}
	if (strchr(".^$*?+", *at)) {
		end_run(walk);
		walk->at++;
		return 1;
	}
	if (*at == '\\')
		at++;
	if (!*at)
		return 0;
	if (walk->run_size == sizeof(walk->run))
		end_run(walk);
	walk->run[walk->run_size++] = *at;
	walk->at = at + 1;
	return 1;
}

size_t literal_find(const char *expression, char *out)
{
	struct walk walk = { .at = expression, .best = out };

	while (*walk.at)
		if (!walk_step(&walk)) {
			*out = 0;
			return 0;
		}
	end_run(&walk);
	out[walk.best_size] = 0;
	return walk.best_size;
}
