/* rules.c - one record of a log against the rules: matches to caught values.
 */
#include "controller/results/rules.h"

#include "controller/results/literal.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <math.h>
#include <pcre2.h>
#include <string.h>

/* What an expression may cost on one record before the rule gives up on it:
 * PCRE2's own default is ten million, seconds on a hostile line.
 */
#define MATCH_LIMIT 200000
#define HEAP_LIMIT_KIB 8192
#define JIT_STACK_FIRST 32768
#define JIT_STACK_LIMIT 262144

/* clang-format off */
static const struct capture {
	const char *name;
	enum record_field field;
	double factor;
} captures[] = {
	{ "step", RECORD_STEP, 1 },
	{ "steps", RECORD_STEPS, 1 },
	{ "loss", RECORD_LOSS, 1 },
	{ "iteration_ms", RECORD_ITERATION_MS, 1 },
	{ "iteration_s", RECORD_ITERATION_MS, 1000 },
	{ "tokens_per_second", RECORD_TOKENS_PER_SECOND, 1 },
	{ "samples_per_second", RECORD_SAMPLES_PER_SECOND, 1 },
	{ "memory_mib", RECORD_MEMORY_MIB, 1 },
	{ "finished", RECORD_FINISHED, 1 },
};

#define CAPTURES (sizeof(captures) / sizeof(captures[0]))

/* The names above, as the error sentence lists them. */
#define CAPTURE_WORDS                                                          \
	"step, steps, loss, iteration_ms, iteration_s, tokens_per_second, "    \
	"samples_per_second, memory_mib, finished"

static const struct {
	const char *word;
	enum extract_read read;
} reads[] = {
	{ "first", EXTRACT_FIRST },
	{ "last", EXTRACT_LAST },
	{ "all", EXTRACT_ALL },
};
/* clang-format on */

static const char *const read_words[] = { "first", "last", "all", NULL };

struct group {
	uint32_t number;
	const struct capture *capture;
};

struct rule {
	pcre2_code *code;
	char *literal; /* stands in every match */
	size_t literal_size;
	struct group groups[CAPTURES];
	size_t group_count;
};

struct extract_rules {
	enum extract_read read;
	struct rule *rules;
	size_t count;
	pcre2_match_data *match;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
	char plain[EXTRACT_LINE_MAX];
};

void extract_rules_free(struct extract_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->count; i++) {
		pcre2_code_free(rules->rules[i].code);
		free(rules->rules[i].literal);
	}
	free(rules->rules);
	pcre2_match_data_free(rules->match);
	pcre2_match_context_free(rules->context);
	pcre2_jit_stack_free(rules->stack);
	free(rules);
}

enum extract_read extract_rules_read(const struct extract_rules *rules)
{
	return rules->read;
}

/* Find what the rule's named groups are to catch. */
static int read_groups(struct rule *rule, const struct value *match,
		       struct error *err)
{
	uint32_t count = 0, size = 0;
	PCRE2_SPTR table = NULL;

	pcre2_pattern_info(rule->code, PCRE2_INFO_NAMECOUNT, &count);
	pcre2_pattern_info(rule->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
	pcre2_pattern_info(rule->code, PCRE2_INFO_NAMETABLE, &table);
	for (uint32_t i = 0; i < count; i++) {
		PCRE2_SPTR entry = table + (size_t)i * size;
		const char *name = (const char *)entry + 2;
		struct group *group = &rule->groups[rule->group_count];
		size_t c = 0;

		while (c < CAPTURES && strcmp(name, captures[c].name) != 0)
			c++;
		if (c == CAPTURES || rule->group_count == CAPTURES)
			return value_error(match, err,
					   "found a group named \"%s\", "
					   "allowed, each once: " CAPTURE_WORDS,
					   name);
		group->number = (uint32_t)entry[0] << 8 | entry[1];
		group->capture = &captures[c];
		rule->group_count++;
	}
	if (!count)
		return value_error(match, err,
				   "found no named group, allowed: one or more "
				   "of " CAPTURE_WORDS);
	return 0;
}

static pcre2_code *compile(const struct value *match, const char *text,
			   struct error *err)
{
	PCRE2_UCHAR why[128] = "";
	PCRE2_SIZE offset = 0;
	int code = 0;
	pcre2_code *compiled;

