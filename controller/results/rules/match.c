/* match.c - matches one record of a log against the rules.
 */
#include "controller/results/rules/rules.h"

#include "controller/results/rules/dict.h"
#include "protocol/base/clock.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define SEARCH_SLOW_US 20

/* Collects, checks and sorts the values of one match. */

struct capture {
	struct fields *names; /* borrowed; new names are added */
	struct captured captured;
	uint8_t order[CAPTURED_MAX]; /* of each value: the index of its source
				      */
	uint32_t met;                /* bit per condition of the rule */
	bool broken;                 /* its step is no number: discard it */
	bool no_memory;
	char spelled[FIELD_NAME_MAX * 2]; /* a text corrected by `spell` */
};

#define ORDER_OTHERS UINT8_MAX

static void capture_begin(struct capture *capture, struct fields *names,
			  const struct rule *rule)
{
	capture->names = names;
	capture->captured.rule = rule;
	capture->captured.count = 0;
	capture->met = 0;
	capture->broken = false;
	capture->no_memory = false;
}

const struct captured_value *captured_find(const struct captured *captured,
					   uint16_t field)
{
	for (size_t i = 0; i < captured->count; i++)
		if (captured->values[i].field == field)
			return &captured->values[i];
	return NULL;
}

/* A whole number that a double holds exactly? */
static bool is_count(double number)
{
	return number >= 0 && number < 9007199254740992.0 &&
	       number == floor(number);
}

/* Is the value valid for its field? Predefined fields are numbers, steps are
 * whole ones.
 */
static bool captured_value_fits(const struct captured_value *value)
{
	switch (value->field) {
	case RECORD_STEP:
	case RECORD_STEPS:
	case RECORD_RANK:
		return value->kind == CAPTURED_NUMBER &&
		       is_count(value->number);
	case RECORD_FINISHED:
		return true;
	default:
		return value->field >= RECORD_FIELDS ||
		       value->kind == CAPTURED_NUMBER;
	}
}

/* Replace the first misspelt part of a text. */
static void correct_spelling(struct capture *capture,
			     struct captured_value *value)
{
	const struct rule *rule = capture->captured.rule;

	for (size_t i = 0; i < rule->spelling_count; i++) {
		const struct spelling *one = &rule->spellings[i];
		const char *found = memmem(value->text, value->size, one->from,
					   strlen(one->from));
		size_t before, after, size = strlen(one->to);

		if (!found)
			continue;
		before = (size_t)(found - value->text);
		after = value->size - before - strlen(one->from);
		if (before + size + after > sizeof(capture->spelled))
			continue;
		/* The text may already be in this buffer. */
		memmove(capture->spelled, value->text, before);
		memmove(capture->spelled + before, one->to, size);
		memmove(capture->spelled + before + size,
			found + strlen(one->from), after);
		value->text = capture->spelled;
		value->size = before + size + after;
		return;
	}
}

static void capture_put_value(struct capture *capture,
			      const struct captured_value *value, uint8_t order)
{
	struct captured *captured = &capture->captured;
	size_t at = 0;

	for (size_t i = 0; i < captured->count; i++)
		if (captured->values[i].field == value->field) {
			/* Of several names of a step, the first listed. */
			if (value->field == RECORD_STEP &&
			    capture->order[i] < order)
				return;
			captured->values[i] = *value;
			capture->order[i] = order;
			return;
		}
	if (captured->count == CAPTURED_MAX)
		return;
	while (at < captured->count && capture->order[at] <= order)
		at++;
	memmove(captured->values + at + 1, captured->values + at,
		(captured->count - at) * sizeof(*captured->values));
	memmove(capture->order + at + 1, capture->order + at,
		captured->count - at);
	captured->values[at] = *value;
	capture->order[at] = order;
	captured->count++;
}

/* A rate may have a decimal suffix: 12.5K. */
static bool field_is_rate(uint16_t field)
{
	return field == RECORD_TOKENS_PER_SECOND ||
	       field == RECORD_SAMPLES_PER_SECOND ||
	       field == RECORD_TOKENS_PER_DEVICE;
}

