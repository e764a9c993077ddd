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

#define FACT_MAX 4096          /* bytes of a fact that is a text */
#define FACTS_TEXT_MAX 1048576 /* bytes of the facts of a node */

/* A fact that is a text; NULL: none. */
static const char *fact_text(const struct task *task, const char *name)
{
	const char *text = cJSON_GetStringValue(task_fact(task, name));

	return text && strlen(text) <= FACT_MAX ? text : NULL;
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

/* The oldest acceptance of its nodes; 0: one is not accepted. */
static int64_t provenance_accepted_ms(const struct gang *gang)
{
	int64_t oldest_ms = INT64_MAX;

	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		int64_t at_ms = node_label_ms(task_node(&gang->tasks[i]),
					      ACCEPTED_LABEL);

		oldest_ms = at_ms < oldest_ms ? at_ms : oldest_ms;
	}
	return oldest_ms > 0 ? oldest_ms : 0;
}

/* Hosts. */

static int describe_host(const struct task *task, struct host_origin *to,
			 struct error *err)
{
	const struct {
		char **to;
		const char *text;
	} texts[] = {
		{ &to->image, task->image_id },
		{ &to->vendor, node_view(task_node(task))->vendor },
		{ &to->driver, fact_text(task, "driver") },
		{ &to->sdk, fact_text(task, "sdk") },
		{ &to->engine, fact_text(task, "engine") },
		{ &to->kernel, fact_text(task, "kernel") },
		{ &to->os, fact_text(task, "os") },
		{ &to->machine, fact_text(task, "machine") },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (string_set(texts[i].to, texts[i].text, err) < 0)
			return -1;
	return strings_copy(&to->ulimits, &task->ulimits, err);
}

static bool fact_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool ulimits_same(const struct strings *a, const struct strings *b)
{
	size_t i = 0;

	while (i < a->count && i < b->count &&
	       !strcmp(a->items[i], b->items[i]))
		i++;
	return i == a->count && i == b->count;
}

static bool host_same(const struct host_origin *a, const struct host_origin *b)
{
	return fact_same(a->image, b->image) &&
	       fact_same(a->vendor, b->vendor) &&
	       fact_same(a->driver, b->driver) && fact_same(a->sdk, b->sdk) &&
	       fact_same(a->engine, b->engine) &&
	       fact_same(a->kernel, b->kernel) && fact_same(a->os, b->os) &&
	       fact_same(a->machine, b->machine) &&
	       ulimits_same(&a->ulimits, &b->ulimits);
}

/* Equal hosts share an entry. */
static int add_hosts(const struct gang *gang, struct provenance *to,
		     struct error *err)
{
	to->hosts = calloc(gang->spec.nodes + 1, sizeof(*to->hosts));
	if (!to->hosts)
		return error_nomem(err, "provenance");
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		struct host_origin *last = &to->hosts[to->hosts_count];
		size_t same = 0;

		to->hosts_count++;
		if (describe_host(&gang->tasks[i], last, err) < 0)
			return -1;
		while (!host_same(&to->hosts[same], last))
			same++;
		if (&to->hosts[same] != last) {
			codec_clear(&host_origin_schema, last);
			to->hosts_count--;
		}
		if (strings_add(&to->hosts[same].nodes,
				node_name(task_node(&gang->tasks[i])), err) < 0)
			return -1;
	}
	return 0;
}

/* The descriptions of the sweep itself, each with the SHA-256 of its text;
 * NULL: out of memory.
 */
static cJSON *described_hashes(const cJSON *described)
{
	cJSON *all = cJSON_CreateObject();
	const cJSON *kind, *text;

	cJSON_ArrayForEach(kind, described) {
		cJSON *hashes = cJSON_AddObjectToObject(all, kind->string);

		cJSON_ArrayForEach(text, kind) {
			const char *file = cJSON_GetStringValue(text);
			char hash[65];

			catalog_hash(file, strlen(file), hash);
			cJSON_AddStringToObject(hashes, text->string, hash);
		}
	}
	return all;
}

static int provenance_add_reading(const struct gang *gang,
				  struct provenance *to, struct error *err)
{
	const struct measure_spec *measure = &gang->spec.measure;
	const struct framework *framework = log_reader_format(gang);
	char hash[65] = "";
	const char *stream;

