/* sift.c - of a folder's tar stream, the entries that match a pattern.
 *
 * Where an entry ends is found here; what it is called, and how long it is, by
 * libarchive, which gets one head after another: the header of the entry and
 * those that extend it.
 */
#include "agent/content/sift.h"

#include "protocol/base/buffer.h"
#include "protocol/blob/pattern.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#define BLOCK 512
/* Where a header says how many bytes follow, and what it is. Source: POSIX.1,
 * pax, "ustar Interchange Format".
 */
#define SIZE_AT 124
#define SIZE_DIGITS 11
#define TYPE_AT 156

struct sift {
	char pattern[PATTERN_MAX + 1];
	uint64_t read, read_max;
	sift_out_fn *out;
	void *arg;
	struct buffer head; /* of an entry, as far as it came */
	size_t header;      /* where in it the last header begins */
	size_t want;        /* bytes of it */
	uint64_t left;      /* of the entry's data, padded */
	bool passes;
	bool ended;
	char base[NAME_MAX + 1]; /* the folder's own name in all names */
	bool based;
	uint64_t kept, links_lost;
};

static void reader_free(struct archive *in)
{
	archive_read_free(in);
}
OWNED_POINTER(struct archive, reader_free)

static void next_head(struct sift *sift)
{
	buffer_consume(&sift->head, sift->head.size);
	sift->header = 0;
	sift->want = BLOCK;
}

/* "a//b/" is "a/b". */
static void squeeze(char *pattern)
{
	char *to = pattern;

	for (const char *from = pattern; *from; from++)
		if (*from != '/' || (to > pattern && to[-1] != '/'))
			*to++ = *from;
	if (to > pattern && to[-1] == '/')
		to--;
	*to = 0;
}

struct sift *sift_new(const char *pattern, uint64_t read_max, sift_out_fn *out,
		      void *arg, struct error *err)
{
	owned(sift_free) struct sift *sift = NULL;

	if (pattern_check(pattern, err) < 0)
		return NULL;
	sift = calloc(1, sizeof(*sift));
	if (!sift) {
		error_nomem(err, "tar");
		return NULL;
	}
	snprintf(sift->pattern, sizeof(sift->pattern), "%s", pattern);
	squeeze(sift->pattern);
	sift->read_max = read_max;
	sift->out = out;
	sift->arg = arg;
	buffer_init(&sift->head, SIFT_HEAD_MAX);
	next_head(sift);
	return take(sift);
}

void sift_free(struct sift *sift)
{
	if (!sift)
		return;
	buffer_clear(&sift->head);
	free(sift);
}

static int not_ours(struct error *err, const char *what)
{
	return error_set(err, EPROTO, "no tar file of a folder: %s", what);
}

/* The folder itself, or the link that is in its place. */
static int take_base(struct sift *sift, const char *name, mode_t type,
		     const char *target, struct error *err)
{
	size_t size = strlen(name);

	if (type == AE_IFLNK)
		return error_set(err, ENOTDIR,
				 "it is a link to %.80s, and no folder",
				 target);
	if (type != AE_IFDIR)
		return error_set(err, ENOTDIR, "it is no folder");
	while (size && name[size - 1] == '/')
		size--;
	if (size > NAME_MAX || memchr(name, '/', size))
		return not_ours(err, "it begins with another name");
	memcpy(sift->base, name, size);
	sift->based = true;
	return 0;
}

/* The name below the folder; NULL: it lies elsewhere. */
static const char *below(const struct sift *sift, const char *name)
{
	size_t size = strlen(sift->base);

	if (strncmp(name, sift->base, size) != 0 || name[size] != '/')
		return NULL;
	return name + size + 1;
}

/* It, or a folder that it lies in. */
static bool matches(const struct sift *sift, const char *name)
{
	char path[PATH_MAX];
	size_t used = 0;

	for (;;) {
		size_t size = strcspn(name, "/");

		if (used + size + 2 > sizeof(path))
			return false;
		memcpy(path + used, name, size);
		used += size;
		path[used] = 0;
		if (pattern_match(sift->pattern, path, FNM_PERIOD))
			return true;
		name += size;
		name += strspn(name, "/");
		if (!*name)
			return false;
		path[used++] = '/';
	}
}

static int choose(struct sift *sift, const char *name, const char *link,
		  struct error *err)
{
	const char *target = link ? below(sift, link) : NULL;

	name = below(sift, name);
	if (!name)
		return not_ours(err, "a name is not below it");
	sift->passes = *name && matches(sift, name);
	if (sift->passes && link && (!target || !matches(sift, target))) {
		sift->links_lost++;
		sift->passes = false;
	}
	sift->kept += sift->passes;
	return 0;
}

/* In a locale without the name's letters only the other one has it. */
static const char *name_of(struct archive_entry *entry)
{
	const char *name = archive_entry_pathname(entry);

	return name ? name : archive_entry_pathname_utf8(entry);
}

