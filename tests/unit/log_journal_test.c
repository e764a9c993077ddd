/* log_journal_test.c - short outputs survive a power cut by the commit of
 * their job's end, and long ones by a sync.
 */
#include "controller/logs/log_journal.h"

#include "controller/logs/log_store.h"
#include "controller/store/store.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/log-journal-test-XXXXXX";
static sd_event *loop;
static struct store *store;
static struct log_store *logs;
static struct log_journal *journal;

static void open_all(void)
{
	struct error err = { 0 };

	store = store_new(top, &err);
	logs = store ? log_store_new(top, &err) : NULL;
	journal = logs ? log_journal_new(loop, top, logs, store, &err) : NULL;
	if (!journal)
		ok(false, "%s", err.text);
}

/* As by kill -9: what is queued is lost. */
static void close_all(void)
{
	log_journal_free(journal);
	log_store_free(logs);
	store_free(store);
}

static void put_jobs_rows(void)
{
	const struct sweep_row sweep = {
		.id = 1, .name = "s", .text = "", .client = "c"
	};
	struct job_row job = {
		.sweep = 1, .key = "k", .spec = "{}", .state = JOB_QUEUED
	};

	store_put_sweep(store, &sweep, NULL);
	for (job.id = 1; job.id <= 3; job.id++)
		store_put_job(store, &job, NULL);
	ok(store_commit(store, NULL) == 0, "(three jobs)");
}

static void append(uint64_t job, const char *stream, const char *text,
		   size_t size)
{
	uint64_t length;
	struct error err;

	if (log_store_append(logs, job, 1, stream, 0, text, size, 1, &length,
			     &err) < 0)
		ok(false, "%s", err.text);
}

static const char *in_top(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

static bool is_read(uint64_t job, const char *stream, const char *text)
{
	char bytes[64];
	size_t got = 0;

	return log_store_read(logs, job, 1, stream, 0, bytes, sizeof(bytes),
			      &got, NULL) == 0 &&
	       got == strlen(text) && !memcmp(bytes, text, got);
}

static int count_output(const struct output_row *row, void *arg)
{
	++*(int *)arg;
	return 0;
}

static int outputs_count(void)
{
	int count = 0;

	store_outputs(store, count_output, &count, NULL);
	return count;
}

static void test_power_cut(void)
{
	static const char zeros[8];
	FILE *file;

	open_all();
	put_jobs_rows();
	append(1, "rank-0", "a loss\n", 7);
	append(1, "rank-1", "another\n", 8);
	ok(log_journal_sync(journal, 1, 1, NULL) == 0 &&
		   store_commit(store, NULL) == 0,
	   "a short output is safe with a commit");
	append(2, "rank-0", "lost\n", 5);
	ok(log_journal_sync(journal, 2, 1, NULL) == 0,
	   "(another, without one)");
	ok(log_journal_sync(journal, 3, 1, NULL) == 0 && store_pending(store),
	   "no output needs nothing");
	close_all();

	/* What a power cut may leave. */
	unlink(in_top("logs/1/1/rank-0.log"));
	file = fopen(in_top("logs/1/1/rank-1.log"), "w");
	fwrite(zeros, 4, 1, file);
	fclose(file);
	unlink(in_top("logs/2/1/rank-0.log"));
	open_all();
	ok(is_read(1, "rank-0", "a loss\n"), "a file that is gone comes back");
	ok(is_read(1, "rank-1", "another\n"), "one of zeros and short, too");
	ok(!is_read(2, "rank-0", "lost\n"), "without a commit there is none");
	is_int(outputs_count(), 2, "the rows stay until the files are safe");
}

static void test_growth(void)
{
	uint64_t length;

	ok(log_store_append(logs, 1, 1, "rank-0", 7, "more\n", 5, 1, &length,
			    NULL) == 0,
	   "(a stream that grows)");
	close_all();
	open_all();
	ok(is_read(1, "rank-0", "a loss\nmore\n"),
	   "what came later is not cut off");
}

static void test_long(void)
{
	static char text[LOG_JOURNAL_BYTES + 1];
	int before = outputs_count();

	append(3, "rank-0", text, sizeof(text));
	ok(log_journal_sync(journal, 3, 1, NULL) == 0 &&
		   store_commit(store, NULL) == 0 && outputs_count() == before,
	   "a long output is synced, not copied");
	unlink(in_top("logs/3/1/rank-0.log"));
	mkdir(in_top("logs/3/1/rank-0.log"), 0700);
	log_store_close(logs, 3, 1);
	ok(log_journal_sync(journal, 3, 1, NULL) < 0,
	   "one that cannot be synced is an error");
}

static void test_later_sync(void)
{
	while (outputs_count()) {
		if (sd_event_run(loop, 60 * 1000000ULL) < 1)
			break;
		store_commit(store, NULL);
	}
	is_int(outputs_count(), 0, "after a sync of all files the rows go");
	unlink(in_top("logs/1/1/rank-0.log"));
	close_all();
	open_all();
	ok(!is_read(1, "rank-0", "a loss\nmore\n"), "for good");
	close_all();
}

int main(void)
{
	sigset_t child;

	tap_begin(60);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	if (!mkdtemp(top) || sd_event_new(&loop) < 0)
		return 1;
	test_power_cut();
	test_growth();
	test_long();
	test_later_sync();
	sd_event_unref(loop);
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
