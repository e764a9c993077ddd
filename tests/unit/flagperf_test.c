/* flagperf_test.c - cases of a FlagPerf tree to cells: every word, variable,
 * mount and file, and what is said of cases that are wrong.
 *
 * The start file of a job's last node, as regatta-init reads it.
 */
#include "agent/task/command.h"
#include "controller/sweep/sweep.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>

static const struct catalog *catalog;

/* The start file's records of a key, with '|' behind each, but for those of
 * every command.
 */
static void of_key(const struct buffer *start, const char *key, size_t skip,
		   char *text, size_t size)
{
	size_t used = 0;

	text[0] = 0;
	for (size_t at = 0; at < start->size && used < size;) {
		const char *record = start->data + at;

		at += strlen(record) + 1;
		if (strncmp(record, key, strlen(key)) != 0)
			continue;
		if (skip)
			skip--;
		else
			used += (size_t)snprintf(text + used, size - used,
						 "%s|", record + strlen(key));
	}
}

static struct sweep *parse(const char *text, struct error *err)
{
	return sweep_parse(text, strlen(text), "f", catalog, err);
}

/* The spec of a job; the caller clears it. */
static struct job_spec job_of(struct sweep *sweep, size_t job)
{
	struct job_spec spec = { 0 };
	struct error err = { 0 };

	if (sweep)
		sweep_job(sweep, job, &spec, &err);
	return spec;
}

static void build(const struct job_spec *job, struct buffer *start)
{
	struct rendezvous there = { .address = "10.0.0.1",
				    .port = 20500,
				    .time_ms = 1763712000000 };
	struct strings none = { 0 };
	struct error err = { 0 };
	struct task_spec task = {
		.job = 1,
		.attempt = 1,
		.rank = job->nodes - 1,
		.repeat = job->repeat,
		.nodes = job->nodes,
		.first_rank = job->nodes - 1,
		.processes_per_node = 8,
		.world_size = 8 * job->nodes,
		.container = job->container,
	};

	task.container.recorder_off = true;
	for (uint32_t i = 1; i <= job->nodes; i++)
		strings_printf(&there.addresses, &err, "10.0.0.%u", i);
	if (command_build(&task, &none, &there, start, &err) < 0)
		printf("# %s\n", err.text);
	strings_clear(&there.addresses);
}

/* clang-format off */
#define TRAINING "/fp/training"
#define CASE(fw) TRAINING "/nvidia/m-" fw
#define BENCH(fw) TRAINING "/benchmarks/m/" fw
#define LOGS(case, round, node) \
	TRAINING "/result/run20251121080000/" case "/round" round "/10.0.0." node
#define SCRIPT(fw, config) \
	"|python3|-u|" BENCH(fw) "/run_pretraining.py|--extern_config_dir|" \
	CASE(fw) "/config|--extern_config_file|" config "|--vendor|nvidia|" \
	"--data_dir|/d|--enable_extern_config|--extern_module_dir|" CASE(fw) \
	"/extern|"
#define MEGATRON(fw, python, config, logs) \
	"bash|-c|*|flagperf|" CASE(fw) "/config/environment_variables.sh|" \
	BENCH(fw) "|" python "|run_pretraining.py|--nproc_per_node=8|" \
	"--nnodes=2|--node_rank=1|--master_addr=10.0.0.1|" \
	"--master_port=20500|--vendor=nvidia|--data_dir=/d|--log_dir=" logs "|" \
	"--flagperf_config_file=" CASE(fw) "/config/" config "|"
#define VISIBLE "CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7|"

