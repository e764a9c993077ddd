/* manifest.c - what `regatta k8s` creates in a namespace, as JSON.
 */
#include "controller/cli/k8s/manifest.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void manifest_name(const char *cluster, uint64_t job, uint32_t attempt,
		   char name[MANIFEST_NAME_SIZE])
{
	size_t size = strlen(cluster);

	cluster += size > 8 ? size - 8 : 0;
	if (job)
		snprintf(name, MANIFEST_NAME_SIZE, "regatta-%s-%" PRIu64 "-%u",
			 cluster, job, attempt);
	else
		snprintf(name, MANIFEST_NAME_SIZE, "regatta-%s", cluster);
}

cJSON *manifest_job(const cJSON *list)
{
	const cJSON *items = json_get(list, "items");
	cJSON *last = cJSON_GetArrayItem(items, cJSON_GetArraySize(items) - 1);

	return strcmp(json_get_text_or_empty(last, "kind"), "Job") == 0 ? last
									: NULL;
}

/* The value of a word such as $NAME; NULL: the text is none of the words. */
static const cJSON *manifest_value(const cJSON *values, const char *text)
{
	return text && *text == '$' ? json_get(values, text + 1) : NULL;
}

/* The template with values in the place of their words. NULL: nothing is left
 * of it.
 */
static cJSON *manifest_fill(const cJSON *template, const cJSON *values)
{
	const cJSON *when = json_get(template, "when"), *item;
	const cJSON *value =
		manifest_value(values, cJSON_GetStringValue(template));
	cJSON *made;

	if (cJSON_IsNull(value) ||
	    cJSON_IsNull(manifest_value(values, cJSON_GetStringValue(when))))
		return NULL;
	if (value || !template->child)
		return cJSON_Duplicate(value ? value : template, true);
	made = cJSON_IsArray(template) ? cJSON_CreateArray()
				       : cJSON_CreateObject();
	cJSON_ArrayForEach(item, template) {
		const cJSON *key = manifest_value(values, item->string);
		cJSON *part = item == when || cJSON_IsNull(key)
				      ? NULL
				      : manifest_fill(item, values);

		if (part && cJSON_IsArray(template))
			cJSON_AddItemToArray(made, part);
		else if (part)
			cJSON_AddItemToObject(made,
					      key ? key->valuestring
						  : item->string,
					      part);
	}
	if (made->child || cJSON_IsObject(made))
		return made;
	cJSON_Delete(made);
	return NULL;
}

/* Of a word, the first value counts. NULL: it has none. */
static void value_put(cJSON *values, const char *word, cJSON *value)
{
	cJSON_AddItemToObject(values, word, value ? value : cJSON_CreateNull());
}

void manifest_put(cJSON *values, const char *word, const char *text)
{
	value_put(values, word, text ? cJSON_CreateString(text) : NULL);
}

/* A quantity of Kubernetes is a text. 0: no value. */
static void value_put_amount(cJSON *values, const char *word, double amount,
			     const char *unit)
{
	char text[40];

	snprintf(text, sizeof(text), "%.0f%s", amount, unit);
	manifest_put(values, word, amount > 0 ? text : NULL);
}

/* The labels that the sweep wants of nodes choose those of Kubernetes. */
static cJSON *manifest_labels(const char *labels)
{
	owned_free char *copy = labels && *labels ? strdup(labels) : NULL;
	cJSON *selector = copy ? cJSON_CreateObject() : NULL;
	char *rest = copy, *value;

	while ((value = strsep(&rest, ","))) {
		const char *name = strsep(&value, "=");

		cJSON_AddStringToObject(selector, name, value ? value : "");
	}
	return selector;
}

/* Kubernetes knows users by their numbers. */
static int value_put_user(cJSON *values, const char *user, struct error *err)
{
	uint32_t uid = 0, gid = 0;
	int end = 0;
	int found = user ? sscanf(user, "%" SCNu32 "%n:%" SCNu32 "%n", &uid,
				  &end, &gid, &end)
			 : 0;

	if (user && (found < 1 || user[end]))
		return error_set(err, EINVAL,
				 "user: '%.40s' is not valid in a pod; "
				 "expected UID[:GID]",
				 user);
	value_put(values, "UID", found > 0 ? cJSON_CreateNumber(uid) : NULL);
	value_put(values, "GID", found > 1 ? cJSON_CreateNumber(gid) : NULL);
	return 0;
}

/* Those that each object of the run may have. */
static cJSON *manifest_values(const struct manifest_run *run, uint64_t job,
			      uint32_t attempt)
{
	char name[MANIFEST_NAME_SIZE];
	cJSON *values = cJSON_Duplicate(json_get(run->choices, "words"), true);

	manifest_put(values, "RUN", run->cluster);
	manifest_put(values, "OWNER", run->owner);
	manifest_name(run->cluster, 0, 0, name);
	manifest_put(values, "ANCHOR", name);
	manifest_name(run->cluster, job, attempt, name);
	manifest_put(values, "NAME", name);
	return values;
}

static int value_put_spec(cJSON *values, const struct job_spec *spec,
			  struct error *err)
{
	const struct container_spec *from = &spec->container;
	const char *folder = from->workspace_folder ? from->workspace_folder
						    : WORKSPACE_FOLDER;

	if (!spec->devices) {
		cJSON_ReplaceItemInObject(values, "CLASS", cJSON_CreateNull());
		cJSON_ReplaceItemInObject(values, "RESOURCE",
					  cJSON_CreateNull());
	}
	value_put(values, "NODES", cJSON_CreateNumber(spec->nodes));
	manifest_put(values, "GANG",
		     spec->nodes > 1 ? json_get_text(values, "NAME") : NULL);
	value_put(values, "COUNT", cJSON_CreateNumber(spec->devices));
	value_put_amount(values, "DEVICES", spec->devices ? spec->devices : 1,
			 "");
	value_put_amount(values, "CPUS", from->cpus * 1000, "m");
	value_put_amount(values, "MEMORY", (double)from->memory_bytes, "");
	value_put_amount(values, "SHM", (double)from->shm_bytes, "");
	manifest_put(values, "VENDOR", spec->vendor);
	manifest_put(values, "IMAGE", from->image);
	manifest_put(values, "WORKDIR", from->workdir);
	manifest_put(values, "WORKSPACE", from->workspace ? folder : NULL);
	value_put(values, "LABELS", manifest_labels(spec->labels));
	return value_put_user(values, from->user, err);
}

cJSON *manifest_anchor(const struct manifest_run *run)
{
	owned(cJSON_Delete) cJSON *values = manifest_values(run, 0, 0);

	return manifest_fill(json_get(json_get(run->choices, "objects"),
				      "anchor"),
			     values);
}

cJSON *manifest_attempt(const struct manifest_run *run,
			const struct job_spec *spec, uint64_t job,
			uint32_t attempt, const char *token, struct error *err)
{
	owned(cJSON_Delete) cJSON *values = manifest_values(run, job, attempt);

	manifest_put(values, "TOKEN", token);
	return value_put_spec(values, spec, err) < 0
		       ? NULL
		       : manifest_fill(json_get(json_get(run->choices,
							 "objects"),
						"attempt"),
				       values);
}
