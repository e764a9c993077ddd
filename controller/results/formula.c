/* formula.c - records to rates: the only place where figures are scaled.
 */
#include "controller/results/formula.h"

#include <math.h>

double formula_tokens_per_second(uint64_t global_batch, uint32_t sequence,
				 double iteration_ms)
{
	if (!global_batch || !sequence || !(iteration_ms > 0))
		return NAN;
	return (double)global_batch * sequence / (iteration_ms / 1000);
}

double formula_tokens_from_samples(double samples_per_second, uint32_t sequence)
{
	return sequence && samples_per_second > 0
		       ? samples_per_second * sequence
		       : NAN;
}

double formula_per_device(double tokens_per_second, uint64_t devices)
{
	return devices ? tokens_per_second / (double)devices : NAN;
}

double formula_mfu_6n(double tokens_per_second_per_device, double parameters,
		      double peak_flops)
{
	if (!(parameters > 0) || !(peak_flops > 0))
		return NAN;
	return 6 * parameters * tokens_per_second_per_device / peak_flops;
}
