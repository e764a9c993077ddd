/* catalog_test.c - the data files are loaded, and refused with file and line.
 */
#include "controller/catalog/catalog.h"

#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

static char root[] = "/tmp/catalog-XXXXXX";

static void put(const char *name, const char *text)
{
	char path[PATH_MAX], *slash;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	slash = strrchr(path, '/');
	*slash = 0;
	file_make_folders(path, 0755, NULL);
	*slash = '/';
	file_write(AT_FDCWD, path, text, strlen(text), 0644, 0, NULL);
}

static const char good_models[] =
	"models:\n"
	"  small: {source: here, parameters: 1e6, layers: 2, hidden: 64,\n"
	"    heads: 4, aliases: [tiny]}\n"
	"  large: {source: there, parameters: 7e9, active_parameters: 2e9,\n"
	"    nominal_parameters: 8e9, heads: 32, kv_heads: 8, sequence: 512,\n"
	"    stages: {first: projector, second: finetune}}\n";
static const char good_framework[] =
	"framework: torch\naliases: [pytorch]\nimage: torch:1\n"
	"log: {read: first, rules: []}\n";
/* sha256sum of that file */
#define TORCH_HASH                                                             \
	"5d7e0e686f916b0b4c4fd22685175c9c"                                     \
	"d574ec10f774ba406ef046f7152321fb"
static const char good_vendor[] =
	"vendor: acme\nchips:\n"
	"  - {name: A1, aliases: [A-one], memory_gib: 80, source: paper,\n"
	"     tflops: {bf16: 312, fp32: 19.5}}\n"
	"container: {groups: [video]}\n";

static void put_good(void)
{
	put("models.yaml", good_models);
	put("frameworks/torch.yaml", good_framework);
	put("frameworks/README", "not yaml: [");
	put("frameworks/like.yaml",
	    "framework: like\nlog: {like: [torch], rules: []}\n");
	put("frameworks/mute.yaml", "framework: mute\n");
	put("vendors/acme/profile.yaml", good_vendor);
	put("vendors/empty/README", "no profile here");
}

static void test_hash(const struct catalog *catalog)
{
	const struct framework *torch = catalog_framework(catalog, "torch");
	const struct framework *like = catalog_framework(catalog, "like");
	char hash[65], other[65], none[65];

	catalog_rules_hash(catalog, torch, hash);
	is(hash, TORCH_HASH, "rules have the hash of their file");
	catalog_rules_hash(catalog, like, other);
	ok(strlen(other) == 64 && strcmp(other, hash) != 0 &&
		   strcmp(other, like->hash) != 0,
	   "rules like others have one of both files");
	catalog_rules_hash(catalog, catalog_framework(catalog, "mute"), none);
	is(none, "", "no rules, no hash");
}

static void test_found(void)
{
	struct error err = { 0 };
	owned(catalog_free) struct catalog *catalog = NULL;
	const struct model *model;
	const struct chip *chip;

	put_good();
	catalog = catalog_load(root, &err);
	if (!ok(catalog != NULL, "a catalog is loaded (%s)", err.text))
		return;
	model = catalog_model(catalog, "small");
	ok(model && model->parameters == 1e6 && model->layers == 2 &&
		   model->hidden == 64,
	   "a model is found with its figures");
	ok(model && model->active_parameters == 1e6 && model->kv_heads == 4,
	   "what it does not say follows from the rest");
	ok(catalog_model(catalog, "TINY") == model,
	   "also by its alias, in any case");
	model = catalog_model(catalog, "large");
	ok(model && model->active_parameters == 2e9 &&
		   model->nominal_parameters == 8e9 && model->kv_heads == 8 &&
		   model->layers == 0 && model->sequence == 512 &&
		   value_count(model->stages) == 2 &&
		   !strcmp(model->source, "there"),
	   "what it says is taken, what is unknown is 0");
	ok(!catalog_model(catalog, "medium"), "an unknown model is not");
	ok(catalog_framework(catalog, "pytorch") &&
		   catalog_framework(catalog, "torch")->log,
	   "a framework is found, with its log rules");
	ok(!catalog_framework(catalog, "README"), "other files are not read");
	test_hash(catalog);
	ok(catalog_framework_at(catalog, 2) &&
		   !catalog_framework_at(catalog, 3),
	   "frameworks can be listed");
	ok(catalog_vendor(catalog, "acme") && !catalog_vendor(catalog, "empty"),
	   "a vendor needs a profile");
	chip = catalog_chip(catalog, "acme", "a-one");
	ok(chip && !strcmp(chip->vendor, "acme") && chip->memory_gib == 80 &&
		   !strcmp(chip->source, "paper"),
	   "a chip is found");
	ok(catalog_chip(catalog, NULL, "A1") == chip, "of any vendor, too");
	ok(!catalog_chip(catalog, "other", "A1"), "but not of another one");
	ok(chip && chip_peak_flops(chip, "bf16") == 312e12 &&
		   chip_peak_flops(chip, "BFloat16") == 312e12 &&
		   chip_peak_flops(chip, "fp8") == 0 &&
		   chip_peak_flops(chip, NULL) == 0,
	   "its peak is known for some precisions");
}

