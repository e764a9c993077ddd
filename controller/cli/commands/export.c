/* export.c - export flagperf: writes the logs of a sweep in the layout of
 * FlagPerf.
 *
 *	DIR/run<YYYYmmddHHMMSS>/	when the sweep was submitted, UTC
 *	  flagperf_run.log		what became of each case; result lines
 *	  <case>/round<N>/<host>_noderank<i>/
 *	    rank<R>.out.log | rank0.log.txt | ...	output, by framework
 *	    and each followed file, by its own name
 *	    {cpu,mem,pwr,<vendor>}_monitor.log, sys_info.log
 *	  <case>/detail_result.json	base and operation: samples and result
 *	  detail_result.json		lines of each node; here the last case
 *
 * The base and operation suites have no round<N>.
 */
#include "controller/catalog/catalog.h"
#include "controller/cli/client.h"
#include "controller/cli/command.h"
#include "controller/cli/commands/exported.h"
#include "controller/cli/commands/streams.h"
#include "controller/cli/run/session.h"
#include "controller/results/json_object.h"
#include "controller/sweep/flagperf/names.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"
#include "protocol/hardware/sample_format.h"
#include "protocol/message/json_get.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/reply_nodes.h"
#include "protocol/yaml/value.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Writes the samples of a job in the format of FlagPerf's monitor
 * logs.
 *
 *	{cpu,mem,pwr}_monitor.log	a time, a tab, a fraction or watts
 *	<vendor>_monitor.log		a time, a line for each device, a blank
 *					line; how a line looks differs between
 *					vendors and suites (`monitors` in
 *					flagperf.yaml)
 *
 * Times are UTC. The vendor's file is only written if devices were sampled.
 */

/* A node of a job, and where its samples are written to. */
struct monitored {
	uint64_t job;
	uint32_t attempt;
	uint32_t node;           /* its rank */
	const char *vendor;      /* "": none */
	const char *suite;       /* of flagperf.yaml */
	double memory_mib;       /* of the node; 0: not known */
	const char *folder;      /* must exist */
	const struct value *how; /* `monitors` of flagperf.yaml */
	/* NULL, or an object to fill as FlagPerf's analysis of these logs does:
	 * {"cpu": [], "mem": [], "pwr": [], "vendor": {"temp": {"0": []},
	 * "power": {}, "mem": {}, "max_mem": 65536}}
	 */
	cJSON *detail;
};

#define TIME_FORM "%Y-%m-%d-%H:%M:%S"
#define LINE_MAX_BYTES 4096
#define UNKNOWN "N/A"
#define HOSTS 3

/* The readings of the host, with their names in files and details. */
static const struct {
	const char *name;
	enum host_reading reading;
} host_logs[HOSTS] = {
	{ "cpu", HOST_CPU_PCT },
	{ "mem", HOST_MEM_USED_MIB },
	{ "pwr", HOST_POWER_W },
};

/* The readings of devices that FlagPerf's analysis takes. */
static const struct {
	const char *name;
	enum reading reading;
} device_lists[] = {
	{ "temp", READING_TEMP_C },
	{ "power", READING_POWER_W },
	{ "mem", READING_MEM_USED_MIB },
};

#define DEVICE_LISTS (sizeof(device_lists) / sizeof(device_lists[0]))

struct monitors {
	const struct monitored *of;
	FILE *files[HOSTS];
	FILE *devices;            /* opened for the first device */
	const struct value *line; /* of the vendor, or NULL: it has none */
	const struct value *log;
	struct names names;
	struct sample_format_columns columns;
	struct buffer rest;
};

static void monitors_clear(struct monitors *monitors)
{
	for (size_t i = 0; i < HOSTS; i++)
		if (monitors->files[i])
			fclose(monitors->files[i]);
	if (monitors->devices)
		fclose(monitors->devices);
	names_clear(&monitors->names);
	buffer_clear(&monitors->rest);
}
OWNED_VALUE(struct monitors, monitors_clear)

/* The member of this name; it is made if it does not exist. */
static cJSON *member(cJSON *object, const char *name, bool array)
{
	cJSON *item = json_get(object, name);

	if (item || !object)
		return item;
	return array ? cJSON_AddArrayToObject(object, name)
		     : cJSON_AddObjectToObject(object, name);
}

