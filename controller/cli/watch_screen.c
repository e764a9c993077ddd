/* watch_screen.c - shows a sweep on the whole terminal.
 */
#include "controller/cli/watch_screen.h"
#include "controller/report/labels.h"
#include "controller/report/terminal.h"
#include "controller/view/render.h"
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "protocol/base/owned.h"
#include "protocol/base/printable.h"
#include "protocol/base/utf8.h"

#include <curses.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Shows lines of text on the whole terminal and reads keys, with
 * ncurses.
 *
 * Texts are UTF-8 and not trusted: they are cut to the width of the terminal,
 * and control characters become '?'.
 */

enum screen_key {
	SCREEN_NONE, /* no key is waiting */
	SCREEN_UP,
	SCREEN_DOWN,
	SCREEN_OTHER, /* any other special key; letters are themselves */
};

#define NCURSES_NOMACROS

#define LINE_BYTES 1024

struct screen {
	SCREEN *terminal;
	FILE *out;
	bool colours;
};

/* The curses colour of each colour. */
static const short numbers[] = {
	[RED] = COLOR_RED,
	[GREEN] = COLOR_GREEN,
	[YELLOW] = COLOR_YELLOW,
	[CYAN] = COLOR_CYAN,
};

/* Also restores the terminal. */
static void screen_free(struct screen *screen)
{
	if (!screen)
		return;
	if (screen->terminal) {
		endwin();
		delscreen(screen->terminal);
	}
	free(screen);
}
OWNED_POINTER(struct screen, screen_free)

static int screen_rows(const struct screen *screen)
{
	return getmaxy(stdscr);
}

static int screen_columns(const struct screen *screen)
{
	return getmaxx(stdscr);
}

/* NULL: the terminal lacks the needed functions, or out of memory. */
static struct screen *screen_new(FILE *in, FILE *out, bool colours)
{
	owned(screen_free) struct screen *screen = calloc(1, sizeof(*screen));

	if (!screen)
		return NULL;
	setlocale(LC_CTYPE, "");
	screen->out = out;
	screen->terminal = newterm(NULL, out, in);
	if (!screen->terminal)
		return NULL;
	set_term(screen->terminal);
	cbreak(); /* Ctrl-C is a signal */
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	screen->colours = colours && has_colors();
	if (screen->colours) {
		start_color();
		use_default_colors();
		for (short i = 0;
		     i < (short)(sizeof(numbers) / sizeof(*numbers)); i++)
			if (numbers[i])
				init_pair((short)(i + 1), numbers[i], -1);
	}
	return take(screen);
}

/* Read the size of the terminal. True: it has changed. */
static bool screen_resize(struct screen *screen)
{
	struct winsize size;

	if (ioctl(fileno(screen->out), TIOCGWINSZ, &size) < 0 || !size.ws_row ||
	    !size.ws_col ||
	    (size.ws_row == screen_rows(screen) &&
	     size.ws_col == screen_columns(screen)))
		return false;
	resizeterm(size.ws_row, size.ws_col);
	return true;
}

/* Write a line; the rest of it becomes blank. marked: in reverse video. Returns
 * how many bytes of the text fit.
 */
static size_t screen_line(struct screen *screen, int row, enum colour colour,
			  bool marked, const char *text)
{
	attr_t look = (marked ? A_REVERSE : A_NORMAL) |
		      (colour == BOLD ? A_BOLD : A_NORMAL);
	char line[LINE_BYTES];

	if (row < 0 || row >= screen_rows(screen))
		return 0;
	snprintf(line, sizeof(line), "%s", text);
	line[utf8_cut(line, strlen(line))] = 0;
	printable(line, strlen(line));
	line[utf8_fit(line, (size_t)screen_columns(screen))] = 0;
	if (screen->colours && colour < FAINT && colour != PLAIN)
		look |= (attr_t)COLOR_PAIR((int)colour + 1);
	attrset((int)look);
	mvaddstr(row, 0, line);
	attrset(A_NORMAL);
	if (getcury(stdscr) == row)
		clrtoeol();
	return strlen(line);
}

/* Clear the lines from `row` on, then update the terminal. */
static void screen_show(struct screen *screen, int row)
{
	if (row < screen_rows(screen)) {
		move(row, 0);
		clrtobot();
	}
	refresh();
}

