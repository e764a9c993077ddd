/* job_failure.c - writes which rank of a job failed first, how the ranks ended,
 * and their last stacks.
 */
#include "controller/results/json_object.h"
#include "controller/stacks/stacks.h"
#include "controller/web/web_page.h"
#include "protocol/message/evidence.h"
#include "protocol/message/reply_logs.h"

#include <math.h>
#include <string.h>

#define ENDS_SHOWN 64
#define GROUPS_SHOWN 32
#define RANKS_SHOWN 8
#define LOOK_NODES 64                  /* whose evidence is read */
#define LOOK_BYTES ((uint64_t)1 << 20) /* of evidence, in all */

bool web_reason_rank(const struct reason_info *reason, unsigned *rank)
{
	return reason && reason->line && reason->stream &&
	       sscanf(reason->stream, "rank-%9u", rank) == 1;
}

/* "Rank 3 on n2 failed first: oom" and the line that shows it. Of a job whose
 * ranks did not differ, the line alone.
 */
static void job_failure_put_reason(struct web_page *page, uint64_t job,
				   const struct reason_info *reason)
{
	unsigned int rank;

	if (isfinite(reason->rank))
		web_html(page, "<p>Rank %.0f%s", reason->rank,
			 reason->node ? " on " : "");
	else if (reason->node)
		web_html(page, "<p>Node ");
	if (isfinite(reason->rank) || reason->node)
		web_html(page, "%s failed first%s%s</p>\n", reason->node,
			 reason->class ? ": " : ".", reason->class);
	if (!reason->line)
		return;
	web_html(page, "<pre>%s</pre>", reason->line);
	if (web_reason_rank(reason, &rank))
		web_html(page,
			 "<p><a href=\"/log/%llu/%u/%.0f#at\">Show in the "
			 "output</a></p>\n",
			 (ull)job, rank, reason->offset);
}

static void put_ends(struct web_page *page, const struct job_info *job)
{
	size_t shown =
		job->ends_count < ENDS_SHOWN ? job->ends_count : ENDS_SHOWN;

	web_html(page, "<h2>Exit status of ranks</h2><div class=\"wide\">");
	view_page_begin(&view_ends, &page->out);
	for (size_t i = 0; i < shown; i++) {
		const struct end_shown end = { job->ends[i], job->job };

		web_html(page, "<tr>");
		view_page_row(&view_ends, &end, &page->out);
		web_html(page, "</tr>\n");
	}
	web_html(page, "</table></div>\n");
	if (shown < job->ends_count)
		web_html(page, "<p class=\"mute\">The first %d of %zu.</p>\n",
			 ENDS_SHOWN, job->ends_count);
}

/* Read the last `bytes` of a node's evidence. */
static void stacks_read_rank(struct web_page *page, const struct job_info *job,
			     uint32_t rank, uint64_t bytes,
			     struct stacks *stacks)
{
	char stream[EVIDENCE_STREAM_SIZE];
	struct message_log_read read = { .job = job->job,
					 .stream = stream,
					 .offset = UINT64_MAX };
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT(MESSAGE_PAYLOAD_MAX);
	struct api_request request = web_request(page, &read);
	struct reply_log_read reply = { 0 };

	request.bytes = &text;
	evidence_stream(rank, stream);
	if (api_log_read(&request, &reply, NULL) == 0 && reply.length) {
		read.offset = reply.length > bytes ? reply.length - bytes : 0;
		codec_clear(&reply_log_read_schema, &reply);
		if (api_log_read(&request, &reply, NULL) == 0 && text.size)
			stacks_take(stacks, job->allocation.items[rank], 0,
				    text.data, text.size, NULL);
	}
	codec_clear(&reply_log_read_schema, &reply);
}

static void job_failure_put_group(struct web_page *page, const cJSON *group)
{
	const cJSON *ranks = row_at(group, "ranks"), *rank;
	int count = cJSON_GetArraySize(ranks), shown = 0;

	web_html(page, "<tr><td class=\"n\">%d</td><td>", count);
	cJSON_ArrayForEach(rank, ranks) {
		if (shown == RANKS_SHOWN)
			break;
		web_html(page, "%s%.0f", shown++ ? ", " : "",
			 rank->valuedouble);
	}
	web_html(page, "%s</td><td>%s</td></tr>\n",
		 count > shown ? ", ..." : "", row_text(group, "where"));
}

static void put_stacks(struct web_page *page, struct stacks *stacks)
{
	cJSON *all = stacks_json(stacks);
	const cJSON *group;
	size_t shown = 0;

	web_html(page, "<h2>State of ranks</h2>\n<p>%s</p><div class=\"wide\">",
		 row_text(all, "verdict"));
	web_html(page, "<table><tr><th class=\"n\">Count</th><th>Ranks</th>"
		       "<th>Call</th></tr>\n");
	cJSON_ArrayForEach(group, row_at(all, "groups"))
		if (shown++ < GROUPS_SHOWN)
			job_failure_put_group(page, group);
	web_html(page, "</table></div>\n");
	cJSON_Delete(all);
}

void web_job_failure(struct web_page *page, const struct job_info *job)
{
	owned(stacks_free) struct stacks *stacks = stacks_new(NULL);
	uint32_t nodes = (uint32_t)job->allocation.count;

	if (nodes > LOOK_NODES)
		nodes = LOOK_NODES;
	web_part(page, "div", "", "why");
	if (job->reason)
		job_failure_put_reason(page, job->job, job->reason);
	if (job->ends_count)
		put_ends(page, job);
	web_part_end(page, "div");
	web_part(page, "div", "", "stacks");
	for (uint32_t rank = 0; stacks && rank < nodes; rank++)
		stacks_read_rank(page, job, rank, LOOK_BYTES / nodes, stacks);
	if (stacks && stacks_count(stacks))
		put_stacks(page, stacks);
	web_part_end(page, "div");
}
