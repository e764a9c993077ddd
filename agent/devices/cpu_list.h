/* cpu_list.h - a list of processors as the kernel writes them: "0-3,8".
 */
#ifndef AGENT_DEVICES_CPU_LIST_H
#define AGENT_DEVICES_CPU_LIST_H

#include "protocol/base/error.h"

#include <sched.h>

/* EINVAL names the fault. */
int cpu_list_parse(const char *text, cpu_set_t *cpus, struct error *err);

#endif
