/* format_trial.h - which format a stored log is in, by its head and its tail.
 *
 * A log that grows is tried again when it has doubled, and when it is complete:
 * what that costs is bounded by the size of a trial, however long the log is
 * and whether a format fits it or not. The format that fits then reads the
 * whole log, alone.
 */
#ifndef CONTROLLER_RESULTS_FORMAT_TRIAL_H
#define CONTROLLER_RESULTS_FORMAT_TRIAL_H

#include "controller/results/format_choice.h"

#define FORMAT_TRIAL_PART (64L << 10) /* of the head, of the tail */
#define FORMAT_TRIAL_BYTES (2 * FORMAT_TRIAL_PART) /* of a log, at most */
#define FORMAT_TRIAL_FIRST 1024 /* bytes of a log that is tried first */
#define FORMAT_TRIAL_SURE 16    /* steps that make it needless to try again */

/* Is a log of this length to be tried that was tried at length `tried` (0: was
 * not)?
 */
bool format_trial_due(uint64_t length, uint64_t tried);

/* Put head and tail of a log of `length` bytes together in text, which has room
 * for FORMAT_TRIAL_BYTES: all of a short one; of a longer one the tail begins
 * with a whole line. read() puts up to size bytes at offset into data and says
 * how many; 0: no more. Returns the size of the text.
 */
typedef size_t format_trial_read_fn(void *arg, uint64_t offset, char *data,
				    size_t size);
size_t format_trial_text(uint64_t length, format_trial_read_fn *read, void *arg,
			 char *text);

struct format_trial {
	size_t format;  /* that fits best */
	uint64_t steps; /* that it reads; 0: none fits */
	bool tied;      /* another one fits as well, and reads other figures */
};

/* Try formats 0 to count - 1 on the text. 0 or -1, ENOMEM or E2BIG. */
int format_trial(struct extract_rules *const *rules, size_t count,
		 const char *text, size_t size, struct format_trial *trial,
		 struct error *err);

#endif