static const struct {
	const char *name;
	uint32_t processes;
	const char *words, *environment;
} cases[] = {
	{ "m:pytorch_1.13:A100:1:8:1", 8,
	  "bash|-c|*|flagperf|" CASE("pytorch") "/config/environment_variables.sh|"
	  TRAINING SCRIPT("pytorch", "config_A100x1x8.py"),
	  "PYTHONUNBUFFERED=1|" VISIBLE },
	{ "m:paddle_2.5.1:TP2PP1SH1SP4A10040G:1:8:1", 8,
	  "bash|-c|*|flagperf|" CASE("paddle") "/config/environment_variables.sh"
	  "|python3|-u|" BENCH("paddle") "/run_pretraining.py|--data_dir|/d|"
	  "--extern_config_dir|" CASE("paddle") "/config|--extern_config_file|"
	  "config_TP2PP1SH1SP4A10040Gx1x8.py|--vendor|nvidia|"
	  "--enable_extern_config|--extern_module_dir|" CASE("paddle")
	  "/extern|",
	  "PYTHONUNBUFFERED=1|" VISIBLE "PADDLE_TRAINERS_NUM=8|"
	  "PADDLE_RANK_IN_NODE=0|PADDLE_WORLD_DEVICE_IDS=0,1,2,3,4,5,6,7|" },
	{ "m:tensorflow2:A100:2:8:1", 0,
	  "bash|-c|*|flagperf|" CASE("tensorflow2")
	  "/config/environment_variables.sh|"
	  TRAINING "|" CASE("tensorflow2") "/extern|python3|-u|"
	  BENCH("tensorflow2") "/run_pretraining.py|--data_dir|/d|"
	  "--extern_config_dir|" CASE("tensorflow2")
	  "/config|--extern_config_file|config_A100x2x8.py|--vendor|nvidia|",
	  "PYTHONUNBUFFERED=1|" VISIBLE "FLAGPERF_NNODES=2|FLAGPERF_NPROC=8|"
	  "FLAGPERF_BASE_PORT=20500|FLAGPERF_NODE_RANK=1|"
	  "FLAGPERF_HOSTS=10.0.0.1,10.0.0.2|FLAGPERF_HOSTS_PORTS=2222|" },
	{ "m:deepspeed:A800:2:8:1", 0,
	  "bash|-c|*|flagperf|" CASE("deepspeed") "/config|" BENCH("deepspeed")
	  "|" LOGS("m:deepspeed:A800:2:8:1", "1", "2_noderank1")
	  "/ds_config_tmp.json|torchrun|--nproc_per_node=8|--nnodes=2|"
	  "--node_rank=1|--master_addr=10.0.0.1|--master_port=20500|"
	  "run_pretraining.py|--flagperf_config|" CASE("deepspeed") "/config/config_A800x2x8.py|"
	  "--node_rank|1|--nproc_per_node|8|--nnodes|2|--deepspeed|"
	  "--deepspeed_config|"
	  LOGS("m:deepspeed:A800:2:8:1", "1", "2_noderank1")
	  "/ds_config_tmp.json|--data_dir|/d|",
	  "PYTHONUNBUFFERED=1|" },
	{ "m:deepspeed-torch:A800:1:8:1", 0,
	  "bash|-c|*|flagperf|" CASE("deepspeed-torch") "/config|"
	  BENCH("deepspeed-torch") "|"
	  LOGS("m:deepspeed-torch:A800:1:8:1", "1", "1_noderank0")
	  "/ds_config_tmp.json|python3|run_pretraining.py|"
	  "--flagperf_config|" CASE("deepspeed-torch")
	  "/config/config_A800x1x8.py|--node_rank|0|--nproc_per_node|8|"
	  "--nnodes|1|--deepspeed|"
	  LOGS("m:deepspeed-torch:A800:1:8:1", "1", "1_noderank0")
	  "/ds_config_tmp.json|--data_dir|/d|",
	  "PYTHONUNBUFFERED=1|" },
	{ "m:megatron_core060:A800:2:8:1", 0,
	  MEGATRON("megatron", "python3", "config_A800x2x8.py",
		   LOGS("m:megatron_core060:A800:2:8:1", "1", "2_noderank1")),
	  "PYTHONUNBUFFERED=1|" },
	{ "m:megatron-deepspeed:C500:2:8:1", 0,
	  MEGATRON("megatron-deepspeed", "python", "config_C500x2x8.py",
		   LOGS("m:megatron-deepspeed:C500:2:8:1", "1", "2_noderank1")),
	  "PYTHONUNBUFFERED=1|" },
	{ "m:flagscale_2409:A800:2:8:1", 0,
	  "bash|-c|*|flagperf|" CASE("flagscale")
	  "/config/environment_variables.sh|" BENCH("flagscale") "|python|"
	  "run_pretraining.py|--world_size=16|--hosts=10.0.0.1,10.0.0.2|"
	  "--host_addr=10.0.0.2|--vendor=nvidia|--data_dir=/d|--log_dir="
	  LOGS("m:flagscale_2409:A800:2:8:1", "1", "2_noderank1") "|"
	  "--flagperf_config_file=" CASE("flagscale")
	  "/config/config_A800x2x8.py|", "PYTHONUNBUFFERED=1|" },
	{ "m:mindspore:910:2:8:1", 0,
	  "bash|-c|*|flagperf|" CASE("mindspore")
	  "/config/environment_variables.sh|" TRAINING "|python3|" TRAINING
	  "/run_benchmarks/mindspore/start_mindspore_task.py|--vendor|nvidia|"
	  "--case_name|m:mindspore:910:2:8:1|--model_name|m|--train_script|"
	  "run_pretraining.py|--nnodes|2|--nproc|8|--hosts|10.0.0.1,10.0.0.2|"
	  "--hosts_ports|2222|--data_dir|/d|--log_dir|" TRAINING
	  "/result/run20251121080000|--log_level|info|--extern_config_file|"
	  "config_910x2x8.py|--enable_extern_config|--master_port|20500|"
	  "--round|1|--visible_dev_env|CUDA_VISIBLE_DEVICES|--master_addr|"
	  "10.0.0.1|--node_rank|1|--host_addr|10.0.0.2|",
	  "PYTHONUNBUFFERED=1|" },
};
/* clang-format on */

