/* command_test.c - what regatta-init is told to run: records, placeholders.
 */
#include "agent/task/command.h"

#include "agent/init/init.h"
#include "tests/tap.h"

#include <errno.h>

static const struct rendezvous there = { .address = "10.0.0.1", .port = 20500 };

/* The records, with '|' for each NUL. */
static const char *records(const struct buffer *start)
{
	static char text[4096];

	if (start->size >= sizeof(text))
		return "too long";
	memcpy(text, start->data, start->size);
	text[start->size] = 0;
	for (size_t i = 0; i < start->size; i++)
		if (!text[i])
			text[i] = '|';
	return text;
}

/* Those of one key only: "env=" or "arg=". */
static const char *of_key(const struct buffer *start, const char *key)
{
	static char text[4096];
	size_t n = 0;

	for (size_t at = 0; at < start->size;) {
		const char *record = start->data + at;

		at += strlen(record) + 1;
		if (!strncmp(record, key, strlen(key)))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s|",
					      record + strlen(key));
	}
	text[n] = 0;
	return text;
}

static struct task_spec four_of_eight(void)
{
	return (struct task_spec){
		.job = 7,
		.attempt = 1,
		.rank = 3,
		.nodes = 4,
		.first_rank = 6,
		.world_size = 8,
		.processes_per_node = 2,
		.container.recorder_off = true,
	};
}

static void whole_file(void)
{
	owned(buffer_clear) struct buffer start = BUFFER_INIT(INIT_START_MAX);
	struct task_spec spec = four_of_eight();
	struct strings none = { 0 };
	struct error err = { 0 };

	spec.container.processes = 2;
	spec.container.grace_ms = 1500;
	strings_add(&spec.container.argv, "train", NULL);
	strings_add(&spec.container.argv, "", NULL);
	is_int(command_build(&spec, &none, &there, &start, &err), 0,
	       "a start file is made");
	is(records(&start),
	   "version=1|processes=2|first_rank=6|grace_ms=1500|rank_env=1|"
	   "node=3|log_limit=17179869184|open_files=1048576|"
	   "env=PYTHONUNBUFFERED=1|"
	   "env=PYTHONFAULTHANDLER=1|env=MASTER_ADDR=10.0.0.1|env=MASTER_"
	   "PORT=20500|env=NNODES=4|"
	   "env=NODE_RANK=3|env=NPROC_PER_NODE=2|env=WORLD_SIZE=8|"
	   "arg=train|arg=|",
	   "version first, numbers, rendezvous, every argument");
	buffer_clear(&start);
	spec.container.processes = 0;
	spec.container.grace_ms = 0;
	command_build(&spec, &none, &there, &start, &err);
	ok(!strncmp(records(&start),
		    "version=1|processes=1|first_rank=6|node=", 40),
	   "without processes: one, that is not told its rank");
	buffer_clear(&start);
	strings_add(&spec.container.ulimits, "nofile=8:9", NULL);
	command_build(&spec, &none, &there, &start, &err);
	ok(strstr(records(&start), "|open_files=0|"),
	   "a limit of the sweep is kept");
	strings_clear(&spec.container.ulimits);
	strings_clear(&spec.container.argv);
}

static void flight_recorder(void)
{
	owned(buffer_clear) struct buffer start = BUFFER_INIT(INIT_START_MAX);
	struct task_spec spec = four_of_eight();
	struct strings none = { 0 };
	struct error err = { 0 };
	const char *env;

	spec.container.recorder_off = false;
	strings_add(&spec.container.argv, "train", NULL);
	strings_add(&spec.container.env, "TORCH_FR_BUFFER_SIZE=9", NULL);
	is_int(command_build(&spec, &none, &there, &start, &err), 0,
	       "a start file is made with PyTorch's flight recorder");
	is(of_key(&start, "follow="), "/regatta/out/regatta-recorder-*|",
	   "its dumps are followed");
	env = of_key(&start, "env=");
	ok(strstr(env, "|TORCH_NCCL_TRACE_BUFFER_SIZE=2000|") &&
		   strstr(env, "|TORCH_NCCL_DUMP_ON_TIMEOUT=1|") &&
		   strstr(env, "|TORCH_NCCL_DEBUG_INFO_TEMP_FILE="
			       "/regatta/out/regatta-recorder-|") &&
		   strstr(env, "|TORCH_NCCL_DEBUG_INFO_PIPE_FILE="
			       "/regatta/out/regatta-recorder-|"),
	   "and its variables set");
	ok(strstr(env, "|TORCH_FR_BUFFER_SIZE=9|") >
		   strstr(env, "|TORCH_FR_BUFFER_SIZE=2000|"),
	   "those of the sweep win");
	strings_clear(&spec.container.argv);
	strings_clear(&spec.container.env);
}

