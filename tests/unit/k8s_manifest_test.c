/* k8s_manifest_test.c - the Jobs and Secrets of a run in Kubernetes.
 */
#include "controller/cli/k8s/admission.h"
#include "controller/cli/k8s/manifest.h"
#include "protocol/message/json_get.h"
#include "protocol/yaml/document.h"
#include "tests/tap.h"

#include <errno.h>

#define CLUSTER "run-00112233445566778899aabbccddeeff"

static struct manifest_run run = { .cluster = CLUSTER };

/* The choices of a run, with the objects that are installed. */
static cJSON *choices_make(void)
{
	struct document *document =
		document_read("images/kubernetes.yaml", NULL, NULL);
	cJSON *choices = cJSON_Parse("{\"words\": {\"REGATTA\": "
				     "\"lab/regatta\", \"CLASS\": null, "
				     "\"RESOURCE\": null, \"QUEUE\": null, "
				     "\"HOST_NETWORK\": null}}");

	cJSON_AddItemToObject(choices, "objects",
			      value_to_json(document_root(document)));
	document_free(document);
	run.choices = choices;
	return choices;
}

/* Give a word of the choices another value. */
static void word_set(cJSON *choices, const char *word, cJSON *value)
{
	cJSON *words = cJSON_GetObjectItem(choices, "words");

	cJSON_DeleteItemFromObject(words, word);
	cJSON_AddItemToObject(words, word, value);
}

/* The Job of an attempt, or NULL. */
static cJSON *job_make(const struct job_spec *spec, uint64_t id,
		       uint32_t attempt, struct error *err)
{
	cJSON *list = manifest_attempt(&run, spec, id, attempt, "t", err);
	cJSON *job = cJSON_DetachItemViaPointer(json_get(list, "items"),
						manifest_job(list));

	cJSON_Delete(list);
	return job;
}

static struct job_spec spec_make(void)
{
	return (struct job_spec){
		.vendor = (char *)"nvidia",
		.nodes = 2,
		.devices = 8,
		.container = { .image = (char *)"lab/train:1" },
	};
}

/* The member at a path such as "spec/containers/0/name"; NULL: none. */
static const cJSON *at(const cJSON *from, const char *path)
{
	char word[64];
	size_t size;

	for (; from && *path; path += size + (path[size] == '/')) {
		size = strcspn(path, "/");
		snprintf(word, sizeof(word), "%.*s", (int)size, path);
		from = cJSON_IsArray(from)
			       ? cJSON_GetArrayItem(from,
						    (int)strtol(word, NULL, 10))
			       : json_get(from, word);
	}
	return from;
}

static const char *text(const cJSON *from, const char *path)
{
	const char *found = cJSON_GetStringValue(at(from, path));

	return found ? found : "";
}

static double number(const cJSON *from, const char *path)
{
	return cJSON_GetNumberValue(at(from, path));
}

#define POD "spec/template/spec/"
#define MAIN POD "containers/1/"

