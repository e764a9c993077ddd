/* sweep_test.c - a sweep file becomes the jobs it asks for, or is refused.
 */
#include "controller/sweep/sweep.h"

#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>

static struct catalog *catalog;

static struct sweep *parse(const char *text, struct error *err)
{
	return sweep_parse(text, strlen(text), "f", catalog, err);
}

/* A field of a job: as text, by its place in the JSON of its spec. */
static char *job_field(struct sweep *sweep, size_t job, const char *path)
{
	struct job_spec spec = { 0 };
	struct error err = { 0 };
	cJSON *object = NULL, *item;
	owned_free char *copy = strdup(path);
	char *text, *rest = copy, *name;

	if (sweep_job(sweep, job, &spec, &err) < 0)
		return strdup(err.text);
	item = object = codec_object(&job_spec_schema, &spec, &err);
	while (item && (name = strsep(&rest, "/")))
		item = cJSON_GetObjectItemCaseSensitive(item, name);
	text = !item                  ? NULL
	       : cJSON_IsString(item) ? strdup(item->valuestring)
				      : cJSON_PrintUnformatted(item);
	cJSON_Delete(object);
	codec_clear(&job_spec_schema, &spec);
	return text;
}

static void field_is(struct sweep *sweep, size_t job, const char *path,
		     const char *want)
{
	owned_free char *got = sweep ? job_field(sweep, job, path) : NULL;

	is(got, want, "job %zu: %s", job, path);
}

static const char every_key[] =
	"sweep: all-keys\n"
	"vendor: CPU\n"
	"nodes: 2\ndevices: 3\nshared: true\n"
	"image: repo/name:tag\n"
	"command: [run, '${model}', '$$HOME', $HOME,\n"
	"  'n=${nodes}', '${MASTER_ADDR}:${MASTER_PORT}', 5]\n"
	"env: {A: 'x ${batch.global}', B: ''}\n"
	"mounts:\n"
	"  - {host: '/data/${model}', container: /data,\n"
	"     read_only: true}\n"
	"  - {host: /b, container: /c}\n"
	"workdir: /w/${repeat}\nuser: 1000:100\n"
	"network: none\nipc: host\nshm: 32G\nmemory: 64M\n"
	"cpus: 1.5\nulimits: {memlock: -1, nofile: 10:20}\n"
	"capabilities: [SYS_PTRACE]\ngroups: [video, 44]\n"
	"device_nodes: ['/dev/fuse:/dev/f:rw']\n"
	"security: [seccomp=unconfined]\n"
	"processes: device\nrepeat: 2\npriority: -3\n"
	"timeout: 2h\nretries: 5\ngrace: 500ms\n"
	"warmup_steps: 7\nmodel: mine\nprecision: bf16\n"
	"stage: lora\nrecompute: full\nspread_percent: 2.5\n"
	"batch: {micro: 2, accumulate: 4, sequence: 128}\n";

static void test_fields(void)
{
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep = parse(every_key, &err);

	if (!ok(sweep != NULL, "every key is read (%s)", err.text))
		return;
	is(sweep_name(sweep), "all-keys", "the sweep has its name");
	is_int((long long)sweep_totals(sweep)->jobs, 2,
	       "a repeat is a job of its own");
	is_int((long long)sweep_totals(sweep)->node_jobs, 4,
	       "the nodes are counted");
	is_int((long long)sweep_totals(sweep)->timeout_ms, 14400000,
	       "and the time");
	field_is(sweep, 1, "sweep", "all-keys");
	field_is(sweep, 1, "cell", "model=mine");
	field_is(sweep, 1, "repeat", "1");
	field_is(sweep, 0, "repeat", NULL);
	field_is(sweep, 0, "vendor", "cpu");
	field_is(sweep, 0, "nodes", "2");
	field_is(sweep, 0, "devices", "3");
	field_is(sweep, 0, "shared", "true");
	field_is(sweep, 0, "priority", "-3");
	field_is(sweep, 0, "timeout_ms", "7200000");
	field_is(sweep, 0, "retries", "5");
	field_is(sweep, 0, "values",
		 "{\"model\":\"mine\",\"nodes\":2,\"batch\":{\"micro\":2,"
		 "\"accumulate\":4,\"sequence\":128,\"global\":48}}");
	field_is(sweep, 0, "container",
		 "{\"image\":\"repo/name:tag\",\"argv\":[\"run\",\"mine\","
		 "\"$HOME\",\"$HOME\",\"n=2\","
		 "\"${MASTER_ADDR}:${MASTER_PORT}\",\"5\"],"
		 "\"env\":[\"A=x 48\",\"B=\"],"
		 "\"mounts\":[{\"host\":\"/data/mine\",\"container\":\"/data\","
		 "\"read_only\":true},{\"host\":\"/b\",\"container\":\"/c\"}],"
		 "\"workdir\":\"/w/2\",\"user\":\"1000:100\","
		 "\"network\":\"none\",\"ipc\":\"host\","
		 "\"shm_bytes\":34359738368,\"memory_bytes\":67108864,"
		 "\"cpus\":1.5,\"ulimits\":[\"memlock=-1\",\"nofile=10:20\"],"
		 "\"capabilities\":[\"SYS_PTRACE\"],"
		 "\"groups\":[\"video\",\"44\"],"
		 "\"device_nodes\":[\"/dev/fuse:/dev/f:rw\"],"
		 "\"security\":[\"seccomp=unconfined\"],\"processes\":3,"
		 "\"grace_ms\":500}");
	field_is(sweep, 0, "measure",
		 "{\"warmup_steps\":7,\"sequence\":128,\"micro_batch\":2,"
		 "\"accumulate\":4,\"global_batch\":48,\"model\":\"mine\","
		 "\"precision\":\"bf16\",\"stage\":\"lora\","
		 "\"recompute\":\"full\",\"spread_percent\":2.5}");
}

