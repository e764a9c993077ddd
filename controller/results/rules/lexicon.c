/* lexicon.c - the words by which a log is read without rules.
 */
#include "controller/results/rules/lexicon.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 4096 /* a power of two, several times the words */
#define WORDS_MAX 1024

/* A word may be of each class once. */
enum word_class { CLASS_NAME, CLASS_UNIT, CLASS_WORDS };

struct word {
	const char *text; /* owned */
	size_t size;
	int word_class; /* enum word_class, plus the enum word_kind */
	union {
		struct lexicon_name name;
		struct lexicon_unit unit;
	};
};

struct lexicon {
	struct word words[WORDS_MAX];
	size_t count;
	uint16_t slots[SLOTS]; /* index of the word plus 1; 0: free */
};

static const char *const role_names[MEANING_ROLES + 1] = {
	[ROLE_STEP] = "step",
	[ROLE_BATCH] = "batch",
	[ROLE_EPOCH] = "epoch",
	[ROLE_LOSS] = "loss",
	[ROLE_STEP_TIME] = "step_time",
	[ROLE_TIME] = "time",
	[ROLE_DATA_TIME] = "data_time",
	[ROLE_RATE] = "rate",
	[ROLE_TOKENS] = "tokens_per_second",
	[ROLE_TOKENS_PER_DEVICE] = "tokens_per_second_per_device",
	[ROLE_SAMPLES] = "samples_per_second",
	[ROLE_STEPS] = "steps_per_second",
	[ROLE_MEMORY] = "memory",
	[ROLE_LR] = "lr",
	[ROLE_GRAD_NORM] = "grad_norm",
	[ROLE_ACCURACY] = "accuracy",
	[ROLE_GLOBAL_BATCH] = "global_batch",
	[ROLE_CONSUMED_SAMPLES] = "consumed_samples",
	[ROLE_CONSUMED_TOKENS] = "consumed_tokens",
	[ROLE_CLOCK] = "clock",
};

static const char *const base_names[UNIT_BASES + 1] = {
	[BASE_SECOND] = "second",     [BASE_STEP] = "step",
	[BASE_EPOCH] = "epoch",       [BASE_TOKEN] = "token",
	[BASE_SAMPLE] = "sample",     [BASE_DEVICE] = "device",
	[BASE_MEBIBYTE] = "mebibyte", [BASE_MEGABYTE] = "megabyte",
};

const char *meaning_role_name(enum meaning_role role)
{
	return role_names[role];
}

void lexicon_free(struct lexicon *lexicon)
{
	for (size_t i = 0; lexicon && i < lexicon->count; i++)
		free((void *)lexicon->words[i].text);
	free(lexicon);
}

static uint16_t *word_slot(const struct lexicon *lexicon, int word_class,
			   const char *text, size_t size)
{
	uint32_t hash = 2166136261u + (uint32_t)word_class;
	uint32_t at;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	for (at = hash % SLOTS;; at = (at + 1) % SLOTS) {
		const struct word *word;

		if (!lexicon->slots[at])
			break;
		word = &lexicon->words[lexicon->slots[at] - 1];
		if (word->word_class == word_class && word->size == size &&
		    !memcmp(word->text, text, size))
			break;
	}
	return (uint16_t *)&lexicon->slots[at];
}

static const struct word *word_find(const struct lexicon *lexicon,
				    int word_class, const char *text,
				    size_t size)
{
	uint16_t slot = *word_slot(lexicon, word_class, text, size);

	return slot ? &lexicon->words[slot - 1] : NULL;
}

/* Add a word, which must be new in its class; NULL: an error. */
static struct word *word_add(struct lexicon *lexicon, int word_class,
			     const char *text, const struct value *place,
			     struct error *err)
{
	uint16_t *slot;
	struct word *word = &lexicon->words[lexicon->count];

