/* streams.h - lists and reads the output streams of a job.
 */
#pragma once

#include "controller/cli/cli.h"
#include "controller/cli/file_reader.h"
#include "protocol/message/reply_logs.h"

/* Does `name` match this stream? It may be the name of the stream, the path of
 * the followed file, or a pattern (fnmatch(3)) for the path or its last part.
 */
bool stream_meant(const struct stream_info *stream, const char *name);

/* Is the answer (a struct reply_log_read) a piece of the stream at this offset,
 * or at any offset?
 */
bool stream_piece_fits(const struct answer *answer, uint64_t offset,
		       bool anywhere);
int stream_piece_wrong(const char *stream, struct error *err); /* always -1 */

/* Call fn for each piece of a stored stream, from this offset to its present
 * end. If fn returns -1, reading ends. ENOENT: no such stream.
 */
int stream_read(struct client *client, uint64_t job, uint32_t attempt,
		const char *stream, uint64_t from, file_reader_fn *fn,
		void *arg, struct error *err);