static void test_defaults(void)
{
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\n", &err);
	owned(sweep_free) struct sweep *bare =
		parse("sweep: s\nbuild: cpu\nframework: cpu\n", &err);
	owned(sweep_free) struct sweep *brief =
		parse("sweep: s\nimage: i\ntimeout: 1500ms\nrepeat: 3\n", &err);

	if (!ok(sweep && bare && brief, "little is needed (%s)", err.text))
		return;
	field_is(sweep, 0, "cell", "s");
	field_is(sweep, 0, "vendor", "cpu");
	field_is(sweep, 0, "nodes", "1");
	field_is(sweep, 0, "retries", "2");
	field_is(sweep, 0, "timeout_ms", NULL);
	field_is(sweep, 0, "container", "{\"image\":\"i\",\"grace_ms\":10000}");
	field_is(sweep, 0, "measure", "{}");
	is_int((long long)sweep_totals(sweep)->timeout_ms, 0,
	       "without a time limit the time is unknown");
	field_is(brief, 0, "timeout_ms", "1500");
	is_int((long long)sweep_totals(brief)->timeout_ms, 6000,
	       "the time is added up in whole seconds, rounded up");
	field_is(bare, 0, "container/image", "cpu");
	field_is(bare, 0, "container/build", "cpu");
}

static void test_framework(void)
{
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nframework: cpu\nsteps: 7\n"
		      "env: {WORLD_SIZE: mine, OTHER: '1'}\n"
		      "matrix: {model: [gpt-nano, gpt-mini]}\n",
		      &err);
	owned(sweep_free) struct sweep *image =
		parse("sweep: s\nframework: cpu\nimage: own\ncommand: [a]\n",
		      &err);

	if (!ok(sweep && image, "a framework brings the rest (%s)", err.text))
		return;
	field_is(sweep, 1, "container/argv",
		 "[\"/trainer\",\"--layers\",\"4\",\"--hidden\",\"128\","
		 "\"--heads\",\"4\",\"--sequence\",\"128\",\"--micro-batch\","
		 "\"2\",\"--accumulate\",\"1\",\"--steps\",\"7\"]");
	field_is(sweep, 1, "container/env",
		 "[\"WORLD_SIZE=mine\",\"OTHER=1\"]");
	field_is(sweep, 1, "container/build", "cpu");
	field_is(sweep, 1, "container/processes", "1");
	field_is(sweep, 1, "measure/framework", "cpu");
	field_is(sweep, 1, "measure/steps", "7");
	field_is(image, 0, "container/image", "own");
	field_is(image, 0, "container/build", NULL);
	field_is(image, 0, "container/argv", "[\"a\"]");
	field_is(image, 0, "measure/steps", NULL);
}

static const char matrix_text[] =
	"sweep: m\n"
	"image: i\n"
	"command: ['${model}', '${lr}', '${batch.micro}', '${parallel.tp}',\n"
	"  '${parallel.dp}', '${note.text}']\n"
	"devices: 8\n"
	"note: {text: base}\n"
	"batch: {micro: 1, sequence: 64}\n"
	"matrix:\n"
	"  model: [a, b]\n"
	"  lr: [1e-3, 'high']\n"
	"  layout:\n"
	"    - {parallel: {tp: 2}}\n"
	"    - {parallel: {tp: 4}, batch: {micro: 2}}\n";