	if (!*text || strlen(text) > LEXICON_WORD_MAX ||
	    lexicon->count == WORDS_MAX) {
		value_error(place, err,
			    "the word \"%.60s\" is not valid here; expected up "
			    "to %d words of 1 to %d bytes",
			    text, WORDS_MAX, LEXICON_WORD_MAX);
		return NULL;
	}
	slot = word_slot(lexicon, word_class, text, strlen(text));
	if (*slot) {
		value_error(place, err, "the word \"%s\" stands here twice",
			    text);
		return NULL;
	}
	word->text = strdup(text);
	if (!word->text)
		return error_null(error_nomem(err, "log rules"));
	word->size = strlen(text);
	word->word_class = word_class;
	*slot = (uint16_t)++lexicon->count;
	return word;
}

static int lexicon_read_names(struct lexicon *lexicon,
			      const struct value *names, struct error *err)
{
	if (value_check_keys(names, role_names, err) < 0)
		return -1;
	for (int role = 0; role < MEANING_ROLES; role++) {
		const struct value *list = value_get(names, role_names[role]);

		for (size_t i = 0; list && i < value_count(list); i++) {
			const struct value *one = value_at(list, i);
			struct word *word = word_add(lexicon, CLASS_NAME,
						     value_text(one), one, err);

			if (!word)
				return -1;
			word->name = (struct lexicon_name){
				.role = (enum meaning_role)role,
				.rank = (unsigned)i,
			};
		}
	}
	return 0;
}

static int lexicon_read_units(struct lexicon *lexicon,
			      const struct value *units, struct error *err)
{
	if (value_check_keys(units, base_names, err) < 0)
		return -1;
	for (int base = 0; base < UNIT_BASES; base++) {
		const struct value *map = value_get(units, base_names[base]);

		for (size_t i = 0; i < value_count(map); i++) {
			struct word *word =
				word_add(lexicon, CLASS_UNIT, value_key(map, i),
					 value_at(map, i), err);
			double factor;

			if (!word || value_double(value_at(map, i), 1e-12, 1e12,
						  &factor, err) < 0)
				return -1;
			word->unit = (struct lexicon_unit){
				.base = (enum unit_base)base,
				.factor = factor,
			};
		}
	}
	return 0;
}

struct lexicon *lexicon_new(const struct value *meaning, struct error *err)
{
	static const char *const keys[] = { "names",  "units",  "fillers",
					    "others", "levels", "marks",
					    NULL };
	static const char *const lists[WORD_KINDS] = {
		[WORD_FILLER] = "fillers",
		[WORD_OTHER] = "others",
		[WORD_LEVEL] = "levels",
	};
	owned(lexicon_free) struct lexicon *lexicon =
		calloc(1, sizeof(*lexicon));
	const struct value *names = value_get(meaning, "names");
	const struct value *units = value_get(meaning, "units");

	if (!lexicon)
		return error_null(error_nomem(err, "log rules"));
	if (value_check_keys(meaning, keys, err) < 0 ||
	    (names && lexicon_read_names(lexicon, names, err) < 0) ||
	    (units && lexicon_read_units(lexicon, units, err) < 0))
		return NULL;
	for (int kind = 0; kind < WORD_KINDS; kind++) {
		const struct value *list = value_get(meaning, lists[kind]);

		for (size_t i = 0; list && i < value_count(list); i++)
			if (!word_add(lexicon, CLASS_WORDS + kind,
				      value_text(value_at(list, i)),
				      value_at(list, i), err))
				return NULL;
	}
	return take(lexicon);
}

bool lexicon_name(const struct lexicon *lexicon, const char *text, size_t size,
		  struct lexicon_name *name)
{
	const struct word *word = word_find(lexicon, CLASS_NAME, text, size);

	if (word)
		*name = word->name;
	return word;
}

bool lexicon_unit(const struct lexicon *lexicon, const char *text, size_t size,
		  struct lexicon_unit *unit)
{
	const struct word *word = word_find(lexicon, CLASS_UNIT, text, size);

	if (word)
		*unit = word->unit;
	return word;
}

bool lexicon_word(const struct lexicon *lexicon, enum word_kind kind,
		  const char *text, size_t size)
{
	return word_find(lexicon, CLASS_WORDS + (int)kind, text, size);
}
