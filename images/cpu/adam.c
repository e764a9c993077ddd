/* adam.c - the AdamW optimizer with a limit on the gradients' norm. */
#include "images/cpu/adam.h"

#include <math.h>

#define BETA1 0.9
#define BETA2 0.95
#define DECAY 0.1f
#define NORM_MAX 1.0
#define WARM_UP 10

struct adam {
	uint64_t steps;
	float *mean;
	float *square;
};

struct adam *adam_new(const struct gpt *gpt, struct failure *failure)
{
	struct adam *adam = calloc(1, sizeof(*adam));

	if (adam) {
		adam->mean = calloc(gpt_parameter_count(gpt), sizeof(float));
		adam->square = calloc(gpt_parameter_count(gpt), sizeof(float));
	}
	if (!adam || !adam->mean || !adam->square) {
		failure_set(failure, "out of memory for the optimizer");
		adam_free(adam);
		return NULL;
	}
	return adam;
}

void adam_free(struct adam *adam)
{
	if (!adam)
		return;
	free(adam->mean);
	free(adam->square);
	free(adam);
}

static float norm_factor(const float *gradients, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (double)gradients[i] * (double)gradients[i];
	return sum > NORM_MAX * NORM_MAX ? (float)(NORM_MAX / sqrt(sum)) : 1;
}

void adam_step(struct adam *adam, struct gpt *gpt, float *gradients,
	       float learning_rate)
{
	float factor = norm_factor(gradients, gpt_parameter_count(gpt));
	double step = (double)++adam->steps;
	float warm = step < WARM_UP ? (float)(step / WARM_UP) : 1;
	float rate = learning_rate * warm;
	float mean_factor = (float)(1 / (1 - pow(BETA1, step)));
	float square_factor = (float)(1 / (1 - pow(BETA2, step)));

	for (size_t n = 0; n < gpt_tensor_count(gpt); n++) {
		const struct gpt_tensor *tensor = gpt_tensor(gpt, n);
		float *value = gpt_parameters(gpt) + tensor->offset;
		float *mean = adam->mean + tensor->offset;
		float *square = adam->square + tensor->offset;
		float *gradient = gradients + tensor->offset;
		float keep = tensor->decay ? 1 - rate * DECAY : 1;

		for (size_t i = 0; i < tensor->size; i++) {
			float g = gradient[i] *= factor;

			mean[i] =
				(float)BETA1 * mean[i] + (float)(1 - BETA1) * g;
			square[i] = (float)BETA2 * square[i] +
				    (float)(1 - BETA2) * g * g;
			value[i] = value[i] * keep -
				   rate * mean[i] * mean_factor /
					   (sqrtf(square[i] * square_factor) +
					    1e-8f);
		}
	}
}
