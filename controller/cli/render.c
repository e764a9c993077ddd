/* render.c - values to words and tables for people.
 */
#include "controller/cli/render.h"
#include "protocol/base/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

/* C0, C1, line separators, and what turns the direction of writing. */
static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c ||
	       (code >= 0x200e && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

char *escape(const char *text, char *to, size_t size)
{
	size_t used = 0;

	while (*text) {
		uint32_t code;
		size_t length = utf8_character(text, 4, &code);
		bool plain = length && !is_control(code);
		size_t needed = plain ? length : 4 * (length ? length : 1);

		if (used + needed >= size)
			break;
		if (plain)
			memcpy(to + used, text, length);
		else
			for (size_t i = 0; i < needed / 4; i++)
				snprintf(to + used + 4 * i, 5, "\\x%02x",
					 (unsigned char)text[i]);
		used += needed;
		text += length ? length : 1;
	}
	if (size)
		to[used] = 0;
	return to;
}

char *human_bytes(uint64_t bytes, char to[HUMAN_SIZE])
{
	static const char *const units[] = { "KiB", "MiB", "GiB",
					     "TiB", "PiB", "EiB" };
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(to, HUMAN_SIZE, "%u B", (unsigned)bytes);
		return to;
	}
	/* 1023.95 would be printed as 1024.0. */
	while (value >= 1023.95 && unit < 5) {
		value /= 1024;
		unit++;
	}
	snprintf(to, HUMAN_SIZE, "%.1f %s", value, units[unit]);
	return to;
}

char *human_time(int64_t ms, char to[HUMAN_SIZE])
{
	long long s = ms > 0 ? ms / 1000 : 0;

	if (s < 10)
		snprintf(to, HUMAN_SIZE, "%lld.%llds", s,
			 ms > 0 ? (long long)ms % 1000 / 100 : 0LL);
	else if (s < 60)
		snprintf(to, HUMAN_SIZE, "%llds", s);
	else if (s < 3600)
		snprintf(to, HUMAN_SIZE, "%lldm%02llds", s / 60, s % 60);
	else if (s < 86400)
		snprintf(to, HUMAN_SIZE, "%lldh%02lldm", s / 3600,
			 s % 3600 / 60);
	else
		snprintf(to, HUMAN_SIZE, "%lldd%02lldh", s / 86400,
			 s % 86400 / 3600);
	return to;
}

char *human_clock(int64_t wall_ms, char to[HUMAN_SIZE])
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm tm;

	if (wall_ms <= 0 || !localtime_r(&seconds, &tm) ||
	    !strftime(to, HUMAN_SIZE, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(to, HUMAN_SIZE, "-");
	return to;
}

char *human_number(double number, char to[HUMAN_SIZE])
{
	double size = fabs(number);

	if (!isfinite(number))
		snprintf(to, HUMAN_SIZE, "-");
	else if (size >= 1e12)
		snprintf(to, HUMAN_SIZE, "%.4g", number);
	else
		snprintf(to, HUMAN_SIZE, "%.*f",
			 size >= 1000 ? 0
			 : size >= 10 ? 1
				      : 3,
			 number);
	return to;
}

char *human_jobs(uint64_t count, char to[HUMAN_SIZE])
{
	snprintf(to, HUMAN_SIZE, "%llu %s", (unsigned long long)count,
		 count == 1 ? "job" : "jobs");
	return to;
}

static const char *const sequences[] = {
	[PLAIN] = "",          [GREEN] = "\033[32m", [RED] = "\033[31m",
	[YELLOW] = "\033[33m", [CYAN] = "\033[36m",  [FAINT] = "\033[2m",
	[BOLD] = "\033[1m",
};

const char *colour_begin(enum colour colour, bool on)
{
	return on ? sequences[colour] : "";
}

const char *colour_end(enum colour colour, bool on)
{
	return on && colour != PLAIN ? "\033[0m" : "";
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

/* Append to a text of fixed size; what does not fit is cut. */
__attribute__((format(printf, 4, 5))) static void
append(char *to, size_t size, size_t *used, const char *fmt, ...)
{
	va_list args;
	int length;

	va_start(args, fmt);
	length = vsnprintf(to + *used, size - *used, fmt, args);
	va_end(args);
	if (length > 0)
		*used += (size_t)length < size - *used ? (size_t)length
						       : size - *used - 1;
}

void transfer_detail(const struct progress_info *progress, char *to,
		     size_t size)
{
	char text[HUMAN_SIZE];
	char phase[40], done[HUMAN_SIZE], total[HUMAN_SIZE];
	uint64_t bytes, all;
	double rate, left;
	bool partial;
	size_t used = 0;

	to[0] = 0;
	if (!progress)
		return;
	bytes = progress->done_bytes;
	all = progress->total_bytes;
	partial = progress->partial;
	rate = progress->rate;
	left = progress->eta_seconds;
	append(to, size, &used, "%s",
	       escape(progress->phase ? progress->phase : "", phase,
		      sizeof(phase)));
	/* What matters most comes first: a narrow terminal cuts the rest. */
	if (all && !partial)
		append(to, size, &used, " %.0f%%",
		       100.0 * (double)(bytes < all ? bytes : all) /
			       (double)all);
	if (progress->silent_seconds)
		append(to, size, &used, ", silent for %s",
		       human_time((int64_t)progress->silent_seconds * 1000,
				  text));
	else if (isfinite(left) && left >= 0 && left < 1e9)
		append(to, size, &used, ", %s left",
		       human_time((int64_t)left * 1000, text));
	if (all)
		append(to, size, &used, ", %s of %s%s",
		       human_bytes(bytes, done), partial ? "more than " : "",
		       human_bytes(all, total));
	else if (bytes)
		append(to, size, &used, " %s", human_bytes(bytes, done));
	if (isfinite(rate) && rate > 0 && rate < 1e18)
		append(to, size, &used, ", %s/s",
		       human_bytes((uint64_t)rate, text));
	if (progress->layers_total)
		append(to, size, &used, ", %s %u/%u",
		       strcmp(phase, "building") ? "layers" : "step",
		       progress->layers, progress->layers_total);
	if (progress->tries > 1)
		append(to, size, &used, ", try %u", progress->tries);
}

static void training_detail(const struct progress_info *progress, char *to,
			    size_t size)
{
	unsigned long long step, steps;
	char text[HUMAN_SIZE];
	size_t used = 0;

	if (!progress)
		return;
	step = progress->step;
	steps = progress->steps;
	if (step && steps)
		append(to, size, &used, "step %llu/%llu", step, steps);
	else if (step)
		append(to, size, &used, "step %llu", step);
	if (isfinite(progress->loss))
		append(to, size, &used, "%sloss %.4g", used ? ", " : "",
		       progress->loss);
	if (isfinite(progress->tokens_per_second) &&
	    progress->tokens_per_second > 0)
		append(to, size, &used, "%s%s token/s", used ? ", " : "",
		       human_number(progress->tokens_per_second, text));
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
		/* "cancelled by me" says it all. */
		if (text[0] && failure_from(failure) == FAILURE_CANCELLED)
			failure[0] = 0;
		separator = failure[0] && text[0] ? ": " : "";
		snprintf(to, size, "%s%s%s", failure, separator, text);
	} else if (state == JOB_QUEUED) {
		escape_text(job->waits, to, size);
	} else if (job->from) {
		snprintf(to, size, "from job %llu of sweep %llu",
			 (unsigned long long)job->from->job,
			 (unsigned long long)job->from->sweep);
	} else if (state == JOB_COMPLETED) {
		escape_text(job->text, to, size);
	} else if (state == JOB_PREPARING) {
		transfer_detail(job->progress, to, size);
	} else {
		training_detail(job->progress, to, size);
	}
	return to;
}

char *job_nodes(const struct strings *allocation, char *to, size_t size)
{
	size_t count = allocation->count, used = 0;

	for (size_t i = 0; i < count && i < 3; i++) {
		char name[80];

		if (count > 3 && i == 1) {
			append(to, size, &used, " and %zu more", count - 1);
			break;
		}
		append(to, size, &used, "%s%s", i ? "," : "",
		       escape(allocation->items[i], name, sizeof(name)));
	}
	if (!used)
		snprintf(to, size, "-");
	return to;
}

/* Tables. */

#define CELL_MAX 1000 /* bytes in a cell */

struct cell {
	char *text;
	enum colour colour;
};

struct table {
	const struct column *columns;
	size_t width; /* columns */
	struct cell *cells;
	size_t count;
	size_t room;
	bool failed;
};

struct table *table_new(const struct column *columns, struct error *err)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table) {
		error_nomem(err, "table");
		return NULL;
	}
	table->columns = columns;
	while (columns[table->width].title)
		table->width++;
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i].text);
	free(table->cells);
	free(table);
}