/* Suites without a detail_result.json have no list. */
static void detail_keep(cJSON *list, double value)
{
	if (list)
		cJSON_AddItemToArray(list, cJSON_CreateNumber(value));
}

/* The host's own. */

/* Shares of 1 and watts, as FlagPerf's own monitor writes them. */
static void monitors_take_host(struct monitors *monitors,
			       const struct sample_format_line *line)
{
	double memory = monitors->of->memory_mib;
	const double scales[HOSTS] = { 0.01, memory > 0 ? 1 / memory : 0, 1 };
	char time[EXPORT_TIME_SIZE];

	export_time(line->time_ms, TIME_FORM, time);
	for (size_t i = 0; i < HOSTS; i++) {
		double value =
			line->host.value[host_logs[i].reading] * scales[i];

		if (!(line->host.has & 1u << host_logs[i].reading) ||
		    scales[i] <= 0)
			continue;
		fprintf(monitors->files[i], "%s\t%.6g\n", time, value);
		detail_keep(member(monitors->of->detail, host_logs[i].name,
				   true),
			    value);
	}
}

/* Devices. */

static int name_readings(struct names *names,
			 const struct sample_format_point *point,
			 struct error *err)
{
	for (int i = 0; i < READINGS; i++) {
		char text[32] = UNKNOWN;

		/* Two digits, and no zeros at their end. */
		if (point->has & 1u << i)
			snprintf(text, sizeof(text), "%.12g",
				 round(point->value[i] * 100) / 100);
		if (names_set(names, reading_name((enum reading)i), text, err) <
		    0)
			return -1;
	}
	return 0;
}

/* Devices are numbered by their position among those of the job. */
static void keep_details(struct monitors *monitors,
			 const struct sample_format_point *point, size_t device)
{
	cJSON *vendor = member(monitors->of->detail, "vendor", false);
	char number[24];

	snprintf(number, sizeof(number), "%zu", device);
	for (size_t i = 0; i < DEVICE_LISTS; i++) {
		cJSON *list =
			member(member(vendor, device_lists[i].name, false),
			       number, true);
		enum reading reading = device_lists[i].reading;

		if (point->has & 1u << reading)
			detail_keep(list, point->value[reading]);
	}
	if (vendor && point->has & 1u << READING_MEM_TOTAL_MIB &&
	    !json_get(vendor, "max_mem"))
		cJSON_AddNumberToObject(vendor, "max_mem",
					point->value[READING_MEM_TOTAL_MIB]);
}

static int open_devices(struct monitors *monitors, struct error *err)
{
	owned(buffer_clear) struct buffer name = BUFFER_INIT(NAME_MAX);
	char path[PATH_MAX];

	if (names_fill(&monitors->names, monitors->log, &name, err) < 0)
		return -1;
	monitors->devices =
		export_open(monitors->of->folder, name.data, path, err);
	return monitors->devices ? 0 : -1;
}

/* "N/AW" is "N/A": what is not known has no unit. */
static void drop_units(char *text)
{
	while ((text = strstr(text, UNKNOWN))) {
		text += strlen(UNKNOWN);
		memmove(text, text + strcspn(text, " /"),
			strlen(text + strcspn(text, " /")) + 1);
	}
}

static int monitors_take_devices(struct monitors *monitors,
				 const struct sample_format_line *line,
				 struct error *err)
{
	char time[EXPORT_TIME_SIZE];

	if (!monitors->line || !line->count)
		return 0;
	if (!monitors->devices && open_devices(monitors, err) < 0)
		return -1;
	export_time(line->time_ms, TIME_FORM, time);
	fprintf(monitors->devices, "%s\n", time);
	for (size_t i = 0; i < line->count; i++) {
		owned(buffer_clear) struct buffer text =
			BUFFER_INIT(LINE_MAX_BYTES);

		if (name_readings(&monitors->names, &line->points[i], err) <
			    0 ||
		    names_fill(&monitors->names, monitors->line, &text, err) <
			    0)
			return -1;
		drop_units(text.data);
		fprintf(monitors->devices, "%s\n", text.data);
		keep_details(monitors, &line->points[i], i);
	}
	fputc('\n', monitors->devices);
	return 0;
}

