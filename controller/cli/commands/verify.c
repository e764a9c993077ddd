/* verify.c - verify: recomputes results from their logs and compares them.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/bundle_file.h"
#include "controller/cli/commands/recompute_results.h"
#include "controller/cli/commands/results.h"
#include "controller/cli/run/session.h"
#include "controller/view/render.h"
#include "controller/results/recompute.h"
#include "protocol/base/buffer.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN 60 /* bytes of a value in a table */

struct verify_options {
	struct options common;
	const char *result;
	const char *log;
	const char *framework;
	const char *mlperf;
	const char *ruleset;
	const char *signer;
};

static void result_info_clear(struct result_info *row)
{
	codec_clear(&result_info_schema, row);
}
OWNED_VALUE(struct result_info, result_info_clear)

/* The row of a file that regatta report --format json wrote: of the job that
 * was asked for, or its only one; or the file is a row.
 */
static cJSON *written_row_find(const char *name, uint64_t job,
			       struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(RESULTS_MAX);
	owned(cJSON_Delete) cJSON *file = NULL;
	cJSON *rows, *row, *found = NULL;
	int fits = 0, i = 0, at = 0;

	if (file_read_any(name, &text, err) < 0)
		return NULL;
	file = codec_parse(text.data ? text.data : "", text.size, err);
	if (!file) {
		error_prefix(err, "%.120s", name);
		err->code = EINVAL;
		return NULL;
	}
	rows = json_get(file, "rows");
	if (!cJSON_IsArray(rows)) {
		if (cJSON_IsObject(json_get(file, "result")))
			return take(file);
		error_set(err, EINVAL,
			  "%.120s: no \"rows\" and no \"result\"; expected the "
			  "output of regatta report --format json, or one row "
			  "of it",
			  name);
		return NULL;
	}
	cJSON_ArrayForEach(row, rows) {
		if (!job ||
		    cJSON_GetNumberValue(json_get(row, "job")) == (double)job) {
			found = row;
			at = i;
			fits++;
		}
		i++;
	}
	if (found && fits == 1)
		return cJSON_DetachItemFromArray(rows, at);
	if (job)
		error_set(err, EINVAL, "%.120s: %d rows of job %llu", name,
			  fits, (unsigned long long)job);
	else
		error_set(err, EINVAL,
			  "%.120s: %d rows; expected one row, or JOB to select "
			  "one",
			  name, fits);
	return NULL;
}

static int written_row_read(const char *name, uint64_t job,
			    struct result_info *to, struct error *err)
{
	owned(cJSON_Delete) cJSON *row = written_row_find(name, job, err);

	if (!row)
		return -1;
	return codec_from_other(&result_info_schema, row, to, err) < 0
		       ? error_prefix(err, "%.120s", name)
		       : 0;
}

/* What --format json prints of a job. */
struct verified {
	uint64_t job;
	bool same;
	char *rules_stored, *rules_now; /* hashes */
	cJSON *differences;             /* recompute_compare() */
};
static const struct schema verified_schema =
	SCHEMA(verified, FIELD(verified, job), FIELD(verified, same),
	       FIELD(verified, rules_stored), FIELD(verified, rules_now),
	       FIELD(verified, differences));

/* The outcome for all jobs. */
struct outcome {
	cJSON *list;
	bool differ;
};

static void show_value(struct table *table, const cJSON *value)
{
	owned_free char *text = cJSON_PrintUnformatted(value);

	table_cell(table, PLAIN, "%.*s", SHOWN, text ? text : "?");
}

static int verified_show(struct cli *cli, const struct verified *of,
			 struct error *err)
{
	static const struct column columns[] = {
		{ "FIELD", false },  { "STORED", true }, { "COMPUTED", true },
		{ "REASON", false }, { NULL, false },
	};
	owned(table_clear) struct table table = { .columns = columns };
	unsigned long long job = of->job;
	const cJSON *entry;

	if (of->same) {
		fprintf(cli->out, "job %llu: the log gives the stored result\n",
			job);
		return 0;
	}
	fprintf(cli->out, "job %llu: %d field%s\n", job,
		cJSON_GetArraySize(of->differences),
		cJSON_GetArraySize(of->differences) == 1 ? " differs"
							 : "s differ");
	cJSON_ArrayForEach(entry, of->differences) {
		table_text(&table, json_get_text(entry, "field"));
		show_value(&table, json_get(entry, "stored"));
		show_value(&table, json_get(entry, "computed"));
		table_text(&table, json_get_text(entry, "reason"));
	}
	return cli_print_table(cli, "", &table, NULL, err);
}

/* Verify one row: print the outcome, or add it to the list. */
static int verify_row(struct cli *cli, struct recompute_results *reread,
		      const struct result_info *row, struct outcome *outcome,
		      struct error *err)
{
	const char *rules = row->provenance ? row->provenance->rules : NULL;
	owned(result_clear) struct result result = { 0 };
	owned(cJSON_Delete) cJSON *list = NULL;
	char now[65];
	struct verified verified = {
		.job = row->job,
		.rules_stored = (char *)(rules ? rules : ""),
		.rules_now = now,
	};