/* The script's text is left out: it is the same for many. */
static void without_script(char *words)
{
	char *script = strstr(words, "bash|-c|");
	char *end = script ? strstr(script, "|flagperf|") : NULL;

	if (!end)
		return;
	script += strlen("bash|-c|");
	*script = '*';
	memmove(script + 1, end, strlen(end) + 1);
}

static void a_case_is_started_as_flagperf_starts_it(size_t i)
{
	owned(buffer_clear) struct buffer start = BUFFER_INIT(1 << 20);
	static char text[16384];
	struct error err = { 0 };
	struct job_spec job;

	snprintf(text, sizeof(text),
		 "sweep: s\nvendor: nvidia\nflagperf:\n  tree: /fp\n"
		 "  visible: CUDA_VISIBLE_DEVICES\n  hosts_ports: '2222'\n"
		 "  log_level: info\n  pip_source: http://p\n"
		 "  cases: {'%s': /d}\n",
		 cases[i].name);
	owned(sweep_free) struct sweep *sweep = parse(text, &err);
	ok(sweep, "%s is a case %s", cases[i].name, err.text);
	job = job_of(sweep, 0);
	build(&job, &start);
	of_key(&start, "arg=", 0, text, sizeof(text));
	without_script(text);
	is(text, cases[i].words, "its words");
	of_key(&start, "env=", 8, text, sizeof(text));
	is(text, cases[i].environment, "its environment");
	ok(job.container.processes == cases[i].processes,
	   "%u processes that are started one by one", job.container.processes);
	codec_clear(&job_spec_schema, &job);
}

/* The files of FlagScale's own runner lie in the folder of logs. */
static void what_of_flagscale_is_followed(void)
{
	owned(buffer_clear) struct buffer start = BUFFER_INIT(1 << 20);
	static char text[4096];
	struct error err = { 0 };
	struct job_spec job;
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nvendor: nvidia\nflagperf:\n  tree: /fp\n"
		      "  cases: {'m:flagscale:A:1:8:1': /d}\n",
		      &err);

	job = job_of(sweep, 0);
	build(&job, &start);
	of_key(&start, "follow=", 2, text, sizeof(text));
	is(text,
	   "/fp/training/result/run20251121080000/m:flagscale:A:1:8:1/round1/"
	   "*_noderank0/outputs_*/logs/host_0_*.output|",
	   "flagscale: the node's output in the first one's folder is "
	   "followed");
	ok(job.container.ssh, "flagscale: its nodes reach each other by ssh");
	codec_clear(&job_spec_schema, &job);
}

