/* render_test.c - values to words and tables for people.
 */
#include "controller/cli/cli.h"
#include "controller/view/render.h"
#include "tests/tap.h"

#include <math.h>

static void test_escape(void)
{
	char to[100], small[6];

	is(escape("plain: 模型 é", to, sizeof(to)), "plain: 模型 é",
	   "text in UTF-8 stays as it is");
	is(escape("a\033[31mb\nc\td\x7f", to, sizeof(to)),
	   "a\\x1b[31mb\\x0ac\\x09d\\x7f", "control characters are shown");
	is(escape("\xc2\x9b"
		  "31m",
		  to, sizeof(to)),
	   "\\xc2\\x9b31m", "C1 controls are shown");
	is(escape("\xe2\x80\xae"
		  "evil",
		  to, sizeof(to)),
	   "\\xe2\\x80\\xaeevil", "what turns the writing around is shown");
	is(escape("\xff\xc0\xaf\xed\xa0\x80\xe4\xb8", to, sizeof(to)),
	   "\\xff\\xc0\\xaf\\xed\\xa0\\x80\\xe4\\xb8",
	   "bytes that are not UTF-8 are shown");
	is(escape("ab\033", small, sizeof(small)), "ab",
	   "an escape is not cut in its middle");
	is(escape("abcdé", small, sizeof(small)), "abcd", "nor is a character");
}

static void test_json_words(void)
{
	owned(cJSON_Delete) cJSON *json = cJSON_Parse(
		"{\"iqr\": 0.89999999999999947, \"list\": [2.5, 17, 1e300],"
		" \"none\": {}, \"null\": null, \"empty\": \"\","
		" \"shm_bytes\": 1536, \"until_ms\": 0, \"up\": true,"
		" \"in\": [{\"name\": \"eth0\"}, \"two words\","
		" \"\\u001b[2J\"]}");
	char to[200], little[12];

	json_words(json, to, sizeof(to));
	is(to,
	   "iqr=0.9 list=(2.5, 17, 1e+300) none=- null=- empty=\"\" "
	   "shm_bytes=1.5 KiB until_ms=- up=true "
	   "in=((name=eth0), \"two words\", \\x1b[2J)",
	   "a value is words for people: rounded, and without braces");
	json_words(cJSON_GetObjectItem(json, "list"), to, sizeof(to));
	is(to, "2.5, 17, 1e+300", "a list alone has no brackets");
	json_words(cJSON_GetObjectItem(json, "none"), to, sizeof(to));
	is(to, "-", "an empty one is a dash");
	json_words(NULL, to, sizeof(to));
	is(to, "", "nothing is nothing");
	json_words(json, little, sizeof(little));
	is(little, "iqr=0.9 lis", "a limit is kept");
}

static void test_numbers(void)
{
	is(human_bytes(0).text, "0 B", "no bytes");
	is(human_bytes(1023).text, "1023 B", "less than a KiB is bytes");
	is(human_bytes(1536).text, "1.5 KiB", "KiB");
	is(human_bytes(1048575).text, "1.0 MiB", "never 1024.0 KiB");
	is(human_bytes(45ULL << 20).text, "45.0 MiB", "MiB");
	is(human_bytes(UINT64_MAX).text, "16.0 EiB", "the largest number");
	is(human_time(1234).text, "1.2s", "seconds with a tenth below ten");
	is(human_time(59999).text, "59s", "then without");
	is(human_time(192000).text, "3m12s", "minutes");
	is(human_time(7500000).text, "2h05m", "hours");
	is(human_time(360000000).text, "4d04h", "days");
	is(human_time(-5).text, "0.0s", "a clock that is behind is no age");
	is(human_number(8300.4).text, "8300", "large numbers have no fraction");
	is(human_number(3.4567).text, "3.457", "small ones have one");
	is(human_number((double)NAN).text, "-", "what is unknown is a dash");
	is(human_clock(0).text, "-", "so is a time that has not come");
	setenv("TZ", "Asia/Shanghai", 1);
	is(human_clock(1764360859000).text, "2025-11-29 04:14:19+0800",
	   "a local time has its zone");
	is(human_utc(1764360859000).text, "2025-11-28 20:14:19Z",
	   "and so has any other");
	unsetenv("TZ");
	is(human_jobs(1).text, "1 job", "one job");
	is(human_jobs(2).text, "2 jobs", "two jobs");
}

/* As a controller describes it; what it does not say is absent. */
static void job_read(const char *json, struct job_info *job)
{
	owned(cJSON_Delete) cJSON *object = cJSON_Parse(json);

	codec_from_other(&job_info_schema, object, job, NULL);
}

static const char *detail_of(const char *json)
{
	static char to[300];
	struct job_info job;

	job_read(json, &job);
	job_detail(&job, to, sizeof(to));
	codec_clear(&job_info_schema, &job);
	return to;
}

static const char *nodes_of(const char *json)
{
	static char to[100];
	struct job_info job;

	job_read(json, &job);
	job_nodes(&job.allocation, to, sizeof(to));
	codec_clear(&job_info_schema, &job);
	return to;
}

