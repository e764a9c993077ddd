/* format_trial.h - finds the format of a stored log from its head and its tail.
 *
 * A growing log is tried again each time its length has doubled, and when it is
 * complete. The size of a trial is bounded, however long the log is. The format
 * that fits then reads the whole log, alone.
 */
#ifndef CONTROLLER_RESULTS_FORMAT_TRIAL_H
#define CONTROLLER_RESULTS_FORMAT_TRIAL_H

#include "controller/results/format_choice.h"

#define FORMAT_TRIAL_PART (64L << 10) /* of the head, of the tail */
#define FORMAT_TRIAL_BYTES (2 * FORMAT_TRIAL_PART) /* of a log, at most */
#define FORMAT_TRIAL_FIRST 256 /* bytes of a log at its first trial */
#define FORMAT_TRIAL_SURE 16   /* with so many steps, no further trial */

/* Should a log of this length be tried now? tried: its length at the last
 * trial; 0: none.
 */
bool format_trial_due(uint64_t length, uint64_t tried);

/* Copy head and tail of a log of `length` bytes to text, which has room for
 * FORMAT_TRIAL_BYTES; a short log completely. The tail begins with a whole
 * line. read() copies up to size bytes at offset to data and returns the
 * number; 0: no more. Returns the size of the text.
 */
typedef size_t format_trial_read_fn(void *arg, uint64_t offset, char *data,
				    size_t size);
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

#endif
