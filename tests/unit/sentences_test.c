/* sentences_test.c - what results, anomalies and failures say, in Chinese.
 */
#include "controller/report/advice.h"
#include "controller/report/sentences.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>

#define SOURCE_MAX (1 << 20)
#define DEPTH_MAX 32
#define NAME_MAX_BYTES 64

static void says(const char *sentence, const char *want)
{
	owned(buffer_clear) struct buffer out;

	buffer_init(&out, 1000);
	ok(sentence_put(sentence, LANGUAGE_ZH, &out, NULL) == 0, "%.40s",
	   sentence);
	is(out.data, want, "in Chinese");
	buffer_consume(&out, out.size);
	sentence_put(sentence, LANGUAGE_EN, &out, NULL);
	is(out.data, sentence, "and in English as it is");
}

/* What the sources say. Of these calls every text of two words or more is a
 * sentence that a result or a failure can have, or the end of one.
 */
static const struct {
	const char *path;
	const char *calls; /* by spaces */
} sources[] = {
	{ "controller/results/result.c", "flag snprintf" },
	{ "controller/results/share_steps.c", "return" },
	{ "controller/results/usage_warnings.c", "warn" },
	{ "controller/report/anomalies.c", "add_anomaly" },
	{ "controller/api/cancel.c", "snprintf" },
	{ "controller/images/sweep_image.c", "snprintf" },
	{ "controller/jobs/dependencies.c", "snprintf why" },
	{ "controller/jobs/gang.c", "snprintf" },
	{ "controller/jobs/hang.c", "snprintf" },
	{ "controller/jobs/homogeneity.c", "snprintf" },
	{ "controller/jobs/jobs.c", "snprintf gang_exception" },
	{ "controller/jobs/node_events.c", "define snprintf" },
	{ "controller/jobs/rank_ends.c", "snprintf" },
	{ "controller/nodes/node_devices.c", "text" },
	{ "agent/blobs/fetch.c", "error_set" },
	{ "agent/blobs/workspace_upload.c", "error_set error_errno" },
	{ "agent/devices/device_binding.c", "error_set" },
	{ "agent/docker/http.c", "error_set error_errno" },
	{ "agent/docker/http_driver.c", "error_set error_prefix" },
	{ "agent/images/build.c", "error_set error_prefix" },
	{ "agent/images/id_error.c", "error_set" },
	{ "agent/images/image.c", "error_set error_prefix" },
	{ "agent/images/image_wanted.c", "error_set" },
	{ "agent/images/pull.c", "error_set error_prefix" },
	{ "agent/images/image_usage.c", "error_prefix" },
	{ "agent/images/install.c", "error_set error_prefix" },
	{ "agent/init/main.c", "error_set" },
	{ "agent/init/output_files.c", "snprintf" },
	{ "agent/init/seccomp_filter.c", "error_errno" },
	{ "agent/init/secret_files.c", "error_errno" },
	{ "agent/init/process.c", "text error_set error_errno" },
	{ "agent/policy/node_policy.c", "error_set" },
	{ "agent/spool/exit_check.c", "error_set" },
	{ "agent/task/collect.c", "error_set snprintf" },
	{ "agent/task/command.c", "error_set" },
	{ "agent/task/exit_status.c", "conclude" },
	{ "agent/task/preflight.c", "error_set error_errno" },
	{ "agent/task/secrets.c", "error_set" },
	{ "agent/task/start_error.c", "error_set" },
	{ "agent/task/step_create.c", "error_set" },
	{ "agent/task/step_end.c", "error_set" },
	{ "agent/task/step_image.c", "error_set" },
	{ "agent/task/write_watch.c", "snprintf" },
	{ "agent/task/step_start.c", "error_set" },
	{ "agent/task/task_ending.c", "snprintf" },
	{ "controller/stacks/stacks.c", "snprintf what" },
	{ "agent/policy/policy_image.c", "error_set" },
	{ "agent/devices/device_injection.c",
	  "error_set error_prefix error_errno" },
	{ "protocol/hardware/device_numbers.c", "error_set" },
};

