/* lexicon.h - the words by which a log is read without rules: names of values,
 * units, and words around them.
 *
 * They are the key `meaning` of the section `log:` of a description
 * (images/frameworks/generic.yaml):
 *
 *	meaning:
 *	  names: {step: [global_step, iter], loss: [train_loss, loss], ...}
 *	  units: {second: {s: 1, ms: 0.001}, token: {tok: 1}, ...}
 *
 *	  fillers: [train]	before a name they change nothing
 *
 *	  others: [val]		values behind these are not of the training
 *
 *	  levels: [info]	a name begins behind them
 *
 *	  marks: [loss]		every line that is read has one of these texts
 *
 * A word is in lower case, with '_' between its parts.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/yaml/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEXICON_WORD_MAX 48 /* bytes */

/* What a named value is. */
enum meaning_role {
	ROLE_STEP,
	ROLE_BATCH, /* a step within an epoch */
	ROLE_EPOCH,
	ROLE_LOSS,
	ROLE_STEP_TIME,
	ROLE_TIME,      /* of a step, an interval, or since the start */
	ROLE_DATA_TIME, /* the part of it that waits for data */
	ROLE_RATE,      /* of what its unit says */
	ROLE_TOKENS,    /* per second */
	ROLE_TOKENS_PER_DEVICE,
	ROLE_SAMPLES, /* per second */
	ROLE_STEPS,   /* per second */
	ROLE_MEMORY,
	ROLE_LR,
	ROLE_GRAD_NORM,
	ROLE_ACCURACY,
	ROLE_GLOBAL_BATCH,
	ROLE_CONSUMED_SAMPLES,
	ROLE_CONSUMED_TOKENS,
	ROLE_CLOCK,
	MEANING_ROLES
};

enum unit_base {
	BASE_SECOND,
	BASE_STEP,
	BASE_EPOCH,
	BASE_TOKEN,
	BASE_SAMPLE,
	BASE_DEVICE,
	BASE_MEBIBYTE,
	BASE_MEGABYTE, /* its name may mean a power of ten */
	UNIT_BASES
};

/* Other kinds of words. */
enum word_kind { WORD_FILLER, WORD_OTHER, WORD_LEVEL, WORD_KINDS };

struct lexicon_name {
	enum meaning_role role;
	unsigned rank; /* 0: the surest name of its role */
};

struct lexicon_unit {
	enum unit_base base;
	double factor;
};

struct lexicon;

/* Errors name file and line. */
struct lexicon *lexicon_new(const struct value *meaning, struct error *err);
void lexicon_free(struct lexicon *lexicon);
OWNED_POINTER(struct lexicon, lexicon_free)

/* The word text[0..size); false: it is not there. */
bool lexicon_name(const struct lexicon *lexicon, const char *text, size_t size,
		  struct lexicon_name *name);
bool lexicon_unit(const struct lexicon *lexicon, const char *text, size_t size,
		  struct lexicon_unit *unit);
bool lexicon_word(const struct lexicon *lexicon, enum word_kind kind,
		  const char *text, size_t size);

/* The name of a role in descriptions and results: "loss", "lr". */
const char *meaning_role_name(enum meaning_role role);