static void what_is_run(void)
{
	owned(buffer_clear) struct buffer start = BUFFER_INIT(INIT_START_MAX);
	struct task_spec spec = four_of_eight();
	struct strings image = { 0 }, none = { 0 };
	struct error err = { 0 };

	strings_add(&image, "/entry", NULL);
	strings_add(&image, "--port=${MASTER_PORT}", NULL);
	command_build(&spec, &image, &there, &start, &err);
	is(of_key(&start, "arg="), "/entry|--port=20500|",
	   "without a command of the spec, the image's");
	buffer_clear(&start);
	strings_add(&spec.container.argv, "mine", NULL);
	command_build(&spec, &image, &there, &start, &err);
	is(of_key(&start, "arg="), "mine|", "with one, it alone");
	buffer_clear(&start);
	strings_clear(&spec.container.argv);
	is_int(command_build(&spec, &none, &there, &start, &err), -1,
	       "with neither, nothing can be run");
	is_int(err.code, EINVAL, "which is an error");
	ok(strstr(err.text, "no command") && strstr(err.text, "entry point"),
	   "that says what is missing: %s", err.text);
	is_int((long long)start.size, 0, "and nothing is written");
	strings_clear(&image);
}

static void a_file(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(4096);
	struct task_spec spec = four_of_eight();
	char rank[] = "rank ${NODE_RANK} of ${x} ${NNODES}\n", name[] = "a";
	char nothing[] = "";
	struct file_spec file = { name, rank };
	struct error err = { 0 };

	spec.container.files = &file;
	spec.container.files_count = 1;
	is_int(command_text(&spec, spec.container.files[0].text, &there, &text,
			    &err),
	       0, "a file of the spec");
	is(text.data, "rank 3 of ${x} 4\n", "is filled as arguments are");
	file.text = nothing;
	buffer_clear(&text);
	is_int(command_text(&spec, spec.container.files[0].text, &there, &text,
			    &err),
	       0, "and may be empty");
	is_int((long long)text.size, 0, "and is then");
}

static void placeholders(void)
{
	/* clang-format off */
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "${MASTER_ADDR}", "10.0.0.1" },
		{ "tcp://${MASTER_ADDR}:${MASTER_PORT}/x",
		  "tcp://10.0.0.1:20500/x" },
		{ "${NNODES} ${NODE_RANK} ${NPROC_PER_NODE} ${WORLD_SIZE}",
		  "4 3 2 8" },
		{ "${HOME} $MASTER_ADDR ${master_addr} $", "${HOME} "
		  "$MASTER_ADDR ${master_addr} $" },
		{ "${NNODES", "${NNODES" },
		{ "${", "${" },
		{ "${}", "${}" },
		{ "${${NNODES}}", "${4}" },
		{ "$${NNODES}", "$4" },
		{ "${NNODES}}{", "4}{" },
		{ "${NNODESX}${NNODE}", "${NNODESX}${NNODE}" },
		{ "caf\xc3\xa9 \"${NNODES}\"\n\\", "caf\xc3\xa9 \"4\"\n\\" },
		{ "", "" },
	};
	/* clang-format on */
	struct strings none = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		owned(buffer_clear) struct buffer start =
			BUFFER_INIT(INIT_START_MAX);
		struct task_spec spec = four_of_eight();
		char want[256];

		strings_add(&spec.container.argv, cases[i].from, NULL);
		command_build(&spec, &none, &there, &start, NULL);
		snprintf(want, sizeof(want), "%s|", cases[i].to);
		is(of_key(&start, "arg="), want, "argument %zu is filled",
		   i + 1);
		strings_clear(&spec.container.argv);
	}
}

