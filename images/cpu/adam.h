/* adam.h - the AdamW optimizer with a limit on the gradients' norm.
 *
 * Source: Loshchilov and Hutter, "Decoupled Weight Decay Regularization",
 * 2019, algorithm 2; beta 0.9 and 0.95, weight decay 0.1, norm limit 1.
 */
#pragma once

#include "images/cpu/gpt.h"

struct adam;
struct adam *adam_new(const struct gpt *gpt, struct failure *failure);
void adam_free(struct adam *adam);

/* One step with these gradients (scaled in place when they are too large). The
 * rate rises over the first ten steps.
 */
void adam_step(struct adam *adam, struct gpt *gpt, float *gradients,
	       float learning_rate);
