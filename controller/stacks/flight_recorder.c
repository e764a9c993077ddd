/* flight_recorder.c - reads the dumps of PyTorch's flight recorder.
 */
#include "controller/stacks/flight_recorder.h"
#include "controller/results/steady.h"
#include "protocol/base/list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 256    /* process groups; operations */
#define NAME_SIZE 64     /* bytes of a name */
#define FLIGHTS_MAX 4096 /* dumps */
#define DICTS_MAX 100000 /* calls and groups in all of them */
#define RANKS_MAX 65536  /* of all groups together */
#define RANKS_TEXT_MAX (512 << 10)
#define DEPTH_MAX 65536 /* values of a dump that wait at a time */
#define MEMO_MAX 262144
#define NONE UINT64_MAX

/* What a rank called. */
struct call {
	uint64_t number;   /* of the collectives of its group, from 1 */
	int64_t called_ns; /* by the node's wall clock; 0: not known */
	uint32_t flight;
	uint16_t group, operation;
	bool done;
};

struct process_group {
	char name[NAME_SIZE];
	bool known; /* its ranks were read */
	uint64_t *ranks;
	size_t count;
};

struct flight {
	const char *node;
	int64_t rank;
	size_t first, count; /* of its calls */
	bool waits;          /* in any collective */
	bool moves;          /* it called one too shortly before its dump */
};

struct flights {
	struct flight *list;
	size_t count;
	struct call *calls;
	size_t call_count;
	struct process_group *groups;
	size_t group_count;
	char (*operations)[NAME_SIZE];
	size_t operation_count;
	size_t dicts, ranks; /* so far */
	bool full; /* the dump that is read does not fit; or no memory */
};

struct flights *flights_new(struct error *err)
{
	struct flights *flights = calloc(1, sizeof(*flights));

	return flights ? flights : error_null(error_nomem(err, "dumps"));
}

void flights_free(struct flights *flights)
{
	if (!flights)
		return;
	for (size_t i = 0; i < flights->group_count; i++)
		free(flights->groups[i].ranks);
	free(flights->groups);
	free(flights->operations);
	free(flights->calls);
	free(flights->list);
	free(flights);
}

bool flights_has(const struct flights *flights, int64_t rank)
{
	for (size_t i = 0; i < flights->count; i++)
		if (flights->list[i].rank == rank)
			return true;
	return false;
}

/* The pickle. Only what a dict needs is kept of its values. */

enum value_kind { VALUE_OTHER, VALUE_MARK, VALUE_NUMBER, VALUE_TEXT };

struct value {
	enum value_kind kind;
	uint32_t size; /* of a text */
	union {
		int64_t number;
		const char *text;
	};
};

struct pickle {
	const unsigned char *at, *end;
	struct value *stack;
	size_t depth;
	struct value *memo;
	size_t memo_count;
	struct flights *flights;
	struct error *err;
};

static void pickle_clear(struct pickle *pickle)
{
	free(pickle->stack);
	free(pickle->memo);
}
OWNED_VALUE(struct pickle, pickle_clear)

static int pickle_broken(struct pickle *pickle)
{
	return error_set(pickle->err, EPROTO, "no dump of a flight recorder");
}

/* The next bytes, the lowest first. */
static int pickle_read_number(struct pickle *pickle, size_t bytes,
			      uint64_t *number)
{
	*number = 0;
	if (bytes > sizeof(*number) ||
	    (size_t)(pickle->end - pickle->at) < bytes)
		return pickle_broken(pickle);
	for (size_t i = 0; i < bytes; i++)
		*number |= (uint64_t)pickle->at[i] << (8 * i);
	pickle->at += bytes;
	return 0;
}

static int push_value(struct pickle *pickle, struct value value)
{
	struct value *to;

	if (pickle->depth == DEPTH_MAX)
		return pickle_broken(pickle);
	to = LIST_ADD(pickle->stack, pickle->depth, pickle->err);
	if (!to)
		return -1;
	*to = value;
	return 0;
}

/* The values behind the last mark, which goes; they stand there until the next
 * one is pushed.
 */
