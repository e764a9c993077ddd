/* log_store_test.c - logs on disk: every byte once, in its place.
 */
#include "controller/logs/log_store.h"
#include "controller/logs/log_store_internal.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char folder[64];

static const char *in_folder(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static struct log_store *open_store(void)
{
	struct error err = { 0 };
	struct log_store *store = log_store_new(folder, &err);

	if (!store)
		printf("# %s\n", err.text);
	return store;
}

static uint64_t length_of(struct log_store *store, const char *name)
{
	uint64_t length = 77;

	return log_store_length(store, 17, 1, name, &length, NULL) == 0 ? length
									: 99;
}

/* Append a text; the length that came back, or 0 with errno set. */
static uint64_t append(struct log_store *store, const char *name,
		       uint64_t offset, const char *text, int64_t now_ms)
{
	struct error err = { 0 };
	uint64_t length = 0;

	errno = 0;
	if (log_store_append(store, 17, 1, name, offset, text, strlen(text),
			     now_ms, &length, &err) < 0)
		errno = err.code;
	return length;
}

static const char *content(struct log_store *store, const char *name)
{
	static char text[256];
	size_t got = 0;
	struct error err = { 0 };

	if (log_store_read(store, 17, 1, name, 0, text, sizeof(text) - 1, &got,
			   &err) < 0)
		return strerror(err.code);
	text[got] = 0;
	return text;
}

static void test_append(void)
{
	struct log_store *store = open_store();
	struct stat st;
	char part[4];
	size_t got = 9;

	is_int((long long)length_of(store, "rank-0"), 0,
	       "a stream that is not there has no length");
	is(content(store, "rank-0"), strerror(ENOENT),
	   "and reading it is ENOENT");
	ok(stat(in_folder("logs/17"), &st) < 0, "asking makes no folder");
	is_int((long long)append(store, "rank-0", 0, "hello ", 1000), 6,
	       "the first bytes make the stream");
	is_int((long long)append(store, "rank-0", 6, "world\n", 1001), 12,
	       "the next continue it");
	log_store_close(store, 17, 1);
	is_int((long long)length_of(store, "rank-0"), 12,
	       "and its length is there when it is closed");
	ok(append(store, "rank-0", 13, "late", 1002) == 12 && errno == EINVAL,
	   "bytes that would leave a hole are refused, with the length");
	ok(append(store, "rank-0", 6, "world\n", 1003) == 12 && errno == EINVAL,
	   "bytes that are there are refused, with the length");
	is_int((long long)append(store, "rank-0", 12, "", 1004), 12,
	       "no bytes at the end are fine");
	is(content(store, "rank-0"), "hello world\n",
	   "the file holds just what was taken");
	ok(log_store_read(store, 17, 1, "rank-0", 10, part, sizeof(part), &got,
			  NULL) == 0 &&
		   got == 2 && !memcmp(part, "d\n", 2),
	   "a read ends at the end");
	ok(log_store_read(store, 17, 1, "rank-0", 1000, part, sizeof(part),
			  &got, NULL) == 0 &&
		   got == 0,
	   "a read behind the end gets nothing");
	ok(stat(in_folder("logs/17/1/rank-0.log"), &st) == 0 &&
		   st.st_size == 12 && (st.st_mode & 0777) == 0600,
	   "the log is a private file under job and attempt");
	log_store_free(store);
	store = open_store();
	is_int((long long)append(store, "rank-0", 12, "again\n", 2000), 18,
	       "after a restart the length of the file is the cursor");
	log_store_close(store, 17, 1);
	is_int((long long)append(store, "rank-0", 18, "more\n", 2000), 23,
	       "a closed attempt goes on");
	log_store_free(store);
}

static const char name_of_64[] =
	"a234567890123456789012345678901234567890123456789012345678901234";
static const char name_of_65[] =
	"a2345678901234567890123456789012345678901234567890123456789012345";

static void test_names(void)
{
	static const char *const bad[] = {
		"",      ".",       "..",     "../x", "a/b",      "A",
		"-rank", ".hidden", "rank 0", "a\n",  "\xc3\xa4", name_of_65,
	};
	struct log_store *store = open_store();
	struct error err;
	uint64_t length;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		append(store, bad[i], 0, "x", 1);
		is_int(errno, EPROTO, "name %zu is refused", i);
	}
	is_int((long long)append(store, name_of_64, 0, "x", 1), 1,
	       "a name of 64 bytes is taken");
	ok(log_store_append(store, 0, 1, "x", 0, "x", 1, 1, &length, &err) <
			   0 &&
		   err.code == EPROTO,
	   "there is no job 0");
	log_store_free(store);
}

