/* prefixes_test.c - a log means the same whoever collected it.
 *
 * Texts under each prefix are the texts without it. Failures and logs of others
 * (recordings.h) are diagnosed and read the same under each prefix.
 */
#include "controller/prefixes/prefixes.h"

#include "controller/catalog/catalog.h"
#include "controller/causes/causes.h"
#include "controller/results/format_choice.h"
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"
#include "tests/unit/recordings.h"

#include <dirent.h>
#include <errno.h>

#define TEXT_MAX ((size_t)16 << 20)

/* What stands before line n of a log; %d is n. */
/* clang-format off */
static const struct {
	const char *name;
	const char *before[3]; /* of lines n % 3 */
	bool ranks; /* it names one */
} prefixes[] = {
	{ "docker logs -t", { "2026-01-02T03:04:05.123456789Z " }, false },
	{ "podman logs -t", { "2026-01-02T03:04:05+08:00 " }, false },
	{ "a file of CRI", { "2026-01-02T03:04:05.123456789+08:00 stderr F ",
	  "2026-01-02T03:04:05.123456789+08:00 stdout F " }, false },
	{ "names of replicas", { "[master-0] ", "[worker-0] ", "[worker-11] " },
	  false },
	{ "kubectl --prefix", { "[pod/fjord-0/train] ", "[pod/fjord-1/train] " },
	  false },
	{ "kubectl --prefix --timestamps",
	  { "[pod/fjord-0/train] 2026-01-02T03:04:05.123456Z " }, false },
	{ "compose", { "trainer-1  | " }, false },
	{ "compose with two services", { "trainer-1  | ", "cache-1    | " },
	  false },
	{ "compose in colour", { "\033[36mtrainer-1  | \033[0m" }, false },
	{ "stern", { "fjord-0 train " }, false },
	{ "stern, two pods", { "fjord-0 train ", "fjord-1 train " }, false },
	{ "journald", { "Jan 02 03:04:05 gx17 python3[811]: " }, false },
	{ "journald, ISO", { "2026-01-02T03:04:05+0800 gx17 train[8]: " },
	  false },
	{ "syslog", { "<13>Jan  2 03:04:05 gx17 fjord: " }, false },
	{ "syslog of 2009", { "<13>1 2026-01-02T03:04:05.1Z gx17 fjord 8 - - " },
	  false },
	{ "a date in brackets", { "[2026-01-02 03:04:05] " }, false },
	{ "a date with milliseconds", { "[2026-01-02 03:04:05,678] " }, false },
	{ "a date", { "2026-01-02 03:04:05 " }, false },
	{ "ts", { "Jan 02 03:04:05 " }, false },
	{ "dmesg -T", { "[Fri Jan  2 03:04:05 2026] " }, false },
	{ "ray", { "(TaskRunner pid=20713, ip=10.0.0.5) " }, false },
	{ "ray in colour", { "\033[36m(Row pid=7)\033[0m " }, false },
	{ "ray, two actors", { "(Row pid=7) ", "(Row pid=8) " }, false },
	{ "SkyPilot", { "(worker1, rank=1, pid=7, ip=10.0.0.5) " }, false },
	{ "pdsh", { "gx17: " }, false },
	{ "pdsh of two hosts", { "gx17: ", "gx18: " }, false },
	{ "srun --label", { "3: " }, true },
	{ "srun --label, wide", { " 11: " }, true },
	{ "mpirun --tag-output", { "[1,2]<stderr>:" }, true },
	{ "mpirun --timestamp-output",
	  { "Fri Jan  2 03:04:05 2026[1,2]<stdout>:" }, true },
	{ "horovodrun", { "[2]<stderr>:" }, true },
	{ "mpirun -l", { "[2] " }, true },
	{ "torchrun --tee", { "[default0]:" }, false },
	{ "PyTorch", { "[rank4]: " }, true },
	{ "grep -n", { "%d:" }, false },
	{ "grep -n of files", { "train.log:%d:" }, false },
	{ "grep -C", { "train.log-%d-" }, false },
	{ "a notebook", { "704.7s\t%d\t" }, false },
	{ "a report's blanks", { "    " }, false },
	{ "a report's tab", { "\t" }, false },
	{ "a quoted mail", { "> " }, false },
	{ "a date behind a pod",
	  { "[pod/fjord-0/train] 2026-01-02 03:04:05 " }, false },
	{ "a container behind a host",
	  { "gx17: 2026-01-02T03:04:05.123456789Z " }, false },
	{ "a rank behind a service", { "trainer-1  | [rank3]: " }, true },
};
/* clang-format on */
#define PREFIXES (sizeof(prefixes) / sizeof(prefixes[0]))