static void test_job(void)
{
	struct job_spec spec = spec_make();
	struct error err;
	cJSON *job, *choices = choices_make();

	word_set(choices, "RESOURCE", cJSON_CreateString("nvidia.com/gpu"));
	job = job_make(&spec, 17, 3, &err);
	is(text(job, "metadata/name"), "regatta-ccddeeff-17-3",
	   "a Job is named by run, job and attempt");
	ok(number(job, "spec/parallelism") == 2 &&
		   number(job, "spec/completions") == 2 &&
		   number(job, "spec/backoffLimit") == 0,
	   "one pod for each node, and no second try");
	ok(!at(job, "spec/activeDeadlineSeconds") &&
		   !at(job, POD "activeDeadlineSeconds"),
	   "no deadline of Kubernetes, which would delete output");
	is(text(job, POD "restartPolicy"), "Never", "no container again");
	ok(cJSON_IsTrue(at(job, POD "shareProcessNamespace")) &&
		   cJSON_IsFalse(at(job, POD "automountServiceAccountToken")) &&
		   !at(job, POD "hostNetwork"),
	   "processes are shared; there is no service account");
	is(text(job, POD "containers/0/lifecycle/postStart/exec/command/1"),
	   "install", "regatta-init is there before the main container starts");
	is(text(job, MAIN "image"), "lab/train:1", "the benchmark's own image");
	is(text(job, MAIN "command/0"), "/regatta/bin/regatta-init",
	   "regatta-init runs in it");
	is(text(json_get(at(job, MAIN "resources/limits"), "nvidia.com/gpu"),
		""),
	   "8", "devices are the vendor's resource");
	ok(cJSON_IsFalse(
		   at(job, MAIN "securityContext/allowPrivilegeEscalation")) &&
		   !at(job, MAIN "securityContext/privileged"),
	   "no privileges");
	for (int i = 0; at(job, POD "volumes") &&
			i < cJSON_GetArraySize(at(job, POD "volumes"));
	     i++) {
		const cJSON *volume =
			cJSON_GetArrayItem(at(job, POD "volumes"), i);

		ok(json_get(volume, "emptyDir") || json_get(volume, "secret"),
		   "volume %s is no folder of the machine",
		   json_get_text_or_empty(volume, "name"));
	}
	for (int i = 0; i < cJSON_GetArraySize(at(job, MAIN "volumeMounts"));
	     i++)
		ok(strcmp(json_get_text_or_empty(cJSON_GetArrayItem(at(job, MAIN
								       "volumeM"
								       "ounts"),
								    i),
						 "name"),
			  "keys") != 0,
		   "mount %d of the benchmark is not that of the keys", i);
	is(text(job, MAIN "volumeMounts/1/mountPath"), "/regatta/bin",
	   "the programs that the agent runs, too,");
	ok(cJSON_IsTrue(at(job, MAIN "volumeMounts/1/readOnly")) &&
		   !strcmp(text(job, MAIN "volumeMounts/1/subPath"), "bin"),
	   "are read-only for the command");
	cJSON_Delete(job);
	cJSON_Delete(choices);
}

static void test_limits(void)
{
	struct job_spec spec = spec_make();
	struct error err;
	cJSON *job, *choices = choices_make();

	spec.labels = (char *)"disk=nvme,fast,zone=a,new";
	spec.container.cpus = 1.5;
	spec.container.memory_bytes = 1ULL << 30;
	spec.container.shm_bytes = 64 << 20;
	spec.container.user = (char *)"1000:100";
	spec.container.workspace = (char *)"sha256";
	spec.container.workdir = (char *)"/workspace/x";
	word_set(choices, "HOST_NETWORK", cJSON_CreateTrue());
	word_set(choices, "QUEUE", cJSON_CreateString("team"));
	word_set(choices, "CLASS", cJSON_CreateString("gpu.nvidia.com"));
	job = job_make(&spec, 1, 1, &err);
	is(text(job, POD "nodeSelector/disk"), "nvme", "labels choose nodes");
	is(text(job, POD "nodeSelector/zone"), "a", "all of them");
	is(text(job, POD "nodeSelector/fast"), "", "without a value");
	is(text(job, POD "nodeSelector/new"), "", "also at the end");
	is(text(job, MAIN "resources/limits/cpu"), "1500m", "cpus");
	is(text(job, MAIN "resources/limits/memory"), "1073741824", "memory");
	is(text(job, POD "volumes/3/emptyDir/sizeLimit"), "67108864", "shm");
	ok(number(job, MAIN "securityContext/runAsUser") == 1000 &&
		   number(job, MAIN "securityContext/runAsGroup") == 100,
	   "user and group");
	is(text(job, MAIN "volumeMounts/4/mountPath"), "/workspace",
	   "the code tree has its place");
	is(text(job, MAIN "workingDir"), "/workspace/x", "working folder");
	ok(cJSON_IsTrue(at(job, POD "hostNetwork")), "host network");
	is(text(json_get(at(job, "metadata/labels"),
			 "kueue.x-k8s.io/queue-name"),
		""),
	   "team", "the queue of Kueue");
	is(text(json_get(at(job, "spec/template/metadata/labels"),
			 "scheduling.x-k8s.io/pod-group"),
		""),
	   "regatta-ccddeeff-1-1", "a gang has its PodGroup");
	is(text(job, MAIN "resources/claims/0/name"), "devices",
	   "devices are a claim");
	is(text(job, POD "resourceClaims/0/resourceClaimTemplateName"),
	   "regatta-ccddeeff-1-1", "of the template of its Job");
	cJSON_Delete(job);
	word_set(choices, "QUEUE", cJSON_CreateNull());
	word_set(choices, "GANG", cJSON_CreateNull());
	job = job_make(&spec, 1, 1, &err);
	ok(!json_get(at(job, "spec/template/metadata/labels"),
		     "scheduling.x-k8s.io/pod-group") &&
		   !json_get(at(job, "metadata/labels"),
			     "kueue.x-k8s.io/queue-name") &&
		   at(job, MAIN "resources/claims/0/name"),
	   "what the cluster does not serve has no value");
	cJSON_Delete(job);
	spec.container.user = (char *)"alice";
	job = job_make(&spec, 1, 1, &err);
	ok(!job && err.code == EINVAL && strstr(err.text, "alice"),
	   "a user's name is refused: %s", job ? "no" : err.text);
	cJSON_Delete(job);
	spec = spec_make();
	spec.nodes = 1;
	spec.devices = 0;
	word_set(choices, "HOST_NETWORK", cJSON_CreateNull());
	job = job_make(&spec, 1, 1, &err);
	ok(!json_get(at(job, "spec/template/metadata/labels"),
		     "scheduling.x-k8s.io/pod-group") &&
		   !json_get(at(job, "metadata/labels"),
			     "kueue.x-k8s.io/queue-name") &&
		   !at(job, POD "resourceClaims") &&
		   !at(job, POD "hostNetwork") &&
		   !at(job, POD "nodeSelector") && !at(job, MAIN "workingDir"),
	   "what has no value is left out");
	cJSON_Delete(job);
	cJSON_Delete(choices);
}

