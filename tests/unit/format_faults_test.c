/* format_faults_test.c - a log that was cut is never complete, and a rule that
 * reads wrong is noticed.
 *
 * Every log of tests/samples/formats/ is cut at each of its lines; every rule
 * of its format is broken in turn: a value is dropped, taken for its
 * neighbour's, or of another unit. The figures must then be as before, or not
 * as expected.
 */
#include "controller/results/rules/rule.h"
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/expectations.h"
#include "tests/unit/result_tree.h"

#include <fcntl.h>

#define VARIANTS "tests/samples/log-variants/"

/* Logs that say when they end, or seem to. */
static const struct {
	const char *log;
	const char *format;
} ended[] = {
	{ VARIANTS "deepspeed-versions.log", "deepspeed" },
	{ VARIANTS "hf-llava-flagperf.log", "deepspeed-torch" },
	{ VARIANTS "hf-swift.log", "deepspeed-torch" },
	{ VARIANTS "hf-trainer-bars.log", "deepspeed-torch" },
	{ VARIANTS "hf-trainer-without-bars.log", "deepspeed-torch" },
	{ VARIANTS "megatron-flagperf.log", "megatron" },
	{ VARIANTS "megatron-restart.log", "megatron" },
	{ VARIANTS "mlperf-blocks.log", "mlperf" },
	{ VARIANTS "mlperf-steps.log", "mlperf" },
	{ VARIANTS "paddlenlp-trainer.log", "paddle" },
	{ VARIANTS "perflog-ranks.log", "pytorch" },
	{ VARIANTS "perflog-times.log", "pytorch" },
};

#define HF_STEP(step)                                                          \
	"{'loss': 2.5, 'global_step/max_steps': '" step "/40', "               \
	"'train_runtime': 9.5, 'train_samples_per_second': 4.0, "              \
	"'train_steps_per_second': 0.5}\n"
#define DEEPSPEED_STEP(step)                                                   \
	"steps: " step " loss: 2.5 iter time (s): 0.5 samples/sec: 8.0\n"
#define MEGATRON_STEP                                                          \
	" iteration 5/ 10 | elapsed time per iteration (ms): 10.5 | "          \
	"lm loss: 2.5 |\n"
#define EPOCH_END                                                              \
	"System tokens per second:  4096.5\nTokens/p/s:  512.5\nMFU:  0.25\n"
#define FINISHED                                                               \
	"[PerfLog] {\"event\": \"FINISHED\", \"value\": {\"e2e_time\": "       \
	"9.5}}\n"
#define STEP_END(step)                                                         \
	"[PerfLog] {\"event\": \"STEP_END\", \"value\": {\"step\": " step      \
	", \"loss\": 2.5}}\n"

/* What looks like an end, and what is one. */
static const struct {
	const char *format;
	const char *log;
	bool complete;
} ends[] = {
	{ "hf-trainer", HF_STEP("10") HF_STEP("20"), false },
	{ "hf-trainer", HF_STEP("10") HF_STEP("20") HF_STEP("30"), false },
	{ "hf-trainer", HF_STEP("20") HF_STEP("40"), true },
	{ "deepspeed", DEEPSPEED_STEP("1") EPOCH_END, false },
	{ "deepspeed", DEEPSPEED_STEP("1") EPOCH_END DEEPSPEED_STEP("2"),
	  false },
	{ "megatron", MEGATRON_STEP EPOCH_END, false },
	{ "megatron", MEGATRON_STEP "[after training is done] datetime: now\n",
	  true },
	{ "deepspeed-torch",
	  "{'loss': 2.5, 'global_step/max_steps': '10/40'}\n" EPOCH_END
	  "MMMU : 0.5\n",
	  false },
	{ "pytorch", STEP_END("1") STEP_END("2"), false },
	{ "pytorch", STEP_END("1") STEP_END("2") FINISHED, true },
	{ "pytorch", STEP_END("1") FINISHED STEP_END("2"), false },
	{ "pytorch", STEP_END("1") FINISHED STEP_END("2") FINISHED, false },
	/* The last step of another rank. */
	{ "pytorch", STEP_END("1") STEP_END("2") FINISHED STEP_END("2"), true },
};

static struct catalog *catalog;

/* What a log says. */
struct reading {
	cJSON *view; /* NULL: not asked for */
	cJSON *result;
	bool stepped;
	uint64_t last; /* step */
};

static void reading_clear(struct reading *reading)
{
	cJSON_Delete(reading->view);
	cJSON_Delete(reading->result);
}

