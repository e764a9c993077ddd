/* lemons.c - which node fails more often than the others, over weeks.
 */
#include "controller/nodes/lemons.h"
#include "controller/cluster/lifecycle.h"
#include "protocol/message/json_get.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* What has been counted, as it was at at_ms. */
struct tally {
	char *node;
	double attempts, failures;
	int64_t at_ms;
	enum failure failure; /* the last one, of the node; and when */
	int64_t failed_ms;
};

/* A job that has not ended. */
struct open_job {
	uint64_t job;
	struct strings nodes; /* of its attempt; empty: it failed */
	enum failure failure; /* of the last attempt that failed */
	struct tally *failed; /* the node that this counts against, or NULL */
};

struct lemons {
	void *nodes; /* tsearch(3) of struct tally */
	struct tally all;
	struct open_job *open;
	size_t count, room;
	uint64_t seen;
};

static int tally_compare(const void *a, const void *b)
{
	return strcmp(((const struct tally *)a)->node,
		      ((const struct tally *)b)->node);
}

static void tally_free(void *tally)
{
	free(((struct tally *)tally)->node);
	free(tally);
}

struct lemons *lemons_new(struct error *err)
{
	struct lemons *lemons = calloc(1, sizeof(*lemons));

	return lemons ? lemons : error_null(error_nomem(err, "lemons"));
}

void lemons_free(struct lemons *lemons)
{
	if (!lemons)
		return;
	for (size_t i = 0; i < lemons->count; i++)
		strings_clear(&lemons->open[i].nodes);
	free(lemons->open);
	tdestroy(lemons->nodes, tally_free);
	free(lemons);
}

uint64_t lemons_seen(const struct lemons *lemons)
{
	return lemons->seen;
}

static struct tally *tally_find(const struct lemons *lemons, const char *node)
{
	const struct tally wanted = { .node = (char *)node };
	struct tally *const *found =
		tfind(&wanted, &lemons->nodes, tally_compare);

	return found ? *found : NULL;
}

static struct tally *tally_get(struct lemons *lemons, const char *node,
			       struct error *err)
{
	struct tally *tally = tally_find(lemons, node);

	if (tally)
		return tally;
	tally = calloc(1, sizeof(*tally));
	if (tally && (tally->node = strdup(node)) &&
	    tsearch(tally, &lemons->nodes, tally_compare))
		return tally;
	if (tally)
		tally_free(tally);
	return error_null(error_nomem(err, "lemons"));
}

static double halved(double number, int64_t passed_ms)
{
	return passed_ms <= 0 ? number
			      : number * exp2(-(double)passed_ms /
					      (double)LEMON_HALF_MS);
}

static void tally_add(struct tally *tally, double attempts, double failures,
		      int64_t now_ms)
{
	int64_t passed_ms = now_ms - tally->at_ms;

	tally->attempts = halved(tally->attempts, passed_ms) + attempts;
	tally->failures =
		fmax(0, halved(tally->failures, passed_ms) + failures);
	if (passed_ms > 0)
		tally->at_ms = now_ms;
}

static struct open_job *open_find(struct lemons *lemons, uint64_t job)
{
	for (size_t i = 0; i < lemons->count; i++)
		if (lemons->open[i].job == job)
			return &lemons->open[i];
	return NULL;
}

static struct open_job *open_get(struct lemons *lemons, uint64_t job,
				 struct error *err)
{
	struct open_job *of = open_find(lemons, job);

	if (of)
		return of;
	if (lemons->count == lemons->room) {
		size_t room = lemons->room ? 2 * lemons->room : 16;
		struct open_job *open =
			realloc(lemons->open, room * sizeof(*open));

		if (!open)
			return error_null(error_nomem(err, "lemons"));
		lemons->open = open;
		lemons->room = room;
	}
	of = &lemons->open[lemons->count++];
	*of = (struct open_job){ .job = job };
	return of;
}

static void open_drop(struct lemons *lemons, struct open_job *of)
{
	if (!of)
		return;
	strings_clear(&of->nodes);
	*of = lemons->open[--lemons->count];
}

static int attempt_begin(struct lemons *lemons, const struct event_row *event,
			 const cJSON *data, struct error *err)
{
	struct open_job *of = open_get(lemons, event->job, err);
	const cJSON *name;

	if (!of)
		return -1;
	strings_clear(&of->nodes);
	cJSON_ArrayForEach(name, json_get(data, "nodes")) {
		const char *node = cJSON_GetStringValue(name);
		struct tally *tally =
			node ? tally_get(lemons, node, err) : NULL;

		if (!node)
			continue;
		if (!tally || strings_add(&of->nodes, node, err) < 0)
			return -1;
		tally_add(tally, 1, 0, event->time_ms);
		tally_add(&lemons->all, 1, 0, event->time_ms);
	}
	return 0;
}