/* The next key: enum screen_key, or a letter. */
static int screen_key(struct screen *screen)
{
	int key;

	/* KEY_RESIZE is no key: screen_resize() reads the size. */
	do
		key = getch();
	while (key == KEY_RESIZE);
	switch (key) {
	case ERR:
		return SCREEN_NONE;
	case KEY_UP:
		return SCREEN_UP;
	case KEY_DOWN:
		return SCREEN_DOWN;
	default:
		return key >= ' ' && key < 127 ? key : SCREEN_OTHER;
	}
}

#define SECOND_MS 1000
#define LOOK_MS 200 /* between checks of the size of the screen */
#define LOG_BYTES 65536
#define HEAD_ROWS 1
#define ABOUT_ROWS 3 /* the chosen job in words */
#define ROOMY 20     /* rows of a screen that always shows a log */
#define NARROW 72    /* columns that have no room for bars */
#define WIDE 110     /* columns that have room for losses */

typedef unsigned long long ull;

struct watch_screen {
	struct client *client;
	const struct watched_sweep *known;
	watch_screen_leave_fn *leave;
	void *arg;
	struct screen *screen;
	uint64_t chosen;              /* job; 0: none yet */
	const struct watched **shown; /* as they stand on the screen */
	size_t count, room;
	struct labels labels; /* of the cells of the first `labelled` jobs */
	size_t labelled;
	sd_event_source *keys, *timer;
	int64_t second_ms;  /* when log and remaining time were updated */
	int64_t left_ms;    /* watched_time_left() */
	bool picked;        /* the user chose it; else it is the first one */
	bool log_large;     /* `l` */
	bool cancels;       /* asks whether to cancel the chosen job */
	uint64_t log_asked; /* requests under way; 0: none */
	uint64_t cancel_asked;
	struct buffer log; /* the end of the chosen job's output */
	char words[240];   /* in the last line */
};

/* The jobs on the screen. */

/* Find what tells the jobs apart, when there are more of them. */
static void watch_screen_label(struct watch_screen *view)
{
	owned_free const char **cells = NULL;

	if (view->labelled == view->count || !view->count)
		return;
	cells = calloc(view->count, sizeof(*cells));
	if (!cells)
		return;
	for (size_t i = 0; i < view->count; i++)
		cells[i] = view->shown[i]->job->cell;
	labels_find(cells, sizeof(*cells), view->count, &view->labels);
	view->labelled = view->count;
}

static void watch_screen_collect(struct watch_screen *view)
{
	const struct watched *all = view->known->jobs;
	size_t count = view->known->count;

	view->count = 0;
	if (count > view->room) {
		free(view->shown);
		view->shown = calloc(count, sizeof(void *));
		view->room = view->shown ? count : 0;
	}
	for (size_t i = 0; i < count && i < view->room; i++)
		if (all[i].job)
			view->shown[view->count++] = &all[i];
	if (view->count)
		qsort(view->shown, view->count, sizeof(void *),
		      watched_by_place);
	watch_screen_label(view);
}

static size_t chosen_place(const struct watch_screen *view)
{
	for (size_t i = 0; i < view->count; i++)
		if (view->shown[i]->id == view->chosen)
			return i;
	return 0;
}

static const struct watched *chosen_job(const struct watch_screen *view)
{
	return view->count ? view->shown[chosen_place(view)] : NULL;
}

static void show_chosen(struct watch_screen *view, uint64_t job)
{
	if (job == view->chosen)
		return;
	view->chosen = job;
	buffer_consume(&view->log, view->log.size);
	view->second_ms = 0;
}

void watch_screen_choose(struct watch_screen *view, uint64_t job)
{
	view->picked = true;
	show_chosen(view, job);
}

/* Drawing. */

/* The losses as bars from low to high; always of the same width. */
static void spark_text(const struct watched *job,
		       char to[4 * WATCHED_LOSSES + 1])
{
	double low = (double)INFINITY, high = -(double)INFINITY;
	size_t used = 0;

	for (size_t i = 0; i < job->losses_count; i++) {
		low = fmin(low, (double)job->losses[i]);
		high = fmax(high, (double)job->losses[i]);
	}
	for (size_t i = 0; i < job->losses_count; i++) {
		double part = high > low ? ((double)job->losses[i] - low) /
						   (high - low)
					 : 0;

		used += utf8_encode(0x2581 + (uint32_t)(part * 7), to + used);
	}
	for (size_t i = job->losses_count; i < WATCHED_LOSSES; i++)
		to[used++] = ' ';
	to[used] = 0;
}

