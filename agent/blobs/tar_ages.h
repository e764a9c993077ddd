/* tar_ages.h - counts the files of a tar stream that are older than a
 * moment.
 *
 * The stream comes in pieces; bytes that are no tar stream are ignored. Times
 * are those of the headers, in whole seconds.
 */
#ifndef AGENT_BLOBS_TAR_AGES_H
#define AGENT_BLOBS_TAR_AGES_H

#include <stddef.h>
#include <stdint.h>

struct tar_ages {
	int64_t since;         /* seconds since 1970 */
	uint64_t files, older; /* all files, and the older ones */
	char header[512];
	size_t have;
	uint64_t left; /* of the entry's data, padded */
};

/* Read the next bytes. Initialise with { .since = ... }. */
void tar_ages_feed(struct tar_ages *ages, const void *data, size_t size);

#endif