/* Where what ends a job comes from, and which of its sources say nothing of
 * that kind.
 */
static const struct {
	const char *path;
	const char *silent; /* by spaces */
} folders[] = {
	{ "agent/blobs", "tar_filter.c" /* of files that are collected */ },
	{ "agent/devices", "cpu_list.c offered.c" /* settings of an agent */ },
	/* Files that its agent writes, and logs that it does not follow. */
	{ "agent/init", "environment.c follow.c index_writer.c record.c "
			"start.c" },
	/* Answers to requests for images. */
	{ "agent/images",
	  "build_context.c image_inventory.c image_layers.c "
	  "image_names.c image_operation_ensure.c image_operation_load.c "
	  "image_operations.c "
	  "image_prune.c prune_candidates.c insecure_registry.c "
	  "registry_access.c" },
	/* Its refusals are those of policy_image.c; answers to a plan. */
	{ "agent/policy", "rights_check.c policy_check.c policy_answer.c" },
	/* What a controller checks before; a prefix. */
	{ "agent/task", "step_run.c streams.c step_workspace.c" },
	/* What a job waits for, and why it is repeated. */
	{ "controller/jobs",
	  "adaptive_repeats.c expected_time.c job.c job_result.c "
	  "provenance.c unschedulable.c" },
	/* What is checked before a job is accepted; profiles; samples. */
	{ "protocol/hardware",
	  "device.c expression.c profile.c "
	  "sample.c sample_format.c sample_json.c sample_keys.c sample_row.c "
	  "sysroot.c" },
};

