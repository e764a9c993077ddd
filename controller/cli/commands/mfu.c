/* mfu.c - mfu: computes MFU from a token rate.
 */
#include "controller/cell/reference_peak.h"
#include "controller/cli/command.h"
#include "protocol/base/nearest_word.h"
#include "protocol/base/units.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define RATE_MAX 1e15

struct mfu_options {
	struct options common;
	const char *model;
	const char *chip;
	const char *precision;
	const char *tokens_per_second;
	const char *stage;
	const char *formula;
	uint64_t sequence;
	const char *parameters;
	bool recompute;
};

/* The request, with model and chip from the catalog. */
struct question {
	const struct model *model;
	const struct chip *chip;
	const char *precision;
	enum formula formula;
	double rate;
	struct reference_peak reference;
	bool plain; /* 6 FLOPs, for any stage of the model */
};

static int token_rate_parse(const char *text, double *rate, struct error *err)
{
	const char *end;

	if (!decimal_parse(text, rate, &end) || *end || !(*rate > 0) ||
	    *rate > RATE_MAX)
		return error_set(err, EINVAL,
				 "--tokens-per-second: '%.60s' is not valid "
				 "here; expected a number above 0",
				 text);
	return 0;
}

static int check_given(const struct mfu_options *options, struct error *err)
{
	const struct {
		const char *name, *value;
	} needed[] = {
		{ "--model", options->model },
		{ "--chip", options->chip },
		{ "--precision", options->precision },
		{ "--tokens-per-second", options->tokens_per_second },
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!needed[i].value)
			return error_set(err, EINVAL,
					 "mfu: missing option (expected %s)",
					 needed[i].name);
	return 0;
}

static int unknown_stage(const struct question *question, struct error *err)
{
	char words[120] = "";
	const char *near =
		nearest_word(question->reference.stage, formula_stages);

	for (size_t i = 0; formula_stages[i]; i++)
		text_append(words, sizeof(words), "%s%s", i ? ", " : "",
			    formula_stages[i]);
	return error_set(err, EINVAL,
			 "--stage: '%.40s' is not valid here; expected "
			 "%s%s%s%s",
			 question->reference.stage, words,
			 near ? "; did you mean '" : "", near ? near : "",
			 near ? "'?" : "");
}

static int question_look_up(const struct cli *cli,
			    const struct catalog *catalog,
			    struct question *question, struct error *err)
{
	const struct mfu_options *options = cli->given;
	uint32_t sequence = options->sequence == OPTION_NONE
				    ? 0
				    : (uint32_t)options->sequence;

	question->model = catalog_model(catalog, options->model);
	if (!question->model)
		return catalog_unknown_name(catalog, CATALOG_MODEL, "--model",
					    options->model, err);
	question->chip = catalog_chip(catalog, NULL, options->chip);
	if (!question->chip)
		return catalog_unknown_name(catalog, CATALOG_CHIP, "--chip",
					    options->chip, err);
	question->precision = options->precision;
	if (options->formula)
		while (strcmp(formula_names[question->formula],
			      options->formula) != 0)
			question->formula++;
	reference_peak_init(&question->reference, question->model,
			    question->chip, question->precision, options->stage,
			    sequence,
			    options->parameters &&
				    !strcmp(options->parameters, "exact"));
	if (!question->reference.learns)
		return unknown_stage(question, err);
	/* --formula 6n without --stage means the factor 6. */
	question->plain = options->formula && !options->stage &&
			  question->formula == FORMULA_6N;
	if (question->plain)
		question->reference.flops.factor = formula_stage("pretrain");
	return 0;
}

/* Explain the FLOPs per parameter. */
static void explain_factor(const struct question *question, char *text,
			   size_t size)
{
	const struct reference_peak *reference = &question->reference;

	if (question->plain)
		snprintf(text, size, "--formula 6n without --stage: 6");
	else
		snprintf(text, size, "stage %s of the model trains: %s",
			 reference->stage, reference->learns);
}

