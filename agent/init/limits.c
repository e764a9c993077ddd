/* limits.c - the resource limits of the command.
 */
#include "agent/init/limits.h"

#include <stddef.h>
#include <sys/resource.h>

static const struct {
	const char *name;
	int resource;
} told[] = {
	{ "core", RLIMIT_CORE },     { "memlock", RLIMIT_MEMLOCK },
	{ "nofile", RLIMIT_NOFILE }, { "nproc", RLIMIT_NPROC },
	{ "stack", RLIMIT_STACK },
};

void limits_raise_files(uint64_t files)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= files)
		return;
	limit.rlim_cur = files < limit.rlim_max ? files : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* RLIM_INFINITY is the largest number. */
static long long limits_number(rlim_t limit)
{
	return limit == RLIM_INFINITY ? -1 : (long long)limit;
}

int limits_text(struct buffer *text, struct error *err)
{
	const char *before = "[";

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		struct rlimit limit;

		if (getrlimit(told[i].resource, &limit) < 0)
			return error_errno(err, "%s", told[i].name);
		if (buffer_printf(text, err, "%s\"%s=%lld:%lld\"", before,
				  told[i].name, limits_number(limit.rlim_cur),
				  limits_number(limit.rlim_max)) < 0)
			return -1;
		before = ", ";
	}
	return buffer_text(text, "]", err);
}
