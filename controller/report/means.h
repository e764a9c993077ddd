/* means.h - the mean of repeats: how well it is known, and what differs.
 *
 * All intervals are of 95 %, by Student's t; two means are compared as Welch
 * does, whose degrees of freedom are rounded down, so that no difference is
 * claimed too early.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* All zero: of nothing. */
struct mean {
	uint64_t n;
	double value;
	double squares; /* sum of squared differences to the mean */
	double min, max;
};

void mean_add(struct mean *mean, double number);

/* The standard deviation; the same in percent of the mean; half the width of
 * the mean's interval. NAN: fewer than two values.
 */
double mean_deviation(const struct mean *mean);
double mean_cv_percent(const struct mean *mean);
double mean_margin(const struct mean *mean);

/* The number with twelve digits, so that what follows from stored numbers (of
 * fifteen digits) and from computed ones is the same.
 */
double mean_rounded(double number);

/* a over b, with its interval by the delta method on the logarithm; low and
 * high are NAN if one has fewer than two values.
 */
struct ratio {
	double value, low, high;
};
struct ratio mean_ratio(const struct mean *a, const struct mean *b);

/* Is the difference more than chance? Both have two or more values. */
bool mean_differs(const struct mean *a, const struct mean *b);

/* The smallest difference of two means of n values each that can be told, as a
 * share of the mean, where single values vary by this share of it.
 */
double mean_resolution(double cv, uint64_t n);

/* How many values each mean needs to tell this difference; 0: more than
 * MEAN_RUNS_MAX.
 */
#define MEAN_RUNS_MAX 1000
uint64_t mean_runs(double cv, double difference);

/* How many values one mean needs so that half its interval is at most this;
 * deviation: of single values. 0: more than MEAN_RUNS_MAX.
 */
uint64_t mean_runs_alone(double deviation, double margin);
