/* unpack_test.c - tar files of strangers, good and hostile.
 */
#include "protocol/blob/unpack.h"

#include "protocol/base/file.h"
#include "protocol/blob/tarball.h"
#include "tests/tap.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static char top[] = "/tmp/unpack-test-XXXXXX";
static int folders;

/* One entry of a tar file. */
struct item {
	const char *path;
	mode_t type;      /* 0: a hard link to `text` */
	const char *text; /* of a file, or where a link leads */
	int64_t size;     /* of a file with a hole; 0: that of the text */
};

static int make_tar(const struct item *items, size_t count)
{
	int fd = memfd_create("tar", MFD_CLOEXEC);
	struct archive *out = archive_write_new();

	archive_write_set_format_pax(out);
	archive_write_open_fd(out, fd);
	for (size_t i = 0; i < count; i++) {
		const struct item *item = &items[i];
		struct archive_entry *entry = archive_entry_new();
		size_t size = item->text && item->type == S_IFREG
				      ? strlen(item->text)
				      : 0;

		archive_entry_set_pathname(entry, item->path);
		archive_entry_set_perm(entry, 06777);
		if (item->type)
			archive_entry_set_filetype(entry, item->type);
		else
			archive_entry_set_hardlink(entry, item->text);
		if (item->type == S_IFLNK)
			archive_entry_set_symlink(entry, item->text);
		archive_entry_set_size(entry,
				       item->size ? item->size : (int64_t)size);
		if (item->size)
			archive_entry_sparse_add_entry(entry, 0, (int64_t)size);
		archive_write_header(out, entry);
		if (size)
			archive_write_data(out, item->text, size);
		archive_entry_free(entry);
	}
	archive_write_free(out);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static int new_folder(void)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%d/in", top, ++folders);
	file_make_folders(path, 0700, NULL);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

struct told {
	int count;
	char last[400];
};

static void refused(void *arg, const char *path, const char *why)
{
	struct told *told = arg;

	told->count++;
	snprintf(told->last, sizeof(told->last), "%s: %s", path, why);
}

static const struct unpack_limits limits = { 10 << 20, 100 };

static int run(int tar, int dir, struct told *told, struct error *err)
{
	return unpack(tar, dir, NULL, &limits, told ? refused : NULL, told,
		      NULL, err);
}

static bool has(int dir, const char *path, const char *text)
{
	owned(buffer_clear) struct buffer found = BUFFER_INIT(1000);

	return file_read(dir, path, &found, NULL) == 0 &&
	       !strcmp(found.data, text);
}

static void good(void)
{
	static const struct item items[] = {
		{ "./a/", S_IFDIR, NULL, 0 },
		{ "./a/b/c.txt", S_IFREG, "text", 0 },
		{ "a/link", S_IFLNK, "../a/b/c.txt", 0 },
		{ "hard", 0, "a/b/c.txt", 0 },
		{ "a/b/c.txt", S_IFREG, "newer", 0 },
		{ "hole", S_IFREG, "h", 5000 },
	};
	owned_fd int tar = make_tar(items, 6), dir = new_folder(), sub = -1;
	struct unpack_counts counts;
	struct error err = { 0 };
	struct stat st;
	char target[100] = "";

	ok(unpack(tar, dir, NULL, &limits, NULL, NULL, &counts, &err) == 0 &&
		   counts.entries == 6 && !counts.refused,
	   "files, folders and links within: %s", err.text);
	ok(has(dir, "a/b/c.txt", "newer"), "the last of a name stands");
	ok(has(dir, "hard", "text"), "a hard link keeps what it led to");
	ok(readlinkat(dir, "a/link", target, 99) > 0 &&
		   !strcmp(target, "../a/b/c.txt"),
	   "a link stays a link");
	ok(fstatat(dir, "a/b/c.txt", &st, 0) == 0 &&
		   (st.st_mode & 07777) == 0755,
	   "set-id bits are gone");
	ok(fstatat(dir, "hole", &st, 0) == 0 && st.st_size == 5000,
	   "a hole keeps its size");
	sub = new_folder();
	lseek(tar, 0, SEEK_SET);
	ok(unpack(tar, sub, "a/b", &limits, NULL, NULL, NULL, NULL) == 0 &&
		   has(sub, "a/b/c.txt", "newer") &&
		   faccessat(sub, "hard", F_OK, 0) < 0,
	   "a path alone, with what is below it");
}

static void hostile(void)
{
	/* clang-format off */
	static const struct item cases[][3] = {
		{ { "/abs", S_IFREG, "x", 0 } },
		{ { "../up", S_IFREG, "x", 0 } },
		{ { "a/../../up", S_IFREG, "x", 0 } },
		{ { "l", S_IFLNK, "/etc", 0 } },
		{ { "l", S_IFLNK, "..", 0 } },
		{ { "a/l", S_IFLNK, "../../up", 0 } },
		{ { "a/l", S_IFLNK, "b/../../..", 0 } },
		{ { "l", S_IFLNK, "a", 0 }, { "l/x", S_IFREG, "x", 0 } },
		{ { "l", S_IFLNK, "a", 0 }, { "l/x/y", S_IFREG, "x", 0 } },
		{ { "f", S_IFREG, "x", 0 }, { "f/x", S_IFREG, "x", 0 } },
		{ { "d/x", S_IFREG, "x", 0 }, { "d", S_IFREG, "x", 0 } },
		{ { "f", S_IFREG, "x", 0 }, { "f", S_IFDIR, NULL, 0 } },
		{ { "h", 0, "/etc/passwd", 0 } },
		{ { "h", 0, "../../out", 0 } },
		{ { "h", 0, "none", 0 } },
		{ { "l", S_IFLNK, "x", 0 }, { "h", 0, "l", 0 } },
		{ { "dev", S_IFCHR, NULL, 0 } },
		{ { "disk", S_IFBLK, NULL, 0 } },
		{ { "pipe", S_IFIFO, NULL, 0 } },
		/* Up from where a link leads: out, though the words stay. */
		{ { "a/b/s", S_IFLNK, "../..", 0 },
		  { "e", S_IFLNK, "a/b/s/../..", 0 } },
	};
	/* clang-format on */
	struct error err = { 0 };
	char outside[300];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t count = cases[i][1].path ? 2 : 1;
		owned_fd int tar = make_tar(cases[i], count);
		owned_fd int dir = new_folder();
		struct told told = { 0 };

		ok(run(tar, dir, &told, &err) == 0 && told.count == 1,
		   "left out: %s", told.last);
		lseek(tar, 0, SEEK_SET);
		ok(run(tar, dir, NULL, &err) < 0 && err.code == EPERM,
		   "or refused: %s", err.text);
		snprintf(outside, sizeof(outside), "%s/%d", top, folders);
		ok(access(outside, F_OK) == 0, "and nothing is outside");
		snprintf(outside, sizeof(outside), "%s/%d/up", top, folders);
		ok(access(outside, F_OK) < 0, "nothing at all");
	}
}

