/* layers.h - the parts of a transformer that are not matrix products.
 *
 * Each forward has its backward. Rows of `width` floats lie one after the
 * other. Gradients of parameters are added to what is there, gradients of
 * inputs too where the name of the argument ends in _add.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* row += bias for each row. */
void bias_forward(float *rows, const float *bias, size_t count, size_t width);
void bias_backward(const float *d_rows, float *d_bias, size_t count,
		   size_t width);

/* out = (in - mean) / deviation * gain + bias; stats: 2 floats per row (mean,
 * 1 / deviation) that the backward pass needs.
 */
void norm_forward(const float *in, const float *gain, const float *bias,
		  float *out, float *stats, size_t count, size_t width);
void norm_backward(const float *d_out, const float *in, const float *stats,
		   const float *gain, float *d_gain, float *d_bias,
		   float *d_in_add, size_t count, size_t width);

/* GELU in its tanh form, x sigmoid(1.5957691 (x + 0.044715 x^3)). Backward:
 * d *= its derivative at in.
 */
void gelu_forward(const float *in, float *out, size_t count);
void gelu_backward(const float *in, float *d, size_t count);

/* scores: size x size, row t may look at columns 0 .. t. In place: softmax of
 * `scale` times those, zero for the rest. Backward: d (of the softmax) becomes
 * the gradient of the scores before scaling.
 */
void causal_softmax_forward(float *scores, size_t size, float scale);
void causal_softmax_backward(const float *softmax, float *d, size_t size,
			     float scale);

/* Mean cross entropy's parts: the sum over rows of -log softmax(row)[target];
 * logits become the gradient of that sum times `scale`.
 */
double cross_entropy(float *logits, const uint8_t *targets, size_t count,
		     size_t width, float scale);
