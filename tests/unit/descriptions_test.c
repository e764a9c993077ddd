/* descriptions_test.c - what a sweep brings along counts for it as if it lay in
 * the folder: files of the images, and log rules in place of a format.
 */
#include "controller/catalog/descriptions.h"
#include "controller/cell/own_rules.h"
#include "controller/sweep/sweep.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>
#include <glob.h>

static struct catalog *base;

static const char good[] =
	"{\"frameworks\": {\"rower\": \"framework: rower\\nlog: {like: "
	"[nanogpt], rules: [{match: 'pull (?<step>\\\\d+)'}]}\","
	"\"nanogpt\": \"framework: nanogpt\\nlog: {rules: [{match: 'own "
	"(?<step>\\\\d+)'}]}\"},"
	"\"models\": {\"skiff\": \"source: a test\\nlayers: 3\"},"
	"\"vendors\": {\"boats\": \"vendor: boats\\ntitle: t\\nsource: s\\n"
	"chips: [{name: oar, source: s, tflops: {bf16: 2}}]\"}}";

static struct catalog *described(const char *text, cJSON **json,
				 struct error *err)
{
	*json = cJSON_Parse(text);
	return catalog_with_descriptions(base, *json, err);
}

static struct sweep *parse(const char *text, struct error *err)
{
	return sweep_parse(text, strlen(text), "f", base, err);
}

static void test_found(void)
{
	struct error err = { 0 };
	cJSON *json;
	struct catalog *own = described(good, &json, &err);
	const struct value *logs[CATALOG_LOGS_MAX];
	const struct framework *rower, *nanogpt;
	char hash[65];
	size_t count;

	if (!ok(own != NULL, "descriptions are read %s", err.text))
		return;
	rower = catalog_framework(own, "Rower_2.1");
	nanogpt = catalog_framework(own, "nanogpt");
	ok(rower && catalog_framework(own, "megatron") ==
			    catalog_framework(base, "megatron"),
	   "a framework of them, and those of the folder");
	ok(nanogpt && nanogpt != catalog_framework(base, "nanogpt"),
	   "one that the folder has, too, is that of the sweep");
	ok(rower && catalog_logs(own, rower, logs, &count, &err) == 0 &&
		   count == 2 && nanogpt && logs[0] == nanogpt->log,
	   "also where another is like it");
	catalog_rules_hash(own, rower, hash);
	ok(strlen(hash) == 64, "whose rules have a hash");
	ok(catalog_model(own, "skiff") &&
		   catalog_model(own, "skiff")->layers == 3,
	   "a model");
	ok(catalog_chip(own, "boats", "oar") && catalog_vendor(own, "cpu"),
	   "a vendor with its chip, beside the others");
	catalog_free(own);
	cJSON_Delete(json);
}

/* Each description of a kind, as text and read again, gives the same text. */
static void same_again(enum catalog_kind kind, const char *name)
{
	struct error err = { 0 };
	char *text = descriptions_text(base, kind, name), *again;
	struct catalog *own;
	cJSON *json = NULL;

	descriptions_put(&json, kind, name, text ? text : "", &err);
	own = catalog_with_descriptions(base, json, &err);
	again = own ? descriptions_text(own, kind, name) : NULL;
	ok(text && again && !strcmp(text, again), "%s/%s: the same again %s",
	   descriptions_kind(kind), name, err.text);
	free(text);
	free(again);
	catalog_free(own);
	cJSON_Delete(json);
}

static void test_texts(void)
{
	const struct framework *framework;
	glob_t vendors = { 0 };

	for (size_t i = 0; (framework = catalog_framework_at(base, i)); i++)
		same_again(CATALOG_FRAMEWORK, framework->name);
	ok(glob("images/vendors/*", 0, NULL, &vendors) == 0, "vendors");
	for (size_t i = 0; i < vendors.gl_pathc; i++)
		same_again(CATALOG_VENDOR,
			   strrchr(vendors.gl_pathv[i], '/') + 1);
	globfree(&vendors);
	same_again(CATALOG_MODEL, "gpt3_6.7B");
	same_again(CATALOG_MODEL, "llama3_70B");
	ok(!descriptions_text(base, CATALOG_MODEL, "nothing"),
	   "what is not there has none");
}

static void test_uses(void)
{
	struct error err = { 0 };
	owned(strings_clear) struct strings keys = { 0 };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\ncommand: [x]\nvendor: nvidia\n"
		      "descriptions: {models: {mine: 'source: s'}}\n"
		      "matrix:\n  model: [gpt3-6.7b, mine, other]\n"
		      "  log: [auto, nanogpt, {like: [timm]}, megatron_core]\n"
		      "include: [{framework: cpu, log: nanogpt, model: x}]\n",
		      &err);
	static const char *const want[] = {
		"vendors/nvidia",      "models/gpt3_6.7B",
		"frameworks/nanogpt",  "frameworks/timm",
		"frameworks/megatron", "frameworks/megatron_core",
		"frameworks/cpu",
	};
	bool same = sweep && sweep_uses(sweep, &keys, &err) == 0 &&
		    keys.count == sizeof(want) / sizeof(want[0]);

	for (size_t i = 0; i < keys.count; i++)
		same &= i < sizeof(want) / sizeof(want[0]) &&
			!strcmp(keys.items[i], want[i]);
	for (size_t i = 0; !same && i < keys.count; i++)
		printf("# %s\n", keys.items[i]);
	ok(same, "a sweep tells what it uses of the folder %s", err.text);
}

