/* manifest.c - what `regatta k8s` creates in a namespace, as JSON.
 */
#include "controller/cli/k8s/manifest.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

bool manifest_of(const char *cluster, const char *name, uint64_t *job,
		 uint32_t *attempt)
{
	char own[MANIFEST_NAME_SIZE];
	size_t size;

	manifest_name(cluster, 0, 0, own);
	size = strlen(own);
	return strncmp(name, own, size) == 0 &&
	       sscanf(name + size, "-%" SCNu64 "-%u", job, attempt) == 2;
}

/* The value of a word such as $NAME; NULL: the text is none of the words. */
static const cJSON *manifest_value(const cJSON *values, const char *text)
{
	return text && *text == '$' ? json_get(values, text + 1) : NULL;
}

/* Put values in the place of their words. False: nothing is left of it. */
static bool manifest_fill(cJSON *in, const cJSON *values)
{
	cJSON *item, *next;

	if (cJSON_IsNull(manifest_value(values, json_get_text(in, "when"))))
		return false;
	cJSON_DeleteItemFromObjectCaseSensitive(in, "when");
	for (item = in->child; item; item = next) {
		const cJSON *value =
			manifest_value(values, cJSON_GetStringValue(item));
		cJSON *copy;

		next = item->next;
		if (value ? cJSON_IsNull(value)
			  : !manifest_fill(item, values)) {
			cJSON_Delete(cJSON_DetachItemViaPointer(in, item));
			continue;
		}
		if (!value)
			continue;
		copy = cJSON_Duplicate(value, true);
		if (cJSON_IsObject(in))
			cJSON_ReplaceItemInObjectCaseSensitive(in, item->string,
							       copy);
		else
			cJSON_ReplaceItemViaPointer(in, item, copy);
	}
	return in->child || !cJSON_IsArray(in);
}

/* NULL: it has no value. */
static void value_put(cJSON *values, const char *name, cJSON *value)
{
	cJSON_AddItemToObject(values, name, value ? value : cJSON_CreateNull());
}

static void value_put_text(cJSON *values, const char *name, const char *text)
{
	value_put(values, name, text ? cJSON_CreateString(text) : NULL);
}

static void value_put_number(cJSON *values, const char *name, bool known,
			     double number)
{
	value_put(values, name, known ? cJSON_CreateNumber(number) : NULL);
}

static void limit_put(cJSON *limits, const char *name, double amount,
		      const char *unit)
{
	char text[40];

	snprintf(text, sizeof(text), "%.0f%s", amount, unit);
	if (name && amount > 0)
		cJSON_AddStringToObject(limits, name, text);
}

/* Requests and limits are the same: a benchmark shares nothing. */
static void value_put_limits(cJSON *values, const struct manifest_run *run,
			     const struct job_spec *spec)
{
	cJSON *limits = cJSON_AddObjectToObject(values, "LIMITS");

	limit_put(limits, json_get_text(run->choices, "resource"),
		  spec->devices, "");
	limit_put(limits, "cpu", spec->container.cpus * 1000, "m");
	limit_put(limits, "memory", (double)spec->container.memory_bytes, "");
}

/* The labels that the sweep wants of nodes choose those of Kubernetes. */
static cJSON *manifest_labels(const char *labels)
{
	cJSON *selector = labels && *labels ? cJSON_CreateObject() : NULL;

	while (labels && *labels) {
		size_t length = strcspn(labels, ",");
		size_t key = strcspn(labels, "=,");
		char name[256], value[256];

		snprintf(name, sizeof(name), "%.*s", (int)key, labels);
		key += key < length;
		snprintf(value, sizeof(value), "%.*s", (int)(length - key),
			 labels + key);
		cJSON_AddStringToObject(selector, name, value);
		labels += length + (labels[length] == ',');
	}
	return selector;
}

/* Kubernetes knows users by their numbers. */
static int value_put_user(cJSON *values, const char *user, struct error *err)
{
	const char *group = user ? strchr(user, ':') : NULL;
	char *end = NULL;
	double number = user ? (double)strtoul(user, &end, 10) : 0;

	if (user && (end == user || (*end && *end != ':')))
		return error_set(err, EINVAL,
				 "user: '%.40s' is not valid in a pod; "
				 "expected UID[:GID]",
				 user);
	value_put_number(values, "UID", user, number);
	value_put_number(values, "GID", group,
			 group ? (double)strtoul(group + 1, NULL, 10) : 0);
	return 0;
}

