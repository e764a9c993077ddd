/* share_steps.h - finds the steps of a log that prints only epochs.
 *
 * Some programs print no step numbers but shares of epochs, 'epoch': 0.15, and
 * beside them a progress bar, 15/100. The step is share * total / epochs. If
 * the number of epochs is not printed, it follows from the bar, which is drawn
 * from time to time. The last bar before a share shows its step or an earlier
 * one, so there are at most share * total / bar epochs. The next bar shows its
 * step or a later one, so there are at least that many. When these bounds
 * change the number of epochs, earlier steps are numbered again, a limited
 * number of times, because a hostile log could cause that with every line.
 */
#pragma once

#include "controller/results/remarks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct captured_value; /* controller/results/rules/fields.h */

#define SHARE_STEPS_MAX 16384 /* shares that are kept: the first ones */
#define SHARE_CHANGES_MAX 64  /* of the number of epochs */

struct share_seen {
	double low, high; /* of the share, which is rounded */
	double printed;
	uint64_t bar; /* the last bar before it; 0: none */
	bool redrawn; /* the next bar shows the same */
	uint64_t step;
};

struct share_steps {
	bool announced;     /* the number of epochs is printed */
	bool ended;         /* the end told the number of epochs */
	bool useless;       /* contradicted by the steps before, or by
			       the bar that is drawn again */
	double epochs;      /* in total; 0: not known */
	double least, most; /* bounds of epochs; most 0: no bar yet */
	struct share_seen *seen;
	size_t count, room;
	size_t first;     /* of them that came beside the bar that is used */
	unsigned changes; /* of the number of epochs */
	bool unsure;      /* some steps may be wrong */
};

void share_steps_clear(struct share_steps *shares);

/* A share that a rule matched after this bar; its step is not known yet. */
struct share_seen share_seen(const struct captured_value *share, uint64_t bar);

/* The step of the share, among those that it may be: the one of its bar, else
 * the one as far behind `last` as that is behind the step before it, else the
 * next one; 0: none, or not known yet. total: of the progress; 0: not known. i:
 * the number of shares before it.
 */
uint64_t share_step(const struct share_steps *shares, uint64_t total,
		    const struct share_seen *seen, size_t i, uint64_t last);

/* Use a new share, or a bar after one, to bound the number of epochs. True: the
 * number has changed, and share_step() gives other steps.
 */
bool share_steps_bound(struct share_steps *shares, uint64_t total,
		       const struct share_seen *seen);
bool share_steps_bar(struct share_steps *shares, uint64_t total, uint64_t bar);

/* The bar was another's: nothing is known of the training's own. */
void share_steps_forget_bar(struct share_steps *shares);

/* The training ended with its last bar, at this share. True: see above. */
bool share_steps_end(struct share_steps *shares, double share);

/* The share got this step. */
void share_step_given(struct share_steps *shares, const struct share_seen *seen,
		      uint64_t step);

/* Why the steps of some shares are not certain: the number of epochs is not
 * known, or bars were not drawn at each step. REMARKS: they are certain.
 */
enum remark_code share_steps_remark(const struct share_steps *shares,
				    uint64_t total);
