/* trainer_gradient_test.c - the CPU trainer's mathematics.
 *
 * Products against plain loops, gradients against central differences, and a
 * loss that falls.
 */
#include "images/cpu/adam.h"
#include "images/cpu/gpt.h"
#include "images/cpu/matrix.h"
#include "images/cpu/pass.h"
#include "images/cpu/random.h"
#include "tests/tap.h"

#include <math.h>

static void fill(float *data, size_t count, uint64_t *random)
{
	for (size_t i = 0; i < count; i++)
		data[i] = (float)random_normal(random);
}

static double at(struct matrix m, size_t row, size_t column)
{
	return (double)(m.transposed ? m.data[column * m.stride + row]
				     : m.data[row * m.stride + column]);
}

/* The largest difference from the plain product, and -1 when a float outside
 * of the result was written.
 */
static double product_error(struct matrix_room *room, const size_t *size,
			    bool a_turned, bool b_turned, bool add)
{
	enum { GAP = 3, KEEP = 777 };
	size_t rows = size[0], columns = size[1], depth = size[2];
	size_t a_stride = (a_turned ? rows : depth) + GAP;
	size_t b_stride = (b_turned ? depth : columns) + GAP;
	float *a = calloc((a_turned ? depth : rows) + 1, a_stride * 4);
	float *b = calloc((b_turned ? columns : depth) + 1, b_stride * 4);
	float *c = calloc(rows + 1, (columns + GAP) * 4);
	struct matrix ma = { a, a_stride, a_turned };
	struct matrix mb = { b, b_stride, b_turned };
	uint64_t random = rows + columns + depth;
	double worst = 0;

	fill(a, ((a_turned ? depth : rows) + 1) * a_stride, &random);
	fill(b, ((b_turned ? columns : depth) + 1) * b_stride, &random);
	for (size_t i = 0; i < (rows + 1) * (columns + GAP); i++)
		c[i] = KEEP;
	matrix_multiply(room, rows, columns, depth, ma, mb, c, columns + GAP,
			add);
	for (size_t i = 0; i < rows + 1; i++) {
		for (size_t j = 0; j < columns + GAP; j++) {
			double want = add ? KEEP : 0;
			double got = (double)c[i * (columns + GAP) + j];

			if (i == rows || j >= columns) {
				worst = got == KEEP ? worst : 1e9;
				continue;
			}
			for (size_t k = 0; k < depth; k++)
				want += at(ma, i, k) * at(mb, k, j);
			worst = fmax(worst, fabs(got - want));
		}
	}
	free(a);
	free(b);
	free(c);
	return worst;
}

static void test_products(bool plain)
{
	/* clang-format off */
	static const size_t sizes[][3] = {
		{ 1, 1, 1 }, { 6, 16, 8 }, { 5, 15, 7 }, { 7, 17, 9 },
		{ 64, 64, 64 }, { 121, 33, 257 }, { 130, 520, 20 },
		{ 13, 5, 600 }, { 3, 4, 0 },
	};
	/* clang-format on */
	struct matrix_room *room = matrix_room_new(plain);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int how = 0; how < 8; how++) {
			double worst = product_error(room, sizes[i], how & 1,
						     how & 2, how & 4);

			ok(worst < 2e-3,
			   "product %zu x %zu x %zu%s%s%s%s is right (%.1e)",
			   sizes[i][0], sizes[i][1], sizes[i][2],
			   how & 1 ? ", first turned" : "",
			   how & 2 ? ", second turned" : "",
			   how & 4 ? ", added" : "",
			   plain ? ", on any processor" : "", worst);
		}
	}
	matrix_room_free(room);
}

static const struct gpt_shape tiny = {
	.layers = 2,
	.hidden = 12,
	.heads = 3,
	.sequence = 9,
};
enum { BATCH = 3, TINY_BYTES = BATCH * 10 };

struct lab {
	struct gpt *gpt;
	struct pass *pass;
	uint8_t tokens[TINY_BYTES];
	float *gradients;
};

static void lab_init(struct lab *lab)
{
	struct failure failure = { 0 };
	uint64_t random = 5;
	float *value;

	lab->gpt = gpt_new(&tiny, 1, &failure);
	lab->pass = pass_new(lab->gpt, BATCH, &failure);
	lab->gradients = calloc(gpt_parameter_count(lab->gpt), sizeof(float));
	/* Away from the start, where biases are 0 and gains 1. */
	value = gpt_parameters(lab->gpt);
	for (size_t i = 0; i < gpt_parameter_count(lab->gpt); i++)
		value[i] += 0.2f * (float)random_normal(&random);
	for (size_t i = 0; i < TINY_BYTES; i++)
		lab->tokens[i] = (uint8_t)(random_next(&random) >> 60);
}

static void lab_clear(struct lab *lab)
{
	free(lab->gradients);
	pass_free(lab->pass);
	gpt_free(lab->gpt);
}

static double loss(struct lab *lab)
{
	return pass_loss(lab->pass, lab->tokens, BATCH, 1, NULL);
}

/* The slope of the loss along `direction` (length 1) by a central difference
 * with Richardson's correction; `saved` holds the tensor's values.
 */
