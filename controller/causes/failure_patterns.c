/* failure_patterns.c - what lines of a failed program's output mean. */
#include "controller/causes/failure_patterns.h"

#include "controller/results/rules/literal.h"
#include "protocol/hardware/expression.h"
#include "protocol/yaml/document.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#define EXPRESSION_BYTES LITERAL_EXPRESSION_MAX
#define MATCH_STEPS 20000
#define HEAP_KIB 1024
#define STACK_FIRST 32768
#define STACK_MAX 262144
#define PAIRS_MAX 24
#define EITHER_MAX 24  /* texts, of which a line has one */
#define EITHER_PAIRS 3 /* of each */

static const char *const kind_names[] = { "ignore", "progress", "alive",
					  "facts",  "causes",   "restarts",
					  "words",  NULL };

static const char *const group_names[FAILURE_GROUPS] = {
	[GROUP_RANK] = "rank",     [GROUP_LOCAL_RANK] = "local_rank",
	[GROUP_TASK] = "task",     [GROUP_SPEAKER] = "speaker",
	[GROUP_HOST] = "host",     [GROUP_EXIT_CODE] = "exit_code",
	[GROUP_SIGNAL] = "signal", [GROUP_TIME] = "time",
};

struct pattern {
	pcre2_code *code;
	int groups[FAILURE_GROUPS]; /* numbers; 0: it has none */
	struct failure_meaning meaning;
	uint16_t pairs[PAIRS_MAX]; /* of texts that all matches have */
	size_t pair_count;
	uint16_t either[EITHER_MAX][EITHER_PAIRS];
	size_t either_count; /* 0: there are no such texts */
	bool compiled;       /* to machine code */
};

/* Which patterns of a kind a line may match, by the rarest pair of each, its
 * key, and the second rarest: the patterns themselves are many bytes apart.
 */
struct pattern_keys {
	uint64_t all[LINE_PAIRS / 64];       /* that are a key */
	uint16_t first[LINE_PAIRS];          /* pattern with the key, and one */
	uint16_t next[FAILURE_PATTERNS_MAX]; /* with the same key, and one */
	uint16_t second[FAILURE_PATTERNS_MAX];
	uint64_t without[FAILURE_PATTERNS_MAX / 64]; /* patterns without one */
};

struct failure_patterns {
	struct words *words;
	struct pattern *patterns[FAILURE_KINDS];
	size_t counts[FAILURE_KINDS];
	struct pattern_keys keys[FAILURE_KINDS];
	pcre2_match_data *match;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
};

const struct words *
failure_patterns_words(const struct failure_patterns *patterns)
{
	return patterns->words;
}

void failure_patterns_free(struct failure_patterns *patterns)
{
	if (!patterns)
		return;
	for (size_t k = 0; k < FAILURE_KINDS; k++) {
		for (size_t i = 0; i < patterns->counts[k]; i++)
			pcre2_code_free(patterns->patterns[k][i].code);
		free(patterns->patterns[k]);
	}
	words_free(patterns->words);
	pcre2_match_context_free(patterns->context);
	pcre2_match_data_free(patterns->match);
	pcre2_jit_stack_free(patterns->stack);
	free(patterns);
}

/* How frequent are the two characters in reports of failures? */
static int pair_weight(const char *at)
{
	static const char frequent[] = " eatoinsrldcup";
	static const char most[] = "Error: error: Exception: CUDA error";
	const char pair[3] = { at[0], at[1], 0 };

	if (strstr(most, pair))
		return 3;
	return (strchr(frequent, at[0]) != NULL) +
	       (strchr(frequent, at[1]) != NULL);
}

/* Pairs of texts: the rarest come first. */
struct rare_pairs {
	uint16_t pairs[PAIRS_MAX];
	int weights[PAIRS_MAX];
	size_t count;
};

static void rare_pairs_add(struct rare_pairs *rare, uint16_t pair, int weight)
{
	size_t at = rare->count;

	for (size_t i = 0; i < rare->count; i++)
		if (rare->pairs[i] == pair)
			return;
	while (at && rare->weights[at - 1] > weight)
		at--;
	if (at == PAIRS_MAX)
		return;
	rare->count += rare->count < PAIRS_MAX;
	for (size_t i = rare->count - 1; i > at; i--) {
		rare->pairs[i] = rare->pairs[i - 1];
		rare->weights[i] = rare->weights[i - 1];
	}
	rare->pairs[at] = pair;
	rare->weights[at] = weight;
}