static double fraction_done(const struct watched *job)
{
	const struct progress_info *progress = job->job->progress;
	bool pull = job->state == JOB_PREPARING;
	uint64_t all, done;

	if (!progress)
		return -1;
	all = pull ? progress->image.total_bytes : progress->steps;
	done = pull ? progress->image.done_bytes : progress->step;
	return all && !progress->image.partial ? (double)done / (double)all
					       : -1;
}

static struct human age(const struct watch_screen *view,
			const struct job_info *job)
{
	int64_t end =
		job->ended_ms ? job->ended_ms : client_clock_ms(view->client);

	return job->started_ms ? human_time(end - job->started_ms)
			       : (struct human){ "" };
}

static bool is_narrow(const struct watch_screen *view)
{
	return screen_columns(view->screen) < NARROW;
}

/* Progress, elapsed time and recent losses of a job; nothing before there is
 * any of them.
 */
static void meters(const struct watch_screen *view, const struct watched *job,
		   char *to, size_t size)
{
	char sparks[4 * WATCHED_LOSSES + 1] = "";
	double done = fraction_done(job);

	to[0] = 0;
	if (screen_columns(view->screen) >= WIDE)
		spark_text(job, sparks);
	if (!is_narrow(view) && (done >= 0 || job->job->started_ms))
		snprintf(to, size, "%s %6s %s ", human_bar(done).text,
			 age(view, job->job).text, sparks);
	else if (is_narrow(view) && done >= 0)
		snprintf(to, size, "%3.0f %% ", 100 * done);
}

/* In what the job differs from the others, in at most a third of the screen. */
static void watch_screen_name(const struct watch_screen *view,
			      const struct watched *job, char name[LABEL_SIZE])
{
	labels_brief(&view->labels, job->job->cell, job->job->repeat, name);
	if (!strcmp(name, "all")) /* they differ in their repeats alone */
		snprintf(name, LABEL_SIZE, "#1");
	labels_squeeze(name, (size_t)screen_columns(view->screen) / 3);
}

/* The columns of the widest name. */
static size_t watch_screen_names(const struct watch_screen *view)
{
	char name[LABEL_SIZE];
	size_t widest = 0;

	for (size_t i = 0; i < view->count; i++) {
		size_t width;

		watch_screen_name(view, view->shown[i], name);
		width = utf8_width(name);
		widest = width > widest ? width : widest;
	}
	return widest;
}

/* The most important first: narrow screens cut the rest. */
static void job_line(const struct watch_screen *view, int row,
		     const struct watched *job, size_t names)
{
	char meter[200], nodes[100] = "", detail[300], line[1200];
	char name[LABEL_SIZE];

	meters(view, job, meter, sizeof(meter));
	watch_screen_name(view, job, name);
	if (job->job->allocation.count)
		job_nodes(&job->job->allocation, nodes, sizeof(nodes));
	job_detail(job->job, detail, sizeof(detail));
	snprintf(line, sizeof(line), "%5llu %-10s %s%*s %s%s  %s", (ull)job->id,
		 job->job->state, name, (int)(names - utf8_width(name)), "",
		 meter, detail, nodes);
	screen_line(view->screen, row, colour_of_job(job->state),
		    job->id == view->chosen, line);
}

/* Append ", 3 failed", unless the count is 0. */
static void add_count(char *line, size_t size, size_t count, const char *word)
{
	if (count)
		text_append(line, size, ", %zu %s", count, word);
}

static void head_line(const struct watch_screen *view)
{
	const size_t *states = view->known->states;
	size_t count = view->known->count;
	size_t ended = states[JOB_COMPLETED] + states[JOB_FAILED] +
		       states[JOB_CANCELLED];
	double done = count ? (double)ended / (double)count : -1;
	char line[300];

	snprintf(line, sizeof(line), "sweep %llu%s%s %zu of %zu jobs ended",
		 (ull)view->known->id, is_narrow(view) ? ":" : " ",
		 is_narrow(view) ? "" : human_bar(done).text, ended, count);
	add_count(line, sizeof(line), states[JOB_FAILED], "failed");
	if (view->left_ms >= 0)
		text_append(line, sizeof(line), ", about %s left",
			    human_time(view->left_ms).text);
	add_count(line, sizeof(line), count - ended - states[JOB_QUEUED],
		  "active");
	add_count(line, sizeof(line), states[JOB_QUEUED], "queued");
	if (view->count < count)
		add_count(line, sizeof(line), view->count, "listed");
	if (view->known->paused)
		text_append(line, sizeof(line), ", paused: %s",
			    view->known->paused);
	if (view->known->probation)
		text_append(line, sizeof(line), ", on probation: %s",
			    view->known->probation);
	if (view->known->race && ended < count)
		text_append(line, sizeof(line), ", race: %s",
			    view->known->race);
	screen_line(view->screen, 0, BOLD, false, line);
}

