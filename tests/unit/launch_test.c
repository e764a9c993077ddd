/* launch_test.c - what a framework starts on each node: its words, environment
 * and followed files, from a sweep that names no more than a script.
 *
 * A job of two nodes with 8 devices each, and of one; the start file of the
 * last node, as regatta-init reads it.
 */
#include "agent/task/command.h"
#include "controller/sweep/sweep.h"
#include "tests/tap.h"

/* The eight variables that every command gets. */
#define START_VARIABLES 8

/* clang-format off */
#define TORCHRUN(nodes, rank) \
	"torchrun|--nnodes=" nodes "|--node_rank=" rank \
	"|--nproc_per_node=8|--master_addr=10.0.0.1|--master_port=20500|"
#define SCRIPT "s.py|--tp|4|--rank|"
#define UNBUFFERED "PYTHONUNBUFFERED=1|"
#define MEGATRON "CUDA_DEVICE_MAX_CONNECTIONS=1|" UNBUFFERED
#define FLAGPERF(rank) "result/run*/*/round*/*_noderank" rank "/"
static const struct {
	const char *framework;
	uint32_t nodes;
	const char *words, *environment, *follow;
} launches[] = {
	{ "pytorch", 1, TORCHRUN("1", "0") SCRIPT "0|", UNBUFFERED,
	  FLAGPERF("0") "rank*.out.log|" },
	{ "pytorch", 2, TORCHRUN("2", "1") SCRIPT "1|", UNBUFFERED,
	  FLAGPERF("1") "rank*.out.log|" },
	{ "deepspeed", 1, TORCHRUN("1", "0") SCRIPT "0|", UNBUFFERED,
	  FLAGPERF("0") "rank0.log.txt|" },
	{ "deepspeed", 2, TORCHRUN("2", "1") SCRIPT "1|", UNBUFFERED,
	  FLAGPERF("1") "rank0.log.txt|" },
	{ "deepspeed-torch", 1,
	  "deepspeed|--hostfile=/regatta/in/hostfile|--no_ssh|--num_nodes=1|"
	  "--num_gpus=8|--node_rank=0|--master_addr=10.0.0.1|"
	  "--master_port=20500|" SCRIPT "0|", UNBUFFERED,
	  FLAGPERF("0") "rank0.log.txt|" },
	{ "deepspeed-torch", 2,
	  "deepspeed|--hostfile=/regatta/in/hostfile|--no_ssh|--num_nodes=2|"
	  "--num_gpus=8|--node_rank=1|--master_addr=10.0.0.1|"
	  "--master_port=20500|" SCRIPT "1|", UNBUFFERED,
	  FLAGPERF("1") "rank0.log.txt|" },
	{ "megatron", 1, TORCHRUN("1", "0") SCRIPT "0|", MEGATRON,
	  FLAGPERF("0") "rank0.log.txt|" FLAGPERF("0") "megatron.log.txt|"
	  FLAGPERF("0") "megatron_pai.log.txt|" },
	{ "megatron", 2, TORCHRUN("2", "1") SCRIPT "1|", MEGATRON,
	  FLAGPERF("1") "rank0.log.txt|" FLAGPERF("1") "megatron.log.txt|"
	  FLAGPERF("1") "megatron_pai.log.txt|" },
	{ "megatron_core", 1, TORCHRUN("1", "0") SCRIPT "0|", MEGATRON,
	  FLAGPERF("0") "rank0.log.txt|" FLAGPERF("0") "megatron.log.txt|"
	  FLAGPERF("0") "megatron_pai.log.txt|" },
	{ "megatron_core", 2, TORCHRUN("2", "1") SCRIPT "1|", MEGATRON,
	  FLAGPERF("1") "rank0.log.txt|" FLAGPERF("1") "megatron.log.txt|"
	  FLAGPERF("1") "megatron_pai.log.txt|" },
	{ "megatron-deepspeed", 1, TORCHRUN("1", "0") SCRIPT "0|", MEGATRON,
	  FLAGPERF("0") "rank0.log.txt|"
	  FLAGPERF("0") "megatron-deepspeed.log.txt|" },
	{ "megatron-deepspeed", 2, TORCHRUN("2", "1") SCRIPT "1|", MEGATRON,
	  FLAGPERF("1") "rank0.log.txt|"
	  FLAGPERF("1") "megatron-deepspeed.log.txt|" },
	{ "flagscale", 1,
	  TORCHRUN("1", "0") "--tee=3|--redirects=3|"
	  "--log_dir=outputs/logs/details|" SCRIPT "0|", MEGATRON,
	  "outputs*/logs/host_*.output|" FLAGPERF("0") "rank0.out.log|"
	  FLAGPERF("0") "flagscale.log.txt|"
	  FLAGPERF("0") "outputs_*/logs/host_*.output|" },
	{ "flagscale", 2,
	  TORCHRUN("2", "1") "--tee=3|--redirects=3|"
	  "--log_dir=outputs/logs/details|" SCRIPT "1|", MEGATRON,
	  "outputs*/logs/host_*.output|" FLAGPERF("1") "rank0.out.log|"
	  FLAGPERF("1") "flagscale.log.txt|"
	  FLAGPERF("1") "outputs_*/logs/host_*.output|" },
	{ "paddle", 1,
	  "python3|-u|-m|paddle.distributed.launch|--master=10.0.0.1:20500|"
	  "--nnodes=1|--rank=0|--nproc_per_node=8|--log_dir=log|" SCRIPT "0|",
	  UNBUFFERED, "log/workerlog.*|" FLAGPERF("0") "rank*.out.log|" },
	{ "paddle", 2,
	  "python3|-u|-m|paddle.distributed.launch|--master=10.0.0.1:20500|"
	  "--nnodes=2|--rank=1|--nproc_per_node=8|--log_dir=log|" SCRIPT "1|",
	  UNBUFFERED, "log/workerlog.*|" FLAGPERF("1") "rank*.out.log|" },
	{ "mindspore", 1,
	  "msrun|--worker_num=8|--local_worker_num=8|--master_addr=10.0.0.1|"
	  "--master_port=20500|--node_rank=0|--log_dir=msrun_log|--join=True|"
	  SCRIPT "0|", UNBUFFERED,
	  "msrun_log/worker_*.log|msrun_log/scheduler.log|" },
	{ "mindspore", 2,
	  "msrun|--worker_num=16|--local_worker_num=8|--master_addr=10.0.0.1|"
	  "--master_port=20500|--node_rank=1|--log_dir=msrun_log|--join=True|"
	  SCRIPT "1|", UNBUFFERED,
	  "msrun_log/worker_*.log|msrun_log/scheduler.log|" },
	{ "tensorflow2", 1, "python3|-u|" SCRIPT "0|",
	  "FLAGPERF_BASE_PORT=20500|FLAGPERF_HOSTS=10.0.0.1|"
	  "FLAGPERF_HOSTS_PORTS=20500|FLAGPERF_NNODES=1|FLAGPERF_NODE_RANK=0|"
	  "FLAGPERF_NPROC=8|TF_CONFIG={\"cluster\": {\"worker\": "
	  "[\"10.0.0.1:20500\"]}, \"task\": {\"type\": \"worker\", "
	  "\"index\": 0}}|",
	  FLAGPERF("0") "noderank*.out.log|" },
	{ "tensorflow2", 2, "python3|-u|" SCRIPT "1|",
	  "FLAGPERF_BASE_PORT=20500|FLAGPERF_HOSTS=10.0.0.1,10.0.0.2|"
	  "FLAGPERF_HOSTS_PORTS=20500|FLAGPERF_NNODES=2|FLAGPERF_NODE_RANK=1|"
	  "FLAGPERF_NPROC=8|TF_CONFIG={\"cluster\": {\"worker\": "
	  "[\"10.0.0.1:20500\", \"10.0.0.2:20500\"]}, \"task\": {\"type\": "
	  "\"worker\", \"index\": 1}}|",
	  FLAGPERF("1") "noderank*.out.log|" },
};
/* clang-format on */

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The start file's records of a key, with '|' behind each; those of the
 * environment in order of their names, without those of every command.
 */
