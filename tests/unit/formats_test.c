/* formats_test.c - each format of images/frameworks/ reads what its log says.
 *
 * tests/samples/formats/NAME.log is read by the format NAME; its expect file
 * holds steps, losses and records, computed by hand. Recorded logs are read in
 * the same way where there are some (recordings.h, training-logs-2/).
 */
#include "controller/results/format_choice.h"
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/expectations.h"
#include "tests/unit/recordings.h"

#include <fcntl.h>

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
	{ "diffusers (accelerate, tqdm postfix)", "generic" },
	{ "ESPnet", "espnet" },
	{ "ezpz (key=value logger)", "generic" },
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

static struct catalog *catalog;

static struct all_formats all;

static const char *format_of(const char *family)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (!strcmp(families[i].family, family))
			return families[i].format;
	return NULL;
}

static const cJSON *get(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* Where no format is named, one is chosen that reads the same. */
static void check_choice(const char *name, const struct buffer *log,
			 const cJSON *expect)
{
	struct format_choice *choice =
		format_choice_new(all.rules, all.count, NULL);
	struct format_fit fits[FORMAT_FITS_MAX];
	cJSON *view;
	size_t count;

	format_choice_feed(choice, log->data, log->size, NULL);
	format_choice_finish(choice, NULL);
	count = format_choice_fits(choice, fits);
	if (count) {
		view = log_view(all.rules[fits[0].format], log->data, log->size,
				log->size);
		ok(expectation_met(view, expect, true), "%s: as expected by %s",
		   name, all.names[fits[0].format]);
		ok(!format_choice_tied(choice, fits, count),
		   "%s: and no other fits as well", name);
		cJSON_Delete(view);
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
		owned(buffer_clear) struct buffer log = BUFFER_INIT(1 << 20);
		char path[128];

		snprintf(path, sizeof(path), FORMAT_SAMPLES "%s.log", named[i]);
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
	owned(buffer_clear) struct buffer log = BUFFER_INIT(1 << 24);
	cJSON *expect, *view = NULL;
	const char *family, *format = name;
	struct extract_rules *rules;

	snprintf(path, sizeof(path), "%s%s.expect.json", folder, name);
	expect = expectation_read(path);
	family = cJSON_GetStringValue(get(expect, "family"));
	if (family)
		format = format_of(family);
	snprintf(path, sizeof(path), "%s%s.log", folder, name);
	rules = format ? format_rules(catalog, format) : NULL;
	if (ok(expect && rules && file_read(AT_FDCWD, path, &log, NULL) == 0,
	       "%s is a log of %s", name, format ? format : "nobody")) {
		view = log_view(rules, log.data, log.size, log.size);
		ok(expectation_met(view, expect, true), "%s: as expected",
		   name);
		check_choice(name, &log, expect);
	}
	cJSON_Delete(view);
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
		all_formats_load(&all, catalog);
		check_plainer();
		is_int(check_folder(FORMAT_SAMPLES), 48,
		       "all fixtures were read");
		if (recordings_folder("training-logs-2", folder,
				      sizeof(folder)))
			check_folder(folder);
	}
	all_formats_clear(&all);
	catalog_free(catalog);
	return tap_done();
}
