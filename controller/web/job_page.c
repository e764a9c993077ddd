/* job_page.c - the page of a job: progress, curves, nodes, devices, output. */
#include "controller/logs/log_reader.h"
#include "controller/nodes/node.h"
#include "controller/report/advice.h"
#include "controller/report/chart.h"
#include "controller/results/series.h"
#include "controller/view/differences.h"
#include "controller/web/web_page.h"
#include "protocol/message/json_get.h"
#include "protocol/blob/packages.h"
#include "protocol/message/reply_logs.h"

#include <math.h>
#include <string.h>

#define TAIL_LINES 60
#define TAIL_BYTES 16384 /* of them, the last ones */
#define DEVICES_SHOWN 256
#define TASKS_SHOWN 256

static void put_when(struct web_page *page, const char *what, int64_t wall_ms)
{
	if (!wall_ms)
		return;
	web_html(page, "%s", what);
	web_html(page, "<time>%s</time>", human_utc(wall_ms).text);
}

/* The last step; nothing for a job that has not started. */
static void job_page_put_progress(struct web_page *page,
				  const struct job_info *job)
{
	const struct progress_info *progress = job->progress;
	double loss = job_loss(job);
	struct human rate = job_rate(job);

	if (!job->started_ms)
		return;
	web_html(page, "<p>");
	if (progress && progress->steps)
		web_html(page,
			 "<progress max=\"%llu\" value=\"%llu\"></progress>"
			 " step %llu of %llu",
			 (ull)progress->steps, (ull)progress->step,
			 (ull)progress->step, (ull)progress->steps);
	else if (job_step(job))
		web_html(page, "Step %llu", (ull)job_step(job));
	else
		web_html(page, "No step in the output");
	if (progress)
		web_stillness(page, progress);
	if (!isnan(loss))
		web_html(page, ", loss %.4f", loss);
	if (*rate.text)
		web_html(page, ", %s", rate.text);
	if (progress && !isnan(progress->power_w))
		web_html(page, ", %.0f W", progress->power_w);
	if (progress && !isnan(progress->temp_c))
		web_html(page, ", %.0f °C", progress->temp_c);
	if (progress && progress->found)
		web_html(page, ", %s", progress->found);
	web_html(page, "</p>");
}

/* Who holds what a queued job needs. */
static void put_queue(struct web_page *page, const struct queue_info *queue)
{
	char words[120];

	if (!queue)
		return;
	queue_words(queue, words, sizeof(words));
	web_html(page, "<p>In the queue: %s.</p>\n", words);
	if (!queue->holders_count)
		return;
	web_html(page, "<h2>Held by</h2><div class=\"wide\">");
	view_page_begin(&view_holders, &page->out);
	for (size_t i = 0; i < queue->holders_count; i++) {
		web_html(page, "<tr>");
		view_page_row(&view_holders, &queue->holders[i], &page->out);
		web_html(page, "</tr>\n");
	}
	web_html(page, "</table></div>");
}

static void job_page_put_advice(struct web_page *page,
				const struct job_info *job)
{
	const char *todo = failure_advice(failure_from(job->failure), job->text,
					  LANGUAGE_EN);

	if (!todo)
		return;
	web_html(page, "<p>To do: ");
	writer_code(&page->out, todo);
	web_html(page, ".</p>\n");
}

/* What runs, as on a command line. */
static void job_page_put_command(struct web_page *page, const cJSON *spec)
{
	const cJSON *container = json_get(spec, "container");
	const char *image = json_get_text(container, "image");
	const cJSON *word;

	if (!image)
		return;
	web_html(page, "<p><code>%s</code>", image);
	cJSON_ArrayForEach(word, json_get(container, "argv")) {
		const char *text = cJSON_GetStringValue(word);
		bool plain = text && *text && !strpbrk(text, " '\"\n\t");

		web_html(page,
			 plain ? " <code>%s</code>" : " <code>'%s'</code>",
			 text);
	}
	web_html(page, "</p>\n");
}

static void job_page_put_head(struct web_page *page, const struct job_info *job)
{
	web_part(page, "div", "", "head");
	web_html(page, "<p><a href=\"/sweep/%llu\">Sweep %llu</a>: %s",
		 (ull)job->sweep, (ull)job->sweep, job->state);
	if (job->attempt > 1)
		web_html(page, ", attempt %u", job->attempt);
	put_when(page, ". Queued ", job->queued_ms);
	put_when(page, ", started ", job->started_ms);
	put_when(page, ", ended ", job->ended_ms);
	web_html(page, ".</p>\n");
	job_page_put_command(page, job->spec);
	if (job->text || job->waits) {
		web_html(page, "<p class=\"%s\">%s%s%s</p>\n",
			 job->failure ? "bad" : "mute", job->failure,
			 job->failure ? ": " : "",
			 job->text ? job->text : job->waits);
		job_page_put_advice(page, job);
	}
	put_queue(page, job->queue);
	job_page_put_progress(page, job);
	if (job->suspect)
		web_html(page,
			 "<p class=\"bad\">(!) The result is suspect: "
			 "<a href=\"/sweep/%llu/report\">the report</a> says "
			 "why."
			 "</p>\n",
			 (ull)job->sweep);
	web_part_end(page, "div");
}