/* The whole line of the chosen job, in several rows. */
static void about_lines(const struct watch_screen *view, int row, int rows)
{
	const struct watched *job = chosen_job(view);
	char cell[400], nodes[300], detail[500], text[1500] = "";
	size_t at = 0;

	if (job) {
		bool placed = job->job->allocation.count;

		job_nodes(&job->job->allocation, nodes, sizeof(nodes));
		job_detail(job->job, detail, sizeof(detail));
		snprintf(text, sizeof(text), "job %llu [%s] %s%s%s%s%s%s%s",
			 (ull)job->id,
			 job_cell_words(job->job, cell, sizeof(cell)),
			 job->job->state, job->job->started_ms ? " " : "",
			 age(view, job->job).text, placed ? " on " : "",
			 placed ? nodes : "", detail[0] ? ": " : "", detail);
	}
	for (int i = 0; i < rows; i++) {
		at += screen_line(view->screen, row + i, CYAN, false,
				  text + at);
		at += strspn(text + at, " ");
	}
}

/* The last lines of the log that fit from `row` on. */
static void log_lines(const struct watch_screen *view, int row, int rows)
{
	const char *text = view->log.data;
	size_t at = view->log.size, lines = 0;

	if (at && text[at - 1] == '\n')
		at--;
	while (at && (text[at - 1] != '\n' || ++lines < (size_t)rows))
		at--;
	for (int i = 0; i < rows; i++) {
		size_t size = strcspn(text + at, "\n");
		char line[600];

		snprintf(line, sizeof(line), "%.*s", (int)size, text + at);
		line[strcspn(line, "\r")] = 0;
		screen_line(view->screen, row + i, PLAIN, false, line);
		at += size + (text[at + size] == '\n');
	}
}

static void bottom_line(const struct watch_screen *view, int row)
{
	char line[300];

	if (view->cancels)
		snprintf(line, sizeof(line), "cancel job %llu? y: yes",
			 (ull)view->chosen);
	else
		snprintf(line, sizeof(line),
			 "%s%sarrows  l log  c cancel  q quit%s", view->words,
			 *view->words ? "  " : "",
			 is_narrow(view) ? "" : " (the sweep continues)");
	screen_line(view->screen, row, view->cancels ? YELLOW : CYAN, false,
		    line);
}

/* List the jobs so that the chosen one is visible. */
static void list_lines(const struct watch_screen *view, int row, int rows)
{
	size_t chosen = chosen_place(view);
	size_t room = rows > 0 ? (size_t)rows : 0;
	size_t first = chosen >= room && room ? chosen - room + 1 : 0;
	size_t names = watch_screen_names(view);

	for (size_t i = 0; i < room; i++)
		if (first + i < view->count)
			job_line(view, row + (int)i, view->shown[first + i],
				 names);
		else
			screen_line(view->screen, row + (int)i, PLAIN, false,
				    "");
}

void watch_screen_draw(struct watch_screen *view)
{
	int rows = screen_rows(view->screen) - HEAD_ROWS - 1;
	int about = rows >= 2 * ABOUT_ROWS ? ABOUT_ROWS : 0;
	int log = view->log_large ? (rows - about) * 3 / 4
		  : rows >= ROOMY ? rows / 3
				  : 0;
	int row = HEAD_ROWS, list = rows - about - log;

	watch_screen_collect(view);
	if (!view->picked && view->count)
		show_chosen(view, view->shown[0]->id);
	head_line(view);
	list_lines(view, row, list);
	row += list;
	about_lines(view, row, about);
	row += about;
	log_lines(view, row, log);
	row += log;
	bottom_line(view, row);
	screen_show(view->screen, row + 1);
}

void watch_screen_say(struct watch_screen *view, const char *words)
{
	snprintf(view->words, sizeof(view->words), "%s", words);
	watch_screen_draw(view);
}

/* Requests. */

static void on_log(void *arg, struct answer *answer, const struct error *err)
{
	struct watch_screen *view = arg;
	const char *bytes = answer ? answer->payload : NULL;
	size_t size = answer ? answer->size : 0;

	view->log_asked = 0;
	if (err || !size)
		return;
	if (size > LOG_BYTES) {
		bytes += size - LOG_BYTES;
		size = LOG_BYTES;
	}
	buffer_consume(&view->log, view->log.size);
	buffer_append(&view->log, bytes, size, NULL);
	watch_screen_draw(view);
}

