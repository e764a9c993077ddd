/* captures.c - the values of one match as they are found, checked and put in
 * order.
 */
#include "controller/results/rules/captures.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define ORDER_OTHERS UINT8_MAX

void capture_begin(struct capture *catching, struct fields *names,
		   const struct rule *rule)
{
	catching->names = names;
	catching->caught.rule = rule;
	catching->caught.count = 0;
	catching->met = 0;
	catching->broken = false;
	catching->no_memory = false;
}

const struct caught_value *caught_find(const struct caught *caught,
				       uint16_t field)
{
	for (size_t i = 0; i < caught->count; i++)
		if (caught->values[i].field == field)
			return &caught->values[i];
	return NULL;
}

/* Whole, and exact as a double. */
static bool is_count(double number)
{
	return number >= 0 && number < 9007199254740992.0 &&
	       number == floor(number);
}

/* Known fields are numbers; steps are counted. */
static bool fits(const struct caught_value *value)
{
	switch (value->field) {
	case RECORD_STEP:
	case RECORD_STEPS:
	case RECORD_RANK:
		return value->kind == CAUGHT_NUMBER && is_count(value->number);
	case RECORD_FINISHED:
		return true;
	default:
		return value->field >= RECORD_FIELDS ||
		       value->kind == CAUGHT_NUMBER;
	}
}

/* Replace the first misspelt part of a text. */
static void spell(struct capture *catching, struct caught_value *value)
{
	const struct rule *rule = catching->caught.rule;

	for (size_t i = 0; i < rule->spelling_count; i++) {
		const struct spelling *one = &rule->spellings[i];
		const char *found = memmem(value->text, value->size, one->from,
					   strlen(one->from));
		size_t before, after, size = strlen(one->to);

		if (!found)
			continue;
		before = (size_t)(found - value->text);
		after = value->size - before - strlen(one->from);
		if (before + size + after > sizeof(catching->spelled))
			continue;
		/* Once: the text may already stand there. */
		memmove(catching->spelled, value->text, before);
		memmove(catching->spelled + before, one->to, size);
		memmove(catching->spelled + before + size,
			found + strlen(one->from), after);
		value->text = catching->spelled;
		value->size = before + size + after;
		return;
	}
}

static void put(struct capture *catching, const struct caught_value *value,
		uint8_t order)
{
	struct caught *caught = &catching->caught;
	size_t at = 0;

	for (size_t i = 0; i < caught->count; i++)
		if (caught->values[i].field == value->field) {
			caught->values[i] = *value;
			return;
		}
	if (caught->count == CAUGHT_MAX)
		return;
	while (at < caught->count && catching->order[at] <= order)
		at++;
	memmove(caught->values + at + 1, caught->values + at,
		(caught->count - at) * sizeof(*caught->values));
	memmove(catching->order + at + 1, catching->order + at,
		caught->count - at);
	caught->values[at] = *value;
	catching->order[at] = order;
	caught->count++;
}

static void take_target(struct capture *catching, const struct source *source,
			const struct target *target, const char *text,
			size_t size)
{
	const struct source *first = catching->caught.rule->sources;
	struct caught_value value;

	value.field = target->field;
	if (!value_from(&value, target->form, text, size) || !fits(&value)) {
		catching->broken |= target->field == RECORD_STEP;
		return;
	}
	if (value.kind == CAUGHT_NUMBER && target->factor < 0) {
		if (!(value.number > 0))
			return;
		value.number = -target->factor / value.number;
	} else if (value.kind == CAUGHT_NUMBER) {
		value.number *= target->factor;
	}
	if (value.kind == CAUGHT_TEXT)
		spell(catching, &value);
	put(catching, &value, (uint8_t)(source - first));
}