static void take_target(struct capture *capture, const struct source *source,
			const struct target *target, const char *text,
			size_t size)
{
	const struct source *first = capture->captured.rule->sources;
	struct captured_value value;

	value.field = target->field;
	if ((!value_from(&value, target->form, text, size) &&
	     !(field_is_rate(target->field) &&
	       value_from(&value, FORM_SI, text, size))) ||
	    !captured_value_fits(&value)) {
		capture->broken |= target->field == RECORD_STEP;
		return;
	}
	if (value.kind == CAPTURED_NUMBER && target->factor < 0) {
		if (!(value.number > 0))
			return;
		value.number = -target->factor / value.number;
	} else if (value.kind == CAPTURED_NUMBER) {
		value.number *= target->factor;
	}
	if (value.kind == CAPTURED_TEXT)
		correct_spelling(capture, &value);
	capture_put_value(capture, &value, (uint8_t)(source - first));
}

/* Add the text found at a source of the rule. */
static void capture_source(struct capture *capture, const struct source *source,
			   const char *text, size_t size)
{
	if (source->ratio) {
		const char *mark = memchr(text, '/', size);
		size_t first = mark ? (size_t)(mark - text) : size;

		take_target(capture, source, &source->targets[0], text, first);
		if (mark)
			take_target(capture, source, &source->targets[1],
				    mark + 1, size - first - 1);
		return;
	}
	for (size_t i = 0; i < source->target_count; i++)
		take_target(capture, source, &source->targets[i], text, size);
}

/* Take a number or bool whose key is not in the rule. */
static void take_other(struct capture *capture, const char *name, size_t size,
		       const char *text, size_t text_size)
{
	struct captured_value value;
	double factor;
	int rc;

	if (!value_from(&value, FORM_NUMBER, text, text_size))
		return;
	rc = fields_add(capture->names, name, size, &value.field, &factor);
	capture->no_memory |= rc < 0;
	/* Predefined fields are captured only if the rule names them. */
	if (rc == 1 && value.field >= RECORD_FIELDS &&
	    !captured_find(&capture->captured, value.field))
		capture_put_value(capture, &value, ORDER_OTHERS);
}

/* A pair's key as a name: "num zeros" is num_zeros. */
static size_t plain_name(const char *key, size_t size, char *name)
{
	size_t used = 0;

	for (size_t i = 0; i < size && used < FIELD_NAME_MAX; i++) {
		if (isalnum((unsigned char)key[i]))
			name[used++] = (char)tolower((unsigned char)key[i]);
		else if (used && name[used - 1] != '_')
			name[used++] = '_';
	}
	while (used && name[used - 1] == '_')
		used--;
	return used;
}

static void try_others(struct capture *capture, const char *key, size_t size,
		       const char *text, size_t text_size)
{
	const struct rule *rule = capture->captured.rule;
	size_t below = strlen(rule->others);
	char name[FIELD_NAME_MAX];

	if (rule->kind == RULE_PAIRS) {
		size = plain_name(key, size, name);
		take_other(capture, name, size, text, text_size);
		return;
	}
	if (below) {
		if (size <= below || strncmp(key, rule->others, below) != 0 ||
		    key[below] != '.')
			return;
		key += below + 1;
		size -= below + 1;
	}
	take_other(capture, key, size, text, text_size);
}

static void check_conditions(struct capture *capture, const char *key,
			     size_t key_size, const char *text, size_t size)
{
	const struct rule *rule = capture->captured.rule;

	for (size_t i = 0; i < rule->condition_count; i++) {
		const struct condition *condition = &rule->conditions[i];

		if (condition->key_size != key_size ||
		    memcmp(condition->key, key, key_size) != 0)
			continue;
		for (size_t v = 0; v < condition->count; v++)
			if (strlen(condition->values[v]) == size &&
			    !memcmp(condition->values[v], text, size))
				capture->met |= 1u << i;
	}
}

/* Add the text found at a key (the path in a dict, or the key of a pair): to
 * the sources and conditions with this key, else to `others`.
 */