/* "n3: no space", "no step for 60 s: n3: rank 1 halted". */
static bool text_names(const char *text, const char *node)
{
	size_t length = strlen(node);

	for (const char *at = text; (at = strstr(at, node)); at += length)
		if ((at == text || at[-1] == ' ') &&
		    (at[length] == ':' || at[length] == ' '))
			return true;
	return false;
}

/* The node that a failure counts against; NULL: none. */
static const char *lemon_node(const struct open_job *of, const char *text)
{
	const char *found = NULL;

	if (of->nodes.count == 1)
		return of->nodes.items[0];
	for (size_t i = 0; i < of->nodes.count; i++) {
		if (!text_names(text, of->nodes.items[i]))
			continue;
		if (found)
			return NULL;
		found = of->nodes.items[i];
	}
	return found;
}

static void count_failure(struct lemons *lemons, struct tally *tally,
			  double failures, int64_t now_ms)
{
	tally_add(tally, 0, failures, now_ms);
	tally_add(&lemons->all, 0, failures, now_ms);
}

static void attempt_fail(struct lemons *lemons, const struct event_row *event,
			 const cJSON *data)
{
	struct open_job *of = open_find(lemons, event->job);
	enum failure failure =
		failure_from(json_get_text_or_empty(data, "failure"));
	const char *name =
		of ? lemon_node(of, json_get_text_or_empty(data, "text"))
		   : NULL;
	struct tally *tally = name ? tally_find(lemons, name) : NULL;

	if (of)
		strings_clear(&of->nodes);
	if (!tally ||
	    !(failure_infrastructure(failure) || failure == FAILURE_HANG))
		return;
	if (of->failure == failure && of->failed != tally) {
		if (of->failed)
			count_failure(lemons, of->failed, -1, event->time_ms);
		of->failed = NULL;
		return;
	}
	of->failure = failure;
	of->failed = tally;
	tally->failure = failure;
	tally->failed_ms = event->time_ms;
	count_failure(lemons, tally, 1, event->time_ms);
}

static bool event_is(const struct event_row *event, enum job_event kind)
{
	return !strcmp(event->kind, job_event_name(kind));
}

int lemons_take(struct lemons *lemons, const struct event_row *event,
		struct error *err)
{
	bool begins = event_is(event, JOB_EVENT_ALLOC);
	bool ends = event_is(event, JOB_EVENT_COMPLETE) ||
		    event_is(event, JOB_EVENT_FAIL) ||
		    event_is(event, JOB_EVENT_CANCEL) ||
		    event_is(event, JOB_EVENT_PRUNE);
	bool fails = event_is(event, JOB_EVENT_EXCEPTION) ||
		     event_is(event, JOB_EVENT_RETRY) ||
		     event_is(event, JOB_EVENT_FAIL);
	owned(cJSON_Delete) cJSON *data =
		(begins || fails) && event->data
			? codec_parse(event->data, strlen(event->data), NULL)
			: NULL;
	int rc = 0;

	if (begins)
		rc = attempt_begin(lemons, event, data, err);
	if (fails)
		attempt_fail(lemons, event, data);
	if (ends)
		open_drop(lemons, open_find(lemons, event->job));
	if (rc == 0)
		lemons->seen = event->seq;
	return rc;
}

/* The chance of `failures` or more in so many attempts, each of which fails
 * with this probability.
 */
static double chance_of(double attempts, double failures, double probability)
{
	double n = round(attempts), k = round(failures), below = 0;

	for (double i = 0; i < k; i++)
		below += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) +
			     i * log(probability) +
			     (n - i) * log1p(-probability));
	return fmax(0, 1 - below);
}

int lemons_of(const struct lemons *lemons, const char *node, size_t nodes,
	      bool slow, int64_t now_ms, struct node_lemon *to,
	      struct error *err)
{
	const struct tally *found = tally_find(lemons, node);
	struct tally own, all = lemons->all;
	double others, chance;

	if (!found)
		return 0;
	own = *found;
	tally_add(&own, 0, 0, now_ms);
	tally_add(&all, 0, 0, now_ms);
	others = (fmax(0, all.failures - own.failures) + 1) /
		 (fmax(0, all.attempts - own.attempts) + 2);
	chance = chance_of(fmax(own.attempts, own.failures), own.failures,
			   others) *
		 (slow ? LEMON_SLOW : 1);
	to->attempts = own.attempts;
	to->failures = own.failures;
	to->others_percent = 100 * others;
	to->score = 100 * fmax(0, 1 - chance * (double)nodes);
	to->lemon =
		to->score >= LEMON_SCORE && own.failures > LEMON_FAILURES - 0.5;
	to->failed_ms = own.failed_ms;
	if (string_set(&to->failure,
		       own.failed_ms ? failure_name(own.failure) : NULL,
		       err) < 0)
		return -1;
	return 1;
}