static struct reading read_log(struct extract_rules *rules,
			       const struct buffer *log, size_t size)
{
	struct measure_spec measure = { .sequence = 128 };
	struct extract *extract = extract_new(rules, NULL);
	struct result_input input = { .measure = &measure,
				      .inputs.devices = 1,
				      .extract = extract };
	struct reading reading = { 0 };

	extract_feed(extract, log->data, size, NULL);
	extract_finish(extract, NULL);
	input.records = extract_records(extract, &input.record_count);
	input.summary = extract_summary(extract);
	reading.result = result_tree(&input);
	reading.stepped = input.record_count;
	if (reading.stepped)
		reading.last = input.records[input.record_count - 1].step;
	extract_free(extract);
	return reading;
}

static bool complete(const struct reading *reading)
{
	return cJSON_IsTrue(cJSON_GetObjectItem(reading->result, "complete"));
}

/* Cuts. */

static void check_cuts(const char *name, struct extract_rules *rules,
		       const struct buffer *log)
{
	struct reading whole = read_log(rules, log, log->size);
	size_t cuts = 0, wrong = 0;

	for (size_t end = 1; end < log->size; end++) {
		struct reading cut;

		if (log->data[end - 1] != '\n' && log->data[end - 1] != '\r')
			continue;
		cut = read_log(rules, log, end);
		if (whole.stepped && (!cut.stepped || cut.last < whole.last)) {
			cuts++;
			if (complete(&cut))
				printf("# %s: complete at byte %zu\n", name,
				       end);
			wrong += complete(&cut);
		}
		reading_clear(&cut);
	}
	ok(!wrong,
	   "%s: cut at %zu lines before its last step, it is never "
	   "complete",
	   name, cuts);
	reading_clear(&whole);
}

static void check_ended(void)
{
	for (size_t i = 0; i < sizeof(ended) / sizeof(ended[0]); i++) {
		struct extract_rules *rules =
			format_rules(catalog, ended[i].format);
		owned(buffer_clear) struct buffer log = BUFFER_INIT(1 << 20);

		if (ok(rules && file_read(AT_FDCWD, ended[i].log, &log, NULL) ==
					0,
		       "%s by %s", ended[i].log, ended[i].format))
			check_cuts(ended[i].log, rules, &log);
		extract_rules_free(rules);
	}
}

static void check_ends(void)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct extract_rules *rules =
			format_rules(catalog, ends[i].format);
		owned(buffer_clear) struct buffer log = BUFFER_INIT(1 << 20);
		struct reading reading;

		buffer_text(&log, ends[i].log, NULL);
		reading = read_log(rules, &log, log.size);
		ok(reading.stepped && complete(&reading) == ends[i].complete,
		   "%s: end %zu is %s", ends[i].format, i,
		   ends[i].complete ? "one" : "none");
		reading_clear(&reading);
		extract_rules_free(rules);
	}
}

/* Mutations. */

enum mutation { DROPPED, SWAPPED, TENFOLD, THOUSANDTH, MUTATIONS };

static const char *const mutations[] = { "dropped", "its neighbour's",
					 "tenfold", "a thousandth" };

struct mutants {
	const char *name;
	struct extract_rules *rules;
	const struct buffer *log;
	const cJSON *expect;
	struct reading before;
	size_t noticed;
	size_t missed;
};

/* What results are made of: steps, losses, times, rates and memory. */
static bool counts(const struct source *source)
{
	const unsigned figures =
		1u << RECORD_STEP | 1u << RECORD_LOSS |
		1u << RECORD_ITERATION_MS | 1u << RECORD_TOKENS_PER_SECOND |
		1u << RECORD_SAMPLES_PER_SECOND |
		1u << RECORD_TOKENS_PER_DEVICE | 1u << RECORD_MEMORY_MIB;

	for (size_t t = 0; t < source->target_count; t++)
		if (source->targets[t].field < RECORD_FIELDS &&
		    figures >> source->targets[t].field & 1)
			return true;
	return false;
}

static bool mutate(struct rule *rule, size_t s, enum mutation mutation)
{
	struct source *source = &rule->sources[s];
	struct source *next = &rule->sources[(s + 1) % rule->source_count];
	struct source copy = *next;

	if (mutation == SWAPPED) {
		if (next == source)
			return false;
		memcpy(next->targets, source->targets, sizeof(next->targets));
		next->target_count = source->target_count;
		memcpy(source->targets, copy.targets, sizeof(copy.targets));
		source->target_count = copy.target_count;
		return true;
	}
	if (mutation == DROPPED)
		source->target_count = 0;
	for (size_t t = 0; t < source->target_count; t++)
		source->targets[t].factor *= mutation == TENFOLD ? 10 : 1e-3;
	return true;
}

