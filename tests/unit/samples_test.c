/* samples_test.c - every sample log says what its expect file claims.
 *
 * tests/samples/log-variants/ are made up: formats, versions, restarts, NaN,
 * ranks, escapes and cuts. Recorded logs of others are read where there are
 * some (recordings.h, training-logs/), with expectations computed without any
 * extractor.
 */
#include "controller/catalog/catalog.h"
#include "controller/results/document/document.h"
#include "controller/results/rules/rule.h"
#include "protocol/base/file.h"
#include "protocol/yaml/document.h"
#include "tests/tap.h"
#include "tests/unit/recordings.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>

#define MADE_UP "tests/samples/log-variants"

/* Whose log it is, by the start of the sample's name: the longest counts. */
static const struct {
	const char *start;
	const char *framework;
} families[] = {
	{ "base-", "base" },
	{ "deepspeed-", "deepspeed" },
	{ "flagscale-", "flagscale_2409" },
	{ "hf-", "deepspeed-torch" },
	{ "megatron-", "megatron" },
	{ "megatron-bridge-", "megatron_core060" },
	{ "megatron-deepspeed-", "megatron-deepspeed" },
	{ "mindspore-", "mindspore" },
	{ "operation-", "operation" },
	{ "paddle", "paddle_2.5.1" },
	{ "perflog-", "pytorch_1.13" },
	{ "tf2-", "tensorflow2" },
};

/* Keys that are no claims about the log. */
static const char *const no_claims[] = {
	"sample",    "synthetic",       "family",   "note",       "context",
	"framework", "context_assumed", "must_not", "should_not", "check",
	"rule",      "flagperf_rule",   "source",   NULL,
};

/* Claims that are not compared, and why: the place, and what is below it. */
static const struct {
	const char *sample;
	const char *path;
} unprinted[] = {
	/* Its dicts name no step; between those of the engine it would be a
	 * guess to which one each belongs.
	 */
	{ "deepspeed-hf-wrapped", ".loss" },
	/* Two counters: records have the engine's, the section `micro` that of
	 * the losses.
	 */
	{ "deepspeed-mooer", ".steps" },
	{ "deepspeed-mooer", ".loss.step_is" },
	/* One line of GPT-NeoX: the framework megatron reads those. */
	{ "deepspeed-versions-truncated.synthetic", ".neox_records" },
	{ "deepspeed-versions-truncated.synthetic", ".loss" },
	/* The bar's steps; records are of the eight with a loss. */
	{ "hf-tqdm-cr-nan.synthetic", ".steps.count" },
	{ "hf-tqdm-cr-nan.synthetic", ".steps.first" },
	/* The Trainer prints 0 for NaN, beside a gradient that is none. */
	{ "hf-tqdm-cr-nan.synthetic", ".loss.values[5][1]" },
	{ "hf-tqdm-cr-nan.synthetic", ".loss.suspicious_zero" },
	{ "hf-tqdm-cr-nan.synthetic", ".loss.nan" },
	{ "hf-tqdm-cr-nan.synthetic", ".flags" },
	/* Of eight ranks' results the last is printed, not the first. */
	{ "hf-tqdm-cr-nan.synthetic", ".train_result" },
	{ "hf-tqdm-cr-nan.synthetic", ".derived" },
	/* How many ranks, not which. */
	{ "megatron-interleaved-ranks.synthetic", ".memory.ranks" },
	/* Of a step that came twice only its last attempt is kept. */
	{ "megatron-nan-restart-truncated.synthetic", ".raw_records" },
	{ "megatron-nan-restart-truncated.synthetic", ".restarts" },
	{ "megatron-nan-restart-truncated.synthetic", ".repeated_steps" },
	{ "megatron-nan-restart-truncated.synthetic", ".flags" },
	/* Records have the step of the run, and the time of one. */
	{ "mindspore-resnet-lossmonitor", ".records[].step_in_epoch" },
	{ "mindspore-resnet-lossmonitor", ".records[].epoch_time_s" },
	{ "mindspore-resnet-lossmonitor", ".derived.warmup_epochs" },
	/* What either may be: without step 6, which has no end, or with it. */
	{ "paddle-ansi-1mb-nonutf8.synthetic", ".steps.optional" },
	{ "paddle-ansi-1mb-nonutf8.synthetic", ".loss.optional" },
	{ "paddle-ansi-1mb-nonutf8.synthetic", ".records[5]" },
	{ "paddle-ansi-1mb-nonutf8.synthetic",
	  ".derived.mean_iter_time_s_with_step_6" },
	{ "paddle-ansi-1mb-nonutf8.synthetic",
	  ".derived.tokens_per_s_per_device_with_step_6" },
	/* It has 22, one of which sets the terminal's title. */
	{ "paddle-ansi-1mb-nonutf8.synthetic", ".bytes_flags.ansi_escapes" },
	/* The losses of other ranks than the one that is read. */
	{ "perflog-nan-interleaved.synthetic", ".rank_filter" },
	{ "perflog-nan-interleaved.synthetic", ".rank1_records" },
	{ "perflog-nan-interleaved.synthetic", ".flags" },
	{ "perflog-nan-interleaved.synthetic", ".loss.count_finite" },
	{ "perflog-nan-interleaved.synthetic", ".loss.non_finite" },
	{ "tf2-timehistory-gaudi", ".derived.tolerance" },
};

