/* arrival_test.c - step times from when lines came, where a log prints none and
 * beside those that it prints.
 */
#include "controller/results/arrival.h"
#include "protocol/yaml/document.h"
#include "tests/tap.h"
#include "tests/unit/result_tree.h"

#include <math.h>

#define STEPS 200

static struct record records[STEPS];

/* Steps that take `ms`, whose lines come every `burst` ms. */
static void make_records(double ms, int64_t burst)
{
	for (unsigned i = 0; i < STEPS; i++) {
		int64_t at = 1000000 + (int64_t)(ms * i);

		records[i] = (struct record){
			.step = i + 1,
			.came_ms = burst ? at + burst - at % burst : at,
		};
	}
}

static void test_blocks(void)
{
	struct arrival arrival;

	make_records(70, 100);
	arrival = arrival_of(records, STEPS);
	ok(fabs(arrival.arrival_ms - 70) < 3,
	   "70 ms, of lines 100 ms apart: %g", arrival.arrival_ms);
	ok(arrival.arrival_error_ms > 3 && arrival.arrival_error_ms < 15,
	   "and how exact that is: %g", arrival.arrival_error_ms);
	ok(arrival.arrival_blocks >= 10, "over %llu blocks",
	   (unsigned long long)arrival.arrival_blocks);
	make_records(500, 7000);
	ok(fabs(arrival_of(records, STEPS).arrival_ms - 500) < 5,
	   "500 ms, of lines that come in bursts of 7 s");
	for (unsigned i = 0; i < STEPS; i++)
		records[i].step *= 10;
	ok(fabs(arrival_of(records, STEPS).arrival_ms - 50) < 1,
	   "a line for ten steps");
	make_records(500, 0);
	for (unsigned i = 100; i < STEPS; i++)
		records[i].came_ms += 60000;
	ok(fabs(arrival_of(records, STEPS).arrival_ms - 500) < 5,
	   "one pause is none of it");
	make_records(4, 0);
	ok(arrival_of(records, STEPS).arrival_blocks == 0,
	   "what came within a second has no time");
	for (unsigned i = 0; i < STEPS; i++)
		records[i].came_ms = i ? 0 : 5;
	ok(arrival_of(records, STEPS).arrival_blocks == 0 &&
		   arrival_of(records, 0).arrival_blocks == 0,
	   "nor has what has no times, or one");
	make_records(500, 0);
	records[STEPS - 1].came_ms = 1;
	ok(arrival_of(records, STEPS).arrival_blocks == 0,
	   "a clock that was set back is believed in nothing");
}

/* Reading. */

static int64_t clock_of(void *arg, uint64_t offset)
{
	return 1000000 + (int64_t)offset * 10;
}

static struct extract_rules *rules_of(const char *text)
{
	struct document *document =
		document_parse(text, strlen(text), "rules", NULL, NULL);
	const struct value *root = document_root(document);
	struct extract_rules *rules = extract_rules_new(&root, 1, NULL);

	document_free(document);
	return rules;
}

/* The result of 60 lines of 100 bytes, 1 s each, and its flags. */
static cJSON *result_of(const char *format, size_t piece)
{
	struct extract_rules *rules = rules_of(
		"rules:\n- match: 'step (?<step>\\d+) loss (?<loss>\\S+)"
		"( ms (?<iteration_ms>\\S+))? *$'\n");
	struct extract *extract = extract_new(rules, NULL);
	struct measure_spec measure = { .global_batch = 4, .sequence = 10 };
	struct result_input input = { .measure = &measure,
				      .inputs.devices = 1 };
	char text[60 * 100 + 1];
	cJSON *result;

	for (int i = 0; i < 60; i++) {
		char line[100];

		snprintf(line, sizeof(line), format, i + 1);
		snprintf(text + (size_t)i * 100, 101, "%-99s\n", line);
	}
	extract_clock(extract, clock_of, NULL);
	for (size_t at = 0; at < 6000; at += piece)
		extract_feed(extract, text + at,
			     6000 - at < piece ? 6000 - at : piece, NULL);
	input.extract = extract;
	input.records = extract_records(extract, &input.record_count);
	is_int(extract_latest(extract)->came_ms,
	       input.records[input.record_count - 1].came_ms,
	       "the latest record came with the last step");
	is_int(input.records[1].came_ms, clock_of(NULL, 199),
	       "a step came when its line was whole");
	input.inputs.arrival = arrival_of(input.records, input.record_count);
	result = result_tree(&input);
	extract_free(extract);
	extract_rules_free(rules);
	return result;
}

static bool has_flag(const cJSON *result, const char *text)
{
	const cJSON *flag;

	cJSON_ArrayForEach(flag, cJSON_GetObjectItem(result, "flags"))
		if (strstr(flag->valuestring, text))
			return true;
	return false;
}

static void test_without_times(size_t piece)
{
	cJSON *result = result_of("step %d loss 2.5", piece);
	const cJSON *step = cJSON_GetObjectItem(result, "iteration_ms");

	ok(cJSON_IsTrue(cJSON_GetObjectItem(result, "measured")) &&
		   fabs(cJSON_GetNumberValue(
				cJSON_GetObjectItem(step, "median")) -
			1000) < 1,
	   "a log without times has those of its lines");
	is(cJSON_GetStringValue(cJSON_GetObjectItem(result, "source")),
	   "arrival", "which is its source");
	ok(fabs(cJSON_GetNumberValue(
			cJSON_GetObjectItem(result, "tokens_per_second")) -
		40) < 0.1,
	   "of the rate too");
	ok(has_flag(result, "the log contains no step time: 1000.0 ms (+-"),
	   "and a flag says so, with the precision");
	step = cJSON_GetObjectItem(result, "inputs");
	ok(fabs(cJSON_GetNumberValue(cJSON_GetObjectItem(step, "arrival_ms")) -
		1000) < 1 &&
		   cJSON_GetNumberValue(
			   cJSON_GetObjectItem(step, "arrival_blocks")) > 5,
	   "they are kept, to compute the result again");
	cJSON_Delete(result);
}

static void test_with_times(void)
{
	cJSON *result = result_of("step %d loss 2.5 ms 1010", 6000);

	ok(!has_flag(result, "lines came"), "a time that agrees has no flag");
	is(cJSON_GetStringValue(cJSON_GetObjectItem(result, "source")),
	   "iteration", "and is the one that counts");
	cJSON_Delete(result);
	result = result_of("step %d loss 2.5 ms 700", 6000);
	ok(has_flag(result, "the log reports a step time of 700.0 ms, the "
			    "times of arrival of its lines give "),
	   "one that does not has one");
	cJSON_Delete(result);
	result = result_of("step %d loss 2.5 ms 5000", 6000);
	ok(!has_flag(result, "lines came"),
	   "lines that came much faster were late");
	cJSON_Delete(result);
}

int main(void)
{
	tap_begin(60);
	test_blocks();
	test_without_times(6000);
	test_without_times(7);
	test_with_times();
	return tap_done();
}
