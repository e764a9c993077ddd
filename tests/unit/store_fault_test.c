/* store_fault_test.c - what was committed survives kills, errors, full disks.
 */
#include "tests/unit/fault.h"
#include "tests/unit/store_bed.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Commit a job and its event at a time and tell each into the pipe. */
static void commit_until_killed(int out)
{
	struct store *store = store_new(folder, NULL);

	if (!store)
		_exit(1);
	put_sweep(store, 1);
	for (uint64_t id = 1;; id++) {
		if (put_job(store, id, 1, JOB_QUEUED) < 0 ||
		    put_event(store, id, "submit") < 0 ||
		    store_commit(store, NULL) < 0 ||
		    write(out, &id, sizeof(id)) != sizeof(id))
			_exit(1);
	}
}

static void test_killed(void)
{
	for (int round = 1; round <= 3; round++) {
		int fds[2];
		uint64_t told = 0, id, events = 0, counts[JOB_STATES];
		struct store *store;
		pid_t child;

		new_folder();
		if (pipe2(fds, O_CLOEXEC) < 0 || (child = fork()) < 0)
			abort();
		if (child == 0)
			commit_until_killed(fds[1]);
		close(fds[1]);
		while (told < (uint64_t)round * 10 &&
		       read(fds[0], &id, sizeof(id)) == sizeof(id))
			told = id;
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		while (read(fds[0], &id, sizeof(id)) == sizeof(id))
			told = id;
		close(fds[0]);
		store = open_store();
		id = jobs_in(store);
		ok(told >= (uint64_t)round * 10 &&
			   (id == told || id == told + 1),
		   "killed in its work: every commit that returned is there");
		for (uint64_t job = 1; job <= id; job++)
			events += events_of(store, job);
		ok(store_sweep_counts(store, 1, counts, NULL) == 0 &&
			   events == id && counts[JOB_QUEUED] == id,
		   "and whole: %llu jobs have as many events and counts",
		   (unsigned long long)id);
		store_free(store);
		drop_folder();
	}
}

/* Queue 200 rows, commit while `broken`, mend, commit again. */
static void commit_twice(struct store *store, void (*mend)(void), int code,
			 const char *what)
{
	struct error err = { 0 };
	size_t pending;
	int rc;

	for (int i = 0; i < 200; i++) {
		char kind[4096];

		memset(kind, 'x', sizeof(kind) - 1);
		kind[sizeof(kind) - 1] = 0;
		put_event(store, 1, kind);
	}
	pending = store_pending(store);
	rc = store_commit(store, &err);
	mend();
	ok(rc < 0 && err.code == code, "%s: the commit fails (%s)", what,
	   err.text);
	ok(store_pending(store) == pending && pending == 200,
	   "%s: all rows stay queued", what);
	is_int((long long)events_of(store, 1), 0,
	       "%s: nothing of them is applied", what);
	ok(store_commit(store, &err) == 0 && store_pending(store) == 0,
	   "%s: mended, they are committed", what);
	is_int((long long)events_of(store, 1), 200, "%s: each once", what);
}

static void lift_limit(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

static void test_write_errors(void)
{
	struct store *store = open_store();
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	put_sweep(store, 1);
	put_job(store, 1, 1, JOB_QUEUED);
	ok(store_commit(store, NULL) == 0, "(a job)");
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 300000;
	setrlimit(RLIMIT_FSIZE, &limit);
	commit_twice(store, lift_limit, EIO, "a write error");
	store_free(store);
	store = open_store();
	ok(store && jobs_in(store) == 1, "the store opens again");
	store_free(store);
}

static void remove_ballast(void)
{
	unlink(in_folder("ballast"));
}

static void test_full_disk(void)
{
	static char block[4096];
	struct store *store;
	int fd;

	if ((unshare(CLONE_NEWNS) < 0 &&
	     unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", folder, "tmpfs", 0, "size=4m,mode=0777") < 0) {
		ok(true, "full disk # SKIP no mount namespace to be had");
		return;
	}
	store = open_store();
	put_sweep(store, 1);
	put_job(store, 1, 1, JOB_QUEUED);
	ok(store_commit(store, NULL) == 0, "(a job)");
	fd = open(in_folder("ballast"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (write(fd, block, sizeof(block)) == (ssize_t)sizeof(block))
		;
	close(fd);
	commit_twice(store, remove_ballast, ENOSPC, "a full disk");
	store_free(store);
	umount2(folder, MNT_DETACH);
}

/* Big rows, so that the queue grows again and again. */
static void test_no_memory(void)
{
	static char facts[3000];
	struct store *store = open_store();
	const struct node_row node = { .name = "n", .facts = facts };
	bool good = store != NULL;
	size_t rows = 0, refused = 0;

	memset(facts, 'x', sizeof(facts) - 1);
	for (int i = 0; i < 100; i++) {
		struct error err = { 0 };
		int rc;

		fault_arm(1);
		rc = store_put_node(store, &node, &err);
		if (fault_disarm()) {
			good &= rc < 0 && err.code == ENOMEM;
			refused++;
			rc = store_put_node(store, &node, &err);
		}
		good &= rc == 0 && store_pending(store) == ++rows;
	}
	ok(good && refused > 3,
	   "a row for which memory is missing (%zu) is "
	   "refused as a whole",
	   refused);
	ok(store_commit(store, NULL) == 0, "and the queue is sound");
	store_free(store);
}

int main(void)
{
	static void (*const tests[])(void) = {
		test_write_errors,
		test_no_memory,
		test_full_disk,
	};

	tap_begin(60);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		new_folder();
		tests[i]();
		drop_folder();
	}
	test_killed();
	return tap_done();
}
