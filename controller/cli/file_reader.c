/* file_reader.c - reads a text file of any size in pieces.
 */
#include "controller/cli/file_reader.h"

#include "controller/cli/text_decoder.h"
#include "protocol/base/buffer.h"

#include <archive.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

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

/* gzip, xz, zstd, bzip2. */
static bool is_compressed(const struct source *source)
{
	static const struct {
		const char *mark;
		size_t size;
	} marks[] = { { "\x1f\x8b", 2 },
		      { "\xfd"
			"7zXZ",
			5 },
		      { "\x28\xb5\x2f\xfd", 4 },
		      { "BZh", 3 } };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (source->size > marks[i].size &&
		    !memcmp(source->piece, marks[i].mark, marks[i].size))
			return true;
	return false;
}

static int read_compressed(struct source *source, struct text_decoder *decoder,
			   struct error *err)
{
	owned(file_reader_close) struct archive *archive = archive_read_new();
	owned_free char *text = malloc(PIECE);
	struct archive_entry *entry;
	la_ssize_t got = -1;

	if (!archive || !text)
		return error_nomem(err, source->name);
	/* Only those that run no other program. */
	archive_read_support_filter_gzip(archive);
	archive_read_support_filter_xz(archive);
	archive_read_support_filter_zstd(archive);
	archive_read_support_filter_bzip2(archive);
	archive_read_support_format_raw(archive);
	if (archive_read_open(archive, source, NULL, source_read, NULL) ==
		    ARCHIVE_OK &&
	    archive_read_next_header(archive, &entry) == ARCHIVE_OK)
		while ((got = archive_read_data(archive, text, PIECE)) > 0)
			if (text_decoder_feed(decoder, text, (size_t)got, err) <
			    0)
				return -1;
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

	if (!piece)
		return error_nomem(err, name);
	if (source.file < 0)
		return error_set(err, EINVAL, "%.120s: %s", name,
				 strerror(errno));
	source_fill(&source);
	return is_compressed(&source) ? read_compressed(&source, &decoder, err)
				      : read_plain(&source, &decoder, err);
}

int file_reader_keep(const void *piece, size_t size, void *arg,
		     struct error *err)
{
	struct buffer *kept = arg;
	size_t left = kept->limit - kept->size;

	return buffer_append(kept, piece, size < left ? size : left, err);
}