/* Figures that recordings call otherwise than we do, in whose logs. */
static const struct {
	const char *start;
	const char *theirs;
	const char *ours;
} spelled[] = {
	{ "deepspeed-", "samples_per_s_last_finite_running_avg",
	  "samples_per_s_last_running_avg" },
	{ "paddle-ansi", "mean_iter_time_s_without_step_6",
	  "mean_iter_time_s" },
	{ "paddle-ansi", "tokens_per_s_per_device_without_step_6",
	  "tokens_per_s_per_device" },
	{ "paddle-ernie", "samples_per_s", "mean_of_reported_samples_per_s" },
	{ "paddle-ernie", "steps_per_s_reported", "speed_steps_per_s" },
	{ "paddle-ernie", "loss_lm", "lm_loss" },
	{ "paddle-ernie", "loss_sop", "sop_loss" },
	{ "paddlenlp-", "steps_per_s_reported", "interval_steps_per_second" },
	{ "paddlenlp-", "without_intervals_after_evaluation",
	  "without_the_interval_after_evaluation" },
};

static struct catalog *catalog;

struct text {
	char *data;
	size_t size;
};

/* What is read, and with what. */
struct sample {
	char name[128];
	struct text log;
	cJSON *expect;
	struct extract_rules *rules;
	struct context context;
};

static bool is_claim(const char *name)
{
	for (size_t i = 0; no_claims[i]; i++)
		if (!strcmp(name, no_claims[i]))
			return false;
	return true;
}

static const char *framework_of(const struct sample *sample)
{
	const char *named = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(sample->expect, "framework"));
	size_t longest = 0;
	const char *found = named;

	for (size_t i = 0; !named && i < sizeof(families) / sizeof(*families);
	     i++) {
		size_t size = strlen(families[i].start);

		if (size > longest &&
		    !strncmp(sample->name, families[i].start, size)) {
			longest = size;
			found = families[i].framework;
		}
	}
	return found;
}

static struct extract_rules *rules_for(const char *framework)
{
	const struct framework *found = catalog_framework(catalog, framework);
	const struct value *logs[CATALOG_LOGS_MAX];
	struct error err = { 0 };
	struct extract_rules *rules = NULL;
	size_t count;

	if (found && catalog_logs(catalog, found, logs, &count, &err) == 0)
		rules = extract_rules_new(logs, count, &err);
	ok(rules != NULL, "rules of %s %s", framework, err.text);
	return rules;
}

