/* tar_writer.c - writes a tar stream to a file, up to a limit.
 */
#include "agent/init/tar_writer.h"
#include "protocol/base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define BLOCK 512

struct tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12];
	char checksum[8], type, target[100], magic[8];
	char rest[247];
};
_Static_assert(sizeof(struct tar_header) == BLOCK, "as in the standard");

static int tar_flush(struct tar_writer *tar, struct error *err)
{
	size_t size = tar->used;

	tar->used = 0;
	return file_write_all(tar->fd, "tar file", tar->buffer, size, err);
}

static int tar_check_room(const struct tar_writer *tar, uint64_t size,
			  struct error *err)
{
	return size <= tar->limit - tar->bytes
		       ? 0
		       : error_set(err, E2BIG,
				   "too large: more than the %" PRIu64
				   " bytes that are left of collect_limit",
				   tar->limit);
}

int tar_writer_data(struct tar_writer *tar, const void *data, size_t size,
		    struct error *err)
{
	const char *from = data;

	if (tar_check_room(tar, size, err) < 0)
		return -1;
	tar->bytes += size;
	while (size) {
		size_t room = sizeof(tar->buffer) - tar->used;
		size_t some = size < room ? size : room;

		memcpy(tar->buffer + tar->used, from, some);
		tar->used += some;
		from += some;
		size -= some;
		if (tar->used == sizeof(tar->buffer) && tar_flush(tar, err) < 0)
			return -1;
	}
	return 0;
}

int tar_writer_pad(struct tar_writer *tar, uint64_t size, struct error *err)
{
	static const char zeros[BLOCK];

	return tar_writer_data(tar, zeros, (BLOCK - size % BLOCK) % BLOCK, err);
}

/* Octal digits and a 0, or the first bit and the number as binary. */
static void tar_number(char *field, size_t size, uint64_t value)
{
	if (value >> (3 * (size - 1)) == 0) {
		field[size - 1] = 0;
		for (size_t i = size - 1; i-- > 0; value >>= 3)
			field[i] = (char)('0' + (value & 7));
		return;
	}
	for (size_t i = size; i-- > 0; value >>= 8)
		field[i] = (char)(value & 0xff);
	field[0] = (char)0x80;
}

static int tar_header_write(struct tar_writer *tar, struct tar_header *header,
			    struct error *err)
{
	const unsigned char *bytes = (const void *)header;
	unsigned int sum = 0;

	memcpy(header->magic, "ustar  ", sizeof(header->magic));
	memset(header->checksum, ' ', sizeof(header->checksum));
	for (size_t i = 0; i < BLOCK; i++)
		sum += bytes[i];
	tar_number(header->checksum, 7, sum);
	return tar_writer_data(tar, header, BLOCK, err);
}

/* A text that has no room in its field, ahead of the entry. type: 'L', its
 * name; 'K', its target.
 */
static int tar_long_text(struct tar_writer *tar, char type, const char *text,
			 struct error *err)
{
	struct tar_header header = { .name = "././@LongLink", .type = type };
	size_t size = strlen(text) + 1;

	if (size - 1 <= sizeof(header.name))
		return 0;
	tar_number(header.mode, sizeof(header.mode), 0);
	tar_number(header.uid, sizeof(header.uid), 0);
	tar_number(header.gid, sizeof(header.gid), 0);
	tar_number(header.size, sizeof(header.size), size);
	tar_number(header.mtime, sizeof(header.mtime), 0);
	if (tar_header_write(tar, &header, err) < 0 ||
	    tar_writer_data(tar, text, size, err) < 0)
		return -1;
	return tar_writer_pad(tar, size, err);
}

static void tar_text(char field[100], const char *text)
{
	size_t size = strlen(text);

	memcpy(field, text, size < 100 ? size : 100);
}

int tar_writer_entry(struct tar_writer *tar, const char *name,
		     const struct stat *st, const char *target,
		     struct error *err)
{
	struct tar_header header = { .type = '0' };
	int64_t time = st->st_mtim.tv_sec < 0 ? 0 : st->st_mtim.tv_sec;

	if (S_ISREG(st->st_mode) &&
	    tar_check_room(tar, (uint64_t)st->st_size, err) < 0)
		return -1;
	if (tar_long_text(tar, 'L', name, err) < 0 ||
	    (target && tar_long_text(tar, 'K', target, err) < 0))
		return -1;
	tar_text(header.name, name);
	if (target)
		tar_text(header.target, target);
	if (S_ISDIR(st->st_mode))
		header.type = '5';
	else if (S_ISLNK(st->st_mode))
		header.type = '2';
	tar_number(header.mode, sizeof(header.mode), st->st_mode & 0777);
	tar_number(header.uid, sizeof(header.uid), st->st_uid);
	tar_number(header.gid, sizeof(header.gid), st->st_gid);
	tar_number(header.size, sizeof(header.size),
		   header.type == '0' ? (uint64_t)st->st_size : 0);
	tar_number(header.mtime, sizeof(header.mtime), (uint64_t)time);
	return tar_header_write(tar, &header, err);
}

int tar_writer_end(struct tar_writer *tar, struct error *err)
{
	static const char zeros[2 * BLOCK];

	return tar_writer_data(tar, zeros, sizeof(zeros), err) < 0
		       ? -1
		       : tar_flush(tar, err);
}
