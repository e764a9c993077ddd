/* snapshot.c - records what all processes of a container do at one moment.
 */
#include "agent/evidence/snapshot.h"
#include "agent/evidence/process_state.h"
#include "agent/evidence/sockets.h"
#include "protocol/base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static int write_process(const struct ranked_process *process,
			 const struct process_state *now, int64_t watched_ms,
			 uint64_t round, const struct sockets *sockets,
			 struct buffer *line, struct error *err)
{
	uint64_t used_ms = now->cpu_ms - process->state.cpu_ms;
	char state[2] = { now->state, 0 };
	owned(evidence_clear) struct evidence evidence = {
		.round = round,
		.pid = (uint64_t)now->pid,
		.rank = process->rank,
		.leads = process->leads,
		.state = strdup(state),
		.cpu_ms = now->cpu_ms,
		.busy_percent =
			(uint32_t)(used_ms * 100 / (uint64_t)(watched_ms + 1)),
		.threads = now->threads,
	};

	if (process_observe(now->pid, &evidence, err) < 0 ||
	    sockets_of(sockets, now->pid, EVIDENCE_SOCKETS_MAX,
		       &evidence.sockets, err) < 0)
		return -1;
	return evidence_write(&evidence, line, err);
}

static int snapshot_write_all(const struct ranked_process *list, size_t count,
			      int64_t watched_ms, uint64_t round,
			      const struct sockets *sockets, FILE *out,
			      struct error *err)
{
	owned(buffer_clear) struct buffer line;

	buffer_init(&line, EVIDENCE_LINE_MAX);
	for (size_t i = 0; i < count; i++) {
		struct process_state now;

		if (!process_state_read(list[i].state.pid, &now))
			continue;
		buffer_clear(&line);
		if (write_process(&list[i], &now, watched_ms, round, sockets,
				  &line, err) < 0)
			return -1;
		if (fwrite(line.data, 1, line.size, out) != line.size)
			return error_errno(err, "evidence");
	}
	return fflush(out) ? error_errno(err, "evidence") : 0;
}

/* Write a line of protocol/message/evidence.h for each descendant of root,
 * which is regatta-init. first_rank: as for process_ranks().
 */
static int snapshot_write(pid_t root, int64_t first_rank, uint64_t round,
			  FILE *out, struct error *err)
{
	static const struct timespec pause = { 0, SNAPSHOT_BUSY_MS * 1000000L };
	owned_free struct ranked_process *list =
		calloc(EVIDENCE_PROCESSES_MAX, sizeof(*list));
	owned(sockets_free) struct sockets *sockets = sockets_read(root, err);
	int64_t begun_ms = clock_mono_ms();
	size_t left_out, count;

	if (!list || !sockets)
		return error_nomem(err, "evidence");
	count = process_ranks(root, first_rank, list, EVIDENCE_PROCESSES_MAX,
			      &left_out);
	nanosleep(&pause, NULL);
	if (left_out)
		fprintf(stderr, "%zu processes are omitted\n", left_out);
	return snapshot_write_all(list, count, clock_mono_ms() - begun_ms,
				  round, sockets, out, err);
}

int snapshot_main(int argc, char **argv, struct error *err)
{
	if (argc != 3)
		return error_set(err, EINVAL,
				 SNAPSHOT_WORD ": %d arguments; expected 3: "
					       "PID FIRST_RANK ROUND",
				 argc);
	return snapshot_write((pid_t)strtol(argv[0], NULL, 10),
			      strtoll(argv[1], NULL, 10),
			      strtoull(argv[2], NULL, 10), stdout, err);
}
