/* format_choice.h - finds out which of several formats a log has.
 *
 * All formats read the log in parallel. Once one of them has read 16 steps,
 * those with fewer are dropped after 256 KiB, and all but the best after 1 MiB,
 * so that a long log is read at the speed of one format. The format that reads
 * most steps without contradictions is chosen, one that counts lines only if it
 * reads many times as many; of equal ones the one that reads more figures, then
 * the one with fewer rules. The reader by meaning is the last, unless the
 * others miss what it finds. What a restart prints again is no contradiction.
 */
#ifndef CONTROLLER_RESULTS_FORMAT_CHOICE_H
#define CONTROLLER_RESULTS_FORMAT_CHOICE_H

#include "controller/results/extract.h"

#define FORMAT_CHOICE_MAX 128 /* formats */
#define FORMAT_FITS_MAX 8     /* in format_choice_fits() */

struct format_choice;

/* rules[i] are those of format i. The rules are borrowed and must outlive the
 * choice, the list need not. NULL: ENOMEM, or E2BIG: more than
 * FORMAT_CHOICE_MAX.
 */
struct format_choice *format_choice_new(struct extract_rules *const *rules,
					size_t count, struct error *err);
void format_choice_free(struct format_choice *choice);
OWNED_POINTER(struct format_choice, format_choice_free)

/* The metrics that a format has read; borrowed. NULL: it was dropped. */
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
	uint64_t losses;
	size_t rules;    /* of the format */
	bool by_meaning; /* it has none: the reader by meaning */
	bool takes_any;  /* lines with a loss, even without a step */
	bool named;      /* its steps have a loss, and the log names them */
	bool counted;    /* its steps are lines that were counted */
};

/* The formats that read steps, or other figures, best first; returns how many.
 */
size_t format_choice_fits(const struct format_choice *choice,
			  struct format_fit fits[FORMAT_FITS_MAX]);

/* Are the first two fits equally good, with different metrics? */
bool format_choice_tied(const struct format_choice *choice,
			const struct format_fit *fits, size_t count);

#endif
