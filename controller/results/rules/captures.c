/* captures.c - collects, checks and sorts the values of one match.
 */
#include "controller/results/rules/captures.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define ORDER_OTHERS UINT8_MAX

void capture_begin(struct capture *capture, struct fields *names,
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

void capture_source(struct capture *capture, const struct source *source,
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

		if (strlen(condition->key) != key_size ||
		    memcmp(condition->key, key, key_size) != 0)
			continue;
		for (size_t v = 0; v < condition->count; v++)
			if (strlen(condition->values[v]) == size &&
			    !memcmp(condition->values[v], text, size))
				capture->met |= 1u << i;
	}
}

void capture_key(struct capture *capture, const char *key, size_t key_size,
		 const char *text, size_t size, bool quoted)
{
	const struct rule *rule = capture->captured.rule;
	bool known = false;

	check_conditions(capture, key, key_size, text, size);
	for (size_t i = 0; i < rule->source_count; i++) {
		const struct source *source = &rule->sources[i];

		if (source->group || strlen(source->key) != key_size ||
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

int capture_end(struct capture *capture, rules_fn *fn, void *arg)
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