static void test_refused(void)
{
	/* clang-format off */
	static const struct {
		const char *what, *name, *text, *error;
	} cases[] = {
		{ "no models", "models.yaml", "modles: {}\n",
		  "models.yaml:1: modles: unknown key; expected models; did you mean \"models\"?" },
		{ "a model without a source", "models.yaml",
		  "models:\n  a: {layers: 2}\n",
		  "models.yaml:2: models.a: missing \"source\" (expected the source of the figures)" },
		{ "a broken figure", "models.yaml",
		  "models:\n  a: {source: x, layers: two}\n",
		  "models.yaml:2: models.a.layers: \"two\" is not valid here; expected an integer from 1 to 1073741824" },
		{ "a stage that learns what nobody knows", "models.yaml",
		  "models:\n  a: {source: x, stages: {pretrain: lorra}}\n",
		  "models.yaml:2: models.a.stages.pretrain: \"lorra\" is not valid here; expected pretrain, finetune, projector, frozen, lora, frozen-4n or lora-4n; did you mean \"lora\"?" },
		{ "a name twice", "models.yaml",
		  "models:\n  a: {source: x}\n  b: {source: x,\n"
		  "    aliases: [A]}\n",
		  "models.yaml:4: models.b.aliases[0]: duplicate model \"A\"" },
		{ "a framework of another name", "frameworks/torch.yaml",
		  "framework: tensor\n",
		  "frameworks/torch.yaml:1: framework: \"tensor\" is not valid here; expected \"torch\", the name of the file" },
		{ "an unknown key of a framework", "frameworks/torch.yaml",
		  "framework: torch\nimmage: x\n",
		  "frameworks/torch.yaml:2: immage: unknown key; expected framework, title, source, aliases, image, build, env, processes, follow, launch, defaults ...; did you mean \"image\"?" },
		{ "a profile without a vendor", "vendors/acme/profile.yaml",
		  "chips: []\n",
		  "vendors/acme/profile.yaml:1: missing \"vendor\"" },
		{ "a chip without a name", "vendors/acme/profile.yaml",
		  "vendor: acme\nchips:\n  - {source: x}\n",
		  "vendors/acme/profile.yaml:3: chips[0]: missing \"name\"" },
		{ "a peak that is none", "vendors/acme/profile.yaml",
		  "vendor: acme\nchips:\n- name: A\n  source: x\n"
		  "  tflops: {bf16: fast}\n",
		  "vendors/acme/profile.yaml:5: chips[0].tflops.bf16: \"fast\" is not valid here; expected a number from 0.001 to 1e+06" },
		{ "a broken file", "vendors/acme/profile.yaml", "vendor: [\n",
		  "vendors/acme/profile.yaml:2: did not find expected node "
		  "content, while parsing a flow node" },
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = { 0 };
		const char *text = err.text;
		owned(catalog_free) struct catalog *catalog = NULL;

		put_good();
		put(cases[i].name, cases[i].text);
		catalog = catalog_load(root, &err);
		ok(!catalog, "%s is refused", cases[i].what);
		if (!strncmp(text, root, strlen(root)))
			text += strlen(root) + 1;
		is(text, cases[i].error, "in words");
	}
	put_good();
	ok(!catalog_load("/nonexistent", NULL), "no folder, no catalog");
}

static void test_unknown(void)
{
	struct error err = { 0 };
	owned(catalog_free) struct catalog *catalog = catalog_load(root, &err);
	owned(document_free) struct document *document =
		document_parse("[smal, x, tirch]", 16, "f", NULL, &err);
	const struct value *list = document_root(document);

	catalog_unknown(catalog, CATALOG_MODEL, value_at(list, 0), &err);
	is(err.text,
	   "f:1: [0]: unknown model \"smal\"; did you mean \"small\"?",
	   "what is near is named");
	catalog_unknown(catalog, CATALOG_VENDOR, value_at(list, 1), &err);
	is(err.text, "f:1: [1]: unknown vendor \"x\"; expected acme",
	   "or what there is");
	catalog_unknown(catalog, CATALOG_FRAMEWORK, value_at(list, 2), &err);
	is(err.text,
	   "f:1: [2]: unknown framework \"tirch\"; did you mean \"torch\"?",
	   "for each kind");
	catalog_unknown_name(catalog, CATALOG_CHIP, "--chip", "B1", &err);
	is(err.text, "--chip: unknown chip \"B1\"; did you mean \"A1\"?",
	   "also for a name that stands in no file");
	catalog_unknown_name(catalog, CATALOG_MODEL, "--model", "TINI", &err);
	is(err.text, "--model: unknown model \"TINI\"; did you mean \"tiny\"?",
	   "in any case, and a thing by one of its names only");
	catalog_unknown_name(catalog, CATALOG_MODEL, "--model", "qqqqqqqq",
			     &err);
	is(err.text,
	   "--model: unknown model \"qqqqqqqq\"; expected small, tiny, large",
	   "with nothing near, all that there is");
}

static void test_own(void)
{
	struct error err = { 0 };
	owned(catalog_free) struct catalog *catalog =
		catalog_load("images", &err);

	ok(catalog != NULL, "the catalog of the project loads (%s)", err.text);
	ok(catalog && catalog_model(catalog, "gpt-nano") &&
		   catalog_framework(catalog, "cpu") &&
		   catalog_vendor(catalog, "cpu"),
	   "and has what the demonstration needs");
}

static void test_faults(void)
{
	bool good = true;
	long n;

	for (n = 1;; n++) {
		struct error err = { 0 };
		struct catalog *catalog;
		bool failed;

		fault_arm(n);
		catalog = catalog_load(root, &err);
		failed = fault_disarm();
		catalog_free(catalog);
		if (failed == (catalog != NULL) ||
		    (failed && err.code != ENOMEM))
			good = ok(false, "allocation %ld: %s", n, err.text);
		if (!failed)
			break;
	}
	ok(good && n > 20, "each of %ld allocations may fail", n - 1);
}

int main(void)
{
	tap_begin(60);
	if (!mkdtemp(root))
		return 1;
	test_found();
	test_refused();
	test_unknown();
	test_own();
	test_faults();
	file_remove_tree(AT_FDCWD, root, NULL);
	return tap_done();
}