	if (framework)
		catalog_rules_hash(gang->catalog, framework, hash);
	if (string_set(&to->framework, measure->framework, err) < 0 ||
	    string_set(&to->log, framework ? framework->name : NULL, err) < 0 ||
	    string_set(&to->rules, *hash ? hash : NULL, err) < 0)
		return -1;
	if (measure->described) {
		to->described = described_hashes(measure->described);
		if (!to->described)
			return error_nomem(err, "provenance");
	}
	for (size_t i = 0; (stream = log_reader_stream(gang, i)); i++)
		if (strings_add(&to->streams, stream, err) < 0)
			return -1;
	return 0;
}

/* Notes of tasks that did not fail, for example about missing output. */
static int add_notes(const struct gang *gang, struct provenance *to,
		     struct error *err)
{
	char text[400];

	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];

		if (task->failure || !task->text || !*task->text)
			continue;
		snprintf(text, sizeof(text), "%s: %s",
			 node_name(task_node(task)), task->text);
		if (strings_add(&to->notes, text, err) < 0)
			return -1;
	}
	return 0;
}

/* Facts. */

static int fact_add(cJSON *to, const cJSON *fact, struct error *err)
{
	cJSON *copy = cJSON_Duplicate(fact, true);

	if (!strcmp(fact->string, "warnings")) {
		cJSON_Delete(copy);
		return 0;
	}
	if (copy && cJSON_AddItemToObject(to, fact->string, copy))
		return 0;
	cJSON_Delete(copy);
	return error_nomem(err, "provenance");
}

/* The object without its last bracket; NULL: it is empty. */
static int shared_text(const cJSON *object, char **shared, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(FACTS_TEXT_MAX);

	if (!object->child)
		return 0;
	if (codec_print(object, &text, err) < 0)
		return -1;
	text.data[text.size - 1] = 0;
	*shared = buffer_take(&text);
	return *shared ? 0 : error_nomem(err, "provenance");
}

/* All facts: those of the node, then those of the task, which replace facts of
 * the node with the same name. The part of the node is the same for all jobs on
 * it.
 */
static int provenance_add_facts(const struct task *task, cJSON *to,
				char **shared, struct error *err)
{
	const cJSON *fact;

	cJSON_ArrayForEach(fact, node_view(task_node(task))->facts)
		if (!cJSON_GetObjectItemCaseSensitive(task->facts,
						      fact->string) &&
		    fact_add(to, fact, err) < 0)
			return -1;
	if (shared_text(to, shared, err) < 0)
		return -1;
	cJSON_ArrayForEach(fact, task->facts)
		if (fact_add(to, fact, err) < 0)
			return -1;
	return 0;
}

static int add_origin(const struct gang *gang, struct provenance *to,
		      struct error *err)
{
	const struct task *first = &gang->tasks[0];
	const struct {
		char **to;
		const char *text;
	} texts[] = {
		{ &to->image, first->image_id },
		{ &to->image_reference, gang->spec.container.image },
		{ &to->image_pin, first->image_pin },
		{ &to->engine, fact_text(first, "engine") },
		{ &to->kernel, fact_text(first, "kernel") },
		{ &to->os, fact_text(first, "os") },
		{ &to->cpu, fact_text(first, "cpu") },
		{ &to->driver, fact_text(first, "driver") },
		{ &to->cell_key, gang->spec.key },
		{ &to->workspace, gang->spec.container.workspace },
		{ &to->regatta, REGATTA_VERSION },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (string_set(texts[i].to, texts[i].text, err) < 0)
			return -1;
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		if (strings_add(&to->nodes,
				node_name(task_node(&gang->tasks[i])), err) < 0)
			return -1;
	return 0;
}

int provenance_fill(const struct job *job, struct provenance *to, char **shared,
		    struct error *err)
{
	const struct gang *gang = job->gang;

	*to = (struct provenance){
		.environment = cJSON_CreateObject(),
		.simulated = provenance_simulated(gang),
		.devices = gang_devices(gang),
		.attempt = job->attempt,
		.accepted_ms = provenance_accepted_ms(gang),
		.formula = FORMULA_VERSION,
	};
	if (!to->environment)
		return error_nomem(err, "provenance");
	return add_origin(gang, to, err) < 0 ||
			       provenance_add_facts(&gang->tasks[0],
						    to->environment, shared,
						    err) < 0 ||
			       add_hosts(gang, to, err) < 0 ||
			       provenance_add_reading(gang, to, err) < 0
		       ? -1
		       : add_notes(gang, to, err);
}
