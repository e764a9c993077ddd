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
#pragma once

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

/* As extract_feed(), extract_file_ends() and extract_finish(). */
int format_choice_feed(struct format_choice *choice, const void *data,
		       size_t size, struct error *err);
void format_choice_file_ends(struct format_choice *choice);
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
	bool late;       /* it is said to begin in a later epoch */
};

/* The formats that read steps, or other figures, best first; returns how many.
 */
size_t format_choice_fits(const struct format_choice *choice,
			  struct format_fit fits[FORMAT_FITS_MAX]);

/* Are the first two fits equally good, with different metrics? */
bool format_choice_tied(const struct format_choice *choice,
			const struct format_fit *fits, size_t count);

/* Finds the format of a stored log from its head and its tail.
 *
 * A growing log is tried again each time its length has doubled, and when it is
 * complete. The size of a trial is bounded, however long the log is. The format
 * that fits then reads the whole log, alone.
 */

#define FORMAT_TRIAL_PART (64L << 10) /* of the head, of the tail */
#define FORMAT_TRIAL_BYTES (2 * FORMAT_TRIAL_PART) /* of a log, at most */
#define FORMAT_TRIAL_FIRST 256 /* bytes of a log at its first trial */
#define FORMAT_TRIAL_SURE 16   /* with so many steps, no further trial */

/* Should a log of this length be tried now? tried: its length at the last
 * trial; 0: none.
 */
bool format_trial_due(uint64_t length, uint64_t tried);

/* Copy head and tail of a log of `length` bytes to text, which has
 * format_trial_room() bytes; a short log completely. The tail begins with a
 * whole line. read() copies up to size bytes at offset to data and returns the
 * number; 0: no more. Returns the size of the text.
 */
typedef size_t format_trial_read_fn(void *arg, uint64_t offset, char *data,
				    size_t size);
size_t format_trial_room(uint64_t length);
size_t format_trial_text(uint64_t length, format_trial_read_fn *read, void *arg,
			 char *text);

struct format_trial {
	bool found;     /* a format fits */
	size_t format;  /* that fits best */
	uint64_t steps; /* that it reads; 0: only figures of the whole run */
	bool tied;      /* another one fits as well, with different metrics */
};

/* Try formats 0 to count - 1 on the text. 0 or -1, ENOMEM or E2BIG. */
int format_trial(struct extract_rules *const *rules, size_t count,
		 const char *text, size_t size, struct format_trial *trial,
		 struct error *err);
