/* results_table_test.c - results at a terminal: short names, no line too long.
 */
#include "controller/cli/commands/results.h"
#include "tests/tap.h"
#include "tests/unit/report_rows.h"

#include <string.h>

#define ROW(job, cell, more)                                                   \
	"{\"job\":" job ",\"cell\":\"" cell "\",\"state\":\"completed\","      \
	"\"nodes\":1,\"devices\":8,\"repeat\":0,"                              \
	"\"setup\":{\"model\":\"gpt-nano\",\"vendor\":\"acme\","               \
	"\"chip\":\"A1\",\"framework\":\"torch\"},"                            \
	"\"result\":{\"tokens_per_second_per_device\":4150.25,"                \
	"\"loss\":{\"last\":2.12345},\"memory_mib\":120.04,"                   \
	"\"iteration_ms\":{\"median\":123.44},\"wall_s\":12.34," more "}}"

static char *shown;

static void show(const char *json)
{
	static struct environment environment = { 0 };
	struct cli cli = { .environment = &environment };
	owned(report_rows_clear) struct report_rows rows = rows_of_text(json);
	size_t size;

	free(shown);
	shown = NULL;
	cli.out = open_memstream(&shown, &size);
	cli.err = cli.out;
	ok(results_table(&cli, &(struct report_about){ 0 }, &rows, NULL) == 0,
	   "a table is printed");
	fclose(cli.out);
}

static size_t longest(void)
{
	size_t most = 0;

	for (const char *at = shown; *at; at += *at == '\n') {
		size_t length = strcspn(at, "\n");

		if (length > most && strncmp(at, "(a wider", 8) != 0)
			most = length;
		at += length;
	}
	return most;
}

static bool says(const char *text)
{
	bool found = strstr(shown, text);

	if (!found)
		printf("# not shown: %s\n# but: %s\n", text, shown);
	return found;
}

static void test_names(void)
{
	show("[" ROW("1", "model=gpt-nano batch.micro=4 command=a b layout=x",
		     "\"flags\":[\"impossible\"]") "," ROW("2",
							   "model=gpt-nano "
							   "batch.micro=8 "
							   "command=a b "
							   "layout=x",
							   "\"flags\":[]") "]");
	ok(says("model gpt-nano, vendor acme, chip A1, framework torch\n"),
	   "model, vendor, chip and framework stand above the table");
	ok(says("all: model=gpt-nano command=a b layout=x\n"),
	   "so do the keys that all rows share, values with blanks, too");
	ok(says("\nbatch.micro  ") && says("\n4   ") && says("\n8   "),
	   "a key that differs is a column");
	ok(longest() <= 80, "no line is longer than the terminal: %zu",
	   longest());
	ok(says("4150.2 (!)") && says("suspect results (!):\n"
				      "  job 1, batch.micro=4: impossible\n"),
	   "suspect results are marked and explained");
	ok(says("(a wider terminal shows ") && says("wall time (s)"),
	   "what does not fit is named");
}

#define LAID_OUT(job, model, tp, batch)                                        \
	ROW(job,                                                               \
	    "model=" model " layout=TP" tp "DP8_of_one_node parallel.tp=" tp   \
	    " batch.micro=" batch,                                             \
	    "\"flags\":[]")

/* The layout says tp once more, and the batch follows from the model. */
static void test_brief(void)
{
	show("[" LAID_OUT("1", "gpt-nano", "1",
			  "4") "," LAID_OUT("2", "gpt-nano", "2",
					    "4") "," LAID_OUT("3", "gpt-micro",
							      "1", "8") "]");
	ok(says("\nmodel=gpt-nano tp=1 ") && says("\nmodel=gpt-nano tp=2 ") &&
		   says("\nmodel=gpt-micro tp=1 "),
	   "words that follow from others are left out of long names");
	ok(!strstr(shown, "layout=") && !strstr(shown, "micro=8"),
	   "and only those");
	ok(longest() <= 80, "so that names are whole: %zu", longest());
	ok(says("memory (MiB)"), "and columns that have room are shown");
}

#define ON_NODES(job, batch, nodes)                                            \
	"{\"job\":" job ",\"cell\":\"batch.micro=" batch " nodes=" nodes       \
	"\",\"state\":\"completed\",\"nodes\":" nodes ",\"devices\":" nodes    \
	",\"repeat\":0,\"setup\":{\"model\":\"gpt-nano\"},"                    \
	"\"repeats\":{\"n\":2,\"runs\":2,\"mean\":5720800.5,"                  \
	"\"relation\":\"same\",\"relative\":1.5,\"relative_margin\":93.4},"    \
	"\"result\":{\"tokens_per_second_per_device\":5720800.25,"             \
	"\"loss\":{\"last\":2.12345},\"memory_mib\":120.04,"                   \
	"\"iteration_ms\":{\"median\":123456.4},\"wall_s\":12345.34}}"

/* Two rows with the same batch differ in their nodes only. */
static void test_nodes(void)
{
	show("[" ON_NODES("1", "2", "1") "," ON_NODES(
		"2", "2", "2") "," ON_NODES("3", "4",
					    "1") "," ON_NODES("4", "4",
							      "2") "]");
	ok(says("\nbatch.micro  nodes  "),
	   "nodes that tell rows apart are a column that stays");
	ok(longest() <= 80, "and no line is too long: %zu", longest());
}

static void test_long(void)
{
	show("[" ROW("1",
		     "a=1111111111111111111111111111111111111111111111111111111"
		     "1111111111111111111",
		     "\"flags\":[]") ",{\"job\":2,\"cell\":\"a=2\\u001b[2J\","
				     "\"state\":\"failed\",\"failure\":\"oom\","
				     "\"text\":\"rank 1 \\u001b[31m\"}]");
	ok(longest() <= 80, "a long name is cut: %zu", longest());
	ok(!strchr(shown, '\033'), "nothing in a row reaches the terminal raw");
	ok(says("without a result:\n  job 2, a=2\\x1b[2J: oom: rank 1"),
	   "a failure is told with its reason");
}

int main(void)
{
	tap_begin(60);
	test_names();
	test_brief();
	test_nodes();
	test_long();
	free(shown);
	return tap_done();
}
