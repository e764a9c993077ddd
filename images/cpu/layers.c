/* layers.c - the parts of a transformer that are not matrix products. */
#include "images/cpu/layers.h"

#include <math.h>

union bits {
	float value;
	int32_t bits;
};

/* e^x within 3e-7 relative, for |x| <= 87 (beyond: the values there). expf()
 * would be a call per number; this has no branch, so that a loop over it
 * becomes vector code. x = n log 2 + r, e^r by its series to r^6.
 */
static inline float exponential(float x)
{
	const float log2e = 1.44269504f;
	const float high = 0.693359375f, low = -2.12194440e-4f;
	const union bits limit = { .value = 87 };
	union bits part = { .value = x };
	int32_t sign = part.bits & INT32_MIN, size = part.bits & INT32_MAX;
	float n, r, sum;

	/* Floats without sign are ordered as their bits; a comparison of the
	 * floats themselves would be a branch, as it may trap.
	 */
	size = size < limit.bits ? size : limit.bits;
	part.bits = sign | size;
	x = part.value;
	/* Rounds to an integer: beyond 2^23 a float has no fraction. */
	n = (x * log2e + 12582912.0f) - 12582912.0f;
	r = x - n * high - n * low;
	sum = 1 / 720.0f;
	sum = sum * r + 1 / 120.0f;
	sum = sum * r + 1 / 24.0f;
	sum = sum * r + 1 / 6.0f;
	sum = sum * r + 0.5f;
	sum = sum * r + 1;
	sum = sum * r + 1;
	part.bits = ((int32_t)n + 127) * (1 << 23);
	return sum * part.value;
}

/* Sums in eight lanes, which the compiler may keep in a vector; a plain sum it
 * must take one by one.
 */
enum { LANES = 8 };

static float lanes_sum(const float *lanes)
{
	return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
	       ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

static float row_sum(const float *row, size_t width)
{
	float lanes[LANES] = { 0 };
	size_t i = 0;

	for (; i + LANES <= width; i += LANES) {
		for (size_t j = 0; j < LANES; j++)
			lanes[j] += row[i + j];
	}
	for (; i < width; i++)
		lanes[0] += row[i];
	return lanes_sum(lanes);
}

static float row_dot(const float *a, const float *b, size_t width)
{
	float lanes[LANES] = { 0 };
	size_t i = 0;

	for (; i + LANES <= width; i += LANES) {
		for (size_t j = 0; j < LANES; j++)
			lanes[j] += a[i + j] * b[i + j];
	}
	for (; i < width; i++)
		lanes[0] += a[i] * b[i];
	return lanes_sum(lanes);
}

static float row_max(const float *row, size_t width)
{
	float max = row[0];

	for (size_t i = 1; i < width; i++)
		max = row[i] > max ? row[i] : max;
	return max;
}

void bias_forward(float *rows, const float *bias, size_t count, size_t width)
{
	for (; count > 0; count--, rows += width) {
		for (size_t i = 0; i < width; i++)
			rows[i] += bias[i];
	}
}

void bias_backward(const float *d_rows, float *d_bias, size_t count,
		   size_t width)
{
	for (; count > 0; count--, d_rows += width) {
		for (size_t i = 0; i < width; i++)
			d_bias[i] += d_rows[i];
	}
}

void norm_forward(const float *in, const float *gain, const float *bias,
		  float *out, float *stats, size_t count, size_t width)
{
	for (; count > 0; count--, in += width, out += width, stats += 2) {
		float mean = row_sum(in, width) / (float)width;
		float factor;

		for (size_t i = 0; i < width; i++)
			out[i] = in[i] - mean;
		factor = 1 /
			 sqrtf(row_dot(out, out, width) / (float)width + 1e-5f);
		for (size_t i = 0; i < width; i++)
			out[i] = out[i] * factor * gain[i] + bias[i];
		stats[0] = mean;
		stats[1] = factor;
	}
}

static void norm_backward_row(const float *d_out, const float *in,
			      const float *stats, const float *gain,
			      float *d_gain, float *d_bias, float *d_in_add,
			      size_t width)
{
	float mean = stats[0], factor = stats[1];
	float sums[LANES] = { 0 }, dots[LANES] = { 0 };
	float sum, dot;

	for (size_t i = 0; i < width; i++) {
		float normal = (in[i] - mean) * factor;

		d_gain[i] += d_out[i] * normal;
		d_bias[i] += d_out[i];
	}
	for (size_t i = 0; i < width; i++) {
		float d = d_out[i] * gain[i];

		sums[i % LANES] += d;
		dots[i % LANES] += d * (in[i] - mean) * factor;
	}
	sum = lanes_sum(sums) / (float)width;
	dot = lanes_sum(dots) / (float)width;
	for (size_t i = 0; i < width; i++) {
		float normal = (in[i] - mean) * factor;

		d_in_add[i] +=
			factor * (d_out[i] * gain[i] - sum - normal * dot);
	}
}

void norm_backward(const float *d_out, const float *in, const float *stats,
		   const float *gain, float *d_gain, float *d_bias,
		   float *d_in_add, size_t count, size_t width)
{
	for (size_t row = 0; row < count; row++)
		norm_backward_row(d_out + row * width, in + row * width,
				  stats + row * 2, gain, d_gain, d_bias,
				  d_in_add + row * width, width);
}

#define GELU_SCALE 1.59576912f /* 2 sqrt(2 / pi) */
#define GELU_CUBE 0.044715f

void gelu_forward(const float *in, float *out, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		float x = in[i];
		float u = GELU_SCALE * (x + GELU_CUBE * x * x * x);

		out[i] = x / (1 + exponential(-u));
	}
}

void gelu_backward(const float *in, float *d, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		float x = in[i];
		float u = GELU_SCALE * (x + GELU_CUBE * x * x * x);
		float du = GELU_SCALE * (1 + 3 * GELU_CUBE * x * x);
		float sigmoid = 1 / (1 + exponential(-u));

		d[i] *= sigmoid + x * sigmoid * (1 - sigmoid) * du;
	}
}

void causal_softmax_forward(float *scores, size_t size, float scale)
{
	for (size_t t = 0; t < size; t++, scores += size) {
		float max = row_max(scores, t + 1);
		float factor;

		for (size_t i = 0; i <= t; i++)
			scores[i] = exponential((scores[i] - max) * scale);
		factor = 1 / row_sum(scores, t + 1);
		for (size_t i = 0; i <= t; i++)
			scores[i] *= factor;
		for (size_t i = t + 1; i < size; i++)
			scores[i] = 0;
	}
}

void causal_softmax_backward(const float *softmax, float *d, size_t size,
			     float scale)
{
	for (size_t t = 0; t < size; t++, softmax += size, d += size) {
		float dot = row_dot(softmax, d, t + 1);

		/* Beyond t the softmax is 0, and so is the product. */
		for (size_t i = 0; i < size; i++)
			d[i] = softmax[i] * (d[i] - dot) * scale;
	}
}

double cross_entropy(float *logits, const uint8_t *targets, size_t count,
		     size_t width, float scale)
{
	double loss = 0;

	for (size_t row = 0; row < count; row++, logits += width) {
		float max = row_max(logits, width);
		float target = logits[targets[row]] - max;
		float sum, factor;

		for (size_t i = 0; i < width; i++)
			logits[i] = exponential(logits[i] - max);
		sum = row_sum(logits, width);
		loss += log((double)sum) - (double)target;
		factor = scale / sum;
		for (size_t i = 0; i < width; i++)
			logits[i] *= factor;
		logits[targets[row]] -= scale;
	}
	return loss;
}