static void test_matrix(void)
{
	struct error err = { 0 };
	owned_free char *text = NULL;
	owned(sweep_free) struct sweep *sweep = NULL;

	/* The top may not set a variable; an entry of the matrix may. */
	ok(!parse(matrix_text, &err), "a variable at the top is a typing "
				      "mistake");
	text = strdup(matrix_text);
	memcpy(strstr(text, "note: {text: base}\n"), "#", 1);
	free(take(text));
	if (asprintf(&text,
		     "%s    - {parallel: {tp: 8}, note: {text: third}}\n"
		     "  extra: [{note: {text: base}}, {note: {text: end}}]\n"
		     "  batch: [{micro: 3}]\n"
		     "  env: [{A: b}]\n",
		     matrix_text) < 0)
		return;
	memmove(strstr(text, "note: {text: base}\n"),
		strstr(text, "batch: {micro: 1"),
		strlen(strstr(text, "batch: {micro: 1")) + 1);
	sweep = parse(text, &err);
	if (!ok(sweep != NULL, "a matrix is a product (%s)", err.text))
		return;
	is_int((long long)sweep_totals(sweep)->cells, 24, "of all its lists");
	field_is(sweep, 0, "cell",
		 "model=a lr=1e-3 parallel.tp=2 note.text=base");
	field_is(sweep, 1, "cell",
		 "model=a lr=1e-3 parallel.tp=2 note.text=end");
	field_is(sweep, 23, "cell",
		 "model=b lr=high parallel.tp=8 note.text=end");
	field_is(sweep, 23, "container/argv",
		 "[\"b\",\"high\",\"3\",\"8\",\"1\",\"end\"]");
	field_is(sweep, 23, "container/env", "[\"A=b\"]");
	field_is(sweep, 0, "container/argv",
		 "[\"a\",\"1e-3\",\"3\",\"2\",\"4\",\"base\"]");
	field_is(sweep, 0, "values",
		 "{\"model\":\"a\",\"lr\":0.001,\"note.text\":\"base\","
		 "\"nodes\":1,\"batch\":{\"micro\":3,\"accumulate\":1,"
		 "\"sequence\":64,\"global\":12},\"parallel\":{\"tp\":2,"
		 "\"pp\":1,\"dp\":4,\"cp\":1}}");
}

static void test_include_exclude(void)
{
	struct error err = { 0 };
	char cell[100], reason[200];
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\ncommand: [c, '${x}']\n"
		      "matrix: {x: [1, 2, 3], nodes: [1, 2]}\n"
		      "include:\n"
		      "  - {x: 9, priority: 4}\n"
		      "  - {x: 2, nodes: 2}\n"
		      "exclude:\n"
		      "  - {x: 1, nodes: 2}\n"
		      "  - {nodes: 1, x: 3}\n",
		      &err);
	owned(sweep_free) struct sweep *only =
		parse("sweep: s\nimage: i\nnodes: 3\n"
		      "include: [{command: [a]}, {command: [b]}]\n"
		      "exclude: [{repeat: 1, command: [b]}]\n",
		      &err);

	if (!ok(sweep && only, "cells are added and left out (%s)", err.text))
		return;
	is_int((long long)sweep_totals(sweep)->cells, 8, "6 + 2 cells");
	is_int((long long)sweep_totals(sweep)->kept, 5, "5 of them are kept");
	is_int((long long)sweep_totals(sweep)->dropped, 3, "3 are dropped");
	field_is(sweep, 3, "cell", "x=3 nodes=2 priority=0");
	field_is(sweep, 4, "cell", "x=9 nodes=1 priority=4");
	sweep_drop(sweep, 0, cell, sizeof(cell), reason, sizeof(reason), &err);
	is(cell, "x=1 nodes=2 priority=0", "an excluded cell has words");
	is(reason, "excluded on line 9", "and a reason");
	sweep_drop(sweep, 1, cell, sizeof(cell), reason, sizeof(reason), &err);
	is(reason, "excluded on line 10", "each its own");
	sweep_drop(sweep, 2, cell, sizeof(cell), reason, sizeof(reason), &err);
	is(reason, "equal to x=2 nodes=2 priority=0",
	   "the same run counts once");
	ok(sweep_drop(sweep, 3, cell, sizeof(cell), reason, sizeof(reason),
		      &err) < 0,
	   "there is no fourth (%s)", err.text);
	is_int((long long)sweep_totals(only)->cells, 2,
	       "without a matrix the includes are all");
	is_int((long long)sweep_totals(only)->kept, 1,
	       "defaults and lists can be excluded");
	field_is(only, 0, "cell", "command=[a]");
	field_is(only, 0, "nodes", "3");
}

static void test_impossible(void)
{
	struct error err = { 0 };
	char cell[100], reason[200];
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\nmodel: llama2_70b\nnodes: 4\n"
		      "devices: 8\n"
		      "command: [c, '${parallel.tp}']\n"
		      "matrix: {parallel: [{tp: 8, pp: 4}, {tp: 3}, {pp: 16},\n"
		      "  {pp: 32}]}\n",
		      &err);

	if (!ok(sweep != NULL, "impossible cells are no error (%s)", err.text))
		return;
	is_int((long long)sweep_totals(sweep)->kept, 2, "they are dropped");
	sweep_drop(sweep, 0, cell, sizeof(cell), reason, sizeof(reason), &err);
	is(cell, "parallel.tp=3", "with their words");
	is(reason,
	   "TP 3 x PP 1 x CP 1 = 3 does not divide the world: nodes 4 x "
	   "devices 8 = 32",
	   "and the reason");
	sweep_drop(sweep, 1, cell, sizeof(cell), reason, sizeof(reason), &err);
	is(reason,
	   "80 layers of llama2_70b do not divide by PP 32; set parallel.split "
	   "for an uneven split",
	   "also that of the model");
}

