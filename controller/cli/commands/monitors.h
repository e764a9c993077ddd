/* monitors.h - writes the samples of a job in the format of FlagPerf's monitor
 * logs.
 *
 *	{cpu,mem,pwr}_monitor.log	a time, a tab, a fraction or watts
 *	<vendor>_monitor.log		a time, a line for each device, a blank
 *					line; how a line looks differs between
 *					vendors and suites (`monitors` in
 *					flagperf.yaml)
 *
 * Times are UTC. The vendor's file is only written if devices were sampled.
 */
#ifndef CONTROLLER_CLI_COMMANDS_MONITORS_H
#define CONTROLLER_CLI_COMMANDS_MONITORS_H

#include "controller/cli/calls.h"
#include "protocol/yaml/value.h"

#include <cjson/cJSON.h>

/* A node of a job, and where its samples are written to. */
struct monitored {
	uint64_t job;
	uint32_t attempt;
	uint32_t node;           /* its rank */
	const char *vendor;      /* "": none */
	const char *suite;       /* of flagperf.yaml */
	double memory_mib;       /* of the node; 0: not known */
	const char *folder;      /* must exist */
	const struct value *how; /* `monitors` of flagperf.yaml */
	/* NULL, or an object to fill as FlagPerf's analysis of these logs does:
	 * {"cpu": [], "mem": [], "pwr": [], "vendor": {"temp": {"0": []},
	 * "power": {}, "mem": {}, "max_mem": 65536}}
	 */
	cJSON *detail;
};

/* Write the files. ENOENT: there are no samples of the node. */
int monitors_write(struct client *client, const struct monitored *monitored,
		   struct error *err);

#endif
