/* bundle.c - bundle: writes a sweep into one signed file.
 */
#include "controller/cli/blob_transfer.h"
#include "controller/cli/command.h"
#include "controller/cli/commands/bundle_file.h"
#include "controller/cli/commands/fetch.h"
#include "controller/cli/commands/results.h"
#include "controller/cli/commands/streams.h"
#include "controller/cli/run/session.h"
#include "controller/results/json_object.h"
#include "protocol/base/list.h"
#include "protocol/hardware/sample_format.h"
#include "controller/sweep/secrets.h"
#include "controller/view/render.h"
#include "protocol/base/digest.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"
#include "protocol/message/reply_logs.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define PIECE (64 << 10)

struct bundle_options {
	struct options common;
	const char *output;
	bool files;
	bool replace;
};

struct bundle_writer {
	struct cli *cli;
	bool collected; /* files, too */
	struct client *client;
	char folder[PATH_MAX]; /* where the file will be */
	struct archive *out;
	struct bundle_manifest manifest; /* its files grow */
	uint64_t bytes;
	struct buffer text; /* of one file */
};

static void bundle_writer_clear(struct bundle_writer *writer)
{
	codec_clear(&bundle_manifest_schema, &writer->manifest);
	archive_write_free(writer->out);
	buffer_clear(&writer->text);
}
OWNED_VALUE(struct bundle_writer, bundle_writer_clear)

static int bundle_writer_fail(const struct bundle_writer *writer,
			      struct error *err)
{
	const char *why = archive_error_string(writer->out);
	int code = archive_errno(writer->out);

	return error_set(err, code > 0 ? code : EIO, "%s",
			 why ? why : "cannot write the file");
}

static int writer_begin(struct bundle_writer *writer, const char *path,
			uint64_t bytes, struct error *err)
{
	struct archive_entry *entry = archive_entry_new();
	int rc;

	if (!entry)
		return error_nomem(err, "bundle");
	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, (int64_t)bytes);
	archive_entry_set_mtime(entry, writer->manifest.submitted_ms / 1000, 0);
	rc = archive_write_header(writer->out, entry);
	archive_entry_free(entry);
	return rc == ARCHIVE_OK ? 0 : bundle_writer_fail(writer, err);
}

static int writer_put(struct bundle_writer *writer, struct digest *digest,
		      const void *data, size_t size, struct error *err)
{
	digest_add(digest, data, size);
	writer->bytes += size;
	return archive_write_data(writer->out, data, size) == (la_ssize_t)size
		       ? 0
		       : bundle_writer_fail(writer, err);
}

static int writer_list(struct bundle_writer *writer, const char *path,
		       uint64_t bytes, struct digest *digest, struct error *err)
{
	struct bundle_manifest *manifest = &writer->manifest;
	struct bundle_file *file;
	char hex[DIGEST_HEX_SIZE];

	if (manifest->files_count == BUNDLE_FILES_MAX)
		return error_set(err, E2BIG,
				 "more than %d files; a bundle has at most so "
				 "many",
				 BUNDLE_FILES_MAX);
	file = LIST_ADD(manifest->files, manifest->files_count, err);
	if (!file)
		return -1;
	file->bytes = bytes;
	digest_hex(digest, hex);
	return string_set(&file->path, path, err) |
	       string_set(&file->sha256, hex, err);
}

/* Add what is in writer->text, and empty it. */
static int writer_add_text(struct bundle_writer *writer, const char *path,
			   struct error *err)
{
	struct digest digest;
	struct buffer *text = &writer->text;

	digest_init(&digest);
	if (writer_begin(writer, path, text->size, err) < 0 ||
	    writer_put(writer, &digest, text->data ? text->data : "",
		       text->size, err) < 0 ||
	    writer_list(writer, path, text->size, &digest, err) < 0)
		return -1;
	buffer_clear(text);
	return 0;
}

/* Logs. */

