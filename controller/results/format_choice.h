/* format_choice.h - which of several formats a log is in.
 *
 * All formats read the log side by side. Once one of them has read 16 steps,
 * those that lag behind are given up after 256 KiB, and all but the best after
 * 1 MiB: a long log is read at the speed of one format. The one that reads most
 * steps without contradicting itself wins; of two that read as many, the one
 * that reads more figures, then the one that has fewer rules.
 */
#ifndef CONTROLLER_RESULTS_FORMAT_CHOICE_H
#define CONTROLLER_RESULTS_FORMAT_CHOICE_H

#include "controller/results/extract.h"

#define FORMAT_CHOICE_MAX 128 /* formats */
#define FORMAT_FITS_MAX 8     /* that are told of */

struct format_choice;

/* Of formats 0 to count - 1, which are read with these rules; the rules are
 * borrowed and must outlive the choice, the list need not. NULL: ENOMEM, or
 * E2BIG: more than FORMAT_CHOICE_MAX.
 */
struct format_choice *format_choice_new(struct extract_rules *const *rules,
					size_t count, struct error *err);
void format_choice_free(struct format_choice *choice);
OWNED_POINTER(struct format_choice, format_choice_free)

/* What a format reads; borrowed. NULL: it is out of the choice. */
struct extract *format_choice_extract(const struct format_choice *choice,
				      size_t format);

/* As extract_feed() and extract_finish(). */
int format_choice_feed(struct format_choice *choice, const void *data,
		       size_t size, struct error *err);
int format_choice_finish(struct format_choice *choice, struct error *err);

struct format_fit {
	size_t format;
	uint64_t steps;
	uint64_t contradictions;
	uint64_t figures; /* losses, times and rates of the steps */
	size_t rules;     /* of the format */
};

/* The formats that read steps, best first; returns how many. */
size_t format_choice_fits(const struct format_choice *choice,
			  struct format_fit fits[FORMAT_FITS_MAX]);

/* Do the first two of the fits read as much, but not the same? */
bool format_choice_tied(const struct format_choice *choice,
			const struct format_fit *fits, size_t count);

#endif