/* The stream. */

/* file_reader_fn */
static int take_samples(const void *piece, size_t size, void *arg,
			struct error *err)
{
	struct monitors *monitors = arg;
	char *end, *at;
	int rc = 0;

	if (buffer_append(&monitors->rest, piece, size, err) < 0)
		return -1;
	at = monitors->rest.data;
	while (rc == 0 &&
	       (end = memchr(at, '\n',
			     monitors->rest.size -
				     (size_t)(at - monitors->rest.data)))) {
		owned(sample_format_line_clear) struct sample_format_line
			line = { 0 };

		if (sample_format_read(&monitors->columns, at,
				       (size_t)(end - at), &line, NULL) == 0) {
			if (line.kind == SAMPLE_FORMAT_HOST)
				monitors_take_host(monitors, &line);
			else if (line.kind == SAMPLE_FORMAT_DEVICES)
				rc = monitors_take_devices(monitors, &line,
							   err);
		}
		at = end + 1;
	}
	buffer_consume(&monitors->rest, (size_t)(at - monitors->rest.data));
	return rc;
}

static int open_all(struct monitors *monitors, struct error *err)
{
	const struct monitored *of = monitors->of;
	const struct value *how = value_get(of->how, of->vendor);

	for (size_t i = 0; i < HOSTS; i++) {
		char name[32], path[PATH_MAX];

		snprintf(name, sizeof(name), "%s_monitor.log",
			 host_logs[i].name);
		member(of->detail, host_logs[i].name, true);
		monitors->files[i] = export_open(of->folder, name, path, err);
		if (!monitors->files[i])
			return -1;
	}
	for (size_t i = 0; i < DEVICE_LISTS; i++)
		member(member(of->detail, "vendor", false),
		       device_lists[i].name, false);
	if (!*of->vendor)
		return 0;
	how = how ? how : value_get(of->how, "others");
	monitors->log = value_get(how, "log");
	if (monitors->log) {
		monitors->line = value_get(how, of->suite);
		if (!monitors->line)
			monitors->line = value_get(how, "line");
	}
	return names_set(&monitors->names, "vendor", of->vendor, err);
}

/* Write the files. ENOENT: there are no samples of the node. */
static int monitors_write(struct client *client,
			  const struct monitored *monitored, struct error *err)
{
	owned(monitors_clear) struct monitors monitors = { .of = monitored };
	char stream[SAMPLE_FORMAT_STREAM_SIZE];

	buffer_init(&monitors.rest, (size_t)4 << 20);
	if (open_all(&monitors, err) < 0)
		return -1;
	sample_format_stream(monitored->node, stream);
	return stream_read(client, monitored->job, monitored->attempt, stream,
			   0, take_samples, &monitors, err);
}

#define RESULT_MARK "[FlagPerf Result]"

struct export
{
	struct cli *cli;
	struct session session;
	struct client *client; /* of the session */
	struct catalog *catalog;
	struct rows nodes; /* struct node_info */
	char run[PATH_MAX];
	FILE *driver; /* flagperf_run.log */
	size_t jobs;
};

static void export_clear(struct export *export)
{
	if (export->driver)
		fclose(export->driver);
	rows_clear(&export->nodes);
	catalog_free(export->catalog);
	session_clear(&export->session);
}
OWNED_VALUE(struct export, export_clear)

/* Files. */

/* A stream that is written to a file; its result lines also go to the driver's
 * log.
 */
struct copy {
	FILE *file;
	FILE *driver;
	cJSON *results; /* the lines, or NULL */
	char line[512];
	size_t size;
};

static void scan_results(struct copy *copy, const char *piece, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		const char *mark;

		if (piece[i] != '\n') {
			if (copy->size < sizeof(copy->line) - 1)
				copy->line[copy->size++] = piece[i];
			continue;
		}
		copy->line[copy->size] = 0;
		copy->size = 0;
		mark = strstr(copy->line, RESULT_MARK);
		if (!mark)
			continue;
		fprintf(copy->driver, "  %s\n", mark + strlen(RESULT_MARK));
		if (copy->results)
			cJSON_AddItemToArray(copy->results,
					     cJSON_CreateString(copy->line));
	}
}

