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

static int scontrol_run(const struct strings *argv, const struct strings *env,
			struct buffer *text, struct error *err)
{
	buffer_init(text, OUTPUT_MAX);
	return local_tool_run(argv, env, SCONTROL_MS, text, err);
}

int scontrol_command(const char *kind, const char *name, struct strings *argv,
		     struct strings *env, struct error *err)
{
	const char *const words[] = { "scontrol", "show", kind, name,
				      "--oneliner" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strings_add(argv, words[i], err) < 0)
			return -1;
	/* Times in the form that scontrol_read_end() reads. */
	return strings_add(env, "SLURM_TIME_FORMAT=standard", err);
}

static int find_field(const char *text, const char *kind, const char *name,
		      const char *field, char value[SCONTROL_VALUE_SIZE],
		      struct error *err)
{
	char wanted[64];
	const char *at;

	snprintf(wanted, sizeof(wanted), " %s=", field);
	at = strstr(text, wanted);
	if (!at)
		return error_set(err, ENOENT,
				 "scontrol show %.20s %.60s: its output has no "
				 "field %.40s",
				 kind, name, field);
	at += strlen(wanted);
	snprintf(value, SCONTROL_VALUE_SIZE, "%.*s",
		 (int)strcspn(at, " \n") < SCONTROL_VALUE_SIZE
			 ? (int)strcspn(at, " \n")
			 : SCONTROL_VALUE_SIZE - 1,
		 at);
	return 0;
}

/* All of them. */
static int scontrol_show(const char *kind, const char *name,
			 struct buffer *text, struct error *err)
{
	owned(strings_clear) struct strings argv = { 0 }, env = { 0 };

	if (scontrol_command(kind, name, &argv, &env, err) < 0)
		return -1;
	return scontrol_run(&argv, &env, text, err);
}

int scontrol_field(const char *kind, const char *name, const char *field,
		   char value[SCONTROL_VALUE_SIZE], struct error *err)
{
	owned(buffer_clear) struct buffer text = { 0 };

	if (scontrol_show(kind, name, &text, err) < 0)
		return -1;
	return find_field(text.data, kind, name, field, value, err);
}

int scontrol_read_end(const char *job, const char *text, int64_t *end_ms,
		      struct error *err)
{
	char value[SCONTROL_VALUE_SIZE];
	struct tm tm = { .tm_isdst = -1 };
	const char *rest;

	if (find_field(text, "job", job, "EndTime", value, err) < 0)
		return -1;
	if (!strcmp(value, "Unknown") || !strcmp(value, "NONE")) {
		*end_ms = 0;
		return 0;
	}
	rest = strptime(value, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!rest || *rest)
		return error_set(err, EPROTO,
				 "scontrol show job %.40s: EndTime: '%.60s' is "
				 "not valid here; expected a date and a time",
				 job, value);
	*end_ms = (int64_t)mktime(&tm) * 1000;
	return 0;
}

int scontrol_job_end(const char *job, int64_t *end_ms, struct error *err)
{
	owned(buffer_clear) struct buffer text = { 0 };

	if (scontrol_show("job", job, &text, err) < 0)
		return -1;
	return scontrol_read_end(job, text.data, end_ms, err);
}

int scontrol_hostnames(const char *list, size_t most, struct strings *names,
		       struct error *err)
{
	const char *const words[] = { "scontrol", "show", "hostnames", list };
	owned(strings_clear) struct strings argv = { 0 };
	owned(buffer_clear) struct buffer text = { 0 };
	char *line, *rest = NULL;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strings_add(&argv, words[i], err) < 0)
			return -1;
	if (scontrol_run(&argv, NULL, &text, err) < 0)
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
