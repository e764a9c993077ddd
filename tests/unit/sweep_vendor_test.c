/* sweep_vendor_test.c - a sweep over several vendors: images, chips, memory.
 */
#include "controller/sweep/sweep.h"

#include "protocol/base/file.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

static char root[] = "/tmp/sweep-vendor-XXXXXX";
static struct catalog *catalog;

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

static void put_data(void)
{
	put("models.yaml",
	    "models:\n"
	    "  gpt-13b: {source: s, parameters: 13e9, layers: 40,\n"
	    "    hidden: 5120, heads: 40}\n"
	    "  gpt-13c: {source: s, parameters: 13e9}\n"
	    "  moe: {source: s, parameters: 46e9, active_parameters: 12e9,\n"
	    "    layers: 32, hidden: 4096, heads: 32, experts: 8,\n"
	    "    experts_per_token: 2}\n");
	put("frameworks/torch.yaml",
	    "framework: torch\naliases: [pytorch]\nimage: generic:1\n"
	    "launch: [train, '${vendor}']\n");
	put("vendors/acme/profile.yaml",
	    "vendor: acme\nimages: {pytorch: 'acme/torch:2'}\nchips:\n"
	    "  - {name: A1, memory_gib: 80, source: s}\n"
	    "  - {name: A2, memory_gib: 40, source: s}\n");
	put("vendors/bolt/profile.yaml",
	    "vendor: bolt\naliases: [volt]\nchips:\n"
	    "  - {name: B1, memory_gib: 64, source: s}\n");
	put("vendors/cpu/profile.yaml", "vendor: cpu\n");
}

static struct sweep *parse(const char *text, struct error *err)
{
	return sweep_parse(text, strlen(text), "f", catalog, err);
}

/* "vendor chip image cell" of a job. */
static void job_is(struct sweep *sweep, size_t job, const char *want)
{
	struct job_spec spec = { 0 };
	struct error err = { 0 };
	char got[300];

	if (sweep_job(sweep, job, &spec, &err) < 0)
		snprintf(got, sizeof(got), "%s", err.text);
	else
		snprintf(got, sizeof(got), "%s %s %s [%s]", spec.vendor,
			 spec.measure.chip ? spec.measure.chip : "-",
			 spec.container.image, spec.cell);
	is(got, want, "job %zu", job);
	codec_clear(&job_spec_schema, &spec);
}

static void test_list(void)
{
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nframework: torch\n"
		      "vendor: [acme, {vendor: VOLT, chip: B1, nodes: 2}]\n"
		      "matrix: {model: [gpt-13b, gpt-13c]}\n"
		      "include:\n"
		      "  - {model: moe}\n"
		      "  - {vendor: cpu, model: moe}\n"
		      "  - {model: moe, image: 'own:3'}\n"
		      "exclude: [{vendor: acme, model: gpt-13c}]\n",
		      &err);

	if (!ok(sweep != NULL, "a list of vendors spans (%s)", err.text))
		return;
	is_int((long long)sweep_totals(sweep)->cells, 9,
	       "over the matrix, and over what is included");
	is_int((long long)sweep_totals(sweep)->kept, 8,
	       "and a vendor's cell can be excluded");
	job_is(sweep, 0,
	       "acme - acme/torch:2 [vendor=acme nodes=1 "
	       "model=gpt-13b image=acme/torch:2]");
	job_is(sweep, 1,
	       "bolt B1 generic:1 [vendor=VOLT chip=B1 nodes=2 "
	       "model=gpt-13b image=generic:1]");
	job_is(sweep, 3,
	       "acme - acme/torch:2 [vendor=acme nodes=1 model=moe "
	       "image=acme/torch:2]");
	job_is(sweep, 5,
	       "cpu - generic:1 [vendor=cpu nodes=1 model=moe "
	       "image=generic:1]");
	job_is(sweep, 6,
	       "acme - own:3 [vendor=acme nodes=1 model=moe image=own:3]");
}

static void test_only_list(void)
{
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\nvendor: [acme, volt]\n", &err);
	owned(sweep_free) struct sweep *matrix =
		parse("sweep: s\nimage: i\nmatrix:\n  vendor:\n"
		      "    - {vendor: acme, chip: A2, precision: bf16}\n"
		      "    - {vendor: bolt, image: 'b:1', precision: fp16}\n",
		      &err);

	if (!ok(sweep && matrix, "also alone, or in the matrix (%s)", err.text))
		return;
	is_int((long long)sweep_totals(sweep)->kept, 2, "a cell of each");
	job_is(sweep, 1, "bolt - i [vendor=volt]");
	job_is(matrix, 0,
	       "acme A2 i [vendor=acme chip=A2 precision=bf16 image=i]");
	job_is(matrix, 1, "bolt - b:1 [vendor=bolt precision=fp16 image=b:1]");
}

