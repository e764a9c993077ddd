/* spec.c - the specification of a job: container, shape, how its result is
 * read.
 */
#include "protocol/message/spec.h"

#include <stdio.h>
#include <string.h>

#define ADDRESS_MAX 253 /* bytes of a name; RFC 1035, section 2.3.4 */

/* clang-format off */
const char *const container_networks[] = { "host", "none", "bridge", NULL };
const char *const container_ipcs[] = {
	"private", "host", "shareable", "none", NULL
};
const char *const container_ulimits[] = {
	"core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue", "nice",
	"nofile", "nproc", "rss", "rtprio", "rttime", "sigpending", "stack",
	NULL
};
const char *const container_capabilities[] = {
	"AUDIT_CONTROL", "AUDIT_READ", "AUDIT_WRITE", "BLOCK_SUSPEND", "BPF",
	"CHECKPOINT_RESTORE", "CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH",
	"FOWNER", "FSETID", "IPC_LOCK", "IPC_OWNER", "KILL", "LEASE",
	"LINUX_IMMUTABLE", "MAC_ADMIN", "MAC_OVERRIDE", "MKNOD", "NET_ADMIN",
	"NET_BIND_SERVICE", "NET_BROADCAST", "NET_RAW", "PERFMON", "SETFCAP",
	"SETGID", "SETPCAP", "SETUID", "SYSLOG", "SYS_ADMIN", "SYS_BOOT",
	"SYS_CHROOT", "SYS_MODULE", "SYS_NICE", "SYS_PACCT", "SYS_PTRACE",
	"SYS_RAWIO", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG",
	"WAKE_ALARM", NULL
};

static const struct schema mount_spec_schema = SCHEMA(mount_spec,
	FIELD(mount_spec, host),
	FIELD(mount_spec, container),
	FIELD_OPTIONAL(mount_spec, read_only));

static const struct schema file_spec_schema = SCHEMA(file_spec,
	FIELD(file_spec, name),
	FIELD(file_spec, text));

static const struct schema device_request_schema = SCHEMA(device_request,
	FIELD(device_request, driver),
	FIELD_OPTIONAL(device_request, ids),
	FIELD_OPTIONAL(device_request, capabilities));

const struct schema container_spec_schema = SCHEMA(container_spec,
	FIELD(container_spec, image),
	FIELD_OPTIONAL(container_spec, build),
	FIELD_OPTIONAL(container_spec, argv),
	FIELD_OPTIONAL(container_spec, prepare),
	FIELD_OPTIONAL(container_spec, needs),
	FIELD_OPTIONAL(container_spec, env),
	FIELD_OPTIONAL(container_spec, engine_env),
	FIELD_MANY(container_spec, mounts, mount_spec_schema),
	FIELD_MANY(container_spec, files, file_spec_schema),
	FIELD_OPTIONAL(container_spec, workdir),
	FIELD_OPTIONAL(container_spec, user),
	FIELD_OPTIONAL(container_spec, network),
	FIELD_OPTIONAL(container_spec, ipc),
	FIELD_OPTIONAL(container_spec, shm_bytes),
	FIELD_OPTIONAL(container_spec, memory_bytes),
	FIELD_OPTIONAL(container_spec, cpus),
	FIELD_OPTIONAL(container_spec, ulimits),
	FIELD_OPTIONAL(container_spec, capabilities),
	FIELD_OPTIONAL(container_spec, groups),
	FIELD_OPTIONAL(container_spec, device_nodes),
	FIELD_OPTIONAL(container_spec, security),
	FIELD_OPTIONAL(container_spec, runtime),
	FIELD_MANY(container_spec, requests, device_request_schema),
	FIELD_OPTIONAL(container_spec, processes),
	FIELD_OPTIONAL(container_spec, grace_ms),
	FIELD_OPTIONAL(container_spec, ssh),
	FIELD_OPTIONAL(container_spec, follow),
	FIELD_OPTIONAL(container_spec, recorder_off),
	FIELD_OPTIONAL(container_spec, log_limit_bytes),
	FIELD_OPTIONAL(container_spec, workspace),
	FIELD_OPTIONAL(container_spec, workspace_folder),
	FIELD_OPTIONAL(container_spec, collect),
	FIELD_OPTIONAL(container_spec, collect_limit_bytes));

