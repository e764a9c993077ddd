/* formats_test.c - each format of images/frameworks/ reads what its log says.
 *
 * tests/samples/formats/NAME.log is read by the format NAME; its expect file
 * holds steps, losses and records, computed by hand. Recorded logs are read in
 * the same way where there are some (recordings.h, training-logs-2/).
 */
#include "controller/catalog/catalog.h"
#include "controller/results/document/document.h"
#include "controller/results/format_choice.h"
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/recordings.h"

#include <fcntl.h>
#include <math.h>

#define OWN "tests/samples/formats/"

/* The format of a family as the recordings call it. */
static const struct {
	const char *family;
	const char *format;
} families[] = {
	{ "axolotl", "axolotl" },
	{ "NeMo 1 / BioNeMo (Lightning bar)", "nemo1" },
	{ "build-nanogpt", "build-nanogpt" },
	{ "Cerebras CS-X", "cerebras" },
	{ "ColossalAI", "colossalai" },
	{ "DeepSpeed-Chat (steps 2 and 3)", "deepspeed-chat" },
	{ "detectron2", "detectron2" },
	{ "diffusers (accelerate, tqdm postfix)", "diffusers" },
	{ "ESPnet", "espnet" },
	{ "ezpz (key=value logger)", "ezpz" },
	{ "fairseq", "fairseq" },
	{ "GPT-NeoX", "megatron-deepspeed" },
	{ "HF Trainer (tokens per second)", "hf-trainer" },
	{ "HF Trainer (tqdm postfix / bar)", "hf-trainer" },
	{ "InternEvo/InternLM", "internevo" },
	{ "JAX (vision_transformer)", "vision-transformer" },
	{ "Keras progress (fit)", "keras" },
	{ "Levanter", "levanter" },
	{ "litgpt", "litgpt" },
	{ "LLaMA-Factory", "llamafactory" },
	{ "llm.c", "llmc" },
	{ "MaxText", "maxtext" },
	{ "Megatron-Bridge (MTP, MoE)", "megatron-bridge" },
	{ "MindSpeed-LLM (FSDP2, Ascend)", "mindspeed-llm" },
	{ "MLPerf mlperf_logging", "mlperf" },
	{ "mmengine/XTuner", "mmengine" },
	{ "modded-nanogpt speedrun", "modded-nanogpt" },
	{ "MosaicML Composer / LLM-Foundry", "composer" },
	{ "ms-swift", "ms-swift" },
	{ "nanochat", "nanochat" },
	{ "nanoGPT", "nanogpt" },
	{ "nanogpt-speedrun (tokens/sec)", "nanogpt-speedrun" },
	{ "NeMo 2", "nemo2" },
	{ "OLMo-core", "olmo-core" },
	{ "OpenCLIP", "openclip" },
	{ "OpenRLHF", "openrlhf" },
	{ "PaddleClas/PaddleDetection", "paddleclas" },
	{ "PyTorch Lightning", "lightning" },
	{ "RWKV-LM", "rwkv" },
	{ "SambaNova RDU", "sambanova" },
	{ "timm", "timm" },
	{ "torchtitan", "torchtitan" },
	{ "torchtune", "torchtune" },
	{ "torchvision MetricLogger", "torchvision" },
	{ "TRL (GRPO)", "trl" },
	{ "Ultralytics YOLO", "ultralytics" },
	{ "Unsloth", "unsloth" },
	{ "verl (RL)", "verl" },
	{ "verl (SFT)", "verl" },
	{ "wordplay (nanoGPT derivative)", "wordplay" },
};

/* Figures of a record that others call as we do, or otherwise. */
static const struct {
	const char *theirs;
	const char *ours;
} figures[] = {
	{ "loss", "loss" },
	{ "iter_time_s", "iter_time_s" },
	{ "tokens_per_s", "tokens_per_s_reported" },
	{ "tokens_per_s_per_device", "tokens_per_s_per_device_reported" },
	{ "samples_per_s", "samples_per_s_reported" },
	{ "samples_per_s_per_device", "samples_per_s_per_device" },
	{ "tflops_per_device", "tflops_per_device_reported" },
	{ "mem_max_allocated_mib", "mem_max_allocated_mib" },
	{ "mem_max_allocated_gib", "mem_max_allocated_gib" },
	{ "mem_max_reserved_gib", "mem_max_reserved_gib" },
	{ "mem_max_active_gib", "mem_max_active_gib" },
	{ "mem_max_gb", "mem_max_gb" },
	{ "mem_reserved_gb", "mem_reserved_gb" },
	{ "mem_used_gb", "mem_used_gb" },
	{ "train_time_s", "train_time_s" },
	{ "samples_seen", "samples_seen" },
};

static struct catalog *catalog;

/* All formats that are tried where none is named. */
static struct {
	const char *names[FORMAT_CHOICE_MAX];
	struct extract_rules *rules[FORMAT_CHOICE_MAX];
	size_t count;
} all;