/* The value that counts is the last one: agent/init/init.h. */
static void environment(void)
{
	owned(buffer_clear) struct buffer start = BUFFER_INIT(INIT_START_MAX);
	struct task_spec spec = four_of_eight();
	struct strings none = { 0 };

	strings_add(&spec.container.argv, "x", NULL);
	strings_add(&spec.container.env, "MASTER_PORT=1", NULL);
	strings_add(&spec.container.env, "URL=${MASTER_ADDR}:${MASTER_PORT}",
		    NULL);
	strings_add(&spec.container.env, "EMPTY=", NULL);
	command_build(&spec, &none, &there, &start, NULL);
	is(of_key(&start, "env="),
	   "PYTHONUNBUFFERED=1|PYTHONFAULTHANDLER=1|MASTER_ADDR=10.0.0.1|"
	   "MASTER_PORT=20500|NNODES=4|NODE_RANK=3|"
	   "NPROC_PER_NODE=2|WORLD_SIZE=8|"
	   "MASTER_PORT=1|URL=10.0.0.1:20500|EMPTY=|",
	   "variables of the spec come last, so they win");
	strings_clear(&spec.container.argv);
	strings_clear(&spec.container.env);
}

/* Whether the interface's variables are told. */
static bool tells_interface(uint32_t nodes, const char *network,
			    const char *interface)
{
	owned(buffer_clear) struct buffer start = BUFFER_INIT(INIT_START_MAX);
	owned_free char *copy = network ? strdup(network) : NULL;
	struct task_spec spec = four_of_eight();
	struct strings none = { 0 };
	struct rendezvous by = there;
	const char *env;

	by.interface = interface;
	spec.nodes = nodes;
	spec.container.network = copy;
	strings_add(&spec.container.argv, "x", NULL);
	strings_add(&spec.container.env, "NCCL_SOCKET_IFNAME=${INTERFACE}",
		    NULL);
	command_build(&spec, &none, &by, &start, NULL);
	strings_clear(&spec.container.argv);
	strings_clear(&spec.container.env);
	env = of_key(&start, "env=");
	return strstr(env, "GLOO_SOCKET_IFNAME=eth7|") &&
	       strstr(env, "|NCCL_SOCKET_IFNAME=eth7|");
}

static void the_interface(void)
{
	ok(tells_interface(4, NULL, "eth7") &&
		   tells_interface(4, "host", "eth7"),
	   "several nodes in the host's network are told their interface");
	ok(!tells_interface(1, NULL, "eth7") &&
		   !tells_interface(4, "bridge", "eth7") &&
		   !tells_interface(4, NULL, NULL),
	   "one that is alone, in a network of its own, or has none is not");
}

