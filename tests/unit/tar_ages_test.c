/* tar_ages_test.c - files of a tar stream that are older than a moment, however
 * the stream is cut.
 */
#include "agent/blobs/tar_ages.h"

#include "tests/tap.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#define SINCE 1700000000

static void add(struct archive *out, const char *name, mode_t type, time_t time,
		size_t size)
{
	static const char data[2000];
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, type);
	archive_entry_set_mtime(entry, time, 0);
	archive_entry_set_size(entry, (int64_t)size);
	archive_write_header(out, entry);
	archive_write_data(out, data, size);
	archive_entry_free(entry);
}

static void count(int format, const char *name)
{
	static char tar[64 << 10];
	static const size_t pieces[] = { 1, 7, 512, 513, sizeof(tar) };
	struct archive *out = archive_write_new();
	size_t used = 0;

	archive_write_set_format(out, format);
	archive_write_open_memory(out, tar, sizeof(tar), &used);
	add(out, "folder", AE_IFDIR, SINCE - 100, 0);
	add(out, "folder/old", AE_IFREG, SINCE - 1, 1000);
	add(out, "folder/empty", AE_IFREG, SINCE - 100000, 0);
	add(out, "folder/new", AE_IFREG, SINCE, 512);
	add(out, "folder/later", AE_IFREG, SINCE + 1, 2000);
	archive_write_free(out);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct tar_ages ages = { .since = SINCE };

		for (size_t at = 0; at < used; at += pieces[i])
			tar_ages_feed(&ages, tar + at,
				      used - at < pieces[i] ? used - at
							    : pieces[i]);
		ok(ages.files == 4 && ages.older == 2,
		   "%s, by %zu bytes: 2 of 4 files are older", name, pieces[i]);
	}
}

int main(void)
{
	struct tar_ages ages = { .since = SINCE };
	char noise[4096];

	tap_begin(11);
	count(ARCHIVE_FORMAT_TAR_USTAR, "ustar");
	count(ARCHIVE_FORMAT_TAR_GNUTAR, "GNU");
	memset(noise, 0xff, sizeof(noise));
	tar_ages_feed(&ages, noise, sizeof(noise));
	ok(!ages.older, "of what is no tar stream nothing is told");
	return tap_done();
}