static int bundle_spool(const void *piece, size_t size, void *arg,
			struct error *err)
{
	return file_write_all(*(const int *)arg, "log", piece, size, err);
}

static int writer_copy(struct bundle_writer *writer, int from, const char *path,
		       struct error *err)
{
	uint64_t bytes = (uint64_t)lseek(from, 0, SEEK_END);
	struct digest digest;
	char piece[PIECE];
	ssize_t got;

	digest_init(&digest);
	if (writer_begin(writer, path, bytes, err) < 0)
		return -1;
	lseek(from, 0, SEEK_SET);
	while ((got = read(from, piece, sizeof(piece))) > 0)
		if (writer_put(writer, &digest, piece, (size_t)got, err) < 0 ||
		    client_look(writer->client, err) < 0)
			return -1;
	return got < 0 ? error_errno(err, "%s", path)
		       : writer_list(writer, path, bytes, &digest, err);
}

/* A stream that is not there any more is left out. */
static int writer_add_stream(struct bundle_writer *writer,
			     const struct job_info *job, const char *stream,
			     struct error *err)
{
	char path[PATH_MAX];
	struct error why;
	owned_fd int fd = -1;

	if (bundle_log_path(job->job, job->attempt, stream, path, err) < 0)
		return -1;
	fd = fetch_temporary(writer->folder, err);
	if (fd < 0)
		return -1;
	if (stream_read(writer->client, job->job, job->attempt, stream, 0,
			bundle_spool, &fd, &why) == 0)
		return writer_copy(writer, fd, path, err);
	return why.code == ENOENT ? 0
				  : error_set(err, why.code, "%s", why.text);
}

/* Collected files. What was removed meanwhile is left out. */

static int writer_add_file(struct bundle_writer *writer, uint64_t job,
			   const struct file_info *file, size_t index,
			   struct error *err)
{
	char name[PATH_MAX], path[PATH_MAX];
	struct error why;
	owned_fd int fd = -1;

	files_choose(file->path, NULL, name, sizeof(name));
	if (file_path(path, err, "files/%llu/%u/%zu-%s.tar",
		      (unsigned long long)job, file->rank, index, name) < 0)
		return -1;
	fd = fetch_temporary(writer->folder, err);
	if (fd < 0)
		return -1;
	if (blob_transfer_get(writer->client, job, file->content,
			      blob_transfer_to_file, &fd, NULL, NULL,
			      &why) == 0)
		return writer_copy(writer, fd, path, err);
	return why.code == ENOENT
		       ? 0
		       : error_set(err, why.code, "%s: %s", path, why.text);
}

static int writer_add_files(struct bundle_writer *writer, uint64_t job,
			    struct error *err)
{
	struct message_query query = { .what = QUERY_FILES, .id = job };
	owned(answer_clear) struct answer answer = { 0 };
	const struct reply_files *reply;

	if (client_query(writer->client, &query, &answer, err) < 0)
		return -1;
	reply = answer.reply;
	for (size_t i = 0; i < reply->files_count; i++)
		if (reply->files[i].content &&
		    writer_add_file(writer, job, &reply->files[i], i, err) < 0)
			return -1;
	return 0;
}

/* A variable of this name would show its value. */
static int check_variables(const struct job_info *job, struct error *err)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, row_at(job->spec, "container.env")) {
		const char *text = cJSON_GetStringValue(item);
		char name[100];

		if (!text)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="),
			 text);
		if (secret_looks_like(name))
			return error_set(err, EPERM,
					 "job %llu: env.%.60s looks like a "
					 "secret, and the file would show it; "
					 "use secrets: in the sweep",
					 (unsigned long long)job->job, name);
	}
	return 0;
}

static int writer_add_job(struct bundle_writer *writer, uint64_t id, bool check,
			  struct error *err)
{
	struct message_query query = { .what = QUERY_JOB, .id = id };
	owned(answer_clear) struct answer answer = { 0 };
	const struct job_info *job;
	char samples[SAMPLE_FORMAT_STREAM_SIZE];

