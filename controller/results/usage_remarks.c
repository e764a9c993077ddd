/* usage_remarks.c - says what the samples of a job tell against its result.
 */
#include "controller/results/remarks.h"
#include "controller/results/steady.h"
#include "controller/results/straggler.h"
#include "controller/results/usage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLD 3               /* devices or nodes that are named one by one */
#define THROTTLED_PCT 1      /* of the steady state, from which it is told */
#define CLOCK_BELOW_PCT 5    /* below the median of the other devices */
#define POWER_SAMPLES_MIN 60 /* for the mean of a power */
#define RETRANSMITS_MIN 1000 /* a lossy network loses a few in any job */

static const char *node_or_mark(const char *node)
{
	return node ? node : "?";
}

static int remark_gaps(const struct usage_summary *usage, struct result *to,
		       struct error *err)
{
	size_t told = 0;

	for (size_t i = 0; i < usage->devices_count; i++) {
		const struct device_usage *device = &usage->devices[i];
		struct remark_said said = {
			.code = device->samples ? REMARK_NOT_SAMPLED
						: REMARK_NEVER_SAMPLED,
			.numbers = { device->device, device->gaps_s },
			.words = { node_or_mark(device->node) },
		};

		if (device->samples && !device->gaps)
			continue;
		if (told++ < TOLD &&
		    remark_add(&to->flags, &to->flags_count, &said, err) < 0)
			return -1;
	}
	if (told <= TOLD)
		return 0;
	return remark_add(&to->flags, &to->flags_count,
			  SAID(MORE_GAPS, .numbers = { (double)(told - TOLD) }),
			  err);
}

/* Numbers of a device that are told from a least value on. */
static const struct {
	enum remark_code code;
	size_t offset;
	double least;
} tellings[] = {
	{ REMARK_THROTTLED_THERMAL,
	  offsetof(struct device_usage, throttle_thermal_pct), THROTTLED_PCT },
	{ REMARK_THROTTLED_POWER,
	  offsetof(struct device_usage, throttle_power_pct), THROTTLED_PCT },
	{ REMARK_THROTTLED_OTHER,
	  offsetof(struct device_usage, throttle_other_pct), THROTTLED_PCT },
	{ REMARK_ECC_CORRECTED, offsetof(struct device_usage, ecc_corrected),
	  1 },
	{ REMARK_ECC_UNCORRECTED,
	  offsetof(struct device_usage, ecc_uncorrected), 1 },
	{ REMARK_LINK_ERRORS, offsetof(struct device_usage, link_errors), 1 },
	{ REMARK_REMAP_PENDING, offsetof(struct device_usage, remap_pending),
	  1 },
};

static int remark_more(size_t told, struct result *to, struct error *err)
{
	return told <= TOLD
		       ? 0
		       : remark_add(&to->flags, &to->flags_count,
				    SAID(MORE_ALIKE,
					 .numbers = { (double)(told - TOLD) }),
				    err);
}

static int remark_devices(const struct usage_summary *usage, size_t telling,
			  struct result *to, struct error *err)
{
	size_t told = 0;

	for (size_t i = 0; i < usage->devices_count; i++) {
		const struct device_usage *device = &usage->devices[i];
		double value = *(
			const double *)(const void *)((const char *)device +
						      tellings[telling].offset);
		struct remark_said said = {
			.code = tellings[telling].code,
			.numbers = { device->device, value, usage->steady_s },
			.words = { node_or_mark(device->node) },
		};

		if (!(value >= tellings[telling].least))
			continue;
		if (told++ < TOLD &&
		    remark_add(&to->flags, &to->flags_count, &said, err) < 0)
			return -1;
	}
	return remark_more(told, to, err);
}

/* The median clock of the other devices of the same name; NAN: there is none.
 * clocks has room for all devices.
 */
static double clock_of_others(const struct usage_summary *usage, size_t which,
			      double *clocks)
{
	const struct device_usage *one = &usage->devices[which];
	size_t count = 0;

	for (size_t i = 0; i < usage->devices_count; i++) {
		const struct device_usage *other = &usage->devices[i];

		if (i != which && isfinite(other->clock_steady_mhz) &&
		    !strcmp(node_or_mark(other->name), node_or_mark(one->name)))
			clocks[count++] = other->clock_steady_mhz;
	}
	sort_values(clocks, count);
	return count ? quantile(clocks, count, 0.5) : (double)NAN;
}