/* Curves. */

static cJSON *running_series(const struct gang *gang)
{
	const struct extract *extract =
		gang_output(gang) ? log_reader_extract(gang) : NULL;
	const struct record *records;
	size_t count = 0;

	if (!extract)
		return NULL;
	records = extract_records(extract, &count);
	return count ? series_new(records, count, &gang_spec(gang)->measure,
				  gang_devices(gang), NULL)
		     : NULL;
}

static cJSON *stored_series(struct web_page *page, const struct job_info *job)
{
	struct message_query query = { .id = job->sweep,
				       .after = job->job - 1,
				       .limit = 1 };
	struct api_request request = web_request(page, &query);
	struct reply_series reply = { 0 };
	cJSON *series = NULL;

	if (api_series(&request, &reply, NULL) == 0 && reply.rows_count)
		series = take(reply.rows->series);
	codec_clear(&reply_series_schema, &reply);
	return series;
}

static void put_curve(struct web_page *page, const cJSON *points,
		      const char *title, bool from_zero)
{
	struct chart chart = { .title = title,
			       .x_label = "step",
			       .y_label = "",
			       .lines = { { title, 0, points } },
			       .count = 1,
			       .from_zero = from_zero };

	chart_svg(&page->out, &chart);
}

static void put_curves(struct web_page *page, const struct job_info *job,
		       const struct gang *gang)
{
	cJSON *series = gang ? running_series(gang) : stored_series(page, job);
	const cJSON *rate;
	const char *unit;

	web_part(page, "div", " class=\"charts\"", "curves");
	if (series) {
		rate = series_rate(series, &unit);
		put_curve(page, json_get(series, "loss"), "Loss", false);
		put_curve(page, rate, unit, true);
	}
	web_part_end(page, "div");
	cJSON_Delete(series);
}

/* Ranks and devices. */

static void put_task(struct web_page *page, const struct task_info *task,
		     uint64_t devices)
{
	const struct node *node =
		task->node ? node_find(page->sources->parts.nodes, task->node)
			   : NULL;
	const struct task_shown shown = { *task, devices,
					  node ? node_index(node) + 1 : 0 };

	web_html(page, "<tr>");
	view_page_row(&view_tasks, &shown, &page->out);
	web_html(page, "</tr>\n");
}

/* The tasks; before there are any, the nodes. */
static void put_tasks(struct web_page *page, const struct job_info *job,
		      const struct gang *gang)
{
	size_t count =
		job->tasks_count ? job->tasks_count : job->allocation.count;

	web_part(page, "div", " class=\"wide\"", "tasks");
	web_html(page, "<h2>Nodes</h2>");
	if (!count)
		web_html(page,
			 "<p class=\"mute\">The job has no nodes yet.</p>");
	else
		view_page_begin(&view_tasks, &page->out);
	for (size_t i = 0; i < count && i < TASKS_SHOWN; i++) {
		const struct task_info next = {
			.rank = (uint32_t)i,
			.node = job->tasks_count ? NULL
						 : job->allocation.items[i],
			.state = job->state,
		};

		if (job->tasks_count)
			put_task(page, &job->tasks[i],
				 gang ? task_devices(gang_task(gang, i)) : 0);
		else
			put_task(page, &next, 0);
	}
	web_html(page, count ? "</table>" : "");
	web_part_end(page, "div");
}

static void job_page_put_devices(struct web_page *page, const struct gang *gang)
{
	struct device_metrics device;
	size_t shown = 0;

	web_part(page, "div", " class=\"wide\"", "devices");
	for (uint32_t rank = 0; rank < gang_nodes(gang); rank++)
		for (size_t i = 0; shown < DEVICES_SHOWN &&
				   log_reader_device(gang, rank, i, &device);
		     i++) {
			if (!shown++) {
				web_html(page, "<h2>Devices</h2>");
				view_page_begin(&view_readings, &page->out);
			}
			web_html(page, "<tr>");
			view_page_row(&view_readings, &device, &page->out);
			web_html(page, "</tr>\n");
		}
	web_html(page, shown ? "</table>" : "");
	web_part_end(page, "div");
}

/* Output. */