	/* No UTF: a log holds what it holds, and a byte that is no UTF-8 must
	 * not end the search. */
	compiled = pcre2_compile((PCRE2_SPTR)text, strlen(text),
				 PCRE2_NEVER_UTF | PCRE2_NEVER_UCP |
					 PCRE2_NEVER_BACKSLASH_C,
				 &code, &offset, NULL);
	if (!compiled) {
		pcre2_get_error_message(code, why, sizeof(why));
		value_error(match, err,
			    "found an expression that PCRE2 refuses after "
			    "character %zu: %s",
			    offset, (const char *)why);
		return NULL;
	}
	/* Where the system forbids making code at run time it is slower. */
	pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);
	return compiled;
}

static int read_rule(struct extract_rules *rules, const struct value *value,
		     struct error *err)
{
	static const char *const keys[] = { "match", NULL };
	const struct value *match = value_get(value, "match");
	struct rule *rule = &rules->rules[rules->count];
	const char *text;

	if (value_check_keys(value, keys, err) < 0)
		return -1;
	if (!match)
		return value_error(value, err,
				   "found no `match`, allowed: an "
				   "expression with named groups");
	if (value_string(match, EXTRACT_MATCH_MAX, &text, err) < 0)
		return -1;
	rule->code = compile(match, text, err);
	if (!rule->code)
		return -1;
	rules->count++; /* from here on extract_rules_free() takes it away */
	rule->literal = malloc(strlen(text) + 1);
	if (!rule->literal)
		return error_nomem(err, "log rules");
	rule->literal_size = literal_find(text, rule->literal);
	return read_groups(rule, match, err);
}

static int read_rules(struct extract_rules *rules, const struct value *log,
		      struct error *err)
{
	static const char *const keys[] = { "read", "rules", NULL };
	const struct value *read = value_get(log, "read");
	const struct value *list = value_get(log, "rules");
	size_t word = 0;

	if (value_check_keys(log, keys, err) < 0 ||
	    (read && value_enum(read, read_words, &word, err) < 0))
		return -1;
	rules->read = reads[word].read;
	if (!list)
		return value_error(log, err,
				   "found no `rules`, allowed: a list");
	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	if (!value_count(list) || value_count(list) > EXTRACT_RULES_MAX)
		return value_error(list, err,
				   "found %zu rules, allowed 1 to %d",
				   value_count(list), EXTRACT_RULES_MAX);
	rules->rules = calloc(value_count(list), sizeof(struct rule));
	if (!rules->rules)
		return error_nomem(err, "log rules");
	for (size_t i = 0; i < value_count(list); i++)
		if (read_rule(rules, value_at(list, i), err) < 0)
			return -1;
	return 0;
}

static int make_matcher(struct extract_rules *rules, struct error *err)
{
	uint32_t groups = 1;

	for (size_t i = 0; i < rules->count; i++) {
		uint32_t count = 0;

		pcre2_pattern_info(rules->rules[i].code,
				   PCRE2_INFO_CAPTURECOUNT, &count);
		if (count + 1 > groups)
			groups = count + 1;
	}
	rules->match = pcre2_match_data_create(groups, NULL);
	rules->context = pcre2_match_context_create(NULL);
	rules->stack =
		pcre2_jit_stack_create(JIT_STACK_FIRST, JIT_STACK_LIMIT, NULL);
	if (!rules->match || !rules->context)
		return error_nomem(err, "log rules");
	pcre2_set_match_limit(rules->context, MATCH_LIMIT);
	pcre2_set_heap_limit(rules->context, HEAP_LIMIT_KIB);
	/* NULL where there is no JIT: then nothing uses it. */
	pcre2_jit_stack_assign(rules->context, NULL, rules->stack);
	return 0;
}

struct extract_rules *extract_rules_new(const struct value *log,
					struct error *err)
{
	struct extract_rules *rules = calloc(1, sizeof(*rules));

	if (!rules) {
		error_nomem(err, "log rules");
		return NULL;
	}
	if (read_rules(rules, log, err) < 0 || make_matcher(rules, err) < 0) {
		extract_rules_free(rules);
		return NULL;
	}
	return rules;
}

/* A whole number: digits only, below 2^53. */
static bool read_count(const char *text, size_t size, uint64_t *count)
{
	uint64_t value = 0;

	if (!size || size > 15)
		return false;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(text[i] - '0');
	}
	*count = value;
	return true;
}

