/* render.c - formats values for people.
 */
#include "controller/view/render.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define GAIN_SHOWN 0.01 /* smaller ones say nothing */

struct human human_bytes(uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB",
					     "TiB", "PiB", "EiB" };
	double value = (double)bytes / 1024;
	struct human to;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(to.text, sizeof(to.text), "%u B", (unsigned)bytes);
		return to;
	}
	/* 1023.95 would be printed as 1024.0. */
	while (value >= 1023.95 && unit < 5) {
		value /= 1024;
		unit++;
	}
	snprintf(to.text, sizeof(to.text), "%.1f %s", value, units[unit]);
	return to;
}

struct human human_time(int64_t ms)
{
	long long s = ms > 0 ? ms / 1000 : 0;
	struct human to;
	size_t size = sizeof(to.text);

	if (s < 10)
		snprintf(to.text, size, "%lld.%llds", s,
			 ms > 0 ? (long long)ms % 1000 / 100 : 0LL);
	else if (s < 60)
		snprintf(to.text, size, "%llds", s);
	else if (s < 3600)
		snprintf(to.text, size, "%lldm%02llds", s / 60, s % 60);
	else if (s < 86400)
		snprintf(to.text, size, "%lldh%02lldm", s / 3600,
			 s % 3600 / 60);
	else
		snprintf(to.text, size, "%lldd%02lldh", s / 86400,
			 s % 86400 / 3600);
	return to;
}

struct human human_clock(int64_t wall_ms)
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct human to = { "-" };
	struct tm tm;

	if (wall_ms > 0 && localtime_r(&seconds, &tm))
		strftime(to.text, sizeof(to.text),
			 tm.tm_gmtoff ? "%Y-%m-%d %H:%M:%S%z"
				      : "%Y-%m-%d %H:%M:%SZ",
			 &tm);
	return to;
}

struct human human_utc(int64_t wall_ms)
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct human to = { "-" };
	struct tm tm;

	if (wall_ms > 0 && gmtime_r(&seconds, &tm))
		strftime(to.text, sizeof(to.text), "%Y-%m-%d %H:%M:%SZ", &tm);
	return to;
}

struct human human_number(double number)
{
	double size = fabs(number);
	int decimals = size >= 1000 ? 0 : size >= 10 ? 1 : 3;
	struct human to = { "-" };

	if (size >= 1e12 && isfinite(number))
		snprintf(to.text, sizeof(to.text), "%.4g", number);
	else if (isfinite(number))
		snprintf(to.text, sizeof(to.text), "%.*f", decimals, number);
	return to;
}

struct human human_jobs(uint64_t count)
{
	struct human to;

	snprintf(to.text, sizeof(to.text), "%llu %s", (unsigned long long)count,
		 count == 1 ? "job" : "jobs");
	return to;
}

struct human human_bar(double fraction)
{
	enum { WIDTH = 10 };
	bool known = fraction >= 0 && fraction <= 1;
	struct human to = { "" };

	to.text[0] = known ? '[' : ' ';
	for (int i = 0; i < WIDTH; i++)
		to.text[1 + i] = !known                      ? ' '
				 : fraction * WIDTH >= i + 1 ? '#'
							     : '.';
	to.text[WIDTH + 1] = known ? ']' : ' ';
	return to;
}

