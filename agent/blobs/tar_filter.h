/* tar_filter.h - the entries of a folder's tar stream that match a pattern.
 *
 * The stream comes from engine_archive_get() of a folder: its first entry is
 * that folder, all others are below it. Matching entries pass unchanged; with a
 * folder that matches, everything below it passes. The stream comes from a
 * container's disk, so names are not trusted: headers of one entry with more
 * than TAR_FILTER_HEAD_MAX bytes are refused.
 */
#ifndef AGENT_BLOBS_TAR_FILTER_H
#define AGENT_BLOBS_TAR_FILTER_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stddef.h>
#include <stdint.h>

#define TAR_FILTER_HEAD_MAX (1 << 20)

/* Called with the bytes that pass; -1 with *err set ends the filter. */
typedef int tar_filter_out_fn(void *arg, const void *data, size_t size,
			      struct error *err);

struct tar_filter;

/* pattern: below the folder, as in protocol/blob/pattern.h, where a leading dot
 * of a name is matched only by a dot; copied. EINVAL: it is not valid. A stream
 * of more than read_max bytes is E2BIG.
 */
struct tar_filter *tar_filter_new(const char *pattern, uint64_t read_max,
				  tar_filter_out_fn *out, void *arg,
				  struct error *err);
void tar_filter_free(struct tar_filter *filter);
OWNED_POINTER(struct tar_filter, tar_filter_free)

/* Read the next bytes. ENOTDIR: the first entry is no folder; EPROTO: no tar
 * stream of a folder; or the error of out(). After an error nothing more is
 * read.
 */
int tar_filter_feed(struct tar_filter *filter, const void *data, size_t size,
		    struct error *err);

/* The stream ends. ENOENT: nothing matched; EPROTO: it ends too early. */
int tar_filter_end(struct tar_filter *filter, struct error *err);

/* The number of matching hard links that were left out, because their target
 * did not match.
 */
uint64_t tar_filter_links_lost(const struct tar_filter *filter);

#endif
