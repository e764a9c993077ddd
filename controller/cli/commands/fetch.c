/* fetch.c - fetch: copies collected files of a job.
 */
#include "controller/cli/commands/fetch.h"
#include "controller/cli/command.h"
#include "controller/view/render.h"
#include "controller/cli/run/session.h"
#include "controller/cli/blob_transfer.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"
#include "protocol/blob/pattern.h"
#include "protocol/blob/unpack.h"
#include "protocol/message/reply_logs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define ENTRIES_MAX 1000000
#define SLACK ((uint64_t)1 << 30) /* for the holes of sparse files */

struct fetch_options {
	struct options common;
	const char *output;
	uint64_t rank;
};

struct fetching {
	struct cli *cli;
	struct client *client;
	const struct files_wanted *wanted;
	bool by_rank; /* a folder for each */
	size_t files, refused;
};

bool files_choose(const char *collected, const char *wanted, char *only,
		  size_t size)
{
	char path[PATH_MAX];
	size_t length, want = wanted ? strlen(wanted) : 0;
	const char *name;

	if (!pattern_split(collected, path, sizeof(path), &name))
		snprintf(path, sizeof(path), "%s", collected);
	else if (wanted && !strcmp(collected, wanted))
		want = 0;
	length = strlen(path);
	while (length > 1 && path[length - 1] == '/')
		path[--length] = 0;
	while (want > 1 && wanted[want - 1] == '/')
		want--;
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		name = "";
	snprintf(only, size, "%s", name);
	/* The wanted path is the collected one, or a folder above it. */
	if (!want || want == 1 ||
	    (!strncmp(path, wanted, want) &&
	     (!path[want] || path[want] == '/')))
		return true;
	if (strncmp(path, wanted, length) != 0 || wanted[length] != '/')
		return false;
	return snprintf(only, size, "%s%.*s", name, (int)(want - length),
			wanted + length) < (int)size;
}

static void fetching_skip(void *arg, const char *path, const char *why)
{
	struct fetching *fetching = arg;

	cli_say(fetching->cli, "skipped: %s: %s", path, why);
	fetching->refused++;
}

int fetch_temporary(const char *folder, struct error *err)
{
	char path[PATH_MAX];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (file_path(path, err, "%s/.regatta-XXXXXX", folder) < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, "%.100s", folder);
	unlink(path);
	return fd;
}

static int fetch_file(struct fetching *fetching, const struct file_info *file,
		      const char *only, struct error *err)
{
	struct unpack_limits limits = {
		.bytes = file->bytes * 4 + SLACK,
		.entries = ENTRIES_MAX,
	};
	struct unpack_counts counts = { 0 };
	char folder[PATH_MAX];
	owned_fd int dir = -1, tar = -1;

	if (fetching->by_rank)
		snprintf(folder, sizeof(folder), "%s/rank-%u",
			 fetching->wanted->folder, file->rank);
	else
		snprintf(folder, sizeof(folder), "%s",
			 fetching->wanted->folder);
	if (file_make_folders(folder, 0755, err) < 0)
		return -1;
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return error_errno(err, "%.100s", folder);
	tar = fetch_temporary(folder, err);
	if (tar < 0 ||
	    blob_transfer_get(fetching->client, fetching->wanted->job,
			      file->content, blob_transfer_to_file, &tar, NULL,
			      NULL, err) < 0)
		return -1;
	lseek(tar, 0, SEEK_SET);
	if (unpack(tar, dir, *only ? only : NULL, &limits, fetching_skip,
		   fetching, &counts, err) < 0)
		return error_prefix(err, "%.80s of rank %u", file->path,
				    file->rank);
	if (!counts.written)
		return 0;
	fetching->files++;
	cli_say(fetching->cli, "rank %u: %s: %llu entr%s, %s, to %s",
		file->rank, file->path, (unsigned long long)counts.written,
		counts.written == 1 ? "y" : "ies",
		human_bytes(counts.bytes).text, folder);
	return 0;
}

static int fetch_all(struct fetching *fetching, const struct reply_files *reply,
		     struct error *err)
{
	uint64_t rank = fetching->wanted->rank;

	for (size_t i = 0; i < reply->files_count; i++) {
		const struct file_info *file = &reply->files[i];
		char only[PATH_MAX];

		if ((rank != OPTION_NONE && file->rank != rank) ||
		    !files_choose(file->path, fetching->wanted->path, only,
				  sizeof(only)))
			continue;
		if (!file->content)
			cli_say(fetching->cli, "rank %u: %s: %s", file->rank,
				file->path, file->text ? file->text : "");
		else if (fetch_file(fetching, file, only, err) < 0)
			return -1;
	}
	return 0;
}

static bool several_ranks(const struct reply_files *reply)
{
	for (size_t i = 0; i < reply->files_count; i++)
		if (reply->files[i].rank != reply->files[0].rank)
			return true;
	return false;
}

int files_fetch(struct cli *cli, struct client *client,
		const struct files_wanted *wanted, size_t *count,
		size_t *refused, struct error *err)
{
	struct message_query query = { .what = QUERY_FILES, .id = wanted->job };
	owned(answer_clear) struct answer answer = { 0 };
	struct fetching fetching = {
		.cli = cli,
		.client = client,
		.wanted = wanted,
	};

	if (client_query(client, &query, &answer, err) < 0)
		return -1;
	fetching.by_rank =
		wanted->rank == OPTION_NONE && several_ranks(answer.reply);
	if (fetch_all(&fetching, answer.reply, err) < 0)
		return -1;
	*count = fetching.files;
	*refused = fetching.refused;
	return 0;
}

static int fetch_command(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	const struct fetch_options *given = cli->given;
	struct files_wanted wanted = {
		.path = cli->arg_count > 1 ? cli->args[1] : NULL,
		.rank = given->rank,
		.folder = given->output ? given->output : ".",
	};
	size_t files, refused;

	if (session_open(&session, cli, err) < 0 ||
	    session_job(&session, cli->arg_count ? cli->args[0] : NULL,
			&wanted.job, err) < 0)
		return -1;
	if (wanted.path && *wanted.path != '/')
		return error_set(err, EINVAL,
				 "fetch: '%.60s' is not valid here; expected a "
				 "path listed by regatta files %llu, or below "
				 "one",
				 wanted.path, (unsigned long long)wanted.job);
	if (files_fetch(cli, session.client, &wanted, &files, &refused, err) <
	    0)
		return -1;
	if (!files)
		return error_set(err, ENOENT,
				 "job %llu: the file was not collected; see "
				 "regatta files %llu",
				 (unsigned long long)wanted.job,
				 (unsigned long long)wanted.job);
	return refused ? EXIT_WORK_FAILED : EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(fetch_options, "output", 'o', OPTION_TEXT, output, "DIR"),
	  .help = "folder to write to (.)" },
	{ OPTION(fetch_options, "rank", 0, OPTION_NUMBER, rank, "N"),
	  .max = 1048575,
	  .help = "fetch only the files of that rank" },
	OPTION_STATE,
	{ 0 },
};

const struct command command_fetch = {
	.name = "fetch",
	.args = "[JOB [PATH]]",
	.max_args = 2,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct fetch_options),
	.summary = "copy collected files of a job",
	.help =
		"Without a job, of the same as regatta logs. Without PATH, copies all files. Files of several nodes are "
		  "written to folders rank-N. A path that leads out of the "
		  "folder is skipped with a message, and the exit status is 1.",
	.example = "regatta fetch 17 /out/checkpoint -o results",
	.fn = fetch_command,
};
/* clang-format on */