/* Of these the table has other forms: what is printed into them is words. */
static const struct {
	const char *format;
	const char *sentences[4];
} worded[] = {
	{ "%s of %.1f %% is impossible",
	  { "an MFU of 120.0 % is impossible",
	    "an MFU by PaLM's formula of 120.0 % is impossible",
	    "an HFU of 120.0 % is impossible" } },
	{ "; missing output of %u task(s) is dropped",
	  { "n1: rank 0 exited with code 3; missing output of 2 task(s) is "
	    "dropped" } },
	{ " after step %0",
	  { "no step, no output and nothing written for 9 s after step 7" } },
	{ "rank %u exited first, with code 0, %0 s earlier",
	  { "n1: rank 0 exited with code 3: E: x; rank 2 exited first, with "
	    "code 0, 5 s earlier" } },
	{ "no step, no output and nothing written for %0 s%s",
	  { "no step, no output and nothing written for 9 s" } },
	{ "the clock is %.1f s %s the controller's; expected at most %.1f s; "
	  "set the clock, or raise --clock-limit",
	  { "the clock is 9.0 s behind the controller's; expected at most 5.0 "
	    "s; set the clock, or raise --clock-limit",
	    "the clock is 9.0 s ahead of the controller's; expected at most "
	    "5.0 s; set the clock, or raise --clock-limit" } },
	{ "its %s is %0 s %s the engine's",
	  { "the exit record is forged or damaged: its begin is 9 s before the "
	    "engine's",
	    "its begin is 9 s after the engine's",
	    "its end is 9 s before the engine's",
	    "its end is 9 s after the engine's" } },
	{ "the file system of a mount does not respond on this node: "
	  "%.100s%s; check its server",
	  { "n1: the file system of a mount does not respond on this node: "
	    "/data; check its server",
	    "n1: the file system of a mount does not respond on this node: "
	    "/data or another one; check its server" } },
	{ "disk full: the pull needs %s%.1f %s and the same again to unpack; "
	  "%.60s had %.1f %s free",
	  { "n1: image a:1: disk full: the pull needs 3.0 GiB and the same "
	    "again to unpack; /var had 1.0 GiB free: no space",
	    "n1: image a:1: disk full: the pull needs more than 3.0 GiB and "
	    "the same again to unpack; /var had 1.0 GiB free: no space" } },
	{ "job %0%s%.160s%s %s%s",
	  { "job 4 (model=a) failed: exit", "job 4 failed: exit",
	    "job 4 (model=a) was cancelled", "job 4 was cancelled" } },
	{ "%s%s%s%.100s (%s)",
	  { "driver differs: 1 (n1); 2 (n2)", "chip differs: A (n1); B (n2)",
	    "driver differs: 1 (n1); 2 (n2); chip differs: A (n1); B (n2)" } },
	{ "%s exited with code %d%s%s%s",
	  { "build of a:1: install.sh exited with code 3; its output: \"x\"",
	    "build of a:1: its container exited with code 3" } },
	/* What a job waits for, mistakes in a profile, warnings. */
	{ "waits for job %0", { NULL } },
	{ " and %zu more", { NULL } },
	{ "%s%s %s", { NULL } },
	{ "needs %u node%s that job %0 ran on", { NULL } },
	{ "%s: %.300s", { NULL } },
	{ "job %0: %s", { NULL } },
	{ " ...", { NULL } },
	{ "no %s", { "device 3: no /sys/class/x" } },
	{ "was ", { NULL } },
	{ "failed: ", { NULL } },
	{ " differs: ", { NULL } },
	{ "its container", { NULL } },
	{ "; its output: \"", { NULL } },
	/* Words that are printed into others, and names of settings. */
	{ "ahead of", { NULL } },
	{ "; ", { NULL } },
	{ ": ", { NULL } },
	{ ", ", { NULL } },
	{ " (", { NULL } },
	{ ", in %.60s", { "2 ranks: halted, in f; 1 rank: sleeping" } },
	{ " at ", { NULL } },
	{ " (root)", { NULL } },
	{ "%s: %s", { NULL } },
	{ "rank %u: %.180s", { "n1: rank 0: /x: no such program" } },
	{ "%.120s: %s", { "/x: no such program" } },
	{ "http: event loop", { NULL } },
	{ "%s%zu rank%s %s",
	  { "no rank differs: 2 ranks: computing; 1 rank: x a.py:3" } },
	{ "%.60s: rank %0 %s",
	  { "n2: rank 2 halted; 1 rank: waiting for a lock (futex)",
	    "n2: rank 2 f a.py:7; 1 rank: waiting for a lock" } },
	{ " (and %zu more)",
	  { "n2: rank 2 sleeping (hr) (and 3 more); 5 ranks: computing" } },
	{ "http: libcurl refuses an option", { NULL } },
	{ "http: %s", { NULL } },
	{ " or another one", { NULL } },
	{ "more than ", { NULL } },
	{ "its framework", { NULL } },
};

static bool is_translated(const char *sentence)
{
	owned(buffer_clear) struct buffer out;

	buffer_init(&out, 4000);
	return sentence_put(sentence, LANGUAGE_ZH, &out, NULL) == 0 &&
	       out.size && strcmp(out.data, sentence) != 0;
}

/* true: it was one of those. */
static bool check_worded(const char *format, char *bad, size_t size)
{
	for (size_t i = 0; i < sizeof(worded) / sizeof(worded[0]); i++) {
		if (strcmp(worded[i].format, format) != 0)
			continue;
		for (size_t k = 0; k < 4 && worded[i].sentences[k]; k++)
			if (!is_translated(worded[i].sentences[k]))
				snprintf(bad, size, "%s",
					 worded[i].sentences[k]);
		return true;
	}
	return false;
}

/* The format with something in place of its conversions. */
static void fill(const char *format, char *text, size_t size)
{
	size_t used = 0;

	while (*format && used + 16 < size) {
		if (*format != '%') {
			text[used++] = *format++;
			continue;
		}
		format += 1 + strspn(format + 1, "0123456789.*-+lzu");
		if (format[-1] == '%' && *format == '%')
			text[used++] = '%';
		else
			used += (size_t)snprintf(text + used, size - used, "%s",
						 *format == 's'   ? "alpha"
						 : *format == 'f' ? "1.5"
								  : "7");
		/* "%u" and "%0" of a macro end in what was skipped. */
		if (*format && strchr("sdfgci%x", *format))
			format++;
	}
	text[used] = 0;
}