/* The context of the sample, and the warm-up that its figures are for. */
static void read_context(struct sample *sample)
{
	cJSON *all =
		cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(sample->expect,
								 "context"),
				true);
	const cJSON *derived =
		cJSON_GetObjectItemCaseSensitive(sample->expect, "derived");
	const cJSON *after =
		cJSON_GetObjectItemCaseSensitive(derived, "after_warmup");
	static const char *const names[] = { "warmup_steps", "warmup_records" };
	owned(document_free) struct document *document = NULL;
	char *text;

	if (!all)
		all = cJSON_CreateObject();
	for (size_t i = 0; i < 2; i++) {
		const cJSON *item =
			cJSON_GetObjectItemCaseSensitive(after ? after
							       : derived,
							 names[i]);

		if (item)
			cJSON_AddItemToObject(all, names[i],
					      cJSON_Duplicate(item, true));
	}
	if (cJSON_GetObjectItemCaseSensitive(derived, "utilisation_of_312"))
		cJSON_AddNumberToObject(all, "spec_tflops", 312);
	text = cJSON_PrintUnformatted(all);
	document = document_parse(text, strlen(text), "context", NULL, NULL);
	context_init(&sample->context);
	context_take(&sample->context, document_root(document), NULL);
	cJSON_free(text);
	cJSON_Delete(all);
}

/* Read a log in pieces of `piece` bytes; 0: of random sizes. */
static cJSON *document_of(const struct sample *sample, const char *data,
			  size_t size, size_t piece)
{
	struct extract *extract = extract_new(sample->rules, NULL);
	struct sections *sections = sections_new(NULL);
	const struct derive_input input = { extract, sections,
					    &sample->context };
	struct log_bytes bytes = { 0 };
	cJSON *json;

	sections_listen(sections, extract);
	for (size_t at = 0; at < size;) {
		size_t n = piece ? piece : (size_t)rand() % 97 + 1;

		if (n > size - at)
			n = size - at;
		log_bytes_take(&bytes, data + at, n);
		extract_feed(extract, data + at, n, NULL);
		at += n;
	}
	extract_finish(extract, NULL);
	json = log_document(&input, &bytes, NULL);
	sections_free(sections);
	extract_free(extract);
	return json;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b);
}

static bool is_unprinted(const struct sample *sample, const char *path)
{
	char any[512]; /* with [] for [7] */
	size_t n = 0;

	for (const char *c = path; *c; c++) {
		any[n++] = *c;
		if (*c == '[')
			c += strspn(c + 1, "0123456789");
	}
	any[n] = 0;
	for (size_t i = 0; i < sizeof(unprinted) / sizeof(*unprinted); i++)
		if (!strcmp(unprinted[i].sample, sample->name) &&
		    (!strcmp(unprinted[i].path, path) ||
		     !strcmp(unprinted[i].path, any)))
			return true;
	return false;
}

/* What is claimed, in our words: less what is not printed. */
static void adapt(const struct sample *sample, cJSON *want, const char *path)
{
	cJSON *item = want->child, *next;

	for (int i = 0; item; item = next, i++) {
		char below[512];

		next = item->next;
		if (item->string)
			snprintf(below, sizeof(below), "%.300s.%.100s", path,
				 item->string);
		else
			snprintf(below, sizeof(below), "%.300s[%d]", path, i);
		if (is_unprinted(sample, below)) {
			cJSON_Delete(cJSON_DetachItemViaPointer(want, item));
			continue;
		}
		for (size_t s = 0; s < sizeof(spelled) / sizeof(*spelled); s++)
			if (item->string &&
			    !strcmp(item->string, spelled[s].theirs) &&
			    !strncmp(sample->name, spelled[s].start,
				     strlen(spelled[s].start))) {
				free(item->string);
				item->string = strdup(spelled[s].ours);
			}
		adapt(sample, item, below);
	}
}