static void test_refused(void)
{
	/* clang-format off */
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "sweep: s\nimage: i\nvendor: [acme, acmi]\n",
		  "f:3: vendor[1]: unknown vendor \"acmi\"; did you mean \"acme\"?" },
		{ "sweep: s\nimage: i\nvendor: []\n",
		  "f:3: vendor: an empty list is not valid here; expected 1 or more entries" },
		{ "sweep: s\nimage: i\nvendor: [{vendor: bolt, chip: A1}]\n",
		  "f:3: vendor[0].chip: the chip A1 belongs to acme, but the "
		  "vendor is bolt" },
		{ "sweep: s\nimage: i\nvendor: acme\nchip: A3\n",
		  "f:4: chip: unknown chip \"A3\"; did you mean \"A1\", \"A2\"?" },
		{ "sweep: s\nimage: i\nmodel: gpt-13d\n",
		  "f:3: model: unknown model \"gpt-13d\"; did you mean \"gpt-13b\", \"gpt-13c\"?" },
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = { 0 };

		ok(!parse(cases[i].text, &err), "refused");
		is(err.text, cases[i].error, "in words");
	}
}

static void test_memory(void)
{
	struct error err = { 0 };
	char cell[300], reason[700];
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\nvendor: acme\nmodel: gpt-13b\n"
		      "devices: 8\nbatch: {micro: 2, sequence: 2048}\n"
		      "matrix:\n"
		      "  chip: [A1, A2]\n"
		      "  parallel: [{tp: 2}, {tp: 8}, {sharding: 8, stage: "
		      "2}]\n"
		      "include: [{chip: A2, parallel: {tp: 2},\n"
		      "  check_memory: false}]\n",
		      &err);

	if (!ok(sweep != NULL, "cells for small chips are no error (%s)",
		err.text))
		return;
	is_int((long long)sweep_totals(sweep)->kept, 4,
	       "those that do not fit are dropped");
	is_int((long long)sweep_totals(sweep)->dropped, 3,
	       "unless the sweep says otherwise");
	sweep_drop(sweep, 0, cell, sizeof(cell), reason, sizeof(reason), &err);
	is(cell, "chip=A1 parallel.tp=2 check_memory=true", "with their words");
	is(reason,
	   "A1 has 80 GiB, but at least 98.4 are needed: 1.3e+10 parameters / "
	   "(TP 2 x PP 1) x (2 weights + 2 gradients + 12 optimizer) bytes = "
	   "96.9 GiB, and 1.6 GiB of layer inputs (2 bytes x 4096 tokens x "
	   "5120 hidden x 40 layers / PP 1 x 1); check_memory: false disables "
	   "this check",
	   "and the arithmetic");
	sweep_drop(sweep, 2, cell, sizeof(cell), reason, sizeof(reason), &err);
	is(reason,
	   "A2 has 40 GiB, but at least 47.0 are needed: 1.3e+10 parameters / "
	   "(TP 1 x PP 1) x (2 weights + 2 gradients / 8 + 12 optimizer / 8) "
	   "bytes = 45.4 GiB, and 1.6 GiB of layer inputs (2 bytes x 4096 "
	   "tokens x 5120 hidden x 40 layers / PP 1 x 1); check_memory: false "
	   "disables this check",
	   "of each");
}

static void test_stage(void)
{
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\nvendor: acme\nmodel: gpt-13b\n"
		      "devices: 8\nchip: A2\nparallel: {tp: 1}\n"
		      "matrix: {stage: [pretrain, lora]}\n",
		      &err);

	if (!ok(sweep != NULL, "stages are known (%s)", err.text))
		return;
	is_int((long long)sweep_totals(sweep)->kept, 1,
	       "one that learns little needs little");
	job_is(sweep, 0, "acme A2 i [stage=lora]");
}

int main(void)
{
	struct error err = { 0 };

	tap_begin(30);
	if (!mkdtemp(root))
		abort();
	put_data();
	catalog = catalog_load(root, &err);
	if (ok(catalog != NULL, "the catalog is loaded (%s)", err.text)) {
		test_list();
		test_only_list();
		test_refused();
		test_memory();
		test_stage();
	}
	catalog_free(catalog);
	file_remove_tree(AT_FDCWD, root, NULL);
	return tap_done();
}