/* Behind a prefix is another sentence. */
static size_t check_text(const char *format, bool prefix, char *bad,
			 size_t size)
{
	char text[600];

	if (!strchr(format, ' ') || check_worded(format, bad, size))
		return strchr(format, ' ') != NULL;
	fill(format, text, sizeof(text));
	if (prefix)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 ": No such file or directory");
	if (!is_translated(text))
		snprintf(bad, size, "%s", text);
	return 1;
}

/* The texts of a source, in the calls that they stand in. */
struct reader {
	const char *at, *calls;
	char word[NAME_MAX_BYTES], last[NAME_MAX_BYTES];
	char within[DEPTH_MAX][NAME_MAX_BYTES];
	size_t depth;
	char text[1000];
	size_t size, sentences;
	char bad[600];
};

static bool is_listed(const struct reader *reader)
{
	const char *name = reader->depth ? reader->within[reader->depth - 1]
					 : reader->last;
	size_t length = strlen(name);

	for (const char *at = reader->calls; length && *at;
	     at += strspn(at, " ")) {
		size_t size = strcspn(at, " ");

		if (size == length && !memcmp(at, name, length))
			return true;
		at += size;
	}
	return false;
}

static bool is_prefix(const struct reader *reader)
{
	const char *name =
		reader->depth ? reader->within[reader->depth - 1] : "";

	return strstr(name, "_prefix") || strstr(name, "_errno");
}

static void end_text(struct reader *reader)
{
	reader->text[reader->size] = 0;
	if (reader->size && is_listed(reader))
		reader->sentences +=
			check_text(reader->text, is_prefix(reader), reader->bad,
				   sizeof(reader->bad));
	reader->size = 0;
}

static void add(struct reader *reader, char c)
{
	if (reader->size + 1 < sizeof(reader->text))
		reader->text[reader->size++] = c;
}

static void read_string(struct reader *reader)
{
	for (reader->at++; *reader->at && *reader->at != '"'; reader->at++) {
		if (*reader->at == '\\')
			reader->at++;
		add(reader, *reader->at);
	}
	reader->at++;
}

/* A name: PRIu64 is of the text, what stands outside of calls is assigned to,
 * defined or returned.
 */
static void read_word(struct reader *reader)
{
	size_t size = 0;

	while (isalnum((unsigned char)*reader->at) || *reader->at == '_') {
		if (size + 1 < NAME_MAX_BYTES)
			reader->word[size++] = *reader->at;
		reader->at++;
	}
	reader->word[size] = 0;
	if (!strncmp(reader->word, "PRI", 3) && reader->size) {
		add(reader, '0');
		return;
	}
	end_text(reader);
	if (!reader->depth &&
	    (!strcmp(reader->word, "text") || !strcmp(reader->word, "why") ||
	     !strcmp(reader->word, "what") || !strcmp(reader->word, "define") ||
	     !strcmp(reader->word, "return")))
		snprintf(reader->last, sizeof(reader->last), "%s",
			 reader->word);
}

static void read_mark(struct reader *reader)
{
	end_text(reader);
	if (*reader->at == '(' && reader->depth < DEPTH_MAX)
		memcpy(reader->within[reader->depth++], reader->word,
		       NAME_MAX_BYTES);
	else if (*reader->at == ')' && reader->depth)
		reader->depth--;
	else if (*reader->at == ';' || *reader->at == '}')
		*reader->last = 0;
	*reader->word = 0;
	reader->at++;
}

static void skip_to(struct reader *reader, const char *end)
{
	const char *at = strstr(reader->at, end);

	reader->at = at ? at + strlen(end) : reader->at + strlen(reader->at);
}

