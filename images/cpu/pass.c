/* pass.c - a GPT's loss over some sequences, and its gradients. */
#include "images/cpu/pass.h"
#include "images/cpu/layers.h"
#include "images/cpu/matrix.h"

#include <math.h>

/* What the backward pass needs of a layer; N = batch * sequence rows. */
struct layer_work {
	float *in;       /* N x hidden */
	float *norm1;    /* N x hidden */
	float *stats1;   /* N x 2 */
	float *qkv;      /* N x 3 hidden */
	float *softmax;  /* batch x heads x sequence x sequence */
	float *attended; /* N x hidden */
	float *middle;   /* N x hidden: in + attention */
	float *norm2;    /* N x hidden */
	float *stats2;   /* N x 2 */
	float *expanded; /* N x 4 hidden */
	float *gelu;     /* N x 4 hidden */
};

struct pass {
	const struct gpt *gpt;
	struct matrix_room *room;
	size_t hidden;
	uint32_t batch; /* room for so many sequences */
	/* the pass under way: */
	uint32_t count;   /* its sequences */
	size_t rows;      /* count * sequence */
	float *gradients; /* or NULL */
	/* what it fills: */
	float *memory; /* all arrays of floats lie in it */
	struct layer_work *layers;
	float *out; /* N x hidden */
	float *norm;
	float *stats;
	float *logits;  /* N x 256 */
	float *d_out;   /* N x hidden: gradient of the residual stream */
	float *d_part;  /* N x hidden */
	float *d_wide;  /* N x 4 hidden */
	float *d_score; /* sequence x sequence */
	uint8_t *inputs;
	uint8_t *targets;
};

/* Without memory only counts: the same walk measures and then places. */
static void place(float *memory, size_t *used, float **where, size_t size)
{
	if (memory)
		*where = memory + *used;
	*used += (size + 15) / 16 * 16;
}

static size_t pass_place(struct pass *pass, float *memory)
{
	const struct gpt_shape *shape = gpt_shape(pass->gpt);
	size_t n = (size_t)pass->batch * shape->sequence;
	size_t square = (size_t)shape->sequence * shape->sequence;
	size_t used = 0;

	for (size_t i = 0; i < shape->layers; i++) {
		struct layer_work *layer = &pass->layers[i];

		place(memory, &used, &layer->in, n * shape->hidden);
		place(memory, &used, &layer->norm1, n * shape->hidden);
		place(memory, &used, &layer->stats1, n * 2);
		place(memory, &used, &layer->qkv, n * 3 * shape->hidden);
		place(memory, &used, &layer->softmax,
		      n * shape->heads * shape->sequence);
		place(memory, &used, &layer->attended, n * shape->hidden);
		place(memory, &used, &layer->middle, n * shape->hidden);
		place(memory, &used, &layer->norm2, n * shape->hidden);
		place(memory, &used, &layer->stats2, n * 2);
		place(memory, &used, &layer->expanded, n * 4 * shape->hidden);
		place(memory, &used, &layer->gelu, n * 4 * shape->hidden);
	}
	place(memory, &used, &pass->out, n * shape->hidden);
	place(memory, &used, &pass->norm, n * shape->hidden);
	place(memory, &used, &pass->stats, n * 2);
	place(memory, &used, &pass->logits, n * GPT_TOKENS);
	place(memory, &used, &pass->d_out, n * shape->hidden);
	place(memory, &used, &pass->d_part, n * shape->hidden);
	place(memory, &used, &pass->d_wide, n * 4 * shape->hidden);
	place(memory, &used, &pass->d_score, square);
	return used;
}

struct pass *pass_new(const struct gpt *gpt, uint32_t batch,
		      struct failure *failure)
{
	struct pass *pass = calloc(1, sizeof(*pass));
	size_t n = (size_t)batch * gpt_shape(gpt)->sequence;
	size_t size = 0;

