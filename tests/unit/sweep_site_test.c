/* sweep_site_test.c - what differs from site to site: variables, files, and
 * documents that are laid over a sweep.
 */
#include "controller/sweep/sweep.h"

#include "tests/tap.h"

static struct catalog *catalog;

static struct sweep *parse(const char *text, struct error *err)
{
	return sweep_parse(text, strlen(text), "f", catalog, err);
}

static int spec_of(struct sweep *sweep, size_t job, struct job_spec *spec)
{
	struct error err = { 0 };

	if (sweep && !sweep_job(sweep, job, spec, &err))
		return 0;
	ok(false, "a job (%s)", err.text);
	return -1;
}

static void test_variables(void)
{
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: 'r/${tag}'\n"
		      "variables: {tag: a, words: [x, '${tag}', '${none}',\n"
		      "    '${more}'], none: [], more: [y, z], b: 1}\n"
		      "command: ['${words}', '${b}']\n"
		      "matrix: {b: [2, 3]}\n",
		      &err);
	struct job_spec spec = { 0 };

	if (!ok(sweep != NULL, "a sweep has variables (%s)", err.text) ||
	    spec_of(sweep, 1, &spec) < 0)
		return;
	is(spec.container.image, "r/a", "they are filled in");
	is_int((long long)spec.container.argv.count, 5,
	       "a list becomes its words, also those of a list in it");
	is(spec.container.argv.items[3], "z", "in order");
	is(spec.container.argv.items[4], "3", "a key of the matrix wins");
	is(spec.cell, "b=3", "and they tell no cells apart");
	codec_clear(&job_spec_schema, &spec);
}

/* The cells of a set of nodes, "words labels nodes vendor" of each. */
static void nodes_are(const char *nodes, const struct sweep_site *site,
		      const char *want)
{
	owned(sweep_free) struct sweep *sweep = NULL;
	struct error err = { 0 };
	char text[300], got[1000] = "";

	snprintf(text, sizeof(text), "sweep: s\nimage: i\nnodes: %s\n", nodes);
	sweep = sweep_parse_at(text, strlen(text), "f", catalog, site, &err);
	for (size_t i = 0; sweep && i < sweep_totals(sweep)->jobs; i++) {
		struct job_spec spec = { 0 };

		if (spec_of(sweep, i, &spec) < 0)
			return;
		text_append(got, sizeof(got), "%s%s %s %u %s", i ? "; " : "",
			    spec.cell, spec.labels ? spec.labels : "-",
			    spec.nodes, spec.vendor);
		codec_clear(&job_spec_schema, &spec);
	}
	is(sweep ? got : err.text, want, "nodes: %s", nodes);
}

