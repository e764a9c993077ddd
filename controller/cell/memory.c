/* memory.c - estimates the memory that a device needs at least to train a cell.
 */
#include "controller/cell/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define GIB 1073741824.0

/* Bytes of a parameter. */
struct bytes {
	const char *name;
	double weights;
	double gradients;
	double copy; /* of the weights in fp32, beside them */
};

/* clang-format off */
static const struct bytes precisions[] = {
	{ "bf16", 2, 2, 4 },
	{ "fp16", 2, 2, 4 },
	{ "fp8", 2, 2, 4 },
	{ "mxfp8", 2, 2, 4 },
	{ "fp4", 2, 2, 4 },
	{ "nvfp4", 2, 2, 4 },
	{ "mxfp4", 2, 2, 4 },
	{ "amp", 2, 2, 4 },
	{ "fp32", 4, 4, 0 },
	{ "tf32", 4, 4, 0 },
};
static const struct {
	const char *name;
	double moments;
} optimizers[] = {
	{ "adam", 8 }, { "adamw", 8 }, { "lamb", 8 }, { "lion", 4 },
	{ "momentum", 4 }, { "sgd", 0 }, { "adafactor", 0 },
	{ "adam8bit", 2 }, { "adamw8bit", 2 },
};
/* clang-format on */

static const struct bytes *find_precision(const char *name)
{
	for (size_t i = 0; i < sizeof(precisions) / sizeof(precisions[0]); i++)
		if (!name || !strcasecmp(precisions[i].name, name))
			return &precisions[i];
	return NULL;
}

static bool find_moments(const char *name, double *moments)
{
	for (size_t i = 0; i < sizeof(optimizers) / sizeof(optimizers[0]); i++)
		if (!strcasecmp(optimizers[i].name, name ? name : "adam")) {
			*moments = optimizers[i].moments;
			return true;
		}
	return false;
}

/* The terms of one device. */
struct terms {
	double dense;   /* parameters here; of experts: before EP */
	double experts; /* parameters */
	double model_ranks;
	double shards[3]; /* ranks that share optimizer, gradients, weights */
	struct bytes bytes;
	double optimizer; /* bytes */
};

/* The parameters of all experts. The difference between all and active
 * parameters is that of the experts that a token does not use.
 */
static double expert_parameters(const struct model *model)
{
	double idle = model->parameters - model->active_parameters;

	if (model->experts <= model->experts_per_token ||
	    !model->experts_per_token || idle <= 0)
		return 0;
	return idle / (model->experts - model->experts_per_token) *
	       model->experts;
}

static bool find_terms(const struct memory_input *input, struct terms *terms)
{
	const struct parallel_layout *shape = input->shape;
	const struct model *model = input->model;
	bool none = input->optimizer && !strcasecmp(input->optimizer, "none");
	const struct bytes *bytes = find_precision(input->precision);
	double moments = 0, shards;
	uint32_t stage = shape->stage;

	if (!model || !model->parameters || !bytes ||
	    (!shape->devices && !shape->processes) ||
	    (!none && !find_moments(input->optimizer, &moments)))
		return false;
	*terms = (struct terms){
		.experts = expert_parameters(model),
		.model_ranks = (double)shape->tp * shape->pp,
		.shards = { 1, 1, 1 },
		.bytes = *bytes,
		.optimizer = bytes->copy + moments,
	};
	terms->dense = model->parameters - terms->experts;
	if (none)
		terms->bytes.gradients = terms->optimizer = 0;
	shards = shape->sharding ? shape->sharding : (double)shape->data;
	if (!shape->has_stage && shape->sharding)
		stage = 1;
	if (!input->laid_out) {
		shards = (double)shape->world;
		stage = 3;
	}
	for (uint32_t i = 0; i < 3; i++)
		if (stage > i)
			terms->shards[i] = shards;
	return true;
}

static double states_of(const struct terms *terms, double parameters,
			double ranks, double ep)
{
	return parameters / ranks *
	       (terms->bytes.weights / fmax(terms->shards[2], ep) +
		terms->bytes.gradients / fmax(terms->shards[1], ep) +
		terms->optimizer / fmax(terms->shards[0], ep));
}

