/* person.c - a person at the controller who waits for every answer.
 */
#include "tests/bench/person.h"
#include "protocol/base/file.h"
#include "protocol/wire/wire.h"
#include "tests/bench/measure.h"
#include "tests/wire_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MS 120000
#define WAIT_MS 10000
#define LOOK_US 20000
#define LOOK_NODE_US 10 /* between looks at nodes, for each of them */

struct person {
	sd_event *loop;
	struct wire_client *wire;
	bool welcomed;
	uint64_t request; /* the last one */
	bool answered;
	cJSON *answer;
	struct error refused; /* code 0: it was not */
};

static void connected(void *arg)
{
	struct person *person = arg;
	struct message_hello hello = {
		.version = PROTOCOL_VERSION,
		.software = (char *)"regatta-bench",
	};

	wire_client_send(person->wire, MESSAGE_HELLO, &hello, NULL, 0, NULL);
}

static void heard(void *arg, enum message_type type, void *body,
		  const void *payload, size_t size)
{
	struct person *person = arg;

	if (type == MESSAGE_WELCOME) {
		person->welcomed = true;
	} else if (type == MESSAGE_REPLY) {
		struct message_reply *reply = body;

		if (reply->request != person->request)
			return;
		person->answer = packed_to_tree(&reply->body);
		person->answered = true;
	} else if (type == MESSAGE_REFUSED) {
		struct message_refused *refused = body;

		error_set(&person->refused, (int)refused->code, "%s",
			  refused->text);
		person->answered = true;
	}
}

static void lost(void *arg, int code, const char *why)
{
	struct person *person = arg;

	error_set(&person->refused, code, "%s", why);
	person->answered = true;
}

static int run_until(struct person *person, const bool *done, struct error *err)
{
	double until = clock_s() + ANSWER_MS / 1e3;

	while (!*done) {
		int rc = sd_event_run(person->loop, 100000);

		if (rc < 0)
			return error_set(err, -rc, "event loop");
		if (clock_s() > until)
			return error_set(err, ETIMEDOUT,
					 "the controller does not answer");
	}
	return 0;
}

struct person *person_new(const struct site *site, struct error *err)
{
	static const struct wire_client_handler handler = {
		.connected = connected,
		.message = heard,
		.lost = lost,
	};
	owned(person_free) struct person *person = calloc(1, sizeof(*person));

	if (!person || sd_event_new(&person->loop) < 0) {
		error_nomem(err, "person");
		return NULL;
	}
	person->wire =
		wire_client_new(person->loop, NULL, site->endpoint,
				&site->person_key, site->controller_key.public,
				&handler, person, err);
	if (!person->wire || run_until(person, &person->welcomed, err) < 0)
		return NULL;
	return take(person);
}

void person_free(struct person *person)
{
	if (!person)
		return;
	wire_client_free(person->wire);
	cJSON_Delete(person->answer);
	sd_event_unref(person->loop);
	free(person);
}

void person_idle(struct person *person, double seconds)
{
	double until = clock_s() + seconds;
	double left;

	while ((left = until - clock_s()) > 0)
		if (sd_event_run(person->loop, (uint64_t)(left * 1e6)) < 0)
			break;
}

/* body: every request begins with its number. */
static cJSON *request(struct person *person, enum message_type type, void *body,
		      const void *payload, size_t size, struct error *err)
{
	person->request++;
	person->answered = false;
	person->refused.code = 0;
	*(uint64_t *)body = person->request;
	if (wire_client_send(person->wire, type, body, payload, size, err) <
		    0 ||
	    run_until(person, &person->answered, err) < 0)
		return NULL;
	if (person->answer)
		return take(person->answer);
	*err = person->refused;
	return NULL;
}

static double number(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

int person_submit(struct person *person, const char *text,
		  struct submitted *submitted, struct error *err)
{
	char token[48];
	struct message_submit message = {
		.file = (char *)"bench.yaml",
		.token = token,
	};
	cJSON *answer;

	snprintf(token, sizeof(token), "%d-%lld", (int)getpid(),
		 (long long)clock_ns());
	submitted->begun_ns = clock_ns();
	answer = request(person, MESSAGE_SUBMIT, &message, text, strlen(text),
			 err);
	if (!answer)
		return -1;
	submitted->sweep = (uint64_t)number(answer, "sweep");
	submitted->jobs = (uint64_t)number(answer, "jobs");
	/* Of the commit before this one: its own events come after. */
	submitted->since = (uint64_t)number(answer, "since");
	cJSON_Delete(answer);
	return 0;
}

cJSON *person_ask(struct person *person, enum query_kind what, uint64_t id,
		  uint64_t after, struct error *err)
{
	struct message_query query = {
		.what = what,
		.id = id,
		.after = after,
	};

	return request(person, MESSAGE_QUERY, &query, NULL, 0, err);
}

int person_cancel(struct person *person, uint64_t sweep, struct error *err)
{
	struct message_cancel message = { .kind = (char *)"sweep",
					  .id = sweep };
	cJSON *answer = request(person, MESSAGE_CANCEL, &message, NULL, 0, err);

	cJSON_Delete(answer);
	return answer ? 0 : -1;
}

/* 1: it is over; 0: not yet, and *since has moved. */
static int look(struct person *person, const struct submitted *submitted,
		uint64_t *since, double *completed, struct error *err)
{
	struct message_query query = {
		.what = QUERY_SWEEP,
		.id = submitted->sweep,
		.since = *since,
		.wait_ms = WAIT_MS,
	};
	cJSON *answer = request(person, MESSAGE_QUERY, &query, NULL, 0, err);
	const cJSON *sweep = cJSON_GetObjectItemCaseSensitive(answer, "sweep");
	bool final =
		cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(sweep, "final"));

	if (!answer)
		return -1;
	*completed = number(cJSON_GetObjectItemCaseSensitive(sweep, "counts"),
			    "completed");
	*since = (uint64_t)number(answer, "since");
	cJSON_Delete(answer);
	return final;
}