static void key_of(const char *text, size_t job, char key[65])
{
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep = parse(text, &err);
	struct job_spec spec = { 0 };

	snprintf(key, 65, "%.64s", err.text);
	if (!sweep || sweep_job(sweep, job, &spec, &err) < 0)
		return;
	snprintf(key, 65, "%s", spec.key);
	codec_clear(&job_spec_schema, &spec);
}

static void test_keys(void)
{
	/* clang-format off */
	static const struct {
		const char *what, *text;
		size_t job;
		bool same;
	} cases[] = {
		{ "the sweep's name",
		  "sweep: b\nimage: i\ncommand: [c, '1']\n", 0, true },
		{ "comments and order",
		  "# hello\nimage: i\ncommand:\n- c\n- 1\nsweep: a\n", 0, true },
		{ "priority, time limit and retries",
		  "sweep: a\nimage: i\ncommand: [c, 1]\npriority: 3\n"
		  "timeout: 3s\nretries: 0\n", 0, true },
		{ "a matrix that leads there",
		  "sweep: a\nimage: i\ncommand: [c, '${x}']\n"
		  "matrix: {x: [0, 1]}\n", 1, true },
		{ "a default that is spelled out",
		  "sweep: a\nimage: i\ncommand: [c, 1]\nnodes: 1\n"
		  "vendor: cpu\ngrace: 10s\n", 0, true },
		{ "the repeat",
		  "sweep: a\nimage: i\ncommand: [c, 1]\nrepeat: 2\n", 1, true },
		{ "the command",
		  "sweep: a\nimage: i\ncommand: [c, 2]\n", 0, false },
		{ "the model",
		  "sweep: a\nimage: i\ncommand: [c, 1]\nmodel: m\n", 0, false },
		{ "the nodes",
		  "sweep: a\nimage: i\ncommand: [c, 1]\nnodes: 2\n", 0, false },
	};
	/* clang-format on */
	char first[65], key[65];

	key_of("sweep: a\nimage: i\ncommand: [c, 1]\n", 0, first);
	is_int((long long)strspn(first, "0123456789abcdef"), 64,
	       "a key is 64 hex digits");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		key_of(cases[i].text, cases[i].job, key);
		ok(!strcmp(first, key) == cases[i].same, "%s: %s key",
		   cases[i].what, cases[i].same ? "the same" : "another");
	}
}

