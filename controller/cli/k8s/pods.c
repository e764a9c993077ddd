/* pods.c - keeps a Job of Kubernetes for each job of a run that waits for
 * nodes, and removes it once the job is over.
 */
#include "controller/cli/k8s/pods.h"
#include "controller/cli/k8s/kubectl.h"
#include "controller/cli/k8s/manifest.h"
#include "controller/cli/run/session.h"
#include "controller/sweep/sweep.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/parent_watch.h"
#include "protocol/base/printable.h"
#include "protocol/base/program.h"
#include "protocol/message/json_get.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/reply_nodes.h"
#include "protocol/message/state.h"
#include "protocol/wire/join.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#define TURN_MS 200   /* between looks at the run's jobs */
#define QUICK_MS 50   /* while one waits for its pods */
#define PODS_MS 2000  /* between looks for why pods do not start */
#define START_MS 5000 /* before the first one: it takes time from a start */
#define AGAIN_MS 5000 /* after a call that failed */
#define TOKEN_S 86400 /* a Job may wait long for its pods */
#define TOKEN_SPARE 2 /* pods that replace deleted ones */
#define END_S "60s"   /* for all pods to be gone */

/* A Job of ours. */
struct pod_job {
	uint64_t job;
	uint32_t attempt;
	bool wanted;              /* its attempt is not over */
	bool waits;               /* the attempt has no nodes yet */
	const cJSON *event;       /* of the last look: why it has none */
	char said[NOTE_TEXT_MAX]; /* the last detail */
	TAILQ_ENTRY(pod_job) next;
};

struct pods {
	struct cli *cli;
	struct session session;
	cJSON *choices;
	const cJSON *kubectl; /* its options */
	struct manifest_run run;
	char label[128]; /* of all that it has created, as a selector */
	size_t at_once;
	cJSON *anchor; /* the Job that owns all */
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
	cJSON_Delete(pods->anchor);
	cJSON_Delete(pods->choices);
}
OWNED_VALUE(struct pods, pods_clear)

/* Our Jobs. */

static struct pod_job *pods_find(const struct pods *pods, uint64_t job,
				 uint32_t attempt)
{
	struct pod_job *item;

	TAILQ_FOREACH(item, &pods->jobs, next)
		if (item->job == job && item->attempt == attempt)
			return item;
	return NULL;
}

static struct pod_job *pods_add(struct pods *pods, uint64_t job,
				uint32_t attempt, struct error *err)
{
	struct pod_job *item = calloc(1, sizeof(*item));

	if (!item)
		return error_null(error_nomem(err, "pods"));
	item->job = job;
	item->attempt = attempt;
	item->wanted = true;
	TAILQ_INSERT_TAIL(&pods->jobs, item, next);
	return item;
}

/* The Job that owns all the others: make it. */
static int pods_anchor(struct pods *pods, struct error *err)
{
	owned(cJSON_Delete) cJSON *anchor = manifest_anchor(&pods->run);

	return kubectl_create(pods->kubectl, anchor, NULL, &pods->anchor, err);
}

static int pods_adopt_job(struct pods *pods, cJSON *item, struct error *err)
{
	const char *name =
		json_get_text_or_empty(json_get(item, "metadata"), "name");
	char anchor[MANIFEST_NAME_SIZE];
	uint32_t attempt;
	uint64_t job;

	manifest_name(pods->run.cluster, 0, 0, anchor);
	if (!strcmp(name, anchor))
		pods->anchor = cJSON_Duplicate(item, true);
	else if (manifest_of(pods->run.cluster, name, &job, &attempt) &&
		 !pods_add(pods, job, attempt, err))
		return -1;
	return 0;
}

/* Find what an earlier guest of this run has left. */
static int pods_adopt(struct pods *pods, struct error *err)
{
	const char *const words[] = { "get", "jobs", "-l", pods->label,
				      "-o",  "json", NULL };
	owned(cJSON_Delete) cJSON *answer = NULL;
	cJSON *item;

	if (pods->run.owner)
		return 0;
	if (kubectl_json(pods->kubectl, words, &answer, err) < 0)
		return -1;
	cJSON_ArrayForEach(item, json_get(answer, "items"))
		if (pods_adopt_job(pods, item, err) < 0)
			return -1;
	if (!pods->anchor && pods_anchor(pods, err) < 0)
		return -1;
	pods->run.owner =
		json_get_text(json_get(pods->anchor, "metadata"), "uid");
	return pods->run.owner ? 0 : error_set(err, EPROTO, "a Job has no uid");
}

