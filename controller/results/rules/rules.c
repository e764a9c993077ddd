/* rules.c - compiles the log sections of descriptions to a set of rules.
 */
#include "controller/results/rules/rules.h"

#include "protocol/base/strings.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static unsigned pair_at(const char *at)
{
	return (unsigned)(unsigned char)at[0] << 8 | (unsigned char)at[1];
}

struct marks *marks_new(const struct strings *list, struct error *err)
{
	struct marks *marks = calloc(1, sizeof(*marks));

	if (!marks)
		return error_null(error_nomem(err, "log rules"));
	marks->list = list;
	for (size_t i = 0; i < list->count; i++) {
		size_t size = strlen(list->items[i]);
		uint8_t *first = &marks->pairs[pair_at(list->items[i])];

		if (size < 3 || size > UINT8_MAX || i == MARKS_MAX) {
			free(marks);
			return error_null(error_set(
				err, EINVAL,
				"the mark \"%.40s\" is not valid here; "
				"expected up to %d marks of 3 to %d bytes",
				list->items[i], MARKS_MAX, UINT8_MAX));
		}
		marks->next[i + 1] = *first;
		marks->sizes[i + 1] = (uint8_t)size;
		*first = (uint8_t)(i + 1);
	}
	return marks;
}

static bool mark_begins(const struct marks *marks, unsigned mark,
			const char *at, const char *end)
{
	for (; mark; mark = marks->next[mark])
		if ((size_t)(end - at) >= marks->sizes[mark] &&
		    !memcmp(at, marks->list->items[mark - 1],
			    marks->sizes[mark]))
			return true;
	return false;
}

const char *marks_next(const struct marks *marks, const char *at,
		       const char *end)
{
	for (; at + 2 < end; at++) {
		unsigned mark = marks->pairs[pair_at(at)];

		if (mark && mark_begins(marks, mark, at, end))
			return at;
	}
	return end;
}

/* Limits of a match on one record. PCRE2's default of ten million means seconds
 * on a hostile line.
 */
#define MATCH_LIMIT 200000
#define HEAP_LIMIT_KIB 8192
#define LITERAL_MIN 3 /* bytes; most lines contain shorter ones */
#define JIT_STACK_FIRST 32768
#define JIT_STACK_LIMIT 262144

/* In the order of enum extract_read. */
static const char *const read_words[] = { "first", "last", "all", NULL };

void extract_rules_free(struct extract_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->count; i++)
		rule_clear(&rules->rules[i]);
	free(rules->rules);
	lexicon_free(rules->lexicon);
	strings_clear(&rules->streams);
	strings_clear(&rules->columns);
	strings_clear(&rules->mark_texts);
	free(rules->marks);
	strings_clear(&rules->texts);
	fields_clear(&rules->fields);
	pcre2_code_free(rules->literals);
	pcre2_match_data_free(rules->match);
	pcre2_match_context_free(rules->context);
	pcre2_jit_stack_free(rules->stack);
	free(rules);
}

static bool matches_any(const struct strings *patterns, const char *text)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (!fnmatch(patterns->items[i], text, 0))
			return true;
	return false;
}

void extract_rules_limit(struct extract_rules *rules)
{
	rules->limited = true;
}

bool extract_rules_given_up(const struct extract_rules *rules)
{
	return rules->slow_us > RULES_PATIENCE_US;
}

bool extract_rules_file(const struct extract_rules *rules, const char *path)
{
	return matches_any(&rules->streams, path);
}

bool extract_rules_column(const struct extract_rules *rules, const char *name)
{
	return !rules->columns_said || matches_any(&rules->columns, name);
}

static bool source_has(const struct extract_rules *rules,
		       const struct source *source, enum value_form form,
		       const char *name)
{
	for (size_t i = 0; i < source->target_count; i++)
		if (source->targets[i].form == form &&
		    !strcmp(fields_name(&rules->fields,
					source->targets[i].field),
			    name))
			return true;
	return false;
}

static bool has_form(const struct extract_rules *rules, enum value_form form,
		     const char *name)
{
	for (size_t i = 0; i < rules->count; i++)
		for (size_t s = 0; s < rules->rules[i].source_count; s++)
			if (source_has(rules, &rules->rules[i].sources[s], form,
				       name))
				return true;
	return false;
}

bool extract_rules_percent(const struct extract_rules *rules, const char *name)
{
	return has_form(rules, FORM_PERCENT, name);
}

/* Is a word of the name, without the digits at its end, one of these? Words are
 * divided by what is neither letter nor digit.
 */