	if (pass) {
		pass->gpt = gpt;
		pass->hidden = gpt_shape(gpt)->hidden;
		pass->batch = batch;
		pass->layers =
			calloc(gpt_shape(gpt)->layers, sizeof(*pass->layers));
		pass->room = matrix_room_new(false);
		pass->inputs = calloc(2, n);
	}
	if (pass && pass->layers && pass->room && pass->inputs) {
		pass->targets = pass->inputs + n;
		size = pass_place(pass, NULL);
		pass->memory = calloc(size, sizeof(*pass->memory));
	}
	if (!pass || !pass->memory) {
		failure_set(failure,
			    "out of memory: a pass over %u sequences needs "
			    "%zu MiB",
			    batch, size * sizeof(float) >> 20);
		pass_free(pass);
		return NULL;
	}
	pass_place(pass, pass->memory);
	return pass;
}

void pass_free(struct pass *pass)
{
	if (!pass)
		return;
	free(pass->memory);
	free(pass->inputs);
	matrix_room_free(pass->room);
	free(pass->layers);
	free(pass);
}

static const float *value_of(const struct pass *pass, size_t tensor)
{
	return gpt_values(pass->gpt, tensor);
}

static float *gradient_of(const struct pass *pass, size_t tensor)
{
	return pass->gradients + gpt_tensor(pass->gpt, tensor)->offset;
}

static size_t in_layer(size_t layer, enum gpt_layer_tensor tensor)
{
	return GPT_FIRST_LAYER + layer * GPT_LAYER_TENSORS + tensor;
}

static struct matrix plain(const float *data, size_t stride)
{
	return (struct matrix){ data, stride, false };
}

static struct matrix turned(const float *data, size_t stride)
{
	return (struct matrix){ data, stride, true };
}

/* out = in W + b (or out += ...), W being inner x outer. */
static void linear_forward(const struct pass *pass, size_t tensor,
			   const float *in, size_t inner, float *out,
			   size_t outer, bool add)
{
	matrix_multiply(pass->room, pass->rows, outer, inner, plain(in, inner),
			plain(value_of(pass, tensor), outer), out, outer, add);
	bias_forward(out, value_of(pass, tensor + 1), pass->rows, outer);
}

static void linear_backward(const struct pass *pass, size_t tensor,
			    const float *in, size_t inner, const float *d_out,
			    size_t outer, float *d_in)
{
	matrix_multiply(pass->room, inner, outer, pass->rows, turned(in, inner),
			plain(d_out, outer), gradient_of(pass, tensor), outer,
			true);
	bias_backward(d_out, gradient_of(pass, tensor + 1), pass->rows, outer);
	matrix_multiply(pass->room, pass->rows, inner, outer,
			plain(d_out, outer),
			turned(value_of(pass, tensor), outer), d_in, inner,
			false);
}

/* The parts of one head of one sequence inside the joint arrays. */
struct head {
	size_t size;              /* of a head */
	size_t first;             /* row of the sequence */
	size_t query, key, value; /* floats into qkv */
	size_t softmax;           /* floats into softmax */
	float scale;
};

static struct head head_find(const struct pass *pass, size_t sequence,
			     size_t index)
{
	const struct gpt_shape *shape = gpt_shape(pass->gpt);
	struct head head = { .size = shape->hidden / shape->heads };
	size_t square = (size_t)shape->sequence * shape->sequence;

	head.first = sequence * shape->sequence;
	head.query = head.first * 3 * shape->hidden + index * head.size;
	head.key = head.query + shape->hidden;
	head.value = head.key + shape->hidden;
	head.softmax = (sequence * shape->heads + index) * square;
	head.scale = 1 / sqrtf((float)head.size);
	return head;
}

static void attention_forward(const struct pass *pass,
			      const struct layer_work *layer)
{
	size_t t = gpt_shape(pass->gpt)->sequence, hidden = pass->hidden;
	size_t heads = gpt_shape(pass->gpt)->heads;
	struct matrix_room *room = pass->room;

	for (size_t i = 0; i < pass->count * heads; i++) {
		struct head head = head_find(pass, i / heads, i % heads);
		const float *query = layer->qkv + head.query;
		const float *key = layer->qkv + head.key;
		const float *value = layer->qkv + head.value;
		float *softmax = layer->softmax + head.softmax;

		matrix_multiply(room, t, t, head.size, plain(query, 3 * hidden),
				turned(key, 3 * hidden), softmax, t, false);
		causal_softmax_forward(softmax, t, head.scale);
		matrix_multiply(room, t, head.size, t, plain(softmax, t),
				plain(value, 3 * hidden),
				layer->attended + head.first * hidden +
					i % heads * head.size,
				hidden, false);
	}
}