static int wait_end(struct person *person, const struct submitted *submitted,
		    double limit_s, double *completed, struct error *err)
{
	double until = clock_s() + limit_s;
	uint64_t since = 0;
	int rc;

	while ((rc = look(person, submitted, &since, completed, err)) == 0) {
		if (clock_s() > until)
			return error_set(err, ETIMEDOUT,
					 "the sweep has not ended in %.0f s",
					 limit_s);
		/* With many jobs each answer would cost more than it tells. */
		if (submitted->jobs > 100)
			usleep(LOOK_US);
	}
	return rc < 0 ? -1 : 0;
}

int person_wait_end(struct person *person, const struct submitted *submitted,
		    double limit_s, struct error *err)
{
	double completed;

	return wait_end(person, submitted, limit_s, &completed, err);
}

int person_wait(struct person *person, const struct submitted *submitted,
		double limit_s, struct error *err)
{
	double completed;

	if (wait_end(person, submitted, limit_s, &completed, err) < 0)
		return -1;
	if (completed < (double)submitted->jobs)
		return error_set(err, EIO, "%.0f of %llu jobs completed",
				 completed,
				 (unsigned long long)submitted->jobs);
	return 0;
}

/* How many of the nodes behind the first `up` are up, without a gap; of one
 * answer's worth.
 */
static int count_up(struct person *person, size_t up, size_t *more,
		    struct error *err)
{
	cJSON *answer = person_ask(person, QUERY_NODES, 0, up, err);
	const cJSON *node;

	if (!answer)
		return -1;
	*more = 0;
	cJSON_ArrayForEach(node,
			   cJSON_GetObjectItemCaseSensitive(answer, "nodes")) {
		const char *state = cJSON_GetStringValue(
			cJSON_GetObjectItemCaseSensitive(node, "state"));

		if (!state || strcmp(state, "up") != 0)
			break;
		(*more)++;
	}
	cJSON_Delete(answer);
	return 0;
}

/* A list of all of them, again and again, would cost more than their coming. */
int person_wait_nodes(struct person *person, size_t count, double limit_s,
		      struct error *err)
{
	double until = clock_s() + limit_s;
	size_t up = 0, more;

	while (up < count) {
		if (count_up(person, up, &more, err) < 0)
			return -1;
		up += more;
		if (clock_s() > until)
			return error_set(err, ETIMEDOUT,
					 "%zu of %zu nodes are up after %.0f s",
					 up, count, limit_s);
		if (!more)
			usleep((useconds_t)(count * LOOK_NODE_US));
	}
	return 0;
}

struct begun {
	uint64_t job;
	double time_ms;
};

struct spans {
	const char *from, *to;
	struct begun *begun;
	size_t begun_count;
	double *spans_ms;
	size_t count, max;
};

static void take_event(struct spans *spans, const cJSON *event)
{
	const char *kind = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(event, "kind"));
	uint64_t job = (uint64_t)number(event, "job");
	double time_ms = number(event, "time_ms");

	if (kind && !strcmp(kind, spans->from) &&
	    spans->begun_count < spans->max)
		spans->begun[spans->begun_count++] =
			(struct begun){ job, time_ms };
	if (!kind || strcmp(kind, spans->to) != 0)
		return;
	for (size_t i = 0; i < spans->begun_count; i++)
		if (spans->begun[i].job == job && spans->count < spans->max)
			spans->spans_ms[spans->count++] =
				time_ms - spans->begun[i].time_ms;
}

size_t person_spans(struct person *person, uint64_t since, const char *from,
		    const char *to, double *spans_ms, size_t max,
		    struct error *err)
{
	struct spans spans = {
		.from = from, .to = to, .spans_ms = spans_ms, .max = max
	};
	bool more = true;

	spans.begun = calloc(max, sizeof(*spans.begun));
	while (spans.begun && more) {
		cJSON *answer = person_ask(person, QUERY_EVENTS, 0, since, err);
		const cJSON *event;

		if (!answer)
			break;
		cJSON_ArrayForEach(event,
				   cJSON_GetObjectItemCaseSensitive(answer,
								    "events")) {
			take_event(&spans, event);
			since = (uint64_t)number(event, "seq");
		}
		more = cJSON_IsTrue(
			cJSON_GetObjectItemCaseSensitive(answer, "more"));
		cJSON_Delete(answer);
	}
	free(spans.begun);
	return spans.count;
}