/* Why the MFU is unknown; "" if it is known. */
static void question_explain(const struct question *question, char *text,
			     size_t size)
{
	const struct value *tflops = question->chip->tflops;
	const char *name = question->chip->name;
	size_t known;

	if (!tflops)
		tflops = question->chip->flagperf_tflops;
	known = tflops ? value_count(tflops) : 0;

	*text = 0;
	if (!(formula_flops(question->formula, &question->reference.flops) > 0))
		snprintf(text, size,
			 "the FLOPs per token of %s are unknown for formula "
			 "%s, because its description lacks a value",
			 question->model->name,
			 formula_names[question->formula]);
	else if (!(question->reference.peak_flops > 0) && !known)
		snprintf(text, size,
			 "the peak of %s is unknown, because no value with a "
			 "source exists",
			 name);
	else if (!(question->reference.peak_flops > 0)) {
		snprintf(text, size,
			 "the peak of %s at %.40s is unknown; known are", name,
			 question->precision);
		for (size_t i = 0; i < known; i++)
			text_append(text, size, "%s %.20s", i ? "," : "",
				    value_key(tflops, i));
	}
}

static void mfu_add_number(cJSON *to, const char *name, double number)
{
	cJSON_AddItemToObject(to, name,
			      isfinite(number) && number > 0
				      ? cJSON_CreateNumber(number)
				      : cJSON_CreateNull());
}

static void mfu_add_text(cJSON *to, const char *name, const char *text)
{
	cJSON_AddItemToObject(to, name,
			      *text ? cJSON_CreateString(text)
				    : cJSON_CreateNull());
}

static void add_inputs(cJSON *to, const struct question *question)
{
	const struct reference_peak *reference = &question->reference;
	char why[160];

	mfu_add_text(to, "model", question->model->name);
	mfu_add_text(to, "chip", question->chip->name);
	mfu_add_text(to, "vendor", question->chip->vendor);
	mfu_add_text(to, "precision", question->precision);
	mfu_add_text(to, "stage", reference->stage);
	mfu_add_text(to, "learns", reference->learns);
	mfu_add_number(to, "tokens_per_second_per_device", question->rate);
	mfu_add_number(to, "parameters", reference->flops.parameters);
	mfu_add_text(to, "parameters_are",
		     reference->nominal ? "nominal" : "exact");
	mfu_add_text(to, "peak_is",
		     !(reference->peak_flops > 0) ? ""
		     : reference->peak_published  ? "published"
						  : "flagperf");
	mfu_add_number(to, "sequence", reference->flops.sequence);
	mfu_add_number(to, "flops_per_parameter", reference->flops.factor);
	explain_factor(question, why, sizeof(why));
	mfu_add_text(to, "flops_per_parameter_is", why);
}

static void add_sources(cJSON *to, const struct question *question)
{
	cJSON *sources = cJSON_AddObjectToObject(to, "sources");

	mfu_add_text(sources, "model", question->model->source);
	mfu_add_text(sources, "chip", question->chip->source);
	mfu_add_text(sources, "formula",
		     question->formula == FORMULA_PALM
			     ? "https://arxiv.org/abs/2204.02311 appendix B"
			     : "https://github.com/FlagOpen/FlagPerf "
			       "training/benchmarks");
}

