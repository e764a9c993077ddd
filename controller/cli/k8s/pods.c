/* pods.c - keeps a Job of Kubernetes for each job of a run that waits for
 * nodes, and removes it once the job is over.
 */
#include "controller/cli/k8s/pods.h"
#include "controller/cli/k8s/kubectl.h"
#include "controller/cli/k8s/manifest.h"
#include "controller/cli/run/session.h"
#include "controller/sweep/sweep.h"
#include "protocol/base/clock.h"
#include "protocol/base/parent_watch.h"
#include "protocol/base/printable.h"
#include "protocol/base/program.h"
#include "protocol/message/json_get.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/reply_nodes.h"
#include "protocol/message/state.h"
#include "protocol/wire/join.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define TURN_MS 200   /* between looks at the run's jobs */
#define QUICK_MS 50   /* while one waits for its pods */
#define PODS_MS 2000  /* between looks for why pods do not start */
#define START_MS 5000 /* before the first one: it takes time from a start */
#define AGAIN_MS 5000 /* after a call that failed */
#define TOKEN_S 86400 /* a Job may wait long for its pods */
#define TOKEN_SPARE 2 /* pods that replace deleted ones */

/* A Job of ours. */
struct pod_job {
	char name[MANIFEST_NAME_SIZE];
	uint64_t job;             /* 0: not seen yet */
	bool wanted;              /* its attempt is not over */
	bool waits;               /* the attempt has no nodes yet */
	char said[NOTE_TEXT_MAX]; /* the last detail */
	TAILQ_ENTRY(pod_job) next;
};

struct pods {
	struct cli *cli;
	struct session session;
	cJSON *choices;
	const cJSON *kubectl; /* its options */
	struct manifest_run run;
	char name[MANIFEST_NAME_SIZE]; /* of the Job that owns all */
	char owner[64];                /* its uid; "": none yet */
	char label[128]; /* of all that it has created, as a selector */
	size_t at_once;
	bool ending;
	int64_t look_at; /* at pods; monotonic ms */
	TAILQ_HEAD(, pod_job) jobs;
};

static void pods_clear(struct pods *pods)
{
	struct pod_job *job;

	while ((job = TAILQ_FIRST(&pods->jobs))) {
		TAILQ_REMOVE(&pods->jobs, job, next);
		free(job);
	}
	session_clear(&pods->session);
	cJSON_Delete(pods->choices);
}
OWNED_VALUE(struct pods, pods_clear)

/* Our Jobs. */

/* Is this its name, or that of a pod of it? */
static bool pod_job_is(const struct pod_job *job, const char *name)
{
	size_t size = strlen(job->name);

	return !strncmp(job->name, name, size) &&
	       (!name[size] || name[size] == '-');
}

static struct pod_job *pods_find(const struct pods *pods, const char *name)
{
	struct pod_job *job;

	TAILQ_FOREACH(job, &pods->jobs, next)
		if (pod_job_is(job, name))
			return job;
	return NULL;
}

static struct pod_job *pods_add(struct pods *pods, const char *name,
				struct error *err)
{
	struct pod_job *job = calloc(1, sizeof(*job));

	if (!job)
		return error_null(error_nomem(err, "pods"));
	snprintf(job->name, sizeof(job->name), "%s", name);
	job->wanted = true;
	TAILQ_INSERT_TAIL(&pods->jobs, job, next);
	return job;
}

/* Find what an earlier guest of this run has left, or make the Job that owns
 * all the others.
 */
