/* job_reason.c - finds why a job failed in what its ranks printed.
 */
#include "controller/jobs/job_reason.h"

#include "controller/results/extract.h"
#include "protocol/base/list.h"
#include "protocol/base/utf8.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PIECE_BYTES 65536

/* The output of a rank. */
struct told {
	const struct reason_stream *stream;
	int64_t rank;  /* that wrote it alone, or REASON_UNKNOWN */
	uint64_t from; /* the first byte that is read */
	struct causes *causes;
	struct extract *extract; /* NULL: no figures are read */
	struct diagnosis diagnosis;
};

struct reasons {
	struct told told[REASON_STREAMS_MAX];
	size_t count;
};

static void reasons_clear(struct reasons *reasons)
{
	for (size_t i = 0; i < reasons->count; i++) {
		causes_free(reasons->told[i].causes);
		extract_free(reasons->told[i].extract);
	}
}
OWNED_VALUE(struct reasons, reasons_clear)

static int told_feed(struct told *told, const char *text, size_t size)
{
	if (told->extract && extract_feed(told->extract, text, size, NULL) < 0)
		return -1;
	return causes_feed(told->causes, text, size, NULL);
}

static int told_finish(struct told *told)
{
	if (told->extract && extract_finish(told->extract, NULL) < 0)
		return -1;
	return causes_finish(told->causes, NULL);
}

/* The last bytes of a stream, from the beginning of a line on. */
static int told_read_stream(const struct reason_job *job, struct told *told,
			    uint64_t most)
{
	char piece[PIECE_BYTES];
	uint64_t length = 0, at;
	size_t got = 1;
	bool within;

	if (job->effects->log_length(job->effects->arg, job->id, job->attempt,
				     told->stream->name, &length, NULL) < 0)
		return -1;
	told->from = at = length > most ? length - most : 0;
	within = at > 0;
	/* A rank that printed nothing has no file to read. */
	while (got && at < length) {
		const char *text = piece;
		const char *line;

		if (job->effects->log_read(job->effects->arg, job->id,
					   job->attempt, told->stream->name, at,
					   piece, sizeof(piece), &got,
					   NULL) < 0)
			return -1;
		at += got;
		line = within ? memchr(piece, '\n', got) : NULL;
		if (line) {
			text = line + 1;
			told->from = at - got + (uint64_t)(text - piece);
			within = false;
		}
		if (!within &&
		    told_feed(told, text, got - (size_t)(text - piece)) < 0)
			return -1;
	}
	return told_finish(told);
}

/* Does a launcher tell how its ranks ended? */
static bool tells_of_ranks(const struct told *told)
{
	const struct process_ends *ends = causes_ends(told->causes);

	for (size_t i = 0; i < ends->count; i++)
		if (ends->entries[i].rank != END_UNKNOWN)
			return true;
	return ends->reaped != END_UNKNOWN;
}

static int reasons_read(struct failure_patterns *patterns,
			const struct reason_job *job, uint64_t most,
			struct reasons *reasons)
{
	for (size_t i = 0; i < job->count; i++) {
		struct told *told = &reasons->told[reasons->count++];

		told->stream = &job->streams[i];
		told->causes = causes_new(patterns, NULL);
		if (job->rules)
			told->extract = extract_new(job->rules, NULL);
		if (!told->causes || (job->rules && !told->extract) ||
		    told_read_stream(job, told, most) < 0)
			return -1;
		causes_diagnose(told->causes, job->exited, &told->diagnosis);
		told->rank = told->stream->whole && tells_of_ranks(told)
				     ? REASON_UNKNOWN
				     : told->stream->rank;
	}
	return 0;
}

/* The best cause; of those with the same order, that of the first to end. */
static const struct told *reasons_choose(const struct reasons *reasons)
{
	const struct told *best = NULL;

	for (size_t i = 0; i < reasons->count; i++) {
		const struct told *told = &reasons->told[i];
		const struct cause *cause = told->diagnosis.cause;

		if (cause &&
		    (!best || cause->meaning->order <
				      best->diagnosis.cause->meaning->order))
			best = told;
	}
	return best;
}