/* Have the records these values, in order? A value, or [step, value]. */
static bool listed(const cJSON *got, const cJSON *values, const char *name)
{
	const cJSON *record = got->child, *want;
	bool good = true;

	cJSON_ArrayForEach(want, values)
	{
		const cJSON *first = cJSON_GetArrayItem(want, 0);
		const cJSON *value = first ? first->next : want;

		while (record &&
		       cJSON_IsNull(
			       cJSON_GetObjectItemCaseSensitive(record, name)))
			record = record->next;
		good &= record &&
			(!first ||
			 first->valuedouble ==
				 cJSON_GetObjectItemCaseSensitive(record,
								  "step")
					 ->valuedouble) &&
			(!value ||
			 cJSON_Compare(cJSON_GetObjectItemCaseSensitive(record,
									name),
				       value, true));
		record = record ? record->next : NULL;
	}
	return good;
}

static void check_lists(const struct sample *sample, const cJSON *got)
{
	static const char *const lists[][2] = { { "steps", "step" },
						{ "loss", "loss" } };

	for (size_t i = 0; i < 2; i++) {
		cJSON *values = cJSON_DetachItemFromObjectCaseSensitive(
			cJSON_GetObjectItemCaseSensitive(sample->expect,
							 lists[i][0]),
			"values");

		if (values)
			ok(listed(cJSON_GetObjectItemCaseSensitive(got,
								   "records"),
				  values, lists[i][1]),
			   "%s: these values: %s", sample->name, lists[i][1]);
		cJSON_Delete(values);
	}
}

/* Does got hold all that want claims? Tells what it does not. */
static bool holds(const cJSON *got, const cJSON *want, const char *path)
{
	const cJSON *item;
	bool good = true;
	int i = 0;

	if (cJSON_IsNull(want)) {
		good = !got || cJSON_IsNull(got);
	} else if (cJSON_IsNumber(want)) {
		good = cJSON_IsNumber(got) &&
		       near(got->valuedouble, want->valuedouble);
	} else if (cJSON_IsObject(want) || cJSON_IsArray(want)) {
		if (!got || got->type != want->type ||
		    (cJSON_IsArray(want) &&
		     cJSON_GetArraySize(got) != cJSON_GetArraySize(want))) {
			printf("# %s: not there, or not as long\n", path);
			return false;
		}
		cJSON_ArrayForEach(item, want)
		{
			char below[512];

			if (item->string && !is_claim(item->string))
				continue;
			if (item->string)
				snprintf(below, sizeof(below), "%.300s.%.100s",
					 path, item->string);
			else
				snprintf(below, sizeof(below), "%.300s[%d]",
					 path, i);
			good &= holds(
				item->string ? cJSON_GetObjectItemCaseSensitive(
						       got, item->string)
					     : cJSON_GetArrayItem(got, i),
				item, below);
			i++;
		}
		return good;
	} else {
		good = got && cJSON_Compare(got, want, true);
	}
	if (!good) {
		char *text[2] = { cJSON_PrintUnformatted(got),
				  cJSON_PrintUnformatted(want) };

		printf("# %s: %s instead of %s\n", path,
		       text[0] ? text[0] : "nothing", text[1]);
		cJSON_free(text[0]);
		cJSON_free(text[1]);
	}
	return good;
}

/* Values that a careless rule would take for a metric. */
static bool kept_out(const cJSON *got, const cJSON *list)
{
	const cJSON *one, *record;
	bool good = true;

	cJSON_ArrayForEach(one, list)
	{
		const char *metric = cJSON_GetStringValue(
			cJSON_GetObjectItemCaseSensitive(one, "metric"));
		const cJSON *value =
			cJSON_GetObjectItemCaseSensitive(one, "value");

		cJSON_ArrayForEach(record,
				   cJSON_GetObjectItemCaseSensitive(got,
								    "records"))
		{
			const cJSON *item =
				cJSON_GetObjectItemCaseSensitive(record,
								 metric);

			good &= !cJSON_IsNumber(item) ||
				!near(item->valuedouble, value->valuedouble);
		}
	}
	return good;
}

