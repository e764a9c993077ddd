/* formula.c - computes rates: the only place where figures are scaled.
 */
#include "controller/results/formula.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define RECOMPUTED 2 /* FLOPs per parameter: one more forward pass */

const char *const formula_names[FORMULAS + 1] = { "6n", "palm", NULL };

/* clang-format off */
const char *const formula_stages[] = {
	"pretrain", "finetune", "projector", "frozen", "lora", "frozen-4n",
	"lora-4n", NULL,
};
static const double factors[] = { 6, 6, 2, 2, 2, 4, 4 };
/* clang-format on */

double formula_stage(const char *stage)
{
	for (size_t i = 0; formula_stages[i]; i++)
		if (!strcmp(formula_stages[i], stage))
			return factors[i];
	return 0;
}

double formula_tokens_per_second(uint64_t global_batch, uint32_t sequence,
				 double iteration_ms)
{
	return global_batch && sequence && iteration_ms > 0
		       ? (double)global_batch * sequence / (iteration_ms / 1000)
		       : NAN;
}

double formula_samples_per_second(uint64_t global_batch, double iteration_ms)
{
	return global_batch && iteration_ms > 0
		       ? (double)global_batch / (iteration_ms / 1000)
		       : NAN;
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

double formula_over_devices(double tokens_per_second_per_device,
			    uint64_t devices)
{
	return devices ? tokens_per_second_per_device * (double)devices : NAN;
}

double formula_joules_per_token(double joules, double tokens)
{
	return joules > 0 && tokens > 0 ? joules / tokens : NAN;
}

static double flops_count(enum formula formula, const struct flops *flops,
			  double factor)
{
	double attention =
		2.0 * flops->layers * flops->hidden * (double)flops->sequence;

	if (!(flops->factor > 0) || !(flops->parameters > 0))
		return NAN;
	if (formula == FORMULA_6N)
		return factor * flops->parameters;
	return attention > 0 ? factor * (flops->parameters + attention) : NAN;
}

double formula_flops(enum formula formula, const struct flops *flops)
{
	return flops_count(formula, flops, flops->factor);
}

double formula_flops_recomputed(enum formula formula, const struct flops *flops)
{
	return flops_count(formula, flops, flops->factor + RECOMPUTED);
}

double formula_utilisation(double tokens_per_second_per_device,
			   double flops_per_token, double peak_flops)
{
	if (!(flops_per_token > 0) || !(peak_flops > 0))
		return NAN;
	return tokens_per_second_per_device * flops_per_token / peak_flops;
}