static void of_key(const struct buffer *start, const char *key, char *text,
		   size_t size)
{
	bool environment = !strcmp(key, "env=");
	const char *found[64];
	size_t count = 0, used = 0, skip = environment ? START_VARIABLES : 0;

	for (size_t at = 0; at < start->size && count < 64;) {
		const char *record = start->data + at;

		at += strlen(record) + 1;
		if (strncmp(record, key, strlen(key)) != 0)
			continue;
		if (skip)
			skip--;
		else
			found[count++] = record + strlen(key);
	}
	if (environment)
		qsort(found, count, sizeof(found[0]), compare);
	text[0] = 0;
	for (size_t i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s|",
					 found[i]);
}

/* The start file of the last node. */
static int build(struct sweep *sweep, uint32_t nodes, struct buffer *start,
		 struct error *err)
{
	owned(strings_clear) struct strings addresses = { 0 };
	struct rendezvous rendezvous = { .address = "10.0.0.1", .port = 20500 };
	struct strings none = { 0 };
	struct job_spec job;
	int rc;

	if (sweep_job(sweep, 0, &job, err) < 0)
		return -1;
	for (uint32_t i = 1; i <= nodes; i++)
		strings_printf(&addresses, err, "10.0.0.%u", i);
	if (container_wants_addresses(&job.container))
		rendezvous.addresses = addresses;
	struct task_spec task = {
		.job = 1,
		.attempt = 1,
		.rank = nodes - 1,
		.nodes = nodes,
		.first_rank = nodes - 1,
		.processes_per_node = 8,
		.world_size = 8 * nodes,
		.container = job.container,
	};
	task.container.recorder_off = true;
	rc = command_build(&task, &none, &rendezvous, start, err);
	codec_clear(&job_spec_schema, &job);
	return rc;
}