static void reason_copy_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

/* The rank in the program. A rank on its node counts from the first rank of the
 * task.
 */
static int64_t told_rank(const struct told *told)
{
	const struct diagnosis *diagnosis = &told->diagnosis;

	if (diagnosis->rank == END_UNKNOWN)
		return diagnosis->cause->meaning->blameless ? REASON_UNKNOWN
							    : told->rank;
	if (!diagnosis->local || !told->stream->task)
		return diagnosis->rank;
	if (!told->stream->launches)
		return told->rank;
	return (int64_t)told->stream->task * told->stream->launches +
	       diagnosis->rank;
}

/* The task that the rank belongs to; NULL: none that was read. */
static const struct told *told_of_rank(const struct reasons *reasons,
				       int64_t rank)
{
	for (size_t i = 0; i < reasons->count; i++) {
		const struct reason_stream *stream = reasons->told[i].stream;

		if (reasons->told[i].rank == rank ||
		    (stream->launches &&
		     rank / stream->launches == (int64_t)stream->task))
			return &reasons->told[i];
	}
	return NULL;
}

static void told_describe(const struct reasons *reasons,
			  const struct told *told, struct reason *reason)
{
	const struct diagnosis *diagnosis = &told->diagnosis;
	int64_t rank = told_rank(told);
	const struct told *who =
		rank == REASON_UNKNOWN ? NULL : told_of_rank(reasons, rank);

	if (!who)
		who = told;
	*reason = (struct reason){
		.task = who->stream->task,
		.rank = rank,
		.launched = told->stream->rank != told->rank,
		.class = diagnosis->class,
		.exit_code = diagnosis->exit_code != END_CODE_UNKNOWN
				     ? diagnosis->exit_code
				     : told->stream->exit_code,
		.offset = (int64_t)(told->from + diagnosis->cause->offset),
	};
	reason_copy_text(reason->node, sizeof(reason->node), who->stream->node);
	reason_copy_text(reason->signal, sizeof(reason->signal),
			 diagnosis->signal);
	reason_copy_text(reason->line, sizeof(reason->line),
			 diagnosis->cause->line);
	reason_copy_text(reason->stream, sizeof(reason->stream),
			 told->stream->name);
}

/* Is it the end of what wrote the stream? */
static bool ends_stream(const struct end_info *end, const struct told *told)
{
	return told->rank == REASON_UNKNOWN
		       ? isnan(end->rank) && end->task == told->stream->task
		       : end->rank == (double)told->rank;
}

/* The line that the rank printed, or that another rank printed about it. */
static const char *told_find_line(const struct told *told,
				  const struct end_info *end)
{
	const struct diagnosis *diagnosis = &told->diagnosis;
	int64_t rank = isnan(end->rank) ? END_UNKNOWN : (int64_t)end->rank;

	if (!diagnosis->cause)
		return NULL;
	if ((rank != END_UNKNOWN && told_rank(told) == rank) ||
	    (diagnosis->rank == END_UNKNOWN && ends_stream(end, told)))
		return diagnosis->cause->line;
	if (rank == END_UNKNOWN)
		return NULL;
	for (size_t i = 0; i < diagnosis->other_count; i++)
		if (diagnosis->others[i]->rank == rank)
			return diagnosis->others[i]->line;
	return NULL;
}

/* Without memory an end stays without its line. */
static void complete_end(struct end_info *end, const struct told *told)
{
	size_t count = 0;
	const struct record *records =
		told->extract && ends_stream(end, told)
			? extract_records(told->extract, &count)
			: NULL;

	if (count)
		end->step = (double)records[count - 1].step;
	if (!end->line)
		string_set(&end->line, told_find_line(told, end), NULL);
}

/* The ends of a job, to which some are added. */
struct end_list {
	struct end_info **items;
	size_t *count;
};