/* clang-format off */
static const struct {
	const char *what, *text, *error;
} refused[] = {
	{ "an unknown key", "sweep: s\nimage: i\nnodse: 2\n",
	  "f:3: nodse: unknown key; expected sweep, vendor, chip, nodes, devices, shared, framework, image, build, command, env, secrets ...; did you mean \"nodes\"?" },
	{ "an unknown key of batch", "sweep: s\nimage: i\nbatch: {mirco: 2}\n",
	  "f:3: batch.mirco: unknown key; expected micro, accumulate, sequence or global; did you mean \"micro\"?" },
	{ "no name", "image: i\n",
	  "f:1: missing sweep (expected \"sweep: name\")" },
	{ "a bad name", "sweep: A b\nimage: i\n",
	  "f:1: sweep: \"A b\" is not valid here; expected a-z, 0-9, \".\", \"_\" and \"-\"" },
	{ "no image", "sweep: s\n",
	  "f:1: missing image (expected image, build, or a framework with an image)" },
	{ "a list for a number", "sweep: s\nimage: i\nnodes: [1, 2]\n",
	  "f:3: nodes[0]: \"1\" is not valid here; expected the name of a node (lists of numbers stand in `matrix`)" },
	{ "a map for a number", "sweep: s\nimage: i\ndevices: {a: 1}\n",
	  "f:3: devices: a map of 1 entry is not valid here; expected a value that is not a map" },
	{ "nothing for a number", "sweep: s\nimage: i\nnodes:\n",
	  "f:3: nodes: no value" },
	{ "too many nodes", "sweep: s\nimage: i\nmatrix:\n  nodes: [1, 5000]\n",
	  "f:4: matrix.nodes[1]: \"5000\" is not valid here; expected an integer from 1 to 4096" },
	{ "a command in one text", "sweep: s\nimage: i\ncommand: python a.py\n",
	  "f:3: command: \"python a.py\" is not valid here; expected a list of words, [python, train.py], or for a shell [sh, -c, \"...\"]" },
	{ "an empty command", "sweep: s\nimage: i\ncommand: []\n",
	  "f:3: command: an empty list is not valid here; expected 1 to 4096 words" },
	{ "an order after nothing",
	  "sweep: s\nimage: i\ncommand: ['${x}']\nmatrix:\n  x: [1, 2]\n"
	  "include:\n  - {x: 3, after: {x: 4}}\n",
	  "f:7: include[0].after: no other cell has these values" },
	{ "an order after a key that there is not",
	  "sweep: s\nimage: i\nmatrix:\n  user: [a, b]\n"
	  "after: {step: x}\n",
	  "f:5: after.step: no cell has this key" },
	{ "an order after itself",
	  "sweep: s\nimage: i\nmatrix:\n  user: [a, b]\n"
	  "after: {user: a}\n",
	  "f:5: after: these are values of the cell itself; a cell cannot depend on itself" },
	{ "an order in a circle",
	  "sweep: s\nimage: i\ninclude:\n  - {user: a, after: {user: b}}\n"
	  "  - {user: b, after: {user: a}}\n",
	  "f:1: after: the cells depend on each other in a cycle: after "
		  "user=b (line 4), after user=a (line 5)" },
	{ "steps that are no number, though nothing uses them",
	  "sweep: s\nimage: i\ncommand: [x]\nsteps: lots\n",
	  "f:4: steps: \"lots\" is not valid "
		  "here; expected an integer from 1 to 4294967295" },
	{ "more nodes than those of the cell before it",
	  "sweep: s\nimage: i\ninclude:\n  - {user: a, nodes: 2}\n"
	  "  - user: b\n    nodes: 3\n    after: {user: a}\n",
	  "f:7: include[1].after: a cell with 3 nodes depends on one with 2 "
		  "and runs on its nodes; expected at most 2, or "
		  "\"same_nodes: false\"" },
	{ "an age of a preflight without its set",
	  "sweep: s\nimage: i\npreflight: {max_age: 5h}\n",
	  "f:3: preflight.max_age: missing set (expected the validation of the nodes, preflight: {set: quick})" },
	{ "an end of the repeats without a width",
	  "sweep: s\nimage: i\nuntil: {max: 5}\n",
	  "f:3: until.max: missing width (expected the precision of the rate, "
		  "until: {width: 1%})" },
	{ "an unknown text about the sweep",
	  "sweep: s\nimage: i\nabout: {tsak: x}\n",
	  "f:3: about.tsak: unknown key; expected task, dataset, framework, optimizations or columns; did you mean \"task\"?" },
	{ "an alignment without a baseline",
	  "sweep: s\nimage: i\nalign: {tolerance: 2%}\n",
	  "f:3: align: missing baseline (expected the number of a job, or values of a cell of this sweep)" },
	{ "a baseline that is neither", "sweep: s\nimage: i\nalign:\n"
	  "  baseline: nvidia\n",
	  "f:4: align.baseline: \"nvidia\" is not valid here; expected the number of a job, or values of a cell of this sweep, such as {vendor: nvidia}" },
	{ "a tolerance above one", "sweep: s\nimage: i\nalign:\n"
	  "  baseline: 3\n  tolerance: 200%\n",
	  "f:5: align.tolerance: \"200%\" is not valid here; expected a share above 0 and up to 100%, such as 2% or 0.02" },
	{ "a list inside a command", "sweep: s\nimage: i\ncommand: [a, [b]]\n",
	  "f:3: command[1]: a list of 1 entry is not valid here; expected a single value" },
	{ "an unknown placeholder",
	  "sweep: s\nimage: i\ncommand: [a, '${nodse}']\n",
	  "f:3: command[1]: ${nodse} is not defined; did you mean ${nodes}?" },
	{ "an unknown name of the start",
	  "sweep: s\nimage: i\ncommand: [a, '${NODE_RNAK}']\n",
	  "f:3: command[1]: ${NODE_RNAK} is not defined; did you mean ${NODE_RANK}?" },
	{ "a placeholder without an end",
	  "sweep: s\nimage: i\ncommand: [a, 'x${nodes']\n",
	  "f:3: command[1]: \"${nodes\" is not valid here; expected ${name}, or $$ for one $" },
	{ "a placeholder that has nothing",
	  "sweep: s\nimage: i\ncommand: [a, '${batch.micro}']\n",
	  "f:3: command[1]: ${batch.micro}: it has no value in this cell" },
	{ "a placeholder of a list",
	  "sweep: s\nimage: i\ncommand: [a, '${command}']\n",
	  "f:3: command[1]: ${command}: it is a list; expected single values" },
	{ "a figure without a model",
	  "sweep: s\nimage: i\ncommand: [a, '${model.layers}']\n",
	  "f:3: command[1]: ${model.layers}: the sweep has no model" },
	{ "no text of the vendor",
	  "sweep: s\nimage: i\ncommand: [a, '${vendor.oar}']\n",
	  "f:3: command[1]: ${vendor.oar}: the profile of cpu has no such text" },
	{ "a figure of an unknown model",
	  "sweep: s\nimage: i\nmodel: gpt-nanno\n"
	  "command: ['${model.layers}']\n",
	  "f:3: model: unknown model \"gpt-nanno\"; did you mean \"gpt-nano\"?" },
	{ "a workspace without a path",
	  "sweep: s\nimage: i\nworkspace: {container: /w}\n",
	  "f:3: workspace.container: missing workspace.path" },
	{ "a workspace nowhere",
	  "sweep: s\nimage: i\nworkspace: {path: x, container: w}\n",
	  "f:3: workspace.container: \"w\" is not valid here; expected an absolute path in the container" },
	{ "a workspace behind a mount",
	  "sweep: s\nimage: i\nworkspace: x\n"
	  "mounts: [{host: /h, container: /workspace/}]\n",
	  "f:4: mounts: a mount at /workspace/, which is the path of the workspace; change one of them (workspace.container)" },
	{ "an empty pattern",
	  "sweep: s\nimage: i\nworkspace: {path: x, ignore: ['!']}\n",
	  "f:3: workspace.ignore[0]: ignore: \"\": 0 bytes; expected 1 to 1000" },
	{ "a path of two ignores",
	  "sweep: s\nimage: i\nworkspace: {path: x}\n"
	  "matrix: {workspace.ignore: [[a], [b]]}\n",
	  "f:3: workspace.path: x with two values of workspace.ignore is not valid here; expected one for each path" },
	{ "the whole container collected",
	  "sweep: s\nimage: i\ncollect: [/a, /]\n",
	  "f:3: collect[1]: \"/\" is not valid here; expected a path in the container, absolute or from the working folder" },
	{ "a pattern that means to read the whole container",
	  "sweep: s\nimage: i\ncollect: [/*.json]\n",
	  "f:3: collect[0]: \"/*.json\" is not valid here; expected patterns below a folder, as in /out/*.json" },
	{ "a pattern that takes too long",
	  "sweep: s\nimage: i\ncollect: ['out/**/**/**/**/**']\n",
	  "f:3: collect[0]: \"**/**/**/**/**\": 5 times **; expected at most 4" },
	{ "vendors twice", "sweep: s\nimage: i\nvendor: [cpu]\n"
	  "matrix: {vendor: [cpu]}\n",
	  "f:4: matrix.vendor: vendors are listed here and on line 3; expected one list" },
	{ "a split that is no list",
	  "sweep: s\nimage: i\nparallel: {split: 3}\n",
	  "f:3: parallel.split: \"3\" is not valid here; expected a list, [a, b] or lines that begin with \"- \"" },
	{ "an unknown figure of a model",
	  "sweep: s\nimage: i\nmodel: gpt-nano\ncommand: ['${model.x}']\n",
	  "f:4: command[0]: ${model.x}: the model gpt-nano has no such value in models.yaml" },
	{ "a name of the start in a mount",
	  "sweep: s\nimage: i\nmounts: [{host: '/a/${NODE_RANK}', "
	  "container: /b}]\n",
	  "f:3: mounts[0].host: ${NODE_RANK} is not valid here; it is set when a task starts, and can be used in command, env and follow" },
	{ "a relative mount",
	  "sweep: s\nimage: i\nmounts: [{host: a, container: /b}]\n",
	  "f:3: mounts[0].host: \"a\" is not valid here; expected an absolute path" },
	{ "half a mount", "sweep: s\nimage: i\nmounts: [{host: /a}]\n",
	  "f:3: mounts[0]: missing \"container\"" },
	{ "an unknown vendor", "sweep: s\nimage: i\nvendor: cpus\n",
	  "f:3: vendor: unknown vendor \"cpus\"; did you mean \"cpu\"?" },
	{ "an unknown framework", "sweep: s\nframework: cpux\n",
	  "f:2: framework: unknown framework \"cpux\"; did you mean \"cpu\"?" },
	{ "an unknown chip", "sweep: s\nimage: i\nchip: Z80\n",
	  "f:3: chip: unknown chip \"Z80\"; did you mean \"S80\"?" },
	{ "a stage that nobody knows",
	  "sweep: s\nimage: i\nmodel: llava1.5_7b\nstage: pretrian\n",
	  "f:4: stage: \"pretrian\" is not valid here; expected pretrain, finetune, projector, frozen, lora, frozen-4n or lora-4n; did you mean \"pretrain\"?" },
	{ "an unknown recomputation", "sweep: s\nimage: i\nrecompute: true\n",
	  "f:3: recompute: \"true\" is not valid here; expected none, selective or full" },
	{ "an unknown network", "sweep: s\nimage: i\nnetwork: hosts\n",
	  "f:3: network: \"hosts\" is not valid here; expected host, none or bridge; did you mean \"host\"?" },
	{ "a bad limit", "sweep: s\nimage: i\nulimits: {nofile: many}\n",
	  "f:3: ulimits.nofile: \"many\" is not valid here; expected soft or soft:hard, each a number or -1 for no limit" },
	{ "a bad variable name", "sweep: s\nimage: i\nenv: {A-B: c}\n",
	  "f:3: env.A-B: the name \"A-B\" is not valid here; expected letters, digits or _" },
	{ "a list in env", "sweep: s\nimage: i\nenv: {A: [c]}\n",
	  "f:3: env.A: a list of 1 entry is not valid here; expected a single value" },
	{ "an image with a blank", "sweep: s\nimage: a b\n",
	  "f:2: image: image reference \"a b\": a name has a-z and 0-9, and . _ - / between them; expected name[:tag][@sha256:64 hex digits]" },
	{ "a build outside", "sweep: s\nbuild: ../x\n",
	  "f:2: build: \"../x\" is not valid here; expected a folder below the images folder" },
	{ "a matrix that is a list", "sweep: s\nimage: i\nmatrix: [a]\n",
	  "f:3: matrix: a list of 1 entry is not valid here; expected a map, {key: value} or lines of key: value" },
	{ "a matrix of single values", "sweep: s\nimage: i\n"
	  "matrix: {nodes: 2}\n",
	  "f:3: matrix.nodes: \"2\" is not valid here; expected a list, [a, b] or lines that begin with \"- \"" },
	{ "an empty list in a matrix", "sweep: s\nimage: i\n"
	  "matrix: {nodes: []}\n",
	  "f:3: matrix.nodes: an empty list is not valid here; expected 1 or more entries" },
	{ "a matrix in a matrix", "sweep: s\nimage: i\n"
	  "matrix: {matrix: [1]}\n",
	  "f:3: matrix.matrix: this key is not valid in a matrix" },
	{ "an exclude in an include", "sweep: s\nimage: i\n"
	  "include: [{exclude: []}]\n",
	  "f:3: include[0].exclude: this key is not valid inside a cell" },
	{ "a variable that nobody uses", "sweep: s\nimage: i\n"
	  "matrix: {modle: [a, b]}\n",
	  "f:3: matrix.modle[0]: the variable modle is not used by any "
		  "${modle}; did you mean \"model\"?" },
	{ "an exclude of what no cell has", "sweep: s\nimage: i\n"
	  "exclude: [{nodse: 1}]\n",
	  "f:3: exclude[0].nodse: no cell has this key" },
	{ "an exclude of everything", "sweep: s\nimage: i\n"
	  "exclude: [{}]\n",
	  "f:3: exclude[0]: an empty map is not valid here; it would exclude all cells" },
	{ "a map here, a value there", "sweep: s\nimage: i\n"
	  "command: ['${x}']\nmatrix: {x: [1], y: [{x: {z: 2}}]}\n",
	  "f:4: matrix.y[0].x.z: a map is not valid here, because \"x\" is "
		  "set on line 4; a variable is either a map or a single value" },
	{ "a bad repeat", "sweep: s\nimage: i\nrepeat: 0\n",
	  "f:3: repeat: \"0\" is not valid here; expected an integer from 1 to 1000" },
	{ "too many processes",
	  "sweep: s\nimage: i\ndevices: 65\nprocesses: device\n",
	  "f:4: processes: \"device\" with 65 devices is not valid here; expected 64 processes" },
	{ "a cyclic merge", "sweep: s\nimage: i\nenv: &e\n  <<: *e\n",
	  "f:4: the alias *e is inside its own value" },
	{ "a text that is no map", "hello\n",
	  "f:1: \"hello\" is not valid here; expected a map, {key: value} or lines of key: value" },
};
/* clang-format on */

