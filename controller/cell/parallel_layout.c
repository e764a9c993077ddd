/* parallel_layout.c - computes and checks world, parallel degrees and batch. */
#include "controller/cell/parallel_layout.h"

#include "controller/catalog/catalog.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct reason {
	char *text;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int
impossible(const struct reason *reason, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason->text, reason->size, fmt, args);
	va_end(args);
	return -1;
}

static uint32_t or_one(uint32_t figure)
{
	return figure ? figure : 1;
}

/* "nodes 2 x devices 8 = 16" */
static void describe_world(const struct parallel_layout *shape, char *text,
			   size_t size)
{
	if (shape->processes)
		snprintf(text, size, "nodes %u x processes %u = %" PRIu64,
			 shape->nodes, shape->processes, shape->world);
	else
		snprintf(text, size, "nodes %u x devices %u = %" PRIu64 "%s",
			 shape->nodes, or_one(shape->devices), shape->world,
			 shape->devices
				 ? ""
				 : " (devices 0 counts as 1; set the number)");
}

/* TP x PP x CP ranks hold one copy of the model. Different copies work on
 * different samples.
 */
static int solve_parallel(struct parallel_layout *shape,
			  const struct reason *reason)
{
	uint64_t copy, sharding = or_one(shape->sharding);
	char world[120];

	shape->tp = or_one(shape->tp);
	shape->pp = or_one(shape->pp);
	shape->cp = or_one(shape->cp);
	copy = (uint64_t)shape->tp * shape->pp * shape->cp;
	describe_world(shape, world, sizeof(world));
	if (shape->world % copy)
		return impossible(reason,
				  "TP %u x PP %u x CP %u = %" PRIu64
				  " does not divide the world: %s",
				  shape->tp, shape->pp, shape->cp, copy, world);
	shape->data = shape->world / copy;
	if (shape->data % sharding)
		return impossible(reason,
				  "the sharding degree %u does not divide the "
				  "%" PRIu64 " data ranks: %s / (TP %u x PP %u "
				  "x CP %u)",
				  shape->sharding, shape->data, world,
				  shape->tp, shape->pp, shape->cp);
	if (!shape->dp)
		shape->dp = (uint32_t)(shape->data / sharding);
	if (shape->dp != shape->data && shape->dp * sharding != shape->data)
		return impossible(reason,
				  "TP %u x PP %u x CP %u x DP %u x sharding "
				  "%" PRIu64 " = %" PRIu64
				  " is not the world: %s",
				  shape->tp, shape->pp, shape->cp, shape->dp,
				  sharding, copy * shape->dp * sharding, world);
	if (shape->ep && shape->world / shape->pp % shape->ep)
		return impossible(reason,
				  "EP %u does not divide the ranks of a "
				  "pipeline stage: %s / PP %u = %" PRIu64,
				  shape->ep, world, shape->pp,
				  shape->world / shape->pp);
	if (shape->vpp > 1 && shape->pp == 1)
		return impossible(reason,
				  "VPP %u interleaves pipeline stages, but PP "
				  "is 1",
				  shape->vpp);
	return 0;
}

/* The layers must divide into the pipeline stages. */
static int parallel_layout_check_layers(const struct parallel_layout *shape,
					const struct model *model,
					const struct reason *reason)
{
	uint64_t stages = (uint64_t)shape->pp * or_one(shape->vpp);

	if (!shape->split_stages) {
		if (model->layers % stages == 0)
			return 0;
		if (shape->vpp > 1)
			return impossible(reason,
					  "%u layers of %s do not divide by PP "
					  "%u x VPP %u = %" PRIu64,
					  model->layers, model->name, shape->pp,
					  shape->vpp, stages);
		return impossible(reason,
				  "%u layers of %s do not divide by PP %u; set "
				  "parallel.split for an uneven split",
				  model->layers, model->name, shape->pp);
	}
	if (model->layers && shape->split_layers != model->layers)
		return impossible(reason,
				  "the split has %" PRIu64 " layers, %s has %u",
				  shape->split_layers, model->name,
				  model->layers);
	return 0;
}

static int check_split(const struct parallel_layout *shape,
		       const struct reason *reason)
{
	uint64_t stages = (uint64_t)shape->pp * or_one(shape->vpp);

	if (!shape->split_stages || shape->split_stages == shape->pp ||
	    shape->split_stages == stages)
		return 0;
	return impossible(reason,
			  "the split has %u stages, PP %u x VPP %u = %" PRIu64,
			  shape->split_stages, shape->pp, or_one(shape->vpp),
			  stages);
}

