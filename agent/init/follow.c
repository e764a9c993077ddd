/* follow.c - copies what is written to files of the container to its streams.
 */
#include "agent/init/follow.h"
#include "agent/init/earlier_files.h"
#include "agent/init/glob.h"
#include "agent/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK (256 << 10)

/* One part of a followed file. While it is open its inode cannot be given to
 * another file.
 */
struct part {
	char *path;
	char stream[INIT_NAME_MAX + 1];
	dev_t device;
	ino_t inode;
	int from, to; /* -1: superseded by the next part */
	unsigned number;
	uint64_t begin;  /* bytes that were there before the command */
	uint64_t copied; /* bytes behind these */
	uint64_t left;   /* bytes not copied at the end */
	int error;       /* errno value of the last try to copy, 0: none */
};

struct follow {
	const struct start *start;
	struct index_writer *index;
	struct earlier_files *earlier;
	struct part parts[INIT_FOLLOW_MAX];
	uint32_t count;
	uint32_t turn; /* the part that is copied first */
	char folder[PATH_MAX];
	char block[BLOCK];
	bool full;         /* a file had no place among the parts */
	char trouble[240]; /* the first; "": none */
};

static void part_close(struct part *part)
{
	if (part->from >= 0)
		close(part->from);
	if (part->to >= 0)
		close(part->to);
	part->from = part->to = -1;
}

void follow_free(struct follow *follow)
{
	if (!follow)
		return;
	for (uint32_t i = 0; i < follow->count; i++) {
		part_close(&follow->parts[i]);
		free(follow->parts[i].path);
	}
	earlier_files_free(follow->earlier);
	free(follow);
}

static void trouble(struct follow *follow, const char *path, const char *text)
{
	if (!follow->trouble[0])
		snprintf(follow->trouble, sizeof(follow->trouble),
			 "%.100s: %.120s", path, text);
}

static const struct part *part_named(const struct follow *follow,
				     const char *stream)
{
	for (uint32_t i = 0; i < follow->count; i++) {
		if (!strcmp(follow->parts[i].stream, stream))
			return &follow->parts[i];
	}
	return NULL;
}

/* "node-0.out-train.log". Of a long path only the end is used. */
static void name_part(const struct follow *follow, const char *path,
		      char name[INIT_NAME_MAX + 1])
{
	enum { TAIL = 5 }; /* "-128" */
	size_t folder = strlen(follow->folder);
	size_t used = (size_t)snprintf(name, INIT_NAME_MAX + 1, "node-%llu.",
				       (unsigned long long)follow->index->node);
	size_t room = INIT_NAME_MAX - TAIL - used, length;

	if (!strncmp(path, follow->folder, folder) && path[folder] == '/')
		path += folder;
	path += strspn(path, "/");
	length = strlen(path);
	if (length > room)
		path += length - room;
	for (; *path; path++) {
		char c = *path;

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		else if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789._-", c))
			c = '-';
		name[used++] = c;
	}
	name[used] = 0;
	for (unsigned i = 2; part_named(follow, name); i++)
		snprintf(name + used, TAIL, "-%u", i);
}

/* Begin a stream for the bytes of the open file from `begin` on. The descriptor
 * is taken over.
 */
static void part_add(struct follow *follow, const char *path, int from,
		     const struct stat *stat, uint64_t begin)
{
	struct part *part = &follow->parts[follow->count];
	struct error why = { 0 };

	*part = (struct part){ .from = from, .to = -1, .number = 1 };
	part->device = stat->st_dev;
	part->inode = stat->st_ino;
	part->begin = begin;
	part->path = strdup(path);
	for (uint32_t i = 0; part->path && i < follow->count; i++)
		part->number += !strcmp(follow->parts[i].path, path);
	name_part(follow, path, part->stream);
	if (part->path)
		part->to = index_writer_follow(follow->index, part->stream,
					       path, part->number, &why);
	if (part->to >= 0) {
		follow->count++;
		return;
	}
	/* The next scan tries again. */
	trouble(follow, path, part->path ? why.text : "out of memory");
	part_close(part);
	free(part->path);
}

/* Is it followed already, or one of the streams? */
static bool is_known(const struct follow *follow, const struct stat *stat)
{
	struct stat own;

	for (uint32_t i = 0; i < follow->count; i++) {
		const struct part *part = &follow->parts[i];

		if (part->from < 0)
			continue;
		if ((part->device == stat->st_dev &&
		     part->inode == stat->st_ino) ||
		    (fstat(part->to, &own) == 0 && own.st_dev == stat->st_dev &&
		     own.st_ino == stat->st_ino))
			return true;
	}
	return false;
}

/* glob_fn. Only what is a regular file is opened: opening a device may do
 * something.
 */
static void follow_file_found(void *arg, const char *path)
{
	struct follow *follow = arg;
	struct stat stat_;
	uint64_t begin;
	int from;

	if (stat(path, &stat_) < 0 || !S_ISREG(stat_.st_mode) ||
	    earlier_files_unchanged(follow->earlier, &stat_) ||
	    is_known(follow, &stat_))
		return;
	follow->full |= follow->count == INIT_FOLLOW_MAX;
	if (follow->full)
		return;
	from = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (from < 0 && errno != ENOENT)
		trouble(follow, path, strerror(errno));
	if (from < 0)
		return;
	if (fstat(from, &stat_) < 0 || !S_ISREG(stat_.st_mode) ||
	    is_known(follow, &stat_)) {
		close(from);
		return;
	}
	begin = earlier_files_size(follow->earlier, from, &stat_);
	if (begin && begin == (uint64_t)stat_.st_size)
		close(from); /* touched, but nothing is new */
	else
		part_add(follow, path, from, &stat_, begin);
}

