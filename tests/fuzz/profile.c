/* profile.c - any bytes as a vendor's profile: read and used, or refused.
 */
#include "protocol/hardware/device.h"
#include "protocol/hardware/processes.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a node without any device asks of it. */
static void use(const struct profile *profile, const char *text, size_t size)
{
	static const struct sysroot nowhere = { .dev = "/nowhere/dev",
						.sys = "/nowhere/sys",
						.proc = "/nowhere/proc" };
	owned(devices_clear) struct devices devices = { 0 };
	owned(process_rows_clear) struct process_rows processes = { 0 };
	owned(samples_clear) struct samples samples = { 0 };
	struct device_info device = { .bus_id = (char *)"0000:01:00.0" };
	owned(strings_clear) struct strings nodes = { 0 };
	char out[64], why[200];
	struct error err;

	profile_chip(profile, "20b2", "Acme A1");
	for (size_t i = 0; i < profile->driver_count; i++)
		if (profile->driver[i].match)
			expression_find(profile->driver[i].match, text, size,
					out, sizeof(out), &err);
	if (profile->processes.row)
		process_rows_read(&profile->processes, text, size, &processes,
				  &err);
	if (profile->monitor.sampler)
		sampler_read(profile->monitor.sampler, text, size, &samples,
			     &err);
	devices_find(profile, &nowhere, samples.rows ? &samples : NULL, NULL,
		     NULL, &devices, why, sizeof(why), &err);
	device_nodes(profile, NULL, &device, &nodes, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct error err = { 0 };
	owned(profile_free) struct profile *profile =
		profile_parse(text, size, "fuzz", &err);

	/* A refusal has a sentence. */
	if (!profile && (!err.code || !*err.text))
		abort();
	if (profile)
		use(profile, text, size);
	return 0;
}