static void capture_key(struct capture *capture, const char *key,
			size_t key_size, const char *text, size_t size,
			bool quoted)
{
	const struct rule *rule = capture->captured.rule;
	bool known = false;

	check_conditions(capture, key, key_size, text, size);
	for (size_t i = 0; i < rule->source_count; i++) {
		const struct source *source = &rule->sources[i];

		if (source->group || source->key_size != key_size ||
		    memcmp(source->key, key, key_size) != 0)
			continue;
		capture_source(capture, source, text, size);
		known = true;
	}
	if (!known && rule->others && !quoted)
		try_others(capture, key, key_size, text, size);
}

/* A loss of 0 beside another value that is NaN is NaN. */
static void put_nan(struct capture *capture)
{
	struct captured *captured = &capture->captured;
	const struct captured_value *with =
		captured_find(captured, captured->rule->nan_with);

	if (!with || with->kind != CAPTURED_NUMBER || !isnan(with->number))
		return;
	for (size_t i = 0; i < captured->count; i++)
		if (captured->values[i].field == RECORD_LOSS &&
		    captured->values[i].number == 0)
			captured->values[i].number = NAN;
}

/* Call fn if the match is valid. Returns 0, or -1 if fn failed or memory ran
 * out.
 */
static int capture_end(struct capture *capture, rules_fn *fn, void *arg)
{
	const struct rule *rule = capture->captured.rule;
	uint32_t all = (uint32_t)((1ull << rule->condition_count) - 1);

	if (capture->no_memory)
		return -1;
	if (capture->broken || capture->met != all)
		return 0;
	for (size_t i = 0; i < rule->has_count; i++)
		if (!captured_find(&capture->captured, rule->has[i]))
			return 0;
	if (!capture->captured.count && !rule->life)
		return 0;
	put_nan(capture);
	return fn(&capture->captured, arg);
}

/* The record that is matched, and the receiver of the matches. */
struct matching {
	struct extract_rules *rules;
	struct fields *names;
	const char *text;
	size_t size;
	const char *above;
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

/* pcre2_match() of the record, from start on. */
static int search_at(struct matching *matching, const struct rule *rule,
		     size_t start)
{
	struct extract_rules *rules = matching->rules;
	int64_t began = rules->limited ? clock_cpu_us() : 0, took;
	int rc = pcre2_match(rule->code, (PCRE2_SPTR)matching->text,
			     matching->size, start, 0, rules->match,
			     rules->context);

	if (rules->limited) {
		took = clock_cpu_us() - began;
		rules->slow_us += took > SEARCH_SLOW_US ? took : 0;
	}
	return rc;
}

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

	if (start > matching->size || extract_rules_given_up(rules))
		return 0;
	rc = search_at(matching, rule, start);
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

/* Does the text up to the end of a dict, or the title above it, say that it is
 * none of the rule's?
 */
static bool dict_is_foreign(struct matching *matching, const struct rule *rule,
			    const char *end)
{
	const char *text = matching->text;
	size_t size = matching->size;
	struct span place;
	bool found;

	if (!rule->code)
		return false;
	matching->size = (size_t)(end - text);
	found = search(matching, rule, NULL, &place);
	if (!found && *matching->above) {
		matching->text = matching->above;
		matching->size = strlen(matching->above);
		found = search(matching, rule, NULL, &place);
	}
	matching->text = text;
	matching->size = size;
	return found;
}

bool rules_ask_above(const struct extract_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		if (rules->rules[i].kind == RULE_DICT && rules->rules[i].code)
			return true;
	return false;
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
		if (size && !dict_is_foreign(matching, rule, at + size) &&
		    capture_end(&matching->capture, matching->fn,
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
		((text[n] == '+' || text[n] == '-' || text[n] == '.') &&
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

	while (value < text + size && !rule->is[(unsigned char)*value])
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

		while (stop < end && !rule->between[(unsigned char)*stop])
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
		const char *text, size_t size, const char *above, rules_fn *fn,
		void *arg, uint64_t *limits)
{
	struct matching matching = { .rules = rules,
				     .names = names,
				     .text = text,
				     .size = size,
				     .above = above,
				     .fn = fn,
				     .arg = arg,
				     .limits = limits };

	if (extract_rules_given_up(rules) ||
	    rules_next(rules, text, text + size) == text + size)
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