static void rare_pairs_read(struct rare_pairs *rare, const char *text)
{
	for (; text[0] && text[1]; text++)
		rare_pairs_add(rare, (uint16_t)line_pair(text),
			       pair_weight(text));
}

static void find_either(struct pattern *pattern, const char *expression)
{
	char texts[EXPRESSION_BYTES + 2];

	if (literals_either(expression, texts) < 2)
		return;
	for (const char *text = texts; *text; text += strlen(text) + 1) {
		struct rare_pairs rare = { 0 };

		if (pattern->either_count == EITHER_MAX) {
			pattern->either_count = 0;
			return;
		}
		rare_pairs_read(&rare, text);
		for (size_t i = 0; i < EITHER_PAIRS; i++)
			pattern->either[pattern->either_count][i] =
				rare.pairs[i < rare.count ? i : 0];
		pattern->either_count++;
	}
}

/* The first pair becomes the pattern's key. */
static void find_pairs(struct pattern *pattern, const char *expression)
{
	char literals[EXPRESSION_BYTES + 2];
	struct rare_pairs rare = { 0 };

	literals_find(expression, literals);
	for (const char *run = literals; *run; run += strlen(run) + 1)
		rare_pairs_read(&rare, run);
	memcpy(pattern->pairs, rare.pairs, sizeof(rare.pairs));
	pattern->pair_count = rare.count;
	find_either(pattern, expression);
}

static void pattern_keys_add(struct pattern_keys *keys,
			     const struct pattern *pattern, size_t number)
{
	uint16_t key = pattern->pairs[0];

	if (!pattern->pair_count) {
		keys->without[number / 64] |= (uint64_t)1 << number % 64;
		return;
	}
	keys->all[key / 64] |= (uint64_t)1 << key % 64;
	keys->second[number] = pattern->pairs[pattern->pair_count > 1];
	keys->next[number] = keys->first[key];
	keys->first[key] = (uint16_t)(number + 1);
}

static int failure_pattern_add(struct failure_patterns *patterns,
			       enum failure_kind kind,
			       const struct value *expression,
			       const struct failure_meaning *meaning,
			       struct error *err)
{
	size_t count = patterns->counts[kind];
	struct pattern *grown, *pattern;
	const char *text;

	if (count == FAILURE_PATTERNS_MAX)
		return value_error(expression, err, "more than %d expressions",
				   FAILURE_PATTERNS_MAX);
	grown = reallocarray(patterns->patterns[kind], count + 1,
			     sizeof(*grown));
	if (!grown)
		return error_nomem(err, "failure patterns");
	patterns->patterns[kind] = grown;
	pattern = &grown[count];
	*pattern = (struct pattern){ .meaning = *meaning };
	if (value_string(expression, EXPRESSION_BYTES, &text, err) < 0)
		return -1;
	pattern->code =
		expression_compile(expression, text, PCRE2_DUPNAMES, err);
	if (!pattern->code)
		return -1;
	/* Without JIT it is only slower. */
	pattern->compiled =
		pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE) == 0;
	find_pairs(pattern, text);
	pattern_keys_add(&patterns->keys[kind], pattern, count);
	patterns->counts[kind]++;
	for (size_t g = 0; g < FAILURE_GROUPS; g++) {
		int number =
			pcre2_substring_number_from_name(pattern->code,
							 (PCRE2_SPTR)group_names
								 [g]);

		if (number == PCRE2_ERROR_NOUNIQUESUBSTRING)
			return value_error(expression, err,
					   "duplicate group %s",
					   group_names[g]);
		pattern->groups[g] = number > 0 ? number : 0;
	}
	return 0;
}

static int pattern_read_flag(const struct value *entry, const char *key,
			     bool *flag, struct error *err)
{
	const struct value *value = value_get(entry, key);

	return value ? value_bool(value, flag, err) : 0;
}