/* file_reader_fn */
static int export_take_piece(const void *piece, size_t size, void *arg,
			     struct error *err)
{
	struct copy *copy = arg;

	if (fwrite(piece, 1, size, copy->file) != size)
		return error_errno(err, "writing");
	scan_results(copy, piece, size);
	return 0;
}

static int copy_stream(struct export *export, const struct job_info *job,
		       const char *stream, const char *folder, const char *file,
		       cJSON *results, struct error *err)
{
	char path[PATH_MAX];
	struct copy copy = { .driver = export->driver, .results = results };
	int rc;

	copy.file = export_open(folder, file, path, err);
	if (!copy.file)
		return -1;
	rc = stream_read(export->client, job->job, job->attempt, stream, 0,
			 export_take_piece, &copy, err);
	if (fclose(copy.file) != 0 && rc == 0)
		rc = error_errno(err, "%s", path);
	return rc;
}

/* Nodes. */

static const struct node_info *export_find_node(const struct export *export,
						const char *name)
{
	for (size_t i = 0; i < export->nodes.count; i++) {
		const struct node_info *node = rows_at(&export->nodes, i);

		if (!strcmp(node->name, name))
			return node;
	}
	return NULL;
}

/* Write the facts of the node, one per line. */
static int facts_write(const struct node_info *node, const char *folder,
		       struct error *err)
{
	char path[PATH_MAX];
	const cJSON *facts = node ? node->facts : NULL, *fact;
	FILE *file = export_open(folder, "sys_info.log", path, err);

	if (!file)
		return -1;
	cJSON_ArrayForEach(fact, facts) {
		char *text = cJSON_PrintUnformatted(fact);

		fprintf(file, "%s: %s\n", fact->string,
			cJSON_IsString(fact) ? fact->valuestring
			: text               ? text
					     : "");
		cJSON_free(text);
	}
	return fclose(file) ? error_errno(err, "%s", path) : 0;
}

/* Jobs. */

/* The folder of a node of the job. */
struct node_folder {
	const struct node_info *node; /* or NULL */
	char folder[PATH_MAX];        /* made */
	cJSON *detail; /* its part of detail_result.json, or NULL */
};

static cJSON *detail_of(cJSON *detail, const char *host)
{
	cJSON *item = json_get(detail, host);

	return item || !detail ? item : cJSON_AddObjectToObject(detail, host);
}

static int make_node_folder(const struct export *export,
			    const struct exported *exported, uint32_t rank,
			    struct node_folder *to, struct error *err)
{
	const struct strings *allocation = &exported->job->allocation;
	const char *name =
		rank < allocation->count ? allocation->items[rank] : NULL;
	const char *address;
	char host[128], round[24] = "";

	to->node = name ? export_find_node(export, name) : NULL;
	address = to->node ? to->node->address : NULL;
	export_name(address ? address
		    : name  ? name
			    : "unknown",
		    host, sizeof(host));
	if (!strcmp(exported->suite, "training"))
		snprintf(round, sizeof(round), "/round%u",
			 exported->job->repeat + 1);
	if (file_path(to->folder, err, "%s/%s%s/%s_noderank%u", export->run,
		      exported->name, round, host, rank) < 0)
		return -1;
	to->detail = detail_of(exported->detail, host);
	return file_make_folders(to->folder, 0755, err);
}

/* Find kind, rank and node of a stream by its name. */
static bool parse_stream(const struct exported *exported, const char *stream,
			 const char **kind, uint32_t *rank, uint32_t *node)
{
	static const char *const kinds[] = { "rank-", "node-" };

	for (size_t i = 0; i < 2; i++) {
		size_t size = strlen(kinds[i]);

		if (strncmp(stream, kinds[i], size) != 0)
			continue;
		*kind = kinds[i];
		*rank = (uint32_t)strtoul(stream + size, NULL, 10);
		*node = *rank;
		if (!i && exported->processes)
			*node = *rank / exported->processes;
		return *node < exported->nodes;
	}
	return false;
}

/* A new list for the result lines of the file; NULL: FlagPerf does not look for
 * them in this file. A later file of the same name replaces the list.
 */