const struct schema layout_spec_schema = SCHEMA(layout_spec,
	FIELD_OPTIONAL(layout_spec, tp),
	FIELD_OPTIONAL(layout_spec, pp),
	FIELD_OPTIONAL(layout_spec, dp),
	FIELD_OPTIONAL(layout_spec, cp),
	FIELD_OPTIONAL(layout_spec, ep),
	FIELD_OPTIONAL(layout_spec, sp),
	FIELD_OPTIONAL(layout_spec, sharding),
	FIELD_OPTIONAL(layout_spec, stage),
	FIELD_OPTIONAL(layout_spec, world),
	FIELD_OPTIONAL(layout_spec, data));

const struct schema measure_spec_schema = SCHEMA(measure_spec,
	FIELD_OPTIONAL(measure_spec, framework),
	FIELD_OPTIONAL(measure_spec, log),
	FIELD_OPTIONAL(measure_spec, described),
	FIELD_OPTIONAL(measure_spec, warmup_steps),
	FIELD_OPTIONAL(measure_spec, steps),
	FIELD_OPTIONAL(measure_spec, sequence),
	FIELD_OPTIONAL(measure_spec, micro_batch),
	FIELD_OPTIONAL(measure_spec, accumulate),
	FIELD_OPTIONAL(measure_spec, global_batch),
	FIELD_OPTIONAL(measure_spec, model),
	FIELD_OPTIONAL(measure_spec, chip),
	FIELD_OPTIONAL(measure_spec, precision),
	FIELD_OPTIONAL(measure_spec, stage),
	FIELD_OPTIONAL(measure_spec, recompute),
	FIELD_OPTIONAL(measure_spec, spread_percent));

static const struct schema after_spec_schema = SCHEMA(after_spec,
	FIELD(after_spec, job));

static const struct schema until_spec_schema = SCHEMA(until_spec,
	FIELD_OPTIONAL(until_spec, width),
	FIELD_OPTIONAL(until_spec, confidence),
	FIELD_OPTIONAL(until_spec, max));

const char *const race_figures[] = {
	"rate", "mfu", "hfu", "iteration_ms_median", "memory_mib",
	"joules_per_token", "loss_last", NULL
};

const struct schema race_spec_schema = SCHEMA(race_spec,
	FIELD_OPTIONAL(race_spec, heat),
	FIELD_OPTIONAL(race_spec, steps),
	FIELD_OPTIONAL(race_spec, margin),
	FIELD_OPTIONAL(race_spec, tie),
	FIELD_OPTIONAL(race_spec, confidence),
	FIELD_OPTIONAL(race_spec, max),
	FIELD_OPTIONAL(race_spec, repeat),
	FIELD_EMBED_SOME(race_spec, until, until_spec_schema),
	FIELD_OPTIONAL(race_spec, budget_s),
	FIELD_OPTIONAL(race_spec, order),
	FIELD_OPTIONAL(race_spec, sized),
	FIELD_(race_spec, figure, FIELD_ENUM, .names = race_figures,
	       .optional = true),
	FIELD_OPTIONAL(race_spec, least),
	FIELD_OPTIONAL(race_spec, fit),
	FIELD_OPTIONAL(race_spec, own),
	FIELD_OPTIONAL(race_spec, per));