static int pods_adopt(struct pods *pods, struct error *err)
{
	owned(cJSON_Delete) cJSON *list = NULL, *anchor = NULL, *made = NULL;
	const cJSON *item, *found = NULL;

	if (*pods->owner)
		return 0;
	if (kubectl_run(pods->kubectl, NULL, &list, err, "get", "jobs", "-l",
			pods->label, "-ojson", NULL) < 0)
		return -1;
	cJSON_ArrayForEach(item, json_get(list, "items")) {
		const char *name =
			json_get_text_or_empty(json_get(item, "metadata"),
					       "name");

		if (!strcmp(name, pods->name))
			found = item;
		else if (!pods_find(pods, name) && !pods_add(pods, name, err))
			return -1;
	}
	anchor = found ? NULL : manifest_anchor(&pods->run);
	if (!found && kubectl_run(pods->kubectl, anchor, &made, err, "create",
				  "-ojson", NULL) < 0)
		return -1;
	snprintf(pods->owner, sizeof(pods->owner), "%s",
		 json_get_text_or_empty(json_get(found ? found : made,
						 "metadata"),
					"uid"));
	return *pods->owner ? 0 : error_set(err, EPROTO, "a Job has no uid");
}

/* A token with which so many agents can join. */
static int pods_token(struct pods *pods, uint32_t nodes,
		      char text[JOIN_TOKEN_MAX], struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	const struct folder *folder = &pods->session.folder;
	struct join_token token;
	struct message_token message = {
		.public = token.public,
		.role = (char *)role_name(ROLE_AGENT),
		.uses = nodes + TOKEN_SPARE,
		.for_s = TOKEN_S,
	};
	char endpoint[JOIN_ENDPOINT_SIZE];

	return folder_endpoint(folder, endpoint, err) < 0 ||
			       join_token_make(&token, endpoint,
					       folder->controller.public,
					       err) < 0 ||
			       join_token_text(&token, text, err) < 0
		       ? -1
		       : client_call(pods->session.client, MESSAGE_TOKEN,
				     &message, &answer, err);
}

/* With its Secret and its pods. */
static int pods_delete(const struct pods *pods, const char *name,
		       struct error *err)
{
	return kubectl_run(pods->kubectl, NULL, NULL, err, "delete",
			   "jobs,secrets", name, "--ignore-not-found",
			   "--wait=false", NULL);
}

static int pods_begin(struct pods *pods, const struct job_info *info,
		      const char *name, struct error *err)
{
	struct message_query query = { .what = QUERY_JOB, .id = info->job };
	owned(answer_clear) struct answer reply = { 0 };
	owned(job_spec_clear) struct job_spec spec = { 0 };
	owned(cJSON_Delete) cJSON *list = NULL;
	char token[JOIN_TOKEN_MAX];

	if (client_query(pods->session.client, &query, &reply, err) < 0 ||
	    codec_from_other(&job_spec_schema,
			     ((const struct reply_job *)reply.reply)->job.spec,
			     &spec, err) < 0 ||
	    pods_token(pods, info->nodes, token, err) < 0)
		return -1;
	list = manifest_attempt(&pods->run, &spec, info->job, info->attempt,
				token, err);
	if (!list)
		return -1;
	if (kubectl_run(pods->kubectl, list, NULL, err, "create", NULL) < 0) {
		pods_delete(pods, name, NULL);
		return -1;
	}
	cli_say(pods->cli, "created a Job for job %" PRIu64 ", attempt %u",
		info->job, info->attempt);
	pods->look_at = clock_mono_ms() + START_MS;
	return pods_add(pods, name, err) ? 0 : -1;
}

/* The jobs of the run. */

/* Keep its Job, or make one if it waits for nodes, not for its turn or for
 * other jobs.
 */
static int pods_see_job(struct pods *pods, const struct job_info *info,
			size_t *open, struct error *err)
{
	enum job_state state = job_state_from(info->state);
	bool lacks = state == JOB_QUEUED && info->waits &&
		     !strncmp(info->waits, "needs ", 6);
	char name[MANIFEST_NAME_SIZE];
	struct pod_job *job;

	manifest_name(pods->run.cluster, info->job, info->attempt, name);
	job = pods_find(pods, name);
	if (!job)
		return lacks && (*open)++ < pods->at_once
			       ? pods_begin(pods, info, name, err)
			       : 0;
	job->job = info->job;
	job->wanted = !job_state_final(state) || !info->removed;
	job->waits = state == JOB_QUEUED;
	*open += job->wanted;
	return 0;
}

