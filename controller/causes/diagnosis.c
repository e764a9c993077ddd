/* diagnosis.c - chooses the main cause of those found. */
#include "controller/causes/causes_internal.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

/* Of life after an error that did not end the program; after one that ends any:
 * a restart, or a report of earlier days.
 */
#define SURVIVED_LINES 3
#define OUTLIVED_LINES 10
#define OUTLIVED_STEPS 2 /* of lines that repeat one with larger numbers */
#define LAST_LINES 12    /* that say nothing, after a program's last words */

/* torchrun looks every 5 s, sends SIGTERM to the others, and SIGKILL after 30 s
 * more. Source: torch/distributed/elastic/multiprocessing/api.py, close().
 */
#define LAUNCHER_KILLS_S 25

static const struct {
	int number;
	char name[8];
} signals[] = {
	{ SIGHUP, "SIGHUP" },   { SIGINT, "SIGINT" },   { SIGQUIT, "SIGQUIT" },
	{ SIGILL, "SIGILL" },   { SIGTRAP, "SIGTRAP" }, { SIGABRT, "SIGABRT" },
	{ SIGBUS, "SIGBUS" },   { SIGFPE, "SIGFPE" },   { SIGKILL, "SIGKILL" },
	{ SIGUSR1, "SIGUSR1" }, { SIGSEGV, "SIGSEGV" }, { SIGUSR2, "SIGUSR2" },
	{ SIGPIPE, "SIGPIPE" }, { SIGALRM, "SIGALRM" }, { SIGTERM, "SIGTERM" },
};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

const char *causes_signal_name(int64_t number)
{
	for (size_t i = 0; i < SIGNALS; i++)
		if (signals[i].number == number)
			return signals[i].name;
	return "";
}

/* Shells report signal 9 as 137, Python as -9. */
static const char *signal_of_code(int32_t code)
{
	if (code == END_CODE_UNKNOWN || (code >= 0 && code < 129))
		return "";
	return causes_signal_name(code < 0 ? -code : code - 128);
}

static int32_t code_of_signal(const char *name)
{
	for (size_t i = 0; i < SIGNALS; i++)
		if (!strcmp(signals[i].name, name))
			return -signals[i].number;
	return END_CODE_UNKNOWN;
}

bool causes_before(const struct causes *causes, uint32_t order)
{
	for (size_t i = 0; i < causes->count; i++)
		if (causes->all[i].meaning->order < order)
			return true;
	return false;
}

static bool survived(const struct causes *causes, const struct cause *cause,
		     bool failed)
{
	bool went_on = causes->progress > cause->progress;
	uint64_t lines = causes->alive - cause->alive;

	if (cause->meaning->last &&
	    (lines || causes->neutral - cause->neutral > LAST_LINES))
		return true;
	if (cause->meaning->soft && !failed)
		return true;
	if (cause->meaning->final || cause->meaning->resigns)
		return lines >= OUTLIVED_LINES ||
		       causes->grown - cause->grown >= OUTLIVED_STEPS;
	return (went_on && !failed) || lines >= SURVIVED_LINES;
}

/* By how much the one ended later; NAN: unknown. torchelastic prints local
 * times, "2026-01-02_03:04:05".
 */
static double seconds_between(const struct process_end *one,
			      const struct process_end *other)
{
	struct tm times[2] = { { 0 }, { 0 } };

	if (!strptime(one->time, "%Y-%m-%d_%T", &times[0]) ||
	    !strptime(other->time, "%Y-%m-%d_%T", &times[1]))
		return NAN;
	return difftime(timegm(&times[0]), timegm(&times[1]));
}

/* Did the launcher end the process, after the one that it calls the first? It
 * sees a signal some seconds after an error that a rank wrote into a file.
 */
static bool ended_later(const struct causes *causes, const struct cause *cause)
{
	const struct process_end *root = process_ends_root(&causes->ends);
	double later;

	if (!cause->quoted || !root || !root->root)
		return false;
	later = seconds_between(cause->quoted, root);
	return !strcmp(cause->signal, "SIGKILL")
		       ? later >= LAUNCHER_KILLS_S
		       : !strcmp(cause->signal, "SIGTERM") && later > 0;
}

