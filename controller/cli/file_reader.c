/* file_reader.c - reads a text file of any size in pieces.
 */
#include "controller/cli/file_reader.h"

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"
#include "protocol/base/utf8.h"
#include "protocol/blob/unpack.h"

#include <archive.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Turns the bytes of a text into UTF-8, by the mark at their
 * start, and refuses what is no text.
 */

/* As file_reader_fn. */
typedef int text_decoder_fn(const void *text, size_t size, void *arg,
			    struct error *err);
/* Starts as zeros, but for name, fn and arg. */
struct text_decoder {
	const char *name; /* of the file, for errors */
	text_decoder_fn *fn;
	void *arg;
	bool begun;
	unsigned unit; /* bytes of a code unit; 1: UTF-8, or any other bytes */
	bool big_endian;
	unsigned char part[4]; /* of a code unit that is not complete */
	unsigned part_size;
	uint32_t high; /* first half of a pair; 0: none */
	bool zeros;    /* it has some */
	bool text;     /* it has anything but zeros and blanks */
};

#define LOOKED_AT 4096     /* bytes at the start of a file */
#define CONTROL_SHARE 16   /* one control character in so many bytes: no text */
#define ZERO_SHARE 16      /* one zero in so many bytes: UTF-16 */
#define DECODED_PIECE 4096 /* bytes of UTF-8 that are delivered at once */
#define REPLACEMENT 0xfffd

/* The mark at the start of a text. The longer ones first. */
static const struct {
	const char *mark;
	size_t size;
	unsigned unit;
	bool big_endian;
} encodings[] = {
	{ "\xff\xfe\0\0", 4, 4, false }, { "\0\0\xfe\xff", 4, 4, true },
	{ "\xff\xfe", 2, 2, false },     { "\xfe\xff", 2, 2, true },
	{ "\xef\xbb\xbf", 3, 1, false },
};

/* What else a file may be. */
static const struct {
	const char *mark;
	size_t size;
	size_t at;
	const char *what;
} others[] = {
	{ "\x7f"
	  "ELF",
	  4, 0, "a program" },
	{ "PK\3\4", 4, 0, "a ZIP archive; unpack it first" },
	{ "7z\xbc\xaf\x27\x1c", 6, 0, "a 7z archive; unpack it first" },
	{ "Rar!\x1a\7", 6, 0, "a RAR archive; unpack it first" },
	{ "ustar", 5, 257, "a tar archive; unpack it first" },
	{ "%PDF-", 5, 0, "a PDF document" },
	{ "\x89PNG", 4, 0, "a PNG picture" },
	{ "SQLite format 3", 15, 0, "a database of SQLite" },
	{ "PAR1", 4, 0, "a Parquet file" },
	{ "\x04\x22\x4d\x18", 4, 0, "compressed by lz4; unpack it first" },
};

static int refuse_binary(const struct text_decoder *decoder,
			 const unsigned char *bytes, size_t size,
			 struct error *err)
{
	size_t controls = 0, zeros[2] = { 0 };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (size >= others[i].at + others[i].size &&
		    !memcmp(bytes + others[i].at, others[i].mark,
			    others[i].size))
			return error_set(err, EINVAL,
					 "%.120s is no text, but %s",
					 decoder->name, others[i].what);
	size = size < LOOKED_AT ? size : LOOKED_AT;
	for (size_t i = 0; i < size; i++) {
		zeros[i % 2] += !bytes[i];
		controls += bytes[i] && bytes[i] < ' ' &&
			    !strchr("\t\n\v\f\r\b\a\033", bytes[i]);
	}
	/* Zeros alone are those of a log that was cut while it was written. */
	if ((zeros[0] > size / 3) != (zeros[1] > size / 3))
		return error_set(err, EINVAL,
				 "%.120s seems to be UTF-16 without a mark; "
				 "convert it, for example by iconv(1)",
				 decoder->name);
	if (controls * CONTROL_SHARE <= size)
		return 0;
	return error_set(err, EINVAL,
			 "%.120s is no text: %zu of its first %zu bytes are "
			 "control characters",
			 decoder->name, controls, size);
}