static bool has_rank(const struct end_list *ends, int64_t rank)
{
	for (size_t i = 0; i < *ends->count; i++)
		if ((*ends->items)[i].rank == (double)rank)
			return true;
	return false;
}

/* An end that only the launcher reports, perhaps without a code. A negative
 * code is a signal.
 */
static void add_launched(struct end_list *ends, const struct reasons *reasons,
			 const struct told *told,
			 const struct process_end *from)
{
	const struct told *who = told_of_rank(reasons, from->rank);
	int32_t code = from->exit_code;
	bool coded = code != END_CODE_UNKNOWN;
	struct end_info *end = LIST_ADD(*ends->items, *ends->count, NULL);

	if (!end)
		return;
	*end = (struct end_info){
		.task = (who ? who : told)->stream->task,
		.rank = (double)from->rank,
		.exit_code = !coded     ? (double)NAN
			     : code < 0 ? 128.0 - code
					: code,
		.signal = !coded     ? (double)NAN
			  : code < 0 ? -(double)code
				     : 0,
		.step = (double)NAN,
	};
	string_set(&end->node, (who ? who : told)->stream->node, NULL);
	complete_end(end, told);
}

static void complete_ends(struct end_list *ends, const struct reasons *reasons)
{
	for (size_t i = 0; i < reasons->count; i++) {
		const struct told *told = &reasons->told[i];

		for (size_t e = 0; e < *ends->count; e++) {
			struct end_info *end = &(*ends->items)[e];

			if (told->rank == REASON_UNKNOWN &&
			    told->stream->rank != REASON_UNKNOWN &&
			    end->task == told->stream->task)
				end->rank = (double)NAN;
			if (ends_stream(end, told))
				complete_end(end, told);
		}
	}
	for (size_t i = 0; i < reasons->count; i++) {
		const struct told *told = &reasons->told[i];
		const struct process_ends *all = causes_ends(told->causes);

		for (size_t e = 0; e < all->count; e++)
			if (all->entries[e].rank >= 0 &&
			    all->entries[e].rank <= UINT32_MAX &&
			    !has_rank(ends, all->entries[e].rank))
				add_launched(ends, reasons, told,
					     &all->entries[e]);
	}
}

bool job_reason_gave_up(struct failure_patterns *patterns,
			const struct reason_job *job, uint64_t bytes)
{
	owned(reasons_clear) struct reasons reasons = { 0 };

	if (reasons_read(patterns, job, bytes, &reasons) < 0)
		return false;
	for (size_t i = 0; i < reasons.count; i++)
		if (causes_gave_up(reasons.told[i].causes))
			return true;
	return false;
}

/* The ranks that each task starts, by its devices or by the first rank of a
 * later task; 0: unknown.
 */
static int64_t ranks_each(const struct reasons *reasons)
{
	for (size_t i = 0; i < reasons->count; i++) {
		const struct told *told = &reasons->told[i];
		const struct process_ends *ends = causes_ends(told->causes);
		int64_t task = told->stream->task;

		if (told->stream->launches)
			return told->stream->launches;
		for (size_t e = 0; task && e < ends->count; e++) {
			const struct process_end *end = &ends->entries[e];
			int64_t first = end->rank - end->local_rank;

			if (end->local_rank != END_UNKNOWN && first % task == 0)
				return first / task;
		}
	}
	return 0;
}

/* Of the ranks that a task started, as many as its launcher neither tells of
 * nor stopped. *rank: the last one that it does not tell of.
 */
static int64_t ranks_left(const struct told *told, int64_t each,
			  const struct end_list *ends, int64_t *rank)
{
	int64_t missing = 0;
	uint32_t stopped = causes_ends(told->causes)->stopped;

	for (int64_t i = 0; i < each; i++) {
		int64_t one = (int64_t)told->stream->task * each + i;

		if (!has_rank(ends, one)) {
			missing++;
			*rank = one;
		}
	}
	if (stopped)
		*rank = REASON_UNKNOWN;
	return missing > stopped ? missing - stopped : 0;
}