size_t table_rows(const struct table *table)
{
	return table->count / table->width;
}

void table_cell(struct table *table, enum colour colour, const char *fmt, ...)
{
	char text[CELL_MAX], clean[CELL_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (table->count == table->room) {
		size_t room = table->room ? 2 * table->room : 64;
		struct cell *cells =
			realloc(table->cells, room * sizeof(*cells));

		if (!cells) {
			table->failed = true;
			return;
		}
		table->cells = cells;
		table->room = room;
	}
	table->cells[table->count].text =
		strdup(escape(text, clean, sizeof(clean)));
	table->cells[table->count].colour = colour;
	if (table->cells[table->count].text)
		table->count++;
	else
		table->failed = true;
}

static void print_cell(FILE *out, const char *text, size_t width, bool right,
		       bool last, enum colour colour, bool colours)
{
	int pad = (int)(width - utf8_width(text));

	if (right)
		fprintf(out, "%*s", pad, "");
	fprintf(out, "%s%s%s", colour_begin(colour, colours), text,
		colour_end(colour, colours));
	if (last)
		fputc('\n', out);
	else
		fprintf(out, "%*s", right ? 2 : pad + 2, "");
}

/* The last column of the row that holds anything: spaces behind it are none. */
static size_t last_column(const struct table *table, size_t row)
{
	size_t last = table->width - 1;

	while (last && !table->cells[row * table->width + last].text[0])
		last--;
	return last;
}

int table_print(const struct table *table, FILE *out, bool colours,
		struct error *err)
{
	owned_free size_t *widths = calloc(table->width, sizeof(*widths));

	if (table->failed || !widths)
		return error_nomem(err, "table");
	for (size_t i = 0; i < table->width; i++)
		widths[i] = utf8_width(table->columns[i].title);
	for (size_t i = 0; i < table->count; i++) {
		size_t width = utf8_width(table->cells[i].text);

		if (width > widths[i % table->width])
			widths[i % table->width] = width;
	}
	for (size_t i = 0; i < table->width; i++)
		print_cell(out, table->columns[i].title, widths[i],
			   table->columns[i].right, i + 1 == table->width, BOLD,
			   colours);
	for (size_t row = 0; row < table_rows(table); row++) {
		size_t last = last_column(table, row);

		for (size_t i = 0; i <= last; i++) {
			const struct cell *cell =
				&table->cells[row * table->width + i];

			print_cell(out, cell->text, widths[i],
				   table->columns[i].right, i == last,
				   cell->colour, colours);
		}
	}
	return 0;
}