static void check_claims(const struct sample *sample, const cJSON *got)
{
	static const char *const lists[] = { "must_not", "should_not" };

	adapt(sample, sample->expect, "");
	check_lists(sample, got);
	ok(holds(got, sample->expect, ""), "%s: as expected", sample->name);
	for (size_t i = 0; i < 2; i++) {
		const cJSON *list =
			cJSON_GetObjectItemCaseSensitive(sample->expect,
							 lists[i]);

		if (list)
			ok(kept_out(got, list), "%s: nothing that it %s",
			   sample->name, lists[i]);
	}
}

static void check_pieces(const struct sample *sample, const cJSON *whole)
{
	char *want = cJSON_PrintUnformatted(whole);
	bool good = true;

	for (int round = 0; round < 6; round++) {
		cJSON *json = document_of(sample, sample->log.data,
					  sample->log.size, round ? 0 : 1);
		char *got = cJSON_PrintUnformatted(json);

		good &= !strcmp(got, want);
		cJSON_free(got);
		cJSON_Delete(json);
	}
	ok(good, "%s: the same in pieces of any size", sample->name);
	cJSON_free(want);
}

/* Is every number of a cut log one of the whole log, or of what stood before
 * the cut line?
 */
static bool is_part(const cJSON *cut, const cJSON *whole, const cJSON *before,
		    const char *path)
{
	static const char *const follow[] = { "steps",
					      "loss",
					      "train_result",
					      "derived",
					      "derived_warmup_0",
					      "derived_warmup_1",
					      "bytes_flags",
					      "metrics",
					      "memory",
					      NULL };
	const cJSON *item;
	bool good = true;
	int i = 0;

	if (cJSON_IsNull(cut))
		return true; /* what a line would have said later */
	if (cJSON_IsObject(cut) || cJSON_IsArray(cut)) {
		cJSON_ArrayForEach(item, cut)
		{
			const char *name = item->string;
			bool skip = false;

			for (size_t f = 0; name && !*path && follow[f]; f++)
				skip |= !strcmp(name, follow[f]);
			if (skip)
				continue;
			good &= is_part(
				item,
				name ? cJSON_GetObjectItemCaseSensitive(whole,
									name)
				     : cJSON_GetArrayItem(whole, i),
				name ? cJSON_GetObjectItemCaseSensitive(before,
									name)
				     : cJSON_GetArrayItem(before, i),
				name ? name : "[]");
			i++;
		}
		return good;
	}
	good = (whole && cJSON_Compare(cut, whole, true)) ||
	       (before && cJSON_Compare(cut, before, true));
	if (!good) {
		char *text = cJSON_PrintUnformatted(cut);

		printf("# %s: %s is of no uncut line\n", path, text);
		cJSON_free(text);
	}
	return good;
}

/* Cut one line everywhere, with those before it that it may belong to. */
static bool cut_line(const struct sample *sample, size_t from, size_t line,
		     size_t end)
{
	const char *data = sample->log.data;
	cJSON *before = document_of(sample, data + from, line - from, 4096);
	cJSON *whole = document_of(sample, data + from, end - from, 4096);
	bool good = true;

	for (size_t cut = line + 1; cut + 1 < end && good; cut++) {
		cJSON *json =
			document_of(sample, data + from, cut - from, 4096);

		good = is_part(json, whole, before, "");
		if (!good)
			printf("# cut: %.*s\n", (int)(cut - line), data + line);
		cJSON_Delete(json);
	}
	cJSON_Delete(before);
	cJSON_Delete(whole);
	return good;
}

static void check_cuts(const struct sample *sample)
{
	const char *data = sample->log.data;
	size_t starts[3] = { 0, 0, 0 }; /* of the lines before */
	bool good = true;
	int lines = 0;

	for (size_t line = 0; line < sample->log.size && lines < 40; lines++) {
		const char *lf =
			memchr(data + line, '\n', sample->log.size - line);
		size_t end = lf ? (size_t)(lf - data) + 1 : sample->log.size;

		/* Lines of bars have records of their own, too many to cut. */
		if (lf && end - line <= 700)
			good &= cut_line(sample, starts[0], line, end);
		starts[0] = starts[1];
		starts[1] = starts[2];
		starts[2] = line;
		line = end;
	}
	ok(good, "%s: no number that was cut", sample->name);
}

