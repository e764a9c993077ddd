/* results_about.c - what a report tells beside its rows.
 */
#include "controller/cli/commands/results_about.h"

#include "controller/report/row.h"
#include "protocol/message/query.h"
#include "protocol/message/reply_logs.h"
#include "protocol/message/reply_sweeps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int results_about_read(struct results_about *about, struct client *client,
		       uint64_t sweep, bool file, struct error *err)
{
	struct message_query query = { .what = QUERY_SWEEP, .id = sweep };
	const struct sweep_info *info;
	struct error refused;

	if (client_query(client, &query, &about->sweep, err) < 0)
		return -1;
	info = &((const struct reply_sweep *)about->sweep.reply)->sweep;
	snprintf(about->title, sizeof(about->title), "Sweep %llu: %.80s",
		 (unsigned long long)info->id, info->name ? info->name : "-");
	about->about = (struct report_about){
		.title = about->title,
		.sweep = info->id,
		.name = info->name,
		.client = info->client,
		.submitted_ms = info->submitted_ms,
	};
	query = (struct message_query){ .what = QUERY_TEXT, .id = sweep };
	if (!file)
		return 0;
	if (client_query(client, &query, &about->text, &refused) < 0)
		return refused.code == EPERM ? 0
					     : error_set(err, refused.code,
							 "%s", refused.text);
	about->about.file =
		((const struct reply_text *)about->text.reply)->text;
	return 0;
}

void results_about_clear(struct results_about *about)
{
	answer_clear(&about->sweep);
	answer_clear(&about->text);
	*about = (struct results_about){ 0 };
}

static int add_tail(struct client *client, cJSON *row, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	const char *stream = row_text(row, "reason.stream");
	struct message_log_read read = {
		.job = (uint64_t)number_at(row, "job"),
		.stream = (char *)(stream ? stream : "rank-0"),
		.tail_lines = TAIL_LINES,
	};
	struct error refused = { 0 };
	const char *from;
	char *text;
	size_t size;

	if (client_call(client, MESSAGE_LOG_READ, &read, &answer, &refused) <
	    0) {
		bool gone = refused.code == ENOENT;

		if (!gone)
			error_set(err, refused.code, "%s", refused.text);
		return gone ? 0 : -1;
	}
	size = answer.size < TAIL_BYTES ? answer.size : TAIL_BYTES;
	if (!size)
		return 0;
	from = (const char *)answer.payload + answer.size - size;
	text = strndup(from, size);
	if (!text || !cJSON_AddStringToObject(row, "tail", text)) {
		free(text);
		return error_nomem(err, "report");
	}
	free(text);
	return 0;
}

int results_add_tails(struct client *client, cJSON *rows, struct error *err)
{
	size_t count = 0;
	cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		if (row_text(row, "failure") && !row_completed(row) &&
		    count++ < TAIL_JOBS && add_tail(client, row, err) < 0)
			return -1;
	}
	return 0;
}
