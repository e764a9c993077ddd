/* screen.c - shows lines of text on the whole terminal and reads keys, with
 * ncurses.
 */
#include "controller/cli/screen.h"
#include "protocol/base/printable.h"
#include "protocol/base/utf8.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define NCURSES_NOMACROS
#include <curses.h>

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

struct screen *screen_new(FILE *in, FILE *out, bool colours)
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

void screen_free(struct screen *screen)
{
	if (!screen)
		return;
	if (screen->terminal) {
		endwin();
		delscreen(screen->terminal);
	}
	free(screen);
}

bool screen_resize(struct screen *screen)
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

int screen_rows(const struct screen *screen)
{
	return getmaxy(stdscr);
}

int screen_columns(const struct screen *screen)
{
	return getmaxx(stdscr);
}

size_t screen_line(struct screen *screen, int row, enum colour colour,
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

void screen_show(struct screen *screen, int row)
{
	if (row < screen_rows(screen)) {
		move(row, 0);
		clrtobot();
	}
	refresh();
}

int screen_key(struct screen *screen)
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
