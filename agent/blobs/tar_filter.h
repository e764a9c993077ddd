/* tar_filter.h - the entries of a folder's tar stream that match a pattern.
 *
 * The stream is what engine_archive_get() gives for a folder: its first entry
 * is that folder, all others lie below it. What matches passes as it is, byte
 * for byte; of a folder that matches all that lies below. The stream comes from
 * a container's disk: names are anything, and what takes more than
 * TAR_FILTER_HEAD_MAX to say them is refused.
 */
#ifndef AGENT_BLOBS_TAR_FILTER_H
#define AGENT_BLOBS_TAR_FILTER_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stddef.h>
#include <stdint.h>

#define TAR_FILTER_HEAD_MAX (1 << 20)

/* What passes; -1 with *err set ends it. */
typedef int tar_filter_out_fn(void *arg, const void *data, size_t size,
			      struct error *err);

struct tar_filter;

/* pattern: below the folder, as in protocol/blob/pattern.h, where a leading
 * dot of a name is matched only by a dot; copied. EINVAL: it is none. After
 * read_max bytes the rest is not looked at: E2BIG.
 */
struct tar_filter *tar_filter_new(const char *pattern, uint64_t read_max,
				  tar_filter_out_fn *out, void *arg,
				  struct error *err);
void tar_filter_free(struct tar_filter *filter);
OWNED_POINTER(struct tar_filter, tar_filter_free)

/* The next bytes. ENOTDIR: the first entry is no folder; EPROTO: no tar stream
 * of a folder; or what out() said. It is over then.
 */
int tar_filter_feed(struct tar_filter *filter, const void *data, size_t size,
		    struct error *err);

/* There are no more. ENOENT: nothing matched; EPROTO: it is cut short. */
int tar_filter_end(struct tar_filter *filter, struct error *err);

/* Hard links that matched, but not what they link to: they are left out. */
uint64_t tar_filter_links_lost(const struct tar_filter *filter);

#endif