static const char *link_of(struct archive_entry *entry)
{
	const char *name = archive_entry_hardlink(entry);

	return name ? name : archive_entry_hardlink_utf8(entry);
}

static const char *target_of(struct archive_entry *entry)
{
	const char *name = archive_entry_symlink(entry);

	name = name ? name : archive_entry_symlink_utf8(entry);
	return name ? name : "";
}

/* The head is whole: what does it say? */
static int take_head(struct sift *sift, struct error *err)
{
	owned(reader_free) struct archive *in = archive_read_new();
	struct archive_entry *entry;
	const char *name, *link;
	mode_t type;
	int rc;

	if (!in)
		return error_nomem(err, "tar");
	if (archive_read_support_format_tar(in) != ARCHIVE_OK ||
	    archive_read_open_memory(in, sift->head.data, sift->head.size) !=
		    ARCHIVE_OK)
		return not_ours(err, archive_error_string(in));
	rc = archive_read_next_header(in, &entry);
	if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
		return not_ours(err, rc == ARCHIVE_EOF
					     ? "it ends"
					     : archive_error_string(in));
	name = name_of(entry);
	link = link_of(entry);
	type = archive_entry_filetype(entry);
	if (!name)
		return not_ours(err, "an entry without a name");
	if (!link && type == AE_IFREG) {
		int64_t size = archive_entry_size(entry);

		if (size < 0 || size > INT64_MAX - BLOCK)
			return not_ours(err, "a file of no size");
		sift->left = ((uint64_t)size + BLOCK - 1) / BLOCK * BLOCK;
	}
	rc = sift->based ? choose(sift, name, link, err)
			 : take_base(sift, name, link ? AE_IFREG : type,
				     target_of(entry), err);
	if (rc < 0)
		return -1;
	if (sift->passes &&
	    sift->out(sift->arg, sift->head.data, sift->head.size, err) < 0)
		return -1;
	next_head(sift);
	return 0;
}

/* How much follows a header that extends the next one. */
static int extra_size(const char *header, size_t *size, struct error *err)
{
	*size = 0;
	for (int i = 0; i < SIZE_DIGITS; i++) {
		char c = header[SIZE_AT + i];

		if (!c || c == ' ')
			break;
		if (c < '0' || c > '7')
			return not_ours(err, "a header without its size");
		*size = *size * 8 + (size_t)(c - '0');
	}
	*size = (*size + BLOCK - 1) / BLOCK * BLOCK;
	return 0;
}

/* All that is wanted of the head is there. */
static int head_full(struct sift *sift, struct error *err)
{
	static const char zero[BLOCK];
	const char *header = sift->head.data + sift->header;
	char type = header[TYPE_AT];
	size_t extra;

	if (!memcmp(header, zero, BLOCK)) {
		if (sift->header)
			return not_ours(err, "it ends");
		sift->ended = true;
		return 0;
	}
	if (!type || !strchr("xgLK", type))
		return take_head(sift, err);
	if (extra_size(header, &extra, err) < 0)
		return -1;
	if (extra > SIFT_HEAD_MAX - BLOCK ||
	    sift->want > SIFT_HEAD_MAX - BLOCK - extra)
		return error_set(err, E2BIG,
				 "an entry whose name takes more than %d bytes",
				 SIFT_HEAD_MAX);
	sift->header = sift->want + extra;
	sift->want += extra + BLOCK;
	return 0;
}

static int feed_head(struct sift *sift, const char *data, size_t size,
		     struct error *err)
{
	if (buffer_append(&sift->head, data, size, err) < 0)
		return -1;
	return sift->head.size == sift->want ? head_full(sift, err) : 0;
}

int sift_feed(struct sift *sift, const void *data, size_t size,
	      struct error *err)
{
	const char *from = data;

	sift->read += size;
	if (sift->read > sift->read_max)
		return error_set(err, E2BIG,
				 "more than %" PRIu64 " bytes lie in that "
				 "folder: name one further down",
				 sift->read_max);
	while (size && !sift->ended) {
		bool head = !sift->left;
		uint64_t want =
			head ? sift->want - sift->head.size : sift->left;
		size_t some = size < want ? size : (size_t)want;

		sift->left -= head ? 0 : some;
		if (head ? feed_head(sift, from, some, err) < 0
			 : sift->passes &&
				    sift->out(sift->arg, from, some, err) < 0)
			return -1;
		from += some;
		size -= some;
	}
	return 0;
}

int sift_end(struct sift *sift, struct error *err)
{
	static const char end[2 * BLOCK];

	if (!sift->ended)
		return not_ours(err, "it is cut short");
	if (!sift->kept)
		return error_set(err, ENOENT, "nothing there matches");
	return sift->out(sift->arg, end, sizeof(end), err);
}

uint64_t sift_links_lost(const struct sift *sift)
{
	return sift->links_lost;
}