/* The same log between bytes that are no text, in lines that end in CRLF. */
static void check_noise(const struct sample *sample, const cJSON *whole)
{
	static const char noise[] = "\xff\xfe\0\xc3 GBK \xbb\xf0\n\0\0\r\x1b[2K"
				    "\x1b]0;title\a\n";
	struct text text = {
		malloc(sample->log.size * 2 + (1u << 20) + 4 * sizeof(noise)), 0
	};
	cJSON *json;
	bool good = true;

	memcpy(text.data, noise, sizeof(noise) - 1);
	text.size = sizeof(noise) - 1;
	memset(text.data + text.size, 'x', 1 << 20);
	text.size += 1 << 20;
	text.data[text.size++] = '\n';
	for (size_t i = 0; i < sample->log.size; i++) {
		if (sample->log.data[i] == '\n')
			text.data[text.size++] = '\r';
		text.data[text.size++] = sample->log.data[i];
	}
	json = document_of(sample, text.data, text.size, 4096);
	for (const cJSON *item = whole->child; item; item = item->next)
		if (strcmp(item->string, "bytes_flags") != 0)
			good &= cJSON_Compare(item,
					      cJSON_GetObjectItemCaseSensitive(
						      json, item->string),
					      true);
	ok(good, "%s: the same between binary bytes, behind a line of a MiB",
	   sample->name);
	cJSON_Delete(json);
	free(text.data);
}

static bool read_file(const char *path, struct text *text)
{
	struct buffer buffer;
	bool good;

	buffer_init(&buffer, 2 << 20);
	good = file_read(AT_FDCWD, path, &buffer, NULL) == 0;
	text->size = buffer.size;
	text->data = buffer_take(&buffer);
	return good && text->data;
}

static void check_sample(const char *folder, const char *name)
{
	struct sample sample = { 0 };
	struct text expect = { 0 };
	char path[512];
	cJSON *whole;

	snprintf(sample.name, sizeof(sample.name), "%.*s",
		 (int)(strlen(name) - strlen(".expect.json")), name);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (read_file(path, &expect))
		sample.expect = cJSON_Parse(expect.data);
	free(expect.data);
	snprintf(path, sizeof(path), "%s/%s.log", folder, sample.name);
	if (ok(sample.expect && read_file(path, &sample.log), "%s is there",
	       sample.name) &&
	    (sample.rules = rules_for(framework_of(&sample)))) {
		read_context(&sample);
		whole = document_of(&sample, sample.log.data, sample.log.size,
				    1 << 16);
		check_claims(&sample, whole);
		check_pieces(&sample, whole);
		check_cuts(&sample);
		check_noise(&sample, whole);
		cJSON_Delete(whole);
	}
	extract_rules_free(sample.rules);
	cJSON_Delete(sample.expect);
	free(sample.log.data);
}

/* The search works only where each rule has a text that all its matches hold.
 */
static void check_literals(void)
{
	const struct framework *framework;

	for (size_t i = 0; (framework = catalog_framework_at(catalog, i));
	     i++) {
		struct extract_rules *rules =
			framework->log ? rules_for(framework->name) : NULL;

		if (rules)
			ok(rules->literals != NULL,
			   "%s: each rule shows what it looks for",
			   framework->name);
		extract_rules_free(rules);
	}
}

static int check_folder(const char *folder)
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, NULL, alphasort), count = 0;

	for (int i = 0; i < n; i++) {
		const char *end = strstr(entries[i]->d_name, ".expect.json");

		if (end && end != entries[i]->d_name) {
			check_sample(folder, entries[i]->d_name);
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
	srand(1);
	catalog = catalog_load("images", &err);
	if (ok(catalog != NULL, "the descriptions are read %s", err.text)) {
		check_literals();
		ok(check_folder(MADE_UP) >= 12, "all samples were read");
		if (recordings_folder("training-logs", folder, sizeof(folder)))
			check_folder(folder);
	}
	catalog_free(catalog);
	return tap_done();
}