static int pop_marked(struct pickle *pickle, struct value **values,
		      size_t *count)
{
	size_t at = pickle->depth;

	while (at && pickle->stack[at - 1].kind != VALUE_MARK)
		at--;
	if (!at)
		return pickle_broken(pickle);
	*values = pickle->stack + at;
	*count = pickle->depth - at;
	pickle->depth = at - 1;
	return 0;
}

static int pop_values(struct pickle *pickle, size_t count,
		      struct value **values)
{
	if (pickle->depth < count)
		return pickle_broken(pickle);
	pickle->depth -= count;
	*values = pickle->stack + pickle->depth;
	return 0;
}

static int memo_put(struct pickle *pickle, uint64_t at)
{
	if (!pickle->depth || at > pickle->memo_count || at == MEMO_MAX)
		return pickle_broken(pickle);
	if (at == pickle->memo_count &&
	    !LIST_ADD(pickle->memo, pickle->memo_count, pickle->err))
		return -1;
	pickle->memo[at] = pickle->stack[pickle->depth - 1];
	return 0;
}

static int memo_get(struct pickle *pickle, uint64_t at)
{
	return at < pickle->memo_count ? push_value(pickle, pickle->memo[at])
				       : pickle_broken(pickle);
}

/* What stands in its dicts. */

static bool value_is(const struct value *value, const char *text)
{
	return value->kind == VALUE_TEXT && value->size == strlen(text) &&
	       !memcmp(value->text, text, value->size);
}

/* The value of that kind of the key; NULL: none. */
static const struct value *dict_get(const struct value *pairs, size_t count,
				    const char *key, enum value_kind kind)
{
	for (size_t i = 0; i + 1 < count; i += 2)
		if (value_is(&pairs[i], key))
			return pairs[i + 1].kind == kind ? &pairs[i + 1] : NULL;
	return NULL;
}

static void name_copy(char to[NAME_SIZE], const struct value *from)
{
	snprintf(to, NAME_SIZE, "%.*s", (int)from->size, from->text);
}

/* NULL: there are too many, or no memory. */
static struct process_group *group_of(struct flights *flights,
				      const struct value *name)
{
	char text[NAME_SIZE];
	struct process_group *group;

	name_copy(text, name);
	for (size_t i = flights->group_count; i-- > 0;)
		if (!strcmp(flights->groups[i].name, text))
			return &flights->groups[i];
	if (flights->group_count == NAMES_MAX)
		return NULL;
	group = LIST_ADD(flights->groups, flights->group_count, NULL);
	if (group)
		memcpy(group->name, text, sizeof(text));
	return group;
}

/* "nccl:all_reduce" is all_reduce. -1: as above. */
static int operation_of(struct flights *flights, const struct value *name)
{
	char text[NAME_SIZE], *at;

	name_copy(text, name);
	at = strchr(text, ':');
	at = at ? at + 1 : text;
	for (size_t i = 0; i < flights->operation_count; i++)
		if (!strcmp(flights->operations[i], at))
			return (int)i;
	if (flights->operation_count == NAMES_MAX ||
	    !LIST_ADD(flights->operations, flights->operation_count, NULL))
		return -1;
	snprintf(flights->operations[flights->operation_count - 1], NAME_SIZE,
		 "%s", at);
	return (int)flights->operation_count - 1;
}

/* Its ranks, "[0, 1, 2]". */
static void group_set_ranks(struct flights *flights,
			    struct process_group *group,
			    const struct value *ranks)
{
	const char *at = ranks->text, *end = at + ranks->size;

	group->known = true;
	while (at < end && flights->ranks < RANKS_MAX) {
		uint64_t *rank, number = 0;

		while (at < end && (*at < '0' || *at > '9'))
			at++;
		if (at == end)
			return;
		for (; at < end && *at >= '0' && *at <= '9'; at++)
			number = number * 10 + (uint64_t)(*at - '0');
		rank = LIST_ADD(group->ranks, group->count, NULL);
		if (!rank)
			return;
		*rank = number;
		flights->ranks++;
	}
}

