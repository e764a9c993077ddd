/* match.c - matches one record of a log against the rules.
 */
#include "controller/results/rules/rules.h"

#include "controller/results/rules/captures.h"
#include "controller/results/rules/dict.h"

#include <ctype.h>
#include <string.h>

/* The record that is matched, and the receiver of the matches. */
struct matching {
	struct extract_rules *rules;
	struct fields *names;
	const char *text;
	size_t size;
	rules_fn *fn;
	void *arg;
	uint64_t *limits;
	struct capture capture;
};

/* The place of a match. */
struct span {
	size_t from;
	size_t to;
};

/* Find the next match of the rule's expression after the last one (NULL: the
 * first): 1; 0: none, or a limit was reached.
 */
static int search(struct matching *matching, const struct rule *rule,
		  const struct span *last, struct span *place)
{
	const struct extract_rules *rules = matching->rules;
	const PCRE2_SIZE *places = pcre2_get_ovector_pointer(rules->match);
	/* After an empty match, the search must advance. */
	size_t start = !last                   ? 0
		       : last->to > last->from ? last->to
					       : last->to + 1;
	int rc;

	if (start > matching->size)
		return 0;
	rc = pcre2_match(rule->code, (PCRE2_SPTR)matching->text, matching->size,
			 start, 0, rules->match, rules->context);
	if (rc < 0) {
		*matching->limits += rc != PCRE2_ERROR_NOMATCH;
		return 0;
	}
	place->from = places[0];
	/* \K in a lookahead can put the end before the start. */
	place->to = places[1] > places[0] ? places[1] : places[0];
	return 1;
}

/* Take the groups of the last match. */
static void take_groups(struct matching *matching, const struct rule *rule)
{
	const PCRE2_SIZE *places =
		pcre2_get_ovector_pointer(matching->rules->match);

	for (size_t i = 0; i < rule->source_count; i++) {
		const struct source *source = &rule->sources[i];
		const PCRE2_SIZE *place = places + (size_t)2 * source->group;

		if (source->group && place[0] != PCRE2_UNSET &&
		    place[0] < place[1])
			capture_source(&matching->capture, source,
				       matching->text + place[0],
				       place[1] - place[0]);
	}
}

static void take_dict_value(const char *path, const char *text, size_t size,
			    bool quoted, void *arg)
{
	capture_key(arg, path, strlen(path), text, size, quoted);
}

/* The next place where a dict of the rule may begin; NULL: none. */
static const char *dict_start(const struct rule *rule, const char *at,
			      const char *end)
{
	size_t prefix = strlen(rule->prefix);

	while (at < end) {
		if (!prefix)
			return memchr(at, '{', (size_t)(end - at));
		at = memmem(at, (size_t)(end - at), rule->prefix, prefix);
		if (!at)
			return NULL;
		at += prefix;
		while (at < end && (*at == ' ' || *at == '\t'))
			at++;
		if (at < end && *at == '{')
			return at;
	}
	return NULL;
}

static int match_dict(struct matching *matching, const struct rule *rule)
{
	const char *end = matching->text + matching->size;
	const char *at = matching->text;

	while ((at = dict_start(rule, at, end))) {
		size_t size;

		capture_begin(&matching->capture, matching->names, rule);
		size = dict_read(at, (size_t)(end - at), take_dict_value,
				 &matching->capture);
		if (size && capture_end(&matching->capture, matching->fn,
					matching->arg) < 0)
			return -1;
		/* An incomplete dict may contain another one. */
		at += size ? size : 1;
	}
	return 0;
}

static void pair_trim(const char **text, size_t *size)
{
	while (*size && isspace((unsigned char)**text)) {
		++*text;
		--*size;
	}
	while (*size && isspace((unsigned char)(*text)[*size - 1]))
		--*size;
}

/* The size of the number at the start of a value. A unit ("0.71 sec", "92267
 * tokens/s", "12%") or a mean ("1.5/1.4", "1.5 (avg 1.4)") may follow it. If
 * the value has another form: all of it.
 */