/* Two exceptions with much between them, and no launcher that has several
 * processes: the first one ended a program, and another one began.
 */
static bool of_two_programs(const struct causes *causes,
			    const struct cause *one, const struct cause *other)
{
	uint64_t between = one->neutral > other->neutral
				   ? one->neutral - other->neutral
				   : other->neutral - one->neutral;

	return one->meaning->traceback && other->meaning->traceback &&
	       one->rank == END_UNKNOWN && other->rank == END_UNKNOWN &&
	       !causes->ends.count && between > BURST_GAP;
}

static bool is_better(const struct causes *causes, const struct cause *one,
		      const struct cause *other)
{
	bool ended = one->alive == causes->alive;

	if (one->burst && other->burst && one->burst != other->burst)
		return one->burst > other->burst;
	if (one->meaning->order != other->meaning->order)
		return one->meaning->order < other->meaning->order;
	/* One that a sign of life follows may have been survived. */
	if (ended != (other->alive == causes->alive))
		return ended;
	if (one->reported && other->reported &&
	    one->quoted->root != other->quoted->root)
		return one->quoted->root;
	return one->meaning->soft || of_two_programs(causes, one, other)
		       ? one->line_number > other->line_number
		       : one->line_number < other->line_number;
}

/* Another line may name the rank that the signal ended. */
static int64_t rank_of_signal(const struct causes *causes, const char *signal)
{
	for (size_t i = 0; *signal && i < causes->count; i++)
		if (!strcmp(causes->all[i].signal, signal) &&
		    causes->all[i].rank != END_UNKNOWN)
			return causes->all[i].rank;
	return END_UNKNOWN;
}

/* Did processes fail because another one was gone? */
static bool peers_follow(const struct causes *causes)
{
	for (size_t i = 0; i < causes->count; i++)
		if (causes->all[i].class == CAUSE_COMMUNICATION &&
		    causes->all[i].meaning->blameless)
			return true;
	return false;
}

/* Set rank, host and exit code, also from the launcher's report. */
static void blame(const struct causes *causes, const struct cause *cause,
		  struct diagnosis *diagnosis)
{
	const struct process_ends *ends = &causes->ends;
	const struct process_end *end = NULL;
	int32_t code = code_of_signal(cause->signal);

	if (cause->rank != END_UNKNOWN)
		end = process_ends_of_rank(ends, cause->rank);
	else if (code != END_CODE_UNKNOWN)
		end = process_ends_of_code(ends, code);
	if (!end)
		end = cause->quoted ? cause->quoted : process_ends_root(ends);
	diagnosis->rank = cause->rank;
	if (diagnosis->rank == END_UNKNOWN)
		diagnosis->rank = rank_of_signal(causes, cause->signal);
	if (diagnosis->rank == END_UNKNOWN && end &&
	    !cause->meaning->blameless &&
	    (end == cause->quoted || !process_ends_alike(ends, end) ||
	     !peers_follow(causes)))
		diagnosis->rank = end->rank;
	if (diagnosis->rank == END_UNKNOWN && !cause->meaning->blameless) {
		diagnosis->rank = cause->local_rank;
		diagnosis->local = cause->local_rank != END_UNKNOWN;
	}
	diagnosis->host = *cause->host        ? cause->host
			  : end && *end->host ? end->host
					      : NULL;
	diagnosis->exit_code = cause->exit_code;
	if (end && diagnosis->exit_code == END_CODE_UNKNOWN)
		diagnosis->exit_code = end->exit_code;
	if (diagnosis->exit_code == END_CODE_UNKNOWN)
		diagnosis->exit_code = ends->reaped_code;
}

static void add_other(const struct causes *causes, struct diagnosis *diagnosis,
		      const struct cause *cause)
{
	size_t at = diagnosis->other_count;

	while (at && is_better(causes, cause, diagnosis->others[at - 1]))
		at--;
	if (at == CAUSES_OTHERS_MAX)
		return;
	diagnosis->other_count += diagnosis->other_count < CAUSES_OTHERS_MAX;
	for (size_t i = diagnosis->other_count - 1; i > at; i--)
		diagnosis->others[i] = diagnosis->others[i - 1];
	diagnosis->others[at] = cause;
}

