/* exported.c - describes a job as a case of FlagPerf, for export.
 */
#include "controller/cli/commands/exported.h"
#include "controller/cli/commands/sweep_source.h"
#include "controller/report/row.h"
#include "controller/results/json_object.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"
#include "protocol/message/json_get.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <time.h>

struct mllog {
	struct buffer *out;
	int64_t begin_ms, end_ms;
	int rc;
	struct error *err;
};

/* One line; the value is owned. */
static void mllog_put(struct mllog *log, int64_t time_ms, const char *event,
		      const char *key, cJSON *value, cJSON *metadata)
{
	owned(cJSON_Delete) cJSON *line = cJSON_CreateObject();

	if (!value || !metadata ||
	    !cJSON_AddStringToObject(line, "namespace", "") ||
	    !cJSON_AddNumberToObject(line, "time_ms", (double)time_ms) ||
	    !cJSON_AddStringToObject(line, "event_type", event) ||
	    !cJSON_AddStringToObject(line, "key", key) ||
	    !cJSON_AddItemToObject(line, "value", value) ||
	    !cJSON_AddItemToObject(line, "metadata", metadata) ||
	    buffer_text(log->out, ":::MLLOG ", log->err) < 0 ||
	    codec_print(line, log->out, log->err) < 0 ||
	    buffer_text(log->out, "\n", log->err) < 0)
		log->rc = -1;
}

/* A fact of the run; NULL and what is not known is left out. */
static void mllog_text(struct mllog *log, const char *key, const char *text)
{
	if (text && *text)
		mllog_put(log, log->begin_ms, "POINT_IN_TIME", key,
			  cJSON_CreateString(text), cJSON_CreateObject());
}

static void mllog_number(struct mllog *log, const char *key, double number)
{
	if (number > 0)
		mllog_put(log, log->begin_ms, "POINT_IN_TIME", key,
			  cJSON_CreateNumber(number), cJSON_CreateObject());
}

static void mllog_head(struct mllog *log, const struct result_info *row)
{
	const struct measure_spec *measure = &row->setup->measure;
	char platform[200];

	snprintf(platform, sizeof(platform), "%ux%s", row->devices,
		 measure->chip ? measure->chip : row->setup->vendor);
	mllog_text(log, "submission_benchmark", measure->model);
	mllog_text(log, "submission_platform", platform);
	mllog_number(log, "number_of_nodes", row->nodes);
	mllog_number(log, "accelerators_per_node",
		     row->nodes ? (double)row->devices / row->nodes : 0);
	mllog_number(log, "global_batch_size", (double)measure->global_batch);
	mllog_number(log, "gradient_accumulation_steps", measure->accumulate);
	mllog_number(log, "max_sequence_length", measure->sequence);
	mllog_number(log, "opt_max_steps", measure->steps);
}

/* What a step of that number has. */
static void mllog_at(struct mllog *log, const char *key, double value,
		     double step)
{
	cJSON *metadata = cJSON_CreateObject();

	if (!isfinite(value)) {
		cJSON_Delete(metadata);
		return;
	}
	if (isfinite(step))
		cJSON_AddNumberToObject(metadata, "step_num", step);
	mllog_put(log, log->end_ms, "POINT_IN_TIME", key,
		  cJSON_CreateNumber(value), metadata);
}

int mllog_write(const struct result_info *row, struct buffer *out,
		struct error *err)
{
	const struct result *result = row->result;
	struct mllog log = { .out = out,
			     .begin_ms = result->inputs.started_ms,
			     .end_ms = result->inputs.ended_ms,
			     .err = err };
	cJSON *status = cJSON_CreateObject();

	if (row->setup)
		mllog_head(&log, row);
	mllog_put(&log, log.begin_ms, "INTERVAL_START", "run_start",
		  cJSON_CreateNull(), cJSON_CreateObject());
	if (result->loss)
		mllog_at(&log, "train_loss", result->loss->last, result->steps);
	mllog_at(&log, "train_samples_per_second", result->samples_per_second,
		 result->steps);
	mllog_at(&log, "train_tokens_per_second", result->tokens_per_second,
		 result->steps);
	cJSON_AddStringToObject(status, "status", "success");
	mllog_put(&log, log.end_ms, "INTERVAL_END", "run_stop",
		  cJSON_CreateNull(), status);
	return log.rc;
}

static int mlperf_write_file(const struct report_row *row, const char *folder,
			     struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	char path[PATH_MAX];

	if (mllog_write(&row->info, &text, err) < 0 ||
	    file_path(path, err, "%s/result_%llu.txt", folder,
		      (unsigned long long)row->info.job) < 0)
		return -1;
	return file_write(AT_FDCWD, path, text.data, text.size, 0644, 0, err);
}

int export_mlperf(struct cli *cli, struct error *err)
{
	owned(sweep_source_clear) struct sweep_source source = { 0 };
	const char *folder = cli->arg_count > 2 ? cli->args[2] : ".";
	size_t count = 0;

	if (sweep_source_read(&source, cli, cli->args[1], 0, err) < 0 ||
	    file_make_folders(folder, 0755, err) < 0)
		return -1;
	ROWS_EACH(row, &source.rows)
	{
		if (!row_completed(row) || !row->info.result)
			continue;
		if (mlperf_write_file(row, folder, err) < 0)
			return -1;
		count++;
	}
	fprintf(cli->out, "%s\n", folder);
	cli_say(cli, "%zu files result_JOB.txt", count);
	return EXIT_GOOD;
}

