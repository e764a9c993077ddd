/* log_store.h - stores the output of jobs in append-only files.
 *
 * `<folder>/logs/<job>/<attempt>/<stream>.log` holds the bytes of one stream,
 * exactly as written. Its length is the cursor of the stream: an append must
 * continue at exactly that byte, else it is refused with the length. So after
 * any crash on either side no byte is lost and none is there twice.
 * `<stream>.times` beside it (log_store.c) says when bytes arrived; a stream
 * that came within LOG_TIMES_MS has none.
 *
 * All files are 0600, folders 0700. A stream's name is
 * [a-z0-9][a-z0-9._-]{0,63} (else EPROTO: names come from peers); job and
 * attempt are 1 or more. Files stay open: at most LOG_STORE_OPEN_MAX streams
 * (two descriptors each); the least recently used is closed first. The store
 * must be the only writer of its folder.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stddef.h>
#include <stdint.h>

#define LOG_STORE_OPEN_MAX 256      /* streams held open */
#define LOG_STORE_STREAMS_MAX 16384 /* streams per job and attempt */
#define LOG_STORE_NAME_MAX 64       /* bytes in a stream's name */

struct log_store;

/* The folder must exist; `logs` below it is made. */
struct log_store *log_store_new(const char *folder, struct error *err);
void log_store_free(struct log_store *store);
OWNED_POINTER(struct log_store, log_store_free)

/* Append size bytes at `offset` of the stream, which is made if it does not
 * exist. now_ms is the wall clock (clock_wall_ms()).
 *
 * *length (never NULL) is the stream's length after the call, also on failure
 * (0: the stream could not be opened):
 *   0       all bytes are written; *length == offset + size
 *   EINVAL  offset is not the present length, *length; nothing is written
 *   ENOSPC  the disk (or a quota) is full: bytes up to *length are written and
 *           stay; continue there later
 *   EPROTO  a name that is not valid; E2BIG: more than LOG_STORE_STREAMS_MAX
 *           streams; EIO ...
 * Not durable until log_store_sync().
 */
int log_store_append(struct log_store *store, uint64_t job, uint32_t attempt,
		     const char *stream, uint64_t offset, const void *data,
		     size_t size, int64_t now_ms, uint64_t *length,
		     struct error *err);

/* Write the first bytes of a stream again, whether or not they are there. */
int log_store_restore(struct log_store *store, uint64_t job, uint32_t attempt,
		      const char *stream, const void *data, size_t size,
		      struct error *err);

/* The stream's length; 0 when there is no such stream. */
int log_store_length(struct log_store *store, uint64_t job, uint32_t attempt,
		     const char *stream, uint64_t *length, struct error *err);

/* Read up to size bytes at offset; *got is 0 only at the end or behind it.
 * ENOENT: no such stream.
 */
int log_store_read(struct log_store *store, uint64_t job, uint32_t attempt,
		   const char *stream, uint64_t offset, void *data, size_t size,
		   size_t *got, struct error *err);

/* When the byte at offset arrived: wall clock ms of the last time record at or
 * before it; 0: unknown. ENOENT: no such stream.
 */
int log_store_time_at(struct log_store *store, uint64_t job, uint32_t attempt,
		      const char *stream, uint64_t offset, int64_t *time_ms,
		      struct error *err);

/* Call fn for each stream, with numbers in names in numeric order (rank-2
 * before rank-10). fn returns 0 to continue; any other value ends the walk and
 * is returned. No such job or attempt: success without a call.
 */
typedef int log_store_stream_fn(const char *stream, uint64_t length, void *arg);
int log_store_streams(struct log_store *store, uint64_t job, uint32_t attempt,
		      log_store_stream_fn *fn, void *arg, struct error *err);

/* Make all streams of the attempt, and their names, survive a power cut.
 * Blocks while the disk works.
 */
int log_store_sync(struct log_store *store, uint64_t job, uint32_t attempt,
		   struct error *err);

/* Remove all files of an attempt that has ended. *freed grows by the bytes
 * freed on disk. Returns at until_ms (clock_mono_ms()) at the latest; 1: there
 * is more to do.
 */
int log_store_remove(struct log_store *store, uint64_t job, uint32_t attempt,
		     int64_t until_ms, uint64_t *freed, struct error *err);

/* Bytes on disk of all files of the attempt. */
int log_store_usage(struct log_store *store, uint64_t job, uint32_t attempt,
		    uint64_t *bytes, struct error *err);

/* Close the files of an attempt that has ended; it may be used again. */
void log_store_close(struct log_store *store, uint64_t job, uint32_t attempt);