	if (client_query(writer->client, &query, &answer, err) < 0)
		return -1;
	job = &((const struct reply_job *)answer.reply)->job;
	if (check)
		return check_variables(job, err);
	for (size_t i = 0; i < job->streams_count; i++)
		if (writer_add_stream(writer, job, job->streams[i].stream,
				      err) < 0)
			return -1;
	for (uint32_t node = 0; node < job->allocation.count; node++) {
		sample_format_stream(node, samples);
		if (writer_add_stream(writer, job, samples, err) < 0)
			return -1;
	}
	return writer->collected ? writer_add_files(writer, id, err) : 0;
}

/* check: only look whether the jobs may be shown. */
static int writer_add_jobs(struct bundle_writer *writer, bool check,
			   struct error *err)
{
	owned(rows_clear) struct rows jobs = { 0 };

	if (client_rows(writer->client, QUERY_JOBS, writer->manifest.sweep,
			"job", &jobs, err) < 0)
		return -1;
	for (size_t i = 0; i < jobs.count; i++) {
		const struct job_info *job = rows_at(&jobs, i);

		if (!job_state_final(job_state_from(job->state)))
			return error_set(err, EAGAIN,
					 "job %llu has not ended yet",
					 (unsigned long long)job->job);
		if (writer_add_job(writer, job->job, check, err) < 0)
			return -1;
	}
	return 0;
}

/* The report. */

static int writer_add_reports(struct bundle_writer *writer,
			      const struct results_about *about,
			      const struct report_rows *rows, struct error *err)
{
	static const struct {
		const char *format, *path;
	} forms[] = {
		{ "json", "report.json" },
		{ "csv", "report.csv" },
		{ "markdown", "report.md" },
		{ "html", "report.html" },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct results_form form = { .format = forms[i].format,
						   .about = &about->about };

		if (results_format(rows, &form, &writer->text, err) < 0 ||
		    writer_add_text(writer, forms[i].path, err) < 0)
			return -1;
	}
	return 0;
}

static int writer_add_sweep(struct bundle_writer *writer, struct error *err)
{
	owned(results_about_clear) struct results_about about = { 0 };
	owned(report_rows_clear) struct report_rows rows = { 0 };
	struct bundle_manifest *manifest = &writer->manifest;

	if (results_fetch(writer->client, manifest->sweep, true, &rows, err) <
		    0 ||
	    results_add_tails(writer->client, &rows, err) < 0 ||
	    results_about_read(&about, writer->client, manifest->sweep, true,
			       err) < 0)
		return -1;
	manifest->submitted_ms = about.about.submitted_ms;
	if (string_set(&manifest->name, about.about.name, err) < 0 ||
	    string_set(&manifest->client, about.about.client, err) < 0 ||
	    buffer_text(&writer->text, about.about.file ? about.about.file : "",
			err) < 0 ||
	    writer_add_text(writer, "sweep.yaml", err) < 0)
		return -1;
	return writer_add_reports(writer, &about, &rows, err);
}

/* The manifest, and what the controller says about it. */
static int writer_sign(struct bundle_writer *writer, char signer[65],
		       struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct bundle_manifest *manifest = &writer->manifest;
	char hex[DIGEST_HEX_SIZE];
	struct message_sign sign = { .sweep = manifest->sweep,
				     .manifest = hex };
	struct digest digest;

	if (codec_encode(&bundle_manifest_schema, manifest, &writer->text,
			 err) < 0)
		return -1;
	digest_init(&digest);
	digest_add(&digest, writer->text.data, writer->text.size);
	digest_hex(&digest, hex);
	if (client_call(writer->client, MESSAGE_SIGN, &sign, &answer, err) <
		    0 ||
	    writer_add_text(writer, "manifest.json", err) < 0 ||
	    codec_encode(&reply_sign_schema, answer.reply, &writer->text, err) <
		    0)
		return -1;
	snprintf(signer, 65, "%s",
		 ((const struct reply_sign *)answer.reply)->signer);
	return writer_add_text(writer, "signature.json", err);
}

