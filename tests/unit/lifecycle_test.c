/* lifecycle_test.c - every event in every state of a job leads where it should.
 */
#include "controller/cluster/lifecycle.h"

#include "tests/tap.h"

struct step {
	enum job_state from;
	enum job_event event;
	enum job_state to;
};

/* All that is allowed; every pair that is not here is refused. */
/* clang-format off */
static const struct step allowed[] = {
	{ JOB_NONE, JOB_EVENT_SUBMIT, JOB_QUEUED },
	{ JOB_NONE, JOB_EVENT_TAKE, JOB_COMPLETED },
	{ JOB_QUEUED, JOB_EVENT_ALLOC, JOB_ALLOCATED },
	{ JOB_QUEUED, JOB_EVENT_FAIL, JOB_FAILED },
	{ JOB_QUEUED, JOB_EVENT_CANCEL, JOB_CANCELLED },
	{ JOB_ALLOCATED, JOB_EVENT_PREPARE, JOB_PREPARING },
	{ JOB_ALLOCATED, JOB_EVENT_EXCEPTION, JOB_COLLECTING },
	{ JOB_PREPARING, JOB_EVENT_READY, JOB_READY },
	{ JOB_PREPARING, JOB_EVENT_EXCEPTION, JOB_COLLECTING },
	{ JOB_READY, JOB_EVENT_START, JOB_RUNNING },
	{ JOB_READY, JOB_EVENT_EXCEPTION, JOB_COLLECTING },
	{ JOB_RUNNING, JOB_EVENT_END, JOB_COLLECTING },
	{ JOB_RUNNING, JOB_EVENT_EXCEPTION, JOB_COLLECTING },
	{ JOB_COLLECTING, JOB_EVENT_EXCEPTION, JOB_COLLECTING },
	{ JOB_COLLECTING, JOB_EVENT_COMPLETE, JOB_COMPLETED },
	{ JOB_COLLECTING, JOB_EVENT_FAIL, JOB_FAILED },
	{ JOB_COLLECTING, JOB_EVENT_CANCEL, JOB_CANCELLED },
	{ JOB_COLLECTING, JOB_EVENT_RETRY, JOB_QUEUED },
	{ JOB_ALLOCATED, JOB_EVENT_DEVICE, JOB_ALLOCATED },
	{ JOB_PREPARING, JOB_EVENT_DEVICE, JOB_PREPARING },
	{ JOB_PREPARING, JOB_EVENT_PIN, JOB_PREPARING },
	{ JOB_PREPARING, JOB_EVENT_IMAGE, JOB_PREPARING },
	{ JOB_READY, JOB_EVENT_DEVICE, JOB_READY },
	{ JOB_RUNNING, JOB_EVENT_DEVICE, JOB_RUNNING },
	{ JOB_COLLECTING, JOB_EVENT_DEVICE, JOB_COLLECTING },
	{ JOB_COMPLETED, JOB_EVENT_MORE, JOB_COMPLETED },
	{ JOB_QUEUED, JOB_EVENT_PRUNE, JOB_COMPLETED },
	{ JOB_COMPLETED, JOB_EVENT_ENOUGH, JOB_COMPLETED },
	{ JOB_COLLECTING, JOB_EVENT_FILES, JOB_COLLECTING },
	{ JOB_COMPLETED, JOB_EVENT_REMOVED, JOB_COMPLETED },
	{ JOB_COMPLETED, JOB_EVENT_RETRY, JOB_QUEUED },
	{ JOB_FAILED, JOB_EVENT_MORE, JOB_FAILED },
	{ JOB_FAILED, JOB_EVENT_ENOUGH, JOB_FAILED },
	{ JOB_FAILED, JOB_EVENT_REMOVED, JOB_FAILED },
	{ JOB_FAILED, JOB_EVENT_RETRY, JOB_QUEUED },
	{ JOB_CANCELLED, JOB_EVENT_MORE, JOB_CANCELLED },
	{ JOB_CANCELLED, JOB_EVENT_ENOUGH, JOB_CANCELLED },
	{ JOB_CANCELLED, JOB_EVENT_REMOVED, JOB_CANCELLED },
	{ JOB_CANCELLED, JOB_EVENT_RETRY, JOB_QUEUED },
};
/* clang-format on */

static enum job_state wanted(enum job_state from, enum job_event event)
{
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		if (allowed[i].from == from && allowed[i].event == event)
			return allowed[i].to;
	return JOB_NONE;
}

static const char *name_of(enum job_state state)
{
	return state ? job_state_name(state) : "none";
}