static int read_cause(struct failure_patterns *patterns,
		      const struct value *entry, struct error *err)
{
	static const char *const keys[] = { "class",     "order",  "match",
					    "traceback", "final",  "ends",
					    "blameless", "signal", "teardown",
					    "exception", "last",   "before",
					    "read",      "root",   NULL };
	struct failure_meaning meaning = { 0 };
	const struct value *class = value_get(entry, "class");
	const struct value *order = value_get(entry, "order");
	const struct value *match = value_get(entry, "match");
	const struct value *signal = value_get(entry, "signal");
	const char *name = "";

	if (value_check_keys(entry, keys, err) < 0)
		return -1;
	if (!class || !order || !match)
		return value_error(entry, err,
				   "a cause needs class, order and match");
	if (causes_class_read(class, &meaning.class, err) < 0 ||
	    value_u32(order, 1, 99, &meaning.order, err) < 0 ||
	    value_expect(match, VALUE_LIST, err) < 0 ||
	    pattern_read_flag(entry, "traceback", &meaning.traceback, err) <
		    0 ||
	    pattern_read_flag(entry, "final", &meaning.final, err) < 0 ||
	    pattern_read_flag(entry, "ends", &meaning.ends, err) < 0 ||
	    pattern_read_flag(entry, "blameless", &meaning.blameless, err) <
		    0 ||
	    pattern_read_flag(entry, "teardown", &meaning.teardown, err) < 0 ||
	    pattern_read_flag(entry, "exception", &meaning.exception, err) <
		    0 ||
	    pattern_read_flag(entry, "last", &meaning.last, err) < 0 ||
	    pattern_read_flag(entry, "before", &meaning.before, err) < 0 ||
	    pattern_read_flag(entry, "read", &meaning.read, err) < 0 ||
	    pattern_read_flag(entry, "root", &meaning.root, err) < 0 ||
	    (signal &&
	     value_string(signal, sizeof(meaning.signal) - 1, &name, err) < 0))
		return -1;
	snprintf(meaning.signal, sizeof(meaning.signal), "%s", name);
	for (size_t i = 0; i < value_count(match); i++)
		if (failure_pattern_add(patterns, FAILURE_CAUSE,
					value_at(match, i), &meaning, err) < 0)
			return -1;
	return 0;
}

static int read_fact(struct failure_patterns *patterns,
		     const struct value *entry, struct error *err)
{
	static const char *const keys[] = { "match", "section", "gives_up",
					    "stops", "begins",  NULL };
	static const char *const sections[] = { "root", "others", NULL };
	struct failure_meaning meaning = { 0 };
	const struct value *match = value_get(entry, "match");
	const struct value *section = value_get(entry, "section");
	size_t number;

	if (value_check_keys(entry, keys, err) < 0)
		return -1;
	if (!match)
		return value_error(entry, err, "a fact needs match");
	if (section) {
		if (value_enum(section, sections, &number, err) < 0)
			return -1;
		meaning.section = number ? SECTION_OTHERS : SECTION_ROOT;
	}
	if (pattern_read_flag(entry, "gives_up", &meaning.gives_up, err) < 0 ||
	    pattern_read_flag(entry, "stops", &meaning.stops, err) < 0 ||
	    pattern_read_flag(entry, "begins", &meaning.begins, err) < 0)
		return -1;
	return failure_pattern_add(patterns, FAILURE_FACT, match, &meaning,
				   err);
}

static int failure_patterns_read_all(struct failure_patterns *patterns,
				     const struct value *root,
				     struct error *err)
{
	static const struct failure_meaning none;

	if (value_check_keys(root, kind_names, err) < 0)
		return -1;
	patterns->words = words_new(value_get(root, "words"), err);
	if (!patterns->words)
		return -1;
	for (size_t k = 0; k < FAILURE_KINDS; k++) {
		const struct value *list = value_get(root, kind_names[k]);

		if (list && value_expect(list, VALUE_LIST, err) < 0)
			return -1;
		for (size_t i = 0; list && i < value_count(list); i++) {
			const struct value *entry = value_at(list, i);
			int rc = k == FAILURE_CAUSE
					 ? read_cause(patterns, entry, err)
				 : k == FAILURE_FACT
					 ? read_fact(patterns, entry, err)
					 : failure_pattern_add(
						   patterns,
						   (enum failure_kind)k, entry,
						   &none, err);

			if (rc < 0)
				return -1;
		}
	}
	return 0;
}

struct failure_patterns *failure_patterns_read(const char *path,
					       struct error *err)
{
	owned(document_free) struct document *document =
		document_read(path, NULL, err);
	owned(failure_patterns_free) struct failure_patterns *patterns = NULL;

