/* streams.h - the streams of a job, as a controller lists them.
 *
 * Items of the lists are {"stream", "bytes"}, and for followed files also
 * "path" and "part".
 */
#ifndef CONTROLLER_CLI_COMMANDS_STREAMS_H
#define CONTROLLER_CLI_COMMANDS_STREAMS_H

#include "controller/cli/cli.h"
#include "controller/cli/file_reader.h"
#include "controller/cli/json.h"

/* Print them as a table. */
int streams_print(struct cli *cli, const cJSON *list, struct error *err);

/* Does a person who says `name` mean this stream? It is the stream's name, or
 * the file's path, or a pattern (as in fnmatch(3)) of the path or of its last
 * name.
 */
bool stream_meant(const cJSON *stream, const char *name);

/* Call fn for each piece of a stored stream, from its beginning to the end that
 * it has by now; -1 from it ends the reading. ENOENT: it is not there.
 */
int stream_read(struct client *client, uint64_t job, uint32_t attempt,
		const char *stream, file_reader_fn *fn, void *arg,
		struct error *err);

#endif