static void all_addresses(void)
{
	owned(buffer_clear) struct buffer start = BUFFER_INIT(INIT_START_MAX);
	owned(buffer_clear) struct buffer hosts = BUFFER_INIT(100);
	struct task_spec spec = four_of_eight();
	struct strings none = { 0 };
	struct rendezvous two = { .address = "10.0.0.1", .port = 20500 };
	struct error err = { 0 };

	strings_add(&spec.container.argv, "a ${NODE_ADDRESSES} b", NULL);
	strings_add(&spec.container.argv, "${NODE_ENDPOINTS_JSON}", NULL);
	strings_add(&spec.container.follow, "/f${NODE_RANK}", NULL);
	ok(container_wants_addresses(&spec.container),
	   "a command that names the nodes' addresses wants them");
	command_build(&spec, &none, &there, &start, &err);
	is(of_key(&start, "arg="),
	   "a ${NODE_ADDRESSES} b|${NODE_ENDPOINTS_JSON}|",
	   "which are left as they are when they are not known");
	is_int(command_hostfile(&spec, &there, &hosts, &err), 0,
	       "as is the hostfile");
	is_int((long long)hosts.size, 0, "which is empty");
	two.time_ms = 1763712000999;
	spec.rank = 1;
	spec.repeat = 2;
	strings_add(&spec.container.prepare,
		    "${NODE_ADDRESS} ${ROUND} ${START_TIME} ${NODE_RANK}",
		    NULL);
	strings_add(&two.addresses, "10.0.0.1", NULL);
	strings_add(&two.addresses, "n2", NULL);
	strings_add(&spec.container.argv, "${HOSTFILE}", NULL);
	buffer_clear(&start);
	command_build(&spec, &none, &two, &start, &err);
	is(of_key(&start, "arg="),
	   "a 10.0.0.1,n2 b|[\"10.0.0.1:20500\", \"n2:20500\"]|"
	   "/regatta/in/hostfile|",
	   "all nodes' addresses are filled in order of their ranks");
	is(of_key(&start, "follow="), "/f1|", "and so are followed files");
	is(of_key(&start, "prepare="), "n2 3 20251121080000 1|",
	   "the command before knows its own address, the round and the start");
	strings_clear(&spec.container.prepare);
	command_hostfile(&spec, &two, &hosts, &err);
	is(hosts.data, "10.0.0.1 slots=2\nn2 slots=2\n",
	   "the hostfile has a line for each");
	strings_clear(&two.addresses);
	strings_add(&two.addresses, "::1", NULL);
	strings_add(&two.addresses, "fe80::2", NULL);
	strings_clear(&spec.container.argv);
	strings_add(&spec.container.argv,
		    "${NODE_ADDRESS}:${MASTER_PORT} ${NODE_ADDRESS} "
		    "${NODE_ENDPOINTS_JSON}",
		    NULL);
	buffer_clear(&start);
	command_build(&spec, &none, &two, &start, &err);
	is(of_key(&start, "arg="),
	   "[fe80::2]:20500 fe80::2 [\"[::1]:20500\", \"[fe80::2]:20500\"]|",
	   "an IPv6 address has brackets before its port");
	strings_clear(&two.addresses);
	strings_clear(&spec.container.argv);
	strings_clear(&spec.container.follow);
	ok(!container_wants_addresses(&spec.container),
	   "a command without them does not");
	strings_add(&spec.container.collect, "/out/${NODE_ADDRESS}", NULL);
	ok(container_wants_addresses(&spec.container),
	   "unless it leaves files that are named after them");
	strings_clear(&spec.container.collect);
}

static void names(void)
{
	ok(file_name_valid("rank_table.json") && file_name_valid("new") &&
		   file_name_valid("a.newer"),
	   "names of files");
	ok(!file_name_valid("start") && !file_name_valid(".a") &&
		   !file_name_valid("a/b") && !file_name_valid(""),
	   "names that no file may have");
	ok(!file_name_valid("start.new") && !file_name_valid("a.new"),
	   "nor one that is overwritten while another is being written");
	ok(address_valid("n1.example.org") && address_valid("10.0.0.1") &&
		   address_valid("fe80::1%eth0"),
	   "addresses of nodes");
	ok(!address_valid("") && !address_valid("n1;id") &&
		   !address_valid("n1 n2") && !address_valid("n1\n") &&
		   !address_valid("-oProxyCommand=id") &&
		   !address_valid("$(id)") && !address_valid("\"n1\""),
	   "what a shell or a list would take for more");
}

static void limits(void)
{
	owned(buffer_clear) struct buffer start = BUFFER_INIT(100);
	struct task_spec spec = four_of_eight();
	struct strings none = { 0 };
	struct error err = { 0 };
	char address[512];
	struct rendezvous far = { .address = address, .port = 1 };

	strings_add(&spec.container.argv, "x", NULL);
	is_int(command_build(&spec, &none, &there, &start, &err), -1,
	       "what does not fit is refused");
	is_int(err.code, E2BIG, "as too big");
	memset(address, 'a', sizeof(address) - 1);
	address[255] = 0;
	start.limit = INIT_START_MAX;
	buffer_clear(&start);
	is_int(command_build(&spec, &none, &far, &start, &err), 0,
	       "an address of 255 bytes is whole");
	is_int((long long)strcspn(of_key(&start, "env=MASTER_ADDR="), "|"), 255,
	       "in its full length");
	address[255] = 'a';
	address[256] = 0;
	is_int(command_build(&spec, &none, &far, &start, &err), -1,
	       "a longer one is refused, not cut");
	is_int(err.code, EINVAL, "in words: %s", err.text);
	strings_clear(&spec.container.argv);
}

int main(void)
{
	tap_begin(34);
	whole_file();
	flight_recorder();
	what_is_run();
	a_file();
	placeholders();
	environment();
	the_interface();
	all_addresses();
	limits();
	names();
	return tap_done();
}