void export_name(const char *from, char *name, size_t size)
{
	snprintf(name, size, "%s", *from ? from : "_");
	for (char *c = name; *c; c++)
		if (*c == '/' || (unsigned char)*c < ' ')
			*c = '-';
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		*name = '_';
}

void export_time(int64_t ms, const char *form, char text[EXPORT_TIME_SIZE])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm time = { 0 };

	gmtime_r(&seconds, &time);
	strftime(text, EXPORT_TIME_SIZE, form, &time);
}

FILE *export_open(const char *folder, const char *name, char path[PATH_MAX],
		  struct error *err)
{
	FILE *file;

	if (file_path(path, err, "%s/%s", folder, name) < 0)
		return NULL;
	file = fopen(path, "we");
	if (!file)
		error_errno(err, "%s", path);
	return file;
}

/* A text or a number of the spec; "" and 0 if it is not there. */
static const char *text_at(const cJSON *spec, const char *path)
{
	const char *text = row_text(spec, path);

	return text ? text : "";
}

static uint32_t count_at(const cJSON *spec, const char *path)
{
	double number = row_double(spec, path);

	return number > 0 ? (uint32_t)number : 0;
}

void exported_clear(struct exported *exported)
{
	names_clear(&exported->names);
	cJSON_Delete(exported->detail);
}

static const char *last_word(const cJSON *argv)
{
	int count = cJSON_GetArraySize(argv);
	const char *word = cJSON_GetStringValue(
		cJSON_GetArrayItem(argv, count ? count - 1 : 0));

	return word ? word : "";
}

static bool argv_has_word(const cJSON *argv, const char *end)
{
	const cJSON *word;

	cJSON_ArrayForEach(word, argv) {
		size_t size =
			cJSON_IsString(word) ? strlen(word->valuestring) : 0;

		if (size >= strlen(end) &&
		    !strcmp(word->valuestring + size - strlen(end), end))
			return true;
	}
	return false;
}

/* The entry of flagperf.yaml that started the job; without a flagperf: block,
 * the entry that a case of its framework would have.
 */
static const struct value *exported_find_entry(const struct catalog *catalog,
					       const struct exported *exported,
					       const char *launcher,
					       const cJSON *argv)
{
	const struct value *suite =
		value_get(value_get(catalog_flagperf(catalog), "suites"),
			  exported->suite);
	char start[160];

	snprintf(start, sizeof(start), "/start_%s_task.py", launcher);
	if (argv_has_word(argv, start) ||
	    argv_has_word(argv, "/container_main.py"))
		return value_get(suite, "tree");
	return value_get(value_get(suite, "launchers"), launcher);
}

int exported_describe(struct exported *exported, const struct catalog *catalog,
		      struct error *err)
{
	const cJSON *spec = exported->job->spec;
	const cJSON *argv = row_at(spec, "container.argv");
	const struct value *suites =
		value_get(catalog_flagperf(catalog), "suites");
	const char *framework = text_at(spec, "measure.framework");
	const char *name = text_at(spec, "values.case");
	char made[256], launcher[128];

	exported->nodes = count_at(spec, "nodes");
	exported->processes = count_at(spec, "container.processes");
	/* Suites other than training have log rules of their own name. */
	exported->suite = strcmp(framework, "training") != 0 &&
					  value_get(suites, framework)
				  ? framework
				  : "training";
	if (!*name) {
		uint32_t devices = exported->job->devices; /* of all nodes */

		if (exported->nodes)
			devices /= exported->nodes;
		snprintf(made, sizeof(made), "%s:%s:%s:%u:%u:1",
			 text_at(spec, "measure.model"), framework,
			 text_at(spec, "measure.chip"), exported->nodes,
			 devices);
		name = made;
	}
	export_name(name, exported->name, sizeof(exported->name));
	framework = strchr(name, ':') ? strchr(name, ':') + 1 : "";
	snprintf(launcher, sizeof(launcher), "%.*s",
		 (int)strcspn(framework, "_:"), framework);
	if (!strcmp(exported->suite, "base"))
		snprintf(launcher, sizeof(launcher), "%s",
			 !strcmp(last_word(argv), "main.sh") ? "toolkit"
							     : "benchmark");
	else if (strcmp(exported->suite, "training") != 0)
		snprintf(launcher, sizeof(launcher), "%s", exported->suite);
	if (!strcmp(exported->suite, "base") ||
	    !strcmp(exported->suite, "operation")) {
		snprintf(exported->log_name, sizeof(exported->log_name),
			 "%s.log.txt", launcher);
		exported->detail = cJSON_CreateObject();
		if (!exported->detail)
			return error_nomem(err, "export");
	}
	exported->log = value_get(exported_find_entry(catalog, exported,
						      launcher, argv),
				  "log");
	return names_set(&exported->names, "launcher", launcher, err);
}
