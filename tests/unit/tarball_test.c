/* tarball_test.c - folders as reproducible tar streams.
 */
#include "protocol/blob/tarball.h"

#include "protocol/base/buffer.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>

static char top[] = "/tmp/tarball-test-XXXXXX";

static void make_file(const char *folder, const char *name, const char *text,
		      mode_t mode)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) < 0 || fchmod(fd, mode) < 0)
		exit(1);
	close(fd);
}

static void make_folder(const char *folder, const char *name, char *path,
			size_t size)
{
	snprintf(path, size, "%s/%s", folder, name);
	if (mkdir(path, 0700) < 0)
		exit(1);
}

static int read_all(struct tarball *tarball, struct buffer *out, size_t piece,
		    struct error *err)
{
	char bytes[100000];
	ssize_t got;

	while ((got = tarball_read(tarball, bytes, piece, err)) > 0)
		buffer_append(out, bytes, (size_t)got, NULL);
	return (int)got;
}

static int pack(const char *folder, struct buffer *out, struct error *err)
{
	owned(tarball_free) struct tarball *tarball =
		tarball_new(folder, NULL, err);

	buffer_clear(out);
	return tarball ? read_all(tarball, out, 100000, err) : -1;
}

/* "name|type mode uid size target;" of each entry. */
static void describe(const struct buffer *tar, struct buffer *out)
{
	struct archive *in = archive_read_new();
	struct archive_entry *entry;

	archive_read_support_format_tar(in);
	archive_read_open_memory(in, tar->data, tar->size);
	while (archive_read_next_header(in, &entry) == ARCHIVE_OK) {
		const char *target = archive_entry_symlink(entry);

		buffer_printf(out, NULL, "%s|%o %d.%d %lld %lld%s%s;",
			      archive_entry_pathname(entry),
			      archive_entry_mode(entry),
			      (int)archive_entry_uid(entry),
			      (int)archive_entry_gid(entry),
			      (long long)archive_entry_mtime(entry),
			      (long long)archive_entry_size(entry),
			      target ? " " : "", target ? target : "");
	}
	archive_read_free(in);
}

static void fill(const char *folder, bool backwards)
{
	static const char *const names[] = { "z", "Dockerfile", "a b",
					     "\xc3\xa9" };
	char below[300];

	for (int i = 0; i < 4; i++)
		make_file(folder, names[backwards ? 3 - i : i], "text",
			  backwards ? 0640 : 0644);
	make_folder(folder, "sub", below, sizeof(below));
	make_file(below, "run", "#!", backwards ? 0700 : 0755);
	snprintf(below, sizeof(below), "%s/link", folder);
	if (symlink("../outside", below) < 0)
		exit(1);
}

static void reproducible(void)
{
	owned(buffer_clear) struct buffer one = BUFFER_INIT(1 << 20);
	owned(buffer_clear) struct buffer two = BUFFER_INIT(1 << 20);
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	unsigned char digest[crypto_hash_sha256_BYTES];
	char first[200], second[200], hex[65];
	struct tarball *tarball;
	struct timespec times[2] = { { 12345, 0 }, { 12345, 0 } };
	char path[300];

	make_folder(top, "one", first, sizeof(first));
	make_folder(top, "two", second, sizeof(second));
	fill(first, false);
	fill(second, true);
	snprintf(path, sizeof(path), "%s/z", second);
	utimensat(AT_FDCWD, path, times, 0);
	ok(pack(first, &one, NULL) == 0 && pack(second, &two, NULL) == 0 &&
		   one.size == two.size &&
		   !memcmp(one.data, two.data, one.size),
	   "equal content gives equal bytes, whatever order, mode and time");
	describe(&one, &text);
	is(text.data,
	   "Dockerfile|100644 0.0 0 4;a b|100644 0.0 0 4;"
	   "link|120755 0.0 0 0 ../outside;sub/|40755 0.0 0 0;"
	   "sub/run|100755 0.0 0 2;z|100644 0.0 0 4;"
	   "\xc3\xa9|100644 0.0 0 4;",
	   "names are sorted by bytes, owners and times are gone");
	tarball = tarball_new(first, NULL, NULL);
	is(tarball_hash(tarball), "", "no hash before the end");
	buffer_clear(&two);
	read_all(tarball, &two, 7, NULL);
	ok(two.size == one.size && !memcmp(one.data, two.data, one.size),
	   "read in small pieces it is the same");
	crypto_hash_sha256(digest, (unsigned char *)one.data, one.size);
	sodium_bin2hex(hex, sizeof(hex), digest, sizeof(digest));
	is(tarball_hash(tarball), hex, "the hash is that of the stream");
	is_int((long long)tarball_size(tarball), (long long)one.size,
	       "and the size too");
	tarball_free(tarball);
	make_file(second, "z", "texT", 0644);
	pack(second, &two, NULL);
	ok(two.size == one.size && memcmp(one.data, two.data, one.size) != 0,
	   "another byte of content shows");
}

