/* streams.c - the streams of a job, as a controller lists them.
 */
#include "controller/cli/commands/streams.h"
#include "controller/cli/render.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

int streams_print(struct cli *cli, const cJSON *list, struct error *err)
{
	static const struct column columns[] = {
		{ "STREAM", false },
		{ "SIZE", true },
		{ "FILE", false },
		{ NULL, false },
	};
	owned(table_free) struct table *table = table_new(columns, err);
	const cJSON *stream;

	if (!table)
		return -1;
	cJSON_ArrayForEach(stream, list)
	{
		uint64_t part = json_u64(stream, "part");
		char size[HUMAN_SIZE];

		table_cell(table, PLAIN, "%s", json_text(stream, "stream"));
		table_cell(table, PLAIN, "%s",
			   human_bytes(json_u64(stream, "bytes"), size));
		if (part > 1)
			table_cell(table, PLAIN, "%s (part %llu)",
				   json_text(stream, "path"),
				   (unsigned long long)part);
		else
			table_cell(table, PLAIN, "%s",
				   json_text(stream, "path"));
	}
	return table_print(table, cli->out, cli_out_colour(cli), err);
}

bool stream_meant(const cJSON *stream, const char *name)
{
	const char *path = json_text(stream, "path");
	const char *slash = strrchr(path, '/');

	return !strcmp(name, json_text(stream, "stream")) ||
	       (*path && (!strcmp(name, path) || !fnmatch(name, path, 0) ||
			  (slash && !fnmatch(name, slash + 1, 0))));
}

int stream_read(struct client *client, uint64_t job, uint32_t attempt,
		const char *stream, file_reader_fn *fn, void *arg,
		struct error *err)
{
	struct message_log_read ask = {
		.job = job,
		.attempt = attempt,
		.stream = (char *)stream,
	};
	uint64_t length, offset;

	do {
		owned(answer_clear) struct answer answer = { 0 };

		if (client_call(client, MESSAGE_LOG_READ, &ask, NULL, 0, 0,
				&answer, err) < 0)
			return -1;
		length = json_u64(answer.body, "length");
		offset = json_u64(answer.body, "offset");
		if (offset != ask.offset ||
		    (!answer.size && ask.offset < length))
			return error_set(err, EPROTO,
					 "%.64s: the controller's piece of the "
					 "log does not fit",
					 stream);
		if (answer.size &&
		    fn(answer.payload, answer.size, arg, err) < 0)
			return -1;
		ask.offset = offset + answer.size;
	} while (ask.offset < length);
	return 0;
}
