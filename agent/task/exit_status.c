/* exit_status.c - classifies how a command ended: class, sentence, exit
 * code.
 */
#include "agent/task/exit_status.h"
#include "protocol/base/printable.h"
#include "protocol/message/json_get.h"
#include "protocol/message/rank_end.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void conclude(struct exit_status *outcome, enum failure failure,
		     const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void conclude(struct exit_status *outcome, enum failure failure,
		     const char *fmt, ...)
{
	va_list args;

	outcome->failure = failure;
	va_start(args, fmt);
	vsnprintf(outcome->text, sizeof(outcome->text), fmt, args);
	va_end(args);
	/* Parts of the text come from inside the container. */
	printable(outcome->text, strlen(outcome->text));
}

/* Append a note on the output to the sentence. */
static void exit_status_add_note(struct exit_status *outcome, const char *note)
{
	size_t used = strlen(outcome->text);

	snprintf(outcome->text + used, sizeof(outcome->text) - used, "%s%s",
		 used ? "; " : "", note);
	printable(outcome->text, strlen(outcome->text));
}

/* The process whose end made the record's exit code: the first that failed. */
static const struct exit_process *first_failed(const struct exit_record *record)
{
	const struct exit_process *first = NULL;

	for (size_t i = 0; i < record->processes_count; i++) {
		const struct exit_process *process = &record->processes[i];

		if (process->exit_code == record->exit_code &&
		    (!first || process->ended_ms < first->ended_ms))
			first = process;
	}
	return first;
}

void exit_status_from_record(struct exit_status *outcome,
			     const struct exit_record *record, bool launches,
			     enum failure ordered)
{
	const struct exit_process *process = first_failed(record);
	uint32_t rank = process ? process->rank : 0;
	const char *what = launches ? "task" : "rank";
	char ended[160];

	memset(outcome, 0, sizeof(*outcome));
	outcome->exit_code = record->exit_code;
	outcome->started_ms = record->started_ms;
	outcome->ended_ms = record->ended_ms;
	outcome->memory_peak_bytes = record->memory_peak_bytes;
	if (ordered)
		conclude(outcome, ordered, "stopped: %s",
			 failure_name(ordered));
	else if (record->exit_code && record->oom_kills)
		conclude(outcome, FAILURE_OOM,
			 "%s %u: the kernel killed %" PRIu64
			 " process(es) for memory",
			 what, rank, record->oom_kills);
	else if (record->error)
		conclude(outcome, FAILURE_EXIT, "%s %u: %.180s", what, rank,
			 record->error);
	/* Who stops a container ends regatta-init, too, without a record. */
	else if (record->signal == SIGTERM ||
		 (record->signal == SIGKILL && record->processes_count < 2))
		conclude(outcome, FAILURE_NODE_LOST,
			 "%s %u was ended by signal %u (%s) that Regatta did "
			 "not send; the engine or the host may have stopped",
			 what, rank, record->signal,
			 strsignal((int)record->signal));
	else if (record->signal || record->exit_code) {
		rank_end_sentence(&(struct rank_end){ .rank = rank,
						      .exit_code =
							      record->exit_code,
						      .signal =
							      record->signal },
				  what, ended, sizeof(ended));
		conclude(outcome, FAILURE_EXIT, "%s", ended);
	}
	if (record->note)
		exit_status_add_note(outcome, record->note);
}

void exit_status_from_engine(struct exit_status *outcome,
			     const cJSON *container, enum failure ordered)
{
	const cJSON *state = json_get(container, "State");
	const cJSON *code = json_get(state, "ExitCode");
	bool oom = cJSON_IsTrue(json_get(state, "OOMKilled"));

	memset(outcome, 0, sizeof(*outcome));
	outcome->exit_code = cJSON_IsNumber(code) ? code->valueint : 137;
	if (ordered)
		conclude(outcome, ordered, "stopped: %s",
			 failure_name(ordered));
	else if (!container)
		conclude(outcome, FAILURE_NODE_LOST,
			 "the container vanished without an exit record");
	else if (oom)
		conclude(outcome, FAILURE_OOM,
			 "the kernel killed the container for memory");
	else
		conclude(outcome, FAILURE_NODE_LOST,
			 "the container was killed from outside (exit code "
			 "%" PRId64 ", no exit record)",
			 outcome->exit_code);
}

void exit_status_from_ruin(struct exit_status *outcome, const cJSON *container,
			   const struct error *why, enum failure ordered)
{
	exit_status_from_engine(outcome, container, ordered);
	/* A command that damages its record does so on every node: no retry. */
	if (outcome->failure == FAILURE_NODE_LOST)
		conclude(outcome, FAILURE_EXIT,
			 "the exit record is forged or damaged: %.180s",
			 why->text);
}
