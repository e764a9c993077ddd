/* t_quantile.c - computes the precision of a mean of few values, by Student's
 * t.
 */
#include "controller/results/t_quantile.h"

#include <math.h>

#define FREEDOM_MAX 10000
#define HALVINGS 60 /* of a right angle, to the precision of a double */

/* The probability of |t| <= sqrt(freedom) tan(angle). */
static double angle_probability(double angle, uint32_t freedom)
{
	double c = cos(angle), sum = 0, term = 1;

	if (freedom % 2 == 0) {
		for (uint32_t i = 0; i < freedom; i += 2) {
			sum += term;
			term *= c * c * (i + 1) / (i + 2);
		}
		return sin(angle) * sum;
	}
	term = c;
	for (uint32_t i = 1; i < freedom; i += 2) {
		sum += term;
		term *= c * c * (i + 1) / (i + 2);
	}
	return M_2_PI * (angle + sin(angle) * sum);
}

double t_quantile(double probability, uint32_t freedom)
{
	double low = 0, high = M_PI_2;

	if (freedom > FREEDOM_MAX)
		freedom = FREEDOM_MAX;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (angle_probability(middle, freedom) < probability)
			low = middle;
		else
			high = middle;
	}
	return sqrt(freedom) * tan(low);
}

struct mean_known mean_known(const double *values, size_t count,
			     double confidence)
{
	struct mean_known known = { .n = count,
				    .stdev = NAN,
				    .half = INFINITY };
	double squares = 0;

	for (size_t i = 0; i < count; i++)
		known.mean += values[i] / (double)count;
	if (count < 2)
		return known;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - known.mean) * (values[i] - known.mean);
	known.stdev = sqrt(squares / (double)(count - 1));
	known.half = t_quantile(confidence, (uint32_t)count - 1) * known.stdev /
		     sqrt((double)count) / fabs(known.mean);
	return known;
}
