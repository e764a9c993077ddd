/* job_views.c - the views of sweeps, jobs and what belongs to a job.
 */
#include "controller/view/render.h"
#include "controller/view/views.h"
#include "protocol/message/reply_logs.h"

#include <math.h>
#include <string.h>

typedef unsigned long long ull;

static void sweep_put(struct view_row *row, const void *of)
{
	const struct sweep_info *sweep = of;
	char counts[200];

	view_count(row, sweep->id);
	view_cell(row, MARK(.path = "sweep", .number = sweep->id), "%s",
		  sweep->name);
	view_cell(row, MARK(.colour = sweep->final ? PLAIN : CYAN), "%s",
		  sweep->final    ? "ended"
		  : sweep->paused ? "paused"
				  : "active");
	view_count(row, sweep->jobs);
	view_clock(row, sweep->submitted_ms);
	view_text(row, sweep->client);
	sweep_counts(sweep, counts, sizeof(counts));
	view_text(row, counts);
}

/* The last step on a page: the progress, or the transfer of the image. */
static void job_put_step(struct view_row *row, const struct job_info *job)
{
	static const struct progress_info none = { 0 };
	const struct progress_info *progress =
		job->progress ? job->progress : &none;
	bool bar = progress->steps && !progress->image.phase;
	char text[80] = "", warning[80];

	if (progress->image.phase)
		snprintf(text, sizeof(text), "%s", progress->image.phase);
	else if (job_step(job) || bar)
		snprintf(text, sizeof(text), "%llu", (ull)job_step(job));
	if (bar)
		text_append(text, sizeof(text), " of %llu",
			    (ull)progress->steps);
	stillness_words(progress, warning, sizeof(warning));
	view_cell(row,
		  MARK(.done = progress->step, .all = bar ? progress->steps : 0,
		       .warning = warning),
		  "%s", text);
}

static void job_put(struct view_row *row, const void *of)
{
	const struct job_info *job = of;
	int64_t end = job->ended_ms ? job->ended_ms : row->at_ms;
	char text[400];

	view_cell(row, MARK(.path = "job", .number = job->job), "%llu",
		  (ull)job->job);
	view_count(row, job->sweep);
	view_text(row, job_cell_words(job, text, sizeof(text)));
	view_count(row, job->attempt);
	view_cell(row,
		  MARK(.colour = colour_of_job(job_state_from(job->state)),
		       .class = job->state),
		  "%s", job->state);
	view_text(row, job->started_ms ? human_time(end - job->started_ms).text
				       : "");
	view_text(row, job_rate(job).text);
	view_text(row, job_nodes(&job->allocation, text, sizeof(text)));
	view_text(row, job_detail(job, text, sizeof(text)));
	job_put_step(row, job);
	view_number(row, "%.4f", job_loss(job));
	view_text(row, job->text ? job->text : job->waits);
}

/* "0-3,6" of the bits that are set. */
static char *bits_words(uint64_t bits, char *to, size_t size)
{
	to[0] = 0;
	for (unsigned int i = 0; i < 64; i++) {
		unsigned int last = i;

		if (!(bits >> i & 1))
			continue;
		while (last < 63 && bits >> (last + 1) & 1)
			last++;
		text_append(to, size, last > i ? "%s%u-%u" : "%s%u",
			    *to ? "," : "", i, last);
		i = last;
	}
	return to;
}

static void task_put(struct view_row *row, const void *of)
{
	const struct task_info *task = of;
	const char *failure = task->failure ? task->failure : "";
	const struct task_shown *page = row->table ? NULL : of;
	uint64_t devices = page ? page->devices : 0;
	char text[300];

	view_count(row, task->rank);
	view_cell(row,
		  MARK(.path = page && page->node ? "node" : NULL,
		       .number = page ? page->node : 0),
		  "%s", task->node ? task->node : "");
	view_text(row, bits_words(devices, text, sizeof(text)));
	view_text(row, task->state);
	if (task_state_from(task->state) == TASK_ENDED)
		view_cell(row, NULL, "%lld", (long long)task->exit_code);
	else
		view_text(row, "-");
	transfer_detail(task->transfer, text, sizeof(text));
	view_cell(row, MARK(.colour = *failure ? RED : PLAIN), "%s%s%s%s",
		  failure, *failure ? ": " : "", task->text ? task->text : "",
		  text);
}