/* d_attended to d_qkv, both N rows. */
static void attention_backward(const struct pass *pass,
			       const struct layer_work *layer,
			       const float *d_attended, float *d_qkv)
{
	size_t t = gpt_shape(pass->gpt)->sequence, hidden = pass->hidden;
	size_t heads = gpt_shape(pass->gpt)->heads, wide = 3 * hidden;
	struct matrix_room *room = pass->room;
	float *d_score = pass->d_score;

	for (size_t i = 0; i < pass->count * heads; i++) {
		struct head head = head_find(pass, i / heads, i % heads);
		const float *softmax = layer->softmax + head.softmax;
		const float *d_out = d_attended + head.first * hidden +
				     i % heads * head.size;

		matrix_multiply(room, t, head.size, t, turned(softmax, t),
				plain(d_out, hidden), d_qkv + head.value, wide,
				false);
		matrix_multiply(room, t, t, head.size, plain(d_out, hidden),
				turned(layer->qkv + head.value, wide), d_score,
				t, false);
		causal_softmax_backward(softmax, d_score, t, head.scale);
		matrix_multiply(room, t, head.size, t, plain(d_score, t),
				plain(layer->qkv + head.key, wide),
				d_qkv + head.query, wide, false);
		matrix_multiply(room, t, head.size, t, turned(d_score, t),
				plain(layer->qkv + head.query, wide),
				d_qkv + head.key, wide, false);
	}
}

static void layer_forward(const struct pass *pass, size_t index, float *out)
{
	struct layer_work *layer = &pass->layers[index];
	size_t rows = pass->rows, hidden = pass->hidden;
	size_t first = in_layer(index, GPT_NORM1_GAIN);

	norm_forward(layer->in, value_of(pass, first + GPT_NORM1_GAIN),
		     value_of(pass, first + GPT_NORM1_BIAS), layer->norm1,
		     layer->stats1, rows, hidden);
	linear_forward(pass, first + GPT_QKV, layer->norm1, hidden, layer->qkv,
		       3 * hidden, false);
	attention_forward(pass, layer);
	memcpy(layer->middle, layer->in, rows * hidden * sizeof(float));
	linear_forward(pass, first + GPT_PROJECT, layer->attended, hidden,
		       layer->middle, hidden, true);
	norm_forward(layer->middle, value_of(pass, first + GPT_NORM2_GAIN),
		     value_of(pass, first + GPT_NORM2_BIAS), layer->norm2,
		     layer->stats2, rows, hidden);
	linear_forward(pass, first + GPT_EXPAND, layer->norm2, hidden,
		       layer->expanded, 4 * hidden, false);
	gelu_forward(layer->expanded, layer->gelu, rows * 4 * hidden);
	memcpy(out, layer->middle, rows * hidden * sizeof(float));
	linear_forward(pass, first + GPT_REDUCE, layer->gelu, 4 * hidden, out,
		       hidden, true);
}

/* pass->d_out: gradient of the layer's output, then of its input. */
static void layer_backward(const struct pass *pass, size_t index)
{
	struct layer_work *layer = &pass->layers[index];
	size_t rows = pass->rows, hidden = pass->hidden;
	size_t first = in_layer(index, GPT_NORM1_GAIN);

	linear_backward(pass, first + GPT_REDUCE, layer->gelu, 4 * hidden,
			pass->d_out, hidden, pass->d_wide);
	gelu_backward(layer->expanded, pass->d_wide, rows * 4 * hidden);
	linear_backward(pass, first + GPT_EXPAND, layer->norm2, hidden,
			pass->d_wide, 4 * hidden, pass->d_part);
	norm_backward(pass->d_part, layer->middle, layer->stats2,
		      value_of(pass, first + GPT_NORM2_GAIN),
		      gradient_of(pass, first + GPT_NORM2_GAIN),
		      gradient_of(pass, first + GPT_NORM2_BIAS), pass->d_out,
		      rows, hidden);
	linear_backward(pass, first + GPT_PROJECT, layer->attended, hidden,
			pass->d_out, hidden, pass->d_part);
	attention_backward(pass, layer, pass->d_part, pass->d_wide);
	linear_backward(pass, first + GPT_QKV, layer->norm1, hidden,
			pass->d_wide, 3 * hidden, pass->d_part);
	norm_backward(pass->d_part, layer->in, layer->stats1,
		      value_of(pass, first + GPT_NORM1_GAIN),
		      gradient_of(pass, first + GPT_NORM1_GAIN),
		      gradient_of(pass, first + GPT_NORM1_BIAS), pass->d_out,
		      rows, hidden);
}