static int run_owned(int tar, int dir, const struct unpack_owner *owner,
		     struct error *err)
{
	owned(unpacking_free) struct unpacking *unpacking =
		unpacking_new(tar, dir, &limits, owner, err);
	int rc = unpacking ? 1 : -1;

	while (rc > 0)
		rc = unpacking_step(unpacking, err);
	return rc;
}

static bool is_of(int dir, const char *path, uid_t user, mode_t mode)
{
	struct stat st;

	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_uid == user && st.st_gid == user &&
	       (!mode || (st.st_mode & 07777) == mode);
}

/* A tree for one owner. */
static void owner_given(void)
{
	static const struct item items[] = {
		{ "new/a/", S_IFDIR, NULL, 0 },
		{ "new/a/b/c.txt", S_IFREG, "text", 0 },
		{ "new/link", S_IFLNK, "/etc/passwd", 0 },
		{ "new/up", S_IFLNK, "../../..", 0 },
	};
	const struct item through[] = { { "l", S_IFLNK, "/tmp", 0 },
					{ "l/x", S_IFREG, "x", 0 } };
	static const struct item over[] = { { "new/up/x", S_IFREG, "x", 0 } };
	const uid_t user = geteuid() ? geteuid() : 1234;
	const struct unpack_owner owner = { user, user, false };
	const struct unpack_owner ours = { (uid_t)-1, (gid_t)-1, true };
	owned_fd int tar = make_tar(items, 4), dir = new_folder(),
		     bad = make_tar(through, 2), again = make_tar(over, 1),
		     none = memfd_create("none", MFD_CLOEXEC);
	struct error err = { 0 };
	char outside[300];

	ok(run_owned(tar, dir, &owner, &err) == 0 &&
		   is_of(dir, "new", user, 0755) &&
		   is_of(dir, "new/a/b", user, 0755) &&
		   is_of(dir, "new/a/b/c.txt", user, 0755) &&
		   is_of(dir, "new/link", user, 0),
	   "all is its owner's, and a link may lead anywhere: %s", err.text);
	lseek(tar, 0, SEEK_SET);
	ok(run_owned(tar, dir, &ours, &err) == 0 &&
		   is_of(dir, "new/a", user, 0777) &&
		   is_of(dir, "new/a/b/c.txt", geteuid(), 0777),
	   "once more, open for everybody: %s", err.text);
	snprintf(outside, sizeof(outside), "%s/x", top);
	ok(run_owned(bad, dir, &owner, &err) < 0 && err.code == EPERM &&
		   access(outside, F_OK) < 0,
	   "nothing is written through a link: %s", err.text);
	ok(run_owned(again, dir, &owner, &err) < 0 && err.code == EPERM,
	   "nor through one that was there: %s", err.text);
	ok(run_owned(none, dir, &owner, &err) == 0, "nothing is nothing: %s",
	   err.text);
}

