/* t_quantile.h - computes the precision of a mean of few values, by Student's
 * t.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The t that a variable of Student's distribution with so many degrees of
 * freedom (at least 1) lies within, +- t, with this probability (above 0, below
 * 1). Exact to at least 9 digits; above 10,000 degrees as for 10,000.
 * Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and
 * 26.7.4, the finite sums for whole degrees of freedom.
 */
double t_quantile(double probability, uint32_t freedom);

/* The mean of some values, with its confidence interval. */
struct mean_known {
	size_t n;
	double mean;
	double stdev; /* NaN below two values */
	double half;  /* half the width of the mean's confidence interval, as a
			 share of the mean; infinite below two values */
};

struct mean_known mean_known(const double *values, size_t count,
			     double confidence);