void capture_source(struct capture *catching, const struct source *source,
		    const char *text, size_t size)
{
	if (source->ratio) {
		const char *mark = memchr(text, '/', size);
		size_t first = mark ? (size_t)(mark - text) : size;

		take_target(catching, source, &source->targets[0], text, first);
		if (mark)
			take_target(catching, source, &source->targets[1],
				    mark + 1, size - first - 1);
		return;
	}
	for (size_t i = 0; i < source->target_count; i++)
		take_target(catching, source, &source->targets[i], text, size);
}

/* A number or a bool of a key that the rule does not know. */
static void take_other(struct capture *catching, const char *name, size_t size,
		       const char *text, size_t text_size)
{
	struct caught_value value;
	double factor;
	int rc;

	if (!value_from(&value, FORM_NUMBER, text, text_size))
		return;
	rc = fields_add(catching->names, name, size, &value.field, &factor);
	catching->no_memory |= rc < 0;
	/* A known field is only caught where the rule says so. */
	if (rc == 1 && value.field >= RECORD_FIELDS &&
	    !caught_find(&catching->caught, value.field))
		put(catching, &value, ORDER_OTHERS);
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

static void try_others(struct capture *catching, const char *key, size_t size,
		       const char *text, size_t text_size)
{
	const struct rule *rule = catching->caught.rule;
	size_t below = strlen(rule->others);
	char name[FIELD_NAME_MAX];

	if (rule->kind == RULE_PAIRS) {
		size = plain_name(key, size, name);
		take_other(catching, name, size, text, text_size);
		return;
	}
	if (below) {
		if (size <= below || strncmp(key, rule->others, below) != 0 ||
		    key[below] != '.')
			return;
		key += below + 1;
		size -= below + 1;
	}
	take_other(catching, key, size, text, text_size);
}

static void meet(struct capture *catching, const char *key, size_t key_size,
		 const char *text, size_t size)
{
	const struct rule *rule = catching->caught.rule;

	for (size_t i = 0; i < rule->condition_count; i++) {
		const struct condition *condition = &rule->conditions[i];

		if (strlen(condition->key) != key_size ||
		    memcmp(condition->key, key, key_size) != 0)
			continue;
		for (size_t v = 0; v < condition->count; v++)
			if (strlen(condition->values[v]) == size &&
			    !memcmp(condition->values[v], text, size))
				catching->met |= 1u << i;
	}
}

void capture_key(struct capture *catching, const char *key, size_t key_size,
		 const char *text, size_t size, bool quoted)
{
	const struct rule *rule = catching->caught.rule;
	bool known = false;

	meet(catching, key, key_size, text, size);
	for (size_t i = 0; i < rule->source_count; i++) {
		const struct source *source = &rule->sources[i];

		if (source->group || strlen(source->key) != key_size ||
		    memcmp(source->key, key, key_size) != 0)
			continue;
		capture_source(catching, source, text, size);
		known = true;
	}
	if (!known && rule->others && !quoted)
		try_others(catching, key, key_size, text, size);
}

/* A loss of 0 beside another value that is NaN is NaN. */
static void put_nan(struct capture *catching)
{
	struct caught *caught = &catching->caught;
	const struct caught_value *with =
		caught_find(caught, caught->rule->nan_with);

	if (!with || with->kind != CAUGHT_NUMBER || !isnan(with->number))
		return;
	for (size_t i = 0; i < caught->count; i++)
		if (caught->values[i].field == RECORD_LOSS &&
		    caught->values[i].number == 0)
			caught->values[i].number = NAN;
}

int capture_end(struct capture *catching, rules_fn *fn, void *arg)
{
	const struct rule *rule = catching->caught.rule;
	uint32_t all = (uint32_t)((1ull << rule->condition_count) - 1);

	if (catching->no_memory)
		return -1;
	if (catching->broken || catching->met != all)
		return 0;
	for (size_t i = 0; i < rule->has_count; i++)
		if (!caught_find(&catching->caught, rule->has[i]))
			return 0;
	if (!catching->caught.count && rule->row != ROW_COUNT && !rule->life)
		return 0;
	put_nan(catching);
	return fn(&catching->caught, arg);
}