static int pods_see_jobs(struct pods *pods, struct error *err)
{
	owned(rows_clear) struct rows jobs = { 0 };
	struct pod_job *job;
	size_t open = 0;

	if (client_rows(pods->session.client, QUERY_JOBS, 0, "job", &jobs,
			err) < 0)
		return -1;
	TAILQ_FOREACH(job, &pods->jobs, next)
		job->wanted = false;
	for (size_t i = 0; i < jobs.count; i++)
		if (pods_see_job(pods, rows_at(&jobs, i), &open, err) < 0)
			return -1;
	return 0;
}

/* Label an agent that has come for its job; forget one whose Job is over. */
static int pods_see_node(struct pods *pods, const struct node_info *node,
			 struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	owned(cJSON_Delete) cJSON *labels = cJSON_CreateObject();
	const struct pod_job *job = pods_find(pods, node->name);
	struct message_label label = { .node = node->name, .labels = labels };
	struct message_revoke revoke = { .kind = (char *)"node",
					 .name = node->name,
					 .force = true };
	char id[24];

	if (!job || !job->wanted) {
		client_call(pods->session.client, MESSAGE_REVOKE, &revoke,
			    &answer, NULL);
		return 0;
	}
	if (!job->job || strcmp(node->state, "up") != 0 ||
	    json_get(node->labels, "job"))
		return 0;
	snprintf(id, sizeof(id), "%" PRIu64, job->job);
	if (!cJSON_AddStringToObject(labels, "job", id))
		return error_nomem(err, "labels");
	return client_call(pods->session.client, MESSAGE_LABEL, &label, &answer,
			   err);
}

/* Then remove the Jobs whose attempt is over. */
static int pods_see_nodes(struct pods *pods, struct error *err)
{
	owned(rows_clear) struct rows nodes = { 0 };
	struct pod_job *job, *next;

	if (client_rows(pods->session.client, QUERY_NODES, 0, NULL, &nodes,
			err) < 0)
		return -1;
	for (size_t i = 0; i < nodes.count; i++)
		if (pods_see_node(pods, rows_at(&nodes, i), err) < 0)
			return -1;
	for (job = TAILQ_FIRST(&pods->jobs); job; job = next) {
		next = TAILQ_NEXT(job, next);
		if (job->wanted)
			continue;
		if (pods_delete(pods, job->name, err) < 0)
			return -1;
		TAILQ_REMOVE(&pods->jobs, job, next);
		free(job);
	}
	return 0;
}

/* Why jobs wait. */

static void pods_tell(struct pods *pods, struct pod_job *job, const char *words)
{
	owned(answer_clear) struct answer answer = { 0 };
	char text[NOTE_TEXT_MAX];
	struct message_note note = { .job = job->job, .text = text };

	snprintf(text, sizeof(text), "%s", words);
	printable(text, strlen(text));
	if (!strcmp(text, job->said))
		return;
	snprintf(job->said, sizeof(job->said), "%s", text);
	cli_say(pods->cli, "job %" PRIu64 ": %s", job->job, text);
	client_call(pods->session.client, MESSAGE_NOTE, &note, &answer, NULL);
}

/* The last warning about the job; NULL: none. That an image is not there yet
 * says less than the warning why.
 */
static const char *pods_warning(const struct pod_job *job, const cJSON *events)
{
	const char *last = NULL, *last_at = "";
	const cJSON *event;

	cJSON_ArrayForEach(event, events) {
		const cJSON *of = json_get(event, "involvedObject");
		const char *text = json_get_text_or_empty(event, "message");
		const char *at = json_get_text(event, "lastTimestamp");

		if (!at) /* newer schedulers have another member for it */
			at = json_get_text_or_empty(event, "eventTime");
		if (!pod_job_is(job, json_get_text_or_empty(of, "name")) ||
		    strstr(text, "ImagePull") || strcmp(at, last_at) < 0)
			continue;
		last = text;
		last_at = at;
	}
	return last;
}

static bool pods_wait(const struct pods *pods)
{
	const struct pod_job *job;

	TAILQ_FOREACH(job, &pods->jobs, next)
		if (job->wanted && job->waits)
			return true;
	return false;
}