/* What a layer keeps of each token and hidden unit for the backward pass. */
struct kept {
	double bytes;
	const char *what;
};

/* The frozen weights of a stage that trains little need no inputs, and experts
 * have their own widths: of both, only the input of the layer is sure.
 */
static struct kept kept_of_layer(const struct memory_input *input)
{
	const struct parallel_layout *shape = input->shape;

	if (!input->recompute || strcmp(input->recompute, "none") != 0 ||
	    input->model->experts ||
	    (input->optimizer && !strcasecmp(input->optimizer, "none")))
		return (struct kept){ 2 / fmax(shape->sp, 1), "layer inputs" };
	return (struct kept){ 4 / fmax(shape->sp, 1) + 16.0 / shape->tp,
			      "activations without recomputation" };
}

static double tokens_of(const struct parallel_layout *shape)
{
	return (double)shape->micro * shape->sequence / shape->cp;
}

static double activations_of(const struct memory_input *input)
{
	const struct parallel_layout *shape = input->shape;

	return kept_of_layer(input).bytes * tokens_of(shape) *
	       input->model->hidden * input->model->layers / shape->pp *
	       fmin(shape->accumulate, shape->pp);
}

bool memory_estimate(const struct memory_input *input,
		     struct memory_estimate *estimate)
{
	struct terms terms;

	if (!find_terms(input, &terms))
		return false;
	estimate->states =
		states_of(&terms, terms.dense, terms.model_ranks, 1) +
		states_of(&terms, terms.experts, terms.model_ranks,
			  input->shape->ep ? input->shape->ep : 1);
	estimate->activations = activations_of(input);
	return true;
}

/* "12 optimizer / 8" */
static void add_term(char *text, size_t size, const char *name, double bytes,
		     double shards)
{
	size_t used = strlen(text);

	if (!bytes)
		return;
	snprintf(text + used, size - used, "%s%g %s", used ? " + " : "", bytes,
		 name);
	used = strlen(text);
	if (shards > 1)
		snprintf(text + used, size - used, " / %g", shards);
}

static void estimate_describe(const struct memory_input *input,
			      const struct memory_estimate *estimate,
			      char *reason, size_t size)
{
	const struct parallel_layout *shape = input->shape;
	char bytes[120] = "", experts[40] = "", activations[200] = "";
	struct kept kept = kept_of_layer(input);
	struct terms terms = { 0 };

	find_terms(input, &terms);
	add_term(bytes, sizeof(bytes), "weights", terms.bytes.weights,
		 terms.shards[2]);
	add_term(bytes, sizeof(bytes), "gradients", terms.bytes.gradients,
		 terms.shards[1]);
	add_term(bytes, sizeof(bytes), "optimizer", terms.optimizer,
		 terms.shards[0]);
	if (terms.experts > 0 && shape->ep > 1)
		snprintf(experts, sizeof(experts), ", experts / EP %u",
			 shape->ep);
	if (estimate->activations > 0)
		snprintf(activations, sizeof(activations),
			 ", and %.1f GiB of %s (%g bytes x %.0f tokens x %u "
			 "hidden x %u layers / PP %u x %.0f)",
			 estimate->activations / GIB, kept.what, kept.bytes,
			 tokens_of(shape), input->model->hidden,
			 input->model->layers, shape->pp,
			 fmin(shape->accumulate, shape->pp));
	snprintf(reason, size,
		 "%s has %g GiB, but at least %.1f are needed: %.4g parameters "
		 "/ (TP %u x PP %u%s) x (%s) bytes = %.1f GiB%s; check_memory: "
		 "false disables this check",
		 input->chip->name, input->chip->memory_gib,
		 (estimate->states + estimate->activations) / GIB,
		 input->model->parameters, shape->tp, shape->pp, experts, bytes,
		 estimate->states / GIB, activations);
}

int memory_check(const struct memory_input *input, char *reason, size_t size)
{
	struct memory_estimate estimate;

	if (!input->chip || !input->chip->memory_gib ||
	    !memory_estimate(input, &estimate) ||
	    estimate.states + estimate.activations <=
		    input->chip->memory_gib * GIB)
		return 0;
	estimate_describe(input, &estimate, reason, size);
	return -1;
}