/* The files of the tree that a case of this framework needs. */
static void needs_are(const char *framework, const char *want)
{
	static char text[4096];
	struct error err = { 0 };
	struct job_spec job;
	size_t used = 0;

	snprintf(text, sizeof(text),
		 "sweep: s\nvendor: nvidia\nflagperf:\n  tree: /fp\n"
		 "  cases: {'m:%s:A:1:8:1': /d}\n",
		 framework);
	owned(sweep_free) struct sweep *sweep = parse(text, &err);
	job = job_of(sweep, 0);
	text[0] = 0;
	for (size_t i = 0; i < job.container.needs.count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s|", job.container.needs.items[i]);
	is(text, want, "what a case of %s needs %s", framework, err.text);
	codec_clear(&job_spec_schema, &job);
}

#define NEEDS(fw)                                                              \
	TRAINING "/run_benchmarks/prepare_in_container.py|" BENCH(             \
		fw) "|" CASE(fw) "/config/config_Ax1x8.py|"

static void only_what_is_started_is_needed(void)
{
	needs_are("mindspore", NEEDS("mindspore") TRAINING
		  "/run_benchmarks/mindspore/start_mindspore_task.py|");
	needs_are("tensorflow2", NEEDS("tensorflow2") BENCH(
					 "tensorflow2") "/run_pretraining.py|");
	needs_are("pytorch",
		  NEEDS("pytorch") BENCH("pytorch") "/run_pretraining.py|" CASE(
			  "pytorch") "/extern|");
}

static void show_mounts(const struct job_spec *job, char *text, size_t size)
{
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < job->container.mounts_count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s:%s%s|",
					 job->container.mounts[i].host,
					 job->container.mounts[i].container,
					 job->container.mounts[i].read_only
						 ? ":ro"
						 : "");
}

static const char surrounded[] =
	"sweep: s\nvendor: dcu\nenv: {A: top}\n"
	"mounts: [{host: /x, container: /x}]\n"
	"shm: 64G\nflagperf:\n  tree: /here/FlagPerf\n"
	"  path: /fp\n  log_path: /logs\n"
	"  options: \"--device=/dev/kfd -v /opt/a:/opt/a:ro "
	"--env 'A=b' -e B=\\\"c d\\\" --ulimit=core=0\"\n"
	"  pip_source: http://p\n"
	"  cases: {'m:pytorch_1.13:K100:1:8:3': "
	"{data: \"/it's a $dir/\", env: {A: top}, "
	"batch: {micro: 2}}}\n";

/* What its container is told to run, and with what. */
static void how_a_case_starts(const struct job_spec *job)
{
	owned(buffer_clear) struct buffer start = BUFFER_INIT(1 << 20);
	static char text[16384];

	build(job, &start);
	of_key(&start, "env=", 8, text, sizeof(text));
	is(text, "A=top|PYTHONUNBUFFERED=1|B=c d|",
	   "also in the environment, where the top wins, too");
	of_key(&start, "prepare=", 0, text, sizeof(text));
	without_script(text);
	is(text,
	   "bash|-c|*|flagperf|/logs/run20251121080000/"
	   "m:pytorch_1.13:K100:1:8:3/round3/10.0.0.1_noderank0|python3|"
	   "/fp/training/run_benchmarks/prepare_in_container.py|--framework|"
	   "pytorch_1.13|--model|m|--vendor|dcu|--pipsource|http://p|",
	   "it is prepared as FlagPerf does, its folder of logs made");
	of_key(&start, "follow=", 0, text, sizeof(text));
	is(text,
	   "/logs/run20251121080000/m:pytorch_1.13:K100:1:8:3/round3/"
	   "10.0.0.1_noderank0/*.log|/logs/run20251121080000/"
	   "m:pytorch_1.13:K100:1:8:3/round3/10.0.0.1_noderank0/*.log.txt|",
	   "whose logs are followed");
	of_key(&start, "arg=", 0, text, sizeof(text));
	ok(strstr(text, "|--data_dir|/it's a $dir/|"),
	   "a blank, a quote and a dollar are kept");
}

