/* provenance.c - the origin of a result: what ran, on which nodes, read by
 * which rules.
 */
#include "controller/jobs/provenance.h"

#include "controller/catalog/catalog.h"
#include "controller/cluster/active_job_internal.h"
#include "controller/jobs/homogeneity.h"
#include "controller/logs/log_reader.h"
#include "controller/nodes/node.h"
#include "controller/results/formula.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of one host's description. */
#define HOST_TEXT_MAX (1 << 20)

static void write_facts(struct json_writer *writer, const struct task *task,
			const char *const *names)
{
	for (; *names; names++)
		json_tree(writer, *names, task_fact(task, *names));
}

uint64_t provenance_devices(const struct gang *gang)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		count += (uint64_t)__builtin_popcountll(
			task_devices(&gang->tasks[i]));
	return count;
}

bool provenance_simulated(const struct gang *gang)
{
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(
			    node_view(task_node(&gang->tasks[i]))->facts,
			    "simulated")))
			return true;
	return false;
}

/* The host of a task, without its name. */
static char *describe_host(const struct task *task, struct error *err)
{
	static const char *const facts[] = {
		"driver", "sdk", "engine", "kernel", "os", "machine", NULL,
	};
	owned(buffer_clear) struct buffer text;
	struct json_writer writer;

	buffer_init(&text, HOST_TEXT_MAX);
	json_writer_init(&writer, &text);
	json_text(&writer, "image", task->image_id);
	json_text(&writer, "vendor", node_view(task_node(task))->vendor);
	write_facts(&writer, task, facts);
	return json_writer_end(&writer, err) < 0 ? NULL : buffer_take(&text);
}

/* The names of the hosts with this text, whose texts are freed. */
static void write_alike(const struct gang *gang, struct json_writer *writer,
			char **texts, const char *text)
{
	json_open(writer, "nodes", '[');
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		if (!texts[i] || strcmp(texts[i], text) != 0)
			continue;
		json_text(writer, NULL, node_name(task_node(&gang->tasks[i])));
		free(take(texts[i]));
	}
	json_close(writer);
}

static void write_hosts(const struct gang *gang, struct json_writer *writer)
{
	owned_free char **texts = calloc(gang->spec.nodes + 1, sizeof(*texts));
	struct error err;

	if (!texts) {
		error_nomem(&err, "provenance");
		json_fail(writer, &err);
		return;
	}
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		texts[i] = describe_host(&gang->tasks[i], &err);
		if (!texts[i])
			json_fail(writer, &err);
	}
	json_open(writer, "hosts", '[');
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		owned_free char *text = texts[i] ? strdup(texts[i]) : NULL;

		if (!text)
			continue;
		json_open(writer, NULL, '{');
		json_members(writer, text);
		write_alike(gang, writer, texts, text);
		json_close(writer);
	}
	json_close(writer);
}

/* The descriptions of the sweep itself, each with the SHA-256 of its text. */
static void write_described(struct json_writer *writer, const cJSON *described)
{
	const cJSON *kind, *text;

	if (!described)
		return;
	json_open(writer, "described", '{');
	cJSON_ArrayForEach(kind, described)
	{
		json_open(writer, kind->string, '{');
		cJSON_ArrayForEach(text, kind)
		{
			const char *file = cJSON_GetStringValue(text);
			char hash[65];

			catalog_hash(file, strlen(file), hash);
			json_text(writer, text->string, hash);
		}
		json_close(writer);
	}
	json_close(writer);
}

static void write_reading(struct json_writer *writer, const struct gang *gang)
{
	const char *name = gang->spec.measure.framework;
	const struct framework *framework = log_reader_format(gang);
	char hash[65] = "";
	const char *stream;

	if (framework)
		catalog_rules_hash(gang->catalog, framework, hash);
	json_text(writer, "framework", name);
	json_text(writer, "log", framework ? framework->name : NULL);
	json_text(writer, "rules", *hash ? hash : NULL);
	write_described(writer, gang->spec.measure.described);
	json_open(writer, "streams", '[');
	for (size_t i = 0; (stream = log_reader_stream(gang, i)); i++)
		json_text(writer, NULL, stream);
	json_close(writer);
}

/* Remarks of tasks that did not fail, for example about missing output. */
static void write_notes(struct json_writer *writer, const struct gang *gang)
{
	bool any = false;
	char text[400];

	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];

		if (task->failure || !task->text || !*task->text)
			continue;
		if (!any)
			json_open(writer, "notes", '[');
		any = true;
		snprintf(text, sizeof(text), "%s: %s",
			 node_name(task_node(task)), task->text);
		json_text(writer, NULL, text);
	}
	if (any)
		json_close(writer);
}

static bool is_environment(const cJSON *fact)
{
	return strcmp(fact->string, "warnings") != 0;
}

/* All facts: those of the node, then those of the task, which replace facts of
 * the node with the same name. The part of the node is the same for all jobs on
 * it.
 */
static void write_node_facts(struct json_writer *writer,
			     const struct task *task)
{
	const cJSON *fact;

	json_open(writer, "environment", '{');
	cJSON_ArrayForEach(fact, node_view(task_node(task))->facts)
	{
		if (is_environment(fact) &&
		    !cJSON_GetObjectItemCaseSensitive(task->facts,
						      fact->string))
			json_member(writer, fact);
	}
}

static void write_task_facts(struct json_writer *writer,
			     const struct task *task)
{
	const cJSON *fact;

	cJSON_ArrayForEach(fact, task->facts)
	{
		if (is_environment(fact))
			json_member(writer, fact);
	}
	json_close(writer);
}

static void write_origin(struct json_writer *writer, const struct gang *gang)
{
	static const char *const facts[] = {
		"engine", "kernel", "os", "cpu", "driver", NULL,
	};
	const struct task *first = &gang->tasks[0];

	json_text(writer, "image", first->image_id);
	json_text(writer, "image_reference", gang->spec.container.image);
	json_text(writer, "image_pin", first->image_pin);
	write_facts(writer, first, facts);
	write_node_facts(writer, first);
}

void provenance_write(const struct job *job, struct json_writer *writer,
		      const char *name, struct provenance_shared *shared)
{
	const struct gang *gang = job->gang;

	json_open(writer, name, '{');
	shared->from = writer->out->size;
	write_origin(writer, gang);
	shared->to = writer->out->size;
	write_task_facts(writer, &gang->tasks[0]);
	json_open(writer, "nodes", '[');
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		json_text(writer, NULL, node_name(task_node(&gang->tasks[i])));
	json_close(writer);
	write_hosts(gang, writer);
	json_bool(writer, "simulated", provenance_simulated(gang));
	json_number(writer, "devices", (double)provenance_devices(gang));
	json_number(writer, "attempt", job->attempt);
	json_text(writer, "cell_key", gang->spec.key);
	json_text(writer, "workspace", gang->spec.container.workspace);
	write_reading(writer, gang);
	json_number(writer, "formula", FORMULA_VERSION);
	json_text(writer, "regatta", REGATTA_VERSION);
	write_notes(writer, gang);
	json_close(writer);
}