static void put_before(struct buffer *to, size_t prefix, int number)
{
	const char *form = prefixes[prefix].before[(number - 1) % 3];
	const char *mark;

	if (!form)
		form = prefixes[prefix].before[0];
	if (!form)
		return;
	mark = strstr(form, "%d");
	if (mark)
		buffer_printf(to, NULL, "%.*s%d%s", (int)(mark - form), form,
			      number, mark + 2);
	else
		buffer_text(to, form, NULL);
}

/* Write the text with a prefix before each of its lines. */
static void put_prefixed(struct buffer *to, size_t prefix, const char *text,
			 size_t size)
{
	const char *end = text + size;

	for (int number = 1; text < end; number++) {
		const char *lf = memchr(text, '\n', (size_t)(end - text));
		const char *stop = lf ? lf + 1 : end;

		put_before(to, prefix, number);
		buffer_append(to, text, (size_t)(stop - text), NULL);
		text = stop;
	}
}

/* As a file of Docker. */
static void put_docker(struct buffer *to, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *lf = memchr(text, '\n', (size_t)(end - text));
		const char *stop = lf ? lf + 1 : end;

		buffer_text(to, "{\"log\":\"", NULL);
		for (; text < stop; text++)
			if (*text == '"' || *text == '\\')
				buffer_printf(to, NULL, "\\%c", *text);
			else if ((unsigned char)*text < ' ')
				buffer_printf(to, NULL, "\\u%04x",
					      (unsigned)*text);
			else
				buffer_append(to, text, 1, NULL);
		buffer_text(to,
			    "\",\"stream\":\"stderr\",\"time\":"
			    "\"2026-01-02T03:04:05.123456789Z\"}\n",
			    NULL);
	}
}

struct seen {
	struct buffer text;
	uint64_t offset, line;
	struct line_origin origin;
	char host[32];
};

/* prefix_fn: keep the text, and what the first line tells. */
static int see(const struct prefix_run *run, void *arg)
{
	struct seen *seen = arg;

	if (!seen->text.size) {
		seen->offset = run->offset;
		seen->origin = run->origin;
		snprintf(seen->host, sizeof(seen->host), "%.*s",
			 (int)run->origin.host_size,
			 run->origin.host ? run->origin.host : "");
	}
	seen->line = run->line;
	return buffer_append(&seen->text, run->text, run->size, NULL);
}

static void see_text(struct seen *seen, const char *text, size_t size,
		     size_t piece)
{
	struct prefixes *reader = prefixes_new(see, seen, NULL);

	*seen = (struct seen){ 0 };
	buffer_init(&seen->text, TEXT_MAX);
	for (size_t at = 0; at < size; at += piece)
		prefixes_feed(reader, text + at,
			      size - at < piece ? size - at : piece);
	prefixes_finish(reader);
	prefixes_free(reader);
}

static const char traceback[] =
	"starting\n"
	"\n"
	"Traceback (most recent call last):\n"
	"  File \"/w/fjord.py\", line 40, in <module>\n"
	"    save(state)\n"
	"OSError: [Errno 28] No space left on device\n"
	"10%|#   | 1/10\r20%|##  | 2/10\r30%|### | 3/10\n"
	"bye";