static cJSON *results_of(const struct exported *exported, cJSON *detail,
			 const char *file)
{
	static const char name[] = "flagperf";

	if (!detail || strcmp(file, exported->log_name) != 0)
		return NULL;
	cJSON_DeleteItemFromObjectCaseSensitive(detail, name);
	return cJSON_AddArrayToObject(detail, name);
}

static int export_stream(struct export *export, struct exported *exported,
			 const struct stream_info *stream, struct error *err)
{
	owned(buffer_clear) struct buffer log;
	const char *name = stream->stream, *path = stream->path, *kind;
	char file[256], base[200];
	struct node_folder to;
	uint32_t rank, at;

	buffer_init(&log, sizeof(file) - 1);
	if (!parse_stream(exported, name, &kind, &rank, &at))
		return 0;
	if (make_node_folder(export, exported, at, &to, err) < 0)
		return -1;
	if (!strcmp(kind, "node-")) {
		if (!path)
			return 0; /* the index */
		export_name(strrchr(path, '/') ? strrchr(path, '/') + 1 : path,
			    base, sizeof(base));
		snprintf(file, sizeof(file), "%s", base);
		if (stream->part > 1)
			snprintf(file, sizeof(file), "%s.%u", base,
				 stream->part);
	} else {
		if (names_number(&exported->names, "rank", rank, err) < 0 ||
		    (exported->log && names_fill(&exported->names,
						 exported->log, &log, err) < 0))
			return -1;
		export_name(log.size ? log.data : name, file, sizeof(file));
	}
	return copy_stream(export, exported->job, name, to.folder, file,
			   results_of(exported, to.detail, file), err);
}

static double memory_mib(const struct node_info *node)
{
	double bytes = node ? row_double(node->facts, "memory_bytes") : 0;

	return bytes > 0 ? bytes / (1 << 20) : 0;
}

/* Samples are not in the list of streams: ENOENT means that there are none. */
static int export_samples(struct export *export,
			  const struct exported *exported, struct error *err)
{
	const struct job_info *job = exported->job;
	const char *vendor = row_text(job->spec, "vendor");
	struct monitored monitored = {
		.job = job->job,
		.attempt = job->attempt,
		.vendor = vendor ? vendor : "",
		.suite = exported->suite,
		.how = value_get(catalog_flagperf(export->catalog), "monitors"),
	};

	/* A job that never ran has no nodes and no samples. */
	for (uint32_t i = 0; i < exported->nodes && i < job->allocation.count;
	     i++) {
		struct error why = { 0 };
		struct node_folder to;

		if (make_node_folder(export, exported, i, &to, err) < 0 ||
		    facts_write(to.node, to.folder, err) < 0)
			return -1;
		monitored.node = i;
		monitored.memory_mib = memory_mib(to.node);
		monitored.folder = to.folder;
		monitored.detail = to.detail;
		if (monitors_write(export->client, &monitored, &why) < 0 &&
		    why.code != ENOENT) {
			*err = why;
			return -1;
		}
	}
	return 0;
}

/* Write the details of the case. As in FlagPerf, those of the last case are
 * also in the folder of the run.
 */
static int write_detail(const struct export *export,
			const struct exported *exported, struct error *err)
{
	owned_free char *text = cJSON_PrintUnformatted(exported->detail);
	const char *const folders[] = { exported->name, "." };

	if (!text)
		return error_nomem(err, "detail_result.json");
	for (size_t i = 0; i < 2; i++) {
		char path[PATH_MAX];

		if (file_path(path, err, "%s/%s/detail_result.json",
			      export->run, folders[i]) < 0 ||
		    file_write(AT_FDCWD, path, text, strlen(text), 0644, 0,
			       err) < 0)
			return -1;
	}
	return 0;
}

static void tell_driver(struct export *export, const struct exported *exported)
{
	const struct job_info *job = exported->job;
	char time[EXPORT_TIME_SIZE];

	export_time(job->ended_ms, "%Y-%m-%d %H:%M:%S", time);
	fprintf(export->driver, "%s\t[%s]\t[regatta]%s: %s%s%s\n", time,
		!strcmp(job->state, "completed") ? "INFO" : "ERROR",
		exported->name, job->state, job->text ? ": " : "",
		job->text ? job->text : "");
}