static const char *format_of(const char *family)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (!strcmp(families[i].family, family))
			return families[i].format;
	return NULL;
}

static struct extract_rules *rules_of(const char *name)
{
	const struct framework *format = catalog_framework(catalog, name);
	const struct value *logs[CATALOG_LOGS_MAX];
	struct error err = { 0 };
	struct extract_rules *rules = NULL;
	size_t count;

	if (format && catalog_logs(catalog, format, logs, &count, &err) == 0)
		rules = extract_rules_new(logs, count, &err);
	if (!rules)
		printf("# %s: %s\n", name, err.text);
	return rules;
}

static void all_load(void)
{
	const struct framework *format;

	for (size_t i = 0; (format = catalog_framework_at(catalog, i)); i++)
		if (format->log && value_get(format->log, "rules")) {
			all.names[all.count] = format->name;
			all.rules[all.count++] = rules_of(format->name);
		}
}

static cJSON *read_log(struct extract_rules *rules, const struct buffer *log)
{
	struct context context;
	struct extract *extract = extract_new(rules, NULL);
	struct sections *sections = sections_new(NULL);
	const struct derive_input input = { extract, sections, &context };
	struct log_bytes bytes = { 0 };
	cJSON *json;

	context_init(&context);
	sections_listen(sections, extract);
	extract_feed(extract, log->data, log->size, NULL);
	extract_finish(extract, NULL);
	json = log_document(&input, &bytes, NULL);
	sections_free(sections);
	extract_free(extract);
	return json;
}

static const cJSON *get(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

static bool near(const cJSON *got, const cJSON *want)
{
	if (cJSON_IsNumber(want))
		return cJSON_IsNumber(got) &&
		       fabs(got->valuedouble - want->valuedouble) <=
			       1e-6 * fabs(want->valuedouble);
	return !got || cJSON_IsNull(got);
}

static bool same_figure(const char *what, double step, const cJSON *got,
			const cJSON *want)
{
	if (near(got, want))
		return true;
	printf("# step %g: %s: got %s%g, want %g\n", step, what,
	       got ? "" : "none, ", got ? got->valuedouble : NAN,
	       want->valuedouble);
	return false;
}

/* Figures that are read under another name, for they are not what they seem. */
static bool is_other(const char *family, const char *figure)
{
	static const char *const others[][2] = {
		/* The time of one micro batch, not of a step. */
		{ "litgpt", "iter_time_s" },
		/* A running mean over a clock that began anew. */
		{ "nanogpt-speedrun (tokens/sec)", "tokens_per_s" },
		/* Ranks over the time of a step: no sequences. */
		{ "wordplay (nanoGPT derivative)", "samples_per_s" },
	};

	for (size_t i = 0; family && i < sizeof(others) / sizeof(others[0]);
	     i++)
		if (!strcmp(others[i][0], family) &&
		    !strcmp(others[i][1], figure))
			return true;
	return false;
}

static const cJSON *record_of(const cJSON *document, double step)
{
	const cJSON *record;

	cJSON_ArrayForEach(record, get(document, "records"))
	{
		if (get(record, "step")->valuedouble == step)
			return record;
	}
	return NULL;
}

static bool same_record(const cJSON *document, const cJSON *want,
			const char *family)
{
	const cJSON *step = get(want, "step");
	const cJSON *got;
	bool good = true;

	if (!cJSON_IsNumber(step))
		return true;
	got = record_of(document, step->valuedouble);
	if (!got) {
		printf("# no step %g\n", step->valuedouble);
		return false;
	}
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		const cJSON *figure = get(want, figures[i].theirs);

		if (figure && !is_other(family, figures[i].theirs))
			good &= same_figure(figures[i].theirs,
					    step->valuedouble,
					    get(got, figures[i].ours), figure);
	}
	return good;
}

/* {"count": 3, "first": 1, "last": 30}, of which null claims nothing. */
static bool same_range(const cJSON *document, const cJSON *expect,
		       const char *what)
{
	static const char *const names[] = { "count", "first", "last" };
	const cJSON *range = get(expect, what);
	bool good = true;

	if (cJSON_IsNull(get(range, "first")))
		return true;
	for (size_t i = 0; i < 3; i++) {
		const cJSON *want = get(range, names[i]);
		const cJSON *got = get(get(document, what), names[i]);

		if (cJSON_IsArray(want)) {
			if (cJSON_IsNull(cJSON_GetArrayItem(want, 0)))
				continue;
			want = cJSON_GetArrayItem(want, 1);
			got = cJSON_GetArrayItem(got, 1);
		}
		if (want)
			good &= same_figure(what, (double)i, got, want);
	}
	return good;
}