static void what_surrounds_a_case(void)
{
	static char text[16384];
	struct error err = { 0 };
	struct job_spec job;

	owned(sweep_free) struct sweep *sweep = parse(surrounded, &err);

	ok(sweep, "a case with everything %s", err.text);
	ok(sweep && sweep_totals(sweep)->jobs == 3, "repeated three times");
	job = job_of(sweep, 2);
	is(job.cell, "m:pytorch_1.13:K100:1:8:3", "the cell is called so");
	is(job.vendor, "hygon", "FlagPerf's word for a vendor is known");
	is(job.container.image, "flagperf-dcu-pytorch_1.13:t_v0.1",
	   "the image keeps FlagPerf's");
	is(job.container.build,
	   "/here/FlagPerf/training/dcu/docker_image/pytorch_1.13",
	   "and is built where it is not");
	is(job.measure.framework, "pytorch", "whose log it is");
	is(job.measure.model, "m", "the model");
	ok(job.nodes == 1 && job.devices == 8, "nodes and devices");
	is(flagperf_docker(sweep_flagperf(sweep), "m:pytorch_1.13:K100:1:8:3"),
	   "sudo docker run  --rm --init --detach --net=host --uts=host "
	   "--ipc=host --security-opt=seccomp=unconfined --privileged=true "
	   "--ulimit=stack=67108864 --ulimit=memlock=-1 -w /fp/training "
	   "--shm-size=64G -v /here/FlagPerf/training:/fp/training "
	   "-v /here/FlagPerf/training/..:/fp/training/.. "
	   "-v /it's a $dir/:/it's a $dir/ --device=/dev/kfd -v "
	   "/opt/a:/opt/a:ro --env 'A=b' -e B=\"c d\" --ulimit=core=0 "
	   "--name=flagperf-dcu-pytorch_1.13-t_v0.1-container "
	   "\"flagperf-dcu-pytorch_1.13:t_v0.1\" sleep infinity",
	   "how dev.py would start its container");
	ok(job.measure.micro_batch == 2, "what stands beside its data");
	is(job.container.workdir, "/fp/training", "the working folder");
	show_mounts(&job, text, sizeof(text));
	is(text,
	   "/here/FlagPerf/training:/fp/training|/here/FlagPerf:/fp|"
	   "/it's a $dir/:/it's a $dir|/logs:/logs|/opt/a:/opt/a:ro|/x:/x|",
	   "what is mounted");
	ok(job.container.shm_bytes == (uint64_t)64 << 30,
	   "the top of the file wins");
	ok(job.container.device_nodes.count == 0,
	   "devices are for the profile to give");
	is(job.container.ulimits.count ? job.container.ulimits.items[0] : "",
	   "core=0", "other options are kept");
	how_a_case_starts(&job);
	is(job.container.needs.count == 5 ? job.container.needs.items[2] : "",
	   "/here/FlagPerf/training/dcu/m-pytorch/config/config_K100x1x8.py",
	   "what it needs, on the node");
	codec_clear(&job_spec_schema, &job);
}

static void the_tree_may_start_it(void)
{
	owned(buffer_clear) struct buffer start = BUFFER_INIT(1 << 20);
	static char text[16384];
	struct error err = { 0 };
	struct job_spec job;

	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nvendor: nvidia\nflagperf:\n  tree: /fp\n"
		      "  launcher: tree\n"
		      "  cases: {'m:pytorch:A100:1:8:1': \"/it's a\"}\n",
		      &err);
	job = job_of(sweep, 0);
	build(&job, &start);
	of_key(&start, "arg=", 0, text, sizeof(text));
	ok(strstr(text, "/start_pytorch_task.py|--vendor|nvidia|"),
	   "launcher: tree takes the tree's own %s", err.text);
	ok(strstr(text, "|--data_dir|'/it'\\''s a'|"),
	   "which puts the path into a shell, so it is quoted");
	ok(!strstr(text, "visible_dev_env"),
	   "an option that has no value is left out");
	codec_clear(&job_spec_schema, &job);
}

/* clang-format off */
#define BASE(case, what) \
	"bash|-c|*|flagperf|/fp/base/benchmarks/" case "|nvidia|" what