static void every_pair(void)
{
	for (int state = 0; state < JOB_STATES; state++)
		for (int event = 0; event < JOB_EVENTS; event++) {
			enum job_state from = (enum job_state)state;
			enum job_event what = (enum job_event)event;
			enum job_state to = wanted(from, what);

			is(name_of(job_next(from, what)), name_of(to),
			   "%s, %s: %s", name_of(from), job_event_name(what),
			   to ? name_of(to) : "refused");
		}
}

static void out_of_range(void)
{
	is_int(job_next(JOB_STATES, JOB_EVENT_SUBMIT), JOB_NONE,
	       "a state that is none is refused");
	is_int(job_next((enum job_state) - 1, JOB_EVENT_SUBMIT), JOB_NONE,
	       "so is a negative one");
	is_int(job_next(JOB_NONE, JOB_EVENTS), JOB_NONE,
	       "an event that is none is refused");
	is_int(job_next(JOB_NONE, (enum job_event) - 1), JOB_NONE,
	       "so is a negative one");
	is(job_event_name(JOB_EVENTS), NULL, "and has no name");
	is(job_event_name((enum job_event) - 1), NULL, "nor has that");
}

/* The event of a name, as one reads it back from a log. */
static enum job_event event_from(const char *name, size_t length)
{
	for (int event = 0; event < JOB_EVENTS; event++) {
		const char *other = job_event_name((enum job_event)event);

		if (strlen(other) == length && !strncmp(other, name, length))
			return (enum job_event)event;
	}
	return JOB_EVENTS;
}

/* Where the events lead, in words separated by blanks, from the very begin. */
static enum job_state replay(const char *events)
{
	enum job_state state = JOB_NONE;

	while (*events) {
		size_t length = strcspn(events, " ");

		state = job_next(state, event_from(events, length));
		if (!state)
			return JOB_NONE;
		events += length;
		events += *events == ' ';
	}
	return state;
}

static void replays(void)
{
	/* clang-format off */
	static const struct {
		const char *events;
		enum job_state state;
	} cases[] = {
		{ "submit", JOB_QUEUED },
		{ "submit alloc", JOB_ALLOCATED },
		{ "submit alloc prepare", JOB_PREPARING },
		{ "submit alloc prepare ready", JOB_READY },
		{ "submit alloc prepare ready start", JOB_RUNNING },
		{ "submit alloc prepare ready start end", JOB_COLLECTING },
		{ "submit alloc prepare ready start end complete removed",
		  JOB_COMPLETED },
		{ "submit cancel", JOB_CANCELLED },
		{ "submit alloc prepare exception fail removed", JOB_FAILED },
		{ "submit alloc prepare ready start exception cancel",
		  JOB_CANCELLED },
		{ "submit alloc prepare exception retry alloc prepare ready "
		  "start end complete", JOB_COMPLETED },
		{ "submit alloc prepare exception fail removed retry alloc",
		  JOB_ALLOCATED },
		{ "submit alloc prepare ready exception fail retry",
		  JOB_QUEUED },
		{ "submit submit", JOB_NONE },
		{ "submit alloc ready", JOB_NONE },
		{ "submit alloc prepare ready start end complete end",
		  JOB_NONE },
		{ "submit prune retry alloc", JOB_ALLOCATED },
		{ "alloc", JOB_NONE },
		{ "", JOB_NONE },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		is(name_of(replay(cases[i].events)), name_of(cases[i].state),
		   "replayed: '%s'", cases[i].events);
}

/* What must hold of any table that makes sense. */
static void sense(void)
{
	bool reached[JOB_STATES] = { [JOB_NONE] = true };

	for (int round = 0; round < JOB_STATES; round++)
		for (int state = 0; state < JOB_STATES; state++)
			for (int e = 0; reached[state] && e < JOB_EVENTS; e++)
				reached[job_next((enum job_state)state,
						 (enum job_event)e)] = true;
	for (int state = 1; state < JOB_STATES; state++) {
		enum job_state from = (enum job_state)state;
		bool holds = from >= JOB_ALLOCATED && from <= JOB_COLLECTING;

		ok(reached[state], "%s can be reached", name_of(from));
		is_int(job_next(from, JOB_EVENT_EXCEPTION),
		       holds ? JOB_COLLECTING : JOB_NONE, "%s: an exception %s",
		       name_of(from),
		       holds ? "is followed by collecting" : "is refused");
	}
	for (int event = 0; event < JOB_EVENTS; event++) {
		const char *name = job_event_name((enum job_event)event);

		is_int(event_from(name, strlen(name)), event,
		       "the name %s is of one event only", name);
	}
}

int main(void)
{
	tap_begin(30);
	every_pair();
	out_of_range();
	replays();
	sense();
	return tap_done();
}