static void long_names(void)
{
	owned(buffer_clear) struct buffer tar = BUFFER_INIT(1 << 20);
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	char folder[300], below[600], name[256];

	make_folder(top, "long", folder, sizeof(folder));
	memset(name, 'n', 255);
	name[255] = 0;
	make_folder(folder, name, below, sizeof(below));
	make_file(folder, "x", "", 0644);
	snprintf(below + strlen(below), 260, "/%s", name);
	if (mkdir(below, 0700) < 0)
		exit(1);
	pack(folder, &tar, NULL);
	describe(&tar, &text);
	ok(strstr(text.data, name) && strstr(text.data, ";x|100644 0.0 0 0;"),
	   "names longer than the old format allows are kept");
}

static void large_file(void)
{
	owned(tarball_free) struct tarball *tarball = NULL;
	struct error err = { 0 };
	char folder[200], path[300], bytes[1000];
	ssize_t got;
	uint64_t sum = 0;
	int fd;

	make_folder(top, "large", folder, sizeof(folder));
	snprintf(path, sizeof(path), "%s/hole", folder);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	if (fd < 0 || ftruncate(fd, 10000000) < 0)
		exit(1);
	tarball = tarball_new(folder, NULL, &err);
	for (int i = 0; i < 100; i++) {
		got = tarball_read(tarball, bytes, sizeof(bytes), &err);
		sum += got > 0 ? (uint64_t)got : 0;
	}
	ok(sum > 90000 && tarball_size(tarball) == sum,
	   "a large file comes in pieces");
	if (ftruncate(fd, 500000) < 0)
		exit(1);
	close(fd);
	while ((got = tarball_read(tarball, bytes, sizeof(bytes), &err)) > 0)
		;
	ok(got < 0 && err.code == EIO, "a file that shrinks is an error: %s",
	   err.text);
	err.code = 0;
	ok(tarball_read(tarball, bytes, sizeof(bytes), &err) < 0 &&
		   err.code == EIO,
	   "and stays one");
}

static void refused(void)
{
	owned(buffer_clear) struct buffer tar = BUFFER_INIT(1 << 20);
	struct error err = { 0 };
	char folder[200], path[300];
	char deep[1000];

	snprintf(path, sizeof(path), "%s/none", top);
	ok(pack(path, &tar, &err) < 0 && err.code == EINVAL,
	   "no such folder: %s", err.text);
	make_file(top, "file", "", 0644);
	snprintf(path, sizeof(path), "%s/file", top);
	ok(pack(path, &tar, &err) < 0 && err.code == EINVAL, "no folder: %s",
	   err.text);
	make_folder(top, "fifo", folder, sizeof(folder));
	snprintf(path, sizeof(path), "%s/pipe", folder);
	if (mkfifo(path, 0600) < 0)
		exit(1);
	ok(pack(folder, &tar, &err) < 0 && err.code == EINVAL, "%s", err.text);
	make_folder(top, "deep", deep, sizeof(deep));
	snprintf(path, sizeof(path), "%s/deep", top);
	for (int i = 0; i < 65; i++) {
		snprintf(deep + strlen(deep), 4, "/d");
		if (mkdir(deep, 0700) < 0)
			exit(1);
	}
	ok(pack(path, &tar, &err) < 0 && err.code == EINVAL, "%s", err.text);
}

static void empty_folder(void)
{
	owned(buffer_clear) struct buffer tar = BUFFER_INIT(1 << 20);
	char folder[200];

	make_folder(top, "empty", folder, sizeof(folder));
	ok(pack(folder, &tar, NULL) == 0 && tar.size == 1024,
	   "an empty folder is an empty archive");
}

static void left_out(void)
{
	owned(buffer_clear) struct buffer tar = BUFFER_INIT(1 << 20);
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	owned(ignore_free) struct ignore *ignore = ignore_new(NULL);
	owned(ignore_free) struct ignore *docker = ignore_new(NULL);
	owned(tarball_free) struct tarball *tarball = NULL, *other = NULL;
	char folder[200], below[300];

	make_folder(top, "some", folder, sizeof(folder));
	make_file(folder, "a.log", "", 0644);
	make_file(folder, "a.py", "", 0644);
	make_folder(folder, "build", below, sizeof(below));
	make_file(below, "x", "", 0644);
	ignore_lines(ignore, "*.log\nbuild/", NULL);
	tarball = tarball_new(folder, ignore, NULL);
	read_all(tarball, &tar, 100, NULL);
	describe(&tar, &text);
	is(text.data, "a.py|100644 0.0 0 0;", "what is ignored is left out");
	make_file(below, "y", "", 0644);
	ignore_docker_lines(docker, "build\n!build/y\n*.log", NULL);
	other = tarball_new(folder, docker, NULL);
	buffer_clear(&tar);
	buffer_clear(&text);
	read_all(other, &tar, 100, NULL);
	describe(&tar, &text);
	is(text.data, "a.py|100644 0.0 0 0;build/y|100644 0.0 0 0;",
	   "but not what is taken back in of a folder that is");
}

int main(void)
{
	tap_begin(30);
	umask(022);
	if (!mkdtemp(top))
		return 1;
	reproducible();
	long_names();
	large_file();
	refused();
	empty_folder();
	left_out();
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
