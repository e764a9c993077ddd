/* diagnose.c - diagnose: finds out from its output why a program failed.
 *
 * The controller reads the output of a job when the job ends
 * (controller/jobs/job_reason.h). The output in a file is read here, and what
 * else the stream of a job's reason shows.
 */
#include "controller/causes/causes.h"
#include "controller/cli/command.h"
#include "controller/cli/commands/streams.h"
#include "controller/cli/file_reader.h"
#include "controller/cli/run/session.h"
#include "controller/results/json_object.h"
#include "protocol/base/program.h"
#include "protocol/message/reply_jobs.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define OTHERS_BYTES ((uint64_t)1 << 20) /* that are read for them */

/* A file that is read. */
struct diagnosed {
	struct causes *causes;
	bool begun; /* it has bytes */
};

static int diagnose_feed_file(const void *piece, size_t size, void *arg,
			      struct error *err)
{
	struct diagnosed *file = arg;

	file->begun = true;
	return causes_feed(file->causes, piece, size, err);
}

static int diagnose_feed(const void *piece, size_t size, void *arg,
			 struct error *err)
{
	return causes_feed(arg, piece, size, err);
}

static void cause_print_line(struct cli *cli, const char *before,
			     const cJSON *cause)
{
	const char *class = row_text(cause, "class");
	const char *text = row_text(cause, "line");
	char line[CAUSE_LINE_MAX * 4];

	fprintf(cli->out, "%s%s: %s\n", before, class ? class : "",
		escape(text ? text : "", line, sizeof(line)));
}

/* Print a member of the diagnosis, if it has a value. */
static void print_member(struct cli *cli, const cJSON *diagnosis,
			 const char *name, const char *label)
{
	const cJSON *item = row_at(diagnosis, name);
	char text[300];

	if (cJSON_IsNumber(item))
		fprintf(cli->out, "%s: %.0f\n", label, item->valuedouble);
	else if (cJSON_IsString(item) && *item->valuestring)
		fprintf(cli->out, "%s: %s\n", label,
			escape(item->valuestring, text, sizeof(text)));
}

static void diagnose_print(struct cli *cli, const cJSON *diagnosis)
{
	static const char *const members[][2] = {
		{ "how", "how" },
		{ "host", "host" },
		{ "task", "task" },
		{ "rank", "rank" },
		{ "exit_code", "exit code" },
		{ "signal", "signal" },
		{ "stream", "stream" },
		{ "line_number", "line" },
		{ "offset", "offset" },
	};
	const cJSON *others = row_at(diagnosis, "others"), *other;
	char before[40];

	if (row_text(diagnosis, "line"))
		cause_print_line(cli, "", diagnosis);
	else if (!row_text(diagnosis, "class"))
		fprintf(cli->out, "no line shows a failure of the program\n");
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		print_member(cli, diagnosis, members[i][0], members[i][1]);
	if (cJSON_GetArraySize(others))
		fprintf(cli->out, "also considered:\n");
	cJSON_ArrayForEach(other, others) {
		const cJSON *line = row_at(other, "line_number");

		snprintf(before, sizeof(before),
			 cJSON_IsNumber(line) ? "  line %.0f, " : "  ",
			 cJSON_GetNumberValue(line));
		cause_print_line(cli, before, other);
	}
}

static struct failure_patterns *diagnose_patterns(struct cli *cli,
						  struct error *err)
{
	char images[PATH_MAX], path[PATH_MAX + sizeof("/failures.yaml")];

	if (cli_images(cli, images, err) < 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/failures.yaml", images);
	return failure_patterns_read(path, err);
}

/* The diagnosis of a file. */
static cJSON *diagnose_read_file(struct cli *cli, const char *name,
				 struct error *err)
{
	owned(failure_patterns_free) struct failure_patterns *patterns =
		diagnose_patterns(cli, err);
	owned(causes_free) struct causes *causes =
		patterns ? causes_new(patterns, err) : NULL;
	struct diagnosed file = { causes, false };
	struct diagnosis diagnosis;
	cJSON *document;