static void check_forms(void)
{
	static const size_t pieces[] = { 1, 7, 1000 };
	owned(buffer_clear) struct buffer docker = { .limit = TEXT_MAX };
	struct seen seen;

	for (size_t p = 0; p < PREFIXES; p++) {
		owned(buffer_clear) struct buffer text = { .limit = TEXT_MAX };
		bool same = true;

		put_prefixed(&text, p, traceback, sizeof(traceback) - 1);
		for (size_t i = 0; i < 3; i++) {
			see_text(&seen, text.data, text.size, pieces[i]);
			same &= !strcmp(seen.text.data, traceback);
			if (strcmp(seen.text.data, traceback) != 0 && i == 2)
				printf("# got: %s\n", seen.text.data);
			buffer_clear(&seen.text);
		}
		ok(same, "%s is removed from each line", prefixes[p].name);
	}
	put_docker(&docker, traceback, sizeof(traceback) - 1);
	see_text(&seen, docker.data, docker.size, 13);
	is(seen.text.data, traceback, "a file of Docker is read");
	buffer_clear(&seen.text);
}

/* clang-format off */
static const struct {
	const char *about;
	const char *text;
	const char *plain;
} texts[] = {
	{ "lines that CRI cut are joined",
	  "2026-01-02T03:04:05.1Z stdout P step 1 \n"
	  "2026-01-02T03:04:05.1Z stdout F loss 2\n"
	  "2026-01-02T03:04:05.1Z stdout F end\n", "step 1 loss 2\nend\n" },
	{ "a table of names is no service's log",
	  "lr     | 0.1\nbatch  | 32\nsteps  | 10\nseed   | 1\nnodes  | 2\n",
	  "lr     | 0.1\nbatch  | 32\nsteps  | 10\nseed   | 1\nnodes  | 2\n" },
	{ "a model's name before its steps is no pod",
	  "gpt-2 step 1 loss 4\ngpt-2 step 2 loss 3\ngpt-2 step 3 loss 2\n"
	  "gpt-2 step 4 loss 1\ngpt-2 step 5 loss 1\n",
	  "gpt-2 step 1 loss 4\ngpt-2 step 2 loss 3\ngpt-2 step 3 loss 2\n"
	  "gpt-2 step 4 loss 1\ngpt-2 step 5 loss 1\n" },
	{ "tasks that print in their order are no numbered lines",
	  "0: a\n1: b\n2: c\n3: d\n", "a\nb\nc\nd\n" },
	{ "the numbers of rows are no labels",
	  "1: 4.5, 4.5 pears\n 2: 2.5, 4.25 pears\n",
	  "1: 4.5, 4.5 pears\n 2: 2.5, 4.25 pears\n" },
	{ "numbers of epochs stay",
	  "epoch1: loss 3\nepoch1: loss 2\nepoch2: loss 1\nepoch2: loss 1\n",
	  "epoch1: loss 3\nepoch1: loss 2\nepoch2: loss 1\nepoch2: loss 1\n" },
	{ "a line without a service among those of services",
	  "Attaching to trainer-1\ntrainer-1  | a\ntrainer-1  | b\n"
	  "trainer-1  |  c\ntrainer-1  | d\ntrainer-1 exited with code 1\n",
	  "Attaching to trainer-1\na\nb\n c\nd\ntrainer-1 exited with code 1\n" },
	{ "a traceback whose first line is cut off keeps its blanks",
	  "  File \"a.py\", line 1, in f\n    g()\n  File \"a.py\", line 2\n"
	  "KeyError: 1\n",
	  "  File \"a.py\", line 1, in f\n    g()\n  File \"a.py\", line 2\n"
	  "KeyError: 1\n" },
	{ "an error code of Ascend is no host",
	  "EI0006: [PID: 812] Getting socket times out\n",
	  "EI0006: [PID: 812] Getting socket times out\n" },
	{ "nor is one that begins several lines",
	  "EZ9999: Inner Error!\nEZ9999: [PID: 812] an error\n",
	  "EZ9999: Inner Error!\nEZ9999: [PID: 812] an error\n" },
	{ "JSON of a program is not Docker's",
	  "{\"log\":\"a\",\"step\":1}\n", "{\"log\":\"a\",\"step\":1}\n" },
};
/* clang-format on */