static void test_about(void)
{
	static const char text[] = "sweep: s\nimage: i\ncommand: [a]\n"
				   "about: {task: 'text', dataset: pile}\n"
				   "align: {baseline: {vendor: nvidia, batch: "
				   "{micro: 3}}, cells: {chip: x}, "
				   "tolerance: 1%}\n";
	static const char plain[] = "sweep: s\nimage: i\ncommand: [a]\n";
	owned(sweep_free) struct sweep *sweep = parse(text, NULL);
	owned(sweep_free) struct sweep *without = parse(plain, NULL);
	struct job_spec spec = { 0 }, other = { 0 };
	cJSON *want = cJSON_Parse(
		"{\"task\":\"text\",\"dataset\":\"pile\",\"align\":{"
		"\"from_step\":21,\"tolerance\":0.01,\"values\":{"
		"\"vendor\":\"nvidia\",\"batch.micro\":\"3\"},"
		"\"cells\":{\"chip\":\"x\"}}}");

	ok(sweep && !sweep_job(sweep, 0, &spec, NULL) && without &&
		   !sweep_job(without, 0, &other, NULL),
	   "a sweep that says something for its reports");
	ok(cJSON_Compare(spec.about, want, true),
	   "its jobs carry it, with what it does not say filled in");
	is(spec.key, other.key, "and are the same runs as without");
	codec_clear(&job_spec_schema, &spec);
	codec_clear(&job_spec_schema, &other);
	cJSON_Delete(want);
}