static size_t number_measure(const char *text, size_t size)
{
	size_t n = 0, unit;

	while (n < size &&
	       (isdigit((unsigned char)text[n]) ||
		(text[n] && strchr("+-.", text[n]) &&
		 (!n || text[n] == '.' || text[n - 1] == 'e' ||
		  text[n - 1] == 'E')) ||
		(n && (text[n] == 'e' || text[n] == 'E') && n + 1 < size &&
		 (isdigit((unsigned char)text[n + 1]) || text[n + 1] == '+' ||
		  text[n + 1] == '-'))))
		n++;
	if (!n || n == size)
		return size;
	if (text[n] == '/')
		return n + 1 < size ? n : size;
	unit = text[n] == ' ' ? n + 1 : n;
	if (unit < size && text[unit] == '(' && text[size - 1] == ')')
		return n;
	/* A single e is the start of an exponent that was cut. */
	if (unit + 1 == size && unit == n && tolower(text[n]) == 'e')
		return size;
	for (size_t i = unit; i < size; i++)
		if (!isalpha((unsigned char)text[i]) && text[i] != '%' &&
		    text[i] != '/')
			return size;
	return n;
}

static void matching_take_pair(struct matching *matching,
			       const struct rule *rule, const char *text,
			       size_t size)
{
	const char *value = text;
	size_t key_size;

	while (value < text + size && (!*value || !strchr(rule->is, *value)))
		value++;
	if (value == text + size)
		return;
	key_size = (size_t)(value - text);
	size -= key_size + 1;
	value++;
	pair_trim(&text, &key_size);
	pair_trim(&value, &size);
	if (size && *value == '[') {
		value++;
		size--;
	}
	if (size && value[size - 1] == ']')
		size--;
	capture_key(&matching->capture, text, key_size, value,
		    number_measure(value, size), false);
}

/* Take the pairs from text to end. more: end is not the end of the record. */
static void take_pairs(struct matching *matching, const struct rule *rule,
		       const char *text, const char *end, bool more)
{
	while (text < end) {
		const char *stop = text;

		while (stop < end && (!*stop || !strchr(rule->between, *stop)))
			stop++;
		if (stop == end && (rule->closed || more))
			return;
		matching_take_pair(matching, rule, text, (size_t)(stop - text));
		text = stop + 1;
	}
}

static int match_expression(struct matching *matching, const struct rule *rule)
{
	struct span place, next;
	int found = search(matching, rule, NULL, &place);

	for (; found; place = next) {
		size_t end = matching->size;

		capture_begin(&matching->capture, matching->names, rule);
		take_groups(matching, rule);
		found = search(matching, rule, &place, &next);
		if (found)
			end = next.from;
		if (rule->kind == RULE_PAIRS)
			take_pairs(matching, rule, matching->text + place.to,
				   matching->text + end, found);
		if (capture_end(&matching->capture, matching->fn,
				matching->arg) < 0)
			return -1;
	}
	return 0;
}

static bool may_match(const struct rule *rule, const char *text, size_t size)
{
	if (!rule->literal_count)
		return true;
	for (size_t i = 0; i < rule->literal_count; i++)
		if (memmem(text, size, rule->literals[i].text,
			   rule->literals[i].size))
			return true;
	return false;
}

const char *rules_next(const struct extract_rules *rules, const char *at,
		       const char *end)
{
	int rc;

	if (rules->marks)
		return marks_next(rules->marks, at, end);
	if (!rules->literals)
		return at;
	rc = pcre2_match(rules->literals, (PCRE2_SPTR)at, (size_t)(end - at), 0,
			 0, rules->match, rules->context);
	if (rc == PCRE2_ERROR_NOMATCH)
		return end;
	/* After an error, a match is possible anywhere. */
	return rc < 0 ? at : at + *pcre2_get_ovector_pointer(rules->match);
}

int rules_match(struct extract_rules *rules, struct fields *names,
		const char *text, size_t size, rules_fn *fn, void *arg,
		uint64_t *limits)
{
	struct matching matching = { .rules = rules,
				     .names = names,
				     .text = text,
				     .size = size,
				     .fn = fn,
				     .arg = arg,
				     .limits = limits };

	if (rules_next(rules, text, text + size) == text + size)
		return 0;
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];

		if (may_match(rule, text, size) &&
		    (rule->kind == RULE_DICT
			     ? match_dict(&matching, rule)
			     : match_expression(&matching, rule)) < 0)
			return -1;
	}
	return 0;
}
