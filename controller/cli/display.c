/* display.c - draws lines at the bottom of a terminal and updates them in
 * place.
 */
#include "controller/cli/display.h"
#include "protocol/base/buffer.h"
#include "protocol/base/utf8.h"

#include <sys/ioctl.h>

#define DRAWING_MAX 262144 /* bytes of one drawing */
#define ROWS_DEFAULT 24
#define COLUMNS_DEFAULT 80

struct display {
	FILE *out;
	size_t shown; /* lines at the bottom now */
	struct buffer drawing;
};

struct display *display_new(FILE *out, struct error *err)
{
	struct display *display = calloc(1, sizeof(*display));

	if (!display) {
		error_nomem(err, "display");
		return NULL;
	}
	display->out = out;
	buffer_init(&display->drawing, DRAWING_MAX);
	return display;
}

static void terminal_size(const struct display *display, size_t *rows,
			  size_t *columns)
{
	struct winsize size = { 0 };

	if (ioctl(fileno(display->out), TIOCGWINSZ, &size) < 0)
		size.ws_row = 0;
	*rows = size.ws_row ? size.ws_row : ROWS_DEFAULT;
	*columns = size.ws_col ? size.ws_col : COLUMNS_DEFAULT;
}

size_t display_rows(const struct display *display)
{
	size_t rows, columns;

	terminal_size(display, &rows, &columns);
	return rows > 2 ? rows - 1 : 1;
}

/* Start a drawing that removes the lines at the bottom. */
static void display_begin(struct display *display)
{
	buffer_clear(&display->drawing);
	if (display->shown)
		buffer_printf(&display->drawing, NULL, "\r\033[%zuA\033[J",
			      display->shown);
	display->shown = 0;
}

static void display_end(struct display *display)
{
	fwrite(display->drawing.data, 1, display->drawing.size, display->out);
	fflush(display->out);
	buffer_clear(&display->drawing);
}

void display_draw(struct display *display, const char *const *lines,
		  size_t count)
{
	size_t room = display_rows(display);
	size_t rows, columns;

	terminal_size(display, &rows, &columns);
	display_begin(display);
	for (size_t i = 0; i < count && i < room; i++) {
		if (buffer_printf(&display->drawing, NULL, "%.*s\n",
				  (int)utf8_fit(lines[i], columns),
				  lines[i]) < 0)
			break;
		display->shown++;
	}
	display_end(display);
}

void display_line(struct display *display, const char *line)
{
	display_begin(display);
	buffer_printf(&display->drawing, NULL, "%s\n", line);
	display_end(display);
}

void display_free(struct display *display)
{
	if (!display)
		return;
	display_begin(display);
	display_end(display);
	buffer_clear(&display->drawing);
	free(display);
}
