/* tar_filter.c - the entries of a folder's tar stream that match a pattern.
 *
 * Where an entry ends is found here; what it is called, and how long it is, by
 * libarchive, which gets one head after another: the header of the entry and
 * those that extend it.
 */
#include "agent/blobs/tar_filter.h"

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
/* Places of the size and the type in a header. Source: POSIX.1, pax, "ustar
 * Interchange Format".
 */
#define SIZE_AT 124
#define SIZE_DIGITS 11
#define TYPE_AT 156

struct tar_filter {
	char pattern[PATTERN_MAX + 1];
	uint64_t read, read_max;
	tar_filter_out_fn *out;
	void *arg;
	struct buffer head; /* of the present entry, as received so far */
	size_t header;      /* offset of its last header */
	size_t want;        /* bytes that the head has, as known so far */
	uint64_t left; /* bytes of the entry's data still to come, padded */
	bool passes;
	bool ended;
	char base[NAME_MAX + 1]; /* the folder: all names begin with it */
	bool based;
	uint64_t kept, links_lost;
};

static void reader_free(struct archive *in)
{
	archive_read_free(in);
}
OWNED_POINTER(struct archive, reader_free)

static void next_head(struct tar_filter *filter)
{
	buffer_consume(&filter->head, filter->head.size);
	filter->header = 0;
	filter->want = BLOCK;
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

struct tar_filter *tar_filter_new(const char *pattern, uint64_t read_max,
				  tar_filter_out_fn *out, void *arg,
				  struct error *err)
{
	owned(tar_filter_free) struct tar_filter *filter = NULL;

	if (pattern_check(pattern, err) < 0)
		return NULL;
	filter = error_calloc(sizeof(*filter), "tar", err);
	if (!filter)
		return NULL;
	snprintf(filter->pattern, sizeof(filter->pattern), "%s", pattern);
	squeeze(filter->pattern);
	filter->read_max = read_max;
	filter->out = out;
	filter->arg = arg;
	buffer_init(&filter->head, TAR_FILTER_HEAD_MAX);
	next_head(filter);
	return take(filter);
}

void tar_filter_free(struct tar_filter *filter)
{
	if (!filter)
		return;
	buffer_clear(&filter->head);
	free(filter);
}

static int tar_filter_refuse(struct error *err, const char *what)
{
	return error_set(err, EPROTO, "not a tar file of a folder: %s",
			 what ? what : "broken");
}

/* The first entry: the folder itself, or a link in its place. */
static int take_base(struct tar_filter *filter, const char *name, mode_t type,
		     const char *target, struct error *err)
{
	size_t size = strlen(name);

	if (type == AE_IFLNK)
		return error_set(err, ENOTDIR,
				 "it is a link to %.80s, not a folder", target);
	if (type != AE_IFDIR)
		return error_set(err, ENOTDIR, "it is not a folder");
	while (size && name[size - 1] == '/')
		size--;
	if (size > NAME_MAX || memchr(name, '/', size))
		return tar_filter_refuse(err,
					 "it starts with a different name");
	memcpy(filter->base, name, size);
	filter->based = true;
	return 0;
}

/* The name below the folder; NULL: it is outside. */
static const char *filter_strip_base(const struct tar_filter *filter,
				     const char *name)
{
	size_t size = strlen(filter->base);

	if (strncmp(name, filter->base, size) != 0 || name[size] != '/')
		return NULL;
	return name + size + 1;
}

/* Does the name match, or a folder above it? */
static bool matches(const struct tar_filter *filter, const char *name)
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
		if (pattern_match(filter->pattern, path, FNM_PERIOD))
			return true;
		name += size;
		name += strspn(name, "/");
		if (!*name)
			return false;
		path[used++] = '/';
	}
}

static int tar_filter_choose(struct tar_filter *filter, const char *name,
			     const char *link, struct error *err)
{
	const char *target = link ? filter_strip_base(filter, link) : NULL;

	name = filter_strip_base(filter, name);
	if (!name)
		return tar_filter_refuse(err,
					 "it contains a path outside of it");
	filter->passes = *name && matches(filter, name);
	if (filter->passes && link && (!target || !matches(filter, target))) {
		filter->links_lost++;
		filter->passes = false;
	}
	filter->kept += filter->passes;
	return 0;
}

/* The first form is NULL if the locale lacks letters of the name. */
static const char *tar_filter_read_name(struct archive_entry *entry)
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

