/* rule.h - a compiled log rule. log_rules.h explains the keys.
 */
#pragma once

#include "controller/results/rules/fields.h"
#include "controller/results/rules/lexicon.h"
#include "protocol/message/codec.h"

#include <stdint.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* Searches a text for any of many short marks.
 *
 * An expression of that many alternatives is several times slower.
 */

#define MARKS_MAX 128

struct marks {
	const struct strings *list;  /* borrowed */
	uint8_t pairs[65536];        /* by the first two bytes: the
					first mark, from 1; 0: none */
	uint8_t next[MARKS_MAX + 1]; /* with the same two bytes */
	uint8_t sizes[MARKS_MAX + 1];
};

/* The marks have 3 to 255 bytes each, at most MARKS_MAX of them; the list must
 * outlive the result, which the caller frees. NULL: ENOMEM, or EINVAL.
 */
struct marks *marks_new(const struct strings *list, struct error *err);

/* The first position from `at` on where a mark begins; end: none. */
const char *marks_next(const struct marks *marks, const char *at,
		       const char *end);

#define SOURCES_MAX 64  /* fields of a rule */
#define TARGETS_MAX 3   /* names for one field */
#define LITERALS_MAX 8  /* of `contains` */
#define SPELLINGS_MAX 8 /* of `spell` */
#define CONDITIONS_MAX 16
#define HAS_MAX 8
#define CONDITION_VALUES_MAX 32

struct target {
	uint16_t field;
	enum value_form form;
	enum metric_take take;
	double factor;
};

/* A group, path or key, and the names for its value. */
struct source {
	const char *key;
	size_t key_size;
	uint32_t group; /* of the expression; 0: none */
	struct target targets[TARGETS_MAX];
	size_t target_count;
	bool ratio; /* "3/60": the first two targets get one part each */
};

/* The value at the key must be one of these. */
struct condition {
	const char *key;
	size_t key_size;
	const char *values[CONDITION_VALUES_MAX];
	size_t count;
};

struct literal {
	char *text; /* owned */
	size_t size;
};

struct spelling {
	const char *from;
	const char *to;
};

enum rule_kind { RULE_MATCH, RULE_DICT, RULE_PAIRS };

/* Texts belong to the struct extract_rules of the rule, unless marked as owned.
 */
struct rule {
	enum rule_kind kind;
	pcre2_code *code;   /* of `match`, `pairs`, `unless` */
	const char *prefix; /* of `dict` */
	struct literal literals[LITERALS_MAX]; /* every match has one of them */
	size_t literal_count;                  /* 0: anything may match */
	struct source *sources;
	size_t source_count;
	struct condition *conditions;
	size_t condition_count;
	uint16_t has[HAS_MAX]; /* fields that a match needs */
	size_t has_count;
	const char *others; /* the path of other numbers; NULL: none */
	bool between[256];  /* is the byte one of them? */
	bool is[256];
	bool closed;
	struct spelling spellings[SPELLINGS_MAX];
	size_t spelling_count;

	bool finished;
	bool summary;
	bool fills;
	bool progress;
	bool total;
	bool pending;
	bool life;
	uint16_t number; /* fields, or FIELD_NONE */
	uint16_t nan_with;
	uint16_t epoch;
	uint16_t epoch_steps;
	uint64_t epoch_from; /* 0 or 1 */
	bool counted;
	unsigned weak; /* its records give way to those of a lower number */
	uint16_t interval;
	uint16_t samples;
	uint16_t batch;
	uint16_t share;
	uint16_t elapsed;
	uint16_t metric_name;
	uint16_t metric_value;
	uint16_t metric_unit;
};

struct extract_rules {
	enum extract_read read;
	struct strings streams; /* patterns of followed files */
	struct strings columns; /* patterns of metrics in tables */
	bool columns_said;      /* false: tables show all */
	struct strings texts;   /* copies of the description's texts */
	struct rule *rules;
	size_t count;
	struct lexicon *lexicon; /* read by meaning, without rules; or NULL */
	struct strings mark_texts;
	struct marks *marks;  /* every line read by meaning has one */
	struct fields fields; /* names in the description */
	pcre2_code *literals; /* matches any literal of any rule; NULL: match
				 all rules against every record */
	pcre2_match_data *match;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
	char plain[EXTRACT_LINE_MAX];
	bool limited;    /* extract_rules_limit() */
	int64_t slow_us; /* CPU time of slow searches */
};

/* Compile one rule of a description into *rule, which must be zeroed. The
 * caller clears *rule, also after an error.
 */
int rule_read(struct extract_rules *rules, const struct value *value,
	      struct rule *rule, struct error *err);
void rule_clear(struct rule *rule);
