/* admission.c - says beforehand what a cluster would refuse, and which of its
 * nodes could run a pod.
 *
 * Source: Kubernetes API, "Quantity", v1 ResourceQuota, v1 Node, v1 Taint.
 */
#include "controller/cli/k8s/admission.h"
#include "controller/cli/k8s/kubectl.h"
#include "protocol/base/strings.h"
#include "protocol/message/codec.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "1500m", "64Gi", 8; 0: it is none. */
static double admission_quantity(const cJSON *value)
{
	const char *text = cJSON_GetStringValue(value), *units, *unit;
	bool binary;
	double number;
	char *end;

	if (!text)
		return cJSON_IsNumber(value) ? value->valuedouble : 0;
	number = strtod(text, &end);
	if (!*end || !strcmp(end, "m"))
		return *end ? number / 1000 : number;
	binary = !strcmp(end + 1, "i");
	units = binary ? "KMGTPE" : "kMGTPE";
	unit = strchr(units, *end);
	return unit && (binary || !end[1])
		       ? number * pow(binary ? 1024 : 1000,
				      (double)(unit - units + 1))
		       : 0;
}

/* any: an empty text fits all. */
static bool toleration_fits(const cJSON *toleration, const cJSON *taint,
			    const char *member, bool any)
{
	const char *wanted = json_get_text_or_empty(toleration, member);

	return (any && !*wanted) ||
	       !strcmp(wanted, json_get_text_or_empty(taint, member));
}

static bool admission_tolerates(const cJSON *spec, const cJSON *taint)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, json_get(spec, "tolerations")) {
		bool exists = !strcmp(json_get_text_or_empty(item, "operator"),
				      "Exists");

		if (toleration_fits(item, taint, "key", exists) &&
		    toleration_fits(item, taint, "effect", true) &&
		    toleration_fits(item, taint, "value", exists))
			return true;
	}
	return false;
}

/* The limits of the main container. */
static const cJSON *admission_limits(const cJSON *spec)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, json_get(spec, "containers"))
		if (!strcmp(json_get_text_or_empty(item, "name"), "main"))
			return json_get(json_get(item, "resources"), "limits");
	return NULL;
}

bool admission_node_lacks(const cJSON *node, const cJSON *spec,
			  char text[ADMISSION_TEXT_MAX])
{
	const cJSON *metadata = json_get(node, "metadata"), *item;
	const cJSON *labels = json_get(metadata, "labels");
	const cJSON *all = json_get(json_get(node, "status"), "allocatable");

	snprintf(text, ADMISSION_TEXT_MAX, "%.63s has ",
		 json_get_text_or_empty(metadata, "name"));
	cJSON_ArrayForEach(item, admission_limits(spec)) {
		const cJSON *has = json_get(all, item->string);
		const char *wanted = cJSON_GetStringValue(item);
		char number[24];

		if (admission_quantity(item) <= admission_quantity(has))
			continue;
		snprintf(number, sizeof(number), "%.0f",
			 admission_quantity(item));
		text_append(text, ADMISSION_TEXT_MAX, "%.20s %.63s of %.20s",
			    has ? cJSON_GetStringValue(has) : "no",
			    item->string, wanted ? wanted : number);
		return true;
	}
	cJSON_ArrayForEach(item, json_get(spec, "nodeSelector")) {
		const char *wanted = cJSON_GetStringValue(item);
		const char *has = json_get_text_or_empty(labels, item->string);

		/* What is no text, the API server refuses. */
		if (!wanted || !strcmp(has, wanted))
			continue;
		text_append(text, ADMISSION_TEXT_MAX,
			    "not the label %.63s=%.63s", item->string, wanted);
		return true;
	}
	cJSON_ArrayForEach(item, json_get(json_get(node, "spec"), "taints")) {
		const char *effect = json_get_text_or_empty(item, "effect");

		if (!strcmp(effect, "PreferNoSchedule") ||
		    admission_tolerates(spec, item))
			continue;
		text_append(text, ADMISSION_TEXT_MAX, "the taint %.63s:%.30s",
			    json_get_text_or_empty(item, "key"), effect);
		return true;
	}
	return false;
}

