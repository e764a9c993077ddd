/* file_test.c - whole reads, atomic writes and trees, also among hostile files.
 */
#include "protocol/base/clock.h"
#include "protocol/base/file.h"

#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int folder; /* an empty folder of our own; also the working folder */

static void put(const char *path, const char *text)
{
	int fd = openat(folder, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		ok(false, "cannot write %s", path);
	if (fd >= 0)
		close(fd);
}

static bool there(const char *path)
{
	return faccessat(folder, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void whole_reads(void)
{
	owned(buffer_clear) struct buffer b = BUFFER_INIT(10);
	struct error err = { 0 };

	put("ten", "0123456789");
	put("eleven", "0123456789x");
	put("none", "");
	is_int(file_read(folder, "ten", &b, &err), 0,
	       "a file of exactly the limit is read");
	is(b.data, "0123456789", "all of it");
	is_int(file_read(folder, "eleven", &b, &err), -1,
	       "a file one byte longer is refused");
	is_int(err.code, E2BIG, "as too big");
	is(err.text, "eleven: more than 10 bytes", "with name and limit");
	is(b.data, "0123456789", "a refused read leaves the buffer alone");
	is_int(file_read(folder, "none", &b, &err), 0, "an empty file is read");
	is(b.data, "", "as nothing");
	is_int(file_read(folder, "absent", &b, &err), -1, "no file");
	is_int(err.code, ENOENT, "has its code");
	is(err.text, "absent: No such file or directory", "and its words");
	is_int(file_read_any("/proc/self/stat", &b, &err), -1,
	       "a file without a size is bounded by what comes");
	is_int(err.code, E2BIG, "as too big");
}

static void what_is_no_file(void)
{
	owned(buffer_clear) struct buffer b = BUFFER_INIT(1000);
	struct error err = { 0 };

	put("target", "secret");
	ok(symlinkat("target", folder, "link") == 0 &&
		   mkfifoat(folder, "fifo", 0600) == 0 &&
		   mkdirat(folder, "sub", 0700) == 0,
	   "a link, a FIFO and a folder are made");
	is_int(file_read(folder, "link", &b, &err), -1, "a link is refused");
	is_int(err.code, ELOOP, "as a link");
	is_int(file_read(folder, "fifo", &b, &err), -1,
	       "a FIFO is refused at once");
	is_int(err.code, EINVAL, "as no regular file");
	is_int(file_read(folder, "sub", &b, &err), -1, "a folder is refused");
	is_int(file_read(AT_FDCWD, "/dev/zero", &b, &err), -1,
	       "a device is refused");
	is_int(err.code, EINVAL, "as no regular file");
	is_int(file_read_any("link", &b, &err), 0,
	       "what a user names may be a link");
	is(b.data, "secret", "and is followed");
}

static void what_is_not_replaced(void)
{
	owned(buffer_clear) struct buffer b = BUFFER_INIT(1000);
	struct error err = { 0 };
	struct stat st = { 0 };

	is_int(file_check_replaced("fifo", &err), -1, "a FIFO stays");
	is(err.text, "fifo is a device or pipe; expected the name of a file",
	   "and is named");
	is_int(file_check_replaced("sub", &err), -1, "a folder stays");
	is_int(file_check_replaced("link", &err), -1, "a link stays");
	is_int(file_check_replaced("/dev/null", &err), -1, "a device stays");
	is_int(file_check_replaced("target", &err), 0, "a file may go");
	is_int(file_check_replaced("absent", &err), 0, "so may what is absent");
	is_int(file_write_any("link", "new", 3, &err), 0,
	       "what a user names may be a link");
	ok(fstatat(folder, "link", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		   S_ISLNK(st.st_mode),
	   "it stays one");
	is_int(file_read(folder, "target", &b, &err), 0, "what it leads to");
	is(b.data, "new", "is written");
	is_int(file_write_any("sub", "", 0, &err), -1, "a folder is refused");
	is_int(file_write_any("/dev/full", "new", 3, &err), -1,
	       "a full device is told");
	is_int(err.code, ENOSPC, "as full");
	ok(stat("/dev/full", &st) == 0 && S_ISCHR(st.st_mode),
	   "and stays a device");
}

static void a_pipe_that_a_user_names(void)
{
	owned(buffer_clear) struct buffer b = BUFFER_INIT(1 << 20);
	int ends[2];
	char path[64];

	if (!ok(pipe2(ends, O_CLOEXEC) == 0, "a pipe"))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	ok(write(ends[1], "from a pipe", 11) == 11, "is written");
	close(ends[1]);
	is_int(file_read_any(path, &b, NULL), 0, "what a user names: a pipe");
	is(b.data, "from a pipe", "is read to its end");
	close(ends[0]);
}

static void writes(void)
{
	owned(buffer_clear) struct buffer b = BUFFER_INIT(1000);
	struct error err = { 0 };
	struct stat st = { 0 };
	mode_t mask = umask(0077);

	is_int(file_write(folder, "w", "one", 3, 0644, 1, &err), 0,
	       "a file is written");
	is_int(file_read(folder, "w", &b, &err), 0, "and read");
	is(b.data, "one", "as it was written");
	fstatat(folder, "w", &st, 0);
	is_int(st.st_mode & 07777, 0644, "with the mode asked, umask or not");
	is_int(file_write(folder, "w", "a\0b", 3, 0600, 0, &err), 0,
	       "it is replaced");
	file_read(folder, "w", &b, &err);
	is_int((long long)b.size, 3, "NUL bytes are bytes");
	fstatat(folder, "w", &st, 0);
	is_int(st.st_mode & 07777, 0600, "with the new mode");
	ok(!there("w.new"), "nothing else is left in the folder");

	put("precious", "kept");
	ok(symlinkat("precious", folder, "w.new") == 0,
	   "a hostile link lies where the new bytes go");
	is_int(file_write(folder, "w", "two", 3, 0600, 0, &err), 0,
	       "the write goes on");
	file_read(folder, "precious", &b, &err);
	is(b.data, "kept", "and not through the link");

	is_int(file_write(folder, "sub/durable", "x", 1, 0600, 1, &err), 0,
	       "a durable one in a folder below");
	is_int(file_write(AT_FDCWD, "durable", "x", 1, 0600, 1, &err), 0,
	       "and in the working folder");
	ok(there("sub/durable") && there("durable"), "are there");
	is_int(file_write(folder, "no/such", "x", 1, 0600, 0, &err), -1,
	       "a missing folder is an error");
	is_int(err.code, ENOENT, "with its code");
	is_int(file_write(folder, "sub", "x", 1, 0600, 0, &err), -1,
	       "a folder is not replaced");
	ok(!there("sub.new"), "and the new bytes are removed");
	umask(mask);
}

/* A full disk, as far as a test without one can have it: a limit on file
 * sizes, in a child.
 */
static void a_full_disk(void)
{
	owned(buffer_clear) struct buffer b = BUFFER_INIT(1000);
	static const char large[1 << 16];
	int status = -1;
	pid_t child;

	put("full", "old");
	child = fork();
	if (child == 0) {
		struct rlimit limit = { 4096, 4096 };
		struct error err = { 0 };
		int rc;

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		rc = file_write(folder, "full", large, sizeof(large), 0600, 0,
				&err);
		_exit(rc == -1 && err.code == EFBIG ? 0 : 1);
	}
	waitpid(child, &status, 0);
	is_int(status, 0, "a write that does not fit fails with its code");
	file_read(folder, "full", &b, NULL);
	is(b.data, "old", "the old bytes are whole");
	ok(!there("full.new"), "the part that fitted is removed");
}

static void folders(void)
{
	struct error err = { 0 };
	struct stat st = { 0 };
	char long_name[5000];

	is_int(file_make_folders("a/b/c", 0700, &err), 0, "folders are made");
	is_int(file_make_folders("a/b/c", 0700, &err), 0, "twice is fine");
	is_int(file_make_folders("a//b/d/", 0700, &err), 0,
	       "doubled and last slashes are fine");
	ok(there("a/b/d"), "and it is there");
	fstatat(folder, "a/b", &st, 0);
	is_int(st.st_mode & 0777, 0700, "with the mode asked");
	put("plain", "x");
	is_int(file_make_folders("plain/x", 0700, &err), -1,
	       "a file in the way is an error");
	is_int(err.code, ENOTDIR, "with its code");
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = 0;
	is_int(file_make_folders(long_name, 0700, &err), -1,
	       "a name without end is refused");
	is_int(err.code, ENAMETOOLONG, "with its code");
}

static void folders_of_ones_own(void)
{
	struct error err = { 0 };
	struct stat st;
	int own = file_make_own("home/mine", 0700, &err);

	ok(own >= 0 && fstat(own, &st) == 0 && (st.st_mode & 0777) == 0700,
	   "a folder of one's own is made");
	close(own);
	chmod("home/mine", 0770);
	ok(file_make_own("home/mine", 0700, &err) < 0 && err.code == EPERM,
	   "others may not write in it: %s", err.text);
	chmod("home/mine", 0755);
	ok(symlink("home/mine", "own") == 0 &&
		   (own = file_open_own("own", &err)) >= 0,
	   "a link of one's own may lead there");
	close(own);
	if (geteuid() != 0)
		return;
	ok(lchown("own", 12345, 12345) == 0 && file_open_own("own", &err) < 0 &&
		   err.code == EPERM,
	   "but not one of another user: %s", err.text);
	ok(chown("home/mine", 12345, 12345) == 0 &&
		   file_open_own("home/mine", &err) < 0 && err.code == EPERM,
	   "nor is the folder of one: %s", err.text);
}

static void lists(void)
{
	owned(strings_clear) struct strings names = { 0 };
	struct error err = { 0 };

	mkdirat(folder, "l", 0700);
	mkdirat(folder, "l/b", 0700);
	put("l/a", "");
	put("l/c", "");
	put("l/.hidden", "");
	is_int(file_list("l", 3, &names, &err), 0, "a folder is listed");
	ok(names.count == 3 && !strcmp(names.items[0], "a") &&
		   !strcmp(names.items[1], "b") && !strcmp(names.items[2], "c"),
	   "sorted, without hidden names");
	is_int(file_list("none-such", 3, &names, &err), 0,
	       "a missing folder is empty");
	ok(names.count == 3, "and adds nothing");
	is_int(file_list("l", 2, &names, &err), -1, "too many are refused");
	is(err.text, "l: 3 files and folders; expected at most 2",
	   "with both numbers");
	is_int(file_list("l/a", 2, &names, &err), -1, "a file is no folder");
	is_int(err.code, ENOTDIR, "with its code");
}

static void trees(void)
{
	struct error err = { 0 };

	is_int(file_make_folders("tree/x/y", 0700, &err), 0, "a tree");
	is_int(file_make_folders("outside", 0700, &err), 0, "and an outside");
	put("tree/x/file", "1");
	put("tree/x/y/file", "2");
	put("outside/file", "3");
	ok(symlinkat("../outside", folder, "tree/out") == 0 &&
		   symlinkat("../../outside/file", folder, "tree/x/out") == 0,
	   "with links to the outside");
	is_int(file_remove_tree(folder, "tree", &err), 0, "is removed");
	ok(!there("tree"), "wholly");
	ok(there("outside/file"), "and what the links named is there");
	is_int(file_remove_tree(folder, "tree", &err), 0,
	       "nothing there is success");
	is_int(file_remove_tree(folder, "outside/file", &err), 0,
	       "a single file is removed");
	ok(symlinkat("outside", folder, "link2") == 0 &&
		   file_remove_tree(folder, "link2", &err) == 0 &&
		   there("outside") && !there("link2"),
	   "of a link, the link is removed");
	is_int(file_remove_tree(folder, "plain/x", &err), -1,
	       "a path through a file is an error");
	is_int(err.code, ENOTDIR, "with its code");
}

static bool make_deep(const char *top, int levels)
{
	owned_fd int at = openat(folder, top, O_RDONLY | O_DIRECTORY);
	bool good = at >= 0;

	for (int i = 0; good && i < levels; i++) {
		int below;

		good = mkdirat(at, "d", 0700) == 0 &&
		       symlinkat("../../precious", at, "l") == 0;
		below = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = below;
		good &= at >= 0;
	}
	return good;
}

/* A container can make a tree deeper than any limit of ours. */
static void deep_trees(void)
{
	struct rlimit old, few = { 40, 0 };
	struct error err = { 0 };

	getrlimit(RLIMIT_NOFILE, &old);
	few.rlim_max = old.rlim_max;
	put("precious", "kept");
	is_int(file_make_folders("deep/.removing-0/x", 0700, &err), 0,
	       "a tree that has the names which removing uses");
	put("deep/.removing-1", "");
	ok(make_deep("deep", 3000), "is 3,000 levels deep");
	setrlimit(RLIMIT_NOFILE, &few);
	err.text[0] = 0;
	is_int(file_remove_tree(folder, "deep", &err), 0,
	       "and is removed with few descriptors");
	is(err.text, "", "without an error");
	setrlimit(RLIMIT_NOFILE, &old);
	ok(!there("deep") && there("precious"), "wholly, and nothing else");
}

static void wide_trees(void)
{
	char path[64];
	bool good = true;

	for (int i = 0; i < 40; i++) {
		for (int j = 0; j < 25; j++) {
			snprintf(path, sizeof(path), "wide/%d/%d/x", i, j);
			good &= file_make_folders(path, 0700, NULL) == 0;
		}
	}
	ok(good, "a tree of a thousand branches");
	is_int(file_remove_tree(folder, "wide", NULL), 0, "is removed");
	ok(!there("wide"), "wholly");
}

static void pieces(void)
{
	struct error err = { 0 };
	char path[64];
	int calls = 1, rc;

	file_make_folders("many/one/deeper", 0700, NULL);
	for (int i = 0; i < 250; i++) {
		snprintf(path, sizeof(path), "many/%s%d",
			 i % 2 ? "" : "one/deeper/", i);
		put(path, "x");
	}
	is_int(file_remove_some(folder, "many", 10, &err), 1,
	       "a large tree is not removed at once when that is not wished");
	ok(there("many"), "some of it is left");
	while ((rc = file_remove_some(folder, "many", 10, &err)) > 0 &&
	       calls < 100)
		calls++;
	is_int(rc, 0, "the calls that follow go on with it: %s", err.text);
	ok(!there("many") && calls >= 24, "to the end, in %d calls", calls);
}

/* A file system mounted in the tree, in a mount namespace of a child. */
static void mounts_in_trees(void)
{
	int status = -1;
	pid_t child;

	file_make_folders("mounts/in/here", 0700, NULL);
	child = fork();
	if (child == 0) {
		struct error err = { 0 };
		int fd;

		if (unshare(CLONE_NEWNS) < 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("none", "mounts/in", "tmpfs", 0, NULL) < 0)
			_exit(77);
		fd = open("mounts/in/data", O_WRONLY | O_CREAT, 0600);
		/* Not from `folder`: that is of the namespace outside. */
		if (fd < 0 || file_remove_tree(AT_FDCWD, "mounts", &err) == 0)
			_exit(1);
		_exit(access("mounts/in/data", F_OK) == 0 && err.code == EBUSY
			      ? 0
			      : 2);
	}
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		ok(true, "mounted file systems # SKIP no mount namespaces");
	else
		is_int(status, 0,
		       "a file system that is mounted is left alone");
	is_int(file_remove_tree(folder, "mounts", NULL), 0,
	       "without it the tree is removed");
}

static void paths(void)
{
	char path[PATH_MAX], longest[PATH_MAX];
	struct error err = { 0 };

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	ok(file_path(path, &err, "%s/%d", "a", 1) == 0 && !strcmp(path, "a/1"),
	   "a path is written as by printf");
	ok(file_path(path, &err, "%s", longest) == 0 &&
		   strlen(path) == PATH_MAX - 1,
	   "up to the limit");
	ok(file_path(path, &err, "%s/", longest) < 0 && err.code == EINVAL &&
		   strstr(err.text, "xxx...: the path is too long"),
	   "past it, the error says so");
}

static void texts(void)
{
	char text[8] = "";

	text_append(text, sizeof(text), "%d", 12);
	text_append(text, sizeof(text), "%s%s", *text ? ", " : "", "ab");
	ok(!strcmp(text, "12, ab"), "texts are appended");
	text_append(text, sizeof(text), "%s", "cdef");
	text_append(text, sizeof(text), "%s", "g");
	ok(!strcmp(text, "12, abc"), "what does not fit is cut");
}

static void clocks(void)
{
	int64_t mono = clock_mono_ms(), wall = clock_wall_ms(), ahead;

	ok(wall > 1700000000000, "the wall clock counts ms since 1970");
	/* time(2) reads a coarser clock, which may be a tick behind. */
	ok(wall / 1000 - time(NULL) <= 1 && time(NULL) - wall / 1000 < 5,
	   "and agrees with time(2)");
	while (clock_mono_ms() == mono)
		;
	ok(clock_mono_ms() > mono, "the monotonic clock goes forward");
	mono = clock_mono_ms();
	ahead = clock_ahead_ms();
	ok(ahead >= wall - clock_mono_ms() && ahead <= clock_wall_ms() - mono,
	   "how far they are apart is read as of one moment");
}

int main(void)
{
	char path[] = "/tmp/regatta-file-XXXXXX";

	tap_begin(60);
	if (!mkdtemp(path) || chdir(path) < 0)
		return 1;
	folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	whole_reads();
	what_is_no_file();
	what_is_not_replaced();
	a_pipe_that_a_user_names();
	writes();
	a_full_disk();
	folders();
	folders_of_ones_own();
	lists();
	trees();
	deep_trees();
	wide_trees();
	pieces();
	mounts_in_trees();
	clocks();
	paths();
	texts();
	is_int(file_remove_tree(AT_FDCWD, path, NULL), 0,
	       "the folder of the test is removed");
	close(folder);
	return tap_done();
}