/* Has it as many zeros as blanks and digits have in UTF-16? "\xff\xfe" may also
 * be garbage before a text of bytes.
 */
static bool has_zeros(const unsigned char *bytes, size_t size)
{
	size_t zeros = 0;

	size = size < LOOKED_AT ? size : LOOKED_AT;
	for (size_t i = 0; i < size; i++)
		zeros += !bytes[i];
	return zeros * ZERO_SHARE >= size;
}

/* Find the encoding; the size of its mark, or -1: it is no text. */
static int decoder_begin(struct text_decoder *decoder,
			 const unsigned char *bytes, size_t size,
			 struct error *err)
{
	decoder->begun = true;
	decoder->unit = 1;
	for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++)
		if (size >= encodings[i].size &&
		    !memcmp(bytes, encodings[i].mark, encodings[i].size) &&
		    (encodings[i].unit == 1 || has_zeros(bytes, size))) {
			decoder->unit = encodings[i].unit;
			decoder->big_endian = encodings[i].big_endian;
			return (int)encodings[i].size;
		}
	return refuse_binary(decoder, bytes, size, err);
}

static uint32_t unit_value(const struct text_decoder *decoder)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < decoder->unit; i++)
		value = value << 8 |
			decoder->part[decoder->big_endian
					      ? i
					      : decoder->unit - 1 - i];
	return value;
}

/* Write the character that the code unit completes: its bytes; 0: it is the
 * first half of a pair.
 */
static size_t put_unit(struct text_decoder *decoder, uint32_t unit, char *to)
{
	uint32_t high = decoder->high;
	size_t written;

	decoder->high = 0;
	if (decoder->unit == 2 && unit >= 0xd800 && unit < 0xdc00) {
		decoder->high = unit;
		return 0;
	}
	if (high && unit >= 0xdc00 && unit < 0xe000)
		unit = 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
	written = utf8_encode(unit, to);
	return written ? written : utf8_encode(REPLACEMENT, to);
}

/* Decode a piece. The first one must have 512 bytes, unless the file is
 * shorter. EINVAL: it is no text; the error says what it is.
 */
static int text_decoder_feed(struct text_decoder *decoder, const void *piece,
			     size_t size, struct error *err)
{
	const unsigned char *bytes = piece;
	char text[DECODED_PIECE];
	size_t used = 0;
	int mark = 0;

	for (size_t i = 0; i < size && !decoder->text; i++) {
		decoder->zeros |= !bytes[i];
		decoder->text = !memchr(" \t\n\r", bytes[i], 5);
	}
	if (!decoder->begun)
		mark = decoder_begin(decoder, bytes, size, err);
	if (mark < 0)
		return -1;
	if (decoder->unit == 1)
		return decoder->fn(bytes + mark, size - (size_t)mark,
				   decoder->arg, err);
	for (size_t i = (size_t)mark; i < size; i++) {
		decoder->part[decoder->part_size++] = bytes[i];
		if (decoder->part_size < decoder->unit)
			continue;
		decoder->part_size = 0;
		used += put_unit(decoder, unit_value(decoder), text + used);
		if (used + 4 <= sizeof(text))
			continue;
		if (decoder->fn(text, used, decoder->arg, err) < 0)
			return -1;
		used = 0;
	}
	return used ? decoder->fn(text, used, decoder->arg, err) : 0;
}

#define PIECE 65536 /* bytes read at once */

/* A file that is read. */
struct source {
	const char *name;
	int file;
	char *piece;
	size_t size;  /* of the piece */
	bool waiting; /* the piece was read ahead */
	int failed;   /* an errno value; 0: none */
};

/* Fill the piece, as far as the file goes. */
static void source_fill(struct source *source)
{
	ssize_t got = 1;

	source->size = 0;
	while (got > 0 && source->size < PIECE) {
		got = read(source->file, source->piece + source->size,
			   PIECE - source->size);
		source->size += got > 0 ? (size_t)got : 0;
	}
	source->failed = got < 0 ? errno : 0;
}