static const struct cause *cause_choose(const struct causes *causes,
					bool failed, bool known)
{
	const struct cause *best = NULL, *past = NULL;

	for (size_t i = 0; i < causes->count; i++) {
		const struct cause *cause = &causes->all[i];

		if (survived(causes, cause, failed) ||
		    ended_later(causes, cause)) {
			if (!past || is_better(causes, cause, past))
				past = cause;
		} else if (!best || is_better(causes, cause, best)) {
			best = cause;
		}
	}
	return best || !known ? best : past;
}

void causes_diagnose(const struct causes *causes, bool failed,
		     struct diagnosis *diagnosis)
{
	bool final = failed;
	const struct cause *cause;
	const char *name;

	*diagnosis = (struct diagnosis){ .rank = END_UNKNOWN,
					 .exit_code = END_CODE_UNKNOWN };
	for (size_t i = 0; i < causes->count; i++)
		final |= causes->all[i].meaning->final;
	cause = cause_choose(causes, final, failed);
	if (!cause)
		return;
	diagnosis->cause = cause;
	diagnosis->class = cause->class;
	blame(causes, cause, diagnosis);
	name = *cause->signal ? cause->signal
			      : signal_of_code(diagnosis->exit_code);
	snprintf(diagnosis->signal, sizeof(diagnosis->signal), "%s", name);
	if (diagnosis->class == CAUSE_OTHER && *name && !cause->meaning->ends)
		diagnosis->class = CAUSE_SIGNAL;
	for (size_t i = 0; i < causes->count; i++)
		if (&causes->all[i] != cause)
			add_other(causes, diagnosis, &causes->all[i]);
}

static void diagnosis_add_text(cJSON *object, const char *name,
			       const char *text)
{
	if (text && *text)
		cJSON_AddStringToObject(object, name, text);
	else
		cJSON_AddNullToObject(object, name);
}

static void diagnosis_add_number(cJSON *object, const char *name, bool known,
				 int64_t number)
{
	if (known)
		cJSON_AddNumberToObject(object, name, (double)number);
	else
		cJSON_AddNullToObject(object, name);
}

static void add_cause(cJSON *object, const struct cause *cause)
{
	diagnosis_add_text(object, "line", cause ? cause->line : NULL);
	diagnosis_add_number(object, "line_number", cause != NULL,
			     cause ? (int64_t)cause->line_number : 0);
}

cJSON *diagnosis_json(const struct diagnosis *diagnosis)
{
	cJSON *object = cJSON_CreateObject();
	cJSON *others;

	diagnosis_add_text(object, "class",
			   causes_class_name(diagnosis->class));
	diagnosis_add_number(object, "rank", diagnosis->rank != END_UNKNOWN,
			     diagnosis->rank);
	diagnosis_add_text(object, "host", diagnosis->host);
	diagnosis_add_number(object, "exit_code",
			     diagnosis->exit_code != END_CODE_UNKNOWN,
			     diagnosis->exit_code);
	diagnosis_add_text(object, "signal", diagnosis->signal);
	add_cause(object, diagnosis->cause);
	diagnosis_add_number(object, "offset", diagnosis->cause != NULL,
			     diagnosis->cause
				     ? (int64_t)diagnosis->cause->offset
				     : 0);
	others = cJSON_AddArrayToObject(object, "others");
	for (size_t i = 0; others && i < diagnosis->other_count; i++) {
		const struct cause *cause = diagnosis->others[i];
		cJSON *other = cJSON_CreateObject();

		diagnosis_add_text(other, "class",
				   causes_class_name(cause->class));
		diagnosis_add_number(other, "rank", cause->rank != END_UNKNOWN,
				     cause->rank);
		add_cause(other, cause);
		cJSON_AddItemToArray(others, other);
	}
	if (!others) {
		cJSON_Delete(object);
		return NULL;
	}
	return object;
}