static void take_call(struct flights *flights, const struct value *pairs,
		      size_t count, const struct value *number)
{
	const struct value *name =
		dict_get(pairs, count, "process_group", VALUE_TEXT);
	const struct value *operation =
		dict_get(pairs, count, "profiling_name", VALUE_TEXT);
	const struct value *state = dict_get(pairs, count, "state", VALUE_TEXT);
	const struct value *pair =
		dict_get(pairs, count, "is_p2p", VALUE_NUMBER);
	const struct value *called =
		dict_get(pairs, count, "time_created_ns", VALUE_NUMBER);
	struct flight *flight = &flights->list[flights->count - 1];
	struct process_group *group;
	struct call *call;
	int kind;

	if (!name || !operation || !state || (pair && pair->number) ||
	    number->number < 1)
		return;
	group = group_of(flights, name);
	kind = group ? operation_of(flights, operation) : -1;
	call = kind < 0 ? NULL
			: LIST_ADD(flights->calls, flights->call_count, NULL);
	flights->full |= !call;
	if (!call)
		return;
	*call = (struct call){
		.number = (uint64_t)number->number,
		.called_ns = called ? called->number : 0,
		.flight = (uint32_t)(flight - flights->list),
		.group = (uint16_t)(group - flights->groups),
		.operation = (uint16_t)kind,
		.done = value_is(state, "completed"),
	};
	flight->waits |= !call->done;
	flight->count++;
}

static void take_dict(struct flights *flights, const struct value *pairs,
		      size_t count)
{
	const struct value *number =
		dict_get(pairs, count, "collective_seq_id", VALUE_NUMBER);
	const struct value *name = dict_get(pairs, count, "name", VALUE_TEXT);
	const struct value *ranks = dict_get(pairs, count, "ranks", VALUE_TEXT);
	struct process_group *group;

	if (!number && (!name || !ranks))
		return;
	flights->full |= flights->dicts == DICTS_MAX;
	if (flights->full)
		return;
	flights->dicts++;
	if (number) {
		take_call(flights, pairs, count, number);
		return;
	}
	group = group_of(flights, name);
	if (group && !group->known && ranks->size <= RANKS_TEXT_MAX)
		group_set_ranks(flights, group, ranks);
}

/* A tuple stands for its first text: {process_group: (name, description)}. */
static int push_tuple(struct pickle *pickle, const struct value *values,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i].kind == VALUE_TEXT)
			return push_value(pickle, values[i]);
	return push_value(pickle, (struct value){ 0 });
}

static int push_text(struct pickle *pickle)
{
	struct value value = { .kind = VALUE_TEXT };
	uint64_t size;

	if (pickle_read_number(pickle, 4, &size) < 0)
		return -1;
	if (size > (uint64_t)(pickle->end - pickle->at))
		return pickle_broken(pickle);
	value.size = (uint32_t)size;
	value.text = (const char *)pickle->at;
	pickle->at += size;
	return push_value(pickle, value);
}

static int skip_lines(struct pickle *pickle, size_t count)
{
	while (count--) {
		const unsigned char *end =
			memchr(pickle->at, '\n',
			       (size_t)(pickle->end - pickle->at));

		if (!end)
			return pickle_broken(pickle);
		pickle->at = end + 1;
	}
	return 0;
}

/* What only pushes a value, behind so many bytes. A number without bytes is 1.
 * Opcodes as Python's documentation of pickletools has them.
 */
static const struct {
	unsigned char code, bytes;
	enum value_kind kind;
} pushes[] = {
	{ '(', 0, VALUE_MARK },    /* MARK */
	{ '}', 0, VALUE_OTHER },   /* EMPTY_DICT */
	{ ']', 0, VALUE_OTHER },   /* EMPTY_LIST */
	{ ')', 0, VALUE_OTHER },   /* EMPTY_TUPLE */
	{ 'N', 0, VALUE_OTHER },   /* NONE */
	{ 0x89, 0, VALUE_OTHER },  /* NEWFALSE */
	{ 'G', 8, VALUE_OTHER },   /* BINFLOAT */
	{ 0x88, 0, VALUE_NUMBER }, /* NEWTRUE */
	{ 'K', 1, VALUE_NUMBER },  /* BININT1 */
	{ 'M', 2, VALUE_NUMBER },  /* BININT2 */
	{ 'J', 4, VALUE_NUMBER },  /* BININT */
};

static int pickle_push(struct pickle *pickle, size_t bytes,
		       enum value_kind kind)
{
	struct value value = { .kind = kind };
	uint64_t number = 1;