static int check_experts(const struct parallel_layout *shape,
			 const struct model *model, const struct reason *reason)
{
	/* A model without layers has unknown figures. */
	if (shape->ep <= 1 || !model->layers)
		return 0;
	if (!model->experts)
		return impossible(reason, "EP %u, but %s has no experts",
				  shape->ep, model->name);
	if (model->experts % shape->ep)
		return impossible(reason,
				  "%u experts of %s do not divide by EP %u",
				  model->experts, model->name, shape->ep);
	return 0;
}

static int check_sequence(const struct parallel_layout *shape,
			  const struct reason *reason)
{
	if (shape->sequence % shape->cp)
		return impossible(reason,
				  "the sequence of %u tokens does not divide "
				  "by CP %u",
				  shape->sequence, shape->cp);
	if (shape->sequence % or_one(shape->sp))
		return impossible(reason,
				  "the sequence of %u tokens does not divide "
				  "by SP %u",
				  shape->sequence, shape->sp);
	return 0;
}

static int parallel_layout_check_model(const struct parallel_layout *shape,
				       const struct model *model,
				       const struct reason *reason)
{
	if (parallel_layout_check_layers(shape, model, reason) < 0 ||
	    check_experts(shape, model, reason) < 0)
		return -1;
	if (model->heads % shape->tp)
		return impossible(reason,
				  "%u heads of %s do not divide by TP %u",
				  model->heads, model->name, shape->tp);
	if (model->hidden % shape->tp)
		return impossible(reason,
				  "the hidden size %u of %s does not divide by "
				  "TP %u",
				  model->hidden, model->name, shape->tp);
	if (model->kv_heads && model->kv_heads % shape->tp &&
	    shape->tp % model->kv_heads)
		return impossible(reason,
				  "%u KV heads of %s and TP %u do not divide "
				  "each other",
				  model->kv_heads, model->name, shape->tp);
	return 0;
}

static int solve_batch(struct parallel_layout *shape,
		       const struct reason *reason)
{
	uint64_t rest; /* the product of the other figures */

	if (shape->global && !shape->micro && shape->accumulate) {
		rest = shape->accumulate * shape->data;
		if (shape->global % rest || shape->global / rest > UINT32_MAX)
			return impossible(reason,
					  "the global batch %" PRIu64
					  " does not divide by accumulate %u x "
					  "%" PRIu64 " data ranks = %" PRIu64,
					  shape->global, shape->accumulate,
					  shape->data, rest);
		shape->micro = (uint32_t)(shape->global / rest);
	}
	if (!shape->micro)
		return 0; /* too little is given */
	rest = shape->micro * shape->data;
	if (shape->global && !shape->accumulate) {
		if (shape->global % rest || shape->global / rest > UINT32_MAX)
			return impossible(reason,
					  "the global batch %" PRIu64
					  " does not divide by micro batch %u "
					  "x %" PRIu64 " data ranks = %" PRIu64,
					  shape->global, shape->micro,
					  shape->data, rest);
		shape->accumulate = (uint32_t)(shape->global / rest);
	}
	shape->accumulate = or_one(shape->accumulate);
	if (!shape->global)
		shape->global = rest * shape->accumulate;
	if (shape->global != rest * shape->accumulate)
		return impossible(reason,
				  "micro batch %u x accumulate %u x %" PRIu64
				  " data ranks = %" PRIu64
				  " is not the global batch %" PRIu64,
				  shape->micro, shape->accumulate, shape->data,
				  rest * shape->accumulate, shape->global);
	return 0;
}

static int check_interleaving(const struct parallel_layout *shape,
			      const struct reason *reason)
{
	if (shape->vpp <= 1 || !shape->accumulate ||
	    shape->accumulate % shape->pp == 0)
		return 0;
	return impossible(reason,
			  "accumulate %u does not divide by PP %u, as "
			  "interleaved stages (VPP %u) need it",
			  shape->accumulate, shape->pp, shape->vpp);
}

int parallel_layout_solve(struct parallel_layout *shape,
			  const struct model *model, char *text, size_t size)
{
	struct reason reason = { text, size };

	shape->world =
		(uint64_t)shape->nodes *
		(shape->processes ? shape->processes : or_one(shape->devices));
	if (solve_parallel(shape, &reason) < 0 ||
	    check_split(shape, &reason) < 0 ||
	    (model && parallel_layout_check_model(shape, model, &reason) < 0) ||
	    check_sequence(shape, &reason) < 0 ||
	    solve_batch(shape, &reason) < 0)
		return -1;
	return check_interleaving(shape, &reason);
}
