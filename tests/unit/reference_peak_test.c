/* reference_peak_test.c - published tables, computed again from the data files.
 */
#include "controller/cell/reference_peak.h"
#include "protocol/base/buffer.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <math.h>

static char root[] = "/tmp/yardstick-XXXXXX";

/* The project's models, with chips of our own. */
static struct catalog *make_catalog(void)
{
	static const char profile[] =
		"vendor: acme\n"
		"chips:\n"
		"  - {name: A, aliases: [A100, A800], source: s,\n"
		"     memory_gib: 80,\n"
		"     tflops: {bf16: 312, tf32: 156}}\n"
		"  - {name: H, aliases: [H100, H800], source: s,\n"
		"     tflops: {bf16: 989, tf32: 495}}\n"
		"  - {name: N, source: s}\n";
	struct error err = { 0 };
	struct catalog *catalog;
	char path[100];
	owned(buffer_clear) struct buffer models = BUFFER_INIT(1 << 20);

	if (file_read(AT_FDCWD, "images/models.yaml", &models, &err) < 0)
		printf("# %s\n", err.text);
	snprintf(path, sizeof(path), "%s/models.yaml", root);
	file_write(AT_FDCWD, path, models.data, models.size, 0644, 0, NULL);
	snprintf(path, sizeof(path), "%s/vendors/acme", root);
	file_make_folders(path, 0755, NULL);
	snprintf(path, sizeof(path), "%s/vendors/acme/profile.yaml", root);
	file_write(AT_FDCWD, path, profile, strlen(profile), 0644, 0, NULL);
	catalog = catalog_load(root, &err);
	ok(catalog != NULL, "the models of the project are loaded (%s)",
	   err.text);
	return catalog;
}

/* clang-format off */
/* Rows of FlagPerf's tables: the rate as it is printed there; the percents are
 * computed by hand from the formulas with the nominal parameters. What the
 * tables print stands beside them; it was rounded or cut by hand.
 */
static const struct row {
	const char *model, *stage, *chip, *precision;
	double rate;
	double mfu;
	double palm; /* 0: a mixture of experts, for which it is not defined */
	double printed;
	double slip; /* how far the table is off by more than its rounding */
} rows[] = {
	{ "baichuan2_13b", NULL, "H800", "bf16", 2068, 16.31, 17.36, 16.3, 0 },
	{ "baichuan2_13b", NULL, "H800", "bf16", 2710, 21.37, 22.75, 21.4, 0 },
	{ "llava1.5_7b", "pretrain", "A800", "bf16", 4013, 18.01, 19.39, 18.01,
	  0 },
	{ "llava1.5_7b", "finetune", "A800", "bf16", 2937, 39.54, 42.57, 39.57,
	  0.03 },
	{ "llama2_7b", NULL, "A800", "bf16", 3564, 47.98, 55.34, 47.9, 0 },
	{ "llama2_7b", NULL, "H800", "bf16", 7151, 30.37, 35.03, 30.4, 0 },
	{ "llama2_70B", NULL, "H800", "bf16", 641.93, 27.26, 29.35, 27.2, 0 },
	{ "llama2_70B", NULL, "H800", "bf16", 908.29, 38.57, 41.53, 38.6, 0 },
	/* printed as fp32, computed with the peak of TF32 */
	{ "llama2_70B", NULL, "H800", "tf32", 253.61, 21.52, 23.17, 21.5, 0 },
	{ "llama3_8B", NULL, "A100", "bf16", 3698.7, 56.90, 72.18, 56.9, 0 },
	{ "llama3_8B", NULL, "A100", "bf16", 3306.5, 50.87, 64.52, 50.0, 0.87 },
	{ "llama3_8B", NULL, "H100", "bf16", 8103, 39.33, 49.88, 39.3, 0 },
	{ "llama3_70B", NULL, "H100", "bf16", 851, 36.14, 41.68, 36.1, 0 },
	{ "mixtral_8x7B", NULL, "H100", "bf16", 2844, 20.70, 0, 20.7, 0 },
	{ "qwen1.5_MoE", NULL, "A100", "bf16", 7450.7, 32.96, 0, 32.95, 0.01 },
	{ "chatglm3_6b", NULL, "H800", "bf16", 8429.22, 30.68, 35.49, 30.7, 0 },
	{ "aquila2_7b", NULL, "A100", "bf16", 3936.8, 53.00, 57.06, 53.0, 0 },
	{ "llama2_7b", NULL, "A800", "bf16", 4047, 54.48, 62.84, 54.6, 0.12 },
	{ "llama2_7b_finetune", NULL, "A100", "tf32", 4017, 36.05, 36.74, 36.1,
	  0 },
	{ "llama2_7b_finetune", "lora", "A100", "tf32", 4017, 36.05, 36.74, 36.1,
	  0 },
	/* GPT-3 tables have no such column; 6 N of 4410.88 and 1784.32. */
	{ "gpt3_6.7B", NULL, "A100", "bf16", 4410.88, 56.83, 61.39, 56.8, 0 },
	{ "gpt3_13B", NULL, "A100", "bf16", 1784.32, 44.61, 47.49, 44.6, 0 },
};
/* clang-format on */