struct list {
	char text[512];
	int stop_after;
	int count;
};

static int list_stream(const char *stream, uint64_t length, void *arg)
{
	struct list *list = arg;
	size_t n = strlen(list->text);

	snprintf(list->text + n, sizeof(list->text) - n, "%s=%llu ", stream,
		 (unsigned long long)length);
	return ++list->count == list->stop_after ? 5 : 0;
}

static void test_streams(void)
{
	struct log_store *store = open_store();
	struct list list = { 0 }, part = { .stop_after = 1 };

	ok(log_store_streams(store, 17, 1, list_stream, &list, NULL) == 0 &&
		   list.count == 0,
	   "an attempt that is not there has no streams");
	append(store, "rank-10", 0, "x", 1);
	append(store, "rank-2", 0, "xy", 1);
	append(store, "metrics.log", 0, "xyz", 1);
	ok(log_store_streams(store, 17, 1, list_stream, &list, NULL) == 0,
	   "the streams of an attempt are listed");
	is(list.text, "metrics.log=3 rank-2=2 rank-10=1 ",
	   "numbers in their order, with lengths, without time files");
	is_int(log_store_streams(store, 17, 1, list_stream, &part, NULL), 5,
	       "a callback ends the walk with its value");
	is_int(part.count, 1, "and is called no more");
	ok(log_store_sync(store, 17, 1, NULL) == 0, "an attempt is synced");
	ok(log_store_sync(store, 17, 2, NULL) == 0,
	   "syncing one that is not there is no error");
	log_store_free(store);
}

static long long time_at(struct log_store *store, uint64_t offset)
{
	int64_t ms = -1;

	log_store_time_at(store, 17, 1, "rank-0", offset, &ms, NULL);
	return ms;
}

static void test_times(void)
{
	static const char torn[] = "torn";
	struct log_store *store = open_store();
	struct stat st;
	int64_t ms = 0;
	FILE *file;
	const uint64_t ahead[2] = { 40, 9000 };

	append(store, "rank-1", 0, "x", clock_wall_ms());
	append(store, "rank-0", 0, "0123456789", 5000);
	append(store, "rank-0", 10, "0123456789", 5050);
	append(store, "rank-0", 20, "0123456789", 5200);
	is_int(time_at(store, 0), 5000, "the first byte has its time");
	is_int(time_at(store, 15), 5000,
	       "bytes within 100 ms share a time record");
	is_int(time_at(store, 19), 5000, "up to the last of them");
	is_int(time_at(store, 20), 5200, "later bytes have their own");
	is_int(time_at(store, 999), 5200, "and so has the end");
	append(store, "rank-0", 30, "0123456789", 4000);
	is_int(time_at(store, 30), 4000, "a clock set back is recorded");
	log_store_free(store);

	file = fopen(in_folder("logs/17/1/rank-0.times"), "a");
	fwrite(ahead, sizeof(ahead), 1, file);
	fwrite(torn, 4, 1, file);
	fclose(file);
	store = open_store();
	ok(stat(in_folder("logs/17/1/rank-1.log"), &st) == 0 &&
		   log_store_time_at(store, 17, 1, "rank-1", 0, &ms, NULL) ==
			   0 &&
		   ms / 1000 == st.st_mtim.tv_sec &&
		   stat(in_folder("logs/17/1/rank-1.times"), &st) < 0,
	   "bytes that came at once have the file's time");
	is_int(time_at(store, 999), 4000,
	       "after a crash, times ahead of the log and torn ones are cut");
	ok(stat(in_folder("logs/17/1/rank-0.times"), &st) == 0 &&
		   st.st_size == 48,
	   "from the file too");
	append(store, "rank-0", 40, "x", 7000);
	is_int(time_at(store, 40), 7000, "and the next are recorded");
	log_store_free(store);

	unlink(in_folder("logs/17/1/rank-0.times"));
	ok(mkdir(in_folder("logs/17/1/rank-0.times"), 0700) == 0,
	   "(no times can be written)");
	store = open_store();
	is_int((long long)append(store, "rank-0", 41, "x", 8000), 42,
	       "a log goes on without its times");
	is_int(time_at(store, 41), 0, "which are then unknown");
	log_store_free(store);
}

