/* cpu_list.c - a list of processors as the kernel writes them: "0-3,8".
 */
#include "agent/devices/cpu_list.h"

#include <errno.h>
#include <stdlib.h>

int cpu_list_parse(const char *text, cpu_set_t *cpus, struct error *err)
{
	CPU_ZERO(cpus);
	for (const char *at = text;; at++) {
		char *end;
		unsigned long from = strtoul(at, &end, 10), to = from;

		if (end == at || *at == '-' || *at == '+')
			break;
		if (*end == '-') {
			at = end + 1;
			to = strtoul(at, &end, 10);
			if (end == at || *at == '-' || *at == '+')
				break;
		}
		if (from > to || to >= CPU_SETSIZE)
			break;
		for (; from <= to; from++)
			CPU_SET(from, cpus);
		if (!*end)
			return 0;
		if (*end != ',')
			break;
		at = end;
	}
	return error_set(err, EINVAL,
			 "'%.60s' is not valid here; expected a list of "
			 "processors such as 0-3,8",
			 text);
}
