/* notation.h - finds the named numbers of a line, in any usual notation:
 * "key: 1.5", "key=1.5", "key 1.5 ms", "Step [20/938]", "[ 10/500]", "12.3
 * it/s", "第 10 步".
 */
#pragma once

#include "controller/results/meaning/quantity.h"

#define NOTATION_GAP_MAX 80 /* bytes of a text between numbers that is kept */
#define NOTATION_GAPS 256
#define NOTATION_UNIT_MAX 40 /* bytes of a unit */
#define NOTATION_UNITS 256
#define NOTATION_EXPECTED 32 /* numbers of a line that are expected */

/* Texts between numbers and units, and what they say: the lines of a log repeat
 * them.
 */
struct notation {
	const struct lexicon *lexicon; /* borrowed */
	/* Fractions that were read have a comma, "0,5"; or they have a point.
	 */
	bool commas;
	bool points;
	struct notation_gap {
		uint16_t size; /* 0: free */
		char text[NOTATION_GAP_MAX];
		struct quantity quantity;
	} gaps[NOTATION_GAPS];
	/* What stood before each number of the last line; NULL: nothing. */
	const struct notation_gap *expected[NOTATION_EXPECTED];
	struct notation_unit {
		uint16_t size; /* 0: free */
		char text[NOTATION_UNIT_MAX];
		struct quantity_unit unit;
	} units[NOTATION_UNITS];
};

/* A number of a line. */
struct notation_item {
	struct quantity quantity; /* what the text before it says */
	const char *name;         /* in the line, of quantity.name_size bytes */
	double number;
	const char *text; /* the number as it stands in the line */
	size_t size;
	double total; /* of 3/60; NaN: none */
	char bracket; /* '[' or '(' stands before it; 0: none */
	bool closes;  /* ']' stands behind it */
	bool heads;   /* ':' does */
	bool begins;  /* nothing but marks stands before it in the line */
	bool bar;     /* a clock follows in brackets: [00:10<00:20 */
	double clock; /* that one, in seconds */
	bool drawn;   /* a bar of signs follows in brackets: [==>..] */
	bool share;   /* its share in percent follows: [640/60000 (1%)] */
	bool glued;   /* a bar ended before it, and another line began */
	struct quantity_unit unit; /* that stands behind it */
};

typedef void notation_fn(const struct notation_item *item, void *arg);

/* Call fn for each number of the line, from left to right. Dates, clocks and
 * numbers in words are none.
 */
void notation_read(struct notation *notation, const char *text, size_t size,
		   notation_fn *fn, void *arg);

/* The same of a value with a key of its own, as a dict has them: "loss" and
 * "2.31", "step" and "5/100".
 */
void notation_value(struct notation *notation, const char *key, size_t key_size,
		    const char *text, size_t size, notation_fn *fn, void *arg);

/* What a text before a number says; kept. */
struct quantity notation_quantity(struct notation *notation, const char *text,
				  size_t size);