/* A limit on the size of files stands for the disk: the write that meets it
 * is cut short, the next one fails.
 */
static void test_full(void)
{
	struct log_store *store = open_store();
	struct rlimit limit, small;
	static char data[3000], back[6001];
	uint64_t length = 0;
	struct error err = { 0 };
	size_t got = 0;
	int rc;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)('a' + i % 26);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	small = limit;
	small.rlim_cur = 4096;
	setrlimit(RLIMIT_FSIZE, &small);
	log_store_append(store, 17, 1, "rank-0", 0, data, sizeof(data), 1,
			 &length, NULL);
	rc = log_store_append(store, 17, 1, "rank-0", 3000, data, sizeof(data),
			      2, &length, &err);
	setrlimit(RLIMIT_FSIZE, &limit);
	ok(rc < 0 && err.code == ENOSPC, "a full disk is ENOSPC (%s)",
	   err.text);
	is_int((long long)length, 4096, "what it still took is counted");
	ok(log_store_append(store, 17, 1, "rank-0", 4096, data + 1096,
			    sizeof(data) - 1096, 3, &length, NULL) == 0 &&
		   length == 6000,
	   "with space again the rest follows there");
	ok(log_store_read(store, 17, 1, "rank-0", 0, back, sizeof(back), &got,
			  NULL) == 0 &&
		   got == 6000 && !memcmp(back, data, 3000) &&
		   !memcmp(back + 3000, data, 3000),
	   "no byte is lost, none is there twice");
	log_store_free(store);
}

static void test_many(void)
{
	struct log_store *store = open_store();
	bool good = true;
	char name[32];
	int before = tap_open_fds();

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < LOG_STORE_OPEN_MAX + 50; i++) {
			snprintf(name, sizeof(name), "rank-%d", i);
			good &= append(store, name, (uint64_t)round * 2, "ab",
				       1) == (uint64_t)round * 2 + 2;
		}
	}
	ok(good, "more streams than can be open are written in turn");
	ok(tap_open_fds() - before <= 2 * LOG_STORE_OPEN_MAX,
	   "and no more than the limit are open");
	log_store_close(store, 17, 1);
	is_int(tap_open_fds(), before, "closing an attempt closes them");
	for (int i = LOG_STORE_OPEN_MAX + 50; i < LOG_STORE_STREAMS_MAX; i++) {
		snprintf(name, sizeof(name), "rank-%d", i);
		good &= append(store, name, 0, "x", 1) == 1;
	}
	ok(good, "an attempt has up to 4096 streams");
	append(store, "rank-one-more", 0, "x", 1);
	is_int(errno, E2BIG, "and not one more");
	ok(append(store, "rank-0", 4, "x", 1) == 5,
	   "those that are there go on");
	ok(log_store_sync(store, 17, 1, NULL) == 0, "all are synced");
	log_store_free(store);
	store = open_store();
	append(store, "rank-one-more", 0, "x", 1);
	is_int(errno, E2BIG, "the limit holds after a restart");
	log_store_free(store);
}

