/* means.c - the mean of repeats: how well it is known, and what differs. */
#include "controller/report/means.h"

#include "controller/results/t_quantile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PROBABILITY 0.95

void mean_add(struct mean *mean, double number)
{
	double before = mean->value;

	mean->min = mean->n ? fmin(mean->min, number) : number;
	mean->max = mean->n ? fmax(mean->max, number) : number;
	mean->n++;
	mean->value += (number - before) / (double)mean->n;
	mean->squares += (number - before) * (number - mean->value);
}

double mean_rounded(double number)
{
	char text[40];

	snprintf(text, sizeof(text), "%.12g", number);
	return strtod(text, NULL);
}

static double mean_variance(const struct mean *mean)
{
	return mean->n > 1 ? mean->squares / (double)(mean->n - 1)
			   : (double)NAN;
}

double mean_deviation(const struct mean *mean)
{
	return sqrt(mean_variance(mean));
}

double mean_cv_percent(const struct mean *mean)
{
	return mean_deviation(mean) / mean->value * 100;
}

double mean_margin(const struct mean *mean)
{
	if (mean->n < 2)
		return NAN;
	return t_quantile(PROBABILITY, (uint32_t)(mean->n - 1)) *
	       mean_deviation(mean) / sqrt((double)mean->n);
}

/* Student's quantile for a sum of the variances of two means. */
static double welch_quantile(double va, uint64_t na, double vb, uint64_t nb)
{
	double error = va + vb;
	double freedom =
		error * error /
		(va * va / (double)(na - 1) + vb * vb / (double)(nb - 1));

	return t_quantile(PROBABILITY, freedom < 1 ? 1 : (uint32_t)freedom);
}

bool mean_differs(const struct mean *a, const struct mean *b)
{
	double va = mean_variance(a) / (double)a->n;
	double vb = mean_variance(b) / (double)b->n;

	if (va + vb <= 0)
		return a->value != b->value;
	return fabs(a->value - b->value) >
	       welch_quantile(va, a->n, vb, b->n) * sqrt(va + vb);
}

struct ratio mean_ratio(const struct mean *a, const struct mean *b)
{
	struct ratio ratio = { a->value / b->value, NAN, NAN };
	double va, vb, margin = 0;

	if (a->n < 2 || b->n < 2)
		return ratio;
	va = mean_variance(a) / (double)a->n / (a->value * a->value);
	vb = mean_variance(b) / (double)b->n / (b->value * b->value);
	if (va + vb > 0)
		margin = welch_quantile(va, a->n, vb, b->n) * sqrt(va + vb);
	ratio.low = ratio.value * exp(-margin);
	ratio.high = ratio.value * exp(margin);
	return ratio;
}

double mean_resolution(double cv, uint64_t n)
{
	return n < 2 ? INFINITY
		     : t_quantile(PROBABILITY, (uint32_t)(2 * n - 2)) * cv *
			       sqrt(2 / (double)n);
}

uint64_t mean_runs(double cv, double difference)
{
	uint64_t n = 2;

	while (n <= MEAN_RUNS_MAX && !(mean_resolution(cv, n) <= difference))
		n++;
	return n > MEAN_RUNS_MAX ? 0 : n;
}

uint64_t mean_runs_alone(double deviation, double margin)
{
	uint64_t n = 2;

	while (n <= MEAN_RUNS_MAX &&
	       !(t_quantile(PROBABILITY, (uint32_t)(n - 1)) * deviation /
			 sqrt((double)n) <=
		 margin))
		n++;
	return n > MEAN_RUNS_MAX ? 0 : n;
}