const struct schema job_spec_schema = SCHEMA(job_spec,
	FIELD(job_spec, sweep),
	FIELD_OPTIONAL(job_spec, owner),
	FIELD(job_spec, cell),
	FIELD(job_spec, key),
	FIELD_OPTIONAL(job_spec, repeat),
	FIELD_OPTIONAL(job_spec, values),
	FIELD_OPTIONAL(job_spec, about),
	FIELD(job_spec, vendor),
	FIELD_OPTIONAL(job_spec, labels),
	FIELD(job_spec, nodes),
	FIELD_OPTIONAL(job_spec, devices),
	FIELD_OPTIONAL(job_spec, shared),
	FIELD_OPTIONAL(job_spec, priority),
	FIELD_OPTIONAL(job_spec, timeout_ms),
	FIELD_OPTIONAL(job_spec, hang_ms),
	FIELD_OPTIONAL(job_spec, retries),
	FIELD_EMBED(job_spec, container, container_spec_schema),
	FIELD_OPTIONAL(job_spec, follows),
	FIELD_MANY(job_spec, after, after_spec_schema),
	FIELD_OPTIONAL(job_spec, same_nodes),
	FIELD_OPTIONAL(job_spec, same_driver),
	FIELD_OPTIONAL(job_spec, foreign_allowed),
	FIELD_EMBED(job_spec, until, until_spec_schema),
	FIELD_OPTIONAL(job_spec, stop_failures),
	FIELD_OPTIONAL(job_spec, stop_share),
	FIELD_OPTIONAL(job_spec, stop_never),
	FIELD_EMBED_SOME(job_spec, race, race_spec_schema),
	FIELD_EMBED(job_spec, layout, layout_spec_schema),
	FIELD_EMBED(job_spec, measure, measure_spec_schema));

const struct schema registry_login_schema = SCHEMA(registry_login,
	FIELD(registry_login, registry),
	FIELD_OPTIONAL(registry_login, sealed));

const struct schema task_spec_schema = SCHEMA(task_spec,
	FIELD(task_spec, job),
	FIELD_OPTIONAL(task_spec, owner),
	FIELD_OPTIONAL(task_spec, pin),
	FIELD_OPTIONAL(task_spec, look),
	FIELD_MANY(task_spec, logins, registry_login_schema),
	FIELD(task_spec, attempt),
	FIELD(task_spec, rank),
	FIELD(task_spec, nodes),
	FIELD_OPTIONAL(task_spec, devices),
	FIELD_OPTIONAL(task_spec, shared),
	FIELD_OPTIONAL(task_spec, foreign_allowed),
	FIELD_OPTIONAL(task_spec, repeat),
	FIELD_OPTIONAL(task_spec, first_rank),
	FIELD(task_spec, world_size),
	FIELD(task_spec, processes_per_node),
	FIELD_EMBED(task_spec, container, container_spec_schema));
/* clang-format on */

void build_stream(uint32_t rank, char name[BUILD_STREAM_SIZE])
{
	snprintf(name, BUILD_STREAM_SIZE, "build-%u", rank);
}

static bool wants_addresses(const char *text)
{
	return strstr(text, "${NODE_ADDRESSES}") ||
	       strstr(text, "${NODE_ENDPOINTS_JSON}") ||
	       strstr(text, "${NODE_ADDRESS}") || strstr(text, "${HOSTFILE}");
}

static bool list_wants_addresses(const struct strings *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (wants_addresses(list->items[i]))
			return true;
	return false;
}

bool file_name_valid(const char *name)
{
	static const char other[] = ".new";
	size_t length = strlen(name), behind = sizeof(other) - 1;

	return text_is_of(name, FILES_NAME_MAX,
			  ASCII_LETTERS ASCII_DIGITS "._-") &&
	       *name != '.' &&
	       (length < behind || strcmp(name + length - behind, other)) &&
	       strcmp(name, "start") != 0 && strcmp(name, "hostfile") != 0;
}

bool address_valid(const char *address)
{
	return text_is_of(address, ADDRESS_MAX,
			  ASCII_LETTERS ASCII_DIGITS ".:-_%") &&
	       *address != '-';
}

bool container_wants_addresses(const struct container_spec *spec)
{
	for (size_t i = 0; i < spec->files_count; i++)
		if (wants_addresses(spec->files[i].text))
			return true;
	return list_wants_addresses(&spec->argv) ||
	       list_wants_addresses(&spec->prepare) ||
	       list_wants_addresses(&spec->env) ||
	       list_wants_addresses(&spec->follow) ||
	       list_wants_addresses(&spec->collect);
}
