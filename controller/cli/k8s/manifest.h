/* manifest.h - what `regatta k8s` creates in a namespace, as JSON: a Job for
 * each attempt of a job, with its Secret; and one Job without pods that owns
 * them all, so that nothing outlives it. Pure.
 *
 * Their texts are in kubernetes.yaml of the images folder. A pod has the main
 * container with the benchmark's image, whose command is regatta-init, and the
 * agent (agent/docker/pod_driver.h). It needs no rights: no privileges, no
 * hostPath, no service account. Sources: Kubernetes API, batch/v1 Job, v1 Pod,
 * v1 Secret, as they are from 1.20 to today; resource.k8s.io/v1; PodGroup of
 * scheduler-plugins; "Running Kubernetes Jobs" of Kueue.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/message/spec.h"

#include <cjson/cJSON.h>

#define MANIFEST_RUN "regatta/run" /* label of everything that is created */
#define MANIFEST_NAME_SIZE 64

/* What all Jobs of a run have in common. Borrowed. */
struct manifest_run {
	const char *cluster; /* names the run: its folder's label */
	const char *owner;   /* uid of the Job that owns all; NULL: none yet */
	/* objects: kubernetes.yaml; words: values of its words that all Jobs
	 * have, null for one that has no value here; CLASS and RESOURCE always.
	 */
	const cJSON *choices;
};

/* Give a word its value, unless it has one; text NULL: it has none here. */
void manifest_put(cJSON *words, const char *word, const char *text);

/* "regatta-<8 digits>-<job>-<attempt>": also how the names of its pods begin.
 * job 0: of the Job that owns all, "regatta-<8 digits>".
 */
void manifest_name(const char *cluster, uint64_t job, uint32_t attempt,
		   char name[MANIFEST_NAME_SIZE]);

/* The Job that owns all. The caller deletes it. */
cJSON *manifest_anchor(const struct manifest_run *run);

/* What an attempt needs, as a List whose last item is the Job; the caller
 * deletes it. token: of its agents. EINVAL: the spec cannot be a pod.
 */
cJSON *manifest_attempt(const struct manifest_run *run,
			const struct job_spec *spec, uint64_t job,
			uint32_t attempt, const char *token, struct error *err);

/* The Job of such a List; NULL: its last item is none. */
cJSON *manifest_job(const cJSON *list);