static void test_refused(void)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct error err = { 0 };
		owned(sweep_free) struct sweep *sweep =
			parse(refused[i].text, &err);
		size_t length = strlen(refused[i].error);

		/* An error holds 239 bytes and shows where it was cut. */
		if (length > 239)
			length = 235;
		ok(!sweep, "%s is refused", refused[i].what);
		if (strncmp(err.text, refused[i].error, length))
			is(err.text, refused[i].error, "in words");
		else
			ok(true, "in words");
	}
}

static void test_limits(void)
{
	struct error err = { 0 };
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 24);

	buffer_text(&text, "sweep: s\nimage: i\nmatrix:\n", NULL);
	for (int i = 0; i < 7; i++)
		buffer_printf(&text, NULL,
			      "  v%d: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n", i);
	ok(!parse(text.data, &err), "ten million cells are refused");
	is(err.text,
	   "f:10: matrix.v6: 10000000 cells up to this key; expected at most "
	   "1000000",
	   "in words");
	buffer_consume(&text, text.size);
	buffer_text(&text, "sweep: s\nimage: i\nmatrix:\n", NULL);
	for (int i = 0; i < 65; i++)
		buffer_printf(&text, NULL, "  v%d: [0]\n", i);
	ok(!parse(text.data, &err), "65 keys are refused");
	is(err.text, "f:4: matrix: 65 keys; expected at most 64", "in words");
	buffer_consume(&text, text.size);
	buffer_text(&text,
		    "sweep: s\nimage: i\nrepeat: 1000\n"
		    "command: ['${v0}${v1}${v2}${v3}']\nmatrix:\n",
		    NULL);
	for (int i = 0; i < 4; i++)
		buffer_printf(&text, NULL,
			      "  v%d: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n", i);
	ok(!parse(text.data, &err), "too many jobs are refused (%s)", err.text);
	buffer_consume(&text, text.size);
	for (int i = 0; i < 10 << 20; i++)
		buffer_append(&text, "[", 1, NULL);
	ok(!parse(text.data, &err), "10 MB of nesting are refused (%s)",
	   err.text);
}

