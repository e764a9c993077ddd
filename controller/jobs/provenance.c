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

static cJSON *text_or_null(const char *text)
{
	return text ? cJSON_CreateString(text) : cJSON_CreateNull();
}

static void copy_fact(cJSON *to, const struct task *task, const char *name)
{
	const cJSON *fact = task_fact(task, name);

	cJSON_AddItemToObject(to, name,
			      fact ? cJSON_Duplicate(fact, true)
				   : cJSON_CreateNull());
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

/* What a node ran the task on, without its name. */
static cJSON *describe_host(const struct task *task)
{
	static const char *const facts[] = {
		"driver", "sdk", "engine", "kernel", "os", "machine",
	};
	cJSON *host = cJSON_CreateObject();

	cJSON_AddItemToObject(host, "image", text_or_null(task->image_id));
	cJSON_AddItemToObject(host, "vendor",
			      text_or_null(node_view(task_node(task))->vendor));
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		copy_fact(host, task, facts[i]);
	return host;
}

/* The entry of hosts[] that is like this one, else a new one. */
static cJSON *host_like(cJSON *hosts, cJSON *names, cJSON *host)
{
	const cJSON *other;
	int i = 0;

	cJSON_ArrayForEach(other, hosts)
	{
		if (cJSON_Compare(other, host, true)) {
			cJSON_Delete(host);
			return cJSON_GetArrayItem(names, i);
		}
		i++;
	}
	cJSON_AddItemToArray(hosts, host);
	cJSON_AddItemToArray(names, cJSON_CreateArray());
	return cJSON_GetArrayItem(names, i);
}

static cJSON *make_hosts(const struct gang *gang)
{
	cJSON *hosts = cJSON_CreateArray();
	cJSON *names = cJSON_CreateArray(); /* of the nodes of each */
	cJSON *host;

	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];

		cJSON_AddItemToArray(host_like(hosts, names,
					       describe_host(task)),
				     cJSON_CreateString(
					     node_name(task_node(task))));
	}
	cJSON_ArrayForEach(host, hosts)
	{
		cJSON_AddItemToObject(host, "nodes",
				      cJSON_DetachItemFromArray(names, 0));
	}
	cJSON_Delete(names);
	return hosts;
}

/* Which descriptions came along with the sweep, each with the SHA-256 of its
 * text.
 */
static void add_described(cJSON *to, const cJSON *described)
{
	const cJSON *kind, *text;
	cJSON *all;

	if (!described)
		return;
	all = cJSON_AddObjectToObject(to, "described");
	cJSON_ArrayForEach(kind, described)
	{
		cJSON *names = cJSON_AddObjectToObject(all, kind->string);

		cJSON_ArrayForEach(text, kind)
		{
			const char *file = cJSON_GetStringValue(text);
			char hash[65];

			catalog_hash(file, strlen(file), hash);
			cJSON_AddStringToObject(names, text->string, hash);
		}
	}
}

static void add_reading(cJSON *to, const struct gang *gang)
{
	const char *name = gang->spec.measure.framework;
	const struct framework *framework = log_reader_format(gang);
	char hash[65] = "";
	const char *stream;
	cJSON *streams;

	if (framework)
		catalog_rules_hash(gang->catalog, framework, hash);
	cJSON_AddItemToObject(to, "framework", text_or_null(name));
	cJSON_AddItemToObject(to, "log",
			      text_or_null(framework ? framework->name : NULL));
	cJSON_AddItemToObject(to, "rules", text_or_null(*hash ? hash : NULL));
	add_described(to, gang->spec.measure.described);
	streams = cJSON_AddArrayToObject(to, "streams");
	for (size_t i = 0; (stream = log_reader_stream(gang, i)); i++)
		cJSON_AddItemToArray(streams, cJSON_CreateString(stream));
}

/* What the tasks say though nothing failed: output that is not all here. */
static void add_notes(cJSON *provenance, const struct gang *gang)
{
	cJSON *notes = NULL;
	char text[400];

	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];

		if (task->failure || !task->text || !*task->text)
			continue;
		if (!notes)
			notes = cJSON_AddArrayToObject(provenance, "notes");
		snprintf(text, sizeof(text), "%s: %s",
			 node_name(task_node(task)), task->text);
		cJSON_AddItemToArray(notes, cJSON_CreateString(text));
	}
}

cJSON *provenance_new(const struct job *job)
{
	static const char *const facts[] = {
		"engine", "kernel", "os", "cpu", "driver",
	};
	const struct gang *gang = job->gang;
	const struct task *first = &gang->tasks[0];
	cJSON *to = cJSON_CreateObject();
	cJSON *names;

	cJSON_AddItemToObject(to, "image", text_or_null(first->image_id));
	cJSON_AddItemToObject(to, "image_reference",
			      text_or_null(gang->spec.container.image));
	cJSON_AddItemToObject(to, "image_pin", text_or_null(first->image_pin));
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		copy_fact(to, first, facts[i]);
	cJSON_AddItemToObject(to, "environment", task_facts(first));
	names = cJSON_AddArrayToObject(to, "nodes");
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		cJSON_AddItemToArray(names,
				     cJSON_CreateString(node_name(
					     task_node(&gang->tasks[i]))));
	cJSON_AddItemToObject(to, "hosts", make_hosts(gang));
	cJSON_AddBoolToObject(to, "simulated", provenance_simulated(gang));
	cJSON_AddNumberToObject(to, "devices",
				(double)provenance_devices(gang));
	cJSON_AddNumberToObject(to, "attempt", job->attempt);
	cJSON_AddStringToObject(to, "cell_key", gang->spec.key);
	cJSON_AddItemToObject(to, "workspace",
			      text_or_null(gang->spec.container.workspace));
	add_reading(to, gang);
	cJSON_AddNumberToObject(to, "formula", FORMULA_VERSION);
	cJSON_AddStringToObject(to, "regatta", REGATTA_VERSION);
	add_notes(to, gang);
	return to;
}
