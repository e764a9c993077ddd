/* follow.h - copies the bytes of followed files to their streams.
 *
 * agent/init/init.h says which files are followed, and the names of streams.
 * Nothing here waits for a writer: files are read up to their present end.
 */
#pragma once

#include "agent/init/index_writer.h"
#include "agent/init/start.h"
#include "protocol/base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define FOLLOW_CHUNK (4 << 20) /* bytes copied in one call, at most */

struct follow;

/* Bytes that matching files have already are not copied. start and index are
 * borrowed. NULL: out of memory.
 */
struct follow *follow_new(const struct start *start,
			  struct index_writer *index);
void follow_free(struct follow *follow); /* NULL is fine */

/* Look for files that match and are not followed yet. */
void follow_scan(struct follow *follow);

/* Copy new bytes, of each file in turn: at most *room bytes, which is reduced
 * by them, and at most FOLLOW_CHUNK. True: there is more.
 */
bool follow_copy(struct follow *follow, uint64_t *room);

/* The last scan and copy, when all processes of the container have ended. */
void follow_finish(struct follow *follow, uint64_t *room);

/* The number of open files. */
uint32_t follow_count(const struct follow *follow);

/* After follow_finish(): bytes that did not fit into *room; and a sentence
 * about other missing bytes ("": none).
 */
uint64_t follow_left(const struct follow *follow);
const char *follow_trouble(const struct follow *follow);