/* Has a quota no room for so many pods? The dry run counts one. */
static bool admission_quota_lacks(const cJSON *quota, const cJSON *limits,
				  double pods, char text[ADMISSION_TEXT_MAX])
{
	const cJSON *status = json_get(quota, "status"), *hard;

	cJSON_ArrayForEach(hard, json_get(status, "hard")) {
		const char *name = hard->string;
		size_t prefix = !strncmp(name, "requests.", 9) ? 9
				: !strncmp(name, "limits.", 7) ? 7
							       : 0;
		const cJSON *one = json_get(limits, name + prefix);
		double need =
			pods *
			(strcmp(name, "pods") ? admission_quantity(one) : 1);
		const cJSON *used = json_get(json_get(status, "used"), name);

		if (need + admission_quantity(used) <= admission_quantity(hard))
			continue;
		snprintf(text, ADMISSION_TEXT_MAX,
			 "quota %.63s: %.63s: %.0f more than the %.20s used, "
			 "of %.20s",
			 json_get_text_or_empty(json_get(quota, "metadata"),
						"name"),
			 name, need, used ? cJSON_GetStringValue(used) : "0",
			 cJSON_GetStringValue(hard));
		return true;
	}
	return false;
}

/* A pod of the Job, on its own. */
static int admission_try(const cJSON *kubectl, const cJSON *job,
			 struct error *err)
{
	owned(cJSON_Delete) cJSON *pod =
		cJSON_Duplicate(json_get(json_get(job, "spec"), "template"),
				true);

	cJSON_AddStringToObject(pod, "apiVersion", "v1");
	cJSON_AddStringToObject(pod, "kind", "Pod");
	cJSON_AddStringToObject(json_get(pod, "metadata"), "name",
				json_get_text(json_get(job, "metadata"),
					      "name"));
	return kubectl_run(kubectl, pod, NULL, err, "create",
			   "--dry-run=server", NULL);
}

int admission_ask(const cJSON *kubectl, const cJSON *job,
		  char text[ADMISSION_TEXT_MAX], struct error *err)
{
	const cJSON *of = json_get(job, "spec"), *item;
	const cJSON *spec = json_get(json_get(of, "template"), "spec");
	const cJSON *limits = admission_limits(spec);
	double pods = admission_quantity(json_get(of, "parallelism"));
	owned(cJSON_Delete) cJSON *quotas = NULL, *nodes = NULL;
	char why[ADMISSION_TEXT_MAX] = "the cluster has no node";
	int good = 0, all = 0;
	int can = kubectl_can(kubectl, "create", "pods", err);
	const char *tried =
		can ? "accepted" : "not tried, as you may not create pods";
	struct error refused;

	if (can < 0)
		return -1;
	if (can && admission_try(kubectl, job, &refused) < 0) {
		if (refused.code != EIO)
			return error_set(err, refused.code, "%s", refused.text);
		snprintf(text, ADMISSION_TEXT_MAX, "%s", refused.text);
		return 0;
	}
	/* Neither list, unless it may be read. */
	kubectl_run(kubectl, NULL, &quotas, NULL, "get", "resourcequotas",
		    "-ojson", NULL);
	kubectl_run(kubectl, NULL, &nodes, NULL, "get", "nodes", "-ojson",
		    NULL);
	cJSON_ArrayForEach(item, json_get(quotas, "items"))
		if (admission_quota_lacks(item, limits, pods, text))
			return 0;
	cJSON_ArrayForEach(item, json_get(nodes, "items")) {
		all++;
		good += !admission_node_lacks(item, spec, why);
	}
	if (!nodes)
		snprintf(text, ADMISSION_TEXT_MAX,
			 "%s; the nodes may not be read", tried);
	else if (good)
		snprintf(text, ADMISSION_TEXT_MAX,
			 "%s; %d of %d nodes could run it", tried, good, all);
	else
		snprintf(text, ADMISSION_TEXT_MAX,
			 "no node could run it: %.360s", why);
	return !nodes || good;
}
