/* command.c - a task's command and environment, as regatta-init reads them.
 */
#include "agent/task/command.h"
#include "agent/init/init.h"
#include "protocol/message/evidence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define OPEN_FILES 1048576
#define ADDRESSES_MAX (1 << 20) /* bytes, of all of them */
#define INTERFACE "INTERFACE"

/* The placeholders. The first ones are environment variables as well. */
enum {
	MASTER_ADDR,
	MASTER_PORT,
	NNODES,
	NODE_RANK,
	NPROC_PER_NODE,
	WORLD_SIZE,
	EXPORTED,
	ROUND = EXPORTED,
	START_TIME,
	ALWAYS, /* the others have a value only if it is known */
	NODE_ADDRESSES = ALWAYS,
	NODE_ENDPOINTS,
	HOSTFILE,
	NODE_ADDRESS,
	NODE_INTERFACE,
	VARIABLES
};

struct variable {
	const char *name;
	const char *value; /* NULL: it has none here */
};

struct variables {
	struct variable items[VARIABLES];
	char texts[ALWAYS][256];
	struct buffer addresses, endpoints;
};

static void variables_clear(struct variables *variables)
{
	buffer_clear(&variables->addresses);
	buffer_clear(&variables->endpoints);
}
OWNED_VALUE(struct variables, variables_clear)

/* "a,b" and ["a:port", "b:port"] */
static int list_addresses(struct variables *variables,
			  const struct rendezvous *rendezvous,
			  struct error *err)
{
	struct buffer *plain = &variables->addresses;
	struct buffer *json = &variables->endpoints;

	for (size_t i = 0; i < rendezvous->addresses.count; i++) {
		const char *address = rendezvous->addresses.items[i];

		if (buffer_printf(plain, err, "%s%s", i ? "," : "", address) <
			    0 ||
		    buffer_printf(json, err,
				  strchr(address, ':') ? "%s\"[%s]:%u\""
						       : "%s\"%s:%u\"",
				  i ? ", " : "[", address,
				  rendezvous->port) < 0)
			return -1;
	}
	return buffer_text(json, "]", err);
}

static bool uses_host_network(const struct task_spec *spec)
{
	const char *network = spec->container.network;

	return !network || !strcmp(network, "host");
}

static int variables_init(struct variables *variables,
			  const struct task_spec *spec,
			  const struct rendezvous *rendezvous,
			  struct error *err)
{
	/* clang-format off */
	static const char *const names[VARIABLES] = {
		"MASTER_ADDR", "MASTER_PORT", "NNODES", "NODE_RANK",
		"NPROC_PER_NODE", "WORLD_SIZE", "ROUND", "START_TIME",
		"NODE_ADDRESSES", "NODE_ENDPOINTS_JSON", "HOSTFILE",
		"NODE_ADDRESS", INTERFACE,
	};
	const uint32_t numbers[ALWAYS] = {
		[MASTER_PORT] = rendezvous->port,
		[NNODES] = spec->nodes,
		[NODE_RANK] = spec->rank,
		[NPROC_PER_NODE] = spec->processes_per_node,
		[WORLD_SIZE] = spec->world_size,
		[ROUND] = spec->repeat + 1,
	};
	/* clang-format on */
	struct variable *items = variables->items;
	time_t start = (time_t)(rendezvous->time_ms / 1000);
	struct tm time = { 0 };

	if (strlen(rendezvous->address) >= sizeof(variables->texts[0]))
		return error_set(err, EINVAL,
				 "MASTER_ADDR of %zu bytes; expected at most "
				 "%zu",
				 strlen(rendezvous->address),
				 sizeof(variables->texts[0]) - 1);
	for (int i = 0; i < ALWAYS; i++) {
		snprintf(variables->texts[i], sizeof(variables->texts[i]), "%u",
			 numbers[i]);
		items[i].value = variables->texts[i];
	}
	snprintf(variables->texts[MASTER_ADDR], sizeof(variables->texts[0]),
		 "%s", rendezvous->address);
	gmtime_r(&start, &time);
	strftime(variables->texts[START_TIME], sizeof(variables->texts[0]),
		 "%Y%m%d%H%M%S", &time);
	for (int i = 0; i < VARIABLES; i++)
		items[i].name = names[i];
	if (spec->nodes > 1 && uses_host_network(spec))
		items[NODE_INTERFACE].value = rendezvous->interface;
	if (!rendezvous->addresses.count)
		return 0;
	if (list_addresses(variables, rendezvous, err) < 0)
		return -1;
	items[NODE_ADDRESSES].value = variables->addresses.data;
	items[NODE_ENDPOINTS].value = variables->endpoints.data;
	items[HOSTFILE].value = COMMAND_HOSTFILE;
	if (spec->rank < rendezvous->addresses.count)
		items[NODE_ADDRESS].value =
			rendezvous->addresses.items[spec->rank];
	return 0;
}