static void stays(void)
{
	ok(unpack_stays("a/b", NULL) && unpack_stays("./a", "b/c") &&
		   unpack_stays("a/l", "../b/c"),
	   "a path, and a link, that stay");
	ok(!unpack_stays("../a", NULL) && !unpack_stays("/a", NULL) &&
		   !unpack_stays(".", NULL) && !unpack_stays("a/..", NULL),
	   "paths that do not");
	ok(!unpack_stays("./l", "../b") && !unpack_stays("a/l", "/b") &&
		   !unpack_stays("a/l", "b/../.."),
	   "links that do not");
}

static void limited(void)
{
	static const struct item large[] = { { "hole", S_IFREG, "h",
					       (int64_t)1 << 40 } };
	static const struct item bomb[] = { { "hole", S_IFREG, "h",
					      (int64_t)1 << 35 } };
	struct item many[200];
	static const struct unpack_limits wide = { (uint64_t)1 << 50, 100 };
	owned_fd int tar = make_tar(large, 1), dir = new_folder(), other = -1,
		     third = -1, text = memfd_create("x", MFD_CLOEXEC);
	struct error err = { 0 };

	ok(run(tar, dir, NULL, &err) < 0 && err.code == E2BIG,
	   "more bytes than allowed: %s", err.text);
	other = make_tar(bomb, 1);
	ok(unpack(other, dir, NULL, &wide, NULL, NULL, NULL, &err) < 0 &&
		   err.code == E2BIG,
	   "a bomb: %s", err.text);
	for (size_t i = 0; i < 200; i++)
		many[i] = (struct item){ "same", S_IFREG, "x", 0 };
	third = make_tar(many, 200);
	ok(run(third, dir, NULL, &err) < 0 && err.code == E2BIG,
	   "more files than allowed: %s", err.text);
	ok(write(text, "no tar file at all, only text", 29) == 29 &&
		   lseek(text, 0, SEEK_SET) == 0 &&
		   run(text, dir, NULL, &err) < 0 && err.code == EINVAL,
	   "no tar file: %s", err.text);
	lseek(third, 0, SEEK_SET);
	if (ftruncate(third, 700) < 0)
		exit(1);
	ok(run(third, dir, NULL, &err) < 0 && err.code == EINVAL,
	   "a cut one: %s", err.text);
}

static void round_trip(void)
{
	owned(tarball_free) struct tarball *tarball = NULL, *again = NULL;
	owned_fd int tar = memfd_create("tar", MFD_CLOEXEC), dir = -1;
	char from[300], path[600], bytes[4096];
	ssize_t got;

	snprintf(from, sizeof(from), "%s/%d/in", top, 1);
	snprintf(path, sizeof(path), "%s/\xc3\xa9\xff%0180d", from, 7);
	file_write(AT_FDCWD, path, "x", 1, 0644, 0, NULL);
	tarball = tarball_new(from, NULL, NULL);
	while ((got = tarball_read(tarball, bytes, sizeof(bytes), NULL)) > 0)
		if (write(tar, bytes, (size_t)got) != got)
			exit(1);
	lseek(tar, 0, SEEK_SET);
	dir = new_folder();
	ok(run(tar, dir, NULL, NULL) == 0, "what we pack, we unpack");
	snprintf(path, sizeof(path), "%s/%d/in", top, folders);
	again = tarball_new(path, NULL, NULL);
	while (tarball_read(again, bytes, sizeof(bytes), NULL) > 0)
		;
	is(tarball_hash(again), tarball_hash(tarball),
	   "and packed again it is the same");
}

int main(void)
{
	tap_begin(30);
	umask(022);
	if (!mkdtemp(top))
		return 1;
	good();
	hostile();
	owner_given();
	stays();
	limited();
	round_trip();
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
