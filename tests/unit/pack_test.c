/* pack_test.c - what regatta-init packs, and what it leaves out: read back as a
 * person reads it.
 */
#include "protocol/base/file.h"
#include "protocol/blob/unpack.h"
#include "tests/tap.h"
#include "tests/unit/init_box.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG                                                                   \
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"         \
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
#define SINCE "1000000000"

static char top[] = "/tmp/pack-test-XXXXXX";

static char *below(const char *name)
{
	static char path[2000];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

static void put_text(const char *name, const char *text)
{
	file_write(AT_FDCWD, below(name), text, strlen(text), 0644, 0, NULL);
}

static void make_all(const char *name)
{
	file_make_folders(below(name), 0755, NULL);
}

/* Pack these paths, up to a NULL, of root/ into an empty out/. */
static int pack_run(const char *limit, const char *const *paths)
{
	char out[100], root[100];
	const char *argv[40] = {
		box_program(), "pack", out, root, limit, SINCE
	};
	int status = -1;
	pid_t pid;

	snprintf(out, sizeof(out), "%s/out", top);
	snprintf(root, sizeof(root), "%s/root", top);
	file_remove_tree(AT_FDCWD, out, NULL);
	mkdir(out, 0755);
	for (int i = 0; i < 33 && paths[i]; i++)
		argv[6 + i] = paths[i];
	pid = fork();
	if (!pid) {
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return status;
}

static const char *pack_why(int index)
{
	static char text[500];
	owned(buffer_clear) struct buffer why;
	char name[40];

	buffer_init(&why, sizeof(text) - 1);
	snprintf(name, sizeof(name), "out/collect-%d.why", index);
	if (file_read(AT_FDCWD, below(name), &why, NULL) < 0)
		return "";
	snprintf(text, sizeof(text), "%s", why.data);
	return text;
}

static void why_has(int index, const char *words, const char *name)
{
	ok(strstr(pack_why(index), words), "%s: %s", name, pack_why(index));
}

static void refused(void *arg, const char *path, const char *why)
{
	snprintf(arg, 100, "%.99s", path);
}

/* Unpack what became of a path into back/; the number of entries, or -1. */
static int pack_read(int index, char left_out[100])
{
	static const struct unpack_limits limits = { 1 << 20, 1000 };
	struct unpack_counts counts = { 0 };
	owned_fd int tar = -1, dir = -1;
	struct error err;
	char name[40];

	snprintf(name, sizeof(name), "out/collect-%d.tar", index);
	tar = open(below(name), O_RDONLY | O_CLOEXEC);
	if (tar < 0)
		return -1;
	file_remove_tree(AT_FDCWD, below("back"), NULL);
	mkdir(below("back"), 0755);
	dir = open(below("back"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (unpack(tar, dir, NULL, &limits, refused, left_out, &counts, &err) ==
	    0)
		return (int)counts.entries;
	fprintf(stderr, "# %s\n", err.text);
	return -1;
}

static bool back_has(const char *name, const char *text)
{
	owned(buffer_clear) struct buffer found = BUFFER_INIT(1000);
	char path[1500];

	snprintf(path, sizeof(path), "back/%s", name);
	return file_read(AT_FDCWD, below(path), &found, NULL) == 0 &&
	       !strcmp(found.data, text);
}

static void tree_make(void)
{
	struct timespec old[2] = { { 978307200, 0 }, { 978307200, 0 } };

	make_all("root/a/b/" LONG "/" LONG);
	put_text("root/a/b/" LONG "/" LONG "/deep.json", "deep");
	put_text("root/a/b/\xc3\xa9\xff.json", "name");
	put_text("root/a/.hidden.json", "hidden");
	put_text("root/a/old", "old");
	utimensat(AT_FDCWD, below("root/a/old"), old, 0);
	mkfifo(below("root/a/pipe"), 0644);
	if (symlink("/etc", below("root/a/out")) < 0 ||
	    symlink("b/" LONG, below("root/a/in")) < 0 ||
	    symlink("/a/" LONG "/" LONG, below("root/a/far")) < 0)
		exit(1);
}

static void whole(void)
{
	static const char *const paths[] = { "/a",     "/a/",   "//a/.",
					     "/a/old", "/a/in", NULL };
	char link[200] = "", left_out[100] = "";

	ok(pack_run("1000000", paths) == 0, "a tree is packed");
	is_int(pack_read(0, left_out), 11, "all of it but the pipe");
	ok(back_has("a/b/" LONG "/" LONG "/deep.json", "deep") &&
		   back_has("a/b/\xc3\xa9\xff.json", "name") &&
		   back_has("a/old", "old") &&
		   back_has("a/.hidden.json", "hidden"),
	   "files are as they were, with long names and any bytes in them");
	ok(readlink(below("back/a/in"), link, 199) > 0 &&
		   !strcmp(link, "b/" LONG),
	   "so is a long link");
	why_has(0, "1 of 4 files are older than the job",
		"older files are counted");
	ok(pack_read(1, left_out) == 11 && back_has("a/old", "old"),
	   "a stroke at the end changes nothing");
	ok(pack_read(2, left_out) == 10 && back_has("old", "old"),
	   "of a folder's own name what is in it");
	ok(pack_read(3, left_out) == 1 && back_has("old", "old"), "a file");
	is_int(pack_read(4, left_out), 1, "a link is itself");
}

static void patterns(void)
{
	static const char *const paths[] = {
		"/a/*.json", "/a/**/*.json", "/a/b*", "/a/b/[x-z]*",
		"/a//b/*/",  "/*",           NULL,
	};
	char left_out[100] = "";

	pack_run("1000000", paths);
	why_has(0, "nothing matches", "a dot is matched only by a dot");
	ok(pack_read(1, left_out) == 2 &&
		   back_has("a/b/" LONG "/" LONG "/deep.json", "deep") &&
		   !back_has("a/old", "old"),
	   "what matches, and nothing else");
	ok(pack_read(2, left_out) == 5 &&
		   back_has("a/b/" LONG "/" LONG "/deep.json", "deep"),
	   "a folder that matches with all below it");
	why_has(3, "nothing matches", "nothing");
	is_int(pack_read(4, left_out), 4, "strokes too many do no harm");
	why_has(5, "whole container", "not everything");
}

static void layers(void)
{
	static const char in[] = "/a/in/" LONG;
	static const char *const paths[] = {
		"/a/out/passwd", "/a/../../../etc", "/none", in,
		"/a/pipe",       "/a/out/*",        NULL
	};

	pack_run("1000000", paths);
	for (int i = 0; paths[i]; i++) {
		char left_out[100];

		ok(pack_read(i, left_out) < 0 && *pack_why(i), "%s: %s",
		   paths[i], pack_why(i));
	}
	why_has(0, "own disk was read", "and whose files these are");
}

static void limited(void)
{
	static const char *const paths[] = { "/a/old", "/a/old", "/large",
					     "/a/old", NULL };
	static const char *const folder[] = { "/deep", NULL };
	char path[2000] = "root/deep", left_out[100] = "";

	put_text("root/large", "x");
	if (truncate(below("root/large"), (off_t)1 << 42) < 0)
		exit(1);
	pack_run("5000", paths);
	ok(pack_read(0, left_out) == 1 && pack_read(1, left_out) == 1,
	   "what fits is packed");
	why_has(2, "too large: more than the 904 bytes",
		"what does not fit is not");
	why_has(3, "too large", "nor in what is left");
	for (int i = 0; i < 130; i++) {
		strncat(path, "/d", 3);
		make_all(path);
	}
	pack_run("1000000", folder);
	ok(pack_read(0, left_out) > 100, "a deep tree, as far as it may");
	why_has(0, "1 are left out, the first one is deep/d/d",
		"which is told");
}

/* By a command, in the places of the results. */
static void occupied(void)
{
	owned(buffer_clear) struct buffer why = BUFFER_INIT(1000);
	struct box box;
	char link[1];

	box_init(&box);
	box_script(&box,
		   "collect=/proc/self/cmdline\ncollect=/etc/passwd\n"
		   "collect=/etc/hostname\ncollect_limit=100000\n",
		   "cd \"$(dirname \"$(readlink "
		   "/proc/$$/fd/1)\")\"; mkdir -p collect-0.tar/x; "
		   "ln -s /etc/shadow collect-1.tar; echo x >collect-2.why");
	is_int(box_run(&box), 0, "a command leaves files there: %s",
	       box_error(&box) ? box_error(&box) : "");
	ok(box_number(&box, "packed_ms") >= 0, "how long it packed is told");
	ok(faccessat(AT_FDCWD, box_path(&box, "out/collect-1.tar"), R_OK,
		     AT_SYMLINK_NOFOLLOW) == 0 &&
		   readlink(box_path(&box, "out/collect-1.tar"), link, 1) < 0,
	   "a link is replaced");
	ok(access(box_path(&box, "out/collect-0.tar/x"), F_OK) == 0 &&
		   access(box_path(&box, "out/collect-0.why"), F_OK) == 0,
	   "of a folder it is told");
	ok(file_read(AT_FDCWD, box_path(&box, "out/collect-2.why"), &why,
		     NULL) < 0 ||
		   strcmp(why.data, "x\n") != 0,
	   "words of the command are not believed");
	box_clear(&box);
}

int main(void)
{
	tap_begin(60);
	umask(022);
	if (!box_ready_to_go())
		return tap_done();
	if (!mkdtemp(top))
		return 1;
	tree_make();
	whole();
	patterns();
	layers();
	limited();
	file_remove_tree(AT_FDCWD, top, NULL);
	occupied();
	return tap_done();
}