static void check_texts(void)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (size_t piece = 1; piece < 100; piece += 90) {
			struct seen seen;

			see_text(&seen, texts[i].text, strlen(texts[i].text),
				 piece);
			is(seen.text.data, texts[i].plain, "%s, pieces of %zu",
			   texts[i].about, piece);
			buffer_clear(&seen.text);
		}
}

static void check_origins(void)
{
	static const char text[] =
		"gx17: [1,3]<stderr>: [rank7]: Traceback\nbare\n";
	struct seen seen;

	see_text(&seen, text, sizeof(text) - 1, 5);
	ok(seen.origin.rank == 7, "the rank that the program names itself");
	is(seen.host, "gx17", "the host of pdsh");
	ok(seen.offset == 30 && seen.line <= 2,
	   "the offset is that of the text");
	buffer_clear(&seen.text);
}

static void check_faults(void)
{
	owned(buffer_clear) struct buffer text = { .limit = TEXT_MAX };

	put_prefixed(&text, 5, traceback, sizeof(traceback) - 1);
	for (int n = 1;; n++) {
		owned(buffer_clear) struct buffer to = { .limit = TEXT_MAX };
		struct error err = { 0 };
		bool failed;
		int rc;

		fault_arm(n);
		rc = prefixes_remove(text.data, text.size, &to, &err);
		failed = fault_disarm();
		ok(failed == (rc < 0) && (!failed || err.code == ENOMEM),
		   "allocation %d: an error, no leak", n);
		if (!failed)
			break;
	}
}

/* Recorded outputs. */

static struct failure_patterns *patterns;

static cJSON *diagnose(const struct buffer *text)
{
	owned(causes_free) struct causes *causes = causes_new(patterns, NULL);
	struct diagnosis diagnosis;

	causes_feed(causes, text->data, text->size, NULL);
	causes_finish(causes, NULL);
	causes_diagnose(causes, false, &diagnosis);
	return diagnosis_json(&diagnosis);
}

static bool same_member(const cJSON *a, const cJSON *b, const char *name)
{
	return cJSON_Compare(cJSON_GetObjectItemCaseSensitive(a, name),
			     cJSON_GetObjectItemCaseSensitive(b, name), true);
}

/* A label that names a rank gives it to what names none itself. */
static bool same_diagnosis(const cJSON *a, const cJSON *b, bool ranks)
{
	return same_member(a, b, "class") && same_member(a, b, "line") &&
	       same_member(a, b, "line_number") &&
	       (ranks ||
		(same_member(a, b, "exit_code") &&
		 same_member(a, b, "signal") && same_member(a, b, "rank")));
}

/* How many of the prefixes change what is read. */
static unsigned check_failure(const char *name, const struct buffer *plain)
{
	cJSON *want = diagnose(plain);
	unsigned wrong = 0;

	for (size_t p = 0; p <= PREFIXES; p++) {
		owned(buffer_clear) struct buffer text = { .limit = TEXT_MAX };
		cJSON *got;

		if (p < PREFIXES)
			put_prefixed(&text, p, plain->data, plain->size);
		else
			put_docker(&text, plain->data, plain->size);
		got = diagnose(&text);
		if (!same_diagnosis(got, want,
				    p < PREFIXES && prefixes[p].ranks)) {
			printf("# %s under %s: %s\n", name,
			       p < PREFIXES ? prefixes[p].name : "docker",
			       cJSON_GetStringValue(
				       cJSON_GetObjectItem(got, "line")));
			wrong++;
		}
		cJSON_Delete(got);
	}
	cJSON_Delete(want);
	return wrong;
}

static struct {
	struct extract_rules *rules[FORMAT_CHOICE_MAX];
	size_t count;
} formats;

static void formats_load(const struct catalog *catalog)
{
	const struct framework *format;
	const struct value *logs[CATALOG_LOGS_MAX];
	size_t n;

	for (size_t i = 0; (format = catalog_framework_at(catalog, i)); i++)
		if (format->log && value_get(format->log, "rules") &&
		    catalog_logs(catalog, format, logs, &n, NULL) == 0)
			formats.rules[formats.count++] =
				extract_rules_new(logs, n, NULL);
}