/* Followed files come last: a file that a script of the tree wrote replaces an
 * output of the same name.
 */
static int export_job(struct export *export, uint64_t id, struct error *err)
{
	struct message_query query = { .what = QUERY_JOB, .id = id };
	owned(answer_clear) struct answer answer = { 0 };
	owned(exported_clear) struct exported exported = { .job = NULL };
	const struct job_info *job;

	if (client_query(export->client, &query, &answer, err) < 0)
		return -1;
	exported.job = job = &((const struct reply_job *)answer.reply)->job;
	if (exported_describe(&exported, export->catalog, err) < 0)
		return -1;
	tell_driver(export, &exported);
	for (int followed = 0; followed < 2; followed++)
		for (size_t i = 0; i < job->streams_count; i++)
			if ((job->streams[i].path != NULL) == followed &&
			    export_stream(export, &exported, &job->streams[i],
					  err) < 0)
				return -1;
	export->jobs++;
	if (export_samples(export, &exported, err) < 0)
		return -1;
	return exported.detail && exported.detail->child
		       ? write_detail(export, &exported, err)
		       : 0;
}

static int open_run(struct export *export, const struct sweep_info *sweep,
		    const char *folder, struct error *err)
{
	char time[EXPORT_TIME_SIZE], path[PATH_MAX];

	export_time(sweep->submitted_ms, "%Y%m%d%H%M%S", time);
	if (file_path(export->run, err, "%s/run%s", folder, time) < 0)
		return -1;
	if (access(export->run, F_OK) == 0)
		return error_set(err, EINVAL,
				 "%s exists; remove it, or name another folder",
				 export->run);
	if (file_make_folders(export->run, 0755, err) < 0)
		return -1;
	export->driver =
		export_open(export->run, "flagperf_run.log", path, err);
	return export->driver ? 0 : -1;
}

static int export_command(struct cli *cli, struct error *err)
{
	owned(export_clear) struct export export = { .cli = cli };
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_SWEEP };
	owned(rows_clear) struct rows jobs = { 0 };

	if (!(export.catalog = cli_catalog(cli, err)) ||
	    session_open_sweep(&export.session, cli, cli->args[1], &query.id,
			       err) < 0)
		return -1;
	export.client = export.session.client;
	if (client_query(export.client, &query, &answer, err) < 0 ||
	    client_rows(export.client, QUERY_JOBS, query.id, "job", &jobs,
			err) < 0 ||
	    client_rows(export.client, QUERY_NODES, 0, NULL, &export.nodes,
			err) < 0 ||
	    open_run(&export,
		     &((const struct reply_sweep *)answer.reply)->sweep,
		     cli->arg_count > 2 ? cli->args[2] : ".", err) < 0)
		return -1;
	for (size_t i = 0; i < jobs.count; i++) {
		const struct job_info *job = rows_at(&jobs, i);

		if (export_job(&export, job->job, err) < 0)
			return -1;
	}
	fprintf(cli->out, "%s\n", export.run);
	cli_say(cli, "%zu jobs", export.jobs);
	return EXIT_GOOD;
}

/* clang-format off */
static const struct subcommand subcommands[] = {
	{ "flagperf", "SWEEP|DIR [DIR]", 1, 2, NULL,
	  "write the log folders of FlagPerf", export_command },
	{ "mlperf", "SWEEP|FILE|DIR [DIR]", 1, 2, NULL,
	  "write each result as the lines of an MLPerf log", export_mlperf },
	{ 0 },
};

static const struct option_rule rules[] = {
	OPTION_STATE,
	OPTION_IMAGES,
	{ 0 },
};

const struct command command_export = {
	.name = "export",
	.min_args = 1,
	.connects = true,
	.rules = rules,
	.summary = "write a sweep in the form of FlagPerf or MLPerf",
	.help =
		"flagperf creates DIR/run<time>/<case>/round<N>/<host>_noderank<i>/ "
		  "with the output of each process, the followed files and "
		  "the samples, under the names that FlagPerf uses. Prints "
		  "the folder.",
	.example = "regatta export flagperf 3 results",
	.subcommands = subcommands,
};
/* clang-format on */