/* A token with which so many agents can join. */
static int pods_token(struct pods *pods, uint32_t nodes,
		      char text[JOIN_TOKEN_MAX], struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct join_token token = { 0 };
	struct message_token message = {
		.public = token.public,
		.role = (char *)role_name(ROLE_AGENT),
		.uses = nodes + TOKEN_SPARE,
		.for_s = TOKEN_S,
	};
	struct key key;

	if (key_generate(&key, "token", ROLE_JOINER, err) < 0 ||
	    folder_endpoint(&pods->session.folder, token.endpoint, err) < 0)
		return -1;
	memcpy(token.server_public, pods->session.folder.controller.public,
	       KEY_TEXT_SIZE);
	memcpy(token.public, key.public, KEY_TEXT_SIZE);
	memcpy(token.secret, key.secret, KEY_TEXT_SIZE);
	if (client_call(pods->session.client, MESSAGE_TOKEN, &message, &answer,
			err) < 0)
		return -1;
	return join_token_text(&token, text, err);
}

/* With its Secret and its pods. */
static int pods_delete(struct pods *pods, uint64_t job, uint32_t attempt,
		       struct error *err)
{
	owned(buffer_clear) struct buffer text = { 0 };
	char name[MANIFEST_NAME_SIZE];
	const char *const words[] = { "delete",       "jobs,secrets",
				      name,           "--ignore-not-found",
				      "--wait=false", NULL };

	manifest_name(pods->run.cluster, job, attempt, name);
	return kubectl_run(pods->kubectl, words, &text, err);
}

static int pods_begin(struct pods *pods, const struct job_info *info,
		      struct error *err)
{
	struct message_query query = { .what = QUERY_JOB, .id = info->job };
	owned(answer_clear) struct answer reply = { 0 };
	owned(job_spec_clear) struct job_spec spec = { 0 };
	owned(cJSON_Delete) cJSON *list = NULL, *made = NULL;
	char token[JOIN_TOKEN_MAX];

	if (client_query(pods->session.client, &query, &reply, err) < 0 ||
	    codec_from_other(&job_spec_schema,
			     ((const struct reply_job *)reply.reply)->job.spec,
			     &spec, err) < 0)
		return -1;
	if (pods_token(pods, info->nodes, token, err) < 0)
		return -1;
	list = manifest_attempt(&pods->run, &spec, info->job, info->attempt,
				token, err);
	if (!list)
		return -1;
	if (kubectl_create(pods->kubectl, list, NULL, &made, err) < 0) {
		pods_delete(pods, info->job, info->attempt, NULL);
		return -1;
	}
	cli_say(pods->cli, "created a Job for job %" PRIu64 ", attempt %u",
		info->job, info->attempt);
	pods->look_at = clock_mono_ms() + START_MS;
	return pods_add(pods, info->job, info->attempt, err) ? 0 : -1;
}

/* The jobs of the run. */

/* It waits for nodes, not for its turn or for other jobs. */
static bool pods_lacks_nodes(const struct job_info *info)
{
	return job_state_from(info->state) == JOB_QUEUED && info->waits &&
	       !strncmp(info->waits, "needs ", 6);
}

static int pods_see_job(struct pods *pods, const struct job_info *info,
			size_t *open, struct error *err)
{
	struct pod_job *item = pods_find(pods, info->job, info->attempt);
	bool over = job_state_final(job_state_from(info->state));

	if (item) {
		item->wanted = !over || !info->removed;
		item->waits = job_state_from(info->state) == JOB_QUEUED;
		*open += item->wanted;
		return 0;
	}
	if (!pods_lacks_nodes(info) || *open >= pods->at_once)
		return 0;
	++*open;
	return pods_begin(pods, info, err);
}

/* The agents of a Job that is gone. */
static void pods_forget_nodes(struct pods *pods, const struct rows *nodes,
			      const struct pod_job *of)
{
	for (size_t i = 0; i < nodes->count; i++) {
		const struct node_info *node = rows_at(nodes, i);
		struct message_revoke message = { .kind = (char *)"node",
						  .name = node->name,
						  .force = true };
		owned(answer_clear) struct answer answer = { 0 };
		uint64_t job;
		uint32_t attempt;

		if (manifest_of(pods->run.cluster, node->name, &job,
				&attempt) &&
		    job == of->job && attempt == of->attempt)
			client_call(pods->session.client, MESSAGE_REVOKE,
				    &message, &answer, NULL);
	}
}

/* Remove the Jobs whose attempt is over. */
static int pods_sweep(struct pods *pods, const struct rows *nodes,
		      struct error *err)
{
	struct pod_job *item, *next;

	for (item = TAILQ_FIRST(&pods->jobs); item; item = next) {
		next = TAILQ_NEXT(item, next);
		if (item->wanted)
			continue;
		if (pods_delete(pods, item->job, item->attempt, err) < 0)
			return -1;
		pods_forget_nodes(pods, nodes, item);
		TAILQ_REMOVE(&pods->jobs, item, next);
		free(item);
	}
	return 0;
}