static void test_owner(void)
{
	struct job_spec spec = spec_make();
	struct error err;
	cJSON *choices = choices_make(), *anchor = manifest_anchor(&run);
	cJSON *list;
	const cJSON *secret, *job;

	is(text(anchor, "metadata/name"), "regatta-ccddeeff",
	   "one Job stands for the run");
	ok(number(anchor, "spec/parallelism") == 0, "it has no pods");
	run.owner = "u";
	list = manifest_attempt(&run, &spec, 17, 3, "tcp://x,\"y", &err);
	secret = at(list, "items/0");
	job = at(list, "items/2"); /* behind the PodGroup */
	is(text(at(list, "items/1"), "kind"), "PodGroup",
	   "what a Job needs is created first");
	is(text(secret, "stringData/token"), "tcp://x,\"y", "the token");
	is(text(secret, "metadata/name"), text(job, "metadata/name"),
	   "a Secret has the name of its Job");
	is(text(secret, "metadata/ownerReferences/0/uid"), "u",
	   "the Job of the run owns it");
	is(text(job, "metadata/ownerReferences/0/name"), "regatta-ccddeeff",
	   "and the other Jobs");
	cJSON_Delete(anchor);
	cJSON_Delete(list);
	cJSON_Delete(choices);
	run.owner = NULL;
}

static void test_names(void)
{
	char name[MANIFEST_NAME_SIZE];

	manifest_name(CLUSTER, 17, 3, name);
	is(name, "regatta-ccddeeff-17-3", "an attempt names its Job");
	manifest_name("x", 0, 0, name);
	is(name, "regatta-x", "a short name of a run is taken whole");
}

static void test_selectors(void)
{
	owned(cJSON_Delete) cJSON *node =
		cJSON_Parse("{\"metadata\":{\"name\":\"n1\",\"labels\":{"
			    "\"disk\":\"nvme\"}}}");
	owned(cJSON_Delete) cJSON *good = cJSON_Parse(
		"{\"nodeSelector\":{\"disk\":\"nvme\",\"zone\":7}}");
	owned(cJSON_Delete) cJSON *bad =
		cJSON_Parse("{\"nodeSelector\":{\"disk\":\"tape\"}}");
	owned(cJSON_Delete) cJSON *many =
		cJSON_Parse("{\"containers\":[{\"name\":\"main\","
			    "\"resources\":{\"limits\":{\"x/npu\":8}}}]}");
	char text[ADMISSION_TEXT_MAX] = "";

	ok(!admission_node_lacks(node, good, text),
	   "a selector that is no text is left to the API server");
	ok(admission_node_lacks(node, bad, text), "another one is told: %s",
	   text);
	ok(admission_node_lacks(node, many, text), "so are devices");
	is(text, "n1 has no x/npu of 8", "also as a number");
}

int main(void)
{
	tap_begin(60);
	test_job();
	test_limits();
	test_owner();
	test_names();
	test_selectors();
	return tap_done();
}