static void check(const struct catalog *catalog, size_t i)
{
	owned(buffer_clear) struct buffer start = BUFFER_INIT(1 << 20);
	struct error err = { 0 };
	char text[4096];
	const char *name = launches[i].framework;
	uint32_t nodes = launches[i].nodes;

	snprintf(text, sizeof(text),
		 "sweep: launch\nframework: %s\nimage: i\nnodes: %u\n"
		 "devices: 8\nscript: s.py\nparallel: {tp: 4}\n"
		 "arguments: [--tp, '${parallel.tp}', --rank, "
		 "'${NODE_RANK}']\n",
		 name, nodes);
	owned(sweep_free) struct sweep *sweep =
		sweep_parse(text, strlen(text), "f", catalog, &err);
	ok(sweep && build(sweep, nodes, &start, &err) == 0,
	   "%s on %u node(s) needs a script only %s", name, nodes, err.text);
	of_key(&start, "arg=", text, sizeof(text));
	is(text, launches[i].words, "%s on %u: the command", name, nodes);
	of_key(&start, "env=", text, sizeof(text));
	is(text, launches[i].environment, "%s on %u: the environment", name,
	   nodes);
	of_key(&start, "follow=", text, sizeof(text));
	is(text, launches[i].follow, "%s on %u: the files", name, nodes);
}

int main(void)
{
	struct error err = { 0 };
	struct catalog *catalog;

	tap_begin(60);
	catalog = catalog_load("images", &err);
	ok(catalog, "the data files are read %s", err.text);
	for (size_t i = 0; i < sizeof(launches) / sizeof(launches[0]); i++)
		check(catalog, i);
	catalog_free(catalog);
	return tap_done();
}