static void read_source(const char *path, const char *calls)
{
	owned(buffer_clear) struct buffer source;
	struct reader reader = { .calls = calls };
	struct error err = { 0 };

	buffer_init(&source, SOURCE_MAX);
	if (file_read(AT_FDCWD, path, &source, &err) < 0) {
		ok(false, "%s: %s", path, err.text);
		return;
	}
	for (reader.at = source.data; *reader.at;) {
		if (!strncmp(reader.at, "/*", 2))
			skip_to(&reader, "*/");
		else if (*reader.at == '\'')
			reader.at += reader.at[1] == '\\' ? 4 : 3;
		else if (*reader.at == '"')
			read_string(&reader);
		else if (isalnum((unsigned char)*reader.at) ||
			 *reader.at == '_')
			read_word(&reader);
		else if (isspace((unsigned char)*reader.at))
			reader.at++;
		else
			read_mark(&reader);
	}
	is(reader.bad, "", "%s: each sentence has a translation", path);
	ok(reader.sentences > 0, "and %zu were read", reader.sentences);
}

/* The marks of a line, "*#@", in their order. */
static void marks_of(const char *line, char marks[NAME_MAX_BYTES])
{
	size_t used = 0;

	for (; *line && *line != '\n'; line++)
		if (strchr("*#@", *line) && used + 1 < NAME_MAX_BYTES)
			marks[used++] = *line;
	marks[used] = 0;
}

/* English lines stand before their translation, which has a tab in front. */
static void check_marks(const char *path)
{
	owned(buffer_clear) struct buffer text;
	char marks[NAME_MAX_BYTES], last[NAME_MAX_BYTES], bad[200] = "";
	bool translated = true;

	buffer_init(&text, SOURCE_MAX);
	ok(file_read(AT_FDCWD, path, &text, NULL) == 0, "%s is read", path);
	for (const char *line = text.data; *line;) {
		size_t size = strcspn(line, "\n");

		if (strncmp(line, "//", 2) != 0) {
			marks_of(line, marks);
			if (!translated && strcmp(marks, last) != 0)
				snprintf(bad, sizeof(bad), "%.*s", (int)size,
					 line);
			memcpy(last, marks, sizeof(last));
			translated = *line == '\t';
		}
		line += size + (line[size] == '\n');
	}
	is(bad, "", "each translation has the marks of its sentence");
	ok(translated, "and the last line is one");
}

/* Is the word one of those, which have spaces between them? */
static bool has_word(const char *words, const char *word)
{
	size_t size = strlen(word);
	const char *at = words;

	while ((at = strstr(at, word)) &&
	       ((at > words && at[-1] != ' ') || (at[size] && at[size] != ' ')))
		at++;
	return at;
}

static bool is_read(const char *path)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (!strcmp(sources[i].path, path))
			return true;
	return false;
}

static bool says_something(const char *path)
{
	static const char *const calls[] = { "error_set(", "error_prefix(",
					     "error_errno(",
					     "\tsnprintf(text" };
	owned(buffer_clear) struct buffer source;

	buffer_init(&source, SOURCE_MAX);
	if (file_read(AT_FDCWD, path, &source, NULL) < 0)
		return true;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strstr(source.data, calls[i]))
			return true;
	return false;
}

/* A source that is new is read above, or is known to say nothing. */
static void check_folder(const char *folder, const char *silent)
{
	DIR *dir = opendir(folder);
	char path[400], bad[400] = "";
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *dot = strrchr(entry->d_name, '.');

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (dot && !strcmp(dot, ".c") &&
		    !has_word(silent, entry->d_name) && !is_read(path) &&
		    says_something(path))
			memcpy(bad, path, sizeof(path));
	}
	ok(dir, "%s", folder);
	is(bad, "", "%s: each source is read", folder);
	if (dir)
		closedir(dir);
}