/* Around the line that tells why the job failed, else the end of rank 0. */
static void put_output(struct web_page *page, const struct job_info *job)
{
	unsigned rank = 0;
	bool told = web_reason_rank(job->reason, &rank);
	uint64_t offset = told ? (uint64_t)job->reason->offset : 0;
	uint64_t begin = offset > WEB_LOG_BEFORE ? offset - WEB_LOG_BEFORE : 0;
	char stream[32];
	struct message_log_read read = { .job = job->job,
					 .stream = stream,
					 .offset = begin,
					 .tail_lines = told ? 0 : TAIL_LINES };
	owned(buffer_clear) struct buffer bytes =
		BUFFER_INIT(MESSAGE_PAYLOAD_MAX);
	struct api_request request = web_request(page, &read);
	struct reply_log_read reply = { 0 };
	struct error why;
	size_t from;
	int rc;

	request.bytes = &bytes;
	snprintf(stream, sizeof(stream), "rank-%u", rank);
	web_html(page, "<h2>Output of rank %u</h2>\n", rank);
	web_part(page, "pre", " tabindex=\"0\"", "output");
	rc = api_log_read(&request, &reply, &why);
	if (rc < 0) {
		web_html(page, "<span class=\"mute\">%s</span>", why.text);
	} else {
		if (!reply.length)
			web_no_output(page, rank, reply.final);
		from = bytes.size > TAIL_BYTES ? bytes.size - TAIL_BYTES : 0;
		if (told) {
			bytes.size -= from;
			from = web_log_first(&bytes, begin);
		}
		web_log_lines(page, &bytes, from, (size_t)(offset - begin));
	}
	web_part_end(page, "pre");
	if (rc == 0)
		web_html(page,
			 "<p><a href=\"/log/%llu/%u\">Full output</a></p>\n",
			 (ull)job->job, rank);
	codec_clear(&reply_log_read_schema, &reply);
}

/* Is the job before it one of the same sweep? */
static bool job_page_has_before(struct web_page *page,
				const struct job_info *job)
{
	struct message_query query = { .id = job->sweep,
				       .after = job->job - 2,
				       .limit = 1 };
	struct api_request request = web_request(page, &query);
	struct reply_jobs reply = { 0 };
	bool found = job->job > 1 && job->started_ms &&
		     api_jobs(&request, &reply, NULL) == 0 &&
		     reply.jobs_count && reply.jobs[0].job == job->job - 1;

	codec_clear(&reply_jobs_schema, &reply);
	return found;
}

/* The packages of a job; nothing where they are not known. */
static const char *packages_read(struct web_page *page, uint64_t job,
				 struct buffer *bytes)
{
	struct message_log_read read = { .job = job,
					 .stream = (char *)PACKAGES_STREAM };
	struct api_request request = web_request(page, &read);
	struct reply_log_read reply = { 0 };
	bool there;

	buffer_init(bytes, MESSAGE_PAYLOAD_MAX);
	request.bytes = bytes;
	there = api_log_read(&request, &reply, NULL) == 0 && bytes->size;
	codec_clear(&reply_log_read_schema, &reply);
	return there ? bytes->data : "";
}

/* What the job differs in from another one. */
static void put_differences(struct web_page *page, const struct job_info *job,
			    uint64_t from)
{
	owned(differences_clear) struct differences differences = { 0 };
	owned(buffer_clear) struct buffer bytes, bytes_from;
	const char *const packages[2] = {
		packages_read(page, from, &bytes_from),
		packages_read(page, job->job, &bytes),
	};
	struct message_query query = { .id = from };
	struct api_request request = web_request(page, &query);
	struct reply_job other = { 0 };

	if (api_job(&request, &other, NULL) == 0 &&
	    differences_find(&other.job, job, packages, &differences, NULL) ==
		    0) {
		web_html(page,
			 "<h2>Differences from <a href=\"/job/%llu\">job "
			 "%llu</a></h2><div class=\"wide\">",
			 (ull)from, (ull)from);
		table_html(&differences.table, &page->out);
		web_html(page, "</div>\n");
	}
	codec_clear(&reply_job_schema, &other);
}

int web_job_page(struct web_page *page, const uint64_t numbers[WEB_NUMBERS],
		 struct error *err)
{
	uint64_t id = numbers[0];
	struct message_query query = { .id = id };
	struct api_request request = web_request(page, &query);
	const struct job *active = job_find(page->sources->parts.table, id);
	const struct gang *gang = active && !job_state_final(job_state(active))
					  ? job_gang(active)
					  : NULL;
	struct reply_job reply = { 0 };
	int rc = api_job(&request, &reply, err);

	if (rc == 0) {
		snprintf(page->title, sizeof(page->title), "Job %llu, %.90s",
			 (ull)id, reply.job.cell);
		job_page_put_head(page, &reply.job);
		if (numbers[1])
			put_differences(page, &reply.job, numbers[1]);
		else if (job_page_has_before(page, &reply.job))
			web_html(page,
				 "<p><a href=\"/job/%llu/%llu\">Differences "
				 "from job %llu</a></p>\n",
				 (ull)id, (ull)(id - 1), (ull)(id - 1));
		put_curves(page, &reply.job, gang);
		web_job_failure(page, &reply.job);
		put_tasks(page, &reply.job, gang);
		if (gang)
			job_page_put_devices(page, gang);
		put_output(page, &reply.job);
	}
	codec_clear(&reply_job_schema, &reply);
	return rc;
}
