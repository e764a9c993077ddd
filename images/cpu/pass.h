/* pass.h - a GPT's loss over some sequences, and its gradients.
 */
#pragma once

#include "images/cpu/gpt.h"

/* What passes over up to `batch` sequences keep in memory: one per thread. The
 * model is borrowed and only read.
 */
struct pass;
struct pass *pass_new(const struct gpt *gpt, uint32_t batch,
		      struct failure *failure);
void pass_free(struct pass *pass);

/* tokens: for each sequence, shape.sequence + 1 bytes; each byte but the last
 * is an input and the one behind it the target. Returns the sum of the cross
 * entropies (nats) over the count * sequence predictions; gradients of that
 * sum times `scale` are added to `gradients` (as many floats as parameters;
 * NULL: only the loss). count is at most the batch of pass_new().
 */
double pass_loss(struct pass *pass, const uint8_t *tokens, uint32_t count,
		 float scale, float *gradients);
