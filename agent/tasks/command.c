/* command.c - a task's command and environment, as regatta-init reads them.
 */
#include "agent/tasks/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VARIABLES 6

struct variable {
	const char *name;
	char value[256];
};

static void fill_variables(struct variable variables[VARIABLES],
			   const struct task_spec *spec,
			   const struct rendezvous *rendezvous)
{
	/* clang-format off */
	static const char *const names[VARIABLES] = {
		"MASTER_ADDR", "MASTER_PORT", "NNODES", "NODE_RANK",
		"NPROC_PER_NODE", "WORLD_SIZE",
	};
	const uint32_t numbers[VARIABLES] = {
		0, rendezvous->port, spec->nodes, spec->rank,
		spec->processes_per_node, spec->world_size,
	};
	/* clang-format on */

	for (int i = 0; i < VARIABLES; i++) {
		variables[i].name = names[i];
		snprintf(variables[i].value, sizeof(variables[i].value), "%u",
			 numbers[i]);
	}
	snprintf(variables[0].value, sizeof(variables[0].value), "%s",
		 rendezvous->address);
}

/* The value of the variable that "${NAME}" at text names, and its end. */
static const char *placeholder(const char *text,
			       const struct variable variables[VARIABLES],
			       const char **end)
{
	for (int i = 0; i < VARIABLES; i++) {
		size_t length = strlen(variables[i].name);

		if (!strncmp(text + 2, variables[i].name, length) &&
		    text[2 + length] == '}') {
			*end = text + length + 3;
			return variables[i].value;
		}
	}
	return NULL;
}

/* Append key, the text with its placeholders filled, and a NUL. */
static int add_record(struct buffer *out, const char *key, const char *text,
		      const struct variable variables[VARIABLES],
		      struct error *err)
{
	if (buffer_text(out, key, err) < 0)
		return -1;
	while (*text) {
		const char *next = strstr(text, "${"), *end = NULL;
		const char *value =
			next ? placeholder(next, variables, &end) : NULL;
		size_t plain = next ? (size_t)(next - text) : strlen(text);

		if (next && !value) {
			plain += 2;
			end = next + 2;
		}
		if (buffer_append(out, text, plain, err) < 0 ||
		    (value && buffer_text(out, value, err) < 0))
			return -1;
		text = next ? end : text + plain;
	}
	return buffer_append(out, "", 1, err);
}

static int add_number(struct buffer *out, const char *key, uint64_t value,
		      struct error *err)
{
	if (buffer_printf(out, err, "%s=%" PRIu64, key, value) < 0)
		return -1;
	return buffer_append(out, "", 1, err);
}

int command_build(const struct task_spec *spec, const struct strings *argv,
		  const struct rendezvous *rendezvous, struct buffer *out,
		  struct error *err)
{
	const struct container_spec *container = &spec->container;
	struct variable variables[VARIABLES];

	if (container->argv.count)
		argv = &container->argv;
	if (!argv->count)
		return error_set(err, EINVAL,
				 "nothing to run: the sweep has no command and "
				 "the image no entry point");
	if (strlen(rendezvous->address) >= sizeof(variables[0].value))
		return error_set(err, EINVAL,
				 "MASTER_ADDR of %zu bytes, allowed are %zu",
				 strlen(rendezvous->address),
				 sizeof(variables[0].value) - 1);
	fill_variables(variables, spec, rendezvous);
	if (add_number(out, "version", 1, err) < 0 ||
	    add_number(out, "processes",
		       container->processes ? container->processes : 1,
		       err) < 0 ||
	    add_number(out, "first_rank", spec->first_rank, err) < 0 ||
	    (container->grace_ms &&
	     add_number(out, "grace_ms", container->grace_ms, err) < 0) ||
	    (container->processes && add_number(out, "rank_env", 1, err) < 0) ||
	    add_number(out, "node", spec->rank, err) < 0 ||
	    add_number(out, "log_limit",
		       container->log_limit_bytes ? container->log_limit_bytes
						  : LOG_LIMIT_DEFAULT,
		       err) < 0)
		return -1;
	for (size_t i = 0; i < container->follow.count; i++)
		if (add_record(out, "follow=", container->follow.items[i],
			       variables, err) < 0)
			return -1;
	for (int i = 0; i < VARIABLES; i++)
		if (buffer_printf(out, err, "env=%s=", variables[i].name) < 0 ||
		    add_record(out, "", variables[i].value, variables, err) < 0)
			return -1;
	for (size_t i = 0; i < container->env.count; i++)
		if (add_record(out, "env=", container->env.items[i], variables,
			       err) < 0)
			return -1;
	for (size_t i = 0; i < argv->count; i++)
		if (add_record(out, "arg=", argv->items[i], variables, err) < 0)
			return -1;
	return 0;
}