static void ask_log(struct watch_screen *view)
{
	struct message_log_read read = {
		.job = view->chosen,
		.stream = (char *)"rank-0",
		.tail_lines = (uint64_t)screen_rows(view->screen),
	};

	if (view->chosen && !view->log_asked)
		client_send(view->client, MESSAGE_LOG_READ, &read, NULL, 0, 0,
			    on_log, view, &view->log_asked, NULL);
}

static void on_cancelled(void *arg, struct answer *answer,
			 const struct error *err)
{
	struct watch_screen *view = arg;

	view->cancel_asked = 0;
	if (err)
		watch_screen_say(view, err->text);
}

static void cancel_chosen(struct watch_screen *view)
{
	struct message_cancel cancel = { .kind = (char *)"job",
					 .id = view->chosen };

	if (!view->cancel_asked)
		client_send(view->client, MESSAGE_CANCEL, &cancel, NULL, 0, 0,
			    on_cancelled, view, &view->cancel_asked, NULL);
}

/* Keys and time. */

static void choose_place(struct watch_screen *view, size_t place)
{
	if (place < view->count)
		watch_screen_choose(view, view->shown[place]->id);
}

static void on_key(struct watch_screen *view, int key)
{
	size_t place = chosen_place(view);
	bool cancels = view->cancels;

	view->cancels = false;
	if (cancels) {
		if (key == 'y')
			cancel_chosen(view);
	} else if (key == SCREEN_UP && place) {
		choose_place(view, place - 1);
	} else if (key == SCREEN_DOWN) {
		choose_place(view, place + 1);
	} else if (key == 'l') {
		view->log_large = !view->log_large;
		view->second_ms = 0;
	} else if (key == 'c' && view->chosen) {
		view->picked = true;
		view->cancels = true;
	} else if (key == 'q') {
		view->leave(view->arg);
	}
}

static int keys_run(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct watch_screen *view = arg;
	int key;

	if (events & (EPOLLHUP | EPOLLERR))
		view->leave(view->arg);
	watch_screen_collect(
		view); /* jobs may have moved since they were drawn */
	while ((key = screen_key(view->screen)) != SCREEN_NONE)
		on_key(view, key);
	watch_screen_draw(view);
	return 0;
}

static int watch_screen_tick(sd_event_source *source, uint64_t usec, void *arg)
{
	struct watch_screen *view = arg;
	bool second = clock_mono_ms() - view->second_ms >= SECOND_MS;

	if (second) {
		view->second_ms = clock_mono_ms();
		view->left_ms =
			watched_time_left(view->known,
					  client_clock_ms(view->client));
		ask_log(view);
	}
	if (screen_resize(view->screen) || second)
		watch_screen_draw(view);
	loop_timer(client_loop(view->client), &view->timer, LOOK_MS,
		   watch_screen_tick, view, NULL);
	return 0;
}

/* A process in the background would be stopped when it uses the terminal. */
static bool in_foreground(void)
{
	return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

struct watch_screen *watch_screen_new(struct cli *cli, struct client *client,
				      const struct watched_sweep *known,
				      watch_screen_leave_fn *leave, void *arg)
{
	owned(watch_screen_free) struct watch_screen *view =
		calloc(1, sizeof(*view));
	sd_event *loop = client_loop(client);

	if (!view || !isatty(STDIN_FILENO) || !in_foreground())
		return NULL;
	view->client = client;
	view->known = known;
	view->leave = leave;
	view->arg = arg;
	view->left_ms = -1;
	buffer_init(&view->log, LOG_BYTES);
	view->screen = screen_new(stdin, cli->err, cli_err_colour(cli));
	if (!view->screen ||
	    sd_event_add_io(loop, &view->keys, STDIN_FILENO, EPOLLIN, keys_run,
			    view) < 0 ||
	    loop_timer(loop, &view->timer, 0, watch_screen_tick, view, NULL) <
		    0)
		return NULL;
	return take(view);
}

void watch_screen_free(struct watch_screen *view)
{
	if (!view)
		return;
	if (view->log_asked)
		client_drop(view->client, view->log_asked);
	if (view->cancel_asked)
		client_drop(view->client, view->cancel_asked);
	loop_source_free(&view->keys);
	loop_source_free(&view->timer);
	screen_free(view->screen);
	buffer_clear(&view->log);
	free(view->shown);
	free(view);
}