static double percent(const struct row *row, enum formula formula,
		      const struct reference_peak *reference)
{
	return 100 *
	       formula_utilisation(row->rate,
				   formula_flops(formula, &reference->flops),
				   reference->peak_flops);
}

static void test_tables(const struct catalog *catalog)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct reference_peak reference;
		double mfu, palm;

		reference_peak_init(&reference,
				    catalog_model(catalog, row->model),
				    catalog_chip(catalog, NULL, row->chip),
				    row->precision, row->stage, 0, false);
		mfu = percent(row, FORMULA_6N, &reference);
		palm = percent(row, FORMULA_PALM, &reference);
		ok(fabs(mfu - row->mfu) <= 0.005 + 1e-9,
		   "%s at %g token/p/s has an MFU of %.2f %% (%.4f)",
		   row->model, row->rate, row->mfu, mfu);
		if (row->palm > 0)
			ok(fabs(palm - row->palm) <= 0.005 + 1e-9,
			   "and with the attention of %.2f %% (%.4f)",
			   row->palm, palm);
		ok(fabs(mfu - row->printed) < 0.1 + row->slip,
		   "the table prints %g%s", row->printed,
		   row->slip > 0 ? ", a slip" : "");
	}
}

static void test_lookup(const struct catalog *catalog)
{
	const struct model *mixtral = catalog_model(catalog, "mixtral");
	const struct model *llava = catalog_model(catalog, "llava1.5_7b");
	const struct chip *a = catalog_chip(catalog, NULL, "a");
	struct reference_peak reference;

	reference_peak_init(&reference, mixtral, a, "bf16", NULL, 0, true);
	ok(!reference.nominal && reference.flops.parameters == 12879925248,
	   "the exact parameters of a mixture of experts are the active ones");
	ok(reference.memory_bytes == 80.0 * (1 << 30),
	   "the chip's memory is in bytes");
	reference_peak_init(&reference, mixtral, a, "bf16", NULL, 0, false);
	ok(reference.nominal && reference.flops.parameters == 12e9,
	   "the nominal ones are those of the tables");
	is(reference.stage, "pretrain", "a model is pretrained");
	reference_peak_init(&reference, llava, a, "bf16", NULL, 77, false);
	ok(!strcmp(reference.stage, "pretrain") &&
		   !strcmp(reference.learns, "projector") &&
		   reference.flops.factor == 2,
	   "unless its first stage is something else");
	ok(reference.flops.sequence == 77, "a sequence is taken as given");
	reference_peak_init(&reference, llava, a, "bf16", "lora-4n", 0, false);
	ok(reference.flops.factor == 4,
	   "a stage that the model does not list is the formula's");
	reference_peak_init(&reference, llava, a, "bf16", "lorra", 0, false);
	ok(!reference.learns && reference.flops.factor == 0,
	   "an unknown one costs nothing that is known");
	reference_peak_init(&reference, NULL, NULL, NULL, NULL, 0, false);
	ok(!reference.peak_flops && !reference.flops.parameters,
	   "without model and chip nothing is known");
	reference_peak_init(&reference, llava, catalog_chip(catalog, NULL, "N"),
			    "bf16", NULL, 0, false);
	ok(!reference.peak_flops && !reference.memory_bytes,
	   "a chip without figures has no peak");
	reference_peak_init(&reference, catalog_model(catalog, "aquila2_34b"),
			    a, "bf16", NULL, 0, true);
	ok(isnan(formula_flops(FORMULA_6N, &reference.flops)),
	   "parameters that nobody counted are not guessed");
}

int main(void)
{
	struct error err = { 0 };
	struct catalog *catalog;

	tap_begin(20);
	if (!mkdtemp(root))
		return 1;
	catalog = make_catalog();
	if (catalog) {
		test_tables(catalog);
		test_lookup(catalog);
	}
	catalog_free(catalog);
	catalog = catalog_load("images", &err);
	if (ok(catalog != NULL, "the chips of the project, too (%s)", err.text))
		test_tables(catalog);
	catalog_free(catalog);
	file_remove_tree(AT_FDCWD, root, NULL);
	return tap_done();
}
