/* rate.c - how fast a job trains, in the one unit that its output allows. */
#include "protocol/message/rate.h"

#include <math.h>

const char *const rate_units[RATE_UNITS + 1] = {
	[RATE_NONE] = "",
	[RATE_TOKENS] = "token/p/s",
	[RATE_SAMPLES] = "sample/p/s",
	[RATE_STEPS] = "step/s",
};

static bool rate_known(double value)
{
	return isfinite(value) && value > 0;
}

struct rate rate_of(double tokens_per_device, double samples, uint64_t devices,
		    double steps)
{
	if (rate_known(tokens_per_device))
		return (struct rate){ tokens_per_device, RATE_TOKENS };
	if (rate_known(samples) && devices)
		return (struct rate){ samples / (double)devices, RATE_SAMPLES };
	if (rate_known(steps))
		return (struct rate){ steps, RATE_STEPS };
	return (struct rate){ (double)NAN, RATE_NONE };
}

struct rate result_rate(const struct result *result)
{
	const struct step_spread *step = result ? result->iteration_ms : NULL;

	if (!result)
		return rate_of(0, 0, 0, 0);
	return rate_of(result->tokens_per_second_per_device,
		       result->samples_per_second, result->inputs.devices,
		       step && step->median > 0 ? 1000 / step->median : 0);
}