	if (!row->result)
		return error_set(err, EINVAL, "the job has no result");
	if (recompute_results_result(reread, row, now, &result, err) < 0)
		return -1;
	list = recompute_compare(row, &result, now, err);
	if (!list)
		return -1;
	verified.differences = list;
	verified.same = !list->child;
	outcome->differ |= !verified.same;
	if (!cli_format(cli, "json"))
		return verified_show(cli, &verified, err);
	return cJSON_AddItemToArray(outcome->list,
				    codec_object(&verified_schema, &verified,
						 err))
		       ? 0
		       : -1;
}

static int verify_file(struct cli *cli, struct recompute_results *reread,
		       struct outcome *outcome, struct error *err)
{
	owned(result_info_clear) struct result_info row = { 0 };
	const struct verify_options *given = cli->given;
	uint64_t job = 0;

	if (!given->result || !given->log)
		return error_set(err, EINVAL,
				 "missing --result FILE or --log FILE "
				 "(expected both)");
	if (cli->arg_count > 1)
		return error_set(err, EINVAL,
				 "%zu jobs; expected one with --log",
				 cli->arg_count);
	if (cli->arg_count && cli_id(cli->args[0], "job", &job, err) < 0)
		return -1;
	return written_row_read(given->result, job, &row, err) < 0
		       ? -1
		       : verify_row(cli, reread, &row, outcome, err);
}

static int verify_job(struct cli *cli, struct recompute_results *reread,
		      uint64_t job, struct outcome *outcome, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	const struct reply_results *reply;

	if (results_of_job(reread->client, QUERY_RESULTS, job, &answer, err) <
	    0)
		return -1;
	reply = answer.reply;
	if (!reply->rows_count || reply->rows->job != job)
		return error_set(err, ENOENT, "no such job");
	return verify_row(cli, reread, reply->rows, outcome, err) < 0
		       ? error_prefix(err, "job %llu", (unsigned long long)job)
		       : 0;
}

/* Verify the results of all jobs that have one. */
static int verify_rows(struct cli *cli, struct recompute_results *reread,
		       const struct report_rows *rows, struct outcome *outcome,
		       struct error *err)
{
	ROWS_EACH(row, rows)
	{
		const struct result *result = row->info.result;

		if (result && result->measured &&
		    verify_row(cli, reread, &row->info, outcome, err) < 0)
			return error_prefix(err, "job %llu",
					    (unsigned long long)row->info.job);
	}
	return 0;
}

/* Of the last sweep, or that of the folder of a run. */
static int verify_sweep(struct cli *cli, struct recompute_results *reread,
			const char *folder, struct outcome *outcome,
			struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(report_rows_clear) struct report_rows rows = { 0 };
	uint64_t sweep;

	if (session_open_sweep(&session, cli, folder, &sweep, err) < 0 ||
	    results_fetch(session.client, sweep, false, &rows, err) < 0)
		return -1;
	cli_say(cli, "jobs of sweep %llu, the last sweep",
		(unsigned long long)sweep);
	reread->client = session.client;
	return verify_rows(cli, reread, &rows, outcome, err);
}

static int verify_bundle(struct cli *cli, struct recompute_results *reread,
			 const char *path, struct outcome *outcome,
			 struct error *err)
{
	owned(bundle_clear) struct bundle bundle = { 0 };
	const char *signer =
		((const struct verify_options *)cli->given)->signer;
	const struct reply_sign *signature = &bundle.signature;

	if (bundle_read(path, reread->folder, &bundle, err) < 0)
		return -1;
	cli_say(cli, "%s: %zu files are as signed at %s, for %s; signer: %s%s",
		path, bundle.manifest.files_count,
		human_utc(signature->at_ms).text, signature->by,
		signature->signer,
		signer ? "" : " (unknown; --signer checks it)");
	if (signer && strcmp(signer, signature->signer) != 0)
		return error_set(err, EINVAL,
				 "%s: the signer is %s; expected %.64s", path,
				 signature->signer, signer);
	return verify_rows(cli, reread, &bundle.rows, outcome, err);
}

/* Unpack its logs for as long as that takes. */
static int verify_unpacked(struct cli *cli, struct recompute_results *reread,
			   const char *path, struct outcome *outcome,
			   struct error *err)
{
	const char *parent = getenv("TMPDIR");
	char folder[PATH_MAX];
	int rc;

	if (file_path(folder, err, "%s/regatta-XXXXXX",
		      parent && *parent ? parent : "/tmp") < 0)
		return -1;
	if (!mkdtemp(folder))
		return error_errno(err, "%s", folder);
	reread->folder = folder;
	rc = verify_bundle(cli, reread, path, outcome, err);
	reread->folder = NULL;
	file_remove_tree(AT_FDCWD, folder, NULL);
	return rc;
}