/* Peers were gone, but no launcher tells of a first failure: the only rank that
 * none tells of ended without one.
 */
static void reason_find_left(const struct reasons *reasons,
			     const struct end_list *ends, struct reason *reason)
{
	const struct told *who = NULL;
	int64_t rank = REASON_UNKNOWN, one = REASON_UNKNOWN;
	int64_t left = 0, each = ranks_each(reasons);

	for (size_t i = 0; i < reasons->count; i++) {
		const struct told *told = &reasons->told[i];
		int64_t more = tells_of_ranks(told)
				       ? ranks_left(told, each, ends, &one)
				       : 0;

		left += more;
		if (more) {
			who = told;
			rank = one;
		}
	}
	if (left != 1)
		return;
	reason->left = true;
	reason->rank = rank;
	reason->task = who->stream->task;
	reason_copy_text(reason->node, sizeof(reason->node), who->stream->node);
}

bool job_reason_read(struct failure_patterns *patterns,
		     const struct reason_job *job, struct end_info **ends,
		     size_t *ends_count, struct reason *reason)
{
	owned(reasons_clear) struct reasons reasons = { 0 };
	struct end_list list = { ends, ends_count };
	const struct told *told;

	if (reasons_read(patterns, job,
			 REASON_BYTES / (job->count ? job->count : 1),
			 &reasons) < 0)
		return false;
	if (*ends_count)
		complete_ends(&list, &reasons);
	told = reasons_choose(&reasons);
	if (told)
		told_describe(&reasons, told, reason);
	if (told && reason->class == CAUSE_COMMUNICATION &&
	    reason->rank == REASON_UNKNOWN)
		reason_find_left(&reasons, &list, reason);
	return told;
}

/* Does the sentence name another node, whose launcher ended first? */
static bool names_other_node(const char *how, const char *node)
{
	const char *ended = strstr(how, ": rank ");

	if (!ended)
		ended = strstr(how, ": task ");
	return ended && *node &&
	       ((size_t)(ended - how) != strlen(node) ||
		memcmp(how, node, strlen(node)) != 0);
}

/* "n2: rank 3 has not entered ..." */
static bool begins_with_node(const char *line, const char *node)
{
	size_t size = strlen(node);

	return size && !strncmp(line, node, size) && line[size] == ':';
}

static bool names_rank(const char *text, const char *rank)
{
	const char *at = strstr(text, rank);

	return at && !isdigit((unsigned char)at[strlen(rank)]);
}

char *job_reason_sentence(const char *how, const struct reason *reason)
{
	char who[256] = "", left[256] = "", rank[32] = "";
	int size = (int)strlen(reason->line);
	char *text, *ended;

	if (!size || !how)
		return NULL;
	if (size > REASON_LINE_MAX)
		size = (int)utf8_cut(reason->line, REASON_LINE_MAX);
	if (reason->rank != REASON_UNKNOWN)
		snprintf(rank, sizeof(rank), "rank %" PRId64, reason->rank);
	if (reason->left)
		snprintf(left, sizeof(left),
			 "; %s: %s of task %" PRId64
			 " ended before, without an error",
			 reason->node, *rank ? rank : "a rank", reason->task);
	else if (!begins_with_node(reason->line, reason->node) &&
		 names_other_node(how, reason->node))
		snprintf(who, sizeof(who), "%s%s%s: ", reason->node,
			 *rank ? " " : "", rank);
	else if (*rank && (reason->launched || !names_rank(how, rank)) &&
		 !names_rank(reason->line, rank))
		snprintf(who, sizeof(who), "%s: ", rank);
	if (asprintf(&text, "%s: %s%.*s%s", how, who, size, reason->line,
		     left) < 0)
		return NULL;
	ended = reason->launched ? strstr(text, ": rank ") : NULL;
	if (ended && ended < text + strlen(how))
		memcpy(ended + 2, (const char[]){ 't', 'a', 's', 'k' }, 4);
	return text;
}