static bool name_has_word(const char *name, const char *const *words)
{
	while (*name) {
		size_t size = strspn(name, ASCII_LETTERS ASCII_DIGITS);
		size_t letters = size;

		while (letters && isdigit((unsigned char)name[letters - 1]))
			letters--;
		for (size_t i = 0; words[i]; i++)
			if (strlen(words[i]) == letters &&
			    !strncasecmp(name, words[i], letters))
				return true;
		name += size ? size : 1;
	}
	return false;
}

/* Is the last value of a run the run's, by its name? That of an accuracy is,
 * "val_accuracy", "top5", "mAP@0.5", and of a count, "tokens_seen".
 */
static bool last_is_it(const char *name)
{
	static const char *const words[] = {
		"ap",     "map", "top",  "auc",   "auroc",    "iou",  "dice",
		"recall", "em",  "bleu", "rouge", "psnr",     "ssim", "wer",
		"cer",    "mrr", "ndcg", "seen",  "consumed", NULL
	};

	return strcasestr(name, "acc") || strcasestr(name, "miou") ||
	       strcasestr(name, "f1") || name_has_word(name, words);
}

static enum metric_take source_take(const struct extract_rules *rules,
				    const struct source *source,
				    const char *name)
{
	for (size_t t = 0; t < source->target_count; t++)
		if (source->targets[t].take != TAKE_UNSAID &&
		    !strcmp(fields_name(&rules->fields,
					source->targets[t].field),
			    name))
			return source->targets[t].take;
	return TAKE_UNSAID;
}

enum metric_take extract_rules_take(const struct extract_rules *rules,
				    const char *name)
{
	for (size_t i = 0; i < rules->count; i++)
		for (size_t s = 0; s < rules->rules[i].source_count; s++) {
			enum metric_take take =
				source_take(rules, &rules->rules[i].sources[s],
					    name);

			if (take != TAKE_UNSAID)
				return take;
		}
	return has_form(rules, FORM_COUNTER, name) || last_is_it(name)
		       ? TAKE_LAST
		       : TAKE_MEDIAN;
}

bool extract_rules_names_files(const struct extract_rules *rules)
{
	return rules->streams.count > 0;
}

enum extract_read extract_rules_read(const struct extract_rules *rules)
{
	return rules->read;
}

static int rules_read_list(struct extract_rules *rules,
			   const struct value *list, struct error *err)
{
	struct rule *grown;
	size_t count = value_count(list);

	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	if (!count || count > EXTRACT_RULES_MAX - rules->count)
		return value_error(list, err, "%zu rules; expected 1 to %zu",
				   count, EXTRACT_RULES_MAX - rules->count);
	grown = realloc(rules->rules,
			(rules->count + count) * sizeof(struct rule));
	if (!grown)
		return error_nomem(err, "log rules");
	rules->rules = grown;
	memset(grown + rules->count, 0, count * sizeof(struct rule));
	for (size_t i = 0; i < count; i++)
		if (rule_read(rules, value_at(list, i),
			      &rules->rules[rules->count++], err) < 0)
			return -1;
	return 0;
}

static int read_patterns(struct strings *patterns, const struct value *list,
			 size_t min, size_t max, struct error *err)
{
	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	if (value_count(list) < min || value_count(list) > max)
		return value_error(list, err,
				   "%zu patterns; expected %zu to %zu",
				   value_count(list), min, max);
	for (size_t i = 0; i < value_count(list); i++) {
		const char *text;

		if (value_string(value_at(list, i), EXTRACT_MATCH_MAX, &text,
				 err) < 0 ||
		    strings_add(patterns, text, err) < 0)
			return -1;
	}
	return 0;
}

/* The patterns of the last section are used, as is its `read`. */
static int rules_read_streams(struct extract_rules *rules,
			      const struct value *list, struct error *err)
{
	strings_clear(&rules->streams);
	return list ? read_patterns(&rules->streams, list, 1,
				    EXTRACT_STREAMS_MAX, err)
		    : 0;
}

/* The patterns of all sections are used. */
static int read_columns(struct extract_rules *rules, const struct value *list,
			struct error *err)
{
	rules->columns_said |= list != NULL;
	return list ? read_patterns(&rules->columns, list, 0,
				    EXTRACT_COLUMNS_MAX, err)
		    : 0;
}

/* Read one log section. The last one is the description's own; it needs no
 * rules if others have some.
 */
