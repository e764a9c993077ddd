/* scontrol.c - what Slurm says of a job or a node.
 */
#include "protocol/slurm/scontrol.h"
#include "protocol/base/buffer.h"
#include "protocol/base/local_tool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define OUTPUT_MAX ((size_t)1 << 20)

static int run(const char *const *words, struct buffer *text, struct error *err)
{
	owned(strings_clear) struct strings argv = { 0 };
	owned(strings_clear) struct strings env = { 0 };

	/* Times in the form that scontrol_job_end() reads. */
	if (strings_add(&env, "SLURM_TIME_FORMAT=standard", err) < 0)
		return -1;
	for (; *words; words++)
		if (strings_add(&argv, *words, err) < 0)
			return -1;
	return local_tool_run(&argv, &env, SCONTROL_MS, text, err);
}

int scontrol_field(const char *kind, const char *name, const char *field,
		   char value[SCONTROL_VALUE_SIZE], struct error *err)
{
	const char *const words[] = { "scontrol", "show",       kind,
				      name,       "--oneliner", NULL };
	owned(buffer_clear) struct buffer text;
	char wanted[64];
	const char *at;

	buffer_init(&text, OUTPUT_MAX);
	if (run(words, &text, err) < 0)
		return -1;
	snprintf(wanted, sizeof(wanted), " %s=", field);
	at = text.size ? strstr(text.data, wanted) : NULL;
	if (!at)
		return error_set(err, ENOENT,
				 "scontrol show %.20s %.60s: no %.40s", kind,
				 name, field);
	at += strlen(wanted);
	snprintf(value, SCONTROL_VALUE_SIZE, "%.*s",
		 (int)strcspn(at, " \n") < SCONTROL_VALUE_SIZE
			 ? (int)strcspn(at, " \n")
			 : SCONTROL_VALUE_SIZE - 1,
		 at);
	return 0;
}

int scontrol_job_end(const char *job, int64_t *end_ms, struct error *err)
{
	char text[SCONTROL_VALUE_SIZE];
	struct tm tm = { .tm_isdst = -1 };
	const char *rest;

	if (scontrol_field("job", job, "EndTime", text, err) < 0)
		return -1;
	*end_ms = 0;
	if (!strcmp(text, "Unknown") || !strcmp(text, "NONE"))
		return 0;
	rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!rest || *rest)
		return error_set(err, EPROTO,
				 "scontrol show job %.40s: EndTime: '%.60s' is "
				 "not valid here; expected a date and a time",
				 job, text);
	*end_ms = (int64_t)mktime(&tm) * 1000;
	return 0;
}

int scontrol_hostnames(const char *list, size_t most, struct strings *names,
		       struct error *err)
{
	const char *const words[] = { "scontrol", "show", "hostnames", list,
				      NULL };
	owned(buffer_clear) struct buffer text;
	char *line, *rest = NULL;

	buffer_init(&text, OUTPUT_MAX);
	if (run(words, &text, err) < 0)
		return -1;
	line = text.size ? strtok_r(text.data, "\n", &rest) : NULL;
	for (; line; line = strtok_r(NULL, "\n", &rest)) {
		if (names->count == most)
			return error_set(err, E2BIG,
					 "the allocation has more than %zu "
					 "nodes",
					 most);
		if (strings_add(names, line, err) < 0)
			return -1;
	}
	return 0;
}
