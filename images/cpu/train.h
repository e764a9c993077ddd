/* train.h - the training loop of one rank.
 */
#pragma once

#include "images/cpu/corpus.h"
#include "images/cpu/options.h"
#include "images/cpu/failure.h"

/* Train for options->steps steps and print to `out`, each line at once:
 *
 *	step 12/60 | loss 3.4567 | iteration 123.4 ms | 8300.5 tokens/s |
 *	memory 12.3 MiB
 *
 * (in one line, by rank 0 only). Loss is the mean over the whole global batch,
 * in nats; tokens/s count the whole job; memory is this process's peak. The
 * corpus has more than options->shape.sequence bytes.
 */
int train(const struct options *options, const struct corpus *corpus, FILE *out,
	  struct failure *failure);
