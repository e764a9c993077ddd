/* meaning.h - reads a log without rules for it: by the names and units of its
 * numbers (rules/lexicon.h).
 *
 * A line is a record if it names a step, and a loss or a rate. Lines in which a
 * step is not named count only as long as no line names one: then epochs are
 * the steps, else the lines are. What a line leaves open, such as the unit of
 * "time: 0.41", is kept as a metric under its own name, for open_figures.h.
 */
#pragma once

#include "controller/results/meaning/values.h"

struct meaning;

/* lexicon is borrowed. NULL: ENOMEM. */
struct meaning *meaning_new(const struct lexicon *lexicon, struct error *err);
void meaning_free(struct meaning *meaning);

/* Read a line, without its prefix, whose clock is `stamp` (line.h; NaN:
 * none) and which this rank has printed (-1: unknown; bare: line_prefix.h). As
 * rules_match().
 */
int meaning_read(struct meaning *meaning, struct fields *names,
		 const char *text, size_t size, double stamp, int64_t rank,
		 bool bare, rules_fn *fn, void *arg);

/* Does the next line belong to a table or a dict, whatever is in it? */
bool meaning_reads_all(const struct meaning *meaning);

const struct meaning_found *meaning_found(const struct meaning *meaning);
