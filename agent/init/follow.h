/* follow.h - copies what is written to files of the container to its streams.
 *
 * What is followed, and how streams are called, stands in agent/init/init.h.
 * Nothing here waits for a writer: files are read as far as they have come.
 */
#ifndef AGENT_INIT_FOLLOW_H
#define AGENT_INIT_FOLLOW_H

#include "agent/init/index_writer.h"
#include "agent/init/start.h"
#include "agent/init/start_error.h"

#include <stdbool.h>
#include <stdint.h>

#define FOLLOW_CHUNK (4 << 20) /* bytes copied in one call, at most */

struct follow;

/* What the files that match have in them now is not copied. start and index:
 * borrowed. NULL: out of memory.
 */
struct follow *follow_new(const struct start *start,
			  struct index_writer *index);
void follow_free(struct follow *follow); /* NULL is fine */

/* Look for files that match and are not followed yet. */
void follow_scan(struct follow *follow);

/* Copy what is new, of each file in turn, at most *room bytes, which are
 * counted down, and at most FOLLOW_CHUNK. true: there is more.
 */
bool follow_copy(struct follow *follow, uint64_t *room);

/* Nobody in the container writes any more: look and copy for the last time. */
void follow_finish(struct follow *follow, uint64_t *room);

/* Files that are open, and bytes that were copied, of all files. */
uint32_t follow_count(const struct follow *follow);
uint64_t follow_bytes(const struct follow *follow);

/* After follow_finish(): bytes that are not copied for want of room; and what
 * else is missing, in words ("": nothing).
 */
uint64_t follow_left(const struct follow *follow);
const char *follow_trouble(const struct follow *follow);

#endif