/* The figures of a result; metrics of the rules' own are none. */
static const char *const figures[] = {
	"steps",
	"steps_total",
	"loss",
	"iteration_ms",
	"tokens_per_second",
	"tokens_per_second_per_device",
	"samples_per_second",
	"reported_tokens_per_second",
	"memory_mib",
};

static bool same_figures(const cJSON *a, const cJSON *b)
{
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (!cJSON_Compare(cJSON_GetObjectItem(a, figures[i]),
				   cJSON_GetObjectItem(b, figures[i]), true))
			return false;
	return true;
}

/* What is expected of the result itself: figures that stand in no record. */
static bool result_met(const cJSON *result, const cJSON *expect)
{
	const cJSON *want;

	cJSON_ArrayForEach(want, cJSON_GetObjectItem(expect, "result"))
		if (!cJSON_Compare(cJSON_GetObjectItem(result, want->string),
				   want, true))
			return false;
	return true;
}

static void check_mutant(struct mutants *mutants, const struct rule *rule,
			 const char *key, enum mutation mutation)
{
	struct reading now =
		read_log(mutants->rules, mutants->log, mutants->log->size);

	now.view = log_view(mutants->rules, mutants->log->data,
			    mutants->log->size, mutants->log->size);
	if (!expectation_met(now.view, mutants->expect, false) ||
	    !result_met(now.result, mutants->expect)) {
		mutants->noticed++;
	} else if (!same_figures(mutants->before.result, now.result)) {
		mutants->missed++;
		printf("# %s: rule %td: %s is %s: not noticed\n", mutants->name,
		       rule - mutants->rules->rules, key, mutations[mutation]);
	}
	reading_clear(&now);
}

static void check_rule(struct mutants *mutants, struct rule *rule)
{
	struct source *sources = calloc(SOURCES_MAX, sizeof(*sources));
	size_t size = rule->source_count * sizeof(*sources);

	memcpy(sources, rule->sources, size);
	for (size_t s = 0; s < rule->source_count; s++) {
		if (!counts(&sources[s]))
			continue;
		for (int m = 0; m < MUTATIONS; m++) {
			if (mutate(rule, s, (enum mutation)m))
				check_mutant(mutants, rule,
					     sources[s].key ? sources[s].key
							    : "a group",
					     (enum mutation)m);
			memcpy(rule->sources, sources, size);
		}
	}
	free(sources);
}

static void check_mutants(const char *name, struct extract_rules *rules,
			  const struct buffer *log, const cJSON *expect)
{
	struct mutants mutants = {
		name, rules, log, expect, read_log(rules, log, log->size), 0, 0
	};

	for (size_t i = 0; i < rules->count; i++)
		if (!rules->rules[i].progress && !rules->rules[i].total)
			check_rule(&mutants, &rules->rules[i]);
	ok(result_met(mutants.before.result, expect), "%s: its result", name);
	ok(mutants.noticed && !mutants.missed,
	   "%s: %zu of %zu faults of its rules are noticed", name,
	   mutants.noticed, mutants.noticed + mutants.missed);
	reading_clear(&mutants.before);
}

static void check_format(const char *name)
{
	struct extract_rules *rules = format_rules(catalog, name);
	owned(buffer_clear) struct buffer log = BUFFER_INIT(1 << 20);
	char path[512];
	cJSON *expect;

	snprintf(path, sizeof(path), FORMAT_SAMPLES "%s.expect.json", name);
	expect = expectation_read(path);
	snprintf(path, sizeof(path), FORMAT_SAMPLES "%s.log", name);
	ok(rules && expect && file_read(AT_FDCWD, path, &log, NULL) == 0,
	   "%s is read", name);
	if (rules && expect) {
		check_cuts(name, rules, &log);
		check_mutants(name, rules, &log, expect);
	}
	cJSON_Delete(expect);
	extract_rules_free(rules);
}

static int check_formats(void)
{
	struct dirent **entries = NULL;
	int n = scandir(FORMAT_SAMPLES, &entries, NULL, alphasort), count = 0;

	for (int i = 0; i < n; i++) {
		char *end = strstr(entries[i]->d_name, ".expect.json");

		if (end) {
			*end = 0;
			check_format(entries[i]->d_name);
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

	tap_begin(600);
	catalog = catalog_load("images", &err);
	if (ok(catalog != NULL, "the descriptions are read %s", err.text)) {
		check_ends();
		check_ended();
		is_int(check_formats(), 48, "all fixtures were read");
	}
	catalog_free(catalog);
	return tap_done();
}