static const struct {
	const char *section, *words, *image;
} suites[] = {
	{ "base: {kind: benchmark, nodes: 2, processes: 8, "
	  "cases: {computation-FP32: pytorch_2.3}}",
	  BASE("computation-FP32/nvidia", "/fp/base/benchmarks/computation-FP32|"
	  "torchrun|--nproc_per_node=8|--nnodes=2|--node_rank=1|"
	  "--master_addr=10.0.0.1|--master_port=20500|main.py|"
	  "--vendor=nvidia/A100|--node_size=8|"),
	  "flagperf-base-nvidia-pytorch_2.3:t_v0.1" },
	{ "base: {kind: benchmark, nodes: 2, processes: 8, "
	  "cases: {'computation-FP32:C500': pytorch_2.3}}",
	  BASE("computation-FP32/nvidia/C500",
	  "/fp/base/benchmarks/computation-FP32|"
	  "torchrun|--nproc_per_node=8|--nnodes=2|--node_rank=1|"
	  "--master_addr=10.0.0.1|--master_port=20500|main.py|"
	  "--vendor=nvidia/C500|--node_size=8|"),
	  "flagperf-base-nvidia-pytorch_2.3:t_v0.1" },
	{ "base: {kind: toolkit, nodes: 2, processes: 8, "
	  "cases: {'interconnect-h2d': pytorch_2.3}}",
	  BASE("interconnect-h2d/nvidia",
	  "/fp/base/toolkits/interconnect-h2d/nvidia/A100|bash|main.sh|"),
	  "flagperf-base-nvidia-pytorch_2.3:t_v0.1" },
	{ "base: {kind: toolkit, nodes: 2, processes: 8, "
	  "cases: {'interconnect-h2d:A100': pytorch_2.3}}",
	  BASE("interconnect-h2d/nvidia/A100",
	  "/fp/base/toolkits/interconnect-h2d/nvidia/A100|bash|main.sh|"),
	  "flagperf-base-nvidia-pytorch_2.3:t_v0.1" },
	{ "base: {launcher: tree, kind: benchmark, log_level: info, nodes: 2, "
	  "processes: 8, cases: {computation-FP32: pytorch_2.3}}",
	  BASE("computation-FP32/nvidia", "/fp/base|python3|"
	  "/fp/base/container_main.py|--vendor|nvidia|--case_name|"
	  "computation-FP32|--nnodes|2|--perf_path|/fp/base|--nproc_per_node|8|"
	  "--bench_or_tool|BENCHMARK|--log_dir|"
	  "/fp/base/result/run20251121080000|--log_level|INFO|--master_port|"
	  "20500|--master_addr|10.0.0.1|--host_addr|10.0.0.2|--node_rank|1|"),
	  "flagperf-base-nvidia-pytorch_2.3:t_v0.1" },
	{ "operation: {processes: 1, "
	  "cases: {'mm:FP16:312:nativetorch:A100_40_SXM': e}}",
	  "bash|-c|*|flagperf|/fp/operation/benchmarks/mm/nvidia/A100_40_SXM||"
	  "/fp/operation/benchmarks/mm|python3|main.py|--vendor=nvidia|"
	  "--case_name=mm|--spectflops=312|--dataformat=FP16|"
	  "--oplib=nativetorch|--chip=A100_40_SXM|",
	  "flagperf-operation-nvidia-e:t_v0.1" },
	{ "operation: {mode: cpu, warmup: 10, "
	  "cases: {'t:mm:FP16:312:flaggems:A100': e}}",
	  "bash|-c|*|flagperf|/fp/operation/benchmarks/t/nvidia/A100||"
	  "/fp/operation/benchmarks/t|python3|main.py|--vendor=nvidia|"
	  "--case_name=mm|--spectflops=312|--dataformat=FP16|"
	  "--oplib=flaggems|--chip=A100|--mode=cpu|--warmup=10|"
	  "--log_dir=/fp/operation/result/run20251121080000|"
	  "--result_log_path=/fp/operation/result|"
	  "--container_name=flagperf-operation-nvidia-e-t_v0.1-container|",
	  "flagperf-operation-nvidia-e:t_v0.1" },
	{ "inference: {log_level: INFO, cases: {'llama3_70b:tensorrt-llm': "
	  "\"/d a\"}}",
	  "python3|run_inference.py|--perf_dir|/fp/inference|--loglevel|INFO|"
	  "--vendor|nvidia|--case|llama3_70b|--data_dir|/d a|--framework|"
	  "tensorrt-llm|--log_dir|/fp/inference/result/run20251121080000/"
	  "llama3_70b:tensorrt-llm/10.0.0.1_noderank0|",
	  "flagperf-inference-nvidia-tensorrt-llm:t_v0.1" },
};
/* clang-format on */

static void the_workspace_may_have_it(void)
{
	static char text[4096];
	struct error err = { 0 };
	struct job_spec job;
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nvendor: nvidia\nworkspace: {path: ./FlagPerf, "
		      "container: /w}\nflagperf:\n"
		      "  cases: {'m:pytorch:A100:1:8:1': /d}\n",
		      &err);

	ok(sweep, "a tree that the sweep brings %s", err.text);
	job = job_of(sweep, 0);
	show_mounts(&job, text, sizeof(text));
	is(text, "/d:/d|", "is not mounted");
	is(job.container.workdir, "/w/training", "the command runs in it");
	ok(!job.container.needs.count && !job.container.build,
	   "and the nodes need nothing for it, nor build anything");
	codec_clear(&job_spec_schema, &job);
}