	if (bytes && pickle_read_number(pickle, bytes, &number) < 0)
		return -1;
	if (kind == VALUE_NUMBER)
		value.number = (int64_t)number;
	return push_value(pickle, value);
}

/* The values of a dict, a list or a tuple, which they are put into. */
static int pickle_close(struct pickle *pickle, unsigned char code,
			const struct value *values, size_t count)
{
	if (code == 's' || code == 'u')
		take_dict(pickle->flights, values, count);
	if (code == 'a' || code == 'e' || code == 's' || code == 'u')
		return 0;
	return push_tuple(pickle, values, count);
}

static int pickle_step(struct pickle *pickle, unsigned char code)
{
	struct value *values = NULL;
	uint64_t number;
	size_t count = 0;

	for (size_t i = 0; i < sizeof(pushes) / sizeof(pushes[0]); i++)
		if (pushes[i].code == code)
			return pickle_push(pickle, pushes[i].bytes,
					   pushes[i].kind);
	switch (code) {
	case 0x80: /* PROTO */
		return pickle_read_number(pickle, 1, &number);
	case 0x8a: /* LONG1 */
		return pickle_read_number(pickle, 1, &number) < 0
			       ? -1
			       : pickle_push(pickle, number, VALUE_NUMBER);
	case 'X': /* BINUNICODE */
		return push_text(pickle);
	case 'q': /* BINPUT */
	case 'r': /* LONG_BINPUT */
		return pickle_read_number(pickle, code == 'q' ? 1 : 4,
					  &number) < 0
			       ? -1
			       : memo_put(pickle, number);
	case 'h': /* BINGET */
	case 'j': /* LONG_BINGET */
		return pickle_read_number(pickle, code == 'h' ? 1 : 4,
					  &number) < 0
			       ? -1
			       : memo_get(pickle, number);
	case 'c': /* GLOBAL */
		return skip_lines(pickle, 2) < 0
			       ? -1
			       : pickle_push(pickle, 0, VALUE_OTHER);
	case 'R': /* REDUCE */
		return pop_values(pickle, 1, &values);
	case 'a':  /* APPEND */
	case 's':  /* SETITEM */
	case 0x85: /* TUPLE1 */
	case 0x86:
	case 0x87: /* TUPLE3 */
		count = code == 'a' ? 1 : code == 's' ? 2 : code - 0x84u;
		return pop_values(pickle, count, &values) < 0
			       ? -1
			       : pickle_close(pickle, code, values, count);
	case 't': /* TUPLE */
	case 'e': /* APPENDS */
	case 'u': /* SETITEMS */
		return pop_marked(pickle, &values, &count) < 0
			       ? -1
			       : pickle_close(pickle, code, values, count);
	default:
		return pickle_broken(pickle);
	}
}

static int pickle_run(struct pickle *pickle)
{
	while (pickle->at < pickle->end) {
		unsigned char code = *pickle->at++;

		if (code == '.') /* STOP */
			return 0;
		if (pickle_step(pickle, code) < 0)
			return -1;
		if (pickle->flights->full)
			return error_set(pickle->err, E2BIG,
					 "too many collectives");
	}
	return pickle_broken(pickle);
}

/* Did it call something after this time? */
static bool flight_moves(const struct flights *flights,
			 const struct flight *flight, int64_t still_ns)
{
	for (size_t i = 0; still_ns && i < flight->count; i++)
		if (flights->calls[flight->first + i].called_ns > still_ns)
			return true;
	return false;
}

int flights_take(struct flights *flights, const char *node, int64_t rank,
		 int64_t still_ns, const char *bytes, size_t size,
		 struct error *err)
{
	owned(pickle_clear) struct pickle pickle = {
		.at = (const unsigned char *)bytes,
		.end = (const unsigned char *)bytes + size,
		.flights = flights,
		.err = err,
	};
	struct flight *flight;

	flights->full = flights->count == FLIGHTS_MAX;
	if (!size || *pickle.at != 0x80 || flights->full)
		return pickle_broken(&pickle);
	flight = LIST_ADD(flights->list, flights->count, err);
	if (!flight)
		return -1;
	*flight = (struct flight){ .node = node,
				   .rank = rank,
				   .first = flights->call_count };
	if (pickle_run(&pickle) == 0) {
		flight->moves = flight_moves(flights, flight, still_ns);
		return 0;
	}
	flights->call_count = flight->first;
	flights->count--;
	return -1;
}

