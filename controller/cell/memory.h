/* memory.h - what a device must hold at least to train a cell: an estimate.
 *
 * Pure. What is left out makes it a floor: temporary buffers, fragments,
 * logits, activations beyond those that every implementation keeps.
 *
 *	P           parameters of the model on this device: all / (TP x PP);
 *	            of experts, whose number follows from the model's active
 *	            parameters, / EP, too
 *	states      P x (weights / S3 + gradients / S2 + optimizer / S1) bytes,
 *	            Sn = the sharding degree from stage n on, before it 1
 *	activations K bytes x micro batch x sequence / CP x hidden x layers / PP
 *	            x min(accumulate, PP)
 *	K           2 / SP, the input of each layer, which full recomputation
 *	            keeps, too; with `recompute: none` 4 / SP + 16 / TP
 *
 * 4 / SP are the inputs of two norms, 16 / TP query, key, value, the output of
 * the attention, and what stands between the two products of the MLP. This
 * holds for a dense model whose weights are trained; of experts, and where
 * little is trained, K is 2 / SP.
 *
 * Bytes of a parameter by precision, with Adam: bf16, fp16 and fp8 2 weights,
 * 2 gradients and 12 of the optimizer (a copy in fp32, two moments), fp32 and
 * tf32 4, 4 and 8; a precision that is not said counts as bf16. Another
 * optimizer has other moments. A sharding degree without a stage is stage 1; a
 * stage without a degree shards over all data ranks. A cell that says nothing
 * of its layout is taken to share out all states over its whole world.
 *
 * Sources: ZeRO, arXiv 1910.02054, section 3.1 (16 bytes of a parameter, and
 * what each stage shards); arXiv 2205.05198, section 5 (what a layer keeps,
 * with recomputation and without). With K of `recompute: none` the bound drops
 * none of 401 layouts that ran in the 10 tables of arXiv 2311.05610, and 192 of
 * 563 that ran out of memory; with 2 it drops 23.
 */
#pragma once

#include "controller/catalog/catalog.h"
#include "controller/cell/parallel_layout.h"

struct memory_input {
	const struct parallel_layout *shape; /* solved */
	const struct model *model;
	const struct chip *chip;
	const char *precision; /* NULL: not given */
	const char *optimizer; /* NULL: adam; "none": little or nothing is
				  trained */
	const char *recompute; /* none, selective, full; NULL: not given */
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