static int pods_see_jobs(struct pods *pods, struct error *err)
{
	owned(rows_clear) struct rows jobs = { 0 };
	struct pod_job *item;
	size_t open = 0;

	if (client_rows(pods->session.client, QUERY_JOBS, 0, "job", &jobs,
			err) < 0)
		return -1;
	TAILQ_FOREACH(item, &pods->jobs, next)
		item->wanted = false;
	for (size_t i = 0; i < jobs.count; i++)
		if (pods_see_job(pods, rows_at(&jobs, i), &open, err) < 0)
			return -1;
	return 0;
}

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

/* The time of an event; newer schedulers have another member for it. */
static const char *pods_event_time(const cJSON *event)
{
	const char *time = json_get_text(event, "lastTimestamp");

	return time ? time : json_get_text_or_empty(event, "eventTime");
}

/* Note the warning if it is the last one about a job of ours that waits. That
 * an image is not there yet says less than the warning why.
 */
static void pods_note_event(struct pods *pods, const cJSON *event)
{
	const char *name =
		json_get_text_or_empty(json_get(event, "involvedObject"),
				       "name");
	struct pod_job *job = NULL;
	uint32_t attempt;
	uint64_t id;

	if (manifest_of(pods->run.cluster, name, &id, &attempt))
		job = pods_find(pods, id, attempt);
	if (job && job->wanted && job->waits &&
	    !strstr(json_get_text_or_empty(event, "message"), "ImagePull") &&
	    (!job->event ||
	     strcmp(pods_event_time(event), pods_event_time(job->event)) >= 0))
		job->event = event;
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
	static const char *const words[] = {
		"get",  "events", "--field-selector", "type=Warning", "-o",
		"json", NULL
	};
	owned(cJSON_Delete) cJSON *answer = NULL;
	struct pod_job *job;
	const cJSON *event;

	if (!pods_wait(pods) || clock_mono_ms() < pods->look_at)
		return 0;
	pods->look_at = clock_mono_ms() + PODS_MS;
	if (kubectl_json(pods->kubectl, words, &answer, err) < 0)
		return -1;
	TAILQ_FOREACH(job, &pods->jobs, next)
		job->event = NULL;
	cJSON_ArrayForEach(event, json_get(answer, "items")) {
		pods_note_event(pods, event);
	}
	TAILQ_FOREACH(job, &pods->jobs, next)
		if (job->event)
			pods_tell(pods, job,
				  json_get_text_or_empty(job->event,
							 "message"));
	return 0;
}

/* An agent has come: label it for its job. */
static int pods_welcome(struct pods *pods, const struct node_info *node,
			const struct pod_job *item, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	owned(cJSON_Delete) cJSON *labels = cJSON_CreateObject();
	struct message_label message = { .node = node->name, .labels = labels };
	char job[24];

	snprintf(job, sizeof(job), "%" PRIu64, item->job);
	if (!cJSON_AddStringToObject(labels, "job", job))
		return error_nomem(err, "labels");
	return client_call(pods->session.client, MESSAGE_LABEL, &message,
			   &answer, err);
}

static int pods_see_nodes(struct pods *pods, struct error *err)
{
	owned(rows_clear) struct rows nodes = { 0 };

	if (client_rows(pods->session.client, QUERY_NODES, 0, NULL, &nodes,
			err) < 0)
		return -1;
	for (size_t i = 0; i < nodes.count; i++) {
		const struct node_info *node = rows_at(&nodes, i);
		const struct pod_job *item;
		uint64_t job;
		uint32_t attempt;

		if (strcmp(node->state, "up") != 0 ||
		    json_get(node->labels, "job") ||
		    !manifest_of(pods->run.cluster, node->name, &job, &attempt))
			continue;
		item = pods_find(pods, job, attempt);
		if (item && item->wanted &&
		    pods_welcome(pods, node, item, err) < 0)
			return -1;
	}
	return pods_sweep(pods, &nodes, err);
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

/* Whatever the run has created, also before this guest began: its Jobs, and
 * what they own.
 */
static int pods_remove_all(struct pods *pods, struct error *err)
{
	owned(buffer_clear) struct buffer text = { 0 };
	static const char end[] = "--timeout=" END_S;
	const char *const words[] = {
		"delete", "jobs", "-l", pods->label, "--cascade=foreground",
		end,      NULL
	};

	return kubectl_run(pods->kubectl, words, &text, err);
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
	const cJSON *from, *item;

	if (session_open(&pods->session, pods->cli, err) < 0 ||
	    folder_choices(&pods->session.folder, &pods->choices, err) < 0)
		return -1;
	from = json_get(pods->choices, "k8s");
	pods->run.cluster = pods->session.folder.cluster;
	pods->run.choices = from;
	snprintf(pods->label, sizeof(pods->label), MANIFEST_RUN "=%s",
		 pods->run.cluster);
	item = json_get(from, "at_once");
	pods->at_once = cJSON_IsNumber(item) ? (size_t)item->valuedouble : 1;
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
	return pods_remove_all(&pods, err) < 0 ? -1 : EXIT_GOOD;
}