bool json_is_time(const char *name)
{
	static const char *const times[] = {
		"ended_ms",     "from_ms",  "queued_ms",
		"seen_ms",      "since_ms", "started_ms",
		"submitted_ms", "time_ms",  "until_ms",
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (!strcmp(name, times[i]))
			return true;
	return false;
}

static bool json_is_bytes(const char *name)
{
	size_t size = strlen(name);

	return size > 6 && !strcmp(name + size - 6, "_bytes");
}

/* Digits that nobody measured are noise: 0.1 + 0.2 is 0.3. */
static void number_words(const cJSON *item, char *to, size_t size)
{
	const char *name = item->string ? item->string : "";
	double number = item->valuedouble;

	if (json_is_time(name))
		text_append(to, size, "%s", human_clock((int64_t)number).text);
	else if (json_is_bytes(name) && number >= 0)
		text_append(to, size, "%s", human_bytes((uint64_t)number).text);
	else
		text_append(to, size,
			    number == trunc(number) ? "%.15g" : "%.7g", number);
}

/* Among others, a text with blanks or marks is quoted, and a list within
 * another one has brackets.
 */
static void words_append(const cJSON *item, bool among, char *to, size_t size)
{
	bool named = cJSON_IsObject(item);
	bool plain = cJSON_IsString(item) &&
		     (!among || (*item->valuestring &&
				 !strpbrk(item->valuestring, " ,=()\"\\\n")));
	const cJSON *member;
	char *json;

	if (cJSON_IsNumber(item)) {
		number_words(item, to, size);
	} else if (plain) {
		text_append(to, size, "%s", item->valuestring);
	} else if (item->child) {
		text_append(to, size, among ? "(" : "");
		cJSON_ArrayForEach(member, item) {
			text_append(to, size, "%s%s%s",
				    member == item->child ? ""
				    : named               ? " "
							  : ", ",
				    named ? member->string : "",
				    named ? "=" : "");
			words_append(member, true, to, size);
		}
		text_append(to, size, among ? ")" : "");
	} else {
		json = cJSON_IsString(item) || cJSON_IsBool(item)
			       ? cJSON_PrintUnformatted(item)
			       : NULL;
		text_append(to, size, "%s", json ? json : "-");
		cJSON_free(json);
	}
}

void json_words(const cJSON *item, char *to, size_t size)
{
	char words[4000] = "";

	if (item)
		words_append(item, false, words, sizeof(words));
	escape(words, to, size);
}

void sweep_counts(const struct sweep_info *sweep, char *to, size_t size)
{
	to[0] = 0;
	for (int i = JOB_QUEUED; i < JOB_STATES; i++)
		if (sweep->counts.of[i])
			text_append(to, size, "%s%llu %s", *to ? ", " : "",
				    (unsigned long long)sweep->counts.of[i],
				    job_state_name((enum job_state)i));
}

enum colour colour_of_job(enum job_state state)
{
	switch (state) {
	case JOB_COMPLETED:
		return GREEN;
	case JOB_FAILED:
		return RED;
	case JOB_CANCELLED:
		return YELLOW;
	case JOB_PREPARING:
	case JOB_READY:
	case JOB_RUNNING:
	case JOB_COLLECTING:
		return CYAN;
	default:
		return PLAIN;
	}
}

void transfer_detail(const struct image_progress *progress, char *to,
		     size_t size)
{
	char phase[40];
	uint64_t bytes, all;
	double rate, left;
	bool partial;

	to[0] = 0;
	if (!progress)
		return;
	bytes = progress->done_bytes;
	all = progress->total_bytes;
	partial = progress->partial;
	rate = progress->rate;
	left = progress->eta_seconds;
	text_append(to, size, "%s",
		    escape(progress->phase ? progress->phase : "", phase,
			   sizeof(phase)));
	/* The most important first: a narrow terminal cuts the rest. */
	if (all && !partial)
		text_append(to, size, " %.0f%%",
			    100.0 * (double)(bytes < all ? bytes : all) /
				    (double)all);
	if (progress->silent_seconds)
		text_append(to, size, ", silent for %s",
			    human_time((int64_t)progress->silent_seconds * 1000)
				    .text);
	else if (isfinite(left) && left >= 0 && left < 1e9)
		text_append(to, size, ", %s left",
			    human_time((int64_t)left * 1000).text);
	if (all)
		text_append(to, size, ", %s of %s%s", human_bytes(bytes).text,
			    partial ? "more than " : "", human_bytes(all).text);
	else if (bytes)
		text_append(to, size, " %s", human_bytes(bytes).text);
	if (isfinite(rate) && rate > 0 && rate < 1e18)
		text_append(to, size, ", %s/s",
			    human_bytes((uint64_t)rate).text);
	if (progress->layers_total)
		text_append(to, size, ", %s %u/%u",
			    strcmp(phase, "building") ? "layers" : "step",
			    progress->layers, progress->layers_total);
	if (progress->tries > 1)
		text_append(to, size, ", try %u", progress->tries);
}

uint64_t job_step(const struct job_info *job)
{
	return job->progress ? job->progress->step : job->step;
}

double job_loss(const struct job_info *job)
{
	return job->progress ? job->progress->loss : job->loss;
}

struct human job_rate(const struct job_info *job)
{
	struct human rate = { "" };
	uint32_t unit = job->rate_unit;

	if (unit && unit < RATE_UNITS && isfinite(job->rate))
		snprintf(rate.text, sizeof(rate.text), "%.12s %s%s",
			 human_number(job->rate).text, rate_units[unit],
			 job->suspect ? " (!)" : "");
	return rate;
}

void stillness_words(const struct progress_info *progress, char *to,
		     size_t size)
{
	to[0] = 0;
	if (progress->step_age)
		text_append(to, size, "%s ago",
			    human_time((int64_t)progress->step_age * 1000)
				    .text);
	if (progress->suspected)
		text_append(to, size, "%ssuspected hang", *to ? ", " : "");
}

/* The rate, and how far it is from the usual one. */
static void rate_detail(const struct job_info *job,
			const struct progress_info *progress, char *to,
			size_t size)
{
	struct human rate = job_rate(job);

	if (*rate.text)
		text_append(to, size, "%s%s", *to ? ", " : "", rate.text);
	if (progress->gain_runs && fabs(progress->gain) >= GAIN_SHOWN)
		text_append(to, size,
			    progress->gain_runs == 1
				    ? " (%.0f %% %s the last run of this cell)"
				    : " (%.0f %% %s the last %u runs of this "
				      "cell)",
			    fabs(progress->gain) * 100,
			    progress->gain > 0 ? "above" : "below",
			    progress->gain_runs);
}

/* Narrow screens cut the end: the rate stands first, unless there is none now.
 */
static void training_detail(const struct job_info *job,
			    const struct progress_info *progress, char *to,
			    size_t size)
{
	unsigned long long step, steps;
	char still[80], found[420];

	if (!progress)
		return;
	step = progress->step;
	steps = progress->steps;
	stillness_words(progress, still, sizeof(still));
	if (!progress->suspected)
		rate_detail(job, progress, to, size);
	if (step)
		text_append(to, size, "%sstep %llu", *to ? ", " : "", step);
	if (step && steps)
		text_append(to, size, "/%llu", steps);
	if (*still)
		text_append(to, size, "%s%s", *to ? ", " : "", still);
	if (progress->suspected)
		rate_detail(job, progress, to, size);
	if (isfinite(progress->loss))
		text_append(to, size, "%sloss %.4g", *to ? ", " : "",
			    progress->loss);
	if (isfinite(progress->power_w))
		text_append(to, size, "%s%.0f W", *to ? ", " : "",
			    progress->power_w);
	if (isfinite(progress->temp_c))
		text_append(to, size, "%s%.0f °C", *to ? ", " : "",
			    progress->temp_c);
	if (progress->straggler)
		text_append(to, size, "%swaits for %.100s (%.0f %% slower)",
			    *to ? ", " : "", progress->straggler->who,
			    progress->straggler->slower_pct);
	if (progress->found)
		text_append(to, size, "%s%s", *to ? ", " : "",
			    escape(progress->found, found, sizeof(found)));
}

/* The last step of a job that ended, and its rate. */
static void result_detail(const struct job_info *job, char *to, size_t size)
{
	const struct progress_info last = {
		.step = job->step,
		.loss = job->loss,
		.power_w = (double)NAN,
		.temp_c = (double)NAN,
	};

	if (job->step)
		training_detail(job, &last, to, size);
}

/* An optional text. */
static char *escape_text(const char *text, char *to, size_t size)
{
	return escape(text ? text : "", to, size);
}

char *job_detail(const struct job_info *job, char *to, size_t size)
{
	enum job_state state = job_state_from(job->state);
	char failure[40], text[400];
	const char *separator;

	to[0] = 0;
	escape_text(job->failure, failure, sizeof(failure));
	if (state == JOB_FAILED || state == JOB_CANCELLED || failure[0]) {
		escape_text(job->text, text, sizeof(text));
		/* The text, "cancelled by me", includes the class. */
		if (text[0] && failure_from(failure) == FAILURE_CANCELLED)
			failure[0] = 0;
		separator = failure[0] && text[0] ? ": " : "";
		snprintf(to, size, "%s%s%s", failure, separator, text);
	} else if (job->waits) {
		escape_text(job->waits, to, size);
	} else if (job->from) {
		snprintf(to, size, "from job %llu of sweep %llu",
			 (unsigned long long)job->from->job,
			 (unsigned long long)job->from->sweep);
	} else if (state == JOB_COMPLETED) {
		escape_text(job->text, to, size);
		if (!to[0])
			result_detail(job, to, size);
	} else if (state == JOB_PREPARING) {
		transfer_detail(job->progress ? &job->progress->image : NULL,
				to, size);
	} else {
		training_detail(job, job->progress, to, size);
	}
	return to;
}

char *job_cell_words(const struct job_info *job, char *to, size_t size)
{
	char repeat[16] = "";

	if (job->repeat)
		snprintf(repeat, sizeof(repeat), " #%u", job->repeat + 1);
	escape_text(job->cell, to, size - sizeof(repeat));
	text_append(to, size, "%s", repeat);
	return to;
}

char *job_nodes(const struct strings *allocation, char *to, size_t size)
{
	size_t count = allocation->count;

	to[0] = 0;
	for (size_t i = 0; i < count && i < 3; i++) {
		char name[80];

		if (count > 3 && i == 1) {
			text_append(to, size, " and %zu more", count - 1);
			break;
		}
		text_append(to, size, "%s%s", i ? "," : "",
			    escape(allocation->items[i], name, sizeof(name)));
	}
	if (!to[0])
		snprintf(to, size, "-");
	return to;
}

void queue_words(const struct queue_info *queue, char *to, size_t size)
{
	snprintf(to, size, "place %llu of %llu",
		 (unsigned long long)queue->place,
		 (unsigned long long)queue->length);
	if (isfinite(queue->start_ms))
		text_append(to, size, ", starts in about %s",
			    human_time((int64_t)queue->start_ms).text);
}
