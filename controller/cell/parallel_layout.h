/* parallel_layout.h - the arithmetic of a cell: world, parallel degrees, batch.
 *
 * Pure: figures in, missing figures computed, contradictions told with the
 * arithmetic shown. The rules:
 *
 *	world = nodes x processes, or nodes x devices where the sweep starts no
 *	processes itself (devices 0, "all", counts as 1)
 *	TP x PP x CP x data = world, where data is DP x the sharding degree, or
 *	DP alone when that already fills the world and the degree divides it
 *	global batch = micro batch x accumulate x data
 *	heads, KV heads and hidden size divisible by TP (KV heads may also
 *	divide TP: they are then replicated), the sequence by CP and by SP
 *	layers divisible by PP x VPP, unless a split says how many layers each
 *	of the PP (or PP x VPP) stages has: it must sum up to all of them
 *	VPP, interleaved stages, needs PP > 1 and micro steps divisible by PP
 *	EP divides the ranks of a pipeline stage and the model's experts
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

struct parallel_layout {
	uint32_t nodes;
	uint32_t devices;   /* per node; 0: all */
	uint32_t processes; /* per node; 0: one per device, not started by us */
	uint32_t micro;     /* batch figures: 0 is "not given" */
	uint32_t accumulate;
	uint32_t sequence;
	uint64_t global;
	uint32_t tp; /* parallel degrees: 0 is "not given" */
	uint32_t pp;
	uint32_t dp;
	uint32_t cp;
	uint32_t ep;
	uint32_t sp;
	uint32_t sharding;
	uint32_t stage;
	bool has_stage;        /* 0 is a stage, too */
	uint32_t vpp;          /* stages per rank of a pipeline, interleaved */
	uint32_t split_stages; /* of an uneven split; 0: layers are even */
	uint64_t split_layers; /* of all its stages together */
	uint64_t world;        /* computed, as is what follows */
	uint64_t data;         /* replicas that see different samples */
};

/* Fill in what is missing. 0, or -1 with a sentence in reason (cut to size)
 * when the figures contradict each other or the model. model may be NULL.
 */
int parallel_layout_solve(struct parallel_layout *shape,
			  const struct model *model, char *reason, size_t size);
