/* tar_filter_test.c - of a folder's tar stream, the entries that match a
 * pattern.
 */
#include "agent/blobs/tar_filter.h"

#include "protocol/base/buffer.h"
#include "protocol/blob/pattern.h"
#include "tests/tap.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <sys/stat.h>

#define TAR_MAX (4 << 20)
#define READ_MAX ((uint64_t)TAR_MAX)

/* One entry: type 0 is a hard link to `text`. */
struct item {
	const char *path;
	mode_t type;
	const char *text;
};

static ssize_t on_write(struct archive *out, void *arg, const void *data,
			size_t size)
{
	return buffer_append(arg, data, size, NULL) < 0 ? -1 : (ssize_t)size;
}

static void make_tar(const struct item *items, size_t count, int format,
		     struct buffer *tar)
{
	struct archive *out = archive_write_new();

	buffer_init(tar, TAR_MAX);
	archive_write_set_format(out, format);
	archive_write_open(out, tar, NULL, on_write, NULL);
	for (size_t i = 0; i < count; i++) {
		const struct item *item = &items[i];
		struct archive_entry *entry = archive_entry_new();
		size_t size = item->type == S_IFREG ? strlen(item->text) : 0;

		archive_entry_set_pathname(entry, item->path);
		archive_entry_set_perm(entry, 0755);
		if (item->type)
			archive_entry_set_filetype(entry, item->type);
		else
			archive_entry_set_hardlink(entry, item->text);
		if (item->type == S_IFLNK)
			archive_entry_set_symlink(entry, item->text);
		archive_entry_set_size(entry, (int64_t)size);
		archive_write_header(out, entry);
		if (size)
			archive_write_data(out, item->text, size);
		archive_entry_free(entry);
	}
	archive_write_free(out);
}

static int keep(void *arg, const void *data, size_t size, struct error *err)
{
	return buffer_append(arg, data, size, err);
}

/* What passes, in pieces of that size. */
static int sieve(const struct buffer *tar, const char *pattern, size_t piece,
		 uint64_t read_max, struct buffer *out, uint64_t *lost,
		 struct error *err)
{
	owned(tar_filter_free) struct tar_filter *filter =
		tar_filter_new(pattern, read_max, keep, out, err);

	for (size_t at = 0; filter && at < tar->size; at += piece)
		if (tar_filter_feed(filter, tar->data + at,
				    piece < tar->size - at ? piece
							   : tar->size - at,
				    err) < 0)
			return -1;
	if (!filter || tar_filter_end(filter, err) < 0)
		return -1;
	*lost = tar_filter_links_lost(filter);
	return 0;
}

/* The names in a tar file, and that all their bytes are in it. */
static void list(const struct buffer *tar, char *names, size_t size)
{
	struct archive *in = archive_read_new();
	struct archive_entry *entry;
	size_t used = 0;
	int rc;

	names[0] = 0;
	archive_read_support_format_tar(in);
	archive_read_open_memory(in, tar->data, tar->size);
	while ((rc = archive_read_next_header(in, &entry)) >= ARCHIVE_WARN &&
	       rc != ARCHIVE_EOF && used < size) {
		const char *name = archive_entry_pathname(entry);
		size_t length = name ? strlen(name) : 0;
		char text[8] = "";

		archive_read_data(in, text, sizeof(text) - 1);
		used += (size_t)snprintf(names + used, size - used, "%s%s%s%s",
					 used ? " " : "",
					 length > 60 ? name + length - 8 : name,
					 *text ? "=" : "", text);
	}
	if (rc != ARCHIVE_EOF)
		snprintf(names, size, "broken: %s", archive_error_string(in));
	archive_read_free(in);
}

#define LONG                                                                   \
	"a-folder-whose-name-is-so-long/that-no-header-of-a-tar-file-has-"     \
	"room-for-it/so-it-needs-one-more/in-front-of-it/and-that-is-said-"    \
	"there/and-so-on/and-so-on/and-so-on/and-so-on/and-so-on/"
#define E_ACUTE "\303\251"

static const struct item tree[] = {
	{ "out/", S_IFDIR, NULL },
	{ "out/a.json", S_IFREG, "one" },
	{ "out/b.txt", S_IFREG, "two" },
	{ "out/.c.json", S_IFREG, "hidden" },
	{ "out/d.json", S_IFLNK, "a.json" },
	{ "out/" E_ACUTE ".json", S_IFREG, "ete" },
	{ "out/e.json", 0, "out/b.txt" },
	{ "out/f.json", 0, "out/a.json" },
	{ "out/step-1/", S_IFDIR, NULL },
	{ "out/step-1/x", S_IFREG, "x" },
	{ "out/step-1/deep/", S_IFDIR, NULL },
	{ "out/step-1/deep/y.json", S_IFREG, "y" },
	{ "out/" LONG "z.json", S_IFREG, "z" },
	{ "out/step-2/", S_IFDIR, NULL },
};
#define TREE (sizeof(tree) / sizeof(tree[0]))