static int source_error(const struct source *source, struct error *err)
{
	return source->failed
		       ? error_set(err, EINVAL, "%.120s: %s", source->name,
				   strerror(source->failed))
		       : 0;
}

/* archive_read_callback */
static la_ssize_t source_read(struct archive *archive, void *arg,
			      const void **piece)
{
	struct source *source = arg;

	if (!source->waiting)
		source_fill(source);
	source->waiting = false;
	*piece = source->piece;
	if (source->failed)
		archive_set_error(archive, source->failed, "cannot read");
	return source->failed ? -1 : (la_ssize_t)source->size;
}

static void file_reader_close(struct archive *archive)
{
	archive_read_free(archive);
}
OWNED_POINTER(struct archive, file_reader_close)

static int check_unpacked(struct archive *archive, const struct source *source,
			  uint64_t bytes, struct error *err)
{
	struct error why;

	return unpack_check(archive, &unpack_text_bounds, bytes, &why) == 0
		       ? 0
		       : error_set(err, EINVAL,
				   "%.120s: %s; unpack it first if you trust "
				   "it",
				   source->name, why.text);
}

static int read_compressed(struct archive *archive, struct source *source,
			   struct text_decoder *decoder, struct error *err)
{
	owned_free char *text = malloc(PIECE);
	struct archive_entry *entry;
	uint64_t bytes = 0;
	la_ssize_t got = -1;

	if (!text)
		return error_nomem(err, source->name);
	archive_read_support_format_raw(archive);
	if (archive_read_open(archive, source, NULL, source_read, NULL) ==
		    ARCHIVE_OK &&
	    archive_read_next_header(archive, &entry) == ARCHIVE_OK)
		while ((got = archive_read_data(archive, text, PIECE)) > 0) {
			bytes += (uint64_t)got;
			if (check_unpacked(archive, source, bytes, err) < 0 ||
			    text_decoder_feed(decoder, text, (size_t)got, err) <
				    0)
				return -1;
		}
	if (got == 0 || source_error(source, err) < 0)
		return got == 0 ? 0 : -1;
	return error_set(err, EINVAL, "%.120s is compressed, but broken: %s",
			 source->name, archive_error_string(archive));
}

static int read_plain(struct source *source, struct text_decoder *decoder,
		      struct error *err)
{
	for (; source->size; source_fill(source))
		if (text_decoder_feed(decoder, source->piece, source->size,
				      err) < 0)
			return -1;
	return source_error(source, err);
}

int file_reader_read(const char *name, file_reader_fn *fn, void *arg,
		     struct error *err)
{
	bool is_stdin = !strcmp(name, "-");
	owned_fd int file =
		is_stdin ? -1 : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	owned(file_reader_close) struct archive *archive = archive_read_new();
	owned_free char *piece = malloc(PIECE);
	struct source source = {
		.name = is_stdin ? "standard input" : name,
		.file = is_stdin ? STDIN_FILENO : file,
		.piece = piece,
		.waiting = true,
	};
	struct text_decoder decoder = {
		.name = source.name,
		.fn = fn,
		.arg = arg,
	};

	if (!archive || !piece)
		return error_nomem(err, name);
	if (source.file < 0)
		return error_set(err, EINVAL, "%.120s: %s", name,
				 strerror(errno));
	source_fill(&source);
	if ((unpack_filter(archive, source.piece, source.size)
		     ? read_compressed(archive, &source, &decoder, err)
		     : read_plain(&source, &decoder, err)) < 0)
		return -1;
	return decoder.zeros && !decoder.text
		       ? error_set(err, EINVAL,
				   "%.120s is no text: it has nothing but "
				   "zeros",
				   source.name)
		       : 0;
}

int file_reader_keep(const void *piece, size_t size, void *arg,
		     struct error *err)
{
	struct buffer *kept = arg;
	size_t left = kept->limit - kept->size;

	return buffer_append(kept, piece, size < left ? size : left, err);
}