/* Tell why jobs have no nodes yet: a quota or policy refuses their pods, no
 * node fits, an image or a volume does not come. These are events of Jobs and
 * pods. No pod or Job fails by one: the kubelet and the Job's controller try
 * again.
 */
static int pods_look(struct pods *pods, struct error *err)
{
	owned(cJSON_Delete) cJSON *list = NULL;
	struct pod_job *job;

	if (!pods_wait(pods) || clock_mono_ms() < pods->look_at)
		return 0;
	pods->look_at = clock_mono_ms() + PODS_MS;
	if (kubectl_run(pods->kubectl, NULL, &list, err, "get", "events",
			"--field-selector", "type=Warning", "-ojson", NULL) < 0)
		return -1;
	TAILQ_FOREACH(job, &pods->jobs, next) {
		const char *why = pods_warning(job, json_get(list, "items"));

		if (job->wanted && job->waits && why)
			pods_tell(pods, job, why);
	}
	return 0;
}

/* Its end. */

static int pods_told(sd_event_source *source,
		     const struct signalfd_siginfo *info, void *arg)
{
	struct pods *pods = arg;

	pods->ending = true;
	client_interrupt(pods->session.client);
	return 0;
}

static void pods_orphaned(void *arg)
{
	pods_told(NULL, NULL, arg);
}

static void pods_notice(void *arg, const char *text)
{
	cli_say(arg, "%s", text);
}

static void pods_pause(struct pods *pods, int64_t ms)
{
	sd_event *loop = client_loop(pods->session.client);
	int64_t until = clock_mono_ms() + ms, now;

	while (!pods->ending && (now = clock_mono_ms()) < until)
		sd_event_run(loop, (uint64_t)(until - now) * 1000);
}

static int pods_open(struct pods *pods, struct error *err)
{
	const cJSON *from;

	if (session_open(&pods->session, pods->cli, err) < 0 ||
	    folder_choices(&pods->session.folder, &pods->choices, err) < 0)
		return -1;
	from = json_get(pods->choices, "k8s");
	pods->run.cluster = pods->session.folder.cluster;
	pods->run.owner = pods->owner;
	pods->run.choices = from;
	manifest_name(pods->run.cluster, 0, 0, pods->name);
	snprintf(pods->label, sizeof(pods->label), MANIFEST_RUN "=%s",
		 pods->run.cluster);
	pods->at_once = (size_t)cJSON_GetNumberValue(json_get(from, "at_once"));
	pods->kubectl = json_get(from, "kubectl");
	return 0;
}

int pods_serve(struct cli *cli, int parent_fd, struct error *err)
{
	owned(pods_clear) struct pods pods = { .cli = cli };
	owned(interrupts_clear) struct interrupts interrupts = { 0 };
	sd_event *loop;

	TAILQ_INIT(&pods.jobs);
	if (pods_open(&pods, err) < 0)
		return -1;
	loop = client_loop(pods.session.client);
	client_set_patient(pods.session.client, pods_notice, cli);
	if (interrupts_init(&interrupts, loop, pods_told, &pods, err) < 0 ||
	    parent_watch_start(loop, parent_fd, pods_orphaned, &pods, err) < 0)
		return -1;
	while (!pods.ending) {
		struct error why;
		bool good = pods_adopt(&pods, &why) == 0 &&
			    pods_see_jobs(&pods, &why) == 0 &&
			    pods_see_nodes(&pods, &why) == 0 &&
			    pods_look(&pods, &why) == 0;

		if (!good && why.code != EINTR)
			cli_say(cli, "%s", why.text);
		pods_pause(&pods, !good              ? AGAIN_MS
				  : pods_wait(&pods) ? QUICK_MS
						     : TURN_MS);
	}
	/* Whatever the run has created, also before this guest began: its Jobs,
	 * and what they own.
	 */
	return kubectl_run(pods.kubectl, NULL, NULL, err, "delete", "jobs",
			   "-l", pods.label, "--cascade=foreground",
			   "--timeout=60s", NULL) < 0
		       ? -1
		       : EXIT_GOOD;
}
