/* gpt.c - a GPT over bytes: its shape and its parameters. */
#include "images/cpu/gpt.h"
#include "images/cpu/random.h"

#include <math.h>

enum start_value { ZERO, ONE, NORMAL, NORMAL_RESIDUAL };

/* clang-format off */
static const struct {
	const char *name;
	uint8_t rows;    /* times hidden; 0: a vector */
	uint8_t columns; /* times hidden */
	uint8_t start;
} layer_tensors[GPT_LAYER_TENSORS] = {
	[GPT_NORM1_GAIN]   = { "norm1.gain",   0, 1, ONE },
	[GPT_NORM1_BIAS]   = { "norm1.bias",   0, 1, ZERO },
	[GPT_QKV]          = { "qkv",          1, 3, NORMAL },
	[GPT_QKV_BIAS]     = { "qkv.bias",     0, 3, ZERO },
	[GPT_PROJECT]      = { "project",      1, 1, NORMAL_RESIDUAL },
	[GPT_PROJECT_BIAS] = { "project.bias", 0, 1, ZERO },
	[GPT_NORM2_GAIN]   = { "norm2.gain",   0, 1, ONE },
	[GPT_NORM2_BIAS]   = { "norm2.bias",   0, 1, ZERO },
	[GPT_EXPAND]       = { "expand",       1, 4, NORMAL },
	[GPT_EXPAND_BIAS]  = { "expand.bias",  0, 4, ZERO },
	[GPT_REDUCE]       = { "reduce",       4, 1, NORMAL_RESIDUAL },
	[GPT_REDUCE_BIAS]  = { "reduce.bias",  0, 1, ZERO },
};
/* clang-format on */

struct gpt {
	struct gpt_shape shape;
	float *parameters;
	size_t count;
	struct gpt_tensor *tensors;
	size_t tensor_count;
};

static void tensor_add(struct gpt *gpt, size_t layer, const char *name,
		       size_t size, bool decay)
{
	struct gpt_tensor *tensor = &gpt->tensors[gpt->tensor_count++];

	if (layer == SIZE_MAX)
		snprintf(tensor->name, sizeof(tensor->name), "%s", name);
	else
		snprintf(tensor->name, sizeof(tensor->name), "%zu.%s", layer,
			 name);
	tensor->offset = gpt->count;
	tensor->size = size;
	tensor->decay = decay;
	gpt->count += size;
}

static void tensors_lay_out(struct gpt *gpt)
{
	size_t hidden = gpt->shape.hidden;

	tensor_add(gpt, SIZE_MAX, "tokens", GPT_TOKENS * hidden, true);
	tensor_add(gpt, SIZE_MAX, "positions", gpt->shape.sequence * hidden,
		   true);
	for (size_t layer = 0; layer < gpt->shape.layers; layer++) {
		for (size_t i = 0; i < GPT_LAYER_TENSORS; i++) {
			size_t rows = layer_tensors[i].rows * hidden;

			tensor_add(gpt, layer, layer_tensors[i].name,
				   (rows ? rows : 1) *
					   layer_tensors[i].columns * hidden,
				   rows > 0);
		}
	}
	tensor_add(gpt, SIZE_MAX, "norm.gain", hidden, false);
	tensor_add(gpt, SIZE_MAX, "norm.bias", hidden, false);
}

/* Deviation 0.02 for the tables; for matrices 1 / sqrt(hidden), which suits
 * small models, and less where a layer adds to the residual stream.
 */
static void tensor_start(struct gpt *gpt, const struct gpt_tensor *tensor,
			 enum start_value start, double deviation,
			 uint64_t *random)
{
	float *value = gpt->parameters + tensor->offset;

	if (start == NORMAL_RESIDUAL)
		deviation /= sqrt(2.0 * gpt->shape.layers);
	for (size_t i = 0; i < tensor->size; i++) {
		if (start == ZERO || start == ONE)
			value[i] = start == ONE ? 1 : 0;
		else
			value[i] = (float)(deviation * random_normal(random));
	}
}

static void parameters_start(struct gpt *gpt, uint64_t seed)
{
	double deviation = 0.5 / sqrt(gpt->shape.hidden);
	size_t last = gpt->tensor_count - 2;

	tensor_start(gpt, &gpt->tensors[GPT_TOKEN_TABLE], NORMAL, 0.02, &seed);
	tensor_start(gpt, &gpt->tensors[GPT_POSITIONS], NORMAL, 0.02, &seed);
	for (size_t i = GPT_FIRST_LAYER; i < last; i++)
		tensor_start(gpt, &gpt->tensors[i],
			     layer_tensors[(i - GPT_FIRST_LAYER) %
					   GPT_LAYER_TENSORS]
				     .start,
			     deviation, &seed);
	tensor_start(gpt, &gpt->tensors[last], ONE, 0, &seed);
	tensor_start(gpt, &gpt->tensors[last + 1], ZERO, 0, &seed);
}

struct gpt *gpt_new(const struct gpt_shape *shape, uint64_t seed,
		    struct failure *failure)
{
	struct gpt *gpt = calloc(1, sizeof(*gpt));
	size_t tensors =
		GPT_FIRST_LAYER + shape->layers * GPT_LAYER_TENSORS + 2;

	if (gpt)
		gpt->tensors = calloc(tensors, sizeof(*gpt->tensors));
	if (gpt && gpt->tensors) {
		gpt->shape = *shape;
		tensors_lay_out(gpt);
		gpt->parameters = calloc(gpt->count, sizeof(*gpt->parameters));
	}
	if (!gpt || !gpt->parameters) {
		failure_set(failure, "out of memory for the parameters");
		gpt_free(gpt);
		return NULL;
	}
	parameters_start(gpt, seed);
	return gpt;
}

void gpt_free(struct gpt *gpt)
{
	if (!gpt)
		return;
	free(gpt->parameters);
	free(gpt->tensors);
	free(gpt);
}

const struct gpt_shape *gpt_shape(const struct gpt *gpt)
{
	return &gpt->shape;
}

float *gpt_parameters(struct gpt *gpt)
{
	return gpt->parameters;
}

const float *gpt_values(const struct gpt *gpt, size_t tensor)
{
	return gpt->parameters + gpt->tensors[tensor].offset;
}

size_t gpt_parameter_count(const struct gpt *gpt)
{
	return gpt->count;
}

size_t gpt_tensor_count(const struct gpt *gpt)
{
	return gpt->tensor_count;
}

const struct gpt_tensor *gpt_tensor(const struct gpt *gpt, size_t index)
{
	return &gpt->tensors[index];
}
