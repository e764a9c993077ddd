/* words.h - reads by its words whether a line tells of a failure, and of which.
 *
 * failures.yaml has the words:
 *
 *	words:
 *	  - fault: -9 to 9	how much they speak for a failure
 *	    ends: true		and say that the program ends itself; or
 *	    class: CLASS	of which, of causes_class_name()
 *	    points: 1 to 9
 *	    words: [PHRASE, ...]
 *
 * The fault of a line is the sum of those rows that have a phrase in it, its
 * class the one with most points. A phrase is of words, which blanks, marks or
 * "camelCase" part: "out of memory" is in OutOfMemoryError, too. A word with a
 * capital is found only so; `*` stands for further letters, `~` for up to 40
 * characters; `$` asks for the end of a sentence. Words of Chinese are found
 * anywhere. A count of zero ("0 errors", "failed: 0"), a figure ("error: 0.12")
 * and a part of a lower-case name ("on_error") are no fault.
 */
#pragma once

#include "controller/causes/classes.h"
#include "protocol/base/owned.h"
#include "protocol/yaml/value.h"

struct words;

/* The list of rows; NULL: there are none. EINVAL, ENOMEM. */
struct words *words_new(const struct value *rows, struct error *err);
void words_free(struct words *words);
OWNED_POINTER(struct words, words_free)

/* How much the line speaks for a failure. said: any row has a phrase in it;
 * ends: a row of the fault with `ends` has.
 */
struct words_found {
	bool said, ends;
};
int words_fault(const struct words *words, const char *text, size_t size,
		struct words_found *found);

/* Of which failure; CAUSE_ERROR: its words do not say. */
enum causes_class words_class(const struct words *words, const char *text,
			      size_t size);
