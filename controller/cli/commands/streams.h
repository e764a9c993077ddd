/* streams.h - the streams of a job, as a controller lists them.
 */
#ifndef CONTROLLER_CLI_COMMANDS_STREAMS_H
#define CONTROLLER_CLI_COMMANDS_STREAMS_H

#include "controller/cli/cli.h"
#include "controller/cli/file_reader.h"
#include "protocol/message/reply_logs.h"

/* Print those of a job as a table, below its title. */
int streams_print(struct cli *cli, const char *title,
		  const struct job_info *job, struct error *err);

/* Does a person who says `name` mean this stream? It is the stream's name, or
 * the file's path, or a pattern (as in fnmatch(3)) of the path or of its last
 * name.
 */
bool stream_meant(const struct stream_info *stream, const char *name);

/* Is the answer (a struct reply_log_read) a piece from that offset on, or from
 * anywhere?
 */
bool stream_piece_fits(const struct answer *answer, uint64_t offset,
		       bool anywhere);
int stream_piece_wrong(const char *stream, struct error *err); /* always -1 */

/* Call fn for each piece of a stored stream, from its beginning to the end that
 * it has by now; -1 from it ends the reading. ENOENT: it is not there.
 */
int stream_read(struct client *client, uint64_t job, uint32_t attempt,
		const char *stream, file_reader_fn *fn, void *arg,
		struct error *err);

#endif
