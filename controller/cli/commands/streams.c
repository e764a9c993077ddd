/* streams.c - the streams of a job, as a controller lists them.
 */
#include "controller/cli/commands/streams.h"
#include "controller/cli/render.h"

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
