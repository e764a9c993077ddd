/* logcut_test.c - what is cut out of a log, its ends, and crashes in between.
 */
#include "controller/logs/log_store.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define LINES 300000
#define LINE_BYTES 64
#define LENGTH ((uint64_t)LINES * LINE_BYTES)

static char folder[64];

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/logs/17/1/%s", folder, name);
	return path;
}

static void line(char *to, uint64_t number)
{
	memset(to, '.', LINE_BYTES);
	to[snprintf(to, LINE_BYTES, "line %llu ", (unsigned long long)number)] =
		'.';
	to[LINE_BYTES - 1] = '\n';
}

/* Lines from..to appended; the length that came of it. */
static uint64_t append(struct log_store *store, const char *name, uint64_t from,
		       uint64_t to)
{
	char *text = malloc((to - from) * LINE_BYTES);
	uint64_t length = 0;

	for (uint64_t i = from; i < to; i++)
		line(text + (i - from) * LINE_BYTES, i);
	log_store_append(store, 17, 1, name, from * LINE_BYTES, text,
			 (to - from) * LINE_BYTES, 1, &length, NULL);
	free(text);
	return length;
}

/* What a reader gets: whole lines `head` from the first on, the notice, whole
 * lines up to the end. Returns the bytes of the notice's number, 0 when it is
 * anything else.
 */
static uint64_t read_back(struct log_store *store, const char *name,
			  uint64_t *head, uint64_t *tail)
{
	owned_free char *text = calloc(1, LENGTH + 1);
	char want[LINE_BYTES + 1] = "", *at = text;
	uint64_t offset = 0, length = 0, total = 0;
	unsigned long long missing = 0;
	size_t got = 1;
	int used = 0;

	log_store_length(store, 17, 1, name, &length, NULL);
	while (got && log_store_read(store, 17, 1, name, &offset, text + total,
				     100000, &got, NULL) == 0) {
		offset += got;
		total += got;
	}
	for (*head = 0; line(want, *head), !memcmp(at, want, LINE_BYTES);
	     at += LINE_BYTES)
		++*head;
	if (sscanf(at, "[regatta: %llu bytes were removed here]%n", &missing,
		   &used) != 1 ||
	    !used || at[used] != '\n')
		return 0;
	at += used + 1;
	*tail = (uint64_t)(text + total - at) / LINE_BYTES;
	for (uint64_t i = 0; i < *tail; i++) {
		line(want, length / LINE_BYTES - *tail + i);
		if (memcmp(at + i * LINE_BYTES, want, LINE_BYTES) != 0)
			return 0;
	}
	return at + *tail * LINE_BYTES == text + total ? missing : 0;
}