	if (!causes ||
	    file_reader_read(name, diagnose_feed_file, &file, err) < 0 ||
	    causes_finish(causes, err) < 0)
		return NULL;
	if (!file.begun)
		return error_null(
			error_set(err, EINVAL,
				  "%.120s is empty, and shows no cause",
				  strcmp(name, "-") ? name : "standard input"));
	causes_diagnose(causes, false, &diagnosis);
	document = diagnosis_json(&diagnosis);
	if (!document)
		error_nomem(err, "diagnosis");
	return document;
}

/* The reason of a job, in the form of the diagnosis of a file. */
static cJSON *describe_job(const struct job_info *job)
{
	static const struct reason_info none = {
		.task = NAN, .rank = NAN, .exit_code = NAN, .offset = NAN
	};
	const struct reason_info *reason = job->reason ? job->reason : &none;
	cJSON *document = cJSON_CreateObject();
	const char *class = reason->class;
	bool failed = false;

	if (!class && job->failure)
		class = causes_class_name(CAUSE_OTHER);
	json_add_text(document, "class", class, &failed);
	json_add_number(document, "task", reason->task, &failed);
	json_add_number(document, "rank", reason->rank, &failed);
	json_add_text(document, "host", reason->node, &failed);
	json_add_number(document, "exit_code", reason->exit_code, &failed);
	json_add_text(document, "signal", reason->signal, &failed);
	json_add_text(document, "line", reason->line, &failed);
	json_add_number(document, "line_number", NAN, &failed);
	json_add_number(document, "offset", reason->offset, &failed);
	json_add_text(document, "stream", reason->stream, &failed);
	json_add_text(document, "how", job->text, &failed);
	return document;
}

static void others_add(cJSON *others, const struct reason_info *reason,
		       const struct cause *cause, uint64_t from)
{
	cJSON *other;
	bool failed = false;

	if (!cause || (double)(from + cause->offset) == reason->offset)
		return;
	other = cJSON_CreateObject();
	json_add_text(other, "class", causes_class_name(cause->class), &failed);
	json_add_number(other, "rank",
			cause->rank == END_UNKNOWN ? (double)NAN
						   : (double)cause->rank,
			&failed);
	json_add_text(other, "line", cause->line, &failed);
	json_add_number(other, "line_number", NAN, &failed);
	cJSON_AddItemToArray(others, other);
}

/* What else the end of the reason's stream shows; nothing, if it is no longer
 * there.
 */
static void others_read(struct cli *cli, struct session *session,
			const struct job_info *job, cJSON *document)
{
	owned(failure_patterns_free) struct failure_patterns *patterns = NULL;
	owned(causes_free) struct causes *causes = NULL;
	cJSON *others = cJSON_AddArrayToObject(document, "others");
	struct diagnosis diagnosis;
	uint64_t from = 0;

	if (!job->reason || !job->reason->stream)
		return;
	for (size_t i = 0; i < job->streams_count; i++)
		if (!strcmp(job->streams[i].stream, job->reason->stream) &&
		    job->streams[i].bytes > OTHERS_BYTES)
			from = job->streams[i].bytes - OTHERS_BYTES;
	patterns = diagnose_patterns(cli, NULL);
	causes = patterns ? causes_new(patterns, NULL) : NULL;
	if (!causes ||
	    stream_read(session->client, job->job, job->attempt,
			job->reason->stream, from, diagnose_feed, causes,
			NULL) < 0 ||
	    causes_finish(causes, NULL) < 0)
		return;
	causes_diagnose(causes, true, &diagnosis);
	others_add(others, job->reason, diagnosis.cause, from);
	for (size_t i = 0; i < diagnosis.other_count; i++)
		others_add(others, job->reason, diagnosis.others[i], from);
}

static cJSON *read_job(struct cli *cli, uint64_t id, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_JOB, .id = id };
	const struct job_info *job;
	cJSON *document;

	if (session_open(&session, cli, err) < 0 ||
	    client_query(session.client, &query, &answer, err) < 0)
		return NULL;
	job = &((const struct reply_job *)answer.reply)->job;
	document = describe_job(job);
	others_read(cli, &session, job, document);
	return document;
}

/* A number is a job, unless there is such a file. */
static bool is_job(const char *name)
{
	return *name && !name[strspn(name, "0123456789")] &&
	       access(name, F_OK) < 0;
}

static int diagnose_command(struct cli *cli, struct error *err)
{
	owned(cJSON_Delete) cJSON *document = NULL;
	const char *name = cli->arg_count ? cli->args[0] : "-";
	uint64_t id;

	if (!is_job(name))
		document = diagnose_read_file(cli, name, err);
	else if (cli_id(name, "job", &id, err) == 0)
		document = read_job(cli, id, err);
	if (!document)
		return -1;
	if (cli_format(cli, "json"))
		return cli_print_json(cli, document, err);
	diagnose_print(cli, document);
	return EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	OPTION_IMAGES,
	OPTION_STATE,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_diagnose = {
	.name = "diagnose",
	.args = "[FILE | - | JOB]",
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.summary = "find out from its output why a program failed",
	.help =
		"Shows the log line that explains the failure, the kind of "
		  "failure, and rank, host, exit code and signal if the "
		  "output contains them. The output of a job is analysed by "
		  "the controller when the job ends. failures.yaml in the "
		  "folder of the frameworks defines the patterns.",
	.example = "regatta diagnose train.log --format json",
	.fn = diagnose_command,
};
/* clang-format on */