/* Read a complete head. */
static int tar_filter_take_head(struct tar_filter *filter, struct error *err)
{
	owned(reader_free) struct archive *in = archive_read_new();
	struct archive_entry *entry;
	const char *name, *link;
	mode_t type;
	int rc;

	if (!in)
		return error_nomem(err, "tar");
	if (archive_read_support_format_tar(in) != ARCHIVE_OK ||
	    archive_read_open_memory(in, filter->head.data,
				     filter->head.size) != ARCHIVE_OK)
		return tar_filter_refuse(err, archive_error_string(in));
	rc = archive_read_next_header(in, &entry);
	if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
		return tar_filter_refuse(err,
					 rc == ARCHIVE_EOF
						 ? "it ends"
						 : archive_error_string(in));
	name = tar_filter_read_name(entry);
	link = link_of(entry);
	type = archive_entry_filetype(entry);
	if (!name)
		return tar_filter_refuse(err, "an entry has no name");
	if (!link && type == AE_IFREG) {
		int64_t size = archive_entry_size(entry);

		if (size < 0 || size > INT64_MAX - BLOCK)
			return tar_filter_refuse(err, "a file has no size");
		filter->left = ((uint64_t)size + BLOCK - 1) / BLOCK * BLOCK;
	}
	rc = filter->based ? tar_filter_choose(filter, name, link, err)
			   : take_base(filter, name, link ? AE_IFREG : type,
				       target_of(entry), err);
	if (rc < 0)
		return -1;
	if (filter->passes && filter->out(filter->arg, filter->head.data,
					  filter->head.size, err) < 0)
		return -1;
	next_head(filter);
	return 0;
}

/* Bytes that follow a header which extends the next one. */
static int extra_size(const char *header, size_t *size, struct error *err)
{
	*size = 0;
	for (int i = 0; i < SIZE_DIGITS; i++) {
		char c = header[SIZE_AT + i];

		if (!c || c == ' ')
			break;
		if (c < '0' || c > '7')
			return tar_filter_refuse(err, "a header has no size");
		*size = *size * 8 + (size_t)(c - '0');
	}
	*size = (*size + BLOCK - 1) / BLOCK * BLOCK;
	return 0;
}

/* The wanted bytes of the head have arrived. */
static int head_full(struct tar_filter *filter, struct error *err)
{
	static const char zero[BLOCK];
	const char *header = filter->head.data + filter->header;
	char type = header[TYPE_AT];
	size_t extra;

	if (!memcmp(header, zero, BLOCK)) {
		if (filter->header)
			return tar_filter_refuse(err, "it ends");
		filter->ended = true;
		return 0;
	}
	if (!type || !strchr("xgLK", type))
		return tar_filter_take_head(filter, err);
	if (extra_size(header, &extra, err) < 0)
		return -1;
	if (extra > TAR_FILTER_HEAD_MAX - BLOCK ||
	    filter->want > TAR_FILTER_HEAD_MAX - BLOCK - extra)
		return error_set(err, E2BIG,
				 "the name of an entry has more than %d bytes",
				 TAR_FILTER_HEAD_MAX);
	filter->header = filter->want + extra;
	filter->want += extra + BLOCK;
	return 0;
}

static int feed_head(struct tar_filter *filter, const char *data, size_t size,
		     struct error *err)
{
	if (buffer_append(&filter->head, data, size, err) < 0)
		return -1;
	return filter->head.size == filter->want ? head_full(filter, err) : 0;
}

int tar_filter_feed(struct tar_filter *filter, const void *data, size_t size,
		    struct error *err)
{
	const char *from = data;

	filter->read += size;
	if (filter->read > filter->read_max)
		return error_set(err, E2BIG,
				 "the folder contains more than %" PRIu64
				 " bytes; name one of its subfolders",
				 filter->read_max);
	while (size && !filter->ended) {
		bool head = !filter->left;
		uint64_t want =
			head ? filter->want - filter->head.size : filter->left;
		size_t some = size < want ? size : (size_t)want;

		filter->left -= head ? 0 : some;
		if (head ? feed_head(filter, from, some, err) < 0
			 : filter->passes && filter->out(filter->arg, from,
							 some, err) < 0)
			return -1;
		from += some;
		size -= some;
	}
	return 0;
}

int tar_filter_end(struct tar_filter *filter, struct error *err)
{
	static const char end[2 * BLOCK];

	if (!filter->ended)
		return tar_filter_refuse(err, "it is truncated");
	if (!filter->kept)
		return error_set(err, ENOENT, "nothing matches");
	return filter->out(filter->arg, end, sizeof(end), err);
}

uint64_t tar_filter_links_lost(const struct tar_filter *filter)
{
	return filter->links_lost;
}
