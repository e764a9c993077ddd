/* admission.c - says beforehand what a cluster would refuse, and which of its
 * nodes could run a pod.
 *
 * Source: Kubernetes API, "Quantity", v1 ResourceQuota, v1 Node, v1 Taint.
 */
#include "controller/cli/k8s/admission.h"
#include "controller/cli/k8s/kubectl.h"
#include "protocol/message/codec.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

double admission_quantity(const cJSON *value)
{
	static const struct {
		const char *unit;
		double factor;
	} units[] = { { "m", 1e-3 },        { "k", 1e3 },
		      { "M", 1e6 },         { "G", 1e9 },
		      { "T", 1e12 },        { "P", 1e15 },
		      { "Ki", 1024 },       { "Mi", 1048576 },
		      { "Gi", 1073741824 }, { "Ti", 1099511627776 } };
	const char *text = cJSON_GetStringValue(value);
	char *unit;
	double number;

	if (!text)
		return cJSON_IsNumber(value) ? value->valuedouble : 0;
	number = strtod(text, &unit);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].unit))
			return number * units[i].factor;
	return *unit ? 0 : number;
}

static bool admission_tolerates(const cJSON *spec, const cJSON *taint)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, json_get(spec, "tolerations")) {
		const char *key = json_get_text_or_empty(item, "key");
		const char *effect = json_get_text_or_empty(item, "effect");
		bool exists = !strcmp(json_get_text_or_empty(item, "operator"),
				      "Exists");

		if ((!*key ? exists
			   : !strcmp(key,
				     json_get_text_or_empty(taint, "key"))) &&
		    (exists ||
		     !strcmp(json_get_text_or_empty(item, "value"),
			     json_get_text_or_empty(taint, "value"))) &&
		    (!*effect ||
		     !strcmp(effect, json_get_text_or_empty(taint, "effect"))))
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
	const cJSON *has = json_get(json_get(node, "status"), "allocatable");
	const char *name = json_get_text_or_empty(metadata, "name");

	cJSON_ArrayForEach(item, admission_limits(spec)) {
		double lacks = admission_quantity(item) -
			       admission_quantity(json_get(has, item->string));

		if (lacks <= 0)
			continue;
		snprintf(text, ADMISSION_TEXT_MAX,
			 "%.63s has %.20s %.63s of %.20s", name,
			 json_get(has, item->string)
				 ? json_get_text_or_empty(has, item->string)
				 : "no",
			 item->string, cJSON_GetStringValue(item));
		return true;
	}
	cJSON_ArrayForEach(item, json_get(spec, "nodeSelector")) {
		const char *wanted = cJSON_GetStringValue(item);

		/* What is no text, the API server refuses. */
		if (!wanted ||
		    !strcmp(json_get_text_or_empty(json_get(metadata, "labels"),
						   item->string),
			    wanted))
			continue;
		snprintf(text, ADMISSION_TEXT_MAX,
			 "%.63s has not the label %.63s=%.63s", name,
			 item->string, wanted);
		return true;
	}
	cJSON_ArrayForEach(item, json_get(json_get(node, "spec"), "taints")) {
		const char *effect = json_get_text_or_empty(item, "effect");

		if (!strcmp(effect, "PreferNoSchedule") ||
		    admission_tolerates(spec, item))
			continue;
		snprintf(text, ADMISSION_TEXT_MAX,
			 "%.63s has the taint %.63s:%.30s", name,
			 json_get_text_or_empty(item, "key"), effect);
		return true;
	}
	return false;
}

/* Has a quota no room for so many pods? The dry run counts one. */
static bool admission_quota_lacks(const cJSON *quota, const cJSON *spec,
				  double pods, char text[ADMISSION_TEXT_MAX])
{
	const cJSON *status = json_get(quota, "status"), *hard;

	cJSON_ArrayForEach(hard, json_get(status, "hard")) {
		const char *name = hard->string;
		size_t prefix = !strncmp(name, "requests.", 9) ? 9
				: !strncmp(name, "limits.", 7) ? 7
							       : 0;
		double need =
			pods *
			(!strcmp(name, "pods")
				 ? 1
				 : admission_quantity(
					   json_get(admission_limits(spec),
						    name + prefix)));
		const cJSON *used = json_get(json_get(status, "used"), name);

		if (need + admission_quantity(used) <= admission_quantity(hard))
			continue;
		snprintf(text, ADMISSION_TEXT_MAX,
			 "quota %.63s: %.63s: %.0f more than the %.20s used, "
			 "of "
			 "%.20s",
			 json_get_text_or_empty(json_get(quota, "metadata"),
						"name"),
			 name, need,
			 json_get_text_or_empty(json_get(status, "used"), name),
			 cJSON_GetStringValue(hard));
		return true;
	}
	return false;
}

static int admission_try(const cJSON *kubectl, const cJSON *template,
			 const char *name, struct error *err)
{
	owned(cJSON_Delete) cJSON *pod = cJSON_Duplicate(template, true);
	owned(cJSON_Delete) cJSON *answer = NULL;

	cJSON_AddStringToObject(pod, "apiVersion", "v1");
	cJSON_AddStringToObject(pod, "kind", "Pod");
	cJSON_AddStringToObject(json_get(pod, "metadata"), "name", name);
	return kubectl_create(kubectl, pod, "--dry-run=server", &answer, err);
}

/* The items of a list, unless they may not be read. The caller deletes *list.
 */
static const cJSON *admission_list(const cJSON *kubectl, const char *what,
				   cJSON **list)
{
	const char *const words[] = { "get", what, "-o", "json", NULL };

	return kubectl_json(kubectl, words, list, NULL) < 0
		       ? NULL
		       : json_get(*list, "items");
}

int admission_ask(const cJSON *kubectl, const cJSON *job,
		  char text[ADMISSION_TEXT_MAX], struct error *err)
{
	const cJSON *template = json_get(json_get(job, "spec"), "template");
	const cJSON *spec = json_get(template, "spec"), *item, *quotas, *nodes;
	double pods = admission_quantity(
		json_get(json_get(job, "spec"), "parallelism"));
	owned(cJSON_Delete) cJSON *quota_list = NULL, *node_list = NULL;
	char why[ADMISSION_TEXT_MAX] = "the cluster has no node";
	int good = 0, all = 0;
	int can = kubectl_can(kubectl, "create", "pods", err);
	const char *tried =
		can ? "accepted" : "not tried, as you may not create pods";
	struct error refused;

	if (can < 0)
		return -1;
	if (can &&
	    admission_try(kubectl, template,
			  json_get_text(json_get(job, "metadata"), "name"),
			  &refused) < 0) {
		if (refused.code != EIO)
			return error_set(err, refused.code, "%s", refused.text);
		snprintf(text, ADMISSION_TEXT_MAX, "%s", refused.text);
		return 0;
	}
	quotas = admission_list(kubectl, "resourcequotas", &quota_list);
	cJSON_ArrayForEach(item, quotas)
		if (admission_quota_lacks(item, spec, pods, text))
			return 0;
	nodes = admission_list(kubectl, "nodes", &node_list);
	if (!nodes) {
		snprintf(text, ADMISSION_TEXT_MAX,
			 "%s; the nodes may not be read", tried);
		return 1;
	}
	cJSON_ArrayForEach(item, nodes) {
		all++;
		good += !admission_node_lacks(item, spec, why);
	}
	if (good)
		snprintf(text, ADMISSION_TEXT_MAX,
			 "%s; %d of %d nodes could run it", tried, good, all);
	else
		snprintf(text, ADMISSION_TEXT_MAX,
			 "no node could run it: %.360s", why);
	return good > 0;
}
