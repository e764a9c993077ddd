/* node_streams.c - feeds any bytes to the readers of what nodes send beside
 * logs: samples of devices and hosts, evidence of where ranks stand, and the
 * stacks in a rank's output. The pieces that samples come in must make no
 * difference, and what is told of all must be sound.
 *
 * The first byte of the input says which stream it is, and how long pieces are.
 */
#include "controller/results/usage.h"
#include "controller/stacks/stacks.h"
#include "tests/fuzz/fuzz.h"

static struct usage *read_samples(const char *text, size_t size, size_t piece)
{
	struct usage *usage = usage_new(NULL);

	must(usage != NULL);
	for (size_t at = 0; at < size; at += piece)
		must(usage_feed(usage, text + at,
				piece < size - at ? piece : size - at,
				NULL) == 0);
	return usage;
}

static char *summary(const struct usage *usage)
{
	const struct usage *streams[] = { usage, NULL, usage };
	struct device_metrics latest;
	struct usage_summary all;
	struct result result = { 0 };
	cJSON *curves = usage_curves(streams, 3, NULL);
	cJSON *hosts = usage_host_curves(streams, 3, NULL);
	struct doubles *memories = &result.memory_by_rank_mib;
	struct buffer text;

	buffer_init(&text, 64 << 20);
	must(usage_summarize(streams, 3, NULL, &all, NULL) == 0 &&
	     usage_remarks(&all, &result, NULL) == 0 &&
	     usage_memories(&all, memories, NULL) == 0);
	must(codec_encode(&usage_summary_schema, &all, &text, NULL) == 0);
	must(curves && hosts);
	for (size_t i = 0; usage_latest(usage, i, &latest); i++)
		must(i < 10000);
	codec_clear(&usage_summary_schema, &all);
	codec_clear(&result_schema, &result);
	cJSON_Delete(curves);
	cJSON_Delete(hosts);
	return buffer_take(&text);
}

static void samples(const char *text, size_t size, size_t piece)
{
	struct usage *whole = read_samples(text, size, size + 1);
	struct usage *cut = read_samples(text, size, piece);
	char *one = summary(whole), *two = summary(cut);

	must(!strcmp(one, two));
	free(one);
	free(two);
	usage_free(whole);
	usage_free(cut);
}

/* Half of it is of one node, half of another; all is a rank's output, too. */
static void evidence(const char *text, size_t size, uint64_t round)
{
	struct stacks *stacks = stacks_new(NULL);
	char verdict[STACKS_TEXT_SIZE] = "";
	const char *node = NULL;
	int64_t rank = -1;
	cJSON *json;

	must(stacks &&
	     stacks_take(stacks, "n1", round, text, size / 2, NULL) == 0);
	must(stacks_take(stacks, "n2", 0, text + size / 2, size - size / 2,
			 NULL) == 0);
	stacks_take_output(stacks, "n1", -1, text, size);
	stacks_take_output(stacks, "n2", 3, text, size);
	stacks_ended(text, size, round);
	must(stacks_verdict(stacks, verdict, &node, &rank, NULL) == 0);
	must(strnlen(verdict, sizeof(verdict)) < sizeof(verdict));
	must(!node || verdict[0]);
	for (const char *at = verdict; *at; at++)
		must((unsigned char)*at >= 0x20 && *at != 0x7f);
	json = stacks_json(stacks);
	must(json && stacks_count(stacks) <= size);
	cJSON_Delete(json);
	stacks_free(stacks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size)
		return 0;
	text = fuzz_text(data + 1, size - 1);
	if (data[0] & 1)
		samples(text, size - 1, data[0] / 2 + 1);
	else
		evidence(text, size - 1, data[0] / 2);
	free(text);
	return 0;
}