static void embed_forward(const struct pass *pass, float *out)
{
	const float *tokens = value_of(pass, GPT_TOKEN_TABLE);
	const float *positions = value_of(pass, GPT_POSITIONS);

	for (size_t row = 0; row < pass->rows; row++) {
		size_t token = pass->inputs[row];
		size_t position = row % gpt_shape(pass->gpt)->sequence;

		for (size_t i = 0; i < pass->hidden; i++)
			out[row * pass->hidden + i] =
				tokens[token * pass->hidden + i] +
				positions[position * pass->hidden + i];
	}
}

static void embed_backward(const struct pass *pass, const float *d_out)
{
	float *tokens = gradient_of(pass, GPT_TOKEN_TABLE);
	float *positions = gradient_of(pass, GPT_POSITIONS);

	for (size_t row = 0; row < pass->rows; row++, d_out += pass->hidden) {
		size_t token = pass->inputs[row];
		size_t position = row % gpt_shape(pass->gpt)->sequence;

		for (size_t i = 0; i < pass->hidden; i++) {
			tokens[token * pass->hidden + i] += d_out[i];
			positions[position * pass->hidden + i] += d_out[i];
		}
	}
}

/* From the logits' gradients back to the last layer's output. */
static void head_backward(const struct pass *pass)
{
	size_t norm = gpt_tensor_count(pass->gpt) - 2, hidden = pass->hidden;

	matrix_multiply(pass->room, GPT_TOKENS, hidden, pass->rows,
			turned(pass->logits, GPT_TOKENS),
			plain(pass->norm, hidden),
			gradient_of(pass, GPT_TOKEN_TABLE), hidden, true);
	matrix_multiply(pass->room, pass->rows, hidden, GPT_TOKENS,
			plain(pass->logits, GPT_TOKENS),
			plain(value_of(pass, GPT_TOKEN_TABLE), hidden),
			pass->d_part, hidden, false);
	memset(pass->d_out, 0, pass->rows * hidden * sizeof(float));
	norm_backward(pass->d_part, pass->out, pass->stats,
		      value_of(pass, norm), gradient_of(pass, norm),
		      gradient_of(pass, norm + 1), pass->d_out, pass->rows,
		      hidden);
}

double pass_loss(struct pass *pass, const uint8_t *tokens, uint32_t count,
		 float scale, float *gradients)
{
	size_t t = gpt_shape(pass->gpt)->sequence;
	size_t layers = gpt_shape(pass->gpt)->layers;
	size_t norm = gpt_tensor_count(pass->gpt) - 2, hidden = pass->hidden;
	double loss;

	pass->count = count;
	pass->rows = count * t;
	pass->gradients = gradients;
	for (size_t i = 0; i < count; i++) {
		memcpy(pass->inputs + i * t, tokens + i * (t + 1), t);
		memcpy(pass->targets + i * t, tokens + i * (t + 1) + 1, t);
	}
	embed_forward(pass, pass->layers[0].in);
	for (size_t i = 0; i < layers; i++)
		layer_forward(pass, i,
			      i + 1 < layers ? pass->layers[i + 1].in
					     : pass->out);
	norm_forward(pass->out, value_of(pass, norm), value_of(pass, norm + 1),
		     pass->norm, pass->stats, pass->rows, hidden);
	matrix_multiply(pass->room, pass->rows, GPT_TOKENS, hidden,
			plain(pass->norm, hidden),
			turned(value_of(pass, GPT_TOKEN_TABLE), hidden),
			pass->logits, GPT_TOKENS, false);
	loss = cross_entropy(pass->logits, pass->targets, pass->rows,
			     GPT_TOKENS, scale);
	if (!gradients)
		return loss;
	head_backward(pass);
	for (size_t i = layers; i-- > 0;)
		layer_backward(pass, i);
	embed_backward(pass, pass->d_out);
	return loss;
}
