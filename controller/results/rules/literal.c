/* literal.c - finds texts that every match of a regular expression must
 * contain.
 */
#include "controller/results/rules/literal.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* A walk over the top level of an expression. A run is a sequence of plain
 * characters that every match contains. If the syntax is not understood, the
 * walk gives up: a missed literal costs time, a wrong one costs metrics.
 */
struct walk {
	const char *at;
	char *run; /* in the caller's memory, behind the runs before it */
	size_t run_size;
};

/* What ends a run takes a byte of the expression, so there is room. */
static void end_run(struct walk *walk)
{
	if (!walk->run_size)
		return;
	walk->run[walk->run_size] = 0;
	walk->run += walk->run_size + 1;
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
	walk->run[walk->run_size++] = *at;
	walk->at = at + 1;
	return 1;
}

void literals_find(const char *expression, char *out)
{
	struct walk walk = { .at = expression, .run = out };

	while (*walk.at)
		if (!walk_step(&walk)) {
			walk.run = out;
			walk.run_size = 0;
			break;
		}
	end_run(&walk);
	*walk.run = 0;
}

/* The body of a group that every match goes through; NULL: it is none. */
static const char *group_body(const char *at)
{
	if (at[1] != '?')
		return at + 1;
	if (at[2] == ':')
		return at + 3;
	if (at[2] != '<' || at[3] == '=' || at[3] == '!')
		return NULL;
	at = strchr(at, '>');
	return at ? at + 1 : NULL;
}

/* The end of the alternative at this place, its '|' or ')'; NULL: not
 * understood.
 */
static const char *alternative_end(const char *at)
{
	while (at && *at && *at != '|' && *at != ')') {
		if (*at == '(')
			at = skip_group(at);
		else if (*at == '[')
			at = skip_class(at);
		else
			at += *at == '\\' && at[1] ? 2 : 1;
	}
	return at && *at ? at : NULL;
}

/* The longest text of each alternative of a group: the size of the shortest; 0:
 * one has none. *used: the bytes written.
 */
static size_t group_texts(const char *group, char *out, size_t *used)
{
	const char *at = group_body(group), *end;
	size_t least = SIZE_MAX;

	for (*used = 0; at; at = *end == '|' ? end + 1 : NULL) {
		char part[LITERAL_EXPRESSION_MAX + 1];
		char text[LITERAL_EXPRESSION_MAX + 2];
		size_t size;

		end = alternative_end(at);
		if (!end)
			return 0;
		memcpy(part, at, (size_t)(end - at));
		part[end - at] = 0;
		size = literal_find(part, text);
		least = size < least ? size : least;
		if (!least)
			return 0;
		memcpy(out + *used, text, size + 1);
		*used += size + 1;
	}
	out[*used] = 0;
	return least == SIZE_MAX ? 0 : least;
}

size_t literals_either(const char *expression, char *out)
{
	char runs[LITERAL_EXPRESSION_MAX + 2];
	char texts[LITERAL_EXPRESSION_MAX + 2];
	struct walk walk = { .at = expression, .run = runs };
	size_t best = 0;

	*out = 0;
	if (strlen(expression) > LITERAL_EXPRESSION_MAX)
		return 0;
	while (*walk.at) {
		const char *group = *walk.at == '(' ? walk.at : NULL;
		size_t least, used;

		if (!walk_step(&walk)) {
			*out = 0;
			return 0;
		}
		if (!group || (*walk.at && strchr("?*{", *walk.at)))
			continue;
		least = group_texts(group, texts, &used);
		if (least > best) {
			best = least;
			memcpy(out, texts, used + 1);
		}
	}
	return best;
}

size_t literal_find(const char *expression, char *out)
{
	size_t best = 0, size;

	literals_find(expression, out);
	for (const char *run = out; (size = strlen(run)); run += size + 1)
		if (size > strlen(out + best))
			best = (size_t)(run - out);
	size = strlen(out + best);
	memmove(out, out + best, size + 1);
	return size;
}