/* glob_fn */
static void was_there(void *arg, const char *path)
{
	struct follow *follow = arg;

	earlier_files_add(follow->earlier, path);
}

static void walk_patterns(struct follow *follow, glob_fn *fn)
{
	size_t entries = GLOB_ENTRIES_MAX;

	for (size_t i = 0; i < follow->start->follow.count; i++) {
		const char *pattern = follow->start->follow.items[i];
		char path[2 * PATH_MAX];

		snprintf(path, sizeof(path), "%s/%.*s",
			 *pattern == '/' ? "" : follow->folder, PATH_MAX - 2,
			 pattern);
		if (!glob_walk(path, &entries, fn, follow))
			trouble(follow, pattern, "too many names to search");
	}
}

struct follow *follow_new(const struct start *start, struct index_writer *index)
{
	struct follow *follow = calloc(1, sizeof(*follow));

	if (follow)
		follow->earlier = earlier_files_new();
	if (!follow || !follow->earlier) {
		free(follow);
		return NULL;
	}
	follow->start = start;
	follow->index = index;
	if (!getcwd(follow->folder, sizeof(follow->folder)) ||
	    !strcmp(follow->folder, "/"))
		follow->folder[0] = 0;
	walk_patterns(follow, was_there);
	if (earlier_files_sort(follow->earlier))
		return follow;
	follow_free(follow);
	return NULL;
}

void follow_scan(struct follow *follow)
{
	walk_patterns(follow, follow_file_found);
}

/* The file got shorter: what is in it now is the next part. */
static void part_renew(struct follow *follow, struct part *part,
		       const struct stat *stat)
{
	int from = part->from;

	follow->full |= follow->count == INIT_FOLLOW_MAX;
	if (follow->full)
		return;
	part->from = -1;
	part_close(part);
	part_add(follow, part->path, from, stat, 0);
}

/* Copy up to *room bytes. Returns how many. */
static uint64_t part_copy(struct follow *follow, struct part *part,
			  uint64_t room)
{
	uint64_t done = 0;

	part->error = 0;
	while (done < room) {
		size_t size = room - done < BLOCK ? (size_t)(room - done)
						  : (size_t)BLOCK;
		ssize_t got = pread(part->from, follow->block, size,
				    (off_t)(part->begin + part->copied));
		ssize_t put;

		put = got > 0 ? write(part->to, follow->block, (size_t)got)
			      : got;
		if (put < 0)
			part->error = errno;
		if (put <= 0)
			break;
		part->copied += (uint64_t)put;
		done += (uint64_t)put;
		if (put < got)
			break;
	}
	return done;
}

bool follow_copy(struct follow *follow, uint64_t *room)
{
	uint64_t budget = FOLLOW_CHUNK;
	uint32_t count = follow->count; /* parts that begin now wait */
	bool more = false;

	for (uint32_t i = 0; i < count && budget && *room; i++) {
		struct part *part = &follow->parts[follow->turn++ % count];
		struct stat stat;
		uint64_t size, have, done;

		if (part->from < 0 || fstat(part->from, &stat) < 0)
			continue;
		size = (uint64_t)stat.st_size;
		have = part->begin + part->copied;
		if (size < have) {
			part_renew(follow, part, &stat);
			more = true;
		}
		if (size <= have)
			continue;
		done = part_copy(follow, part, budget < *room ? budget : *room);
		budget -= done;
		*room -= done;
		/* If nothing was copied, another call would not help. */
		more |= done && have + done < size;
	}
	return (more || !budget) && *room;
}

/* A file is copied up to its present size: other hosts may still write to it.
 */
void follow_finish(struct follow *follow, uint64_t *room)
{
	struct stat stat;

	/* Earlier trouble may be over; what remains is found again. */
	follow->trouble[0] = 0;
	follow_scan(follow);
	for (uint32_t i = 0; i < follow->count; i++) {
		struct part *part = &follow->parts[i];
		uint64_t size, done;

		if (part->from < 0 || fstat(part->from, &stat) < 0)
			continue;
		size = (uint64_t)stat.st_size;
		if (size < part->begin + part->copied) {
			part_renew(follow, part, &stat); /* comes later */
			continue;
		}
		size -= part->begin + part->copied;
		done = part_copy(follow, part, size < *room ? size : *room);
		*room -= done;
		part->left = size - done;
		if (part->error)
			trouble(follow, part->path, strerror(part->error));
	}
	if (follow->full)
		snprintf(follow->trouble, sizeof(follow->trouble),
			 "more files match than the %d that can be "
			 "followed",
			 INIT_FOLLOW_MAX);
}

uint32_t follow_count(const struct follow *follow)
{
	return follow->count;
}

uint64_t follow_left(const struct follow *follow)
{
	uint64_t left = 0;

	for (uint32_t i = 0; i < follow->count; i++)
		left += follow->parts[i].left;
	return left;
}

const char *follow_trouble(const struct follow *follow)
{
	return follow->trouble;
}