/* Those that each object of the run may have. */
static cJSON *manifest_values(const struct manifest_run *run, uint64_t job,
			      uint32_t attempt)
{
	char name[MANIFEST_NAME_SIZE], anchor[MANIFEST_NAME_SIZE];
	cJSON *values = cJSON_CreateObject(), *owner = NULL;
	const cJSON *word;

	/* Of a name, the first value counts. */
	cJSON_ArrayForEach(word, json_get(run->choices, "without")) {
		value_put(values, cJSON_GetStringValue(word), NULL);
	}
	manifest_name(run->cluster, job, attempt, name);
	manifest_name(run->cluster, 0, 0, anchor);
	if (run->owner) {
		owner = cJSON_Parse("[{\"apiVersion\": \"batch/v1\", "
				    "\"kind\": \"Job\"}]");
		value_put_text(owner->child, "name", anchor);
		value_put_text(owner->child, "uid", run->owner);
	}
	value_put_text(values, "RUN", run->cluster);
	value_put_text(values, "NAME", name);
	value_put_text(values, "REGATTA", json_get_text(run->choices, "image"));
	value_put(values, "OWNER", owner);
	return values;
}

static int value_put_spec(cJSON *values, const struct manifest_run *run,
			  const struct job_spec *spec, struct error *err)
{
	const struct container_spec *from = &spec->container;
	const char *class = json_get_text(run->choices, "class");
	const char *folder = from->workspace_folder ? from->workspace_folder
						    : WORKSPACE_FOLDER;
	char devices[16], shm[32];

	snprintf(devices, sizeof(devices), "%u",
		 spec->devices ? spec->devices : 1);
	snprintf(shm, sizeof(shm), "%" PRIu64, from->shm_bytes);
	value_put_number(values, "NODES", true, spec->nodes);
	value_put(values, "GANG",
		  spec->nodes > 1
			  ? cJSON_Duplicate(json_get(values, "NAME"), true)
			  : NULL);
	value_put_number(values, "COUNT", true, spec->devices);
	value_put_text(values, "DEVICES", devices);
	value_put_text(values, "VENDOR", spec->vendor);
	value_put_text(values, "IMAGE", from->image);
	value_put_text(values, "WORKDIR", from->workdir);
	value_put_text(values, "WORKSPACE", from->workspace ? folder : NULL);
	value_put_text(values, "SHM", from->shm_bytes ? shm : NULL);
	value_put_text(values, "QUEUE", json_get_text(run->choices, "queue"));
	value_put_text(values, "CLASS", spec->devices ? class : NULL);
	value_put(values, "LABELS", manifest_labels(spec->labels));
	value_put(values, "HOST_NETWORK",
		  cJSON_IsTrue(json_get(run->choices, "host_network"))
			  ? cJSON_CreateTrue()
			  : NULL);
	value_put_limits(values, run, spec);
	return value_put_user(values, from->user, err);
}

cJSON *manifest_anchor(const struct manifest_run *run)
{
	cJSON *values = manifest_values(run, 0, 0);
	cJSON *made =
		cJSON_Duplicate(json_get(json_get(run->choices, "objects"),
					 "anchor"),
				true);

	manifest_fill(made, values);
	cJSON_Delete(values);
	return made;
}

cJSON *manifest_attempt(const struct manifest_run *run,
			const struct job_spec *spec, uint64_t job,
			uint32_t attempt, const char *token, struct error *err)
{
	owned(cJSON_Delete) cJSON *values = manifest_values(run, job, attempt);
	cJSON *made;

	value_put_text(values, "TOKEN", token);
	if (value_put_spec(values, run, spec, err) < 0)
		return NULL;
	made = cJSON_Parse("{\"apiVersion\": \"v1\", \"kind\": \"List\"}");
	cJSON_AddItemToObject(made, "items",
			      cJSON_Duplicate(json_get(json_get(run->choices,
								"objects"),
						       "attempt"),
					      true));
	manifest_fill(made, values);
	return made;
}

/* The item of the list that is the same thing; NULL: none is. */
static cJSON *manifest_same(const cJSON *list, const cJSON *wanted)
{
	const char *key = json_get(wanted, "mountPath") ? "mountPath" : "name";
	const char *name = json_get_text(wanted, key);
	cJSON *item;

	cJSON_ArrayForEach(item, list)
		if (name && !strcmp(json_get_text_or_empty(item, key), name))
			return item;
	return NULL;
}

static void manifest_merge_list(cJSON *to, const cJSON *from)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, from) {
		cJSON *same = manifest_same(to, item);

		if (same)
			manifest_merge(same, item);
		else
			cJSON_AddItemToArray(to, cJSON_Duplicate(item, true));
	}
}

void manifest_merge(cJSON *to, const cJSON *from)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, from) {
		cJSON *same =
			cJSON_GetObjectItemCaseSensitive(to, item->string);

		if (cJSON_IsObject(item) && cJSON_IsObject(same)) {
			manifest_merge(same, item);
		} else if (cJSON_IsArray(item) && cJSON_IsArray(same)) {
			manifest_merge_list(same, item);
		} else {
			cJSON_DeleteItemFromObjectCaseSensitive(to,
								item->string);
			cJSON_AddItemToObject(to, item->string,
					      cJSON_Duplicate(item, true));
		}
	}
}