/* What the best format reads, in one line. */
static void read_steps(const struct buffer *text, struct buffer *to)
{
	struct format_choice *choice =
		format_choice_new(formats.rules, formats.count, NULL);
	struct format_fit fits[FORMAT_FITS_MAX];
	const struct record *records;
	size_t count;

	format_choice_feed(choice, text->data, text->size, NULL);
	format_choice_finish(choice, NULL);
	buffer_init(to, TEXT_MAX);
	if (format_choice_fits(choice, fits)) {
		records = extract_records(format_choice_extract(choice,
								fits[0].format),
					  &count);
		for (size_t i = 0; i < count; i++)
			buffer_printf(to, NULL, "%llu:%g,%g,%g,%g,%g ",
				      (unsigned long long)records[i].step,
				      records[i].loss, records[i].iteration_ms,
				      records[i].tokens_per_second,
				      records[i].samples_per_second,
				      records[i].memory_mib);
	}
	format_choice_free(choice);
}

static unsigned check_log(const char *name, const struct buffer *plain)
{
	owned(buffer_clear) struct buffer want;
	unsigned wrong = 0;

	read_steps(plain, &want);
	for (size_t p = 0; p <= PREFIXES; p++) {
		owned(buffer_clear) struct buffer text = { .limit = TEXT_MAX };
		owned(buffer_clear) struct buffer got;

		if (p < PREFIXES)
			put_prefixed(&text, p, plain->data, plain->size);
		else
			put_docker(&text, plain->data, plain->size);
		read_steps(&text, &got);
		if (strcmp(got.data, want.data) != 0) {
			printf("# %s under %s: %.60s, not %.60s\n", name,
			       p < PREFIXES ? prefixes[p].name : "docker",
			       got.data, want.data);
			wrong++;
		}
	}
	return wrong;
}

typedef unsigned check_fn(const char *name, const struct buffer *text);

/* start: of the names of files in a folder of several kinds; of those the ones
 * that have a prefix already are left out.
 */
static void check_recorded(const char *name, const char *start, check_fn *check)
{
	char folder[4096];
	unsigned all = 0, wrong = 0;
	const struct dirent *entry;
	DIR *dir;

	if (!recordings_folder(name, folder, sizeof(folder)))
		return;
	dir = opendir(folder);
	while (dir && (entry = readdir(dir))) {
		owned(buffer_clear) struct buffer text = { .limit = TEXT_MAX };
		const char *end = strrchr(entry->d_name, '.');
		char path[sizeof(folder) + 256];

		if (!end ||
		    (strcmp(end, ".log") != 0 && strcmp(end, ".txt") != 0) ||
		    strncmp(entry->d_name, start, strlen(start)) != 0 ||
		    (*start && strstr(entry->d_name, "-prefix")))
			continue;
		snprintf(path, sizeof(path), "%s%s", folder, entry->d_name);
		if (file_read_any(path, &text, NULL) < 0)
			continue;
		all++;
		wrong += check(entry->d_name, &text) > 0;
	}
	if (dir)
		closedir(dir);
	ok(all && !wrong, "%s %s: %u of %u read the same under each prefix",
	   name, start, all - wrong, all);
}

int main(void)
{
	struct catalog *catalog = catalog_load("images", NULL);

	tap_begin(300);
	check_forms();
	check_texts();
	check_origins();
	check_faults();
	patterns = failure_patterns_read("images/failures.yaml", NULL);
	check_recorded("failures", "", check_failure);
	check_recorded("cases-3", "diagnose", check_failure);
	formats_load(catalog);
	check_recorded("cases-3", "extract", check_log);
	check_recorded("training-logs", "", check_log);
	check_recorded("training-logs-2", "", check_log);
	for (size_t i = 0; i < formats.count; i++)
		extract_rules_free(formats.rules[i]);
	failure_patterns_free(patterns);
	catalog_free(catalog);
	return tap_done();
}
