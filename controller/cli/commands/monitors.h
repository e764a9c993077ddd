/* monitors.h - what was sampled beside a job, as FlagPerf's monitors log it.
 *
 *	{cpu,mem,pwr}_monitor.log	a time, a tab, a share of 1 or watts
 *	<vendor>_monitor.log		a time, a line for each device, a blank
 *					line; how a line looks differs between
 *					vendors and suites (`monitors` in
 *					flagperf.yaml)
 *
 * Times are UTC. The vendor's file is only there when devices were sampled.
 */
#ifndef CONTROLLER_CLI_COMMANDS_MONITORS_H
#define CONTROLLER_CLI_COMMANDS_MONITORS_H

#include "controller/cli/calls.h"
#include "protocol/yaml/value.h"

#include <cjson/cJSON.h>

/* The samples of one node of a job, and where they go. */
struct monitored {
	uint64_t job;
	uint32_t attempt;
	uint32_t node;           /* its rank */
	const char *vendor;      /* "": none */
	const char *suite;       /* of flagperf.yaml */
	double memory_mib;       /* of the node; 0: not known */
	const char *folder;      /* is there */
	const struct value *how; /* `monitors` of flagperf.yaml */
	/* NULL, or an object to fill as FlagPerf's analysis of these logs does:
	 * {"cpu": [], "mem": [], "pwr": [], "vendor": {"temp": {"0": []},
	 * "power": {}, "mem": {}, "max_mem": 65536}}
	 */
	cJSON *detail;
};

/* ENOENT: there are no samples of it. */
int monitors_write(struct client *client, const struct monitored *monitored,
		   struct error *err);

#endif