static void test_node_sets(void)
{
	static const struct site_node nodes[] = { { "n1", "cpu" },
						  { "a1", "ascend" },
						  { "n2", "cpu" },
						  { "n3", "cpu" } };
	static const struct sweep_site site = { nodes, 4 }, empty = { 0 };

	nodes_are("each\nvendor: cpu", &site,
		  "node=n1 node=n1 1 cpu; node=n2 node=n2 1 cpu; "
		  "node=n3 node=n3 1 cpu");
	nodes_are("pairs\nvendor: cpu", &site,
		  "node=n1+n2 node=n1+n2 2 cpu; node=n2+n3 node=n2+n3 2 cpu");
	nodes_are("{scale: [1, 2, all]}\nvendor: cpu", &site,
		  "nodes=1 - 1 cpu; nodes=2 - 2 cpu; nodes=3 - 3 cpu");
	nodes_are("{each: [n7, n1]}\nlabels: [rack=a]", NULL,
		  "node=n7 rack=a,node=n7 1 cpu; node=n1 rack=a,node=n1 1 cpu");
	nodes_are("{each: [a1, n1, n9]}", &site,
		  "node=a1 vendor=ascend node=a1 1 ascend; "
		  "node=n1 vendor=cpu node=n1 1 cpu; "
		  "node=n9 vendor=cpu node=n9 1 cpu");
	nodes_are("{each: [a1, n1]}\nvendor: cpu", &site,
		  "node=n1 node=n1 1 cpu");
	nodes_are("[a1]", &site, "node=a1 node=a1 1 ascend");
	nodes_are("{pairs: [n1+n3]}", NULL, "node=n1+n3 node=n1+n3 2 cpu");
	nodes_are("each", NULL, "s - 1 cpu");
	nodes_are("[n7, n1]", NULL, "node=n7+n1 node=n7+n1 2 cpu");
	nodes_are("[1, 2]", NULL,
		  "f:3: nodes[0]: \"1\" is not valid here; expected "
		  "the name of a node (lists of numbers stand "
		  "in `matrix`)");
	nodes_are("each", &empty, "f:3: nodes: no node of the cluster suits");
	nodes_are("{pairs: [n1]}", NULL,
		  "f:3: nodes.pairs[0]: \"n1\" is not valid here; expected two "
		  "nodes, n1+n2");
	nodes_are("{some: [n1]}", NULL,
		  "f:3: nodes.some: unknown key; expected each, pairs or "
		  "scale");
	nodes_are("{}", NULL,
		  "f:3: nodes: an empty map is not valid here; expected one of "
		  "each: [...], pairs: [...], scale: [...]");
	nodes_are("1\nnode: 'n1 n2'", NULL,
		  "f:4: node: \"n1 n2\" is not valid here; expected names of "
		  "nodes, with + between them");
}

/* The words of the first cell. */
static void words_are(const char *matrix, const char *want, const char *name)
{
	struct error err = { 0 };
	char text[300];
	struct sweep *sweep;
	struct job_spec spec = { 0 };

	snprintf(text, sizeof(text), "sweep: s\nimage: i\nmatrix: %s\n",
		 matrix);
	sweep = parse(text, &err);
	if (!sweep)
		printf("# %s\n", err.text);
	if (!spec_of(sweep, 0, &spec))
		is(spec.cell, want, "%s", name);
	codec_clear(&job_spec_schema, &spec);
	sweep_free(sweep);
}

static void test_words(void)
{
	words_are("{a: [{nodes: 1, command: [x, y]}, {nodes: 2, "
		  "command: [z]}]}",
		  "nodes=1", "lists that nobody needs to tell cells apart");
	words_are("{a: [{nodes: 1, command: [x]}, {nodes: 1, command: [z]}]}",
		  "command=[x]", "those that are needed");
	words_are("{command: [[x], [z]], nodes: [1, 2]}", "command=[x] nodes=1",
		  "a key that is lists alone");
}

static void test_layers(void)
{
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\nbatch: {micro: 1, sequence: 8}\n"
		      "matrix: {nodes: [1, 2, 3]}\n"
		      "---\nimage: j\nbatch: {micro: 4}\n"
		      "---\n# nothing\n"
		      "---\nbatch: {accumulate: 2, global: 3}\nchip: A100\n"
		      "---\nbatch: {global: }\nchip:\nuser:\n"
		      "---\nmatrix: {nodes: [5]}\n",
		      &err);
	struct job_spec spec = { 0 };

	if (!ok(sweep != NULL, "further documents are read (%s)", err.text) ||
	    spec_of(sweep, 0, &spec) < 0)
		return;
	is_int((long long)sweep_totals(sweep)->jobs, 1, "a list is replaced");
	is_int(spec.nodes, 5, "by the later one");
	is(spec.container.image, "j", "so is a single value");
	is_int(spec.measure.micro_batch, 4, "of a map, what the later one has");
	is_int(spec.measure.sequence, 8, "and the rest stays");
	codec_clear(&job_spec_schema, &spec);
}

