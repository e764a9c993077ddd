/* quantity.h - what the text before and behind a number says that it is.
 */
#pragma once

#include "controller/results/rules/lexicon.h"

/* The rank of a name whose last word is a loss, "pg_loss". */
#define QUANTITY_GUESS 900

enum quantity_kind {
	QUANTITY_PLAIN, /* no unit */
	QUANTITY_PERCENT,
	QUANTITY_SECONDS,
	QUANTITY_SECONDS_PER_STEP,
	QUANTITY_STEPS_PER_SECOND,
	QUANTITY_TOKENS_PER_SECOND,
	QUANTITY_SAMPLES_PER_SECOND,
	QUANTITY_MEBIBYTES,
	QUANTITY_STEPS, /* a number of them */
	QUANTITY_EPOCHS,
	QUANTITY_PER_DEVICE, /* of the rate before it: "(1409.5/gpu)" */
	QUANTITY_OTHER,      /* a unit that is none of these */
};

struct quantity_unit {
	double factor; /* to the unit that the kind names */
	enum quantity_kind kind;
	bool per_device;
	bool decimal; /* MB, by its name, is a power of ten */
	bool inverse; /* seconds of an item, "s/img": the rate is 1 by that */
};

/* What a text before a number says. */
struct quantity {
	bool known;   /* role, rank and unit are valid */
	bool empty;   /* nothing: the unit alone may say what it is */
	bool other;   /* it is no value of the training, but of an evaluation */
	bool section; /* what follows in the line, too, is of something else */
	bool train;   /* what follows in the line is of the training */
	bool measure; /* its name ends with a unit, as that of tokens */
	bool of_loss; /* "loss at step": the loss stands behind the number */
	enum meaning_role role;
	unsigned rank;
	struct quantity_unit unit;
	/* Its name, in the text. */
	uint16_t name_at;
	uint16_t name_size;
};

/* Read the text between two numbers of a line. It ends before the number:
 * "], Step [", " | elapsed time per iteration (ms): ".
 */
struct quantity quantity_of(const struct lexicon *lexicon, const char *text,
			    size_t size);

/* The bytes of a mark that begins the text; 0: none does. Marks are punctuation
 * and wide blanks of Chinese text (U+3000 to U+303F, U+FF00 to U+FF3F), the
 * blocks, lines, arrows and spinners from U+2000 to U+2FFF, and emoji (U+1F000
 * to U+1FFFF, with U+FE0F behind some).
 */
size_t quantity_mark(const char *text, size_t size);

/* A unit: "ms", "tok/s/gpu", "samples per second". */
struct quantity_unit quantity_unit(const struct lexicon *lexicon,
				   const char *text, size_t size);