static void the_other_suites(size_t i)
{
	owned(buffer_clear) struct buffer start = BUFFER_INIT(1 << 20);
	static char text[16384];
	struct error err = { 0 };
	struct job_spec job;

	snprintf(text, sizeof(text),
		 "sweep: s\nvendor: nvidia\nflagperf:\n  tree: /fp\n  %s\n",
		 suites[i].section);
	owned(sweep_free) struct sweep *sweep = parse(text, &err);
	job = job_of(sweep, 0);
	build(&job, &start);
	of_key(&start, "arg=", 0, text, sizeof(text));
	without_script(text);
	is(text, suites[i].words, "%.60s %s", suites[i].section, err.text);
	is(job.container.image, suites[i].image, "and its image");
	codec_clear(&job_spec_schema, &job);
}

/* clang-format off */
static const struct {
	const char *name, *block, *want;
} wrong[] = {
	{ "too few fields", "cases: {'m:pytorch:A100:1:8': /d}",
	  "f:5: flagperf.cases.m:pytorch:A100:1:8: a case of 5 fields; expected \"model:framework:hardware:nnodes:nproc:repeat\"" },
	{ "an empty field", "cases: {'m::A100:1:8:1': /d}",
	  "f:5: flagperf.cases.m::A100:1:8:1: an empty framework" },
	{ "no number", "cases: {'m:pytorch:A100:one:8:1': /d}",
	  "f:5: flagperf.cases.m:pytorch:A100:one:8:1: nnodes \"one\" is not valid here; expected 1 to 4096" },
	{ "a path in a case", "cases: {'../m:pytorch:A100:1:8:1': /d}",
	  "f:5: flagperf.cases.../m:pytorch:A100:1:8:1: the part \"../m\" is not valid here; expected parts without \"/\"" },
	{ "an unknown key", "case: {}",
	  "f:5: flagperf.case: unknown key; expected tree, path, vendor, options, visible, cases, keep_going, without, pip_source, log_path ...; did you mean \"cases\"?" },
	{ "no kind", "base: {cases: {a: b}}",
	  "f:5: flagperf.base: missing \"kind\" (expected benchmark, toolkit)" },
	{ "an unknown kind", "base: {kind: tool, cases: {a: b}}",
	  "f:5: flagperf.base.kind: \"tool\" is not valid here; expected benchmark, toolkit" },
	{ "an unknown launcher", "base: {launcher: own, kind: toolkit}",
	  "f:5: flagperf.base.launcher: \"own\" is not valid here; expected direct or tree" },
	{ "an unknown option", "options: '--gpu all'\n  cases: {'a:b:c:1:1:1': /d}",
	  "f:5: flagperf.options: the option \"--gpu\" is not valid here; expected --device, --volume, --env, --ulimit, --cap-add, --shm-size and similar; did you mean --gpus?" },
	{ "an open quote", "options: \"-v '/a\"\n  cases: {'a:b:c:1:1:1': /d}",
	  "f:5: flagperf.options: missing closing quote '" },
	{ "no cases", "cases: {}",
	  "f:4: flagperf: no cases in \"cases\" or in another suite" },
};
/* clang-format on */

static void what_is_wrong_is_told(void)
{
	struct error err = { 0 };
	char text[1000];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text),
			 "sweep: s\nvendor: nvidia\nflagperf:\n  tree: /fp\n"
			 "  %s\n",
			 wrong[i].block);
		owned(sweep_free) struct sweep *sweep = parse(text, &err);
		is(sweep ? "a sweep" : err.text, wrong[i].want, "%s",
		   wrong[i].name);
	}
	owned(sweep_free) struct sweep *none =
		parse("sweep: s\nflagperf: {cases: {'a:b:c:1:1:1': /d}}\n",
		      &err);
	is(none ? "a sweep" : err.text,
	   "f:2: flagperf: missing \"tree\" (expected the path of the FlagPerf "
	   "checkout on the nodes, or a workspace that contains it)",
	   "no tree");
}