/* A number as programs print it, also nan and inf; all of the text. */
static bool read_number(const char *text, size_t size, double *number)
{
	char copy[64];
	char *end;

	if (!size || size >= sizeof(copy))
		return false;
	memcpy(copy, text, size);
	copy[size] = 0;
	/* strtod() also takes leading blanks and hexadecimal numbers. */
	if (strspn(copy, " \t\n\v\f\r") || strpbrk(copy, "xX("))
		return false;
	*number = strtod(copy, &end);
	return end == copy + size;
}

static void catch_field(struct record *caught, const struct capture *capture,
			const char *text, size_t size)
{
	double number;
	bool good = false;

	switch (capture->field) {
	case RECORD_FINISHED:
		good = caught->finished = size > 0;
		break;
	case RECORD_STEP:
		good = read_count(text, size, &caught->step);
		break;
	case RECORD_STEPS:
		good = read_count(text, size, &caught->steps_total);
		break;
	default:
		good = read_number(text, size, &number);
		if (good)
			*record_number(caught, capture->field) =
				number * capture->factor;
	}
	if (good)
		caught->has |= 1u << capture->field;
}

static struct record catch (const struct extract_rules *rules,
			    const struct rule *rule, const char *text)
{
	const PCRE2_SIZE *places = pcre2_get_ovector_pointer(rules->match);
	struct record caught = { 0 };

	for (size_t i = 0; i < rule->group_count; i++) {
		const struct group *group = &rule->groups[i];
		const PCRE2_SIZE *place = places + (size_t)2 * group->number;
		PCRE2_SIZE from = place[0], to = place[1];

		if (from != PCRE2_UNSET && from < to)
			catch_field(&caught, group->capture, text + from,
				    to - from);
	}
	return caught;
}

static int match_rule(struct extract_rules *rules, const struct rule *rule,
		      const char *text, size_t size, rules_fn *fn, void *arg,
		      uint64_t *limits)
{
	const PCRE2_SIZE *places = pcre2_get_ovector_pointer(rules->match);
	size_t from = 0;

	while (from <= size) {
		struct record caught;
		int rc = pcre2_match(rule->code, (PCRE2_SPTR)text, size, from,
				     0, rules->match, rules->context);

		if (rc < 0) {
			*limits += rc != PCRE2_ERROR_NOMATCH;
			return 0;
		}
		caught = catch (rules, rule, text);
		if (caught.has && fn(&caught, arg) < 0)
			return -1;
		/* A match of nothing must not be found for ever. */
		from = places[1] > from ? places[1] : from + 1;
	}
	return 0;
}

int rules_match(struct extract_rules *rules, const char *text, size_t size,
		rules_fn *fn, void *arg, uint64_t *limits)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];

		if (rule->literal_size &&
		    !memmem(text, size, rule->literal, rule->literal_size))
			continue;
		if (match_rule(rules, rule, text, size, fn, arg, limits) < 0)
			return -1;
	}
	return 0;
}

/* Behind the escape sequence that starts at text[0] (ESC): a control
 * sequence, a string up to its end mark, or a short one. One that does not end
 * in the record is only its first two bytes. Source: ECMA-48, section 5.
 */
static size_t escape_size(const char *text, size_t size)
{
	size_t i = 1;

	if (size < 2)
		return size;
	if (text[1] == '[') {
		for (i = 2; i < size && text[i] >= 0x20 && text[i] <= 0x3f;)
			i++;
		return i < size && text[i] >= 0x40 && text[i] <= 0x7e ? i + 1
								      : i;
	}
	if (strchr("]PX^_", text[1]) && text[1]) {
		for (i = 2; i < size; i++) {
			if (text[i] == '\a')
				return i + 1;
			if (text[i] == '\033' && i + 1 < size &&
			    text[i + 1] == '\\')
				return i + 2;
		}
		return 2;
	}
	while (i < size && text[i] >= 0x20 && text[i] <= 0x2f)
		i++;
	return i < size && text[i] >= 0x30 && text[i] <= 0x7e ? i + 1 : i;
}

const char *rules_plain(struct extract_rules *rules, const char *text,
			size_t *size)
{
	const char *end = text + *size;
	const char *escape = memchr(text, '\033', *size);
	size_t used = 0;

	if (!escape)
		return text;
	while (text < end) {
		size_t n =
			escape ? (size_t)(escape - text) : (size_t)(end - text);

		memcpy(rules->plain + used, text, n);
		used += n;
		text += n;
		if (text == end)
			break;
		text += escape_size(text, (size_t)(end - text));
		escape = memchr(text, '\033', (size_t)(end - text));
	}
	*size = used;
	return rules->plain;
}