/* Of several records of a step the last one counts. */
static bool comes_again(const cJSON *record)
{
	for (const cJSON *next = record->next; next; next = next->next)
		if (cJSON_IsNumber(get(next, "step")) &&
		    near(get(next, "step"), get(record, "step")))
			return true;
	return false;
}

static bool same(const cJSON *document, const cJSON *expect)
{
	const char *family = cJSON_GetStringValue(get(expect, "family"));
	bool good = same_range(document, expect, "steps");
	const cJSON *want;

	/* A loss for each micro batch, of which a step keeps the last. */
	if (!get(get(expect, "loss"), "rule"))
		good &= same_range(document, expect, "loss");
	cJSON_ArrayForEach(want, get(expect, "records"))
	{
		if (!comes_again(want))
			good &= same_record(document, want, family);
	}
	return good;
}

static cJSON *read_json(const char *path)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, 1 << 20);
	if (file_read(AT_FDCWD, path, &text, NULL) < 0 ||
	    buffer_text(&text, "", NULL) < 0)
		return NULL;
	return cJSON_ParseWithLength(text.data, text.size);
}

/* Where no format is named, one is chosen that reads the same. */
static void check_choice(const char *name, const struct buffer *log,
			 const cJSON *expect)
{
	struct format_choice *choice =
		format_choice_new(all.rules, all.count, NULL);
	struct format_fit fits[FORMAT_FITS_MAX];
	cJSON *document;
	size_t count;

	format_choice_feed(choice, log->data, log->size, NULL);
	format_choice_finish(choice, NULL);
	count = format_choice_fits(choice, fits);
	if (count) {
		document = read_log(all.rules[fits[0].format], log);
		ok(same(document, expect), "%s: as expected by %s", name,
		   all.names[fits[0].format]);
		ok(!format_choice_tied(choice, fits, count),
		   "%s: and no other fits as well", name);
		cJSON_Delete(document);
	} else {
		ok(cJSON_IsNull(get(get(expect, "steps"), "first")),
		   "%s: no format fits", name);
	}
	format_choice_free(choice);
}

/* Of formats that read the same the one that is not built on others. */
static void check_plainer(void)
{
	static const char *const named[] = { "hf-trainer", "mlperf" };

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		struct format_choice *choice =
			format_choice_new(all.rules, all.count, NULL);
		struct format_fit fits[FORMAT_FITS_MAX];
		owned(buffer_clear) struct buffer log;
		char path[128];

		buffer_init(&log, 1 << 20);
		snprintf(path, sizeof(path), OWN "%s.log", named[i]);
		file_read(AT_FDCWD, path, &log, NULL);
		format_choice_feed(choice, log.data, log.size, NULL);
		format_choice_finish(choice, NULL);
		if (ok(format_choice_fits(choice, fits) > 1,
		       "%s: several formats fit", named[i]))
			is(all.names[fits[0].format], named[i],
			   "%s: it is named by its own name", named[i]);
		format_choice_free(choice);
	}
}

static void check(const char *folder, const char *name)
{
	char path[512];
	owned(buffer_clear) struct buffer log;
	cJSON *expect, *document = NULL;
	const char *family, *format = name;
	struct extract_rules *rules;

	buffer_init(&log, 1 << 24);
	snprintf(path, sizeof(path), "%s%s.expect.json", folder, name);
	expect = read_json(path);
	family = cJSON_GetStringValue(get(expect, "family"));
	if (family)
		format = format_of(family);
	snprintf(path, sizeof(path), "%s%s.log", folder, name);
	rules = format ? rules_of(format) : NULL;
	if (ok(expect && rules && file_read(AT_FDCWD, path, &log, NULL) == 0,
	       "%s is a log of %s", name, format ? format : "nobody")) {
		document = read_log(rules, &log);
		ok(same(document, expect), "%s: as expected", name);
		check_choice(name, &log, expect);
	}
	cJSON_Delete(document);
	cJSON_Delete(expect);
	extract_rules_free(rules);
}

static int check_folder(const char *folder)
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, NULL, alphasort), count = 0;

	for (int i = 0; i < n; i++) {
		char *name = entries[i]->d_name;
		char *end = strstr(name, ".expect.json");

		if (end) {
			*end = 0;
			check(folder, name);
			count++;
		}
		free(entries[i]);
	}
	free(entries);
	return count;
}

int main(void)
{
	struct error err = { 0 };
	char folder[160];

	tap_begin(300);
	catalog = catalog_load("images", &err);
	if (ok(catalog != NULL, "the descriptions are read %s", err.text)) {
		all_load();
		check_plainer();
		is_int(check_folder(OWN), 46, "all fixtures were read");
		if (recordings_folder("training-logs-2", folder,
				      sizeof(folder)))
			check_folder(folder);
	}
	for (size_t i = 0; i < all.count; i++)
		extract_rules_free(all.rules[i]);
	catalog_free(catalog);
	return tap_done();
}
