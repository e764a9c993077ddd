/* manifest.c - what `regatta k8s` creates in a namespace, as JSON.
 */
#include "controller/cli/k8s/manifest.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRACE_S 45        /* the agent returns its task in 20 s */
#define KEPT_S 600        /* of a Job that nobody deletes */
#define JOIN_S "600"      /* until the agent reaches the controller */
#define SHARED "/regatta" /* INIT_IN of regatta-init is below it */

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

/* Objects from a text with fixed structure. %s: of plain words only. */
static cJSON *manifest_parse(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

static cJSON *manifest_parse(const char *fmt, ...)
{
	char text[2048];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return cJSON_Parse(text);
}

static void manifest_put(cJSON *list, cJSON *item)
{
	if (!cJSON_AddItemToArray(list, item))
		cJSON_Delete(item);
}

static void manifest_mount(cJSON *mounts, const char *volume, const char *path,
			   const char *part)
{
	cJSON *mount = manifest_parse("{\"name\": \"%s\"}", volume);

	cJSON_AddStringToObject(mount, "mountPath", path);
	if (part)
		cJSON_AddStringToObject(mount, "subPath", part);
	manifest_put(mounts, mount);
}

/* A container of the image; its command is `words`, up to a NULL. */
static cJSON *manifest_container(cJSON *list, const char *name,
				 const char *image, const char *const *words)
{
	cJSON *container = manifest_parse("{\"name\": \"%s\"}", name);
	cJSON *command = cJSON_AddArrayToObject(container, "command");

	cJSON_AddStringToObject(container, "image", image);
	for (; *words; words++)
		manifest_put(command, cJSON_CreateString(*words));
	manifest_mount(cJSON_AddArrayToObject(container, "volumeMounts"),
		       "regatta", SHARED, NULL);
	manifest_put(list, container);
	return container;
}

/* Requests and limits are the same: a benchmark shares nothing. */
static void manifest_limits(cJSON *container, const struct manifest_run *run,
			    const struct job_spec *spec)
{
	const struct container_spec *from = &spec->container;
	cJSON *limits =
		cJSON_AddObjectToObject(cJSON_AddObjectToObject(container,
								"resources"),
					"limits");
	char text[40];

	if (run->resource && spec->devices) {
		snprintf(text, sizeof(text), "%u", spec->devices);
		cJSON_AddStringToObject(limits, run->resource, text);
	}
	if (from->cpus > 0) {
		snprintf(text, sizeof(text), "%.0fm", from->cpus * 1000);
		cJSON_AddStringToObject(limits, "cpu", text);
	}
	if (from->memory_bytes) {
		snprintf(text, sizeof(text), "%" PRIu64, from->memory_bytes);
		cJSON_AddStringToObject(limits, "memory", text);
	}
}

/* Kubernetes knows users by their numbers. */
static int manifest_user(cJSON *container, const char *user, struct error *err)
{
	cJSON *context = cJSON_AddObjectToObject(container, "securityContext");
	const char *group = user ? strchr(user, ':') : NULL;
	char *end = NULL;
	double number;

	cJSON_AddBoolToObject(context, "allowPrivilegeEscalation", false);
	if (!user)
		return 0;
	number = (double)strtoul(user, &end, 10);
	if (end == user || (*end && *end != ':'))
		return error_set(err, EINVAL,
				 "user: '%.40s' is not valid in a pod; "
				 "expected UID[:GID]",
				 user);
	cJSON_AddNumberToObject(context, "runAsUser", number);
	if (group)
		cJSON_AddNumberToObject(context, "runAsGroup",
					(double)strtoul(group + 1, NULL, 10));
	return 0;
}

static int manifest_main(cJSON *list, const struct manifest_run *run,
			 const struct job_spec *spec, struct error *err)
{
	static const char *const words[] = { SHARED "/bin/regatta-init", "pod",
					     SHARED, NULL };
	const struct container_spec *from = &spec->container;
	cJSON *container = manifest_container(list, "main", from->image, words);
	cJSON *mounts = cJSON_GetObjectItem(container, "volumeMounts");

	manifest_mount(mounts, "shm", "/dev/shm", NULL);
	manifest_mount(mounts, "secrets", "/run/secrets", NULL);
	if (from->workspace)
		manifest_mount(mounts, "regatta",
			       from->workspace_folder ? from->workspace_folder
						      : WORKSPACE_FOLDER,
			       "work");
	if (from->workdir)
		cJSON_AddStringToObject(container, "workingDir", from->workdir);
	manifest_limits(container, run, spec);
	return manifest_user(container, from->user, err);
}

static void manifest_agent(cJSON *list, const struct manifest_run *run,
			   const struct job_spec *spec)
{
	static const char token[] = "/keys/" MANIFEST_TOKEN;
	static const char engine[] = "pod:" SHARED;
	static const char state[] = SHARED "/state";
	char devices[16];
	const char *const words[] = {
		"regatta-agent",
		"join",
		"--token-file",
		token,
		"--name",
		"$(POD)",
		"--config",
		"/agent/agent.yaml",
		"--timeout",
		JOIN_S,
		"--exec",
		"--",
		"--engine",
		engine,
		"--state",
		state,
		"--cluster",
		run->cluster,
		"--vendor",
		spec->vendor,
		"--devices",
		devices,
		"--policy",
		"any",
		NULL,
	};
	cJSON *container, *mounts;

	snprintf(devices, sizeof(devices), "%u",
		 spec->devices ? spec->devices : 1);
	container = manifest_container(list, "agent", run->image, words);
	mounts = cJSON_GetObjectItem(container, "volumeMounts");
	manifest_mount(mounts, "agent", "/agent", NULL);
	manifest_mount(mounts, "keys", "/keys", NULL);
	cJSON_AddItemToObject(container, "env",
			      cJSON_Parse(
				      "[{\"name\": \"POD\", \"valueFrom\": "
				      "{\"fieldRef\": "
				      "{\"fieldPath\": \"metadata.name\"}}}]"));
}

static cJSON *manifest_volumes(const struct job_spec *spec, const char *name)
{
	cJSON *list = manifest_parse(
		"[{\"name\": \"regatta\", \"emptyDir\": {}},"
		"{\"name\": \"agent\", \"emptyDir\": {}},"
		"{\"name\": \"secrets\", \"emptyDir\": {\"medium\": "
		"\"Memory\", \"sizeLimit\": \"1Mi\"}},"
		"{\"name\": \"shm\", \"emptyDir\": {\"medium\": \"Memory\"}},"
		"{\"name\": \"keys\", \"secret\": {\"secretName\": \"%s\"}}]",
		name);
	cJSON *shm =
		cJSON_GetObjectItem(cJSON_GetArrayItem(list, 3), "emptyDir");
	char size[32];

	if (spec->container.shm_bytes) {
		snprintf(size, sizeof(size), "%" PRIu64,
			 spec->container.shm_bytes);
		cJSON_AddStringToObject(shm, "sizeLimit", size);
	}
	return list;
}

/* The labels that the sweep wants of nodes choose those of Kubernetes. */
static void manifest_select(cJSON *pod, const char *labels)
{
	cJSON *selector = NULL;

	while (labels && *labels) {
		size_t length = strcspn(labels, ",");
		size_t key = strcspn(labels, "=");
		char name[256], value[256];

		snprintf(name, sizeof(name), "%.*s", (int)key, labels);
		snprintf(value, sizeof(value), "%.*s", (int)(length - key - 1),
			 labels + key + 1);
		if (!selector)
			selector = cJSON_AddObjectToObject(pod, "nodeSelector");
		cJSON_AddStringToObject(selector, name, value);
		labels += length + (labels[length] == ',');
	}
}

static int manifest_pod(cJSON *pod, const struct manifest_run *run,
			const struct job_spec *spec, const char *name,
			struct error *err)
{
	static const char *const install[] = { "regatta-init", "install",
					       SHARED, NULL };
	cJSON *containers;

	cJSON_AddBoolToObject(pod, "shareProcessNamespace", true);
	cJSON_AddBoolToObject(pod, "automountServiceAccountToken", false);
	cJSON_AddBoolToObject(pod, "enableServiceLinks", false);
	cJSON_AddNumberToObject(pod, "terminationGracePeriodSeconds", GRACE_S);
	if (run->host_network)
		cJSON_AddBoolToObject(pod, "hostNetwork", true);
	manifest_select(pod, spec->labels);
	cJSON_AddItemToObject(pod, "volumes", manifest_volumes(spec, name));
	manifest_container(cJSON_AddArrayToObject(pod, "initContainers"),
			   "install", run->image, install);
	containers = cJSON_AddArrayToObject(pod, "containers");
	/* The kubelet starts one after the other: the agent joins meanwhile. */
	manifest_agent(containers, run, spec);
	return manifest_main(containers, run, spec, err);
}

/* Kind of version, with name and labels; all but the anchor go with it. */
static cJSON *manifest_object(const struct manifest_run *run,
			      const char *version, const char *kind,
			      const char *name)
{
	char anchor[MANIFEST_NAME_SIZE];
	cJSON *made =
		manifest_parse("{\"apiVersion\": \"%s\", \"kind\": \"%s\", "
			       "\"metadata\": "
			       "{\"name\": \"%s\", \"labels\": {\"" MANIFEST_RUN
			       "\": \"%.63s\"}}}",
			       version, kind, name, run->cluster);

	manifest_name(run->cluster, 0, 0, anchor);
	if (run->owner)
		cJSON_AddItemToObject(
			json_get(made, "metadata"), "ownerReferences",
			manifest_parse("[{\"apiVersion\": \"batch/v1\", "
				       "\"kind\": \"Job\", \"name\": \"%s\", "
				       "\"uid\": \"%.63s\"}]",
				       anchor, run->owner));
	return made;
}

/* Its pods have the labels of the Job. */
static cJSON *manifest_spec(cJSON *job, uint32_t pods)
{
	cJSON *spec =
		manifest_parse("{\"parallelism\": %u, \"completions\": %u, "
			       "\"backoffLimit\": 0, "
			       "\"ttlSecondsAfterFinished\": %d, \"template\": "
			       "{\"metadata\": "
			       "{}, \"spec\": {\"restartPolicy\": \"Never\"}}}",
			       pods, pods ? pods : 1, KEPT_S);
	cJSON *template = json_get(spec, "template");

	cJSON_AddItemToObject(json_get(template, "metadata"), "labels",
			      cJSON_Duplicate(json_get(json_get(job,
								"metadata"),
						       "labels"),
					      true));
	cJSON_AddItemToObject(job, "spec", spec);
	return template;
}

cJSON *manifest_anchor(const struct manifest_run *run)
{
	static const char *const nothing[] = { "regatta-init", NULL };
	char name[MANIFEST_NAME_SIZE];
	cJSON *made, *pod;

	manifest_name(run->cluster, 0, 0, name);
	made = manifest_object(run, "batch/v1", "Job", name);
	pod = json_get(manifest_spec(made, 0), "spec");
	manifest_container(cJSON_AddArrayToObject(pod, "containers"), "none",
			   run->image, nothing);
	cJSON_DeleteItemFromObject(cJSON_GetArrayItem(json_get(pod,
							       "containers"),
						      0),
				   "volumeMounts");
	return made;
}

cJSON *manifest_job(const struct manifest_run *run, const struct job_spec *spec,
		    uint64_t job, uint32_t attempt, struct error *err)
{
	char name[MANIFEST_NAME_SIZE];
	cJSON *made, *template;

	manifest_name(run->cluster, job, attempt, name);
	made = manifest_object(run, "batch/v1", "Job", name);
	template = manifest_spec(made, spec->nodes);
	if (run->queue)
		cJSON_AddStringToObject(json_get(json_get(made, "metadata"),
						 "labels"),
					"kueue.x-k8s.io/queue-name",
					run->queue);
	if (manifest_pod(json_get(template, "spec"), run, spec, name, err) <
	    0) {
		cJSON_Delete(made);
		return NULL;
	}
	manifest_merge(template, run->site);
	return made;
}

cJSON *manifest_secret(const struct manifest_run *run, uint64_t job,
		       uint32_t attempt, const char *token)
{
	char name[MANIFEST_NAME_SIZE];
	cJSON *made;

	manifest_name(run->cluster, job, attempt, name);
	made = manifest_object(run, "v1", "Secret", name);
	cJSON_AddStringToObject(cJSON_AddObjectToObject(made, "stringData"),
				MANIFEST_TOKEN, token);
	return made;
}

/* The item of the list that is the same thing; NULL: none is. */
static cJSON *manifest_same(const cJSON *list, const cJSON *wanted)
{
	const char *key = json_get(wanted, "mountPath") ? "mountPath" : "name";
	const char *name = json_get_text(wanted, key);
	cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		if (name && !strcmp(json_get_text_or_empty(item, key), name))
			return item;
	}
	return NULL;
}

static void manifest_merge_list(cJSON *to, const cJSON *from)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, from)
	{
		cJSON *same = manifest_same(to, item);

		if (same)
			manifest_merge(same, item);
		else
			manifest_put(to, cJSON_Duplicate(item, true));
	}
}

void manifest_merge(cJSON *to, const cJSON *from)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, from)
	{
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
