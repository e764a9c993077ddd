/* start_error.c - explains why an engine did not start a container.
 */
#include "agent/task/start_error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* runc names a limit by its number, crun by its name in getrlimit(2). */
static const struct {
	const char *name;
	long type;
	const char *capital;
} limits[] = {
	/* clang-format off */
	{ "core", RLIMIT_CORE, "RLIMIT_CORE`" },
	{ "cpu", RLIMIT_CPU, "RLIMIT_CPU`" },
	{ "data", RLIMIT_DATA, "RLIMIT_DATA`" },
	{ "fsize", RLIMIT_FSIZE, "RLIMIT_FSIZE`" },
	{ "locks", RLIMIT_LOCKS, "RLIMIT_LOCKS`" },
	{ "memlock", RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK`" },
	{ "msgqueue", RLIMIT_MSGQUEUE, "RLIMIT_MSGQUEUE`" },
	{ "nice", RLIMIT_NICE, "RLIMIT_NICE`" },
	{ "nofile", RLIMIT_NOFILE, "RLIMIT_NOFILE`" },
	{ "nproc", RLIMIT_NPROC, "RLIMIT_NPROC`" },
	{ "rss", RLIMIT_RSS, "RLIMIT_RSS`" },
	{ "rtprio", RLIMIT_RTPRIO, "RLIMIT_RTPRIO`" },
	{ "rttime", RLIMIT_RTTIME, "RLIMIT_RTTIME`" },
	{ "sigpending", RLIMIT_SIGPENDING, "RLIMIT_SIGPENDING`" },
	{ "stack", RLIMIT_STACK, "RLIMIT_STACK`" },
	/* clang-format on */
};

static const char *start_error_find_limit(const char *text)
{
	static const char runc[] = "setting rlimit type ";
	static const char crun[] = "setrlimit `";
	const char *by_type = strstr(text, runc);
	const char *by_name = strstr(text, crun);

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if ((by_type && strtol(by_type + strlen(runc), NULL, 10) ==
					limits[i].type) ||
		    (by_name &&
		     !strncmp(by_name + strlen(crun), limits[i].capital,
			      strlen(limits[i].capital))))
			return limits[i].name;
	return NULL;
}

void start_error_explain(const struct strings *ulimits, struct error *err)
{
	const char *name = start_error_find_limit(err->text), *asked = "";
	size_t size = name ? strlen(name) : 0;

	if (!name)
		return;
	for (size_t i = 0; i < ulimits->count; i++)
		if (!strncmp(ulimits->items[i], name, size) &&
		    ulimits->items[i][size] == '=')
			asked = ulimits->items[i] + size;
	error_set(err, err->code,
		  "the engine is not permitted to set the limit %s%.40s; give "
		  "it CAP_SYS_RESOURCE, or set a permitted value in the sweep: "
		  "ulimits: {%s: ...} (regatta-sweep(5))",
		  name, asked, name);
}