static const struct {
	const char *pattern, *names, *name;
} patterns[] = {
	{ "*.json",
	  "out/a.json=one out/d.json out/" E_ACUTE ".json=ete out/f.json",
	  "a pattern without '/' matches in the folder itself" },
	{ "b.*", "out/b.txt=two", "one file" },
	{ "step-*",
	  "out/step-1/ out/step-1/x=x out/step-1/deep/ "
	  "out/step-1/deep/y.json=y out/step-2/",
	  "of a folder that matches all" },
	{ "step-*/**",
	  "out/step-1/x=x out/step-1/deep/ out/step-1/deep/y.json=y",
	  "what lies below folders" },
	{ "step-?/[xy]/", "out/step-1/x=x", "a '/' at the end says nothing" },
	{ "**/y.json", "out/step-1/deep/y.json=y", "any number of folders" },
	{ "a-*/**/z.json", "n/z.json=z", "long names" },
};

static void test_patterns(int format, const char *what)
{
	static const size_t pieces[] = { 1, 700, TAR_MAX };
	owned(buffer_clear) struct buffer tar;

	make_tar(tree, TREE, format, &tar);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		for (size_t j = 0; j < 3; j++) {
			owned(buffer_clear) struct buffer out;
			struct error err = { 0 };
			char names[600] = "";
			uint64_t lost = 0;

			buffer_init(&out, TAR_MAX);
			if (sieve(&tar, patterns[i].pattern, pieces[j],
				  READ_MAX, &out, &lost, &err) < 0)
				snprintf(names, sizeof(names), "%s", err.text);
			else
				list(&out, names, sizeof(names));
			is(names, patterns[i].names, "%s: %s (%s, by %zu)",
			   patterns[i].pattern, patterns[i].name, what,
			   pieces[j]);
			if (i == 0)
				ok(lost == 1, "a hard link to what stays is "
					      "counted");
		}
	}
}

static void refused(const struct buffer *tar, const char *pattern,
		    uint64_t read_max, int code, const char *words,
		    const char *name)
{
	owned(buffer_clear) struct buffer out;
	struct error err = { 0 };
	uint64_t lost;

	buffer_init(&out, TAR_MAX);
	ok(sieve(tar, pattern, 512, read_max, &out, &lost, &err) < 0 &&
		   err.code == code && strstr(err.text, words),
	   "%s: %s", name, err.text);
}

static void test_refused(void)
{
	static const struct item file[] = { { "out", S_IFREG, "x" } };
	static const struct item link[] = { { "out", S_IFLNK, "/data" } };
	static const struct item outside[] = { { "out/", S_IFDIR, NULL },
					       { "etc/passwd", S_IFREG, "x" } };
	owned(buffer_clear) struct buffer tar;
	char stars[] = "**/**/**/**/**/a";

	make_tar(tree, TREE, ARCHIVE_FORMAT_TAR_PAX_RESTRICTED, &tar);
	refused(&tar, "*.csv", READ_MAX, ENOENT, "nothing matches",
		"what nothing matches");
	refused(&tar, "*", 2000, E2BIG, "more than 2000 bytes",
		"more than may be read");
	refused(&tar, stars, READ_MAX, EINVAL, "5 times **",
		"what takes too long");
	tar.size = (size_t)4 * 512;
	refused(&tar, "*", READ_MAX, EPROTO, "truncated", "half a stream");
	memset(tar.data, 'x', tar.size);
	refused(&tar, "*", READ_MAX, EPROTO, "not a tar file",
		"another stream");
	/* An extension of 8 GiB. */
	memset(tar.data, 0, 512);
	snprintf(tar.data, 512, "name");
	memset(tar.data + 124, '7', 11);
	tar.data[156] = 'x';
	refused(&tar, "*", READ_MAX, E2BIG, "the name of an entry",
		"a name without an end");
	buffer_clear(&tar);
	make_tar(file, 1, ARCHIVE_FORMAT_TAR_USTAR, &tar);
	refused(&tar, "*", READ_MAX, ENOTDIR, "not a folder", "a file");
	buffer_clear(&tar);
	make_tar(link, 1, ARCHIVE_FORMAT_TAR_USTAR, &tar);
	refused(&tar, "*", READ_MAX, ENOTDIR, "a link to /data", "a link");
	buffer_clear(&tar);
	make_tar(outside, 2, ARCHIVE_FORMAT_TAR_USTAR, &tar);
	refused(&tar, "**", READ_MAX, EPROTO, "outside of it",
		"what lies elsewhere");
}

static void split(const char *path, const char *want, const char *name)
{
	const char *rest = "";
	char root[20], got[80] = "none";

	if (pattern_split(path, root, sizeof(root), &rest))
		snprintf(got, sizeof(got), "%s | %s", root, rest);
	is(got, want, "%s", name);
}

int main(void)
{
	tap_begin(60);
	test_patterns(ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE, "pax");
	test_patterns(ARCHIVE_FORMAT_TAR_GNUTAR, "GNU");
	test_refused();
	split("/out/a", "none", "a path is no pattern");
	split("/out/a*/b", "/out | a*/b", "a pattern begins in a folder");
	split("/a//b///*.x", "/a//b | *.x", "however it is spelled");
	split("/*.x", " | *.x", "which may be the root");
	split("a*", "none", "a relative one begins nowhere");
	split("/a/very/long/folder/name/*", "none", "nor does one too long");
	return tap_done();
}
