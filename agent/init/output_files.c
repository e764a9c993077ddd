/* output_files.c - copies, counts and bounds the output of the command.
 */
#include "agent/init/output_files.h"
#include "agent/init/environment.h"
#include "agent/init/follow.h"
#include "agent/init/init.h"
#include "agent/init/packages.h"
#include "protocol/base/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCAN_SHARE 50 /* at most a fiftieth of the time is spent scanning */

struct output_files {
	const struct start *start;
	struct record *record;
	struct index_writer index;
	struct follow *follow; /* NULL: nothing is followed */
	int64_t look_ms;       /* the next look; the next scan */
	int64_t scan_ms;
	uint64_t room;   /* bytes that may still come */
	uint64_t beyond; /* bytes that were cut off */
	bool full;       /* the limit is met: what is kept is settled */
	bool listed;     /* the packages, while the command starts */
};

struct output_files *output_files_new(const struct start *start,
				      struct record *record, int out)
{
	struct output_files *output = calloc(1, sizeof(*output));

	if (!output)
		return NULL;
	output->start = start;
	output->record = record;
	output->room = start->log_limit ? start->log_limit : UINT64_MAX;
	index_writer_init(&output->index, out, start->node);
	if (!start->follow.count)
		return output;
	output->follow = follow_new(start, &output->index);
	if (output->follow)
		return output;
	output_files_free(output);
	return NULL;
}

void output_files_free(struct output_files *output)
{
	if (!output)
		return;
	follow_free(output->follow);
	index_writer_clear(&output->index);
	free(output);
}

/* Announce the kept size of each log. Readers must know it before the first
 * cut.
 */
static bool output_settle_logs(struct output_files *output)
{
	for (uint32_t i = 0; i < output->record->count; i++) {
		const struct process *process = &output->record->processes[i];
		struct error why;
		char name[32];

		snprintf(name, sizeof(name), "rank-%u", process->rank);
		if (index_writer_kept(&output->index, name, process->log_size,
				      &why) < 0)
			return false; /* no room for a line: later */
	}
	return true;
}

/* Count the growth of a log, up to the room that is left. */
static void output_measure_log(struct output_files *output,
			       struct process *process)
{
	struct stat stat;
	uint64_t size, grown;

	if (fstat(process->log, &stat) < 0)
		return;
	size = (uint64_t)stat.st_size;
	if (size < process->log_size) {
		process->log_cuts++;
		if (!output->full)
			output->room += process->log_size - size;
		process->log_size = size;
	}
	if (output->full)
		return;
	grown = size - process->log_size;
	if (grown > output->room)
		grown = output->room;
	process->log_size += grown;
	output->room -= grown;
}

static void output_cut_log(struct output_files *output, struct process *process)
{
	struct stat stat;

	if (fstat(process->log, &stat) < 0 ||
	    (uint64_t)stat.st_size <= process->log_size ||
	    ftruncate(process->log, (off_t)process->log_size) < 0)
		return;
	output->beyond += (uint64_t)stat.st_size - process->log_size;
}

static void bound(struct output_files *output)
{
	struct record *record = output->record;

	for (uint32_t i = 0; i < record->count; i++)
		output_measure_log(output, &record->processes[i]);
	if (!output->room && !output->full)
		output->full = output_settle_logs(output);
	for (uint32_t i = 0; output->full && i < record->count; i++)
		output_cut_log(output, &record->processes[i]);
}

static void output_list_packages(struct output_files *output)
{
	char **environment = environment_new(environ, output->start, 0, 0);
	const char *path =
		environment ? environment_get(environment, "PATH") : NULL;

	output->listed = true;
	if (output->start->node == 0)
		packages_write(&output->index, path ? path : DEFAULT_PATH);
	environment_free(environment);
}

int64_t output_files_look(struct output_files *output, int64_t now_ms)
{
	if (now_ms < output->look_ms)
		return output->look_ms;
	if (!output->listed)
		output_list_packages(output);
	bound(output);
	if (!output->follow) {
		output->look_ms = now_ms + INIT_SCAN_MS;
		return output->look_ms;
	}
	if (now_ms >= output->scan_ms) {
		int64_t took;

		follow_scan(output->follow);
		took = (clock_mono_ms() - now_ms) * SCAN_SHARE;
		output->scan_ms =
			now_ms + (took > INIT_SCAN_MS ? took : INIT_SCAN_MS);
	}
	output->look_ms = output->scan_ms;
	if (follow_copy(output->follow, &output->room))
		output->look_ms = now_ms;
	else if (follow_count(output->follow) &&
		 now_ms + INIT_LOOK_MS < output->scan_ms)
		output->look_ms = now_ms + INIT_LOOK_MS;
	return output->look_ms;
}

static void output_add_note(struct record *record, const char *text)
{
	size_t used = strlen(record->note);

	snprintf(record->note + used, sizeof(record->note) - used, "%s%s",
		 used ? "; " : "", text);
}

static void note_cuts(struct output_files *output, char *text, size_t size)
{
	for (uint32_t i = 0; i < output->record->count; i++) {
		const struct process *process = &output->record->processes[i];

		if (!process->log_cuts)
			continue;
		snprintf(text, size,
			 "rank %u truncated its own output; the part that was "
			 "not sent is lost",
			 process->rank);
		output_add_note(output->record, text);
		return;
	}
}

void output_files_finish(struct output_files *output)
{
	char text[240] = "";

	bound(output);
	if (output->follow) {
		follow_finish(output->follow, &output->room);
		if (!output->room)
			output->beyond += follow_left(output->follow);
	}
	if (output->beyond) {
		snprintf(text, sizeof(text),
			 "output beyond the limit of %llu bytes is not kept: "
			 "at least %llu bytes",
			 (unsigned long long)output->start->log_limit,
			 (unsigned long long)output->beyond);
		output_add_note(output->record, text);
	}
	note_cuts(output, text, sizeof(text));
	if (output->follow && *follow_trouble(output->follow)) {
		snprintf(text, sizeof(text),
			 "some files are not followed: %.200s",
			 follow_trouble(output->follow));
		output_add_note(output->record, text);
	}
}
