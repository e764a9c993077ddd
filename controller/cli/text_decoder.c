/* text_decoder.c - turns the bytes of a text into UTF-8.
 */
#include "controller/cli/text_decoder.h"

#include "protocol/base/utf8.h"

#include <errno.h>
#include <string.h>

#define LOOKED_AT 4096   /* bytes at the start of a file */
#define CONTROL_SHARE 16 /* one control character in so many bytes: no text */
#define ZERO_SHARE 16    /* one zero in so many bytes: UTF-16 */
#define PIECE 4096       /* bytes of UTF-8 that are delivered at once */
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

int text_decoder_feed(struct text_decoder *decoder, const void *piece,
		      size_t size, struct error *err)
{
	const unsigned char *bytes = piece;
	char text[PIECE];
	size_t used = 0;
	int mark = 0;

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