static void test_files(void)
{
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\nmatrix: {n: [8, 64]}\n"
		      "files:\n  - name: a.json\n"
		      "    text: '{\"steps\": ${n}, \"to\": "
		      "\"${MASTER_ADDR}\"}'\n"
		      "  - {name: b, text: ''}\n",
		      &err);
	struct job_spec spec = { 0 };

	if (!ok(sweep != NULL, "a sweep has files (%s)", err.text) ||
	    spec_of(sweep, 1, &spec) < 0)
		return;
	is_int((long long)spec.container.files_count, 2, "all of them");
	is(spec.container.files[0].name, "a.json", "by name");
	is(spec.container.files[0].text,
	   "{\"steps\": 64, \"to\": \"${MASTER_ADDR}\"}",
	   "filled, but for what the start knows");
	is(spec.container.files[1].text, "", "a file may be empty");
	ok(!container_wants_addresses(&spec.container),
	   "they ask for no addresses of all nodes");
	codec_clear(&job_spec_schema, &spec);
}

/* clang-format off */
static const struct {
	const char *what, *text, *error;
} refused[] = {
	{ "a variable that nobody uses", "variables: {a: 1}\n",
	  "f:3: variables.a: the variable a is not used by any ${a}" },
	{ "a key among the variables", "variables: {nodes: 1}\n",
	  "f:3: variables.nodes: a key of the sweep is not valid here; expected user-defined names for ${placeholders}" },
	{ "a path of a key among them", "variables: {batch.micro: 1}\n",
	  "f:3: variables.batch.micro: a key of the sweep is not valid here; expected user-defined names for ${placeholders}" },
	{ "a list that names itself",
	  "variables: {a: ['${a}']}\ncommand: ['${a}']\n",
	  "f:3: variables.a[0]: lists inside each other more than 4 deep, which is the limit" },
	{ "variables that are no map", "variables: 3\n",
	  "f:3: variables: \"3\" is not valid here; expected a map, {key: value} or lines of key: value" },
	{ "a further document that is a list", "---\n[a]\n",
	  "f:4: a further document is not valid here; expected a map, which is merged into the previous ones" },
	{ "a file with a path", "files: [{name: a/b, text: x}]\n",
	  "f:3: files[0].name: \"a/b\" is not valid here; expected letters, digits, \".\", \"_\" and \"-\", but not start, hostfile or NAME.new" },
	{ "a file that Regatta writes", "files: [{name: start, text: x}]\n",
	  "f:3: files[0].name: \"start\" is not valid here; expected letters, digits, \".\", \"_\" and \"-\", but not start, hostfile or NAME.new" },
	{ "a file without text", "files: [{name: a}]\n",
	  "f:3: files[0]: missing \"text\"" },
	{ "two files of a name",
	  "files: [{name: a, text: x}, {name: a, text: y}]\n",
	  "f:3: files[1]: duplicate file a" },
	{ "a file that is a word", "files: [a]\n",
	  "f:3: files[0]: \"a\" is not valid here; expected a map, {key: value} or lines of key: value" },
	{ "an unknown placeholder in a file",
	  "files: [{name: a, text: '${hom}'}]\n",
	  "f:3: files[0].text: ${hom} is not defined; expected a key of the sweep, a property of the model, or a name such as ${NODE_RANK}" },
	{ "a key that nobody knows", "preload: true\n",
	  "f:3: preload: unknown key; expected sweep, vendor, chip, nodes, devices, shared, framework, image, build, command, env, secrets ..." },
};
/* clang-format on */

static void test_refused(void)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct error err = { 0 };
		char text[400];
		struct sweep *sweep;

		snprintf(text, sizeof(text), "sweep: s\nimage: i\n%s",
			 refused[i].text);
		sweep = parse(text, &err);
		ok(!sweep, "%s is refused", refused[i].what);
		is(err.text, refused[i].error, "in words");
		sweep_free(sweep);
	}
}

int main(void)
{
	struct error err = { 0 };

	tap_begin(30);
	catalog = catalog_load("images", &err);
	if (ok(catalog != NULL, "the catalog is loaded (%s)", err.text)) {
		test_variables();
		test_node_sets();
		test_words();
		test_layers();
		test_files();
		test_refused();
	}
	catalog_free(catalog);
	return tap_done();
}