/* The verdict. */

/* The first collective of the group in which a rank waits. NONE: none does. */
static uint64_t first_waited(const struct flights *flights, size_t group)
{
	uint64_t first = NONE;

	for (size_t i = 0; i < flights->call_count; i++) {
		const struct call *call = &flights->calls[i];

		if (call->group == group && !call->done &&
		    !flights->list[call->flight].moves && call->number < first)
			first = call->number;
	}
	return first;
}

static bool group_has(const struct process_group *group, int64_t rank)
{
	for (size_t i = 0; i < group->count; i++)
		if (group->ranks[i] == (uint64_t)rank)
			return true;
	return false;
}

/* How the ranks with a dump stand to a collective. */
struct standing_count {
	size_t waiting;              /* ranks in it */
	uint16_t operation;          /* what the first of them is in */
	size_t behind, behind_count; /* the first rank that is not, and doesn't
					wait elsewhere; of so many */
	size_t other, other_count; /* the same for those in another operation */
	uint16_t other_operation;
};

static void count_standing(const struct flights *flights, size_t group,
			   uint64_t number, size_t flight,
			   struct standing_count *count)
{
	const struct flight *who = &flights->list[flight];
	const struct call *in = NULL;
	bool member = group_has(&flights->groups[group], who->rank);
	uint64_t last = 0;

	if (who->moves)
		return;
	for (size_t i = 0; i < who->count; i++) {
		const struct call *call = &flights->calls[who->first + i];

		if (call->group != group)
			continue;
		member = true;
		last = call->number > last ? call->number : last;
		in = call->number == number ? call : in;
	}
	if (in && !count->waiting)
		count->operation = in->operation;
	count->waiting += in && in->operation == count->operation;
	if (in && in->operation != count->operation) {
		count->other = count->other_count ? count->other : flight;
		count->other_operation = in->operation;
		count->other_count++;
	}
	if (member && last < number && !who->waits) {
		count->behind = count->behind_count ? count->behind : flight;
		count->behind_count++;
	}
}

static void describe_flight(const struct flights *flights, size_t flight,
			    size_t count, char text[FLIGHT_TEXT_SIZE],
			    const char **node, int64_t *rank)
{
	const struct flight *who = &flights->list[flight];

	*node = who->node;
	*rank = who->rank;
	snprintf(text, FLIGHT_TEXT_SIZE, "%.60s: rank %" PRId64, who->node,
		 who->rank);
	if (count > 1)
		snprintf(text + strlen(text), FLIGHT_TEXT_SIZE - strlen(text),
			 " (and %zu more)", count - 1);
}

bool flights_verdict(const struct flights *flights, char text[FLIGHT_TEXT_SIZE],
		     const char **node, int64_t *rank)
{
	for (size_t g = 0; g < flights->group_count; g++) {
		uint64_t number = first_waited(flights, g);
		struct standing_count count = { 0 };
		const char *operation;
		size_t used;

		if (number == NONE)
			continue;
		for (size_t f = 0; f < flights->count; f++)
			count_standing(flights, g, number, f, &count);
		operation = flights->operations[count.operation];
		if (count.behind_count && count.waiting) {
			describe_flight(flights, count.behind,
					count.behind_count, text, node, rank);
			used = strlen(text);
			snprintf(text + used, FLIGHT_TEXT_SIZE - used,
				 " has not entered %s %" PRIu64
				 ", in which %zu rank%s (flight recorder)",
				 operation, number, count.waiting,
				 count.waiting > 1 ? "s wait" : " waits");
			return true;
		}
		if (count.other_count && count.other_count < count.waiting) {
			describe_flight(flights, count.other, count.other_count,
					text, node, rank);
			used = strlen(text);
			snprintf(text + used, FLIGHT_TEXT_SIZE - used,
				 " is in %s %" PRIu64
				 ", %zu ranks are in %s (flight recorder)",
				 flights->operations[count.other_operation],
				 number, count.waiting, operation);
			return true;
		}
	}
	return false;
}

/* Who enters last. */