static int read_section(struct extract_rules *rules, const struct value *log,
			struct error *err)
{
	static const char *const keys[] = { "read",    "stream", "like",
					    "columns", "rules",  "meaning",
					    NULL };
	const struct value *read = value_get(log, "read");
	const struct value *meaning = value_get(log, "meaning");
	const struct value *list = value_get(log, "rules");
	size_t word = 0;

	if (value_check_keys(log, keys, err) < 0 ||
	    (read && value_enum(read, read_words, &word, err) < 0) ||
	    rules_read_streams(rules, value_get(log, "stream"), err) < 0 ||
	    read_columns(rules, value_get(log, "columns"), err) < 0)
		return -1;
	rules->read = (enum extract_read)word;
	if (meaning && !rules->lexicon) {
		rules->lexicon = lexicon_new(meaning, err);
		return rules->lexicon
			       ? read_patterns(&rules->mark_texts,
					       value_get(meaning, "marks"), 1,
					       EXTRACT_COLUMNS_MAX, err)
			       : -1;
	}
	if (list)
		return rules_read_list(rules, list, err);
	if (rules->count)
		return 0;
	return value_error(log, err, "missing `rules` (expected a list)");
}

static int make_matcher(struct extract_rules *rules, struct error *err)
{
	uint32_t groups = 1;

	for (size_t i = 0; i < rules->count; i++) {
		uint32_t count = 0;

		if (rules->rules[i].code)
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
	/* NULL without JIT; then it is not used. */
	pcre2_jit_stack_assign(rules->context, NULL, rules->stack);
	return 0;
}

/* Append the literals of a rule to the expression "a|b|c". A literal that
 * contains an earlier one is not needed.
 */
static int add_literals(struct strings *all, const struct rule *rule,
			struct buffer *out, struct error *err)
{
	for (size_t l = 0; l < rule->literal_count; l++) {
		const char *text = rule->literals[l].text;
		size_t i = 0;

		while (i < all->count && !strstr(text, all->items[i]))
			i++;
		if (i < all->count)
			continue;
		if ((all->count && buffer_text(out, "|", err) < 0) ||
		    strings_add(all, text, err) < 0)
			return -1;
		for (; *text; text++)
			if (buffer_printf(out, err, "%s%c",
					  isalnum((unsigned char)*text) ||
							  *text & 0x80
						  ? ""
						  : "\\",
					  *text) < 0)
				return -1;
	}
	return 0;
}

/* Make one expression of the literals of all rules, if every rule has some.
 * Most of a log matches no rule, and this expression finds that out several
 * times faster than all rules one after the other.
 */
static int make_literals(struct extract_rules *rules, struct error *err)
{
	owned(strings_clear) struct strings all = { 0 };
	owned(buffer_clear) struct buffer text = BUFFER_INIT((size_t)1 << 24);
	PCRE2_SIZE offset;
	int code;

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];

		if (!rule->literal_count)
			return 0;
		for (size_t l = 0; l < rule->literal_count; l++)
			if (rule->literals[l].size < LITERAL_MIN)
				return 0;
		if (add_literals(&all, rule, &text, err) < 0)
			return -1;
	}
	/* If it is too long for PCRE2, each rule searches for its own literals.
	 */
	rules->literals = pcre2_compile((PCRE2_SPTR)text.data, text.size,
					PCRE2_NEVER_UTF | PCRE2_NEVER_UCP,
					&code, &offset, NULL);
	if (rules->literals)
		pcre2_jit_compile(rules->literals, PCRE2_JIT_COMPLETE);
	return 0;
}

struct extract_rules *extract_rules_new(const struct value *const *logs,
					size_t count, struct error *err)
{
	owned(extract_rules_free) struct extract_rules *rules =
		calloc(1, sizeof(*rules));

	if (!rules)
		return error_null(error_nomem(err, "log rules"));
	for (size_t i = 0; i < count; i++)
		if (read_section(rules, logs[i], err) < 0)
			return NULL;
	if (make_matcher(rules, err) < 0)
		return NULL;
	if (rules->lexicon)
		rules->marks = marks_new(&rules->mark_texts, err);
	if (rules->lexicon ? !rules->marks : make_literals(rules, err) < 0)
		return NULL;
	return take(rules);
}

bool extract_rules_life(const struct extract_rules *rules)
{
	for (size_t r = 0; r < rules->count; r++)
		if (rules->rules[r].life)
			return true;
	return false;
}

bool extract_rules_finish(const struct extract_rules *rules)
{
	return has_form(rules, FORM_FLAG, "finished");
}
