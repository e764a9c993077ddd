/* samples_test.c - every sample log says what its expect file claims.
 *
 * tests/samples/log-variants/ are made up: formats, versions, restarts, NaN,
 * ranks, escapes and cuts. Recorded logs of others are read where there are
 * some (recordings.h, training-logs/), with expectations computed without any
 * extractor.
 */
#include "controller/catalog/catalog.h"
#include "controller/results/rules/rule.h"
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/expectations.h"
#include "tests/unit/recordings.h"
#include "tests/unit/sample_claims.h"

#include <dirent.h>
#include <fcntl.h>

#define MADE_UP "tests/samples/log-variants"
#define CUT_LINES 40 /* the first of a log */

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
};

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

static void check_claims(const struct sample *sample, const cJSON *got)
{
	static const char *const lists[] = { "must_not", "should_not" };

	ok(sample_claims_met(sample->name, sample->expect, got),
	   "%s: as expected", sample->name);
	for (size_t i = 0; i < 2; i++) {
		const cJSON *list =
			cJSON_GetObjectItemCaseSensitive(sample->expect,
							 lists[i]);

		if (list)
			ok(sample_claims_kept_out(got, list),
			   "%s: nothing that it %s", sample->name, lists[i]);
	}
}

static void check_pieces(const struct sample *sample, const cJSON *whole)
{
	char *want = cJSON_PrintUnformatted(whole);
	bool good = true;

	for (int round = 0; round < 6; round++) {
		cJSON *json = log_view(sample->rules, sample->log.data,
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
	static const char *const follow[] = { "steps", "loss",    "result",
					      "bytes", "metrics", NULL };
	const cJSON *item;
	bool good = true;
	int i = 0;

	if (cJSON_IsNull(cut))
		return true; /* what a line would have said later */
	/* A maximum may grow. */
	if (!strcmp(path, "memory_mib") && whole &&
	    cut->valuedouble <= whole->valuedouble)
		return true;
	if (cJSON_IsObject(cut) || cJSON_IsArray(cut)) {
		cJSON_ArrayForEach(item, cut) {
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
	cJSON *before = log_view(sample->rules, data + from, line - from, 4096);
	cJSON *whole = log_view(sample->rules, data + from, end - from, 4096);
	bool good = true;

	for (size_t cut = line + 1; cut + 1 < end && good; cut++) {
		cJSON *json =
			log_view(sample->rules, data + from, cut - from, 4096);

		good = is_part(json, whole, before, "");
		if (!good)
			printf("# cut: %.*s\n", (int)(cut - line), data + line);
		cJSON_Delete(json);
	}
	cJSON_Delete(before);
	cJSON_Delete(whole);
	return good;
}

/* Of lines that differ in their digits alone, one tells all. */
static uint64_t hash_shape(const char *line, size_t size)
{
	uint64_t hash = 14695981039346656037U; /* FNV-1a */
	bool in_number = false;

	for (size_t i = 0; i < size; i++) {
		bool digit = line[i] >= '0' && line[i] <= '9';

		if (!digit || !in_number)
			hash = (hash ^ (digit ? '0' : (unsigned char)line[i])) *
			       1099511628211U;
		in_number = digit;
	}
	return hash;
}

static bool shape_is_new(uint64_t shapes[], int count, uint64_t shape)
{
	for (int i = 0; i < count; i++) {
		if (shapes[i] == shape)
			return false;
	}
	shapes[count] = shape;
	return true;
}

static void check_cuts(const struct sample *sample)
{
	const char *data = sample->log.data;
	uint64_t shapes[CUT_LINES] = { 0 };
	size_t starts[3] = { 0, 0, 0 }; /* of the lines before */
	bool good = true;
	int lines = 0;

	for (size_t line = 0; line < sample->log.size && lines < CUT_LINES;
	     lines++) {
		const char *lf =
			memchr(data + line, '\n', sample->log.size - line);
		size_t end = lf ? (size_t)(lf - data) + 1 : sample->log.size;

		/* Lines of bars have records of their own, too many to cut. */
		if (lf && end - line <= 700 &&
		    shape_is_new(shapes, lines,
				 hash_shape(data + line, end - line)))
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
	json = log_view(sample->rules, text.data, text.size, 4096);
	for (const cJSON *item = whole->child; item; item = item->next)
		if (strcmp(item->string, "bytes") != 0)
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
		whole = log_view(sample.rules, sample.log.data, sample.log.size,
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
			ok(rules->literals || rules->marks,
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
