/* files.c - files: lists the collected files of a job.
 */
#include "controller/cli/blob_transfer.h"
#include "controller/cli/command.h"
#include "controller/cli/commands/fetch.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/run/session.h"
#include "protocol/base/program.h"
#include "protocol/blob/pattern.h"
#include "protocol/message/reply_logs.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* What a tar file contains, a line for each: size and path. */
static int files_print_tar(struct cli *cli, const struct file_info *file,
			   const char *folder, int tar, struct error *err)
{
	struct archive *in = archive_read_new();
	struct archive_entry *entry;
	char path[2 * PATH_MAX], clean[4 * PATH_MAX];
	int rc = ARCHIVE_FATAL;

	if (in && archive_read_support_format_tar(in) == ARCHIVE_OK)
		rc = archive_read_open_fd(in, tar, 65536);
	while (rc == ARCHIVE_OK &&
	       (rc = archive_read_next_header(in, &entry)) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(entry);

		if (archive_entry_filetype(entry) == AE_IFDIR)
			continue;
		snprintf(path, sizeof(path), "%s%s", folder, name ? name : "");
		fprintf(cli->out, "%u\t%lld\t%s\n", file->rank,
			(long long)archive_entry_size(entry),
			escape(path, clean, sizeof(clean)));
	}
	if (rc != ARCHIVE_EOF)
		error_set(err, EPROTO, "%.100s: %s", file->path,
			  in ? archive_error_string(in) : "out of memory");
	archive_read_free(in);
	return rc == ARCHIVE_EOF ? 0 : -1;
}

/* The paths in the tar file begin with the last name of the collected one. */
static int files_print_inside(struct cli *cli, struct client *client,
			      uint64_t job, const struct file_info *file,
			      struct error *err)
{
	owned_fd int tar = fetch_temporary("/tmp", err);
	char folder[PATH_MAX];
	const char *name;

	if (tar < 0 ||
	    blob_transfer_get(client, job, file->content, blob_transfer_to_file,
			      &tar, NULL, NULL, err) < 0)
		return -1;
	if (!pattern_split(file->path, folder, sizeof(folder), &name))
		snprintf(folder, sizeof(folder), "%s", file->path);
	*(strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder) = 0;
	lseek(tar, 0, SEEK_SET);
	return files_print_tar(cli, file, folder, tar, err);
}

/* What is within the collected path. */
static int files_list_inside(struct cli *cli, struct client *client,
			     uint64_t job, const struct reply_files *reply,
			     struct error *err)
{
	const char *wanted = cli->args[1];
	size_t found = 0;

	for (size_t i = 0; i < reply->files_count; i++) {
		const struct file_info *file = &reply->files[i];

		if (strcmp(file->path, wanted) != 0 || !file->content)
			continue;
		found++;
		if (files_print_inside(cli, client, job, file, err) < 0)
			return -1;
	}
	return found ? EXIT_GOOD
		     : error_set(err, ENOENT,
				 "%.100s was not collected; regatta files %llu "
				 "lists what was",
				 wanted, (unsigned long long)job);
}

static int files_command(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_FILES };
	const struct reply_files *reply;
	unsigned long long job;

	if (session_open(&session, cli, err) < 0 ||
	    session_job(&session, cli->arg_count ? cli->args[0] : NULL,
			&query.id, err) < 0 ||
	    client_query(session.client, &query, &answer, err) < 0)
		return -1;
	reply = answer.reply;
	job = query.id;
	if (cli->arg_count > 1)
		return files_list_inside(cli, session.client, job, reply, err);
	if (!reply->files_count && !cli_format(cli, "json"))
		cli_say(cli,
			"job %llu has no collected files; set collect: [path] "
			"in the sweep; regatta logs %llu --list shows streams",
			job, job);
	return rows_show(cli, &view_files, 0,
			 &(struct rows){ &file_info_schema,
					 (char *)reply->files,
					 reply->files_count },
			 err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	OPTION_STATE,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_files = {
	.name = "files",
	.args = "[JOB [PATH]]",
	.max_args = 2,
	.connects = true,
	.rules = rules,
	.summary = "list the collected files of a job",
	.help =
		"Without a job, of the same as regatta logs. Lists the files that the sweep names under collect:, for "
		  "each node; with a PATH of these, what is within it: rank, "
		  "bytes and path of each file, which regatta fetch takes.",
	.example = "regatta files 17",
	.fn = files_command,
};
/* clang-format on */