static uint64_t disk_bytes(const char *name)
{
	struct stat st;

	return stat(path_of(name), &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

/* Everything between the ends, in as many steps as it takes. */
static int cut_all(struct log_store *store, uint64_t keep, struct error *err)
{
	uint64_t step = 1, length = 0;
	int steps = 0;

	log_store_length(store, 17, 1, "rank-0", &length, NULL);
	while (step && steps >= 0) {
		if (log_store_cut(store, 17, 1, "rank-0", keep, length - keep,
				  &step, err) < 0)
			return -1;
		steps += step > 0;
	}
	return steps;
}

static void test_cut(void)
{
	struct log_store *store = log_store_new(folder, NULL);
	uint64_t head = 0, tail = 0, missing, length = 0;
	struct error err = { 0 };
	struct logcut cut;

	ok(append(store, "rank-0", 0, LINES) == LENGTH, "(a log)");
	is_int(cut_all(store, 10000, &err), 3, "it is cut in steps");
	missing = read_back(store, "rank-0", &head, &tail);
	ok(head == 156 && tail == 157,
	   "whole lines of both ends stay (%llu, %llu)",
	   (unsigned long long)head, (unsigned long long)tail);
	ok(missing == LENGTH - (head + tail) * LINE_BYTES,
	   "and one that says what is missing");
	log_store_length(store, 17, 1, "rank-0", &length, NULL);
	ok(length == LENGTH, "the length is what it was");
	ok(disk_bytes("rank-0.log") < 100000, "the space is free");
	ok(append(store, "rank-0", LINES, LINES + 10) ==
		   LENGTH + (uint64_t)10 * LINE_BYTES,
	   "it can still be written");
	ok(read_back(store, "rank-0", &head, &tail) == missing && tail == 167,
	   "which comes behind it");
	ok(log_store_cut_of(store, 17, 1, "rank-0", &cut, &err) == 0 &&
		   cut.to - cut.from == missing && cut.time_ms > 0,
	   "what was cut is known");
	ok(log_store_cut_of(store, 17, 1, "rank-1", &cut, &err) == 0 && !cut.to,
	   "and of another stream that nothing was");
	log_store_free(store);
	store = log_store_new(folder, NULL);
	ok(read_back(store, "rank-0", &head, &tail) == missing && tail == 167,
	   "the next controller reads the same");
	log_store_free(store);
}

static void copy(const char *from, const char *to)
{
	char command[600], source[256];

	snprintf(source, sizeof(source), "%s", path_of(from));
	snprintf(command, sizeof(command), "cp %s %s", source, path_of(to));
	if (system(command) != 0)
		printf("# %s failed\n", command);
}

/* Killed behind the step that `log` and `cut` are of. */
static void crashed(const char *log, const char *cut, const char *name)
{
	struct log_store *store;
	uint64_t head = 0, tail = 0, missing;

	copy(log, "rank-0.log");
	copy(cut, "rank-0.cut");
	store = log_store_new(folder, NULL);
	missing = read_back(store, "rank-0", &head, &tail);
	ok(missing == LENGTH - (head + tail) * LINE_BYTES && head == 156 &&
		   tail >= 157,
	   "killed %s: the ends are there, and the right number", name);
	ok(disk_bytes("rank-0.log") <
		   LENGTH - missing + (uint64_t)3 * LINE_BYTES + 16384,
	   "and the space is free");
	ok(append(store, "rank-0", LINES, LINES + 1) == LENGTH + LINE_BYTES,
	   "and it can be written");
	log_store_free(store);
}

static void test_crash(void)
{
	struct log_store *store = log_store_new(folder, NULL);
	uint64_t freed = 0;

	append(store, "rank-0", 0, LINES);
	copy("rank-0.log", "log0");
	log_store_cut(store, 17, 1, "rank-0", 10000, LENGTH - 10000, &freed,
		      NULL);
	copy("rank-0.log", "log1");
	copy("rank-0.cut", "cut1");
	log_store_cut(store, 17, 1, "rank-0", 10000, LENGTH - 10000, &freed,
		      NULL);
	copy("rank-0.cut", "cut2");
	log_store_free(store);
	crashed("log0", "cut1", "before the first step freed anything");
	crashed("log1", "cut2", "before another one did");
	crashed("log0", "cut2", "long ago, with a log from before");
}

static void test_short(void)
{
	struct log_store *store = log_store_new(folder, NULL);
	uint64_t head = 0, tail = 0, offset = 0;
	struct error err = { 0 };
	char text[100];
	size_t got = 0;

	append(store, "rank-0", 0, LINES);
	cut_all(store, 10000, NULL);
	log_store_free(store);
	if (truncate(path_of("rank-0.log"), 5000L * LINE_BYTES) < 0)
		printf("# truncate: %s\n", strerror(errno));
	store = log_store_new(folder, NULL);
	read_back(store, "rank-0", &head, &tail);
	append(store, "rank-0", 5000, 6000);
	ok(read_back(store, "rank-0", &head, &tail) ==
			   (uint64_t)(5000 - 156) * LINE_BYTES &&
		   tail == 1000,
	   "of a log that lost its end, what comes then is not cut");
	log_store_free(store);
	if (truncate(path_of("rank-0.log"), 10L * LINE_BYTES) < 0)
		printf("# truncate: %s\n", strerror(errno));
	store = log_store_new(folder, NULL);
	append(store, "rank-0", 10, 400);
	ok(log_store_read(store, 17, 1, "rank-0", &offset, text, sizeof(text),
			  &got, &err) == 0 &&
		   got == sizeof(text) &&
		   access(path_of("rank-0.cut"), F_OK) < 0,
	   "nor of one whose cut is gone with it");
	log_store_free(store);
	file_write(AT_FDCWD, path_of("rank-0.cut"), "{\"from\":7}\n", 11, 0600,
		   0, NULL);
	store = log_store_new(folder, NULL);
	ok(log_store_read(store, 17, 1, "rank-0", &offset, text, sizeof(text),
			  &got, &err) < 0 &&
		   err.code == EIO && strstr(err.text, "17/1/rank-0.cut"),
	   "what is no cut is refused (%s)", err.text);
	log_store_free(store);
}

static void test_attempt(void)
{
	struct log_store *store = log_store_new(folder, NULL);
	uint64_t freed = 0, usage = 0;
	char folder_of_job[80];
	int turns = 0, rc;

	append(store, "rank-0", 0, LINES);
	append(store, "node-0", 0, 20000);
	append(store, "node-0.1", 0, 20000);
	append(store, "build-0", 0, 20000);
	append(store, "samples-0", 0, 100);
	do {
		rc = log_store_shorten(store, 17, 1, 10000, 0, &freed, NULL);
	} while (rc == 1 && ++turns < 100);
	ok(rc == 0 && turns > 2, "an attempt is shortened in turns");
	ok(disk_bytes("rank-0.log") < 100000 &&
		   disk_bytes("node-0.1.log") < 100000 &&
		   disk_bytes("build-0.log") < 100000,
	   "in all its streams");
	ok(disk_bytes("node-0.log") > 1000000, "but the index of them");
	freed = 0;
	ok(log_store_shorten(store, 17, 1, 10000, INT64_MAX, &freed, NULL) ==
			   0 &&
		   !freed,
	   "twice is once");
	log_store_usage(store, 17, 1, &usage, NULL);
	ok(usage > 1280000 && usage < 1700000,
	   "what it has on disk is told (%llu)", (unsigned long long)usage);
	append(store, "rank-1", 0, LINES);
	turns = 0;
	do {
		rc = log_store_remove(store, 17, 1, 0, &freed, NULL);
	} while (rc == 1 && ++turns < 100);
	ok(rc == 0 && turns > 1 && freed > LENGTH, "it is removed in turns");
	snprintf(folder_of_job, sizeof(folder_of_job), "%s/logs/17", folder);
	ok(access(folder_of_job, F_OK) < 0, "with its folder");
	ok(log_store_remove(store, 17, 1, 0, &freed, NULL) == 0,
	   "which may be gone");
	log_store_free(store);
}

int main(void)
{
	static void (*const tests[])(void) = { test_cut, test_crash, test_short,
					       test_attempt };

	tap_begin(60);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		snprintf(folder, sizeof(folder), "/tmp/logcut_test.XXXXXX");
		if (!mkdtemp(folder))
			abort();
		tests[i]();
		file_remove_tree(AT_FDCWD, folder, NULL);
	}
	return tap_done();
}