int command_hostfile(const struct task_spec *spec,
		     const struct rendezvous *rendezvous, struct buffer *out,
		     struct error *err)
{
	for (size_t i = 0; i < rendezvous->addresses.count; i++)
		if (buffer_printf(out, err, "%s slots=%u\n",
				  rendezvous->addresses.items[i],
				  spec->processes_per_node) < 0)
			return -1;
	return 0;
}

/* The value of the variable that "${NAME}" at text names, and its end. */
static const char *placeholder(const char *text,
			       const struct variables *variables,
			       const char **end)
{
	for (size_t i = 0; i < VARIABLES; i++) {
		const struct variable *variable = &variables->items[i];
		size_t length = strlen(variable->name);

		if (variable->value &&
		    !strncmp(text + 2, variable->name, length) &&
		    text[2 + length] == '}') {
			*end = text + length + 3;
			return variable->value;
		}
	}
	return NULL;
}

/* Append a value. An IPv6 address before a colon and a port gets brackets. */
static int command_add_value(struct buffer *out, const char *value, char next,
			     struct error *err)
{
	bool brackets =
		next == ':' && strchr(value, ':') && address_valid(value);

	return buffer_printf(out, err, brackets ? "[%s]" : "%s", value);
}

/* Append the text with its placeholders filled. */
static int add_filled(struct buffer *out, const char *text,
		      const struct variables *variables, struct error *err)
{
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
		    (value && command_add_value(out, value, *end, err) < 0))
			return -1;
		text = next ? end : text + plain;
	}
	return 0;
}

/* Append key, the text with its placeholders filled, and a NUL. */
static int add_record(struct buffer *out, const char *key, const char *text,
		      const struct variables *variables, struct error *err)
{
	if (buffer_text(out, key, err) < 0 ||
	    add_filled(out, text, variables, err) < 0)
		return -1;
	return buffer_append(out, "", 1, err);
}

static int command_add_number(struct buffer *out, const char *key,
			      uint64_t value, struct error *err)
{
	if (buffer_printf(out, err, "%s=%" PRIu64, key, value) < 0)
		return -1;
	return buffer_append(out, "", 1, err);
}

int command_text(const struct task_spec *spec, const char *text,
		 const struct rendezvous *rendezvous, struct buffer *out,
		 struct error *err)
{
	owned(variables_clear) struct variables filled = { 0 };

	buffer_init(&filled.addresses, ADDRESSES_MAX);
	buffer_init(&filled.endpoints, ADDRESSES_MAX);
	if (variables_init(&filled, spec, rendezvous, err) < 0)
		return -1;
	return add_filled(out, text, &filled, err);
}

/* Python does not buffer its output, and prints its stack at a fatal signal.
 * gloo uses the nodes' network instead of the address of the host's name.
 * Sources: Python's documentation, "Command line and environment"; PyTorch's,
 * "torch.distributed".
 */
static const char *const default_env[] = {
	"PYTHONUNBUFFERED=1", "PYTHONFAULTHANDLER=1",
	"GLOO_SOCKET_IFNAME=${" INTERFACE "}", NULL
};

/* PyTorch keeps the last collectives of each rank, and writes them to a file
 * when one times out, or when it is asked through a pipe beside it
 * (agent/evidence/recorder.h). A process that cannot make its pipe ends, so it
 * stands where each user may. The second names are those of 2.9 and later, and
 * of XPU. Source: PyTorch's documentation, "ProcessGroupNCCL Environment
 * Variables".
 */