static void test_refused(void)
{
	static const char *const wrong[][2] = {
		{ "[]", "descriptions: expected a map" },
		{ "{\"images\": {}}", "expected frameworks, models or" },
		{ "{\"models\": 5}", "expected a map from names to texts" },
		{ "{\"models\": {\"a\": 5}}", "models.a: expected a text" },
		{ "{\"models\": {\"a\": \"layers: 3\"}}",
		  "missing \"source\"" },
		{ "{\"frameworks\": {\"a\": \"framework: b\"}}",
		  "descriptions.frameworks.a:1: framework: \"b\" is not" },
		{ "{\"frameworks\": {\"a\": \"x: [\"}}", "frameworks.a:" },
		{ "{\"vendors\": {\"a\": \"chips: 5\"}}", "vendors.a:" },
	};
	owned_free char *large = calloc(1, DESCRIPTIONS_BYTES_MAX + 100);
	struct error err = { 0 };
	cJSON *json;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ok(!described(wrong[i][0], &json, &err) &&
			   strstr(err.text, wrong[i][1]),
		   "refused: %s", err.text);
		cJSON_Delete(json);
	}
	memset(large, 'x', DESCRIPTIONS_BYTES_MAX + 1);
	json = cJSON_CreateObject();
	cJSON_AddStringToObject(cJSON_AddObjectToObject(json, "models"), "a",
				large);
	ok(!catalog_with_descriptions(base, json, &err) && err.code == E2BIG,
	   "refused: %s", err.text);
	cJSON_Delete(json);
}

static char *measure(struct sweep *sweep, size_t job, const char *name)
{
	struct job_spec spec = { 0 };
	char *text = NULL;

	if (!sweep || sweep_job(sweep, job, &spec, NULL) < 0)
		return NULL;
	if (!strcmp(name, "log") && spec.measure.log)
		text = strdup(spec.measure.log);
	else if (!strcmp(name, "described") && spec.measure.described)
		text = cJSON_PrintUnformatted(spec.measure.described);
	codec_clear(&job_spec_schema, &spec);
	return text;
}

static void test_sweep(void)
{
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\ncommand: [x]\n"
		      "descriptions:\n"
		      "  frameworks:\n"
		      "    nanogpt: \"framework: nanogpt\\nlog: {rules: "
		      "[{match: 'i"
		      "(?<step>.)'}]}\"\n"
		      "    unused: 'framework: unused'\n"
		      "matrix:\n"
		      "  log:\n"
		      "    - rules: [{match: 'pull (?<step>\\d+)'}]\n"
		      "    - {like: [nanogpt]}\n"
		      "    - megatron\n",
		      &err);
	owned_free char *name = measure(sweep, 0, "log");
	owned_free char *first = measure(sweep, 0, "described");
	owned_free char *second = measure(sweep, 1, "described");
	owned_free char *third = measure(sweep, 2, "described");

	ok(sweep && sweep_totals(sweep)->jobs == 3,
	   "rules stand in a matrix %s", err.text);
	ok(name && !strncmp(name, "rules-", 6) && first &&
		   strstr(first, name) && strstr(first, "pull (?<step>"),
	   "and go with the job, under a name of their own");
	ok(second && strstr(second, "\"nanogpt\"") &&
		   strstr(second, "i(?<step>.)") && !strstr(second, "unused"),
	   "with those that they are like, where the sweep brings them");
	ok(!third, "a job that names neither takes nothing along");
}

static void test_sweep_refused(void)
{
	static const char head[] = "sweep: s\nimage: i\ncommand: [x]\nlog:\n"
				   "  rules:\n    - match: '";
	owned_free char *large = calloc(1, OWN_RULES_MAX + 4096);
	struct error err = { 0 };

	ok(!parse("sweep: s\nimage: i\ncommand: [x]\nlog: {rules: [{match: "
		  "'(?<step>'}]}\n",
		  &err) &&
		   strstr(err.text, "f:4: log.rules[0].match:"),
	   "refused: %s", err.text);
	ok(!parse("sweep: s\nimage: i\ncommand: [x]\nlog: {rule: []}\n",
		  &err) &&
		   strstr(err.text, "rules"),
	   "refused: %s", err.text);
	ok(!parse("sweep: s\nimage: i\ncommand: [x]\nlog: {like: [nowhere]}\n",
		  &err) &&
		   strstr(err.text, "unknown framework \"nowhere\""),
	   "refused: %s", err.text);
	snprintf(large, sizeof(head), "%s", head);
	for (int i = 0; i < 5; i++) {
		size_t used = strlen(large);

		memset(large + used, 'x', 3500);
		snprintf(large + used + 3500, 40, "(?<a>.)'\n    - match: '");
	}
	large[strlen(large) - strlen("    - match: '")] = 0;
	ok(!parse(large, &err) && strstr(err.text, "expected at most 16384"),
	   "refused: %s", err.text);
}

static void test_faults(void)
{
	struct error err = { 0 };
	bool all = true;
	long n = 1;

	for (;; n++) {
		cJSON *json = cJSON_Parse(good);
		struct catalog *own;
		bool failed;

		fault_arm(n);
		own = catalog_with_descriptions(base, json, &err);
		failed = fault_disarm();
		if (failed == (own != NULL))
			all = ok(false, "allocation %ld: %s", n, err.text);
		catalog_free(own);
		cJSON_Delete(json);
		if (!failed)
			break;
	}
	ok(all && n > 10, "each of %ld allocations may fail", n - 1);
}

int main(void)
{
	struct error err = { 0 };

	tap_begin(30);
	base = catalog_load("images", &err);
	if (ok(base != NULL, "the folder is read %s", err.text)) {
		test_found();
		test_texts();
		test_uses();
		test_refused();
		test_sweep();
		test_sweep_refused();
		test_faults();
	}
	catalog_free(base);
	return tap_done();
}
