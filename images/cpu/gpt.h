/* gpt.h - a GPT over bytes: its shape and its parameters.
 *
 * A decoder-only transformer with 256 tokens (the values of a byte), learned
 * positions, normalisation before each part (Radford and others, "Language
 * Models are Unsupervised Multitask Learners", 2019, section 2.3), and the
 * token table used again for the output. All numbers are single precision.
 * Loss and gradients: pass.h.
 */
#pragma once

#include "images/cpu/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPT_TOKENS 256

struct gpt_shape {
	uint32_t layers;
	uint32_t hidden; /* a multiple of heads */
	uint32_t heads;
	uint32_t sequence; /* tokens of one sample */
};

struct gpt_tensor {
	char name[24];
	size_t offset; /* floats from the first parameter */
	size_t size;   /* floats */
	bool decay;    /* a matrix: weight decay applies */
};

/* The order of the tensors: two tables, GPT_LAYER_TENSORS for each layer, and
 * gain and bias of the last norm. A matrix is stored with its inputs as rows
 * (hidden x 3 hidden for GPT_QKV) and its bias follows it.
 */
enum { GPT_TOKEN_TABLE, GPT_POSITIONS, GPT_FIRST_LAYER };

enum gpt_layer_tensor {
	GPT_NORM1_GAIN,
	GPT_NORM1_BIAS,
	GPT_QKV,
	GPT_QKV_BIAS,
	GPT_PROJECT,
	GPT_PROJECT_BIAS,
	GPT_NORM2_GAIN,
	GPT_NORM2_BIAS,
	GPT_EXPAND,
	GPT_EXPAND_BIAS,
	GPT_REDUCE,
	GPT_REDUCE_BIAS,
	GPT_LAYER_TENSORS,
};

/* All parameters lie in one array; the seed alone sets them. */
struct gpt;
struct gpt *gpt_new(const struct gpt_shape *shape, uint64_t seed,
		    struct failure *failure);
void gpt_free(struct gpt *gpt);

const struct gpt_shape *gpt_shape(const struct gpt *gpt);
size_t gpt_parameter_count(const struct gpt *gpt);
float *gpt_parameters(struct gpt *gpt);
size_t gpt_tensor_count(const struct gpt *gpt);
const struct gpt_tensor *gpt_tensor(const struct gpt *gpt, size_t index);
const float *gpt_values(const struct gpt *gpt, size_t tensor);
