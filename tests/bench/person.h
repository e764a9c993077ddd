/* person.h - a person at the controller who waits for every answer.
 */
#pragma once

#include "protocol/message/query.h"
#include "tests/bench/site.h"

#include <cjson/cJSON.h>
#include <stdint.h>

struct person;

/* Connects; the site's controller must listen. */
struct person *person_new(const struct site *site, struct error *err);
void person_free(struct person *person);
OWNED_POINTER(struct person, person_free)

/* Asks nothing and sends its heartbeats. */
void person_idle(struct person *person, double seconds);

struct submitted {
	uint64_t sweep;
	uint64_t jobs;
	uint64_t since;   /* an event before those of its jobs */
	int64_t begun_ns; /* clock_ns() when the request was sent */
};

int person_submit(struct person *person, const char *text,
		  struct submitted *submitted, struct error *err);

/* Until all jobs of the sweep have ended and nothing of them is left. ETIMEDOUT
 * after limit_s. EIO: some have not completed.
 */
int person_wait(struct person *person, const struct submitted *submitted,
		double limit_s, struct error *err);

int person_cancel(struct person *person, uint64_t sweep, struct error *err);

/* Until all its jobs have ended, however they did. ETIMEDOUT after limit_s. */
int person_wait_end(struct person *person, const struct submitted *submitted,
		    double limit_s, struct error *err);

/* A question as in protocol/message/message.h; the caller deletes the answer.
 */
cJSON *person_ask(struct person *person, enum query_kind what, uint64_t id,
		  uint64_t after, struct error *err);

/* Until so many nodes are up. */
int person_wait_nodes(struct person *person, size_t count, double limit_s,
		      struct error *err);

/* Milliseconds from one kind of event to another, for each job that had both
 * after `since`; jobs in the order of `to`. Returns how many, at most max.
 */
size_t person_spans(struct person *person, uint64_t since, const char *from,
		    const char *to, double *spans_ms, size_t max,
		    struct error *err);
