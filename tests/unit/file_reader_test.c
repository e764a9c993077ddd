/* file_reader_test.c - texts are read in any encoding that a mark names, and
 * compressed; what is no text is refused by its name.
 */
#include "controller/cli/file_reader.h"
#include "protocol/base/buffer.h"
#include "tests/tap.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT "step 1 损失 2.5 \xf0\x9f\x98\x80\n"

static char path[] = "/tmp/regatta-file-reader.XXXXXX";

static void write_file(const void *bytes, size_t size)
{
	int file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	ok(write(file, bytes, size) == (ssize_t)size, "the file is written");
	close(file);
}

/* Read the file: the text, or the error behind its name. */
static void reads(const char *want, const char *what)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 24);
	struct error err = { 0 };
	int rc;

	rc = file_reader_read(path, file_reader_keep, &text, &err);
	buffer_append(&text, "", 1, NULL);
	is(rc < 0 ? err.text + strlen(path) : text.data, want, "%s", what);
}

/* Of 4-byte units, or of 2-byte units with pairs. */
static void check_wide(bool pairs, bool big_endian, const char *what)
{
	static const uint32_t wide[] = { 0xfeff, 's', 't', 'e',    'p',
					 ' ',    '1', ' ', 0x635f, 0x5931,
					 ' ',    '2', '.', '5',    ' ' };
	static const uint32_t pair[] = { 0xd83d, 0xde00, '\n' };
	static const uint32_t whole[] = { 0x1f600, '\n' };
	unsigned char bytes[128];
	unsigned unit = pairs ? 2 : 4;
	size_t size = 0, count = pairs ? 3 : 2;

	for (size_t i = 0; i < 15 + count; i++) {
		uint32_t code = i < 15  ? wide[i]
				: pairs ? pair[i - 15]
					: whole[i - 15];

		for (unsigned b = 0; b < unit; b++)
			bytes[size++] =
				(unsigned char)(code >>
						8 * (big_endian ? unit - 1 - b
								: b));
	}
	write_file(bytes, size);
	reads(TEXT, what);
}

static void check_compressed(int (*filter)(struct archive *), size_t cut,
			     const char *what)
{
	struct archive *archive = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	char packed[4096];
	size_t used = 0;

	for (int i = 0; i < 1000; i++)
		buffer_text(&text, TEXT, NULL);
	buffer_append(&text, "", 1, NULL);
	filter(archive);
	archive_write_set_format_raw(archive);
	archive_write_set_bytes_in_last_block(archive, 1);
	archive_write_open_memory(archive, packed, sizeof(packed), &used);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_write_header(archive, entry);
	archive_write_data(archive, text.data, text.size - 1);
	archive_write_close(archive);
	write_file(packed, used - cut);
	if (!cut) {
		reads(text.data, what);
	} else {
		struct error err = { 0 };

		buffer_clear(&text);
		is_int(file_reader_read(path, file_reader_keep, &text, &err),
		       -1, "%s", what);
		ok(strstr(err.text, "is compressed, but broken") != NULL,
		   "%s: %s", what, err.text);
	}
	archive_entry_free(entry);
	archive_write_free(archive);
}

static void check_refused(const char *bytes, size_t size, const char *want)
{
	write_file(bytes, size);
	reads(want, want);
}

int main(void)
{
	char random[2048];

	tap_begin(30);
	close(mkstemp(path));
	write_file(TEXT, strlen(TEXT));
	reads(TEXT, "UTF-8");
	write_file("\xef\xbb\xbf" TEXT, strlen(TEXT) + 3);
	reads(TEXT, "UTF-8 with a mark");
	write_file("\xff\xfe" TEXT, strlen(TEXT) + 2);
	reads("\xff\xfe" TEXT, "garbage that looks like a mark");
	check_wide(true, false, "UTF-16");
	check_wide(true, true, "UTF-16, the high byte first");
	check_wide(false, false, "UTF-32");
	check_wide(false, true, "UTF-32, the high byte first");
	check_compressed(archive_write_add_filter_gzip, 0, "gzip");
	check_compressed(archive_write_add_filter_xz, 0, "xz");
	check_compressed(archive_write_add_filter_zstd, 0, "zstd");
	check_compressed(archive_write_add_filter_bzip2, 0, "bzip2");
	check_compressed(archive_write_add_filter_gzip, 20, "a gzip cut short");
	check_refused("PK\3\4....", 8,
		      " is no text, but a ZIP archive; unpack it first");
	check_refused("s\0t\0e\0p\0 \0001\0\n\0", 14,
		      " seems to be UTF-16 without a mark; convert it, for "
		      "example by iconv(1)");
	for (size_t i = 0; i < sizeof(random); i++)
		random[i] = (char)(i * 37 % 256);
	check_refused(random, sizeof(random),
		      " is no text: 184 of its first 2048 bytes are control "
		      "characters");
	/* A log that was cut while it was written begins with zeros. */
	memset(random, 0, sizeof(random));
	random[sizeof(random) - 2] = '.';
	random[sizeof(random) - 1] = '\n';
	write_file(random, sizeof(random));
	reads("", "zeros before a text are read");
	memset(random, 0, sizeof(random));
	random[sizeof(random) - 1] = '\n';
	check_refused(random, 1000, " is no text: it has nothing but zeros");
	check_refused(random, sizeof(random),
		      " is no text: it has nothing but zeros");
	write_file("\n", 1);
	reads("\n", "an empty line is read");
	write_file("", 0);
	reads("", "so is nothing");
	unlink(path);
	return tap_done();
}