	if (!document)
		return NULL;
	patterns = calloc(1, sizeof(*patterns));
	if (patterns) {
		patterns->match = pcre2_match_data_create(32, NULL);
		patterns->context = pcre2_match_context_create(NULL);
		patterns->stack =
			pcre2_jit_stack_create(STACK_FIRST, STACK_MAX, NULL);
	}
	if (!patterns || !patterns->match || !patterns->context ||
	    !patterns->stack)
		return error_null(error_nomem(err, "failure patterns"));
	pcre2_set_match_limit(patterns->context, MATCH_STEPS);
	pcre2_set_heap_limit(patterns->context, HEAP_KIB);
	pcre2_jit_stack_assign(patterns->context, NULL, patterns->stack);
	if (failure_patterns_read_all(patterns, document_root(document), err) <
	    0)
		return NULL;
	return take(patterns);
}

static void failure_pattern_fill_hit(const struct failure_patterns *patterns,
				     const struct pattern *pattern, int pairs,
				     const char *line, struct failure_hit *hit)
{
	const PCRE2_SIZE *places = pcre2_get_ovector_pointer(patterns->match);

	*hit = (struct failure_hit){ .meaning = &pattern->meaning,
				     .end = places[1] };
	for (size_t g = 0; g < FAILURE_GROUPS; g++) {
		size_t number = (size_t)pattern->groups[g];

		if (!number || number >= (size_t)pairs ||
		    places[2 * number] == PCRE2_UNSET)
			continue;
		hit->groups[g].text = line + places[2 * number];
		hit->groups[g].size =
			places[2 * number + 1] - places[2 * number];
	}
}

/* The patterns of the kind whose key the line has, a bit for each. */
static void find_candidates(const struct failure_patterns *patterns,
			    enum failure_kind kind,
			    const struct line_pairs *pairs,
			    uint64_t candidates[FAILURE_PATTERNS_MAX / 64])
{
	const struct pattern_keys *keys = &patterns->keys[kind];
	size_t words = (patterns->counts[kind] + 63) / 64;

	if (!pairs) {
		memset(candidates, 0xff, words * sizeof(*candidates));
		return;
	}
	memcpy(candidates, keys->without, words * sizeof(*candidates));
	for (size_t i = 0; i < LINE_PAIRS / 64; i++)
		for (uint64_t left = keys->all[i] & pairs->bits[i]; left;
		     left &= left - 1) {
			size_t key = i * 64 + (size_t)__builtin_ctzll(left);

			for (size_t n = keys->first[key]; n;
			     n = keys->next[n - 1])
				if (line_pairs_have(pairs, &keys->second[n - 1],
						    1))
					candidates[(n - 1) / 64] |=
						(uint64_t)1 << (n - 1) % 64;
		}
}

/* May the line match, by its pairs? */
static bool pattern_may_match(const struct pattern *pattern,
			      const struct line_pairs *pairs)
{
	if (!line_pairs_have(pairs, pattern->pairs, pattern->pair_count))
		return false;
	for (size_t i = 0; i < pattern->either_count; i++)
		if (line_pairs_have(pairs, pattern->either[i], EITHER_PAIRS))
			return true;
	return !pattern->either_count;
}

static bool pattern_find(struct failure_patterns *patterns,
			 const struct pattern *pattern,
			 const struct line_pairs *pairs, const char *line,
			 size_t size, bool traceback, struct failure_hit *hit)
{
	int rc;

	if ((pattern->meaning.traceback && !traceback) ||
	    (pairs && !pattern_may_match(pattern, pairs)))
		return false;
	rc = (pattern->compiled ? pcre2_jit_match
				: pcre2_match)(pattern->code, (PCRE2_SPTR)line,
					       size, 0, 0, patterns->match,
					       patterns->context);
	if (rc <= 0)
		return false;
	failure_pattern_fill_hit(patterns, pattern, rc, line, hit);
	return true;
}

bool failure_patterns_find(struct failure_patterns *patterns,
			   enum failure_kind kind,
			   const struct line_pairs *pairs, const char *line,
			   size_t size, bool traceback, struct failure_hit *hit)
{
	uint64_t candidates[FAILURE_PATTERNS_MAX / 64];
	size_t count = patterns->counts[kind];

	find_candidates(patterns, kind, pairs, candidates);
	for (size_t word = 0; word * 64 < count; word++)
		for (uint64_t left = candidates[word]; left; left &= left - 1) {
			size_t i = word * 64 + (size_t)__builtin_ctzll(left);

			if (i < count &&
			    pattern_find(patterns, &patterns->patterns[kind][i],
					 pairs, line, size, traceback, hit))
				return true;
		}
	return false;
}