static cJSON *question_answer(const struct cli *cli,
			      const struct question *question)
{
	const struct reference_peak *reference = &question->reference;
	enum formula formula = question->formula;
	double flops = formula_flops(formula, &reference->flops);
	double mfu = formula_utilisation(question->rate, flops,
					 reference->peak_flops);
	double hfu =
		formula_utilisation(question->rate,
				    formula_flops_recomputed(formula,
							     &reference->flops),
				    reference->peak_flops);
	cJSON *to = cJSON_CreateObject();
	cJSON *flags;
	char text[240];

	mfu_add_number(to, "mfu_percent", mfu * 100);
	if (((const struct mfu_options *)cli->given)->recompute)
		mfu_add_number(to, "hfu_percent", hfu * 100);
	mfu_add_number(to, "flops_per_token", flops);
	if (reference->peak_flops > 0)
		mfu_add_number(to, "peak_tflops", reference->peak_flops / 1e12);
	else
		mfu_add_text(to, "peak_tflops", "unknown");
	mfu_add_text(to, "formula", formula_names[formula]);
	cJSON_AddNumberToObject(to, "formula_version", FORMULA_VERSION);
	add_inputs(to, question);
	question_explain(question, text, sizeof(text));
	mfu_add_text(to, "text", text);
	flags = cJSON_AddArrayToObject(to, "flags");
	if (mfu > 1) {
		snprintf(text, sizeof(text), "an MFU of %.1f %% is impossible",
			 mfu * 100);
		cJSON_AddItemToArray(flags, cJSON_CreateString(text));
	}
	add_sources(to, question);
	return to;
}

static int mfu_command(struct cli *cli, struct error *err)
{
	owned(catalog_free) struct catalog *catalog = NULL;
	owned(cJSON_Delete) cJSON *object = NULL;
	const struct mfu_options *given = cli->given;
	struct question question = { 0 };

	if (check_given(given, err) < 0 ||
	    token_rate_parse(given->tokens_per_second, &question.rate, err) <
		    0 ||
	    !(catalog = cli_catalog(cli, err)) ||
	    question_look_up(cli, catalog, &question, err) < 0)
		return -1;
	object = question_answer(cli, &question);
	return cli_print_json(cli, object, err);
}

/* clang-format off */
static const char *const parameter_kinds[] = { "nominal", "exact", NULL };
static const struct option_rule rules[] = {
	{ OPTION(mfu_options, "model", 0, OPTION_TEXT, model, "NAME"),
	  .help = "a model of models.yaml (required)" },
	{ OPTION(mfu_options, "chip", 0, OPTION_TEXT, chip, "NAME"),
	  .help = "a chip of a vendor's profile (required)" },
	{ OPTION(mfu_options, "precision", 0, OPTION_TEXT, precision, "WORD"),
	  .help = "bf16, fp16, tf32, fp8 ... (required)" },
	{ OPTION(mfu_options, "tokens-per-second", 0, OPTION_TEXT, tokens_per_second,
		 "X"),
	  .help = "token rate of one device, token/p/s (required)" },
	{ OPTION(mfu_options, "stage", 0, OPTION_TEXT, stage, "WORD"),
	  .help = "training stage (the model's first stage, or pretrain)" },
	{ OPTION(mfu_options, "formula", 0, OPTION_WORD, formula, "WORD"),
	  .words = formula_names,
	  .help = "6n (default), or palm, which counts attention" },
	{ OPTION(mfu_options, "sequence", 0, OPTION_NUMBER, sequence, "N"),
	  .min = 1,
	  .max = 1 << 30, .help = "tokens per sample, for palm (the model's)" },
	{ OPTION(mfu_options, "parameters", 0, OPTION_WORD, parameters, "WORD"),
	  .words = parameter_kinds,
	  .help = "nominal, as in the model's name (default), or exact" },
	{ OPTION(mfu_options, "recompute", 0, OPTION_FLAG, recompute, NULL),
	  .help = "also print the HFU with full recomputation" },
	OPTION_IMAGES,
	OPTION_FORMAT(formats_json, "json"),
	{ 0 },
};

const struct command command_mfu = {
	.name = "mfu",
	.rules = rules,
	.options_size = sizeof(struct mfu_options),
	.summary = "compute MFU from a token rate",
	.help =
		"Prints JSON: the model FLOPs utilisation in percent, its "
		  "inputs and their sources. Unknown figures are null, and "
		  "\"text\" gives the reason. Needs no controller.",
	.example = "regatta mfu --model llama2_7b --chip A800 --precision bf16 "
		"\\\n"
		"      --tokens-per-second 3564",
	.fn = mfu_command,
};
/* clang-format on */