static void end_number(struct view_row *row, double number)
{
	if (isnan(number))
		view_text(row, "-");
	else
		view_cell(row, NULL, "%.0f", number);
}

static void end_put(struct view_row *row, const void *of)
{
	const struct end_info *end = of;
	int64_t at = (int64_t)end->ended_ms;
	char log[32] = "";

	if (!row->table)
		snprintf(log, sizeof(log), "log/%llu",
			 (ull)((const struct end_shown *)of)->job);
	if (isnan(end->rank))
		view_cell(row, MARK(.path = log, .number = (uint32_t)end->task),
			  "-");
	else
		view_cell(row, MARK(.path = log, .number = (uint32_t)end->rank),
			  "%.0f", end->rank);
	view_text(row, end->node);
	view_clock(row, at);
	view_text(row, at ? human_time(at - row->at_ms).text : "-");
	end_number(row, end->exit_code);
	end_number(row, end->signal > 0 ? end->signal : (double)NAN);
	end_number(row, end->step);
	view_text(row, end->line);
}

static void layer_put(struct view_row *row, const void *of)
{
	const struct layer_shown *layer = of;

	view_text(row, layer->node);
	view_text(row, layer->layer.id);
	view_text(row, layer->layer.phase);
	view_text(row, human_bytes(layer->layer.done_bytes).text);
	view_text(row, human_bytes(layer->layer.total_bytes).text);
}

static void event_put(struct view_row *row, const void *of)
{
	const struct event_info *event = of;
	char text[VIEW_TEXT_MAX] = "";

	view_clock(row, event->time_ms);
	view_count(row, event->attempt);
	view_text(row, event->kind);
	if (!cJSON_IsNull(event->data))
		json_words(event->data, text, sizeof(text));
	view_text(row, text);
}

static void stream_put(struct view_row *row, const void *of)
{
	const struct stream_info *stream = of;

	view_text(row, stream->stream);
	view_text(row, human_bytes(stream->bytes).text);
	if (stream->part > 1)
		view_cell(row, NULL, "%s (part %u)",
			  stream->path ? stream->path : "", stream->part);
	else
		view_text(row, stream->path);
}

static void holder_put(struct view_row *row, const void *of)
{
	const struct holder_info *holder = of;
	char text[400];

	view_cell(row, MARK(.path = "job", .number = holder->job), "%llu",
		  (ull)holder->job);
	view_count(row, holder->sweep);
	view_text(row, holder->owner);
	view_text(row, holder->cell);
	view_text(row, job_nodes(&holder->nodes, text, sizeof(text)));
	view_text(row, isfinite(holder->rest_ms)
			       ? human_time((int64_t)holder->rest_ms).text
			       : "-");
}

static void file_put(struct view_row *row, const void *of)
{
	const struct file_info *file = of;

	view_count(row, file->rank);
	view_text(row, file->path);
	view_text(row, file->content ? human_bytes(file->bytes).text : "-");
	view_text(row, file->text);
}

/* clang-format off */
static const struct view_column sweep_columns[] = {
	{ "SWEEP", "Sweep", true, 0 }, { "NAME", "Name", false, 0 },
	{ "STATE", "State", false, 0 }, { "JOBS", NULL, true, 3 },
	{ "SUBMITTED", "Submitted", true, 2 }, { "BY", "By", false, 1 },
	{ "BY STATE", "Jobs", false, 0 }, { NULL, NULL, false, 0 },
};
const struct view view_sweeps = {
	"sweeps", sizeof(struct sweep_info), sweep_columns, sweep_put,
	"no sweeps; regatta submit SWEEP submits one", true
};

