/* logcut.h - the middle of a log that was cut out, and what stands in its
 * place.
 *
 * A cut takes no byte out of the file's length, so that every offset behind it
 * stays what it was: the space is given back to the file system as a hole, and
 * where the hole begins one line says how much is missing. `<stream>.cut`
 * beside the log holds from where to where, as one line of JSON; it is written,
 * and durable, before anything is taken away. What a crash left undone in
 * between logcut_open() does: nothing before `from` or from `to` on is ever
 * touched.
 */
#ifndef CONTROLLER_LOGS_LOGCUT_H
#define CONTROLLER_LOGS_LOGCUT_H

#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stdint.h>

/* Bytes that are given back in one call, some 2 ms on ext4. */
#define LOGCUT_STEP (8 << 20)

struct logcut {
	uint64_t from; /* of the line that says so */
	uint64_t to;   /* what stays goes on here; 0: nothing was cut */
	int64_t time_ms;
	uint64_t resume; /* behind that line */
};

/* Read what the file at path in the folder says of the open log of `length`
 * bytes, and finish it. No such file is success, and no cut. EIO: the file says
 * what cannot be.
 */
int logcut_open(int folder, const char *path, int log, uint64_t length,
		struct logcut *cut, struct error *err);

/* The same, without the log; nothing is finished, and resume is 0. */
int logcut_peek(int folder, const char *path, struct logcut *cut,
		struct error *err);

/* Cut out what lies between the first `head` bytes, or what was cut before, and
 * offset `to`; whole lines stay where lines are shorter than 64 KiB. No more
 * than LOGCUT_STEP bytes at once: *freed says how many went, 0: there is
 * nothing to cut. On failure everything is as before, or finished by the next
 * logcut_open(). EOPNOTSUPP: the file system cannot make holes.
 */
int logcut_extend(int folder, const char *path, int log, uint64_t head,
		  uint64_t to, struct logcut *cut, uint64_t *freed,
		  struct error *err);

/* Where reading goes on that has come to *offset, and how many of `size` bytes
 * there are without a cut between them.
 */
uint64_t logcut_skip(const struct logcut *cut, uint64_t *offset, uint64_t size);

/* Add "cut": {"bytes", "time_ms"} to what is said of the log, when it is so. */
void logcut_describe(const struct logcut *cut, cJSON *to);

/* Give the space of the first bytes that have any back, LOGCUT_STEP of them: 1
 * while there may be more. For a log that is going to be removed.
 */
int logcut_empty(int log, struct error *err);

#endif