static void whole_sentences(void)
{
	says("the 3 repeats differ by 8.4 % (coefficient of variation), more "
	     "than 5 %",
	     "3 次重复的变异系数为 8.4 %，超过 5 %");
	says("only one step: the values include its warm-up",
	     "只有一步：数值包含预热");
	says("the rate of model=a n=2 is 3.1 times as high",
	     "model=a n=2 的速率是它的 3.1 倍");
	says("the rate jumps: that of model=a n=2 is 3.1 times as much",
	     "model=a n=2 的速率是它的 3.1 倍");
	says("n1: rank 0 exited with code 3", "n1：rank 0 的退出码为 3");
	says("n1: rank 0 exited with code 3: Error: no: * file",
	     "n1：rank 0 的退出码为 3：Error: no: * file");
	says("the program reports an MFU of 51.0 %, its token rate and our "
	     "formulas give 40.1 to 40.9",
	     "程序报告 MFU 为 51.0 %，由 token 速率和公式得出 40.1 到 40.9");
	says("steps 21 to 40 at 1.0 ms, 0.1 s in all, take longer than the "
	     "whole job, 0.0 s",
	     "第 21 到 40 步每步 1.0 ms，共 0.1 s，长于整个作业的 0.0 s");
	says("n2: rank 3 was ended by signal 11 (Segmentation fault): rank 7: "
	     "Fatal: x",
	     "n2：rank 3 被信号 11（Segmentation fault）结束：rank 7: Fatal: "
	     "x");
	says("n2: rank 3 was ended by signal 9 (Killed) that Regatta did not "
	     "send; the engine or the host may have stopped",
	     "n2：rank 3 被信号 9（Killed）结束，该信号并非由 Regatta "
	     "发出：引擎或主机停了？");
	says("no step, no output and nothing written for 900 s after step 12",
	     "900 s 内没有新的步、输出或写入，停在第 12 步之后");
	says("no step, no output and nothing written for 900 s: n2: rank 2 "
	     "sleeping (hrtimer_nanosleep), in f; 2 ranks: waiting for the "
	     "network (poll); 3 ranks: step train.py:7",
	     "900 s 内没有步、输出或写入：n2：rank 2 "
	     "休眠（hrtimer_nanosleep），位于 f；2 个 "
	     "rank：等待网络（poll）；3 个 rank：step train.py:7");
	says("n1: mounts[0]: /data on this node: No such file or directory",
	     "n1：mounts[0]：本节点上的 /data：没有这个文件或目录");
	says("n1: rank 0 exited with code 1: E: x; y; rank 2 exited first, "
	     "with code 0, 5 s earlier",
	     "n1：rank 0 的退出码为 1：E: x; y；rank 2 最先退出（退出码 "
	     "0），早 5 s");
	says("driver differs: 1.0 (n0); 2.0 (n1)",
	     "驱动不同：1.0 (n0); 2.0 (n1)");
	says("n1: the container vanished without an exit record: rank 0: E: "
	     "Permission denied",
	     "n1：容器消失，没有退出记录：rank 0: E: Permission denied");
	says("no step, no output and nothing written for 900 s",
	     "900 s 内没有步、输出或写入");
	says("job 4 (model=a n=2) failed: exit",
	     "作业 4（model=a n=2）失败：exit");
	says("one step only", "one step only");
	says("one step only: its warm-up is in the figures",
	     "只有一步：数值包含预热");
	says("only one step: the values include its warm-up!",
	     "only one step: the values include its warm-up!");
	says("", "");
}

int main(void)
{
	const size_t files = sizeof(sources) / sizeof(sources[0]);
	const size_t count = sizeof(folders) / sizeof(folders[0]);

	tap_begin(60);
	for (size_t i = 0; i < count; i++)
		check_folder(folders[i].path, folders[i].silent);
	for (size_t i = 0; i < files; i++)
		read_source(sources[i].path, sources[i].calls);
	check_marks("controller/report/sentences.zh");
	for (enum failure failure = FAILURE_NONE; failure < FAILURES; failure++)
		if (failure_advice(failure))
			ok(is_translated(failure_advice(failure)),
			   "the advice for %s has a translation",
			   failure_name(failure));
	whole_sentences();
	return tap_done();
}
