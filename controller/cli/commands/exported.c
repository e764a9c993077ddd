/* exported.c - describes a job as a case of FlagPerf, for export.
 */
#include "controller/cli/commands/exported.h"
#include "controller/results/json_object.h"

#include "protocol/base/file.h"

#include <string.h>
#include <time.h>

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

	cJSON_ArrayForEach(word, argv)
	{
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