static int verify_jobs(struct cli *cli, struct recompute_results *reread,
		       struct outcome *outcome, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	struct stat st;

	if (!cli->arg_count)
		return verify_sweep(cli, reread, NULL, outcome, err);
	for (size_t i = 0; i < cli->arg_count; i++) {
		const char *word = cli->args[i];
		uint64_t job;

		if (stat(word, &st) == 0) {
			if ((S_ISDIR(st.st_mode)
				     ? verify_sweep(cli, reread, word, outcome,
						    err)
				     : verify_unpacked(cli, reread, word,
						       outcome, err)) < 0)
				return -1;
			continue;
		}
		if (cli_id(word, "job", &job, err) < 0 ||
		    (!session.client && session_open(&session, cli, err) < 0))
			return -1;
		reread->client = session.client;
		if (verify_job(cli, reread, job, outcome, err) < 0)
			return -1;
	}
	return 0;
}

/* Replace this process by MLCommons' own checker of a log, so that its exit
 * code is the exit code.
 */
static int check_compliance(struct cli *cli, const char *log,
			    const char *ruleset, struct error *err)
{
	static const char script[] =
		/* No module of the folder that the logs are in. */
		"import sys\n"
		"sys.path = [path for path in sys.path if path]\n"
		"import importlib.util, runpy\n"
		"if not importlib.util.find_spec('mlperf_logging'):\n"
		"    print('regatta: verify: the Python module mlperf_logging "
		"'\n"
		"          'is not installed; it is in '\n"
		"          'https://github.com/mlcommons/logging',\n"
		"          file=sys.stderr)\n"
		"    sys.exit(2)\n"
		"runpy.run_module('mlperf_logging.compliance_checker',\n"
		"                 run_name='__main__')\n";
	const char *args[10] = { "python3", "-c", script, "--log_output",
				 "/dev/null" };
	size_t n = 5;

	if (ruleset) {
		args[n++] = "--ruleset";
		args[n++] = ruleset;
	}
	args[n++] = "--"; /* a log's name may be like an option */
	args[n] = log;
	if (access(log, R_OK) < 0)
		return error_set(err, EINVAL, "%.120s: %s", log,
				 strerror(errno));
	fflush(cli->out);
	execvp(args[0], (char **)args);
	return error_set(err, ENOENT, "python3 cannot be started (%s)",
			 strerror(errno));
}

static int verify_command(struct cli *cli, struct error *err)
{
	const struct verify_options *given = cli->given;
	owned(recompute_results_clear) struct recompute_results reread = {
		.framework = given->framework,
		.log = given->log,
	};
	owned(cJSON_Delete) cJSON *list = cJSON_CreateArray();
	struct outcome outcome = { .list = list };
	int rc;

	if (given->mlperf)
		return check_compliance(cli, given->mlperf, given->ruleset,
					err);
	if (!list)
		return error_nomem(err, "output");
	reread.catalog = cli_catalog(cli, err);
	if (!reread.catalog)
		return -1;
	rc = given->result || given->log
		     ? verify_file(cli, &reread, &outcome, err)
		     : verify_jobs(cli, &reread, &outcome, err);
	if (rc < 0 ||
	    (cli_format(cli, "json") && cli_print_json(cli, list, err) < 0))
		return -1;
	return outcome.differ ? EXIT_WORK_FAILED : EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(verify_options, "result", 0, OPTION_TEXT, result, "FILE"),
	  .help = "output of regatta report --format json, or one row of it" },
	{ OPTION(verify_options, "log", 0, OPTION_TEXT, log, "FILE"),
	  .help = "the log of that result; - is standard input" },
	{ OPTION(verify_options, "framework", 0, OPTION_TEXT, framework,
		 "NAME"),
	  .help = "framework that wrote the log (as in the result)" },
	{ OPTION(verify_options, "mlperf", 0, OPTION_TEXT, mlperf, "FILE"),
	  .help = "check an MLPerf log by the checker of MLCommons" },
	{ OPTION(verify_options, "ruleset", 0, OPTION_TEXT, ruleset,
		 "VERSION"),
	  .help = "rules for --mlperf, such as 5.1.0 (the newest)" },
	{ OPTION(verify_options, "signer", 0, OPTION_TEXT, signer, "KEY"),
	  .help = "who must have signed a bundle, as regatta bundle printed "
		  "it" },
	OPTION_STATE,
	OPTION_IMAGES,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_verify = {
	.name = "verify",
	.args = "[JOB|FILE|DIR...] | --result FILE --log FILE [JOB] | --mlperf FILE",
	.max_args = COMMAND_ARGS_MAX,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct verify_options),
	.summary = "recompute results from their logs and compare",
	.help =
		"Reads the stored logs of the last sweep, of jobs, of a file of "
		  "regatta bundle or of the folder of a regatta run again, "
		  "with the rules and figures of this machine. The exit status is 0 if all fields are equal "
		  "to the stored ones, and 1 if one differs. Of a file, "
		  "the hashes and the signature are checked, "
		  "and all its results. With --result "
		  "and --log, no controller is needed.",
	.example = "regatta verify 17 18",
	.fn = verify_command,
};
/* clang-format on */