static const struct view_column job_columns[] = {
	{ "JOB", "Job", true, 0 }, { "SWEEP", NULL, true, 1 },
	{ "CELL", "Cell", false, 0 }, { "TRY", NULL, true, 2 },
	{ "STATE", "State", false, 0 }, { "TIME", NULL, true, 4 },
	{ NULL, "Rate", true, 0 }, { "NODES", "Nodes", false, 3 },
	{ "DETAIL", NULL, false, 0 }, { NULL, "Step", false, 0 },
	{ NULL, "Loss", true, 0 }, { NULL, "Reason", false, 0 },
	{ NULL, NULL, false, 0 },
};
const struct view view_jobs = {
	"jobs", sizeof(struct job_info), job_columns, job_put, "no jobs", true
};

static const struct view_column task_columns[] = {
	{ "RANK", "Rank", true, 0 }, { "NODE", "Node", false, 0 },
	{ NULL, "Devices", false, 0 }, { "STATE", "State", false, 0 },
	{ "EXIT", NULL, true, 0 }, { "DETAIL", "Reason", false, 0 },
	{ NULL, NULL, false, 0 },
};
const struct view view_tasks = {
	NULL, sizeof(struct task_info), task_columns, task_put, NULL, true
};

static const struct view_column end_columns[] = {
	{ "RANK", "Rank", true, 0 }, { "NODE", "Node", false, 0 },
	{ "ENDED", NULL, true, 3 }, { "AFTER", NULL, true, 2 },
	{ "CODE", "Code", true, 0 }, { "SIGNAL", "Signal", true, 1 },
	{ "STEP", "Step", true, 0 }, { "SAID", "Said", false, 0 },
	{ NULL, NULL, false, 0 },
};
const struct view view_ends = {
	NULL, sizeof(struct end_info), end_columns, end_put, NULL, true
};

static const struct view_column layer_columns[] = {
	{ "NODE", NULL, false, 0 }, { "LAYER", NULL, false, 1 },
	{ "STATE", NULL, false, 0 }, { "DONE", NULL, true, 0 },
	{ "OF", NULL, true, 0 }, { NULL, NULL, false, 0 },
};
const struct view view_layers = {
	NULL, sizeof(struct layer_shown), layer_columns, layer_put, NULL, true
};

static const struct view_column event_columns[] = {
	{ "TIME", NULL, true, 2 }, { "TRY", NULL, true, 1 },
	{ "EVENT", NULL, false, 0 }, { "DATA", NULL, false, 0 },
	{ NULL, NULL, false, 0 },
};
const struct view view_events = {
	NULL, sizeof(struct event_info), event_columns, event_put, NULL, true
};

static const struct view_column stream_columns[] = {
	{ "STREAM", NULL, false, 0 }, { "SIZE", NULL, true, 0 },
	{ "FILE", NULL, false, 0 }, { NULL, NULL, false, 0 },
};
const struct view view_streams = {
	NULL, sizeof(struct stream_info), stream_columns, stream_put, NULL,
	false
};

static const struct view_column holder_columns[] = {
	{ "JOB", "Job", true, 0 }, { "SWEEP", "Sweep", true, 2 },
	{ "OF", "Of", false, 0 }, { "CELL", "Cell", false, 0 },
	{ "NODES", "Nodes", false, 0 }, { "LEFT", "Left", true, 1 },
	{ NULL, NULL, false, 0 },
};
const struct view view_holders = {
	NULL, sizeof(struct holder_info), holder_columns, holder_put, NULL,
	true
};

static const struct view_column file_columns[] = {
	{ "RANK", NULL, true, 0 }, { "PATH", NULL, false, 0 },
	{ "SIZE", NULL, true, 0 }, { "NOTE", NULL, false, 0 },
	{ NULL, NULL, false, 0 },
};
const struct view view_files = {
	NULL, sizeof(struct file_info), file_columns, file_put, NULL, false
};
/* clang-format on */