static int remark_clocks(const struct usage_summary *usage, struct result *to,
			 struct error *err)
{
	owned_free double *clocks =
		calloc(usage->devices_count + 1, sizeof(*clocks));
	size_t told = 0;

	if (!clocks)
		return error_nomem(err, "usage");
	for (size_t i = 0; i < usage->devices_count; i++) {
		const struct device_usage *device = &usage->devices[i];
		double others = clock_of_others(usage, i, clocks);
		double below = 100 * (1 - device->clock_steady_mhz / others);

		if (!(below >= CLOCK_BELOW_PCT))
			continue;
		if (told++ < TOLD &&
		    remark_add(&to->flags, &to->flags_count,
			       SAID(CLOCK_BELOW,
				    .numbers = { device->device, below },
				    .words = { node_or_mark(device->node) }),
			       err) < 0)
			return -1;
	}
	return remark_more(told, to, err);
}

static int remark_network(const struct usage_summary *usage,
			  enum remark_code code, size_t offset, double least,
			  struct result *to, struct error *err)
{
	size_t told = 0;

	for (size_t i = 0; i < usage->hosts_count; i++) {
		const char *host = (const char *)&usage->hosts[i];
		double value = *(const double *)(const void *)(host + offset);
		struct remark_said said = {
			.code = code,
			.numbers = { value },
			.words = { node_or_mark(usage->hosts[i].node) },
		};

		if (value >= least && told++ < TOLD &&
		    remark_add(&to->flags, &to->flags_count, &said, err) < 0)
			return -1;
	}
	return remark_more(told, to, err);
}

static int remark_straggler(const struct usage_summary *usage,
			    struct result *to, struct error *err)
{
	const struct straggler *of = usage->straggler;
	struct remark_said said;

	if (!of)
		return 0;
	said = (struct remark_said){
		.code = of->time_pct >= STRAGGLER_THROUGHOUT_PCT
				? REMARK_SLOWER
				: REMARK_SLOWER_AT_TIMES,
		.numbers = { of->slower_pct, (double)of->peers, of->power_pct,
			     of->time_pct },
		.words = { of->who },
	};
	return remark_add(&to->flags, &to->flags_count, &said, err);
}

static int remark_power(const struct usage_summary *usage, struct result *to,
			struct error *err)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < usage->devices_count; i++)
		if (usage->devices[i].power_samples < least)
			least = usage->devices[i].power_samples;
	if (!isfinite(usage->power_w) || !least || least >= POWER_SAMPLES_MIN)
		return 0;
	return remark_add(&to->flags, &to->flags_count,
			  SAID(FEW_POWER_SAMPLES,
			       .numbers = { (double)least, POWER_SAMPLES_MIN }),
			  err);
}

int usage_remarks(const struct usage_summary *usage, struct result *to,
		  struct error *err)
{
	for (size_t i = 0; i < usage->errors_count; i++) {
		const struct usage_error *error = &usage->errors[i];

		if (remark_add(&to->flags, &to->flags_count,
			       SAID(MONITOR,
				    .words = { node_or_mark(error->node),
					       node_or_mark(error->text) }),
			       err) < 0)
			return -1;
	}
	for (size_t i = 0; i < sizeof(tellings) / sizeof(tellings[0]); i++)
		if (remark_devices(usage, i, to, err) < 0)
			return -1;
	if (remark_clocks(usage, to, err) < 0 ||
	    remark_network(usage, REMARK_NET_ERRORS,
			   offsetof(struct host_usage, net_errors), 1, to,
			   err) < 0 ||
	    remark_network(usage, REMARK_NET_RETRANSMITS,
			   offsetof(struct host_usage, net_retransmits),
			   RETRANSMITS_MIN, to, err) < 0 ||
	    remark_straggler(usage, to, err) < 0 ||
	    remark_power(usage, to, err) < 0)
		return -1;
	return remark_gaps(usage, to, err);
}