static int writer_write(struct bundle_writer *writer, const char *path,
			char signer[65], struct error *err)
{
	owned_fd int fd =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return error_errno(err, "%s", path);
	writer->out = archive_write_new();
	if (!writer->out ||
	    archive_write_add_filter_zstd(writer->out) != ARCHIVE_OK ||
	    archive_write_set_format_pax_restricted(writer->out) !=
		    ARCHIVE_OK ||
	    archive_write_open_fd(writer->out, fd) != ARCHIVE_OK)
		return bundle_writer_fail(writer, err);
	if (writer_add_jobs(writer, true, err) < 0 ||
	    writer_add_sweep(writer, err) < 0 ||
	    writer_add_jobs(writer, false, err) < 0 ||
	    writer_sign(writer, signer, err) < 0)
		return -1;
	if (archive_write_close(writer->out) != ARCHIVE_OK)
		return bundle_writer_fail(writer, err);
	return fsync(fd) < 0 ? error_errno(err, "%s", path) : 0;
}

static int bundle_command(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(interrupts_clear) struct interrupts interrupts = { 0 };
	const struct bundle_options *given = cli->given;
	owned(bundle_writer_clear) struct bundle_writer writer = {
		.cli = cli,
		.collected = given->files,
	};
	const char *output = given->output;
	char path[PATH_MAX], part[PATH_MAX], signer[65] = "";
	uint64_t sweep = 0;

	buffer_init(&writer.text, BUNDLE_JSON_MAX);
	if (session_open_sweep(&session, cli,
			       cli->arg_count ? cli->args[0] : NULL, &sweep,
			       err) < 0 ||
	    interrupts_client(&interrupts, session.client, err) < 0)
		return -1;
	writer.client = session.client;
	writer.manifest = (struct bundle_manifest){ .version = BUNDLE_VERSION,
						    .sweep = sweep };
	if (file_path(path, err, "%s", output ? output : "") < 0 ||
	    (!output && file_path(path, err, "sweep-%llu.tar.zst",
				  (unsigned long long)sweep) < 0) ||
	    cli_check_output(path, given->replace, err) < 0 ||
	    file_path(part, err, "%s.part", path) < 0 ||
	    string_set(&writer.manifest.regatta, REGATTA_VERSION, err) < 0)
		return -1;
	snprintf(writer.folder, sizeof(writer.folder), "%s", path);
	memmove(writer.folder, dirname(writer.folder),
		strlen(dirname(writer.folder)) + 1);
	if (writer_write(&writer, part, signer, err) < 0) {
		unlink(part);
		return error_prefix(err, "%s", path);
	}
	if (rename(part, path) < 0)
		return error_errno(err, "%s", path);
	fprintf(cli->out, "%s\n", path);
	cli_say(cli, "%zu files, %s, signed; signer: %s",
		writer.manifest.files_count, human_bytes(writer.bytes).text,
		signer);
	return EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(bundle_options, "output", 'o', OPTION_TEXT, output, "FILE"),
	  .help = "the file (sweep-N.tar.zst)" },
	{ OPTION(bundle_options, "files", 0, OPTION_FLAG, files, NULL),
	  .help = "with the collected files of its jobs" },
	OPTION_REPLACE(bundle_options, "replace the file if it exists"),
	OPTION_STATE,
	{ 0 },
};

const struct command command_bundle = {
	.name = "bundle",
	.args = "[SWEEP|DIR]",
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct bundle_options),
	.summary = "write a sweep into one signed file",
	.help =
		"The file has the sweep, its logs, samples, results and "
		  "reports. The commands report, compare, trend and verify "
		  "read it without a controller; tell its readers the signer. "
		  "A sweep whose variables look like secrets is refused.",
	.example = "regatta bundle 3 -o nightly.tar.zst",
	.fn = bundle_command,
};
/* clang-format on */