static void the_others_go_on(void)
{
	char cell[300], reason[800];
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nvendor: nvidia\nflagperf:\n  tree: /fp\n"
		      "  keep_going: true\n"
		      "  without: {'m:pytorch:A100:2:8:1': not there}\n"
		      "  cases:\n    'm:pytorch:A100:1:8': /d\n"
		      "    'm:pytorch:A100:1:8:1': /d\n"
		      "    'm:pytorch:A100:2:8:1': /d\n",
		      &err);

	ok(sweep && sweep_totals(sweep)->kept == 1, "one case is left %s",
	   err.text);
	if (!sweep)
		return;
	sweep_drop(sweep, 0, cell, sizeof(cell), reason, sizeof(reason), &err);
	is(cell, "m:pytorch:A100:1:8", "a wrong one is dropped");
	is(reason,
	   "f:8: flagperf.cases.m:pytorch:A100:1:8: a case of 5 fields; "
	   "expected \"model:framework:hardware:nnodes:nproc:repeat\"",
	   "with its reason");
	sweep_drop(sweep, 1, cell, sizeof(cell), reason, sizeof(reason), &err);
	is(reason, "not there", "and one that is named is left out");
}

/* A job that has its node alone gets them from the profile. */
static void a_part_of_a_node_has_the_network_it_asks_for(void)
{
	static const char *const shared[] = { "false", "true" };
	char text[400];

	for (size_t i = 0; i < 2; i++) {
		struct error err = { 0 };
		struct job_spec job;

		snprintf(text, sizeof(text),
			 "sweep: s\nvendor: nvidia\nshared: %s\nflagperf:\n"
			 "  tree: /fp\n  options: '--device=/dev/infiniband "
			 "--device /dev/dri'\n"
			 "  cases: {'m:pytorch:A:1:4:1': /d}\n",
			 shared[i]);
		owned(sweep_free) struct sweep *sweep = parse(text, &err);
		job = job_of(sweep, 0);
		is(job.container.device_nodes.count
			   ? job.container.device_nodes.items[0]
			   : "",
		   i ? "/dev/infiniband/*" : "", "shared: %s %s", shared[i],
		   err.text);
		codec_clear(&job_spec_schema, &job);
	}
}

static void memory_may_run_out(void)
{
	static const char text[] =
		"sweep: s\nvendor: nvidia\nmounts: [{host: /x, container: "
		"/x}]\n"
		"env: {A: b}\nflagperf:\n  tree: /fp\n  keep_going: true\n"
		"  without: {'m:pytorch:B:1:8:1': why}\n  visible: V\n"
		"  options: '-v /a:/b -e C=d --cap-add X --shm-size 1G'\n"
		"  log_path: /logs\n  cases:\n"
		"    'm:pytorch:TP1PP1SH1SP8A:1:8:1': {data: /d, "
		"batch: {micro: 1}, env: {A: c}}\n"
		"    'm:pytorch:B:1:8:1': /d\n    'm:none': /d\n"
		"  base: {kind: toolkit, cases: {a: b}}\n";
	bool good = true;
	long n;

	for (n = 1;; n++) {
		struct error err = { 0 };
		struct job_spec spec = { 0 };
		struct sweep *sweep;
		bool failed, made;

		fault_arm(n);
		sweep = parse(text, &err);
		made = sweep && sweep_job(sweep, 0, &spec, &err) == 0;
		failed = fault_disarm();
		codec_clear(&job_spec_schema, &spec);
		sweep_free(sweep);
		if (failed == made || (failed && err.code != ENOMEM))
			good = ok(false, "allocation %ld: %d %s", n, err.code,
				  err.text);
		if (!failed || !good)
			break;
	}
	ok(good && n > 100, "each of %ld allocations may fail", n - 1);
}

int main(void)
{
	struct error err = { 0 };
	struct catalog *loaded = catalog_load("images", &err);
	size_t count = sizeof(cases) / sizeof(cases[0]);
	size_t more = sizeof(suites) / sizeof(suites[0]);
	size_t bad = sizeof(wrong) / sizeof(wrong[0]);

	tap_begin((int)(count * 4 + 1 + 3 + 19 + 3 + 4 + more * 2 + bad + 1 +
			4 + 1 + 1));
	catalog = loaded;
	ok(loaded, "the data files are read %s", err.text);
	for (size_t i = 0; i < count; i++)
		a_case_is_started_as_flagperf_starts_it(i);
	what_of_flagscale_is_followed();
	only_what_is_started_is_needed();
	what_surrounds_a_case();
	the_tree_may_start_it();
	the_workspace_may_have_it();
	for (size_t i = 0; i < more; i++)
		the_other_suites(i);
	what_is_wrong_is_told();
	the_others_go_on();
	a_part_of_a_node_has_the_network_it_asks_for();
	fault_hook_cjson();
	memory_may_run_out();
	catalog_free(loaded);
	return tap_done();
}
