/* read.c - compiles the rules of a description.
 */
#include "controller/results/rules/rule.h"

#include "controller/results/rules/literal.h"
#include "protocol/base/nearest_word.h"
#include "protocol/hardware/expression.h"

#include <string.h>

/* The keys of a rule, and in which forms they are valid: match, dict, pairs. */
enum key_kind { KEY_OTHER, KEY_FLAG, KEY_FIELD };

/* clang-format off */
#define OTHER(name, forms) { #name, forms, KEY_OTHER, 0 }
#define FLAG(m, forms) { #m, forms, KEY_FLAG, offsetof(struct rule, m) }
#define NAMED(m) { #m, "mdp", KEY_FIELD, offsetof(struct rule, m) }
static const struct {
	const char *name;
	const char *forms;
	enum key_kind kind;
	size_t offset;
} keys[] = {
	OTHER(match, "m"), OTHER(dict, "d"), OTHER(pairs, "p"),
	OTHER(fields, "mdp"), OTHER(where, "dp"), OTHER(has, "mdp"),
	OTHER(others, "dp"), OTHER(between, "p"), OTHER(is, "p"),
	OTHER(contains, "mdp"), OTHER(spell, "mdp"), OTHER(unless, "d"),
	 OTHER(metric, "mdp"), OTHER(epoch_from, "mdp"),
	FLAG(closed, "p"), FLAG(finished, "mdp"), FLAG(summary, "mdp"),
	FLAG(progress, "mdp"), FLAG(total, "mdp"), FLAG(pending, "mdp"),
	FLAG(life, "mdp"), FLAG(counted, "mdp"), FLAG(fills, "mdp"),
	NAMED(number), NAMED(nan_with), NAMED(epoch), NAMED(epoch_steps),
	NAMED(interval), NAMED(samples), NAMED(batch), NAMED(share), NAMED(elapsed),
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* clang-format on */

void rule_clear(struct rule *rule)
{
	pcre2_code_free(rule->code);
	for (size_t i = 0; i < rule->literal_count; i++)
		free(rule->literals[i].text);
	free(rule->sources);
	free(rule->conditions);
	*rule = (struct rule){ 0 };
}

/* Keep a copy as long as the rules. */
static int rules_keep_text(struct extract_rules *rules, const char *text,
			   const char **kept, struct error *err)
{
	if (strings_add(&rules->texts, text, err) < 0)
		return -1;
	*kept = rules->texts.items[rules->texts.count - 1];
	return 0;
}

static int rules_keep_key(struct extract_rules *rules, const char *text,
			  const char **kept, size_t *size, struct error *err)
{
	*size = strlen(text);
	return rules_keep_text(rules, text, kept, err);
}

static int rules_keep_value(struct extract_rules *rules,
			    const struct value *value, size_t max,
			    const char **kept, struct error *err)
{
	const char *text;

	if (value_string(value, max, &text, err) < 0)
		return -1;
	return rules_keep_text(rules, text, kept, err);
}

/* Read an optional text of a rule. Without it, *kept is unchanged. */
static int rule_read_text(struct extract_rules *rules, const struct value *rule,
			  const char *key, const char **kept, struct error *err)
{
	const struct value *value = value_get(rule, key);

	return value ? rules_keep_value(rules, value, EXTRACT_MATCH_MAX, kept,
					err)
		     : 0;
}

static int add_field(struct extract_rules *rules, const struct value *place,
		     const char *name, size_t size, uint16_t *field,
		     double *factor, struct error *err)
{
	int rc = fields_add(&rules->fields, name, size, field, factor);

	if (rc < 0)
		return error_nomem(err, "log rules");
	if (!rc)
		return value_error(place, err,
				   "the name \"%.80s\" is not valid here; "
				   "expected up to %d names of 1 to %d "
				   "characters without blanks",
				   name, FIELDS_MAX, FIELD_NAME_MAX);
	return 0;
}

/* Read an optional field name of a rule; FIELD_NONE: it is missing. */
static int rule_read_field(struct extract_rules *rules,
			   const struct value *rule, const char *key,
			   uint16_t *field, struct error *err)
{
	const struct value *value = value_get(rule, key);
	const char *name;
	double factor;

	*field = FIELD_NONE;
	if (!value)
		return 0;
	if (value_string(value, FIELD_NAME_MAX, &name, err) < 0)
		return -1;
	return add_field(rules, value, name, strlen(name), field, &factor, err);
}

static int rule_read_form(const struct value *place, const char *word,
			  enum value_form *form, struct error *err)
{
	const char *nearest;

	for (size_t i = 0; value_forms[i]; i++)
		if (!strcmp(word, value_forms[i])) {
			*form = (enum value_form)i;
			return 0;
		}
	nearest = nearest_word(word, value_forms);
	return value_error(place, err,
			   "the form \"%.40s\" is not valid here; expected "
			   "number, text, clock, flag, percent, si, "
			   "thousand, million, milli, counter, pace%s%s%s",
			   word, nearest ? "; did you mean \"" : "",
			   nearest ? nearest : "", nearest ? "\"?" : "");
}

static int add_target(struct extract_rules *rules, const struct value *place,
		      struct source *source, const char *name, size_t size,
		      enum value_form form, struct error *err)
{
	struct target *target = &source->targets[source->target_count];

	if (source->target_count == TARGETS_MAX)
		return value_error(place, err,
				   "more than %d names for one value",
				   TARGETS_MAX);
	target->form = form;
	if (add_field(rules, place, name, size, &target->field, &target->factor,
		      err) < 0)
		return -1;
	if (target->field == RECORD_FINISHED)
		target->form = FORM_FLAG;
	source->target_count++;
	return 0;
}

static int read_target(struct extract_rules *rules, const struct value *value,
		       struct source *source, struct error *err);

/* {as: NAME, take: last} */
static int read_taken_target(struct extract_rules *rules,
			     const struct value *value, struct source *source,
			     struct error *err)
{
	static const char *const parts[] = { "as", "take", NULL };
	static const char *const words[] = { "last", "max", "median", NULL };
	const struct value *as = value_get(value, "as");
	const struct value *take = value_get(value, "take");
	size_t word, first = source->target_count;

	if (value_check_keys(value, parts, err) < 0)
		return -1;
	if (!as || !take)
		return value_error(value, err, "missing `%s`",
				   as ? "take" : "as");
	if (value_expect(as, VALUE_SCALAR, err) < 0 ||
	    value_enum(take, words, &word, err) < 0 ||
	    read_target(rules, as, source, err) < 0)
		return -1;
	for (size_t i = first; i < source->target_count; i++)
		source->targets[i].take = (enum metric_take)(TAKE_LAST + word);
	return 0;
}

/* "name", "name:form", "name/name", or one of them with `take`. */
static int read_target(struct extract_rules *rules, const struct value *value,
		       struct source *source, struct error *err)
{
	const char *text, *mark;
	enum value_form form = FORM_NUMBER;

	if (value_kind(value) == VALUE_MAP)
		return read_taken_target(rules, value, source, err);
	if (value_string(value, (size_t)2 * FIELD_NAME_MAX, &text, err) < 0)
		return -1;
	mark = strchr(text, '/');
	if (mark) {
		source->ratio = true;
		if (add_target(rules, value, source, text,
			       (size_t)(mark - text), form, err) < 0)
			return -1;
		return add_target(rules, value, source, mark + 1,
				  strlen(mark + 1), form, err);
	}
	mark = strchr(text, ':');
	if (mark && rule_read_form(value, mark + 1, &form, err) < 0)
		return -1;
	return add_target(rules, value, source, text,
			  mark ? (size_t)(mark - text) : strlen(text), form,
			  err);
}

/* A value may be one item or a list of items. */
static size_t item_count(const struct value *value)
{
	return value_kind(value) == VALUE_LIST ? value_count(value) : 1;
}

static const struct value *item_at(const struct value *value, size_t i)
{
	return value_kind(value) == VALUE_LIST ? value_at(value, i) : value;
}

static int rule_read_source(struct extract_rules *rules, struct rule *rule,
			    const char *key, const struct value *value,
			    struct error *err)
{
	struct source *source = &rule->sources[rule->source_count];

	if (rule->source_count == SOURCES_MAX)
		return value_error(value, err, "more than %d fields",
				   SOURCES_MAX);
	rule->source_count++;
	if (rules_keep_key(rules, key, &source->key, &source->key_size, err) <
	    0)
		return -1;
	for (size_t i = 0; i < item_count(value); i++)
		if (read_target(rules, item_at(value, i), source, err) < 0)
			return -1;
	if (source->ratio && source->target_count != 2)
		return value_error(value, err,
				   "a name with \"/\" is not valid beside "
				   "others; expected it alone");
	return 0;
}

static int rule_read_fields(struct extract_rules *rules, struct rule *rule,
			    const struct value *value, struct error *err)
{
	const struct value *fields = value_get(value, "fields");

	rule->sources = calloc(SOURCES_MAX, sizeof(*rule->sources));
	if (!rule->sources)
		return error_nomem(err, "log rules");
	if (!fields)
		return 0;
	if (value_expect(fields, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(fields); i++)
		if (rule_read_source(rules, rule, value_key(fields, i),
				     value_at(fields, i), err) < 0)
			return -1;
	return 0;
}

/* A named group keeps its own name, unless it is in `fields`. */
static int rule_add_group(struct extract_rules *rules, struct rule *rule,
			  const struct value *match, const char *name,
			  uint32_t number, struct error *err)
{
	struct source *source = rule->sources;
	struct source *end = source + rule->source_count;

	while (source < end && strcmp(source->key, name) != 0)
		source++;
	if (source < end) {
		source->group = number;
		return 0;
	}
	if (rule->source_count == SOURCES_MAX)
		return value_error(match, err, "more than %d fields",
				   SOURCES_MAX);
	rule->source_count++;
	source->group = number;
	if (rules_keep_key(rules, name, &source->key, &source->key_size, err) <
	    0)
		return -1;
	return add_target(rules, match, source, name, strlen(name), FORM_NUMBER,
			  err);
}

/* Read the named groups by number; PCRE2's table is sorted by name. */
static int read_groups(struct extract_rules *rules, struct rule *rule,
		       const struct value *match, struct error *err)
{
	uint32_t count = 0, size = 0, groups = 0;
	PCRE2_SPTR table = NULL;

	pcre2_pattern_info(rule->code, PCRE2_INFO_NAMECOUNT, &count);
	pcre2_pattern_info(rule->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
	pcre2_pattern_info(rule->code, PCRE2_INFO_NAMETABLE, &table);
	pcre2_pattern_info(rule->code, PCRE2_INFO_CAPTURECOUNT, &groups);
	for (uint32_t number = 1; number <= groups; number++)
		for (uint32_t i = 0; i < count; i++) {
			PCRE2_SPTR entry = table + (size_t)i * size;

			if (((uint32_t)entry[0] << 8 | entry[1]) == number &&
			    rule_add_group(rules, rule, match,
					   (const char *)entry + 2, number,
					   err) < 0)
				return -1;
		}
	return 0;
}

/* A `match` must capture something. */
static int rule_check_groups(const struct rule *rule, const struct value *match,
			     struct error *err)
{
	if (!rule->source_count && !rule->life)
		return value_error(match, err,
				   "missing named group (expected one or more, "
				   "such as (?<loss>\\S+))");
	for (size_t i = 0; i < rule->source_count; i++)
		if (!rule->sources[i].group)
			return value_error(match, err,
					   "missing group \"%.40s\" (used in "
					   "`fields`)",
					   rule->sources[i].key);
	return 0;
}

static int add_literal(struct rule *rule, char *text, struct error *err)
{
	if (!text)
		return error_nomem(err, "log rules");
	if (!*text) {
		free(text);
		return 0;
	}
	rule->literals[rule->literal_count].text = text;
	rule->literals[rule->literal_count++].size = strlen(text);
	return 0;
}

static int read_contains(struct rule *rule, const struct value *contains,
			 struct error *err)
{
	const char *text;

	if (value_expect(contains, VALUE_LIST, err) < 0)
		return -1;
	if (!value_count(contains) || value_count(contains) > LITERALS_MAX)
		return value_error(contains, err,
				   "a list of %zu texts is not valid here; "
				   "expected 1 to %d",
				   value_count(contains), LITERALS_MAX);
	for (size_t i = 0; i < value_count(contains); i++)
		if (value_string(value_at(contains, i), EXTRACT_MATCH_MAX,
				 &text, err) < 0 ||
		    add_literal(rule, strdup(text), err) < 0)
			return -1;
	return 0;
}

static int rule_compile(struct rule *rule, const struct value *match,
			const char **text, struct error *err)
{
	if (value_string(match, EXTRACT_MATCH_MAX, text, err) < 0)
		return -1;
	rule->code = expression_compile(match, *text, 0, err);
	if (!rule->code)
		return -1;
	/* If the system forbids code at run time, matching is slower. */
	pcre2_jit_compile(rule->code, PCRE2_JIT_COMPLETE);
	return 0;
}

static int read_unless(struct rule *rule, const struct value *match,
		       struct error *err)
{
	const char *text;

	return match ? rule_compile(rule, match, &text, err) : 0;
}

static int rule_read_expression(struct extract_rules *rules, struct rule *rule,
				const struct value *match, struct error *err)
{
	const char *text;

	if (rule_compile(rule, match, &text, err) < 0)
		return -1;
	if (!rule->literal_count) {
		char *literal = malloc(strlen(text) + 2);

		if (literal)
			literal_find(text, literal);
		if (add_literal(rule, literal, err) < 0)
			return -1;
	}
	return read_groups(rules, rule, match, err);
}

static int read_condition(struct extract_rules *rules, struct rule *rule,
			  const char *key, const struct value *values,
			  struct error *err)
{
	struct condition *condition = &rule->conditions[rule->condition_count];
	size_t count = item_count(values);

	if (rule->condition_count == CONDITIONS_MAX ||
	    count > CONDITION_VALUES_MAX)
		return value_error(values, err,
				   "too many conditions; expected at most %d "
				   "with %d values each",
				   CONDITIONS_MAX, CONDITION_VALUES_MAX);
	rule->condition_count++;
	if (rules_keep_key(rules, key, &condition->key, &condition->key_size,
			   err) < 0)
		return -1;
	for (; condition->count < count; condition->count++)
		if (rules_keep_value(rules, item_at(values, condition->count),
				     EXTRACT_MATCH_MAX,
				     &condition->values[condition->count],
				     err) < 0)
			return -1;
	return 0;
}

static int read_conditions(struct extract_rules *rules, struct rule *rule,
			   const struct value *value, struct error *err)
{
	const struct value *where = value_get(value, "where");

	rule->conditions = calloc(CONDITIONS_MAX, sizeof(*rule->conditions));
	if (!rule->conditions)
		return error_nomem(err, "log rules");
	if (where && value_expect(where, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; where && i < value_count(where); i++)
		if (read_condition(rules, rule, value_key(where, i),
				   value_at(where, i), err) < 0)
			return -1;
	if (rule_read_text(rules, value, "others", &rule->others, err) < 0)
		return -1;
	/* "." means the whole dict. */
	if (rule->others && !strcmp(rule->others, "."))
		rule->others = "";
	return 0;
}

static int read_has(struct extract_rules *rules, struct rule *rule,
		    const struct value *has, struct error *err)
{
	const char *name;
	double factor;

	if (value_expect(has, VALUE_LIST, err) < 0)
		return -1;
	if (value_count(has) > HAS_MAX)
		return value_error(has, err, "more than %d fields", HAS_MAX);
	for (size_t i = 0; i < value_count(has); i++) {
		const struct value *one = value_at(has, i);

		if (value_string(one, FIELD_NAME_MAX, &name, err) < 0 ||
		    add_field(rules, one, name, strlen(name),
			      &rule->has[rule->has_count], &factor, err) < 0)
			return -1;
		rule->has_count++;
	}
	return 0;
}

/* A text that every matching dict contains: the prefix, or the last part of the
 * path of the first field in `has`.
 */
static const char *dict_literal(const struct rule *rule)
{
	if (*rule->prefix || !rule->has_count)
		return rule->prefix;
	for (size_t i = 0; i < rule->source_count; i++) {
		const struct source *source = &rule->sources[i];
		const char *dot = strrchr(source->key, '.');

		if (source->targets[0].field == rule->has[0])
			return dot ? dot + 1 : source->key;
	}
	return "";
}

static int read_dict(struct extract_rules *rules, struct rule *rule,
		     const struct value *dict, struct error *err)
{
	const char *text;

	if (value_string(dict, EXTRACT_MATCH_MAX, &text, err) < 0)
		return -1;
	/* "{" means any dict. */
	if (!strcmp(text, "{"))
		text++;
	if (rules_keep_text(rules, text, &rule->prefix, err) < 0)
		return -1;
	if (rule->literal_count)
		return 0;
	return add_literal(rule, strdup(dict_literal(rule)), err);
}

/* Mark the bytes of an optional text of the rule. */
static int read_separators(const struct value *rule, const char *key,
			   const char *text, bool bytes[256], struct error *err)
{
	const struct value *value = value_get(rule, key);

	if (value && value_string(value, EXTRACT_MATCH_MAX, &text, err) < 0)
		return -1;
	for (; *text; text++)
		bytes[(unsigned char)*text] = true;
	return 0;
}

static int read_pairs(struct rule *rule, const struct value *value,
		      struct error *err)
{
	if (read_separators(value, "between", "|", rule->between, err) < 0)
		return -1;
	return read_separators(value, "is", ":", rule->is, err);
}

/* The form of the rule: `match`, `dict` or `pairs`. */
static int read_kind(const struct value *value, struct rule *rule,
		     const struct value **form, struct error *err)
{
	static const char *const words[] = { "match", "dict", "pairs" };
	static const char letters[] = "mdp";
	size_t found = 0;

	for (size_t i = 0; i < 3; i++)
		if (value_get(value, words[i])) {
			*form = value_get(value, words[i]);
			rule->kind = (enum rule_kind)i;
			found++;
		}
	if (found != 1)
		return value_error(value, err,
				   "%s `match`, `dict` and `pairs`; expected "
				   "one of them",
				   found ? "several of" : "none of");
	for (size_t i = 0; i < KEYS; i++)
		if (value_get(value, keys[i].name) &&
		    !strchr(keys[i].forms, letters[rule->kind]))
			return value_error(value, err,
					   "`%s` is not valid together with "
					   "`%s`",
					   keys[i].name, words[rule->kind]);
	return 0;
}

static int read_spellings(struct extract_rules *rules, struct rule *rule,
			  const struct value *spell, struct error *err)
{
	if (value_expect(spell, VALUE_MAP, err) < 0)
		return -1;
	if (value_count(spell) > SPELLINGS_MAX)
		return value_error(spell, err, "more than %d spellings",
				   SPELLINGS_MAX);
	for (size_t i = 0; i < value_count(spell); i++) {
		struct spelling *one = &rule->spellings[i];

		if (rules_keep_text(rules, value_key(spell, i), &one->from,
				    err) < 0 ||
		    rules_keep_value(rules, value_at(spell, i), FIELD_NAME_MAX,
				     &one->to, err) < 0)
			return -1;
		rule->spelling_count++;
	}
	return 0;
}

static int read_metric(struct extract_rules *rules, struct rule *rule,
		       const struct value *value, struct error *err)
{
	static const char *const names[] = { "name", "value", "unit", NULL };
	const struct value *metric = value_get(value, "metric");

	rule->metric_name = rule->metric_value = rule->metric_unit = FIELD_NONE;
	if (!metric)
		return 0;
	if (value_check_keys(metric, names, err) < 0 ||
	    rule_read_field(rules, metric, "name", &rule->metric_name, err) <
		    0 ||
	    rule_read_field(rules, metric, "value", &rule->metric_value, err) <
		    0 ||
	    rule_read_field(rules, metric, "unit", &rule->metric_unit, err) < 0)
		return -1;
	if (rule->metric_name == FIELD_NONE || rule->metric_value == FIELD_NONE)
		return value_error(metric, err,
				   "missing `name` or `value` of the metric");
	return 0;
}

static int rule_read_keys(struct extract_rules *rules, struct rule *rule,
			  const struct value *value, struct error *err)
{
	for (size_t i = 0; i < KEYS; i++) {
		void *to = (char *)rule + keys[i].offset;
		const struct value *flag = value_get(value, keys[i].name);

		if (keys[i].kind == KEY_FLAG && flag &&
		    value_bool(flag, to, err) < 0)
			return -1;
		if (keys[i].kind == KEY_FIELD &&
		    rule_read_field(rules, value, keys[i].name, to, err) < 0)
			return -1;
	}
	return 0;
}

/* The keys that are valid in every form of rule. */
static int read_rest(struct extract_rules *rules, struct rule *rule,
		     const struct value *value, struct error *err)
{
	const struct value *spell = value_get(value, "spell");
	const struct value *contains = value_get(value, "contains");
	const struct value *has = value_get(value, "has");
	const struct value *from = value_get(value, "epoch_from");

	if (rule_read_fields(rules, rule, value, err) < 0 ||
	    rule_read_keys(rules, rule, value, err) < 0 ||
	    (from && value_u64(from, 0, 1, &rule->epoch_from, err) < 0) ||
	    read_metric(rules, rule, value, err) < 0 ||
	    (spell && read_spellings(rules, rule, spell, err) < 0) ||
	    (has && read_has(rules, rule, has, err) < 0))
		return -1;
	return contains ? read_contains(rule, contains, err) : 0;
}

int rule_read(struct extract_rules *rules, const struct value *value,
	      struct rule *rule, struct error *err)
{
	const char *names[KEYS + 1] = { NULL };
	const struct value *form = NULL;

	for (size_t i = 0; i < KEYS; i++)
		names[i] = keys[i].name;
	if (value_check_keys(value, names, err) < 0 ||
	    read_kind(value, rule, &form, err) < 0 ||
	    read_rest(rules, rule, value, err) < 0 ||
	    read_conditions(rules, rule, value, err) < 0)
		return -1;
	if (rule->kind == RULE_DICT) {
		if (read_dict(rules, rule, form, err) < 0 ||
		    read_unless(rule, value_get(value, "unless"), err) < 0)
			return -1;
	} else if (rule_read_expression(rules, rule, form, err) < 0) {
		return -1;
	}
	if (rule->kind == RULE_MATCH && rule_check_groups(rule, form, err) < 0)
		return -1;
	if (rule->kind == RULE_PAIRS && read_pairs(rule, value, err) < 0)
		return -1;
	return 0;
}