static int calls_compare(const void *a, const void *b)
{
	const struct call *one = a, *other = b;

	if (one->group != other->group)
		return one->group < other->group ? -1 : 1;
	if (one->number != other->number)
		return one->number < other->number ? -1 : 1;
	return (one->called_ns > other->called_ns) -
	       (one->called_ns < other->called_ns);
}

/* How often a rank was the last, and how much later each time. */
struct lateness {
	struct call *calls; /* of a collective stand together, the last call at
			       their end */
	size_t count, compared;
	size_t *last;    /* by flight */
	double *late_ms; /* after the median, of the flight that is looked at */
};

static void lateness_clear(struct lateness *of)
{
	free(of->calls);
	free(of->last);
	free(of->late_ms);
}
OWNED_VALUE(struct lateness, lateness_clear)

/* The end of the collective that begins there; *whole: each rank that made any
 * call of its group made this one, in three ranks or more.
 */
static size_t collective_end(const struct lateness *of, size_t from,
			     const size_t *members, bool *whole)
{
	const struct call *first = &of->calls[from];
	size_t end = from;

	while (end < of->count && of->calls[end].group == first->group &&
	       of->calls[end].number == first->number)
		end++;
	*whole = end - from >= 3 && end - from == members[first->group];
	return end;
}

/* Count who was last, or collect how late the flight was; returns how many. */
static size_t lateness_walk(struct lateness *of, const size_t *members,
			    ssize_t flight)
{
	size_t found = 0, end;
	bool whole;

	for (size_t from = 0; from < of->count; from = end) {
		const struct call *last, *median;

		end = collective_end(of, from, members, &whole);
		if (!whole)
			continue;
		last = &of->calls[end - 1];
		median = &of->calls[from + (end - from - 1) / 2];
		if (flight < 0)
			of->last[last->flight]++;
		else if (last->flight != (size_t)flight)
			continue;
		else
			of->late_ms[found] =
				(double)(last->called_ns - median->called_ns) /
				1e6;
		found++;
	}
	return found;
}

/* The ranks with calls of each group. */
static void count_members(const struct flights *flights,
			  size_t members[NAMES_MAX])
{
	for (size_t f = 0; f < flights->count; f++) {
		const struct flight *flight = &flights->list[f];
		bool has[NAMES_MAX] = { false };

		for (size_t i = 0; i < flight->count; i++)
			has[flights->calls[flight->first + i].group] = true;
		for (size_t g = 0; g < NAMES_MAX; g++)
			members[g] += has[g];
	}
}

bool flights_last(const struct flights *flights, char text[FLIGHT_TEXT_SIZE],
		  const char **node, int64_t *rank)
{
	owned(lateness_clear) struct lateness of = {
		.calls = calloc(flights->call_count + 1, sizeof(*of.calls)),
		.last = calloc(flights->count + 1, sizeof(*of.last)),
		.late_ms = calloc(flights->call_count + 1, sizeof(double)),
	};
	size_t members[NAMES_MAX] = { 0 }, who = 0, used;
	double late_ms;

	if (!of.calls || !of.last || !of.late_ms)
		return false;
	for (size_t i = 0; i < flights->call_count; i++)
		if (flights->calls[i].called_ns > 0)
			of.calls[of.count++] = flights->calls[i];
	qsort(of.calls, of.count, sizeof(*of.calls), calls_compare);
	count_members(flights, members);
	of.compared = lateness_walk(&of, members, -1);
	for (size_t f = 1; f < flights->count; f++)
		if (of.last[f] > of.last[who])
			who = f;
	if (of.compared < FLIGHT_LAST_CALLS ||
	    100 * of.last[who] < FLIGHT_LAST_PCT * of.compared)
		return false;
	sort_values(of.late_ms, lateness_walk(&of, members, (ssize_t)who));
	late_ms = quantile(of.late_ms, of.last[who], 0.5);
	if (late_ms < FLIGHT_LAST_MS)
		return false;
	describe_flight(flights, who, 1, text, node, rank);
	used = strlen(text);
	snprintf(text + used, FLIGHT_TEXT_SIZE - used,
		 " was the last to enter %zu of %zu collectives, %.0f ms after "
		 "the others (flight recorder)",
		 of.last[who], of.compared, late_ms);
	return true;
}