static void test_many(void)
{
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\n"
		      "command: ['${a}', '${b}', '${c}', '${d}']\n"
		      "matrix:\n"
		      "  a: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
		      "  b: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
		      "  c: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
		      "  d: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n",
		      &err);

	if (!ok(sweep != NULL, "10,000 cells are read (%s)", err.text))
		return;
	is_int((long long)sweep_totals(sweep)->kept, 10000, "all are kept");
	field_is(sweep, 4711, "cell", "a=4 b=7 c=1 d=1");
	field_is(sweep, 9999, "container/argv", "[\"9\",\"9\",\"9\",\"9\"]");
}

static void test_faults(void)
{
	static const char text[] =
		"sweep: s\nframework: cpu\nworkdir: /x\nuser: u\nipc: host\n"
		"network: none\nulimits: {nofile: 1}\ncapabilities: [A]\n"
		"mounts: [{host: /a, container: /b}]\nchip:\n";
	static const char more[] = "matrix: {model: [gpt-nano, gpt-mini], "
				   "nodes: [1, 2], parallel: [{pp: 2}]}\n"
				   "include: [{steps: 3}, {steps: 20}]\n"
				   "exclude: [{nodes: 2, model: gpt-nano}]\n";
	owned_free char *all = NULL;
	bool good = true;
	long n;

	if (asprintf(&all, "%.*s%s", (int)(strlen(text) - 6), text, more) < 0)
		return;
	for (n = 1;; n++) {
		struct error err = { 0 };
		struct job_spec spec = { 0 };
		struct sweep *sweep;
		char cell[100], reason[200];
		bool failed, made;

		fault_arm(n);
		sweep = parse(all, &err);
		made = sweep && !sweep_job(sweep, 0, &spec, &err) &&
		       !sweep_drop(sweep, 0, cell, sizeof(cell), reason,
				   sizeof(reason), &err);
		failed = fault_disarm();
		codec_clear(&job_spec_schema, &spec);
		sweep_free(sweep);
		if (failed == made || (failed && err.code != ENOMEM))
			good = ok(false, "allocation %ld: %s", n, err.text);
		if (!failed)
			break;
	}
	ok(good && n > 100, "each of %ld allocations may fail", n - 1);
}

int main(void)
{
	struct error err = { 0 };

	tap_begin(120);
	fault_hook_cjson();
	catalog = catalog_load("images", &err);
	if (!ok(catalog != NULL, "the catalog is loaded (%s)", err.text))
		return tap_done();
	test_fields();
	test_defaults();
	test_framework();
	test_matrix();
	test_include_exclude();
	test_impossible();
	test_keys();
	test_about();
	test_refused();
	test_limits();
	test_many();
	test_faults();
	catalog_free(catalog);
	return tap_done();
}
