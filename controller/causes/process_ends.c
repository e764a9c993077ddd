/* process_ends.c - how processes ended, as their launcher reports it. */
#include "controller/causes/process_ends.h"

#include <string.h>

#define DIGITS_MAX 10

void process_ends_init(struct process_ends *ends)
{
	*ends = (struct process_ends){ .reaped = END_UNKNOWN,
				       .reaped_code = END_CODE_UNKNOWN };
}

int64_t hit_number(const struct failure_hit *hit, enum failure_group group,
		   int64_t missing)
{
	const char *text = hit->groups[group].text;
	size_t size = hit->groups[group].size;
	char digits[DIGITS_MAX + 2];
	char *end;
	long long number;

	if (!text || !size || size > DIGITS_MAX)
		return missing;
	memcpy(digits, text, size);
	digits[size] = '\0';
	number = strtoll(digits, &end, 10);
	return *end || end == digits ? missing : number;
}

/* The entry of the next fact. */
static struct process_end *entry(struct process_ends *ends, bool fresh)
{
	struct process_end *end;

	if (ends->count && !fresh)
		return &ends->entries[ends->count - 1];
	if (ends->count == PROCESS_ENDS_MAX) {
		ends->full = true;
		return NULL;
	}
	end = &ends->entries[ends->count++];
	*end = (struct process_end){ .rank = END_UNKNOWN,
				     .local_rank = END_UNKNOWN,
				     .exit_code = END_CODE_UNKNOWN,
				     .root = ends->in_root };
	snprintf(end->time, sizeof(end->time), "%s", ends->time);
	ends->time[0] = '\0';
	return end;
}

/* Is the line about another process than the last entry? */
static bool process_end_begins(const struct process_ends *ends,
			       const struct failure_hit *hit, int64_t rank)
{
	const struct process_end *last;

	if (!ends->count)
		return true;
	last = &ends->entries[ends->count - 1];
	if (last->root != ends->in_root)
		return true;
	if (hit->groups[GROUP_HOST].text)
		return *last->host || last->rank != END_UNKNOWN;
	return rank != END_UNKNOWN && last->rank != END_UNKNOWN &&
	       last->rank != rank;
}

void process_ends_take(struct process_ends *ends, const struct failure_hit *hit)
{
	int64_t task = hit_number(hit, GROUP_TASK, END_UNKNOWN);
	int64_t rank = hit_number(hit, GROUP_RANK, task);
	int64_t local = hit_number(hit, GROUP_LOCAL_RANK, END_UNKNOWN);
	int32_t code =
		(int32_t)hit_number(hit, GROUP_EXIT_CODE, END_CODE_UNKNOWN);
	bool named = hit->groups[GROUP_HOST].text || rank != END_UNKNOWN;
	struct process_end *end;

	ends->stopped += hit->meaning->stops;
	if (hit->meaning->section != SECTION_SAME)
		ends->in_root = hit->meaning->section == SECTION_ROOT;
	if (hit->groups[GROUP_TIME].text) {
		snprintf(ends->time, sizeof(ends->time), "%.*s",
			 (int)hit->groups[GROUP_TIME].size,
			 hit->groups[GROUP_TIME].text);
		return;
	}
	if (local != END_UNKNOWN && rank == END_UNKNOWN) {
		if (ends->reaped == END_UNKNOWN) {
			ends->reaped = local;
			ends->reaped_code = code;
		}
		return;
	}
	if (!named && code == END_CODE_UNKNOWN)
		return;
	end = entry(ends, process_end_begins(ends, hit, rank));
	if (!end || ends->full)
		return;
	if (hit->groups[GROUP_HOST].text)
		snprintf(end->host, sizeof(end->host), "%.*s",
			 (int)hit->groups[GROUP_HOST].size,
			 hit->groups[GROUP_HOST].text);
	if (rank != END_UNKNOWN) {
		end->rank = rank;
		end->local_rank = local;
		end->task = task != END_UNKNOWN;
	}
	if (code != END_CODE_UNKNOWN && end->exit_code == END_CODE_UNKNOWN)
		end->exit_code = code;
}

const struct process_end *process_ends_of_rank(const struct process_ends *ends,
					       int64_t rank)
{
	for (size_t i = 0; i < ends->count; i++)
		if (ends->entries[i].rank == rank)
			return &ends->entries[i];
	return NULL;
}

const struct process_end *process_ends_of_code(const struct process_ends *ends,
					       int32_t code)
{
	const struct process_end *first = NULL;

	for (size_t i = 0; i < ends->count; i++) {
		const struct process_end *end = &ends->entries[i];

		if (end->exit_code == code &&
		    (!first || (end->root && !first->root)))
			first = end;
	}
	return first;
}

bool process_ends_alike(const struct process_ends *ends,
			const struct process_end *end)
{
	for (size_t i = 0; i < ends->count; i++) {
		const struct process_end *other = &ends->entries[i];

		if (other != end && other->rank != end->rank &&
		    !strcmp(other->time, end->time) && end->exit_code > 0 &&
		    other->exit_code == end->exit_code)
			return true;
	}
	return false;
}

const struct process_end *process_ends_root(const struct process_ends *ends)
{
	for (size_t i = 0; i < ends->count; i++)
		if (ends->entries[i].root)
			return &ends->entries[i];
	for (size_t i = 0; i < ends->count; i++)
		if (ends->entries[i].rank != END_UNKNOWN &&
		    !ends->entries[i].task)
			return &ends->entries[i];
	return ends->count ? &ends->entries[0] : NULL;
}