static void test_jobs(void)
{
	is(detail_of("{\"state\": \"running\", \"progress\": {\"step\": 12, "
		     "\"steps\": 60, \"loss\": 3.45678}, \"rate\": 8300.5, "
		     "\"rate_unit\": \"sample/p/s\"}"),
	   "8300 sample/p/s, step 12/60, loss 3.457", "a training's progress");
	is(detail_of(
		   "{\"state\": \"running\", \"progress\": {\"step\": 12, "
		   "\"step_age\": 65, \"suspected\": true}, \"rate\": 8300.5, "
		   "\"rate_unit\": \"sample/p/s\"}"),
	   "step 12, 1m05s ago, suspected hang, 8300 sample/p/s",
	   "of one that stands still, first since when");
	is(detail_of("{\"state\": \"running\", \"progress\": {\"step\": 3, "
		     "\"power_w\": 2812.6, \"temp_c\": 61}}"),
	   "step 3, 2813 W, 61 °C", "with power and temperature");
	is(detail_of("{\"state\": \"completed\", \"devices\": 8, \"step\": 60, "
		     "\"loss\": 2.0557, \"rate\": 1037.6, "
		     "\"rate_unit\": \"token/p/s\", \"suspect\": true}"),
	   "1038 token/p/s (!), step 60, loss 2.056",
	   "how far a job came, and that its result is suspect");
	is(detail_of("{\"state\": \"completed\", \"devices\": 8}"), "",
	   "nothing of one that printed no step");
	is(detail_of("{\"state\": \"preparing\", \"progress\": {\"phase\": "
		     "\"pulling\", \"done_bytes\": 1048576, \"total_bytes\": "
		     "4194304}}"),
	   "pulling 25%, 1.0 MiB of 4.0 MiB", "an image's progress");
	is(detail_of("{\"state\": \"preparing\", \"progress\": {\"phase\": "
		     "\"extracting\", \"done_bytes\": 1048576, "
		     "\"total_bytes\": 4194304, \"rate\": 2097152, "
		     "\"eta_seconds\": 65, \"layers\": 1, \"layers_total\": "
		     "3, \"tries\": 2}}"),
	   "extracting 25%, 1m05s left, 1.0 MiB of 4.0 MiB, 2.0 MiB/s, "
	   "layers 1/3, try 2",
	   "how fast, how long, what is left");
	is(detail_of("{\"state\": \"preparing\", \"progress\": {\"phase\": "
		     "\"pulling\", \"done_bytes\": 9, \"total_bytes\": 4}}"),
	   "pulling 100%, 9 B of 4 B", "never more than all of it");
	is(detail_of("{\"state\": \"preparing\", \"progress\": {\"phase\": "
		     "\"pulling\", \"done_bytes\": 1048576, \"total_bytes\": "
		     "4194304, \"silent_seconds\": 12}}"),
	   "pulling 25%, silent for 12s, 1.0 MiB of 4.0 MiB",
	   "and that nothing comes");
	is(detail_of("{\"state\": \"failed\", \"failure\": \"exit\", \"text\": "
		     "\"rank 1\\u001b[2J exited\"}"),
	   "exit: rank 1\\x1b[2J exited", "why it failed, escaped");
	is(detail_of("{\"state\": \"cancelled\", \"failure\": \"cancelled\", "
		     "\"text\": \"cancelled by me\"}"),
	   "cancelled by me", "a cancelled job says so once");
	is(detail_of("{\"state\": \"queued\", \"progress\": null}"), "",
	   "a job that waits has nothing to tell");
	is(detail_of("{\"state\": 7, \"progress\": [], \"text\": {}}"), "",
	   "a description of other types tells nothing");
	is(nodes_of("{\"allocation\": [\"n1\", \"n2\"]}"), "n1,n2",
	   "the nodes of a job");
	is(nodes_of("{\"allocation\": [\"a\",\"b\",\"c\",\"d\"]}"),
	   "a and 3 more", "many nodes are counted");
	is(nodes_of("{}"), "-", "no nodes");
}

static const struct column columns[] = {
	{ "JOB", true },
	{ "CELL", false },
	{ "STATE", false },
	{ NULL, false },
};

static void test_table(void)
{
	owned(table_clear) struct table table = { .columns = columns };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	table_cell(&table, PLAIN, "%d", 7);
	table_cell(&table, PLAIN, "%s", "模=1\n");
	table_cell(&table, GREEN, "%s", "completed");
	table_cell(&table, PLAIN, "%d", 12345);
	table_cell(&table, PLAIN, "%s", "model=nano");
	table_cell(&table, PLAIN, "%s", "");
	is_int((long long)table_rows(&table), 2, "two rows");
	table_print(&table, out, false, NULL);
	fflush(out);
	is(text,
	   "  JOB  CELL        STATE\n"
	   "    7  模=1\\x0a    completed\n"
	   "12345  model=nano\n",
	   "columns stand below each other, numbers to the right");
	rewind(out);
	table_print(&table, out, true, NULL);
	fflush(out);
	ok(strstr(text, "\033[32mcompleted\033[0m\n"), "colours on a terminal");
	fclose(out);
	free(text);
}

int main(void)
{
	tap_begin(20);
	test_escape();
	test_json_words();
	test_numbers();
	test_jobs();
	test_table();
	return tap_done();
}