#define RECORDS INIT_OUT "/" EVIDENCE_DUMP /* and the rank */
static const char *const recorder_env[] = {
	"TORCH_NCCL_TRACE_BUFFER_SIZE=2000",
	"TORCH_FR_BUFFER_SIZE=2000",
	"TORCH_NCCL_DUMP_ON_TIMEOUT=1",
	"TORCH_NCCL_DEBUG_INFO_TEMP_FILE=" RECORDS,
	"TORCH_FR_DUMP_TEMP_FILE=" RECORDS,
	"TORCH_NCCL_DEBUG_INFO_PIPE_FILE=" RECORDS,
	"TORCH_FR_DEBUG_INFO_PIPE_FILE=" RECORDS,
	NULL,
};

/* A variable that uses ${INTERFACE} is left out if it is not known. */
static int command_add_variable(struct buffer *out, const char *text,
				const struct variables *variables,
				struct error *err)
{
	if (!variables->items[NODE_INTERFACE].value &&
	    strstr(text, "${" INTERFACE "}"))
		return 0;
	return add_record(out, "env=", text, variables, err);
}

static int add_environment(struct buffer *out,
			   const struct container_spec *container,
			   const struct variables *variables, struct error *err)
{
	for (const char *const *text = default_env; *text; text++)
		if (command_add_variable(out, *text, variables, err) < 0)
			return -1;
	for (const char *const *text = recorder_env;
	     *text && !container->recorder_off; text++)
		if (add_record(out, "env=", *text, variables, err) < 0)
			return -1;
	for (int i = 0; i < EXPORTED; i++)
		if (buffer_printf(out, err,
				  "env=%s=", variables->items[i].name) < 0 ||
		    add_record(out, "", variables->items[i].value, variables,
			       err) < 0)
			return -1;
	for (size_t i = 0; i < container->env.count; i++)
		if (command_add_variable(out, container->env.items[i],
					 variables, err) < 0)
			return -1;
	return 0;
}

/* Each tensor that a data loader of PyTorch passes on is an open file. */
static bool sets_files(const struct container_spec *container)
{
	for (size_t i = 0; i < container->ulimits.count; i++)
		if (!strncmp(container->ulimits.items[i], "nofile=", 7))
			return true;
	return false;
}

int command_build(const struct task_spec *spec, const struct strings *argv,
		  const struct rendezvous *rendezvous, struct buffer *out,
		  struct error *err)
{
	const struct container_spec *container = &spec->container;
	owned(variables_clear) struct variables filled = { 0 };
	const struct variables *variables = &filled;

	buffer_init(&filled.addresses, ADDRESSES_MAX);
	buffer_init(&filled.endpoints, ADDRESSES_MAX);
	if (container->argv.count)
		argv = &container->argv;
	if (!argv->count)
		return error_set(err, EINVAL,
				 "nothing to run: the sweep has no command, "
				 "and the image has no entry point");
	if (variables_init(&filled, spec, rendezvous, err) < 0)
		return -1;
	if (command_add_number(out, "version", 1, err) < 0 ||
	    command_add_number(out, "processes",
			       container->processes ? container->processes : 1,
			       err) < 0 ||
	    command_add_number(out, "first_rank", spec->first_rank, err) < 0 ||
	    (container->grace_ms &&
	     command_add_number(out, "grace_ms", container->grace_ms, err) <
		     0) ||
	    (container->processes &&
	     command_add_number(out, "rank_env", 1, err) < 0) ||
	    (container->ssh && command_add_number(out, "ssh", 1, err) < 0) ||
	    command_add_number(out, "node", spec->rank, err) < 0 ||
	    command_add_number(out, "log_limit",
			       container->log_limit_bytes
				       ? container->log_limit_bytes
				       : LOG_LIMIT_DEFAULT,
			       err) < 0 ||
	    command_add_number(out, "open_files",
			       sets_files(container) ? 0 : OPEN_FILES, err) < 0)
		return -1;
	for (size_t i = 0; i < container->follow.count; i++)
		if (add_record(out, "follow=", container->follow.items[i],
			       variables, err) < 0)
			return -1;
	if (!container->recorder_off &&
	    add_record(out, "follow=", RECORDS "*", variables, err) < 0)
		return -1;
	if (add_environment(out, container, variables, err) < 0)
		return -1;
	for (size_t i = 0; i < container->prepare.count; i++)
		if (add_record(out, "prepare=", container->prepare.items[i],
			       variables, err) < 0)
			return -1;
	for (size_t i = 0; i < argv->count; i++)
		if (add_record(out, "arg=", argv->items[i], variables, err) < 0)
			return -1;
	return 0;
}
