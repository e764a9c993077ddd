/* tarball.h - packs a folder into a tar stream that is the same everywhere.
 *
 * For build contexts and workspaces. Names are sorted by their bytes, times are
 * 0, owner is root, modes are 0755 (folders, and files with any x bit) or 0644:
 * the same blob gives the same bytes on every machine. Symbolic links are
 * kept as they are and never followed; a socket, FIFO or device is refused. The
 * stream is made as it is read, 64 KiB of a file at a time, so a folder of any
 * size needs little memory: names of a folder at a time, at most
 * TARBALL_ENTRIES_MAX in all, TARBALL_DEPTH_MAX deep.
 *
 * err->code: EINVAL for what cannot be packed, also a folder that is not
 * there; EIO for a file that changed meanwhile; never ENOENT.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/blob/ignore.h"

#include <archive.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TARBALL_ENTRIES_MAX 2000000
#define TARBALL_DEPTH_MAX 64

struct tarball;

/* ignore: what is left out, borrowed; or NULL. */
struct tarball *tarball_new(const char *folder, const struct ignore *ignore,
			    struct error *err);
void tarball_free(struct tarball *tarball);
OWNED_POINTER(struct tarball, tarball_free)

/* The next bytes, at most size, not 0: what a source of an upload is, with the
 * tarball as its arg. 0: the end; -1 with *err set, then and from then on.
 */
ssize_t tarball_read(void *tarball, void *buffer, size_t size,
		     struct error *err);

/* Bytes that were read so far. */
uint64_t tarball_size(const struct tarball *tarball);

/* SHA-256 of the whole stream, as hex; "" before its end was read. */
const char *tarball_hash(const struct tarball *tarball);

/* A writer of tar streams in the same format (archive_write(3)), whose bytes go
 * to put(arg). any_names: names may be other bytes than UTF-8; each entry then
 * has a pax header of 1 KiB that says so.
 */
struct archive *tar_writer_new(archive_write_callback *put, void *arg,
			       bool any_names, struct error *err);