static double slope(struct lab *lab, const struct gpt_tensor *tensor,
		    const float *saved, const double *direction)
{
	static const double steps[2] = { 2e-2, 4e-2 };
	float *value = gpt_parameters(lab->gpt) + tensor->offset;
	double slopes[2];

	for (int s = 0; s < 2; s++) {
		double sides[2];

		for (int side = 0; side < 2; side++) {
			double step = side ? -steps[s] : steps[s];

			for (size_t i = 0; i < tensor->size; i++)
				value[i] = (float)((double)saved[i] +
						   step * direction[i]);
			sides[side] = loss(lab);
		}
		slopes[s] = (sides[0] - sides[1]) / (2 * steps[s]);
	}
	memcpy(value, saved, tensor->size * sizeof(float));
	return (4 * slopes[0] - slopes[1]) / 3;
}

/* Along the gradient the slope is its length: an error in any direction makes
 * the two differ. Random directions and the largest single numbers, too.
 */
static double tensor_error(struct lab *lab, const struct gpt_tensor *tensor,
			   uint64_t *random)
{
	const float *gradient = lab->gradients + tensor->offset;
	double *direction = calloc(tensor->size, sizeof(double));
	float *saved = malloc(tensor->size * sizeof(float));
	double length = 0, worst = 0;

	memcpy(saved, gpt_parameters(lab->gpt) + tensor->offset,
	       tensor->size * sizeof(float));
	for (size_t i = 0; i < tensor->size; i++)
		length += (double)gradient[i] * (double)gradient[i];
	length = sqrt(length);
	for (int kind = 0; kind < 8; kind++) {
		double norm = 0, want = 0;

		for (size_t i = 0; i < tensor->size; i++) {
			direction[i] = kind == 0  ? (double)gradient[i]
				       : kind < 4 ? random_normal(random)
						  : 0;
		}
		if (kind >= 4)
			direction[random_next(random) % tensor->size] = 1;
		for (size_t i = 0; i < tensor->size; i++)
			norm += direction[i] * direction[i];
		for (size_t i = 0; i < tensor->size; i++) {
			direction[i] /= sqrt(norm);
			want += direction[i] * (double)gradient[i];
		}
		worst = fmax(worst,
			     fabs(slope(lab, tensor, saved, direction) - want));
	}
	free(direction);
	free(saved);
	return length > 0 ? worst / length : 1;
}

static void test_gradients(void)
{
	uint64_t random = 99;
	struct lab lab;
	double forward, both;

	lab_init(&lab);
	forward = loss(&lab);
	both = pass_loss(lab.pass, lab.tokens, BATCH, 1, lab.gradients);
	ok(forward == both, "the loss is the same with and without gradients");
	is_int((long long)gpt_tensor_count(lab.gpt), 2 + 2 * 12 + 2,
	       "each tensor of the model is in the table");
	for (size_t i = 0; i < gpt_tensor_count(lab.gpt); i++) {
		const struct gpt_tensor *tensor = gpt_tensor(lab.gpt, i);
		double error = tensor_error(&lab, tensor, &random);

		ok(error < 5e-4, "the gradient of %s is right (%.1e off)",
		   tensor->name, error);
	}
	lab_clear(&lab);
}

static void test_gradients_add_up(void)
{
	size_t count;
	struct lab lab;
	float *whole;
	double worst = 0, sum = 0;

	lab_init(&lab);
	count = gpt_parameter_count(lab.gpt);
	whole = calloc(count, sizeof(float));
	pass_loss(lab.pass, lab.tokens, BATCH, 0.5f, whole);
	for (uint32_t i = 0; i < BATCH; i++)
		sum += pass_loss(lab.pass, lab.tokens + (size_t)10 * i, 1, 0.5f,
				 lab.gradients);
	for (size_t i = 0; i < count; i++)
		worst = fmax(worst,
			     fabs((double)(whole[i] - lab.gradients[i])));
	ok(worst < 1e-4, "one pass of three sequences is three of one (%.1e)",
	   worst);
	ok(fabs(sum - loss(&lab)) < 1e-3, "in the loss, too");
	free(whole);
	lab_clear(&lab);
}

static void test_loss_falls(void)
{
	struct lab lab;
	struct failure failure = { 0 };
	struct adam *adam;
	double first, last = 0;

	lab_init(&lab);
	pass_free(lab.pass);
	gpt_free(lab.gpt);
	lab.gpt = gpt_new(&tiny, 3, &failure);
	lab.pass = pass_new(lab.gpt, BATCH, &failure);
	adam = adam_new(lab.gpt, &failure);
	first = loss(&lab) / (BATCH * 9);
	ok(fabs(first - log(GPT_TOKENS)) < 0.1,
	   "at first the model knows nothing (%.3f nats)", first);
	for (int i = 0; i < 100; i++) {
		memset(lab.gradients, 0,
		       gpt_parameter_count(lab.gpt) * sizeof(float));
		last = pass_loss(lab.pass, lab.tokens, BATCH,
				 1.0f / (BATCH * 9), lab.gradients) /
		       (BATCH * 9);
		adam_step(adam, lab.gpt, lab.gradients, 1e-2f);
	}
	ok(last < first / 2, "100 steps bring it down (%.3f)", last);
	adam_free(adam);
	lab_clear(&lab);
}

int main(void)
{
	tap_begin(60);
	test_products(false);
	test_products(true);
	test_gradients();
	test_gradients_add_up();
	test_loss_falls();
	return tap_done();
}