static void test_links(void)
{
	struct log_store *store = open_store();

	append(store, "rank-0", 0, "x", 1);
	ok(symlink("/dev/null", in_folder("logs/17/1/rank-1.log")) == 0,
	   "(a link)");
	append(store, "rank-1", 0, "x", 1);
	is_int(errno, ELOOP, "a link in a stream's place is refused");
	ok(mkfifo(in_folder("logs/17/1/rank-2.log"), 0600) == 0, "(a FIFO)");
	append(store, "rank-2", 0, "x", 1);
	is_int(errno, EIO, "a FIFO is refused, without a wait");
	log_store_free(store);
}

/* A stream of more than one step, a short one and an attempt beside it. */
static void test_remove(void)
{
	struct log_store *store = open_store();
	static char bytes[1 << 20];
	uint64_t length = 0, freed = 0, usage = 0;
	int turns = 0, rc;

	memset(bytes, 'x', sizeof(bytes));
	for (uint64_t at = 0; at < 20u << 20; at += sizeof(bytes))
		log_store_append(store, 17, 1, "rank-0", at, bytes,
				 sizeof(bytes), 1, &length, NULL);
	append(store, "rank-1", 0, "short", 1);
	log_store_append(store, 17, 2, "rank-0", 0, bytes, 100, 1, &length,
			 NULL);
	log_store_usage(store, 17, 1, &usage, NULL);
	ok(usage >= 20u << 20, "what an attempt has on disk is told (%llu)",
	   (unsigned long long)usage);
	while ((rc = log_store_remove(store, 17, 1, 0, &freed, NULL)) == 1 &&
	       turns < 100)
		turns++;
	ok(rc == 0 && turns > 1 && freed >= 20u << 20,
	   "it is removed in turns, %d of them", turns);
	ok(access(in_folder("logs/17/1"), F_OK) < 0, "with its folder");
	ok(access(in_folder("logs/17/2/rank-0.log"), F_OK) == 0,
	   "and nothing else");
	ok(log_store_remove(store, 17, 2, 0, &freed, NULL) == 0 &&
		   access(in_folder("logs/17"), F_OK) < 0,
	   "the job's folder goes with the last attempt");
	ok(log_store_remove(store, 17, 2, 0, &freed, NULL) == 0,
	   "which may be gone");
	is_int(append(store, "rank-0", 0, "x", 1), 1,
	       "an attempt that was removed may begin again");
	ok(log_store_remove(store, 17, 1, 0, &freed, NULL) == 0 &&
		   append(store, "rank-0", 0, "x", 1) == 1,
	   "and again");
	errno = EACCES;
	is(content(store, "evidence-0"), strerror(ENOENT),
	   "a stream of another kind is none");
	is_int(append(store, "evidence-0", 0, "xy", 1), 2, "it begins");
	is(content(store, "evidence-0"), "xy", "and is there");
	log_store_free(store);
}

/* Times that a crash left without their log. */
static void test_times_without_log(void)
{
	struct log_store *store = open_store();
	int64_t ms = 0;

	append(store, "rank-1", 0, "x", 1);
	append(store, "rank-0", 0, "abc", 1000);
	append(store, "rank-0", 3, "def", 2000);
	append(store, "rank-0", 6, "ghi", 3000);
	append(store, "rank-0", 9, "jkl", 4000);
	log_store_free(store);
	unlink(in_folder("logs/17/1/rank-0.log"));
	store = open_store();
	append(store, "rank-0", 0, "abcdef", 7000);
	append(store, "rank-0", 6, "ghi", 8000);
	append(store, "rank-0", 9, "jkl", 9000);
	log_store_free(store);
	store = open_store();
	is_int(log_store_time_at(store, 17, 1, "rank-0", 10, &ms, NULL), 0,
	       "the times of a log that began again are read");
	is_int(ms, 9000, "and none of the one before");
	log_store_free(store);
}

int main(void)
{
	static void (*const tests[])(void) = {
		test_append, test_names,  test_streams,
		test_times,  test_full,   test_many,
		test_links,  test_remove, test_times_without_log,
	};

	tap_begin(300);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		snprintf(folder, sizeof(folder), "/tmp/log_store_test.XXXXXX");
		if (!mkdtemp(folder))
			abort();
		tests[i]();
		file_remove_tree(AT_FDCWD, folder, NULL);
	}
	return tap_done();
}
