/* memory.h - what a device must hold at least to train a cell: an estimate.
 *
 * Pure. What is left out makes it a floor: temporary buffers, fragments,
 * logits, activations beyond those that full recomputation keeps.
 *
 *	P           parameters of the model on this device: all / (TP x PP);
 *	            of experts, whose number follows from the model's active
 *	            parameters, / EP, too
 *	states      P x (weights / S3 + gradients / S2 + optimizer / S1) bytes,
 *	            Sn = the sharding degree from stage n on, before it 1
 *	activations 2 bytes x micro batch x sequence / (CP x SP) x hidden x
 *	            layers / PP x min(accumulate, PP): the input of each layer
 *
 * Bytes of a parameter by precision, with Adam: bf16, fp16 and fp8 2 weights,
 * 2 gradients and 12 of the optimizer (a copy in fp32, two moments), fp32 and
 * tf32 4, 4 and 8; a precision that is not said counts as bf16. Another
 * optimizer has other moments. A sharding degree without a stage is stage 1; a
 * stage without a degree shards over all data ranks. A cell that says nothing
 * of its layout is taken to share out all states over its whole world.
 *
 * Sources: ZeRO, arXiv 1910.02054, section 3.1 (16 bytes of a parameter, and
 * what each stage shards); arXiv 2205.05198, section 5 (what recomputation
 * keeps of a layer).
 */
#ifndef CONTROLLER_CELL_MEMORY_H
#define CONTROLLER_CELL_MEMORY_H

#include "controller/catalog/catalog.h"
#include "controller/cell/parallel_layout.h"

struct memory_input {
	const struct parallel_layout *shape; /* solved */
	const struct model *model;
	const struct chip *chip;
	const char *precision; /* NULL: not given */
	const char *optimizer; /* NULL: adam; "none": little or nothing is
				  trained */
	bool laid_out;         /* the cell has a parallel layout */
};

struct memory_estimate {
	double states;      /* bytes on each device */
	double activations; /* 0: the batch is not known */
};

/* False: the parameters, the chip's memory or the devices are unknown, or the
 * precision or optimizer is not in the tables.
 */
bool memory_estimate(const struct memory_input *input,
		     struct memory_estimate *estimate);

/* -1: the memory of the chip is too small; reason has the arithmetic (cut to
 * size). 0: it suffices, or there is no estimate.
 */
int memory_check(const struct memory_input *input, char *reason, size_t size);

#endif
